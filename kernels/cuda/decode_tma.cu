/* decode_tma.cu - a few queries and many keys: the copy engine brings the keys, and the first are asked for at once.
 *
 * @name      decode_tma
 * @title     Decode by the copy engine: one lane of a warp asks for its next 16 keys
 * @idea      In decode_cluster 320 instructions, and their way from a cold memory, stand in front of the first
 *            copy: each lane finds the addresses of its share of 16 rows. Here one lane names two boxes of 16 keys,
 *            the copy engine does the rest, zeros behind the last key and the swizzle, and a barrier of the
 *            warp counts bytes. Which queries there are, and who owns which part of the output, is found out
 *            while the first keys travel; steps go round the warps of the cluster, so that nothing is divided.
 * @after     decode_cluster
 * @unit      tensor
 * @dtypes    f16 bf16
 * @arch      90
 * @requires  sm == 90 && Sq <= 16 && D <= 256 && D % 8 == 0
 * @param     WARPS (D<=128?8:4) [1..8]  warps of a block, each with keys of its own
 * @param     STAGES 2 [2..8]      steps of 16 keys that a warp has under way
 * @param     BLOCKS 128 [1..4096] clusters grow up to this many blocks: one a multiprocessor, nearly
 * @param     CLUSTER 0 [0..16]    blocks of a cluster; 0: a power of 2, at most 8, that follows BLOCKS
 * @threads   32*WARPS
 * @grid      ceil(H/Hkv*Sq/16)*max(CLUSTER,(CLUSTER==0)*max(1,min(min(8,pow2ceil(ceil(Sk/(16*WARPS)))),pow2ceil(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+1)/2)))
 *            Hkv B
 * @cluster   max(CLUSTER,(CLUSTER==0)*max(1,min(min(8,pow2ceil(ceil(Sk/(16*WARPS)))),pow2ceil(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+1)/2)))
 * @tma       K box=16,D swizzle=128  16 keys of 64 columns
 * @tma       V box=16,D swizzle=128  and their values
 * @smem      dynamic ring WARPS*STAGES*2*16*ceil(D/64)*128
 *            align=1024 pitch=64 rows=16 swizzle=16  K and V of the steps under way, in slices of 64 columns
 * @smem      dynamic parts WARPS*16*(D+8)*4 over=ring
 *            type=f32 pitch=D+8 rows=16  when all keys are done: outputs of the warps
 * @smem      dynamic ends 2*16*WARPS*4 type=f32 pitch=WARPS rows=16  their maxima and sums of exponentials
 * @smem      dynamic got (4*D+16)*16 type=f32 align=16  of the blocks of the cluster, what this one adds up
 * @smem      dynamic got_ends 16*16*16 type=f32 pitch=4      and their maxima and sums
 * @smem      dynamic came WARPS*STAGES*8 type=u64 align=8  count the bytes of the steps
 * @smem      dynamic all_here 8 type=u64 align=8             counts the bytes that have come
 * @traffic   read B*Hkv*ceil(H/Hkv*Sq/16)*Sk*2*D*T+B*H*Sq*D*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "hopper.cuh"
#include "owned.cuh"

// ---- A step ---------------------------------------------------------------------------------------

constexpr int SLICE_TILE = KEYS * SLICE_BYTES, TILE = KEYS * TILE_ROW, SLOT = 2 * TILE; // bytes of 16 keys

__device__ inline void fetch_box(unsigned to, const TensorMap &map, int column, int key, MemoryBarrier *came)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
                 "l"(&map), "r"(column), "r"(key), "r"(blockIdx.y), "r"(blockIdx.z), "r"(shared_address(came))
                 : "memory");
}

// The steps of a warp under way: those that were asked for, and the one that is next.
struct Ring {
    const TensorMap &k_map, &v_map;
    unsigned slots;
    MemoryBarrier *came;
    int n_keys, next, stride;              // keys: all there are, the first that is not asked for, from step to step
    int ahead = 0, slot = 0, parity = 0;

    // One lane asks for the next step, if there is one. Keys behind the last one come as zeros.
    __device__ void start()
    {
        if (threadIdx.x % 32 == 0 && next < n_keys) {
            expect_sent(came + ahead, SLOT);
#pragma unroll
            for (int c = 0; c < SLICES; c++) {
                const unsigned to = slots + ahead * SLOT + c * SLICE_TILE;
                fetch_box(to, k_map, c * SLICE, next, came + ahead);
                fetch_box(to + TILE, v_map, c * SLICE, next, came + ahead);
            }
        }
        ahead = ahead + 1 == STAGES ? 0 : ahead + 1;
        next += stride;
    }
    // The oldest step, when it has come.
    __device__ unsigned get() const
    {
        await_sent(came + slot, parity);
        __syncwarp();
        return slots + slot * SLOT;
    }
    __device__ void leave()
    {
        __syncwarp(); // all have read it
        slot = slot + 1 == STAGES ? 0 : slot + 1;
        parity ^= slot == 0;
    }
};

// Where a lane reads in a tile of slices: chunk `chunk` (0 or 1) of row `row`, and from there on by constants.
struct SliceAddress {
    unsigned row, chunk;
    __device__ SliceAddress(unsigned tile, unsigned lane_row, unsigned lane_chunk)
        : row(tile + lane_row * SLICE_BYTES), chunk((lane_chunk ^ lane_row % 8) * 16)
    {
    }
    __device__ unsigned at(int d) const { return row + d / 8 * SLICE_TILE + (chunk ^ d % 8 * 16); }
};

// The 16 keys from `key` on, which lie at `tile`.
__device__ inline void take_keys(State &x, unsigned tile, const AttnArgs &a, const Unit &u, int key)
{
    const int lane = threadIdx.x % 32;
    const SliceAddress k_lane(tile, lane / 16 * 8 + lane % 8, lane / 8 % 2), v_lane(tile + TILE, lane % 16, lane / 16);
    float s[2][4] = {};
#pragma unroll
    for (int d = 0; d < CHUNKS; d += 2) {
        unsigned k[4];
        load_matrices(k, k_lane.at(d));
        multiply(s[0], x.q[d / 2], k[0], k[1]);
        multiply(s[1], x.q[d / 2], k[2], k[3]);
    }
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
#pragma unroll
    for (int j = 0; j < 2; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            s[j][e] *= scale_log2e;
    if (key + KEYS > visible_keys(a, 0)) // only the last keys, or those that the first query may not see, need the mask
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int n = visible_keys(a, a.Sq == 1 ? 0 : u.i(a, lane / 4 + 8 * r)) - key - lane % 4 * 2;
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (e / 2 * 8 + e % 2 >= n)
                    s[e / 2][2 * r + e % 2] = NEG_INF;
        }
    float top[2];
    bool grown = false;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        top[r] = warp_max<4>(fmaxf(fmaxf(s[0][2 * r], s[0][2 * r + 1]),
                                   fmaxf(s[1][2 * r], s[1][2 * r + 1]))); // four lanes share a row
        grown |= top[r] > x.m[r];
    }
    unsigned p[4];
    take_scores(x, p, s, top, grown);
#pragma unroll
    for (int d = 0; d < CHUNKS; d += 2) {
        unsigned v[4];
        load_matrices_transposed(v, v_lane.at(d));
        multiply(x.o[d], p, v[0], v[1]);
        multiply(x.o[d + 1], p, v[2], v[3]);
    }
}

// ---- The parts become one ------------------------------------------------------------------------

__device__ inline Sum sum_of_warps(int r, int d)
{
    Sum s;
#pragma unroll
    for (int w = 0; w < WARPS; w++)
        s.m = fmaxf(s.m, maxima()[r * WARPS + w]);
    const float base = s.m == NEG_INF ? 0.f : s.m;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        const float weight = exp2_fast(maxima()[r * WARPS + w] - base);
        const Four o = *(const Four *)(part(w) + r * PITCH + d);
        s.l += sums()[r * WARPS + w] * weight;
        for (int e = 0; e < 4; e++)
            s.o.x[e] += o.x[e] * weight;
    }
    return s;
}

// Four columns of a row that is done.
__device__ inline void store_row(const Sum &s, const AttnArgs &a, const Unit &u, int r, int d)
{
    float inverse, log2;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(s.l));
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log2) : "f"(s.l));
    if (s.l == 0.f)
        inverse = 0.f;
    const int row = u.first + r;
    int h = row, i = 0;
    if (a.Sq > 1) {
        h = row / a.Sq;
        i = row - h * a.Sq;
    }
    h += u.kv_head * u.group;
    Vec<4> y;
    for (int e = 0; e < 4; e++)
        y.x[e] = to_elem(s.o.x[e] * inverse);
    if (d < a.D)
        *(Vec<4> *)(a.o + u.batch * a.o_stride[0] + h * a.o_stride[1] + i * a.o_stride[2] + d) = y;
    if (d == 0 && a.lse)
        a.lse[((long long)u.batch * a.H + h) * a.Sq + i] = (s.m + log2) * 0.6931471805599453f; // ln 2
}

__device__ inline int cluster_number()
{
    int n;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(n));
    return n;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    decode_tma(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap k_map,
               const __grid_constant__ TensorMap v_map)
{
    const int rank = cluster_rank(), blocks = cluster_blocks(), warp = threadIdx.x / 32;
    int key = (rank * WARPS + warp) * KEYS; // steps go round the warps of a block and the blocks of the cluster
    Ring ring{k_map, v_map, shared_address(smem + SMEM_ring) + warp * STAGES * SLOT,
              (MemoryBarrier *)(smem + SMEM_came) + warp * STAGES, a.Sk, key, blocks * BC};
    if (threadIdx.x % 32 == 0) {
        for (int i = 0; i < STAGES; i++)
            barrier_make(ring.came + i, 1);
        publish_counters();
    }
    __syncwarp();
#pragma unroll 1 // short code: it is fetched for one use
    for (int i = 0; i < STAGES - 1; i++)
        ring.start();

    // While these travel:
    const Unit u(a, blockIdx.z, blockIdx.y, cluster_number());
    const Owners to(u);
    if (blocks > 1) {
        if (threadIdx.x == 0) {
            barrier_make(to.all_here(), 1);
            publish_counters();
            expect_sent(to.all_here(), blocks * (to.own() + u.rows) * 16);
        }
        __syncwarp();
        cluster_arrive_only(); // nobody sends before all barriers are made
    }
    State x;
    x.begin(a, u);
#pragma unroll 1
    for (; key < a.Sk; key += ring.stride) {
        ring.start();
        take_keys(x, ring.get(), a, u, key);
        ring.leave();
    }

    __syncthreads(); // all warps are done with the ring
    leave_part(x, u);
    if (blocks > 1)
        cluster_wait();
    __syncthreads();
    add_up_warps(a, u, to, sum_of_warps, store_row);
    if (blocks > 1) {
        await_sent(to.all_here(), 0);
        add_up_blocks(a, u, to, store_row);
    }
}

/* Cost: K and V once. Until the first bytes are asked for: 90 instructions, two barriers of a warp to make and the
 *   tensor map, which the copy engine reads first.
 * Measured (H200, f16, 32 heads over 8, D=128, one query, us, L2 cold, one run; decode_cluster and PyTorch's cuDNN; a plain
 *   read of as many bytes): 8 MB 9.1 (10.6, 12.6; 6.1), 34 MB 14.8 (16.9, 19.7; 11.7), 134 MB with WARPS=4 CLUSTER=6 37.3
 *   (39.7, 40.9; 33.3), 268 MB with STAGES=3 65.8 (67.3, 70.8; 61.8), B=64 Sk=2k, 537 MB, with WARPS=4 125.6 (128.6, 127.7;
 *   120.8), B=1 Sk=128k 125.5 (128.9, 130.1; 120.8). With STAGES=3 9.9, 15.1, 38.3, -, 127.2, 126.5.
 *   Rows asked for by the lanes, one bulk copy each (cp.async.bulk without a map, rows padded): 10.2 at 8 MB, where boxes
 *   took 9.2, as the copies of 32 lanes leave one after another.
 * Limits: those of decode_cluster for clusters. At 32 heads of K and V and B=1 WARPS=4 CLUSTER=6 beats the defaults, at
 *   B=64 WARPS=4. Between a plain read and this are the parts' trip and blocks that end at different times.
 * Next: not written yet: a cluster's steps dealt out as they are done. */
