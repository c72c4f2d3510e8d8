/* step.h - one block of a launch held still: stepped by warps, looked into, taken back.
 *
 *     sim_step_new(p, m, &launch, &(struct sim_step_options){.block = 3, .hazards = true}, &s, &err);
 *     sim_step_run(s, &(struct sim_want){.goal = SIM_GOAL_LINE, .warp = 2}, NULL, &stop);
 *     sim_step_register(s, 2, reg, lanes);                 what lane 5 has is lanes[5]
 *     sim_step_to(s, stop.step - 1, &stop, &err);          back
 *
 * A step is one instruction of one warp. Steps are numbered from 1; the block stands behind step n, at 0 before its
 * first. Which warp had which step is kept, and all that the block is every few thousand steps, so that the way to any
 * step can be gone again from the moment before it, and comes to the same state (sim_step_digest()). Moments share what
 * did not change, take 128 MiB at most beside a copy of the memory, and stand the further apart the longer a block is.
 * Other blocks do not run.
 *
 * The instructions are those of sim_run(), one at a time, with its checks, its faults and its hazards.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_STEP_H
#define ATTNSCOPE_SIM_STEP_H

#include "sim/hazard.h"
#include "sim/observe.h"
#include "sim/sim.h"

struct sim_step;

/* Whose turn it is, where a command does not say. A warp that waits has none.
 *   turns    one instruction each, ascending
 *   seed     drawn for each step from the seed
 *   against  the one that is furthest ahead goes on: who lags behind comes last, as late as barriers allow */
enum sim_order { SIM_ORDER_TURNS, SIM_ORDER_SEED, SIM_ORDER_AGAINST, SIM_ORDER_COUNT };

/* A register holds a value that the source has a name for: value number `name`, as register "%f12". */
struct sim_naming {
    const char *reg;
    uint32_t name;
};

struct sim_step_options {
    uint64_t block;                  /* linear */
    const struct sim_naming *naming; /* borrowed until sim_step_new() is back */
    size_t namings;
    uint32_t names; /* their numbers are less */
    bool hazards;
    enum sim_order order;
    uint64_t seed;
    uint64_t max_steps; /* 0: 2^24 */
    uint64_t
        max_bytes; /* for a copy of the memory as it is now, without which there is no way back; 0: 1 GiB */
    uint64_t
        keep_every; /* steps between two moments that are kept, at first; 0: 4096, and one for each 4 KiB of memory */
    uint64_t keep_bytes; /* that all of them take beside that copy; 0: 128 MiB */
};
enum { SIM_STEPS_MAX = 1 << 24 };

/* ST_USAGE: no such block, or a launch that makes no sense; ST_FAIL: a limit. All are borrowed until sim_step_free(),
 * and nobody else may write to `m` meanwhile. It leaves the memory as the block has left it. */
enum status sim_step_new(const struct sim_program *p, struct sim_memory *m,
                         const struct sim_launch *launch, const struct sim_step_options *o,
                         struct sim_step **out, struct err *err);
void sim_step_free(struct sim_step *s); /* NULL is fine */
/* From now on. */
void sim_step_order(struct sim_step *s, enum sim_order order, uint64_t seed);

/* ---- Going on. ---- */

enum sim_goal {
    SIM_GOAL_INSN,   /* one instruction of the warp */
    SIM_GOAL_LINE,   /* until the warp comes to another source line, inlined ones included */
    SIM_GOAL_NEXT,   /* the same of the kernel's own lines: what is inlined counts as its call */
    SIM_GOAL_FINISH, /* until the warp has left what is inlined here */
    SIM_GOAL_JOIN,   /* until lanes of the warp that parted have met */
    SIM_GOAL_BARRIER, /* until the warp has reached a barrier of the block, or asked an mbarrier in vain */
    SIM_GOAL_SHARED, /* until the warp has made an access to shared memory */
    SIM_GOAL_GLOBAL, /* ... to global memory */
    SIM_GOAL_ACCESS, /* ... to either */
    SIM_GOAL_PLACE,  /* until the warp comes to an instruction of `insn` */
    SIM_GOAL_NAN, /* until an instruction has made a NaN of floats in registers that were none, whoever does */
    SIM_GOAL_INFINITY, /* ... an infinity: one that is loaded, or that the text has as a constant, is not made */
    SIM_GOAL_PROBLEM, /* until the next hazard or fault, whoever makes it; of the first of each kind and place */
    SIM_GOAL_END, /* to the end of the block, or a break */
};

struct sim_want {
    enum sim_goal goal;
    int warp;         /* whose: others run only while it waits; SIM_ANY_WARP: all in their order */
    uint64_t times;   /* of the goal; 0: 1 */
    const bool *insn; /* [facts.insns], of SIM_GOAL_PLACE */
    const uint32_t *
        line; /* [facts.insns], of SIM_GOAL_LINE and _NEXT: the number of its line, as the caller sees
                             lines; 0: of none. NULL: as .loc has them */
    bool past_problems; /* hazards and faults do not stop it */
};

enum sim_why {
    SIM_STOP_GOAL,
    SIM_STOP_BREAK,  /* a warp has come to a place */
    SIM_STOP_VALUE,  /* a watched value has changed */
    SIM_STOP_ACCESS, /* a watched range was used */
    SIM_STOP_HAZARD, /* the last step made the second access of a new one */
    SIM_STOP_FAULT,  /* the last step made a new one */
    SIM_STOP_END,    /* the block has ended */
    SIM_STOP_LIMIT,  /* steps are used up */
    SIM_STOP_CANCELLED,
};

struct sim_stop {
    enum sim_why why;
    int mark;      /* which break or watch; 0: none */
    uint64_t step; /* the block stands behind this one */
    int warp;      /* that made the last step, or has come to the place; -1: none */
    bool stepped;  /* `insn` is that of the last step */
    size_t insn;
    uint64_t before[4], after[4];   /* SIM_STOP_VALUE: the value's bytes */
    bool known_before, known_after; /* somebody had written it; has */
};

/* Asked now and then while it runs; true: stop. */
struct sim_patience {
    bool (*over)(void *ctx);
    void *ctx;
};

/* Goes on. Breaks, watches, hazards and faults stop any goal. Where nothing is left to do, nothing is done. */
void sim_step_run(struct sim_step *s, const struct sim_want *want, const struct sim_patience *p,
                  struct sim_stop *stop);
/* To behind step `n`, which has been made: by running the block again from the moment kept before. ST_USAGE: it has not been. */
enum status sim_step_to(struct sim_step *s, uint64_t n, struct sim_stop *stop, struct err *err);
/* Runs the block again from before its first step to where it stands, and calls `each` behind every step with the warp
 * and the instruction that made it. */
typedef void sim_step_seen_fn(void *ctx, const struct sim_step *s, int warp, size_t insn);
void sim_step_along(struct sim_step *s, sim_step_seen_fn *each, void *ctx, struct sim_stop *stop);

/* What is kept for it: moments, bytes of all together, and how many steps are between two at least. */
struct sim_step_kept {
    size_t moments;
    uint64_t bytes, every;
};
struct sim_step_kept sim_step_kept(const struct sim_step *s);

/* ---- Where to stop. ---- */

/* A value that can be read: of a register of a lane, or in memory. */
struct sim_value {
    enum sim_space space; /* SIM_NOWHERE: a register; SIM_SHARED; SIM_GLOBAL */
    int warp, lane;
    uint32_t reg;
    bool named; /* `reg` is the number of a named value */
    uint64_t addr;
    uint32_t bytes; /* at most 32; of a register 4 or 8, of a named value 4 */
};
/* False: nobody has written it, or there is no such thing. `out` has 32 bytes. */
bool sim_step_value(const struct sim_step *s, const struct sim_value *v, void *out);

enum sim_mark_kind { SIM_MARK_PLACE, SIM_MARK_VALUE, SIM_MARK_ACCESS };
/* What must hold besides; called with the warp that is meant. */
typedef bool sim_condition(void *ctx, const struct sim_step *s, int warp);
struct sim_mark {
    enum sim_mark_kind kind;
    int warp;         /* SIM_ANY_WARP, or whose */
    uint32_t lanes;   /* one of them must take part; 0: any */
    const bool *insn; /* PLACE: [facts.insns]; copied */
    const bool
        *within; /* PLACE: who comes from one of these is there already; NULL: nobody. Copied */
    struct sim_value
        value;           /* VALUE; ACCESS: its space, addr and bytes, which may be more than 32 */
    bool reads, writes;  /* ACCESS: which stop */
    sim_condition *when; /* NULL: always */
    void *ctx;           /* borrowed until the mark is gone */
};
/* Its number, from 1; numbers are not used twice. */
int sim_step_mark(struct sim_step *s, const struct sim_mark *m);
bool sim_step_unmark(struct sim_step *s, int number); /* false: there is none */

/* ---- Looking. ---- */

enum sim_waits { SIM_WAITS_NOT, SIM_WAITS_BARRIER, SIM_WAITS_MBARRIER, SIM_WAITS_ENDED };
struct sim_warp {
    enum sim_waits waits;
    int barrier;     /* its number, where it waits for one */
    uint32_t live;   /* lanes that have not ended */
    uint32_t active; /* lanes that run next */
    size_t insn;     /* that comes next; of one that waits, that it waits at; facts.insns: ended */
    uint64_t steps;  /* it has made */
    size_t copies;   /* of cp.async and of the copy engine under way */
    size_t products; /* of wgmma under way */
    int depth;       /* of its stack of paths */
    uint32_t asks,
        asks_parity; /* of one that waits for an mbarrier: which, and for the end of which phase */
};
int sim_step_warps(const struct sim_step *s);
struct sim_warp sim_step_warp(const struct sim_step *s, int warp);

/* Lanes that parted: level 0 is the bottom, depth - 1 runs. join: facts.insns at the end. */
struct sim_path {
    size_t insn, join;
    uint32_t mask;
};
struct sim_path sim_step_path(const struct sim_step *s, int warp, int level);

struct sim_barrier {
    uint32_t arrived, expected; /* threads, in whole warps */
};
struct sim_barrier sim_step_barrier(const struct sim_step *s, int id); /* 0 .. 15 */

/* The mbarriers that were made, of a kernel that uses the copy engine, in order of their making; of another, for which
 * they are numbers in shared memory, those that warps ask in vain. */
struct sim_mbarrier {
    uint32_t addr;            /* in shared memory */
    uint32_t parity, missing; /* of the phase under way: arrivals that it still waits for */
    int32_t bytes;            /* announced and not come; below 0: come and not announced */
};
size_t sim_step_mbarriers(const struct sim_step *s);
struct sim_mbarrier sim_step_mbarrier(const struct sim_step *s, size_t i);

/* A copy of cp.async, or of the copy engine (one lane, as many bytes as its box has), that has not landed. */
struct sim_copy {
    bool engine;
    bool stores;      /* the engine, to global memory; `to` is where from */
    uint32_t barrier; /* that its bytes are announced to, of a load of the engine */
    size_t insn;
    uint32_t mask, bytes; /* of a lane */
    uint32_t to[32];      /* in shared memory */
    int group; /* how many groups were committed behind its own; -1: its own is not committed. Of its first lane */
};
struct sim_copy sim_step_copy(const struct sim_step *s, int warp, size_t i);

/* What a step was, of the last 2^18. */
struct sim_done {
    uint32_t step, insn;
    uint16_t copies, products; /* of cp.async and of wgmma, of its warp, under way behind it */
    uint16_t bulk;             /* of the copy engine, of the block */
    uint8_t warp, lanes;
    int8_t barrier;         /* of the block, that it arrived at; -1: none */
    bool waits, asks, ends; /* its warp waits there; asked an mbarrier in vain; has ended */
};
bool sim_step_done(const struct sim_step *s, uint64_t step,
                   struct sim_done *out); /* false: it is not kept */

/* The registers of the PTX. */
struct sim_reg {
    const char *name, *type; /* of the program; foreign */
    const char *kind; /* what its instructions take it for: "f32", "f16x2", "s32"; "": bits */
    int bits;         /* 1: predicate, 32, 64 */
    uint32_t slot;    /* of 32 bits, or the predicate's number */
};
uint32_t sim_step_regs(const struct sim_step *s);
struct sim_reg sim_step_reg(const struct sim_step *s, uint32_t reg);
/* Instructions that may be come to from elsewhere than the one before: targets of branches, and what follows one.
 * `out` has facts.insns. */
void sim_program_leaders(const struct sim_program *p, bool *out);
/* Its lanes. False: its place holds another's value, or none yet. *insn: who wrote it; may be NULL. */
bool sim_step_register(const struct sim_step *s, int warp, uint32_t reg, uint64_t lanes[32],
                       size_t *insn);

/* Registers whose place still holds what was written, the newest first; the list may be NULL to count them. */
struct sim_written {
    uint32_t reg, insn;
    uint64_t step;
};
size_t sim_step_written(const struct sim_step *s, int warp, struct sim_written *list, size_t most);

/* A named value: of each lane what the last instruction that wrote one of its registers for that lane left there, which
 * stays when a place goes to others. */
struct sim_named {
    uint32_t known; /* lanes that have a value */
    uint32_t lanes[32];
    const char *kind;   /* as of registers */
    uint32_t reg, insn; /* that was written last, and by whom */
    uint64_t step;
};
/* False: no lane has one yet, or its registers are not all there under one name each. */
bool sim_step_named(const struct sim_step *s, int warp, uint32_t name, struct sim_named *out);

/* Who wrote a byte of shared memory last, as far as the detector of hazards knows. */
struct sim_writer {
    size_t insn;
    int warp;
    uint32_t age; /* barriers of the whole block that were passed since */
};
bool sim_step_writer(const struct sim_step *s, uint64_t addr,
                     struct sim_writer *out); /* false: unknown */

/* Shared memory; written[i] may be NULL. False: not within the block's. */
uint32_t sim_step_shared_bytes(const struct sim_step *s);
bool sim_step_shared(const struct sim_step *s, uint64_t addr, uint32_t bytes, void *data,
                     bool *written);
/* How many bytes of a range of it somebody has written. */
uint64_t sim_step_shared_written(const struct sim_step *s, uint64_t addr, uint64_t bytes);

/* What the last step did; NULL: it was none to be looked at, or the way was not gone step by step. */
const struct sim_seen *sim_step_seen(const struct sim_step *s);
uint64_t sim_step_now(const struct sim_step *s); /* the number of the last step */
uint64_t
sim_step_end(const struct sim_step *s); /* ... that was ever made: the way forward that is known */
bool sim_step_ended(const struct sim_step *s);
size_t sim_step_faults(const struct sim_step *s, const struct sim_fault **list);
/* The caller frees *out. */
void sim_step_hazards(const struct sim_step *s, struct hazard_report **out, size_t *n);
const char *sim_step_printed(const struct sim_step *s, size_t *len); /* foreign */
/* Of registers, paths, waits, shared and global memory. */
uint64_t sim_step_digest(const struct sim_step *s);

#endif
