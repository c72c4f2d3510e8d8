/* json_text.c - JSON out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* ASCII: no control character of a foreign text reaches a terminal. */
enum { JSON_STYLE = JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII };

/* The fewest digits that read back as the same number: 412.3 stays 412.3, and 2^51 is no rounded
 * neighbour of it. jansson has one precision for all. */
static void add_real(struct str *out, double v)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    str_add(out, text);
    if (!strpbrk(text, ".e"))
        str_add(out, ".0"); /* a reader that tells integers from reals sees a real */
}

static void add_text(struct str *out, const json_t *v)
{
    char *text = json_dumps(v, JSON_STYLE);
    for (const char *p = text ? text : "null"; *p; p++)
        if (*p == 0x7f) /* ASCII, but no character that a terminal should get */
            str_add(out, "\\u007f");
        else
            str_addc(out, *p);
    free(text);
}

static void add_object(struct str *out, const json_t *o)
{
    const char *key;
    json_t *v;
    bool first = true;
    str_addc(out, '{');
    json_object_foreach((json_t *)o, key, v)
    {
        json_t *name = json_string(key);
        if (!first)
            str_addc(out, ',');
        add_text(out, name);
        str_addc(out, ':');
        json_text(out, v);
        json_decref(name);
        first = false;
    }
    str_addc(out, '}');
}

static void add_array(struct str *out, const json_t *a)
{
    size_t i;
    json_t *v;
    str_addc(out, '[');
    json_array_foreach(a, i, v)
    {
        if (i)
            str_addc(out, ',');
        json_text(out, v);
    }
    str_addc(out, ']');
}

void json_text(struct str *out, const json_t *v)
{
    if (json_is_object(v))
        add_object(out, v);
    else if (json_is_array(v))
        add_array(out, v);
    else if (json_is_real(v))
        add_real(out, json_real_value(v));
    else
        add_text(out, v);
}

json_t *json_value(const char *text)
{
    double v;
    if (number_parse(text, &v, NULL))
        return json_string(text);
    return v == floor(v) && fabs(v) < 9e15 ? json_integer((json_int_t)v) : json_real(v);
}

const char *json_text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

int64_t json_int_of(const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    return json_is_integer(v) ? json_integer_value(v) : INT_UNKNOWN;
}

double json_number_of(const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    const double x = json_is_number(v) ? json_number_value(v) : NAN;
    return isfinite(x) ? x : NAN;
}
