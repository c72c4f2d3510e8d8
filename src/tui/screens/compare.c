/* compare.c - the Compare screen: which kernel is faster, how sure is it, and what differs?
 *
 * What is marked takes part; the baseline stands first in every run and the kernels take turns.
 * Figures stay until the next run, dimmed when the settings are no longer theirs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/screens/compare.h"
#include "tui/app/prompt.h"

/* ---- keys ---- */

static void remember_cursor(struct compare *x)
{
    const struct compare_row *row = compare_current(x);
    if (row)
        compare_replace(&x->at, row->label);
    compare_renew_view(x);
    compare_renew_knobs(x);
}

/* What takes part by default becomes marks as soon as one changes. */
static void settle_marks(struct compare *x)
{
    for (int i = 0; i < x->n; i++)
        if (x->rows[i].in)
            marks_add(&x->app->marks, x->rows[i].label);
}

static void toggle_mark(struct compare *x)
{
    const struct compare_row *row = compare_current(x);
    if (!row)
        return;
    char *label = xstrdup(row->label);
    settle_marks(x);
    int i = marks_find(&x->app->marks, label);
    if (i >= 0)
        marks_remove(&x->app->marks, i);
    else if (!marks_add(&x->app->marks, label))
        app_message(x->app, ROLE_WARN, "%d entries take part; there is no room for more",
                    MARKS_MAX);
    compare_refresh(x);
    free(label);
}

static void set_base(struct compare *x)
{
    const struct compare_row *row = compare_current(x);
    if (!row)
        return;
    if (!row->in || row->cannot) {
        app_message(x->app, ROLE_WARN, "%s: %s", row->label,
                    row->cannot ? row->cannot : "Space takes it in first");
        return;
    }
    compare_replace(&x->base, row->label);
    app_message(x->app, ROLE_NORMAL, "%s is the baseline; r runs all against it", x->base);
    compare_refresh(x);
}

static void set_left(struct compare *x)
{
    const struct compare_row *row = compare_current(x);
    bool same = row && x->left && strcmp(x->left, row->label) == 0;
    compare_replace(&x->left, row && !same ? row->label : NULL);
    if (row)
        app_message(x->app, ROLE_NORMAL,
                    same ? "the pair is against the baseline again"
                         : "%s is the pair's left side: move to the other",
                    row->label);
    compare_renew_view(x);
}

static void variant_done(void *ctx, const char *text)
{
    struct compare *x = ctx;
    struct err err = ERR_INIT;
    struct request r;
    if (str_blank(text))
        return;
    if (screen_request(x->app->session, text, true, &r, &err) != ST_OK) {
        struct err other = ERR_INIT; /* perhaps only the CPU kernel has such a parameter */
        if (screen_request(x->app->session, text, false, &r, &other) != ST_OK) {
            app_message(x->app, ROLE_BAD, "%s", err.text);
            return;
        }
    }
    request_clear(&r);
    settle_marks(x);
    marks_add(&x->app->marks, text);
    compare_replace(&x->at, text);
    compare_refresh(x);
}

/* The kernel at the cursor once more, with parameters of its own. */
static void ask_variant(struct compare *x)
{
    const struct compare_row *row = compare_current(x);
    if (!row)
        return;
    char *initial = strchr(row->label, '@') ? xstrdup(row->label) : xasprintf("%s@", row->label);
    prompt_open(x->app->session, "take in: ", initial, false, variant_done, x);
    free(initial);
}

/* As many as `set n=` takes. */
enum { MORE_MAX = 1000000 };

static void take_more(struct compare *x)
{
    const struct kept *f = compare_base(x) ? compare_find_kept(x, compare_base(x)) : NULL;
    int64_t n = f && f->row.n > 0 ? f->row.n : 50;
    n = x->more > n ? x->more : n;
    x->more = n < MORE_MAX / 2 ? 2 * n : MORE_MAX;
    compare_renew_request(x);
    compare_start(x);
    app_message(x->app, ROLE_NORMAL, "n=%lld samples each", (long long)x->more);
}

/* A parameter after @ is the entry's own; everything else is the session's. */
static char *own_value(const struct compare_row *row, const struct knob *k, const char *value)
{
    char *mark = xasprintf("@%s=", k->name), *result = NULL;
    const char *at = row && k->kind == KNOB_PARAM ? strstr(row->label, mark) : NULL;
    if (at) {
        const char *rest = strchr(at + 1, '@');
        result = xasprintf("%.*s%s%s%s", (int)(at - row->label), row->label, mark, value,
                           rest ? rest : "");
    }
    free(mark);
    return result;
}

static void rename_entry(struct compare *x, const char *label)
{
    settle_marks(x);
    int i = x->at ? marks_find(&x->app->marks, x->at) : -1;
    if (i >= 0)
        marks_rename(&x->app->marks, i, label);
    if (x->base && x->at && strcmp(x->base, x->at) == 0)
        compare_replace(&x->base, label);
    compare_replace(&x->at, label);
    compare_refresh(x);
}

static int knob_at(const struct compare *x)
{
    int i = knobs_find(&x->knobs, x->knob);
    return i >= 0 ? i : 0;
}

static void turn_knob(struct compare *x, int dir)
{
    const struct knob *k = &x->knobs.v[knob_at(x)];
    char *why, *value = knob_step(x->app->session, k, dir, &why);
    char *label = value ? own_value(compare_current(x), k, value) : NULL;
    remember_cursor(x);
    k = &x->knobs.v[knob_at(x)];
    if (label) {
        rename_entry(x, label);
    } else if (value) {
        char *line = knob_command(k, value);
        app_set(x->app, line); /* comes back through compare_update() */
        free(line);
    } else if (why) {
        app_message(x->app, ROLE_DIM, "%s", why);
    }
    free(label);
    free(value);
    free(why);
}

static void choose_knob(struct compare *x, int by)
{
    int n = x->knobs.n, i = n ? ((knob_at(x) + by) % n + n) % n : 0;
    if (n)
        snprintf(x->knob, sizeof x->knob, "%.30s", x->knobs.v[i].name);
}

static bool move(struct compare *x, enum action action)
{
    if (x->focus == COMPARE_STRIP && (action == ACT_UP || action == ACT_DOWN)) {
        choose_knob(x, action == ACT_UP ? -1 : 1);
        return true;
    }
    if (!list_act(&x->list, action))
        return false;
    remember_cursor(x);
    return true;
}

static bool compare_act(void *ctx, enum action action)
{
    struct compare *x = ctx;
    switch (action) {
    case ACT_FOCUS_NEXT:
    case ACT_FOCUS_PREV:
        x->focus =
            (enum compare_pane)((x->focus + (action == ACT_FOCUS_NEXT ? 1 : 3)) % COMPARE_PANES);
        break;
    case ACT_LEFT:
    case ACT_RIGHT:
        turn_knob(x, action == ACT_LEFT ? -1 : 1);
        break;
    case ACT_MARK:
        toggle_mark(x);
        break;
    case ACT_BASELINE:
        set_base(x);
        break;
    case ACT_OPEN:
        set_left(x);
        break;
    case ACT_VIEW:
        ask_variant(x);
        break;
    case ACT_SORT:
        x->sort = (enum compare_sort)((x->sort + 1) % SORT_COUNT);
        compare_renew_view(x);
        break;
    case ACT_SORT_REVERSE:
        x->reverse = !x->reverse;
        compare_renew_view(x);
        break;
    case ACT_RUN:
        compare_start(x);
        break;
    case ACT_MORE:
        take_more(x);
        break;
    case ACT_BACK:
        x->focus = COMPARE_RANKING;
        compare_replace(&x->left, NULL);
        compare_renew_view(x);
        break;
    default:
        return move(x, action);
    }
    return true;
}

/* ---- the screen ---- */

static void *compare_open(struct app *a)
{
    struct compare *x = xcalloc(1, sizeof *x);
    x->app = a;
    x->settings_serial = a->settings_serial;
    x->generation = registry_generation(a->session->registry);
    compare_replace(&x->at, a->kernel ? a->kernel->name : NULL);
    snprintf(x->knob, sizeof x->knob, "S");
    compare_refresh(x);
    return x;
}

static void compare_close(void *ctx)
{
    struct compare *x = ctx;
    compare_stop(x);
    compare_clear_rows(x);
    for (size_t i = 0; i < x->nkept; i++) {
        free(x->kept[i].label);
        record_clear(run_fields, &x->kept[i].row);
    }
    free(x->kept);
    request_clear(&x->request);
    request_clear(&x->job_request);
    str_free(&x->command);
    free(x->problem);
    free(x->failure);
    free(x->at);
    free(x->base);
    free(x->left);
    free(x);
}

static void compare_draw_screen(void *ctx, struct canvas *c)
{
    struct compare *x = ctx;
    struct rect r = app_frame(x->app, c);
    const struct device *gpu = session_gpu(x->app->session, NULL, NULL);
    struct compare_view v = {.rows = x->view,
                             .n = x->n,
                             .list = &x->list,
                             .focus = x->focus,
                             .one_pane = app_one_pane(x->app, c),
                             .blank = x->app->blank,
                             .knobs = &x->knobs,
                             .knob = knob_at(x),
                             .machine = x->machine,
                             .activity = x->activity,
                             .failure = x->failure,
                             .gpu = gpu ? gpu->name : NULL,
                             .sort = x->sort,
                             .reverse = x->reverse};
    compare_draw(c, r, &v);
}

static void compare_update(void *ctx)
{
    struct compare *x = ctx;
    int generation = registry_generation(x->app->session->registry);
    bool changed = x->settings_serial != x->app->settings_serial || x->generation != generation;
    x->settings_serial = x->app->settings_serial;
    x->generation = generation;
    compare_collect(x);
    if (changed)
        compare_refresh(x);
    else
        compare_renew_view(x);
}

static void compare_shown(void *ctx)
{
    struct compare *x = ctx;
    x->settings_serial = x->app->settings_serial;
    compare_refresh(x); /* marks may have changed */
}

static bool compare_cancel(void *ctx)
{
    return compare_stop(ctx);
}

static const char *compare_command(void *ctx)
{
    const struct compare *x = ctx;
    return x->command.len ? str_text(&x->command) : NULL;
}

static bool compare_explain(void *ctx, struct str *out)
{
    struct compare *x = ctx;
    const struct compare_row *row = compare_current(x);
    str_add(
        out,
        "The comparison:\n"
        "  The kernels take turns, A B A B, so that a change of clock or load meets all of\n"
        "  them. ratio is the median of time over the baseline's time in the same round, with\n"
        "  its 95 % bootstrap interval: below 0.99 FASTER, above 1.01 SLOWER, within both SAME,\n"
        "  else AMBIGUOUS, and then there is no winner. A kernel that fails its check is not\n"
        "  ranked. speedup = 1 / ratio; without a paired run the baseline's median / median.\n"
        "  % peak: of the device's peak for the dtype; unknown for a CPU.\n\n");
    if (!row || !row->plan)
        return true;
    screen_explain_plan(row->plan, row->label, out);
    return true;
}

static bool row_has(const void *ctx, int i, const char *text)
{
    const struct compare *x = ctx;
    return str_finds(x->view[i].label, text);
}

static bool compare_find(void *ctx, const char *text, int dir)
{
    struct compare *x = ctx;
    int at = list_find(x->n, x->list.cur, dir, row_has, x, text);
    if (at < 0)
        return false;
    x->list.cur = at;
    x->focus = COMPARE_RANKING;
    remember_cursor(x);
    return true;
}

static void compare_click(void *ctx, int px, int py)
{
    struct compare *x = ctx;
    int at = list_at(&x->list, px, py);
    if (at < 0)
        return;
    x->list.cur = at;
    x->focus = COMPARE_RANKING;
    remember_cursor(x);
}

static void compare_wheel(void *ctx, int px, int py, int by)
{
    (void)px, (void)py;
    move(ctx, by < 0 ? ACT_UP : ACT_DOWN);
}

const struct screen_ops compare_screen = {
    .name = "compare",
    .title = "2 Compare",
    .context = CTX_COMPARE,
    .open = compare_open,
    .close = compare_close,
    .draw = compare_draw_screen,
    .act = compare_act,
    .update = compare_update,
    .shown = compare_shown,
    .cancel = compare_cancel,
    .command = compare_command,
    .explain = compare_explain,
    .find = compare_find,
    .click = compare_click,
    .wheel = compare_wheel,
    .save = compare_save,
    .restore = compare_restore,
};
