/* ranks.h - the GPUs that share a run, and what carries data from one to another.
 *
 * Each rank has a GPU, a stream that computes and one that copies, which goes first where both want the GPU. The same
 * GPU may be named more than once: ranks on it have memory and streams of their own, as if they were several.
 *
 * Data goes by NCCL where it is and all GPUs are different ones, else by copies of the driver.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_RANKS_H
#define ATTNSCOPE_BACKEND_CUDA_RANKS_H

#include "backend/cuda/flush.h"
#include "backend/cuda/inputs.h"
#include "backend/cuda/nccl.h"
#include "plan/ring.h"

struct rank {
    struct gpu gpu; /* streams[0] computes */
    cu_stream copies;
    struct flush flush;
};

/* Those of this process are begin .. end - 1 of `count`: all, unless GPUs of other machines share the run. The others'
 * are empty here; each process has all of the inputs, and plays its ranks' part of the plan. */
struct ranks {
    struct gpu *first; /* of the backend, borrowed: a rank that is lost spends it, too */
    int count, begin, end;
    struct rank rank[RING_GPUS_MAX];
    struct nccl *nccl; /* NULL: the driver copies */
    const char *
        carrier; /* "nccl"; "peer", "host", "local": copies from GPU to GPU, through the host, within one GPU */
    char *note; /* why it is not NCCL that carries, where it was wanted; or NULL */
    enum ring_shards shards;
    void *host[3]; /* Q, K and V of the problem, by enum tensor_id, for every turn's pieces */
    size_t bytes[3];
};

/* Opens GPUs by number: ranks `begin` and those behind it of `count`, which join by `id` where these are not all (NULL).
 * Close it whatever the status. */
struct ranks_asked {
    const int *devices;
    int n, begin, count;
    const struct nccl_id *id;
    enum transport_kind transport;
};
enum status ranks_open(struct ranks *r, struct gpu *first, const struct ranks_asked *asked,
                       struct err *err);
void ranks_close(struct ranks *r);
/* Keeps copies of the inputs here. */
enum status ranks_set_inputs(struct ranks *r, const struct tensors *host, struct err *err);

static inline bool rank_is_here(const struct ranks *r, int i)
{
    return i >= r->begin && i < r->end;
}
static inline bool ranks_are_all(const struct ranks *r)
{
    return r->end - r->begin == r->count;
}
/* Makes the driver's calls go to rank i's GPU from now on. */
struct gpu *rank_enter(struct ranks *r, int i);
/* As gpu_check(); the sentence says which of several GPUs it was. */
enum status rank_check(struct ranks *r, int i, const char *who, const char *call, cu_result result,
                       struct err *err);
enum status rank_alloc(struct ranks *r, int i, const char *what, size_t bytes, cu_pointer *out,
                       struct err *err);
void rank_release(struct ranks *r, int i, cu_pointer *p);

/* ---- sends ---- */

/* Whose copying stream carries what goes from one rank to another: what it needs has to be waited for there, and what is
 * recorded there behind it has arrived. */
int ranks_carrier(const struct ranks *r, int from, int to);
/* Queues them, side by side. */
enum status ranks_queue(struct ranks *r, const char *who, const struct nccl_send *sends, int n,
                        struct err *err);
/* Waits for everything in all streams; the first GPU that has failed ends it. */
enum status ranks_sync(struct ranks *r, const char *who, struct err *err);

/* "0,1,2,3": numbers as the driver counts them. */
void ranks_devices(const struct ranks *r, char *buf, size_t size);

#endif
