/* flight.h - what a block has asked of the copy engine, and its wgmmas, until somebody waits for them.
 *
 * Bytes come when a thread asks the mbarrier that they were announced to, oldest first, and no more than its phase needs:
 * who does not wait finds what was there before. A wgmma is done when its warp waits for its group. So what is missing shows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_FLIGHT_H
#define ATTNSCOPE_SIM_EXEC_FLIGHT_H

#include "sim/exec/worker.h"
#include "sim/tensor_map.h"

struct bulk_flight {
    uint32_t code; /* in the program */
    uint16_t warp;
    uint8_t lane;
    bool loads;
    uint32_t shared, barrier; /* addresses in the memory of the cluster; no barrier of stores */
    uint32_t bytes;
    uint32_t group;  /* of a store; 0: not committed */
    uint32_t mark;   /* hazard_agent_mark() of a load */
    double lands;    /* pace_copy() of a load */
    uint64_t global; /* of plain bytes */
    int32_t at[TENSOR_MAP_RANK];
    struct tensor_map map; /* rank 0: plain bytes */
};

/* What is known of an mbarrier beside its 64 bits. */
struct flight_barrier {
    uint32_t addr;
    uint32_t expects; /* code that announced bytes last; UINT32_MAX: none */
    uint32_t warp;    /* of it */
    uint32_t fences;  /* `init_fences` when it was made */
    struct {
        uint32_t code, warp, lanes, clock; /* lanes 0: none; clock: of its agent */
    } sent;                                /* the last stores that it counts, of another block */
};

enum { BULK_FLIGHTS = 512, FLIGHT_BARRIERS = 256 };
struct flight {
    uint32_t copies, barriers;
    uint32_t init_fences;                  /* fence.mbarrier_init and fence.proxy.async so far */
    struct bulk_flight copy[BULK_FLIGHTS]; /* in order of issue */
    struct flight_barrier barrier[FLIGHT_BARRIERS];
};

/* Warps of agents that the hazard detector has for them: one for each warp of a kernel with wgmma, and two for the copy engine
 * and for stores that an mbarrier counts, a lane for each of the first 64 mbarriers. */
uint32_t flight_agents(const struct sim_program *p, const struct sim_launch *l);
void flight_begin(struct block *b);
/* Lets the copies for an mbarrier come, until its phase of this parity ends or there are no more. */
void flight_land(struct block *b, uint32_t barrier, uint32_t parity);
/* All of a block that has ended: copies that nobody waited for are told, and what its warpgroups did not do alike. */
void flight_end(struct block *b);

/* bulk.c */
struct flight_barrier *flight_barrier(struct flight *f, uint32_t addr);
void warp_bulk_copy(struct warp *w, const struct code *c, uint32_t m);
void warp_bulk_commit(struct warp *w, uint32_t m);
void warp_bulk_wait(struct warp *w, const struct code *c, uint32_t m);
void warp_proxy_fence(struct warp *w, const struct code *c, uint32_t m);

/* Where a thread's address in shared memory lies in that of the cluster; false: `bytes` are in no block's. */
bool cluster_place(const struct warp *w, uint32_t addr, uint32_t bytes, uint32_t *at);

/* send.c */
void warp_send(struct warp *w, const struct code *c, uint32_t m);
/* The hazard detector's name of who writes what is announced to an mbarrier: a warp, and a lane of it. */
uint32_t flight_agent(const struct block *b, uint32_t barrier, uint32_t *lane);

/* wgmma_run.c */
void warp_wgmma(struct warp *w, const struct code *c, uint32_t m);
void warp_wgmma_commit(struct warp *w, const struct code *c, uint32_t m);
void warp_wgmma_wait(struct warp *w, const struct code *c, uint32_t m);
void warp_wgmma_touch(struct warp *w, const struct code *c, uint32_t m);
void warp_setmaxnreg(struct warp *w, const struct code *c, uint32_t m);
void warpgroups_end(struct block *b);

#endif
