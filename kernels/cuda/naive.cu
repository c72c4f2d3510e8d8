/* naive.cu - attention as the formula reads: three launches, the score matrix in global memory.
 *
 * @name      naive
 * @title     Three passes, the whole score matrix in global memory
 * @idea      S = scale * Q K^T, P = softmax(S) row by row, O = P V, one launch each. Every score goes
 *            to global memory and comes back for the next step, so traffic grows with Sq * Sk while
 *            the inputs grow only with Sq + Sk. Everything later on the ladder exists to avoid this.
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  THREADS % 32 == 0
 * @param     THREADS 256 [32..1024]  threads per block, in all three passes
 * @threads   THREADS
 * @grid      Sq*ceil(Sk/THREADS) H B
 * @pass      softmax
 * @threads   THREADS
 * @grid      ceil(Sq*32/THREADS) H B
 * @pass      pv
 * @threads   THREADS
 * @grid      ceil(Sq*D/THREADS) H B
 * @workspace scores B*H*Sq*Sk*4  S, then P in its place, f32
 * @traffic   read B*H*ceil(pairs*(D*T*33/32+12+D*T+D*4/32)) write B*H*(pairs*(1+2)*4+Sq*D*T)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

// Row i of the score matrix of this block's head.
__device__ inline float *score_row(const AttnArgs &a, int i)
{
    return (float *)a.ws[WS_scores] + row_number(a, i) * a.Sk;
}

// Pass 1, one thread per score: S[i][j] = scale * q_i . k_j
extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    naive(const __grid_constant__ AttnArgs a)
{
    const int blocks_per_row = (a.Sk + P_THREADS - 1) / P_THREADS;
    const int i = blockIdx.x / blocks_per_row;
    const int j = blockIdx.x % blocks_per_row * P_THREADS + threadIdx.x;
    if (j >= visible_keys(a, i))
        return; // masked scores are never read

    const elem *q = q_row(a, i), *k = k_row(a, j);
    float dot = 0.f;
    for (int d = 0; d < a.D; d++) // a warp reads 32 rows of K at once: 32 sectors a load
        dot += to_float(q[d]) * to_float(k[d]);
    score_row(a, i)[j] = a.scale * dot;
}

// Pass 2, one warp per row: P[i][j] = exp(S[i][j] - max) / sum. Without the subtraction of the
// row's maximum, a score above 88 would overflow; with it, the largest exponential is exactly 1.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    naive_softmax(const __grid_constant__ AttnArgs a)
{
    const int i = blockIdx.x * (P_THREADS / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (i >= a.Sq)
        return; // the whole warp leaves, so the shuffles below are complete
    const int n = visible_keys(a, i);
    float *s = score_row(a, i);

    float max = NEG_INF;
    for (int j = lane; j < n; j += 32)
        max = fmaxf(max, s[j]);
    max = warp_max(max);

    float sum = 0.f;
    for (int j = lane; j < n; j += 32) {
        s[j] = expf(s[j] - max);
        sum += s[j];
    }
    sum = warp_sum(sum);

    const float inverse = safe_inverse(sum);
    for (int j = lane; j < n; j += 32)
        s[j] *= inverse;
    if (lane == 0)
        store_lse(a, i, max, sum);
}

// Pass 3, one thread per output element: O[i][d] = sum over j of P[i][j] V[j][d]
extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    naive_pv(const __grid_constant__ AttnArgs a)
{
    const long long e = (long long)blockIdx.x * P_THREADS + threadIdx.x;
    const int i = e / ATTN_D, d = e % ATTN_D;
    if (i >= a.Sq || d >= a.D)
        return;

    const int n = visible_keys(a, i);
    const float *p = score_row(a, i);
    float acc = 0.f;
    for (int j = 0; j < n; j++) // a warp reads 32 neighbours of one row of V: coalesced
        acc += p[j] * to_float(v_row(a, j)[d]);
    o_row(a, i)[d] = to_elem(acc);
}

/* Cost: 4 D FLOPs per (query, key) pair, and for the score matrix 12 bytes written and 16 read: the
 *   intensity cannot pass D/7 FLOP per byte, however perfect the caches. Scores stay f32, because
 *   rounding them to 16 bits would be a different, worse algorithm.
 * Limits: memory. S = 32k needs 4 GiB a head. Products use no tiles: K and V are requested for every
 *   query anew.
 * Next: row_full keeps the scores of one query on chip. */
