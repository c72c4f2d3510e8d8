/* test_golden.c - every screen and popup in every glyph tier at several sizes, against golden.txt.
 *
 * One process, a terminal in memory, a fixed session (session.json), no worker: nothing is measured.
 * The ASCII tier is kept as text, so that a change can be read in a diff; of the other tiers, whose
 * frames say the same with other glyphs, each row is kept as a hash. `make update-golden` writes the
 * file anew.
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

/* What is shown: a screen, and the keys pressed there. */
static const struct view {
    const char *name, *screen, *keys;
    bool no_gpu; /* what it shows, it shows where there is none */
} views[] = {
    {.name = "explore", .screen = "explore", .keys = ""},
    {.name = "compare", .screen = "compare", .keys = ""},
    {.name = "sweep", .screen = "sweep", .keys = ""},
    {.name = "roofline", .screen = "roofline", .keys = ""},
    {.name = "timeline", .screen = "timeline", .keys = ""},
    {.name = "source", .screen = "source", .keys = ""},
    {.name = "lessons", .screen = "lessons", .keys = ""},
    {.name = "lesson blocks", .screen = "lessons", .keys = "j\r"},
    {.name = "explore blank", .screen = "explore", .keys = "."},
    {.name = "explore zoom", .screen = "explore", .keys = "z"},
    {.name = "help", .screen = "explore", .keys = "?"},
    {.name = "options", .screen = "explore", .keys = "o"},
    {.name = "export", .screen = "explore", .keys = "e"},
    {.name = "explain", .screen = "explore", .keys = "x"},
    {.name = "device", .screen = "explore", .keys = "d"},
    {.name = "prompt", .screen = "explore", .keys = ":set gpu=H\t"},
    {.name = "explore recorded",
     .screen = "explore",
     .keys = ":set gpu=H200 B=4 H=16 S=4096 D=128\r"},
    {.name = "compare recorded",
     .screen = "compare",
     .keys = ":set gpu=H200 B=4 H=16 S=4096 D=128\r"},
    {.name = "explore simulated beside",
     .screen = "explore",
     .keys = ":set backend=auto\r",
     .no_gpu = true},
    {.name = "explore simulated",
     .screen = "explore",
     .keys = ":set backend=sim\r\t/fa2_mma_rows\r"},
    {.name = "explore hazard", .screen = "explore", .keys = ":set backend=sim\r\t/qtile_seq\r"},
    {.name = "explore simulated old", .screen = "explore", .keys = ":set backend=sim S=256\r"},
    {.name = "explain auto",
     .screen = "explore",
     .keys = ":explain auto gpu=H200 H=8 S=512 D=64 f16\r"},
    {.name = "bench limit", .screen = "explore", .keys = ":bench limit h200-limit only=Huge\r"},
};
static const int sizes[][2] = {{80, 24}, {200, 50}, {100, 30}, {40, 12}, {60, 18}};
static const char *const tiers[] = {"ascii", "blocks", "braille"};
enum {
    VIEWS = sizeof views / sizeof *views,
    SIZES = sizeof sizes / sizeof *sizes,
    GOLDEN_BYTES = 4 << 20,
};

static json_t *fixture;
static char *golden; /* the file's text; NULL: it is written anew */
static struct str fresh;

/* ---- one capture ---- */

static void press(struct app *a, const char *keys)
{
    for (; *keys; keys++)
        app_key(a, *keys == '\r' ? TK_ENTER : *keys);
}

/* What a screen computes by itself between frames. Not Explore: what it waits for is a measurement,
 * which on a slow machine is due before the picture is taken. */
static void let_compute(struct app *a)
{
    const bool measures = strcmp(a->screen->name, "explore") == 0;
    for (int i = 0; i < 500 && a->screen->timeout_ms && !measures; i++) {
        if (a->screen->timeout_ms(app_screen(a)) != 0)
            return;
        a->screen->tick(app_screen(a));
    }
}

static unsigned row_hash(const char *text, size_t n)
{
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static void put_text(struct str *out, const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        str_addf(out, "|%.*s\n", (int)strcspn(line, "\n"), line);
}

static void put_hashes(struct str *out, const char *text)
{
    int n = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1, n++)
        str_addf(out, "%s%08x",
                 n % 10 ? " "
                 : n    ? "\n "
                        : " ",
                 row_hash(line, strcspn(line, "\n")));
    str_addc(out, '\n');
}

/* ---- comparing ---- */

/* The block below its heading in the golden file, NULL: it is not there. */
static char *kept(const char *heading)
{
    char *from = strstr(golden, heading);
    if (!from)
        return NULL;
    from += strlen(heading);
    char *end = strstr(from, "\n== ");
    return xstrndup(from, end ? (size_t)(end + 1 - from) : strlen(from));
}

static void compare(const char *heading, const char *block, const char *text)
{
    char *was = kept(heading);
    bool same = was && strcmp(was, block) == 0;
    CU_ASSERT(same);
    if (!same) {
        printf("# differs: %s", heading);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
            printf("# |%.*s\n", (int)strcspn(line, "\n"), line);
        printf("# `make update-golden` takes it over\n");
    }
    free(was);
}

static void check_bytes(const char *text, enum glyphs tier)
{
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p > (tier == GLYPHS_ASCII ? 126 : 255)) {
            CU_FAIL("a byte above 126 in the ASCII tier");
            return;
        }
}

static void capture(struct app *a, struct tty *tty, const struct view *v, enum glyphs tier,
                    const int *size)
{
    char heading[96];
    struct str text = {0}, block = {0};
    memtty_resize(tty, size[0], size[1]);
    app_draw(a);
    let_compute(a);
    app_draw(a);
    canvas_to_text(memtty_shown(tty), &text);
    check_bytes(str_text(&text), tier);
    snprintf(heading, sizeof heading, "== %s, %s, %dx%d\n", v->name, tiers[tier], size[0], size[1]);
    if (tier == GLYPHS_ASCII)
        put_text(&block, str_text(&text));
    else
        put_hashes(&block, str_text(&text));
    if (golden)
        compare(heading, str_text(&block), str_text(&text));
    str_addf(&fresh, "%s%s", heading, str_text(&block));
    str_free(&text);
    str_free(&block);
}

static void capture_tier(const struct view *v, enum glyphs tier)
{
    static struct app a;
    struct tty *tty = memtty_new(80, 24);
    struct session *s = session_new("attnscope");
    json_t *state = json_deep_copy(fixture);
    s->front.glyphs = tier;
    app_begin(&a, s, tty, tui_screens);
    state_put(&a, state);
    json_decref(state);
    app_clear_message(&a);
    app_show(&a, v->screen);
    app_draw(&a);
    press(&a, v->keys);
    for (int i = 0; i < SIZES; i++)
        capture(&a, tty, v, tier, sizes[i]);
    app_end(&a);
    session_free(s);
    memtty_free(tty);
}

static void capture_view(const struct view *v)
{
    if (v->no_gpu && backend_gpu_is_here())
        return;
    for (int tier = GLYPHS_ASCII; tier <= GLYPHS_BRAILLE; tier++)
        capture_tier(v, (enum glyphs)tier);
}

static void test_screens(void)
{
    for (int i = 0; i < 8; i++)
        capture_view(&views[i]);
}

static void test_popups(void)
{
    for (int i = 8; i < VIEWS; i++)
        capture_view(&views[i]);
}

static const struct tap_test tests[] = {
    {"every screen, tier and size", test_screens},
    {"popups, blank, zoom, prompt", test_popups},
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

static bool read_files(const char *srcdir)
{
    char path[4200];
    size_t len;
    snprintf(path, sizeof path, "%s/tests/tui/session.json", srcdir);
    fixture = json_load_file(path, 0, NULL);
    snprintf(path, sizeof path, "%s/tests/tui/golden.txt", srcdir);
    if (!getenv("UPDATE_GOLDEN") && str_read_file(path, GOLDEN_BYTES, &golden, &len, NULL) != ST_OK)
        return false;
    return fixture != NULL;
}

static int write_file(const char *srcdir)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/tests/tui/golden.txt", srcdir);
    FILE *f = fopen(path, "w");
    if (!f)
        return 1;
    fwrite(str_text(&fresh), 1, fresh.len, f);
    return fclose(f) != 0;
}

int main(void)
{
    char home[] = "/tmp/attnscope-golden-XXXXXX", command[96];
    const char *srcdir = getenv("ATTNSCOPE_SRCDIR");
    setlocale(LC_CTYPE, "C.UTF-8");
    if (!srcdir || !read_files(srcdir) || !mkdtemp(home))
        return tap_skip_all("ATTNSCOPE_SRCDIR does not lead to tests/tui/golden.txt");
    set_home(home);
    command_register_core();
    lesson_register();
    tui_register();
    int rc = tap_run("golden", tests, sizeof tests / sizeof *tests);
    if (!golden)
        rc = write_file(srcdir);
    snprintf(command, sizeof command, "rm -rf %s", home);
    json_decref(fixture);
    free(golden);
    str_free(&fresh);
    return system(command) == 0 ? rc : 1;
}
