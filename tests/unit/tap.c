/* tap.c - CUnit's results as TAP.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <CUnit/TestRun.h>
#include <signal.h>
#include <stdio.h>

static int tap_number;

static void print_failures(CU_pFailureRecord f)
{
    for (; f; f = f->pNext)
        printf("# %s:%u: %s\n", f->strFileName ? f->strFileName : "?", f->uiLineNumber,
               f->strCondition ? f->strCondition : "?");
}

static void on_test_done(const CU_pTest test, const CU_pSuite suite, CU_pFailureRecord failures)
{
    (void)suite;
    printf("%s %d - %s\n", failures ? "not ok" : "ok", ++tap_number, test->pName);
    print_failures(failures);
    fflush(stdout);
}

static void on_suite_init_failed(const CU_pSuite suite)
{
    printf("not ok %d - set-up of %s\n", ++tap_number, suite->pName);
}

int tap_run(const char *suite, const struct tap_test *tests, size_t n)
{
    printf("1..%zu\n", n);
    fflush(stdout);
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite s = CU_add_suite(suite, NULL, NULL);
    for (size_t i = 0; s && i < n; i++)
        CU_add_test(s, tests[i].name, tests[i].run);
    CU_set_test_complete_handler(on_test_done);
    CU_set_suite_init_failure_handler(on_suite_init_failed);
    CU_run_all_tests();
    CU_cleanup_registry();
    return 0;
}

int tap_skip_all(const char *reason)
{
    printf("1..0 # SKIP %s\n", reason);
    return 0;
}

void tap_kill(int pid, int sig)
{
    CU_ASSERT_FATAL(pid > 1);
    CU_ASSERT_EQUAL(kill(pid, sig), 0);
}
