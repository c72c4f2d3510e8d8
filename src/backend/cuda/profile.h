/* profile.h - hardware counters of one run of a kernel.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_PROFILE_H
#define ATTNSCOPE_BACKEND_CUDA_PROFILE_H

#include "backend/cuda/flush.h"
#include "backend/cuda/slot.h"

/* Counts into the object `out`; see struct backend_ops. `cold`: every replay finds cold caches. */
enum status slot_profile(struct slot *s, struct flush *flush, bool cold, json_t *out,
                         struct err *err);

#endif
