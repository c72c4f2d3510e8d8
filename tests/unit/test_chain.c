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

/* Runs a block of `threads` of a kernel with this body; the chains of its phases, in `out`; their number. */
static size_t chains_of(const char *body, uint32_t threads, struct chain_phase *out, size_t most,
                        uint64_t *longest)
{
    struct err err = ERR_INIT;
    struct str s = {0};
    struct sim_program *p = NULL;
    struct sim_result r = {0};
    struct sim_memory *m = sim_memory_new(1 << 20);
    str_addf(&s, HEAD ".entry k() {\n%s\n}\n", body);
    enum status st = sim_program_new(str_text(&s), s.len, NULL, &p, &err);
    if (st)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    const struct sim_launch l = {.grid = {1, 1, 1}, .block = {threads, 1, 1}};
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

static const struct tap_test tests[] = {
    {"dependent instructions add up, others do not", dependent_ones_add_up},
    {"each warp and each turn of a loop counts", each_warp_and_each_turn_counts},
    {"a barrier parts phases", a_barrier_parts_phases},
    {"independent ones take issue slots", independent_ones_take_issue_slots},
    {"the busiest warp of a phase is known", the_busiest_warp_is_known},
};

TAP_MAIN("chain", tests)
