/* test_ahead.c - type-ahead: keys pressed while a command runs are kept and played, what cancels drops them, and
 * nothing that they were not meant for takes them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tui/app/ahead.h"
#include "tui/kit/keys.h"
#include "tuirun.h"

/* ---- by itself ---- */

static void test_order(void)
{
    struct ahead k = {0};
    CU_ASSERT_EQUAL(ahead_next(&k), TK_NONE);
    for (int round = 0; round < 3; round++) {
        CU_ASSERT_TRUE(ahead_add(&k, 'a') && ahead_add(&k, TK_ENTER) && ahead_add(&k, 'b'));
        CU_ASSERT_EQUAL(ahead_next(&k), 'a');
        CU_ASSERT_EQUAL(ahead_at(&k, 0), TK_ENTER);
        CU_ASSERT_EQUAL(ahead_at(&k, 1), 'b');
        CU_ASSERT_EQUAL(ahead_at(&k, 2), TK_NONE);
        CU_ASSERT_TRUE(ahead_add(&k, 'c')); /* behind those that are being played */
        CU_ASSERT_EQUAL(ahead_next(&k), TK_ENTER);
        CU_ASSERT_TRUE(ahead_add(&k, 'd'));
        ahead_remove(&k, 1);
        CU_ASSERT_EQUAL(ahead_next(&k), 'b');
        CU_ASSERT_EQUAL(ahead_next(&k), 'd');
        CU_ASSERT_EQUAL(ahead_next(&k), TK_NONE);
    }
    for (int i = 0; i < AHEAD_MAX; i++)
        CU_ASSERT_TRUE_FATAL(ahead_add(&k, 'x'));
    CU_ASSERT_FALSE(ahead_add(&k, 'y'));
    CU_ASSERT_EQUAL(ahead_clear(&k), AHEAD_MAX);
    CU_ASSERT_EQUAL(ahead_clear(&k), 0);
    CU_ASSERT_EQUAL(ahead_at(&k, 0), TK_NONE);
    ahead_free(&k);
}

static void text_is(const struct ahead *k, int width, const char *text)
{
    struct str s = {0};
    ahead_text(k, width, &s);
    CU_ASSERT_STRING_EQUAL(str_text(&s), text);
    CU_ASSERT_TRUE((int)s.len <= width);
    str_free(&s);
}

static void test_text(void)
{
    struct ahead k = {0};
    text_is(&k, 20, "");
    for (const char *c = ":set D=32"; *c; c++)
        ahead_add(&k, *c);
    text_is(&k, 9, ":set D=32");
    text_is(&k, 8, "..t D=32");
    ahead_add(&k, TK_ENTER);
    ahead_add(&k, KEY_CTRL('d'));
    ahead_add(&k, TK_UP);
    text_is(&k, 60, ":set D=32<Enter><Ctrl-D><Up>");
    text_is(&k, 12, "..<Up>"); /* no half of a key's name */
    ahead_next(&k);
    text_is(&k, 60, "set D=32<Enter><Ctrl-D><Up>");
    ahead_free(&k);
}

/* ---- on the screen ---- */

#define TINY "naive S=16 H=1 D=16 f32 backend=cpu n=1000000"
#define BUSY ":run " TINY " time=1\r"
#define LONG ":run " TINY " time=60\r"

/* The screen, with a command under way. */
static struct pty *start_busy(const char *command)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, command);
    CU_ASSERT_TRUE_FATAL(tui_expect(p, "Ctrl-C cancels", RUN_MS));
    return p;
}

static void close_popup(struct pty *p)
{
    tui_expect(p, "Esc close", RUN_MS);
    pty_send(p, "q");
    CU_ASSERT_TRUE(pty_wait_gone(p, "Esc close", 2000));
}

static void test_commands(void)
{
    struct pty *p = start_busy(BUSY);
    pty_send(p, ":set D=32\r");
    tui_expect(p, "typed (Esc drops): :set D=32<Enter>", 2000);
    pty_send(p, ":show D\r");
    tui_expect(p, "head dimension", RUN_MS); /* below what the run printed, which nobody has seen */
    CU_ASSERT_TRUE(pty_shows(p, "> show D") && pty_shows(p, "pass"));
    CU_ASSERT_FALSE(pty_shows(p, "typed ("));
    close_popup(p);
    tui_expect(p, "cmd> run fa2 D=32", 2000);
    tui_quit(p);
}

static void test_over_output(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":devices\r");
    tui_expect(p, "Esc close", 2000); /* seen: what nobody saw stays */
    pty_send(p, ":");
    pty_settle(p, QUIET, 500);
    CU_ASSERT_TRUE(pty_shows(p, "GB/s")); /* to be read while the next line is typed */
    pty_send(p, "set D=32\r");
    tui_expect(p, "cmd> run fa2 D=32", 2000);
    CU_ASSERT_FALSE(pty_shows(p, "Esc close"));
    tui_quit(p);
}

static void test_quit(void)
{
    struct pty *p = start_busy(BUSY);
    pty_send(p, ":quit\r");
    CU_ASSERT_TRUE(pty_ended(p, RUN_MS));
    CU_ASSERT_TRUE(WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0);
    tui_expect_restored(p);
    pty_free(p);
}

static void test_order_of_runs(void)
{
    struct pty *p = start_busy(BUSY);
    pty_send(p, ":run naive S=24 H=1 D=16 f32 backend=cpu n=1000000 time=1\r:set D=32\r:set "
                "D=128\r"); /* waits itself: the rest waits on */
    tui_expect(p, "cmd> run fa2 D=128", RUN_MS);
    close_popup(p);
    pty_send(p, ":results\r");
    tui_expect(p, "Esc close", 2000);
    CU_ASSERT_TRUE(pty_shows(p, "S=24 D=16 f32"));
    close_popup(p);
    tui_quit(p);
}

/* A command that asks for keys by itself, for it has no job to wait for. */
static void test_shell(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":devices | sleep 1 >&2\r");
    pty_settle(p, QUIET, 300);
    pty_send(p, "2r");
    tui_expect(p, "Ctrl-C stops",
               RUN_MS); /* Compare, and what r asks for begins when the shell has ended */
    CU_ASSERT_TRUE(pty_shows(p, "[2 Compare]"));
    pty_send(p, "\003");
    tui_quit(p);
}

/* ---- what drops them ---- */

static void dropped_by(const char *key, bool cancels)
{
    struct pty *p = start_busy(cancels ? LONG : BUSY);
    pty_send(p, ":set D=128\r:quit\r");
    tui_expect(p, ":quit<Enter>", 2000);
    pty_send(p, key);
    CU_ASSERT_TRUE(pty_wait_gone(p, "typed (", 2000));
    tui_expect(p, cancels ? "cancelled; the rows" : "pass", RUN_MS);
    close_popup(p);
    CU_ASSERT_FALSE(pty_shows(p, "D=128"));
    tui_quit(p);
}

static void test_cancelled(void)
{
    dropped_by("\003", true);
}

static void test_escaped(void)
{
    dropped_by("\033", false);
}

static void test_unseen(void)
{
    struct pty *p = start_busy(BUSY);
    pty_send(p, "\r\rq\rj\rq"); /* of somebody who is impatient */
    tui_expect(p, "pass", RUN_MS);
    pty_settle(p, QUIET, 1000);
    close_popup(p);
    tui_quit(p);
}

static void test_given_back(void)
{
    struct pty *p = start_busy(":run " TINY " time=1; set D=banana\r");
    pty_send(p, ":quit\r");
    tui_expect(p, "typed keys are dropped", RUN_MS);
    tui_expect(p, "set D=banana", 2000);
    CU_ASSERT_FALSE(pty_shows(p, ":quit"));
    pty_send(p, "\033");
    pty_settle(p, QUIET, 1000);
    close_popup(p);
    tui_quit(p);
}

static const struct tap_test tests[] = {
    {"first in, first out, and no more than there is room for", test_order},
    {"how they are shown", test_text},
    {"commands", test_commands},
    {"quit", test_quit},
    {"what is played waits itself", test_order_of_runs},
    {"while a shell's command runs, and a key that measures", test_shell},
    {"a line over what a command printed", test_over_output},
    {"Ctrl-C drops them", test_cancelled},
    {"Esc drops them, and the command goes on", test_escaped},
    {"an early Enter closes nothing unseen", test_unseen},
    {"a line that is given back does not take them", test_given_back},
};

int main(int argc, char **argv)
{
    return tui_tests_main("ahead", tests, sizeof tests / sizeof *tests, argc, argv);
}
