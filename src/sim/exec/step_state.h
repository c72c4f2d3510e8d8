/* step_state.h - what a block that is held still consists of: step.c drives it, step_state.c looks into it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_STEP_STATE_H
#define ATTNSCOPE_SIM_EXEC_STEP_STATE_H

#include "sim/exec/block.h"
#include "sim/step.h"

#define STEP_NOBODY UINT32_MAX
enum { DONE_MOST = 1 << 18 };

/* Steps that one warp had in a row. */
struct turns {
    uint8_t warp;
    uint8_t n;
};

/* Who wrote a slot last. */
struct owner {
    uint32_t reg, insn; /* reg STEP_NOBODY: nobody yet */
    uint32_t step;
};

struct writes {       /* of an instruction */
    uint32_t from, n; /* in `written` */
};

/* The named values that a register holds: those at from .. from + n of `of_reg`. */
struct namings {
    uint32_t *from;   /* by register, and one more */
    uint32_t *of_reg; /* numbers of names */
    bool *lost;       /* by name: a register of it is not there, or there are two of that name */
    uint32_t names;
};

struct mark {
    struct sim_mark what;
    int number;
    bool *insn, *within;
    uint8_t was[32]; /* VALUE: its bytes */
    bool known;
};

/* What else there is to know of a warp. */
struct turn_state {
    bool asked;     /* in vain, for an mbarrier */
    uint64_t since; /* changes of the block then */
    uint64_t told;  /* steps that it had made when a mark last stopped it; UINT64_MAX: never */
    size_t last;    /* instruction that it executed last; facts.insns: none */
};

struct sim_step {
    const struct sim_program *program;
    struct sim_memory *memory;
    const struct sim_launch *launch;
    struct sim_step_options options;
    struct sim_launch own_launch;
    struct worker worker;
    struct hazards *hazards;
    struct observer *observer;
    struct sim_observe look;
    bool *all; /* instructions: every one is looked at */
    char *constants;
    void *params;
    struct moments *moments; /* step_keep.c */
    struct writes *writes;   /* by instruction */
    uint32_t *written;       /* registers */
    uint8_t *kind;           /* by register: index in step_kinds */
    struct owner *owner;     /* [warp][slots + predicates] */
    struct namings namings;  /* step_named.c */
    struct sim_named *named; /* [warp][namings.names] */
    struct turn_state *turn;
    struct turns *log;
    size_t logs, logs_cap;
    uint64_t now, end;
    int last_warp; /* of the last step; -1: none */
    size_t last_insn;
    int ran_on; /* so many steps it has had in a row, of orders that go on with one */
    int spins;
    bool ended;
    bool awake;            /* the last step was looked at */
    struct sim_done *done; /* by the step, the last DONE_MOST of them */
    size_t done_cap;
    struct mark *marks;
    size_t nmarks, marks_cap;
    int last_mark;
    size_t faults, hazards_seen; /* known before the last step */
};

/* From what says least to what says most. */
extern const char *const step_kinds[];
void step_list_kinds(struct sim_step *s);

static inline size_t step_places(const struct sim_step *s)
{
    return (size_t)s->program->slots + s->program->predicates;
}

/* step_made.c. Has the last step made a NaN, or an infinity, and not only handed one on? */
bool step_made(const struct sim_step *s, bool infinity);

/* step_named.c. */
void step_namings_new(struct sim_step *s);
void step_namings_free(struct sim_step *s);
/* Lanes of the warp that take part in the instruction that it comes to next, if somebody asks: 0 where it writes no named
 * value. */
uint32_t step_named_lanes(const struct sim_step *s, const struct warp *w, size_t insn,
                          uint32_t mask);
/* Behind it: what those lanes have in the registers that it has written. */
void step_note_named(struct sim_step *s, const struct warp *w, size_t insn, uint32_t lanes);

/* step_keep.c. Keeps the moment that it stands at, which is step 0; lets go of all. */
void step_moments_new(struct sim_step *s);
void step_moments_free(struct sim_step *s);
/* Behind a step that was made for the first time: keeps the moment if it is time for one. */
void step_keep(struct sim_step *s);
/* What was kept of steps beyond `now` is of another way. */
void step_forget_moments(struct sim_step *s);
/* To the last moment before step `n`, or to 0, unless the block stands between the two: then it stays. The way goes on
 * at entry *turn of the log, which *at steps come before. */
void step_return(struct sim_step *s, uint64_t n, size_t *turn, uint64_t *at);

/* The code that the warp comes to next: paths that are at their end are done. False: it has ended. */
bool step_next(const struct sim_step *s, const struct warp *w, struct path *top);
/* The same as an instruction; facts.insns: none. */
size_t step_next_insn(const struct sim_step *s, const struct warp *w);

#endif
