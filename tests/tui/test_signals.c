/* test_signals.c - every signal on every screen: the terminal is given back, nothing is left.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tuirun.h"

/* Keys that lead there, and what shows that they did. */
static const struct place {
    const char *keys, *shows;
} places[] = {
    {"", "[1 Explore]"},   {"2", "[2 Compare]"}, {"3", "[3 Sweep]"},   {"4", "[4 Roof"},
    {"5", "[5 Timeline]"}, {"6", "[6 Source]"},  {"7", "[7 Lessons]"}, {"1?", "Keys of"},
    {"1o", "Options"},     {"1:show", ":show"},
};
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT},
                 crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE};
enum { PLACES = sizeof places / sizeof *places, KINDS = 4 };

static struct pty *go_to(const struct place *at)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, at->keys);
    tui_expect(p, at->shows, 3000 * SLOW);
    CU_ASSERT_FALSE(pty_modes_restored(p)); /* else the check afterwards proves nothing */
    return p;
}

static void leave(const struct place *at, int sig, bool crash)
{
    struct pty *p = go_to(at);
    kill(p->pid, sig);
    bool ended = pty_ended(p, 5000 * SLOW);
    CU_ASSERT(ended);
    bool right = crash ? WIFSIGNALED(p->status) && WTERMSIG(p->status) == sig
                       : WIFEXITED(p->status) && WEXITSTATUS(p->status) == 128 + sig;
    CU_ASSERT(!ended || right);
    if (!ended || !right)
        printf("# signal %d at \"%s\": status %x\n", sig, at->shows, (unsigned)p->status);
    tui_expect_restored(p);
    pty_free(p);
}

static void test_ends(void)
{
    for (int i = 0; i < PLACES; i++)
        for (int k = 0; k < KINDS; k++)
            leave(&places[i], ends[k], false);
    tui_expect_no_orphans();
}

static void test_crashes(void)
{
    for (int i = 0; i < PLACES; i++)
        for (int k = 0; k < KINDS; k++)
            leave(&places[i], crashes[k], true);
    tui_expect_no_orphans();
}

/* Limits, timers and numbers without a meaning here, each at another place. */
static void test_others(void)
{
    const int others[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF,  SIGIO,
                          SIGPWR,  SIGSYS,  SIGTRAP, SIGILL,  SIGSTKFLT, SIGRTMIN, SIGRTMAX};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        leave(&places[i % PLACES], others[i], true);
    tui_expect_no_orphans();
}

/* A file at its limit and a reader that left are errors to report. */
static void test_reported(void)
{
    struct pty *p = go_to(&places[1]);
    kill(p->pid, SIGXFSZ);
    kill(p->pid, SIGPIPE);
    pty_send(p, "3");
    tui_expect(p, "[3 Sweep]", 3000 * SLOW);
    tui_quit(p);
}

/* A session that was cut off comes back: screen, settings, kernel. */
static void test_resume(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set S=77 D=128 gpu=H200\r");
    tui_expect(p, "run fa2 S=77 D=128 gpu=H200", 3000);
    pty_send(p, "5");
    tui_expect(p, "[5 Timeline]", 3000);
    kill(p->pid, SIGHUP);
    CU_ASSERT(pty_ended(p, 5000 * SLOW));
    pty_free(p);
    p = tui_start_with(80, 24, NULL, NULL);
    tui_expect(p, ":resume brings that session back", START_MS);
    pty_send(p, ":resume\r");
    tui_expect(p, "[5 Timeline]", 3000);
    pty_send(p, "1");
    tui_expect(p, "run fa2 S=77 D=128 gpu=H200", 3000);
    tui_quit(p);
    p = tui_start_with(80, 24, (const char *[]){"--resume", NULL}, NULL);
    tui_expect(p, "run fa2 S=77 D=128 gpu=H200", START_MS);
    tui_quit(p);
    p = tui_start(80, 24); /* one that was quit is not offered */
    CU_ASSERT_FALSE(pty_shows(p, ":resume"));
    tui_quit(p);
}

static const struct tap_test tests[] = {
    {"signals that end it, on every screen", test_ends},
    {"crashes, on every screen", test_crashes},
    {"signals that nobody expects", test_others},
    {"signals that are errors to report", test_reported},
    {"resume after a hang-up", test_resume},
};

int main(int argc, char **argv)
{
    return tui_tests_main("signals", tests, sizeof tests / sizeof *tests, argc, argv);
}
