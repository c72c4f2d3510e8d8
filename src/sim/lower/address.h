/* address.h - what addresses are made of: how far they are known, and which lie at a constant distance.
 *
 * Two things are told of a register. Its low bits, the same in every lane and every time it is written, as far as they
 * follow from constants, places of variables, shifts, products and masks: by them an assembler proves that an access
 * is aligned. And what it is a sum of, within one straight piece of the program: two addresses that are the same sum of
 * the same registers' values and two constants are a constant apart.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_LOWER_ADDRESS_H
#define ATTNSCOPE_SIM_LOWER_ADDRESS_H

#include "sim/flow.h"

/* value mod 2^bits */
struct address_low {
    uint8_t bits; /* that are known, at most ADDRESS_LOW_BITS */
    uint8_t value;
};
enum { ADDRESS_LOW_BITS = 8, ADDRESS_TERMS = 4 };

/* plus + the sum of times * atom. An atom is the value that a register has when the piece begins, or that an instruction
 * of it makes; equal numbers are equal values. Terms are in the order of their atoms. */
struct address_sum {
    uint32_t terms;
    struct {
        uint32_t atom;
        int64_t times;
    } term[ADDRESS_TERMS];
    int64_t plus;
};
/* Of the terms, without `plus`: below, at or above 0. */
int address_order(const struct address_sum *a, const struct address_sum *b);

struct addresses;

/* Where a variable lies, by its low bits. */
typedef struct address_low address_place_fn(void *ctx, const struct ptx_variable *v);

/* `f` and `ctx` are borrowed until addresses_free(). */
struct addresses *addresses_new(const struct ptx_function *f, address_place_fn *place, void *ctx);
void addresses_free(struct addresses *a); /* NULL is fine */

/* A straight piece begins; its instructions are then told one after the other, each behind what is asked of it. */
void addresses_begin(struct addresses *a);
void addresses_pass(struct addresses *a, uint32_t insn);

/* Of an operand PTX_ADDRESS, at this place of the piece. */
struct address_sum addresses_sum(struct addresses *a, const struct ptx_operand *o);
struct address_low addresses_low(struct addresses *a, const struct ptx_operand *o);

#endif
