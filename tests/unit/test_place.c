/* test_place.c - addresses of shared memory as elements of buffers, on layouts made for the test and on those of the
 * built-in kernels.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "kernel/registry.h"
#include "plan/place.h"
#include "tap.h"

#define NOWHERE "/nonexistent"

static const char source[] =
    "/* @name odd\n@title t\n@dtypes f16 f32\n@param BC 8 [1..64] keys\n@param ACC 0 [0..1] sums\n"
    "@threads 128\n@grid 1\n"
    "@smem static red 32 type=f32 sums\n"
    "@smem dynamic raw 100 align=4 bytes\n"
    "@smem dynamic Ks 2*BC*(D+4)*T align=64 pitch=D+4 rows=BC two tiles\n"
    "@smem dynamic Os 4*10*(4-2*ACC) pitch=10 type=4-2*ACC sums\n"
    "@smem dynamic Op 64 over=Os type=f32 rows: this is text\n"
    "@smem dynamic Ws 64*128 pitch=64 type=f16 swizzle=16 exchanged\n"
    "@smem dynamic Hs 8*64 pitch=32 type=f16 swizzle=16 rows of 64 bytes\n*/\n";

struct bench {
    struct kernel_desc *desc;
    struct device_table *devices;
    struct plan plan;
};

static struct bench setup(const char *acc)
{
    struct bench b = {.devices = devices_new()};
    struct err err = ERR_INIT;
    struct shape shape = SHAPE_DEFAULT;
    const struct device *device;
    enum status st = desc_parse("test.cu", source, strlen(source), &b.desc, &err);
    if (st != ST_OK)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    CU_ASSERT_EQUAL_FATAL(devices_get(b.devices, "L4", &device, &err), ST_OK);
    struct param_values params = b.desc->defaults;
    CU_ASSERT_EQUAL_FATAL(desc_param_set(b.desc, &params, "ACC", acc, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(plan_build(b.desc, &shape, &params, device, NULL, &b.plan, &err), ST_OK);
    return b;
}

static void teardown(struct bench *b)
{
    plan_clear(&b->plan);
    desc_free(b->desc);
    devices_free(b->devices);
}

static int64_t start(const struct bench *b, const char *name)
{
    for (int i = 0; i < b->plan.passes[0].nsmem; i++)
        if (!strcmp(b->plan.passes[0].smem[i].name, name))
            return b->plan.passes[0].smem[i].offset;
    CU_FAIL("no such buffer");
    return 0;
}

static void expect_text(const struct bench *b, int64_t address, const char *text)
{
    const struct plan_spot spot = plan_place(&b->plan.passes[0], INT_UNKNOWN, address);
    if (strcmp(spot.text, text))
        printf("# %lld: %s instead of %s\n", (long long)address, spot.text, text);
    CU_ASSERT_STRING_EQUAL(spot.text, text);
}

static void test_words(void)
{
    struct bench b = setup("0");
    const int64_t ks = start(&b, "Ks"), row = (64 + 4) * 2;
    expect_text(&b, 0, "red[0]");
    expect_text(&b, 30, "red[7] + 2");
    expect_text(&b, start(&b, "raw") + 99, "raw + 99");
    expect_text(&b, ks, "Ks[0][0][0]");
    expect_text(&b, ks + 5 * row + 12 * 2, "Ks[0][5][12]");
    expect_text(&b, ks + 8 * row + 67 * 2 + 1, "Ks[1][0][67] + 1");
    expect_text(&b, start(&b, "Os") + (10 + 9) * 4, "Os[1][9]");
    expect_text(&b, start(&b, "Os") + 8, "Os[0][2] or Op[2]");
    /* between buffers, behind and before all */
    expect_text(&b, start(&b, "raw") + 100, "+ 164");
    expect_text(&b, -1, "+ -1");
    expect_text(&b, 1 << 20, "+ 1048576");
    teardown(&b);
    b = setup("1"); /* elements of 2 bytes */
    expect_text(&b, start(&b, "Os") + 78, "Os[3][9]");
    teardown(&b);
}

/* The dynamic buffers begin where the code has them; static ones stay. */
static void test_moved_base(void)
{
    struct bench b = setup("0");
    const struct plan_pass *pass = &b.plan.passes[0];
    const int64_t ks = start(&b, "Ks") - pass->dynamic_base;
    CU_ASSERT_STRING_EQUAL(plan_place(pass, 1024, 1024 + ks + 2).text, "Ks[0][0][1]");
    CU_ASSERT_STRING_EQUAL(plan_place(pass, 1024, 4).text, "red[1]");
    CU_ASSERT_STRING_EQUAL(plan_place(pass, 1024, 900).text, "+ 900");
    CU_ASSERT_STRING_EQUAL(plan_place_in(pass, "Ks", 2).text, "Ks[0][0][1]");
    CU_ASSERT_STRING_EQUAL(plan_place_in(pass, "Zs", 2).text, "+ 2");
    teardown(&b);
}

/* Where swizzled() of kernels/cuda/mma.cuh puts a chunk, in bytes: rows of `chunks` chunks. */
static int64_t swizzled(int row, int chunk, int chunks)
{
    const int swizzle = chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : 2;
    return (int64_t)row * chunks * 16 + (chunk ^ row / (8 / swizzle) % swizzle) * 16;
}

static void expect_swizzled(const struct plan_pass *pass, const char *name, int rows, int chunks)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < chunks * 8; c++) {
            const int64_t at = swizzled(r, c / 8, chunks) + c % 8 * 2;
            const struct plan_spot spot = plan_place_in(pass, name, at);
            CU_ASSERT_EQUAL_FATAL(spot.row, r);
            CU_ASSERT_EQUAL_FATAL(spot.column, c);
            CU_ASSERT_EQUAL_FATAL(spot.rest, 0);
        }
}

static void test_swizzle(void)
{
    struct bench b = setup("0");
    expect_swizzled(&b.plan.passes[0], "Ws", 64, 8);
    expect_swizzled(&b.plan.passes[0], "Hs", 8, 4);
    teardown(&b);
}

/* ---- the built-in kernels ---- */

/* The headers say of every buffer what it holds; whole rows and tiles fill it, and no two bytes of it are called
 * alike. */
static void check_buffer(const char *kernel, const struct plan_pass *pass,
                         const struct plan_smem *s)
{
    const int64_t row = s->pitch == INT_UNKNOWN ? s->element_bytes : s->pitch * s->element_bytes;
    const int64_t tile = s->rows == INT_UNKNOWN ? row : row * s->rows;
    const bool fits = s->element_bytes > 0 && s->bytes % tile == 0;
    if (!fits)
        printf("# %s: %s of %lld bytes, pitch %lld, rows %lld\n", kernel, s->name,
               (long long)s->bytes, (long long)s->pitch, (long long)s->rows);
    CU_ASSERT_TRUE_FATAL(fits);
    unsigned char *seen = xcalloc((size_t)s->bytes + 1, 1);
    for (int64_t at = 0; at < s->bytes; at++) {
        const struct plan_spot spot = plan_place_in(pass, s->name, at);
        const int64_t back = (spot.tile == INT_UNKNOWN ? 0 : spot.tile * tile) +
                             (spot.row == INT_UNKNOWN ? 0 : spot.row * row) +
                             spot.column * s->element_bytes + spot.rest;
        CU_ASSERT_TRUE_FATAL(back >= 0 && back < s->bytes && !seen[back]);
        seen[back] = 1;
    }
    free(seen);
}

static void test_builtin(void)
{
    struct registry *r = registry_new();
    struct device_table *devices = devices_new();
    const struct device *device;
    struct err err = ERR_INIT;
    int buffers = 0;
    CU_ASSERT_EQUAL_FATAL(devices_get(devices, "H200", &device, &err), ST_OK);
    for (int i = 0; i < registry_count(r); i++)
        for (enum dtype t = 0; t < DTYPE_COUNT; t++) {
            const struct kernel_desc *d = registry_at(r, i)->cuda;
            struct shape shape = SHAPE_DEFAULT;
            shape.dtype = t;
            if (!d || !(d->dtypes & 1u << t))
                continue;
            const struct param_values params = desc_defaults_for(d, &shape);
            struct plan plan = {0};
            if (plan_build(d, &shape, &params, device, NULL, &plan, &err) == ST_OK)
                for (int p = 0; p < plan.npasses; p++)
                    for (int s = 0; s < plan.passes[p].nsmem; s++, buffers++)
                        check_buffer(d->name, &plan.passes[p], &plan.passes[p].smem[s]);
            plan_clear(&plan);
        }
    CU_ASSERT_TRUE(buffers > 300);
    devices_free(devices);
    registry_free(r);
}

static const struct tap_test tests[] = {
    {"an address in words", test_words},
    {"the dynamic buffers begin elsewhere", test_moved_base},
    {"a swizzle is undone", test_swizzle},
    {"every byte of every built-in buffer has a name of its own", test_builtin},
};

int main(void)
{
    setenv("XDG_CONFIG_HOME", NOWHERE, 1);
    setenv("XDG_DATA_HOME", NOWHERE, 1);
    return tap_run("place", tests, sizeof tests / sizeof *tests);
}
