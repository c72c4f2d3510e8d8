/* ceiling.c - see ceiling.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/ceiling.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

struct held_roof ceiling_roof(struct session *s, const struct device *gpu, enum dtype dtype,
                              const char *unit, double clock_mhz)
{
    struct held_roof r = {.tflops = REAL_UNKNOWN, .gbs = REAL_UNKNOWN, .instead_of = REAL_UNKNOWN};
    const struct ceiling *rate;
    r.peak = ceilings_find(session_ceilings(s), gpu, &r.own);
    if (!r.peak)
        return r;
    r.tflops = peak_tflops(r.peak, dtype, unit, clock_mhz, &r.rate);
    r.gbs = fmax(r.peak->at[PEAK_DRAM].value, r.peak->at[PEAK_COPY].value);
    const struct peak *shipped = r.own ? ceilings_shipped(session_ceilings(s), gpu) : NULL;
    if (shipped)
        r.instead_of = peak_tflops(shipped, dtype, unit, clock_mhz, &rate);
    return r;
}

void ceiling_roof_text(const struct held_roof *r, struct str *out)
{
    char a[NUMBER_BUF];
    if (!r->peak || !r->rate)
        return;
    str_addf(out, "measured%s", r->own ? " here" : "");
    if (r->peak->time)
        str_addf(out, " %.10s", r->peak->time);
    str_addf(out, ": %s TFLOP/s", number_fmt(a, r->tflops, 4));
    if (r->gbs > 0) {
        str_addf(out, ", %s GB/s", number_fmt(a, r->gbs, 4));
        str_addf(out, ", ridge %s FLOP/B", number_fmt(a, r->tflops * 1e3 / r->gbs, 3));
    }
    if (r->rate->clock_mhz > 0)
        str_addf(out, "; at %s MHz", number_fmt(a, r->rate->clock_mhz, 4));
    if (r->rate->held)
        str_addf(out, ", held by %s", r->rate->held);
    if (isfinite(r->instead_of))
        str_addf(out, "; in place of the shipped %s TFLOP/s", number_fmt(a, r->instead_of, 4));
}

/* Units that products of a type run on; other libraries use tensor cores where the type has them. */
static const char *unit_of(const struct kernel *k, const struct device *gpu, enum dtype dtype)
{
    const char *unit = NULL;
    const bool tensor =
        kernel_is_peer(k) ? dtype != DTYPE_F32 : k->cuda && k->cuda->unit == UNIT_TENSOR;
    (void)device_peak(gpu, dtype, tensor, &unit);
    return unit;
}

/* The nearer of the two roofs, products and, where the caches were cold, what must come from memory. */
static double share(const struct run_row *row, double tflops, double gbs)
{
    const bool cold = row->l2 && strcmp(row->l2, "cold") == 0;
    const double bytes = cold ? row->gbytes_per_s / gbs : REAL_UNKNOWN;
    return 100 * fmax(row->tflops / tflops, bytes); /* either may be NaN */
}

/* Of a CPU with these threads: its kernels multiply and add in f32, whatever the type. */
static void fill_of_cpu(struct session *s, struct run_row *row)
{
    const struct peak *p = ceilings_of(session_ceilings(s), row->device, NULL);
    if (p)
        row->of_ceiling_pct = share(row, p->at[PEAK_FMA_ALL].value * 1e-3, p->at[PEAK_DRAM].value);
}

/* At the clock of the run. */
void ceiling_fill(struct session *s, const struct kernel *k, const struct shape *shape,
                  struct run_row *row)
{
    const struct device *gpu = NULL;
    if (!row->device || !row->backend || !(row->median_us > 0))
        return;
    if (!backend_is_gpu(row->backend)) {
        fill_of_cpu(s, row);
        return;
    }
    if (devices_get(s->services.devices, row->device, &gpu, NULL) != ST_OK)
        return;
    const struct held_roof r =
        ceiling_roof(s, gpu, shape->dtype, unit_of(k, gpu, shape->dtype), row->sm_clock_mhz);
    row->of_ceiling_pct = share(row, r.tflops, r.gbs);
}
