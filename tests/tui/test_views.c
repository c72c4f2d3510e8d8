/* test_views.c - the Timeline and Source screens on a pseudo-terminal, and what other screens take from the simulator.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuirun.h"

enum { WAIT = 3000 * SLOW };

static void press(struct pty *p, const char *key, const char *then)
{
    pty_send(p, key);
    tui_expect(p, then, WAIT);
}

/* Does the screen hold a byte above 127? */
static bool is_ascii(struct pty *p)
{
    for (const char *s = pty_text(p); *s; s++)
        if ((unsigned char)*s > 127)
            return false;
    return true;
}

/* Context switches that the program asked for itself, -1 if unknown. */
static long switches(struct pty *p)
{
    char buf[8192];
    const char *at =
        tui_read_proc(p->pid, "status", buf, sizeof buf) ? strstr(buf, "\nvoluntary_ctxt") : NULL;
    return at ? strtol(strchr(at, ':') + 1, NULL, 10) : -1;
}

static void test_timeline(void)
{
    struct pty *p = tui_start(80, 24);
    press(p, ":set gpu=H200\r", "H200");
    press(p, "5", "MODEL  H200");
    tui_expect(p, "128 blocks", WAIT);
    tui_expect(p, "A..P: the 16 query tiles in order", WAIT);
    tui_expect(p, "timeline fa2", WAIT);
    press(p, " ", "splitkv  MODEL"); /* below, on the same scale */
    tui_expect(p, "+ combine", WAIT);
    press(p, "v", "letters: head");                          /* of the upper one */
    press(p, "u", "MODEL  L4");                              /* undo reaches this screen too */
    press(p, "\022", "MODEL  H200");                         /* redo */
    press(p, ":set causal=yes\r", "longest/mean block 1.8"); /* half of the tiles, unevenly */
    pty_send(p, "\t");
    press(p, " ", "timeline splitkv");     /* alone again, the focused one */
    tui_expect(p, "median error", RUN_MS); /* simulated and predicted: its clock is there */
    CU_ASSERT(pty_wait_gone(p, "fa2  MODEL", WAIT));
    press(p, "x", "slots = SMs");
    press(p, "\033", "r takes real stamps");
    long before = switches(p);
    usleep(600000);
    CU_ASSERT(switches(p) - before <= 3); /* nothing ticks */
    tui_quit(p);
}

/* Stamps of the CPU's threads; a setting goes back to the model. */
static void test_stamps(void)
{
    struct pty *p = tui_start(100, 30);
    press(p, ":set S=128 H=2\r", "S=128");
    press(p, "5", "[5 Timeline]");
    pty_send(p, "r");
    tui_expect(p, "LIVE", RUN_MS);
    tui_expect(p, "threads busy", WAIT);
    tui_expect(p, "origin=live", WAIT);
    press(p, ".", "measured, and hidden");
    pty_send(p, ".");
    CU_ASSERT(pty_wait_gone(p, "hidden", WAIT));
    press(p, ":set S=256\r", "S=256");
    CU_ASSERT(pty_shows(p, "MODEL") && !pty_shows(p, "LIVE"));
    tui_quit(p);
}

static void test_sizes(void)
{
    static const char *const ascii[] = {"--charset=ascii", NULL};
    static const int sizes[3][2] = {{40, 12}, {80, 24}, {200, 50}};
    for (int i = 0; i < 3; i++) {
        struct pty *p = tui_start_with(sizes[i][0], sizes[i][1], ascii, NULL);
        tui_expect(p, "q quit", START_MS);
        press(p, "5", "SM 0-");
        CU_ASSERT(is_ascii(p));
        press(p, "6", "fa2.cu");
        CU_ASSERT(is_ascii(p));
        press(p, "b", "fa2_keys -> fa2");
        CU_ASSERT(is_ascii(p));
        CU_ASSERT_EQUAL(p->unknown, 0);
        tui_quit(p);
    }
}

static void test_source(void)
{
    struct pty *p = tui_start(120, 30);
    press(p, "6", "@name      fa2");
    tui_expect(p, "source fa2 marks=yes", WAIT);
    pty_send(p, "a");
    CU_ASSERT(pty_wait_gone(p, "marks=yes", WAIT));
    press(p, "/__syncthreads\r", "__syncthreads(); // nobody");
    press(p, "K", "Barrier of the block");
    pty_send(p, "\033");
    CU_ASSERT(pty_wait_gone(p, "Barrier of the block", WAIT));
    press(p, "b", "fa2_keys -> fa2");
    tui_expect(p, "registers 168 -> 128", WAIT);
    tui_expect(p, "Warp instructions, more or fewer by each line",
               RUN_MS); /* simulated by itself */
    tui_expect(p, "off by 40 %", WAIT);
    press(
        p, "cc",
        "Branches that split a warp, more or fewer by each line"); /* another counter of the change */
    tui_expect(p, " 152> ", WAIT);                                 /* its costliest line */
    pty_send(p, ".");
    CU_ASSERT(pty_wait_gone(p, "off by 40 %", WAIT)); /* hidden values */
    press(p, ".", "off by 40 %");
    press(p, "}", " 162>-");
    press(p, "\t", "fa2 -> splitkv"); /* the next step of the ladder */
    press(p, "\033[Z", "fa2_keys -> fa2");
    press(p, "b", "fa2  CUDA");
    tui_quit(p);
}

/* What a lesson measured, its answer and the score are hidden, and come back. */
static void test_lesson_veil(void)
{
    struct pty *p = tui_start(100, 40);
    press(p, "7", "Measure before you believe");
    press(p, "\033[B\033[B\033[B\033[B\r", "How many times longer");
    pty_send(p, "4\r");
    CU_ASSERT(pty_wait_gone(p, "guess:", WAIT));
    pty_send(p, "\r");
    tui_expect(p, "max diff", RUN_MS);
    press(p, ".", "measured, and hidden");
    CU_ASSERT(pty_wait_gone(p, "max diff", WAIT));
    CU_ASSERT(pty_wait_gone(p, "PASS", WAIT));
    CU_ASSERT(pty_wait_gone(p, "guesses", WAIT));
    press(p, ".", "max diff");
    tui_quit(p);
}

/* A block held still, on a real terminal: one picture below the source on a small one, all on a large one. */
static void test_stopped(void)
{
    struct pty *p = tui_start(80, 24);
    press(p, "6", "[6 Source]");
    press(p, ":debug fa2 S=64 H=2 f32\r", "before the first step");
    press(p, "a", "reads global from");
    press(p, "v", "row of sectors");
    press(p, "v", "Qs 17.0 KiB");
    press(p, "v", "a column");
    press(p, "H", "the block has ended");
    press(p, "p", "cmd> debug back");
    pty_resize(p, 200, 50);
    tui_expect(p, "Who waits, and copies under way", WAIT);
    tui_expect(p, "registers by the line that wrote them", WAIT);
    CU_ASSERT(pty_shows(p, "This step") && pty_shows(p, "Shared memory"));
    press(p, "D", "D debug");
    tui_quit(p);
}

/* What the simulator counts, on a real terminal: beside lines, as a sweep's metric, under the roof. */
static void test_counted(void)
{
    struct pty *p = tui_start(80, 24);
    press(p, ":set backend=sim S=128 H=1 dtype=f32\r", "S=128");
    press(p, "6", "[6 Source]");
    pty_send(p, "c");
    tui_expect(p, "% in line", RUN_MS);
    press(p, "cc", "heat=smem_requests");
    tui_expect(p, "SMEM requests: ", WAIT);
    press(p, "CC", "Warp instructions: ");
    press(p, "3", "[3 Sweep]");
    press(p, ":sweep fa2 BC=32,64 BR=32,64 metric=smem_wavefronts\r", "smem_wavefronts  fa2");
    tui_expect(p, "all 4 points", RUN_MS);
    press(p, "4", "[4 Roofline]");
    pty_send(p, ":run fa2\r");
    tui_expect(p, "warp instr", RUN_MS); /* the row, in a popup */
    pty_send(p, "q");
    CU_ASSERT(pty_wait_gone(p, "Esc close", WAIT));
    CU_ASSERT(pty_shows(p, "the simulator counted") && pty_shows(p, "$"));
    tui_quit(p);
}

static const struct tap_test tests[] = {
    {"Lessons: what was measured can be hidden", test_lesson_veil},
    {"Timeline: the model follows", test_timeline},
    {"Timeline: stamps", test_stamps},
    {"Source: text, marks, words, changes", test_source},
    {"a block held still", test_stopped},
    {"what the simulator counts", test_counted},
    {"both at every size, in ASCII", test_sizes},
};

int main(int argc, char **argv)
{
    return tui_tests_main("views", tests, sizeof tests / sizeof *tests, argc, argv);
}
