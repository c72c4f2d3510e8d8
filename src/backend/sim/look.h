/* look.h - the line that is looked at: chosen from what a first run of the block shows, then seen in a second.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_LOOK_H
#define ATTNSCOPE_BACKEND_SIM_LOOK_H

#include "backend/look.h"
#include "backend/sim/finding.h"
#include "base/str.h"

struct sim_access;

/* Begin with {.look = l, .pass = -1}; look_choice_clear() frees. */
struct look_choice {
    const struct look_at *look;
    int pass; /* of the plan; -1: no line has anything of the kind */
    int warp;
    bool *insn; /* of its program */
    double score;
    struct str lines; /* where there is something of the kind: "57, 70" */
    struct str names; /* what it is of: "Ks, Qs" */
};
void look_choice_clear(struct look_choice *c);

/* What the first run looks at, of all warps: instructions that may be of the view. The caller frees. */
bool *look_wide(const struct look_at *l, const struct sim_program *p);
/* Weighs the lines of a pass by its counts and by the first execution of each. */
void look_weigh(struct look_choice *c, int pass, const struct finding_scene *s,
                const struct sim_result *got);
/* ST_USAGE with a sentence when nothing was found. */
enum status look_settle(const struct look_choice *c, struct err *err);

/* Of which warp the second run looks at that: sums by atomics are of all. */
int look_warp(const struct look_choice *c, const struct sim_program *p);
/* What the second run has shown, as an object; NULL with ST_USAGE's sentence: not so often. See seen.c. */
json_t *look_answer(const struct look_choice *c, const struct finding_scene *s,
                    const struct sim_result *got, struct err *err);

/* Where an instruction is of, for who reads the kernel: `own` in the kernel's file, `at` what was inlined there (the same
 * where nothing was), both without what CUDA's headers bring. Line 0: unknown. */
struct look_place {
    struct sim_place own, at;
};
struct look_place look_place(const struct sim_program *p, size_t insn);
/* "fa2.cu:57", or "fa2.cu:57 (attn.cuh:182)", or the line of the PTX. */
void look_place_text(const struct sim_program *p, size_t insn, struct str *out);
/* Is it of the line "57" of the kernel's own file, or "attn.cuh:182"? Whatever was inlined there is. */
bool look_is_of_line(const struct sim_program *p, size_t insn, const char *line);
/* Places that look the same to who reads the kernel. Line 0: unlike all. */
bool look_same_line(const struct look_place *a, const struct look_place *b);
/* For each instruction a number of its line, 0: it has none; the caller frees. Lines as their reader sees them, or by the
 * kernel's own line alone. */
uint32_t *look_lines(const struct sim_program *p, bool own);
/* An access, lane by lane: space, name, element, bytes, mask, write, wavefronts or sectors, ideal, rows. See seen.c. */
json_t *look_access_json(const struct finding_scene *s, const struct sim_access *a);
/* The name of what an access of the view touches, borrowed from plan or memory; NULL: none. */
const char *look_name_of(const struct finding_scene *s, enum sim_space space, uint64_t addr);
/* Is it one of the view's? */
bool look_fits(const struct look_choice *c, const struct finding_scene *s, enum sim_space space,
               uint64_t addr);

#endif
