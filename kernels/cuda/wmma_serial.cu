/* wmma_serial.cu - the first step to tensor cores: WMMA for both products, everything else in between
 * through shared memory.
 *
 * @name      wmma_serial
 * @title     WMMA, one warp for 16 query rows, one small product after another
 * @idea      Tensor cores do Q K^T and P V: a warp owns 16 query rows of the block's 64 and computes
 *            its scores a 16 x 16 product at a time. A fragment's elements lie among the lanes in an
 *            unspecified order, so the scores go to shared memory, where two lanes a row do the
 *            softmax, and the outputs are kept there too, loaded and stored around every product.
 * @after     fa_scalar
 * @unit      tensor
 * @dtypes    f16 bf16
 * @requires  sm >= 80 && D <= 128 && PAD % 8 == 0 && BC % 32 == 0 && BR % 32 == 0
 *            && BR % (WARPS * DSPLIT) == 0
 *            && (BR / WARPS) % (16 + 16*(SHAPE==1) - 8*(SHAPE==2)) == 0
 *            && (32 % (BR / WARPS / DSPLIT) == 0 || (BR / WARPS / DSPLIT) % 32 == 0)
 *            && (SHAPE != 2 || ceil(D / 16) % 2 == 0)
 * @param     BR 64 [32..128]   query rows per tile
 * @param     BC 32 [32..128]   key rows per tile
 * @param     WARPS 4 [1..8]    warps along the rows; each owns BR/WARPS of them
 * @param     PAD 16 [0..64]    extra elements per row of Q, K, V and P
 * @param     SHAPE m16n16k16|m32n8k16|m8n32k16  rows x columns x depth of one product
 * @param     STAGES 1 [1..2]   1: K and V take turns in a buffer. 2: a buffer each; one is filled
 *                              (cp.async) while the other is multiplied
 * @param     DSPLIT 1 [1..4]   warps that share the rows of one: each has D/DSPLIT columns of O
 * @param     QK keys|depth     what they share of Q K^T: the keys, or D, where their sums must meet
 * @threads   WARPS*DSPLIT*32
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+PAD)*T align=32   Q tile
 * @smem      dynamic Ks STAGES*BC*(D+PAD)*T align=32  K tile, then V tile; STAGES=2: side by side
 * @smem      dynamic Ss BR*(BC+4)*4  align=32   scores
 * @smem      dynamic Ps BR*(BC+PAD)*T align=32  their exponentials, 16 bits
 * @smem      dynamic Os BR*(D+4)*4   align=32   output, not yet divided
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * Cost: a product needs 8192 operations of the tensor cores, and beside it 512 B of each operand; for
 *   every BC/16 products of P V come 2 KiB of accumulator, there and back. Shared memory, not the
 *   tensor cores, sets the pace.
 * Padding: two manuals, two rules. Both let a fragment begin at multiples of 32 bytes. The CUDA C++ guide
 *   wants rows a multiple of 16 bytes apart (8 elements), so PAD=8 is legal. The PTX ISA wants every row at
 *   a multiple of the fragment's size (f16: 32 bytes), so 16 elements: a report says the same, and that PAD=8
 *   failed. On an H200 it is right, and the fastest. Whether padding helps is a matter of banks: with
 *   D=64, PAD=0 puts all rows on the same banks, PAD=8 moves each by 4 banks, PAD=16 by 8. (m32n8k16
 *   takes V 8 columns at a time, at multiples of 16 bytes. With f16 neither manual allows it; an H200
 *   does it right.)
 * STAGES=2: V comes during Q K^T and the softmax, the next K during P V, and a tile has 2 barriers
 *   instead of 4 (3 where warps share rows). It costs BC*(D+PAD)*T bytes a block. On an L4 (D=64) one
 *   of the two blocks of a multiprocessor must go; with PAD=8 both still fit: look before you buy.
 * DSPLIT: 2 or 4 times the warps for the same shared memory. Each has a part of the columns of O and
 *   BR/WARPS/DSPLIT rows of the softmax, with more lanes a row. The price: P is read by DSPLIT warps
 *   instead of one, Q too, and they meet before the softmax. QK=depth splits D in Q K^T as well: every
 *   warp then has sums over D/DSPLIT for all keys, which are added one warp after another through
 *   shared memory. QK=keys has nothing to add. But BC=32 is two pieces of 16, so with DSPLIT=4 half of
 *   the warps have no keys: take BC=64.
 * Limits: much shared memory a block, so few warps a multiprocessor, and scores and outputs go back
 *   and forth whatever the parameters. f16 products of 8x8x32 or 16x16x8 do not exist: these shapes
 *   are for 4-bit integers and tf32.
 * Next: fused_scalar starts plain again, for one idea a step; fa2_mma_plain keeps scores and outputs
 *   in registers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef P_BR
#define P_BR 64
#endif
#ifndef P_BC
#define P_BC 32
#endif
#ifndef P_WARPS
#define P_WARPS 4
#endif
#ifndef P_PAD
#define P_PAD 16
#endif
#ifndef P_STAGES
#define P_STAGES 1
#endif
#ifndef P_DSPLIT
#define P_DSPLIT 1
#endif
#ifndef P_QK
#define P_QK 0
#endif
#ifndef ATTN_THREADS
#define ATTN_THREADS (P_WARPS * P_DSPLIT * 32)
#endif
#include "wmma.cuh"
#ifndef SMEM_Qs
#define ALIGN32(bytes) (((bytes) + 31) / 32 * 32)
#define SMEM_Qs 0
#define SMEM_Ks (SMEM_Qs + P_BR * (ATTN_D + P_PAD) * 2)
#define SMEM_Ss (SMEM_Ks + P_STAGES * P_BC * (ATTN_D + P_PAD) * 2)
#define SMEM_Ps ALIGN32(SMEM_Ss + P_BR * (P_BC + 4) * 4)
#define SMEM_Os ALIGN32(SMEM_Ps + P_BR * (P_BC + P_PAD) * 2)
#endif

constexpr int BR = P_BR, BC = P_BC, DSPLIT = P_DSPLIT;
constexpr int ROWS = BR / P_WARPS;              // that DSPLIT warps share,
constexpr int OWN = ROWS / DSPLIT;              // and those of them whose softmax a warp does:
constexpr int LANES = OWN >= 32 ? 1 : 32 / OWN; // lanes a row,
constexpr int STEPS = OWN <= 32 ? 1 : OWN / 32; // rows a lane
constexpr int PITCH = ATTN_D + P_PAD, S_PITCH = BC + 4, P_PITCH = BC + P_PAD, O_PITCH = ATTN_D + 4;
constexpr bool AHEAD = P_STAGES == 2; // K and V have a buffer each
constexpr bool DEPTH = P_QK == 1 && DSPLIT > 1;
constexpr int MIN_BLOCKS = ATTN_THREADS <= 512 ? 2 : 1; // that registers shall leave room for
static_assert(ROWS % WM == 0 && ATTN_D % WN == 0, "rows and columns are whole fragments");
static_assert(OWN * DSPLIT == ROWS && (32 % OWN == 0 || OWN % 32 == 0), "lanes share rows evenly");

// ---- Who does what ------------------------------------------------------------------------------

__device__ inline int group() // of DSPLIT warps, with rows group() * ROWS ...
{
    return threadIdx.x / 32 / DSPLIT;
}
__device__ inline int part() // of their work: 0 ... DSPLIT - 1
{
    return threadIdx.x / 32 % DSPLIT;
}
// A part's share of `length`, in whole pieces; the last parts may have less, or nothing.
template <int length, int piece>
constexpr int SHARE = (length / piece + DSPLIT - 1) / DSPLIT * piece;
__device__ inline int own_row(int step) // of the block's, for this lane's softmax
{
    return group() * ROWS + part() * OWN + threadIdx.x % 32 / LANES + step * 32;
}
// The warps that share rows wait for each other.
__device__ inline void meet_group()
{
    if (DSPLIT == 1)
        __syncwarp();
    else
        meet(1 + group(), DSPLIT * 32);
}

// ---- Tiles --------------------------------------------------------------------------------------

// Starts the copy of BC rows; at once with one buffer, or where rows do not begin at 16 bytes.
__device__ inline void start_tile(elem *tile, const elem *src, long long stride, int valid, int D)
{
    if (!AHEAD || D % 8 != 0 || stride % 8 != 0) {
        load_tile<BC, PITCH>(tile, src, stride, valid, D);
        return;
    }
    constexpr int CHUNKS = ATTN_D / 8; // of 16 bytes, in a row
    for (int e = threadIdx.x; e < BC * CHUNKS; e += ATTN_THREADS) {
        const int r = e / CHUNKS, d = e % CHUNKS * 8;
        const bool inside = r < valid && d < D;
        copy_async(shared_address(tile + r * PITCH + d), inside ? src + r * stride + d : src, inside);
    }
    commit_copies();
}
// The tile that was started last is there, and what all threads did before is done.
__device__ inline void finish_tile()
{
    if (AHEAD)
        wait_copies<0>();
    __syncthreads();
}

// ---- S = Q K^T, P = 2^(S - m), O += P V ---------------------------------------------------------

// Adds the sums of a group's warps, one after another: nobody knows which element a lane has, but it
// is the same one in all of them.
__device__ inline void add_in_turn(float *s_tile, Accumulator &s)
{
    for (int turn = 0; turn < DSPLIT; turn++) {
        if (turn == part()) {
            Accumulator before = {};
            if (turn > 0)
                load_c(before, s_tile, S_PITCH);
            for (int i = 0; i < 8; i++)
                s.x[i] += before.x[i];
            store_c(s_tile, s, S_PITCH);
        }
        meet_group();
    }
}
__device__ inline void scores(float *Ss, const elem *Qs, const elem *Ks)
{
    constexpr int KEYS = DEPTH ? BC : SHARE<BC, WN>, COLS = DEPTH ? SHARE<ATTN_D, WK> : ATTN_D;
    const int j0 = DEPTH ? 0 : part() * KEYS, d0 = DEPTH ? part() * COLS : 0;
    for (int i = group() * ROWS; i < (group() + 1) * ROWS; i += WM)
        for (int j = j0; j < min(j0 + KEYS, BC); j += WN) {
            Accumulator s = {};
            for (int d = d0; d < min(d0 + COLS, ATTN_D); d += WK) {
                FragmentA q;
                FragmentB k;
                load_a(q, Qs + i * PITCH + d, PITCH);
                load_b_transposed(k, Ks + j * PITCH + d, PITCH);
                multiply<true>(s, q, k);
            }
            if (DEPTH)
                add_in_turn(Ss + i * S_PITCH + j, s);
            else
                store_c(Ss + i * S_PITCH + j, s, S_PITCH);
        }
}

struct Row {
    float m = NEG_INF, l = 0.f; // maximum; sum of this lane's exponentials
};
// LANES neighbours do a row, every LANES-th key each.
__device__ inline void softmax(const AttnArgs &a, Row *rows, const float *Ss, elem *Ps, float *Os, int q0,
                               int k0)
{
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
    for (int t = 0; t < STEPS; t++) {
        const int r = own_row(t), first = threadIdx.x % LANES;
        const int n = min(BC, visible_keys(a, q0 + r) - k0);
        const float *s = Ss + r * S_PITCH;
        float m = rows[t].m;
        for (int j = first; j < n; j += LANES)
            m = fmaxf(m, s[j] * scale_log2e);
        m = warp_max<LANES>(m);
        const float base = m == NEG_INF ? 0.f : m, correction = exp2f(rows[t].m - base);
        float l = rows[t].l * correction;
        for (int j = first; j < BC; j += LANES) {
            const float p = j < n ? exp2f(s[j] * scale_log2e - base) : 0.f;
            l += p;
            Ps[r * P_PITCH + j] = to_elem(p);
        }
        for (int d = first; d < ATTN_D; d += LANES)
            Os[r * O_PITCH + d] *= correction;
        rows[t].m = m;
        rows[t].l = l;
    }
}
__device__ inline void outputs(float *Os, const elem *Ps, const elem *Vs)
{
    constexpr int COLS = SHARE<ATTN_D, WN>;
    const int d0 = part() * COLS;
    for (int i = group() * ROWS; i < (group() + 1) * ROWS; i += WM)
        for (int d = d0; d < min(d0 + COLS, ATTN_D); d += WN) {
            Accumulator o;
            load_c(o, Os + i * O_PITCH + d, O_PITCH);
            for (int j = 0; j < BC; j += WK) {
                FragmentA p;
                FragmentB v;
                load_a(p, Ps + i * P_PITCH + j, P_PITCH);
                load_b(v, Vs + j * PITCH + d, PITCH);
                multiply<false>(o, p, v);
            }
            store_c(Os + i * O_PITCH + d, o, O_PITCH);
        }
}
__device__ inline void store_rows(const AttnArgs &a, const Row *rows, const float *Os, int q0)
{
    for (int t = 0; t < STEPS; t++) {
        const int r = own_row(t), row = q0 + r;
        const float sum = warp_sum<LANES>(rows[t].l), inverse = safe_inverse(sum);
        if (row >= a.Sq)
            continue;
        for (int d = threadIdx.x % LANES; d < a.D; d += LANES)
            o_row(a, row)[d] = to_elem(Os[r * O_PITCH + d] * inverse);
        if (threadIdx.x % LANES == 0)
            store_lse(a, row, rows[t].m * 0.6931471805599453f, sum); // ln 2: back to natural logarithms
    }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, MIN_BLOCKS)
    wmma_serial(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks), *Ps = (elem *)(smem + SMEM_Ps);
    elem *Vs = AHEAD ? Ks + BC * PITCH : Ks;
    float *Ss = (float *)(smem + SMEM_Ss), *Os = (float *)(smem + SMEM_Os);
    const int q0 = blockIdx.x * BR, n_keys = visible_keys_of_tile(a, q0, BR);
    const auto start_k = [&](int k0) {
        if (k0 < n_keys)
            start_tile(Ks, k_row(a, k0), a.k_stride[2], a.Sk - k0, a.D);
    };

    load_tile<BR, PITCH>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    for (int e = threadIdx.x; e < BR * O_PITCH; e += ATTN_THREADS)
        Os[e] = 0.f;
    Row rows[STEPS];
    if (AHEAD)
        start_k(0);

    for (int k0 = 0; k0 < n_keys; k0 += BC) {
        if (!AHEAD) {
            __syncthreads(); // nobody reads V any more
            start_k(k0);
        }
        finish_tile(); // K
        if (AHEAD)
            start_tile(Vs, v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);
        scores(Ss, Qs, Ks);
        if (AHEAD) {
            meet_group(); // all scores of these rows are there
        } else {
            __syncthreads(); // K was read by all
            start_tile(Vs, v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);
        }
        softmax(a, rows, Ss, Ps, Os, q0, k0);
        finish_tile(); // V, and all exponentials of these rows
        if (AHEAD)
            start_k(k0 + BC);
        outputs(Os, Ps, Vs);
    }
    __syncthreads(); // of a block without keys: Os was cleared by all
    store_rows(a, rows, Os, q0);
}
