/* loads.h - what launches ask of GPUs, as this session has worked it out: auto looks at the same few hundred, of the shapes that were
 * timed, whatever shape it is asked about.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_LOADS_H
#define ATTNSCOPE_COMMAND_LOADS_H

#include "kernel/descriptor.h"
#include "plan/nearby.h"

struct loads;

struct loads *loads_new(void);
void loads_free(struct loads *l); /* NULL is fine */

/* Which launch: of the kernel's source as it is now, with its own parameters ("BR=64@BC=64"; NULL: the defaults), at a shape, on a GPU. */
struct loads_key {
    uint64_t half[2];
};
struct loads_key loads_key(const struct kernel_desc *d, const char *own, const struct shape *at,
                           const struct device *gpu);
/* Is it known? Then *can says whether it can be launched there, and only then is *out filled. */
bool loads_find(const struct loads *l, const struct loads_key *key, bool *can,
                struct nearby_load *out);
/* load NULL: it cannot be launched. */
void loads_keep(struct loads *l, const struct loads_key *key, const struct nearby_load *load);

#endif
