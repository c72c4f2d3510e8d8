/* flow.c - blocks, post-dominators, loops; which registers an instruction reads and writes.
 *
 * Post-dominators: Lengauer and Tarjan, A Fast Algorithm for Finding Dominators in a Flowgraph, 1979,
 * with path compression: O(edges log blocks) for any text. Loops: Havlak, Nesting of Reducible and
 * Irreducible Loops, 1997, bodies inwards out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NONE UINT32_MAX
enum { MAX_EDGES = 4 << 20 };

/* ---- What an instruction does. ---- */

static bool is_base(const struct ptx_insn *i, const char *base)
{
    return strcmp(i->op->parts[0], base) == 0;
}

enum flow_kind flow_kind(const struct ptx_insn *i)
{
    static const struct {
        const char *base;
        enum flow_kind kind;
    } kinds[] = {{"bra", FLOW_BRANCH},
                 {"brx", FLOW_INDEX},
                 {"ret", FLOW_END},
                 {"exit", FLOW_END},
                 {"trap", FLOW_END}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (is_base(i, kinds[k].base))
            return kinds[k].kind;
    return FLOW_NEXT;
}

/* Whether the first operand is a result, when it is a register, a vector or a pair: addresses, which
 * stores, copies and prefetches have there, are read anyhow. */
static bool has_result(const struct ptx_insn *i)
{
    static const char *const without[] = {"bar",  "barrier",   "brx",
                                          "call", "nanosleep", "stackrestore"};
    if (ptx_opcode_has(i->op, "red")) /* bar.red, barrier.cta.red */
        return true;
    for (size_t k = 0; k < sizeof without / sizeof *without; k++)
        if (is_base(i, without[k]))
            return false;
    return true;
}

/* Whether operand `k` is written. Results of a call are a list before the function. */
static bool is_written(const struct ptx_function *f, const struct ptx_insn *i, uint32_t k)
{
    if (k)
        return false;
    if (is_base(i, "call"))
        return i->noperands > 1 && f->operands[i->operand].kind == PTX_LIST;
    return f->operands[i->operand].kind != PTX_ADDRESS && has_result(i);
}

static void visit_one(const struct ptx_operand *o, enum flow_use use, flow_visit_fn *visit,
                      void *ctx)
{
    if (o->reg >= 0)
        visit(ctx, o->reg, use);
}

static void visit_operand(const struct ptx_function *f, const struct ptx_operand *o,
                          enum flow_use use, flow_visit_fn *visit, void *ctx)
{
    visit_one(o, use, visit, ctx);
    for (uint32_t k = 0; k < o->nitems; k++)
        visit_one(&f->operands[o->item + k], use, visit, ctx);
}

void flow_registers(const struct ptx_function *f, const struct ptx_insn *i, flow_visit_fn *visit,
                    void *ctx)
{
    /* A function without operands has no list. */
    const struct ptx_operand *o = f->operands ? &f->operands[i->operand] : NULL;
    const bool written = i->noperands && is_written(f, i, 0);
    if (i->guard >= 0)
        visit(ctx, i->guard, FLOW_READS);
    for (uint32_t k = written; k < i->noperands; k++)
        visit_operand(f, &o[k], FLOW_READS, visit, ctx);
    /* Accumulators of wgmma are its first operand alone. */
    if (written && (i->guard >= 0 || is_base(i, "wgmma")))
        visit_operand(f, o, FLOW_READS, visit, ctx);
    if (written)
        visit_operand(f, o, FLOW_WRITES, visit, ctx);
}

/* ---- Blocks. ---- */

struct flow_store {
    uint32_t *next, *prev; /* edges of all blocks */
};

/* The labels that a branch goes to; NULL: it has none. */
static const uint32_t *targets(const struct ptx_function *f, const struct ptx_insn *i, uint32_t *n)
{
    for (uint32_t k = 0; k < i->noperands; k++) {
        const struct ptx_operand *o = &f->operands[i->operand + k];
        *n = 1;
        if (o->kind == PTX_LABEL)
            return &o->label;
        if (o->kind == PTX_TARGETS) {
            *n = f->targets[o->targets].n;
            return f->targets[o->targets].labels;
        }
    }
    return NULL;
}

/* Marks where blocks begin; `*nedges` is at least the number of edges there will be. */
static enum status find_leaders(const struct ptx_function *f, uint8_t *leads, size_t *nedges,
                                struct err *err)
{
    leads[0] = 1;
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const enum flow_kind kind = flow_kind(&f->insns[i]);
        uint32_t n = 0;
        if (kind == FLOW_NEXT)
            continue;
        leads[i + 1] = 1;
        const uint32_t *labels = kind == FLOW_END ? NULL : targets(f, &f->insns[i], &n);
        if (kind != FLOW_END && !labels)
            return err_set(err, ST_USAGE, "PTX line %u: a branch without a label",
                           f->insns[i].line);
        *nedges += n;
        if (*nedges > MAX_EDGES)
            return err_set(err, ST_USAGE, "PTX line %u: more than %d ways to go in %.60s",
                           f->insns[i].line, MAX_EDGES, f->name);
        for (uint32_t k = 0; k < n; k++)
            leads[f->labels[labels[k]].insn] = 1;
    }
    return ST_OK;
}

static uint32_t make_blocks(struct flow *w, const struct ptx_function *f, const uint8_t *leads)
{
    uint32_t n = 1; /* the end */
    for (uint32_t i = 0; i < f->ninsns; i++)
        n += leads[i];
    w->nblocks = n;
    w->blocks = xcalloc(n, sizeof *w->blocks);
    uint32_t b = NONE;
    for (uint32_t i = 0; i < f->ninsns; i++) {
        if (leads[i])
            w->blocks[++b].first = i;
        w->blocks[b].end = i + 1;
        w->block_of[i] = b;
    }
    w->block_of[f->ninsns] = n - 1;
    w->blocks[n - 1].first = w->blocks[n - 1].end = f->ninsns;
    return n;
}

/* Appends the successors of block `b` to `out`; returns their number. */
static uint32_t find_next(const struct flow *w, const struct ptx_function *f, uint32_t b,
                          uint32_t *out)
{
    const struct ptx_insn *last = &f->insns[w->blocks[b].end - 1];
    const enum flow_kind kind = flow_kind(last);
    uint32_t n = 0, ntargets = 0;
    if (kind == FLOW_END)
        out[n++] = w->nblocks - 1;
    const uint32_t *labels =
        kind == FLOW_BRANCH || kind == FLOW_INDEX ? targets(f, last, &ntargets) : NULL;
    for (uint32_t k = 0; k < ntargets; k++)
        out[n++] = w->block_of[f->labels[labels[k]].insn];
    if (kind == FLOW_NEXT || last->guard >= 0)
        out[n++] = b + 1;
    return n;
}

static void make_edges(struct flow *w, const struct ptx_function *f, size_t nedges)
{
    uint32_t *next = w->store->next = xmalloc((nedges + 2 * (size_t)w->nblocks) * sizeof *next);
    for (uint32_t b = 0; b + 1 < w->nblocks; b++) {
        w->blocks[b].next = next;
        w->blocks[b].nnext = find_next(w, f, b, next);
        for (uint32_t k = 0; k < w->blocks[b].nnext; k++)
            w->blocks[next[k]].nprev++;
        next += w->blocks[b].nnext;
    }
    uint32_t *prev = w->store->prev = xmalloc(((size_t)(next - w->store->next) + 1) * sizeof *prev);
    for (uint32_t b = 0; b < w->nblocks; b++) {
        w->blocks[b].prev = prev;
        prev += w->blocks[b].nprev;
        w->blocks[b].nprev = 0;
    }
    for (uint32_t b = 0; b < w->nblocks; b++)
        for (uint32_t k = 0; k < w->blocks[b].nnext; k++) {
            struct flow_block *to = &w->blocks[w->blocks[b].next[k]];
            w->store->prev[(to->prev - w->store->prev) + to->nprev++] = b;
        }
}

/* ---- Depth-first order. ---- */

/* Blocks in the order in which they are first met, over successors or predecessors. */
struct order {
    uint32_t *vertex; /* by number */
    uint32_t *number; /* by block; NONE: not met */
    uint32_t *parent; /* by number; the root is its own */
    uint32_t *last;   /* by number: the highest number among those below */
    uint32_t n;
    bool back;
    uint32_t *stack, *edge;
};

static void order_begin(struct order *o, uint32_t nblocks, bool back)
{
    uint32_t *all = xmalloc(6 * (size_t)nblocks * sizeof *all);
    memset(all, 0xFF, 6 * (size_t)nblocks * sizeof *all);
    *o = (struct order){.vertex = all,
                        .number = all + nblocks,
                        .parent = all + 2 * (size_t)nblocks,
                        .last = all + 3 * (size_t)nblocks,
                        .stack = all + 4 * (size_t)nblocks,
                        .edge = all + 5 * (size_t)nblocks,
                        .back = back};
}

static void order_add(struct order *o, uint32_t block, uint32_t parent)
{
    o->number[block] = o->n;
    o->parent[o->n] = parent;
    o->last[o->n] = o->n;
    o->vertex[o->n++] = block;
}

/* Everything that is met from `block`, which is not met yet, below number `parent`. */
static void order_walk(struct order *o, const struct flow *w, uint32_t block, uint32_t parent)
{
    uint32_t depth = 0;
    order_add(o, block, parent);
    o->stack[depth] = block;
    o->edge[depth++] = 0;
    while (depth) {
        const struct flow_block *b = &w->blocks[o->stack[depth - 1]];
        const uint32_t n = o->back ? b->nprev : b->nnext, at = o->edge[depth - 1]++;
        if (at == n) {
            o->last[o->number[o->stack[--depth]]] = o->n - 1;
            continue;
        }
        const uint32_t to = (o->back ? b->prev : b->next)[at];
        if (o->number[to] != NONE)
            continue;
        order_add(o, to, o->number[o->stack[depth - 1]]);
        o->stack[depth] = to;
        o->edge[depth++] = 0;
    }
}

/* ---- Post-dominators. ---- */

/* All by number in the order from the end backwards. */
struct tree {
    uint32_t *semi, *label, *ancestor, *idom, *bucket, *in_bucket, *path;
};

/* The one with the least semi-dominator on the way up from `v`, compressing that way. */
static uint32_t tree_eval(struct tree *t, uint32_t v)
{
    uint32_t n = 0;
    if (t->ancestor[v] == NONE)
        return v;
    for (uint32_t u = v; t->ancestor[t->ancestor[u]] != NONE; u = t->ancestor[u])
        t->path[n++] = u;
    while (n--) {
        const uint32_t u = t->path[n], a = t->ancestor[u];
        if (t->semi[t->label[a]] < t->semi[t->label[u]])
            t->label[u] = t->label[a];
        t->ancestor[u] = t->ancestor[a];
    }
    return t->label[v];
}

/* The semi-dominator of `v` from one of its ways to the end. */
static void tree_relax(struct tree *t, uint32_t v, uint32_t next)
{
    const uint32_t s = t->semi[tree_eval(t, next)];
    t->semi[v] = s < t->semi[v] ? s : t->semi[v];
}

/* Dominators of what waits in the bucket of `p`. */
static void tree_empty(struct tree *t, uint32_t p)
{
    for (uint32_t v = t->bucket[p]; v != NONE; v = t->in_bucket[v]) {
        const uint32_t u = tree_eval(t, v);
        t->idom[v] = t->semi[u] < t->semi[v] ? u : p;
    }
    t->bucket[p] = NONE;
}

static void tree_build(struct tree *t, const struct order *o, const struct flow *w)
{
    for (uint32_t v = o->n - 1; v > 0; v--) {
        const struct flow_block *b = &w->blocks[o->vertex[v]];
        const uint32_t p = o->parent[v];
        for (uint32_t k = 0; k < b->nnext; k++)
            tree_relax(t, v, o->number[b->next[k]]);
        if (p == 0) /* also what never comes to the end: it is hung below it */
            tree_relax(t, v, 0);
        t->in_bucket[v] = t->bucket[t->semi[v]];
        t->bucket[t->semi[v]] = v;
        t->ancestor[v] = p;
        tree_empty(t, p);
    }
    for (uint32_t v = 1; v < o->n; v++)
        if (t->idom[v] != t->semi[v])
            t->idom[v] = t->idom[t->idom[v]];
}

static void find_meetings(struct flow *w)
{
    struct order o;
    const size_t n = w->nblocks;
    order_begin(&o, w->nblocks, true);
    order_walk(&o, w, w->nblocks - 1, 0);
    for (uint32_t b = w->nblocks; b-- > 0;) /* never-ending loops: as if they went to the end */
        if (o.number[b] == NONE)
            order_walk(&o, w, b, 0);
    uint32_t *all = xmalloc(7 * n * sizeof *all);
    memset(all, 0xFF, 7 * n * sizeof *all);
    struct tree t = {all, all + n, all + 2 * n, all + 3 * n, all + 4 * n, all + 5 * n, all + 6 * n};
    for (uint32_t v = 0; v < n; v++)
        t.semi[v] = t.label[v] = v;
    t.idom[0] = 0;
    tree_build(&t, &o, w);
    for (uint32_t b = 0; b < n; b++)
        w->blocks[b].meet = o.vertex[t.idom[o.number[b]]];
    free(all);
    free(o.vertex);
}

/* ---- Loops. ---- */

/* All by number of the order; blocks of a loop that is done are one set with its header. */
struct loops {
    const struct flow *w;
    const struct order *o;
    uint32_t *set, *around, *work, *mark, nwork;
    /* Ways into a loop beside its header, a list by header: who walks around the loop takes them. */
    uint32_t *entries;
    struct entry {
        uint32_t from, next;
    } * entry;
    size_t nentries, entry_cap;
};

static uint32_t find_set(uint32_t *set, uint32_t x)
{
    while (set[x] != x)
        x = set[x] = set[set[x]];
    return x;
}

static bool is_below(const struct order *o, uint32_t number, uint32_t above)
{
    return number >= above && number <= o->last[above];
}

/* `from` (a number) comes to what is in the loop of `h`. */
static void add_to_body(struct loops *l, uint32_t h, uint32_t from)
{
    const uint32_t x = find_set(l->set, from);
    if (x == h || l->mark[x] == h)
        return;
    if (is_below(l->o, x, h)) {
        l->work[l->nwork++] = x;
        l->mark[x] = h;
    } else if (l->nentries < MAX_EDGES) {
        xgrow((void **)&l->entry, &l->entry_cap, l->nentries + 1, sizeof *l->entry);
        l->entry[l->nentries] = (struct entry){from, l->entries[h]};
        l->entries[h] = (uint32_t)l->nentries++;
    }
}

/* Hangs the body of the loop with header `h` below it in `around`; true if there is one. */
static bool find_body(struct loops *l, uint32_t h)
{
    const struct flow_block *header = &l->w->blocks[l->o->vertex[h]];
    bool found = false;
    l->nwork = 0;
    for (uint32_t k = 0; k < header->nprev; k++) {
        const uint32_t from = l->o->number[header->prev[k]];
        if (from == NONE || !is_below(l->o, from, h))
            continue;
        found = true;
        add_to_body(l, h, from);
    }
    for (uint32_t i = 0; i < l->nwork; i++) {
        const struct flow_block *b = &l->w->blocks[l->o->vertex[l->work[i]]];
        for (uint32_t k = 0; k < b->nprev; k++)
            if (l->o->number[b->prev[k]] != NONE)
                add_to_body(l, h, l->o->number[b->prev[k]]);
        for (uint32_t e = l->entries[l->work[i]]; e != NONE; e = l->entry[e].next)
            add_to_body(l, h, l->entry[e].from);
    }
    for (uint32_t i = 0; i < l->nwork; i++)
        l->set[l->work[i]] = l->around[l->work[i]] = h;
    return found;
}

/* Headers know themselves; the others learn the loop that they hang below. */
static void tell_blocks(struct flow *w, const struct loops *l)
{
    for (uint32_t v = 0; v < l->o->n; v++) { /* outer headers have lower numbers */
        struct flow_block *b = &w->blocks[l->o->vertex[v]];
        const uint32_t out = l->around[v] == NONE ? NONE : l->o->vertex[l->around[v]];
        const bool is_header = b->loop >= 0;
        b->reached = true;
        b->depth = (out == NONE ? 0 : w->blocks[out].depth) + is_header;
        if (!is_header && out != NONE)
            b->loop = (int32_t)out;
    }
}

static void find_loops(struct flow *w)
{
    struct order o;
    const size_t n = w->nblocks;
    order_begin(&o, w->nblocks, false);
    order_walk(&o, w, 0, 0);
    uint32_t *all = xmalloc(5 * n * sizeof *all);
    memset(all, 0xFF, 5 * n * sizeof *all);
    struct loops l = {.w = w,
                      .o = &o,
                      .set = all,
                      .around = all + n,
                      .work = all + 2 * n,
                      .mark = all + 3 * n,
                      .entries = all + 4 * n};
    for (uint32_t v = 0; v < n; v++)
        l.set[v] = v;
    for (uint32_t b = 0; b < n; b++)
        w->blocks[b].loop = -1;
    for (uint32_t h = o.n; h-- > 0;)
        if (find_body(&l, h))
            w->blocks[o.vertex[h]].loop = (int32_t)o.vertex[h];
    tell_blocks(w, &l);
    free(l.entry);
    free(all);
    free(o.vertex);
}

/* ---- The whole. ---- */

enum status flow_new(const struct ptx_function *f, struct flow **out, struct err *err)
{
    size_t nedges = 0;
    uint8_t *leads = xcalloc((size_t)f->ninsns + 1, 1);
    *out = NULL;
    enum status st = find_leaders(f, leads, &nedges, err);
    if (st == ST_OK) {
        struct flow *w = *out = xcalloc(1, sizeof *w);
        w->store = xcalloc(1, sizeof *w->store);
        w->block_of = xmalloc(((size_t)f->ninsns + 1) * sizeof *w->block_of);
        make_blocks(w, f, leads);
        make_edges(w, f, nedges);
        find_meetings(w);
        find_loops(w);
    }
    free(leads);
    return st;
}

void flow_free(struct flow *w)
{
    if (!w)
        return;
    free(w->store->next);
    free(w->store->prev);
    free(w->store);
    free(w->blocks);
    free(w->block_of);
    free(w);
}

uint32_t flow_meeting(const struct flow *w, uint32_t insn)
{
    return w->blocks[w->blocks[w->block_of[insn]].meet].first;
}
