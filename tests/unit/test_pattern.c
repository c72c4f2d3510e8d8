/* Costs of memory accesses: known patterns by hand, all kinds against a slow model, memos against none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/pattern.h"

#define ALL UINT32_MAX

static uint64_t state = 88172645463325252u;

static uint32_t any(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % below;
}

/* ---- The slow model: marks words and bytes in tables, counts the marks. ---- */

enum { WINDOW_WORDS = 1 << 14 };

/* Wavefronts for the lanes from `first`, `n` of them: each wavefront takes one word of every bank. */
static unsigned slow_step(const uint32_t *addr, uint32_t mask, unsigned bytes,
                          enum pattern_kind kind, int first, int n)
{
    static uint8_t wanted[WINDOW_WORDS];
    memset(wanted, 0, sizeof wanted);
    for (int i = first; i < first + n; i++)
        if (mask >> i & 1)
            for (unsigned b = 0; b < bytes; b += b % 4 ? 1 : (bytes < 4 ? bytes : 4))
                wanted[(addr[i] + b) / 4]++;
    unsigned rounds = 0;
    for (;; rounds++) {
        uint32_t busy = 0;
        for (uint32_t w = 0; w < WINDOW_WORDS; w++) {
            if (!wanted[w] || (busy >> w % 32 & 1))
                continue;
            busy |= UINT32_C(1) << w % 32;
            wanted[w] = kind == PATTERN_ATOMIC ? (uint8_t)(wanted[w] - 1) : 0;
        }
        if (!busy)
            return rounds;
    }
}

static int slow_pairs(const uint32_t *addr, uint32_t mask, int first, int n, int step)
{
    for (int i = first; i < first + n; i++)
        if ((mask >> i & 1) && (mask >> (i ^ step) & 1) && addr[i] != addr[i ^ step])
            return 0;
    return 1;
}

static unsigned slow_half(const uint32_t *addr, uint32_t mask, unsigned bytes,
                          enum pattern_kind kind, int first, int n)
{
    if (kind == PATTERN_LOAD &&
        (slow_pairs(addr, mask, first, n, 1) || slow_pairs(addr, mask, first, n, 2)))
        return slow_step(addr, mask, bytes, kind, first, n);
    return slow_step(addr, mask, bytes, kind, first, n / 2) +
           slow_step(addr, mask, bytes, kind, first + n / 2, n / 2);
}

static unsigned any_lane(uint32_t mask, int first, int n)
{
    unsigned any = 0;
    for (int i = first; i < first + n; i++)
        any |= mask >> i & 1;
    return any;
}

/* Steps of lanes `first` to first + n: one, or one for each half; those without a lane are none. */
static unsigned slow_steps(const uint32_t *addr, uint32_t mask, enum pattern_kind kind, int first,
                           int n)
{
    if (kind == PATTERN_LOAD &&
        (slow_pairs(addr, mask, first, n, 1) || slow_pairs(addr, mask, first, n, 2)))
        return any_lane(mask, first, n);
    return any_lane(mask, first, n / 2) + any_lane(mask, first + n / 2, n / 2);
}

static unsigned slow_ideal_steps(const uint32_t *addr, uint32_t mask, unsigned bytes,
                                 enum pattern_kind kind)
{
    unsigned steps = 0;
    if (bytes <= 4)
        return any_lane(mask, 0, 32);
    if (bytes == 8)
        return slow_steps(addr, mask, kind, 0, 32);
    for (int i = 0; i < 32; i += 16)
        steps += slow_steps(addr, mask, kind, i, 16);
    return steps;
}

/* Does a step of lanes that share what they load take more than one wavefront? */
static bool slow_turns(const uint32_t *addr, uint32_t mask, unsigned bytes)
{
    const int n = bytes == 8 ? 32 : 16;
    for (int i = 0; bytes > 4 && i < 32; i += n)
        if ((slow_pairs(addr, mask, i, n, 1) || slow_pairs(addr, mask, i, n, 2)) &&
            slow_step(addr, mask, bytes, PATTERN_LOAD, i, n) > 1)
            return true;
    return false;
}

/* Of loads with such a step none are joined; of stores no more than their bytes fill. */
static unsigned slow_ideal(const uint32_t *addr, uint32_t mask, unsigned bytes,
                           enum pattern_kind kind)
{
    const bool apart = kind == PATTERN_LOAD && slow_turns(addr, mask, bytes);
    const unsigned steps = slow_ideal_steps(addr, mask, bytes, apart ? PATTERN_STORE : kind);
    unsigned all = 0;
    for (int i = 0; i < 32; i++)
        all += mask >> i & 1 ? bytes : 0;
    const unsigned least = all / 128 + (all % 128 > 0);
    return kind == PATTERN_STORE && least < steps ? least : steps;
}

static struct pattern_shared slow_shared(const uint32_t *addr, uint32_t mask, unsigned bytes,
                                         enum pattern_kind kind)
{
    struct pattern_shared s = {0};
    if (kind == PATTERN_ROWS)
        for (int i = 0; i < 32; i += 8)
            s.wavefronts += (uint16_t)slow_step(addr, mask, 16, kind, i, 8);
    else if (bytes <= 4)
        s.wavefronts = (uint16_t)slow_step(addr, mask, bytes, kind, 0, 32);
    else if (bytes == 8)
        s.wavefronts = (uint16_t)slow_half(addr, mask, bytes, kind, 0, 32);
    else
        s.wavefronts = (uint16_t)(slow_half(addr, mask, bytes, kind, 0, 16) +
                                  slow_half(addr, mask, bytes, kind, 16, 16));
    for (int i = 0; i < 32; i++) {
        unsigned same = 0;
        for (int j = 0; j < 32; j++)
            same += (mask >> i & mask >> j & 1) && addr[i] == addr[j];
        s.same = same > s.same ? (uint16_t)same : s.same;
    }
    s.ideal = (uint16_t)slow_ideal(addr, mask, bytes, kind);
    s.ideal = s.ideal < s.wavefronts ? s.ideal : s.wavefronts;
    return s;
}

static int equal(struct pattern_shared a, struct pattern_shared b)
{
    return a.wavefronts == b.wavefronts && a.ideal == b.ideal && a.same == b.same;
}

/* ---- By hand. ---- */

static unsigned gcd(unsigned a, unsigned b)
{
    return b ? gcd(b, a % b) : a;
}

static void stride(uint32_t addr[32], unsigned bytes)
{
    for (uint32_t i = 0; i < 32; i++)
        addr[i] = 1024 + i * bytes;
}

static unsigned wavefronts(const uint32_t addr[32], uint32_t mask, unsigned bytes,
                           enum pattern_kind kind)
{
    return pattern_shared_cost(addr, mask, bytes, kind).wavefronts;
}

static void test_strides(void)
{
    uint32_t a[32];
    for (unsigned s = 1; s <= 33; s++) {
        stride(a, 4 * s);
        CU_ASSERT_EQUAL(wavefronts(a, ALL, 4, PATTERN_LOAD), gcd(s, 32));
        CU_ASSERT_EQUAL(wavefronts(a, ALL, 4, PATTERN_STORE), gcd(s, 32));
        CU_ASSERT_EQUAL(wavefronts(a, ALL, 4, PATTERN_ATOMIC), gcd(s, 32));
        CU_ASSERT_EQUAL(pattern_shared_cost(a, ALL, 4, PATTERN_LOAD).ideal, 1);
    }
    stride(a, 0); /* everybody the same word */
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 4, PATTERN_LOAD), 1);
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 4, PATTERN_STORE), 1);
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 4, PATTERN_ATOMIC), 32);
    CU_ASSERT_EQUAL(pattern_shared_cost(a, ALL, 4, PATTERN_ATOMIC).same, 32);
    stride(a, 2); /* two lanes a word, four lanes a word */
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 2, PATTERN_STORE), 1);
    stride(a, 1);
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 1, PATTERN_STORE), 1);
}

static void test_wide(void)
{
    uint32_t a[32];
    stride(a, 8);
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 8, PATTERN_LOAD), 2);
    stride(a, 16);
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 16, PATTERN_LOAD), 4);
    CU_ASSERT_EQUAL(wavefronts(a, 0xff, 16, PATTERN_LOAD), 1); /* the first quarter alone */
    CU_ASSERT_EQUAL(wavefronts(a, 0x8001, 16, PATTERN_LOAD),
                    1); /* a half-warp without neighbours */
    CU_ASSERT_EQUAL(wavefronts(a, 0x8003, 16, PATTERN_LOAD), 1); /* i^2 is not active */
    CU_ASSERT_EQUAL(wavefronts(a, 0x8007, 16, PATTERN_LOAD), 2);
    CU_ASSERT_EQUAL(wavefronts(a, 0x8001, 16, PATTERN_STORE), 2);
    stride(a, 0);
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 8, PATTERN_LOAD), 1);
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 16, PATTERN_LOAD), 2);
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 16, PATTERN_STORE), 4);
    /* As Nsight Compute has it on an H200: 2 of 2, no conflict, though 4 words are wanted. */
    CU_ASSERT_EQUAL(pattern_shared_cost(a, ALL, 16, PATTERN_LOAD).ideal, 2);
    CU_ASSERT_EQUAL(pattern_shared_cost(a, ALL, 8, PATTERN_LOAD).ideal, 1);
    CU_ASSERT_EQUAL(pattern_shared_cost(a, ALL, 16, PATTERN_STORE).ideal, 4);
    for (uint32_t i = 0; i < 32; i++)
        a[i] = i % 4 * 16; /* NVIDIA's forum, topic 77228: four requests ... */
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 16, PATTERN_LOAD), 4);
    for (uint32_t i = 0; i < 32; i++)
        a[i] = i / 2 % 4 * 16; /* ... and two, where lanes 2n and 2n+1 want the same */
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 16, PATTERN_LOAD), 2);
}

/* Rows of 16 bytes: a pitch of 128 bytes puts 8 rows on the same banks; 16 more, or a swizzle, do not. */
static void test_rows(void)
{
    uint32_t a[32];
    for (uint32_t i = 0; i < 32; i++)
        a[i] = i % 16 * 128 + i / 16 * 16;
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 16, PATTERN_ROWS), 32);
    CU_ASSERT_EQUAL(wavefronts(a, 0xff, 16, PATTERN_ROWS), 8);
    for (uint32_t i = 0; i < 32; i++)
        a[i] = i % 16 * 144 + i / 16 * 16;
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 16, PATTERN_ROWS), 4);
    for (uint32_t i = 0; i < 32; i++)
        a[i] = i % 16 * 128 + (i / 16 ^ i % 8) * 16;
    CU_ASSERT_EQUAL(wavefronts(a, ALL, 16, PATTERN_ROWS), 4);
    CU_ASSERT_EQUAL(pattern_shared_cost(a, ALL, 16, PATTERN_ROWS).ideal, 4);
    CU_ASSERT_EQUAL(wavefronts(a, 0, 16, PATTERN_ROWS), 0);
}

/* ---- Many of them. ---- */

/* Addresses as programs make them, and as none does. */
static uint32_t make(uint32_t addr[32], unsigned bytes)
{
    const uint32_t how = any(6), step = any(34), pitch = 1 + any(40), pool = 1 + any(32),
                   base = any(64), turn = any(5);
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t row = i >> turn, col = i & ((1u << turn) - 1);
        const uint32_t unit[] = {i * step,         row * pitch + col,
                                 any(pool) * step, row * 8 + (col ^ row % 8),
                                 any(1000),        (i & ~(1u << turn)) * step};
        addr[i] = (base + unit[how] % 2000) * bytes;
    }
    return any(2) ? ALL : any(2) ? any(1u << 16) | any(1u << 16) << 16 : 1u << any(32);
}

static void test_shared_random(void)
{
    static const unsigned widths[] = {1, 2, 4, 8, 16};
    uint32_t a[32];
    int bad = 0, merged = 0, conflicts = 0;
    for (int i = 0; i < 4000; i++) {
        const unsigned bytes = widths[any(5)];
        const uint32_t mask = make(a, bytes);
        enum pattern_kind kind = (enum pattern_kind)any(4);
        if (kind == PATTERN_ROWS && bytes != 16)
            kind = PATTERN_STORE;
        const struct pattern_shared s = slow_shared(a, mask, bytes, kind),
                                    p = pattern_shared_cost(a, mask, bytes, kind);
        bad += !equal(s, p);
        merged += bytes > 4 && wavefronts(a, mask, bytes, PATTERN_LOAD) <
                                   wavefronts(a, mask, bytes, PATTERN_STORE);
        conflicts += p.wavefronts > p.ideal;
        CU_ASSERT(p.wavefronts >= p.ideal);
    }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(merged > 50); /* the generator does reach what it is for */
    CU_ASSERT(conflicts > 500);
}

static int same_global(const struct pattern_global *a, const struct pattern_global *b)
{
    return a->sectors == b->sectors && a->ideal == b->ideal && a->same == b->same &&
           !memcmp(a->sector, b->sector, a->sectors * sizeof *a->sector) &&
           !memcmp(a->bytes, b->bytes, a->sectors * sizeof *a->bytes);
}

/* Every byte of every lane is marked once; then the sectors are asked what they have. */
static int global_is_right(const uint64_t a[32], uint32_t mask, unsigned bytes,
                           const struct pattern_global *p)
{
    static uint8_t mark[1 << 17];
    memset(mark, 0, sizeof mark);
    const uint64_t low = UINT64_C(1) << 40;
    unsigned total = 0, sectors = 0, found = 0;
    for (int i = 0; i < 32; i++)
        for (unsigned b = 0; (mask >> i & 1) && b < bytes; b++)
            mark[a[i] - low + b] = 1;
    for (size_t s = 0; s < sizeof mark; s += 32) {
        unsigned n = 0;
        for (size_t b = s; b < s + 32; b++)
            n += mark[b];
        total += n;
        sectors += n > 0;
    }
    const uint64_t first = mask ? a[__builtin_ctz(mask)] / 32 : 0;
    for (int k = 0; k < p->sectors; k++)
        for (unsigned b = 0; b < 32; b++)
            if (p->bytes[k] >> b & 1)
                found += mark[(first + (uint64_t)p->sector[k]) * 32 - low + b];
    return p->sectors == sectors && p->ideal == (total + 31) / 32 && found == total &&
           (!mask || p->sector[0] == 0);
}

static void test_global_random(void)
{
    static const unsigned widths[] = {1, 2, 4, 8, 16};
    int bad = 0;
    for (int i = 0; i < 4000; i++) {
        uint32_t a[32];
        uint64_t wide[32];
        const unsigned bytes = widths[any(5)];
        const uint32_t mask = make(a, bytes);
        for (int l = 0; l < 32; l++)
            wide[l] = (UINT64_C(1) << 40) + a[l];
        struct pattern_global p;
        pattern_global_cost(wide, mask, bytes, &p);
        bad += !global_is_right(wide, mask, bytes, &p);
    }
    CU_ASSERT_EQUAL(bad, 0);
}

static void test_global_known(void)
{
    uint64_t a[32];
    struct pattern_global p;
    for (uint64_t i = 0; i < 32; i++)
        a[i] = 4096 + 4 * i;
    pattern_global_cost(a, ALL, 4, &p);
    CU_ASSERT_EQUAL(p.sectors, 4);
    CU_ASSERT_EQUAL(p.ideal, 4);
    CU_ASSERT_EQUAL(p.bytes[3], ALL);
    for (uint64_t i = 0; i < 32; i++)
        a[i] = 4096 + 16 + 4 * i; /* half a sector further: one more */
    pattern_global_cost(a, ALL, 4, &p);
    CU_ASSERT_EQUAL(p.sectors, 5);
    CU_ASSERT_EQUAL(p.ideal, 4);
    CU_ASSERT_EQUAL(p.bytes[0], 0xffff0000u);
    for (uint64_t i = 0; i < 32; i++)
        a[i] = (UINT64_C(1) << 46) - 256 * i; /* a row each, downwards */
    pattern_global_cost(a, ALL, 2, &p);
    CU_ASSERT_EQUAL(p.sectors, 32);
    CU_ASSERT_EQUAL(p.ideal, 2);
    CU_ASSERT_EQUAL(p.sector[1], -8);
    CU_ASSERT_EQUAL(p.same, 1);
    pattern_global_cost(a, 0, 4, &p);
    CU_ASSERT_EQUAL(p.sectors, 0);
}

/* ---- Memos. ---- */

static struct pattern_extent own(unsigned bytes)
{
    return (struct pattern_extent){.bytes = bytes};
}

/* A memo says what a fresh count says: for patterns that return, that move, and that nearly return. */
static void test_shared_memo(void)
{
    static const unsigned widths[] = {1, 2, 4, 8, 16};
    int bad = 0, learnt = 0;
    for (int i = 0; i < 300; i++) {
        struct pattern_shared_memo memo = {0};
        const unsigned bytes = widths[any(5)];
        const enum pattern_kind kind = any(2) ? PATTERN_LOAD : PATTERN_ATOMIC;
        uint32_t kept[3][32], mask[3];
        for (int k = 0; k < 3; k++)
            do
                mask[k] = make(kept[k], bytes);
            while (!mask[k]);
        for (int k = 0; k < 60; k++) {
            uint32_t a[32];
            const int which = (int)any(3);
            memcpy(a, kept[which], sizeof a);
            const uint32_t shift = any(20) * bytes, m = mask[which];
            for (int l = 0; l < 32; l++)
                a[l] =
                    m >> l & 1 ? a[l] + shift : any(ALL); /* who is not active may have anything */
            if (!any(8))
                a[__builtin_ctz(m)] += bytes;
            if (!any(8))
                a[31 - __builtin_clz(m)] += bytes;
            bad += !equal(*pattern_shared(&memo, a, m, bytes, kind, own(bytes)),
                          pattern_shared_cost(a, m, bytes, kind));
        }
        learnt += memo.used > 1;
    }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(learnt > 200);
}

static void test_global_memo(void)
{
    static const unsigned widths[] = {1, 2, 4, 8, 16};
    int bad = 0;
    for (int i = 0; i < 300; i++) {
        struct pattern_global_memo memo = {0};
        const unsigned bytes = widths[any(5)];
        uint32_t kept[32], mask;
        do
            mask = make(kept, bytes);
        while (!mask);
        for (int k = 0; k < 60; k++) {
            uint64_t a[32];
            const uint64_t shift = (uint64_t)any(40) * bytes + ((uint64_t)any(3) << 35);
            for (int l = 0; l < 32; l++)
                a[l] = mask >> l & 1 ? kept[l] + shift : any(ALL);
            if (!any(8))
                a[__builtin_ctz(mask)] += UINT64_C(1) << 33; /* a difference above 32 bits */
            struct pattern_global p;
            pattern_global_cost(a, mask, bytes, &p);
            bad += !same_global(pattern_global(&memo, a, mask, bytes, own(bytes)), &p);
        }
    }
    CU_ASSERT_EQUAL(bad, 0);
}

/* A pattern that is there is found, not learnt again: that is what a memo is for. */
static void test_memo_finds(void)
{
    struct pattern_shared_memo memo = {0};
    struct pattern_global_memo global = {0};
    for (uint32_t k = 0; k < 100; k++) {
        uint32_t a[32];
        uint64_t wide[32];
        for (uint32_t i = 0; i < 32; i++) {
            a[i] = k * 132 + i * (4 + 4 * (k % PATTERN_WAYS));
        }
        pattern_shared(&memo, a, ALL, 4, PATTERN_LOAD, own(4));
        for (uint32_t i = 0; i < 32; i++)
            wide[i] = k * 4096 + i * 4 * (1 + k % PATTERN_WAYS);
        pattern_global(&global, wide, ALL, 4, own(4));
        if (k >= PATTERN_WAYS) {
            CU_ASSERT_EQUAL(memo.next, 0);
            CU_ASSERT_EQUAL(global.next, 0);
        }
    }
    CU_ASSERT_EQUAL(memo.used, PATTERN_WAYS);
}

/* What the machine moves for an instruction may be more than it asks for, or nothing. */
static void test_extent(void)
{
    struct pattern_shared_memo all = {0}, none = {0};
    struct pattern_global_memo sectors = {0}, no_sectors = {0};
    uint32_t a[32];
    uint64_t wide[32];
    for (uint32_t i = 0; i < 32; i++) {
        a[i] = 8 * i + 6; /* the last of four u16 */
        wide[i] = 4096 + 32 * i + 30;
    }
    const struct pattern_extent whole = {.from = -6, .bytes = 8}, nothing = {.bytes = 0};
    CU_ASSERT_EQUAL(pattern_shared(&all, a, ALL, 2, PATTERN_LOAD, whole)->wavefronts, 2);
    CU_ASSERT_EQUAL(pattern_shared(&none, a, ALL, 2, PATTERN_LOAD, nothing)->wavefronts, 0);
    CU_ASSERT_EQUAL(none.way[0].cost.ideal, 0);
    CU_ASSERT_EQUAL(none.way[0].runs, 32); /* its bytes are its own */
    const struct pattern_extent before = {.from = -62,
                                          .bytes = 16}; /* another sector: two before */
    const struct pattern_global *p = pattern_global(&sectors, wide, ALL, 2, before);
    CU_ASSERT_EQUAL(p->sectors, 32);
    CU_ASSERT_EQUAL(p->sector[0], -1);
    CU_ASSERT_EQUAL(p->bytes[0], 0xffff);
    CU_ASSERT_EQUAL(pattern_global(&no_sectors, wide, ALL, 2, nothing)->sectors, 0);
}

/* A warp copies two rows of 256 bytes into rows that are `pitch` bytes apart, the pieces of a row exchanged by `swizzle`. */
static struct pattern_copy copy_of(uint32_t row, uint32_t pitch, uint32_t swizzle)
{
    uint32_t to[32];
    uint64_t from[32];
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t r = row + i / 16;
        to[i] = r * pitch + (i % 16 ^ (swizzle ? r % 8 : 0)) * 16;
        from[i] = 4096 + r * 2048 + i % 16 * 16;
    }
    return pattern_copy(to, from, ALL);
}

static void test_copies(void)
{
    const struct pattern_copy even = copy_of(3, 256, 0), swizzled = copy_of(3, 256, 1);
    CU_ASSERT_EQUAL(even.wavefronts, 4);
    CU_ASSERT_EQUAL(even.sectors, 16);
    CU_ASSERT_EQUAL(even.again, 0);
    CU_ASSERT_EQUAL(swizzled.wavefronts, 4); /* halves are exchanged within their 32 bytes */
    CU_ASSERT_EQUAL(swizzled.sectors, 16);
    CU_ASSERT_EQUAL(swizzled.again, 0);
    /* Rows of 272 bytes, as bigd_cluster has them: 42 for four warps and a sector of every odd row twice, as an H200 counts. */
    static const uint32_t wavefronts[4] = {8, 12, 12, 10};
    for (uint32_t w = 0; w < 4; w++) {
        const struct pattern_copy off = copy_of(2 * w, 272, 0);
        CU_ASSERT_EQUAL(off.wavefronts, wavefronts[w]);
        CU_ASSERT_EQUAL(off.again, 8);
        CU_ASSERT_EQUAL(off.sectors, 18);
    }
    uint32_t to[32] = {48, 64};
    uint64_t from[32] = {96, 112};
    const struct pattern_copy two = pattern_copy(to, from, 3), one = pattern_copy(to, from, 1),
                              none = pattern_copy(to, from, 0);
    CU_ASSERT_EQUAL(two.wavefronts, 2);
    CU_ASSERT_EQUAL(two.again, 1);
    CU_ASSERT_EQUAL(one.wavefronts, 1); /* nobody has the other half */
    CU_ASSERT_EQUAL(one.again, 0);
    CU_ASSERT_EQUAL(none.wavefronts + none.again + none.sectors, 0);
}

/* Rows of any pitch and start, few of them, so that most come again, some lanes without a copy. */
static void test_copy_memo(void)
{
    struct pattern_copy_memo memo = {.used = 0};
    uint32_t seed = 7, wrong = 0;
    for (int n = 0; n < 4000; n++) {
        uint32_t to[32], lanes = ALL;
        uint64_t from[32];
        seed = seed * 1664525 + 1013904223;
        const uint32_t x = seed >> 8, pitch = 240 + x % 3 * 16, swizzle = x >> 2 & 1;
        if (x >> 3 & 1)
            lanes = x >> 4 & 1 ? 0xfffffff0 : 0x00ff00ff;
        for (uint32_t i = 0; i < 32; i++) {
            to[i] = (x >> 5 & 15) * 16 + i / 16 * pitch + (i % 16 ^ (swizzle * (x >> 5 & 7))) * 16;
            from[i] = UINT64_C(0x700000000) + (x >> 9 & 15) * 16 + i / 16 * 1040 + i % 16 * 16;
        }
        const struct pattern_copy want = pattern_copy(to, from, lanes),
                                  got = pattern_copy_again(&memo, to, from, lanes);
        wrong += want.wavefronts != got.wavefronts || want.sectors != got.sectors ||
                 want.again != got.again;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(memo.used, PATTERN_WAYS);
    const uint32_t to[32] = {0};
    const uint64_t from[32] = {0};
    CU_ASSERT_EQUAL(pattern_copy_again(&memo, to, from, 0).wavefronts, 0);
}

static const struct tap_test tests[] = {
    {"a memo of copies says what a count says", test_copy_memo},
    {"copies into rows that are 16 bytes off cost more", test_copies},
    {"strides, broadcasts, atomics on one word", test_strides},
    {"8 and 16 bytes a lane", test_wide},
    {"rows of ldmatrix: pitch, padding, swizzle", test_rows},
    {"shared memory against a slow model", test_shared_random},
    {"global memory: known patterns", test_global_known},
    {"global memory against marks on bytes", test_global_random},
    {"a memo of shared memory says what a count says", test_shared_memo},
    {"a memo of global memory says what a count says", test_global_memo},
    {"a memo finds what it has seen", test_memo_finds},
    {"accesses that the machine joins", test_extent},
};

TAP_MAIN("pattern", tests)
