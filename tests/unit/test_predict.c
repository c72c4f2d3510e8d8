/* test_predict.c - the time model at its limits, what it is made of, and fits judged on what they have not seen.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/predict_fit.h"
#include "plan/predict_course.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "kernel/registry.h"
#include "tap.h"

static struct predict_gpu gpu_of(const char *name)
{
    struct device_table *t = devices_new();
    const struct device *d = NULL;
    struct predict_gpu g = {.sms = 0};
    CU_ASSERT_EQUAL_FATAL(devices_get(t, name, &d, NULL), ST_OK);
    CU_ASSERT_EQUAL_FATAL(predict_gpu(d, &g, NULL), ST_OK);
    devices_free(t);
    return g;
}

static bool near(double a, double b, double by)
{
    return fabs(a - b) <= by * fmax(fabs(a), fabs(b));
}

/* A launch whose every block waits `wait` cycles in a warp, and has `fma` instructions, in one phase. */
static struct predict_run run_of(int64_t blocks, int64_t resident, double wait, double fma)
{
    struct predict_run r = {.passes = 1};
    struct predict_pass *p = &r.pass[0];
    const double n = (double)blocks;
    *p = (struct predict_pass){
        .name = "k", .blocks = blocks, .resident = resident, .warps = 4, .phases = 1};
    p->phase = xcalloc(1, sizeof *p->phase);
    p->phase[0].chain[CHAIN_shared] = wait * 4 * n;
    p->phase[0].machine[SIM_PIPE_fma] = fma * n;
    p->phase[0].executed = fma * n;
    p->phase[0].longest = fma * n / 4;
    return r;
}

static double time_of(const struct predict_gpu *g, int64_t blocks, int64_t resident, double wait,
                      double fma)
{
    struct predict_run r = run_of(blocks, resident, wait, fma);
    const double us = predict_us(&r, g);
    predict_run_clear(&r);
    return us - g->launch_us - g->run_us;
}

static void few_and_many_blocks(void)
{
    struct predict_gpu g = gpu_of("H200");
    const double alone = time_of(&g, 1, 2, 9000, 400);
    /* A warp's chain, and on top the work of the three others on the FMA pipes: 4 instructions a cycle. */
    CU_ASSERT(near(alone * g.clock_mhz, 9000 + 0.75 * 400 / 4, 1e-9));
    CU_ASSERT(near(time_of(&g, g.sms, 2, 9000, 400), alone, 1e-9)); /* an SM for each */
    const double wave = time_of(&g, 2 * g.sms, 2, 9000, 400),
                 more = time_of(&g, 2 * g.sms + 1, 2, 9000, 400);
    CU_ASSERT(wave > alone);
    CU_ASSERT(more > 1.3 * wave); /* the one behind the wave takes as long as the others */
    CU_ASSERT(more < 2 * wave);
    const double huge = time_of(&g, 2000000, 2, 9000, 400),
                 twice = time_of(&g, 4000000, 2, 9000, 400);
    CU_ASSERT(near(twice, 2 * huge, 1e-3));
    struct predict_run none = {.passes = 0};
    CU_ASSERT_EQUAL(predict_us(&none, &g), g.run_us);
}

/* Waiting blocks hide each other, working ones queue. */
static void resident_blocks_overlap(void)
{
    const struct predict_gpu g = gpu_of("A100-80GB");
    CU_ASSERT(near(time_of(&g, 64000, 8, 9000, 4), time_of(&g, 64000, 1, 9000, 4) / 8, 0.02));
    CU_ASSERT(near(time_of(&g, 64000, 8, 9, 40000), time_of(&g, 64000, 1, 9, 40000), 0.01));
    CU_ASSERT(time_of(&g, 64000, 8, 9, 40000) * g.clock_mhz >= 64000 / 108. * 40000 / 2);
}

/* What at most half of the blocks do comes on top, where the last of them does it; of more it is everybody's. */
static void few_blocks_come_last(void)
{
    const struct predict_gpu g = gpu_of("H200");
    double us[3];
    for (int i = 0; i < 3; i++) {
        struct predict_run r = run_of(100, 2, 9000, 400);
        r.pass[0].phase[0].times = 50 + i;
        us[i] = predict_us(&r, &g);
        predict_run_clear(&r);
    }
    CU_ASSERT(us[1] == us[2]);
    CU_ASSERT(near((us[0] - us[1]) * g.clock_mhz, 9000 + 0.75 * 400 / 4, 1e-9));
}

static void faster_machines_are_faster(void)
{
    const struct predict_gpu g = gpu_of("L4");
    double last = INFINITY;
    for (double mhz = 500; mhz < 4000; mhz *= 1.3) {
        struct predict_gpu x = g;
        x.clock_mhz = mhz;
        const double us = time_of(&x, 1000, 3, 700, 3000);
        CU_ASSERT(us < last);
        last = us;
    }
    struct predict_run r = run_of(1000, 3, 7, 3);
    r.pass[0].compulsory_bytes = 1e9;
    struct predict_gpu slow = g;
    slow.dram_gbs = g.dram_gbs / 2;
    CU_ASSERT(near(predict_us(&r, &slow) - 4, 2 * (predict_us(&r, &g) - 4), 1e-9));
    slow.dram_gbs = REAL_UNKNOWN; /* bounds nothing */
    CU_ASSERT(predict_us(&r, &slow) < predict_us(&r, &g));
    predict_run_clear(&r);
}

/* Knuth's MMIX generator, its upper half. */
struct rng {
    uint64_t state;
};

static uint64_t rng_next(struct rng *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return r->state >> 33;
}

/* Some launch of random work. */
static struct predict_run random_run(struct rng *rng)
{
    struct predict_run r = {.passes = 1 + (int)(rng_next(rng) % 3)};
    for (int i = 0; i < r.passes; i++) {
        struct predict_pass *p = &r.pass[i];
        *p = (struct predict_pass){.name = "k", .phases = 1 + (int)(rng_next(rng) % 7)};
        p->blocks = 1 + (int64_t)(rng_next(rng) % 5000);
        p->resident = 1 + (int64_t)(rng_next(rng) % 16);
        p->warps = 1 + (int64_t)(rng_next(rng) % 16);
        p->compulsory_bytes = (double)(rng_next(rng) % 100000000);
        p->phase = xcalloc((size_t)p->phases, sizeof *p->phase);
        for (int k = 0; k < p->phases; k++) {
            struct predict_phase *ph = &p->phase[k];
            for (int j = 0; j < CHAIN_PARTS_COUNT; j++)
                ph->chain[j] = (double)(rng_next(rng) % 10000000);
            for (int j = 0; j < SIM_PIPE_COUNT; j++)
                ph->machine[j] = (double)(rng_next(rng) % 10000000);
            ph->executed = (double)(rng_next(rng) % 10000000);
            ph->longest = ph->executed / (double)p->warps * (1 + (double)(rng_next(rng) % 3));
            ph->wavefronts = (double)(rng_next(rng) % 10000000);
            ph->sectors = (double)(rng_next(rng) % 10000000);
            ph->products = (double)(rng_next(rng) % 1000000);
        }
        if (rng_next(rng) % 3 == 0) {
            p->length = xcalloc((size_t)p->blocks, sizeof *p->length);
            for (int64_t k = 0; k < p->blocks; k++)
                p->length[k] = (double)(rng_next(rng) % 200) / 100;
        }
    }
    return r;
}

static void parts_make_the_time(void)
{
    static const char *const names[] = {"H200", "A100-80GB", "L4", "T4", "RTX-5090"};
    struct rng rng = {7};
    for (int i = 0; i < 500; i++) {
        struct predict_gpu g = gpu_of(names[i % 5]);
        struct predict_run r = random_run(&rng);
        struct predicted_time p;
        g.factors.v[i % PREDICT_FACTOR_COUNT] = 1.7;
        predict(&r, &g, &p);
        double sum = 0, most = 0;
        for (size_t k = 0; k < p.parts; k++) {
            CU_ASSERT(p.part[k].us > 0 && isfinite(p.part[k].us));
            CU_ASSERT(p.part[k].us <= (k ? p.part[k - 1].us : INFINITY));
            sum += p.part[k].us;
            most = p.part[k].unit == p.binds ? most + p.part[k].us : most;
        }
        CU_ASSERT(near(sum, p.us, 1e-9));
        CU_ASSERT(near(predict_us(&r, &g), p.us, 1e-9));
        CU_ASSERT(near(most, p.binds_us, 1e-9));
        CU_ASSERT(p.wait_us <= p.us * (1 + 1e-9));
        predicted_time_clear(&p);
        predict_run_clear(&r);
    }
}

static enum predict_unit binds(const struct predict_run *r, const struct predict_gpu *g)
{
    struct predicted_time p;
    predict(r, g, &p);
    const enum predict_unit u = p.binds;
    predicted_time_clear(&p);
    return u;
}

/* ---- courses ---- */

enum { COURSES = 3, STEPS = 9 };

/* Courses whose steps add up to the run's phases, each by a drawn part; `heavy`: a phase of which the first course does 4 times
 * as much as it did; -1: none. */
static json_t *drawn_courses(const struct predict_run *r, struct rng rng, int heavy)
{
    json_t *passes = json_array();
    for (int i = 0; i < r->passes; i++) {
        const struct predict_pass *p = &r->pass[i];
        double part[COURSES][STEPS], all[8] = {0};
        int rounds[COURSES][STEPS];
        json_t *courses = json_array(), *phases = json_array();
        for (int c = 0; c < COURSES; c++)
            for (int k = 0; k < STEPS; k++) {
                part[c][k] = 1 + (double)(rng_next(&rng) % 20);
                if (c == 0 && k % p->phases == heavy)
                    part[c][k] *= 4;
                rounds[c][k] = 1 + (int)(rng_next(&rng) % 50);
                all[k % p->phases] += part[c][k] * rounds[c][k] * (c + 1);
            }
        for (int c = 0; c < COURSES; c++) {
            json_t *steps = json_array();
            for (int k = 0; k < STEPS; k++) {
                const struct predict_phase *ph = &p->phase[k % p->phases];
                const double x = part[c][k] / all[k % p->phases];
                json_array_append_new(
                    steps,
                    json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:{}}", "phase",
                              k % p->phases, "rounds", rounds[c][k], "length", 1, "at", 0,
                              "warp_instructions", ph->executed * x, "longest", ph->longest * x,
                              "smem_wavefronts", ph->wavefronts * x, "global_sectors",
                              ph->sectors * x, "tensor_ops", ph->products * x, "pipes"));
            }
            json_array_append_new(courses, json_pack("{s:i, s:i, s:o, s:[]}", "block", c, "stands",
                                                     c + 1, "steps", steps, "rest"));
        }
        json_array_append_new(passes,
                              json_pack("{s:o, s:o}", "phases", phases, "courses", courses));
    }
    return passes;
}

/* The us of a phase over all blocks, of the steps and of the parts of the time. What memory adds to a launch has no phase: its
 * steps share that as they share the rest. */
static void compare_courses(const struct courses *c, const struct predict_run *r,
                            const struct predicted_time *p, int pass)
{
    double steps[8] = {0}, parts[8] = {0}, bound = 0, of_steps = 0, of_parts = 0;
    for (size_t i = 0; i < c->n; i++) {
        double share = 0;
        for (size_t k = 0; k < c->course[i].steps; k++) {
            const struct course_step *s = &c->course[i].step[k];
            CU_ASSERT(s->us >= 0 && isfinite(s->us));
            share += s->share;
            if (c->course[i].pass == pass)
                steps[s->phase] += c->course[i].stands * (double)s->rounds * s->us;
        }
        CU_ASSERT(near(share, 1, 1e-9));
    }
    for (size_t i = 0; i < p->parts; i++) {
        if (p->part[i].pass == pass && p->part[i].phase >= 0)
            parts[p->part[i].phase] += p->part[i].us;
        else if (p->part[i].pass == pass &&
                 (p->part[i].unit == PREDICT_l2 || p->part[i].unit == PREDICT_dram))
            bound += p->part[i].us;
    }
    for (int k = 0; k < r->pass[pass].phases; k++) {
        of_steps += steps[k];
        of_parts += parts[k];
    }
    CU_ASSERT(near(of_steps, of_parts + bound, 1e-9));
    for (int k = 0; k < r->pass[pass].phases && of_parts > 0; k++)
        CU_ASSERT(near(steps[k], parts[k] * of_steps / of_parts, 1e-9));
}

static void steps_make_the_phases(void)
{
    static const char *const names[] = {"H200", "A100-80GB", "L4", "T4", "RTX-5090"};
    struct rng rng = {23};
    int bound = 0;
    for (int i = 0; i < 200; i++) {
        struct predict_gpu g = gpu_of(names[i % 5]);
        struct predict_run r = random_run(&rng);
        for (int k = 0; k < r.passes; k++) {
            free(r.pass[k].length); /* of fewer blocks */
            r.pass[k].length = NULL;
            r.pass[k].blocks += COURSES;
        }
        json_t *passes = drawn_courses(&r, rng, -1);
        struct courses c;
        struct predicted_time p;
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL_FATAL(courses_read(passes, &r, &c, &err), ST_OK);
        courses_times(&c, &r, &g);
        predict(&r, &g, &p);
        for (int k = 0; k < r.passes; k++)
            compare_courses(&c, &r, &p, k);
        bound += p.binds == PREDICT_l2 || p.binds == PREDICT_dram;
        predicted_time_clear(&p);
        courses_clear(&c);
        json_decref(passes);
        predict_run_clear(&r);
    }
    CU_ASSERT(bound > 0 && bound < 200); /* both were tried */
}

/* Of one block a phase grows: its steps take longer there, and less of what others share. */
static void a_longer_phase_is_seen_there(void)
{
    struct rng rng = {5};
    struct predict_gpu g = gpu_of("H200");
    struct predict_run r = random_run(&rng);
    while (r.pass[0].phases < 3 || r.pass[0].length) {
        predict_run_clear(&r);
        r = random_run(&rng);
    }
    r.pass[0].blocks += COURSES;
    json_t *before = drawn_courses(&r, rng, -1), *after = drawn_courses(&r, rng, 1);
    struct courses x, y;
    CU_ASSERT_EQUAL_FATAL(courses_read(before, &r, &x, NULL), ST_OK);
    CU_ASSERT_EQUAL_FATAL(courses_read(after, &r, &y, NULL), ST_OK);
    courses_times(&x, &r, &g);
    courses_times(&y, &r, &g);
    for (size_t k = 0; k < STEPS; k++) {
        const struct course_step *a = &x.course[0].step[k], *b = &y.course[0].step[k];
        CU_ASSERT(a->phase == 1 ? b->us > a->us : near(a->us, b->us, 1e-9));
        CU_ASSERT(x.course[1].step[k].phase != 1 ||
                  y.course[1].step[k].us < x.course[1].step[k].us);
    }
    courses_clear(&x);
    courses_clear(&y);
    json_decref(before);
    json_decref(after);
    predict_run_clear(&r);
}

/* A worker's words: what makes no sense is no course. */
static void strange_courses(void)
{
    static const char *const bad[] = {
        "{}",
        "[]",
        "{\"block\":0,\"stands\":1}",
        "{\"block\":9999,\"stands\":1,\"steps\":[{\"phase\":0}]}",
        "{\"block\":0,\"stands\":0,\"steps\":[{\"phase\":0}]}",
        "{\"block\":0,\"stands\":1,\"steps\":[{\"phase\":1}]}",
        "{\"block\":0,\"stands\":1,\"steps\":[{\"phase\":0,\"at\":1,\"length\":2}]}",
        "{\"block\":0,\"stands\":1,\"steps\":[{\"phase\":0,\"at\":0,\"length\":60}]}",
        ("{\"block\":0,\"stands\":1,\"steps\":[{\"phase\":0,\"at\":0,\"length\":2,\"rounds\":3},{"
         "\"phase\":0,\"at\":1,\"length\":2,\"rounds\":4}]}"),
        "{\"block\":0,\"stands\":1,\"steps\":7}"};
    struct predict_run r = run_of(8, 2, 9000, 400);
    struct courses c;
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *course = json_loads(bad[i], 0, NULL),
               *passes = json_pack("[{s:[{}], s:[o]}]", "phases", "courses", course);
        CU_ASSERT_EQUAL(courses_read(passes, &r, &c, &err), ST_NO);
        CU_ASSERT_EQUAL(c.n, 0);
        courses_clear(&c);
        json_decref(passes);
    }
    json_t *passes = json_pack("[{s:[{s:s, s:i}], s:[{s:i, s:f, s:[{s:i, s:f}]}]}]", "phases",
                               "file", "k.cu", "line", 12, "courses", "block", 3, "stands", 8.,
                               "steps", "phase", 0, "warp_instructions", 400.);
    CU_ASSERT_EQUAL_FATAL(courses_read(passes, &r, &c, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(c.phase[0].place, "k.cu:12");
    CU_ASSERT_EQUAL(c.phase[0].executed, 3200);
    courses_clear(&c);
    json_decref(passes);
    predict_run_clear(&r);
}

static void what_binds_is_named(void)
{
    const struct predict_gpu g = gpu_of("H200");
    struct predict_run r = run_of(10000, 4, 90000, 100);
    CU_ASSERT_EQUAL(binds(&r, &g), PREDICT_wait_shared);
    r.pass[0].phase[0].chain[CHAIN_shared] = 0;
    r.pass[0].phase[0].machine[SIM_PIPE_fma] = 1e9;
    CU_ASSERT_EQUAL(binds(&r, &g), PREDICT_fma);
    r.pass[0].phase[0].products = 1e10;
    CU_ASSERT_EQUAL(binds(&r, &g), PREDICT_tensor);
    r.pass[0].phase[0].wavefronts = 1e11;
    CU_ASSERT_EQUAL(binds(&r, &g), PREDICT_smem);
    r.pass[0].compulsory_bytes = 1e13;
    CU_ASSERT_EQUAL(binds(&r, &g), PREDICT_dram);
    predict_run_clear(&r);
    r = run_of(1, 1, 10, 10);
    CU_ASSERT_EQUAL(binds(&r, &g), PREDICT_launch);
    predict_run_clear(&r);
}

/* Blocks of different lengths: the same work, and its longest block last. */
static void long_blocks_at_the_end_cost(void)
{
    const struct predict_gpu g = gpu_of("H200");
    enum { BLOCKS = 132 * 8 };
    struct predict_run r = run_of(BLOCKS, 2, 10000, 4);
    const double even = predict_us(&r, &g);
    r.pass[0].length = xcalloc(BLOCKS, sizeof *r.pass[0].length);
    for (int i = 0; i < BLOCKS; i++)
        r.pass[0].length[i] = i < BLOCKS / 2 ? 1.5 : 0.5;
    const double first = predict_us(&r, &g);
    for (int i = 0; i < BLOCKS; i++)
        r.pass[0].length[i] = i < BLOCKS - 8 ? (BLOCKS - 8 * 40.) / (BLOCKS - 8) : 40;
    const double last = predict_us(&r, &g);
    CU_ASSERT(near(first, even, 0.15));
    CU_ASSERT(last > 2 * first);
    predict_run_clear(&r);
}

/* Of eight blocks one has all the keys; a phase that was begun as often as there are blocks all of them do alike. */
static void what_is_done_once_does_not_grow(void)
{
    enum { BLOCKS = 8 };
    const struct predict_gpu g = gpu_of("H200");
    struct predict_run r = run_of(BLOCKS, 2, 3000, 0);
    struct predict_pass *p = &r.pass[0];
    p->phases = 3;
    p->phase = xrealloc(p->phase, 3 * sizeof *p->phase);
    p->phase[0].times = BLOCKS;
    p->phase[1] = p->phase[2] = p->phase[0];
    p->phase[1].times = 3 * BLOCKS;
    p->length = xcalloc(BLOCKS, sizeof *p->length);
    p->length[0] = BLOCKS;
    const double cycles = (predict_us(&r, &g) - g.launch_us - g.run_us) * g.clock_mhz;
    CU_ASSERT(near(cycles, 3000 + 8 * 3000 + 3000, 1e-6));
    p->phases = 1;
    CU_ASSERT(near((predict_us(&r, &g) - g.launch_us - g.run_us) * g.clock_mhz, 3000, 1e-6));
    p->phase[0].times = BLOCKS - 1; /* one goes by */
    CU_ASSERT(near((predict_us(&r, &g) - g.launch_us - g.run_us) * g.clock_mhz, 8 * 3000, 1e-6));
    predict_run_clear(&r);
}

/* The warps of a block wait together and work one after another; the busiest of them counts once. */
static void warps_of_a_block_queue(void)
{
    struct predict_gpu g = gpu_of("H200");
    CU_ASSERT(near(time_of(&g, 1, 1, 1000, 4000) * g.clock_mhz, 1000 + 750, 1e-9));
    CU_ASSERT(
        near(time_of(&g, 1, 1, 0, 4000) * g.clock_mhz, 1000, 1e-9)); /* never below the unit */
    struct predict_run r = run_of(1, 1, 1000, 4000);
    r.pass[0].phase[0].longest = 4000; /* one warp has it all: nobody is in its way */
    r.pass[0].phase[0].chain[CHAIN_shared] = 1000;
    CU_ASSERT(near((predict_us(&r, &g) - g.launch_us - g.run_us) * g.clock_mhz, 1000, 1e-9));
    predict_run_clear(&r);
}

/* Blocks of a cluster meet: all wait for the busiest warp among them. */
static void clusters_wait_for_their_busiest_warp(void)
{
    const struct predict_gpu g = gpu_of("H200");
    struct predict_run r = run_of(8, 1, 1000, 0);
    r.pass[0].phase[0].executed = 32 * 100;
    r.pass[0].phase[0].longest = 800; /* of 32 warps, 100 each in the mean */
    const double each = (predict_us(&r, &g) - g.launch_us - g.run_us) * g.clock_mhz;
    r.pass[0].cluster = 8;
    const double all = (predict_us(&r, &g) - g.launch_us - g.run_us) * g.clock_mhz;
    CU_ASSERT(near(each, 1000, 1e-9));
    CU_ASSERT(near(all, 8000, 1e-9));
    predict_run_clear(&r);
}

/* 30 clusters of 4 have room on an H200, one block on each multiprocessor, though 132 / 4 are 33: the 31st waits. */
static void clusters_leave_multiprocessors_empty(void)
{
    const struct predict_gpu g = gpu_of("H200"), other = gpu_of("A100-80GB");
    struct predict_run fits = run_of(120, 1, 1000, 0), one_more = run_of(124, 1, 1000, 0);
    fits.pass[0].cluster = one_more.pass[0].cluster = 4;
    const double floor_us = g.launch_us + g.run_us, first = predict_us(&fits, &g) - floor_us,
                 second = predict_us(&one_more, &g) - floor_us;
    CU_ASSERT(near(first * g.clock_mhz, 1000, 1e-9));
    CU_ASSERT(second > 1.4 * first && second <= 2 * first);
    one_more.pass[0].cluster = 1;
    CU_ASSERT(near(predict_us(&one_more, &g) - floor_us, first, 1e-9));
    fits.pass[0].resident = 2; /* two beside each other: twice as many */
    fits.pass[0].cluster = 16;
    CU_ASSERT(near(predict_us(&fits, &g) - floor_us, first, 1e-9));
    CU_ASSERT_EQUAL(other.room[4], 0); /* not known: all */
    for (int c = 2; c <= PREDICT_CLUSTER; c++)
        CU_ASSERT(g.room[c] > 0 && g.room[c] <= g.sms && g.room[c] % c == 0);
    predict_run_clear(&fits);
    predict_run_clear(&one_more);
}

/* As long as neither waits for the other they hide each other; alike they do not whole. */
static void memory_comes_on_top(void)
{
    const struct predict_gpu g = gpu_of("H200");
    const double alone = time_of(&g, 132, 1, 20000, 4), bytes = alone * g.dram_gbs * 1e3;
    struct predict_run r = run_of(132, 1, 20000, 4);
    for (double times = 0.1; times < 20; times *= 2) {
        r.pass[0].compulsory_bytes = times * bytes;
        const double us = predict_us(&r, &g) - g.launch_us - g.run_us;
        CU_ASSERT(us >= fmax(1, times) * alone && us <= (1 + times) * alone);
        CU_ASSERT(times > 0.3 && times < 3 ? us > 1.005 * fmax(1, times) * alone
                                           : us < 1.02 * fmax(1, times) * alone);
    }
    predict_run_clear(&r);
}

/* ---- reading ---- */

struct subject {
    struct registry *kernels;
    struct device_table *devices;
    struct plan plan;
};

static void subject_open(struct subject *x, const char *kernel, const char *shape, const char *gpu)
{
    struct shape s = SHAPE_DEFAULT;
    const struct device *d = NULL;
    x->kernels = registry_new();
    x->devices = devices_new();
    CU_ASSERT_EQUAL_FATAL(shape_parse(shape, &s, NULL), ST_OK);
    CU_ASSERT_EQUAL_FATAL(devices_get(x->devices, gpu, &d, NULL), ST_OK);
    CU_ASSERT_EQUAL(
        plan_build(registry_find(x->kernels, kernel)->cuda, &s, NULL, d, NULL, &x->plan, NULL),
        ST_OK);
}

static void subject_close(struct subject *x)
{
    plan_clear(&x->plan);
    devices_free(x->devices);
    registry_free(x->kernels);
}

static json_t *counted(int64_t blocks)
{
    return json_pack("[{s:I, s:[{s:{s:f, s:f}, s:{s:f}, s:f, s:f, s:f, s:f, s:s}]}]", "blocks",
                     (json_int_t)blocks, "phases", "chain", "shared", 1e6, "alu", -5.0, "machine",
                     "fma", 4e6, "warp_instructions", 4e6, "longest", 1e6, "trips", 100.0,
                     "smem_wavefronts", 1e5, "global_sectors", "many");
}

static void counts_are_read_as_a_strangers(void)
{
    struct subject x;
    struct err err = ERR_INIT;
    struct predict_run r;
    subject_open(&x, "fa2", "B=1 H=2 S=128 D=64 f16", "H200");
    const int64_t *grid = x.plan.passes[0].grid, blocks = grid[0] * grid[1] * grid[2];
    json_t *passes = counted(blocks), *wrong = counted(blocks + 1), *bare = counted(blocks);
    CU_ASSERT_EQUAL_FATAL(predict_run(passes, &x.plan, &r, &err), ST_OK);
    CU_ASSERT_EQUAL(r.pass[0].blocks, blocks);
    CU_ASSERT_EQUAL(r.pass[0].phase[0].chain[CHAIN_shared], 1e6);
    CU_ASSERT_EQUAL(r.pass[0].phase[0].chain[CHAIN_alu], 0); /* below zero: no count */
    CU_ASSERT_EQUAL(r.pass[0].phase[0].machine[SIM_PIPE_fma], 4e6);
    CU_ASSERT_EQUAL(r.pass[0].phase[0].sectors, 0); /* a word */
    CU_ASSERT_PTR_NULL(r.pass[0].length);
    predict_run_clear(&r);
    CU_ASSERT_EQUAL(predict_run(wrong, &x.plan, &r, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "blocks were counted"));
    predict_run_clear(&r);
    json_object_del(json_array_get(json_object_get(json_array_get(bare, 0), "phases"), 0),
                    "machine");
    CU_ASSERT_EQUAL(predict_run(bare, &x.plan, &r, &err), ST_NO);
    predict_run_clear(&r);
    CU_ASSERT_EQUAL(predict_run(NULL, &x.plan, &r, &err), ST_NO);
    predict_run_clear(&r);
    json_decref(passes);
    json_decref(wrong);
    json_decref(bare);
    subject_close(&x);
}

static void causal_blocks_differ(void)
{
    struct subject x;
    struct predict_run r;
    subject_open(&x, "fa2", "B=1 H=2 S=1024 D=64 f16 causal", "H200");
    const int64_t *grid = x.plan.passes[0].grid, blocks = grid[0] * grid[1] * grid[2];
    json_t *passes = counted(blocks);
    CU_ASSERT_EQUAL_FATAL(predict_run(passes, &x.plan, &r, NULL), ST_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.pass[0].length);
    double sum = 0;
    for (int64_t i = 0; i < blocks; i++)
        sum += r.pass[0].length[i];
    CU_ASSERT(near(sum, (double)blocks, 1e-9));
    CU_ASSERT(r.pass[0].length[0] < r.pass[0].length[grid[0] - 1]);
    predict_run_clear(&r);
    json_decref(passes);
    subject_close(&x);
}

/* Without K/V tiles a block is as long as it has keys: here a row each. */
static void causal_rows_differ(void)
{
    struct subject x;
    struct predict_run r;
    subject_open(&x, "row_full", "B=1 H=2 S=64 D=64 f32 causal", "H200");
    CU_ASSERT(desc_param_index(x.plan.desc, "BC") < 0);
    json_t *passes = counted(128);
    CU_ASSERT_EQUAL_FATAL(predict_run(passes, &x.plan, &r, NULL), ST_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.pass[0].length);
    for (int i = 0; i < 128; i++)
        CU_ASSERT(near(r.pass[0].length[i], (i % 64 + 1) / 32.5, 1e-9));
    predict_run_clear(&r);
    json_decref(passes);
    subject_close(&x);
}

/* An SM's figures in the units of the model, from data sheets and the measurements that predict_gpu.c names. */
static void figures_of_gpus(void)
{
    static const struct {
        const char *name;
        double fma, imul, l2_gbs, l2_sectors, tensor, wgmma;
    } want[] = {
        /* 132 SMs at 1980 MHz, 27.8 bytes; 128 lanes; 4096 FLOP a clock in products of 4096 */
        {"H200", 4, 2, 27.8 * 132 * 1.980, 27.8 / 32, 0.63, 1},
        /* 40 SMs at 1590 MHz; 64 lanes, so that an integer product takes a slot of the FMA pipe as a float's does */
        {"T4", 2, 1, 20 * 40 * 1.590, 20 / 32.0, 0.25, 0.25},
    };
    struct device_table *t = devices_new();
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct device *d;
        struct predict_gpu g;
        CU_ASSERT_EQUAL_FATAL(devices_get(t, want[i].name, &d, NULL), ST_OK);
        CU_ASSERT_EQUAL_FATAL(predict_gpu(d, &g, NULL), ST_OK);
        CU_ASSERT_EQUAL(g.sms, d->sms);
        CU_ASSERT_EQUAL(g.per_clk[PREDICT_fma], want[i].fma);
        CU_ASSERT_EQUAL(g.imul_slots, want[i].imul);
        CU_ASSERT_DOUBLE_EQUAL(g.l2_gbs, want[i].l2_gbs, 1e-6 * want[i].l2_gbs);
        CU_ASSERT_DOUBLE_EQUAL(g.per_clk[PREDICT_l2], want[i].l2_sectors, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(g.per_clk[PREDICT_tensor], want[i].tensor, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(g.wgmma_per_clk, want[i].wgmma, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(g.dram_gbs, 0.9 * d->dram_gbs, 1e-9);
        CU_ASSERT_EQUAL(g.room[4], i ? 0 : 120); /* clusters of 4: 30 on an H200 */
    }
    const struct device *d;
    struct predict_gpu g;
    CU_ASSERT_EQUAL_FATAL(devices_get(t, "B200", &d, NULL), ST_OK);
    CU_ASSERT_EQUAL_FATAL(predict_gpu(d, &g, NULL), ST_OK);
    CU_ASSERT(isnan(g.l2_gbs) &&
              g.per_clk[PREDICT_l2] == 2); /* nobody says: no bound, two sectors */
    devices_free(t);
}

static void who_has_no_rates_has_no_time(void)
{
    struct device_table *t = devices_new();
    const struct device *d;
    struct predict_gpu g;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(devices_get(t, "MI300X", &d, NULL), ST_OK);
    CU_ASSERT_EQUAL(predict_gpu(d, &g, &err), ST_NO);
    for (int i = 0; i < devices_count(t); i++) {
        d = devices_at(t, i);
        if (d->cc && predict_gpu(d, &g, NULL) == ST_OK)
            for (int k = 0; k < PREDICT_PIPES; k++)
                CU_ASSERT(g.per_clk[k] > 0 && isfinite(g.per_clk[k]));
    }
    devices_free(t);
}

/* ---- fits ---- */

enum { SAMPLES = 60, KERNELS = 10 };

static void make_samples(struct fit_sample s[SAMPLES], const struct predict_factors *f)
{
    struct rng rng = {3};
    for (int i = 0; i < SAMPLES; i++) {
        s[i] = (struct fit_sample){.kernel = xasprintf("k%d", i % KERNELS),
                                   .shape = xasprintf("s%d", i / KERNELS),
                                   .gpu = gpu_of("H200"),
                                   .run = random_run(&rng)};
        struct predict_gpu g = s[i].gpu;
        g.factors = *f;
        s[i].us = predict_us(&s[i].run, &g);
    }
}

static void clear_samples(struct fit_sample s[SAMPLES])
{
    for (int i = 0; i < SAMPLES; i++)
        fit_sample_clear(&s[i]);
}

static void planted_factors_are_found(void)
{
    struct fit_sample s[SAMPLES];
    struct predict_factors f = predict_unfitted;
    double us[SAMPLES];
    f.v[PREDICT_FACTOR_alu] = 3;
    f.v[PREDICT_FACTOR_smem] = 2.5;
    f.v[PREDICT_FACTOR_global] = 2;
    f.v[PREDICT_FACTOR_launch] = 0.6;
    make_samples(s, &f);
    fit_predict(s, SAMPLES, &predict_unfitted, us);
    const struct fit_error before = fit_error(s, SAMPLES, us);
    const struct predict_factors found = fit_factors(s, SAMPLES, NULL, &predict_unfitted);
    fit_predict(s, SAMPLES, &found, us);
    const struct fit_error after = fit_error(s, SAMPLES, us);
    CU_ASSERT(before.median_pct > 20);
    CU_ASSERT(after.median_pct < 5);
    cross_validate(s, SAMPLES, FIT_BY_SHAPE, &predict_unfitted, us);
    CU_ASSERT(fit_error(s, SAMPLES, us).median_pct < 8);
    clear_samples(s);
}

/* A kernel of which the model knows nothing takes part in the fit of the others, never in its own. */
static void what_is_left_out_is_not_seen(void)
{
    struct fit_sample s[SAMPLES];
    double with[SAMPLES], without[SAMPLES];
    make_samples(s, &predict_unfitted);
    cross_validate(s, SAMPLES, FIT_BY_KERNEL, &predict_unfitted, with);
    for (int i = 0; i < SAMPLES; i += KERNELS)
        s[i].us *= 30; /* all of k0 */
    cross_validate(s, SAMPLES, FIT_BY_KERNEL, &predict_unfitted, without);
    for (int i = 0; i < SAMPLES; i += KERNELS)
        CU_ASSERT_EQUAL(with[i], without[i]);
    clear_samples(s);
}

static void errors_are_of_ratios(void)
{
    struct fit_sample s[4] = {{.kernel = (char *)"a", .shape = (char *)"x", .us = 10},
                              {.kernel = (char *)"b", .shape = (char *)"x", .us = 20},
                              {.kernel = (char *)"c", .shape = (char *)"x", .us = 21},
                              {.kernel = (char *)"a", .shape = (char *)"y", .us = 5}};
    const double us[4] = {20, 10, 21, 5};
    const struct fit_error e = fit_error(s, 4, us);
    CU_ASSERT(near(e.most_pct, 100, 1e-9)); /* twice as long, half as long: both 100 % */
    CU_ASSERT_EQUAL(e.pairs, 2);            /* a b, a c; b and c are 1.05 apart */
    CU_ASSERT(near(e.order_pct, 50, 1e-9));
    CU_ASSERT(near(e.apart, 2.1, 1e-9)); /* b c; then a b, twice apart, is wrong */
    const struct fit_error none = fit_error(s, 0, us);
    CU_ASSERT(isnan(none.median_pct) && isnan(none.order_pct) && isnan(none.apart));
}

/* Words of a phase are of what it does in earnest, by shares of its instructions; addresses are what nothing else is. */
static void phases_have_words(void)
{
    static const struct {
        struct course_phase phase;
        const char *words;
    } cases[] = {
        {{.executed = 0}, "nothing"},
        {{.executed = 1000}, "addresses"},
        {{.executed = 1000, .pipe = {[SIM_PIPE_xu] = 6}}, "exp2/cvt"},
        {{.executed = 1000, .pipe = {[SIM_PIPE_xu] = 4}}, "addresses"},
        {{.executed = 1000, .shuffles = 6}, "shuffles"},
        {{.executed = 1000, .shuffles = 4}, "addresses"},
        {{.executed = 1000, .sectors = 41}, "copies"},
        {{.executed = 1000, .sectors = 39}, "addresses"},
        {{.executed = 1000, .copies = 1}, "copies"},
        {{.executed = 1000, .products = 1}, "products"},
        {{.executed = 1000, .pipe = {[SIM_PIPE_fma] = 200, [SIM_PIPE_half] = 51}}, "products"},
        {{.executed = 1000, .pipe = {[SIM_PIPE_fma] = 249}}, "addresses"},
        {{.executed = 1000,
          .sectors = 50,
          .products = 2,
          .pipe = {[SIM_PIPE_xu] = 9},
          .shuffles = 9},
         "copies, products, exp2/cvt, shuffles"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[64];
        course_does(&cases[i].phase, words, sizeof words);
        CU_ASSERT_STRING_EQUAL(words, cases[i].words);
    }
}

/* A block that was not kept goes the way of one with as many K/V tiles, else of the nearest, whichever side it is on. */
static void blocks_take_the_nearest_course(void)
{
    struct course kept[] = {{.pass = 1, .block = 0},
                            {.pass = 0, .block = 0},
                            {.pass = 0, .block = 2},
                            {.pass = 0, .block = 5}};
    const struct courses c = {.course = kept, .n = 4};
    struct sched_block b[7];
    const struct schedule s = {.blocks = b, .nblocks = 7};
    static const int64_t steps[7] = {2, 9, 6, 4, 5, 12, 2};
    for (int i = 0; i < 7; i++)
        b[i] = (struct sched_block){
            .pass = i == 6, .index = i == 6 ? 0 : i, .work = {.steps = steps[i]}};
    CU_ASSERT_EQUAL(courses_find(&c, &s, &b[2]), 2); /* its own */
    CU_ASSERT_EQUAL(courses_find(&c, &s, &b[6]), 0);
    CU_ASSERT_EQUAL(courses_find(&c, &s, &b[4]), 2); /* 5 are nearer to 6 than to 2 or 12 */
    CU_ASSERT_EQUAL(courses_find(&c, &s, &b[3]), 1); /* as near to 2 as to 6: the first */
    CU_ASSERT_EQUAL(courses_find(&c, &s, &b[1]), 2);
    b[1].work.steps = 10;
    CU_ASSERT_EQUAL(courses_find(&c, &s, &b[1]), 3);
    const struct sched_block other = {.pass = 2};
    CU_ASSERT_EQUAL(courses_find(&c, &s, &other), -1); /* of a launch of which nothing was kept */
}

static const struct tap_test tests[] = {
    {"no block, one, a wave, one more, very many", few_and_many_blocks},
    {"resident blocks hide each other's waiting, not their work", resident_blocks_overlap},
    {"what few blocks do comes last", few_blocks_come_last},
    {"a faster clock and more bandwidth are never slower", faster_machines_are_faster},
    {"the parts add up to the time", parts_make_the_time},
    {"the steps of all blocks add up to the parts, phase by phase", steps_make_the_phases},
    {"a phase that grows is seen there", a_longer_phase_is_seen_there},
    {"courses of a stranger", strange_courses},
    {"words of phases", phases_have_words},
    {"whose course a block takes", blocks_take_the_nearest_course},
    {"what binds is named", what_binds_is_named},
    {"long blocks at the end cost", long_blocks_at_the_end_cost},
    {"what a block does once does not grow with its length", what_is_done_once_does_not_grow},
    {"warps of a block queue behind each other", warps_of_a_block_queue},
    {"counts are read as a stranger's", counts_are_read_as_a_strangers},
    {"causal blocks differ in length", causal_blocks_differ},
    {"and rows by their keys", causal_rows_differ},
    {"blocks of a cluster wait for the busiest warp among them",
     clusters_wait_for_their_busiest_warp},
    {"clusters that do not divide the GPU leave some of it empty",
     clusters_leave_multiprocessors_empty},
    {"memory comes on top of work that is as long", memory_comes_on_top},
    {"figures of GPUs", figures_of_gpus},
    {"a GPU without rates is refused", who_has_no_rates_has_no_time},
    {"planted factors are found", planted_factors_are_found},
    {"what is left out has no part in its own prediction", what_is_left_out_is_not_seen},
    {"errors are of ratios, orders of pairs of one shape", errors_are_of_ratios},
};

TAP_MAIN("predict", tests)
