/* menu_options.c - the options menu: what `set` knows besides the shape, and how the screen looks.
 *
 * Changes of the session go through `set`, so that the log shows them and undo takes them back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tui/app/menus.h"
#include "tui/app/prompt.h"

/* ---- how it looks ---- */

static void get_switch(bool on, char *buf, size_t size)
{
    snprintf(buf, size, "%s", on ? "on" : "off");
}

static void get_theme(const struct app *a, char *buf, size_t size)
{
    snprintf(buf, size, "%s", tty_theme(a->tty)->name);
}

static void step_theme(struct app *a, int dir)
{
    const struct theme *t = theme_next(tty_theme(a->tty));
    while (dir < 0 && theme_next(t) != tty_theme(a->tty))
        t = theme_next(t);
    tty_set_theme(a->tty, t);
}

static void get_glyphs(const struct app *a, char *buf, size_t size)
{
    static const char *const names[] = {"ascii", "blocks", "braille"};
    snprintf(buf, size, "%s", names[a->canvas->glyphs]);
}

static void step_glyphs(struct app *a, int dir)
{
    a->canvas->glyphs = (enum glyphs)((a->canvas->glyphs + 3 + dir) % 3);
    a->session->front.glyphs = a->canvas->glyphs;
    tty_redraw(a->tty);
}

static void get_mouse(const struct app *a, char *buf, size_t size)
{
    get_switch(tty_has_mouse(a->tty), buf, size);
}

static void step_mouse(struct app *a, int dir)
{
    (void)dir;
    tty_set_mouse(a->tty, !tty_has_mouse(a->tty));
}

static void get_blank(const struct app *a, char *buf, size_t size)
{
    get_switch(a->blank, buf, size);
}

static void step_blank(struct app *a, int dir)
{
    (void)dir;
    a->blank = !a->blank;
}

static void get_zoom(const struct app *a, char *buf, size_t size)
{
    get_switch(a->zoom, buf, size);
}

static void step_zoom(struct app *a, int dir)
{
    (void)dir;
    a->zoom = !a->zoom;
}

static void get_projector(const struct app *a, char *buf, size_t size)
{
    get_switch(a->projector, buf, size);
}

static void step_projector(struct app *a, int dir)
{
    (void)dir;
    app_set_projector(a, !a->projector);
}

static const struct look {
    const char *name, *usual, *doc;
    void (*get)(const struct app *a, char *buf, size_t size);
    void (*step)(struct app *a, int dir);
} looks[] = {
    {"theme", "default", "colours: for dark or light grounds, none, or for a projector", get_theme,
     step_theme},
    {"glyphs", "blocks", "what figures are drawn with; braille needs a font that has it",
     get_glyphs, step_glyphs},
    {"mouse", "off",
     "a click selects pane, row or tab, the wheel scrolls; the terminal's own "
     "selection then needs Shift",
     get_mouse, step_mouse},
    {"blank values", "off", "measured values show as ?, to guess them first", get_blank,
     step_blank},
    {"zoom", "off", "the focused pane takes the whole screen", get_zoom, step_zoom},
    {"projector", "off", "large spacing, one pane at a time, keys are shown as they are pressed",
     get_projector, step_projector},
};

/* ---- rows ---- */

/* In this order: options of the session, seed, input, looks. */
enum { LOOKS = sizeof looks / sizeof *looks };

static int session_options(void)
{
    int n = 0;
    while (option_keys[n].name)
        n++;
    return n;
}

static const struct look *look_at(int i)
{
    i -= session_options() + 2;
    return i >= 0 && i < LOOKS ? &looks[i] : NULL;
}

static int count(void *ctx)
{
    (void)ctx;
    return session_options() + 2 + LOOKS;
}

static void session_menu_row(const struct session *s, int i, struct menu_row *row)
{
    struct options usual = {0};
    struct str text = {0};
    char was[48];
    int n = session_options();
    snprintf(row->name, sizeof row->name, "%s",
             i < n    ? option_keys[i].name
             : i == n ? "seed"
                      : "input");
    if (i < n) {
        options_init(&usual);
        option_keys[i].get(&usual, was, sizeof was);
        option_keys[i].get(&s->settings.options, row->value, sizeof row->value);
        options_clear(&usual);
        row->doc = option_keys[i].doc;
    } else if (i == n) {
        snprintf(was, sizeof was, "42");
        snprintf(row->value, sizeof row->value, "%llu",
                 (unsigned long long)s->settings.problem.seed);
        row->doc = "seed of the generated inputs";
    } else {
        snprintf(was, sizeof was, "%s", input_names[0]);
        problem_input_text(&s->settings.problem, &text);
        snprintf(row->value, sizeof row->value, "%s", str_text(&text));
        row->doc = "what goes into Q, K, V: a kind, or three .npy files";
    }
    row->changed = strcmp(was, row->value) != 0;
    str_free(&text);
}

static void get_row(void *ctx, int i, struct menu_row *row)
{
    const struct app *a = ctx;
    const struct look *look = look_at(i);
    if (!look) {
        session_menu_row(a->session, i, row);
        return;
    }
    snprintf(row->name, sizeof row->name, "%s", look->name);
    look->get(a, row->value, sizeof row->value);
    row->doc = look->doc;
    row->changed = strcmp(row->value, look->usual) != 0;
}

/* ---- changing ---- */

static const char *device_name(const struct app *a, int i)
{
    return i == 0 ? "auto" : devices_name(a->session->services.devices, (size_t)i - 1);
}

static const char *word_at(const struct app *a, const char *const *words, int i)
{
    return words ? words[i] : device_name(a, i);
}

/* The word after or before `now`, around. */
static const char *next_word(const struct app *a, const char *const *words, const char *now,
                             int dir)
{
    int n = 0, at = 0;
    for (; word_at(a, words, n); n++)
        if (strcmp(word_at(a, words, n), now) == 0)
            at = n;
    return n > 0 ? word_at(a, words, (at + dir + n) % n) : now;
}

/* Numbers double and halve, down to 0 by way of 1. */
static void next_number(const char *now, int dir, char *buf, size_t size)
{
    double v = strtod(now, NULL);
    const char *unit = strchr(now, '%') ? "%" : "";
    bool fraction = *unit && v <= 1;
    double to = dir > 0 ? (v > 0 ? v * 2 : 1) : v > 1 || fraction ? v / 2 : 0;
    snprintf(buf, size, "%.12g%s",
             *unit || to != (double)(long long)to ? to : (double)(long long)to, unit);
}

static const char *const *words_of(int i, bool *devices)
{
    int n = session_options();
    *devices = i < n && strcmp(option_keys[i].name, "gpu") == 0;
    return i < n ? option_keys[i].values : i == n + 1 ? input_names : NULL;
}

static void set_row(struct app *a, const char *name, const char *value)
{
    char *line = xasprintf("set %s=%s", name, value);
    app_set(a, line);
    free(line);
}

static void change(void *ctx, int i, int dir)
{
    struct app *a = ctx;
    struct menu_row row = {0};
    char number[48];
    bool devices;
    const char *const *words = words_of(i, &devices);
    if (look_at(i)) {
        look_at(i)->step(a, dir);
        return;
    }
    get_row(a, i, &row);
    next_number(row.value, dir, number, sizeof number);
    set_row(a, row.name, words || devices ? next_word(a, words, row.value, dir) : number);
}

static void typed(void *ctx, const char *text)
{
    struct app *a = ctx;
    struct menu_row row = {0};
    if (!popup_is_open(&a->popup) || str_blank(text))
        return;
    get_row(a, a->popup.list.cur, &row);
    set_row(a, row.name, text);
}

static void open_row(void *ctx, int i)
{
    struct app *a = ctx;
    struct menu_row row = {0};
    char label[48];
    if (look_at(i)) {
        look_at(i)->step(a, 1);
        return;
    }
    get_row(a, i, &row);
    snprintf(label, sizeof label, "%s = ", row.name);
    prompt_open(a->session, label, row.value, false, typed, a);
    prompt_select();
}

void menu_options(struct app *a)
{
    static const struct menu_ops ops = {
        .count = count, .row = get_row, .change = change, .open = open_row};
    popup_open_menu(&a->popup, "Options", &ops, a);
}
