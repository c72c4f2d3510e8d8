/* tidy.c - see tidy.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/tidy.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "spec/shape.h"

/* Objects whose members are columns in CSV. */
static const struct {
    const char *field, *members[5];
} flat[] = {{"worst", {"b", "h", "row", "col"}}, {"first_bad", {"b", "h", "row"}}};
enum { FLAT = sizeof flat / sizeof *flat };

static const struct {
    const char *name, *doc;
} docs[] = {
    {"param_values",
     "The parameters of params as an object, numbers as numbers; in CSV as JSON text."},
    {"worst_b, worst_h, worst_row, worst_col, first_bad_b, first_bad_h, first_bad_row",
     "Only in CSV: the members of worst and first_bad."},
    {"schema_version",
     "Only in JSON, in every row of every verb: 2. It grows when a field goes or means something "
     "else, not when one is added. Rows of older programs say none."},
};

/* A field of the shape; second names are none. */
static bool is_column(const struct field *f)
{
    return !(f->flags & FIELD_SECOND);
}

bool tidy_doc(size_t i, const char **name, const char **doc)
{
    for (const struct field *f = shape_keys; f->name; f++)
        if (is_column(f) && i-- == 0) {
            *name = f->name;
            *doc = f->doc;
            return true;
        }
    if (i >= sizeof docs / sizeof *docs)
        return false;
    *name = docs[i].name;
    *doc = docs[i].doc;
    return true;
}

/* ---- a row ---- */

static void add(json_t *row, const char *name, json_t *value)
{
    if (json_object_get(row, name))
        json_decref(value);
    else
        json_object_set_new(row, name, value ? value : json_null());
}

/* What does not read back as it was written is another's text, and nothing is taken from it. */
static bool read_shape(const char *text, struct shape *out)
{
    char again[SHAPE_TEXT];
    *out = SHAPE_DEFAULT;
    if (!text || shape_parse(text, out, NULL))
        return false;
    shape_format(out, again, sizeof again);
    return strcmp(again, text) == 0;
}

/* "BR=64 MAP=idle" as an object; NULL: it is no such text. */
static json_t *read_params(const char *text)
{
    json_t *values = text ? json_object() : NULL;
    char *copy = values ? xstrdup(text) : NULL, *save = NULL;
    for (char *word = copy ? strtok_r(copy, " ", &save) : NULL; word && values;
         word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        if (!equals || equals == word) {
            json_decref(values);
            values = NULL;
            break;
        }
        *equals = 0;
        json_object_set_new(values, word, json_value(equals + 1));
    }
    free(copy);
    return values;
}

void tidy_shape(json_t *row)
{
    const json_t *text = json_object_get(row, "shape"), *params = json_object_get(row, "params");
    struct shape shape;
    if (!text)
        return;
    const bool known = read_shape(json_string_value(text), &shape);
    for (const struct field *f = shape_keys; f->name; f++)
        if (is_column(f))
            add(row, f->name, known ? field_to_json(f, &shape) : NULL);
    if (params)
        add(row, "param_values", read_params(json_string_value(params)));
}

/* One that may be added to: others may hold the object of a row that somebody else wrote. */
static json_t *own_json(const struct row *row)
{
    json_t *shared = row_json(row), *own = json_copy(shared);
    json_decref(shared);
    tidy_shape(own);
    return own;
}

/* Shape and parameters alone are enough for what follows from them. */
static json_t *made_value(const struct row *row, const char *name)
{
    json_t *texts = json_object();
    static const char *const from[] = {"shape", "params"};
    for (int i = 0; i < 2; i++) {
        json_t *text = row_value(row, from[i]);
        if (text)
            json_object_set_new(texts, from[i], text);
    }
    tidy_shape(texts);
    json_t *value = json_incref(json_object_get(texts, name));
    json_decref(texts);
    return value;
}

json_t *tidy_value(const struct row *row, const char *name)
{
    json_t *own = row_value(row, name);
    return own ? own : made_value(row, name);
}

json_t *tidy_row(const struct row *row)
{
    json_t *object = own_json(row);
    json_object_set_new(object, "schema_version", json_integer(ROW_SCHEMA_VERSION));
    return object;
}

/* "worst_row"; the caller frees it. */
static char *member_name(int i, int k)
{
    return xasprintf("%s_%s", flat[i].field, flat[i].members[k]);
}

/* The columns of the objects that `object` has: with their values, or null where it has names alone. */
static void add_flat(json_t *object)
{
    for (int i = 0; i < FLAT; i++) {
        const json_t *from = json_object_get(object, flat[i].field);
        for (int k = 0; from && flat[i].members[k]; k++) {
            char *name = member_name(i, k);
            add(object, name, json_incref(json_object_get(from, flat[i].members[k])));
            free(name);
        }
    }
}

json_t *tidy_flat(const struct row *row)
{
    json_t *object = own_json(row);
    add_flat(object);
    return object;
}

json_t *tidy_names(const struct rowset *rows)
{
    json_t *names = json_object();
    const struct row_type *before = NULL;
    const struct field *f;
    for (size_t i = 0; !rows->n && rows->type && (f = row_type_at(rows->type, i, NULL)); i++)
        json_object_set_new(names, f->name, json_null());
    for (size_t r = 0; r < rows->n; r++) {
        const struct row_type *type = row_type_of(rows->rows[r]);
        const char *name;
        for (size_t i = 0;
             (type != before || type == &row_foreign) && (name = row_name(rows->rows[r], i)); i++)
            add(names, name, NULL);
        before = type;
    }
    tidy_shape(names);
    add_flat(names);
    return names;
}
