/* What PTX becomes: which row an instruction has, and sums over a function.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/statics.h"

#define HEAD ".version 9.0\n.target sm_80\n.address_size 64\n"

static struct ptx_module *of(const char *body)
{
    struct err err = ERR_INIT;
    struct str s = {0};
    struct ptx_module *m;
    str_addf(&s, HEAD ".entry k() {\n%s\n}\n", body);
    const enum status st = ptx_parse(str_text(&s), s.len, &m, &err);
    if (st)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    str_free(&s);
    return m;
}

/* One form for each row, and near ones that are of another. */
static void every_form_has_its_row(void)
{
    static const struct {
        const char *form, *kind;
        enum sim_pipe most; /* the pipe that it takes most of; SIM_PIPE_COUNT: it costs nothing */
    } forms[] = {
        {"ld.param.u64", "kernel parameter", SIM_PIPE_other},
        {"ld.global.nc.v4.f32", "memory, shuffle, vote", SIM_PIPE_lsu},
        {"ld.global.b16", "memory, shuffle, vote", SIM_PIPE_lsu},
        {"st.shared.f16", "memory, shuffle, vote", SIM_PIPE_lsu},
        {"shfl.sync.bfly.b32", "memory, shuffle, vote", SIM_PIPE_lsu},
        {"cp.async.cg.shared.global", "memory, shuffle, vote", SIM_PIPE_lsu},
        {"cp.async.wait_group", "cp.async group", SIM_PIPE_other},
        {"bar.sync", "barrier", SIM_PIPE_cbu},
        {"membar.gl", "fence", SIM_PIPE_other},
        {"setmaxnreg.inc.sync.aligned.u32", "control of the block", SIM_PIPE_other},
        {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "tensor product", SIM_PIPE_tensor},
        {"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", "tensor product", SIM_PIPE_tensor},
        {"wgmma.fence.sync.aligned", "wgmma group", SIM_PIPE_other},
        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "wmma product", SIM_PIPE_tensor},
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", "wmma fragment from memory",
         SIM_PIPE_lsu},
        {"wmma.load.c.sync.aligned.row.m16n16k16.shared.f32", "wmma accumulator in memory",
         SIM_PIPE_lsu},
        {"wmma.store.d.sync.aligned.row.m16n16k16.shared.f32", "wmma accumulator in memory",
         SIM_PIPE_lsu},
        {"and.pred", "predicate", SIM_PIPE_COUNT},
        {"mov.pred", "predicate", SIM_PIPE_COUNT},
        {"mov.b32", "bits of another type, halves of a word", SIM_PIPE_alu},
        {"ex2.approx.ftz.f16x2", "exp2, tanh of halves", SIM_PIPE_xu},
        {"fma.rn.bf16x2", "arithmetic of halves", SIM_PIPE_half},
        {"max.f16x2", "arithmetic of halves", SIM_PIPE_half},
        {"cvt.f32.f16", "halves to f32", SIM_PIPE_half},
        {"cvt.f32.bf16", "bf16 to f32", SIM_PIPE_imul},
        {"cvt.rn.f16x2.f32", "f32 rounded to halves", SIM_PIPE_alu},
        {"cvt.rna.tf32.f32", "f32 rounded to halves", SIM_PIPE_alu},
        {"cvt.sat.f32.f32", "f32 clamped or rounded", SIM_PIPE_fma},
        {"cvt.rzi.s32.f32", "integer and f32", SIM_PIPE_xu},
        {"cvt.rn.f32.s32", "integer and f32", SIM_PIPE_xu},
        {"fma.rn.ftz.f32", "f32 add, multiply, fma", SIM_PIPE_fma},
        {"sub.f32", "f32 add, multiply, fma", SIM_PIPE_fma},
        {"neg.f32", "f32 sign", SIM_PIPE_COUNT},
        {"max.f32", "min, max", SIM_PIPE_alu},
        {"min.u32", "min, max", SIM_PIPE_alu},
        {"ex2.approx.ftz.f32", "exp2, log2, flushed", SIM_PIPE_xu},
        {"ex2.approx.f32", "exp2, log2, denormals kept", SIM_PIPE_fma},
        {"rcp.rn.f32", "1/x rounded", SIM_PIPE_fma},
        {"rcp.approx.ftz.f32", "special function", SIM_PIPE_xu},
        {"div.rn.f32", "f32 division, root, rounded", SIM_PIPE_fma},
        {"div.full.f32", "f32 division, about", SIM_PIPE_fma},
        {"sqrt.rn.f32", "f32 division, root, rounded", SIM_PIPE_fma},
        {"div.s32", "integer division", SIM_PIPE_alu},
        {"rem.u64", "integer division", SIM_PIPE_alu},
        {"div.rn.f64", "f64", SIM_PIPE_fp64},
        {"add.f64", "f64", SIM_PIPE_fp64},
        {"setp.lt.f32", "f32 compare", SIM_PIPE_alu},
        {"setp.eq.s64", "64-bit compare", SIM_PIPE_alu},
        {"setp.lt.and.s32", "integer compare", SIM_PIPE_alu},
        {"bra.uni", "branch", SIM_PIPE_cbu},
        {"call.uni", "call", SIM_PIPE_cbu},
        {"mov.u32", "move", SIM_PIPE_alu},
        {"mul.wide.s32", "wide multiply", SIM_PIPE_imul},
        {"mul.lo.s64", "64-bit multiply", SIM_PIPE_imul},
        {"mad.lo.s32", "integer multiply", SIM_PIPE_imul},
        {"cvta.to.global.u64", "address space", SIM_PIPE_COUNT},
        {"cvt.u32.u64", "64 bits cut", SIM_PIPE_COUNT},
        {"cvt.s64.s32", "widened to 64 bits", SIM_PIPE_alu},
        {"selp.f32", "select", SIM_PIPE_alu},
        {"add.s64", "64-bit integer", SIM_PIPE_alu},
        {"prmt.b32", "integer", SIM_PIPE_alu},
        {"somethingnew", "integer", SIM_PIPE_alu},
        {"ret", "end", SIM_PIPE_COUNT},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char body[200];
        snprintf(body, sizeof body, "%s 1;", forms[i].form);
        struct ptx_module *m = of(body);
        struct statics s = {.total = 0};
        const struct ptx_opcode *op = m->functions[0]->insns[0].op;
        if (strcmp(statics_kind(op), forms[i].kind) != 0)
            printf("# %s is %s\n", forms[i].form, statics_kind(op));
        CU_ASSERT_STRING_EQUAL(statics_kind(op), forms[i].kind);
        statics_add(op, 2, &s);
        double sum = 0, most = 0;
        for (int p = 0; p < SIM_PIPE_COUNT; p++) {
            CU_ASSERT(s.pipe[p] >= 0);
            sum += s.pipe[p];
            most = s.pipe[p] > most ? s.pipe[p] : most;
        }
        CU_ASSERT(fabs(sum - s.total) < 1e-9);
        const bool free = forms[i].most == SIM_PIPE_COUNT;
        CU_ASSERT_EQUAL(s.total == 0, free);
        CU_ASSERT(free || s.pipe[forms[i].most] == most);
        ptx_free(m);
    }
}

static void a_function_is_the_sum(void)
{
    struct ptx_module *m = of("ret;");
    const struct statics empty = statics_count(m->functions[0]);
    CU_ASSERT(empty.total > 0 && empty.total < 12); /* what every kernel has */
    CU_ASSERT_EQUAL(empty.pipe[SIM_PIPE_tensor], 0);
    ptx_free(m);
    m = of("fma.rn.f32 1; fma.rn.f32 1; mma.sync 1; ld.global.f32 1; ex2.approx.ftz.f32 1; ret;");
    const struct statics s = statics_count(m->functions[0]);
    CU_ASSERT_DOUBLE_EQUAL(s.total - empty.total, 5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.pipe[SIM_PIPE_fma], 2, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.pipe[SIM_PIPE_tensor], 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.pipe[SIM_PIPE_lsu], 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.pipe[SIM_PIPE_xu], 1, 1e-9);
    ptx_free(m);
}

static const struct tap_test tests[] = {
    {"every form has its row", every_form_has_its_row},
    {"a function is the sum of its instructions", a_function_is_the_sum},
};

TAP_MAIN("statics", tests)
