/* differ.h - in what two plans of one problem differ: the figures of both, what may explain a time first.
 *
 * It says what differs, never what is the cause: that is for a measurement. A figure that only bounds
 * (the registers are not known) has no ratio and is never ranked.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_DIFFER_H
#define ATTNSCOPE_PLAN_DIFFER_H

#include "plan/plan.h"

enum { DIFFERENCES = 12 };

/* Which way a figure helps, all else being equal: -1 less, 1 more, 0 neither by itself. */
struct difference {
    const char *figure, *unit, *doc; /* constants: "waves", "" */
    const char *origin;              /* "model": of the plan; "source": counted in the text */
    double value[2];                 /* of the first and the second plan; NaN: not known */
    const char *bound[2];            /* "<=" or ">=" where the value only bounds; "" */
    double ratio;                    /* first over second; NaN: a bound, unknown, or a zero */
    int helps;
    double beside; /* what both have besides, when it is asked how far apart they are */
};

/* Fills all of them, sorted: first what speaks for one of the two, which can explain a time, then what speaks for
 * neither, each by ratio, in which a zero counts as one; then what only bounds, then what is equal or not
 * known. Returns how many really differ: those that can be ranked. */
int plan_differ(const struct plan *a, const struct plan *b, struct difference out[DIFFERENCES]);
/* Of the first n, those that favour `quick`, the one known to be faster, to the front: 0 or 1. */
void differences_as_time(struct difference *d, int n, int quick);
/* Is it known of both, without a bound, and not the same? */
bool difference_ranks(const struct difference *d);
/* Which plan it favours: 0, 1; -1: neither, or it does not rank. */
int difference_favours(const struct difference *d);

#endif
