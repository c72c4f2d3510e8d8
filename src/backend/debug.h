/* debug.h - a block of a kernel held still: what a debugger asks of it, as it travels to a worker.
 *
 * Every answer is an object; backend/sim/stop.c makes it:
 *   why        what stopped it: begin goal break value access hazard fault end limit cancelled; of an ask that
 *              does not move: asked
 *   step, last the step that it stands behind; the last that was made, which `back` may have left
 *   warp, lane the focus: whose registers are meant
 *   block, grid, pass, order, ended, hazards, faults
 *   without    the source line that was left out, where one was: "fa2.cu:55"
 *   next       where the warp goes on: ptx_line, instruction, ptx, and file, line, at_file, at_line, function
 *   did        what the last step did: warp, mask, the place as in next, registers, accesses
 *   warps      of each: waits, barrier, active, live, steps, copies, depth, and the place as in next; of one that waits for
 *              an mbarrier asks, asks_parity, and over: that phase has ended since
 *   paths      of the focus: mask, line where it stands and where it meets
 *   barriers   those where somebody has arrived: id, arrived, expected
 *   mbarriers  name, offset, and of the phase under way parity, missing, bytes: all of a kernel that uses the copy engine,
 *              of others those that warps ask in vain
 *   smem       of shared memory: bytes, cell_bytes, buffers (name, offset, bytes), and a character for each cell: '.' nobody
 *              wrote it, '+' less than half, '#' more, 'o' the same, but before a barrier that newer bytes of its buffer were
 *              written behind; 'c' a copy under way will land there
 *   trail      what warps did last: from, to, steps a column, copies and products under way in each, and of each warp a letter
 *              a column and the least lanes that ran; see trail_letters in draw/chart.h
 *   names      what the source marks with @show, of the focus: name, elements, values (64 at most), line that wrote one last;
 *              names_why: why there are none, or null
 *   displays   values that are part of every stop: number, name, value; null: not written, or its place is taken
 *   recent     registers of the focus that were written last, the newest first: name, kind, line, step, value, and source:
 *              what it holds in the source's words, or null
 *   problem    of a hazard or fault that stopped it, as sanitize tells it
 *   mark       of a break or watch that stopped it: number, text, and of a value before and after
 *   found      what was asked for: a list of values, registers, hazards, breaks, lines
 *   text       what the kernel has printed in this step
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_DEBUG_H
#define ATTNSCOPE_BACKEND_DEBUG_H

#include "base/field.h"

/* enumerator, name */
#define DEBUG_ACTS(X)                                                                        \
    X(BEGIN, "begin")         /* the block anew: pass, x, y, z */                            \
    X(GO, "go")               /* goal, times, warp (-1: all in their order), place */        \
    X(TO, "to")               /* to behind step `step` */                                    \
    X(BREAK, "break")         /* at `place`; if `name` `op` `value` */                       \
    X(WATCH, "watch")         /* the value `name` */                                         \
    X(ACCESS, "access")       /* accesses to `name`: format "r", "w" or "" for both */       \
    X(DELETE, "delete")       /* break or watch number `count` */                            \
    X(ORDER, "order")         /* order, seed */                                              \
    X(LOOK, "look")           /* no more than the focus: warp, lane */                       \
    X(PRINT, "print")         /* `name`: a register or an element */                         \
    X(HISTORY, "history")     /* `name` over the steps so far */                             \
    X(MEMORY, "memory")       /* `count` elements from `name` on */                          \
    X(REGISTERS, "registers") /* of the focus; name: those that begin so */                  \
    X(SHARED, "shared")       /* buffers of shared memory: where, and how much is written */ \
    X(COPIES, "copies")                                                                      \
    X(HAZARDS, "hazards")                                                                    \
    X(BREAKS, "breaks")                                                                      \
    X(KEPT, "kept")           /* what the way back takes */                                  \
    X(DISPLAY, "display")     /* the value `name` is part of every stop from now on */       \
    X(UNDISPLAY, "undisplay") /* number `count` no more; 0: none */                          \
    X(TRAIL, "trail")         /* from now on the trail has the last `count` steps */
enum debug_act {
#define X(id, name) DEBUG_##id,
    DEBUG_ACTS(X)
#undef X
        DEBUG_ACT_COUNT
};

/* Goals are those of sim/step.h, by these names: instruction line next finish join barrier shared global access place
 * nan infinity problem end. */
extern const char *const debug_goals[], *const debug_orders[];

/* Begin with DEBUG_NONE; texts are owned by it. */
struct debug_ask {
    int act;   /* enum debug_act */
    int goal;  /* index in debug_goals */
    int order; /* index in debug_orders */
    int64_t times, warp, lane, step, seed, count;
    int64_t x, y, z; /* the block */
    char *pass;      /* NULL: the main one */
    char *place;     /* "57" of the kernel's own file, "attn.cuh:182", "ptx:310" */
    char *name;      /* "%f12", "%f12[5]", "Ks[5][12]", "O[0][1][2][3]", "Ks+64" */
    char *op;        /* of a condition: == != < <= > >= */
    char *
        format; /* of memory: f32 f16 bf16 s32 u32 x32 u8, DEBUG_FLOATS; NULL: as the buffer has it */
    double value;
    bool hazards; /* at the beginning: races are looked for */
};
#define DEBUG_NONE   ((struct debug_ask){.times = 1, .warp = -1, .count = 0, .hazards = true})
#define DEBUG_FLOATS "f" /* numbers with a point, as wide as the elements are */
extern const struct field debug_fields[];
enum { DEBUG_ANSWER_MAX = 512 << 10, DEBUG_VALUES_MAX = 1024, DEBUG_STEPS_MAX = 1 << 24 };

void debug_clear(struct debug_ask *a); /* frees the texts; DEBUG_NONE afterwards */

#endif
