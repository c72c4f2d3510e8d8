/* tensor_block.h - the inner product m16n8 of tensor_*.c: private to them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_TENSOR_BLOCK_H
#define ATTNSCOPE_SIM_TENSOR_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* D = A B + C of 16 x 8, with the fragments of mma.sync: registers of 32 lanes. Registers of d may be
 * those of others. */
struct tensor_block {
    uint32_t *const *a, *const *b, *const *c, *const *d; /* up to 4, 2, 4 and 4 of them */
    bool c_half, d_half; /* f16 pairs in two registers, else f32 in four */
    int at_once; /* registers of b whose products are added at once, cut off; 0: one after another, rounded to nearest */
    int bits;    /* with `at_once`: see tensor_cut.h */
};

enum tensor_kind { KIND_F16, KIND_BF16, KIND_TF32, KIND_COUNT };

/* One instruction set's: block[kind][registers of B - 1]. */
struct tensor_set {
    const char *name;
    void (*block[KIND_COUNT][2])(const struct tensor_block *);
};

extern const struct tensor_set tensor_generic;
#if defined __x86_64__
extern const struct tensor_set tensor_avx2, tensor_avx512;
#endif

#endif
