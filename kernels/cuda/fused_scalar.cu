/* fused_scalar.cu - fused into one launch, scalar products.
 *
 * @name      fused_scalar
 * @title     Fused into one launch, scalar products
 * @idea      Scores, softmax and outputs of a 32 x 32 tile stay in the shared memory of one block:
 *            the score matrix never goes to global memory. Everything else is as plain as it can
 *            be: an element of a product for each thread, one thread for the softmax of a row.
 * @after     wmma_serial
 * @unit      scalar
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

__device__ void scores(accum *Ss, const elem *Qs, const elem *Ks);

extern "C" __global__ void __launch_bounds__(THREADS, P_MINBLOCKS)
    fused_scalar(const __grid_constant__ AttnArgs a)
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
        scores(Ss, Qs, K);
        __syncthreads();
        softmax_by_threads(a, Ss, Ps, ms, ls, Os, q0, k0);
        __syncthreads();
        outputs_by_threads(Os, Ps, V);
    }
    __syncthreads();
    store_columns<1>(a, Os, ls, q0);
    store_sums(a, ms, ls, q0);
}

// Q K^T, a thread for each element.
__device__ inline void scores(accum *Ss, const elem *Qs, const elem *Ks)
{
    for (int e = threadIdx.x; e < BR * BC; e += THREADS) {
        const elem *q = Qs + e / BC * ATTN_D, *k = Ks + e % BC * ATTN_D;
        float s = 0.f;
#pragma unroll 8
        for (int d = 0; d < ATTN_D; d++)
            s += to_float(q[d]) * to_float(k[d]);
        Ss[e] = to_accum(s);
    }
}

/* Cost: two loads from shared memory for each multiply-add; during the softmax 32 of 256 threads
 *   work, one row each, with 32 keys and D outputs to go through alone.
 * Limits: fusing saves memory traffic that was not the bottleneck: on an L4 a report measured this
 *   step slower than three separate kernels. Shared memory is static, so 48 KiB is the end; STAGES=2
 *   is paid for and not yet used. Elements are loaded one by one.
 * Next: fused_wmma_qk gives the first product to the tensor cores. */
