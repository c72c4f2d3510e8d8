/* wmma_split.cu - WMMA with several warps for the same rows.
 *
 * @name      wmma_split
 * @title     WMMA, two warps for the same 16 rows
 * @idea      DSPLIT warps share 16 query rows: twice the warps, or four times, for the same shared
 *            memory. In Q K^T each takes a part of the keys, in P V a part of the columns of O, and of
 *            the softmax BR/WARPS/DSPLIT rows, with more lanes a row.
 * @after     wmma_serial
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && D <= 128 && PAD % 8 == 0 && BC % 32 == 0 && BR % 32 == 0
 *            && BR % (WARPS * DSPLIT) == 0 && (BR / WARPS) % 16 == 0
 *            && (32 % (BR / WARPS / DSPLIT) == 0 || (BR / WARPS / DSPLIT) % 32 == 0)
 * @param     BR 64 [32..128]   query rows per tile
 * @param     BC 32 [32..128]   key rows per tile
 * @param     WARPS 4 [1..8]    warps along the rows; each owns BR/WARPS of them
 * @param     PAD 16 [0..64]    extra elements per row of Q, K, V and P
 * @param     DSPLIT 2 [1..4]   warps that share the rows of one
 * @threads   WARPS*DSPLIT*32
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+PAD)*T  align=32 pitch=D+PAD          Q tile
 * @smem      dynamic Ks BC*(D+PAD)*T  align=32 pitch=D+PAD          K tile, then V tile
 * @smem      dynamic Ss BR*(BC+4)*4   align=32 type=f32 pitch=BC+4  scores
 * @smem      dynamic Ps BR*(BC+PAD)*T align=32 pitch=BC+PAD         their exponentials, 16 bits
 * @smem      dynamic Os BR*(D+4)*4    align=32 type=f32 pitch=D+4   output, not yet divided
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "wmma.cuh"

constexpr int BR = P_BR, BC = P_BC, DSPLIT = P_DSPLIT;
constexpr int ROWS = BR / P_WARPS;              // that DSPLIT warps share,
constexpr int OWN = ROWS / DSPLIT;              // and those of them whose softmax a warp does:
constexpr int LANES = OWN >= 32 ? 1 : 32 / OWN; // lanes a row,
constexpr int STEPS = OWN <= 32 ? 1 : OWN / 32; // rows a lane
constexpr int MIN_BLOCKS = ATTN_THREADS <= 512 ? 2 : 1; // that registers shall leave room for
constexpr int PITCH = ATTN_D + P_PAD, S_PITCH = BC + 4, P_PITCH = BC + P_PAD, O_PITCH = ATTN_D + 4;
struct Row {
    float m = NEG_INF, l = 0.f; // maximum; sum of this lane's exponentials
};
__device__ void scores(float *Ss, const elem *Qs, const elem *Ks);
__device__ void softmax(const AttnArgs &a, Row *rows, const float *Ss, elem *Ps, float *Os, int q0, int k0);
__device__ void outputs(float *Os, const elem *Ps, const elem *Vs);
__device__ void store_rows(const AttnArgs &a, const Row *rows, const float *Os, int q0);

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, MIN_BLOCKS)
    wmma_split(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks), *Ps = (elem *)(smem + SMEM_Ps);
    float *Ss = (float *)(smem + SMEM_Ss), *Os = (float *)(smem + SMEM_Os);
    const int q0 = blockIdx.x * BR, n_keys = visible_keys_of_tile(a, q0, BR);

    load_tile<BR, PITCH>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    for (int e = threadIdx.x; e < BR * O_PITCH; e += ATTN_THREADS)
        Os[e] = 0.f;
    Row rows[STEPS];

    for (int k0 = 0; k0 < n_keys; k0 += BC) {
        __syncthreads(); // nobody reads V any more
        load_tile<BC, PITCH>(Ks, k_row(a, k0), a.k_stride[2], a.Sk - k0, a.D);
        __syncthreads();
        scores(Ss, Qs, Ks);
        __syncthreads(); // K was read by all
        load_tile<BC, PITCH>(Ks, v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);
        softmax(a, rows, Ss, Ps, Os, q0, k0);
        __syncthreads(); // V is there, and all exponentials of these rows
        outputs(Os, Ps, Ks);
    }
    __syncthreads(); // of a block without keys: Os was cleared by all
    store_rows(a, rows, Os, q0);
}

__device__ inline int first_row() // of the group of DSPLIT warps, in the tile
{
    return threadIdx.x / 32 / DSPLIT * ROWS;
}
__device__ inline int part() // of their work that is this warp's: 0 ... DSPLIT - 1
{
    return threadIdx.x / 32 % DSPLIT;
}
// A part's share of `length`, in pieces of 16; the last parts may have less, or nothing.
template <int length> constexpr int SHARE = (length / 16 + DSPLIT - 1) / DSPLIT * 16;

// ---- S = Q K^T, a piece of 16 x 16 at a time ----------------------------------------------------

__device__ inline void scores(float *Ss, const elem *Qs, const elem *Ks)
{
    const int j0 = part() * SHARE<BC>;
    for (int i = first_row(); i < first_row() + ROWS; i += 16)
        for (int j = j0; j < min(j0 + SHARE<BC>, BC); j += 16) {
            Accumulator s = {};
            for (int d = 0; d < ATTN_D; d += 16) {
                FragmentA q;
                FragmentB k;
                load_a(q, Qs + i * PITCH + d, PITCH);
                load_b_transposed(k, Ks + j * PITCH + d, PITCH);
                multiply<true>(s, q, k);
            }
            store_c(Ss + i * S_PITCH + j, s, S_PITCH);
        }
}

// ---- P = 2^(S - m): LANES neighbours do a row, every LANES-th key each -----------------------------

__device__ inline int own_row(int step) // of the tile, for this lane's softmax
{
    return first_row() + part() * OWN + threadIdx.x % 32 / LANES + step * 32;
}
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

// ---- O += P V, and O / l at the end ---------------------------------------------------------------

__device__ inline void outputs(float *Os, const elem *Ps, const elem *Vs)
{
    const int d0 = part() * SHARE<ATTN_D>;
    for (int i = first_row(); i < first_row() + ROWS; i += 16)
        for (int d = d0; d < min(d0 + SHARE<ATTN_D>, ATTN_D); d += 16) {
            Accumulator o;
            load_c(o, Os + i * O_PITCH + d, O_PITCH);
            for (int j = 0; j < BC; j += 16) {
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

/* Cost: P and Q are read by DSPLIT warps instead of one. The barriers are wmma_serial's.
 * Limits: BC=32 is two pieces of 16, so with DSPLIT=4 half of the warps have no keys: take BC=64.
 * Next: wmma_depth divides D in both products, as a report wished. */
