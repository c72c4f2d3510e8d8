/* merge.h - which loads and stores of PTX are one access of the machine.
 *
 * ptxas joins neighbours: four `ld.shared.u16` of one base are an `LDS.64`. Whoever counts wavefronts and sectors must do
 * as it does. Its rule, found by assembling small programs with ptxas 13.0 for sm_90 (no kernel of the ladder among them):
 *
 *   - Accesses of one straight piece, of one space, under one guard, of elements of the same size (v2.u16 and v4.u16 are
 *     words), whose addresses are a constant apart. Bytes, volatile and ordered accesses, generic ones and those of
 *     other spaces than shared and global are left alone.
 *   - What they become is aligned as far as that is known: from constants and places of shared variables through sums,
 *     products, shifts and masks (address.h); or because the piece has an access of that many bytes on the same register.
 *     At most 16 bytes, and at most four elements.
 *   - Loads: three of four elements are enough, the fourth is loaded in vain; of two both must be there. Between them
 *     may be no store to the space (ld.global.nc: any), no barrier, fence, atomic or copy.
 *   - Stores: both halves of a pair must be there, of the same size, and pairs of pairs. Between them may be neither a
 *     load nor a store of the space, nor what ends loads.
 *
 * Where ptxas makes one piece of several, by unrolling a loop or predicating a branch, it joins more.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_LOWER_MERGE_H
#define ATTNSCOPE_SIM_LOWER_MERGE_H

#include "sim/lower/address.h"

/* What a load or store is of the machine's access, which is made by one of those that it joins: loads by the first,
 * stores by the last. */
struct merged {
    uint32_t with; /* the instruction that makes it; its own: itself */
    int32_t from;  /* where it begins, from the address of the one that makes it */
    uint8_t bytes; /* of it; 0: this instruction is alone */
};

/* [f->ninsns], the caller frees; NULL: none is joined, or there is too much to look at. */
struct merged *merge_accesses(const struct ptx_function *f, const struct flow *flow,
                              address_place_fn *place, void *ctx);

#endif
