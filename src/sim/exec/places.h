/* places.h - which blocks of a launch are under way, and who of them waits for others.
 *
 * A GPU has places for so many blocks at once (clusters: all blocks of one); the next block, in launch order, begins when one of
 * them has ended. The simulator runs a few at a time, one on each of its threads. A block that asks global memory in vain
 * (poll.h) is parked: it keeps its place, and another block begins on a thread of its own while there are places. So blocks may
 * wait for blocks, as many as a GPU has at once, whatever the number of threads.
 *
 * Nobody is left who could answer when all blocks under way are parked and have asked once more since any of them did something
 * else. Whether that happens does not hang on who ran first, as long as what is waited for stays once it is there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_PLACES_H
#define ATTNSCOPE_SIM_EXEC_PLACES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum places_end {
    PLACES_GO_ON,
    PLACES_NOBODY, /* all blocks that are left wait, and all have begun */
    PLACES_NONE,   /* all blocks that have a place on the GPU wait, and others have none */
    PLACES_MEMORY, /* the same, but it is this simulation that has no place for more */
};

struct places {
    pthread_mutex_t lock; /* of all but `worked` */
    pthread_cond_t called;
    uint64_t next, blocks, step;   /* the next to begin; of so many; blocks of a cluster */
    uint32_t taken, parked, fresh; /* clusters; fresh: parked, and asked since anybody worked */
    uint32_t most;     /* places; of the GPU, or of this simulation where that has fewer */
    uint32_t promised; /* taken for threads that are about to begin */
    bool of_gpu;
    uint64_t fresh_at; /* of `fresh` */
    uint64_t calls;    /* a new one: those who are parked ask again */
    enum places_end end;
    atomic_ullong worked; /* so often has a block done something, or ended */
    bool (*more)(
        void *ctx); /* starts a thread that takes blocks; false: it cannot. The lock is held */
    void *ctx;
};

/* `of_gpu` places that the GPU has, 0: not known; `room` of this simulation. In clusters. */
void places_open(struct places *p, uint64_t blocks, uint64_t step, uint64_t of_gpu, uint32_t room);
void places_close(struct places *p);
/* The next block, or the first of the next cluster, for a thread that `had` one until now. */
bool places_next(struct places *p, bool had, uint64_t *at);
/* A block has done something that others may wait for. */
void places_worked(struct places *p);
/* A block asks in vain, and has done so since `worked` was `since`: waits until it is to ask again, or *halt. */
enum places_end places_park(struct places *p, uint64_t since, const atomic_bool *halt);
/* All who are parked look up. */
void places_call(struct places *p);

#endif
