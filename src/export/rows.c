/* rows.c - the forms of rows, by name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/rows.h"

#include "base/json_text.h"
#include "export/table.h"

void table_json(struct str *out, const json_t *rows)
{
    size_t i;
    json_t *row;
    str_addc(out, '[');
    json_array_foreach(rows, i, row)
    {
        str_add(out, i ? ",\n " : "\n ");
        json_text(out, row);
    }
    str_add(out, i ? "\n]\n" : "]\n");
}

void rows_format(struct str *out, const json_t *rows, const struct column *cols,
                 const struct field *fields, enum format f, int width)
{
    switch (f) {
    case FORMAT_TEXT:
        table_text(out, rows, cols, width);
        break;
    case FORMAT_JSON:
        table_json(out, rows);
        break;
    case FORMAT_CSV:
        table_csv(out, rows, fields);
        break;
    case FORMAT_MD:
        table_md(out, rows, cols);
        break;
    }
}
