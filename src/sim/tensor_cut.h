/* tensor_cut.h - how tensor cores add, one sum at a time, for any operands: what tensor_body.h does for all of a product's
 * sums at once where exponents are moderate.
 *
 * A tensor core adds a few products and what they are added to at once. The largest exponent among them (of a product that of its
 * factors together, which may be one less than its own; a subnormal number has that of the smallest normal one) says where bits
 * end: `bits` behind the point there, but none is below 2^-158. What reaches beyond is cut off, of each towards 0; the rest is added exactly,
 * and what comes of it cut off to an f32's 24 bits, subnormal ones fewer, or rounded once to the nearest f16 where sums are f16. A 0 that comes
 * of it is +0, whatever the signs, and what is too large is infinite. Nothing of this is documented by NVIDIA. Sources, by compute capability:
 *     9.0           measured on an H200 (2026-11-24) by tests/gpu/tensor_sums: 15 forms of mma.sync and wgmma with f16, bf16 and tf32, operands
 *                   of ten kinds, from which this was learnt (2457600 sums, and 327680 of an earlier probe of tf32), and of other seeds and one
 *                   kind more, which nobody had looked at before (2703360): all are as here, bit for bit. wgmma adds as mma.sync does,
 *                   whatever N is and wherever its left operand comes from. A few of them: tests/unit/tensor_sums.inc
 *     7.5, 8.x      published, not measured by us: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores"
 *                   (2021), of T4 and A100; Xie and others, MMA-Sim (2025), bit by bit on Turing, Ampere and Ada. That bits end at 2^-158 is
 *                   taken over from 9.0
 * Of others nothing is said here: the simulator then rounds each product's sum to nearest, see tensor.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_TENSOR_CUT_H
#define ATTNSCOPE_SIM_TENSOR_CUT_H

#include <stdint.h>

#include "sim/tensor_block.h"

struct tensor_adder {
    int cc;    /* compute capability: 90 */
    int bytes; /* of a row of the left operand that are added at once: 32 are 16 of f16, 8 of tf32 */
    int bits;  /* behind the point of the largest term */
};

/* Of a GPU of that compute capability; NULL: it is not known how it adds. */
const struct tensor_adder *tensor_adder_of(int cc);

/* c + a[0] b[0] + ... + a[n - 1] b[n - 1], added at once with `bits`. Elements are bits of their type in the low half of a word, tf32
 * in a whole one. With `half` c and the result are f16. */
uint32_t tensor_cut_sum(enum tensor_kind kind, int bits, int n, const uint32_t *a,
                        const uint32_t *b, uint32_t c, bool half);

/* All sums of a block. */
void tensor_cut_block(const struct tensor_block *s, enum tensor_kind kind, int regs);

#endif
