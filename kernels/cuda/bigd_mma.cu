/* bigd_mma.cu - huge heads on tensor cores: f32 as three products of TF32, K and V in registers.
 *
 * @name      bigd_mma
 * @title     Huge heads in f32 on tensor cores: three products of TF32, K and V straight into registers
 * @idea      Tensor cores multiply floats of 11 bits (TF32). An f32 is the sum of two of those, but for its last
 *            bits, so three products, big*big + big*small + small*big, are nearly one of f32, and faster than
 *            multiply-adds. Keys and columns are the 16 rows of a product, queries its 8 columns: each element of
 *            K and V is then wanted by one warp alone, which loads it into the very lane that multiplies it.
 *            With EXCHANGE=all a block sends its part of the scores to every block of the cluster, not to the
 *            owner of the row: all do the same softmax, and one trip to other blocks is saved.
 * @after     bigd_cluster
 * @unit      tensor
 * @dtypes    f32
 * @arch      90
 * @requires  sm == 90 && D <= 8192 && D % 4 == 0 && BR % 8 == 0 && BC >= 16 && BC == pow2ceil(BC)
 *            && THREADS == pow2ceil(THREADS) && BC*ceil(D/(16*CLUSTER)) <= 4*THREADS
 * @param     BR 16 [8..64]                 query rows per tile
 * @param     BC (16+16*(D<=4096)+32*(D<=2048)) [16..128]  key rows per tile
 * @param     CLUSTER (D<=512?8:16) [1..16] blocks of a cluster
 * @param     THREADS 256 [128..256]        threads of a block
 * @param     EXCHANGE owners|all           who adds up a row of scores: its owner, who sends P to all, or everybody
 * @param     MINBLOCKS 2 [1..2]            blocks that a multiprocessor's registers should hold
 * @param     PRODUCTS three|one            one: big parts alone, TF32 as it comes, which the check of f32 refuses
 * @threads   THREADS
 * @grid      ceil(Sq/BR)*CLUSTER H B
 * @cluster   CLUSTER
 * @smem      dynamic Rs floor(THREADS/32/min(THREADS/32,BC/16))*BR*(BC+4)*4 type=f32 pitch=BC+4
 *            the warps' shares of the block's part of the scores
 * @smem      dynamic Ss CLUSTER*ceil(BR/(EXCHANGE==1?1:CLUSTER))*BC*4 type=f32 pitch=BC
 *            all blocks' parts of the scores of this block's rows
 * @smem      dynamic Ps BR*(BC+16*(BC!=16))*4 type=f32 pitch=BC+16*(BC!=16)  exponentials
 * @smem      dynamic cs BR*4    type=f32           what outputs are multiplied by after a new maximum
 * @smem      dynamic ls BR*4    type=f32           sums of exponentials
 * @smem      dynamic barriers 16 type=u64          count the bytes of scores and of P that have come
 * @traffic   read B*H*(tiles(BR,BC)*(min(THREADS/32,BC/16)*BR+2*BC)*D)*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "send.cuh"

constexpr int BR = P_BR, BC = P_BC, CLUSTER = P_CLUSTER, THREADS = ATTN_THREADS, WARPS = THREADS / 32;
constexpr int UNITS = (ATTN_D + 16 * CLUSTER - 1) / (16 * CLUSTER), COLS = UNITS * 16; // columns of a block
constexpr int QUERY_TILES = BR / 8, KEY_TILES = BC / 16;

// Scores: warps divide the keys, and if there are more of them the columns.
constexpr int KEY_WARPS = WARPS < KEY_TILES ? WARPS : KEY_TILES, SHARES = WARPS / KEY_WARPS;
constexpr int SHARE_UNITS = (UNITS + SHARES - 1) / SHARES;
// Outputs: warps divide the columns, and if there are more of them the queries.
constexpr int OUT_WARPS = WARPS < UNITS ? WARPS : UNITS, OUT_SHARES = WARPS / OUT_WARPS;
constexpr int OUT_UNITS = (UNITS + OUT_WARPS - 1) / OUT_WARPS, OUT_TILES = (QUERY_TILES + OUT_SHARES - 1) / OUT_SHARES;

constexpr bool TO_ALL = P_EXCHANGE == 1;
constexpr int OWN = TO_ALL ? BR : (BR + CLUSTER - 1) / CLUSTER; // rows whose softmax this block does, at most
constexpr int OWNERS = (BR + OWN - 1) / OWN;
// A row of scores is a few lanes' business, four keys each.
constexpr int LANES = BC / 4, ROUND_ROWS = THREADS / LANES, ROUNDS = (OWN + ROUND_ROWS - 1) / ROUND_ROWS;
// Pitches at which the eight rows of a fragment begin in different banks.
constexpr int SHARE_PITCH = BC + 4, P_PITCH = BC == 16 ? 16 : BC + 16;

// ---- Products in f32 by TF32 ------------------------------------------------------------------------

// x = big + small but for its last bits, each with the 11 bits that tensor cores look at.
template <int N> struct Halves {
    unsigned big[N], small[N];

    __device__ void put(int i, float x)
    {
#ifndef SPLIT_INT
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(big[i]) : "f"(x));
#else
        big[i] = (__float_as_uint(x) + 0x1000) & 0xffffe000;
#endif
        small[i] = __float_as_uint(x - __uint_as_float(big[i]));
    }
};
// C (16 x 8) += A (16 x 8) B (8 x 8). With g = lane / 4 and t = lane % 4, a lane has of A (g, t) (g + 8, t) (g, t + 4)
// (g + 8, t + 4), of B (t, g) (t + 4, g), of C (g, 2t) (g, 2t + 1) (g + 8, 2t) (g + 8, 2t + 1).
__device__ inline void multiply_tf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// The same in f32; what is small is added first.
__device__ inline void multiply(float (&c)[4], const Halves<4> &a, const Halves<2> &b)
{
    if (P_PRODUCTS == 0) {
        multiply_tf32(c, a.small, b.big);
        multiply_tf32(c, a.big, b.small);
    }
    multiply_tf32(c, a.big, b.big);
}

// ---- Loads ------------------------------------------------------------------------------------------

struct alignas(8) Two {
    float x[2];
};
// What is beyond the tensor is 0.
template <class V> __device__ inline V load_if(bool valid, const elem *p)
{
    V x = {};
    if (valid)
        x = *(const V *)p;
    return x;
}

// V of a key tile, as a warp multiplies it: of each 16 columns a lane has 2g and 2g + 1, of each 16 keys 4t to 4t + 3.
struct Values {
    Two x[OUT_UNITS][KEY_TILES][4];

    __device__ void load(const AttnArgs &a, int k0, int column, int columns)
    {
        const int d = threadIdx.x % 32 / 4 * 2, key = k0 + threadIdx.x % 4 * 4;
#pragma unroll
        for (int u = 0; u < OUT_UNITS; u++)
#pragma unroll
            for (int i = 0; i < KEY_TILES; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    x[u][i][j] = load_if<Two>(u * 16 + d < columns && key + i * 16 + j < a.Sk,
                                              v_row(a, key + i * 16 + j) + column + u * 16 + d);
    }
};

// ---- Scores -----------------------------------------------------------------------------------------

// S^T = K Q^T of one warp: 16 keys, all queries, its share of the columns. The order of columns within 16 is a sum's:
// four neighbours of a lane are its columns t and t + 4 of two products.
__device__ inline void add_scores(float (&s)[QUERY_TILES][4], const AttnArgs &a, int q0, int key, int column, int columns)
{
    const int g = threadIdx.x % 32 / 4, d = threadIdx.x % 4 * 4;
    Four k[SHARE_UNITS][2];
#pragma unroll
    for (int u = 0; u < SHARE_UNITS; u++)
#pragma unroll
        for (int i = 0; i < 2; i++) // rows g and g + 8 are keys 2g and 2g + 1
            k[u][i] = load_if<Four>(u * 16 + d < columns && key + 2 * g + i < a.Sk,
                                    k_row(a, key + 2 * g + i) + column + u * 16 + d);
#pragma unroll
    for (int u = 0; u < SHARE_UNITS; u++) {
        Halves<4> left[2];
#pragma unroll
        for (int step = 0; step < 2; step++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                left[step].put(i, k[u][i % 2].x[2 * step + i / 2]);
#pragma unroll
        for (int n = 0; n < QUERY_TILES; n++) {
            const int row = q0 + n * 8 + g;
            const Four q = load_if<Four>(u * 16 + d < columns && row < a.Sq, q_row(a, row) + column + u * 16 + d);
#pragma unroll
            for (int step = 0; step < 2; step++) {
                Halves<2> right;
                right.put(0, q.x[2 * step]);
                right.put(1, q.x[2 * step + 1]);
                multiply(s[n], left[step], right);
            }
        }
    }
}
// The warp's shares as rows of queries.
__device__ inline void store_share(float *Rs, const float (&s)[QUERY_TILES][4], int key)
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int n = 0; n < QUERY_TILES; n++)
#pragma unroll
        for (int i = 0; i < 2; i++)
            *(Two *)(Rs + (n * 8 + 2 * t + i) * SHARE_PITCH + key + 2 * g) = {s[n][i], s[n][i + 2]};
}

// What comes from other blocks: scores, and P (EXCHANGE=owners), or that scores have been read (all).
struct Barriers {
    MemoryBarrier scores, p;
};

// The block's part of the scores, summed up over its warps and sent to who wants them.
__device__ inline void send_scores(const float *Rs, const float *Ss, const Barriers &bar, int rank)
{
    constexpr int FOURS = BR * LANES, ITEMS = TO_ALL ? CLUSTER * FOURS : FOURS;
#pragma unroll
    for (int e = threadIdx.x; e < ITEMS; e += THREADS) {
        const int row = e % FOURS / LANES, key = e % LANES * 4, to = TO_ALL ? e / FOURS : row / OWN;
        Four sum = {};
#pragma unroll
        for (int share = 0; share < SHARES; share++) {
            const Four x = *(const Four *)(Rs + (share * BR + row) * SHARE_PITCH + key);
            for (int i = 0; i < 4; i++)
                sum.x[i] += x.x[i];
        }
        const float *place = Ss + (rank * OWN + row % OWN) * BC + key;
        send_there(in_block(shared_address(place), to), in_block(shared_address(&bar.scores), to), sum);
    }
}

// ---- Softmax ----------------------------------------------------------------------------------------

// What is kept of a row; all its lanes know it.
struct Row {
    float m = NEG_INF, l = 0.f; // m in powers of 2
};

// A lane's four keys of a row: parts added up, exponentials. Returns what outputs are multiplied by.
__device__ inline float soften(Row &x, Four &p, const float *Ss, int own_row, int visible, float scale_log2e)
{
    const int key = threadIdx.x % LANES * 4;
    p = {};
#pragma unroll
    for (int b = 0; b < CLUSTER; b++) {
        const Four part = *(const Four *)(Ss + (b * OWN + own_row) * BC + key);
        for (int i = 0; i < 4; i++)
            p.x[i] += part.x[i];
    }
    float top = x.m;
    for (int i = 0; i < 4; i++) {
        p.x[i] = key + i < visible ? p.x[i] * scale_log2e : NEG_INF;
        top = fmaxf(top, p.x[i]);
    }
    top = warp_max<LANES>(top);
    // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
    const float base = top == NEG_INF ? 0.f : top, correction = exp2f(x.m - base);
    float sum = 0.f;
    for (int i = 0; i < 4; i++)
        sum += p.x[i] = exp2f(p.x[i] - base);
    x.m = top;
    x.l = x.l * correction + warp_sum<LANES>(sum);
    return correction;
}

// ---- Outputs ----------------------------------------------------------------------------------------

// O^T += V^T P^T.
__device__ inline void add_values(float (&o)[OUT_UNITS][OUT_TILES][4], const Values &v, const float *Ps, int query)
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < KEY_TILES; i++) {
        Halves<2> right[OUT_TILES][2];
#pragma unroll
        for (int n = 0; n < OUT_TILES; n++) {
            const Four p = *(const Four *)(Ps + min(query + n * 8 + g, BR - 1) * P_PITCH + i * 16 + 4 * t);
#pragma unroll
            for (int e = 0; e < 4; e++)
                right[n][e / 2].put(e % 2, p.x[e]);
        }
#pragma unroll
        for (int u = 0; u < OUT_UNITS; u++)
#pragma unroll
            for (int step = 0; step < 2; step++) {
                Halves<4> left;
#pragma unroll
                for (int e = 0; e < 4; e++) // rows g and g + 8 are columns 2g and 2g + 1
                    left.put(e, v.x[u][i][2 * step + e / 2].x[e % 2]);
#pragma unroll
                for (int n = 0; n < OUT_TILES; n++)
                    multiply(o[u][n], left, right[n][step]);
            }
    }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, P_MINBLOCKS)
    bigd_mma(const __grid_constant__ AttnArgs a)
{
    float *Rs = (float *)(smem + SMEM_Rs), *Ss = (float *)(smem + SMEM_Ss), *Ps = (float *)(smem + SMEM_Ps);
    float *cs = (float *)(smem + SMEM_cs), *ls = (float *)(smem + SMEM_ls);
    Barriers &bar = *(Barriers *)(smem + SMEM_barriers);
    const int rank = cluster_rank(), warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int q0 = blockIdx.x / CLUSTER * BR, n_keys = visible_keys_of_tile(a, q0, BR);
    const int first = rank * COLS, end = min(first + COLS, a.D); // columns of the block
    const int key_warp = warp % KEY_WARPS, share = warp / KEY_WARPS;
    const int score_column = first + share * SHARE_UNITS * 16; // of this warp
    const int out_column = first + warp % OUT_WARPS * OUT_UNITS * 16, out_query = warp / OUT_WARPS * OUT_TILES * 8;

    if (threadIdx.x == 0) {
        // Beside the bytes: each block has read the P before; the owner of each row has read the scores.
        barrier_make(&bar.scores, TO_ALL ? 1 : 1 + CLUSTER);
        barrier_make(&bar.p, TO_ALL ? CLUSTER : 1 + BR);
        publish_counters();
    }
    cluster_arrive_only(); // once all have come, all shared memory is there to be written

    const int own_rows = TO_ALL ? BR : max(0, min(OWN, BR - rank * OWN)), first_row = TO_ALL ? 0 : rank * OWN;
    Row rows[ROUNDS];
    float o[OUT_UNITS][OUT_TILES][4] = {}; // not yet divided by l
    int parity = 0;
#pragma unroll 1
    for (int k0 = 0; k0 < n_keys; k0 += BC, parity ^= 1) {
#pragma unroll 1
        for (int tile = key_warp; tile < KEY_TILES && share < SHARES; tile += KEY_WARPS) {
            float s[QUERY_TILES][4] = {};
            add_scores(s, a, q0, k0 + tile * 16, score_column, min(end - score_column, SHARE_UNITS * 16));
            store_share(Rs + share * BR * SHARE_PITCH, s, tile * 16);
        }
        Values v;
        v.load(a, k0, out_column, min(end - out_column, OUT_UNITS * 16));
        if (k0 == 0)
            cluster_wait();
        __syncthreads(); // all shares are there, and P of the tile before has been read
        if (threadIdx.x == 0) {
            expect_sent(&bar.scores, CLUSTER * own_rows * BC * 4);
            if (!TO_ALL)
                expect_sent(&bar.p, (BR * BC + 2 * BR) * 4);
        }
        if (!TO_ALL && threadIdx.x < OWNERS)
            arrive_there(in_block(shared_address(&bar.scores), threadIdx.x));
        if (TO_ALL && k0 > 0)
            await_sent(&bar.p, parity ^ 1); // all blocks have read the scores before
        send_scores(Rs, Ss, bar, rank);

#pragma unroll
        for (int round = 0; round < ROUNDS; round++) {
            const int own_row = round * ROUND_ROWS + threadIdx.x / LANES, row = first_row + own_row;
            const int first_of_warp = round * ROUND_ROWS + threadIdx.x / 32 * 32 / LANES;
            if (first_of_warp >= own_rows)
                continue;
            await_sent(&bar.scores, parity);
            Four p;
            const float correction = soften(rows[round], p, Ss, min(own_row, OWN - 1), visible_keys(a, q0 + row) - k0,
                                            a.scale * 1.4426950408889634f); // exp(x) = 2^(x log2 e)
            const int lane = threadIdx.x % LANES;
            float *place = Ps + row * P_PITCH + lane * 4;
            if (TO_ALL && own_row < own_rows) {
                *(Four *)place = p;
                if (lane == 0)
                    cs[row] = correction, ls[row] = rows[round].l;
            }
            if (!TO_ALL && own_row < own_rows) {
#pragma unroll 4
                for (int b = 0; b < CLUSTER; b++)
                    send_there(in_block(shared_address(place), b), in_block(shared_address(&bar.p), b), p);
                for (int b = lane; b < CLUSTER; b += LANES) {
                    const unsigned barrier = in_block(shared_address(&bar.p), b);
                    send_there(in_block(shared_address(cs + row), b), barrier, correction);
                    send_there(in_block(shared_address(ls + row), b), barrier, rows[round].l);
                }
            }
            __syncwarp(); // parts of the row have been read: there is room for those of the next tile
            if (!TO_ALL && own_row < own_rows)
                for (int b = lane; b < CLUSTER; b += LANES)
                    arrive_there(in_block(shared_address(&bar.p), b));
        }
        __syncthreads(); // shares and parts have been read; with EXCHANGE=all P is there
        if (!TO_ALL)
            await_sent(&bar.p, parity);
        else if (threadIdx.x < CLUSTER && k0 + BC < n_keys)
            arrive_there(in_block(shared_address(&bar.p), threadIdx.x));
        if (k0 > 0)
#pragma unroll
            for (int n = 0; n < OUT_TILES; n++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const float correction = cs[min(out_query + n * 8 + 2 * t + e % 2, BR - 1)];
#pragma unroll
                    for (int u = 0; u < OUT_UNITS; u++)
                        o[u][n][e] *= correction;
                }
        add_values(o, v, Ps, out_query);
    }
    if (n_keys <= 0) { // nobody sends sums of rows without keys
        cluster_wait();
        if (threadIdx.x < BR)
            ls[threadIdx.x] = 0.f;
        __syncthreads();
    }

#pragma unroll
    for (int n = 0; n < OUT_TILES; n++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int row = out_query + n * 8 + 2 * t + i;
            if (row >= min(BR, a.Sq - q0))
                continue;
            const float inverse = safe_inverse(ls[row]);
#pragma unroll
            for (int u = 0; u < OUT_UNITS; u++) {
                const int d = out_column + u * 16 + 2 * g;
                if (warp < OUT_WARPS * OUT_SHARES && d < end)
                    *(Two *)(o_row(a, q0 + row) + d) = {o[u][n][i] * inverse, o[u][n][i + 2] * inverse};
            }
        }
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        const int own_row = round * ROUND_ROWS + threadIdx.x / LANES, row = first_row + own_row;
        if (own_row < own_rows && row < a.Sq - q0 && threadIdx.x % LANES == 0 && (!TO_ALL || rank == 0))
            store_lse(a, q0 + row, rows[round].m * 0.6931471805599453f, rows[round].l); // ln 2: natural logarithms
    }
}
