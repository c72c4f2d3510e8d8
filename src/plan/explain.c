/* explain.c - every figure of a plan with its formula and the values put in: what fits on an SM and why,
 * operations and bytes, and the roof above them. One function each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "spec/shape.h"

/* What the functions look at, gathered once. */
struct view {
    const struct plan *p;
    const struct plan_pass *pass; /* the main one; NULL for a CPU kernel */
    const struct occupancy *occ;
    const struct arch_limits *arch; /* NULL: no CUDA device */
    struct str *out;
};

/* One figure: its name, and the function that writes its lines. */
struct metric {
    const char *name; /* NULL ends the table */
    void (*explain)(const struct view *v);
};

/* Whole numbers print as %s, so that unknown ones can be "-". */
#define NUM(value)          number_fmt_int((char[NUMBER_BUF]){0}, (value))
#define REAL(value, digits) number_fmt((char[NUMBER_BUF]){0}, (value), (digits))
#define BYTES(value)        number_fmt_bytes((char[NUMBER_BUF]){0}, (value))

/* Appends one line. */
__attribute__((format(printf, 2, 3))) static void explain_line(const struct view *v,
                                                               const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(v->out, fmt, ap);
    va_end(ap);
    str_addc(v->out, '\n');
}

/* "Sq/BR = 1024/64 = 16", but "H = 8" and not "H = 8 = 8". */
static void explain_formula(const struct view *v, const char *name, const char *formula,
                            int64_t value, const char *tail)
{
    const char *values = formula;
    for (const char *at = formula; (at = strstr(at, " = "));)
        values = at += 3;
    bool same = !strcmp(values, NUM(value));
    explain_line(v, "%s = %s%s%s%s", name, formula, same ? "" : " = ", same ? "" : NUM(value),
                 tail);
}

static const char *explain_device(const struct view *v)
{
    return v->p->device ? v->p->device->name : "no device";
}

/* ---- what fits on an SM: grid, threads, registers, shared memory, occupancy ---- */

/* Occupancy needs a CUDA device and a launch; says so and returns false without one. */
static bool has_arch(const struct view *v, const char *metric)
{
    if (!v->pass)
        explain_line(v, "%s is unknown: %s runs on the CPU and launches nothing.", metric,
                     v->p->desc->name);
    else if (!v->arch)
        explain_line(v, "%s is unknown: for %s only the roofline is modelled.", metric,
                     explain_device(v));
    else if (v->occ->blocks_per_sm == INT_UNKNOWN)
        explain_line(v, "%s is unknown: %s.", metric, v->p->reason);
    else
        return true;
    return false;
}

/* Without registers the figures that follow from them only bound the truth. */
static bool is_bound(const struct view *v)
{
    return v->occ->upper_bound == 1;
}

static const char *at_most(const struct view *v)
{
    return is_bound(v) ? "<=" : "=";
}

static void note_bound(const struct view *v)
{
    if (is_bound(v))
        explain_line(v, "A bound: the registers are unknown and may limit more.");
}

static void explain_warps_of_block(const struct view *v)
{
    explain_line(v, "warps of a block = ceil(threads / 32) = ceil(%s / 32) = %s",
                 NUM(v->pass->threads), NUM(v->occ->warps));
}

static void explain_limit_blocks(const struct view *v)
{
    if (!has_arch(v, "limit_blocks"))
        return;
    explain_line(v, "limit_blocks = %s", NUM(v->occ->limit_blocks));
    explain_line(v, "An SM of compute capability %d.%d holds at most %d blocks, however small.",
                 v->arch->cc / 10, v->arch->cc % 10, v->arch->max_blocks);
}

static void explain_limit_warps(const struct view *v)
{
    if (!has_arch(v, "limit_warps"))
        return;
    explain_warps_of_block(v);
    explain_line(v, "limit_warps = floor(warps of an SM / warps of a block) = floor(%d / %s) = %s",
                 v->arch->max_warps, NUM(v->occ->warps), NUM(v->occ->limit_warps));
}

static void explain_limit_regs(const struct view *v)
{
    if (!has_arch(v, "limit_regs"))
        return;
    if (v->pass->regs == INT_UNKNOWN) {
        explain_line(v,
                     "limit_regs is unknown: registers are never guessed, and no table row and no "
                     "compile gives them for sm_%d with these parameters.",
                     v->arch->cc);
        return;
    }
    int64_t per_partition = v->arch->regs / v->arch->partitions, unit = v->arch->reg_unit;
    int64_t per_warp = (v->pass->regs * 32 + unit - 1) / unit * unit;
    explain_warps_of_block(v);
    explain_line(
        v, "registers of a warp = registers of a thread * 32, rounded up to %s = %s * 32 -> %s",
        NUM(unit), NUM(v->pass->regs), NUM(per_warp));
    explain_line(
        v, "warps of a partition = floor(%d registers / %d partitions / %s) = floor(%s / %s) = %s",
        v->arch->regs, v->arch->partitions, NUM(per_warp), NUM(per_partition), NUM(per_warp),
        NUM(per_partition / per_warp));
    explain_line(v, "limit_regs = floor(partitions * warps of a partition / warps of a block)");
    explain_line(v, "           = floor(%d * %s / %s) = %s", v->arch->partitions,
                 NUM(per_partition / per_warp), NUM(v->occ->warps), NUM(v->occ->limit_regs));
}

static void explain_smem_per_block(const struct view *v)
{
    if (!has_arch(v, "smem_per_block_bytes"))
        return;
    explain_line(v, "smem_per_block_bytes = static + dynamic + reserved, rounded up to %d",
                 v->arch->smem_unit);
    explain_line(v, "                     = %s + %s + %s -> %s", NUM(v->pass->static_smem),
                 NUM(v->pass->dynamic_smem), NUM(v->occ->reserved_bytes),
                 NUM(v->occ->smem_per_block_bytes));
}

static void explain_limit_smem(const struct view *v)
{
    if (!has_arch(v, "limit_smem"))
        return;
    explain_smem_per_block(v);
    if (!v->occ->limit_smem && v->occ->reason &&
        v->occ->smem_per_block_bytes <= v->occ->carveout_bytes)
        explain_line(v, "limit_smem = 0, though an SM would have room: %s.", v->occ->reason);
    else
        explain_line(v, "limit_smem = floor(carve-out of the SM / that) = floor(%s / %s) = %s",
                     NUM(v->occ->carveout_bytes), NUM(v->occ->smem_per_block_bytes),
                     NUM(v->occ->limit_smem));
}

static void explain_limit_barriers(const struct view *v)
{
    if (!has_arch(v, "limit_barriers"))
        return;
    if (v->occ->limit_barriers == INT_UNKNOWN)
        explain_line(v,
                     "limit_barriers: named barriers do not limit before compute capability 9.0.");
    else
        explain_line(
            v,
            "limit_barriers = floor(barriers of an SM / barriers of a block) = floor(%d / 1) "
            "= %s",
            v->arch->barriers, NUM(v->occ->limit_barriers));
}

static void explain_blocks_per_sm(const struct view *v)
{
    if (!has_arch(v, "blocks_per_sm"))
        return;
    bool barriers = v->occ->limit_barriers != INT_UNKNOWN;
    explain_line(v, "blocks_per_sm = min(limit_blocks, limit_regs, limit_smem, limit_warps%s)",
                 barriers ? ", limit_barriers" : "");
    explain_line(v, "              %s min(%s, %s, %s, %s%s%s) = %s", at_most(v),
                 NUM(v->occ->limit_blocks), NUM(v->occ->limit_regs), NUM(v->occ->limit_smem),
                 NUM(v->occ->limit_warps), barriers ? ", " : "",
                 barriers ? NUM(v->occ->limit_barriers) : "", NUM(v->occ->blocks_per_sm));
    note_bound(v);
    if (v->occ->reason)
        explain_line(v, "It cannot be launched: %s.", v->occ->reason);
}

static void explain_limiter(const struct view *v)
{
    if (!has_arch(v, "limiter"))
        return;
    explain_blocks_per_sm(v);
    struct str names = {0};
    for (unsigned bit = OCC_BLOCKS; bit <= OCC_BARRIERS; bit <<= 1)
        if (v->occ->limiter & bit)
            str_addf(&names, "%s%s", names.len ? ", " : "",
                     occ_limiter_name((enum occ_limiter)bit));
    explain_line(v, "limiter = what reaches the minimum: %s", str_text(&names));
    str_free(&names);
}

static void explain_active_warps(const struct view *v)
{
    if (!has_arch(v, "active_warps"))
        return;
    explain_line(v, "active_warps = blocks per SM * warps of a block %s %s * %s = %s", at_most(v),
                 NUM(v->occ->blocks_per_sm), NUM(v->occ->warps), NUM(v->occ->active_warps));
}

static void explain_active_warps_only(const struct view *v)
{
    explain_active_warps(v);
    if (v->arch && v->pass)
        note_bound(v);
}

static void explain_occupancy_pct(const struct view *v)
{
    if (!has_arch(v, "occupancy_pct"))
        return;
    explain_active_warps(v);
    explain_line(v, "occupancy_pct = 100 * active_warps / warps of an SM %s 100 * %s / %d = %s %%",
                 at_most(v), NUM(v->occ->active_warps), v->arch->max_warps,
                 REAL(v->occ->occupancy_pct, 4));
    note_bound(v);
}

static void explain_grid(const struct view *v)
{
    if (!v->pass) {
        has_arch(v, "grid");
        return;
    }
    for (int i = 0; i < 3; i++)
        if (v->pass->grid_formula[i])
            explain_line(v, "grid %c = %s = %s", "xyz"[i], v -> pass -> grid_formula[i],
                         NUM(v->pass->grid[i]));
    explain_line(v, "blocks = %s * %s * %s", NUM(v->pass->grid[0]), NUM(v->pass->grid[1]),
                 NUM(v->pass->grid[2]));
}

static void explain_waves(const struct view *v)
{
    if (!has_arch(v, "waves"))
        return;
    double blocks = v->occ->waves * (double)v->occ->blocks_per_sm * v->p->device->sms;
    explain_line(v, "slots = blocks per SM * SMs %s %s * %d = %s", at_most(v),
                 NUM(v->occ->blocks_per_sm), v->p->device->sms,
                 NUM(v->occ->blocks_per_sm * v->p->device->sms));
    explain_line(v, "waves = blocks of the grid / slots %s %s / %s = %s", is_bound(v) ? ">=" : "=",
                 REAL(blocks, 12), NUM(v->occ->blocks_per_sm * v->p->device->sms),
                 REAL(v->occ->waves, 3));
    note_bound(v);
    if (v->occ->waves < 1 && !is_bound(v))
        explain_line(v, "Less than one wave: some SMs, or some of their slots, stay empty.");
}

static void explain_reserved(const struct view *v)
{
    if (has_arch(v, "reserved_bytes"))
        explain_line(
            v,
            "reserved_bytes = %d: what the system takes of every block's shared memory from "
            "compute capability 8.0 on",
            v->arch->smem_reserved);
}

static void explain_carveout(const struct view *v)
{
    if (!has_arch(v, "carveout_bytes"))
        return;
    struct str sizes = {0};
    for (int i = 0; i < CARVEOUTS_MAX && v->arch->carveouts[i] >= 0; i++)
        str_addf(&sizes, " %d", v->arch->carveouts[i] / 1024);
    explain_line(v,
                 "carveout_bytes = %s: the SM's shared memory; what it does not take serves as L1",
                 NUM(v->occ->carveout_bytes));
    explain_line(v, "possible sizes, in KiB:%s", str_text(&sizes));
    str_free(&sizes);
}

static void explain_needs_optin(const struct view *v)
{
    if (!has_arch(v, "needs_optin"))
        return;
    bool over = v->pass->smem_bytes > v->arch->smem_default;
    explain_line(v, "needs_optin = %s B > %d B = %s", NUM(v->pass->smem_bytes),
                 v->arch->smem_default, over ? "yes" : "no");
    if (over && v->pass->static_smem > v->arch->smem_default)
        explain_line(v, "No opt-in helps: %s.", v->occ->reason ? v->occ->reason : "it is static");
    else if (over)
        explain_line(v, "%s B is over the %d KiB default (%d B); with opt-in %s allows %d B.",
                     NUM(v->pass->smem_bytes), v->arch->smem_default / 1024, v->arch->smem_default,
                     explain_device(v), v->arch->smem_optin);
}

/* Launch */

static void explain_threads(const struct view *v)
{
    if (v->pass)
        explain_formula(v, "threads", v->pass->threads_formula, v->pass->threads, "");
    else
        has_arch(v, "threads");
}

static void explain_smem(const struct view *v)
{
    if (!v->pass) {
        has_arch(v, "smem");
        return;
    }
    for (int i = 0; i < v->pass->nsmem; i++) {
        const struct plan_smem *b = &v->pass->smem[i];
        char name[80];
        snprintf(name, sizeof name, "%-10s at %6s", b->name, NUM(b->offset));
        explain_formula(v, name, b->formula, b->bytes,
                        b->is_static ? " B, static"
                        : b->overlay ? " B, over another buffer"
                                     : " B");
    }
    explain_line(v, "smem_bytes = static + dynamic = %s + %s = %s", NUM(v->pass->static_smem),
                 NUM(v->pass->dynamic_smem), NUM(v->pass->smem_bytes));
}

static void explain_regs(const struct view *v)
{
    if (!v->pass || v->pass->regs == INT_UNKNOWN) {
        explain_line(
            v, "regs is unknown: registers are never guessed. A compile (NVRTC or nvcc) or a row "
               "of kernels/cuda/ptxas.tsv for these very parameters gives them.");
        if (v->p->regs_reason)
            explain_line(v, "Here: %s.", v->p->regs_reason);
        return;
    }
    explain_line(v, "regs = %s a thread, spills %s B, from %s%s", NUM(v->pass->regs),
                 NUM(v->pass->spill_bytes), v->pass->regs_source,
                 v->pass->regs_stale ? " (stale: the source has changed since)" : "");
}

static void explain_workspace(const struct view *v)
{
    const struct kernel_desc *d = v->p->desc;
    if (!d->nws)
        explain_line(v, "workspace: %s needs none.", d->name);
    for (int i = 0; i < d->nws; i++)
        explain_line(v, "%s = %s = %s B: %s", d->ws[i].name, expr_text(d->ws[i].bytes),
                     NUM(v->p->ws_bytes[i]), d->ws[i].doc);
}

static const struct metric explain_fit[] = {
    // clang-format off
    {"limit_blocks",         explain_limit_blocks},
    {"limit_regs",           explain_limit_regs},
    {"limit_smem",           explain_limit_smem},
    {"limit_warps",          explain_limit_warps},
    {"limit_barriers",       explain_limit_barriers},
    {"limiter",              explain_limiter},
    {"blocks_per_sm",        explain_blocks_per_sm},
    {"active_warps",         explain_active_warps_only},
    {"occupancy_pct",        explain_occupancy_pct},
    {"waves",                explain_waves},
    {"smem_per_block_bytes", explain_smem_per_block},
    {"reserved_bytes",       explain_reserved},
    {"carveout_bytes",       explain_carveout},
    {"needs_optin",          explain_needs_optin},
    {"grid",                 explain_grid},
    {"threads",              explain_threads},
    {"smem",                 explain_smem},
    {"smem_bytes",           explain_smem},
    {"regs",                 explain_regs},
    {"workspace",            explain_workspace},
    {0},
    // clang-format on
};

/* ---- operations, bytes, and the roof above them ---- */

static void explain_flops(const struct view *v)
{
    const struct shape *s = &v->p->shape;
    explain_line(v, "flops = 4 * B * H * pairs * D: a multiply and an add, for Q K^T and for P V");
    if (s->causal)
        explain_line(v, "pairs = (query, key) pairs that the causal mask leaves = %s of %s * %s",
                     REAL(shape_pairs(s), 15), NUM(s->Sq), NUM(s->Sk));
    else
        explain_line(v, "pairs = Sq * Sk = %s * %s", NUM(s->Sq), NUM(s->Sk));
    explain_line(v, "flops = 4 * %s * %s * %s * %s = %s", NUM(s->B), NUM(s->H),
                 REAL(shape_pairs(s), 15), NUM(s->D), REAL(v->p->flops, 6));
}

/* "read = EXPR = VALUES = BYTES", evaluated with the shape's D. */
static void explain_traffic_part(const struct view *v, const char *name, const struct expr *e)
{
    struct desc_env env = {.desc = v->p->desc,
                           .shape = &v->p->shape,
                           .params = &v->p->params,
                           .sm = v->p->device ? v->p->device->cc : 0};
    struct expr_env ee = desc_expr_env(&env);
    struct str values = {0};
    double bytes = REAL_UNKNOWN;
    expr_substitute(e, &ee, &values);
    expr_eval(e, &ee, &bytes, NULL);
    explain_line(v, "%-5s = %s", name, expr_text(e));
    explain_line(v, "      = %s", str_text(&values));
    explain_line(v, "      = %s B (%s)", REAL(bytes, 15), BYTES(bytes));
    str_free(&values);
}

static void explain_requested_bytes(const struct view *v)
{
    explain_line(v, "requested_bytes: what the blocks ask of global memory, before any cache");
    if (isnan(v->p->requested_bytes)) {
        explain_line(v, "unknown: the descriptor of %s has no @traffic", v->p->desc->name);
        return;
    }
    explain_traffic_part(v, "read", v->p->desc->read);
    explain_traffic_part(v, "write", v->p->desc->write);
    explain_line(v, "sum   = %s B, %s times the compulsory bytes", REAL(v->p->requested_bytes, 15),
                 REAL(v->p->requested_bytes / v->p->compulsory_bytes, 3));
}

static void explain_compulsory_bytes(const struct view *v)
{
    const struct shape *s = &v->p->shape;
    explain_line(
        v,
        "compulsory_bytes = (Q + K + V + O) * T: each tensor moved once, as no kernel can avoid");
    explain_line(v, "Q = O = B*H*Sq*D = %s*%s*%s*%s, K = V = B*Hkv*Sk*D = %s*%s*%s*%s, T = %zu",
                 NUM(s->B), NUM(s->H), NUM(s->Sq), NUM(s->D), NUM(s->B), NUM(s->Hkv), NUM(s->Sk),
                 NUM(s->D), dtype_size(s->dtype));
    if (desc_pages(v->p->desc, s))
        explain_line(v, "and the block table, %s B: where K and V lie is read, too",
                     REAL(v->p->table_bytes, 15));
    explain_line(v, "compulsory_bytes = %s (%s)", REAL(v->p->compulsory_bytes, 15),
                 BYTES(v->p->compulsory_bytes));
}

static bool explain_no_pages(const struct view *v)
{
    if (desc_pages(v->p->desc, &v->p->shape))
        return false;
    explain_line(v,
                 v->p->shape.page
                     ? "unknown: %s reads a contiguous copy, and no pages"
                     : "unknown: K and V of %s are contiguous; page=N puts them into pages",
                 v->p->desc->name);
    return true;
}

static void explain_pool_bytes(const struct view *v)
{
    const struct shape *s = &v->p->shape;
    const struct page_pool pages = shape_pool(s);
    explain_line(v, "pool_bytes: memory of the pages of K and V, and of what in them is empty");
    if (explain_no_pages(v))
        return;
    explain_line(v, "a sequence has ceil(Sk/page) = ceil(%s/%s) = %s pages, B = %s of them use %s",
                 NUM(s->Sk), NUM(s->page), NUM(pages.each), NUM(s->B), NUM(pages.used));
    explain_line(v, "of a pool of %s: an eighth more and one, which are nobody's",
                 NUM(pages.total));
    explain_line(v, "pool_bytes = 2*pages*Hkv*page*D*T = 2*%s*%s*%s*%s*%zu = %s (%s)",
                 NUM(pages.total), NUM(s->Hkv), NUM(s->page), NUM(s->D), dtype_size(s->dtype),
                 REAL(v->p->pool_bytes, 15), BYTES(v->p->pool_bytes));
}

static void explain_table_bytes(const struct view *v)
{
    const struct page_pool pages = shape_pool(&v->p->shape);
    explain_line(
        v, "table_bytes: the block table, one page number of 4 B for each page of a sequence");
    if (explain_no_pages(v))
        return;
    explain_line(v, "table_bytes = B*ceil(Sk/page)*4 = %s*%s*4 = %s", NUM(v->p->shape.B),
                 NUM(pages.each), REAL(v->p->table_bytes, 15));
}

static void explain_intensity(const struct view *v, const char *kind, double bytes, double value)
{
    explain_line(v, "%s_intensity = flops / %s_bytes = %s / %s = %s FLOP/B", kind, kind,
                 REAL(v->p->flops, 6), REAL(bytes, 15), REAL(value, 4));
}

static void explain_requested_intensity(const struct view *v)
{
    explain_intensity(v, "requested", v->p->requested_bytes, v->p->requested_intensity);
}

static void explain_compulsory_intensity(const struct view *v)
{
    explain_intensity(v, "compulsory", v->p->compulsory_bytes, v->p->compulsory_intensity);
}

static void explain_peak(const struct view *v)
{
    const struct plan *p = v->p;
    const struct device *d = p->device;
    if (!d) {
        explain_line(v, "peak_tflops is unknown: no device is chosen.");
        return;
    }
    explain_line(v, "peak_tflops = %s on %s (%s, dense)", REAL(p->peak_tflops, 4), d->name,
                 p->peak_unit);
    if (!strcmp(p->peak_unit, "fp32") && d->fp32_lanes)
        explain_line(v, "            ~ SMs * lanes * 2 * clock = %d * %d * 2 * %s MHz", d->sms,
                     d->fp32_lanes, REAL(d->clock_mhz, 5));
    else if (!strcmp(p->peak_unit, "tensor") && d->tensor_flops)
        explain_line(v, "            ~ SMs * FLOP per clock * clock = %d * %d * %s MHz", d->sms,
                     d->tensor_flops, REAL(d->tensor_clock_mhz, 5));
    if (plan_roof_note(p))
        explain_line(v, "Note: %s.", plan_roof_note(p));
}

static void explain_dram(const struct view *v)
{
    explain_line(v, "dram_gbs = %s GB/s on %s (10^9 bytes)", REAL(v->p->dram_gbs, 5),
                 explain_device(v));
}

static void explain_ridge(const struct view *v)
{
    explain_line(
        v,
        "ridge = peak / bandwidth: from this intensity on, arithmetic and not memory is the roof");
    explain_line(v, "      = %s TFLOP/s / %s GB/s = %s FLOP/B", REAL(v->p->peak_tflops, 4),
                 REAL(v->p->dram_gbs, 5), REAL(v->p->ridge, 4));
}

static void explain_bound(const struct view *v)
{
    const struct plan *p = v->p;
    explain_ridge(v);
    explain_compulsory_intensity(v);
    if (p->bound)
        explain_line(v, "bound = %s, because %s %s %s", p->bound, REAL(p->compulsory_intensity, 4),
                     p->compulsory_intensity < p->ridge ? "<" : ">=", REAL(p->ridge, 4));
    else
        explain_line(v, "bound is unknown: the peak or the bandwidth is.");
    if (plan_roof_note(p))
        explain_line(v, "Note: %s.", plan_roof_note(p));
}

static void explain_roof(const struct view *v)
{
    const struct plan *p = v->p;
    explain_line(
        v, "roof_us = max(compulsory bytes / bandwidth, flops / peak): no kernel of this kind is "
           "faster");
    explain_line(v, "        = max(%s B / %s GB/s, %s FLOP / %s TFLOP/s)",
                 REAL(p->compulsory_bytes, 15), REAL(p->dram_gbs, 5), REAL(p->flops, 6),
                 REAL(p->peak_tflops, 4));
    explain_line(v, "        = max(%s us, %s us) = %s us",
                 REAL(p->compulsory_bytes / (p->dram_gbs * 1e3), 4),
                 REAL(p->flops / (p->peak_tflops * 1e6), 4), REAL(p->roof_us, 4));
}

/* The table */

static const struct metric explain_work[] = {
    // clang-format off
    {"flops",                explain_flops},
    {"requested_bytes",      explain_requested_bytes},
    {"compulsory_bytes",     explain_compulsory_bytes},
    {"pool_bytes",           explain_pool_bytes},
    {"table_bytes",          explain_table_bytes},
    {"requested_intensity",  explain_requested_intensity},
    {"compulsory_intensity", explain_compulsory_intensity},
    {"peak_tflops",          explain_peak},
    {"dram_gbs",             explain_dram},
    {"ridge",                explain_ridge},
    {"bound",                explain_bound},
    {"roof_us",              explain_roof},
    {0},
    // clang-format on
};

/* ---- all of them ---- */

static const struct metric *metric_at(size_t i)
{
    for (const struct metric *m = explain_fit; m->name; m++)
        if (i-- == 0)
            return m;
    for (const struct metric *m = explain_work; m->name; m++)
        if (i-- == 0)
            return m;
    return NULL;
}

const char *plan_metric_name(const void *unused, size_t i)
{
    (void)unused;
    const struct metric *m = metric_at(i);
    return m ? m->name : NULL;
}

enum status plan_explain(const struct plan *p, const char *metric, struct str *out, struct err *err)
{
    const struct plan_pass *pass = p->npasses ? &p->passes[p->main_pass] : NULL;
    struct view v = {.p = p, .pass = pass, .occ = pass ? &pass->occ : NULL, .out = out};
    v.arch = p->device && p->device->cc ? arch_find(p->device->cc) : NULL;
    const struct metric *m;
    for (size_t i = 0; (m = metric_at(i)); i++)
        if (!strcmp(metric, m->name)) {
            m->explain(&v);
            return ST_OK;
        }
    const char *near = str_nearest(metric, plan_metric_name, NULL);
    return err_set(err, ST_USAGE, "nothing to explain under \"%s\"%s%s%s", metric,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}
