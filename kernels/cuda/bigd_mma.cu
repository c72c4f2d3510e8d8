/* bigd_mma.cu - huge heads on tensor cores: f32 as three products of TF32, K and V in registers.
 *
 * @name      bigd_mma
 * @title     Huge heads in f32 on tensor cores: three products of TF32, K and V straight into registers
 * @idea      Tensor cores multiply floats of 11 bits (TF32). An f32 is the sum of two of those, but for its last
 *            bits, so three products, big*big + big*small + small*big, are nearly one of f32, and faster than
 *            multiply-adds. Keys and columns are the 16 rows of a product, queries its 8 columns: each element of
 *            K and V is then wanted by one warp alone, which loads it into the very lane that multiplies it.
 * @after     bigd_cluster
 * @unit      tensor
 * @dtypes    f32
 * @arch      90
 * @requires  sm == 90 && D <= 8192 && D % 4 == 0 && BR % 4 == 0 && BC >= 16 && BC == pow2ceil(BC) && BC <= THREADS/2
 *            && THREADS == pow2ceil(THREADS) && BC*ceil(D/(16*CLUSTER)) <= 4*THREADS
 * @param     BR (4+12*(D<=4096)+16*(D<=2048)-24*(D<=512)) [4..64] query rows per tile
 * @param     BC (16+16*(D<=4096)+32*(D<=2048)) [16..128] key rows per tile
 * @param     CLUSTER (min(ceil(D/16),8+8*(D>512))) [1..16] blocks of a cluster
 * @param     THREADS (D<=2048?128:256) [128..256] threads of a block
 * @param     MINBLOCKS (1+(D<=2048)+(D<=512)) [1..3]  blocks that a multiprocessor's registers should hold
 * @param     PRODUCTS three|one             one: big parts alone, TF32 as it comes, which the check of f32 refuses
 * @threads   THREADS
 * @grid      ceil(Sq/BR)*CLUSTER H B
 * @cluster   CLUSTER
 * @smem      dynamic Rs floor(THREADS/(2*BC))*ceil(BR/8)*8*(BC+4)*4 type=f32 pitch=BC+4
 *            the warps' shares of the block's part of the scores
 * @smem      dynamic Ss CLUSTER*ceil(BR/CLUSTER)*BC*4 type=f32 pitch=BC
 *            all blocks' parts of the scores of this block's rows
 * @smem      dynamic Ps BR*(BC+16*(BC!=16))*4 type=f32 pitch=BC+16*(BC!=16)  exponentials
 * @smem      dynamic cs BR*4    type=f32           what outputs are multiplied by after a new maximum
 * @smem      dynamic Os ceil(BR/8)*ceil(D/(16*CLUSTER))*512 type=f32
 *            outputs of earlier key tiles, as lanes have them
 * @smem      dynamic barriers 32 type=u64 count the bytes of scores and of P that have come, and who has read them
 * @traffic   read B*H*(tiles(BR,BC)*2*BC*D+ceil(Sq/BR)*(BC/16)*BR*D)*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "send.cuh"

constexpr int BR = P_BR, BC = P_BC, CLUSTER = P_CLUSTER, THREADS = ATTN_THREADS, WARPS = THREADS / 32;
constexpr int UNITS = (ATTN_D + 16 * CLUSTER - 1) / (16 * CLUSTER), COLS = UNITS * 16; // columns of a block
constexpr int QUERY_TILES = (BR + 7) / 8, KEY_TILES = BC / 16;

// Scores: warps divide the keys, 16 each, and if there are more of them the columns.
constexpr int SHARES = WARPS / KEY_TILES, SHARE_UNITS = (UNITS + SHARES - 1) / SHARES;
// Outputs: warps divide the columns, and if there are more of them the queries.
constexpr int OUT_WARPS = WARPS < UNITS ? WARPS : UNITS, OUT_SHARES = WARPS / OUT_WARPS;
constexpr int OUT_UNITS = (UNITS + OUT_WARPS - 1) / OUT_WARPS, OUT_TILES = (QUERY_TILES + OUT_SHARES - 1) / OUT_SHARES;
constexpr int PAIR = OUT_UNITS % 2 == 0 ? 2 : 1, GROUPS = OUT_UNITS / PAIR; // units of which a lane loads neighbours
// Where all warps have as many columns, only the last ones of a warp may be beyond the head's.
constexpr bool EVEN = COLS * CLUSTER == ATTN_D;
constexpr int SURE = EVEN && UNITS % SHARES == 0 ? SHARE_UNITS - 1 : 0;
constexpr int SURE_OUT = EVEN && UNITS % OUT_WARPS == 0 ? GROUPS - 1 : 0;
// What has room in registers: Q for all key tiles; V of the next tile beside this one's P; V taken apart before P has come.
constexpr bool KEEP_Q = SHARE_UNITS * QUERY_TILES <= 8, AHEAD = SHARE_UNITS <= 4 && OUT_UNITS * KEY_TILES <= 4;
constexpr bool APART = AHEAD && 65536 / (THREADS * P_MINBLOCKS) >= 224;

constexpr int OWN = (BR + CLUSTER - 1) / CLUSTER; // rows whose softmax this block does, at most, a warp for each
constexpr int OWNERS = (BR + OWN - 1) / OWN, ROUNDS = (OWN + WARPS - 1) / WARPS;
constexpr int LANES = BC / 4, TEAMS = 32 / LANES; // a lane has four keys of a row; teams of lanes divide the blocks
constexpr int SENDS = (CLUSTER + TEAMS - 1) / TEAMS;
// Pitches at which the eight rows of a fragment begin in different banks.
constexpr int SHARE_PITCH = BC + 4, P_PITCH = BC == 16 ? 16 : BC + 16;

// ---- Products in f32 by TF32 ------------------------------------------------------------------------

// x = big + small but for the last bits. Tensor cores do not look at the last 13 bits of a float; without the half
// that is added first all errors would have one sign.
template <int N> struct Halves {
    unsigned big[N], small[N];

    __device__ void put(int i, float x)
    {
        big[i] = __float_as_uint(x) + 0x1000;
        small[i] = __float_as_uint(x - __uint_as_float(big[i] & 0xffffe000));
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
// A sum of products in f32. Tensor cores cut off, always towards 0, what does not fit a sum, so its error grows with its length: small
// parts have sums of their own, in which that is nothing, and no sum goes beyond a key tile. Where a warp has few, they are
// three, which do not wait for each other.
template <int SUMS> struct Sum {
    static constexpr int PARTS = SUMS <= 2 ? 3 : 2;
    float part[PARTS][4] = {};

    __device__ void add(const Halves<4> &a, const Halves<2> &b)
    {
        if (P_PRODUCTS == 0) {
            multiply_tf32(part[1], a.small, b.big);
            multiply_tf32(part[PARTS - 1], a.big, b.small);
        }
        multiply_tf32(part[0], a.big, b.big);
    }
    __device__ float operator[](int e) const
    {
        return part[0][e] + (PARTS == 3 ? part[1][e] + part[PARTS - 1][e] : part[1][e]);
    }
};
using Score = Sum<QUERY_TILES>;
using Output = Sum<OUT_UNITS * OUT_TILES>;

// ---- Loads ------------------------------------------------------------------------------------------

// K and Q of a launch of one key tile are asked for before anything is waited for, by as few instructions as that takes: what
// stands in front of the first load is waited for by everything. V, which is wanted last, is asked for when the first of K has come,
// or, where it has no room beside K, after the scores.
// The compiler would ask in an order of its own; no load passes keep_order(). (It is a meeting of the warp, which is together anyway.)

__device__ inline void keep_order()
{
    __syncwarp();
}
// Until x has come, and no load passes that either. (Nothing is done with it: a fence, were it one of the numbers that are none.)
__device__ inline void wait_for(float x)
{
    asm volatile("{ .reg .pred p;\n"
                 "setp.eq.u32 p, %0, 0x7fffffff;\n"
                 "@p membar.cta; }" ::"r"(__float_as_uint(x))
                 : "memory");
}

struct alignas(8) Two {
    float x[2];
};
struct alignas(8 * PAIR) Columns { // neighbours of V and O
    float x[2 * PAIR];
};

// Where this block's head is, and how many bytes it is from a row to the next.
struct Head {
    const elem *q, *k, *v;
    elem *o;
    int q_pitch, k_pitch, v_pitch, o_pitch;

    __device__ Head(const AttnArgs &a)
    {
        const unsigned b = batch_of_block(), h = head_of_block();
        const unsigned kv = a.H == a.Hkv ? h : h / (a.H / a.Hkv); // a division takes its time
        q = a.q, k = a.k, v = a.v, o = a.o;
        if (b | h) { // and so do products of 64 bits
            q += b * a.q_stride[0] + h * a.q_stride[1];
            k += b * a.k_stride[0] + kv * a.k_stride[1];
            v += b * a.v_stride[0] + kv * a.v_stride[1];
            o += b * a.o_stride[0] + h * a.o_stride[1];
        }
        q_pitch = (int)a.q_stride[2] * 4, k_pitch = (int)a.k_stride[2] * 4;
        v_pitch = (int)a.v_stride[2] * 4, o_pitch = (int)a.o_stride[2] * 4;
    }
};
// Row i of those that begin at `first`, by one instruction: the compiler takes five for a product that it wants again.
template <class P> __device__ inline P row_at(P first, int i, int pitch)
{
    long long bytes;
    asm volatile("mul.wide.s32 %0, %1, %2;" : "=l"(bytes) : "r"(i), "r"(pitch));
    return (P)((const char *)first + bytes);
}
// Computed here: the compiler would do it where it is wanted, when everything waits for it.
__device__ inline void settle(unsigned &x)
{
    asm volatile("" : "+r"(x));
}
__device__ inline void settle(long long &x)
{
    asm volatile("" : "+l"(x));
}
__device__ inline void settle(int &x)
{
    asm volatile("" : "+r"(x));
}

// Q of a query tile, as a warp multiplies it: row g of each 8, its share of the columns, of each 16 a lane has 4t to 4t + 3. The
// order of columns within 16 is a sum's: four neighbours of a lane are its columns t and t + 4 of two products.
struct Queries {
    const elem *row[QUERY_TILES];
    int columns; // from the lane's first one to the head's last
    Four kept[KEEP_Q ? SHARE_UNITS : 1][QUERY_TILES];

    __device__ void find(const AttnArgs &a, const Head &head, int q0, int column)
    {
        const int g = threadIdx.x % 32 / 4, d = column + threadIdx.x % 4 * 4;
        columns = a.D - d;
#pragma unroll
        for (int n = 0; n < QUERY_TILES; n++)
            row[n] = row_at(head.q + d, min(q0 + min(n * 8 + g, BR - 1), a.Sq - 1), head.q_pitch);
    }
    __device__ Four load(int u, int n) const
    {
        Four x = {}; // where K is 0, so must be what it is multiplied by
        if (u < SURE || u * 16 < columns)
            x = *(const Four *)(row[n] + u * 16);
        return x;
    }
    __device__ void keep(int u)
    {
#pragma unroll
        for (int n = 0; n < QUERY_TILES; n++)
            kept[KEEP_Q ? u : 0][n] = load(u, n);
    }
};

// The same columns of a key tile, 16 keys.
struct Keys {
    Four x[SHARE_UNITS][2];

    // Unit by unit, the queries' with them where `with` is not null: products begin with the first, while the others are on their way.
    __device__ void load(const AttnArgs &a, const Head &head, int key, int column, int end, Queries *with)
    {
        const int g = threadIdx.x % 32 / 4, d = column + threadIdx.x % 4 * 4;
        const elem *row[2]; // rows g and g + 8 are keys 2g and 2g + 1; what comes of rows beyond is left out later
#pragma unroll
        for (int i = 0; i < 2; i++)
            row[i] = row_at(head.k + d, min(key + 2 * g + i, a.Sk - 1), head.k_pitch);
#pragma unroll
        for (int u = 0; u < SHARE_UNITS; u++) {
            if (with)
                with->keep(u);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                x[u][i] = {}; // a column beyond adds nothing
                if (u < SURE || d + u * 16 < end)
                    x[u][i] = *(const Four *)(row[i] + u * 16);
            }
            keep_order();
        }
    }
};

// V of a key tile, as a warp multiplies it: of each 16 keys a lane has 4t to 4t + 3. Rows g and g + 8 of a product are
// neighbouring columns.
struct Values {
    Columns x[GROUPS][KEY_TILES][4];

    __device__ void load(const AttnArgs &a, const Head &head, int k0, int column)
    {
        const int d = column + threadIdx.x % 32 / 4 * 2 * PAIR, key = k0 + threadIdx.x % 4 * 4;
        const int most = max(0, a.D - 2 * PAIR - d);
        const elem *v = head.v + min(d, a.D - 2 * PAIR);
#pragma unroll
        for (int i = 0; i < KEY_TILES; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const elem *row = row_at(v, min(key + i * 16 + j, a.Sk - 1), head.v_pitch); // P of keys beyond is 0
#pragma unroll
                for (int u = 0; u < GROUPS; u++) // columns beyond are nobody's
                    x[u][i][j] = *(const Columns *)(row + (u < SURE_OUT ? u * 16 * PAIR : min(u * 16 * PAIR, most)));
            }
    }
    // The left side of a product: unit u, key tile i, half of its keys.
    __device__ Halves<4> apart(int u, int i, int step) const
    {
        Halves<4> left;
#pragma unroll
        for (int e = 0; e < 4; e++)
            left.put(e, x[u / PAIR][i][2 * step + e / 2].x[u % PAIR * 2 + e % 2]);
        if (APART)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                settle(left.big[e]);
                settle(left.small[e]);
            }
        return left;
    }
};

// ---- Scores -----------------------------------------------------------------------------------------

// S^T = K Q^T of one warp: 16 keys, all queries, its share of the columns.
__device__ inline void add_scores(Score (&s)[QUERY_TILES], const Keys &k, const Queries &q)
{
#pragma unroll
    for (int u = 0; u < SHARE_UNITS; u++) {
        Halves<4> left[2];
#pragma unroll
        for (int step = 0; step < 2; step++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                left[step].put(i, k.x[u][i % 2].x[2 * step + i / 2]);
#pragma unroll
        for (int n = 0; n < QUERY_TILES; n++) {
            const Four x = KEEP_Q ? q.kept[KEEP_Q ? u : 0][n] : q.load(u, n);
#pragma unroll
            for (int step = 0; step < 2; step++) {
                Halves<2> right;
                right.put(0, x.x[2 * step]);
                right.put(1, x.x[2 * step + 1]);
                s[n].add(left[step], right);
            }
        }
    }
}
// The warp's shares as rows of queries.
__device__ inline void store_share(float *Rs, const Score (&s)[QUERY_TILES], int key)
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int n = 0; n < QUERY_TILES; n++)
#pragma unroll
        for (int i = 0; i < 2; i++)
            *(Two *)(Rs + (n * 8 + 2 * t + i) * SHARE_PITCH + key + 2 * g) = {s[n][i], s[n][i + 2]};
}

// What comes from other blocks, scores of this block's rows and P, and that it has been read there.
struct Barriers {
    MemoryBarrier scores, p, scores_read, p_read;
};

// The block's part of the scores, summed up over its warps and sent to the owners of the rows, whose barrier is told.
__device__ inline void send_scores(const float *Rs, unsigned Ss, unsigned bar, int rank)
{
#pragma unroll
    for (int i = 0; i < (BR * LANES + THREADS - 1) / THREADS; i++) {
        const unsigned e = i * THREADS + threadIdx.x;
        if (e >= BR * LANES)
            break;
        const unsigned row = e / LANES, key = e % LANES * 4, owner = row / OWN;
        Four sum = *(const Four *)(Rs + row * SHARE_PITCH + key);
#pragma unroll
        for (int share = 1; share < SHARES; share++) {
            const Four x = *(const Four *)(Rs + (share * QUERY_TILES * 8 + row) * SHARE_PITCH + key);
            for (int j = 0; j < 4; j++)
                sum.x[j] += x.x[j];
        }
        const unsigned place = Ss + ((rank * OWN + row % OWN) * BC + key) * 4;
        send_there(in_block(place, owner), in_block(bar, owner), sum);
    }
}

// ---- Softmax ----------------------------------------------------------------------------------------

// By the special function unit, an instruction or three: the owners of rows are waited for by all.
__device__ inline float power_of_2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ inline float inverse_of_sum(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return x == 0.f ? 0.f : fmaf(y, fmaf(-x, y, 1.f), y);
}

// What the owner of a row keeps of it; the warp's lanes all know it.
struct Row {
    float m = NEG_INF, l = 0.f; // m in powers of 2
};

// A lane's four keys of a row: blocks' parts added up, exponentials. Returns what earlier outputs are multiplied by. After the
// last tile both are divided by the sum, so that nobody else need know it.
__device__ inline float soften(Row &x, Four &p, const float *Ss, int own_row, int visible, float scale_log2e, bool last)
{
    const int team = threadIdx.x % 32 / LANES, key = threadIdx.x % LANES * 4;
    p = {};
#pragma unroll
    for (int b = 0; b < CLUSTER; b += TEAMS) {
        Four part = {};
        if (b + team < CLUSTER)
            part = *(const Four *)(Ss + ((b + team) * OWN + own_row) * BC + key);
        for (int i = 0; i < 4; i++)
            p.x[i] += part.x[i];
    }
    float top = x.m;
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int step = LANES; step < 32; step *= 2)
            p.x[i] += __shfl_xor_sync(FULL_WARP, p.x[i], step);
        p.x[i] = key + i < visible ? p.x[i] * scale_log2e : NEG_INF;
        top = fmaxf(top, p.x[i]);
    }
    top = warp_max<LANES>(top);
    // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
    const float base = top == NEG_INF ? 0.f : top, correction = power_of_2(x.m - base);
    float sum = 0.f;
    for (int i = 0; i < 4; i++)
        sum += p.x[i] = power_of_2(p.x[i] - base);
    x.m = top;
    x.l = x.l * correction + warp_sum<LANES>(sum);
    const float divided = last ? inverse_of_sum(x.l) : 1.f;
    for (int i = 0; i < 4; i++)
        p.x[i] *= divided;
    return correction * divided;
}

// ---- Outputs ----------------------------------------------------------------------------------------

// O^T += V^T P^T, `left` being V where it has been taken apart already.
__device__ inline void add_values(Output (&o)[OUT_UNITS][OUT_TILES], const Values &v,
                                  const Halves<4> (&left)[APART ? OUT_UNITS : 1][KEY_TILES][2], const float *Ps, int query)
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
        for (int u = 0; u < OUT_UNITS; u++) {
#pragma unroll
            for (int step = 0; step < 2; step++) {
                const Halves<4> rows = APART ? left[APART ? u : 0][i][step] : v.apart(u, i, step);
#pragma unroll
                for (int n = 0; n < OUT_TILES; n++)
                    o[u][n].add(rows, right[n][step]);
            }
        }
    }
}

// Outputs of earlier key tiles wait in shared memory, where no scores want their registers: with them, and to be kept.
__device__ inline void join_outputs(Four (&outputs)[OUT_UNITS][OUT_TILES], float *Os, const float *cs, bool earlier, bool keep)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int n = 0; n < OUT_TILES; n++) {
        const int tile = warp / OUT_WARPS * OUT_TILES + n;
        float correction[2] = {};
        for (int i = 0; earlier && i < 2; i++)
            correction[i] = cs[min(tile * 8 + lane % 4 * 2 + i, BR - 1)];
#pragma unroll
        for (int u = 0; u < OUT_UNITS; u++) {
            const int unit = warp % OUT_WARPS * OUT_UNITS + u;
            // A lane's neighbours are in both units of a pair: where the last has but 16 columns, half of the lanes have them.
            const bool half = UNITS % PAIR != 0 && unit / PAIR == UNITS / PAIR;
            if ((half ? lane >= 16 : unit >= UNITS) || tile >= QUERY_TILES)
                continue;
            const int place = half ? ((UNITS - 1) * QUERY_TILES + tile) * 32 + unit % PAIR * 16 + lane
                                   : (unit * QUERY_TILES + tile) * 32 + lane;
            Four &kept = *(Four *)(Os + place * 4);
            for (int e = 0; earlier && e < 4; e++)
                outputs[u][n].x[e] += kept.x[e] * correction[e % 2];
            if (keep)
                kept = outputs[u][n];
        }
    }
}

// A query tile; ONE: all its keys are one tile, and nothing of further ones is in the code.
template <bool ONE> __device__ inline void attend(const AttnArgs &a, int q0, int n_keys)
{
    float *Rs = (float *)(smem + SMEM_Rs), *Ss = (float *)(smem + SMEM_Ss), *Ps = (float *)(smem + SMEM_Ps);
    float *cs = (float *)(smem + SMEM_cs), *Os = (float *)(smem + SMEM_Os);
    Barriers &bar = *(Barriers *)(smem + SMEM_barriers);
    const unsigned here = shared_address(smem), p_here = here + SMEM_barriers + sizeof(MemoryBarrier); // by 32 bits
    const int rank = cluster_rank(), warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int first = rank * COLS, end = min(first + COLS, a.D); // columns of the block
    // Of this warp: of a key tile and of the columns for scores, and of columns and queries for outputs.
    const int key = warp % KEY_TILES * 16, share = warp / KEY_TILES, column = first + share * SHARE_UNITS * 16;
    const int out_column = first + warp % OUT_WARPS * OUT_UNITS * 16, out_query = warp / OUT_WARPS * OUT_TILES * 8;
    const int first_row = rank * OWN, own_rows = max(0, min(OWN, BR - first_row));

    const Head head(a);
    Keys k;
    Values v;
    Queries q;
    if (KEEP_Q)
        q.find(a, head, q0, column);
    k.load(a, head, key, column, min(end, column + SHARE_UNITS * 16), KEEP_Q ? &q : nullptr);
    if (threadIdx.x == 0) {
        barrier_make(&bar.scores, 1); // and the bytes
        barrier_make(&bar.p, 1);
        barrier_make(&bar.scores_read, BR); // the owner of each row
        barrier_make(&bar.p_read, CLUSTER); // each block
        expect_sent(&bar.scores, CLUSTER * own_rows * BC * 4);
        expect_sent(&bar.p, BR * BC * 4);
        publish_counters();
    }
    cluster_arrive_only(); // once all have come, all shared memory is there to be written
    long long out = 0;
    const auto place_outputs = [&] {
        out = (char *)row_at(head.o + out_column + g * 2 * PAIR, q0 + out_query + 2 * t, head.o_pitch) - (char *)a.o;
        settle(out);
    };
    if (KEEP_Q) // there is room for it
        place_outputs();

    Row rows[ROUNDS];
    Four outputs[OUT_UNITS][OUT_TILES] = {};
    const auto store_sums = [&] {
#pragma unroll
        for (int round = 0; round < ROUNDS; round++) {
            const int own_row = round * WARPS + warp, row = first_row + own_row;
            if (own_row < own_rows && row < a.Sq - q0 && lane == 0)
                store_lse(a, q0 + row, rows[round].m * 0.6931471805599453f, rows[round].l); // ln 2: natural logarithms
        }
    };
    int parity = 0;
#pragma unroll 1
    for (int k0 = 0; ONE ? k0 == 0 : k0 < n_keys; k0 += BC, parity ^= 1) {
        const bool last = ONE || k0 + BC >= n_keys;
        if (!KEEP_Q)
            q.find(a, head, q0, column);
        Score s[QUERY_TILES];
        if (AHEAD && k0 == 0) {
            wait_for(k.x[0][0].x[0]); // V's bytes would stand in the way of K's
            v.load(a, head, 0, out_column);
        }
        add_scores(s, k, q);
        store_share(Rs + share * QUERY_TILES * 8 * SHARE_PITCH, s, key);
        if (!AHEAD) {
            keep_order();
            v.load(a, head, k0, out_column);
        }
        if (k0 == 0)
            cluster_wait();
        __syncthreads(); // all shares are there
        if (k0 > 0)
            await_sent(&bar.scores_read, parity ^ 1); // by the owners of all rows
        send_scores(Rs, here + SMEM_Ss, here + SMEM_barriers, rank);

#pragma unroll
        for (int round = 0; round < ROUNDS; round++) {
            const int own_row = round * WARPS + warp, row = first_row + own_row;
            if (own_row >= own_rows)
                continue;
            int visible = visible_keys(a, q0 + row) - k0; // before scores have come, as far as it goes
            unsigned place[SENDS], told[SENDS];
            settle(visible);
#pragma unroll
            for (int i = 0; i < SENDS; i++) {
                place[i] = in_block(here + SMEM_Ps + (row * P_PITCH + lane % LANES * 4) * 4, i * TEAMS + lane / LANES);
                told[i] = in_block(p_here, i * TEAMS + lane / LANES);
                settle(place[i]);
                settle(told[i]);
            }
            await_sent(&bar.scores, parity);
            Four p;
            const float correction =
                soften(rows[round], p, Ss, own_row, visible, a.scale * 1.4426950408889634f, last); // exp(x) = 2^(x log2 e)
            if (k0 > 0)
                await_sent(&bar.p_read, parity ^ 1); // by all blocks
#pragma unroll
            for (int i = 0; i < SENDS; i++)
                if (CLUSTER % TEAMS == 0 || i * TEAMS + lane / LANES < CLUSTER)
                    send_there(place[i], told[i], p);
            if (k0 > 0 && lane < CLUSTER)
                send_there(in_block(here + SMEM_cs + row * 4, lane), in_block(p_here, lane), correction);
            __syncwarp();
            if (!last && lane < CLUSTER)
                arrive_there(in_block(shared_address(&bar.scores_read), lane));
        }

        // While P is on its way:
        Halves<4> left[APART ? OUT_UNITS : 1][KEY_TILES][2];
        if (APART) {
#pragma unroll
            for (int u = 0; u < OUT_UNITS; u++)
#pragma unroll
                for (int i = 0; i < KEY_TILES; i++)
#pragma unroll
                    for (int step = 0; step < 2; step++)
                        left[APART ? u : 0][i][step] = v.apart(u, i, step);
            if (!last)
                v.load(a, head, k0 + BC, out_column);
        }
        await_sent(&bar.p, parity);
        Output o[OUT_UNITS][OUT_TILES];
        add_values(o, v, left, Ps, out_query);
#pragma unroll
        for (int n = 0; n < OUT_TILES; n++)
#pragma unroll
            for (int u = 0; u < OUT_UNITS; u++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    outputs[u][n].x[e] = o[u][n][e];
        if (k0 > 0 || !last)
            join_outputs(outputs, Os, cs, k0 > 0, !last);
        if (!last) {
            if (AHEAD && !APART)
                v.load(a, head, k0 + BC, out_column);
            k.load(a, head, k0 + BC + key, column, min(end, column + SHARE_UNITS * 16), nullptr);
            if (threadIdx.x == 0) { // of the next tile, corrections among it
                expect_sent(&bar.scores, CLUSTER * own_rows * BC * 4);
                expect_sent(&bar.p, (BR * BC + BR) * 4);
            }
            __syncthreads(); // shares and P have been read
            if (threadIdx.x < OWNERS)
                arrive_there(in_block(shared_address(&bar.p_read), threadIdx.x));
        }
    }
    if (!ONE && n_keys <= 0)
        cluster_wait();

    if (!KEEP_Q)
        place_outputs();
#pragma unroll
    for (int n = 0; n < OUT_TILES; n++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if (out_query + n * 8 + 2 * t + i >= min(BR, a.Sq - q0) || warp >= OUT_WARPS * OUT_SHARES)
                continue;
            elem *row = (elem *)((char *)a.o + out + (n * 8 + i) * head.o_pitch);
#pragma unroll
            for (int u = 0; u < GROUPS; u++) {
                Columns y;
                for (int e = 0; e < 2 * PAIR; e++)
                    y.x[e] = outputs[u * PAIR + e / 2][n].x[i + e % 2 * 2];
                if (u < SURE_OUT || out_column + g * 2 * PAIR + u * 16 * PAIR < end)
                    *(Columns *)(row + u * 16 * PAIR) = y;
            }
        }
    store_sums();
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, P_MINBLOCKS) bigd_mma(const __grid_constant__ AttnArgs a)
{
    const int q0 = blockIdx.x / CLUSTER * BR, n_keys = visible_keys_of_tile(a, q0, BR);
    if (0 < n_keys && n_keys <= BC)
        attend<true>(a, q0, n_keys);
    else
        attend<false>(a, q0, n_keys);
}

/* Cost: 3/8 of a product of TF32 for each multiply-add of f32, beside it two or three instructions for each element
 *   that is taken apart: of K and V once, of Q by every warp that has other keys, of P by every warp with other columns.
 *   Nothing of K and V passes through shared memory, so no barrier stands between a load and its product. Two trips
 *   to other blocks a key tile, as in bigd_cluster; a launch of one key tile sends nothing but scores and P.
 * Measured (H200, f32, B=1, us with LSE, L2 hot, graphs of 20, one interleaved run; products by PyTorch): H=4 S=64 D=512
 *   4.11 (18.6), D=2048 8.74 (46.8), H=2 S=32 D=4096 4.98 (80.9), H=1 S=16 D=8192 3.81 (16.9): 4.5, 5.4, 16 and 4.4 times
 *   the products. Before loads were asked for in order and one key tile was code of its own: 4.53, 9.30, 5.05, 4.16; in an earlier run
 *   that form took 4.66, 9.48, 5.00, 4.19, and bigd_cluster beside it 7.09, 14.2, 8.46, 8.95. Of that form, too: V asked for with K: 5.08, -,
 *   5.33 and 4.43.
 *   What D=8192 took in a draft with V behind the scores, by a block's clock (1.98 a ns): scores at 1900, P sent at 3250, P there at 3570, stores
 *   at 4330. Code that comes for the first time takes 2.0 to 2.8 clocks an instruction, not 1.0. The launch is 1.1 us beside.
 *   Sums of rows sent behind P, so that P does not wait for them: 0 to 4 per cent slower. Big parts by cvt.rna.tf32 in place of an
 *   addition: 3 to 13. Every part of the scores to every block, so that one trip is saved: the same at D=8192, 5 to 22 elsewhere.
 * Precision: closer than plain f32 in the middle of 612 random shapes, of 8 to 1024 columns, none of which fails its check. Hopper adds
 *   the eight products of an instruction and the sum at once, cut off 2 bits below the largest, and cuts off what comes of it (bit for
 *   bit, of 327680 sums): with one sum for all three parts and all keys 12 of 402 failed. Chains of two steps added up as floats are
 *   exact to 0.3 times plain f32, but take 33 per cent more at D=2048. PRODUCTS=one: 280 to 990 times plain f32.
 * Limits: the roof of the plan is TF32's, of which three products leave a third. A query tile reads all of K and V, so long
 *   Sq is for matrix products; V of a key tile must fit registers (@requires). Clusters must find room at once: at D=512
 *   32 clusters of 8 do where three blocks fit a multiprocessor (168 registers), else the last run alone, 6.6 us for 4.8.
 * Next: not written yet: Q taken apart once for all warps; clusters that share K and V by multicast. */
