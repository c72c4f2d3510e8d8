/* blind.h - mistakes of attention kernels, planted without a look at how causes are found.
 *
 * Written from what goes wrong when such kernels are written, before and apart from measure/diagnose.c;
 * a plain evaluation in tiles, each mistake a branch where it would be made.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_BLIND_H
#define ATTNSCOPE_TESTS_BLIND_H

#include "planted.h"

enum blind {
    BLIND_NO_SCALE,
    BLIND_SCALE_TWICE,
    BLIND_STRICT_CAUSAL,
    BLIND_NO_CAUSAL,
    BLIND_FIRST_BATCH,
    BLIND_HEAD_MODULO,
    BLIND_SECOND_TILE_LOST,
    BLIND_TAIL_LOST,
    BLIND_TAIL_OF_ZEROS,
    BLIND_LATE_RESCALE,
    BLIND_MASKED_IN_SUM,
    BLIND_SPLITS_UNWEIGHTED,
    BLIND_LAST_QUERY_TILE,
    BLIND_COLUMN_PAIRS,
    BLIND_HALF_OF_D,
    BLIND_HEAD_UNWRITTEN,
    BLIND_HEADS_EXCHANGED,
    BLIND_SUM_IN_HALF,
    BLIND_BASE_TWO,
    BLIND_TILE_BEFORE,
    BLIND_NAN_WITHOUT_KEYS,
    BLIND_K_FOR_V,
    /* Held out: written before causes were added for the ones above, and never tuned for. */
    BLIND_HELD,
    BLIND_COLUMNS_ROTATED = BLIND_HELD,
    BLIND_D_CUT,
    BLIND_LATE_SUM,
    BLIND_THIRD_TILE_LOST,
    BLIND_LAST_TILE_STALE,
    BLIND_V_TILE_BEFORE,
    BLIND_SCALE_OF_PADDED,
    BLIND_DIAGONAL_TILE_HIDDEN,
    BLIND_FIRST_KEY_TWICE,
    BLIND_Q_OF_NEXT_HEAD,
    /* Written after causes were added for some of those, and run for the first time when all had been written. */
    BLIND_NEW,
    BLIND_MASKED_AS_ZERO = BLIND_NEW,
    BLIND_V_TRANSPOSED,
    BLIND_SUM_OVER_QUERIES,
    BLIND_HALF_OF_SUM,
    BLIND_OTHER_LAYOUT,
    BLIND_NOT_RESET,
    BLIND_LAST_TILE_TWICE,
    BLIND_V_HEAD_MODULO,
    BLIND_CORRECTION_BASE,
    BLIND_MEAN_WITHOUT_KEYS,
    /* Written beside the causes of 2026-11-23 for some of those, by somebody who had read the classifier, and committed before
     * either was run. */
    BLIND_LAST,
    BLIND_KEYS_OF_QUERIES = BLIND_LAST,
    BLIND_SCALED_OUTPUT,
    BLIND_CORRECTION_UNSCALED,
    BLIND_MAX_OF_TILE,
    BLIND_SPLIT_WEIGHTS_SWAPPED,
    BLIND_HALF_TILE_OF_Q,
    BLIND_K_HEAD_MODULO,
    BLIND_CAUSAL_BY_TILE,
    BLINDS
};
extern const char *const blind_names[BLINDS];

/* A random problem in which the mistake can be made. */
struct problem blind_problem(enum blind fault);
/* Writes the wrong output into b->guarded, guards and all, as a kernel with tiles of `bc` keys and `br`
 * queries would. */
void blind_write(struct bench *b, enum blind fault, int br, int bc);

#endif
