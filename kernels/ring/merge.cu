// merge.cu - what a GPU of a ring does with one more partial answer: splitkv's combination, one level up.
//
// Attention over some of the keys leaves, for every query, an output O and an LSE, the logarithm of its sum of
// exponentials. Two such answers over different keys make one over all of them:
//
//     m = max(LSE1, LSE2),  w1 = exp(LSE1 - m),  w2 = exp(LSE2 - m)
//     O = (w1 O1 + w2 O2) / (w1 + w2),  LSE = m + log(w1 + w2)
//
// It does not matter which GPU had the keys, nor in which order they come, but for the last bits. Parts are in f32 where
// the kernel stores them so, and the answer so far stays in f32; only the last merge of a row rounds it to the output's
// type. A warp takes a row.
//
// kernels/ring/merge.ptx is this file's, by `make update-ring`; backend/sim/ring.c launches it.
//
// SPDX-License-Identifier: GPL-3.0-or-later

// Mirrored in src/backend/sim/ring.c, which checks the size, too.
struct MergeArgs {
    const void *part;      // the partial answer: heads x rows x D, as one piece
    const float *part_lse; // heads x rows, natural logarithms
    float *sum;            // the answer so far, of the same shape
    float *sum_lse;
    void *o;                // the output
    float *lse;             // its LSE, or null
    long long o_stride[3];  // elements from one batch, head, row of the output to the next
    int B, H, rows, D;
    int first, last; // is there no answer so far? Is it the row's last part?
};
static_assert(sizeof(MergeArgs) == 96, "MergeArgs must match src/backend/sim/ring.c");

struct half16 {
    unsigned short bits;
};
struct bhalf16 {
    unsigned short bits;
};
__device__ inline float to_float(float x)
{
    return x;
}
__device__ inline float to_float(half16 x)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
    return f;
}
__device__ inline float to_float(bhalf16 x)
{
    return __uint_as_float((unsigned)x.bits << 16);
}
__device__ inline void store(float *p, float f)
{
    *p = f;
}
__device__ inline void store(half16 *p, float f)
{
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(p->bits) : "f"(f));
}
__device__ inline void store(bhalf16 *p, float f)
{
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(p->bits) : "f"(f));
}

template <class Elem, class Part> __device__ inline void merge(const MergeArgs &a)
{
    const float log2e = 1.4426950408889634f, ln2 = 0.6931471805599453f;
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= a.B * a.H * a.rows) // a shape has fewer than 2^31 rows
        return;
    const float none = __int_as_float(0xff800000); // -inf: no key yet
    const float before = a.first ? none : a.sum_lse[row], here = a.part_lse[row];
    const float most = fmaxf(before, here), base = most == none ? 0.f : most;
    const float w1 = exp2f((before - base) * log2e), w2 = exp2f((here - base) * log2e);
    const float sum = w1 + w2, inverse = sum == 0.f ? 0.f : 1.f / sum;

    const Part *part = (const Part *)a.part + (long long)row * a.D;
    float *so_far = a.sum + (long long)row * a.D;
    const int i = row % a.rows, head = row / a.rows % a.H, batch = row / a.rows / a.H;
    Elem *o = (Elem *)a.o + batch * a.o_stride[0] + head * a.o_stride[1] + i * a.o_stride[2];
#pragma unroll 1
    for (int d = lane; d < a.D; d += 32) {
        // What has no weight is not read as a number: it may be none.
        float x = 0.f;
        if (w1 > 0.f)
            x += w1 * so_far[d];
        if (w2 > 0.f)
            x += w2 * to_float(part[d]);
        x *= inverse;
        if (a.last)
            store(&o[d], x);
        else
            so_far[d] = x;
    }
    __syncwarp(); // all lanes have read what lane 0 replaces
    if (lane != 0)
        return;
    const float lse = sum == 0.f ? none : base + log2f(sum) * ln2;
    if (!a.last)
        a.sum_lse[row] = lse;
    else if (a.lse)
        a.lse[row] = lse;
}

#define ENTRY(name, Elem, Part)                                                                                        \
    extern "C" __global__ void __launch_bounds__(128) name(const __grid_constant__ MergeArgs a)                       \
    {                                                                                                                 \
        merge<Elem, Part>(a);                                                                                         \
    }
ENTRY(ring_merge_f16, half16, half16)
ENTRY(ring_merge_bf16, bhalf16, bhalf16)
ENTRY(ring_merge_f32, float, float)
ENTRY(ring_merge_f32_to_f16, half16, float)
ENTRY(ring_merge_f32_to_bf16, bhalf16, float)
