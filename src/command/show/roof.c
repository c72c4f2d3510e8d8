/* roof.c - see roof.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/roof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/plan_row.h"
#include "command/ask/recollect.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"

const struct field roof_row_fields[] = {
    {.name = "phase",
     .type = FIELD_TEXT,
     .doc = "prefill, decode (one query), or given: any other number of queries."},
    {.name = "roof_tflops",
     .type = FIELD_REAL,
     .title = "roof TFLOP/s",
     .digits = 3,
     .unit = "TFLOP/s",
     .doc = "flops over roof_us; the other fields are those of plan. Without a kernel one row "
            "describes the device."},
    {.name = "reach_tflops",
     .type = FIELD_REAL,
     .title = "reach TFLOP/s",
     .digits = 3,
     .unit = "TFLOP/s",
     .doc = "The roof at requested_intensity: no cache helps."},
    {.name = "measured_tflops",
     .type = FIELD_REAL,
     .title = "measured",
     .digits = 3,
     .unit = "TFLOP/s",
     .doc = "Of the last right run of this session on that device, else what was recorded of it."},
    {.name = "measured_origin",
     .type = FIELD_TEXT,
     .title = "from",
     .doc = "Where measured_tflops comes from: live, recorded or sim."},
    {.name = "of_reach_pct",
     .type = FIELD_REAL,
     .title = "of reach %",
     .digits = 3,
     .unit = "%",
     .doc = "measured_tflops over reach_tflops; over 100 where caches help."},
    {.name = NULL},
};

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

json_t *roof_row(const struct roofs *x, int device, int phase, int kernel)
{
    return json_array_get(x->rows, (size_t)((device * x->nphases + phase) * x->nkernels + kernel));
}

/* ---- rows ---- */

static void put_real(json_t *row, const char *key, double value)
{
    json_object_set_new(row, key, isfinite(value) ? json_real(value) : json_null());
}

/* The last right run of this kernel, shape and parameters on that device; NULL: none. */
static const struct row *find_run(const struct session *s, const json_t *row,
                                  const struct device *dev)
{
    for (size_t i = s->rows.results.n; i-- > 0;) {
        const struct row *run = s->rows.results.rows[i];
        const struct device *on;
        if (!row_is(run, "kernel", row_string(row, "kernel")) ||
            !row_is(run, "shape", row_string(row, "shape")) ||
            !row_is(run, "params", row_string(row, "params")) || !row_is(run, "check", "pass") ||
            !backend_is_gpu(row_text(run, "backend")) || !row_text(run, "device"))
            continue;
        if (!devices_get(s->services.devices, row_text(run, "device"), &on, NULL) && on == dev)
            return run;
    }
    return NULL;
}

/* What the bytes allow: compulsory ones for the roof, requested ones for what this kernel can reach
 * where no cache helps. */
static void put_roofs(json_t *row, const struct session *s, const struct device *dev)
{
    const double us = row_number(row, "roof_us"), flops = row_number(row, "flops"),
                 peak = row_number(row, "peak_tflops"), x = row_number(row, "requested_intensity");
    const double reach = fmin(peak, x * dev->dram_gbs / 1e3);
    const struct row *run = find_run(s, row, dev);
    const double measured = run ? row_real(run, "tflops") : NAN;
    put_real(row, "roof_tflops", us > 0 && flops > 0 ? flops / us / 1e6 : NAN);
    put_real(row, "reach_tflops", isfinite(peak) && isfinite(x) ? reach : NAN);
    put_real(row, "measured_tflops", measured);
    put_real(row, "of_reach_pct", 100 * measured / reach);
    const char *origin = isfinite(measured) ? row_text(run, "origin") : NULL;
    json_object_set_new(row, "measured_origin", origin ? json_string(origin) : json_null());
}

/* What nobody measured in this session may have been recorded. */
static void put_recorded(json_t *row, const struct recalled *it)
{
    const double reach = row_number(row, "reach_tflops");
    if (isfinite(row_number(row, "measured_tflops")) || !recollect_exact(it))
        return;
    put_real(row, "measured_tflops", it->row->tflops);
    put_real(row, "of_reach_pct", 100 * it->row->tflops / reach);
    json_object_set_new(row, "measured_origin", json_string("recorded"));
}

static json_t *make_row(const struct session *s, json_t *plan, const struct device *dev,
                        const char *phase)
{
    static const char *const kept[] = {"kernel",
                                       "gpu",
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
                                       "reason"};
    json_t *row = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        json_t *v = json_object_get(plan, kept[i]);
        json_object_set_new(row, kept[i], v ? json_incref(v) : json_null());
        if (i == 1)
            json_object_set_new(row, "phase", json_string(phase));
    }
    put_roofs(row, s, dev);
    json_decref(plan);
    return row;
}

/* The roof itself, where no kernel is named. */
static json_t *device_row(const struct session *s, const struct device *dev,
                          const struct roof_phase *phase)
{
    char shape[SHAPE_TEXT];
    shape_format(&phase->shape, shape, sizeof shape);
    json_t *plan =
        json_pack("{s:s, s:s, s:s}", "gpu", dev->name, "shape", shape, "origin", "model");
    const double peak = dev->tflops[phase->shape.dtype];
    put_real(plan, "peak_tflops", peak);
    put_real(plan, "ridge", peak * 1e3 / dev->dram_gbs);
    put_real(plan, "dram_gbs", dev->dram_gbs);
    return make_row(s, plan, dev, phase->name);
}

/* What make_row() keeps of a plan; plan_row() would write down all of it, sixty times a key. */
static enum status brief_plan(const struct request *r, int k, const struct device *dev,
                              json_t **out, struct err *err)
{
    const struct kernel_desc *d = r->kernels[k]->cuda;
    struct plan p;
    struct err why = ERR_INIT;
    if (!d) {
        struct row *row = row_new(&plan_row_type);
        plan_row(r, k, dev, NULL, NULL, row_data(row), NULL);
        *out = row_json(row);
        row_drop(row);
        return ST_OK;
    }
    enum status st = plan_build(d, &r->problem.shape, &r->params[k], dev, NULL, &p, &why);
    if (st != ST_OK && st != ST_NO) {
        plan_clear(&p);
        return err_set(err, st, "%s", why.text);
    }
    char shape[SHAPE_TEXT], params[512];
    shape_format(&r->problem.shape, shape, sizeof shape);
    desc_params_format(d, &r->params[k], false, params, sizeof params);
    *out = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:s?, s:s?}", "kernel", r->kernels[k]->name,
                     "gpu", dev->name, "shape", shape, "params", params, "origin", "model", "bound",
                     p.bound, "peak_unit", p.peak_unit, "reason", p.reason);
    put_real(*out, "flops", p.flops);
    put_real(*out, "requested_bytes", p.requested_bytes);
    put_real(*out, "compulsory_bytes", p.compulsory_bytes);
    put_real(*out, "requested_intensity", p.requested_intensity);
    put_real(*out, "compulsory_intensity", p.compulsory_intensity);
    put_real(*out, "ridge", p.ridge);
    put_real(*out, "roof_us", p.roof_us);
    put_real(*out, "peak_tflops", p.peak_tflops);
    put_real(*out, "dram_gbs", p.dram_gbs);
    plan_clear(&p);
    return ST_OK;
}

static enum status add_kernels(struct session *s, const struct request *r, struct roofs *x,
                               const struct device *dev, const struct roof_phase *phase,
                               struct err *err)
{
    struct request q;
    enum status st = ST_OK;
    request_copy(&q, r);
    q.problem.shape = phase->shape;
    if (!r->nkernels)
        json_array_append_new(x->rows, device_row(s, dev, phase));
    for (int k = 0; k < r->nkernels && !st; k++) {
        json_t *plan;
        st = brief_plan(&q, k, dev, &plan, err);
        if (st)
            break;
        const struct recalled it = recollect(s, &q, k, dev);
        json_t *row = make_row(s, plan, dev, phase->name);
        put_recorded(row, &it);
        json_array_append_new(x->rows, row);
    }
    request_clear(&q);
    return st;
}

enum status roofs_make(struct session *s, const struct request *r,
                       const struct device *const *devices, int ndevices, int nphases,
                       struct roofs *out, struct err *err)
{
    enum status st = ST_OK;
    *out = (struct roofs){
        .ndevices = ndevices, .nphases = nphases, .nkernels = r->nkernels, .rows = json_array()};
    memcpy(out->devices, devices, (size_t)ndevices * sizeof *devices);
    roof_phases(&r->problem.shape, out->phases);
    for (int d = 0; d < ndevices; d++)
        for (int p = 0; p < nphases && !st; p++)
            st = add_kernels(s, r, out, devices[d], &out->phases[p], err);
    return st;
}

void roofs_clear(struct roofs *x)
{
    json_decref(x->rows);
    *x = (struct roofs){0};
}

/* ---- the picture ---- */

static char *copy_text(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static void take_point(const struct roofs *x, int phase, int kernel, bool ideal,
                       struct roof_point *p)
{
    const json_t *row = roof_row(x, 0, phase, kernel);
    p->name = xstrdup(row_string(row, "kernel"));
    p->letter = xasprintf("%c", roof_letter(phase, kernel));
    p->kernel = kernel;
    p->intensity = row_number(row, "requested_intensity");
    p->tflops = row_number(row, "reach_tflops");
    p->measured = row_number(row, "measured_tflops");
    p->origin = copy_text(row_string(row, "measured_origin"));
    if (!ideal)
        return;
    p->ideal = row_number(row, "compulsory_intensity");
    p->ideal_tflops = row_number(row, "roof_tflops");
}

struct chart *roofs_chart(const struct roofs *x, enum dtype t, const bool *show, int cur)
{
    struct chart *c = chart_new(&chart_roofline);
    struct roof_chart *f = c->model;
    roof_size(f, x->ndevices, x->nkernels * x->nphases);
    for (int i = 0; i < x->ndevices; i++)
        roof_take(&f->roofs[i], x->devices[i], t);
    f->dtype = xstrdup(dtype_name(t));
    f->npoints = 0;
    for (int p = 0; p < x->nphases; p++)
        for (int k = 0; k < x->nkernels; k++)
            if ((!show || show[k]) && isfinite(row_number(roof_row(x, 0, p, k), "reach_tflops")))
                take_point(x, p, k, cur < 0 || k == cur, &f->points[f->npoints++]);
    char shape[SHAPE_TEXT];
    shape_format(&x->phases[0].shape, shape, sizeof shape);
    c->caption.shape = xstrdup(shape);
    bool measured = false;
    for (int i = 0; i < f->npoints; i++)
        measured |= f->points[i].measured > 0;
    if (!measured) /* else the points say it themselves */
        c->caption.origin = xstrdup("model");
    return c;
}
