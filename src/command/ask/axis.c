/* axis.c - lists and ranges of values: 16,32,64  512..4k:x2  32..128:+32.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"

bool axis_is(const char *value)
{
    return strchr(value, ',') || strstr(value, "..");
}

void axis_free(char **values, int count)
{
    for (int i = 0; i < count; i++)
        free(values[i]);
    free(values);
}

enum { STEPS_MAX = 100 * AXIS_MAX };

struct range {
    double from, to, step;
    bool times;
};

static enum status parse_part(const char *text, size_t len, double *out, struct err *err)
{
    char *part = xstrndup(text, len);
    enum status st = number_parse(part, out, err);
    free(part);
    return st;
}

/* ":x2" multiplies, ":+32" or ":32" adds; without a step sizes double. */
static enum status parse_step(const char *text, struct range *r, struct err *err)
{
    r->times = !*text || text[1] == 'x';
    r->step = 2;
    if (!*text)
        return ST_OK;
    const char *number = text + 1 + (text[1] == 'x' || text[1] == '+');
    enum status st = parse_part(number, strlen(number), &r->step, err);
    if (!st && !(r->times ? r->step > 1 : r->step > 0))
        st = err_set(err, ST_USAGE, "the step \"%s\" does not lead upward; write :x2 or :+64",
                     text + 1);
    return st;
}

static enum status parse_range(const char *value, const char *dots, struct range *r,
                               struct err *err)
{
    const char *to = dots + 2;
    size_t to_len = strcspn(to, ":");
    enum status st = parse_part(value, (size_t)(dots - value), &r->from, err);
    if (!st)
        st = parse_part(to, to_len, &r->to, err);
    if (!st)
        st = parse_step(to + to_len, r, err);
    if (!st && !(r->from <= r->to && (r->from > 0 || !r->times)))
        st =
            err_set(err, ST_USAGE, "the range \"%s\" is empty; write the smaller end first", value);
    return st;
}

/* Values become labels of tables and figures. */
static bool is_label(const char *text)
{
    char *clean = sanitize_line(text);
    const bool same = !strcmp(clean, text);
    free(clean);
    return same;
}

static enum status add_value(char ***out, int *count, char *text, struct err *err)
{
    if (!is_label(text)) {
        char *clean = sanitize_line(text);
        err_set(err, ST_USAGE, "the value \"%s\" holds characters that cannot be shown", clean);
        free(clean);
        free(text);
        return ST_USAGE;
    }
    if (*count == AXIS_MAX) {
        free(text);
        return err_set(err, ST_USAGE, "an axis has at most %d values", AXIS_MAX);
    }
    *out = xrealloc(*out, (size_t)(*count + 1) * sizeof **out);
    (*out)[(*count)++] = text;
    return ST_OK;
}

/* Values are whole: a step that leads to the same one adds none. */
static enum status expand_range(const char *value, const char *dots, char ***out, int *count,
                                struct err *err)
{
    struct range r;
    enum status st = parse_range(value, dots, &r, err);
    const double last = r.to * (1 + 1e-9);
    double added = NAN;
    int steps = 0;
    for (double x = r.from; !st && x <= last; x = r.times ? x * r.step : x + r.step) {
        if (++steps > STEPS_MAX)
            st = err_set(err, ST_USAGE, "the steps of \"%s\" are too small", value);
        else if (round(x) != added)
            st = add_value(out, count, xasprintf("%.12g", added = round(x)), err);
    }
    return st;
}

enum status axis_expand(const char *value, char ***out, int *count, struct err *err)
{
    *out = NULL;
    *count = 0;
    enum status st = ST_OK;
    for (const char *p = value; !st;) {
        size_t len = strcspn(p, ",");
        char *atom = xstrndup(p, len);
        const char *dots = strstr(atom, "..");
        if (!len)
            st = err_set(err, ST_USAGE, "the list \"%s\" has an empty element", value);
        else if (dots)
            st = expand_range(atom, dots, out, count, err);
        else
            st = add_value(out, count, xstrdup(atom), err);
        free(atom);
        if (!p[len])
            break;
        p += len + 1;
    }
    if (st) {
        axis_free(*out, *count);
        *out = NULL;
        *count = 0;
    }
    return st;
}
