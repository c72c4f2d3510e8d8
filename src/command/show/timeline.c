/* timeline.c - see timeline.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/request.h"
#include "command/session.h"

void timeline_clear(struct timeline *t)
{
    sched_clear(&t->schedule);
    free(t->kernel);
    free(t->device);
    free(t->params);
    free(t->note);
    free(t->reason);
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
    *out = (struct timeline){.kernel = xstrdup(r->kernels[i]->name), .params = xstrdup(params)};
}

void timeline_model(const struct request *r, int i, const struct device *dev, struct timeline *out)
{
    const struct kernel_desc *d = r->kernels[i]->cuda;
    struct err why = ERR_INIT;
    struct plan p;
    begin(r, i, d, out);
    out->device = xstrdup(dev->name);
    if (!d) {
        out->reason = xasprintf("%s has no CUDA source to plan; backend=cpu takes stamps of it",
                                r->kernels[i]->name);
        return;
    }
    (void)plan_build(d, &r->problem.shape, &r->params[i], dev, NULL, &p, &why);
    if (sched_model(&p, &out->schedule, &why) != ST_OK)
        out->reason = xstrdup(why.text);
    plan_clear(&p);
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
    out->device = row && row->device ? xstrdup(row->device) : NULL;
    if (!row || !json_is_object(stamps)) {
        out->reason = no_stamps(job, i);
        return;
    }
    if (sched_from_stamps(stamps, r->descs[i], &r->params[i], &r->problem.shape, &out->schedule,
                          &out->note, &why) != ST_OK)
        out->reason = xstrdup(why.text);
    else if (row->check && strcmp(row->check, "fail") == 0)
        out->reason = xasprintf("%s fails its check here, so its times are not shown", out->kernel);
}

void timeline_heading(const struct timeline *t, struct str *out)
{
    const char *origin = t->schedule.origin;
    str_add(out, t->kernel);
    if (t->params && *t->params)
        str_addf(out, " %s", t->params);
    if (origin)
        str_addf(out, "  %s", strcmp(origin, "live") ? "MODEL" : "LIVE");
    if (t->device)
        str_addf(out, "  %s", t->device);
}
