/* plan_json.c - a plan as a JSON object with the documented fields.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/number.h"
#include "plan/plan.h"

static void put_int(json_t *o, const char *name, int64_t value)
{
    json_object_set_new(o, name, value == INT_UNKNOWN ? json_null() : json_integer(value));
}

static void put_real(json_t *o, const char *name, double value)
{
    json_object_set_new(o, name, isfinite(value) ? json_real(value) : json_null());
}

static void put_text(json_t *o, const char *name, const char *text)
{
    json_object_set_new(o, name, text ? json_string(text) : json_null());
}

static json_t *grid_to_json(const struct plan_pass *pass)
{
    json_t *array = json_array();
    for (int i = 0; i < 3; i++)
        json_array_append_new(array, pass->grid[i] == INT_UNKNOWN ? json_null()
                                                                  : json_integer(pass->grid[i]));
    return array;
}

static json_t *smem_to_json(const struct plan_pass *pass)
{
    json_t *array = json_array();
    for (int i = 0; i < pass->nsmem; i++) {
        const struct plan_smem *b = &pass->smem[i];
        json_t *o = json_object();
        put_text(o, "name", b->name);
        put_int(o, "offset", b->offset);
        put_int(o, "bytes", b->bytes);
        put_text(o, "formula", b->formula);
        put_text(o, "kind", b->is_static ? "static" : "dynamic");
        json_object_set_new(o, "overlay", json_boolean(b->overlay));
        put_text(o, "doc", b->doc);
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *pass_to_json(const struct plan_pass *pass)
{
    json_t *o = json_object();
    put_text(o, "name", pass->name);
    json_object_set_new(o, "grid", grid_to_json(pass));
    put_int(o, "threads", pass->threads);
    put_int(o, "smem_bytes", pass->smem_bytes);
    put_int(o, "static_smem_bytes", pass->static_smem);
    put_int(o, "dynamic_smem_bytes", pass->dynamic_smem);
    put_int(o, "cluster", pass->cluster);
    put_int(o, "regs", pass->regs);
    put_int(o, "spill_bytes", pass->spill_bytes);
    put_text(o, "regs_source", pass->regs_source);
    json_object_set_new(o, "regs_stale", json_boolean(pass->regs_stale));
    put_int(o, "blocks_per_sm", pass->occ.blocks_per_sm);
    put_real(o, "waves", pass->occ.waves);
    return o;
}

static void add_main_pass(json_t *o, const struct plan_pass *pass)
{
    occupancy_add_json(&pass->occ, o);
    json_object_set_new(o, "grid", grid_to_json(pass));
    put_int(o, "threads", pass->threads);
    json_object_set_new(o, "smem", smem_to_json(pass));
    put_int(o, "smem_bytes", pass->smem_bytes);
    put_int(o, "regs", pass->regs);
    put_text(o, "regs_source", pass->regs_source);
    put_int(o, "spill_bytes", pass->spill_bytes);
}

/* The same fields, all unknown: a CPU kernel launches nothing. */
static void add_no_pass(json_t *o)
{
    struct plan_pass none = {.grid = {INT_UNKNOWN, INT_UNKNOWN, INT_UNKNOWN},
                             .threads = INT_UNKNOWN,
                             .smem_bytes = INT_UNKNOWN,
                             .regs = INT_UNKNOWN,
                             .spill_bytes = INT_UNKNOWN};
    occupancy_unknown(&none.occ);
    add_main_pass(o, &none);
}

static void add_traffic_and_roof(json_t *o, const struct plan *p)
{
    put_real(o, "flops", p->flops);
    put_real(o, "requested_bytes", p->requested_bytes);
    put_real(o, "compulsory_bytes", p->compulsory_bytes);
    put_real(o, "requested_intensity", p->requested_intensity);
    put_real(o, "compulsory_intensity", p->compulsory_intensity);
    put_real(o, "ridge", p->ridge);
    put_text(o, "bound", p->bound);
    put_real(o, "roof_us", p->roof_us);
    put_real(o, "peak_tflops", p->peak_tflops);
    put_text(o, "peak_unit", p->peak_unit);
    put_real(o, "dram_gbs", p->dram_gbs);
    put_text(o, "roof_note", plan_roof_note(p));
}

static json_t *workspace_to_json(const struct plan *p)
{
    json_t *array = json_array();
    for (int i = 0; i < p->desc->nws; i++) {
        json_t *o = json_object();
        put_text(o, "name", p->desc->ws[i].name);
        put_int(o, "bytes", p->ws_bytes[i]);
        put_text(o, "doc", p->desc->ws[i].doc);
        json_array_append_new(array, o);
    }
    return array;
}

json_t *plan_to_json(const struct plan *p)
{
    json_t *o = json_object();
    char text[1024];
    put_text(o, "kernel", p->desc->name);
    put_text(o, "device", p->device ? p->device->name : NULL);
    shape_format(&p->shape, text, sizeof text);
    put_text(o, "shape", text);
    desc_params_format(p->desc, &p->params, false, text, sizeof text);
    put_text(o, "params", text);
    if (p->npasses)
        add_main_pass(o, &p->passes[p->main_pass]);
    else
        add_no_pass(o);
    json_t *passes = json_array();
    for (int i = 0; i < p->npasses; i++)
        json_array_append_new(passes, pass_to_json(&p->passes[i]));
    json_object_set_new(o, "passes", passes);
    add_traffic_and_roof(o, p);
    json_object_set_new(o, "workspace", workspace_to_json(p));
    put_text(o, "reason", p->reason);
    put_text(o, "blocked_by", p->blocked_by);
    return o;
}
