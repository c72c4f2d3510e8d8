/* reference.h - inside of a reference, for verify.c alone; the contract is verify.h.
 *
 * A row is one query of one head; its number is (b * H + h) * Sq + i, whatever the layout.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_REFERENCE_H
#define ATTNSCOPE_MEASURE_REFERENCE_H

#include "measure/verify.h"

struct reference {
    struct shape shape;
    int64_t total;    /* rows of the output */
    int64_t judged;   /* rows with a float64 answer */
    int64_t *rows;    /* their numbers, ascending; NULL: all */
    double *value;    /* judged x D */
    double *lse;      /* judged: log of the sum of exponentials of the scores; -inf without a key */
    double lse_max;   /* largest |lse| of finite ones */
    double lse_plain; /* largest error of the plain evaluation's */
    double max, rms;  /* of the finite reference values */
    double plain_max; /* largest error of the plain evaluation */
    double plain_rms;
    double rounding_rms;         /* of rounding the reference to the output type */
    double noise_max, noise_rms; /* standard deviation of the unavoidable error, see attend.h */
    double effective;            /* elements that carry the error: effective_elements() */

    /* For rows without a float64 answer; at most one of the two is there. */
    float *screen;       /* total x D in float32 */
    double screen_error; /* its largest error on the judged rows */
    float *hull;         /* per key/value head: D smallest, then D largest values of V */
};

/* Where a row lies. */
struct row_place {
    int64_t b, h, i;
};
struct row_place row_place_of(const struct shape *s, int64_t row);

/* About `want` row numbers, ascending, each once: the first and last rows of the first and last
 * head, then tile edges and random rows by turns, by the problem's seed. Returns how many; the
 * caller frees *out. */
int64_t sample_rows(const struct problem *p, int64_t want, int64_t **out);

/* Runs body over the blocks, on the pool or, if it is NULL, here. */
void run_blocks(struct pool *pool, int64_t blocks, pool_body *body, void *ctx);

#endif
