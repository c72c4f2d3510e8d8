/* pace.c - see pace.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/pace.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/exec/flight.h"
#include "sim/ptx.h"
#include "sim/statics.h"

/* Cycles. The engine's: published dependent-issue micro-benchmarks of sm_90, rounded; of the rest chain.h says where from. */
enum {
    COPY_LATENCY = 650, /* until the first bytes of a copy out of the L2 are there */
    COPY_ISSUE = 30,    /* between two copies */
    PRODUCT_DRAIN = 32, /* from the tensor core's end to the sums */
    WAKE = 20,          /* from the end of a phase to who waits for it */
    SHUFFLE = 12 /* half: a lane's two rows go together */,
    SHARED = 28,
    QUARTERS = 4,
    BLOCK_BEGIN =
        1000, /* from the end of a block that had the whole multiprocessor to the next one's first instruction */
    BLOCK_END = 1000, /* until its stores have left */
    BRIEF = 24,       /* work that is not told of */
};
/* Of its rate, at the clock that NVML tells: `doctor --peak` of an H200, 816 TFLOP/s at 1695 MHz. Counted by the multiprocessors' own
 * clocks it is 0.96 to 0.99 (kernels/hopper.md). Times are made with the clock that is told, so its rate stands here. Tried with 0.97 on
 * 20 recorded rows of fa3_* at S=512, of which the model has 17 too short: 15 were further off, 2 nearer, 3 the same; median 6.4 to 8.9 %. */
static const double wgmma_reached = 0.89;
static const double bytes_per_cycle =
    64; /* of an SM's way to the L2; what all have together bounds a launch */
/* Cycles that a warp instruction keeps a quarter's unit. */
static const double takes[SIM_PIPE_COUNT] = {
    [SIM_PIPE_fma] = 1, [SIM_PIPE_alu] = 2,  [SIM_PIPE_imul] = 1, [SIM_PIPE_half] = 1,
    [SIM_PIPE_xu] = 8,  [SIM_PIPE_fp64] = 2, [SIM_PIPE_lsu] = 1};

/* When a unit is busy: spans that do not touch, in order. */
struct span {
    double from, to;
};
struct calendar {
    struct span *busy;
    size_t n, cap;
};
enum { SPANS_MAX = 2048 };

struct pace_warp {
    double now, product; /* product: the end of its last one on the tensor cores */
    bool asks;           /* once told, a question that is asked again costs nothing */
    uint64_t pipe[SIM_PIPE_COUNT], shuffles, shared; /* executed and not yet told */
};

/* Of an mbarrier. */
struct pace_barrier {
    uint32_t addr;
    double arrived, ended;
};

struct pace {
    int warps;
    double machine
        [SIM_PIPE_COUNT]
        [SIM_PIPE_COUNT]; /* what an instruction of PTX is of the machine's, on an average of the program's */
    struct pace_warp *warp;
    struct calendar tensor[QUARTERS * SIM_CLUSTER_MAX], issue[QUARTERS * SIM_CLUSTER_MAX];
    double engine[SIM_CLUSTER_MAX];
    struct pace_barrier *barrier;
    size_t barriers, cap;
    double meet[PACE_MEETING + 1], opened[PACE_MEETING + 1];
    uint64_t pipe[SIM_PIPE_COUNT], shuffles,
        shared; /* the block's totals when they were looked at last */
};

/* By pipe: statics.h knows what ptxas makes of each instruction. */
static void learn_mixture(struct pace *x, const struct sim_program *p)
{
    double n[SIM_PIPE_COUNT] = {0};
    for (uint32_t i = 0; i < p->function->ninsns; i++) {
        struct statics s = {.total = 0};
        const enum sim_pipe from = p->insn[i].pipe;
        statics_add(p->function->insns[i].op, 1, &s);
        n[from]++;
        for (int k = 0; k < SIM_PIPE_COUNT; k++)
            x->machine[from][k] += s.pipe[k];
    }
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        for (int k = 0; k < SIM_PIPE_COUNT && n[i] > 0; k++)
            x->machine[i][k] /= n[i];
}

struct pace *pace_new(const struct sim_program *p, const struct block *b)
{
    if (!p->nwgmma)
        return NULL;
    struct pace *x = xcalloc(1, sizeof *x);
    x->warps = b->nwarps;
    x->warp = xcalloc((size_t)b->nwarps, sizeof *x->warp);
    learn_mixture(x, p);
    return x;
}

void pace_free(struct pace *p)
{
    for (int i = 0; p && i < QUARTERS * SIM_CLUSTER_MAX; i++) {
        free(p->tensor[i].busy);
        free(p->issue[i].busy);
    }
    if (p) {
        free(p->warp);
        free(p->barrier);
    }
    free(p);
}

void pace_begin(struct block *b)
{
    struct pace *p = b->pace;
    if (!p)
        return;
    memset(p->warp, 0, (size_t)p->warps * sizeof *p->warp);
    for (int i = 0; i < p->warps; i++)
        p->warp[i].now = BLOCK_BEGIN;
    for (int i = 0; i < QUARTERS * SIM_CLUSTER_MAX; i++)
        p->tensor[i].n = p->issue[i].n = 0;
    memset(p->engine, 0, sizeof p->engine);
    memset(p->meet, 0, sizeof p->meet);
    memset(p->opened, 0, sizeof p->opened);
    memset(p->pipe, 0, sizeof p->pipe);
    p->shuffles = p->shared = 0;
    p->barriers = 0;
}

/* ---- calendars ---- */

/* The first span that ends at `at` or behind it. */
static size_t first_behind(const struct calendar *c, double at)
{
    size_t i = 0;
    for (size_t end = c->n; i < end;) {
        const size_t mid = i + (end - i) / 2;
        if (c->busy[mid].to < at)
            i = mid + 1;
        else
            end = mid;
    }
    return i;
}

/* Spans i .. j - 1 become one. */
static void put(struct calendar *c, size_t i, size_t j, struct span s)
{
    if (i == j)
        xgrow((void **)&c->busy, &c->cap, c->n + 1, sizeof *c->busy);
    memmove(c->busy + i + 1, c->busy + j, (c->n - j) * sizeof *c->busy);
    c->n = c->n + 1 - (j - i);
    c->busy[i] = s;
    if (c->n > SPANS_MAX) { /* the oldest gap is nobody's any more */
        c->busy[0].to = c->busy[1].to;
        c->n--;
        memmove(c->busy + 1, c->busy + 2, (c->n - 1) * sizeof *c->busy);
    }
}

/* Takes `cycles` of what is free from `at` on, in pieces; the end of the last. */
static double reserve(struct calendar *c, double at, double cycles)
{
    const size_t i = first_behind(c, at);
    size_t j = i;
    struct span s = {at, at};
    if (!(cycles > 0))
        return at;
    if (i < c->n && c->busy[i].from <= at)
        s = c->busy[j++];
    while (j < c->n && c->busy[j].from - s.to < cycles) {
        cycles -= c->busy[j].from - s.to;
        s.to = c->busy[j++].to;
    }
    s.to += cycles;
    put(c, i, j, s);
    return s.to;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* ---- what is kept of it ---- */

/* Of warpgroups their first warps, of a cluster its first block. NULL: there is no more room. */
static struct sim_beat *keep(const struct warp *w, enum sim_beat_kind kind, double from, double to)
{
    struct sim_course *c = &worker_of(w)->course;
    if (c->beats >= SIM_COURSE_BEATS || w->rank || (w->id % 4 && kind != SIM_BEAT_copy))
        return NULL;
    xgrow((void **)&c->beat, &c->beats_cap, c->beats + 1, sizeof *c->beat);
    struct sim_beat *b = &c->beat[c->beats++];
    *b = (struct sim_beat){.kind = kind, .warp = (uint32_t)w->id, .from = from, .to = to};
    return b;
}

static void keep_wait(const struct warp *w, enum sim_beat_kind kind, double to, uint32_t where,
                      uint32_t of)
{
    const double now = w->block->pace->warp[w->id].now;
    struct sim_beat *b = to > now ? keep(w, kind, now, to) : NULL;
    if (b) {
        b->where = where;
        b->of = of;
    }
}

/* Products of a group are one. */
static void keep_product(const struct warp *w, const struct wgmma_flight *f, double from, double to)
{
    struct sim_course *c = &worker_of(w)->course;
    struct sim_beat *last = c->beats ? &c->beat[c->beats - 1] : NULL;
    if (last && last->kind == SIM_BEAT_product && last->warp == (uint32_t)w->id &&
        last->of == w->wgmma_groups) {
        last->to = to;
        return;
    }
    last = keep(w, SIM_BEAT_product, from, to);
    if (last) {
        last->where = (uint32_t)(f->descriptor[1] & 0x3fff) * 16;
        last->of = w->wgmma_groups;
    }
}

/* ---- what a warp has executed ---- */

static size_t quarter_of(const struct warp *w)
{
    return w->rank * QUARTERS + (uint32_t)(w->id % w->block->block_warps) % QUARTERS;
}

/* Since somebody looked last; it is this warp's, whose turn it is. */
static void collect(struct warp *w)
{
    const struct worker *t = worker_of(w);
    struct pace *p = w->block->pace;
    struct pace_warp *x = &p->warp[w->id];
    for (int i = 0; i < SIM_PIPE_COUNT; i++) {
        x->pipe[i] += t->pipe[i] - p->pipe[i];
        p->pipe[i] = t->pipe[i];
    }
    x->shuffles += t->sum.shuffles - p->shuffles;
    x->shared += t->sum.smem_wavefronts - p->shared;
    p->shuffles = t->sum.shuffles;
    p->shared = t->sum.smem_wavefronts;
}

static void forget(struct pace_warp *x)
{
    memset(x->pipe, 0, sizeof x->pipe);
    x->shuffles = x->shared = 0;
}

/* Cycles of a quarter's units, one after the other; of shared memory its part of a wavefront a cycle. */
static double cycles_of(const struct pace *p, const struct pace_warp *x)
{
    double cycles = (double)(x->shared * QUARTERS);
    int used[SIM_PIPE_COUNT] = {0}, n = 0;
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        if (x->pipe[i])
            used[n++] = i;
    for (int k = 0; k < SIM_PIPE_COUNT;
         k++) /* in this order, whoever is left out: sums keep their bits */
        for (int j = 0; j < n; j++)
            cycles += takes[k] * (double)x->pipe[used[j]] * p->machine[used[j]][k];
    return cycles;
}

/* The clock goes on by what was executed. A softmax finds its maxima (alu) before it has exponentials to make (xu) and sums of
 * them (fma): units of a quarter hardly overlap, and its other warps have them meanwhile no more than this one. */
static struct pace_warp *spend(const struct warp *w)
{
    struct pace *p = w->block->pace;
    struct pace_warp *x = &p->warp[w->id];
    const double began = x->now, cycles = cycles_of(p, x);
    x->now = reserve(&p->issue[quarter_of(w)], x->now, cycles) + (double)(x->shuffles * SHUFFLE) +
             (x->shared ? SHARED : 0);
    if (x->now - began > BRIEF)
        keep(w, SIM_BEAT_work, began, x->now);
    forget(x);
    return x;
}

static struct pace_warp *advance(struct warp *w)
{
    collect(w);
    return spend(w);
}

void pace_turn(struct warp *w)
{
    struct pace *p = w->block->pace;
    const struct worker *t = worker_of(w);
    if (!p)
        return;
    memcpy(p->pipe, t->pipe, sizeof p->pipe);
    p->shuffles = t->sum.shuffles;
    p->shared = t->sum.smem_wavefronts;
}

void pace_turn_ends(struct warp *w)
{
    if (w->block->pace)
        collect(w);
}

/* ---- products ---- */

/* A quarter of the tensor cores has the warp's 16 rows; operands in shared memory are read for all four together. */
static double product_cycles(const struct code_wgmma *x)
{
    const int bytes_of_k = 32; /* of 16 bits; k is 32 bytes of every type */
    const double flops = x->n / 2.0, reads = x->n * bytes_of_k / 128.0 + (x->a_shared ? 16 : 0);
    return later(flops, reads) / wgmma_reached;
}

void pace_product(struct warp *w, struct wgmma_flight *f, const struct code_wgmma *x)
{
    struct pace *p = w->block->pace;
    if (!p)
        return;
    struct pace_warp *me = advance(w);
    const double from = later(me->now, me->product), cycles = product_cycles(x);
    me->product = reserve(&p->tensor[quarter_of(w)], from, cycles);
    keep_product(w, f, later(from, me->product - cycles), me->product);
    f->ends = me->product + PRODUCT_DRAIN;
}

void pace_products_done(struct warp *w, const struct wgmma_flight *last)
{
    if (!w->block->pace)
        return;
    struct pace_warp *me = advance(w);
    keep_wait(w, SIM_BEAT_wait_product, last->ends, 0, last->group);
    me->now = later(me->now, last->ends);
}

/* ---- copies and mbarriers ---- */

static struct pace_barrier *barrier_at(struct pace *p, uint32_t addr)
{
    for (size_t i = 0; i < p->barriers; i++)
        if (p->barrier[i].addr == addr)
            return &p->barrier[i];
    xgrow((void **)&p->barrier, &p->cap, p->barriers + 1, sizeof *p->barrier);
    p->barrier[p->barriers] = (struct pace_barrier){.addr = addr};
    return &p->barrier[p->barriers++];
}

double pace_copy(struct warp *w, uint32_t where, uint32_t bytes)
{
    struct pace *p = w->block->pace;
    if (!p)
        return 0;
    struct pace_warp *me = advance(w);
    double *engine = &p->engine[w->rank];
    me->now += COPY_ISSUE;
    *engine = later(*engine, me->now) + bytes / bytes_per_cycle;
    struct sim_beat *b = keep(w, SIM_BEAT_copy, me->now, *engine + COPY_LATENCY);
    if (b) {
        b->where = where;
        b->of = bytes;
    }
    return *engine + COPY_LATENCY;
}

void pace_landed(struct block *b, uint32_t barrier, double at)
{
    if (!b->pace)
        return;
    struct pace_barrier *x = barrier_at(b->pace, barrier);
    x->arrived = later(x->arrived, at);
}

void pace_arrive(struct warp *w, uint32_t barrier)
{
    if (w->block->pace)
        pace_landed(w->block, barrier, advance(w)->now);
}

void pace_phase_ends(struct block *b, uint32_t barrier)
{
    if (!b->pace)
        return;
    struct pace_barrier *x = barrier_at(b->pace, barrier);
    x->ended = x->arrived;
}

void pace_ask(struct warp *w, uint32_t barrier, uint32_t parity, bool yes)
{
    struct pace *p = w->block->pace;
    if (!p)
        return;
    struct pace_warp *me = &p->warp[w->id];
    if (me->asks) {
        collect(w);
        forget(me);
    } else
        advance(w);
    me->asks = !yes;
    const double ended = barrier_at(p, barrier)->ended;
    if (yes && ended > me->now) {
        keep_wait(w, SIM_BEAT_wait, ended + WAKE, barrier, parity);
        me->now = ended + WAKE;
    }
}

/* ---- barriers of the block and the cluster ---- */

void pace_meet(struct warp *w, uint32_t key)
{
    struct pace *p = w->block->pace;
    if (!p)
        return;
    const struct pace_warp *me = advance(w);
    p->meet[key] = later(p->meet[key], me->now);
}

void pace_open(struct block *b, uint32_t key)
{
    if (b->pace)
        b->pace->opened[key] = b->pace->meet[key];
}

void pace_leave(struct warp *w, uint32_t key)
{
    struct pace *p = w->block->pace;
    if (!p || p->opened[key] <= p->warp[w->id].now)
        return;
    keep_wait(w, SIM_BEAT_meet, p->opened[key] + WAKE, key, 0);
    p->warp[w->id].now = p->opened[key] + WAKE;
}

double pace_cycles(const struct block *b)
{
    double most = 0;
    for (int i = 0; b->pace && i < b->nwarps; i++)
        most = later(most, spend(&b->warp[i])->now);
    return b->pace ? most + BLOCK_END : 0;
}
