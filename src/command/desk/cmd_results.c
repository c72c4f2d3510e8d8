/* cmd_results.c - results: what was measured before, here and in the recordings that were opened.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "command/ask/keys.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/groups.h"
#include "command/show/owner.h"
#include "command/verbs/verbs.h"
#include "measure/origin.h"

// clang-format off
static const struct columns columns = {
    .type = &stored_type,
    .list = (const struct column[]){
        {.field = "id", .optional = true, .drop = 6},
        {.field = "time", .drop = 2},
        {.field = "kernel"},
        {.field = "params", .optional = true, .drop = 1},
        {.field = "shape"},
        {.field = "backend", .drop = 3},
        {.field = "device", .varies = true, .drop = 7},
        {.field = "l2", .drop = 4},
        {.field = "median_us"},
        {.field = "cv_pct"},
        {.field = "tflops", .drop = 5},
        {.field = "check"},
        {.field = "gpus", .optional = true}, /* nor a time that several share as if of one */
        {.field = "transport", .optional = true, .drop = 7},
        {.field = "origin", .varies = true, .drop = 8},
        {.field = "whose", .varies = true, .drop = 9},
        {.field = "host", .optional = true}, /* times of two machines never look as if of one */
        {0},
    },
};
// clang-format on

/* What the keys ask of a shape, as words. */
static enum status shape_filter(struct cmd_call *c, struct str *out, struct err *err)
{
    struct shape scratch = SHAPE_DEFAULT;
    for (int i = 0; i < c->npairs; i++) {
        bool known;
        char value[SHAPE_TEXT];
        struct cmd_pair *p = &c->pairs[i];
        if (p->used || !is_shape_key(p->key))
            continue;
        enum status st = shape_set(&scratch, p->key, p->value, &known, err);
        if (st)
            return call_mark(c, st, p->value_at, (int)strlen(p->value), err);
        p->used = true;
        shape_get(&scratch, p->key, value, sizeof value);
        str_addf(out, "%s%s=%s", out->len ? " " : "", p->key, value);
    }
    return ST_OK;
}

/* ---- since= and before= ---- */

/* "2d": so many seconds, -1 when it is none. */
static double age_seconds(const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
    char *end;
    const double n = strtod(text, &end);
    for (size_t i = 0; end != text && n >= 0 && n < 1e6 && i < 4; i++)
        if (!strcmp(end, units[i].unit))
            return n * units[i].seconds;
    return -1;
}

/* Is there such a day, and such a time of it? What a prefix lacks is as the first of its kind. */
static bool is_in_calendar(const char *text)
{
    int year, month = 1, day = 1, hour = 0, minute = 0, second = 0;
    (void)sscanf(text, "%d-%d-%dT%d:%d:%d", &year, &month, &day, &hour, &minute, &second);
    struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = 12};
    (void)timegm(&tm); /* 30 February becomes 1 or 2 March */
    return tm.tm_mon == month - 1 && tm.tm_mday == day && hour < 24 && minute < 60 && second < 61;
}

/* "2026-11-20" or the beginning of any other ISO 8601 time, which ends with a whole number. */
static bool is_date(const char *text)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if (i >= sizeof form - 1 ||
            (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i]))
            return false;
    const bool whole = form[len] != 'd' && len >= 4 && form[len - 1] != '-';
    return whole && is_in_calendar(text);
}

/* A time in the form of the stored ones, which sort as text; *time NULL: the key is not given. */
static enum status read_time(struct cmd_call *c, const char *key, char out[32], const char **time_,
                             struct err *err)
{
    const char *text = call_key(c, key);
    const double age = text ? age_seconds(text) : -1;
    struct tm tm;
    *time_ = NULL;
    if (!text)
        return ST_OK;
    const time_t then = time(NULL) - (time_t)(age > 0 ? age : 0);
    if (age >= 0 && gmtime_r(&then, &tm) && strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
        *time_ = out;
    else if (is_date(text))
        *time_ = text;
    if (*time_)
        return ST_OK;
    err_set(err, ST_USAGE, "%s= takes an age such as 30min, 2h, 3d or a date such as 2026-11-20",
            key);
    return call_mark_key(c, key, ST_USAGE, err);
}

/* ---- the query ---- */

struct query {
    struct store_query store;
    const char *origin; /* NULL: any */
    const char *by;     /* NULL: no groups */
    bool prune;
    int64_t keep; /* of each setup; 0: none */
    struct str shape;
    char since[32], before[32];
};

enum { FOUND_MAX = 100000 };

/* What only prune takes, and what it does not. */
static enum status read_prune(struct cmd_call *c, struct query *x, struct err *err)
{
    static const char *const others[] = {"by", "limit", "origin"};
    const struct store_query *q = &x->store;
    const char *keep = call_key(c, "keep");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (call_key(c, others[i])) {
            err_set(err, ST_USAGE, "results prune has no use for %s=", others[i]);
            return call_mark_key(c, others[i], ST_USAGE, err);
        }
    enum status st = keep ? number_parse_int("keep", keep, 1, FOUND_MAX, &x->keep, err) : ST_OK;
    if (st)
        return call_mark_key(c, "keep", st, err);
    if (keep || q->kernel || q->shape || q->backend || q->device || q->since || q->before ||
        x->shape.len)
        return ST_OK;
    return err_set(err, ST_USAGE,
                   "results prune needs to know which: before=30d, keep=3 (the newest of each), a "
                   "kernel, a shape, device=");
}

static enum status read_query(struct session *s, struct cmd_call *c, struct query *x,
                              struct err *err)
{
    const char *limit = call_key(c, "limit");
    struct store_query *q = &x->store;
    struct str *shape = &x->shape;
    const bool prune = c->nwords && !strcmp(c->words[0].text, "prune");
    const bool all = prune || call_key(c, "by");
    int64_t n = all ? FOUND_MAX : 20;
    *x = (struct query){.origin = call_key(c, "origin"),
                        .by = call_key(c, "by"),
                        .prune = prune,
                        .store = {.kernel = call_key(c, "kernel"),
                                  .backend = call_key(c, "backend"),
                                  .device = call_key(c, "device")}};
    enum status st = shape_filter(c, shape, err);
    for (int i = prune; i < c->nwords && !st; i++) {
        const char *word = c->words[i].text;
        if (is_shape_word(word))
            str_addf(shape, "%s%s", shape->len ? " " : "", word);
        else if (!q->kernel)
            q->kernel = word;
        else
            st = err_set(err, ST_USAGE, "results takes one kernel; \"%s\" is one too many", word);
    }
    if (!st && limit && (st = number_parse_int("limit", limit, 1, FOUND_MAX, &n, err)))
        call_mark_key(c, "limit", st, err);
    if (!st)
        st = read_time(c, "since", x->since, &q->since, err);
    if (!st)
        st = read_time(c, "before", x->before, &q->before, err);
    if (!st && prune)
        st = read_prune(c, x, err);
    if (!st)
        st = call_finish(s, c, err);
    q->limit = (int)n;
    q->shape = shape->len ? str_text(shape) : NULL;
    return st;
}

/* The session's store; where that cannot be opened for writing (full disk, another's folder), a
 * second look only to read. *own: the caller closes it. */
static enum status open_results(struct session *s, struct store **out, bool *own, struct err *err)
{
    struct err none = ERR_INIT;
    *own = false;
    *out = s->services.store;
    if (s->services.store || !store_open(store_named(), &s->services.store, err))
        return *out = s->services.store, ST_OK;
    char *path = store_named() ? xstrdup(store_named()) : path_in(PATH_DATA, "results.db");
    enum status st = path ? store_open_foreign(path, out, &none) : ST_FAIL;
    free(path);
    if (st)
        return ST_FAIL; /* err has the first reason */
    session_note(s, "results can only be read, the newest may be missing: %s", err->text);
    *own = true;
    return ST_OK;
}

/* A name that nothing is stored under is a typing error unless a kernel bears it. */
static enum status none_found(struct session *s, struct cmd_call *c, const struct store_query *q,
                              struct err *err)
{
    const struct kernel *k;
    if (q->kernel && registry_get(s->services.registry, q->kernel, &k, err))
        return c->nwords
                   ? call_mark(c, ST_USAGE, c->words[0].at, (int)strlen(c->words[0].text), err)
                   : call_mark_key(c, "kernel", ST_USAGE, err);
    const bool any = !q->kernel && !q->backend && !q->device && !q->shape && !q->since &&
                     !q->before && !call_key(c, "origin");
    if (call_format(c) == FORMAT_TEXT)
        str_add(c->out, any ? "no results yet; what run, compare and sweep measure is kept here\n"
                            : "no results match\n");
    return ST_OK;
}

/* ---- rows of opened recordings ---- */

static bool selects(const struct store_query *q, const struct run_row *row)
{
    return (!q->kernel || !strcmp(row->kernel, q->kernel)) &&
           (!q->backend || (row->backend && !strcmp(row->backend, q->backend))) &&
           (!q->device || text_contains(row->device, q->device)) &&
           (!q->shape || (row->shape && shape_has(row->shape, q->shape))) &&
           (!q->since || (row->time && strcmp(row->time, q->since) >= 0)) &&
           (!q->before || (row->time && strcmp(row->time, q->before) < 0));
}

static void add_recorded(struct session *s, const struct store_query *q, struct rowset *rows)
{
    const struct recording *rec;
    for (size_t i = 0; s->services.library && (rec = library_opened(s->services.library, i)); i++)
        for (size_t r = 0; r < rec->nrows; r++)
            if (selects(q, rec->rows[r].run))
                rowset_share(rows, rec->rows[r].row);
}

/* Newest first; what came first stays first. */
struct dated {
    const struct row *row;
    const char *time; /* "": unknown */
    size_t at;
};
static int newest_first(const void *pa, const void *pb)
{
    const struct dated *a = pa, *b = pb;
    const int order = strcmp(b->time, a->time);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* The newest rows of the wanted origin, at most `limit`. */
static void pick_newest(const struct rowset *rows, const char *origin, int limit,
                        struct rowset *out)
{
    struct dated *list = xcalloc(rows->n + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *run = &row_kept(rows->rows[i])->run;
        if (!origin || (run->origin && !strcmp(run->origin, origin)))
            list[n++] = (struct dated){rows->rows[i], run->time ? run->time : "", i};
    }
    qsort(list, n, sizeof *list, newest_first);
    for (size_t i = 0; i < n && i < (size_t)limit; i++)
        rowset_share(out, list[i].row);
    free(list);
}

static enum status find_rows(struct session *s, const struct query *x, struct rowset *rows,
                             struct err *err)
{
    struct store *store = NULL;
    struct rowset all = {.type = &stored_type};
    bool own = false;
    const bool recorded_only = x->origin && !strcmp(x->origin, "recorded");
    enum status st = recorded_only ? ST_OK : open_results(s, &store, &own, err);
    struct store_query q = x->store;
    if (x->origin) /* which the store does not know: the limit comes after it */
        q.limit = FOUND_MAX;
    if (!st && store)
        st = store_find(store, &q, &all, err);
    if (own)
        store_close(store);
    if (!st) {
        add_recorded(s, &x->store, &all);
        pick_newest(&all, x->origin, x->store.limit, rows);
    }
    rowset_clear(&all);
    return st;
}

/* ---- by= ---- */

static enum status show_groups(struct session *s, struct cmd_call *c, const char *by,
                               const struct rowset *rows, struct err *err)
{
    struct rowset groups = {0};
    struct column *list;
    enum status st = groups_make(by, rows, &groups, &list, err);
    if (st) /* by= was consumed: the mark is within its value */
        return call_mark_key(c, "by", st, err);
    const struct columns cols = {.type = groups.n ? row_type_of(groups.rows[0]) : NULL,
                                 .of = FIELD_TABLES(run_fields, shape_keys, group_columns.of[0]),
                                 .list = list};
    call_show(s, c, &groups, &cols);
    rowset_clear(&groups);
    free(list);
    return ST_OK;
}

/* ---- prune ---- */

/* How many rows of the same kernel, parameters, problem, machine and caches came before; counts this
 * one. `seen` is an object: setup to number. */
static int64_t rank_in(json_t *seen, const struct run_row *run)
{
    const char *const parts[] = {run->kernel, run->params, run->shape, run->backend,
                                 run->device, run->l2,     run->input, run->transport};
    struct str key = {0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        str_addf(&key, "%s\n", parts[i] ? parts[i] : "");
    str_addf(&key, "%lld", (long long)run->gpus);
    const int64_t before = json_integer_value(json_object_get(seen, str_text(&key)));
    json_object_set_new(seen, str_text(&key), json_integer(before + 1));
    str_free(&key);
    return before;
}

/* Stored rows that are to go: those that the query selects, but for the newest of each setup. */
static void pick_old(const struct rowset *rows, const struct query *x, const char *before,
                     struct rowset *out)
{
    json_t *seen = json_object();
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *run = &row_kept(rows->rows[i])->run;
        const int64_t rank = rank_in(seen, run);
        if (rank >= x->keep && (!before || (run->time && strcmp(run->time, before) < 0)))
            rowset_share(out, rows->rows[i]);
    }
    json_decref(seen);
}

static enum status find_old(struct session *s, const struct query *x, struct rowset *out,
                            struct err *err)
{
    struct rowset all = {.type = &stored_type};
    struct store_query q = x->store;
    if (!s->services.store && store_open(NULL, &s->services.store, err))
        return ST_FAIL;
    q.before = NULL; /* younger ones count for keep= */
    q.limit = FOUND_MAX;
    const enum status st = store_find(s->services.store, &q, &all, err);
    if (!st)
        pick_old(&all, x, x->store.before, out);
    rowset_clear(&all);
    return st;
}

/* "37 results, measured 2026-10-01 to 2026-11-20". */
static void say_old(const struct rowset *rows, struct str *out)
{
    const char *first = NULL, *last = NULL;
    for (size_t i = 0; i < rows->n; i++) {
        const char *time = row_kept(rows->rows[i])->run.time;
        first = time && (!first || strcmp(time, first) < 0) ? time : first;
        last = time && (!last || strcmp(time, last) > 0) ? time : last;
    }
    str_addf(out, "%zu result%s", rows->n, rows->n == 1 ? "" : "s");
    if (first)
        str_addf(out, ", measured %.10s to %.10s", first, last);
}

/* The word, or a yes. */
static enum status may_remove(struct session *s, struct cmd_call *c, const char *what,
                              struct err *err)
{
    if (call_option(c, "yes"))
        return ST_OK;
    if (!s->front.ask)
        return err_set(err, ST_USAGE, "nothing was removed; --yes removes %s", what);
    char *question = xasprintf("Remove %s for good?", what);
    s->front.careful = true;
    const bool yes = s->front.ask(s->front.ctx, question);
    s->front.careful = false;
    free(question);
    return yes ? ST_OK : err_set(err, ST_CANCELLED, "nothing was removed");
}

static enum status remove_rows(struct session *s, const struct rowset *rows, struct err *err)
{
    int64_t *ids = xcalloc(rows->n + 1, sizeof *ids);
    for (size_t i = 0; i < rows->n; i++)
        ids[i] = row_kept(rows->rows[i])->id;
    const enum status st = store_remove(s->services.store, ids, rows->n, err);
    free(ids);
    if (!st)
        session_note(s, "%zu result%s removed", rows->n, rows->n == 1 ? "" : "s");
    return st;
}

/* People see a few of many; programs get all. */
static void show_old(struct session *s, struct cmd_call *c, const struct rowset *old)
{
    enum { FEW = 20 };
    struct rowset few = {.type = old->type};
    const bool cut = call_format(c) == FORMAT_TEXT && old->n > FEW;
    for (size_t i = 0; i < old->n && (!cut || i < FEW); i++)
        rowset_share(&few, old->rows[i]);
    call_show(s, c, &few, &columns);
    if (cut)
        str_addf(c->out, "and %zu older ones; --csv shows all\n", old->n - FEW);
    rowset_clear(&few);
}

/* What is to go is shown first, and in a form for programs whole: a file of it is a copy. */
static enum status prune(struct session *s, struct cmd_call *c, const struct query *x,
                         struct err *err)
{
    struct rowset old = {.type = &stored_type};
    struct str what = {0};
    const bool text = call_format(c) == FORMAT_TEXT;
    (void)call_option(c, "yes");
    enum status st =
        !session_may(s, MAY_WRITE)
            ? err_set(err, ST_USAGE, "results prune is off: this session is restricted")
            : find_old(s, x, &old, err);
    say_old(&old, &what);
    if (!st && (old.n || !text))
        show_old(s, c, &old);
    if (!st && !old.n && text)
        str_add(c->out, "no results to remove\n");
    call_flush(s, c);
    if (!st && old.n)
        st = may_remove(s, c, str_text(&what), err);
    if (!st && old.n)
        st = remove_rows(s, &old, err);
    str_free(&what);
    rowset_clear(&old);
    return st;
}

/* ---- the verb ---- */

static void say_strangers(struct session *s, struct cmd_call *c, const struct rowset *rows)
{
    const size_t from = c->out->len;
    strangers_text(rows, c->out);
    lines_wrap(c->out, from, call_width(s, c));
}

static enum status list(struct session *s, struct cmd_call *c, const struct query *x,
                        struct err *err)
{
    struct rowset rows = {.type = &stored_type};
    enum status st = find_rows(s, x, &rows, err);
    if (!st && !rows.n)
        st = none_found(s, c, &x->store, err);
    const bool shown = rows.n || call_format(c) != FORMAT_TEXT;
    if (!st && shown && x->by)
        st = show_groups(s, c, x->by, &rows, err);
    else if (!st && shown)
        call_show(s, c, &rows, &columns);
    if (!st && rows.n && call_format(c) == FORMAT_TEXT)
        say_strangers(s, c, &rows);
    rowset_clear(&rows);
    return st;
}

static enum status exec_results(struct session *s, struct cmd_call *c, struct err *err)
{
    struct query x;
    (void)call_format(c);
    (void)call_option(c, "yes");
    enum status st = read_query(s, c, &x, err);
    if (!st)
        st = x.prune ? prune(s, c, &x, err) : list(s, c, &x, err);
    str_free(&x.shape);
    return st;
}

static const struct cmd_key results_keys[] = {
    {"kernel", "only this kernel", NULL},
    {"backend", "only this backend", NULL},
    {"device", "only devices whose name has this text", NULL},
    {"since", "only later ones: an age (30min, 2h, 3d, 1w) or a date (2026-11-20)", NULL},
    {"before", "only earlier ones, in the same words", NULL},
    {"origin", "only figures of this origin", origin_words},
    {"limit", "at most this many rows, newest first; 20 by default, with by= all", NULL},
    {"by", "a row for each group instead: fields such as kernel,shape or device,Sq", NULL},
    {"keep", "with prune: as many of each kernel, parameters, shape, device and caches stay", NULL},
    {"--yes", "with prune: remove them without being asked", NULL},
    {0},
};

const struct cmd_entry cmd_results = {
    .name = "results",
    .group = "Look up",
    .usage = "[prune] [K] [shape] [since=AGE|DATE] [device=TEXT] [limit=N] [by=FIELDS]",
    .summary = "what was measured before, newest first",
    .help =
        "Every measured row is kept, with the command that made it, unless --no-store was\n"
        "given. Rows of recordings that were opened stand among them, with the origin\n"
        "\"recorded\". Shape keys and words select.\n"
        "\n"
        "by= groups them: how many, their median, best and worst time, and the spread of separate\n"
        "runs beside the CV of samples within one. Rows of several shapes, devices or caches have\n"
        "no common time, and their group says so.\n"
        "\n"
        "results prune removes what the same words select: it shows the rows, asks on a terminal\n"
        "and needs --yes elsewhere; with --json or --csv the output is a copy. keep=N leaves the\n"
        "newest N of each setup. Rows of recordings are not touched.\n"
        "\n"
        "  results fa2 since=2d device=H200\n"
        "  results cpu_tiled S=4k f32 limit=5\n"
        "  results limit=1000 --csv > all.csv\n"
        "  results device=H200 D=64 by=kernel,shape,device\n"
        "  results prune before=30d keep=3 --yes --csv > gone.csv\n",
    .first = (const char *const[]){"prune", NULL},
    .arg = ARG_KERNEL,
    .keys = results_keys,
    .flags = CMD_SHAPE | CMD_ROWS,
    .exec = exec_results,
    .columns = COLUMNS(&columns, &group_columns),
};
