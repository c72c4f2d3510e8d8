/* decode_atomic.cu - a few queries and many keys in one launch: the block that comes last combines.
 *
 * @name      decode_atomic
 * @title     Decode in one launch: keys dealt out evenly, the block that comes last combines
 * @idea      decode_splitkv with splitkv_atomic's end. A block that has left its part of a tile of queries
 *            counts itself in there; the one that finds all others counted combines them, and a tile
 *            that one block has alone is written at once. So there is no second launch, whose start and
 *            first loads cost as much as reading 20 MB. The counter goes back to 0 as the last block
 *            counts (atomicInc), so nobody clears it between calls: that would be a launch, too.
 * @after     decode_splitkv
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && Sq <= 16 && D <= 256 && D % 8 == 0
 * @param     WARPS 4 [1..8]       warps of a block, each with keys of its own
 * @param     STAGES 3 [2..8]      steps of 16 keys that a warp has under way
 * @param     BLOCKS 256 [1..4096] blocks that share the work: two a multiprocessor, nearly
 * @threads   32*WARPS
 * @grid      min(BLOCKS,B*Hkv*ceil(H/Hkv*Sq/16)*ceil(Sk/(16*WARPS)))
 * @smem      dynamic ring WARPS*STAGES*2*16*D*2
 *            pitch=D rows=16 swizzle=16  K and V of the steps under way, swizzled
 * @smem      dynamic sums 16*(D+8)*4 type=f32 pitch=D+8  outputs of the warps, added up
 * @smem      dynamic ends 2*16*WARPS*4 type=f32 pitch=WARPS rows=16  their maxima and sums of exponentials
 * @workspace partial_o    B*Hkv*ceil(H/Hkv*Sq/16)*(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+2)*16*D*4
 *            outputs of a tile's pieces, f32, not yet divided
 * @workspace partial_ends B*Hkv*ceil(H/Hkv*Sq/16)*(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+2)*16*8
 *            their maxima, base 2, and sums
 * @workspace arrived      B*Hkv*ceil(H/Hkv*Sq/16)*4 once  blocks that left their part of a tile
 * @traffic   read B*(Hkv*ceil(H/Hkv*Sq/16)*Sk*2*D*T+H*Sq*D*T+H*Sq*(BLOCKS/(B*Hkv)+1)*(D+2)*4)
 *            write B*H*Sq*((BLOCKS/(B*Hkv)+1)*(D+2)*4+D*T)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "counted.cuh"

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) decode_atomic(const __grid_constant__ AttnArgs a)
{
    const Work work(a);
    take_piece<Rows>(a, work, [&](State &x, const Unit &u, int unit) {
        const Share share(work, unit);
        leave_part(x, a, u, share);
        if (share.blocks > 1 && last_to_arrive(a, unit, share.blocks))
            combine<16>(a, u, share);
        __syncthreads(); // the next part may use all of it again
    });
}

/* Cost: K and V once, as in decode_splitkv. For the parts: stores, a fence, an atomic operation; then in one block of
 *   those that share a tile two dependent trips to the L2 cache, with 16 parts under way at once. Predicted: 2 us
 *   less than a second launch takes.
 * Measured (H200, f16, 32 heads over 8, D=128, one query, us, one interleaved compare, L2 cold; decode_splitkv and cuDNN
 *   in the same run): B=1 Sk=8k 22.1 (23.7, 22.5), B=8 78.7 (81.2, 80.3), B=32 253 (261, 252), Sk=128k 140 (141,
 *   140); 32 heads over 32, Sk=8k 48.5 (50.6, 50.1). WARPS=8 BLOCKS=128 and STAGES=2 are within 2 %.
 * Limits: the counters must be 0 when it begins. Who ends it half way (a fault, a debugger) must clear them. More
 *   than 16 packed queries are more tiles, and each reads K and V again, if out of the L2 cache. No paged K and V.
 * Next: parts that meet in a cluster's shared memory, decode_cluster, without a workspace at all. */
