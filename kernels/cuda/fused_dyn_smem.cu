/* fused_dyn_smem.cu - fused, WMMA, 64 x 64 tiles in dynamic shared memory.
 *
 * @name      fused_dyn_smem
 * @title     Fused, WMMA, 64 x 64 tiles in dynamic shared memory
 * @idea      Shared memory is asked for at launch instead of declared: beyond 48 KiB a kernel must
 *            opt in (cuFuncSetAttribute), and up to 99 KiB (sm_89) or 227 KiB (sm_90) a block is
 *            allowed. The tile grows to 64 x 64: K and V are loaded half as often, and a barrier
 *            serves four times the work.
 * @after     fused_warp_softmax
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && D <= 128 && BR % 16 == 0 && BC % 16 == 0
 *            && (ACC == 0 || T == 2)
 * @param     BR 64 [16..128]       query rows per tile
 * @param     BC 64 [16..128]       key rows per tile
 * @param     STAGES 2 [1..4]       buffers for K and V tiles
 * @param     ACC f32|f16           sums, scores and outputs in 32 or 16 bits
 * @param     MINBLOCKS 2 [1..8]    blocks a multiprocessor that the compiler shall make room for
 * @threads   256
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*D*T          align=32 pitch=D                Q tile
 * @smem      dynamic Ks STAGES*BC*D*T   align=32 pitch=D rows=BC        K tiles
 * @smem      dynamic Vs STAGES*BC*D*T   align=32 pitch=D rows=BC        V tiles
 * @smem      dynamic Ss BR*BC*(4-2*ACC) align=32 type=4-2*ACC pitch=BC  scores
 * @smem      dynamic Ps BR*BC*T         align=32 pitch=BC               their exponentials
 * @smem      dynamic Os BR*D*(4-2*ACC)  align=32 type=4-2*ACC pitch=D   output, not yet divided
 * @smem      dynamic ms BR*4            type=f32                        maxima
 * @smem      dynamic ls BR*4            type=f32                        sums
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fused.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, P_MINBLOCKS)
    fused_dyn_smem(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks), *Vs = (elem *)(smem + SMEM_Vs);
    accum *Ss = (accum *)(smem + SMEM_Ss), *Os = (accum *)(smem + SMEM_Os);
    elem *Ps = (elem *)(smem + SMEM_Ps);
    float *ms = (float *)(smem + SMEM_ms), *ls = (float *)(smem + SMEM_ls);
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
        softmax_by_warps(a, Ss, Ps, ms, ls, Os, q0, k0);
        __syncthreads();
        outputs_wmma(Os, Ps, V);
    }
    __syncthreads();
    store_columns<1>(a, Os, ls, q0);
    store_sums(a, ms, ls, q0);
}

/* Cost: 82 432 bytes a block at D=64, 2.35 times those of a 32 x 32 tile: scores and exponentials
 *   grow 4 times, tiles and outputs twice.
 * Limits: one block on an L4 (100 KiB a multiprocessor), two on an A100: fewer warps to hide loads
 *   behind. And BR=64 starts half as many blocks as BR=32: with B=1 H=8 S=512 there are 64, which on
 *   the 132 multiprocessors of an H200 was slower than 128. Elements are still loaded one by one,
 *   2 bytes.
 * Next: fused_vector_io loads 16 bytes at a time. */
