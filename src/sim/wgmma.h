/* wgmma.h - where wgmma.mma_async finds its operands in shared memory, and what a warp does of the product. Pure.
 *
 * A warpgroup multiplies 64 x 16 by 16 x N; its warp w (of four) has rows 16 w .. 16 w + 15, with the fragments of
 * mma.sync: accumulators 4 n .. 4 n + 3 of a lane are those of m16n8 for columns 8 n .. 8 n + 7.
 *
 * An operand in shared memory is named by a descriptor of 64 bits. Its unit is 16 bytes, eight elements: `chunk`s.
 * Of a row (what is not summed over: of A an m, of B an n) and a k, with R = swizzle / 16 chunks (1 without one):
 *   k side by side (K-major):   row / 8 * stride + row % 8 * 16 R + k / 8 * 16 (without a swizzle: k / 8 * leading)
 *   rows side by side:          row / (8 R) * leading + row / 8 % R * 16 + k / 8 * stride + k % 8 * 16 R
 *                               (without a swizzle: row / 8 * stride + k / 8 * leading + k % 8 * 16)
 * bytes behind the start; then the swizzle exchanges chunks, by bits of the address itself.
 *
 * Source: NVIDIA, Parallel Thread Execution ISA 9.0, "Asynchronous warpgroup level matrix instructions", canonical layouts
 * and matrix descriptor; that of rows side by side without a swizzle as CUTLASS has it (no kernel here has one).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_WGMMA_H
#define ATTNSCOPE_SIM_WGMMA_H

#include <stdbool.h>
#include <stdint.h>

struct wgmma_operand {
    uint32_t start, leading, stride; /* bytes */
    uint32_t swizzle;                /* bytes; 0: none */
    uint32_t base;                   /* "base offset": where the pattern begins */
};
struct wgmma_operand wgmma_operand(uint64_t descriptor);

/* The address in shared memory of the 16 bytes with element (row, k) of an operand of 16-bit elements; of `rows_beside`
 * (what PTX calls transposed) eight rows of one k, else eight k of one row. `row` and `k` are then multiples of 8. */
uint32_t wgmma_address(const struct wgmma_operand *o, bool rows_beside, uint32_t row, uint32_t k);
/* Those of 8 x 8 elements, all multiples of 8: of the eight rows from `row` on at k, or of `rows_beside` of the eight k from `k` on. */
void wgmma_eight(const struct wgmma_operand *o, bool rows_beside, uint32_t row, uint32_t k,
                 uint32_t at[8]);

#endif
