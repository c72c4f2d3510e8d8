/* test_profile.c - hardware counters of the CUDA backend, on a fake driver and a fake CUPTI whose
 * answers are scripted, and the rows that `profile` makes of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fakecuda/fakecuda.h"
#include "backend/cuda/cuda.h"
#include "base/mem.h"
#include "base/str.h"
#include "command/show/profile.h"

static struct registry *registry;

/* ---- a backend on the fakes ---- */

static void *fake_library(const char *variable, const char *name)
{
    char *path = xasprintf("%s/%s", getenv("ATTNSCOPE_FAKECUDA"), name);
    setenv(variable, path, 1);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fatal("%s", dlerror());
    free(path);
    return library;
}

static int ask(const char *variable, const char *name)
{
    void *library = dlopen(getenv(variable), RTLD_NOW | RTLD_LOCAL);
    fake_number_fn *f = (fake_number_fn *)dlsym(library, name);
    return f ? f() : -1;
}

static int calls(const char *variable, const char *entry)
{
    void *library = dlopen(getenv(variable), RTLD_NOW | RTLD_LOCAL);
    return ((fake_calls_fn *)dlsym(library, "fake_calls"))(entry);
}

struct rig {
    struct backend *b;
    struct slot *s;
    struct problem p;
    struct tensors t;
    json_t *out;
    struct err err;
};

static void rig_open(struct rig *r, const char *kernel, const char *script)
{
    const struct backend_options o = {.streams = 1};
    const struct kernel *k = registry_find(registry, kernel);
    const struct param_values v = k->cuda->defaults;
    *r = (struct rig){.p = PROBLEM_DEFAULT, .out = json_object(), .err = ERR_INIT};
    fake_library("ATTNSCOPE_LIBCUDA", "fakecuda.so");
    fake_library("ATTNSCOPE_LIBNVRTC", "fakecuda.so");
    fake_library("ATTNSCOPE_LIBCUPTI", "fakecupti.so");
    setenv("FAKECUDA", script, 1);
    (void)ask("ATTNSCOPE_LIBCUDA", "fake_reset");
    (void)ask("ATTNSCOPE_LIBCUPTI", "fake_cupti_reset");
    CU_ASSERT_EQUAL_FATAL(shape_parse("B=1 H=1 S=16 D=32", &r->p.shape, &r->err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(tensors_make(&r->p, &r->t, &r->err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(backend_cuda.open(&o, &r->b, &r->err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(backend_cuda.set_inputs(r->b, &r->p, &r->t, &r->err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(backend_cuda.load(r->b, k, &v, &r->s, &r->err), ST_OK);
}

static enum status rig_profile(struct rig *r, bool cold)
{
    json_object_clear(r->out);
    r->err = ERR_INIT;
    return backend_cuda.profile(r->b, r->s, cold, r->out, &r->err);
}

static void rig_close(struct rig *r)
{
    CU_ASSERT_EQUAL(ask("ATTNSCOPE_LIBCUPTI", "fake_cupti_open"), 0); /* nothing stays open */
    backend_cuda.close(r->b);
    tensors_free(&r->t);
    problem_clear(&r->p);
    json_decref(r->out);
}

/* NaN where it is null or missing. */
static double counted(const struct rig *r, const char *field)
{
    const json_t *v = json_object_get(json_object_get(r->out, "counters"), field);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static const char *text(const struct rig *r, const char *key)
{
    return json_string_value(json_object_get(r->out, key));
}

#define ASSERT_SAYS(r, word) CU_ASSERT_PTR_NOT_NULL(strstr((r).err.text, word))

/* A profile that must be refused with a sentence that has `word` in it, and leaves the plan. */
static void refuses(const char *script, const char *word)
{
    struct rig r;
    rig_open(&r, "row_online", script);
    CU_ASSERT_EQUAL(rig_profile(&r, true), ST_NO);
    if (!strstr(r.err.text, word))
        printf("# %s: %s\n", script, r.err.text);
    ASSERT_SAYS(r, word);
    CU_ASSERT_PTR_NULL(json_object_get(r.out, "counters"));
    CU_ASSERT(json_is_object(json_object_get(r.out, "plan")));
    rig_close(&r);
}

/* ---- success ---- */

static void counts(void)
{
    struct rig r;
    rig_open(&r, "row_online", "");
    CU_ASSERT_EQUAL_FATAL(rig_profile(&r, true), ST_OK);
    CU_ASSERT_EQUAL(counted(&r, "duration_us"), 50); /* CUPTI says 50000 ns */
    CU_ASSERT_EQUAL(counted(&r, "elapsed_cycles"), 90000);
    CU_ASSERT_DOUBLE_EQUAL(counted(&r, "sm_clock_mhz"), 1800, 1e-6);
    CU_ASSERT_EQUAL(counted(&r, "dram_bytes"), 1048576);
    CU_ASSERT_EQUAL(counted(&r, "dram_read_bytes"), 786432);
    CU_ASSERT_EQUAL(counted(&r, "tensor_pct"), 25);
    CU_ASSERT_EQUAL(counted(&r, "sm_active_cycles_max"), 75000);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(r.out, "replays")), 3);
    CU_ASSERT_STRING_EQUAL(text(&r, "replay"), "run");
    CU_ASSERT_STRING_EQUAL(text(&r, "l2"), "cold");
    CU_ASSERT_EQUAL(json_array_size(json_object_get(r.out, "launches")), 1);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_object_get(r.out, "plan"), "regs")),
                    32);
    CU_ASSERT_EQUAL(ask("ATTNSCOPE_LIBCUDA", "fake_gates"), 0); /* nothing was held back */
    rig_close(&r);
}

/* Cold: a flush before each of three replays. The kernel itself fills nothing. */
static void flushes_when_cold(void)
{
    for (int cold = 0; cold < 2; cold++) {
        struct rig r;
        rig_open(&r, "row_online", "");
        CU_ASSERT_EQUAL_FATAL(rig_profile(&r, cold), ST_OK);
        CU_ASSERT_EQUAL(ask("ATTNSCOPE_LIBCUDA", "fake_sweeps"), cold ? 3 : 0);
        CU_ASSERT_EQUAL(calls("ATTNSCOPE_LIBCUDA", "cuLaunchKernel"),
                        3); /* sweeps are counted above */
        CU_ASSERT_STRING_EQUAL(text(&r, "l2"), cold ? "cold" : "hot");
        rig_close(&r);
    }
}

static void several_launches(void)
{
    struct rig r;
    rig_open(&r, "splitkv", "");
    CU_ASSERT_EQUAL_FATAL(rig_profile(&r, true), ST_OK);
    const json_t *list = json_object_get(r.out, "launches");
    CU_ASSERT_EQUAL_FATAL(json_array_size(list), 2);
    CU_ASSERT_EQUAL(json_number_value(json_object_get(json_array_get(list, 1), "dram_bytes")),
                    2097152);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(list, 1), "name")),
                           "combine");
    CU_ASSERT_EQUAL(counted(&r, "dram_bytes"), 3 * 1048576);
    CU_ASSERT_EQUAL(counted(&r, "duration_us"), 150);
    CU_ASSERT_DOUBLE_EQUAL(counted(&r, "tensor_pct"), (25 * 50 + 50 * 100) / 150.0, 1e-9);
    CU_ASSERT(isnan(counted(&r, "sm_active_cycles_max")));
    rig_close(&r);
}

/* Twice in a row, as `watch` would. */
static void again(void)
{
    struct rig r;
    rig_open(&r, "row_online", "");
    CU_ASSERT_EQUAL(rig_profile(&r, true), ST_OK);
    CU_ASSERT_EQUAL(rig_profile(&r, false), ST_OK);
    CU_ASSERT_EQUAL(counted(&r, "dram_bytes"), 1048576);
    rig_close(&r);
}

static void falls_back_to_replay_by_launch(void)
{
    struct rig r;
    rig_open(&r, "splitkv", "user=no");
    CU_ASSERT_EQUAL_FATAL(rig_profile(&r, true), ST_OK);
    CU_ASSERT_STRING_EQUAL(text(&r, "replay"), "launch");
    CU_ASSERT_STRING_EQUAL(text(&r, "l2"), "mixed"); /* only the first replay began cold */
    CU_ASSERT_EQUAL(counted(&r, "dram_bytes"), 3 * 1048576);
    rig_close(&r);
}

/* ---- what a chip lacks is unknown, never zero ---- */

static void missing_metrics(void)
{
    struct rig r;
    rig_open(&r, "row_online", "lacks=lts__t_bytes");
    CU_ASSERT_EQUAL_FATAL(rig_profile(&r, true), ST_OK);
    CU_ASSERT(isnan(counted(&r, "l2_bytes")));
    CU_ASSERT(json_is_null(json_object_get(json_object_get(r.out, "counters"), "l2_bytes")));
    CU_ASSERT_EQUAL(counted(&r, "dram_bytes"), 1048576);
    rig_close(&r);
    rig_open(&r, "row_online", "lacks=dram__bytes_read"); /* the next name of the table */
    CU_ASSERT_EQUAL_FATAL(rig_profile(&r, true), ST_OK);
    CU_ASSERT_EQUAL(counted(&r, "dram_read_bytes"), 786431);
    rig_close(&r);
    rig_open(&r, "row_online", "blind=lts"); /* known, but it could not be counted */
    CU_ASSERT_EQUAL_FATAL(rig_profile(&r, true), ST_OK);
    CU_ASSERT(isnan(counted(&r, "l2_bytes")) && isnan(counted(&r, "l2_pct")));
    rig_close(&r);
    refuses("lacks=__", "knows none of ours");
}

/* ---- refusals, each with its remedy ---- */

static void permissions(void)
{
    refuses("cuptiRangeProfilerEnable:1=35", "NVreg_RestrictProfilingToAdminUsers=0");
    refuses("cuptiProfilerGetCounterAvailability:1=35", "ERR_NVGPUCTRPERM");
    refuses("cuptiRangeProfilerSetConfig:1=40", "enable_profiling=1");
    refuses("cuptiRangeProfilerEnable:1=26", "dcgmi profiling --pause");
    refuses("cuptiRangeProfilerEnable:1=39", "another profiler");
    refuses("cuptiRangeProfilerEnable:1=43", "MIG");
    refuses("cuptiProfilerHostInitialize:1=46", "newest CUDA toolkit");
}

static void other_failures(void)
{
    refuses("cuptiProfilerInitialize:1=999", "cuptiProfilerInitialize: as scripted (999)");
    refuses("cuptiDeviceGetChipName:1=2", "as scripted (2)");
    refuses("cuptiRangeProfilerStart:1=9,cuptiRangeProfilerStart:2=9",
            "cuptiRangeProfilerStart: as scripted (9)");
    refuses("cuptiRangeProfilerStop:2=9,user=no,cuptiRangeProfilerStop:1=9", "INVALID_OPERATION");
    refuses("dropped=1", "more than 64 launches");
    refuses("sees=5", "saw 5 launches where the run has 1");
    refuses("sees=0", "saw 0 launches");
    refuses("frozen=1", "no cycle passed");
    refuses("endless=1,cuptiRangeProfilerEnable:2=7", "planned 3 replays and wants more");
}

/* One way failing for a passing reason does not hide the other. */
static void second_way_rescues(void)
{
    struct rig r;
    rig_open(&r, "row_online", "cuptiRangeProfilerStop:2=9");
    CU_ASSERT_EQUAL(rig_profile(&r, true), ST_OK);
    CU_ASSERT_STRING_EQUAL(text(&r, "replay"), "launch");
    rig_close(&r);
}

static void a_launch_that_fails(void)
{
    struct rig r;
    rig_open(&r, "row_online", "cuLaunchKernel:2=700");
    CU_ASSERT_EQUAL(rig_profile(&r, true), ST_FAIL);
    ASSERT_SAYS(r, "row_online");
    CU_ASSERT(backend_cuda.spent(r.b));
    rig_close(&r);
}

static void no_library(void)
{
    struct rig r;
    rig_open(&r, "row_online", "");
    setenv("ATTNSCOPE_LIBCUPTI", "/nonexistent/libcupti.so", 1);
    CU_ASSERT_EQUAL(rig_profile(&r, true), ST_NO);
    ASSERT_SAYS(r, "install the CUDA toolkit (12.6 or newer)");
    CU_ASSERT(json_is_object(json_object_get(r.out, "plan")));
    fake_library("ATTNSCOPE_LIBCUPTI", "fakecublas.so"); /* a library without these calls */
    CU_ASSERT_EQUAL(rig_profile(&r, true), ST_NO);
    ASSERT_SAYS(r, "CUDA 12.6");
    fake_library("ATTNSCOPE_LIBCUPTI", "fakecupti.so");
    rig_close(&r);
}

/* ---- rows ---- */

static void rows_follow(void)
{
    struct run_row run;
    record_init(run_fields, &run);
    run.kernel = xstrdup("k");
    run.shape = xstrdup("S=16");
    run.check = xstrdup("pass");
    run.l2 = xstrdup("both");
    json_t *profile = json_pack(
        "{s:s, s:{s:f, s:f, s:f, s:f, s:f, s:f, s:n}, s:{s:[iii], s:i, s:f, s:f, s:[], s:[s], "
        "s:i}, "
        "s:[{}]}",
        "l2", "hot", "counters", "dram_bytes", 3e6, "smem_wavefronts", 200.0, "smem_conflicts",
        50.0, "sm_active_cycles", 100.0, "sm_active_cycles_min", 80.0, "sm_active_cycles_max",
        120.0, "l2_bytes", "plan", "grid", 4, 2, 1, "threads", 128, "compulsory_bytes", 1e6,
        "occupancy_pct", 50.0, "passes", "limiter", "smem", "blocks_per_sm", 2, "launches");
    struct rowset rows = {.type = &profile_type};
    profile_add(&rows, &run, profile);
    profile_add(&rows, &run, NULL);
    const struct row *row = rows.rows[0], *none = rows.rows[1];
    CU_ASSERT(profile_counted(row));
    CU_ASSERT_EQUAL(row_real(row, "dram_ratio"), 3);
    CU_ASSERT_EQUAL(row_real(row, "smem_conflict_pct"), 25);
    CU_ASSERT_EQUAL(row_real(row, "sm_spread_pct"), 40);
    CU_ASSERT_EQUAL(row_real(row, "blocks"), 8);
    CU_ASSERT_EQUAL(row_real(row, "threads"), 128);
    CU_ASSERT_EQUAL(row_real(row, "total_threads"), 1024);
    CU_ASSERT_EQUAL(row_real(row, "occupancy_pct"), 50);
    CU_ASSERT(row_is(row, "l2", "hot")); /* as it was counted, not as it was asked for */
    CU_ASSERT_EQUAL(row_path_number(row, "limiter.smem"), 1);
    CU_ASSERT_EQUAL(row_path_number(row, "limiter.regs"), 0);
    CU_ASSERT(isnan(row_real(row, "l2_ratio")) && isnan(row_real(row, "l2_bytes")));
    CU_ASSERT_FALSE(profile_counted(none));
    CU_ASSERT(row_has(none, "dram_bytes") && !row_known(none, "dram_bytes"));
    CU_ASSERT(!row_known(none, "l2") && row_is(none, "kernel", "k"));
    CU_ASSERT(profile_run(none) && !row_has(none, "median_us")); /* no time of a profiled run */
    rowset_clear(&rows);
    record_clear(run_fields, &run);
    json_decref(profile);
}

static void every_field_is_explained(void)
{
    const struct field *f;
    struct str source = {0};
    size_t n = 0;
    for (; (f = profile_field_at(n)); n++) {
        str_clear(&source);
        profile_source(f->name, &source);
        CU_ASSERT(*f->doc && source.len > 0);
    }
    CU_ASSERT(n > (size_t)COUNTERS);
    str_clear(&source);
    profile_source("sm_spread_pct", &source);
    CU_ASSERT_STRING_EQUAL(str_text(&source),
                           "sm_spread_pct = (sm_active_cycles_max - sm_active_cycles_min) / "
                           "sm_active_cycles * 100");
    str_clear(&source);
    profile_source("median_us", &source);
    CU_ASSERT_EQUAL(source.len, 0);
    str_free(&source);
}

static const struct tap_test tests[] = {
    {"counts one launch and scales to our units", counts},
    {"cold flushes before every replay, hot never", flushes_when_cold},
    {"several launches are told apart and make one run", several_launches},
    {"profiles again", again},
    {"falls back to replay by launch", falls_back_to_replay_by_launch},
    {"what the chip lacks is unknown", missing_metrics},
    {"what the machine does not permit, with the remedy", permissions},
    {"other failures name the call", other_failures},
    {"the second way rescues the first", second_way_rescues},
    {"a launch that fails is the kernel's failure", a_launch_that_fails},
    {"no library, or an old one", no_library},
    {"rows have ratios, and null where nothing was counted", rows_follow},
    {"every field has a meaning and a source", every_field_is_explained},
};

int main(void)
{
    if (!getenv("ATTNSCOPE_FAKECUDA") || !getenv("ATTNSCOPE_WORKER"))
        return tap_skip_all(
            "needs ATTNSCOPE_FAKECUDA and ATTNSCOPE_WORKER, as make check sets them");
    char folder[] = "/tmp/attnscope-profile-XXXXXX";
    if (!mkdtemp(folder))
        fatal("no temporary folder");
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("ATTNSCOPE_STRICT", "0", 1); /* all fake functions have 32 registers */
    registry = registry_new();
    const int status = tap_run("profile", tests, sizeof tests / sizeof *tests);
    registry_free(registry);
    char *remove = xasprintf("rm -rf %s", folder);
    const int gone = system(remove); // NOLINT
    free(remove);
    return status ? status : gone;
}
