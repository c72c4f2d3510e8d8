/* clock.h - time that only grows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_CLOCK_H
#define ATTNSCOPE_BASE_CLOCK_H

/* Seconds since some moment in the past, whatever is done to the wall clock. */
double seconds_now(void);

#endif
