/* record.c - C structs to JSON objects and back, by a table of fields.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/record.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sanitize.h"

/* A second name for a member is none, and what a function makes has none. */
static bool is_member(const struct field *f)
{
    return !(f->flags & FIELD_SECOND) && !(f->hooks && f->hooks->json);
}

void record_init(const struct field *fields, void *row)
{
    for (const struct field *f = fields; f->name; f++)
        if (is_member(f))
            field_set_unknown(f, row);
}

void record_clear(const struct field *fields, void *row)
{
    for (const struct field *f = fields; f->name; f++)
        if (is_member(f))
            field_clear(f, row);
}

void record_copy(const struct field *fields, void *dst, const void *src)
{
    for (const struct field *f = fields; f->name; f++)
        if (is_member(f))
            field_copy(f, dst, src);
}

void record_sanitize(const struct field *fields, void *row)
{
    for (const struct field *f = fields; f->name; f++)
        if (is_member(f) && f->type == FIELD_TEXT) {
            char **text = (char **)(void *)((char *)row + f->offset);
            char *line = *text ? sanitize_line(*text) : NULL;
            free(*text);
            *text = line;
        }
}

bool record_equal(const struct field *fields, const void *a, const void *b)
{
    for (const struct field *f = fields; f->name; f++)
        if (is_member(f) && !field_equal(f, a, b))
            return false;
    return true;
}

/* ---- JSON ---- */

static bool is_written(const struct field *f)
{
    return !(f->flags & (FIELD_SECOND | FIELD_LOCAL));
}

static bool is_read(const struct field *f)
{
    return is_member(f) && !(f->flags & FIELD_LOCAL);
}

void record_add_json(const struct field *fields, const void *row, json_t *object)
{
    for (const struct field *f = fields; f->name; f++) {
        if (!is_written(f))
            continue;
        json_t *value = field_to_json(f, row);
        if (json_object_set_new(object, f->name, value ? value : json_null()) < 0)
            fatal("out of memory (the field %s)", f->name);
    }
}

json_t *record_to_json(const struct field *fields, const void *row)
{
    json_t *object = json_object();
    if (!object)
        fatal("out of memory (a row)");
    record_add_json(fields, row, object);
    return object;
}

/* What the field must be, for a sentence. The caller frees it. */
static char *wanted(const struct field *f)
{
    struct str s = {0};
    field_wanted(f, &s);
    return str_take(&s);
}

enum status record_from_json(const struct field *fields, void *row, const json_t *object,
                             struct err *err)
{
    if (!json_is_object(object))
        return err_set(err, ST_USAGE, "a row must be a JSON object");
    /* All checks first: a row that is refused is left as it was. */
    for (const struct field *f = fields; f->name; f++) {
        const json_t *v = is_read(f) ? json_object_get(object, f->name) : NULL;
        if (!v || field_fits(f, v, false))
            continue;
        char *right = wanted(f);
        err_set(err, ST_USAGE, "the field %s must be %s or null", f->name, right);
        free(right);
        return ST_USAGE;
    }
    for (const struct field *f = fields; f->name; f++) {
        const json_t *v = is_read(f) ? json_object_get(object, f->name) : NULL;
        if (v)
            field_from_json(f, row, v);
    }
    return ST_OK;
}

enum status record_read(const struct field *fields, void *row, const json_t *object,
                        const char *what, struct err *err)
{
    for (const struct field *f = fields; f->name; f++) {
        const json_t *v = is_read(f) ? json_object_get(object, f->name) : NULL;
        if (is_read(f) && !v)
            return err_set(err, ST_USAGE, "%s: \"%s\" is missing", what, f->name);
        if (!v || field_fits(f, v, true))
            continue;
        char *right = wanted(f), *is = sanitize_line(json_is_string(v) ? json_string_value(v) : "");
        err_set(err, ST_USAGE, "%s: \"%s\" must be %s%s%.40s", what, f->name, right,
                *is ? "; it is " : "", is);
        free(right);
        free(is);
        return ST_USAGE;
    }
    for (const struct field *f = fields; f->name; f++)
        if (is_read(f))
            field_from_json(f, row, json_object_get(object, f->name));
    return ST_OK;
}
