/* test_compile.c - screens draw bounds, compile in the background, and then draw what is so; a compiler
 * that hangs stops nobody. The compiler is the fake one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuirun.h"

/* The first screen, with this script for the compiler. */
static struct pty *start(int w, int h, const char *script)
{
    char library[512], fake[200];
    const char *folder = getenv("ATTNSCOPE_FAKECUDA");
    snprintf(library, sizeof library, "ATTNSCOPE_LIBNVRTC=%s/fakecuda.so", folder ? folder : "");
    snprintf(fake, sizeof fake, "FAKECUDA=%s", script);
    const char *const env[] = {library, fake, "ATTNSCOPE_COMPILE=on", NULL};
    struct pty *p = tui_start_with(w, h, NULL, env);
    CU_ASSERT_TRUE_FATAL(tui_expect(p, "fa2", START_MS));
    pty_settle(p, QUIET, 2000 * SLOW);
    return p;
}

static void bound_then_compiled(void)
{
    struct pty *p = start(80, 24, "regs=200");
    pty_send(p, ":set gpu=H100 S=64 BR=32\r");
    CU_ASSERT_TRUE(tui_expect(p, "regs/thread 200 nvrtc", RUN_MS));
    CU_ASSERT_TRUE(tui_expect(p, "Occupancy  4 blocks/SM", START_MS)); /* and no bound: "<=7" */
    CU_ASSERT_TRUE(tui_expect(p, "regs 4 <==", START_MS));
    pty_send(p, ":set D=128\r"); /* another code */
    CU_ASSERT_TRUE(tui_expect(p, "D             128", RUN_MS));
    CU_ASSERT_TRUE(tui_expect(p, "Occupancy  4 blocks/SM, 8 of 64 warps", RUN_MS));
    CU_ASSERT_TRUE(tui_expect(p, "regs/thread 200 nvrtc", RUN_MS));
    tui_quit(p);
}

static void map_is_compiled(void)
{
    struct pty *p = start(100, 30, "regs=200");
    pty_send(p, "3");
    CU_ASSERT_TRUE(tui_expect(p, "occupancy_pct", START_MS));
    pty_send(p, ":set gpu=A100 S=64\r");
    CU_ASSERT_TRUE(tui_expect(p, "MODEL A100", START_MS));
    CU_ASSERT_TRUE(pty_wait_gone(p, "<=", RUN_MS)); /* all cells are known */
    CU_ASSERT_TRUE(pty_wait_gone(p, "compiling", RUN_MS));
    CU_ASSERT_TRUE(pty_wait_gone(p, "only bounded", START_MS));
    tui_quit(p);
}

/* The keys answer, the kernel is measured, and nothing is left behind. */
static void it_hangs(void)
{
    struct pty *p = start(80, 24, "nvrtcCompileProgram:1=hang");
    pty_send(p, ":set gpu=H100 S=32 H=1 BR=48\r");
    CU_ASSERT_TRUE(tui_expect(p, "regs/thread compiling", START_MS));
    CU_ASSERT_TRUE(tui_expect(p, "Occupancy  <=", START_MS));
    pty_send(p, "2");
    CU_ASSERT_TRUE(tui_expect(p, "Ranking by time", START_MS));
    pty_send(p, "1");
    CU_ASSERT_TRUE(tui_expect(p, "PASS", RUN_MS)); /* measured all the same */
    pty_send(p, ":set BR=64\r"); /* the table has it: the other is not wanted any more */
    CU_ASSERT_TRUE(tui_expect(p, "regs/thread 128 table", START_MS));
    tui_quit(p);
    tui_expect_no_orphans();
}

static void a_command_waits(void)
{
    struct pty *p = start(100, 30, "nvrtcCompileProgram:1=hang");
    pty_send(p, ":set S=32 H=1 backend=cpu\r");
    CU_ASSERT_TRUE(tui_expect(p, "PASS", RUN_MS));
    pty_settle(p, 500, 20000 * SLOW); /* nothing is timed any more */
    pty_send(p, ":plan fa2 BR=80 gpu=H100 only=occupancy\r");
    CU_ASSERT_TRUE(tui_expect(p, "compiling fa2, 1 of 1", START_MS));
    pty_send(p, "\003");
    CU_ASSERT_TRUE(tui_expect(p, "occupancy  at most", START_MS));
    pty_send(p, "\033");
    tui_quit(p);
    tui_expect_no_orphans();
}

/* What a step's figure needs is compiled while its answer is taken, and not when the screen is drawn, which a
 * compilation draws again. On the way there: of a line of the source that is cut the whole is shown. */
static void figure_is_compiled(void)
{
    struct pty *p = start(80, 24, "regs=64");
    pty_send(p, ":set S=32 H=1 backend=cpu\r");
    CU_ASSERT_TRUE(tui_expect(p, "PASS", RUN_MS));
    pty_settle(p, 500, 20000 * SLOW); /* nothing is timed any more */
    pty_send(p, ":lesson causal\r");
    CU_ASSERT_TRUE(tui_expect(p, "to the lines of the source", START_MS));
    pty_send(p, "\r");
    CU_ASSERT_TRUE(tui_expect(p, "const int n_keys", START_MS));
    pty_send(p, "jjj");
    CU_ASSERT_TRUE(tui_expect(p, "2^(x log2 e)", START_MS));
    pty_send(p, "k\r");
    CU_ASSERT_TRUE(tui_expect(p, "How many of the 256 tiles", START_MS));
    pty_send(p, "\r136\r");
    CU_ASSERT_TRUE(tui_expect(p, "run it", START_MS));
    pty_send(p, "\r");
    CU_ASSERT_TRUE(tui_expect(p, "$ plan fa2 causal", RUN_MS));
    pty_send(p, "\r");
    CU_ASSERT_TRUE(tui_expect(p, "You said 136", RUN_MS));
    pty_send(p, "G");
    CU_ASSERT_TRUE(tui_expect(p, "16 blocks, 48 slots (3 an SM)", RUN_MS)); /* not "<=48" */
    tui_quit(p);
}

static const struct tap_test tests[] = {
    {"a bound becomes what was compiled", bound_then_compiled},
    {"so does every cell of a map", map_is_compiled},
    {"a compiler that hangs", it_hangs},
    {"a typed command waits, until Ctrl-C", a_command_waits},
    {"a figure of a lesson is compiled before it is drawn", figure_is_compiled},
};

int main(int argc, char **argv)
{
    return tui_tests_main("compile", tests, sizeof tests / sizeof *tests, argc, argv);
}
