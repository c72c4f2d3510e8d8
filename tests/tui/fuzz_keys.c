/* fuzz_keys.c - random keys, commands, clicks and sizes against the whole app in this process.
 *
 * FUZZ_INPUTS is the number of keys (default 20000; a million before a release). The keys come from
 * a generator with a fixed seed, so that a crash repeats; FUZZ_SEED takes another. There is no
 * worker: what is asked to run fails at once, which is a path of its own. After every key something
 * is drawn, and the frame must hold no control character.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lesson/lesson.h"
#include "memtty.h"
#include "tui/app/app.h"
#include "tui/app/prompt.h"
#include "tui/app/state.h"
#include "tui/tui.h"

/* What is typed now and then, so that deep places are reached. */
static const char *const lines[] = {
    ":set S=4k D=128\r",
    ":set gpu=H200 dtype=bf16 causal=yes\r",
    ":set S=77 H=6 Hkv=3\r",
    ":plan fa2 BR=32\r",
    ":lesson 1\r",
    ":sweep fa2 BR=16,32,64 metric=occupancy_pct\r",
    ":occupancy threads=256 regs=168 smem=96Ki\r",
    ":explain occupancy_pct\r",
    ":help set\r",
    ":reset\r",
    ":resume\r",
    "/fa\r",
    ":nonsense S=\r",
    ":run fa2\r",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "?",
    "o",
    "e",
    "d",
    "x",
    "!",
    "z",
};
enum { LINES = sizeof lines / sizeof *lines, TELL_KEYS = 50000 };

struct dice {
    uint64_t state;
};

static unsigned roll(struct dice *d, unsigned n)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(d->state >> 33) % n;
}

struct fuzz {
    struct app app;
    struct tty *tty;
    struct dice dice;
    long done;
};

static void fail(const struct fuzz *f, const char *what)
{
    struct str text = {0};
    printf("not ok 1 - random keys\n# %s after key %ld on screen %s\n", what, f->done,
           f->app.screen->name);
    canvas_to_text(memtty_shown(f->tty), &text);
    for (const char *line = str_text(&text); *line; line += strcspn(line, "\n") + 1)
        printf("# |%.*s\n", (int)strcspn(line, "\n"), line);
    str_free(&text);
    exit(1);
}

static void check_frame(struct fuzz *f)
{
    const struct canvas *c = memtty_shown(f->tty);
    for (int i = 0; i < c->w * c->h; i++) {
        uint32_t ch = c->cells[i].ch;
        if ((ch > 0 && ch < 32) || (ch >= 127 && ch < 160))
            fail(f, "a control character is on the screen");
        if (c->glyphs == GLYPHS_ASCII && ch > 126 && ch != CELL_TAIL)
            fail(f, "a character above 126 is on an ASCII screen");
        if (c->cells[i].role >= ROLE_COUNT)
            fail(f, "a cell has no such role");
    }
}

static void resize(struct fuzz *f)
{
    static const int sizes[][2] = {{80, 24},  {200, 50}, {40, 12}, {39, 12}, {1, 1},
                                   {100, 30}, {60, 20},  {80, 12}, {40, 50}, {240, 70}};
    const int *s = sizes[roll(&f->dice, 10)];
    memtty_resize(f->tty, s[0], s[1]);
}

static int random_key(struct fuzz *f)
{
    unsigned kind = roll(&f->dice, 10);
    if (kind < 4)
        return TK_UP + (int)roll(&f->dice, TK_OTHER - TK_UP + 1);
    if (kind < 5)
        return 1 + (int)roll(&f->dice, 31);
    if (kind < 6)
        return roll(&f->dice, 2) ? TK_ENTER : TK_ESC;
    if (kind == 6 && roll(&f->dice, 20) == 0)
        return 0xa1 + (int)roll(&f->dice, 0x3000); /* letters of the world */
    return ' ' + (int)roll(&f->dice, 95);
}

static void press(struct fuzz *f, int key)
{
    if (key == TK_MOUSE)
        memtty_set_mouse_at(f->tty, (struct tty_mouse){.x = (int)roll(&f->dice, 240),
                                                       .y = (int)roll(&f->dice, 70),
                                                       .wheel = (int)roll(&f->dice, 3) - 1});
    app_key(&f->app, key);
    if (f->app.session->services.super)
        super_dispatch(f->app.session->services.super);
    if (f->app.screen->timeout_ms && f->app.screen->tick &&
        f->app.screen->timeout_ms(app_screen(&f->app)) == 0)
        f->app.screen->tick(app_screen(&f->app));
    f->app.quit = false;
    f->app.session->quit = false;
    f->done++;
    if (f->done % 4 ==
        0) { /* drawing costs most: keys come several a frame, as when they are held */
        app_draw(&f->app);
        check_frame(f);
    }
}

static void type(struct fuzz *f, const char *text)
{
    for (; *text; text++)
        press(f, *text == '\r' ? TK_ENTER : *text);
}

/* A state that is taken and put back leaves a state that says the same. */
static void check_state(struct fuzz *f)
{
    json_t *before = state_take(&f->app), *copy = json_deep_copy(before);
    state_put(&f->app, copy);
    json_decref(copy);
    json_t *after = state_take(&f->app);
    json_t *a = json_object_get(before, "script"), *b = json_object_get(after, "script");
    if (!json_equal(a, b)) {
        printf("# %s\n# %s\n", json_string_value(a), json_string_value(b));
        fail(f, "the resumed session has other settings");
    }
    json_decref(before);
    json_decref(after);
}

static void run(struct fuzz *f, long keys)
{
    app_draw(&f->app);
    f->app.ran_frame = true;
    for (long told = 0; f->done < keys;) {
        if (f->done - told >= TELL_KEYS) {
            told = f->done;
            printf("# %ld keys so far\n", told);
            fflush(stdout);
        }
        unsigned what = roll(&f->dice, 400);
        if (what < 3)
            resize(f);
        else if (what < 12)
            type(f, lines[roll(&f->dice, LINES)]);
        else if (what == 12 && roll(&f->dice, 10) == 0)
            check_state(f);
        else
            press(f, random_key(f));
    }
}

static void set_home(const char *home)
{
    static const char *const names[] = {"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
                                        "XDG_CACHE_HOME", "HOME"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        setenv(names[i], home, 1);
    setenv("ATTNSCOPE_WORKER", "/nonexistent/worker", 1);
    setenv("EDITOR", "true", 1);
    setenv("VISUAL", "true", 1);
}

int main(int argc, char **argv)
{
    static struct fuzz f;
    char home[] = "/tmp/attnscope-keys-XXXXXX", command[96];
    const char *inputs = getenv("FUZZ_INPUTS"), *seed = getenv("FUZZ_SEED");
    (void)argc;
    setlocale(LC_CTYPE, "C.UTF-8");
    if (!mkdtemp(home) || chdir(home) != 0)
        return 1;
    set_home(home);
    command_register_core();
    lesson_register();
    tui_register();
    struct session *s = session_new(argv[0]);
    s->may = session_kinds[SESSION_RESTRICTED].may; /* no files, no shell */
    f.dice.state = seed ? strtoull(seed, NULL, 10) : 1;
    f.tty = memtty_new(80, 24);
    app_begin(&f.app, s, f.tty, tui_screens);
    puts("1..1");
    fflush(stdout);
    run(&f, inputs ? strtol(inputs, NULL, 10) : 20000);
    printf("# %ld keys\nok 1 - random keys\n", f.done);
    app_end(&f.app);
    memtty_free(f.tty);
    session_free(s);
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command) == 0 ? 0 : 1;
}
