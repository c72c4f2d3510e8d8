/* test_tune_values.c - where the list of a parameter's values ends, on kernels made for the test and on all built-in ones.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/tune_values.h"

#include <stdio.h>
#include <string.h>

#include "kernel/registry.h"
#include "tap.h"

/* Without ranges: up to 1048576, if nothing ends a list. */
static const char wide[] =
    "/* @name wide\n@title t\n@dtypes f16\n@requires BR % 16 == 0\n"
    "@param BR 64 rows\n@param BC 64 keys\n@param SPLITS 4 parts\n@threads 2*BR\n"
    "@grid ceil(Sq/BR) H B\n@smem dynamic k BC*D*T keys\n*/\n";

struct bench {
    struct kernel_desc *desc;
    struct device_table *devices;
    const struct device *gpu;
    struct shape shape;
    int64_t v[TUNE_VALUES_MAX];
    int n;
};

static struct bench setup(const char *source)
{
    struct bench b = {.shape = SHAPE_DEFAULT, .devices = devices_new()};
    CU_ASSERT_EQUAL_FATAL(desc_parse("test.cu", source, strlen(source), &b.desc, NULL), ST_OK);
    CU_ASSERT_EQUAL_FATAL(devices_get(b.devices, "H200", &b.gpu, NULL), ST_OK);
    return b;
}

static void teardown(struct bench *b)
{
    desc_free(b->desc);
    devices_free(b->devices);
}

static void list(struct bench *b, const char *name, int64_t rows)
{
    b->shape.Sq = b->shape.Sk = rows;
    b->n = tune_values(b->desc, desc_param_index(b->desc, name), &b->shape, b->gpu, b->v);
}

static bool is_list(const struct bench *b, int n, const int64_t *v)
{
    if (b->n == n && !memcmp(b->v, v, (size_t)n * sizeof *v))
        return true;
    for (int i = 0; i < b->n; i++)
        printf("# %lld\n", (long long)b->v[i]);
    return false;
}
#define IS(b, ...)                                                                  \
    CU_ASSERT(is_list(b, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
                      (const int64_t[]){__VA_ARGS__}))

static void test_covers(void)
{
    struct bench b = setup(wide);
    list(&b, "BR", 100); /* 8 is refused, 128 covers 100 rows */
    IS(&b, 8, 16, 32, 64, 128);
    list(&b, "BR", 128);
    IS(&b, 8, 16, 32, 64, 128);
    list(&b, "BR", 129);
    IS(&b, 8, 16, 32, 64, 128, 256);
    list(&b, "BR", 1); /* the default stays */
    IS(&b, 8, 16, 64);
    list(&b, "BC", 100);
    IS(&b, 1, 2, 4, 8, 16, 32, 64, 128);
    b.shape.Sk = 3000; /* keys are Sk's, rows are Sq's */
    b.n = tune_values(b.desc, desc_param_index(b.desc, "BR"), &b.shape, b.gpu, b.v);
    IS(&b, 8, 16, 32, 64, 128);
    teardown(&b);
}

static void test_refused(void)
{
    struct bench b = setup(wide);
    list(&b, "BR", 1 << 20); /* 1024 threads are 512 rows */
    IS(&b, 8, 16, 32, 64, 128, 256, 512, 1024);
    list(&b, "BC", 1 << 20); /* 1776 keys of 128 bytes have room, and 2048 do not */
    IS(&b, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048);
    list(&b, "SPLITS", 64); /* is no side, and nothing refuses it */
    CU_ASSERT(b.n == 21 && b.v[20] == 1 << 20);
    b.gpu = NULL;
    list(&b, "BR", 1 << 20);
    CU_ASSERT(b.n == 21 && b.v[20] == 1 << 20);
    teardown(&b);
}

/* Of a built-in kernel no tile is longer than the shape needs, and its default is there. */
static void test_built_in(void)
{
    struct registry *r = registry_new();
    struct bench b = setup(wide);
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel_desc *d = registry_at(r, i)->cuda;
        for (const struct tune_side *side = tune_sides; d && side->name; side++) {
            const int p = desc_param_index(d, side->name);
            if (p < 0 || d->params[p].words)
                continue;
            b.shape = SHAPE_DEFAULT;
            b.shape.Sq = b.shape.Sk = 70;
            const int64_t usual = desc_defaults_for(d, &b.shape).v[p];
            b.n = tune_values(d, p, &b.shape, b.gpu, b.v);
            bool found = false;
            for (int k = 0; k < b.n; k++) {
                found |= b.v[k] == usual;
                CU_ASSERT(b.v[k] <= 128 || b.v[k] == usual);
                CU_ASSERT(b.v[k] >= d->params[p].lo && b.v[k] <= d->params[p].hi);
                CU_ASSERT(!k || b.v[k] > b.v[k - 1]);
            }
            CU_ASSERT(found);
        }
    }
    registry_free(r);
    teardown(&b);
}

static const struct tap_test tests[] = {
    {"the first value that covers the shape is the last", test_covers},
    {"so is the first that is refused", test_refused},
    {"built-in kernels", test_built_in},
};
TAP_MAIN("tune_values", tests)
