/* cuda_peer.h - other libraries' attention behind the CUDA backend's slots; not for others.
 *
 * A library that is loaded into the worker queues its work into our streams, so that poisoning,
 * checking, gates, graphs and events are those of our own kernels. What lives in Python has its own
 * process (python.h) and the same rules there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_PEER_H
#define ATTNSCOPE_BACKEND_CUDA_PEER_H

#include "backend/cuda/cuda_state.h"

struct cuda_peer {
    const char *name; /* as @peer says */
    /* Opens the library and prepares the slot: commands, version, peer_data. ST_NO when the library
     * is absent or refuses; the sentence begins with the kernel's name. Whatever it leaves in
     * peer_data after a failure goes to unload. */
    enum status (*load)(struct backend *b, struct slot *s, const struct param_values *v,
                        struct err *err);
    enum status (*queue)(struct backend *b, struct slot *s, int lane, struct err *err);
    void (*unload)(struct backend *b, struct slot *s);
    /* Frees what load has kept in the backend; not usable: the process is spent. */
    void (*close)(void *library, bool usable);
};
extern const struct cuda_peer cuda_peer_cublas, cuda_peer_cudnn;

/* Loads a slot whose descriptor has @peer: sets s->peer or s->python. */
enum status cuda_peer_load(struct backend *b, struct slot *s, const struct param_values *v,
                           struct err *err);
void cuda_peer_unload(struct backend *b, struct slot *s);
/* At the backend's end. */
void cuda_peer_close(struct backend *b);
/* One sample in the Python child. */
enum status cuda_peer_sample(struct backend *b, struct slot *s, int repeat, double *seconds,
                             struct err *err);

#endif
