/* tensor_isa.h - how the files of tensor_body.h say for which instruction set their functions are compiled: by a
 * pragma around them, so that no other function of the program has its instructions. ISA_TARGET is the
 * compiler's word for it; without it the build's own. No product and sum are contracted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_TENSOR_ISA_H
#define ATTNSCOPE_SIM_TENSOR_ISA_H

#define PRAGMA(text) _Pragma(#text)
#if defined __clang__
#ifdef ISA_TARGET
#define ISA_BEGIN_(t) PRAGMA(clang attribute push(__attribute__((target(t))), apply_to = function))
#define ISA_BEGIN     ISA_BEGIN_(ISA_TARGET)
#define ISA_END       PRAGMA(clang attribute pop)
#endif
#define UNROLL PRAGMA(clang loop unroll(full))
#else
#ifdef __OPTIMIZE__ /* at -O0 gcc 12 loses the target to this pragma */
#define ISA_OPTIMIZE PRAGMA(GCC optimize("O3,fp-contract=off,no-tree-reassoc"))
#else
#define ISA_OPTIMIZE
#endif
#ifdef ISA_TARGET
#define ISA_TARGET_(t) PRAGMA(GCC target(t))
#define ISA_BEGIN      PRAGMA(GCC push_options) ISA_OPTIMIZE ISA_TARGET_(ISA_TARGET)
#else
#define ISA_BEGIN PRAGMA(GCC push_options) ISA_OPTIMIZE
#endif
#define ISA_END PRAGMA(GCC pop_options)
#define UNROLL  PRAGMA(GCC unroll 4)
#endif
#ifndef ISA_BEGIN
#define ISA_BEGIN
#define ISA_END
#endif

#endif
