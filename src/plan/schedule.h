/* schedule.h - how the blocks of a kernel fill the SMs over time: waves, the tail, imbalance.
 *
 * Without a device from the plan: blocks go out in the order of their number, each to a slot that is
 * free; the blocks on an SM share its peak rate, and one that has it to itself gets no more than its
 * warps can use: an SM needs eight of them. (H200, measured: a lone block of fa2, 4 warps, runs at
 * 0.54 of the rate of a full SM.) Real kernels do not reach the peak, and by how much differs between them:
 * so the model has no clock of its own. Its times are on a scale of its own; who shows them gives the whole a time that was
 * recorded or predicted, else shows blocks: how
 * long the kernel's longest block takes alone on an SM (block_us). Two kernels cannot be held against each
 * other by them; busy, tail and waves are shares, and can. On a device from stamps that a traced build took at the begin and end of
 * every block.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_SCHEDULE_H
#define ATTNSCOPE_PLAN_SCHEDULE_H

#include "plan/plan.h"

enum { SCHED_BLOCKS_MAX = 1 << 16 };

/* What a block works on. -1: nothing in particular, or not known. */
struct sched_work {
    int32_t tile;  /* query tile within its head */
    int32_t head;  /* among all B*H heads */
    int32_t split; /* share of the keys */
    int32_t steps; /* K/V tiles that it walks */
};

struct sched_block {
    int64_t index; /* in its pass, x fastest */
    int32_t pass, row, lane, wave;
    bool part;      /* of the block of that index, which another row has begun; of stamps */
    int32_t course; /* what it does when, of whoever knows it; -1: nobody */
    struct sched_work work;
    double begin_us, end_us; /* from the begin of the first block; of the model on its own scale */
};

struct schedule {
    const char
        *unit; /* what a row is: "SM", or "thread" of the CPU backend; "GPU" of a ring's steps */
    const char *origin; /* "model"; of stamps, what the rows of their backend say */
    int rows, lanes;    /* rows of the device, slots of a row in the main pass */
    int npasses;
    char passes[DESC_PASSES_MAX][32]; /* their names; "" where unknown */
    struct sched_block *blocks;       /* by pass and number; owned */
    int64_t nblocks;
    double span_us;
    double
        block_us; /* the model's unit: its longest block alone on a row, main pass; 0: stamps, times
                        are us */
    int64_t tile_rows; /* queries of a tile of the main pass; 0: not known */
    bool bound;        /* the model's registers are unknown: at most so many slots */
};

struct sched_summary {
    int64_t blocks, slots; /* of the main pass */
    double waves;          /* blocks over slots */
    double span_us;        /* NaN for the model */
    double span_blocks;    /* the whole in block_us; NaN for stamps */
    double busy_pct;       /* of the rows' time, with at least one block on the row */
    double fill_pct;       /* of the slots' time, with blocks of the main pass */
    double tail_pct;  /* of the span: from the last wave's first idle slot to the end of the pass */
    double imbalance; /* longest block over the mean of its pass */
    int64_t parts;    /* of blocks, which other rows have begun */
};

/* Query tiles, heads and splits of a grid, read off its x side and the parameters BR, BC, SPLITS. */
struct sched_map {
    enum { MAP_TILE, MAP_HEAD, MAP_SPLIT, MAP_EVEN } kind;
    int64_t gx, br, bc, splits;
    const struct shape *shape; /* borrowed */
};
struct sched_map sched_map(const struct kernel_desc *d, const struct param_values *v,
                           const struct shape *s, int pass, int64_t gx);
/* Block number `index` of that grid. */
struct sched_work sched_work(const struct sched_map *m, int64_t index);

/* Puts blocks on `rows` rows of `lanes` slots each, in order: first level by level, then wherever a
 * block ends, of several places the row with the fewest. work[i] is how long block i takes with a row
 * to itself; r blocks on a row each go on at min(1/r, alone) of that. Fills row, lane, begin and end
 * of out[0..n); the first begins at `start`. Returns when the last one ends. */
double sched_share(const double *work, int64_t n, int rows, int lanes, double alone, double start,
                   struct sched_block *out);

/* From a plan that can launch. ST_NO with a sentence when there is nothing to draw. Cleared by the
 * caller whatever the status. */
enum status sched_model(const struct plan *p, struct schedule *out, struct err *why);

/* Numbers the lanes and waves of blocks whose pass, index, row and times are set, fills in what
 * they work on, and moves the first begin to 0. For stamps. */
void sched_arrange(struct schedule *s, const struct kernel_desc *d, const struct param_values *v,
                   const struct shape *shape);

/* From the stamps of a worker, see backend/trace.h. ST_FAIL when they make no sense. `note` receives
 * what should be known beside the picture, or NULL; the caller frees it. */
enum status sched_from_stamps(const json_t *stamps, const struct kernel_desc *d,
                              const struct param_values *v, const struct shape *shape,
                              struct schedule *out, char **note, struct err *err);
/* The blocks as an array of objects: pass, block, tile, head, split, kv_tiles, row, lane, wave,
 * begin_us, end_us (null for the model), begin_blocks, end_blocks (null for stamps), course (null: what it does when is not
 * known). */
json_t *sched_blocks_json(const struct schedule *s);

void sched_clear(struct schedule *s);
struct sched_summary sched_summarise(const struct schedule *s);

#endif
