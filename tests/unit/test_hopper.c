/* What sm_90a brought to the simulator: operands of wgmma in shared memory, boxes of the copy engine, what waits for them, and what
 * is told where nobody does. Layouts are checked against a model that puts elements down by tiles of 8 rows, not by bits of
 * addresses.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/half.h"
#include "sim/hazard.h"
#include "sim/sim.h"
#include "sim/tensor_map.h"
#include "sim/wgmma.h"

enum { SHARED = 64 << 10, OUT = 64 * 256, K = 16 };

/* ---- a program ---- */

struct params {
    uint64_t out, in;
    uint64_t a, b;    /* descriptors */
    uint8_t fill[96]; /* the map begins at 128 */
    uint8_t map[TENSOR_MAP_BYTES];
};

struct trial {
    struct sim_program *p;
    struct sim_memory *m;
    struct sim_launch launch;
    struct sim_result r;
    struct err err;
    struct params params;
    enum status st;
    uint32_t blocks; /* 0: one */
};

static const char head[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 sm[];\n"
    ".visible .entry k(.param .u64 pout, .param .u64 pin, .param .u64 pa, .param .u64 pb,\n"
    ".param .align 64 .b8 fill[32], .param .align 64 .b8 pmap[128])\n{\n"
    ".reg .b64 %out, %in, %a, %b, %map, %x<9>;\n.reg .b32 %t, %s, %r<200>;\n.reg .f32 %f<200>;\n"
    ".reg .pred %p<9>;\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %s, sm;\nld.param.u64 %out, [pout];\nld.param.u64 %in, [pin];\n"
    "ld.param.u64 %a, [pa];\nld.param.u64 %b, [pb];\nmov.b64 %x0, pmap;\ncvta.param.u64 %map, "
    "%x0;\n";

/* `in` and the map are the caller's; `t` has 128 threads. */
static struct trial begin(const void *in, size_t bytes)
{
    struct trial t = {.err = ERR_INIT};
    t.m = sim_memory_new(4 << 20);
    CU_ASSERT_FATAL(sim_memory_add(t.m, "out", OUT * 4, &t.params.out, &t.err) == ST_OK);
    CU_ASSERT_FATAL(sim_memory_add(t.m, "in", bytes, &t.params.in, &t.err) == ST_OK);
    sim_memory_write(t.m, t.params.in, in, bytes);
    return t;
}

static void go(struct trial *t, const char *body, uint32_t threads)
{
    struct str s = {0};
    const struct sim_options o = {.threads = 1, .hazards = true};
    str_addf(&s, "%s%sret;\n}\n", head, body);
    t->launch = (struct sim_launch){.grid = {t->blocks ? t->blocks : 1, 1, 1},
                                    .block = {threads, 1, 1},
                                    .dynamic_shared = SHARED,
                                    .params = &t->params,
                                    .param_bytes = sizeof t->params};
    t->st = sim_program_new(str_text(&s), s.len, "k", &t->p, &t->err);
    if (t->st == ST_OK)
        t->st = sim_run(t->p, t->m, &t->launch, &o, &t->r, &t->err);
    if (t->st != ST_OK)
        printf("# %s\n", t->err.text);
    str_free(&s);
}

static void end(struct trial *t)
{
    sim_result_clear(&t->r);
    sim_program_free(t->p);
    sim_memory_free(t->m);
}

static const struct sim_fault *fault_of(const struct trial *t, enum sim_fault_kind k)
{
    for (size_t i = 0; i < t->r.faults; i++)
        if (t->r.fault[i].kind == k)
            return &t->r.fault[i];
    return NULL;
}

static bool hazard_of(const struct trial *t, enum hazard_kind k)
{
    for (size_t i = 0; i < t->r.hazards; i++)
        if (t->r.hazard[i].kind == k)
            return true;
    return false;
}

static bool clean(const struct trial *t)
{
    for (size_t i = 0; i < t->r.faults; i++) {
        char *s = sim_fault_sentence(t->p, t->m, &t->launch, &t->r.fault[i]);
        printf("# %s\n", s);
        free(s);
    }
    for (size_t i = 0; i < t->r.hazards; i++)
        printf("# %s\n", hazard_kind_name(t->r.hazard[i].kind));
    return t->st == ST_OK && !t->r.faults && !t->r.hazards;
}

/* ---- the model of layouts: elements laid down tile by tile ---- */

/* An operand of `rows` x 16. k side by side: tiles of 8 rows, each row as wide as the swizzle (16 bytes without one: then a
 * tile for each 8 k, `rows` / 8 tiles one behind the other). Rows side by side: tiles of 8 k, each k as wide as the swizzle. */
struct layout {
    int rows, swizzle;
    bool beside;
};

static int put_at(const struct layout *l, int row, int k, uint64_t *leading, uint64_t *stride)
{
    const int wide = l->swizzle ? l->swizzle : 16, tile = 8 * wide; /* bytes */
    const int across = l->beside ? row : k, down = l->beside ? k : row;
    const int per = wide / 2; /* elements of a line of a tile */
    const int line = down % 8, chunk = across % per / 8;
    /* one tile behind the other: those of the same `across` first */
    const int tiles_down = l->beside ? K / 8 : l->rows / 8;
    const int which = across / per * tiles_down + down / 8;
    if (l->beside && !l->swizzle) {
        *leading = (uint64_t)tile;               /* from k 0 to k 8 */
        *stride = (uint64_t)(tiles_down * tile); /* from row 0 to row 8 */
    } else {
        *stride = (uint64_t)tile;
        *leading = (uint64_t)(tiles_down * tile);
    }
    /* lines of 128 bytes of a tile exchange their chunks by their number */
    const int number = line * wide / 128 % (wide / 16);
    const int at = l->swizzle == 128  ? chunk ^ line
                   : l->swizzle == 64 ? chunk ^ number
                   : l->swizzle == 32 ? chunk ^ number
                                      : chunk;
    return which * tile + line * wide + at * 16 + across % 8 * 2;
}

static uint64_t descriptor(uint32_t at, uint64_t leading, uint64_t stride, int swizzle)
{
    const uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return (uint64_t)(at / 16) | leading / 16 << 16 | stride / 16 << 32 | mode << 62;
}

static void test_addresses(void)
{
    for (int beside = 0; beside < 2; beside++)
        for (int swizzle = 0; swizzle <= 128; swizzle = swizzle ? 2 * swizzle : 32) {
            const struct layout l = {.rows = 64, .swizzle = swizzle, .beside = beside};
            for (int row = 0; row < 64; row++)
                for (int k = 0; k < K; k++) {
                    uint64_t leading, stride;
                    const uint32_t at = (uint32_t)put_at(&l, row, k, &leading, &stride) + 2048;
                    const struct wgmma_operand o =
                        wgmma_operand(descriptor(2048, leading, stride, swizzle));
                    const uint32_t r = (uint32_t)row, c = (uint32_t)k;
                    const uint32_t got = beside
                                             ? wgmma_address(&o, true, r / 8 * 8, c) + r % 8 * 2
                                             : wgmma_address(&o, false, r, c / 8 * 8) + c % 8 * 2;
                    CU_ASSERT_EQUAL_FATAL(got, at);
                }
        }
}

/* ---- products ---- */

static uint64_t random_next(uint64_t *x)
{
    *x = *x * 6364136223846793005ull + 1442695040888963407ull;
    return *x >> 33;
}

struct product {
    int n;
    struct layout a, b; /* of A: swizzle -1: in registers */
    bool a_registers, add, bf16;
    int scale_a, scale_b;
};

static uint16_t half_of(float x, bool bf16)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return bf16 ? (uint16_t)(u >> 16) : half_from_float(x);
}

/* Copies `in` (SHARED bytes) to shared memory, tells the other proxy, and multiplies. */
static char *product_text(const struct product *p)
{
    struct str s = {0};
    str_add(&s, "shl.b32 %r0, %t, 4;\nadd.u32 %r1, %s, %r0;\ncvt.u64.u32 %x1, %r0;\nadd.u64 %x2, "
                "%in, %x1;\nmov.u32 %r2, 0;\nCOPY: ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%x2];\n"
                "st.shared.v4.u32 [%r1], {%r3, %r4, %r5, %r6};\nadd.u32 %r1, %r1, 2048;\nadd.u64 "
                "%x2, %x2, 2048;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 20;\n@%p1 bra COPY;\n"
                "fence.proxy.async.shared::cta;\nbar.sync 0;\n");
    for (int i = 0; i < p->n / 2; i++)
        str_addf(&s, "mov.f32 %%f%d, 0f40000000;\n", i); /* 2 */
    if (p->a_registers) /* a fragment lies in `in` behind 3/4 of SHARED: 4 words of each thread */
        str_addf(&s,
                 "add.u64 %%x3, %%in, %d;\nadd.u64 %%x3, %%x3, %%x1;\nld.global.v4.u32 {%%r10, "
                 "%%r11, %%r12, %%r13}, [%%x3];\n",
                 SHARED / 4 * 3);
    str_addf(&s, "setp.ne.u32 %%p2, %d, 0;\nwgmma.fence.sync.aligned;\n", p->add);
    str_addf(&s, "wgmma.mma_async.sync.aligned.m64n%dk16.f32.%s.%s {", p->n,
             p->bf16 ? "bf16" : "f16", p->bf16 ? "bf16" : "f16");
    for (int i = 0; i < p->n / 2; i++)
        str_addf(&s, "%s%%f%d", i ? ", " : "", i);
    str_addf(&s, "}, %s, %%b, %%p2, %d, %d", p->a_registers ? "{%r10, %r11, %r12, %r13}" : "%a",
             p->scale_a, p->scale_b);
    if (!p->a_registers)
        str_addf(&s, ", %d", p->a.beside);
    str_addf(&s, ", %d;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
             p->b.beside);
    str_addf(&s, "mul.wide.u32 %%x4, %%t, %d;\nadd.u64 %%x4, %%x4, %%out;\n", p->n / 2 * 4);
    for (int i = 0; i < p->n / 2; i++)
        str_addf(&s, "st.global.f32 [%%x4+%d], %%f%d;\n", 4 * i, i);
    return str_take(&s);
}

static void try_product(const struct product *p, uint64_t seed)
{
    static uint8_t in[SHARED];
    static float a[64][K], b[256][K], out[OUT];
    uint64_t leading[2] = {0}, stride[2] = {0}, x = seed;
    memset(in, 0x7e, sizeof in); /* NaN where nothing belongs */
    for (int i = 0; i < 64 * K; i++)
        a[i / K][i % K] = (float)((int)(random_next(&x) % 17) - 8);
    for (int i = 0; i < p->n * K; i++)
        b[i / K][i % K] = (float)((int)(random_next(&x) % 17) - 8) / 4;
    for (int i = 0; i < 64 * K && !p->a_registers; i++) {
        const uint16_t h = half_of(a[i / K][i % K], p->bf16);
        memcpy(in + put_at(&p->a, i / K, i % K, &leading[0], &stride[0]), &h, 2);
    }
    for (int i = 0; i < p->n * K; i++) {
        const uint16_t h = half_of(b[i / K][i % K], p->bf16);
        memcpy(in + 16384 + put_at(&p->b, i / K, i % K, &leading[1], &stride[1]), &h, 2);
    }
    for (int thread = 0; thread < 128 && p->a_registers; thread++)
        for (int e = 0; e < 8; e++) { /* as mma.sync m16n8k16 has A */
            const int row = thread / 32 * 16 + thread % 32 / 4 + e / 2 % 2 * 8,
                      k = thread % 4 * 2 + e % 2 + e / 4 * 8;
            const uint16_t h = half_of(a[row][k], p->bf16);
            memcpy(in + SHARED / 4 * 3 + thread * 16 + e * 2, &h, 2);
        }
    struct trial t = begin(in, sizeof in);
    t.params.a = descriptor(0, leading[0], stride[0], p->a.swizzle);
    t.params.b = descriptor(16384, leading[1], stride[1], p->b.swizzle);
    char *text = product_text(p);
    go(&t, text, 128);
    free(text);
    CU_ASSERT(clean(&t));
    sim_memory_read(t.m, t.params.out, out, sizeof out);
    int wrong = 0;
    for (int row = 0; row < 64; row++)
        for (int n = 0; n < p->n; n++) {
            float want = p->add ? 2 : 0;
            for (int k = 0; k < K; k++)
                want += a[row][k] * b[n][k] * (float)(p->scale_a * p->scale_b);
            const int thread = row / 16 * 32 + row % 8 * 4 + n % 8 / 2,
                      reg = n / 8 * 4 + row % 16 / 8 * 2 + n % 2;
            wrong += out[thread * (p->n / 2) + reg] != want;
        }
    if (wrong)
        printf("# n %d, A swizzle %d beside %d registers %d, B swizzle %d beside %d: %d wrong\n",
               p->n, p->a.swizzle, p->a.beside, p->a_registers, p->b.swizzle, p->b.beside, wrong);
    CU_ASSERT_EQUAL(wrong, 0);
    end(&t);
}

static void test_products(void)
{
    static const int swizzles[] = {0, 32, 64, 128};
    uint64_t seed = 7;
    for (int i = 0; i < 64; i++) {
        const int n = i % 3 == 0 ? 64 : i % 3 == 1 ? 128 : 192;
        const struct product p = {
            .n = n,
            .a = {.rows = 64, .swizzle = swizzles[i % 4], .beside = i / 4 % 2},
            .b = {.rows = n, .swizzle = swizzles[i / 8 % 4], .beside = i / 32 % 2},
            .a_registers = i % 5 == 4,
            .add = i % 2,
            .bf16 = i % 7 < 3,
            .scale_a = i % 11 == 3 ? -1 : 1,
            .scale_b = i % 6 == 2 ? -1 : 1};
        try_product(&p, seed++);
    }
    const struct product small = {
        .n = 8, .a = {.rows = 64}, .b = {.rows = 8}, .scale_a = 1, .scale_b = 1};
    try_product(&small, seed);
}

/* ---- the copy engine ---- */

#define BARRIER 60000 /* of shared memory, 8 bytes */
static const char make_barrier[] =
    "setp.ne.u32 %p3, %t, 0;\n@%p3 bra MADE;\nmbarrier.init.shared.b64 [sm+60000], 1;\n"
    "fence.mbarrier_init.release.cluster;\nMADE: bar.sync 0;\n";
static const char await_barrier[] =
    "AGAIN: mbarrier.try_wait.parity.shared.b64 %p4, [sm+60000], 0;\n@!%p4 bra AGAIN;\n";
/* the first 16 KiB of shared memory go out */
static const char show_shared[] =
    "mov.u32 %r2, 0;\nshl.b32 %r0, %t, 4;\nadd.u32 %r1, %s, %r0;\ncvt.u64.u32 %x1, %r0;\nadd.u64 "
    "%x2, %out, %x1;\nSHOW: ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r1];\nst.global.v4.u32 [%x2], "
    "{%r3, %r4, %r5, %r6};\nadd.u32 %r1, %r1, 2048;\nadd.u64 %x2, %x2, 2048;\nadd.u32 %r2, %r2, "
    "1;\nsetp.lt.u32 %p1, %r2, 4;\n@%p1 bra SHOW;\n";

/* A tensor of 3 x 20 x 40 halves whose elements are their numbers; a box of 2 x 16 x (swizzle or 64 bytes). */
static void try_box(int swizzle, int c0, int c1, int c2)
{
    enum { D0 = 40, D1 = 20, D2 = 3, ROWS = 16, DEEP = 2 };
    static uint16_t in[D2 * D1 * D0], out[OUT * 2];
    const int wide = swizzle ? swizzle / 2 : 32; /* elements of a row of the box */
    struct str s = {0};
    for (int i = 0; i < D0 * D1 * D2; i++)
        in[i] = (uint16_t)(i + 1);
    struct trial t = begin(in, sizeof in);
    const struct tensor_map m = {.address = t.params.in,
                                 .rank = 3,
                                 .element = 2,
                                 .swizzle = (uint8_t)swizzle,
                                 .dim = {D0, D1, D2},
                                 .stride = {D0 * 2, D0 * D1 * 2},
                                 .box = {(uint16_t)wide, ROWS, DEEP}};
    CU_ASSERT_FATAL(tensor_map_encode(&m, t.params.map, &t.err) == ST_OK);
    str_addf(&s,
             "%s@%%p3 bra WAIT;\nmbarrier.arrive.expect_tx.shared.b64 _, [sm+60000], %u;\n"
             "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
             "[sm], [%%map, {%d, %d, %d}], [sm+60000];\nWAIT:\n%s",
             make_barrier, tensor_map_box_bytes(&m), c0, c1, c2, await_barrier);
    /* what the box leaves is written first, so that all may be read */
    struct str body = {0};
    str_addf(&body,
             "mov.u32 %%r2, 0;\nshl.b32 %%r0, %%t, 4;\nadd.u32 %%r1, %%s, %%r0;\nCLEAR: "
             "st.shared.v4.u32 [%%r1], {%%r2, %%r2, %%r2, %%r2};\nadd.u32 %%r1, %%r1, 2048;\n"
             "setp.lt.u32 %%p1, %%r1, 8192;\n@%%p1 bra CLEAR;\nfence.proxy.async;\nbar.sync "
             "0;\n%s%s",
             str_text(&s), show_shared);
    go(&t, str_text(&body), 128);
    CU_ASSERT(clean(&t));
    sim_memory_read(t.m, t.params.out, out, 8192);
    int wrong = 0;
    for (int z = 0; z < DEEP; z++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < wide; x++) {
                const int gx = c0 + x, gy = c1 + y, gz = c2 + z;
                const bool in_it = gx >= 0 && gx < D0 && gy >= 0 && gy < D1 && gz >= 0 && gz < D2;
                const int want = in_it ? 1 + gx + D0 * (gy + D1 * gz) : 0;
                const int line = z * ROWS + y; /* of `wide` elements, chunks of 8 exchanged */
                const int per = 64 / wide;     /* lines in 128 bytes */
                const int mix = swizzle ? line / per % 8 % (wide / 8) : 0;
                const int at = line * wide + ((x / 8) ^ mix) * 8 + x % 8;
                wrong += out[at] != want;
            }
    if (wrong)
        printf("# swizzle %d at %d %d %d: %d wrong\n", swizzle, c0, c1, c2, wrong);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(t.r.total.async_copies, 1);
    str_free(&s);
    str_free(&body);
    end(&t);
}

static void test_boxes(void)
{
    for (int swizzle = 0; swizzle <= 128; swizzle = swizzle ? 2 * swizzle : 32) {
        try_box(swizzle, 0, 0, 0);
        try_box(swizzle, 8, 12, 1); /* beyond the last row, and the last plane */
        try_box(swizzle, 32, 3, 2);
        try_box(swizzle, -5, -3, -1); /* before all of them */
        try_box(swizzle, 100, 0, 0);  /* nothing of it is there */
    }
}

static void test_plain_bytes(void)
{
    static uint32_t in[512], out[512];
    for (uint32_t i = 0; i < 512; i++)
        in[i] = i * 3;
    struct trial t = begin(in, sizeof in);
    struct str s = {0};
    str_addf(
        &s,
        "%s@%%p3 bra WAIT;\nmbarrier.arrive.expect_tx.shared.b64 _, [sm+60000], 2048;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm+256], [%%in], "
        "2048, [sm+60000];\nWAIT:\n%s"
        "@%%p3 bra DONE;\ncp.async.bulk.global.shared::cta.bulk_group [%%out], [sm+256], 2048;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nDONE:\n",
        make_barrier, await_barrier);
    go(&t, str_text(&s), 128);
    CU_ASSERT(clean(&t));
    sim_memory_read(t.m, t.params.out, out, sizeof out);
    CU_ASSERT(!memcmp(in, out, sizeof in));
    CU_ASSERT_EQUAL(t.r.total.global_sectors, 128);
    str_free(&s);
    end(&t);
}

static void test_maps(void)
{
    struct tensor_map m = {.address = 512,
                           .rank = 2,
                           .element = 2,
                           .dim = {64, 64},
                           .stride = {128},
                           .box = {64, 8},
                           .swizzle = 128},
                      back;
    uint8_t bytes[TENSOR_MAP_BYTES] = {0};
    struct err err = ERR_INIT;
    CU_ASSERT(!tensor_map_decode(bytes, &back));
    CU_ASSERT(tensor_map_encode(&m, bytes, &err) == ST_OK && tensor_map_decode(bytes, &back));
    CU_ASSERT_EQUAL(tensor_map_box_bytes(&back), 1024);
    m.address = 520;
    CU_ASSERT(tensor_map_encode(&m, bytes, &err) == ST_USAGE);
    m.address = 512, m.stride[0] = 120;
    CU_ASSERT(tensor_map_encode(&m, bytes, &err) == ST_USAGE);
    m.stride[0] = 128, m.box[0] = 65;
    CU_ASSERT(tensor_map_encode(&m, bytes, &err) == ST_USAGE);
    m.box[0] = 64, m.swizzle = 64; /* rows of 128 bytes in a pattern of 64 */
    CU_ASSERT(tensor_map_encode(&m, bytes, &err) == ST_USAGE);
    m.swizzle = 0, m.box[1] = 257;
    CU_ASSERT(tensor_map_encode(&m, bytes, &err) == ST_USAGE);
}

/* ---- what goes wrong ---- */

static struct trial run_blocks(const char *body, uint32_t threads, uint32_t blocks)
{
    static const uint8_t in[SHARED];
    struct trial t = begin(in, sizeof in);
    t.blocks = blocks;
    t.params.a = descriptor(0, 16, 1024, 128);
    t.params.b = descriptor(8192, 16, 1024, 128);
    go(&t, body, threads);
    return t;
}

static struct trial run(const char *body, uint32_t threads)
{
    return run_blocks(body, threads, 1);
}

/* A body that makes this fault, or hazard; and nothing of it when `cure` is put for `ill`. */
static void ails(const char *body, const char *ill, const char *cure, int fault, int hazard)
{
    struct str s = {0};
    const char *at = strstr(body, ill);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    struct trial t = run(body, 128);
    CU_ASSERT(t.st == ST_OK);
    CU_ASSERT(fault < 0 || fault_of(&t, (enum sim_fault_kind)fault));
    CU_ASSERT(hazard < 0 || hazard_of(&t, (enum hazard_kind)hazard));
    end(&t);
    str_addf(&s, "%.*s%s%s", (int)(at - body), body, cure, at + strlen(ill));
    t = run(str_text(&s), 128);
    CU_ASSERT(clean(&t));
    end(&t);
    str_free(&s);
}

#define FILL                                                                   \
    "mov.u32 %r2, 0;\nshl.b32 %r0, %t, 4;\nadd.u32 %r1, %s, %r0;\nCLEAR: "     \
    "st.shared.v4.u32 [%r1], {%r2, %r2, %r2, %r2};\nadd.u32 %r1, %r1, 2048;\n" \
    "setp.lt.u32 %p1, %r1, 16384;\n@%p1 bra CLEAR;\n"
#define PRODUCT                                                                                   \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %a, %b, %p5, 1, 1, " \
    "0, 0;\n"
#define READY      FILL "fence.proxy.async;\nbar.sync 0;\nsetp.ne.u32 %p5, %t, 9999;\n"
#define COMMIT     "wgmma.commit_group.sync.aligned;\n"
#define WAIT0      "wgmma.wait_group.sync.aligned 0;\n"
#define KEEP       "st.global.f32 [%out], %f1;\n"
#define FENCE      "wgmma.fence.sync.aligned;\n"
#define ONE_THREAD "setp.ne.u32 %p6, %t, 0;\n"

static void test_products_that_ail(void)
{
    ails(READY "mov.f32 %f1, 0f00000000;\n" PRODUCT COMMIT WAIT0, "%f1, 0f00000000;\n",
         "%f9, 0f00000000;\n" FENCE, SIM_FAULT_WGMMA_FENCE, -1);
    ails(READY FENCE PRODUCT COMMIT WAIT0 "mul.f32 %f9, %f1, %f1;\n" PRODUCT COMMIT WAIT0,
         "mul.f32 %f9, %f1, %f1;\n", "mul.f32 %f9, %f1, %f1;\n" FENCE, SIM_FAULT_WGMMA_FENCE, -1);
    ails(READY PRODUCT COMMIT WAIT0, "9999;\n", "9999;\n" FENCE, SIM_FAULT_WGMMA_FENCE, -1);
    ails(READY FENCE PRODUCT COMMIT "mul.f32 %f9, %f1, %f1;\n" WAIT0, "mul.f32 %f9, %f1, %f1;\n",
         "", SIM_FAULT_WGMMA_REGISTER, -1);
    ails(READY FENCE PRODUCT COMMIT "wgmma.wait_group.sync.aligned 1;\nmul.f32 %f9, %f1, %f1;\n",
         "aligned 1", "aligned 0", SIM_FAULT_WGMMA_REGISTER, -1);
    ails(READY FENCE PRODUCT WAIT0 "mul.f32 %f9, %f1, %f1;\n", WAIT0, COMMIT WAIT0,
         SIM_FAULT_WGMMA_REGISTER, -1);
    ails(FILL "bar.sync 0;\n" FENCE PRODUCT COMMIT WAIT0, "bar.sync",
         "fence.proxy.async;\nbar.sync", -1, HAZARD_PROXY);
    ails(READY FENCE PRODUCT COMMIT "st.shared.u32 [%r0+8192], %r2;\n" WAIT0,
         "st.shared.u32 [%r0+8192], %r2;\n", "", -1, HAZARD_OPERAND);
    ails(READY FENCE "setp.gt.u32 %p6, %t, 63;\n@%p6 bra LESS;\n" PRODUCT "LESS:\n" COMMIT WAIT0,
         "%t, 63", "%t, 127", SIM_FAULT_WGMMA, -1);
    ails(READY FENCE "add.u64 %b, %b, 8192;\n" PRODUCT COMMIT WAIT0, "8192;\n", "0;\n",
         SIM_FAULT_BOUNDS_READ, -1);
    ails(READY FENCE "cvt.u64.u32 %x1, %t;\nadd.u64 %b, %b, %x1;\n" PRODUCT COMMIT WAIT0,
         "%b, %b, %x1", "%x2, %b, %x1", SIM_FAULT_WGMMA, -1);
    struct trial t = run("setmaxnreg.inc.sync.aligned.u32 256;\n", 384); /* each of three */
    CU_ASSERT_PTR_NOT_NULL(fault_of(&t, SIM_FAULT_SETMAXNREG));
    end(&t);
}

#define MAKE(count)                                                                \
    ONE_THREAD "@%p6 bra MADE;\nmbarrier.init.shared.b64 [sm+60000], " count ";\n" \
               "fence.mbarrier_init.release.cluster;\nMADE: bar.sync 0;\n"
#define EXPECT(n) "@%p6 bra WAIT;\nmbarrier.arrive.expect_tx.shared.b64 _, [sm+60000], " n ";\n"
#define BULK(to, n)                                                                            \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm+" to "], [%in], " n \
    ", [sm+60000];\n"
#define AWAIT(parity) \
    "AGAIN: mbarrier.try_wait.parity.shared.b64 %p4, [sm+60000], " parity ";\n@!%p4 bra AGAIN;\n"
#define READ "ld.shared.u32 %r9, [sm+512];\n"

/* Cycles of the launch's blocks, by their warps' clocks. */
static double cycles_of_blocks(const char *body, uint32_t threads, uint32_t blocks)
{
    struct trial t = run_blocks(body, threads, blocks);
    double sum = 0;
    CU_ASSERT(t.st == ST_OK);
    for (size_t i = 0; i < t.r.phases; i++)
        sum += (double)t.r.phase[i].cycles;
    end(&t);
    return sum;
}

static double cycles_of(const char *body, uint32_t threads)
{
    return cycles_of_blocks(body, threads, 1);
}

#define EX2(n)                                                                         \
    "mov.u32 %r5, 0;\nTURN" n ": ex2.approx.ftz.f32 %f9, %f9;\nadd.u32 %r5, %r5, 1;\n" \
    "setp.lt.u32 %p2, %r5, 400;\n@%p2 bra TURN" n ";\n"
#define WIDE PRODUCT PRODUCT PRODUCT PRODUCT PRODUCT PRODUCT PRODUCT PRODUCT

static void test_pace(void)
{
    const char *const none = READY "mov.f32 %f9, 0f00000000;\n";
    struct str both = {0}, work = {0}, product = {0}, apart = {0};
    str_addf(&work, "%s%s", none, EX2("A"));
    str_addf(&product, "%s%s%s", READY FENCE, WIDE WIDE WIDE WIDE, COMMIT WAIT0);
    str_addf(&both, "%s%s%s%s%s", none, FENCE WIDE WIDE WIDE WIDE, COMMIT, EX2("A"), WAIT0);
    str_addf(&apart, "%s%s%s%s%s", none, FENCE WIDE WIDE WIDE WIDE, COMMIT, WAIT0, EX2("A"));
    const double begin_to_end = cycles_of(none, 128), w = cycles_of(str_text(&work), 128),
                 p = cycles_of(str_text(&product), 128), b = cycles_of(str_text(&both), 128),
                 a = cycles_of(str_text(&apart), 128);
    CU_ASSERT_EQUAL(begin_to_end, 0); /* no wgmma, no clocks */
    CU_ASSERT_EQUAL(w, 0);
    CU_ASSERT(a > b + 300 &&
              b > p); /* work beside the products is for nothing, as far as they go */
    /* a second warpgroup does its own beside: products of two share the tensor cores, all else is apart */
    const double p2 = cycles_of(str_text(&product), 256);
    CU_ASSERT(p2 > p + 100);
    str_free(&both);
    str_free(&work);
    str_free(&product);
    str_free(&apart);
}

/* Cycles of two warpgroups that meet after each product, so often. */
static double cycles_of_turns(int turns)
{
    struct str s = {0};
    str_addf(&s,
             "%smov.f32 %%f9, 0f00000000;\nmov.u32 %%r7, 0;\nAGAIN: %s%s"
             "ex2.approx.ftz.f32 %%f9, %%f9;\nex2.approx.ftz.f32 %%f9, %%f9;\nbar.sync 0;\n"
             "add.u32 %%r7, %%r7, 1;\nsetp.lt.u32 %%p2, %%r7, %d;\n@%%p2 bra AGAIN;\n",
             READY, FENCE PRODUCT, COMMIT WAIT0, turns);
    const double cycles = cycles_of(str_text(&s), 256);
    str_free(&s);
    return cycles;
}

/* A turn takes as long as ever where the tensor cores have been busy more often than is kept of them. */
static void test_pace_of_turns(void)
{
    const double few = cycles_of_turns(500), more = cycles_of_turns(1500),
                 many = cycles_of_turns(6000), turn = (more - few) / 1000;
    CU_ASSERT(turn > 0);
    CU_ASSERT_DOUBLE_EQUAL((many - more) / 4500, turn, 0.01 * turn);
}

/* Each block has its own clocks, whoever ran before it: the first block alone works long before it arrives. */
static void test_pace_of_blocks(void)
{
    double cycles[3];
    for (int i = 0; i < 3; i++) {
        struct str s = {0};
        str_addf(&s,
                 "%s%smov.u32 %%r7, %%ctaid.x;\nsetp.lt.u32 %%p7, %%r7, %d;\n@%%p6 bra WAIT;\n"
                 "@!%%p7 bra FAST;\n%sFAST: mbarrier.arrive.shared.b64 %%x1, [sm+60000];\nWAIT:\n"
                 "%s%s",
                 READY, MAKE("1"), i != 1, EX2("L"), AWAIT("0"), FENCE PRODUCT COMMIT WAIT0);
        cycles[i] = cycles_of_blocks(str_text(&s), 128, i == 2 ? 2 : 1);
        str_free(&s);
    }
    CU_ASSERT(cycles[1] > 0 && cycles[0] > cycles[1] + 1000);
    CU_ASSERT_DOUBLE_EQUAL(cycles[2], cycles[0] + cycles[1], 1e-6 * cycles[2]);
}

/* Cycles of a block two of whose warps meet twenty times before they end a phase that the others ask for; what is done
 * `between` two questions, and `after` the answer. */
static double cycles_of_questions(const char *between, const char *after)
{
    struct str s = {0};
    str_addf(
        &s,
        "%s%sshr.u32 %%r7, %%t, 6;\nsetp.ne.u32 %%p7, %%r7, 0;\n@%%p7 bra WAIT;\nmov.u32 %%r6, 0;\n"
        "OTHER: bar.sync 1, 64;\nadd.u32 %%r6, %%r6, 1;\nsetp.lt.u32 %%p2, %%r6, 20;\n@%%p2 bra "
        "OTHER;\n@%%p6 bra WAIT;\nmbarrier.arrive.shared.b64 %%x1, [sm+60000];\nWAIT:\n"
        "AGAIN: mbarrier.try_wait.parity.shared.b64 %%p4, [sm+60000], 0;\n@%%p4 bra DONE;\n"
        "%sbra AGAIN;\nDONE:\n%s%s",
        READY, MAKE("1"), between, after, FENCE PRODUCT COMMIT WAIT0);
    const double cycles = cycles_of(str_text(&s), 128);
    str_free(&s);
    return cycles;
}

/* Who asks an mbarrier again and again, as often as another one moves on, spends nothing by it, however much lies between
 * two questions. What lies between an answer and the next question is work. */
static void test_pace_of_questions(void)
{
    const char *const done = "mbarrier.try_wait.parity.shared.b64 %p4, [sm+60000], 0;\n";
    struct str once = {0}, twice = {0};
    str_addf(&once, "%s%s", EX2("W"), EX2("X"));
    str_addf(&twice, "%s%s%s", EX2("W"), done, EX2("X"));
    const double tight = cycles_of_questions("", ""), loose = cycles_of_questions(EX2("Q"), ""),
                 works = cycles_of_questions("", str_text(&once)),
                 asks = cycles_of_questions("", str_text(&twice));
    CU_ASSERT(tight > 0);
    CU_ASSERT_DOUBLE_EQUAL(loose, tight, 8);
    CU_ASSERT(works > tight + 2 * 400 * 8);
    CU_ASSERT_DOUBLE_EQUAL(asks, works, 200);
    str_free(&once);
    str_free(&twice);
}

/* An mbarrier may lie where shared memory begins: a copy that goes out is not announced to it. */
static void test_first_mbarrier(void)
{
    struct trial t = run(
        READY ONE_THREAD
        "@%p6 bra MADE;\nmbarrier.init.shared.b64 [sm], 1;\nfence.mbarrier_init.release.cluster;\n"
        "MADE: bar.sync 0;\n@%p6 bra WAIT;\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%out], [sm+4096], 1024;\n"
        "cp.async.bulk.commit_group;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [sm], 512;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm+512], [%in], 512, "
        "[sm];\n"
        "WAIT:\nAGAIN: mbarrier.try_wait.parity.shared.b64 %p4, [sm], 0;\n@!%p4 bra AGAIN;\n"
        "cp.async.bulk.wait_group 0;\n",
        128);
    CU_ASSERT(clean(&t));
    end(&t);
}

/* What threads wrote is sent by the copy engine: seen through a fence of the proxy alone. */
static void test_sends_that_ail(void)
{
    ails("mad.lo.u32 %r1, %t, 4, %s;\nst.shared.u32 [%r1+4096], %t;\nbar.sync 0;\n" ONE_THREAD
         "@%p6 bra DONE;\ncp.async.bulk.global.shared::cta.bulk_group [%out], [sm+4096], 512;\n"
         "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nDONE:\n",
         "bar.sync 0;\n", "fence.proxy.async;\nbar.sync 0;\n", -1, HAZARD_PROXY);
}

/* 512 bytes that all threads wrote, and the one thread that goes on. */
#define SENT(place)                                                                         \
    "mad.lo.u32 %r1, %t, 4, %s;\nst.shared.u32 [%r1+4096], %t;\nst.shared.u32 [%r1+8192], " \
    "%t;\nfence.proxy.async;\nbar.sync 0;\n" ONE_THREAD "@%p6 bra " place ";\n"
#define SEND(from, to) \
    "cp.async.bulk.global.shared::cta.bulk_group [%out+" to "], [sm+" from "], 512;\n"
#define SENT_ALL  "cp.async.bulk.commit_group;\n"
#define READ_OF   "cp.async.bulk.wait_group.read "
#define OVERWRITE "st.shared.u32 [sm+4096], 7;\n"

/* The source of a bulk store is written again before it has been read: the kinds, and what cures it. */
static void test_sources_that_ail(void)
{
    /* no wait; one that comes too late; one for all but the last group; one for a group that it is not of */
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL OVERWRITE "DONE:\n", OVERWRITE,
         READ_OF "0;\n" OVERWRITE, -1, HAZARD_SOURCE);
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL OVERWRITE READ_OF "0;\nDONE:\n",
         OVERWRITE READ_OF "0;\n", READ_OF "0;\n" OVERWRITE, -1, HAZARD_SOURCE);
    ails(SENT("DONE") SEND("8192", "512") SENT_ALL SEND("4096", "0") SENT_ALL READ_OF
         "1;\n" OVERWRITE "DONE:\n",
         "read 1", "read 0", -1, HAZARD_SOURCE);
    ails(SENT("DONE") SENT_ALL SEND("4096", "0") READ_OF "0;\n" OVERWRITE "DONE:\n", READ_OF,
         SENT_ALL READ_OF, -1, HAZARD_SOURCE);
    /* the wait for all of it is one for its reads; the last group but one may be written when it has been read */
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL OVERWRITE "DONE:\n", OVERWRITE,
         "cp.async.bulk.wait_group 0;\n" OVERWRITE, -1, HAZARD_SOURCE);
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL SEND("8192", "512") SENT_ALL READ_OF
         "2;\n" OVERWRITE READ_OF "0;\nDONE:\n",
         "read 2", "read 1", -1, HAZARD_SOURCE);
    /* another thread waits, of the same warp or not, which has no groups */
    ails(SENT("SENT") SEND("4096", "0") SENT_ALL
         "SENT: setp.ne.u32 %p6, %t, 1;\n@%p6 bra DONE;\n" READ_OF
         "0;\nDONE: bar.sync 0;\n@%p6 bra OVER;\n" OVERWRITE "OVER:\n",
         "%t, 1;", "%t, 0;", -1, HAZARD_SOURCE);
    ails(SENT("SENT") SEND("4096", "0") SENT_ALL
         "SENT: setp.ne.u32 %p6, %t, 64;\n@%p6 bra DONE;\n" READ_OF
         "0;\nDONE: bar.sync 0;\n@%p6 bra OVER;\n" OVERWRITE "OVER:\n",
         "@%p6 bra DONE;\n", "", -1, HAZARD_SOURCE);
    /* the one that sent has waited, and the other thread does not know */
    ails(SENT("SENT") SEND("4096", "0") SENT_ALL READ_OF
         "0;\nSENT: setp.ne.u32 %p6, %t, 64;\n@!%p6 " OVERWRITE,
         "SENT: ", "SENT: bar.sync 0;\n", -1, HAZARD_BLOCK);
    ails(SENT("SENT") SEND("4096", "0") SENT_ALL READ_OF
         "0;\nSENT: setp.ne.u32 %p6, %t, 5;\n@!%p6 " OVERWRITE,
         "SENT: ", "SENT: bar.warp.sync -1;\n", -1, HAZARD_WARP);
    /* a copy to the place where another one begins */
    ails(SENT("DONE") "mbarrier.init.shared.b64 [sm+60000], 1;\n"
                      "fence.mbarrier_init.release.cluster;\n" SEND("4096", "0") SENT_ALL
         "mbarrier.arrive.expect_tx.shared.b64 _, [sm+60000], 512;\n" BULK("4096", "512")
             AWAIT("0") "DONE:\n",
         SENT_ALL, SENT_ALL READ_OF "0;\n", -1, HAZARD_SOURCE);
}

/* Each lane waits for its own groups: what is sent, too. */
static void test_sends_of_lanes(void)
{
    static const char body[] =
        SENT("DONE") "DONE: setp.gt.u32 %p6, %t, 1;\n@%p6 bra OVER;\n"
                     "mad.lo.u32 %r2, %t, 4096, 4096;\nadd.u32 %r2, %r2, %s;\nmul.wide.u32 %x1, "
                     "%t, 512;\n"
                     "add.u64 %x1, %x1, %out;\ncp.async.bulk.global.shared::cta.bulk_group [%x1], "
                     "[%r2], 512;\n" SENT_ALL "setp.eq.u32 %p5, %t, 0;\n@%p5 bra LESS;\n" READ_OF
                     "0;\n"
                     "LESS: st.shared.u32 [%r2], 77;\nOVER:\n";
    uint32_t out[256] = {0};
    struct trial t = run(body, 128);
    CU_ASSERT(t.st == ST_OK && t.r.hazards == 1);
    const struct hazard_report *h = t.r.hazard;
    CU_ASSERT_FATAL(t.r.hazards == 1);
    CU_ASSERT(h->kind == HAZARD_SOURCE && h->a.lane == 0 && h->b.lane == 0 && h->addr == 4096);
    CU_ASSERT(h->a.act == HAZARD_READ && h->b.act == HAZARD_WRITE && h->a.insn < h->b.insn);
    sim_memory_read(t.m, t.params.out, out, sizeof out);
    CU_ASSERT(out[0] == 77 && out[128] == 0); /* lane 1's left with what it had */
    end(&t);
}

/* What a bulk store writes is there behind the wait for all of it, and the thread that waited tells others. */
static void test_targets_that_ail(void)
{
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL READ_OF "0;\nld.global.u32 %r9, [%out];\nDONE:\n",
         "wait_group.read", "wait_group", -1, HAZARD_WAIT);
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL "st.global.u32 [%out+8], %t;\nDONE:\n", SENT_ALL,
         SENT_ALL "cp.async.bulk.wait_group 0;\n", -1, HAZARD_WAIT);
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL READ_OF
         "0;\nDONE: bar.sync 0;\nld.global.u32 %r9, [%out];\n",
         "wait_group.read", "wait_group", -1, HAZARD_WAIT);
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL "cp.async.bulk.wait_group 0;\n"
                                                 "DONE: ld.global.u32 %r9, [%out];\n",
         "DONE: ", "DONE: bar.sync 0;\n", -1, HAZARD_BLOCK);
    /* two of them to one place, of a thread */
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL READ_OF "0;\n" SEND("8192", "0") SENT_ALL READ_OF
         "0;\nDONE:\n",
         "wait_group.read", "wait_group", -1, HAZARD_WAIT);
}

/* Another block reads what was stored, behind a word that says that it is there. */
static void test_targets_of_other_blocks(void)
{
    for (int whole = 0; whole < 2; whole++) {
        struct str s = {0};
        str_addf(&s,
                 "mov.u32 %%r7, %%ctaid.x;\nsetp.ne.u32 %%p7, %%r7, 0;\n@%%p7 bra OTHER;\n%s"
                 "cp.async.bulk.wait_group%s 0;\nst.release.gpu.global.u32 [%%in+64], 1;\n"
                 "bra DONE;\nOTHER: ld.acquire.gpu.global.u32 %%r8, [%%in+64];\n"
                 "setp.eq.u32 %%p4, %%r8, 0;\n@%%p4 bra OTHER;\nld.global.u32 %%r9, [%%out];\n"
                 "DONE:\n",
                 SENT("DONE") SEND("4096", "0") SENT_ALL, whole ? "" : ".read");
        struct trial t = run_blocks(str_text(&s), 128, 2);
        CU_ASSERT(whole ? clean(&t) : t.st == ST_OK && hazard_of(&t, HAZARD_WAIT));
        end(&t);
        str_free(&s);
    }
}

#define REDUCE(how) \
    "cp.reduce.async.bulk.global.shared::cta.bulk_group." how " [%out], [sm+4096], 512;\n"
#define CLEAR_OUT "mad.wide.u32 %x1, %t, 4, %out;\nst.global.u32 [%x1], 0;\n"

/* Bulk reductions: what they leave, and that their sources and targets are watched as those of stores are. */
static void test_bulk_reductions(void)
{
    static const struct {
        const char *how;
        uint32_t there, result; /* of element 5: 5 is sent, twice */
    } is[] = {{"add.u32", 7, 17},
              {"max.s32", 0xfffffff0, 5},
              {"min.u32", 7, 5},
              {"xor.b32", 7, 7},
              {"inc.u32", 4, 0},
              {"add.f32", 0x3f800000, 0x3f800000},
              {"add.noftz.bf16", 0x3f803f80, 0x3f803f80}};
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct str s = {0};
        uint32_t out[128] = {0};
        str_addf(&s, "mad.wide.u32 %%x1, %%t, 4, %%out;\nst.global.u32 [%%x1], %u;\n%s",
                 is[i].there, SENT("DONE"));
        for (int k = 0; k < 2; k++)
            str_addf(&s,
                     "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%out], [sm+4096], "
                     "512;\n%scp.async.bulk.wait_group 0;\n",
                     is[i].how, SENT_ALL);
        str_add(&s, "DONE:\n");
        struct trial t = run(str_text(&s), 128);
        CU_ASSERT(clean(&t) && sim_memory_read(t.m, t.params.out, out, sizeof out));
        CU_ASSERT_EQUAL(out[5], is[i].result);
        end(&t);
        str_free(&s);
    }
    ails(CLEAR_OUT SENT("DONE") REDUCE("add.u32") SENT_ALL OVERWRITE "DONE:\n", OVERWRITE,
         READ_OF "0;\n" OVERWRITE, -1, HAZARD_SOURCE);
    ails(CLEAR_OUT SENT("DONE") REDUCE("add.u32") SENT_ALL READ_OF
         "0;\nld.global.u32 %r9, [%out];\nDONE:\n",
         "wait_group.read", "wait_group", -1, HAZARD_WAIT);
    ails(SENT("DONE") REDUCE("add.u32") SENT_ALL "cp.async.bulk.wait_group 0;\nDONE:\n",
         SENT("DONE"), CLEAR_OUT SENT("DONE"), SIM_FAULT_UNWRITTEN, -1);
    /* of two that are under way to the same place none is first, and none need be */
    struct trial t = run(CLEAR_OUT SENT("DONE") REDUCE("add.u32") SENT_ALL REDUCE("add.u32")
                             SENT_ALL READ_OF "0;\nDONE:\n",
                         128);
    CU_ASSERT(clean(&t));
    end(&t);
}

/* An input is written all the same, and who does it is told: by stores, again and again, by atomics and by the copy engine. */
static void test_guarded(void)
{
    static const char *const bodies[] = {
        "mad.wide.u32 %x1, %t, 4, %in;\nmov.u32 %r5, 0;\nTURN: st.global.u32 [%x1], 7;\n"
        "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 9;\n@%p2 bra TURN;\n",
        "setp.ne.u32 %p2, %t, 127;\n@!%p2 red.global.add.u32 [%in+508], 7;\n",
        SENT("DONE") "cp.async.bulk.global.shared::cta.bulk_group [%in], [sm+4096], 512;\n" SENT_ALL
            READ_OF "0;\nDONE:\n",
    };
    static const uint32_t lanes[] = {128 * 9, 1, 1}, words[] = {7, 7, 127};
    static const uint8_t in[512];
    for (int i = 0; i < 3; i++) {
        uint32_t back[128];
        struct trial t = begin(in, sizeof in);
        sim_memory_guard(t.m, t.params.in);
        go(&t, bodies[i], 128);
        const struct sim_fault *f = fault_of(&t, SIM_FAULT_INPUT);
        CU_ASSERT(t.st == ST_OK && t.r.faults == 1 && !t.r.hazards);
        CU_ASSERT(f && f->space == SIM_GLOBAL && f->count == lanes[i]);
        sim_memory_read(t.m, t.params.in, back, sizeof back);
        CU_ASSERT_EQUAL(back[127], words[i]);
        end(&t);
    }
}

static void test_mbarriers_that_ail(void)
{
    /* whoever arrives or asks comes behind the init, of another warp and of the same */
    ails(ONE_THREAD "@%p6 bra MADE;\nmbarrier.init.shared.b64 [sm+60000], 128;\n"
                    "MADE: mbarrier.arrive.shared.b64 %x1, [sm+60000];\n",
         "MADE: ", "MADE: bar.sync 0;\n", -1, HAZARD_BLOCK);
    ails(ONE_THREAD "@%p6 bra MADE;\nmbarrier.init.shared.b64 [sm+60000], 1;\n"
                    "mbarrier.arrive.shared.b64 %x1, [sm+60000];\nMADE:\n" AWAIT("0"),
         "MADE:\n", "MADE: bar.sync 0;\n", -1, HAZARD_WARP);
    /* and before the next use of its place */
    ails(MAKE("1") "@%p6 bra PAST;\nmbarrier.arrive.shared.b64 %x1, [sm+60000];\nPAST:\n" AWAIT(
             "0") "@%p6 bra DONE;\nmbarrier.inval.shared.b64 [sm+60000];\nDONE:\n",
         "@%p6 bra DONE;\n", "bar.sync 0;\n@%p6 bra DONE;\n", -1, HAZARD_BLOCK);
}

static void test_copies_that_ail(void)
{
    ails(MAKE("1") EXPECT("1024") BULK("512", "1024") "WAIT:\n" AWAIT("1") READ, ", 1;\n@!",
         ", 0;\n@!", SIM_FAULT_UNWRITTEN, HAZARD_WAIT);
    ails(MAKE("1") EXPECT("512") BULK("512", "512") BULK("1024", "512") "WAIT:\n" AWAIT("0") READ,
         "[sm+60000], 512;\ncp", "[sm+60000], 1024;\ncp", SIM_FAULT_EXPECTED, -1);
    ails(MAKE("1") EXPECT("1040") BULK("512", "1024") "WAIT:\n" AWAIT("0") READ, "1040", "1024",
         SIM_FAULT_DEADLOCK, -1);
    ails(MAKE("2") EXPECT("1024") BULK("512", "1024") "WAIT:\n" AWAIT("0") READ, "], 2;", "], 1;",
         SIM_FAULT_DEADLOCK, -1);
    ails(MAKE("1") EXPECT("1024") BULK("520", "1024") "WAIT:\n" AWAIT("0") "ld.shared.u32 %r9, "
                                                                           "[sm+528];\n",
         "sm+520", "sm+528", SIM_FAULT_MISALIGNED, -1);
    ails(MAKE("1") EXPECT("1024") BULK("65024", "1024") "WAIT:\n" AWAIT("0") READ, "65024", "512",
         SIM_FAULT_BOUNDS_WRITE, -1);
    ails(MAKE("1") EXPECT("1024") BULK("512", "1000") "WAIT:\n" AWAIT("0") READ, "1000", "1024",
         SIM_FAULT_COPY_ENGINE, -1);
    ails(ONE_THREAD
         "@%p6 bra MADE;\nmbarrier.init.shared.b64 [sm+60000], 1;\nMADE: bar.sync 0;\n" EXPECT(
             "1024") BULK("512", "1024") "WAIT:\n" AWAIT("0") READ,
         "MADE:", "fence.proxy.async;\nMADE:", SIM_FAULT_MBARRIER, -1);
    /* the copy overwrites what other threads still read: the one that sends it has not met them */
    ails("setp.ne.u32 %p6, %t, 0;\n@!%p6 st.shared.u32 [sm+512], 5;\n" MAKE(
             "1") "ld.shared.u32 %r9, [sm+512];\n" EXPECT("1024")
             BULK("512", "1024") "WAIT:\n" AWAIT("0"),
         EXPECT("1024"), "bar.sync 0;\n" EXPECT("1024"), -1, HAZARD_BLOCK);
}

/* A block ends, and shared memory is not its own any more: stores that may still read there, loads that may still write. */
static void test_copies_that_are_left(void)
{
    static const char left[] = SENT("DONE") SEND("4096", "0") SENT_ALL "DONE:\n";
    /* no wait; no group; one for all but the last group; another thread's; before the store */
    ails(left, "DONE:\n", READ_OF "0;\nDONE:\n", SIM_FAULT_COPY_EXIT, -1);
    ails(left, "DONE:\n", "cp.async.bulk.wait_group 0;\nDONE:\n", SIM_FAULT_COPY_EXIT, -1);
    ails(SENT("DONE") SEND("4096", "0") READ_OF "0;\nDONE:\n", READ_OF, SENT_ALL READ_OF,
         SIM_FAULT_COPY_EXIT, -1);
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL SEND("8192", "512") SENT_ALL READ_OF "1;\nDONE:\n",
         "read 1", "read 0", SIM_FAULT_COPY_EXIT, -1);
    ails(SENT("DONE") SEND("4096", "0") SENT_ALL
         "DONE: setp.ne.u32 %p6, %t, 1;\n@%p6 bra OVER;\n" READ_OF "0;\nOVER:\n",
         "%t, 1;", "%t, 0;", SIM_FAULT_COPY_EXIT, -1);
    ails(SENT("DONE") READ_OF "0;\n" SEND("4096", "0") SENT_ALL "DONE:\n", "DONE:\n",
         READ_OF "0;\nDONE:\n", SIM_FAULT_COPY_EXIT, -1);
    ails(CLEAR_OUT SENT("DONE") REDUCE("add.u32") SENT_ALL "DONE:\n", "DONE:\n",
         READ_OF "0;\nDONE:\n", SIM_FAULT_COPY_EXIT, -1);
    /* a load that nobody waits for, alone and behind one that somebody does */
    ails(MAKE("1") EXPECT("512") BULK("512", "512") "WAIT:\n", "WAIT:\n", "WAIT:\n" AWAIT("0"),
         SIM_FAULT_COPY_EXIT, -1);
    ails(MAKE("1") EXPECT("512")
             BULK("512", "512") "WAIT:\n" AWAIT("0") "@%p6 bra DONE;\n" EXPECT("512")
                 BULK("1024", "512") "DONE:\n",
         "@%p6 bra DONE", "bra DONE", SIM_FAULT_COPY_EXIT, -1);
    /* what was stored is there all the same, also behind a load that is left */
    uint32_t out[128] = {0};
    struct trial t = run(MAKE("1") EXPECT("512") BULK("512", "512") "WAIT:\n" SENT("DONE")
                             SEND("4096", "0") SENT_ALL "DONE:\n",
                         128);
    CU_ASSERT(sim_memory_read(t.m, t.params.out, out, sizeof out) && out[5] == 5);
    CU_ASSERT_EQUAL(t.r.faults, 2);
    end(&t);
    t = run(left, 128);
    const struct sim_fault *f = fault_of(&t, SIM_FAULT_COPY_EXIT);
    CU_ASSERT(f && f->lane == 0 && f->addr == 4096 && f->bytes == 512 && f->count == 1);
    CU_ASSERT(f && strstr(f->text, "does not wait for its group"));
    end(&t);
}

/* Of the last 32 groups of a thread it is known what a wait orders; a wait that leaves more is noted, and said of what may be due to it. */
static void test_many_groups(void)
{
    static const struct {
        const char *waits;
        uint32_t left;
    } of[] = {{"cp.async.bulk.wait_group.read 31;\n" READ_OF "0;\n", 31},
              {READ_OF "32;\n" READ_OF "0;\n", 32},
              {"cp.async.wait_group 40;\ncp.async.wait_group 2;\n" READ_OF "0;\n", 40},
              {READ_OF "0;\n", 0}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct str s = {0};
        str_addf(&s, "%s%s%s%sDONE:\n", SENT("DONE"), SEND("4096", "0"), SENT_ALL, of[i].waits);
        struct trial t = run(str_text(&s), 128);
        const uint32_t left = sim_program_facts(t.p).groups_left;
        CU_ASSERT(clean(&t));
        CU_ASSERT_EQUAL(left, of[i].left);
        CU_ASSERT(!hazard_hint(HAZARD_BLOCK, left));
        CU_ASSERT(!hazard_hint(HAZARD_WAIT, left) == (left < 32));
        CU_ASSERT(!hazard_hint(HAZARD_SOURCE, left) == (left < 32));
        end(&t);
        str_free(&s);
    }
    /* 33 groups, of which the first has been waited for: it orders nothing here */
    struct str s = {0};
    str_addf(&s, "%s%s%s", SENT("DONE"), SEND("4096", "0"), SENT_ALL);
    for (int i = 0; i < 32; i++)
        str_add(&s, SENT_ALL);
    str_add(&s, READ_OF "32;\n" OVERWRITE READ_OF "0;\nDONE:\n");
    struct trial t = run(str_text(&s), 128);
    CU_ASSERT(hazard_of(&t, HAZARD_SOURCE));
    CU_ASSERT_PTR_NOT_NULL(hazard_hint(HAZARD_SOURCE, sim_program_facts(t.p).groups_left));
    end(&t);
    str_free(&s);
}

static const struct tap_test tests[] = {
    {"operands lie where descriptors say", test_addresses},
    {"products out of shared memory and registers", test_products},
    {"boxes of tensors, with zeros around them", test_boxes},
    {"bytes there and back", test_plain_bytes},
    {"tensor maps that a driver refuses", test_maps},
    {"products that go wrong are told", test_products_that_ail},
    {"clocks of warpgroups", test_pace},
    {"clocks of blocks", test_pace_of_blocks},
    {"clocks of many turns", test_pace_of_turns},
    {"clocks of who waits", test_pace_of_questions},
    {"an mbarrier at address 0", test_first_mbarrier},
    {"mbarriers that go wrong are told", test_mbarriers_that_ail},
    {"bytes that are sent without a fence", test_sends_that_ail},
    {"sources of bulk stores that are written too early", test_sources_that_ail},
    {"lanes wait for their own bulk stores", test_sends_of_lanes},
    {"targets of bulk stores that are used too early", test_targets_that_ail},
    {"targets of bulk stores that another block reads", test_targets_of_other_blocks},
    {"bulk reductions", test_bulk_reductions},
    {"writes into inputs are told", test_guarded},
    {"copies that go wrong are told", test_copies_that_ail},
    {"copies under way when the block ends", test_copies_that_are_left},
    {"waits that leave many groups", test_many_groups},
};

TAP_MAIN("hopper", tests)
