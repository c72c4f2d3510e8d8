/* tui.c - the full-screen interface from outside: its screens, its start, its options.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/tui.h"

#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app/app.h"
#include "tui/app/state.h"
#include "tui/kit/signals.h"

/* A further screen is a file with its ops, NAME_screen, and its name in tui/local.mk: there in the list of
 * screens, in the order of the tabs, and in that of files. */
#include "screen_table.h"

#define DECLARE_SCREEN(name) extern const struct screen_ops name##_screen;
#define SCREEN_OPS(name)     &name##_screen,
SCREENS_TABLE(DECLARE_SCREEN)
const struct screen_ops *const tui_screens[] = {SCREENS_TABLE(SCREEN_OPS) NULL};
_Static_assert(sizeof tui_screens / sizeof *tui_screens <= (size_t)APP_SCREENS + 1,
               "app.h has room for every screen");

enum status tui_glyphs(const char *charset, enum glyphs *out, struct err *err)
{
    static const char *const words[] = {"ascii", "blocks", "braille", "auto", NULL};
    const char *term = getenv("TERM");
    if (!charset || strcmp(charset, "auto") == 0) {
        bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
        bool plain = !term || strcmp(term, "linux") == 0 || strcmp(term, "dumb") == 0;
        *out = utf8 && !plain ? GLYPHS_BLOCK : GLYPHS_ASCII;
        return ST_OK;
    }
    for (int i = 0; i < 3; i++) {
        if (strcmp(charset, words[i]) == 0) {
            *out = (enum glyphs)i;
            return ST_OK;
        }
    }
    const char *near = str_nearest_in(charset, words);
    return err_set(err, ST_USAGE,
                   "--charset knows auto, ascii, blocks and braille, not \"%.40s\"%s%s", charset,
                   near ? "; did you mean " : "", near ? near : "");
}

/* ---- start and end ---- */

static void first_frame(struct app *a)
{
    app_draw(a);
    a->ran_frame = true;
    if (a->screen->shown)
        a->screen->shown(app_screen(a));
}

static void resume(struct app *a, bool asked)
{
    struct err err = ERR_INIT;
    bool cut = false;
    if (asked && state_resume(a, &err) != ST_OK)
        app_message(a, ROLE_WARN, "%s", err.text);
    else if (!asked && state_look(&cut, &err) != ST_OK)
        app_message(a, ROLE_WARN, "%s", err.text);
    else if (cut)
        app_message(a, ROLE_NORMAL, "the line was cut last time; :resume brings that session back");
}

static void run(struct app *a, const struct tui_options *o)
{
    app_set_projector(a, o->projector);
    if (o->mouse)
        tty_set_mouse(a->tty, true);
    resume(a, o->resume);
    first_frame(a);
    while (!a->quit)
        app_turn(a);
    state_save(a, a->exit_status == 128 + SIGHUP || a->exit_status == 128 + SIGTERM ? "hang-up"
                                                                                    : "quit");
}

void tui_manual(struct str *out)
{
    app_keys_manual(tui_screens, out);
}

static bool key_topic(size_t i, struct topic *out)
{
    return app_key_topic(tui_screens, i, out);
}

void tui_register(void)
{
    state_register();
    command_topics(key_topic);
}

int tui_main_with(struct session *s, const struct tui_options *o)
{
    struct err err = ERR_INIT;
    const struct theme *theme = o->theme ? theme_find(o->theme) : &themes[0];
    enum status st = ST_OK;
    struct tty *tty = NULL;
    int exit_status = 0;
    if (!theme)
        st = err_set(&err, ST_USAGE, "there is no theme \"%.40s\"; default, light, mono, projector",
                     o->theme);
    signals_install();
    if (st == ST_OK)
        st = tty_open(theme, s->front.color, &tty, &err);
    if (st == ST_OK) {
        struct app a;
        app_begin(&a, s, tty, tui_screens);
        run(&a, o);
        tty_close(tty);
        app_end(&a);
        exit_status = a.exit_status;
    }
    signals_remove();
    if (st != ST_OK)
        fprintf(stderr, "attnscope: %s\n", err.text);
    return st != ST_OK ? (int)st : exit_status;
}
