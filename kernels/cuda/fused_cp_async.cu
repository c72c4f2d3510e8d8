/* fused_cp_async.cu - fused, WMMA, 64 x 64 tiles, loads in the background.
 *
 * @name      fused_cp_async
 * @title     Fused, WMMA, 64 x 64 tiles, loads in the background
 * @idea      cp.async copies the next tiles of K and V into the other buffer while this one is
 *            multiplied: at last STAGES=2 is used. The block waits only for what has not come by
 *            the time it is needed.
 * @after     fused_vector_io
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && D <= 128 && BR % 16 == 0 && BC % 16 == 0
 *            && (ACC == 0 || T == 2)
 * @param     BR 64 [16..128]       query rows per tile
 * @param     BC 64 [16..128]       key rows per tile
 * @param     STAGES 2 [2..4]       buffers for K and V tiles
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

__device__ void start_copy(const AttnArgs &a, elem *tile, int rows, const elem *src, long long stride, int valid);

extern "C" __global__ void __launch_bounds__(THREADS, P_MINBLOCKS)
    fused_cp_async(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks), *Vs = (elem *)(smem + SMEM_Vs);
    accum *Ss = (accum *)(smem + SMEM_Ss), *Os = (accum *)(smem + SMEM_Os);
    elem *Ps = (elem *)(smem + SMEM_Ps);
    float *ms = (float *)(smem + SMEM_ms), *ls = (float *)(smem + SMEM_ls);
    const int q0 = blockIdx.x * BR, n_keys = visible_keys_of_tile(a, q0, BR);
    const auto start_tile = [&](int k0, int stage) { // one group of copies, empty beyond the last tile
        if (k0 < n_keys) {
            start_copy(a, Ks + stage * BC * ATTN_D, BC, k_row(a, k0), a.k_stride[2], a.Sk - k0);
            start_copy(a, Vs + stage * BC * ATTN_D, BC, v_row(a, k0), a.v_stride[2], a.Sk - k0);
        }
        commit_copies();
    };

    start_copy(a, Qs, BR, q_row(a, q0), a.q_stride[2], a.Sq - q0);
    for (int t = 0; t < STAGES - 1; t++)
        start_tile(t * BC, t);
    clear_outputs(Os, ms, ls);

    for (int k0 = 0, stage = 0; k0 < n_keys; k0 += BC, stage = (stage + 1) % STAGES) {
        const elem *K = Ks + stage * BC * ATTN_D, *V = Vs + stage * BC * ATTN_D;
        wait_copies<STAGES - 2>();
        __syncthreads(); // these tiles are there, and nobody reads the oldest any more
        start_tile(k0 + (STAGES - 1) * BC, (stage + STAGES - 1) % STAGES);
        scores_wmma(Ss, Qs, K);
        __syncthreads();
        softmax_by_warps(a, Ss, Ps, ms, ls, Os, q0, k0);
        __syncthreads();
        outputs_wmma(Os, Ps, V);
    }
    wait_copies<0>();
    __syncthreads();
    if (rows_by_16_bytes(a, a.o_stride[2]))
        store_columns<8>(a, Os, ls, q0);
    else
        store_columns<1>(a, Os, ls, q0);
    store_sums(a, ms, ls, q0);
}

// Starts the copy of `valid` rows, 16 bytes at a time; where rows cannot be read so, copies at once.
__device__ inline void start_copy(const AttnArgs &a, elem *tile, int rows, const elem *src, long long stride,
                                  int valid)
{
    if (!rows_by_16_bytes(a, stride)) {
        for (int e = threadIdx.x; e < rows * ATTN_D; e += THREADS) {
            const int r = e / ATTN_D, d = e % ATTN_D;
            tile[e] = r < valid && d < a.D ? src[r * stride + d] : to_elem(0.f);
        }
        return;
    }
    for (int e = threadIdx.x; e < rows * (ATTN_D / 8); e += THREADS) {
        const int r = e / (ATTN_D / 8), d = e % (ATTN_D / 8) * 8;
        const bool inside = r < valid && d < a.D;
        copy_async(shared_address(tile + r * ATTN_D + d), inside ? src + r * stride + d : src, inside);
    }
}

/* Cost: the same bytes and products; a tile has the time of STAGES-1 tiles to come from memory.
 * Limits: all warps start copies, then all multiply: copy instructions and products still take
 *   turns in each warp. Where D or a stride is no multiple of 8, copies are made at once, as in
 *   fused_dyn_smem.
 * Next: fused_warp_spec leaves the copies to a warp of their own. */
