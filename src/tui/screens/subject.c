/* subject.c - see subject.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/plan_here.h"
#include "command/ask/recollect.h"
#include "command/show/chosen.h"
#include "tui/screens/screen_util.h"

static void replace(char **slot, const char *text)
{
    char *copy = text ? xstrdup(text) : NULL;
    free(*slot);
    *slot = copy;
}

void subject_init(struct subject *s, struct app *a)
{
    *s = (struct subject){.app = a,
                          .settings_serial = a->settings_serial,
                          .generation = registry_generation(a->session->services.registry),
                          .knob = "S"};
    occupancy_unknown(&s->before);
}

void subject_clear(struct subject *s)
{
    subject_drop_plan(s);
    request_clear(&s->request);
    free(s->problem);
    str_free(&s->command);
    str_free(&s->why);
    free(s->chosen_for);
    free(s->chosen);
    *s = (struct subject){.app = s->app};
}

bool subject_settings_changed(struct subject *s)
{
    bool changed = s->settings_serial != s->app->settings_serial;
    s->settings_serial = s->app->settings_serial;
    return changed;
}

bool subject_kernels_changed(struct subject *s)
{
    const int now = registry_generation(s->app->session->services.registry);
    bool changed = s->generation != now;
    s->generation = now;
    return changed;
}

bool subject_code_changed(struct subject *s)
{
    const unsigned now = plans_serial(s->app->session);
    const bool changed = s->code_serial != now;
    s->code_serial = now;
    return changed;
}

/* ---- the request ---- */

void subject_set_problem(struct subject *s, const char *problem)
{
    replace(&s->problem, problem);
}

void subject_refuse(struct subject *s, const char *problem)
{
    request_clear(&s->request);
    str_clear(&s->command);
    replace(&s->problem, problem);
}

static void tell_command(struct subject *s)
{
    const char *verb = s->verb ? s->verb : s->request.nkernels > 1 ? "compare" : "run";
    str_clear(&s->command);
    request_command(&s->request, verb, &s->command);
}

void subject_ask(struct subject *s, const char *names, const char *verb, unsigned flags)
{
    struct err err = ERR_INIT;
    subject_refuse(s, NULL);
    s->verb = verb;
    if (request_of(s->app->session, names, NULL, flags, &s->request, &err) != ST_OK)
        subject_refuse(s, err.text);
    else
        tell_command(s);
}

void subject_set_samples(struct subject *s, int64_t n)
{
    s->request.options.rule.n = n;
    tell_command(s);
}

const char *subject_command(const struct subject *s)
{
    return s->command.len ? str_text(&s->command) : NULL;
}

/* ---- the plan ---- */

void subject_drop_plan(struct subject *s)
{
    if (s->have_plan)
        plan_clear(&s->plan);
    if (s->app)
        plans_forget(s->app->session, s);
    s->have_plan = false;
    request_clear(&s->planned);
    replace(&s->no_plan, NULL);
    str_clear(&s->why);
}

static void build(struct subject *s)
{
    struct err err = ERR_INIT;
    const struct kernel *k = s->planned.kernels[0];
    const struct device *gpu = session_gpu(s->app->session, s->planned.options.gpu, &err);
    if (!gpu) {
        replace(&s->no_plan, err.text);
        return;
    }
    if (!k->cuda)
        s->no_plan =
            xasprintf("%s exists for the CPU only: there is no CUDA kernel to plan.", k->name);
    if (!k->cuda || s->planned.descs[0] != k->cuda)
        return; /* the CPU's side has no launch to plan */
    if (plan_here(s->app->session, k->cuda, &s->planned.problem.shape, &s->planned.params[0], gpu,
                  &s->plan, &err) != ST_OK)
        replace(&s->no_plan, err.text);
    plan_want(s->app->session, s, &s->plan);
    s->have_plan = true;
}

bool subject_is_compiling(const struct subject *s)
{
    return s->have_plan && plan_is_awaited(s->app->session, &s->plan);
}

/* All that what auto would take hangs on. */
static char *chosen_question(const struct subject *s)
{
    struct session *session = s->app->session;
    struct str command = {0};
    const struct recalled was = recollect(session, &s->planned, 0, s->plan.device);
    request_command(&s->planned, "plan", &command);
    str_addf(&command, " on %s, %d %u %u %g", s->plan.device->name,
             registry_generation(session->services.registry), plans_serial(session),
             tunings_serial(session_tunings(session)),
             recollect_exact(&was) ? was.row->median_us : 0);
    return str_take(&command);
}

static void say_chosen(struct subject *s)
{
    struct str text = {0};
    char *question = chosen_question(s);
    if (!s->chosen_for || strcmp(question, s->chosen_for) != 0) {
        if (s->plan.reason)
            chosen_instead(s->app->session, &s->planned, &text);
        else
            chosen_why(s->app->session, &s->planned, 0, &text);
        replace(&s->chosen_for, question);
        replace(&s->chosen, str_text(&text));
        str_free(&text);
    }
    str_add(&s->why, s->chosen);
    free(question);
}

static void say_why(struct subject *s)
{
    if (s->have_plan && s->no_plan && !s->plan.reason) /* plan_why() says the reason itself */
        str_addf(&s->why, "%s. ", s->no_plan);
    if (s->have_plan && s->plan.npasses > 0) {
        plan_why(&s->plan, &s->why);
        say_chosen(s);
    } else if (s->no_plan && !s->have_plan)
        str_add(&s->why, s->no_plan);
}

/* ---- the state before ---- */

/* A plan's kernel and GPU, and what it was made for. */
struct planned_for {
    char *what, *at;
    struct occupancy occ;
};

static struct planned_for planned_for(const struct subject *s)
{
    struct planned_for p = {0};
    char shape[SHAPE_TEXT], params[SHAPE_TEXT];
    occupancy_unknown(&p.occ);
    if (!s->have_plan || s->plan.npasses == 0 || s->planned.nkernels == 0)
        return p;
    shape_format(&s->planned.problem.shape, shape, sizeof shape);
    desc_params_format(s->planned.descs[0], &s->planned.params[0], false, params, sizeof params);
    /* the plan's own GPU: the settings are newer */
    p.what = xasprintf("%s %s", s->planned.kernels[0]->name, s->plan.device->name);
    p.at = xasprintf("%s %s", shape, params);
    p.occ = s->plan.passes[s->plan.main_pass].occ;
    p.occ.reason = NULL; /* the plan's */
    return p;
}

/* Words of `was` that `now` has not. */
static void words_gone(const char *was, const char *now, char *buf, size_t size)
{
    struct str s = {0};
    for (const char *p = was; *p; p += strspn(p, " ")) {
        const size_t len = strcspn(p, " ");
        bool there = false;
        for (const char *q = now; *q && !there; q += strcspn(q, " "), q += strspn(q, " "))
            there = strcspn(q, " ") == len && !strncmp(p, q, len);
        if (!there) {
            str_add(&s, s.len ? " " : "");
            str_addn(&s, p, len);
        }
        p += len;
    }
    snprintf(buf, size, "%s", str_text(&s));
    str_free(&s);
}

/* Did a setting change what an SM holds? Registers that come to be known are no such change. */
static void keep_before(struct subject *s, const struct planned_for *was)
{
    struct planned_for now = planned_for(s);
    const bool same = was->what && now.what && !strcmp(was->what, now.what);
    if (!same)
        occupancy_unknown(&s->before);
    else if (strcmp(was->at, now.at) && was->occ.blocks_per_sm != INT_UNKNOWN) {
        s->before = was->occ;
        words_gone(was->at, now.at, s->before_words, sizeof s->before_words);
    }
    free(now.what);
    free(now.at);
}

void subject_plan_request(struct subject *s, const struct request *r)
{
    struct planned_for was = planned_for(s);
    subject_drop_plan(s);
    request_copy(&s->planned, r);
    build(s);
    say_why(s);
    keep_before(s, &was);
    free(was.what);
    free(was.at);
}

void subject_plan(struct subject *s, const char *kernel)
{
    struct err err = ERR_INIT;
    struct request r;
    if (request_of(s->app->session, kernel, NULL, REQUEST_PLAN, &r, &err) == ST_OK) {
        subject_plan_request(s, &r);
        request_clear(&r);
        return;
    }
    subject_drop_plan(s);
    replace(&s->no_plan, err.text);
    say_why(s);
}

bool subject_plan_differs(const struct subject *s)
{
    const struct kernel_desc *plan = s->planned.nkernels > 0 ? s->planned.descs[0] : NULL;
    const struct kernel_desc *runs = s->request.nkernels > 0 ? s->request.descs[0] : NULL;
    for (int i = 0; plan && runs && i < plan->nparams; i++)
        if (desc_param_changed(plan, &s->planned.params[0], i, &s->planned.problem.shape) &&
            desc_param_index(runs, plan->params[i].name) < 0)
            return true;
    return false;
}

bool subject_explain(const struct subject *s, const char *label, struct str *out)
{
    if (!s->have_plan) {
        str_add(out, s->no_plan ? s->no_plan : "there is no plan");
        return false;
    }
    screen_explain_plan(&s->plan, label, out);
    return true;
}

/* ---- knobs ---- */

void subject_renew_knobs(struct subject *s, int i)
{
    const struct kernel_desc *planned = s->planned.nkernels > 0 ? s->planned.descs[0] : NULL;
    s->knobs.n = 0;
    knobs_add_shape(&s->knobs, s->app->session);
    knobs_add_gpu(&s->knobs, s->app->session);
    knobs_add_params(&s->knobs, &s->planned, 0, NULL);
    knobs_add_params(&s->knobs, &s->request, i, planned);
}

int subject_knob(const struct subject *s)
{
    int i = knobs_find(&s->knobs, s->knob);
    return i >= 0 ? i : 0;
}

void subject_choose_knob(struct subject *s, int by)
{
    const int n = s->knobs.n;
    if (n)
        snprintf(s->knob, sizeof s->knob, "%.30s", s->knobs.v[(subject_knob(s) + n + by) % n].name);
}

void subject_turn(struct subject *s, int i, int dir)
{
    const struct knob *k = &s->knobs.v[i];
    char *why, *value = knob_step(s->app->session, k, dir, &why);
    if (value) {
        char *line = knob_command(k, value);
        app_set(s->app, line);
        free(line);
    } else if (why) {
        app_message(s->app, ROLE_DIM, "%s", why);
    }
    free(value);
    free(why);
}
