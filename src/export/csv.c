/* csv.c - rows as comma-separated values, as RFC 4180 has it but with line feeds.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "export/table.h"
#include "export/tidy.h"

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

/* "-0.26 0.37" */
static bool is_numbers(const char *text)
{
    char *end;
    do {
        (void)strtod(text, &end);
        if (end == text || (*end && *end != ' '))
            return false;
        text = end + strspn(end, " ");
    } while (*text);
    return true;
}

/* A spreadsheet takes a text that begins so for a formula. Numbers are none, nor are texts that are numbers. */
static bool is_formula(const char *text)
{
    return *text && strchr("=+-@", *text) && !is_numbers(text);
}

/* A text: an apostrophe before it is what spreadsheets know for "no formula". */
static void add_csv_text(struct str *out, const char *text)
{
    if (!is_formula(text)) {
        add_csv(out, text);
        return;
    }
    char *plain = xasprintf("'%s", text);
    add_csv(out, plain);
    free(plain);
}

static void add_csv_value(struct str *out, const json_t *v)
{
    if (!v || json_is_null(v))
        return;
    if (json_is_string(v)) {
        char *clean = sanitize_line(json_string_value(v));
        add_csv_text(out, clean);
        free(clean);
        return;
    }
    struct str text = {0};
    json_text(&text, v);
    add_csv(out, str_text(&text));
    str_free(&text);
}

static void add_names(struct str *out, json_t *names)
{
    const char *name;
    json_t *none;
    bool first = true;
    json_object_foreach(names, name, none)
    {
        char *clean = sanitize_line(name); /* a plan from a stranger may bring its own */
        str_add(out, first ? "" : ",");
        add_csv(out, clean);
        free(clean);
        first = false;
    }
    if (!first)
        str_addc(out, '\n');
}

static void add_row(struct str *out, json_t *names, const struct row *row)
{
    const char *name;
    json_t *none, *values = tidy_flat(row);
    bool first = true;
    json_object_foreach(names, name, none)
    {
        str_add(out, first ? "" : ",");
        add_csv_value(out, json_object_get(values, name));
        first = false;
    }
    str_addc(out, '\n');
    json_decref(values);
}

void table_csv(struct str *out, const struct rowset *rows)
{
    json_t *names = tidy_names(rows);
    add_names(out, names);
    for (size_t i = 0; i < rows->n; i++)
        add_row(out, names, rows->rows[i]);
    json_decref(names);
}
