/* explain_work.c - operations, bytes, and the roof above them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

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
    explain_line(v, "compulsory_bytes = %s (%s)", REAL(v->p->compulsory_bytes, 15),
                 BYTES(v->p->compulsory_bytes));
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

const struct metric explain_work[] = {
    // clang-format off
    {"flops",                explain_flops},
    {"requested_bytes",      explain_requested_bytes},
    {"compulsory_bytes",     explain_compulsory_bytes},
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
