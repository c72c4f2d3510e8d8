/* expr_eval.c - evaluates parsed expressions.
 *
 * All operands are evaluated: nothing here has side effects, and a name that is misspelt in a
 * branch not taken should be found too.
 *
 * Truth has three values inside: an unknown operand makes a comparison unknown, not false, so that
 * `!(x < 5)` cannot turn true because x is missing; false && unknown is false and true || unknown
 * is true whatever the unknown one is. Only at the very end an unknown truth becomes false.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* fmin and fmax ignore an unknown operand; these pass it on. */
static double least(int n, const double *v)
{
    double r = v[0];
    for (int i = 1; i < n; i++)
        r = isnan(r) || v[i] > r ? r : v[i];
    return r;
}

static double greatest(int n, const double *v)
{
    double r = v[0];
    for (int i = 1; i < n; i++)
        r = isnan(r) || v[i] < r ? r : v[i];
    return r;
}

static double call_ceil(int n, const double *v)
{
    return (void)n, ceil(v[0]);
}

static double call_floor(int n, const double *v)
{
    return (void)n, floor(v[0]);
}

static double call_round(int n, const double *v)
{
    return (void)n, round(v[0]);
}

static double call_abs(int n, const double *v)
{
    return (void)n, fabs(v[0]);
}

/* A logarithm that does not exist is unknown, not minus infinity. */
static double call_log2(int n, const double *v)
{
    return (void)n, v[0] > 0 ? log2(v[0]) : REAL_UNKNOWN;
}

static double call_sqrt(int n, const double *v)
{
    return (void)n, v[0] >= 0 ? sqrt(v[0]) : REAL_UNKNOWN;
}

/* The smallest power of two, 1 included, that is at least v. */
static double call_pow2ceil(int n, const double *v)
{
    (void)n;
    if (!isfinite(v[0]))
        return v[0];
    double p = 1;
    while (p < v[0])
        p *= 2;
    return p;
}

static const struct builtin builtins[] = {
    {"ceil", 1, 1, call_ceil},           {"floor", 1, 1, call_floor},
    {"round", 1, 1, call_round},         {"min", 1, EXPR_ARGS_MAX, least},
    {"max", 1, EXPR_ARGS_MAX, greatest}, {"abs", 1, 1, call_abs},
    {"log2", 1, 1, call_log2},           {"sqrt", 1, 1, call_sqrt},
    {"pow2ceil", 1, 1, call_pow2ceil},
};
enum { NBUILTINS = sizeof builtins / sizeof *builtins };

const struct builtin *expr_builtin(const char *name)
{
    for (int i = 0; i < NBUILTINS; i++)
        if (strcmp(builtins[i].name, name) == 0)
            return &builtins[i];
    return NULL;
}

/* Candidates for a suggestion: the built-in calls, then the caller's names. */
static const char *known_name(const void *ctx, size_t i)
{
    const struct expr_env *env = ctx;
    if (i < NBUILTINS)
        return builtins[i].name;
    return env && env->names ? env->names(env->ctx, i - NBUILTINS) : NULL;
}

static const char *own_name(const void *ctx, size_t i)
{
    const struct expr_env *env = ctx;
    return env && env->names ? env->names(env->ctx, i) : NULL;
}

static enum status unknown_name(const struct node *n, const struct expr_env *env, struct err *err)
{
    const bool call = n->op == OP_CALL;
    const char *near = str_nearest(n->name, call ? known_name : own_name, env);
    return err_mark(err, ST_USAGE, n->at, n->len, "unknown %s \"%.60s\"%s%.60s%s",
                    call ? "function" : "name", n->name, near ? "; did you mean \"" : "",
                    near ? near : "", near ? "\"?" : "");
}

static double truth(bool b)
{
    return b ? 1 : 0;
}

/* Kleene's three-valued "and": false wins, then unknown. */
static double both(double a, double b)
{
    if (a == 0 || b == 0)
        return 0;
    return isnan(a) || isnan(b) ? REAL_UNKNOWN : 1;
}

static double either(double a, double b)
{
    if ((!isnan(a) && a != 0) || (!isnan(b) && b != 0))
        return 1;
    return isnan(a) || isnan(b) ? REAL_UNKNOWN : 0;
}

static double compare(enum op op, double a, double b)
{
    if (isnan(a) || isnan(b))
        return REAL_UNKNOWN;
    switch (op) {
    case OP_EQ:
        return truth(a == b);
    case OP_NE:
        return truth(a != b);
    case OP_LT:
        return truth(a < b);
    case OP_LE:
        return truth(a <= b);
    case OP_GT:
        return truth(a > b);
    default:
        return truth(a >= b);
    }
}

/* Division by zero is unknown: as infinity it would pass every "greater than". */
static double combine(enum op op, double a, double b)
{
    switch (op) {
    case OP_OR:
        return either(a, b);
    case OP_AND:
        return both(a, b);
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return b == 0 ? REAL_UNKNOWN : a / b;
    case OP_MOD:
        return fmod(a, b);
    default:
        return compare(op, a, b);
    }
}

static enum status eval_name(const struct node *n, const struct expr_env *env, double *out,
                             struct err *err)
{
    if (env && env->value && env->value(env->ctx, n->name, out))
        return ST_OK;
    return unknown_name(n, env, err);
}

static enum status eval_call(const struct node *n, const double *args, const struct expr_env *env,
                             double *out, struct err *err)
{
    const struct builtin *b = expr_builtin(n->name);
    if (b) {
        *out = b->run(n->nargs, args);
        return ST_OK;
    }
    if (env && env->call && env->call(env->ctx, n->name, n->nargs, args, out))
        return ST_OK;
    return unknown_name(n, env, err);
}

/* `values` holds the results of all nodes before `n`. */
static enum status eval_node(const struct node *n, const double *values, const struct expr_env *env,
                             double *out, struct err *err)
{
    double arg[EXPR_ARGS_MAX] = {0};
    for (int i = 0; i < n->nargs; i++)
        arg[i] = values[n->arg[i]];
    switch (n->op) {
    case OP_NUMBER:
        *out = n->number;
        return ST_OK;
    case OP_NAME:
        return eval_name(n, env, out, err);
    case OP_CALL:
        return eval_call(n, arg, env, out, err);
    case OP_IF:
        *out = isnan(arg[0]) ? REAL_UNKNOWN : arg[0] != 0 ? arg[1] : arg[2];
        return ST_OK;
    case OP_NOT:
        *out = isnan(arg[0]) ? REAL_UNKNOWN : truth(arg[0] == 0);
        return ST_OK;
    case OP_NEGATE:
        *out = -arg[0];
        return ST_OK;
    default:
        *out = combine(n->op, arg[0], arg[1]);
        return ST_OK;
    }
}

enum status expr_eval(const struct expr *e, const struct expr_env *env, double *out,
                      struct err *err)
{
    double few[32];
    double *values = e->count <= 32 ? few : xcalloc(e->count, sizeof *values);
    enum status st = ST_OK;
    for (size_t i = 0; i < e->count && !st; i++)
        st = eval_node(&e->nodes[i], values, env, &values[i], err);
    if (!st) {
        const double result = values[e->root];
        *out = isnan(result) && e->nodes[e->root].truth ? 0 : result;
    }
    if (values != few)
        free(values);
    return st;
}

enum status expr_eval_text(const char *text, const struct expr_env *env, double *out,
                           struct err *err)
{
    struct expr *e;
    enum status st = expr_parse(text, &e, err);
    if (!st)
        st = expr_eval(e, env, out, err);
    expr_free(e);
    return st;
}

static void add_value(struct str *out, double value)
{
    char buf[NUMBER_BUF];
    const bool whole = value == rint(value) && fabs(value) < 1e15;
    if (isnan(value))
        str_addc(out, '?');
    else
        str_addf(out, value < 0 ? "(%s)" : "%s", number_fmt(buf, value, whole ? 15 : 6));
}

/* Name nodes stand in the order of the text: the parser appends each as it reads it. */
void expr_substitute(const struct expr *e, const struct expr_env *env, struct str *out)
{
    int done = 0;
    for (size_t i = 0; i < e->count; i++) {
        const struct node *n = &e->nodes[i];
        double value = REAL_UNKNOWN;
        if (n->op != OP_NAME)
            continue;
        str_addn(out, e->text + done, (size_t)(n->at - done));
        eval_name(n, env, &value, NULL);
        add_value(out, value);
        done = n->at + n->len;
    }
    str_add(out, e->text + done);
}

static void visit_nodes(const struct expr *e, enum op op,
                        void (*visit)(void *ctx, const char *name), void *ctx)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->nodes[i].op == op && !(op == OP_CALL && expr_builtin(e->nodes[i].name)))
            visit(ctx, e->nodes[i].name);
}

void expr_names(const struct expr *e, void (*visit)(void *ctx, const char *name), void *ctx)
{
    visit_nodes(e, OP_NAME, visit, ctx);
}

void expr_calls(const struct expr *e, void (*visit)(void *ctx, const char *name), void *ctx)
{
    visit_nodes(e, OP_CALL, visit, ctx);
}
