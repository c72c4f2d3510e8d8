/* rowref.c - remembered rows by name: $1, $last, $fa2, and their fields in expressions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "base/mem.h"
#include "command/internal.h"

static json_t *newest_of(const json_t *rows, const char *kernel)
{
    for (size_t i = json_array_size(rows); i > 0; i--) {
        json_t *row = json_array_get(rows, i - 1);
        const char *name = row_text(row, "kernel");
        if (name && !strcmp(name, kernel))
            return row;
    }
    return NULL;
}

json_t *session_row(const struct session *s, const char *name)
{
    const size_t count = json_array_size(s->results);
    const size_t forgotten = s->rows_ever > count ? s->rows_ever - count : 0;
    if (*name != '$')
        return NULL;
    if (!strcmp(name, "$last"))
        return count ? json_array_get(s->results, count - 1) : NULL;
    if (!isdigit((unsigned char)name[1]))
        return newest_of(s->results, name + 1);
    char *end;
    const unsigned long i = strtoul(name + 1, &end, 10);
    return !*end && i > forgotten ? json_array_get(s->results, i - forgotten - 1) : NULL;
}

/* "$1.median_us"; a row or a field that is not there is no name. */
static bool row_value(const void *ctx, const char *name, double *out)
{
    const char *dot = strchr(name, '.');
    if (*name != '$' || !dot)
        return false;
    char *row_name = xstrndup(name, (size_t)(dot - name));
    char *field = xstrndup(dot + 1, strcspn(dot + 1, ".["));
    const json_t *row = session_row(ctx, row_name);
    const bool have = json_object_get(row, field) != NULL;
    free(row_name);
    free(field);
    *out = row_path_number(row, dot + 1);
    return have;
}

enum status session_eval(const struct session *s, const char *text, double *out, struct err *err)
{
    const struct expr_env env = {.value = row_value, .ctx = s};
    return expr_eval_text(text, &env, out, err);
}
