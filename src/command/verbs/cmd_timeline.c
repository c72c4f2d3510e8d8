/* cmd_timeline.c - blocks over SMs as a picture, its figures as rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/plan_here.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/block_steps.h"
#include "command/show/roles.h"
#include "command/show/timeline.h"
#include "command/verbs/verbs.h"
#include "draw/timeline.h"

enum { KERNELS_MAX = 8, LINES = 16, LINES_MAX = 256 };

struct line_row {
    char *kernel, *origin, *device, *shape, *params, *unit, *note, *reason, *recorded_in;
    int64_t rows, blocks, slots;
    bool upper_bound;
    double waves, span_us, span_blocks, busy_pct, fill_pct, tail_pct, imbalance, recorded_us;
    double predicted_us, predicted_error_pct;
    json_t *block_list, *phase_list, *course_list;
};
static const struct field line_fields[] = {
    FIELD(FIELD_TEXT, line_row, kernel, .doc = "Whose blocks they are."),
    FIELD(FIELD_TEXT, line_row, origin,
          .doc = "model: the planner's schedule; sim: the time model's, of a simulated run; live: "
                 "stamps "
                 "of a run on the device."),
    FIELD(FIELD_TEXT, line_row, device, .doc = "Where it ran, or for which model."),
    FIELD(FIELD_TEXT, line_row, shape, .doc = "The attention problem."),
    FIELD(FIELD_TEXT, line_row, params, .doc = "Kernel parameters that are not the usual ones."),
    FIELD(FIELD_TEXT, line_row, unit,
          .doc = "What blocks are put on: SM, or thread (CPU backend)."),
    FIELD(FIELD_TEXT, line_row, note, .doc = "What should be known beside the figures."),
    FIELD(FIELD_INT, line_row, rows, .doc = "SMs or threads of the device."),
    FIELD(FIELD_INT, line_row, blocks, .doc = "Blocks of the main pass."),
    FIELD(FIELD_INT, line_row, slots, .doc = "Blocks that run at a time."),
    FIELD(FIELD_FLAG, line_row, upper_bound,
          .doc = "The model's registers are unknown: at most so many slots."),
    FIELD(FIELD_REAL, line_row, waves, .digits = 3, .doc = "blocks over slots."),
    FIELD(FIELD_REAL, line_row, span_us, .title = "span us", .unit = "us",
          .doc = "From the first block's begin to the last one's end; the model's clock is "
                 "recorded_us, else predicted_us; of sim: predicted_us."),
    FIELD(FIELD_REAL, line_row, busy_pct, .title = "busy %", .digits = 3, .unit = "%",
          .doc = "Of the SMs' time, with at least one block on the SM."),
    FIELD(FIELD_REAL, line_row, fill_pct, .title = "filled %", .digits = 3, .unit = "%",
          .doc = "Of the slots' time, with blocks of the main pass."),
    FIELD(FIELD_REAL, line_row, tail_pct, .title = "tail %", .digits = 3, .unit = "%",
          .doc = "Of the span: from the last wave's first idle slot to the end of the main pass."),
    FIELD(FIELD_REAL, line_row, imbalance, .title = "longest/mean", .digits = 3,
          .doc = "Longest block over the mean of its pass."),
    FIELD(FIELD_TEXT, line_row, reason, .doc = "Why there is no timeline."),
    FIELD(FIELD_REAL, line_row, span_blocks, .title = "block times", .digits = 3,
          .doc = "The span of the model, in times of the kernel's longest block alone on an SM."),
    FIELD(FIELD_REAL, line_row, recorded_us, .title = "recorded us", .unit = "us",
          .doc = "Median time of this shape that was recorded on this GPU."),
    FIELD(FIELD_TEXT, line_row, recorded_in, .doc = "In which recording."),
    FIELD(FIELD_REAL, line_row, predicted_us, .title = "model us", .digits = 3, .unit = "us",
          .doc = "Of the model: what the time model predicts of a simulated run on this GPU."),
    FIELD(FIELD_REAL, line_row, predicted_error_pct, .title = "off %", .digits = 2, .unit = "%",
          .doc = "By how much that is off, see predicted_error_pct of run."),
    {.name = NULL},
};
/* The rows that a session keeps have no blocks: they would be most of its memory. */
static const struct field list_fields[] = {
    FIELD(FIELD_JSON, line_row, block_list,
          .doc =
              "In --json every block: pass, block, tile, head, split, kv_tiles, row, lane, wave, "
              "begin_us, end_us (null for the model), begin_blocks, end_blocks (null for stamps), "
              "course (of origin=sim: which of course_list), part (of a block that another thread "
              "has begun: what this one took over)."),
    FIELD(FIELD_JSON, line_row, phase_list,
          .doc =
              "Of origin=sim: what blocks do from one barrier to the next, over all of them: pass, "
              "phase, does, place, us of the predicted time, counts."),
    FIELD(
        FIELD_JSON, line_row, course_list,
        .doc =
            "The phases of simulated blocks in their order: pass, block, stands (for so many), "
            "steps: "
            "phase, rounds of length phases, at, us and counts of one round, share of the block's "
            "time. Over all blocks the us of a phase add up to that of phase_list. beats, of a "
            "kernel "
            "with wgmma: what (work, product, wait_product, copy, wait, meet), warpgroup, name, "
            "from_cycles, to_cycles, bytes of a copy, parity of a phase."),
    {.name = NULL},
};
static const struct row_type line_type = ROW_TYPE(line_row, {line_fields, 0}),
                             listed_type = ROW_TYPE(line_row, {line_fields, 0}, {list_fields, 0});

// clang-format off
static const struct columns columns = {
    .type = &listed_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "origin"},
        {.field = "device", .drop = 1},
        {.field = "blocks"},
        {.field = "slots"},
        {.field = "waves"},
        {.field = "span_us", .optional = true},
        {.field = "span_blocks", .optional = true},
        {.field = "recorded_us", .optional = true},
        {.field = "predicted_us", .optional = true},
        {.field = "predicted_error_pct", .optional = true},
        {.field = "busy_pct"},
        {.field = "fill_pct"},
        {.field = "tail_pct"},
        {.field = "imbalance"},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

/* ---- rows ---- */

static void set_figures(struct line_row *row, const struct schedule *s)
{
    const struct sched_summary sum = sched_summarise(s);
    row->rows = s->rows;
    row->blocks = sum.blocks;
    row->slots = sum.slots;
    row->waves = sum.waves;
    row->span_us = sum.span_us;
    row->span_blocks = sum.span_blocks;
    row->busy_pct = sum.busy_pct;
    row->fill_pct = sum.fill_pct;
    row->tail_pct = sum.tail_pct;
    row->imbalance = sum.imbalance;
}

static void list_blocks(struct line_row *row, const struct timeline *t)
{
    row->block_list = sched_blocks_json(&t->schedule);
    if (!t->courses.n)
        return;
    row->phase_list = course_phases_json(&t->courses);
    row->course_list = courses_json(&t->courses);
}

static void add_row(struct rowset *rows, const struct request *r, const struct timeline *t)
{
    struct line_row *row = rowset_add(rows);
    const struct block_panel *p = &t->panel;
    char shape[SHAPE_TEXT];
    shape_format(&r->problem.shape, shape, sizeof shape);
    row->kernel = xstrdup_if(p->kernel);
    row->origin = xstrdup_if(t->schedule.origin);
    row->device = xstrdup_if(p->device);
    row->shape = xstrdup(shape);
    row->params = xstrdup_if(p->params);
    row->unit = xstrdup_if(t->schedule.unit);
    row->note = xstrdup_if(p->note);
    row->upper_bound = t->schedule.bound;
    row->reason = xstrdup_if(p->reason);
    if (!p->reason)
        set_figures(row, &t->schedule);
    if (p->recorded_us > 0)
        row->recorded_us = p->recorded_us;
    row->recorded_in = xstrdup_if(p->recorded);
    if (p->predicted_us > 0) {
        row->predicted_us = p->predicted_us;
        row->predicted_error_pct = p->predicted_error_pct;
    }
    if (rows->type == &listed_type)
        list_blocks(row, t);
}

/* ---- text ---- */

static double longest_span(const struct timeline *t, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, t[i].schedule.span_us);
    return most;
}

static void add_picture(struct canvas *c, int height, const struct timeline *t, double span_us,
                        struct str *out)
{
    struct timeline_view v = {.end_us = span_us, .mark = timeline_best_mark(&t->panel)};
    canvas_clear(c);
    fig_timeline(c, (struct rect){0, 0, c->w, height}, &t->panel, &v);
    canvas_to_text(c, out);
    while (out->len > 1 && out->data[out->len - 2] == '\n')
        out->data[--out->len] = 0; /* lines that the picture did not need */
    str_addf(out, "%*s", TIMELINE_LABEL, "");
    timeline_legend(&t->panel, v.mark, out);
    str_add(out, "\n  ");
    timeline_summary(&t->panel, out);
    str_addc(out, '\n');
    if (t->panel.note)
        str_addf(out, "  %s\n", t->panel.note);
}

/* Lines of SMs in each of n pictures: lines=, else what suits a screen. */
static enum status read_lines(struct cmd_call *c, int n, int64_t *out, struct err *err)
{
    const char *word = call_key(c, "lines");
    *out = n > 1 ? LINES / 2 : LINES;
    if (!word || number_parse_int("lines", word, 1, LINES_MAX, out, err) == ST_OK)
        return ST_OK;
    return call_mark_key(c, "lines", ST_USAGE, err);
}

static void add_axis(struct session *s, struct cmd_call *c, int width, double span_us,
                     const struct block_panel *p)
{
    struct canvas *axis = canvas_new(width, 1, s->front.glyphs);
    fig_time_axis(axis, (struct rect){0, 0, width, 1}, 0, span_us, p);
    canvas_to_text(axis, c->out);
    canvas_free(axis);
}

static void add_text(struct session *s, struct cmd_call *c, const struct request *r,
                     const struct timeline *t, int n)
{
    const int width = s->front.width > 40 && s->front.width < 78 ? s->front.width : 78;
    const double all = longest_span(t, n); /* of stamps: one clock for all */
    int64_t lines = LINES;
    (void)read_lines(c, n, &lines, NULL); /* exec_timeline() has looked at it */
    char shape[SHAPE_TEXT];
    shape_format(&r->problem.shape, shape, sizeof shape);
    str_addf(c->out, "%s\n", shape);
    for (int i = 0; i < n; i++) {
        const size_t from = c->out->len;
        timeline_heading(&t[i].panel, c->out);
        str_addc(c->out, '\n');
        if (t[i].panel.reason) {
            str_addf(c->out, "  - : %s\n", n > 1 ? t[i].panel.reason : "no timeline");
            lines_wrap(c->out, from, call_width(s, c));
            continue;
        }
        const bool model = t[i].panel.block_us > 0;
        const double span = model ? t[i].schedule.span_us : all;
        struct canvas *canvas = canvas_new(width, (int)lines + 1, s->front.glyphs);
        add_picture(canvas, (int)lines + 1, &t[i], span, c->out);
        canvas_free(canvas);
        lines_wrap(c->out, from, call_width(s, c));
        if (model || i + 1 == n)
            add_axis(s, c, width, span, &t[i].panel);
    }
}

/* ---- one block ---- */

/* A line of letters, as long as the block is. */
static void add_block_line(struct session *s, struct cmd_call *c, const struct timeline *t,
                           const struct sched_block *b)
{
    const int width = s->front.width > 40 && s->front.width < 78 ? s->front.width : 78;
    struct block_panel p = t->panel; /* what it points to stays the timeline's */
    struct block_span span = {.row = 0,
                              .begin_us = b->begin_us,
                              .end_us = b->end_us,
                              .course = b->course,
                              .tile = -1,
                              .head = -1,
                              .split = -1};
    struct timeline_view v = {b->begin_us, b->end_us, 0, 1, MARK_PHASE};
    struct canvas *canvas = canvas_new(width, 2, s->front.glyphs);
    p.spans = &span;
    p.n = p.rows = p.lanes = p.shown = 1;
    fig_timeline(canvas, (struct rect){0, 0, width, 2}, &p, &v);
    canvas_text(canvas, 0, 0, TIMELINE_LABEL, ROLE_DIM, "phases     ");
    canvas_text(canvas, 0, 1, width, ROLE_DIM, "");
    for (int x = 0; x < width; x++)
        canvas_put(canvas, x, 1, ROLE_DIM, ' ');
    fig_time_axis(canvas, (struct rect){0, 1, width, 1}, b->begin_us, b->end_us, &t->panel);
    canvas_to_text(canvas, c->out);
    canvas_free(canvas);
}

/* Where warpgroups work beside each other: who does what, copies and products under way. */
static void add_roles(struct session *s, struct cmd_call *c, const struct timeline *t,
                      const struct sched_block *b, bool text)
{
    const int width = s->front.width > 40 ? s->front.width : 78;
    struct chart *chart = roles_chart(t, b, width - 16);
    if (!chart)
        return;
    if (text) {
        struct canvas *canvas = canvas_new(width, role_lines(chart->model), s->front.glyphs);
        const struct rect all = {0, 0, canvas->w, canvas->h};
        const struct role_chart *roles = chart->model;
        char first[NUMBER_BUF]; /* its axis is another than that of the picture above it */
        str_addf(c->out, "the first %s of it, larger:\n", number_fmt_us(first, roles->to_us));
        chart_roles.cells(canvas, all, chart->model, &CHART_WHOLE);
        canvas_to_text(canvas, c->out);
        canvas_free(canvas);
        while (c->out->len > 1 && c->out->data[c->out->len - 2] == '\n')
            c->out->data[--c->out->len] = 0;
    }
    charts_add(&c->charts, chart);
}

/* The picture of all blocks, of which this one is left, as a line of its own. */
static struct chart *block_chart(const struct request *r, const struct timeline *t,
                                 const struct sched_block *b)
{
    struct chart *chart = timeline_chart(r, t, 1);
    struct block_chart *m = chart->model;
    struct block_panel *p = &m->panels[0];
    struct str note = {0};
    block_heading(t, b, &note);
    free(p->note);
    p->note = str_take(&note);
    free(p->unit);
    p->unit = xstrdup(TIMELINE_BLOCK);
    p->n = p->rows = p->lanes = p->shown = 1;
    p->spans[0] = (struct block_span){.begin_us = b->begin_us,
                                      .end_us = b->end_us,
                                      .course = b->course,
                                      .wave = b->wave,
                                      .tile = b->work.tile,
                                      .head = b->work.head,
                                      .split = -1};
    return chart;
}

static enum status print_block(struct session *s, struct cmd_call *c, const struct request *r,
                               const struct timeline *t, int64_t block, struct err *err)
{
    struct rowset rows = {.type = &step_type};
    if (t->panel.reason)
        return err_set(err, ST_NO, "no timeline: %s", t->panel.reason);
    const struct sched_block *b = block_find(t, block);
    if (!b) {
        err_set(err, ST_USAGE, "the main pass has blocks 0 to %lld",
                (long long)sched_summarise(&t->schedule).blocks - 1);
        return call_mark_key(c, "block", ST_USAGE, err);
    }
    const enum status st = block_steps(t, b, &rows, err);
    const enum format f = call_format(c);
    if (st == ST_OK && f == FORMAT_TEXT) {
        const size_t from = c->out->len;
        timeline_heading(&t->panel, c->out);
        str_addc(c->out, '\n');
        block_heading(t, b, c->out);
        str_addc(c->out, '\n');
        lines_wrap(c->out, from, call_width(s, c));
        add_block_line(s, c, t, b);
    }
    if (st == ST_OK)
        add_roles(s, c, t, b, f == FORMAT_TEXT);
    if (st == ST_OK) {
        rows_show(s, c->out, &rows, &step_columns, f, call_width(s, c));
        charts_add(&c->charts, block_chart(r, t, b));
        call_remember(s, c, &rows, &step_columns);
    }
    rowset_clear(&rows);
    return st;
}

/* ---- the verb ---- */

enum origin { FROM_MODEL, FROM_LIVE, FROM_SIM };
static const char *const origins[] = {"model", "live", "sim", NULL};

static enum status fill_live(struct session *s, const struct request *r, struct timeline *t,
                             struct err *err)
{
    struct measuring *job;
    struct measured m;
    enum status st = timeline_start(s, r, &job, err);
    if (st != ST_OK)
        return st;
    measure_wait(job);
    for (int i = 0; i < r->nkernels; i++)
        timeline_take(job, i, &t[i]);
    measure_close(job, &m);
    if (m.status == ST_CANCELLED)
        st = err_set(err, ST_CANCELLED, "cancelled");
    measured_clear(&m);
    return st;
}

static enum status fill_model(struct session *s, struct cmd_call *c, const struct request *r,
                              struct timeline *t, struct err *err)
{
    const struct device *dev = session_gpu(s, r->options.gpu, err);
    if (!dev)
        return call_mark_key(c, "gpu", ST_USAGE, err);
    plans_compile(s, r, dev);
    for (int i = 0; i < r->nkernels; i++)
        timeline_model(s, r, i, dev, &t[i]);
    for (int i = 0; i < r->nkernels && !s->draws; i++)
        timeline_predict(s, r, i, &t[i]);
    return ST_OK;
}

/* An option's value in this call, else in the session; before the request is made, for which kernels
 * it names depends on it. */
static enum status read_origin(const struct session *s, struct cmd_call *c, enum origin *out,
                               struct err *err)
{
    const char *word = call_key(c, "origin"),
               *backend = call_peek(c, "backend", s->settings.options.backend);
    const bool live = timeline_wants_live(backend, call_peek(c, "gpu", s->settings.options.gpu)),
               sim = backend && !strcmp(backend, backend_simulator()->name);
    *out = sim ? FROM_SIM : live ? FROM_LIVE : FROM_MODEL;
    if (!word)
        return ST_OK;
    for (int i = 0; origins[i]; i++)
        if (!strcmp(word, origins[i])) {
            *out = (enum origin)i;
            return ST_OK;
        }
    err_set(err, ST_USAGE, "origin is model, sim or live, not \"%.40s\"", word);
    return call_mark_key(c, "origin", ST_USAGE, err);
}

/* block=: which one is shown phase by phase; -1: none. */
static enum status read_block(struct cmd_call *c, const struct request *r, enum origin from,
                              int64_t *out, struct err *err)
{
    const char *word = call_key(c, "block");
    enum status st = ST_OK;
    *out = -1;
    if (!word)
        return ST_OK;
    st = number_parse_int("block", word, 0, SCHED_BLOCKS_MAX, out, err);
    if (st == ST_OK && (from != FROM_SIM || r->nkernels != 1))
        st = err_set(err, ST_USAGE,
                     "block= shows the phases of a simulated block: origin=sim, and "
                     "one kernel");
    return st == ST_OK ? st : call_mark_key(c, "block", ST_USAGE, err);
}

/* Who asks for it by name waits for it. */
static enum status fill_sim(struct session *s, struct cmd_call *c, const struct request *r,
                            struct timeline *t, struct err *err)
{
    static const double patience_s = 60;
    const struct device *dev = session_gpu(s, r->options.gpu, err);
    if (!dev)
        return call_mark_key(c, "gpu", ST_USAGE, err);
    plans_compile(s, r, dev);
    for (int i = 0; i < r->nkernels; i++)
        timeline_simulate(s, r, i, dev, patience_s, &t[i]);
    return ST_OK;
}

static enum status fill(struct session *s, struct cmd_call *c, const struct request *r,
                        enum origin from, struct timeline *t, struct err *err)
{
    switch (from) {
    case FROM_LIVE:
        return fill_live(s, r, t, err);
    case FROM_SIM:
        return fill_sim(s, c, r, t, err);
    default:
        return fill_model(s, c, r, t, err);
    }
}

static enum status check_kernels(const struct request *r, struct err *err)
{
    if (!r->nkernels)
        return err_set(err, ST_USAGE, "timeline needs a kernel, for example: timeline fa2 causal");
    if (r->nkernels > KERNELS_MAX)
        return err_set(err, ST_USAGE, "timeline draws at most %d kernels", KERNELS_MAX);
    return ST_OK;
}

static void print_rows(struct session *s, struct cmd_call *c, const struct request *r,
                       const struct timeline *t)
{
    const enum format f = call_format(c);
    struct rowset rows = {.type = f == FORMAT_JSON ? &listed_type : &line_type};
    for (int i = 0; i < r->nkernels; i++)
        add_row(&rows, r, &t[i]);
    rows_show(s, c->out, &rows, &columns, f, call_width(s, c));
    rowset_clear(&rows);
    if (f == FORMAT_MD)
        rows_md_footer(c->out, c->command);
}

static enum status print(struct session *s, struct cmd_call *c, const struct request *r,
                         const struct timeline *t, struct err *err)
{
    const char *reason = NULL;
    int drawn = 0;
    struct rowset kept = {.type = &line_type};
    if (call_format(c) == FORMAT_TEXT)
        add_text(s, c, r, t, r->nkernels);
    else
        print_rows(s, c, r, t);
    for (int i = 0; i < r->nkernels; i++) {
        add_row(&kept, r, &t[i]);
        drawn += !t[i].panel.reason;
        reason = reason ? reason : t[i].panel.reason;
    }
    charts_add(&c->charts, timeline_chart(r, t, r->nkernels));
    call_remember(s, c, &kept, &columns);
    rowset_clear(&kept);
    if (drawn)
        return ST_OK;
    return r->nkernels > 1 ? err_set(err, ST_NO, "no kernel has a timeline here")
                           : err_set(err, ST_NO, "no timeline: %s", reason);
}

static enum status exec_timeline(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    struct str command = {0};
    struct timeline t[KERNELS_MAX] = {0};
    int64_t lines, block = -1;
    enum origin from;
    (void)call_format(c); /* the options are known from here on */
    enum status st = read_origin(s, c, &from, err);
    if (!st)
        st = request_make(s, c, from == FROM_LIVE ? 0 : REQUEST_PLAN, &r, err);
    if (st)
        return st;
    st = check_kernels(&r, err);
    if (!st)
        st = read_lines(c, r.nkernels, &lines, err);
    if (!st)
        st = read_block(c, &r, from, &block, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st)
        st = fill(s, c, &r, from, t, err);
    request_command(&r, "timeline", &command);
    if (from != FROM_LIVE)
        request_command_gpu(&r, session_gpu(s, NULL, NULL), &command);
    str_addf(&command, " origin=%s", origins[from]);
    if (block >= 0)
        str_addf(&command, " block=%lld", (long long)block);
    c->command = str_take(&command);
    if (!st)
        st = block >= 0 ? print_block(s, c, &r, &t[0], block, err) : print(s, c, &r, t, err);
    for (int i = 0; i < KERNELS_MAX; i++)
        timeline_clear(&t[i]);
    request_clear(&r);
    return st;
}

static const struct cmd_key keys[] = {
    {"origin",
     "model: the planner's schedule; sim: the time model's, with the phases of simulated blocks; "
     "live: stamps taken on the device",
     origins},
    {"block", "of origin=sim: this block's phases one after the other, by its number", NULL},
    {"lines", "of SMs in each picture, several SMs to a line; 16 by default", NULL},
    {0},
};

const struct cmd_entry cmd_timeline = {
    .name = "timeline",
    .group = "Model",
    .usage = "K[,K...] [shape] [params] [origin=model|sim|live] [block=N] [gpu=NAME]",
    .summary = "blocks over SMs and time: waves, the tail, idle SMs, causal imbalance",
    .help =
        "Rows are SMs, x is time, a letter is the query tile, head or share of the keys that a\n"
        "block works on, and | where one begins; stamps of several kernels stand on one scale. "
        "SMs\n"
        "that do the same share a row, with the letters of all (A-H). Where a row is other SMs,\n"
        "it shows the block that has most of it, in capitals where at least half of their slots\n"
        "are filled. origin=live runs a traced build of\n"
        "the same source that stamps begin and end of every block (on the CPU: of every task of\n"
        "the thread pool, in the shortest of several runs); it is the default on a GPU and with "
        "backend=cpu. origin=model needs\n"
        "no GPU: blocks go out in order, each to the slot that is free first, and those on one SM\n"
        "share its peak rate. It has no clock of its own: a time that was recorded on this GPU, "
        "for\n"
        "this shape, is taken for the whole, else the predicted time of a simulated run, whose\n"
        "error stands beside it and which may take 2 s; without either, times are blocks, what\n"
        "the kernel's longest block takes alone on an SM, and say nothing about another kernel.\n"
        "origin=sim (the default with backend=sim) simulates some blocks, and places all by the "
        "time\n"
        "model, in microseconds that are predicted. A letter is what the block does at that "
        "moment,\n"
        "from one barrier to the next; the phase that has most of a cell is its letter. block=N "
        "is\n"
        "one block, a row for each phase; rounds of a loop that did exactly the same are one. Of\n"
        "kernels with wgmma it also shows the block's warpgroups beside each other, from its "
        "begin:\n"
        "copies and products under way, and who waits for which mbarrier (name/parity); export\n"
        "figure=roles draws that.\n"
        "busy: SMs with at least one block. tail: the end of the main pass\n"
        "in which slots stay empty. --json has every block. With gpus=N and origin=live rows are\n"
        "GPUs, a block is a step by that GPU's own events, and a letter whose keys it had.\n"
        "\n"
        "  timeline fa1_2022,splitkv gpu=H200\n"
        "  timeline fa2 causal S=4k gpu=L4\n"
        "  timeline fa2_mma_async causal S=1k backend=sim block=15\n"
        "  timeline fa3_warpspec S=1k D=128 gpu=H200 origin=sim block=0\n"
        "  timeline qtile_seq,fa2 backend=cpu\n"
        "  timeline fa2_mma S=32k D=128 causal gpus=4 backend=cuda\n",
    .arg = ARG_KERNELS,
    .keys = keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_timeline,
    .columns = COLUMNS(&columns, &step_columns),
};
