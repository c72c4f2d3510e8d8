/* ceiling.c - see ceiling.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/ceiling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
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

/* ---- this machine's CPU ---- */

/* Products of 16 bits have instructions of their own where that was measured; all others are made in f32. */
static double host_tflops(const struct peak *p, enum dtype dtype)
{
    const double own = p->at[dtype == DTYPE_BF16 ? PEAK_MMA_BF16 : PEAK_MMA_F16].value;
    return dtype != DTYPE_F32 && own > 0 ? own : p->at[PEAK_FMA_ALL].value * 1e-3;
}

struct host_roof host_roof(struct session *s, int threads, enum dtype dtype)
{
    struct host_roof r = {.tflops = REAL_UNKNOWN, .gbs = REAL_UNKNOWN};
    r.device = host_device_name(threads > 0 ? threads : host_usable_cpus(), host_isa_used()->title);
    r.peak = ceilings_of(session_ceilings(s), r.device, NULL);
    if (r.peak) {
        r.tflops = host_tflops(r.peak, dtype);
        r.gbs = r.peak->at[PEAK_DRAM].value;
    }
    return r;
}

void host_roof_clear(struct host_roof *r)
{
    free(r->device);
    *r = (struct host_roof){0};
}

void ceiling_noise_text(const struct peak *p, struct str *out)
{
    const double spread = fmax(p->at[PEAK_FMA].spread_pct, p->at[PEAK_FMA_ALL].spread_pct);
    const double cores = (double)host_cpus();
    char a[NUMBER_BUF], b[NUMBER_BUF];
    if (spread > 10 || p->other_cores > fmax(0.1 * cores, 0.2))
        str_addf(out,
                 "noisy: tries %s %% apart, others used %s cores; the true peak may be higher, and "
                 "shares of it lower",
                 number_fmt(a, spread, 2), number_fmt(b, p->other_cores, 2));
}

void host_roof_text(const struct host_roof *r, struct str *out)
{
    char a[NUMBER_BUF];
    if (!(r->tflops > 0) || !(r->gbs > 0)) {
        str_add(out, "its peaks are not measured with these threads: doctor --peak does that");
        return;
    }
    str_addf(out, "measured here%s%.10s: ", r->peak->time ? " " : "",
             r->peak->time ? r->peak->time : "");
    str_addf(out, "%s TFLOP/s", number_fmt(a, r->tflops, 3));
    str_addf(out, ", %s GB/s", number_fmt(a, r->gbs, 3));
    if (r->peak->threads != INT_UNKNOWN && r->peak->threads > 1)
        str_addf(out, " of %d threads at once", (int)r->peak->threads);
    str_addf(out, ", ridge %s FLOP/B", number_fmt(a, r->tflops * 1e3 / r->gbs, 3));
    struct str noise = {0};
    ceiling_noise_text(r->peak, &noise);
    if (noise.len)
        str_addf(out, "; %s", str_text(&noise));
    str_free(&noise);
}

/* ---- of rows ---- */

void ceiling_doubt_text(const char *kernel, double of_ceiling_pct, struct str *out)
{
    static const double uncertain = 105;
    char a[NUMBER_BUF];
    if (of_ceiling_pct > uncertain)
        str_addf(out,
                 "ceiling: %s: %s %%, so what doctor --peak measured here was too low, or is of "
                 "another clock; run it again, on a quiet machine\n",
                 kernel, number_fmt(a, of_ceiling_pct, 3));
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

/* Of a CPU with these threads. */
static void fill_of_cpu(struct session *s, enum dtype dtype, struct run_row *row)
{
    const struct peak *p = ceilings_of(session_ceilings(s), row->device, NULL);
    if (p)
        row->of_ceiling_pct = share(row, host_tflops(p, dtype), p->at[PEAK_DRAM].value);
}

/* At the clock of the run. */
void ceiling_fill(struct session *s, const struct kernel *k, const struct shape *shape,
                  struct run_row *row)
{
    const struct device *gpu = NULL;
    if (!row->device || !row->backend || !(row->median_us > 0) ||
        run_row_is_shared(row)) /* the roof is one GPU's */
        return;
    if (!backend_is_gpu(row->backend)) {
        fill_of_cpu(s, shape->dtype, row);
        return;
    }
    if (devices_get(s->services.devices, row->device, &gpu, NULL) != ST_OK)
        return;
    const struct held_roof r =
        ceiling_roof(s, gpu, shape->dtype, unit_of(k, gpu, shape->dtype), row->sm_clock_mhz);
    row->of_ceiling_pct = share(row, r.tflops, r.gbs);
}
