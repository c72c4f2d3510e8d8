/* timeline.c - see timeline.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "plan/beats.h"
#include "backend/backend.h"
#include "command/ask/plan_here.h"
#include "command/ask/predicted.h"
#include "command/ask/recollect.h"
#include "command/ask/request.h"
#include "command/ask/simulate.h"
#include "command/session.h"
#include "draw/phases.h"
#include "measure/origin.h"

void timeline_clear(struct timeline *t)
{
    sched_clear(&t->schedule);
    courses_clear(&t->courses);
    model_clear(&block_panel_layout, &t->panel);
    *t = (struct timeline){0};
}

static bool given(const char *option)
{
    return option && strcmp(option, "auto") != 0;
}

bool timeline_wants_live(const char *backend, const char *gpu)
{
    return given(backend) || (!given(gpu) && backend_gpu_is_here());
}

static void begin(const struct request *r, int i, const struct kernel_desc *d, struct timeline *out)
{
    char params[512] = "";
    if (d)
        desc_params_format(d, &r->params[i], true, params, sizeof params);
    *out = (struct timeline){0};
    model_init(&block_panel_layout, &out->panel);
    out->panel.kernel = xstrdup(r->kernels[i]->name);
    out->panel.params = xstrdup(params);
}

/* The model has no clock of its own: this one was measured on such a device, in this very shape. */
static void add_recorded(struct session *s, const struct request *r, int i,
                         const struct device *dev, struct block_panel *out)
{
    const struct recalled it = recollect(s, r, i, dev);
    if (!recollect_exact(&it))
        return;
    out->recorded_us = it.row->median_us;
    out->recorded = xasprintf("%s%s", it.row->recording, it.old ? ", older source" : "");
}

void timeline_model(struct session *s, const struct request *r, int i, const struct device *dev,
                    struct timeline *out)
{
    const struct kernel_desc *d = r->kernels[i]->cuda;
    struct err why = ERR_INIT;
    struct plan p;
    begin(r, i, d, out);
    out->panel.device = xstrdup(dev->name);
    if (!d) {
        out->panel.reason = xasprintf(
            "%s has no CUDA source to plan; backend=cpu takes stamps of it", r->kernels[i]->name);
        return;
    }
    (void)plan_here(s, d, &r->problem.shape, &r->params[i], dev, &p, &why);
    if (sched_model(&p, &out->schedule, &why) != ST_OK)
        out->panel.reason = xstrdup(why.text);
    plan_clear(&p);
    block_take(&out->panel, &out->schedule, 0);
    if (!out->panel.reason)
        add_recorded(s, r, i, dev, &out->panel);
}

void timeline_put_predicted(const struct run_row *row, struct timeline *out)
{
    if (!(row->predicted_us > 0) || out->panel.reason || !out->panel.device || !row->predicted_on ||
        strcmp(row->predicted_on, out->panel.device) != 0)
        return;
    out->panel.predicted_us = row->predicted_us;
    out->panel.predicted_error_pct = row->predicted_error_pct;
}

/* Numbers of Q, K and V. */
static double inputs_of(const struct shape *s)
{
    return (double)s->B * (double)s->D *
           ((double)s->H * (double)s->Sq + 2. * (double)s->Hkv * (double)s->Sk);
}

/* Nobody asked for a simulation by name, so it must not make anybody wait longer than one does for a picture; inputs
 * are made before the simulator's own time begins. */
void timeline_predict(struct session *s, const struct request *r, int i, struct timeline *out)
{
    static const double clock_s = 2, most = 16e6;
    const double inputs = inputs_of(&r->problem.shape);
    char number[NUMBER_BUF];
    struct run_row row;
    if (out->panel.reason)
        return;
    if (inputs > most && simulator_takes(r->kernels[i]) && !out->panel.note) {
        out->panel.note =
            xasprintf("no clock: %s input numbers are too many to simulate for a picture",
                      number_fmt_count(number, inputs));
        return;
    }
    if (simulate_few(s, r, i, clock_s, &row))
        timeline_put_predicted(&row, out);
    const char *why = row.reason ? row.reason : row.predicted_note;
    if (why && !(row.predicted_us > 0) && !(out->panel.recorded_us > 0) && !out->panel.note)
        out->panel.note = xasprintf("no clock: %s", why);
    record_clear(run_fields, &row);
}

/* ---- a simulated run ---- */

/* Its own words for a phase: what it does, and the barrier that opens it. */
static void name_phase(const struct courses *c, size_t i, double sum, struct block_phase *out)
{
    const struct course_phase *p = &c->phase[i];
    char does[64];
    course_does(p, does, sizeof does);
    out->text = xasprintf("%s (%s)", does, *p->place ? p->place : "from the entry");
    out->share = sum > 0 ? p->us / sum : 0;
}

static size_t phase_number(const struct courses *c, int pass, int phase)
{
    size_t i = 0;
    while (i < c->phases && (c->phase[i].pass != pass || c->phase[i].phase != phase))
        i++;
    return i;
}

static void put_phases(const struct courses *c, struct block_panel *to)
{
    size_t legs = 0, at = 0;
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        legs += c->course[i].steps;
    for (size_t i = 0; i < c->phases; i++)
        sum += c->phase[i].us;
    panel_phases(to, (int)c->phases, (int)legs);
    for (size_t i = 0; i < c->phases; i++)
        name_phase(c, i, sum, &to->phases[i]);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->course[i].steps; k++) {
            const struct course_step *s = &c->course[i].step[k];
            to->legs[at] =
                (struct block_leg){.course = (int64_t)i,
                                   .phase = (int64_t)phase_number(c, c->course[i].pass, s->phase),
                                   .rounds = s->rounds,
                                   .length = s->length,
                                   .at = s->at,
                                   .share = s->share};
            at++;
        }
}

/* Nothing of a block is drawn that was not kept of it or of one as long. */
static void give_courses(struct timeline *t)
{
    for (int64_t i = 0; i < t->schedule.nblocks; i++) {
        struct sched_block *b = &t->schedule.blocks[i];
        b->course = courses_find(&t->courses, &t->schedule, b);
    }
}

static enum status fill_simulated(struct session *s, const struct request *r, int i,
                                  const struct device *dev, const struct run_row *row,
                                  struct timeline *out, struct err *why)
{
    struct plan plan = {0};
    struct predict_run run = {.passes = 0};
    struct predict_gpu g;
    struct whose whose;
    enum status st = predicted_run(s, r->kernels[i]->cuda, &r->problem.shape, &r->params[i], dev,
                                   row->counted_phases, &plan, &run, why);
    if (st == ST_OK)
        st = predict_gpu(dev, &g, why);
    if (st == ST_OK)
        st = courses_read(row->counted_phases, &run, &out->courses, why);
    if (st == ST_OK) {
        beats_read(row->counted_phases, &plan, &out->courses);
        g.factors = predicted_factors(s, dev, &whose)->factors;
        courses_times(&out->courses, &run, &g);
        st = predict_schedule(&plan, &run, &g, &out->schedule, why);
    }
    if (st == ST_OK)
        give_courses(out);
    predict_run_clear(&run);
    plan_clear(&plan);
    return st;
}

void timeline_of_run(struct session *s, const struct request *r, int i, const struct device *dev,
                     const struct run_row *row, struct timeline *out)
{
    struct err why = ERR_INIT;
    const struct kernel_desc *d = r->kernels[i]->cuda;
    begin(r, i, d, out);
    out->panel.device = xstrdup(dev->name);
    if (!d || !row->counted_phases) {
        out->panel.reason = xasprintf("%s", row->reason ? row->reason
                                            : d         ? "nothing was counted by phase"
                                                        : "it has no CUDA source to simulate");
        return;
    }
    if (fill_simulated(s, r, i, dev, row, out, &why) != ST_OK)
        out->panel.reason = xstrdup(why.text);
    block_take(&out->panel, &out->schedule, 0);
    if (out->panel.reason)
        return;
    put_phases(&out->courses, &out->panel);
    out->panel.predicted_us = out->schedule.span_us;
    out->panel.predicted_error_pct = row->predicted_error_pct;
    out->panel.note = xstrdup_if(row->predicted_note);
}

void timeline_simulate(struct session *s, const struct request *r, int i, const struct device *dev,
                       double within_s, struct timeline *out)
{
    struct run_row row;
    const int told = r->options.blocks;
    if (!simulate_blocks(s, r, i, told == SIM_BLOCKS_AUTO ? SIM_BLOCKS_SOME : (enum sim_blocks)told,
                         within_s, &row) &&
        !row.reason)
        row.reason = xasprintf("%s is nothing that the simulator runs", r->kernels[i]->name);
    timeline_of_run(s, r, i, dev, &row, out);
    record_clear(run_fields, &row);
}

enum status timeline_start(struct session *s, const struct request *r, struct measuring **job,
                           struct err *err)
{
    const struct measure_how how = {.kind = JOB_TRACE, .verb = "timeline"};
    const char *backend;
    const enum status st = request_backend(r, &backend, err);
    if (st == ST_OK)
        *job = measure_start(s, r, &how);
    return st;
}

/* Why kernel i has no stamps. */
static char *no_stamps(const struct measuring *job, int i)
{
    const struct run_row *row = measure_row(job, i);
    struct err why = ERR_INIT;
    if (measure_refuses(measure_request(job), i, &why))
        return xstrdup(why.text);
    if (row && row->reason)
        return xstrdup(row->reason);
    const char *failure = measure_failure(job);
    return xstrdup(failure ? failure : "the worker gave no stamps");
}

void timeline_take(const struct measuring *job, int i, struct timeline *out)
{
    const struct request *r = measure_request(job);
    const json_t *stamps = measure_item(job, i);
    const struct run_row *row = measure_row(job, i);
    struct err why = ERR_INIT;
    begin(r, i, r->descs[i], out);
    out->panel.device = row ? xstrdup_if(row->device) : NULL;
    if (!row || !json_is_object(stamps)) {
        out->panel.reason = no_stamps(job, i);
        return;
    }
    if (sched_from_stamps(stamps, r->descs[i], &r->params[i], &r->problem.shape, &out->schedule,
                          &out->panel.note, &why) != ST_OK)
        out->panel.reason = xstrdup(why.text);
    else if (run_row_failed(row))
        out->panel.reason =
            xasprintf("%s fails its check here, so its times are not shown", out->panel.kernel);
    out->schedule.origin = origin_word(row->origin);
    block_take(&out->panel, &out->schedule, 0);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

struct chart *timeline_chart(const struct request *r, const struct timeline *t, int n)
{
    enum { SPANS_MAX = 4000 };
    struct chart *c = chart_new(&chart_timeline);
    struct block_chart *b = c->model;
    char shape[SHAPE_TEXT];
    shape_format(&r->problem.shape, shape, sizeof shape);
    c->caption.shape = xstrdup(shape);
    bool one_origin = true; /* else each panel says it */
    block_size(b, n);
    for (int i = 0; i < n; i++) {
        const struct block_panel *from = &t[i].panel;
        struct block_panel *to = &b->panels[i];
        to->kernel = xstrdup_if(from->kernel);
        to->params = xstrdup_if(from->params);
        to->device = xstrdup_if(from->device);
        to->note = xstrdup_if(from->note);
        to->reason = xstrdup_if(from->reason);
        to->recorded = xstrdup_if(from->recorded);
        to->recorded_us = from->recorded_us;
        to->predicted_us = from->predicted_us;
        to->predicted_error_pct = from->predicted_error_pct;
        block_take(to, &t[i].schedule, SPANS_MAX);
        if (t[i].courses.n)
            put_phases(&t[i].courses, to);
        caption_kernel(&c->caption, to->kernel);
        caption_device(&c->caption, to->device);
        one_origin &= same_text(t[i].schedule.origin, t[0].schedule.origin);
    }
    c->caption.origin = n && one_origin ? xstrdup_if(t[0].schedule.origin) : NULL;
    return c;
}
