/* csv.c - rows as comma-separated values, as RFC 4180 has it but with line feeds.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "export/table.h"

static void add_csv(struct str *out, const char *text)
{
    if (!strpbrk(text, "\",\r\n")) {
        str_add(out, text);
        return;
    }
    str_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            str_addc(out, '"');
        str_addc(out, *text);
    }
    str_addc(out, '"');
}

static void add_csv_value(struct str *out, const json_t *v)
{
    if (!v || json_is_null(v))
        return;
    if (json_is_string(v)) {
        char *clean = sanitize_line(json_string_value(v));
        add_csv(out, clean);
        free(clean);
        return;
    }
    struct str text = {0};
    json_text(&text, v);
    add_csv(out, str_text(&text));
    str_free(&text);
}

/* The i-th column: the first row's field, or the type's where there is no row. */
static const char *csv_name(const struct rowset *rows, size_t i)
{
    if (rows->n)
        return row_name(rows->rows[0], i);
    const struct field *f = rows->type ? row_type_at(rows->type, i, NULL) : NULL;
    return f ? f->name : NULL;
}

static void add_names(struct str *out, const struct rowset *rows)
{
    const char *name;
    for (size_t i = 0; (name = csv_name(rows, i)); i++) {
        char *clean = sanitize_line(name); /* a plan from a stranger may bring its own */
        str_add(out, i ? "," : "");
        add_csv(out, clean);
        free(clean);
    }
    if (csv_name(rows, 0))
        str_addc(out, '\n');
}

void table_csv(struct str *out, const struct rowset *rows)
{
    const char *name;
    add_names(out, rows);
    for (size_t r = 0; r < rows->n; r++) {
        for (size_t i = 0; (name = csv_name(rows, i)); i++) {
            json_t *v = row_value(rows->rows[r], name);
            str_add(out, i ? "," : "");
            add_csv_value(out, v);
            json_decref(v);
        }
        str_addc(out, '\n');
    }
}
