// mma.cuh - the pieces of a tensor-core kernel: tiles of 16-byte chunks in shared memory, matrix
// fragments in registers, and the matrix product of a warp.
//
// A warp multiplies with mma.sync m16n8k16: C (16 x 8, f32) += A (16 x 16) B (16 x 8), A and B in
// f16 or bf16. Who holds what, with g = lane / 4 and t = lane % 4:
//   A, 4 registers of 2 elements: (g, 2t) (g + 8, 2t) (g, 2t + 8) (g + 8, 2t + 8), and the column after
//   B, 2 registers of 2 elements: (2t, g) (2t + 8, g), and the row after
//   C, 4 floats: (g, 2t) (g, 2t + 1) (g + 8, 2t) (g + 8, 2t + 1)
// So two C tiles that are neighbours, rounded to 16 bits, are an A tile: scores turn into the left
// side of P V without leaving the lane.
//
// These kernels take a row's maximum before they scale its scores, so the scale must be above 0.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "async.cuh"
#include "attn.cuh"

static_assert(ATTN_DTYPE != 2, "tensor cores multiply 16-bit elements here");

constexpr int CHUNK = 8;               // elements in 16 bytes, the unit of every access to a tile
constexpr int CHUNKS = ATTN_D / CHUNK; // of a row

// ---- Fragments ----------------------------------------------------------------------------------

// Four 8 x 8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l / 8;
// afterwards a lane has elements (g, 2t) and (g, 2t + 1) of each matrix, one matrix a register.
// Eight rows that start in different banks take one wavefront, else up to eight.
__device__ inline void load_matrices(unsigned (&r)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}
// The same, each matrix transposed.
__device__ inline void load_matrices_transposed(unsigned (&r)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

// C += A B.
__device__ inline void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
#if ATTN_DTYPE == 0
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
#else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
#endif
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Two floats, rounded to nearest even, `first` in the lower half.
__device__ inline unsigned pack(float first, float second)
{
    unsigned r;
#if ATTN_DTYPE == 0
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first));
#else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first));
#endif
    return r;
}

// 2^x by the special function unit alone: 2 ulp, and 0 below 2^-126.
__device__ inline float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// ---- Copies through registers -------------------------------------------------------------------

// Copies `valid` rows of D elements, 16 bytes at a time, into a tile of ROWS rows; what is beyond
// becomes 0. place(row, chunk) says where a chunk goes, in bytes from the tile's start. A thread
// starts up to 8 loads before its first store, so that it waits once for all. All threads of the
// block take part. A tile spans at most 2^31 bytes of the tensor: the kernels' @requires see to it.
template <int ROWS, int THREADS, class Place>
__device__ inline void copy_tile_16(unsigned char *tile, const elem *src, int stride, int valid, int D,
                                    Place place)
{
    constexpr int COPIES = (ROWS * CHUNKS + THREADS - 1) / THREADS, BATCH = COPIES < 8 ? COPIES : 8;
    const char *from = (const char *)src;
#pragma unroll 1
    for (int e0 = threadIdx.x; e0 < ROWS * CHUNKS; e0 += BATCH * THREADS) {
        Vec<CHUNK> x[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            const int e = e0 + i * THREADS, r = e / CHUNKS, c = e % CHUNKS;
            x[i] = {};
            if (r < valid && c * CHUNK < D && r < ROWS)
                x[i] = *(const Vec<CHUNK> *)(from + (r * stride * (int)sizeof(elem) + c * 16));
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            const int e = e0 + i * THREADS, r = e / CHUNKS, c = e % CHUNKS;
            if (r < ROWS)
                *(Vec<CHUNK> *)(tile + place(r, c)) = x[i];
        }
    }
}

// ---- The swizzle --------------------------------------------------------------------------------

// Rows of ATTN_D elements lie one after another, so the same chunk of 8 neighbouring rows falls on
// few banks (D = 64, 128: on one group of four). The swizzle exchanges the chunks within a row by an
// xor with the row's number, so that these 8 chunks lie in 8 different groups: no padding, no
// conflict, any D. SWIZZLE is the largest power of 2, at most 8, that divides the chunks of a row:
// 8 / SWIZZLE rows together fill the banks once, and the xor takes care of the rest.
constexpr int SWIZZLE = CHUNKS % 8 == 0 ? 8 : CHUNKS % 4 == 0 ? 4 : 2;
constexpr int ROW_BYTES = ATTN_D * 2;

__device__ inline unsigned swizzle(unsigned row)
{
    return row / (8 / SWIZZLE) % SWIZZLE;
}
// Bytes from the start of a tile to chunk `chunk` of row `row`.
__device__ inline unsigned swizzled(unsigned row, unsigned chunk)
{
    return row * ROW_BYTES + (chunk ^ swizzle(row)) * 16;
}

// Where a lane reads in a swizzled tile: chunk `chunk` (0 or 1) of row `row`, and from there on by
// constants. Chunks go by twos and rows by sixteens, so the xor with 2 d leaves the lane's own part
// alone and the row's swizzle does not change: at() costs one xor, and rows are free.
struct LaneAddress {
    unsigned row, chunk;
    __device__ LaneAddress(unsigned tile, unsigned lane_row, unsigned lane_chunk)
        : row(tile + lane_row * ROW_BYTES), chunk((lane_chunk ^ swizzle(lane_row)) * 16)
    {
    }
    // Of chunk d + chunk (d even) and row 16 n + row.
    __device__ unsigned at(unsigned n, unsigned d) const
    {
        return row + (chunk ^ d * 16) + n * 16 * ROW_BYTES;
    }
};

// Starts the copy of `valid` rows of D elements into a swizzled tile of ROWS rows; what is beyond
// becomes 0. All threads of the block take part. A tile spans at most 2^31 bytes of the tensor, so
// offsets within it take one register.
template <int ROWS, int THREADS>
__device__ inline void copy_tile_async(unsigned tile, const elem *src, int stride, int valid, int D)
{
    const char *from = (const char *)src;
    const int row_step = stride * (int)sizeof(elem);
    if (THREADS % CHUNKS == 0) { // a thread stays in its column: addresses go by constant steps
        constexpr int STEP = THREADS / CHUNKS;
        const int c = threadIdx.x % CHUNKS, r0 = threadIdx.x / CHUNKS;
        const int n = c * CHUNK < D ? valid - r0 : 0;
        int offset = r0 * row_step + c * 16;
#pragma unroll
        for (int i = 0; i < ROWS; i += STEP, offset += STEP * row_step)
            if (ROWS % STEP == 0 || r0 + i < ROWS)
                copy_async(tile + swizzled(r0 + i, c), from + offset, i < n);
    } else {
#pragma unroll 4
        for (int e = threadIdx.x; e < ROWS * CHUNKS; e += THREADS) {
            const int r = e / CHUNKS, c = e % CHUNKS; // neighbours in a warp read neighbours
            copy_async(tile + swizzled(r, c), from + r * row_step + c * 16,
                       r < valid && c * CHUNK < D);
        }
    }
}
