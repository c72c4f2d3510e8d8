/* place.h - a place for every virtual register: liveness, then linear scan.
 *
 * Compilers write PTX with a register per value, thousands of them; few live at once. A slot is 32
 * lanes of 4 bytes. Values of 64 bits have two neighbouring slots, of 128 bits four; narrower ones
 * have one; predicates have masks, numbered apart.
 *
 * Two registers share a place only when no lane can need both: a lane goes one way through the
 * control flow, writes are masked to the lanes that run, and liveness covers all ways. A guarded
 * write does not end what was there before. Results never share a place with operands of the same
 * instruction, so that it may write before it has read all. Registers of different widths never
 * share: lane 1 of a wide value stands where lanes 2 and 3 of a narrow one do, and a lane may wait
 * elsewhere and still need its own.
 *
 * Source: Poletto and Sarkar, Linear Scan Register Allocation, 1999. A register has its place from
 * the first to the last instruction of the text at which it lives.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_PLACE_H
#define ATTNSCOPE_SIM_PLACE_H

#include <stdint.h>

#include "sim/flow.h"
#include "sim/ptx.h"

struct place {
    uint32_t nslots;   /* of 32 bits, all lanes */
    uint32_t nmasks;   /* predicates */
    uint32_t *slot;    /* by register: its first slot, or its mask; PLACE_NONE: never used */
    uint32_t max_live; /* most slots that are live at one instruction: below this nobody gets */
};
#define PLACE_NONE UINT32_MAX
enum { PLACE_MAX_SLOTS = 8192 }; /* also of masks; the hardware has 255 registers */

/* Slots a register takes: 0 for a predicate. */
uint32_t place_slots(enum ptx_type t);

/* ST_USAGE when more than PLACE_MAX_SLOTS live at once, or registers times blocks are too many for the
 * memory it may take (128 MiB). place_free() frees it. */
enum status place_new(const struct ptx_function *f, const struct flow *w, struct place **out,
                      struct err *err);
void place_free(struct place *p);

#endif
