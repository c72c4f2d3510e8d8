/* serve_listing.h - a kernel's machine code as text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SERVE_LISTING_H
#define ATTNSCOPE_JOB_SERVE_LISTING_H

#include "job/launch.h"

/* JOB_LISTING, its extra, which the caller owns. */
json_t *launch_listing(struct launch *l);

#endif
