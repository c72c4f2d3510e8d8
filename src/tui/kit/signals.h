/* signals.h - signals as events for the loop, and the terminal given back whatever happens.
 *
 * Process-wide by nature, hence the statics in signals.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SIGNALS_H
#define ATTNSCOPE_TUI_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

/* Call before curses starts: it leaves handlers alone that it finds in place. */
void signals_install(void);
void signals_remove(void);
/* Readable when a signal arrived: INT TERM HUP QUIT WINCH TSTP CONT. */
int signals_fd(void);
/* The next one, 0 when there is none. Repeated signals may come once. */
int signals_next(void);

/* From now on, every other signal that ends a program (SEGV, ABRT, USR1, ALRM, XCPU ...), fatal() and restore_now() write `leave` to `fd` and
 * put back the terminal modes of the moment when restore_save_modes() was called. */
void restore_save_modes(int fd);
void restore_arm(const char *leave, size_t len);
void restore_disarm(void);
/* Puts back those modes now, without waiting for the terminal. */
void restore_modes(void);
/* Async-signal-safe; does nothing when not armed, and nothing the second time. */
void restore_now(void);

#endif
