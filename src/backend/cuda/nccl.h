/* nccl.h - NVIDIA's library that moves data between GPUs, opened at run time.
 *
 * One process drives all GPUs of a host, with a communicator for each; sends and receives of all of them are put into
 * streams as one group, so that none waits for a call that is yet to come. Of several hosts each has such a process. Only what we call is declared here, from
 * the documented interface of NCCL 2.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_NCCL_H
#define ATTNSCOPE_BACKEND_CUDA_NCCL_H

#include "backend/cuda/gpu.h"

struct nccl; /* an opened library with communicators */

/* A copy from a GPU of a group to another, both by number. */
struct nccl_send {
    int from, to;
    cu_pointer src, dst;
    size_t bytes;
};

/* Of different GPUs, one communicator each, in that order; `devices` as the driver counts them. ST_NO: the library is
 * not here, or refuses; the sentence says why. */
enum status nccl_open(const int *devices, int n, struct nccl **out, struct err *err);

/* Several processes, each with some of the ranks: one makes an id, all join by it. */
enum { NCCL_ID_BYTES = 128 };
struct nccl_id {
    char bytes[NCCL_ID_BYTES];
};
/* `version`: "2.28.3", of the library here, alone where `out` is NULL. */
enum status nccl_make_id(struct nccl_id *out, char *version, size_t size, struct err *err);
/* Ranks begin .. begin + n - 1 of `count`; enter(ctx, i) makes rank i's GPU the current one. Returns when all processes
 * have joined, which may be never: who is waited for must be watched by somebody else. */
enum status nccl_join(const struct nccl_id *id, int count, int begin, int n,
                      void (*enter)(void *ctx, int rank), void *ctx, struct nccl **out,
                      struct err *err);
/* Not usable: a GPU is lost, and nothing is called any more. */
void nccl_close(struct nccl *x, bool usable);
/* "2.28.3" */
const char *nccl_version(const struct nccl *x);
/* Queues all of them: each send into streams[from], its receive into streams[to]; of ranks of this process alone. */
enum status nccl_queue(struct nccl *x, const struct nccl_send *sends, int n,
                       const cu_stream *streams, struct err *err);
/* What has gone wrong since, by itself: a peer or a link lost. ST_OK: nothing that it knows of. */
enum status nccl_healthy(struct nccl *x, struct err *err);

#endif
