/* seat.h - what a kernel of a ring has on one of its GPUs: code, memory, launches with their arguments, events.
 *
 * All of it is made when the kernel is loaded, so that a sample does nothing but queue.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_SEAT_H
#define ATTNSCOPE_BACKEND_CUDA_SEAT_H

#include "backend/cuda/ranks.h"
#include "backend/cuda/slot.h"
#include "backend/ring_args.h"

/* The kernel on a chunk of queries and one of keys, and the merge behind it. */
struct meeting {
    struct ring_meeting at;
    struct plan plan;
    struct PagedArgs args;                      /* without pages */
    struct cu_tensor_map (*maps)[DESC_TMA_MAX]; /* of each pass; NULL: none has any */
};
struct fusion {
    struct ring_merge_args args;
    unsigned blocks;
};

enum { SEAT_MEETINGS_MAX = RING_GPUS_MAX * RING_MINE_MAX * RING_MINE_MAX };

struct seat {
    struct slot *
        code; /* the module and its functions on this GPU: the slot's own, or one that `owns` says is ours */
    bool owns;
    cu_module merge_code;
    cu_function merge;
    struct ring_memory at;
    int64_t ws_bytes
        [DESC_WS_MAX]; /* of workspaces, but those that calls find as the one before left them */
    cu_pointer outputs, lses;                   /* guard, tensor, guard */
    struct meeting meetings[SEAT_MEETINGS_MAX]; /* in the order of steps */
    int count;
    struct fusion fusions
        [SEAT_MEETINGS_MAX]; /* one behind each meeting; or, gathering, GPU 0's, one for each part */
    cu_event begin, end;     /* of a sample, by this GPU's clock */
    cu_event sent;           /* all that it sends to other machines */
    cu_event began[RING_GPUS_MAX], computed[RING_GPUS_MAX]; /* of each step */
    cu_event left[RING_GPUS_MAX],
        arrived[RING_GPUS_MAX]; /* of what it sends in each exchange, where it is carried */
};

/* Bytes of the largest workspaces that any meeting of any GPU needs. */
enum status seat_workspaces(const struct slot *s, const struct ring *r, int64_t bytes[DESC_WS_MAX],
                            struct err *err);
/* Everything of GPU i. seat_free() whatever the status. */
enum status seat_make(struct seat *seats, int i, struct slot *s, struct ranks *ranks,
                      const struct ring *r, const struct param_values *v,
                      const int64_t ws[DESC_WS_MAX], struct err *err);
/* Events of what GPU i sends, where they are recorded here; of a GPU of another machine, too. */
enum status seat_watch_sends(struct seat *seats, int i, const struct slot *s, struct ranks *ranks,
                             const struct ring *r, struct err *err);
void seat_free(struct seat *seats, int i, struct ranks *ranks);

/* Queues what it computes in a step; `lse`: the output's LSE is wanted, too. */
enum status seat_compute(struct seat *x, int i, struct ranks *ranks, const struct ring *r, int step,
                         bool lse, struct err *err);
/* Queues the merge of all parts that were gathered. */
enum status seat_combine(struct seat *x, int i, struct ranks *ranks, const struct ring *r, bool lse,
                         struct err *err);
/* Launches and fills that seat_compute() queues for all steps. */
int seat_commands(const struct seat *x);

#endif
