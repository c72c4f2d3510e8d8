/* fused_wmma_pv.cu - fused, both products by WMMA.
 *
 * @name      fused_wmma_pv
 * @title     Fused, both products by WMMA
 * @idea      P V goes to the tensor cores too: 8 warps, a 16 x 16 tile of the 32 x 64 outputs each
 *            (2 x 4); scores by 4 of them (2 x 2). The accumulators are loaded from shared memory
 *            and stored back around every product.
 * @after     fused_wmma_qk
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

__device__ void outputs(accum *Os, const elem *Ps, const elem *Vs);

extern "C" __global__ void __launch_bounds__(THREADS, P_MINBLOCKS)
    fused_wmma_pv(const __grid_constant__ AttnArgs a)
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
        softmax_by_threads(a, Ss, Ps, ms, ls, Os, q0, k0);
        __syncthreads();
        outputs(Os, Ps, V);
    }
    __syncthreads();
    store_columns<1>(a, Os, ls, q0);
    store_sums(a, ms, ls, q0);
}

// O += P V, a warp for each 16 x 16 outputs.
__device__ inline void outputs(accum *Os, const elem *Ps, const elem *Vs)
{
    for (int t = threadIdx.x / 32; t < BR / 16 * (ATTN_D / 16); t += WARPS) {
        const int i = t / (ATTN_D / 16) * 16, d = t % (ATTN_D / 16) * 16;
        Sum o;
        load_c(o, Os + i * ATTN_D + d, ATTN_D);
#pragma unroll
        for (int j = 0; j < BC; j += 16) {
            FragmentA p;
            FragmentB v;
            load_a(p, Ps + i * BC + j, BC);
            load_b(v, Vs + j * ATTN_D + d, ATTN_D);
            multiply<false>(o, p, v);
        }
        store_c(Os + i * ATTN_D + d, o, ATTN_D);
    }
}

/* Cost: a 16 x 16 tile of outputs moves 2 KiB of accumulator, and 1 KiB of P and V for each of its
 *   BC/16 products of 4096 multiply-adds; before, each of these took two loads.
 * Limits: now the softmax is the longest step: one thread a row, 32 of 256 threads. Half the warps
 *   idle during Q K^T.
 * Next: fused_warp_softmax gives each row of the softmax a warp. */
