/* Addresses of shared memory as buffers and elements: overlays, tiles, swizzles, a dynamic part that begins elsewhere.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/place.h"

#include <string.h>

#include "base/number.h"
#include "tap.h"

static const char source[] =
    "/* @name spots\n@title t\n@dtypes f16\n@threads 32\n@grid 1\n"
    "@smem static Red 20 align=4 type=f32 a static one\n"
    "@smem dynamic Ks 2*4*64*T align=128 pitch=64 rows=4 swizzle=16 two tiles\n"
    "@smem dynamic Vs 8*32*T align=128 pitch=32 swizzle=16 half as wide\n"
    "@smem dynamic Ws 3*24*T align=16 pitch=24 swizzle=16 three chunks a row\n"
    "@smem dynamic ms 12 align=16 type=f32 maxima\n"
    "@smem dynamic Op 32 over=ms pitch=8 others\n"
    "@smem dynamic raw 10 type=u64 no whole element\n*/\n";

static struct kernel_desc *desc;
static struct plan plan;

static const struct plan_pass *pass(void)
{
    return &plan.passes[0];
}

static int64_t start(const char *name)
{
    for (int i = 0; i < pass()->nsmem; i++)
        if (!strcmp(pass()->smem[i].name, name))
            return pass()->smem[i].offset;
    CU_FAIL("no such buffer");
    return 0;
}

/* `offset` bytes behind the start of the buffer: what is told of the address, and of the offset alone. */
static void expect(const char *name, int64_t offset, const char *there, const char *alone)
{
    const struct plan_spot at = plan_place(pass(), INT_UNKNOWN, start(name) + offset);
    const struct plan_spot in = plan_place_in(pass(), name, offset);
    CU_ASSERT_STRING_EQUAL(at.text, there);
    CU_ASSERT_STRING_EQUAL(in.text, alone);
    if (strcmp(at.text, there) || strcmp(in.text, alone))
        printf("# %s + %d: %s; %s\n", name, (int)offset, at.text, in.text);
}

static void test_elements(void)
{
    expect("Red", 0, "Red[0]", "Red[0]");
    expect("Red", 16, "Red[4]", "Red[4]");
    expect("Red", 18, "Red[4] + 2", "Red[4] + 2");
    expect("raw", 8, "raw[1]", "raw[1]");
    expect("Ks", 0, "Ks[0][0][0]", "Ks[0][0][0]");
    expect("Ks", 4 * 128, "Ks[1][0][0]", "Ks[1][0][0]"); /* the second tile's rows begin anew */
    expect("Ks", 4 * 128 + 1, "Ks[1][0][0] + 1", "Ks[1][0][0] + 1");
    expect("Vs", 0, "Vs[0][0]", "Vs[0][0]"); /* one tile: none is named */
    const struct plan_spot at = plan_place(pass(), INT_UNKNOWN, start("Ks") + 5 * 128 + 2);
    CU_ASSERT(at.buffer && !at.other && !strcmp(at.buffer->name, "Ks"));
    CU_ASSERT(at.offset == 5 * 128 + 2 && at.tile == 1 && at.row == 1 && at.rest == 0);
    const struct plan_spot one = plan_place(pass(), INT_UNKNOWN, 4);
    CU_ASSERT(one.tile == INT_UNKNOWN && one.row == INT_UNKNOWN && one.column == 1);
}

/* Every element of a swizzled tile is found where the kernel puts it: chunk c of row r at c xor turn(r). */
static void expect_swizzled(const char *name, int rows, int pitch, int (*turn)(int row))
{
    int wrong = 0;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < pitch; column++) {
            const int chunk = column / 8 ^ turn(row);
            const struct plan_spot at =
                plan_place_in(pass(), name, 2 * (row * pitch + chunk * 8 + column % 8));
            wrong += at.row != row || at.column != column || at.rest;
        }
    CU_ASSERT_EQUAL(wrong, 0);
}

static int eight(int row)
{
    return row % 8;
}

static int four(int row)
{
    return row / 2 % 4;
}

static int none(int row)
{
    return row * 0;
}

static void test_swizzle(void)
{
    expect_swizzled("Ks", 4, 64, eight);
    expect_swizzled("Vs", 8, 32, four);
    expect_swizzled("Ws", 3, 24, none);
}

static void test_overlay(void)
{
    expect("ms", 4, "ms[1] or Op[0][2]", "ms[1]");
    expect("ms", 11, "ms[2] + 3 or Op[0][5] + 1", "ms[2] + 3");
    expect("Op", 12, "Op[0][6]", "Op[0][6]"); /* behind the end of ms */
    CU_ASSERT_STRING_EQUAL(plan_place(pass(), INT_UNKNOWN, start("ms")).other->name, "Op");
}

/* What is of no buffer, in front of the first, between two and behind the last. */
static void test_nowhere(void)
{
    const int64_t between = 20, behind = start("raw") + 10, all[] = {-1, between, behind};
    static const char *const texts[] = {"+ -1", "+ 20", NULL};
    for (int i = 0; i < 3; i++) {
        const struct plan_spot at = plan_place(pass(), INT_UNKNOWN, all[i]);
        CU_ASSERT(!at.buffer && !at.other && at.offset == all[i] && at.column == INT_UNKNOWN);
        CU_ASSERT(!texts[i] || !strcmp(at.text, texts[i]));
    }
    CU_ASSERT_STRING_EQUAL(plan_place_in(pass(), "Zs", 816).text, "+ 816");
}

/* The dynamic part where it really begins; static buffers stay. */
static void test_moved(void)
{
    const int64_t base = pass()->dynamic_base + 896;
    CU_ASSERT_STRING_EQUAL(plan_place(pass(), base, start("Ks") + 896).text, "Ks[0][0][0]");
    CU_ASSERT_STRING_EQUAL(plan_place(pass(), base, 8).text, "Red[2]");
    CU_ASSERT_PTR_NULL(plan_place(pass(), base, start("Ks")).buffer);
}

static const struct tap_test tests[] = {
    {"elements, rows and tiles", test_elements}, {"a swizzle undone", test_swizzle},
    {"what lies over another", test_overlay},    {"of no buffer", test_nowhere},
    {"the dynamic part elsewhere", test_moved},
};

int main(void)
{
    struct err err = ERR_INIT;
    struct device_table *devices = devices_new();
    const struct device *device;
    const struct shape shape = SHAPE_DEFAULT;
    if (desc_parse("spots.cu", source, strlen(source), &desc, &err) ||
        devices_get(devices, "L4", &device, &err) ||
        plan_build(desc, &shape, &desc->defaults, device, NULL, &plan, &err)) {
        printf("Bail out! %s\n", err.text);
        return 1;
    }
    const int rc = tap_run("plan_place", tests, sizeof tests / sizeof *tests);
    plan_clear(&plan);
    desc_free(desc);
    devices_free(devices);
    return rc;
}
