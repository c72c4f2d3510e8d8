/* splitkv_cluster.cu - short sequences: one launch, one wait for memory, one barrier.
 *
 * @name      splitkv_cluster
 * @title     Short sequences: warps of a cluster share the keys, operands go straight to registers
 * @idea      A few hundred queries and keys are no work; what takes time is how often one waits for
 *            something else. So a warp has 16 queries and at best one step of keys, asks for Q, K and V
 *            at once, and loads them as operands of the tensor cores: nothing goes through shared memory,
 *            as a product does not mind in which order its sums run, and K's columns and V's are taken in
 *            the order in which 16 bytes of a row have them. The warps of a block and the blocks of a
 *            cluster that share a query tile meet once, and each block adds up a slice of the output.
 * @after     splitkv_atomic
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90
 * @requires  sm == 90 && D <= 128 && D % 8 == 0 && BR % 16 == 0 && (WARPS*16) % BR == 0 && KEYS % 16 == 0
 * @param     BR 16 [16..256]       query rows per tile, 16 a warp
 * @param     WARPS 4 [1..16]       warps of a block; BR/16 of them share the keys of a step
 * @param     KEYS (D<=64?32:16) [16..32]  keys that a warp takes at once
 * @param     BLOCKS 132 [1..4096]  clusters grow up to this many blocks: the multiprocessors
 * @param     CLUSTER 0 [0..16]     blocks of a cluster; 0: a power of 2, at most 8, that follows BLOCKS
 * @threads   32*WARPS
 * @grid      ceil(Sq/BR)*max(CLUSTER,(CLUSTER==0)*max(1,min(min(8,pow2ceil(ceil(Sk*BR/(16*KEYS*WARPS)))),pow2ceil(floor(BLOCKS/(B*H*ceil(Sq/BR)))+1)/2)))
 *            H B
 * @cluster   max(CLUSTER,(CLUSTER==0)*max(1,min(min(8,pow2ceil(ceil(Sk*BR/(16*KEYS*WARPS)))),pow2ceil(floor(BLOCKS/(B*H*ceil(Sq/BR)))+1)/2)))
 * @smem      dynamic parts WARPS*16*(D+4)*4 type=f32 pitch=D+4 rows=16  outputs of the warps
 * @smem      dynamic ends 2*16*WARPS*4 type=f32 pitch=16 rows=WARPS     their maxima and sums of exponentials
 * @traffic   read B*H*Sq*D*T+B*H*tiles(16,KEYS)*2*KEYS*D*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster.cuh"
#include "parts.cuh"

constexpr int ROWS = 16, WARPS = P_WARPS, KEYS = P_KEYS, TILES = KEYS / 8;
constexpr int ROW_WARPS = P_BR / ROWS, KEY_WARPS = WARPS / ROW_WARPS; // of a block
constexpr int SPANS = (ATTN_D + 31) / 32; // of 32 columns, 16 bytes a lane: lane t of four has columns 8t .. 8t + 7
constexpr int PITCH = ATTN_D + 4;         // of the parts: lanes that write 16 bytes spread over all banks

// ---- Operands straight from memory ---------------------------------------------------------------

// 8 rows by 32 columns: lane (g, t) has 8 neighbours of row g, x[r] being columns 8t + 2r and the next. To the
// tensor cores x[0] and x[1] are columns 2t, 2t + 1, 2t + 8 and 2t + 9 of a tile of 16, and x[2] and x[3] of the next:
// other columns than they think, but in Q and K the same.
struct alignas(16) Span {
    unsigned x[4];
};
__device__ inline Span load_span(const elem *row, int d, bool here)
{
    return here ? *(const Span *)(row + d) : Span{};
}

// An 8 x 8 matrix that lies with row g, columns 2t and 2t + 1 in lane (g, t), transposed.
__device__ inline unsigned transposed(unsigned x)
{
    unsigned y;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}

// The keys of one step, or their values.
struct Rows {
    Span x[TILES][SPANS];

    __device__ void load(const elem *base, long long stride, int key, int n_keys, int D)
    {
        const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
        for (int j = 0; j < TILES; j++)
#pragma unroll
            for (int c = 0; c < SPANS; c++)
                x[j][c] = load_span(base + (key + 8 * j + g) * stride, 32 * c + 8 * t,
                                    key + 8 * j + g < n_keys && 32 * c + 8 * t < D);
    }
};

// ---- A step ---------------------------------------------------------------------------------------

// What a warp knows of its rows lane / 4 and lane / 4 + 8. o[c][r]: columns 32c + 8t + 2r and the next.
struct State {
    Span q[2][SPANS];
    float o[SPANS][4][4], m[2], l[2]; // m in powers of 2; l: this lane's keys only
};

__device__ inline void scores(float (&s)[TILES][4], const State &x, const Rows &k)
{
#pragma unroll
    for (int c = 0; c < SPANS; c++)
#pragma unroll
        for (int half = 0; half < 4; half += 2) {
            const unsigned q[4] = {x.q[0][c].x[half], x.q[1][c].x[half], x.q[0][c].x[half + 1], x.q[1][c].x[half + 1]};
#pragma unroll
            for (int j = 0; j < TILES; j++)
                multiply(s[j], q, k.x[j][c].x[half], k.x[j][c].x[half + 1]);
        }
}

// Scale, mask, maximum; scores become exponentials. `visible`: keys of the step that row g, g + 8 sees.
__device__ inline void softmax(float (&s)[TILES][4], State &x, float scale_log2e, const int (&visible)[2])
{
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float top = x.m[r];
#pragma unroll
        for (int j = 0; j < TILES; j++)
#pragma unroll
            for (int e = 2 * r; e < 2 * r + 2; e++) {
                s[j][e] = 8 * j + 2 * t + e % 2 < visible[r] ? s[j][e] * scale_log2e : NEG_INF;
                top = fmaxf(top, s[j][e]);
            }
        top = warp_max<4>(top); // four lanes share a row
        const float base = top == NEG_INF ? 0.f : top, correction = exp2_fast(x.m[r] - base);
        x.m[r] = top;
        x.l[r] *= correction;
#pragma unroll
        for (int j = 0; j < TILES; j++)
#pragma unroll
            for (int e = 2 * r; e < 2 * r + 2; e++)
                x.l[r] += s[j][e] = exp2_fast(s[j][e] - base);
#pragma unroll
        for (int c = 0; c < SPANS; c++)
#pragma unroll
            for (int y = 0; y < 4; y++)
                for (int e = 2 * r; e < 2 * r + 2; e++)
                    x.o[c][y][e] *= correction;
    }
}

__device__ inline void add_values(State &x, const float (&s)[TILES][4], const Rows &v)
{
#pragma unroll
    for (int j = 0; j < TILES; j += 2) {
        const unsigned p[4] = {pack(s[j][0], s[j][1]), pack(s[j][2], s[j][3]), pack(s[j + 1][0], s[j + 1][1]),
                               pack(s[j + 1][2], s[j + 1][3])};
#pragma unroll
        for (int c = 0; c < SPANS; c++)
#pragma unroll
            for (int r = 0; r < 4; r++)
                multiply(x.o[c][r], p, transposed(v.x[j][c].x[r]), transposed(v.x[j + 1][c].x[r]));
    }
}

// ---- The parts become one --------------------------------------------------------------------------

// Maxima of a warp's rows; their sums are behind those of all warps.
__device__ inline float *ends(int warp)
{
    return (float *)(smem + SMEM_ends) + warp * ROWS;
}
__device__ inline float *part(int warp)
{
    return (float *)(smem + SMEM_parts) + warp * ROWS * PITCH;
}

__device__ inline void leave_part(const State &x)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float l = warp_sum<4>(x.l[r]);
        if (t == 0) {
            ends(warp)[g + 8 * r] = x.m[r];
            ends(warp + WARPS)[g + 8 * r] = l;
        }
#pragma unroll
        for (int c = 0; c < SPANS; c++)
            if (32 * c + 8 * t < ATTN_D)
#pragma unroll
                for (int y = 0; y < 4; y += 2)
                    *(Four *)(part(warp) + (g + 8 * r) * PITCH + 32 * c + 8 * t + 2 * y) = {
                        x.o[c][y][2 * r], x.o[c][y][2 * r + 1], x.o[c][y + 1][2 * r], x.o[c][y + 1][2 * r + 1]};
    }
}

// This block's slice of the tile's outputs: four columns a thread, over all key warps of all blocks, in their order.
__device__ inline void add_up(const AttnArgs &a, int q0, int rank, int blocks)
{
    const int n = min(P_BR, a.Sq - q0) * (ATTN_D / 4);
    for (int e = rank * ATTN_THREADS + threadIdx.x; e < n; e += blocks * ATTN_THREADS) {
        const int r = e / (ATTN_D / 4), d = e % (ATTN_D / 4) * 4, first_warp = r / ROWS * KEY_WARPS;
        const unsigned o = shared_address(part(first_warp) + r % ROWS * PITCH + d);
        const unsigned m = shared_address(ends(first_warp) + r % ROWS);
        Sum s;
#pragma unroll 1
        for (int b = 0; b < blocks; b++) {
            const unsigned there = blocks == 1 ? o : in_block(o, b), m_there = blocks == 1 ? m : in_block(m, b);
#pragma unroll
            for (int w = 0; w < KEY_WARPS; w++)
                s.add(load_there(m_there + w * ROWS * 4), load_there(m_there + (w + WARPS) * ROWS * 4),
                      load4_there(there + w * ROWS * PITCH * 4));
        }
        const float inverse = safe_inverse(s.l);
#if !ATTN_PARTS_F32
        Vec<4> y;
        for (int c = 0; c < 4; c++)
            y.x[c] = to_elem(s.o.x[c] * inverse);
        if (d < a.D)
            *(Vec<4> *)(o_row(a, q0 + r) + d) = y;
#else
        if (d < a.D)
            o_row(a, q0 + r).put(d, s.o.x, inverse);
#endif
        if (d == 0)
            store_lse(a, q0 + r, s.m * 0.6931471805599453f, s.l); // ln 2: natural logarithms
    }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    splitkv_cluster(const __grid_constant__ AttnArgs a)
{
    const int blocks = cluster_blocks(), rank = cluster_rank();
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int q0 = blockIdx.x / blocks * P_BR, row0 = q0 + warp / KEY_WARPS * ROWS + g; // and row0 + 8
    const elem *k0 = k_row(a, 0), *v0 = v_row(a, 0);
    const int n_keys = visible_keys_of_tile(a, q0, P_BR), stride = KEYS * KEY_WARPS * blocks;
    int key = (rank * KEY_WARPS + warp % KEY_WARPS) * KEYS;

    State x;
    Rows k, v;
    k.load(k0, a.k_stride[2], key, n_keys, a.D);
#pragma unroll
    for (int r = 0; r < 2; r++) {
#pragma unroll
        for (int c = 0; c < SPANS; c++)
            x.q[r][c] = load_span(q_row(a, row0 + 8 * r), 32 * c + 8 * t, row0 + 8 * r < a.Sq && 32 * c + 8 * t < a.D);
        x.m[r] = NEG_INF;
        x.l[r] = 0.f;
    }
    v.load(v0, a.v_stride[2], key, n_keys, a.D);
#pragma unroll
    for (int c = 0; c < SPANS; c++)
        for (int y = 0; y < 4; y++)
            for (int e = 0; e < 4; e++)
                x.o[c][y][e] = 0.f;

#pragma unroll 1
    for (; key < n_keys; key += stride) {
        float s[TILES][4] = {};
        scores(s, x, k);
        const int visible[2] = {visible_keys(a, row0) - key, visible_keys(a, row0 + 8) - key};
        k.load(k0, a.k_stride[2], key + stride, n_keys, a.D); // the next keys travel meanwhile
        softmax(s, x, a.scale * 1.4426950408889634f, visible); // exp(x) = 2^(x log2 e)
        add_values(x, s, v);
        v.load(v0, a.v_stride[2], key + stride, n_keys, a.D);
    }

    leave_part(x);
    if (blocks == 1)
        __syncthreads();
    else {
        cluster_arrive();
        cluster_wait();
    }
    add_up(a, q0, rank, blocks);
    if (blocks > 1) {
        cluster_arrive(); // what others read of this block stays until they have it
        cluster_wait();
    }
}

/* Cost: at S=512, B=H=1, D=64 128 blocks of 4 warps have one step each: 20 loads of 16 bytes a lane, all on
 *   their way at once, 64 products, a meeting of the cluster, at most 16 loads from other blocks, a store. Beside
 *   the launch these are three dependent trips (memory, a neighbour's memory, memory), predicted 2.5 us.
 * Measured (H200, f16, D=64, us, L2 hot, graphs of 20 launches; fa2_mma and the best of PyTorch's backends in the same
 *   run): S=64 3.3, KEYS=16 3.1 (3.7, 5.0), S=128 3.6 (4.9, 5.2), S=256 4.3 (6.9, 6.9), S=512 6.5, WARPS=2 5.5, (11.3,
 *   9.2), B=8 H=4 S=128 4.9 (5.3, 5.8), H=8 S=512 8.8 (11.3, 9.1). With a Span that lacked its
 *   alignment, so that 16 bytes were four loads, S=512 took 8.7 and H=8 14.7: the simulator's sectors showed it.
 * Limits: D up to 128, as K, V, Q and O of a warp are all in registers. A key is read once for 16 rows: H=8 S=1024
 *   takes 19 us, cuDNN 14: there a tile in shared memory that serves 64 or 128 queries wins.
 * Next: not written yet: WARPS and KEYS that follow the shape as CLUSTER does. */
