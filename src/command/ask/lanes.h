/* lanes.h - a measured sweep on several machines: each has a lane of its own, in which its points follow each other,
 * and the lanes run beside each other, for what runs on one machine is in nobody's way on another.
 *
 * Hosts of one machine by several names share its lane. A lane whose machine is lost is given up, its points are told to
 * be missing, and the others go on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_LANES_H
#define ATTNSCOPE_COMMAND_LANES_H

#include "command/ask/sweep_walk.h"

/* As sweep_walk(), but the machines of the walk work beside each other, and where one breaks, the others go on. */
void lanes_walk(struct sweep_walk *k);

#endif
