// peak.cu - the ceilings of a GPU: kernels that keep one unit of the chip busy and nothing else.
//
// Each does a counted amount of one kind of work, `rounds` times over, so that a launch can be made long
// against its own cost. None may be simplified away: data are random and come from memory or from the thread's
// number, every result goes into a sum, and the sum is stored if it has a value that the compiler cannot rule
// out. Data are not zeros, on which a chip takes less power and holds a higher clock.
//
// backend/cuda/bench.c launches and times them and says what a round counts.
//
// SPDX-License-Identifier: GPL-3.0-or-later

struct alignas(16) Words {
    unsigned x, y, z, w;
};

// What no sum is, as far as anybody can see.
__device__ inline bool is_odd_one(unsigned sum)
{
    return sum == 0x9e3779b9u;
}
__device__ inline unsigned hash(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
// -1 to 1.
__device__ inline float random_float(unsigned i)
{
    return (float)(int)hash(i) * 0x1p-31f;
}
// Two elements of a type side by side (0 f16, 1 bf16), or one f32 (2).
__device__ inline unsigned random_word(unsigned i, int dtype)
{
    const float a = random_float(2 * i), b = random_float(2 * i + 1);
    unsigned word;
    unsigned short lo, hi;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(lo) : "f"(a));
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(hi) : "f"(b));
    asm("mov.b32 %0, {%1, %2};" : "=r"(word) : "h"(lo), "h"(hi));
    // The upper half of an f32 is a bf16; to truncate does for random data.
    return dtype == 0   ? word
           : dtype == 1 ? __float_as_uint(a) >> 16 | (__float_as_uint(b) & 0xffff0000u)
                        : __float_as_uint(a);
}

// ---- Memory -------------------------------------------------------------------------------------

// `count` words of random elements.
extern "C" __global__ void peak_fill(unsigned *p, unsigned long long count, int dtype)
{
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count;
         i += (unsigned long long)gridDim.x * blockDim.x)
        p[i] = random_word((unsigned)i, dtype);
}

// Past the L1: what a block reads twice comes from the L2.
__device__ inline Words load(const Words *p)
{
    Words v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}
__device__ inline void store(Words *p, Words v)
{
    asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y),
                 "r"(v.z), "r"(v.w)
                 : "memory");
}

// All blocks together read `count` items of 16 bytes, in each round. Eight loads of a thread are under way at
// a time. `count` is a multiple of eight times the threads.
extern "C" __global__ void peak_read(Words *p, unsigned long long count, int rounds)
{
    const unsigned long long threads = (unsigned long long)gridDim.x * blockDim.x;
    unsigned sum = 0;
    for (int r = 0; r < rounds; r++)
        for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
             i < count; i += 8 * threads) {
            Words v[8];
#pragma unroll
            for (int k = 0; k < 8; k++)
                v[k] = load(p + i + k * threads);
#pragma unroll
            for (int k = 0; k < 8; k++)
                sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
        }
    if (is_odd_one(sum))
        p[0].x = sum;
}

extern "C" __global__ void peak_write(Words *p, unsigned long long count, int rounds)
{
    const unsigned long long threads = (unsigned long long)gridDim.x * blockDim.x;
    const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
    Words v = {hash(first), hash(first + 1), hash(first + 2), hash(first + 3)};
    for (int r = 0; r < rounds; r++)
        for (unsigned long long i = first; i < count; i += threads) {
            v.x += 0x9e3779b9u; // no two items alike
            store(p + i, v);
        }
}

// Every warp reads 512 bytes that lie side by side, another 512 each time: four wavefronts, no conflict. A round
// is eight loads of a thread. The block's 1024 threads go through 32 KiB.
extern "C" __global__ void __launch_bounds__(1024) peak_smem(unsigned *out, int rounds)
{
    __shared__ Words tile[2048];
    for (unsigned i = threadIdx.x; i < 2048; i += 1024)
        tile[i] = {hash(4 * i), hash(4 * i + 1), hash(4 * i + 2), hash(4 * i + 3)};
    __syncthreads();
    const unsigned base = (unsigned)__cvta_generic_to_shared(tile);
    unsigned at = threadIdx.x, sum = 0;
    for (int r = 0; r < rounds; r++) {
        Words v[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                         : "r"(base + (at + k * 256 & 2047) * 16));
        at += 32;
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    if (is_odd_one(sum))
        *out = sum;
}

// ---- Arithmetic ---------------------------------------------------------------------------------

// Sixteen chains of a thread that do not wait for each other; a round is 128 multiply-adds of it.
extern "C" __global__ void __launch_bounds__(512) peak_fma(unsigned *out, int rounds)
{
    const float a = 1.f + random_float(threadIdx.x) * 0x1p-12f,
                b = random_float(threadIdx.x + 1024);
    float x[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
        x[i] = random_float(threadIdx.x * 16 + i);
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++)
#pragma unroll
            for (int i = 0; i < 16; i++)
                x[i] = fmaf(x[i], a, b);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++)
        sum += x[i];
    if (is_odd_one(__float_as_uint(sum)))
        *out = __float_as_uint(sum);
}

// 2^-x of 2^-x ..., which stays between 0.5 and 1. A round is 64 of a thread.
extern "C" __global__ void __launch_bounds__(512) peak_exp2(unsigned *out, int rounds)
{
    float x[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
        x[i] = fabsf(random_float(threadIdx.x * 16 + i));
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int i = 0; i < 16; i++)
                asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(x[i]) : "f"(-x[i]));
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++)
        sum += x[i];
    if (is_odd_one(__float_as_uint(sum)))
        *out = __float_as_uint(sum);
}

// ---- Tensor cores -------------------------------------------------------------------------------

// Products of 64 rows by 32 columns of a warp, A and B in registers: a round is 16 instructions of a warp,
// m16n8k16 (TF32: m16n8k8). On Hopper these instructions reach about two thirds of the tensor cores.
#if __CUDA_ARCH__ >= 800
#define MMA(WHAT, A, B)                                                                               \
    asm volatile("mma.sync.aligned." WHAT " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "           \
                 "{%0, %1, %2, %3};"                                                                  \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                     \
                 : "r"((A)[0]), "r"((A)[1]), "r"((A)[2]), "r"((A)[3]), "r"((B)[0]), "r"((B)[1]))
template <int dtype>
__device__ inline void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    if (dtype == 0)
        MMA("m16n8k16.row.col.f32.f16.f16.f32", a, b);
    else if (dtype == 1)
        MMA("m16n8k16.row.col.f32.bf16.bf16.f32", a, b);
    else
        MMA("m16n8k8.row.col.f32.tf32.tf32.f32", a, b);
}
template <int dtype> __device__ inline void mma_rounds(unsigned *out, int rounds)
{
    unsigned a[4][4], b[4][2];
    float c[4][4][4] = {};
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            a[i][k] = random_word(threadIdx.x * 16 + i * 4 + k, dtype);
#pragma unroll
        for (int k = 0; k < 2; k++)
            b[i][k] = random_word(0x10000 + threadIdx.x * 8 + i * 2 + k, dtype);
    }
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                mma<dtype>(c[i][j], a[i], b[j]);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 64; i++)
        sum += c[i / 16][i / 4 % 4][i % 4];
    if (is_odd_one(__float_as_uint(sum)))
        *out = __float_as_uint(sum);
}
extern "C" __global__ void __launch_bounds__(256) peak_mma_f16(unsigned *out, int rounds)
{
    mma_rounds<0>(out, rounds);
}
extern "C" __global__ void __launch_bounds__(256) peak_mma_bf16(unsigned *out, int rounds)
{
    mma_rounds<1>(out, rounds);
}
extern "C" __global__ void __launch_bounds__(256) peak_mma_tf32(unsigned *out, int rounds)
{
    mma_rounds<2>(out, rounds);
}
#endif

// Hopper's own way: two warpgroups multiply 64 rows each by 256 columns, both sides in shared memory. Three
// stages of 64 columns' depth lie there (TF32: 32), filled once with random elements, and a round is one of
// them: four instructions of a warpgroup, m64n256k16 (TF32: k8).
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
constexpr int A_BYTES = 64 * 128, B_BYTES = 256 * 128, STAGE_BYTES = 2 * A_BYTES + B_BYTES, STAGES = 3;

// A tile of rows of 128 bytes, swizzled; see operand() of cuda/hopper.cuh.
__device__ inline unsigned long long operand(unsigned tile)
{
    return 1ull << 62 | 64ull << 32 | 1ull << 16 | (tile & 0x3ffff) / 16;
}
#define ROW(n)                                                                                        \
    "%" #n "0,%" #n "1,%" #n "2,%" #n "3,%" #n "4,%" #n "5,%" #n "6,%" #n "7,%" #n "8,%" #n "9"
#define NUMBERS                                                                                       \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," ROW(1) "," ROW(2) "," ROW(3) "," ROW(4) "," ROW(5) "," ROW(6)    \
        "," ROW(7) "," ROW(8) "," ROW(9) "," ROW(10) "," ROW(11) ",%120,%121,%122,%123,%124,%125,%126,%127"
#define C(i)                                                                                          \
    "+f"(c[8 * i]), "+f"(c[8 * i + 1]), "+f"(c[8 * i + 2]), "+f"(c[8 * i + 3]), "+f"(c[8 * i + 4]),   \
        "+f"(c[8 * i + 5]), "+f"(c[8 * i + 6]), "+f"(c[8 * i + 7])
#define PLACES                                                                                        \
    C(0), C(1), C(2), C(3), C(4), C(5), C(6), C(7), C(8), C(9), C(10), C(11), C(12), C(13), C(14), C(15)
#define WGMMA(WHAT, TRANSPOSE)                                                                        \
    asm volatile("wgmma.mma_async.sync.aligned." WHAT " {" NUMBERS "}, %128, %129, 1, 1, 1" TRANSPOSE \
                 ";"                                                                                  \
                 : PLACES                                                                             \
                 : "l"(a), "l"(b))
template <int dtype>
__device__ inline void wgmma(float (&c)[128], unsigned long long a, unsigned long long b)
{
    if (dtype == 0)
        WGMMA("m64n256k16.f32.f16.f16", ", 0, 0");
    else if (dtype == 1)
        WGMMA("m64n256k16.f32.bf16.bf16", ", 0, 0");
    else
        WGMMA("m64n256k8.f32.tf32.tf32", "");
}
template <int dtype> __device__ inline void wgmma_rounds(unsigned *out, int rounds)
{
    extern __shared__ __align__(1024) unsigned stages[];
    for (unsigned i = threadIdx.x; i < STAGES * STAGE_BYTES / 4; i += 256)
        stages[i] = random_word(i, dtype);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const unsigned base = (unsigned)__cvta_generic_to_shared(stages);
    float c[128] = {};
    int stage = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        const unsigned a = base + stage * STAGE_BYTES + __shfl_sync(~0u, threadIdx.x / 128, 0) * A_BYTES,
                       b = base + stage * STAGE_BYTES + 2 * A_BYTES;
        stage = stage == STAGES - 1 ? 0 : stage + 1;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; k++)
            wgmma<dtype>(c, operand(a + 32 * k), operand(b + 32 * k));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 128; i++) {
        asm volatile("" : "+f"(c[i])::"memory");
        sum += c[i];
    }
    if (is_odd_one(__float_as_uint(sum)))
        *out = __float_as_uint(sum);
}
extern "C" __global__ void __launch_bounds__(256, 1) peak_wgmma_f16(unsigned *out, int rounds)
{
    wgmma_rounds<0>(out, rounds);
}
extern "C" __global__ void __launch_bounds__(256, 1) peak_wgmma_bf16(unsigned *out, int rounds)
{
    wgmma_rounds<1>(out, rounds);
}
extern "C" __global__ void __launch_bounds__(256, 1) peak_wgmma_tf32(unsigned *out, int rounds)
{
    wgmma_rounds<2>(out, rounds);
}
#endif

// ---- Launches -----------------------------------------------------------------------------------

extern "C" __global__ void peak_empty(unsigned *) {}

// What the least kernel does: it waits for a load, and stores.
extern "C" __global__ void peak_step(unsigned *p)
{
    p[0] = *(volatile unsigned *)p + 1;
}
