/* timeline.c - the Timeline screen: how do the blocks fill the SMs? One kernel, or two above each
 * other on one scale.
 *
 * The model is there at once and follows every setting; r takes real stamps in the worker.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/number.h"
#include "command/ask/plan_here.h"
#include "command/ask/request.h"
#include "command/show/block_steps.h"
#include "command/show/timeline.h"
#include "draw/timeline.h"
#include "tui/app/app.h"
#include "tui/kit/veil.h"
#include "tui/screens/measurement.h"
#include "tui/screens/screen_util.h"
#include "tui/screens/simulation.h"
#include "tui/screens/subject.h"

extern const struct screen_ops timeline_screen;

enum { PANELS = 2, LEVELS = 12, MARK_AUTO = MARK_COUNT };

struct timelines {
    struct app *app;
    char *names[PANELS]; /* kernels; names[1] NULL: one panel */
    int focus;
    struct subject subject; /* what is shown, or what the job runs */
    struct timeline shown[PANELS];
    struct measurement measurement; /* the stamps that are being taken */
    struct simulation sim;          /* a few blocks of each: what the model's clock is */
    bool live;                      /* stamps, not the model */
    bool phases;   /* the simulated run's blocks, as soon as there is one, not the plan's */
    int level;     /* zoom: the width shows 1/2^level of the span */
    double middle; /* of what is shown, as a share of the span */
    int row, mark;
    struct rect panels[PANELS]; /* as drawn last */
};

/* ---- drawing ---- */

static double span_us(const struct timelines *t)
{
    double most = 0;
    for (int i = 0; i < PANELS; i++)
        most = fmax(most, t->shown[i].schedule.span_us);
    return most;
}

static struct timeline_view view_of(const struct timelines *t, const struct block_panel *s,
                                    int lines)
{
    const double span = s->block_us > 0 ? s->span_us : span_us(t), half = 0.5 / (1 << t->level);
    const int fit = timeline_fit(s, lines), per = fit >> t->level;
    return (struct timeline_view){
        .begin_us = span * (t->middle - half),
        .end_us = span * (t->middle + half),
        .row = t->row < (int)s->rows ? t->row : 0,
        .per_line = t->level == 0 ? 0
                    : per > 1     ? per
                                  : 1, /* 0: those that do the same on one */
        .mark = t->mark == MARK_AUTO ? timeline_best_mark(s) : (enum timeline_mark)t->mark,
    };
}

static void draw_words(struct canvas *c, struct rect r, const struct timeline *tl,
                       enum timeline_mark mark, bool blank)
{
    struct str s = {0};
    struct block_panel panel = tl->panel; /* what it points to stays the timeline's */
    if (blank)
        panel.recorded_us = panel.predicted_us = NAN;
    if (mark == MARK_PHASE) { /* without them its letters say nothing; figures may be cut */
        timeline_legend(&tl->panel, mark, &s);
        str_add(&s, ". ");
    }
    timeline_summary(&panel, &s);
    if (mark != MARK_PHASE) {
        str_add(&s, ". ");
        timeline_legend(&tl->panel, mark, &s);
    }
    if (tl->panel.note)
        str_addf(&s, ". %s", tl->panel.note);
    canvas_wrap_more(c, r, ROLE_NORMAL, str_text(&s), 0);
    str_free(&s);
}

static void draw_inside(const struct timelines *t, struct canvas *c, struct rect r,
                        const struct timeline *tl)
{
    if (tl->panel.reason) {
        canvas_wrap_more(c, r, ROLE_WARN, tl->panel.reason, 0);
        return;
    }
    if (t->app->blank && t->live) {
        canvas_text(c, r.x, r.y, r.w, ROLE_WARN, VEIL_TEXT);
        return;
    }
    const int words = r.h >= 8 ? r.w >= 150 ? 1 : 2 : 1;
    const int lines = r.h - words - 1; /* with the line of filled slots; the axis below */
    const struct timeline_view v = view_of(t, &tl->panel, lines - 1);
    const int used = fig_timeline(c, (struct rect){r.x, r.y, r.w, lines}, &tl->panel, &v);
    struct block_panel unclocked = tl->panel; /* what it points to stays the timeline's */
    unclocked.recorded_us = unclocked.predicted_us = NAN;
    fig_time_axis(c, (struct rect){r.x, r.y + used, r.w, 1}, v.begin_us, v.end_us,
                  t->app->blank ? &unclocked : &tl->panel);
    draw_words(c, (struct rect){r.x, r.y + used + 1, r.w, r.h - used - 1}, tl, v.mark,
               t->app->blank);
}

static void draw_panel(struct timelines *t, struct canvas *c, struct rect r, int i, bool bare)
{
    struct str title = {0};
    timeline_heading(&t->shown[i].panel, &title);
    const bool focus = t->names[1] && t->focus == i;
    struct rect in = pane_frame(c, r, str_text(&title), focus, bare);
    str_free(&title);
    t->panels[i] = r;
    draw_inside(t, c, in, &t->shown[i]);
}

/* What p leads to, or why it is not there yet. */
static const char *phases_activity(const struct timelines *t)
{
    const char *does = simulation_activity(&t->sim);
    return t->shown[t->focus].courses.n ? "x: a block's phases; "
           : !t->phases                 ? "p: phases of blocks; "
           : does                       ? "simulating for the phases; "
                                        : "no phases: nothing simulated; ";
}

static void draw_header(const struct timelines *t, struct canvas *c, struct rect r)
{
    char shape[SHAPE_TEXT];
    shape_format(&t->app->session->settings.problem.shape, shape, sizeof shape);
    int x = r.x + 1 + canvas_text(c, r.x + 1, r.y, r.w - 1, ROLE_TITLE, shape) + 2;
    if (t->measurement.job)
        canvas_textf(c, x, r.y, r.x + r.w - x, ROLE_ACCENT, "taking stamps: %s ...",
                     measure_phase(t->measurement.job));
    else if (!t->live)
        canvas_textf(c, x, r.y, r.x + r.w - x, ROLE_DIM, "%s%s", phases_activity(t),
                     "r takes real stamps");
}

static void timeline_draw(void *ctx, struct canvas *c)
{
    struct timelines *t = ctx;
    struct rect r = app_frame(t->app, c);
    draw_header(t, c, (struct rect){r.x, r.y, r.w, 1});
    r.y++;
    r.h--;
    memset(t->panels, 0, sizeof t->panels);
    if (t->subject.problem) {
        canvas_wrap(c, (struct rect){r.x + 1, r.y + 1, r.w - 2, r.h - 1}, ROLE_WARN,
                    t->subject.problem);
    } else if (app_one_pane(t->app, c) || !t->names[1]) {
        draw_panel(t, c, r, t->focus, r.w < FULL_W);
    } else {                            /* they share a border */
        const int half = (r.h + 1) / 2; /* alike, so that lines mean the same */
        draw_panel(t, c, (struct rect){r.x, r.y, r.w, half}, 0, false);
        draw_panel(t, c, (struct rect){r.x, r.y + half - 1, r.w, half}, 1, false);
    }
}

/* ---- what is shown ---- */

static void drop_shown(struct timelines *t)
{
    for (int i = 0; i < PANELS; i++)
        timeline_clear(&t->shown[i]);
}

static void add_origin(struct timelines *t)
{
    if (t->subject.command.len)
        str_addf(&t->subject.command, " origin=%s",
                 t->live || t->measurement.job ? "live"
                 : t->phases                   ? "sim"
                                               : "model");
}

/* `flags` as of request_of(). */
static void ask(struct timelines *t, unsigned flags)
{
    char *names = t->names[1] ? xasprintf("%s,%s", t->names[0], t->names[1]) : xstrdup(t->names[0]);
    subject_ask(&t->subject, names, "timeline", flags);
    free(names);
}

/* Once for each run: it costs what a plan does. */
static void show_phases(struct timelines *t, int i, const struct run_row *row)
{
    const struct device *dev = session_gpu(t->app->session, NULL, NULL);
    const struct request *r = &t->subject.request;
    struct timeline it;
    if (t->shown[i].courses.n || !dev || i >= r->nkernels || t->shown[i].panel.reason)
        return;
    timeline_of_run(t->app->session, r, i, dev, row, &it);
    if (it.panel.reason) { /* the plan's picture stays, and says why */
        if (!t->shown[i].panel.note)
            t->shown[i].panel.note = xasprintf("no phases: %s", it.panel.reason);
        timeline_put_predicted(row, &t->shown[i]);
        timeline_clear(&it);
        return;
    }
    timeline_clear(&t->shown[i]);
    t->shown[i] = it;
}

/* What the simulator's few blocks say of the kernels shown, as far as it is known. */
static void put_clocks(struct timelines *t)
{
    for (int i = 0; i < PANELS && t->names[i] && !t->live; i++) {
        const struct sim_known it = simulation_of(&t->sim, simulation_entry(&t->sim, t->names[i]));
        if (!it.row || it.old)
            continue;
        if (t->phases && it.row->counted_phases)
            show_phases(t, i, it.row);
        else
            timeline_put_predicted(it.row, &t->shown[i]);
    }
}

/* The model of the kernels and settings as they are now. */
static void show_model(struct timelines *t)
{
    struct err err = ERR_INIT;
    const struct request *r = &t->subject.request;
    const struct device *dev = session_gpu(t->app->session, NULL, &err);
    measurement_stop(&t->measurement, false);
    drop_shown(t);
    t->live = false;
    if (dev)
        ask(t, REQUEST_PLAN);
    else
        subject_refuse(&t->subject, err.text);
    plans_forget(t->app->session, t);
    plans_ask(t->app->session, t, r, dev);
    for (int i = 0; i < r->nkernels && i < PANELS; i++)
        timeline_model(t->app->session, r, i, dev, &t->shown[i]);
    add_origin(t);
    char *names = t->names[1] ? xasprintf("%s,%s", t->names[0], t->names[1]) : xstrdup(t->names[0]);
    simulation_ask(&t->sim, names);
    free(names);
    simulation_glance(&t->sim);
    put_clocks(t);
}

static void take_stamps(void *ctx, int arg)
{
    struct timelines *t = ctx;
    struct err err = ERR_INIT;
    struct measuring *job;
    (void)arg;
    measurement_stop(&t->measurement, false);
    simulation_stop(&t->sim); /* it would bend them */
    ask(t, 0);
    if (!t->subject.problem &&
        timeline_start(t->app->session, &t->subject.request, &job, &err) == ST_OK) {
        measurement_adopt(&t->measurement, job, JOB_TRACE);
        add_origin(t);
        return;
    }
    app_message(t->app, ROLE_WARN, "%s", t->subject.problem ? t->subject.problem : err.text);
    show_model(t);
}

static void collect(struct timelines *t)
{
    const struct measuring *job = measurement_ended(&t->measurement);
    if (!job)
        return;
    drop_shown(t);
    for (int i = 0; i < t->subject.request.nkernels && i < PANELS; i++)
        timeline_take(job, i, &t->shown[i]);
    measurement_stop(&t->measurement, false);
    t->live = true;
}

/* ---- kernels ---- */

static const struct registry *kernels(const struct timelines *t)
{
    return t->app->session->services.registry;
}

static int index_of(const struct timelines *t, const char *name)
{
    for (int i = 0; name && i < registry_count(kernels(t)); i++)
        if (strcmp(registry_at(kernels(t), i)->name, name) == 0)
            return i;
    return -1;
}

static void set_name(struct timelines *t, int panel, const char *name)
{
    free(t->names[panel]);
    t->names[panel] = name ? xstrdup(name) : NULL;
}

/* A kernel that went with its file gives way to the first one. */
static void follow_registry(struct timelines *t)
{
    if (index_of(t, t->names[0]) < 0)
        set_name(t, 0, first_kernel(kernels(t))->name);
    if (t->names[1] && index_of(t, t->names[1]) < 0)
        set_name(t, 1, NULL);
    if (!t->names[1])
        t->focus = 0;
}

/* Another kernel of the ladder in the focused panel; those for the CPU alone have no SMs. */
static void step_kernel(struct timelines *t, int by)
{
    const int n = registry_count(kernels(t));
    int i = index_of(t, t->names[t->focus]);
    do
        i += by;
    while (i >= 0 && i < n && !registry_at(kernels(t), i)->cuda);
    if (i < 0 || i >= n)
        return;
    set_name(t, t->focus, registry_at(kernels(t), i)->name);
    show_model(t);
}

static void timeline_show_kernel(void *ctx, const struct kernel *k)
{
    struct timelines *t = ctx;
    if (!k->cuda) {
        app_message(t->app, ROLE_WARN, "%s has no source for a GPU: there are no SMs to show",
                    k->name);
        return;
    }
    set_name(t, t->focus, k->name);
    show_model(t);
}

static const char *const timeline_drives[] = {"timeline", NULL};

static bool timeline_claims(const struct cmd_pair *p)
{
    return !strcmp(p->key, "origin");
}

static void timeline_drive(void *ctx, const struct cmd_call *c, const char *names)
{
    struct timelines *t = ctx;
    char *first = names ? xstrndup(names, strcspn(names, ",")) : NULL;
    if (first) {
        set_name(t, 0, first);
        set_name(t, 1, strchr(names, ',') ? strchr(names, ',') + 1 : NULL);
        t->focus = 0;
    }
    for (int i = 0; i < c->npairs; i++)
        if (timeline_claims(&c->pairs[i]))
            t->phases = !strcmp(c->pairs[i].value, "sim");
    show_model(t);
    for (int i = 0; i < c->npairs; i++)
        if (timeline_claims(&c->pairs[i]) && !strcmp(c->pairs[i].value, "live"))
            take_stamps(t, 0);
    free(first);
}

/* The second panel comes with the kernel that makes the plainest contrast. */
static void second(void *ctx, int arg)
{
    struct timelines *t = ctx;
    (void)arg;
    if (t->names[1]) {
        if (t->focus == 1)
            set_name(t, 0, t->names[1]);
        set_name(t, 1, NULL);
    } else {
        const bool split = strcmp(t->names[0], "splitkv") == 0;
        const char *other = split ? "fa1_2022" : "splitkv";
        set_name(t, 1, index_of(t, other) >= 0 ? other : t->names[0]);
    }
    t->focus = 0;
    show_model(t);
}

/* ---- zoom ---- */

static void clamp_view(struct timelines *t)
{
    const double half = 0.5 / (1 << t->level);
    t->middle = fmin(fmax(t->middle, half), 1 - half);
    const int rows = t->shown[t->focus].schedule.rows;
    t->row = t->row > rows - 1 ? rows - 1 : t->row;
    t->row = t->row < 0 || t->level == 0 ? 0 : t->row;
}

static void zoom(void *ctx, int by)
{
    struct timelines *t = ctx;
    t->level += by;
    t->level = t->level < 0 ? 0 : t->level > LEVELS ? LEVELS : t->level;
    clamp_view(t);
}

static void pan(struct timelines *t, double by)
{
    if (t->level == 0)
        app_message(t->app, ROLE_DIM, "all of it is shown; + zooms in, then arrows move");
    t->middle += by / (1 << t->level) / 4;
    clamp_view(t);
}

/* ---- keys ---- */

static void letters(void *ctx, int arg)
{
    struct timelines *t = ctx;
    (void)arg;
    const enum timeline_mark now = t->mark == MARK_AUTO
                                       ? timeline_best_mark(&t->shown[t->focus].panel)
                                       : (enum timeline_mark)t->mark;
    t->mark = now == MARK_PHASE ? 0 : (int)(now + 1) % MARK_COUNT;
    if (t->shown[t->focus].courses.n && t->mark == 0 && now != MARK_PHASE)
        t->mark = MARK_AUTO; /* the phases again */
    app_message(t->app, ROLE_NORMAL, "letters: %s",
                t->mark == MARK_AUTO ? "phase" : timeline_marks[t->mark]);
}

static void toggle_phases(void *ctx, int arg)
{
    struct timelines *t = ctx;
    (void)arg;
    t->phases = !t->phases;
    if (t->phases && !simulation_is_on(t->app->session))
        app_message(t->app, ROLE_WARN, "phases are those of a simulated run: set backend=%s",
                    backend_simulator()->name);
    show_model(t);
}

static void open_command(void *ctx, int arg)
{
    struct timelines *t = ctx;
    (void)arg;
    char *line = xstrdup(str_text(&t->subject.command));
    app_prompt(t->app, line);
    free(line);
}

static void timeline_move(void *ctx, enum move m)
{
    struct timelines *t = ctx;
    const int page = t->shown[t->focus].schedule.rows >> (t->level < 8 ? t->level + 1 : 8);
    if (m == MOVE_LEFT || m == MOVE_RIGHT) {
        pan(t, m == MOVE_LEFT ? -1 : 1);
    } else if (m == MOVE_PAGE_UP || m == MOVE_PAGE_DOWN) {
        t->row += (m == MOVE_PAGE_UP ? -1 : 1) * (page > 0 ? page : 1);
        clamp_view(t);
    } else {
        step_kernel(t, m == MOVE_UP || m == MOVE_FIRST ? -1 : 1);
    }
}

/* The same, for rows that say what the arrows do here. */
static void arrow(void *ctx, int where)
{
    timeline_move(ctx, (enum move)where);
}

static void timeline_focus(void *ctx, int by)
{
    struct timelines *t = ctx;
    (void)by;
    t->focus = t->names[1] ? !t->focus : 0;
}

static void timeline_back(void *ctx)
{
    zoom(ctx, -LEVELS);
}

// clang-format off
static const struct binding timeline_keys[] = {
    {.keys = {'r', TK_F5}, .does = "run", .act = take_stamps, .footer = "stamps", .help = "take real stamps: run a traced build"},
    {.keys = {TK_UP, 'k'}, .does = "up", .act = arrow, .arg = MOVE_UP, .help = "the kernel before this one on the ladder"},
    {.keys = {TK_DOWN, 'j'}, .does = "down", .act = arrow, .arg = MOVE_DOWN, .footer = "kernel", .help = "the next kernel of the ladder"},
    {.keys = {' '}, .does = "mark", .act = second, .footer = "second", .help = "a second kernel below on the same scale, or not"},
    {.keys = {'+', '='}, .does = "zoom-in", .act = zoom, .arg = 1, .footer = "zoom", .help = "zoom in: time and SMs"},
    {.keys = {'-'}, .does = "zoom-out", .act = zoom, .arg = -1, .help = "zoom out"},
    {.keys = {'0'}, .does = "zoom-reset", .act = zoom, .arg = -LEVELS, .help = "all of it again"},
    {.keys = {TK_LEFT, 'h'}, .does = "left", .act = arrow, .arg = MOVE_LEFT, .help = "earlier, when zoomed"},
    {.keys = {TK_RIGHT, 'l'}, .does = "right", .act = arrow, .arg = MOVE_RIGHT, .help = "later, when zoomed"},
    {.keys = {'v'}, .does = "view", .act = letters, .footer = "letters", .help = "letters tell query tiles, heads, splits or waves"},
    {.keys = {'p'}, .does = "phases", .act = toggle_phases, .footer = "phases", .help = "what blocks do when: phases of a simulated run, in predicted time; or the plan again"},
    {.keys = {TK_ENTER}, .does = "open", .act = open_command, .help = "edit the command"},
    {.does = NULL},
};
// clang-format on

static bool timeline_find(void *ctx, const char *text, int dir)
{
    struct timelines *t = ctx;
    const int n = registry_count(kernels(t)), cur = index_of(t, t->names[t->focus]);
    for (int i = dir == 0 ? 0 : 1; i <= n; i++) {
        const int at = (cur + (dir < 0 ? n - i : i)) % n;
        if (!str_finds(registry_at(kernels(t), at)->name, text))
            continue;
        set_name(t, t->focus, registry_at(kernels(t), at)->name);
        show_model(t);
        return true;
    }
    return false;
}

static void timeline_click(void *ctx, int x, int y)
{
    struct timelines *t = ctx;
    for (int i = 0; i < PANELS; i++) {
        const struct rect *r = &t->panels[i];
        if (t->names[i] && x >= r->x && x < r->x + r->w && y >= r->y && y < r->y + r->h)
            t->focus = i;
    }
}

static void timeline_wheel(void *ctx, int x, int y, int by)
{
    (void)x;
    (void)y;
    zoom(ctx, -by);
}

/* ---- explain ---- */

/* The block of the main pass that begins last before the middle of what is shown, on the first row shown. */
static const struct sched_block *middle_block(const struct timelines *t, const struct timeline *tl)
{
    const double at = t->middle * tl->schedule.span_us;
    const struct sched_block *best = NULL;
    for (int64_t i = 0; i < tl->schedule.nblocks; i++) {
        const struct sched_block *b = &tl->schedule.blocks[i];
        if (b->pass == 0 && b->row >= t->row && (!best || b->row <= best->row) &&
            (!best || b->row < best->row || (b->begin_us <= at && b->begin_us > best->begin_us)))
            best = b;
    }
    return best;
}

static void explain_block(const struct timelines *t, const struct timeline *tl, struct str *out)
{
    const struct sched_block *b = middle_block(t, tl);
    struct rowset rows = {.type = &step_type};
    struct err why = ERR_INIT;
    if (!b || block_steps(tl, b, &rows, &why) != ST_OK)
        return;
    block_heading(tl, b, out);
    str_add(out, ":\n\n");
    rows_format(out, &rows, &step_columns, FORMAT_TEXT, 74);
    str_addc(out, '\n');
    rowset_clear(&rows);
}

static bool timeline_explain(void *ctx, struct str *out)
{
    struct timelines *t = ctx;
    const struct timeline *tl = &t->shown[t->focus];
    if (tl->panel.reason || t->subject.problem) {
        str_add(out, tl->panel.reason ? tl->panel.reason : t->subject.problem);
        return false;
    }
    char b[5][NUMBER_BUF];
    const struct sched_summary s = sched_summarise(&tl->schedule);
    timeline_heading(&tl->panel, out);
    str_addf(out,
             "\n\nslots = %ss x blocks on each = %d x %d = %lld\n"
             "waves = blocks / slots = %lld / %lld = %s\n"
             "busy = time with at least one block, over all %ss = %s %%\n"
             "tail = end of the main pass in which slots stay empty = %s %% of %s\n"
             "longest block = %s x the mean: 1 is balanced; a causal mask makes it nearly 2\n\n",
             tl->schedule.unit, tl->schedule.rows, tl->schedule.lanes, (long long)s.slots,
             (long long)s.blocks, (long long)s.slots, number_fmt(b[0], s.waves, 3),
             tl->schedule.unit, number_fmt(b[1], s.busy_pct, 3), number_fmt(b[2], s.tail_pct, 3),
             s.span_us > 0 ? number_fmt_us(b[3], s.span_us) : "the whole",
             number_fmt(b[4], s.imbalance, 3));
    if (tl->courses.n)
        explain_block(t, tl, out);
    str_add(
        out,
        t->live ? "Stamps: a traced build of the same source notes SM and time at the begin and "
                  "end of every block; on the CPU the pool's threads do.\n"
        : tl->courses.n
            ? "Simulated: what the blocks did is counted from barrier to barrier; the time model "
              "makes "
              "predicted microseconds of that for each phase, and sends blocks to the SM that is "
              "free "
              "first. A phase is what all warps do between two barriers of the whole block; rounds "
              "of a "
              "loop that did exactly the same are one line.\n"
            : "Model: blocks go out in the order of their number, each to the slot that is "
              "free first. The blocks on an SM share its peak rate for their K/V tiles, and its "
              "part of the DRAM's for Q and O; a lone block gets what its warps can use, an SM "
              "needs eight. Real kernels do not reach the peak, each by its own factor, so this "
              "has no clock of its own: the whole takes the recorded time, else what the time "
              "model predicts of a simulated run, with the error that is shown; without either, a "
              "block is what the longest block takes alone on an SM. Within the error two kernels "
              "are held against each other by a recorded time, or by r.\n");
    str_add(out, "Where a line is several rows, capitals say that at least half of their slots are "
                 "filled.\n");
    return true;
}

/* ---- events ---- */

static void refresh(struct timelines *t)
{
    follow_registry(t);
    show_model(t);
    clamp_view(t);
}

static void timeline_update(void *ctx)
{
    struct timelines *t = ctx;
    const bool set = subject_settings_changed(&t->subject),
               edited = subject_kernels_changed(&t->subject),
               compiled = subject_code_changed(&t->subject);
    if (set || edited || (compiled && !t->live && !t->measurement.job))
        refresh(t);
    else
        collect(t);
    (void)simulation_collect(&t->sim, false);
    put_clocks(t);
}

static void timeline_shown(void *ctx)
{
    timeline_update(ctx);
}

static bool timeline_cancel(void *ctx)
{
    struct timelines *t = ctx;
    const bool ran = t->measurement.job != NULL;
    if (ran)
        show_model(t);
    return ran;
}

static const char *timeline_command(void *ctx)
{
    const struct timelines *t = ctx;
    return subject_command(&t->subject);
}

static void timeline_save(void *ctx, json_t *o)
{
    const struct timelines *t = ctx;
    json_object_set_new(o, "kernel", json_string(t->names[0]));
    json_object_set_new(o, "second", t->names[1] ? json_string(t->names[1]) : json_null());
    json_object_set_new(o, "letters", json_integer(t->mark));
    json_object_set_new(o, "phases", json_boolean(t->phases));
}

static void timeline_restore(void *ctx, const json_t *o)
{
    struct timelines *t = ctx;
    const json_t *mark = json_object_get(o, "letters");
    set_name(t, 0, json_string_value(json_object_get(o, "kernel")));
    set_name(t, 1, json_string_value(json_object_get(o, "second")));
    t->phases = json_is_true(json_object_get(o, "phases"));
    if (json_is_integer(mark) && json_integer_value(mark) >= 0 &&
        json_integer_value(mark) <= MARK_AUTO)
        t->mark = (int)json_integer_value(mark);
    refresh(t);
}

/* The kernels that Explore shows. */
static void *timeline_open(struct app *a)
{
    struct timelines *t = xcalloc(1, sizeof *t);
    t->app = a;
    subject_init(&t->subject, a);
    measurement_init(&t->measurement, a);
    simulation_init(&t->sim, a);
    t->mark = MARK_AUTO;
    t->middle = 0.5;
    set_name(t, 0, a->kernel->name);
    set_name(t, 1, a->second ? a->second->name : NULL);
    refresh(t);
    return t;
}

static void timeline_close(void *ctx)
{
    struct timelines *t = ctx;
    measurement_stop(&t->measurement, false);
    plans_forget(t->app->session, t);
    drop_shown(t);
    measurement_clear(&t->measurement);
    simulation_clear(&t->sim);
    subject_clear(&t->subject);
    for (int i = 0; i < PANELS; i++)
        free(t->names[i]);
    free(t);
}

extern const struct screen_ops timeline_screen;
const struct screen_ops timeline_screen = {
    .name = "timeline",
    .title = "5 Timeline",
    .keys = {timeline_keys},
    .open = timeline_open,
    .close = timeline_close,
    .draw = timeline_draw,
    .move = timeline_move,
    .focus = timeline_focus,
    .back = timeline_back,
    .update = timeline_update,
    .shown = timeline_shown,
    .cancel = timeline_cancel,
    .command = timeline_command,
    .explain = timeline_explain,
    .find = timeline_find,
    .drives = timeline_drives,
    .kernels_most = PANELS,
    .claims = timeline_claims,
    .drive = timeline_drive,
    .show_kernel = timeline_show_kernel,
    .click = timeline_click,
    .wheel = timeline_wheel,
    .save = timeline_save,
    .restore = timeline_restore,
};
