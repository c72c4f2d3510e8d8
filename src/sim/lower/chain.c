/* chain.c - see chain.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/code.h"
#include "sim/lower/chain_graph.h"

/* Cycles, see chain.h. */
enum {
    LAT_ALU = 4,
    LAT_XU = 22,
    LAT_SHARED = 28,
    LAT_WAVEFRONT = 2,
    LAT_SHARED_CAS = 80,
    LAT_LDMATRIX = 34,
    LAT_SHUFFLE = 24,
    LAT_VOTE = 12,
    LAT_L2 = 262,
    LAT_TENSOR = 33,
    LAT_BARRIER = 24,
    LAT_CLUSTER = 200, /* shared memory of another block, and the blocks' meeting */
};

/* How far is looked. */
enum {
    DEPTHS = 3,         /* trips to memory, one after the other, that are told apart in a piece */
    FETCH = 2,          /* cycles from one instruction to the next where code is far */
    COPY_GROUPS = 8,    /* of cp.async that are kept apart */
    PENDING_MOST = 512, /* registers whose values are under way */
    LOOKED_AT = 4,      /* rounds of a loop, at most */
    WORK_MOST =
        1 << 24, /* instructions looked at; of foreign code with more each loop is looked at once */
    TWICE_MOST = 3, /* of them, the innermost ones whose second round is looked at */
};

const char *chain_part_name(enum chain_part p)
{
    static const char *const names[] = {
#define X(name, what) #name,
        CHAIN_PARTS(X)
#undef X
    };
    return names[p];
}

/* A way through a piece: how long, and what of it is what. `last`: what it waited for at its end. */
struct way {
    double length;
    double cycles[CHAIN_PARTS_COUNT];
    double trips;
    enum chain_part last;
};

static void extend(struct way *w, enum chain_part part, double cycles)
{
    w->length += cycles;
    w->cycles[part] += cycles;
    w->trips += part == CHAIN_global;
    w->last = part;
}

static void add_way(struct way *to, const struct way *w, double times)
{
    to->length += times * w->length;
    to->trips += times * w->trips;
    for (int i = 0; i < CHAIN_PARTS_COUNT; i++)
        to->cycles[i] += times * w->cycles[i];
}

/* What is still under way where a piece ends: so many cycles from there on, and where all comes from DRAM. */
struct wait {
    double left, cold;
    enum chain_part part;
};
struct pending {
    int32_t reg;
    struct wait wait;
};
struct state {
    struct pending *reg;
    size_t n, cap;
    struct wait group[COPY_GROUPS],
        open; /* copies by group, the oldest first; those not committed */
    int groups;
};
static bool is_pending(const struct wait *w)
{
    return w->left > 0 || w->cold > 0;
}

/* How long the way is where all comes from DRAM. */
static double cold_of(const struct way *w)
{
    return w->length + w->trips * CHAIN_DRAM_MORE;
}

/* What is the same each time that an instruction comes by. */
enum kind { PLAIN, LOADS, LDMATRIX, MMA, WMMA, SHUFFLES, VOTES, COPIES, FENCES };
struct fact {
    enum kind kind;
    bool store, ordered,
        shared; /* it writes memory, keeps its place among stores; to shared memory */
    bool spins; /* a loop to the machine, which ends before what follows */
};
struct use {
    int32_t reg;
    bool writes;
};

struct chain {
    const struct sim_program *p;
    const struct ptx_function *f;
    const struct sim_counts *insn;
    struct chain_graph g; /* of the phase */
    struct fact *fact;    /* by opcode */
    struct use *use;      /* registers of all instructions */
    size_t uses, uses_cap, *use_from;
    struct way *ready; /* by register: how its value came about, in piece number `of` */
    uint32_t *of;
    uint32_t number; /* of the piece, from 1; 0: none is open */
    int32_t *wrote;  /* registers of the piece */
    uint32_t nwrote;
    struct state now;
    uint64_t work; /* instructions looked at */
    /* of the piece */
    double share; /* so often a time */
    bool far;     /* of the node that is being looked at */
    double taken; /* of the arm that is being looked at: how often it is executed of those times */
    struct way longest; /* until its last instruction starts */
    double longest_cold;
    struct way arrival[DEPTHS]; /* what needs data from memory, from memory again, starts first */
    double slots
        [DEPTHS]; /* machine instructions that need it; all; both of what comes behind it, too */
    struct way stored[2];                /* the last store to shared, to global memory starts */
    struct way group[COPY_GROUPS], open; /* when what cp.async fetches is there */
    /* of the instruction: when it can start, and when its result is there */
    struct way start, result;
    /* of the phase */
    double *weight; /* by first instruction of a node: how often phases that reach it were begun */
    double begun;   /* by so many warps each time */
    struct chain_phase *out; /* NULL: only what goes on behind barriers */
    struct state *carried;   /* by phase */
    const struct sim_phase *phase;
    size_t phases;
    bool carries;
};

/* ---- one instruction ---- */

static bool is(const struct ptx_opcode *op, const char *base)
{
    return !strcmp(op->parts[0], base);
}

static bool has(const struct ptx_opcode *op, const char *word)
{
    return ptx_opcode_has(op, word);
}

static bool is_shared(const struct ptx_opcode *op)
{
    return has(op, "shared") || has(op, "shared::cta") || has(op, "shared::cluster");
}

static double each(uint64_t count, const struct sim_counts *c)
{
    return c->executions ? (double)count / (double)c->executions : 0;
}

static double shared_latency(const struct ptx_opcode *op, const struct sim_counts *c)
{
    const double further = each(c->smem_wavefronts, c) - 1;
    if (is(op, "atom") && has(op, "f32"))
        return LAT_SHARED_CAS * each(c->lanes, c);
    return (has(op, "shared::cluster") ? LAT_CLUSTER : LAT_SHARED) +
           (further > 0 ? LAT_WAVEFRONT * further : 0);
}

static double global_latency(const struct sim_counts *c)
{
    return LAT_L2 + each(c->global_sectors, c);
}

static void add_memory(struct way *w, const struct ptx_opcode *op, const struct sim_counts *c)
{
    if (has(op, "param") || has(op, "const"))
        extend(w, CHAIN_alu, LAT_ALU);
    else if (is_shared(op))
        extend(w, CHAIN_shared, shared_latency(op, c));
    else
        extend(w, CHAIN_global, global_latency(c));
}

/* Instructions that are no plain arithmetic; false: it is. */
static bool add_special(struct way *w, enum kind kind, const struct ptx_opcode *op,
                        const struct sim_counts *c)
{
    switch (kind) {
    case LOADS:
        add_memory(w, op, c);
        return true;
    case LDMATRIX:
        extend(w, CHAIN_shared, LAT_LDMATRIX);
        return true;
    case MMA:
        extend(w, CHAIN_tensor, LAT_TENSOR);
        return true;
    case WMMA:
        extend(w, CHAIN_tensor, 2 * LAT_TENSOR); /* two products, one after the other */
        return true;
    case FENCES: /* until what was written has come to the L2 */
        extend(w, CHAIN_global, LAT_L2);
        return true;
    case SHUFFLES:
        extend(w, CHAIN_shuffle, LAT_SHUFFLE);
        return true;
    case VOTES:
        extend(w, CHAIN_shuffle, LAT_VOTE);
        return true;
    default:
        return false;
    }
}

/* Of more than a block: others see what was written before. A cluster's arrival is one to the machine, too. */
static bool is_fence(const struct ptx_opcode *op)
{
    const bool wide = has(op, "gl") || has(op, "gpu") || has(op, "sys") || has(op, "cluster");
    return (is(op, "membar") && wide) ||
           (is(op, "barrier") && has(op, "cluster") && has(op, "arrive") && !has(op, "relaxed"));
}

static enum kind kind_of(const struct ptx_opcode *op)
{
    static const struct {
        const char *base;
        enum kind kind;
    } kinds[] = {{"ld", LOADS},    {"ldu", LOADS},   {"atom", LOADS},    {"ldmatrix", LDMATRIX},
                 {"mma", MMA},     {"wmma", WMMA},   {"shfl", SHUFFLES}, {"vote", VOTES},
                 {"match", VOTES}, {"redux", VOTES}, {"cp", COPIES}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is(op, kinds[i].base))
            return kinds[i].kind == WMMA && !has(op, "mma") ? LOADS : kinds[i].kind;
    return is_fence(op) ? FENCES : PLAIN;
}

static struct fact fact_of(const struct ptx_opcode *op)
{
    struct fact f = {.kind = kind_of(op),
                     .store = is(op, "st") || is(op, "atom") || is(op, "red"),
                     .shared = is_shared(op) || is(op, "ldmatrix")};
    f.ordered =
        (f.store || is(op, "ld") || is(op, "ldmatrix")) && !has(op, "param") && !has(op, "nc");
    f.spins = f.kind == FENCES || (is_shared(op) && is(op, "atom") && has(op, "f32"));
    return f;
}

static void later(struct way *w, const struct way *than)
{
    if (than->length > w->length)
        *w = *than;
}

static void read_register(struct chain *c, int32_t reg)
{
    if (c->of[reg] == c->number)
        later(&c->start, &c->ready[reg]);
}

static void write_register(struct chain *c, int32_t reg)
{
    if (c->of[reg] != c->number)
        c->wrote[c->nwrote++] = reg;
    c->of[reg] = c->number;
    c->ready[reg] = c->result;
}

static void commit_group(struct chain *c)
{
    if (c->now.groups == COPY_GROUPS) { /* the two oldest become one */
        later(&c->group[1], &c->group[0]);
        memmove(c->group, c->group + 1, (COPY_GROUPS - 1) * sizeof *c->group);
        c->now.groups--;
    }
    c->group[c->now.groups++] = c->open;
    c->open = (struct way){.length = 0};
}

/* Waits for all groups but the newest `spared`. */
static void wait_groups(struct chain *c, uint64_t spared)
{
    const int n = spared < (uint64_t)c->now.groups ? c->now.groups - (int)spared : 0;
    for (int i = 0; i < n; i++)
        later(&c->start, &c->group[i]);
    memmove(c->group, c->group + n, (size_t)(c->now.groups - n) * sizeof *c->group);
    c->now.groups -= n;
}

/* cp.async: the copy goes on by itself, who waits for it waits for its group. */
static void take_copy(struct chain *c, const struct ptx_insn *in, const struct sim_counts *counts)
{
    const struct ptx_operand *o = in->noperands ? &c->f->operands[in->operand] : NULL;
    if (has(in->op, "commit_group")) {
        commit_group(c);
    } else if (has(in->op, "wait_all") || has(in->op, "wait_group")) {
        if (has(in->op, "wait_all"))
            commit_group(c);
        wait_groups(c, o && o->kind == PTX_IMM ? o->imm : 0);
        later(&c->stored[0], &c->start); /* loads of what was copied come behind it */
    } else {
        struct way copied = c->start;
        extend(&copied, CHAIN_global, global_latency(counts));
        later(&c->open, &copied);
    }
    c->result = c->start;
}

/* A load stays behind a store that may be to its place. */
static void keep_order(struct chain *c, const struct fact *x)
{
    if (!x->ordered)
        return;
    struct way *stored = &c->stored[!x->shared];
    later(&c->start, stored);
    if (x->store)
        *stored = c->start;
}

static void add_statics(struct statics *to, const struct statics *s)
{
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        to->pipe[i] += s->pipe[i];
    to->total += s->total;
}

/* Of what `w` has beyond `from` only a part. */
static void shorten(struct way *w, const struct way *from, double part)
{
    struct way x = *from;
    add_way(&x, w, part);
    add_way(&x, from, -part);
    x.last = w->last;
    *w = x;
}

/* An instruction starts: when the piece can end, and what has to be issued behind the data that it needs. */
static void note_start(struct chain *c, const struct way *start, double slots)
{
    const int depth = (int)fmin(start->trips + 0.5, DEPTHS - 1);
    later(&c->longest, start);
    c->longest_cold = fmax(c->longest_cold, cold_of(start));
    for (int d = 0; d <= depth; d++) {
        if (!(c->slots[d] > 0) || start->length < c->arrival[d].length)
            c->arrival[d] = *start;
        c->slots[d] += slots;
    }
}

static void take(struct chain *c, uint32_t i)
{
    const struct ptx_insn *in = &c->f->insns[i];
    const struct fact *x = &c->fact[in->op->id];
    const bool own = c->p->insn[i].part_of == i; /* else another makes its access */
    const double slots = own ? c->g.machine[in->op->id].total : 0, fetch = c->far ? FETCH : 1;
    c->start = (struct way){.length = 0};
    for (size_t k = c->use_from[i]; k < c->use_from[i + 1]; k++)
        if (!c->use[k].writes)
            read_register(c, c->use[k].reg);
    keep_order(c, x);
    c->result = c->start;
    if (x->kind == COPIES)
        take_copy(c, in, &c->insn[i]);
    else if (x->kind == LOADS && c->taken < 1) { /* else nobody waits */
        add_special(&c->result, x->kind, in->op, &c->insn[i]);
        shorten(&c->result, &c->start, c->taken);
    } else if (!add_special(&c->result, x->kind, in->op, &c->insn[i])) {
        const bool xu = c->p->insn[i].pipe == SIM_PIPE_xu;
        extend(&c->result, xu ? CHAIN_xu : CHAIN_alu,
               LAT_ALU * slots + (xu ? LAT_XU - LAT_ALU : 0));
    }
    for (size_t k = c->use_from[i]; k < c->use_from[i + 1]; k++)
        if (c->use[k].writes)
            write_register(c, c->use[k].reg);
    note_start(c, x->spins ? &c->result : &c->start, fetch * slots);
}

/* ---- pieces ---- */

static struct way way_of(const struct wait *w)
{
    struct way x = {.length = fmax(w->left, 0), .last = w->part};
    x.cycles[w->part] = x.length;
    x.trips = fmax(0, fmax(w->cold, 0) - x.length) / CHAIN_DRAM_MORE;
    return x;
}

static struct wait wait_of(const struct way *w, double end, double end_cold)
{
    return (struct wait){.left = w->length - end, .cold = cold_of(w) - end_cold, .part = w->last};
}

static void open_piece(struct chain *c, double share)
{
    struct state *s = &c->now;
    c->number++;
    c->nwrote = 0;
    c->share = share;
    c->longest = (struct way){.length = 0};
    c->stored[0] = c->stored[1] = c->longest;
    c->longest_cold = 0;
    memset(c->slots, 0, sizeof c->slots);
    for (size_t i = 0; i < s->n; i++) {
        c->of[s->reg[i].reg] = c->number;
        c->ready[s->reg[i].reg] = way_of(&s->reg[i].wait);
        c->wrote[c->nwrote++] = s->reg[i].reg;
    }
    for (int i = 0; i < s->groups; i++)
        c->group[i] = way_of(&s->group[i]);
    c->open = way_of(&s->open);
}

/* What goes on behind the piece, of which so much has passed. */
static void keep_pending(struct chain *c, double end, double end_cold)
{
    struct state *s = &c->now;
    const size_t before = s->n;
    s->n = 0;
    for (uint32_t i = 0; i < c->nwrote && s->n < PENDING_MOST; i++) {
        const struct way *w = &c->ready[c->wrote[i]];
        const bool old = i < before && w->length == fmax(s->reg[i].wait.left, 0);
        const double part = old ? c->share : 1; /* who goes by has not waited */
        const struct wait x = wait_of(w, part * end, part * end_cold);
        if (!is_pending(&x))
            continue;
        xgrow((void **)&s->reg, &s->cap, s->n + 1, sizeof *s->reg);
        s->reg[s->n++] = (struct pending){c->wrote[i], x};
    }
    for (int i = 0; i < s->groups; i++)
        s->group[i] = wait_of(&c->group[i], end, end_cold);
    s->open = wait_of(&c->open, end, end_cold);
}

/* Adds the open piece to `sum`: its longest chain, or what it has to issue, all of it or behind what came from memory. */
static void close_piece(struct chain *c, struct way *sum)
{
    if (!(c->share > 0))
        return;
    struct way end = c->longest;
    double cold = c->longest_cold;
    for (int d = 0; d < DEPTHS && c->slots[d] > 0; d++) {
        struct way x = d ? c->arrival[d] : (struct way){.length = 0};
        extend(&x, CHAIN_issue, c->slots[d]);
        later(&end, &x);
        cold = fmax(cold, cold_of(&x));
    }
    end.trips = fmax(0, cold - end.length) / CHAIN_DRAM_MORE;
    keep_pending(c, end.length, end.length + end.trips * CHAIN_DRAM_MORE);
    add_way(sum, &end, c->share);
    c->share = 0;
}

/* ---- a phase ---- */

static double count_of(const struct chain *c, uint32_t n)
{
    const uint32_t first = c->g.node[n].first;
    if (c->g.node[n].end <= first)
        return 0;
    return c->weight[first] > 0 ? (double)c->insn[first].executions / c->weight[first] : 0;
}

static void wait_longer(struct wait *to, const struct wait *w)
{
    if (w->cold > to->cold || (w->cold == to->cold && w->left > to->left))
        *to = *w;
}

/* What goes on behind the barrier: the longest of what comes there. */
static void carry(struct chain *c, uint32_t barrier)
{
    const size_t i = chain_graph_phase(&c->g, barrier);
    if (!c->carries || i >= c->phases || c->phase[i].begins != barrier)
        return;
    struct state *to = &c->carried[i];
    const struct state *s = &c->now;
    for (size_t k = 0; k < s->n; k++) {
        size_t at = 0;
        while (at < to->n && to->reg[at].reg != s->reg[k].reg)
            at++;
        if (at == to->n) {
            xgrow((void **)&to->reg, &to->cap, to->n + 1, sizeof *to->reg);
            to->reg[to->n++] = s->reg[k];
        }
        wait_longer(&to->reg[at].wait, &s->reg[k].wait);
    }
    for (int k = 1; k <= s->groups; k++) { /* from the newest on */
        if (k > to->groups) {
            memmove(to->group + 1, to->group, (size_t)to->groups * sizeof *to->group);
            to->group[0] = (struct wait){.left = 0};
            to->groups++;
        }
        wait_longer(&to->group[to->groups - k], &s->group[s->groups - k]);
    }
    wait_longer(&to->open, &s->open);
}

static void copy_state(struct state *to, const struct state *s)
{
    struct pending *reg = to->reg;
    const size_t cap = to->cap;
    *to = *s;
    to->reg = reg;
    to->cap = cap;
    for (size_t i = to->n = 0; i < s->n; i++) {
        xgrow((void **)&to->reg, &to->cap, i + 1, sizeof *to->reg);
        to->reg[to->n++] = s->reg[i];
    }
}

/* The piece ends with warps that meet: all of the block, or some. */
static void meet(struct chain *c, uint32_t barrier, struct way *sum)
{
    const double share = c->share;
    struct way meeting = {.length = 0};
    extend(&meeting, CHAIN_barrier,
           has(c->f->insns[barrier].op, "cluster") ? LAT_CLUSTER : LAT_BARRIER);
    close_piece(c, sum);
    add_way(sum, &meeting, share);
}

/* A node, `rounds` times as one; of those around it `all` are executed. */
static void run_node(struct chain *c, uint32_t n, int rounds, double all, struct way *sum)
{
    const struct chain_node *x = &c->g.node[n];
    const double count = count_of(c, n), share = fmin(1, count / all);
    if (count <= 0)
        return;
    if (!x->joined || !(c->share > 0)) {
        close_piece(c, sum);
        open_piece(c, share);
    }
    c->work += x->end - x->first;
    c->far = x->far;
    c->taken = x->arm ? fmin(1, count / count_of(c, chain_graph_block(&c->g, n)->prev[0])) : 1;
    for (int k = 0; k < rounds; k++)
        for (uint32_t i = x->first; i < x->end; i++) {
            take(c, i);
            if (!c->p->insn[i].barrier)
                continue;
            meet(c, i, sum);
            if (i + 1 < x->end)
                open_piece(c, share);
        }
    if (x->barrier) {
        carry(c, x->end - 1);
        c->now.n = 0; /* the phase that begins there has it */
    }
}

static void run_loop(struct chain *c, uint32_t h, double all, struct way *sum);

static void run_region(struct chain *c, uint32_t region, double all, struct way *sum)
{
    for (uint32_t n = c->g.node[region].child; n != CHAIN_NONE; n = c->g.node[n].next) {
        if (c->g.node[n].head)
            run_loop(c, n, all, sum);
        else
            run_node(c, n, 1, all, sum);
    }
}

/* How often a loop is begun. */
static double entries_of(const struct chain *c, uint32_t h, double count)
{
    const struct flow_block *b = &c->g.flow->blocks[h];
    const uint32_t begin = c->g.order[0];
    double entries = begin == h ? c->begun : 0;
    if (begin != h && begin >= c->g.flow->nblocks && chain_graph_leads_on(&c->g, begin)) {
        const struct flow_block *from = chain_graph_block(&c->g, begin);
        for (uint32_t i = 0; i < from->nnext; i++)
            entries += from->next[i] == h ? count_of(c, begin) : 0;
    }
    for (uint32_t i = 0; i < b->nprev; i++)
        if (chain_graph_leads_on(&c->g, b->prev[i]) &&
            c->g.node[b->prev[i]].order < c->g.node[h].order)
            entries += count_of(c, b->prev[i]);
    return entries > 0 && entries < count ? entries : count;
}

/* The first round, and the second for all further ones: it finds under way what the first has begun. Where groups of copies
 * run ahead some more, until who waits for them has the oldest. */
static void run_loop(struct chain *c, uint32_t h, double all, struct way *sum)
{
    const double count = count_of(c, h);
    if (count <= 0)
        return;
    const double entries = entries_of(c, h, count), share = fmin(1, entries / all);
    const int rounds = chain_graph_unrolled(&c->g, h, count / entries);
    const double turns = count / entries / rounds;
    close_piece(c, sum);
    for (double left = turns, k = 0, last = 0; left > 0 && !last; k++) {
        struct way round = {.length = 0};
        run_node(c, h, rounds, count, &round);
        run_region(c, h, count, &round);
        close_piece(c, &round);
        last = left <= 1 || c->g.node[h].height >= TWICE_MOST || c->work > WORK_MOST ||
               k + 1 >= LOOKED_AT || (k > 0 && c->now.groups < 2);
        add_way(sum, &round, share * (last ? left : 1));
        left--;
    }
}

/* Without a barrier at its end all that goes on is waited for. */
static void drain(struct chain *c, struct way *sum)
{
    struct way rest = {.length = 0};
    for (size_t i = 0; i < c->now.n; i++) {
        const struct way w = way_of(&c->now.reg[i].wait);
        later(&rest, &w);
    }
    add_way(sum, &rest, 1);
}

static void add_machine(struct chain *c, struct chain_phase *out, double times)
{
    for (uint32_t k = 0; k < c->g.norder; k++) {
        const uint32_t n = c->g.order[k];
        const struct chain_node *x = &c->g.node[n];
        const double count = times * count_of(c, n);
        struct statics s = {.total = 0};
        for (uint32_t i = x->first; i < x->end; i++)
            if (c->p->insn[i].part_of == i)
                add_statics(&s, &c->g.machine[c->f->insns[i].op->id]);
        for (int i = 0; i < SIM_PIPE_COUNT; i++)
            out->machine.pipe[i] += count * s.pipe[i];
        out->machine.total += count * s.total;
    }
}

static void run_phase(struct chain *c, size_t i)
{
    struct way sum = {.length = 0};
    c->share = 0;
    copy_state(&c->now, &c->carried[i]);
    run_region(c, c->g.root, c->begun, &sum);
    close_piece(c, &sum);
    drain(c, &sum);
    if (!c->out)
        return;
    const double times = (double)c->phase[i].times * c->begun;
    for (int k = 0; k < CHAIN_PARTS_COUNT; k++)
        c->out[i].cycles[k] = times * sum.cycles[k];
    c->out[i].trips = times * sum.trips;
    add_machine(c, &c->out[i], (double)c->phase[i].times);
}

/* First what pieces several phases share, then what goes on behind barriers, then the times. */
static void run_all(struct chain *c, double *weight, struct chain_phase *out)
{
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < c->phases; i++) {
            const double times = (double)c->phase[i].times;
            const int64_t at = c->phase[i].begins;
            if (!(times > 0))
                continue;
            chain_graph_draw(&c->g, i);
            c->begun = (double)c->insn[at < 0 ? 0 : at].executions / times;
            c->carries = turn == 1;
            c->out = turn == 2 ? out : NULL;
            for (uint32_t k = 0; turn == 0 && k < c->g.norder; k++)
                weight[c->g.node[c->g.order[k]].first] += times;
            if (turn && c->begun > 0)
                run_phase(c, i);
        }
}

/* ---- the whole ---- */

static void note_use(void *ctx, int32_t reg, enum flow_use use)
{
    struct chain *c = ctx;
    xgrow((void **)&c->use, &c->uses_cap, c->uses + 1, sizeof *c->use);
    c->use[c->uses++] = (struct use){reg, use == FLOW_WRITES};
}

static void learn(struct chain *c)
{
    const struct ptx_module *m = c->p->module;
    c->fact = xcalloc(m->nopcodes + 1u, sizeof *c->fact);
    for (uint32_t i = 0; i < m->nopcodes; i++)
        c->fact[i] = fact_of(m->opcodes[i]);
    c->use_from = xcalloc(c->f->ninsns + 1u, sizeof *c->use_from);
    for (uint32_t i = 0; i < c->f->ninsns; i++) {
        flow_registers(c->f, &c->f->insns[i], note_use, c);
        c->use_from[i + 1] = c->uses;
    }
}

static void make_room(struct chain *c)
{
    c->ready = xcalloc(c->f->nregs + 1u, sizeof *c->ready);
    c->of = xcalloc(c->f->nregs + 1u, sizeof *c->of);
    c->wrote = xcalloc(c->f->nregs + 1u, sizeof *c->wrote);
    c->weight = xcalloc(c->f->ninsns + 1u, sizeof *c->weight);
    c->carried = xcalloc(c->phases + 1, sizeof *c->carried);
}

static void chain_free(struct chain *c)
{
    for (size_t i = 0; i < c->phases; i++)
        free(c->carried[i].reg);
    free(c->carried);
    free(c->now.reg);
    free(c->fact);
    free(c->use);
    free(c->use_from);
    free(c->ready);
    free(c->of);
    free(c->wrote);
    free(c->weight);
    chain_graph_clear(&c->g);
}

enum status chain_phases(const struct sim_program *p, const struct sim_counts *insn,
                         const struct sim_phase *phase, size_t phases, struct chain_phase *out,
                         struct err *err)
{
    struct chain c = {.p = p, .f = p->function, .insn = insn, .phase = phase, .phases = phases};
    memset(out, 0, phases * sizeof *out);
    const enum status st = chain_graph_new(&c.g, p, phase, phases, err);
    if (st != ST_OK)
        return st;
    learn(&c);
    make_room(&c);
    run_all(&c, c.weight, out);
    chain_free(&c);
    return ST_OK;
}
