/* test_veil.c - values that are hidden (key `.`) are hidden everywhere: two sessions that differ in their
 * measured figures alone look the same, cell by cell, glyph and colour.
 *
 * In this process, on a terminal in memory; nothing is measured.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "lesson/lesson.h"
#include "memtty.h"
#include "tap.h"
#include "tui/app/app.h"
#include "tui/app/state.h"
#include "tui/tui.h"

static json_t *fixture;

/* ---- two worlds ---- */

/* How fast three kernels are in a world, and whether their samples vary much. */
struct world {
    double us[3], cv;
    const char *verdict;
    int n;
};
static const struct world quick_first = {{41.5, 980.2, 12345.6}, 0.4, "SLOWER", 55},
                          quick_last = {{34567.8, 980.4, 7.1}, 23.0, "FASTER", 7};
static const char *const kernels[3] = {"fa2", "naive", "qtile_seq"};

static void set_real(json_t *row, const char *key, double v)
{
    json_object_set_new(row, key, json_real(v));
}

static void fill_row(json_t *row, const struct world *w, int i)
{
    const double us = w->us[i];
    set_real(row, "median_us", us);
    set_real(row, "min_us", 0.9 * us);
    set_real(row, "mean_us", us);
    set_real(row, "q1_us", 0.95 * us);
    set_real(row, "q3_us", 1.1 * us);
    set_real(row, "p95_us", 1.3 * us);
    set_real(row, "cv_pct", w->cv);
    set_real(row, "tflops", 1 / us);
    set_real(row, "gbytes_per_s", 10 / us);
    set_real(row, "max_diff", 1e-4 * w->cv);
    set_real(row, "pair_max_diff", 1e-5 * w->cv);
    set_real(row, "error_ratio", 0.1 * w->cv);
    set_real(row, "sm_clock_mhz", 1000 + w->cv);
    set_real(row, "ratio", i ? us / w->us[0] : 1);
    set_real(row, "ratio_lo", i ? 0.99 * us / w->us[0] : 1);
    set_real(row, "ratio_hi", i ? 1.01 * us / w->us[0] : 1);
    set_real(row, "speedup", w->us[0] / us);
    json_object_set_new(row, "dropped", json_integer(w->n > 10 ? 0 : 3));
    json_object_set_new(row, "n", json_integer(w->n));
    json_object_set_new(row, "stopped", json_string(w->n > 10 ? "cv" : "time"));
    json_object_set_new(row, "verdict", json_string(i ? w->verdict : "base"));
    json_object_set_new(row, "kernel", json_string(kernels[i]));
    json_t *samples = json_array();
    for (int k = 0; k < w->n; k++)
        json_array_append_new(samples, json_real(us * (1 + 0.01 * w->cv * (k % 5))));
    json_object_set_new(row, "samples_us", samples);
    json_object_set(row, "recent_us", samples);
}

/* The session of the golden screens with the figures of a world. */
static json_t *state_of(const struct world *w)
{
    json_t *state = json_deep_copy(fixture), *screens = json_object_get(state, "screens"),
           *explore = json_object_get(screens, "explore"),
           *compare = json_object_get(screens, "compare"),
           *one = json_array_get(json_object_get(explore, "figures"), 0), *figures = json_array(),
           *marks = json_array();
    for (int i = 0; i < 3; i++) {
        json_t *f = json_deep_copy(one);
        json_object_set_new(f, "kernel", json_string(kernels[i]));
        json_object_set_new(f, "label", json_string(kernels[i]));
        fill_row(json_object_get(f, "row"), w, i);
        json_array_append_new(figures, f);
        json_array_append_new(marks, json_string(kernels[i]));
        fill_row(json_array_get(json_object_get(state, "rows"), (size_t)i), w, i);
    }
    json_object_set(explore, "figures", figures);
    json_object_set_new(compare, "rows", figures);
    json_object_set_new(compare, "marks", marks);
    json_object_set_new(compare, "base", json_string(kernels[0]));
    return state;
}

/* ---- what is seen ---- */

static void press(struct app *a, const char *keys)
{
    for (; *keys; keys++) {
        app_key(a, *keys == '\r' ? TK_ENTER : *keys);
        app_draw(a);
    }
}

/* Glyphs and roles of a screen after some keys; the text in `text`. The caller frees them. */
static struct cell *seen(const struct world *w, const char *screen, const char *keys, int width,
                         int height, struct str *text)
{
    static struct app a;
    struct tty *tty = memtty_new(width, height);
    struct session *s = session_new("attnscope");
    json_t *state = state_of(w);
    s->front.glyphs = GLYPHS_ASCII;
    app_begin(&a, s, tty, tui_screens);
    state_put(&a, state);
    json_decref(state);
    app_clear_message(&a);
    app_show(&a, screen);
    app_draw(&a);
    press(&a, keys);
    app_clear_message(&a);
    app_draw(&a);
    const struct canvas *c = memtty_shown(tty);
    const size_t n = (size_t)c->w * (size_t)c->h;
    struct cell *cells = xcalloc(n, sizeof *cells);
    memcpy(cells, c->cells, n * sizeof *cells);
    canvas_to_text(c, text);
    app_end(&a);
    session_free(s);
    memtty_free(tty);
    return cells;
}

/* The first cell in which they differ, -1: none. */
static int differ(const struct cell *a, const struct cell *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i].ch != b[i].ch || a[i].role != b[i].role)
            return i;
    return -1;
}

/* Do both worlds look the same? */
static bool same(const char *screen, const char *keys, int w, int h)
{
    struct str text[2] = {{0}};
    struct cell *cells[2] = {seen(&quick_first, screen, keys, w, h, &text[0]),
                             seen(&quick_last, screen, keys, w, h, &text[1])};
    const int at = differ(cells[0], cells[1], w * h);
    if (at >= 0 && strchr(keys, '.'))
        printf("# %s \"%s\" %dx%d differs in row %d, column %d:\n%s%s", screen, keys, w, h, at / w,
               at % w, str_text(&text[0]), str_text(&text[1]));
    for (int i = 0; i < 2; i++) {
        free(cells[i]);
        str_free(&text[i]);
    }
    return at < 0;
}

static const int sizes[][2] = {{80, 24}, {200, 50}, {100, 30}, {60, 18}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void test_screens(void)
{
    static const char *const screens[] = {"explore",  "compare", "sweep",  "roofline",
                                          "timeline", "source",  "lessons"};
    for (size_t i = 0; i < sizeof screens / sizeof *screens; i++)
        for (int k = 0; k < SIZES; k++)
            CU_ASSERT(same(screens[i], ".", sizes[k][0], sizes[k][1]));
}

/* The worlds do differ where nothing is hidden: this test can fail. */
static void test_seen(void)
{
    CU_ASSERT_FALSE(same("explore", "", 80, 24));
    CU_ASSERT_FALSE(same("compare", "", 80, 24));
    CU_ASSERT_FALSE(same("compare", "..", 80, 24)); /* shown again */
    CU_ASSERT_FALSE(same("explore", ":$1\r", 80, 24));
}

/* Cursor, sorting, zoom, projector: no way to look at the rows tells their order. */
static void test_ways(void)
{
    static const char *const keys[] = {".j",  ".jj",    ".s",      ".ss",  ".sss",  ".S", ".z",
                                       ".jz", ".\t\tz", ".P",      ".jP",  ".k",    ".x", "s.",
                                       "ss.", "S.",     ".\t\t\t", ".TTT", ".TTTz", ".!", ".x"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        CU_ASSERT(same("compare", keys[i], 100, 30));
        CU_ASSERT(same("explore", keys[i], 100, 30));
    }
}

/* What commands print of what was measured. */
static void test_tables(void)
{
    static const char *const lines[] = {":$1\r", ":show $2\r", ":$1.median_us / $2.median_us\r",
                                        ":results\r"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *keys = xasprintf(".%s", lines[i]);
        CU_ASSERT(same("explore", keys, 80, 24));
        free(keys);
    }
}

/* Does a text stand on the screen? */
static bool shows(const char *screen, const char *keys, const char *what)
{
    struct str text = {0};
    free(seen(&quick_first, screen, keys, 200, 50, &text));
    const bool found = strstr(str_text(&text), what) != NULL;
    str_free(&text);
    return found;
}

/* Recordings are the same in both worlds: what they say is looked for. */
static void test_recorded(void)
{
    static const char set[] = ":set gpu=H200 B=1 H=8 S=512 D=64 f16\r";
    char *hidden = xasprintf("%s.", set);
    CU_ASSERT(shows("timeline", set, "RECORDED 107 us"));
    CU_ASSERT_FALSE(shows("timeline", hidden, "107"));
    CU_ASSERT(shows("timeline", hidden, "busy"));
    CU_ASSERT(shows("explore", set, "107"));
    CU_ASSERT_FALSE(shows("explore", hidden, "107"));
    CU_ASSERT_FALSE(shows("compare", hidden, "107"));
    CU_ASSERT_FALSE(shows("roofline", hidden, "@"));
    free(hidden);
    CU_ASSERT(shows("explore", ".:plan fa2\r", "SMEM")); /* what is computed may be seen */
}

static const struct tap_test tests[] = {
    {"what is not hidden differs", test_seen},
    {"every screen", test_screens},
    {"orders, panes, the projector", test_ways},
    {"tables of commands", test_tables},
    {"recordings", test_recorded},
};

static void set_home(const char *home)
{
    static const char *const names[] = {"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
                                        "XDG_CACHE_HOME", "HOME"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        setenv(names[i], home, 1);
    setenv("ATTNSCOPE_WORKER", "/nonexistent/worker", 1);
    setenv("ATTNSCOPE_COMPILE", "off", 1); /* the same on every machine */
    unsetenv("SSH_TTY");
}

int main(void)
{
    char home[] = "/tmp/attnscope-veil-XXXXXX", command[96], path[4200];
    const char *srcdir = getenv("ATTNSCOPE_SRCDIR");
    setlocale(LC_CTYPE, "C.UTF-8");
    snprintf(path, sizeof path, "%s/tests/tui/session.json", srcdir ? srcdir : ".");
    fixture = json_load_file(path, 0, NULL);
    if (!fixture || !mkdtemp(home) || chdir(home) != 0) /* pressed keys may write files */
        return tap_skip_all("ATTNSCOPE_SRCDIR does not lead to tests/tui/session.json");
    set_home(home);
    command_register_core();
    lesson_register();
    tui_register();
    const int rc = tap_run("veil", tests, sizeof tests / sizeof *tests);
    snprintf(command, sizeof command, "rm -rf %s", home);
    json_decref(fixture);
    return system(command) == 0 ? rc : 1;
}
