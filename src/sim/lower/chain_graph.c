/* chain_graph.c - see chain_graph.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/chain_graph.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/code.h"

enum {
    ARM_MOST = 20,    /* instructions of a branch that becomes predicates */
    UNROLLED = 4,     /* rounds of a loop that it makes one */
    UNROLL_MOST = 40, /* machine instructions of such a loop */
    NEAR_CODE = 768,  /* machine instructions that the nearest cache has room for */
    NEST_MOST = 32,   /* loops within loops that are told apart */
};

/* Machine instructions of an instruction. */
static double slots_of(const struct chain_graph *g, uint32_t i)
{
    return g->machine[g->f->insns[i].op->id].total;
}

/* ---- what it is read from ---- */

const struct flow_block *chain_graph_block(const struct chain_graph *g, uint32_t n)
{
    const uint32_t block =
        n < g->flow->nblocks ? n : g->flow->block_of[g->node[n].end ? g->node[n].end - 1 : 0];
    return &g->flow->blocks[block];
}

size_t chain_graph_phase(const struct chain_graph *g, int64_t begins)
{
    size_t lo = 0, hi = g->phases;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (g->phase[mid].begins < begins)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Whether a phase ends with the instruction. Where only some warps of the block meet it goes on. */
static bool ends_phase(const struct chain_graph *g, uint32_t i)
{
    const size_t k = g->p->insn[i].barrier ? chain_graph_phase(g, i) : g->phases;
    return k < g->phases && g->phase[k].begins == i;
}

/* Whether a branch around it is none to the machine: so few instructions become predicated ones. */
static bool is_arm(const struct chain_graph *g, uint32_t n)
{
    const struct flow_block *b = &g->flow->blocks[n];
    if (n + 1 >= g->flow->nblocks || b->nprev != 1 || b->nnext != 1 || b->next[0] == n ||
        b->prev[0] == n || g->flow->blocks[b->prev[0]].nnext != 2 || b->end - b->first > ARM_MOST)
        return false;
    for (uint32_t i = b->first; i < b->end; i++)
        if (g->p->insn[i].barrier)
            return false;
    return true;
}

/* Of a block that its predecessors, or branches that become predicates, alone lead to: what they lead to is one piece. */
static bool is_joined(const struct chain_graph *g, uint32_t n)
{
    const struct flow_block *b = &g->flow->blocks[n];
    uint32_t from = CHAIN_NONE;
    for (uint32_t i = 0; i < b->nprev; i++) {
        const uint32_t p = b->prev[i], by = g->node[p].arm ? g->flow->blocks[p].prev[0] : p;
        if (from != CHAIN_NONE && by != from)
            return false;
        from = by;
    }
    if (from == CHAIN_NONE || from == n || g->node[from].barrier)
        return false;
    const struct flow_block *f = &g->flow->blocks[from];
    for (uint32_t i = 0; i < f->nnext; i++) /* nothing else leaves it */
        if (f->next[i] != n && !g->node[f->next[i]].arm)
            return false;
    return true;
}

static void find_nodes(struct chain_graph *g)
{
    const struct flow *flow = g->flow;
    for (uint32_t n = 0; n < flow->nblocks; n++) {
        struct chain_node *x = &g->node[n];
        *x = (struct chain_node){.first = flow->blocks[n].first, .end = flow->blocks[n].end};
        for (uint32_t i = x->first; i < x->end && !x->barrier; i++) {
            x->slots += slots_of(g, i);
            if (ends_phase(g, i)) {
                x->barrier = true;
                x->end = i + 1;
            }
        }
    }
    for (uint32_t n = 0; n < flow->nblocks; n++)
        g->node[n].arm = is_arm(g, n);
    for (uint32_t n = 0; n < flow->nblocks; n++)
        g->node[n].joined = g->node[n].arm || is_joined(g, n);
    for (uint32_t i = 0; i < g->f->nlabels; i++)
        if (g->f->labels[i].nounroll)
            g->rolled[flow->block_of[g->f->labels[i].insn]] = true;
}

/* Loops lie in the text as a whole: from their header to the last branch back to it. */
static void find_far(struct chain_graph *g)
{
    const struct flow *flow = g->flow;
    double *least = xcalloc(flow->nblocks + 1u, sizeof *least),
           *upto = xcalloc(flow->nblocks + 2u, sizeof *upto);
    for (uint32_t n = 0; n < flow->nblocks; n++) {
        upto[n + 1] = upto[n];
        for (uint32_t i = flow->blocks[n].first; i < flow->blocks[n].end; i++)
            upto[n + 1] += slots_of(g, i);
        least[n] = INFINITY;
    }
    for (uint32_t h = 0; h < flow->nblocks; h++) {
        uint32_t last = h;
        bool loop = false;
        for (uint32_t i = 0; i < flow->blocks[h].nprev; i++)
            if (flow->blocks[h].prev[i] >= h) {
                loop = true;
                last = flow->blocks[h].prev[i] > last ? flow->blocks[h].prev[i] : last;
            }
        for (uint32_t n = h; loop && n <= last; n++)
            least[n] = fmin(least[n], upto[last + 1] - upto[h]);
    }
    for (uint32_t n = 0; n < flow->nblocks; n++)
        g->node[n].far = least[n] > NEAR_CODE;
    free(least);
    free(upto);
}

/* Where the phase begins: the rest of the block behind `from`. */
static void set_begin(struct chain_graph *g, uint32_t from)
{
    struct chain_node *x = &g->node[g->flow->nblocks];
    const struct flow_block *b = &g->flow->blocks[g->flow->block_of[from]];
    *x = (struct chain_node){.first = from,
                             .end = b->end > from ? b->end : from,
                             .up = g->root,
                             .child = CHAIN_NONE,
                             .far = g->node[g->flow->block_of[from]].far};
    for (uint32_t i = from; i < x->end && !x->barrier; i++)
        if (ends_phase(g, i)) {
            x->barrier = true;
            x->end = i + 1;
        }
}

bool chain_graph_leads_on(const struct chain_graph *g, uint32_t n)
{
    return g->node[n].reached && !g->node[n].barrier;
}

/* Nodes that are reached before the next barrier, in reverse postorder. */
static void order_nodes(struct chain_graph *g, uint32_t begin)
{
    uint32_t depth = 0, n = 0;
    g->todo[depth++] = begin;
    g->todo[depth++] = 0;
    g->node[begin].reached = true;
    while (depth) {
        const uint32_t at = g->todo[depth - 2], k = g->todo[depth - 1]++;
        const struct flow_block *b = chain_graph_block(g, at);
        if (g->node[at].barrier || k >= b->nnext) {
            g->order[n++] = at;
            depth -= 2;
        } else if (!g->node[b->next[k]].reached) {
            g->node[b->next[k]].reached = true;
            g->todo[depth++] = b->next[k];
            g->todo[depth++] = 0;
        }
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        const uint32_t x = g->order[i];
        g->order[i] = g->order[n - 1 - i];
        g->order[n - 1 - i] = x;
    }
    for (uint32_t i = 0; i < n; i++)
        g->node[g->order[i]].order = i;
    g->norder = n;
}

/* The outermost loop known so far that n is in, as its header; n itself: none. CHAIN_NONE: too deep. */
static uint32_t outermost(const struct chain_graph *g, uint32_t n)
{
    for (int i = 0; i < NEST_MOST; i++) {
        if (g->node[n].up == g->root)
            return n;
        n = g->node[n].up;
    }
    return CHAIN_NONE;
}

/* What leads to the header's back edges is its loop. */
static void flood_loop(struct chain_graph *g, uint32_t h, uint32_t ntodo)
{
    struct chain_node *head = &g->node[h];
    head->head = true;
    while (ntodo) {
        const uint32_t x = outermost(g, g->todo[--ntodo]);
        if (x == CHAIN_NONE || x == h || g->node[x].order <= head->order)
            continue;
        g->node[x].up = h;
        if (g->node[x].head && g->node[x].height + 1 > head->height)
            head->height = g->node[x].height + 1;
        const struct flow_block *b = &g->flow->blocks[x];
        for (uint32_t i = 0; i < b->nprev; i++)
            if (chain_graph_leads_on(g, b->prev[i]))
                g->todo[ntodo++] = b->prev[i];
    }
}

static void find_loops(struct chain_graph *g)
{
    for (uint32_t i = g->norder; i-- > 0;) {
        const uint32_t h = g->order[i];
        uint32_t ntodo = 0;
        if (h >= g->flow->nblocks) /* nothing leads to where the phase begins */
            continue;
        const struct flow_block *b = &g->flow->blocks[h];
        bool head = false;
        for (uint32_t k = 0; k < b->nprev; k++)
            if (chain_graph_leads_on(g, b->prev[k]) && g->node[b->prev[k]].order >= i) {
                g->todo[ntodo++] = b->prev[k];
                head = true;
            }
        if (head)
            flood_loop(g, h, ntodo);
    }
    for (uint32_t i = g->norder; i-- > 0;) {
        struct chain_node *x = &g->node[g->order[i]], *up = &g->node[x->up];
        x->next = up->child;
        up->child = g->order[i];
    }
}

/* ---- drawing ---- */

void chain_graph_draw(struct chain_graph *g, size_t i)
{
    const uint32_t nblocks = g->flow->nblocks,
                   from = g->phase[i].begins < 0 ? 0 : (uint32_t)g->phase[i].begins + 1,
                   block = g->flow->block_of[from];
    for (uint32_t n = 0; n <= g->root; n++) {
        struct chain_node *x = &g->node[n];
        x->reached = x->head = false;
        x->up = g->root;
        x->child = CHAIN_NONE;
        x->height = 0;
    }
    if (g->flow->blocks[block].first != from)
        set_begin(g, from);
    order_nodes(g, g->flow->blocks[block].first == from ? block : nblocks);
    find_loops(g);
}

/* ---- unrolling ---- */

int chain_graph_unrolled(const struct chain_graph *g, uint32_t h, double turns)
{
    const struct chain_node *x = &g->node[h];
    const bool can = x->child == CHAIN_NONE && !g->rolled[h] && x->slots <= UNROLL_MOST;
    return can ? (int)fmax(1, fmin(UNROLLED, turns)) : 1;
}

/* ---- life ---- */

static void learn_machine(struct chain_graph *g)
{
    const struct ptx_module *m = g->p->module;
    g->machine = xcalloc(m->nopcodes + 1u, sizeof *g->machine);
    for (uint32_t i = 0; i < m->nopcodes; i++)
        statics_add(m->opcodes[i], 1, &g->machine[i]);
}

static void make_room(struct chain_graph *g)
{
    const uint32_t nblocks = g->flow->nblocks;
    size_t edges = 0;
    for (uint32_t n = 0; n < nblocks; n++)
        edges += g->flow->blocks[n].nprev;
    g->root = nblocks + 1;
    g->node = xcalloc(nblocks + 2u, sizeof *g->node);
    g->order = xcalloc(nblocks + 2u, sizeof *g->order);
    g->todo = xcalloc(2 * (nblocks + 2u) + 2 * edges, sizeof *g->todo);
    g->rolled = xcalloc(nblocks + 1u, sizeof *g->rolled);
}

enum status chain_graph_new(struct chain_graph *g, const struct sim_program *p,
                            const struct sim_phase *phase, size_t phases, struct err *err)
{
    *g = (struct chain_graph){.p = p, .f = p->function, .phase = phase, .phases = phases};
    const enum status st = flow_new(g->f, &g->flow, err);
    if (st != ST_OK)
        return st;
    learn_machine(g);
    make_room(g);
    find_nodes(g);
    find_far(g);
    return ST_OK;
}

void chain_graph_clear(struct chain_graph *g)
{
    free(g->machine);
    free(g->node);
    free(g->order);
    free(g->todo);
    free(g->rolled);
    flow_free(g->flow);
}
