// short.cuh - what kernels of short sequences share. They are over in two to seven microseconds, in which a warp
// gets to some hundred instructions: what stands in front of the first load, or behind the last, is time.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "attn.cuh"

// A tensor's rows of one head, from a column on. A tensor of less than 2^31 elements: places in it have 32 bits, and
// a row costs two instructions, where strides of 64 bits take five.
struct Head {
    const elem *x;
    unsigned first, stride;
    int last;

    __device__ Head(const elem *tensor, const long long (&s)[3], unsigned head, unsigned column, int rows)
        : x(tensor), first((unsigned)s[0] * batch_of_block() + (unsigned)s[1] * head + column), stride((unsigned)s[2]),
          last(rows - 1)
    {
    }
    // Row i, or the last: what lies beyond is masked or not stored, so that no load waits for a comparison.
    __device__ const elem *row(int i) const { return x + (first + (unsigned)min(i, last) * stride); }
    __device__ elem *out(int i) const { return (elem *)x + (first + (unsigned)i * stride); }
};

// To 1 ulp, by the special function unit alone.
__device__ inline float reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// The key/value head of this block's: H / Hkv share one. By a product, as the division of integers and its own divisor
// are 50 instructions. Right to 2^20 heads: a head and a half of H / Hkv is never that near to a whole number.
__device__ inline int kv_head_of_block(const AttnArgs &a)
{
    if (a.H == a.Hkv)
        return head_of_block();
    return (int)((head_of_block() + 0.5f) * a.Hkv * reciprocal(a.H));
}

// ---- Rows: a maximum m in powers of 2, scale included, and a sum l of exponentials 2^(s - m) ---------

constexpr float LOWEST = -3e38f; // at least this is a base: -inf - -inf is no number

// What outputs are multiplied by. A row without a key has outputs and sum 0.
__device__ inline float inverse_of_sum(float l)
{
    return reciprocal(fmaxf(l, 1e-37f));
}
// -inf without a key.
__device__ inline float lse_of(float m, float l)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(l));
    return (m + y) * 0.6931471805599453f; // ln 2
}
__device__ inline void store_lse_of(const AttnArgs &a, int i, float m, float l)
{
    if (a.lse)
        a.lse[((unsigned)batch_of_block() * a.H + head_of_block()) * a.Sq + i] = lse_of(m, l);
}
