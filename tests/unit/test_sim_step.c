/* A block held still: steps, goals, orders, marks, and the way back, which must come to the same state.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/step.h"

#define WORDS 2048

/* A kernel of (out): %t the thread, %o its word of out; 8 KiB of shared memory at `tile`. */
#define HEAD                                                                              \
    ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n"  \
    ".visible .entry k(.param .u64 pout)\n{\n.reg .b64 %o, %out, %b;\n.reg .b32 %t, %s, " \
    "%r<20>;\n.reg .f32 %f<9>;\n.reg .pred %p<9>;\n"                                      \
    "mov.u32 %t, %tid.x;\nld.param.u64 %out, [pout];\nmad.wide.u32 %o, %t, 4, %out;\n"    \
    "mov.u32 %s, tile;\n"
#define END "ret;\n}\n"

/* Tile word %t, and that of the thread 32 ahead, of 128. */
#define MINE "shl.b32 %r1, %t, 2;\nadd.u32 %r1, %r1, %s;\n"
#define NEXT \
    "add.u32 %r2, %t, 32;\nand.b32 %r2, %r2, 127;\nshl.b32 %r2, %r2, 2;\nadd.u32 %r2, %r2, %s;\n"

struct held {
    struct sim_program *p;
    struct sim_memory *m;
    struct sim_step *s;
    struct sim_launch launch;
    struct err err;
    uint64_t out;
};

static struct held *hold(const char *body, uint32_t threads, struct sim_step_options o)
{
    struct held *x = xcalloc(1, sizeof *x);
    char *ptx = xasprintf("%s%s%s", HEAD, body, END);
    x->err = (struct err)ERR_INIT;
    x->m = sim_memory_new(1 << 20);
    CU_ASSERT_EQUAL(sim_memory_add(x->m, "out", 4 * WORDS, &x->out, &x->err), ST_OK);
    const enum status st = sim_program_new(ptx, strlen(ptx), "k", &x->p, &x->err);
    if (st != ST_OK)
        printf("# %s\n", x->err.text);
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    free(ptx);
    x->launch = (struct sim_launch){.grid = {2, 1, 1},
                                    .block = {threads, 1, 1},
                                    .params = &x->out,
                                    .param_bytes = sizeof x->out};
    CU_ASSERT_EQUAL_FATAL(sim_step_new(x->p, x->m, &x->launch, &o, &x->s, &x->err), ST_OK);
    return x;
}

static void let_go(struct held *x)
{
    sim_step_free(x->s);
    sim_program_free(x->p);
    sim_memory_free(x->m);
    free(x);
}

static struct sim_stop run(struct held *x, enum sim_goal goal, int warp)
{
    struct sim_stop stop;
    sim_step_run(x->s, &(struct sim_want){.goal = goal, .warp = warp}, NULL, &stop);
    return stop;
}

/* The first instruction whose name begins so, from the `nth` on (0: the first). */
static size_t insn_named(const struct held *x, const char *name, int nth)
{
    for (size_t i = 0; i < sim_program_facts(x->p).insns; i++)
        if (str_starts(sim_program_insn(x->p, i).name, name) && nth-- == 0)
            return i;
    CU_FAIL_FATAL("no such instruction");
    return 0;
}

static uint32_t reg_named(const struct held *x, const char *name)
{
    for (uint32_t i = 0; i < sim_step_regs(x->s); i++)
        if (!strcmp(sim_step_reg(x->s, i).name, name))
            return i;
    CU_FAIL_FATAL("no such register");
    return 0;
}

/* ---- one instruction ---- */

static void test_one(void)
{
    struct held *x = hold(MINE "st.shared.u32 [%r1], %t;\nld.shared.u32 %r3, [%r1];\n"
                               "st.global.u32 [%o], %r3;\n",
                          64, (struct sim_step_options){.block = 1});
    uint64_t lanes[32];
    CU_ASSERT_EQUAL(sim_step_warps(x->s), 2);
    CU_ASSERT_FALSE(sim_step_register(x->s, 1, reg_named(x, "%t"), lanes, NULL));
    struct sim_stop stop = run(x, SIM_GOAL_INSN, 1);
    CU_ASSERT(stop.why == SIM_STOP_GOAL && stop.step == 1 && stop.warp == 1 && stop.insn == 0);
    size_t by;
    CU_ASSERT_FATAL(sim_step_register(x->s, 1, reg_named(x, "%t"), lanes, &by));
    CU_ASSERT(lanes[0] == 32 && lanes[31] == 63 && by == 0);
    CU_ASSERT_FALSE(sim_step_register(x->s, 0, reg_named(x, "%t"), lanes, NULL));
    CU_ASSERT(sim_step_warp(x->s, 1).insn == 1 && sim_step_warp(x->s, 0).insn == 0);

    stop = run(x, SIM_GOAL_SHARED, 1);
    CU_ASSERT_EQUAL(stop.insn, insn_named(x, "st.shared", 0));
    const struct sim_seen *seen = sim_step_seen(x->s);
    CU_ASSERT_PTR_NOT_NULL_FATAL(seen);
    CU_ASSERT_EQUAL_FATAL(seen->accesses, 1);
    CU_ASSERT(seen->warp == 1 && seen->access[0].addr[3] == 4 * 35 && seen->access[0].write);
    uint32_t word = 0;
    bool written[4];
    CU_ASSERT(sim_step_shared(x->s, 4 * 35, 4, &word, written) && word == 35 && written[0]);
    CU_ASSERT(sim_step_shared(x->s, 0, 4, &word, written) && !written[0] && word == UINT32_MAX);
    CU_ASSERT_FALSE(sim_step_shared(x->s, 8190, 4, &word, written));

    stop = run(x, SIM_GOAL_GLOBAL, 1);
    CU_ASSERT(stop.insn == insn_named(x, "st.global", 0));
    CU_ASSERT(sim_memory_read(x->m, x->out + 4 * 63, &word, 4) && word == 63);
    stop = run(x, SIM_GOAL_INSN, 1);
    CU_ASSERT(sim_step_warp(x->s, 1).waits == SIM_WAITS_ENDED && stop.why == SIM_STOP_GOAL);
    const uint64_t now = sim_step_now(x->s);
    run(x, SIM_GOAL_INSN, 1); /* nothing is left to it */
    CU_ASSERT_EQUAL(sim_step_now(x->s), now);
    stop = run(x, SIM_GOAL_END, SIM_ANY_WARP);
    CU_ASSERT(stop.why == SIM_STOP_END && sim_step_ended(x->s));
    CU_ASSERT(run(x, SIM_GOAL_END, SIM_ANY_WARP).step == stop.step);
    let_go(x);
}

/* ---- orders ---- */

static const char exchange[] =
    MINE NEXT "st.shared.u32 [%r1], %t;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\n"
              "st.global.u32 [%o], %r3;\n";

static void test_orders(void)
{
    for (int order = 0; order < SIM_ORDER_COUNT; order++) {
        struct held *x = hold(
            exchange, 128,
            (struct sim_step_options){.order = (enum sim_order)order, .seed = 7, .hazards = true});
        CU_ASSERT_EQUAL(run(x, SIM_GOAL_END, SIM_ANY_WARP).why, SIM_STOP_END);
        uint32_t out[128];
        CU_ASSERT(sim_memory_read(x->m, x->out, out, sizeof out));
        for (unsigned i = 0; i < 128; i++)
            CU_ASSERT_EQUAL(out[i], (i + 32) % 128);
        let_go(x);
    }
}

/* Against the programmer: the first to go runs to the barrier alone, then the next. In turns: all side by side. */
static void test_against(void)
{
    struct held *x = hold(exchange, 128, (struct sim_step_options){.order = SIM_ORDER_AGAINST});
    run(x, SIM_GOAL_BARRIER, SIM_ANY_WARP);
    CU_ASSERT_EQUAL(sim_step_warp(x->s, 0).waits, SIM_WAITS_BARRIER);
    CU_ASSERT_EQUAL(sim_step_barrier(x->s, 0).arrived, 32);
    for (int i = 1; i < 4; i++)
        CU_ASSERT_EQUAL(sim_step_warp(x->s, i).steps, 0);
    let_go(x);
    x = hold(exchange, 128, (struct sim_step_options){.order = SIM_ORDER_TURNS});
    run(x, SIM_GOAL_BARRIER, SIM_ANY_WARP);
    for (int i = 1; i < 4; i++)
        CU_ASSERT(sim_step_warp(x->s, i).steps + 1 >= sim_step_warp(x->s, 0).steps);
    let_go(x);
}

/* Who spins on memory alone, asking for nothing, gives way after a while; one that has nobody to give way to goes on. */
static void test_spins(void)
{
    static const char spins[] =
        "setp.ge.u32 %p1, %t, 32;\n@%p1 bra W;\nL: ld.volatile.global.u32 %r1, [%out+4096];\n"
        "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra L;\nbra E;\n"
        "W: mov.u32 %r2, 1;\nst.volatile.global.u32 [%out+4096], %r2;\nE: st.global.u32 [%o], "
        "%t;\n";
    static const char counts[] = "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\n"
                                 "setp.lt.u32 %p1, %r1, 9000;\n@%p1 bra L;\n"
                                 "st.global.u32 [%o], %r1;\n";
    const uint32_t zero = 0;
    uint32_t out = 1;
    struct held *x = hold(
        spins, 64, (struct sim_step_options){.order = SIM_ORDER_AGAINST, .max_steps = 1 << 19});
    CU_ASSERT(sim_memory_write(x->m, x->out + 4096, &zero, 4));
    CU_ASSERT_EQUAL(run(x, SIM_GOAL_END, SIM_ANY_WARP).why, SIM_STOP_END);
    CU_ASSERT(sim_memory_read(x->m, x->out, &out, 4) && out == 0);
    let_go(x);
    x = hold(counts, 32,
             (struct sim_step_options){.order = SIM_ORDER_AGAINST, .max_steps = 1 << 19});
    CU_ASSERT_EQUAL(run(x, SIM_GOAL_END, SIM_ANY_WARP).why, SIM_STOP_END);
    CU_ASSERT(sim_memory_read(x->m, x->out, &out, 4) && out == 9000);
    let_go(x);
}

/* The last one that a barrier waits for ends instead: it opens. */
static void test_ends_instead(void)
{
    for (int order = 0; order < SIM_ORDER_COUNT; order++) {
        struct held *x = hold("setp.ge.u32 %p1, %t, 32;\n@%p1 bra E;\nbar.sync 0;\n"
                              "st.global.u32 [%o], %t;\nE:\n",
                              96, (struct sim_step_options){.order = (enum sim_order)order});
        CU_ASSERT_EQUAL(run(x, SIM_GOAL_BARRIER, 0).why, SIM_STOP_GOAL);
        CU_ASSERT_EQUAL(run(x, SIM_GOAL_END, SIM_ANY_WARP).why, SIM_STOP_END);
        let_go(x);
    }
}

/* Where straight pieces of code begin: at the entry, where a branch goes, behind a branch. */
static void test_leaders(void)
{
    struct held *x = hold("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nL: add.u32 %r1, %r1, 1;\n"
                          "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\nst.global.u32 [%o], %r1;\n",
                          32, (struct sim_step_options){0});
    const size_t n = sim_program_facts(x->p).insns, loop = insn_named(x, "add.u32", 0),
                 branch = insn_named(x, "bra", 0);
    bool *leads = xcalloc(n, sizeof *leads);
    sim_program_leaders(x->p, leads);
    for (size_t i = 0; i < n; i++)
        CU_ASSERT_EQUAL(leads[i], i == 0 || i == loop || i == branch + 1);
    free(leads);
    let_go(x);
}

/* One that waits is stepped on: the others run until it may go on. */
static void test_waits(void)
{
    struct held *x = hold(exchange, 128, (struct sim_step_options){0});
    struct sim_stop stop = run(x, SIM_GOAL_BARRIER, 3);
    CU_ASSERT(stop.warp == 3 && sim_step_warp(x->s, 3).waits == SIM_WAITS_BARRIER);
    CU_ASSERT(sim_step_warp(x->s, 3).insn == insn_named(x, "bar.sync", 0));
    CU_ASSERT_EQUAL(sim_step_warp(x->s, 0).steps, 0);
    stop = run(x, SIM_GOAL_INSN, 3);
    CU_ASSERT(stop.warp == 3 && stop.insn == insn_named(x, "ld.shared", 0));
    CU_ASSERT(sim_step_warp(x->s, 0).steps > 0);
    let_go(x);
}

/* ---- problems ---- */

static void test_race(void)
{
    static const char body[] =
        MINE NEXT "st.shared.u32 [%r1], %t;\nld.shared.u32 %r3, [%r2];\nst.global.u32 [%o], %r3;\n";
    for (int order = 0; order < SIM_ORDER_COUNT; order++) {
        struct held *x = hold(
            body, 128,
            (struct sim_step_options){.hazards = true, .order = (enum sim_order)order, .seed = 3});
        struct sim_stop stop;
        int rounds = 0; /* what nobody has written yet is a problem of its own */
        do
            stop = run(x, SIM_GOAL_PROBLEM, SIM_ANY_WARP);
        while (stop.why == SIM_STOP_FAULT && rounds++ < 8);
        CU_ASSERT_EQUAL_FATAL(stop.why, SIM_STOP_HAZARD);
        struct hazard_report *list;
        size_t n;
        sim_step_hazards(x->s, &list, &n);
        CU_ASSERT_EQUAL_FATAL(n, 1);
        CU_ASSERT(list[0].kind == HAZARD_BLOCK && list[0].b.insn == stop.insn &&
                  list[0].b.warp == stop.warp && list[0].a.warp != stop.warp);
        free(list);
        /* behind the step before there was none */
        CU_ASSERT_EQUAL(sim_step_to(x->s, stop.step - 1, &stop, &x->err), ST_OK);
        sim_step_hazards(x->s, &list, &n);
        CU_ASSERT_EQUAL(n, 0);
        free(list);
        let_go(x);
    }
    struct held *x = hold(exchange, 128, (struct sim_step_options){.hazards = true});
    CU_ASSERT_EQUAL(run(x, SIM_GOAL_PROBLEM, SIM_ANY_WARP).why, SIM_STOP_END);
    let_go(x);
}

static void test_faults(void)
{
    struct held *x = hold("st.global.u32 [%out+8192], %t;\n", 32, (struct sim_step_options){0});
    struct sim_stop stop = run(x, SIM_GOAL_END, SIM_ANY_WARP);
    const struct sim_fault *f;
    CU_ASSERT_EQUAL(stop.why, SIM_STOP_FAULT);
    CU_ASSERT_EQUAL_FATAL(sim_step_faults(x->s, &f), 1);
    CU_ASSERT(f[0].kind == SIM_FAULT_BOUNDS_WRITE && f[0].insn == stop.insn);
    CU_ASSERT_EQUAL(run(x, SIM_GOAL_END, SIM_ANY_WARP).why, SIM_STOP_END);
    let_go(x);

    /* warp 0 waits for ever at a barrier of 64 */
    x = hold("setp.lt.u32 %p1, %t, 32;\n@!%p1 bra E;\nbar.sync 1, 64;\nE:\n", 64,
             (struct sim_step_options){0});
    stop = run(x, SIM_GOAL_END, SIM_ANY_WARP);
    CU_ASSERT_EQUAL(stop.why, SIM_STOP_FAULT);
    CU_ASSERT_EQUAL_FATAL(sim_step_faults(x->s, &f), 1);
    CU_ASSERT_EQUAL(f[0].kind, SIM_FAULT_DEADLOCK);
    CU_ASSERT_EQUAL(run(x, SIM_GOAL_END, SIM_ANY_WARP).why, SIM_STOP_END);
    let_go(x);

    x = hold("L: bra L;\n", 32, (struct sim_step_options){.max_steps = 1000});
    stop = run(x, SIM_GOAL_END, SIM_ANY_WARP);
    CU_ASSERT(stop.why == SIM_STOP_LIMIT && stop.step == 1000);
    let_go(x);
}

static bool over(void *ctx)
{
    return ++*(int *)ctx >= 3;
}

static void test_patience(void)
{
    struct held *x = hold("L: bra L;\n", 32, (struct sim_step_options){0});
    int asked = 0;
    struct sim_stop stop;
    sim_step_run(x->s, &(struct sim_want){.goal = SIM_GOAL_END, .warp = SIM_ANY_WARP},
                 &(struct sim_patience){over, &asked}, &stop);
    CU_ASSERT(stop.why == SIM_STOP_CANCELLED && asked == 3);
    let_go(x);
}

/* ---- marks ---- */

static void test_places(void)
{
    struct held *x = hold(exchange, 128, (struct sim_step_options){0});
    bool *at = xcalloc(sim_program_facts(x->p).insns, sizeof *at);
    at[insn_named(x, "ld.shared", 0)] = true;
    const int all = sim_step_mark(
        x->s, &(struct sim_mark){.kind = SIM_MARK_PLACE, .warp = SIM_ANY_WARP, .insn = at});
    free(at);
    uint32_t came = 0;
    for (int i = 0; i < 4; i++) {
        const struct sim_stop stop = run(x, SIM_GOAL_END, SIM_ANY_WARP);
        CU_ASSERT(stop.why == SIM_STOP_BREAK && stop.mark == all);
        CU_ASSERT_EQUAL(sim_step_warp(x->s, stop.warp).insn, insn_named(x, "ld.shared", 0));
        came |= 1u << stop.warp;
    }
    CU_ASSERT_EQUAL(came, 15);
    CU_ASSERT_EQUAL(run(x, SIM_GOAL_END, SIM_ANY_WARP).why, SIM_STOP_END);
    CU_ASSERT(sim_step_unmark(x->s, all));
    CU_ASSERT_FALSE(sim_step_unmark(x->s, all));
    let_go(x);
}

/* Lanes: half of a warp goes another way; the mark is of a lane that does not come. */
static void test_lanes(void)
{
    static const char body[] = "setp.lt.u32 %p1, %t, 16;\n@%p1 bra A;\nmov.u32 %r5, 1;\nbra B;\n"
                               "A: mov.u32 %r5, 2;\nB: st.global.u32 [%o], %r5;\n";
    for (int lane = 0; lane < 32; lane += 20) {
        struct held *x = hold(body, 32, (struct sim_step_options){0});
        bool *at = xcalloc(sim_program_facts(x->p).insns, sizeof *at);
        const size_t first = insn_named(x, "mov.u32", 2), second = insn_named(x, "mov.u32", 3);
        at[first] = at[second] = true;
        sim_step_mark(
            x->s,
            &(struct sim_mark){.kind = SIM_MARK_PLACE, .warp = 0, .lanes = 1u << lane, .insn = at});
        free(at);
        const struct sim_stop stop = run(x, SIM_GOAL_END, SIM_ANY_WARP);
        CU_ASSERT_EQUAL(stop.why, SIM_STOP_BREAK);
        const struct sim_warp w = sim_step_warp(x->s, 0);
        CU_ASSERT(w.active >> lane & 1);
        CU_ASSERT_EQUAL(w.active, lane < 16 ? 0xffff : 0xffff0000);
        CU_ASSERT_EQUAL(w.insn, lane < 16 ? second : first);
        CU_ASSERT(w.depth >= 2 && sim_step_path(x->s, 0, 0).mask == UINT32_MAX);
        run(x, SIM_GOAL_JOIN, 0);
        while (sim_step_warp(x->s, 0).active != UINT32_MAX)
            run(x, SIM_GOAL_INSN, 0);
        CU_ASSERT_EQUAL(sim_step_warp(x->s, 0).insn, insn_named(x, "st.global", 0));
        let_go(x);
    }
}

static void test_values(void)
{
    struct held *x = hold(exchange, 128, (struct sim_step_options){0});
    const struct sim_value tile = {.space = SIM_SHARED, .addr = 4 * 70, .bytes = 4};
    const int mark = sim_step_mark(
        x->s, &(struct sim_mark){.kind = SIM_MARK_VALUE, .warp = SIM_ANY_WARP, .value = tile});
    struct sim_stop stop = run(x, SIM_GOAL_END, SIM_ANY_WARP);
    CU_ASSERT(stop.why == SIM_STOP_VALUE && stop.mark == mark && stop.warp == 2);
    CU_ASSERT(stop.insn == insn_named(x, "st.shared", 0) && (uint32_t)stop.after[0] == 70);
    CU_ASSERT(sim_step_unmark(x->s, mark));
    const struct sim_value reg = {
        .space = SIM_NOWHERE, .warp = 1, .lane = 9, .reg = reg_named(x, "%r3"), .bytes = 4};
    sim_step_mark(x->s,
                  &(struct sim_mark){.kind = SIM_MARK_VALUE, .warp = SIM_ANY_WARP, .value = reg});
    const struct sim_mark read = {.kind = SIM_MARK_ACCESS,
                                  .warp = SIM_ANY_WARP,
                                  .reads = true,
                                  .value = {.space = SIM_SHARED, .addr = 4 * 3, .bytes = 4}};
    const int reads = sim_step_mark(x->s, &read);
    int met[2] = {0};
    for (int i = 0; i < 2; i++) {
        stop = run(x, SIM_GOAL_END, SIM_ANY_WARP);
        met[0] += stop.why == SIM_STOP_VALUE && stop.warp == 1 && stop.after[0] == 32 + 9 + 32;
        met[1] += stop.why == SIM_STOP_ACCESS && stop.warp == 3 && stop.mark == reads;
    }
    CU_ASSERT(met[0] == 1 && met[1] == 1);
    CU_ASSERT_EQUAL(run(x, SIM_GOAL_END, SIM_ANY_WARP).why, SIM_STOP_END);
    let_go(x);
}

/* ---- the way back ---- */

static const char busy[] =
    ".reg .b64 %w;\n" MINE NEXT "st.shared.u32 [%r1], %t;\n"
    "cp.async.ca.shared.global [%r1+512], [%out], 4;\ncp.async.commit_group;\n"
    "mov.u32 %r6, 0;\nand.b32 %r7, %t, 3;\n"
    "L: add.u32 %r6, %r6, 1;\natom.shared.add.u32 %r8, [%s+2048], 1;\n"
    "setp.lt.u32 %p1, %r6, %r7;\n@%p1 bra L;\n"
    "bar.sync 0;\ncp.async.wait_group 0;\n"
    "ld.shared.u32 %r3, [%r2];\nshfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;\n"
    "add.u32 %r3, %r4, %r8;\natom.global.add.u32 %r9, [%out+16], 1;\n"
    "add.u32 %r3, %r3, %r9;\nbar.sync 0;\nst.global.u32 [%o+512], %r3;\n"
    "ld.shared.u32 %r5, [%r1+512];\nst.shared.u32 [%r1], %r5;\n";

static uint64_t next(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return *x >> 33;
}

/* Any goal of any warp. */
static void stumble(struct held *x, uint64_t *r)
{
    const int warps = sim_step_warps(x->s);
    const int warp = next(r) % 3 ? (int)(next(r) % (uint64_t)warps) : SIM_ANY_WARP;
    static const enum sim_goal goals[] = {SIM_GOAL_INSN,   SIM_GOAL_INSN,   SIM_GOAL_JOIN,
                                          SIM_GOAL_SHARED, SIM_GOAL_GLOBAL, SIM_GOAL_BARRIER};
    const enum sim_goal goal = goals[next(r) % (sizeof goals / sizeof *goals)];
    sim_step_order(x->s, (enum sim_order)(next(r) % SIM_ORDER_COUNT), next(r));
    (void)run(x, goal, warp);
}

/* The state, and what was found on the way to it. */
static uint64_t state_of(const struct held *x)
{
    struct hazard_report *all;
    size_t n;
    uint64_t h = sim_step_digest(x->s);
    sim_step_hazards(x->s, &all, &n);
    for (size_t i = 0; i < n; i++)
        h = (h ^ all[i].count ^ (uint64_t)all[i].a.insn << 32 ^ (uint64_t)all[i].b.insn << 48 ^
             all[i].addr << 16) *
            0x9e3779b97f4a7c15ull;
    free(all);
    return h;
}

/* Moments are kept never, often, or often and soon too many: the way back is the same. */
static void test_back(void)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        uint64_t r = seed * 977;
        struct held *x = hold(busy, 96 + 32 * (uint32_t)(seed % 2),
                              (struct sim_step_options){.hazards = seed % 4 != 3,
                                                        .keep_every = seed % 3 ? 7 * seed : 0,
                                                        .keep_bytes = seed % 3 == 2 ? 1 << 15 : 0});
        enum { MOST = 4000 };
        uint64_t *at = xcalloc(MOST, sizeof *at);
        at[0] = state_of(x);
        for (int i = 0; i < MOST && !sim_step_ended(x->s); i++) {
            stumble(x, &r);
            CU_ASSERT_FATAL(sim_step_now(x->s) < MOST);
            at[sim_step_now(x->s)] = state_of(x);
        }
        CU_ASSERT(sim_step_ended(x->s));
        const uint64_t end = sim_step_end(x->s);
        const struct sim_step_kept kept = sim_step_kept(x->s);
        CU_ASSERT_EQUAL(kept.moments > 1, seed % 3 > 0);
        CU_ASSERT_EQUAL(kept.every > 7 * seed, seed % 3 != 1);
        CU_ASSERT(kept.moments <= 1 + end / kept.every + 1);
        struct sim_stop stop;
        for (int i = 0; i < 40; i++) {
            const uint64_t n = i ? next(&r) % (end + 1) : end - 1;
            CU_ASSERT_EQUAL(sim_step_to(x->s, n, &stop, &x->err), ST_OK);
            CU_ASSERT_EQUAL(stop.step, n);
            const uint64_t is = state_of(x);
            CU_ASSERT(!at[n] || at[n] == is);
            at[n] = is;
        }
        CU_ASSERT_EQUAL(sim_step_to(x->s, end + 1, &stop, &x->err), ST_USAGE);
        /* another way from the middle forgets the old one */
        CU_ASSERT_EQUAL(sim_step_to(x->s, end / 2, &stop, &x->err), ST_OK);
        CU_ASSERT_EQUAL(sim_step_end(x->s), end);
        stop = run(x, SIM_GOAL_INSN, SIM_ANY_WARP);
        CU_ASSERT_EQUAL(sim_step_end(x->s), end / 2 + 1);
        const uint64_t here = state_of(x);
        CU_ASSERT_EQUAL(sim_step_to(x->s, 0, &stop, &x->err), ST_OK);
        CU_ASSERT_EQUAL(state_of(x), at[0]);
        CU_ASSERT_EQUAL(sim_step_to(x->s, end / 2 + 1, &stop, &x->err), ST_OK);
        CU_ASSERT_EQUAL(state_of(x), here);
        free(at);
        let_go(x);
    }
}

/* Step by step it comes to what a run comes to. */
static void test_as_run(void)
{
    uint32_t stepped[WORDS], ran[WORDS];
    struct held *x = hold(exchange, 128, (struct sim_step_options){0});
    while (!sim_step_ended(x->s))
        run(x, SIM_GOAL_INSN, SIM_ANY_WARP);
    CU_ASSERT(sim_memory_read(x->m, x->out, stepped, sizeof stepped));
    const uint64_t steps = sim_step_now(x->s);
    CU_ASSERT(sim_memory_forget(x->m, x->out, sizeof ran));
    const uint64_t block = 0;
    struct sim_result result;
    const struct sim_options o = {.blocks = &block, .block_count = 1};
    CU_ASSERT_EQUAL(sim_run(x->p, x->m, &x->launch, &o, &result, &x->err), ST_OK);
    CU_ASSERT(sim_memory_read(x->m, x->out, ran, sizeof ran) && !memcmp(ran, stepped, sizeof ran));
    CU_ASSERT_EQUAL(result.total.executions, steps);
    sim_result_clear(&result);
    let_go(x);
}

static void test_refused(void)
{
    struct held *x = hold(exchange, 128, (struct sim_step_options){0});
    struct sim_step *s = NULL;
    CU_ASSERT_EQUAL(
        sim_step_new(x->p, x->m, &x->launch, &(struct sim_step_options){.block = 2}, &s, &x->err),
        ST_USAGE);
    CU_ASSERT_PTR_NULL(s);
    CU_ASSERT_EQUAL(sim_step_new(x->p, x->m, &x->launch,
                                 &(struct sim_step_options){.max_bytes = 100}, &s, &x->err),
                    ST_FAIL);
    CU_ASSERT_PTR_NULL(s);
    let_go(x);
}

/* An mbarrier that another warp completes: who asks in vain lets others run, whatever the order. */
static void test_mbarrier(void)
{
    static const char body[] =
        "setp.ne.u32 %p1, %t, 0;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%s+4096], "
        "1;\nW:\nbar.sync 0;\n"
        "setp.lt.u32 %p2, %t, 32;\n@%p2 bra C;\nsetp.ne.u32 %p3, %t, 64;\n@%p3 bra C;\n"
        "mbarrier.arrive.shared.b64 %b, [%s+4096];\n"
        "C: mbarrier.test_wait.parity.shared.b64 %p4, [%s+4096], 0;\n@!%p4 bra C;\n"
        "st.global.u32 [%o], %t;\n";
    for (int order = 0; order < SIM_ORDER_COUNT; order++) {
        struct held *x = hold(body, 96,
                              (struct sim_step_options){
                                  .order = (enum sim_order)order, .seed = 5, .max_steps = 1 << 18});
        if (order == SIM_ORDER_AGAINST) { /* nobody has arrived when the first asks */
            CU_ASSERT_EQUAL(sim_step_mbarriers(x->s), 0);
            CU_ASSERT_EQUAL(run(x, SIM_GOAL_BARRIER, 0).why, SIM_STOP_GOAL);
            CU_ASSERT_EQUAL(run(x, SIM_GOAL_BARRIER, 0).why, SIM_STOP_GOAL);
            CU_ASSERT_EQUAL(sim_step_warp(x->s, 0).waits, SIM_WAITS_MBARRIER);
            CU_ASSERT_EQUAL_FATAL(sim_step_mbarriers(x->s), 1);
            const struct sim_mbarrier m = sim_step_mbarrier(x->s, 0);
            CU_ASSERT_EQUAL(m.addr, sim_step_warp(x->s, 0).asks);
            CU_ASSERT(m.parity == 0 && m.missing == 1 && m.bytes == 0);
        }
        CU_ASSERT_EQUAL(run(x, SIM_GOAL_GLOBAL, 0).why, SIM_STOP_GOAL);
        CU_ASSERT_EQUAL(run(x, SIM_GOAL_END, SIM_ANY_WARP).why, SIM_STOP_END);
        let_go(x);
    }
}

/* An mbarrier that is made anew tells nothing of what was written before: its arrivals were another object's. */
static void test_mbarrier_anew(void)
{
    static const char *const again[] = {"", "mbarrier.init.shared.b64 [%s+4096], 1;\n"};
    for (int anew = 0; anew < 2; anew++) {
        char *body =
            xasprintf("setp.ne.u32 %%p2, %%t, 0;\nsetp.ge.u32 %%p1, %%t, 32;\n"
                      "@%%p2 bra B;\nmbarrier.init.shared.b64 [%%s+4096], 1;\n"
                      "B: bar.sync 0;\n@%%p1 bra W;\n@%%p2 bra E;\n"
                      "st.shared.u32 [%%s], %%t;\nmbarrier.arrive.shared.b64 %%b, [%%s+4096];\n"
                      "%sbra E;\n"
                      "W: mbarrier.test_wait.parity.shared.b64 %%p4, [%%s+4096], %d;\n"
                      "@!%%p4 bra W;\nld.shared.u32 %%r3, [%%s];\nst.global.u32 [%%o], %%r3;\nE:\n",
                      again[anew], anew);
        struct held *x = hold(body, 64,
                              (struct sim_step_options){
                                  .order = SIM_ORDER_AGAINST, .hazards = true, .max_steps = 999});
        const size_t load = insn_named(x, "ld.shared", 0);
        struct hazard_report *list;
        size_t n, races = 0;
        for (int stops = 0; stops < 8 && !sim_step_ended(x->s); stops++)
            (void)run(x, SIM_GOAL_END, SIM_ANY_WARP); /* also at each hazard */
        CU_ASSERT(sim_step_ended(x->s));
        sim_step_hazards(x->s, &list, &n);
        for (size_t i = 0; i < n; i++)
            races += list[i].b.insn == load;
        CU_ASSERT_EQUAL(races, (size_t)anew);
        free(list);
        free(body);
        let_go(x);
    }
}

/* A value that moves between registers, is written by some lanes, and outlives its register; back is the same. */
static void test_named(void)
{
    static const char body[] =
        "mov.f32 %f1, 0f3F800000;\nsetp.lt.u32 %p1, %t, 8;\n"
        "@%p1 add.f32 %f2, %f1, %f1;\n"           /* 2 in lanes 0 to 7 */
        "setp.lt.u32 %p2, %t, 4;\n@!%p2 bra E;\n" /* lanes 0 to 3 go on */
        "add.f32 %f3, %f2, %f2;\n"                /* 4 */
        "E: mov.f32 %f4, 0f41000000;\nadd.f32 %f5, %f4, %f4;\nadd.f32 %f6, %f5, %f4;\n"
        "st.global.f32 [%o], %f6;\n";
    static const struct sim_naming naming[] = {{"%f1", 0}, {"%f2", 0}, {"%f3", 0}, {"%none", 1},
                                               {"%f1", 2}, {"%b", 3},  {"%f2", 9}};
    struct held *x =
        hold(body, 32, (struct sim_step_options){.naming = naming, .namings = 7, .names = 4});
    struct sim_named v;
    CU_ASSERT_FALSE(sim_step_named(x->s, 0, 0, &v));
    (void)run(x, SIM_GOAL_END, 0);
    const uint32_t one = 0x3F800000, two = 0x40000000, four = 0x40800000;
    CU_ASSERT_TRUE_FATAL(sim_step_named(x->s, 0, 0, &v));
    CU_ASSERT_EQUAL(v.known, UINT32_MAX);
    for (int i = 0; i < 32; i++)
        CU_ASSERT_EQUAL(v.lanes[i], i < 4 ? four : i < 8 ? two : one);
    CU_ASSERT_STRING_EQUAL(v.kind, "f32");
    CU_ASSERT_EQUAL(v.insn, insn_named(x, "add.f32", 1));
    const struct sim_value at = {.space = SIM_NOWHERE, .named = true, .lane = 5, .bytes = 4};
    uint32_t got = 0;
    CU_ASSERT_TRUE(sim_step_value(x->s, &at, &got));
    CU_ASSERT_EQUAL(got, two);
    CU_ASSERT_FALSE(sim_step_named(x->s, 0, 1, &v)); /* no such register */
    CU_ASSERT_TRUE(sim_step_named(x->s, 0, 2, &v));
    CU_ASSERT_FALSE(sim_step_named(x->s, 0, 3, &v)); /* of 64 bits */
    CU_ASSERT_FALSE(sim_step_named(x->s, 0, 9, &v));
    struct sim_stop stop;
    const uint64_t writes = sim_step_now(x->s);
    for (uint64_t n = writes; n > 0; n--) {
        CU_ASSERT_EQUAL(sim_step_to(x->s, n - 1, &stop, &x->err), ST_OK);
        if (sim_step_named(x->s, 0, 0, &v))
            CU_ASSERT(v.step <= n - 1);
    }
    CU_ASSERT_FALSE(sim_step_named(x->s, 0, 0, &v));
    CU_ASSERT_EQUAL(sim_step_to(x->s, writes, &stop, &x->err), ST_OK);
    CU_ASSERT_TRUE(sim_step_value(x->s, &at, &got));
    CU_ASSERT_EQUAL(got, two);
    let_go(x);
}

static const struct tap_test tests[] = {{"an instruction, and what it did", test_one},
                                        {"every order comes to the same", test_orders},
                                        {"against the programmer", test_against},
                                        {"a warp that waits is stepped on", test_waits},
                                        {"who spins gives way", test_spins},
                                        {"who ends is waited for no more", test_ends_instead},
                                        {"where pieces of code begin", test_leaders},
                                        {"a race stops at its second access", test_race},
                                        {"faults, deadlock and limits stop", test_faults},
                                        {"it can be stopped", test_patience},
                                        {"a place is told of once for each warp", test_places},
                                        {"lanes that parted", test_lanes},
                                        {"values and accesses that are watched", test_values},
                                        {"back, and the same again", test_back},
                                        {"as sim_run()", test_as_run},
                                        {"what is refused", test_refused},
                                        {"an mbarrier", test_mbarrier},
                                        {"an mbarrier made anew", test_mbarrier_anew},
                                        {"values by the source's names", test_named}};

TAP_MAIN("sim_step", tests)
