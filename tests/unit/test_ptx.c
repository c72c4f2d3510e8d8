/* PTX as parsed: every form that compilers write for us, scopes, initial values, locations; what is
 * refused, with its line; inlining; texts that mean harm.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/ptx.h"
#include "sim/sim.h"

#define HEAD ".version 9.0\n.target sm_80\n.address_size 64\n" /* three lines */

static struct ptx_module *parse(const char *text)
{
    struct err err = ERR_INIT;
    struct ptx_module *m = NULL;
    const enum status st = ptx_parse(text, strlen(text), &m, &err);
    if (st)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    return m;
}

/* A module with one entry k of this body. */
static struct ptx_module *body(const char *text)
{
    char *all = xasprintf(HEAD ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n%s\n}\n", text);
    struct ptx_module *m = parse(all);
    free(all);
    return m;
}

/* Parses, expects a refusal whose sentence contains `part`. */
static void refuse(const char *text, const char *part)
{
    struct err err = ERR_INIT;
    struct ptx_module *m = (struct ptx_module *)&err; /* must be overwritten */
    const enum status st = ptx_parse(text, strlen(text), &m, &err);
    const bool found = strstr(err.text, part) != NULL;
    if (st != ST_USAGE || !found)
        printf("# status %d \"%s\" for %.80s\n", st, err.text, text);
    CU_ASSERT_EQUAL(st, ST_USAGE);
    CU_ASSERT(found);
    CU_ASSERT_PTR_NULL(m);
    CU_ASSERT(err.at >= 0 && (size_t)err.at + (size_t)err.len <= strlen(text));
    if (st == ST_OK)
        ptx_free(m);
}

static void refuse_body(const char *text, const char *part)
{
    char *all = xasprintf(HEAD ".entry k(.param .u64 p)\n{\n%s\n}\n", text);
    refuse(all, part);
    free(all);
}

static const struct ptx_function *entry(const struct ptx_module *m)
{
    const struct ptx_function *f = ptx_function(m, "k");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    return f;
}

/* The instruction printed; valid until the next call. */
static const char *printed(const struct ptx_function *f, uint32_t i)
{
    static char text[1000];
    struct str s = {0};
    CU_ASSERT_FATAL(i < f->ninsns);
    ptx_print(f, &f->insns[i], &s);
    snprintf(text, sizeof text, "%s", str_text(&s));
    str_free(&s);
    return text;
}

static const struct ptx_operand *operand(const struct ptx_function *f, uint32_t i, uint32_t k)
{
    CU_ASSERT_FATAL(i < f->ninsns && k < f->insns[i].noperands);
    return &f->operands[f->insns[i].operand + k];
}

static void module_has_its_directives(void)
{
    struct ptx_module *m =
        parse("// a comment\n.version 8.7\n.target sm_90a, texmode_independent\n"
              ".address_size 64\n.pragma \"nounroll\";\n"
              "# 1 \"x.cu\"\n@@DWARF .byte 1\n/* two\nlines */ .file 3 \"a b.cu\"\n"
              ".file 7 \"dir\" \"c.cu\", 12, 34\n");
    CU_ASSERT_EQUAL(m->version, 87);
    CU_ASSERT_EQUAL(m->sm, 90);
    CU_ASSERT_STRING_EQUAL(m->target, "sm_90a");
    CU_ASSERT_EQUAL(m->address_bits, 64);
    CU_ASSERT_EQUAL_FATAL(m->nfiles, 2);
    CU_ASSERT_EQUAL(m->files[0].index, 3);
    CU_ASSERT_STRING_EQUAL(m->files[0].name, "a b.cu");
    CU_ASSERT_STRING_EQUAL(m->files[1].name, "dir/c.cu");
    CU_ASSERT_EQUAL(m->nfunctions, 0);
    ptx_free(m);
    /* NVRTC hands over the terminating 0 as well. */
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(ptx_parse(HEAD, sizeof HEAD, &m, &err), ST_OK);
    ptx_free(m);
}

static void variables_have_space_length_and_value(void)
{
    struct ptx_module *m = parse(
        HEAD ".extern .shared .align 128 .b8 smem[];\n"
             ".shared .align 4 .b8 tile[1024], other[3];\n"
             ".const .f32 c[4] = {0f3F800000, 2.0, -0.5, 3};\n"
             ".global .align 1 .b8 $str[6] = {104, 105, 10};\n"
             ".visible .global .u16 grid[2][3] = {{1, 2}, {0x10, 017, 0b11}};\n"
             ".global .f64 one = 1.0;\n.global .s32 minus = -5;\n.global .b8 open[] = {1, 2, 3};\n"
             ".global .attribute(.managed) .u32 managed;\n");
    CU_ASSERT_EQUAL_FATAL(m->nvariables, 10);
    struct ptx_variable *const *v = m->variables;
    CU_ASSERT_STRING_EQUAL(v[0]->name, "smem");
    CU_ASSERT(v[0]->is_extern && v[0]->is_unsized && v[0]->is_array);
    CU_ASSERT_EQUAL(v[0]->align, 128);
    CU_ASSERT_EQUAL(v[0]->bytes, 0);
    CU_ASSERT_EQUAL(v[0]->space, PTX_SPACE_SHARED);
    CU_ASSERT_EQUAL(v[1]->bytes, 1024);
    CU_ASSERT_EQUAL(v[2]->bytes, 3);
    CU_ASSERT_EQUAL(v[2]->align, 4);
    const float floats[4] = {1, 2, -0.5f, 3};
    CU_ASSERT_EQUAL_FATAL(v[3]->ndata, 16);
    CU_ASSERT(memcmp(v[3]->data, floats, 16) == 0);
    CU_ASSERT_EQUAL(v[4]->bytes, 6);
    CU_ASSERT_EQUAL(v[4]->ndata, 3);
    CU_ASSERT(memcmp(v[4]->data, "hi\n", 3) == 0);
    const uint16_t grid[6] = {1, 2, 0, 16, 15, 3};
    CU_ASSERT_EQUAL_FATAL(v[5]->ndata, 12);
    CU_ASSERT(memcmp(v[5]->data, grid, 12) == 0 && v[5]->is_visible);
    const double one = 1;
    const int32_t minus = -5;
    CU_ASSERT(memcmp(v[6]->data, &one, 8) == 0);
    CU_ASSERT(memcmp(v[7]->data, &minus, 4) == 0);
    CU_ASSERT_EQUAL(v[8]->bytes, 3);
    CU_ASSERT(!v[8]->is_unsized);
    CU_ASSERT_PTR_NULL(v[9]->data);
    ptx_free(m);
}

static void addresses_in_values_are_kept(void)
{
    struct ptx_module *m =
        parse(HEAD ".global .b8 x[64];\n.func f();\n"
                   ".global .u64 t[4] = {generic(x), x+8, f, 7};\n"
                   ".global .b8 bytes[3] = {0xFF(x), 0xFF00(x+4), 0xFF0000(generic(x))};\n");
    const struct ptx_variable *t = m->variables[1], *b = m->variables[2];
    CU_ASSERT_EQUAL_FATAL(t->nrelocs, 3);
    CU_ASSERT(t->relocs[0].generic && t->relocs[0].variable == m->variables[0]);
    CU_ASSERT(!t->relocs[1].generic && t->relocs[1].addend == 8 && t->relocs[1].offset == 8);
    CU_ASSERT_PTR_EQUAL(t->relocs[2].function, m->functions[0]);
    CU_ASSERT_EQUAL(t->relocs[2].bytes, 8);
    CU_ASSERT_EQUAL(t->data[24], 7);
    CU_ASSERT_EQUAL_FATAL(b->nrelocs, 3);
    CU_ASSERT_EQUAL(b->relocs[0].shift, 0);
    CU_ASSERT(b->relocs[1].shift == 8 && b->relocs[1].addend == 4 && b->relocs[1].bytes == 1);
    CU_ASSERT(b->relocs[2].shift == 16 && b->relocs[2].generic && b->relocs[2].offset == 2);
    ptx_free(m);
}

static void functions_have_parameters_and_limits(void)
{
    struct ptx_module *m = parse(
        HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b)\n;\n"
             ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b,\n"
             "  .param .align 8 .b8 c[20], .param .u16 d)\n.maxntid 256, 2\n.minnctapersm 3\n"
             ".maxnreg 64\n.reqnctapercluster 4\n.pragma \"x\";\n{ ret; }\n"
             ".weak .func (.param .align 16 .b8 out[16]) g(.param .b32 x) .noreturn\n{ ret; }\n"
             ".entry bare { exit; }\n");
    CU_ASSERT_EQUAL_FATAL(m->nfunctions, 4);
    const struct ptx_function *p = m->functions[0], *k = m->functions[1], *g = m->functions[2];
    CU_ASSERT(!p->has_body && p->is_extern && !p->is_entry && p->nparams == 2 && p->nreturns == 1);
    CU_ASSERT(k->is_entry && k->has_body && k->is_visible);
    CU_ASSERT_EQUAL_FATAL(k->nparams, 4);
    CU_ASSERT_EQUAL(k->params[1]->offset, 8);
    CU_ASSERT_EQUAL(k->params[1]->align, 8);
    CU_ASSERT_EQUAL(k->params[2]->offset, 16);
    CU_ASSERT_EQUAL(k->params[2]->bytes, 20);
    CU_ASSERT_EQUAL(k->params[3]->offset, 36);
    CU_ASSERT_EQUAL(k->param_bytes, 38);
    CU_ASSERT_EQUAL(k->max_threads[0], 256);
    CU_ASSERT_EQUAL(k->max_threads[1], 2);
    CU_ASSERT_EQUAL(k->max_threads[2], 1);
    CU_ASSERT_EQUAL(k->min_blocks, 3);
    CU_ASSERT_EQUAL(k->max_regs, 64);
    CU_ASSERT_EQUAL(k->cluster[0], 4);
    CU_ASSERT_EQUAL(g->returns[0]->bytes, 16);
    CU_ASSERT_EQUAL(m->functions[3]->ninsns, 1);
    ptx_free(m);
}

/* Printed as they are read: all operands of all forms. */
static void instructions_print_as_they_were(void)
{
    static const char *const lines[] = {
        "ld.param.u64 %rd1, [p+4];",
        "ld.param.v2.u32 {%r1, %r2}, [p];",
        "mov.u32 %r1, %tid.x;",
        "mov.u32 %r1, %laneid;",
        "mov.u32 %r1, %envreg3;",
        "mov.b64 %rd1, p;",
        "mov.u32 %r1, smem+16;",
        "add.s64 %rd2, %rd1, -180;",
        "@%p1 bra $L__BB0_2;",
        "@!%p2 bra.uni $L__BB0_2;",
        "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+-180];",
        "st.shared.v4.f32 [%r1+16], {%f1, %f2, %f3, %f4};",
        "mov.f32 %f1, 0f3F800000;",
        "mov.f64 %d1, 0d3FF0000000000000;",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, "
        "%r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};",
        "setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;",
        "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;",
        "cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16, %r2;",
        "cp.async.wait_group 1;",
        "bar.sync 0;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, "
        "{%r2, %r3}], [%r4];",
        "mov.b64 {%r1, %r2}, %rd1;",
        "mov.b32 {_, %rs1}, %r1;",
        "elect.sync _|%p1, -1;",
        "atom.global.add.f32 %f1, [%rd1], 0f00000000;",
        "ld.global.u32 %r1, [4096];",
        "brx.idx %r1, $L_table;",
        "ret;",
    };
    struct str s = {0};
    str_add(&s, HEAD ".extern .shared .b8 smem[];\n.entry k(.param .u64 p) {\n"
                     ".reg .pred %p<4>;.reg .b32 %r<8>;.reg .b64 %rd<4>;.reg .f32 %f<10>;.reg .f64 "
                     "%d<2>;.reg .b16 %rs<2>;\n$L_table: .branchtargets $L__BB0_2, $L_end;\n");
    enum { N = sizeof lines / sizeof *lines };
    for (int i = 0; i < N; i++)
        str_addf(&s, "%s\n%s", i == 8 ? "$L__BB0_2:" : "", lines[i]);
    str_add(&s, "\n$L_end:\n}\n");
    struct ptx_module *m = parse(str_text(&s));
    const struct ptx_function *f = entry(m);
    CU_ASSERT_EQUAL_FATAL(f->ninsns, N);
    for (uint32_t i = 0; i < N; i++) {
        CU_ASSERT_STRING_EQUAL(printed(f, i), lines[i]);
        CU_ASSERT_EQUAL(f->insns[i].line, 9 + i);
    }
    CU_ASSERT_EQUAL_FATAL(f->ntargets, 1);
    CU_ASSERT_EQUAL(f->labels[f->targets[0].labels[0]].insn, 8);
    CU_ASSERT_EQUAL(f->labels[f->targets[0].labels[1]].insn, N);
    CU_ASSERT_EQUAL(operand(f, 26, 1)->kind, PTX_TARGETS);
    ptx_free(m);
    str_free(&s);
}

static void immediates_have_exact_bits(void)
{
    static const struct {
        const char *text;
        enum ptx_imm_kind kind;
        uint64_t bits;
    } cases[] = {
        {"5", PTX_IMM_INT, 5},
        {"-5", PTX_IMM_INT, (uint64_t)-5},
        {"0xFFFFFFFFFFFFFFFF", PTX_IMM_INT, UINT64_MAX},
        {"18446744073709551615", PTX_IMM_INT, UINT64_MAX},
        {"-9223372036854775808", PTX_IMM_INT, (uint64_t)INT64_MIN},
        {"0x7fU", PTX_IMM_INT, 127},
        {"017", PTX_IMM_INT, 15},
        {"0", PTX_IMM_INT, 0},
        {"0b101", PTX_IMM_INT, 5},
        {"(-(3))", PTX_IMM_INT, 0}, /* refused below */
        {"~0", PTX_IMM_INT, UINT64_MAX},
        {"(7)", PTX_IMM_INT, 7},
        {"WARP_SZ", PTX_IMM_INT, 32},
        {"0f3f800000", PTX_IMM_F32, 0x3F800000},
        {"0FFF800000", PTX_IMM_F32, 0xFF800000},
        {"0d3FF0000000000000", PTX_IMM_F64, 0x3FF0000000000000},
        {"1.5", PTX_IMM_F64, 0x3FF8000000000000},
        {"-1.5", PTX_IMM_F64, 0xBFF8000000000000},
        {"15e-1", PTX_IMM_F64, 0x3FF8000000000000},
        {"0xe", PTX_IMM_INT, 14},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        snprintf(text, sizeof text, ".reg .b64 %%a; mov.b64 %%a, %s; ret;", cases[i].text);
        if (strcmp(cases[i].text, "(-(3))") == 0) {
            refuse_body(text, "a number is expected, not '('");
            continue;
        }
        struct ptx_module *m = body(text);
        const struct ptx_operand *o = operand(entry(m), 0, 1);
        CU_ASSERT_EQUAL(o->kind, PTX_IMM);
        CU_ASSERT_EQUAL(o->imm_kind, cases[i].kind);
        if (o->imm != cases[i].bits)
            printf("# %s\n", cases[i].text);
        CU_ASSERT_EQUAL(o->imm, cases[i].bits);
        ptx_free(m);
    }
}

static void scopes_hide_and_end(void)
{
    struct ptx_module *m = body(".reg .b32 %r<4>, t;\n mov.b32 %r1, t;\n"
                                "{ .reg .pred t; .reg .b64 %r<4>;\n"
                                " setp.eq.s32 t, 1, 2; mov.b64 %r1, 3;\n L: @t bra L; bra M; }\n"
                                "{ .reg .b16 t; L: mov.b16 t, 1; bra L;}\n"
                                "L: mov.b32 %r1, t; bra L; M: ret;");
    const struct ptx_function *f = entry(m);
    CU_ASSERT_EQUAL_FATAL(f->ninsns, 10);
    CU_ASSERT_EQUAL(f->regs[operand(f, 0, 1)->reg].type, PTX_B32);
    CU_ASSERT_EQUAL(f->regs[operand(f, 1, 0)->reg].type, PTX_PRED);
    CU_ASSERT_EQUAL(f->regs[operand(f, 2, 0)->reg].type, PTX_B64);
    CU_ASSERT_EQUAL(f->regs[operand(f, 5, 0)->reg].type, PTX_B16);
    CU_ASSERT_EQUAL(operand(f, 7, 1)->reg, operand(f, 0, 1)->reg);
    CU_ASSERT_EQUAL(operand(f, 7, 0)->reg, operand(f, 0, 0)->reg);
    CU_ASSERT_EQUAL(f->labels[operand(f, 3, 0)->label].insn, 3);
    CU_ASSERT_EQUAL(f->labels[operand(f, 4, 0)->label].insn, 9);
    CU_ASSERT_EQUAL(f->labels[operand(f, 6, 0)->label].insn, 5);
    CU_ASSERT_EQUAL(f->labels[operand(f, 8, 0)->label].insn, 7);
    CU_ASSERT_EQUAL(f->nregs, 5); /* only those that are used: %r1 twice, t three times */
    ptx_free(m);
    /* A label of the scope is meant, though it comes later and an outer one is known. */
    m = body("L: ret;\n{ bra L; L: exit; }\n");
    f = entry(m);
    CU_ASSERT_EQUAL(f->labels[operand(f, 1, 0)->label].insn, 2);
    ptx_free(m);
}

static void frames_of_calls(void)
{
    struct ptx_module *m = parse(
        HEAD
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".entry k() {\n.local .align 8 .b8 depot[24];\n.reg .b64 %SP, %rd<3>; .reg .b32 %r<3>;\n"
        "mov.u64 %SP, depot;\n{ .param .b64 p0; st.param.b64 [p0+0], %SP;\n.param .b64 p1;"
        " .param .b32 v; call.uni (v), vprintf, (p0, p1); ld.param.b32 %r1, [v]; }\n"
        "{ .param .align 16 .b8 p0[32]; st.param.b64 [p0+8], %SP;\n"
        "proto: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
        "call %rd1, (p0), proto; }\nret; }\n");
    const struct ptx_function *f = entry(m);
    CU_ASSERT_STRING_EQUAL(printed(f, 2), "call.uni (v), vprintf, (p0, p1);");
    CU_ASSERT_STRING_EQUAL(printed(f, 5), "call %rd1, (p0), proto;");
    CU_ASSERT_EQUAL(operand(f, 5, 2)->kind, PTX_PROTOTYPE);
    CU_ASSERT_EQUAL(f->local_bytes, 24);
    CU_ASSERT_EQUAL(f->call_bytes, 32); /* scopes one after another share */
    CU_ASSERT_EQUAL(f->nvariables, 5);
    CU_ASSERT_EQUAL(operand(f, 2, 0)->kind, PTX_LIST);
    const struct ptx_variable *p1 = f->operands[operand(f, 2, 2)->item + 1].variable;
    CU_ASSERT_EQUAL(p1->offset, 8);
    CU_ASSERT_PTR_EQUAL(operand(f, 2, 1)->function, m->functions[0]);
    ptx_free(m);
}

static void locations_are_chains_of_calls(void)
{
    struct ptx_module *m =
        body(".loc 1 10 0\n.reg .b32 %a;\n.loc 1 11 5\nmov.b32 %a, 1;\n"
             ".loc 2 20 3, function_name $L__info_string0, inlined_at 1 11 5\n"
             "mov.b32 %a, 2;\n"
             ".loc 2 30 9, function_name $L__info_string1, inlined_at 2 20 3\n"
             "mov.b32 %a, 3;\n.loc 1 0 0\nret;\n}\n.file 1 \"k.cu\"\n"
             ".file 2 \"h.cuh\"\n.section .debug_abbrev\n{\n.b8 1,2\n.b32 x-y\n}\n"
             ".section .debug_str\n{\n$L__info_string0:\n.b8 97,98,0\n"
             "$L__info_string1:\n.b8 99,27,0\n");
    const struct ptx_function *f = entry(m);
    const struct ptx_location *l = m->locations;
    CU_ASSERT_EQUAL(l[f->insns[0].location].line, 11);
    CU_ASSERT_STRING_EQUAL(m->files[l[f->insns[0].location].file].name, "k.cu");
    const struct ptx_location *in = &l[f->insns[2].location];
    CU_ASSERT_EQUAL(in->line, 30);
    CU_ASSERT_EQUAL(in->column, 9);
    CU_ASSERT_PTR_NULL(in->function); /* not a name that can be shown */
    CU_ASSERT_STRING_EQUAL(m->files[in->file].name, "h.cuh");
    in = &l[in->inlined_at];
    CU_ASSERT_EQUAL(in->line, 20);
    CU_ASSERT_STRING_EQUAL(in->function, "ab");
    CU_ASSERT_EQUAL(in->inlined_at, f->insns[0].location);
    CU_ASSERT_EQUAL(f->insns[3].location, 0);
    CU_ASSERT_EQUAL(l[0].line, 0);
    ptx_free(m);
}

static void opcodes_are_one_each(void)
{
    struct ptx_module *m = body(".reg .b32 %a; add.s32 %a, %a, 1; add.s32 %a, %a, 2; "
                                "add.u32 %a, %a, 2; ld.param .u32 %a, [n]; ret;");
    const struct ptx_function *f = entry(m);
    CU_ASSERT_PTR_EQUAL(f->insns[0].op, f->insns[1].op);
    CU_ASSERT_PTR_NOT_EQUAL(f->insns[0].op, f->insns[2].op);
    CU_ASSERT_EQUAL(m->nopcodes, 4);
    for (uint32_t i = 0; i < m->nopcodes; i++)
        CU_ASSERT_EQUAL(m->opcodes[i]->id, i);
    CU_ASSERT_EQUAL(f->insns[0].op->nparts, 2);
    CU_ASSERT_STRING_EQUAL(f->insns[0].op->parts[0], "add");
    CU_ASSERT(ptx_opcode_has(f->insns[0].op, "s32"));
    CU_ASSERT(!ptx_opcode_has(f->insns[0].op, "add"));
    CU_ASSERT_STRING_EQUAL(f->insns[3].op->text, "ld.param.u32");
    ptx_free(m);
}

static void refusals_name_the_line(void)
{
    refuse("", "no .version");
    refuse("hello", "PTX line 1: a directive is expected, not 'hello'");
    refuse(".version 9.0\n", "no .target");
    refuse(".version x", "a version is expected");
    refuse(HEAD "\x01", "PTX line 4: a byte that is no PTX");
    refuse(HEAD "/* never", "a comment that does not end");
    refuse(HEAD ".file 1 \"x\n", "a string that does not end");
    refuse(HEAD ".alias a, b;", "not supported");
    refuse(HEAD ".global .b8 a[2] = {1,2,3};", "more values than a has");
    refuse(HEAD ".global .b8 a[2] = {{1}};", "more braces");
    refuse(HEAD ".global .b8 a[99999999999999];", "is not within 0 and");
    refuse(HEAD ".global .b64 a[1099511627776];", "longer than 2^40");
    refuse(HEAD ".global .b8 a[1000000][1000000][1000000];", "longer than 2^40");
    refuse(HEAD ".global .b8 a;\n.global .b8 a;", "PTX line 5: a is declared twice");
    refuse(HEAD ".global .u64 a = b;", "b is not declared");
    refuse(HEAD ".global .pred a;", "cannot be a predicate");
    refuse(HEAD ".global .align 3 .b8 a;", "no power of two");
    refuse(HEAD ".param .b8 a;", "cannot stand here");
    refuse(HEAD ".global .b8 a[20000000] = {[1]};", "expected");
    refuse(HEAD ".entry k(.reg .b32 %r) { ret; }", "only .param is");
    refuse(HEAD ".entry k() { ret; }\n.entry k() { ret; }", "PTX line 5: k has a body already");
    refuse(HEAD ".entry k() {", "the text ends where");
    refuse(HEAD ".entry k() .what { ret; }", "a function's directive is expected");
    refuse_body("foo %r1;", "PTX line 6: the register %r1 is not declared");
    refuse_body(".reg .b32 %r<4>;\nmov.b32 %r4, 1;", "PTX line 7: the register %r4");
    refuse_body(".reg .b32 %r<4>;\nmov.b32 %r01, 1;", "the register %r01");
    refuse_body(".reg .b32 %r<4>;\nmov.b32 %r, 1;", "the register %r is not");
    refuse_body("\n\nbra nowhere;\nret;", "PTX line 8: nowhere is not declared");
    refuse_body("{ L: ret; }\nbra L;", "L is not declared");
    refuse_body("L: ret;\nL: ret;", "L is declared twice");
    refuse_body(".reg .b32 %r<4>;\n.reg .b64 %r<2>;", "%r is declared twice");
    refuse_body(".reg .b32 %r;\n@%r bra L; L: ret;", "%r guards and is no predicate");
    refuse_body(".reg .b32 %r\nmov.b32 %r, 1;", "';' is expected, not 'mov'");
    refuse_body("mov.b32 %tid, %tid.q;", "%tid is not declared");
    refuse_body(".reg .b32 %r; mov.b32 %r, 99999999999999999999;", "no whole number of 64 bits");
    refuse_body(".reg .b32 %r; mov.b32 %r, 0f12;", "no whole number");
    refuse_body(".reg .b32 %r; mov.b32 %r, [%r;", "']' is expected");
    refuse_body(".reg .b32 %r; mov.b32 {%r, %r;", "'}' is expected");
    refuse_body(".reg .v2 .f32 %r;", "a register's type is expected");
    refuse_body(".local .b8 x[];", "has no length");
    refuse_body(".loc 1 2;", "a number is expected");
    refuse_body("ret", "expected");
}

/* Mistakes that only somebody's own PTX has. */
static void rarer_refusals(void)
{
    refuse(HEAD ".entry k() .maxntid 1,2,3,4 { ret; }", "too many numbers");
    refuse(HEAD ".global .b8 k;\n.entry k() { ret; }", "PTX line 5: k is declared twice");
    refuse(HEAD ".global .attribute .b8 k;", "'(' is expected");
    refuse(HEAD ".visible .attribute .global .b8 k;", "'(' is expected");
    refuse(HEAD ".visible .attribute(.managed .global .b8 k;", "expected");
    refuse(HEAD ".global .attribute(.managed .b8 k;", "expected");
    refuse(HEAD ".section \"x\" { }", "a section's name is expected");
    refuse(HEAD ".section .debug_str { .b9 1 }", ".b8 or a label");
    refuse_body("L: @L bra L;", "L is no register");
    refuse_body(".reg .b32 %r; ld.u32 %r, [_];", "neither a register nor a variable");
    refuse_body(".reg .b32 %r; ld.u32 %r, [WARP_SZ];", "neither a register nor a variable");
    refuse_body("shfl.sync.b32 1|2, 3;", "only registers stand beside");
    refuse_body("L:\nT: .branchtargets L;\nT: .branchtargets L;\nret;", "T is declared twice");
    refuse_body("T: .callprototype _ ();\nT: .callprototype _ ();\nret;", "T is declared twice");
    refuse_body(".reg .f32 %f; mov.f32 %f, "
                "1.0000000000000000000000000000000000000000000000000000000000000000000000;",
                "is no whole number");
    refuse_body(".reg .f32 %f; mov.f32 %f, 1e5x;", "is no whole number");
    refuse_body(".loc 1 2 3, nobody;", "function_name or inlined_at");
    char *name = xcalloc(1, PTX_MAX_NAME + 2), *text;
    memset(name, 'n', PTX_MAX_NAME + 1);
    text = xasprintf(".reg .b32 %%r; mov.b32 %%r, %s;", name);
    refuse_body(text, "a name of");
    free(text);
    free(name);
    ptx_free(NULL);
    struct ptx_module *m = body("ret;");
    CU_ASSERT_PTR_NULL(ptx_function(m, "K"));
    ptx_free(m);
}

/* Everything that the parser knows, with a blank between tokens. */
static const char whole[] =
    HEAD ".file 1 \"a \\\" b\" \"x.cu\" , 17 , 4\n.pragma \"nounroll\" ;\n"
         ".global .align 4 .attribute ( .managed ) .b8 g [ 2 ] [ 2 ] = { { 1 , 2 } , { 3 } } ;\n"
         ".visible .attribute ( .managed ) .global .b8 own ;\n"
         ".visible .global .u64 at [ 2 ] = { g + 4 , generic( g ) } ;\n"
         ".extern .shared .align 16 .b8 sm [ ] ;\n"
         ".func ( .param .b32 out ) f ( .param .b32 in ) .noreturn ;\n"
         ".visible .entry k ( .param .u64 .ptr .global .align 8 p , .param .b8 big [ 16 ] )\n"
         " .maxntid 32 , 1 , 1 .minnctapersm 1 .abi_preserve 4 .pragma \"x\" ;\n"
         "{ .reg .pred %p < 3 > ; .reg .b32 %r < 9 > , one ; .reg .b64 %rd < 3 > ; .reg .f32 %f < "
         "3 > ;\n"
         " .local .align 8 .b8 here [ 8 ] ;\n"
         " .loc 1 4 0 ; .loc 1 3 0 , function_name nm + 3 , inlined_at 1 4 0\n"
         " .loc 1 2 1 , function_name nm , inlined_at 1 9 9\n"
         " ld.param.u64 %rd1 , [ p ] ; ld.global.v2.u32 { %r1 , %r2 } , [ %rd1 + -8 ] ;\n"
         " mov.f32 %f1 , 0f3F800000 ; mov.f32 %f2 , 1.5e-3 ; @ ! %p1 bra L ;\n"
         " { .param .b32 a ; st.param.b32 [ a ] , %r1 ; call.uni ( a ) , f , ( a ) ; }\n"
         " shfl.sync.bfly.b32 %r3 | %p2 , %r1 , 16 , 31 , -1 ; mov.u64 %rd2 , here ;\n"
         " cp.async.bulk.tensor.2d [ %rd1 ] , [ %rd2 , { %r1 , %r2 } ] ;\n"
         "L : T : .branchtargets L , M ; P : .callprototype _ ( .param .b32 x ) ; ;\n"
         " brx.idx %r1 , T ; .pragma \"y\" ;\n"
         "M : ret ; }\n"
         ".section .debug_str { nm : .b8 120 , 0 }\n.section .other { .b8 1 }\n";

/* Cut anywhere, and with something out of place between any two tokens: refused or read, and nothing worse. */
static void any_place_may_be_wrong(void)
{
    static const char *const wedges[] = {"",  ";", ",",  "(",  ")", "{", "}", "[", "]", "@",    "%",
                                         "+", "7", "-1", "\"", "x", ".", ":", "<", "|", "\"s\""};
    const size_t len = strlen(whole);
    struct ptx_module *m = parse(whole);
    CU_ASSERT_EQUAL(m->nfunctions, 2);
    ptx_free(m);
    int refused = 0, read = 0;
    for (size_t at = 0; at < len; at++) {
        if (whole[at] != ' ' && whole[at] != '\n')
            continue;
        for (size_t w = 0; w < sizeof wedges / sizeof *wedges; w++)
            for (int rest = 0; rest < 2; rest++) {
                struct err err = ERR_INIT;
                char *text =
                    xasprintf("%.*s %s%s", (int)at, whole, wedges[w], rest ? whole + at : "");
                const enum status st = ptx_parse(text, strlen(text), &m, &err);
                CU_ASSERT(st == ST_OK || (st == ST_USAGE && !m && err.text[0] && err.at >= 0));
                refused += st != ST_OK;
                read += st == ST_OK;
                if (st == ST_OK)
                    ptx_free(m);
                free(text);
            }
    }
    CU_ASSERT(refused > 10000 && read > 50);
    printf("# %d refused, %d read\n", refused, read);
}

/* More places of sources than the first table of them has, each twice. */
static void many_locations(void)
{
    enum { PLACES = 1000 };
    struct str s = {0};
    for (int round = 0; round < 2; round++)
        for (int i = 1; i <= PLACES; i++)
            str_addf(&s, ".loc 1 %d 0\n.loc 1 %d 0\n mov.b32 one, %d;\n", i, i, i);
    char *text = xasprintf(".reg .b32 one;\n%sret;", str_text(&s));
    struct ptx_module *m = body(text);
    const struct ptx_function *f = entry(m);
    for (uint32_t i = 0; i < 2 * PLACES; i++)
        CU_ASSERT_EQUAL(m->locations[f->insns[i].location].line, i % PLACES + 1);
    CU_ASSERT_EQUAL(m->nlocations, PLACES + 1);
    ptx_free(m);
    free(text);
    str_free(&s);
}

/* Harm: depth, counts, lengths. All of it is refused or bounded, at once. */
static void hostile_texts_are_bounded(void)
{
    static const struct {
        const char *begin, *again, *end, *part;
        int n;
    } cases[] = {
        {HEAD ".entry k() ", "{", "", "nested deeper", 1000},
        {HEAD ".global .b8 a[2][2] = ", "{", "", "more braces", 1000},
        {HEAD ".entry k() { .reg .b32 %a; mov.b32 %a, ", "(", "1; }", "too deep", 100000},
        {HEAD ".entry k() { .reg .b32 %a; mov.b32 {", "%a,", "%a}, 1; }", "more than 256 values",
         300},
        {HEAD ".entry k() { .reg .b32 %a; mov.b32 ", "%a,", "%a; }", "more than 32 operands", 300},
        {HEAD ".entry k() { a", ".b", " 1; }", "too long a name", 100000},
        {HEAD ".entry k() { a", ".b", " 1; }", "too long a name", 30},
        {HEAD ".entry ", "k", "() {}", "a name of", 100000},
        {HEAD ".entry k() ", ".maxntid 1 ", "", "the text ends", 10000},
        {HEAD ".entry k() { .reg .b32 %r<2000000000>; mov.b32 %r1999999999, ", "-", "1; }", NULL,
         100001},
        {HEAD, ".global .b8 a[1]", "[1];", "declared", 9}, /* nine dimensions or a missing ; */
        {HEAD ".entry k() { ", "ret;", "}", NULL, 200000},
        {HEAD ".entry k() { ", "ret;", "}", "more than 1048576 instructions in k",
         PTX_MAX_INSNS + 1},
        {HEAD ".entry k() {", "{ bra L; }", "L: ret; }", NULL, 50000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str s = {0};
        str_add(&s, cases[i].begin);
        for (int k = 0; k < cases[i].n; k++)
            str_add(&s, cases[i].again);
        str_add(&s, cases[i].end);
        if (!cases[i].part)
            ptx_free(parse(str_text(&s)));
        else if (i == 10)
            refuse(str_text(&s), "expected");
        else
            refuse(str_text(&s), cases[i].part);
        str_free(&s);
    }
    struct str regs = {0};
    str_add(&regs, HEAD ".entry k() { .reg .b32 zz");
    for (int i = 0; i < PTX_MAX_REGS; i++) /* five digits of base 16 */
        for (int k = 6; k-- > 0;)
            str_addc(&regs, k == 5 ? ',' : (char)('a' + (i >> 4 * k & 15)));
    str_add(&regs, "; }");
    refuse(str_text(&regs), "more than 1048576 registers in k");
    str_clear(&regs);
    str_add(&regs,
            HEAD ".entry k() { .reg .b32 r<2000000>;"); /* a range costs nothing until it is used */
    for (int i = 0; i <= PTX_MAX_REGS; i++)
        str_addf(&regs, "%sr%d", i % 256 ? "," : i ? "};f{" : "f{", i);
    str_add(&regs, "}; }");
    refuse(str_text(&regs), "more than 1048576 registers in k");
    str_free(&regs);
    /* A long text is refused before it is read. */
    struct err err = ERR_INIT;
    struct ptx_module *m;
    CU_ASSERT_EQUAL(ptx_parse("", (size_t)PTX_MAX_TEXT + 2, &m, &err), ST_USAGE);
    CU_ASSERT_PTR_NULL(m);
}

/* ---- Inlining. ---- */

static const char two_levels[] = HEAD
    ".func (.param .b32 r) leaf(.param .b32 a)\n{\n"
    ".reg .b32 %r<3>; .reg .pred %p; .shared .b8 sh[64]; .local .b8 depot[20];\n"
    ".loc 1 5 1\n"
    "ld.param.b32 %r1, [a];\nsetp.eq.s32 %p, %r1, 0;\n@%p ret;\nadd.s32 %r2, %r1, 1;\n"
    "st.param.b32 [r], %r2;\nret;\n}\n"
    ".func (.param .b32 r) mid(.param .align 4 .b8 s[8])\n{\n.reg .b32 %r<9>;\n.loc 1 15 1\n"
    "ld.param.b32 %r1, [s+4];\n{ .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 v;\n"
    "call (v), leaf, (p0);\nld.param.b32 %r2, [v]; }\n"
    "{ .param .b32 p0; st.param.b32 [p0], %r2; .param .b32 v;\n"
    "call (v), leaf, (p0);\nld.param.b32 %r2, [v]; }\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".entry k(.param .b32 n)\n{\n.reg .b32 %r<9>; .reg .pred %p<2>; .local .b8 d[8];\n.loc 1 25 1\n"
    "ld.param.b32 %r1, [n];\n{ .param .align 4 .b8 q[8]; st.param.b32 [q+4], %r1; .param .b32 v;\n"
    "@%p1 call (v), mid, (q);\nld.param.b32 %r2, [v]; }\nret;\n}\n.file 1 \"x.cu\"\n";

static void calls_become_bodies(void)
{
    static const char *const want[] = {
        "ld.param.b32 %r1, [n];",   "st.param.b32 [q+4], %r1;", "@!%p1 bra $L__end_of_call;",
        "ld.param.b32 %r1, [q+4];", "st.param.b32 [p0], %r1;",  "ld.param.b32 %r1, [p0];",
        "setp.eq.s32 %p, %r1, 0;",  "@%p bra $L__end_of_call;", "add.s32 %r2, %r1, 1;",
        "st.param.b32 [v], %r2;",   "ld.param.b32 %r2, [v];",   "st.param.b32 [p0], %r2;",
        "ld.param.b32 %r1, [p0];",  "setp.eq.s32 %p, %r1, 0;",  "@%p bra $L__end_of_call;",
        "add.s32 %r2, %r1, 1;",     "st.param.b32 [v], %r2;",   "ld.param.b32 %r2, [v];",
        "st.param.b32 [v], %r2;",   "ld.param.b32 %r2, [v];",   "ret;"};
    struct err err = ERR_INIT;
    struct ptx_module *m = parse(two_levels);
    const struct ptx_function *f, *k = entry(m);
    CU_ASSERT_EQUAL_FATAL(ptx_inline(m, k, &f, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(f->ninsns, sizeof want / sizeof *want);
    for (uint32_t i = 0; i < f->ninsns; i++)
        CU_ASSERT_STRING_EQUAL(printed(f, i), want[i]);
    /* Branches go behind the call that they leave. */
    CU_ASSERT_EQUAL(f->labels[operand(f, 2, 0)->label].insn, 19);
    CU_ASSERT_EQUAL(f->labels[operand(f, 7, 0)->label].insn, 10);
    CU_ASSERT_EQUAL(f->labels[operand(f, 14, 0)->label].insn, 17);
    /* The same name, each call's own register; the caller's variables. */
    CU_ASSERT_NOT_EQUAL(operand(f, 5, 0)->reg, operand(f, 12, 0)->reg);
    CU_ASSERT_NOT_EQUAL(operand(f, 5, 0)->reg, operand(f, 0, 0)->reg);
    CU_ASSERT_PTR_EQUAL(operand(f, 1, 0)->variable, operand(f, 3, 1)->variable);
    CU_ASSERT_PTR_EQUAL(operand(f, 4, 0)->variable, operand(f, 5, 1)->variable);
    CU_ASSERT_PTR_EQUAL(operand(f, 18, 0)->variable, operand(f, 19, 1)->variable);
    CU_ASSERT_PTR_EQUAL(operand(f, 9, 0)->variable, operand(f, 10, 1)->variable);
    ptx_free(m);
}

static void frames_do_not_overlap(void)
{
    struct err err = ERR_INIT;
    struct ptx_module *m = parse(two_levels);
    const struct ptx_function *f;
    CU_ASSERT_EQUAL_FATAL(ptx_inline(m, entry(m), &f, &err), ST_OK);
    /* q and v of the entry live while mid's p0 and v do. */
    const struct ptx_variable *q = operand(f, 1, 0)->variable, *v = operand(f, 19, 1)->variable;
    const struct ptx_variable *p0 = operand(f, 4, 0)->variable, *w = operand(f, 10, 1)->variable;
    CU_ASSERT(p0->offset >= q->offset + q->bytes && p0->offset >= v->offset + v->bytes);
    CU_ASSERT(w->offset >= p0->offset + p0->bytes);
    CU_ASSERT(f->call_bytes >= w->offset + w->bytes);
    uint32_t shared = 0, depots = 0;
    for (uint32_t i = 0; i < f->nvariables; i++) {
        const struct ptx_variable *x = f->variables[i];
        shared += strcmp(x->name, "sh") == 0;
        if (strcmp(x->name, "depot") == 0) {
            depots++;
            CU_ASSERT(x->offset >= 8 && x->offset + 20 <= f->local_bytes);
        }
    }
    CU_ASSERT_EQUAL(shared, 1); /* one for all calls */
    CU_ASSERT_EQUAL(depots, 2);
    /* leaf's line, called in mid's, called in the entry's */
    const struct ptx_location *l = &m->locations[f->insns[8].location];
    CU_ASSERT_EQUAL(l->line, 5);
    CU_ASSERT_STRING_EQUAL(l->function, "leaf");
    l = &m->locations[l->inlined_at];
    CU_ASSERT_EQUAL(l->line, 15);
    CU_ASSERT_STRING_EQUAL(l->function, "mid");
    l = &m->locations[l->inlined_at];
    CU_ASSERT_EQUAL(l->line, 25);
    CU_ASSERT_EQUAL(l->inlined_at, 0);
    for (uint32_t i = 0; i < m->nlocations; i++)
        CU_ASSERT(m->locations[i].inlined_at < i || !i);
    ptx_free(m);
}

/* Operands of several values keep theirs, in the function and in its caller. */
static void bodies_keep_their_vectors(void)
{
    static const char *const want[] = {
        "ld.param.b64 %rd1, [n];",
        "ld.global.v2.f32 {%f1, %f2}, [%rd1];",
        "shfl.sync.bfly.b32 %r1|%p, %r2, 16, 31, -1;",
        "st.param.b64 [p0], %rd1;",
        "ld.param.b64 %rd1, [p0];",
        "add.f32 %f1, %f2, %f3;",
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
        "mov.b64 %rd1, {%r1, %r2};",
        "ret;",
    };
    struct err err = ERR_INIT;
    struct ptx_module *m = parse(
        HEAD ".func f(.param .b64 a)\n{\n.reg .f32 %f<5>; .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
             "ld.param.b64 %rd1, [a];\nadd.f32 %f1, %f2, %f3;\n"
             "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\nmov.b64 %rd1, {%r1, %r2};\n}\n"
             ".entry k(.param .b64 n)\n{\n.reg .f32 %f<3>; .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
             ".reg .pred %p;\nld.param.b64 %rd1, [n];\nld.global.v2.f32 {%f1, %f2}, [%rd1];\n"
             "shfl.sync.bfly.b32 %r1|%p, %r2, 16, 31, -1;\n"
             "{ .param .b64 p0; st.param.b64 [p0], %rd1; call f, (p0); }\nret;\n}\n");
    const struct ptx_function *f;
    CU_ASSERT_EQUAL_FATAL(ptx_inline(m, entry(m), &f, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(f->ninsns, sizeof want / sizeof *want);
    for (uint32_t i = 0; i < f->ninsns; i++)
        CU_ASSERT_STRING_EQUAL(printed(f, i), want[i]);
    /* Each with registers of its own frame. */
    const struct ptx_operand *own = operand(f, 6, 0), *caller = operand(f, 1, 0);
    CU_ASSERT_EQUAL(f->operands[own->item].reg, operand(f, 5, 0)->reg);
    CU_ASSERT_NOT_EQUAL(f->operands[own->item].reg, f->operands[caller->item].reg);
    ptx_free(m);
}

static void refuse_inline(const char *text, const char *part)
{
    struct err err = ERR_INIT;
    struct ptx_module *m = parse(text);
    const struct ptx_function *f;
    CU_ASSERT_EQUAL(ptx_inline(m, entry(m), &f, &err), ST_USAGE);
    if (!strstr(err.text, part))
        printf("# %s\n", err.text);
    CU_ASSERT(strstr(err.text, part) != NULL);
    ptx_free(m);
}

static void what_cannot_be_inlined_is_told(void)
{
    refuse_inline(HEAD ".func f();\n.func g() {\ncall f;\nret; }\n.func f() { call g; ret; }\n"
                       ".entry k() { call f; ret; }",
                  "PTX line 6: the call of f is recursive");
    refuse_inline(HEAD ".func f(.param .b64 a) { ret; }\n.entry k() { call f; ret; }",
                  "another number of parameters");
    refuse_inline(HEAD ".func f(.param .b64 a) { ret; }\n"
                       ".entry k() { .param .b32 a; call f, (a); ret; }",
                  "fewer bytes");
    refuse_inline(HEAD ".func f(.param .b64 a) { ret; }\n"
                       ".entry k() { .reg .b64 a; call f, (a); ret; }",
                  "something else than a variable");
    /* Each calls the next twice: 2^30 bodies. */
    struct str s = {0};
    str_add(&s, HEAD ".func f0() { ret; }\n");
    for (int i = 1; i < 30; i++)
        str_addf(&s, ".func f%d() { call f%d; call f%d; ret; }\n", i, i - 1, i - 1);
    str_add(&s, ".entry k() { call f29; ret; }\n");
    refuse_inline(str_text(&s), "too long a program");
    str_clear(&s);
    str_add(&s, HEAD ".func f0() { ret; }\n");
    for (int i = 1; i < 40; i++)
        str_addf(&s, ".func f%d() { call f%d; ret; }\n", i, i - 1);
    str_add(&s, ".entry k() { call f39; ret; }\n");
    refuse_inline(str_text(&s), "nested too deep");
    str_free(&s);
    /* Functions without a body stay. */
    struct err err = ERR_INIT;
    struct ptx_module *m = parse(HEAD ".extern .func e();\n.entry k() { call e; ret; }");
    const struct ptx_function *f;
    CU_ASSERT_EQUAL(ptx_inline(m, entry(m), &f, &err), ST_OK);
    CU_ASSERT_PTR_EQUAL(f, entry(m));
    ptx_free(m);
}

/* Compilers number files from 1, in any order, and list them behind the code. */
static void a_program_names_the_file_of_a_line(void)
{
    static const char text[] =
        HEAD ".entry k()\n{\n.reg .b32 %r<3>;\n.loc 2 7 1\nmov.b32 %r1, 1;\n.loc 9 8 1, "
             "function_name L, "
             "inlined_at 1 20 3\nmov.b32 %r2, 2;\n.loc 5 3 1\nret;\n}\n"
             ".file 1 \"one.cu\"\n.file 9 \"nine.cuh\"\n.file 2 \"two.cuh\"\n";
    struct err err = ERR_INIT;
    struct sim_program *p;
    CU_ASSERT_EQUAL_FATAL(sim_program_new(text, strlen(text), "k", &p, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(sim_program_facts(p).insns, 3);
    const struct sim_insn a = sim_program_insn(p, 0), b = sim_program_insn(p, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a.at.file);
    CU_ASSERT_STRING_EQUAL(a.at.file, "two.cuh");
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.at.file);
    CU_ASSERT_STRING_EQUAL(b.at.file, "nine.cuh");
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.at.inlined_at);
    CU_ASSERT_STRING_EQUAL(b.at.inlined_at->file, "one.cu");
    CU_ASSERT_EQUAL(b.at.inlined_at->line, 20);
    CU_ASSERT_PTR_NULL(sim_program_insn(p, 2).at.file); /* no .file has this number */
    CU_ASSERT_EQUAL(sim_program_insn(p, 2).at.line, 3);
    sim_program_free(p);
}

static const struct tap_test tests[] = {
    {"a module has its directives", module_has_its_directives},
    {"variables have space, length and value", variables_have_space_length_and_value},
    {"addresses in values are kept", addresses_in_values_are_kept},
    {"functions have parameters and limits", functions_have_parameters_and_limits},
    {"instructions print as they were", instructions_print_as_they_were},
    {"immediates have exact bits", immediates_have_exact_bits},
    {"scopes hide and end", scopes_hide_and_end},
    {"calls have lists, and frames in their scopes", frames_of_calls},
    {"locations are chains of calls", locations_are_chains_of_calls},
    {"opcodes are one each", opcodes_are_one_each},
    {"refusals name the line", refusals_name_the_line},
    {"rarer refusals", rarer_refusals},
    {"any place may be wrong", any_place_may_be_wrong},
    {"many locations", many_locations},
    {"hostile texts are bounded", hostile_texts_are_bounded},
    {"calls become bodies", calls_become_bodies},
    {"bodies keep the values of their vectors", bodies_keep_their_vectors},
    {"frames of inlined functions do not overlap", frames_do_not_overlap},
    {"what cannot be inlined is told", what_cannot_be_inlined_is_told},
    {"a program names the file of a line", a_program_names_the_file_of_a_line},
};

TAP_MAIN("ptx", tests)
