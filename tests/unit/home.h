/* home.h - tests of verbs and lessons in a home of their own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_HOME_H
#define ATTNSCOPE_TESTS_HOME_H

#include <stdbool.h>

#include "tap.h"

/* Runs the tests of `suite` with every verb registered and all XDG folders in a fresh one, which is
 * removed afterwards. `prepare`, NULL or called with it first, says whether they can run. Returns what
 * main() is to return. */
int home_run(const char *suite, bool (*prepare)(const char *folder), const struct tap_test *tests,
             size_t n);

/* Writes a file of the data folder, "ceilings/x.json", whose folder is there; a failed assertion where it cannot. */
void home_write(const char *name, const char *text);

/* int main that runs the array TESTS so. */
#define HOME_MAIN(suite, tests)                                            \
    int main(void)                                                         \
    {                                                                      \
        return home_run(suite, NULL, tests, sizeof tests / sizeof *tests); \
    }

#endif
