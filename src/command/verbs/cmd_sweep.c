/* cmd_sweep.c - the verb: runs a sweep to its end and prints it as tables, plots and heat maps.
 *
 * A metric that only a run can give is measured; one of the plan's is computed. A cell that is not
 * possible keeps its row, with the reason.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/axis.h"
#include "command/ask/estimate.h"
#include "command/ask/keys.h"
#include "command/ask/lanes.h"
#include "command/ask/measure.h"
#include "command/ask/plan_here.h"
#include "command/ask/request.h"
#include "command/ask/shards.h"
#include "command/ask/sweep.h"
#include "command/ask/sweep_walk.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/sweep_where.h"
#include "command/show/sweep_words.h"
#include "command/verbs/cmd_compare.h"
#include "command/verbs/cmd_run.h"
#include "command/verbs/verbs.h"
#include "draw/figures.h"
#include "measure/origin.h"

struct swept {
    struct session *s;
    struct cmd_call *call;
    struct sweep w;
    struct rowset rows;    /* of the points that are done, in order */
    struct measured total; /* counts and the first bad status */
    int missing;           /* points that were not reached */
    struct shards shards;  /* who measures, where it is not this process */
};

/* A time that nobody has recorded would need the GPU. */
static void count_computed(struct swept *v, const struct row *row)
{
    const bool there = !v->w.recorded || isfinite(sweep_value(&v->w, row));
    v->total.ran += there;
    v->total.need_gpu += !there;
}

/* Computed for a device, or recorded on it: nothing runs. */
static void plan_all(struct swept *v)
{
    struct sweep *w = &v->w;
    for (int i = 0; i < w->npoints; i++)
        sweep_want(w, i, v->s);
    plans_wait(v->s);
    for (int i = 0; i < w->npoints; i++) {
        sweep_compute(w, i);
        for (int k = 0; k < w->base.nkernels; k++)
            count_computed(v, sweep_row(w, i, k));
    }
}

/* A row as it goes out: with the crossing, where there is one. */
static void add_point(struct swept *v, int point, int kernel)
{
    const struct row *row = sweep_row(&v->w, point, kernel);
    char *crossing = sweep_crossing(&v->w, point, kernel);
    if (crossing) {
        struct row *told = row_copy(row);
        row_put_text(told, "crossing", crossing);
        rowset_take(&v->rows, told);
    } else {
        rowset_share(&v->rows, row);
    }
    free(crossing);
}

/* The rows that there are, of runs before an interruption too. */
static void collect(struct swept *v)
{
    for (int i = 0; i < v->w.npoints; i++) {
        if (v->w.mine && !v->w.mine[i])
            continue;
        if (!sweep_has(&v->w, i)) {
            v->missing++;
            continue;
        }
        for (int k = 0; k < v->w.base.nkernels; k++)
            add_point(v, i, k);
    }
}

static bool has_figures(const struct swept *v)
{
    for (size_t i = 0; i < v->rows.n; i++)
        if (row_known(v->rows.rows[i], "check"))
            return true;
    return false;
}

/* The largest point that is missing: a row of minutes is asked about before anything runs. */
static enum status ask_longest(struct swept *v, const struct sweep_walk *k, struct err *err)
{
    const struct timing_rule usual = TIMING_DEFAULT;
    const bool meant = v->w.base.options.rule.max_s != usual.max_s;
    struct request r;
    int longest = -1;
    for (int i = 0; i < v->w.npoints; i++)
        if (isfinite(k->flops[i]) && !sweep_has(&v->w, i) &&
            (longest < 0 || k->flops[i] > k->flops[longest]))
            longest = i;
    if (longest < 0 || sweep_request(&v->w, longest, &r, NULL))
        return ST_OK;
    const enum status st = estimate_ask(v->s, &r, JOB_RUN, meant, err);
    request_clear(&r);
    return st;
}

/* Of rows that other processes have measured. */
static void count_failed(struct swept *v)
{
    for (size_t i = 0; i < v->rows.n; i++)
        v->total.failed += row_is(v->rows.rows[i], "check", "fail");
}

/* What would be measured, and where. */
static void show_where(struct swept *v, const struct sweep_walk *k)
{
    struct rowset rows;
    sweep_where(k, &rows);
    call_rows(v->s, v->call, &rows, &where_columns);
    if (call_format(v->call) == FORMAT_TEXT)
        sweep_say_where(k, v->call->out);
    rowset_clear(&rows);
}

static void measure_all(struct swept *v, bool fresh, bool no_store)
{
    const bool turns = v->w.paired;
    const struct measure_how how = {.kind = JOB_RUN,
                                    .interleave = turns,
                                    .no_store = no_store,
                                    .verb = turns ? "compare" : "run"};
    struct sweep_walk k;
    sweep_walk_begin(&k, v->s, &v->w, &how, v->call->command, fresh);
    const bool shown = v->shards.print && !v->shards.engine;
    k.sum.status = shown ? ST_OK : ask_longest(v, &k, &k.sum.err);
    if (shown) {
        show_where(v, &k);
    } else if (v->shards.engine && !k.sum.status) {
        struct err why = ERR_INIT;
        const enum status st =
            shards_run(&v->shards, &k, v->call->command, fresh, v->call->out, &why);
        k.sum.status = st;
        k.sum.err = why;
    } else if (k.nmachines > 1 && !k.sum.status) {
        lanes_walk(&k);
    } else {
        sweep_walk(&k);
    }
    if (!v->shards.print)
        collect(v);
    v->total = k.sum;
    v->total.ran += k.before * v->w.base.nkernels;
    if (v->shards.engine)
        count_failed(v);
    if (v->total.status == ST_CANCELLED && has_figures(v))
        err_set(
            &v->total.err, ST_CANCELLED,
            k.line ? "cancelled; %d of %d points are there, and the same line goes on with the rest"
                   : "cancelled; %d of %d points are there",
            k.done, k.total);
    k.sum = (struct measured){.err = ERR_INIT};
    sweep_walk_end(&k);
}

/* What the exit status is made of. */
static void count_rows(struct swept *v)
{
    for (size_t i = 0; i < v->rows.n; i++) {
        const struct row *cell = v->rows.rows[i];
        struct run_row row;
        record_init(run_fields, &row);
        row.kernel = xstrdup_if(row_text(cell, "kernel"));
        row.check = xstrdup_if(row_text(cell, "check"));
        row.reason = xstrdup_if(row_text(cell, "reason"));
        run_rows_take(&v->total.rows, &row);
    }
}

/* ---- as text ---- */

static const char *plus_minus(const struct session *s)
{
    return s->front.glyphs == GLYPHS_ASCII ? "+-" : "\u00b1";
}

/* Has its figure the spread of its samples behind it? A failed check leaves neither. */
static bool has_spread(const struct swept *v, const struct row *row, double *lo, double *hi)
{
    return !row_is(row, "check", "fail") && sweep_spread(&v->w, row, lo, hi) &&
           sweep_value(&v->w, row) > 0;
}

static bool is_ratio(const struct swept *v)
{
    return !strcmp(v->w.metric, "ratio");
}

/* "152.9 +-3%": half of what the middle half of the samples spans. "0.412 (0.405..0.420) FASTER". */
static void add_spread(const struct swept *v, const struct row *row, struct str *out)
{
    char a[NUMBER_BUF], b[NUMBER_BUF];
    double lo, hi;
    const double mid = sweep_value(&v->w, row);
    const char *verdict = row_text(row, "verdict");
    if (!has_spread(v, row, &lo, &hi))
        return;
    if (!is_ratio(v))
        str_addf(out, " %s%2.0f%%", plus_minus(v->s), 50 * (hi - lo) / mid);
    else if (verdict && strcmp(verdict, "base") != 0)
        str_addf(out, " (%s..%s) %s", number_fmt(a, lo, 3), number_fmt(b, hi, 3),
                 strcmp(verdict, "AMBIGUOUS") ? verdict : "no winner");
}

/* A failed check leaves no figure in the table. */
static char *cell_text(const struct swept *v, const struct row *row)
{
    struct str s = {0};
    if (!row)
        return xstrdup("-");
    char *value = row_is(row, "check", "fail") ? xstrdup("FAIL") : row_cell(row, v->w.metric, 4);
    str_add(&s, value);
    free(value);
    add_spread(v, row, &s);
    return str_take(&s);
}

/* The value as a table has numbers: "32768". The caller frees it. */
static char *axis_text(const struct sweep_axis *a, int i)
{
    char buf[NUMBER_BUF];
    double v;
    return xstrdup(number_parse(a->values[i], &v, NULL) ? a->values[i] : number_fmt(buf, v, 4));
}

/* One table: the first axis downward; across, either the kernels or the second axis of one kernel. */
static void add_table(const struct swept *v, int kernel, struct str *out)
{
    const struct sweep *w = &v->w;
    const bool two = w->naxes > 1;
    const int across = two ? w->axes[1].count : w->base.nkernels;
    struct column *cols = xcalloc((size_t)across + 2, sizeof *cols);
    char **names = xcalloc((size_t)across, sizeof *names);
    cols[0] = (struct column){.field = w->axes[0].key, .title = w->axes[0].key};
    for (int j = 0; j < across; j++) {
        names[j] = two ? xasprintf("%s=%s", w->axes[1].key, w->axes[1].values[j])
                       : request_entry(&w->base, j);
        cols[j + 1] = (struct column){.field = names[j], .title = names[j]};
    }
    struct row_type *type = columns_texts(cols);
    struct rowset lines = {.type = type};
    for (int i = 0; i < w->axes[0].count; i++) {
        char **line = rowset_add(&lines);
        line[0] = axis_text(&w->axes[0], i);
        for (int j = 0; j < across; j++) {
            const struct row *cell = sweep_row(w, sweep_point(w, i, two ? j : 0), two ? kernel : j);
            line[j + 1] = cell_text(v, cell);
        }
    }
    rows_format(out, &lines, &(struct columns){.list = cols}, FORMAT_TEXT,
                call_width(v->s, v->call));
    rowset_clear(&lines);
    row_type_free(type);
    axis_free(names, across);
    free(cols);
}

/* "fa2 BR=32 S=4k" of a row. */
static void add_place(const struct swept *v, const struct row *row, struct str *out)
{
    str_add(out, row_text(row, "kernel"));
    for (int a = 0; a < v->w.naxes; a++) {
        char *value = row_cell(row, sweep_axis_field(&v->w.axes[a]), 0);
        str_addf(out, " %s=%s", v->w.axes[a].key, value);
        free(value);
    }
}

/* Each reason once, with the cells it belongs to. */
static void add_reasons(const struct swept *v, struct str *out)
{
    struct str seen = {0};
    for (size_t i = 0; i < v->rows.n; i++) {
        const struct row *row = v->rows.rows[i];
        const char *reason = row_text(row, "reason");
        char *line = reason ? xasprintf("\n%s\n", reason) : NULL;
        const bool again = !line || strstr(str_text(&seen), line);
        if (!again)
            str_add(&seen, line);
        free(line);
        if (again)
            continue;
        char *clean = sanitize_line(reason);
        add_place(v, row, out);
        str_addf(out, ": %s\n", clean);
        free(clean);
    }
    str_free(&seen);
}

/* Who wins, where that is known; else how it would be. */
static void add_winner(const struct swept *v, struct str *out)
{
    const struct sweep *w = &v->w;
    int kernel, best[2];
    sweep_say_crossings(w, out);
    sweep_say_places(w, out);
    if (!strcmp(w->metric, "predicted_us"))
        sweep_say_predicted(w, out);
    if (sweep_fastest(w, &kernel, best)) {
        char *line = sweep_confirmation(w, kernel, best);
        str_addf(out, "the two shortest are times of separate runs, which name no winner: %s\n",
                 line);
        free(line);
    } else if (w->measured && !w->paired && !w->recorded && w->base.nkernels > 1 && v->rows.n &&
               (!strcmp(w->metric, "median_us") || !strcmp(w->metric, "tflops")))
        str_addf(out,
                 "times of separate runs name no winner; base=%s lets the kernels take turns\n",
                 w->base.kernels[0]->name);
}

/* What stands behind the figures, where anything does. */
static void add_spread_words(const struct swept *v, struct str *out)
{
    double lo, hi;
    for (size_t i = 0; i < v->rows.n && !is_ratio(v); i++) {
        if (!has_spread(v, v->rows.rows[i], &lo, &hi))
            continue;
        str_addf(out,
                 "%s: half of what the middle half of a point's samples spans, as a share of "
                 "their median\n",
                 plus_minus(v->s));
        return;
    }
}

/* What the marks before figures mean, where there are any. */
static void add_bounds(const struct swept *v, struct str *out)
{
    for (size_t i = 0; i < v->rows.n; i++) {
        const struct row *row = v->rows.rows[i];
        const char *mark = row_bound(row, v->w.metric);
        if (!*mark || isnan(row_real(row, v->w.metric)))
            continue;
        str_addf(out, "%s: at %s that; the registers there are not known\n", mark,
                 *mark == '<' ? "most" : "least");
        return;
    }
}

static struct canvas *figure(const struct swept *v, int height)
{
    const int width = v->s->front.width > 20 ? v->s->front.width : 80;
    return canvas_new(width > 100 ? 100 : width < 40 ? 40 : width, height, v->s->front.glyphs);
}

/* All kernels over the one axis. */
static void add_plot(const struct swept *v, const struct grid_chart *g, struct str *out)
{
    bool any = false;
    for (int k = 0; k < g->nseries; k++)
        any |= grid_any(g, k);
    if (!any || g->nx < 3)
        return;
    struct canvas *c = figure(v, 14);
    str_addc(out, '\n');
    fig_lines(c, (struct rect){0, 0, c->w, c->h}, g, -1);
    canvas_to_text(c, out);
    canvas_free(c);
}

static void add_heat(const struct swept *v, const struct grid_chart *g, int kernel, struct str *out)
{
    if (!grid_any(g, kernel))
        return;
    struct canvas *c = figure(v, g->ny < 40 ? g->ny + 3 : 43);
    str_addc(out, '\n');
    fig_heat(c, (struct rect){0, 0, c->w, c->h}, g, kernel, -1, -1);
    canvas_to_text(c, out);
    canvas_free(c);
}

static bool has_gpu_axis(const struct sweep *w)
{
    bool any = false;
    for (int i = 0; i < w->naxes; i++)
        any |= w->axes[i].gpus != NULL;
    return any;
}

/* "B=1 H=8 D=64 f16 | RECORDED H200, 2026-11-20 to 2026-11-22". */
static void add_where(const struct sweep *w, const char *shape, struct str *out)
{
    const char *first = NULL, *last = NULL;
    const bool axis = has_gpu_axis(w);
    for (int i = 0; i < w->npoints * w->base.nkernels; i++) {
        const char *time = row_text(w->rows[i], "time");
        first = time && (!first || strcmp(time, first) < 0) ? time : first;
        last = time && (!last || strcmp(time, last) > 0) ? time : last;
    }
    str_addf(out, "%s | %s%s%s", shape, origin_tag(sweep_origin(w)), axis ? "" : " ",
             axis ? "" : w->device->name);
    if (first)
        str_addf(out, "%s %.10s", axis ? "" : ",", first);
    if (first && strncmp(first, last, 10) != 0)
        str_addf(out, " to %.10s", last);
    str_addc(out, '\n');
}

static void print_text(const struct swept *v, const struct grid_chart *g)
{
    const struct sweep *w = &v->w;
    struct str *out = v->call->out;
    const char *origin = sweep_origin(w);
    const bool two = w->naxes > 1;
    const size_t heading = out->len;
    str_addf(out, "%s over %s%s%s | ", w->metric, w->axes[0].key, two ? " and " : "",
             two ? w->axes[1].key : "");
    struct str shape = {0};
    sweep_shape(w, &shape);
    if (w->device)
        add_where(w, str_text(&shape), out);
    else
        str_addf(out, "%s | %s%s%s\n", str_text(&shape), origin ? origin : "of several origins",
                 w->paired ? " | in turns with " : "", w->paired ? w->base.kernels[0]->name : "");
    str_free(&shape);
    lines_wrap(out, heading, call_width(v->s, v->call));
    for (int k = 0; k < (two ? w->base.nkernels : 1); k++) {
        char *name = request_entry(&w->base, k);
        if (two)
            str_addf(out, "\n%s\n", name);
        free(name);
        add_table(v, k, out);
        if (two)
            add_heat(v, g, k, out);
    }
    const size_t from = out->len;
    add_reasons(v, out);
    add_bounds(v, out);
    add_spread_words(v, out);
    add_winner(v, out);
    lines_wrap(out, from, call_width(v->s, v->call));
    if (!two)
        add_plot(v, g, out);
}

/* On what it was measured: that of the first point that ran. */
static void add_environment(const struct swept *v)
{
    for (size_t i = 0; i < v->rows.n; i++) {
        const struct run_row *run = sweep_run(&v->w, v->rows.rows[i]);
        if (!run || !run->device)
            continue;
        run_environment(v->call->out, run);
        return;
    }
}

static void print_rows(struct swept *v)
{
    const struct sweep *w = &v->w;
    struct column list[SWEEP_AXES + 5] = {{.field = "kernel", .title = "kernel", .left = true}};
    int n = 1;
    for (int i = 0; i < w->naxes; i++)
        list[n++] =
            (struct column){.field = sweep_axis_field(&w->axes[i]), .title = w->axes[i].key};
    list[n++] = (struct column){.field = w->metric, .title = w->metric};
    if (w->measured)
        list[n++] = (struct column){.field = "check", .title = "check", .left = true};
    list[n++] =
        (struct column){.field = "reason", .title = "reason", .left = true, .optional = true};
    const struct columns cols = {.list = list};
    struct chart *chart = sweep_chart(w);
    if (call_format(v->call) == FORMAT_TEXT)
        print_text(v, chart->model);
    if (call_format(v->call) == FORMAT_MD && !w->measured)
        str_addf(v->call->out, "computed for %s, not measured\n\n", chart->caption.device);
    charts_add(&v->call->charts, chart);
    if (call_format(v->call) == FORMAT_TEXT) {
        call_remember(v->s, v->call, &v->rows, &cols);
        return;
    }
    if (call_format(v->call) == FORMAT_MD && w->measured)
        add_environment(v);
    call_rows(v->s, v->call, &v->rows, &cols);
}

/* The command that repeats the sweep in a fresh session, on any machine. */
static char *sweep_command(const struct sweep *w)
{
    struct str out = {0};
    str_add(&out, "sweep");
    request_names(&w->base, &out);
    for (int i = 0; i < w->naxes; i++)
        str_addf(&out, " %s=%s", w->axes[i].key, w->axes[i].given);
    if (w->paired) {
        char *base = request_entry(&w->base, 0);
        str_addf(&out, " base=%s", base);
        free(base);
    }
    str_addf(&out, " metric=%s", w->metric);
    request_rest(&w->base, &out);
    if (w->device && !has_gpu_axis(w))
        request_command_gpu(&w->base, w->device, &out);
    return str_take(&out);
}

/* ---- the verb ---- */

/* The two shortest, as compare has them. */
static enum status let_them_take_turns(struct swept *v, bool no_store, struct err *err)
{
    const struct measure_how how = {
        .kind = JOB_RUN, .interleave = true, .no_store = no_store, .verb = "compare"};
    struct cmd_call *c = v->call;
    struct request r;
    int kernel, best[2];
    if (!sweep_fastest(&v->w, &kernel, best))
        return err_set(err, ST_USAGE,
                       "--confirm is for parameters of one kernel: there are no two points of one "
                       "problem to compare");
    enum status st = sweep_contest(&v->w, kernel, best, &r, err);
    if (st)
        return st;
    charts_clear(&c->charts); /* the sweep's, which has its rows */
    if (call_format(c) == FORMAT_TEXT || call_format(c) == FORMAT_MD)
        str_addc(c->out, '\n');
    st = compare_request(v->s, c, &r, &how, NULL, err);
    request_clear(&r);
    return st;
}

static enum status exec_sweep(struct session *s, struct cmd_call *c, struct err *err)
{
    struct swept v = {.s = s, .call = c, .total.err = ERR_INIT};
    const bool no_store = call_option(c, "no-store") != NULL,
               fresh = call_option(c, "fresh") != NULL, confirm = call_option(c, "confirm") != NULL;
    const char *points = call_key(c, "points");
    (void)call_format(c);
    enum status st = shards_read(s, c, &v.shards, err);
    if (!st)
        st = sweep_make(s, c, &v.w, err);
    if (!st && points && (st = shards_points(&v.w, points, err)) != ST_OK)
        call_mark_key(c, "points", st, err);
    if (!st && v.shards.print && (!v.w.measured || v.w.recorded))
        st = err_set(err, ST_USAGE, "--print is for what is measured: %s is there at once",
                     v.w.metric);
    if (!st && v.shards.engine && (no_store || points || !v.w.measured || v.w.recorded))
        st = err_set(err, ST_USAGE,
                     "an engine is for sweeps that are measured and kept, all points of them");
    if (!st) {
        free(c->command);
        c->command = sweep_command(&v.w);
        if (v.w.measured && !v.w.recorded)
            measure_all(&v, fresh, no_store);
        else {
            plan_all(&v);
            collect(&v);
        }
        count_rows(&v);
        if (v.rows.n)
            print_rows(&v);
        st = v.shards.print && !v.total.status ? ST_OK : measured_status(&v.total, true, err);
        if (!st && confirm && !v.shards.print)
            st = let_them_take_turns(&v, no_store, err);
    }
    measured_clear(&v.total);
    rowset_clear(&v.rows);
    sweep_clear(&v.w);
    return st;
}

static const struct cmd_key sweep_keys[] = {
    {"metric", "the figure to show: a field of run or of plan; median_us by default", NULL},
    {"base",
     "kernels take turns at each point; shows their time over this one's, with its interval", NULL},
    {"--confirm", "of one kernel's parameters: let the two shortest take turns in the end", NULL},
    {"--fresh", "measure again what an interrupted sweep of this line had already", NULL},
    {"--no-store", "do not keep the results", NULL},
    {"engine", "who measures: local, parallel (GNU parallel) or slurm, in parts", engine_words},
    {"shards", "parts at most: 8, of engine=local 1", NULL},
    {"jobs", "parts that GNU parallel runs at once; 1 where times are taken, else the processors",
     NULL},
    {"dir", "the folder of the parts, which all machines see; by default of the state folder",
     NULL},
    {"sbatch", "options for Slurm, as in sbatch=\"--partition=gpu --time=60\"", NULL},
    {"--print",
     "run nothing: say where each point would run; of an engine: write its commands or script, and "
     "say where",
     NULL},
    {"points", "measure these points of the sweep alone, as a part does: 1..8,12", NULL},
    {0},
};

const struct cmd_entry cmd_sweep = {
    .name = "sweep",
    .group = "Measure",
    .usage = "K[,K...] KEY=list|range [KEY=list|range] [metric=M] [shape] [params]",
    .summary = "one figure over one or two axes of shape or parameters",
    .help =
        "An axis is a key with a list (BR=16,32,64) or a range (S=512..4k:x2, D=64..256:+64;\n"
        "without a step the value doubles). Fields of run are measured; fields of plan, such\n"
        "as occupancy_pct, are computed for gpu= and need no run. One axis gives a table with\n"
        "a column per kernel and a plot, two give a table and a heat map per kernel. A cell that\n"
        "is not possible shows -, in the map the letter of what is in the way (S shared\n"
        "memory, R registers, T threads, K the kernel's own rule), and its reason below. "
        "Registers\n"
        "that the shipped table lacks are compiled; where there is no compiler, <= and >= mark\n"
        "bounds, which are hatched in the map and have no shade.\n"
        "\n"
        "Where it runs may be an axis: host=here,box (backend=cuda@a,b says both), device=0,1. "
        "Each\n"
        "machine has a queue of its own, and they work beside each other; kernels of one point "
        "stay\n"
        "on one device. One that is lost costs its own points, which the same line asks for "
        "again;\n"
        "--print says beforehand what will run where.\n"
        "\n"
        "gpu= may be an axis, too: gpu=H100,A100. Times on a GPU that is not here are those that\n"
        "recordings have of the very kernel, parameters and shape.\n"
        "\n"
        "While it measures, the point, the rest and the time left are shown. After Ctrl-C the "
        "points\n"
        "that are done are printed, and the same line goes on with the rest: also after a crash.\n"
        "\n"
        "A long one goes in parts to another engine: engine=parallel or slurm writes a command "
        "file\n"
        "or an array job, runs it, follows it and collects the rows; a part never has half a\n"
        "point. Given again, the line collects what parts had kept and hands out the rest.\n"
        "\n"
        "With base= the kernels take turns at each point, as in compare: the figure is the time "
        "over\n"
        "the base's with its 95 % interval, and below the table stands where one overtakes the\n"
        "other. Times of separate runs name no winner; of one kernel's parameters --confirm lets\n"
        "the two shortest take turns. The figure behind \u00b1 is half of what the middle half of\n"
        "a point's samples spans, as a share of their median.\n"
        "\n"
        "  sweep fa2,cudnn S=512..8k:x2 gpu=H200\n"
        "  sweep naive,fa2 S=64..1k:x2 base=naive\n"
        "  sweep fa2 BR=16,32,64 BC=32,64 S=1k --confirm\n"
        "  sweep cpu_tiled,naive S=256..4k:x2 metric=tflops\n"
        "  sweep qtile_seq BR=16,32,64 BC=32..128:x2 metric=occupancy_pct gpu=H200\n"
        "  sweep fa2 S=512..8k:x2 > s.csv\n"
        "  sweep fa2,cudnn S=1k..8k host=box,lab base=cudnn\n"
        "  sweep all S=64..4k:x2 backend=sim engine=parallel shards=16\n"
        "  sweep fa2 S=64..8k:x2 backend=cuda engine=slurm shards=4 sbatch=--partition=gpu\n",
    .arg = ARG_KERNELS,
    .keys = sweep_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_sweep,
    .columns = COLUMNS(&where_columns),
};
