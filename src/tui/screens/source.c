/* source.c - the Source screen: which line does it, what did this step of the ladder change, and what
 * came of it?
 *
 * The text is there at once. PTX and SASS come from a worker, when they are asked for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/screens/explore.h"
#include "tui/screens/source_state.h"

static const char *const view_words[VIEWS] = {"cuda", "ptx", "sass"};

/* ---- what is shown ---- */

static const struct registry *kernels(const struct source *s)
{
    return s->app->session->registry;
}

const struct kernel *source_kernel(const struct source *s)
{
    return registry_find(kernels(s), s->name);
}

const struct kernel *source_before(const struct source *s)
{
    const struct kernel *base = source_base(kernels(s), source_kernel(s), false);
    return base && source_side(base, false) ? base : NULL;
}

static void drop_listings(struct source *s)
{
    job_free(s->job);
    s->job = NULL;
    for (int i = 0; i < VIEWS; i++) {
        free(s->listing[i]);
        free(s->no_listing[i]);
        s->listing[i] = s->no_listing[i] = NULL;
    }
}

static void set_missing(struct source *s, const char *text)
{
    free(s->missing);
    s->missing = text ? xstrdup(text) : NULL;
    if (text)
        codeview_clear(&s->code);
}

bool source_shows_diff(const struct source *s)
{
    return s->diff && s->view == VIEW_CUDA && source_before(s);
}

static void set_command(struct source *s)
{
    str_clear(&s->command);
    str_addf(&s->command, "source %s%s", s->name, source_shows_diff(s) ? " diff" : "");
    if (s->view != VIEW_CUDA)
        str_addf(&s->command, " view=%s", view_words[s->view]);
    else if (s->marks && !source_shows_diff(s))
        str_add(&s->command, " marks=yes");
}

static void show_cuda(struct source *s)
{
    const struct kernel_desc *d = source_side(source_kernel(s), false);
    const struct kernel *base = source_shows_diff(s) ? source_before(s) : NULL;
    const struct kernel_desc *old = base ? source_side(base, false) : NULL;
    set_missing(s, d->source_len ? NULL : "this kernel has no source of its own");
    if (!d->source_len)
        return;
    if (!codeview_set(&s->code, LEX_CUDA, d->source, d->source_len, old ? old->source : NULL,
                      old ? old->source_len : 0))
        app_message(s->app, ROLE_WARN, "the sources are too long for a diff");
}

static void show_listing(struct source *s)
{
    struct err err = ERR_INIT;
    const enum lex_lang lang = s->view == VIEW_PTX ? LEX_PTX : LEX_SASS;
    const char *text = s->listing[s->view];
    if (text) {
        set_missing(s, NULL);
        codeview_set(&s->code, lang, text, strlen(text), NULL, 0);
        if (codeview_find(&s->code, s->view == VIEW_PTX ? ".entry" : ".text.", 0))
            s->code.list.top = s->code.list.cur; /* past the head */
    } else if (s->no_listing[s->view]) {
        set_missing(s, s->no_listing[s->view]);
    } else if (!s->job &&
               source_listing_submit(s->app->session, source_kernel(s), &s->job, &err) != ST_OK) {
        set_missing(s, err.text);
    } else {
        set_missing(s, "compiling ...");
    }
}

static void show(struct source *s)
{
    if (s->view == VIEW_CUDA)
        show_cuda(s);
    else
        show_listing(s);
    set_command(s);
}

static void update_facts(struct source *s)
{
    const struct kernel *base = source_before(s);
    source_facts(s->app->session, source_kernel(s), &s->after);
    if (base)
        source_facts(s->app->session, base, &s->before);
}

static void collect(struct source *s)
{
    if (!s->job || !job_ended(s->job))
        return;
    for (int i = VIEW_PTX; i < VIEWS; i++)
        s->listing[i] = source_listing_take(s->job, view_words[i], &s->no_listing[i]);
    job_free(s->job);
    s->job = NULL;
    if (s->view != VIEW_CUDA)
        show(s);
}

static void set_kernel(struct source *s, const char *name)
{
    char *fresh = xstrdup(name);
    free(s->name);
    s->name = fresh;
    drop_listings(s);
    update_facts(s);
    show(s);
}

/* The next or previous kernel that has a text. */
static void step_kernel(struct source *s, int by)
{
    const int n = registry_count(kernels(s));
    int i = 0;
    while (i < n && strcmp(registry_at(kernels(s), i)->name, s->name) != 0)
        i++;
    for (int k = 0; k < n; k++) {
        i = (i + by + n) % n;
        const struct kernel_desc *d = source_side(registry_at(kernels(s), i), false);
        if (d && d->source_len)
            break;
    }
    set_kernel(s, registry_at(kernels(s), i)->name);
}

/* ---- keys ---- */

static void toggle_diff(struct source *s)
{
    if (!source_before(s)) {
        app_message(s->app, ROLE_WARN, "%s follows no other kernel", s->name);
        return;
    }
    s->diff = !source_shows_diff(s);
    s->view = VIEW_CUDA;
    show(s);
}

static void next_view(struct source *s)
{
    s->view = (s->view + 1) % VIEWS;
    show(s);
}

/* Both kernels of the diff in turn, so that their times can be held against each other. */
static void measure_both(struct source *s)
{
    const struct kernel *base = source_before(s);
    char *line =
        base ? xasprintf("compare %s,%s", base->name, s->name) : xasprintf("run %s", s->name);
    const enum status st = app_set(s->app, line);
    update_facts(s);
    const bool missing = base && isnan(s->before.time_us);
    const char *reason = missing ? source_no_time(s->app->session, base)
                         : isnan(s->after.time_us)
                             ? source_no_time(s->app->session, source_kernel(s))
                             : NULL;
    if (st == ST_OK && reason)
        app_message(s->app, ROLE_WARN, "%s", reason);
    free(line);
}

static void edit(struct source *s)
{
    char *line = xasprintf("edit %s", s->name);
    app_prompt(s->app, line);
    free(line);
}

static void go_to_change(struct source *s, int dir)
{
    if (!s->code.is_diff)
        app_message(s->app, ROLE_DIM, "b shows what changed; then { and } go through it");
    else if (!codeview_change(&s->code, dir))
        app_message(s->app, ROLE_DIM, "no more changes in that direction");
}

static bool source_act(void *ctx, enum action action)
{
    struct source *s = ctx;
    switch (action) {
    case ACT_FOCUS_NEXT:
        step_kernel(s, 1);
        break;
    case ACT_FOCUS_PREV:
        step_kernel(s, -1);
        break;
    case ACT_VIEW:
        next_view(s);
        break;
    case ACT_ANNOTATE:
        s->marks = !s->marks;
        set_command(s);
        break;
    case ACT_BASELINE:
        toggle_diff(s);
        break;
    case ACT_CHANGE_NEXT:
        go_to_change(s, 1);
        break;
    case ACT_CHANGE_PREV:
        go_to_change(s, -1);
        break;
    case ACT_RUN:
        measure_both(s);
        break;
    case ACT_OPEN:
    case ACT_EDIT:
        edit(s);
        break;
    case ACT_BACK:
        s->code.left = 0;
        break;
    default:
        return codeview_act(&s->code, action);
    }
    return true;
}

static bool source_find(void *ctx, const char *text, int dir)
{
    struct source *s = ctx;
    return codeview_find(&s->code, text, dir);
}

/* The words of the line at the cursor. */
static bool source_explain(void *ctx, struct str *out)
{
    const struct source *s = ctx;
    const struct codeview *v = &s->code;
    if (s->missing || v->nlines == 0) {
        str_add(out, s->missing ? s->missing : "there is no line");
        return false;
    }
    str_addn(out, v->lines[v->list.cur].at, (size_t)v->lines[v->list.cur].len);
    str_add(out, "\n\n");
    if (source_explain_cursor(s, out))
        return true;
    str_clear(out);
    str_add(out, "no word of this line is in the table of terms; help WORD searches them all");
    return false;
}

static void source_click(void *ctx, int x, int y)
{
    struct source *s = ctx;
    const int at = list_at(&s->code.list, x, y);
    if (at >= 0)
        s->code.list.cur = at;
}

static void source_wheel(void *ctx, int x, int y, int by)
{
    struct source *s = ctx;
    (void)x;
    (void)y;
    for (int i = 0; i < 3; i++)
        list_act(&s->code.list, by < 0 ? ACT_UP : ACT_DOWN);
}

/* ---- events ---- */

static void refresh(struct source *s)
{
    const bool edited = s->generation != registry_generation(kernels(s));
    const int cur = s->code.list.cur, top = s->code.list.top;
    s->settings_serial = s->app->settings_serial;
    s->generation = registry_generation(kernels(s));
    if (!source_kernel(s)) {
        set_kernel(s, explore_first_kernel(kernels(s))->name);
        return;
    }
    drop_listings(s);
    update_facts(s);
    if (edited || s->view != VIEW_CUDA)
        show(s);
    s->code.list.cur = cur; /* the same place of a text that was saved again */
    s->code.list.top = top;
}

static void source_update(void *ctx)
{
    struct source *s = ctx;
    if (s->settings_serial != s->app->settings_serial ||
        s->generation != registry_generation(kernels(s)))
        refresh(s);
    collect(s);
    update_facts(s);
}

static bool source_cancel(void *ctx)
{
    struct source *s = ctx;
    const bool ran = s->job != NULL;
    if (ran) {
        drop_listings(s);
        s->view = VIEW_CUDA;
        show(s);
    }
    return ran;
}

static const char *source_command(void *ctx)
{
    const struct source *s = ctx;
    return s->command.len ? str_text(&s->command) : NULL;
}

static void source_save(void *ctx, json_t *o)
{
    const struct source *s = ctx;
    json_object_set_new(o, "kernel", json_string(s->name));
    json_object_set_new(o, "diff", json_boolean(s->diff));
    json_object_set_new(o, "marks", json_boolean(s->marks));
    json_object_set_new(o, "line", json_integer(s->code.list.cur));
}

static void source_restore(void *ctx, const json_t *o)
{
    struct source *s = ctx;
    const char *name = json_string_value(json_object_get(o, "kernel"));
    const json_int_t line = json_integer_value(json_object_get(o, "line"));
    s->diff = json_is_true(json_object_get(o, "diff"));
    s->marks = !json_is_false(json_object_get(o, "marks"));
    if (name && registry_find(kernels(s), name))
        set_kernel(s, name);
    if (line >= 0 && line < s->code.nlines)
        s->code.list.cur = (int)line;
}

static void *source_open(struct app *a)
{
    struct source *s = xcalloc(1, sizeof *s);
    const struct kernel *first, *second;
    explore_selection(a, &first, &second);
    s->app = a;
    s->marks = true;
    s->settings_serial = a->settings_serial;
    s->generation = registry_generation(a->session->registry);
    set_kernel(s, first->name);
    return s;
}

static void source_close(void *ctx)
{
    struct source *s = ctx;
    drop_listings(s);
    codeview_clear(&s->code);
    free(s->missing);
    free(s->name);
    str_free(&s->command);
    free(s);
}

const struct screen_ops source_screen = {
    .name = "source",
    .title = "6 Source",
    .context = CTX_SOURCE,
    .open = source_open,
    .close = source_close,
    .draw = source_draw,
    .act = source_act,
    .update = source_update,
    .shown = source_update,
    .cancel = source_cancel,
    .command = source_command,
    .explain = source_explain,
    .find = source_find,
    .click = source_click,
    .wheel = source_wheel,
    .save = source_save,
    .restore = source_restore,
};
