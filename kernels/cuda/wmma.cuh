// wmma.cuh - warp matrix multiply-accumulate: a warp multiplies two small matrices whose elements lie
// among its lanes in an order that is nobody's business. Fragments are loaded from shared memory,
// multiplied and stored as a whole; who needs a single element (a softmax, say) must store first.
//
// SHAPE, rows x columns x depth of a product: m16n16k16, and m8n32k16 and m32n8k16 (wmma_shape). These three
// are all there are for 16-bit elements.
//
// The leading dimension `ld` (elements from one row to the next) must be a multiple of 16 bytes, and
// a fragment must begin at a multiple of 32 bytes.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "async.cuh"
#include "attn.cuh"

static_assert(ATTN_DTYPE != 2, "WMMA multiplies 16-bit elements here");

#ifndef P_SHAPE
#define P_SHAPE 2 // 0 m8n32k16, 1 m32n8k16, 2 m16n16k16
#endif
constexpr int WM = P_SHAPE == 0 ? 8 : P_SHAPE == 1 ? 32 : 16, WN = 256 / WM, WK = 16;

#if P_SHAPE == 0
#define WMMA_SHAPE ".m8n32k16"
#elif P_SHAPE == 1
#define WMMA_SHAPE ".m32n8k16"
#else
#define WMMA_SHAPE ".m16n16k16"
#endif
#if ATTN_DTYPE == 0
#define WMMA_ELEM ".f16"
#define WMMA_TYPES ".f32.f32" // of C and D; f16 operands are understood
#else
#define WMMA_ELEM ".bf16"
#define WMMA_TYPES ".f32.bf16.bf16.f32"
#endif

// Registers of a fragment. f16 has each element twice, bf16 once.
constexpr int A_REGS = ATTN_DTYPE == 0 ? 8 : WM / 4, B_REGS = ATTN_DTYPE == 0 ? 8 : WN / 4;
struct FragmentA {
    unsigned r[A_REGS];
};
struct FragmentB {
    unsigned r[B_REGS];
};
struct Accumulator {
    float x[8];
};

// N registers as operands %0 ... of a load, and as operands in the middle of a product.
#define WMMA_OUT2(f) "=r"((f)[0]), "=r"((f)[1])
#define WMMA_OUT4(f) WMMA_OUT2(f), "=r"((f)[2]), "=r"((f)[3])
#define WMMA_OUT8(f) WMMA_OUT4(f), "=r"((f)[4]), "=r"((f)[5]), "=r"((f)[6]), "=r"((f)[7])

// Loads an operand: which ("a" or "b") and order ("row" or "col") are part of the instruction.
#define WMMA_LOAD(which, order, regs, f, p, ld)                                                      \
    do {                                                                                             \
        if constexpr (regs == 8)                                                                     \
            asm volatile("wmma.load." which ".sync.aligned." order WMMA_SHAPE ".shared" WMMA_ELEM    \
                         " {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"                              \
                         : WMMA_OUT8(f)                                                              \
                         : "r"(p), "r"(ld)                                                           \
                         : "memory");                                                                \
        else if constexpr (regs == 4)                                                                \
            asm volatile("wmma.load." which ".sync.aligned." order WMMA_SHAPE ".shared" WMMA_ELEM    \
                         " {%0, %1, %2, %3}, [%4], %5;"                                              \
                         : WMMA_OUT4(f)                                                              \
                         : "r"(p), "r"(ld)                                                           \
                         : "memory");                                                                \
        else                                                                                         \
            asm volatile("wmma.load." which ".sync.aligned." order WMMA_SHAPE ".shared" WMMA_ELEM    \
                         " {%0, %1}, [%2], %3;"                                                      \
                         : WMMA_OUT2(f)                                                              \
                         : "r"(p), "r"(ld)                                                           \
                         : "memory");                                                                \
    } while (0)

// A: WM x 16, row by row.
__device__ inline void load_a(FragmentA &f, const elem *p, int ld)
{
    WMMA_LOAD("a", "row", A_REGS, f.r, shared_address(p), ld);
}
// B: 16 x WN, row by row (V) ...
__device__ inline void load_b(FragmentB &f, const elem *p, int ld)
{
    WMMA_LOAD("b", "row", B_REGS, f.r, shared_address(p), ld);
}
// ... or given as its transpose (K).
__device__ inline void load_b_transposed(FragmentB &f, const elem *p, int ld)
{
    WMMA_LOAD("b", "col", B_REGS, f.r, shared_address(p), ld);
}

__device__ inline void load_c(Accumulator &c, const float *p, int ld)
{
    asm volatile("wmma.load.c.sync.aligned.row" WMMA_SHAPE
                 ".shared.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=f"(c.x[0]), "=f"(c.x[1]), "=f"(c.x[2]), "=f"(c.x[3]), "=f"(c.x[4]),
                   "=f"(c.x[5]), "=f"(c.x[6]), "=f"(c.x[7])
                 : "r"(shared_address(p)), "r"(ld)
                 : "memory");
}
__device__ inline void store_c(float *p, const Accumulator &c, int ld)
{
    asm volatile("wmma.store.d.sync.aligned.row" WMMA_SHAPE
                 ".shared.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::"r"(shared_address(p)),
                 "f"(c.x[0]), "f"(c.x[1]), "f"(c.x[2]), "f"(c.x[3]), "f"(c.x[4]), "f"(c.x[5]),
                 "f"(c.x[6]), "f"(c.x[7]), "r"(ld)
                 : "memory");
}

#define WMMA_C                                                                                       \
    "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3]), "+f"(c.x[4]), "+f"(c.x[5]), "+f"(c.x[6]), \
        "+f"(c.x[7])
#define WMMA_IN2(f) "r"((f)[0]), "r"((f)[1])
#define WMMA_IN4(f) WMMA_IN2(f), "r"((f)[2]), "r"((f)[3])
#define WMMA_IN8(f) WMMA_IN4(f), "r"((f)[4]), "r"((f)[5]), "r"((f)[6]), "r"((f)[7])
#define WMMA_C_TEXT "{%0, %1, %2, %3, %4, %5, %6, %7}"

// The registers of A and of B behind C's eight, as text and as operands.
#if ATTN_DTYPE == 0
#define WMMA_AB_TEXT                                                                                 \
    "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}"
#define WMMA_AB WMMA_IN8(a.r), WMMA_IN8(b.r)
#elif P_SHAPE == 0
#define WMMA_AB_TEXT "{%8, %9}, {%10, %11, %12, %13, %14, %15, %16, %17}"
#define WMMA_AB WMMA_IN2(a.r), WMMA_IN8(b.r)
#elif P_SHAPE == 1
#define WMMA_AB_TEXT "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17}"
#define WMMA_AB WMMA_IN8(a.r), WMMA_IN2(b.r)
#else
#define WMMA_AB_TEXT "{%8, %9, %10, %11}, {%12, %13, %14, %15}"
#define WMMA_AB WMMA_IN4(a.r), WMMA_IN4(b.r)
#endif
#define WMMA_MULTIPLY(order)                                                                         \
    asm volatile("wmma.mma.sync.aligned.row." order WMMA_SHAPE WMMA_TYPES " " WMMA_C_TEXT            \
                 ", " WMMA_AB_TEXT ", " WMMA_C_TEXT ";"                                              \
                 : WMMA_C                                                                            \
                 : WMMA_AB)

// C += A B. `col`: B was loaded as its transpose.
template <bool col>
__device__ inline void multiply(Accumulator &c, const FragmentA &a, const FragmentB &b)
{
    if constexpr (col)
        WMMA_MULTIPLY("col");
    else
        WMMA_MULTIPLY("row");
}
