/* sum.h - what a launch did, added up over the runs that make it: a run of blocks that stand for others counts as
 * often as there are others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_SUM_H
#define ATTNSCOPE_BACKEND_SIM_SUM_H

#include <jansson.h>

#include "backend/counters.h"
#include "sim/sim.h"

/* Begin with {0}; sum_clear() frees. */
struct sim_sum {
    uint64_t blocks_run;
    bool
        scaled; /* a run counted more than once: what hangs on the order of all blocks is unknown */
    bool cached; /* there was a cache */
    struct sim_counts total;
    uint64_t pipe[SIM_PIPE_COUNT];
    size_t insns, phases, phases_cap;
    struct sim_counts *insn;
    struct sim_phase *phase;   /* in order of the instruction that begins them */
    struct sim_course *course; /* of blocks that ran, each weighed as its run; owned */
    size_t courses;
};
void sum_add(struct sim_sum *s, const struct sim_result *r, uint64_t weight);
void sum_clear(struct sim_sum *s);

/* As `profile` names them. What nobody counted is NaN. */
struct counter_values sum_counters(const struct sim_sum *s, const struct sim_counts *c);
/* An object of the known ones. */
json_t *sum_counters_json(const struct sim_sum *s, const struct sim_counts *c);
/* Warp instructions by pipe. */
json_t *sum_pipes_json(const uint64_t pipe[SIM_PIPE_COUNT]);

/* Rows by source line, heaviest first is the reader's business: by file and line, with what was inlined there. */
json_t *sum_lines_json(const struct sim_sum *s, const struct sim_program *p);
json_t *sum_phases_json(const struct sim_sum *s, const struct sim_program *p);
/* Courses of blocks: block, stands (for how many, itself among them), steps and rest; a step has the number of its phase in the
 * list above, rounds, length, at (sim.h) and its counts, of which those that are 0 are left out; in the rest `times` says how
 * many there are. Courses behind so many steps are left out. */
json_t *sum_courses_json(const struct sim_sum *s);

/* Where an instruction comes from, put into `o`: file, line; of inlined code the line of the kernel, and in at_file,
 * at_line and function what was inlined there. Nothing where it is not known. */
void place_to_json(const struct sim_program *p, size_t insn, json_t *o);
/* Such a place: "fa2.cu:70 (attn.cuh:77)", or the line of the PTX. */
void place_add(const json_t *place, struct str *out);

#endif
