/* roles.h - a simulated block's warpgroups as a picture. Verb and screen share it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_ROLES_H
#define ATTNSCOPE_COMMAND_ROLES_H

#include "command/show/timeline.h"
#include "draw/roles.h"

/* `columns` of the drawing area say how much of the block is worth showing: all of it where that is less. NULL: of this block, or of one
 * that stands for it, no such thing is known (its kernel has no warpgroups that multiply). The caller owns it. */
struct chart *roles_chart(const struct timeline *t, const struct sched_block *b, int columns);

#endif
