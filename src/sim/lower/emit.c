/* emit.c - what lowering makes: code, constants, and refusals; see lower.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "sim/lower/lower.h"

/* ---- Constants ---- */
static uint32_t hash_of(uint64_t value, bool wide, int variable)
{
    uint64_t x =
        (value ^ (uint64_t)wide << 63 ^ (uint64_t)(variable + 1) << 40) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(x >> 40);
}

static bool same_constant(const struct program_constant *c, uint64_t value, bool wide, int variable)
{
    return c->value == value && c->wide == wide && c->variable == variable && !c->second;
}

static void grow_table(struct lower *l)
{
    const uint32_t size = l->constant_mask ? (l->constant_mask + 1) * 2 : 256;
    free(l->constant_at);
    l->constant_at = xcalloc(size, sizeof *l->constant_at);
    l->constant_mask = size - 1;
    for (uint32_t i = 0; i < l->p->nconstant; i++) {
        const struct program_constant *c = &l->p->constant[i];
        uint32_t at = hash_of(c->value, c->wide, c->variable) & l->constant_mask;
        while (l->constant_at[at])
            at = (at + 1) & l->constant_mask;
        l->constant_at[at] = i + 1;
    }
}

uint32_t lower_constant_of(struct lower *l, uint64_t value, bool wide, int variable)
{
    if (!wide)
        value &= UINT32_MAX;
    if (!l->constant_mask || l->p->nconstant * 2 > l->constant_mask)
        grow_table(l);
    uint32_t at = hash_of(value, wide, variable) & l->constant_mask;
    for (; l->constant_at[at]; at = (at + 1) & l->constant_mask)
        if (same_constant(&l->p->constant[l->constant_at[at] - 1], value, wide, variable))
            return (l->constant_at[at] - 1) * SIM_SLOT | 1;
    const uint32_t slot = l->p->nconstant;
    xgrow((void **)&l->p->constant, &l->constant_cap, slot + 2u, sizeof *l->p->constant);
    l->p->constant[l->p->nconstant++] =
        (struct program_constant){.value = value, .wide = wide, .variable = variable};
    if (wide)
        l->p->constant[l->p->nconstant++] =
            (struct program_constant){.second = true, .variable = -1};
    l->constant_at[at] = slot + 1;
    return slot * SIM_SLOT | 1;
}

uint32_t lower_constant(struct lower *l, uint64_t value, bool wide)
{
    return lower_constant_of(l, value, wide, -1);
}

/* ---- Refusals ---- */
static void add_place(struct lower *l, struct str *s, uint32_t location)
{
    const struct ptx_location *at = &l->module->locations[location];
    if (!at->line)
        return;
    const char *file = "?";
    for (uint32_t i = 0; i < l->module->nfiles; i++)
        if (l->module->files[i].index == at->file)
            file = l->module->files[i].name;
    const char *base = strrchr(file, '/');
    str_addf(s, " (%s:%u)", base ? base + 1 : file, at->line);
}

enum status lower_refuse(struct lower *l, const char *fmt, ...)
{
    struct str s = {0}, text = {0};
    va_list ap;
    va_start(ap, fmt);
    str_addf(&s, "PTX line %u", l->i->line);
    if (l->module->nlocations)
        add_place(l, &s, l->i->location);
    ptx_print(l->f, l->i, &text);
    str_addf(&s, ": %.160s: ", str_text(&text));
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    char *clean = sanitize_line(str_text(&s));
    err_set(l->err, ST_USAGE, "%s", clean);
    free(clean);
    str_free(&s);
    str_free(&text);
    return ST_USAGE;
}

/* ---- Code ---- */
struct code *lower_emit(struct lower *l, enum sim_op op, enum sim_pipe pipe)
{
    struct sim_program *p = l->p;
    xgrow((void **)&p->code, &l->code_cap, p->ncode + 1u, sizeof *p->code);
    const bool first = p->ncode == l->first;
    struct code *c = &p->code[p->ncode++];
    const uint32_t zero = lower_constant(l, 0, true);
    *c = (struct code){.op = (uint16_t)op,
                       .flags = first ? 0 : SIM_QUIET,
                       .pipe = (uint8_t)(first ? pipe : SIM_PIPE_COUNT),
                       .pd = PRED_SINK,
                       .pq = PRED_SINK,
                       .d = SIM_NO_REF,
                       .a = zero,
                       .b = zero,
                       .c = zero,
                       .insn = l->index};
    if (first && l->index < l->f->ninsns)
        p->insn[l->index].pipe = pipe;
    if (l->i && l->i->guard >= 0) {
        const uint32_t mask = l->place->slot[l->i->guard];
        c->guard = (uint16_t)((mask == PLACE_NONE ? PRED_SINK : PRED_FIRST + mask) * 2 +
                              l->i->guard_negated);
    }
    return c;
}

uint32_t lower_groups(struct lower *l, uint32_t n)
{
    if (n > l->p->facts.groups_left)
        l->p->facts.groups_left = n;
    return n;
}

uint32_t lower_memory(struct lower *l, const struct code_memory *m)
{
    xgrow((void **)&l->p->memory, &l->memory_cap, l->p->nmemory + 1u, sizeof *m);
    l->p->memory[l->p->nmemory] = *m;
    return l->p->nmemory++;
}

uint32_t lower_tensor_new(struct lower *l, const struct code_tensor *t)
{
    xgrow((void **)&l->p->tensor, &l->tensor_cap, l->p->ntensor + 1u, sizeof *t);
    l->p->tensor[l->p->ntensor] = *t;
    l->p->facts.tensor_insns++;
    return l->p->ntensor++;
}
