/* fused_warp_spec.cu - fused, WMMA, a warp that loads and warps that multiply.
 *
 * @name      fused_warp_spec
 * @title     Fused, WMMA, a warp that loads and warps that multiply
 * @idea      A ninth warp does nothing but start copies; the other 8 do nothing but multiply. They
 *            hand tiles over through two memory barriers a buffer, full and empty: copies arrive at
 *            full by themselves, so the loader runs ahead as far as the buffers reach.
 * @after     fused_cp_async
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && D <= 128 && BR % 16 == 0 && BC % 16 == 0
 *            && (ACC == 0 || T == 2)
 * @param     BR 64 [16..128]       query rows per tile
 * @param     BC 64 [16..128]       key rows per tile
 * @param     STAGES 2 [2..4]       buffers for K and V tiles
 * @param     ACC f32|f16           sums, scores and outputs in 32 or 16 bits
 * @param     MINBLOCKS 2 [1..8]    blocks a multiprocessor that the compiler shall make room for
 * @threads   288
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs    BR*D*T          align=32 pitch=D                Q tile
 * @smem      dynamic Ks    STAGES*BC*D*T   align=32 pitch=D rows=BC        K tiles
 * @smem      dynamic Vs    STAGES*BC*D*T   align=32 pitch=D rows=BC        V tiles
 * @smem      dynamic Ss    BR*BC*(4-2*ACC) align=32 type=4-2*ACC pitch=BC  scores
 * @smem      dynamic Ps    BR*BC*T         align=32 pitch=BC               their exponentials
 * @smem      dynamic Os    BR*D*(4-2*ACC)  align=32 type=4-2*ACC pitch=D   output, not yet divided
 * @smem      dynamic ms    BR*4            type=f32                        maxima
 * @smem      dynamic ls    BR*4            type=f32                        sums
 * @smem      dynamic full STAGES*8 align=8 type=u64  barriers: a buffer's tiles have come
 * @smem      dynamic empty STAGES*8 align=8 type=u64  barriers: nobody reads them any more
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fused.cuh"

constexpr int MULTIPLIERS = 8, MULTIPLYING = MULTIPLIERS * 32; // warps, threads
constexpr int AMONG = 1;                                       // the barrier of the multiplying warps

__device__ void load_tiles(const AttnArgs &a, elem *Ks, elem *Vs, MemoryBarrier *full, MemoryBarrier *empty,
                           int n_tiles);

extern "C" __global__ void __launch_bounds__(THREADS, P_MINBLOCKS)
    fused_warp_spec(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks), *Vs = (elem *)(smem + SMEM_Vs);
    accum *Ss = (accum *)(smem + SMEM_Ss), *Os = (accum *)(smem + SMEM_Os);
    elem *Ps = (elem *)(smem + SMEM_Ps);
    float *ms = (float *)(smem + SMEM_ms), *ls = (float *)(smem + SMEM_ls);
    MemoryBarrier *full = (MemoryBarrier *)(smem + SMEM_full), *empty = (MemoryBarrier *)(smem + SMEM_empty);
    const int q0 = blockIdx.x * BR, n_keys = visible_keys_of_tile(a, q0, BR);
    const int n_tiles = (n_keys + BC - 1) / BC, warp = threadIdx.x / 32;

    if (threadIdx.x < STAGES) {
        barrier_make(full + threadIdx.x, 2 * 32); // each lane of the loader: its copies, and itself
        barrier_make(empty + threadIdx.x, MULTIPLYING);
    }
    start_rows(a, Qs, BR, q_row(a, q0), a.q_stride[2], a.Sq - q0, 0, THREADS);
    commit_copies();
    clear_outputs(Os, ms, ls);
    wait_copies<0>();
    __syncthreads();

    if (warp == MULTIPLIERS) {
        load_tiles(a, Ks, Vs, full, empty, n_tiles);
        return;
    }
    for (int t = 0; t < n_tiles; t++) {
        const int stage = t % STAGES, k0 = t * BC;
        barrier_wait(full + stage, t / STAGES % 2);
        scores_wmma(Ss, Qs, Ks + stage * BC * ATTN_D, 0, MULTIPLIERS);
        meet(AMONG, MULTIPLYING);
        softmax_by_warps(a, Ss, Ps, ms, ls, Os, q0, k0, MULTIPLIERS);
        meet(AMONG, MULTIPLYING);
        outputs_wmma(Os, Ps, Vs + stage * BC * ATTN_D, 0, MULTIPLIERS);
        arrive(empty + stage);
    }
    meet(AMONG, MULTIPLYING); // sums are there, also in a block without keys
    if (rows_by_16_bytes(a, a.o_stride[2]))
        store_columns<8>(a, Os, ls, q0, MULTIPLYING);
    else
        store_columns<1>(a, Os, ls, q0, MULTIPLYING);
    store_sums(a, ms, ls, q0, MULTIPLYING);
}

// Starts the copies of all tiles, a buffer ahead of its readers as often as one is empty.
__device__ inline void load_tiles(const AttnArgs &a, elem *Ks, elem *Vs, MemoryBarrier *full, MemoryBarrier *empty,
                                  int n_tiles)
{
    for (int t = 0; t < n_tiles; t++) {
        const int stage = t % STAGES, k0 = t * BC;
        if (t >= STAGES)
            barrier_wait(empty + stage, (t / STAGES - 1) % 2);
        start_rows(a, Ks + stage * BC * ATTN_D, BC, k_row(a, k0), a.k_stride[2], a.Sk - k0, MULTIPLYING, 32);
        start_rows(a, Vs + stage * BC * ATTN_D, BC, v_row(a, k0), a.v_stride[2], a.Sk - k0, MULTIPLYING, 32);
        arrive_with_copies(full + stage);
        arrive(full + stage); // rows that had to be stored one by one
    }
    wait_copies<0>();
}

/* Cost: one warp more, no copy instruction in the others; 256 threads meet twice a tile instead of
 *   three times. A barrier in memory is a counter: whoever hands over adds one and goes on, whoever
 *   needs the tile looks until the phase is over. Two phases in turn are told apart by parity.
 * Limits: on sm_80 the loading warp holds as many registers as the others and must start every 16
 *   bytes itself: one lane and one instruction do it on sm_90. One warp may be too slow to keep up
 *   with small tiles.
 * Next: fa2_mma_plain multiplies with mma.sync, whose fragments are documented: scores and outputs
 *   stay in registers. */
