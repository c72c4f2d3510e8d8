/* test_pool.c - the thread pool: every block once, many launches, sleepers woken, scratch memory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <fenv.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "backend/cpu_host.h"
#include "backend/pool.h"
#include "tap.h"

enum { BLOCKS_MAX = 5000 };

struct seen {
    _Atomic int count[BLOCKS_MAX];
    _Atomic int bad_thread;
    int threads;
    int plain[BLOCKS_MAX]; /* not atomic: the launch's end must order it */
};

static void mark(void *ctx, int64_t block, int thread)
{
    struct seen *s = ctx;
    atomic_fetch_add(&s->count[block], 1);
    if (thread < 0 || thread >= s->threads)
        atomic_fetch_add(&s->bad_thread, 1);
    s->plain[block]++;
}

static void run_and_check(struct pool *p, struct seen *s, int64_t blocks, int launches)
{
    int wrong = 0;
    memset(s, 0, sizeof *s);
    s->threads = pool_threads(p);
    for (int i = 0; i < launches; i++)
        pool_run(p, blocks, mark, s);
    for (int64_t b = 0; b < BLOCKS_MAX; b++)
        wrong += s->count[b] != (b < blocks ? launches : 0) || s->plain[b] != s->count[b];
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(s->bad_thread, 0);
}

static void test_every_block_once(void)
{
    static struct seen s;
    static const int threads[] = {1, 2, 3, 8};
    static const int64_t blocks[] = {0, 1, 2, 3, 7, 64, BLOCKS_MAX};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct pool *p = pool_new(threads[t]);
        CU_ASSERT_EQUAL(pool_threads(p), threads[t]);
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
            run_and_check(p, &s, blocks[b], 3);
        pool_free(p);
    }
}

static void test_many_small_launches(void)
{
    static struct seen s;
    struct pool *p = pool_new(4);
    run_and_check(p, &s, 5, 3000);
    pool_free(p);
}

static void nap(long us)
{
    nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

/* Pauses around the time the threads spin: they are asleep, or just about to be. */
static void test_wakes_sleepers(void)
{
    static struct seen s;
    struct pool *p = pool_new(4);
    for (int i = 0; i < 60; i++) {
        nap(i % 2 ? 25 + i : 300);
        run_and_check(p, &s, 40, 1);
    }
    pool_free(p);
}

static void slow(void *ctx, int64_t block, int thread)
{
    (void)block;
    nap(2000);
    atomic_fetch_or((_Atomic unsigned *)ctx, 1u << thread);
}

/* Sleeping blocks take no CPU: even on one core every thread gets some. */
static void test_all_threads_work(void)
{
    _Atomic unsigned used = 0;
    struct pool *p = pool_new(3);
    pool_run(p, 24, slow, &used);
    CU_ASSERT_EQUAL(used, 7);
    pool_free(p);
}

static void test_affinity(void)
{
    cpu_set_t set, one;
    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof set, &set), 0);
    struct pool *p = pool_new(0);
    CU_ASSERT_EQUAL(pool_threads(p), host_usable_cpus());
    CU_ASSERT(pool_threads(p) <= CPU_COUNT(&set)); /* a control group may grant less */
    pool_free(p);
    CPU_ZERO(&one);
    for (size_t i = 0; !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &set))
            CPU_SET(i, &one);
    CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    p = pool_new(0);
    CU_ASSERT_EQUAL(pool_threads(p), 1);
    pool_free(p);
    CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof set, &set), 0);
}

static void test_idle_is_idle(void)
{
    struct pool *p = pool_new(4);
    struct timespec before, after;
    static struct seen s;
    run_and_check(p, &s, 100, 1);
    nap(20000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    nap(100000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    CU_ASSERT((double)(after.tv_sec - before.tv_sec) +
                  1e-9 * (double)(after.tv_nsec - before.tv_nsec) <
              0.01);
    pool_free(p);
}

static void test_scratch(void)
{
    struct pool *p = pool_new(2);
    unsigned char *a = pool_scratch(p, 0, 100), *b = pool_scratch(p, 1, 100);
    CU_ASSERT_PTR_NOT_EQUAL(a, b);
    CU_ASSERT_EQUAL((uintptr_t)a % 64, 0);
    memset(a, 1, 100);
    memset(b, 2, 100);
    CU_ASSERT_EQUAL(a[99], 1);
    a = pool_scratch(p, 0, 1 << 20);
    CU_ASSERT_EQUAL((uintptr_t)a % 64, 0);
    memset(a, 3, 1 << 20);
    CU_ASSERT_PTR_EQUAL(pool_scratch(p, 0, 50), a);
    CU_ASSERT_EQUAL(b[99], 2);
    pool_free(p);
}

static void round_up(void *ctx, int64_t block, int thread)
{
    (void)ctx, (void)block, (void)thread;
    fesetround(FE_UPWARD);
}

static void count_odd(void *ctx, int64_t block, int thread)
{
    (void)block, (void)thread;
    atomic_fetch_add((atomic_int *)ctx, fegetround() != FE_TONEAREST);
}

/* A body that leaves its thread rounding upwards is found, and nobody computes so after it. */
static void test_rounding(void)
{
    static const int threads[] = {1, 2, 4};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct pool *p = pool_new(threads[t]);
        atomic_int odd = 0;
        pool_run(p, 64, count_odd, &odd);
        CU_ASSERT_FALSE(pool_float_left(p));
        pool_run(p, 64, round_up, NULL);
        CU_ASSERT_TRUE(pool_float_left(p));
        CU_ASSERT_FALSE(pool_float_left(p));
        pool_run(p, 64, count_odd, &odd);
        CU_ASSERT_EQUAL(odd, 0);
        CU_ASSERT_EQUAL(fegetround(), FE_TONEAREST);
        pool_free(p);
    }
}

/* Blocks that hand parts over; whoever has done so must get no further block of the launch. */
struct handing {
    struct pool *pool;
    _Atomic int handed, ran, on_caller, again, launch;
    _Atomic int by[256]; /* launch in which the thread has handed something over */
};

struct handed_part {
    struct handing *h;
    int from, further;
};

static void hand_on(struct handing *h, int from, int further);

static void part(void *ctx, int64_t block, int thread)
{
    struct handed_part p = *(struct handed_part *)ctx;
    CU_ASSERT_EQUAL(block, -1);
    atomic_fetch_add(&p.h->on_caller, thread == p.from);
    if (p.further)
        hand_on(p.h, thread, p.further - 1);
    atomic_fetch_add(&p.h->ran, 1);
}

static void hand_on(struct handing *h, int from, int further)
{
    const int idle = pool_find_idle(h->pool);
    if (idle < 0)
        return;
    const struct handed_part p = {h, from, further};
    atomic_fetch_add(&h->handed, 1);
    pool_hand(h->pool, idle, part, &p, sizeof p);
}

static void handing_body(void *ctx, int64_t block, int thread)
{
    struct handing *h = ctx;
    (void)block;
    atomic_fetch_add(&h->again, h->by[thread] == h->launch);
    for (int i = 0; i < 300; i++) {
        const int before = h->handed;
        hand_on(h, thread, 2);
        if (h->handed > before)
            h->by[thread] = h->launch;
    }
}

/* Launches follow each other at once, so that threads still sit there from the one before. Until something was handed over,
 * where that is `wanted`, as on a busy machine the others may be late, for 20 s at most. */
static void hand_in(int threads, bool wanted, struct handing *h)
{
    struct pool *p = pool_new(threads);
    const time_t until = time(NULL) + 20;
    *h = (struct handing){.pool = p};
    for (int i = 0; i < 300 || (wanted && h->handed < 50 && time(NULL) < until); i++) {
        atomic_fetch_add(&h->launch, 1);
        pool_run_lending(p, 1 + i % 7, handing_body, h);
        CU_ASSERT_EQUAL(h->ran, h->handed);
    }
    CU_ASSERT_EQUAL(h->on_caller, 0);
    CU_ASSERT_EQUAL(h->again, 0);
    pool_free(p);
}

static void test_parts(void)
{
    static struct handing h;
    const int cpus = host_usable_cpus();
    for (int threads = 2; threads <= cpus && threads <= 8; threads *= 2) {
        hand_in(threads, true, &h);
        CU_ASSERT(h.handed > 0);
    }
    hand_in(1, false, &h);
    CU_ASSERT_EQUAL(h.handed, 0);
}

/* They would wait for a processor that those who work have. */
static void test_too_many_do_not_wait(void)
{
    static struct handing h;
    CU_ASSERT_FATAL(host_usable_cpus() < 256);
    hand_in(host_usable_cpus() + 1, false, &h);
    CU_ASSERT_EQUAL(h.handed, 0);
}

static void count_news(void *ctx)
{
    ++*(int *)ctx;
}

/* The first block takes as many milliseconds as ctx says. */
static void doze(void *ctx, int64_t block, int thread)
{
    (void)thread;
    nap(1000L * (block ? 40 : *(int *)ctx));
}

/* While blocks end there is news, however many there are to a second; while one alone does not, there is none. */
static void test_news(void)
{
    for (int threads = 1; threads <= 3; threads++) {
        static struct seen s;
        int news = 0, first_ms = 40;
        struct pool *p = pool_new(threads);
        pool_watch(p, count_news, &news);
        pool_run(p, 24, doze, &first_ms);
        CU_ASSERT(news >= 2 && news <= 24);
        news = 0;
        first_ms = 700;
        pool_run(p, 3, doze, &first_ms);
        CU_ASSERT(news <= 2);
        for (const time_t until = time(NULL) + 2; time(NULL) < until;)
            run_and_check(p, &s, BLOCKS_MAX, 1); /* each of which is short */
        pool_watch(p, NULL, NULL);
        news = 0;
        first_ms = 120;
        pool_run(p, 3, doze, &first_ms);
        CU_ASSERT_EQUAL(news, 0);
        pool_free(p);
    }
}

static const struct tap_test tests[] = {
    {"a launch that takes long tells of its progress", test_news},
    {"parts of blocks are run once, by threads that have none", test_parts},
    {"more threads than processors do not wait for parts", test_too_many_do_not_wait},
    {"rounding that is left behind", test_rounding},
    {"every block runs once", test_every_block_once},
    {"many small launches", test_many_small_launches},
    {"sleepers wake", test_wakes_sleepers},
    {"all threads take part", test_all_threads_work},
    {"as many threads as the affinity mask has CPUs", test_affinity},
    {"idle threads take no time", test_idle_is_idle},
    {"scratch memory", test_scratch},
};

TAP_MAIN("pool", tests)
