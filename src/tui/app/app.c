/* app.c - what screens ask of the program: messages, other screens, commands, undo.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/app.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "tui/app/drive.h"
#include "tui/app/prompt.h"
#include "tui/app/veil.h"
#include "tui/kit/clip.h"
#include "tui/kit/veil.h"

enum { LOG_MAX = 65536 };

void app_set_projector(struct app *a, bool on)
{
    if (on && !a->projector) {
        a->usual_theme = tty_theme(a->tty);
        a->usual_zoom = a->zoom;
    }
    if (on != a->projector) {
        tty_set_theme(a->tty, on ? theme_find("projector") : a->usual_theme);
        a->zoom = on || a->usual_zoom;
    }
    a->projector = on;
}

/* ---- messages ---- */

static void log_line(struct app *a, const char *text)
{
    if (a->log.len > LOG_MAX) { /* keep the younger half */
        char *rest = strchr(a->log.data + LOG_MAX / 2, '\n');
        char *keep = xstrdup(rest ? rest + 1 : "");
        str_clear(&a->log);
        str_add(&a->log, keep);
        free(keep);
    }
    str_addf(&a->log, "%s\n", text);
}

void app_message(struct app *a, enum role role, const char *fmt, ...)
{
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    free(a->message);
    a->message = sanitize_line(str_text(&s));
    a->message_role = role;
    log_line(a, a->message);
    str_free(&s);
    a->urgent = true;
}

void app_clear_message(struct app *a)
{
    free(a->message);
    a->message = NULL;
}

void app_popup(struct app *a, const char *title, const char *text)
{
    popup_open(&a->popup, title, text);
    a->urgent = true;
}

/* ---- screens ---- */

static int screen_index(const struct app *a)
{
    for (int i = 0; a->all[i]; i++)
        if (a->all[i] == a->screen)
            return i;
    return 0;
}

void *app_screen(const struct app *a)
{
    return a->screens[screen_index(a)];
}

static void show_screen(struct app *a, int i)
{
    const struct screen_ops *to = a->all[i];
    if (a->screen && a->screen != to && a->screen->cancel)
        a->screen->cancel(app_screen(a)); /* what is not seen is not measured */
    a->screen = to;
    if (!a->screens[i])
        a->screens[i] = to->open(a);
    a->urgent = true;
    if (a->ran_frame && to->shown)
        to->shown(a->screens[i]);
}

void *app_show(struct app *a, const char *name)
{
    for (int i = 0; a->all[i]; i++)
        if (strcmp(a->all[i]->name, name) == 0)
            show_screen(a, i);
    return app_screen(a);
}

void app_show_kernel(struct app *a, const struct kernel *k)
{
    if (!a->screen->show_kernel)
        show_screen(a, 0);
    a->screen->show_kernel(app_screen(a), k);
    a->urgent = true;
}

void app_show_next(struct app *a, int by)
{
    int n = 0;
    while (a->all[n])
        n++;
    show_screen(a, (screen_index(a) + by + n) % n);
}

/* ---- keys and what they show ---- */

const struct binding *screen_keys(const struct screen_ops *s, int mode)
{
    static const struct binding none[] = {{.does = NULL}};
    const struct binding *keys = mode < SCREEN_MODES ? s->keys[mode] : NULL;
    return keys || mode > 0 ? keys : none;
}

unsigned app_screen_keys(const struct app *a)
{
    const int mode = a->screen->mode ? a->screen->mode(app_screen(a)) : 0;
    return keymap_set(&a->keys, screen_keys(a->screen, mode));
}

unsigned app_valid_keys(const struct app *a)
{
    return !popup_is_open(&a->popup)
               ? app_screen_keys(a)
               : keymap_sets_named(&a->keys, popup_is_menu(&a->popup) ? "menu" : "popup");
}

void *app_target(const struct app *a, const struct keyrow *row)
{
    return row->shared || popup_is_open(&a->popup) ? (void *)(uintptr_t)a : app_screen(a);
}

bool app_offers(const struct app *a, const struct keyrow *row)
{
    if (a->waiting)
        return row->b.waits;
    return !row->b.offered || row->b.offered(app_target(a, row));
}

const char *app_shown_command(const struct app *a)
{
    return a->ran ? a->ran : a->screen->command ? a->screen->command(app_screen(a)) : NULL;
}

void app_dump(struct app *a, bool svg)
{
    struct str told = {0};
    if (!session_may(a->session, MAY_WRITE)) {
        app_message(a, ROLE_WARN, "--restricted: no files are written");
        return;
    }
    enum status st = clip_dump(a->canvas, svg, &told);
    app_message(a, st == ST_OK ? ROLE_GOOD : ROLE_BAD, "%s", str_text(&told));
    str_free(&told);
}

/* ---- what changed ---- */

/* Notices that the session's settings are others than before. */
static void look_at_settings(struct app *a)
{
    if (history_look(&a->history, a->session))
        a->settings_serial++;
}

void app_update(struct app *a)
{
    look_at_settings(a);
    if (a->screen->update && !a->frozen)
        a->screen->update(app_screen(a));
}

bool app_undo(struct app *a, bool redo)
{
    if (!(redo ? history_redo : history_undo)(&a->history, a->session))
        return false;
    a->settings_serial++;
    app_update(a);
    a->urgent = true;
    return true;
}

/* ---- commands ---- */

static void prompt_line_done(void *ctx, const char *line);

void app_prompt(struct app *a, const char *initial)
{
    prompt_open(a->session, ":", initial, true, prompt_line_done, a);
    a->urgent = true;
}

static bool has_text(const struct str *s)
{
    return s->len > 0 && !str_blank(str_text(s));
}

static enum status run_line(struct app *a, const char *line, struct str *out, struct err *err)
{
    char *clean = sanitize_line(line);
    char *entry = xasprintf("> %s", clean);
    log_line(a, entry);
    free(entry);
    free(clean);
    app_clear_message(a);
    a->session->front.width = a->canvas->w - 4;
    enum status st = command_line(a->session, line, out, err);
    app_update(a);
    a->urgent = true;
    if (a->session->quit)
        a->quit = true;
    return st;
}

enum status app_set(struct app *a, const char *line)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    enum status st = run_line(a, line, &out, &err);
    if (st != ST_OK)
        app_message(a, ROLE_BAD, "%s", err.text);
    str_free(&out);
    return st;
}

/* Lines that were typed ahead may follow each other before a frame is drawn: then all that they printed. */
static void show_output(struct app *a, const char *line, const char *text)
{
    if (a->unseen.len)
        str_addf(&a->unseen, "\n> %s\n", line);
    str_add(&a->unseen, text);
    app_popup(a, line, str_text(&a->unseen));
}

/* It is not closed by an Enter that was pressed before anybody saw it, unless that ends a line. */
static void spare_output(struct app *a)
{
    size_t i = 0;
    for (int key; popup_is_open(&a->popup) && (key = ahead_at(&a->ahead, i)) != TK_NONE;) {
        const struct keyrow *row = keymap_find(&a->keys, app_valid_keys(a), key);
        if (row && row->b.types)
            return;
        if (row && row->b.closes)
            ahead_remove(&a->ahead, i);
        else
            i++;
    }
}

enum status app_command(struct app *a, const char *line)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    if (a->screen->cancel)
        a->screen->cancel(app_screen(a)); /* the machine is for this command now */
    const size_t ever = a->session->rows.ever;
    enum status st = run_line(a, line, &out, &err);
    if (a->screen->shown && !a->quit)
        a->screen->shown(app_screen(a)); /* goes on with what it was at */
    if (has_text(&out))
        show_output(a, line,
                    a->blank && veil_measured(a->session, line, ever) ? VEIL_TEXT : str_text(&out));
    spare_output(a);
    if (st != ST_OK && err.text[0])
        app_message(a, st == ST_CANCELLED ? ROLE_WARN : ROLE_BAD, "%s", err.text);
    if (st == ST_USAGE) { /* nothing typed is lost: the cursor stands on the word */
        app_prompt(a, line);
        prompt_set_cursor(err.at);
        if (ahead_clear(&a->ahead))
            app_message(a, ROLE_BAD, "%s; typed keys are dropped", err.text);
    }
    str_free(&out);
    return st;
}

/* Lets the screen that is shown do what a line asks for, where it is about that; false: it is not. */
static bool drive(struct app *a, const char *line)
{
    struct driven d;
    const bool ours = drive_read(a, line, &d);
    const bool set = ours && (!d.settings.len || app_set(a, str_text(&d.settings)) == ST_OK);
    if (set)
        a->screen->drive(app_screen(a), d.call, d.names);
    else if (ours) /* the message says what is wrong; nothing typed is lost */
        app_prompt(a, line);
    drive_clear(&d);
    a->urgent = true;
    return ours;
}

/* What neither prints nor changes the command that is shown is told to be done. */
static void command_typed(struct app *a, const char *line)
{
    const char *shown = app_shown_command(a);
    char *before = shown ? xstrdup(shown) : NULL;
    const bool done = app_command(a, line) == ST_OK && !popup_is_open(&a->popup);
    shown = app_shown_command(a);
    if (done && !a->message && !a->quit && before && shown && !strcmp(before, shown))
        app_message(a, ROLE_DIM, "done: %s", line);
    free(before);
}

void app_line(struct app *a, const char *line)
{
    if (str_blank(line) || drive(a, line))
        return;
    for (int i = 0; a->all[i]; i++)
        if (a->all[i]->take_line && a->all[i]->take_line(a, line))
            return;
    command_typed(a, line);
}

/* A command stands above the footer until the next key, which may copy it. */
void app_run_row(struct app *a, const struct keyrow *row)
{
    char *before = a->ran;
    if (row->b.act) {
        row->b.act(app_target(a, row), row->b.arg);
    } else {
        a->ran = xstrdup(row->b.does + 1);
        app_command(a, a->ran);
    }
    if (a->ran == before)
        a->ran = NULL;
    free(before);
}

static void prompt_line_done(void *ctx, const char *line)
{
    struct app *a = ctx;
    if (!a->unseen.len)
        popup_close(&a->popup); /* what was read while the line was typed */
    app_line(a, line);
}
