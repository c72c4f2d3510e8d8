/* memrun.c - see memrun.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "memrun.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lesson/lesson.h"
#include "tui/tui.h"

struct app app;
struct tty *tty;
struct session *session;

void open_app(int w, int h)
{
    tty = memtty_new(w, h);
    session = session_new("attnscope");
    app_begin(&app, session, tty, tui_screens);
    app_draw(&app);
}

void close_app(void)
{
    app_end(&app);
    session_free(session);
    memtty_free(tty);
}

void press(int key)
{
    app_key(&app, key);
    app_draw(&app);
}

void type(const char *text)
{
    for (; *text; text++)
        press(*text == '\r' ? TK_ENTER : *text);
}

char *screen(void)
{
    struct str s = {0};
    canvas_to_text(memtty_shown(tty), &s);
    return str_take(&s);
}

bool shows(const char *text)
{
    char *s = screen();
    const bool found = strstr(s, text) != NULL;
    if (!found)
        printf("# \"%s\" is not in\n%s", text, s);
    free(s);
    return found;
}

bool hides(const char *text)
{
    char *s = screen();
    const bool found = strstr(s, text) != NULL;
    free(s);
    return !found;
}

int mem_tests_main(const char *suite, const struct tap_test *tests, int n)
{
    char home[] = "/tmp/attnscope-memrun-XXXXXX", command[96];
    static const char *const names[] = {"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
                                        "XDG_CACHE_HOME", "HOME"};
    setlocale(LC_CTYPE, "C.UTF-8");
    if (!mkdtemp(home))
        return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        setenv(names[i], home, 1);
    command_register_core();
    lesson_register();
    tui_register();
    const int rc = tap_run(suite, tests, (size_t)n);
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command) == 0 ? rc : 1;
}

void mem_golden(const char *file, const struct str *is)
{
    const char *srcdir = getenv("ATTNSCOPE_SRCDIR");
    char *was = NULL, *path = xasprintf("%s/tests/tui/%s", srcdir ? srcdir : ".", file);
    size_t len;
    if (getenv("UPDATE_GOLDEN")) {
        FILE *f = fopen(path, "w");
        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        fwrite(str_text(is), 1, is->len, f);
        CU_ASSERT_EQUAL(fclose(f), 0);
    } else {
        CU_ASSERT_EQUAL_FATAL(str_read_file(path, 1 << 20, &was, &len, NULL), ST_OK);
        const bool same = len == is->len && !memcmp(was, str_text(is), len);
        CU_ASSERT(same);
        if (!same)
            printf("# `make update-golden` takes it over:\n%s", str_text(is));
    }
    free(was);
    free(path);
}
