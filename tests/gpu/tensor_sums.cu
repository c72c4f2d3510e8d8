// tensor_sums.cu - what a tensor core makes of sums, register by register: fragments in, fragments out. See tensor_sums.
//
// Arrays are [product][register][lane]. A warp has a product; of wgmma a warpgroup has four, with the right operand of the first, or
// (n64) its four left operands with eight right ones. In shared memory fragments lie as they are: 32 words of a register are a matrix of
// 8 rows of 16 bytes, which is how wgmma finds an operand without a swizzle.
//
// SPDX-License-Identifier: GPL-3.0-or-later
typedef unsigned u32;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void __launch_bounds__(128)
#define ARGS   (const u32 *a, const u32 *b, const u32 *c, u32 *d, int n)

struct Lane {
    int warp, lane, product;
    __device__ Lane() : warp(threadIdx.x / 32), lane(threadIdx.x % 32), product(blockIdx.x * 4 + threadIdx.x / 32) {}
    __device__ u32 of(const u32 *x, int regs, int r) const { return x[(product * regs + r) * 32 + lane]; }
    __device__ u32 of(const u32 *x, int regs, int r, int p) const { return x[(p * regs + r) * 32 + lane]; }
    __device__ u32 &to(u32 *x, int regs, int r) const { return x[(product * regs + r) * 32 + lane]; }
};

// Operands have four registers and two in memory, whatever the product takes of them; sums four, or two pairs.
#define MMA_F32(NAME, INSN, AREGS, ALIST, BLIST)                                                                          \
    KERNEL NAME ARGS                                                                                                      \
    {                                                                                                                     \
        const Lane l;                                                                                                     \
        u32 x[4];                                                                                                         \
        for (int i = 0; i < 4; i++)                                                                                       \
            x[i] = l.of(c, 4, i);                                                                                         \
        asm volatile(INSN " {%0,%1,%2,%3}, " ALIST ", " BLIST ", {%0,%1,%2,%3};"                                          \
                     : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3])                                                     \
                     : "r"(l.of(a, 4, 0)), "r"(l.of(a, 4, 1)), "r"(l.of(a, 4, 2)), "r"(l.of(a, 4, 3)),                    \
                       "r"(l.of(b, 2, 0)), "r"(l.of(b, 2, 1)));                                                           \
        for (int i = 0; i < 4; i++)                                                                                       \
            l.to(d, 4, i) = x[i];                                                                                         \
    }
#define ALL_A "{%4,%5,%6,%7}"
#define ALL_B "{%8,%9}"
MMA_F32(mma_f16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, ALL_A, ALL_B)
MMA_F32(mma_bf16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, ALL_A, ALL_B)
MMA_F32(mma_tf32_k8, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, ALL_A, ALL_B)
MMA_F32(mma_f16_k8, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 2, "{%4,%5}", "{%8}")
MMA_F32(mma_bf16_k8, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 2, "{%4,%5}", "{%8}")
MMA_F32(mma_tf32_k4, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 2, "{%4,%5}", "{%8}")

#define MMA_F16(NAME, INSN, ALIST, BLIST)                                                                                 \
    KERNEL NAME ARGS                                                                                                      \
    {                                                                                                                     \
        const Lane l;                                                                                                     \
        u32 x[2] = {l.of(c, 2, 0), l.of(c, 2, 1)};                                                                        \
        asm volatile(INSN " {%0,%1}, " ALIST ", " BLIST ", {%0,%1};"                                                      \
                     : "+r"(x[0]), "+r"(x[1])                                                                             \
                     : "r"(l.of(a, 4, 0)), "r"(l.of(a, 4, 1)), "r"(l.of(a, 4, 2)), "r"(l.of(a, 4, 3)),                    \
                       "r"(l.of(b, 2, 0)), "r"(l.of(b, 2, 1)));                                                           \
        l.to(d, 2, 0) = x[0], l.to(d, 2, 1) = x[1];                                                                       \
    }
MMA_F16(mma_half_k16, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "{%2,%3,%4,%5}", "{%6,%7}")
MMA_F16(mma_half_k8, "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "{%2,%3}", "{%6}")

__device__ u64 described(const void *at, int leading, int stride)
{
    const u64 address = (u64)__cvta_generic_to_shared(at);
    return (address >> 4 & 0x3fff) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32;
}
#define FENCE  asm volatile("fence.proxy.async;\n\twgmma.fence.sync.aligned;" ::: "memory")
#define FINISH asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory")

// The right operand of the warpgroup's first product, and of a left one in shared memory rows 16 warp .. + 15 at 512 bytes a warp.
#define SHARED_OPERANDS                                                                                                   \
    __shared__ __align__(128) u32 left[4 * 4 * 32], right[8 * 2 * 32];                                                    \
    const Lane l;                                                                                                         \
    for (int r = 0; r < 4; r++) /* rows of 8, then k: registers 0, 2, 1, 3 */                                             \
        left[(l.warp * 4 + (r & 1) * 2 + (r >> 1)) * 32 + l.lane] = l.of(a, 4, r);                                        \
    if (l.warp < 2)                                                                                                       \
        right[l.warp * 32 + l.lane] = l.of(b, 2, l.warp, l.product - l.warp);                                             \
    __syncthreads();                                                                                                      \
    const u64 db = described(right, 128, 256), da = described(left, 128, 256);                                            \
    (void)da;

#define WGMMA_F32(NAME, INSN, LEFT, REST)                                                                                 \
    KERNEL NAME ARGS                                                                                                      \
    {                                                                                                                     \
        SHARED_OPERANDS                                                                                                   \
        u32 x[4];                                                                                                         \
        for (int i = 0; i < 4; i++)                                                                                       \
            x[i] = l.of(c, 4, i);                                                                                         \
        FENCE;                                                                                                            \
        asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %10, 0;\n\t" INSN " {%0,%1,%2,%3}, " LEFT ", %8, p" REST       \
                     ";\n\t}"                                                                                             \
                     : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3])                                                     \
                     : "r"(l.of(a, 4, 0)), "r"(l.of(a, 4, 1)), "r"(l.of(a, 4, 2)), "r"(l.of(a, 4, 3)), "l"(db),           \
                       "l"(da), "r"(1));                                                                                  \
        FINISH;                                                                                                           \
        for (int i = 0; i < 4; i++)                                                                                       \
            l.to(d, 4, i) = x[i];                                                                                         \
    }
WGMMA_F32(wgmma_f16, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "{%4,%5,%6,%7}", ", 1, 1, 0")
WGMMA_F32(wgmma_bf16, "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", "{%4,%5,%6,%7}", ", 1, 1, 0")
WGMMA_F32(wgmma_tf32, "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32", "{%4,%5,%6,%7}", ", 1, 1")
WGMMA_F32(wgmma_f16_shared, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "%9", ", 1, 1, 0, 0")
WGMMA_F32(wgmma_tf32_shared, "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32", "%9", ", 1, 1")

KERNEL wgmma_half ARGS
{
    SHARED_OPERANDS
    u32 x[2] = {l.of(c, 2, 0), l.of(c, 2, 1)};
    FENCE;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %7, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, %6, p, 1, 1, 0;\n\t}"
                 : "+r"(x[0]), "+r"(x[1])
                 : "r"(l.of(a, 4, 0)), "r"(l.of(a, 4, 1)), "r"(l.of(a, 4, 2)), "r"(l.of(a, 4, 3)), "l"(db), "r"(1));
    FINISH;
    l.to(d, 2, 0) = x[0], l.to(d, 2, 1) = x[1];
}

// 32 products in a row: left operands of 0 .. 3 by right ones of 0 .. 7; warp w's sum n is that of product 8 w + n.
KERNEL wgmma_f16_n64 ARGS
{
    __shared__ __align__(128) u32 right[8 * 2 * 32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = blockIdx.x * 32;
    for (int r = warp; r < 16; r += 4)
        right[r * 32 + lane] = b[(first * 2 + r) * 32 + lane];
    __syncthreads();
    const u64 db = described(right, 128, 256);
    u32 x[32], y[4];
    for (int i = 0; i < 4; i++)
        y[i] = a[((first + warp) * 4 + i) * 32 + lane];
#pragma unroll
    for (int i = 0; i < 32; i++)
        x[i] = c[((first + 8 * warp) * 4 + i) * 32 + lane];
    FENCE;
#define X4(i) "+r"(x[i]), "+r"(x[i + 1]), "+r"(x[i + 2]), "+r"(x[i + 3])
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %37, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, %36, p, 1, 1, 0;\n\t}"
                 : X4(0), X4(4), X4(8), X4(12), X4(16), X4(20), X4(24), X4(28)
                 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "l"(db), "r"(1));
    FINISH;
#pragma unroll
    for (int i = 0; i < 32; i++)
        d[((first + 8 * warp) * 4 + i) * 32 + lane] = x[i];
}

// Quotients of pairs: a holds numerators, b denominators, a thread each; of d four words.
KERNEL quotients ARGS
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    u32 x[4];
    asm("div.approx.f32 %0, %1, %2;" : "=r"(x[0]) : "r"(a[i]), "r"(b[i]));
    asm("div.approx.ftz.f32 %0, %1, %2;" : "=r"(x[1]) : "r"(a[i]), "r"(b[i]));
    asm("div.full.f32 %0, %1, %2;" : "=r"(x[2]) : "r"(a[i]), "r"(b[i]));
    asm("div.rn.f32 %0, %1, %2;" : "=r"(x[3]) : "r"(a[i]), "r"(b[i]));
    for (int j = 0; j < 4; j++)
        d[4 * i + j] = x[j];
}
