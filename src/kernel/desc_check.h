/* desc_check.h - checks of a whole descriptor, once all its parameters are known.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_DESC_CHECK_H
#define ATTNSCOPE_KERNEL_DESC_CHECK_H

#include "kernel/desc_text.h"
#include "kernel/descriptor.h"

/* Where an expression stands decides which names it may use. */
enum scope {
    SCOPE_ANY,      /* all names */
    SCOPE_CONSTANT, /* what the compiler gets: no name that changes from call to call */
};

/* An expression to look at again once all names are known. */
struct check {
    const struct expr *expr;
    struct slice where;
    enum scope scope;
    const char *tag;
};

/* threads, three grid sides, cluster, buffers (bytes, type, pitch, rows) and boxes of each pass, workspaces, parameters, requires,
 * traffic. */
enum {
    CHECKS_MAX = DESC_PASSES_MAX * (5 + 4 * DESC_SMEM_MAX + 2 * DESC_TMA_MAX) + DESC_WS_MAX +
                 DESC_PARAMS_MAX + 3
};
struct desc_checks {
    struct check items[CHECKS_MAX];
    int count;
    struct slice requires_; /* its terms are split last */
};

/* Reads the expression that stands at `where`, for @tag, and puts it on the list of checks. */
enum status desc_read_expr(struct desc_text *t, struct desc_checks *c, const char *tag,
                           struct slice where, enum scope scope, struct expr **out);

/* Checks `d`, read from `t`; what it has of @requires is split into terms. `missing` names a required tag
 * that is not there, or is NULL. A trusted source is split but not checked again. */
enum status desc_check(struct desc_text *t, struct kernel_desc *d, const struct desc_checks *c,
                       const char *missing, bool trusted);

#endif
