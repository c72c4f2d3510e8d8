/* record.c - C structs to JSON objects and back, by a table of fields.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/record.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "base/str.h"

/* One member, seen through its field. */
union member {
    void *at;
    char **text;
    int *truth;
    int64_t *integer;
    double *real;
    json_t **json;
};

static union member member_of(const struct field *f, const void *row)
{
    return (union member){.at = (char *)(uintptr_t)row + f->offset};
}

static void set_unknown(const struct field *f, union member m)
{
    switch (f->type) {
    case FIELD_TEXT:
        *m.text = NULL;
        break;
    case FIELD_BOOL:
        *m.truth = -1;
        break;
    case FIELD_INT:
        *m.integer = INT_UNKNOWN;
        break;
    case FIELD_REAL:
        *m.real = REAL_UNKNOWN;
        break;
    case FIELD_JSON:
        *m.json = NULL;
        break;
    }
}

static void release(const struct field *f, union member m)
{
    if (f->type == FIELD_TEXT)
        free(*m.text);
    else if (f->type == FIELD_JSON)
        json_decref(*m.json);
    set_unknown(f, m);
}

void record_init(const struct field *fields, void *row)
{
    for (const struct field *f = fields; f->name; f++)
        set_unknown(f, member_of(f, row));
}

void record_clear(const struct field *fields, void *row)
{
    for (const struct field *f = fields; f->name; f++)
        release(f, member_of(f, row));
}

/* JSON is UTF-8; a file name or a driver's message need not be. */
static json_t *text_to_json(const char *text)
{
    if (!text || str_is_utf8(text))
        return text ? json_string(text) : NULL;
    char *readable = sanitize_line(text);
    json_t *value = json_string(readable);
    free(readable);
    return value;
}

/* NULL (which becomes null) for unknown values and infinities. */
static json_t *member_to_json(const struct field *f, union member m)
{
    switch (f->type) {
    case FIELD_TEXT:
        return text_to_json(*m.text);
    case FIELD_BOOL:
        return *m.truth < 0 ? NULL : json_boolean(*m.truth);
    case FIELD_INT:
        return *m.integer == INT_UNKNOWN ? NULL : json_integer(*m.integer);
    case FIELD_REAL:
        return isfinite(*m.real) ? json_real(*m.real) : NULL;
    case FIELD_JSON:
        return json_incref(*m.json);
    }
    return NULL;
}

json_t *record_to_json(const struct field *fields, const void *row)
{
    json_t *object = json_object();
    if (!object)
        fatal("out of memory (a row)");
    for (const struct field *f = fields; f->name; f++) {
        json_t *value = member_to_json(f, member_of(f, row));
        if (json_object_set_new(object, f->name, value ? value : json_null()) < 0)
            fatal("out of memory (the field %s)", f->name);
    }
    return object;
}

/* JSON has one kind of number; 3.0 is a good integer if it was written by another program. */
static bool is_whole(const json_t *v)
{
    if (json_is_integer(v))
        return true;
    const double x = json_real_value(v);
    return json_is_real(v) && x == rint(x) && fabs(x) <= 9007199254740992.0;
}

static bool fits(const struct field *f, const json_t *v)
{
    if (json_is_null(v))
        return true;
    switch (f->type) {
    case FIELD_TEXT:
        return json_is_string(v);
    case FIELD_BOOL:
        return json_is_boolean(v);
    case FIELD_INT:
        return is_whole(v);
    case FIELD_REAL:
        return json_is_number(v);
    case FIELD_JSON:
        return true;
    }
    return false;
}

static void member_from_json(const struct field *f, union member m, const json_t *v)
{
    release(f, m);
    if (json_is_null(v))
        return;
    switch (f->type) {
    case FIELD_TEXT:
        *m.text = xstrdup(json_string_value(v));
        break;
    case FIELD_BOOL:
        *m.truth = json_is_true(v);
        break;
    case FIELD_INT:
        *m.integer = json_is_integer(v) ? json_integer_value(v) : (int64_t)json_real_value(v);
        break;
    case FIELD_REAL:
        *m.real = json_number_value(v);
        break;
    case FIELD_JSON:
        *m.json = json_incref((json_t *)(uintptr_t)v);
        break;
    }
}

enum status record_from_json(const struct field *fields, void *row, const json_t *object,
                             struct err *err)
{
    static const char *const wanted[] = {"text", "true or false", "a whole number", "a number", ""};
    if (!json_is_object(object))
        return err_set(err, ST_USAGE, "a row must be a JSON object");
    /* All checks first: a row that is refused is left as it was. */
    for (const struct field *f = fields; f->name; f++) {
        const json_t *v = json_object_get(object, f->name);
        if (v && !fits(f, v))
            return err_set(err, ST_USAGE, "the field %s must be %s or null", f->name,
                           wanted[f->type]);
    }
    for (const struct field *f = fields; f->name; f++) {
        const json_t *v = json_object_get(object, f->name);
        if (v)
            member_from_json(f, member_of(f, row), v);
    }
    return ST_OK;
}

const struct field *field_find(const struct field *fields, const char *name)
{
    for (const struct field *f = fields; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}
