/* The whole way of PTX: parsed, lowered, its registers placed, and a small grid of it run, with hazards and counters,
 * within tiny limits. An input is the body of a kernel in which registers already hold something (`frame`), or a
 * module of its own when it begins with .version. What runs leaves other memory alone, ends within its instructions,
 * counts what adds up, says what a terminal may show, and does the same with every set of instructions of this machine.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/hazard.h"
#include "sim/observe.h"
#include "sim/sim.h"

const unsigned fuzz_cost = 100;
const unsigned fuzz_words = 1;

static const char frame[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".extern .shared .align 16 .b8 dyn[];\n.shared .align 16 .b8 tile[1024];\n"
    ".global .align 16 .b8 cell[64] = {1, 2, 3};\n.const .align 16 .f32 table[4] = {1.0, 2.0};\n"
    ".global .align 1 .b8 text[12] = {37, 100, 32, 37, 115, 32, 37, 102, 10, 0};\n" /* %d %s %f\n */
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, "
    ".param .b64 s);\n"
    ".func (.param .b32 fr) twice(.param .b32 fa) { .reg .b32 %q<3>; ld.param.b32 %q1, [fa]; "
    "add.s32 %q2, %q1, %q1; st.param.b32 [fr], %q2; ret; }\n"
    ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .align 8 .b8 ps[16])\n{\n"
    ".local .align 16 .b8 depot[64];\n.reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<24>;\n"
    ".reg .f32 %f<16>;\n.reg .b64 %rd<12>;\n.reg .f64 %d<4>;\n"
    "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 31;\nmov.u32 %r3, tile;\nshl.b32 %r4, %r1, 4;\n"
    "add.s32 %r4, %r3, %r4;\nld.param.u32 %r5, [ps];\nmov.u32 %r6, dyn;\n"
    "ld.param.u64 %rd1, [pa];\nld.param.u64 %rd2, [pb];\nmad.wide.u32 %rd3, %r1, 16, %rd1;\n"
    "mad.wide.u32 %rd4, %r1, 16, %rd2;\nsetp.lt.u32 %p1, %r2, 16;\nsetp.eq.u32 %p2, %r1, 0;\n"
    "setp.lt.u32 %p3, %r1, 32;\nmov.f32 %f1, 0f3FC00000;\ncvt.rn.f32.u32 %f2, %r1;\n"
    "mov.u64 %rd5, depot;\ncvta.local.u64 %rd6, %rd5;\n";
static const char frame_end[] = "\nret;\n}\n";

const char *const fuzz_seeds[] = {
    "mov.u32 %r7, 0;\nL1:\nld.global.f32 %f3, [%rd3];\nfma.rn.f32 %f4, %f3, %f1, %f2;\n"
    "st.global.f32 [%rd4], %f4;\nadd.s32 %r7, %r7, 1;\nsetp.lt.s32 %p4, %r7, 4;\n@%p4 bra L1;",
    "st.shared.v4.f32 [%r4], {%f1, %f2, %f1, %f2};\nbar.sync 0;\nxor.b32 %r7, %r4, 16;\n"
    "ld.shared.v4.f32 {%f3, %f4, %f5, %f6}, [%r7];\nbar.sync 0;\n"
    "st.global.v4.f32 [%rd4], {%f3, %f4, %f5, %f6};",
    "cp.async.cg.shared.global [%r4], [%rd3], 16;\ncp.async.commit_group;\n"
    "cp.async.ca.shared.global.L2::128B [%r4+0], [%rd3], 4, %r5;\ncp.async.commit_group;\n"
    "cp.async.wait_group 1;\ncp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r7, [%r4];",
    "st.shared.v4.u32 [%r4], {%r1, %r2, %r3, %r4};\nbar.sync 0;\nshl.b32 %r7, %r2, 4;\n"
    "add.s32 %r7, %r7, %r3;\n"
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r7];\n"
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r12, %r13}, [%r7];\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6}, {%r8, %r9, %r10, "
    "%r11}, {%r12, %r13}, {%f3, %f4, %f5, %f6};\nst.global.v2.f32 [%rd4], {%f3, %f6};",
    "mov.u32 %r7, 16;\n"
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r8, %r9, %r10, %r11, %r12, %r13, %r14, "
    "%r15}, [%r3], %r7;\n"
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10}, "
    "{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, {%r8, %r9, %r10, %r11, %r12, %r13, %r14, "
    "%r15}, {%f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10};\n"
    "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r3], {%f3, %f4, %f5, %f6, %f7, %f8, %f9, "
    "%f10}, %r7;",
    "shfl.sync.bfly.b32 %r7|%p4, %r1, 16, 31, -1;\nshfl.sync.up.b32 %r8, %r7, 1, 0, -1;\n"
    "shfl.sync.down.b32 %f3, %f2, %r5, 31, -1;\nshfl.sync.idx.b32 _|%p5, %r8, 3, 0x181f, -1;\n"
    "vote.sync.ballot.b32 %r9, %p1, -1;\nvote.sync.any.pred %p6, !%p1, 0xffffffff;\n"
    "redux.sync.add.s32 %r10, %r1, -1;\nmatch.any.sync.b32 %r11, %r5, -1;\n"
    "match.all.sync.b64 %r12|%p4, %rd1, -1;\nactivemask.b32 %r13;\nelect.sync %r14|%p7, -1;\n"
    "bar.warp.sync -1;",
    "@%p2 mbarrier.init.shared.b64 [%r6], 64;\nbar.sync 0;\n"
    "mbarrier.arrive.shared.b64 %rd7, [%r6];\nL1:\n"
    "mbarrier.test_wait.shared.b64 %p4, [%r6], %rd7;\n@!%p4 bra L1;\n"
    "mbarrier.try_wait.parity.shared.b64 %p5, [%r6], 0;\n"
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r6];\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 16;\nmbarrier.inval.shared.b64 [%r6];",
    "atom.global.add.u32 %r7, [%rd1], 1;\natom.shared.cas.b32 %r8, [%r3], %r7, %r1;\n"
    "red.global.add.f32 [%rd2], %f2;\natom.global.max.s64 %rd7, [%rd4], %rd1;\n"
    "atom.shared.exch.b64 %rd8, [%r4], %rd1;\natom.global.add.noftz.f16x2 %r9, [%rd3], %r1;\n"
    "red.shared.inc.u32 [%r6], %r5;\natom.cta.global.dec.u32 %r10, [%rd1+4], 7;\n"
    "red.global.v4.f32.add [%rd3], {%f1, %f2, %f1, %f2};",
    "st.local.u32 [depot], %r1;\nst.local.f64 [depot+16], 0d3FF8000000000000;\n"
    "add.u64 %rd7, %rd6, 8;\nmov.u64 %rd8, text;\ncvta.global.u64 %rd9, %rd8;\n"
    "st.local.u64 [depot+8], %rd9;\n{ .param .b64 x; .param .b64 y; .param .b32 z;\n"
    "st.param.b64 [x], %rd9;\nst.param.b64 [y], %rd6;\ncall.uni (z), vprintf, (x, y);\n"
    "ld.param.b32 %r7, [z]; }",
    "mov.u64 %rd8, text;\n{ .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param "
    ".b64 s;\nst.param.b64 [m], %rd8;\nst.param.b64 [f], %rd1;\nst.param.b32 [l], %r1;\n"
    "st.param.b64 [n], %rd6;\nst.param.b64 [s], 1;\n@%p2 call.uni __assertfail, (m, f, l, n, s); }",
    "st.local.v2.b64 [depot+32], {%rd1, %rd2};\nand.b32 %r7, %r1, 12;\n"
    "cvt.u64.u32 %rd7, %r7;\nadd.u64 %rd7, %rd5, %rd7;\nst.local.u32 [%rd7], %r1;\n"
    "ld.local.v4.u8 {%r8, %r9, %r10, %r11}, [depot];\nld.u32 %r12, [%rd6];\n"
    "ld.local.s16 %r13, [depot+2];",
    "t: .branchtargets A, B, C;\nand.b32 %r7, %r1, 3;\nbrx.idx %r7, t;\n"
    "A: add.s32 %r8, %r8, 1;\n@%p1 bra C;\nB: add.s32 %r8, %r8, 2;\n@%p2 exit;\nC: "
    "st.global.u32 [%rd4], %r8;",
    "bar.arrive 1, 64;\nbar.sync 1, 64;\nbarrier.sync.aligned 2;\n"
    "bar.red.popc.u32 %r7, 0, %p1;\nbarrier.red.and.pred %p4, 3, 64, %p2;\n"
    "bar.red.or.pred %p5, 0, !%p1;\n@%p1 bar.sync 4;\nbarrier.cta.sync %r2, 32;",
    "mov.b32 {%h1, %h2}, %r1;\nadd.f16 %h3, %h1, %h2;\nfma.rn.f16x2 %r7, %r1, %r2, %r3;\n"
    "fma.rn.relu.bf16x2 %r8, %r7, %r1, %r2;\nmul.bf16x2 %r9, %r8, %r7;\nmin.f16x2 %r10, %r9, %r8;\n"
    "setp.gt.f16 %p4, %h1, %h3;\nex2.approx.ftz.bf16x2 %r11, %r10;\ntanh.approx.f16 %h4, %h3;\n"
    "mov.b64 {%h1, %h2, %h3, %h4}, %rd1;\nmov.b32 %r12, {%h4, %h1};\nset.gt.u32.f32 %r13, %f1, "
    "%f2;",
    "cvt.rn.f16.f32 %h1, %f2;\ncvt.f32.f16 %f3, %h1;\ncvt.rn.bf16x2.f32 %r7, %f1, %f2;\n"
    "cvt.rzi.s32.f32 %r8, %f2;\ncvt.rn.f64.s64 %d1, %rd1;\ncvt.rn.f32.f64 %f4, %d1;\n"
    "cvt.sat.u8.s32 %r9, %r1;\ncvt.u64.u32 %rd7, %r1;\ncvt.s64.s16 %rd8, %h1;\n"
    "cvt.rna.tf32.f32 %r10, %f1;\ncvt.rpi.ftz.f32.f32 %f5, %f2;\ncvt.u32.u64 %r11, %rd7;\n"
    "cvt.rmi.u64.f64 %rd9, %d1;\ncvt.rn.relu.f16.f32 %h2, %f4;",
    "div.s64 %rd7, %rd1, %rd2;\nrem.u32 %r7, %r1, %r5;\nmul.hi.s32 %r8, %r1, %r3;\n"
    "bfe.u32 %r9, %r1, 2, 40;\nbfi.b64 %rd8, %rd1, %rd2, %r1, %r2;\nshf.l.wrap.b32 %r10, %r1, %r2, "
    "%r3;\nprmt.b32 %r11, %r1, %r2, 0x5410;\nlop3.b32 %r12, %r1, %r2, %r3, 0x96;\n"
    "add.cc.u32 %r13, %r1, -1;\naddc.u32 %r14, %r2, 0;\nshl.b64 %rd9, %rd1, %r3;\n"
    "shr.s32 %r15, %r1, %r2;\nmad.hi.u64 %rd10, %rd1, %rd2, %rd3;\ndp4a.s32.u32 %r16, %r1, %r2, "
    "%r3;\nclz.b64 %r17, %rd1;\nbfind.s32 %r18, %r1;\nabs.s32 %r19, %r1;\nneg.s64 %rd11, %rd1;",
    "cvta.to.global.u64 %rd7, %rd1;\ncvt.u64.u32 %rd8, %r3;\ncvta.shared.u64 %rd8, %rd8;\n"
    "isspacep.shared %p4, %rd8;\nisspacep.const %p5, %rd7;\nst.u32 [%rd8], %r1;\n"
    "ld.u64 %rd9, [%rd6];\nld.v2.u32 {%r7, %r8}, [%rd3];\natom.add.u32 %r9, [%rd8], 1;\n"
    "selp.b64 %rd10, %rd8, %rd7, %p1;\nst.u32 [%rd10], %r1;\nld.u32 %r10, [%rd10];",
    "mov.u64 %rd7, pa;\nld.param.u64 %rd8, [%rd7+8];\nld.param.v2.u32 {%r7, %r8}, [ps+8];\n"
    "ld.const.v4.f32 {%f3, %f4, %f5, %f6}, [table];\nld.global.nc.L1::no_allocate.v4.u32 {%r9, "
    "%r10, %r11, %r12}, [%rd3];\nld.global.u8 %r13, [cell+2];\nst.global.cs.b8 [cell+63], %r13;\n"
    "ld.volatile.shared.u32 %r14, [tile];\nprefetch.global.L2 [%rd1];",
    "{ .param .b32 x; .param .b32 y;\nst.param.b32 [x], %r1;\ncall.uni (y), twice, (x);\n"
    "ld.param.b32 %r7, [y]; }\nst.global.u32 [%rd4], %r7;",
    "st.shared.v4.u32 [%r4], {%r1, %r2, %r3, %r4};\nfence.proxy.async;\nbar.sync 0;\n"
    "mov.b64 %rd7, 0x4000001000010000;\nsetp.eq.u32 %p4, 0, 0;\nwgmma.fence.sync.aligned;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f3, %f4, %f5, %f6}, %rd7, %rd7, %p4, 1, "
    "1, 0, 1;\nwgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%r8, %r9, %r10, %r11}, {%r12, "
    "%r13, %r14, %r15}, %rd7, %p1, -1, 1, 0;\nwgmma.commit_group.sync.aligned;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f3, %f4, %f5, %f6}, {%r12, %r13, %r14, "
    "%r15}, %rd7, %p4, 1, -1, 1;\nwgmma.commit_group.sync.aligned;\n"
    "wgmma.wait_group.sync.aligned 1;\nadd.s32 %r8, %r8, %r12;\nwgmma.wait_group.sync.aligned "
    "0;\nst.global.f32 [%rd4], %f3;\nsetmaxnreg.dec.sync.aligned.u32 40;",
    "@%p2 mbarrier.init.shared.b64 [%r6], 1;\nfence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
    "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 64;\n"
    "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 64, "
    "[%r6];\nL1: mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0;\n@!%p4 bra L1;\n"
    "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 16;\n"
    "@%p2 st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [tile], {%r1, %r2, %r1, "
    "%r2}, [%r6];\nL2: mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 1;\n@!%p4 bra L2;\n"
    "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 32;\n"
    "@%p2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [tile], 32;\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;",
    "@!%p2 bra L2;\nst.global.u64 [%rd1], 0x70616d726f736e74;\nst.global.u64 [%rd1+8], %rd2;\n"
    "st.global.u64 [%rd1+16], 32;\nst.global.u64 [%rd1+24], 64;\nst.global.u64 [%rd1+32], 0;\n"
    "st.global.u64 [%rd1+40], 0;\nst.global.v4.u32 [%rd1+48], {16, 2, 1, 1};\n"
    "st.global.u32 [%rd1+64], 1;\nst.global.u32 [%rd1+68], 0x20010;\nst.global.u32 [%rd1+72], "
    "0x10001;\nst.global.u32 [%rd1+76], 0x02020001;\nst.global.u32 [%rd1+80], 32;\n"
    "mbarrier.init.shared.b64 [%r6], 1;\nfence.proxy.async;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 64;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], "
    "[%rd1, {%r2, -1}], [%r6];\nL1: mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0;\n"
    "@!%p4 bra L1;\ncp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {0, 0}], "
    "[tile];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nL2: bar.sync 0;",
    "mov.f64 %d1, 0d4000000000000000;\nfma.rn.f64 %d2, %d1, %d1, %d1;\nsqrt.rn.f64 %d3, %d2;\n"
    "div.rn.f64 %d1, %d3, %d2;\nsqrt.approx.ftz.f32 %f3, %f2;\nrcp.rn.f32 %f4, %f2;\n"
    "div.full.f32 %f5, %f4, %f3;\nex2.approx.ftz.f32 %f6, %f2;\nlg2.approx.f32 %f7, %f6;\n"
    "sin.approx.f32 %f8, %f2;\nrsqrt.approx.f32 %f9, %f2;\nmax.NaN.f32 %f10, %f9, %f8;\n"
    "copysign.f32 %f11, %f1, %f2;\ntestp.finite.f32 %p4, %f9;\nadd.rz.ftz.f32 %f12, %f1, %f2;",
    "mov.u32 %r7, %r2;\nL1:\nmov.u32 %r8, 0;\nL2:\nadd.s32 %r8, %r8, 1;\nsetp.ge.u32 %p4, %r8, "
    "%r7;\n@%p4 bra L3;\n@%p1 bra L2;\nL3:\nsub.u32 %r7, %r7, 5;\nsetp.gt.s32 %p5, %r7, 0;\n"
    "@%p5 bra L1;\nst.global.u32 [%rd4], %r8;",
    "mov.u32 %r7, %ctaid.x;\nmov.u32 %r8, %nctaid.x;\nmov.u32 %r9, %laneid;\nmov.u32 %r10, "
    "%lanemask_lt;\nmov.u64 %rd7, %clock64;\nmov.u32 %r11, %nsmid;\nmov.u32 %r12, "
    "%dynamic_smem_size;\nsetp.eq.u32 %p4, %r7, 1;\n@%p4 st.global.u32 [%rd1], %r9;\n"
    "mov.pred %p5, %p4;\nand.pred %p6, %p5, !%p1;\nselp.f32 %f3, %f1, %f2, %p6;",
    "L1:\natom.acquire.gpu.global.cas.b32 %r7, [%rd2], 0, 1;\nsetp.ne.u32 %p4, %r7, 0;\n"
    "@%p4 bra L1;\nld.acquire.gpu.global.u32 %r8, [%rd1];\nadd.u32 %r8, %r8, 1;\n"
    "st.relaxed.cta.global.u32 [%rd1], %r8;\nfence.acq_rel.gpu;\nmembar.cta;\n"
    "st.release.gpu.global.u32 [%rd2], 0;",
    "@%p1 trap;\n@!%p3 exit;\n@%p2 bra L1;\nret;\nL1:\nst.global.u64 [%rd2+1016], %rd1;\n"
    "ld.global.u32 %r7, [%rd2+1024];\nst.shared.u32 [%r3+-4], %r1;\nld.shared.u32 %r8, [%r4+2];\n"
    "st.const.u32 [table], %r1;\nld.local.u32 %r9, [depot+60];",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f3, %f4, %f5, %f6}, {%r1, %r2, %r3, "
    "%r4}, {%r5, %r6}, {%f3, %f4, %f5, %f6};\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f3, %f4, %f5, %f6}, {%r1, %r2, %r3, "
    "%r4}, {%r5, %r6}, {%f3, %f4, %f5, %f6};\n"
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r7, %r8}, {%r1, %r2, %r3, %r4}, {%r5, "
    "%r6}, {%r7, %r8};\n"
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r9, %r10, %r11, %r12}, {%r1, %r2, %r3, "
    "%r4}, {%r5, %r6}, {%r9, %r10, %r11, %r12};",
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 pa)\n{\n"
    ".reg .b64 %rd<3>;\n.reg .b32 %r<3>;\n.shared .align 4 .b32 s[8];\nld.param.u64 %rd1, [pa];\n"
    "ld.shared.u32 %r1, [s+4];\nst.global.u32 [%rd1], %r1;\nret;\n}\n",
    NULL,
};

const char *const fuzz_tokens[] = {"@%p1 ",
                                   "@!%p2 ",
                                   "@%p4 bra L1;",
                                   "bra.uni L1;",
                                   "L1:",
                                   "L2:",
                                   "L3:",
                                   "bra L2;",
                                   "bra L3;",
                                   "brx.idx %r1, t;",
                                   "exit;",
                                   "ret;",
                                   "trap;",
                                   "bar.sync 0;",
                                   "bar.sync 1, 32;",
                                   "bar.warp.sync ",
                                   "bar.arrive 1, 64;",
                                   "barrier.sync ",
                                   "bar.red.popc.u32 ",
                                   "ld.",
                                   "st.",
                                   "ld.param.",
                                   "ld.global.nc.",
                                   "atom.",
                                   "red.",
                                   "atom.shared.",
                                   ".global",
                                   ".shared",
                                   ".local",
                                   ".const",
                                   ".param",
                                   ".v2",
                                   ".v4",
                                   ".v8",
                                   ".u8",
                                   ".s8",
                                   ".b16",
                                   ".u16",
                                   ".s16",
                                   ".b32",
                                   ".u32",
                                   ".s32",
                                   ".b64",
                                   ".u64",
                                   ".s64",
                                   ".f16",
                                   ".f16x2",
                                   ".bf16",
                                   ".bf16x2",
                                   ".f32",
                                   ".f64",
                                   ".pred",
                                   ".add",
                                   ".min",
                                   ".max",
                                   ".cas",
                                   ".exch",
                                   ".inc",
                                   ".and",
                                   ".cta",
                                   ".gpu",
                                   ".relaxed",
                                   ".acquire",
                                   ".release",
                                   ".volatile",
                                   ".rn",
                                   ".rz",
                                   ".rzi",
                                   ".sat",
                                   ".ftz",
                                   ".relu",
                                   ".wide",
                                   ".lo",
                                   ".hi",
                                   ".approx",
                                   ".sync",
                                   ".x1",
                                   ".x2",
                                   ".trans",
                                   ".row",
                                   ".col",
                                   ".m16n16k16",
                                   ".m8n32k16",
                                   ".m16n8k8",
                                   ".tf32",
                                   ".cg",
                                   ".ca",
                                   ".noinc",
                                   ".parity",
                                   ".arrive",
                                   ".expect_tx",
                                   "cvt.",
                                   "mov.",
                                   "setp.lt.",
                                   "selp.",
                                   "shfl.sync.idx.b32 ",
                                   "vote.sync.all.pred ",
                                   "mma.sync.aligned.",
                                   "cp.async.wait_group 0;",
                                   "cp.async.commit_group;",
                                   "mbarrier.",
                                   "call.uni ",
                                   "vprintf",
                                   "twice",
                                   "%r1",
                                   "%r2",
                                   "%r4",
                                   "%r7",
                                   "%rd1",
                                   "%rd4",
                                   "%rd6",
                                   "%p1",
                                   "!%p1",
                                   "%f1",
                                   "%h1",
                                   "%d1",
                                   "_",
                                   "%tid.x",
                                   "%laneid",
                                   "%clock64",
                                   "tile",
                                   "dyn",
                                   "cell",
                                   "table",
                                   "text",
                                   "depot",
                                   "pa",
                                   "-1",
                                   "0",
                                   "1",
                                   "7",
                                   "16",
                                   "32",
                                   "0xffffffff",
                                   "0x80000000",
                                   "2147483647",
                                   "-2147483648",
                                   "18446744073709551615",
                                   "0f7F800000",
                                   "0f7FC00000",
                                   "0d7FF0000000000000",
                                   "1099511627776",
                                   "[%r4+-8]",
                                   "[%rd1+-8]",
                                   "[%r6+252]",
                                   "[%r1]",
                                   "[0]",
                                   "[%rd3+1]",
                                   "{%r1, %r2}",
                                   ".reg .b32 %z<4>;",
                                   ".reg .b64 %z<9999>;",
                                   ".shared .align 8 .b64 s2[4];",
                                   ".local .align 8 .b8 l2[4096];",
                                   "{",
                                   "}",
                                   ";",
                                   ",",
                                   "(",
                                   ")",
                                   NULL};

/* ---- the grid ---- */

enum {
    BYTES = 1024,
    GUARD = 64,
    CANARY = 0x5a,
    TEXT_MAX = 300,
    STEPS = 4000,
    BLOCKS = 2,
    WATCHED = 4096
};

struct arena { /* an allocation of the kernel's, with guards on both sides */
    uint8_t before[GUARD], bytes[BYTES], after[GUARD];
};

struct scene {
    struct sim_memory *memory;
    struct arena a, b;
    struct {
        uint64_t a, b;
        uint32_t n[4];
    } params;
    struct sim_result r;
    enum status st;
    struct err err;
};

static void fill(struct arena *x, unsigned from)
{
    memset(x, CANARY, sizeof *x);
    for (unsigned i = 0; i < BYTES; i++)
        x->bytes[i] = (uint8_t)(from + i * 7 + (i >> 6));
}

static bool intact(const struct arena *x)
{
    bool same = true;
    for (int i = 0; i < GUARD; i++)
        same &= x->before[i] == CANARY && x->after[i] == CANARY;
    return same;
}

/* On the best instruction set (isa NULL) all is looked at, which must change nothing. */
static void scene_run(struct scene *s, const struct sim_program *p, const char *isa, uint32_t how)
{
    static const uint32_t threads[] = {32, 48, 64, 64};
    static const int capabilities[] = {90, 89, 0, 75}; /* how sums of tensor cores are made */
    const bool warpgroup = sim_program_facts(p).wgmma_insns > 0;
    const struct sim_launch l = {.grid = {BLOCKS, 1, 1},
                                 .block = {warpgroup ? 128 : threads[how & 3], 1, 1},
                                 .dynamic_shared = 256,
                                 .shared_limit = 65536,
                                 .multiprocessors = 4,
                                 .cc = capabilities[how & 3],
                                 .params = &s->params,
                                 .param_bytes = sizeof s->params};
    bool wanted[WATCHED];
    memset(wanted, true, sizeof wanted);
    const struct sim_observe look = {
        .block = how >> 6 & 1, .warp = SIM_ANY_WARP, .insn = wanted, .most = 200};
    const bool looks = sim_program_facts(p).insns <= WATCHED && !isa && (how & 56) != 8;
    const struct sim_options o = {.threads = 1,
                                  .observe = looks ? &look : NULL,
                                  .hazards = how & 4,
                                  .no_counters = (how & 56) == 8,
                                  .l2_bytes = how & 8 ? 16384 : 0,
                                  .max_instructions = STEPS,
                                  .max_memory = 16 << 20,
                                  .max_marks = 1 << 20,
                                  .quantum = how & 16 ? 50 : 0,
                                  .seed = how & 32 ? how : 0,
                                  .max_faults = 8,
                                  .max_printf = TEXT_MAX};
    fill(&s->a, 1);
    fill(&s->b, 100);
    s->err = ERR_INIT;
    s->r = (struct sim_result){0};
    s->memory = sim_memory_new(1 << 20);
    for (uint32_t i = 0; i < 4; i++) /* all of them: two runs are compared */
        s->params.n[i] = i ? 16 * i : 3;
    s->st = sim_memory_map(s->memory, "a", s->a.bytes, BYTES, true, &s->params.a, &s->err);
    if (s->st == ST_OK)
        s->st = sim_memory_map(s->memory, "b", s->b.bytes, BYTES, false, &s->params.b, &s->err);
    if (s->st == ST_OK && sim_force_isa(isa))
        s->st = sim_run(p, s->memory, &l, &o, &s->r, &s->err);
}

static void scene_clear(struct scene *s)
{
    sim_result_clear(&s->r);
    sim_memory_free(s->memory);
}

/* ---- what must hold ---- */

static int check_words(const char *text, bool lines, const char *what)
{
    for (const char *c = text; *c; c++)
        if ((*c >= 0 && *c < ' ' && !(lines && (*c == '\n' || *c == '\t'))) || *c == 0x7f)
            return fuzz_broken("byte %d in %s: %s", *c, what, text);
    return 0;
}

static int check_counts(const struct scene *s)
{
    const struct sim_result *r = &s->r;
    struct sim_counts sum = {0}, phases = {0};
    const struct sim_counts *t = &r->total;
    for (size_t i = 0; i < r->insns; i++)
        sim_counts_add(&sum, &r->insn[i]);
    for (size_t i = 0; i < r->phases; i++)
        sim_counts_add(&phases, &r->phase[i].counts);
    if (sum.executions != t->executions || sum.smem_wavefronts != t->smem_wavefronts)
        return fuzz_broken("instructions do not add up");
    if (phases.lanes != t->lanes || phases.executions != t->executions ||
        phases.global_sectors != t->global_sectors)
        return fuzz_broken("phases do not add up: %" PRIu64 " of %" PRIu64 ", lanes %" PRIu64
                           " of %" PRIu64,
                           phases.executions, t->executions, phases.lanes, t->lanes);
    if (t->lanes > 32 * t->executions || t->smem_wavefronts < t->smem_wavefronts_ideal ||
        t->global_sectors < t->global_sectors_ideal)
        return fuzz_broken("better than the ideal");
    if (t->executions > (uint64_t)BLOCKS * (STEPS + 65536ull) || r->blocks_run > BLOCKS)
        return fuzz_broken("%" PRIu64 " instructions", t->executions);
    return 0;
}

static int check_findings(const struct scene *s, const struct sim_program *p)
{
    const struct sim_launch l = {.grid = {BLOCKS, 1, 1}, .block = {64, 1, 1}};
    int broken = 0;
    for (size_t i = 0; i < s->r.faults && !broken; i++) {
        char *text = sim_fault_sentence(p, s->memory, &l, &s->r.fault[i]);
        broken = !*text ? fuzz_broken("a fault without a sentence")
                        : check_words(text, false, "a sentence");
        if (s->r.fault[i].block >= BLOCKS || s->r.fault[i].insn > s->r.insns)
            broken = fuzz_broken("a fault of no block or instruction: %s", text);
        free(text);
    }
    for (size_t i = 0; i < s->r.hazards && !broken; i++)
        if (s->r.hazard[i].a.insn > s->r.insns || s->r.hazard[i].b.insn > s->r.insns ||
            s->r.hazard[i].a.lane > 31 || s->r.hazard[i].b.lane > 31)
            broken = fuzz_broken("a hazard of no instruction or lane");
    return broken;
}

/* What was seen is of what was counted. */
static int check_seen(const struct scene *s)
{
    uint64_t wavefronts = 0, sectors = 0;
    for (size_t i = 0; i < s->r.nseen; i++) {
        const struct sim_seen *e = &s->r.seen[i];
        if (e->insn >= s->r.insns || e->warp < 0 || e->warp > 3 || !e->turn || e->mask & ~e->active)
            return fuzz_broken("seen: instruction %zu, warp %d, lanes %x of %x", e->insn, e->warp,
                               e->mask, e->active);
        for (size_t k = 0; k < e->accesses; k++) {
            const struct sim_access *a = &e->access[k];
            const bool shared = a->space == SIM_SHARED;
            if (!a->mask || a->cost < a->ideal || (!shared && a->space != SIM_GLOBAL))
                return fuzz_broken("seen: an access of lanes %x, cost %u", a->mask, a->cost);
            wavefronts += shared ? a->cost : 0;
            sectors += shared ? 0 : a->cost;
        }
        for (size_t k = 0; k < e->regs; k++)
            if (!e->reg[k].name || !e->reg[k].type || !(e->reg[k].read || e->reg[k].written))
                return fuzz_broken("seen: a register that is nobody's");
    }
    if (wavefronts > s->r.total.smem_wavefronts || sectors > s->r.total.global_sectors)
        return fuzz_broken("seen: more wavefronts or sectors than were counted");
    return 0;
}

static int check_scene(const struct scene *s, const struct sim_program *p)
{
    if (s->st != ST_OK && !*s->err.text)
        return fuzz_broken("status %d without a sentence", s->st);
    if (!intact(&s->a) || !intact(&s->b))
        return fuzz_broken("it wrote beside its memory");
    if (s->r.printf_text && strlen(s->r.printf_text) > TEXT_MAX)
        return fuzz_broken("%zu bytes were printed", strlen(s->r.printf_text));
    if (check_words(s->err.text, false, "a sentence") ||
        (s->r.printf_text && check_words(s->r.printf_text, true, "what it printed")))
        return 1;
    return s->st == ST_OK ? check_counts(s) || check_seen(s) || check_findings(s, p) : 0;
}

/* Every set of instructions does the same. */
static int check_alike(const struct scene *x, const struct scene *y)
{
    if (x->st != y->st)
        return fuzz_broken("status %d, %d", x->st, y->st);
    if (x->st != ST_OK)
        return 0;
    for (int k = 0; k < SIM_COUNT_COUNT; k++)
        if (sim_count_get(&x->r.total, k) != sim_count_get(&y->r.total, k))
            return fuzz_broken("%s: %" PRIu64 ", %" PRIu64, sim_count_name(k),
                               sim_count_get(&x->r.total, k), sim_count_get(&y->r.total, k));
    if (x->r.faults != y->r.faults || x->r.hazards != y->r.hazards)
        return fuzz_broken("%zu and %zu faults, %zu and %zu hazards", x->r.faults, y->r.faults,
                           x->r.hazards, y->r.hazards);
    for (unsigned i = 0; i < BYTES; i++)
        if (x->a.bytes[i] != y->a.bytes[i] || x->b.bytes[i] != y->b.bytes[i])
            return fuzz_broken("byte %u: %02x %02x, %02x %02x", i, x->a.bytes[i], x->b.bytes[i],
                               y->a.bytes[i], y->b.bytes[i]);
    return 0;
}

static int run_program(const struct sim_program *p, uint32_t how)
{
    struct scene x, y;
    const struct sim_facts f = sim_program_facts(p);
    for (size_t i = 0; i < f.insns && i < 8; i++) {
        char *line = sim_program_ptx_line(p, sim_program_insn(p, i).ptx_line);
        const int broken = check_words(line, false, "a line");
        free(line);
        if (broken)
            return 1;
    }
    scene_run(&x, p, NULL, how);
    int broken = check_scene(&x, p);
    if (!broken && how % 5 == 0) {
        scene_run(&y, p, "generic", how);
        broken = check_alike(&x, &y);
        scene_clear(&y);
    }
    scene_clear(&x);
    return broken;
}

/* As the input has it, or within the frame. The caller frees it. */
static char *module_of(const uint8_t *data, size_t size, size_t *len)
{
    const char *text = (const char *)data;
    struct str s = {0};
    if (size >= 8 && !memcmp(text, ".version", 8))
        str_addn(&s, text, size);
    else {
        str_add(&s, frame);
        str_addn(&s, text, size);
        str_add(&s, frame_end);
    }
    *len = s.len;
    return str_take(&s);
}

static uint32_t hash_of(const uint8_t *data, size_t size)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * 16777619u;
    return h ^ h >> 15;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct sim_program *p = (struct sim_program *)(uintptr_t)data; /* must be overwritten */
    struct err err = ERR_INIT;
    size_t len;
    char *text = module_of(data, size, &len);
    const enum status st = sim_program_new(text, len, "k", &p, &err);
    int broken = 0;
    if (st == ST_OK)
        broken = run_program(p, hash_of(data, size));
    else if (st != ST_USAGE || p || !*err.text)
        broken = fuzz_broken("status %d: %s", st, err.text);
    else
        broken = check_words(err.text, false, "a refusal");
    free(text);
    sim_program_free(st == ST_OK ? p : NULL);
    return broken;
}
