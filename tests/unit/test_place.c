/* Places for registers. The main test is a property: programs with random control flow, guards and
 * widths are run by a warp whose registers share places and whose lanes part and meet; each lane then
 * runs alone with a register for every name. What a lane reads must be the same, instruction for instruction.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/place.h"

struct given {
    struct ptx_module *m;
    const struct ptx_function *f;
    struct flow *w;
    struct place *p;
};

static struct given given(const char *body)
{
    struct given g = {0};
    struct err err = ERR_INIT;
    char *text = xasprintf(".version 9.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n"
                           ".reg .pred %%p<9>; .reg .b32 %%r<90>; .reg .b64 %%rd<90>;\n"
                           ".reg .b16 %%rs<9>; .reg .b128 %%q<9>;\n%s\n}\n",
                           body);
    enum status st = ptx_parse(text, strlen(text), &g.m, &err);
    if (st == ST_OK)
        st = flow_new(g.f = g.m->functions[0], &g.w, &err);
    if (st == ST_OK)
        st = place_new(g.f, g.w, &g.p, &err);
    if (st)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    free(text);
    return g;
}

static void done(struct given *g)
{
    place_free(g->p);
    flow_free(g->w);
    ptx_free(g->m);
}

static uint32_t slot(const struct given *g, const char *name)
{
    for (uint32_t i = 0; i < g->f->nregs; i++)
        if (strcmp(g->f->regs[i].name, name) == 0)
            return g->p->slot[i];
    CU_FAIL("no such register");
    return 0;
}

static void places_are_used_again(void)
{
    struct given g = given("ld %r1, [0]; add %r2, %r1, 1; add %r3, %r2, 1; add %r4, %r3, 1;"
                           "st [0], %r4; ret;");
    CU_ASSERT_EQUAL(g.p->nslots, 2);
    CU_ASSERT_EQUAL(g.p->max_live, 2);
    CU_ASSERT_EQUAL(slot(&g, "%r1"), slot(&g, "%r3"));
    CU_ASSERT_NOT_EQUAL(slot(&g, "%r1"), slot(&g, "%r2")); /* a result and its operand */
    done(&g);
}

static void wide_values_have_neighbours(void)
{
    struct given g = given("ld %r1, [0]; ld %rd1, [0]; ld %r2, [0]; ld %rd2, [0]; ld %q1, [0];"
                           "ld %rs1, [0]; ld %p1, [0];"
                           "st [0], {%r1, %r2, %rd1, %rd2, %rs1, %p1, %q1}; ret;");
    CU_ASSERT_EQUAL(g.p->max_live, 1 + 1 + 2 + 2 + 1 + 4);
    CU_ASSERT_EQUAL(slot(&g, "%rd1") % 2, 0);
    CU_ASSERT_EQUAL(slot(&g, "%q1") % 4, 0);
    CU_ASSERT(slot(&g, "%rd2") + 2 <= g.p->nslots);
    CU_ASSERT_EQUAL(slot(&g, "%r1") ^ 1, slot(&g, "%r2")); /* together, so that pairs stay free */
    CU_ASSERT_EQUAL(g.p->nmasks, 1);
    CU_ASSERT_EQUAL(slot(&g, "%p1"), 0);
    CU_ASSERT_EQUAL(g.p->nslots, 12); /* 11 and one beside %rs1 */
    done(&g);
    CU_ASSERT_EQUAL(place_slots(PTX_PRED), 0);
    CU_ASSERT_EQUAL(place_slots(PTX_B8), 1);
    CU_ASSERT_EQUAL(place_slots(PTX_F16X2), 1);
    CU_ASSERT_EQUAL(place_slots(PTX_F64), 2);
    CU_ASSERT_EQUAL(place_slots(PTX_B128), 4);
}

static void values_live_around_loops(void)
{
    /* %r1 is read at the top of each turn, so it lives through the whole loop; %r9 is only within. */
    struct given g = given("mov %r1, 1; L: st [0], %r1; mov %r9, 2; st [0], %r9; mov %r8, 3;"
                           "st [0], %r8; @%p1 bra L; ret;");
    CU_ASSERT_NOT_EQUAL(slot(&g, "%r1"), slot(&g, "%r9"));
    CU_ASSERT_NOT_EQUAL(slot(&g, "%r1"), slot(&g, "%r8"));
    CU_ASSERT_EQUAL(slot(&g, "%r9"), slot(&g, "%r8"));
    done(&g);
    /* A guarded write leaves what the other lanes had. */
    g = given("mov %r1, 1; mov %r2, 2; st [0], %r2; @%p1 mov %r1, 3; st [0], %r1; ret;");
    CU_ASSERT_NOT_EQUAL(slot(&g, "%r1"), slot(&g, "%r2"));
    done(&g);
    g = given("mov %r1, 1; st [0], %r1; mov %r2, 2; st [0], %r2; mov %r1, 3; st [0], %r1; ret;");
    CU_ASSERT_EQUAL(g.p->nslots, 2); /* one range from first to last: %r1 keeps its place */
    done(&g);
}

static void nothing_needs_no_place(void)
{
    struct given g = given("ret;");
    CU_ASSERT_EQUAL(g.p->nslots, 0);
    CU_ASSERT_EQUAL(g.p->nmasks, 0);
    done(&g);
    g = given("");
    CU_ASSERT_EQUAL(g.p->nslots, 0);
    done(&g);
}

static void too_many_are_refused(void)
{
    struct str s = {0};
    struct err err = ERR_INIT;
    struct ptx_module *m;
    struct flow *w;
    struct place *p;
    str_add(&s, ".version 9.0\n.target sm_80\n.entry k() {\n.reg .b32 %r<20000>;\n");
    for (int i = 0; i <= PLACE_MAX_SLOTS; i++)
        str_addf(&s, "ld %%r%d, [0];\n", i);
    for (int i = 0; i <= PLACE_MAX_SLOTS; i++)
        str_addf(&s, "st [0], %%r%d;\n", i);
    str_add(&s, "}\n");
    CU_ASSERT_EQUAL_FATAL(ptx_parse(str_text(&s), s.len, &m, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(flow_new(m->functions[0], &w, &err), ST_OK);
    CU_ASSERT_EQUAL(place_new(m->functions[0], w, &p, &err), ST_USAGE);
    CU_ASSERT(strstr(err.text, "live at once") != NULL);
    CU_ASSERT_PTR_NULL(p);
    flow_free(w);
    ptx_free(m);
    /* Every register lives across every block. */
    enum { N = 40000 };
    str_clear(&s);
    str_add(&s, ".version 9.0\n.target sm_80\n.entry k() {\n.reg .b32 %r<40000>; .reg .pred %p;\n");
    for (int i = 0; i < N; i++)
        str_addf(&s, "L%d: st [0], %%r%d;\n@%%p bra L%d;\n", i, i, N - 1 - i);
    str_add(&s, "}\n");
    CU_ASSERT_EQUAL_FATAL(ptx_parse(str_text(&s), s.len, &m, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(flow_new(m->functions[0], &w, &err), ST_OK);
    CU_ASSERT_EQUAL(place_new(m->functions[0], w, &p, &err), ST_USAGE);
    CU_ASSERT(strstr(err.text, "too many") != NULL);
    flow_free(w);
    ptx_free(m);
    str_free(&s);
}

/* ---- The property. ---- */

enum { LANES = 8, STEPS = 400, MAX_READS = 16000, NAMES = 200 };

static uint64_t seed;
static uint32_t draw(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

static void add_reg(struct str *s)
{
    static const char *const names[] = {"%r", "%r", "%rd", "%rs", "%p", "%q"};
    static const uint32_t count[] = {7, 7, 4, 3, 4, 1};
    const uint32_t kind = draw(12) ? draw(5) : 5;
    str_addf(s, "%s%u", names[kind], draw(count[kind]));
}

/* An instruction of no meaning: what it writes is a hash of itself and of what it reads. */
static void add_insn(struct str *s)
{
    const bool vector = !draw(4), store = !draw(6);
    if (!draw(3))
        str_addf(s, "@%s%%p%u ", draw(2) ? "!" : "", draw(4));
    str_add(s, store ? "st [%rd1], " : vector ? "mix {" : "mix ");
    add_reg(s);
    if (vector && !store) {
        str_add(s, ", ");
        add_reg(s);
        str_add(s, "}");
    }
    for (uint32_t n = draw(4); n; n--) {
        str_add(s, ", ");
        add_reg(s);
    }
    str_add(s, ";\n");
}

/* A chain of values that live from one instruction to the next, as in unrolled code. */
static void add_chain(struct str *s, uint32_t *fresh)
{
    str_addf(s, "mix %%r%u, 1;\n", 10 + *fresh);
    for (uint32_t n = 1 + draw(4); n; n--, ++*fresh) {
        str_addf(s, "mix %%r%u, %%r%u", 11 + *fresh, 10 + *fresh);
        if (draw(2)) {
            str_add(s, ", ");
            add_reg(s);
        }
        str_add(s, ";\n");
    }
    str_addf(s, "st [0], %%r%u;\n", 10 + *fresh);
    ++*fresh;
}

static char *random_program(uint32_t nblocks)
{
    struct str s = {0};
    uint32_t fresh = 0;
    for (uint32_t b = 0; b < nblocks; b++) {
        str_addf(&s, "L%u:\n", b);
        for (uint32_t n = draw(6); n; n--)
            draw(3) || fresh > 70 ? add_insn(&s) : add_chain(&s, &fresh);
        const uint32_t kind = draw(8);
        /* One after the other: a compiler draws arguments in the order that it likes. */
        const uint32_t first = draw(kind < 4 ? 4 : nblocks), second = draw(nblocks),
                       which = draw(7);
        if (kind < 4)
            str_addf(&s, "@%%p%u bra L%u;\n", first, second);
        else if (kind == 4)
            str_addf(&s, "bra L%u;\n", second);
        else if (kind == 5)
            str_addf(&s, "T%u: .branchtargets L%u, L%u;\nbrx.idx %%r%u, T%u;\n", b, first, second,
                     which, b);
        else if (kind == 6 && !draw(3))
            str_add(&s, "@%p1 exit;\n");
    }
    str_add(&s, "ret;\n");
    return str_take(&s);
}

/* What a lane did: instructions in order, each with a hash of what it read. Values that were never
 * written make a hash of 0, and so do all that come from them. */
struct history {
    uint32_t n, insn[MAX_READS];
    uint64_t read[MAX_READS];
};

/* Registers of one lane's run alone. */
struct alone {
    uint64_t low[NAMES], high[NAMES];
    bool known[NAMES];
};

struct warp {
    uint32_t *slots; /* [slot][lane], wide values contiguous: [lane] of 8 or 16 bytes */
    uint8_t *masks;
    uint8_t known[NAMES]; /* lanes that wrote the register on their way, whatever its place holds */
};

/* Which way a lane goes: the same for the warp and for the lane alone, whatever the values. */
static uint64_t oracle(uint64_t program, uint32_t lane, uint32_t step)
{
    const uint64_t key[3] = {program, lane, step};
    const uint64_t h = hash_bytes(HASH_START, key, sizeof key);
    return h ^ h >> 31;
}

static bool guard_of(const struct ptx_insn *i, uint64_t chance)
{
    return i->guard < 0 || (chance >> 7 & 1);
}

/* Where a lane goes from `at`. */
static uint32_t next_of(const struct given *g, uint32_t at, uint64_t chance)
{
    const struct ptx_function *f = g->f;
    const struct ptx_insn *i = &f->insns[at];
    const enum flow_kind kind = flow_kind(i);
    if (kind == FLOW_NEXT || !guard_of(i, chance))
        return at + 1;
    if (kind == FLOW_END)
        return f->ninsns;
    const struct ptx_operand *o = &f->operands[i->operand + i->noperands - 1];
    const uint32_t label = o->kind == PTX_LABEL
                               ? o->label
                               : f->targets[o->targets].labels[chance % f->targets[o->targets].n];
    return f->labels[label].insn;
}

struct step {
    const struct given *g;
    struct warp *w;
    struct alone *a;
    uint32_t lane;
    uint64_t hash;
    bool known; /* everything that was read */
    int nwrites;
    int32_t writes[8];
};

static size_t bytes_of(const struct given *g, int32_t reg)
{
    return 4 * place_slots(g->f->regs[reg].type);
}

static void *cell(const struct step *s, int32_t reg, uint32_t lane)
{
    const size_t n = bytes_of(s->g, reg);
    return (char *)(s->w->slots + (size_t)s->g->p->slot[reg] * LANES) + n * lane;
}

static void add_value(struct step *s, uint64_t low, uint64_t high, bool known)
{
    const uint64_t v[2] = {low, high};
    s->hash = hash_bytes(s->hash, v, sizeof v);
    s->known = s->known && known;
}

static void step_warp(void *ctx, int32_t reg, enum flow_use use)
{
    struct step *s = ctx;
    if (use == FLOW_WRITES) {
        s->writes[s->nwrites++] = reg;
        return;
    }
    uint64_t v[2] = {0, 0};
    if (bytes_of(s->g, reg))
        memcpy(v, cell(s, reg, s->lane), bytes_of(s->g, reg));
    else
        v[0] = s->w->masks[s->g->p->slot[reg]] >> s->lane & 1;
    add_value(s, v[0], v[1], s->w->known[reg] >> s->lane & 1);
}

static void step_alone(void *ctx, int32_t reg, enum flow_use use)
{
    struct step *s = ctx;
    if (use == FLOW_WRITES)
        s->writes[s->nwrites++] = reg;
    else
        add_value(s, s->a->low[reg], s->a->high[reg], s->a->known[reg]);
}

/* The value that an instruction gives its `k`-th result, as wide as the register. */
static void result_of(const struct step *s, int32_t reg, int k, uint64_t out[2])
{
    const size_t n = bytes_of(s->g, reg);
    out[0] = (s->hash ^ s->hash >> 17) * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)k;
    out[1] = n == 16 ? ~out[0] * 3 : 0;
    out[0] = n == 0 ? out[0] >> 9 & 1 : n == 4 ? (uint32_t)out[0] : out[0];
}

static void remember(struct history *h, uint32_t insn, const struct step *s)
{
    if (h->n == MAX_READS)
        return;
    h->insn[h->n] = insn;
    h->read[h->n++] = s->known ? s->hash : 0;
}

struct named {
    uint8_t read[NAMES], written[NAMES];
};

static void note_named(void *ctx, int32_t reg, enum flow_use use)
{
    struct named *n = ctx;
    (use == FLOW_WRITES ? n->written : n->read)[reg] = 1;
}

/* Rubbish where results will stand: an instruction may write before it has read all. */
static void spoil(const struct given *g, struct warp *w, uint32_t at, uint8_t mask)
{
    struct named n = {0};
    const struct step s = {.g = g, .w = w};
    flow_registers(g->f, &g->f->insns[at], note_named, &n);
    for (uint32_t reg = 0; reg < g->f->nregs; reg++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            if (!n.written[reg] || n.read[reg] || !(mask >> lane & 1))
                continue;
            if (bytes_of(g, (int32_t)reg))
                memset(cell(&s, (int32_t)reg, lane), 0xA5, bytes_of(g, (int32_t)reg));
            else
                w->masks[g->p->slot[reg]] ^= (uint8_t)(1u << lane);
        }
}

/* One instruction of the lanes in `mask`: all results first become rubbish, unless they are read as
 * well; then all lanes read, and then results are written. */
static void warp_step(const struct given *g, struct warp *w, uint32_t at, uint8_t mask,
                      const uint32_t *steps, struct history *h)
{
    const struct ptx_insn *i = &g->f->insns[at];
    struct step s[LANES];
    spoil(g, w, at, mask);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        s[lane] =
            (struct step){.g = g, .w = w, .lane = lane, .hash = HASH_START + at, .known = true};
        if (mask >> lane & 1) {
            flow_registers(g->f, i, step_warp, &s[lane]);
            remember(&h[lane], at, &s[lane]);
        }
    }
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint64_t chance = oracle(g->f->ninsns, lane, steps[lane]);
        if (!(mask >> lane & 1) || !guard_of(i, chance) || flow_kind(i) != FLOW_NEXT)
            continue;
        for (int k = 0; k < s[lane].nwrites; k++) {
            uint64_t v[2];
            const int32_t reg = s[lane].writes[k];
            result_of(&s[lane], reg, k, v);
            if (bytes_of(g, reg))
                memcpy(cell(&s[lane], reg, lane), v, bytes_of(g, reg));
            else if (v[0])
                w->masks[g->p->slot[reg]] |= (uint8_t)(1u << lane);
            else
                w->masks[g->p->slot[reg]] &= (uint8_t) ~(1u << lane);
            w->known[reg] =
                (uint8_t)((w->known[reg] & ~(1u << lane)) | (unsigned)s[lane].known << lane);
        }
    }
}

struct part {
    uint32_t pc, meet;
    uint8_t mask;
};

/* Runs the warp until all lanes are at the end, or for so many steps. */
static void run_warp(const struct given *g, struct warp *w, struct history *h)
{
    struct part stack[LANES * 64];
    uint32_t depth = 0, steps[LANES] = {0};
    stack[depth++] = (struct part){0, g->f->ninsns, 0xFF};
    for (int n = 0; n < STEPS && depth; n++) {
        struct part *p = &stack[depth - 1];
        if (p->pc == p->meet || p->pc == g->f->ninsns || !p->mask) {
            depth--;
            continue;
        }
        const uint32_t at = p->pc;
        uint32_t to[LANES], first = UINT32_MAX;
        uint8_t there = 0;
        warp_step(g, w, at, p->mask, steps, h);
        for (uint32_t lane = 0; lane < LANES; lane++)
            if (p->mask >> lane & 1) {
                to[lane] = next_of(g, at, oracle(g->f->ninsns, lane, steps[lane]++));
                first = first == UINT32_MAX ? to[lane] : first;
                there |= (uint8_t)((to[lane] == first) << lane);
            }
        if (there == p->mask) {
            p->pc = first;
            continue;
        }
        /* They part: this entry waits where they meet, one more for each way. */
        const uint8_t all = p->mask;
        const uint32_t meet = flow_meeting(g->w, at);
        p->pc = meet;
        for (uint8_t left = all; left;) {
            uint8_t same = 0;
            uint32_t target = UINT32_MAX;
            for (uint32_t lane = 0; lane < LANES; lane++)
                if (left >> lane & 1) {
                    target = target == UINT32_MAX ? to[lane] : target;
                    same |= (uint8_t)((to[lane] == target) << lane);
                }
            if (target != g->f->ninsns && depth < sizeof stack / sizeof *stack)
                stack[depth++] = (struct part){target, meet, same};
            left &= (uint8_t)~same;
        }
        /* Lanes that ended wait nowhere. */
        for (uint32_t lane = 0; lane < LANES; lane++)
            if ((all >> lane & 1) && to[lane] == g->f->ninsns)
                for (uint32_t d = 0; d < depth; d++)
                    stack[d].mask &= (uint8_t) ~(1u << lane);
    }
}

/* Runs one lane alone along what it did in the warp; false at the first difference. */
static bool agrees(const struct given *g, uint32_t lane, const struct history *h)
{
    struct alone a = {0};
    uint32_t pc = 0;
    for (uint32_t n = 0; n < h->n; n++) {
        const uint64_t chance = oracle(g->f->ninsns, lane, n);
        if (pc != h->insn[n]) {
            printf("# lane %u step %u: at %u, the warp at %u\n", lane, n, pc, h->insn[n]);
            return false;
        }
        const struct ptx_insn *i = &g->f->insns[pc];
        struct step s = {.g = g, .a = &a, .lane = lane, .hash = HASH_START + pc, .known = true};
        flow_registers(g->f, i, step_alone, &s);
        if ((s.known ? s.hash : 0) != h->read[n]) {
            printf("# lane %u step %u: instruction %u reads something else\n", lane, n, pc);
            return false;
        }
        for (int k = 0; k < s.nwrites && guard_of(i, chance) && flow_kind(i) == FLOW_NEXT; k++) {
            uint64_t v[2];
            result_of(&s, s.writes[k], k, v);
            a.low[s.writes[k]] = v[0];
            a.high[s.writes[k]] = v[1];
            a.known[s.writes[k]] = s.known;
        }
        pc = next_of(g, pc, chance);
    }
    return true;
}

static bool runs_alike(const struct given *g, struct history *h, uint64_t *reads)
{
    struct warp w = {.slots = xcalloc((size_t)g->p->nslots + 1, 4 * LANES),
                     .masks = xcalloc((size_t)g->p->nmasks + 1, 1)};
    for (uint32_t lane = 0; lane < LANES; lane++)
        h[lane].n = 0;
    run_warp(g, &w, h);
    bool same = true;
    for (uint32_t lane = 0; lane < LANES && same; lane++) {
        same = agrees(g, lane, &h[lane]);
        for (uint32_t n = 0; n < h[lane].n; n++)
            *reads += h[lane].read[n] != 0;
    }
    free(w.slots);
    free(w.masks);
    return same;
}

static void sharing_is_never_seen(void)
{
    struct history *h = xcalloc(LANES, sizeof *h);
    uint64_t reads = 0, slots = 0, wanted = 0;
    for (uint64_t start = 1; start <= 1500; start++) {
        seed = start;
        char *text = random_program(1 + draw(9));
        struct given g = given(text);
        const bool same = g.f->nregs <= NAMES && runs_alike(&g, h, &reads);
        if (!same)
            printf("# program %llu:\n%s", (unsigned long long)start, text);
        CU_ASSERT(same);
        slots += g.p->nslots;
        for (uint32_t r = 0; r < g.f->nregs; r++)
            wanted += place_slots(g.f->regs[r].type);
        done(&g);
        free(text);
        if (!same)
            break;
    }
    printf("# %llu instructions with known values, %llu slots for %llu\n",
           (unsigned long long)reads, (unsigned long long)slots, (unsigned long long)wanted);
    CU_ASSERT(reads > 100000);          /* it did run */
    CU_ASSERT(slots * 10 < wanted * 9); /* and places were shared */
    free(h);
}

static const struct tap_test tests[] = {
    {"places are used again", places_are_used_again},
    {"wide values have neighbouring places", wide_values_have_neighbours},
    {"values live around loops and through guarded writes", values_live_around_loops},
    {"nothing needs no place", nothing_needs_no_place},
    {"too many are refused", too_many_are_refused},
    {"sharing is never seen", sharing_is_never_seen},
};

TAP_MAIN("place", tests)
