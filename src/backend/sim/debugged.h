/* debugged.h - a debugger's side within the cage: the block that is held, its focus, its breaks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_DEBUGGED_H
#define ATTNSCOPE_BACKEND_SIM_DEBUGGED_H

#include "backend/compile/ptx_names.h"
#include "backend/debug.h"
#include "backend/sim/omit.h"
#include "sim/step.h"

/* The serving of a cage; ctx is a struct sim_job. Asks and answers are those of backend/debug.h, in JSON; each answer
 * has status and error, too. */
cage_serve sim_debug_serve;

/* A break or watch as its user sees it. */
struct debug_mark {
    int number; /* in the program's words, from 1; stays when the block begins anew */
    int engine; /* of sim_step_mark() */
    char *text; /* "fa2.cu:57 if %f3[5] > 1" */
    uint64_t hits;
    struct debug_ask ask;
    struct debugged *of;
    struct sim_value value; /* of a condition, or watched */
    const char *kind;       /* of that value: "f32"; "": bits */
};

enum { DISPLAYS = 16 };

struct debugged {
    const struct sim_job *job;
    struct omitted omitted; /* `job` is its, once the first block began */
    struct cage_board *board;
    struct sim_stage stage;
    struct sim_step *step;
    struct ptx_names names; /* of the pass: what the source calls values */
    int pass;
    int warp, lane;
    struct debug_ask begin; /* what it began with */
    uint32_t *lines
        [2]; /* by instruction: its line as its reader sees it, with what is inlined, and without; 0: none */
    struct debug_mark **marks;
    size_t nmarks, marks_cap;
    int last_mark;
    size_t told;    /* bytes of what the kernel printed */
    int64_t window; /* steps that the trail shows */
    struct debug_display {
        int number;
        char *name;
    } display[DISPLAYS];
    size_t ndisplays;
    int last_display;
    struct sim_stop stop;
    bool moved; /* `stop` is of this ask */
};

/* The same without a cage: nothing is held at first. `job` and `board` are borrowed until sim_debug_close(). */
void sim_debug_open(struct debugged *d, const struct sim_job *job, struct cage_board *board);
void sim_debug_close(struct debugged *d);
/* What is answered to an ask, a new reference; of what is no object a refusal. */
json_t *sim_debug_answer(struct debugged *d, const json_t *ask);
/* Appends what goes out of the cage of it: its text, or that it is too long. */
void sim_debug_text(const json_t *answer, struct str *out);

/* A value by its name. */
struct debug_value {
    struct sim_value at;
    char *name;       /* as it is to be shown; owned */
    const char *kind; /* "f32"; "": bits */
    bool all_lanes;   /* a register of which no lane was named */
    bool many;        /* a variable with several elements: at.reg is none */
};
/* ST_USAGE: there is none of that name; the nearest is suggested. debug_value_clear() frees. */
enum status debug_value(struct debugged *d, const char *name, struct debug_value *out,
                        struct err *err);
void debug_value_clear(struct debug_value *v);
/* The value of these bytes: a number, or a word ("nan", "inf", "0x3f800000"); of two halves a list. */
json_t *debug_number(const char *kind, uint32_t bytes, const void *data);
/* The same as one number; NaN: it is none. */
double debug_real(const char *kind, uint32_t bytes, const void *data);
/* Bytes of an element of that kind; 0: unknown. */
uint32_t debug_kind_bytes(const char *kind);

/* ---- stop.c: answers ---- */

/* What every answer has. */
json_t *debug_stop_json(struct debugged *d);
/* shown.c: parts of it that pictures are drawn from. */
enum { TRAIL_COLUMNS = 120, TRAIL_STEPS = 16 * TRAIL_COLUMNS };
json_t *debug_smem_json(const struct debugged *d);
json_t *debug_trail_json(const struct debugged *d);
json_t *debug_recent_json(const struct debugged *d);
/* names.c: what the source names. */
/* "m[0]", or "m" for all of it; ST_USAGE: the source names none so. */
enum status debug_named_value(const struct debugged *d, const char *name, struct debug_value *out,
                              struct err *err);
/* Variables: name, elements, values in the lane of the focus, the line that wrote one last. */
json_t *debug_names_json(const struct debugged *d);
/* Its elements into `out`, `most` of them at most; returns how many there are. debug_value_clear() frees each. */
size_t debug_named_elements(const struct debugged *d, const char *name, struct debug_value *out,
                            size_t most);
/* The elements that the value stands for, as print has them. */
json_t *debug_named_json(const struct debugged *d, const struct debug_value *v);
/* What the register holds now, in the source's words; null: it has none. */
json_t *debug_source_name(const struct debugged *d, const char *reg);
/* Why no names are there; NULL: some are, or nobody marked any. */
const char *debug_names_why(const struct debugged *d);
/* Lists of `found`. */
json_t *debug_registers_json(struct debugged *d, const char *prefix);
json_t *debug_print_json(struct debugged *d, const struct debug_value *v);
/* history.c: how it came to be what it is; elements, changes, and of each change step, line and values. */
json_t *debug_history_json(struct debugged *d, const struct debug_value *v);
json_t *debug_memory_json(struct debugged *d, const struct debug_value *v, int64_t count);
json_t *debug_shared_json(struct debugged *d);
json_t *debug_copies_json(struct debugged *d);
json_t *debug_flight_json(const struct debugged *d, size_t most);
json_t *debug_kept_json(struct debugged *d);
json_t *debug_hazards_json(struct debugged *d);
json_t *debug_breaks_json(struct debugged *d, int number); /* 0: all */

#endif
