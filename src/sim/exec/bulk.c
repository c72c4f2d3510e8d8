/* bulk.c - the copy engine: copies between global and shared memory that a thread starts and does not wait for. See
 * flight.h. PTX ISA 9.0, "cp.async.bulk", "cp.async.bulk.tensor", "mbarrier", "fence.proxy".
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "sim/exec/flight.h"
#include "sim/exec/pace.h"

static uint64_t reg64(const struct warp *w, uint32_t ref, int lane)
{
    return ((const uint64_t *)(const void *)(w->base[ref & 1] + (ref & ~1u)))[lane];
}

static uint32_t reg32(const struct warp *w, uint32_t ref, int lane)
{
    return ((const uint32_t *)(const void *)(w->base[ref & 1] + (ref & ~1u)))[lane];
}

enum { COPY_AGENTS = 2 };

uint32_t flight_agents(const struct sim_program *p, const struct sim_launch *l)
{
    const uint32_t warps = (l->block[0] * l->block[1] * l->block[2] + 31) / 32;
    const uint32_t products = p->nwgmma ? warps * (l->cluster ? l->cluster : 1) : 0;
    return p->async_proxy ? products + COPY_AGENTS : 0;
}

uint32_t flight_agent(const struct block *b, uint32_t barrier, uint32_t *lane)
{
    const uint32_t i = (uint32_t)(flight_barrier(b->flight, barrier) - b->flight->barrier);
    *lane = i % 32;
    return (b->program->nwgmma ? 2u : 1u) * (uint32_t)b->nwarps + i / 32 % COPY_AGENTS;
}

void flight_begin(struct block *b)
{
    struct flight *f = b->flight;
    if (f)
        f->copies = f->barriers = f->init_fences = 0;
}

struct flight_barrier *flight_barrier(struct flight *f, uint32_t addr)
{
    for (uint32_t i = 0; i < f->barriers; i++)
        if (f->barrier[i].addr == addr)
            return &f->barrier[i];
    if (f->barriers == FLIGHT_BARRIERS) /* more than fit: the last one's place is everybody's */
        f->barriers--;
    f->barrier[f->barriers] = (struct flight_barrier){.addr = addr, .expects = UINT32_MAX};
    return &f->barrier[f->barriers++];
}

/* ---- the bytes ---- */

/* A copy that comes: who asked for it, and what of it was reported. */
struct landing {
    struct block *b;
    struct warp *w;
    const struct code *c;
    const struct bulk_flight *f;
    const struct code_memory *reduces; /* bytes 0: it stores */
    uint32_t size;                     /* of shared memory that one row of the box fills */
};

/* Host bytes of `n` of global memory; NULL: there are none, reported. */
static uint8_t *global_bytes(const struct landing *l, uint64_t addr, uint32_t n)
{
    struct worker *t = l->b->worker;
    const struct allocation *al = memory_find(t->memory, addr);
    const bool write = !l->f->loads;
    if (!al || n > al->bytes - (addr - al->base)) {
        block_fault(l->b, l->w, l->c, l->f->lane,
                    write ? SIM_FAULT_BOUNDS_WRITE : SIM_FAULT_BOUNDS_READ, SIM_GLOBAL, addr, n, 1,
                    "%s", "");
        return NULL;
    }
    if (write && al->guard && !access_guarded(l->w, l->c, al, addr, n, l->f->lane))
        return NULL;
    const uint64_t at = addr - al->base;
    const bool fetches = !write || l->reduces->bytes;
    for (uint32_t i = 0; fetches && !al->all_written && i < n; i += 16)
        if (!written_all(al->written, at + i, n - i < 16 ? n - i : 16)) {
            access_unwritten(l->w, l->c, SIM_GLOBAL, addr + i, n - i < 16 ? n - i : 16, l->f->lane);
            break;
        }
    if (write && !al->all_written)
        written_mark_shared(al->written, at, n);
    return al->host + at;
}

/* 16 bytes at most between shared and global memory; global NULL: zeros. */
static void move_piece(const struct landing *l, uint32_t shared, uint8_t *global, uint32_t n,
                       uint32_t fill)
{
    struct block *b = l->b;
    if (!l->f->loads) {
        if (global && l->reduces->bytes)
            reduce_bytes(l->reduces, global, b->shared + shared, n);
        else if (global)
            memcpy(global, b->shared + shared, n);
        return;
    }
    if (global)
        memcpy(b->shared + shared, global, n);
    memset(b->shared + shared + n, 0, fill - n);
    written_mark(b->shared_written, shared, fill);
}

/* A row of a box: `n` bytes of it lie in the tensor, `skip` bytes before them do not. */
static void move_row(const struct landing *l, uint32_t row, uint64_t global, uint32_t skip,
                     uint32_t n)
{
    const struct bulk_flight *f = l->f;
    uint8_t *host = n ? global_bytes(l, global, n) : NULL;
    for (uint32_t at = 0; at < l->size; at += 16) {
        const uint32_t from = at < skip ? skip - at : 0; /* within the piece */
        const uint32_t end = at + 16 < skip + n ? 16 : skip + n > at ? skip + n - at : 0;
        const uint32_t to = swizzled_address(f->shared + row * l->size + at, f->map.swizzle);
        if (from < end && (from || !host)) { /* begins within: rare */
            if (f->loads)
                move_piece(l, to, NULL, 0, 16);
            if (host)
                move_piece(l, to + from, host + at + from - skip, end - from, end - from);
        } else
            move_piece(l, to, from < end ? host + at - skip : NULL, from < end ? end : 0, 16);
    }
}

/* Where the row with these coordinates beyond the first begins; false: it is not in the tensor. */
static bool row_address(const struct bulk_flight *f, const uint32_t in_box[TENSOR_MAP_RANK],
                        uint64_t *addr)
{
    bool inside = true;
    *addr = f->map.address;
    for (int i = 1; i < f->map.rank; i++) {
        const int64_t x = (int64_t)f->at[i] + in_box[i];
        inside &= x >= 0 && x < (int64_t)f->map.dim[i];
        *addr += (uint64_t)x * f->map.stride[i - 1];
    }
    return inside;
}

static void move_box(const struct landing *l)
{
    const struct bulk_flight *f = l->f;
    const struct tensor_map *m = &f->map;
    const int64_t first = f->at[0], dim = m->dim[0], box = m->box[0];
    const int64_t from = first < 0 ? 0 : first, end = first + box < dim ? first + box : dim;
    const uint32_t n = end > from ? (uint32_t)(end - from) * m->element : 0;
    const uint32_t skip = (uint32_t)(from - first) * m->element;
    uint32_t rows = 1, in_box[TENSOR_MAP_RANK] = {0};
    for (int i = 1; i < m->rank; i++)
        rows *= m->box[i];
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t addr;
        const bool inside = row_address(f, in_box, &addr) && n;
        move_row(l, row, addr + (uint64_t)from * m->element, inside ? skip : 0, inside ? n : 0);
        for (int i = 1; i < m->rank && ++in_box[i] == m->box[i]; i++)
            in_box[i] = 0;
    }
}

static void move_plain(const struct landing *l)
{
    const struct bulk_flight *f = l->f;
    uint8_t *host = global_bytes(l, f->global, f->bytes);
    for (uint32_t at = 0; host && at < f->bytes; at += 16)
        move_piece(l, f->shared + at, host + at, 16, 16);
}

/* Copy `i` comes, and is forgotten. */
static void land(struct block *b, uint32_t i)
{
    struct flight *all = b->flight;
    const struct bulk_flight f = all->copy[i];
    struct landing l = {.b = b,
                        .w = &b->warp[f.warp],
                        .c = &b->program->code[f.code],
                        .f = &f,
                        .reduces = &b->program->bulk[b->program->code[f.code].imm].reduces,
                        .size = (uint32_t)f.map.box[0] * f.map.element};
    all->copies--;
    memmove(all->copy + i, all->copy + i + 1, (all->copies - i) * sizeof *all->copy);
    if (f.map.rank)
        move_box(&l);
    else
        move_plain(&l);
    b->changes++;
    if (!f.loads)
        return;
    if (b->worker->hazard) {
        uint32_t lane;
        const uint32_t agent = flight_agent(b, f.barrier, &lane);
        hazard_agent_arrive(b->worker->hazard, agent, lane, f.mark, f.barrier);
    }
    pace_landed(b, f.barrier, f.lands);
    mbarrier_bytes(b, f.barrier, f.bytes);
}

/* The phase is over; a copy that it announced is not there. */
static void check_phase(struct block *b, uint32_t barrier, uint32_t came)
{
    struct flight *all = b->flight;
    const struct flight_barrier *x = flight_barrier(all, barrier);
    uint32_t left = 0;
    for (uint32_t i = 0; i < all->copies; i++)
        left += all->copy[i].loads && all->copy[i].barrier == barrier ? all->copy[i].bytes : 0;
    if (!left || !came || x->expects == UINT32_MAX)
        return;
    block_fault(b, &b->warp[x->warp], &b->program->code[x->expects], -1, SIM_FAULT_EXPECTED,
                SIM_SHARED, barrier, 8, 1,
                "it ends with %" PRIu32 " bytes of its copies, %" PRIu32 " are still to come", came,
                left);
}

void flight_land(struct block *b, uint32_t barrier, uint32_t parity)
{
    struct flight *all = b->flight;
    struct mbarrier_state s;
    uint32_t came = 0;
    for (uint32_t i = 0; all && i < all->copies;) {
        if (!all->copy[i].loads || all->copy[i].barrier != barrier) {
            i++;
            continue;
        }
        if (!mbarrier_state(b, barrier, &s) || s.parity != parity)
            break;
        came += all->copy[i].bytes;
        land(b, i);
    }
    if (all && came && mbarrier_state(b, barrier, &s) && s.parity != parity)
        check_phase(b, barrier, came);
}

/* Shared memory is given to the next block when this one's last thread has ended. What nobody has waited for may then still read
 * there, or write. The waits for stores are their own thread's, so that nobody else can have waited. */
static void tell_left(struct block *b, const struct bulk_flight *f)
{
    block_fault(b, &b->warp[f->warp], &b->program->code[f->code], f->lane, SIM_FAULT_COPY_EXIT,
                SIM_SHARED, f->shared, f->bytes, 1, "%s",
                f->loads   ? "nobody waits for the phase of the mbarrier that its bytes are of"
                : f->group ? "its thread does not wait for its group"
                           : "its thread does not commit it to a group, and waits for none");
}

void flight_end(struct block *b)
{
    struct flight *all = b->flight;
    for (uint32_t i = 0; all && !b->ended && b->worker->hazard && i < all->copies; i++)
        tell_left(b, &all->copy[i]);
    for (uint32_t i = 0; all && i < all->copies;) /* the kernel's end is a wait for stores */
        if (all->copy[i].loads)
            i++;
        else
            land(b, i);
    if (all)
        all->copies = 0;
    warpgroups_end(b);
    for (int i = 0; i < b->nwarps; i++)
        b->warp[i].wgmmas = 0;
}

/* ---- issue ---- */

bool cluster_place(const struct warp *w, uint32_t addr, uint32_t bytes, uint32_t *at)
{
    const struct block *b = w->block;
    const uint32_t from = addr >> CLUSTER_ADDR_BITS;
    const uint32_t rank = from ? from - 1 : w->rank;
    const uint32_t low = addr & ((1u << CLUSTER_ADDR_BITS) - 1);
    *at = rank * b->stride + low;
    return rank < b->cluster && bytes <= b->block_bytes && low <= b->block_bytes - bytes;
}

static void refuse(struct warp *w, const struct code *c, int lane, const char *why, uint64_t x)
{
    block_fault(w->block, w, c, lane, SIM_FAULT_COPY_ENGINE, SIM_NOWHERE, x, 0, 1, "%s", why);
}

/* The tensor map at an address of parameters or global memory. */
static bool read_map(struct warp *w, const struct code *c, const struct code_bulk *k, int lane,
                     struct tensor_map *out)
{
    const struct worker *t = worker_of(w);
    uint64_t at = reg64(w, k->global, lane) + (uint64_t)k->offset;
    uint8_t bytes[TENSOR_MAP_BYTES];
    const bool window = k->map_space == SIM_NOWHERE && at - SIM_PARAM_WINDOW < SIM_WINDOW_BYTES;
    bool there;
    if (window)
        at -= SIM_PARAM_WINDOW;
    if (window || k->map_space == SIM_PARAM) {
        const uint32_t all = t->program->facts.param_bytes;
        there = all >= TENSOR_MAP_BYTES && at <= all - TENSOR_MAP_BYTES;
        if (there)
            memcpy(bytes, t->params + at, sizeof bytes);
    } else
        there = sim_memory_read(t->memory, at, bytes, sizeof bytes);
    if (at % 64)
        refuse(w, c, lane, "its tensor map is not at a multiple of 64 bytes", at);
    else if (!there || !tensor_map_decode(bytes, out) || out->rank != k->rank)
        refuse(w, c, lane, "there is no tensor map of that many dimensions", at);
    else
        return true;
    return false;
}

static bool describe(struct warp *w, const struct code *c, const struct code_bulk *k, int lane,
                     struct bulk_flight *f)
{
    if (k->rank) {
        if (!read_map(w, c, k, lane, &f->map))
            return false;
        for (int i = 0; i < k->rank; i++)
            f->at[i] = (int32_t)reg32(w, k->coordinate[i], lane);
        f->bytes = tensor_map_box_bytes(&f->map);
        return true;
    }
    f->global = reg64(w, k->global, lane) + (uint64_t)k->offset;
    f->bytes = reg32(w, c->c, lane);
    if (f->global % 16 || f->bytes % 16) {
        refuse(w, c, lane, "address and size are multiples of 16 bytes", f->global);
        return false;
    }
    return true;
}

static uint32_t shared_address(const struct warp *w, const struct code_memory *m, uint32_t ref,
                               int lane)
{
    return (m->wide_addr ? (uint32_t)reg64(w, ref, lane) : reg32(w, ref, lane)) +
           (uint32_t)m->offset;
}

static bool find_places(struct warp *w, const struct code *c, const struct code_bulk *k, int lane,
                        struct bulk_flight *f)
{
    const uint32_t addr = shared_address(w, &k->shared, c->a, lane), align = k->rank ? 128 : 16;
    if (!cluster_place(w, addr, f->bytes, &f->shared)) {
        block_fault(w->block, w, c, lane, f->loads ? SIM_FAULT_BOUNDS_WRITE : SIM_FAULT_BOUNDS_READ,
                    SIM_SHARED, addr, f->bytes, 1, "%s", "the copy engine's box");
        return false;
    }
    if (addr % align) {
        block_fault(w->block, w, c, lane, SIM_FAULT_MISALIGNED, SIM_SHARED, f->shared, f->bytes, 1,
                    "the copy engine wants multiples of %" PRIu32 " bytes", align);
        return false;
    }
    const uint32_t barrier = f->loads ? shared_address(w, &k->barrier, c->b, lane) : 0;
    struct mbarrier_state s;
    if (!f->loads ||
        (cluster_place(w, barrier, 8, &f->barrier) && mbarrier_state(w->block, f->barrier, &s)))
        return true;
    block_fault(w->block, w, c, lane, SIM_FAULT_MBARRIER, SIM_SHARED, barrier, 8, 1, "%s",
                "its bytes are announced to one that was not initialised");
    return false;
}

/* Its bytes in shared memory, for the hazard detector: at the issue, since from then on they may be touched. */
static void watch_shared(struct warp *w, const struct code *c, struct bulk_flight *f)
{
    struct hazard_block *h = worker_of(w)->hazard;
    uint32_t lane = f->lane, agent = (uint32_t)w->id, addr[32] = {0};
    if (f->loads) {
        agent = flight_agent(w->block, f->barrier, &lane);
        hazard_agent_begin(h, agent, 1u << lane, (uint32_t)w->id, 1u << f->lane);
    }
    if (f->loads) { /* the object that its bytes are told to must be there */
        const struct hazard_access a = {.warp = (uint32_t)w->id,
                                        .mask = 1u << f->lane,
                                        .insn = c->insn,
                                        .bytes = 8,
                                        .act = HAZARD_ATOMIC};
        addr[f->lane] = f->barrier;
        hazard_shared(h, &a, addr);
    }
    for (uint32_t at = 0; at < f->bytes; at += 128) {
        const struct hazard_access a = {.warp = agent,
                                        .mask = 1u << lane,
                                        .insn = c->insn,
                                        .bytes = f->bytes - at < 128 ? f->bytes - at : 128,
                                        .act = f->loads ? HAZARD_WRITE : HAZARD_READ,
                                        .engine = !f->loads};
        addr[lane] = f->shared + at;
        hazard_shared(h, &a, addr);
    }
    if (f->loads)
        f->mark = hazard_agent_mark(h, agent);
}

static void watch_global(struct warp *w, const struct code *c, const struct bulk_flight *f,
                         uint64_t addr, uint32_t n)
{
    uint64_t at[32] = {0};
    const bool reduces = w->block->program->bulk[c->imm].reduces.bytes;
    for (uint32_t from = 0; from < n; from += 128) {
        const struct hazard_access a = {.warp = (uint32_t)w->id,
                                        .mask = 1u << f->lane,
                                        .insn = c->insn,
                                        .bytes = n - from < 128 ? n - from : 128,
                                        .act = f->loads  ? HAZARD_READ
                                               : reduces ? HAZARD_ATOMIC
                                                         : HAZARD_COPY,
                                        .engine = !f->loads};
        at[f->lane] = addr + from;
        hazard_global(worker_of(w)->hazard, &a, at);
    }
}

/* What of a row lies in the tensor, counted and watched: rows of a box are accesses of their own. */
static void count_row(struct warp *w, const struct code *c, const struct bulk_flight *f,
                      uint64_t addr, uint32_t n)
{
    struct worker *t = worker_of(w);
    const bool write = !f->loads;
    if (!memory_find(t->memory, addr)) /* told when it is moved */
        return;
    if (t->hazard)
        watch_global(w, c, f, addr, n);
    if (!t->counters)
        return;
    for (uint64_t from = addr / 32, end = (addr + n + 31) / 32; from < end; from += 32) {
        struct pattern_global p = {.same = 1};
        p.sectors = p.ideal = end - from < 32 ? (uint16_t)(end - from) : 32;
        for (uint16_t i = 0; i < p.sectors; i++) {
            const uint64_t at = (from + i) * 32;
            const uint32_t skip = at < addr ? (uint32_t)(addr - at) : 0;
            const uint32_t over = at + 32 > addr + n ? (uint32_t)(at + 32 - addr - n) : 0;
            p.sector[i] = i;
            p.bytes[i] = UINT32_MAX >> (skip + over) << skip;
        }
        COUNT(t, c, global_sectors, p.sectors);
        COUNT(t, c, global_sectors_ideal, p.sectors);
        if (t->port)
            cache_port_access(t->port, w->rank, write ? CACHE_WRITE : CACHE_READ, true, from * 32,
                              &p);
    }
    COUNT(t, c, global_bytes, n);
}

static void count_copy(struct warp *w, const struct code *c, const struct bulk_flight *f)
{
    uint32_t rows = 1, in_box[TENSOR_MAP_RANK] = {0};
    COUNT(worker_of(w), c, global_requests, 1);
    if (!f->map.rank) {
        count_row(w, c, f, f->global, f->bytes);
        return;
    }
    const struct tensor_map *m = &f->map;
    const int64_t first = f->at[0], last = first + m->box[0];
    const int64_t from = first < 0 ? 0 : first, end = last < (int64_t)m->dim[0] ? last : m->dim[0];
    for (int i = 1; i < m->rank; i++)
        rows *= m->box[i];
    for (uint32_t row = 0; row < rows && end > from; row++) {
        uint64_t addr;
        if (row_address(f, in_box, &addr))
            count_row(w, c, f, addr + (uint64_t)from * m->element,
                      (uint32_t)(end - from) * m->element);
        for (int i = 1; i < m->rank && ++in_box[i] == m->box[i]; i++)
            in_box[i] = 0;
    }
}

/* On its way to, or from, the place in shared memory that f names. */
static void depart(struct warp *w, const struct code *c, int lane, struct bulk_flight f)
{
    struct flight *all = w->block->flight;
    if (all->copies == BULK_FLIGHTS)
        land(w->block, 0);
    if (f.loads && flight_barrier(all, f.barrier)->fences == all->init_fences)
        block_fault(w->block, w, c, lane, SIM_FAULT_MBARRIER, SIM_SHARED, f.barrier, 8, 1, "%s",
                    "the copy engine may not see that it was initialised: no fence.mbarrier_init "
                    "and no fence.proxy.async since");
    if (worker_of(w)->hazard)
        watch_shared(w, c, &f);
    all->copy[all->copies++] = f;
}

/* To the same place of each block that bit by bit `blocks` names, and its barrier there: read once, so counted once. */
static void depart_to(struct warp *w, const struct code *c, int lane, const struct bulk_flight *f,
                      uint32_t blocks)
{
    const struct block *b = w->block;
    if (!blocks || blocks >> b->cluster) {
        refuse(w, c, lane, "a multicast names blocks of its cluster, by bits", blocks);
        return;
    }
    for (uint32_t rank = 0; rank < b->cluster; rank++)
        if (blocks >> rank & 1) {
            struct bulk_flight one = *f;
            struct mbarrier_state s;
            one.shared = f->shared % b->stride + rank * b->stride;
            one.barrier = f->barrier % b->stride + rank * b->stride;
            if (mbarrier_state(b, one.barrier, &s))
                depart(w, c, lane, one);
            else
                block_fault(w->block, w, c, lane, SIM_FAULT_MBARRIER, SIM_SHARED, one.barrier, 8, 1,
                            "%s", "its bytes are announced to one that was not initialised");
        }
}

static void issue(struct warp *w, const struct code *c, int lane)
{
    const struct code_bulk *k = &w->block->program->bulk[c->imm];
    struct bulk_flight f = {.code = (uint32_t)(c - worker_of(w)->program->code),
                            .warp = (uint16_t)w->id,
                            .lane = (uint8_t)lane,
                            .loads = k->way == BULK_LOAD};
    if (!describe(w, c, k, lane, &f) || !find_places(w, c, k, lane, &f))
        return;
    count_copy(w, c, &f);
    f.lands = f.loads ? pace_copy(w, f.shared, f.bytes) : 0;
    if (k->multicast)
        depart_to(w, c, lane, &f, reg32(w, k->blocks, lane) & 0xffff);
    else
        depart(w, c, lane, f);
}

void warp_bulk_copy(struct warp *w, const struct code *c, uint32_t m)
{
    if (m)
        COUNT(worker_of(w), c, async_copies, 1);
    for (uint32_t left = m; left; left &= left - 1)
        issue(w, c, __builtin_ctz(left));
}

/* ---- groups of stores ---- */

void warp_bulk_commit(struct warp *w, uint32_t m)
{
    struct flight *all = w->block->flight;
    for (uint32_t left = m; left; left &= left - 1)
        w->bulk_groups[__builtin_ctz(left)]++;
    for (uint32_t i = 0; all && i < all->copies; i++) {
        struct bulk_flight *f = &all->copy[i];
        if (!f->loads && f->warp == w->id && m >> f->lane & 1 && !f->group)
            f->group = w->bulk_groups[f->lane];
    }
    if (worker_of(w)->hazard)
        hazard_send_commit(worker_of(w)->hazard, (uint32_t)w->id, m);
}

/* imm: groups of each lane that may be under way; kind 1: all of it, else what they read. */
void warp_bulk_wait(struct warp *w, const struct code *c, uint32_t m)
{
    struct flight *all = w->block->flight;
    for (uint32_t i = 0; all && i < all->copies;) {
        const struct bulk_flight *f = &all->copy[i];
        if (f->loads || f->warp != w->id || !(m >> f->lane & 1) || !f->group ||
            f->group + c->imm > w->bulk_groups[f->lane])
            i++;
        else
            land(w->block, i);
    }
    if (worker_of(w)->hazard)
        hazard_send_wait(worker_of(w)->hazard, (uint32_t)w->id, m, c->imm, !c->kind);
}

void warp_proxy_fence(struct warp *w, const struct code *c, uint32_t m)
{
    struct flight *all = w->block->flight;
    w->init_fenced |= m && c->kind;
    if (!m || !all)
        return;
    all->init_fences++;
    if (!c->kind && worker_of(w)->hazard)
        hazard_proxy_fence(worker_of(w)->hazard);
}
