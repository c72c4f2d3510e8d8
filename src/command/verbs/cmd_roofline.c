/* cmd_roofline.c - kernels under the roof of a GPU model.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/ceiling.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/roof.h"
#include "draw/figures.h"
#include "command/verbs/verbs.h"

// clang-format off
static const struct columns columns = {
    .type = &roof_row_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "gpu", .varies = true},
        {.field = "phase", .varies = true},
        {.field = "requested_intensity"},
        {.field = "compulsory_intensity", .drop = 1},
        {.field = "ridge", .drop = 2},
        {.field = "bound", .drop = 1},
        {.field = "roof_tflops"},
        {.field = "reach_tflops", .drop = 4},
        {.field = "counted_intensity", .optional = true, .drop = 3},
        {.field = "counted_reach_tflops", .optional = true, .drop = 4},
        {.field = "measured_tflops", .optional = true},
        {.field = "of_reach_pct", .optional = true, .drop = 1},
        {.field = "measured_origin", .optional = true, .drop = 1}, /* the letters of the picture have it, too */
        {.field = "ceiling_reach_tflops", .optional = true, .drop = 5},
        {.field = "of_ceiling_pct", .optional = true, .drop = 1},
        {.field = "roof_us", .drop = 3},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

/* Of this machine's CPU, which has no other roof than the measured one. */
// clang-format off
static const struct columns host_columns = {
    .type = &roof_row_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "phase", .varies = true},
        {.field = "compulsory_intensity"},
        {.field = "ridge", .drop = 2},
        {.field = "bound", .drop = 1},
        {.field = "ceiling_reach_tflops"},
        {.field = "measured_tflops"},
        {.field = "of_ceiling_pct"},
        {.field = "measured_origin", .optional = true},
        {.field = "roof_us", .drop = 3},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

/* "  measured ...; at ...": in one line, or its second part below. */
static void add_indented(struct str *out, const char *text, int width)
{
    const char *part = strstr(text, "; ");
    if (part && str_width(text) + 2 > width)
        str_addf(out, "  %.*s\n    %s\n", (int)(part - text), text, part + 2);
    else if (*text)
        str_addf(out, "  %s\n", text);
}

static void add_heading(struct session *s, struct str *out, const struct device *dev, enum dtype t)
{
    char b[3][NUMBER_BUF];
    str_addf(out, "%s, %s: %s TFLOP/s, %s GB/s, ridge %s FLOP/B\n", dev->name, dtype_name(t),
             number_fmt(b[0], dev->tflops[t], 4), number_fmt(b[1], dev->dram_gbs, 4),
             number_fmt(b[2], dev->tflops[t] * 1e3 / dev->dram_gbs, 3));
    const char *unit;
    struct str second = {0};
    (void)device_peak(dev, t, t != DTYPE_F32, &unit);
    const struct held_roof r = ceiling_roof(s, dev, t, unit, REAL_UNKNOWN);
    ceiling_roof_text(&r, &second);
    add_indented(out, str_text(&second), 76);
    str_free(&second);
}

static bool any_counted(const struct roof_chart *fig)
{
    bool any = false;
    for (int i = 0; i < fig->npoints; i++)
        any |= fig->points[i].counted > 0;
    return any;
}

static void add_host_heading(struct session *s, struct cmd_call *c, const struct host_roof *r)
{
    const size_t from = c->out->len;
    str_addf(c->out, "%s: ", r->device);
    host_roof_text(r, c->out);
    str_addc(c->out, '\n');
    lines_wrap(c->out, from, call_width(s, c));
}

/* A kernel stands at the intensity it asks for, below the roof there; '*' is the ideal. */
static void add_figure(struct session *s, struct cmd_call *c, const struct roofs *x, enum dtype t,
                       const struct roof_chart *fig)
{
    const int width = s->front.width > 40 && s->front.width < 78 ? s->front.width : 78;
    if (x->on_cpu)
        add_host_heading(s, c, &x->host);
    for (int d = 0; d < x->ndevices && !x->on_cpu; d++)
        add_heading(s, c->out, x->devices[d], t);
    if (x->on_cpu && !(x->host.tflops > 0)) /* no axes, nothing to draw */
        return;
    struct canvas *canvas = canvas_new(width, 18, s->front.glyphs);
    fig_roofs(canvas, (struct rect){0, 0, width, 18}, fig, &CHART_WHOLE);
    canvas_to_text(canvas, c->out);
    canvas_free(canvas);
    const size_t legend = c->out->len;
    if (fig->npoints && x->on_cpu)
        str_add(c->out, "letters: each byte moved once, as what C code asks for is not counted; "
                        "@: measured\n");
    else if (fig->npoints)
        str_addf(c->out,
                 "letters: with the bytes that the kernel requests; %c: with each byte moved "
                 "once;%s @: measured%s\n",
                 s->front.glyphs == GLYPHS_ASCII ? '#' : '*',
                 any_counted(fig) ? " $: with the bytes of DRAM that the simulator counted;" : "",
                 x->nphases > 1 ? "; small letters: the other phase" : "");
    lines_wrap(c->out, legend, call_width(s, c));
}

/* gpu= may name several models. */
static enum status find_devices(struct session *s, struct cmd_call *c, const struct request *r,
                                const struct device *out[ROOF_DEVICES], int *n, struct err *err)
{
    char *names = xstrdup(r->options.gpu ? r->options.gpu : "auto"), *rest = names;
    enum status st = ST_OK;
    *n = 0;
    for (char *name; !st && (name = strsep(&rest, ","));) {
        if (*n == ROOF_DEVICES)
            st = err_set(err, ST_USAGE, "a figure has room for %d devices", ROOF_DEVICES);
        else if (!(out[*n] = session_gpu(s, name, err)))
            st = ST_USAGE;
        else
            ++*n;
    }
    free(names);
    return st ? call_mark_key(c, "gpu", st, err) : ST_OK;
}

static enum status find_phases(struct cmd_call *c, int *n, struct err *err)
{
    const char *value = call_key(c, "phase");
    *n = value && !strcmp(value, "both") ? 2 : 1;
    if (!value || *n == 2 || !strcmp(value, "given"))
        return ST_OK;
    err_set(err, ST_USAGE, "phase is given or both, not \"%.40s\"", value);
    return call_mark_key(c, "phase", ST_USAGE, err);
}

/* Is this machine's CPU meant, and kernels in C? Only if the call itself says so: the session's backend is for runs. */
static bool means_cpu(const struct cmd_call *c)
{
    return !strcmp(call_peek(c, "backend", ""), backend_everywhere()->name);
}

static bool means_simulator(const struct cmd_call *c)
{
    return !strcmp(call_peek(c, "backend", ""), backend_simulator()->name);
}

/* Who asks for the simulator here wants its bytes, and nobody has counted them yet. */
static void add_uncounted(const struct session *s, struct cmd_call *c, const struct request *r)
{
    const size_t from = c->out->len;
    struct str command = {0};
    request_command(r, "profile", &command);
    str_addf(
        c->out,
        "no bytes of these were counted in this session: %s, then roofline again, has them as $\n",
        str_text(&command));
    str_free(&command);
    lines_wrap(c->out, from, call_width(s, c));
}

/* A line for each kernel that is above the roof. */
static void add_doubts(struct session *s, struct cmd_call *c, const struct rowset *rows)
{
    const size_t from = c->out->len;
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *row = rows->rows[i];
        ceiling_doubt_text(row_text(row, "kernel"), row_real(row, "of_ceiling_pct"), c->out);
    }
    lines_wrap(c->out, from, call_width(s, c));
}

static enum status exec_roofline(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    struct roofs x = {0};
    const struct device *devices[ROOF_DEVICES];
    int ndevices = 0, nphases;
    const bool text = call_format(c) == FORMAT_TEXT, table = !call_option(c, "no-table");
    const bool cpu = means_cpu(c);
    const struct columns *shown = cpu ? &host_columns : &columns;
    enum status st = request_make(s, c, cpu ? REQUEST_C : REQUEST_PLAN, &r, err);
    if (st)
        return st;
    if (!cpu)
        st = find_devices(s, c, &r, devices, &ndevices, err);
    if (!st)
        st = find_phases(c, &nphases, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st)
        st = roofs_make(s, &r, devices, ndevices, nphases, &x, err);
    struct chart *chart = st ? NULL : roofs_chart(&x, r.problem.shape.dtype, NULL, -1);
    if (!st && text) {
        add_figure(s, c, &x, r.problem.shape.dtype, chart->model);
        if (means_simulator(c) && r.nkernels && !any_counted(chart->model))
            add_uncounted(s, c, &r);
    }
    if (!st && text)
        add_doubts(s, c, &x.rows);
    charts_add(&c->charts, chart);
    if (!st && r.nkernels && text && !table)
        call_remember(s, c, &x.rows, shown);
    else if (!st && (r.nkernels || !text))
        st = call_rows(s, c, &x.rows, shown);
    roofs_clear(&x);
    request_clear(&r);
    return st;
}

static const char *const phase_words[] = {"given", "both", NULL};
static const struct cmd_key roofline_keys[] = {
    {"phase", "given: the shape as it is; both: prefill and decode (one query)", phase_words},
    {"--no-table", "the figure alone", NULL},
    {0},
};

const struct cmd_entry cmd_roofline = {
    .name = "roofline",
    .group = "Model",
    .usage = "[K[,K...]] [shape] [params] [gpu=NAME[,NAME]] [phase=both]",
    .summary = "the roof of a GPU model, and where kernels stand under it",
    .help =
        "Each kernel is drawn at the intensity of the bytes it requests: FLOPs over the bytes\n"
        "its loads and stores ask for. compulsory is the intensity if every input were read\n"
        "once and the output written once, drawn as *. What was measured in this session on the\n"
        "device itself is drawn as @. Where doctor --peak measured that device, its second roof\n"
        "stands below the data sheet's, and of ceiling % is the share of it at the clock of the\n"
        "run. Several devices show several roofs; kernels stand under the first. backend=cpu\n"
        "shows this machine's CPU and kernels in C: its roof is what doctor --peak measured with\n"
        "the same threads, and where nobody did, there is none. phase=both adds decode (one query) "
        "or prefill in small letters. The axes\n"
        "depend on the devices alone. What the simulator counted of a kernel in this session "
        "(profile\n"
        "fa2 backend=sim) is drawn as $, at FLOPs over its bytes of DRAM: written lines stay in "
        "the L2\n"
        "and are not among them, so it may lie right of *.\n"
        "\n"
        "  roofline naive,qtile_seq,fa2 S=4k gpu=L4\n"
        "  roofline fa2,splitkv S=4k gpu=L4,H200 phase=both\n"
        "  roofline cpu_tiled,naive S=1k backend=cpu\n",
    .arg = ARG_KERNELS,
    .keys = roofline_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_roofline,
    .columns = COLUMNS(&columns, &host_columns),
};
