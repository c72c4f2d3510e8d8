// attn.cuh - what every kernel of the ladder shares: the argument, the element type, and helpers
// that are no kernel's idea (addressing, the mask, copies into shared memory, warp sums).
//
// Compiles with nvcc, NVRTC and clang and includes nothing, so that run-time compilation works on
// a machine without CUDA's headers.
//
// Words: B batches, H query heads, Hkv key/value heads, Sq queries, Sk keys, D head size; i is a
// query row, j a key row, d a column. A tile is BR query rows by BC key rows.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The compiler is told, from the kernel's descriptor: ATTN_D, the head size rounded up to 16 (sizes of registers
// and tiles; a.D is the real one); ATTN_DTYPE, 0 f16, 1 bf16, 2 f32; ATTN_THREADS; P_x of a parameter; SMEM_x, where
// a buffer begins; WS_x of a workspace. `attnscope source K --alone` writes one file with all of it for plain nvcc.

#if defined(__clang__) && !defined(__NVCC__) && !defined(__CUDACC_RTC__)
#define __grid_constant__ // clang 14 does not know it
#endif

// ---- The element type: 16-bit types are bits here, all arithmetic is f32. -----------------------

#if ATTN_DTYPE == 2
using elem = float;
#else
struct elem {
    unsigned short bits;
};
#endif

__device__ inline float to_float(elem x)
{
#if ATTN_DTYPE == 2
    return x;
#else
    float f;
#if ATTN_DTYPE == 0
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
#else
    asm("mov.b32 %0, {%2, %1};" : "=f"(f) : "h"(x.bits), "h"((unsigned short)0)); // upper half of f32
#endif
    return f;
#endif
}

// Rounds to nearest even, as all our kernels and the reference do.
__device__ inline elem to_elem(float f)
{
#if ATTN_DTYPE == 2
    return f;
#else
    elem x;
#if ATTN_DTYPE == 0
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x.bits) : "f"(f));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    unsigned u;
    asm("mov.b32 %0, %1;" : "=r"(u) : "f"(f));
    // Carry into bit 16 when the lower half is above 0x8000, or equal and bit 16 is odd; keep NaN.
    x.bits = f != f ? 0x7fff : (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
#else
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x.bits) : "f"(f));
#endif
    return x;
#endif
}

// N elements that travel in one load or store: N * sizeof(elem) must be 2, 4, 8 or 16 bytes.
template <int N> struct alignas(N * sizeof(elem)) Vec {
    elem x[N];
};
// Four neighbours, by one load.
struct alignas(16) Four {
    float x[4];
};
__device__ inline Four load4(const elem *p)
{
    const Vec<4> v = *(const Vec<4> *)p;
    return {to_float(v.x[0]), to_float(v.x[1]), to_float(v.x[2]), to_float(v.x[3])};
}

// ---- The argument; src/kernel/attn_args.h is its mirror. ----------------------------------------

struct AttnArgs {
    const elem *q, *k, *v;
    elem *o;
    float *lse;             // B*H*Sq natural-log sums of exponentials, or null
    void *ws[8];            // workspace, a.ws[WS_NAME], in the order of the @workspace lines
    long long q_stride[3];  // elements from one batch, head, row to the next; columns are adjacent
    long long k_stride[3];
    long long v_stride[3];
    long long o_stride[3];
    unsigned long long seed;
    int B, H, Hkv, Sq, Sk, D;
    int causal;
    float scale;
};
static_assert(sizeof(AttnArgs) == 240, "AttnArgs must match src/kernel/attn_args.h");
#ifndef __CUDACC_RTC__ // which has no offsetof
static_assert(__builtin_offsetof(AttnArgs, q_stride) == 104, "AttnArgs layout");
static_assert(__builtin_offsetof(AttnArgs, scale) == 236, "AttnArgs layout");
#endif

// ---- Addresses. 64 bits: B*H*Sq*D may pass 2^31. ------------------------------------------------

// Every grid here is (work within a head, H, B), so a block knows its head and batch at once.
__device__ inline int head_of_block()
{
    return blockIdx.y;
}
__device__ inline int batch_of_block()
{
    return blockIdx.z;
}

// Row i of this block's head. H / Hkv query heads share one key/value head (GQA; MQA when Hkv = 1).
__device__ inline const elem *q_row(const AttnArgs &a, int i)
{
    return a.q + batch_of_block() * a.q_stride[0] + head_of_block() * a.q_stride[1] +
           i * a.q_stride[2];
}
__device__ inline const elem *k_row(const AttnArgs &a, int j)
{
    const int kv_head = head_of_block() / (a.H / a.Hkv);
    return a.k + batch_of_block() * a.k_stride[0] + kv_head * a.k_stride[1] + j * a.k_stride[2];
}
__device__ inline const elem *v_row(const AttnArgs &a, int j)
{
    const int kv_head = head_of_block() / (a.H / a.Hkv);
    return a.v + batch_of_block() * a.v_stride[0] + kv_head * a.v_stride[1] + j * a.v_stride[2];
}
__device__ inline elem *o_row(const AttnArgs &a, int i)
{
    return a.o + batch_of_block() * a.o_stride[0] + head_of_block() * a.o_stride[1] +
           i * a.o_stride[2];
}
// Number of row i of this block's head among all B*H*Sq rows: indexes lse and workspaces.
__device__ inline long long row_number(const AttnArgs &a, int i)
{
    return ((long long)batch_of_block() * a.H + head_of_block()) * a.Sq + i;
}

// ---- The mask -----------------------------------------------------------------------------------

// Row i sees keys 0 .. visible_keys - 1. Causal is aligned at the bottom right: the last query sees
// all keys, so with Sk < Sq the first Sq - Sk rows see none.
__device__ inline int visible_keys(const AttnArgs &a, int i)
{
    if (!a.causal)
        return a.Sk;
    return min(a.Sk, max(0, i - a.Sq + a.Sk + 1));
}

// The most keys that a row of the query tile [q0, q0 + rows) sees: where its K/V loop may stop.
__device__ inline int visible_keys_of_tile(const AttnArgs &a, int q0, int rows)
{
    return visible_keys(a, min(q0 + rows, a.Sq) - 1);
}

// ---- Softmax ends -------------------------------------------------------------------------------

#define NEG_INF (-__int_as_float(0x7f800000))

// A row without a key has sum 0 and gives O = 0, LSE = -inf. A sum of NaN stays NaN.
__device__ inline float safe_inverse(float sum)
{
    return sum == 0.f ? 0.f : 1.f / sum;
}
__device__ inline void store_lse(const AttnArgs &a, int i, float max, float sum)
{
    if (a.lse)
        a.lse[row_number(a, i)] = sum == 0.f ? NEG_INF : max + logf(sum);
}

// ---- Warps. The xor pattern leaves the same bits in every lane, whatever the order of lanes. ----

constexpr unsigned FULL_WARP = 0xffffffffu;

// Over groups of `width` neighbouring lanes; width is a power of two.
template <int width = 32> __device__ inline float warp_sum(float x)
{
    for (int step = width / 2; step > 0; step /= 2)
        x += __shfl_xor_sync(FULL_WARP, x, step);
    return x;
}
template <int width = 32> __device__ inline float warp_max(float x)
{
    for (int step = width / 2; step > 0; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(FULL_WARP, x, step));
    return x;
}

// ---- Shared memory ------------------------------------------------------------------------------

// One dynamic block. The planner places the buffers in it: a buffer X begins at smem + SMEM_X.
extern __shared__ __align__(16) unsigned char smem[];

// All threads copy `valid` rows of D elements, V at a time, into a tile of ROWS rows of ATTN_D
// elements that lie PITCH apart. The rest of the tile becomes 0, so no loop needs a ragged end.
template <int ROWS, int PITCH, int V>
__device__ inline void copy_tile(elem *tile, const elem *src, long long stride, int valid, int D)
{
    constexpr int PER_ROW = ATTN_D / V;
    for (int e = threadIdx.x; e < ROWS * PER_ROW; e += blockDim.x) {
        const int r = e / PER_ROW, d = e % PER_ROW * V; // neighbours in a warp read neighbours
        Vec<V> x = {};
        if (r < valid && d < D)
            x = *(const Vec<V> *)(src + r * stride + d);
        *(Vec<V> *)(tile + r * PITCH + d) = x;
    }
}

// The same with the widest step that the addresses allow. Tensors begin at multiples of 16 bytes.
template <int ROWS, int PITCH>
__device__ inline void load_tile(elem *tile, const elem *src, long long stride, int valid, int D)
{
    constexpr int V = PITCH % 4 == 0 ? 4 : PITCH % 2 == 0 ? 2 : 1;
    if (D % V == 0 && stride % V == 0)
        copy_tile<ROWS, PITCH, V>(tile, src, stride, valid, D);
    else
        copy_tile<ROWS, PITCH, 1>(tile, src, stride, valid, D);
}

// ---- Parts of an answer -------------------------------------------------------------------------

// A GPU of a ring attends to some of the keys, so its output is a part, which kernels/ring/merge.cu adds to others. It is
// stored as it is, in f32, and the whole is rounded once: here o_row() is a row of floats, and to_elem() rounds where an
// elem is wanted. A kernel that packs elements by itself has a store of its own for parts.
#if ATTN_PARTS_F32
struct PartRow {
    float *p;
    __device__ float &operator[](int d) const
    {
        return p[d];
    }
    // Two columns from an even one on, or four from a multiple of four on.
    __device__ void put(int d, float x, float y) const
    {
        struct alignas(8) Two {
            float x, y;
        };
        *(Two *)(p + d) = {x, y};
    }
    __device__ void put(int d, const float *x, float factor) const
    {
        *(Four *)(p + d) = {x[0] * factor, x[1] * factor, x[2] * factor, x[3] * factor};
    }
};
__device__ inline PartRow part_row(const AttnArgs &a, int batch, int head, int i)
{
    return {(float *)a.o + batch * a.o_stride[0] + head * a.o_stride[1] + i * a.o_stride[2]};
}
__device__ inline PartRow part_row(const AttnArgs &a, int i)
{
    return part_row(a, batch_of_block(), head_of_block(), i);
}
struct Unrounded {
    float f;
    __device__ operator float() const
    {
        return f;
    }
    __device__ operator elem() const
    {
        return to_elem(f);
    }
};
__device__ inline Unrounded unrounded(float f)
{
    return {f};
}
#define o_row part_row
#define to_elem unrounded
#endif
