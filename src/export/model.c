/* model.c - series and grids read off a table's rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "export/table.h"
#include "measure/row.h"
#include "spec/shape.h"

/* ---- small things ---- */

double row_number(const json_t *row, const char *field)
{
    const json_t *v = json_object_get(row, field);
    const double x = json_is_number(v) ? json_number_value(v) : NAN;
    return isfinite(x) ? x : NAN;
}

const char *row_string(const json_t *row, const char *field)
{
    return json_string_value(json_object_get(row, field));
}

char *word_value(const char *words, const char *name)
{
    const size_t len = strlen(name);
    for (const char *p = words; p && *p; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        if (n > len && !strncmp(p, name, len) && p[len] == '=')
            return xstrndup(p + len + 1, n - len - 1);
        p += n;
    }
    return NULL;
}

const char *metric_unit(const char *metric)
{
    static const struct {
        const char *end, *unit;
    } ends[] = {{"_us", "\u00b5s"}, {"_pct", "%"}, {"_bytes", "B"}, {"_mhz", "MHz"}};
    const struct field *f = field_find(run_fields, metric);
    if (f && f->unit && *f->unit)
        return strcmp(f->unit, "us") ? f->unit : "\u00b5s";
    const size_t len = strlen(metric);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (len > strlen(ends[i].end) && !strcmp(metric + len - strlen(ends[i].end), ends[i].end))
            return ends[i].unit;
    return "";
}

static bool failed(const json_t *row)
{
    const char *check = row_string(row, "check");
    return check && !strcmp(check, "fail");
}

static char *value_of(const json_t *row, const char *field)
{
    struct str s = {0};
    value_text(&s, json_object_get(row, field), 6);
    return str_take(&s);
}

/* ---- the grid under construction ---- */

/* Where a value stands on an axis; a new one goes behind the others. -1: the axis is full. */
static int axis_index(struct model *m, int axis, const char *text)
{
    int *n = axis ? &m->ny : &m->nx;
    for (int i = 0; i < *n; i++)
        if (!strcmp(m->text[axis][i], text))
            return i;
    if (*n == MODEL_POINTS)
        return -1;
    if (!m->text[axis])
        m->text[axis] = xcalloc(MODEL_POINTS, sizeof *m->text[axis]);
    m->text[axis][*n] = xstrdup(text);
    return (*n)++;
}

static void make_cells(struct model *m)
{
    const size_t n = (size_t)m->nx * (size_t)(m->ny ? m->ny : 1);
    for (int s = 0; s < m->nseries; s++) {
        struct model_series *v = &m->series[s];
        v->y = xcalloc(n + 1, sizeof *v->y);
        v->lo = xcalloc(n + 1, sizeof *v->lo);
        v->hi = xcalloc(n + 1, sizeof *v->hi);
        v->why = xcalloc(n + 1, sizeof *v->why);
        v->by = xcalloc(n + 1, sizeof *v->by);
        for (size_t i = 0; i < n; i++)
            v->y[i] = v->lo[i] = v->hi[i] = NAN;
    }
}

static void set_cell(const struct model *m, int series, int i, int j, const json_t *row)
{
    const struct model_series *v = &m->series[series];
    const size_t at = (size_t)i * (size_t)(m->ny ? m->ny : 1) + (size_t)j;
    const char *reason = row_string(row, "reason"), *by = row_string(row, "blocked_by");
    if (failed(row))
        reason = "the check failed";
    else
        v->y[at] = row_number(row, m->metric);
    if (isnan(v->y[at]) && !v->why[at]) {
        v->why[at] = xstrdup(reason ? reason : "no figure");
        v->by[at] = sanitize_line(failed(row) ? "FAIL" : by ? by : "");
    }
    if (strcmp(m->metric, "median_us") != 0 || isnan(v->y[at]))
        return;
    v->lo[at] = row_number(row, "q1_us");
    v->hi[at] = row_number(row, "q3_us");
}

static void free_texts(char **list, int n)
{
    for (int i = 0; list && i < n; i++)
        free(list[i]);
    free(list);
}

void model_free(struct model *m)
{
    const int n = m->nx * (m->ny ? m->ny : 1);
    for (int s = 0; s < m->nseries; s++) {
        free(m->series[s].name);
        free(m->series[s].y);
        free(m->series[s].lo);
        free(m->series[s].hi);
        free_texts(m->series[s].why, n);
        free_texts(m->series[s].by, n);
    }
    free_texts(m->text[0], m->nx);
    free_texts(m->text[1], m->ny);
    free(m->axis[0]);
    free(m->axis[1]);
    free(m->metric);
    free(m->unit);
    *m = (struct model){0};
}

/* ---- names of series ---- */

/* The words of `words` that are not all of `others`', without the swept ones. */
static char *own_words(const struct model *m, const char *words, const char *others)
{
    struct str s = {0};
    char *copy = xstrdup(words ? words : ""), *save = NULL;
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        char *padded = xasprintf(" %s ", others ? others : ""), *word = xasprintf(" %s ", w);
        const size_t key = strcspn(w, "=");
        bool swept = false;
        for (int a = 0; a < 2; a++)
            swept =
                swept || (m->axis[a] && strlen(m->axis[a]) == key && !strncmp(m->axis[a], w, key));
        if (!swept && !strstr(padded, word))
            str_addf(&s, " %s", w);
        free(padded);
        free(word);
    }
    free(copy);
    return str_take(&s);
}

/* The parameters of two series where both are known: cells that are not possible may lack them. */
static char *apart(const struct model *m, const json_t *rows, size_t k, size_t i, size_t other)
{
    for (size_t p = 0; (p + 1) * k <= json_array_size(rows); p++) {
        const char *own = row_string(json_array_get(rows, p * k + i), "params");
        const char *others = row_string(json_array_get(rows, p * k + other), "params");
        if (own && others)
            return own_words(m, own, others);
    }
    return xstrdup("");
}

/* "fa2", or "fa2 BR=32" where the kernel is there twice. */
static char *series_name(const struct model *m, const json_t *rows, size_t k, size_t i)
{
    const char *kernel = row_string(json_array_get(rows, i), "kernel");
    for (size_t o = 0; o < k; o++) {
        const char *name = row_string(json_array_get(rows, o), "kernel");
        if (o == i || !name || !kernel || strcmp(name, kernel) != 0)
            continue;
        char *own = apart(m, rows, k, i, o);
        char *text = xasprintf("%s%s", kernel, own), *clean = sanitize_line(text);
        free(own);
        free(text);
        return clean;
    }
    return sanitize_line(kernel ? kernel : "?");
}

/* ---- a sweep's table ---- */

static const char *column_field(const json_t *table, size_t i)
{
    return row_string(json_array_get(json_object_get(table, "columns"), i), "field");
}

/* A sweep has the columns kernel, one or two axes, the metric, check if measured, and reason. */
static int sweep_axes(const json_t *table)
{
    size_t n = json_array_size(json_object_get(table, "columns"));
    const char *command = row_string(table, "command");
    if (!command || !str_starts(command, "sw") || n < 3)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!column_field(table, i))
            return 0;
    if (strcmp(column_field(table, 0), "kernel") != 0)
        return 0;
    for (; n; n--)
        if (strcmp(column_field(table, n - 1), "reason") != 0 &&
            strcmp(column_field(table, n - 1), "check") != 0)
            break;
    return n == 3 ? 1 : n == 4 ? 2 : 0;
}

static bool same_point(const struct model *m, int naxes, const json_t *a, const json_t *b)
{
    for (int i = 0; i < naxes; i++)
        if (!json_equal(json_object_get(a, m->axis[i]), json_object_get(b, m->axis[i])))
            return false;
    return true;
}

/* Rows come point by point, and in each in the order of the kernels. */
static size_t rows_a_point(const struct model *m, int naxes, const json_t *rows)
{
    size_t k = 1;
    while (k < json_array_size(rows) &&
           same_point(m, naxes, json_array_get(rows, 0), json_array_get(rows, k)))
        k++;
    return k;
}

static bool place_rows(struct model *m, int naxes, const json_t *rows, bool fill)
{
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const json_t *row = json_array_get(rows, r);
        int at[2] = {0, 0};
        for (int a = 0; a < naxes; a++) {
            char *text = value_of(row, m->axis[a]);
            at[a] = axis_index(m, a, text);
            free(text);
        }
        if (at[0] < 0 || at[1] < 0)
            return false;
        if (fill)
            set_cell(m, (int)(r % (size_t)m->nseries), at[0], at[1], row);
    }
    return true;
}

static bool make_sweep(const json_t *table, struct model *m)
{
    const json_t *rows = json_object_get(table, "rows");
    const int naxes = sweep_axes(table);
    if (!naxes || !json_array_size(rows))
        return false;
    for (int a = 0; a < naxes; a++)
        m->axis[a] = xstrdup(column_field(table, (size_t)a + 1));
    m->metric = xstrdup(column_field(table, (size_t)naxes + 1));
    const size_t k = rows_a_point(m, naxes, rows);
    bool ok = k <= MODEL_SERIES && place_rows(m, naxes, rows, false);
    ok = ok && (size_t)m->nx * (size_t)(m->ny ? m->ny : 1) * k == json_array_size(rows);
    if (!ok)
        return false;
    for (size_t i = 0; i < k; i++)
        m->series[m->nseries++].name = series_name(m, rows, k, i);
    make_cells(m);
    return place_rows(m, naxes, rows, true);
}

/* ---- measurements over shapes that differ in one number ---- */

static bool in_list(char *const *list, int n, const char *text)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(list[i], text))
            return true;
    return false;
}

/* How many values a shape key takes over the rows; 0 when a row lacks it. */
static int values_of(const json_t *rows, const char *key)
{
    char *seen[MODEL_POINTS];
    int n = 0;
    bool all = true;
    for (size_t i = 0; i < json_array_size(rows) && all && n < MODEL_POINTS; i++) {
        char *v = word_value(row_string(json_array_get(rows, i), "shape"), key);
        all = v != NULL;
        if (v && !in_list(seen, n, v))
            seen[n++] = v;
        else
            free(v);
    }
    for (int i = 0; i < n; i++)
        free(seen[i]);
    return all ? n : 0;
}

/* The one key whose values differ; NULL when it is none or several. */
static const char *varying_key(const json_t *rows)
{
    const char *found = NULL;
    for (const struct field *k = shape_keys; k->name; k++) {
        if (k->words || values_of(rows, k->name) < 2)
            continue;
        if (found)
            return NULL;
        found = k->name;
    }
    return found && values_of(rows, found) > 2 ? found : NULL;
}

/* What else sets rows apart: type, mask, caches, backend, device. */
static char *series_key(const json_t *row, const char *axis)
{
    static const char *const fields[] = {"l2", "backend", "device", NULL};
    struct str s = {0};
    const char *kernel = row_string(row, "kernel"), *shape = row_string(row, "shape");
    str_add(&s, kernel ? kernel : "?");
    for (const char *p = shape; p && *p; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        if (!(n > strlen(axis) && !strncmp(p, axis, strlen(axis)) && p[strlen(axis)] == '='))
            str_addf(&s, " %.*s", (int)n, p);
        p += n;
    }
    for (const char *const *f = fields; *f; f++)
        str_addf(&s, "|%s", row_string(row, *f) ? row_string(row, *f) : "");
    return str_take(&s);
}

static int find_series(char *const *keys, int n, const char *key)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(keys[i], key))
            return i;
    return -1;
}

/* "fa2 f32 causal | hot": of the words of the key those that not every series has. */
static char *short_key(char *const *keys, int n, int i)
{
    struct str s = {0};
    char *copy = xstrdup(keys[i]), *save = NULL;
    bool first = true;
    for (char *w = strtok_r(copy, " |", &save); w; w = strtok_r(NULL, " |", &save)) {
        bool everywhere = true;
        for (int o = 0; o < n && everywhere; o++)
            everywhere = strstr(keys[o], w) != NULL;
        if (first || !everywhere)
            str_addf(&s, "%s%s", first ? "" : " ", w);
        first = false;
    }
    free(copy);
    char *clean = sanitize_line(str_text(&s));
    str_free(&s);
    return clean;
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = atof(*(char *const *)a), y = atof(*(char *const *)b);
    return (x > y) - (x < y);
}

/* Axis values in order, and the keys of the series. False: too many of either. */
static bool survey(const json_t *rows, struct model *m, char **keys, int *n)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char *value = word_value(row_string(row, "shape"), m->axis[0]);
        char *key = series_key(row, m->axis[0]);
        const bool known = find_series(keys, *n, key) >= 0;
        const bool ok = axis_index(m, 0, value ? value : "?") >= 0 && (known || *n < MODEL_SERIES);
        free(value);
        if (ok && !known)
            keys[(*n)++] = key;
        else
            free(key);
        if (!ok)
            return false;
    }
    qsort(m->text[0], (size_t)m->nx, sizeof *m->text[0], compare_numbers);
    return true;
}

static void fill_shapes(const json_t *rows, struct model *m, char *const *keys)
{
    make_cells(m);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char *value = word_value(row_string(row, "shape"), m->axis[0]);
        char *key = series_key(row, m->axis[0]);
        set_cell(m, find_series(keys, m->nseries, key), axis_index(m, 0, value ? value : "?"), 0,
                 row);
        free(value);
        free(key);
    }
}

static bool make_shapes(const json_t *table, struct model *m)
{
    const json_t *rows = json_object_get(table, "rows");
    const char *axis = json_array_size(rows) > 2 ? varying_key(rows) : NULL;
    char *keys[MODEL_SERIES];
    int n = 0;
    if (!axis || !json_object_get(json_array_get(rows, 0), "median_us"))
        return false;
    m->axis[0] = xstrdup(axis);
    m->metric = xstrdup("median_us");
    const bool ok = survey(rows, m, keys, &n);
    for (int i = 0; ok && i < n; i++)
        m->series[m->nseries++].name = short_key(keys, n, i);
    if (ok)
        fill_shapes(rows, m, keys);
    for (int i = 0; i < n; i++)
        free(keys[i]);
    return ok;
}

static bool any_value(const struct model *m)
{
    const int n = m->nx * (m->ny ? m->ny : 1);
    for (int s = 0; s < m->nseries; s++)
        for (int i = 0; i < n; i++)
            if (!isnan(m->series[s].y[i]))
                return true;
    return false;
}

bool model_make(const json_t *table, struct model *m)
{
    *m = (struct model){0};
    bool ok = make_sweep(table, m);
    if (!ok) {
        model_free(m);
        ok = make_shapes(table, m);
    }
    ok = ok && any_value(m);
    if (ok)
        m->unit = xstrdup(metric_unit(m->metric));
    else
        model_free(m);
    return ok;
}
