/* bench.c - see bench.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/compile/compile.h"
#include "backend/compile/cubin_cache.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "kernel/blob.h"

static const char source_path[] = "kernels/peak/peak.cu";
static const double sample_s = 8e-3; /* a sample's work: long against reading clock and power */
static const double settle_s = 0.12; /* what is measured before counts for nothing */
static const double figure_s = 0.30; /* and then so long */
static const double launch_s = 1e-3; /* a launch's work: long against its own cost */

/* ---- samples ---- */

/* What was read while samples ran. */
struct readings {
    double rates[BENCH_SAMPLES], clocks[BENCH_SAMPLES];
    int n, nclocks;
    double power_w, temperature_c; /* highest */
    int looks, held[NVML_HELD_COUNT];
};

static void read_state(const struct gpu *g, struct readings *r)
{
    const double mhz = nvml_sm_clock_mhz(g->nvml);
    const unsigned held = nvml_held(g->nvml);
    if (!isnan(mhz))
        r->clocks[r->nclocks++] = mhz;
    r->power_w = fmax(r->power_w, nvml_power_w(g->nvml)); /* either may be NaN */
    r->temperature_c = fmax(r->temperature_c, nvml_temperature_c(g->nvml));
    r->looks++;
    for (int i = 0; i < NVML_HELD_COUNT; i++)
        r->held[i] += (int)(held >> i & 1);
}

/* Queues runs between two events. */
static enum status queue_timed(struct bench *b, bench_queue *queue, void *ctx, int count,
                               struct err *err)
{
    struct gpu *g = b->gpu;
    enum status st = gpu_check(g, "the peak", "cuEventRecord",
                               g->api.event_record(b->begin, g->streams[0]), err);
    if (st == ST_OK)
        st = queue(b, ctx, count, err);
    return st == ST_OK ? gpu_check(g, "the peak", "cuEventRecord",
                                   g->api.event_record(b->end, g->streams[0]), err)
                       : st;
}

/* Milliseconds of `count` runs, with a look at the device while they run (NULL: none). While b->gating they are
 * queued behind a gate, so that none of the host's time is in it (see timer.c): only for kernels that have run
 * before, for a driver that loads one, or a library that sets itself up, may wait for the stream. */
static enum status sample(struct bench *b, bench_queue *queue, void *ctx, int count,
                          struct readings *r, float *ms, struct err *err)
{
    struct gpu *g = b->gpu;
    const bool gated = b->gate && b->gating &&
                       g->api.stream_wait_value(g->streams[0], (cu_pointer)(uintptr_t)b->gate,
                                                ++b->turn, CU_WAIT_GEQ) == CU_SUCCESS;
    enum status st = queue_timed(b, queue, ctx, count, err);
    if (gated)
        __atomic_store_n(b->gate, b->turn, __ATOMIC_RELEASE);
    if (st == ST_OK && r)
        read_state(g, r);
    if (st == ST_OK)
        st =
            gpu_check(g, "the peak", "cuStreamSynchronize", g->api.stream_sync(g->streams[0]), err);
    if (st == ST_OK)
        st = gpu_check(g, "the peak", "cuEventElapsedTime",
                       g->api.event_elapsed(ms, b->begin, b->end), err);
    return st;
}

static double median(double *x, int n)
{
    if (!n)
        return REAL_UNKNOWN;
    qsort(x, (size_t)n, sizeof *x, number_order);
    return x[n / 2];
}

static void put_figure(struct bench *b, enum peak_id id, struct readings *r)
{
    struct ceiling *c = peak_put(b->out, id, median(r->rates, r->n));
    c->spread_pct = 100 * (r->rates[r->n * 3 / 4] - r->rates[r->n / 4]) / c->value;
    c->clock_mhz = median(r->clocks, r->nclocks);
    c->power_w = r->power_w;
    c->temperature_c = r->temperature_c;
    c->held = nvml_held_text(r->held, r->looks);
}

/* Runs that make a sample, from one that warms up and one that is timed. */
static enum status count_runs(struct bench *b, bench_queue *queue, void *ctx, int *count,
                              struct err *err)
{
    enum { PROBE = 2, MOST = 2000 };
    float ms = 0;
    enum status st = sample(b, queue, ctx, 1, NULL, &ms, err);
    if (st == ST_OK)
        st = sample(b, queue, ctx, PROBE, NULL, &ms, err);
    const double runs = ms > 0 ? ceil(sample_s / (ms * 1e-3 / PROBE)) : 1;
    *count = (int)fmin(fmax(runs, 1), MOST);
    return st;
}

enum status bench_measure(struct bench *b, enum peak_id id, const char *what, bench_queue *queue,
                          void *ctx, double work, struct err *err)
{
    struct readings r = {.power_w = REAL_UNKNOWN, .temperature_c = REAL_UNKNOWN};
    int count = 1;
    if (b->stopped || !b->watch->next(b->watch->ctx, what, 5)) {
        b->stopped = true;
        return ST_OK;
    }
    enum status st = count_runs(b, queue, ctx, &count, err);
    const double begin = seconds_now();
    while (st == ST_OK && r.n < BENCH_SAMPLES) {
        float ms = 0;
        const double passed = seconds_now() - begin;
        const bool settled = passed >= settle_s;
        if (passed > settle_s + figure_s && r.n >= 5)
            break;
        st = sample(b, queue, ctx, count, settled ? &r : NULL, &ms, err);
        if (st == ST_OK && !(ms > 0))
            st = err_set(err, ST_FAIL, "the peak: %s took %g ms: the driver's clock is wrong", what,
                         (double)ms);
        if (st == ST_OK && settled)
            r.rates[r.n++] = work > 0 ? work * count / (ms * 1e-3) : ms * 1e3 / count;
    }
    if (st == ST_OK)
        put_figure(b, id, &r);
    return st;
}

/* ---- code ---- */

/* Hopper's own instructions are of 9.0a alone. */
static void name_arch(const struct gpu *g, char *buf, size_t size)
{
    snprintf(buf, size, "--gpu-architecture=sm_%d%s", g->model.cc, g->model.cc == 90 ? "a" : "");
}

static enum status compile_source(const struct gpu *g, char **image, struct err *err)
{
    char arch[48];
    struct compile_result r;
    size_t len;
    name_arch(g, arch, sizeof arch);
    const char *const options[] = {"-std=c++17", arch, NULL};
    const struct blob *blob = blob_find(source_path);
    enum status st = compile_with(COMPILER_NVRTC, "version", NULL, 0, NULL, &r, err);
    if (st != ST_OK) {
        compile_clear(&r);
        return st;
    }
    char *source = xstrndup(blob->data, blob_size(blob)), *version = xstrdup(r.version);
    const char *texts[] = {source, arch, version, NULL};
    const struct cubin_key key = cubin_key(texts);
    compile_clear(&r);
    *image = cubin_get(key, &len);
    if (!*image) {
        st = compile_with(COMPILER_NVRTC, "peak.cu", source, blob_size(blob), options, &r, err);
        if (st == ST_OK && r.image)
            cubin_put(key, r.image, r.image_len);
        *image = r.image;
        r.image = NULL;
        compile_clear(&r);
    }
    free(source);
    free(version);
    return st == ST_OK && !*image ? err_set(err, ST_FAIL, "the compiler gave no code") : st;
}

/* Without a compiler the figures of our own kernels are unknown, and the rest is measured. */
static enum status load_code(struct bench *b, struct err *err)
{
    char *image = NULL;
    struct err why = ERR_INIT;
    struct gpu *g = b->gpu;
    if (!b->watch->next(b->watch->ctx, "compiling", 60)) {
        b->stopped = true;
        return ST_OK;
    }
    enum status st = compile_source(g, &image, &why);
    if (st == ST_OK)
        st = gpu_check(g, "the peak", "cuModuleLoadData", g->api.module_load(&b->module, image),
                       &why);
    free(image);
    if (st == ST_OK)
        return ST_OK;
    b->module = NULL;
    free(b->out->reason);
    b->out->reason = xasprintf("the kernels that measure have no code here: %s", why.text);
    return g->spent ? err_set(err, ST_FAIL, "%s", why.text) : ST_OK;
}

/* ---- a kernel ---- */

/* A launch of one of ours; its parameters are pointers to what lies in here. */
struct work {
    cu_function function;
    unsigned blocks, threads, smem;
    cu_pointer memory;
    unsigned long long items; /* of 16 bytes; 0: the kernel takes none */
    int rounds;
};

static enum status queue_kernel(struct bench *b, void *ctx, int count, struct err *err)
{
    struct work *w = ctx;
    struct gpu *g = b->gpu;
    void *with_items[] = {&w->memory, &w->items, &w->rounds}, *without[] = {&w->memory, &w->rounds};
    cu_result r = CU_SUCCESS;
    for (int i = 0; i < count && r == CU_SUCCESS; i++)
        r = g->api.launch(w->function, w->blocks, 1, 1, w->threads, 1, 1, w->smem, g->streams[0],
                          w->items ? with_items : without, NULL);
    return gpu_check(g, "the peak", "cuLaunchKernel", r, err);
}

/* False: the code for this device has no such kernel. */
static bool find_kernel(struct bench *b, const char *name, struct work *w)
{
    struct gpu *g = b->gpu;
    if (!b->module || g->api.module_function(&w->function, b->module, name) != CU_SUCCESS)
        return false;
    w->memory = b->memory;
    return !w->smem ||
           g->api.function_set(w->function, CU_FUNC_MAX_DYNAMIC_SMEM, (int)w->smem) == CU_SUCCESS;
}

/* Rounds that make a launch long enough, from a launch of a few. */
static enum status settle_rounds(struct bench *b, struct work *w, struct err *err)
{
    enum { FEW = 64, MOST = 1 << 22 };
    float ms = 0;
    w->rounds = FEW;
    enum status st = sample(b, queue_kernel, w, 1, NULL, &ms, err);
    if (st == ST_OK)
        st = sample(b, queue_kernel, w, 1, NULL, &ms, err);
    const double longer = ms > 0 ? launch_s / (ms * 1e-3) : 1;
    w->rounds = (int)fmin(fmax(ceil(FEW * longer), FEW), MOST);
    return st;
}

/* ---- arithmetic and shared memory ---- */

/* What a round of one block counts, in 1e-12 of the unit; `blocks` of an SM. */
static const struct arithmetic {
    enum peak_id id;
    const char *kernel, *what;
    unsigned blocks, threads, smem;
    double per_round; /* of a block, in units of the figure times 1e-9 or 1e-12 a second */
} arithmetic[] = {
    {PEAK_FMA_ALL, "peak_fma", "f32 multiply-adds", 4, 512, 0, 2 * 128 * 512 * 1e-9},
    {PEAK_EXP2, "peak_exp2", "powers of two", 4, 512, 0, 64 * 512 * 1e-9},
    {PEAK_SMEM, "peak_smem", "shared memory", 2, 1024, 0, 8 * 16 * 1024 * 1e-9},
    {PEAK_MMA_F16, "peak_mma_f16", "tensor cores, f16", 2, 256, 0, 16 * 4096.0 * 8 * 1e-12},
    {PEAK_MMA_BF16, "peak_mma_bf16", "tensor cores, bf16", 2, 256, 0, 16 * 4096.0 * 8 * 1e-12},
    {PEAK_MMA_TF32, "peak_mma_tf32", "tensor cores, TF32", 2, 256, 0, 16 * 2048.0 * 8 * 1e-12},
    {PEAK_MMA_F16, "peak_wgmma_f16", "tensor cores, f16", 1, 256, 3 * 49152,
     2 * 4 * 2.0 * 64 * 256 * 16 * 1e-12},
    {PEAK_MMA_BF16, "peak_wgmma_bf16", "tensor cores, bf16", 1, 256, 3 * 49152,
     2 * 4 * 2.0 * 64 * 256 * 16 * 1e-12},
    {PEAK_MMA_TF32, "peak_wgmma_tf32", "tensor cores, TF32", 1, 256, 3 * 49152,
     2 * 4 * 2.0 * 64 * 256 * 8 * 1e-12},
};

static enum status run_arithmetic(struct bench *b, const struct arithmetic *a, struct err *err)
{
    struct work w = {
        .threads = a->threads, .smem = a->smem, .blocks = a->blocks * (unsigned)b->gpu->model.sms};
    if (!find_kernel(b, a->kernel, &w))
        return ST_OK;
    enum status st = settle_rounds(b, &w, err);
    return st == ST_OK ? bench_measure(b, a->id, a->what, queue_kernel, &w,
                                       a->per_round * w.blocks * w.rounds, err)
                       : st;
}

/* Does the device have the faster instructions of its own? Then those of every chip are not asked. */
static bool is_outdone(struct bench *b, const struct arithmetic *a)
{
    struct work w = {.smem = 0};
    return str_starts(a->kernel, "peak_mma") && find_kernel(b, "peak_wgmma_f16", &w);
}

/* ---- memory ---- */

static const struct traffic {
    enum peak_id id;
    const char *kernel, *what;
    bool in_l2;
} traffic[] = {
    {PEAK_L2, "peak_read", "L2", true},
    {PEAK_DRAM, "peak_read", "DRAM, reading", false},
    {PEAK_WRITE, "peak_write", "DRAM, writing", false},
};

/* The L2 by a quarter of it: a chip may keep what it reads twice, in each half of its L2. DRAM by all of the
 * memory, which is many times the L2. */
static enum status run_traffic(struct bench *b, const struct traffic *t, struct err *err)
{
    enum { THREADS = 512, BLOCKS = 4, AT_ONCE = 8, ITEM = 16 };
    struct work w = {.threads = THREADS, .blocks = BLOCKS * (unsigned)b->gpu->model.sms};
    const unsigned long long step = (unsigned long long)w.blocks * THREADS * AT_ONCE;
    const double l2 = b->gpu->model.l2_bytes, bytes = t->in_l2 ? l2 / 4 : (double)b->bytes;
    if (!(bytes > 0) || !find_kernel(b, t->kernel, &w))
        return ST_OK;
    w.items = (unsigned long long)(bytes / ITEM) / step * step;
    if (!w.items && t->in_l2) { /* a small L2: fewer threads */
        w.blocks = (unsigned)b->gpu->model.sms;
        w.items = (unsigned long long)w.blocks * THREADS * AT_ONCE;
    }
    w.rounds = 1;
    enum status st = t->in_l2 ? settle_rounds(b, &w, err) : ST_OK;
    return st == ST_OK ? bench_measure(b, t->id, t->what, queue_kernel, &w,
                                       (double)w.items * ITEM * w.rounds * 1e-9, err)
                       : st;
}

/* The first half of the memory into the second, by the driver's own copy. Counted both ways, that is all of it. */
static enum status queue_copy(struct bench *b, void *ctx, int count, struct err *err)
{
    struct gpu *g = b->gpu;
    const size_t half = b->bytes / 2;
    cu_result r = CU_SUCCESS;
    (void)ctx;
    for (int i = 0; i < count && r == CU_SUCCESS; i++)
        r = g->api.copy_on(b->memory + half, b->memory, half, g->streams[0]);
    return gpu_check(g, "the peak", "cuMemcpyDtoDAsync", r, err);
}

enum status bench_fill(struct bench *b, enum dtype dtype, struct err *err)
{
    struct gpu *g = b->gpu;
    cu_function fill;
    int type = (int)dtype;
    unsigned long long words = b->bytes / 4;
    void *params[] = {&b->memory, &words, &type};
    if (!b->module || g->api.module_function(&fill, b->module, "peak_fill") != CU_SUCCESS)
        return err_set(err, ST_NO, "there is no kernel that fills memory");
    const cu_result r = g->api.launch(fill, 4 * (unsigned)g->model.sms, 1, 1, 512, 1, 1, 0,
                                      g->streams[0], params, NULL);
    return gpu_check(g, "the peak", "cuLaunchKernel", r, err);
}

/* ---- launches ---- */

enum { ROW = 200 }; /* launches in a row */

struct row {
    cu_function function;
    cu_pointer memory;
    cu_graph_exec graph;
    double host_s; /* that the launches took of the host */
    int count;
};

static cu_result launch_row(struct bench *b, struct row *r, int count)
{
    struct gpu *g = b->gpu;
    void *params[] = {&r->memory};
    cu_result done = CU_SUCCESS;
    for (int i = 0; i < count && done == CU_SUCCESS; i++)
        done = g->api.launch(r->function, 1, 1, 1, 32, 1, 1, 0, g->streams[0], params, NULL);
    return done;
}

static enum status queue_row(struct bench *b, void *ctx, int count, struct err *err)
{
    struct row *r = ctx;
    const double begin = seconds_now();
    const cu_result done = launch_row(b, r, count);
    r->host_s += seconds_now() - begin;
    r->count += count;
    return gpu_check(b->gpu, "the peak", "cuLaunchKernel", done, err);
}

static enum status queue_graph(struct bench *b, void *ctx, int count, struct err *err)
{
    struct row *r = ctx;
    struct gpu *g = b->gpu;
    cu_result done = CU_SUCCESS;
    for (int i = 0; i < count && done == CU_SUCCESS; i++)
        done = g->api.graph_launch(r->graph, g->streams[0]);
    return gpu_check(g, "the peak", "cuGraphLaunch", done, err);
}

/* False: this driver has no graphs, or does not take this one. */
static bool record_row(struct bench *b, struct row *r)
{
    struct gpu *g = b->gpu;
    cu_graph graph = NULL;
    if (!cuda_has_graphs(&g->api) ||
        g->api.capture_begin(g->streams[0], CU_CAPTURE_THREAD_LOCAL) != CU_SUCCESS)
        return false;
    const cu_result launched = launch_row(b, r, ROW);
    cu_result done = g->api.capture_end(g->streams[0], &graph);
    if (done == CU_SUCCESS && launched == CU_SUCCESS)
        done = g->api.graph_instantiate(&r->graph, graph, 0);
    if (graph)
        (void)g->api.graph_destroy(graph);
    return launched == CU_SUCCESS && done == CU_SUCCESS && r->graph;
}

static enum status run_graph(struct bench *b, enum peak_id id, const char *what, struct row *r,
                             struct err *err)
{
    if (!record_row(b, r))
        return ST_OK;
    enum status st = bench_measure(b, id, what, queue_graph, r, 0, err);
    b->out->at[id].value /= ROW; /* NaN where it was stopped */
    (void)b->gpu->api.graph_exec_destroy(r->graph);
    r->graph = NULL;
    return st;
}

/* One at a time, each between its own events: what a cold sample of the timer cannot be below. */
static enum status run_alone(struct bench *b, struct row *r, struct err *err)
{
    enum { TRIES = 101 };
    double us[TRIES];
    enum status st = ST_OK;
    if (b->stopped || !b->watch->next(b->watch->ctx, "single launches", 5))
        return ST_OK;
    for (int i = -5; i < TRIES && st == ST_OK; i++) {
        float ms = 0;
        b->gating = i >= 0;
        st = sample(b, queue_row, r, 1, NULL, &ms, err);
        us[i < 0 ? 0 : i] = ms * 1e3;
    }
    b->gating = false;
    if (st == ST_OK)
        peak_put(b->out, PEAK_LAUNCH_ALONE, median(us, TRIES));
    return st;
}

static enum status run_launches(struct bench *b, struct err *err)
{
    struct row empty = {.memory = b->memory}, step = empty;
    struct gpu *g = b->gpu;
    if (!b->module ||
        g->api.module_function(&empty.function, b->module, "peak_empty") != CU_SUCCESS ||
        g->api.module_function(&step.function, b->module, "peak_step") != CU_SUCCESS)
        return ST_OK;
    enum status st = run_alone(b, &empty, err);
    empty.host_s = empty.count = 0;
    if (st == ST_OK)
        st = bench_measure(b, PEAK_LAUNCH_STREAM, "launches", queue_row, &empty, 0, err);
    if (st == ST_OK && empty.count)
        peak_put(b->out, PEAK_LAUNCH_HOST, empty.host_s / empty.count * 1e6);
    if (st == ST_OK)
        st = run_graph(b, PEAK_LAUNCH_GRAPH, "launches in a graph", &empty, err);
    return st == ST_OK ? run_graph(b, PEAK_LAUNCH_STEP, "launches in a graph", &step, err) : st;
}

/* ---- all of it ---- */

/* Four GiB, or a quarter of what is free: a transfer lasts about a millisecond, far longer than its launch. */
static enum status take_memory(struct bench *b, struct err *err)
{
    struct gpu *g = b->gpu;
    const size_t most = (size_t)4 << 30;
    size_t free_bytes = 0, total = 0;
    (void)g->api.memory_info(&free_bytes, &total);
    b->bytes = free_bytes / 4 < most ? free_bytes / 4 : most;
    b->bytes = b->bytes / (1 << 20) * (1 << 20);
    return gpu_alloc(g, "the peak", b->bytes, &b->memory, err);
}

static void make_gate(struct bench *b)
{
    enum { MAP_HOST_MEMORY = 2 };
    void *p = NULL;
    if (!cuda_has_gate(&b->gpu->api) ||
        b->gpu->api.host_alloc(&p, sizeof *b->gate, MAP_HOST_MEMORY) != CU_SUCCESS)
        return;
    b->gate = p;
    *b->gate = 0;
}

enum status bench_open(struct bench *b, struct gpu *g, const struct peak_watch *watch,
                       struct peak *out, struct err *err)
{
    *b = (struct bench){.gpu = g, .watch = watch, .out = out};
    peak_init(out);
    if (nvml_driver(g->nvml))
        out->driver = xstrdup(nvml_driver(g->nvml));
    enum status st = gpu_check(g, NULL, "cuEventCreate", g->api.event_create(&b->begin, 0), err);
    if (st == ST_OK)
        st = gpu_check(g, NULL, "cuEventCreate", g->api.event_create(&b->end, 0), err);
    if (st == ST_OK)
        make_gate(b);
    if (st == ST_OK)
        st = take_memory(b, err);
    return st == ST_OK ? load_code(b, err) : st;
}

enum status bench_run(struct bench *b, struct err *err)
{
    enum {
        ARITHMETIC = sizeof arithmetic / sizeof *arithmetic,
        TRAFFIC = sizeof traffic / sizeof *traffic
    };
    enum status st = b->module ? bench_fill(b, DTYPE_F32, err) : ST_OK;
    for (int i = 0; i < TRAFFIC && st == ST_OK; i++)
        st = run_traffic(b, &traffic[i], err);
    if (st == ST_OK && b->module) /* else there is nothing but zeros to copy */
        st = bench_measure(b, PEAK_COPY, "DRAM, copying", queue_copy, NULL,
                           (double)(b->bytes / 2 * 2) * 1e-9, err);
    for (int i = 0; i < ARITHMETIC && st == ST_OK; i++)
        if (!is_outdone(b, &arithmetic[i]))
            st = run_arithmetic(b, &arithmetic[i], err);
    return st == ST_OK ? run_launches(b, err) : st;
}

void bench_close(struct bench *b)
{
    struct gpu *g = b->gpu;
    if (g->spent)
        return;
    if (b->module)
        (void)g->api.module_unload(b->module);
    if (b->begin)
        (void)g->api.event_destroy(b->begin);
    if (b->end)
        (void)g->api.event_destroy(b->end);
    if (b->gate)
        (void)g->api.host_free(b->gate);
    gpu_release(g, &b->memory);
}
