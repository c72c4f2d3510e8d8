/* rowpath.c - a value within a row, by its path.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "export/rows.h"

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
static const json_t *walk(const json_t *row, const char *path, const char **rest)
{
    const json_t *at = row;
    while (at && *path && (json_is_object(at) || *path == '['))
        at = step(at, &path);
    *rest = path;
    return at;
}

const json_t *row_path(const json_t *row, const char *path)
{
    const char *rest;
    const json_t *found = walk(row, path, &rest);
    return *rest ? NULL : found;
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

double row_path_number(const json_t *row, const char *path)
{
    const char *rest;
    const json_t *at = walk(row, path, &rest);
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
