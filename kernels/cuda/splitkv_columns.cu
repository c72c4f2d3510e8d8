/* splitkv_columns.cu - the shortest sequences: one step, and nothing to say to other blocks.
 *
 * @name      splitkv_columns
 * @title     The shortest sequences: all keys in one step, 32 columns of the output a block
 * @idea      What splitkv_cluster still waits for is the neighbours: clusters share a row's keys, and meet twice.
 *            Here all keys of 16 queries are in one block, 32 a warp and one step for each; what the blocks
 *            share is the output: each has 32 of its columns, and so of V, and computes all scores for them
 *            once more. So the rows are whole, nothing is corrected later, no block reads what another has
 *            found; and with rows clamped to the last one no load waits for a comparison.
 * @after     splitkv_cluster
 * @unit      tensor
 * @dtypes    f16 bf16
 * @requires  sm >= 80 && D <= 128 && D % 32 == 0 && KEYS % 16 == 0 && Sk <= KEYS*WARPS
 *            && max(Sq, Sk)*max(H, Hkv)*D <= 2147483648
 * @param     WARPS 16 [1..16]    warps of a block
 * @param     KEYS (D<=64?32:16) [16..32]  keys of a warp
 * @threads   32*WARPS
 * @grid      ceil(Sq/16)*(D/32) H B
 * @smem      dynamic parts WARPS*16*36*4 type=f32 pitch=36 rows=16  outputs of the warps
 * @smem      dynamic ends 2*16*WARPS*4 type=f32 pitch=16 rows=WARPS     their maxima and sums of exponentials
 * @traffic   read B*H*ceil(Sq/16)*(D/32)*(16*D+ceil(Sk/KEYS)*KEYS*(D+32))*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "parts.cuh"

constexpr int ROWS = 16, WARPS = P_WARPS, KEYS = P_KEYS, TILES = KEYS / 8;
constexpr int SPAN = 32, SPANS = ATTN_D / SPAN; // columns that four lanes load at once, 16 bytes each
constexpr int PITCH = SPAN + 4;                 // of the parts: lanes that write 16 bytes spread over all banks

// ---- Operands straight from memory ---------------------------------------------------------------

// 8 rows by 32 columns: lane (g, t) has 8 neighbours of row g, x[r] being columns 8t + 2r and the next. To the
// tensor cores x[0] and x[1] are columns 2t, 2t + 1, 2t + 8 and 2t + 9 of a tile of 16, and x[2] and x[3] of the next:
// other columns than they think, but in Q and K the same.
struct Span {
    unsigned x[4];
};
// Asked for where it stands, not where it is first needed.
__device__ inline Span load_span(const char *p)
{
    Span y;
    asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(y.x[0]), "=r"(y.x[1]), "=r"(y.x[2]), "=r"(y.x[3])
                 : "l"(p)
                 : "memory");
    return y;
}

// A tensor's rows of one head, from this lane's columns on. Short sequences: strides have 32 bits, which saves most of
// what an address costs.
struct Head {
    const char *first;
    unsigned stride; // in bytes
    int n;

    __device__ Head(const elem *x, const long long (&s)[3], unsigned head, int rows)
        : first((const char *)(x + ((unsigned long long)(unsigned)s[0] * batch_of_block() +
                                    (unsigned long long)(unsigned)s[1] * head + threadIdx.x % 4 * 8))),
          stride((unsigned)s[2] * (unsigned)sizeof(elem)), n(rows)
    {
    }
    // Row i, or the last: what lies beyond is masked or not stored.
    __device__ const char *row(int i) const { return first + (unsigned long long)(unsigned)min(i, n - 1) * stride; }
};

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
    float s[TILES][4] = {}, o[4][4] = {}, m[2] = {NEG_INF, NEG_INF}, l[2] = {}; // m in powers of 2

    __device__ void load(const Head &qs, const Head &ks, const Head &vs, int row, int key, int column)
    {
#pragma unroll
        for (int j = 0; j < TILES; j++)
#pragma unroll
            for (int c = 0; c < SPANS; c++)
                k[j][c] = load_span(ks.row(key + 8 * j) + c * SPAN * sizeof(elem));
#pragma unroll
        for (int r = 0; r < 2; r++)
#pragma unroll
            for (int c = 0; c < SPANS; c++)
                q[r][c] = load_span(qs.row(row + 8 * r) + c * SPAN * sizeof(elem));
#pragma unroll
        for (int j = 0; j < TILES; j++)
            v[j] = load_span(vs.row(key + 8 * j) + column * sizeof(elem));
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
    // Scale, mask, maximum; scores become exponentials. `visible`: keys of the step that row g, g + 8 sees.
    __device__ void softmax(float scale_log2e, const int (&visible)[2])
    {
        const int t = threadIdx.x % 4;
#pragma unroll
        for (int r = 0; r < 2; r++) {
#pragma unroll
            for (int j = 0; j < TILES; j++)
#pragma unroll
                for (int e = 2 * r; e < 2 * r + 2; e++) {
                    s[j][e] = 8 * j + 2 * t + e % 2 < visible[r] ? s[j][e] * scale_log2e : NEG_INF;
                    m[r] = fmaxf(m[r], s[j][e]);
                }
            m[r] = warp_max<4>(m[r]); // four lanes share a row
            const float base = m[r] == NEG_INF ? 0.f : m[r];
#pragma unroll
            for (int j = 0; j < TILES; j++)
#pragma unroll
                for (int e = 2 * r; e < 2 * r + 2; e++)
                    l[r] += s[j][e] = exp2_fast(s[j][e] - base);
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

// Maxima of a warp's rows; their sums are behind those of all warps.
__device__ inline float *ends(int warp)
{
    return (float *)(smem + SMEM_ends) + warp * ROWS;
}
__device__ inline float *part(int warp)
{
    return (float *)(smem + SMEM_parts) + warp * ROWS * PITCH;
}

__device__ inline void leave_part(const Step &x)
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
        for (int c = 0; c < 4; c += 2)
            *(Four *)(part(warp) + (g + 8 * r) * PITCH + 8 * t + 2 * c) = {x.o[c][2 * r], x.o[c][2 * r + 1], x.o[c + 1][2 * r],
                                                                           x.o[c + 1][2 * r + 1]};
    }
}

// Four columns a thread, over the first `n` warps; all others have no keys.
__device__ inline void add_up(const AttnArgs &a, int q0, int column, int n)
{
    for (int e = threadIdx.x; e < min(ROWS, a.Sq - q0) * (SPAN / 4); e += ATTN_THREADS) {
        const int r = e / (SPAN / 4), d = e % (SPAN / 4) * 4;
        Sum s;
#pragma unroll 4
        for (int w = 0; w < n; w++)
            s.m = fmaxf(s.m, ends(w)[r]);
        const float base = s.m == NEG_INF ? 0.f : s.m;
#pragma unroll 4
        for (int w = 0; w < n; w++) {
            const float weight = exp2_fast(ends(w)[r] - base);
            const Four o = *(const Four *)(part(w) + r * PITCH + d);
            s.l += ends(w + WARPS)[r] * weight;
            for (int c = 0; c < 4; c++)
                s.o.x[c] += o.x[c] * weight;
        }
        const float inverse = safe_inverse(s.l);
        Vec<4> y;
        for (int c = 0; c < 4; c++)
            y.x[c] = to_elem(s.o.x[c] * inverse);
        *(Vec<4> *)(o_row(a, q0 + r) + column + d) = y;
        if (column + d == 0)
            store_lse(a, q0 + r, s.m * 0.6931471805599453f, s.l); // ln 2: natural logarithms
    }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    splitkv_columns(const __grid_constant__ AttnArgs a)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4;
    const int q0 = blockIdx.x / SPANS * ROWS, column = blockIdx.x % SPANS * SPAN;
    const int first = warp * KEYS, n_keys = visible_keys_of_tile(a, q0, ROWS);
    if (first < n_keys) {
        int kv_head = head_of_block();
        if (a.H != a.Hkv) // two divisions, in front of the first load
            kv_head /= a.H / a.Hkv;
        Step x;
        x.load(Head(a.q, a.q_stride, head_of_block(), a.Sq), Head(a.k, a.k_stride, kv_head, a.Sk),
               Head(a.v, a.v_stride, kv_head, a.Sk), q0 + g, first + g, column);
        x.scores();
        const int visible[2] = {visible_keys(a, q0 + g) - first, visible_keys(a, q0 + g + 8) - first};
        x.softmax(a.scale * 1.4426950408889634f, visible); // exp(x) = 2^(x log2 e)
        x.outputs();
        leave_part(x);
    }
    __syncthreads();
    add_up(a, q0, column, (n_keys + KEYS - 1) / KEYS);
}

/* Cost: at S=256, D=64 32 blocks of 8 warps: 16 loads of 16 bytes a lane, all on their way at once, 24 products, one
 *   barrier of the block, 8 parts to add up, a store. A block reads 48 KB, where all columns of V would make it 64:
 *   an SM takes in some 60 bytes a cycle, so that this is a third of a microsecond. Scores are computed D/32 times.
 * Measured (H200, f16, D=64, us, L2 hot, graphs of 20 launches; splitkv_cluster at its best and the best of PyTorch's
 *   backends in the same run): S=64 WARPS=4 KEYS=16 2.41 (3.09, 4.93), S=128 2.67 (3.56, 5.00), S=256 3.31
 *   (4.12, 6.46), S=512 4.39 (5.49, 8.89); D=128 S=64 2.65 (4.29, 5.23), S=256 4.31 (6.41, 8.06). Its keys split over
 *   clusters of 2 in place of the columns: S=256 3.79, S=512 5.55.
 * Limits: 32 keys a warp and 16 warps: Sk up to 512, at D=128 256. WARPS beyond what Sk needs cost 0.02 to 0.1 us.
 *   A key is read for 16 rows and once for each 32 columns: for one head or a few.
 * Next: splitkv_wgmma reads a key once for 64 rows. */
