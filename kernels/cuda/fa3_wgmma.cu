/* fa3_wgmma.cu - the tensor cores as Hopper has them: a warpgroup multiplies out of shared memory.
 *
 * @name      fa3_wgmma
 * @title     Hopper: products of a warpgroup (wgmma), tiles by the copy engine (TMA)
 * @idea      Four warps multiply together, 64 rows by as many columns as the tile has, and read K
 *            and V from shared memory by themselves: no ldmatrix, no fragments of K and V in
 *            registers, and twice the rate of mma.sync. Tiles come by tensor map: one thread names
 *            a box, the copy engine finds the addresses, writes the swizzle, fills in zeros beyond
 *            the ends, and reports to a barrier that counts bytes.
 * @after     fa2_mma
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90a
 * @requires  sm == 90 && D <= 256 && D % 8 == 0 && BR % 64 == 0 && BC % 16 == 0
 *            && (BR < 192 || D <= 64 && BC <= 128)
 * @param     BR 128 [64..192]       query rows per tile, 64 a warpgroup
 * @param     BC 128 [64..176]       key rows per tile; beyond D=128 at most 80
 * @threads   BR*2
 * @grid      ceil(Sq/BR) H B
 * @tma       Q box=BR,D swizzle=128                           copies of the Q tile
 * @tma       K box=min(BC,192-112*(D>128)),D swizzle=128      and of K and V tiles
 * @tma       V box=min(BC,192-112*(D>128)),D swizzle=128
 * @smem      dynamic Qs BR*ceil(D/64)*128
 *            align=1024 pitch=64 rows=BR swizzle=16  Q tile, in slices of 64 columns
 * @smem      dynamic Ks min(BC,192-112*(D>128))*ceil(D/64)*128
 *            align=1024 pitch=64 rows=min(BC,192-112*(D>128)) swizzle=16  K tile
 * @smem      dynamic Vs min(BC,192-112*(D>128))*ceil(D/64)*128
 *            align=1024 pitch=64 rows=min(BC,192-112*(D>128)) swizzle=16  V tile
 * @smem      dynamic barriers 24 type=u64  who waits for what
 * @traffic   read B*H*(Sq*D*T+tiles(BR,min(BC,192-112*(D>128)))*2*min(BC,192-112*(D>128))*D*T)
 *            write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "hopper.cuh"

constexpr int BR = P_BR, BC = ATTN_D > 128 && P_BC > 80 ? 80 : P_BC;

struct Barriers {
    MemoryBarrier q_here, k_here, v_here;
};

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa3_wgmma(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
              const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map)
{
    Barriers &bar = *(Barriers *)(smem + SMEM_barriers);
    const unsigned Qs = shared_address(smem + SMEM_Qs), Ks = shared_address(smem + SMEM_Ks);
    const unsigned Vs = shared_address(smem + SMEM_Vs);
    const int head = head_of_block(), batch = batch_of_block(), kv_head = head / (a.H / a.Hkv);
    const int q0 =
        (a.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BR; // the longest go first
    const int warpgroup = warpgroup_of_thread(), row = row_of_lane(q0, warpgroup);
    const unsigned q_rows = Qs + warpgroup * 64 * SLICE_BYTES;
    const int n_keys = visible_keys_of_tile(a, q0, BR);
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)

    if (threadIdx.x == 0) {
        barrier_make(&bar.q_here, 1);
        barrier_make(&bar.k_here, 1);
        barrier_make(&bar.v_here, 1);
        publish_barriers();
    }
    __syncthreads();
    if (threadIdx.x == 0 && n_keys > 0) {
        fetch_tile<BR>(Qs, q_map, q0, head, batch, &bar.q_here);
        fetch_tile<BC>(Ks, k_map, 0, kv_head, batch, &bar.k_here);
        fetch_tile<BC>(Vs, v_map, 0, kv_head, batch, &bar.v_here);
    }

    float o[COLUMNS / 2] = {}; // not yet divided by l
    SoftmaxRows rows;
    if (n_keys > 0)
        await(&bar.q_here, 0);
    for (int k0 = 0, parity = 0; k0 < n_keys; k0 += BC, parity ^= 1) {
        float s[BC / 2];
        await(&bar.k_here, parity);
        begin_products();
        start_scores<BR, BC>(s, q_rows, Ks);
        commit_products();
        await_products<0>(s);
        __syncthreads(); // nobody reads K any more
        if (threadIdx.x == 0 && k0 + BC < n_keys)
            fetch_tile<BC>(Ks, k_map, k0 + BC, kv_head, batch, &bar.k_here);

        if (k0 + BC > visible_keys(a, q0 + warpgroup * 64))
            mask_scores(s, a, row, k0);
        if (rows.update(s, scale_log2e))
            rows.correct(o);
        unsigned p[BC / 4];
        pack_scores(p, s);

        await(&bar.v_here, parity);
        begin_products();
        start_outputs<BC>(o, p, Vs);
        commit_products();
        await_products<0>(o);
        __syncthreads(); // nobody reads V any more
        if (threadIdx.x == 0 && k0 + BC < n_keys)
            fetch_tile<BC>(Vs, v_map, k0 + BC, kv_head, batch, &bar.v_here);
    }
    store_outputs(a, o, end_rows(a, rows, row, head, batch), row, head, batch);
}

/* Cost: a product of 64 x 128 x 16 takes 64 cycles of a multiprocessor, a K/V tile of 128 x 128 at
 *   D=128 2048. The softmax between them takes about 1600, and nobody multiplies meanwhile.
 * Measured (H200, f16, H=16, B*S=16k, D=128, TFLOP/s): S=4096 406, causal 360; fa2_mma at its
 *   best, S=16k and BC=32, had 374 and 347. BR=64 BC=64 makes it 568 and 514: the blocks are so
 *   small that three share a multiprocessor, and one multiplies while another is at its softmax;
 *   at S=512 nothing on this ladder is faster.
 * Limits: Hopper alone (sm_90a). The copy engine wants rows that begin at multiples of 16 bytes: D
 *   must be a multiple of 8. D is rounded up to 64, 128, 192 or 256 in shared memory. P V
 *   multiplies masked keys by 0: inf or NaN in V at a masked key of a visited tile shows. The
 *   scale must be above 0.
 * Next: a warpgroup of its own for the copies, and more than one tile on its way (fa3_warpspec). */
