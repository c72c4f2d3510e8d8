/* test_trace.c - stamps of blocks: the pool's, the traced build of the CUDA kernels, their way over the
 * wire.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/compile/compile.h"
#include "backend/cpu_host.h"
#include "backend/cuda/trace.h"
#include "backend/pool.h"
#include "plan/schedule.h"
#include "tap.h"

static struct registry *registry;

/* ---- the pool ---- */

static void count_block(void *ctx, int64_t block, int thread)
{
    (void)thread;
    __atomic_fetch_add((int *)ctx + block, 1, __ATOMIC_RELAXED);
}

static void test_pool(void)
{
    enum { BLOCKS = 50, ROOM = 60 };
    int ran[BLOCKS] = {0};
    struct stamp at[ROOM + 1] = {{0}};
    struct pool_stamps s = {.at = at, .room = ROOM};
    struct pool *p = pool_new(3);
    pool_run(p, BLOCKS, count_block, ran); /* nobody looks */
    pool_stamp(p, &s);
    pool_run(p, BLOCKS, count_block, ran);
    pool_run(p, 1, count_block, ran);
    pool_run(p, BLOCKS, count_block, ran); /* more than there is room for */
    pool_stamp(p, NULL);
    pool_run(p, BLOCKS, count_block, ran);
    CU_ASSERT_EQUAL(s.count, 2 * BLOCKS + 1);
    CU_ASSERT_EQUAL(s.nlaunches, 3);
    CU_ASSERT_EQUAL(s.launches[0], BLOCKS);
    CU_ASSERT_EQUAL(s.launches[1], 1);
    for (int i = 0; i < BLOCKS; i++)
        CU_ASSERT_EQUAL(ran[i], i == 0 ? 5 : 4); /* stamped or not, every block runs once */
    for (int i = 0; i < ROOM; i++) {
        CU_ASSERT(at[i].row >= 0 && at[i].row < pool_threads(p));
        CU_ASSERT(at[i].begin_ns > 0 && at[i].end_ns >= at[i].begin_ns);
    }
    CU_ASSERT(at[BLOCKS].begin_ns >= at[0].end_ns); /* launches follow each other */
    CU_ASSERT_EQUAL(at[ROOM].begin_ns, 0);
    pool_free(p);
}

enum { NAMED = 20 };

/* The last block first; each takes as long as its number says. */
static void work_backwards(void *ctx, int64_t block, int thread)
{
    const int64_t number = NAMED - 1 - block;
    (void)ctx, (void)thread;
    pool_name_block(number);
    nanosleep(&(struct timespec){0, number * 200000}, NULL);
}

static void test_names(void)
{
    struct stamp at[NAMED] = {{0}};
    struct pool_stamps s = {.at = at, .room = NAMED};
    struct pool *p = pool_new(2);
    pool_stamp(p, &s);
    pool_run(p, NAMED, work_backwards, NULL);
    pool_stamp(p, NULL);
    for (int i = 0; i < NAMED; i++)
        CU_ASSERT(at[i].end_ns - at[i].begin_ns >= i * 200000);
    pool_free(p);
}

struct lending {
    struct pool *pool;
    _Atomic int parts;
};

static void lent_part(void *ctx, int64_t block, int thread)
{
    const struct lending *l = *(struct lending **)ctx;
    (void)block, (void)thread, (void)l;
    nanosleep(&(struct timespec){0, 100000}, NULL);
}

/* Block 0 waits a while for somebody to hand something to. */
static void lend_from_first(void *ctx, int64_t block, int thread)
{
    struct lending *l = ctx;
    (void)thread;
    for (int i = 0; block == 0 && i < 300 && !l->parts; i++) {
        const int idle = pool_find_idle(l->pool);
        if (idle >= 0) {
            pool_hand(l->pool, idle, lent_part, &l, sizeof l);
            l->parts++;
        }
        nanosleep(&(struct timespec){0, 10000}, NULL);
    }
}

/* What was handed over has a stamp with its block's number, and lies between the begin of the block and the launch's end. On a
 * busy machine nobody may wait in time, so it is tried again; one processor lends nothing. */
static void test_part_stamps(void)
{
    struct stamp at[2] = {{0}}, parts[4] = {{0}};
    struct pool_stamps s = {.at = at, .room = 2, .parts = parts, .parts_room = 4};
    struct pool *p = pool_new(2);
    struct lending l = {.pool = p};
    const bool can = host_usable_cpus() >= 2;
    pool_stamp(p, &s);
    for (int i = 0; i < 2000 && !l.parts && (can || i < 5); i++) {
        s.count = s.nlaunches = 0;
        pool_run_lending(p, 2, lend_from_first, &l);
    }
    pool_stamp(p, NULL);
    CU_ASSERT_EQUAL(l.parts, can);
    CU_ASSERT_EQUAL(s.nparts, l.parts);
    if (l.parts) {
        CU_ASSERT_EQUAL(parts[0].holds, 0);
        CU_ASSERT(parts[0].row != at[0].row);
        CU_ASSERT(parts[0].begin_ns > at[0].begin_ns);
        CU_ASSERT(parts[0].end_ns - parts[0].begin_ns >= 100000);
    }
    pool_free(p);
}

/* ---- over the wire ---- */

/* Parts are further blocks of the schedule, of the same index; they are busy time, and no blocks more. */
static void test_parts(void)
{
    struct stamp stamps[2] = {{1000, 3000, 1, 0}, {1000, 2000, 0, 0}},
                 parts[1] = {{2200, 2800, 0, 0}};
    struct block_trace t = {.unit = "thread", .rows = 2, .npasses = 1, .blocks = {2}};
    t.stamps = stamps;
    t.parts = parts;
    t.nparts = 1;
    json_t *o = block_trace_to_json(&t);
    struct shape shape = SHAPE_DEFAULT;
    shape.H = 1;
    shape.Sq = shape.Sk = 128;
    const struct kernel_desc *d = registry_find(registry, "cpu_tiled")->cpu;
    const struct param_values v = d->defaults;
    struct schedule s;
    struct err err = ERR_INIT;
    char *note;
    CU_ASSERT_EQUAL_FATAL(sched_from_stamps(o, d, &v, &shape, &s, &note, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(s.nblocks, 3);
    CU_ASSERT(s.blocks[2].part && !s.blocks[0].part && !s.blocks[1].part);
    CU_ASSERT_EQUAL(s.blocks[2].index, 0);
    CU_ASSERT_EQUAL(s.blocks[2].work.tile, s.blocks[0].work.tile);
    CU_ASSERT_EQUAL(s.blocks[1].work.tile, 1);
    CU_ASSERT_DOUBLE_EQUAL(s.blocks[2].begin_us, 1.2, 1e-9);
    const struct sched_summary sum = sched_summarise(&s);
    CU_ASSERT_EQUAL(sum.blocks, 2);
    CU_ASSERT_EQUAL(sum.parts, 1);
    CU_ASSERT_DOUBLE_EQUAL(sum.busy_pct, 100 * 3.6 / 4, 1e-9);
    sched_clear(&s);
    static const char *const bad[] = {"[[2, 0, 0, 1]]", "[[0, 2, 0, 1]]", "[[0, 0, -1, 1]]",
                                      "[[0, 0, 0]]", "[7]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_object_set_new(o, "parts", json_loads(bad[i], 0, NULL));
        CU_ASSERT_EQUAL(sched_from_stamps(o, d, &v, &shape, &s, &note, &err), ST_FAIL);
        sched_clear(&s);
    }
    json_decref(o);
}

static void test_wire(void)
{
    struct stamp stamps[3] = {{1000, 3000, 1, 0}, {900, 2900, 0, 0}, {3000, 3500, 1, 0}};
    struct block_trace t = {.unit = "SM", .rows = 2, .npasses = 2, .blocks = {2, 1}};
    t.stamps = stamps;
    t.note = (char *)(uintptr_t) "a note";
    json_t *o = block_trace_to_json(&t);
    struct shape shape = SHAPE_DEFAULT;
    shape.H = 1;
    shape.Sq = shape.Sk = 128;
    const struct kernel_desc *d = registry_find(registry, "fa2")->cuda;
    const struct param_values v = d->defaults;
    struct schedule s;
    struct err err = ERR_INIT;
    char *note;
    CU_ASSERT_EQUAL(sched_from_stamps(o, d, &v, &shape, &s, &note, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(note, "a note");
    CU_ASSERT_STRING_EQUAL(s.unit, "SM");
    CU_ASSERT_EQUAL(s.nblocks, 3);
    CU_ASSERT_EQUAL(s.npasses, 2);
    CU_ASSERT_DOUBLE_EQUAL(s.blocks[0].begin_us, 0.1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.blocks[2].end_us, 2.6, 1e-9);
    CU_ASSERT_EQUAL(s.blocks[2].pass, 1);
    CU_ASSERT_EQUAL(s.blocks[1].work.tile, 1);
    CU_ASSERT_EQUAL(s.blocks[2].work.tile, -1);
    sched_clear(&s);
    free(note);
    /* what a broken worker may send */
    static const char *const bad[] = {"row", "begin_ns", "ran_ns", "blocks", "rows"};
    for (int i = 0; i < 5; i++) {
        json_t *broken = json_deep_copy(o), *list = json_object_get(broken, bad[i]);
        if (json_is_array(list))
            json_array_set_new(list, 0, i == 3 ? json_integer(1 << 30) : json_integer(-1));
        else
            json_object_set_new(broken, bad[i], json_string("two"));
        CU_ASSERT_EQUAL(sched_from_stamps(broken, d, &v, &shape, &s, &note, &err), ST_FAIL);
        sched_clear(&s);
        free(note);
        json_decref(broken);
    }
    CU_ASSERT_EQUAL(sched_from_stamps(NULL, d, &v, &shape, &s, &note, &err), ST_FAIL);
    sched_clear(&s);
    json_decref(o);
}

/* ---- the traced source ---- */

static int count_of(const char *text, const char *word)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

/* Everything of the kernel is still there, and one statement more per entry point. */
static void test_source(void)
{
    struct err err = ERR_INIT;
    int kernels = 0;
    for (int i = 0; i < registry_count(registry); i++) {
        const struct kernel_desc *d = registry_at(registry, i)->cuda;
        if (!d)
            continue;
        if (!code_kinds[d->code].compiled) { /* peers and the like say so */
            CU_ASSERT_PTR_NULL(trace_source(d, &err));
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot be traced"));
            continue;
        }
        kernels++;
        char *traced = trace_source(d, &err);
        CU_ASSERT_PTR_NOT_NULL(traced);
        if (!traced) {
            printf("# %s\n", err.text);
            continue;
        }
        CU_ASSERT_EQUAL(count_of(traced, " AttnTrace attn_trace(a.ws[7], "), d->npasses);
        struct str back = {0};
        const char *p = strstr(traced, "#line 1\n") + strlen("#line 1\n");
        for (const char *at; (at = strstr(p, " AttnTrace attn_trace(")); p = strchr(at, ';') + 1)
            str_addn(&back, p, (size_t)(at - p));
        str_add(&back, p);
        CU_ASSERT_EQUAL(back.len, d->source_len);
        CU_ASSERT(memcmp(str_text(&back), d->source, back.len) == 0);
        str_free(&back);
        free(traced);
    }
    CU_ASSERT(kernels > 5);
    struct desc_pass pass = {0};
    struct kernel_desc none = {
        .name = "k", .source = "void k(int a) {}", .source_len = 16, .passes = &pass, .npasses = 1};
    CU_ASSERT_PTR_NULL(trace_source(&none, &err)); /* not an entry point */
    none.source = "__global__ void k(AttnArgs a);";
    none.source_len = strlen(none.source);
    CU_ASSERT_PTR_NULL(trace_source(&none, &err)); /* only declared */
}

/* NVRTC takes it, where there is one; two passes and early returns. */
static void test_compiles(void)
{
    const struct kernel_desc *d = registry_find(registry, "splitkv")->cuda;
    static const char *const options[] = {"-std=c++17",
                                          "--gpu-architecture=sm_90",
                                          "-DATTN_THREADS=128",
                                          "-DATTN_THREADS_combine=128",
                                          "-DATTN_D=64",
                                          "-DATTN_DTYPE=0",
                                          "-DP_BR=64",
                                          "-DP_BC=64",
                                          "-DP_PAD=4",
                                          "-DP_SPLITS=8",
                                          "-DSMEM_Qs=0",
                                          "-DSMEM_Ks=8704",
                                          "-DSMEM_Vs=17408",
                                          "-DSMEM_Ps=25600",
                                          "-DWS_partial_o=0",
                                          "-DWS_partial_lse=1",
                                          NULL};
    struct compile_result r;
    struct err err = ERR_INIT;
    char *traced = trace_source(d, &err);
    enum status st = compile_cuda("splitkv.cu", traced, strlen(traced), options, &r, &err);
    if (st == ST_FAIL)
        printf("# not compiled: %s\n", err.text);
    else
        CU_ASSERT_EQUAL(st, ST_OK);
    if (st == ST_NO)
        printf("# %s\n", r.log);
    compile_clear(&r);
    free(traced);
}

static const struct tap_test tests[] = {
    {"the pool stamps its blocks", test_pool},
    {"a block has the number that its body names", test_names},
    {"what a block hands over is stamped, too", test_part_stamps},
    {"parts of blocks travel, and broken ones are refused", test_parts},
    {"stamps travel, and broken ones are refused", test_wire},
    {"a traced source is the kernel and a stamp", test_source},
    {"a traced source compiles", test_compiles},
};

int main(void)
{
    registry = registry_new();
    const int rc = tap_run("trace", tests, sizeof tests / sizeof *tests);
    registry_free(registry);
    return rc;
}
