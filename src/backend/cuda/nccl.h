/* nccl.h - NVIDIA's library that moves data between GPUs, opened at run time.
 *
 * One process drives all GPUs of a host, with a communicator for each; sends and receives of all of them are put into
 * streams as one group, so that none waits for a call that is yet to come. Only what we call is declared here, from
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
/* Not usable: a GPU is lost, and nothing is called any more. */
void nccl_close(struct nccl *x, bool usable);
/* "2.28.3" */
const char *nccl_version(const struct nccl *x);
/* Queues all of them: each send into streams[from], its receive into streams[to]. */
enum status nccl_queue(struct nccl *x, const struct nccl_send *sends, int n,
                       const cu_stream *streams, struct err *err);
/* What has gone wrong since, by itself: a peer or a link lost. ST_OK: nothing that it knows of. */
enum status nccl_healthy(struct nccl *x, struct err *err);

#endif
