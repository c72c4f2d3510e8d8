/* state.c - see state.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sanitize.h"

enum { STATE_VERSION = 1, STATE_BYTES = 32 << 20 };

/* ---- taking ---- */

static json_t *take_look(const struct app *a)
{
    const struct theme *theme = a->projector ? a->usual_theme : tty_theme(a->tty);
    return json_pack("{s:s, s:b, s:b, s:b, s:b}", "theme", theme->name, "zoom",
                     a->projector ? a->usual_zoom : a->zoom, "blank", a->blank, "projector",
                     a->projector, "mouse", tty_has_mouse(a->tty));
}

static json_t *take_screens(struct app *a)
{
    json_t *all = json_object();
    for (int i = 0; a->all[i]; i++) {
        const struct screen_ops *s = a->all[i];
        json_t *one = json_object();
        if (a->screens[i] && s->save)
            s->save(a->screens[i], one);
        json_object_set_new(all, s->name, one);
    }
    return all;
}

json_t *state_take(struct app *a)
{
    struct str script = {0};
    session_script(a->session, &script);
    json_t *o =
        json_pack("{s:i, s:s, s:s, s:o}", "version", STATE_VERSION, "screen", a->screen->name,
                  "script", str_text(&script), "rows", rowset_json(&a->session->rows.results));
    json_object_set_new(o, "look", take_look(a));
    json_object_set_new(o, "screens", take_screens(a));
    str_free(&script);
    return o;
}

/* ---- putting ---- */

/* Every string of the value without control bytes; a script keeps its lines. */
static void make_safe(json_t *v)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_string(v)) {
        struct str s = {0};
        sanitize(&s, json_string_value(v), json_string_length(v), true);
        json_string_set(v, str_text(&s));
        str_free(&s);
    }
    json_object_foreach(v, key, member)
    {
        make_safe(member);
    }
    json_array_foreach(v, i, member)
    {
        make_safe(member);
    }
}

static void put_script(struct app *a, const char *script)
{
    char *copy = xstrdup(script), *save = NULL;
    for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        struct str out = {0};
        struct err err = ERR_INIT;
        if (strncmp(line, "set ", 4) && strncmp(line, "alias ", 6) && strcmp(line, "reset"))
            continue; /* a state sets; it never runs anything */
        if (command_line(a->session, line, &out, &err) != ST_OK)
            app_message(a, ROLE_WARN, "not resumed: %s", err.text);
        str_free(&out);
    }
    free(copy);
}

static void put_rows(struct app *a, json_t *rows)
{
    struct rowset good = {0};
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row) if (json_is_object(row)) rowset_take(&good, row_of_json(row));
    if (good.n > 0)
        session_remember_runs(a->session, &good, false, "resume");
    rowset_clear(&good);
}

static bool is_true(const json_t *o, const char *name)
{
    return json_is_true(json_object_get(o, name));
}

static void put_look(struct app *a, const json_t *look)
{
    const char *name = json_string_value(json_object_get(look, "theme"));
    const struct theme *theme = name ? theme_find(name) : NULL;
    if (theme && !a->projector)
        tty_set_theme(a->tty, theme);
    if (json_is_object(look)) {
        a->zoom = a->zoom || is_true(look, "zoom");
        a->blank = is_true(look, "blank");
        app_set_projector(a, a->projector || is_true(look, "projector"));
        if (is_true(look, "mouse") != tty_has_mouse(a->tty))
            tty_set_mouse(a->tty, is_true(look, "mouse"));
    }
}

void state_put(struct app *a, json_t *state)
{
    make_safe(state);
    const char *script = json_string_value(json_object_get(state, "script"));
    const char *screen = json_string_value(json_object_get(state, "screen"));
    put_script(a, script ? script : "");
    put_rows(a, json_object_get(state, "rows"));
    put_look(a, json_object_get(state, "look"));
    app_update(a);
    for (int i = 0; a->all[i]; i++) {
        const struct screen_ops *s = a->all[i];
        const json_t *one = json_object_get(json_object_get(state, "screens"), s->name);
        if (json_object_size(one) == 0 || !s->restore)
            continue;
        if (!a->screens[i])
            a->screens[i] = s->open(a);
        s->restore(a->screens[i], one);
    }
    app_show(a, screen ? screen : "explore");
    app_update(a);
}

/* ---- the file ---- */

static json_t *load(struct err *err);

/* What was refused is its owner's all the same: it steps aside before another takes its place. */
static void keep_refused(const char *path)
{
    struct stat st;
    struct err err = ERR_INIT;
    json_t *o = lstat(path, &st) ? NULL : load(&err);
    if (!o && *err.text) {
        char *aside = xasprintf("%s.refused", path);
        (void)rename(path, aside);
        free(aside);
    }
    json_decref(o);
}

void state_save(struct app *a, const char *why)
{
    char *path = session_may(a->session, MAY_WRITE) ? path_in(PATH_STATE, "session.json") : NULL;
    if (path && path_make_parent(path, NULL) == ST_OK) {
        keep_refused(path);
        json_t *o = state_take(a);
        json_object_set_new(o, "ended_by", json_string(why));
        char *text = json_dumps(o, JSON_COMPACT);
        if (text)
            (void)file_replace(path, FILE_FOLLOW, 0600, &(const struct bytes){text, strlen(text)},
                               1, NULL); /* there is no one left to tell */
        free(text);
        json_decref(o);
    }
    free(path);
}

/* The state; NULL where there is none, and with a sentence where it is none that can be read. */
static json_t *load(struct err *err)
{
    char *path = path_in(PATH_STATE, "session.json"), *text = NULL;
    size_t len = 0;
    json_t *o = NULL;
    if (!path || str_read_if(path, STATE_BYTES, FILE_FOLLOW, &text, &len, err) || !text) {
        free(path);
        return NULL;
    }
    o = json_loadb(text, len, JSON_DISABLE_EOF_CHECK, NULL);
    if (!json_is_object(o)) {
        err_set(err, ST_NO, "%s cannot be read", path);
        json_decref(o);
        o = NULL;
    }
    free(text);
    free(path);
    return o;
}

enum status state_resume(struct app *a, struct err *err)
{
    struct err why = ERR_INIT;
    json_t *o = load(&why);
    if (!o)
        return err_set(err, ST_NO, *why.text ? "%s; it is kept as session.json.refused" : "%s",
                       *why.text ? why.text : "there is no session to resume");
    state_put(a, o);
    json_decref(o);
    return ST_OK;
}

enum status state_look(bool *cut, struct err *err)
{
    struct err why = ERR_INIT;
    json_t *o = load(&why);
    const char *end = json_string_value(json_object_get(o, "ended_by"));
    *cut = end && !strcmp(end, "hang-up");
    json_decref(o);
    return *why.text ? err_set(err, ST_NO, "%s; it is kept as session.json.refused", why.text)
                     : ST_OK;
}

/* ---- the verb ---- */

static enum status exec_resume(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = call_finish(s, c, err);
    struct app *a = app_of(s);
    if (st == ST_OK && !a)
        st = err_set(err, ST_USAGE, "resume is for the full screen: attnscope --resume");
    return st == ST_OK ? state_resume(a, err) : st;
}

void state_register(void)
{
    static const struct cmd_entry resume = {
        .name = "resume",
        .group = "Session",
        .usage = "",
        .summary = "bring back the last full-screen session: settings, results, screens",
        .help = "A session is kept when the full screen ends, also when its line is cut. From the\n"
                "shell: attnscope --resume. \"save FILE\" keeps settings as a script of your own.\n"
                "\n"
                "  resume\n",
        .exec = exec_resume,
    };
    static const struct cmd_entry *const entries[] = {&resume, NULL};
    command_register(entries);
}
