/* table.c - rows as a grid of cell texts: which columns are shown, and what stands in them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"

/* ---- one value as text ---- */

static void add_object(struct str *out, const json_t *o)
{
    const char *key;
    json_t *v;
    bool first = true;
    json_object_foreach((json_t *)o, key, v)
    {
        str_add(out, first ? "" : " ");
        sanitize(out, key, strlen(key), false);
        str_addc(out, '=');
        value_text(out, v, 0);
        first = false;
    }
}

static void add_array(struct str *out, const json_t *a)
{
    enum { SHOWN_MAX = 16 }; /* a picture's data is not for reading */
    const size_t n = json_array_size(a);
    if (n > SHOWN_MAX)
        str_addf(out, "(%zu values)", n);
    for (size_t i = 0; i < n && n <= SHOWN_MAX; i++) {
        if (i)
            str_addc(out, ',');
        value_text(out, json_array_get(a, i), 0);
    }
}

void value_text(struct str *out, const json_t *v, int digits)
{
    char buf[NUMBER_BUF];
    switch (v ? json_typeof(v) : JSON_NULL) {
    case JSON_STRING:
        sanitize(out, json_string_value(v), json_string_length(v), false);
        break;
    case JSON_INTEGER:
        str_add(out, number_fmt_int(buf, json_integer_value(v)));
        break;
    case JSON_REAL:
        str_add(out, number_fmt(buf, json_real_value(v), digits ? digits : 4));
        break;
    case JSON_TRUE:
        str_add(out, "yes");
        break;
    case JSON_FALSE:
        str_add(out, "no");
        break;
    case JSON_ARRAY:
        add_array(out, v);
        break;
    case JSON_OBJECT:
        add_object(out, v);
        break;
    case JSON_NULL:
        str_add(out, "-");
        break;
    }
}

static char *cell_text(const json_t *row, const struct column *col)
{
    struct str s = {0};
    const json_t *v = json_object_get(row, col->field);
    if (json_is_array(v) && !json_array_size(v))
        v = NULL;
    value_text(&s, v, col->digits);
    if (!s.len)
        str_addc(&s, '-');
    return str_take(&s);
}

/* ---- the grid ---- */

static bool any_value(const json_t *rows, const char *field)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const json_t *v = json_object_get(row, field);
        if (v && !json_is_null(v) && !(json_is_string(v) && !json_string_length(v)))
            return true;
    }
    return false;
}

/* Do two rows differ in this field? */
static bool differs(const json_t *rows, const char *field)
{
    const json_t *first = json_object_get(json_array_get(rows, 0), field);
    for (size_t i = 1; i < json_array_size(rows); i++) {
        json_t *v = json_object_get(json_array_get(rows, i), field);
        if ((v || first) && !json_equal((json_t *)first, v))
            return true;
    }
    return false;
}

bool column_is_reason(const struct column *c)
{
    return !strcmp(c->field, "reason");
}

static bool is_shown(const json_t *rows, const struct column *c, bool text)
{
    if (text && (column_is_reason(c) || (c->varies && !differs(rows, c->field))))
        return false;
    return !c->optional || any_value(rows, c->field);
}

void table_make(struct table *t, const json_t *rows, const struct column *cols, bool text)
{
    size_t n = 0, i;
    json_t *row;
    while (cols[n].field)
        n++;
    *t = (struct table){.cols = xcalloc(n + 1, sizeof *t->cols),
                        .width = xcalloc(n + 1, sizeof *t->width),
                        .nrows = json_array_size(rows)};
    for (i = 0; i < n; i++)
        if (is_shown(rows, &cols[i], text))
            t->cols[t->ncols++] = &cols[i];
    t->cells = xcalloc(t->nrows * t->ncols + 1, sizeof *t->cells);
    json_array_foreach(rows, i, row) for (size_t c = 0; c < t->ncols; c++)
        t->cells[i * t->ncols + c] = cell_text(row, t->cols[c]);
}

void table_clear(struct table *t)
{
    for (size_t i = 0; i < t->nrows * t->ncols; i++)
        free(t->cells[i]);
    free(t->cells);
    free(t->cols);
    free(t->width);
}
