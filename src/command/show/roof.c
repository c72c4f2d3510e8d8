/* roof.c - see roof.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/roof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/number.h"
#include "command/ask/plan_row.h"
#include "command/ask/recollect.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"

static const struct field roof_fields[] = {
    FIELD(FIELD_TEXT, roof_row, phase,
          .doc = "prefill, decode (one query), or given: any other number of queries."),
    FIELD(FIELD_REAL, roof_row, roof_tflops, .title = "roof TFLOP/s", .digits = 3,
          .unit = "TFLOP/s",
          .doc = "flops over roof_us; the other fields are those of plan. Without a kernel one row "
                 "describes the device."),
    FIELD(FIELD_REAL, roof_row, reach_tflops, .title = "reach TFLOP/s", .digits = 3,
          .unit = "TFLOP/s", .doc = "The roof at requested_intensity: no cache helps."),
    FIELD(FIELD_REAL, roof_row, measured_tflops, .title = "measured", .digits = 3,
          .unit = "TFLOP/s",
          .doc = "Of the last right run of this session on that device, else what was recorded of "
                 "it."),
    FIELD(FIELD_REAL, roof_row, of_reach_pct, .title = "of reach %", .digits = 3, .unit = "%",
          .doc = "measured_tflops over reach_tflops; over 100 where caches help."),
    FIELD(FIELD_TEXT, roof_row, measured_origin, .title = "from",
          .doc = "Where measured_tflops comes from: live, recorded or sim."),
    FIELD(FIELD_REAL, roof_row, counted_bytes, .title = "counted", .unit = "B",
          .doc = "Bytes of DRAM that the simulator counted behind a cache, in the last simulated "
                 "run of this session "
                 "of this kernel, shape and parameters: between compulsory and requested where the "
                 "cache helps."),
    FIELD(FIELD_REAL, roof_row, counted_intensity, .title = "counted F/B", .digits = 3,
          .unit = "FLOP/B", .doc = "flops over counted_bytes."),
    FIELD(FIELD_REAL, roof_row, counted_reach_tflops, .title = "by counted", .digits = 3,
          .unit = "TFLOP/s", .doc = "The roof at counted_intensity."),
    FIELD(FIELD_REAL, roof_row, ceiling_tflops, .digits = 4, .unit = "TFLOP/s",
          .doc = "The peak of the same units as doctor --peak measured it on that device."),
    FIELD(FIELD_REAL, roof_row, ceiling_clock_mhz, .digits = 4, .unit = "MHz",
          .doc = "The SM clock that was held meanwhile."),
    FIELD(FIELD_TEXT, roof_row, ceiling_held, .doc = "What kept that clock down: power, heat."),
    FIELD(FIELD_REAL, roof_row, ceiling_gbs, .digits = 4, .unit = "GB/s",
          .doc = "DRAM's bandwidth as measured there."),
    FIELD(FIELD_REAL, roof_row, ceiling_reach_tflops, .title = "ceiling", .digits = 3,
          .unit = "TFLOP/s",
          .doc = "The measured roof at requested_intensity; of a CPU at compulsory_intensity."),
    FIELD(
        FIELD_REAL, roof_row, of_ceiling_pct, .title = "of ceiling %", .digits = 3, .unit = "%",
        .doc =
            "measured_tflops over that, at the clock of the run where it is known; of a CPU whose "
            "caches were hot, over the arithmetic's roof alone."),
    FIELD(FIELD_TEXT, roof_row, ceiling_time, .doc = "When the ceilings were measured, UTC."),
    FIELD(FIELD_INT, roof_row, ceiling_threads, .unit = "threads",
          .doc = "Of a CPU: with how many threads."),
    {.name = NULL},
};

/* Of its plan a row shows these. */
static const char *const order[] = {"kernel",
                                    "gpu",
                                    "phase",
                                    "shape",
                                    "params",
                                    "origin",
                                    "flops",
                                    "requested_bytes",
                                    "compulsory_bytes",
                                    "requested_intensity",
                                    "compulsory_intensity",
                                    "ridge",
                                    "bound",
                                    "roof_us",
                                    "peak_tflops",
                                    "peak_unit",
                                    "dram_gbs",
                                    "reason",
                                    "roof_tflops",
                                    "reach_tflops",
                                    "measured_tflops",
                                    "of_reach_pct",
                                    "measured_origin",
                                    "counted_bytes",
                                    "counted_intensity",
                                    "counted_reach_tflops",
                                    "ceiling_tflops",
                                    "ceiling_clock_mhz",
                                    "ceiling_held",
                                    "ceiling_gbs",
                                    "ceiling_reach_tflops",
                                    "of_ceiling_pct",
                                    "ceiling_time",
                                    "ceiling_threads",
                                    NULL};
const struct row_type roof_row_type = {
    .size = sizeof(struct roof_row),
    .parts = {{roof_fields, 0}, PLAN_ROW_PARTS(offsetof(struct roof_row, plan))},
    .order = order};

void roof_phases(const struct shape *s, struct roof_phase out[ROOF_PHASES])
{
    const bool decode = s->Sq == 1, prefill = s->Sq == s->Sk;
    out[0] = (struct roof_phase){decode ? "decode" : prefill ? "prefill" : "given", *s};
    out[1] = (struct roof_phase){decode ? "prefill" : "decode", *s};
    out[1].shape.Sq = decode ? s->Sk : 1;
}

char roof_letter(int phase, int kernel)
{
    if (kernel >= 26) /* digits have no small ones */
        return kernel < 36 ? (char)('0' + kernel - 26) : '+';
    return (char)((phase ? 'a' : 'A') + kernel);
}

const struct row *roof_row(const struct roofs *x, int device, int phase, int kernel)
{
    return rowset_at(&x->rows, (size_t)((device * x->nphases + phase) * x->nkernels + kernel));
}

/* ---- rows ---- */

/* The last right run of this kernel, shape and parameters on that device; NULL: none. */
static const struct row *find_run(const struct session *s, const struct plan_row *plan,
                                  const struct device *dev)
{
    for (size_t i = s->rows.results.n; i-- > 0;) {
        const struct row *run = s->rows.results.rows[i];
        const struct device *on;
        if (!row_is(run, "kernel", plan->kernel) || !row_is(run, "shape", plan->shape) ||
            !row_is(run, "params", plan->params) || !row_is(run, "check", "pass") ||
            !backend_is_gpu(row_text(run, "backend")) || !row_text(run, "device"))
            continue;
        if (!devices_get(s->services.devices, row_text(run, "device"), &on, NULL) && on == dev)
            return run;
    }
    return NULL;
}

/* The last run of this kernel, shape and parameters by the simulator, whole and as it is; NULL: none. */
static const struct row *find_counts(const struct session *s, const struct plan_row *plan)
{
    for (size_t i = s->rows.results.n; i-- > 0;) {
        const struct row *run = s->rows.results.rows[i];
        if (row_is(run, "kernel", plan->kernel) && row_is(run, "shape", plan->shape) &&
            row_is(run, "params", plan->params) && !row_is(run, "check", "fail") &&
            row_is(run, "backend", backend_simulator()->name) && row_real(run, "dram_bytes") > 0)
            return run;
    }
    return NULL;
}

static void set_counted(struct roof_row *row, const struct session *s, const struct device *dev)
{
    const struct plan_row *p = &row->plan;
    const struct row *run = find_counts(s, p);
    if (!run || !(p->flops > 0) || p->occ.reason)
        return;
    row->counted_bytes = row_real(run, "dram_bytes");
    row->counted_intensity = p->flops / row->counted_bytes;
    row->counted_reach_tflops = fmin(p->peak_tflops, row->counted_intensity * dev->dram_gbs / 1e3);
}

/* What the bytes allow: compulsory ones for the roof, requested ones for what this kernel can reach
 * where no cache helps. */
static void set_roofs(struct roof_row *row, const struct device *dev)
{
    const struct plan_row *p = &row->plan;
    const double x = p->requested_intensity;
    if (p->roof_us > 0 && p->flops > 0)
        row->roof_tflops = p->flops / p->roof_us / 1e6;
    if (isfinite(p->peak_tflops) && isfinite(x) &&
        !p->occ.reason) /* what cannot run reaches nothing */
        row->reach_tflops = fmin(p->peak_tflops, x * dev->dram_gbs / 1e3);
}

static void set_measured(struct roof_row *row, double tflops, const char *origin)
{
    row->measured_tflops = tflops;
    row->of_reach_pct = 100 * tflops / row->reach_tflops;
    row->measured_origin = xstrdup_if(origin);
}

static void copy_into(char **to, const char *text)
{
    *to = xstrdup_if(text);
}

/* The second roof. `clock_mhz`: of the run that was measured; NaN: unknown. */
static void set_ceiling(struct roof_row *row, struct session *s, const struct device *dev,
                        enum dtype dtype, double clock_mhz)
{
    const struct plan_row *p = &row->plan;
    const char *unit = NULL;
    if (!p->peak_unit) /* of the device alone */
        (void)device_peak(dev, dtype, dtype != DTYPE_F32, &unit);
    const struct held_roof r =
        ceiling_roof(s, dev, dtype, p->peak_unit ? p->peak_unit : unit, REAL_UNKNOWN);
    if (!r.rate)
        return;
    const double clocks =
        r.rate->clock_mhz > 0 && clock_mhz > 0 ? clock_mhz / r.rate->clock_mhz : 1;
    const double bytes = p->requested_intensity * r.gbs / 1e3;
    row->ceiling_tflops = r.tflops;
    row->ceiling_clock_mhz = r.rate->clock_mhz;
    row->ceiling_gbs = r.gbs;
    copy_into(&row->ceiling_held, r.rate->held);
    copy_into(&row->ceiling_time, r.peak->time);
    if (!isfinite(bytes))
        return;
    row->ceiling_reach_tflops = fmin(r.tflops, bytes);
    row->of_ceiling_pct = 100 * row->measured_tflops / fmin(r.tflops * clocks, bytes);
}

/* ---- of this machine's CPU ---- */

static struct device host_device(const struct host_roof *r)
{
    struct device d = {.name = r->device,
                       .dram_gbs = r->gbs,
                       .clock_mhz = REAL_UNKNOWN,
                       .tf32_tflops = REAL_UNKNOWN,
                       .memory_bytes = REAL_UNKNOWN,
                       .l2_bytes = REAL_UNKNOWN,
                       .tensor_clock_mhz = REAL_UNKNOWN};
    for (int t = 0; t < DTYPE_COUNT; t++)
        d.tflops[t] = r->tflops;
    return d;
}

static const struct row *find_host_run(const struct session *s, const struct plan_row *plan,
                                       const char *device)
{
    for (size_t i = s->rows.results.n; i-- > 0;) {
        const struct row *run = s->rows.results.rows[i];
        if (row_is(run, "kernel", plan->kernel) && row_is(run, "shape", plan->shape) &&
            row_is(run, "params", plan->params) && row_is(run, "check", "pass") &&
            row_is(run, "device", device))
            return run;
    }
    return NULL;
}

/* Memory is a roof where each run had its inputs from there. */
static void set_host_share(struct roof_row *row, const struct host_roof *h, const struct row *run)
{
    const double bytes = row->plan.compulsory_intensity * h->gbs / 1e3;
    const double roof = row_is(run, "l2", "cold") ? fmin(h->tflops, bytes) : h->tflops;
    row->of_ceiling_pct = 100 * row->measured_tflops / roof;
}

static void host_row(struct roof_row *row, struct session *s, const struct request *r, int k,
                     const struct roofs *x)
{
    struct plan p;
    const struct host_roof *h = &x->host;
    const enum status st =
        plan_brief(r->descs[k], &r->problem.shape, &r->params[k], &x->host_device, NULL, &p, NULL);
    if (st == ST_OK || st == ST_NO)
        plan_row_figures(&row->plan, &p);
    plan_clear(&p);
    if (!(h->tflops > 0) || !(h->gbs > 0))
        return;
    const struct row *run = find_host_run(s, &row->plan, h->device);
    row->roof_tflops = row->plan.flops / row->plan.roof_us / 1e6;
    row->ceiling_tflops = h->tflops;
    row->ceiling_gbs = h->gbs;
    row->ceiling_time = xstrdup_if(h->peak->time);
    row->ceiling_threads = h->peak->threads;
    row->ceiling_reach_tflops = row->roof_tflops;
    if (!run)
        return;
    row->measured_tflops = row_real(run, "tflops");
    row->measured_origin = xstrdup_if(row_text(run, "origin"));
    set_host_share(row, h, run);
}

/* What nobody measured in this session may have been recorded. */
static void add_measured(struct roof_row *row, struct session *s, const struct request *r, int k,
                         const struct device *dev)
{
    const struct row *run = find_run(s, &row->plan, dev);
    const struct recalled it = recollect(s, r, k, dev);
    const double tflops = row_real(run, "tflops");
    if (isfinite(tflops))
        set_measured(row, tflops, row_text(run, "origin"));
    else if (recollect_exact(&it))
        set_measured(row, it.row->tflops, "recorded");
    set_ceiling(row, s, dev, r->problem.shape.dtype, row_real(run, "sm_clock_mhz"));
}

/* The roof itself, where no kernel is named. */
static void device_row(struct roof_row *row, const struct device *dev,
                       const struct roof_phase *phase)
{
    char shape[SHAPE_TEXT];
    struct plan_row *p = &row->plan;
    shape_format(&phase->shape, shape, sizeof shape);
    p->gpu = xstrdup(dev->name);
    p->shape = xstrdup(shape);
    p->origin = xstrdup("model");
    p->peak_tflops = dev->tflops[phase->shape.dtype];
    p->ridge = p->peak_tflops * 1e3 / dev->dram_gbs;
    p->dram_gbs = dev->dram_gbs;
    row->phase = xstrdup(phase->name);
}

static enum status add_kernels(struct session *s, const struct request *r, struct roofs *x,
                               const struct device *dev, const struct roof_phase *phase,
                               struct err *err)
{
    struct request q;
    enum status st = ST_OK;
    request_copy(&q, r);
    q.problem.shape = phase->shape;
    if (!r->nkernels) {
        struct roof_row *row = rowset_add(&x->rows);
        device_row(row, dev, phase);
        if (!x->on_cpu)
            set_ceiling(row, s, dev, phase->shape.dtype, REAL_UNKNOWN);
    }
    for (int k = 0; k < r->nkernels && !st; k++) {
        struct roof_row *row = rowset_add(&x->rows);
        row->phase = xstrdup(phase->name);
        if (x->on_cpu && r->descs[k]) {
            host_row(row, s, &q, k, x);
            continue;
        }
        st = plan_row(&q, k, dev, NULL, NULL, &row->plan, err);
        if (st)
            break;
        set_roofs(row, dev);
        set_counted(row, s, dev);
        add_measured(row, s, &q, k, dev);
    }
    request_clear(&q);
    return st;
}

static void begin_host(struct session *s, const struct request *r, struct roofs *x)
{
    x->host = host_roof(s, (int)r->options.threads, r->problem.shape.dtype);
    x->host_device = host_device(&x->host);
    x->devices[0] = &x->host_device;
    x->ndevices = 1;
}

static void add_held(struct session *s, struct roofs *x, int d, enum dtype dtype)
{
    const char *unit;
    x->held_tflops[d] = x->held_gbs[d] = REAL_UNKNOWN;
    if (x->on_cpu) /* the only one that it has */
        return;
    (void)device_peak(x->devices[d], dtype, dtype != DTYPE_F32, &unit);
    const struct held_roof r = ceiling_roof(s, x->devices[d], dtype, unit, REAL_UNKNOWN);
    x->held_tflops[d] = r.tflops;
    x->held_gbs[d] = r.gbs;
}

enum status roofs_make(struct session *s, const struct request *r,
                       const struct device *const *devices, int ndevices, int nphases,
                       struct roofs *out, struct err *err)
{
    enum status st = ST_OK;
    *out = (struct roofs){.ndevices = ndevices,
                          .nphases = nphases,
                          .nkernels = r->nkernels,
                          .rows.type = &roof_row_type};
    out->on_cpu = ndevices == 0;
    if (out->on_cpu)
        begin_host(s, r, out);
    else
        memcpy(out->devices, devices, (size_t)ndevices * sizeof *devices);
    roof_phases(&r->problem.shape, out->phases);
    for (int d = 0; d < out->ndevices; d++) {
        add_held(s, out, d, r->problem.shape.dtype);
        for (int p = 0; p < nphases && !st; p++)
            st = add_kernels(s, r, out, out->devices[d], &out->phases[p], err);
    }
    return st;
}

void roofs_clear(struct roofs *x)
{
    rowset_clear(&x->rows);
    host_roof_clear(&x->host);
    *x = (struct roofs){0};
}

/* ---- the picture ---- */

static void take_point(const struct roof_row *row, int phase, int kernel, bool ideal, bool on_cpu,
                       struct roof_point *p)
{
    p->name = xstrdup(row->plan.kernel);
    p->letter = xasprintf("%c", roof_letter(phase, kernel));
    p->kernel = kernel;
    p->intensity = on_cpu ? row->plan.compulsory_intensity : row->plan.requested_intensity;
    p->tflops = on_cpu ? row->ceiling_reach_tflops : row->reach_tflops;
    p->measured = row->measured_tflops;
    p->origin = xstrdup_if(row->measured_origin);
    if (!ideal || on_cpu)
        return;
    p->ideal = row->plan.compulsory_intensity;
    p->ideal_tflops = row->roof_tflops;
    p->counted = row->counted_intensity;
    p->counted_tflops = row->counted_reach_tflops;
}

struct chart *roofs_chart(const struct roofs *x, enum dtype t, const bool *show, int cur)
{
    struct chart *c = chart_new(&chart_roofline);
    struct roof_chart *f = c->model;
    roof_size(f, x->ndevices, x->nkernels * x->nphases);
    for (int i = 0; i < x->ndevices; i++) {
        roof_take(&f->roofs[i], x->devices[i], t);
        f->roofs[i].held_peak = x->held_tflops[i];
        f->roofs[i].held_gbs = x->held_gbs[i];
        caption_device(&c->caption, x->devices[i]->name);
    }
    f->dtype = xstrdup(dtype_name(t));
    f->npoints = 0;
    for (int p = 0; p < x->nphases; p++)
        for (int k = 0; k < x->nkernels; k++) {
            const struct roof_row *row = row_read(roof_row(x, 0, p, k));
            const bool dot = show && !show[k];
            const double most = x->on_cpu ? row->ceiling_reach_tflops : row->reach_tflops;
            if (!isfinite(most) || row->plan.occ.reason || (dot && p > 0))
                continue;
            struct roof_point *to = &f->points[f->npoints++];
            take_point(row, p, k, !dot && (cur < 0 || k == cur), x->on_cpu, to);
            to->dot = dot;
        }
    char shape[SHAPE_TEXT];
    shape_format(&x->phases[0].shape, shape, sizeof shape);
    c->caption.shape = xstrdup(shape);
    bool measured = false;
    for (int i = 0; i < f->npoints; i++) {
        if (f->points[i].dot)
            continue;
        measured |= f->points[i].measured > 0;
        caption_kernel(&c->caption, f->points[i].name);
    }
    if (!measured) /* else the points say it themselves */
        c->caption.origin = xstrdup("model");
    return c;
}
