/* qtile_tpq.cu - a block per query tile; several threads per query.
 *
 * @name      qtile_tpq
 * @title     A block per query tile, four threads per query
 * @idea      Let TPQ neighbouring threads share a query: each owns every TPQ-th column of Q and O, so
 *            no thread is idle, the output takes D/TPQ registers, and a score is the sum of TPQ
 *            shares, two shuffles away.
 * @after     qtile_seq
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 64*TPQ && D <= 256 && TPQ == pow2ceil(TPQ)
 *            && BR*TPQ % 32 == 0 && BR*TPQ <= 512 && BC % 8 == 0
 * @param     BR 64 [8..256]   query rows per tile
 * @param     BC 64 [8..256]   key rows per tile
 * @param     TPQ 4 [1..16]    threads per query, a power of two
 * @param     PAD 4 [0..16]    extra elements per row of Q, against bank conflicts
 * @threads   BR*TPQ
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+PAD)*T pitch=D+PAD  Q tile
 * @smem      dynamic Ks BC*D*T       pitch=D      K tile
 * @smem      dynamic Vs BC*D*T       pitch=D      V tile
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int BR = P_BR, BC = P_BC, TPQ = P_TPQ, PITCH = ATTN_D + P_PAD;
constexpr int KEYS = 8;            // scores that a thread holds at once, in registers
constexpr int COLS = ATTN_D / TPQ; // columns of this thread: part, part + TPQ, ...

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    qtile_tpq(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs);
    elem *Ks = (elem *)(smem + SMEM_Ks), *Vs = (elem *)(smem + SMEM_Vs);
    const int q0 = blockIdx.x * BR;
    const int r = threadIdx.x / TPQ, part = threadIdx.x % TPQ, i = q0 + r;
    const int n_keys = i < a.Sq ? visible_keys(a, i) : 0;

    load_tile<BR, PITCH>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    const elem *q = Qs + r * PITCH + part;
    float acc[COLS] = {}, m = NEG_INF, l = 0.f;

    for (int k0 = 0; k0 < visible_keys_of_tile(a, q0, BR); k0 += BC) { // @show m l acc
        __syncthreads(); // nobody reads the tile before any more
        load_tile<BC, ATTN_D>(Ks, k_row(a, k0), a.k_stride[2], a.Sk - k0, a.D);
        load_tile<BC, ATTN_D>(Vs, v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);
        __syncthreads();
        const int n = min(BC, n_keys - k0); // keys of this tile that row i sees; may be <= 0
        // A shuffle needs all lanes of the warp, so the loop runs as far as any row of the tile.
        const int n_tile = min(BC, visible_keys_of_tile(a, q0, BR) - k0);

        for (int c = 0; c < COLS; c++) // FA-1: O is normalised between tiles; undo that
            acc[c] *= l;
        for (int j = 0; j < n_tile; j += KEYS) {
            float s[KEYS] = {};
#pragma unroll 4
            for (int c = 0; c < COLS; c++) {
                const float qd = to_float(q[c * TPQ]);
#pragma unroll
                for (int x = 0; x < KEYS; x++)
                    s[x] += qd * to_float(Ks[(j + x) * ATTN_D + c * TPQ + part]);
            }
            float m_new = m;
#pragma unroll
            for (int x = 0; x < KEYS; x++) {
                s[x] = a.scale * warp_sum<TPQ>(s[x]); // the shares of all TPQ threads
                if (j + x < n)
                    m_new = fmaxf(m_new, s[x]);
            }
            if (m_new > m) { // the running maximum rises: what we have shrinks by exp(m - m_new)
                const float correction = expf(m - m_new);
                l *= correction;
                for (int c = 0; c < COLS; c++)
                    acc[c] *= correction;
                m = m_new;
            }
            float sum = 0.f; // sums of few terms first: less rounding in a long row
#pragma unroll
            for (int x = 0; x < KEYS; x++) {
                if (j + x >= n)
                    break;
                const float p = expf(s[x] - m);
                sum += p;
                for (int c = 0; c < COLS; c++)
                    acc[c] += p * to_float(Vs[(j + x) * ATTN_D + c * TPQ + part]);
            }
            l += sum; // @show m l acc
        }
        // Not a product with 1/l: the same l at every tile would add up the same rounding.
        const float divisor = l == 0.f ? 1.f : l; // 0 while the row has seen no key
        for (int c = 0; c < COLS; c++)
            acc[c] /= divisor; // @show acc
    }

    if (i >= a.Sq)
        return;
#pragma unroll
    for (int c = 0; c < COLS; c++)
        if (c * TPQ + part < a.D)
            o_row(a, i)[c * TPQ + part] = to_elem(acc[c]);
    if (part == 0)
        store_lse(a, i, m, l);
}

/* Cost: per score, log2(TPQ) shuffles; the exponential is computed TPQ times, once a thread. For
 *   D = 64, that is 16 products for 2 shuffles and 1 exponential: 16 threads per query would
 *   spend more on them than on the products.
 * Limits: each product still needs a value of K or V from shared memory: one load per FMA.
 * Banks: a warp reads 4 neighbours of 8 rows of Q; pitch D + 4 spreads them over distinct banks.
 * Next: qtile_patch keeps a patch of scores per lane, so that a value from shared memory is used 4 to 8
 *   times. */
