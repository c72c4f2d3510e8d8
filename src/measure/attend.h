/* attend.h - attention evaluated by the book, in float64 or float32, for a few query rows.
 *
 * The engine behind the reference and the plain evaluation: three steps - all scores of a row,
 * their softmax, the weighted sum - with no online softmax and nothing else that a kernel under
 * test would share. The same C text is compiled for float64 and float32 and for several
 * instruction sets (attend.inc.h); the best one is picked at run time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_ATTEND_H
#define ATTNSCOPE_MEASURE_ATTEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/dtype.h"

/* Keys and values of one head, widened to float (exact for all three types). */
struct attend_kv {
    const float *k, *v; /* Sk x D, contiguous */
    int64_t Sk, D;
    double scale;
};

/* Some query rows that share a key/value head. */
struct attend_rows {
    const float *q;      /* n x D, contiguous */
    const int64_t *keys; /* row r sees keys 0 .. keys[r]-1 */
    int n;               /* 1..attend_rows_max() */
    double *lse; /* NULL, or n that receive log(sum exp(score)) of each row; -inf without a key */
};

/* How it is evaluated. All zero: in float64, nothing rounded. */
struct attend_mode {
    bool single;   /* in float32 */
    bool rounded;  /* round scores, probabilities and output to `to` (with single only) */
    enum dtype to; /* f16 or bf16; values beyond its range become its largest */
    /* Other orders of the same float32 arithmetic; all of them are "plain". */
    bool backward; /* last key first */
    bool chained;  /* one running sum per dot product and per output, not one per block */
    bool base2;    /* exp2 of scores scaled by log2 e, and the division last */
};

/* Rows that may be evaluated at once, for a reasonable amount of scratch. */
int attend_rows_max(const struct attend_kv *kv);
/* Bytes of 64-byte aligned scratch that attend() needs for up to `n` rows. */
size_t attend_scratch(const struct attend_kv *kv, int n);

/* out: n x D doubles. Rows without a key give 0.
 *
 * noise: NULL, or n x D doubles that receive, per element, the variance of an error that no kernel
 * can avoid, each rounding error in it taken as independent. float64 only.
 * - noise_type f16, bf16: P is rounded before it is multiplied with V, as tensor cores want it:
 *   sum_j (ulp(p_j)^2 / 12) v_j^2 / (sum p)^2 with p_j = exp(score_j - max).
 * - f32: scores are off by a unit roundoff of the row's largest score (or of 1, whichever is
 *   larger): sum_j (2^-24 score p_j)^2 (v_j - o)^2 with normalised p_j. */
void attend(const struct attend_kv *kv, const struct attend_rows *rows,
            const struct attend_mode *mode, void *scratch, double *out, double *noise,
            enum dtype noise_type);

#endif
