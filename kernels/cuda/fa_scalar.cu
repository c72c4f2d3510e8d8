/* fa_scalar.cu - the scalar kernel that the WMMA steps start from: 512 threads and everything in
 * shared memory.
 *
 * @name      fa_scalar
 * @title     Scalar, 512 threads, scores and outputs in shared memory
 * @idea      All 512 threads share both products of a tile, an element of the result each at a time;
 *            scores and outputs lie in shared memory, where every thread finds them. It is the
 *            scalar twin of wmma_serial: the same tiles, the same steps, other products.
 * @after     qtile_tpq
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 128 && THREADS % BR == 0 && THREADS / BR <= 32 && BR % 16 == 0
 *            && log2(THREADS / BR) == floor(log2(THREADS / BR))
 * @param     BR 64 [16..128]        query rows per tile
 * @param     BC 32 [8..128]         key rows per tile
 * @param     THREADS 512 [32..1024] threads of a block; THREADS/BR neighbours share a row's softmax
 * @param     PAD 2 [0..32]          extra elements per row of Q and K
 * @threads   THREADS
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+PAD)*T pitch=D+PAD          Q tile
 * @smem      dynamic Ks BC*(D+PAD)*T pitch=D+PAD          K tile, then V tile
 * @smem      dynamic Ss BR*(BC+4)*4  type=f32 pitch=BC+4  scores, then their exponentials
 * @smem      dynamic Os BR*(D+4)*4   type=f32 pitch=D+4   output, not yet divided
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int BR = P_BR, BC = P_BC, THREADS = ATTN_THREADS;
constexpr int PITCH = ATTN_D + P_PAD, S_PITCH = BC + 4, O_PITCH = ATTN_D + 4;
constexpr int LANES = THREADS / BR; // neighbours that share a row of the softmax

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) fa_scalar(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks);
    float *Ss = (float *)(smem + SMEM_Ss), *Os = (float *)(smem + SMEM_Os);
    const int q0 = blockIdx.x * BR, n_keys = visible_keys_of_tile(a, q0, BR);
    const int r = threadIdx.x / LANES, first = threadIdx.x % LANES; // this thread's part of the softmax
    const float scale_log2e = a.scale * 1.4426950408889634f;        // exp(x) = 2^(x log2 e)

    load_tile<BR, PITCH>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    for (int e = threadIdx.x; e < BR * O_PITCH; e += THREADS)
        Os[e] = 0.f;
    float m = NEG_INF, l = 0.f;

    for (int k0 = 0; k0 < n_keys; k0 += BC) {
        __syncthreads(); // nobody reads V any more
        load_tile<BC, PITCH>(Ks, k_row(a, k0), a.k_stride[2], a.Sk - k0, a.D);
        __syncthreads();
        for (int e = threadIdx.x; e < BR * BC; e += THREADS) {
            const elem *q = Qs + e / BC * PITCH, *k = Ks + e % BC * PITCH;
            float s = 0.f;
#pragma unroll 8
            for (int d = 0; d < ATTN_D; d++)
                s += to_float(q[d]) * to_float(k[d]);
            Ss[e / BC * S_PITCH + e % BC] = s;
        }
        __syncthreads(); // scores are there; K was read by all
        load_tile<BC, PITCH>(Ks, v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);

        const int n = min(BC, visible_keys(a, q0 + r) - k0);
        float *s = Ss + r * S_PITCH, m_new = m;
        for (int j = first; j < n; j += LANES)
            m_new = fmaxf(m_new, s[j] * scale_log2e);
        m_new = warp_max<LANES>(m_new);
        // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
        const float base = m_new == NEG_INF ? 0.f : m_new, correction = exp2f(m - base);
        l *= correction;
        m = m_new;
        for (int j = first; j < BC; j += LANES) {
            s[j] = j < n ? exp2f(s[j] * scale_log2e - base) : 0.f;
            l += s[j];
        }
        for (int d = first; d < ATTN_D; d += LANES)
            Os[r * O_PITCH + d] *= correction;
        __syncthreads(); // V and P are there

        for (int e = threadIdx.x; e < BR * ATTN_D; e += THREADS) {
            const float *p = Ss + e / ATTN_D * S_PITCH;
            const elem *v = Ks + e % ATTN_D;
            float o = 0.f;
#pragma unroll 8
            for (int j = 0; j < BC; j++)
                o += p[j] * to_float(v[j * PITCH]);
            Os[e / ATTN_D * O_PITCH + e % ATTN_D] += o;
        }
    }
    __syncthreads(); // outputs are there

    const float sum = warp_sum<LANES>(l), inverse = safe_inverse(sum);
    if (q0 + r >= a.Sq)
        return;
    for (int d = first; d < a.D; d += LANES)
        o_row(a, q0 + r)[d] = to_elem(Os[r * O_PITCH + d] * inverse);
    if (first == 0)
        store_lse(a, q0 + r, m * 0.6931471805599453f, sum); // ln 2: back to natural logarithms
}

/* Cost: two loads from shared memory for every multiply-add, in both products: a multiprocessor
 *   loads 32 words a cycle and could do 64 (sm_80) or 128 multiply-adds, so shared memory (L1) is
 *   the limit.
 * Limits: 512 threads need many registers at once: with more than 40 a thread (they are handed out by
 *   eights) two blocks fit, not three. K and V take turns in one buffer, with 4 barriers a tile.
 * Next: wmma_serial gives the products to the tensor cores. */
