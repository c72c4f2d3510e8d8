/* bigd_cluster.cu - huge heads: the blocks of a cluster divide the columns.
 *
 * @name      bigd_cluster
 * @title     Huge heads: a cluster divides the columns and sums the scores in shared memory
 * @idea      A head of 512 to 8192 columns and few queries leaves most multiprocessors empty when a block
 *            takes a query tile. Here CLUSTER blocks take it, each with a slice of the columns of Q, K, V and
 *            O: every byte is read by one of them, and slices fit where whole rows never did. Scores are
 *            sums over all slices, so each block sends its share of a row to the block that owns the row;
 *            that one adds up, does the softmax and sends the row of P to all. Nobody meets: the stores are
 *            counted by a barrier of the block that they go to, and only it waits for them.
 * @after     row_tile
 * @dtypes    f32
 * @arch      90
 * @requires  sm == 90 && D <= 8192 && D % 4 == 0 && BR % 4 == 0 && BC % 32 == 0 && BR <= CLUSTER*THREADS/32
 *            && THREADS % (BR/4*(BC/4)) == 0
 * @param     BR (8+8*(D<=4096)+16*(D<=2048)) [4..32] query rows per tile
 * @param     BC (D<=2048?64:32) [32..128]  key rows per tile
 * @param     CLUSTER (D<=512?8:16) [2..16] blocks of a cluster
 * @param     THREADS 128 [64..256]         threads of a block
 * @threads   THREADS
 * @grid      ceil(Sq/BR)*CLUSTER H B
 * @cluster   CLUSTER
 * @smem      dynamic Qs BR*(ceil(D/(4*CLUSTER))*4+4)*4 pitch=ceil(D/(4*CLUSTER))*4+4  a slice of the Q tile
 * @smem      dynamic Ks BC*(ceil(D/(4*CLUSTER))*4+4)*4 pitch=ceil(D/(4*CLUSTER))*4+4  of the K tile
 * @smem      dynamic Vs BC*ceil(D/(4*CLUSTER))*16      pitch=ceil(D/(4*CLUSTER))*4    and of the V tile
 * @smem      dynamic Ss CLUSTER*(THREADS/(BR/4*(BC/4)))*ceil(BR/CLUSTER)*BC*4
 *            type=f32 pitch=BC  all shares of the scores of this block's rows
 * @smem      dynamic Ps BR*BC*4 type=f32 pitch=BC  exponentials, from their owners
 * @smem      dynamic cs BR*4    type=f32           what outputs are multiplied by after a new maximum
 * @smem      dynamic ls BR*4    type=f32           sums of exponentials
 * @smem      dynamic barriers 16 type=u64         count the bytes of scores and of P that have come
 * @traffic   read B*H*(Sq*D+tiles(BR,BC)*2*BC*D)*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "send.cuh"

constexpr int BR = P_BR, BC = P_BC, CLUSTER = P_CLUSTER, THREADS = ATTN_THREADS;
constexpr int FOURS = (ATTN_D / 4 + CLUSTER - 1) / CLUSTER, COLS = FOURS * 4; // of a slice
constexpr int PITCH = COLS + 4; // neighbouring rows begin 4 banks apart

// Scores: a thread has 4 queries by 4 keys, KEY_LANES apart, and every SHARES-th four columns of the slice.
constexpr int KEY_LANES = BC / 4, SCORE_TILES = BR / 4 * KEY_LANES, SHARES = THREADS / SCORE_TILES;
constexpr int OWN = (BR + CLUSTER - 1) / CLUSTER; // rows whose softmax this block does, a warp for each
constexpr int OWNERS = (BR + OWN - 1) / OWN;      // blocks that own any; the last of them maybe fewer
// Outputs: a thread has OUT_TILES tiles of 4 queries by 4 columns.
constexpr int OUT_TILES = (BR / 4 * FOURS + THREADS - 1) / THREADS;

// Starts the copy of `valid` rows of this block's columns, from column `first` on; what is beyond becomes 0.
template <int ROWS, int ROW_PITCH>
__device__ inline void start_slice(float *tile, const elem *src, long long stride, int valid, int columns)
{
    for (int e = threadIdx.x; e < ROWS * FOURS; e += THREADS) {
        const int r = e / FOURS, d = e % FOURS * 4;
        copy_async(shared_address(tile + r * ROW_PITCH + d), src + r * stride + d, r < valid && d < columns);
    }
}

// What comes from other blocks: the scores of this block's rows, and P.
struct Barriers {
    MemoryBarrier scores, p;
};

// This thread's share of 4 x 4 scores, sent to the owners of the rows.
__device__ inline void send_scores(const float *Qs, const float *Ks, float *Ss, const Barriers &bar, int rank)
{
    const int tile = threadIdx.x % SCORE_TILES, share = threadIdx.x / SCORE_TILES;
    const int row0 = tile / KEY_LANES * 4, key0 = tile % KEY_LANES;
    float s[4][4] = {};
#pragma unroll 4
    for (int d = share * 4; d < COLS; d += SHARES * 4) {
        Four q[4], k[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            q[i] = *(const Four *)(Qs + (row0 + i) * PITCH + d);
            k[i] = *(const Four *)(Ks + (key0 + i * KEY_LANES) * PITCH + d);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                for (int e = 0; e < 4; e++)
                    s[i][j] += q[i].x[e] * k[j].x[e];
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int row = row0 + i;
        const float *place = Ss + ((rank * SHARES + share) * OWN + row % OWN) * BC + key0;
        const unsigned there = in_block(shared_address(place), row / OWN);
        const unsigned barrier = in_block(shared_address(&bar.scores), row / OWN);
#pragma unroll
        for (int j = 0; j < 4; j++)
            send_there(there + j * KEY_LANES * 4, barrier, s[i][j]);
    }
}

// What the owner of a row keeps of it: a warp's lanes all know it.
struct Row {
    float m = NEG_INF, l = 0.f; // m in powers of 2
};

// One row by one warp: shares added up, the softmax, and P sent to all blocks.
__device__ inline void soften_row(Row &x, const float *Ss, float *Ps, float *cs, float *ls, const Barriers &bar, int row,
                                  int visible, float scale_log2e)
{
    const int lane = threadIdx.x % 32;
    float s[BC / 32], top = x.m;
#pragma unroll
    for (int j = 0; j < BC / 32; j++) {
        float sum = 0.f;
#pragma unroll 16
        for (int share = 0; share < CLUSTER * SHARES; share++)
            sum += Ss[(share * OWN + row % OWN) * BC + lane + 32 * j];
        s[j] = lane + 32 * j < visible ? sum * scale_log2e : NEG_INF;
        top = fmaxf(top, s[j]);
    }
    top = warp_max(top);
    // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
    const float base = top == NEG_INF ? 0.f : top, correction = exp2f(x.m - base);
    float sum = 0.f;
#pragma unroll
    for (int j = 0; j < BC / 32; j++)
        sum += s[j] = exp2f(s[j] - base);
    x.m = top;
    x.l = x.l * correction + warp_sum(sum);
#pragma unroll 4
    for (int b = 0; b < CLUSTER; b++)
#pragma unroll
        for (int j = 0; j < BC / 32; j++)
            send_there(in_block(shared_address(Ps + row * BC + lane + 32 * j), b),
                       in_block(shared_address(&bar.p), b), s[j]);
    if (lane < CLUSTER) {
        const unsigned barrier = in_block(shared_address(&bar.p), lane);
        send_there(in_block(shared_address(cs + row), lane), barrier, correction);
        send_there(in_block(shared_address(ls + row), lane), barrier, x.l);
    }
    __syncwarp(); // shares of the row have been read: there is room for those of the next tile
    if (lane < CLUSTER)
        arrive_there(in_block(shared_address(&bar.p), lane));
}

// O += P V over the first `keys` of the tile, rounded up to four.
__device__ inline void add_values(float (&o)[OUT_TILES][4][4], const float *Ps, const float *Vs, const float *cs, int keys)
{
#pragma unroll
    for (int n = 0; n < OUT_TILES; n++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            for (int e = 0; e < 4; e++)
                o[n][i][e] *= cs[min((threadIdx.x + n * THREADS) / FOURS, BR / 4 - 1) * 4 + i];
#pragma unroll 1
    for (int key = 0; key < keys; key += 4)
#pragma unroll
        for (int n = 0; n < OUT_TILES; n++) {
            const int tile = threadIdx.x + n * THREADS, row0 = min(tile / FOURS, BR / 4 - 1) * 4, d = tile % FOURS * 4;
            Four p[4], v[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                p[i] = *(const Four *)(Ps + (row0 + i) * BC + key);
                v[i] = *(const Four *)(Vs + (key + i) * COLS + d);
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    for (int e = 0; e < 4; e++)
                        o[n][i][e] += p[i].x[j] * v[j].x[e];
        }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    bigd_cluster(const __grid_constant__ AttnArgs a)
{
    float *Qs = (float *)(smem + SMEM_Qs), *Ks = (float *)(smem + SMEM_Ks), *Vs = (float *)(smem + SMEM_Vs);
    float *Ss = (float *)(smem + SMEM_Ss), *Ps = (float *)(smem + SMEM_Ps);
    float *cs = (float *)(smem + SMEM_cs), *ls = (float *)(smem + SMEM_ls);
    Barriers &bar = *(Barriers *)(smem + SMEM_barriers);
    const int rank = cluster_rank(), q0 = blockIdx.x / CLUSTER * BR, first = rank * COLS, columns = a.D - first;
    const int n_keys = visible_keys_of_tile(a, q0, BR), warp = threadIdx.x / 32;

    start_slice<BR, PITCH>(Qs, q_row(a, q0) + first, a.q_stride[2], a.Sq - q0, columns);
    start_slice<BC, PITCH>(Ks, k_row(a, 0) + first, a.k_stride[2], a.Sk, columns);
    commit_copies();
    start_slice<BC, COLS>(Vs, v_row(a, 0) + first, a.v_stride[2], a.Sk, columns);
    commit_copies();
    const int own_rows = max(0, min(OWN, BR - rank * OWN)), score_bytes = CLUSTER * SHARES * own_rows * BC * 4;
    if (threadIdx.x == 0) {
        barrier_make(&bar.scores, 1 + CLUSTER); // beside the bytes, each block: it has read the P before
        barrier_make(&bar.p, 1 + BR);           // and the owner of each row: it has read the scores
        publish_counters();
    }
    cluster_arrive_only(); // once all have come, all shared memory is there to be written

    const int own_row = rank * OWN + warp; // of this warp, if it owns one
    Row own;
    float o[OUT_TILES][4][4] = {}; // not yet divided by l
    cluster_wait();
    int parity = 0;
#pragma unroll 1
    for (int k0 = 0; k0 < n_keys; k0 += BC, parity ^= 1) {
        wait_copies<1>();
        __syncthreads(); // Q and K are there
        if (threadIdx.x == 0) {
            expect_sent(&bar.scores, score_bytes);
            expect_sent(&bar.p, (BR * BC + 2 * BR) * 4);
        }
        if (threadIdx.x < OWNERS) // others wait for no scores, and may have ended before an arrival comes to them
            arrive_there(in_block(shared_address(&bar.scores), threadIdx.x));
        send_scores(Qs, Ks, Ss, bar, rank);
        __syncthreads(); // K is done with
        if (k0 + BC < n_keys)
            start_slice<BC, PITCH>(Ks, k_row(a, k0 + BC) + first, a.k_stride[2], a.Sk - k0 - BC, columns);
        commit_copies(); // an empty group keeps the count
        if (warp < OWN && own_row < BR) {
            await_sent(&bar.scores, parity); // all shares of this block's rows
            soften_row(own, Ss, Ps, cs, ls, bar, own_row, visible_keys(a, q0 + own_row) - k0,
                       a.scale * 1.4426950408889634f); // exp(x) = 2^(x log2 e)
        }
        wait_copies<1>();
        __syncthreads(); // V is there
        await_sent(&bar.p, parity);
        add_values(o, Ps, Vs, cs, min(BC, n_keys - k0));
        __syncthreads(); // V and P are done with
        if (k0 + BC < n_keys)
            start_slice<BC, COLS>(Vs, v_row(a, k0 + BC) + first, a.v_stride[2], a.Sk - k0 - BC, columns);
        commit_copies();
    }
    if (n_keys <= 0) { // nobody sends sums of rows without keys
        if (threadIdx.x < BR)
            ls[threadIdx.x] = 0.f;
        __syncthreads();
    }

#pragma unroll
    for (int n = 0; n < OUT_TILES; n++) {
        const int tile = threadIdx.x + n * THREADS, row0 = tile / FOURS * 4, d = tile % FOURS * 4;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (row0 + i >= min(BR, a.Sq - q0) || d >= columns)
                continue;
            const float inverse = safe_inverse(ls[row0 + i]);
            Four y;
            for (int e = 0; e < 4; e++)
                y.x[e] = o[n][i][e] * inverse;
            *(Four *)(o_row(a, q0 + row0 + i) + first + d) = y;
        }
    }
    if (warp < OWN && own_row < min(BR, a.Sq - q0) && threadIdx.x % 32 == 0)
        store_lse(a, q0 + own_row, own.m * 0.6931471805599453f, own.l); // ln 2: natural logarithms
}

/* Cost: every byte of K and V once per query tile, divided among CLUSTER blocks, and all of it on its way at
 *   once; products of 4 x 4 out of shared memory, 8 loads of 16 bytes for 64 multiply-adds a lane. Two trips
 *   to other blocks a key tile: BR*BC floats sent by each block to owners, and by each owner to all. Arrivals say what
 *   has been read, so that the next tile's may be sent.
 * Measured (H200, f32, B=1, us, L2 hot, graphs, one interleaved run; cuBLAS, the best peer): H=4 S=64 D=512 6.8 (18.9),
 *   D=2048 14.8 (55.3), H=2 S=32 D=4096 8.5 (92.0), H=1 S=16 D=8192 8.6, BR=4 8.5 (15.2): 2.8, 3.7, 10.8 and 1.8 times.
 *   With meetings of the cluster in place of barriers that count the bytes, each with a fence that waits for all earlier
 *   stores: 7.6, 17.5, 9.5, 9.3. Tiles of 16 rows in place of 32 were 13 and 26 per cent slower at D=512 and 2048.
 * Precision: f32 multiply-adds in all products.
 * Limits: a query tile has 32 rows, so K and V are read Sq/32 times, and the products are scalar: H=8 S=1024 D=512 810,
 *   matrix products with scores in memory 437. With Sq below BR rows of the tile are wasted, with Sk below BC keys;
 *   at D=8192 S=16 half of both.
 * Next: not written yet: products by tensor cores in three parts of TF32; the softmax of a row by more than a warp. */
