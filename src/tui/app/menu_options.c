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
    app_update(a);
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

static const struct field *const tables[] = {option_keys, problem_keys};

/* The key of row i, and which of the tables it is in; NULL: the row is no key. */
static const struct field *key_at(int i, int *table)
{
    for (*table = 0; *table < 2; ++*table)
        for (const struct field *f = tables[*table]; f->name; f++)
            if (i-- == 0)
                return f;
    return NULL;
}

static int session_keys(void)
{
    int n = 0, table;
    while (key_at(n, &table))
        n++;
    return n;
}

static const struct look *look_at(int i)
{
    i -= session_keys();
    return i >= 0 && i < LOOKS ? &looks[i] : NULL;
}

static int count(void *ctx)
{
    (void)ctx;
    return session_keys() + LOOKS;
}

static void session_menu_row(const struct session *s, int i, struct menu_row *row)
{
    const struct problem usual_problem = PROBLEM_DEFAULT;
    struct options usual = {0};
    int table;
    const struct field *f = key_at(i, &table);
    const void *now = table == 0 ? (const void *)&s->settings.options : &s->settings.problem;
    options_init(&usual);
    char *value = field_text(f, now);
    snprintf(row->name, sizeof row->name, "%s", f->name);
    snprintf(row->value, sizeof row->value, "%s", value);
    row->doc = f->doc;
    row->changed = !field_same(f, now, table == 0 ? (const void *)&usual : &usual_problem);
    free(value);
    options_clear(&usual);
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
    int table;
    const struct field *f = key_at(i, &table);
    *devices = f && strcmp(f->name, "gpu") == 0;
    return f ? f->words : NULL;
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
