/* cublas.cu - unfused attention with cuBLAS: matrix product, softmax, matrix product. A peer.
 *
 * @name      cublas
 * @title     Unfused: two matrix products of cuBLAS, our softmax between them
 * @idea      S = scale * Q K^T by cuBLAS with f32 results, this file's softmax writes P in the inputs'
 *            type, O = P V by cuBLAS. The products run at the speed of the best library; what remains
 *            is the score matrix, which goes to memory and back. That gap is what fusing is about.
 * @peer      cublas
 * @dtypes    f16 bf16 f32
 * @requires  THREADS % 32 == 0
 * @param     THREADS 128 [32..1024]  threads per block of the softmax, a warp per row
 * @threads   THREADS
 * @grid      ceil(Sq*32/THREADS) H B
 * @workspace scores B*H*Sq*Sk*4          S, f32
 * @workspace probs  B*H*Sq*Sk*T*(T < 4)  P in the inputs' type; f32 stays in place
 * @traffic   read B*H*(Sq*D*T+2*Sk*D*T+Sq*Sk*(8+T)) write B*H*(Sq*Sk*(4+T)+Sq*D*T)
 * @unit      tensor
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

// N neighbouring scores of a row; the row's start is aligned when Sk is a multiple of N.
template <int N> struct alignas(N * sizeof(float)) Scores {
    float x[N];
};

// One warp, one row: p[j] = exp(s[j] - max) / sum for the first n keys, 0 for the others.
template <int N>
__device__ inline void softmax_row(const AttnArgs &a, int i, const float *s, elem *p)
{
    const int lane = threadIdx.x % 32, n = visible_keys(a, i);
    float max = NEG_INF, sum = 0.f;
    for (int j = lane * N; j < n; j += 32 * N) {
        const Scores<N> v = *(const Scores<N> *)(s + j);
        float top = max;
        for (int u = 0; u < N; u++)
            top = j + u < n ? fmaxf(top, v.x[u]) : top;
        sum *= expf(max - top); // exp(-inf) is 0: the first time nothing is carried over
        for (int u = 0; u < N; u++)
            sum += j + u < n ? expf(v.x[u] - top) : 0.f;
        max = top;
    }
    const float row_max = warp_max(max);
    sum = warp_sum(max == NEG_INF ? 0.f : sum * expf(max - row_max));
    const float inverse = safe_inverse(sum);
    if (lane == 0)
        store_lse(a, i, row_max, sum);

    for (int j = lane * N; j < a.Sk; j += 32 * N) {
        const Scores<N> v = *(const Scores<N> *)(s + j);
        Vec<N> out;
        for (int u = 0; u < N; u++)
            out.x[u] = to_elem(j + u < n ? expf(v.x[u] - row_max) * inverse : 0.f);
        *(Vec<N> *)(p + j) = out;
    }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    cublas(const __grid_constant__ AttnArgs a)
{
    const int i = blockIdx.x * (P_THREADS / 32) + threadIdx.x / 32;
    if (i >= a.Sq)
        return; // the whole warp leaves, so the shuffles are complete
    float *s = (float *)a.ws[WS_scores] + row_number(a, i) * a.Sk;
#if ATTN_DTYPE == 2
    elem *p = s;
#else
    elem *p = (elem *)a.ws[WS_probs] + row_number(a, i) * a.Sk;
#endif
    if (a.Sk % 4 == 0)
        softmax_row<4>(a, i, s, p);
    else
        softmax_row<1>(a, i, s, p);
}

/* Cost: the whole matrix, masked pairs included, for the products know no mask. The plan shows the
 *   launch of the softmax; the products are cuBLAS's own.
 * Limits: memory: 6 bytes a score, with f32, where P takes S's place, 4. */
