/* simulation.c - see simulation.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/plan_here.h"
#include "command/ask/predicted.h"
#include "command/ask/simulate.h"

/* A grid that is run whole without being asked for has no more FLOP than this: some seconds. */
static const double soon_flops = 5e9;

bool simulation_is_on(const struct session *s)
{
    const char *asked = s->settings.options.backend;
    return asked ? !strcmp(asked, backend_simulator()->name)
                 : simulator_stands_in(&s->settings.options);
}

bool simulation_leaves_times(const struct session *s)
{
    const struct backend_info *b = backend_info(s->settings.options.backend);
    return !b || b->times;
}

bool simulation_has(const struct kernel *k)
{
    return simulator_takes(k);
}

void simulation_init(struct simulation *s, struct app *a)
{
    *s = (struct simulation){.app = a};
    measurement_init(&s->glance, a);
    measurement_init(&s->part, a);
    measurement_init(&s->whole, a);
}

void simulation_clear(struct simulation *s)
{
    request_clear(&s->request);
    str_free(&s->command);
    free(s->cannot);
    measurement_clear(&s->glance);
    measurement_clear(&s->part);
    measurement_clear(&s->whole);
    *s = (struct simulation){.app = s->app};
}

/* ---- the request ---- */

enum status simulation_request(struct session *s, const char *names, struct request *out,
                               struct err *err)
{
    const struct request_word by[] = {{"backend", backend_simulator()->name}, {0}};
    return request_of(s, names, by, 0, out, err);
}

static void set_cannot(struct simulation *s, const char *text)
{
    char *copy = text ? xstrdup(text) : NULL;
    free(s->cannot);
    s->cannot = copy;
}

/* What the simulator refuses is left out; alone it is the reason. */
static void keep_possible(struct simulation *s)
{
    struct err why = ERR_INIT;
    bool any = false;
    for (int i = 0; i < s->request.nkernels; i++)
        any |= !measure_refuses(&s->request, i, any ? NULL : &why);
    if (any)
        return;
    set_cannot(s, why.text);
    request_clear(&s->request);
}

/* What was done, or cancelled, is so for the same request. */
static void tell_command(struct simulation *s)
{
    struct str now = {0};
    if (s->request.nkernels)
        request_command(&s->request, "run", &now);
    s->ended = s->ended && !strcmp(str_text(&now), str_text(&s->command));
    str_free(&s->command);
    s->command = now;
}

static void make_request(struct simulation *s, const char *names)
{
    struct err err = ERR_INIT;
    request_clear(&s->request);
    set_cannot(s, NULL);
    if (!names || !simulation_is_on(s->app->session))
        return;
    if (simulation_request(s->app->session, names, &s->request, &err) == ST_OK)
        keep_possible(s);
    else
        set_cannot(s, err.text);
}

void simulation_ask(struct simulation *s, const char *names)
{
    make_request(s, names);
    tell_command(s);
    simulation_predict(s);
}

/* Blocks stand for others where no pass reads what another block wrote, as the simulator's backend has it. */
static bool samples(const struct kernel_desc *d)
{
    return d && d->npasses <= 1 && d->nws == 0;
}

static bool all_sample(const struct request *r)
{
    for (int i = 0; i < r->nkernels; i++)
        if (!samples(r->descs[i]))
            return false;
    return true;
}

static double whole_flops(const struct request *r)
{
    return r->nkernels * shape_flops(&r->problem.shape);
}

bool simulation_is_quick(const struct simulation *s)
{
    return all_sample(&s->request) || whole_flops(&s->request) <= soon_flops;
}

/* ---- figures ---- */

static const struct figures *figures_at(const struct simulation *s, const struct measurement *m,
                                        int i)
{
    char *label = request_entry(&s->request, i);
    const struct figures *f = measurement_find(m, label);
    free(label);
    return f;
}

static const struct figures *current_at(const struct simulation *s, const struct measurement *m,
                                        int i)
{
    const struct figures *f = figures_at(s, m, i);
    return figures_current(f, &s->request, i) ? f : NULL;
}

static bool is_watched(const struct figures *f)
{
    return f && f->row.hazards != INT_UNKNOWN;
}

/* The newer of two that are of older settings is the one that says more, unless the other alone was known since. */
static const struct figures *older(const struct figures *more, const struct figures *less)
{
    if (!more || !less)
        return more ? more : less;
    const char *a = more->row.time, *b = less->row.time;
    return a && b && strcmp(b, a) > 0 ? less : more;
}

static const struct figures *oldest(const struct simulation *s, int i)
{
    return older(older(figures_at(s, &s->whole, i), figures_at(s, &s->part, i)),
                 figures_at(s, &s->glance, i));
}

static bool has_counts(const struct figures *f)
{
    return f && !isnan(f->row.warp_instructions);
}

struct sim_known simulation_of(const struct simulation *s, int i)
{
    if (i < 0 || i >= s->request.nkernels)
        return (struct sim_known){0};
    const struct figures *steps[] = {current_at(s, &s->whole, i), current_at(s, &s->part, i),
                                     current_at(s, &s->glance, i)};
    const struct figures *f = NULL, *watched = is_watched(steps[0]) ? steps[0] : steps[1];
    for (int k = 0; k < 3; k++) /* a step that failed hides none */
        f = steps[k] && (!f || (!has_counts(f) && has_counts(steps[k]))) ? steps[k] : f;
    const bool old = !f;
    if (old)
        f = watched = oldest(s, i);
    return (struct sim_known){.row = f ? &f->row : NULL,
                              .watched = is_watched(watched) ? &watched->row : NULL,
                              .figures = f,
                              .old = f && old};
}

int simulation_entry(const struct simulation *s, const char *label)
{
    int found = -1;
    for (int i = 0; i < s->request.nkernels && found < 0; i++) {
        char *entry = request_entry(&s->request, i);
        found = strcmp(entry, label) == 0 ? i : -1;
        free(entry);
    }
    return found;
}

const struct run_row *simulation_find(const struct simulation *s, const char *label,
                                      const struct shape *shape)
{
    const struct figures *steps[] = {measurement_find(&s->whole, label),
                                     measurement_find(&s->part, label),
                                     measurement_find(&s->glance, label)};
    for (int i = 0; i < 3; i++)
        if (steps[i] && shape_equal(&steps[i]->shape, shape))
            return &steps[i]->row;
    return NULL;
}

void simulation_follow_kernels(struct simulation *s)
{
    measurement_follow_kernels(&s->glance);
    measurement_follow_kernels(&s->part);
    measurement_follow_kernels(&s->whole);
}

bool simulation_is_old(const struct simulation *s, const struct row *row)
{
    return measurement_is_old(&s->glance, row) || measurement_is_old(&s->part, row) ||
           measurement_is_old(&s->whole, row);
}

static void predict_in(struct simulation *s, const struct measurement *m, int i, bool anew)
{
    char *label = request_entry(&s->request, i);
    struct figures *f = measurement_find(m, label);
    if (f && figures_current(f, &s->request, i))
        (anew ? predicted_renew : predicted_fill)(s->app->session, &s->request, i, &f->row);
    free(label);
}

void simulation_predict(struct simulation *s)
{
    const unsigned now = plans_serial(s->app->session);
    const bool anew = s->code_serial != now;
    s->code_serial = now;
    for (int i = 0; i < s->request.nkernels; i++) {
        predict_in(s, &s->glance, i, anew);
        predict_in(s, &s->part, i, anew);
        predict_in(s, &s->whole, i, anew);
    }
}

/* ---- steps ---- */

static bool is_partial(const struct run_row *row)
{
    return row->blocks_run != INT_UNKNOWN && row->blocks_run < row->blocks;
}

/* Would the whole grid say more than the first step? */
static bool part_is_enough(const struct simulation *s)
{
    for (int i = 0; i < s->request.nkernels; i++) {
        const struct figures *f = current_at(s, &s->part, i);
        if (f && is_partial(&f->row))
            return false;
    }
    return true;
}

/* Is the whole grid run for what it says more? */
static bool goes_on(const struct simulation *s)
{
    return s->asked || whole_flops(&s->request) <= soon_flops;
}

/* Will the step that runs be followed by another? */
static bool is_followed(const struct simulation *s)
{
    for (int i = 0; s->part.job && goes_on(s) && i < s->request.nkernels; i++) {
        const struct run_row *row = measure_row(s->part.job, i);
        if (row && is_partial(row))
            return true;
    }
    return false;
}

static bool all_current(const struct simulation *s, const struct measurement *m)
{
    for (int i = 0; i < s->request.nkernels; i++)
        if (!current_at(s, m, i))
            return false;
    return true;
}

/* What blocks= asks is all that is wanted. */
static bool has_parts(const struct simulation *s)
{
    return s->request.options.blocks == SIM_BLOCKS_AUTO;
}

static bool wants_whole(const struct simulation *s)
{
    if (all_current(s, &s->whole))
        return false;
    if (has_parts(s) && !all_current(s, &s->part))
        return true;
    return !has_parts(s) || (!part_is_enough(s) && goes_on(s));
}

bool simulation_is_known(const struct simulation *s)
{
    return s->request.nkernels == 0 || s->ended || !wants_whole(s);
}

static void start_part(struct simulation *s)
{
    struct request r;
    request_copy(&r, &s->request);
    r.options.blocks = SIM_BLOCKS_SOME;
    if (all_sample(&r) && r.options.hazards == SIM_HAZARDS_AUTO) /* a few blocks: watched at once */
        r.options.hazards = SIM_HAZARDS_ON;
    measurement_start(&s->part, &r, JOB_CHECK);
    request_clear(&r);
}

void simulation_glance(struct simulation *s)
{
    simulation_stop(s);
    if (s->request.nkernels == 0 || !has_parts(s) || all_current(s, &s->glance) ||
        all_current(s, &s->part) || all_current(s, &s->whole))
        return;
    struct request r;
    request_copy(&r, &s->request);
    r.options.blocks = SIM_BLOCKS_FEW;
    r.options.hazards = SIM_HAZARDS_OFF;
    measurement_start(&s->glance, &r, JOB_CHECK);
    request_clear(&r);
}

bool simulation_glances(const struct simulation *s)
{
    return s->glance.job != NULL;
}

static void start_whole(struct simulation *s)
{
    measurement_start(&s->whole, &s->request, JOB_CHECK);
}

void simulation_start(struct simulation *s, bool asked)
{
    simulation_stop(s);
    s->ended = s->request.nkernels == 0;
    s->asked = asked;
    if (s->ended)
        return;
    if (has_parts(s) && (asked || !all_current(s, &s->part)))
        start_part(s);
    else
        start_whole(s);
}

bool simulation_is_running(const struct simulation *s)
{
    return s->glance.job || s->part.job || s->whole.job;
}

bool simulation_stop(struct simulation *s)
{
    const bool ran = simulation_is_running(s);
    measurement_stop(&s->glance, false);
    measurement_stop(&s->part, false);
    measurement_stop(&s->whole, false);
    return ran;
}

/* Of the step that runs; true if it has ended well. */
static bool collect(struct simulation *s, struct measurement *m, bool remember)
{
    struct measured out;
    if (!measurement_collect(m, remember, &out))
        return false;
    const bool well = !out.status && !m->failure;
    measured_clear(&out);
    s->ended = !well;
    return well;
}

/* What a glance does not give, the next step does, and says why where it cannot. */
static void collect_glance(struct simulation *s)
{
    struct measured out;
    if (!measurement_collect(&s->glance, false, &out))
        return;
    measured_clear(&out);
    measurement_set_failure(&s->glance, NULL);
}

static bool take_in(struct simulation *s, bool remember)
{
    if (s->glance.job) {
        collect_glance(s);
        return false;
    }
    const bool first = s->part.job != NULL;
    const bool well = collect(s, first ? &s->part : &s->whole, remember && !is_followed(s));
    if (simulation_is_running(s))
        return false;
    if (well && first && !part_is_enough(s) && goes_on(s))
        start_whole(s);
    s->ended = !simulation_is_running(s);
    return s->ended;
}

bool simulation_collect(struct simulation *s, bool remember)
{
    if (!simulation_is_running(s))
        return false;
    const bool last = take_in(s, remember);
    simulation_predict(s);
    return last;
}

/* Where its PTX did not travel with the program, that is most of the time. */
static bool is_loading(const struct simulation *s)
{
    const struct measuring *job = s->whole.job  ? s->whole.job
                                  : s->part.job ? s->part.job
                                                : s->glance.job;
    return job && str_starts(measure_phase(job), "loading");
}

const char *simulation_activity(const struct simulation *s)
{
    return is_loading(s)   ? "loading its PTX; of changed parameters it is compiled first"
           : s->whole.job  ? "simulating the whole grid"
           : s->part.job   ? "simulating blocks that stand for all"
           : s->glance.job ? "simulating a few blocks"
                           : NULL;
}

const char *simulation_machine(const struct simulation *s)
{
    const char *of = *s->whole.machine  ? s->whole.machine
                     : *s->part.machine ? s->part.machine
                                        : s->glance.machine,
               *name = strchr(of, ':');
    return name ? name + 2 : "PTX simulator"; /* "sim: ..." */
}

const char *simulation_failure(const struct simulation *s)
{
    return s->whole.failure ? s->whole.failure : s->part.failure;
}

void simulation_forgive(struct simulation *s)
{
    measurement_set_failure(&s->part, NULL);
    measurement_set_failure(&s->whole, NULL);
}

/* ---- a finding's line ---- */

/* "... at fa2.cu:70 (attn.cuh:77), and ...": of inlined code the kernel's line stands first. */
int simulation_line(const char *hazard)
{
    const char *at = hazard ? strstr(hazard, ".cu:") : NULL;
    const long line = at ? strtol(at + 4, NULL, 10) : 0;
    return line > 0 && line < 1000000 ? (int)line : 0;
}

/* ---- what outlives the program ---- */

json_t *simulation_save(const struct simulation *s)
{
    return json_pack("{s:o, s:o, s:o}", "glance", measurement_save(&s->glance), "part",
                     measurement_save(&s->part), "whole", measurement_save(&s->whole));
}

void simulation_restore(struct simulation *s, const json_t *o)
{
    measurement_restore(&s->glance, json_object_get(o, "glance"));
    measurement_restore(&s->part, json_object_get(o, "part"));
    measurement_restore(&s->whole, json_object_get(o, "whole"));
}
