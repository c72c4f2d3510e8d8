/* explore_planned.c - the panes of Explore that show the plan: shared memory, occupancy, roofline,
 * why. Nothing here was measured.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/explore_planned.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "draw/figures.h"
#include "tui/kit/flow.h"

static const struct plan_pass *main_pass(const struct plan *p)
{
    return p && p->npasses > 0 ? &p->passes[p->main_pass] : NULL;
}

void planned_smem(struct canvas *c, struct rect r, const struct explore_view *v)
{
    const struct plan_pass *p = main_pass(v->plan);
    if (p) /* without a known limit there is no bar, only what the kernel asks for */
        fig_smem(c, r, p, v->arch ? v->arch->smem_optin : 0);
    else
        canvas_wrap(c, r, ROLE_DIM, v->no_plan ? v->no_plan : "");
}

static void occ_kernel(struct flow *f, const struct plan_pass *p)
{
    char b[NUMBER_BUF];
    flow_item(f, "regs/thread", ROLE_NORMAL, "%s%s%s", number_fmt_int(b, p->regs),
              p->regs_source ? " " : "",
              p->regs_stale    ? "(stale table)"
              : p->regs_source ? p->regs_source
                               : "");
    flow_item(f, "threads", ROLE_NORMAL, "%s", number_fmt_int(b, p->threads));
    flow_item(f, "spills", p->spill_bytes > 0 ? ROLE_WARN : ROLE_NORMAL, "%s",
              p->spill_bytes == INT_UNKNOWN ? "-" : number_fmt_bytes(b, (double)p->spill_bytes));
    flow_line(f);
}

/* The grid on one row, in the longest form that fits: a wrapped row would push out the roofline. */
static void occ_grid(struct flow *f, const struct plan *plan, const struct plan_pass *p)
{
    char b[NUMBER_BUF], dims[72], last[40] = "", of[40] = "", waves[NUMBER_BUF + 8] = "";
    long long blocks = (long long)(p->grid[0] * p->grid[1] * p->grid[2]);
    snprintf(dims, sizeof dims, "%lldx%lldx%lld = ", (long long)p->grid[0], (long long)p->grid[1],
             (long long)p->grid[2]);
    if (!isnan(p->occ.waves)) {
        double whole = floor(p->occ.waves), tail = p->occ.waves - whole;
        snprintf(waves, sizeof waves, "%s waves", number_fmt(b, p->occ.waves, 3));
        snprintf(of, sizeof of, " of %lld", (long long)(p->occ.blocks_per_sm * plan->device->sms));
        if (tail > 0 && whole > 0)
            snprintf(last, sizeof last, "last %.0f%% full", tail * 100);
    }
    int need = snprintf(NULL, 0, "grid %lld blocks  %s  %s", blocks, waves, last);
    bool room_dims = need + (int)strlen(dims) <= f->r.w;
    bool room_of = need + (int)(strlen(dims) + strlen(of)) <= f->r.w;
    flow_item(f, "grid", ROLE_NORMAL, "%s%lld blocks", room_dims ? dims : "", blocks);
    if (*waves)
        flow_item(f, NULL, p->occ.waves < 1 ? ROLE_WARN : ROLE_NORMAL, "%s%s", waves,
                  room_of ? of : "");
    if (*last)
        flow_item(f, NULL, ROLE_DIM, "%s", last);
    flow_line(f);
}

static void occ_roof(struct flow *f, const struct plan *p)
{
    char b[3][NUMBER_BUF];
    if (isnan(p->compulsory_intensity) || isnan(p->ridge) || !p->bound) {
        flow_item(f, NULL, ROLE_DIM, "roofline unknown: %s has no peak for %s", p->device->name,
                  dtype_name(p->shape.dtype));
    } else {
        flow_item(f, "AI", ROLE_NORMAL, "%s FLOP/B %s ridge %s",
                  number_fmt(b[0], p->compulsory_intensity, 3),
                  p->compulsory_intensity > p->ridge ? ">" : "<", number_fmt(b[1], p->ridge, 3));
        flow_item(f, NULL, ROLE_TITLE, "%s-bound >= %s", p->bound, number_fmt_us(b[2], p->roof_us));
    }
    flow_line(f);
}

static void occ_more(struct flow *f, const struct plan *p)
{
    char b[2][NUMBER_BUF];
    flow_item(f, "flops", ROLE_NORMAL, "%s", number_fmt_count(b[0], p->flops));
    flow_item(f, "bytes compulsory", ROLE_NORMAL, "%s",
              number_fmt_bytes(b[0], p->compulsory_bytes));
    flow_item(f, "requested", ROLE_NORMAL, "%s", number_fmt_bytes(b[1], p->requested_bytes));
    flow_line(f);
    flow_item(f, "requested AI", ROLE_NORMAL, "%s FLOP/B",
              number_fmt(b[0], p->requested_intensity, 3));
    flow_item(f, "peak", ROLE_NORMAL, "%s TFLOP/s, %s GB/s", number_fmt(b[0], p->peak_tflops, 4),
              number_fmt(b[1], p->dram_gbs, 4));
    flow_line(f);
    for (int i = 0; i < p->npasses && p->npasses > 1; i++)
        flow_item(f, i ? "then" : "passes", ROLE_NORMAL, "%s", p->passes[i].name);
}

void planned_occ(struct canvas *c, struct rect r, const struct explore_view *v)
{
    const struct plan_pass *p = main_pass(v->plan);
    struct flow f = {.c = c, .r = r, .roomy = v->roomy};
    if (!p) {
        canvas_wrap(c, r, ROLE_DIM, v->no_plan ? v->no_plan : "");
        return;
    }
    if (!v->arch) {
        f.y = canvas_wrap(c, (struct rect){r.x, r.y, r.w, 1}, ROLE_DIM,
                          "occupancy is modelled for NVIDIA GPUs only");
    } else if (p->occ.blocks_per_sm <= 0 && (p->occ.reason || v->no_plan)) {
        f.y = canvas_wrap(c, (struct rect){r.x, r.y, r.w, 2}, ROLE_BAD,
                          p->occ.reason ? p->occ.reason : v->no_plan);
    } else {
        fig_limits(c, r, &p->occ);
        f.y = 1;
    }
    occ_kernel(&f, p);
    occ_grid(&f, v->plan, p);
    occ_roof(&f, v->plan);
    occ_more(&f, v->plan);
}

void planned_roof(struct canvas *c, struct rect r, const struct explore_view *v)
{
    const struct plan *p = v->plan;
    if (!p || !v->gpu) {
        canvas_wrap(c, r, ROLE_DIM, v->no_plan ? v->no_plan : "");
        return;
    }
    double ai[2] = {p->compulsory_intensity, p->requested_intensity};
    struct roof_point pts[2] = {{.name = "bound with compulsory bytes"},
                                {.name = "with the bytes it requests"}};
    for (int i = 0; i < 2; i++) {
        pts[i].intensity = ai[i];
        pts[i].tflops = fmin(p->peak_tflops, ai[i] * p->dram_gbs / 1e3);
    }
    fig_roofline(c, r, v->gpu, p->shape.dtype, pts, 2);
}

void planned_why(struct canvas *c, struct rect r, const struct explore_view *v)
{
    static const char more[] = " x: more ";
    const char *text = v->why ? v->why : v->no_plan ? v->no_plan : "";
    if (canvas_wrap_more(c, r, ROLE_NORMAL, text, (int)strlen(more)) > r.h)
        canvas_text(c, r.x + r.w - (int)strlen(more), r.y + r.h - 1, -1, ROLE_KEY, more);
}

/* ---- titles ---- */

static const char *gpu_name(const struct explore_view *v)
{
    return v->gpu ? v->gpu->name : "?";
}

void planned_smem_title(const struct explore_view *v, struct str *s)
{
    const struct plan_pass *p = main_pass(v->plan);
    char b[2][NUMBER_BUF];
    str_add(s, "SMEM/block");
    if (p && v->arch && v->arch->smem_optin > 0)
        str_addf(s, "  %s of %s, %.0f%%", number_fmt_bytes(b[0], (double)p->smem_bytes),
                 number_fmt_bytes(b[1], v->arch->smem_optin),
                 100.0 * (double)p->smem_bytes / v->arch->smem_optin);
    if (p && p->occ.needs_optin > 0)
        str_add(s, v->arch && p->static_smem > v->arch->smem_default ? ", static" : ", opt-in");
    str_addf(s, "  MODEL %s", gpu_name(v));
}

void planned_occ_title(const struct explore_view *v, struct str *s)
{
    const struct plan_pass *p = main_pass(v->plan);
    char b[2][NUMBER_BUF];
    str_add(s, "Occupancy");
    if (p && p->occ.blocks_per_sm > 0)
        str_addf(s, "  %s%s blocks/SM, %s of %d warps %.0f%%", p->occ.upper_bound ? "<=" : "",
                 number_fmt_int(b[0], p->occ.blocks_per_sm),
                 number_fmt_int(b[1], p->occ.active_warps), v->arch ? v->arch->max_warps : 0,
                 p->occ.occupancy_pct);
    else if (p && v->arch)
        str_add(s, "  cannot launch");
    str_addf(s, "  MODEL %s", gpu_name(v));
}

void planned_roof_title(const struct explore_view *v, struct str *s)
{
    str_addf(s, "Roofline  MODEL %s", gpu_name(v));
}
