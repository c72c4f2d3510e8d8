/* timer.h - samples: events around launches, with the host's launch cost kept out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_TIMER_H
#define ATTNSCOPE_BACKEND_CUDA_TIMER_H

#include "backend/cuda/flush.h"
#include "backend/cuda/slot.h"

struct timer {
    enum launch_kind launch;
    bool cold; /* the next sample is to find cold caches */
    cu_event begin, end, fork, joins[CUDA_STREAMS_MAX];
    uint32_t *gate; /* streams wait until the host writes `turn` here; NULL: no such thing */
    uint32_t turn;
};
enum status timer_open(struct gpu *g, struct timer *t, struct err *err);
void timer_close(struct gpu *g, struct timer *t);
/* `repeat` back-to-back runs in every stream, seconds per run; a flush before them where `cold` was set. */
enum status timer_sample(struct timer *t, struct slot *s, struct flush *flush, int repeat,
                         double *seconds, double *clock_mhz, struct err *err);

#endif
