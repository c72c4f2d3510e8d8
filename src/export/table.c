/* table.c - rows as a grid of cell texts: which columns are shown, and what stands in them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/table.h"

#include <math.h>
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

/* A figure that is only a bound, "<=64"; false where it is none. */
static bool add_bound(struct str *out, const struct row *row, const char *field, int digits)
{
    char number[NUMBER_BUF];
    const char *mark = row_bound(row, field);
    const double v = row_real(row, field);
    if (!*mark || isnan(v))
        return false;
    str_addf(out, "%s%s", mark, number_fmt(number, v, digits ? digits : 4));
    return true;
}

static char *cell_text(const struct row *row, const char *field, int digits, bool marks)
{
    struct str s = {0};
    if (marks && add_bound(&s, row, field, digits))
        return str_take(&s);
    json_t *v = row_value(row, field);
    value_text(&s, json_is_array(v) && !json_array_size(v) ? NULL : v, digits);
    json_decref(v);
    if (!s.len)
        str_addc(&s, '-');
    return str_take(&s);
}

char *row_cell(const struct row *row, const char *field, int digits)
{
    return cell_text(row, field, digits, true);
}

/* ---- the grid ---- */

static bool any_value(const struct rowset *rows, const char *field)
{
    for (size_t i = 0; i < rows->n; i++)
        if (row_known(rows->rows[i], field))
            return true;
    return false;
}

/* Do two rows differ in this field? */
static bool differs(const struct rowset *rows, const char *field)
{
    for (size_t i = 1; i < rows->n; i++)
        if (!row_agrees(rows->rows[0], rows->rows[i], field))
            return true;
    return false;
}

bool column_is_reason(const struct column *c)
{
    return !strcmp(c->field, "reason");
}

static bool is_shown(const struct rowset *rows, const struct column *c, bool text)
{
    if (text && (column_is_reason(c) || (c->varies && !differs(rows, c->field))))
        return false;
    return !c->optional || any_value(rows, c->field);
}

void table_make(struct table *t, const struct rowset *rows, const struct column *cols,
                unsigned flags)
{
    size_t n = 0;
    while (cols[n].field)
        n++;
    *t = (struct table){.cols = xcalloc(n + 1, sizeof *t->cols),
                        .width = xcalloc(n + 1, sizeof *t->width),
                        .nrows = rows->n};
    for (size_t i = 0; i < n; i++)
        if (is_shown(rows, &cols[i], flags & TABLE_TEXT))
            t->cols[t->ncols++] = &cols[i];
    t->cells = xcalloc(t->nrows * t->ncols + 1, sizeof *t->cells);
    for (size_t i = 0; i < t->nrows; i++)
        for (size_t c = 0; c < t->ncols; c++)
            t->cells[i * t->ncols + c] = cell_text(rows->rows[i], t->cols[c]->field,
                                                   t->cols[c]->digits, flags & TABLE_MARKS);
}

void table_clear(struct table *t)
{
    for (size_t i = 0; i < t->nrows * t->ncols; i++)
        free(t->cells[i]);
    free(t->cells);
    free(t->cols);
    free(t->width);
}
