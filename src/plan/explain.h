/* explain.h - what the files that explain a plan's figures share; nobody else's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_EXPLAIN_H
#define ATTNSCOPE_PLAN_EXPLAIN_H

#include "base/number.h"
#include "plan/plan.h"

/* What the functions look at, gathered once. */
struct view {
    const struct plan *p;
    const struct plan_pass *pass; /* the main one; NULL for a CPU kernel */
    const struct occupancy *occ;
    const struct arch_limits *arch; /* NULL: no CUDA device */
    struct str *out;
};

/* One figure: its name, and the function that writes its lines. */
struct metric {
    const char *name; /* NULL ends the table */
    void (*explain)(const struct view *v);
};
extern const struct metric explain_fit[];  /* explain_fit.c: what fits on an SM, grid, memory */
extern const struct metric explain_work[]; /* explain_work.c: operations, bytes, roofline */

/* Whole numbers print as %s, so that unknown ones can be "-". */
#define NUM(value)          number_fmt_int((char[NUMBER_BUF]){0}, (value))
#define REAL(value, digits) number_fmt((char[NUMBER_BUF]){0}, (value), (digits))
#define BYTES(value)        number_fmt_bytes((char[NUMBER_BUF]){0}, (value))

/* Appends one line. */
void explain_line(const struct view *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "Sq/BR = 1024/64 = 16", but "H = 8" and not "H = 8 = 8". */
void explain_formula(const struct view *v, const char *name, const char *formula, int64_t value,
                     const char *tail);
const char *explain_device(const struct view *v);

#endif
