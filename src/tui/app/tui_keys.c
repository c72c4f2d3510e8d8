/* tui_keys.c - what keys do that every screen shares: help, copy, cancel, switching screens; the
 * rest goes to the prompt, the popup or the screen.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/app/app.h"
#include "tui/kit/clip.h"
#include "tui/app/menus.h"
#include "tui/app/prompt.h"

static void copy_command(struct app *a)
{
    const char *line = a->screen->command ? a->screen->command(app_screen(a)) : NULL;
    struct str told = {0};
    if (!line)
        return;
    clip_copy(a->tty, line, &told);
    app_message(a, ROLE_GOOD, "%s", str_text(&told));
    str_free(&told);
}

void app_dump(struct app *a, bool svg)
{
    struct str told = {0};
    if (a->session->restricted) {
        app_message(a, ROLE_WARN, "--restricted: no files are written");
        return;
    }
    enum status st = clip_dump(a->canvas, svg, &told);
    app_message(a, st == ST_OK ? ROLE_GOOD : ROLE_BAD, "%s", str_text(&told));
    str_free(&told);
}

static void next_theme(struct app *a)
{
    tty_set_theme(a->tty, theme_next(tty_theme(a->tty)));
    app_message(a, ROLE_NORMAL, "theme %s", tty_theme(a->tty)->name);
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

static void undo(struct app *a, bool redo)
{
    if (!app_undo(a, redo))
        app_message(a, ROLE_DIM, redo ? "nothing to redo" : "nothing to undo");
}

static void freeze(struct app *a)
{
    a->frozen = !a->frozen;
    app_message(a, ROLE_NORMAL,
                a->frozen ? "frozen: what is shown stays; f goes on" : "live again");
    if (!a->frozen)
        app_update(a);
}

/* ---- find ---- */

static void find(struct app *a, int dir)
{
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
    find(a, 0);
}

static void ask_find(struct app *a)
{
    prompt_open(a->session, "/", "", false, find_done, a);
}

static void cancel(struct app *a)
{
    if (a->screen->cancel && a->screen->cancel(app_screen(a))) {
        app_message(a, ROLE_WARN, "cancelled");
    } else if (a->ctrl_c_ms && app_now_ms() - a->ctrl_c_ms < 1000) {
        a->exit_status = 128 + SIGINT;
        a->quit = true;
    } else {
        a->ctrl_c_ms = app_now_ms();
        app_message(a, ROLE_NORMAL, "nothing runs; q quits, so does Ctrl-C once more");
    }
}

/* By action, from ACT_SCREEN_EXPLORE on. */
static const char *const screen_of[] = {"explore",  "compare", "sweep",  "roofline",
                                        "timeline", "source",  "lessons"};

static bool app_act(struct app *a, enum action action)
{
    switch (action) {
    case ACT_HELP:
        popup_help(a);
        break;
    case ACT_PROMPT:
        app_prompt(a, "");
        break;
    case ACT_COPY:
        copy_command(a);
        break;
    case ACT_DUMP:
        app_dump(a, false);
        break;
    case ACT_THEME:
        next_theme(a);
        break;
    case ACT_OPTIONS:
        menu_options(a);
        break;
    case ACT_EXPORT:
        menu_export(a);
        break;
    case ACT_DEVICE:
        app_command(a, "device");
        break;
    case ACT_MOUSE:
        tty_set_mouse(a->tty, !tty_has_mouse(a->tty));
        app_message(a, ROLE_NORMAL, tty_has_mouse(a->tty) ? "mouse on" : "mouse off");
        break;
    case ACT_LOG:
        app_popup(a, "Log", a->log.len ? str_text(&a->log) : "nothing yet");
        popup_act(&a->popup, ACT_LAST);
        break;
    case ACT_EXPLAIN:
        app_explain(a);
        break;
    case ACT_UNDO:
    case ACT_REDO:
        undo(a, action == ACT_REDO);
        break;
    case ACT_FREEZE:
        freeze(a);
        break;
    case ACT_ZOOM:
        a->zoom = !a->zoom;
        break;
    case ACT_BLANK:
        a->blank = !a->blank;
        break;
    case ACT_FIND:
        ask_find(a);
        break;
    case ACT_FIND_NEXT:
    case ACT_FIND_PREV:
        find(a, action == ACT_FIND_NEXT ? 1 : -1);
        break;
    case ACT_CANCEL:
        cancel(a);
        break;
    case ACT_REDRAW:
        tty_redraw(a->tty);
        break;
    case ACT_SUSPEND:
        tty_suspend(a->tty);
        break;
    case ACT_QUIT:
        a->quit = true;
        break;
    case ACT_SCREEN_EXPLORE:
    case ACT_SCREEN_COMPARE:
    case ACT_SCREEN_SWEEP:
    case ACT_SCREEN_ROOFLINE:
    case ACT_SCREEN_TIMELINE:
    case ACT_SCREEN_SOURCE:
    case ACT_SCREEN_LESSON:
        app_show(a, screen_of[action - ACT_SCREEN_EXPLORE]);
        break;
    case ACT_SCREEN_PREV:
        app_show_next(a, -1);
        break;
    case ACT_SCREEN_NEXT:
        app_show_next(a, 1);
        break;
    default:
        return false;
    }
    return true;
}

static void screen_key(struct app *a, int key)
{
    enum action action = keymap_action(app_bindings(a), app_context(a), key);
    char buf[16];
    app_clear_message(a);
    if (a->screen->type && a->screen->type(app_screen(a), key))
        return;
    if (action == ACT_NONE)
        app_message(a, ROLE_DIM, "%s does nothing here; ? lists the keys",
                    key >= TK_OTHER ? "that key" : keymap_key_name(key, buf));
    else if (!app_act(a, action) && a->screen->act)
        a->screen->act(app_screen(a), action);
}

static void popup_key(struct app *a, int key)
{
    enum action action = keymap_action(app_bindings(a), popup_context(&a->popup), key);
    app_clear_message(a);
    if (!popup_act(&a->popup, action))
        app_act(a, action);
}

/* While a typed command waits for its job, the screen answers but nothing else can be started. */
static void waiting_key(struct app *a, int key)
{
    if (key == KEY_CTRL('c'))
        job_cancel(a->waiting);
    else if (key == KEY_CTRL('l'))
        tty_redraw(a->tty);
    else if (key == KEY_CTRL('z'))
        tty_suspend(a->tty);
}

/* ---- mouse ---- */

/* Without a wheel of its own, a screen moves as with the arrows. */
static void wheel(struct app *a, struct tty_mouse m)
{
    enum action arrow = m.wheel < 0 ? ACT_UP : ACT_DOWN;
    if (popup_is_open(&a->popup))
        popup_act(&a->popup, arrow);
    else if (a->screen->wheel)
        a->screen->wheel(app_screen(a), m.x, m.y, m.wheel);
    else if (a->screen->act)
        a->screen->act(app_screen(a), arrow);
}

static void press(struct app *a, struct tty_mouse m)
{
    int tab = m.y == 0 ? app_tab_at(a, a->canvas, m.x) : -1;
    if (popup_is_open(&a->popup))
        popup_click(&a->popup, m.x, m.y);
    else if (tab >= 0)
        app_show(a, app_screen_at(tab)->name);
    else if (m.y == 0 && m.x >= a->canvas->w - 8)
        popup_help(a);
    else if (m.y == a->canvas->h - 2)
        copy_command(a);
    else if (a->screen->click)
        a->screen->click(app_screen(a), m.x, m.y);
}

static void mouse(struct app *a)
{
    struct tty_mouse m = tty_mouse(a->tty);
    if (a->waiting || prompt_is_open())
        return;
    app_clear_message(a);
    m.wheel ? wheel(a, m) : press(a, m);
}

void app_key(struct app *a, int key)
{
    char buf[16];
    a->urgent = true;
    snprintf(a->pressed, sizeof a->pressed, "%s", key >= TK_MOUSE ? "" : keymap_key_name(key, buf));
    if (key == TK_MOUSE)
        mouse(a);
    else if (a->waiting)
        waiting_key(a, key);
    else if (prompt_is_open())
        prompt_key(key);
    else if (popup_is_open(&a->popup))
        popup_key(a, key);
    else
        screen_key(a, key);
}
