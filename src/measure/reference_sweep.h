/* reference_sweep.h - many rows evaluated in parallel, into a reference; for reference.c alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_REFERENCE_SWEEP_H
#define ATTNSCOPE_MEASURE_REFERENCE_SWEEP_H

#include "measure/attend.h"
#include "measure/reference.h"

enum { PLAIN_MAX = 8 }; /* orders of evaluation tried at most */

/* What a tile of judged rows contributes. Merged in tile order, so that results do not depend on
 * the number of threads. */
struct sums {
    double n, max, square; /* finite reference values */
    double rounding,
        rounding_square; /* sum over rows of a row's squared error, and of its square */
    double noise_n, noise_max, noise, noise_square; /* variances; noise_square: of row sums */
    double plain_n[PLAIN_MAX], plain_max[PLAIN_MAX], plain[PLAIN_MAX];
};

/* Some rows of one key/value head, [from, to) in the list of rows. */
struct tile {
    int64_t kv_head, from, to;
};

struct sweep {
    struct reference *r;
    const struct tensors *t;
    struct pool *pool;
    const int64_t *rows; /* numbers, or NULL for all */
    int64_t nrows;
    bool screen; /* fill r->screen, else r->value and the sums */
    struct attend_mode plain[PLAIN_MAX];
    int nplain;
    int64_t noise_every; /* every n-th tile; 0: none */

    /* Inside of it: the batch. */
    int64_t head0, nheads;
    float *k, *v; /* nheads x Sk x D */
    struct tile *tiles;
    size_t ntiles, captiles;
    struct sums *sums; /* one per tile */
};

/* Fills r->screen, or r->value, r->hull if it is there, and *total. The caller has set the members
 * above the batch's, and zeroed *total. */
void reference_sweep(struct sweep *w, struct sums *total);

#endif
