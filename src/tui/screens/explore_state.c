/* explore_state.c - what of Explore outlives the program: cursor, focus, figures.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "tui/screens/explore.h"

static void save_figures(const struct explore *e, json_t *list)
{
    for (int i = 0; i < e->nkernels; i++) {
        const struct figures *f = &e->figures[i];
        struct problem p = {.shape = f->shape};
        if (!f->have)
            continue;
        json_t *one = json_object();
        json_object_set_new(one, "kernel",
                            json_string(registry_at(e->app->session->registry, i)->name));
        json_object_set_new(one, "problem", problem_to_json(&p));
        json_object_set_new(one, "params", json_string(f->params));
        json_object_set_new(one, "row", record_to_json(run_fields, &f->row));
        json_array_append_new(list, one);
    }
}

void explore_save(void *ctx, json_t *o)
{
    const struct explore *e = ctx;
    json_t *list = json_array();
    save_figures(e, list);
    json_object_set_new(o, "kernel", json_string(e->kernel->name));
    if (e->second)
        json_object_set_new(o, "marked", json_string(e->second->name));
    json_object_set_new(o, "pane", json_integer(e->focus));
    json_object_set_new(o, "row", json_integer(e->shape_cur));
    json_object_set_new(o, "machine", json_string(e->machine));
    json_object_set_new(o, "figures", list);
}

static const struct kernel *kernel_named(const struct explore *e, const json_t *o,
                                         const char *member)
{
    const char *name = json_string_value(json_object_get(o, member));
    return name ? registry_find(e->app->session->registry, name) : NULL;
}

static void restore_figures(struct explore *e, const json_t *one)
{
    const struct kernel *k = kernel_named(e, one, "kernel");
    const char *params = json_string_value(json_object_get(one, "params"));
    struct problem p = PROBLEM_DEFAULT;
    if (!k || problem_from_json(&p, json_object_get(one, "problem"), NULL) != ST_OK)
        return;
    struct figures *f = &e->figures[explore_kernel_index(e, k)];
    if (f->have)
        record_clear(run_fields, &f->row);
    record_init(run_fields, &f->row);
    f->have = record_from_json(run_fields, &f->row, json_object_get(one, "row"), NULL) == ST_OK;
    f->shape = p.shape;
    f->gflops = f->row.tflops > 0 ? f->row.tflops * 1e3 : NAN;
    snprintf(f->params, sizeof f->params, "%s", params ? params : "");
    if (!f->have)
        record_clear(run_fields, &f->row);
    problem_clear(&p);
}

void explore_restore(void *ctx, const json_t *o)
{
    struct explore *e = ctx;
    const struct kernel *k = kernel_named(e, o, "kernel");
    const char *machine = json_string_value(json_object_get(o, "machine"));
    json_int_t pane = json_integer_value(json_object_get(o, "pane")),
               row = json_integer_value(json_object_get(o, "row"));
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(o, "figures"), i, one)
    {
        restore_figures(e, one);
    }
    e->kernel = k ? k : e->kernel;
    e->second = kernel_named(e, o, "marked");
    e->focus = pane >= 0 && pane < PANE_COUNT ? (enum pane)pane : PANE_SHAPE;
    e->projected = e->app->projector; /* the pane is the one that was left */
    if (machine)
        snprintf(e->machine, sizeof e->machine, "%s", machine);
    explore_refresh(e);
    explore_select_setting(e, row > 0 && row < 1000 ? (int)row : 0);
}
