/* memrun.h - attnscope's app in this process, on a terminal in memory: opened, typed at, looked at.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_MEMRUN_H
#define ATTNSCOPE_TESTS_MEMRUN_H

#include "memtty.h"
#include "tap.h"
#include "tui/app/app.h"

extern struct app app;
extern struct tty *tty;
extern struct session *session;

void open_app(int w, int h);
void close_app(void);
void press(int key);          /* and the frame behind it */
void type(const char *text);  /* '\r' is Enter */
char *screen(void);           /* what is shown; the caller frees it */
bool shows(const char *text); /* prints the screen when it has not */
bool hides(const char *text);
/* Runs the tests in a fresh home. */
int mem_tests_main(const char *suite, const struct tap_test *tests, int n);

/* Are the screens those of tests/tui/FILE? With $UPDATE_GOLDEN the file becomes them. */
struct str;
void mem_golden(const char *file, const struct str *is);

#endif
