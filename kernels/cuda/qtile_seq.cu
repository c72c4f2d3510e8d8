/* qtile_seq.cu - a block per query tile; K/V tiles one after another; one thread per query.
 *
 * @name      qtile_seq
 * @title     A block per query tile, K/V tiles one after another, one thread per query
 * @idea      Put the queries outside: a block owns BR queries and walks the K/V tiles, so a tile
 *            that is on chip serves BR queries, and output, maximum and sum never leave the thread's
 *            registers. Reports call this "FA-1 style" for its one-after-another loop, but this grid
 *            and loop order are FlashAttention-2's (2023); only the arithmetic is still FA-1's.
 * @after     row_online
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 128 && THREADS % 32 == 0 && THREADS >= BR && BR % 32 == 0 && BC % 8 == 0
 * @param     BR 64 [32..256]         query rows per tile
 * @param     BC 64 [8..256]          key rows per tile
 * @param     THREADS 256 [32..512]   threads per block; all of them copy, BR of them compute
 * @param     PAD 2 [0..16]           extra elements per row of Q, against bank conflicts
 * @param     MAP idle|duplicate      threads without a query of their own: idle,
 *            or repeat query tid % BR
 * @threads   THREADS
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+PAD)*T pitch=D+PAD  Q tile
 * @smem      dynamic Ks BC*D*T       pitch=D      K tile
 * @smem      dynamic Vs BC*D*T       pitch=D      V tile
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int BR = P_BR, BC = P_BC, PITCH = ATTN_D + P_PAD;
constexpr bool DUPLICATE = P_MAP == 1;
constexpr int KEYS = 8; // scores that a thread holds at once, in registers

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    qtile_seq(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs);
    elem *Ks = (elem *)(smem + SMEM_Ks), *Vs = (elem *)(smem + SMEM_Vs);
    const int q0 = blockIdx.x * BR;
    const int r = threadIdx.x % BR, i = q0 + r; // this thread's query
    const bool computes = (DUPLICATE || threadIdx.x < BR) && i < a.Sq;
    const int n_keys = computes ? visible_keys(a, i) : 0;

    load_tile<BR, PITCH>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    const elem *q = Qs + r * PITCH;
    float acc[ATTN_D] = {}, m = NEG_INF, l = 0.f;

    for (int k0 = 0; k0 < visible_keys_of_tile(a, q0, BR); k0 += BC) { // @show m l acc
        __syncthreads(); // nobody reads the tile before any more
        load_tile<BC, ATTN_D>(Ks, k_row(a, k0), a.k_stride[2], a.Sk - k0, a.D);
        load_tile<BC, ATTN_D>(Vs, v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);
        __syncthreads();
        const int n = min(BC, n_keys - k0); // keys of this tile that row i sees; may be <= 0
        if (n <= 0)
            continue;

        for (int d = 0; d < ATTN_D; d++) // FA-1: O is normalised between tiles; undo that
            acc[d] *= l;
        for (int j = 0; j < n; j += KEYS) {
            float s[KEYS] = {};
#pragma unroll 4
            for (int d = 0; d < ATTN_D; d++) {
                const float qd = to_float(q[d]);
#pragma unroll
                for (int x = 0; x < KEYS; x++)
                    s[x] += qd * to_float(Ks[(j + x) * ATTN_D + d]);
            }
            float m_new = m;
#pragma unroll
            for (int x = 0; x < KEYS; x++) {
                s[x] = j + x < n ? a.scale * s[x] : NEG_INF;
                m_new = fmaxf(m_new, s[x]);
            }
            if (m_new > m) { // the running maximum rises: what we have shrinks by exp(m - m_new)
                const float correction = expf(m - m_new);
                l *= correction;
                for (int d = 0; d < ATTN_D; d++)
                    acc[d] *= correction;
                m = m_new;
            }
            float sum = 0.f; // sums of few terms first: less rounding in a long row
#pragma unroll
            for (int x = 0; x < KEYS; x++) {
                if (j + x >= n)
                    break;
                const float p = expf(s[x] - m);
                sum += p;
                for (int d = 0; d < ATTN_D; d++)
                    acc[d] += p * to_float(Vs[(j + x) * ATTN_D + d]);
            }
            l += sum; // @show m l acc
        }
        // Not a product with 1/l: the same l at every tile would add up the same rounding.
        for (int d = 0; d < ATTN_D; d++)
            acc[d] /= l; // n > 0, so l > 0
    }

    if (!computes || threadIdx.x >= BR) // of the duplicates only the first writes
        return;
#pragma unroll
    for (int d = 0; d < ATTN_D; d++)
        if (d < a.D)
            o_row(a, i)[d] = to_elem(acc[d]);
    store_lse(a, i, m, l);
}

/* Cost: K and V are requested Sq/BR times instead of Sq times: intensity rises by BR. Per tile, two
 *   barriers and, since O is a finished answer after every tile, D divisions per query. Time is a
 *   constant per K/V tile, hence linear in Sk, however idle the GPU is.
 * Limits: 64 of 256 threads do all the arithmetic: 2 of 8 warps, or 8 warps doing the work of 2.
 *   Grid: ceil(Sq/BR) H B blocks. At B = H = 1, S = 512 that is 8 blocks.
 *   A query's output lives in one thread: D registers, so D = 128 is the end.
 * Banks: a warp reads one element of 32 rows of Q: row pitch D + 2 puts them in 32 banks (16-bit
 *   types; 2-way for f32, which wants 1). All lanes read the same element of K and V: broadcast.
 * Next: qtile_tpq gives every query four threads. */
