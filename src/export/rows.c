/* rows.c - the forms of rows, by name, and their fields.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "export/table.h"
#include "export/tidy.h"

/* ---- columns ---- */

const struct field *columns_table(const struct columns *cols, size_t i)
{
    size_t n = 0;
    if (cols->type)
        return i < ROW_PARTS ? cols->type->parts[i].fields : NULL;
    while (cols->of && cols->of[n])
        n++;
    return i < n ? cols->of[i] : NULL;
}

const struct field *columns_field(const struct columns *cols, const char *name)
{
    return cols->type ? row_type_field(cols->type, name, NULL) : field_find_in(cols->of, name);
}

static void resolve(struct column *c, const struct columns *cols)
{
    const struct field *f = columns_field(cols, c->field);
    if (!f)
        fatal("a table has a column \"%s\" that its rows do not have", c->field);
    c->title = c->title ? c->title : field_title(f);
    c->digits = c->digits ? c->digits : f->digits;
    c->left = c->left || field_is_text(f);
}

struct column *columns_resolve(const struct columns *cols)
{
    size_t n = 0;
    while (cols->list[n].field)
        n++;
    struct column *all = xcalloc(n + 1, sizeof *all);
    memcpy(all, cols->list, n * sizeof *all);
    for (size_t i = 0; i < n && (cols->of || cols->type); i++)
        resolve(&all[i], cols);
    return all;
}

struct row_type *columns_texts(const struct column *cols)
{
    size_t n = 0;
    while (cols[n].field)
        n++;
    struct field *fields = xcalloc(n + 1, sizeof *fields);
    for (size_t i = 0; i < n; i++)
        fields[i] =
            (struct field){.name = cols[i].field, .type = FIELD_TEXT, .offset = i * sizeof(char *)};
    const struct row_type like = {.size = n * sizeof(char *), .parts = {{fields, 0}}};
    struct row_type *type = row_type_new(&like);
    free(fields);
    return type;
}

/* ---- forms ---- */

void table_json(struct str *out, const struct rowset *rows)
{
    size_t i;
    str_addc(out, '[');
    for (i = 0; i < rows->n; i++) {
        json_t *row = tidy_row(rows->rows[i]);
        str_add(out, i ? ",\n " : "\n ");
        json_text(out, row);
        json_decref(row);
    }
    str_add(out, i ? "\n]\n" : "]\n");
}

void rows_format(struct str *out, const struct rowset *rows, const struct columns *cols,
                 enum format f, int width)
{
    struct column *all = columns_resolve(cols);
    switch (f) {
    case FORMAT_TEXT:
        table_text(out, rows, all, width);
        break;
    case FORMAT_JSON:
        table_json(out, rows);
        break;
    case FORMAT_CSV:
        table_csv(out, rows);
        break;
    case FORMAT_MD:
        table_md(out, rows, all);
        break;
    }
    free(all);
}
