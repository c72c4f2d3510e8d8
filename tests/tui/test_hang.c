/* test_hang.c - the full screen while the driver misbehaves: it answers keys all the time, and shows
 * the sentence in the end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "tuirun.h"

/* One fault on the fake driver, in a kernel that is started from the screen. */
static void answers_during(const char *fault, const char *sentence)
{
    char cuda[600], nvrtc[600], script[200];
    const char *folder = getenv("ATTNSCOPE_FAKECUDA");
    snprintf(cuda, sizeof cuda, "ATTNSCOPE_LIBCUDA=%s/fakecuda.so", folder ? folder : "");
    snprintf(nvrtc, sizeof nvrtc, "ATTNSCOPE_LIBNVRTC=%s/fakecuda.so", folder ? folder : "");
    snprintf(script, sizeof script, "FAKECUDA=%s", fault);
    const char *const env[] = {cuda, nvrtc, script, NULL};
    struct pty *p = tui_start_with(100, 30, NULL, env);
    CU_ASSERT_TRUE_FATAL(tui_expect(p, "fa2", START_MS));
    pty_settle(p, QUIET, 2000 * SLOW);
    pty_send(p, ":check naive S=16 timeout=3\r");
    double worst = 0;
    for (int i = 0; i < 5; i++) { /* keys are answered while it hangs */
        pty_settle(p, QUIET, 300);
        const double begin = pty_now();
        pty_forget(p);
        pty_send(p, "\x0c"); /* repaint */
        CU_ASSERT_TRUE(pty_read(p, 2000 * SLOW));
        worst = pty_now() - begin > worst ? pty_now() - begin : worst;
    }
    CU_ASSERT(worst < 0.5 * SLOW); /* far above the aim, for a busy machine */
    printf("# %s: the slowest answer took %.1f ms\n", fault, worst * 1e3);
    CU_ASSERT_TRUE(pty_wait(p, sentence, RUN_MS)); /* it may have come while keys were answered */
    pty_send(p, "q");
    pty_settle(p, QUIET, 1000);
    pty_send(p, "qq");
    CU_ASSERT_TRUE(pty_ended(p, 5000 * SLOW));
    pty_free(p);
    tui_expect_no_orphans();
}

static void hang(void)
{
    answers_during("cuLaunchKernel:1=hang", "no sign of life");
}

static void spin(void)
{
    answers_during("cuStreamSynchronize:1=spin", "no sign of life");
}

static void flood(void)
{
    answers_during("cuLaunchKernel:1=flood,cuStreamSynchronize:1=719", "launch failure");
}

static const struct tap_test tests[] = {
    {"a launch that hangs", hang},
    {"a driver that loops", spin},
    {"a flood of output, then a fault", flood},
};

int main(int argc, char **argv)
{
    if (!getenv("ATTNSCOPE_FAKECUDA"))
        return tap_skip_all("needs ATTNSCOPE_FAKECUDA, as make check sets it");
    return tui_tests_main("hang", tests, sizeof tests / sizeof *tests, argc, argv);
}
