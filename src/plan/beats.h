/* beats.h - what a simulated block's warpgroups did beside each other (sim/exec/pace.h), with the names of the kernel's buffers and
 * mbarriers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_BEATS_H
#define ATTNSCOPE_PLAN_BEATS_H

#include "plan/predict_course.h"

/* Gives courses of the main pass that have such beats in `passes` theirs: an array of {what, warpgroup, name, parity (of an mbarrier),
 * bytes (of a copy), from_cycles, to_cycles}. */
void beats_read(const json_t *passes, const struct plan *p, struct courses *out);

#endif
