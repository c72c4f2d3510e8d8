/* decode_cluster.cu - a few queries and many keys in one launch: the parts meet in shared memory.
 *
 * @name      decode_cluster
 * @title     Decode in one launch: blocks of a cluster share the keys and add up in shared memory
 * @idea      decode_splitkv pays for a second launch besides reading K and V, and decode_atomic still sends
 *            the parts through global memory. Here the blocks that share a head's keys are a cluster: they
 *            run side by side, and when the last key is done each adds up a slice of the output, which
 *            it reads from the others' shared memory. No workspace, no counters, no second launch; and
 *            block and cluster say which keys are meant, so the first are asked for at once.
 * @after     decode_atomic
 * @unit      tensor
 * @dtypes    f16 bf16
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
 * @smem      dynamic parts (WARPS+1)*16*(D+8)*4 over=ring
 *            type=f32 pitch=D+8 rows=16  when all keys are done: outputs of the warps, then the block's
 * @smem      dynamic ends 2*16*(WARPS+1)*4 type=f32 pitch=WARPS+1 rows=16  their maxima and sums of exponentials
 * @traffic   read B*Hkv*ceil(H/Hkv*Sq/16)*Sk*2*D*T+B*H*Sq*D*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster.cuh"
#include "decode.cuh"

// ---- The parts become one ------------------------------------------------------------------------

// Maxima and sums of row r are at ends[r * (WARPS + 1) + w]: of the warps, and with w = WARPS the block's.
__device__ inline float *maxima()
{
    return (float *)(smem + SMEM_ends);
}
__device__ inline float *sums()
{
    return maxima() + ROWS * (WARPS + 1);
}
__device__ inline float *part(int w)
{
    return (float *)(smem + SMEM_parts) + w * ROWS * PITCH;
}

// Each warp's outputs lie down in the ring's place, which nobody needs any more.
__device__ inline void leave_part(State &x, const Unit &u)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int row = g + 8 * r;
        x.l[r] = warp_sum<4>(x.l[r]);
        if (t == 0) {
            maxima()[row * (WARPS + 1) + warp] = x.m[r];
            sums()[row * (WARPS + 1) + warp] = x.l[r];
        }
        if (row < u.rows)
#pragma unroll
            for (int n = 0; n < ATTN_D / 8; n++)
                *(Two *)(part(warp) + row * PITCH + n * 8 + 2 * t) = {x.o[n][2 * r], x.o[n][2 * r + 1]};
    }
}

// Over the warps: a block that is alone has the answer, others leave their part to the cluster.
__device__ inline void add_up_warps(const AttnArgs &a, const Unit &u, bool alone)
{
    for (int e = threadIdx.x; e < u.rows * (ATTN_D / 4); e += ATTN_THREADS) {
        const int r = e / (ATTN_D / 4), d = e % (ATTN_D / 4) * 4;
        Sum s;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            s.add(maxima()[r * (WARPS + 1) + w], sums()[r * (WARPS + 1) + w],
                  *(const Four *)(part(w) + r * PITCH + d));
        if (alone) {
            store(s, a, u, r, d);
            continue;
        }
        *(Four *)(part(WARPS) + r * PITCH + d) = s.o;
        if (d == 0) {
            maxima()[r * (WARPS + 1) + WARPS] = s.m;
            sums()[r * (WARPS + 1) + WARPS] = s.l;
        }
    }
}

// Over the blocks: each takes a slice of the output, in the order of their ranks.
__device__ inline void add_up_blocks(const AttnArgs &a, const Unit &u, int rank, int blocks)
{
    const int n = u.rows * (ATTN_D / 4), end = (rank + 1) * n / blocks;
    for (int e = rank * n / blocks + threadIdx.x; e < end; e += ATTN_THREADS) {
        const int r = e / (ATTN_D / 4), d = e % (ATTN_D / 4) * 4;
        const unsigned o = shared_address(part(WARPS) + r * PITCH + d);
        const unsigned m = shared_address(maxima() + r * (WARPS + 1) + WARPS);
        Sum s;
#pragma unroll 4 // loads of four blocks are under way at once
        for (int b = 0; b < blocks; b++)
            s.add(load_there(in_block(m, b)), load_there(in_block(m + ROWS * (WARPS + 1) * 4, b)),
                  load4_there(in_block(o, b)));
        store(s, a, u, r, d);
    }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    decode_cluster(const __grid_constant__ AttnArgs a)
{
    const int rank = cluster_rank(), blocks = cluster_blocks(), warp = threadIdx.x / 32;
    const unsigned ring = shared_address(smem + SMEM_ring) + warp * STAGES * 2 * STEP_BYTES;
    const Unit u(a, blockIdx.z, blockIdx.y, blockIdx.x / blocks);
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
    __syncthreads();
    add_up_warps(a, u, blocks == 1);
    if (blocks > 1) {
        cluster_arrive();
        cluster_wait();
        add_up_blocks(a, u, rank, blocks);
        cluster_arrive(); // what others read of this block stays until they have it
        cluster_wait();
    }
}

/* Cost: K and V once, as in decode_splitkv; beside that one launch, the first keys, and for the parts two
 *   meetings of the block and two of the cluster (a few hundred cycles each) with some loads from other blocks between
 *   them: predicted 3 us in place of 10.
 * Measured (H200, f16, 32 heads over 8, D=128, one query, us, L2 hot, graphs of launches; decode_splitkv and the best
 *   of PyTorch's backends, cuDNN, in the same run): B=8 Sk=8k, clusters of 2, 64.2 (69.1, 66.3); B=32 Sk=8k, of 1, 240
 *   (244, 235); B=64 Sk=2k, of 1, 127, WARPS=4 BLOCKS=256 125 (135, 123): the second launch and the parts were 4 to 9
 *   us. But B=1 Sk=8k, of 8, 14.8 (15.1, 12.2), Sk=128k 156 (129, 124), and Hkv=32 Sk=8k, of 4, 51, of 3 39.5, WARPS=4
 *   CLUSTER=6 38.1 (38.9, 36.3).
 * Limits: the blocks of a cluster must find room on the multiprocessors of one GPC. Of those that fill a
 *   multiprocessor (WARPS=8) the driver has room for 132 clusters of 1, 66 of 2, 39 of 3, 30 of 4, 15 of 8, 9 of 9 and 7
 *   of 10 to 16: 8 clusters of 16, or 32 of 4, run one after another, and 8 of 8 leave half of the GPU empty. So
 *   this wins from 64 heads of K and V in the batch on; below that decode_splitkv, which deals keys evenly. More than 16
 *   packed queries are more tiles, and each reads K and V again, if out of the L2 cache.
 * Next: not written yet: clusters of 8 that share a head and count themselves in; K and V by the copy engine. */
