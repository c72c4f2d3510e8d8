/* nearby.h - how long a kernel takes at a shape, by how long it took at others: what was measured, carried over by what the plan
 * says of both. Pure arithmetic.
 *
 * Of a launch the plan knows how many blocks there are, how many of them a multiprocessor holds at once, and what each has to do
 * (pairs of a query and a key, tiles in full). Blocks go out in rounds; k of them on a multiprocessor take 1 + q (k - 1) times as
 * long as one alone: q is 0 where a lone block leaves the units idle, 1 where it fills them. So a run takes
 *
 *     t0 + a * work * rounds(q) + b * bytes
 *
 * with t0, a, b >= 0 and q fitted to what was measured of this kernel, relative errors weighing alike. What is left, a factor for
 * each shape, is carried over to a shape between them the more the nearer it is (a Gaussian process in powers of 2), which also
 * says how sure that is. A time at the very shape is taken as it is.
 *
 * Blocks that differ (causal) are taken to go out longest first: the longest one, or an even share of all. Blocks that take one
 * tile after another take whole tiles.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_NEARBY_H
#define ATTNSCOPE_PLAN_NEARBY_H

#include "plan/plan.h"

/* What a launch asks of a GPU. */
struct nearby_load {
    struct shape shape;
    double blocks, resident, sms; /* resident: on a multiprocessor at once */
    double work;                  /* of a block: pairs of a query and a key */
    double longest;               /* that of the longest block */
    double bytes;                 /* compulsory */
};
/* Of the main launch. False: the plan has none that can run, or its figures are not known. */
bool nearby_load(const struct plan *p, struct nearby_load *out);
/* The rounds that its blocks take, each 1 + q (k - 1) for k blocks on a multiprocessor. */
double nearby_rounds(const struct nearby_load *l, double q);

struct nearby_time {
    struct nearby_load load;
    double us;
};
struct nearby_guess {
    double us;    /* NaN: nothing to go by */
    double error; /* relative, a standard deviation */
};
/* The dtype's size, D, mask and layout of all are the same; that is the caller's. */
struct nearby_guess nearby_guess(const struct nearby_time *v, size_t n,
                                 const struct nearby_load *at);

#endif
