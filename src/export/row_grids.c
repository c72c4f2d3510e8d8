/* row_grids.c - rows that lie in a grid: what is the axis, which rows are a series, which value stands where.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/row_grids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "export/table.h"
#include "measure/row.h"
#include "plan/plan.h"
#include "plan/row.h"
#include "spec/shape.h"

enum { SERIES_MAX = 24, POINTS_MAX = 512, ROWS_MAX = 4096 };

const char *metric_unit(const char *metric)
{
    const struct field *f = field_find(run_fields, metric);
    if (!f)
        f = row_type_field(&plan_row_type, metric, NULL);
    return f && f->unit ? f->unit : "";
}

/* ---- a figure of a row in a grid ---- */

static void take_cell(struct grid_cell *v, const struct row *row, const char *metric)
{
    const char *reason = row_failed(row) ? "the check failed" : row_text(row, "reason");
    if (!row_failed(row))
        v->value = row_real(row, metric);
    if (isnan(v->value)) {
        const char *by = row_text(row, "blocked_by");
        free(v->why);
        free(v->blocked);
        v->why = sanitize_line(reason ? reason : "no figure");
        v->blocked = xstrdup(row_failed(row) ? "check" : chart_block_of(by)->word);
        return;
    }
    const char *bound = row_bound(row, metric);
    v->bound = *bound ? xstrdup(bound) : NULL;
    const bool ratio = !strcmp(metric, "ratio");
    if (!ratio && strcmp(metric, "median_us") != 0)
        return;
    v->lo = row_real(row, ratio ? "ratio_lo" : "q1_us");
    v->hi = row_real(row, ratio ? "ratio_hi" : "q3_us");
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
    const struct row *row;
    struct shape shape;
    double at;          /* on the axis, once that is known */
    char *parts[PARTS]; /* owned; never NULL */
};

static bool is_number_key(const struct field *k)
{
    return k->type == FIELD_INT && !k->words;
}

/* False where a row has no shape that can be read. */
static bool read_shape(const struct row *row, struct shaped *x)
{
    static const char *const fields[] = {[PART_KERNEL] = "kernel",
                                         [PART_L2] = "l2",
                                         [PART_BACKEND] = "backend",
                                         [PART_DEVICE] = "device"};
    const char *text = row_text(row, "shape");
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
        const char *known = p < PART_PARAMS && fields[p] ? row_text(row, fields[p]) : NULL;
        if (!x->parts[p])
            x->parts[p] = xstrdup(known ? known : "");
    }
    return true;
}

/* Parameters set series apart only where nothing else does. */
static void take_params(struct shaped *x)
{
    const char *params = row_text(x->row, "params");
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
    qsort(s->at, (size_t)s->npoints, sizeof *s->at, number_order);
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
                !row_agrees(s->v[i].row, s->v[k].row, "params"))
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

static bool read_shapes(const struct sheet *sh, struct survey *s)
{
    bool ok = s->n > 2 && s->n <= ROWS_MAX;
    for (size_t i = 0; ok && i < s->n; i++)
        ok = read_shape(sheet_row(sh, i), &s->v[i]);
    ok = ok && (s->axis = varying_key(s->v, s->n));
    for (size_t i = 0; ok && i < s->n; i++)
        s->v[i].at = axis_value(&s->v[i], s->axis);
    if (ok && s->n <= POINTS_MAX && has_clash(s))
        for (size_t i = 0; i < s->n; i++)
            take_params(&s->v[i]);
    return ok;
}

void shapes_grid(const struct sheet *sh, struct charts *out)
{
    struct survey *s = xcalloc(1, sizeof *s);
    s->n = sh->rows.n;
    s->v = xcalloc(s->n + 1, sizeof *s->v);
    if (read_shapes(sh, s) && find_series(s)) {
        struct chart *c = chart_new(&chart_lines);
        fill_shapes(s, c->model);
        sheet_chart(sh, c, out);
    }
    for (size_t i = 0; i < s->n; i++)
        for (int p = 0; p < PARTS; p++)
            free(s->v[i].parts[p]);
    free(s->v);
    free(s);
}

/* ---- the rows of a sweep ---- */

static const char *column_field(const struct sheet *sh, size_t i)
{
    return sh->cols.list[i].field;
}

static size_t column_count(const struct sheet *sh)
{
    size_t n = 0;
    while (sh->cols.list && sh->cols.list[n].field)
        n++;
    return n;
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
static int sweep_axes(const struct sheet *sh)
{
    size_t n = column_count(sh);
    while (n && (!strcmp(column_field(sh, n - 1), "reason") ||
                 !strcmp(column_field(sh, n - 1), "check")))
        n--;
    if (n < 3 || n > 4 || strcmp(column_field(sh, 0), "kernel") != 0 ||
        !is_figure(column_field(sh, n - 1)))
        return 0;
    for (size_t i = 1; i < n - 1; i++)
        if (is_figure(column_field(sh, i)) || field_find(run_fields, column_field(sh, i)))
            return 0;
    return (int)n - 2;
}

/* Rows come point by point, and in each in the order of the kernels. */
static size_t rows_a_point(const struct sheet *sh, const char *const axes[2])
{
    size_t k = 1;
    for (; k < sh->rows.n; k++)
        for (int a = 0; a < 2; a++)
            if (axes[a] && !row_agrees(sheet_row(sh, 0), sheet_row(sh, k), axes[a]))
                return k;
    return k;
}

/* Where the text of this value stands in the list, at its end if it is new; -1: there are too many. */
static int text_index(struct grid_text *list, int *n, int most, const struct row *row,
                      const char *field)
{
    struct str s = {0};
    json_t *value = row_value(row, field);
    value_text(&s, value, 6);
    json_decref(value);
    int i = 0;
    while (i < *n && strcmp(list[i].text, str_text(&s)) != 0)
        i++;
    if (i == *n && *n < most)
        list[(*n)++].text = str_take(&s);
    str_free(&s);
    return i < *n ? i : -1;
}

/* "fa2", or "fa2 BR=32 BC=64" where the kernel is there twice. */
static char *sweep_name(const struct sheet *sh, size_t k, size_t i)
{
    const struct row *row = sheet_row(sh, i);
    const char *kernel = row_text(row, "kernel"), *params = row_text(row, "params");
    bool twice = false;
    for (size_t o = 0; o < k && kernel; o++)
        twice = twice || (o != i && row_is(sheet_row(sh, o), "kernel", kernel));
    char *text = xasprintf("%s%s%s", kernel ? kernel : "?", twice && params ? " " : "",
                           twice && params ? params : "");
    char *clean = sanitize_line(text);
    free(text);
    return clean;
}

/* The values of both axes; where each row stands. False: too many, or no full grid. */
static bool place_rows(const struct sheet *sh, const char *const axes[2], size_t k,
                       struct grid_chart *axis, int (*at)[2])
{
    const size_t n = sh->rows.n;
    for (size_t r = 0; r < n; r++)
        for (int a = 0; a < 2; a++) {
            struct grid_text *list = a ? axis->x : axis->y;
            at[r][a] = axes[a] ? text_index(list, a ? &axis->nx : &axis->ny, POINTS_MAX,
                                            sheet_row(sh, r), axes[a])
                               : 0;
            if (at[r][a] < 0)
                return false;
        }
    return (size_t)axis->ny * (size_t)(axes[1] ? axis->nx : 1) * k == n;
}

static void fill_sweep(const struct sheet *sh, const char *const axes[2], const char *metric,
                       size_t k, const struct grid_chart *axis, const int (*at)[2],
                       struct grid_chart *g)
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
        g->series[i].name = sweep_name(sh, k, i);
    for (size_t r = 0; r < sh->rows.n; r++) {
        const int i = axes[1] ? at[r][1] : at[r][0], j = axes[1] ? at[r][0] : 0;
        take_cell(&g->series[r % k].cells[j * g->nx + i], sheet_row(sh, r), metric);
    }
}

void sweep_grid(const struct sheet *sh, struct charts *out)
{
    const int naxes = sweep_axes(sh);
    const size_t n = sh->rows.n;
    if (!naxes || !n || n > ROWS_MAX)
        return;
    const char *const axes[2] = {column_field(sh, 1), naxes > 1 ? column_field(sh, 2) : NULL};
    const char *metric = column_field(sh, (size_t)naxes + 1);
    const size_t k = rows_a_point(sh, axes);
    struct grid_chart axis = {.x = xcalloc(POINTS_MAX, sizeof *axis.x),
                              .y = xcalloc(POINTS_MAX, sizeof *axis.y)};
    int(*at)[2] = xcalloc(n, sizeof *at);
    if (k <= SERIES_MAX && place_rows(sh, axes, k, &axis, at)) {
        struct chart *c = chart_new(naxes > 1 ? &chart_heat : &chart_lines);
        fill_sweep(sh, axes, metric, k, &axis, (const int(*)[2])at, c->model);
        sheet_chart(sh, c, out);
    }
    for (int i = 0; i < POINTS_MAX; i++) {
        free(axis.x[i].text);
        free(axis.y[i].text);
    }
    free(axis.x);
    free(axis.y);
    free(at);
}
