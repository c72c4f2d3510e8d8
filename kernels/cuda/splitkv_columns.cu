/* splitkv_columns.cu - the shortest sequences: one step, and nothing to say to other blocks.
 *
 * @name      splitkv_columns
 * @title     The shortest sequences: all keys in one step, 32 columns of the output a block
 * @idea      What splitkv_cluster still waits for is the neighbours: clusters share a row's keys, and meet twice.
 *            Here all keys of 16 queries are in one block, 32 a warp and one step for each; what the blocks
 *            share is the output: each has 32 of its columns, and so of V, and computes all scores for them
 *            once more. So the rows are whole, nothing is corrected later, and no block reads what another has
 *            found. What is left is the way to the first load and from the last product out, and that is
 *            instructions: places in tensors have 32 bits, rows beyond the end are the last one, a mask is
 *            applied where there is something to mask, and what all warps do is unrolled for their number.
 * @after     splitkv_cluster
 * @unit      tensor
 * @dtypes    f16 bf16
 * @requires  sm >= 80 && D <= 128 && D % 32 == 0 && (KEYS == 16 || KEYS == 32 || KEYS == 64) && Sk <= KEYS*WARPS
 *            && B*max(Sq, Sk)*max(H, Hkv)*D <= 2147483648
 * @param     WARPS 16 [1..16]    warps of a block
 * @param     KEYS 32 [16..64]    keys of a warp
 * @threads   32*WARPS
 * @grid      ceil(Sq/16)*(D/32) H B
 * @smem      dynamic parts WARPS*16*36*4 type=f32 pitch=36 rows=16  outputs of the warps
 * @smem      dynamic ends 2*16*WARPS*4 type=f32 pitch=32 rows=WARPS     their maxima and sums of exponentials
 * @traffic   read B*H*ceil(Sq/16)*(D/32)*(16*D+ceil(Sk/KEYS)*KEYS*(D+32))*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "parts.cuh"
#include "short.cuh"

constexpr int ROWS = 16, WARPS = P_WARPS, KEYS = P_KEYS, TILES = KEYS / 8;
constexpr int SPAN = 32, SPANS = ATTN_D / SPAN; // columns that four lanes load at once, 16 bytes each
constexpr int PITCH = SPAN + 4;                 // of the parts: lanes that write 16 bytes spread over all banks
constexpr int TOGETHER = 4;                     // warps that have keys together, or none
constexpr int ADDERS = ROWS * SPAN / 4;         // threads that add up, four columns each: as many warps

// ---- Operands straight from memory ---------------------------------------------------------------

// 8 rows by 32 columns: lane (g, t) has 8 neighbours of row g, x[r] being columns 8t + 2r and the next. To the
// tensor cores x[0] and x[1] are columns 2t, 2t + 1, 2t + 8 and 2t + 9 of a tile of 16, and x[2] and x[3] of the next:
// other columns than they think, but in Q and K the same.
struct Span {
    unsigned x[4];
};
// Asked for where it stands, not where it is first needed.
__device__ inline Span load_span(const elem *p)
{
    Span y;
    asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(y.x[0]), "=r"(y.x[1]), "=r"(y.x[2]), "=r"(y.x[3])
                 : "l"(p)
                 : "memory");
    return y;
}

// An 8 x 8 matrix that lies with row g, columns 2t and 2t + 1 in lane (g, t), transposed.
__device__ inline unsigned transposed(unsigned x)
{
    unsigned y;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}

// ---- The step -------------------------------------------------------------------------------------

// What a warp has of its keys and knows of rows g and g + 8. o[c]: columns 8t + 2c and the next.
struct Step {
    Span q[2][SPANS], k[TILES][SPANS], v[TILES];
    float s[TILES][4] = {}, o[4][4] = {}, m[2], l[2]; // m in powers of 2

    __device__ void load(const Head &qs, const Head &ks, const Head &vs, int row, int key)
    {
#pragma unroll
        for (int j = 0; j < TILES; j++)
#pragma unroll
            for (int c = 0; c < SPANS; c++)
                k[j][c] = load_span(ks.row(key + 8 * j) + c * SPAN);
#pragma unroll
        for (int r = 0; r < 2; r++)
#pragma unroll
            for (int c = 0; c < SPANS; c++)
                q[r][c] = load_span(qs.row(row + 8 * r) + c * SPAN);
#pragma unroll
        for (int j = 0; j < TILES; j++)
            v[j] = load_span(vs.row(key + 8 * j));
    }
    __device__ void scores()
    {
#pragma unroll
        for (int c = 0; c < SPANS; c++)
#pragma unroll
            for (int half = 0; half < 4; half += 2) {
                const unsigned a[4] = {q[0][c].x[half], q[1][c].x[half], q[0][c].x[half + 1], q[1][c].x[half + 1]};
#pragma unroll
                for (int j = 0; j < TILES; j++)
                    multiply(s[j], a, k[j][c].x[half], k[j][c].x[half + 1]);
            }
    }
    // `key`: the first of the warp's.
    __device__ void mask(const AttnArgs &a, int row, int key)
    {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int n_visible = visible_keys(a, row + e / 2 * 8) - key - threadIdx.x % 4 * 2 - e % 2;
#pragma unroll
            for (int j = 0; j < TILES; j++)
                if (8 * j >= n_visible)
                    s[j][e] = NEG_INF;
        }
    }
    // Scores become exponentials; this lane's sums of them.
    __device__ void softmax(float scale_log2e)
    {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float top[TILES];
#pragma unroll
            for (int j = 0; j < TILES; j++)
                top[j] = fmaxf(s[j][2 * r], s[j][2 * r + 1]);
#pragma unroll
            for (int n = TILES / 2; n > 0; n /= 2)
#pragma unroll
                for (int j = 0; j < n; j++)
                    top[j] = fmaxf(top[j], top[j + n]);
            m[r] = warp_max<4>(top[0]) * scale_log2e; // four lanes share a row
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const float base = fmaxf(m[r], LOWEST);
            float sum[TILES];
#pragma unroll
            for (int j = 0; j < TILES; j++) {
#pragma unroll
                for (int e = 2 * r; e < 2 * r + 2; e++)
                    s[j][e] = exp2_fast(s[j][e] * scale_log2e - base);
                sum[j] = s[j][2 * r] + s[j][2 * r + 1];
            }
#pragma unroll
            for (int n = TILES / 2; n > 0; n /= 2)
#pragma unroll
                for (int j = 0; j < n; j++)
                    sum[j] += sum[j + n];
            l[r] = sum[0];
        }
    }
    __device__ void outputs()
    {
#pragma unroll
        for (int j = 0; j < TILES; j += 2) {
            const unsigned p[4] = {pack(s[j][0], s[j][1]), pack(s[j][2], s[j][3]), pack(s[j + 1][0], s[j + 1][1]),
                                   pack(s[j + 1][2], s[j + 1][3])};
#pragma unroll
            for (int c = 0; c < 4; c++)
                multiply(o[c], p, transposed(v[j].x[c]), transposed(v[j + 1].x[c]));
        }
    }
};

// ---- The parts become one --------------------------------------------------------------------------

struct alignas(8) End { // maximum and sum of exponentials of a row
    float m, l;
};
__device__ inline End *ends(int warp)
{
    return (End *)(smem + SMEM_ends) + warp * ROWS;
}
__device__ inline float *part(int warp)
{
    return (float *)(smem + SMEM_parts) + warp * ROWS * PITCH;
}

__device__ inline void leave_part(const Step &x)
{
    const unsigned warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float l = warp_sum<4>(x.l[r]);
        if (t == 0)
            ends(warp)[g + 8 * r] = {x.m[r], l};
#pragma unroll
        for (int c = 0; c < 4; c += 2)
            *(Four *)(part(warp) + (g + 8 * r) * PITCH + 8 * t + 2 * c) = {x.o[c][2 * r], x.o[c][2 * r + 1], x.o[c + 1][2 * r],
                                                                           x.o[c + 1][2 * r + 1]};
    }
}

// Four columns of a row, over the warps that have keys.
__device__ inline void add_up(const AttnArgs &a, int q0, int column, unsigned e)
{
    const unsigned r = e / (SPAN / 4), d = e % (SPAN / 4) * 4;
    const Head out(a.o, a.o_stride, head_of_block(), column + d, a.Sq);
    End end[WARPS];
    Sum s;
    s.m = LOWEST;
#pragma unroll
    for (int w0 = 0; w0 < WARPS; w0 += TOGETHER)
        if (w0 == 0 || w0 * KEYS < a.Sk)
#pragma unroll
            for (int w = w0; w < min(w0 + TOGETHER, WARPS); w++) {
                end[w] = ends(w)[r];
                s.m = fmaxf(s.m, end[w].m);
            }
#pragma unroll
    for (int w0 = 0; w0 < WARPS; w0 += TOGETHER)
        if (w0 == 0 || w0 * KEYS < a.Sk)
#pragma unroll
            for (int w = w0; w < min(w0 + TOGETHER, WARPS); w++) {
                const float weight = exp2_fast(end[w].m - s.m);
                const Four o = *(const Four *)(part(w) + r * PITCH + d);
                s.l += end[w].l * weight;
                for (int c = 0; c < 4; c++)
                    s.o.x[c] += o.x[c] * weight;
            }
    const float inverse = inverse_of_sum(s.l);
    Vec<4> y;
    for (int c = 0; c < 4; c++)
        y.x[c] = to_elem(s.o.x[c] * inverse);
    const int i = q0 + r;
    if (i < a.Sq) {
        *(Vec<4> *)out.out(i) = y;
        if (column + d == 0)
            store_lse_of(a, i, s.m, s.l);
    }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    splitkv_columns(const __grid_constant__ AttnArgs a)
{
    const unsigned warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int q0 = blockIdx.x / SPANS * ROWS, column = blockIdx.x % SPANS * SPAN, first = warp * KEYS;
    if (WARPS > TOGETHER && warp >= TOGETHER && (int)(warp / TOGETHER * TOGETHER * KEYS) >= a.Sk)
        return; // no keys, and nothing to add up
    Step x;
    const int kv_head = kv_head_of_block(a);
    x.load(Head(a.q, a.q_stride, head_of_block(), 8 * t, a.Sq), Head(a.k, a.k_stride, kv_head, 8 * t, a.Sk),
           Head(a.v, a.v_stride, kv_head, 8 * t + column, a.Sk), q0 + g, first + g);
    x.scores();
    if (first + KEYS > visible_keys(a, q0)) // the first row does not see all of the warp's keys
        x.mask(a, q0 + g, first);
    x.softmax(a.scale * 1.4426950408889634f); // exp(x) = 2^(x log2 e)
    x.outputs();
    leave_part(x);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < ADDERS; e += ATTN_THREADS)
        if (ADDERS % ATTN_THREADS == 0 || e + threadIdx.x < ADDERS)
            add_up(a, q0, column, e + threadIdx.x);
}

/* Cost: at S=128, D=64 16 blocks of 4 warps: 16 loads of 16 bytes a lane, all on their way at once, 24 products, one
 *   barrier of the block, 4 parts to add up, a store. A block reads 26 KB; an SM takes in some 60 bytes a cycle: 0.2 us. A
 *   launch that loads and stores once takes 1.2 us. The rest is the way of one warp through its instructions: 45 in
 *   front of the first load and 400 in all, where it was 73 and 690 with strides of 64 bits, an exact division (50
 *   instructions), two integer ones, every score masked, and loops over the warps with a branch for each. Scores are
 *   computed D/32 times.
 * Measured (H200, f16, D=64, us, L2 hot, graphs of 20 launches; defaults, then the best parameters; in parentheses as it
 *   was before, at its best, and the best of PyTorch's backends in the same run): S=64 2.22, WARPS=4 KEYS=16 2.02
 *   (2.45, 4.85), S=128 2.24, WARPS=4 2.16 (2.65, 4.90), S=256 2.73, WARPS=4 KEYS=64 2.63 (3.32, 6.51), S=512 3.69,
 *   WARPS=8 KEYS=64 3.47 (4.38, 8.84); D=128 S=64 WARPS=4 KEYS=16 2.23 (2.61, 5.17), S=256 WARPS=8 3.29 (4.32, 8.13).
 *   What did not help: 16 columns a block (S=64 1.98, S=128 2.21, S=256 2.81, H=8 S=256 6.3 for 3.9), 8 (S=512 6.1);
 *   V transposed by byte permutations in place of movmatrix, with twice the loads (S=256 2.93, S=512 4.23); a copy of Q's
 *   words that the compiler cannot repeat, 30 instructions less and 0.04 to 0.1 us more; keys over clusters of 2 (S=256
 *   3.79 when this was 3.31).
 * Limits: 32 keys a warp and 16 warps: Sk up to 512, 1024 with KEYS=64. Warps beyond what Sk needs cost 0.06 to 0.1 us.
 *   A key is read for 16 rows and once for each 32 columns: for one head or a few.
 * Next: splitkv_wgmma reads a key once for 64 rows. */
