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

/* The columns: those of the table, then whatever the first row has besides. */
static const char **csv_names(const json_t *rows, const struct field *fields, size_t *count)
{
    const json_t *first = json_array_get(rows, 0);
    const char **names = NULL, *key;
    size_t cap = 0, n = 0;
    json_t *v;
    for (; fields && fields->name; fields++) {
        if (first && !json_object_get(first, fields->name))
            continue;
        xgrow((void **)&names, &cap, n + 1, sizeof *names);
        names[n++] = fields->name;
    }
    const size_t known = n;
    json_object_foreach((json_t *)first, key, v)
    {
        bool seen = false;
        for (size_t i = 0; i < known && !seen; i++)
            seen = !strcmp(names[i], key);
        if (seen)
            continue;
        xgrow((void **)&names, &cap, n + 1, sizeof *names);
        names[n++] = key;
    }
    *count = n;
    return names;
}

void table_csv(struct str *out, const json_t *rows, const struct field *fields)
{
    size_t n, i;
    json_t *row;
    const char **names = csv_names(rows, fields, &n);
    for (size_t c = 0; c < n; c++) {
        if (c)
            str_addc(out, ',');
        char *clean = sanitize_line(names[c]); /* a plan from a stranger may bring its own */
        add_csv(out, clean);
        free(clean);
    }
    if (n)
        str_addc(out, '\n');
    json_array_foreach(rows, i, row)
    {
        for (size_t c = 0; c < n; c++) {
            if (c)
                str_addc(out, ',');
            add_csv_value(out, json_object_get(row, names[c]));
        }
        str_addc(out, '\n');
    }
    free(names);
}
