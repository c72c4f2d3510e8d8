/* nodes.h - a ring whose GPUs are in several machines: who asks, and what both sides must agree on.
 *
 * Every node has a process of its own, `attnscope --rank`, over ssh or, of this machine, beside this one: a struct
 * backend of some of the ring's ranks (serve_rank.c). They carry data among each other by NCCL; what is to be done they
 * are asked here, all the same at a time, over the wire of every worker. So whoever dies, or does not come, is seen here,
 * whatever the others wait for: then all connections are closed, and with its connection each of them ends.
 *
 * This side has no GPU, and needs none. It makes the inputs, as every node does by itself from the same seed, puts their
 * rows of the output together and takes the slowest one's time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_NODES_H
#define ATTNSCOPE_JOB_NODES_H

#include "backend/backend.h"
#include "backend/ring_args.h"
#include "job/remote.h"

/* Its options have `nodes`, and gpus is of all together. */
extern const struct backend_ops backend_nodes;

/* What a request says of them: "here|box me@gpu.lab /opt/attnscope", of each a name, ssh's destination, where it is
 * another than the name, and the command there. ST_USAGE: that makes no sense. The places are cleared by the caller; of
 * "here" all but the name are NULL. */
enum { NODES_MAX = BACKEND_GPUS_MAX };
enum status nodes_parse(const char *text, struct remote out[NODES_MAX], int *count,
                        struct err *err);

/* Calls for every row of the output, or of the LSE, that these GPUs of a ring end with, in one order: where it begins in
 * the whole, where among theirs, in bytes. Returns the bytes of all. */
struct nodes_rows {
    const struct ring *ring;
    int begin, n; /* GPUs */
    bool lse;
};
size_t nodes_each_row(const struct nodes_rows *x, ring_row_fn *f, void *ctx);

/* Texts of bytes, four characters for three; the caller frees. NULL: it is none, or not `len` bytes. */
char *nodes_to_text(const void *data, size_t len);
void *nodes_from_text(const char *text, size_t len);
enum { NODES_CHUNK = 6 << 20 }; /* bytes of an output in a frame */

#endif
