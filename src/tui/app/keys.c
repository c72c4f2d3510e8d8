/* keys.c - the keys that every screen shares, and where a key goes: to the prompt, to what lies over
 * the screen, to the screen, or to one of these.
 *
 * A further shared key is a line in shared_keys: with a command, or with a function above it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tui/app/app.h"
#include "tui/app/menus.h"
#include "tui/app/prompt.h"
#include "tui/kit/clip.h"

/* ---- the whole program ---- */

static void help(void *ctx, int arg)
{
    (void)arg;
    popup_help(ctx);
}

static void type_command(void *ctx, int arg)
{
    (void)arg;
    app_prompt(ctx, "");
}

static void go_to(void *ctx, int arg)
{
    (void)arg;
    menu_goto(ctx);
}

static void copy(void *ctx, int arg)
{
    struct app *a = ctx;
    const char *line = app_shown_command(a);
    struct str told = {0};
    (void)arg;
    if (!line)
        return;
    clip_copy(a->tty, line, &told);
    app_message(a, ROLE_GOOD, "%s", str_text(&told));
    str_free(&told);
}

static void dump(void *ctx, int arg)
{
    (void)arg;
    app_dump(ctx, false);
}

static void next_theme(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    tty_set_theme(a->tty, theme_next(tty_theme(a->tty)));
    app_message(a, ROLE_NORMAL, "theme %s", tty_theme(a->tty)->name);
}

static void options(void *ctx, int arg)
{
    (void)arg;
    menu_options(ctx);
}

static void export(void *ctx, int arg)
{
    (void)arg;
    menu_export(ctx);
}

static void mouse_on_off(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    tty_set_mouse(a->tty, !tty_has_mouse(a->tty));
    app_message(a, ROLE_NORMAL, tty_has_mouse(a->tty) ? "mouse on" : "mouse off");
}

static void show_log(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    app_popup(a, "Log", a->log.len ? str_text(&a->log) : "nothing yet");
    popup_move(&a->popup, MOVE_LAST);
}

static void redraw(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    tty_redraw(a->tty);
}

static void suspend(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    tty_suspend(a->tty);
}

static void show_screen(void *ctx, int arg)
{
    struct app *a = ctx;
    app_show(a, a->all[arg]->name);
}

static void next_screen(void *ctx, int by)
{
    app_show_next(ctx, by);
}

/* ---- the screen that is shown ---- */

static void move(void *ctx, int where)
{
    struct app *a = ctx;
    if (popup_is_open(&a->popup))
        popup_move(&a->popup, (enum move)where);
    else if (a->screen->move)
        a->screen->move(app_screen(a), (enum move)where);
}

static void focus(void *ctx, int by)
{
    struct app *a = ctx;
    if (a->screen->focus)
        a->screen->focus(app_screen(a), by);
}

static void back(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    if (a->screen->back)
        a->screen->back(app_screen(a));
}

void app_explain(struct app *a)
{
    struct str s = {0};
    bool have = a->screen->explain && a->screen->explain(app_screen(a), &s);
    if (have)
        app_popup(a, "Explain", str_text(&s));
    else
        app_message(a, ROLE_WARN, "%s", s.len ? str_text(&s) : "there is nothing to explain here");
    str_free(&s);
}

static void explain(void *ctx, int arg)
{
    (void)arg;
    app_explain(ctx);
}

static void undo(void *ctx, int redo)
{
    struct app *a = ctx;
    if (!app_undo(a, redo))
        app_message(a, ROLE_DIM, redo ? "nothing to redo" : "nothing to undo");
}

static void freeze(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    a->frozen = !a->frozen;
    app_message(a, ROLE_NORMAL,
                a->frozen ? "frozen: what is shown stays; f goes on" : "live again");
    if (!a->frozen)
        app_update(a);
}

static void zoom(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    a->zoom = !a->zoom;
}

static void blank(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    a->blank = !a->blank;
    app_update(a); /* an order by what is hidden would tell it */
}

static void cancel(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    if (a->screen->cancel && a->screen->cancel(app_screen(a))) {
        app_message(a, ROLE_WARN, "cancelled");
    } else if (a->ctrl_c_ms && ms_now() - a->ctrl_c_ms < 1000) {
        a->exit_status = 128 + SIGINT;
        a->quit = true;
    } else {
        a->ctrl_c_ms = ms_now();
        app_message(a, ROLE_NORMAL, "nothing runs; q quits, so does Ctrl-C once more");
    }
}

static bool command_waits(const void *ctx)
{
    const struct app *a = ctx;
    return a->waiting != NULL;
}

/* ---- find ---- */

static void find_next(void *ctx, int dir)
{
    struct app *a = ctx;
    bool over = popup_is_open(&a->popup);
    if (!a->find)
        app_message(a, ROLE_DIM, "nothing was searched yet; / does");
    else if (!over && !a->screen->find)
        app_message(a, ROLE_DIM, "there is nothing to search here");
    else if (!(over ? popup_find(&a->popup, a->find, dir)
                    : a->screen->find(app_screen(a), a->find, dir)))
        app_message(a, ROLE_WARN, "\"%s\" is not here", a->find);
}

static void find_done(void *ctx, const char *text)
{
    struct app *a = ctx;
    if (*text) {
        free(a->find);
        a->find = xstrdup(text);
    }
    find_next(a, 0);
}

void app_find(struct app *a)
{
    prompt_open(a->session, "/", "", false, find_done, a);
}

static void find(void *ctx, int arg)
{
    (void)arg;
    app_find(ctx);
}

/* ---- over a screen ---- */

static void close_popup(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    popup_close(&a->popup);
}

static void open_row(void *ctx, int arg)
{
    struct app *a = ctx;
    (void)arg;
    popup_open_row(&a->popup);
}

/* ---- the tables ---- */

// clang-format off
static const struct binding text_keys[] = {
    {.keys = {TK_ESC, 'q', TK_ENTER, KEY_CTRL('c')}, .does = "back", .act = close_popup, .footer = "close", .help = "close", .closes = true},
    {.does = NULL},
};

static const struct binding menu_keys[] = {
    {.keys = {TK_ENTER}, .does = "open", .act = open_row, .footer = "choose", .help = "choose it, or type its value"},
    {.keys = {TK_ESC, 'q', KEY_CTRL('c')}, .does = "back", .act = close_popup, .footer = "close", .help = "close", .closes = true},
    {.does = NULL},
};

static const struct binding shared_keys[] = {
    {.keys = {'x'}, .does = "explain", .act = explain, .footer = "explain", .help = "each figure: formula with the values put in"},
    {.keys = {TK_TAB}, .does = "pane-next", .act = focus, .arg = 1, .footer = "pane", .help = "next pane"},
    {.keys = {TK_BTAB}, .does = "pane-previous", .act = focus, .arg = -1, .help = "previous pane"},
    {.keys = {':'}, .does = "command", .act = type_command, .footer = "command", .help = "type a command; Tab completes, Up recalls", .over = true, .types = true},
    {.keys = {KEY_CTRL('p')}, .does = "go-to", .act = go_to, .help = "go to a kernel, GPU, shape: type a part of it", .over = true, .types = true},
    {.keys = {'?', TK_F1}, .does = "help", .act = help, .footer = "help", .help = "this list"},
    {.keys = {TK_UP, 'k'}, .does = "up", .act = move, .arg = MOVE_UP, .help = "up", .over = true},
    {.keys = {TK_DOWN, 'j'}, .does = "down", .act = move, .arg = MOVE_DOWN, .help = "down", .over = true},
    {.keys = {TK_LEFT, 'h'}, .does = "left", .act = move, .arg = MOVE_LEFT, .help = "smaller value: sizes halve, words step back", .over = true},
    {.keys = {TK_RIGHT, 'l'}, .does = "right", .act = move, .arg = MOVE_RIGHT, .help = "larger value: sizes double, words step on", .over = true},
    {.keys = {TK_PGUP, KEY_CTRL('u')}, .does = "page-up", .act = move, .arg = MOVE_PAGE_UP, .help = "a page up", .over = true},
    {.keys = {TK_PGDN, KEY_CTRL('d')}, .does = "page-down", .act = move, .arg = MOVE_PAGE_DOWN, .help = "a page down", .over = true},
    {.keys = {'g', TK_HOME}, .does = "first", .act = move, .arg = MOVE_FIRST, .help = "first row", .over = true},
    {.keys = {'G', TK_END}, .does = "last", .act = move, .arg = MOVE_LAST, .help = "last row", .over = true},
    {.keys = {KEY_CTRL('c')}, .does = "cancel", .act = cancel, .footer = "cancel", .help = "cancel the run; without one, twice quits", .offered = command_waits, .waits = true},
    {.keys = {'u'}, .does = "undo", .act = undo, .help = "undo the last change of a setting"},
    {.keys = {KEY_CTRL('r')}, .does = "redo", .act = undo, .arg = 1, .help = "redo it"},
    {.keys = {'y'}, .does = "copy", .act = copy, .help = "copy the command shown above the footer", .over = true},
    {.keys = {'/'}, .does = "find", .act = find, .help = "find text in the list or page", .over = true, .types = true},
    {.keys = {'n'}, .does = "find-next", .act = find_next, .arg = 1, .help = "next place with it", .over = true},
    {.keys = {'N'}, .does = "find-previous", .act = find_next, .arg = -1, .help = "previous place with it", .over = true},
    {.keys = {'z'}, .does = "zoom", .act = zoom, .help = "the focused pane alone, or all"},
    {.keys = {'f'}, .does = "freeze", .act = freeze, .help = "keep what is shown, or go on"},
    {.keys = {'.'}, .does = "blank", .act = blank, .help = "hide or show measured values: guess first"},
    {.keys = {'o', TK_F2}, .does = "options", .act = options, .help = "options: change them with the arrows"},
    {.keys = {'d'}, .does = ":device", .help = "the sheet of the GPU that plans are made for"},
    {.keys = {'e'}, .does = "export", .act = export, .help = "write results or this screen to a file"},
    {.keys = {'%'}, .does = "mouse", .act = mouse_on_off, .help = "mouse on or off", .over = true},
    {.keys = {'!'}, .does = "log", .act = show_log, .help = "messages and commands so far"},
    {.keys = {'T'}, .does = "theme", .act = next_theme, .help = "next theme: default, light, mono, projector"},
    {.keys = {'P'}, .does = "dump", .act = dump, .help = "write the screen to a numbered text file"},
    {.keys = {'['}, .does = "screen-previous", .act = next_screen, .arg = -1, .help = "previous screen"},
    {.keys = {']'}, .does = "screen-next", .act = next_screen, .arg = 1, .help = "next screen"},
    {.keys = {KEY_CTRL('l')}, .does = "redraw", .act = redraw, .help = "repaint everything", .over = true},
    {.keys = {KEY_CTRL('z')}, .does = "suspend", .act = suspend, .help = "back to the shell; fg returns", .over = true},
    {.keys = {TK_ESC}, .does = "back", .act = back, .help = "close, leave, back; never destroys anything"},
    {.keys = {'q', TK_F10}, .does = ":quit", .footer = "quit", .help = "quit", .way_out = true},
    {.does = NULL},
};
// clang-format on

/* The digit of a screen's tab is its key. */
static void share_screens(struct keymap *m, const struct screen_ops *const *screens)
{
    for (int i = 0; screens[i]; i++) {
        const struct screen_ops *s = screens[i];
        const struct binding rows[] = {
            {.keys = {s->title[0]},
             .does = s->name,
             .act = show_screen,
             .arg = i,
             .help = s->title + 2},
            {.does = NULL},
        };
        keymap_share(m, rows);
    }
}

void app_keys(struct keymap *m, const struct screen_ops *const *screens)
{
    for (int i = 0; screens[i]; i++)
        for (int k = 0; k < SCREEN_MODES && screen_keys(screens[i], k); k++)
            keymap_add(m, screens[i]->name, screen_keys(screens[i], k), false);
    keymap_add(m, "popup", text_keys, true);
    keymap_add(m, "menu", menu_keys, true);
    keymap_share(m, shared_keys);
    share_screens(m, screens);
}

/* The row i of those that do something, counted on from table to table. */
static const struct binding *row_at(const struct binding *rows, size_t *i)
{
    for (const struct binding *b = rows; rows && !binding_is_end(b); b++)
        if (b->does && (*i)-- == 0)
            return b;
    return NULL;
}

static const struct binding *row_of_all(const struct screen_ops *const *screens, size_t *i)
{
    const struct binding *b = NULL;
    for (int s = 0; !b && screens[s]; s++)
        for (int k = 0; !b && k < SCREEN_MODES; k++)
            b = row_at(screens[s]->keys[k], i);
    b = b ? b : row_at(text_keys, i);
    b = b ? b : row_at(menu_keys, i);
    return b ? b : row_at(shared_keys, i);
}

bool app_key_topic(const struct screen_ops *const *screens, size_t i, struct topic *out)
{
    static char name[16];
    const struct binding *b = row_of_all(screens, &i);
    const struct screen_ops *s = NULL;
    for (int n = 0; !b && screens[n]; n++)
        s = (size_t)n == i ? screens[n] : s;
    if (!b && !s)
        return false;
    *out = (struct topic){.kind = "screen key",
                          .name = keymap_key_name(b ? b->keys[0] : s->title[0], name),
                          .summary = b ? b->help : s->title + 2,
                          .text = b ? b->does : s->name};
    return true;
}

/* ---- the manual's section ---- */

/* Never a request, an escape or a delimiter of mdoc. */
static void md_word(struct str *out, const char *text)
{
    str_add(out, "\\&");
    for (; *text; text++)
        str_addf(out, "%s", *text == '\\' ? "\\e" : *text == '-' ? "\\-" : (char[2]){*text});
}

static void md_row(const struct binding *b, struct str *out)
{
    str_add(out, ".It Ic");
    for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++) {
        char buf[16];
        str_add(out, i ? " , " : " ");
        md_word(out, keymap_key_name(b->keys[i], buf));
    }
    str_add(out, "\n.Pq Cm ");
    md_word(out, b->does);
    str_addc(out, '\n');
    md_word(out, b->help);
    str_addc(out, '\n');
}

static void md_table(const char *title, const struct binding *rows, struct str *out)
{
    size_t i = 0;
    str_addf(out, ".Ss %s\n.Bl -tag -width Ds -compact\n", title);
    for (const struct binding *b; (b = row_at(rows, &(size_t){i})) != NULL; i++)
        md_row(b, out);
    str_add(out, ".El\n");
}

static void md_screen(const struct screen_ops *s, int mode, struct str *out)
{
    char title[48];
    const char *what = s->modes[mode];
    snprintf(title, sizeof title, "%s%s%s", s->title + 2, what ? ", " : "", what ? what : "");
    md_table(title, s->keys[mode], out);
}

void app_keys_manual(const struct screen_ops *const *screens, struct str *out)
{
    str_add(out,
            ".Sh SCREEN KEYS\n"
            "A key of the full screen runs the command after the colon, or the function named;\n"
            "the file\n.Pa keys\nbelow gives them other keys.\n"
            "The digit of a tab shows its screen.\n"
            "Keys pressed while a command runs wait above the footer and are played when it has "
            "ended;\n"
            "Esc drops them, so does Ctrl-C, which cancels the command.\n");
    for (int s = 0; screens[s]; s++)
        for (int k = 0; k < SCREEN_MODES && screens[s]->keys[k]; k++)
            md_screen(screens[s], k, out);
    md_table("Over a screen", text_keys, out);
    md_table("Menus", menu_keys, out);
    md_table("All screens", shared_keys, out);
}

/* ---- what a key does ---- */

static void press(struct app *a, int key)
{
    const struct keyrow *row = keymap_find(&a->keys, app_valid_keys(a), key);
    const bool over = popup_is_open(&a->popup);
    char buf[16];
    app_clear_message(a);
    if (!over && a->screen->type && a->screen->type(app_screen(a), key))
        return;
    if (row)
        app_run_row(a, row);
    else if (!over)
        app_message(a, ROLE_DIM, "%s does nothing here; ? lists the keys",
                    key >= TK_OTHER ? "that key" : keymap_key_name(key, buf));
}

/* The screen answers, but nothing else can be started: other keys wait for the end. */
bool app_key_meanwhile(struct app *a, int key)
{
    if (key == KEY_CTRL('c') || key == TK_ESC)
        (void)ahead_clear(&a->ahead);
    else if (key == KEY_CTRL('l'))
        tty_redraw(a->tty);
    else if (key == KEY_CTRL('z'))
        tty_suspend(a->tty);
    else if (key != TK_MOUSE && !ahead_add(&a->ahead, key))
        app_message(a, ROLE_WARN, "%d keys wait already; this one is lost", AHEAD_MAX);
    return key == KEY_CTRL('c');
}

/* ---- mouse ---- */

/* Without a wheel of its own, a screen moves as with the arrows. */
static void wheel(struct app *a, struct tty_mouse m)
{
    if (a->screen->wheel && !popup_is_open(&a->popup))
        a->screen->wheel(app_screen(a), m.x, m.y, m.wheel);
    else
        move(a, m.wheel < 0 ? MOVE_UP : MOVE_DOWN);
}

static void click(struct app *a, struct tty_mouse m)
{
    int tab = m.y == 0 ? app_tab_at(a, a->canvas, m.x) : -1;
    const struct keyrow *item = m.y == a->canvas->h - 1 ? app_footer_at(a, a->canvas, m.x) : NULL;
    if (item)
        app_run_row(a, item);
    else if (popup_is_open(&a->popup))
        popup_click(&a->popup, m.x, m.y);
    else if (tab >= 0)
        app_show(a, a->all[tab]->name);
    else if (m.y == 0 && m.x >= a->canvas->w - 8)
        popup_help(a);
    else if (m.y == a->canvas->h - 2)
        copy(a, 0);
    else if (a->screen->click)
        a->screen->click(app_screen(a), m.x, m.y);
}

static void mouse(struct app *a)
{
    struct tty_mouse m = tty_mouse(a->tty);
    if (a->waiting)
        return; /* nor kept: where it points at is another place by then */
    if (prompt_is_open()) {
        m.wheel ? prompt_wheel(m.wheel) : (void)prompt_click(m.x, m.y);
        return;
    }
    app_clear_message(a);
    m.wheel ? wheel(a, m) : click(a, m);
}

void app_key(struct app *a, int key)
{
    char buf[16];
    a->urgent = true;
    snprintf(a->pressed, sizeof a->pressed, "%s", key >= TK_MOUSE ? "" : keymap_key_name(key, buf));
    if (key == TK_MOUSE)
        mouse(a);
    else if (a->waiting && app_key_meanwhile(a, key))
        job_cancel(a->waiting);
    else if (a->waiting)
        return;
    else if (prompt_is_open())
        prompt_key(key);
    else
        press(a, key);
}
