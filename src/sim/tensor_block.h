/* tensor_block.h - the inner product m16n8 of tensor_*.c: private to them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_TENSOR_BLOCK_H
#define ATTNSCOPE_SIM_TENSOR_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* D = A B + C of 16 x 8, or `count` of them beside each other that have A in common, with the fragments of mma.sync:
 * registers of 32 lanes. Registers of d may be those of others, with a `count` above 1 those of the same block's c alone. */
struct tensor_block {
    uint32_t *const *a,
        *const *b, *const *c, *const *d; /* up to 4, 2, 4 and 4 of them, but of a `count` times */
    int count;
    bool c_half, d_half; /* f16 pairs in two registers, else f32 in four */
    int at_once; /* registers of b whose products are added at once, cut off; 0: one after another, rounded to nearest */
    int bits;    /* with `at_once`: see tensor_cut.h */
};

/* Block i of them, of so many registers of B. */
static inline struct tensor_block tensor_block_of(const struct tensor_block *s, int regs, int i)
{
    struct tensor_block one = *s;
    one.b += regs * i;
    one.c += (s->c_half ? 2 : 4) * i;
    one.d += (s->d_half ? 2 : 4) * i;
    one.count = 1;
    return one;
}

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
