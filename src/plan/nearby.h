/* nearby.h - how long a kernel takes at a shape, by how long it took at others: what was measured, carried over by what the plan
 * says of both. Pure arithmetic.
 *
 * Of a launch the plan knows how many blocks there are, how many of them a multiprocessor holds at once, and what each has to do
 * (pairs of a query and a key, tiles in full). Blocks go out in rounds; k of them on a multiprocessor take 1 + q (k - 1) times as
 * long as one alone: q is 0 where a lone block leaves the units idle, 1 where it fills them. So a run takes
 *
 *     t0 + a * work * rounds(q) + b * bytes
 *
 * with t0, a, b >= 0 and q fitted to what was measured of this kernel, relative errors weighing alike. Few times leave many such
 * forms: each counts as much as it fits, and how far they are apart at the asked shape is part of what is not known. What they
 * leave, a factor for each shape, is carried over the more the nearer a shape is (a Gaussian process in powers of 2), which also
 * says how sure that is. Shapes of other heads, masks, layouts and GPUs are farther, so a kernel that nobody has timed near the asked
 * shape has a time, too, of which less is known. A time at the very shape is taken as it is.
 *
 * Work and bytes are in units of the GPU, so that a and b say how well a kernel uses it. Blocks that differ (causal) are taken to
 * go out longest first: the longest one, or an even share of all. Blocks that take one tile after another take whole tiles.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_NEARBY_H
#define ATTNSCOPE_PLAN_NEARBY_H

#include "plan/plan.h"

/* What a launch asks of a GPU. */
struct nearby_load {
    struct shape shape;
    const struct device *gpu;
    bool old;                     /* of another source of the kernel */
    double blocks, resident, sms; /* resident: on a multiprocessor at once */
    double work;                  /* of a block, us of a multiprocessor whose units never wait */
    double longest;               /* that of the longest block */
    double bytes;                 /* compulsory, us of the GPU's memory */
    double least_us;              /* that the products take on units that never wait */
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
/* How far two shapes are apart that one kernel's times may be carried between, in powers of 2, on one GPU or two, of one source
 * or two; INFINITY: they may not. */
double nearby_apart(const struct shape *a, const struct shape *b, bool same_gpu, bool same_source);

enum { NEARBY_MOST = 24 }; /* times of one kernel that are looked at: the nearest of more */
/* None of these times is INFINITY apart from `at`. launch_us: what a launch takes where they do not tell it. */
struct nearby_guess nearby_guess(const struct nearby_time *v, size_t n,
                                 const struct nearby_load *at, double launch_us);
/* Of kernels at one shape: what is not at all sure is moved towards what kernels usually take beside the fastest of those that are. */
void nearby_temper(struct nearby_guess *g, size_t n);
/* How much shorter, as a logarithm, the better one of both is expected to be than `a`: what it is worth to time `b`, too. */
double nearby_gain(const struct nearby_guess *a, const struct nearby_guess *b);

#endif
