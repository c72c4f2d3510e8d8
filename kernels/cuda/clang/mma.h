/* mma.h - nvcuda::wmma for clang alone, in place of NVIDIA's header of this name.
 *
 * Written from CUDA's programming guide. fragment<matrix_a | matrix_b | accumulator, m, n, k, T, row_major | col_major>
 * with x[], num_elements; fill_fragment, load_matrix_sync, store_matrix_sync, mma_sync. Shapes m16n16k16, m32n8k16 and
 * m8n32k16 of __half (accumulators float or __half) and __nv_bfloat16 (accumulators float). Which element is where in
 * x[] is as on the device.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

// clang-format off

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

/* Of 16-bit operands: elements that a lane has. Those of half precision are there twice. */
template <class Use, int m, int n, class T> struct __attn_count;
template <int m, int n> struct __attn_count<matrix_a, m, n, __half> { enum { n_ = 16 }; };
template <int m, int n> struct __attn_count<matrix_b, m, n, __half> { enum { n_ = 16 }; };
template <int m, int n> struct __attn_count<matrix_a, m, n, __nv_bfloat16> { enum { n_ = m / 2 }; };
template <int m, int n> struct __attn_count<matrix_b, m, n, __nv_bfloat16> { enum { n_ = n / 2 }; };
template <int m, int n> struct __attn_count<accumulator, m, n, float> { enum { n_ = 8 }; };
template <int m, int n> struct __attn_count<accumulator, m, n, __half> { enum { n_ = 8 }; };

template <class Use, int m, int n, int k, class T, class Layout = void> struct __align__(4) fragment {
    static_assert(k == 16 && (m == 16 && n == 16 || m == 32 && n == 8 || m == 8 && n == 32),
                  "m16n16k16, m32n8k16 and m8n32k16 are what there is of nvcuda::wmma without a CUDA toolkit");
    enum { num_elements = __attn_count<Use, m, n, T>::n_, num_storage_elements = num_elements };
    typedef T element_type;
    typedef T storage_element_type;
    T x[num_elements];
};

template <class F, class T> __attn_fn void fill_fragment(F &f, const T &value)
{
    for (int i = 0; i < F::num_elements; i++)
        f.x[i] = value;
}

#define __ATTN_SHAPES(X) X(16, 16, m16n16k16) X(32, 8, m32n8k16) X(8, 32, m8n32k16)

#define __ATTN_LOADS(m, n, name)                                                                     \
    __ATTN_LOAD_AB(matrix_a, m, n, __half, __hmma_##name##_ld_a)                                     \
    __ATTN_LOAD_AB(matrix_b, m, n, __half, __hmma_##name##_ld_b)                                     \
    __ATTN_LOAD_AB(matrix_a, m, n, __nv_bfloat16, __mma_bf16_##name##_ld_a)                          \
    __ATTN_LOAD_AB(matrix_b, m, n, __nv_bfloat16, __mma_bf16_##name##_ld_b)                          \
    __ATTN_LOAD_C(m, n, float, float, __hmma_##name##_ld_c_f32, __hmma_##name##_st_c_f32)            \
    __ATTN_LOAD_C(m, n, __half, int, __hmma_##name##_ld_c_f16, __hmma_##name##_st_c_f16)
#define __ATTN_LOAD_AB(use, m, n, T, builtin)                                                        \
    __attn_fn void load_matrix_sync(fragment<use, m, n, 16, T, row_major> &f, const T *p, unsigned ld) \
    {                                                                                                \
        builtin((int *)f.x, (const int *)p, ld, 0);                                                  \
    }                                                                                                \
    __attn_fn void load_matrix_sync(fragment<use, m, n, 16, T, col_major> &f, const T *p, unsigned ld) \
    {                                                                                                \
        builtin((int *)f.x, (const int *)p, ld, 1);                                                  \
    }
#define __ATTN_LOAD_C(m, n, T, word, load, store)                                                    \
    __attn_fn void load_matrix_sync(fragment<accumulator, m, n, 16, T> &f, const T *p, unsigned ld, layout_t layout) \
    {                                                                                                \
        if (layout == mem_row_major)                                                                 \
            load((word *)f.x, (const word *)p, ld, 0);                                               \
        else                                                                                         \
            load((word *)f.x, (const word *)p, ld, 1);                                               \
    }                                                                                                \
    __attn_fn void store_matrix_sync(T *p, const fragment<accumulator, m, n, 16, T> &f, unsigned ld, layout_t layout) \
    {                                                                                                \
        if (layout == mem_row_major)                                                                 \
            store((word *)p, (word *)f.x, ld, 0);                                              \
        else                                                                                         \
            store((word *)p, (word *)f.x, ld, 1);                                              \
    }
__ATTN_SHAPES(__ATTN_LOADS)

#define __ATTN_MULTIPLY(m, n, T, D, C, dw, cw, LA, LB, builtin, order)                               \
    __attn_fn void mma_sync(fragment<accumulator, m, n, 16, D> &d, const fragment<matrix_a, m, n, 16, T, LA> &a, \
                            const fragment<matrix_b, m, n, 16, T, LB> &b, const fragment<accumulator, m, n, 16, C> &c) \
    {                                                                                                \
        builtin((dw *)d.x, (const int *)a.x, (const int *)b.x, (const cw *)c.x, order, 0);           \
    }
#define __ATTN_ORDERS(m, n, T, D, C, dw, cw, builtin)                                                \
    __ATTN_MULTIPLY(m, n, T, D, C, dw, cw, row_major, row_major, builtin, 0)                         \
    __ATTN_MULTIPLY(m, n, T, D, C, dw, cw, row_major, col_major, builtin, 1)                         \
    __ATTN_MULTIPLY(m, n, T, D, C, dw, cw, col_major, row_major, builtin, 2)                         \
    __ATTN_MULTIPLY(m, n, T, D, C, dw, cw, col_major, col_major, builtin, 3)
#define __ATTN_MULTIPLIES(m, n, name)                                                                \
    __ATTN_ORDERS(m, n, __half, float, float, float, float, __hmma_##name##_mma_f32f32)              \
    __ATTN_ORDERS(m, n, __half, __half, __half, int, int, __hmma_##name##_mma_f16f16)                \
    __ATTN_ORDERS(m, n, __half, float, __half, float, int, __hmma_##name##_mma_f32f16)               \
    __ATTN_ORDERS(m, n, __half, __half, float, int, float, __hmma_##name##_mma_f16f32)               \
    __ATTN_ORDERS(m, n, __nv_bfloat16, float, float, float, float, __mma_bf16_##name##_mma_f32)
__ATTN_SHAPES(__ATTN_MULTIPLIES)

} // namespace wmma
} // namespace nvcuda
