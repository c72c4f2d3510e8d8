/* deadly.h - signals that would end the program where it stands: crashes, limits, timers, numbers that mean
 * nothing to us. Who has the terminal gives it back first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_DEADLY_H
#define ATTNSCOPE_BASE_DEADLY_H

/* From now on `last` is called for every signal whose default is the end of a program, and then it ends by that
 * signal. Not for those in `except` (0 ends the list), which somebody else catches, nor for those that are
 * ignored. `last` may call only what a signal handler may; it runs on a stack of its own. One at a time. */
void deadly_catch(void (*last)(void), const int *except);
/* All of them as a fresh program has them. */
void deadly_release(void);

#endif
