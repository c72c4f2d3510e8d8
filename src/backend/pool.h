/* pool.h - worker threads that run the blocks of a grid, as SMs do.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_POOL_H
#define ATTNSCOPE_BACKEND_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stamp; /* trace.h */

struct pool;
/* `threads` 0: one per CPU this process may use. The caller's thread is one of them. */
struct pool *pool_new(int threads);
void pool_free(struct pool *p);
int pool_threads(const struct pool *p);
/* Has a body left its thread rounding otherwise, or taking tiny numbers for 0, since this was last asked? The thread was put
 * back at once. */
bool pool_float_left(struct pool *p);

/* Runs body(ctx, block, thread) for every block 0..blocks-1, in dynamic order, and returns when
 * all are done: what a kernel launch is to a GPU. `thread` is 0..threads-1. */
typedef void pool_body(void *ctx, int64_t block, int thread);
void pool_run(struct pool *p, int64_t blocks, pool_body *body, void *ctx);

/* The same, where bodies may hand parts of what they do to threads that have found no block left: these wait until all blocks
 * are done. More threads than processors do not wait. */
void pool_run_lending(struct pool *p, int64_t blocks, pool_body *body, void *ctx);
/* For a body: a thread that waits, held until it is handed something; -1: none does. */
int pool_find_idle(struct pool *p);
/* It runs body(data, -1, thread); `data` is copied. The launch ends after it. */
enum { POOL_HAND_MAX = 384 };
void pool_hand(struct pool *p, int idle, pool_body *body, const void *data, size_t bytes);

/* Returns when every thread of the pool is awake, or soon: before a timed launch, whose time is not to
 * have their waking in it. */
void pool_rouse(struct pool *p);

/* Until the next call, or NULL: every block of every launch leaves a stamp, in the order of launches
 * and block numbers, while there is room; `count` goes on counting. What blocks of the first launch handed over leaves one in
 * `parts`, which holds the number of its block. */
struct pool_stamps {
    struct stamp *at; /* borrowed */
    int64_t room, count;
    int64_t launches[16]; /* blocks of the first launches */
    int nlaunches;
    struct stamp *parts; /* borrowed */
    int64_t parts_room;
    _Atomic int64_t nparts; /* may be more than there was room for */
};
/* For a body that takes blocks in another order: what its thread works on is block number `block` of the grid. */
void pool_name_block(int64_t block);
void pool_stamp(struct pool *p, struct pool_stamps *s);

/* While a launch lasts, the thread that asked for it calls progress(ctx) several times a second if blocks have ended since
 * it last did: what is at work for long is not hung. NULL: nobody is told. */
void pool_watch(struct pool *p, void (*progress)(void *ctx), void *ctx);

/* Scratch memory of one thread, at least `bytes`, 64-byte aligned; the "shared memory" of the
 * block it runs. Contents are undefined. Valid until the thread asks again. */
void *pool_scratch(struct pool *p, int thread, size_t bytes);

#endif
