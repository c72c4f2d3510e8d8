/* The history file: appended to by several sessions at once, each line once, nothing harmful.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "command/line/history.h"

static char dir[] = "/tmp/attnscope-test-XXXXXX";
static char *file;

static void fill(const char *text)
{
    FILE *f = fopen(file, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

static void expect(const char *want)
{
    struct history h;
    struct str got = {0};
    history_load(&h);
    for (size_t i = 0; i < h.count; i++)
        str_addf(&got, "%s|", h.lines[i]);
    CU_ASSERT_STRING_EQUAL(str_text(&got), want);
    if (strcmp(str_text(&got), want))
        printf("# got %s\n", str_text(&got));
    str_free(&got);
    history_forget(&h);
}

static void test_keep(void)
{
    expect(""); /* neither file nor folder */
    CU_ASSERT_TRUE(history_keep("run naive"));
    CU_ASSERT_FALSE(history_keep(""));
    CU_ASSERT_FALSE(history_keep("  "));
    CU_ASSERT_FALSE(history_keep(" secret"));
    CU_ASSERT_TRUE(history_keep("show"));
    expect("run naive|show|");
    struct stat st;
    CU_ASSERT_EQUAL(stat(file, &st), 0);
    CU_ASSERT_EQUAL(st.st_mode & 077, 0); /* nobody else's business */
}

static void test_once(void)
{
    fill("a\nb\na\nc\nb\n");
    expect("a|c|b|");
    fill("a\n\nb without an end");
    expect("a|b without an end|");
    fill("good\n\033[2Jbad\nC1 \xC2\x9B\nraw \x9B\nalso good\n");
    expect("good|also good|");
    fill("");
    expect("");
}

static void test_long(void)
{
    struct str text = {0};
    for (int i = 0; i < 60000; i++)
        str_addf(&text, "line number %d of many\n", i);
    fill(str_text(&text));
    struct history h;
    history_load(&h);
    CU_ASSERT_EQUAL(h.count, HISTORY_MAX);
    CU_ASSERT_STRING_EQUAL(h.lines[h.count - 1], "line number 59999 of many");
    history_forget(&h);
    struct stat st;
    CU_ASSERT_EQUAL(stat(file, &st), 0);
    CU_ASSERT(st.st_size < 100000); /* it was shortened, */
    history_load(&h);
    CU_ASSERT_EQUAL(h.count, HISTORY_MAX); /* and nothing of it was lost */
    history_forget(&h);
    str_free(&text);
}

/* Four sessions write 200 lines each, one of them also loads, which shortens: all arrive. */
static void test_together(void)
{
    enum { SESSIONS = 4, LINES = 200 };
    fill("");
    for (int p = 0; p < SESSIONS; p++) {
        if (fork())
            continue;
        for (int i = 0; i < LINES; i++) {
            char *line = xasprintf("session %d line %d", p, i);
            history_keep(line);
            free(line);
            struct history h;
            if (!p && i % 20 == 0)
                history_load(&h), history_forget(&h);
        }
        _exit(0);
    }
    for (int p = 0; p < SESSIONS; p++)
        wait(NULL);
    struct history h;
    history_load(&h);
    CU_ASSERT_EQUAL(h.count, SESSIONS * LINES);
    history_forget(&h);
}

static void test_refused(void)
{
    unlink(file);
    CU_ASSERT_EQUAL(mkfifo(file, 0600), 0); /* must not be waited for */
    expect("");
    struct history h;
    history_load(&h); /* its owner hears of it */
    CU_ASSERT(h.refused && strstr(h.refused, "history is a pipe, not a file"));
    history_forget(&h);
    CU_ASSERT_TRUE(history_keep("x"));
    unlink(file);
    mkdir(file, 0700);
    expect("");
    CU_ASSERT_TRUE(history_keep("x"));
    rmdir(file);
}

static const struct tap_test tests[] = {
    {"lines are appended, but not secret ones", test_keep},
    {"each line once, at its last place, and clean", test_once},
    {"a long file is shortened", test_long},
    {"sessions side by side", test_together},
    {"a pipe or a folder in its place", test_refused},
};

int main(void)
{
    if (!mkdtemp(dir))
        return 99;
    setenv("XDG_STATE_HOME", dir, 1);
    file = xasprintf("%s/attnscope/history", dir);
    const int rc = tap_run("history", tests, sizeof tests / sizeof *tests);
    unlink(file);
    char *folder = xasprintf("%s/attnscope", dir);
    rmdir(folder);
    rmdir(dir);
    free(folder);
    free(file);
    return rc;
}
