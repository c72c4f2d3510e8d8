/* test_tui.c - the full screen on a pseudo-terminal: start, edit, run, resize, leave, signals.
 *
 * $ATTNSCOPE names the program, $ATTNSCOPE_WORKER its worker. Times are printed as comments; the
 * limits asserted here are wide, because test machines are shared. Each test has a home of its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuirun.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds from a key to the first byte of the answer, -1 if none came. */
static double latency(struct pty *p, const char *key)
{
    double t = pty_now();
    pty_send(p, key);
    if (!pty_read(p, 2000))
        return -1;
    return pty_now() - t;
}

static void report(const char *what, double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    printf("# %s: p50 %.2f ms, p99 %.2f ms, max %.2f ms (%d)\n", what, v[n / 2] * 1e3,
           v[(n * 99) / 100] * 1e3, v[n - 1] * 1e3, n);
}

/* ---- tests ---- */

static void test_first_screen(void)
{
    double v[12];
    static const int sizes[2][2] = {{80, 24}, {200, 50}};
    for (int s = 0; s < 2; s++) {
        size_t bytes = 0;
        for (int i = 0; i < 12; i++) {
            double t = pty_now();
            struct pty *p = tui_start_with(sizes[s][0], sizes[s][1], NULL, NULL);
            while (!pty_shows(p, "q quit") && pty_now() - t < 5)
                pty_read(p, 100);
            v[i] = pty_now() - t;
            bytes = p->len;
            CU_ASSERT(pty_shows(p, "Shape"));
            CU_ASSERT(pty_shows(p, "MODEL"));
            CU_ASSERT_FALSE(pty_shows(p, "cannot")); /* of a new home nothing is amiss */
            CU_ASSERT_EQUAL(p->unknown, 0);
            tui_quit(p);
        }
        printf("# %dx%d, %zu bytes: ", sizes[s][0], sizes[s][1], bytes);
        report("first screen", v, 12);
        CU_ASSERT(v[6] < 0.15 * SLOW);
    }
}

static void test_edit(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, "l"); /* B, the first row: doubled */
    tui_expect(p, "run fa2 B=2", 2000);
    pty_send(p, "\033[C");
    tui_expect(p, "run fa2 B=4", 2000);
    pty_send(p, "u");
    tui_expect(p, "run fa2 B=2", 2000);
    pty_send(p, "\022"); /* Ctrl-R */
    tui_expect(p, "run fa2 B=4", 2000);
    pty_send(p, "h");
    tui_expect(p, "run fa2 B=2", 2000);
    pty_send(p, "\r"); /* as text */
    tui_expect(p, "B = 2", 2000);
    pty_send(p, "3\r"); /* the first character replaces the old value */
    tui_expect(p, "run fa2 B=3", 2000);
    pty_send(p, "\r\005"
                "2\r"); /* but not after moving in it */
    tui_expect(p, "run fa2 B=32", 2000);
    pty_send(p, "u");
    CU_ASSERT(pty_wait_gone(p, "run fa2 B=32", 1000));
    pty_send(p, "\r\1774\r"); /* Backspace empties it */
    tui_expect(p, "run fa2 B=4 ", 2000);
    CU_ASSERT(pty_shows(p, "16x8x4 = 512 blocks")); /* the plan follows */
    tui_quit(p);
}

static void test_prompt(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set D=banana\r");
    if (tui_expect(p, "banana", 2000)) {
        CU_ASSERT(pty_wait(p, ":set D=banana", 1000)); /* what was typed is still there */
        pty_send(p, "\005\025");                       /* Ctrl-E Ctrl-U: readline's own editing */
        pty_send(p, "set D=128 gpu=H200\r");
        tui_expect(p, "run fa2 D=128 gpu=H200", 2000);
        tui_expect(p, "MODEL H200", 1000);
    }
    pty_send(p, ":occ\t");
    tui_expect(p, ":occupancy", 2000);
    pty_send(p, "\025devices\r");
    tui_expect(p, "Esc close", 2000); /* a popup with the table */
    CU_ASSERT(pty_shows(p, "GB/s"));
    pty_send(p, "\033");
    CU_ASSERT(pty_wait_gone(p, "Esc close", 2000));
    pty_send(p, ":\033[A\033[A"); /* history */
    tui_expect(p, ":set D=128 gpu=H200", 2000);
    pty_send(p, "\033");
    tui_expect(p, "cmd> run fa2 D=128", 2000);
    tui_quit(p);
}

static void test_help_from_table(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, "?");
    tui_expect(p, "Keys of", 2000);
    tui_expect(p, "next pane", 2000);
    pty_send(p, "/MODEL is\r");
    tui_expect(p, "MODEL is computed", 2000);
    pty_send(p, "q"); /* closes the popup, not the program */
    CU_ASSERT(pty_wait_gone(p, "MODEL is computed", 2000));
    CU_ASSERT_FALSE(pty_ended(p, 50));
    tui_quit(p);
}

static void test_small_keys(void)
{
    struct pty *p = tui_start(80, 24);
    char path[96], text[64] = "";
    pty_send(p, "y");
    tui_expect(p, "clipboard", 2000);
    CU_ASSERT(pty_sent(p, "\033]52;c;cnVuIGZhMg==\a")); /* "run fa2" */
    snprintf(path, sizeof path, "%s/state/attnscope/copied", tui_home);
    FILE *f = fopen(path, "r");
    CU_ASSERT(f && fgets(text, sizeof text, f));
    CU_ASSERT_STRING_EQUAL(text, "run fa2");
    if (f)
        fclose(f);
    pty_send(p, "T");
    tui_expect(p, "theme light", 2000);
    pty_send(p, "x");
    tui_expect(p, "computed, not measured", 2000);
    pty_send(p, "q!");
    tui_expect(p, "Log", 2000);
    pty_send(p, "qZ");
    tui_expect(p, "Z does nothing here", 2000);
    pty_send(p, "G\033[C"); /* the last row is a parameter of the kernel: it changes, too */
    tui_expect(p, "plan fa2 PAD=", 2000);
    tui_quit(p);
}

static void test_run(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set S=256 H=2\r");
    tui_expect(p, "H=2 S=256", 2000);
    /* nothing else is pressed: it measures by itself */
    tui_expect(p, "PASS", RUN_MS);
    tui_expect(p, "median", RUN_MS);
    /* why it ended, or in its place what disturbed the times */
    for (int ms = 0; ms < RUN_MS && !pty_wait(p, "stopped", 100) && !pty_shows(p, "noise ");
         ms += 100)
        ;
    CU_ASSERT(pty_shows(p, "stopped") || pty_shows(p, "noise "));
    CU_ASSERT(pty_shows(p, "GFLOP/s"));
    pty_send(p, ":show $last\r"); /* what the screen measured is a result like any other */
    tui_expect(p, "median_us", 2000);
    pty_send(p, "\033");
    tui_expect(p, "Shape", 2000);
    pty_send(p, "l"); /* the old figures stay and say whose they are */
    tui_expect(p, "old shape: B=1 H=2 S=256 D=64", 2000);
    tui_quit(p);
}

static void test_pair(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set S=128 H=2 time=0.3\r");
    tui_expect(p, "H=2 S=128", 2000);
    pty_send(p, "\t kkkk"); /* kernel pane, mark fa2, go up to qtile_seq */
    tui_expect(p, "* fa2", 2000);
    pty_send(p, "r");
    tui_expect(p, "x [", RUN_MS); /* the interval of the ratio */
    bool verdict = pty_shows(p, "FASTER") || pty_shows(p, "SLOWER") || pty_shows(p, "SAME") ||
                   pty_shows(p, "AMBIGUOUS");
    CU_ASSERT(verdict);
    tui_quit(p);
}

/* A command typed at `:` runs in a loop of its own; the screen still answers. */
static void test_typed_run(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":run naive S=256 H=2 time=0.3\r");
    tui_expect(p, "Ctrl-C cancels", RUN_MS);
    pty_resize(p, 90, 26);
    tui_expect(p, "pass", RUN_MS);
    pty_send(p, "q"); /* closes the popup first */
    CU_ASSERT(pty_wait_gone(p, "Esc close", 2000 * SLOW));
    pty_send(p, ":run naive S=4k H=8 time=60\r"); /* so long that a probe goes before it */
    tui_expect(p, "Ctrl-C cancels", RUN_MS);
    pty_send(p, "\003");
    CU_ASSERT(pty_wait_gone(p, "Ctrl-C cancels", 3000 * SLOW));
    tui_expect(p, "cancelled; the rows", 3000 * SLOW);
    pty_send(p, "\033"); /* a popup, if there is one */
    pty_settle(p, QUIET, 1000);
    pty_send(p, ":run naive S=1k H=8 time=60\r");
    tui_expect(p, "Ctrl-C cancels", RUN_MS);
    pty_send(p, "\003");
    CU_ASSERT(pty_wait_gone(p, "Ctrl-C cancels", 3000 * SLOW));
    tui_expect(p, "cancelled; the rows", 3000 * SLOW); /* said when the command has really ended */
    tui_expect(p, "Esc close", 3000 * SLOW);           /* what it printed so far is a popup */
    pty_send(p, "q");                                  /* closes the popup first */
    CU_ASSERT(pty_wait_gone(p, "Esc close", 2000 * SLOW));
    tui_quit(p);
}

/* Until the screen is another than `before`, and stays so for a moment. */
static void await_change(struct pty *p, const char *before)
{
    const double end = pty_now() + 10 * SLOW;
    while (!strcmp(pty_text(p), before) && pty_now() < end)
        pty_read(p, QUIET);
    pty_settle(p, QUIET, 2000);
}

/* Enter turns pages before it goes on: presses it until `text` shows. */
static void enter_until(struct pty *p, const char *text)
{
    for (int i = 0; i < 8 && !pty_shows(p, text); i++) {
        char *before = strdup(pty_text(p));
        pty_send(p, "\r");
        await_change(p, before);
        free(before);
    }
    CU_ASSERT(pty_wait(p, text, 1000));
}

static void await_either(struct pty *p, const char *one, const char *other, int ms)
{
    const double end = pty_now() + ms * 1e-3;
    while (!pty_shows(p, one) && !pty_shows(p, other) && pty_now() < end)
        pty_read(p, QUIET);
}

static void test_lesson(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, "7");
    tui_expect(p, "Measure before you believe", 2000);
    pty_send(p, ":lesson measure\r");
    tui_expect(p, "step 1/5", 2000);
    tui_expect(p, "How many times longer", 2000); /* the question is in sight from the start */
    pty_send(p, "t");                             /* the step's own command, to play with */
    tui_expect(p, ":run naive B=1 H=1 S=256", 2000);
    pty_send(p, "\033");
    CU_ASSERT(pty_wait_gone(p, ":run naive", 2000));
    CU_ASSERT(!pty_shows(p, "3 Sweep") &&
              pty_shows(p, "[Lessons]")); /* which the tabs do not offer */
    CU_ASSERT(pty_shows(p, "[ ] screens"));
    pty_send(p, "3"); /* the beginning of an answer, not the third screen */
    tui_expect(p, "guess: 3", 2000);
    pty_send(p, "\033");
    CU_ASSERT(pty_wait_gone(p, "guess:", 2000));
    enter_until(p, "guess:");
    pty_send(p, "\r\r");
    enter_until(p, "guess:");
    pty_send(p, "4\r");
    CU_ASSERT(
        pty_wait_gone(p, "guess:", 2000)); /* taken: an Enter too early would run the command */
    enter_until(p, "$ run");
    pty_send(p, "\r"); /* runs it; the figure also stands in the live panel */
    tui_expect(p, "Live", RUN_MS);
    tui_expect(p, "PASS", 2000);
    enter_until(p, "S=512 D=64 n=20");
    enter_until(p, "Enter: run it");
    pty_send(p, "\r"); /* without a GPU the simulated row follows, a page more */
    await_either(p, "You said 4", "Enter: read on", RUN_MS);
    enter_until(p, "You said 4");
    enter_until(p, "both results are right"); /* read on: nothing is skipped */
    pty_send(p, "H");
    CU_ASSERT(pty_wait(p, "hint", 2000));
    pty_send(p, "L"); /* the list again, then Explore, by its digit */
    tui_expect(p, "of 5", 2000);
    pty_send(p, ":lesson online step=3\r");
    tui_expect(p, "step 3/", 2000);
    pty_send(p, ":lesson online --restart\r");
    tui_expect(p, "step 1/", 2000);
    pty_send(p, "1"); /* of an option: no other screen */
    tui_expect(p, "choose with a to", 2000);
    pty_send(p, "h");
    CU_ASSERT(pty_wait_gone(p, "choose with a to", 2000));
    pty_send(p, "6"); /* nor is one that no option has */
    tui_expect(p, "choose with a to", 2000);
    CU_ASSERT(!pty_shows(p, "6 Source"));
    pty_send(p, "L");
    CU_ASSERT(pty_wait_gone(p, "step 1/", 2000));
    pty_send(p, "1");
    tui_expect(p, "[1 Explore]", 2000);
    tui_quit(p);
}

/* The text is wrapped for the screen there is, and where the question has no place of its own it
 * is the end of the text. */
static void test_lesson_resized(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":lesson online step=2\r");
    tui_expect(p, "step 2/5", 2000);
    tui_expect(p, "32 random scores in 8 tiles of 4", 2000);
    pty_resize(p, 200, 50);
    tui_expect(p, "A kernel that takes K and V tile by tile does not know the largest", 2000);
    pty_resize(p, 40, 12);
    tui_expect(p, "A kernel that takes K and V tile by", 2000);
    tui_expect(p, "A maximum that is", 1000); /* the title gives way to the place in the text */
    tui_expect(p, "Enter: read on", 1000);
    for (int i = 0; i < 12 && !pty_shows(p, "Enter: type your guess"); i++) {
        pty_send(p, "\r");
        pty_settle(p, 50, 500);
    }
    tui_expect(p, "bring a new maximum?", 1000);
    pty_resize(p, 80, 24);
    tui_expect(p, "32 random scores in 8 tiles of 4", 2000);
    tui_quit(p);
}

/* A lesson of the user's own, with a figure. */
static void write_figure_lesson(void)
{
    char path[300];
    FILE *f = NULL;
    snprintf(path, sizeof path, "mkdir -p %s/data/attnscope/lessons", tui_home);
    if (system(path) == 0) {
        snprintf(path, sizeof path, "%s/data/attnscope/lessons/90-drawn.md", tui_home);
        f = fopen(path, "w");
    }
    if (!f)
        return;
    fputs("# Drawn\n\n## One\n\nText.\n\n```attnscope\nfigure smem fa2 gpu=L4\n```\n", f);
    fclose(f);
}

/* A figure in the text is drawn for the width: after a resize the screen is the one of a lesson that
 * was opened at that size. */
static void test_lesson_figure_resized(void)
{
    write_figure_lesson();
    struct pty *p = tui_start(80, 30);
    pty_send(p, ":lesson drawn step=1\r");
    tui_expect(p, "Drawn  step 1/1", 2000);
    pty_resize(p, 56, 30);
    tui_expect(p, " BR=64 BC=64 PAD=4 ", 2000); /* a line of its own */
    pty_settle(p, QUIET, 3000);
    char *resized = strdup(pty_text(p));
    pty_send(p, "L");
    CU_ASSERT(pty_wait_gone(p, "step 1/1", 2000));
    pty_send(p, ":lesson drawn step=1\r");
    tui_expect(p, "Drawn  step 1/1", 2000);
    pty_settle(p, QUIET, 3000);
    if (strcmp(resized, pty_text(p)) != 0) {
        tui_show(p, "opened at this size; resized it was");
        printf("%s", resized);
    }
    CU_ASSERT_STRING_EQUAL(resized, pty_text(p));
    free(resized);
    tui_quit(p);
}

static void test_latency_while_running(void)
{
    enum { N = 100 };
    double idle[N], busy[N];
    struct pty *p = tui_start(80, 24);
    pty_send(p, "\003"); /* what started by itself */
    pty_settle(p, 400, 2000);
    for (int i = 0; i < N; i++) {
        idle[i] = latency(p, i % 2 ? "k" : "j");
        pty_settle(p, 3, 50);
    }
    report("key, idle", idle, N);
    pty_send(p, LONG_RUN);
    pty_settle(p, 50, 500);
    pty_send(p, "r");
    CU_ASSERT(pty_wait(p, "timing", RUN_MS)); /* it may have begun by itself */
    for (int i = 0; i < N; i++) {
        busy[i] = latency(p, i % 2 ? "k" : "j");
        pty_settle(p, 3, 50);
    }
    report("key, kernel running", busy, N);
    CU_ASSERT(idle[0] >= 0 && busy[0] >= 0);
    CU_ASSERT(idle[N / 2] < 0.02 * SLOW);
    CU_ASSERT(busy[N / 2] < 0.05 * SLOW);
    pty_send(p, "\003");
    tui_expect(p, "cancelled", 2000 * SLOW);
    tui_quit(p);
}

static void test_resize(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, "\003");
    tui_expect(p, "cancelled", 2000);
    pty_send(p, "g"); /* no run, no message */
    CU_ASSERT(pty_wait_gone(p, "cancelled", 2000));
    char *before = strdup(pty_text(p));
    pty_resize(p, 40, 12);
    tui_expect(p, "q quit", 2000);
    CU_ASSERT(pty_wait(p, "1-8/", 2000) && pty_shows(p, "Shape"));
    pty_send(p, "\t");
    tui_expect(p, "Kernels", 2000); /* one pane at a time */
    CU_ASSERT(pty_wait_gone(p, "Shape", 1000));
    pty_resize(p, 30, 8);
    tui_expect(p, "40x12", 2000);
    tui_expect(p, "30x8", 2000);
    static const int storm[][2] = {{1, 1}, {200, 50}, {10, 3}, {2, 60}, {100, 30}};
    for (size_t i = 0; i < sizeof storm / sizeof *storm; i++) {
        pty_resize(p, storm[i][0], storm[i][1]);
        pty_read(p, 5);
    }
    pty_resize(p, 80, 24);
    tui_expect(p, "Shape", 2000);
    pty_send(p, "\033[Z"); /* the focus goes back: the same screen as before */
    for (const double end = pty_now() + 20; strcmp(pty_text(p), before) && pty_now() < end;)
        pty_read(p, QUIET);
    CU_ASSERT_STRING_EQUAL(pty_text(p), before);
    if (strcmp(pty_text(p), before))
        tui_show(p, "not as before");
    free(before);
    tui_quit(p);
}

static void test_glyphs_and_colours(void)
{
    struct pty *p = tui_start_with(80, 24, (const char *[]){"--charset=ascii", NULL},
                                   (const char *[]){"NO_COLOR=1", NULL});
    CU_ASSERT(pty_wait(p, "q quit", START_MS));
    pty_send(p, "?");
    pty_wait(p, "Keys of", 2000);
    for (size_t i = 0; i < p->len; i++)
        if ((unsigned char)p->raw[i] > 127) {
            CU_FAIL("a byte above 127 in the ASCII tier");
            break;
        }
    CU_ASSERT_FALSE(pty_sent(p, "\016")); /* no switch to the line drawing set */
    for (const char *m = p->raw; (m = strstr(m, "\033[")) != NULL; m++) {
        const char *end = m + 2 + strspn(m + 2, "0123456789;");
        if (*end == 'm')
            for (const char *n = m + 2; n < end; n++)
                if ((n[-1] == '[' || n[-1] == ';') && (*n == '3' || *n == '4') && n[1] >= '0' &&
                    n[1] <= '8')
                    CU_FAIL("a colour in spite of NO_COLOR");
    }
    pty_send(p, "\033");
    tui_quit(p);
    p = tui_start_with(80, 24, NULL, (const char *[]){"LC_ALL=C", NULL});
    CU_ASSERT(pty_wait(p, "+> Shape", START_MS));
    tui_quit(p);
    p = tui_start(80, 24);
    CU_ASSERT(pty_sent(p, "\xe2\x94\x80"));
    tui_quit(p);
}

/* ---- leaving ---- */

static void leave_by(int sig, bool running)
{
    struct pty *p = tui_start(80, 24);
    CU_ASSERT_FALSE(pty_modes_restored(p)); /* else the check below proves nothing */
    if (running) {
        pty_send(p, LONG_RUN);
        pty_settle(p, 50, 500);
        pty_send(p, "r");
        CU_ASSERT(pty_wait(p, "timing", RUN_MS)); /* it may have begun by itself */
    }
    kill(p->pid, sig);
    CU_ASSERT(pty_ended(p, 3000 * SLOW));
    bool crash = sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGABRT;
    if (crash)
        CU_ASSERT(WIFSIGNALED(p->status) && WTERMSIG(p->status) == sig);
    if (!crash)
        CU_ASSERT(WIFEXITED(p->status) && WEXITSTATUS(p->status) == 128 + sig);
    if (!p->reaped || (WIFEXITED(p->status) && WEXITSTATUS(p->status) != 128 + sig))
        printf("# signal %d: status %x\n", sig, (unsigned)p->status);
    tui_expect_restored(p);
    pty_free(p);
    tui_expect_no_orphans();
}

static void test_signals(void)
{
    static const int signals[] = {SIGTERM, SIGINT,  SIGHUP, SIGQUIT,
                                  SIGSEGV, SIGABRT, SIGBUS, SIGFPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        leave_by(signals[i], false);
}

static void test_signals_while_running(void)
{
    leave_by(SIGTERM, true);
    leave_by(SIGSEGV, true);
    leave_by(SIGHUP, true);
}

static void test_quit(void)
{
    struct pty *p = tui_start(80, 24);
    double t = pty_now();
    pty_send(p, "q");
    CU_ASSERT(pty_ended(p, 2000 * SLOW));
    printf("# quit: %.1f ms\n", (pty_now() - t) * 1e3);
    CU_ASSERT(WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0);
    tui_expect_restored(p);
    pty_free(p);
    tui_expect_no_orphans();
}

static void test_ctrl_c_twice(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, "\003");
    tui_expect(p, "cancelled", 1000); /* what would have run by itself */
    pty_send(p, "\003");
    tui_expect(p, "nothing runs", 1000);
    int more = 0;
    do /* one within a second of the last, which on a busy machine may not be the first */
        pty_send(p, "\003");
    while (!pty_ended(p, 400) && ++more < 20);
    CU_ASSERT(pty_ended(p, 400));
    CU_ASSERT(WIFEXITED(p->status) && WEXITSTATUS(p->status) == 130);
    tui_expect_restored(p);
    pty_free(p);
}

static void test_terminal_gone(void)
{
    struct pty *p = tui_start(80, 24);
    close(p->slave);
    close(p->fd);
    p->fd = -1;
    p->slave = open("/dev/null", O_RDWR);
    CU_ASSERT(pty_ended(p, 3000 * SLOW));
    pty_free(p);
    tui_expect_no_orphans();
}

static void test_bad_terminal(void)
{
    struct pty *p = tui_start_with(80, 24, NULL, (const char *[]){"TERM=no-such-terminal", NULL});
    CU_ASSERT(pty_ended(p, 3000 * SLOW));
    CU_ASSERT(WIFEXITED(p->status) && WEXITSTATUS(p->status) == 3);
    CU_ASSERT(pty_sent(p, "TERM=no-such-terminal"));
    CU_ASSERT(pty_modes_restored(p));
    pty_free(p);
}

/* A terminal of a known family that is younger than this machine's terminfo, as over ssh. */
static void test_young_terminal(void)
{
    struct pty *p = tui_start_with(80, 24, NULL, (const char *[]){"TERM=xterm-of-tomorrow", NULL});
    CU_ASSERT_TRUE_FATAL(pty_wait(p, "q quit", 10000 * SLOW));
    pty_send(p, "q");
    CU_ASSERT(pty_ended(p, 3000 * SLOW));
    CU_ASSERT(WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0);
    CU_ASSERT(pty_modes_restored(p));
    pty_free(p);
    tui_expect_no_orphans();
}

/* ---- a stopped program; needs a shell's job control between ---- */

static void test_suspend(void)
{
    struct pty *p;
    char *argv[] = {(char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-i", NULL};
    static char data[96], prog[4200];
    snprintf(data, sizeof data, "XDG_STATE_HOME=%s/state", tui_home);
    snprintf(prog, sizeof prog, "P=%s", tui_program);
    p = pty_start(
        80, 24, argv,
        (const char *[]){"TERM=xterm-256color", "LC_ALL=C.UTF-8", data, prog, "PS1=ready> ", NULL});
    tui_expect(p, "ready>", 3000);
    pty_send(p, "$P\r");
    tui_expect(p, "q quit", START_MS);
    pty_send(p, "\032");
    CU_ASSERT(pty_wait(p, "Stopped", 3000) || pty_wait(p, "ready>", 1000));
    CU_ASSERT(pty_sent(p, "\033[?1049l"));
    pty_resize(p, 90, 26); /* while it is stopped */
    pty_forget(p);
    pty_send(p, "fg\r");
    CU_ASSERT(pty_wait(p, "? help", 3000));
    pty_send(p, "q");
    pty_settle(p, 200, 2000);
    pty_send(p, "exit\r");
    CU_ASSERT(pty_ended(p, 3000));
    pty_free(p);
}

/* ---- thrift ---- */

static void test_idle(void)
{
    struct pty *p = tui_start(80, 24);
    char before[256], after[256];
    pty_send(p, "\003"); /* what started by itself */
    pty_settle(p, 1500, 20000);
    if (tui_read_proc(p->pid, "schedstat", before, sizeof before)) {
        pty_forget(p);
        pty_read(p, 2000);
        CU_ASSERT(tui_read_proc(p->pid, "schedstat", after, sizeof after));
        printf("# idle: schedstat %.*s -> %s", (int)strcspn(before, "\n"), before, after);
        CU_ASSERT_STRING_EQUAL(before, after); /* not one wake-up in two seconds */
        CU_ASSERT_EQUAL(p->len, 0);
    }
    tui_quit(p);
}

static long rollup(const char *text, const char *field)
{
    const char *at = strstr(text, field);
    return at ? atol(at + strlen(field)) : -1;
}

/* ncurses keeps the screen three times, 28 bytes a character: the limit is that of 80x24 and what a
 * larger terminal adds. */
static long rss_limit(int w, int h)
{
    return 7 * 1024 + 512 + 3 * 28 * ((long)w * h - 80 * 24) / 1024;
}

/* KiB of the program's own constant data in memory, most of it texts of kernels, lessons and
 * recordings. Linux from 6.18 on maps as much of a file at a touch as it once read in one go: of the
 * same program, on the same screen, 0.4 and 1.4 MiB. */
static long own_texts(pid_t pid)
{
    enum { SIZE = 1 << 19 };
    char *text = malloc(SIZE);
    long sum = 0;
    bool own = false;
    if (!text || !tui_read_proc(pid, "smaps", text, SIZE))
        sum = -1;
    for (char *line = sum ? NULL : strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *name = strrchr(line, '/');
        if (strchr(line, '-') && strstr(line, " r--p "))
            own = name && strcmp(name, "/attnscope") == 0;
        else if (strstr(line, "-p ") || strstr(line, "xp "))
            own = false;
        else if (own && strncmp(line, "Rss:", 4) == 0)
            sum += atol(line + 4);
    }
    free(text);
    return sum;
}

/* What the program costs: memory of its own, which is no copy of a file (Anonymous: heap, stack, data
 * that it changed). The rest are pages of its file and libraries. The kernel counts those as
 * Private_Clean while no other process happens to map the same library, as shared as soon as one
 * does - with and without a second process that uses SQLite the same screen gave 2.4 and 0.9 MiB -
 * and as Private_Dirty while a program just linked is not yet on the disk. They can be dropped and
 * read again at any time, so they count in RSS, which is limited too. */
static void memory_at(int w, int h)
{
    struct pty *p = tui_start(w, h);
    char text[4096];
    pty_send(p, ":set S=256\r?\033"); /* readline, popup; what it measures opens the store */
    pty_settle(p, 1500, 20000);
    if (tui_read_proc(p->pid, "smaps_rollup", text, sizeof text)) {
        long rss = rollup(text, "Rss:"), swap = rollup(text, "Swap:"),
             private = rollup(text, "Anonymous:") + (swap > 0 ? swap : 0);
        const long texts = own_texts(p->pid);
        printf("# memory at %dx%d: RSS %ld KiB, private %ld KiB, texts %ld KiB, file pages nobody "
               "else "
               "maps now %ld KiB\n",
               w, h, rss, private, texts, rollup(text, "Private_Clean:"));
        CU_ASSERT(rss > 0 && private > 0 && texts > 0);
        if (SLOW == 1) {
            CU_ASSERT(private <= 3 * 1024);
            CU_ASSERT(rss - texts <= rss_limit(w, h));
        }
    }
    tui_quit(p);
}

static void test_memory(void)
{
    memory_at(80, 24);
    memory_at(200, 50);
}

static const struct tap_test tests[] = {
    {"the first screen comes at once", test_first_screen},
    {"arrows, hjkl, undo, redo and Enter change the shape", test_edit},
    {"the command line edits, completes, recalls and loses nothing", test_prompt},
    {"help comes from the key table", test_help_from_table},
    {"copy, theme, explain, log, parameters", test_small_keys},
    {"it measures when the keys rest", test_run},
    {"a marked kernel is compared", test_pair},
    {"a typed run waits without freezing", test_typed_run},
    {"a lesson: guess, run, look", test_lesson},
    {"a lesson at other sizes", test_lesson_resized},
    {"a lesson's figure at another size", test_lesson_figure_resized},
    {"keys answer while a kernel runs", test_latency_while_running},
    {"80x24 to 40x12 to nothing and back", test_resize},
    {"ASCII is ASCII, NO_COLOR has no colour", test_glyphs_and_colours},
    {"q leaves everything as it was", test_quit},
    {"Ctrl-C hints, then quits", test_ctrl_c_twice},
    {"every signal gives the terminal back", test_signals},
    {"also while a kernel runs", test_signals_while_running},
    {"it ends when the terminal is gone", test_terminal_gone},
    {"an unknown terminal gets a sentence", test_bad_terminal},
    {"a terminal type of tomorrow", test_young_terminal},
    {"Ctrl-Z, resize, fg", test_suspend},
    {"idle means idle", test_idle},
    {"it is small", test_memory},
};

int main(int argc, char **argv)
{
    return tui_tests_main("tui", tests, sizeof tests / sizeof *tests, argc, argv);
}
