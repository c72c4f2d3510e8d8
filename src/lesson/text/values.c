/* values.c - what names mean in a lesson's expressions: rows of the step, kept values, guesses.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/text/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "export/rows.h"

void values_init(struct values *v)
{
    memset(v, 0, sizeof *v);
    rows_init(&v->rows);
}

void values_clear(struct values *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->items[i].name);
    free(v->items);
    rows_clear(&v->rows);
    memset(v, 0, sizeof *v);
}

static struct value *find(const struct values *v, const char *name)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->items[i].name, name) == 0)
            return &v->items[i];
    return NULL;
}

void values_set(struct values *v, const char *name, double x)
{
    struct value *old = find(v, name);
    if (old) {
        old->v = x;
        return;
    }
    xgrow((void **)&v->items, &v->cap, v->n + 1, sizeof *v->items);
    v->items[v->n++] = (struct value){xstrdup(name), x};
}

double values_get(const struct values *v, const char *name)
{
    const struct value *found = find(v, name);
    return found ? found->v : REAL_UNKNOWN;
}

static bool lookup(const void *ctx, const char *name, double *out)
{
    const struct values *v = ctx;
    if (*name == '$') {
        *out = rows_number(&v->rows, name);
        return true;
    }
    const struct value *found = find(v, name);
    *out = found ? found->v : REAL_UNKNOWN;
    return found != NULL;
}

/* known(x): a question that may be asked about what is missing. */
static bool call(const void *ctx, const char *name, int argc, const double *argv, double *out)
{
    (void)ctx;
    if (strcmp(name, "known") != 0 || argc != 1)
        return false;
    *out = !isnan(argv[0]);
    return true;
}

static const char *name_at(const void *ctx, size_t i)
{
    const struct values *v = ctx;
    return i < v->n ? v->items[i].name : NULL;
}

struct expr_env values_env(const struct values *v)
{
    return (struct expr_env){.value = lookup, .call = call, .names = name_at, .ctx = v};
}

double values_eval(const struct values *v, const struct expr *e)
{
    struct expr_env env = values_env(v);
    struct err err = ERR_INIT;
    double x;
    return expr_eval(e, &env, &x, &err) == ST_OK ? x : REAL_UNKNOWN;
}

const char *values_device(const struct values *v)
{
    const char *rest;
    return row_text(rows_find(&v->rows, "$last", &rest), "device");
}

/* ---- {EXPR:FORMAT} ---- */

/* The format at the end of `inside`, cut off; "" if there is none. */
static const char *cut_format(char *inside)
{
    static const char *const formats[] = {":us", ":int", ":pct", ":bytes", ":text"};
    size_t len = strlen(inside);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t n = strlen(formats[i]);
        if (len > n && strcmp(inside + len - n, formats[i]) == 0) {
            inside[len - n] = 0;
            return formats[i] + 1;
        }
    }
    return "";
}

static void add_number(struct str *out, double x, const char *format)
{
    char buf[NUMBER_BUF];
    if (strcmp(format, "us") == 0)
        str_add(out, number_fmt_us(buf, x));
    else if (strcmp(format, "bytes") == 0)
        str_add(out, number_fmt_bytes(buf, x));
    else if (isnan(x))
        str_add(out, "-");
    else if (strcmp(format, "int") == 0)
        str_addf(out, "%.0f", x);
    else if (strcmp(format, "pct") == 0)
        str_addf(out, "%.0f %%", x * 100);
    else
        str_add(out, number_fmt(buf, x, 3));
}

/* {$1.device:text}: a word or sentence of a row, as it is. */
static void add_row_text(const struct values *v, const char *name, struct str *out)
{
    const char *field;
    const struct row *row = rows_find(&v->rows, name, &field);
    char *text = row_path_text(row, field), *clean = sanitize_line(text ? text : "-");
    str_add(out, clean);
    free(clean);
    free(text);
}

static void add_value(const struct values *v, char *inside, struct str *out)
{
    struct expr_env env = values_env(v);
    struct err err = ERR_INIT;
    const char *format = cut_format(inside);
    double x = REAL_UNKNOWN;
    if (strcmp(format, "text") == 0) {
        add_row_text(v, inside, out);
        return;
    }
    if (expr_eval_text(inside, &env, &x, &err) != ST_OK)
        x = REAL_UNKNOWN;
    add_number(out, x, format);
}

void values_fill(const struct values *v, const char *text, struct str *out)
{
    while (*text) {
        const char *end = *text == '{' ? strchr(text, '}') : NULL;
        if (!end) {
            str_addc(out, *text++);
            continue;
        }
        char *inside = xstrndup(text + 1, (size_t)(end - text - 1));
        add_value(v, inside, out);
        free(inside);
        text = end + 1;
    }
}

void values_text_names(const char *text, void (*visit)(void *ctx, const char *name), void *ctx)
{
    const char *end;
    for (const char *p = strchr(text, '{'); p && (end = strchr(p, '}')); p = strchr(end, '{')) {
        char *inside = xstrndup(p + 1, (size_t)(end - p - 1));
        struct expr *e = NULL;
        cut_format(inside);
        if (expr_parse(inside, &e, NULL) == ST_OK)
            expr_names(e, visit, ctx);
        expr_free(e);
        free(inside);
    }
}

enum status values_check_text(const char *text, struct err *err)
{
    for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{')) {
        const char *end = strchr(p, '}');
        if (!end)
            return err_set(err, ST_USAGE, "a { without its }");
        char *inside = xstrndup(p + 1, (size_t)(end - p - 1));
        struct expr *e = NULL;
        cut_format(inside);
        enum status st = expr_parse(inside, &e, err);
        free(inside);
        expr_free(e);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}
