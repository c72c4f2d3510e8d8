/* block.c - see block.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/exec/course.h"
#include "sim/exec/flight.h"
#include "sim/exec/guest.h"
#include "sim/exec/pace.h"
#include "sim/exec/phase.h"
#include "sim/tensor_cut.h"

#define SPINS_MAX 4 /* rounds in which nobody does more than to ask in vain */

static uint64_t rounded(uint64_t x, uint64_t to)
{
    return (x + to - 1) / to * to;
}

static uint32_t cluster_of(const struct sim_launch *l)
{
    return l->cluster ? l->cluster : 1;
}

static int block_warps(const struct sim_launch *l)
{
    return (int)(((uint64_t)l->block[0] * l->block[1] * l->block[2] + 31) / 32);
}

/* Of a block, or of a cluster. */
static int warps_of(const struct sim_launch *l)
{
    return block_warps(l) * (int)cluster_of(l);
}

static uint64_t local_words(const struct sim_program *p)
{
    return (p->facts.local_bytes + (uint64_t)p->call_bytes + 3) / 4;
}

static uint64_t register_bytes(const struct sim_program *p)
{
    return (p->slots + 2ull) * SIM_SLOT; /* a wide value in the last slot ends behind it */
}

uint64_t worker_bytes(const struct sim_program *p, const struct sim_launch *l)
{
    const uint64_t warp = register_bytes(p) + local_words(p) * (SIM_SLOT + 4) +
                          p->predicates * 4ull + sizeof(struct warp);
    return (uint64_t)warps_of(l) * warp +
           (p->dynamic_offset + (uint64_t)l->dynamic_shared) * cluster_of(l) * 9 / 8 +
           (p->async_proxy ? sizeof(struct flight) : 0) +
           (p->nwgmma ? (uint64_t)warps_of(l) * WGMMA_FLIGHTS * sizeof(struct wgmma_flight) : 0) +
           p->ncode * (sizeof(struct memo) + 2 * sizeof(struct tally)) +
           p->facts.insns * sizeof(struct sim_counts);
}

static void *aligned(uint64_t bytes)
{
    void *p = aligned_alloc(64, rounded(bytes ? bytes : 1, 64));
    if (!p)
        fatal("out of memory");
    memset(p, 0, rounded(bytes ? bytes : 1, 64));
    return p;
}

struct worker_parts worker_parts(const struct worker *t)
{
    const struct sim_program *p = t->program;
    const uint64_t n = (uint64_t)t->block.nwarps;
    return (struct worker_parts){.registers = n * register_bytes(p),
                                 .predicates = n * p->predicates * sizeof *t->predicates,
                                 .local = n * local_words(p) * (SIM_SLOT + 4)};
}

void worker_open(struct worker *t)
{
    const struct sim_program *p = t->program;
    struct block *b = &t->block;
    const int n = warps_of(t->launch);
    *b = (struct block){.program = p,
                        .launch = t->launch,
                        .worker = t,
                        .nwarps = n,
                        .cluster = cluster_of(t->launch),
                        .block_warps = block_warps(t->launch)};
    t->adder = tensor_adder_of(t->launch->cc);
    b->threads = t->launch->block[0] * t->launch->block[1] * t->launch->block[2];
    b->block_bytes = p->dynamic_offset + t->launch->dynamic_shared;
    b->stride = b->cluster > 1 ? (uint32_t)rounded(b->block_bytes, CLUSTER_ALIGN) : b->block_bytes;
    b->shared_bytes = b->cluster > 1 ? b->stride * b->cluster : b->block_bytes;
    b->shared = aligned(b->shared_bytes + 64ull);
    b->shared_written = aligned(b->shared_bytes / 8 + 64ull);
    b->warp = aligned((uint64_t)n * sizeof *b->warp);
    t->registers = aligned((uint64_t)n * register_bytes(p));
    t->predicates = aligned((uint64_t)n * p->predicates * sizeof *t->predicates);
    t->local = aligned((uint64_t)n * local_words(p) * (SIM_SLOT + 4));
    if (p->async_proxy)
        b->flight = xcalloc(1, sizeof *b->flight);
    for (int i = 0; p->nwgmma && i < n; i++)
        b->warp[i].wgmma = xcalloc(WGMMA_FLIGHTS, sizeof *b->warp[i].wgmma);
    t->memo = xcalloc(p->ncode, sizeof *t->memo);
    t->tally = xcalloc(p->ncode, sizeof *t->tally);
    t->runs = xcalloc(p->ncode, sizeof *t->runs);
    t->cost = xcalloc(p->facts.insns + 1, sizeof *t->cost);
}

void worker_close(struct worker *t)
{
    for (uint32_t i = 0; t->memo && i < t->program->ncode; i++) {
        free(t->memo[i].shared);
        free(t->memo[i].global);
    }
    for (int i = 0; t->block.warp && i < t->block.nwarps; i++) {
        free(t->block.warp[i].copy);
        free(t->block.warp[i].wgmma);
    }
    free(t->block.flight);
    pace_free(t->block.pace);
    free(t->memo);
    free(t->tally);
    free(t->runs);
    free(t->cost);
    free(t->block.shared);
    free(t->block.shared_written);
    free(t->block.warp);
    free(t->registers);
    free(t->predicates);
    free(t->local);
    free(t->phase);
    course_free(&t->course);
    free(t->faults.fault);
    str_free(&t->printed);
}

/* ---- The begin ---- */
static void warp_begin(struct worker *t, int id)
{
    const struct sim_program *p = t->program;
    struct warp *w = &t->block.warp[id];
    struct async_copy *copy = w->copy;
    struct wgmma_flight *wgmma = w->wgmma;
    const size_t cap = w->copies_cap;
    const uint32_t rank = (uint32_t)(id / t->block.block_warps),
                   threads = t->block.threads - (uint32_t)(id % t->block.block_warps) * 32;
    *w = (struct warp){.block = &t->block,
                       .id = id,
                       .rank = rank,
                       .copy = copy,
                       .copies_cap = cap,
                       .wgmma = wgmma};
    w->exist = w->live = threads >= 32 ? SIM_FULL : (1u << threads) - 1;
    w->base[0] = t->registers + (uint64_t)id * register_bytes(p);
    w->base[1] = t->constants;
    w->pred = t->predicates + (uint64_t)id * p->predicates;
    w->pred[PRED_TRUE] = SIM_FULL;
    w->local = t->local + (uint64_t)id * local_words(p) * SIM_SLOT;
    w->local_written =
        (uint32_t *)(void *)(t->local + (uint64_t)t->block.nwarps * local_words(p) * SIM_SLOT) +
        (uint64_t)id * local_words(p);
    w->path[0] = (struct path){.pc = 0, .join = UINT32_MAX, .mask = w->live};
    w->depth = 1;
}

void block_begin(struct worker *t, uint64_t index)
{
    const struct sim_program *p = t->program;
    struct block *b = &t->block;
    const uint32_t *g = t->launch->grid;
    b->index = index;
    b->ctaid[0] = (uint32_t)(index % g[0]);
    b->ctaid[1] = (uint32_t)(index / g[0] % g[1]);
    b->ctaid[2] = (uint32_t)(index / g[0] / g[1]);
    b->executed = b->changes = 0;
    b->ended = false;
    memset(b->barrier, 0, sizeof b->barrier);
    b->meeting_warps = 0;
    b->meetings = 0;
    memset(b->shared, 0xff, b->shared_bytes);
    memset(b->shared_written, 0, b->shared_bytes / 8 + 64ull);
    memset(t->registers, 0, (uint64_t)b->nwarps * register_bytes(p));
    memset(t->predicates, 0, (uint64_t)b->nwarps * p->predicates * sizeof *t->predicates);
    memset(t->local, 0xff, (uint64_t)b->nwarps * local_words(p) * SIM_SLOT);
    memset(t->local + (uint64_t)b->nwarps * local_words(p) * SIM_SLOT, 0,
           (uint64_t)b->nwarps * local_words(p) * 4);
    memset(t->tally, 0, p->ncode * sizeof *t->tally);
    memset(t->runs, 0, p->ncode * sizeof *t->runs);
    memset(t->cost, 0, p->facts.insns * sizeof *t->cost);
    memset(&t->sum, 0, sizeof t->sum);
    memset(t->pipe, 0, sizeof t->pipe);
    t->lanes = 0;
    t->faults.count = 0;
    t->faults.lost = 0;
    str_clear(&t->printed);
    t->printf_cut = false;
    for (int i = 0; i < b->nwarps; i++)
        warp_begin(t, i);
    flight_begin(b);
    pace_begin(b);
    phase_block_begin(b);
}

/* ---- Turns ---- */

/* One that asks an mbarrier in vain: which phase, and what that waits for; once for those that ask the same. */
static int describe_asking(const struct block *b, const struct warp *w, int line, char *text,
                           size_t size)
{
    struct mbarrier_state s;
    const char *comma = w > b->warp ? ", " : "";
    const struct warp *before = w > b->warp ? w - 1 : NULL;
    const bool told = before && before->depth && before->wait == WAIT_NOTHING &&
                      before->asks == w->asks && before->asks_parity == w->asks_parity;
    if (told || !mbarrier_state(b, w->asks, &s))
        return snprintf(text, size, "%swarp %d asks an mbarrier (PTX line %d)", comma, w->id, line);
    return snprintf(text, size,
                    "%swarp %d asks an mbarrier (PTX line %d) for its phase of parity %" PRIu32
                    ", which lacks %" PRIu32 " arrivals and %" PRId32 " bytes",
                    comma, w->id, line, w->asks_parity, s.missing, s.bytes);
}

/* Who waits where, as far as the text goes, which ends between two of them. */
static void describe_waits(const struct block *b, char *text, size_t whole)
{
    static const char others[] = ", and others";
    const size_t size = whole - sizeof others;
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < b->nwarps; i++) {
        const struct warp *w = &b->warp[i];
        if (!w->depth)
            continue;
        const int line = b->program->insn[b->program->code[w->waits_at].insn].ptx_line;
        const int n =
            w->wait == WAIT_CLUSTER
                ? snprintf(text + at, size - at, "%swarp %d at the cluster's barrier (PTX line %d)",
                           at ? ", " : "", i, line)
            : w->wait == WAIT_BARRIER
                ? snprintf(text + at, size - at, "%swarp %d at barrier %d (PTX line %d)",
                           at ? ", " : "", i, w->barrier, line)
                : describe_asking(b, w, line, text + at, size - at);
        if (n < 0 || (size_t)n >= size - at) {
            memcpy(text + at, others, sizeof others);
            return;
        }
        at += (size_t)n;
    }
}

void block_deadlock(struct block *b)
{
    char text[sizeof((struct sim_fault *)0)->text];
    describe_waits(b, text, sizeof text);
    const struct warp *w = b->warp;
    while (!w->depth)
        w++;
    block_fault(b, w, &b->program->code[w->waits_at], -1, SIM_FAULT_DEADLOCK, SIM_NOWHERE, 0, 0, 1,
                "%s", text);
    b->ended = true;
}

static bool endless(struct block *b, const struct warp *w)
{
    if (b->executed < b->worker->max_instructions)
        return false;
    const uint32_t pc = w->depth ? w->path[w->depth - 1].pc : 0;
    block_fault(b, w, &b->program->code[pc], -1, SIM_FAULT_ENDLESS, SIM_NOWHERE, 0, 0, 1,
                "after %" PRIu64 " instructions of its warps", b->executed);
    b->ended = true;
    return true;
}

/* The order of turns: ascending, or drawn from the seed. */
static int turn_of(const struct worker *t, int i, uint64_t round)
{
    const int n = t->block.nwarps;
    if (!t->seed)
        return i;
    const uint64_t x = (t->seed + round * 0x9e3779b97f4a7c15ull) ^ t->block.index;
    const uint64_t y = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    const int start = (int)((y >> 32) % (uint64_t)n);
    const int at = (start + i) % n;
    return y & 1 ? n - 1 - at : at;
}

enum round_end { ROUND_RAN, ROUND_ASKED, ROUND_STUCK, ROUND_OVER };

static enum round_end one_round(struct worker *t, uint64_t round, const atomic_bool *halt)
{
    struct block *b = &t->block;
    bool alive = false, ran = false, worked = false;
    const uint64_t changes = b->changes;
    for (int i = 0; i < b->nwarps && !b->ended; i++) {
        struct warp *w = &b->warp[turn_of(t, i, round)];
        if (!w->depth)
            continue;
        alive = true;
        if (w->wait != WAIT_NOTHING)
            continue;
        ran = true;
        w->yields = false;
        pace_turn(w);
        t->warp_run(w, t->quantum);
        pace_turn_ends(w);
        if (!w->yields)
            worked = true;
        if (!w->depth) {
            w->wait = WAIT_ENDED;
            barrier_exit(b);
        }
        if (endless(b, w) || atomic_load_explicit(halt, memory_order_relaxed))
            break;
    }
    if (!alive || b->ended)
        return ROUND_OVER;
    return !ran ? ROUND_STUCK : worked || changes != b->changes ? ROUND_RAN : ROUND_ASKED;
}

bool block_run(struct worker *t, uint64_t index, const atomic_bool *halt, atomic_ullong *executed)
{
    struct block *b = &t->block;
    block_begin(t, index);
    if (t->hazard)
        hazard_block_begin(t->hazard, index, b->shared);
    int asked = 0;
    uint64_t told = 0;
    for (uint64_t round = 0;; round++) {
        const enum round_end end = one_round(t, round, halt);
        atomic_fetch_add_explicit(executed, b->executed - told, memory_order_relaxed);
        told = b->executed;
        if (end == ROUND_OVER || atomic_load_explicit(halt, memory_order_relaxed))
            break;
        asked = end == ROUND_ASKED ? asked + 1 : 0;
        if (end == ROUND_STUCK || asked > SPINS_MAX)
            block_deadlock(b);
        if (b->ended)
            break;
    }
    for (int i = 0; i < b->nwarps; i++)
        b->warp[i].copies = 0;
    flight_end(b);
    guests_end(b);
    phase_block_end(b);
    if (t->hazard)
        hazard_block_end(t->hazard);
    return !atomic_load_explicit(halt, memory_order_relaxed);
}
