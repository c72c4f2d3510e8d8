/* stop.c - see debugged.h: what a block that is held still looks like, as an answer.
 *
 * Names come from the PTX, which is foreign: all pass sanitize_line().
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sim/debugged.h"
#include "backend/sim/look.h"
#include "backend/sim/sum.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"

enum { LANES = 32, TEXT_MAX = 4096, FLIGHT = 24 };

static void put_clean(json_t *o, const char *name, const char *text)
{
    char *clean = text ? sanitize_line(text) : NULL;
    json_object_set_new(o, name, clean ? json_string(clean) : json_null());
    free(clean);
}

/* Of each lane of the mask; null of the others. */
static json_t *lanes_json(const char *kind, uint32_t bytes, const uint64_t v[LANES], uint32_t mask)
{
    json_t *list = json_array();
    for (int i = 0; i < LANES; i++)
        json_array_append_new(list, mask >> i & 1 ? debug_number(kind, bytes, &v[i]) : json_null());
    return list;
}

/* ---- places and warps ---- */

static void put_place(const struct debugged *d, size_t insn, json_t *o)
{
    const struct sim_program *p = d->stage.scene.program;
    if (insn >= sim_program_facts(p).insns)
        return;
    const struct sim_insn in = sim_program_insn(p, insn);
    const struct look_place at = look_place(p, insn);
    json_object_set_new(o, "ptx_line", json_integer(in.ptx_line));
    put_clean(o, "instruction", in.name);
    if (!at.own.line)
        return;
    const char *slash = strrchr(at.own.file, '/');
    put_clean(o, "file", slash ? slash + 1 : at.own.file);
    json_object_set_new(o, "line", json_integer(at.own.line));
    if (at.at.line == at.own.line && !strcmp(at.at.file, at.own.file))
        return;
    slash = strrchr(at.at.file, '/');
    put_clean(o, "at_file", slash ? slash + 1 : at.at.file);
    json_object_set_new(o, "at_line", json_integer(at.at.line));
    put_clean(o, "function", at.at.function);
}

/* Its text with blanks for tabs. */
static void put_ptx(const struct debugged *d, size_t insn, json_t *o)
{
    const struct sim_program *p = d->stage.scene.program;
    if (insn >= sim_program_facts(p).insns)
        return;
    char *text = sim_program_ptx_line(p, sim_program_insn(p, insn).ptx_line);
    put_clean(o, "ptx", text);
    free(text);
}

static json_t *next_json(const struct debugged *d, int warp)
{
    const struct sim_warp w = sim_step_warp(d->step, warp);
    if (w.waits == SIM_WAITS_ENDED)
        return json_null();
    json_t *o = json_object();
    put_place(d, w.insn, o);
    put_ptx(d, w.insn, o);
    return o;
}

enum { MBARRIERS_SHOWN = 64 };

/* Has the phase that it asked for ended since? */
static bool phase_over(const struct debugged *d, const struct sim_warp *w)
{
    for (size_t i = 0; i < sim_step_mbarriers(d->step); i++) {
        const struct sim_mbarrier m = sim_step_mbarrier(d->step, i);
        if (m.addr == w->asks)
            return m.parity != w->asks_parity;
    }
    return false;
}

static json_t *warp_json(const struct debugged *d, int i)
{
    static const char *const waits[] = {
        [SIM_WAITS_NOT] = "runs",
        [SIM_WAITS_BARRIER] = "barrier",
        [SIM_WAITS_MBARRIER] = "mbarrier",
        [SIM_WAITS_ENDED] = "ended",
    };
    const struct sim_warp w = sim_step_warp(d->step, i);
    json_t *o = json_pack("{s:i, s:s, s:I, s:I, s:I, s:i, s:i}", "warp", i, "waits", waits[w.waits],
                          "active", (json_int_t)w.active, "live", (json_int_t)w.live, "steps",
                          (json_int_t)w.steps, "copies", (int)w.copies, "depth", w.depth);
    json_object_set_new(o, "products", json_integer((json_int_t)w.products));
    json_object_set_new(o, "barrier",
                        w.waits == SIM_WAITS_BARRIER ? json_integer(w.barrier) : json_null());
    if (w.waits == SIM_WAITS_MBARRIER) {
        json_object_set_new(o, "asks", json_string(finding_spot(&d->stage.scene, w.asks).text));
        json_object_set_new(o, "asks_parity", json_integer((json_int_t)w.asks_parity));
        json_object_set_new(o, "over", json_boolean(phase_over(d, &w)));
    }
    if (w.waits != SIM_WAITS_ENDED)
        put_place(d, w.insn, o);
    return o;
}

static json_t *mbarriers_json(const struct debugged *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sim_step_mbarriers(d->step) && i < MBARRIERS_SHOWN; i++) {
        const struct sim_mbarrier m = sim_step_mbarrier(d->step, i);
        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:I}", "name",
                                              finding_spot(&d->stage.scene, m.addr).text, "offset",
                                              (json_int_t)m.addr, "parity", (json_int_t)m.parity,
                                              "missing", (json_int_t)m.missing, "bytes",
                                              (json_int_t)m.bytes));
    }
    return list;
}

static json_t *warps_json(const struct debugged *d)
{
    json_t *list = json_array();
    for (int i = 0; i < sim_step_warps(d->step); i++)
        json_array_append_new(list, warp_json(d, i));
    return list;
}

static json_t *line_json(const struct debugged *d, size_t insn)
{
    const struct sim_program *p = d->stage.scene.program;
    const int line = insn < sim_program_facts(p).insns ? look_place(p, insn).own.line : 0;
    return line ? json_integer(line) : json_null();
}

/* From the one that runs down. */
static json_t *paths_json(const struct debugged *d)
{
    json_t *list = json_array();
    for (int i = sim_step_warp(d->step, d->warp).depth; i-- > 0;) {
        const struct sim_path p = sim_step_path(d->step, d->warp, i);
        json_array_append_new(list, json_pack("{s:I, s:o, s:o}", "mask", (json_int_t)p.mask, "line",
                                              line_json(d, p.insn), "meets", line_json(d, p.join)));
    }
    return list;
}

/* Threads that have not ended: for them a barrier waits that names no number. */
static uint32_t threads_of(const struct debugged *d)
{
    uint32_t n = 0;
    for (int i = 0; i < sim_step_warps(d->step); i++)
        n += (uint32_t)__builtin_popcount(sim_step_warp(d->step, i).live);
    return n;
}

static json_t *barriers_json(const struct debugged *d)
{
    json_t *list = json_array();
    for (int i = 0; i < 16; i++) {
        const struct sim_barrier b = sim_step_barrier(d->step, i);
        if (b.arrived)
            json_array_append_new(list, json_pack("{s:i, s:i, s:i}", "id", i, "arrived",
                                                  (int)b.arrived, "expected",
                                                  (int)(b.expected ? b.expected : threads_of(d))));
    }
    return list;
}

/* ---- what was done ---- */

/* What its instructions take a register for; NULL: nobody of that name. */
static const char *kind_of(const struct debugged *d, const char *name)
{
    for (uint32_t i = 0; i < sim_step_regs(d->step); i++) {
        const struct sim_reg r = sim_step_reg(d->step, i);
        if (!strcmp(r.name, name))
            return r.kind;
    }
    return "";
}

static uint32_t bytes_of_type(const char *type)
{
    return strstr(type, "64") ? 8 : 4;
}

/* What the memory that a step uses has for elements, "f16"; "": unknown. */
static const char *element_kind(const struct debugged *d, const struct sim_access *a,
                                const json_t *access)
{
    static const char *const kinds[] = {
        [DTYPE_F32] = "f32", [DTYPE_F16] = "f16", [DTYPE_BF16] = "bf16"};
    const char *element = json_string_value(json_object_get(access, "element"));
    if (a->space == SIM_SHARED && a->mask) {
        const struct plan_spot spot =
            finding_spot(&d->stage.scene, a->addr[__builtin_ctz(a->mask)]);
        return spot.buffer && spot.buffer->type ? spot.buffer->type : "";
    }
    const bool tensor = element && strchr("QKVO", *element) && element[1] == '[';
    return tensor ? kinds[d->stage.scene.shape->dtype] : "";
}

/* 16 bits that are moved to or from halves are no integer. */
static const char *moved_kind(const char *kind, const char *element)
{
    const bool halves = !strcmp(element, "f16") || !strcmp(element, "bf16");
    return halves && (!strcmp(kind, "u16") || !strcmp(kind, "s16")) ? element : kind;
}

static json_t *register_json(const struct debugged *d, const struct sim_register *r, uint32_t mask,
                             const char *element)
{
    const char *kind = r->address ? "" : moved_kind(kind_of(d, r->name), element);
    const uint32_t bytes = bytes_of_type(r->type);
    json_t *o = json_object();
    put_clean(o, "name", r->name);
    put_clean(o, "type", r->type);
    json_object_set_new(o, "kind", json_string(kind));
    json_object_set_new(o, "source", r->address ? json_null() : debug_source_name(d, r->name));
    json_object_set_new(o, "read", json_boolean(r->read));
    json_object_set_new(o, "written", json_boolean(r->written));
    json_object_set_new(o, "address", json_boolean(r->address));
    json_object_set_new(o, "before", lanes_json(kind, bytes, r->before, r->read ? UINT32_MAX : 0));
    json_object_set_new(o, "after", lanes_json(kind, bytes, r->after, r->written ? mask : 0));
    return o;
}

static json_t *did_json(const struct debugged *d)
{
    const struct sim_seen *e = sim_step_seen(d->step);
    if (!d->stop.stepped || d->stop.step != sim_step_now(d->step))
        return json_null();
    json_t *o = json_object(), *regs = json_array(), *accesses = json_array();
    put_place(d, d->stop.insn, o);
    put_ptx(d, d->stop.insn, o);
    json_object_set_new(o, "warp", e ? json_integer(e->warp) : json_null());
    json_object_set_new(o, "mask", e ? json_integer((json_int_t)e->mask) : json_null());
    for (size_t i = 0; e && i < e->accesses; i++)
        json_array_append_new(accesses, look_access_json(&d->stage.scene, &e->access[i]));
    const char *element =
        e && e->accesses ? element_kind(d, &e->access[0], json_array_get(accesses, 0)) : "";
    for (size_t i = 0; e && i < e->regs; i++)
        json_array_append_new(regs, register_json(d, &e->reg[i], e->mask, element));
    json_object_set_new(o, "registers", regs);
    json_object_set_new(o, "accesses", accesses);
    return o;
}

/* ---- problems ---- */

/* What was found so far, as sanitize tells it. */
json_t *debug_hazards_json(struct debugged *d)
{
    json_t *list = json_array();
    const struct sim_fault *faults;
    struct sim_result r = {.faults = sim_step_faults(d->step, &faults)};
    r.fault = (struct sim_fault *)(uintptr_t)faults;
    sim_step_hazards(d->step, &r.hazard, &r.hazards);
    findings_list(&d->stage.scene, &r, list);
    free(r.hazard);
    return list;
}

/* The one that the last step made: of that instruction, and the newest, which is the last in the list. */
static json_t *problem_json(const struct debugged *d)
{
    const struct sim_fault *faults;
    struct hazard_report *all;
    size_t n, kept = 0;
    struct sim_result r = {.faults = 0};
    const size_t nfaults = sim_step_faults(d->step, &faults);
    sim_step_hazards(d->step, &all, &n);
    for (size_t i = 0; i < n && d->stop.why == SIM_STOP_HAZARD; i++)
        if (all[i].b.insn == d->stop.insn && all[i].b.warp == d->stop.warp)
            all[kept++] = all[i];
    r.hazard = kept ? &all[kept - 1] : all;
    r.hazards = kept > 0;
    if (d->stop.why == SIM_STOP_FAULT && nfaults) {
        r.fault = (struct sim_fault *)(uintptr_t)&faults[nfaults - 1];
        r.faults = 1;
    }
    json_t *list = json_array(), *o = NULL;
    findings_list(&d->stage.scene, &r, list);
    o = json_incref(json_array_get(list, 0));
    json_decref(list);
    free(all);
    return o ? o : json_null();
}

static json_t *mark_json(const struct debugged *d)
{
    for (size_t i = 0; i < d->nmarks; i++) {
        const struct debug_mark *m = d->marks[i];
        if (!d->stop.mark || m->engine != d->stop.mark)
            continue;
        json_t *o = json_pack("{s:i, s:s}", "number", m->number, "text", m->text);
        if (d->stop.why == SIM_STOP_VALUE) {
            const struct sim_stop *s = &d->stop;
            json_object_set_new(o, "before",
                                s->known_before ? debug_number(m->kind, m->value.bytes, s->before)
                                                : json_null());
            json_object_set_new(o, "after",
                                s->known_after ? debug_number(m->kind, m->value.bytes, s->after)
                                               : json_null());
        }
        return o;
    }
    return json_null();
}

/* ---- the answer ---- */

static void put_text(struct debugged *d, json_t *o)
{
    size_t len;
    const char *text = sim_step_printed(d->step, &len);
    const size_t from = d->told < len ? d->told : len;
    struct str s = {0};
    sanitize(&s, text + from, len - from < TEXT_MAX ? len - from : TEXT_MAX, true);
    json_object_set_new(o, "text", s.len ? json_string(str_text(&s)) : json_null());
    str_free(&s);
    d->told = len;
}

static const char *why_word(const struct debugged *d)
{
    static const char *const words[] = {
        [SIM_STOP_GOAL] = "goal",
        [SIM_STOP_BREAK] = "break",
        [SIM_STOP_VALUE] = "value",
        [SIM_STOP_ACCESS] = "access",
        [SIM_STOP_HAZARD] = "hazard",
        [SIM_STOP_FAULT] = "fault",
        [SIM_STOP_END] = "end",
        [SIM_STOP_LIMIT] = "limit",
        [SIM_STOP_CANCELLED] = "cancelled",
    };
    return d->moved ? words[d->stop.why] : sim_step_now(d->step) ? "asked" : "begin";
}

json_t *debug_stop_json(struct debugged *d)
{
    json_t *o = json_object();
    const struct sim_fault *faults;
    struct hazard_report *hazards;
    size_t n;
    const bool problem =
        d->moved && (d->stop.why == SIM_STOP_HAZARD || d->stop.why == SIM_STOP_FAULT);
    sim_step_hazards(d->step, &hazards, &n);
    free(hazards);
    json_object_set_new(o, "why", json_string(why_word(d)));
    json_object_set_new(o, "step", json_integer((json_int_t)sim_step_now(d->step)));
    json_object_set_new(o, "last", json_integer((json_int_t)sim_step_end(d->step)));
    json_object_set_new(o, "ended", json_boolean(sim_step_ended(d->step)));
    json_object_set_new(o, "warp", json_integer(d->warp));
    json_object_set_new(o, "lane", json_integer(d->lane));
    json_object_set_new(o, "block",
                        json_pack("[I, I, I]", (json_int_t)d->begin.x, (json_int_t)d->begin.y,
                                  (json_int_t)d->begin.z));
    const uint32_t *g = d->stage.scene.launch->grid;
    json_object_set_new(
        o, "grid", json_pack("[I, I, I]", (json_int_t)g[0], (json_int_t)g[1], (json_int_t)g[2]));
    put_clean(o, "pass", d->stage.scene.pass->name);
    if (d->omitted.place)
        put_clean(o, "without", d->omitted.place);
    json_object_set_new(o, "order", json_string(debug_orders[d->begin.order]));
    json_object_set_new(o, "hazards", json_integer((json_int_t)n));
    json_object_set_new(o, "faults", json_integer((json_int_t)sim_step_faults(d->step, &faults)));
    json_object_set_new(o, "next", next_json(d, d->warp));
    json_object_set_new(o, "did", did_json(d));
    json_object_set_new(o, "warps", warps_json(d));
    json_object_set_new(o, "paths", paths_json(d));
    json_object_set_new(o, "barriers", barriers_json(d));
    json_object_set_new(o, "mbarriers", mbarriers_json(d));
    json_object_set_new(o, "smem", debug_smem_json(d));
    json_object_set_new(o, "trail", debug_trail_json(d));
    json_object_set_new(o, "recent", debug_recent_json(d));
    json_object_set_new(o, "names", debug_names_json(d));
    put_clean(o, "names_why", debug_names_why(d));
    json_object_set_new(o, "flight", debug_flight_json(d, FLIGHT));
    json_object_set_new(o, "problem", problem ? problem_json(d) : json_null());
    json_object_set_new(o, "mark", d->moved ? mark_json(d) : json_null());
    put_text(d, o);
    return o;
}

/* ---- lists ---- */

static json_t *register_row(const struct debugged *d, uint32_t reg)
{
    uint64_t lanes[LANES];
    size_t by;
    if (!sim_step_register(d->step, d->warp, reg, lanes, &by))
        return NULL;
    const struct sim_reg r = sim_step_reg(d->step, reg);
    json_t *o = json_object();
    put_clean(o, "name", r.name);
    put_clean(o, "type", r.type);
    json_object_set_new(o, "kind", json_string(r.kind));
    json_object_set_new(o, "slot", json_integer(r.slot));
    json_object_set_new(o, "source", debug_source_name(d, r.name));
    json_object_set_new(o, "line", line_json(d, by));
    json_object_set_new(
        o, "value", debug_number(r.kind, r.bits > 32 ? (uint32_t)r.bits / 8 : 4, &lanes[d->lane]));
    return o;
}

json_t *debug_registers_json(struct debugged *d, const char *prefix)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < sim_step_regs(d->step); i++) {
        const char *name = sim_step_reg(d->step, i).name;
        if (prefix && strncmp(name, prefix, strlen(prefix)) != 0)
            continue;
        json_t *row = json_array_size(list) < DEBUG_VALUES_MAX ? register_row(d, i) : NULL;
        if (row)
            json_array_append_new(list, row);
    }
    return list;
}

static json_t *print_lanes(const struct debugged *d, const struct debug_value *v)
{
    json_t *o = json_pack("{s:s, s:s}", "name", v->name, "kind", v->kind);
    uint64_t lanes[LANES];
    size_t by;
    if (!sim_step_register(d->step, d->warp, v->at.reg, lanes, &by)) {
        json_object_set_new(o, "value", json_null());
        return o;
    }
    if (v->all_lanes)
        json_object_set_new(o, "lanes", lanes_json(v->kind, v->at.bytes, lanes, UINT32_MAX));
    else
        json_object_set_new(o, "value", debug_number(v->kind, v->at.bytes, &lanes[v->at.lane]));
    json_object_set_new(o, "by_line", line_json(d, by));
    return o;
}

/* An element, or null for one that nobody wrote. */
static json_t *element_json(const struct debugged *d, const struct sim_value *at, const char *kind)
{
    uint8_t data[32] = {0};
    json_t *o = json_object();
    finding_name_address(&d->stage.scene, at->space, at->addr, o);
    json_object_del(o, "offset");
    json_object_set_new(o, "address", json_integer((json_int_t)at->addr));
    json_object_set_new(o, "value",
                        sim_step_value(d->step, at, data) ? debug_number(kind, at->bytes, data)
                                                          : json_null());
    return o;
}

json_t *debug_print_json(struct debugged *d, const struct debug_value *v)
{
    if (v->at.named || v->many)
        return debug_named_json(d, v);
    json_t *list = json_array();
    if (v->at.space == SIM_NOWHERE) {
        json_array_append_new(list, print_lanes(d, v));
        return list;
    }
    json_t *o = element_json(d, &v->at, v->kind);
    json_object_set_new(o, "name", json_string(v->name));
    json_object_set_new(o, "kind", json_string(v->kind));
    json_array_append_new(list, o);
    return list;
}

json_t *debug_memory_json(struct debugged *d, const struct debug_value *v, int64_t count)
{
    json_t *list = json_array();
    struct sim_value at = v->at;
    for (int64_t i = 0; i < count && i < DEBUG_VALUES_MAX; i++, at.addr += at.bytes)
        json_array_append_new(list, element_json(d, &at, v->kind));
    return list;
}

json_t *debug_shared_json(struct debugged *d)
{
    json_t *list = json_array();
    const struct plan_pass *p = d->stage.scene.pass;
    for (int i = 0; i < p->nsmem; i++) {
        const struct plan_smem *b = &p->smem[i];
        const struct plan_smem *is;
        uint64_t addr;
        if (b->bytes == INT_UNKNOWN || !finding_address(&d->stage.scene, b->name, &addr, &is))
            continue;
        json_array_append_new(
            list,
            json_pack("{s:s, s:I, s:I, s:I}", "name", b->name, "offset", (json_int_t)addr, "bytes",
                      (json_int_t)b->bytes, "written",
                      (json_int_t)sim_step_shared_written(d->step, addr, (uint64_t)b->bytes)));
    }
    return list;
}

json_t *debug_copies_json(struct debugged *d)
{
    return debug_flight_json(d, DEBUG_VALUES_MAX);
}

json_t *debug_flight_json(const struct debugged *d, size_t most)
{
    json_t *list = json_array();
    for (int w = 0; w < sim_step_warps(d->step); w++)
        for (size_t i = 0; i < sim_step_warp(d->step, w).copies; i++) {
            const struct sim_copy c = sim_step_copy(d->step, w, i);
            if (!c.mask || json_array_size(list) >= most)
                continue;
            json_t *o = json_pack("{s:i, s:I, s:i}", "warp", w, "mask", (json_int_t)c.mask, "bytes",
                                  (int)c.bytes);
            finding_name_address(&d->stage.scene, SIM_SHARED, c.to[__builtin_ctz(c.mask)], o);
            json_object_set_new(o, "groups_behind",
                                c.group < 0 ? json_null() : json_integer(c.group));
            if (c.engine)
                json_object_set_new(o, "mbarrier",
                                    c.stores ? json_null() : json_integer(c.barrier));
            json_object_set_new(o, "line", line_json(d, c.insn));
            json_array_append_new(list, o);
        }
    return list;
}

json_t *debug_kept_json(struct debugged *d)
{
    const struct sim_step_kept k = sim_step_kept(d->step);
    return json_pack("[{s:I, s:I, s:I}]", "moments", (json_int_t)k.moments, "bytes",
                     (json_int_t)k.bytes, "every", (json_int_t)k.every);
}

json_t *debug_breaks_json(struct debugged *d, int number)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->nmarks; i++)
        if (!number || d->marks[i]->number == number)
            json_array_append_new(list, json_pack("{s:i, s:s, s:I}", "number", d->marks[i]->number,
                                                  "text", d->marks[i]->text, "hits",
                                                  (json_int_t)d->marks[i]->hits));
    return list;
}
