/* What a kernel takes at a shape by what it took at others: a time at the very shape as it is, one that follows the form found
 * between others, and how sure that is; rounds of blocks; what a plan asks of a GPU.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/nearby.h"

#include <math.h>
#include <stdlib.h>

#include "kernel/registry.h"
#include "tap.h"

/* Blocks of 64 queries over all keys, `resident` of them on each of 132 multiprocessors. */
static struct nearby_load load(int64_t heads, int64_t s, double resident)
{
    struct nearby_load l = {.shape = SHAPE_DEFAULT, .resident = resident, .sms = 132};
    l.shape.H = l.shape.Hkv = heads;
    l.shape.Sq = l.shape.Sk = s;
    l.blocks = (double)heads * ceil((double)s / 64);
    l.work = l.longest = 64.0 * (double)s;
    l.bytes = 8.0 * (double)(heads * s) * 64;
    return l;
}

struct truth {
    double t0, a, q, b;
};

static struct nearby_time timed(const struct truth *t, struct nearby_load l, double factor)
{
    return (struct nearby_time){
        l, factor * (t->t0 + t->a * l.work * nearby_rounds(&l, t->q) + t->b * l.bytes)};
}

static void test_rounds(void)
{
    struct nearby_load l = load(10, 4289, 4); /* 680 blocks: 528 at once, the rest two by two */
    CU_ASSERT_DOUBLE_EQUAL(nearby_rounds(&l, 0), 2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(nearby_rounds(&l, 1), 6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(nearby_rounds(&l, 0.5), 2.5 + 1.5, 1e-12);
    l = load(8, 4096, 4); /* 512: one round of 4 */
    CU_ASSERT_DOUBLE_EQUAL(nearby_rounds(&l, 0), 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(nearby_rounds(&l, 1), 4, 1e-12);
    l = load(1, 64, 4);
    CU_ASSERT_DOUBLE_EQUAL(nearby_rounds(&l, 1), 1, 1e-12);
    l.shape.causal = true; /* the longest block, where all begin at once */
    l.longest = 3 * l.work;
    CU_ASSERT_DOUBLE_EQUAL(nearby_rounds(&l, 0.5), 3, 1e-12);
}

static const int64_t heads[] = {8, 8, 8, 16, 4, 64}, lengths[] = {512, 1024, 4096, 1024, 2048, 512};
enum { TIMES = 6 };

static void fill(const struct truth *t, struct nearby_time v[TIMES])
{
    for (int i = 0; i < TIMES; i++)
        v[i] = timed(t, load(heads[i], lengths[i], 3), 1);
}

static void test_form(void)
{
    static const struct truth all[] = {
        {2, 1e-4, 0, 0}, {3, 1e-4, 0.4, 0}, {5, 2e-5, 1, 0}, {3, 1e-6, 0.3, 1e-6}};
    static const int64_t asked[][2] = {{10, 4289}, {11, 700}, {8, 2048}, {24, 1500}};
    struct nearby_time v[TIMES];
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        fill(&all[k], v);
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            const struct nearby_load at = load(asked[i][0], asked[i][1], 3);
            const struct nearby_guess g = nearby_guess(v, TIMES, &at);
            const double us = timed(&all[k], at, 1).us;
            CU_ASSERT(fabs(g.us / us - 1) < 0.1); /* a launch is taken to be usual */
            CU_ASSERT(g.error > 0 && g.error < 0.3);
        }
    }
}

static void test_exact(void)
{
    static const struct truth t = {2, 1e-4, 0.3, 0};
    struct nearby_time v[TIMES];
    fill(&t, v);
    v[3].us *= 1.7; /* whatever the others say */
    const struct nearby_guess g = nearby_guess(v, TIMES, &v[3].load);
    CU_ASSERT_DOUBLE_EQUAL(g.us, v[3].us, 1e-9);
    CU_ASSERT(g.error < 0.02);
}

/* A factor that the form does not have is carried over, less and less. */
static void test_carried(void)
{
    static const struct truth t = {2, 1e-4, 0.3, 0};
    struct nearby_time v[TIMES];
    fill(&t, v);
    v[2].us *= 1.3; /* H=8 S=4096 */
    const struct nearby_load near = load(8, 4000, 3), far = load(8, 600, 3);
    const struct nearby_guess a = nearby_guess(v, TIMES, &near), b = nearby_guess(v, TIMES, &far);
    CU_ASSERT(a.us / timed(&t, near, 1).us > 1.15);
    CU_ASSERT(fabs(b.us / timed(&t, far, 1).us - 1) < 0.1);
    const struct nearby_load further = load(8, 32768, 3);
    CU_ASSERT(a.error < nearby_guess(v, TIMES, &further).error);
}

static void test_few(void)
{
    static const struct truth t = {3, 1e-4, 0.3, 0};
    const struct nearby_load at = load(8, 1024, 3), twice = load(8, 2048, 3);
    const struct nearby_time one = timed(&t, at, 1);
    const struct nearby_guess g = nearby_guess(&one, 1, &twice);
    CU_ASSERT(g.us > 1.5 * one.us && g.us < 3 * one.us);
    CU_ASSERT(g.error > 0.02);
    CU_ASSERT(isnan(nearby_guess(NULL, 0, &at).us));
}

static bool loaded(const char *kernel, const char *shape, const char *param, const char *value,
                   struct nearby_load *out)
{
    struct registry *r = registry_new();
    struct device_table *devices = devices_new();
    const struct kernel_desc *d = registry_find(r, kernel)->cuda;
    const struct device *gpu = NULL;
    struct shape s = SHAPE_DEFAULT;
    struct plan p = {0};
    CU_ASSERT_EQUAL(shape_parse(shape, &s, NULL), ST_OK);
    CU_ASSERT_EQUAL(devices_get(devices, "H200", &gpu, NULL), ST_OK);
    struct param_values v = desc_defaults_for(d, &s);
    if (param)
        CU_ASSERT_EQUAL(desc_param_set(d, &v, param, value, NULL), ST_OK);
    (void)plan_brief(d, &s, &v, gpu, NULL, &p, NULL);
    const bool good = nearby_load(&p, out);
    plan_clear(&p);
    devices_free(devices);
    registry_free(r);
    return good;
}

static void test_plan(void)
{
    struct nearby_load l;
    CU_ASSERT(loaded("fa2_mma", "H=8 S=1000 D=64", "BR", "64", &l));
    CU_ASSERT(l.blocks == 8 * 16 && l.sms == 132 && l.resident >= 1);
    CU_ASSERT_DOUBLE_EQUAL(l.work, 64.0 * 1024, 1); /* tiles in full */
    CU_ASSERT(l.bytes == 4 * 8 * 1000 * 64 * 2);
    struct nearby_load c;
    CU_ASSERT(loaded("fa2_mma", "H=8 S=1000 D=64 causal", "BR", "64", &c));
    CU_ASSERT(c.longest == 64 * 1000 && c.work > 0.5 * l.work && c.work < 0.65 * l.work);
    CU_ASSERT(loaded("fa3_persistent", "H=10 S=4289 D=64", "BR", "192", &l));
    CU_ASSERT_DOUBLE_EQUAL(l.work, 2 * 192.0 * 4352,
                           1); /* 230 tiles by 132 blocks: some take two */
    CU_ASSERT_FALSE(loaded("decode_splitkv", "H=8 S=1k D=64", NULL, NULL, &l) && l.resident < 1);
}

static const struct tap_test tests[] = {
    {"rounds of blocks", test_rounds},
    {"a form is found", test_form},
    {"a time at the very shape", test_exact},
    {"what the form leaves is carried over", test_carried},
    {"few times", test_few},
    {"what a plan asks of a GPU", test_plan},
};
TAP_MAIN("nearby", tests)
