/* chain.c - see chain.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/code.h"
#include "sim/flow.h"

/* Cycles, see chain.h. */
enum {
    LAT_ALU = 4,
    LAT_XU = 22,
    LAT_SHARED = 28,
    LAT_WAVEFRONT = 2,
    LAT_SHARED_CAS = 60,
    LAT_LDMATRIX = 34,
    LAT_SHUFFLE = 24,
    LAT_VOTE = 12,
    LAT_L2 = 262,
    LAT_TENSOR = 33,
    LAT_BARRIER = 24,
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

const char *chain_part_what(enum chain_part p)
{
    static const char *const whats[] = {
#define X(name, what) what,
        CHAIN_PARTS(X)
#undef X
    };
    return whats[p];
}

/* A way through a piece: how long, and what of it is what. */
struct way {
    double length;
    double cycles[CHAIN_PARTS_COUNT];
    double trips;
};

static void extend(struct way *w, enum chain_part part, double cycles)
{
    w->length += cycles;
    w->cycles[part] += cycles;
    w->trips += part == CHAIN_global;
}

struct chain {
    const struct sim_program *p;
    const struct ptx_function *f;
    const struct sim_counts *insn;
    struct flow *flow;
    struct way *ready; /* by register: how its value came about, in piece number `of` */
    uint32_t *of;
    uint32_t number; /* of the piece, from 1 */
    /* of the piece */
    struct way longest;
    struct way copied; /* when what cp.async fetches is there */
    struct statics machine;
    /* of the instruction: when it can start, and when its result is there */
    struct way start, result;
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
    return has(op, "shared") || has(op, "shared::cta");
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
    return LAT_SHARED + (further > 0 ? LAT_WAVEFRONT * further : 0);
}

static void add_memory(struct way *w, const struct ptx_opcode *op, const struct sim_counts *c)
{
    if (has(op, "param") || has(op, "const"))
        extend(w, CHAIN_alu, LAT_ALU);
    else if (is_shared(op))
        extend(w, CHAIN_shared, shared_latency(op, c));
    else
        extend(w, CHAIN_global, LAT_L2 + each(c->global_sectors, c));
}

/* Instructions that are no plain arithmetic; false: it is. */
static bool add_special(struct way *w, const struct ptx_opcode *op, const struct sim_counts *c)
{
    if (is(op, "ld") || is(op, "ldu") || is(op, "atom"))
        add_memory(w, op, c);
    else if (is(op, "ldmatrix"))
        extend(w, CHAIN_shared, LAT_LDMATRIX);
    else if (is(op, "mma"))
        extend(w, CHAIN_tensor, LAT_TENSOR);
    else if (is(op, "wmma") && has(op, "mma"))
        extend(w, CHAIN_tensor, 2 * LAT_TENSOR); /* two products, one after the other */
    else if (is(op, "wmma"))
        add_memory(w, op, c);
    else if (is(op, "shfl"))
        extend(w, CHAIN_shuffle, LAT_SHUFFLE);
    else if (is(op, "vote") || is(op, "match") || is(op, "redux"))
        extend(w, CHAIN_shuffle, LAT_VOTE);
    else
        return false;
    return true;
}

static void visit_reads(void *ctx, int32_t reg, enum flow_use use)
{
    struct chain *c = ctx;
    if (use == FLOW_READS && c->of[reg] == c->number && c->ready[reg].length > c->start.length)
        c->start = c->ready[reg];
}

static void visit_writes(void *ctx, int32_t reg, enum flow_use use)
{
    struct chain *c = ctx;
    if (use != FLOW_WRITES)
        return;
    c->of[reg] = c->number;
    c->ready[reg] = c->result;
}

/* cp.async: the copy goes on by itself, who waits for it waits for all. */
static void take_copy(struct chain *c, const struct ptx_opcode *op, const struct sim_counts *counts)
{
    if (has(op, "wait_group") || has(op, "wait_all")) {
        if (c->copied.length > c->start.length)
            c->start = c->copied;
    } else if (!has(op, "commit_group")) {
        c->copied = c->start;
        extend(&c->copied, CHAIN_global, LAT_L2 + each(counts->global_sectors, counts));
    }
    c->result = c->start;
}

static void take(struct chain *c, uint32_t i)
{
    const struct ptx_insn *in = &c->f->insns[i];
    const double before = c->machine.total;
    if (c->p->insn[i].part_of == i) /* else another makes its access */
        statics_add(in->op, 1, &c->machine);
    c->start = (struct way){.length = 0};
    flow_registers(c->f, in, visit_reads, c);
    c->result = c->start;
    if (is(in->op, "cp"))
        take_copy(c, in->op, &c->insn[i]);
    else if (!add_special(&c->result, in->op, &c->insn[i])) {
        const bool xu = c->p->insn[i].pipe == SIM_PIPE_xu;
        const double slots = c->machine.total - before;
        extend(&c->result, xu ? CHAIN_xu : CHAIN_alu,
               LAT_ALU * slots + (xu ? LAT_XU - LAT_ALU : 0));
    }
    flow_registers(c->f, in, visit_writes, c);
    if (c->result.length > c->longest.length)
        c->longest = c->result;
}

/* ---- pieces ---- */

/* From `first` to before `end`, or behind the first barrier: returns where it ended. */
static uint32_t take_piece(struct chain *c, uint32_t first, uint32_t end)
{
    uint32_t i = first;
    bool barrier = false;
    c->number++;
    c->longest = c->copied = (struct way){.length = 0};
    c->machine = (struct statics){.total = 0};
    for (; i < end && !barrier; i++) {
        take(c, i);
        barrier = c->p->insn[i].barrier;
    }
    if (c->machine.total > c->longest.length) {
        c->longest = (struct way){.length = 0};
        extend(&c->longest, CHAIN_issue, c->machine.total);
    }
    if (barrier)
        extend(&c->longest, CHAIN_barrier, LAT_BARRIER);
    return i;
}

/* ---- phases ---- */

struct walk {
    struct chain *c;
    bool *seen; /* flow blocks */
    uint32_t *todo, ntodo;
    double *weight; /* by first instruction of a piece: how often phases that reach it were begun */
    double times;   /* this phase was */
    struct chain_phase *out; /* NULL: only weigh */
};

static void go_on(struct walk *w, const struct flow_block *b)
{
    for (uint32_t k = 0; k < b->nnext; k++)
        if (!w->seen[b->next[k]]) {
            w->seen[b->next[k]] = true;
            w->todo[w->ntodo++] = b->next[k];
        }
}

/* A piece that several phases reach is shared by how often they were begun. */
static void add_piece(struct walk *w, uint32_t first)
{
    const struct chain *c = w->c;
    if (!w->out) {
        w->weight[first] += w->times;
        return;
    }
    const double share = w->weight[first] > 0 ? w->times / w->weight[first] : 0,
                 times = share * (double)c->insn[first].executions;
    for (int i = 0; i < CHAIN_PARTS_COUNT; i++)
        w->out->cycles[i] += times * c->longest.cycles[i];
    w->out->trips += times * c->longest.trips;
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        w->out->machine.pipe[i] += times * c->machine.pipe[i];
    w->out->machine.total += times * c->machine.total;
}

/* The piece of block `b` from `first` on, and where control goes from there without a barrier. */
static void walk_block(struct walk *w, const struct flow_block *b, uint32_t first)
{
    bool barrier = false;
    if (first < b->end) {
        const uint32_t end = take_piece(w->c, first, b->end);
        add_piece(w, first);
        barrier = w->c->p->insn[end - 1].barrier;
    }
    if (!barrier)
        go_on(w, b);
}

static void walk_phase(struct walk *w, uint32_t from)
{
    const struct flow *flow = w->c->flow;
    memset(w->seen, 0, flow->nblocks * sizeof *w->seen);
    w->ntodo = 0;
    walk_block(w, &flow->blocks[flow->block_of[from]], from);
    while (w->ntodo) {
        const struct flow_block *b = &flow->blocks[w->todo[--w->ntodo]];
        walk_block(w, b, b->first);
    }
}

static void walk_all(struct walk *w, const struct sim_phase *phase, size_t phases,
                     struct chain_phase *out)
{
    for (int adds = 0; adds < 2; adds++)
        for (size_t i = 0; i < phases; i++) {
            w->times = (double)phase[i].times;
            w->out = adds ? &out[i] : NULL;
            walk_phase(w, phase[i].begins < 0 ? 0 : (uint32_t)phase[i].begins + 1);
        }
}

enum status chain_phases(const struct sim_program *p, const struct sim_counts *insn,
                         const struct sim_phase *phase, size_t phases, struct chain_phase *out,
                         struct err *err)
{
    const struct ptx_function *f = p->function;
    struct chain c = {.p = p, .f = f, .insn = insn};
    const enum status st = flow_new(f, &c.flow, err);
    memset(out, 0, phases * sizeof *out);
    if (st != ST_OK)
        return st;
    struct walk w = {.c = &c};
    c.ready = xcalloc(f->nregs + 1u, sizeof *c.ready);
    c.of = xcalloc(f->nregs + 1u, sizeof *c.of);
    w.seen = xcalloc(c.flow->nblocks + 1u, sizeof *w.seen);
    w.todo = xcalloc(c.flow->nblocks + 1u, sizeof *w.todo);
    w.weight = xcalloc(f->ninsns + 1u, sizeof *w.weight);
    walk_all(&w, phase, phases, out);
    free(c.ready);
    free(c.of);
    free(w.seen);
    free(w.todo);
    free(w.weight);
    flow_free(c.flow);
    return ST_OK;
}
