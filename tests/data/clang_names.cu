/* clang_names.cu - the names that kernels/cuda/clang has for sources of others, each used once: what a learner brings from
 * a course, compiled without a CUDA toolkit. tests/unit/test_ptx_clang.c compiles it; so does nvcc.
 *
 * @name     clang_names
 * @title    Names of CUDA in use
 * @idea     None: it is compiled, not run.
 * @dtypes   f16
 * @threads  128
 * @grid     1
 * @pass     numbers
 * @threads  128
 * @grid     1
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <assert.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <math_constants.h>
#include <mma.h>

using namespace nvcuda;

__constant__ float scale;

__device__ float4 operator+(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
template <class T> __device__ T warp_reduce(T v)
{
    for (int o = warpSize / 2; o; o >>= 1)
        v += __shfl_down_sync(0xffffffff, v, o);
    return v;
}

extern "C" __global__ void __launch_bounds__(128, 2)
    clang_names(const half *__restrict__ a, const half *b, float *c, half *ch, const __nv_bfloat16 *ba)
{
    __shared__ __align__(32) half sa[256], sb[256];
    __shared__ float sc[256];
    __shared__ float4 tile[32];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> fh;
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        sa[i] = a[i];
        sb[i] = b[i];
    }
    __syncthreads();
    wmma::fill_fragment(fc, 0.0f);
    wmma::fill_fragment(fh, __float2half(0.f));
    wmma::load_matrix_sync(fa, sa, 16);
    wmma::load_matrix_sync(fb, sb, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::mma_sync(fh, fa, fb, fh);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] *= scale;
    wmma::store_matrix_sync(sc, fc, 16, wmma::mem_row_major);
    wmma::store_matrix_sync(ch, fh, 16, wmma::mem_row_major);
    wmma::load_matrix_sync(fc, sc, 16, wmma::mem_col_major);
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::row_major> ga;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::row_major> gb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> gc;
    wmma::fill_fragment(gc, 1.f);
    wmma::load_matrix_sync(ga, ba, 16);
    wmma::load_matrix_sync(gb, ba, 8);
    wmma::mma_sync(gc, ga, gb, gc);
    wmma::store_matrix_sync(c + 256, gc, 8, wmma::mem_row_major);
    __syncwarp();
    c[threadIdx.x] = sc[threadIdx.x] + fc.x[0];

    float4 f = reinterpret_cast<const float4 *>(c)[threadIdx.x];
    float *member = &f.x;
    *member += CUDART_INF_F;
    float4 zero = {0.f}, acc = {};
    f = f + make_float4(1, 2, 3, 4) + zero + acc;
    tile[threadIdx.x % 32] = f;
    __syncthreads();
    reinterpret_cast<float4 *>(c)[threadIdx.x] = tile[(threadIdx.x + 1) % 32];
    __pipeline_memcpy_async(&tile[1], c, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    union {
        uint4 whole;
        half2 h[4];
    } both;
    both.whole = *(const uint4 *)c;
    both.h[0] = __hadd2(both.h[1], both.h[2]);
    *(uint4 *)(c + 12) = both.whole;
}

extern "C" __global__ void clang_names_numbers(float *p, half2 *h, __nv_bfloat162 *b, int *q, unsigned long long *u, double *d,
                                               int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    float x = p[t], s, c;
    assert(t < n);
    if (t == 0)
        printf("%d %f %s\n", t, x, "text");
    x = expf(x) + exp2f(x) + logf(x) + log2f(x) + sqrtf(x) + rsqrtf(x) + tanhf(x) + sinf(x) + cosf(x) + powf(x, 2.f);
    x += __expf(x) + __logf(x) + __powf(x, 3.f) + fmaxf(x, 1) + fminf(x, 2.f) + exp(x) + max(x, 0.f) + (float)min(t, 3);
    x += fabs(x) + floorf(x) + ceilf(x) + roundf(x) + __fdividef(x, 3.f) + 1.0f / x + fmaf(x, x, x) + exp10f(x) + expm1f(x) + log1pf(x);
    x += __fadd_rn(x, 1.f) + __fmul_rz(x, x) + __fmaf_rn(x, x, x) + __frcp_rn(x) + __fsqrt_rn(x) + __saturatef(x) + fmodf(x, 3.f);
    sincosf(x, &s, &c);
    x += s + c + (isnan(x) || isinf(x) ? 1.f : copysignf(2.f, x)) + __int_as_float(__float_as_int(x) + 1);
    x = warp_reduce(x) + __shfl_xor_sync(~0u, x, 1, 16) + __shfl_up_sync(~0u, x, 1);
    const int v = warp_reduce(t) + __shfl_sync(~0u, t, 0);
    const double e = warp_reduce(d[t]) + sqrt(d[t]);
    const half r = warp_reduce(__low2half(h[t]));

    const float4 g = __ldg((const float4 *)p + t);
    p[t + 1] = g.x + __ldg(p) + __ldcg(p + 2);
    __stcg(p + 5, x);
    __stcs((float4 *)p + 9, g);
    *(int2 *)(q + 8) = make_int2(1, 2);
    q[10] = (*(const uchar4 *)q).w + ((const ushort4 *)q)[3].z + make_float3(1, 2, 3).z;

    half2 k = h[t];
    k = __hfma2(k, k, k) * k + k;
    k += __float2half2_rn(2.f);
    k = __hmax2(k, __hadd2(k, h[t + 1]));
    half one = 1.0f, y = r * r + half(1.f);
    y = y > one ? hexp(y) : __hdiv(y, one);
    h[t] = k;
    h[t].x = __hfma(y, one, -y);
    h[t + 2] = h2exp(__floats2half2_rn(x, __half2float(y)));
    p[t + 3] = (float)one + __low2float(k);
    atomicAdd(h + 9, k);
    __nv_bfloat162 m = b[t];
    m = m * m + m;
    b[t] = __hfma2(m, m, m);
    b[t + 1] = __floats2bfloat162_rn(x, x);
    b[t + 2].x = __float2bfloat16(x) + __hmax(m.x, m.y);
    x += __bfloat162float(m.x);

    atomicAdd(p, x);
    atomicAdd(q, 1);
    atomicMax(q, v);
    atomicMin((unsigned *)q, 3u);
    atomicCAS(q, 1, 2);
    atomicExch(p, 3.f);
    atomicAdd(u, 1ull);
    atomicAdd(d, e);
    q[t] = __popc(__ballot_sync(~0u, x > 0)) + __clz(v) + __ffs(v) + __any_sync(~0u, v) + __all_sync(~0u, v) +
           __reduce_add_sync(~0u, v) + __activemask() + __match_any_sync(~0u, v) + __syncthreads_count(v) + __brev(v) +
           __byte_perm(v, t, 0x3210) + __dp4a(v, t, 1) + __mulhi(v, t) + __float2int_rn(x) + clock();
    q[4] = (int)static_cast<uint32_t>(__cvta_generic_to_shared(p));
    const dim3 size = gridDim;
    const uint3 place = threadIdx;
    q[5] = (int)(size.x + place.y);
    u[3] = clock64();
    __nanosleep(100);
    __threadfence();
    __threadfence_block();
}
