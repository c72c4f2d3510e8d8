/* shares.h - what each GPU of a ring is given, and what becomes of it: pieces of inputs put there, outputs put together,
 * rows looked at.
 *
 * The inputs stay with the host, whole, since they may be too large for one GPU. So every turn's pieces come from there,
 * and what lies on a GPU after a run is held against what should lie there: its own queries, and the keys that came by.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_SHARES_H
#define ATTNSCOPE_BACKEND_CUDA_SHARES_H

#include "backend/cuda/seat.h"

struct shares {
    struct ranks *ranks; /* as the next three: borrowed */
    const struct ring *ring;
    struct seat *seats;
    const char *kernel;
    unsigned char *piece, *back; /* room for the largest piece of any GPU, with guards */
    uint64_t chance;             /* state of the random numbers behind rows that are looked at */
    int looked;                  /* samples */
};

enum status shares_make(struct shares *x, struct ranks *ranks, const struct ring *ring,
                        struct seat *seats, const char *kernel, struct err *err);
void shares_clear(struct shares *x);

/* Puts the pieces of a turn into place, poisons the outputs and what is yet to come by, and waits for all of it. */
enum status shares_put(struct shares *x, uint64_t turn, struct err *err);
/* Everything else that must be written before it is read: parts, answers, guards. */
enum status shares_poison(struct shares *x, struct err *err);
/* Are the queries, and the keys of the last two steps, what the plan says? ST_FAIL: a kernel overwrote them, or a send
 * brought others. */
enum status shares_intact(struct shares *x, uint64_t turn, struct err *err);
/* A row of every GPU's output, any, against a plain evaluation; `all`: guards, too, and however large. */
enum status shares_look(struct shares *x, uint64_t turn, bool all, struct err *err);
/* The whole output, or LSE, with guards; a GPU's that are broken stand for all. */
enum status shares_gather(struct shares *x, bool lse, void *dst, struct err *err);

#endif
