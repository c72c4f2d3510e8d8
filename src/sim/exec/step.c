/* step.c - see step.h: whose turn it is, when to stop, and the way back.
 *
 * A step is the warp's loop with a quantum of one. It leaves the warp in front of its next instruction, with the paths
 * that had come to their end done, as long as nothing waits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/step.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/exec/flight.h"
#include "sim/exec/step_state.h"
#include "sim/flow.h"
#include "sim/place.h"
#include "sim/ptx.h"

#define SPINS_MAX 4 /* times that all ask in vain, one after the other */
#define AHEAD_MAX \
    (1 << 14) /* steps in a row of one that spins on memory, before another has its turn */
#define PATIENCE      1024 /* steps between looks at it */
#define BYTES_USUAL   (1ull << 30)
#define MOMENTS_BYTES (128ull << 20)
#define TURNS_IN_ROW  UINT8_MAX

/* ---- Begin and end ---- */

struct gather {
    struct sim_step *s;
    size_t n, cap;
};

static void gather_write(void *ctx, int32_t reg, enum flow_use use)
{
    struct gather *g = ctx;
    if (use != FLOW_WRITES)
        return;
    xgrow((void **)&g->s->written, &g->cap, g->n + 1, sizeof *g->s->written);
    g->s->written[g->n++] = (uint32_t)reg;
}

/* Which registers each instruction writes. */
static void list_writes(struct sim_step *s)
{
    const struct ptx_function *f = s->program->function;
    struct gather g = {.s = s};
    s->writes = xcalloc(s->program->facts.insns + 1, sizeof *s->writes);
    for (size_t i = 0; i < s->program->facts.insns && i < f->ninsns; i++) {
        const size_t from = g.n;
        flow_registers(f, &f->insns[i], gather_write, &g);
        s->writes[i] = (struct writes){(uint32_t)from, (uint32_t)(g.n - from)};
    }
}

/* A copy of the memory is made, and what a block changes of it is kept again and again. */
static enum status check_memory(const struct sim_step *s, struct err *err)
{
    const uint64_t most = s->options.max_bytes ? s->options.max_bytes : BYTES_USUAL;
    uint64_t all = 0;
    for (size_t i = 0; i < s->memory->count; i++)
        all += s->memory->all[i].bytes + s->memory->all[i].bytes / 8;
    return all <= most ? ST_OK
                       : err_set(err, ST_FAIL,
                                 "%s uses %llu MiB of memory, of which no copy is made above %llu "
                                 "MiB: a smaller "
                                 "shape can be stepped",
                                 s->program->facts.entry, (unsigned long long)(all >> 20),
                                 (unsigned long long)(most >> 20));
}

static void new_hazards(struct sim_step *s)
{
    hazard_block_free(s->worker.hazard);
    hazards_free(s->hazards);
    s->worker.hazard = NULL;
    s->hazards = NULL;
    if (!s->options.hazards)
        return;
    const struct hazard_options h = {.threads = s->worker.block.threads,
                                     .shared_bytes = s->worker.block.shared_bytes,
                                     .agents = flight_agents(s->program, s->worker.launch),
                                     .sends = s->program->sends,
                                     .movable = true};
    s->hazards = hazards_new(&h);
    s->worker.hazard = hazard_block_new(s->hazards);
    hazard_block_begin(s->worker.hazard, s->options.block, s->worker.block.shared);
}

static void begin(struct sim_step *s)
{
    struct worker *t = &s->worker;
    block_begin(t, s->options.block);
    new_hazards(s);
    memset(s->owner, 0xff, (size_t)t->block.nwarps * step_places(s) * sizeof *s->owner);
    memset(s->named, 0, (size_t)t->block.nwarps * s->namings.names * sizeof *s->named);
    for (int i = 0; i < t->block.nwarps; i++)
        s->turn[i] = (struct turn_state){.told = UINT64_MAX, .last = s->program->facts.insns};
    observer_wake(s->observer, false);
    s->now = 0;
    s->last_warp = -1;
    s->last_insn = s->program->facts.insns;
    s->ran_on = s->spins = 0;
    s->ended = s->awake = false;
    s->faults = s->hazards_seen = 0;
}

static void open_worker(struct sim_step *s)
{
    s->worker = (struct worker){.program = s->program,
                                .launch = &s->own_launch,
                                .memory = s->memory,
                                .warp_run = grid_runner(),
                                .observer = s->observer,
                                .counters = true,
                                .max_instructions = UINT64_MAX,
                                .quantum = 1,
                                .max_printf = 64 << 10,
                                .constants = s->constants,
                                .params = s->params};
    worker_open(&s->worker);
}

static enum status build(struct sim_step *s, struct err *err)
{
    const struct sim_program *p = s->program;
    const struct sim_launch *l = s->launch;
    enum status st = grid_check(p, l, err);
    if (st != ST_OK)
        return st;
    s->own_launch = *l;
    s->params = xmalloc(l->param_bytes + 1);
    memcpy(s->params, l->params, l->param_bytes);
    s->own_launch.params = s->params;
    s->all = xcalloc(p->facts.insns + 1, sizeof *s->all);
    memset(s->all, true, p->facts.insns);
    s->look = (struct sim_observe){
        .block = s->options.block, .warp = SIM_ANY_WARP, .insn = s->all, .most = 1};
    st = observer_new(p, s->memory, l, &s->look, &s->observer, err);
    if (st == ST_OK)
        st = grid_constants(s->memory, p, &s->constants, err);
    if (st == ST_OK)
        st = check_memory(s, err);
    if (st != ST_OK)
        return st;
    list_writes(s);
    step_list_kinds(s);
    open_worker(s);
    const int n = s->worker.block.nwarps;
    s->owner = xcalloc((size_t)n * step_places(s) + 1, sizeof *s->owner);
    s->turn = xcalloc((size_t)n + 1, sizeof *s->turn);
    step_namings_new(s);
    begin(s);
    step_moments_new(s);
    return ST_OK;
}

enum status sim_step_new(const struct sim_program *p, struct sim_memory *m,
                         const struct sim_launch *launch, const struct sim_step_options *o,
                         struct sim_step **out, struct err *err)
{
    if (launch->cluster > 1)
        return err_set(err, ST_USAGE, "%s: a block in a cluster cannot be stepped yet",
                       p->facts.entry);
    struct sim_step *s = xcalloc(1, sizeof *s);
    *s = (struct sim_step){.program = p, .memory = m, .launch = launch, .options = *o};
    if (!s->options.max_steps || s->options.max_steps > SIM_STEPS_MAX)
        s->options.max_steps = SIM_STEPS_MAX;
    if (!s->options.keep_bytes)
        s->options.keep_bytes = MOMENTS_BYTES;
    const enum status st = build(s, err);
    if (st == ST_OK)
        *out = s;
    else
        sim_step_free(s);
    return st;
}

void sim_step_free(struct sim_step *s)
{
    if (!s)
        return;
    step_moments_free(s);
    hazard_block_free(s->worker.hazard);
    hazards_free(s->hazards);
    if (s->worker.memo)
        worker_close(&s->worker);
    observer_drop(s->observer);
    for (size_t i = 0; i < s->nmarks; i++) {
        free(s->marks[i].insn);
        free(s->marks[i].within);
    }
    free(s->marks);
    free(s->log);
    free(s->done);
    free(s->turn);
    free(s->owner);
    step_namings_free(s);
    free(s->written);
    free(s->kind);
    free(s->writes);
    free(s->constants);
    free(s->params);
    free(s->all);
    free(s);
}

void sim_step_order(struct sim_step *s, enum sim_order order, uint64_t seed)
{
    s->options.order = order;
    s->options.seed = seed;
}

/* ---- Turns ---- */

static bool may_run(const struct sim_step *s, int i)
{
    const struct block *b = &s->worker.block;
    const struct warp *w = &b->warp[i];
    const struct turn_state *t = &s->turn[i];
    return w->depth && w->wait != WAIT_BARRIER && !(t->asked && t->since == b->changes);
}

static uint64_t drawn(uint64_t seed, uint64_t step)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15ull + step + 1;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static int in_turn(const struct sim_step *s)
{
    const int n = s->worker.block.nwarps;
    for (int k = 1; k <= n; k++) {
        const int i = (s->last_warp + k) % n;
        if (may_run(s, i))
            return i;
    }
    return -1;
}

static int by_seed(const struct sim_step *s)
{
    const int n = s->worker.block.nwarps;
    int able = 0;
    for (int i = 0; i < n; i++)
        able += may_run(s, i);
    if (!able)
        return -1;
    int left = (int)(drawn(s->options.seed, s->now) % (uint64_t)able);
    for (int i = 0; i < n; i++)
        if (may_run(s, i) && left-- == 0)
            return i;
    return -1;
}

/* The one that is furthest ahead; one that may spin on memory gives way now and then. */
static int against(const struct sim_step *s)
{
    const struct block *b = &s->worker.block;
    const int tired = s->ran_on >= AHEAD_MAX ? s->last_warp : -1;
    int best = -1;
    for (int i = 0; i < b->nwarps; i++)
        if (i != tired && may_run(s, i) &&
            (best < 0 || b->warp[i].executed > b->warp[best].executed))
            best = i;
    return best < 0 && tired >= 0 && may_run(s, tired) ? tired : best;
}

static int by_order(const struct sim_step *s)
{
    switch (s->options.order) {
    case SIM_ORDER_SEED:
        return by_seed(s);
    case SIM_ORDER_AGAINST:
        return against(s);
    default:
        return in_turn(s);
    }
}

/* All that could run ask in vain: once more, for what is not an mbarrier may have changed. False: they may not. */
static bool ask_again(struct sim_step *s)
{
    bool some = false;
    const struct block *b = &s->worker.block;
    for (int i = 0; i < b->nwarps; i++) {
        some |= s->turn[i].asked && b->warp[i].depth && b->warp[i].wait != WAIT_BARRIER;
        s->turn[i].asked = false;
    }
    return some && s->spins++ < SPINS_MAX * b->nwarps;
}

static bool any_alive(const struct block *b)
{
    for (int i = 0; i < b->nwarps; i++)
        if (b->warp[i].depth)
            return true;
    return false;
}

/* Whose step is next; -1: nobody's, the block has ended. */
static int next_warp(struct sim_step *s, int wanted)
{
    struct block *b = &s->worker.block;
    if (b->ended || s->ended)
        return -1;
    if (wanted >= 0 && may_run(s, wanted))
        return wanted;
    int i = by_order(s);
    if (i < 0 && ask_again(s))
        i = by_order(s);
    if (i < 0 && any_alive(b))
        block_deadlock(b);
    return i;
}

/* ---- A step ---- */

static void note_turn(struct sim_step *s, int warp)
{
    struct turns *last = s->logs ? &s->log[s->logs - 1] : NULL;
    if (last && last->warp == warp && last->n < TURNS_IN_ROW) {
        last->n++;
        return;
    }
    xgrow((void **)&s->log, &s->logs_cap, s->logs + 1, sizeof *s->log);
    s->log[s->logs++] = (struct turns){(uint8_t)warp, 1};
}

/* What was gone beyond `now` is another way from here on. */
static void forget_ahead(struct sim_step *s)
{
    uint64_t at = 0;
    size_t i = 0;
    if (s->end == s->now)
        return;
    while (at + s->log[i].n <= s->now && at < s->now)
        at += s->log[i++].n;
    if (s->now > at)
        s->log[i++].n = (uint8_t)(s->now - at);
    s->logs = i;
    s->end = s->now;
    step_forget_moments(s);
}

static void note_writes(struct sim_step *s, const struct warp *w, size_t insn)
{
    const struct writes k = s->writes[insn];
    struct owner *of = s->owner + (size_t)w->id * step_places(s);
    for (uint32_t i = k.from; i < k.from + k.n; i++) {
        const uint32_t reg = s->written[i], at = s->program->place_of[reg];
        if (at == PLACE_NONE)
            continue;
        const enum ptx_type type = s->program->function->regs[reg].type;
        const struct owner me = {reg, (uint32_t)insn, (uint32_t)s->now + 1};
        if (type == PTX_PRED) {
            if (PRED_FIRST + at < s->program->predicates)
                of[s->program->slots + PRED_FIRST + at] = me;
            continue;
        }
        for (uint32_t n = 0; n < place_slots(type) && at + n < s->program->slots; n++)
            of[at + n] = me;
    }
}

static void look(struct sim_step *s, bool awake)
{
    struct worker *t = &s->worker;
    t->program = t->block.program = awake ? observer_program(s->observer) : s->program;
    t->slow = awake;
    if (awake || s->awake)
        observer_wake(s->observer, awake);
    s->awake = awake;
}

static void note_done(struct sim_step *s, const struct warp *w, uint32_t lanes)
{
    const size_t at = (size_t)(s->now % DONE_MOST);
    const bool known = s->last_insn < s->program->facts.insns;
    struct sim_done d = {.step = (uint32_t)s->now,
                         .insn = (uint32_t)s->last_insn,
                         .warp = (uint8_t)w->id,
                         .lanes = (uint8_t)__builtin_popcount(lanes),
                         .barrier = -1,
                         .waits = w->wait == WAIT_BARRIER,
                         .asks = s->turn[w->id].asked,
                         .ends = !w->depth};
    if (known && s->program->insn[s->last_insn].barrier)
        d.barrier = (int8_t)w->barrier;
    for (size_t i = 0; i < w->copies; i++)
        d.copies += w->copy[i].mask != 0;
    d.bulk = s->worker.block.flight ? (uint16_t)s->worker.block.flight->copies : 0;
    d.products = (uint16_t)w->wgmmas;
    if (at >= s->done_cap)
        xgrow((void **)&s->done, &s->done_cap, at + 1, sizeof *s->done);
    s->done[at] = d;
}

/* One instruction of the warp, which may run. */
static void step(struct sim_step *s, int warp, bool awake)
{
    struct worker *t = &s->worker;
    struct block *b = &t->block;
    struct warp *w = &b->warp[warp];
    struct turn_state *turn = &s->turn[warp];
    const uint64_t changes = b->changes;
    s->faults = t->faults.count;
    s->hazards_seen = t->hazard ? hazard_block_count(t->hazard) : 0;
    struct path top = {0};
    (void)step_next(s, w, &top);
    s->last_insn = turn->last = step_next_insn(s, w);
    const uint32_t naming = step_named_lanes(s, w, s->last_insn, top.mask);
    look(s, awake);
    w->yields = false;
    t->warp_run(w, 1);
    turn->asked = w->yields;
    turn->since = b->changes;
    if (!w->depth && w->wait != WAIT_ENDED) {
        w->wait = WAIT_ENDED;
        barrier_exit(b);
    }
    if (s->last_insn < s->program->facts.insns)
        note_writes(s, w, s->last_insn);
    if (naming)
        step_note_named(s, w, s->last_insn, naming);
    if (!w->yields || changes != b->changes)
        s->spins = 0;
    s->ran_on = s->last_warp == warp ? s->ran_on + 1 : 0;
    s->last_warp = warp;
    s->now++;
    note_done(s, w, top.mask);
    s->ended = b->ended || !any_alive(b);
}

/* ---- Marks ---- */

static struct mark *find_mark(struct sim_step *s, int number)
{
    for (size_t i = 0; i < s->nmarks; i++)
        if (s->marks[i].number == number)
            return &s->marks[i];
    return NULL;
}

static bool *copy_set(const bool *set, size_t n)
{
    bool *copy = set ? xcalloc(n + 1, sizeof *copy) : NULL;
    if (set)
        memcpy(copy, set, n * sizeof *copy);
    return copy;
}

int sim_step_mark(struct sim_step *s, const struct sim_mark *m)
{
    const size_t n = s->program->facts.insns;
    xgrow((void **)&s->marks, &s->marks_cap, s->nmarks + 1, sizeof *s->marks);
    struct mark *k = &s->marks[s->nmarks++];
    *k = (struct mark){.what = *m, .number = ++s->last_mark};
    k->insn = copy_set(m->insn, n);
    k->within = copy_set(m->within, n);
    if (m->kind == SIM_MARK_VALUE)
        k->known = sim_step_value(s, &m->value, k->was);
    return k->number;
}

bool sim_step_unmark(struct sim_step *s, int number)
{
    struct mark *k = find_mark(s, number);
    if (!k)
        return false;
    free(k->insn);
    free(k->within);
    *k = s->marks[--s->nmarks];
    return true;
}

static bool holds(const struct sim_step *s, const struct mark *k, int warp)
{
    return !k->what.when || k->what.when(k->what.ctx, s, warp);
}

/* Has the warp come to a place that is marked? Told once for each time that it comes. */
static int place_reached(struct sim_step *s, int warp)
{
    const struct warp *w = &s->worker.block.warp[warp];
    struct path top;
    if (!s->nmarks || s->turn[warp].told == w->executed || !step_next(s, w, &top))
        return 0;
    const size_t insn = step_next_insn(s, w);
    for (size_t i = 0; i < s->nmarks; i++) {
        const struct mark *k = &s->marks[i];
        if (k->what.kind != SIM_MARK_PLACE || insn >= s->program->facts.insns || !k->insn[insn] ||
            (k->what.warp >= 0 && k->what.warp != warp) ||
            (k->within && s->turn[warp].last < s->program->facts.insns &&
             k->within[s->turn[warp].last]) ||
            (k->what.lanes && !(k->what.lanes & top.mask)) || !holds(s, k, warp))
            continue;
        s->turn[warp].told = w->executed;
        return k->number;
    }
    return 0;
}

/* Are there marks that need to know of accesses? */
static bool marks_accesses(const struct sim_step *s)
{
    for (size_t i = 0; i < s->nmarks; i++)
        if (s->marks[i].what.kind == SIM_MARK_ACCESS)
            return true;
    return false;
}

static bool touches(const struct sim_access *a, const struct sim_mark *m)
{
    if (a->space != m->value.space ||
        !((a->write && m->writes) || (a->fetches && m->reads) || (!a->write && m->reads)))
        return false;
    for (uint32_t left = a->mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const uint64_t at = a->addr[lane];
        if (at < m->value.addr + m->value.bytes && m->value.addr < at + a->bytes &&
            (!m->lanes || m->lanes >> lane & 1))
            return true;
    }
    return false;
}

static bool value_changed(struct sim_step *s, struct mark *k, struct sim_stop *stop)
{
    uint8_t is[32] = {0};
    const bool known = sim_step_value(s, &k->what.value, is);
    const bool changed = known != k->known || (known && memcmp(is, k->was, sizeof is));
    if (!changed)
        return false;
    stop->known_before = k->known;
    stop->known_after = known;
    memcpy(stop->before, k->was, sizeof stop->before);
    memcpy(stop->after, is, sizeof stop->after);
    memcpy(k->was, is, sizeof k->was);
    k->known = known;
    return true;
}

/* What the last step did that is marked. Every value is looked at, so that none is told of twice. */
static int mark_met(struct sim_step *s, struct sim_stop *stop)
{
    int met = 0;
    const struct sim_seen *seen = sim_step_seen(s);
    for (size_t i = 0; i < s->nmarks; i++) {
        struct mark *k = &s->marks[i];
        bool hit = false;
        struct sim_stop mine = *stop;
        if (k->what.kind == SIM_MARK_VALUE)
            hit = value_changed(s, k, &mine);
        else if (k->what.kind == SIM_MARK_ACCESS &&
                 (k->what.warp < 0 || k->what.warp == s->last_warp))
            for (size_t n = 0; seen && n < seen->accesses && !hit; n++)
                hit = touches(&seen->access[n], &k->what);
        if (!hit || met || !holds(s, k, s->last_warp))
            continue;
        met = k->number;
        *stop = mine;
        stop->why = k->what.kind == SIM_MARK_VALUE ? SIM_STOP_VALUE : SIM_STOP_ACCESS;
    }
    return met;
}

/* ---- Goals ---- */

/* Where a warp stands, as far as goals ask. */
struct stand {
    const struct sim_place *at, *own; /* innermost and the kernel's own; NULL: unknown */
    uint32_t line;                    /* the caller's number */
    int inlined, depth;
};

static struct stand stand_of(const struct sim_step *s, const struct sim_want *want, int warp)
{
    const struct warp *w = &s->worker.block.warp[warp];
    const size_t insn = step_next_insn(s, w);
    struct stand x = {.depth = w->depth};
    if (insn < s->program->facts.insns && want->line)
        x.line = want->line[insn];
    if (insn >= s->program->facts.insns || !s->program->insn[insn].at.file)
        return x;
    x.at = x.own = &s->program->insn[insn].at;
    for (; x.own->inlined_at; x.own = x.own->inlined_at)
        x.inlined++;
    return x;
}

/* Code of no line belongs to the line before. */
static bool other_line(const struct sim_place *a, const struct sim_place *b)
{
    return b && (!a || a->line != b->line || strcmp(a->file, b->file));
}

static bool accesses(const struct sim_step *s, enum sim_goal goal)
{
    const struct sim_seen *seen = sim_step_seen(s);
    for (size_t i = 0; seen && i < seen->accesses; i++) {
        const struct sim_access *a = &seen->access[i];
        if (a->mask &&
            (goal == SIM_GOAL_ACCESS || (a->space == SIM_SHARED) == (goal == SIM_GOAL_SHARED)))
            return true;
    }
    return false;
}

static bool reached(const struct sim_step *s, const struct sim_want *want, const struct stand *from,
                    int warp)
{
    const struct stand is = stand_of(s, want, warp);
    const bool ended = !s->worker.block.warp[warp].depth;
    switch (want->goal) {
    case SIM_GOAL_INSN:
        return true;
    case SIM_GOAL_LINE:
        if (want->line)
            return ended || (is.line && is.line != from->line);
        return ended || other_line(from->at, is.at);
    case SIM_GOAL_NEXT:
        if (want->line)
            return ended || (is.line && is.line != from->line);
        return ended || other_line(from->own, is.own);
    case SIM_GOAL_FINISH:
        return ended || (is.at && is.inlined < from->inlined);
    case SIM_GOAL_JOIN:
        return ended || from->depth <= 1 || is.depth < from->depth;
    case SIM_GOAL_BARRIER:
        return ended || s->turn[warp].asked ||
               (s->last_insn < s->program->facts.insns && s->program->insn[s->last_insn].barrier);
    case SIM_GOAL_SHARED:
    case SIM_GOAL_GLOBAL:
    case SIM_GOAL_ACCESS:
        return ended || accesses(s, want->goal);
    case SIM_GOAL_PLACE: {
        const size_t insn = step_next_insn(s, &s->worker.block.warp[warp]);
        return ended || (insn < s->program->facts.insns && want->insn[insn]);
    }
    case SIM_GOAL_NAN:
    case SIM_GOAL_INFINITY:
        return step_made(s, want->goal == SIM_GOAL_INFINITY);
    default:
        return false;
    }
}

/* Is the step that comes worth the cost of a look? */
static bool worth_a_look(const struct sim_step *s, const struct sim_want *want, int warp,
                         bool marked)
{
    const size_t insn = step_next_insn(s, &s->worker.block.warp[warp]);
    if (want->goal == SIM_GOAL_NAN || want->goal == SIM_GOAL_INFINITY ||
        (want->warp >= 0 && want->warp == warp && want->goal <= SIM_GOAL_ACCESS))
        return true;
    return insn < s->program->facts.insns && s->program->insn[insn].pipe == SIM_PIPE_lsu &&
           (marked || s->options.hazards || want->goal <= SIM_GOAL_ACCESS);
}

static struct sim_stop stop_here(const struct sim_step *s, enum sim_why why)
{
    return (struct sim_stop){.why = why,
                             .step = s->now,
                             .warp = s->last_warp,
                             .stepped = s->now > 0,
                             .insn = s->last_insn};
}

/* Problems that the last step made. */
static bool has_problem(struct sim_step *s, struct sim_stop *stop)
{
    const struct worker *t = &s->worker;
    if (t->hazard && hazard_block_count(t->hazard) > s->hazards_seen)
        stop->why = SIM_STOP_HAZARD;
    else if (t->faults.count > s->faults)
        stop->why = SIM_STOP_FAULT;
    else
        return false;
    return true;
}

/* Does something stop it behind the step just made? Marks come first: they were asked for. */
static bool stops(struct sim_step *s, const struct sim_want *want, struct sim_stop *stop)
{
    *stop = stop_here(s, SIM_STOP_GOAL);
    stop->mark = s->nmarks ? mark_met(s, stop) : 0;
    if (stop->mark)
        return true;
    if (!want->past_problems && has_problem(s, stop))
        return true;
    if (s->ended)
        stop->why = SIM_STOP_END;
    return s->ended;
}

/* A block that cannot go on has a fault that no step made. */
static void stop_at_end(struct sim_step *s, struct sim_stop *stop)
{
    const bool stuck = s->worker.faults.count > s->faults && !s->ended;
    s->ended = true;
    *stop = stop_here(s, stuck ? SIM_STOP_FAULT : SIM_STOP_END);
}

static bool goes_on(struct sim_step *s, const struct sim_want *want, struct stand *from,
                    uint64_t *left, struct sim_stop *stop)
{
    if (stops(s, want, stop))
        return false;
    const bool mine = want->warp < 0 || s->last_warp == want->warp;
    const bool done = mine && want->goal < SIM_GOAL_PROBLEM && reached(s, want, from, s->last_warp);
    if (!done)
        return true;
    *from = stand_of(s, want, s->last_warp);
    return --*left > 0;
}

void sim_step_run(struct sim_step *s, const struct sim_want *want, const struct sim_patience *p,
                  struct sim_stop *stop)
{
    const bool marked = marks_accesses(s);
    uint64_t left = want->times ? want->times : 1;
    struct stand from = {0};
    if (want->warp >= 0)
        from = stand_of(s, want, want->warp);
    *stop = stop_here(s, s->ended ? SIM_STOP_END : SIM_STOP_GOAL);
    if (want->warp >= 0 && !s->worker.block.warp[want->warp].depth)
        return;
    for (uint64_t n = 0;; n++) {
        if (n % PATIENCE == PATIENCE - 1 && p && p->over(p->ctx)) {
            *stop = stop_here(s, SIM_STOP_CANCELLED);
            return;
        }
        s->faults = s->worker.faults.count;
        const int warp = next_warp(s, want->warp);
        if (warp < 0) {
            stop_at_end(s, stop);
            return;
        }
        const int mark = place_reached(s, warp);
        if (mark) {
            *stop = stop_here(s, SIM_STOP_BREAK);
            stop->mark = mark;
            stop->warp = warp;
            return;
        }
        if (s->now >= s->options.max_steps) {
            *stop = stop_here(s, SIM_STOP_LIMIT);
            return;
        }
        if (want->warp < 0 && want->goal <= SIM_GOAL_PLACE)
            from = stand_of(s, want, warp);
        forget_ahead(s);
        step(s, warp, worth_a_look(s, want, warp, marked));
        note_turn(s, warp);
        s->end = s->now;
        step_keep(s);
        if (!goes_on(s, want, &from, &left, stop))
            return;
    }
}

/* ---- The way back ---- */

static void look_at_values(struct sim_step *s)
{
    for (size_t i = 0; i < s->nmarks; i++)
        if (s->marks[i].what.kind == SIM_MARK_VALUE) {
            memset(s->marks[i].was, 0, sizeof s->marks[i].was);
            s->marks[i].known = sim_step_value(s, &s->marks[i].what.value, s->marks[i].was);
        }
}

/* The way that is known, to step `n`: from turn `turn` on, whose first step is number `at`. */
static void go_along(struct sim_step *s, uint64_t n, size_t turn, uint64_t at,
                     sim_step_seen_fn *each, void *ctx)
{
    const uint64_t end = s->end;
    for (size_t i = turn; i < s->logs && s->now < n; i++)
        for (int k = 0; k < s->log[i].n && s->now < n; k++) {
            if (at++ < s->now)
                continue;
            step(s, s->log[i].warp, at == n);
            if (each)
                each(ctx, s, s->log[i].warp, s->last_insn);
        }
    s->end = end;
}

static void stand_still(struct sim_step *s, struct sim_stop *stop)
{
    look_at_values(s);
    for (int i = 0; i < s->worker.block.nwarps; i++) /* where they stand, they have stood before */
        s->turn[i].told = s->worker.block.warp[i].executed;
    *stop = stop_here(s, s->ended ? SIM_STOP_END : SIM_STOP_GOAL);
    if (s->now && !s->ended)
        (void)has_problem(s, stop);
}

enum status sim_step_to(struct sim_step *s, uint64_t n, struct sim_stop *stop, struct err *err)
{
    if (n > s->end)
        return err_set(err, ST_USAGE, "step %llu was not made: the last is %llu",
                       (unsigned long long)n, (unsigned long long)s->end);
    uint64_t at;
    size_t turn;
    step_return(s, n, &turn, &at);
    go_along(s, n, turn, at, NULL, NULL);
    stand_still(s, stop);
    return ST_OK;
}

void sim_step_along(struct sim_step *s, sim_step_seen_fn *each, void *ctx, struct sim_stop *stop)
{
    const uint64_t n = s->now;
    uint64_t at;
    size_t turn;
    step_return(s, 0, &turn, &at);
    go_along(s, n, turn, at, each, ctx);
    stand_still(s, stop);
}
