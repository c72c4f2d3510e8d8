/* step_named.c - values that the source has names for, in a block that is held still; see step.h.
 *
 * A compiler gives a variable another register with each assignment, and the registers' places go to others. So a named
 * value is kept beside them: whenever one of its registers is written, by the lanes that write it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/exec/step_state.h"
#include "sim/ptx.h"

#define NO_REGISTER UINT32_MAX

/* Names repeat between scopes: one that does tells nobody which is meant. */
static uint32_t only_register(const struct sim_program *p, const char *name)
{
    uint32_t found = NO_REGISTER;
    for (uint32_t r = 0; r < p->function->nregs; r++) {
        if (strcmp(p->function->regs[r].name, name) != 0)
            continue;
        if (found != NO_REGISTER)
            return NO_REGISTER;
        found = r;
    }
    return found;
}

static bool has_value(const struct sim_program *p, uint32_t reg)
{
    return reg != NO_REGISTER && p->place_of[reg] != STEP_NOBODY &&
           ptx_type_bytes(p->function->regs[reg].type) == 4;
}

void step_namings_new(struct sim_step *s)
{
    const struct sim_program *p = s->program;
    const struct sim_step_options *o = &s->options;
    struct namings *k = &s->namings;
    const size_t nregs = p->function->nregs;
    uint32_t *reg = xcalloc(o->namings + 1, sizeof *reg);
    *k = (struct namings){.from = xcalloc(nregs + 2, sizeof *k->from),
                          .of_reg = xcalloc(o->namings + 1, sizeof *k->of_reg),
                          .lost = xcalloc(o->names + 1u, sizeof *k->lost),
                          .names = o->names};
    for (size_t i = 0; i < o->namings; i++) {
        reg[i] = o->naming[i].name < k->names ? only_register(p, o->naming[i].reg) : NO_REGISTER;
        if (has_value(p, reg[i]))
            k->from[reg[i] + 2]++;
        else if (o->naming[i].name < k->names)
            k->lost[o->naming[i].name] = true;
    }
    for (size_t r = 1; r < nregs + 2; r++)
        k->from[r] += k->from[r - 1];
    for (size_t i = 0; i < o->namings; i++)
        if (has_value(p, reg[i]))
            k->of_reg[k->from[reg[i] + 1]++] = o->naming[i].name;
    free(reg);
    s->named = xcalloc((size_t)s->worker.block.nwarps * k->names + 1, sizeof *s->named);
    s->options.naming = NULL;
}

void step_namings_free(struct sim_step *s)
{
    free(s->namings.from);
    free(s->namings.of_reg);
    free(s->namings.lost);
    free(s->named);
}

static bool writes_named(const struct sim_step *s, size_t insn)
{
    const struct writes k = s->writes[insn];
    for (uint32_t i = k.from; i < k.from + k.n; i++)
        if (s->namings.from[s->written[i]] < s->namings.from[s->written[i] + 1])
            return true;
    return false;
}

uint32_t step_named_lanes(const struct sim_step *s, const struct warp *w, size_t insn,
                          uint32_t mask)
{
    if (!s->namings.names || insn >= s->program->facts.insns || !writes_named(s, insn))
        return 0;
    const struct ptx_insn *i = &s->program->function->insns[insn];
    if (i->guard < 0)
        return mask;
    const uint32_t guard = w->pred[PRED_FIRST + s->program->place_of[i->guard]];
    return mask & (i->guard_negated ? ~guard : guard);
}

/* One register's new value, under each of its names. */
static void note(struct sim_step *s, const struct warp *w, uint32_t reg, size_t insn,
                 uint32_t lanes)
{
    const struct namings *k = &s->namings;
    const char *slot = w->base[0] + (size_t)s->program->place_of[reg] * SIM_SLOT;
    const uint32_t *value = (const uint32_t *)(const void *)slot;
    for (uint32_t i = k->from[reg]; i < k->from[reg + 1]; i++) {
        struct sim_named *v = &s->named[(size_t)w->id * k->names + k->of_reg[i]];
        for (int l = 0; l < 32; l++)
            v->lanes[l] = lanes >> l & 1 ? value[l] : v->lanes[l];
        v->known |= lanes;
        v->reg = reg;
        v->insn = (uint32_t)insn;
        v->step = s->now + 1;
        v->kind = step_kinds[s->kind[reg]];
    }
}

void step_note_named(struct sim_step *s, const struct warp *w, size_t insn, uint32_t lanes)
{
    const struct writes k = s->writes[insn];
    for (uint32_t i = k.from; i < k.from + k.n; i++)
        if (s->program->place_of[s->written[i]] != STEP_NOBODY)
            note(s, w, s->written[i], insn, lanes);
}
