/* names.c - see debugged.h: values by the names that the source marks with @show; which registers hold them stands in the
 * PTX (backend/compile/ptx_names.h), and what they are is kept by the stepped block (sim_step_named()).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/sim/debugged.h"
#include "backend/sim/look.h"
#include "base/mem.h"
#include "base/sanitize.h"

enum { LANES = 32, BYTES = 4, VALUES_MOST = 64 };

void debug_value_clear(struct debug_value *v)
{
    free(v->name);
    v->name = NULL;
}

/* Is it this name, or an element of it? */
static bool is_of(const char *name, const char *of, size_t len)
{
    return !strncmp(name, of, len) && (!name[len] || name[len] == '[');
}

static json_t *line_of(const struct debugged *d, size_t insn)
{
    const int line = look_place(d->stage.scene.program, insn).own.line;
    return line ? json_integer(line) : json_null();
}

const char *debug_names_why(const struct debugged *d)
{
    return d->names.n ? NULL : d->names.why_not;
}

enum status debug_named_value(const struct debugged *d, const char *name, struct debug_value *out,
                              struct err *err)
{
    const size_t len = strlen(name);
    size_t found = 0;
    *out = (struct debug_value){.name = NULL};
    for (size_t i = 0; i < d->names.n; i++) {
        if (!is_of(d->names.name[i], name, len))
            continue;
        struct sim_named now;
        const bool known = sim_step_named(d->step, d->warp, (uint32_t)i, &now);
        found++;
        if (found == 1)
            *out = (struct debug_value){.at = {.space = SIM_NOWHERE,
                                               .named = true,
                                               .warp = d->warp,
                                               .lane = d->lane,
                                               .reg = (uint32_t)i,
                                               .bytes = BYTES},
                                        .kind = known ? now.kind : "f32",
                                        .all_lanes = !d->names.name[i][len]};
        out->many = d->names.name[i][len] != 0;
    }
    if (found) {
        out->name = sanitize_line(name);
        return ST_OK;
    }
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789[]") == len && debug_names_why(d))
        return err_set(err, ST_NO, "the variables of this kernel have no names here: %s",
                       debug_names_why(d));
    return ST_USAGE;
}

static json_t *value_of(const struct sim_named *now, int lane)
{
    return now->known >> lane & 1 ? debug_number(now->kind, BYTES, &now->lanes[lane]) : json_null();
}

static json_t *element(const struct debugged *d, uint32_t name, bool lanes)
{
    struct sim_named now;
    char *clean = sanitize_line(d->names.name[name]);
    json_t *o = json_pack("{s:s}", "name", clean);
    free(clean);
    if (!sim_step_named(d->step, d->warp, name, &now)) {
        json_object_set_new(o, "value", json_null());
        return o;
    }
    json_object_set_new(o, "kind", json_string(now.kind));
    json_object_set_new(o, "register", json_string(sim_step_reg(d->step, now.reg).name));
    json_object_set_new(o, "by_line", line_of(d, now.insn));
    if (!lanes) {
        json_object_set_new(o, "value", value_of(&now, d->lane));
        return o;
    }
    json_t *list = json_array();
    for (int i = 0; i < LANES; i++)
        json_array_append_new(list, value_of(&now, i));
    json_object_set_new(o, "lanes", list);
    return o;
}

size_t debug_named_elements(const struct debugged *d, const char *name, struct debug_value *out,
                            size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < d->names.n; i++) {
        if (!is_of(d->names.name[i], name, strlen(name)))
            continue;
        if (n < most)
            (void)debug_named_value(d, d->names.name[i], &out[n], NULL);
        n++;
    }
    return n;
}

json_t *debug_named_json(const struct debugged *d, const struct debug_value *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->names.n && json_array_size(list) < DEBUG_VALUES_MAX; i++)
        if (is_of(d->names.name[i], v->name, strlen(v->name)))
            json_array_append_new(list, element(d, (uint32_t)i, v->all_lanes && !v->many));
    return list;
}

/* ---- all of them ---- */

struct variable {
    const char *name;
    size_t len;
    json_t *values, *elements;
    int64_t n;
    uint64_t step; /* of the last write of any */
    size_t insn;
};

static void take(const struct debugged *d, struct variable *v, size_t i)
{
    struct sim_named now;
    v->n++;
    const bool known = sim_step_named(d->step, d->warp, (uint32_t)i, &now);
    if (known && now.step >= v->step) {
        v->step = now.step;
        v->insn = now.insn;
    }
    if (json_array_size(v->values) < VALUES_MOST) {
        char *clean = sanitize_line(d->names.name[i]);
        json_array_append_new(v->values, known ? value_of(&now, d->lane) : json_null());
        json_array_append_new(v->elements, json_string(clean));
        free(clean);
    }
}

static json_t *variable_json(const struct debugged *d, size_t first)
{
    struct variable v = {.name = d->names.name[first],
                         .len = strcspn(d->names.name[first], "["),
                         .values = json_array(),
                         .elements = json_array()};
    for (size_t i = first; i < d->names.n; i++)
        if (is_of(d->names.name[i], v.name, v.len))
            take(d, &v, i);
    char *name = xstrndup(v.name, v.len), *clean = sanitize_line(name);
    json_t *o = json_pack("{s:s, s:I, s:o, s:o}", "name", clean, "elements", (json_int_t)v.n,
                          "element", v.elements, "values", v.values);
    json_object_set_new(o, "line", v.step ? line_of(d, v.insn) : json_null());
    json_object_set_new(o, "step", v.step ? json_integer((json_int_t)v.step) : json_null());
    free(clean);
    free(name);
    return o;
}

static bool is_first(const struct debugged *d, size_t i)
{
    const size_t len = strcspn(d->names.name[i], "[");
    for (size_t k = 0; k < i; k++)
        if (is_of(d->names.name[k], d->names.name[i], len))
            return false;
    return true;
}

json_t *debug_names_json(const struct debugged *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->names.n; i++)
        if (is_first(d, i))
            json_array_append_new(list, variable_json(d, i));
    return list;
}

json_t *debug_source_name(const struct debugged *d, const char *reg)
{
    for (size_t i = 0; i < d->names.regs; i++) {
        struct sim_named now;
        const uint32_t name = d->names.reg[i].name;
        if (!strcmp(d->names.reg[i].reg, reg) && sim_step_named(d->step, d->warp, name, &now) &&
            !strcmp(sim_step_reg(d->step, now.reg).name, reg)) {
            char *clean = sanitize_line(d->names.name[name]);
            json_t *out = json_string(clean);
            free(clean);
            return out;
        }
    }
    return json_null();
}
