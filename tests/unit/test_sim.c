/* The simulator's instructions: each with operands and the result that the PTX manual's definition gives, on every
 * instruction set that this machine has, for all lanes and for every third.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/sim.h"

#define F1    0x3f800000u
#define F2    0x40000000u
#define F3    0x40400000u
#define FHALF 0x3f000000u
#define FINF  0x7f800000u
#define FNAN  0x7fffffffu
#define MINUS 0x80000000u
#define TINY  0x00000001u /* the smallest subnormal */
#define D1    0x3ff0000000000000u
#define D2    0x4000000000000000u
#define D3    0x4008000000000000u

struct values {
    uint64_t in[4], want;
};

/* The text has $d for the result and $a $b $c $e for sources; the signature a letter for each, the result first: h w d
 * registers of 16, 32, 64 bits, p predicates. */
// clang-format off
static const struct form {
    const char *text, *signature;
    struct values cases[4];
} forms[] = {
    /* integers */
    {"add.s32 $d, $a, $b;", "www", {{{1, 2}, 3}, {{UINT32_MAX, 1}, 0}, {{0x7fffffff, 1}, 0x80000000}, {{5, 0xfffffffb}, 0}}},
    {"add.u64 $d, $a, $b;", "ddd", {{{UINT64_MAX, 2}, 1}, {{1ull << 32, 1}, (1ull << 32) + 1}, {{3, 4}, 7}, {{0, 0}, 0}}},
    {"add.s16 $d, $a, $b;", "hhh", {{{0xffff, 1}, 0}, {{0x7fff, 1}, 0x8000}, {{1, 2}, 3}, {{0, 0}, 0}}},
    {"add.sat.s32 $d, $a, $b;", "www", {{{0x7fffffff, 1}, 0x7fffffff}, {{0x80000000, UINT32_MAX}, 0x80000000}, {{1, 2}, 3}, {{5, 0xfffffffb}, 0}}},
    {"sub.s32 $d, $a, $b;", "www", {{{1, 2}, UINT32_MAX}, {{7, 3}, 4}, {{0, 0x80000000}, 0x80000000}, {{0, 0}, 0}}},
    {"sub.sat.s32 $d, $a, $b;", "www", {{{0x80000000, 1}, 0x80000000}, {{0x7fffffff, UINT32_MAX}, 0x7fffffff}, {{1, 2}, UINT32_MAX}, {{0, 0}, 0}}},
    {"add.s32 $d, $a, -7;", "ww", {{{7}, 0}, {{0}, 0xfffffff9}, {{1}, 0xfffffffa}, {{100}, 93}}},
    {"mul.lo.s32 $d, $a, $b;", "www", {{{UINT32_MAX, UINT32_MAX}, 1}, {{0x10000, 0x10000}, 0}, {{7, 6}, 42}, {{UINT32_MAX, 3}, 0xfffffffd}}},
    {"mul.hi.s32 $d, $a, $b;", "www", {{{UINT32_MAX, UINT32_MAX}, 0}, {{0x10000, 0x10000}, 1}, {{UINT32_MAX, 3}, UINT32_MAX}, {{0x80000000, 2}, UINT32_MAX}}},
    {"mul.hi.u32 $d, $a, $b;", "www", {{{UINT32_MAX, UINT32_MAX}, 0xfffffffe}, {{0x10000, 0x10000}, 1}, {{3, 4}, 0}, {{0x80000000, 2}, 1}}},
    {"mul.hi.s64 $d, $a, $b;", "ddd", {{{UINT64_MAX, 5}, UINT64_MAX}, {{1ull << 32, 1ull << 33}, 2}, {{3, 4}, 0}, {{1ull << 63, 2}, UINT64_MAX}}},
    {"mul.hi.u64 $d, $a, $b;", "ddd", {{{UINT64_MAX, 5}, 4}, {{1ull << 32, 1ull << 33}, 2}, {{3, 4}, 0}, {{1ull << 63, 2}, 1}}},
    {"mul.wide.s32 $d, $a, $b;", "dww", {{{UINT32_MAX, 5}, (uint64_t)-5}, {{0x10000, 0x10000}, 1ull << 32}, {{3, 4}, 12}, {{0x80000000, 2}, 0xffffffff00000000}}},
    {"mul.wide.u32 $d, $a, $b;", "dww", {{{UINT32_MAX, 5}, 0x4fffffffb}, {{0x10000, 0x10000}, 1ull << 32}, {{3, 4}, 12}, {{0x80000000, 2}, 1ull << 32}}},
    {"mul.wide.s16 $d, $a, $b;", "whh", {{{0xffff, 5}, 0xfffffffb}, {{0x100, 0x100}, 0x10000}, {{3, 4}, 12}, {{0x8000, 2}, 0xffff0000}}},
    {"mul.wide.u16 $d, $a, $b;", "whh", {{{0xffff, 5}, 0x4fffb}, {{0x100, 0x100}, 0x10000}, {{3, 4}, 12}, {{0x8000, 2}, 0x10000}}},
    {"mad.lo.s32 $d, $a, $b, $c;", "wwww", {{{3, 4, 5}, 17}, {{UINT32_MAX, 3, 1}, 0xfffffffe}, {{0, 9, 7}, 7}, {{0x10000, 0x10000, 1}, 1}}},
    {"mad.hi.u32 $d, $a, $b, $c;", "wwww", {{{0x10000, 0x10000, 5}, 6}, {{3, 4, 5}, 5}, {{UINT32_MAX, UINT32_MAX, 2}, 0}, {{0, 0, 0}, 0}}},
    {"mad.wide.s32 $d, $a, $b, $c;", "dwwd", {{{UINT32_MAX, 5, 10}, 5}, {{0x10000, 0x10000, 1}, (1ull << 32) + 1}, {{3, 4, 5}, 17}, {{0, 0, UINT64_MAX}, UINT64_MAX}}},
    {"mul24.lo.s32 $d, $a, $b;", "www", {{{0x00ffffff, 2}, 0xfffffffe}, {{0x01000003, 2}, 6}, {{5, 6}, 30}, {{0x7fffff, 1}, 0x7fffff}}},
    {"mad24.lo.u32 $d, $a, $b, $c;", "wwww", {{{0x01000003, 2, 1}, 7}, {{5, 6, 7}, 37}, {{0xffffff, 1, 1}, 0x1000000}, {{0, 0, 3}, 3}}},
    {"div.s32 $d, $a, $b;", "www", {{{0xfffffff9, 2}, 0xfffffffd}, {{7, 0xfffffffe}, 0xfffffffd}, {{100, 7}, 14}, {{0x80000000, UINT32_MAX}, 0x80000000}}},
    {"div.u32 $d, $a, $b;", "www", {{{0xfffffff9, 2}, 0x7ffffffc}, {{7, 2}, 3}, {{100, 7}, 14}, {{3, 4}, 0}}},
    {"rem.s32 $d, $a, $b;", "www", {{{0xfffffff9, 2}, UINT32_MAX}, {{7, 0xfffffffe}, 1}, {{100, 7}, 2}, {{0x80000000, UINT32_MAX}, 0}}},
    {"rem.u64 $d, $a, $b;", "ddd", {{{(1ull << 40) + 5, 1ull << 40}, 5}, {{7, 2}, 1}, {{100, 7}, 2}, {{3, 4}, 3}}},
    {"div.s64 $d, $a, $b;", "ddd", {{{(uint64_t)-7, 2}, (uint64_t)-3}, {{1ull << 40, 1ull << 20}, 1 << 20}, {{100, 7}, 14}, {{3, 4}, 0}}},
    {"sad.s32 $d, $a, $b, $c;", "wwww", {{{UINT32_MAX, 2, 10}, 13}, {{2, UINT32_MAX, 10}, 13}, {{5, 5, 1}, 1}, {{9, 4, 0}, 5}}},
    {"min.s32 $d, $a, $b;", "www", {{{UINT32_MAX, 1}, UINT32_MAX}, {{3, 2}, 2}, {{0x80000000, 0}, 0x80000000}, {{7, 7}, 7}}},
    {"min.u32 $d, $a, $b;", "www", {{{UINT32_MAX, 1}, 1}, {{3, 2}, 2}, {{0x80000000, 0}, 0}, {{7, 7}, 7}}},
    {"max.s64 $d, $a, $b;", "ddd", {{{UINT64_MAX, 1}, 1}, {{3, 2}, 3}, {{1ull << 63, 0}, 0}, {{7, 7}, 7}}},
    {"max.u64 $d, $a, $b;", "ddd", {{{UINT64_MAX, 1}, UINT64_MAX}, {{3, 2}, 3}, {{1ull << 63, 0}, 1ull << 63}, {{7, 7}, 7}}},
    {"max.s16 $d, $a, $b;", "hhh", {{{0xffff, 1}, 1}, {{3, 2}, 3}, {{0x8000, 0}, 0}, {{7, 7}, 7}}},
    {"and.b32 $d, $a, $b;", "www", {{{0xff00ff00, 0x0ff00ff0}, 0x0f000f00}, {{1, 2}, 0}, {{3, 1}, 1}, {{0, 0}, 0}}},
    {"or.b64 $d, $a, $b;", "ddd", {{{0xff00ff00, 1ull << 63}, 0x80000000ff00ff00}, {{1, 2}, 3}, {{3, 1}, 3}, {{0, 0}, 0}}},
    {"xor.b16 $d, $a, $b;", "hhh", {{{0xff00, 0x0ff0}, 0xf0f0}, {{1, 2}, 3}, {{3, 1}, 2}, {{7, 7}, 0}}},
    {"not.b32 $d, $a;", "ww", {{{0}, UINT32_MAX}, {{0xff00ff00}, 0x00ff00ff}, {{1}, 0xfffffffe}, {{UINT32_MAX}, 0}}},
    {"not.b16 $d, $a;", "hh", {{{0}, 0xffff}, {{0xff00}, 0xff}, {{1}, 0xfffe}, {{0xffff}, 0}}},
    {"cnot.b32 $d, $a;", "ww", {{{0}, 1}, {{5}, 0}, {{1}, 0}, {{UINT32_MAX}, 0}}},
    {"neg.s32 $d, $a;", "ww", {{{1}, UINT32_MAX}, {{0x80000000}, 0x80000000}, {{0}, 0}, {{UINT32_MAX}, 1}}},
    {"abs.s32 $d, $a;", "ww", {{{UINT32_MAX}, 1}, {{5}, 5}, {{0}, 0}, {{0xfffffff0}, 16}}},
    {"shl.b32 $d, $a, $b;", "www", {{{1, 31}, 0x80000000}, {{1, 32}, 0}, {{3, 4}, 48}, {{1, UINT32_MAX}, 0}}},
    {"shr.u32 $d, $a, $b;", "www", {{{0x80000000, 31}, 1}, {{UINT32_MAX, 32}, 0}, {{48, 4}, 3}, {{1, UINT32_MAX}, 0}}},
    {"shr.s32 $d, $a, $b;", "www", {{{0x80000000, 31}, UINT32_MAX}, {{0x80000000, 99}, UINT32_MAX}, {{48, 4}, 3}, {{1, 99}, 0}}},
    {"shl.b64 $d, $a, $b;", "ddw", {{{1, 63}, 1ull << 63}, {{1, 64}, 0}, {{3, 4}, 48}, {{1, 32}, 1ull << 32}}},
    {"shr.s64 $d, $a, $b;", "ddw", {{{1ull << 63, 63}, UINT64_MAX}, {{1ull << 63, 99}, UINT64_MAX}, {{48, 4}, 3}, {{1, 99}, 0}}},
    {"shr.s16 $d, $a, $b;", "hhw", {{{0x8000, 15}, 0xffff}, {{0x8000, 99}, 0xffff}, {{48, 4}, 3}, {{1, 99}, 0}}},
    {"shf.l.wrap.b32 $d, $a, $b, $c;", "wwww", {{{0x80000000, 1, 1}, 3}, {{0x80000000, 1, 33}, 3}, {{7, 9, 0}, 9}, {{7, 9, 32}, 9}}},
    {"shf.l.clamp.b32 $d, $a, $b, $c;", "wwww", {{{0x80000000, 1, 1}, 3}, {{7, 9, 33}, 7}, {{7, 9, 0}, 9}, {{7, 9, 32}, 7}}},
    {"shf.r.wrap.b32 $d, $a, $b, $c;", "wwww", {{{2, 1, 1}, 0x80000001}, {{2, 1, 33}, 0x80000001}, {{7, 9, 0}, 7}, {{7, 9, 32}, 7}}},
    {"shf.r.clamp.b32 $d, $a, $b, $c;", "wwww", {{{2, 1, 1}, 0x80000001}, {{7, 9, 33}, 9}, {{7, 9, 0}, 7}, {{7, 9, 32}, 9}}},
    {"bfe.u32 $d, $a, $b, $c;", "wwww", {{{0x12345678, 8, 8}, 0x56}, {{0x12345678, 28, 8}, 1}, {{0x12345678, 32, 8}, 0}, {{0x12345678, 0, 32}, 0x12345678}}},
    {"bfe.s32 $d, $a, $b, $c;", "wwww", {{{0x0000f800, 8, 8}, 0xfffffff8}, {{0x80000000, 28, 8}, 0xfffffff8}, {{0x80000000, 32, 8}, UINT32_MAX}, {{UINT32_MAX, 4, 0}, 0}}},
    {"bfe.u64 $d, $a, $b, $c;", "ddww", {{{0x123456789abcdef0, 32, 16}, 0x5678}, {{UINT64_MAX, 60, 16}, 15}, {{5, 64, 1}, 0}, {{5, 0, 64}, 5}}},
    {"bfe.s64 $d, $a, $b, $c;", "ddww", {{{0x0000800000000000, 32, 16}, 0xffffffffffff8000}, {{1, 0, 1}, UINT64_MAX}, {{1ull << 63, 64, 1}, UINT64_MAX}, {{5, 0, 64}, 5}}},
    {"bfi.b32 $d, $a, $b, $c, $e;", "wwwww", {{{0xff, 0, 8, 4}, 0xf00}, {{0, UINT32_MAX, 8, 4}, 0xfffff0ff}, {{5, 7, 32, 4}, 7}, {{0xabcd, 0, 0, 32}, 0xabcd}}},
    {"bfi.b64 $d, $a, $b, $c, $e;", "dddww", {{{0xff, 0, 40, 4}, 0xf0000000000}, {{0, UINT64_MAX, 8, 4}, 0xfffffffffffff0ff}, {{5, 7, 64, 4}, 7}, {{0xabcd, 0, 0, 64}, 0xabcd}}},
    {"brev.b32 $d, $a;", "ww", {{{1}, 0x80000000}, {{0x12345678}, 0x1e6a2c48}, {{0}, 0}, {{UINT32_MAX}, UINT32_MAX}}},
    {"brev.b64 $d, $a;", "dd", {{{1}, 1ull << 63}, {{0x12345678}, 0x1e6a2c4800000000}, {{0}, 0}, {{2}, 1ull << 62}}},
    {"clz.b32 $d, $a;", "ww", {{{0}, 32}, {{1}, 31}, {{0x80000000}, 0}, {{0xffff}, 16}}},
    {"clz.b64 $d, $a;", "wd", {{{0}, 64}, {{1}, 63}, {{1ull << 63}, 0}, {{0xffff}, 48}}},
    {"popc.b32 $d, $a;", "ww", {{{0}, 0}, {{UINT32_MAX}, 32}, {{0x80000001}, 2}, {{0xff}, 8}}},
    {"popc.b64 $d, $a;", "wd", {{{0}, 0}, {{UINT64_MAX}, 64}, {{0x8000000000000001}, 2}, {{0xff}, 8}}},
    {"bfind.u32 $d, $a;", "ww", {{{0}, UINT32_MAX}, {{1}, 0}, {{0x80000000}, 31}, {{0xff}, 7}}},
    {"bfind.s32 $d, $a;", "ww", {{{0}, UINT32_MAX}, {{1}, 0}, {{UINT32_MAX}, UINT32_MAX}, {{0xffffff00}, 7}}},
    {"bfind.shiftamt.u64 $d, $a;", "wd", {{{0}, UINT32_MAX}, {{1}, 63}, {{1ull << 63}, 0}, {{0xff}, 56}}},
    {"lop3.b32 $d, $a, $b, $c, 0x80;", "wwww", {{{7, 3, 1}, 1}, {{0xff, 0xf0, 0x3c}, 0x30}, {{0, 0, 0}, 0}, {{5, 5, 5}, 5}}},
    {"lop3.b32 $d, $a, $b, $c, 0x96;", "wwww", {{{7, 3, 1}, 5}, {{0xff, 0xf0, 0x3c}, 0x33}, {{0, 0, 0}, 0}, {{5, 5, 5}, 5}}},
    {"lop3.b32 $d, $a, $b, $c, 0xca;", "wwww", {{{0xff00, 0x1234, 0x5678}, 0x1278}, {{0, 1, 2}, 2}, {{UINT32_MAX, 1, 2}, 1}, {{0xf, 5, 0x30}, 0x35}}},
    {"prmt.b32 $d, $a, $b, $c;", "wwww", {{{0x33221100, 0x77665544, 0x3210}, 0x33221100}, {{0x33221100, 0x77665544, 0x7531}, 0x77553311}, {{0x80, 0, 0x8888}, UINT32_MAX}, {{0x7f, 0, 0x8888}, 0}}},
    {"prmt.b32.f4e $d, $a, $b, $c;", "wwww", {{{0x33221100, 0x77665544, 1}, 0x44332211}, {{0x33221100, 0x77665544, 3}, 0x66554433}, {{1, 2, 0}, 1}, {{1, 2, 4}, 1}}},
    {"prmt.b32.b4e $d, $a, $b, $c;", "wwww", {{{0x33221100, 0x77665544, 0}, 0x55667700}, {{0x33221100, 0x77665544, 1}, 0x66770011}, {{0x33221100, 0x77665544, 3}, 0x00112233}, {{0, 0, 0}, 0}}},
    {"prmt.b32.rc16 $d, $a, $b, $c;", "wwww", {{{0x33221100, 0, 0}, 0x11001100}, {{0x33221100, 0, 1}, 0x33223322}, {{5, 0, 0}, 0x50005}, {{0, 0, 0}, 0}}},
    {"bmsk.clamp.b32 $d, $a, $b;", "www", {{{4, 4}, 0xf0}, {{0, 32}, UINT32_MAX}, {{30, 9}, 0xc0000000}, {{33, 4}, 0}}},
    {"dp4a.s32.s32 $d, $a, $b, $c;", "wwww", {{{0x01020304, 0x01010101, 5}, 15}, {{0xff000000, 0x02000000, 0}, 0xfffffffe}, {{0, 0, 7}, 7}, {{0x80, 0x80, 0}, 16384}}},
    {"dp4a.u32.u32 $d, $a, $b, $c;", "wwww", {{{0x01020304, 0x01010101, 5}, 15}, {{0xff000000, 0x02000000, 0}, 510}, {{0, 0, 7}, 7}, {{0x80, 0x80, 0}, 16384}}},
    {"dp2a.lo.s32.s32 $d, $a, $b, $c;", "wwww", {{{0x00020003, 0x0504, 1}, 0x17}, {{0xffff0001, 0x0201, 0}, 0xffffffff}, {{0, 0, 7}, 7}, {{1, 0xff, 0}, UINT32_MAX}}},
    {"slct.b32.s32 $d, $a, $b, $c;", "wwww", {{{1, 2, 0}, 1}, {{1, 2, UINT32_MAX}, 2}, {{1, 2, 5}, 1}, {{1, 2, 0x80000000}, 2}}},
    {"slct.f32.f32 $d, $a, $b, $c;", "wwww", {{{1, 2, MINUS}, 1}, {{1, 2, 0xbf800000}, 2}, {{1, 2, F1}, 1}, {{1, 2, FNAN}, 2}}},
    {"selp.b32 $d, $a, $b, $c;", "wwwp", {{{1, 2, 1}, 1}, {{1, 2, 0}, 2}, {{9, 8, 1}, 9}, {{9, 8, 0}, 8}}},
    {"selp.b64 $d, $a, $b, !$c;", "dddp", {{{1, 2, 1}, 2}, {{1, 2, 0}, 1}, {{9, 8, 1}, 8}, {{9, 8, 0}, 9}}},
    {"{ .reg .b32 %z; add.cc.u32 %z, $a, $b; addc.u32 $d, $c, 0; }", "wwww", {{{UINT32_MAX, 1, 5}, 6}, {{1, 1, 5}, 5}, {{0x80000000, 0x80000000, 0}, 1}, {{0, 0, 0}, 0}}},
    {"{ .reg .b32 %z; sub.cc.u32 %z, $a, $b; subc.u32 $d, $c, 0; }", "wwww", {{{0, 1, 5}, 4}, {{1, 1, 5}, 5}, {{0, 0x80000000, 0}, UINT32_MAX}, {{0, 0, 0}, 0}}},
    /* f32 */
    {"add.f32 $d, $a, $b;", "www", {{{F1, F2}, F3}, {{FINF, 0xff800000}, FNAN}, {{TINY, TINY}, 2}, {{F1, 0x33000000}, F1}}},
    {"add.ftz.f32 $d, $a, $b;", "www", {{{F1, F2}, F3}, {{TINY, MINUS | TINY}, 0}, {{TINY, TINY}, 0}, {{0x00800000, 0x80000001}, 0x00800000}}},
    {"add.sat.f32 $d, $a, $b;", "www", {{{F1, F2}, F1}, {{FNAN, F1}, 0}, {{MINUS | F1, FHALF}, 0}, {{0x3e800000, 0x3e800000}, FHALF}}},
    {"add.rm.f32 $d, $a, $b;", "www", {{{F1, 0xb3000000}, 0x3f7fffff}, {{F1, 0x33000000}, F1}, {{F1, MINUS | F1}, MINUS}, {{F1, F2}, F3}}},
    {"add.rp.f32 $d, $a, $b;", "www", {{{F1, 0xb2000000}, F1}, {{F1, 0x33000000}, F1 + 1}, {{F1, MINUS | F1}, 0}, {{F1, F2}, F3}}},
    {"add.rz.f32 $d, $a, $b;", "www", {{{F1, 0xb3000000}, 0x3f7fffff}, {{F1, 0x33ffffff}, F1}, {{0xbf800000, 0xb3c00000}, 0xbf800000}, {{0x7f7fffff, 0x7f7fffff}, 0x7f7fffff}}},
    {"sub.f32 $d, $a, $b;", "www", {{{F3, F2}, F1}, {{FINF, FINF}, FNAN}, {{F1, F1}, 0}, {{0, F1}, MINUS | F1}}},
    {"mul.f32 $d, $a, $b;", "www", {{{F3, F2}, 0x40c00000}, {{FINF, 0}, FNAN}, {{0x00800000, FHALF}, 0x00400000}, {{F1, MINUS}, MINUS}}},
    {"mul.ftz.f32 $d, $a, $b;", "www", {{{F3, F2}, 0x40c00000}, {{FINF, TINY}, FNAN}, {{0x00800000, FHALF}, 0}, {{F1, MINUS}, MINUS}}},
    {"mul.rz.f32 $d, $a, $b;", "www", {{{0x3f800001, 0x3f800003}, 0x3f800004}, {{0x3fffffff, 0x3fffffff}, 0x407ffffe}, {{F2, F3}, 0x40c00000}, {{0xbf800001, 0x3f800003}, 0xbf800004}}},
    {"mul.rp.f32 $d, $a, $b;", "www", {{{0x3f800001, 0x3f800003}, 0x3f800005}, {{0x3fffffff, 0x3fffffff}, 0x407fffff}, {{F2, F3}, 0x40c00000}, {{0xbf800001, 0x3f800003}, 0xbf800004}}},
    /* one rounding: (1 + 3u)^2 - 1 = 6u + 9u^2, of which 2.25 ulp are left */
    {"fma.rn.f32 $d, $a, $b, $c;", "wwww", {{{0x3f800003, 0x3f800003, MINUS | F1}, 0x35400002}, {{F2, F3, F1}, 0x40e00000}, {{FINF, 0, F1}, FNAN}, {{F1, F1, MINUS | F1}, 0}}},
    {"fma.rm.f32 $d, $a, $b, $c;", "wwww", {{{F1, F1, 0xb3000000}, 0x3f7fffff}, {{F2, F3, F1}, 0x40e00000}, {{F1, F1, MINUS | F1}, MINUS}, {{F1, F1, 0x33ffffff}, F1}}},
    {"fma.rn.sat.f32 $d, $a, $b, $c;", "wwww", {{{F2, F3, F1}, F1}, {{F1, MINUS | F1, FHALF}, 0}, {{FINF, 0, F1}, 0}, {{FHALF, FHALF, 0}, 0x3e800000}}},
    {"div.rn.f32 $d, $a, $b;", "www", {{{F1, F3}, 0x3eaaaaab}, {{F1, 0}, FINF}, {{0, 0}, FNAN}, {{F3, MINUS | F2}, 0xbfc00000}}},
    {"div.approx.f32 $d, $a, $b;", "www", {{{F3, 0x7e800000}, 0x1400000}, {{0x7f000000, 0x7e800001}, 0}, {{MINUS | F3, 0x7f7fffff}, MINUS}, {{FINF, 0x7f000000}, FNAN}}},
    {"div.approx.ftz.f32 $d, $a, $b;", "www", {{{0x7f000000, MINUS | 0x7f000000}, MINUS}, {{F3, MINUS | F2}, 0xbfc00000}, {{F1, FINF}, 0}, {{F1, 1}, FINF}}},
    {"div.full.f32 $d, $a, $b;", "www", {{{0x7f000000, 0x7f000000}, F1}, {{F3, F2}, 0x3fc00000}, {{F1, 0}, FINF}, {{0, 0}, FNAN}}},
    {"div.rm.f32 $d, $a, $b;", "www", {{{F1, F3}, 0x3eaaaaaa}, {{F2, F3}, 0x3f2aaaaa}, {{MINUS | F1, F3}, 0xbeaaaaab}, {{F3, MINUS | F2}, 0xbfc00000}}},
    {"rcp.rn.f32 $d, $a;", "ww", {{{F3}, 0x3eaaaaab}, {{0}, FINF}, {{MINUS}, 0xff800000}, {{FINF}, 0}}},
    {"rcp.rz.f32 $d, $a;", "ww", {{{F3}, 0x3eaaaaaa}, {{F2}, FHALF}, {{MINUS | F3}, 0xbeaaaaaa}, {{F1}, F1}}},
    {"sqrt.rn.f32 $d, $a;", "ww", {{{0x40800000}, F2}, {{F2}, 0x3fb504f3}, {{MINUS | F1}, FNAN}, {{FINF}, FINF}}},
    {"sqrt.rp.f32 $d, $a;", "ww", {{{0x40800000}, F2}, {{F2}, 0x3fb504f4}, {{F3}, 0x3fddb3d8}, {{0}, 0}}},
    {"rsqrt.approx.f32 $d, $a;", "ww", {{{0x40800000}, FHALF}, {{0}, FINF}, {{FINF}, 0}, {{MINUS | F1}, FNAN}}},
    {"ex2.approx.f32 $d, $a;", "ww", {{{F1}, F2}, {{0xff800000}, 0}, {{FINF}, FINF}, {{FNAN}, FNAN}}},
    {"ex2.approx.ftz.f32 $d, $a;", "ww", {{{0}, F1}, {{0xc3000000}, 0}, {{0x42fe0000}, 0x7f000000}, {{TINY}, F1}}},
    {"lg2.approx.f32 $d, $a;", "ww", {{{F1}, 0}, {{F2}, F1}, {{0}, 0xff800000}, {{MINUS | F1}, FNAN}}},
    {"lg2.approx.ftz.f32 $d, $a;", "ww", {{{FHALF}, MINUS | F1}, {{FINF}, FINF}, {{TINY}, 0xff800000}, {{0x42800000}, 0x40c00000}}},
    {"sin.approx.f32 $d, $a;", "ww", {{{0}, 0}, {{MINUS}, MINUS}, {{FINF}, FNAN}, {{FNAN}, FNAN}}},
    {"cos.approx.f32 $d, $a;", "ww", {{{0}, F1}, {{MINUS}, F1}, {{FINF}, FNAN}, {{FNAN}, FNAN}}},
    {"tanh.approx.f32 $d, $a;", "ww", {{{0}, 0}, {{FINF}, F1}, {{0xff800000}, MINUS | F1}, {{FNAN}, FNAN}}},
    {"min.f32 $d, $a, $b;", "www", {{{F1, FNAN}, F1}, {{0, MINUS}, MINUS}, {{FNAN, FNAN}, FNAN}, {{F2, F3}, F2}}},
    {"max.f32 $d, $a, $b;", "www", {{{F1, FNAN}, F1}, {{MINUS, 0}, 0}, {{FNAN, F2}, F2}, {{F2, F3}, F3}}},
    {"max.NaN.f32 $d, $a, $b;", "www", {{{F1, FNAN}, FNAN}, {{MINUS, 0}, 0}, {{FNAN, F2}, FNAN}, {{F2, F3}, F3}}},
    {"min.ftz.f32 $d, $a, $b;", "www", {{{TINY, F1}, 0}, {{F1, 0x80000001}, MINUS}, {{F2, F3}, F2}, {{0, 0}, 0}}},
    {"max.xorsign.abs.f32 $d, $a, $b;", "www", {{{MINUS | F3, F2}, MINUS | F3}, {{MINUS | F1, MINUS | F2}, F2}, {{F1, F2}, F2}, {{0, F1}, F1}}},
    {"neg.f32 $d, $a;", "ww", {{{F1}, MINUS | F1}, {{0}, MINUS}, {{0xff800000}, FINF}, {{TINY}, MINUS | TINY}}},
    {"abs.ftz.f32 $d, $a;", "ww", {{{MINUS | F1}, F1}, {{MINUS}, 0}, {{0xff800000}, FINF}, {{MINUS | TINY}, 0}}},
    {"copysign.f32 $d, $a, $b;", "www", {{{MINUS, F1}, MINUS | F1}, {{0, MINUS | F1}, F1}, {{F1, F2}, F2}, {{MINUS | F1, FINF}, 0xff800000}}},
    {"testp.finite.f32 $d, $a;", "pw", {{{F1}, 1}, {{FINF}, 0}, {{FNAN}, 0}, {{0}, 1}}},
    {"testp.notanumber.f32 $d, $a;", "pw", {{{F1}, 0}, {{FINF}, 0}, {{FNAN}, 1}, {{0}, 0}}},
    {"testp.subnormal.f32 $d, $a;", "pw", {{{F1}, 0}, {{FINF}, 0}, {{TINY}, 1}, {{0x00800000}, 0}}},
    {"testp.subnormal.f32 $d, $a;", "pw", {{{0}, 0}, {{MINUS}, 0}, {{MINUS | TINY}, 1}, {{FNAN}, 0}}},
    {"testp.normal.f32 $d, $a;", "pw", {{{0}, 1}, {{MINUS}, 1}, {{TINY}, 0}, {{FINF}, 0}}},
    {"testp.normal.f64 $d, $a;", "pd", {{{0}, 1}, {{1}, 0}, {{D1}, 1}, {{0x7ff0000000000000}, 0}}},
    /* f64 */
    {"add.f64 $d, $a, $b;", "ddd", {{{D1, D2}, D3}, {{0, 0}, 0}, {{D1, D1}, D2}, {{D3, 0xc008000000000000}, 0}}},
    {"fma.rn.f64 $d, $a, $b, $c;", "dddd", {{{D1, D2, D1}, D3}, {{0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000000}, 0x3cc0000000000000}, {{0, D1, D2}, D2}, {{D1, D1, D1}, D2}}},
    {"div.rn.f64 $d, $a, $b;", "ddd", {{{D1, D3}, 0x3fd5555555555555}, {{D2, D1}, D2}, {{D3, D3}, D1}, {{0, D1}, 0}}},
    {"sqrt.rn.f64 $d, $a;", "dd", {{{D2}, 0x3ff6a09e667f3bcd}, {{D1}, D1}, {{0x4010000000000000}, D2}, {{0}, 0}}},
    {"max.f64 $d, $a, $b;", "ddd", {{{D1, D2}, D2}, {{1ull << 63, 0}, 0}, {{0x7ff8000000000000, D1}, D1}, {{D3, 0x7ff8000000000000}, D3}}},
    /* comparisons */
    {"setp.lt.s32 $d, $a, $b;", "pww", {{{UINT32_MAX, 0}, 1}, {{0, UINT32_MAX}, 0}, {{3, 3}, 0}, {{2, 3}, 1}}},
    {"setp.lt.u32 $d, $a, $b;", "pww", {{{UINT32_MAX, 0}, 0}, {{0, UINT32_MAX}, 1}, {{3, 3}, 0}, {{2, 3}, 1}}},
    {"setp.hs.u32 $d, $a, $b;", "pww", {{{UINT32_MAX, 0}, 1}, {{0, UINT32_MAX}, 0}, {{3, 3}, 1}, {{2, 3}, 0}}},
    {"setp.ge.s64 $d, $a, $b;", "pdd", {{{UINT64_MAX, 0}, 0}, {{0, UINT64_MAX}, 1}, {{3, 3}, 1}, {{2, 3}, 0}}},
    {"setp.eq.s16 $d, $a, $b;", "phh", {{{5, 5}, 1}, {{0xffff, 0xffff}, 1}, {{3, 4}, 0}, {{0, 0}, 1}}},
    {"setp.gt.s16 $d, $a, $b;", "phh", {{{5, 0xffff}, 1}, {{0xffff, 5}, 0}, {{4, 3}, 1}, {{0, 0}, 0}}},
    {"setp.ne.f32 $d, $a, $b;", "pww", {{{F1, F2}, 1}, {{FNAN, F1}, 0}, {{0, MINUS}, 0}, {{FNAN, FNAN}, 0}}},
    {"setp.neu.f32 $d, $a, $b;", "pww", {{{F1, F2}, 1}, {{FNAN, F1}, 1}, {{0, MINUS}, 0}, {{FNAN, FNAN}, 1}}},
    {"setp.leu.f32 $d, $a, $b;", "pww", {{{F1, F2}, 1}, {{FNAN, F1}, 1}, {{F2, F1}, 0}, {{F1, F1}, 1}}},
    {"setp.equ.f32 $d, $a, $b;", "pww", {{{F1, F2}, 0}, {{FNAN, F1}, 1}, {{F2, F2}, 1}, {{0, MINUS}, 1}}},
    {"setp.gtu.f32 $d, $a, $b;", "pww", {{{F1, F2}, 0}, {{FNAN, F1}, 1}, {{F2, F1}, 1}, {{0, MINUS}, 0}}},
    {"setp.num.f32 $d, $a, $b;", "pww", {{{F1, F2}, 1}, {{FNAN, F1}, 0}, {{F2, FNAN}, 0}, {{0, MINUS}, 1}}},
    {"setp.nan.f32 $d, $a, $b;", "pww", {{{F1, F2}, 0}, {{FNAN, F1}, 1}, {{F2, FNAN}, 1}, {{0, MINUS}, 0}}},
    {"setp.lt.ftz.f32 $d, $a, $b;", "pww", {{{0, TINY}, 0}, {{F1, F2}, 1}, {{MINUS | TINY, 0}, 0}, {{MINUS | F1, 0}, 1}}},
    {"setp.lt.and.s32 $d, $a, $b, $c;", "pwwp", {{{1, 2, 1}, 1}, {{1, 2, 0}, 0}, {{2, 1, 1}, 0}, {{2, 1, 0}, 0}}},
    {"setp.lt.or.s32 $d, $a, $b, !$c;", "pwwp", {{{1, 2, 1}, 1}, {{1, 2, 0}, 1}, {{2, 1, 1}, 0}, {{2, 1, 0}, 1}}},
    {"setp.lt.xor.s32 $d, $a, $b, $c;", "pwwp", {{{1, 2, 1}, 0}, {{1, 2, 0}, 1}, {{2, 1, 1}, 1}, {{2, 1, 0}, 0}}},
    {"{ .reg .pred %y; setp.lt.s32 %y|$d, $a, $b; }", "pww", {{{1, 2}, 0}, {{2, 1}, 1}, {{3, 3}, 1}, {{0, 9}, 0}}},
    {"set.lt.u32.s32 $d, $a, $b;", "www", {{{1, 2}, UINT32_MAX}, {{2, 1}, 0}, {{UINT32_MAX, 0}, UINT32_MAX}, {{3, 3}, 0}}},
    {"set.gt.f32.f32 $d, $a, $b;", "www", {{{F2, F1}, F1}, {{F1, F2}, 0}, {{FNAN, F1}, 0}, {{F3, F2}, F1}}},
    {"and.pred $d, $a, $b;", "ppp", {{{1, 1}, 1}, {{1, 0}, 0}, {{0, 1}, 0}, {{0, 0}, 0}}},
    {"or.pred $d, $a, !$b;", "ppp", {{{1, 1}, 1}, {{1, 0}, 1}, {{0, 1}, 0}, {{0, 0}, 1}}},
    {"xor.pred $d, $a, $b;", "ppp", {{{1, 1}, 0}, {{1, 0}, 1}, {{0, 1}, 1}, {{0, 0}, 0}}},
    {"not.pred $d, $a;", "pp", {{{1}, 0}, {{0}, 1}, {{1}, 0}, {{0}, 1}}},
    {"mov.pred $d, $a;", "pp", {{{1}, 1}, {{0}, 0}, {{1}, 1}, {{0}, 0}}},
    /* halves: 1 is 3c00 (bf16 3f80), 2 is 4000, 3 is 4200 (4040) */
    {"add.f16 $d, $a, $b;", "hhh", {{{0x3c00, 0x4000}, 0x4200}, {{0x7bff, 0x7bff}, 0x7c00}, {{1, 1}, 2}, {{0x3c00, 0x1000}, 0x3c00}}},
    {"add.rn.f16x2 $d, $a, $b;", "www", {{{0x3c004000, 0x40003c00}, 0x42004200}, {{0, 0x3c00}, 0x3c00}, {{0x7c000000, 0xfc000000}, 0x7fff0000}, {{0, 0}, 0}}},
    {"sub.f16x2 $d, $a, $b;", "www", {{{0x42004000, 0x40003c00}, 0x3c003c00}, {{0, 0x3c00}, 0xbc00}, {{0x3c00, 0x3c00}, 0}, {{0, 0}, 0}}},
    {"mul.f16x2 $d, $a, $b;", "www", {{{0x40004200, 0x42004000}, 0x46004600}, {{0x3c00, 0x3c00}, 0x3c00}, {{1, 0x3800}, 0}, {{3, 0x3800}, 2}}},
    {"mul.ftz.f16 $d, $a, $b;", "hhh", {{{0x0400, 0x3800}, 0}, {{0x8001, 0x3c00}, 0x8000}, {{0x4200, 0x4000}, 0x4600}, {{0, 0}, 0}}},
    /* one rounding: 1 + 2^-11 (a tie) and a little more goes up */
    {"fma.rn.f16 $d, $a, $b, $c;", "hhhh", {{{0x1000, 0x3c00, 0x3c00}, 0x3c00}, {{0x1001, 0x3c00, 0x3c00}, 0x3c01}, {{0x4000, 0x4200, 0x3c00}, 0x4700}, {{0x7c00, 0, 0}, 0x7fff}}},
    {"fma.rn.relu.f16x2 $d, $a, $b, $c;", "wwww", {{{0x3c003c00, 0xbc003c00, 0}, 0x3c00}, {{0x40004000, 0x42004200, 0x3c003c00}, 0x47004700}, {{0, 0, 0}, 0}, {{0, 0, 0xbc003c00}, 0x3c00}}},
    {"fma.rn.bf16x2 $d, $a, $b, $c;", "wwww", {{{0x40003f80, 0x40404000, 0x3f803f80}, 0x40e04040}, {{0x3f80, 0x3f80, 0xbf80}, 0}, {{0, 0, 0}, 0}, {{0x7f80, 0, 0}, 0x7fff}}},
    /* 15 * 21 = 315 is a tie of bf16, 314 or 316; what decides is beyond a double's digits: -2^-60, 2^-60, and of 13 * 21 = 273 */
    {"fma.rn.bf16 $d, $a, $b, $c;", "hhhh", {{{0x4170, 0x41a8, 0xa180}, 0x439d}, {{0x4170, 0x41a8, 0}, 0x439e}, {{0x4150, 0x41a8, 0x2180}, 0x4389}, {{0x4150, 0x41a8, 0xa180}, 0x4388}}},
    {"fma.rn.bf16x2 $d, $a, $b, $c;", "wwww", {{{0x41704170, 0x41a841a8, 0xa1800000}, 0x439d439e}, {{0xc1704170, 0x41a841a8, 0x2180a180}, 0xc39d439d}, {{0, 0, 0}, 0}, {{0x7f80, 0x3f80, 0}, 0x7f80}}},
    {"max.f16x2 $d, $a, $b;", "www", {{{0x3c004000, 0x40003c00}, 0x40004000}, {{0x7fff, 0x3c00}, 0x3c00}, {{0x8000, 0}, 0}, {{0xbc00, 0xc000}, 0xbc00}}},
    {"min.NaN.bf16x2 $d, $a, $b;", "www", {{{0x3f804000, 0x40003f80}, 0x3f803f80}, {{0x7fff, 0x3f80}, 0x7fff}, {{0x8000, 0}, 0x8000}, {{0, 0}, 0}}},
    {"neg.f16x2 $d, $a;", "ww", {{{0x3c00bc00}, 0xbc003c00}, {{0}, 0x80008000}, {{0x7c00fc00}, 0xfc007c00}, {{0x80008000}, 0}}},
    {"abs.bf16x2 $d, $a;", "ww", {{{0xbf803f80}, 0x3f803f80}, {{0}, 0}, {{0xff807f80}, 0x7f807f80}, {{0x80008000}, 0}}},
    {"ex2.approx.f16x2 $d, $a;", "ww", {{{0x3c004000}, 0x40004400}, {{0}, 0x3c003c00}, {{0xfc007c00}, 0x7c00}, {{0xbc00bc00}, 0x38003800}}},
    {"tanh.approx.f16 $d, $a;", "hh", {{{0}, 0}, {{0x7c00}, 0x3c00}, {{0xfc00}, 0xbc00}, {{0x8000}, 0x8000}}},
    {"setp.lt.f16 $d, $a, $b;", "phh", {{{0x3c00, 0x4000}, 1}, {{0x4000, 0x3c00}, 0}, {{0x7fff, 0}, 0}, {{0xbc00, 0}, 1}}},
    {"setp.ne.ftz.f16 $d, $a, $b;", "phh", {{{1, 0x8001}, 0}, {{0x0400, 0x03ff}, 1}, {{0x3c00, 0x3c00}, 0}, {{0x03ff, 0}, 0}}},
    {"setp.ne.f16 $d, $a, $b;", "phh", {{{1, 0x8001}, 1}, {{0x0400, 0x03ff}, 1}, {{0x3c00, 0x3c00}, 0}, {{0x03ff, 0}, 1}}},
    {"{ .reg .pred %y; setp.lt.f16x2 %y|$d, $a, $b; }", "pww", {{{0x3c00ffff, 0x40000000}, 1}, {{0x40000000, 0x3c000000}, 0}, {{0, 0x3c00}, 0}, {{0xbc000000, 0}, 1}}},
    /* conversions */
    {"cvt.s64.s32 $d, $a;", "dw", {{{UINT32_MAX}, UINT64_MAX}, {{5}, 5}, {{0x80000000}, 0xffffffff80000000}, {{0}, 0}}},
    {"cvt.u64.u32 $d, $a;", "dw", {{{UINT32_MAX}, UINT32_MAX}, {{5}, 5}, {{0x80000000}, 0x80000000}, {{0}, 0}}},
    {"cvt.u32.u64 $d, $a;", "wd", {{{UINT64_MAX}, UINT32_MAX}, {{5}, 5}, {{1ull << 32}, 0}, {{0x123456789abcdef0}, 0x9abcdef0}}},
    {"cvt.s64.s32 $d, $a;", "dd", {{{0x80000000}, 0xffffffff80000000}, {{5ull << 32 | 7}, 7}, {{0}, 0}, {{UINT32_MAX}, UINT64_MAX}}},
    {"cvt.s32.s16 $d, $a;", "wh", {{{0xffff}, UINT32_MAX}, {{5}, 5}, {{0x8000}, 0xffff8000}, {{0}, 0}}},
    {"cvt.u32.u16 $d, $a;", "wh", {{{0xffff}, 0xffff}, {{5}, 5}, {{0x8000}, 0x8000}, {{0}, 0}}},
    {"cvt.u16.u32 $d, $a;", "hw", {{{0x12345678}, 0x5678}, {{5}, 5}, {{0x10000}, 0}, {{UINT32_MAX}, 0xffff}}},
    {"cvt.s32.s8 $d, $a;", "ww", {{{0xff}, UINT32_MAX}, {{5}, 5}, {{0x180}, 0xffffff80}, {{0x100}, 0}}},
    {"cvt.u32.u8 $d, $a;", "ww", {{{0x1ff}, 0xff}, {{5}, 5}, {{0x180}, 0x80}, {{0x100}, 0}}},
    {"cvt.sat.s8.s32 $d, $a;", "ww", {{{300}, 127}, {{0xffffff00}, 0xffffff80}, {{5}, 5}, {{0}, 0}}},
    {"cvt.sat.u16.s32 $d, $a;", "hw", {{{0x12345}, 0xffff}, {{UINT32_MAX}, 0}, {{5}, 5}, {{0}, 0}}},
    {"cvt.rn.f32.s32 $d, $a;", "ww", {{{UINT32_MAX}, MINUS | F1}, {{3}, F3}, {{0x1000001}, 0x4b800000}, {{0x1000003}, 0x4b800002}}},
    {"cvt.rz.f32.s32 $d, $a;", "ww", {{{UINT32_MAX}, MINUS | F1}, {{3}, F3}, {{0x1000003}, 0x4b800001}, {{0}, 0}}},
    {"cvt.rn.f32.u32 $d, $a;", "ww", {{{UINT32_MAX}, 0x4f800000}, {{3}, F3}, {{0x1000001}, 0x4b800000}, {{0}, 0}}},
    {"cvt.rn.f32.u64 $d, $a;", "wd", {{{UINT64_MAX}, 0x5f800000}, {{3}, F3}, {{0x0100000180000001}, 0x5b800001}, {{0x4000004000000001}, 0x5e800001}}},
    {"cvt.rn.f64.s64 $d, $a;", "dd", {{{UINT64_MAX}, 0xbff0000000000000}, {{3}, D3}, {{(1ull << 53) + 1}, 0x4340000000000000}, {{(1ull << 53) + 3}, 0x4340000000000002}}},
    {"cvt.rzi.s32.f32 $d, $a;", "ww", {{{0xbfc00000}, UINT32_MAX}, {{0x40200000}, 2}, {{FNAN}, 0}, {{0x4f800000}, 0x7fffffff}}},
    {"cvt.rni.s32.f32 $d, $a;", "ww", {{{0xbfc00000}, 0xfffffffe}, {{0x40200000}, 2}, {{0x40600000}, 4}, {{0xff800000}, 0x80000000}}},
    {"cvt.rmi.s32.f32 $d, $a;", "ww", {{{0xbfc00000}, 0xfffffffe}, {{0x40200000}, 2}, {{F3}, 3}, {{0}, 0}}},
    {"cvt.rpi.s32.f32 $d, $a;", "ww", {{{0xbfc00000}, UINT32_MAX}, {{0x40200000}, 3}, {{F3}, 3}, {{0}, 0}}},
    {"cvt.rzi.u32.f32 $d, $a;", "ww", {{{0xbfc00000}, 0}, {{0x4f000000}, 0x80000000}, {{FINF}, UINT32_MAX}, {{FNAN}, 0}}},
    {"cvt.rzi.s64.f32 $d, $a;", "dw", {{{0xbfc00000}, UINT64_MAX}, {{0x4f800000}, 1ull << 32}, {{FINF}, INT64_MAX}, {{FNAN}, 1ull << 63}}},
    /* NaN of f64 is the highest bit alone, whatever it becomes */
    {"cvt.rzi.s32.f64 $d, $a;", "wd", {{{0xbff8000000000000}, UINT32_MAX}, {{0x7ff8000000000000}, 0x80000000}, {{D3}, 3}, {{0x7ff0000000000000}, 0x7fffffff}}},
    {"cvt.rzi.u32.f64 $d, $a;", "wd", {{{0xbff8000000000000}, 0}, {{0xfff8000000000000}, 0x80000000}, {{D3}, 3}, {{0x7ff0000000000000}, UINT32_MAX}}},
    {"cvt.rzi.u16.f64 $d, $a;", "hd", {{{0xbff8000000000000}, 0}, {{0x7ff8000000000000}, 0x8000}, {{D3}, 3}, {{0x7ff0000000000000}, 0xffff}}},
    {"cvt.rzi.u16.f32 $d, $a;", "hw", {{{0xbfc00000}, 0}, {{FNAN}, 0}, {{F3}, 3}, {{FINF}, 0xffff}}},
    {"cvt.rni.f32.f32 $d, $a;", "ww", {{{0x3fc00000}, F2}, {{0x40200000}, F2}, {{0xbe800000}, MINUS}, {{FINF}, FINF}}},
    {"cvt.rpi.f32.f32 $d, $a;", "ww", {{{0x3fc00000}, F2}, {{0x40200000}, F3}, {{0xbe800000}, MINUS}, {{F1}, F1}}},
    {"cvt.sat.f32.f32 $d, $a;", "ww", {{{F2}, F1}, {{MINUS | F1}, 0}, {{FNAN}, 0}, {{FHALF}, FHALF}}},
    {"cvt.ftz.f32.f32 $d, $a;", "ww", {{{TINY}, 0}, {{MINUS | TINY}, MINUS}, {{F1}, F1}, {{FHALF}, FHALF}}},
    {"cvt.f32.f16 $d, $a;", "wh", {{{0x3c00}, F1}, {{1}, 0x33800000}, {{0xfc00}, 0xff800000}, {{0x7e00}, FNAN}}},
    {"cvt.rn.f16.f32 $d, $a;", "hw", {{{F1}, 0x3c00}, {{0x477fefff}, 0x7bff}, {{0x477ff000}, 0x7c00}, {{0x33000000}, 0}}},
    {"cvt.rn.f16.f32 $d, $a;", "hw", {{{0x33000001}, 1}, {{0x3f801000}, 0x3c00}, {{0x3f803000}, 0x3c02}, {{0xb8800000 - 1}, 0x8400}}},
    {"cvt.rz.f16.f32 $d, $a;", "hw", {{{0x3f801fff}, 0x3c00}, {{0x477fffff}, 0x7bff}, {{FINF}, 0x7c00}, {{0xbf801fff}, 0xbc00}}},
    {"cvt.rn.bf16.f32 $d, $a;", "hw", {{{F1}, 0x3f80}, {{0x3f808000}, 0x3f80}, {{0x3f818000}, 0x3f82}, {{FNAN}, 0x7fff}}},
    {"cvt.rz.bf16.f32 $d, $a;", "hw", {{{0x3f81ffff}, 0x3f81}, {{0xff7fffff}, 0xff7f}, {{FINF}, 0x7f80}, {{F2}, 0x4000}}},
    {"cvt.f32.bf16 $d, $a;", "wh", {{{0x3f80}, F1}, {{1}, 0x10000}, {{0xff80}, 0xff800000}, {{0x7fc0}, FNAN}}},
    {"cvt.rn.f16x2.f32 $d, $a, $b;", "www", {{{F1, F2}, 0x3c004000}, {{0, FINF}, 0x7c00}, {{FNAN, 0}, 0x7fff0000}, {{F3, F3}, 0x42004200}}},
    {"cvt.rn.bf16x2.f32 $d, $a, $b;", "www", {{{F1, F2}, 0x3f804000}, {{0, FINF}, 0x7f80}, {{FNAN, 0}, 0x7fff0000}, {{F3, F3}, 0x40404040}}},
    {"cvt.rn.relu.f16x2.f32 $d, $a, $b;", "www", {{{F1, MINUS | F2}, 0x3c000000}, {{MINUS | F1, F1}, 0x3c00}, {{0, 0}, 0}, {{F3, F3}, 0x42004200}}},
    {"cvt.rna.tf32.f32 $d, $a;", "ww", {{{F1}, F1}, {{0x3f801000}, 0x3f802000}, {{0x3f800fff}, F1}, {{FINF}, FINF}}},
    {"cvt.f64.f32 $d, $a;", "dw", {{{F1}, D1}, {{F3}, D3}, {{TINY}, 0x36a0000000000000}, {{0}, 0}}},
    {"cvt.rn.f32.f64 $d, $a;", "wd", {{{D1}, F1}, {{0x3ff0000010000000}, F1}, {{0x3ff0000010000001}, F1 + 1}, {{0x7fefffffffffffff}, FINF}}},
    {"cvt.rz.f32.f64 $d, $a;", "wd", {{{D1}, F1}, {{0x3ff000001fffffff}, F1}, {{0xbff000001fffffff}, MINUS | F1}, {{0x7fefffffffffffff}, 0x7f7fffff}}},
    /* moves */
    {"mov.b32 $d, {$a, $b};", "whh", {{{0x1234, 0x5678}, 0x56781234}, {{1, 0}, 1}, {{0, 1}, 0x10000}, {{0, 0}, 0}}},
    {"mov.b64 $d, {$a, $b};", "dww", {{{1, 2}, 0x200000001}, {{0, UINT32_MAX}, 0xffffffff00000000}, {{5, 0}, 5}, {{0, 0}, 0}}},
    {"mov.b64 $d, {$a, $b, $c, $e};", "dhhhh", {{{1, 2, 3, 4}, 0x0004000300020001}, {{0xffff, 0, 0, 0}, 0xffff}, {{0, 0, 0, 0xffff}, 0xffff000000000000}, {{0, 0, 0, 0}, 0}}},
    {"{ .reg .b16 %z; mov.b32 {%z, $d}, $a; }", "hw", {{{0x12345678}, 0x1234}, {{1}, 0}, {{0x10000}, 1}, {{0}, 0}}},
    {"{ .reg .b32 %z; mov.b64 {$d, %z}, $a; }", "wd", {{{0x123456789abcdef0}, 0x9abcdef0}, {{1}, 1}, {{1ull << 32}, 0}, {{0}, 0}}},
    {"mov.b64 {_, $d}, $a;", "wd", {{{0x123456789abcdef0}, 0x12345678}, {{1}, 0}, {{1ull << 32}, 1}, {{0}, 0}}},
    {"{ .reg .b16 %x, %y, %z; mov.b64 {%x, %y, $d, %z}, $a; }", "hd", {{{0x123456789abcdef0}, 0x5678}, {{1}, 0}, {{1ull << 32}, 1}, {{0}, 0}}},
    {"mov.f32 $d, 0f40490FDB;", "w", {{{0}, 0x40490fdb}, {{0}, 0x40490fdb}, {{0}, 0x40490fdb}, {{0}, 0x40490fdb}}},
};

// clang-format on
#define NFORMS (sizeof forms / sizeof *forms)

/* "$a" by the register's name. */
static void add_text(struct str *s, const char *text)
{
    for (; *text; text++)
        if (*text == '$')
            str_addf(s, "%%%c_", *++text);
        else
            str_addc(s, *text);
}

static const char *width_of(char letter)
{
    return letter == 'h' ? "b16" : letter == 'd' ? "b64" : "b32";
}

static const char names[] = "dabce";

static void add_operands(struct str *s, const struct form *f)
{
    for (int k = 0; f->signature[k]; k++) {
        const char letter = f->signature[k], n = names[k];
        str_addf(s, ".reg .%s %%%c_;\n", letter == 'p' ? "pred" : width_of(letter), n);
        if (letter == 'p')
            str_addf(
                s,
                ".reg .b32 %%%cv;\nld.global.u32 %%%cv, [%%at+%d];\nsetp.ne.u32 %%%c_, %%%cv, 0;\n",
                n, n, 8 * k, n, n);
        else
            str_addf(s, "ld.global.%s %%%c_, [%%at+%d];\n", width_of(letter), n, 8 * k);
    }
}

/* A lane has 40 bytes of input, the first 8 what the result's register has before; and 8 of output. */
static char *kernel_of(const struct form *f, bool third)
{
    struct str s = {0};
    str_add(&s, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, "
                ".param .u64 out)\n{\n"
                ".reg .b64 %at, %o, %wide;\n.reg .b32 %t, %m;\n.reg .pred %g;\n"
                "mov.u32 %t, %tid.x;\nld.param.u64 %at, [in];\nld.param.u64 %o, "
                "[out];\nmad.wide.u32 %at, %t, 40, %at;\nmad.wide.u32 %o, %t, 8, %o;\n");
    add_operands(&s, f);
    str_add(&s, "rem.u32 %m, %t, 3;\nsetp.ne.u32 %g, %m, 0;\n");
    if (third)
        str_add(&s, "@%g bra SKIP;\n");
    add_text(&s, f->text);
    str_add(&s, "\nSKIP:\n");
    switch (*f->signature) {
    case 'p':
        str_add(&s, "selp.u64 %wide, 1, 0, %d_;\n");
        break;
    case 'h':
        str_add(&s, "cvt.u64.u16 %wide, %d_;\n");
        break;
    case 'w':
        str_add(&s, "cvt.u64.u32 %wide, %d_;\n");
        break;
    default:
        str_add(&s, "mov.b64 %wide, %d_;\n");
    }
    str_add(&s, "st.global.u64 [%o], %wide;\nret;\n}\n");
    return str_take(&s);
}

/* Any NaN is as good as another. */
static bool same(const struct form *f, uint64_t got, uint64_t want)
{
    if (got == want)
        return true;
    return *f->signature == 'w' && want == FNAN && (got & 0x7fffffff) > FINF;
}

#define BEFORE(f)                          \
    (*(f)->signature == 'p'   ? 1          \
     : *(f)->signature == 'h' ? 0xbeef     \
     : *(f)->signature == 'w' ? 0xdeadbeef \
                              : 0xdeadbeefcafef00d)

static bool run_form(const struct form *f, bool third, const char *isa)
{
    uint64_t in[32][5], out[32], params[2];
    for (int i = 0; i < 32; i++) {
        const struct values *v = &f->cases[i % 4];
        in[i][0] = BEFORE(f);
        memcpy(&in[i][1], v->in, sizeof v->in);
    }
    char *ptx = kernel_of(f, third);
    struct err err = ERR_INIT;
    struct sim_program *p;
    struct sim_memory *m = sim_memory_new(1 << 20);
    struct sim_result r = {0};
    bool ok = sim_program_new(ptx, strlen(ptx), "k", &p, &err) == ST_OK;
    CU_ASSERT(sim_memory_add(m, "in", sizeof in, &params[0], &err) == ST_OK);
    CU_ASSERT(sim_memory_add(m, "out", sizeof out, &params[1], &err) == ST_OK);
    sim_memory_write(m, params[0], in, sizeof in);
    const struct sim_launch l = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params, .param_bytes = sizeof params};
    const struct sim_options o = {.threads = 1};
    if (ok && sim_run(p, m, &l, &o, &r, &err) == ST_OK && !r.faults &&
        sim_memory_read(m, params[1], out, sizeof out)) {
        for (int i = 0; i < 32; i++) {
            const uint64_t want = third && i % 3 ? BEFORE(f) : f->cases[i % 4].want;
            if (same(f, out[i], want))
                continue;
            printf("# %s: %s: lane %d: %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64
                   " gives %" PRIx64 ", not %" PRIx64 "\n",
                   isa, f->text, i, in[i][1], in[i][2], in[i][3], in[i][4], out[i], want);
            ok = false;
            break;
        }
    } else {
        printf("# %s: %s\n", f->text, err.text);
        ok = false;
    }
    sim_result_clear(&r);
    sim_memory_free(m);
    if (ok || !*err.text)
        sim_program_free(p);
    free(ptx);
    return ok;
}

static void on_set(const char *isa)
{
    if (!sim_force_isa(isa)) {
        printf("# this machine has no %s\n", isa);
        return;
    }
    int wrong = 0;
    for (size_t i = 0; i < NFORMS; i++)
        wrong += !run_form(&forms[i], false, isa) + !run_form(&forms[i], true, isa);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(sim_force_isa(NULL));
}

static void test_generic(void)
{
    on_set("generic");
}

static void test_avx2(void)
{
    on_set("avx2");
}

static void test_avx512(void)
{
    on_set("avx512");
}

/* Approximations: near enough on a sweep, on the instruction set of this machine. */
static void approximates(const char *op, float from, float to, double (*exact)(double),
                         double relative)
{
    char ptx[1024];
    float in[32], out[32];
    double worst = 0;
    snprintf(ptx, sizeof ptx,
             ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, "
             ".param .u64 out)\n{\n.reg .b64 %%a, %%b;\n.reg .b32 %%t;\n.reg .f32 %%x;\n"
             "mov.u32 %%t, %%tid.x;\nld.param.u64 %%a, [in];\nld.param.u64 %%b, "
             "[out];\nmad.wide.u32 %%a, %%t, 4, %%a;\nmad.wide.u32 %%b, %%t, 4, %%b;\n"
             "ld.global.f32 %%x, [%%a];\n%s.f32 %%x, %%x;\nst.global.f32 [%%b], %%x;\nret;\n}\n",
             op);
    struct err err = ERR_INIT;
    struct sim_program *p;
    CU_ASSERT_FATAL(sim_program_new(ptx, strlen(ptx), NULL, &p, &err) == ST_OK);
    struct sim_memory *m = sim_memory_new(1 << 20);
    uint64_t params[2];
    CU_ASSERT(sim_memory_add(m, "in", sizeof in, &params[0], &err) == ST_OK);
    CU_ASSERT(sim_memory_add(m, "out", sizeof out, &params[1], &err) == ST_OK);
    const struct sim_launch l = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params, .param_bytes = sizeof params};
    const struct sim_options o = {.threads = 1};
    for (int round = 0; round < 64; round++) {
        for (int i = 0; i < 32; i++)
            in[i] = from + (to - from) * (float)(round * 32 + i) / 2047;
        sim_memory_write(m, params[0], in, sizeof in);
        struct sim_result r;
        CU_ASSERT(sim_run(p, m, &l, &o, &r, &err) == ST_OK);
        sim_result_clear(&r);
        sim_memory_read(m, params[1], out, sizeof out);
        for (int i = 0; i < 32; i++) {
            const double want = exact(in[i]), error = fabs(out[i] - want) / fmax(fabs(want), 1e-2);
            worst = error > worst ? error : worst;
        }
    }
    if (!(worst <= relative))
        printf("# %s: %g\n", op, worst);
    CU_ASSERT(worst <= relative);
    sim_memory_free(m);
    sim_program_free(p);
}

static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}

static void test_approximations(void)
{
    approximates("ex2.approx", -120, 120, exp2, 4e-7);
    approximates("ex2.approx.ftz", -1.5f, 1.5f, exp2, 4e-7);
    approximates("lg2.approx", 1e-3f, 4, log2, 2e-6);
    approximates("lg2.approx.ftz", 1, 1e6f, log2, 4e-7);
    approximates("rsqrt.approx", 1e-3f, 1e3f, reciprocal_root, 4e-7);
    approximates("sin.approx", -3, 3, sin, 1e-5);
    approximates("tanh.approx", -4, 4, tanh, 1e-5);
}

static const struct tap_test tests[] = {
    {"every form, on any machine", test_generic},
    {"every form, with AVX2", test_avx2},
    {"every form, with AVX-512", test_avx512},
    {"approximations are near", test_approximations},
};

TAP_MAIN("sim", tests)
