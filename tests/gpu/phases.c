/* phases.c - where the time of cpu_tiled goes: each phase of a tile, its share and its rate beside the multiply-adds that
 * the same threads manage in the same second.
 *
 * usage: phases [isa=NAME] [threads=N] [rounds=N] SHAPE...   each SHAPE one word of S, D, dtype and H, "1024/64/f32/8", and
 * perhaps BR and BC behind it: "1024/64/f32/8/64/96"
 *
 * Two lines a shape: hot, and with inputs and output out of the caches before each round. us and GFLOP/s are of the time on
 * the clock, the quarter of the rounds that was fastest. In further rounds every block is followed by multiply-adds of the same
 * thread, so that both meet the same neighbours and the same clock: "of peak" is the rate of the former in the time on the clock
 * over that of the latter of all threads at once, "busy" the same while a thread ran: processor time, which leaves out what
 * others had of the cores. Then what the busy time went to, each phase in its fastest quarter, and `idle`, for which a thread
 * had no block or no core. `unlent` is the time, over `us`, and the share of idle time of rounds in turn with those in which no
 * thread hands queries of its tile to one that has none (LEND=0). K Q^T is done twice, once by itself, which is taken off again: `exp` is what the powers of 2 and
 * their sums add to it. (Looking at a thread's clock takes 0.3 us, which `load` and `exp` have in them.)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cpu/cpu_simd.h"
#include "backend/cpu_host.h"
#include "backend/pool.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/status.h"

enum { THREADS_MAX = 256, ROUNDS_MAX = 1000, LINE = 64 };

struct watched {
    struct tiled_watch watch; /* first: enter() gets its address */
    enum tiled_phase now;
    double since, busy, bursts, spent[TILED_PHASES + 1];
    char apart[LINE];
};

struct grid {
    struct tiled_lender lender; /* first: hand() gets its address */
    const struct cpu_simd *simd;
    struct pool *pool;
    int64_t S, D, H, BR, BC;
    enum dtype dtype;
    char *q, *k, *v, *o;
    bool watches, bursts; /* of this round: are phases timed, do multiply-adds follow each block? */
    bool lends;
    struct watched threads[THREADS_MAX];
};

struct round {
    double wall, busy, bursts,
        spent[TILED_PHASES]; /* bursts: seconds of multiply-adds, all threads */
};

enum { BURST = 4000 };

/* Of the calling thread. */
static double processor_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void enter(struct tiled_watch *w, enum tiled_phase phase)
{
    struct watched *x = (struct watched *)w;
    const double now = processor_now();
    x->spent[x->now] += now - x->since;
    x->since = now;
    x->now = phase;
}

struct part {
    struct grid *g;
    struct tiled_rest rest;
};

static void run_part(void *ctx, int64_t block, int thread)
{
    struct part *p = ctx;
    struct watched *w = &p->g->threads[thread];
    struct tiled_job *j = &p->rest.job;
    (void)block;
    j->scratch = pool_scratch(p->g->pool, thread, p->g->simd->tiled_scratch(j));
    j->watch = p->g->watches ? &w->watch : NULL;
    const double begin = w->since = processor_now();
    w->now = TILED_PHASES;
    p->g->simd->tiled_rest(&p->rest);
    if (p->g->watches)
        enter(&w->watch, TILED_PHASES);
    w->busy += processor_now() - begin;
}

static int find_idle(struct tiled_lender *l)
{
    return pool_find_idle(((struct grid *)l)->pool);
}

static void hand_over(struct tiled_lender *l, int thread, const struct tiled_rest *r)
{
    const struct part p = {(struct grid *)l, *r};
    pool_hand(((struct grid *)l)->pool, thread, run_part, &p, sizeof p);
}

static void run_block(void *ctx, int64_t index, int thread)
{
    struct grid *g = ctx;
    struct watched *w = &g->threads[thread];
    const int64_t nx = (g->S + g->BR - 1) / g->BR, head = index / nx * g->S * g->D,
                  i0 = index % nx * g->BR;
    const size_t size = dtype_size(g->dtype);
    struct tiled_job j = {.q = g->q + size * (size_t)(head + i0 * g->D),
                          .k = g->k + size * (size_t)head,
                          .v = g->v + size * (size_t)head,
                          .o = g->o + size * (size_t)(head + i0 * g->D),
                          .q_stride = g->D,
                          .k_stride = g->D,
                          .v_stride = g->D,
                          .o_stride = g->D,
                          .rows = g->BR < g->S - i0 ? g->BR : g->S - i0,
                          .room = g->BR,
                          .D = g->D,
                          .BC = g->BC,
                          .first_end = g->S,
                          .Sk = g->S,
                          .scale = 0.125f,
                          .dtype = g->dtype,
                          .watch = g->watches ? &w->watch : NULL,
                          .lender = g->lends ? &g->lender : NULL};
    j.scratch = pool_scratch(g->pool, thread, g->simd->tiled_scratch(&j));
    const double begin = w->since = processor_now();
    w->now = TILED_PHASES;
    g->simd->tiled(&j);
    if (g->watches)
        enter(&w->watch, TILED_PHASES);
    const double end = processor_now();
    w->busy += end - begin;
    if (!g->bursts)
        return;
    (void)g->simd->fma_burst(BURST);
    w->bursts += processor_now() - end;
}

static int64_t blocks_of(const struct grid *g)
{
    return (g->S + g->BR - 1) / g->BR * g->H;
}

static size_t bytes_of(const struct grid *g)
{
    return (size_t)(g->S * g->D * g->H) * dtype_size(g->dtype);
}

enum look { PLAIN, UNLENT, WATCHED, BESIDE_BURSTS };

static struct round run_once(struct grid *g, enum look look, bool cold)
{
    struct round r = {0};
    char *const parts[] = {g->q, g->k, g->v, g->o};
    for (size_t i = 0; cold && i < sizeof parts / sizeof *parts; i++)
        host_evict(parts[i], bytes_of(g));
    for (int t = 0; t < pool_threads(g->pool); t++)
        memset(g->threads[t].spent, 0, sizeof g->threads[t].spent),
            g->threads[t].busy = g->threads[t].bursts = 0;
    g->watches = look == WATCHED;
    g->bursts = look == BESIDE_BURSTS;
    g->lends = look != UNLENT && look != BESIDE_BURSTS;
    pool_rouse(g->pool);
    const double begin = seconds_now();
    (g->lends ? pool_run_lending : pool_run)(g->pool, blocks_of(g), run_block, g);
    r.wall = seconds_now() - begin;
    for (int t = 0; t < pool_threads(g->pool); t++) {
        r.busy += g->threads[t].busy;
        r.bursts += g->threads[t].bursts;
        for (int i = 0; i < TILED_PHASES; i++)
            r.spent[i] += g->threads[t].spent[i];
    }
    return r;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of n doubles, `step` bytes apart, the one that a quarter are below. */
static double quarter(const double *first, size_t step, int n)
{
    static double x[ROUNDS_MAX];
    for (int i = 0; i < n; i++)
        x[i] = *(const double *)(const void *)((const char *)first + (size_t)i * step);
    qsort(x, (size_t)n, sizeof *x, by_value);
    return x[n / 4];
}

/* ---- a shape ---- */

static void show(struct grid *g, int rounds, bool cold)
{
    static struct round plain[ROUNDS_MAX], unlent[ROUNDS_MAX], watched[ROUNDS_MAX];
    static double shares[ROUNDS_MAX];
    const int n = pool_threads(g->pool);
    const size_t step = sizeof *plain;
    const double flops = 4.0 * (double)(g->S * g->S * g->D * g->H);
    const double burst_flops = g->simd->fma_burst(1) * BURST * (double)blocks_of(g);
    for (int i = 0; i < rounds; i++) {
        plain[i] = run_once(g, PLAIN, cold);
        unlent[i] = run_once(g, UNLENT, cold);
        watched[i] = run_once(g, WATCHED, cold);
        const struct round beside = run_once(g, BESIDE_BURSTS, cold);
        shares[i] = flops / beside.busy / (burst_flops / beside.bursts);
    }
    qsort(shares, (size_t)rounds, sizeof *shares, by_value);
    const double share = shares[rounds / 2];
    const double wall = quarter(&plain->wall, step, rounds),
                 busy = quarter(&plain->busy, step, rounds),
                 wall_unlent = quarter(&unlent->wall, step, rounds),
                 busy_unlent = quarter(&unlent->busy, step, rounds);
    const double each =
        flops / busy / share; /* multiply-adds that a thread manages while others do blocks */
    double s[TILED_PHASES];
    for (int i = 0; i < TILED_PHASES; i++)
        s[i] = quarter(&watched->spent[i], step, rounds);
    printf("%6ld %4ld %-4s %3ld %-4s %3ld %3ld %9.0f %7.0f %4.0f %% %4.0f %% |", (long)g->S,
           (long)g->D, dtype_name(g->dtype), (long)g->H, cold ? "cold" : "hot", (long)g->BR,
           (long)g->BC, wall * 1e6, flops / wall * 1e-9, 100 * share * busy / wall / n,
           100 * share);
    printf(" %5.1f %5.1f %5.1f %5.1f %5.1f %5.1f | %5.1f | %5.2f %5.1f | %4.0f %% %4.0f %%\n",
           100 * s[TILED_PACK] / busy, 100 * s[TILED_LOAD] / busy, 100 * s[TILED_SCORES] / busy,
           100 * (s[TILED_EXP] - s[TILED_SCORES]) / busy, 100 * s[TILED_OUTPUT] / busy,
           100 * s[TILED_STORE] / busy, 100 * (1 - busy / wall / n), wall_unlent / wall,
           100 * (1 - busy_unlent / wall_unlent / n), 100 * flops / 2 / s[TILED_SCORES] / each,
           100 * flops / 2 / s[TILED_OUTPUT] / each);
    fflush(stdout);
}

static char *tensor(const struct grid *g, unsigned seed)
{
    const size_t n = (size_t)(g->S * g->D * g->H);
    float *x = xmalloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = (float)(seed >> 8) / 0x1p23f - 1;
    }
    char *out = mem_alloc_wide(bytes_of(g));
    if (!out)
        fatal("no memory");
    g->simd->from_float(g->dtype, x, out, (int64_t)n);
    free(x);
    return out;
}

static bool measure(struct grid *g, const char *word, int rounds)
{
    char name[8];
    long S, D, H, BR = 64, BC = 96;
    if (sscanf(word, "%ld/%ld/%7[a-z0-9]/%ld/%ld/%ld", &S, &D, name, &H, &BR, &BC) < 4 || S < 1 ||
        D < 1 || H < 1 || BR < 1 || BC < 1)
        return false;
    g->S = S, g->D = D, g->H = H, g->BR = BR, g->BC = BC;
    int t = 0;
    while (t < DTYPE_COUNT && strcmp(name, dtype_name((enum dtype)t)) != 0)
        t++;
    if (t == DTYPE_COUNT)
        return false;
    g->dtype = (enum dtype)t;
    g->q = tensor(g, 1), g->k = tensor(g, 2), g->v = tensor(g, 3), g->o = tensor(g, 4);
    run_once(g, PLAIN, false);
    show(g, rounds, false);
    show(g, rounds, true);
    free(g->q);
    free(g->k);
    free(g->v);
    free(g->o);
    return true;
}

int main(int argc, char **argv)
{
    static struct grid g;
    struct err err = ERR_INIT;
    const char *isa = NULL;
    int threads = 1, rounds = 21, i = 1;
    for (; i < argc && strchr(argv[i], '='); i++)
        if (strncmp(argv[i], "isa=", 4) == 0)
            isa = argv[i] + 4;
        else if (sscanf(argv[i], "threads=%d", &threads) != 1 &&
                 sscanf(argv[i], "rounds=%d", &rounds) != 1)
            fatal("phases: %s?", argv[i]);
    if (cpu_simd_pick(isa, &g.simd, &err) != ST_OK)
        fatal("%s", err.text);
    if (threads < 1 || threads > THREADS_MAX || rounds < 1 || rounds > ROUNDS_MAX)
        fatal("phases: so many threads or rounds?");
    g.pool = pool_new(threads);
    g.lender = (struct tiled_lender){find_idle, hand_over};
    for (int t = 0; t < THREADS_MAX; t++)
        g.threads[t].watch.enter = enter;
    printf("%s, %d threads\n     S    D type   H       BR  BC        us GFLOP/s of peak  busy |  "
           "pack  "
           "load  KQ^T   exp "
           "V^TP^T store |  idle |  unlent, idle | KQ^T, V^TP^T of peak\n",
           g.simd->title, pool_threads(g.pool));
    for (; i < argc; i++)
        if (!measure(&g, argv[i], rounds))
            fatal("phases: \"%s\" is no S/D/type/H", argv[i]);
    pool_free(g.pool);
    return 0;
}
