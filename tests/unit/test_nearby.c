/* What a kernel takes at a shape by what it took at others: a time at the very shape as it is, one that follows the form found
 * between others, and how sure that is, the less the farther they are: other heads, masks, GPUs; what is not sure beside what is;
 * what it is worth to time one more; rounds of blocks; what a plan asks of a GPU.
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

static const double usual_us = 3;

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
            const struct nearby_guess g = nearby_guess(v, TIMES, &at, usual_us);
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
    const struct nearby_guess g = nearby_guess(v, TIMES, &v[3].load, usual_us);
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
    const struct nearby_guess a = nearby_guess(v, TIMES, &near, usual_us),
                              b = nearby_guess(v, TIMES, &far, usual_us);
    CU_ASSERT(a.us / timed(&t, near, 1).us > 1.15);
    CU_ASSERT(fabs(b.us / timed(&t, far, 1).us - 1) < 0.1);
    const struct nearby_load further = load(8, 32768, 3);
    CU_ASSERT(a.error < nearby_guess(v, TIMES, &further, usual_us).error);
}

static void test_few(void)
{
    static const struct truth t = {3, 1e-4, 0.3, 0};
    const struct nearby_load at = load(8, 1024, 3), twice = load(8, 2048, 3);
    const struct nearby_time one = timed(&t, at, 1);
    const struct nearby_guess g = nearby_guess(&one, 1, &twice, usual_us);
    CU_ASSERT(g.us > 1.5 * one.us && g.us < 3 * one.us);
    CU_ASSERT(g.error > 0.02);
    CU_ASSERT(isnan(nearby_guess(NULL, 0, &at, usual_us).us));
}

/* Times of other heads, masks, layouts and GPUs count, and less. */
static void test_farther(void)
{
    static const struct truth t = {3, 1e-4, 0.3, 0};
    static const struct device here, there;
    struct nearby_time v[TIMES];
    struct nearby_load at = load(8, 1500, 3);
    fill(&t, v);
    at.gpu = &here;
    for (int i = 0; i < TIMES; i++)
        v[i].load.gpu = &here;
    const double near = nearby_guess(v, TIMES, &at, usual_us).error;
    double far[4];
    for (int k = 0; k < 4; k++) {
        fill(&t, v);
        for (int i = 0; i < TIMES; i++) {
            v[i].load.gpu = k ? &here : &there;
            v[i].load.shape.causal = k == 1;
            v[i].load.shape.D *= k == 2 ? 2 : 1;
            v[i].load.shape.layout = k == 3;
        }
        const struct nearby_guess g = nearby_guess(v, TIMES, &at, usual_us);
        CU_ASSERT(fabs(g.us / timed(&t, at, 1).us - 1) < 0.15);
        far[k] = g.error;
    }
    CU_ASSERT(near < far[3] && far[3] < far[1] && far[1] < far[2] && far[2] < far[0]);
    fill(&t, v);
    for (int i = 0; i < TIMES; i++) {
        v[i].load.gpu = &here;
        v[i].load.old = true;
    }
    CU_ASSERT(nearby_guess(v, TIMES, &at, usual_us).error > near);
    CU_ASSERT(nearby_apart(&at.shape, &at.shape, true, false) > 0); /* never taken as it is */
    struct shape other = at.shape;
    CU_ASSERT_EQUAL(nearby_apart(&at.shape, &other, true, true), 0);
    other.dtype = DTYPE_BF16;
    CU_ASSERT_EQUAL(nearby_apart(&at.shape, &other, true, true), 0);
    other.dtype = DTYPE_F32;
    CU_ASSERT(isinf(nearby_apart(&at.shape, &other, true, true)));
    other = at.shape;
    other.page = 16;
    CU_ASSERT(isinf(nearby_apart(&at.shape, &other, true, true)));
}

/* What one time leaves open is said: whether a run is mostly launch, work or bytes. */
static void test_extrapolated(void)
{
    static const struct truth t = {3, 1e-4, 0.3, 0};
    const struct nearby_load at = load(8, 512, 3), far = load(8, 16384, 3);
    const struct nearby_time one = timed(&t, at, 1);
    const struct nearby_guess g = nearby_guess(&one, 1, &far, usual_us);
    const double off = log(g.us / timed(&t, far, 1).us);
    CU_ASSERT(g.error > 0.3 && fabs(off) < 3 * g.error);
    struct nearby_load heavy = far;
    heavy.least_us = 10 * g.us; /* no kernel is faster than its units */
    CU_ASSERT(nearby_guess(&one, 1, &heavy, usual_us).us >= 10 * g.us);
}

static void test_beside(void)
{
    struct nearby_guess g[] = {{10, 0.02}, {4, 1.5}, {9, 0.04}, {40, 0.03}};
    nearby_temper(g, 4);
    CU_ASSERT(g[1].us > 10 && g[1].error < 0.6);
    CU_ASSERT_DOUBLE_EQUAL(g[0].us, 10, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(g[2].us, 9, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(g[3].us, 40, 1);
    struct nearby_guess unsure[] = {{10, 0.8}, {4, 1.5}};
    nearby_temper(unsure, 2); /* beside nothing */
    CU_ASSERT(unsure[0].us == 10 && unsure[1].us == 4);
}

static void test_gain(void)
{
    const struct nearby_guess first = {10, 0.02}, near = {10.2, 0.02}, slow = {20, 0.05},
                              unknown = {20, 0.6}, sure = {10, 0}, faster = {5, 0};
    CU_ASSERT(nearby_gain(&first, &near) > 0.003 && nearby_gain(&first, &near) < 0.01);
    CU_ASSERT(nearby_gain(&first, &slow) < 1e-6);
    CU_ASSERT(nearby_gain(&first, &unknown) > 0.01);
    CU_ASSERT_DOUBLE_EQUAL(nearby_gain(&sure, &faster), log(2), 1e-12);
    CU_ASSERT_EQUAL(nearby_gain(&faster, &sure), 0);
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
    const double pair = 4 * (64 + 48) * 132 / 989.5e6;                  /* us of a multiprocessor */
    CU_ASSERT_DOUBLE_EQUAL(l.work, 64.0 * 1024 * pair, 0.001 * l.work); /* tiles in full */
    CU_ASSERT_DOUBLE_EQUAL(l.bytes, 4 * 8 * 1000 * 64 * 2 / 4.8e6, 0.01 * l.bytes);
    CU_ASSERT(l.least_us < l.work * l.blocks / l.sms);
    struct nearby_load c;
    CU_ASSERT(loaded("fa2_mma", "H=8 S=1000 D=64 causal", "BR", "64", &c));
    CU_ASSERT(fabs(c.longest / (64 * 1000 * pair) - 1) < 0.001 && c.work > 0.5 * l.work &&
              c.work < 0.65 * l.work);
    CU_ASSERT(loaded("fa3_persistent", "H=10 S=4289 D=64", "BR", "192", &l));
    CU_ASSERT_DOUBLE_EQUAL(l.work, 2 * 192.0 * 4352 * pair,
                           0.001 * l.work); /* 230 tiles by 132 blocks: some take two */
    CU_ASSERT_FALSE(loaded("decode_splitkv", "H=8 S=1k D=64", NULL, NULL, &l) && l.resident < 1);
}

static const struct tap_test tests[] = {
    {"rounds of blocks", test_rounds},
    {"a form is found", test_form},
    {"a time at the very shape", test_exact},
    {"what the form leaves is carried over", test_carried},
    {"few times", test_few},
    {"times of other heads, masks and GPUs", test_farther},
    {"what one time leaves open", test_extrapolated},
    {"what is not sure beside what is", test_beside},
    {"what one more is worth", test_gain},
    {"what a plan asks of a GPU", test_plan},
};
TAP_MAIN("nearby", tests)
