/* expr.c - parses and evaluates the arithmetic used in kernel descriptors, lesson gates and `explain`.
 *
 * A recursive-descent parser writes the tree into one array, operands before their operator, so
 * that evaluation is a single loop over the array with a stack of values, and needs no recursion.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

enum { EXPR_ARGS_MAX = 8 };

enum op {
    OP_NUMBER,
    OP_NAME,
    OP_CALL,
    OP_IF,
    OP_NOT,
    OP_NEGATE,
    OP_OR,
    OP_AND,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
};

/* A thousand expressions live as long as the program, with six thousand nodes: each is one block of
 * memory, a node has 8 bytes. Texts have at most 4096 bytes, so all indices fit into 16 bits. */
struct node {
    uint8_t op;        /* enum op */
    uint8_t truth : 1; /* gives true, false or unknown: what an unknown result becomes false for */
    uint8_t nargs : 7; /* operands: the results of the nodes before it that nobody has taken yet */
    uint16_t at, len;  /* where it stands in the text: a name or number; else the operator */
    uint16_t ref;      /* OP_NUMBER: of numbers; OP_NAME, OP_CALL: where its name begins in names */
};

struct expr {
    uint16_t count, nnumbers; /* of nodes, the last of which is the result, and of numbers */
    uint16_t text_len;
    double numbers[]; /* then the nodes, the text and the names, each with its NUL */
};

static const struct node *expr_nodes(const struct expr *e)
{
    return (const struct node *)(e->numbers + e->nnumbers);
}

const char *expr_text(const struct expr *e)
{
    return (const char *)(expr_nodes(e) + e->count);
}

static const char *node_name(const struct expr *e, const struct node *n)
{
    return expr_text(e) + e->text_len + 1 + n->ref;
}

/* A call that every expression may make. */
struct builtin {
    const char *name;
    int min_args, max_args;
    double (*run)(int n, const double *v);
};

static const struct builtin *expr_builtin(const char *name);

enum { TEXT_MAX = 4096, DEPTH_MAX = 64 };

/* Binary operators, longer spellings first; a larger level binds tighter. */
static const struct binary {
    const char *text;
    enum op op;
    int level;
} binaries[] = {
    {"||", OP_OR, 1}, {"&&", OP_AND, 2}, {"==", OP_EQ, 3}, {"!=", OP_NE, 3}, {"<=", OP_LE, 4},
    {">=", OP_GE, 4}, {"<", OP_LT, 4},   {">", OP_GT, 4},  {"+", OP_ADD, 5}, {"-", OP_SUB, 5},
    {"*", OP_MUL, 6}, {"/", OP_DIV, 6},  {"%", OP_MOD, 6},
};
enum { LEVEL_EQUAL = 3, LEVEL_ORDER = 4 };

struct parser {
    const char *text, *p; /* p: what is left */
    struct node *nodes;
    size_t count, cap;
    double *numbers;
    size_t nnumbers, numbers_cap;
    struct str names;
    int depth;
    struct err *err;
};

static int position(const struct parser *ps)
{
    return (int)(ps->p - ps->text);
}

static void skip_blanks(struct parser *ps)
{
    while (isspace((unsigned char)*ps->p))
        ps->p++;
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* "[3]"; 0: something else. */
static int index_length(const char *text)
{
    int n = 1;
    if (*text != '[')
        return 0;
    while (isdigit((unsigned char)text[n]))
        n++;
    return n > 1 && text[n] == ']' ? n + 1 : 0;
}

/* Rows have lists: "$1.grid[0]". */
static int name_length(const char *text)
{
    int n = 1, index;
    for (;;) {
        while (is_name_char(text[n]))
            n++;
        if (*text != '$' || !(index = index_length(text + n)))
            return n;
        n += index;
    }
}

static void add_node(struct parser *ps, struct node n)
{
    void *nodes = ps->nodes;
    xgrow(&nodes, &ps->cap, ps->count + 1, sizeof n);
    ps->nodes = nodes;
    ps->nodes[ps->count++] = n;
}

static uint16_t add_number(struct parser *ps, double value)
{
    void *numbers = ps->numbers;
    xgrow(&numbers, &ps->numbers_cap, ps->nnumbers + 1, sizeof value);
    ps->numbers = numbers;
    ps->numbers[ps->nnumbers] = value;
    return (uint16_t)ps->nnumbers++;
}

/* Where `name` begins among the names; each is there once. */
static uint16_t add_name(struct parser *ps, const char *name, size_t len)
{
    size_t at = 0;
    while (at < ps->names.len) {
        const char *known = ps->names.data + at;
        const size_t n = strlen(known);
        if (n == len && memcmp(known, name, len) == 0)
            return (uint16_t)at;
        at += n + 1;
    }
    str_addn(&ps->names, name, len);
    str_addn(&ps->names, "", 1);
    return (uint16_t)at;
}

/* How many bytes to underline: a word, or the one character there. */
static int culprit_length(const char *p)
{
    unsigned code;
    if (*p == 0)
        return 0;
    if (is_name_start(*p) || is_name_char(*p))
        return name_length(p);
    return str_utf8_next(p, &code);
}

static enum status unexpected(struct parser *ps, const char *wanted)
{
    const int len = culprit_length(ps->p);
    if (len == 0)
        return err_mark(ps->err, ST_USAGE, position(ps), 0, "the expression ends early; %s",
                        wanted);
    return err_mark(ps->err, ST_USAGE, position(ps), len, "unexpected \"%.*s\"; %s",
                    len > 40 ? 40 : len, ps->p, wanted);
}

/* Parentheses, branches, arguments and prefix operators are what the parser recurses for. */
static enum status too_deep(struct parser *ps)
{
    return err_mark(ps->err, ST_USAGE, position(ps), 1, "nested more than %d deep", DEPTH_MAX);
}

static enum status parse_choice(struct parser *ps);

/* Is a % right after a number the percent sign? Not if an operand follows: `S%64` and `1024%64`
 * are remainders, `50%`, `50% * x` and `(5%)` are not. A sign after it counts as an operator. */
static bool percent_follows(const char *p)
{
    if (*p++ != '%')
        return false;
    while (isspace((unsigned char)*p))
        p++;
    if (*p == '!')
        return p[1] == '=';
    return !isdigit((unsigned char)*p) && !is_name_start(*p) && *p != '.' && *p != '(';
}

static enum status parse_number(struct parser *ps)
{
    double value;
    const size_t digits = number_scan(ps->p, false, &value);
    size_t len = digits;
    if (percent_follows(ps->p + digits))
        len = number_scan(ps->p, true, &value);
    if (len == 0 || is_name_char(ps->p[len]) || is_name_start(ps->p[len])) {
        const int word = name_length(ps->p);
        return err_mark(ps->err, ST_USAGE, position(ps), word,
                        "\"%.*s\" is not a number; suffixes are k M G Ki Mi Gi %% us ms s",
                        word > 40 ? 40 : word, ps->p);
    }
    if (!isfinite(value))
        return err_mark(ps->err, ST_USAGE, position(ps), (int)len, "the number is too large");
    add_node(ps, (struct node){.op = OP_NUMBER,
                               .at = (uint16_t)position(ps),
                               .len = (uint16_t)len,
                               .ref = add_number(ps, value)});
    ps->p += len;
    return ST_OK;
}

/* The arguments of a call, from behind its opening parenthesis to behind the closing one. */
static enum status parse_arguments(struct parser *ps, struct node *call)
{
    skip_blanks(ps);
    if (*ps->p == ')') {
        ps->p++;
        return ST_OK;
    }
    for (;;) {
        if (call->nargs == EXPR_ARGS_MAX)
            return err_mark(ps->err, ST_USAGE, call->at, call->len, "%s has more than %d arguments",
                            ps->names.data + call->ref, EXPR_ARGS_MAX);
        const enum status st = parse_choice(ps);
        if (st)
            return st;
        call->nargs++;
        skip_blanks(ps);
        if (*ps->p != ',' && *ps->p != ')')
            return unexpected(ps, "a , or ) belongs here");
        if (*ps->p++ == ')')
            return ST_OK;
    }
}

/* Built-in calls are checked when parsed; the caller's own when they are made. */
static enum status check_arity(const struct parser *ps, const struct node *call)
{
    const struct builtin *b = expr_builtin(ps->names.data + call->ref);
    if (!b || (call->nargs >= b->min_args && call->nargs <= b->max_args))
        return ST_OK;
    return err_mark(ps->err, ST_USAGE, call->at, call->len, "%s takes %s, not %d", b->name,
                    b->max_args == 1 ? "one argument" : "1 to 8 arguments", call->nargs);
}

static enum status parse_name(struct parser *ps)
{
    const int len = name_length(ps->p);
    struct node n = {.op = OP_NAME,
                     .at = (uint16_t)position(ps),
                     .len = (uint16_t)len,
                     .ref = add_name(ps, ps->p, (size_t)len)};
    ps->p += len;
    skip_blanks(ps);
    if (*ps->p == '(') {
        ps->p++;
        n.op = OP_CALL;
        enum status st = parse_arguments(ps, &n);
        if (!st)
            st = check_arity(ps, &n);
        if (st)
            return st;
    }
    add_node(ps, n);
    return ST_OK;
}

static enum status parse_group(struct parser *ps)
{
    const int open = position(ps);
    ps->p++;
    const enum status st = parse_choice(ps);
    if (st)
        return st;
    skip_blanks(ps);
    if (*ps->p == 0)
        return err_mark(ps->err, ST_USAGE, open, 1, "this ( is never closed");
    if (*ps->p != ')')
        return unexpected(ps, "an operator or ) belongs here");
    ps->p++;
    return ST_OK;
}

static enum status parse_operand(struct parser *ps);

static enum status parse_prefixed(struct parser *ps, enum op op)
{
    const struct node n = {.op = (uint8_t)op,
                           .truth = op == OP_NOT,
                           .at = (uint16_t)position(ps),
                           .len = 1,
                           .nargs = 1};
    if (ps->depth > DEPTH_MAX)
        return too_deep(ps);
    ps->p++;
    ps->depth++;
    const enum status st = parse_operand(ps);
    ps->depth--;
    if (!st)
        add_node(ps, n);
    return st;
}

static enum status parse_operand(struct parser *ps)
{
    skip_blanks(ps);
    const char c = *ps->p;
    if (c == '-')
        return parse_prefixed(ps, OP_NEGATE);
    if (c == '!')
        return parse_prefixed(ps, OP_NOT);
    if (c == '(')
        return parse_group(ps);
    if (isdigit((unsigned char)c) || c == '.')
        return parse_number(ps);
    if (is_name_start(c))
        return parse_name(ps);
    return unexpected(ps, "a number, a name or ( belongs here");
}

/* The binary operator at `p`, or NULL. */
static const struct binary *match_binary(const char *p)
{
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        const char *text = binaries[i].text; /* of one or two characters */
        if (p[0] == text[0] && (!text[1] || p[1] == text[1]))
            return &binaries[i];
    }
    return NULL;
}

/* Left-associative operators that bind at least as tight as `level`. Each takes what binds tighter than itself as its right
 * operand, so that of those met here none binds tighter than the one before. */
static enum status parse_level(struct parser *ps, int level)
{
    enum status st = parse_operand(ps);
    for (int last = 0; !st;) {
        skip_blanks(ps);
        const struct binary *b = match_binary(ps->p);
        if (!b || b->level < level)
            break;
        const struct node n = {.op = (uint8_t)b->op,
                               .truth = b->level <= LEVEL_ORDER,
                               .at = (uint16_t)position(ps),
                               .len = (uint16_t)strlen(b->text),
                               .nargs = 2};
        if (b->level == last && (last == LEVEL_EQUAL || last == LEVEL_ORDER))
            return err_mark(ps->err, ST_USAGE, n.at, n.len,
                            "comparisons cannot be chained; write a %s b && b %s c", b->text,
                            b->text);
        ps->p += n.len;
        last = b->level;
        st = parse_level(ps, last + 1);
        if (!st)
            add_node(ps, n);
    }
    return st;
}

/* Is the operand that was just read true, false or unknown? */
static bool last_is_truth(const struct parser *ps)
{
    return ps->nodes[ps->count - 1].truth;
}

/* a ? b : c, right-associative. */
static enum status parse_choice_inner(struct parser *ps)
{
    struct node n = {.op = OP_IF, .nargs = 3, .len = 1};
    enum status st = parse_level(ps, 1);
    if (st)
        return st;
    skip_blanks(ps);
    if (*ps->p != '?')
        return ST_OK;
    n.at = (uint16_t)position(ps);
    ps->p++;
    if ((st = parse_choice(ps)))
        return st;
    n.truth = last_is_truth(ps);
    skip_blanks(ps);
    if (*ps->p != ':')
        return unexpected(ps, "the : of this ?: belongs here");
    ps->p++;
    if ((st = parse_choice(ps)))
        return st;
    n.truth &= last_is_truth(ps);
    add_node(ps, n);
    return ST_OK;
}

static enum status parse_choice(struct parser *ps)
{
    if (ps->depth > DEPTH_MAX)
        return too_deep(ps);
    ps->depth++;
    const enum status st = parse_choice_inner(ps);
    ps->depth--;
    return st;
}

/* What stands where an operator or the end should: often a C or shell habit. */
static enum status trailing(struct parser *ps)
{
    static const char *const advice[][2] = {
        {"=", "write == to compare"},
        {"&", "write && for and"},
        {"|", "write || for or"},
        {")", "there is no ( for it"},
        {",", "commas separate arguments"},
        {":", "there is no ? for it"},
        {"^", "there is no power operator"},
    };
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (*ps->p == *advice[i][0])
            return unexpected(ps, advice[i][1]);
    return unexpected(ps, "an operator belongs here");
}

static enum status parse_all(struct parser *ps)
{
    const enum status st = parse_choice(ps);
    if (st)
        return st;
    skip_blanks(ps);
    return *ps->p ? trailing(ps) : ST_OK;
}

/* What was read, as one block. */
static struct expr *pack(const struct parser *ps)
{
    const size_t numbers = ps->nnumbers * sizeof *ps->numbers,
                 nodes = ps->count * sizeof *ps->nodes;
    const size_t text_len = strlen(ps->text);
    struct expr *e = xmalloc(sizeof *e + numbers + nodes + text_len + 1 + ps->names.len);
    *e = (struct expr){.count = (uint16_t)ps->count,
                       .nnumbers = (uint16_t)ps->nnumbers,
                       .text_len = (uint16_t)text_len};
    if (numbers)
        memcpy(e->numbers, ps->numbers, numbers);
    char *at = (char *)e->numbers + numbers;
    memcpy(at, ps->nodes, nodes);
    memcpy(at + nodes, ps->text, text_len + 1);
    if (ps->names.len)
        memcpy(at + nodes + text_len + 1, ps->names.data, ps->names.len);
    return e;
}

enum status expr_parse(const char *text, struct expr **out, struct err *err)
{
    *out = NULL;
    if (strnlen(text, TEXT_MAX + 1) > TEXT_MAX)
        return err_mark(err, ST_USAGE, TEXT_MAX, 1, "an expression has at most %d bytes", TEXT_MAX);
    if (str_blank(text))
        return err_mark(err, ST_USAGE, 0, 0, "the expression is empty");
    struct parser ps = {.text = text, .p = text, .err = err};
    const enum status st = parse_all(&ps);
    if (!st)
        *out = pack(&ps);
    free(ps.nodes);
    free(ps.numbers);
    str_free(&ps.names);
    return st;
}

void expr_free(struct expr *e)
{
    free(e);
}

/* ---- evaluation ----
 *
 * All operands are evaluated: nothing here has side effects, and a name that is misspelt in a
 * branch not taken should be found too.
 *
 * Truth has three values inside: an unknown operand makes a comparison unknown, not false, so that
 * `!(x < 5)` cannot turn true because x is missing; false && unknown is false and true || unknown
 * is true whatever the unknown one is. Only at the very end an unknown truth becomes false. */

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

static const struct builtin *expr_builtin(const char *name)
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

static enum status unknown_name(const struct expr *e, const struct node *n,
                                const struct expr_env *env, struct err *err)
{
    const bool call = n->op == OP_CALL;
    const char *name = node_name(e, n);
    const char *near = str_nearest(name, call ? known_name : own_name, env);
    return err_mark(err, ST_USAGE, n->at, n->len, "unknown %s \"%.60s\"%s%.60s%s",
                    call ? "function" : "name", name, near ? "; did you mean \"" : "",
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

static enum status eval_name(const struct expr *e, const struct node *n, const struct expr_env *env,
                             double *out, struct err *err)
{
    if (env && env->value && env->value(env->ctx, node_name(e, n), out))
        return ST_OK;
    return unknown_name(e, n, env, err);
}

static enum status eval_call(const struct expr *e, const struct node *n, const double *args,
                             const struct expr_env *env, double *out, struct err *err)
{
    const struct builtin *b = expr_builtin(node_name(e, n));
    if (b) {
        *out = b->run(n->nargs, args);
        return ST_OK;
    }
    if (env && env->call && env->call(env->ctx, node_name(e, n), n->nargs, args, out))
        return ST_OK;
    return unknown_name(e, n, env, err);
}

static enum status eval_node(const struct expr *e, const struct node *n, const double *arg,
                             const struct expr_env *env, double *out, struct err *err)
{
    switch (n->op) {
    case OP_NUMBER:
        *out = e->numbers[n->ref];
        return ST_OK;
    case OP_NAME:
        return eval_name(e, n, env, out, err);
    case OP_CALL:
        return eval_call(e, n, arg, env, out, err);
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

/* `top` is how many results nobody has taken yet; a node's operands are the last of them. */
enum status expr_eval(const struct expr *e, const struct expr_env *env, double *out,
                      struct err *err)
{
    const struct node *nodes = expr_nodes(e);
    double few[32];
    double *values = e->count <= 32 ? few : xcalloc(e->count, sizeof *values);
    enum status st = ST_OK;
    size_t top = 0;
    for (size_t i = 0; i < e->count && !st; i++) {
        double result = 0;
        top -= nodes[i].nargs;
        st = eval_node(e, &nodes[i], values + top, env, &result, err);
        values[top++] = result;
    }
    if (!st)
        *out = isnan(values[0]) && nodes[e->count - 1].truth ? 0 : values[0];
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
        const struct node *n = &expr_nodes(e)[i];
        double value = REAL_UNKNOWN;
        if (n->op != OP_NAME)
            continue;
        str_addn(out, expr_text(e) + done, (size_t)(n->at - done));
        eval_name(e, n, env, &value, NULL);
        add_value(out, value);
        done = n->at + n->len;
    }
    str_add(out, expr_text(e) + done);
}

static void visit_nodes(const struct expr *e, enum op op,
                        void (*visit)(void *ctx, const char *name), void *ctx)
{
    for (size_t i = 0; i < e->count; i++) {
        const struct node *n = &expr_nodes(e)[i];
        const char *name = n->op == op ? node_name(e, n) : NULL;
        if (name && !(op == OP_CALL && expr_builtin(name)))
            visit(ctx, name);
    }
}

void expr_names(const struct expr *e, void (*visit)(void *ctx, const char *name), void *ctx)
{
    visit_nodes(e, OP_NAME, visit, ctx);
}

void expr_calls(const struct expr *e, void (*visit)(void *ctx, const char *name), void *ctx)
{
    visit_nodes(e, OP_CALL, visit, ctx);
}
