/* test_cpu_kernels.c - the CPU kernels, their vector code, and the CPU backend around them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu/sets.h"
#include "backend/backend.h"
#include "backend/cpu/cpu_peak.h"
#include "base/sanitized.h"
#include "base/mem.h"
#include "cpu_cases.h"
#include "tap.h"

#if SANITIZED
enum { QUICK = true }; /* the plain build runs them all; here small shapes reach every loop */
#else
enum { QUICK = false };
#endif

/* All kernels see a problem while its right answer is there; the tests then report one kernel each. */
static void check_kernel(const char *name)
{
    static struct cpu_cases_count counts[CPU_KERNELS_MAX];
    static bool ran;
    if (!ran)
        cpu_cases_run(QUICK, counts);
    ran = true;
    const struct cpu_kernel *k = cpu_kernel_find(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    CU_ASSERT_EQUAL(counts[k - cpu_kernels].failed, 0);
    CU_ASSERT(counts[k - cpu_kernels].ran >= (QUICK ? 40 : 85));
}

#define KERNEL_TEST(k)         \
    static void test_##k(void) \
    {                          \
        check_kernel(#k);      \
    }
KERNEL_TEST(naive)
KERNEL_TEST(row_online)
KERNEL_TEST(fa1_2022)
KERNEL_TEST(qtile_seq)
KERNEL_TEST(fa2)
KERNEL_TEST(splitkv)
KERNEL_TEST(cpu_tiled)
KERNEL_TEST(decode_splitkv)

/* As many as are tested above; cpu_cases_run() runs them all. */
static void test_all_kernels(void)
{
    enum { TESTED = 8 };
    int n = 0;
    while (cpu_kernels[n].name)
        n++;
    CU_ASSERT_EQUAL(n, TESTED);
}

static void test_exp2(void)
{
    for (const struct cpu_simd *const *s = cpu_simd_table(); *s; s++)
        if (cpu_simd_usable(*s))
            CU_ASSERT(cpu_cases_exp2_error(*s) < 2.5e-7);
}

static void test_conversions(void)
{
    for (const struct cpu_simd *const *s = cpu_simd_table(); *s; s++)
        if (cpu_simd_usable(*s))
            CU_ASSERT_EQUAL(cpu_cases_conversions(*s), 0);
}

static void test_pick(void)
{
    const struct cpu_simd *s = NULL;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(cpu_simd_pick(NULL, &s, &err), ST_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    CU_ASSERT(cpu_simd_usable(s));
    CU_ASSERT_EQUAL(cpu_simd_pick("generic", &s, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(s->name, "generic");
    CU_ASSERT_EQUAL(cpu_simd_pick("sse9", &s, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "sse9"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "generic"));
}

/* ---- the backend ---- */

static struct registry *registry;
static struct tensors tensors;
static struct problem problem;

static struct backend *open_with_inputs(const struct backend_ops *ops, const char *shape)
{
    struct err err = ERR_INIT;
    struct backend *b = NULL;
    const struct backend_options o = {.threads = 2, .streams = 1};
    problem = PROBLEM_DEFAULT;
    CU_ASSERT_EQUAL(shape_parse(shape, &problem.shape, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(tensors_make(&problem, &tensors, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(ops->open(&o, &b, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(ops->set_inputs(b, &problem, &tensors, &err), ST_OK);
    registry = registry_new();
    return b;
}

static void close_all(const struct backend_ops *ops, struct backend *b)
{
    ops->close(b);
    tensors_free(&tensors);
    registry_free(registry);
}

static enum status load(const struct backend_ops *ops, struct backend *b, const char *name,
                        struct slot **slot, struct err *err)
{
    const struct kernel *k = registry_find(registry, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    CU_ASSERT_PTR_NOT_NULL_FATAL(k->cpu);
    const struct param_values v = k->cpu->defaults;
    return ops->load(b, k, &v, slot, err);
}

static void test_backend_runs(void)
{
    const struct backend_ops *ops = backend_find("cpu");
    struct err err = ERR_INIT;
    struct slot *fast, *naive;
    struct backend *b = open_with_inputs(ops, "B=1 H=2 S=100 D=24 f16");
    CU_ASSERT_PTR_NOT_NULL(strstr(ops->device_name(b), "2 threads"));
    CU_ASSERT_EQUAL_FATAL(load(ops, b, "cpu_tiled", &fast, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(load(ops, b, "naive", &naive, &err), ST_OK);
    CU_ASSERT_EQUAL(ops->run(b, fast, &err), ST_OK);
    CU_ASSERT_EQUAL(ops->run(b, naive, &err), ST_OK);

    const size_t bytes = ops->output_bytes(b), tensor = 2 * 100 * 24 * 2;
    CU_ASSERT_EQUAL(bytes, tensor + 2 * (size_t)OUTPUT_GUARD_BYTES);
    unsigned char *x = xmalloc(bytes), *y = xmalloc(bytes);
    CU_ASSERT_EQUAL(ops->read_output(b, fast, 0, x, &err), ST_OK);
    CU_ASSERT_EQUAL(ops->read_output(b, naive, 0, y, &err), ST_OK);
    CU_ASSERT_EQUAL(x[0], output_guard_byte);
    CU_ASSERT_EQUAL(x[OUTPUT_GUARD_BYTES - 1], output_guard_byte);
    CU_ASSERT_EQUAL(x[bytes - 1], output_guard_byte);
    double worst = 0;
    for (size_t i = 0; i < tensor / 2; i++)
        worst = fmax(worst, fabs(dtype_get(DTYPE_F16, x + OUTPUT_GUARD_BYTES, i) -
                                 dtype_get(DTYPE_F16, y + OUTPUT_GUARD_BYTES, i)));
    CU_ASSERT(worst < 2e-3);
    CU_ASSERT(worst == worst);

    double seconds = 0, mhz = 0;
    ops->flush(b);
    CU_ASSERT_EQUAL(ops->sample(b, fast, 3, &seconds, &mhz, &err), ST_OK);
    CU_ASSERT(seconds > 0 && seconds < 10);
    CU_ASSERT(isnan(mhz) || (mhz > 100 && mhz < 20000));
    CU_ASSERT_EQUAL(ops->sample(b, fast, 0, &seconds, &mhz, &err), ST_USAGE);
    ops->unload(b, fast);
    CU_ASSERT_EQUAL(ops->run(b, naive, &err), ST_OK);
    free(x);
    free(y);
    close_all(ops, b);
}

/* Every run of a sample has inputs and an output of its own; what happens to either is told. */
static void test_samples_are_looked_at(void)
{
    const struct backend_ops *ops = backend_find("cpu");
    struct err err = ERR_INIT;
    struct slot *s;
    double seconds, mhz;
    struct backend *b = open_with_inputs(ops, "B=1 H=2 S=40 D=16 f32");
    CU_ASSERT_EQUAL_FATAL(load(ops, b, "cpu_tiled", &s, &err), ST_OK);
    CU_ASSERT(ops->sets(b, s) >= 3);
    CU_ASSERT_EQUAL(ops->prepare(b, s, 7, 3, &err), ST_OK);
    CU_ASSERT_EQUAL(ops->inspect(b, s, true, &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cpu_tiled: its output was not written"));
    CU_ASSERT_EQUAL(ops->sample(b, s, 3, &seconds, &mhz, &err), ST_OK);
    for (int i = 0; i < 50; i++) /* rows at random */
        CU_ASSERT_EQUAL(ops->inspect(b, s, true, &err), ST_OK);
    const size_t bytes = ops->output_bytes(b);
    char *first = xmalloc(bytes), *second = xmalloc(bytes);
    CU_ASSERT_EQUAL(ops->read_output(b, s, 0, first, &err), ST_OK);
    CU_ASSERT_EQUAL(ops->read_output(b, s, 1, second, &err), ST_OK);
    CU_ASSERT_NOT_EQUAL(memcmp(first, second, bytes), 0);
    CU_ASSERT_EQUAL(ops->prepare(b, s, 8, ops->sets(b, s) + 1, &err), ST_USAGE);
    CU_ASSERT_EQUAL(ops->sample(b, s, ops->sets(b, s) + 1, &seconds, &mhz, &err), ST_USAGE);
    free(first);
    free(second);
    close_all(ops, b);
}

/* A write is noted, allowed, and undone by the next filling. */
static void test_inputs_are_protected(void)
{
    struct problem p = PROBLEM_DEFAULT;
    struct tensors t;
    struct cpu_sets sets;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(shape_parse("B=1 H=2 S=40 D=16 f32", &p.shape, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(tensors_make(&p, &t, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(sets_open(&sets, &p.shape, p.seed, &t, 2, &err), ST_OK);
    sets_fill(&sets, 0, 0, 2);
    CU_ASSERT_PTR_NULL(sets_written(&sets));
    volatile char *k = (char *)(uintptr_t)sets_tensor(&sets, 1, TENSOR_K);
    const char before = k[5];
    k[5] = (char)(before + 1);
    CU_ASSERT_EQUAL(k[5], (char)(before + 1));
    CU_ASSERT_PTR_NOT_NULL_FATAL(sets_written(&sets));
    CU_ASSERT_STRING_EQUAL(sets_written(&sets), "K");
    sets_fill(&sets, 0, 0, 2);
    CU_ASSERT_EQUAL(k[5], before);
    CU_ASSERT_PTR_NULL(sets_written(&sets));
    sets_close(&sets);
    tensors_free(&t);
}

static void test_backend_refuses(void)
{
    const struct backend_ops *ops = backend_find("cpu");
    struct err err = ERR_INIT;
    struct slot *slot = NULL;
    struct backend *b = NULL;
    const struct backend_options second = {.device = 1};
    CU_ASSERT_EQUAL(ops->open(&second, &b, &err), ST_USAGE);
    setenv("ATTNSCOPE_CPU", "altivec", 1);
    CU_ASSERT_EQUAL(ops->open(&(struct backend_options){0}, &b, &err), ST_USAGE);
    setenv("ATTNSCOPE_CPU", "generic", 1);
    b = open_with_inputs(ops, "B=1 H=32 Sq=1M Sk=64 D=1 f16");
    CU_ASSERT_PTR_NOT_NULL(strstr(ops->device_name(b), "plain C"));
    unsetenv("ATTNSCOPE_CPU");
    /* A workspace beyond any memory; the shape itself is small. */
    CU_ASSERT_EQUAL_FATAL(load(ops, b, "cpu_tiled", &slot, &err), ST_OK);
    close_all(ops, b);
    b = open_with_inputs(ops, "B=1 H=64 S=512k D=1 f16");
    CU_ASSERT_EQUAL(load(ops, b, "naive", &slot, &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "scores"));
    close_all(ops, b);
    CU_ASSERT_PTR_NULL(backend_find("tpu"));
}

/* Two threads that wait for each other get nothing done beside many other programs. */
static bool crowded(void)
{
    double load = 0;
    const bool known = getloadavg(&load, 1) == 1;
    if (known && load > 2.0 * (double)sysconf(_SC_NPROCESSORS_ONLN))
        printf("# the machine is too busy to judge two threads: load %.1f\n", load);
    return known && load > 2.0 * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static void test_peak(void)
{
    struct pool *pool = pool_new(2);
    struct peak p;
    struct err err = ERR_INIT;
    const struct cpu_simd *best = NULL;
    CU_ASSERT_EQUAL_FATAL(cpu_simd_pick(NULL, &best, &err), ST_OK);
    /* On a busy machine another program may take a core just while both are measured: again then. */
    const time_t end = time(NULL) + 60;
    for (int i = 0; !i || time(NULL) < end; i++) {
        if (i)
            peak_clear(&p);
        CU_ASSERT_EQUAL_FATAL(cpu_peak(best, pool, &p, &err), ST_OK);
        if (p.at[PEAK_FMA_ALL].value > 0.5 * p.at[PEAK_FMA].value)
            break;
    }
    CU_ASSERT_STRING_EQUAL(p.isa, best->title);
    CU_ASSERT_EQUAL(p.threads, 2);
    /* No core does more than 4 vectors of multiply-adds a cycle, nor less than one in 8 cycles. */
    CU_ASSERT(p.at[PEAK_FMA].value > 0.05 * best->lanes);
    CU_ASSERT(p.at[PEAK_FMA].value < 4 * 2 * 6.5 * best->lanes);
    CU_ASSERT(p.at[PEAK_FMA_ALL].value > 0.5 * p.at[PEAK_FMA].value || crowded());
    /* A tile has something else to do, too; where every access is checked, much. */
    CU_ASSERT(p.at[PEAK_TILE].value > (SANITIZED ? 1e-4 : 0.3) * p.at[PEAK_FMA].value);
    CU_ASSERT(p.at[PEAK_TILE].value < 1.1 * p.at[PEAK_FMA].value || crowded());
    CU_ASSERT(p.at[PEAK_DRAM].value > 0.01 && p.at[PEAK_COPY].value > 0.01);
    CU_ASSERT(isnan(p.at[PEAK_L1].value) || p.at[PEAK_L1].value > p.at[PEAK_DRAM].value / 100);
    peak_clear(&p);
    pool_free(pool);
}

/* As many of each, all of them rates; of one thread there is nothing to tell. */
static void test_together(void)
{
    static const char *const names[] = {"fma_one", "fma_all", "tiled_one", "tiled_all"};
    const struct cpu_simd *best = NULL;
    struct pool *one = pool_new(1), *two = pool_new(2);
    struct peak p;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(cpu_simd_pick(NULL, &best, &err), ST_OK);
    peak_init(&p);
    cpu_peak_together(best, one, &p);
    CU_ASSERT_PTR_NULL(p.turns);
    cpu_peak_together(best, two, &p);
    const size_t n = json_array_size(json_object_get(p.turns, names[0]));
    CU_ASSERT(n >= 3);
    for (int i = 0; i < 4; i++) {
        const json_t *list = json_object_get(p.turns, names[i]);
        const double most = (i % 2 + 1) * 4 * 2 * 6.5 * best->lanes;
        CU_ASSERT_EQUAL(json_array_size(list), n);
        for (size_t k = 0; k < n; k++) {
            const double rate = json_number_value(json_array_get(list, k));
            CU_ASSERT(rate > 0 && rate < most);
        }
    }
    peak_clear(&p);
    pool_free(one);
    pool_free(two);
}

static const struct tap_test tests[] = {
    {"naive", test_naive},
    {"row_online", test_row_online},
    {"fa1_2022", test_fa1_2022},
    {"qtile_seq", test_qtile_seq},
    {"fa2", test_fa2},
    {"splitkv", test_splitkv},
    {"cpu_tiled", test_cpu_tiled},
    {"decode_splitkv", test_decode_splitkv},
    {"no kernel is without a test", test_all_kernels},
    {"2^x is right to 2.5e-7", test_exp2},
    {"conversions agree with spec/dtype.h to the bit", test_conversions},
    {"ATTNSCOPE_CPU picks or explains", test_pick},
    {"the backend runs, guards, times", test_backend_runs},
    {"runs of a sample are apart, and looked at", test_samples_are_looked_at},
    {"inputs are protected, and restored", test_inputs_are_protected},
    {"the backend refuses in a sentence", test_backend_refuses},
    {"peaks are plausible", test_peak},
    {"one thread and all are timed in turn", test_together},
};

TAP_MAIN("cpu_kernels", tests)
