/* row_charts.c - see row_charts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/row_charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "draw/timeline.h"
#include "export/html.h"
#include "export/table.h"
#include "measure/row.h"
#include "plan/occupancy.h"
#include "plan/plan.h"
#include "plan/row.h"
#include "spec/shape.h"

enum { ITEMS_MAX = 40, SERIES_MAX = 24, POINTS_MAX = 512, ROWS_MAX = 4096 };

/* ---- small things ---- */

const char *metric_unit(const char *metric)
{
    const struct field *f = field_find(run_fields, metric);
    if (!f)
        f = row_type_field(&plan_row_type, metric, NULL);
    return f && f->unit ? f->unit : "";
}

/* A text field, sanitised; NULL when absent. The caller frees it. */
static char *clean_text(const json_t *row, const char *field)
{
    const char *text = row_string(row, field);
    return text ? sanitize_line(text) : NULL;
}

static bool is_text(const json_t *row, const char *field, const char *text)
{
    const char *mine = row_string(row, field);
    return mine && !strcmp(mine, text);
}

static bool failed(const json_t *row)
{
    return is_text(row, "check", "fail");
}

static const json_t *rows_of(const json_t *table)
{
    return json_object_get(table, "rows");
}

/* The text that a field has in all rows, or NULL. */
static char *common_text(const json_t *rows, const char *field)
{
    const json_t *first = json_object_get(json_array_get(rows, 0), field);
    for (size_t i = 1; i < json_array_size(rows); i++)
        if (!json_equal(first, json_object_get(json_array_get(rows, i), field)))
            return NULL;
    return clean_text(json_array_get(rows, 0), field);
}

char *stale_words(const json_t *rows)
{
    struct str names = {0};
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char *name = json_is_true(json_object_get(row, "stale")) ? clean_text(row, "kernel") : NULL;
        if (name)
            str_addf(&names, "%s%s", n++ ? ", " : "", name);
        free(name);
    }
    char *words = !n                          ? NULL
                  : n < json_array_size(rows) ? xasprintf("STALE: %s", str_text(&names))
                                              : xstrdup("STALE");
    char *text = words ? xasprintf("%s, measured before the settings changed", words) : NULL;
    free(words);
    str_free(&names);
    return text;
}

typedef void add_name_fn(struct caption *c, const char *name);
static void add_names(const json_t *rows, const char *field, add_name_fn *add, struct caption *c)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        char *name = clean_text(json_array_get(rows, i), field);
        add(c, name);
        free(name);
    }
}

void rows_caption(const json_t *rows, struct caption *c)
{
    const char *origin = row_origin(json_array_get(rows, 0));
    for (size_t i = 1; i < json_array_size(rows); i++)
        if (strcmp(origin, row_origin(json_array_get(rows, i))) != 0)
            origin = "-";
    c->shape = common_text(rows, "shape");
    add_names(rows, "kernel", caption_kernel, c);
    add_names(rows, "device", caption_device, c);
    if (!c->device)
        add_names(rows, "gpu", caption_device, c);
    if (strcmp(origin, "-") != 0)
        c->origin = xstrdup(origin);
    c->stale = stale_words(rows);
}

static void add_chart(struct charts *out, struct chart *c, const json_t *rows)
{
    rows_caption(rows, &c->caption);
    charts_add(out, c);
}

/* ---- measured rows: times and ratios ---- */

static bool any_differs(const json_t *rows, const char *field)
{
    const json_t *first = json_object_get(json_array_get(rows, 0), field);
    for (size_t i = 1; i < json_array_size(rows); i++)
        if (!json_equal(first, json_object_get(json_array_get(rows, i), field)))
            return true;
    return false;
}

/* Is a row of the same kernel there with other parameters? */
static bool is_twice(const json_t *rows, const json_t *row)
{
    const char *kernel = row_string(row, "kernel");
    for (size_t i = 0; kernel && i < json_array_size(rows); i++) {
        const json_t *other = json_array_get(rows, i);
        if (other != row && is_text(other, "kernel", kernel) &&
            !json_equal(json_object_get(row, "params"), json_object_get(other, "params")))
            return true;
    }
    return false;
}

/* What sets a row apart besides its kernel; NULL: nothing. */
static char *item_note(const json_t *rows, const json_t *row)
{
    static const char *const fields[] = {"shape", "l2", "backend", "device", "input", NULL};
    struct str s = {0};
    for (const char *const *f = fields; *f; f++)
        if (row_string(row, *f) && any_differs(rows, *f))
            str_addf(&s, "%s%s", s.len ? ", " : "", row_string(row, *f));
    if (row_string(row, "params") && is_twice(rows, row))
        str_addf(&s, "%s%s", s.len ? ", " : "", row_string(row, "params"));
    char *clean = s.len ? sanitize_line(str_text(&s)) : NULL;
    str_free(&s);
    return clean;
}

static void take_item(struct spread_item *v, const json_t *rows, const json_t *row, bool ratio)
{
    static const char *const fields[2][3] = {{"median_us", "q1_us", "q3_us"},
                                             {"ratio", "ratio_lo", "ratio_hi"}};
    const char *const *f = fields[ratio];
    v->name = clean_text(row, "kernel");
    v->name = v->name ? v->name : xstrdup("?");
    v->note = item_note(rows, row);
    v->base = is_text(row, "verdict", "base");
    v->stale = json_is_true(json_object_get(row, "stale"));
    v->bad = failed(row);
    v->mid = failed(row) ? NAN : row_number(row, f[0]);
    if (!(v->mid > 0)) {
        v->mid = NAN;
        v->text = xstrdup(v->bad ? "FAIL" : "no figure");
        return;
    }
    v->lo = row_number(row, f[1]);
    v->hi = row_number(row, f[2]);
    if (!(v->lo > 0 && v->hi >= v->lo))
        v->lo = v->hi = NAN;
}

static void add_items(const json_t *rows, bool ratio, struct charts *out)
{
    struct chart *c = chart_new(ratio ? &chart_ratios : &chart_times);
    struct spread_chart *s = c->model;
    const size_t n = json_array_size(rows);
    spread_size(s, n < ITEMS_MAX ? (int)n : ITEMS_MAX);
    s->left_out = (int64_t)n - s->n;
    s->title = xstrdup(ratio ? "time over the base's, 95 % interval; grey: the same within 1 %"
                             : "median time with quartiles");
    s->unit = xstrdup(ratio ? "" : "us");
    for (int i = 0; i < s->n; i++)
        take_item(&s->items[i], rows, json_array_get(rows, (size_t)i), ratio);
    add_chart(out, c, rows);
}

void times_charts(const json_t *rows, struct charts *out)
{
    add_items(rows, false, out);
}

/* ---- samples ---- */

static void add_samples(const json_t *rows, struct charts *out)
{
    struct chart *c = chart_new(&chart_histogram);
    struct sample_chart *s = c->model;
    samples_size(s, SAMPLE_SERIES);
    s->n = 0;
    for (size_t i = 0; i < json_array_size(rows) && s->n < SAMPLE_SERIES; i++) {
        const json_t *row = json_array_get(rows, i), *us = json_object_get(row, "samples_us");
        if (json_array_size(us) < 2 || !row_string(row, "kernel"))
            continue;
        s->series[s->n].name = clean_text(row, "kernel");
        s->series[s->n].stale = json_is_true(json_object_get(row, "stale"));
        samples_take(&s->series[s->n++], us);
    }
    add_chart(out, c, rows);
}

struct chart *samples_chart(const struct run_rows *rows)
{
    struct charts all = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < rows->n; i++) {
        json_t *row = run_row_result(&rows->v[i]);
        json_t *us = rows->v[i].samples_us ? rows->v[i].samples_us : rows->v[i].recent_us;
        if (us)
            json_object_set(row, "samples_us", us);
        json_array_append_new(list, row);
    }
    add_samples(list, &all);
    struct chart *c = all.n ? all.v[0] : NULL;
    if (c)
        c->owners++;
    charts_clear(&all);
    json_decref(list);
    return c;
}

/* ---- a figure of a row in a grid ---- */

static void take_cell(struct grid_cell *v, const json_t *row, const char *metric)
{
    const char *reason = failed(row) ? "the check failed" : row_string(row, "reason");
    if (!failed(row))
        v->value = row_number(row, metric);
    if (isnan(v->value)) {
        const char *by = row_string(row, "blocked_by");
        free(v->why);
        free(v->blocked);
        v->why = sanitize_line(reason ? reason : "no figure");
        v->blocked = xstrdup(failed(row) ? "check" : chart_block_of(by)->word);
        return;
    }
    const char *bound = bound_mark(row, metric);
    v->bound = *bound ? xstrdup(bound) : NULL;
    if (strcmp(metric, "median_us") != 0)
        return;
    v->lo = row_number(row, "q1_us");
    v->hi = row_number(row, "q3_us");
}

/* ---- measurements over shapes that differ in one number ---- */

/* What sets series apart, of one row: its kernel, the words of its shape, and how it was measured. */
enum { KEYS_MAX = 16 };
enum {
    PART_KERNEL,
    PART_WORDS,
    PART_L2 = PART_WORDS + KEYS_MAX,
    PART_BACKEND,
    PART_DEVICE,
    PART_PARAMS,
    PARTS
};
struct shaped {
    const json_t *row;
    struct shape shape;
    double at;          /* on the axis, once that is known */
    char *parts[PARTS]; /* owned; never NULL */
};

static bool is_number_key(const struct field *k)
{
    return k->type == FIELD_INT && !k->words;
}

/* False where a row has no shape that can be read. */
static bool read_shape(const json_t *row, struct shaped *x)
{
    static const char *const fields[] = {[PART_KERNEL] = "kernel",
                                         [PART_L2] = "l2",
                                         [PART_BACKEND] = "backend",
                                         [PART_DEVICE] = "device"};
    const char *text = row_string(row, "shape");
    int n = PART_WORDS;
    x->row = row;
    x->shape = SHAPE_DEFAULT;
    if (!text || shape_parse(text, &x->shape, NULL) != ST_OK)
        return false;
    for (const struct field *k = shape_keys; k->name && n < PART_L2; k++) {
        struct str word = {0};
        if (is_number_key(k))
            continue;
        shape_word(&x->shape, k->name, &word);
        x->parts[n++] = str_take(&word);
    }
    for (int p = 0; p < PARTS; p++) {
        const char *known = p < PART_PARAMS && fields[p] ? row_string(row, fields[p]) : NULL;
        if (!x->parts[p])
            x->parts[p] = xstrdup(known ? known : "");
    }
    return true;
}

/* Parameters set series apart only where nothing else does. */
static void take_params(struct shaped *x)
{
    const char *params = row_string(x->row, "params");
    free(x->parts[PART_PARAMS]);
    x->parts[PART_PARAMS] = xstrdup(params ? params : "");
}

/* How many values a number of the shape takes over the rows. */
static int values_of(const struct shaped *v, size_t n, const char *key)
{
    char(*seen)[32] = xcalloc(n + 1, sizeof *seen);
    int count = 0;
    for (size_t i = 0; i < n; i++) {
        char text[32];
        bool known = false;
        shape_get(&v[i].shape, key, text, sizeof text);
        for (int k = 0; k < count && !known; k++)
            known = !strcmp(seen[k], text);
        if (!known)
            memcpy(seen[count++], text, sizeof text);
    }
    free(seen);
    return count;
}

/* Does the key only repeat another one in all rows: Sq and Sk where S says both, Hkv where it is H? */
static bool repeats(const struct shaped *v, size_t n, const char *key)
{
    bool square = true, follows = true;
    for (size_t i = 0; i < n; i++) {
        square = square && v[i].shape.Sq == v[i].shape.Sk;
        follows = follows && shape_follows(&v[i].shape, key);
    }
    return follows || ((!strcmp(key, "Sq") || !strcmp(key, "Sk")) && square) ||
           (!strcmp(key, "S") && !square);
}

/* The one number that differs, in at least three values; NULL when it is none or several. */
static const char *varying_key(const struct shaped *v, size_t n)
{
    const char *found = NULL;
    for (const struct field *k = shape_keys; k->name; k++) {
        if (!is_number_key(k) || repeats(v, n, k->name) || values_of(v, n, k->name) < 2)
            continue;
        if (found)
            return NULL;
        found = k->name;
    }
    return found && values_of(v, n, found) > 2 ? found : NULL;
}

static bool same_series(const struct shaped *a, const struct shaped *b)
{
    for (int p = 0; p < PARTS; p++)
        if (strcmp(a->parts[p], b->parts[p]) != 0)
            return false;
    return true;
}

/* Rows, the first of each series, and the values of the axis in order. */
struct survey {
    struct shaped *v;
    size_t n;
    const char *axis;
    const struct shaped *series[SERIES_MAX];
    int nseries;
    double at[POINTS_MAX];
    int npoints;
};

static double axis_value(const struct shaped *x, const char *axis)
{
    char text[32];
    double v = NAN;
    shape_get(&x->shape, axis, text, sizeof text);
    return number_parse(text, &v, NULL) == ST_OK ? v : NAN;
}

static int series_of(const struct survey *s, size_t i)
{
    for (int k = 0; k < s->nseries; k++)
        if (same_series(s->series[k], &s->v[i]))
            return k;
    return -1;
}

static int point_of(const struct survey *s, double v)
{
    for (int i = 0; i < s->npoints; i++)
        if (s->at[i] == v)
            return i;
    return -1;
}

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* False: too many of either. */
static bool find_series(struct survey *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const double v = s->v[i].at;
        if (series_of(s, i) < 0) {
            if (s->nseries == SERIES_MAX)
                return false;
            s->series[s->nseries++] = &s->v[i];
        }
        if (point_of(s, v) < 0) {
            if (s->npoints == POINTS_MAX)
                return false;
            s->at[s->npoints++] = v;
        }
    }
    qsort(s->at, (size_t)s->npoints, sizeof *s->at, by_number);
    return true;
}

/* "fa2 bf16 causal hot": of what sets series apart that which not all of them share. */
static char *series_name(const struct survey *s, int k)
{
    struct str out = {0};
    for (int p = 0; p < PARTS; p++) {
        bool differs = p == PART_KERNEL;
        for (int o = 0; o < s->nseries; o++)
            differs = differs || strcmp(s->series[o]->parts[p], s->series[k]->parts[p]) != 0;
        if (differs && *s->series[k]->parts[p])
            str_addf(&out, "%s%s", out.len ? " " : "", s->series[k]->parts[p]);
    }
    char *clean = sanitize_line(out.len ? str_text(&out) : "?");
    str_free(&out);
    return clean;
}

/* Are there two rows of one series at one point, with other parameters? */
static bool has_clash(const struct survey *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < i; k++)
            if (same_series(&s->v[i], &s->v[k]) && s->v[i].at == s->v[k].at &&
                !json_equal(json_object_get(s->v[i].row, "params"),
                            json_object_get(s->v[k].row, "params")))
                return true;
    return false;
}

static void fill_shapes(const struct survey *s, struct grid_chart *g)
{
    grid_size(g, s->npoints, 0, s->nseries);
    g->metric = xstrdup("median_us");
    g->unit = xstrdup("us");
    g->xname = xstrdup(s->axis);
    for (int i = 0; i < s->npoints; i++)
        g->x[i].text = xasprintf("%.0f", s->at[i]);
    for (int k = 0; k < s->nseries; k++)
        g->series[k].name = series_name(s, k);
    for (size_t i = 0; i < s->n; i++)
        take_cell(&g->series[series_of(s, i)].cells[point_of(s, s->v[i].at)], s->v[i].row,
                  "median_us");
}

static bool read_shapes(const json_t *rows, struct survey *s)
{
    bool ok = s->n > 2 && s->n <= ROWS_MAX;
    for (size_t i = 0; ok && i < s->n; i++)
        ok = read_shape(json_array_get(rows, i), &s->v[i]);
    ok = ok && (s->axis = varying_key(s->v, s->n));
    for (size_t i = 0; ok && i < s->n; i++)
        s->v[i].at = axis_value(&s->v[i], s->axis);
    if (ok && s->n <= POINTS_MAX && has_clash(s))
        for (size_t i = 0; i < s->n; i++)
            take_params(&s->v[i]);
    return ok;
}

static void add_shapes(const json_t *rows, struct charts *out)
{
    struct survey *s = xcalloc(1, sizeof *s);
    s->n = json_array_size(rows);
    s->v = xcalloc(s->n + 1, sizeof *s->v);
    if (read_shapes(rows, s) && find_series(s)) {
        struct chart *c = chart_new(&chart_lines);
        fill_shapes(s, c->model);
        add_chart(out, c, rows);
    }
    for (size_t i = 0; i < s->n; i++)
        for (int p = 0; p < PARTS; p++)
            free(s->v[i].parts[p]);
    free(s->v);
    free(s);
}

/* ---- the rows of a sweep ---- */

static const char *column_field(const json_t *table, size_t i)
{
    return row_string(json_array_get(json_object_get(table, "columns"), i), "field");
}

/* Is it a figure of a run or of a plan? */
static bool is_figure(const char *field)
{
    const struct field *f = field_find(run_fields, field);
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        if (!strcmp(plan_metric_name(NULL, i), field))
            return true;
    return f && (f->type == FIELD_REAL || f->type == FIELD_INT);
}

/* A sweep's columns are the kernel, one or two axes, a figure, and at most check and reason; an axis is
 * no figure and no other field of a run. */
static int sweep_axes(const json_t *table)
{
    size_t n = json_array_size(json_object_get(table, "columns"));
    for (size_t i = 0; i < n; i++)
        if (!column_field(table, i))
            return 0;
    while (n && (!strcmp(column_field(table, n - 1), "reason") ||
                 !strcmp(column_field(table, n - 1), "check")))
        n--;
    if (n < 3 || n > 4 || strcmp(column_field(table, 0), "kernel") != 0 ||
        !is_figure(column_field(table, n - 1)))
        return 0;
    for (size_t i = 1; i < n - 1; i++)
        if (is_figure(column_field(table, i)) || field_find(run_fields, column_field(table, i)))
            return 0;
    return (int)n - 2;
}

/* Rows come point by point, and in each in the order of the kernels. */
static size_t rows_a_point(const json_t *rows, const char *const axes[2])
{
    const json_t *first = json_array_get(rows, 0);
    size_t k = 1;
    for (; k < json_array_size(rows); k++)
        for (int a = 0; a < 2; a++)
            if (axes[a] && !json_equal(json_object_get(first, axes[a]),
                                       json_object_get(json_array_get(rows, k), axes[a])))
                return k;
    return k;
}

static int text_index(struct grid_text *list, int *n, int most, const json_t *value)
{
    struct str s = {0};
    value_text(&s, value, 6);
    int i = 0;
    while (i < *n && strcmp(list[i].text, str_text(&s)) != 0)
        i++;
    if (i == *n && *n < most)
        list[(*n)++].text = str_take(&s);
    str_free(&s);
    return i < *n ? i : -1;
}

/* "fa2", or "fa2 BR=32 BC=64" where the kernel is there twice. */
static char *sweep_name(const json_t *rows, size_t k, size_t i)
{
    const json_t *row = json_array_get(rows, i);
    const char *kernel = row_string(row, "kernel"), *params = row_string(row, "params");
    bool twice = false;
    for (size_t o = 0; o < k && kernel; o++)
        twice = twice || (o != i && is_text(json_array_get(rows, o), "kernel", kernel));
    char *text = xasprintf("%s%s%s", kernel ? kernel : "?", twice && params ? " " : "",
                           twice && params ? params : "");
    char *clean = sanitize_line(text);
    free(text);
    return clean;
}

/* The values of both axes; where each row stands. False: too many, or no full grid. */
static bool place_rows(const json_t *rows, const char *const axes[2], size_t k,
                       struct grid_chart *axis, int (*at)[2])
{
    const size_t n = json_array_size(rows);
    for (size_t r = 0; r < n; r++)
        for (int a = 0; a < 2; a++) {
            struct grid_text *list = a ? axis->x : axis->y;
            at[r][a] = axes[a] ? text_index(list, a ? &axis->nx : &axis->ny, POINTS_MAX,
                                            json_object_get(json_array_get(rows, r), axes[a]))
                               : 0;
            if (at[r][a] < 0)
                return false;
        }
    return (size_t)axis->ny * (size_t)(axes[1] ? axis->nx : 1) * k == n;
}

static void fill_sweep(const json_t *rows, const char *const axes[2], const char *metric, size_t k,
                       const struct grid_chart *axis, const int (*at)[2], struct grid_chart *g)
{
    const struct grid_text *x = axes[1] ? axis->x : axis->y;
    grid_size(g, axes[1] ? axis->nx : axis->ny, axes[1] ? axis->ny : 0, (int)k);
    g->metric = sanitize_line(metric);
    g->unit = xstrdup(metric_unit(metric));
    g->xname = sanitize_line(axes[1] ? axes[1] : axes[0]);
    g->yname = axes[1] ? sanitize_line(axes[0]) : NULL;
    for (int i = 0; i < g->nx; i++)
        g->x[i].text = xstrdup(x[i].text);
    for (int i = 0; i < g->ny; i++)
        g->y[i].text = xstrdup(axis->y[i].text);
    for (size_t i = 0; i < k; i++)
        g->series[i].name = sweep_name(rows, k, i);
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const int i = axes[1] ? at[r][1] : at[r][0], j = axes[1] ? at[r][0] : 0;
        take_cell(&g->series[r % k].cells[j * g->nx + i], json_array_get(rows, r), metric);
    }
}

static void add_sweep(const json_t *table, struct charts *out)
{
    const json_t *rows = rows_of(table);
    const int naxes = sweep_axes(table);
    const size_t n = json_array_size(rows);
    if (!naxes || !n || n > ROWS_MAX)
        return;
    const char *const axes[2] = {column_field(table, 1), naxes > 1 ? column_field(table, 2) : NULL};
    const char *metric = column_field(table, (size_t)naxes + 1);
    const size_t k = rows_a_point(rows, axes);
    struct grid_chart axis = {.x = xcalloc(POINTS_MAX, sizeof *axis.x),
                              .y = xcalloc(POINTS_MAX, sizeof *axis.y)};
    int(*at)[2] = xcalloc(n, sizeof *at);
    if (k <= SERIES_MAX && place_rows(rows, axes, k, &axis, at)) {
        struct chart *c = chart_new(naxes > 1 ? &chart_heat : &chart_lines);
        fill_sweep(rows, axes, metric, k, &axis, (const int(*)[2])at, c->model);
        add_chart(out, c, rows);
    }
    for (int i = 0; i < POINTS_MAX; i++) {
        free(axis.x[i].text);
        free(axis.y[i].text);
    }
    free(axis.x);
    free(axis.y);
    free(at);
}

/* ---- plans: shared memory ---- */

static int64_t row_int(const json_t *row, const char *field, double lo, double hi)
{
    const double v = row_number(row, field);
    return v >= lo && v <= hi ? (int64_t)v : INT_UNKNOWN;
}

static int64_t limiter_of(const json_t *row)
{
    const json_t *list = json_object_get(row, "limiter");
    int64_t bits = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        for (unsigned bit = OCC_BLOCKS; bit <= OCC_BARRIERS; bit *= 2) {
            const char *word = json_string_value(json_array_get(list, i));
            if (word && !strcmp(word, occ_limiter_name((enum occ_limiter)bit)))
                bits |= bit;
        }
    return bits;
}

static int64_t smem_limit(const json_t *row, const struct device_table *d)
{
    const char *gpu = row_string(row, "gpu");
    const struct device *dev = NULL;
    struct err why = ERR_INIT;
    if (!gpu || !d || devices_get(d, gpu, &dev, &why))
        return 0;
    const struct arch_limits *arch = arch_find(dev->cc);
    return arch ? arch->smem_optin : 0;
}

static void take_buffers(const json_t *list, struct smem_map *m)
{
    smem_buffers(m, (int)fmin((double)json_array_size(list), 1000));
    int n = 0;
    for (size_t i = 0; i < json_array_size(list) && n < m->n; i++) {
        const json_t *from = json_array_get(list, i);
        struct smem_buffer *b = &m->buffers[n];
        b->offset = row_int(from, "offset", 0, 1e9);
        b->bytes = row_int(from, "bytes", 0, 1e9);
        if (b->offset == INT_UNKNOWN || b->bytes == INT_UNKNOWN || !row_string(from, "name"))
            continue;
        b->name = clean_text(from, "name");
        b->formula = clean_text(from, "formula");
        b->doc = clean_text(from, "doc");
        b->overlay = json_is_true(json_object_get(from, "overlay"));
        n++;
    }
    m->n = n;
}

static void take_map(const json_t *row, const struct device_table *d, struct smem_map *m)
{
    m->kernel = clean_text(row, "kernel");
    m->params = clean_text(row, "params");
    m->device = clean_text(row, "gpu");
    m->reason = clean_text(row, "reason");
    take_buffers(json_object_get(row, "smem"), m);
    m->bytes = row_int(row, "smem_bytes", 0, 1e9);
    m->limit = smem_limit(row, d);
    m->limit_blocks = row_int(row, "limit_blocks", 0, 1e9);
    m->limit_regs = row_int(row, "limit_regs", 0, 1e9);
    m->limit_smem = row_int(row, "limit_smem", 0, 1e9);
    m->limit_warps = row_int(row, "limit_warps", 0, 1e9);
    m->blocks_per_sm = row_int(row, "blocks_per_sm", 0, 1e9);
    m->limiter = limiter_of(row);
    m->occupancy_pct = row_number(row, "occupancy_pct");
    m->bound = *bound_mark(row, "blocks_per_sm") != 0;
}

enum { MAPS_MAX = 64 };

static void add_smem(const json_t *rows, const struct device_table *d, struct charts *out)
{
    struct chart *c = chart_new(&chart_smem);
    struct smem_chart *s = c->model;
    for (size_t i = 0; i < json_array_size(rows) && s->n < MAPS_MAX; i++) {
        const json_t *row = json_array_get(rows, i);
        if (row_string(row, "kernel") && json_is_array(json_object_get(row, "smem")) &&
            row_int(row, "smem_bytes", 0, 1e9) != INT_UNKNOWN)
            take_map(row, d, smem_add(s));
    }
    add_chart(out, c, rows);
}

/* ---- roofs ---- */

enum { ROOFS_MAX = 4, ROOF_POINTS_MAX = 26 };

static void take_roof(struct roof_chart *x, const json_t *row)
{
    const double peak = row_number(row, "peak_tflops"), gbs = row_number(row, "dram_gbs");
    const char *unit = row_string(row, "peak_unit"), *on = row_string(row, "gpu");
    if (!(peak > 1e-9) || !(gbs > 1e-6) || peak > 1e9 || gbs > 1e12 || x->nroofs == ROOFS_MAX)
        return;
    for (int i = 0; i < x->nroofs; i++)
        if (x->roofs[i].peak == peak && x->roofs[i].gbs == gbs)
            return;
    on = on ? on : row_string(row, "device");
    char *text = xasprintf("%s%s%s", on ? on : "?", unit ? " " : "", unit ? unit : "");
    struct roof *r = &x->roofs[x->nroofs++];
    r->name = sanitize_line(text);
    r->peak = peak;
    r->gbs = gbs;
    free(text);
}

static void take_point(struct roof_chart *x, const json_t *row)
{
    const double at = row_number(row, "requested_intensity"), peak = row_number(row, "peak_tflops"),
                 gbs = row_number(row, "dram_gbs"), measured = row_number(row, "tflops");
    if (!(at > 1e-6) || at > 1e9 || !(peak > 0) || !(gbs > 0) || !row_string(row, "kernel"))
        return;
    if (x->npoints == ROOF_POINTS_MAX) {
        x->left_out++;
        return;
    }
    struct roof_point *p = &x->points[x->npoints];
    p->kernel = x->npoints++;
    p->name = clean_text(row, "kernel");
    p->intensity = at;
    p->tflops = fmin(peak, at * gbs / 1e3); /* FLOP/B x GB/s = GFLOP/s */
    p->measured = !failed(row) && measured > 0 ? measured : NAN;
    p->origin = p->measured > 0 ? clean_text(row, "origin") : NULL;
    p->text = failed(row) ? xstrdup("FAIL") : NULL;
}

static void add_roofs(const json_t *rows, struct charts *out)
{
    struct chart *c = chart_new(&chart_roofline);
    struct roof_chart *x = c->model;
    roof_size(x, ROOFS_MAX, ROOF_POINTS_MAX);
    x->nroofs = x->npoints = 0;
    x->left_out = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        take_roof(x, json_array_get(rows, i));
        take_point(x, json_array_get(rows, i));
    }
    add_chart(out, c, rows);
}

/* ---- timelines of older programs: "block_spans" of a row ---- */

/* [row, lane, wave, pass, begin_us, end_us] */
static bool take_span(const json_t *list, struct block_span *b)
{
    int64_t *const to[] = {&b->row, &b->lane, &b->wave, &b->pass};
    for (int i = 0; i < 4; i++) {
        const json_t *v = json_array_get(list, (size_t)i);
        const double x = json_is_number(v) ? json_number_value(v) : -1;
        if (!(x >= 0) || x > (i < 2 ? 200 : i == 3 ? 15 : 1e6))
            return false;
        *to[i] = (int64_t)x;
    }
    b->tile = b->head = b->split = -1;
    b->begin_us = json_number_value(json_array_get(list, 4));
    b->end_us = json_number_value(json_array_get(list, 5));
    return b->begin_us >= 0 && b->end_us >= b->begin_us && b->end_us < 1e12;
}

static void take_panel(const json_t *row, struct block_panel *p)
{
    const json_t *spans = json_object_get(row, "block_spans");
    const size_t n = json_array_size(spans);
    int used = 0;
    block_spans(p, 1, (int)fmin((double)n, 20000));
    p->passes[0].text = xstrdup("");
    p->span_us = 0;
    p->rows = p->lanes = 1;
    for (int i = 0; i < p->n; i++) {
        struct block_span *b = &p->spans[used];
        if (!take_span(json_array_get(spans, (size_t)i), b))
            continue;
        p->rows = b->row >= p->rows ? b->row + 1 : p->rows;
        p->lanes = b->pass == 0 && b->lane >= p->lanes ? b->lane + 1 : p->lanes;
        p->span_us = fmax(p->span_us, b->end_us);
        used++;
    }
    p->n = used;
    p->shown = p->rows;
    const int64_t rows = row_int(row, "rows", 0, 1024); /* SMs without a block belong to it, too */
    p->rows = p->shown = rows > p->rows ? rows : p->rows;
    p->kernel = clean_text(row, "kernel");
    p->params = clean_text(row, "params");
    p->device = clean_text(row, "device");
    p->origin = clean_text(row, "origin");
    p->unit = is_text(row, "unit", "thread") ? xstrdup("thread") : xstrdup("SM");
    p->bound = json_is_true(json_object_get(row, "upper_bound"));
    p->blocks = row_int(row, "blocks", 0, 1e9);
    p->slots = row_int(row, "slots", 0, 1e9);
    p->waves = row_number(row, "waves");
    p->busy_pct = row_number(row, "busy_pct");
    p->tail_pct = row_number(row, "tail_pct");
    p->imbalance = row_number(row, "imbalance");
}

static void add_timeline(const json_t *rows, struct charts *out)
{
    enum { PANELS_MAX = 8 };
    struct chart *c = chart_new(&chart_timeline);
    struct block_chart *b = c->model;
    int used = 0;
    block_size(b, PANELS_MAX);
    for (size_t i = 0; i < json_array_size(rows) && used < PANELS_MAX; i++) {
        const json_t *row = json_array_get(rows, i);
        struct block_panel *p = &b->panels[used];
        if (!row_string(row, "kernel") || !json_array_size(json_object_get(row, "block_spans")))
            continue;
        take_panel(row, p);
        if (p->n && p->span_us > 0)
            used++;
        else
            model_clear(&block_panel_layout, p);
    }
    b->n = used;
    add_chart(out, c, rows);
}

/* ---- all of them ---- */

static bool any_above_zero(const json_t *rows, const char *field)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (row_number(json_array_get(rows, i), field) > 0)
            return true;
    return false;
}

static void from_rows(const json_t *table, const struct device_table *d, struct charts *out)
{
    const json_t *rows = rows_of(table);
    add_sweep(table, out);
    if (!out->n && any_above_zero(rows, "median_us"))
        add_shapes(rows, out);
    if (any_above_zero(rows, "ratio"))
        add_items(rows, true, out);
    if (any_above_zero(rows, "median_us"))
        add_items(rows, false, out);
    add_samples(rows, out);
    add_timeline(rows, out);
    add_smem(rows, d, out);
    add_roofs(rows, out);
}

static bool carries(const struct charts *l, const struct chart_kind *kind)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i]->kind == kind)
            return true;
    return false;
}

void row_charts(const json_t *table, const struct charts *brought, const struct device_table *d,
                struct charts *out)
{
    struct charts own = {0};
    if (!json_array_size(rows_of(table)))
        return;
    charts_share(out, brought);
    from_rows(table, d, &own);
    for (size_t i = 0; i < own.n; i++)
        if (!carries(brought, own.v[i]->kind)) {
            own.v[i]->owners++;
            charts_add(out, own.v[i]);
        }
    charts_clear(&own);
}

void table_charts(const json_t *table, const struct device_table *d, struct charts *out)
{
    struct charts brought = {0};
    charts_from_json(json_object_get(table, "charts"), &brought);
    row_charts(table, &brought, d, out);
    charts_clear(&brought);
}
