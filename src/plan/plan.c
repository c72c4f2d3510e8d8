/* plan.c - evaluates a descriptor for one shape and one device.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "kernel/registry.h"
#include "spec/pages.h"

/* Doubles hold whole numbers exactly up to here. */
#define WHOLE_MAX 0x1p53

/* One build: the plan, the two environments (D as compiled and D of the shape), the caller's err. */
struct build {
    struct plan *p;
    struct desc_env compiled, exact;
    const struct arch_limits *arch;
    const struct plan_regs *regs;
    struct err *why;
    enum status st; /* ST_OK, or the first refusal */
    bool brief;     /* no formulas */
};

/* Keeps the first refusal as the plan's reason and goes on, so that a screen can show the rest. */
static void refuse(struct build *b, enum status st, const struct err *err, const char *by)
{
    if (b->st != ST_OK)
        return;
    b->st = st;
    b->p->reason = xstrdup(err->text);
    b->p->blocked_by = by;
    if (b->why)
        *b->why = *err;
}

/* Expressions */

static char *formula(const struct expr *e, const struct desc_env *env)
{
    struct expr_env ee = desc_expr_env(env);
    struct str s = {0};
    str_addf(&s, "%s = ", expr_text(e));
    expr_substitute(e, &ee, &s);
    return str_take(&s);
}

/* One that the plan keeps. */
static char *kept_formula(const struct build *b, const struct expr *e)
{
    return b->brief ? NULL : formula(e, &b->compiled);
}

static enum status not_whole(const struct desc_env *env, const struct expr *e, const char *what,
                             double value, int64_t lo, struct err *err)
{
    char *text = formula(e, env);
    enum status st =
        isfinite(value) && value > WHOLE_MAX
            ? err_set(err, ST_NO, "%s: %s is beyond every machine: %s = %.3g", env->desc->name,
                      what, text, value)
        : isnan(value)
            ? err_set(err, ST_USAGE, "%s: %s of %s has no value: %s", env->desc->name, what,
                      env->desc->name, text)
            : err_set(err, ST_USAGE, "%s: %s must be a whole number from %lld on; %s gives %.6g",
                      env->desc->name, what, (long long)lo, text, value);
    free(text);
    return st;
}

/* A count that must be whole, such as bytes, threads, a side of the grid. INT_UNKNOWN if not. */
static int64_t eval_whole(struct build *b, const struct expr *e, const char *what, int64_t lo)
{
    struct expr_env ee = desc_expr_env(&b->compiled);
    struct err err = ERR_INIT;
    double value;
    enum status st = expr_eval(e, &ee, &value, &err);
    if (st == ST_OK && !(value >= (double)lo && value <= WHOLE_MAX && value == floor(value)))
        st = not_whole(&b->compiled, e, what, value, lo, &err);
    if (st == ST_OK)
        return (int64_t)value;
    refuse(b, st, &err, "kernel");
    return INT_UNKNOWN;
}

static double eval_real(struct build *b, const struct expr *e)
{
    struct expr_env ee = desc_expr_env(&b->exact);
    double value;
    return e && expr_eval(e, &ee, &value, NULL) == ST_OK ? value : REAL_UNKNOWN;
}

/* Shared memory */

static int64_t align_up(int64_t at, int64_t align)
{
    return (at + align - 1) / align * align;
}

static const struct plan_smem *find_buffer(const struct plan_pass *pass, const char *name)
{
    for (int i = 0; i < pass->nsmem; i++)
        if (!strcmp(pass->smem[i].name, name))
            return &pass->smem[i];
    return NULL;
}

int plan_buffers_held(const struct plan_pass *pass)
{
    int held = 0;
    for (int i = 0; i < pass->nsmem; i++)
        held += pass->smem[i].bytes != 0;
    return held;
}

static int64_t eval_part(struct build *b, const struct desc_smem *d, const struct expr *e,
                         const char *part)
{
    char what[80];
    snprintf(what, sizeof what, "%s of buffer %s", part, d->name);
    return e ? eval_whole(b, e, what, 1) : INT_UNKNOWN;
}

/* What a buffer holds, in words and numbers of this plan. */
static void take_elements(struct build *b, const struct desc_smem *d, struct plan_smem *out)
{
    const struct desc_elements *e = &d->elements;
    out->element_bytes = eval_part(b, d, e->bytes, "the element size");
    out->pitch = eval_part(b, d, e->pitch, "the pitch");
    out->rows = eval_part(b, d, e->rows, "the rows of a tile");
    out->swizzle = e->swizzle ? e->swizzle : INT_UNKNOWN;
    for (const struct desc_type *t = desc_types; e->type && t->name; t++)
        if (!strcmp(t->name, e->type)) {
            const enum dtype dtype = b->compiled.shape->dtype;
            out->type = t->bytes ? t->name : dtype_name(dtype);
            out->element_bytes = t->bytes ? t->bytes : (int64_t)dtype_size(dtype);
        }
}

/* Appends the buffers of one kind to the pass, from *end on; *end moves behind the last one. */
static void place_buffers(struct build *b, const struct desc_pass *dp, struct plan_pass *pass,
                          bool is_static, int64_t *end)
{
    for (int i = 0; i < dp->nsmem; i++) {
        const struct desc_smem *d = &dp->smem[i];
        if (d->is_static != is_static)
            continue;
        const struct plan_smem *base = d->over ? find_buffer(pass, d->over) : NULL;
        char what[64];
        snprintf(what, sizeof what, "the size of buffer %s", d->name);
        int64_t bytes = eval_whole(b, d->bytes, what, 0);
        int64_t at = base ? base->offset : align_up(*end, d->align);
        int64_t behind = at + (bytes == INT_UNKNOWN ? 0 : bytes);
        *end = behind > *end ? behind : *end;
        pass->smem[pass->nsmem++] = (struct plan_smem){
            .name = d->name,
            .doc = d->doc,
            .offset = at,
            .bytes = bytes,
            .is_static = is_static,
            .overlay = base != NULL,
            .formula = kept_formula(b, d->bytes),
        };
        take_elements(b, d, &pass->smem[pass->nsmem - 1]);
    }
}

/* The dynamic block begins at its largest alignment, so that offsets from its start hold. */
static void lay_out(struct build *b, const struct desc_pass *dp, struct plan_pass *pass)
{
    int64_t end = 0, align = 16;
    for (int i = 0; i < dp->nsmem; i++)
        if (!dp->smem[i].is_static && dp->smem[i].align > align)
            align = dp->smem[i].align;
    place_buffers(b, dp, pass, true, &end);
    pass->static_smem = end;
    pass->dynamic_base = end = align_up(end, align);
    place_buffers(b, dp, pass, false, &end);
    pass->dynamic_smem = end - pass->dynamic_base;
    if (pass->dynamic_smem)
        pass->static_smem = pass->dynamic_base;
}

/* Registers */

static void take_regs(struct plan_pass *pass, int regs, int spill_bytes, int static_smem,
                      const char *source, bool stale)
{
    pass->regs = regs;
    pass->spill_bytes = spill_bytes >= 0 ? spill_bytes : INT_UNKNOWN;
    pass->regs_source = source;
    pass->regs_stale = stale;
    if (!stale && static_smem >= 0)
        pass->static_smem = pass->dynamic_smem ? align_up(static_smem, 16) : static_smem;
}

static void find_regs(struct build *b, int index, struct plan_pass *pass)
{
    const struct plan *p = b->p;
    struct ptxas_row row;
    pass->regs = pass->spill_bytes = INT_UNKNOWN;
    if (b->regs && b->regs->regs[index] >= 0)
        take_regs(pass, b->regs->regs[index], b->regs->spill_bytes[index],
                  b->regs->static_smem[index], b->regs->source, false);
    else if (b->arch && ptxas_lookup(p->desc, pass->name, p->shape.dtype, p->shape.D, &p->params,
                                     b->arch->cc, &row))
        take_regs(pass, row.regs, row.spill_bytes, row.static_smem, "table", row.stale);
}

/* Launches */

/* Names the pass in front of a sentence unless it is the kernel itself. */
static void refuse_pass(struct build *b, const struct plan_pass *pass, const char *text,
                        const char *by)
{
    struct err err = ERR_INIT;
    const char *kernel = b->p->desc->name;
    if (pass == &b->p->passes[0])
        err_set(&err, ST_NO, "%s: %s", kernel, text);
    else
        err_set(&err, ST_NO, "%s, pass %s: %s", kernel, pass->name, text);
    refuse(b, ST_NO, &err, by);
}

/* Tensor maps */

/* With a swizzle a copy is as wide as that, and the kernel makes several for a row that is wider. The copy
 * engine moves 256 elements a side at most. */
static void map_tensors(struct build *b, const struct desc_pass *dp, struct plan_pass *pass)
{
    for (int i = 0; i < dp->ntma; i++) {
        const struct desc_tma *d = &dp->tma[i];
        struct plan_tma *t = &pass->tma[pass->ntma++];
        *t = (struct plan_tma){.tensor = d->tensor, .swizzle = d->swizzle};
        t->rows = eval_whole(b, d->rows, "the rows of a box", 1);
        t->columns = eval_whole(b, d->columns, "the columns of a box", 1);
        if (d->swizzle)
            t->columns = d->swizzle / (int64_t)dtype_size(b->p->shape.dtype);
        char text[96];
        snprintf(text, sizeof text, "a box of %c is %lld x %lld; the copy engine moves 256 x 256",
                 d->tensor, (long long)t->rows, (long long)t->columns);
        if (t->rows > 256 || t->columns > 256)
            refuse_pass(b, pass, text, "kernel");
    }
}

static void set_grid(struct build *b, const struct desc_pass *dp, struct plan_pass *pass)
{
    static const char *const sides[] = {"grid x", "grid y", "grid z"};
    static const int64_t most[] = {INT32_MAX, 65535, 65535};
    for (int i = 0; i < 3; i++) {
        pass->grid[i] = 1;
        if (!dp->grid[i])
            continue;
        pass->grid[i] = eval_whole(b, dp->grid[i], sides[i], 1);
        pass->grid_formula[i] = kept_formula(b, dp->grid[i]);
        if (pass->grid[i] <= most[i])
            continue;
        char text[96];
        snprintf(text, sizeof text, "%s is %lld; CUDA allows %lld", sides[i],
                 (long long)pass->grid[i], (long long)most[i]);
        refuse_pass(b, pass, text, "grid");
    }
}

static int64_t grid_blocks(const struct plan_pass *pass)
{
    int64_t blocks = 1;
    for (int i = 0; i < 3; i++) {
        if (pass->grid[i] == INT_UNKNOWN || __builtin_mul_overflow(blocks, pass->grid[i], &blocks))
            return INT_UNKNOWN;
    }
    return blocks;
}

/* The limit that leaves no room for a block, in the order in which a launch would fail. */
static const char *blocked_limit(const struct occupancy *o)
{
    return !o->limit_warps  ? "threads"
           : !o->limit_regs ? "regs"
           : !o->limit_smem ? "smem"
                            : "barriers";
}

/* A kernel with a parameter OPTIN leaves the 48 KiB default only when it is set. */
static bool without_optin(const struct plan *p)
{
    int i = desc_param_index(p->desc, "OPTIN");
    return i >= 0 && p->params.v[i] == 0;
}

/* `refused`: why the shared memory cannot be had, or NULL. */
static void set_occupancy(struct build *b, struct plan_pass *pass, const char *refused)
{
    const struct device *dev = b->p->device;
    occupancy_unknown(&pass->occ);
    if (!b->arch || pass->threads == INT_UNKNOWN)
        return;
    struct occ_request req = {
        .threads = pass->threads,
        .regs = pass->regs,
        .smem = pass->smem_bytes,
        .carveout = INT_UNKNOWN,
        .barriers = 1,
        .grid = grid_blocks(pass),
        .no_optin = without_optin(b->p),
        .smem_refused = refused,
        .device = dev->name,
    };
    occupancy_compute(b->arch, dev->sms, &req, &pass->occ);
    if (pass->occ.reason)
        refuse_pass(b, pass, pass->occ.reason, blocked_limit(&pass->occ));
}

/* Static arrays are part of the compiled kernel, and the compiler stops at the default limit. False,
 * with the sentence, if that is passed. */
static bool static_fits(struct build *b, const struct plan_pass *pass, char *why, size_t size)
{
    int64_t most = 48 * 1024;
    if (pass->static_smem <= most)
        return true;
    snprintf(why, size,
             "static buffers take %lld B; the compiler allows %lld B, more must be dynamic",
             (long long)pass->static_smem, (long long)most);
    refuse_pass(b, pass, why, "smem");
    return false;
}

static void build_pass(struct build *b, int index)
{
    const struct desc_pass *dp = &b->p->desc->passes[index];
    struct plan_pass *pass = &b->p->passes[index];
    pass->name = dp->name;
    pass->threads = eval_whole(b, dp->threads, "the number of threads", 1);
    pass->threads_formula = kept_formula(b, dp->threads);
    pass->cluster = dp->cluster ? eval_whole(b, dp->cluster, "the cluster size", 1) : 1;
    set_grid(b, dp, pass);
    lay_out(b, dp, pass);
    map_tensors(b, dp, pass);
    find_regs(b, index, pass);
    pass->smem_bytes = pass->static_smem + pass->dynamic_smem;
    char why[160];
    set_occupancy(b, pass, static_fits(b, pass, why, sizeof why) ? NULL : why);
}

static void build_passes(struct build *b)
{
    const struct kernel_desc *d = b->p->desc;
    while (b->p->npasses < d->npasses && d->passes[b->p->npasses].threads)
        build_pass(b, b->p->npasses++);
}

/* Traffic and roofline */

static void set_traffic(struct build *b)
{
    struct plan *p = b->p;
    const struct shape *s = &p->shape;
    double elems = 2.0 * (double)shape_q_elems(s) + 2.0 * (double)shape_kv_elems(s);
    const bool paged = desc_pages(p->desc, s);
    p->pool_bytes = paged ? 2 * (double)page_pool_bytes(s) : REAL_UNKNOWN;
    p->table_bytes = paged ? (double)page_table_bytes(s) : REAL_UNKNOWN;
    p->flops = shape_flops(s);
    p->requested_bytes = eval_real(b, p->desc->read) + eval_real(b, p->desc->write);
    p->compulsory_bytes = elems * (double)dtype_size(s->dtype) + (paged ? p->table_bytes : 0);
    p->requested_intensity = p->flops / p->requested_bytes;
    p->compulsory_intensity = p->flops / p->compulsory_bytes;
}

static void set_roof(struct plan *p)
{
    p->ridge = p->roof_us = p->peak_tflops = p->dram_gbs = REAL_UNKNOWN;
    if (!p->device)
        return;
    bool tensor = p->desc->unit == UNIT_TENSOR;
    p->peak_tflops = device_peak(p->device, p->shape.dtype, tensor, &p->peak_unit);
    p->dram_gbs = p->device->dram_gbs;
    p->ridge = p->peak_tflops * 1e12 / (p->dram_gbs * 1e9);
    if (isnan(p->ridge))
        return;
    p->bound = p->compulsory_intensity < p->ridge ? "memory" : "compute";
    double memory_us = p->compulsory_bytes / (p->dram_gbs * 1e3);
    double compute_us = p->flops / (p->peak_tflops * 1e6);
    p->roof_us = fmax(memory_us, compute_us);
}

const char *plan_roof_note(const struct plan *p)
{
    if (!p->device || !p->peak_unit)
        return NULL;
    if (isnan(p->peak_tflops))
        return "the device table has no such rate";
    if (p->desc->unit == UNIT_SCALAR && p->shape.dtype != DTYPE_F32)
        return "a kernel without tensor instructions cannot reach the tensor roof";
    return NULL;
}

/* Tensors and workspaces must fit into the card. */
static void check_memory(struct build *b)
{
    const struct plan *p = b->p;
    const double T = (double)dtype_size(p->shape.dtype);
    const struct page_pool pages = shape_pool(&p->shape);
    const double kv = desc_pages(p->desc, &p->shape)
                          ? (double)(pages.total * p->shape.Hkv * pages.size * p->shape.D)
                          : (double)shape_kv_elems(&p->shape);
    const double tensors = 2 * T * ((double)shape_q_elems(&p->shape) + kv);
    double workspace = 0;
    char need[NUMBER_BUF], of[NUMBER_BUF], has[NUMBER_BUF];
    struct err err = ERR_INIT;
    for (int i = 0; i < p->desc->nws; i++)
        workspace += (double)p->ws_bytes[i];
    if (!p->device || !(p->device->memory_bytes > 0) ||
        tensors + workspace <= p->device->memory_bytes)
        return;
    err_set(
        &err, ST_NO, "%s needs %s of memory, %s of it for scores and partial results; %s has %s",
        p->desc->name, number_fmt_bytes(need, tensors + workspace), number_fmt_bytes(of, workspace),
        p->device->name, number_fmt_bytes(has, p->device->memory_bytes));
    refuse(b, ST_NO, &err, "memory");
}

/* What cannot run occupies nothing, whatever would fit; where that is what stops it, its limits say why. What it asks
 * for and what the device could do stay. */
static void forget_occupancy(struct plan *p)
{
    for (int i = 0; p->reason && i < p->npasses; i++)
        if (!p->passes[i].occ.reason)
            occupancy_unknown(&p->passes[i].occ);
}

/* Public */

static enum status build(const struct kernel_desc *d, const struct shape *s,
                         const struct param_values *v, const struct device *dev,
                         const struct plan_regs *regs, bool brief, struct plan *out,
                         struct err *why)
{
    *out = (struct plan){.desc = d, .device = dev, .shape = *s};
    out->params = v ? *v : desc_defaults_for(d, s);
    struct build b = {.p = out, .regs = regs, .why = why, .st = ST_OK, .brief = brief};
    b.arch = dev && dev->cc ? arch_find(dev->cc) : NULL;
    b.exact = (struct desc_env){
        .desc = d, .shape = &out->shape, .params = &out->params, .sm = dev ? dev->cc : 0};
    b.compiled = b.exact;
    b.compiled.compiled_d = true;
    struct err err = ERR_INIT;
    enum status st = desc_supports(d, s, &out->params, b.exact.sm, &err);
    if (d->peer && !d->passes[0].threads)
        st = err_set(&err, ST_NO, "%s launches its kernels by itself: there is no plan to show",
                     d->name);
    if (st != ST_OK)
        refuse(&b, st, &err, "kernel");
    build_passes(&b);
    for (int i = 0; i < d->nws; i++)
        out->ws_bytes[i] = eval_whole(&b, d->ws[i].bytes, "a workspace's size", 0);
    check_memory(&b);
    forget_occupancy(out);
    set_traffic(&b);
    set_roof(out);
    return b.st;
}

enum status plan_build(const struct kernel_desc *d, const struct shape *s,
                       const struct param_values *v, const struct device *dev,
                       const struct plan_regs *regs, struct plan *out, struct err *why)
{
    return build(d, s, v, dev, regs, false, out, why);
}

enum status plan_brief(const struct kernel_desc *d, const struct shape *s,
                       const struct param_values *v, const struct device *dev,
                       const struct plan_regs *regs, struct plan *out, struct err *why)
{
    return build(d, s, v, dev, regs, true, out, why);
}

static void clear_pass(struct plan_pass *pass)
{
    for (int i = 0; i < pass->nsmem; i++)
        free(pass->smem[i].formula);
    for (int i = 0; i < 3; i++)
        free(pass->grid_formula[i]);
    free(pass->threads_formula);
    occupancy_clear(&pass->occ);
}

void plan_clear(struct plan *p)
{
    for (int i = 0; i < p->npasses; i++)
        clear_pass(&p->passes[i]);
    free(p->reason);
    free(p->regs_reason);
    *p = (struct plan){0};
}

bool plan_lacks_regs(const struct plan *p)
{
    for (int i = 0; p->device && p->device->cc && !p->reason && i < p->npasses; i++)
        if (p->passes[i].regs == INT_UNKNOWN || p->passes[i].regs_stale)
            return true;
    return false;
}

bool plan_metric_needs_regs(const char *metric)
{
    static const char *const names[] = {
        "regs",         "spill_bytes",   "limit_regs", "blocks_per_sm",
        "active_warps", "occupancy_pct", "waves",      NULL};
    for (const char *const *name = names; *name; name++)
        if (!strcmp(*name, metric))
            return true;
    return false;
}

/* Definitions */

struct words {
    char **items;
    size_t count, cap;
};

__attribute__((format(printf, 2, 3))) static void add_word(struct words *w, const char *fmt, ...)
{
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    void *items = w->items;
    xgrow(&items, &w->cap, w->count + 2, sizeof *w->items);
    w->items = items;
    w->items[w->count++] = str_take(&s);
    w->items[w->count] = NULL;
}

static void define_pass(struct words *w, const struct plan_pass *pass, bool first)
{
    if (first)
        add_word(w, "-DATTN_THREADS=%lld", (long long)pass->threads);
    else
        add_word(w, "-DATTN_THREADS_%s=%lld", pass->name, (long long)pass->threads);
    for (int i = 0; i < pass->nsmem; i++)
        if (!pass->smem[i].is_static)
            add_word(w, "-DSMEM_%s=%lld", pass->smem[i].name,
                     (long long)(pass->smem[i].offset - pass->dynamic_base));
}

char **plan_definitions(const struct plan *p)
{
    struct words w = {0};
    add_word(&w, "-DATTN_D=%lld", (long long)desc_compiled_d(p->shape.D));
    add_word(&w, "-DATTN_DTYPE=%d", (int)p->shape.dtype);
    for (int i = 0; i < p->desc->nparams; i++)
        add_word(&w, "-DP_%s=%lld", p->desc->params[i].name, (long long)p->params.v[i]);
    for (int i = 0; i < p->npasses; i++)
        define_pass(&w, &p->passes[i], i == 0);
    for (int i = 0; i < p->desc->nws; i++)
        add_word(&w, "-DWS_%s=%d", p->desc->ws[i].name, i);
    if (p->parts_f32)
        add_word(&w, "-DATTN_PARTS_F32=1");
    return w.items;
}
