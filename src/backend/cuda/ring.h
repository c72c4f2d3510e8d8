/* ring.h - a run that several GPUs share: the events of plan/ring.h played on real ones.
 *
 * Stands behind a slot as a library does (struct cuda_peer): the kernel is ours, but memory, streams and launches are
 * those of ranks.h. The order of events is the order in which the host queues them; what has to be waited for, streams
 * wait for by themselves.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_RING_H
#define ATTNSCOPE_BACKEND_CUDA_RING_H

#include "backend/cuda/ranks.h"
#include "backend/cuda/slot.h"

/* *slot->opened is the struct ranks. */
extern const struct cuda_peer cuda_ring;
/* When each GPU was at which step, by its own events, whose begin is the sample's: as backend_ops.trace. */
enum status ring_trace(struct slot *s, const struct trace_watch *watch, struct block_trace *out,
                       struct err *err);

#endif
