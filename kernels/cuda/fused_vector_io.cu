/* fused_vector_io.cu - fused, WMMA, 64 x 64 tiles, 16 bytes a load.
 *
 * @name      fused_vector_io
 * @title     Fused, WMMA, 64 x 64 tiles, 16 bytes a load
 * @idea      A thread loads and stores 8 elements, 16 bytes, at a time instead of one: an eighth of
 *            the instructions and of the address arithmetic for the same bytes.
 * @after     fused_dyn_smem
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

template <int ROWS>
__device__ void load_rows(const AttnArgs &a, elem *tile, const elem *src, long long stride, int valid);

extern "C" __global__ void __launch_bounds__(THREADS, P_MINBLOCKS)
    fused_vector_io(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks), *Vs = (elem *)(smem + SMEM_Vs);
    accum *Ss = (accum *)(smem + SMEM_Ss), *Os = (accum *)(smem + SMEM_Os);
    elem *Ps = (elem *)(smem + SMEM_Ps);
    float *ms = (float *)(smem + SMEM_ms), *ls = (float *)(smem + SMEM_ls);
    const int q0 = blockIdx.x * BR, n_keys = visible_keys_of_tile(a, q0, BR);

    load_rows<BR>(a, Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0);
    clear_outputs(Os, ms, ls);

    for (int k0 = 0, stage = 0; k0 < n_keys; k0 += BC, stage = (stage + 1) % STAGES) {
        elem *K = Ks + stage * BC * ATTN_D, *V = Vs + stage * BC * ATTN_D;
        __syncthreads(); // nobody reads these tiles, scores or outputs any more
        load_rows<BC>(a, K, k_row(a, k0), a.k_stride[2], a.Sk - k0);
        load_rows<BC>(a, V, v_row(a, k0), a.v_stride[2], a.Sk - k0);
        __syncthreads();
        scores_wmma(Ss, Qs, K);
        __syncthreads();
        softmax_by_warps(a, Ss, Ps, ms, ls, Os, q0, k0);
        __syncthreads();
        outputs_wmma(Os, Ps, V);
    }
    __syncthreads();
    if (rows_by_16_bytes(a, a.o_stride[2]))
        store_columns<8>(a, Os, ls, q0);
    else
        store_columns<1>(a, Os, ls, q0);
    store_sums(a, ms, ls, q0);
}

// Rows of D elements by 16 bytes where that is possible.
template <int ROWS>
__device__ inline void load_rows(const AttnArgs &a, elem *tile, const elem *src, long long stride, int valid)
{
    if (rows_by_16_bytes(a, stride))
        copy_tile<ROWS, ATTN_D, 8>(tile, src, stride, valid, a.D);
    else
        copy_tile<ROWS, ATTN_D, 1>(tile, src, stride, valid, a.D);
}

/* Cost: a 64 x 64 tile takes 2 loads a thread instead of 16.
 * Limits: D must be a multiple of 8, and so must strides; otherwise elements go one by one as
 *   before. The block still waits for each tile.
 * Next: fused_cp_async loads the next tile while this one is multiplied. */
