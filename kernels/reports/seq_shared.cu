/* seq_shared.cu - qtile_seq with its rows in shared memory as the fa1-sequential-l4 report has them: without padding.
 *
 * No step of the ladder: it stands in for a kernel of which the report gives the time, so that the time can be explained.
 * `kernel add kernels/reports/seq_shared.cu`, then `run seq_shared H=1 S=128 backend=sim gpu=L4`.
 *
 * @name      seq_shared
 * @title     A thread per query; its query and its scores lie in shared memory, row upon row
 * @idea      A warp's 32 lanes have a row each and walk along it side by side. A row of Q is 128 bytes
 *            long (D = 64, f16), one of scores 256, both multiples of the 128 bytes that the banks
 *            make up: all lanes are in one bank, and each access takes 32 turns. PAD is the cure.
 * @after     qtile_seq
 * @dtypes    f16 bf16
 * @requires  D % 8 == 0 && D <= 128
 * @param     BR 64 [32..64]         query rows per tile
 * @param     BC 64 [8..64]          key rows per tile
 * @param     THREADS 256 [64..512]  threads per block; BR of them compute, BC of them copy
 * @param     PAD 0 [0..4]           extra words per row of Q (four) and of scores (one)
 * @threads   THREADS
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+8*PAD)*T        pitch=D+8*PAD          Q tile
 * @smem      dynamic Ks BC*D*T                pitch=D                K tile
 * @smem      dynamic Vs BC*D*T                pitch=D                V tile
 * @smem      dynamic Ss BR*(BC+PAD)*4 type=f32 pitch=BC+PAD          scores, then their exponentials
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int BR = P_BR, BC = P_BC, Q_PITCH = ATTN_D + 8 * P_PAD, S_PITCH = BC + P_PAD;

// A whole row, by one thread, 16 bytes at a time.
__device__ inline void copy_row(elem *to, const elem *from, int D)
{
    for (int d = 0; d < D; d += 8)
        *(Vec<8> *)(to + d) = *(const Vec<8> *)(from + d);
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    seq_shared(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs);
    elem *Ks = (elem *)(smem + SMEM_Ks), *Vs = (elem *)(smem + SMEM_Vs);
    const int r = threadIdx.x, i = blockIdx.x * BR + r, D = a.D; // D is not known to the compiler
    const bool computes = r < BR && i < a.Sq;
    elem *q = Qs + r * Q_PITCH;
    float *s = (float *)(smem + SMEM_Ss) + r * S_PITCH;
    float acc[ATTN_D] = {}, m = NEG_INF, l = 0.f;

    if (computes)
        copy_row(q, q_row(a, i), D);
    for (int k0 = 0; k0 < a.Sk; k0 += BC) {
        const int n = min(BC, a.Sk - k0);
        __syncthreads(); // nobody reads the tile before any more
        for (int j = threadIdx.x; j < n; j += ATTN_THREADS) {
            copy_row(Ks + j * ATTN_D, k_row(a, k0 + j), D);
            copy_row(Vs + j * ATTN_D, v_row(a, k0 + j), D);
        }
        __syncthreads();
        if (!computes)
            continue;
        float m_tile = NEG_INF, l_tile = 0.f;
        for (int j = 0; j < n; j++) {
            float dot = 0.f;
#pragma unroll
            for (int d = 0; d < ATTN_D && d < D; d++)
                dot += to_float(q[d]) * to_float(Ks[j * ATTN_D + d]);
            s[j] = k0 + j < visible_keys(a, i) ? dot * a.scale : NEG_INF;
            m_tile = fmaxf(m_tile, s[j]);
        }
        const float m_new = fmaxf(m, m_tile);
        if (m_new == NEG_INF) // of this tile the row sees no key, nor did it of one before
            continue;
        for (int j = 0; j < n; j++) {
            s[j] = expf(s[j] - m_new);
            l_tile += s[j];
        }
        const float correction = expf(m - m_new);
#pragma unroll
        for (int d = 0; d < ATTN_D && d < D; d++) {
            float sum = 0.f;
            for (int j = 0; j < n; j++)
                sum += s[j] * to_float(Vs[j * ATTN_D + d]);
            acc[d] = acc[d] * correction + sum;
        }
        l = l * correction + l_tile;
        m = m_new;
    }
    if (!computes)
        return;
#pragma unroll
    for (int d = 0; d < ATTN_D; d++)
        if (d < D)
            o_row(a, i)[d] = to_elem(l > 0.f ? acc[d] / l : 0.f);
    store_lse(a, i, m, l);
}
