/* test_edit.c - the editor borrows the terminal from the full screen and gives it back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuirun.h"

/* Says that it is there, waits for a line, and changes the title of the file. */
#define EDITOR \
    "EDITOR=sh -c 'echo the editor is here; read x; sed -i \"s/@title.*/@title $x/\" $1' sh"
#define NO_NVRTC "ATTNSCOPE_LIBNVRTC=/nonexistent" /* the same on every machine */
#define NO_NVCC  "ATTNSCOPE_NVCC=/nonexistent"
#define NO_CLANG "ATTNSCOPE_CLANG=/nonexistent"

static bool is_line_mode(const struct pty *p)
{
    struct termios t;
    return tcgetattr(p->slave, &t) == 0 && (t.c_lflag & ICANON) && (t.c_lflag & ECHO);
}

static void borrow_and_return(void)
{
    const char *const env[] = {EDITOR, NO_NVRTC, NO_NVCC, NO_CLANG, NULL};
    struct pty *p = tui_start_with(100, 30, NULL, env);
    CU_ASSERT_TRUE_FATAL(tui_expect(p, "fa2", START_MS));
    pty_settle(p, QUIET, 2000 * SLOW);
    pty_send(p, "E");
    CU_ASSERT_TRUE(tui_expect(p, "the editor is here", RUN_MS));
    CU_ASSERT_TRUE(is_line_mode(p));
    pty_send(p, "Mine now\r");
    CU_ASSERT_TRUE(tui_expect(p, "saved and planned", RUN_MS));
    CU_ASSERT_FALSE(is_line_mode(p));
    CU_ASSERT_FALSE(pty_shows(p, "the editor is here"));
    pty_send(p, "q"); /* closes the popup */
    CU_ASSERT_TRUE(pty_wait_gone(p, "Esc close", 5000 * SLOW));
    CU_ASSERT_TRUE(
        tui_expect(p, "cmd> run fa2_edit", 5000 * SLOW)); /* the screen goes on with it */
    pty_send(p, "7");
    CU_ASSERT_TRUE(tui_expect(p, "[7 Lessons]", 5000 * SLOW));
    pty_send(p, ":edit fa2\r");
    CU_ASSERT_TRUE(tui_expect(p, "the editor is here", RUN_MS));
    pty_send(p, "Mine now\r");
    CU_ASSERT_TRUE(tui_expect(p, "saved and planned", RUN_MS));
    pty_send(p, "q");
    CU_ASSERT_TRUE(pty_wait_gone(p, "Esc close", 5000 * SLOW));
    CU_ASSERT_TRUE(pty_shows(p, "[7 Lessons]")); /* which is about no kernel */
    tui_quit(p);
}

/* Breaks the file at the first call and mends it at the second. */
#define BREAKS \
    "EDITOR=sh -c 'grep -q ^#error $1 && sed -i /^#error/d $1 || echo \"#error\" >>$1' sh"

/* On a plain terminal the editor is offered again after a mistake. */
static void offered_again(void)
{
    char library[512];
    const char *folder = getenv("ATTNSCOPE_FAKECUDA");
    snprintf(library, sizeof library, "ATTNSCOPE_LIBNVRTC=%s/fakecuda.so", folder ? folder : "");
    const char *const env[] = {BREAKS, library, NULL};
    const char *const args[] = {"edit", "naive", "--no-run", NULL};
    struct pty *p = tui_start_with(100, 30, args, env);
    CU_ASSERT_TRUE(tui_expect(p, "| #error", RUN_MS));
    CU_ASSERT_TRUE(tui_expect(p, "Open the editor again? [Y/n]", RUN_MS));
    pty_send(p, "\r");
    CU_ASSERT_TRUE(tui_expect(p, "compiled and not run", RUN_MS));
    CU_ASSERT_TRUE(pty_ended(p, RUN_MS));
    CU_ASSERT_EQUAL(p->status, 0);
    pty_free(p);
    p = tui_start_with(100, 30, args, env);
    CU_ASSERT_TRUE(tui_expect(p, "[Y/n]", RUN_MS));
    pty_send(p, "n\r");
    CU_ASSERT_TRUE(tui_expect(p, "opens it again", RUN_MS));
    CU_ASSERT_TRUE(pty_ended(p, RUN_MS));
    CU_ASSERT_EQUAL(WEXITSTATUS(p->status), 1);
    pty_free(p);
}

/* A file that is saved by somebody else shows up by itself. */
static void a_saved_file_appears(void)
{
    char path[512];
    struct pty *p = tui_start(100, 40);
    snprintf(path, sizeof path, "%s/data/attnscope/kernels/fa2_edit.cu", tui_home);
    CU_ASSERT_EQUAL(access(path, R_OK), 0);
    pty_send(p, "\tG"); /* the last kernel: one's own */
    CU_ASSERT_TRUE(tui_expect(p, "fa2_edit", START_MS));
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_TRUE(pty_wait_gone(p, "fa2_edit", 5000 * SLOW));
    tui_quit(p);
}

static const struct tap_test tests[] = {
    {"the editor borrows the terminal", borrow_and_return},
    {"files are followed without a key", a_saved_file_appears},
    {"after a mistake it is offered again", offered_again},
};

int main(int argc, char **argv)
{
    return tui_tests_main("edit", tests, sizeof tests / sizeof *tests, argc, argv);
}
