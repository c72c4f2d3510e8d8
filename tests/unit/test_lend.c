/* test_lend.c - cpu_tiled's queries in other hands: whoever has them, from whichever key on, results are the same bits.
 *
 * Here nobody waits, so that it does not depend on threads and times: a tile under way finds somebody at every chance, or at
 * some, and what it hands over is done later, in buffers of its own, and may be divided further.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_simd.h"
#include "backend/cpu_host.h"
#include "base/mem.h"
#include "tap.h"

enum { RESTS_MAX = 4096 };

/* Somebody is found at every `nth` chance. */
struct desk {
    struct tiled_lender base; /* first: hand() gets its address */
    int nth, chances, n, taken;
    struct tiled_rest rests[RESTS_MAX];
};

static int find(struct tiled_lender *l)
{
    struct desk *d = (struct desk *)l;
    return ++d->chances % d->nth == 0 ? 7 : -1;
}

static void hand(struct tiled_lender *l, int thread, const struct tiled_rest *r)
{
    struct desk *d = (struct desk *)l;
    CU_ASSERT_EQUAL(thread, 7);
    CU_ASSERT_FATAL(d->n < RESTS_MAX);
    d->rests[d->n++] = *r;
}

struct problem {
    int64_t rows, Sk, D, BC;
    enum dtype dtype;
    bool causal;
    float size; /* of Q: large ones have a tile done again under another maximum */
};

struct result {
    unsigned char *o;
    float *lse;
    size_t o_bytes, lse_bytes;
};

static void *tensor(const struct cpu_simd *simd, const struct problem *p, int64_t rows, float size,
                    unsigned seed)
{
    const int64_t n = rows * p->D;
    float *x = xmalloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = size * ((float)(seed >> 8) / 0x1p23f - 1);
    }
    void *out = mem_alloc_wide((size_t)(n * 4 + 64));
    if (p->dtype == DTYPE_F32)
        memcpy(out, x, (size_t)n * sizeof *x);
    else
        simd->from_float(p->dtype, x, out, n);
    free(x);
    return out;
}

static void *scratch(const struct cpu_simd *simd, const struct tiled_job *j)
{
    const size_t bytes = simd->tiled_scratch(j);
    void *x = mem_alloc_wide(bytes);
    memset(x, 0xff, bytes);
    return x;
}

/* Rows [from, from + rows) of a problem as a tile by itself. */
static void run_tile(const struct cpu_simd *simd, const struct problem *p, void *const qkv[3],
                     int64_t from, int64_t rows, struct desk *desk, struct result *r)
{
    const int64_t size = p->dtype == DTYPE_F32 ? 4 : 2;
    struct tiled_job j = {.q = (char *)qkv[0] + from * p->D * size,
                          .k = qkv[1],
                          .v = qkv[2],
                          .o = r->o + from * p->D * size,
                          .lse = r->lse + from,
                          .q_stride = p->D,
                          .k_stride = p->D,
                          .v_stride = p->D,
                          .o_stride = p->D,
                          .rows = rows,
                          .room = rows,
                          .D = p->D,
                          .BC = p->BC,
                          .first_end = p->causal ? from + p->Sk - p->rows + 1 : p->Sk,
                          .end_step = p->causal,
                          .Sk = p->Sk,
                          .scale = 0.125f,
                          .dtype = p->dtype,
                          .lender = desk ? &desk->base : NULL};
    void *mine = j.scratch = scratch(simd, &j);
    simd->tiled(&j);
    for (int i = 0; desk && i < desk->n; i++) {
        struct tiled_rest rest = desk->rests[i];
        void *buffers = rest.job.scratch = scratch(simd, &rest.job);
        simd->tiled_rest(&rest);
        free(buffers);
    }
    free(mine);
}

static struct result new_result(const struct problem *p)
{
    struct result r = {.o_bytes = (size_t)(p->rows * p->D) * (p->dtype == DTYPE_F32 ? 4 : 2),
                       .lse_bytes = (size_t)p->rows * sizeof(float)};
    r.o = xmalloc(r.o_bytes);
    r.lse = xmalloc(r.lse_bytes);
    memset(r.o, 0x5a, r.o_bytes);
    memset(r.lse, 0x5a, r.lse_bytes);
    return r;
}

static bool same_bits(const struct result *a, const struct result *b)
{
    return !memcmp(a->o, b->o, a->o_bytes) && !memcmp(a->lse, b->lse, a->lse_bytes);
}

static void free_result(struct result *r)
{
    free(r->o);
    free(r->lse);
}

static void make_tensors(const struct cpu_simd *simd, const struct problem *p, void *qkv[3])
{
    qkv[0] = tensor(simd, p, p->rows, p->size, 1);
    qkv[1] = tensor(simd, p, p->Sk, p->size > 1 ? p->size : 1, 2);
    qkv[2] = tensor(simd, p, p->Sk, 1, 3);
}

static void free_tensors(void *qkv[3])
{
    for (int i = 0; i < 3; i++)
        free(qkv[i]);
}

/* Handed over at every chance, at every second, at every third: how often in all. */
static int lent_in_all(const struct cpu_simd *simd, const struct problem *p)
{
    void *qkv[3];
    int handed = 0;
    struct result whole = new_result(p);
    make_tensors(simd, p, qkv);
    run_tile(simd, p, qkv, 0, p->rows, NULL, &whole);
    for (int nth = 1; nth <= 3; nth++) {
        static struct desk d;
        d = (struct desk){.base = {find, hand}, .nth = nth};
        struct result lent = new_result(p);
        run_tile(simd, p, qkv, 0, p->rows, &d, &lent);
        CU_ASSERT(same_bits(&whole, &lent));
        handed += d.n;
        free_result(&lent);
    }
    free_result(&whole);
    free_tensors(qkv);
    return handed;
}

static const struct problem problems[] = {
    {64, 4096, 64, 192, DTYPE_F32, false, 1},  {64, 4096, 64, 192, DTYPE_F32, true, 1},
    {64, 1500, 128, 96, DTYPE_F32, true, 1},   {50, 3001, 65, 100, DTYPE_F32, true, 1},
    {64, 2048, 64, 96, DTYPE_F32, false, 60},  {64, 2048, 64, 96, DTYPE_F32, true, 60},
    {200, 1000, 64, 192, DTYPE_F32, true, 1},  {64, 2048, 64, 192, DTYPE_BF16, true, 1},
    {64, 2048, 64, 96, DTYPE_BF16, false, 60}, {50, 3001, 66, 100, DTYPE_BF16, true, 1},
    {128, 1500, 96, 96, DTYPE_BF16, true, 1},  {64, 2048, 64, 192, DTYPE_F16, true, 1},
    {64, 2048, 64, 96, DTYPE_F16, false, 60},  {50, 3001, 65, 100, DTYPE_F16, true, 1},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* .ci/run, of the sanitized build: each set of instructions takes one problem in so many, the next set the next ones. */
static int every(void)
{
    const char *fewer = getenv("LEND_EVERY");
    const int n = fewer ? atoi(fewer) : 1;
    return n > 1 ? n : 1;
}

static void check_set(const struct cpu_simd *simd, int set)
{
    for (int i = set % every(); i < PROBLEMS; i += every())
        CU_ASSERT(lent_in_all(simd, &problems[i]) > 0);
}

static void test_same_bits(void)
{
    int set = 0;
    for (const struct cpu_simd *const *s = cpu_simd_table(); *s; s++)
        if (cpu_simd_usable(*s))
            check_set(*s, set++);
#if defined __x86_64__
    if (cpu_simd_usable(&cpu_simd_avx512_bf16))
        check_set(&cpu_simd_amx_played, set);
#endif
}

/* In floats; pairs of a mask's edge are added up otherwise. */
static void test_tiles_do_not_matter(void)
{
    static const int64_t heights[] = {1, 16, 40, 64, 128};
    const struct cpu_simd *simd = NULL;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(cpu_simd_pick(NULL, &simd, &err), ST_OK);
    for (int i = 0; i < PROBLEMS; i += every()) {
        struct problem p = problems[i];
        p.rows = 128;
        p.dtype = DTYPE_F32;
        void *qkv[3];
        make_tensors(simd, &p, qkv);
        struct result whole = new_result(&p);
        run_tile(simd, &p, qkv, 0, p.rows, NULL, &whole);
        for (size_t h = 0; h < sizeof heights / sizeof *heights; h++) {
            struct result parts = new_result(&p);
            for (int64_t at = 0; at < p.rows; at += heights[h])
                run_tile(simd, &p, qkv, at, heights[h] < p.rows - at ? heights[h] : p.rows - at,
                         NULL, &parts);
            CU_ASSERT(same_bits(&whole, &parts));
            free_result(&parts);
        }
        free_result(&whole);
        free_tensors(qkv);
    }
}

/* Little is left of a short tile, so nobody is asked. */
static void test_little_stays(void)
{
    const struct problem p = {64, 192, 64, 96, DTYPE_F32, false, 1};
    for (const struct cpu_simd *const *s = cpu_simd_table(); *s; s++)
        if (cpu_simd_usable(*s))
            CU_ASSERT_EQUAL(lent_in_all(*s, &p), 0);
}

static const struct tap_test tests[] = {
    {"queries that others go on with give the same bits", test_same_bits},
    {"nor does it matter which tile a query is in", test_tiles_do_not_matter},
    {"what is nearly done stays", test_little_stays},
};

TAP_MAIN("lend", tests)
