/* The cache against one that looks at everything, what reaches DRAM by hand, and threads against one thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/cache.h"

#define ALL UINT32_MAX

static uint64_t state = 88172645463325252u;

static uint32_t any(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % below;
}

/* ---- The naive model: a list of lines with the time of their last use, bytes one by one. ---- */

enum { NAIVE_LINES = 1 << 12, NAIVE_WAYS = 16 };

static struct naive_line {
    uint64_t line, used;
    bool here;
    bool have[128], dirty[4];
} naive[NAIVE_LINES];
static bool ever[NAIVE_LINES * 4],
    known[NAIVE_LINES * 128]; /* of an endless cache, by sector and byte */
static uint64_t now;

static void naive_reset(void)
{
    memset(naive, 0, sizeof naive);
    memset(ever, 0, sizeof ever);
    memset(known, 0, sizeof known);
}

static bool naive_covers(const bool *have, uint32_t bytes)
{
    for (int b = 0; b < 32; b++)
        if ((bytes >> b & 1) && !have[b])
            return false;
    return true;
}

static struct naive_line *naive_find(uint64_t line)
{
    for (int i = 0; i < NAIVE_LINES; i++)
        if (naive[i].here && naive[i].line == line)
            return &naive[i];
    return NULL;
}

/* Room for `line`: of its set's 16 lines the one that was not used for longest leaves. */
static struct naive_line *naive_room(const struct cache *c, uint64_t line, struct cache_counts *n)
{
    struct naive_line *oldest = NULL, *empty = NULL;
    int in_set = 0;
    for (int i = 0; i < NAIVE_LINES; i++) {
        if (!naive[i].here)
            empty = &naive[i];
        else if (cache_set(c, naive[i].line) == cache_set(c, line)) {
            in_set++;
            oldest = !oldest || naive[i].used < oldest->used ? &naive[i] : oldest;
        }
    }
    struct naive_line *l = in_set < NAIVE_WAYS ? empty : oldest;
    for (int s = 0; s < 4 && l->here; s++)
        if (l->dirty[s]) {
            n->dram_written_bytes += 32;
            n->dirty_bytes -= 32;
        }
    memset(l, 0, sizeof *l);
    l->here = true;
    l->line = line;
    return l;
}

static void naive_access(const struct cache *c, enum cache_op op, uint64_t sector, uint32_t bytes,
                         struct cache_counts *n)
{
    struct naive_line *l = naive_find(sector / 4);
    const bool was = l != NULL;
    if (!l)
        l = naive_room(c, sector / 4, n);
    l->used = ++now;
    bool *have = l->have + sector % 4 * 32, *endless = known + sector * 32;
    n->asked[op]++;
    n->hits[op] += op == CACHE_WRITE ? was : naive_covers(have, bytes);
    n->unique += !ever[sector];
    ever[sector] = true;
    if (op != CACHE_WRITE) {
        if (!naive_covers(endless, bytes)) {
            n->unique_read++;
            memset(endless, true, 32);
        }
        if (!naive_covers(have, bytes)) {
            n->dram_read_bytes += 32;
            memset(have, true, 32);
        }
    }
    for (int b = 0; b < 32; b++)
        if (bytes >> b & 1)
            have[b] = endless[b] = true;
    if (op != CACHE_READ) {
        n->dirty_bytes += l->dirty[sector % 4] ? 0 : 32;
        l->dirty[sector % 4] = true;
    }
}

static int same(struct cache_counts a, struct cache_counts b)
{
    for (int i = 0; i < CACHE_COUNT; i++)
        if (a.asked[i] != b.asked[i] || a.hits[i] != b.hits[i])
            return 0;
    return a.unique == b.unique && a.unique_read == b.unique_read &&
           a.dram_read_bytes == b.dram_read_bytes && a.dram_written_bytes == b.dram_written_bytes &&
           a.dirty_bytes == b.dirty_bytes;
}

static uint32_t any_bytes(void)
{
    return any(2) ? ALL : any(2) ? 0xffffu << 16 * any(2) : 3u << 2 * any(16);
}

static void test_naive(void)
{
    static const size_t sizes[] = {1, 2048, 3 * 2048, 17 * 2048 + 5, 64 * 2048};
    int bad = 0;
    uint64_t evicted = 0, hits = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct cache *c = cache_new(sizes[k]);
        struct cache_counts n = {0};
        naive_reset();
        CU_ASSERT_EQUAL(cache_bytes(c), sizes[k] < 2048 ? 2048 : sizes[k] / 2048 * 2048);
        const uint32_t lines = (uint32_t)(cache_bytes(c) / 128 * 2);
        for (int i = 0; i < 2000; i++) {
            const uint64_t sector = any(8) ? any(lines * 4) : any(NAIVE_LINES * 4);
            const enum cache_op op = (enum cache_op)(any(4) ? CACHE_READ : any(CACHE_COUNT));
            const uint32_t bytes = any_bytes();
            const uint64_t before = n.hits[op];
            naive_access(c, op, sector, bytes, &n);
            bad += cache_sector(c, op, sector, bytes) != (n.hits[op] > before);
            bad += !same(cache_counts(c), n);
        }
        evicted += n.dram_written_bytes;
        hits += n.hits[CACHE_READ];
        cache_free(c);
    }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(evicted > 10000 && hits > 1000);
}

/* ---- By hand. ---- */

static void test_by_hand(void)
{
    struct cache *c = cache_new(2048); /* 16 lines */
    CU_ASSERT(!cache_sector(c, CACHE_READ, 0, 0xf));
    CU_ASSERT(cache_sector(c, CACHE_READ, 0, 0xf0));  /* the sector came as a whole */
    CU_ASSERT(!cache_sector(c, CACHE_READ, 1, ALL));  /* its neighbour of the same line did not */
    CU_ASSERT(cache_sector(c, CACHE_WRITE, 2, 0xff)); /* the line is there; nothing is read */
    CU_ASSERT_EQUAL(cache_counts(c).dram_read_bytes, 64);
    CU_ASSERT(cache_sector(c, CACHE_READ, 2, 0xf));    /* what was written is known */
    CU_ASSERT(!cache_sector(c, CACHE_READ, 2, 0xf00)); /* the rest is not */
    CU_ASSERT_EQUAL(cache_counts(c).dram_read_bytes, 96);
    CU_ASSERT_EQUAL(cache_counts(c).dirty_bytes, 32);
    for (uint64_t line = 1; line <= 16; line++)
        cache_sector(c, CACHE_READ, 4 * line, ALL);
    CU_ASSERT_EQUAL(cache_counts(c).dram_written_bytes, 32); /* line 0 has left */
    CU_ASSERT_EQUAL(cache_counts(c).dirty_bytes, 0);
    CU_ASSERT(!cache_sector(c, CACHE_READ, 0, ALL));
    CU_ASSERT_EQUAL(cache_counts(c).unique, 19);
    CU_ASSERT_EQUAL(cache_counts(c).unique_read, 19);
    CU_ASSERT_EQUAL(cache_counts(c).dram_read_bytes, 20 * 32);
    CU_ASSERT(
        !cache_sector(c, CACHE_ATOMIC, 1 << 20, 0xf)); /* reads, and leaves it to be written */
    CU_ASSERT_EQUAL(cache_counts(c).dirty_bytes, 32);
    cache_forget(c, 1 << 20);
    CU_ASSERT_EQUAL(cache_counts(c).dirty_bytes, 0);
    CU_ASSERT(!cache_sector(c, CACHE_READ, 1 << 20, 0xf));
    cache_forget(c, 1 << 21); /* was never there */
    cache_clear(c);
    CU_ASSERT(same(cache_counts(c), (struct cache_counts){0}));
    CU_ASSERT(!cache_sector(c, CACHE_READ, 0, ALL));
    CU_ASSERT_EQUAL(cache_counts(c).unique, 1);
    cache_free(c);
    c = cache_new_plain(4096);
    cache_sector(c, CACHE_READ, 0, ALL);
    CU_ASSERT_EQUAL(cache_counts(c).unique, 0);
    CU_ASSERT_EQUAL(cache_counts(c).dram_read_bytes, 32);
    cache_free(c);
    cache_free(NULL);
}

/* The sectors of a warp's access are those of the pattern, from the first active lane's on. */
static void test_access(void)
{
    struct cache *c = cache_new(1 << 20), *d = cache_new(1 << 20);
    for (int i = 0; i < 500; i++) {
        uint64_t addr[32];
        const uint64_t base = (UINT64_C(1) << 41) + 4 * any(50000), step = 4 * any(60);
        for (uint64_t l = 0; l < 32; l++)
            addr[l] = any(3) ? base + l * step : base - l * step;
        const uint32_t mask = any(2) ? ALL : 1 + any(ALL - 1);
        const enum cache_op op = (enum cache_op)any(CACHE_COUNT);
        struct pattern_global g;
        pattern_global_cost(addr, mask, 4, &g);
        cache_access(c, op, addr[__builtin_ctz(mask)], &g);
        for (int k = 0; k < g.sectors; k++)
            cache_sector(d, op, addr[__builtin_ctz(mask)] / 32 + (uint64_t)g.sector[k], g.bytes[k]);
    }
    /* A write to a line that the same access has just brought hits when asked for one by one. */
    struct cache_counts a = cache_counts(c), b = cache_counts(d);
    CU_ASSERT(a.hits[CACHE_WRITE] <= b.hits[CACHE_WRITE]);
    a.hits[CACHE_WRITE] = b.hits[CACHE_WRITE];
    CU_ASSERT(same(a, b));
    CU_ASSERT(a.unique > 2000);
    cache_free(c);
    cache_free(d);
}

/* What a read does not find is said, in the order of the access; it is as if asked for one by one. */
static void test_missing(void)
{
    struct cache *c = cache_new_plain(16384), *d = cache_new_plain(16384);
    unsigned all = 0, missed = 0;
    for (int i = 0; i < 2000; i++) {
        uint64_t addr[32], missing[32];
        const uint64_t base = (UINT64_C(1) << 41) + 4 * any(6000), step = 4 * any(20);
        for (uint64_t l = 0; l < 32; l++)
            addr[l] = any(3) ? base + l * step : base;
        const uint32_t mask = any(2) ? ALL : 1 + any(ALL - 1);
        const uint64_t first = addr[__builtin_ctz(mask)];
        struct pattern_global g;
        pattern_global_cost(addr, mask, 4, &g);
        const unsigned n = cache_missing(c, first, &g, missing);
        unsigned k = 0;
        for (int j = 0; j < g.sectors; j++) {
            const uint64_t sector = first / 32 + (uint64_t)g.sector[j];
            if (cache_sector(d, CACHE_READ, sector, g.bytes[j]))
                continue;
            CU_ASSERT(k < n && missing[k] == sector);
            k++;
        }
        CU_ASSERT_EQUAL(k, n);
        all += g.sectors;
        missed += n;
    }
    CU_ASSERT(same(cache_counts(c), cache_counts(d)));
    CU_ASSERT(missed > 100 && missed < all - 100);
    cache_free(c);
    cache_free(d);
}

/* Strides of powers of two, as rows of a matrix have them, find room in half of the cache. */
static void test_strides(void)
{
    enum { SIZE = 6 << 20 };
    struct cache *c = cache_new(SIZE);
    for (uint64_t step = 1; step <= 1 << 16; step *= 2) {
        cache_clear(c);
        const uint64_t lines = (SIZE) / 128 / 2;
        for (int round = 0; round < 2; round++)
            for (uint64_t i = 0; i < lines; i++)
                cache_sector(c, CACHE_READ, 4 * (i * step % (1u << 30) + i * step / (1u << 30)),
                             ALL);
        const struct cache_counts n = cache_counts(c);
        const double kept = (double)n.hits[CACHE_READ] / (double)lines;
        if (kept < 0.97)
            printf("# step %llu lines: %.3f\n", (unsigned long long)step, kept);
        CU_ASSERT(kept >= 0.97);
        CU_ASSERT_EQUAL(n.unique, lines);
    }
    cache_free(c);
}

/* ---- Threads. ---- */

enum { BLOCKS = 60, ACCESSES = 400 };

struct job {
    struct cache_feed *feed;
    pthread_mutex_t lock;
    uint64_t next;
    uint64_t hits;
};

/* What block `number` asks for: rows that others ask for, too, rows of its own, atomics. */
static uint64_t block_hits(struct cache_port *p, uint64_t number)
{
    uint64_t hits = 0, mix = number * 77 + 1;
    cache_port_begin(p, number);
    for (int i = 0; i < (number % 7 == 3 ? 5 * ACCESSES : ACCESSES); i++) {
        uint64_t addr[32];
        mix = mix * 6364136223846793005u + 1442695040888963407u;
        const uint64_t row = mix >> 33;
        const enum cache_op op = row % 8 == 0    ? CACHE_WRITE
                                 : row % 31 == 0 ? CACHE_ATOMIC
                                                 : CACHE_READ;
        for (uint64_t l = 0; l < 32; l++)
            addr[l] = (op == CACHE_WRITE ? 1u << 24 : 0) + row % 3000 * 128 + 4 * l;
        struct pattern_global g;
        pattern_global_cost(addr, row % 5 ? ALL : 0xffff0, 4, &g);
        hits += cache_port_access(p, 0, op, row % 3 == 0, addr[row % 5 ? 0 : 4], &g);
    }
    cache_port_end(p);
    return hits;
}

static void *work(void *arg)
{
    struct job *j = arg;
    struct cache_port *p = cache_port_new(j->feed, 1);
    uint64_t hits = 0;
    for (;;) {
        pthread_mutex_lock(&j->lock);
        const uint64_t number = j->next++;
        pthread_mutex_unlock(&j->lock);
        if (number >= BLOCKS)
            break;
        hits += block_hits(p, number);
    }
    pthread_mutex_lock(&j->lock);
    j->hits += hits;
    pthread_mutex_unlock(&j->lock);
    cache_port_free(p);
    return NULL;
}

static struct cache_counts run(int threads, size_t l1, size_t limit, uint64_t l1_counts[2])
{
    struct job j = {.feed = cache_feed_new(100 << 10, l1), .lock = PTHREAD_MUTEX_INITIALIZER};
    cache_feed_limit(j.feed, limit);
    pthread_t t[8];
    for (int i = 0; i < threads; i++)
        if (pthread_create(&t[i], NULL, work, &j) != 0)
            abort();
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    const struct cache_counts n = cache_feed_counts(j.feed, &l1_counts[0], &l1_counts[1]);
    CU_ASSERT_EQUAL(l1_counts[1], j.hits);
    cache_feed_free(j.feed);
    return n;
}

static void test_threads(void)
{
    for (int l1 = 0; l1 < 2; l1++) {
        uint64_t one_l1[2], l1_counts[2];
        const struct cache_counts one = run(1, l1 ? 16384 : 0, 0, one_l1);
        CU_ASSERT(one.dram_written_bytes > 1000 && one.hits[CACHE_READ] > 1000);
        CU_ASSERT(one.unique * 32 < one.dram_read_bytes);
        CU_ASSERT_EQUAL(one_l1[0] > 0, l1);
        CU_ASSERT_EQUAL(one_l1[1] > 0, l1);
        static const size_t limits[] = {0, 1, 50, 3000};
        for (int i = 0; i < 4; i++)
            for (int threads = 1; threads <= 8; threads += 1 + threads / 3) {
                const struct cache_counts n = run(threads, l1 ? 16384 : 0, limits[i], l1_counts);
                CU_ASSERT(same(n, one));
                CU_ASSERT(l1_counts[0] == one_l1[0] && l1_counts[1] == one_l1[1]);
            }
    }
}

/* Without an L1 a single thread's feed is the cache. */
static void test_feed_is_cache(void)
{
    struct cache_feed *f = cache_feed_new(64 << 10, 0);
    struct cache_port *p = cache_port_new(f, 1);
    struct cache *c = cache_new(64 << 10);
    for (uint64_t number = 0; number < 5; number++) {
        cache_port_begin(p, number);
        for (int i = 0; i < 200; i++) {
            uint64_t addr[32];
            struct pattern_global g;
            for (uint64_t l = 0; l < 32; l++)
                addr[l] = 4096 * number + 16 * any(9000);
            pattern_global_cost(addr, ALL, 16, &g);
            const enum cache_op op = (enum cache_op)any(CACHE_COUNT);
            cache_port_access(p, 0, op, false, addr[0], &g);
            for (int k = 0; k < g.sectors; k++)
                cache_sector(c, op, addr[0] / 32 + (uint64_t)g.sector[k], g.bytes[k]);
        }
        cache_port_end(p);
    }
    CU_ASSERT(same(cache_feed_counts(f, NULL, NULL), cache_counts(c)));
    cache_port_free(p);
    cache_feed_free(f);
    cache_free(c);
}

/* Block 0 never ends, and block 1 waits for it, until all is stopped. */
static void *stuck(void *arg)
{
    struct cache_port *p = cache_port_new(arg, 1);
    block_hits(p, 1);
    cache_port_free(p);
    return NULL;
}

static void test_stop(void)
{
    struct cache_feed *f = cache_feed_new(64 << 10, 4096);
    struct cache_port *p = cache_port_new(f, 1);
    cache_feed_limit(f, 10);
    cache_port_begin(p, 0);
    pthread_t t;
    if (pthread_create(&t, NULL, stuck, f) != 0)
        abort();
    cache_feed_stop(f);
    pthread_join(t, NULL);
    cache_port_free(p);
    cache_feed_free(f);
    /* Blocks that were left behind without a turn are freed with the feed. */
    f = cache_feed_new(64 << 10, 0);
    p = cache_port_new(f, 1);
    block_hits(p, 3);
    block_hits(p, 2);
    CU_ASSERT_EQUAL(cache_feed_counts(f, NULL, NULL).unique, 0);
    cache_port_free(p);
    cache_feed_free(f);
}

/* No check of the time: what a sector costs that is there. */
static void test_speed(void)
{
    struct cache *c = cache_new(4u << 20);
    struct pattern_global g;
    uint64_t addr[32];
    for (uint64_t l = 0; l < 32; l++)
        addr[l] = 16 * l;
    pattern_global_cost(addr, ALL, 16, &g);
    struct timespec from, to;
    const int rounds = 40, rows = 512;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < rows; i++)
            cache_access(c, CACHE_READ, (uint64_t)i * 512, &g);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    const double ns = 1e9 * (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec);
    printf("# %.2f ns a sector\n", ns / (rounds * rows * g.sectors));
    CU_ASSERT_EQUAL(cache_counts(c).hits[CACHE_READ], (uint64_t)(rounds - 1) * rows * g.sectors);
    cache_free(c);
}

static const struct tap_test tests[] = {
    {"against a cache that looks at everything", test_naive},
    {"what is read, known and written, by hand", test_by_hand},
    {"accesses of warps", test_access},
    {"what reads miss", test_missing},
    {"strides of powers of two", test_strides},
    {"a feed of one thread is the cache", test_feed_is_cache},
    {"any number of threads has the counts of one", test_threads},
    {"a feed that is stopped", test_stop},
    {"speed", test_speed},
};

TAP_MAIN("cache", tests)
