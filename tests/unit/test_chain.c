/* Chains of dependent instructions, by phase: what a lone warp waits for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/chain.h"

#define HEAD ".version 9.0\n.target sm_80\n.address_size 64\n"

/* Runs a block of `threads` of a kernel with this body, whose parameter p is the address of 64 KiB of zeros; the chains of its
 * phases, in `out`; their number. */
static size_t chains_of(const char *body, uint32_t threads, struct chain_phase *out, size_t most,
                        uint64_t *longest)
{
    struct err err = ERR_INIT;
    struct str s = {0};
    struct sim_program *p = NULL;
    struct sim_result r = {0};
    struct sim_memory *m = sim_memory_new(1 << 20);
    uint64_t p_data = 0;
    static const char zeros[1 << 16];
    CU_ASSERT_EQUAL_FATAL(sim_memory_add(m, "data", sizeof zeros, &p_data, &err), ST_OK);
    CU_ASSERT(sim_memory_write(m, p_data, zeros, sizeof zeros));
    str_addf(&s, HEAD ".entry k(.param .u64 p) {\n%s\n}\n", body);
    enum status st = sim_program_new(str_text(&s), s.len, NULL, &p, &err);
    if (st)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    const struct sim_launch l = {.grid = {1, 1, 1},
                                 .block = {threads, 1, 1},
                                 .params = &p_data,
                                 .param_bytes = sizeof p_data};
    const struct sim_options o = {.threads = 1};
    CU_ASSERT_EQUAL_FATAL(sim_run(p, m, &l, &o, &r, &err), ST_OK);
    CU_ASSERT_FATAL(r.phases <= most);
    CU_ASSERT_EQUAL(chain_phases(p, r.insn, r.phase, r.phases, out, &err), ST_OK);
    const size_t n = r.phases;
    if (longest)
        *longest = r.phase[0].longest;
    sim_result_clear(&r);
    sim_memory_free(m);
    sim_program_free(p);
    str_free(&s);
    return n;
}

#define REGS ".reg .f32 %f<9>;\n.reg .b32 %r<9>;\n.reg .pred %p<3>;\n"

static void dependent_ones_add_up(void)
{
    struct chain_phase one[4], other[4];
    CU_ASSERT_EQUAL(chains_of(REGS "mov.f32 %f1, 0f3F800000;\n"
                                   "ex2.approx.ftz.f32 %f2, %f1;\n"
                                   "ex2.approx.ftz.f32 %f3, %f2;\n"
                                   "ex2.approx.ftz.f32 %f4, %f3;\nret;",
                              32, one, 4, NULL),
                    1);
    CU_ASSERT_EQUAL(chains_of(REGS "mov.f32 %f1, 0f3F800000;\n"
                                   "ex2.approx.ftz.f32 %f2, %f1;\n"
                                   "ex2.approx.ftz.f32 %f3, %f1;\n"
                                   "ex2.approx.ftz.f32 %f4, %f1;\nret;",
                              32, other, 4, NULL),
                    1);
    CU_ASSERT_DOUBLE_EQUAL(one[0].cycles[CHAIN_xu], 3 * 22, 1e-9);
    CU_ASSERT(other[0].cycles[CHAIN_xu] + other[0].cycles[CHAIN_issue] >= 22);
    CU_ASSERT(other[0].cycles[CHAIN_xu] + other[0].cycles[CHAIN_issue] < 22 + 3);
    CU_ASSERT_DOUBLE_EQUAL(one[0].machine.pipe[SIM_PIPE_xu], 3, 1e-9);
}

static void each_warp_and_each_turn_counts(void)
{
    struct chain_phase c[4];
    CU_ASSERT_EQUAL(chains_of(REGS "mov.u32 %r1, 0;\nmov.f32 %f1, 0f3F800000;\n"
                                   "L:\nex2.approx.ftz.f32 %f1, %f1;\nadd.u32 %r1, %r1, 1;\n"
                                   "setp.lt.u32 %p1, %r1, 5;\n@%p1 bra L;\nret;",
                              64, c, 4, NULL),
                    1);
    CU_ASSERT_DOUBLE_EQUAL(c[0].cycles[CHAIN_xu], 2 * 5 * 22, 1e-9);
}

static void a_barrier_parts_phases(void)
{
    struct chain_phase c[4];
    CU_ASSERT_EQUAL(chains_of(REGS ".shared .align 4 .b8 buffer[256];\n"
                                   "mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n"
                                   "mov.u32 %r3, buffer;\nadd.u32 %r3, %r3, %r2;\n"
                                   "st.shared.u32 [%r3], %r1;\nbar.sync 0;\n"
                                   "ld.shared.u32 %r4, [%r3];\nadd.u32 %r5, %r4, 1;\n"
                                   "st.shared.u32 [%r3], %r5;\nret;",
                              64, c, 4, NULL),
                    2);
    CU_ASSERT_DOUBLE_EQUAL(c[0].cycles[CHAIN_barrier], 2 * 24, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(c[0].cycles[CHAIN_shared], 0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(c[1].cycles[CHAIN_shared], 2 * 28, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(c[1].cycles[CHAIN_barrier], 0, 1e-9);
}

/* Without a chain the instructions themselves take the time: a cycle each. */
static void independent_ones_take_issue_slots(void)
{
    struct str s = {0};
    struct chain_phase c[4];
    str_addf(&s, "%s", REGS "mov.f32 %f1, 0f3F800000;\n");
    for (int i = 0; i < 60; i++)
        str_addf(&s, "fma.rn.f32 %%f%d, %%f1, %%f1, %%f1;\n", 2 + i % 6);
    str_addf(&s, "ret;");
    CU_ASSERT_EQUAL(chains_of(str_text(&s), 32, c, 4, NULL), 1);
    CU_ASSERT(c[0].cycles[CHAIN_issue] >= 60);
    CU_ASSERT_DOUBLE_EQUAL(c[0].cycles[CHAIN_alu], 0, 1e-9);
    str_free(&s);
}

static void the_busiest_warp_is_known(void)
{
    struct chain_phase c[4];
    uint64_t longest = 0;
    CU_ASSERT_EQUAL(chains_of(REGS "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 32;\n"
                                   "@%p1 bra E;\nmov.u32 %r2, 0;\n"
                                   "L:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 10;\n"
                                   "@%p2 bra L;\nE:\nbar.sync 0;\nret;",
                              128, c, 4, &longest),
                    2);
    CU_ASSERT_EQUAL(longest, 3 + 1 + 30 + 1); /* of warp 0, the barrier included */
}

#define LOADS                                                                                    \
    REGS ".reg .b64 %rd<9>;\n.reg .pred %q<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n" \
         "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, %rd2;\nmov.f32 %f8, 0f00000000;\n"

static double all_of(const struct chain_phase *c)
{
    double sum = 0;
    for (int i = 0; i < CHAIN_PARTS_COUNT; i++)
        sum += c->cycles[i];
    return sum;
}

/* Four loads, each behind a branch of its own, are predicated ones to the machine: under way together. One that needs what
 * another has loaded is not. */
static void guarded_loads_are_one_trip(void)
{
    struct str s = {0};
    struct chain_phase c[2], chained[2];
    str_add(&s,
            LOADS "mov.f32 %f1, %f8;\nmov.f32 %f2, %f8;\nmov.f32 %f3, %f8;\nmov.f32 %f4, %f8;\n");
    for (int i = 1; i <= 4; i++)
        str_addf(&s,
                 "setp.gt.u32 %%q%d, %%r1, %d;\n@%%q%d bra L%d;\n"
                 "ld.global.f32 %%f%d, [%%rd1+%d];\nL%d:\n",
                 i, 1000 + i, i, i, i, 1024 * i, i);
    str_add(&s, "add.f32 %f5, %f1, %f2;\nadd.f32 %f6, %f3, %f4;\nadd.f32 %f7, %f5, %f6;\n"
                "st.global.f32 [%rd1], %f7;\nret;");
    CU_ASSERT_EQUAL(chains_of(str_text(&s), 32, c, 2, NULL), 1);
    CU_ASSERT_DOUBLE_EQUAL(c[0].trips, 1, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(c[0].cycles[CHAIN_global], 262 + 4, 10);
    str_free(&s);
    CU_ASSERT_EQUAL(chains_of(LOADS "ld.global.u32 %r2, [%rd1];\nmul.wide.u32 %rd3, %r2, 4;\n"
                                    "add.s64 %rd3, %rd1, %rd3;\nld.global.u32 %r3, [%rd3];\n"
                                    "st.global.u32 [%rd1+64], %r3;\nret;",
                              32, chained, 2, NULL),
                    1);
    CU_ASSERT_DOUBLE_EQUAL(chained[0].trips, 2, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(chained[0].cycles[CHAIN_global], 2 * (262 + 4), 10);
}

static void loop_of_loads(const char *pragma, struct chain_phase *c)
{
    struct str s = {0};
    str_add(&s, LOADS "mov.u32 %r2, 0;\nL:\n");
    str_add(&s, pragma);
    str_add(&s, "ld.global.f32 %f1, [%rd1];\nadd.f32 %f8, %f8, %f1;\nadd.s64 %rd1, %rd1, 128;\n"
                "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 32;\n@%p1 bra L;\n"
                "st.global.f32 [%rd1], %f8;\nret;");
    CU_ASSERT_EQUAL(chains_of(str_text(&s), 32, c, 2, NULL), 1);
    str_free(&s);
}

/* ptxas makes four rounds of a straight loop one, unless it is told not to. */
static void straight_loops_are_unrolled(void)
{
    struct chain_phase four[2], one[2];
    loop_of_loads("", four);
    loop_of_loads(".pragma \"nounroll\";", one);
    CU_ASSERT_DOUBLE_EQUAL(four[0].trips, 32 / 4, 1);
    CU_ASSERT_DOUBLE_EQUAL(one[0].trips, 32, 1);
    CU_ASSERT_DOUBLE_EQUAL(four[0].machine.total, one[0].machine.total, 1e-9);
}

/* What was asked for before a barrier is waited for behind it, by what is left of it; unless nobody needs it there. */
static void loads_go_on_behind_barriers(void)
{
    struct chain_phase c[4], not_needed[4];
    CU_ASSERT_EQUAL(chains_of(LOADS "ld.global.f32 %f1, [%rd1];\nbar.sync 0;\n"
                                    "add.f32 %f2, %f1, %f8;\nst.global.f32 [%rd1], %f2;\nret;",
                              32, c, 4, NULL),
                    2);
    CU_ASSERT_DOUBLE_EQUAL(c[0].cycles[CHAIN_global], 0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(c[1].cycles[CHAIN_global], 262 + 4, 10);
    CU_ASSERT_EQUAL(chains_of(LOADS "ld.global.f32 %f1, [%rd1];\nbar.sync 0;\nbar.sync 0;\n"
                                    "add.f32 %f2, %f1, %f8;\nst.global.f32 [%rd1], %f2;\nret;",
                              32, not_needed, 4, NULL),
                    3);
    CU_ASSERT_DOUBLE_EQUAL(not_needed[1].cycles[CHAIN_global], 0, 1e-9);
    CU_ASSERT(not_needed[2].cycles[CHAIN_global] > 200);
}

/* Copies by group: who spares the newest does not wait for it. */
static void copies_are_waited_for_by_group(void)
{
    struct chain_phase c[2];
    for (int spared = 0; spared < 2; spared++) {
        struct str s = {0};
        str_add(&s, LOADS ".shared .align 16 .b8 buffer[1024];\nshl.b32 %r2, %r1, 4;\n"
                          "mov.u32 %r3, buffer;\nadd.u32 %r3, %r3, %r2;\n"
                          "cp.async.ca.shared.global [%r3], [%rd1], 4;\n"
                          "cp.async.commit_group;\n");
        str_addf(&s, "cp.async.wait_group %d;\n", spared);
        str_add(&s, "ld.shared.u32 %r4, [%r3];\nst.global.u32 [%rd1], %r4;\nret;");
        CU_ASSERT_EQUAL(chains_of(str_text(&s), 32, c, 2, NULL), 1);
        CU_ASSERT_DOUBLE_EQUAL(c[0].cycles[CHAIN_global], spared ? 0 : 262, 20);
        str_free(&s);
    }
}

/* A barrier of some warps ends no phase; what lies behind it counts. */
static void barriers_of_some_warps_end_nothing(void)
{
    struct chain_phase c[4];
    CU_ASSERT_EQUAL(chains_of(REGS "mov.u32 %r1, %tid.x;\nmov.f32 %f1, 0f3F800000;\n"
                                   "setp.ge.u32 %p1, %r1, 64;\n@%p1 bra E;\nbar.sync 1, 64;\n"
                                   "ex2.approx.ftz.f32 %f1, %f1;\nex2.approx.ftz.f32 %f1, %f1;\n"
                                   "ex2.approx.ftz.f32 %f1, %f1;\nE:\nret;",
                              128, c, 4, NULL),
                    1);
    CU_ASSERT_DOUBLE_EQUAL(c[0].machine.pipe[SIM_PIPE_xu], 2 * 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(c[0].cycles[CHAIN_barrier], 2 * 24, 1e-9);
    CU_ASSERT(c[0].cycles[CHAIN_xu] >= 2 * 2 * 22);
}

static double cycles_a_round(int length)
{
    struct str s = {0};
    struct chain_phase c[2];
    str_add(&s, REGS "mov.u32 %r1, 0;\nmov.f32 %f1, 0f3F800000;\nL:\n");
    for (int i = 0; i < length; i++)
        str_addf(&s, "fma.rn.f32 %%f%d, %%f1, %%f1, %%f1;\n", 2 + i % 6);
    str_add(&s, "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 10;\n@%p1 bra L;\nret;");
    CU_ASSERT_EQUAL(chains_of(str_text(&s), 32, c, 2, NULL), 1);
    str_free(&s);
    return all_of(&c[0]) / 10;
}

/* Of a loop that the nearest cache of instructions has no room for they come half as fast. */
static void long_loops_are_fetched(void)
{
    CU_ASSERT_DOUBLE_EQUAL(cycles_a_round(700), 700, 20);
    CU_ASSERT_DOUBLE_EQUAL(cycles_a_round(900), 2 * 900, 20);
}

static const struct tap_test tests[] = {
    {"dependent instructions add up, others do not", dependent_ones_add_up},
    {"each warp and each turn of a loop counts", each_warp_and_each_turn_counts},
    {"a barrier parts phases", a_barrier_parts_phases},
    {"independent ones take issue slots", independent_ones_take_issue_slots},
    {"the busiest warp of a phase is known", the_busiest_warp_is_known},
    {"loads behind branches are under way together, dependent ones not",
     guarded_loads_are_one_trip},
    {"four rounds of a straight loop are one, unless forbidden", straight_loops_are_unrolled},
    {"a load before a barrier is waited for behind it", loads_go_on_behind_barriers},
    {"copies are waited for by their groups", copies_are_waited_for_by_group},
    {"a barrier of some warps ends no phase", barriers_of_some_warps_end_nothing},
    {"loops of more code than the nearest cache holds are issued at half the rate",
     long_loops_are_fetched},
};

TAP_MAIN("chain", tests)
