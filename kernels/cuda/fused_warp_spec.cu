/* fused_warp_spec.cu - fused, WMMA, a warp that loads and warps that multiply.
 *
 * @name      fused_warp_spec
 * @title     Fused, WMMA, a warp that loads and warps that multiply
 * @idea      A ninth warp does nothing but start copies; the other 8 do nothing but multiply. They
 *            hand tiles over through two barriers a buffer, full and empty, where only one side
 *            waits, so that the loader runs ahead as far as the buffers reach.
 * @after     fused_cp_async
 * @unit      tensor
 * @dtypes    f16 bf16
 * @requires  sm >= 80 && D <= 128 && BR % 16 == 0 && BC % 16 == 0
 *            && (ACC == 0 || T == 2)
 * @param     BR 64 [16..128]       query rows per tile
 * @param     BC 64 [16..128]       key rows per tile
 * @param     STAGES 2 [2..4]       buffers for K and V tiles
 * @param     ACC f32|f16           sums, scores and outputs in 32 or 16 bits
 * @param     MINBLOCKS 2 [1..8]    blocks a multiprocessor that the compiler shall make room for
 * @threads   288
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*D*T align=32         Q tile
 * @smem      dynamic Ks STAGES*BC*D*T align=32  K tiles
 * @smem      dynamic Vs STAGES*BC*D*T align=32  V tiles
 * @smem      dynamic Ss BR*BC*(4-2*ACC) align=32  scores
 * @smem      dynamic Ps BR*BC*T align=32        their exponentials
 * @smem      dynamic Os BR*D*(4-2*ACC) align=32 output, not yet divided
 * @smem      dynamic ms BR*4                    maxima
 * @smem      dynamic ls BR*4                    sums
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * Cost: one warp more, no copy instruction in the others; 256 threads meet twice a tile instead of
 *   three times.
 * Limits: on sm_80 the loading warp holds as many registers as the others and must start every 16
 *   bytes itself: one lane and one instruction do it on sm_90. One warp may be too slow to keep up
 *   with small tiles.
 * Next: on Hopper, fa3_warpspec.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTN_THREADS
#define ATTN_THREADS 288
#endif
#ifndef P_BR
#define P_BR 64
#endif
#ifndef P_BC
#define P_BC 64
#endif
#include "fused.cuh"
#ifndef SMEM_Qs
#define SMEM_Qs 0
#define SMEM_Ks (SMEM_Qs + BR * ATTN_D * 2)
#define SMEM_Vs (SMEM_Ks + STAGES * BC * ATTN_D * 2)
#define SMEM_Ss (SMEM_Vs + STAGES * BC * ATTN_D * 2)
#define SMEM_Ps (SMEM_Ss + BR * BC * sizeof(accum))
#define SMEM_Os (SMEM_Ps + BR * BC * 2)
#define SMEM_ms (SMEM_Os + BR * ATTN_D * sizeof(accum))
#define SMEM_ls (SMEM_ms + BR * 4)
#endif

constexpr int MULTIPLIERS = 8, MULTIPLYING = MULTIPLIERS * 32; // warps, threads
// Numbers of barriers: tile `stage` is full, is empty; the multiplying warps among themselves.
constexpr int FULL = 1, EMPTY = FULL + STAGES, AMONG = EMPTY + STAGES;

extern "C" __global__ void __launch_bounds__(THREADS, P_MINBLOCKS)
    fused_warp_spec(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks), *Vs = (elem *)(smem + SMEM_Vs);
    accum *Ss = (accum *)(smem + SMEM_Ss), *Os = (accum *)(smem + SMEM_Os);
    elem *Ps = (elem *)(smem + SMEM_Ps);
    float *ms = (float *)(smem + SMEM_ms), *ls = (float *)(smem + SMEM_ls);
    const int q0 = blockIdx.x * BR, n_keys = visible_keys_of_tile(a, q0, BR);
    const int n_tiles = (n_keys + BC - 1) / BC, warp = threadIdx.x / 32;

    start_rows(a, Qs, BR, q_row(a, q0), a.q_stride[2], a.Sq - q0, 0, THREADS);
    commit_copies();
    clear_outputs(Os, ms, ls);
    wait_copies<0>();
    __syncthreads();

    if (warp == MULTIPLIERS) { // loads
        for (int t = 0; t < n_tiles; t++) {
            const int stage = t % STAGES, k0 = t * BC;
            if (t >= STAGES)
                meet(EMPTY + stage, MULTIPLYING + 32);
            start_rows(a, Ks + stage * BC * ATTN_D, BC, k_row(a, k0), a.k_stride[2], a.Sk - k0, MULTIPLYING, 32);
            start_rows(a, Vs + stage * BC * ATTN_D, BC, v_row(a, k0), a.v_stride[2], a.Sk - k0, MULTIPLYING, 32);
            commit_copies();
            if (t > 0) { // the tile before has come
                wait_copies<1>();
                arrive(FULL + (t - 1) % STAGES, MULTIPLYING + 32);
            }
        }
        wait_copies<0>();
        if (n_tiles > 0)
            arrive(FULL + (n_tiles - 1) % STAGES, MULTIPLYING + 32);
    } else {
        for (int t = 0; t < n_tiles; t++) {
            const int stage = t % STAGES, k0 = t * BC;
            const elem *K = Ks + stage * BC * ATTN_D, *V = Vs + stage * BC * ATTN_D;
            meet(FULL + stage, MULTIPLYING + 32);
            scores_wmma(Ss, Qs, K, 0, MULTIPLIERS);
            meet(AMONG, MULTIPLYING);
            softmax_rows<32>(a, Ss, Ps, ms, ls, Os, q0, k0, warp, MULTIPLIERS);
            meet(AMONG, MULTIPLYING);
            outputs_wmma(Os, Ps, V, 0, MULTIPLIERS);
            if (t + STAGES < n_tiles)
                arrive(EMPTY + stage, MULTIPLYING + 32);
        }
    }
    __syncthreads();
    if (rows_by_16_bytes(a, a.o_stride[2]))
        store_columns<8>(a, Os, ls, q0);
    else
        store_columns<1>(a, Os, ls, q0);
    store_sums(a, ms, ls, q0);
}
