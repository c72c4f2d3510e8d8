/* test_hazard.c - every kind of hazard, and beside each the nearest thing that is none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/hazard.h"
#include "tap.h"

enum { SHARED = 4096 };
#define EVERY UINT32_MAX

/* One block of some warps, told what happens; `take` ends it and has what was found. */
struct scene {
    struct hazards *launch;
    struct hazard_block *block;
    struct hazard_report *found;
    size_t n;
    uint64_t lost, unchecked;
    unsigned char bytes[SHARED];
};

static void open_scene(struct scene *s, uint32_t threads)
{
    *s = (struct scene){0};
    s->launch = hazards_new(&(struct hazard_options){.threads = threads, .shared_bytes = SHARED});
    s->block = hazard_block_new(s->launch);
    hazard_block_begin(s->block, 7, s->bytes);
}

static void take(struct scene *s)
{
    hazard_block_end(s->block);
    free(s->found);
    hazards_take(s->launch, &s->found, &s->n, &s->lost, &s->unchecked);
}

static void close_scene(struct scene *s)
{
    hazard_block_free(s->block);
    hazards_free(s->launch);
    free(s->found);
}

/* Lane l of the mask: `bytes` at base + l * step. */
static void shared(struct scene *s, uint32_t warp, uint32_t mask, enum hazard_act act,
                   uint32_t insn, uint32_t base, uint32_t step, uint32_t bytes)
{
    uint32_t addr[32];
    for (uint32_t l = 0; l < 32; l++)
        addr[l] = base + l * step;
    hazard_shared(s->block,
                  &(struct hazard_access){
                      .warp = warp, .mask = mask, .insn = insn, .bytes = bytes, .act = act},
                  addr);
}

static void barrier(struct scene *s, uint32_t id, uint32_t from, uint32_t to)
{
    for (uint32_t w = from; w < to; w++)
        hazard_barrier_arrive(s->block, id, w, EVERY, true);
    hazard_barrier_open(s->block, id);
}

/* Ends the scene: nothing was found. */
static void expect_none(struct scene *s)
{
    take(s);
    for (size_t i = 0; i < s->n; i++)
        printf("# %s: insn %u and %u at %llu\n", hazard_kind_name(s->found[i].kind),
               s->found[i].a.insn, s->found[i].b.insn, (unsigned long long)s->found[i].addr);
    CU_ASSERT_EQUAL(s->n, 0);
    close_scene(s);
}

/* Ends the scene: one pair of instructions. */
static struct hazard_report expect_one(struct scene *s, enum hazard_kind kind, uint32_t a,
                                       uint32_t b)
{
    take(s);
    CU_ASSERT_EQUAL_FATAL(s->n, 1);
    const struct hazard_report r = s->found[0];
    if (r.kind != kind)
        printf("# %s instead of %s\n", hazard_kind_name(r.kind), hazard_kind_name(kind));
    CU_ASSERT_EQUAL(r.kind, kind);
    CU_ASSERT_EQUAL(r.a.insn, a);
    CU_ASSERT_EQUAL(r.b.insn, b);
    close_scene(s);
    return r;
}

/* ---- warps of a block ---- */

static void test_block(void)
{
    struct scene s;
    open_scene(&s, 64);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    struct hazard_report r = expect_one(&s, HAZARD_BLOCK, 1, 2);
    CU_ASSERT_EQUAL(r.count, 32);
    CU_ASSERT_EQUAL(r.addr, 0);
    CU_ASSERT_EQUAL(r.bytes, 4);
    CU_ASSERT_EQUAL(r.a.block, 7);
    CU_ASSERT_EQUAL(r.a.warp, 0);
    CU_ASSERT_EQUAL(r.a.lane, 0);
    CU_ASSERT_EQUAL(r.a.act, HAZARD_WRITE);
    CU_ASSERT_EQUAL(r.b.warp, 1);
    CU_ASSERT_EQUAL(r.b.act, HAZARD_READ);

    open_scene(&s, 64); /* a barrier between them */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    barrier(&s, 0, 0, 2);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_none(&s);

    open_scene(&s, 64); /* the second barrier is missing: read, then written */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    barrier(&s, 0, 0, 2);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    r = expect_one(&s, HAZARD_BLOCK, 2, 1);
    CU_ASSERT_EQUAL(r.a.act, HAZARD_READ);

    open_scene(&s, 64); /* writes of both */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    shared(&s, 1, EVERY, HAZARD_WRITE, 2, 128, 4, 4);
    shared(&s, 1, 1, HAZARD_WRITE, 3, 124, 4, 4);
    r = expect_one(&s, HAZARD_BLOCK, 1, 3);
    CU_ASSERT_EQUAL(r.a.lane, 31);

    open_scene(&s, 96); /* all may read */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    barrier(&s, 0, 0, 3);
    for (uint32_t w = 0; w < 3; w++)
        shared(&s, w, EVERY, HAZARD_READ, 2, 0, 0, 16);
    barrier(&s, 0, 0, 3);
    shared(&s, 2, EVERY, HAZARD_WRITE, 3, 0, 4, 4);
    expect_none(&s);
}

/* A reader that many others hide: the write must be held against each. */
static void test_many_readers(void)
{
    for (uint32_t late = 0; late < 8; late++) {
        struct scene s;
        open_scene(&s, 288);
        for (uint32_t w = 0; w < 8; w++)
            shared(&s, w, 1u << w, HAZARD_READ, 10 + w, 64, 0, 4);
        for (uint32_t w = 0; w < 9; w++) /* all but one meet the writer */
            if (w != late)
                hazard_barrier_arrive(s.block, 1, w, EVERY, true);
        hazard_barrier_open(s.block, 1);
        shared(&s, 8, 1, HAZARD_WRITE, 2, 64, 0, 4);
        const struct hazard_report r = expect_one(&s, HAZARD_BLOCK, 10 + late, 2);
        CU_ASSERT_EQUAL(r.a.warp, (int)late);
        CU_ASSERT_EQUAL(r.a.lane, (int)late);
    }
}

/* Neighbours that share a word, or 16 bytes, do not meet; those that share a byte do. */
static void test_bytes(void)
{
    for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
        struct scene s;
        open_scene(&s, 64);
        shared(&s, 0, 0x55555555, HAZARD_WRITE, 1, 0, bytes, bytes);
        shared(&s, 1, 0xaaaaaaaa, HAZARD_WRITE, 2, 0, bytes, bytes);
        expect_none(&s);
        open_scene(&s, 64); /* large first: cells are made smaller when they hold something */
        shared(&s, 0, 1, HAZARD_WRITE, 1, 0, 0, 16);
        shared(&s, 1, 1, HAZARD_READ, 2, 16 - bytes, 0, bytes);
        shared(&s, 1, 1, HAZARD_READ, 3, 16, 0, bytes);
        const struct hazard_report r = expect_one(&s, HAZARD_BLOCK, 1, 2);
        CU_ASSERT_EQUAL(r.addr, 16 - bytes);
        CU_ASSERT_EQUAL(r.bytes, bytes);
    }
    struct scene s;
    open_scene(&s, 64); /* bytes of one occurrence are joined */
    shared(&s, 0, 1, HAZARD_WRITE, 9, 300, 0, 4);
    shared(&s, 0, 1, HAZARD_WRITE, 1, 0, 0, 16);
    shared(&s, 1, 1, HAZARD_READ, 2, 0, 0, 16);
    CU_ASSERT_EQUAL(expect_one(&s, HAZARD_BLOCK, 1, 2).bytes, 16);
    open_scene(&s, 64); /* outside of the memory: another's fault to tell */
    shared(&s, 0, 1, HAZARD_WRITE, 1, SHARED - 4, 0, 16);
    shared(&s, 1, 1, HAZARD_WRITE, 2, SHARED - 4, 0, 16);
    shared(&s, 1, 1, HAZARD_WRITE, 3, UINT32_MAX - 3, 0, 8);
    expect_none(&s);
}

/* ---- barriers that are not the whole block's ---- */

static void test_named_barriers(void)
{
    struct scene s;
    open_scene(&s, 128);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    barrier(&s, 1, 0, 2); /* warps 0 and 1 */
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_none(&s);

    open_scene(&s, 128); /* warp 2 was not there */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    barrier(&s, 1, 0, 2);
    barrier(&s, 2, 2, 4);
    shared(&s, 2, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_one(&s, HAZARD_BLOCK, 1, 2);

    open_scene(&s, 128); /* by way of another */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    barrier(&s, 1, 0, 2);
    barrier(&s, 2, 1, 3);
    shared(&s, 2, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_none(&s);

    open_scene(&s, 64); /* arrive gives ... */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_barrier_arrive(s.block, 3, 0, EVERY, false);
    hazard_barrier_arrive(s.block, 3, 1, EVERY, true);
    hazard_barrier_open(s.block, 3);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_none(&s);

    open_scene(&s, 64); /* ... what was before it ... */
    hazard_barrier_arrive(s.block, 3, 0, EVERY, false);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_barrier_arrive(s.block, 3, 1, EVERY, true);
    hazard_barrier_open(s.block, 3);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_one(&s, HAZARD_BLOCK, 1, 2);

    open_scene(&s, 64); /* ... and receives nothing */
    shared(&s, 1, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_barrier_arrive(s.block, 3, 0, EVERY, false);
    hazard_barrier_arrive(s.block, 3, 1, EVERY, true);
    hazard_barrier_open(s.block, 3);
    shared(&s, 0, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_one(&s, HAZARD_BLOCK, 1, 2);
}

/* Threads that end need no longer come, but what they did is known to nobody. */
static void test_exit(void)
{
    struct scene s;
    open_scene(&s, 96);
    hazard_exit(s.block, 2, EVERY);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    barrier(&s, 0, 0, 2);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_none(&s);
    open_scene(&s, 96);
    shared(&s, 2, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_exit(s.block, 2, EVERY);
    barrier(&s, 0, 0, 2);
    barrier(&s, 0, 0, 2);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_one(&s, HAZARD_BLOCK, 1, 2);
}

/* ---- lanes ---- */

static void test_warp(void)
{
    struct scene s;
    open_scene(&s, 32); /* each its own */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    shared(&s, 0, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_none(&s);

    open_scene(&s, 32); /* its neighbour's */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    shared(&s, 0, EVERY, HAZARD_READ, 2, 4, 4, 4);
    struct hazard_report r = expect_one(&s, HAZARD_WARP, 1, 2);
    CU_ASSERT_EQUAL(r.a.lane, 1);
    CU_ASSERT_EQUAL(r.b.lane, 0);
    CU_ASSERT_EQUAL(r.count, 31); /* the last reads what nobody wrote */

    open_scene(&s, 32);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_warp_sync(s.block, 0, EVERY);
    shared(&s, 0, EVERY, HAZARD_READ, 2, 4, 4, 4);
    hazard_warp_sync(s.block, 0, EVERY);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    expect_none(&s);

    open_scene(&s, 32); /* the second __syncwarp is missing */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_warp_sync(s.block, 0, EVERY);
    shared(&s, 0, EVERY, HAZARD_READ, 2, 4, 4, 4);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    expect_one(&s, HAZARD_WARP, 2, 1);

    open_scene(&s, 32); /* a sync of one half orders that half */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_warp_sync(s.block, 0, 0xffff);
    shared(&s, 0, 0x7fff, HAZARD_READ, 2, 4, 4, 4);
    expect_none(&s);
    open_scene(&s, 32);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_warp_sync(s.block, 0, 0xffff);
    shared(&s, 0, 0xffff, HAZARD_READ, 2, 4, 4, 4);
    r = expect_one(&s, HAZARD_WARP, 1, 2);
    CU_ASSERT_EQUAL(r.b.lane, 15);
    CU_ASSERT_EQUAL(r.count, 1);
}

static void test_lanes(void)
{
    float x[32];
    for (int l = 0; l < 32; l++)
        x[l] = (float)(l / 16);
    const struct hazard_values values = {.part = {x}, .parts = 1, .bytes = 4, .stride = 4};
    uint32_t addr[32];
    struct hazard_access a = {
        .mask = 0xff, .insn = 3, .bytes = 4, .act = HAZARD_WRITE, .values = &values};
    struct scene s;
    memset(addr, 0, sizeof addr);
    open_scene(&s, 32); /* alike */
    hazard_shared(s.block, &a, addr);
    expect_none(&s);
    open_scene(&s, 32); /* unlike */
    a.mask = EVERY;
    hazard_shared(s.block, &a, addr);
    struct hazard_report r = expect_one(&s, HAZARD_LANES, 3, 3);
    CU_ASSERT_EQUAL(r.a.lane, 0);
    CU_ASSERT_EQUAL(r.b.lane, 16);
    CU_ASSERT_EQUAL(r.count, 16);
    open_scene(&s, 32); /* in no order, and not known */
    for (uint32_t l = 0; l < 32; l++)
        addr[l] = (l * 5 % 32) * 4;
    addr[9] = addr[4];
    a.values = NULL;
    hazard_shared(s.block, &a, addr);
    r = expect_one(&s, HAZARD_LANES, 3, 3);
    CU_ASSERT_EQUAL(r.a.lane, 4);
    CU_ASSERT_EQUAL(r.b.lane, 9);
    CU_ASSERT_EQUAL(r.count, 1);
    open_scene(&s, 32);
    addr[9] = 9 * 5 % 32 * 4;
    hazard_shared(s.block, &a, addr);
    expect_none(&s);
}

/* What lanes of a warp read one after the other is kept of each: whoever writes is in a race with them all. */
static void test_one_lane_after_the_other(void)
{
    struct scene s;
    open_scene(&s, 64); /* by two instructions */
    shared(&s, 0, 1, HAZARD_READ, 1, 0, 0, 4);
    shared(&s, 0, 2, HAZARD_READ, 2, 0, 0, 4);
    shared(&s, 1, 1, HAZARD_WRITE, 3, 0, 0, 4);
    take(&s);
    CU_ASSERT_EQUAL_FATAL(s.n, 2);
    CU_ASSERT_EQUAL(s.found[0].a.insn + s.found[1].a.insn, 1 + 2);
    CU_ASSERT_EQUAL(s.found[0].a.lane + s.found[1].a.lane, 0 + 1);
    CU_ASSERT(s.found[0].kind == HAZARD_BLOCK && s.found[1].kind == HAZARD_BLOCK);
    close_scene(&s);
    open_scene(
        &s,
        64); /* by one, while others' reads are kept: the second lane counts as the first does */
    shared(&s, 0, 4, HAZARD_READ, 1, 64, 0, 4);
    shared(&s, 0, 8, HAZARD_READ, 2, 64, 0, 4);
    shared(&s, 0, 1, HAZARD_READ, 5, 0, 0, 4);
    shared(&s, 0, 2, HAZARD_READ, 5, 0, 0, 4);
    hazard_warp_sync(s.block, 0, 1 | 1u << 31);
    shared(&s, 0, 1u << 31, HAZARD_WRITE, 6, 0, 0, 4); /* behind lane 0, not behind lane 1 */
    CU_ASSERT_EQUAL(expect_one(&s, HAZARD_WARP, 5, 6).a.lane, 1);
}

/* A hazard counts once for each access and lane, however many words of it are in it. */
static void test_counted_by_access(void)
{
    struct scene s;
    open_scene(&s, 64);
    shared(&s, 0, 3, HAZARD_WRITE, 1, 0, 4, 4);
    for (int i = 0; i < 3; i++)
        shared(&s, 1, 1, HAZARD_READ, 2, 0, 0, 8); /* a word of each of the two */
    CU_ASSERT_EQUAL(expect_one(&s, HAZARD_BLOCK, 1, 2).count, 3);
}

/* What was there is written once more: a race, but marked. */
static void test_same_value(void)
{
    for (int changed = 0; changed < 2; changed++) {
        struct scene s;
        const uint32_t x[32] = {0x01020304};
        const struct hazard_values values = {.part = {x}, .parts = 1, .bytes = 4, .stride = 4};
        const struct hazard_access a = {
            .warp = 1, .mask = 1, .insn = 5, .bytes = 4, .act = HAZARD_WRITE, .values = &values};
        const uint32_t addr[32] = {8};
        open_scene(&s, 64);
        shared(&s, 0, 1, HAZARD_WRITE, 4, 8, 0, 4);
        memcpy(s.bytes + 8, x, 4);
        s.bytes[11] ^= (unsigned char)changed;
        hazard_shared(s.block, &a, addr);
        CU_ASSERT_EQUAL(expect_one(&s, HAZARD_BLOCK, 4, 5).same_value, !changed);
    }
}

/* wmma and ldmatrix: who does which part is not known. */
static void test_collective(void)
{
    struct scene s;
    uint32_t addr[32];
    for (uint32_t l = 0; l < 32; l++)
        addr[l] = l * 16;
    const struct hazard_access store = {
        .mask = EVERY, .insn = 1, .bytes = 16, .act = HAZARD_WRITE, .collective = true};
    struct hazard_access load = store;
    load.insn = 2;
    load.act = HAZARD_READ;
    open_scene(&s, 64); /* the same warp, but perhaps another lane */
    hazard_shared(s.block, &store, addr);
    shared(&s, 0, EVERY, HAZARD_READ, 3, 0, 16, 16);
    struct hazard_report r = expect_one(&s, HAZARD_WARP, 1, 3);
    CU_ASSERT_EQUAL(r.a.lane, -1);
    open_scene(&s, 64);
    hazard_shared(s.block, &store, addr);
    hazard_warp_sync(s.block, 0, EVERY);
    hazard_shared(s.block, &load, addr);
    hazard_warp_sync(s.block, 0, EVERY);
    shared(&s, 0, EVERY, HAZARD_WRITE, 3, 0, 16, 16);
    expect_none(&s);
    open_scene(&s, 64); /* a tile loaded, added to and stored */
    hazard_shared(s.block, &load, addr);
    hazard_shared(s.block, &store, addr);
    expect_none(&s);
    open_scene(&s, 64); /* stored, and loaded by the same warp */
    hazard_shared(s.block, &store, addr);
    hazard_shared(s.block, &load, addr);
    expect_one(&s, HAZARD_WARP, 1, 2);
    open_scene(&s, 64); /* each lane wrote its row, and ldmatrix reads them all */
    shared(&s, 0, EVERY, HAZARD_WRITE, 3, 0, 16, 16);
    hazard_shared(s.block, &load, addr);
    r = expect_one(&s, HAZARD_WARP, 3, 2);
    CU_ASSERT_EQUAL(r.b.lane, -1);
    open_scene(&s, 64); /* and a lane writes before the others have read */
    hazard_shared(s.block, &load, addr);
    shared(&s, 0, EVERY, HAZARD_WRITE, 3, 0, 16, 16);
    CU_ASSERT_EQUAL(expect_one(&s, HAZARD_WARP, 2, 3).a.lane, -1);
}

/* ---- copies ---- */

static void test_copies(void)
{
    struct scene s;
    open_scene(&s, 64); /* no wait */
    shared(&s, 0, EVERY, HAZARD_COPY, 1, 0, 16, 16);
    hazard_copy_commit(s.block, 0, EVERY);
    shared(&s, 0, EVERY, HAZARD_READ, 2, 0, 16, 16);
    struct hazard_report r = expect_one(&s, HAZARD_WAIT, 1, 2);
    CU_ASSERT_EQUAL(r.a.act, HAZARD_COPY);
    CU_ASSERT_EQUAL(r.count, 32);
    open_scene(&s, 64); /* a barrier is no wait */
    shared(&s, 0, EVERY, HAZARD_COPY, 1, 0, 16, 16);
    hazard_copy_commit(s.block, 0, EVERY);
    barrier(&s, 0, 0, 2);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 16, 16);
    expect_one(&s, HAZARD_WAIT, 1, 2);
    open_scene(&s, 64); /* its own, waited for */
    shared(&s, 0, EVERY, HAZARD_COPY, 1, 0, 16, 16);
    hazard_copy_commit(s.block, 0, EVERY);
    hazard_copy_wait(s.block, 0, EVERY, 0);
    shared(&s, 0, EVERY, HAZARD_READ, 2, 0, 16, 16);
    expect_none(&s);
    open_scene(&s, 64); /* another's, waited for, but no barrier */
    shared(&s, 0, EVERY, HAZARD_COPY, 1, 0, 16, 16);
    hazard_copy_commit(s.block, 0, EVERY);
    hazard_copy_wait(s.block, 0, EVERY, 0);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 16, 16);
    expect_one(&s, HAZARD_BLOCK, 1, 2);
    open_scene(&s, 64); /* wait, then barrier */
    shared(&s, 0, EVERY, HAZARD_COPY, 1, 0, 16, 16);
    hazard_copy_commit(s.block, 0, EVERY);
    hazard_copy_wait(s.block, 0, EVERY, 0);
    barrier(&s, 0, 0, 2);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 16, 16);
    barrier(&s, 0, 0, 2);
    shared(&s, 0, EVERY, HAZARD_COPY, 1, 0, 16, 16);
    expect_none(&s);
    open_scene(&s, 64); /* barrier, then wait: the other has learnt nothing */
    shared(&s, 0, EVERY, HAZARD_COPY, 1, 0, 16, 16);
    hazard_copy_commit(s.block, 0, EVERY);
    barrier(&s, 0, 0, 2);
    hazard_copy_wait(s.block, 0, EVERY, 0);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 16, 16);
    expect_one(&s, HAZARD_BLOCK, 1, 2);
    open_scene(&s, 64); /* read by others before the copy was issued */
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 16, 16);
    shared(&s, 0, EVERY, HAZARD_COPY, 1, 0, 16, 16);
    expect_one(&s, HAZARD_BLOCK, 2, 1);
    open_scene(&s, 64); /* copied twice with no wait between */
    shared(&s, 0, 1, HAZARD_COPY, 1, 0, 16, 16);
    shared(&s, 0, 1, HAZARD_COPY, 2, 0, 16, 16);
    expect_one(&s, HAZARD_WAIT, 1, 2);
}

/* wait_group N: the last N groups may be under way, the ones before are there. */
static void test_groups(void)
{
    for (uint32_t pending = 0; pending < 5; pending++) {
        struct scene s;
        open_scene(&s, 32);
        for (uint32_t g = 0; g < 4; g++) {
            shared(&s, 0, EVERY, HAZARD_COPY, g, g * 512, 16, 16);
            hazard_copy_commit(s.block, 0, EVERY);
        }
        hazard_copy_wait(s.block, 0, EVERY, pending);
        for (uint32_t g = 0; g < 4; g++)
            shared(&s, 0, EVERY, HAZARD_READ, 10 + g, g * 512, 16, 16);
        take(&s);
        CU_ASSERT_EQUAL(s.n, pending < 4 ? pending : 4);
        for (size_t i = 0; i < s.n; i++) {
            CU_ASSERT_EQUAL(s.found[i].kind, HAZARD_WAIT);
            CU_ASSERT_EQUAL(s.found[i].a.insn, 4 - s.n + i);
            CU_ASSERT_EQUAL(s.found[i].b.insn, 10 + 4 - s.n + i);
        }
        close_scene(&s);
    }
}

/* ---- mbarriers ---- */

static void test_mbarrier(void)
{
    const uint32_t bar[32] = {0};
    uint32_t same[32];
    struct scene s;
    for (int l = 0; l < 32; l++)
        same[l] = 1024;
    open_scene(&s, 64);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_mbarrier_arrive(s.block, 0, EVERY, same, false);
    hazard_mbarrier_complete(s.block, 1024);
    hazard_mbarrier_wait(s.block, 1, EVERY, same);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_none(&s);
    open_scene(&s, 64); /* one lane arrived for all, with no __syncwarp before */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_mbarrier_arrive(s.block, 0, 1, same, false);
    hazard_mbarrier_complete(s.block, 1024);
    hazard_mbarrier_wait(s.block, 1, EVERY, same);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    struct hazard_report r = expect_one(&s, HAZARD_BLOCK, 1, 2);
    CU_ASSERT_EQUAL(r.a.lane, 1);
    open_scene(&s, 64); /* with it */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_warp_sync(s.block, 0, EVERY);
    hazard_mbarrier_arrive(s.block, 0, 1, same, false);
    hazard_mbarrier_complete(s.block, 1024);
    hazard_mbarrier_wait(s.block, 1, EVERY, same);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_none(&s);
    open_scene(&s,
               64); /* another object, the same object forgotten, a phase that is not complete */
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    hazard_mbarrier_arrive(s.block, 0, EVERY, same, false);
    hazard_mbarrier_wait(s.block, 1, EVERY, same);
    hazard_mbarrier_complete(s.block, 1024);
    hazard_mbarrier_init(s.block, 1024);
    hazard_mbarrier_wait(s.block, 1, EVERY, same);
    hazard_mbarrier_wait(s.block, 1, EVERY, bar);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 4, 4);
    expect_one(&s, HAZARD_BLOCK, 1, 2);
    open_scene(&s, 64); /* copies that arrive by themselves */
    shared(&s, 0, EVERY, HAZARD_COPY, 1, 0, 16, 16);
    hazard_mbarrier_arrive(s.block, 0, EVERY, same, true);
    hazard_mbarrier_complete(s.block, 1024);
    hazard_mbarrier_wait(s.block, 1, EVERY, same);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 0, 16, 16);
    expect_none(&s);
    open_scene(&s, 64); /* one that was issued after */
    shared(&s, 0, EVERY, HAZARD_COPY, 1, 0, 16, 16);
    hazard_mbarrier_arrive(s.block, 0, EVERY, same, true);
    shared(&s, 0, EVERY, HAZARD_COPY, 5, 512, 16, 16);
    hazard_mbarrier_complete(s.block, 1024);
    hazard_mbarrier_wait(s.block, 1, EVERY, same);
    shared(&s, 1, EVERY, HAZARD_READ, 2, 512, 16, 16);
    expect_one(&s, HAZARD_WAIT, 5, 2);
}

/* ---- atomics, fences ---- */

static void strong(struct scene *s, uint32_t warp, uint32_t mask, enum hazard_act act,
                   uint32_t insn, uint32_t at, bool acquire, bool release)
{
    uint32_t addr[32];
    for (int l = 0; l < 32; l++)
        addr[l] = at;
    hazard_shared(s->block,
                  &(struct hazard_access){.warp = warp,
                                          .mask = mask,
                                          .insn = insn,
                                          .bytes = 4,
                                          .act = act,
                                          .acquire = acquire,
                                          .release = release},
                  addr);
}

static void test_atomics(void)
{
    struct scene s;
    open_scene(&s, 64); /* among themselves */
    strong(&s, 0, EVERY, HAZARD_ATOMIC, 1, 0, false, false);
    strong(&s, 1, EVERY, HAZARD_ATOMIC, 2, 0, false, false);
    strong(&s, 1, EVERY, HAZARD_STRONG_READ, 3, 0, false, false);
    strong(&s, 0, 1, HAZARD_STRONG_WRITE, 4, 0, false, false);
    expect_none(&s);
    open_scene(&s, 64); /* against a plain read */
    strong(&s, 0, 1, HAZARD_ATOMIC, 1, 0, false, false);
    shared(&s, 1, 1, HAZARD_READ, 2, 0, 0, 4);
    CU_ASSERT_EQUAL(expect_one(&s, HAZARD_BLOCK, 1, 2).a.act, HAZARD_ATOMIC);
    open_scene(&s, 64); /* not the last one alone */
    strong(&s, 0, 1, HAZARD_ATOMIC, 1, 0, false, false);
    strong(&s, 1, 1, HAZARD_ATOMIC, 3, 0, false, false);
    shared(&s, 1, 1, HAZARD_READ, 2, 0, 0, 4);
    expect_one(&s, HAZARD_BLOCK, 1, 2);
    open_scene(&s, 64); /* a plain read, then an atomic */
    shared(&s, 1, 1, HAZARD_READ, 2, 0, 0, 4);
    strong(&s, 0, 1, HAZARD_ATOMIC, 1, 0, false, false);
    expect_one(&s, HAZARD_BLOCK, 2, 1);
    open_scene(&s, 64); /* a plain write of the beginning, no barrier */
    shared(&s, 0, 1, HAZARD_WRITE, 1, 0, 0, 4);
    strong(&s, 1, 1, HAZARD_ATOMIC, 2, 0, false, false);
    expect_one(&s, HAZARD_BLOCK, 1, 2);
    open_scene(&s, 64);
    shared(&s, 0, 1, HAZARD_WRITE, 1, 0, 0, 4);
    barrier(&s, 0, 0, 2);
    strong(&s, 1, EVERY, HAZARD_ATOMIC, 2, 0, false, false);
    barrier(&s, 0, 0, 2);
    shared(&s, 0, EVERY, HAZARD_READ, 3, 0, 0, 4);
    expect_none(&s);
}

static void message(struct scene *s, bool fence_before, bool fence_behind, enum hazard_act by,
                    bool release, bool acquire)
{
    open_scene(s, 64);
    shared(s, 0, 1, HAZARD_WRITE, 1, 0, 0, 4);
    if (fence_before)
        hazard_fence(s->block, 0, 1, HAZARD_SCOPE_CTA);
    strong(s, 0, 1, by, 2, 64, false, release);
    strong(s, 1, 1, HAZARD_STRONG_READ, 3, 64, acquire, false);
    if (fence_behind)
        hazard_fence(s->block, 1, 1, HAZARD_SCOPE_CTA);
    shared(s, 1, 1, HAZARD_READ, 4, 0, 0, 4);
}

static void test_release(void)
{
    for (int i = 0; i < 32; i++) {
        struct scene s;
        const bool before = i & 1, behind = i & 2, release = i & 4, acquire = i & 8;
        message(&s, before, behind, i & 16 ? HAZARD_ATOMIC : HAZARD_STRONG_WRITE, release, acquire);
        if ((before || release) && (behind || acquire))
            expect_none(&s);
        else
            expect_one(&s, HAZARD_BLOCK, 1, 4);
    }
    struct scene s;
    message(&s, true, true, HAZARD_STRONG_WRITE, false, false);
    shared(&s, 0, 1, HAZARD_WRITE, 5, 128, 0, 4); /* behind the fence */
    strong(&s, 0, 1, HAZARD_STRONG_WRITE, 2, 64, false, false);
    strong(&s, 1, 1, HAZARD_STRONG_READ, 3, 64, false, false);
    hazard_fence(s.block, 1, 1, HAZARD_SCOPE_CTA);
    shared(&s, 1, 1, HAZARD_READ, 6, 128, 0, 4);
    expect_one(&s, HAZARD_BLOCK, 5, 6);
}

/* ---- blocks ---- */

/* Several blocks in flight at once. */
struct grid {
    struct hazards *launch;
    struct hazard_block *block[4];
};

static void open_grid(struct grid *g, uint64_t max_bytes)
{
    g->launch = hazards_new(
        &(struct hazard_options){.threads = 64, .shared_bytes = 64, .max_bytes = max_bytes});
    for (int i = 0; i < 4; i++) {
        g->block[i] = hazard_block_new(g->launch);
        hazard_block_begin(g->block[i], (uint64_t)i, NULL);
    }
}

static void global(struct grid *g, int block, uint32_t warp, uint32_t mask, enum hazard_act act,
                   uint32_t insn, uint64_t base, uint32_t step, uint32_t bytes)
{
    uint64_t addr[32];
    for (uint32_t l = 0; l < 32; l++)
        addr[l] = ((uint64_t)1 << 40) + base + l * step;
    hazard_global(g->block[block],
                  &(struct hazard_access){.warp = warp,
                                          .mask = mask,
                                          .insn = insn,
                                          .bytes = bytes,
                                          .act = act,
                                          .scope = HAZARD_SCOPE_GPU},
                  addr);
}

static struct hazard_report *close_grid(struct grid *g, size_t *n, uint64_t *unchecked)
{
    struct hazard_report *found;
    for (int i = 0; i < 4; i++)
        hazard_block_end(g->block[i]);
    hazards_take(g->launch, &found, n, NULL, unchecked);
    for (int i = 0; i < 4; i++)
        hazard_block_free(g->block[i]);
    hazards_free(g->launch);
    return found;
}

static void expect_grid(struct grid *g, int kind, uint32_t a, uint32_t b)
{
    size_t n;
    struct hazard_report *found = close_grid(g, &n, NULL);
    for (size_t i = 0; i < n; i++)
        if (kind < 0 || n > 1)
            printf("# %s %u %u\n", hazard_kind_name(found[i].kind), found[i].a.insn,
                   found[i].b.insn);
    CU_ASSERT_EQUAL(n, kind < 0 ? 0 : 1);
    if (n == 1 && kind >= 0) {
        CU_ASSERT_EQUAL((int)found[0].kind, kind);
        CU_ASSERT_EQUAL(found[0].a.insn, a);
        CU_ASSERT_EQUAL(found[0].b.insn, b);
        CU_ASSERT_FALSE(found[0].shared);
    }
    free(found);
}

static void test_grid(void)
{
    struct grid g;
    open_grid(&g, 0); /* each its own, all read what the host wrote */
    for (int b = 0; b < 4; b++) {
        global(&g, b, 0, EVERY, HAZARD_READ, 1, 1 << 20, 16, 16);
        global(&g, b, 0, EVERY, HAZARD_WRITE, 2, (uint64_t)b * 64, 2, 2);
    }
    expect_grid(&g, -1, 0, 0);
    open_grid(&g, 0); /* the same element */
    global(&g, 1, 0, EVERY, HAZARD_WRITE, 2, 0, 4, 4);
    global(&g, 2, 0, EVERY, HAZARD_WRITE, 3, 124, 4, 4);
    expect_grid(&g, HAZARD_GRID, 2, 3);
    open_grid(&g, 0); /* who did it is told by lane */
    global(&g, 1, 0, 1u << 9, HAZARD_WRITE, 2, 0, 4, 4);
    global(&g, 2, 0, 1u << 9, HAZARD_WRITE, 3, 0, 4, 4);
    size_t n;
    struct hazard_report *found = close_grid(&g, &n, NULL);
    CU_ASSERT(n == 1 && found[0].a.lane == 9 && found[0].b.lane == 9);
    free(found);
    open_grid(&g, 0); /* written, then read */
    global(&g, 1, 0, EVERY, HAZARD_WRITE, 2, 0, 4, 4);
    global(&g, 2, 0, EVERY, HAZARD_READ, 3, 0, 4, 4);
    expect_grid(&g, HAZARD_GRID, 2, 3);
    for (int writer = 0; writer < 4; writer++) { /* read by many, written by one of them */
        open_grid(&g, 0);
        for (int b = 0; b < 4; b++)
            global(&g, b, 0, EVERY, HAZARD_READ, 2, 0, 4, 4);
        global(&g, writer, 0, EVERY, HAZARD_WRITE, 3, 0, 4, 4);
        expect_grid(&g, HAZARD_GRID, 2, 3);
    }
    open_grid(&g, 0); /* atomics do not conflict */
    for (int b = 0; b < 4; b++)
        global(&g, b, 0, EVERY, HAZARD_ATOMIC, 2, 0, 4, 4);
    expect_grid(&g, -1, 0, 0);
    open_grid(&g, 0); /* but with a plain read */
    for (int b = 0; b < 4; b++)
        global(&g, b, 0, EVERY, HAZARD_ATOMIC, 2, 0, 4, 4);
    global(&g, 3, 0, EVERY, HAZARD_READ, 3, 0, 4, 4);
    expect_grid(&g, HAZARD_GRID, 2, 3);
}

/* Threads of one block over global memory. */
static void test_global_in_block(void)
{
    struct grid g;
    open_grid(&g, 0);
    global(&g, 1, 0, EVERY, HAZARD_WRITE, 2, 0, 4, 4);
    global(&g, 1, 1, EVERY, HAZARD_READ, 3, 0, 4, 4);
    expect_grid(&g, HAZARD_BLOCK, 2, 3);
    open_grid(&g, 0);
    global(&g, 1, 0, EVERY, HAZARD_WRITE, 2, 0, 4, 4);
    global(&g, 1, 0, EVERY, HAZARD_READ, 3, 4, 4, 4);
    expect_grid(&g, HAZARD_WARP, 2, 3);
    open_grid(&g, 0);
    global(&g, 1, 0, EVERY, HAZARD_WRITE, 2, 0, 4, 4);
    hazard_barrier_arrive(g.block[1], 0, 0, EVERY, true);
    hazard_barrier_arrive(g.block[1], 0, 1, EVERY, true);
    hazard_barrier_open(g.block[1], 0);
    global(&g, 1, 1, EVERY, HAZARD_READ, 3, 0, 4, 4);
    global(&g, 1, 1, EVERY, HAZARD_WRITE, 4, 0, 4, 4);
    expect_grid(&g, -1, 0, 0);
    open_grid(&g, 0);
    global(&g, 1, 0, EVERY, HAZARD_WRITE, 2, 0, 0, 4);
    expect_grid(&g, HAZARD_LANES, 2, 2);
}

static void whole_barrier(struct hazard_block *b)
{
    hazard_barrier_arrive(b, 0, 0, EVERY, true);
    hazard_barrier_arrive(b, 0, 1, EVERY, true);
    hazard_barrier_open(b, 0);
}

/* The block that counts last reads what the others wrote: parts, barrier, fence, count. `without`: what is left out. */
static void count_blocks(struct grid *g, char without, enum hazard_scope scope)
{
    open_grid(g, 0);
    for (int b = 0; b < 4; b++) {
        global(g, b, 1, EVERY, HAZARD_WRITE, 2, (uint64_t)b * 128, 4, 4);
        if (without != 'b')
            whole_barrier(g->block[b]);
        if (without != 'f')
            hazard_fence(g->block[b], 0, 1, scope);
        global(g, b, 0, 1, HAZARD_ATOMIC, 3, 4096, 0, 4);
        if (without != 'a')
            hazard_fence(g->block[b], 0, 1, scope);
    }
    if (without != 'c')
        whole_barrier(g->block[3]);
    for (int b = 0; b < 3; b++)
        global(g, 3, 1, EVERY, HAZARD_READ, 4, (uint64_t)b * 128, 4, 4);
}

static void test_last_block(void)
{
    struct grid g;
    count_blocks(&g, 0, HAZARD_SCOPE_GPU);
    expect_grid(&g, -1, 0, 0);
    for (const char *without = "bfac"; *without; without++) {
        count_blocks(&g, *without, HAZARD_SCOPE_GPU);
        expect_grid(&g, HAZARD_GRID, 2, 4);
    }
    count_blocks(&g, 0, HAZARD_SCOPE_CTA); /* a fence for the block alone */
    expect_grid(&g, HAZARD_GRID, 2, 4);
}

/* Blocks on several threads: one tells of its atomic, then the other of its own and makes it, then the first makes it.
 * What the other gave is there. */
static void test_overtaken(void)
{
    struct grid g;
    open_grid(&g, 0);
    global(&g, 0, 0, 1, HAZARD_WRITE, 2, 0, 0, 4);
    hazard_fence(g.block[0], 0, 1, HAZARD_SCOPE_GPU);
    global(&g, 1, 0, 1, HAZARD_ATOMIC, 3, 64, 0, 4);
    global(&g, 0, 0, 1, HAZARD_ATOMIC, 3, 64, 0, 4);
    hazard_fence(g.block[1], 0, 1, HAZARD_SCOPE_GPU);
    global(&g, 1, 0, 1, HAZARD_READ, 4, 0, 0, 4);
    expect_grid(&g, -1, 0, 0);
}

/* ---- bounds ---- */

static void test_bounds(void)
{
    struct scene s = {0};
    s.launch = hazards_new(
        &(struct hazard_options){.threads = 64, .shared_bytes = SHARED, .max_reports = 5});
    s.block = hazard_block_new(s.launch);
    hazard_block_begin(s.block, 0, NULL);
    for (uint32_t i = 0; i < 9; i++) {
        shared(&s, 0, 1, HAZARD_WRITE, 100 + i, i * 16, 0, 4);
        shared(&s, 1, 1, HAZARD_WRITE, 200 + i, i * 16, 0, 4);
    }
    for (uint32_t lane = 0; lane < 2;
         lane++) /* another kind, which comes last, has room of its own */
        shared(&s, 0, 1u << lane, HAZARD_WRITE, 300 + lane, 256, 0, 4);
    take(&s);
    CU_ASSERT_EQUAL(s.n, 6);
    CU_ASSERT_EQUAL(s.lost, 4);
    close_scene(&s);

    struct grid g;
    size_t n;
    uint64_t unchecked;
    open_grid(&g, 64 << 10);
    for (uint32_t i = 0; i < 100; i++) {
        global(&g, 0, 0, 1, HAZARD_WRITE, 1, (uint64_t)i << 12, 0, 16);
        global(&g, 1, 0, 1, HAZARD_WRITE, 2, (uint64_t)i << 12, 0, 16);
    }
    struct hazard_report *found = close_grid(&g, &n, &unchecked);
    CU_ASSERT_EQUAL(n, 1);
    CU_ASSERT_TRUE(unchecked > 0 && unchecked < 3200);
    CU_ASSERT_EQUAL(found[0].count, 100 - unchecked / 32);
    free(found);

    open_scene(&s, 64); /* instructions beyond the numbers that are told apart */
    shared(&s, 0, 1, HAZARD_WRITE, UINT32_MAX, 0, 0, 4);
    shared(&s, 1, 1, HAZARD_READ, 1 << 30, 0, 0, 4);
    expect_one(&s, HAZARD_BLOCK, HAZARD_INSN_MAX, HAZARD_INSN_MAX);
}

/* Blocks after each other have nothing to do with each other; of equal hazards the lowest block's is told. */
static void test_blocks_in_turn(void)
{
    struct scene s;
    open_scene(&s, 64);
    shared(&s, 0, EVERY, HAZARD_WRITE, 1, 0, 4, 4);
    shared(&s, 0, EVERY, HAZARD_COPY, 2, 512, 16, 16);
    hazard_block_end(s.block);
    hazard_block_begin(s.block, 5, s.bytes);
    shared(&s, 1, EVERY, HAZARD_READ, 3, 0, 4, 4);
    shared(&s, 1, EVERY, HAZARD_READ, 3, 512, 16, 16);
    for (uint64_t block = 9; block >= 3; block -= 3) {
        hazard_block_end(s.block);
        hazard_block_begin(s.block, block, s.bytes);
        shared(&s, 0, 1, HAZARD_WRITE, 1, 64 * (uint32_t)block, 0, 4);
        shared(&s, 1, 1, HAZARD_READ, 3, 64 * (uint32_t)block, 0, 4);
    }
    const struct hazard_report r = expect_one(&s, HAZARD_BLOCK, 1, 3);
    CU_ASSERT_EQUAL(r.count, 3);
    CU_ASSERT_EQUAL(r.b.block, 3);
    CU_ASSERT_EQUAL(r.addr, 192);
}

static const struct tap_test tests[] = {
    {"warps without a barrier between them", test_block},
    {"a reader among many", test_many_readers},
    {"bytes of one word", test_bytes},
    {"barriers with names and counts", test_named_barriers},
    {"threads that ended", test_exit},
    {"lanes without __syncwarp", test_warp},
    {"lanes of one instruction", test_lanes},
    {"lanes one after the other", test_one_lane_after_the_other},
    {"counted by access and lane", test_counted_by_access},
    {"the same value once more", test_same_value},
    {"wmma and ldmatrix", test_collective},
    {"asynchronous copies", test_copies},
    {"groups of copies", test_groups},
    {"mbarriers", test_mbarrier},
    {"atomics and plain accesses", test_atomics},
    {"release and acquire, with fences and without", test_release},
    {"blocks over global memory", test_grid},
    {"a block over global memory", test_global_in_block},
    {"the block that comes last", test_last_block},
    {"an atomic that is overtaken", test_overtaken},
    {"what is kept is bounded", test_bounds},
    {"one block after the other", test_blocks_in_turn},
};

int main(void)
{
    return tap_run("hazard", tests, sizeof tests / sizeof *tests);
}
