/* fa3_pingpong.cu - two warpgroups take turns at the tensor cores.
 *
 * @name      fa3_pingpong
 * @title     Hopper: ping-pong, one warpgroup multiplies while the other is at its softmax
 * @idea      The loop is turned round so that a warpgroup's products stand together: the scores of
 *            the next key tile, then the outputs of the last. With two barriers the warpgroups
 *            hand each other the tensor cores: while one multiplies, the other is at its softmax,
 *            and they stay half a step apart.
 * @after     fa3_warpspec
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90a
 * @requires  sm == 90 && D <= 256 && D % 8 == 0 && BR % 64 == 0 && BC % 16 == 0
 *            && (BR < 192 || D <= 64 && BC <= 128)
 * @param     BR 128 [64..192]       query rows per tile, 64 a warpgroup
 * @param     BC 128 [64..176]       key rows per tile; beyond D=128 at most 80
 * @param     STAGES 2 [2..4]        tiles of K, and of V, in shared memory
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

// Turns at the tensor cores: barrier 1 + w is met by warpgroup w, which waits, and the one before, which does not.
__device__ inline void await_turn(int warpgroup)
{
    if (CONSUMERS > 1)
        meet(1 + warpgroup, 256);
}
__device__ inline void give_turn(int warpgroup)
{
    if (CONSUMERS > 1)
        arrive_at(1 + (warpgroup + 1) % CONSUMERS, 256);
}

struct Barriers {
    MemoryBarrier q_here, k_here[STAGES], v_here[STAGES], k_free[STAGES], v_free[STAGES];
};

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa3_pingpong(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
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
        if (tiles > 0) {
            float s[BC / 2];
            unsigned p[BC / 4];
            await(&bar.q_here, 0);
            await(&bar.k_here[0], 0);
            begin_products();
            start_scores<BR, BC>(s, q_rows, Ks);
            commit_products();
            await_products<0>(s);
            if (threadIdx.x % 32 == 0)
                arrive(&bar.k_free[0]);
            if (BC > visible_keys(a, q0 + warpgroup * 64))
                mask_scores(s, a, row, 0);
            rows.update(s, scale_log2e);
            pack_scores(p, s);

            if (warpgroup == CONSUMERS - 1) // the first turn is warpgroup 0's
                give_turn(warpgroup);
            for (int j = 1; j < tiles; j++) {
                const int stage = j % STAGES, parity = j / STAGES % 2;                // of K
                const int before = (j - 1) % STAGES, parity_v = (j - 1) / STAGES % 2; // of V
                await(&bar.k_here[stage], parity);
                await_turn(warpgroup);
                begin_products();
                start_scores<BR, BC>(s, q_rows, Ks + stage * BC * TILE_ROW);
                commit_products();
                await(&bar.v_here[before], parity_v);
                begin_products();
                start_outputs<BC>(o, p, Vs + before * BC * TILE_ROW);
                commit_products();
                await_products<0>(s);
                await_products<0>(o);
                give_turn(warpgroup);
                if (threadIdx.x % 32 == 0) {
                    arrive(&bar.k_free[stage]);
                    arrive(&bar.v_free[before]);
                }
                if ((j + 1) * BC > visible_keys(a, q0 + warpgroup * 64))
                    mask_scores(s, a, row, j * BC);
                if (rows.update(s, scale_log2e))
                    rows.correct(o);
                pack_scores(p, s);
            }
            const int last = (tiles - 1) % STAGES;
            await(&bar.v_here[last], (tiles - 1) / STAGES % 2);
            begin_products();
            start_outputs<BC>(o, p, Vs + last * BC * TILE_ROW);
            commit_products();
            await_products<0>(o);
            if (warpgroup == 0) // the last turn given is taken by nobody
                await_turn(warpgroup);
        }
        store_outputs(a, o, end_rows(a, rows, row, head, batch), row, head, batch);
    }
}

/* Cost: 1024 cycles of products for a warpgroup and a tile (64 x 128, D=128) beside about 800 of
 *   softmax: the tensor cores could be busy all the time. P waits in registers for one more
 *   product, 32 a thread.
 * Measured (H200, f16, H=16, B*S=16k, D=128, TFLOP/s): S=4096 565, causal 496.
 * Limits: with every turn both wait for the slower one. Otherwise as fa3_wgmma; registers as
 *   fa3_warpspec.
 * Next: a warpgroup that overlaps with itself (fa3_overlap). */
