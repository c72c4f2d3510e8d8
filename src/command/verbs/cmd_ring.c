/* cmd_ring.c - a sequence over several GPUs, before it runs: who has what, what goes over the links, whether computing
 * hides it.
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
#include "command/verbs/verbs.h"
#include "draw/timeline.h"
#include "plan/ring.h"

struct ring_row {
    char *gpu, *kernel, *shape, *queries, *shards, *link;
    int64_t card, gpus;
    double flops, share_pct, compute_us, sent_bytes, transfer_us, memory_bytes, peak_tflops,
        link_gbs, imbalance, total_us, exposed_us, efficiency_pct, link_bytes;
};
// clang-format off
static const struct field ring_fields[] = {
    FIELD(FIELD_INT, ring_row, card, .title = "GPU", .doc = "The GPU's place in the ring, from 0."),
    FIELD(FIELD_TEXT, ring_row, gpu, .title = "model", .doc = "For which model."),
    FIELD(FIELD_TEXT, ring_row, kernel, .doc = "Whose peak it is, where a kernel was named; null: that of tensor cores."),
    FIELD(FIELD_TEXT, ring_row, shape, .doc = "The attention problem, of all GPUs together."),
    FIELD(FIELD_INT, ring_row, gpus, .unit = "GPUs", .doc = "GPUs of the ring."),
    FIELD(FIELD_TEXT, ring_row, shards, .doc = "How the sequence is shared: zigzag, stretches or splitkv (option shards)."),
    FIELD(FIELD_TEXT, ring_row, queries, .doc = "Its queries: first..last, one or two chunks."),
    FIELD(FIELD_REAL, ring_row, flops, .digits = 4, .doc = "FLOPs of its queries with all keys that they see."),
    FIELD(FIELD_REAL, ring_row, share_pct, .digits = 4, .unit = "%", .title = "share %", .doc = "Of all FLOPs."),
    FIELD(FIELD_REAL, ring_row, compute_us, .digits = 4, .unit = "us", .title = "compute us >=", .doc = "Its steps at the peak: no kernel is faster."),
    FIELD(FIELD_REAL, ring_row, sent_bytes, .unit = "B", .title = "sent B", .doc = "Keys and values that it sends to its neighbour, all steps; splitkv: its answer."),
    FIELD(FIELD_REAL, ring_row, transfer_us, .digits = 4, .unit = "us", .title = "send us", .doc = "That over its link."),
    FIELD(FIELD_REAL, ring_row, memory_bytes, .unit = "B", .title = "memory B", .doc = "Q, O, two slots of K and V, a partial answer and the answer so far, both in f32; splitkv: one slot, and on GPU 0 everybody's part."),
    FIELD(FIELD_REAL, ring_row, peak_tflops, .digits = 4, .unit = "TFLOP/s", .doc = "The peak that was used."),
    FIELD(FIELD_TEXT, ring_row, link, .doc = "What joins two cards, by the data sheet; given: link=."),
    FIELD(FIELD_REAL, ring_row, link_gbs, .digits = 4, .unit = "GB/s", .doc = "In one direction."),
    FIELD(FIELD_REAL, ring_row, link_bytes, .unit = "B", .doc = "What all GPUs send, in all steps."),
    FIELD(FIELD_REAL, ring_row, imbalance, .digits = 4, .doc = "FLOPs of the busiest GPU over the mean; 1 is balanced."),
    FIELD(FIELD_REAL, ring_row, total_us, .digits = 4, .unit = "us", .doc = "Until the last GPU has ended, all steps at the peak and all copies at the link's rate."),
    FIELD(FIELD_REAL, ring_row, exposed_us, .digits = 4, .unit = "us", .doc = "Of it, what is more than the longest GPU's computing: copies that nothing hides, and waiting."),
    FIELD(FIELD_REAL, ring_row, efficiency_pct, .digits = 4, .unit = "%", .doc = "One GPU's time over N times total_us, both at the peak; a slower kernel hides more."),
    {.name = NULL},
};
static const struct row_type ring_type = ROW_TYPE(ring_row, {ring_fields, 0});
static const struct columns columns = {
    .type = &ring_type,
    .list = (const struct column[]){
        {.field = "card"},
        {.field = "queries"},
        {.field = "share_pct"},
        {.field = "compute_us"},
        {.field = "sent_bytes"},
        {.field = "transfer_us"},
        {.field = "memory_bytes", .drop = 1},
        {0},
    },
};
// clang-format on

static const char *const shards_words[] = {"zigzag", "stretches", "splitkv", NULL};

struct asked {
    struct request request;
    const struct device *gpu;
    struct ring ring;
    struct ring_time time;
    struct ring_link link;
    double tflops;
    int shards;
};

/* ---- what is asked ---- */

static enum status read_gpus(struct session *s, struct cmd_call *c, int *out, struct err *err)
{
    enum { USUAL = 4 };
    const char *text = call_key(c, "gpus");
    int64_t n = s->settings.options.gpus > 1 ? s->settings.options.gpus : USUAL;
    const enum status st = text ? number_parse_int("gpus", text, 2, RING_GPUS_MAX, &n, err) : ST_OK;
    *out = (int)n;
    return st ? call_mark_key(c, "gpus", st, err) : ST_OK;
}

static enum status read_shards(struct session *s, struct cmd_call *c, int *out, struct err *err)
{
    const char *text = call_key(c, "shards");
    *out = s->settings.options.shards;
    for (int i = 0; text && shards_words[i]; i++)
        if (!strcmp(text, shards_words[i])) {
            *out = i;
            return ST_OK;
        }
    if (!text)
        return ST_OK;
    err_set(err, ST_USAGE, "shards=%s: it is zigzag, stretches or splitkv", text);
    return call_mark_key(c, "shards", ST_USAGE, err);
}

static enum status read_link(struct cmd_call *c, struct asked *a, struct err *err)
{
    const char *text = call_key(c, "link");
    double gbs;
    a->link = ring_link_of(a->gpu);
    if (!text)
        return ST_OK;
    enum status st = number_parse(text, &gbs, err);
    if (!st && !(gbs > 0 && gbs < 1e6))
        st = err_set(err, ST_USAGE, "link=%s: GB/s in one direction are wanted, above 0", text);
    if (st)
        return call_mark_key(c, "link", st, err);
    a->link = (struct ring_link){"given", gbs};
    return ST_OK;
}

/* The kernel's own unit, else tensor cores. */
static enum status find_peak(struct asked *a, struct err *err)
{
    const struct request *r = &a->request;
    const char *unit;
    if (r->nkernels > 1)
        return err_set(err, ST_USAGE, "ring plans for one kernel");
    const struct kernel_desc *d = r->nkernels ? r->kernels[0]->cuda : NULL;
    if (r->nkernels && !d)
        return err_set(err, ST_USAGE, "%s has no CUDA source to plan", r->kernels[0]->name);
    a->tflops = device_peak(a->gpu, r->problem.shape.dtype, !d || d->unit == UNIT_TENSOR, &unit);
    return ST_OK;
}

/* The kernel's own; where none is named, f32, as all of ours. */
static enum dtype parts_of(const struct asked *a)
{
    return a->request.nkernels
               ? desc_parts(a->request.kernels[0]->cuda, a->request.problem.shape.dtype)
               : DTYPE_F32;
}

static enum status ask(struct session *s, struct cmd_call *c, struct asked *a, struct err *err)
{
    int gpus = 0;
    enum status st = request_make(s, c, REQUEST_PLAN, &a->request, err);
    if (!st && !(a->gpu = session_gpu(s, call_key(c, "gpu"), err)))
        st = call_mark_key(c, "gpu", ST_USAGE, err);
    if (st || (st = read_gpus(s, c, &gpus, err)) || (st = read_shards(s, c, &a->shards, err)) ||
        (st = read_link(c, a, err)) || (st = find_peak(a, err)) || (st = call_finish(s, c, err)))
        return st;
    st = ring_build(&a->request.problem.shape, gpus, (enum ring_shards)a->shards, parts_of(a),
                    &a->ring, err);
    if (!st)
        ring_time(&a->ring, a->tflops, a->link.gbs, &a->time);
    return st;
}

/* ---- rows ---- */

static char *queries_of(const struct ring *r, int gpu)
{
    struct str out = {0};
    for (int i = 0; i < r->mine; i++) {
        const struct ring_rows x = ring_rows(r, gpu, i, RING_QUERIES);
        str_addf(&out, "%s%lld..%lld", i ? ", " : "", (long long)x.first,
                 (long long)(x.first + x.rows - 1));
    }
    return str_take(&out);
}

static const char *shards_of(const struct ring *r)
{
    return shards_words[r->gathers ? RING_SPLITKV : r->mine == 2 ? RING_ZIGZAG : RING_STRETCHES];
}

static void add_row(struct rowset *rows, const struct asked *a, int g)
{
    char shape[SHAPE_TEXT];
    const struct ring *r = &a->ring;
    struct ring_row *row = rowset_add(rows);
    double all = 0;
    for (int i = 0; i < r->gpus; i++)
        all += ring_flops(r, i);
    shape_format(&r->shape, shape, sizeof shape);
    row->card = g;
    row->gpus = r->gpus;
    row->gpu = xstrdup(a->gpu->name);
    row->kernel = a->request.nkernels ? xstrdup(a->request.kernels[0]->name) : NULL;
    row->shape = xstrdup(shape);
    row->queries = queries_of(r, g);
    row->shards = xstrdup(shards_of(r));
    row->link = xstrdup_if(a->link.name);
    row->link_gbs = a->link.gbs;
    row->peak_tflops = a->tflops;
    row->flops = ring_flops(r, g);
    row->share_pct = 100 * row->flops / all;
    row->compute_us = row->flops / (a->tflops * 1e6);
    row->sent_bytes = ring_sent_bytes(r, g);
    row->transfer_us = row->sent_bytes / (a->link.gbs * 1e3);
    row->memory_bytes = ring_memory_bytes(r, g);
    row->link_bytes = ring_link_bytes(r);
    row->imbalance = ring_imbalance(r);
    row->total_us = a->time.total_us;
    row->exposed_us = a->time.exposed_us;
    row->efficiency_pct = 100 * a->time.efficiency;
}

/* ---- the picture: a row is a GPU, a letter the GPU whose keys they are ---- */

static void take_panel(const struct asked *a, bool copies, struct block_panel *p)
{
    const struct ring *r = &a->ring;
    int n = 0;
    block_spans(p, 1, r->gpus * r->steps);
    p->passes[0].text = xstrdup(copies ? "copy" : "step");
    p->kernel = xstrdup(copies ? "taking" : "computing");
    p->device = xstrdup(a->gpu->name);
    p->origin = xstrdup("model");
    p->unit = xstrdup("GPU");
    p->rows = p->shown = r->gpus;
    p->lanes = 1;
    p->span_us = a->time.total_us;
    for (int g = 0; g < r->gpus; g++)
        for (int i = 0; i < r->steps; i++) {
            const struct ring_span *x = &a->time.span[g][i];
            const double begin = copies ? x->copy_begin_us : x->begin_us,
                         end = copies ? x->copy_end_us : x->end_us;
            if (!(end > begin))
                continue;
            p->spans[n++] = (struct block_span){
                .row = g,
                .tile = r->gathers || !copies ? r->turn[g][i].holds : r->turn[g][i + 1].holds,
                .head = -1,
                .split = -1,
                .begin_us = begin,
                .end_us = end};
        }
    p->n = n;
    p->blocks = n;
    p->slots = r->gpus;
}

static struct chart *picture(const struct asked *a)
{
    struct chart *chart = chart_new(&chart_timeline);
    struct block_chart *b = chart->model;
    char shape[SHAPE_TEXT];
    shape_format(&a->ring.shape, shape, sizeof shape);
    chart->caption.shape = xstrdup(shape);
    chart->caption.origin = xstrdup("model");
    caption_device(&chart->caption, a->gpu->name);
    block_size(b, 2);
    take_panel(a, false, &b->panels[0]);
    take_panel(a, true, &b->panels[1]);
    return chart;
}

static void draw_panels(const struct session *s, struct cmd_call *c, const struct block_chart *b,
                        double span_us, bool gathers)
{
    const int width = s->front.width > 40 && s->front.width < 78 ? s->front.width : 78;
    for (int i = 0; i < b->n; i++) {
        const struct block_panel *p = &b->panels[i];
        const struct timeline_view v = {.end_us = span_us, .mark = MARK_TILE};
        struct canvas *canvas = canvas_new(width, (int)p->rows + 1, s->front.glyphs);
        str_addf(c->out, "%s\n",
                 !i        ? "computed with"
                 : gathers ? "answers on their way to GPU 0"
                           : "on their way to a GPU");
        fig_timeline(canvas, (struct rect){0, 0, width, (int)p->rows + 1}, p, &v);
        canvas_to_text(canvas, c->out);
        canvas_free(canvas);
    }
    struct canvas *axis = canvas_new(width, 1, s->front.glyphs);
    fig_time_axis(axis, (struct rect){0, 0, width, 1}, 0, span_us, &b->panels[0]);
    canvas_to_text(axis, c->out);
    canvas_free(axis);
}

/* What the table cannot say: all together. */
static void add_words(struct session *s, struct cmd_call *c, const struct asked *a)
{
    const size_t from = c->out->len;
    char bytes[NUMBER_BUF], total[NUMBER_BUF], exposed[NUMBER_BUF];
    const struct ring_time *t = &a->time;
    str_addf(c->out, "%d x %s, %s: %d step%s, %s over the links in all", a->ring.gpus, a->gpu->name,
             shards_of(&a->ring), a->ring.steps, a->ring.steps == 1 ? "" : "s",
             number_fmt_bytes(bytes, ring_link_bytes(&a->ring)));
    if (a->link.gbs > 0)
        str_addf(c->out, " (%s, %g GB/s in one direction)", a->link.name, a->link.gbs);
    str_addf(c->out, "; the busiest GPU has %.3g times the mean to do.\n",
             ring_imbalance(&a->ring));
    if (t->total_us > 0)
        str_addf(
            c->out,
            "Steps at the peak of %g TFLOP/s and copies at the link's rate: %s, of which %s is "
            "no computing; efficiency %.3g %%. A slower kernel hides more.\n",
            a->tflops, number_fmt_us(total, t->total_us),
            number_fmt_us(exposed, t->exposed_us < 0 ? 0 : t->exposed_us), 100 * t->efficiency);
    else
        str_add(c->out,
                "No time: the peak or the link of that model is not known; link=GB/s gives one.\n");
    lines_wrap(c->out, from, call_width(s, c));
}

static void show(struct session *s, struct cmd_call *c, const struct asked *a, struct rowset *rows)
{
    struct chart *chart = a->time.total_us > 0 ? picture(a) : NULL;
    if (call_format(c) == FORMAT_TEXT) {
        char shape[SHAPE_TEXT];
        shape_format(&a->ring.shape, shape, sizeof shape);
        str_addf(c->out, "%s\n", shape);
        if (chart) {
            draw_panels(s, c, chart->model, a->time.total_us, a->ring.gathers);
            str_addf(c->out, "%*sA: keys and values of GPU 0%s, B: of GPU 1, and so on\n",
                     TIMELINE_LABEL, "", a->ring.gathers ? " and its answer" : "");
        }
        add_words(s, c, a);
    }
    if (chart)
        charts_add(&c->charts, chart);
    (void)call_rows(s, c, rows, &columns);
}

static enum status exec_ring(struct session *s, struct cmd_call *c, struct err *err)
{
    struct asked a = {.shards = 0};
    (void)call_format(c);
    const enum status st = ask(s, c, &a, err);
    if (!st) {
        struct rowset rows = {.type = &ring_type};
        for (int g = 0; g < a.ring.gpus; g++)
            add_row(&rows, &a, g);
        show(s, c, &a, &rows);
        rowset_clear(&rows);
    }
    request_clear(&a.request);
    return st;
}

static const struct cmd_key ring_keys[] = {
    {"gpus", "GPUs of the ring, 2 to 16; 4 by default", NULL},
    {"shards", "how they share the sequence", shards_words},
    {"gpu", "device model, as \"devices\" lists them", NULL},
    {"link", "GB/s between two cards in one direction; by default the data sheet's", NULL},
    {0},
};

const struct cmd_entry cmd_ring = {
    .name = "ring",
    .group = "Model",
    .usage = "[K] [shape] [gpus=N] [shards=zigzag|stretches|splitkv] [gpu=NAME] [link=GB/s]",
    .summary = "a sequence over several GPUs: who has what, bytes on the links, overlap",
    .help =
        "Every GPU keeps its queries; keys and values go round, a neighbour further in each step,\n"
        "while each computes with those that it has. zigzag gives each an early and a late chunk,\n"
        "so that the causal mask leaves all the same work. splitkv is for decoding: keys stay, "
        "each\n"
        "GPU has all queries, and answers over its keys are gathered on GPU 0 and merged once.\n"
        "Partial answers are in f32 (unless the kernel cannot), so that the whole is rounded "
        "once.\n"
        "Computing is at the peak of the kernel's unit: the least there is to hide a copy behind.\n"
        "Arithmetic alone: run K gpus=N does it with the GPUs here, which it times, with\n"
        "nodes=here,box with as many of each of several hosts, which NCCL joins, or with\n"
        "backend=sim simulated ones; each way the result is checked and bytes are counted.\n"
        "\n"
        "  ring S=128k H=32 D=128 causal gpu=H200 gpus=4\n"
        "  ring fa2_mma S=8k D=128 causal gpu=L40S shards=stretches\n"
        "  ring decode_splitkv Sq=1 Sk=1M H=32 Hkv=8 D=128 causal gpus=8 shards=splitkv\n"
        "  run fa2_mma S=256 H=2 causal gpus=4 backend=sim\n"
        "  run fa2_mma S=32k D=128 causal gpus=2 devices=0,0\n"
        "  run fa2_mma S=128k D=128 causal gpus=8 nodes=here,box\n",
    .arg = ARG_KERNELS,
    .keys = ring_keys,
    .flags = CMD_SHAPE | CMD_PARAMS | CMD_ROWS,
    .exec = exec_ring,
    .columns = COLUMNS(&columns),
};
