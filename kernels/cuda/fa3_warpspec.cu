/* fa3_warpspec.cu - one warpgroup copies, the others multiply.
 *
 * @name      fa3_warpspec
 * @title     Hopper: a producer warpgroup, consumers with most of the registers
 * @idea      One thread of a warpgroup of its own starts all copies, as far ahead as there are
 *            stages; the others never wait for an address, only for barriers: here (bytes have
 *            come) and free (all warps have read). The producer gives its registers to the
 *            consumers (setmaxnreg), which makes room for tiles of 128 keys.
 * @after     fa3_wgmma
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90a
 * @requires  sm == 90 && D <= 256 && D % 8 == 0 && BR % 64 == 0 && BC % 16 == 0
 *            && (BR < 192 || D <= 64 && BC <= 128)
 * @param     BR (D<=64?192:128) [64..192]  query rows per tile, 64 a warpgroup
 * @param     BC 128 [64..176]       key rows per tile; beyond D=128 at most 80
 * @param     STAGES 2 [1..4]        tiles of K, and of V, in shared memory
 * @threads   BR*2+128
 * @grid      ceil(Sq/BR) H B
 * @tma       Q box=BR,D swizzle=128                           copies of the Q tile
 * @tma       K box=min(BC,192-112*(D>128)),D swizzle=128      and of K and V tiles
 * @tma       V box=min(BC,192-112*(D>128)),D swizzle=128
 * @smem      dynamic Qs BR*ceil(D/64)*128
 *            align=1024 pitch=64 rows=BR swizzle=16  Q tile, in slices of 64 columns
 * @smem      dynamic Ks STAGES*min(BC,192-112*(D>128))*ceil(D/64)*128
 *            align=1024 pitch=64 rows=min(BC,192-112*(D>128)) swizzle=16  K tiles
 * @smem      dynamic Vs STAGES*min(BC,192-112*(D>128))*ceil(D/64)*128
 *            align=1024 pitch=64 rows=min(BC,192-112*(D>128)) swizzle=16  V tiles
 * @smem      dynamic barriers 8*(1+4*STAGES) type=u64  who waits for what
 * @traffic   read B*H*(Sq*D*T+tiles(BR,min(BC,192-112*(D>128)))*2*min(BC,192-112*(D>128))*D*T)
 *            write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "hopper.cuh"

constexpr int BR = P_BR, BC = ATTN_D > 128 && P_BC > 80 ? 80 : P_BC, STAGES = P_STAGES;
constexpr int CONSUMERS = BR / 64; // warpgroups that multiply

struct Barriers {
    MemoryBarrier q_here, k_here[STAGES], v_here[STAGES], k_free[STAGES], v_free[STAGES];
};

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa3_warpspec(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
                 const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map)
{
    Barriers &bar = *(Barriers *)(smem + SMEM_barriers);
    const unsigned Qs = shared_address(smem + SMEM_Qs), Ks = shared_address(smem + SMEM_Ks);
    const unsigned Vs = shared_address(smem + SMEM_Vs);
    const int head = head_of_block(), batch = batch_of_block(), kv_head = head / (a.H / a.Hkv);
    const int q0 =
        (a.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BR; // the longest go first
    const int tiles = (visible_keys_of_tile(a, q0, BR) + BC - 1) / BC;

    if (threadIdx.x == 0) {
        barrier_make(&bar.q_here, 1);
        for (int i = 0; i < STAGES; i++) {
            barrier_make(&bar.k_here[i], 1);
            barrier_make(&bar.v_here[i], 1);
            barrier_make(&bar.k_free[i], CONSUMERS * 4); // a lane of every warp arrives
            barrier_make(&bar.v_free[i], CONSUMERS * 4);
        }
        publish_barriers();
    }
    __syncthreads();

    if (warpgroup_of_thread() == CONSUMERS) { // the producer: one thread starts all copies
        keep_registers<BR == 192 ? 32 : 24>();
        if (threadIdx.x % 128 == 0 && tiles > 0) {
            fetch_tile<BR>(Qs, q_map, q0, head, batch, &bar.q_here);
            for (int j = 0; j < tiles; j++) {
                const int stage = j % STAGES, parity = j / STAGES % 2 ^ 1;
                await(&bar.k_free[stage], parity);
                fetch_tile<BC>(Ks + stage * BC * TILE_ROW, k_map, j * BC, kv_head, batch,
                               &bar.k_here[stage]);
                await(&bar.v_free[stage], parity);
                fetch_tile<BC>(Vs + stage * BC * TILE_ROW, v_map, j * BC, kv_head, batch,
                               &bar.v_here[stage]);
            }
        }
    } else {
        take_registers<BR == 192 ? 160 : 240>();
        const int warpgroup = warpgroup_of_thread(), row = row_of_lane(q0, warpgroup);
        const unsigned q_rows = Qs + warpgroup * 64 * SLICE_BYTES;
        const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
        float o[COLUMNS / 2] = {};                               // not yet divided by l
        SoftmaxRows rows;
        if (tiles > 0)
            await(&bar.q_here, 0);
        for (int j = 0; j < tiles; j++) {
            const int stage = j % STAGES, parity = j / STAGES % 2;
            float s[BC / 2];
            await(&bar.k_here[stage], parity);
            begin_products();
            start_scores<BR, BC>(s, q_rows, Ks + stage * BC * TILE_ROW);
            commit_products();
            await_products<0>(s);
            if (threadIdx.x % 32 == 0)
                arrive(&bar.k_free[stage]);

            if ((j + 1) * BC > visible_keys(a, q0 + warpgroup * 64))
                mask_scores(s, a, row, j * BC);
            if (rows.update(s, scale_log2e))
                rows.correct(o);
            unsigned p[BC / 4];
            pack_scores(p, s);

            await(&bar.v_here[stage], parity);
            begin_products();
            start_outputs<BC>(o, p, Vs + stage * BC * TILE_ROW);
            commit_products();
            await_products<0>(o);
            if (threadIdx.x % 32 == 0)
                arrive(&bar.v_free[stage]);
        } // @show o
        store_outputs(a, o, end_rows(a, rows, row, head, batch), row, head, batch);
    }
}

/* Registers: the launch gives all warpgroups the same, 168 at BR=128 (that is what ptxas reports
 *   and what the occupancy counts). Then the producer keeps 24 and each of the two consumers takes
 *   240: 128 * (24 + 2 * 240) = 64512 of 65536, the same sum. At BR=192 it is 128, 32 and 160.
 * Cost: as fa3_wgmma, without the two barriers of the block in each tile: a warpgroup that is done
 *   with its softmax multiplies at once, while the other may still be at its own.
 * Measured (H200, f16, H=16, B*S=16k, D=128, TFLOP/s): S=4096 537, causal 477.
 * Limits: whether the two consumers multiply in turn or at the same time is chance. Otherwise as
 *   fa3_wgmma.
 * Next: make them take turns (fa3_pingpong). */
