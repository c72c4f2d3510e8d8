/* groups.c - see groups.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "export/tidy.h"
#include "measure/stats.h"
#include "spec/shape.h"
#include "store/kept.h"

struct group_row {
    json_t *keys[GROUP_KEYS];
    int64_t n, failed;
    double median_us, best_us, worst_us, spread_pct, cv_pct, tflops;
    char *mixed, *oldest, *newest, *reason;
};

// clang-format off
static const struct field group_fields[] = {
    FIELD(FIELD_INT, group_row, n, .doc = "Measurements whose check passed and that have a time."),
    FIELD(FIELD_INT, group_row, failed, .doc = "Those that failed their check, or whose check has no answer; in none of the times."),
    FIELD(FIELD_REAL, group_row, median_us, .unit = "us", .title = "median us", .doc = "Median of their medians."),
    FIELD(FIELD_REAL, group_row, best_us, .unit = "us", .title = "best us", .doc = "The smallest of their medians."),
    FIELD(FIELD_REAL, group_row, worst_us, .unit = "us", .title = "worst us", .doc = "The largest."),
    FIELD(FIELD_REAL, group_row, spread_pct, .unit = "%", .digits = 3, .title = "spread %",
          .doc = "The largest over the smallest, less one: how far separate runs lie apart."),
    FIELD(FIELD_REAL, group_row, cv_pct, .unit = "%", .digits = 3, .title = "CV %",
          .doc = "Median of their cv_pct: how far samples of one run lie apart."),
    FIELD(FIELD_REAL, group_row, tflops, .unit = "TFLOP/s", .digits = 3, .title = "TFLOP/s", .doc = "Median of their rates."),
    FIELD(FIELD_TEXT, group_row, oldest, .doc = "When the first of them was measured, UTC."),
    FIELD(FIELD_TEXT, group_row, newest, .doc = "When the last was."),
    FIELD(FIELD_TEXT, group_row, mixed, .doc = "What differs among them and changes times: params, source_hash, input, threads, launch."),
    FIELD(FIELD_TEXT, group_row, reason, .doc = "Why there are no times: they are of several kernels, shapes, backends, devices or states of the caches."),
    {.name = NULL},
};

static const struct column figures[] = {
    {.field = "n"},
    {.field = "failed", .drop = 3},
    {.field = "median_us"},
    {.field = "best_us"},
    {.field = "worst_us", .drop = 5},
    {.field = "spread_pct"},
    {.field = "cv_pct", .drop = 4},
    {.field = "tflops", .drop = 6},
    {.field = "newest", .drop = 7},
    {.field = "mixed", .optional = true},
    {.field = "reason", .optional = true},
    {0},
};
const struct columns group_columns = {.of = FIELD_TABLES(group_fields), .list = figures};
// clang-format on

/* Measurements that differ in one of these have no common time. */
static const char *const setup[] = {"kernel", "shape", "backend", "device", "l2", NULL};
/* Nor quite in these. */
static const char *const conditions[] = {"params",  "source_hash", "input",
                                         "threads", "launch",      NULL};

/* ---- what to group by ---- */

static bool is_key(const struct field *f)
{
    return !(f->flags & (FIELD_SECOND | FIELD_UNKEPT | FIELD_FICKLE)) && f->type != FIELD_REAL &&
           f->type != FIELD_JSON && strcmp(f->name, "n") != 0 && strcmp(f->name, "reason") != 0;
}

static const struct field *find_key(const char *name)
{
    const struct field *f = field_find_in(FIELD_TABLES(run_fields, shape_keys), name);
    return f && is_key(f) ? f : NULL;
}

const char *group_key(const void *unused, size_t i)
{
    const struct field *const tables[] = {run_fields, shape_keys};
    (void)unused;
    for (int t = 0; t < 2; t++)
        for (const struct field *f = tables[t]; f->name; f++)
            if (is_key(f) && i-- == 0)
                return f->name;
    return NULL;
}

struct by {
    const struct field *keys[GROUP_KEYS];
    int n;
};

static enum status no_key(const char *by, const char *word, size_t len, struct err *err)
{
    char *name = xstrndup(word, len), *clean = sanitize_line(name);
    const char *near = str_nearest(name, group_key, NULL);
    err_mark(err, ST_USAGE, (int)(word - by), (int)len,
             "results have no field \"%s\" to group by%s%s%s", clean,
             near ? "; did you mean \"" : "; kernel, shape, device and Sq are some",
             near ? near : "", near ? "\"?" : "");
    free(clean);
    free(name);
    return ST_USAGE;
}

static enum status read_by(const char *text, struct by *by, struct err *err)
{
    *by = (struct by){.n = 0};
    for (const char *p = text; *p;) {
        const size_t len = strcspn(p, ",");
        char *name = xstrndup(p, len);
        const struct field *f = find_key(name);
        free(name);
        if (!f)
            return no_key(text, p, len, err);
        if (by->n == GROUP_KEYS)
            return err_set(err, ST_USAGE, "results are grouped by at most %d fields", GROUP_KEYS);
        by->keys[by->n++] = f;
        p += len + (p[len] == ',');
    }
    return by->n ? ST_OK
                 : err_set(err, ST_USAGE, "by= needs a field, for example: by=kernel,shape");
}

/* ---- the groups ---- */

struct group {
    json_t *keys;            /* values, in the order of `by` */
    const struct row **rows; /* all of them, borrowed */
    size_t n, cap;
};
struct grouping {
    struct group *v;
    size_t n, cap;
    json_t *places; /* the keys as text: the place in v */
};

static struct group *group_of(struct grouping *g, const struct by *by, const struct row *row)
{
    json_t *keys = json_array();
    struct str text = {0};
    for (int i = 0; i < by->n; i++) {
        json_t *value = tidy_value(row, by->keys[i]->name);
        json_array_append_new(keys, value ? value : json_null());
    }
    json_text(&text, keys);
    const json_t *place = json_object_get(g->places, str_text(&text));
    const size_t at = place ? (size_t)json_integer_value(place) : g->n;
    if (!place) {
        json_object_set_new(g->places, str_text(&text), json_integer((json_int_t)at));
        xgrow((void **)&g->v, &g->cap, g->n + 1, sizeof *g->v);
        g->v[g->n++] = (struct group){.keys = json_incref(keys)};
    }
    json_decref(keys);
    str_free(&text);
    return &g->v[at];
}

static void add_rows(struct grouping *g, const struct by *by, const struct rowset *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        struct group *to = group_of(g, by, rows->rows[i]);
        xgrow((void **)&to->rows, &to->cap, to->n + 1, sizeof *to->rows);
        to->rows[to->n++] = rows->rows[i];
    }
}

static void clear(struct grouping *g)
{
    for (size_t i = 0; i < g->n; i++) {
        json_decref(g->v[i].keys);
        free(g->v[i].rows);
    }
    free(g->v);
    json_decref(g->places);
}

/* Numbers by size, texts by their letters, what is unknown last. */
static int compare_values(const json_t *a, const json_t *b)
{
    const bool numbers = json_is_number(a) && json_is_number(b);
    const double x = json_number_value(a), y = json_number_value(b);
    const char *s = json_string_value(a), *t = json_string_value(b);
    if (numbers)
        return (x > y) - (x < y);
    if (s && t)
        return strcmp(s, t);
    return json_is_null(a) - json_is_null(b);
}

static int compare_groups(const void *pa, const void *pb)
{
    const struct group *a = pa, *b = pb;
    int order = 0;
    for (size_t i = 0; !order && i < json_array_size(a->keys); i++)
        order = compare_values(json_array_get(a->keys, i), json_array_get(b->keys, i));
    return order;
}

/* ---- their figures ---- */

static bool counts(const struct row *row)
{
    const struct run_row *run = &row_kept(row)->run;
    return run_row_passed(run) && run->median_us > 0;
}

static bool differs(const struct group *g, const char *name)
{
    for (size_t i = 1; i < g->n; i++)
        if (!row_agrees(g->rows[0], g->rows[i], name))
            return true;
    return false;
}

/* "shape, device": those of the fields that differ, new; NULL: none does. */
static char *what_differs(const struct group *g, const char *const *names)
{
    struct str s = {0};
    for (; *names; names++)
        if (differs(g, *names))
            str_addf(&s, "%s%s", s.len ? ", " : "", *names);
    char *text = s.len ? xstrdup(str_text(&s)) : NULL;
    str_free(&s);
    return text;
}

static double median_of(const struct group *g, const char *name)
{
    double *x = xcalloc(g->n + 1, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++) {
        const double v = row_real(g->rows[i], name);
        if (isfinite(v))
            x[n++] = v;
    }
    const double median = stats_of(x, n).median;
    free(x);
    return median;
}

static void take_times(const struct group *g, struct group_row *out)
{
    double *x = xcalloc(g->n + 1, sizeof *x);
    for (size_t i = 0; i < g->n; i++)
        x[i] = row_kept(g->rows[i])->run.median_us;
    const struct stats s = stats_of(x, g->n);
    free(x);
    out->median_us = s.median;
    out->best_us = s.min;
    out->worst_us = s.max;
    out->spread_pct = g->n > 1 ? 100 * (s.max / s.min - 1) : REAL_UNKNOWN;
    out->cv_pct = median_of(g, "cv_pct");
    out->tflops = median_of(g, "tflops");
}

static void take_dates(const struct group *g, struct group_row *out)
{
    const char *oldest = NULL, *newest = NULL;
    for (size_t i = 0; i < g->n; i++) {
        const char *time = row_kept(g->rows[i])->run.time;
        oldest = time && (!oldest || strcmp(time, oldest) < 0) ? time : oldest;
        newest = time && (!newest || strcmp(time, newest) > 0) ? time : newest;
    }
    out->oldest = oldest ? xstrdup(oldest) : NULL;
    out->newest = newest ? xstrdup(newest) : NULL;
}

/* Leaves the rows that count, and counts the others. */
static int64_t drop_others(struct group *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (counts(g->rows[i]))
            g->rows[n++] = g->rows[i];
    const size_t others = g->n - n;
    g->n = n;
    return (int64_t)others;
}

static void take_group(struct group *g, struct group_row *out)
{
    for (size_t i = 0; i < json_array_size(g->keys); i++)
        out->keys[i] = json_incref(json_array_get(g->keys, i));
    take_dates(g, out);
    out->failed = drop_others(g);
    out->n = (int64_t)g->n;
    out->mixed = what_differs(g, conditions);
    char *apart = what_differs(g, setup);
    if (apart)
        out->reason =
            xasprintf("no times over rows that differ in %s; add it to by=, or select", apart);
    else if (g->n)
        take_times(g, out);
    free(apart);
}

/* ---- as rows ---- */

/* A type whose keys have the names that were asked for. */
static struct row_type *type_of(const struct by *by)
{
    struct field keys[GROUP_KEYS + 1] = {{.name = NULL}};
    for (int i = 0; i < by->n; i++)
        keys[i] = (struct field){.name = by->keys[i]->name,
                                 .type = FIELD_JSON,
                                 .flags = field_is_text(by->keys[i]) ? 0 : FIELD_NUMERIC,
                                 .offset = offsetof(struct group_row, keys) +
                                           (size_t)i * sizeof(json_t *),
                                 .title = by->keys[i]->title,
                                 .doc = by->keys[i]->doc};
    const struct row_type like = ROW_TYPE(group_row, {keys, 0}, {group_fields, 0});
    return row_type_new(&like);
}

static struct column *columns_of(const struct by *by)
{
    const size_t n = sizeof figures / sizeof *figures;
    struct column *list = xcalloc((size_t)by->n + n, sizeof *list);
    for (int i = 0; i < by->n; i++)
        list[i].field = by->keys[i]->name;
    memcpy(list + by->n, figures, sizeof figures);
    return list;
}

enum status groups_make(const char *text, const struct rowset *rows, struct rowset *out,
                        struct column **list, struct err *err)
{
    struct by by;
    struct grouping g = {.places = json_object()};
    *list = NULL;
    const enum status st = read_by(text, &by, err);
    if (!st) {
        struct row_type *type = type_of(&by);
        add_rows(&g, &by, rows);
        if (g.n)
            qsort(g.v, g.n, sizeof *g.v, compare_groups);
        *out = (struct rowset){.type = type};
        for (size_t i = 0; i < g.n; i++)
            take_group(&g.v[i], rowset_add(out));
        out->type = &row_foreign; /* the rows hold theirs; the set does not */
        row_type_free(type);
        *list = columns_of(&by);
    }
    clear(&g);
    return st;
}
