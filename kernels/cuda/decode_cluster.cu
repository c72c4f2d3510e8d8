/* decode_cluster.cu - a few queries and many keys in one launch: the parts meet in shared memory.
 *
 * @name      decode_cluster
 * @title     Decode in one launch: blocks of a cluster share the keys and add up in shared memory
 * @idea      decode_splitkv pays for a second launch besides reading K and V, and decode_atomic still sends
 *            the parts through global memory. Here the blocks that share a head's keys are a cluster: they
 *            run side by side, and when the last key is done each adds up a slice of the output, which
 *            which the others send to its shared memory: its barrier counts the bytes. No workspace, no counters, no second launch; and
 *            block and cluster say which keys are meant, so the first are asked for at once.
 * @after     decode_atomic
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90
 * @requires  sm == 90 && Sq <= 16 && D <= 256 && D % 8 == 0
 * @param     WARPS (D<=128?8:4) [1..8]  warps of a block, each with keys of its own
 * @param     STAGES 3 [2..8]      steps of 16 keys that a warp has under way
 * @param     BLOCKS 128 [1..4096] clusters grow up to this many blocks: one a multiprocessor, nearly
 * @param     CLUSTER 0 [0..16]    blocks of a cluster; 0: a power of 2, at most 8, that follows BLOCKS
 * @threads   32*WARPS
 * @grid      ceil(H/Hkv*Sq/16)*max(CLUSTER,(CLUSTER==0)*max(1,min(min(8,pow2ceil(ceil(Sk/(16*WARPS)))),pow2ceil(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+1)/2)))
 *            Hkv B
 * @cluster   max(CLUSTER,(CLUSTER==0)*max(1,min(min(8,pow2ceil(ceil(Sk/(16*WARPS)))),pow2ceil(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+1)/2)))
 * @smem      dynamic ring WARPS*STAGES*2*16*D*2
 *            pitch=D rows=16 swizzle=16  K and V of the steps under way, swizzled
 * @smem      dynamic parts WARPS*16*(D+8)*4 over=ring
 *            type=f32 pitch=D+8 rows=16  when all keys are done: outputs of the warps
 * @smem      dynamic ends 2*16*WARPS*4 type=f32 pitch=WARPS rows=16  their maxima and sums of exponentials
 * @smem      dynamic got (4*D+16)*16 type=f32 align=16  of the blocks of the cluster, what this one adds up
 * @smem      dynamic got_ends 16*16*16 type=f32 pitch=4      and their maxima and sums
 * @smem      dynamic all_here 8 type=u64 align=8             counts the bytes that have come
 * @traffic   read B*Hkv*ceil(H/Hkv*Sq/16)*Sk*2*D*T+B*H*Sq*D*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "owned.cuh"

__device__ inline Sum sum_of_warps(int r, int d)
{
    Sum s;
#pragma unroll
    for (int w = 0; w < WARPS; w++)
        s.add(maxima()[r * WARPS + w], sums()[r * WARPS + w], *(const Four *)(part(w) + r * PITCH + d));
    return s;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    decode_cluster(const __grid_constant__ AttnArgs a)
{
    const int rank = cluster_rank(), blocks = cluster_blocks(), warp = threadIdx.x / 32;
    const unsigned ring = shared_address(smem + SMEM_ring) + warp * STAGES * 2 * STEP_BYTES;
    const Unit u(a, blockIdx.z, blockIdx.y, blockIdx.x / blocks);
    const Owners to(u);
    if (blocks > 1) {
        if (threadIdx.x == 0) {
            barrier_make(to.all_here(), 1);
            publish_counters();
            expect_sent(to.all_here(), blocks * (to.own() + u.rows) * 16);
        }
        cluster_arrive_only(); // nobody sends before all barriers are made
    }
    const int tiles = (a.Sk + BC - 1) / BC;
    const int first = (int)((long long)tiles * rank / blocks), n = (int)((long long)tiles * (rank + 1) / blocks) - first;
    const int first_key = first * BC + warp * KEYS;

    State x;
#pragma unroll 1
    for (int i = 1 - STAGES; i < n; i++) { // the copies run STAGES - 1 steps ahead
        const int next = i + STAGES - 1;
        if (next < n)
            start_step(ring + next % STAGES * 2 * STEP_BYTES, a, u, first_key + next * BC);
        commit_copies(); // an empty group at the end keeps the count
        if (i < 0)
            continue;
        if (i == 0)
            x.begin(a, u);
        wait_copies<STAGES - 1>(); // of this lane,
        __syncwarp();              // and of the others
        take_step(x, ring + i % STAGES * 2 * STEP_BYTES, a, u, first_key + i * BC);
        __syncwarp(); // all have read the step that the next copies take the place of
    }
    if (n == 0) // more blocks than key tiles
        x.begin(a, u);

    __syncthreads(); // all warps are done with the ring
    leave_part(x, u);
    if (blocks > 1)
        cluster_wait();
    __syncthreads();
    add_up_warps(a, u, to, sum_of_warps, store);
    if (blocks > 1) {
        await_sent(to.all_here(), 0);
        add_up_blocks(a, u, to, store);
    }
}

/* Cost: K and V once, as in decode_splitkv; beside that one launch, the first keys, and for the parts two
 *   meetings of the block and one trip to other blocks.
 * Measured (H200, f16, 32 heads over 8, D=128, one query, us, L2 cold, one interleaved run; cuDNN, decode_atomic): B=1
 *   Sk=8k, clusters of 8, 16.5 (19.0, 18.9), Sk=2k 9.9 (12.0, 12.8); B=8, of 2, 65.8 (69.9, 69.9): 4.1 TB/s; Hkv=32, of 4,
 *   47.2, WARPS=4 CLUSTER=6 39.1 (39.8, 39.7). With two meetings of the cluster and loads from the others' shared memory
 *   in place of stores that the owner's barrier counts: 18.5, 10.5, 67.4, 52.9, 40.8: each meeting had a fence that waits
 *   until all earlier stores of its threads are seen by the whole GPU.
 * Limits: the blocks of a cluster must find room on the multiprocessors of one GPC. Of those that fill a
 *   multiprocessor (WARPS=8) the driver has room for 132 clusters of 1, 66 of 2, 39 of 3, 30 of 4, 15 of 8, 9 of 9 and 7
 *   of 10 to 16: 8 clusters of 16, or 32 of 4, run one after another, and 8 of 8 leave half of the GPU empty, which
 *   is fastest at B=1 all the same; at 32 heads of K and V defaults are not, and CLUSTER=6 is. More than 16
 *   packed queries are more tiles, and each reads K and V again, if out of the L2 cache.
 * Next: not written yet: clusters of 8 that share a head and count themselves in; K and V by the copy engine. */
