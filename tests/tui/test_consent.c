/* test_consent.c - native code in the full screen: a command or a screen that would run it opens a question,
 * whose cursor begins at no; what is said yes to is the code that was shown.
 *
 * In this process, on a terminal in memory; nothing is measured.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "command/ask/consent.h"
#include "command/ask/measure.h"
#include "lesson/lesson.h"
#include "memtty.h"
#include "tap.h"
#include "tui/app/app.h"
#include "tui/app/menus.h"
#include "tui/tui.h"

static struct app app;
static struct tty *tty;
static struct session *session;
static char folder[] = "/tmp/attnscope-consent-XXXXXX";

static void write_kernel(const char *more)
{
    char *path = xasprintf("%s/attnscope/kernels/mine.c", folder);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fprintf(f, "/* @name mine\n * @title T\n * @dtypes f16 f32\n */\n%s\n", more);
    fclose(f);
    free(path);
}

static void open_app(void)
{
    write_kernel("int x;");
    tty = memtty_new(100, 30);
    session = session_new("attnscope");
    app_begin(&app, session, tty, tui_screens);
    app_draw(&app);
}

static void close_app(void)
{
    char *allowed = xasprintf("%s/attnscope/allowed", folder);
    unlink(allowed);
    free(allowed);
    app_end(&app);
    session_free(session);
    memtty_free(tty);
}

static void press(int key)
{
    app_key(&app, key);
    app_draw(&app);
}

static bool shows(const char *text)
{
    struct str s = {0};
    canvas_to_text(memtty_shown(tty), &s);
    const bool found = strstr(str_text(&s), text) != NULL;
    if (!found)
        printf("# \"%s\" is not in\n%s", text, str_text(&s));
    str_free(&s);
    return found;
}

static const struct kernel *mine(void)
{
    return registry_find(session->services.registry, "mine");
}

static bool allowed(void)
{
    return consent_check(session, mine(), consent_side(mine()), NULL, NULL) == ST_OK;
}

/* What a screen does that would run it. */
static void would_run(void)
{
    struct request r;
    CU_ASSERT_EQUAL_FATAL(request_of(session, "mine", NULL, 0, &r, NULL), ST_OK);
    const struct measure_how how = {.kind = JOB_CHECK, .verb = "check"};
    free(r.options.backend);
    r.options.backend = xstrdup("cpu");
    struct measuring *m = measure_start(session, &r, &how);
    CU_ASSERT_PTR_NULL(measure_job(m)); /* nothing runs */
    struct measured out;
    measure_close(m, &out);
    CU_ASSERT(out.rows.n == 1 && strstr(out.rows.v[0].reason, "kernel allow mine does"));
    measured_clear(&out);
    request_clear(&r);
    menu_consent(&app); /* as the loop does when its turn is over */
    app_draw(&app);
}

static void test_no(void)
{
    open_app();
    would_run();
    CU_ASSERT(popup_is_menu(&app.popup) && shows("Run mine, which is native code?"));
    CU_ASSERT(shows("do not run it") && shows("with your rights"));
    press(TK_ENTER); /* an Enter too many runs nothing */
    CU_ASSERT_FALSE(popup_is_open(&app.popup));
    CU_ASSERT_FALSE(allowed());
    would_run(); /* asked again when it is wanted again */
    CU_ASSERT_TRUE(popup_is_menu(&app.popup));
    press(TK_ESC);
    CU_ASSERT_FALSE(allowed());
    close_app();
}

static void test_yes(void)
{
    open_app();
    would_run();
    press(TK_DOWN);
    press(TK_ENTER);
    CU_ASSERT_TRUE(allowed());
    CU_ASSERT(shows("mine may run as it is now"));
    write_kernel("int y; /* longer, so that it is another file */");
    registry_refresh(session->services.registry);
    CU_ASSERT_FALSE(allowed());
    close_app();
}

/* Between the question and the answer somebody changes the file. */
static void test_changed(void)
{
    open_app();
    would_run();
    write_kernel("int z; /* longer still */");
    registry_refresh(session->services.registry);
    press(TK_DOWN);
    press(TK_ENTER);
    CU_ASSERT_FALSE(allowed());
    CU_ASSERT(shows("has changed meanwhile"));
    close_app();
}

static void test_about(void)
{
    open_app();
    would_run();
    press(TK_DOWN);
    press(TK_DOWN);
    press(TK_ENTER);
    CU_ASSERT(shows("sha256") && shows("mine.c") && shows("can read"));
    CU_ASSERT_FALSE(allowed());
    close_app();
}

static void test_restricted(void)
{
    open_app();
    CU_ASSERT_EQUAL(consent_give(session, mine(), NULL, NULL), ST_OK);
    session->may = session_kinds[SESSION_RESTRICTED].may;
    CU_ASSERT_FALSE(allowed());
    CU_ASSERT_EQUAL(consent_give(session, mine(), NULL, NULL), ST_USAGE);
    CU_ASSERT_EQUAL(consent_ask(session, mine(), consent_side(mine()), NULL, NULL), ST_NO);
    CU_ASSERT_PTR_NULL(consent_wanted(session)); /* there is nothing to ask */
    close_app();
}

static const struct tap_test tests[] = {
    {"the cursor begins at no", test_no},
    {"yes holds for the code as it is", test_yes},
    {"yes to what has changed meanwhile is none", test_changed},
    {"file and hash can be read", test_about},
    {"restricted sessions do not ask", test_restricted},
};

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    if (!mkdtemp(folder))
        return 1;
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("XDG_STATE_HOME", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    char *line = xasprintf("mkdir -p '%s/attnscope/kernels'", folder);
    if (system(line) != 0)
        return 1;
    free(line);
    command_register_core();
    lesson_register();
    tui_register();
    const int rc = tap_run("consent", tests, sizeof tests / sizeof *tests);
    line = xasprintf("rm -rf '%s'", folder);
    if (system(line) != 0)
        printf("# %s was left behind\n", folder);
    free(line);
    return rc;
}
