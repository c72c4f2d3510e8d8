/* Expressions: values, three-valued truth, messages that point at the word.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "base/number.h"

static const struct {
    const char *name;
    double value;
} variables[] = {
    {"Sq", 1024},       {"Sk", 2048}, {"D", 64},         {"BR", 48},
    {"neg", -3},        {"u", NAN},   {"inf", INFINITY}, {"$1.median_us", 4.25},
    {"$1.grid[0]", 16},
};
enum { NVARIABLES = sizeof variables / sizeof *variables };

static bool value_of(const void *ctx, const char *name, double *out)
{
    (void)ctx;
    for (int i = 0; i < NVARIABLES; i++)
        if (strcmp(variables[i].name, name) == 0) {
            *out = variables[i].value;
            return true;
        }
    return false;
}

static bool call_of(const void *ctx, const char *name, int argc, const double *argv, double *out)
{
    (void)ctx;
    if (strcmp(name, "tiles") != 0 || argc != 2)
        return false;
    *out = 100 * argv[0] + argv[1];
    return true;
}

static const char *name_at(const void *ctx, size_t i)
{
    (void)ctx;
    return i < NVARIABLES ? variables[i].name : NULL;
}

static const struct expr_env env = {.value = value_of, .call = call_of, .names = name_at};

static double eval(const char *text)
{
    double v = -12345;
    struct err err = ERR_INIT;
    const enum status st = expr_eval_text(text, &env, &v, &err);
    if (st)
        printf("# %s: %s\n", text, err.text);
    CU_ASSERT_EQUAL(st, ST_OK);
    return v;
}

static void test_arithmetic(void)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"2-3-4", -5},
        {"7/2", 3.5},
        {"64/8/2", 4},
        {"1024%100", 24},
        {"-7 % 4", -3},
        {"-2*-3", 6},
        {"- -2", 2},
        {"4k+1", 4097},
        {"1.5k", 1536},
        {"1e3", 1000},
        {".5", .5},
        {"200ms", .2},
        {"ceil(Sq/BR)", 22},
        {"floor(-1.5)", -2},
        {"round(2.5)", 3},
        {"round(-2.5)", -3},
        {"min(3,1,2)", 1},
        {"max(3,neg)", 3},
        {"max(5)", 5},
        {"abs(neg)", 3},
        {"log2(Sq)", 10},
        {"sqrt(D)", 8},
        {"pow2ceil(48)", 64},
        {"pow2ceil(64)", 64},
        {"pow2ceil(0)", 1},
        {"tiles(2, 3)", 203},
        {"$1.median_us*2", 8.5},
        {"D\t*\n2", 128},
        {"9007199254740992+0", 9007199254740992.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(eval(cases[i].text), cases[i].value);
}

static void test_truth(void)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1 < 2", 1},
        {"2 <= 1", 0},
        {"2 >= 2", 1},
        {"2 > 2", 0},
        {"D == 64", 1},
        {"D != 64", 0},
        {"!0", 1},
        {"!7", 0},
        {"!!7", 1},
        {"2 && 3", 1},
        {"0 || 0", 0},
        {"0 || 5", 1},
        {"1 || 0 && 0", 1},
        {"1+1 == 2 && 3 > 2", 1},
        {"!1 + 1", 1},
        {"1 ? 2 : 3", 2},
        {"0 ? 2 : 3", 3},
        {"0 ? 1 : 0 ? 2 : 3", 3},
        {"1 ? 0 ? 4 : 5 : 6", 5},
        {"D <= 128 && Sq % 64 == 0", 1},
        {"1 < 2 == 2 > 1", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(eval(cases[i].text), cases[i].value);
}

static void test_percent(void)
{
    CU_ASSERT_EQUAL(eval("50%"), 0.5);
    CU_ASSERT_EQUAL(eval("50% * 4"), 2);
    CU_ASSERT_EQUAL(eval("(5%)"), 0.05);
    CU_ASSERT_EQUAL(eval("max(5%, 7%)"), 0.07);
    CU_ASSERT_EQUAL(eval("50% != 1"), 1);
    CU_ASSERT_EQUAL(eval("100%64"), 36);
    CU_ASSERT_EQUAL(eval("100 % 64"), 36);
    CU_ASSERT_EQUAL(eval("100% 64"), 36);
    CU_ASSERT_EQUAL(eval("100%D"), 36);
    CU_ASSERT_EQUAL(eval("100%(D)"), 36);
    CU_ASSERT_EQUAL(eval("100%!0"), 0);
}

/* Nothing that hangs on a missing value may come out true, however it is written. */
static void test_unknown_is_never_true(void)
{
    static const char *const gates[] = {
        "u < 5",
        "!(u < 5)",
        "u >= 5",
        "!(u >= 5)",
        "u == u",
        "u != u",
        "!(u != 1)",
        "u",
        "!u",
        "!!u",
        "u && 1",
        "1 && u",
        "u || 0",
        "0 || u",
        "!(u && 1)",
        "!(u || 0)",
        "u && u",
        "u || u",
        "u ? 1 : 1",
        "u < 5 ? 1 : 1",
        "(u < 5) == 0",
        "(u < 5) + 1",
        "min(u, 1) == 1",
        "max(1, u) > 0",
        "ceil(u) != 2",
        "abs(u) >= 0",
        "1/0 > 5",
        "!(1/0 < 5)",
        "0/0 == 0/0",
        "log2(0) < 0",
        "log2(neg) != 1",
        "sqrt(neg) != 1",
        "5 % 0 != 1",
        "inf - inf != 0",
        "u % 2 == 0 || u % 2 == 1",
        "1 ? u : 1",
        "u - u == 0",
        "pow2ceil(u) >= 1",
        "!(u < 5 && u > 5)",
    };
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) {
        const double v = eval(gates[i]);
        if (expr_is_true(v))
            printf("# %s came out true\n", gates[i]);
        CU_ASSERT_FALSE(expr_is_true(v));
    }
}

static void test_unknown_values(void)
{
    CU_ASSERT_EQUAL(eval("u < 5"), 0); /* an unknown truth ends as false ... */
    CU_ASSERT_EQUAL(eval("1 ? u < 5 : 0 > 1"), 0);
    CU_ASSERT(isnan(eval("u + 1"))); /* ... an unknown number as unknown */
    CU_ASSERT(isnan(eval("min(u, 1)")));
    CU_ASSERT(isnan(eval("1 / 0")));
    CU_ASSERT_EQUAL(eval("0 && u"), 0); /* decided without it */
    CU_ASSERT_EQUAL(eval("u || 1"), 1);
    CU_ASSERT_EQUAL(eval("!(0 && u)"), 1);
    CU_ASSERT_EQUAL(eval("0 ? u : 7"), 7);
    CU_ASSERT_EQUAL(eval("inf > 5"), 1); /* infinite is known */
    CU_ASSERT_EQUAL(eval("inf < 5"), 0);
    CU_ASSERT_TRUE(expr_is_true(2));
    CU_ASSERT_FALSE(expr_is_true(0));
    CU_ASSERT_FALSE(expr_is_true(NAN));
}

/* The parse or the evaluation of `text` fails with `sentence` in it and the mark on `word`. */
static void refuse(const char *text, const char *word, const char *sentence)
{
    double v;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(expr_eval_text(text, &env, &v, &err), ST_USAGE);
    const bool marked = err.at >= 0 && (size_t)err.at + strlen(word) <= strlen(text) &&
                        strncmp(text + err.at, word, strlen(word)) == 0 &&
                        (*word ? err.len == (int)strlen(word) : err.at == (int)strlen(text));
    if (!marked || !strstr(err.text, sentence))
        printf("# \"%s\": %s @%d+%d\n", text, err.text, err.at, err.len);
    CU_ASSERT(marked);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, sentence));
}

static void test_messages(void)
{
    refuse("Sq + Sp", "Sp", "did you mean \"Sq\"?");
    refuse("cel(3)", "cel", "did you mean \"ceil\"?");
    refuse("nothing_like_it", "nothing_like_it", "unknown name");
    refuse("tiles(1)", "tiles", "unknown function");
    refuse("1 = 2", "=", "write ==");
    refuse("1 & 2", "&", "write &&");
    refuse("1 | 2", "|", "write ||");
    refuse("2 ^ 3", "^", "power");
    refuse("(1 + 2", "(", "never closed");
    refuse("1 + 2)", ")", "no ( for it");
    refuse("1 +", "", "ends early");
    refuse("min(1, 2", "", "ends early");
    refuse("1 ? 2", "", "the : of this");
    refuse("1 2", "2", "operator");
    refuse("4kB", "4kB", "suffixes");
    refuse("0x10", "0x10", "suffixes");
    refuse("1e999", "1e999", "too large");
    refuse("1 < 2 < 3", "<", "cannot be chained");
    refuse("1 == 1 == 1", "==", "cannot be chained");
    refuse("ceil(1, 2)", "ceil", "one argument");
    refuse("min()", "min", "1 to 8 arguments");
    refuse("tiles(1,2,3,4,5,6,7,8,9)", "tiles", "more than 8");
    refuse("D * \xC3\xA9", "\xC3\xA9", "unexpected");
    refuse("", "", "empty");
}

static void test_limits(void)
{
    char text[5000];
    double v;
    struct err err = ERR_INIT;
    for (int deep = 60; deep <= 70; deep++) {
        memset(text, '(', (size_t)deep);
        text[deep] = '1';
        memset(text + deep + 1, ')', (size_t)deep);
        text[2 * deep + 1] = 0;
        CU_ASSERT_EQUAL(expr_eval_text(text, &env, &v, &err), deep <= 64 ? ST_OK : ST_USAGE);
    }
    memset(text, '-', 4000);
    strcpy(text + 4000, "1");
    CU_ASSERT_EQUAL(expr_eval_text(text, &env, &v, &err), ST_USAGE);
    text[0] = 0;
    for (int i = 0; i < 2047; i++)
        memcpy(text + 2 * i, "1+", 3);
    strcpy(text + 4094, "1");
    CU_ASSERT_EQUAL(expr_eval_text(text, &env, &v, &err), ST_OK);
    CU_ASSERT_EQUAL(v, 2048);
    strcpy(text + 4094, "100");
    CU_ASSERT_EQUAL(expr_eval_text(text, &env, &v, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "4096"));
}

static void substitute(const char *text, const char *want)
{
    struct expr *e;
    struct str out = {0};
    CU_ASSERT_EQUAL_FATAL(expr_parse(text, &e, NULL), ST_OK);
    CU_ASSERT_STRING_EQUAL(expr_text(e), text);
    expr_substitute(e, &env, &out);
    CU_ASSERT_STRING_EQUAL(str_text(&out), want);
    str_free(&out);
    expr_free(e);
}

static void test_substitute(void)
{
    substitute("ceil(Sq/BR)", "ceil(1024/48)");
    substitute(" D*(Sk + 4k) ", " 64*(2048 + 4k) ");
    substitute("2 - neg", "2 - (-3)");
    substitute("u < $1.median_us", "? < 4.25000");
    substitute("tiles(D, nobody)", "tiles(64, ?)");
}

static void join(void *ctx, const char *name)
{
    str_addf(ctx, "%s ", name);
}

static void test_names(void)
{
    struct expr *e;
    struct str names = {0}, calls = {0};
    CU_ASSERT_EQUAL_FATAL(expr_parse("tiles(a, ceil(b)) + $last.x ? a : other()", &e, NULL), ST_OK);
    expr_names(e, join, &names);
    expr_calls(e, join, &calls);
    CU_ASSERT_STRING_EQUAL(str_text(&names), "a b $last.x a ");
    CU_ASSERT_STRING_EQUAL(str_text(&calls), "tiles other ");
    CU_ASSERT_EQUAL(eval("$1.grid[0]*2"), 32);
    expr_free(e);
    CU_ASSERT_EQUAL(expr_parse("D[0]", &e, NULL), ST_USAGE); /* rows alone have lists */
    CU_ASSERT_EQUAL(expr_parse("$1.x[1", &e, NULL), ST_USAGE);
    CU_ASSERT_EQUAL(expr_parse("$1.x[]", &e, NULL), ST_USAGE);
    str_free(&names);
    str_free(&calls);
    expr_free(e);
    expr_free(NULL);
    double v;
    CU_ASSERT_EQUAL(expr_eval_text("1 + 1", NULL, &v, NULL), ST_OK);
    CU_ASSERT_EQUAL(expr_eval_text("x", NULL, &v, NULL), ST_USAGE);
    CU_ASSERT_EQUAL(expr_eval_text("x()", &(struct expr_env){0}, &v, NULL), ST_USAGE);
}

static const struct tap_test tests[] = {
    {"arithmetic and calls", test_arithmetic},
    {"comparisons and logic", test_truth},
    {"percent and remainder", test_percent},
    {"an unknown value never makes a gate true", test_unknown_is_never_true},
    {"unknown values pass on", test_unknown_values},
    {"messages point at the word", test_messages},
    {"length and nesting are bounded", test_limits},
    {"formulas with values", test_substitute},
    {"names and calls", test_names},
};

TAP_MAIN("expr", tests)
