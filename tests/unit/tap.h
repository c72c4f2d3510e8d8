/* tap.h - runs CUnit tests and reports them as TAP, one line a test, for automake's driver.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_TAP_H
#define ATTNSCOPE_TESTS_TAP_H

#include <CUnit/CUnit.h>
#include <stddef.h>

struct tap_test {
    const char *name;
    void (*run)(void);
};

/* Runs all tests of one suite and prints TAP. Returns 0 even after `not ok`: the driver counts
 * those, and a non-zero status would be counted as one more error. */
int tap_run(const char *suite, const struct tap_test *tests, size_t n);

/* The whole suite cannot run here: prints the plan line with the reason and returns 0. */
int tap_skip_all(const char *reason);

/* Kills one process. A number that is none's, such as 0 of a worker that is not there, fails the test instead: to kill(2) it
 * is the whole group of processes. */
void tap_kill(int pid, int sig);

/* int main that runs the array TESTS. */
#define TAP_MAIN(suite, tests)                                      \
    int main(void)                                                  \
    {                                                               \
        return tap_run(suite, tests, sizeof tests / sizeof *tests); \
    }

#endif
