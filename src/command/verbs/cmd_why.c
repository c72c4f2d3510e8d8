/* cmd_why.c - why A and not B: in what two kernels differ, as paired bars, what may explain it first.
 *
 * It names first what goes the way of the recorded times, or else what speaks for one of the two; it never names
 * a cause, which figures of a plan cannot prove.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/plan_here.h"
#include "command/ask/recollect.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"
#include "draw/figures.h"
#include "plan/differ.h"
#include "store/recall.h"

/* ---- rows ---- */

struct why_row {
    char *kernel, *other, *figure, *unit, *bound, *other_bound, *favours, *origin, *gpu, *shape,
        *doc;
    double value, other_value, ratio;
    int64_t rank;
    int agrees;
};
// clang-format off
static const struct field why_fields[] = {
    FIELD(FIELD_TEXT, why_row, kernel, .doc = "The first kernel."),
    FIELD(FIELD_TEXT, why_row, other, .doc = "The second kernel."),
    FIELD(FIELD_TEXT, why_row, gpu, .doc = "For which model."),
    FIELD(FIELD_TEXT, why_row, shape, .doc = "The attention problem."),
    FIELD(FIELD_INT, why_row, rank, .doc = "1: to be looked at first. What goes the way of a recorded time comes first, then what favours a kernel, then the rest, each by ratio; null: equal, not known, or only bounded."),
    FIELD(FIELD_TEXT, why_row, figure, .doc = "What differs."),
    FIELD(FIELD_REAL, why_row, value, .doc = "Of the first kernel."),
    FIELD(FIELD_REAL, why_row, other_value, .title = "other", .doc = "Of the second."),
    FIELD(FIELD_TEXT, why_row, bound, .doc = "<= or >=: value only bounds the figure, the registers are not known."),
    FIELD(FIELD_TEXT, why_row, other_bound, .doc = "The same of other_value."),
    FIELD(FIELD_TEXT, why_row, unit, .doc = "Of both values."),
    FIELD(FIELD_REAL, why_row, ratio, .digits = 3, .doc = "value over other_value; null for a bound, and where one is 0."),
    FIELD(FIELD_TEXT, why_row, favours, .doc = "The kernel that the figure speaks for, all else being equal; null: neither by itself."),
    FIELD(FIELD_BOOL, why_row, agrees, .doc = "Is that the kernel of the shorter recorded time? null: no such time of both."),
    FIELD(FIELD_TEXT, why_row, origin, .doc = "model: planned; source: counted in the kernel's text; recorded: measured then."),
    FIELD(FIELD_TEXT, why_row, doc, .doc = "What the figure is."),
    {.name = NULL},
};
static const struct row_type why_type = ROW_TYPE(why_row, {why_fields, 0});
static const struct columns why_columns = {
    .type = &why_type,
    .list = (const struct column[]){
        {.field = "rank"},
        {.field = "figure"},
        {.field = "kernel", .drop = 2},
        {.field = "bound", .optional = true},
        {.field = "value"},
        {.field = "other", .drop = 2},
        {.field = "other_bound", .title = "bound", .optional = true},
        {.field = "other_value", .title = "value"},
        {.field = "unit", .optional = true},
        {.field = "ratio"},
        {.field = "favours", .optional = true},
        {.field = "agrees", .optional = true},
        {.field = "origin", .drop = 3},
        {0},
    },
};
// clang-format on

/* ---- what is asked ---- */

struct pair {
    struct request request;
    const struct device *gpu;
    struct plan plan[2];
    char *name[2];
    struct recalled recorded[2];
    bool timed; /* both recorded, of this very shape */
    struct difference d[DIFFERENCES];
    int n; /* of those, how many rank */
};

static void pair_clear(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        plan_clear(&p->plan[i]);
        free(p->name[i]);
    }
    request_clear(&p->request);
}

static enum status plan_side(struct session *s, struct pair *p, int i, struct err *err)
{
    const struct request *r = &p->request;
    struct err why = ERR_INIT;
    p->name[i] = request_entry(r, i);
    if (!r->kernels[i]->cuda)
        return err_set(err, ST_USAGE, "%s has no CUDA source to plan", r->kernels[i]->name);
    enum status st = plan_here(s, r->kernels[i]->cuda, &r->problem.shape, &r->params[i], p->gpu,
                               &p->plan[i], &why);
    if (st)
        return err_set(err, st, "%s: %s", p->name[i], why.text);
    if (!p->plan[i].npasses)
        return err_set(err, ST_NO, "%s launches nothing that could be planned", p->name[i]);
    p->recorded[i] = recollect(s, r, i, p->gpu);
    return ST_OK;
}

/* The one of the shorter recorded time; -1: not known of both. */
static int faster(const struct pair *p)
{
    if (!p->timed)
        return -1;
    return p->recorded[0].row->median_us <= p->recorded[1].row->median_us ? 0 : 1;
}

static enum status make_pair(struct session *s, struct cmd_call *c, struct pair *p, struct err *err)
{
    enum status st = request_make(s, c, REQUEST_PLAN, &p->request, err);
    if (st)
        return st;
    if (p->request.nkernels != 2)
        return err_set(err, ST_USAGE,
                       "why needs two kernels, for example: why fa2,qtile_seq gpu=H200");
    char *both[2] = {request_entry(&p->request, 0), request_entry(&p->request, 1)};
    const bool same = !strcmp(both[0], both[1]);
    if (same)
        st = err_set(err, ST_USAGE, "why needs two kernels that differ; both are %s", both[0]);
    free(both[0]);
    free(both[1]);
    if (same)
        return st;
    if (!(p->gpu = session_gpu(s, p->request.options.gpu, err)))
        return call_mark_key(c, "gpu", ST_USAGE, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st)
        plans_compile(s, &p->request, p->gpu);
    for (int i = 0; i < 2 && !st; i++)
        st = plan_side(s, p, i, err);
    if (st)
        return st;
    p->n = plan_differ(&p->plan[0], &p->plan[1], p->d);
    p->timed = recollect_exact(&p->recorded[0]) && recollect_exact(&p->recorded[1]) &&
               !p->recorded[0].old && !p->recorded[1].old;
    if (p->timed)
        differences_as_time(p->d, p->n, faster(p));
    return ST_OK;
}

static struct why_row *add_row(struct rowset *rows, const struct pair *p)
{
    char shape[SHAPE_TEXT];
    struct why_row *row = rowset_add(rows);
    shape_format(&p->request.problem.shape, shape, sizeof shape);
    row->kernel = xstrdup(p->name[0]);
    row->other = xstrdup(p->name[1]);
    row->gpu = xstrdup(p->gpu->name);
    row->shape = xstrdup(shape);
    row->agrees = -1;
    return row;
}

static void add_difference(struct rowset *rows, const struct pair *p, int i)
{
    const struct difference *d = &p->d[i];
    const int favours = difference_favours(d), quick = faster(p);
    struct why_row *row = add_row(rows, p);
    row->rank = i < p->n ? i + 1 : INT_UNKNOWN;
    row->figure = xstrdup(d->figure);
    row->unit = *d->unit ? xstrdup(d->unit) : NULL;
    row->doc = xstrdup(d->doc);
    row->origin = xstrdup(d->origin);
    row->value = d->value[0];
    row->other_value = d->value[1];
    row->bound = *d->bound[0] ? xstrdup(d->bound[0]) : NULL;
    row->other_bound = *d->bound[1] ? xstrdup(d->bound[1]) : NULL;
    row->ratio = d->ratio;
    row->favours = favours >= 0 ? xstrdup(p->name[favours]) : NULL;
    if (favours >= 0 && quick >= 0)
        row->agrees = favours == quick;
}

static void add_time(struct rowset *rows, const struct pair *p)
{
    if (!p->timed)
        return;
    struct why_row *row = add_row(rows, p);
    row->figure = xstrdup("time");
    row->unit = xstrdup("us");
    row->doc = xstrdup("median of a run, recorded");
    row->origin = xstrdup("recorded");
    row->value = p->recorded[0].row->median_us;
    row->other_value = p->recorded[1].row->median_us;
    row->ratio = row->value / row->other_value;
    row->favours = xstrdup(p->name[faster(p)]);
}

/* ---- as text ---- */

static const char *value_text(char buf[NUMBER_BUF + 4], const struct difference *d, int i)
{
    char number[NUMBER_BUF];
    snprintf(buf, NUMBER_BUF + 4, "%s%s", d->bound[i],
             strcmp(d->unit, "B") == 0 ? number_fmt_bytes(number, d->value[i])
                                       : number_fmt(number, d->value[i], 4));
    return buf;
}

static void ratio_text(const struct pair *p, const struct difference *d, char *buf, size_t size)
{
    char number[NUMBER_BUF];
    const int favours = difference_favours(d);
    if (isfinite(d->ratio))
        snprintf(buf, size, "%sx%s", number_fmt(number, fmax(d->ratio, 1 / d->ratio), 3),
                 favours < 0            ? ""
                 : favours == faster(p) ? ", as the time"
                 : p->timed             ? ", not as the time"
                                        : "");
    else
        snprintf(buf, size, "%s",
                 *d->bound[0] || *d->bound[1] ? "bounds: not ranked" : "one has none");
}

/* Differences that are known of both, bounds too, as bars. */
static struct chart *make_chart(const struct pair *p, int n)
{
    struct chart *c = chart_new(&chart_pairs);
    struct pair_chart *x = c->model;
    char shape[SHAPE_TEXT];
    x->kernel = xstrdup(p->name[0]);
    x->other = xstrdup(p->name[1]);
    pairs_size(x, n);
    for (int i = 0; i < n; i++) {
        const struct difference *d = &p->d[i];
        char words[64];
        ratio_text(p, d, words, sizeof words);
        x->bars[i] = (struct pair_bar){.figure = xstrdup(d->figure),
                                       .unit = xstrdup(d->unit),
                                       .value = d->value[0],
                                       .other = d->value[1],
                                       .bound = *d->bound[0] ? xstrdup(d->bound[0]) : NULL,
                                       .other_bound = *d->bound[1] ? xstrdup(d->bound[1]) : NULL,
                                       .words = xstrdup(words)};
    }
    for (int i = 0; i < 2; i++)
        caption_kernel(&c->caption, p->name[i]);
    caption_device(&c->caption, p->gpu->name);
    shape_format(&p->request.problem.shape, shape, sizeof shape);
    c->caption.shape = xstrdup(shape);
    c->caption.origin = xstrdup("model");
    return c;
}

static void draw_pairs(struct session *s, struct cmd_call *c, const struct chart *chart, int n)
{
    int width = call_width(s, c);
    width = width <= 0 || width > 100 ? 100 : width < 60 ? 60 : width;
    struct canvas *canvas = canvas_new(width, 2 * n, s->front.glyphs);
    chart->kind->cells(canvas, (struct rect){0, 0, width, 2 * n}, chart->model, &CHART_WHOLE);
    canvas_to_text(canvas, c->out);
    canvas_free(canvas);
}

/* What is named first is named for a reason: it goes the way of the time, or speaks for one of them, or
 * there is nothing that does. */
static void say_most(const struct pair *p, struct str *out)
{
    char a[NUMBER_BUF + 4], b[NUMBER_BUF + 4];
    const struct difference *d = &p->d[0];
    if (!p->n) {
        str_add(out, "No figure that is known of both differs. ");
        return;
    }
    const int favours = difference_favours(d);
    str_addf(out, "%s they differ most in %s: %s against %s",
             favours < 0            ? "Nothing that differs speaks for one of them by itself;"
             : favours == faster(p) ? "Of what goes the way of the time,"
                                    : "Of what by itself speaks for one of them,",
             d->figure, value_text(a, d, 0), value_text(b, d, 1));
    for (int i = 1; i < p->n && difference_favours(&p->d[i]) == favours &&
                    fmax(p->d[i].ratio, 1 / p->d[i].ratio) == fmax(d->ratio, 1 / d->ratio);
         i++)
        str_addf(out, "%s%s", i == 1 ? "; as much in " : ", ", p->d[i].figure);
    if (favours >= 0)
        str_addf(out, ", which speaks for %s", p->name[favours]);
    str_add(out, ". ");
}

/* Whether the times go the way of what was named. */
static void say_way(const struct pair *p, struct str *out)
{
    const int favours = p->n ? difference_favours(&p->d[0]) : -1;
    if (favours >= 0 && favours == faster(p))
        str_addf(out,
                 " The difference in %s goes the way of the time; that it is the cause is not "
                 "shown by that.",
                 p->d[0].figure);
    else if (favours >= 0)
        str_addf(out, " The difference in %s goes against the time: it is not what decides.",
                 p->d[0].figure);
}

static void say_times(const struct pair *p, struct str *out)
{
    char a[NUMBER_BUF], b[NUMBER_BUF], x[NUMBER_BUF];
    if (!p->timed) {
        str_addf(out,
                 "No times of both are recorded for this shape, these parameters and today's "
                 "source on %s: "
                 "what the differences cost is not known. compare %s,%s measures it.",
                 p->gpu->name, p->name[0], p->name[1]);
        return;
    }
    const double us[2] = {p->recorded[0].row->median_us, p->recorded[1].row->median_us};
    const int quick = faster(p);
    str_addf(out, "RECORDED on %s: %s %s, %s %s; %s took 1/%s of the time, in runs of their own.",
             p->gpu->name, p->name[0], number_fmt_us(a, us[0]), p->name[1], number_fmt_us(b, us[1]),
             p->name[quick], number_fmt(x, us[!quick] / us[quick], 3));
    say_way(p, out);
}

/* How many differences have bars: those that rank, and what only bounds. */
static int barred(const struct pair *p)
{
    int n = p->n;
    while (n < DIFFERENCES && isfinite(p->d[n].value[0]) && isfinite(p->d[n].value[1]) &&
           (*p->d[n].bound[0] || *p->d[n].bound[1]))
        n++;
    return n;
}

static void add_text(struct session *s, struct cmd_call *c, const struct pair *p,
                     const struct chart *chart)
{
    char shape[SHAPE_TEXT];
    const int n = barred(p);
    shape_format(&p->request.problem.shape, shape, sizeof shape);
    str_addf(c->out, "%s and %s  MODEL %s, %s\n", p->name[0], p->name[1], p->gpu->name, shape);
    draw_pairs(s, c, chart, n);
    const size_t from = c->out->len;
    say_most(p, c->out);
    say_times(p, c->out);
    str_addc(c->out, '\n');
    for (int i = n; i < DIFFERENCES; i++)
        if (isnan(p->d[i].value[0]) != isnan(p->d[i].value[1]))
            str_addf(c->out, "%s: not known of %s.\n", p->d[i].figure,
                     p->name[isnan(p->d[i].value[0]) ? 0 : 1]);
    lines_wrap(c->out, from, call_width(s, c));
}

/* ---- the verb ---- */

static enum status exec_why(struct session *s, struct cmd_call *c, struct err *err)
{
    struct pair p = {.timed = false};
    const bool text = call_format(c) == FORMAT_TEXT;
    enum status st = make_pair(s, c, &p, err);
    if (!st) {
        struct rowset rows = {.type = &why_type};
        for (int i = 0; i < DIFFERENCES; i++)
            add_difference(&rows, &p, i);
        add_time(&rows, &p);
        struct chart *chart = make_chart(&p, barred(&p));
        if (text)
            add_text(s, c, &p, chart);
        charts_add(&c->charts, chart);
        if (text)
            call_remember(s, c, &rows, &why_columns);
        else
            st = call_rows(s, c, &rows, &why_columns);
        rowset_clear(&rows);
    }
    pair_clear(&p);
    return st;
}

const struct cmd_entry cmd_why = {
    .name = "why",
    .group = "Model",
    .usage = "A,B [shape] [params] [gpu=NAME]",
    .summary = "why A and not B: in what two kernels differ, what may explain it first",
    .help =
        "Registers, shared memory, resident blocks and warps, waves, bytes that are requested,\n"
        "threads, busy SMs, barriers in loops: as paired bars. What by itself speaks for one of\n"
        "the two, as fewer bytes do, comes before what speaks for neither, as shared memory, each\n"
        "by the ratio of the two. Where times of both are recorded for that GPU and shape, what\n"
        "goes the way of the time comes first. That something is the cause it never says: a plan\n"
        "cannot show it. What only bounds a figure, as registers are not known, is hatched and "
        "not\n"
        "ranked.\n"
        "\n"
        "  why fa2,qtile_seq gpu=H200\n"
        "  why fa2,fa2@BR=32 gpu=L4 D=128 --json\n",
    .arg = ARG_KERNELS,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_why,
    .columns = COLUMNS(&why_columns),
};
