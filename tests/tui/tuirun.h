/* tuirun.h - runs attnscope's full screen on a pseudo-terminal, in a home of its own; what the
 * tests of this folder share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_TUIRUN_H
#define ATTNSCOPE_TESTS_TUIRUN_H

#include "base/sanitized.h"
#include "ptyrun.h"
#include "tap.h"

#if SANITIZED
#define SLOW     5              /* sanitized programs take longer and more memory */
#define LONG_RUN ":set S=512\r" /* a shape that takes seconds to time */
#else
#define SLOW     1
#define LONG_RUN ":set S=2k\r"
#endif

enum { QUIET = 60, START_MS = 5000 * SLOW, RUN_MS = 40000 * SLOW };

/* $ATTNSCOPE, and the folder for its XDG folders. */
extern const char *tui_program;
extern char tui_home[];

/* Runs the tests in a fresh home, or with a number only that one; main() of a test program. Skips
 * when $ATTNSCOPE names no program. */
int tui_tests_main(const char *suite, const struct tap_test *tests, int n, int argc, char **argv);
/* Starts the program with more arguments and environment (both NULL-terminated, may be NULL). */
struct pty *tui_start_with(int w, int h, const char *const *args, const char *const *env);
/* Starts it and waits for the first screen. */
struct pty *tui_start(int w, int h);
/* Prints the screen as comments. */
void tui_show(struct pty *p, const char *why);
/* Waits for text; fails and shows the screen when it does not come, and also when it stood there before
 * the keys that were sent: then nothing is waited for. */
bool tui_expect(struct pty *p, const char *text, int ms);
/* Presses q; the program must end with status 0. Frees p. */
void tui_quit(struct pty *p);
/* The terminal is as before: screen, cursor, modes. */
void tui_expect_restored(struct pty *p);
/* No process is left; tui_tests_main() made this one a subreaper. */
void tui_expect_no_orphans(void);
/* A file of /proc/PID. */
bool tui_read_proc(pid_t pid, const char *file, char *buf, size_t size);

#endif
