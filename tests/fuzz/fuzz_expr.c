/* Expressions: whatever parses evaluates the same again and again, also with blanks and
 * parentheses around it; marks lie within the text; what is true without any value stays true with
 * values.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "base/mem.h"

const char *const fuzz_seeds[] = {
    "ceil(Sq/BR)",
    "BC*(D+PAD)*T",
    "sm >= 75 && D <= 128 && D % 16 == 0",
    "causal ? tiles(BR, BC) : ceil(Sq/BR)*ceil(Sk/BC)",
    "$1.median_us < 0.9*$2.median_us && $last.error_ratio <= 2",
    "!(u < 5) || u > 5",
    "max(1, min(4k, pow2ceil(Sk))) - abs(-3) + log2(1024) * sqrt(2)",
    "50% * 4 + 200ms",
    "$1.grid[0] * $last.smem[12].bytes[3]",
    "1 ? 0 ? 4 : 5 : 6",
    "((((((((((1))))))))))",
    "- - ! -1 + .5e3",
    "floor(1.5)+round(2.5)+1+2+3+4+5+6+7+8+9+10+11+12+13+14+15+16+17+18+19+20+D+Sq",
    "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))"
    ")))"
    "))))))))))))))))))))))))",
    NULL,
};
const char *const fuzz_tokens[] = {
    "+",
    "-",
    "*",
    "/",
    "%",
    "(",
    ")",
    ",",
    "?",
    ":",
    "!",
    "&&",
    "||",
    "==",
    "!=",
    "<=",
    ">=",
    "<",
    ">",
    "=",
    "&",
    "|",
    "u",
    "$1.x",
    "[0]",
    "]",
    "Sq",
    "D",
    "x",
    "ceil",
    "min(",
    "log2(0)",
    "1/0",
    "0/0",
    "1e308",
    "1e999",
    "4k",
    "50%",
    "0x1p",
    "nan",
    "inf",
    " ",
    "\t",
    "((((((((",
    "))))))))",
    "1?2:",
    "tiles(1,2)",
    "$",
    ".",
    "\\x00",
    "\\xff",
    "\\xc2\\x9b",
    "9007199254740993",
    "1,1,1,1,1,1,1,1,1",
    NULL,
};

static bool value_of(const void *ctx, const char *name, double *out)
{
    (void)ctx;
    *out = *name == 'u' ? __builtin_nan("") : *name == 'S' ? 1024 : 64;
    return strcmp(name, "x") != 0;
}

static bool call_of(const void *ctx, const char *name, int argc, const double *argv, double *out)
{
    (void)ctx;
    *out = argc > 0 ? argv[argc - 1] : 0;
    return strcmp(name, "tiles") == 0;
}

/* Every name unknown: then nothing can be decided but by constants. */
static bool no_value(const void *ctx, const char *name, double *out)
{
    (void)ctx;
    (void)name;
    *out = __builtin_nan("");
    return true;
}

static bool no_call(const void *ctx, const char *name, int argc, const double *argv, double *out)
{
    (void)argc;
    (void)argv;
    return no_value(ctx, name, out);
}

/* Other values, negative and fractional ones too. */
static bool odd_value(const void *ctx, const char *name, double *out)
{
    (void)ctx;
    *out = ((double)strlen(name) + *name % 7 - 4) / 2;
    return true;
}

static bool odd_call(const void *ctx, const char *name, int argc, const double *argv, double *out)
{
    (void)argv;
    return odd_value(ctx, name + (argc > 0 && *name), out);
}

static const struct expr_env env = {.value = value_of, .call = call_of};
static const struct expr_env odd = {.value = odd_value, .call = odd_call};
static const struct expr_env nothing = {.value = no_value, .call = no_call};

static bool same(double a, double b)
{
    return a == b || (a != a && b != b);
}

static int check_mark(const struct err *e, const char *text)
{
    if (e->at < 0 || e->len < 0 || (size_t)e->at + (size_t)e->len > strlen(text) || !e->text[0])
        return fuzz_broken("mark %d+%d in %zu bytes: %s", e->at, e->len, strlen(text), e->text);
    return 0;
}

/* What is true while every name is unknown must stay true whatever their values turn out to be:
 * else a gate could pass on missing data and fail on the data. */
static int check_unknown(const struct expr *e)
{
    double blind, seen;
    if (expr_eval(e, &nothing, &blind, NULL) != ST_OK || !expr_is_true(blind))
        return 0;
    const struct expr_env *const envs[] = {&env, &odd};
    for (int i = 0; i < 2; i++)
        if (expr_eval(e, envs[i], &seen, NULL) == ST_OK && !same(blind, seen))
            return fuzz_broken("%.17g without any value, %.17g with them", blind, seen);
    return 0;
}

static int check_wrapped(const char *text, double want)
{
    struct str wrapped = {0};
    double got;
    str_addf(&wrapped, " ( %s ) ", text);
    const enum status st = expr_eval_text(str_text(&wrapped), &env, &got, NULL);
    str_free(&wrapped);
    /* One more level may be the one too many, and eight more bytes too. */
    if (st == ST_OK && !same(got, want))
        return fuzz_broken("%.17g, in parentheses %.17g", want, got);
    return 0;
}

static int check_parsed(const struct expr *e, const char *text)
{
    double a, b;
    struct err err = ERR_INIT;
    struct str formula = {0};
    expr_substitute(e, &env, &formula);
    const size_t len = formula.len;
    str_free(&formula);
    if (len == 0 || strcmp(expr_text(e), text) != 0)
        return fuzz_broken("the text or the formula is lost");
    const enum status st = expr_eval(e, &env, &a, &err);
    if (st == ST_USAGE)
        return check_mark(&err, text);
    if (st != ST_OK || expr_eval(e, &env, &b, &err) != ST_OK || !same(a, b))
        return fuzz_broken("two evaluations differ");
    return check_wrapped(text, a) || check_unknown(e);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    struct expr *e;
    struct err err = ERR_INIT;
    const enum status st = expr_parse(text, &e, &err);
    int broken;
    if (st == ST_OK)
        broken = check_parsed(e, text);
    else if (st != ST_USAGE || e)
        broken = fuzz_broken("status %d", st);
    else
        broken = check_mark(&err, text);
    expr_free(e);
    free(text);
    return broken;
}
