/* cpu_peak.c - how fast this machine's cores and memory are, measured.
 *
 * The FMA loop itself is vector code: kernels/cpu/simd_math.h. Rates are the best of several tries,
 * because whatever disturbs one makes it slower.
 *
 * A core has no single clock. Multiply-adds that feed on registers alone draw less power than those
 * of a matrix product, which also load: on a recent Xeon 3.4 GHz against 2.9 to 3.1 GHz, for some
 * milliseconds after the loads have ceased. So there are two peaks: the burst, and the one that a
 * kernel can be measured against, whose bursts follow bouts of real work.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cpu/cpu_peak.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_kernel.h"
#include "backend/cpu/cpu_simd.h"
#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/number.h"

enum { MIB = 1 << 20, BUFFER_BYTES = 128 * MIB, CHUNK_BYTES = MIB };

/* ---- multiply-adds ---- */

static double burst_rate(double (*burst)(int64_t rounds), int64_t rounds)
{
    const double start = host_seconds();
    const double flops = burst(rounds);
    return flops / (host_seconds() - start) * 1e-9;
}

/* Rounds that take about 5 ms: long against the clock's reading, short against a neighbour's turn. */
static int64_t burst_rounds(double (*burst)(int64_t rounds))
{
    enum { PROBE = 20000 };
    const double flops_per_round = burst(1);
    return (int64_t)(burst_rate(burst, PROBE) * 1e9 * 5e-3 / flops_per_round) + 1;
}

/* Nothing but multiply-adds. */
static double burst_peak(const struct cpu_simd *simd)
{
    enum { BURSTS = 40 };
    const int64_t rounds = burst_rounds(simd->fma_burst);
    double best = 0;
    for (int i = 0; i < BURSTS; i++) {
        const double rate = burst_rate(simd->fma_burst, rounds);
        best = rate > best ? rate : best;
    }
    return best;
}

/* One attention head of 64 queries and 512 keys, over and over for `seconds`. GFLOP/s of the fastest. */
static double work(const struct cpu_simd *simd, struct tiled_job *job, double seconds)
{
    const double flops = 4.0 * (double)(job->rows * job->Sk * job->D);
    double least = INFINITY, now = host_seconds();
    const double end = now + seconds;
    while (now < end) {
        const double begin = now;
        simd->tiled(job);
        now = host_seconds();
        least = fmin(least, now - begin);
    }
    return flops / least * 1e-9;
}

static double middle(double *x, size_t n)
{
    qsort(x, n, sizeof *x, number_order);
    return x[n / 2];
}

/* Bursts that follow bouts of attention; short ones, as the clock recovers. Medians: a bout that
 * was interrupted lets the clock recover before its burst. What a neighbour on the same core takes, it takes from both. */
static void working_peak(const struct cpu_simd *simd, float *buffer, struct peak *out)
{
    enum { BOUTS = 40, ROWS = 64, KEYS = 512, D = 64, HEAD = KEYS * D };
    struct tiled_job job = {.q = buffer, .k = buffer, .v = buffer, .o = buffer + HEAD};
    job.q_stride = job.k_stride = job.v_stride = job.o_stride = D;
    job.rows = job.room = ROWS, job.D = D, job.BC = 192;
    job.first_end = job.Sk = KEYS;
    job.scale = 0.125f;
    job.dtype = DTYPE_F32;
    job.scratch = buffer + 2 * HEAD;
    const int64_t rounds = burst_rounds(simd->fma_burst) / 25 + 1;
    double bursts[BOUTS], tiles[BOUTS];
    for (int i = 0; i < BOUTS; i++) {
        tiles[i] = work(simd, &job, 5e-3);
        bursts[i] = burst_rate(simd->fma_burst, rounds);
    }
    peak_put(out, PEAK_FMA, middle(bursts, BOUTS));
    peak_put(out, PEAK_TILE, middle(tiles, BOUTS));
}

struct burst_all {
    double (*burst)(int64_t rounds);
    int64_t rounds;
};

static void burst_block(void *ctx, int64_t block, int thread)
{
    const struct burst_all *f = ctx;
    (void)block;
    (void)thread;
    (void)f->burst(f->rounds);
}

/* GFLOP/s. Four blocks a thread, handed out dynamically: a disturbed thread takes fewer. */
static double burst_once(struct burst_all f, struct pool *pool)
{
    enum { SHARE = 4 };
    const int64_t blocks = (int64_t)pool_threads(pool) * SHARE;
    const double flops = f.burst(1) * (double)f.rounds * (double)blocks;
    pool_rouse(pool);
    const double start = host_seconds();
    pool_run(pool, blocks, burst_block, &f);
    return flops / (host_seconds() - start) * 1e-9;
}

static double burst_all(double (*burst)(int64_t rounds), struct pool *pool)
{
    enum { TRIES = 8 };
    const struct burst_all f = {burst, burst_rounds(burst)};
    double best = 0;
    for (int i = 0; i < TRIES; i++)
        best = fmax(best, burst_once(f, pool));
    return best;
}

/* Products of 16 bits, where they have instructions. */
static void measure_dots(const struct cpu_simd *simd, struct pool *pool, struct peak *out)
{
    if (!simd->dot_burst)
        return;
    const double tflops = burst_all(simd->dot_burst, pool) * 1e-3;
    peak_put(out, PEAK_MMA_BF16, tflops);
    if (simd->f16_share > 0)
        peak_put(out, PEAK_MMA_F16, tflops * simd->f16_share);
}

/* ---- one thread and all, in turn ---- */

/* Heads of 512 queries over the same 1024 keys, which stay in the caches; four for each thread take it 3 to 5 ms. */
enum { EACH_MAX = 4, QUERIES = 512, SHARED_KEYS = 1024, COLUMNS = 64 };

/* The defaults of cpu_tiled, whose descriptor is not at hand here. */
static int64_t tiled_param(const struct cpu_launch *l, const char *name)
{
    (void)l;
    return !strcmp(name, "BR") ? 64 : !strcmp(name, "BC") ? 192 : 1;
}

/* GFLOP/s of cpu_tiled: the whole launch, by a pool, of so many heads for each thread. */
static double tiled_once(const struct cpu_simd *simd, struct pool *pool, int each, float *buffer)
{
    struct cpu_host host = cpu_host;
    host.param = tiled_param;
    const struct cpu_launch l = {.host = &host, .simd = simd, .dtype = DTYPE_F32, .pool = pool};
    const int heads = each * pool_threads(pool);
    const struct AttnArgs a = {.q = buffer,
                               .k = buffer,
                               .v = buffer,
                               .o = buffer + (size_t)SHARED_KEYS * COLUMNS,
                               .q_stride = {0, 0, COLUMNS},
                               .k_stride = {0, 0, COLUMNS},
                               .v_stride = {0, 0, COLUMNS},
                               .o_stride = {0, QUERIES * COLUMNS, COLUMNS},
                               .B = 1,
                               .H = heads,
                               .Hkv = heads,
                               .Sq = QUERIES,
                               .Sk = SHARED_KEYS,
                               .D = COLUMNS,
                               .scale = 0.125f};
    pool_rouse(pool);
    const double start = host_seconds();
    attn_cpu_tiled(&a, &l);
    return 4.0 * heads * QUERIES * SHARED_KEYS * COLUMNS / (host_seconds() - start) * 1e-9;
}

static void take_turns(const struct cpu_simd *simd, struct pool *one, struct pool *all,
                       float *buffer, json_t *turns)
{
    enum { ROUNDS_MIN = 3, ROUNDS = 25 };
    static const double slow_gflops = 10, seconds = 1; /* code that is watched for errors is slow */
    const struct burst_all f = {simd->fma_burst, burst_rounds(simd->fma_burst) / 5 + 1};
    const int each = tiled_once(simd, one, 1, buffer) < slow_gflops ? 1 : EACH_MAX;
    const double end = host_seconds() + seconds;
    for (int i = 0; i < ROUNDS && (i < ROUNDS_MIN || host_seconds() < end); i++)
        for (int k = 0; k < 2; k++) {
            const bool many = (i + k) % 2 != 0; /* forth and back: a drift takes from both alike */
            struct pool *pool = many ? all : one;
            const double tiled = tiled_once(simd, pool, each, buffer), fma = burst_once(f, pool);
            json_array_append_new(json_object_get(turns, many ? "fma_all" : "fma_one"),
                                  json_real(fma));
            json_array_append_new(json_object_get(turns, many ? "tiled_all" : "tiled_one"),
                                  json_real(tiled));
        }
}

void cpu_peak_together(const struct cpu_simd *simd, struct pool *pool, struct peak *out)
{
    const size_t keys = (size_t)SHARED_KEYS * COLUMNS,
                 outputs = (size_t)EACH_MAX * (size_t)pool_threads(pool) * QUERIES * COLUMNS;
    float *buffer =
        pool_threads(pool) > 1 ? mem_alloc_wide((keys + outputs) * sizeof *buffer) : NULL;
    if (!buffer)
        return;
    memset(buffer, 0x3d, (keys + outputs) * sizeof *buffer);
    struct pool *one = pool_new(1);
    out->turns =
        json_pack("{s:[], s:[], s:[], s:[]}", "fma_one", "fma_all", "tiled_one", "tiled_all");
    take_turns(simd, one, pool, buffer, out->turns);
    pool_free(one);
    free(buffer);
}

/* ---- memory ---- */

struct region {
    const struct cpu_simd *simd;
    unsigned char *data;
};

static void read_chunk(void *ctx, int64_t block, int thread)
{
    const struct region *r = ctx;
    (void)thread;
    (void)r->simd->read_burst((const float *)(const void *)(r->data + block * CHUNK_BYTES),
                              CHUNK_BYTES / 4);
}

static void copy_chunk(void *ctx, int64_t block, int thread)
{
    const struct region *r = ctx;
    (void)thread;
    memcpy(r->data + BUFFER_BYTES / 2 + block * CHUNK_BYTES, r->data + block * CHUNK_BYTES,
           CHUNK_BYTES);
}

/* Reads the first `bytes` again and again for about 20 ms, by one thread. */
static double cache_rate(const struct region *r, size_t bytes)
{
    enum { TRIES = 5 };
    const int64_t n = (int64_t)(bytes / 4 / 256 * 256);
    const int passes = (int)(32.0 * MIB / (double)bytes) + 1;
    double best = 0;
    if (n == 0)
        return REAL_UNKNOWN;
    (void)r->simd->read_burst((const float *)(const void *)r->data, n); /* bring it in */
    for (int i = 0; i < TRIES; i++) {
        const double start = host_seconds();
        for (int p = 0; p < passes; p++)
            (void)r->simd->read_burst((const float *)(const void *)r->data, n);
        const double rate = 4.0 * (double)n * passes / (host_seconds() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    return best;
}

/* The best of three passes over the whole buffer, flushed from the caches each time. */
static double cold_rate(struct region *r, struct pool *pool, size_t chunks, pool_body *body,
                        double bytes)
{
    enum { TRIES = 3 };
    double best = 0;
    for (int i = 0; i < TRIES; i++) {
        (void)host_evict(r->data, BUFFER_BYTES);
        pool_rouse(pool); /* 16 threads read it in a millisecond, and waking takes a tenth of one */
        const double start = host_seconds();
        pool_run(pool, (int64_t)chunks, body, r);
        const double rate = bytes / (host_seconds() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    return best;
}

/* Well inside L1, in the middle of L2, and in L3 far from both ends. */
static void measure_caches(const struct region *r, struct peak *out)
{
    const size_t l1 = host_cache_bytes(1), l2 = host_cache_bytes(2), l3 = host_cache_bytes(3);
    size_t in_l3 = 4 * l2 < l3 / 2 ? 4 * l2 : l3 / 2;
    in_l3 = in_l3 < BUFFER_BYTES / 2 ? in_l3 : BUFFER_BYTES / 2;
    if (l1)
        peak_put(out, PEAK_L1, cache_rate(r, l1 / 2));
    if (l2)
        peak_put(out, PEAK_L2, cache_rate(r, l2 / 2 < BUFFER_BYTES ? l2 / 2 : BUFFER_BYTES));
    if (l2 && in_l3 > l2)
        peak_put(out, PEAK_L3, cache_rate(r, in_l3));
}

enum status cpu_peak(const struct cpu_simd *simd, struct pool *pool, struct peak *out,
                     struct err *err)
{
    peak_init(out);
    struct region r = {simd, mem_alloc_wide(BUFFER_BYTES)};
    if (!r.data)
        return err_set(err, ST_FAIL, "no memory for a buffer of 128 MiB");
    memset(r.data, 0x3d, BUFFER_BYTES); /* real pages; as floats 0.046 */
    out->isa = xstrdup(simd->title);
    out->threads = pool_threads(pool);
    peak_put(out, PEAK_FMA_BURST, burst_peak(simd));
    working_peak(simd, (float *)(void *)r.data, out);
    peak_put(out, PEAK_FMA_ALL, burst_all(simd->fma_burst, pool));
    measure_dots(simd, pool, out);
    measure_caches(&r, out);
    peak_put(out, PEAK_DRAM,
             cold_rate(&r, pool, BUFFER_BYTES / CHUNK_BYTES, read_chunk, BUFFER_BYTES));
    peak_put(out, PEAK_COPY,
             cold_rate(&r, pool, BUFFER_BYTES / 2 / CHUNK_BYTES, copy_chunk, BUFFER_BYTES));
    peak_put(out, PEAK_CLOCK, host_clock_mhz());
    free(r.data);
    return ST_OK;
}
