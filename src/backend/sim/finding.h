/* finding.h - what is wrong with a launch, faults and hazards alike, as JSON with both parties and a sentence.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_FINDING_H
#define ATTNSCOPE_BACKEND_SIM_FINDING_H

#include <jansson.h>

#include "plan/place.h"
#include "plan/plan.h"
#include "sim/sim.h"

/* What the allocation with the block table is called. Where there is one, K and V are pools, and K[7][0][3][5] is a column
 * of key 3 of page 7. */
#define FINDING_TABLE "block table"

/* Of one launch. */
struct finding_scene {
    const struct sim_program *program;
    const struct sim_memory *memory;
    const struct sim_launch *launch;
    const struct plan_pass *pass;
    const struct shape *shape;
    const struct plan *plan; /* for the names of its mbarriers; NULL: they have none */
};

/* Appends an object for each fault and each hazard of `r` to `list`, those of the same kind, buffer and lines as one, and
 * causes before what comes of them: kind, what, pass, space, addr, name and offset
 * of the allocation or buffer, bytes, count, first and second (block, warp, lane, act, and the place as
 * place_to_json() has it), text, sentence. */
void findings_list(const struct finding_scene *s, const struct sim_result *r, json_t *list);

/* What lies at an address of shared memory: static variables by their names in the program, for compilers place them as
 * they like; dynamic ones as planned. */
struct plan_spot finding_spot(const struct finding_scene *s, uint64_t addr);
/* Where that element of shared memory lies, as finding_spot() calls it: "Ks[5][12]", "Ks", "Ks + 64", "+ 816"; blanks do
 * not count. False: there is none. *buffer: NULL for what is of none. */
bool finding_address(const struct finding_scene *s, const char *element, uint64_t *addr,
                     const struct plan_smem **buffer);
/* The same of a tensor or workspace: "K[0][1][12][5]" (batch, head, row, column), "LSE + 64". */
bool finding_global(const struct finding_scene *s, const char *element, uint64_t *addr);
/* Puts into `o` what lies at an address: space, name of the buffer or tensor, offset in it, element. */
void finding_name_address(const struct finding_scene *s, enum sim_space space, uint64_t addr,
                          json_t *o);

#endif
