/* The simulator's blocks: divergence, barriers, what lanes do together, memory and its faults, counts by hand.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/hazard.h"
#include "sim/sim.h"

#define WORDS 256

/* A kernel of (out, in) whose body has %t, the thread, %o and %i, its own words of out and in, and %out, %in. */
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define BEGIN                                                                                   \
    ".visible .entry k(.param .u64 pout, .param .u64 pin)\n{\n"                                 \
    ".reg .b64 %o, %i, %out, %in, %x<9>;\n.reg .b32 %t, %r<20>;\n.reg .f32 %f<9>;\n.reg .pred " \
    "%p<9>;\n"                                                                                  \
    "mov.u32 %t, %tid.x;\nld.param.u64 %out, [pout];\nld.param.u64 %in, [pin];\n"               \
    "mad.wide.u32 %o, %t, 4, %out;\nmad.wide.u32 %i, %t, 4, %in;\n"
#define END "ret;\n}\n"

struct trial {
    struct sim_program *p;
    struct sim_memory *m;
    struct sim_launch launch;
    struct sim_options options;
    struct sim_result r;
    struct err err;
    uint64_t params[2];
    uint32_t out[WORDS];
    enum status st;
};

/* Lowers and runs; out and in have WORDS words, in[k] is k. */
static struct trial run_grid(const char *before, const char *body, uint32_t threads,
                             uint32_t blocks, uint32_t cluster, struct sim_options o)
{
    struct trial t = {.options = o, .err = ERR_INIT};
    uint32_t in[WORDS];
    char *ptx = NULL;
    struct str s = {0};
    str_addf(&s, "%s%s%s%s%s", HEAD, before, BEGIN, body, END);
    ptx = str_take(&s);
    for (uint32_t k = 0; k < WORDS; k++)
        in[k] = k;
    t.m = sim_memory_new(1 << 20);
    CU_ASSERT(sim_memory_add(t.m, "out", sizeof t.out, &t.params[0], &t.err) == ST_OK);
    CU_ASSERT(sim_memory_add(t.m, "in", sizeof in, &t.params[1], &t.err) == ST_OK);
    sim_memory_write(t.m, t.params[1], in, sizeof in);
    t.launch = (struct sim_launch){.grid = {blocks, 1, 1},
                                   .block = {threads, 1, 1},
                                   .cluster = cluster,
                                   .params = t.params,
                                   .param_bytes = sizeof t.params};
    if (!t.options.threads)
        t.options.threads = 1;
    t.st = sim_program_new(ptx, strlen(ptx), "k", &t.p, &t.err);
    if (t.st == ST_OK) {
        t.launch.params = t.params;
        t.st = sim_run(t.p, t.m, &t.launch, &t.options, &t.r, &t.err);
        sim_memory_read(t.m, t.params[0], t.out, sizeof t.out);
    }
    if (t.st != ST_OK)
        printf("# %s\n", t.err.text);
    free(ptx);
    return t;
}

static struct trial run_with(const char *before, const char *body, uint32_t threads,
                             uint32_t blocks, struct sim_options o)
{
    return run_grid(before, body, threads, blocks, 1, o);
}

static struct trial run(const char *body, uint32_t threads)
{
    return run_with("", body, threads, 1, (struct sim_options){0});
}

static void end(struct trial *t)
{
    sim_result_clear(&t->r);
    sim_program_free(t->p);
    sim_memory_free(t->m);
}

static bool clean(const struct trial *t)
{
    for (size_t i = 0; i < t->r.faults; i++) {
        char *s = sim_fault_sentence(t->p, t->m, &t->launch, &t->r.fault[i]);
        printf("# %s\n", s);
        free(s);
    }
    return t->st == ST_OK && !t->r.faults;
}

static const struct sim_fault *fault_of(const struct trial *t, enum sim_fault_kind k)
{
    for (size_t i = 0; i < t->r.faults; i++)
        if (t->r.fault[i].kind == k)
            return &t->r.fault[i];
    return NULL;
}

/* ---- Divergence ---- */
static void test_divergence(void)
{
    /* nested: 4 ways by two bits, each adds its own; all meet */
    struct trial t =
        run("and.b32 %r1, %t, 1;\nand.b32 %r2, %t, 2;\nsetp.ne.u32 %p1, %r1, 0;\nsetp.ne.u32 %p2, "
            "%r2, 0;\nmov.u32 %r3, 0;\n"
            "@%p1 bra ODD;\n@%p2 bra A2;\nadd.u32 %r3, %r3, 10;\nbra A3;\nA2: add.u32 %r3, %r3, "
            "20;\nA3: add.u32 %r3, %r3, 100;\nbra MEET;\n"
            "ODD: @%p2 bra B2;\nadd.u32 %r3, %r3, 30;\nbra B3;\nB2: add.u32 %r3, %r3, 40;\nB3: "
            "add.u32 %r3, %r3, 200;\n"
            "MEET: activemask.b32 %r4;\nadd.u32 %r3, %r3, %r4;\nst.global.u32 [%o], %r3;\n",
            32);
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 32; k++)
        CU_ASSERT_EQUAL(t.out[k],
                        (k & 1 ? 200 + (k & 2 ? 40 : 30) : 100 + (k & 2 ? 20 : 10)) + UINT32_MAX);
    CU_ASSERT_EQUAL(t.r.total.divergences, 3);
    end(&t);
    /* a loop that each lane leaves when it likes: the sum of 0 .. t */
    t = run("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nL: add.u32 %r2, %r2, %r1;\nadd.u32 %r1, %r1, "
            "1;\nsetp.le.u32 %p1, %r1, %t;\n@%p1 bra L;\n"
            "st.global.u32 [%o], %r2;\n",
            40);
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 40; k++)
        CU_ASSERT_EQUAL(t.out[k], k * (k + 1) / 2);
    end(&t);
    /* lanes that end early leave the others alone */
    t = run("st.global.u32 [%o], 1;\nsetp.lt.u32 %p1, %t, 7;\n@%p1 ret;\nsetp.lt.u32 %p2, %t, "
            "20;\n@%p2 bra M;\nexit;\nM: st.global.u32 [%o], 2;\n",
            32);
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 32; k++)
        CU_ASSERT_EQUAL(t.out[k], k >= 7 && k < 20 ? 2 : 1);
    end(&t);
    /* a table of branches */
    t = run(
        "and.b32 %r1, %t, 3;\nT: .branchtargets A, B, C, B;\nbrx.idx %r1, T;\nA: mov.u32 %r2, "
        "5;\nbra E;\nB: mov.u32 %r2, 6;\nbra E;\nC: mov.u32 %r2, 7;\nE: st.global.u32 [%o], %r2;\n",
        32);
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 32; k++)
        CU_ASSERT_EQUAL(t.out[k], (k & 3) == 0 ? 5 : (k & 3) == 2 ? 7 : 6);
    end(&t);
}

/* ---- Barriers ---- */
#define SHARED ".shared .align 16 .b8 sm[1024];\n"

static void add_phase(struct sim_phase **all, size_t *n, size_t *cap, const struct sim_phase *p,
                      uint64_t times)
{
    struct sim_phase *to = sim_phase_at(all, n, cap, p->begins);
    to->times += times * p->times;
    to->longest += times * p->longest;
    for (uint64_t i = 0; i < times; i++)
        sim_counts_add(&to->counts, &p->counts);
    for (int k = 0; k < SIM_PIPE_COUNT; k++)
        to->pipe[k] += times * p->pipe[k];
}

/* The courses of all classes, as often as they stand for a block, are the run's phases. */
static void check_courses(const struct sim_result *r)
{
    struct sim_phase *all = NULL;
    size_t n = 0, cap = 0;
    uint64_t stands = 0;
    for (size_t i = 0; i < r->courses; i++) {
        const struct sim_course *c = &r->course[i];
        stands += c->stands;
        for (size_t k = 0; k < c->steps; k++)
            add_phase(&all, &n, &cap, &c->step[k].phase, c->stands * c->step[k].rounds);
        for (size_t k = 0; k < c->rests; k++)
            add_phase(&all, &n, &cap, &c->rest[k], c->stands);
    }
    CU_ASSERT_EQUAL(stands, r->blocks_run);
    CU_ASSERT_EQUAL_FATAL(n, r->phases);
    for (size_t i = 0; i < n; i++) {
        CU_ASSERT_EQUAL(all[i].begins, r->phase[i].begins);
        CU_ASSERT_EQUAL(all[i].times, r->phase[i].times);
        CU_ASSERT_EQUAL(all[i].longest, r->phase[i].longest);
        CU_ASSERT(!memcmp(&all[i].counts, &r->phase[i].counts, sizeof all[i].counts));
        CU_ASSERT(!memcmp(all[i].pipe, r->phase[i].pipe, sizeof all[i].pipe));
    }
    free(all);
}

/* A loop over tiles whose number follows the block, as under a causal mask: block b has 2 b + 1 rounds of two phases. */
#define TILES                                                                                  \
    "mov.u32 %r1, sm;\nmad.lo.u32 %r2, %t, 4, %r1;\nmov.u32 %r5, %ctaid.x;\nmad.lo.u32 %r6, "  \
    "%r5, 2, 1;\nL: st.shared.u32 [%r2], %r6;\nbar.sync 0;\nld.shared.u32 %r4, [%r2];\n" EXTRA \
    "bar.sync 0;\nsub.u32 %r6, %r6, 1;\nsetp.ne.u32 %p1, %r6, 0;\n@%p1 bra L;\n"               \
    "st.global.u32 [%o], %r4;\n"

static void test_courses(void)
{
#define EXTRA ""
    struct trial t = run_with(SHARED, TILES, 64, 8, (struct sim_options){.threads = 3});
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL_FATAL(t.r.courses, 8);
    check_courses(&t.r);
    const struct sim_course *last = &t.r.course[7];
    CU_ASSERT_EQUAL(last->block, 7);
    CU_ASSERT_EQUAL(last->stands, 1);
    CU_ASSERT_EQUAL(last->rests, 0);
    uint64_t rounds = 0; /* the first has the entry, the last leaves: those between are one */
    for (size_t i = 0; i < last->steps; i++)
        rounds = last->step[i].rounds > rounds ? last->step[i].rounds : rounds;
    CU_ASSERT(rounds >= 12 && rounds <= 15);
    CU_ASSERT(last->steps <= 8);
    for (size_t i = 0; i < last->steps; i++)
        CU_ASSERT(last->step[i].at < last->step[i].length);
    const uint64_t before = last->step[1].phase.counts.executions;
    end(&t);
#undef EXTRA
#define EXTRA "add.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\n" /* in one phase: seen there */
    t = run_with(SHARED, TILES, 64, 8, (struct sim_options){0});
    check_courses(&t.r);
    CU_ASSERT_EQUAL(t.r.course[7].step[1].phase.counts.executions, before + 2 * 2);
    end(&t);
#undef EXTRA
}

/* Rounds of which no two are alike: as many steps as are kept, the rest by phase. And more classes than are kept. */
static void test_long_courses(void)
{
    struct trial t = run_with(
        SHARED,
        "mov.u32 %r1, 1;\nL: mov.u32 %r2, %r1;\nM: sub.u32 %r2, %r2, 1;\nsetp.ne.u32 %p1, %r2, "
        "0;\n@%p1 bra M;\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\nsetp.le.u32 %p1, %r1, 900;\n"
        "@%p1 bra L;\nst.global.u32 [%o], %r1;\n",
        64, 1, (struct sim_options){0});
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.r.course[0].steps, SIM_COURSE_STEPS);
    CU_ASSERT_EQUAL(t.r.course[0].rests, 1);
    CU_ASSERT_EQUAL(t.r.course[0].rest[0].times, 901 - SIM_COURSE_STEPS);
    check_courses(&t.r);
    end(&t);
    for (int threads = 1; threads < 5; threads++) { /* whoever ends first, the same stay */
#define EXTRA ""
        t = run_with(SHARED, TILES, 32, SIM_COURSES + 9, (struct sim_options){.threads = threads});
#undef EXTRA
        CU_ASSERT_EQUAL_FATAL(t.r.courses, SIM_COURSES);
        for (size_t i = 0; i < t.r.courses; i++)
            CU_ASSERT_EQUAL(t.r.course[i].block, i);
        end(&t);
    }
}

static void test_barriers(void)
{
    /* each thread reads what another warp wrote */
    struct trial t = run_with(SHARED,
                              "mov.u32 %r1, sm;\nmad.lo.u32 %r2, %t, 4, %r1;\nst.shared.u32 [%r2], "
                              "%t;\nbar.sync 0;\nxor.b32 %r3, %t, 96;\nmad.lo.u32 %r2, %r3, 4, "
                              "%r1;\nld.shared.u32 %r4, [%r2];\nst.global.u32 [%o], %r4;\n",
                              128, 1, (struct sim_options){.hazards = true});
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.r.hazards, 0);
    for (uint32_t k = 0; k < 128; k++)
        CU_ASSERT_EQUAL(t.out[k], k ^ 96);
    CU_ASSERT_EQUAL(t.r.total.barriers, 4);
    CU_ASSERT_EQUAL(t.r.phases, 2);
    CU_ASSERT_EQUAL(t.r.phase[0].begins, -1);
    CU_ASSERT_EQUAL(t.r.phase[0].counts.executions + t.r.phase[1].counts.executions,
                    t.r.total.executions);
    CU_ASSERT_EQUAL(t.r.phase[0].counts.lanes + t.r.phase[1].counts.lanes, t.r.total.lanes);
    end(&t);
    /* without it, a race is found though the order of warps hides it from some */
    t = run_with(
        SHARED,
        "mov.u32 %r1, sm;\nmad.lo.u32 %r2, %t, 4, %r1;\nst.shared.u32 [%r2], %t;\nxor.b32 %r3, %t, "
        "96;\nmad.lo.u32 %r2, %r3, 4, %r1;\nld.shared.u32 %r4, [%r2];\nst.global.u32 [%o], %r4;\n",
        128, 1, (struct sim_options){.hazards = true});
    CU_ASSERT(t.r.hazards > 0 && t.r.hazard[0].kind == HAZARD_BLOCK);
    end(&t);
    /* a producer that does not wait, and a consumer: named barrier 3 for 64 threads */
    t = run_with(
        SHARED,
        "mov.u32 %r1, sm;\nand.b32 %r5, %t, 31;\nmad.lo.u32 %r2, %r5, 4, %r1;\nsetp.lt.u32 %p1, "
        "%t, 32;\n@%p1 bra CONSUMER;\nst.shared.u32 [%r2], 77;\nbar.arrive 3, 64;\nbra DONE;\n"
        "CONSUMER: bar.sync 3, 64;\nld.shared.u32 %r4, [%r2];\nst.global.u32 [%o], %r4;\nDONE:\n",
        64, 1, (struct sim_options){.hazards = true});
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.r.hazards, 0);
    CU_ASSERT_EQUAL(t.out[31], 77);
    end(&t);
    /* reductions over the block */
    t = run("setp.lt.u32 %p1, %t, 33;\nbar.red.popc.u32 %r1, 0, %p1;\nbar.red.and.pred %p2, 0, "
            "%p1;\nbar.red.or.pred %p3, 0, %p1;\nselp.u32 %r2, 100, 0, %p2;\nselp.u32 %r3, 1000, "
            "0, %p3;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nst.global.u32 [%o], %r1;\n",
            96);
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.out[0], 1033);
    CU_ASSERT_EQUAL(t.out[95], 1033);
    end(&t);
    /* warps that ended are not waited for */
    t = run("setp.ge.u32 %p1, %t, 32;\n@%p1 ret;\nbar.sync 0;\nst.global.u32 [%o], 5;\n", 64);
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.out[0], 5);
    end(&t);
}

static void test_barriers_go_wrong(void)
{
    struct trial t =
        run("setp.lt.u32 %p1, %t, 16;\n@%p1 bra S;\nbar.sync 0;\nS: st.global.u32 [%o], 1;\n", 32);
    const struct sim_fault *f = fault_of(&t, SIM_FAULT_DIVERGENT_BARRIER);
    CU_ASSERT(f && f->warp == 0 && f->lane == 0 && f->count == 16);
    CU_ASSERT_EQUAL(t.out[0], 1);
    end(&t);
    /* each warp at a barrier of its own: nobody comes, and it is said who waits where */
    t = run("shr.u32 %r1, %t, 5;\nbar.sync %r1;\nst.global.u32 [%o], 1;\n", 64);
    f = fault_of(&t, SIM_FAULT_DEADLOCK);
    CU_ASSERT(t.st == ST_OK && f && strstr(f->text, "warp 0 at barrier 0") &&
              strstr(f->text, "warp 1 at barrier 1"));
    end(&t);
    t = run("mov.u32 %r1, 16;\nbar.sync %r1;\n", 32);
    CU_ASSERT(fault_of(&t, SIM_FAULT_BARRIER_MISUSE) != NULL);
    end(&t);
    t = run_with("", "L: bra L;\n", 32, 1, (struct sim_options){.max_instructions = 1000000});
    CU_ASSERT(fault_of(&t, SIM_FAULT_ENDLESS) != NULL);
    end(&t);
    t = run_with("", "L: bra L;\n", 32, 1, (struct sim_options){.seconds = 0.05});
    CU_ASSERT_EQUAL(t.st, ST_FAIL);
    end(&t);
    atomic_bool stop = true;
    t = run_with("", "L: bra L;\n", 32, 1, (struct sim_options){.stop = &stop});
    CU_ASSERT_EQUAL(t.st, ST_CANCELLED);
    end(&t);
    t = run("setp.eq.u32 %p1, %t, 5;\n@%p1 trap;\nst.global.u32 [%o], 1;\n", 32);
    f = fault_of(&t, SIM_FAULT_TRAP);
    CU_ASSERT(f && f->lane == 5);
    end(&t);
}

/* ---- Lanes together ---- */
static void test_lanes(void)
{
    struct trial t =
        run("mad.lo.u32 %r1, %t, 3, 1;\nshfl.sync.bfly.b32 %r2, %r1, 5, 31, -1;\nst.global.u32 "
            "[%o], %r2;\n"
            "shfl.sync.up.b32 %r3|%p1, %r1, 2, 0, -1;\nst.global.u32 [%o+128], %r3;\n"
            "shfl.sync.down.b32 %r4, %r1, 3, 0x1807, -1;\nst.global.u32 [%o+256], %r4;\n"
            "shfl.sync.idx.b32 %r5, %r1, 9, 31, -1;\nselp.u32 %r6, 1, 0, %p1;\nadd.u32 %r5, %r5, "
            "%r6;\nst.global.u32 [%o+384], %r5;\n",
            32);
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 32; k++) {
        CU_ASSERT_EQUAL(t.out[k], (k ^ 5) * 3 + 1);
        CU_ASSERT_EQUAL(t.out[32 + k], (k < 2 ? k : k - 2) * 3 + 1);
        CU_ASSERT_EQUAL(t.out[64 + k], ((k & 7) + 3 <= 7 ? k + 3 : k) * 3 + 1);
        CU_ASSERT_EQUAL(t.out[96 + k], 28 + (k >= 2));
    }
    CU_ASSERT_EQUAL(t.r.total.shuffles, 4);
    end(&t);
    t = run("setp.lt.u32 %p1, %t, 5;\nvote.sync.ballot.b32 %r1, %p1, -1;\nvote.sync.any.pred %p2, "
            "%p1, -1;\nvote.sync.all.pred %p3, %p1, -1;\nvote.sync.uni.pred %p4, %p1, -1;\n"
            "selp.u32 %r2, 0x100, 0, %p2;\nselp.u32 %r3, 0x200, 0, %p3;\nselp.u32 %r4, 0x400, 0, "
            "%p4;\nor.b32 %r1, %r1, %r2;\nor.b32 %r1, %r1, %r3;\nor.b32 %r1, %r1, "
            "%r4;\nst.global.u32 [%o], %r1;\n"
            "redux.sync.add.s32 %r5, %t, -1;\nredux.sync.max.u32 %r6, %t, -1;\nadd.u32 %r5, %r5, "
            "%r6;\nst.global.u32 [%o+128], %r5;\n"
            "and.b32 %r7, %t, 3;\nmatch.any.sync.b32 %r8, %r7, -1;\nst.global.u32 [%o+256], %r8;\n"
            "elect.sync %r9|%p5, -1;\nselp.u32 %r9, 1, 0, %p5;\nst.global.u32 [%o+384], %r9;\n",
            32);
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 32; k++) {
        CU_ASSERT_EQUAL(t.out[k], 0x11f);
        CU_ASSERT_EQUAL(t.out[32 + k], 496 + 31);
        CU_ASSERT_EQUAL(t.out[64 + k], 0x11111111u << (k & 3));
        CU_ASSERT_EQUAL(t.out[96 + k], k == 0);
    }
    end(&t);
    t = run("setp.lt.u32 %p1, %t, 8;\n@%p1 shfl.sync.idx.b32 %r2, %t, 0, 31, -1;\nst.global.u32 "
            "[%o], 0;\n",
            32);
    CU_ASSERT(fault_of(&t, SIM_FAULT_DIVERGENT_WARP) != NULL);
    end(&t);
}

static void test_atomics(void)
{
    struct trial t =
        run_with(SHARED,
                 "mov.u32 %r1, sm;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.u32 [%r1], "
                 "0;\nbar.sync 0;\natom.shared.add.u32 %r2, [%r1], %t;\nbar.sync 0;\nld.shared.u32 "
                 "%r3, [%r1];\nst.global.u32 [%o], %r3;\n",
                 64, 1, (struct sim_options){.hazards = true});
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.out[63], 2016);
    CU_ASSERT_EQUAL(t.r.hazards, 0);
    CU_ASSERT_EQUAL(t.r.total.atomics, 2);
    end(&t);
    /* over blocks and threads, each kind on a word of its own */
    t = run_with(
        "",
        "red.global.add.u32 [%in], 1;\nred.global.max.u32 [%in+4], %t;\natom.global.cas.b32 %r1, "
        "[%in+8], 2, 9;\nred.global.add.f32 [%in+12], 0f3F800000;\nred.global.xor.b32 [%in+16], "
        "%t;\natom.global.gpu.exch.b32 %r2, [%in+20], %t;\nred.global.min.s32 [%in+24], "
        "-5;\natom.cta.global.inc.u32 %r3, [%in+28], 9;\nst.global.u32 [%o], 0;\n",
        64, 6, (struct sim_options){.threads = 4});
    uint32_t in[8];
    CU_ASSERT(clean(&t));
    sim_memory_read(t.m, t.params[1], in, sizeof in);
    CU_ASSERT_EQUAL(in[0], 384);
    CU_ASSERT_EQUAL(in[1], 63);
    CU_ASSERT_EQUAL(in[2], 9);
    CU_ASSERT_EQUAL(in[4], 4); /* 0 ^ 1 ^ ... ^ 63 is 0 */
    CU_ASSERT_EQUAL(in[6], (uint32_t)-5);
    CU_ASSERT_EQUAL(in[7], (7 + 384) % 10);
    float f;
    memcpy(&f, &in[3], sizeof f);
    CU_ASSERT(f > 383.9f && f < 384.1f); /* 3 was a subnormal */
    end(&t);
}

/* Sums of f32 flush subnormals in global memory, wherever the address comes from, and keep them in shared memory. */
static void test_atomics_flush(void)
{
    struct trial t = run_with(
        SHARED,
        "mov.u32 %r1, sm;\nst.shared.u32 [%r1], 5;\natom.shared.add.f32 %r2, [%r1], 0f00000002;\n"
        "ld.shared.u32 %r3, [%r1];\nst.global.u32 [%o], %r3;\n"
        "red.global.add.f32 [%in+12], 0f00000002;\nred.add.f32 [%in+16], 0f00800001;\n"
        "red.add.f32 [%in+20], 0f80000009;\n",
        1, 1, (struct sim_options){.threads = 1});
    uint32_t in[8];
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.out[0], 7);
    sim_memory_read(t.m, t.params[1], in, sizeof in);
    CU_ASSERT_EQUAL(in[3], 0);          /* 3 and 2 are none there */
    CU_ASSERT_EQUAL(in[4], 0x00800001); /* nor is 4 */
    CU_ASSERT_EQUAL(in[5], 0);          /* +0 and -0 */
    end(&t);
}

/* ---- Memory ---- */
static struct trial run_arrays(const char *body)
{
    return run_with(".shared .align 4 .b8 _ZZ1kE2Ks[128];\n.shared .align 4 .b8 _ZZ1kE2Vs[128];\n"
                    ".extern .shared .align 4 .b8 dyn[];\n",
                    body, 32, 1, (struct sim_options){.hazards = true});
}

#define FILL                                                                                    \
    "mov.u32 %r1, _ZZ1kE2Ks;\nmov.u32 %r2, _ZZ1kE2Vs;\nshl.b32 %r3, %t, 2;\nadd.u32 %r4, %r1, " \
    "%r3;\nadd.u32 %r5, %r2, %r3;\nst.shared.u32 [%r4], 1;\nst.shared.u32 [%r5], 2;\n"          \
    "bar.sync 0;\n"

/* From one array into another: told where the address is of one array alone. */
static void test_arrays(void)
{
    static const char *const leave[] = {
        FILL "ld.shared.u32 %r6, [%r4+128];\n", /* all 32 lanes */
        FILL "mad.lo.u32 %r7, %t, 4, %r1;\nadd.u32 %r7, %r7, 128;\nld.shared.u32 %r6, [%r7];\n",
        FILL "cvt.u64.u32 %x2, %r4;\nadd.u64 %x1, %x2, 128;\n"
             "ld.shared.u32 %r6, [%x1];\n",
        FILL "sub.u32 %r7, %r5, 128;\nld.shared.u32 %r6, [%r7];\n",
        FILL "mov.u32 %r7, %r4;\nmov.u32 %r8, 0;\nL: add.u32 %r7, %r7, 64;\nadd.u32 %r8, %r8, 1;\n"
             "setp.lt.u32 %p1, %r8, 2;\n@%p1 bra L;\nld.shared.u32 %r6, [%r7];\n",
    };
    for (size_t i = 0; i < sizeof leave / sizeof *leave; i++) {
        struct trial t = run_arrays(leave[i]);
        const struct sim_fault *f = fault_of(&t, SIM_FAULT_ARRAY);
        CU_ASSERT(t.st == ST_OK && f && f->count == 32 && f->lane == 0 && f->space == SIM_SHARED);
        CU_ASSERT(f && strstr(f->text, i == 3 ? "of Vs, which has 128" : "of Ks, which has 128"));
        CU_ASSERT_EQUAL(t.r.faults, 1);
        end(&t);
    }
    static const char *const stay[] = {
        FILL "ld.shared.u32 %r6, [%r4];\nld.shared.u32 %r6, [%r5];\n",
        /* of either, as it turns out */
        FILL "setp.lt.u32 %p1, %t, 8;\nselp.b32 %r7, %r4, %r5, %p1;\nld.shared.u32 %r6, [%r7];\n",
        FILL "setp.lt.u32 %p1, %t, 8;\nmov.u32 %r7, %r4;\n@%p1 mov.u32 %r7, %r5;\n"
             "ld.shared.u32 %r6, [%r7];\n",
        /* the way from one to the other */
        FILL "sub.u32 %r7, %r2, %r1;\nadd.u32 %r7, %r4, %r7;\nld.shared.u32 %r6, [%r7];\n",
        /* kept in memory, masked, shuffled */
        FILL "st.shared.u32 [%r4], %r5;\nld.shared.u32 %r7, [%r4];\nadd.u32 %r8, %r1, %r7;\n"
             "sub.u32 %r8, %r8, %r1;\nld.shared.u32 %r6, [%r8];\n",
        FILL "and.b32 %r7, %r5, -4;\nld.shared.u32 %r6, [%r7];\n",
        FILL "shfl.sync.idx.b32 %r7, %r5, 3, 31, -1;\nld.shared.u32 %r6, [%r7];\n",
        /* an index that was read is a number */
        FILL "ld.global.u32 %r7, [%in+12];\nshl.b32 %r7, %r7, 2;\nadd.u32 %r7, %r1, %r7;\n"
             "ld.shared.u32 %r6, [%r7];\n",
    };
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) {
        struct trial t = run_arrays(stay[i]);
        CU_ASSERT(clean(&t));
        end(&t);
    }
}

static void test_faults(void)
{
    struct trial t = run("ld.global.u32 %r1, [%i+1000];\nst.global.u32 [%o], %r1;\n", 32);
    const struct sim_fault *f = fault_of(&t, SIM_FAULT_BOUNDS_READ);
    int64_t offset;
    uint64_t bytes;
    CU_ASSERT(f && f->lane == 6 && f->count == 26);
    const char *name = f ? sim_memory_name(t.m, f->addr, &offset, &bytes) : NULL;
    CU_ASSERT(name && !strcmp(name, "in") && offset == 1024 && bytes == 1024);
    CU_ASSERT_EQUAL(t.out[5], 255);
    end(&t);
    t = run("add.u64 %x1, %i, 2;\nld.global.u32 %r1, [%x1];\nld.global.u32 %r2, [%out];\n", 32);
    f = fault_of(&t, SIM_FAULT_MISALIGNED);
    CU_ASSERT(f && f->count == 32);
    f = fault_of(&t, SIM_FAULT_UNWRITTEN);
    CU_ASSERT(f && f->addr == t.params[0] && f->bytes == 4);
    end(&t);
    t = run_with(
        SHARED,
        "mov.u32 %r1, sm;\nst.shared.u32 [%r1+1024], 1;\nld.shared.f32 %f1, [%r1];\nsetp.nan.f32 "
        "%p1, %f1, %f1;\nselp.u32 %r2, 1, 0, %p1;\nst.global.u32 [%o], %r2;\n",
        32, 1, (struct sim_options){0});
    CU_ASSERT(fault_of(&t, SIM_FAULT_BOUNDS_WRITE) && fault_of(&t, SIM_FAULT_UNWRITTEN));
    CU_ASSERT_EQUAL(t.out[0], 1);
    end(&t);
    /* one kind does not crowd out another that comes behind it */
    t = run_with(SHARED,
                 "mov.u32 %r1, sm;\nld.shared.u32 %r2, [%r1];\nld.shared.u32 %r3, [%r1+4];\n"
                 "st.shared.u32 [%r1+1024], 1;\n",
                 32, 1, (struct sim_options){.max_faults = 1});
    CU_ASSERT(fault_of(&t, SIM_FAULT_BOUNDS_WRITE) && fault_of(&t, SIM_FAULT_UNWRITTEN));
    CU_ASSERT_EQUAL(t.r.faults, 2);
    CU_ASSERT_EQUAL(t.r.faults_lost, 32);
    end(&t);
    t = run_with(".const .align 4 .u32 c[2] = {7, 8};\n.global .align 4 .u32 g[2];\n",
                 "ld.const.u32 %r1, [c+4];\nld.global.u32 %r2, [g];\nadd.u32 %r1, %r1, "
                 "%r2;\nst.global.u32 [%o], %r1;\nmov.u64 %x1, c;\nst.global.u32 [%x1], 1;\n",
                 32, 1, (struct sim_options){0});
    CU_ASSERT(t.r.faults == 1 && fault_of(&t, SIM_FAULT_READ_ONLY));
    CU_ASSERT_EQUAL(t.out[3], 8);
    end(&t);
}

static void test_spaces(void)
{
    /* local memory is each lane's own; generic addresses find all of them */
    struct trial t =
        run_with(SHARED,
                 ".local .align 8 .b8 lo[16];\nmov.u64 %x1, lo;\ncvta.local.u64 %x2, %x1;\nst.u32 "
                 "[%x2+4], %t;\nld.local.u32 %r1, [%x1+4];\nmov.u32 %r2, sm;\nmad.lo.u32 %r2, %t, "
                 "4, %r2;\ncvt.u64.u32 %x3, %r2;\ncvta.shared.u64 %x4, %x3;\nst.u32 [%x4], "
                 "%r1;\nld.shared.u32 %r3, [%r2];\nisspacep.shared %p1, %x4;\nselp.u32 %r4, 100, "
                 "0, %p1;\nadd.u32 %r3, %r3, %r4;\nst.u32 [%o], %r3;\n",
                 64, 1, (struct sim_options){0});
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 64; k++)
        CU_ASSERT_EQUAL(t.out[k], k + 100);
    CU_ASSERT_EQUAL(t.r.total.local_requests, 4);
    end(&t);
    t = run(
        "mad.wide.u32 %x1, %t, 16, %in;\nld.global.v4.u32 {%r1, %r2, %r3, %r4}, "
        "[%x1];\nmad.wide.u32 %x2, %t, 16, %out;\nst.global.v4.u32 [%x2], {%r4, %r3, %r2, %r1};\n",
        32);
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 128; k++)
        CU_ASSERT_EQUAL(t.out[k], k / 4 * 4 + 3 - k % 4);
    end(&t);
    t = run("mad.wide.u32 %x1, %t, 16, %in;\nld.global.v4.u32 {%r1, _, _, %r4}, [%x1];\n"
            "add.u32 %r1, %r1, %r4;\nst.global.u32 [%o], %r1;\n",
            32);
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.out[7], 59);
    end(&t);
    t = run("mad.wide.u32 %x1, %t, 2, %in;\nld.global.u16 %r1, [%x1];\nld.global.s8 %r2, "
            "[%in+255];\nld.global.u8 %r3, [%x1];\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, "
            "%r3;\nst.global.u32 [%o], %r1;\n",
            32);
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.out[2], 2);
    CU_ASSERT_EQUAL(t.out[3], 0);
    end(&t);
}

/* Halves of words: the first warp's access teaches the instruction how lanes lie, the second is moved as it was before. */
static void check_halves(const char *lanes, uint32_t (*index)(uint32_t t))
{
    char body[400];
    snprintf(body, sizeof body,
             "%smad.wide.u32 %%x1, %%r1, 2, %%in;\nld.global.u16 %%r2, [%%x1];\n"
             "shr.u32 %%r1, %%r1, 2;\nmad.wide.u32 %%x1, %%r1, 8, %%in;\n"
             "ld.global.v4.u16 {%%r3, %%r4, %%r5, %%r6}, [%%x1];\n"
             "shl.b32 %%r3, %%r3, 8;\nshl.b32 %%r5, %%r5, 16;\nadd.u32 %%r2, %%r2, %%r3;\nadd.u32 "
             "%%r2, %%r2, %%r5;\n"
             "st.global.u32 [%%o], %%r2;\n",
             lanes);
    struct trial t = run(body, 64);
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 64; k++) {
        const uint32_t i = index(k), v4 = i / 4 * 2; /* the word that is its first half */
        CU_ASSERT_EQUAL(t.out[k], (i % 2 ? 0 : i / 2) + (v4 << 8) + ((v4 + 1) << 16));
    }
    end(&t);
}

static uint32_t own(uint32_t t)
{
    return t;
}
static uint32_t alike(uint32_t t)
{
    return t / 32 * 4;
}
static uint32_t eight(uint32_t t)
{
    return t & 0x27;
}
static uint32_t backwards(uint32_t t)
{
    return t < 62 ? 62 - t : 0;
}

static void test_halves(void)
{
    static const char *const sets[] = {"generic", "avx2", "avx512"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!sim_force_isa(sets[i]))
            continue;
        check_halves("mov.u32 %r1, %t;\n", own);
        check_halves("shr.u32 %r1, %t, 5;\nshl.b32 %r1, %r1, 2;\n", alike);
        check_halves("and.b32 %r1, %t, 39;\n", eight);
        check_halves("min.u32 %r1, %t, 62;\nsub.u32 %r1, 62, %r1;\n", backwards);
    }
    (void)sim_force_isa(NULL);
}

/* Where there is no room for marks, races between blocks are not said to be absent. */
static void test_unwatched(void)
{
    static const char body[] = "ld.global.u32 %r3, [%i];\nst.global.u32 [%o], %r3;\n";
    struct trial t = run_with("", body, 32, 2, (struct sim_options){.hazards = true});
    CU_ASSERT_EQUAL(t.r.hazards_unwatched, 0);
    end(&t);
    t = run_with("", body, 32, 2, (struct sim_options){.hazards = true, .max_marks = 1});
    CU_ASSERT_EQUAL(t.r.hazards_unwatched, 2 * 2 * 32 * 4); /* blocks, accesses, lanes, bytes */
    end(&t);
}

/* ---- Copies ---- */
#define COPY                                                                                 \
    "mov.u32 %r1, sm;\nmad.lo.u32 %r2, %t, 4, %r1;\ncp.async.ca.shared.global [%r2], [%i], " \
    "4;\ncp.async.commit_group;\n"

static void test_async(void)
{
    struct trial t = run_with(
        SHARED,
        COPY "cp.async.wait_group 0;\nld.shared.u32 %r3, [%r2];\nst.global.u32 [%o], %r3;\n", 32, 1,
        (struct sim_options){.hazards = true});
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.r.hazards, 0);
    for (uint32_t k = 0; k < 32; k++)
        CU_ASSERT_EQUAL(t.out[k], k);
    end(&t);
    /* one group may be under way: the bytes are not there */
    t = run_with(SHARED,
                 COPY
                 "cp.async.wait_group 1;\nld.shared.u32 %r3, [%r2];\nst.global.u32 [%o], %r3;\n",
                 32, 1, (struct sim_options){.hazards = true});
    CU_ASSERT(fault_of(&t, SIM_FAULT_UNWRITTEN) != NULL);
    CU_ASSERT(t.r.hazards && t.r.hazard[0].kind == HAZARD_WAIT);
    CU_ASSERT_EQUAL(t.out[3], UINT32_MAX);
    end(&t);
    /* fewer source bytes than are copied: zeros follow, and the source behind them is not read */
    t = run_with(
        SHARED,
        "mov.u32 %r1, sm;\nmad.lo.u32 %r2, %t, 16, %r1;\nmad.wide.u32 %x1, %t, 16, "
        "%in;\ncp.async.cg.shared.global [%r2], [%x1], 16, "
        "8;\ncp.async.wait_all;\nld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];\nadd.u32 %r3, %r3, "
        "%r5;\nadd.u32 %r3, %r3, %r6;\nst.global.u32 [%o], %r3;\nst.global.u32 [%o+128], %r4;\n",
        32, 1, (struct sim_options){0});
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.out[5], 20);
    CU_ASSERT_EQUAL(t.out[37], 21);
    end(&t);
    /* an mbarrier: warp 1 waits until the 32 threads of warp 0 have arrived */
    t = run_with(
        SHARED,
        "mov.u32 %r1, sm;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%r1], "
        "32;\nbar.sync 0;\nsetp.lt.u32 %p2, %t, 32;\n@%p2 bra GIVE;\n"
        "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r1], 0;\n@!%p3 bra W;\nld.shared.u32 %r3, "
        "[%r1+64];\nst.global.u32 [%o], %r3;\nbra DONE;\n"
        "GIVE: @%p1 st.shared.u32 [%r1+64], 42;\nmbarrier.arrive.shared.b64 %x1, [%r1];\nDONE:\n",
        64, 1, (struct sim_options){.hazards = true, .seed = 3});
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.out[63], 42);
    CU_ASSERT_EQUAL(t.r.hazards, 0);
    end(&t);
    /* nobody arrives */
    t = run_with(SHARED,
                 "mov.u32 %r1, sm;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%r1], "
                 "32;\nW: mbarrier.try_wait.parity.shared.b64 %p3, [%r1], 0;\n@!%p3 bra W;\n",
                 32, 1, (struct sim_options){0});
    CU_ASSERT(fault_of(&t, SIM_FAULT_DEADLOCK) != NULL);
    end(&t);
}

/* ---- Text ---- */
#define PRINT_MODULE                                                                           \
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n.global .align 1 " \
    ".b8 fmt[12] = {116, 61, 37, 100, 32, 37, 46, 49, 102, 10, 0, 0};\n"
#define PRINT_DECLARE ".local .align 8 .b8 args[16];\n.reg .f64 %d;\n"
/* "t=%d %.1f\n" of %t and 2.5 */
#define PRINT                                                                                  \
    "mov.u64 %x1, args;\ncvta.local.u64 %x2, %x1;\nst.local.u32 [%x1], %t;\nmov.f64 %d, "      \
    "0d4004000000000000;\nst.local.f64 [%x1+8], %d;\nmov.u64 %x3, fmt;\ncvta.global.u64 %x4, " \
    "%x3;\n{\n.param .b64 p0;\nst.param.b64 [p0], %x4;\n.param .b64 p1;\nst.param.b64 [p1], "  \
    "%x2;\n.param .b32 rv;\ncall.uni (rv), vprintf, (p0, p1);\nld.param.b32 %r1, [rv];\n}\n"

static void test_text(void)
{
    struct trial t =
        run_with(PRINT_MODULE, PRINT_DECLARE "setp.gt.u32 %p1, %t, 1;\n@%p1 ret;\n" PRINT, 32, 2,
                 (struct sim_options){.threads = 2});
    CU_ASSERT_EQUAL(t.st, ST_OK);
    CU_ASSERT_STRING_EQUAL(t.r.printf_text, "t=0 2.5\nt=1 2.5\nt=0 2.5\nt=1 2.5\n");
    CU_ASSERT_FALSE(t.r.printf_cut);
    CU_ASSERT_EQUAL(t.r.faults, 0); /* its result is read */
    end(&t);
    t = run_with(PRINT_MODULE, PRINT_DECLARE PRINT "st.global.u32 [%o], %r1;\n", 32, 1,
                 (struct sim_options){0});
    CU_ASSERT_EQUAL(t.out[3], 2);
    end(&t);
}

/* Neighbours among the parameters by one load. */
static void test_wide_parameter(void)
{
    struct trial t = run_with("",
                              "ld.param.v2.u32 {%r1, %r2}, [pin];\nst.global.u32 [%o], %r1;\n"
                              "st.global.u32 [%o+128], %r2;\n",
                              32, 1, (struct sim_options){0});
    CU_ASSERT_EQUAL(t.st, ST_OK);
    for (int i = 0; i < 32; i++) {
        CU_ASSERT_EQUAL(t.out[i], (uint32_t)t.params[1]);
        CU_ASSERT_EQUAL(t.out[32 + i], (uint32_t)(t.params[1] >> 32));
    }
    end(&t);
}

/* All of many blocks print: the first bytes in order of blocks stay, whatever the threads' order, and no more memory or
 * time goes into it than that. */
static void test_much_text(void)
{
    struct trial t = run_with(PRINT_MODULE,
                              PRINT_DECLARE "mov.u32 %t, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
                                            "setp.gt.u32 %p1, %r2, 0;\n@%p1 ret;\n" PRINT,
                              32, 20000, (struct sim_options){.threads = 2, .max_printf = 21});
    CU_ASSERT_EQUAL(t.st, ST_OK);
    CU_ASSERT_STRING_EQUAL(t.r.printf_text, "t=0 2.5\nt=1 2.5\nt=2 2");
    CU_ASSERT_TRUE(t.r.printf_cut);
    end(&t);
    for (unsigned blocks = 2; blocks < 4; blocks++) { /* room for the texts of two, to the byte */
        t = run_with(PRINT_MODULE,
                     PRINT_DECLARE "mov.u32 %t, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
                                   "setp.gt.u32 %p1, %r2, 0;\n@%p1 ret;\n" PRINT,
                     32, blocks, (struct sim_options){.threads = 1, .max_printf = 16});
        CU_ASSERT_STRING_EQUAL(t.r.printf_text, "t=0 2.5\nt=1 2.5\n");
        CU_ASSERT_EQUAL(t.r.printf_cut, blocks > 2);
        end(&t);
    }
    t = run_with(PRINT_MODULE, PRINT_DECLARE "L:\n" PRINT "bra L;\n", 32, 1,
                 (struct sim_options){.max_instructions = 20000, .max_printf = 8000});
    CU_ASSERT_EQUAL(strlen(t.r.printf_text), 8000);
    CU_ASSERT_TRUE(t.r.printf_cut);
    CU_ASSERT_PTR_NOT_NULL(fault_of(&t, SIM_FAULT_ENDLESS));
    end(&t);
}

/* ---- Variables of a module, which outlive its programs ---- */
#define VARIABLE(words)                                                                      \
    HEAD words                                                                               \
        "\n.visible .entry one(.param .u64 p)\n{\n.reg .b64 %x<3>; .reg .b32 %r<3>;\n"       \
        "ld.global.u32 %r1, [v+4];\nadd.u32 %r1, %r1, 5;\nst.global.u32 [v+4], %r1;\nret;\n" \
        "}\n.visible .entry two(.param .u64 p)\n{\n.reg .b64 %x<3>; .reg .b32 %r<3>;\n"      \
        "ld.param.u64 %x1, [p];\nld.global.u32 %r1, [v+4];\nst.global.u32 [%x1], %r1;\n"     \
        "ld.global.u64 %x2, [w];\nst.global.u64 [%x1+8], %x2;\nret;\n}\n"
static const char first_module[] = VARIABLE(".global .u32 v[2] = {1, 30};\n.global .u64 w = 7;"),
                  other_module[] = VARIABLE(".global .u32 v[2] = {1, 900};\n.global .u64 w = 8;");

static void run_entry(struct sim_memory *m, const char *module, const char *entry, uint64_t param)
{
    const struct sim_launch l = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &param, .param_bytes = sizeof param};
    const struct sim_options o = {.threads = 1};
    struct sim_program *p = NULL;
    struct sim_result r = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(sim_program_new(module, strlen(module), entry, &p, &err), ST_OK);
    CU_ASSERT_EQUAL(sim_run(p, m, &l, &o, &r, &err), ST_OK);
    CU_ASSERT_EQUAL(r.faults, 0);
    sim_result_clear(&r);
    sim_program_free(p); /* the next one may well get its address */
}

static void test_variables(void)
{
    struct sim_memory *m = sim_memory_new(1 << 20);
    uint64_t out = 0, got[2];
    CU_ASSERT_EQUAL(sim_memory_add(m, "out", sizeof got, &out, NULL), ST_OK);
    static const struct {
        const char *module, *entry;
        uint64_t v, w; /* of entry two */
    } steps[] = {{first_module, "one", 0, 0},   {first_module, "two", 35, 7},
                 {other_module, "two", 900, 8}, {first_module, "one", 0, 0},
                 {first_module, "two", 40, 7},  {other_module, "one", 0, 0},
                 {other_module, "two", 905, 8}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        run_entry(m, steps[i].module, steps[i].entry, out);
        CU_ASSERT_TRUE(sim_memory_read(m, out, got, sizeof got));
        if (!strcmp(steps[i].entry, "two")) {
            CU_ASSERT_EQUAL((uint32_t)got[0], steps[i].v);
            CU_ASSERT_EQUAL(got[1], steps[i].w);
        }
    }
    sim_memory_free(m);
}

/* What is not known is refused: line, text, reason. */
static void refused(const char *body, const char *words)
{
    struct trial t = run(body, 32);
    if (t.st != ST_USAGE || !strstr(t.err.text, words) || !strstr(t.err.text, "PTX line 15"))
        printf("# %s: %s\n", body, t.err.text);
    CU_ASSERT(t.st == ST_USAGE && strstr(t.err.text, words) && strstr(t.err.text, "PTX line 15"));
    t.p = NULL;
    end(&t);
}

static void test_refusals(void)
{
    refused("frobnicate.u32 %r1, %r2;\n", "does not know this instruction");
    refused("add.f16x3 %r1, %r2, %r3;\n", "add.f16x3");
    refused("add.s32 %x1, %x2, %x3;\n", "64 bits");
    refused("add.u64 %r1, %r2, %r3;\n", "32 bits");
    refused("wgmma.fence.sync;\n", ".sync.aligned");
    refused("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r1}, %x1, %x2, %p1;\n", "m64nNk16");
    refused("cp.async.bulk.prefetch.L2.global [%x1], 16;\n", "bulk copies");
    refused("setmaxnreg.inc.sync.aligned.u32 60;\n", "multiple of 8");
    refused("add.s32 %r1, %r2;\n", "wants 3");
    refused("mul.sat.s32 %r1, %r2, %r3;\n", "mul.sat");
    refused("ld.global.v4.u32 {%r1, %r2}, [%in];\n", "wants 4");
}

/* Counts of a small program by hand, the same for any number of threads and order of turns. */
static void test_counts(void)
{
    static const char body[] =
        "mov.u32 %r1, sm;\nmad.lo.u32 %r2, %t, 8, %r1;\nld.global.u32 %r3, [%i];\nst.shared.u32 "
        "[%r2], %r3;\nbar.sync 0;\nld.shared.u32 %r4, [%r2];\nst.global.u32 [%o], %r4;\n";
    struct trial t = run_with(SHARED, body, 64, 5, (struct sim_options){.l2_bytes = 1 << 20});
    const struct sim_counts *c = &t.r.total;
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(c->executions, 5 * 2 * 13);
    CU_ASSERT_EQUAL(c->lanes, 32 * c->executions);
    CU_ASSERT_EQUAL(c->smem_requests, 5 * 2 * 2);
    CU_ASSERT_EQUAL(c->smem_wavefronts, 5 * 2 * 2 * 2); /* every other bank */
    CU_ASSERT_EQUAL(c->smem_wavefronts_ideal, 5 * 2 * 2);
    CU_ASSERT_EQUAL(c->smem_bytes, 5 * 2 * 2 * 128);
    CU_ASSERT_EQUAL(c->global_requests, 5 * 2 * 2);
    CU_ASSERT_EQUAL(c->global_sectors, 5 * 2 * 2 * 4);
    CU_ASSERT_EQUAL(c->dram_read_bytes, 256);
    CU_ASSERT_EQUAL(c->dram_write_bytes, 0); /* they lie in the L2 */
    CU_ASSERT_EQUAL(t.r.pipe[SIM_PIPE_lsu], 5 * 2 * 6);
    for (int k = 1; k < 5; k++)
        CU_ASSERT_EQUAL(t.r.block_class[k], t.r.block_class[0]);
    for (int threads = 1; threads <= 4; threads++) {
        struct trial u = run_with(
            SHARED, body, 64, 5,
            (struct sim_options){
                .l2_bytes = 1 << 20, .threads = threads, .seed = (uint64_t)threads, .quantum = 3});
        CU_ASSERT(!memcmp(&u.r.total, &t.r.total, sizeof u.r.total));
        CU_ASSERT(!memcmp(u.r.insn, t.r.insn, t.r.insns * sizeof *t.r.insn));
        end(&u);
    }
    end(&t);
    const uint64_t some[] = {1, 4};
    t = run_with(SHARED, body, 64, 5, (struct sim_options){.blocks = some, .block_count = 2});
    CU_ASSERT(t.r.blocks == 5 && t.r.blocks_run == 2 && t.r.block[1] == 4 &&
              t.r.total.executions == 2 * 2 * 13);
    end(&t);
}

/* What passes the L1, and what the L2 is asked for behind it: 4 sectors an access of a warp. */
static void test_l1(void)
{
    static const struct {
        const char *body;
        uint64_t without, with; /* sectors, of each warp */
    } cases[] = {
        {"ld.global.u32 %r3, [%i];\nbar.sync 0;\nld.global.u32 %r4, [%i];\n", 8, 4},
        {"ld.global.cg.u32 %r3, [%i];\nbar.sync 0;\nld.global.cg.u32 %r4, [%i];\n", 8, 8},
        {"ld.volatile.global.u32 %r3, [%i];\nld.volatile.global.u32 %r4, [%i];\n", 8, 8},
        {"ld.global.u32 %r3, [%i];\nst.global.u32 [%i], %r3;\nld.global.u32 %r4, [%i];\n", 12, 12},
        {"st.global.u32 [%o], %t;\nld.global.u32 %r4, [%o];\n", 8, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int l1 = 0; l1 < 2; l1++) {
            struct trial t = run_with(
                "", cases[i].body, 64, 5,
                (struct sim_options){.l2_bytes = 1 << 20, .l1_bytes = l1 ? 8192 : 0, .threads = 2});
            const uint64_t asked = t.r.total.l2_hits + t.r.total.l2_misses;
            CU_ASSERT(clean(&t));
            CU_ASSERT_EQUAL(asked, 5 * 2 * (l1 ? cases[i].with : cases[i].without));
            end(&t);
        }
}

/* ---- Clusters ---- */
#define MEET_ARRIVE "barrier.cluster.arrive.release.aligned;\n"
#define MEET_WAIT   "barrier.cluster.wait.acquire.aligned;\n"
#define MEET        MEET_ARRIVE MEET_WAIT
/* 100 block + t to its own shared memory; `between`; the same word of the block whose rank is %r6. */
#define TO_NEIGHBOUR(between, rank)                                                           \
    ".shared .align 4 .b8 sh[128];\nmov.u32 %r1, sh;\nmad.lo.u32 %r2, %t, 4, %r1;\n"          \
    "mov.u32 %r3, %cluster_ctarank;\nmov.u32 %r4, %ctaid.x;\nmad.lo.u32 %r5, %r4, 100, %t;\n" \
    "st.shared.u32 [%r2], %r5;\n" between rank                                                \
    "mapa.shared::cluster.u32 %r7, %r2, %r6;\nld.shared::cluster.u32 %r8, [%r7];\n"           \
    "mad.lo.u32 %r9, %r4, 32, %t;\nmad.wide.u32 %x1, %r9, 4, %out;\nst.global.u32 [%x1], %r8;\n"
#define OTHER "xor.b32 %r6, %r3, 1;\n"

static void test_clusters(void)
{
    const struct sim_options watched = {.hazards = true};
    struct trial t = run_grid("", TO_NEIGHBOUR(MEET, OTHER) MEET, 32, 6, 2, watched);
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.r.hazards, 0);
    CU_ASSERT_EQUAL(t.r.blocks_run, 6);
    for (uint32_t k = 0; k < 6 * 32; k++)
        CU_ASSERT_EQUAL(t.out[k], 100 * (k / 32 ^ 1) + k % 32);
    const uint64_t each = t.r.block_instructions[0];
    for (int b = 0; b < 6; b++)
        CU_ASSERT(t.r.block[b] == (uint64_t)b && t.r.block_instructions[b] == each);
    end(&t);
    /* writes to the neighbour, behind a first meeting, are seen behind the next */
    t = run_grid(
        "",
        ".shared .align 4 .b8 sh[128];\nmov.u32 %r1, sh;\nmad.lo.u32 %r2, %t, 4, %r1;\n" MEET
        "mov.u32 %r3, %cluster_ctarank;\nmov.u32 %r4, %ctaid.x;\n" OTHER
        "mapa.shared::cluster.u32 %r7, %r2, %r6;\nst.shared::cluster.u32 [%r7], %r4;\n" MEET
        "ld.shared.u32 %r8, [%r2];\nmad.lo.u32 %r9, %r4, 32, %t;\n"
        "mad.wide.u32 %x1, %r9, 4, %out;\nst.global.u32 [%x1], %r8;\n",
        32, 4, 2, watched);
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.r.hazards, 0);
    for (uint32_t k = 0; k < 4 * 32; k++)
        CU_ASSERT_EQUAL(t.out[k], k / 32 ^ 1);
    end(&t);
    /* where a block is: %clusterid, %nclusterid, %cluster_nctarank, and 64 threads of two blocks */
    t = run_grid(
        "",
        "mov.u32 %r1, %clusterid.x;\nmov.u32 %r2, %nclusterid.x;\nmov.u32 %r3, %cluster_nctarank;\n"
        "mad.lo.u32 %r1, %r2, 10, %r1;\nmad.lo.u32 %r1, %r3, 100, %r1;\nmov.u32 %r4, %ctaid.x;\n"
        "mad.lo.u32 %r9, %r4, 64, %t;\nmad.wide.u32 %x1, %r9, 4, %out;\nst.global.u32 [%x1], "
        "%r1;\n",
        64, 4, 2, watched);
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 4 * 64; k++)
        CU_ASSERT_EQUAL(t.out[k], 200 + 20 + k / 128);
    end(&t);
}

static void cluster_race(const char *body)
{
    struct trial t = run_grid("", body, 32, 4, 2, (struct sim_options){.hazards = true});
    CU_ASSERT_EQUAL(t.st, ST_OK);
    CU_ASSERT(t.r.hazards > 0);
    if (t.r.hazards) {
        const struct hazard_report *h = &t.r.hazard[0];
        CU_ASSERT(h->shared && h->kind == HAZARD_BLOCK && h->addr < 128);
        CU_ASSERT(h->a.block != h->b.block && h->a.block / 2 == h->b.block / 2);
        CU_ASSERT(h->a.warp == 0 && h->b.warp == 0);
    }
    end(&t);
}

static void test_cluster_faults(void)
{
    cluster_race(TO_NEIGHBOUR("", OTHER) MEET);               /* nothing between */
    cluster_race(TO_NEIGHBOUR(MEET_ARRIVE, OTHER) MEET_WAIT); /* half a meeting */
    cluster_race(TO_NEIGHBOUR("barrier.cluster.arrive.relaxed.aligned;\n" MEET_WAIT, OTHER) MEET);
    cluster_race(TO_NEIGHBOUR("bar.sync 0;\n", OTHER) MEET); /* one's own block alone */
    /* no block of that rank; the lane takes no part */
    struct trial t = run_grid("", TO_NEIGHBOUR(MEET, "mov.u32 %r6, 2;\n") MEET, 32, 2, 2,
                              (struct sim_options){0});
    const struct sim_fault *f = fault_of(&t, SIM_FAULT_BOUNDS_READ);
    CU_ASSERT(f && f->space == SIM_SHARED && f->addr < 128);
    end(&t);
    /* out of one's own, not into the neighbour's */
    t = run_grid("",
                 ".shared .align 4 .b8 sh[128];\nmov.u32 %r1, sh;\nld.shared.u32 %r2, [%r1+128];\n",
                 32, 2, 2, (struct sim_options){0});
    CU_ASSERT_PTR_NOT_NULL(fault_of(&t, SIM_FAULT_BOUNDS_READ));
    end(&t);
    /* reads from the neighbour, which may have ended by then: nobody, or only the reader, waits there */
    static const char *const bodies[] = {TO_NEIGHBOUR(MEET, OTHER),
                                         TO_NEIGHBOUR(MEET, OTHER) MEET_ARRIVE};
    for (int i = 0; i < 2; i++) {
        t = run_grid("", bodies[i], 32, 4, 2, (struct sim_options){.hazards = true});
        CU_ASSERT_PTR_NOT_NULL(fault_of(&t, SIM_FAULT_GUEST));
        end(&t);
    }
    /* an arrival is owed for each wait, also for the second */
    t = run_grid("", MEET MEET_WAIT, 32, 4, 2, (struct sim_options){0});
    CU_ASSERT_PTR_NOT_NULL(fault_of(&t, SIM_FAULT_BARRIER_MISUSE));
    end(&t);
    /* fence.mbarrier_init lets a relaxed arrival tell of mbarriers */
    t = run_grid("",
                 ".shared .align 8 .b8 sh[8];\nmov.u32 %r1, sh;\nsetp.ne.u32 %p1, %t, 0;\n"
                 "@%p1 bra MADE;\nmbarrier.init.shared.b64 [%r1], 1;\n"
                 "fence.mbarrier_init.release.cluster;\nMADE:\n"
                 "barrier.cluster.arrive.relaxed.aligned;\n" MEET_WAIT "@%p1 bra DONE;\n"
                 "mov.u32 %r3, %cluster_ctarank;\n" OTHER
                 "mapa.shared::cluster.u32 %r7, %r1, %r6;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];\nDONE:\n" MEET,
                 32, 4, 2, (struct sim_options){.hazards = true});
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.r.hazards, 0);
    end(&t);
    /* who has ended is not waited for; who waits without having arrived, or arrives twice, is told */
    t = run_grid("", "mov.u32 %r3, %cluster_ctarank;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 exit;\n" MEET,
                 32, 4, 2, (struct sim_options){0});
    CU_ASSERT(clean(&t));
    end(&t);
    t = run_grid("", MEET_WAIT, 32, 2, 2, (struct sim_options){0});
    CU_ASSERT_PTR_NOT_NULL(fault_of(&t, SIM_FAULT_BARRIER_MISUSE));
    end(&t);
    t = run_grid(
        "",
        "mov.u32 %r3, %cluster_ctarank;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 bra W;\n" MEET_ARRIVE
            MEET_ARRIVE MEET_WAIT "ret;\nW: bar.sync 0;\n" MEET,
        32, 2, 2, (struct sim_options){0});
    CU_ASSERT_PTR_NOT_NULL(fault_of(&t, SIM_FAULT_BARRIER_MISUSE));
    end(&t);
    /* one waits for the cluster, the other for a barrier that nobody else comes to */
    t = run_grid("",
                 "mov.u32 %r3, %cluster_ctarank;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 bra W;\n" MEET
                 "ret;\nW: bar.sync 0, 64;\n" MEET,
                 64, 2, 2, (struct sim_options){0});
    CU_ASSERT(clean(&t));
    end(&t);
    t = run_grid("",
                 "mov.u32 %r3, %warpid;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 bra W;\n" MEET
                 "ret;\nW: bar.sync 0, 64;\n",
                 64, 2, 2, (struct sim_options){0});
    f = fault_of(&t, SIM_FAULT_DEADLOCK);
    CU_ASSERT(f && strstr(f->text, "cluster"));
    end(&t);
    /* launches that make no sense */
    for (uint32_t cluster = 3; cluster <= 32; cluster += 29) {
        t = run_grid("", MEET, 32, 32, cluster, (struct sim_options){0});
        CU_ASSERT_EQUAL(t.st, ST_USAGE);
        end(&t);
    }
    t = run_grid("", MEET, 33, 2, 2, (struct sim_options){0});
    CU_ASSERT_EQUAL(t.st, ST_USAGE);
    end(&t);
    const uint64_t half[] = {1, 2};
    t = run_grid("", MEET, 32, 4, 2, (struct sim_options){.blocks = half, .block_count = 2});
    CU_ASSERT(t.st == ST_USAGE && strstr(t.err.text, "cluster"));
    end(&t);
}

/* ---- stores that a barrier of the other block counts ---- */

/* Thread t sends four words to 16 t of the block of rank %r6, whose barrier, at 512, expects `bytes`; `made` is what the thread
 * that makes it does behind its init, `sends` what all do once the cluster has met, `waits` before they read their own. */
#define SENT(made, bytes, sends, waits)                                                  \
    ".shared .align 16 .b8 sh[528];\nmov.u32 %r1, sh;\nmad.lo.u32 %r2, %t, 16, %r1;\n"   \
    "add.u32 %r5, %r1, 512;\nsetp.ne.u32 %p1, %t, 0;\n@%p1 bra MADE;\n" made             \
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r5], " bytes ";\nMADE:\n"                 \
    "barrier.cluster.arrive.relaxed.aligned;\n" MEET_WAIT                                \
    "mov.u32 %r3, %cluster_ctarank;\nmov.u32 %r4, %ctaid.x;\n" OTHER                     \
    "mapa.shared::cluster.u32 %r7, %r2, %r6;\nmapa.shared::cluster.u32 %r8, %r5, %r6;\n" \
    "mad.lo.u32 %r9, %r4, 100, %t;\nadd.u32 %r10, %r9, 1000;\n" sends waits              \
    "ld.shared.u32 %r11, [%r2+8];\nmad.lo.u32 %r12, %r4, 32, %t;\n"                      \
    "mad.wide.u32 %x1, %r12, 4, %out;\nst.global.u32 [%x1], %r11;\n"
#define MADE "mbarrier.init.shared.b64 [%r5], 1;\nfence.mbarrier_init.release.cluster;\n"
#define SEND "st.async.shared::cluster.mbarrier::complete_tx::bytes."
#define FOUR SEND "v4.b32 [%r7], {%r9, %r9, %r10, %r9}, [%r8];\n"
#define COME "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0;\n@!%p2 bra AGAIN;\n"

static void test_sent(void)
{
    static const char *const ways[] = {SENT(MADE, "512", FOUR, COME),
                                       SENT(MADE, "512",
                                            SEND "u32 [%r7], %r9, [%r8];\n" SEND
                                                 "v2.f32 [%r7+8], {%r10, %r9}, [%r8];\n" SEND
                                                 "s32 [%r7+4], %r9, [%r8];\n",
                                            COME)};
    for (int i = 0; i < 2; i++) {
        struct trial t = run_grid("", ways[i], 32, 6, 2, (struct sim_options){.hazards = true});
        CU_ASSERT(clean(&t));
        CU_ASSERT_EQUAL(t.r.hazards, 0);
        for (uint32_t k = 0; k < 6 * 32; k++)
            CU_ASSERT_EQUAL(t.out[k], 1000 + 100 * (k / 32 ^ 1) + k % 32);
        end(&t);
    }
}

static void sent_ails(const char *body, enum sim_fault_kind fault, bool race)
{
    struct trial t = run_grid("", body, 32, 4, 2, (struct sim_options){.hazards = true});
    CU_ASSERT_EQUAL(t.st, ST_OK);
    CU_ASSERT(race ? t.r.hazards > 0 : fault_of(&t, fault) != NULL);
    end(&t);
}

static void test_sent_faults(void)
{
    const enum sim_fault_kind RACE = SIM_FAULT_GUEST;   /* not looked at */
    sent_ails(SENT(MADE, "512", FOUR, ""), RACE, true); /* nobody waits, and all read */
    sent_ails(SENT(MADE, "512", FOUR, "ret;\n"), SIM_FAULT_GUEST, false); /* nor reads */
    sent_ails(SENT(MADE, "512", FOUR, "bar.sync 0;\n"), RACE, true);
    sent_ails(SENT(MADE, "496", FOUR, COME), SIM_FAULT_DEADLOCK,
              false); /* 16 bytes too many came */
    sent_ails(SENT(MADE, "528", FOUR, COME), SIM_FAULT_DEADLOCK, false); /* or too few */
    /* what the sender wrote before by a plain store is not published by it */
    sent_ails(SENT(MADE, "256",
                   "st.shared::cluster.u32 [%r7+8], %r9;\n" SEND
                   "v2.b32 [%r7], {%r9, %r9}, [%r8];\n",
                   COME),
              RACE, true);
    /* no init, no fence behind it, and a barrier that is not of the block which the bytes go to */
    sent_ails(SENT("", "512", FOUR, COME), SIM_FAULT_MBARRIER, false);
    sent_ails(SENT("mbarrier.init.shared.b64 [%r5], 1;\n", "512", FOUR, COME), SIM_FAULT_MBARRIER,
              false);
    sent_ails(SENT(MADE, "512", SEND "v4.b32 [%r7], {%r9, %r9, %r10, %r9}, [%r5];\n", COME),
              SIM_FAULT_MBARRIER, false);
    sent_ails(SENT(MADE, "512", "add.u32 %r7, %r7, 4;\n" FOUR, COME), SIM_FAULT_MISALIGNED, false);
    sent_ails(SENT(MADE, "512", "mov.u32 %r13, 5;\nmapa.shared::cluster.u32 %r7, %r2, %r13;\n" FOUR,
                   COME),
              SIM_FAULT_BOUNDS_WRITE, false);
}

/* ---- copies to several blocks of a cluster at once ---- */

/* Thread 0 fetches 256 bytes, those of its block's rank, to the same place of the blocks whose bits are `blocks`. */
#define FETCH(blocks)                                                                              \
    ".reg .b16 %h1;\n@%p1 bra FETCHED;\nmad.lo.u32 %r13, %r3, 256, %r1;\nmul.wide.u32 %x2, %r3, "  \
    "256;\n"                                                                                       \
    "add.u64 %x2, %x2, %in;\nmov.u16 %h1, " blocks ";\n"                                           \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r13]," \
    " [%x2], 256, [%r5], %h1;\nFETCHED:\n"

static void test_multicast(void)
{
    struct trial t = run_grid("", SENT(MADE, "512", FETCH("3"), COME), 32, 6, 2,
                              (struct sim_options){.hazards = true});
    CU_ASSERT(clean(&t));
    CU_ASSERT_EQUAL(t.r.hazards, 0);
    for (uint32_t k = 0; k < 6 * 32; k++)
        CU_ASSERT_EQUAL(t.out[k], 4 * (k % 32) + 2);
    end(&t);
    const enum sim_fault_kind RACE = SIM_FAULT_GUEST; /* not looked at */
    sent_ails(SENT(MADE, "512", FETCH("3"), ""), RACE, true);
    sent_ails(SENT(MADE, "512", FETCH("0"), COME), SIM_FAULT_COPY_ENGINE, false);
    sent_ails(SENT(MADE, "512", FETCH("7"), COME), SIM_FAULT_COPY_ENGINE, false);
    sent_ails(SENT(MADE, "512", FETCH("1"), COME), SIM_FAULT_DEADLOCK, false); /* none for rank 1 */
    sent_ails(SENT("", "512", FETCH("3"), COME), SIM_FAULT_MBARRIER, false);
}

/* Lane i has row i / 4, columns 2 (i % 4) and the next: element (r, c) is 8 r + c. */
static void test_movmatrix(void)
{
    struct trial t = run(
        "shl.b32 %r1, %t, 1;\nadd.u32 %r2, %r1, 1;\nshl.b32 %r2, %r2, 16;\nor.b32 %r1, %r1, %r2;\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r1;\nst.global.u32 [%o], %r3;\n",
        32);
    CU_ASSERT(clean(&t));
    for (uint32_t k = 0; k < 32; k++) {
        const uint32_t row = k / 4, column = k % 4 * 2; /* of the transposed */
        CU_ASSERT_EQUAL(t.out[k], (8 * column + row) | (8 * (column + 1) + row) << 16);
    }
    end(&t);
}

/* A launch that makes no sense. */
static void test_launches(void)
{
    struct trial t = run_with("", "st.global.u32 [%o], 1;\n", 2000, 1, (struct sim_options){0});
    CU_ASSERT_EQUAL(t.st, ST_USAGE);
    end(&t);
    t = run_with("", "st.global.u32 [%o], 1;\n", 32, 0, (struct sim_options){0});
    CU_ASSERT_EQUAL(t.st, ST_USAGE);
    end(&t);
    const uint64_t outside[] = {3};
    t = run_with("", "st.global.u32 [%o], 1;\n", 32, 3,
                 (struct sim_options){.blocks = outside, .block_count = 1});
    CU_ASSERT_EQUAL(t.st, ST_USAGE);
    end(&t);
}

static const struct tap_test tests[] = {
    {"divergence", test_divergence},
    {"the phases of a block in their order", test_courses},
    {"courses that are too long, and too many", test_long_courses},
    {"barriers", test_barriers},
    {"barriers that go wrong, and loops without an end", test_barriers_go_wrong},
    {"shuffles and votes", test_lanes},
    {"atomics", test_atomics},
    {"atomics flush subnormals in global memory", test_atomics_flush},
    {"from one array of shared memory into another", test_arrays},
    {"faults of memory", test_faults},
    {"address spaces", test_spaces},
    {"halves of words", test_halves},
    {"what is not watched is counted", test_unwatched},
    {"asynchronous copies and mbarriers", test_async},
    {"printf", test_text},
    {"a vector of parameters", test_wide_parameter},
    {"much text", test_much_text},
    {"variables of a module", test_variables},
    {"refusals", test_refusals},
    {"counts by hand", test_counts},
    {"loads pass an L1", test_l1},
    {"clusters", test_clusters},
    {"clusters: races and faults", test_cluster_faults},
    {"stores that a barrier of another block counts", test_sent},
    {"and what is told of them", test_sent_faults},
    {"copies to several blocks of a cluster", test_multicast},
    {"movmatrix", test_movmatrix},
    {"launches that make no sense", test_launches},
};

TAP_MAIN("sim_run", tests)
