/* test_merge.c - loads and stores that are one access of the machine: what ptxas 13.0 made of each of these programs for
 * sm_90, read from its machine code.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/merge.h"
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* S + 16 threadIdx.x is %r4; %r7 is S + n, of which nobody knows how it is aligned; %d5 is q + 16 threadIdx.x. */
static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 S[8192];\n"
    ".visible .entry k(.param .u64 q, .param .u32 n)\n{\n.reg .b16 %h<40>; .reg .b32 %r<40>; .reg "
    ".f32 "
    "%f<40>; .reg .b64 %d<20>; .reg .pred %p<8>; .reg .f64 %e<8>;\n"
    "ld.param.u64 %d2,[q]; cvta.to.global.u64 %d3,%d2; ld.param.u32 %r0,[n]; mov.u32 %r1,%tid.x;\n"
    "mov.u32 %r2,S; shl.b32 %r3,%r1,4; add.s32 %r4,%r2,%r3; add.s32 %r7,%r2,%r0;\n"
    "mul.wide.u32 %d4,%r1,16; add.s64 %d5,%d3,%d4;\n";

struct trial {
    const char *what, *body, *machine;
};

static struct address_low place(void *ctx, const struct ptx_variable *v)
{
    (void)ctx, (void)v;
    return (struct address_low){.bits = 4, .value = 0};
}

/* "LDS.64[8]": name, bits, and the offset that its own PTX has, moved to where it begins. */
static void print_access(const struct ptx_function *f, const struct ptx_insn *i, int32_t from,
                         unsigned bytes, struct str *out)
{
    const bool load = !strcmp(i->op->parts[0], "ld");
    const struct ptx_operand *o = &f->operands[i->operand + load];
    str_addf(out, "%s%s%s.%u[%" PRId64 "]", out->len ? " " : "", load ? "LD" : "ST",
             ptx_opcode_has(i->op, "shared") ? "S" : "G", 8 * bytes, o->offset + from);
}

static unsigned bytes_of(const struct ptx_insn *i)
{
    const char *last = i->op->parts[i->op->nparts - 1];
    return (unsigned)ptx_type_bytes(ptx_type_of(last)) * (ptx_opcode_has(i->op, "v4")   ? 4
                                                          : ptx_opcode_has(i->op, "v2") ? 2
                                                                                        : 1);
}

static void print_machine(const struct ptx_function *f, const struct merged *m, struct str *out)
{
    for (uint32_t n = 0; n < f->ninsns; n++) {
        const struct ptx_insn *i = &f->insns[n];
        const bool moves = !strcmp(i->op->parts[0], "ld") || !strcmp(i->op->parts[0], "st");
        if (!moves || ptx_opcode_has(i->op, "param"))
            continue;
        if (!m || !m[n].bytes)
            print_access(f, i, 0, bytes_of(i), out);
        else if (m[n].with == n)
            print_access(f, i, m[n].from, m[n].bytes, out);
    }
}

static void expect(const struct trial *t)
{
    struct str text = {0}, machine = {0};
    struct ptx_module *module = NULL;
    struct flow *flow = NULL;
    struct err err = ERR_INIT;
    str_addf(&text, "%s%s\nret;\n}\n", head, t->body);
    enum status st = ptx_parse(str_text(&text), text.len, &module, &err);
    const struct ptx_function *f = st == ST_OK ? ptx_function(module, "k") : NULL;
    if (st == ST_OK)
        st = flow_new(f, &flow, &err);
    if (st == ST_OK) {
        struct merged *m = merge_accesses(f, flow, place, NULL);
        print_machine(f, m, &machine);
        free(m);
    }
    if (st != ST_OK || strcmp(str_text(&machine), t->machine) != 0)
        printf("# %s: %s here, %s by ptxas %s\n", t->what, str_text(&machine), t->machine,
               err.text);
    CU_ASSERT(st == ST_OK && !strcmp(str_text(&machine), t->machine));
    flow_free(flow);
    ptx_free(module);
    str_free(&text);
    str_free(&machine);
}

#define LD(type, reg, base, at) "ld." type " %" reg ",[%" base "+" at "];\n"
#define ST(type, reg, base, at) "st." type " [%" base "+" at "],%" reg ";\n"
#define F4(base)                      \
    LD("shared.f32", "f0", base, "0") \
    LD("shared.f32", "f1", base, "4") \
    LD("shared.f32", "f2", base, "8") LD("shared.f32", "f3", base, "12")
#define U4(base, a, b, c, d)        \
    LD("shared.u16", "h0", base, a) \
    LD("shared.u16", "h1", base, b) LD("shared.u16", "h2", base, c) LD("shared.u16", "h3", base, d)
#define G4                            \
    LD("global.f32", "f0", "d5", "0") \
    LD("global.f32", "f1", "d5", "4") \
    LD("global.f32", "f2", "d5", "8") LD("global.f32", "f3", "d5", "12")
#define V4(at)  "ld.global.v4.f32 {%f4,%f5,%f6,%f7},[%d5+" at "];\n"
#define TWO     LD("shared.f32", "f0", "r4", "0")
#define FURTHER LD("shared.f32", "f1", "r4", "4")

static const struct trial elements[] = {
    {"four floats", F4("r4"), "LDS.128[0]"},
    {"two floats", TWO FURTHER, "LDS.64[0]"},
    {"two floats of the middle",
     LD("shared.f32", "f0", "r4", "4") LD("shared.f32", "f1", "r4", "8"), "LDS.32[4] LDS.32[8]"},
    {"two floats with one between", TWO LD("shared.f32", "f1", "r4", "8"), "LDS.32[0] LDS.32[8]"},
    {"three of four floats",
     TWO LD("shared.f32", "f1", "r4", "8") LD("shared.f32", "f2", "r4", "12"), "LDS.128[0]"},
    {"backwards", LD("shared.f32", "f0", "r4", "12") LD("shared.f32", "f1", "r4", "8") FURTHER,
     "LDS.128[0]"},
    {"over two windows",
     F4("r4") LD("shared.f32", "f4", "r4", "16") LD("shared.f32", "f5", "r4", "20"),
     "LDS.128[0] LDS.64[16]"},
    {"the same twice", TWO TWO, "LDS.32[0]"},
    {"four u16", U4("r4", "0", "2", "4", "6"), "LDS.64[0]"},
    {"eight u16 are twice four",
     U4("r4", "0", "2", "4", "6") LD("shared.u16", "h4", "r4", "8")
         LD("shared.u16", "h5", "r4", "10") LD("shared.u16", "h6", "r4", "12")
             LD("shared.u16", "h7", "r4", "14"),
     "LDS.64[0] LDS.64[8]"},
    {"three of four u16",
     LD("shared.u16", "h0", "r4", "2") LD("shared.u16", "h1", "r4", "4")
         LD("shared.u16", "h2", "r4", "6"),
     "LDS.64[0]"},
    {"u16 two and two",
     LD("shared.u16", "h0", "r4", "0") LD("shared.u16", "h1", "r4", "2")
         LD("shared.u16", "h2", "r4", "8") LD("shared.u16", "h3", "r4", "10"),
     "LDS.32[0] LDS.32[8]"},
    {"bytes", LD("shared.u8", "h0", "r4", "0") LD("shared.u8", "h1", "r4", "1"),
     "LDS.8[0] LDS.8[1]"},
    {"doubles", LD("shared.f64", "e0", "r4", "0") LD("shared.f64", "e1", "r4", "8"), "LDS.128[0]"},
    {"a word and two u16",
     LD("shared.u16", "h0", "r4", "0") LD("shared.u16", "h1", "r4", "2") FURTHER,
     "LDS.32[0] LDS.32[4]"},
    {"u32 and f32", LD("shared.u32", "r9", "r4", "0") FURTHER, "LDS.64[0]"},
    {"a vector and a float", "ld.shared.v2.f32 {%f0,%f1},[%r4];" LD("shared.f32", "f2", "r4", "8"),
     "LDS.128[0]"},
    {"vectors of u16",
     "ld.shared.v4.u16 {%h0,%h1,%h2,%h3},[%r4]; ld.shared.v4.u16 "
     "{%h4,%h5,%h6,%h7},[%r4+8];",
     "LDS.128[0]"},
    {"64 bits and words",
     "ld.shared.b64 %d10,[%r4];" LD("shared.f32", "f0", "r4", "8")
         LD("shared.f32", "f1", "r4", "12"),
     "LDS.64[0] LDS.64[8]"},
    {"volatile", "ld.volatile.shared.f32 %f0,[%r4]; ld.volatile.shared.f32 %f1,[%r4+4];",
     "LDS.32[0] LDS.32[4]"},
};

static const struct trial between[] = {
    {"a store", TWO ST("shared.f32", "f9", "r7", "0") FURTHER, "LDS.32[0] STS.32[0] LDS.32[4]"},
    {"a store elsewhere on the same base", TWO ST("shared.f32", "f9", "r4", "64") FURTHER,
     "LDS.32[0] STS.32[64] LDS.32[4]"},
    {"a barrier", TWO "bar.sync 0;" FURTHER, "LDS.32[0] LDS.32[4]"},
    {"a barrier of the warp", TWO "bar.warp.sync -1;" FURTHER, "LDS.32[0] LDS.32[4]"},
    {"a fence", TWO "membar.cta;" FURTHER, "LDS.32[0] LDS.32[4]"},
    {"an atomic", TWO "atom.shared.add.u32 %r5,[%r2+1024],1;" FURTHER, "LDS.32[0] LDS.32[4]"},
    {"a copy", TWO "cp.async.ca.shared.global [%r2+1024],[%d3],16;" FURTHER, "LDS.32[0] LDS.32[4]"},
    {"a shuffle", TWO "shfl.sync.bfly.b32 %f2,%f0,1,31,-1;" FURTHER, "LDS.64[0]"},
    {"ldmatrix", TWO "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5},[%r4];" FURTHER, "LDS.64[0]"},
    {"a store to global memory", TWO ST("global.f32", "f9", "d3", "0") FURTHER,
     "LDS.64[0] STG.32[0]"},
    {"another guard", "setp.eq.s32 %p1,%r0,1;" TWO "@%p1 " FURTHER, "LDS.32[0] LDS.32[4]"},
};

static const struct trial alignments[] = {
    {"16 bytes", F4("r4"), "LDS.128[0]"},
    {"unknown", F4("r7"), "LDS.32[0] LDS.32[4] LDS.32[8] LDS.32[12]"},
    {"8 bytes", "shl.b32 %r3,%r1,3; add.s32 %r8,%r2,%r3;" F4("r8"), "LDS.64[0] LDS.64[8]"},
    {"2 bytes", "shl.b32 %r3,%r1,1; add.s32 %r8,%r2,%r3;" U4("r8", "0", "2", "4", "6"),
     "LDS.16[0] LDS.16[2] LDS.16[4] LDS.16[6]"},
    {"a mask", "and.b32 %r3,%r0,-16; add.s32 %r8,%r2,%r3;" F4("r8"), "LDS.128[0]"},
    {"a product", "mul.lo.s32 %r3,%r0,48; add.s32 %r8,%r2,%r3;" F4("r8"), "LDS.128[0]"},
    {"a product and a sum", "mad.lo.s32 %r8,%r0,16,%r2;" F4("r8"), "LDS.128[0]"},
    {"both factors",
     "shl.b32 %r9,%r0,2; shl.b32 %r5,%r1,2; mul.lo.s32 %r10,%r9,%r5; add.s32 %r8,%r2,%r10;" F4(
         "r8"),
     "LDS.128[0]"},
    {"or, xor",
     "and.b32 %r3,%r0,240; or.b32 %r3,%r3,256; shl.b32 %r5,%r1,4; xor.b32 %r3,%r3,%r5; add.s32 "
     "%r8,%r2,%r3;" F4("r8"),
     "LDS.128[0]"},
    {"one of two", "setp.eq.u32 %p1,%r0,3; selp.b32 %r3,64,32,%p1; add.s32 %r8,%r2,%r3;" F4("r8"),
     "LDS.128[0]"},
    {"64 bits", "cvt.u64.u32 %d8,%r2; mul.wide.u32 %d9,%r0,16; add.s64 %d8,%d8,%d9;" F4("d8"),
     "LDS.128[0]"},
    {"a maximum", "shl.b32 %r3,%r0,4; max.s32 %r3,%r3,0; add.s32 %r8,%r2,%r3;" F4("r8"),
     "LDS.32[0] LDS.32[4] LDS.32[8] LDS.32[12]"},
    {"a shuffled value",
     "shl.b32 %r3,%r0,4; shfl.sync.idx.b32 %r3,%r3,0,31,-1; add.s32 %r8,%r2,%r3;" F4("r8"),
     "LDS.32[0] LDS.32[4] LDS.32[8] LDS.32[12]"},
    {"shifted back", "shl.b32 %r3,%r0,8; shr.u32 %r3,%r3,4; add.s32 %r8,%r2,%r3;" F4("r8"),
     "LDS.32[0] LDS.32[4] LDS.32[8] LDS.32[12]"},
    {"a vector on the same base", F4("r7") "ld.shared.v4.f32 {%f4,%f5,%f6,%f7},[%r7+128];",
     "LDS.128[0] LDS.128[128]"},
    {"a smaller vector", F4("r7") "ld.shared.v2.f32 {%f4,%f5},[%r7+128];",
     "LDS.64[0] LDS.64[8] LDS.64[128]"},
    {"a loop's pointer",
     "add.s32 %r8,%r4,8; mov.u32 %r9,0;\nL:\n" U4(
         "r8", "-8", "-6", "-4",
         "-2") "add.s32 %r8,%r8,16; add.s32 %r9,%r9,1; setp.lt.u32 %p1,%r9,%r0;\n@%p1 bra L;",
     "LDS.64[-8]"},
    {"a loop's pointer, of which zeros alone are known",
     "add.s32 %r8,%r4,2; mov.u32 %r9,0;\nL:\n" U4(
         "r8", "-2", "0", "2",
         "4") "add.s32 %r8,%r8,16; add.s32 %r9,%r9,1; setp.lt.u32 %p1,%r9,%r0;\n@%p1 bra L;",
     "LDS.16[-2] LDS.16[0] LDS.16[2] LDS.16[4]"},
};

static const struct trial sums[] = {
    {"added before", "add.s32 %r5,%r4,4;" TWO "ld.shared.f32 %f1,[%r5];", "LDS.64[0]"},
    {"added to a part", "add.s32 %r5,%r3,4; add.s32 %r6,%r2,%r5;" TWO "ld.shared.f32 %f1,[%r6];",
     "LDS.64[0]"},
    {"the next index",
     "shl.b32 %r8,%r1,1; shl.b32 %r9,%r8,2; add.s32 %r10,%r2,%r9; add.s32 %r5,%r8,1; shl.b32 "
     "%r5,%r5,2; add.s32 %r6,%r2,%r5; ld.shared.f32 %f0,[%r10]; ld.shared.f32 %f1,[%r6];",
     "LDS.64[0]"},
    {"a base that changes",
     "mov.u32 %r8,%r4; ld.shared.f32 %f0,[%r8]; add.s32 %r8,%r8,16; ld.shared.f32 %f1,[%r8+4];",
     "LDS.32[0] LDS.32[4]"},
};

static const struct trial global[] = {
    {"nothing known", G4, "LDG.32[0] LDG.32[4] LDG.32[8] LDG.32[12]"},
    {"a vector behind", G4 V4("128"), "LDG.128[0] LDG.128[128]"},
    {"a vector before", V4("128") G4, "LDG.128[128] LDG.128[0]"},
    {"a vector on a part of the base", "ld.global.v4.f32 {%f4,%f5,%f6,%f7},[%d3];" G4,
     "LDG.128[0] LDG.32[0] LDG.32[4] LDG.32[8] LDG.32[12]"},
    {"a store to shared memory between",
     LD("global.f32", "f0", "d5", "0") ST("shared.f32", "f0", "r7", "0")
         LD("global.f32", "f1", "d5", "4") V4("128"),
     "LDG.64[0] STS.32[0] LDG.128[128]"},
    {"a store to global memory between",
     LD("global.f32", "f0", "d5", "0") ST("global.f32", "f0", "d3", "0")
         LD("global.f32", "f1", "d5", "4") V4("128"),
     "LDG.32[0] STG.32[0] LDG.32[4] LDG.128[128]"},
    {"read-only loads",
     LD("global.nc.f32", "f0", "d5", "0") ST("global.f32", "f0", "d3", "0")
         LD("global.nc.f32", "f1", "d5", "4") V4("128"),
     "LDG.64[0] STG.32[0] LDG.128[128]"},
    {"stores beside a vector",
     ST("global.f32", "f0", "d5", "0") ST("global.f32", "f1", "d5", "4")
         ST("global.f32", "f2", "d5", "8")
             ST("global.f32", "f3", "d5", "12") "st.global.v4.f32 [%d5+128],{%f4,%f5,%f6,%f7};",
     "STG.128[0] STG.128[128]"},
};

#define S2(at, further) ST("shared.f32", "f0", "r4", at) ST("shared.f32", "f1", "r4", further)
static const struct trial stores[] = {
    {"two", S2("0", "4"), "STS.64[0]"},
    {"four", S2("0", "4") S2("8", "12"), "STS.128[0]"},
    {"four in another order", S2("0", "8") S2("12", "4"), "STS.128[0]"},
    {"three", S2("0", "4") ST("shared.f32", "f2", "r4", "8"), "STS.64[0] STS.32[8]"},
    {"of the middle", S2("4", "8"), "STS.32[4] STS.32[8]"},
    {"two and two", S2("0", "4") S2("16", "20"), "STS.64[0] STS.64[16]"},
    {"in turn", S2("0", "128") S2("4", "132"), "STS.32[0] STS.32[128] STS.32[4] STS.32[132]"},
    {"three u16",
     ST("shared.u16", "h0", "r4", "0") ST("shared.u16", "h1", "r4", "2")
         ST("shared.u16", "h2", "r4", "6"),
     "STS.32[0] STS.16[6]"},
    {"vectors", "st.shared.v2.f32 [%r4],{%f0,%f1}; st.shared.v2.f32 [%r4+8],{%f2,%f3};",
     "STS.128[0]"},
    {"a load between",
     ST("shared.f32", "f0", "r4", "0") LD("shared.f32", "f9", "r7", "0")
         ST("shared.f32", "f1", "r4", "4"),
     "STS.32[0] LDS.32[0] STS.32[4]"},
    {"a store between",
     ST("shared.f32", "f0", "r4", "0") ST("shared.f32", "f9", "r7", "0")
         ST("shared.f32", "f1", "r4", "4"),
     "STS.32[0] STS.32[0] STS.32[4]"},
    {"arithmetic between",
     ST("shared.f32", "f0", "r4", "0") "mul.f32 %f2,%f0,%f0;" ST("shared.f32", "f2", "r4", "4"),
     "STS.64[0]"},
};

#define EACH(list)                                                 \
    do {                                                           \
        for (size_t i_ = 0; i_ < sizeof list / sizeof *list; i_++) \
            expect(&list[i_]);                                     \
    } while (0)

static void test_elements(void)
{
    EACH(elements);
}
static void test_between(void)
{
    EACH(between);
}
static void test_alignments(void)
{
    EACH(alignments);
}
static void test_sums(void)
{
    EACH(sums);
}
static void test_global(void)
{
    EACH(global);
}
static void test_stores(void)
{
    EACH(stores);
}

static const struct tap_test tests[] = {
    {"which elements become one load", test_elements},
    {"what may stand between them", test_between},
    {"how far an address is known to be aligned", test_alignments},
    {"addresses that are a constant apart", test_sums},
    {"global memory: a vector says how its base is aligned", test_global},
    {"stores", test_stores},
};

TAP_MAIN("merge", tests)
