/* cmd_occupancy.c - how many blocks fit on an SM: of a block given in figures, or of a kernel's, with
 * what of it is asked for instead.
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
#include "draw/figures.h"

struct block_row {
    char *kernel, *gpu;
    int64_t threads, regs, smem;
    struct occupancy occ;
};
static const struct field kernel_fields[] = {
    FIELD(FIELD_TEXT, block_row, kernel, .doc = "Whose block it is, where a kernel was named."),
    {.name = NULL},
};
static const struct field block_fields[] = {
    FIELD(FIELD_TEXT, block_row, gpu, .doc = "For which model, or compute capability."),
    FIELD(FIELD_INT, block_row, threads, .doc = "Threads of the block."),
    FIELD(FIELD_INT, block_row, regs, .unit = "registers", .doc = "Registers of a thread."),
    FIELD(FIELD_INT, block_row, smem, .title = "SMEM B", .unit = "B",
          .doc = "Bytes of a block as given; the other fields are those of plan."),
    FIELD_AT("reason", FIELD_TEXT, block_row, occ.reason,
             .doc = "Why no block can be launched there, or the kernel not run."),
    {.name = NULL},
};
#define OCCUPANCY                                         \
    {                                                     \
        occupancy_fields, offsetof(struct block_row, occ) \
    }
static const struct row_type block_type = ROW_TYPE(block_row, {block_fields, 0}, OCCUPANCY),
                             kernel_type = ROW_TYPE(block_row, {kernel_fields, 0},
                                                    {block_fields, 0}, OCCUPANCY);
#undef OCCUPANCY

// clang-format off
static const struct columns columns = {
    .type = &kernel_type,
    .list = (const struct column[]){
        {.field = "kernel", .optional = true},
        {.field = "gpu"},
        {.field = "threads", .drop = 4},
        {.field = "regs", .drop = 3},
        {.field = "smem", .drop = 2},
        {.field = "smem_per_block_bytes", .drop = 5},
        {.field = "limit_blocks"},
        {.field = "limit_regs"},
        {.field = "limit_smem"},
        {.field = "limit_warps"},
        {.field = "limiter", .drop = 1},
        {.field = "blocks_per_sm"},
        {.field = "occupancy_pct", .digits = 4},
        {.field = "waves", .optional = true},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

struct place {
    const struct arch_limits *arch;
    const char *name;
    int sms;
};

/* "89", "8.9", "sm_89". */
static enum status find_cc(const char *text, struct place *out, struct err *err)
{
    const char *p = str_starts(text, "sm_") ? text + 3 : text;
    char *end;
    long major = strtol(p, &end, 10), cc = major;
    if (*end == '.' && end[1] >= '0' && end[1] <= '9')
        cc = major * 10 + strtol(end + 1, &end, 10);
    out->arch = *p && !*end ? arch_find((int)cc) : NULL;
    if (out->arch)
        return ST_OK;
    struct str known = {0};
    for (int i = 0; arch_at(i); i++)
        str_addf(&known, "%s%d.%d", i ? " " : "", arch_at(i)->cc / 10, arch_at(i)->cc % 10);
    err_set(err, ST_USAGE, "no compute capability \"%s\" is known; known are %s", text,
            str_text(&known));
    str_free(&known);
    return ST_USAGE;
}

static enum status find_place(struct session *s, struct cmd_call *c, struct place *out,
                              struct err *err)
{
    const char *gpu = call_key(c, "gpu"), *cc = call_key(c, "cc");
    *out = (struct place){.name = cc};
    if (gpu && cc)
        return err_set(err, ST_USAGE, "give gpu= or cc=, not both");
    if (cc)
        return find_cc(cc, out, err) ? call_mark_key(c, "cc", ST_USAGE, err) : ST_OK;
    const struct device *d = session_gpu(s, gpu, err);
    if (!d)
        return call_mark_key(c, "gpu", ST_USAGE, err);
    out->arch = arch_find(d->cc);
    out->name = d->name;
    out->sms = d->sms;
    if (out->arch)
        return ST_OK;
    err_set(err, ST_USAGE, "%s is no CUDA device; occupancy is known for NVIDIA models, such as L4",
            d->name);
    return call_mark_key(c, "gpu", ST_USAGE, err);
}

static enum status read_int(struct cmd_call *c, const char *key, int64_t lo, int64_t hi,
                            int64_t *out, struct err *err)
{
    const char *text = call_key(c, key);
    if (!text)
        return ST_OK;
    enum status st = number_parse_int(key, text, lo, hi, out, err);
    return st ? call_mark_key(c, key, st, err) : ST_OK;
}

/* Bytes, or a share of the SM's largest carve-out as cudaFuncSetAttribute takes it. */
static enum status read_carveout(struct cmd_call *c, const struct arch_limits *arch, int64_t *out,
                                 struct err *err)
{
    const char *text = call_key(c, "carveout");
    const size_t len = text ? strlen(text) : 0;
    double share;
    if (!len || text[len - 1] != '%')
        return read_int(c, "carveout", 0, arch->smem_per_sm, out, err);
    enum status st = number_parse(text, &share, err);
    if (!st && !(share >= 0 && share <= 1))
        st = err_set(err, ST_USAGE, "carveout=%s is not between 0%% and 100%%", text);
    if (st)
        return call_mark_key(c, "carveout", st, err);
    *out = (int64_t)ceil(share * arch->smem_per_sm);
    return ST_OK;
}

/* What the call's keys say over what `q` says already. */
static enum status read_request(struct cmd_call *c, const struct arch_limits *arch, int *sms,
                                struct occ_request *q, struct err *err)
{
    int64_t sm_count = INT_UNKNOWN;
    enum status st;
    if ((st = read_int(c, "threads", 1, 1 << 20, &q->threads, err)) ||
        (st = read_int(c, "regs", 0, 1024, &q->regs, err)) ||
        (st = read_int(c, "smem", 0, 1 << 30, &q->smem, err)) ||
        (st = read_int(c, "barriers", 0, 1024, &q->barriers, err)) ||
        (st = read_int(c, "grid", 1, (int64_t)1 << 53, &q->grid, err)) ||
        (st = read_int(c, "sms", 1, 1 << 20, &sm_count, err)) ||
        (st = read_carveout(c, arch, &q->carveout, err)))
        return st;
    if (sm_count != INT_UNKNOWN)
        *sms = (int)sm_count;
    if (q->threads == INT_UNKNOWN)
        return err_set(err, ST_USAGE,
                       "occupancy needs threads= or a kernel, for example: occupancy "
                       "threads=256 regs=64 smem=48k gpu=H200");
    return ST_OK;
}

/* ---- a kernel's block ---- */

/* The main pass of the kernel that the call names; without one nothing is planned. */
struct planned {
    struct request request;
    struct plan plan;
    const struct plan_pass *pass; /* NULL: the block is given in figures */
};

static void planned_clear(struct planned *p)
{
    plan_clear(&p->plan);
    request_clear(&p->request);
}

static enum status plan_kernel(struct session *s, struct cmd_call *c, const struct device *dev,
                               struct planned *out, struct err *err)
{
    const struct request *r = &out->request;
    struct err why = ERR_INIT;
    if (r->nkernels != 1)
        return err_set(err, ST_USAGE, "occupancy is of one kernel; for several use: plan");
    if (!r->kernels[0]->cuda)
        return err_set(err, ST_USAGE, "%s has no CUDA source to plan", r->kernels[0]->name);
    if (!dev)
        return call_mark_key(
            c, "cc",
            err_set(err, ST_USAGE, "a kernel is planned for a model: give gpu= instead of cc="),
            err);
    enum status st = plan_compiled(s, r->kernels[0]->cuda, &r->problem.shape, &r->params[0], dev,
                                   &out->plan, &why);
    if (st && st != ST_NO)
        return err_set(err, st, "%s", why.text);
    if (!out->plan.npasses)
        return err_set(err, ST_NO, "%s launches nothing that could be planned",
                       r->kernels[0]->name);
    out->pass = &out->plan.passes[out->plan.main_pass];
    return ST_OK;
}

static struct occ_request request_of_pass(const struct plan_pass *p)
{
    struct occ_request q = {
        .threads = INT_UNKNOWN, .regs = INT_UNKNOWN, .carveout = INT_UNKNOWN, .grid = INT_UNKNOWN};
    if (!p)
        return q;
    q.threads = p->threads;
    q.regs = p->regs;
    q.smem = p->smem_bytes == INT_UNKNOWN ? 0 : p->smem_bytes;
    q.barriers = 1;
    if (p->grid[0] != INT_UNKNOWN && p->grid[1] != INT_UNKNOWN && p->grid[2] != INT_UNKNOWN)
        q.grid = p->grid[0] * p->grid[1] * p->grid[2];
    return q;
}

static bool is_what_if(const struct occ_request *a, const struct occ_request *b)
{
    return a->threads != b->threads || a->regs != b->regs || a->smem != b->smem ||
           a->carveout != b->carveout || a->grid != b->grid || a->barriers != b->barriers;
}

/* ---- what is shown ---- */

static void add_row(struct rowset *rows, const struct place *place, const struct occ_request *q,
                    const struct occupancy *o, const struct planned *of)
{
    struct block_row *row = rowset_add(rows);
    row->kernel = of->pass ? xstrdup(of->request.kernels[0]->name) : NULL;
    row->gpu = xstrdup_if(place->name);
    row->threads = q->threads;
    row->regs = q->regs;
    row->smem = q->smem;
    row->occ = *o;
    /* What keeps the kernel from this GPU stands beside the figures of its block; a what-if is of a block. */
    const bool planned = of->pass && o == &of->pass->occ;
    row->occ.reason = xstrdup_if(planned && of->plan.reason ? of->plan.reason : o->reason);
}

/* The block as the picture names it: the kernel's parameters, or the figures that were given. */
static void name_panel(struct sm_panel *p, const struct place *place, const struct planned *of)
{
    char text[512];
    p->device = xstrdup_if(place->name);
    if (!of->pass)
        return;
    request_params(&of->request, 0, text, sizeof text);
    p->kernel = xstrdup(of->request.kernels[0]->name);
    p->params = *text ? xstrdup(text) : NULL;
    p->stale = of->pass->regs_stale;
}

/* Above the row, where the block is a kernel's and the terminal has room. */
static void draw_panel(const struct session *s, struct cmd_call *c, const struct sm_panel *p)
{
    enum { W_MIN = 60, W_MAX = 110, WIDE = 88 };
    int width = call_width(s, c);
    width = width > W_MAX || width <= 0 ? W_MAX : width;
    if (!p->kernel || width < W_MIN || p->blocks == INT_UNKNOWN)
        return;
    const int bars = p->n * (1 + (width < WIDE) + (p->change != NULL));
    struct canvas *canvas = canvas_new(width, 1 + (p->change != NULL) + bars, s->front.glyphs);
    fig_sm(canvas, (struct rect){0, 0, width, canvas->h}, p);
    canvas_to_text(canvas, c->out);
    str_addc(c->out, '\n');
    canvas_free(canvas);
}

static enum status show(struct session *s, struct cmd_call *c, const struct place *place,
                        const struct occ_request *q, const struct occupancy *o,
                        const struct planned *of)
{
    struct chart *chart = chart_new(&chart_sm);
    struct sm_panel *panel = sm_add(chart->model);
    sm_take(panel, o, place->arch);
    if (of->pass && o != &of->pass->occ && of->pass->occ.blocks_per_sm != INT_UNKNOWN)
        sm_take_before(panel, &of->pass->occ, place->arch, "as planned");
    name_panel(panel, place, of);
    chart->caption.origin = xstrdup("model");
    caption_kernel(&chart->caption, panel->kernel);
    caption_device(&chart->caption, panel->device);
    if (of->pass) {
        char shape[SHAPE_TEXT];
        shape_format(&of->request.problem.shape, shape, sizeof shape);
        chart->caption.shape = xstrdup(shape);
    }
    if (call_format(c) == FORMAT_TEXT)
        draw_panel(s, c, panel);
    charts_add(&c->charts, chart);
    struct rowset rows = {.type = of->pass ? &kernel_type : &block_type};
    add_row(&rows, place, q, o, of);
    const enum status st = call_rows(s, c, &rows, &columns);
    rowset_clear(&rows);
    return st;
}

static enum status exec_occupancy(struct session *s, struct cmd_call *c, struct err *err)
{
    struct place place = {0};
    struct planned of = {0};
    struct occ_request q, planned;
    struct occupancy o;
    (void)call_format(c);
    enum status st = request_make(s, c, REQUEST_PLAN, &of.request, err);
    const bool named = !st && of.request.nkernels > 0;
    if (!st)
        st = find_place(s, c, &place, err);
    if (!st && named)
        st = plan_kernel(s, c, call_key(c, "cc") ? NULL : session_gpu(s, call_key(c, "gpu"), err),
                         &of, err);
    q = planned = request_of_pass(of.pass);
    if (!st)
        st = read_request(c, place.arch, &place.sms, &q, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st) {
        const bool own = !of.pass || is_what_if(&q, &planned);
        occupancy_unknown(&o);
        if (own)
            occupancy_compute(place.arch, place.sms, &q, &o);
        st = show(s, c, &place, &q, own ? &o : &of.pass->occ, &of);
        occupancy_clear(&o);
    }
    planned_clear(&of);
    return st;
}

static const struct cmd_key keys[] = {
    {"threads", "threads of a block", NULL},
    {"regs", "registers of a thread; unknown: blocks/SM is an upper bound", NULL},
    {"smem", "static plus dynamic bytes of a block, without the reserved ones", NULL},
    {"carveout", "shared memory wanted on the SM, in bytes or N%; the maximum by default", NULL},
    {"grid", "blocks of the launch, for waves", NULL},
    {"barriers", "named barriers of a block", NULL},
    {"sms", "number of SMs, for waves with cc=", NULL},
    {"gpu", "device model, as \"devices\" lists them", NULL},
    {"cc", "compute capability instead of a model: 8.9, 90", NULL},
    {0},
};

const struct cmd_entry cmd_occupancy = {
    .name = "occupancy",
    .group = "Model",
    .usage = "[K [shape] [params]] [threads=N] [regs=N] [smem=BYTES] [carveout=BYTES|N%] [grid=N] "
             "[gpu=NAME|cc=X.Y]",
    .summary = "how many blocks fit on an SM, and what stops the next one",
    .help =
        "NVIDIA's calculation, restated. Limits that are reached are named as limiter.\n"
        "A kernel brings threads, registers and shared memory of its plan, and the SM is drawn:\n"
        "shared memory, registers and warp slots, cut into the blocks that are resident, with\n"
        "the block that does not fit and what it lacks. What is given besides is a what-if: the\n"
        "plan stays as a ghost, the change is said in words.\n"
        "\n"
        "  occupancy fa2 gpu=H200 D=128\n"
        "  occupancy fa2 gpu=L4 smem=24k; export sm.svg figure=sm\n"
        "  occupancy threads=256 regs=168 smem=96k gpu=H200\n"
        "  occupancy threads=128 regs=64 smem=16k carveout=50% cc=8.9 --json\n",
    .arg = ARG_KERNELS,
    .keys = keys,
    .flags = CMD_SHAPE | CMD_PARAMS | CMD_ROWS,
    .exec = exec_occupancy,
    .columns = COLUMNS(&columns),
};
