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
#include "command/verbs/verbs.h"
#include "measure/origin.h"

// clang-format off
static const struct columns columns[1] = {{
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
        {.field = "origin", .varies = true, .drop = 8},
        {0},
    },
}};
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

/* ---- since= ---- */

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

/* "2026-11-20" or the beginning of any other ISO 8601 time. */
static bool is_date(const char *text)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if (i >= sizeof form - 1 ||
            (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i]))
            return false;
    return len >= 4;
}

/* A time in the form of the stored ones, which sort as text. */
static enum status read_since(struct cmd_call *c, char out[32], const char **since, struct err *err)
{
    const char *text = call_key(c, "since");
    const double age = text ? age_seconds(text) : -1;
    struct tm tm;
    *since = NULL;
    if (!text)
        return ST_OK;
    const time_t then = time(NULL) - (time_t)(age > 0 ? age : 0);
    if (age >= 0 && gmtime_r(&then, &tm) && strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
        *since = out;
    else if (is_date(text))
        *since = text;
    if (*since)
        return ST_OK;
    err_set(err, ST_USAGE,
            "since= takes an age such as 30min, 2h, 3d or a date such as 2026-11-20");
    return call_mark_key(c, "since", ST_USAGE, err);
}

/* ---- the query ---- */

struct query {
    struct store_query store;
    const char *origin; /* NULL: any */
    struct str shape;
    char since[32];
};

static enum status read_query(struct session *s, struct cmd_call *c, struct query *x,
                              struct err *err)
{
    const char *limit = call_key(c, "limit");
    struct store_query *q = &x->store;
    struct str *shape = &x->shape;
    int64_t n = 20;
    *x = (struct query){.origin = call_key(c, "origin"),
                        .store = {.kernel = call_key(c, "kernel"),
                                  .backend = call_key(c, "backend"),
                                  .device = call_key(c, "device")}};
    enum status st = shape_filter(c, shape, err);
    for (int i = 0; i < c->nwords && !st; i++) {
        const char *word = c->words[i].text;
        if (is_shape_word(word))
            str_addf(shape, "%s%s", shape->len ? " " : "", word);
        else if (!q->kernel)
            q->kernel = word;
        else
            st = err_set(err, ST_USAGE, "results takes one kernel; \"%s\" is one too many", word);
    }
    if (!st && limit && (st = number_parse_int("limit", limit, 1, 100000, &n, err)))
        call_mark_key(c, "limit", st, err);
    if (!st)
        st = read_since(c, x->since, &q->since, err);
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
    if (s->services.store || !store_open(NULL, &s->services.store, err))
        return *out = s->services.store, ST_OK;
    char *path = path_in(PATH_DATA, "results.db");
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
    const bool any =
        !q->kernel && !q->backend && !q->device && !q->shape && !q->since && !call_key(c, "origin");
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
           (!q->since || (row->time && strcmp(row->time, q->since) >= 0));
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

/* ---- the verb ---- */

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
        q.limit = 100000;
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

static enum status exec_results(struct session *s, struct cmd_call *c, struct err *err)
{
    struct query x;
    struct rowset rows = {.type = &stored_type};
    (void)call_format(c);
    enum status st = read_query(s, c, &x, err);
    if (!st)
        st = find_rows(s, &x, &rows, err);
    if (!st && !rows.n)
        st = none_found(s, c, &x.store, err);
    if (!st && (rows.n || call_format(c) != FORMAT_TEXT))
        call_show(s, c, &rows, columns);
    rowset_clear(&rows);
    str_free(&x.shape);
    return st;
}

static const struct cmd_key results_keys[] = {
    {"kernel", "only this kernel", NULL},
    {"backend", "only this backend", NULL},
    {"device", "only devices whose name has this text", NULL},
    {"since", "only later ones: an age (30min, 2h, 3d, 1w) or a date (2026-11-20)", NULL},
    {"origin", "only figures of this origin", origin_words},
    {"limit", "at most this many rows, newest first; 20 by default", NULL},
    {0},
};

const struct cmd_entry cmd_results = {
    .name = "results",
    .group = "Look up",
    .usage = "[K] [shape] [since=AGE|DATE] [device=TEXT] [limit=N]",
    .summary = "what was measured before, newest first",
    .help = "Every measured row is kept, with the command that made it, unless --no-store was\n"
            "given. Rows of recordings that were opened stand among them, with the origin\n"
            "\"recorded\". Shape keys and words select.\n"
            "\n"
            "  results fa2 since=2d device=H200\n"
            "  results cpu_tiled S=4k f32 limit=5\n"
            "  results limit=1000 --csv > all.csv\n",
    .arg = ARG_KERNEL,
    .keys = results_keys,
    .flags = CMD_SHAPE | CMD_ROWS,
    .exec = exec_results,
    .columns = COLUMNS(columns),
};
