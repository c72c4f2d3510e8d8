/* rowpath.c - a value within a row, by its path; whether it is only a bound.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "export/rows.h"
#include "export/tidy.h"

/* One step along the path from `at`; *path then stands behind it. */
static const json_t *step(const json_t *at, const char **path)
{
    if (**path == '[') {
        char *end;
        const unsigned long i = strtoul(*path + 1, &end, 10);
        const bool whole = end > *path + 1 && *end == ']';
        *path = whole ? end + 1 : "";
        return whole ? json_array_get(at, i) : NULL;
    }
    *path += **path == '.';
    const size_t len = strcspn(*path, ".[");
    char *key = xstrndup(*path, len);
    const json_t *next = json_object_get(at, key);
    free(key);
    *path += len;
    return next;
}

/* Goes as far as objects and lists lead; *rest is what is left of the path. */
static const json_t *walk(const json_t *value, const char *path, const char **rest)
{
    const json_t *at = value;
    while (at && *path && (json_is_object(at) || *path == '['))
        at = step(at, &path);
    *rest = path;
    return at;
}

/* The value of the field that the path begins with, new, or NULL; *rest is what is behind it. */
static json_t *first_step(const struct row *row, const char *path, const char **rest)
{
    const size_t len = strcspn(path, ".[");
    char *field = xstrndup(path, len);
    json_t *value = tidy_value(row, field);
    free(field);
    *rest = path + len;
    return value;
}

char *row_path_text(const struct row *row, const char *path)
{
    const char *rest;
    json_t *value = first_step(row, path, &rest);
    const json_t *found = walk(value, rest, &rest);
    const char *text = *rest ? NULL : json_string_value(found);
    char *copy = text ? xstrdup(text) : NULL;
    json_decref(value);
    return copy;
}

/* Numbers as they are; true and "pass" are 1, false and "fail" 0; all else is unknown. */
static double number_of(const json_t *value)
{
    const char *text = json_string_value(value);
    if (json_is_number(value))
        return json_number_value(value);
    if (json_is_boolean(value))
        return json_is_true(value);
    if (text && (!strcmp(text, "pass") || !strcmp(text, "fail")))
        return !strcmp(text, "pass");
    return REAL_UNKNOWN;
}

static bool is_text(const json_t *value, const char *word)
{
    const char *text = json_string_value(value);
    return text && !strcmp(text, word);
}

static double number_at(const json_t *value, const char *path)
{
    const char *rest;
    const json_t *at = walk(value, path, &rest);
    if (!*rest)
        return number_of(at);
    if (*rest++ != '.')
        return REAL_UNKNOWN;
    if (json_is_string(at))
        return is_text(at, rest);
    if (!json_is_array(at))
        return REAL_UNKNOWN;
    if (!strcmp(rest, "count"))
        return (double)json_array_size(at);
    for (size_t i = 0; i < json_array_size(at); i++)
        if (is_text(json_array_get(at, i), rest))
            return 1;
    return 0;
}

double row_path_number(const struct row *row, const char *path)
{
    const char *rest;
    if (*row_bound(row, path))
        return REAL_UNKNOWN;
    json_t *value = first_step(row, path, &rest);
    const double number = number_at(value, rest);
    json_decref(value);
    return number;
}

/* ---- bounds ---- */

const char *row_bound(const struct row *row, const char *field)
{
    static const struct {
        const char *field, *mark;
    } marks[] = {
        {"blocks_per_sm", "<="}, {"active_warps", "<="}, {"occupancy_pct", "<="},
        {"slots", "<="},         {"waves", ">="}, /* fewer blocks at a time, more waves */
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strcmp(field, marks[i].field))
            return row_path_number(row, "upper_bound") == 1 && row_real(row, "blocks_per_sm") != 0
                       ? marks[i].mark
                       : ""; /* none is none, whatever the registers are */
    return "";
}
