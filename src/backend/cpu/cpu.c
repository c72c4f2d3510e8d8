/* cpu.c - the CPU backend: kernels/cpu/ on a thread pool, behind the backend's vtable.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cpu/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/args.h"
#include "backend/cpu_host.h"
#include "backend/cpu/cpu_own.h"
#include "backend/cpu/cpu_peak.h"
#include "backend/cpu/sets.h"
#include "backend/foreign.h"
#include "backend/once.h"
#include "backend/peer/python.h"
#include "backend/pool.h"
#include "backend/spot.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"

struct slot {
    struct slot *next;
    cpu_kernel_fn *kernel; /* built in, or compiled here */
    foreign_fn *library;   /* a library's function, instead of `kernel` */
    const struct kernel_desc *desc;
    struct param_values params;
    struct PagedArgs args;
    bool paged; /* it reads K and V out of pages */
    size_t ws_bytes[DESC_WS_MAX];
    unsigned char *outputs; /* guard, tensor, guard: one for each set of inputs; fenced */
    size_t outputs_bytes;
    unsigned char *lse;         /* guard, a float for each row, guard; NULL: not asked */
    bool lse_is_fresh;          /* of the last run */
    int first, runs;            /* sets of the last sample; run i has set first + i */
    struct python_slot *python; /* it runs in Python, and the rest is empty; else NULL */
};

struct backend {
    struct pool *pool;
    const struct cpu_simd *simd;
    char *name;
    bool has_inputs;
    struct shape shape;
    uint64_t seed;
    struct cpu_sets sets;
    uint64_t spots; /* state of the random numbers behind spot checks */
    struct slot *slots;
    struct pythons *pythons; /* NULL: none was needed yet */
    int threads;
    const struct run_watch *watch; /* or NULL */
    double launched;               /* when the run or sample under way began; NaN: none is */
    unsigned char *sweep;          /* flush() on architectures without a flush instruction */
    size_t sweep_bytes;
};

/* ---- opening and closing ---- */

static enum status cpu_open(const struct backend_options *o, struct backend **out, struct err *err)
{
    const struct cpu_simd *simd;
    if (o->device != 0)
        return err_set(err, ST_USAGE, "device=%d: the CPU backend has one device, number 0",
                       o->device);
    enum status st = cpu_simd_pick(getenv("ATTNSCOPE_CPU"), &simd, err);
    if (st != ST_OK)
        return st;
    struct backend *b = xcalloc(1, sizeof *b);
    b->pool = pool_new(o->threads);
    b->simd = simd;
    b->threads = pool_threads(b->pool);
    b->launched = NAN;
    b->name = host_device_name(b->threads, simd->title);
    *out = b;
    return ST_OK;
}

static void free_slot(struct slot *s)
{
    if (s->python)
        python_unload(s->python);
    for (int i = 0; i < DESC_WS_MAX; i++)
        free(s->args.attn.ws[i]);
    host_fenced_free(s->outputs, s->outputs_bytes);
    free(s->lse);
    free(s);
}

static void drop_inputs(struct backend *b)
{
    while (b->slots) {
        struct slot *s = b->slots;
        b->slots = s->next;
        free_slot(s);
    }
    if (b->pythons)
        pythons_drop(b->pythons);
    sets_close(&b->sets);
    b->has_inputs = false;
}

static void cpu_close(struct backend *b)
{
    if (!b)
        return;
    drop_inputs(b);
    pythons_free(b->pythons);
    pool_free(b->pool);
    free(b->sweep);
    free(b->name);
    free(b);
}

/* Cores do no more than this at the highest clock that is built, whatever unit they use: vectors of the widest kind
 * in two pipes; for 16 bits a matrix unit. */
static struct backend_limits cpu_limits(const struct backend *b, enum dtype dtype)
{
    static const double clock_hz = 6.5e9, narrow = 32;
    const double lanes = b->simd->lanes > 16 ? b->simd->lanes : 16;
    const double f32 = 2 * 2 * lanes * clock_hz * b->threads;
    return (struct backend_limits){.flops_per_s = dtype == DTYPE_F32 ? f32 : narrow * f32,
                                   .least_s = 5e-9};
}

/* Blocks of a launch have ended. What it is told back is not heeded: a launch on threads cannot be stopped. */
static void tell_progress(void *ctx)
{
    const struct backend *b = ctx;
    (void)b->watch->go_on(b->watch->ctx, NAN, host_seconds() - b->launched);
}

static void cpu_watch(struct backend *b, const struct run_watch *w)
{
    b->watch = w;
    pool_watch(b->pool, w ? tell_progress : NULL, b);
}

static const char *cpu_device_name(const struct backend *b)
{
    return b->name;
}

/* ---- memory ---- */

/* Refuses in one sentence what would push the machine into swapping. `what` begins it. */
static enum status check_memory(const char *what, double bytes, struct err *err)
{
    const double available = mem_available_bytes();
    char need[NUMBER_BUF], have[NUMBER_BUF];
    if (!(bytes > available)) /* unknown: try */
        return ST_OK;
    return err_set(err, ST_FAIL, "%s needs %s of memory, of which %s can be had", what,
                   number_fmt_bytes(need, bytes), number_fmt_bytes(have, available));
}

static enum status allocate(const char *what, double bytes, void **out, struct err *err)
{
    enum status st = check_memory(what, bytes, err);
    if (st != ST_OK)
        return st;
    *out = mem_alloc_wide((size_t)bytes);
    return *out ? ST_OK : err_set(err, ST_FAIL, "%s: out of memory", what);
}

/* So many that all of them, outputs too, fit into the L2 cache of a core: what is hot stays so. Two at least,
 * that addresses change, unless they are large. */
static int count_sets(const struct shape *s, const struct tensors *host)
{
    enum { SMALL = 64 << 20 };
    const size_t pools = s->page ? 2 * page_pool_bytes(s) : 0, l2 = host_cache_bytes(2);
    const size_t each = 2 * host->q_bytes + 2 * host->kv_bytes + pools;
    const size_t fit = (l2 ? l2 : 1 << 20) / 2 / each;
    return fit > SETS_MAX ? SETS_MAX : fit > 1 ? (int)fit : each < SMALL ? 2 : 1;
}

static enum status cpu_set_inputs(struct backend *b, const struct problem *p, struct tensors *host,
                                  struct err *err)
{
    drop_inputs(b);
    b->shape = p->shape;
    b->seed = p->seed;
    enum status st =
        sets_open(&b->sets, &p->shape, p->seed, host, count_sets(&p->shape, host), err);
    b->has_inputs = st == ST_OK;
    return st;
}

static size_t tensor_bytes(const struct backend *b)
{
    return shape_q_elems(&b->shape) * dtype_size(b->shape.dtype);
}

static size_t cpu_output_bytes(const struct backend *b)
{
    return tensor_bytes(b) + 2 * OUTPUT_GUARD_BYTES;
}

/* From one output to the next. */
static size_t output_stride(const struct backend *b)
{
    enum { LINE = 64 };
    return (cpu_output_bytes(b) + LINE - 1) / LINE * LINE;
}

/* Set i's output, which begins with its guard. */
static unsigned char *output_of(const struct backend *b, const struct slot *s, int i)
{
    return s->outputs + (size_t)(i % b->sets.count) * output_stride(b);
}

/* ---- loading ---- */

static enum status make_workspace(struct slot *s, const struct shape *shape, struct err *err)
{
    const struct desc_env env = {
        .desc = s->desc, .shape = shape, .params = &s->params, .compiled_d = true};
    const struct expr_env values = desc_expr_env(&env);
    for (int i = 0; i < s->desc->nws; i++) {
        double bytes;
        char what[160];
        enum status st = expr_eval(s->desc->ws[i].bytes, &values, &bytes, err);
        snprintf(what, sizeof what, "%s: its workspace %s (%s bytes)", s->desc->name,
                 s->desc->ws[i].name, expr_text(s->desc->ws[i].bytes));
        if (st == ST_OK && !(bytes >= 0 && bytes < 0x1p62))
            st = err_set(err, ST_FAIL, "%s has no size", what);
        if (st == ST_OK)
            st = allocate(what, bytes, &s->args.attn.ws[i], err);
        if (st != ST_OK)
            return st;
        s->ws_bytes[i] = (size_t)bytes;
        if (s->desc->ws[i].once)
            memset(s->args.attn.ws[i], 0, s->ws_bytes[i]);
    }
    return ST_OK;
}

/* Keeps the workspace, which is there already. */
static void make_args(const struct backend *b, struct slot *s)
{
    struct PagedArgs a = paged_args(&b->shape, b->seed, s->paged);
    memcpy(a.attn.ws, s->args.attn.ws, sizeof a.attn.ws);
    s->args = a;
}

/* ---- peers and callables in Python ---- */

static enum status copy_inputs(void *ctx, void *q, void *k, void *v, struct err *err)
{
    const struct backend *b = ctx;
    (void)err;
    memcpy(q, sets_source(&b->sets, TENSOR_Q), b->sets.bytes[TENSOR_Q]);
    memcpy(k, sets_source(&b->sets, TENSOR_K), b->sets.bytes[TENSOR_K]);
    memcpy(v, sets_source(&b->sets, TENSOR_V), b->sets.bytes[TENSOR_V]);
    return ST_OK;
}

static enum status load_python(struct backend *b, struct slot *s, struct err *err)
{
    const struct python_problem p = {
        .shape = b->shape, .device = -1, .threads = b->threads, .copy = copy_inputs, .ctx = b};
    if (!b->pythons)
        b->pythons = pythons_new();
    char *name = desc_python_name(s->desc);
    enum status st = python_load(b->pythons, &p, name, &s->python, err);
    free(name);
    return st;
}

static json_t *cpu_describe(const struct backend *b, const struct slot *s)
{
    (void)b;
    return s && s->python ? python_describe(s->python) : json_object();
}

static json_t *cpu_describe_machine(const struct backend *b)
{
    return json_pack("{s:i, s:s}", "threads", b->threads, "launch", "direct");
}

/* ---- kernels ---- */

static enum status make_outputs(const struct backend *b, struct slot *s, struct err *err)
{
    const size_t bytes = output_stride(b) * (size_t)b->sets.count;
    enum status st = check_memory("the output", (double)bytes, err);
    if (st == ST_OK && !(s->outputs = host_fenced_alloc(bytes)))
        st = err_set(err, ST_FAIL, "the output: out of memory");
    s->outputs_bytes = bytes;
    return st;
}

static enum status load_kernel(struct backend *b, struct slot *s, struct err *err)
{
    enum status st = make_workspace(s, &b->shape, err);
    if (st == ST_OK)
        st = make_outputs(b, s, err);
    if (st != ST_OK)
        return st;
    for (int i = 0; i < b->sets.count; i++)
        output_guard(output_of(b, s, i) + OUTPUT_GUARD_BYTES, tensor_bytes(b));
    make_args(b, s);
    return ST_OK;
}

/* The function that is the kernel; none for one in Python. */
static enum status find_code(const struct backend *b, const struct kernel *k, struct slot *s,
                             struct err *err)
{
    const struct cpu_kernel *built_in = k->user ? NULL : cpu_kernel_find(k->name);
    if (s->desc->code == CODE_LIBRARY)
        return foreign_open(s->desc, b->shape.dtype, &s->library, err);
    if (k->user && s->desc->code == CODE_C)
        return cpu_own_open(s->desc, &s->kernel, err);
    if (built_in)
        s->kernel = built_in->run;
    return built_in || s->desc->peer
               ? ST_OK
               : err_set(err, ST_NO, "%s does not exist for the CPU", k->name);
}

static enum status cpu_load(struct backend *b, const struct kernel *k, const struct param_values *v,
                            struct slot **out, struct err *err)
{
    if (!b->has_inputs)
        return err_set(err, ST_FAIL, "%s: no inputs were set", k->name);
    if (!k->cpu)
        return err_set(err, ST_NO, "%s does not exist for the CPU", k->name);
    enum status st = desc_supports(k->cpu, &b->shape, v, 0, err);
    if (st != ST_OK)
        return st;
    struct slot *s = xcalloc(1, sizeof *s);
    s->desc = k->cpu;
    s->params = *v;
    s->paged = desc_pages(s->desc, &b->shape);
    st = find_code(b, k, s, err);
    if (st == ST_OK)
        st = s->desc->peer ? load_python(b, s, err) : load_kernel(b, s, err);
    if (st != ST_OK) {
        free_slot(s);
        return st;
    }
    s->next = b->slots;
    b->slots = s;
    *out = s;
    return ST_OK;
}

static void cpu_unload(struct backend *b, struct slot *s)
{
    struct slot **at = &b->slots;
    while (*at && *at != s)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = s->next;
    free_slot(s);
}

/* ---- running ---- */

/* The workspace, which the kernel must write before it reads, holds NaNs for a start, unless calls find it as
 * the one before has left it. Workspace beyond POISON_MAX bytes a buffer is left as it is: time. */
static void poison_workspace(struct slot *s)
{
    enum { POISON_MAX = 64 << 20 };
    for (int i = 0; i < s->desc->nws; i++)
        if (!s->desc->ws[i].once)
            memset(s->args.attn.ws[i], 0xff,
                   s->ws_bytes[i] < POISON_MAX ? s->ws_bytes[i] : POISON_MAX);
}

/* Does the kernel leave clear what it promises to? */
static enum status check_once(const struct slot *s, struct err *err)
{
    enum status st = ST_OK;
    for (int i = 0; i < s->desc->nws && st == ST_OK; i++)
        if (s->desc->ws[i].once)
            st = once_check(s->desc->name, s->desc->ws[i].name, s->args.attn.ws[i], s->ws_bytes[i],
                            err);
    return st;
}

static void put_inputs(const struct backend *b, const struct slot *s, int set, struct PagedArgs *a)
{
    a->attn.q = sets_tensor(&b->sets, set, TENSOR_Q);
    a->attn.k = sets_tensor(&b->sets, set, TENSOR_K);
    a->attn.v = sets_tensor(&b->sets, set, TENSOR_V);
    if (!s->paged)
        return;
    a->attn.k = sets_pool(&b->sets, set, TENSOR_K);
    a->attn.v = sets_pool(&b->sets, set, TENSOR_V);
    a->table = sets_table(&b->sets, set);
}

/* Run i of the sample, on its own inputs and output. */
static enum status launch(const struct backend *b, const struct slot *s, int i, struct err *err)
{
    const struct cpu_launch l = {.host = &cpu_host,
                                 .desc = s->desc,
                                 .params = &s->params,
                                 .dtype = b->shape.dtype,
                                 .pool = b->pool,
                                 .simd = b->simd};
    struct PagedArgs args = s->args;
    put_inputs(b, s, s->first + i, &args);
    args.attn.o = output_of(b, s, s->first + i) + OUTPUT_GUARD_BYTES;
    for (int k = 0; k < s->desc->nws; k++)
        if (s->desc->ws[k].zero)
            memset(s->args.attn.ws[k], 0, s->ws_bytes[k]);
    if (s->library)
        return foreign_call(s->desc, s->library, &args.attn, NULL, err);
    s->kernel(&args.attn, &l);
    if (pool_float_left(b->pool))
        return err_set(err, ST_FAIL, "%s: it left another rounding of floats behind in a thread",
                       s->desc->name);
    return ST_OK;
}

/* ---- around runs ---- */

static int cpu_sets(const struct backend *b, const struct slot *s)
{
    return s->python ? 1 : b->sets.count;
}

static enum status cpu_prepare(struct backend *b, struct slot *s, uint64_t turn, int runs,
                               struct err *err)
{
    if (runs < 1 || runs > cpu_sets(b, s))
        return err_set(err, ST_USAGE, "a sample of %d runs", runs);
    if (s->python)
        return python_prepare(s->python, turn, err);
    s->lse_is_fresh = false;
    s->first = turn ? (s->first + s->runs) % b->sets.count : 0;
    s->runs = runs;
    sets_fill(&b->sets, turn, s->first, runs);
    for (int i = 0; i < runs; i++)
        output_poison(output_of(b, s, s->first + i) + OUTPUT_GUARD_BYTES, tensor_bytes(b),
                      b->shape.dtype);
    return ST_OK;
}

static uint64_t draw(struct backend *b)
{
    b->spots = b->spots * 6364136223846793005u + 1442695040888963407u;
    return b->spots >> 20;
}

/* A row of one of its runs, at random. */
static bool row_is_right(struct backend *b, const struct slot *s)
{
    const int set = s->first + (int)(draw(b) % (uint64_t)s->runs);
    const int64_t rows = b->shape.B * b->shape.H * b->shape.Sq;
    const struct spot spot =
        spot_of_row(&b->shape, sets_tensor(&b->sets, set, TENSOR_Q),
                    sets_tensor(&b->sets, set, TENSOR_K), sets_tensor(&b->sets, set, TENSOR_V),
                    output_of(b, s, set) + OUTPUT_GUARD_BYTES, (int64_t)(draw(b) % (uint64_t)rows));
    return spot_is_right(&spot);
}

/* A few elements of every run's output, at random, and its last. */
static bool has_written(struct backend *b, const struct slot *s)
{
    enum { SPOTS = 16 };
    const bool f32 = b->shape.dtype == DTYPE_F32;
    const void *const pattern = f32 ? (const void *)output_poison_f32 : output_poison_f16;
    const size_t size = dtype_size(b->shape.dtype), n = tensor_bytes(b) / size;
    for (int i = 0; i < s->runs; i++) {
        const unsigned char *o = output_of(b, s, s->first + i) + OUTPUT_GUARD_BYTES;
        for (int k = 0; k < SPOTS; k++) {
            const size_t at = k ? (size_t)draw(b) % n : n - 1;
            if (memcmp(o + at * size, pattern, size) == 0)
                return false;
        }
    }
    return true;
}

static bool guard_intact(const unsigned char *guard)
{
    return *guard == output_guard_byte && !memcmp(guard, guard + 1, OUTPUT_GUARD_BYTES - 1);
}

static bool guards_intact(const struct backend *b, const struct slot *s)
{
    for (int i = 0; i < b->sets.count; i++) {
        const unsigned char *o = output_of(b, s, i);
        if (!guard_intact(o) || !guard_intact(o + OUTPUT_GUARD_BYTES + tensor_bytes(b)))
            return false;
    }
    return true;
}

static enum status cpu_inspect(struct backend *b, struct slot *s, bool all, struct err *err)
{
    const char *name = s->desc->name;
    if (s->python)
        return python_inspect(s->python, all, err);
    const char *tensor = sets_written(&b->sets);
    if (tensor)
        return err_caught(err, "%s: it overwrote its inputs (%s)", name, tensor);
    if (!has_written(b, s))
        return err_set(err, ST_FAIL,
                       "%s: its output was not written when it returned from a timed run", name);
    if (!row_is_right(b, s))
        return err_set(err, ST_FAIL, "%s: the output of a timed run is wrong", name);
    if (all && !guards_intact(b, s))
        return err_set(err, ST_FAIL, "%s: a timed run wrote before or behind its output", name);
    return all ? check_once(s, err) : ST_OK;
}

static size_t lse_bytes(const struct backend *b)
{
    return (size_t)(b->shape.B * b->shape.H * b->shape.Sq) * sizeof(float) + 2 * OUTPUT_GUARD_BYTES;
}

/* Room for a checked run's LSE; in timed runs nobody asks for it. */
static void poison_lse(const struct backend *b, struct slot *s)
{
    const size_t bytes = lse_bytes(b), own = bytes - 2 * OUTPUT_GUARD_BYTES;
    if (!s->lse)
        s->lse = xmalloc(bytes);
    output_guard(s->lse + OUTPUT_GUARD_BYTES, own);
    output_poison(s->lse + OUTPUT_GUARD_BYTES, own, DTYPE_F32);
}

static enum status cpu_read_lse(struct backend *b, struct slot *s, void *dst, struct err *err)
{
    if (s->python || !s->lse_is_fresh)
        return err_set(err, ST_NO, "%s was not asked for its LSE", s->desc->name);
    memcpy(dst, s->lse, lse_bytes(b));
    return ST_OK;
}

static enum status cpu_run(struct backend *b, struct slot *s, struct err *err)
{
    if (s->python)
        return python_run(s->python, err);
    enum status st = cpu_prepare(b, s, 0, 1, err);
    if (st != ST_OK)
        return st;
    output_guard(output_of(b, s, 0) + OUTPUT_GUARD_BYTES, tensor_bytes(b));
    poison_workspace(s);
    poison_lse(b, s);
    s->args.attn.lse = (float *)(void *)(s->lse + OUTPUT_GUARD_BYTES);
    b->launched = host_seconds();
    st = launch(b, s, 0, err);
    b->launched = NAN;
    s->args.attn.lse = NULL;
    s->lse_is_fresh = true;
    const char *tensor = sets_written(&b->sets);
    if (st == ST_OK && tensor)
        st = err_caught(err, "%s: it overwrote its inputs (%s)", s->desc->name, tensor);
    return st == ST_OK ? check_once(s, err) : st;
}

static enum status cpu_read_output(struct backend *b, struct slot *s, int i, void *dst,
                                   struct err *err)
{
    enum status st = s->python ? python_fetch(s->python, err) : ST_OK;
    if (st == ST_OK)
        memcpy(dst, s->python ? python_output(s->python) : output_of(b, s, s->first + i),
               cpu_output_bytes(b));
    return st;
}

/* What a kernel may find in the caches: inputs, outputs, workspaces. */
static bool evict_all(const struct backend *b)
{
    bool done = host_evict(b->sets.source, b->sets.source_bytes) &&
                host_evict(b->sets.map, b->sets.map_bytes);
    for (const struct slot *s = b->slots; done && s; s = s->next) {
        done = !s->outputs || host_evict(s->outputs, output_stride(b) * (size_t)b->sets.count);
        for (int i = 0; done && i < s->desc->nws; i++)
            done = host_evict(s->args.attn.ws[i], s->ws_bytes[i]);
    }
    size_t bytes = 0;
    const void *shared = b->pythons ? pythons_memory(b->pythons, &bytes) : NULL;
    return done && (!shared || host_evict(shared, bytes));
}

static void sweep_block(void *ctx, int64_t block, int thread)
{
    enum { LINE_BYTES = 64, BLOCK_BYTES = 1 << 20 };
    volatile unsigned char *p = (unsigned char *)ctx + block * BLOCK_BYTES;
    (void)thread;
    for (int i = 0; i < BLOCK_BYTES; i += LINE_BYTES)
        p[i] = (unsigned char)(p[i] + 1);
}

/* Where lines can be flushed by name, that is exact and costs by the size of the problem. Else a
 * buffer twice as large as the last-level cache and all L2 caches, 64 MiB at most, is rewritten: with
 * a larger cache some of the inputs may survive. */
static void cpu_flush(struct backend *b)
{
    enum { MIB = 1 << 20, SWEEP_MAX = 64 * MIB };
    if (!b->has_inputs || evict_all(b))
        return;
    if (!b->sweep) {
        size_t bytes =
            2 * (host_cache_bytes(3) + host_cache_bytes(2) * (size_t)pool_threads(b->pool));
        bytes = bytes == 0 || bytes > SWEEP_MAX ? SWEEP_MAX : (bytes + MIB - 1) / MIB * MIB;
        b->sweep = xcalloc(bytes, 1);
        b->sweep_bytes = bytes;
    }
    pool_run(b->pool, (int64_t)(b->sweep_bytes / MIB), sweep_block, b->sweep);
}

static enum status cpu_sample(struct backend *b, struct slot *s, int repeat, double *seconds,
                              double *clock_mhz, struct err *err)
{
    if (repeat < 1)
        return err_set(err, ST_USAGE, "a sample of %d runs", repeat);
    if (s->python) {
        *clock_mhz = NAN;
        return python_sample(s->python, repeat, false, false, seconds, err);
    }
    if (repeat > b->sets.count)
        return err_set(err, ST_USAGE, "a sample of %d runs has inputs for %d", repeat,
                       b->sets.count);
    pool_rouse(b->pool);
    const double start = b->launched = host_seconds();
    enum status st = ST_OK;
    for (int i = 0; i < repeat && st == ST_OK; i++)
        st = launch(b, s, i, err);
    *seconds = (host_seconds() - start) / repeat;
    b->launched = NAN;
    *clock_mhz = host_clock_mhz(); /* of this thread's core, just after */
    return st;
}

static int64_t parts_kept(const struct pool_stamps *s)
{
    return s->nparts < s->parts_room ? s->nparts : s->parts_room;
}

/* From the first block's begin to the last one's end. */
static int64_t stamped_ns(const struct pool_stamps *s)
{
    const int64_t n = s->count < s->room ? s->count : s->room;
    int64_t begin = INT64_MAX, end = INT64_MIN;
    for (int64_t i = 0; i < n; i++) {
        begin = s->at[i].begin_ns < begin ? s->at[i].begin_ns : begin;
        end = s->at[i].end_ns > end ? s->at[i].end_ns : end;
    }
    for (int64_t i = 0; i < parts_kept(s); i++)
        end = s->parts[i].end_ns > end ? s->parts[i].end_ns : end;
    return n ? end - begin : 0;
}

static enum status stamp_run(struct backend *b, struct slot *s, const struct trace_watch *watch,
                             struct pool_stamps *out, struct err *err)
{
    out->count = 0;
    out->nparts = 0;
    out->nlaunches = 0;
    watch->runs(watch->ctx);
    pool_rouse(b->pool); /* as before a timed run */
    pool_stamp(b->pool, out);
    const enum status st = launch(b, s, 0, err);
    pool_stamp(b->pool, NULL);
    return st;
}

static struct pool_stamps stamps_new(void)
{
    struct pool_stamps s = {.room = TRACE_BLOCKS_MAX, .parts_room = TRACE_PARTS_MAX};
    s.at = xcalloc(TRACE_BLOCKS_MAX, sizeof *s.at);
    s.parts = xcalloc(TRACE_PARTS_MAX, sizeof *s.parts);
    return s;
}

static void stamps_free(struct pool_stamps *s)
{
    free(s->at);
    free(s->parts);
}

/* Of several runs the shortest: in a single one another program may have had a thread's core, and the
 * picture would show that thread idle. Long runs are not repeated. */
static enum status stamp_runs(struct backend *b, struct slot *s, const struct trace_watch *watch,
                              struct pool_stamps *best, struct err *err)
{
    enum { RUNS = 25 };
    const double enough = 0.3; /* seconds */
    struct pool_stamps next = stamps_new();
    const double start = host_seconds();
    enum status st = stamp_run(b, s, watch, best, err);
    for (int i = 1; i < RUNS && st == ST_OK && host_seconds() - start < enough; i++) {
        st = stamp_run(b, s, watch, &next, err);
        if (stamped_ns(&next) >= stamped_ns(best))
            continue;
        const struct pool_stamps was = *best;
        *best = next;
        next = was;
    }
    stamps_free(&next);
    return st;
}

static char *say_parts(int64_t n)
{
    struct str s = {0};
    if (n == 0)
        return NULL;
    str_addf(&s,
             "%lld time%s a thread without a block took over a part of another's, drawn with that "
             "block's letter",
             (long long)n, n == 1 ? "" : "s");
    return str_take(&s);
}

/* A warm run first: what is drawn is the blocks, not the page faults. */
static enum status cpu_trace(struct backend *b, struct slot *s, const struct trace_watch *watch,
                             struct block_trace *out, struct err *err)
{
    struct pool_stamps stamps = stamps_new();
    *out = (struct block_trace){.unit = "thread", .rows = pool_threads(b->pool), .lanes = 1};
    watch->runs(watch->ctx);
    enum status st = launch(b, s, 0, err);
    if (st == ST_OK)
        st = stamp_runs(b, s, watch, &stamps, err);
    out->stamps = stamps.at;
    out->parts = stamps.parts;
    out->nparts = parts_kept(&stamps);
    out->note = say_parts(out->nparts);
    if (st != ST_OK)
        return st;
    if (!stamps.nlaunches)
        return err_set(err, ST_NO, "%s runs no blocks of ours, so there is nothing to stamp",
                       s->desc->name);
    for (; out->npasses < stamps.nlaunches && out->npasses < DESC_PASSES_MAX; out->npasses++)
        out->blocks[out->npasses] = stamps.launches[out->npasses];
    return block_trace_check(s->desc->name, stamps.count, err);
}

/* The best of several tries: see cpu_peak.c. */
static enum status cpu_measure_peak(struct backend *b, const struct peak_watch *watch,
                                    struct peak *out, struct err *err)
{
    enum { TRIES = 3 };
    static const double try_s = 10; /* it takes about one */
    (void)watch->next(watch->ctx, "cores and memory", try_s);
    enum status st = cpu_peak(b->simd, b->pool, out, err);
    for (int i = 1; st == ST_OK && i < TRIES; i++) {
        struct peak more;
        if (!watch->next(watch->ctx, "cores and memory", try_s))
            break;
        if (cpu_peak(b->simd, b->pool, &more, err) == ST_OK)
            peak_merge(out, &more);
        else
            peak_clear(&more);
    }
    if (st == ST_OK && watch->next(watch->ctx, "one thread and all in turn", try_s))
        cpu_peak_together(b->simd, b->pool, out);
    return st;
}

// clang-format off
BACKEND_ROW(cpu,
            .title = "CPU",
            .doc = "C kernels on threads",
            .side = SIDE_CPU,
            .rank = 1,
            .origin = "live",
            .devices = 1,
            .options = {"threads"},
            .times = true);
// clang-format on

const struct backend_ops backend_cpu = {
    .open = cpu_open,
    .close = cpu_close,
    .device_name = cpu_device_name,
    .watch = cpu_watch,
    .describe = cpu_describe,
    .describe_machine = cpu_describe_machine,
    .set_inputs = cpu_set_inputs,
    .load = cpu_load,
    .unload = cpu_unload,
    .run = cpu_run,
    .sets = cpu_sets,
    .prepare = cpu_prepare,
    .inspect = cpu_inspect,
    .limits = cpu_limits,
    .read_output = cpu_read_output,
    .read_lse = cpu_read_lse,
    .output_bytes = cpu_output_bytes,
    .flush = cpu_flush,
    .sample = cpu_sample,
    .trace = cpu_trace,
    .peak = cpu_measure_peak,
};
