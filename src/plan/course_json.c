/* course_json.c - phases and courses as JSON.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/predict_course.h"

static json_t *counts_json(const struct course_phase *p)
{
    json_t *pipes = json_object();
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        if (p->pipe[i] > 0)
            json_object_set_new(pipes, sim_pipe_name((enum sim_pipe)i), json_real(p->pipe[i]));
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "warp_instructions", p->executed,
                     "smem_wavefronts", p->wavefronts, "global_sectors", p->sectors, "tensor_ops",
                     p->products, "async_copies", p->copies, "shuffles", p->shuffles, "pipes",
                     pipes);
}

json_t *course_phases_json(const struct courses *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->phases; i++) {
        const struct course_phase *p = &c->phase[i];
        char does[64];
        json_t *o = counts_json(p);
        course_does(p, does, sizeof does);
        json_object_set_new(o, "pass", json_integer(p->pass));
        json_object_set_new(o, "phase", json_integer(p->phase));
        json_object_set_new(o, "does", json_string(does));
        json_object_set_new(o, "place", *p->place ? json_string(p->place) : json_null());
        json_object_set_new(o, "us", json_real(p->us));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *step_json(const struct course *c, const struct course_step *s)
{
    const struct course_phase counts = course_step_counts(c, s);
    json_t *o = counts_json(&counts);
    json_object_set_new(o, "phase", json_integer(s->phase));
    json_object_set_new(o, "rounds", json_integer(s->rounds));
    json_object_set_new(o, "length", json_integer(s->length));
    json_object_set_new(o, "at", json_integer(s->at));
    json_object_set_new(o, "phases", json_integer(s->times));
    json_object_set_new(o, "us", json_real(s->us));
    json_object_set_new(o, "share", json_real(s->share));
    json_object_set_new(o, "unit", json_string(predict_unit_name(s->unit)));
    return o;
}

json_t *courses_json(const struct courses *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n; i++) {
        json_t *steps = json_array();
        for (size_t k = 0; k < c->course[i].steps; k++)
            json_array_append_new(steps, step_json(&c->course[i], &c->course[i].step[k]));
        json_t *o = json_pack("{s:i, s:I, s:f, s:o}", "pass", c->course[i].pass, "block",
                              (json_int_t)c->course[i].block, "stands", c->course[i].stands,
                              "steps", steps);
        if (c->course[i].beats)
            json_object_set(o, "beats", c->course[i].beats);
        json_array_append_new(list, o);
    }
    return list;
}
