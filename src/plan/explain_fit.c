/* explain_fit.c - what fits on an SM, and why: grid, threads, registers, shared memory, occupancy.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/explain.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

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

const struct metric explain_fit[] = {
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
