/* expr_tree.h - a parsed expression, between the parser (expr.c) and the evaluator (expr_eval.c).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_EXPR_TREE_H
#define ATTNSCOPE_BASE_EXPR_TREE_H

#include "base/expr.h"
#include "base/mem.h"

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

/* Hundreds live as long as the program: small. Texts, and so indices, are below 32768. */
struct node {
    enum op op;
    bool truth; /* gives true, false or unknown: what an unknown result becomes false for */
    short nargs;
    short at, len;            /* where it stands in the text: a name or number; else the operator */
    double number;            /* OP_NUMBER */
    const char *name;         /* OP_NAME, OP_CALL; in the arena */
    short arg[EXPR_ARGS_MAX]; /* indices of the operands, all smaller than this node's own */
};

struct expr {
    struct arena *arena;
    char *text;
    struct node *nodes;
    size_t count, cap;
    short root;
};

/* A call that every expression may make. */
struct builtin {
    const char *name;
    int min_args, max_args;
    double (*run)(int n, const double *v);
};
const struct builtin *expr_builtin(const char *name); /* NULL: not built in */

#endif
