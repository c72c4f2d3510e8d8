/* verify.h - is this output right? Error against float64 beside the error of a plain evaluation.
 *
 * Pure functions over host memory; they run in the judge process, on as many threads as it has.
 *
 * What an output is held against
 *   reference   the right answer in float64, from the same (already rounded) inputs and the same
 *               float scale, every row when the work is at most `max_flops`, else sampled rows
 *   plain       the textbook evaluation in the kernel's own type, on the same rows: three steps,
 *               f32-accumulated dot products, scores, probabilities and output each rounded to the
 *               type. For f32 it is plain f32 arithmetic; small problems try several orders of the
 *               same sums (and exp as well as exp2) and keep the worst, because the error of a
 *               single order may be small by luck
 *   rounding    the error of merely rounding the reference to the output type
 *   probe       half an ulp of the output type at max|ref|: what rounding alone may do to the
 *               largest value. FlashAttention's |ref + 0.3 - 0.3 - ref| measures the same thing,
 *               but at 0.3 whatever the size of the outputs: with outputs of 0.01 it is 32 times
 *               too lenient. Half an ulp at max|ref| is the smallest allowance that cannot fail a
 *               kernel whose only fault is to round where the plain evaluation was lucky
 *   noise       the standard deviation, per element, of an error that cannot be avoided: for f16
 *               and bf16 rounding exp(score - max) before it is multiplied with V, as every
 *               tensor-core kernel does (usually as large as the rounding of the output itself,
 *               hence 1.6 and not 1; larger where values cancel in the sum); for f32 scores that
 *               are off by one unit roundoff
 *
 * What passes
 *   guard bands untouched; no element left poisoned; no NaN or Inf where the reference has none
 *   f16, bf16   rms <= max(1.6 x rounding, 1.15 x sqrt(rounding^2 + noise^2))   and
 *               max <= 2 x plain + probe
 *   f32         rms <= 2.5 x plain + 2^-22 rms(ref)   and   max <= 3 x plain + 2^-21 max|ref|
 *   With few elements (fewer than 4096 that matter: where a few rows carry most of the error, only
 *   those count) luck does not average out. The rms limit then grows by 3 x noise for f32, by
 *   2 x noise and one roundoff of rms(ref) for f16 and bf16, both fading with the root of the
 *   number; the max limit by 4 sigma of the noisiest element.
 *
 * When only sampled rows have a float64 answer, the other rows are still held against something:
 * - work up to 20 x max_flops: a float32 evaluation of every row, whose own error is known from
 *   the sampled rows. Each element must be within 4 x plain (f32: 6 x) + one ulp at the row's
 *   largest value + 8 x that error. A wrong row between the sampled ones does not get through.
 * - beyond: an output is a weighted mean of values, so it must lie between the smallest and the
 *   largest V of its head and column (0 for rows without keys). That finds garbage, not subtle
 *   faults; `checked_rows` and `total_rows` say how many rows were really judged.
 *
 * Calibration: tests/unit/test_verify.c fails less than once in 10^4 for right kernels and never
 * passes a planted fault.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_VERIFY_H
#define ATTNSCOPE_MEASURE_VERIFY_H

#include "backend/pool.h"
#include "measure/row.h"
#include "spec/input.h"

/* The right answers for a problem, and how wrong a plain evaluation is. Expensive: kept and reused
 * while the problem stays the same. */
struct reference;

/* Full float64 for all rows while the work is at most `max_flops` (0: REFERENCE_FLOPS), else
 * for sampled rows: first, last, tile edges (multiples of 16, 64, 128, and one less and more) and
 * random ones, chosen by the problem's seed. The tensors are only read during the call. A NULL
 * `pool` means the caller's thread alone. */
#define REFERENCE_FLOPS 20e9
enum status reference_new(const struct problem *p, const struct tensors *t, struct pool *pool,
                          double max_flops, struct reference **out, struct err *err);
void reference_free(struct reference *r);
/* Rows that have a float64 answer. */
int64_t reference_rows(const struct reference *r);
/* Seconds that reference_new() may take at worst, for deadlines. */
double reference_estimate(const struct problem *p, int threads, double max_flops);

/* Judges `output`: OUTPUT_GUARD_BYTES, the tensor, OUTPUT_GUARD_BYTES. Fills max_diff .. check of
 * `row`, and its reason when it fails. Earlier values are replaced. A NULL `pool`: as above. */
void verify_output(const struct reference *r, const void *guarded_output, struct pool *pool,
                   struct run_row *row);

/* The same of an LSE, natural-log sums of the exponentials of each row's scores (b, h, row; float32), between
 * guard bands: B * H * Sq of them that held output_poison_f32 before. All as they were: the kernel writes none,
 * and nothing changes. Else lse_max_diff is set, and a row that has not failed yet fails when one is missing,
 * when a guard is hurt, or when one is further off than 3 x the plain evaluation's worst (whose scores are
 * rounded to the type for f16 and bf16) plus half an ulp of the type, for f32 four, at the largest. */
void verify_lse(const struct reference *r, const void *guarded_lse, struct run_row *row);
/* Bytes of one, guards included. */
size_t lse_guarded_bytes(const struct shape *s);

/* Largest difference of two outputs of the same problem; NaN if either has a NaN that the other
 * has not. `pool`: as of verify_output(). */
double verify_pair(const struct problem *p, const void *guarded_a, const void *guarded_b,
                   struct pool *pool);

/* The same run again: how far it is from the first. */
struct rerun {
    int64_t differ;   /* elements that are not the same bits */
    double max_diff;  /* NaN if one has a NaN that the other has not */
    bool is_rounding; /* no more than sums in another order may do to an output of this type */
};
struct rerun verify_rerun(const struct shape *s, const void *guarded_a, const void *guarded_b);

#endif
