/* fused_warp_softmax.cu - fused, WMMA, a warp for each row of the softmax.
 *
 * @name      fused_warp_softmax
 * @title     Fused, WMMA, a warp for each row of the softmax
 * @idea      The 32 lanes of a warp share a row: maximum and sum by shuffles, 5 steps instead of a
 *            walk along 32 keys, and neighbouring lanes read neighbouring scores. With D=64 this is
 *            the 35 072 byte block of the reports.
 * @after     fused_wmma_pv
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && D <= 128 && BR % 16 == 0 && BC % 16 == 0
 *            && (ACC == 0 || T == 2)
 * @param     BR 32 [16..128]       query rows per tile
 * @param     BC 32 [16..128]       key rows per tile
 * @param     STAGES 2 [1..4]       buffers for K and V tiles
 * @param     ACC f32|f16           sums, scores and outputs in 32 or 16 bits
 * @param     MINBLOCKS 2 [1..8]    blocks a multiprocessor that the compiler shall make room for
 * @threads   256
 * @grid      ceil(Sq/BR) H B
 * @smem      static Qs BR*D*T          align=32 pitch=D                Q tile
 * @smem      static Ks STAGES*BC*D*T   align=32 pitch=D rows=BC        K tiles
 * @smem      static Vs STAGES*BC*D*T   align=32 pitch=D rows=BC        V tiles
 * @smem      static Ss BR*BC*(4-2*ACC) align=32 type=4-2*ACC pitch=BC  scores
 * @smem      static Ps BR*BC*T         align=32 pitch=BC               their exponentials
 * @smem      static Os BR*D*(4-2*ACC)  align=32 type=4-2*ACC pitch=D   output, not yet divided
 * @smem      static ms BR*4            type=f32                        maxima
 * @smem      static ls BR*4            type=f32                        sums
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fused.cuh"

__device__ void softmax(const AttnArgs &a, const accum *Ss, elem *Ps, float *ms, float *ls, accum *Os, int q0,
                        int k0);

extern "C" __global__ void __launch_bounds__(THREADS, P_MINBLOCKS)
    fused_warp_softmax(const __grid_constant__ AttnArgs a)
{
    __shared__ __align__(32) elem Qs[BR * ATTN_D], Ks[STAGES * BC * ATTN_D], Vs[STAGES * BC * ATTN_D];
    __shared__ __align__(32) accum Ss[BR * BC];
    __shared__ __align__(32) elem Ps[BR * BC];
    __shared__ __align__(32) accum Os[BR * ATTN_D];
    __shared__ float ms[BR], ls[BR];
    const int q0 = blockIdx.x * BR, n_keys = visible_keys_of_tile(a, q0, BR);

    copy_tile<BR, ATTN_D, 1>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    clear_outputs(Os, ms, ls);

    for (int k0 = 0, stage = 0; k0 < n_keys; k0 += BC, stage = (stage + 1) % STAGES) {
        elem *K = Ks + stage * BC * ATTN_D, *V = Vs + stage * BC * ATTN_D;
        __syncthreads(); // nobody reads these tiles, scores or outputs any more
        copy_tile<BC, ATTN_D, 1>(K, k_row(a, k0), a.k_stride[2], a.Sk - k0, a.D);
        copy_tile<BC, ATTN_D, 1>(V, v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);
        __syncthreads();
        scores_wmma(Ss, Qs, K);
        __syncthreads();
        softmax(a, Ss, Ps, ms, ls, Os, q0, k0);
        __syncthreads();
        outputs_wmma(Os, Ps, V);
    }
    __syncthreads();
    store_columns<1>(a, Os, ls, q0);
    store_sums(a, ms, ls, q0);
}

// P = 2^(S - m), a warp for each row; m, l and O follow the new maximum.
__device__ inline void softmax(const AttnArgs &a, const accum *Ss, elem *Ps, float *ms, float *ls,
                               accum *Os, int q0, int k0)
{
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
    const int lane = threadIdx.x % 32;
    for (int r = threadIdx.x / 32; r < BR; r += WARPS) {
        const int n = min(BC, visible_keys(a, q0 + r) - k0);
        const float m = ms[r];
        float m_new = m, sum = 0.f;
        for (int j = lane; j < n; j += 32)
            m_new = fmaxf(m_new, from_accum(Ss[r * BC + j]) * scale_log2e);
        m_new = warp_max(m_new);
        // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
        const float base = m_new == NEG_INF ? 0.f : m_new, correction = exp2f(m - base);
        for (int j = lane; j < BC; j += 32) {
            const float p = j < n ? exp2f(from_accum(Ss[r * BC + j]) * scale_log2e - base) : 0.f;
            sum += p;
            Ps[r * BC + j] = to_elem(p);
        }
        sum = warp_sum(sum);
        __syncwarp(); // all lanes have read ms[r]: a shuffle orders no memory
        if (lane == 0) {
            ms[r] = m_new;
            ls[r] = ls[r] * correction + sum;
        }
        for (int d = lane; d < ATTN_D; d += 32)
            Os[r * ATTN_D + d] = to_accum(from_accum(Os[r * ATTN_D + d]) * correction);
    }
}

/* Cost: 10 shuffles a row, two elements of output a lane; 8 rows at a time instead of 32 on one
 *   warp.
 * Limits: shared memory is static: BR=64 BC=64 needs 82 432 bytes and the compiler refuses
 *   (0x14200 bytes, 0xc000 max). Try it.
 * Next: fused_dyn_smem asks for more than 48 KiB. */
