/* test_pty.c - the pseudo-terminal of the tests itself: what a wait returns is a whole frame, and what counts as keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "ptyrun.h"
#include "tuirun.h"

/* Writes what is in `first`, is busy for a while, and writes what is in `rest`; then it waits. */
static struct pty *start_in_pieces(const char *first, const char *rest)
{
    static char script[] =
        "printf 'old  '; read line; printf \"$FIRST\"; i=0; "
        "while [ $i -lt 30000 ]; do i=$((i + 1)); done; printf \"$REST\"; read line";
    char first_is[64], rest_is[64];
    snprintf(first_is, sizeof first_is, "FIRST=%s", first);
    snprintf(rest_is, sizeof rest_is, "REST=%s", rest);
    struct pty *p = pty_start(40, 4, (char *[]){"/bin/sh", "-c", script, NULL},
                              (const char *[]){"TERM=xterm-256color", first_is, rest_is, NULL});
    CU_ASSERT_TRUE(pty_wait(p, "old", 2000));
    pty_send(p, "\n");
    return p;
}

static void test_rest_of_frame(void)
{
    struct pty *p = start_in_pieces("\\033[2;1Hnew", "\\033[1;1Hgone\\033[3;1Hend");
    CU_ASSERT_TRUE(pty_wait(p, "new", 2000));
    CU_ASSERT_FALSE(pty_shows(p, "old"));
    CU_ASSERT_TRUE(pty_shows(p, "gone") && pty_shows(p, "end"));
    pty_free(p);
}

static void test_moved_is_not_gone(void)
{
    struct pty *p = start_in_pieces("\\033[1;1H        ", "\\033[3;1Hold");
    CU_ASSERT_FALSE(pty_wait_gone(p, "old", 400));
    pty_free(p);
}

static void test_gone(void)
{
    struct pty *p = start_in_pieces("\\033[1;1H        ", "\\033[3;1Hend");
    CU_ASSERT_TRUE(pty_wait_gone(p, "old", 2000));
    CU_ASSERT_TRUE(pty_shows(p, "end"));
    pty_free(p);
}

/* A terminal that answers a question has sent no keys: what stands on the screen may be waited for. */
static void test_answer(void)
{
    static char script[] = "printf 'there\\033[5n'; read line";
    struct pty *p = pty_start(40, 4, (char *[]){"/bin/sh", "-c", script, NULL}, NULL);
    for (const double end = pty_now() + 20; !pty_shows(p, "[0n") && pty_now() < end;)
        pty_read(p, 50); /* the answer is echoed, for nobody has turned that off */
    CU_ASSERT_TRUE(pty_shows(p, "there") && pty_shows(p, "[0n"));
    CU_ASSERT_FALSE(pty_stood(p, "there"));
    pty_send(p, "x");
    CU_ASSERT_TRUE(pty_stood(p, "there"));
    pty_free(p);
}

static void take(struct pty *p, const char *text)
{
    pty_take(p, text, strlen(text));
}

/* What the program writes before it knows of its new size stays on the screen. */
static void test_shrunk(void)
{
    static char script[] = "read line";
    struct pty *p = pty_start(40, PTY_H, (char *[]){"/bin/sh", "-c", script, NULL}, NULL);
    take(p, "\033[60;70r\033[69;1H");
    pty_resize(p, 40, 4);
    for (int i = 0; i < PTY_H; i++) {
        take(p, "\n");
        CU_ASSERT_TRUE(p->y >= 0 && p->y < 4);
    }
    take(p, "\033[3T\033[2S\033[500@\033[500Pend");
    CU_ASSERT_TRUE(pty_shows(p, "end"));
    pty_free(p);
}

static const struct tap_test tests[] = {
    {"a wait returns when its frame is complete", test_rest_of_frame},
    {"what a frame moves is not gone", test_moved_is_not_gone},
    {"what is gone is gone when the frame is complete", test_gone},
    {"an answer of the terminal is no key", test_answer},
    {"a cursor stays on a screen that shrinks", test_shrunk},
};

int main(int argc, char **argv)
{
    return tui_tests_main("pty", tests, sizeof tests / sizeof *tests, argc, argv);
}
