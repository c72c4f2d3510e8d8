/* test_ring.c - rings of GPUs: who has what, that every pair is met once, waits, and the simulated ring with each of its
 * parts broken.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/ring_args.h"
#include "backend/sim/answer.h"
#include "backend/sim/launch.h"
#include "base/mem.h"
#include "base/str.h"
#include "home.h"
#include "kernel/blob.h"
#include "measure/verify.h"
#include "plan/ring.h"
#include "ptx_wish.h"
#include "spec/input.h"

static struct shape shape_of(int64_t Sq, int64_t Sk, bool causal)
{
    struct shape s = SHAPE_DEFAULT;
    s.H = 2;
    s.Hkv = 1;
    s.Sq = Sq;
    s.Sk = Sk;
    s.causal = causal;
    return s;
}

static struct ring ring_of(const struct shape *s, int gpus, enum ring_shards shards)
{
    struct ring r;
    CU_ASSERT_EQUAL_FATAL(ring_build(s, gpus, shards, DTYPE_F32, &r, NULL), ST_OK);
    return r;
}

/* ---- the plan ---- */

/* By hand: every (query, key) pair of the mask is in exactly one meeting, no other pair in any. */
static void meet_all(const struct ring *r)
{
    const struct shape *s = &r->shape;
    unsigned char *met = xcalloc((size_t)(s->Sq * s->Sk), 1);
    for (int g = 0; g < r->gpus; g++)
        for (int n = 0; n < r->steps * r->mine * r->mine; n++) {
            const int step = n / (r->mine * r->mine), i = n / r->mine % r->mine, j = n % r->mine;
            const int holds = r->turn[g][step].holds;
            struct shape local;
            if (!ring_local(r, g, i, holds, j, &local))
                continue;
            const struct ring_rows q = ring_rows(r, g, i, RING_QUERIES),
                                   k = ring_rows(r, holds, j, RING_KEYS);
            for (int64_t a = 0; a < local.Sq; a++)
                for (int64_t b = 0; b < shape_row_keys(&local, a); b++)
                    met[(q.first + a) * s->Sk + k.first + b]++;
        }
    bool right = true;
    for (int64_t a = 0; a < s->Sq; a++)
        for (int64_t b = 0; b < s->Sk; b++)
            right &= met[a * s->Sk + b] == (b < shape_row_keys(s, a));
    CU_ASSERT_TRUE(right);
    free(met);
}

static void test_pairs(void)
{
    for (int gpus = 1; gpus <= RING_GPUS_MAX; gpus++)
        for (int n = 0; n < 4; n++) {
            const int64_t S = 2 * gpus + 13 * n;
            const struct shape causal = shape_of(S, S, true), full = shape_of(S, S + 5, false);
            const struct ring zigzag = ring_of(&causal, gpus, RING_ZIGZAG),
                              plain = ring_of(&causal, gpus, RING_STRETCHES),
                              other = ring_of(&full, gpus, RING_ZIGZAG);
            meet_all(&zigzag);
            meet_all(&plain);
            meet_all(&other);
            double flops = 0;
            for (int g = 0; g < gpus; g++)
                flops += ring_flops(&zigzag, g);
            CU_ASSERT_DOUBLE_EQUAL(flops, shape_flops(&causal), 1e-6 * flops);
        }
}

/* Few queries, all of them everywhere; the diagonal lies in the last GPU's keys. */
static void test_split_pairs(void)
{
    for (int gpus = 1; gpus <= RING_GPUS_MAX; gpus++)
        for (int64_t Sq = 1; Sq <= 4; Sq++) {
            const struct shape causal = shape_of(Sq, 4 * gpus + 3, true),
                               full = shape_of(Sq, gpus + 5, false);
            const struct ring a = ring_of(&causal, gpus, RING_SPLITKV),
                              b = ring_of(&full, gpus, RING_SPLITKV);
            meet_all(&a);
            meet_all(&b);
            CU_ASSERT_EQUAL(ring_check(&a, NULL), ST_OK);
            CU_ASSERT_TRUE(ring_parts(&a, 0, 0) == gpus &&
                           (gpus == 1 || ring_parts(&a, 1, 0) == 0));
        }
}

static void test_balance(void)
{
    const struct shape s = shape_of(4096, 4096, true);
    const struct ring zigzag = ring_of(&s, 4, RING_ZIGZAG), plain = ring_of(&s, 4, RING_STRETCHES);
    CU_ASSERT_DOUBLE_EQUAL(ring_imbalance(&zigzag), 1, 1e-12);
    /* The last quarter has 7 of 16 parts, where 4 are fair: 1.75, but for half a diagonal. */
    CU_ASSERT_DOUBLE_EQUAL(ring_imbalance(&plain), 1.75, 0.001);
    for (int step = 1; step < 4; step++)
        for (int g = 1; g < 4; g++)
            CU_ASSERT_DOUBLE_EQUAL(ring_pairs(&zigzag, g, step), ring_pairs(&zigzag, 0, step), 0.5);
}

static void test_bytes(void)
{
    const struct shape s = shape_of(1024, 1024, false);
    const struct ring r = ring_of(&s, 4, RING_ZIGZAG);
    const double kv = 2.0 * 1 * 1024 * 64 * 2; /* K and V of one head, f16 */
    CU_ASSERT_DOUBLE_EQUAL(ring_link_bytes(&r), 3 * kv, 0);
    CU_ASSERT_DOUBLE_EQUAL(ring_sent_bytes(&r, 2), 3 * kv / 4, 0);
    CU_ASSERT_DOUBLE_EQUAL(
        ring_memory_bytes(&r, 0),
        2 * 2 * 256 * 64 * 2 + 2 * kv / 4 + 2 * 256 * (64 * 4 + 4) + 2 * 256 * 4 * 65, 0);
    struct ring narrow;
    CU_ASSERT_EQUAL_FATAL(ring_build(&s, 4, RING_STRETCHES, DTYPE_F16, &narrow, NULL), ST_OK);
    CU_ASSERT_DOUBLE_EQUAL(ring_memory_bytes(&r, 0) - ring_memory_bytes(&narrow, 0),
                           2 * 256 * 64 * 2, 0); /* parts in the type */
}

/* A copy begins when its sender has what it sends and its receiver is done with the slot, a step when its keys are there:
 * whoever is late makes the others wait, as the last GPU of a causal ring of stretches does the first one. */
static void test_who_waits(void)
{
    const struct shape s = shape_of(97, 97, true);
    int late = 0; /* senders */
    for (double gbs = 0.01; gbs < 1e4; gbs *= 10)
        for (int shards = RING_ZIGZAG; shards <= RING_STRETCHES; shards++) {
            const struct ring r = ring_of(&s, 5, (enum ring_shards)shards);
            struct ring_time t;
            ring_time(&r, 1e-3, gbs, &t);
            for (int g = 0; g < r.gpus; g++)
                for (int i = 1; i < r.steps; i++) {
                    const struct ring_span *x = &t.span[g][i], *before = &t.span[g][i - 1];
                    const int from = r.turn[g][i].from;
                    CU_ASSERT(x->begin_us == fmax(before->end_us, before->copy_end_us));
                    if (from < 0)
                        continue;
                    const double sent = t.span[from][i - 1].copy_end_us,
                                 mine = fmax(before->end_us, before->copy_end_us);
                    CU_ASSERT(x->copy_begin_us == fmax(mine, sent));
                    late += sent > mine;
                }
        }
    CU_ASSERT(late > 0);
}

/* Only answers move: rows of D elements and an LSE, from all but GPU 0. */
static void test_split_bytes(void)
{
    const struct shape s = shape_of(4, 1024, true); /* two heads, one of keys */
    const struct ring r = ring_of(&s, 4, RING_SPLITKV);
    const double part = 2 * 4 * (64 * 4 + 4), q = 2 * 4 * 64 * 2, kv = 2.0 * 256 * 64 * 2;
    CU_ASSERT_DOUBLE_EQUAL(ring_link_bytes(&r), 3 * part, 0);
    CU_ASSERT_DOUBLE_EQUAL(ring_sent_bytes(&r, 0), 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(ring_memory_bytes(&r, 1), q + kv + part, 0);
    CU_ASSERT_DOUBLE_EQUAL(ring_memory_bytes(&r, 0), 2 * q + kv + 4 * part + 2 * 4 * 65 * 4, 0);
}

static void test_split_waits(void)
{
    const struct shape s = shape_of(2, 64, true);
    const struct ring whole = ring_of(&s, 4, RING_SPLITKV);
    struct err err = ERR_INIT;
    for (int g = 0; g < 4; g++) {
        struct ring r = whole;
        r.turn[g][0].waits_compute = false;
        CU_ASSERT_EQUAL(ring_check(&r, &err), g == 0 ? ST_OK : ST_FAIL); /* its own stays there */
    }
    struct ring r = whole;
    r.turn[0][0].waits_arrival = false;
    CU_ASSERT_EQUAL(ring_check(&r, &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "on their way"));
}

static void test_split_time(void)
{
    const struct shape s = shape_of(4, 4096, false);
    const struct ring r = ring_of(&s, 4, RING_SPLITKV);
    const double step_us = shape_flops(&s) / 4 / 100e6, copy_us = ring_part_bytes(&r, 1) / 1e3;
    struct ring_time t;
    ring_time(&r, 100, 1, &t); /* one link into GPU 0: three answers, one after another */
    CU_ASSERT_DOUBLE_EQUAL(t.total_us, step_us + 3 * copy_us, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(t.exposed_us, 3 * copy_us, 1e-6);
}

static void test_refused(void)
{
    const struct shape odd = shape_of(64, 128, true), small = shape_of(7, 7, true);
    struct ring r;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(ring_build(&odd, 2, RING_ZIGZAG, DTYPE_F32, &r, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "as many queries as keys"));
    CU_ASSERT_EQUAL(ring_build(&small, 4, RING_ZIGZAG, DTYPE_F32, &r, &err), ST_NO);
    CU_ASSERT_EQUAL(ring_build(&small, 17, RING_ZIGZAG, DTYPE_F32, &r, &err), ST_NO);
    CU_ASSERT_EQUAL(ring_build(&small, 4, RING_STRETCHES, DTYPE_F32, &r, &err), ST_OK);
    const struct shape wide = shape_of(6, 16, true), fits = shape_of(5, 16, true);
    CU_ASSERT_EQUAL(ring_build(&wide, 4, RING_SPLITKV, DTYPE_F32, &r, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "across several GPUs"));
    CU_ASSERT_EQUAL(ring_build(&fits, 4, RING_SPLITKV, DTYPE_F32, &r, &err), ST_OK);
    meet_all(&r);
}

/* Each wait alone is needed, but those before the first exchange; every wrong neighbour is seen. */
static void test_waits(void)
{
    const struct shape s = shape_of(512, 512, true);
    for (int gpus = 2; gpus <= 6; gpus++) {
        const struct ring whole = ring_of(&s, gpus, RING_ZIGZAG);
        CU_ASSERT_EQUAL(ring_check(&whole, NULL), ST_OK);
        for (int g = 0; g < gpus; g++)
            for (int i = 0; i < gpus; i++) {
                struct ring r = whole;
                r.turn[g][i].waits_arrival = false;
                CU_ASSERT_EQUAL(ring_check(&r, NULL), i > 0 ? ST_FAIL : ST_OK);
                r = whole;
                r.turn[g][i].waits_compute = false;
                CU_ASSERT_EQUAL(ring_check(&r, NULL), i > 0 && i + 1 < gpus ? ST_FAIL : ST_OK);
                r = whole;
                if (gpus < 3 || r.turn[g][i].from < 0)
                    continue;
                r.turn[g][i].from = (r.turn[g][i].from + gpus - 1) % gpus;
                if (r.turn[g][i].from == g)
                    r.turn[g][i].from = (g + 1) % gpus;
                CU_ASSERT_EQUAL(ring_check(&r, NULL), ST_FAIL);
            }
    }
}

static void test_time(void)
{
    const struct shape s = shape_of(4096, 4096, false);
    const struct ring r = ring_of(&s, 4, RING_ZIGZAG);
    const double step_us = shape_flops(&s) / 16 / 100e6, copy_us = ring_shard_bytes(&r, 0) / 1e3;
    struct ring_time t;
    ring_time(&r, 100, 1e9, &t); /* a link that takes no time */
    CU_ASSERT_DOUBLE_EQUAL(t.total_us, 4 * step_us, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(t.efficiency, 1, 1e-6);
    ring_time(&r, 100, 1, &t); /* 1 GB/s: copies take longer than steps */
    CU_ASSERT_TRUE_FATAL(copy_us > step_us);
    CU_ASSERT_DOUBLE_EQUAL(t.total_us, 3 * copy_us + step_us, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(t.exposed_us, 3 * (copy_us - step_us), 1e-3);
    ring_time(&r, NAN, 1, &t);
    CU_ASSERT_TRUE(isnan(t.total_us));
    ring_time(&r, 100, NAN, &t);
    CU_ASSERT_TRUE(isnan(t.total_us));
}

/* ---- the simulated ring ---- */

struct scene {
    struct problem problem;
    struct tensors tensors;
    struct reference *reference;
    struct wish wish;
    struct ptx ptx;
};

static void scene_make(struct scene *s, const char *kernel, const struct shape *shape, bool parts)
{
    struct err err = ERR_INIT;
    *s = (struct scene){.problem = PROBLEM_DEFAULT};
    s->problem.shape = *shape;
    CU_ASSERT_FATAL(tensors_make(&s->problem, &s->tensors, NULL) == ST_OK);
    CU_ASSERT_FATAL(reference_new(&s->problem, &s->tensors, NULL, 0, &s->reference, NULL) == ST_OK);
    CU_ASSERT_FATAL(wish_make_for(&s->wish, wish_desc(kernel), shape, NULL, NULL));
    if (parts)
        wish_parts(&s->wish);
    CU_ASSERT_FATAL(wish_get(&s->wish.request, &s->ptx, &err) == ST_OK);
}

static void scene_clear(struct scene *s)
{
    ptx_clear(&s->ptx);
    wish_clear(&s->wish);
    tensors_free(&s->tensors);
    reference_free(s->reference);
}

struct outcome {
    bool passed;
    long long findings;
    double link_bytes, imbalance;
    double rounding; /* rms of the errors over that of rounding the right answer once */
    char finding[200];
};

static struct outcome run_ring(const struct scene *s, const struct ring *r, const char *merge)
{
    struct cage_board board = {0};
    struct str text = {0};
    struct sim_answer answer = {0};
    struct run_row row;
    struct err err = ERR_INIT;
    const size_t bytes = s->tensors.q_bytes;
    unsigned char *output = xmalloc(bytes + 2 * OUTPUT_GUARD_BYTES);
    record_init(run_fields, &row);
    memset(output, output_guard_byte, bytes + 2 * OUTPUT_GUARD_BYTES);
    memset(output + OUTPUT_GUARD_BYTES, 0xff, bytes);
    struct sim_job job = {
        .plan = &s->wish.plan,
        .ptx = s->ptx.text,
        .ptx_len = s->ptx.len,
        .tensors = {s->tensors.q, s->tensors.k, s->tensors.v},
        .tensor_bytes = {s->tensors.q_bytes, s->tensors.kv_bytes, s->tensors.kv_bytes},
        .output = output + OUTPUT_GUARD_BYTES,
        .output_bytes = bytes,
        .ring = r,
        .merge_ptx = merge,
        .hazards = true,
        .threads = 2,
        .seconds = 100};
    sim_job_run(&job, &board, &text);
    const enum status st = answer_read(&text, &answer, &err);
    verify_output(s->reference, output, NULL, &row);
    struct outcome o = {.passed = st == ST_OK && row.check && !strcmp(row.check, "pass"),
                        .findings = answer.findings,
                        .link_bytes = answer.link_bytes,
                        .imbalance = answer.imbalance,
                        .rounding = row.rounding_ratio};
    snprintf(o.finding, sizeof o.finding, "%s", answer.finding ? answer.finding : "");
    record_clear(run_fields, &row);
    answer_clear(&answer);
    str_free(&text);
    free(output);
    return o;
}

static void run_right(const char *kernel, enum dtype dtype, struct shape shape, int gpus,
                      enum ring_shards shards)
{
    struct scene s;
    shape.dtype = dtype;
    scene_make(&s, kernel, &shape, true);
    const struct ring r = ring_of(&shape, gpus, shards);
    const struct outcome o = run_ring(&s, &r, NULL);
    if (!o.passed || o.findings)
        printf("# %s, %d GPUs: %lld findings, %s\n", kernel, gpus, o.findings, o.finding);
    CU_ASSERT_TRUE(o.passed);
    CU_ASSERT_EQUAL(o.findings, 0);
    CU_ASSERT_DOUBLE_EQUAL(o.link_bytes, ring_link_bytes(&r), 0);
    scene_clear(&s);
}

/* ---- what a part is stored in ---- */

static uint64_t draw(uint64_t *state, uint64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % n;
}

/* Any shape that goes round: 2 to 8 GPUs, with and without a mask, grouped heads, lengths that nothing divides. */
struct any {
    const char *kernel;
    struct shape shape;
    int gpus;
    enum ring_shards shards;
};
static struct any draw_any(uint64_t *state)
{
    static const char *const kernels[] = {"fa2",         "fa2_mma",         "fa2_mma_plain",
                                          "row_tile",    "fused_vector_io", "splitkv",
                                          "wmma_serial", "decode_splitkv"};
    struct any a = {.kernel = kernels[draw(state, sizeof kernels / sizeof *kernels)],
                    .shape = SHAPE_DEFAULT,
                    .gpus = 2 + (int)draw(state, 7)};
    struct shape *s = &a.shape;
    const bool decodes = !strcmp(a.kernel, "decode_splitkv");
    s->dtype = draw(state, 3) ? DTYPE_F16 : DTYPE_BF16;
    s->H = 2;
    s->Hkv = 1 + (int64_t)draw(state, 2);
    s->layout = draw(state, 4) ? LAYOUT_BHSD : LAYOUT_BSHD;
    a.shards = decodes || !draw(state, 4) ? RING_SPLITKV
               : draw(state, 3)           ? RING_ZIGZAG
                                          : RING_STRETCHES;
    s->causal = !draw(state, 3);
    s->Sk = 2 * a.gpus + (int64_t)draw(state, 180);
    s->Sq = a.shards == RING_SPLITKV ? 1 + (int64_t)draw(state, decodes ? 4 : 9)
            : s->causal              ? s->Sk
                                     : a.gpus + (int64_t)draw(state, 120);
    if (a.shards == RING_SPLITKV && s->causal)
        s->Sk += a.gpus * s->Sq; /* its diagonal is on one GPU */
    return a;
}

static struct outcome run_any(const struct any *a, bool parts)
{
    struct scene s;
    struct ring r;
    scene_make(&s, a->kernel, &a->shape, parts);
    const enum dtype stored = desc_parts(s.wish.request.desc, a->shape.dtype);
    CU_ASSERT_EQUAL_FATAL(
        ring_build(&a->shape, a->gpus, a->shards, parts ? stored : a->shape.dtype, &r, NULL),
        ST_OK);
    const struct outcome o = run_ring(&s, &r, NULL);
    scene_clear(&s);
    return o;
}

static void test_random(void)
{
    const char *shorter = getenv("RING_SHAPES"); /* .ci/run, of the sanitized build */
    const int shapes = shorter ? atoi(shorter) : 60;
    uint64_t state = 20261124;
    CU_ASSERT_FATAL(shapes > 0);
    for (int i = 0; i < shapes; i++) {
        const struct any a = draw_any(&state);
        const struct outcome o = run_any(&a, true);
        char text[SHAPE_TEXT];
        shape_format(&a.shape, text, sizeof text);
        if (!o.passed || o.findings)
            printf("# %s %s, %d GPUs, shards %d: %lld findings %s\n", a.kernel, text, a.gpus,
                   (int)a.shards, o.findings, o.finding);
        CU_ASSERT_TRUE(o.passed);
        CU_ASSERT_EQUAL(o.findings, 0);
    }
}

/* Parts in f32 are rounded once, as one GPU's answer. Rounded each, as they were, they leave 1.26 times that error:
 * within a hair of what the check allows a kernel that rounds its weights, too, and beyond it in one shape of twelve. */
static void test_rounded_parts(void)
{
    for (int gpus = 4; gpus <= 8; gpus += 4) {
        struct any a = {"fa2_mma", shape_of(64, 64 * gpus, false), gpus, RING_STRETCHES};
        a.shape.dtype = DTYPE_F16;
        a.shape.H = 4;
        const struct outcome kept = run_any(&a, true), rounded = run_any(&a, false);
        a.gpus = 1;
        const double alone = run_any(&a, true).rounding;
        printf("# %d GPUs: %.3f times the error of one, %.3f with parts in f16\n", gpus,
               kept.rounding / alone, rounded.rounding / alone);
        CU_ASSERT_TRUE(kept.passed);
        CU_ASSERT_TRUE(kept.rounding < 1.03 * alone);
        CU_ASSERT_TRUE(rounded.rounding > 1.2 * kept.rounding);
    }
}

/* A shape that it takes on two GPUs: many queries, else few, as a decoder has; false: neither, or it has tensor maps. */
static bool takes(const struct kernel_desc *d, struct shape *shape)
{
    *shape = shape_of(80, 80, false);
    shape->dtype = DTYPE_F16;
    if (d->peer || !desc_stores_parts(d, shape->dtype))
        return false;
    for (shape->Sq = 80; shape->Sq > 0; shape->Sq = shape->Sq == 80 ? 3 : 0) {
        struct wish w;
        if (!wish_make_for(&w, d, shape, NULL, NULL))
            continue;
        const bool maps = w.plan.passes[0].ntma > 0;
        wish_clear(&w);
        return !maps;
    }
    return false;
}

/* Every kernel that says so stores parts: each of them on two GPUs. */
static void test_all_kernels(void)
{
    int tried = 0;
    for (int i = 0; i < registry_count(wish_kernels); i++) {
        const struct kernel *k = registry_at(wish_kernels, i);
        struct shape shape;
        if (!k->cuda || !takes(k->cuda, &shape))
            continue;
        run_right(k->name, DTYPE_F16, shape, 2, shape.Sq < 16 ? RING_SPLITKV : RING_STRETCHES);
        tried++;
    }
    printf("# %d kernels\n", tried);
    CU_ASSERT_TRUE(tried > 35);
}

/* ---- the merge, bit for bit ---- */

enum { MERGE_ROWS = 6, MERGE_D = 40 };

struct merge_case {
    const char *entry;
    enum dtype to, parts;
    bool first, last;
};

static void put(enum dtype t, void *p, int i, float x)
{
    if (t == DTYPE_F32)
        ((float *)p)[i] = x;
    else
        ((uint16_t *)p)[i] = t == DTYPE_F16 ? f16_from_float(x) : bf16_from_float(x);
}

static float get(enum dtype t, const void *p, int i)
{
    return t == DTYPE_F32   ? ((const float *)p)[i]
           : t == DTYPE_F16 ? f16_to_float(((const uint16_t *)p)[i])
                            : bf16_to_float(((const uint16_t *)p)[i]);
}

/* Weights that every machine has exactly: 1 and 1, 1 and 0, 0 and 1 (too small), none, and no key before. */
static const float merge_lse[MERGE_ROWS][2] = {
    {1.5f, 1.5f}, {2, -INFINITY}, {-400, 3}, {-INFINITY, -INFINITY}, {-INFINITY, 0.25f}, {7, -500}};

/* What the file says, in C: the same operations in the same order, multiplied and added in one rounding. */
static float merged(const struct merge_case *c, int row, float so_far, float part)
{
    const float before = c->first ? -INFINITY : merge_lse[row][0], here = merge_lse[row][1];
    const float most = fmaxf(before, here), base = most == -INFINITY ? 0 : most;
    const float w1 = before - base < -100 ? 0 : 1, w2 = here - base < -100 ? 0 : 1, sum = w1 + w2;
    float x = w1 > 0 ? fmaf(w1, so_far, 0) : 0;
    x = w2 > 0 ? fmaf(w2, part, x) : x;
    return x * (sum == 0 ? 0 : 1 / sum);
}

static void merge_exactly(const struct merge_case *c)
{
    enum { N = MERGE_ROWS * MERGE_D };
    float sum[N], part_of[N], lse[MERGE_ROWS], sum_lse[MERGE_ROWS], got[N], got_lse[MERGE_ROWS];
    unsigned char part[N * 4], o[N * 4];
    uint64_t state = 7;
    for (int i = 0; i < N; i++) {
        sum[i] = (float)draw(&state, 1 << 24) / (1 << 22) - 2;
        part_of[i] = (float)draw(&state, 1 << 24) / (1 << 22) - 2;
        put(c->parts, part, i, part_of[i]);
        part_of[i] = get(c->parts, part, i);
    }
    for (int i = 0; i < MERGE_ROWS; i++) {
        sum_lse[i] = merge_lse[i][0];
        lse[i] = merge_lse[i][1];
    }
    struct sim_memory *m = sim_memory_new(1 << 20);
    struct ring_merge_args a = {.o_stride = {N, N, MERGE_D},
                                .B = 1,
                                .H = 1,
                                .rows = MERGE_ROWS,
                                .D = MERGE_D,
                                .first = c->first,
                                .last = c->last};
    struct err err = ERR_INIT;
    const size_t parts = N * dtype_size(c->parts), out = N * dtype_size(c->to);
    CU_ASSERT_FATAL(sim_memory_add(m, "part", parts, &a.part, &err) == ST_OK &&
                    sim_memory_add(m, "part lse", sizeof lse, &a.part_lse, &err) == ST_OK &&
                    sim_memory_add(m, "sum", sizeof sum, &a.sum, &err) == ST_OK &&
                    sim_memory_add(m, "sum lse", sizeof sum_lse, &a.sum_lse, &err) == ST_OK &&
                    sim_memory_add(m, "o", out, &a.o, &err) == ST_OK &&
                    sim_memory_add(m, "lse", sizeof lse, &a.lse, &err) == ST_OK);
    (void)sim_memory_write(m, a.part, part, parts);
    (void)sim_memory_write(m, a.part_lse, lse, sizeof lse);
    if (!c->first) {
        (void)sim_memory_write(m, a.sum, sum, sizeof sum);
        (void)sim_memory_write(m, a.sum_lse, sum_lse, sizeof sum_lse);
    }
    const struct blob *b = blob_find("kernels/ring/merge.ptx");
    struct sim_program *program = NULL;
    const struct sim_launch l = {.grid = {2, 1, 1},
                                 .block = {RING_MERGE_WARPS * 32, 1, 1},
                                 .params = &a,
                                 .param_bytes = sizeof a};
    const struct sim_options options = {.threads = 1, .max_instructions = 1 << 20, .hazards = true};
    struct sim_result result = {0};
    CU_ASSERT_FATAL(sim_program_new(b->data, blob_size(b), c->entry, &program, &err) == ST_OK);
    CU_ASSERT_EQUAL(sim_run(program, m, &l, &options, &result, &err), ST_OK);
    CU_ASSERT_EQUAL(result.faults + result.hazards, 0);
    (void)sim_memory_read(m, c->last ? a.o : a.sum, c->last ? (void *)o : (void *)got,
                          c->last ? out : sizeof got);
    (void)sim_memory_read(m, c->last ? a.lse : a.sum_lse, got_lse, sizeof got_lse);
    int differ = 0;
    for (int i = 0; i < N; i++) {
        const float x = merged(c, i / MERGE_D, sum[i], part_of[i]);
        unsigned char want[4];
        put(c->to, want, 0, x);
        differ += c->last ? memcmp(want, o + (size_t)i * dtype_size(c->to), dtype_size(c->to)) != 0
                          : memcmp(&x, &got[i], sizeof x) != 0;
    }
    if (differ)
        printf("# %s first=%d last=%d: %d of %d differ\n", c->entry, c->first, c->last, differ, N);
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT_EQUAL(got_lse[3], -INFINITY);
    CU_ASSERT_EQUAL(got_lse[4], 0.25f);
    CU_ASSERT_DOUBLE_EQUAL(got_lse[0], c->first ? 1.5 : 1.5 + log(2), 1e-6);
    sim_result_clear(&result);
    sim_program_free(program);
    sim_memory_free(m);
}

static void test_merge_bits(void)
{
    static const struct {
        const char *entry;
        enum dtype to, parts;
    } entries[] = {{"ring_merge_f16", DTYPE_F16, DTYPE_F16},
                   {"ring_merge_bf16", DTYPE_BF16, DTYPE_BF16},
                   {"ring_merge_f32", DTYPE_F32, DTYPE_F32},
                   {"ring_merge_f32_to_f16", DTYPE_F16, DTYPE_F32},
                   {"ring_merge_f32_to_bf16", DTYPE_BF16, DTYPE_F32}};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        for (int n = 0; n < 4; n++) {
            const struct ring r = {.shape = {.dtype = entries[i].to}, .parts = entries[i].parts};
            merge_exactly(&(struct merge_case){entries[i].entry, entries[i].to, entries[i].parts,
                                               n & 1, n >> 1});
            CU_ASSERT_STRING_EQUAL(ring_merge_entry(&r), entries[i].entry);
        }
}

/* Ragged, grouped, both layouts, with a workspace, on tensor cores. */
static void test_right(void)
{
    struct shape ragged = shape_of(75, 75, true);
    run_right("fa2", DTYPE_F32, ragged, 4, RING_ZIGZAG);
    run_right("fa2_mma", DTYPE_BF16, ragged, 3, RING_STRETCHES);
    ragged.layout = LAYOUT_BSHD;
    ragged.B = 2;
    run_right("splitkv", DTYPE_F16, ragged, 2, RING_ZIGZAG);
    run_right("fa2", DTYPE_F16, shape_of(33, 90, false), 5, RING_ZIGZAG);
    run_right("fa2", DTYPE_F16, shape_of(3, 90, true), 4, RING_SPLITKV);
    run_right("decode_splitkv", DTYPE_BF16, shape_of(1, 131, true), 3, RING_SPLITKV);
    ragged.Sq = 1;
    run_right("splitkv", DTYPE_F32, ragged, 2, RING_SPLITKV);
}

static void test_imbalance(void)
{
    struct scene s;
    const struct shape shape = shape_of(256, 256, true);
    scene_make(&s, "fa2", &shape, true);
    const struct ring zigzag = ring_of(&shape, 4, RING_ZIGZAG),
                      plain = ring_of(&shape, 4, RING_STRETCHES);
    CU_ASSERT_TRUE(run_ring(&s, &zigzag, NULL).imbalance < 1.02);
    CU_ASSERT_TRUE(run_ring(&s, &plain, NULL).imbalance > 1.4);
    scene_clear(&s);
}

/* What a ring does wrong where a wait is missing: a step in the order of the waits reads what has not come. */
static void test_faults(void)
{
    struct scene s;
    const struct shape shape = shape_of(128, 128, true);
    scene_make(&s, "fa2", &shape, true);
    const struct ring whole = ring_of(&shape, 4, RING_ZIGZAG);
    struct ring r = whole;
    r.turn[2][1].waits_arrival = false;
    struct outcome o = run_ring(&s, &r, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.finding, "GPU 2 computes step 1"));
    CU_ASSERT_TRUE(o.findings >= 2); /* and what it read was never written */
    CU_ASSERT_FALSE(o.passed);
    r = whole;
    r.turn[1][1].waits_compute = false;
    o = run_ring(&s, &r, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.finding, "on their way"));
    r = whole;
    r.turn[3][0].from = 1;
    o = run_ring(&s, &r, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.finding, "has the keys and values of GPU 1 in step"));
    CU_ASSERT_FALSE(o.passed);
    scene_clear(&s);
    const struct shape few = shape_of(3, 128, true);
    scene_make(&s, "fa2", &few, true);
    r = ring_of(&few, 4, RING_SPLITKV);
    r.turn[0][0].waits_arrival = false; /* merged before anything is there */
    o = run_ring(&s, &r, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.finding, "on their way"));
    CU_ASSERT_FALSE(o.passed);
    scene_clear(&s);
}

/* The merge's text with every place of `from` replaced; the caller frees. */
static char *merge_with(const char *from, const char *to)
{
    const struct blob *b = blob_find("kernels/ring/merge.ptx");
    struct str out = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    char *text = xstrndup(b->data, blob_size(b));
    int n = 0;
    for (const char *at = text, *hit; at; at = hit ? hit + strlen(from) : NULL) {
        hit = strstr(at, from);
        n += hit != NULL;
        str_addn(&out, at, hit ? (size_t)(hit - at) : strlen(at));
        if (hit)
            str_add(&out, to);
    }
    CU_ASSERT_FATAL(n > 0);
    free(text);
    return str_take(&out);
}

/* A merge that weighs wrongly is wrong wherever parts differ. */
static void test_merge(void)
{
    static const char *const wrong[][2] = {
        {"ex2.approx.f32", "abs.f32"}, /* weights that are no exponentials */
        {"0f3FB8AA3B", "0f3F800000"},  /* 2^x taken for e^x */
        {"rcp.rn.f32", "abs.f32"},     /* not divided by the weights' sum, but multiplied */
    };
    struct scene s;
    struct shape shape = shape_of(96, 96, false);
    scene_make(&s, "fa2", &shape, true);
    const struct ring r = ring_of(&shape, 3, RING_ZIGZAG);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *text = merge_with(wrong[i][0], wrong[i][1]);
        CU_ASSERT_FALSE(run_ring(&s, &r, text).passed);
        free(text);
    }
    scene_clear(&s);
}

static bool prepare(const char *folder)
{
    char *cache = xasprintf("%s/cache", folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("ATTNSCOPE_LIBNVRTC", "/nonexistent", 1);
    setenv("ATTNSCOPE_NVCC", "/nonexistent", 1);
    setenv("ATTNSCOPE_CLANG", "/nonexistent", 1);
    free(cache);
    wishes_begin();
    return true;
}

int main(void)
{
    static const struct tap_test tests[] = {
        {"every pair is met once", test_pairs},
        {"keys split, queries everywhere: every pair is met once", test_split_pairs},
        {"  only answers move", test_split_bytes},
        {"  its waits are needed", test_split_waits},
        {"  answers come in one after another", test_split_time},
        {"a zigzag is balanced, stretches are not", test_balance},
        {"bytes on links and in memory", test_bytes},
        {"who waits for whom", test_who_waits},
        {"shapes that do not go round", test_refused},
        {"every wait is needed, every neighbour the right one", test_waits},
        {"time: steps and copies", test_time},
        {"simulated rings are right", test_right},
        {"  of random shapes, too", test_random},
        {"  where parts are not rounded", test_rounded_parts},
        {"  of every kernel that stores parts in f32", test_all_kernels},
        {"counters show who has more to do", test_imbalance},
        {"a missing wait and a wrong neighbour are found", test_faults},
        {"a merge that weighs wrongly fails", test_merge},
        {"the merge, bit for bit", test_merge_bits},
    };
    const int rc = home_run("ring", prepare, tests, sizeof tests / sizeof *tests);
    wishes_end();
    return rc;
}
