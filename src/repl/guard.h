/* guard.h - the line reader's terminal, given back whatever ends the program: a crash, in readline too, a signal
 * that readline does not know, memory that runs out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_REPL_GUARD_H
#define ATTNSCOPE_REPL_GUARD_H

/* Catches what ends the program, once and until guard_close(). */
void guard_open(void);
void guard_close(void);
/* Around each line: the modes of standard input as they are now are those to put back. */
void guard_begin(void);
void guard_end(void);

#endif
