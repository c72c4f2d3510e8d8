/* ring.h - attention over several GPUs: who has which queries, whose keys come by when, what waits for what.
 *
 * Every GPU keeps its queries. Keys and values go round: in step s GPU g has those of GPU g - s, attends with them, and
 * meanwhile takes those of the next step from its neighbour g - 1 and gives its own to g + 1. A GPU has two slots for
 * them: step s computes in slot s % 2 while the other one fills. Each step leaves an output and an LSE over some of the
 * keys, which kernels/ring/merge.cu joins with what was before (Liu, Zaharia, Abbeel: Ring Attention, 2023). Such a part
 * is in f32 where the kernel can (`@dtypes ... parts=f32`), so that the answer is rounded once, as that of one GPU: N parts
 * of equal weight are sqrt(N) times as large, and rounded each they would add as much error again as the last rounding.
 *
 * Under the causal mask equal stretches of the sequence are unequal work: the first GPU's queries see nearly no key. So
 * the sequence is cut into 2 N chunks, and GPU g has chunks g and 2 N - 1 - g, one early and one late ("zigzag"): then
 * all have the same number of pairs in every step, but for the half diagonal.
 *
 * With few queries, as in decoding, that would be the wrong way round: a shard of the keys is larger than all answers.
 * Then every GPU keeps its keys and has all queries ("splitkv"); each leaves an answer over its keys, which are gathered
 * on GPU 0 and merged there once.
 *
 * Pure arithmetic: backends execute the events, the plan counts with them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_RING_H
#define ATTNSCOPE_PLAN_RING_H

#include "plan/device.h"
#include "spec/shape.h"

enum { RING_GPUS_MAX = 16, RING_MINE_MAX = 2 /* chunks of a GPU */ };

/* ZIGZAG is meant for the causal mask; without one it is STRETCHES. SPLITKV: the keys stay, answers are gathered. */
enum ring_shards { RING_ZIGZAG, RING_STRETCHES, RING_SPLITKV };
/* What of a problem is shared. */
enum ring_side { RING_QUERIES, RING_KEYS };

/* A GPU's step: whose keys it has, and what is done before it may begin. */
struct ring_turn {
    int holds;          /* GPU whose keys and values are in the slot */
    int from;           /* GPU that the next ones come from; -1: none do */
    bool waits_arrival; /* the step waits until what it reads has arrived */
    bool waits_compute; /* what comes next waits until nobody reads its slot any more */
};

struct ring {
    struct shape shape;                                  /* of the whole */
    enum dtype parts;                                    /* of partial answers */
    bool gathers;                                        /* splitkv: nothing goes round */
    int gpus, steps;                                     /* steps = gpus; 1 where it gathers */
    int mine;                                            /* chunks of a GPU: 1 or 2 */
    struct ring_turn turn[RING_GPUS_MAX][RING_GPUS_MAX]; /* by GPU and step */
};

/* ST_NO with the reason where the shape cannot go round so many GPUs. `parts`: what a kernel stores a partial answer in,
 * desc_parts(). */
enum status ring_build(const struct shape *s, int gpus, enum ring_shards shards, enum dtype parts,
                       struct ring *out, struct err *why);

/* ---- who has what ---- */

/* Rows first .. first + rows - 1 of all queries, or all keys. */
struct ring_rows {
    int64_t first, rows;
};
/* The i-th chunk of a GPU, i < mine. */
struct ring_rows ring_rows(const struct ring *r, int gpu, int i, enum ring_side side);
/* Of all its chunks together. */
int64_t ring_count(const struct ring *r, int gpu, enum ring_side side);
/* Does it end with rows of the output? Where answers are gathered, GPU 0 alone does. */
bool ring_answers(const struct ring *r, int gpu);
/* Partial answers that a GPU's i-th chunk of queries gets, all steps; 0: it is not merged there. */
int ring_parts(const struct ring *r, int gpu, int i);

/* What the queries of a chunk see of the keys of another. */
enum ring_sight { RING_NOTHING, RING_DIAGONAL, RING_ALL };
enum ring_sight ring_sight(const struct ring *r, int gpu, int i, int holds, int j);
/* The local problem of two chunks: an ordinary shape, causal on the diagonal. False: they see nothing. */
bool ring_local(const struct ring *r, int gpu, int i, int holds, int j, struct shape *out);

/* ---- what it amounts to ---- */

/* Unmasked pairs of a head that a GPU works on in a step. */
double ring_pairs(const struct ring *r, int gpu, int step);
double ring_flops(const struct ring *r, int gpu); /* 4 B H D for each of its pairs */
/* Of the busiest GPU over the mean: 1 is balanced. */
double ring_imbalance(const struct ring *r);
/* Bytes of the keys and values of a GPU, which is what a step sends. */
double ring_shard_bytes(const struct ring *r, int gpu);
/* Bytes of a partial answer over all queries of a GPU, in `parts`, with its LSE. */
double ring_part_bytes(const struct ring *r, int gpu);
/* Bytes that a GPU sends in all, and that all send. */
double ring_sent_bytes(const struct ring *r, int gpu);
double ring_link_bytes(const struct ring *r);
/* Memory of a card: Q and O, two slots of K and V, a partial answer with its LSE, the answer so far in f32.
 * Where answers are gathered: one slot, and only GPU 0 has O, an answer so far and everybody's part. */
double ring_memory_bytes(const struct ring *r, int gpu);

/* ---- what happens, in an order that the waits allow ---- */

enum ring_what {
    RING_BEGIN,   /* GPU `gpu` gives its next slot up to what comes: its content is undefined */
    RING_COMPUTE, /* GPU `gpu` does step `step` */
    RING_LAND, /* what was begun as exchange `step` has arrived everywhere; gathering: all answers, at GPU 0 */
    RING_COMBINE, /* GPU `gpu` merges the answers that were gathered, its own first */
    RING_DONE,
    RING_STUCK /* somebody waits for ever */
};
struct ring_event {
    enum ring_what what;
    int gpu, step;
};
/* Where each GPU is; begin with {0}. */
struct ring_play {
    int begun[RING_GPUS_MAX], landed, computed[RING_GPUS_MAX], combined;
};
/* What happens next. Copies begin as early as their waits allow; exchange e arrives early where bit e of `early` is
 * set, else as late as can be. A wait that is missing shows in one of the two. */
struct ring_event ring_next(const struct ring *r, struct ring_play *p, unsigned early);
/* The order in which the simulator plays it: every other exchange is late, the last one among them. */
unsigned ring_usual_order(const struct ring *r);
/* Every exchange as early as its waits allow: that of GPUs, which wait for what they need by themselves. */
enum { RING_EARLY = -1 };

/* Does every step have the keys that it is meant to have, in every order that the waits allow? ST_FAIL with who reads
 * what too early, or has whose keys instead. */
enum status ring_check(const struct ring *r, struct err *why);

/* ---- time, as a bound ---- */

/* What joins two cards: bytes a second in one direction, from the vendor's data sheet. */
struct ring_link {
    const char *name; /* "NVLink 4" */
    double gbs;
};
struct ring_link ring_link_of(const struct device *d);

/* Of a GPU's step: when it computes, and when what comes next is on its way to it; NaN: nothing comes. */
struct ring_span {
    double begin_us, end_us, copy_begin_us, copy_end_us;
};
struct ring_time {
    struct ring_span span[RING_GPUS_MAX][RING_GPUS_MAX]; /* by GPU and step */
    double compute_us;                                   /* of the GPU that computes longest */
    double transfer_us;                                  /* of the GPU whose copies take longest */
    double total_us;                                     /* until the last one has ended */
    double exposed_us; /* total_us - compute_us: what no computing hides, and who waits for whom */
    double efficiency; /* the time of one GPU alone over N times total_us */
};
/* Each step at `tflops`, each copy at `gbs` in one direction; a step begins when its keys are there, a copy when both
 * ends are ready for it. Answers are gathered one after another, over the one link into GPU 0. NaN where a rate is
 * unknown. */
void ring_time(const struct ring *r, double tflops, double gbs, struct ring_time *out);

#endif
