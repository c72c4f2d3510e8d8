/* cmd_plan.c - what would happen on a GPU: grid, shared memory, occupancy, traffic, roofline.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/plan_here.h"
#include "command/ask/plan_row.h"
#include "command/ask/recollect.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"
#include "draw/figures.h"

// clang-format off
static const struct columns columns = {
    .type = &plan_row_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "gpu"},
        {.field = "params", .optional = true, .drop = 3},
        {.field = "grid"},
        {.field = "threads"},
        {.field = "smem_bytes"},
        {.field = "regs"},
        {.field = "blocks_per_sm"},
        {.field = "occupancy_pct"},
        {.field = "limiter"},
        {.field = "waves"},
        {.field = "bound"},
        {.field = "roof_us"},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

/* ---- as text: a sheet of parts, each under its word ---- */

/* What a part is printed from. */
struct plan_view {
    const struct session *s;
    const struct plan *plan;
    const struct plan_pass *pass;   /* of the launch that is printed */
    const struct arch_limits *arch; /* NULL: the device is modelled without them */
    const struct recalled *recalled;
};

static void line(struct str *out, const char *title)
{
    str_addf(out, "  %-10s ", title);
}

/* "1 = 1" tells nothing. */
static bool tells(const char *formula)
{
    const char *equals = strstr(formula, " = ");
    return strpbrk(formula, "/*+(=") &&
           !(equals && strlen(equals + 3) == (size_t)(equals - formula) &&
             !strncmp(formula, equals + 3, (size_t)(equals - formula)));
}

static const char *plural(long long n)
{
    return n == 1 ? "" : "s";
}

static void add_grid(struct str *out, const struct plan_view *sh)
{
    const struct plan_pass *p = sh->pass;
    str_addf(out, "%lld x %lld x %lld blocks", (long long)p->grid[0], (long long)p->grid[1],
             (long long)p->grid[2]);
    for (int i = 0; i < 3; i++)
        if (p->grid_formula[i] && tells(p->grid_formula[i]))
            str_addf(out, "%s%s", i && out->data[out->len - 1] != 's' ? ", " : "   ",
                     p->grid_formula[i]);
    str_addc(out, '\n');
}

static void add_threads(struct str *out, const struct plan_view *sh)
{
    const struct plan_pass *p = sh->pass;
    const long long warps = (p->threads + 31) / 32;
    str_addf(out, "%lld, %lld warp%s", (long long)p->threads, warps, plural(warps));
    if (p->threads_formula && tells(p->threads_formula) &&
        p->threads_formula[strspn(p->threads_formula, "0123456789 =")])
        str_addf(out, "   %s", p->threads_formula);
    str_addc(out, '\n');
}

/* Do blocks fit an SM, as far as is known? */
static bool is_resident(const struct plan_view *sh)
{
    const struct occupancy *o = &sh->pass->occ;
    return sh->arch && o->blocks_per_sm && o->blocks_per_sm != INT_UNKNOWN;
}

static void add_regs(struct str *out, const struct plan_view *sh)
{
    const struct plan_pass *p = sh->pass;
    if (p->regs == INT_UNKNOWN && !sh->arch) {
        str_add(out, "- a thread\n");
        return;
    }
    if (p->regs == INT_UNKNOWN) {
        const char *why = sh->plan->regs_reason;
        str_addf(out, "- a thread: not compiled here%s%s%s and not in the table%s\n",
                 why ? " (" : "", why ? why : "", why ? ")" : "",
                 is_resident(sh) ? ", so blocks/SM is an upper bound" : "");
        return;
    }
    str_addf(out, "%lld a thread (%s%s)", (long long)p->regs, p->regs_source ? p->regs_source : "-",
             p->regs_stale ? ", of an older source" : "");
    if (p->spill_bytes != INT_UNKNOWN)
        str_addf(out, ", %lld B spilled", (long long)p->spill_bytes);
    str_addc(out, '\n');
}

static void add_buffers(struct str *out, const struct plan_pass *p)
{
    for (int i = 0; i < p->nsmem; i++) {
        const struct plan_smem *m = &p->smem[i];
        if (!m->bytes) /* a parameter can empty one; explain smem has its formula */
            continue;
        str_addf(out, "  %10lld  %8lld  %-8s %s%s%s%s\n", (long long)m->offset, (long long)m->bytes,
                 m->name, m->formula ? m->formula : "", m->overlay ? " (overlay)" : "",
                 m->doc && *m->doc ? "   " : "", m->doc ? m->doc : "");
    }
}

/* What a block with more than the default needs. */
static const char *beyond_default(const struct plan_pass *p, const struct arch_limits *arch)
{
    if (p->occ.needs_optin != 1)
        return "";
    return p->static_smem > arch->smem_default
               ? ", more than static buffers may take: no opt-in helps, they must be dynamic"
               : ", more than the 48 KiB default: needs the opt-in";
}

/* Bytes, buffers and their map. */
static void add_smem(struct str *out, const struct plan_view *sh)
{
    const struct plan_pass *p = sh->pass;
    char used[NUMBER_BUF], limit[NUMBER_BUF];
    number_fmt_bytes(used, (double)p->smem_bytes);
    str_addf(out, "%s a block", used);
    if (sh->arch)
        str_addf(out, " of %s%s", number_fmt_bytes(limit, sh->arch->smem_optin),
                 beyond_default(p, sh->arch));
    str_addc(out, '\n');
    const int held = plan_buffers_held(p);
    if (!held)
        return;
    str_addf(out, "  %10s  %8s  buffer\n", "offset", "bytes");
    add_buffers(out, p);
    if (!sh->arch)
        return;
    const struct front *f = &sh->s->front;
    const int width = f->width > 20 && f->width < 76 ? f->width - 4 : 72;
    struct canvas *c = canvas_new(width + 2, 2 + held / 3, f->glyphs);
    struct smem_map map;
    model_init(&smem_map_layout, &map);
    smem_take(&map, p, sh->arch);
    fig_smem(c, (struct rect){2, 0, width, c->h}, &map);
    model_clear(&smem_map_layout, &map);
    canvas_to_text(c, out);
    canvas_free(c);
    while (out->len > 1 && out->data[out->len - 1] == '\n' && out->data[out->len - 2] == '\n')
        out->data[--out->len] = 0;
}

static void add_occupancy(struct str *out, const struct plan_view *sh)
{
    const struct occupancy *o = &sh->pass->occ;
    char buf[NUMBER_BUF];
    if (!sh->arch)
        str_add(out, "- : it is modelled for NVIDIA only\n");
    else if (sh->plan->reason && !o->reason)
        str_add(out, "- : it cannot run\n");
    else if (!is_resident(sh))
        str_addf(out, "cannot launch: %s\n", o->reason ? o->reason : "no block fits");
    else
        str_addf(out, "%s%lld block%s/SM, %lld of %d warps, %s %%\n",
                 o->upper_bound == 1 ? "at most " : "", (long long)o->blocks_per_sm,
                 plural(o->blocks_per_sm), (long long)o->active_warps, sh->arch->max_warps,
                 number_fmt(buf, o->occupancy_pct, 3));
}

static void add_limit(struct str *out, const struct occupancy *o, enum occ_limiter bit, int64_t v)
{
    char buf[NUMBER_BUF];
    str_addf(out, "%s%s %s%s", bit == OCC_BLOCKS ? "" : " | ", occ_limiter_name(bit),
             number_fmt_int(buf, v), o->limiter & bit ? " <==" : "");
}

static void add_limits(struct str *out, const struct plan_view *sh)
{
    const struct occupancy *o = &sh->pass->occ;
    add_limit(out, o, OCC_BLOCKS, o->limit_blocks);
    add_limit(out, o, OCC_REGS, o->limit_regs);
    add_limit(out, o, OCC_SMEM, o->limit_smem);
    add_limit(out, o, OCC_WARPS, o->limit_warps);
    str_addc(out, '\n');
}

static void add_waves(struct str *out, const struct plan_view *sh)
{
    const struct occupancy *o = &sh->pass->occ;
    char buf[NUMBER_BUF];
    str_addf(out, "%s%s\n", o->upper_bound == 1 ? "at least " : "", number_fmt(buf, o->waves, 3));
}

static void add_work(struct str *out, const struct plan_view *sh)
{
    char buf[NUMBER_BUF];
    str_addf(out, "%sFLOP\n", number_fmt_count(buf, sh->plan->flops));
}

static void add_traffic(struct str *out, const struct plan_view *sh)
{
    const struct plan *p = sh->plan;
    char a[NUMBER_BUF], b[NUMBER_BUF];
    str_addf(out, "requested %s, %s FLOP/B; compulsory ", number_fmt_bytes(a, p->requested_bytes),
             number_fmt(b, p->requested_intensity, 3));
    str_addf(out, "%s, %s FLOP/B\n", number_fmt_bytes(a, p->compulsory_bytes),
             number_fmt(b, p->compulsory_intensity, 3));
}

/* What lies in global memory beside the tensors. */
static void add_workspace(struct str *out, const struct plan_view *sh)
{
    const struct plan *p = sh->plan;
    char b[NUMBER_BUF];
    for (int i = 0; i < p->desc->nws; i++)
        str_addf(out, "%s%s %s", i ? ", " : "", p->desc->ws[i].name,
                 number_fmt_bytes(b, (double)p->ws_bytes[i]));
    str_addf(out, " in global memory, beside the tensors\n");
}

static bool has_workspace(const struct plan_view *sh)
{
    return sh->plan->desc->nws > 0;
}

/* Where K and V lie, if not one after another. */
static void add_pages(struct str *out, const struct plan_view *sh)
{
    const struct plan *p = sh->plan;
    const struct page_pool pages = shape_pool(&p->shape);
    char a[NUMBER_BUF], b[NUMBER_BUF];
    if (!desc_pages(p->desc, &p->shape)) {
        str_addf(out, "none: it reads a contiguous copy, made beforehand (pages=both)\n");
        return;
    }
    str_addf(out,
             "%lld page%s of %lld keys a sequence, %lld of %lld pages in use; pools of K and V %s, "
             "block table %s\n",
             (long long)pages.each, plural(pages.each), (long long)pages.size,
             (long long)pages.used, (long long)pages.total, number_fmt_bytes(a, p->pool_bytes),
             number_fmt_bytes(b, p->table_bytes));
}

static bool has_pages(const struct plan_view *sh)
{
    return sh->plan->shape.page > 0;
}

static void add_roofline(struct str *out, const struct plan_view *sh)
{
    const struct plan *p = sh->plan;
    char a[NUMBER_BUF], b[NUMBER_BUF];
    if (!p->bound) {
        str_addf(out, "unknown: the table has no peak of %s for %s\n", p->device->name,
                 dtype_name(p->shape.dtype));
        return;
    }
    str_addf(out, "ridge %s FLOP/B ==> %s-bound; ", number_fmt(a, p->ridge, 3), p->bound);
    const bool scalar = !strcmp(p->bound, "compute") && !strcmp(p->peak_unit, "fp32");
    str_addf(out, "at least %s%s\n", number_fmt_us(b, p->roof_us),
             scalar ? " without tensor cores" : "");
}

static void add_recorded(struct str *out, const struct plan_view *sh)
{
    recollect_text(sh->recalled, out);
    str_addc(out, '\n');
}

static bool is_recorded(const struct plan_view *sh)
{
    return sh->recalled->row != NULL;
}

static void add_why(struct str *out, const struct plan_view *sh)
{
    struct str why = {0};
    plan_why(sh->plan, &why);
    if (why.len)
        str_addf(out, "%s\n", str_text(&why));
    str_free(&why);
}

/* The parts, in their order. only= takes their words, which are what their lines begin with. */
struct part {
    bool of_plan;                                             /* once a plan; else once a launch */
    void (*add)(struct str *out, const struct plan_view *sh); /* nothing added: no line */
    bool (*is_there)(const struct plan_view *sh);             /* NULL: always */
};
// clang-format off
static const char *const part_names[] = {"smem", /* the map of the main pass alone */
    "grid", "threads", "registers", "shared", "occupancy", "limits", "waves", "work", "traffic",
    "workspace", "pages", "roofline", "recorded", "why", NULL};
static const struct part parts[] = {{0},
    {.add = add_grid}, {.add = add_threads}, {.add = add_regs}, {.add = add_smem},
    {.add = add_occupancy}, {.add = add_limits, .is_there = is_resident},
    {.add = add_waves, .is_there = is_resident},
    {.add = add_work, .of_plan = true}, {.add = add_traffic, .of_plan = true},
    {.add = add_workspace, .is_there = has_workspace, .of_plan = true},
    {.add = add_pages, .is_there = has_pages, .of_plan = true},
    {.add = add_roofline, .of_plan = true},
    {.add = add_recorded, .is_there = is_recorded, .of_plan = true},
    {.add = add_why, .of_plan = true},
};
// clang-format on
enum { NPARTS = sizeof parts / sizeof *parts, PART_SMEM = 0, PART_SHARED = 4 };
_Static_assert(NPARTS == sizeof part_names / sizeof *part_names - 1, "a name for each part");

/* The parts of an only= list as bits; none: all. */
static enum status wanted_parts(struct cmd_call *c, unsigned *out, struct err *err)
{
    const char *only = call_key(c, "only");
    *out = only ? 0 : ~(1u << PART_SMEM);
    for (const char *p = only ? only : ""; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] != 0)) {
        char *word = xstrndup(p, strcspn(p, ","));
        int i = 0;
        while (part_names[i] && strcmp(word, part_names[i]) != 0)
            i++;
        const bool known = part_names[i] && (i != PART_SMEM || strcmp(only, "smem") == 0);
        if (known)
            *out |= 1u << i;
        else
            err_set(err, ST_USAGE,
                    "only= takes smem, or words that lines of a plan begin with, not \"%.40s\"",
                    word);
        free(word);
        if (!known)
            return call_mark_key(c, "only", ST_USAGE, err);
    }
    return ST_OK;
}

/* Those of `wanted` that belong to a launch, or to the plan as a whole. */
static void add_parts(struct str *out, const struct plan_view *sh, bool of_plan, unsigned wanted)
{
    for (int i = PART_SMEM + 1; i < NPARTS; i++) {
        if (!(wanted & 1u << i) || parts[i].of_plan != of_plan ||
            (parts[i].is_there && !parts[i].is_there(sh)))
            continue;
        const size_t before = out->len;
        line(out, part_names[i]);
        const size_t empty = out->len;
        parts[i].add(out, sh);
        if (out->len == empty)
            out->data[out->len = before] = 0;
    }
}

static void add_pass(struct str *out, struct plan_view sh, int i, unsigned wanted)
{
    struct str text = {0};
    sh.pass = &sh.plan->passes[i];
    add_parts(&text, &sh, false, wanted);
    if (text.len && sh.plan->npasses > 1)
        str_addf(out, "  -- pass %s%s\n", sh.pass->name, i == sh.plan->main_pass ? " (main)" : "");
    str_add(out, str_text(&text));
    str_free(&text);
}

static void add_plan_heading(struct str *out, const struct plan *p, const struct plan_row *row)
{
    const char *params = row->params;
    str_addf(out, "%s on %s", row->kernel, row->gpu);
    if (p->device)
        str_addf(out, " (%s, %d SMs)", p->device->arch, p->device->sms);
    str_addf(out, ", %s%s%s\n", row->shape, *params ? ", " : "", params);
}

/* Why nothing is planned is never left out. */
static void add_refusal(struct str *out, const char *reason)
{
    char *clean = sanitize_line(reason);
    line(out, "no");
    str_addf(out, "%s\n", clean);
    free(clean);
}

/* `chosen`: why this GPU, or NULL. */
static void add_plan(struct session *s, struct cmd_call *c, const struct plan *p,
                     const struct plan_row *row, const struct recalled *recalled,
                     const char *chosen, unsigned wanted)
{
    const char *reason = row->occ.reason;
    const bool all = !call_key(c, "only"), map = wanted == 1u << PART_SMEM;
    struct plan_view sh = {s, p, NULL, p->device ? arch_find(p->device->cc) : NULL, recalled};
    add_plan_heading(c->out, p, row);
    if (all && chosen) {
        line(c->out, "gpu");
        str_addf(c->out, "%s, %s\n", row->gpu, chosen);
    }
    if (reason && !(map && p->device && p->npasses))
        add_refusal(c->out, reason);
    if (map) {
        sh.pass = p->npasses ? &p->passes[p->main_pass] : NULL;
        if (p->device && sh.pass)
            add_parts(c->out, &sh, false, 1u << PART_SHARED);
        return;
    }
    for (int i = 0; i < p->npasses; i++)
        add_pass(c->out, sh, i, wanted);
    if (all && p->desc && !p->npasses && !reason) {
        line(c->out, "launch");
        str_add(c->out, "its own affair: the descriptor has neither @threads nor @grid\n");
    }
    if (p->device && p->npasses)
        add_parts(c->out, &sh, true, wanted);
    else if (all && recalled->row) { /* of a library, which has nothing else to show */
        line(c->out, "recorded");
        recollect_text(recalled, c->out);
        str_addc(c->out, '\n');
    }
}

/* ---- the verb ---- */

/* The map of the main pass, as the picture that goes with the rows. */
static void add_map(struct smem_chart *maps, const struct plan *p, const struct plan_row *row)
{
    const struct plan_pass *pass = p->npasses ? &p->passes[p->main_pass] : NULL;
    if (!pass || pass->smem_bytes == INT_UNKNOWN)
        return;
    struct smem_map *m = smem_add(maps);
    smem_take(m, pass, p->device ? arch_find(p->device->cc) : NULL);
    m->kernel = xstrdup(row->kernel);
    m->device = p->device ? xstrdup(p->device->name) : NULL;
    m->params = xstrdup(row->params);
    m->reason = row->occ.reason ? sanitize_line(row->occ.reason) : NULL;
}

static enum status plan_one(struct session *s, struct cmd_call *c, const struct request *r, int i,
                            const char *gpu, unsigned wanted, struct rowset *rows,
                            struct smem_chart *maps, struct err *err)
{
    const struct device *dev = session_gpu(s, gpu, err);
    const struct plan_how how = {.lists = true, .session = s};
    struct plan p;
    if (!dev)
        return call_mark_key(c, "gpu", ST_USAGE, err);
    enum status st = request_check_params(r, i, r->kernels[i]->cuda, dev->cc, err);
    if (st)
        return st;
    struct plan_row *row = rowset_add(rows);
    st = plan_row(r, i, dev, &how, &p, row, err);
    if (!st) {
        const struct recalled recalled = recollect(s, r, i, dev);
        recollect_put(&recalled, row);
        if (call_format(c) == FORMAT_TEXT) {
            const size_t from = c->out->len;
            char chosen[256];
            if (rows->n > 1)
                str_addc(c->out, '\n');
            add_plan(s, c, &p, row, &recalled, session_gpu_why(s, gpu, chosen, sizeof chosen),
                     wanted);
            lines_wrap(c->out, from, call_width(s, c));
        }
        add_map(maps, &p, row);
    }
    plan_clear(&p);
    return st;
}

/* gpu= may name several models. */
static enum status plan_all(struct session *s, struct cmd_call *c, const struct request *r,
                            unsigned wanted, struct rowset *rows, struct smem_chart *maps,
                            struct err *err)
{
    char *gpus = xstrdup(r->options.gpu ? r->options.gpu : "auto"), *rest = gpus;
    char *names = xstrdup(gpus), *left = names, *asked;
    enum status st = ST_OK;
    for (char *gpu; !st && (gpu = strsep(&left, ","));) /* all of them before any is planned */
        if (!session_gpu(s, gpu, err))
            st = call_mark_key(c, "gpu", ST_USAGE, err);
    free(names);
    names = asked = xstrdup(gpus);
    for (char *gpu; !st && (gpu = strsep(&asked, ","));)
        plans_ask(s, s, r, session_gpu(s, gpu, NULL));
    if (!st)
        plans_wait(s);
    for (char *gpu; !st && (gpu = strsep(&rest, ","));)
        for (int i = 0; i < r->nkernels && !st; i++)
            st = plan_one(s, c, r, i, gpu, wanted, rows, maps, err);
    free(names);
    free(gpus);
    return st;
}

static enum status exec_plan(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    struct str command = {0};
    unsigned wanted;
    const bool text = call_format(c) == FORMAT_TEXT;
    enum status st = request_make(s, c, REQUEST_PLAN, &r, err);
    if (st)
        return st;
    struct rowset rows = {.type = &plan_row_type};
    struct chart *map = chart_new(&chart_smem);
    if (!r.nkernels)
        st = err_set(err, ST_USAGE, "plan needs a kernel, for example: plan qtile_seq gpu=L4");
    if (!st)
        st = wanted_parts(c, &wanted, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st)
        st = plan_all(s, c, &r, wanted, &rows, map->model, err);
    request_command(&r, "plan", &command);
    request_command_gpu(&r, session_gpu(s, NULL, NULL), &command);
    c->command = str_take(&command);
    char shape[SHAPE_TEXT];
    shape_format(&r.problem.shape, shape, sizeof shape);
    map->caption.shape = xstrdup(shape);
    map->caption.origin = xstrdup("model");
    const struct smem_chart *maps = map->model;
    for (int i = 0; i < maps->n; i++) {
        caption_kernel(&map->caption, maps->maps[i].kernel);
        caption_device(&map->caption, maps->maps[i].device);
    }
    charts_add(&c->charts, map);
    if (!st && text)
        call_remember(s, c, &rows, &columns);
    else if (!st)
        call_rows(s, c, &rows, &columns);
    rowset_clear(&rows);
    request_clear(&r);
    return st;
}

static const struct cmd_key plan_keys[] = {
    {"only", "in text, these lines alone: grid,traffic; or the map of shared memory", part_names},
    {0},
};

const struct cmd_entry cmd_plan = {
    .name = "plan",
    .group = "Model",
    .usage = "K[,K...] [shape] [params] [gpu=NAME[,NAME]]",
    .summary = "grid, shared memory map, occupancy, traffic and roofline on a GPU model",
    .help =
        "Everything is computed from the kernel's own descriptor, with the formulas that the\n"
        "kernel is compiled and launched by; no GPU is needed. explain METRIC K shows how a\n"
        "figure comes about. Where a recording has a time of that GPU, shape and parameters\n"
        "it stands there as recorded, with its date; else that of the nearest shape, named.\n"
        "Registers that the shipped table lacks are compiled here, with NVRTC or nvcc, and kept;\n"
        "without a compiler what hangs on them is a bound, marked <= or >=.\n"
        "\n"
        "  plan qtile_seq gpu=L4\n"
        "  plan row_online,splitkv gpu=L4,H200 S=4k D=128 --json\n"
        "  plan qtile_seq BR=128 BC=128 D=128\n",
    .arg = ARG_KERNELS,
    .keys = plan_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_plan,
    .columns = COLUMNS(&columns),
};
