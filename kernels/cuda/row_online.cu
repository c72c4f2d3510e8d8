/* row_online.cu - one query per block; K and V in blocks, softmax corrected as it goes.
 *
 * @name      row_online
 * @title     One query per block, K/V in blocks of 64, online softmax
 * @idea      The maximum of a row is not known before its last key, so keep a running maximum m, a
 *            running sum l and an output that is right for the keys seen so far. When a block of
 *            keys raises the maximum, multiply both by exp(m_old - m_new). The result is exact, and
 *            shared memory no longer depends on Sk.
 * @after     row_full
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 8192 && THREADS % 32 == 0 && VEC != 3 && D <= 32*THREADS
 * @param     BC 64 [1..1024]            keys per block
 * @param     THREADS 256 [32..1024]     threads per block
 * @param     VEC 4 [1..4]               elements per load: 4 (float4), 2 or 1
 * @param     REDUCE warp|block          who adds up a dot product: a warp by shuffles,
 *            or all warps through shared memory
 * @param     ACCESS coalesced|strided   neighbouring lanes read neighbours of a row of K,
 *            or each lane its own stretch
 * @threads   THREADS
 * @grid      Sq H B
 * @smem      dynamic Ss  BC*4                 type=f32          scores of this block of keys
 * @smem      dynamic Ps  BC*4                 type=f32          their exponentials
 * @smem      dynamic Red 32*4                 type=f32          one partial sum per warp
 * @smem      dynamic Qs  D*4                  type=f32          query row, f32
 * @smem      dynamic Op  max(D,THREADS*VEC)*4 over=Qs type=f32  partial outputs of the key groups
 * @traffic   read B*H*(Sq*D*T+pairs*2*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int BC = P_BC, THREADS = P_THREADS, WARPS = THREADS / 32;
constexpr bool REDUCE_WARP = P_REDUCE == 0, COALESCED = P_ACCESS == 0;

template <int V> __device__ void attend(const AttnArgs &a);

// Launch bounds of 1 block: the compiler shall use registers rather than spill for more blocks.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    row_online(const __grid_constant__ AttnArgs a)
{
    if (a.D % P_VEC == 0)
        attend<P_VEC>(a);
    else
        attend<1>(a); // rows that do not begin at a multiple of the load's size
}

// This worker's share of q . k, when WORKERS threads share one dot product V elements at a time.
template <int V, int WORKERS>
__device__ inline float dot_share(const float *Qs, const elem *k, int D, int worker)
{
    constexpr int ROUNDS = (ATTN_D / V + WORKERS - 1) / WORKERS;
    float dot = 0.f;
#pragma unroll 4
    for (int r = 0; r < ROUNDS; r++) {
        const int d = (COALESCED ? r * WORKERS + worker : worker * ROUNDS + r) * V;
        if (d >= D)
            continue;
        const Vec<V> kv = *(const Vec<V> *)(k + d);
        for (int x = 0; x < V; x++)
            dot += Qs[d + x] * to_float(kv.x[x]);
    }
    return dot;
}

// Over the block through shared memory, the same result in every thread. Two barriers a key.
__device__ inline float block_sum(float x, float *red)
{
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0)
        red[threadIdx.x / 32] = x;
    __syncthreads();
    float sum = 0.f;
    for (int w = 0; w < WARPS; w++)
        sum += red[w];
    __syncthreads(); // before anyone writes red again
    return sum;
}

template <int V> __device__ inline void attend(const AttnArgs &a)
{
    float *Ss = (float *)(smem + SMEM_Ss), *Ps = (float *)(smem + SMEM_Ps);
    float *Red = (float *)(smem + SMEM_Red), *Qs = (float *)(smem + SMEM_Qs);
    const int i = blockIdx.x;
    const int n_keys = visible_keys(a, i);
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;

    // For P V a thread owns columns, V neighbours at a time. A row has COLS such vectors. If that
    // is less than the threads there are, GROUPS of threads share the keys and add up at the end;
    // if it is more, a thread owns CHUNKS of them.
    constexpr int COLS = ATTN_D / V;
    constexpr int GROUPS = COLS < THREADS ? THREADS / COLS : 1;
    constexpr int CHUNKS = COLS < THREADS ? 1 : (COLS + THREADS - 1) / THREADS;
    constexpr int KEYS_IN_FLIGHT = CHUNKS < 4 ? 4 / CHUNKS : 1; // about 4 loads at once
    const int group = COLS < THREADS ? tid / COLS : 0;
    const int col = COLS < THREADS ? tid % COLS : tid; // column vectors col, col + THREADS, ...
    float acc[CHUNKS][V] = {};
    float m = NEG_INF, l = 0.f; // the same in all threads

    for (int d = tid; d < a.D; d += THREADS)
        Qs[d] = to_float(q_row(a, i)[d]);
    __syncthreads();

    for (int k0 = 0; k0 < n_keys; k0 += BC) { // @show m l acc
        const int n = min(BC, n_keys - k0);

        // Scores: a warp (or the block) per key.
#pragma unroll 2
        for (int j = REDUCE_WARP ? warp : 0; j < n; j += REDUCE_WARP ? WARPS : 1) {
            const elem *k = k_row(a, k0 + j);
            const float dot = REDUCE_WARP ? warp_sum(dot_share<V, 32>(Qs, k, a.D, lane))
                                          : block_sum(dot_share<V, THREADS>(Qs, k, a.D, tid), Red);
            if (REDUCE_WARP ? lane == 0 : tid == 0)
                Ss[j] = a.scale * dot;
        }
        __syncthreads();

        // Online softmax. Every warp computes the same m, l and correction; one warp shares P.
        float block_max = NEG_INF;
        for (int j = lane; j < n; j += 32)
            block_max = fmaxf(block_max, Ss[j]);
        const float m_new = fmaxf(m, warp_max(block_max));
        const float correction = expf(m - m_new); // exp(-inf) = 0 at the first block
        float sum = 0.f;
        for (int j = lane; j < n; j += 32) {
            const float p = expf(Ss[j] - m_new);
            sum += p;
            if (warp == 0)
                Ps[j] = p;
        }
        l = l * correction + warp_sum(sum);
        m = m_new;
        __syncthreads();

        // O = O * correction + P V. The next scores go to Ss, so Ps needs no barrier of its own.
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
            for (int x = 0; x < V; x++)
                acc[c][x] *= correction;
#pragma unroll KEYS_IN_FLIGHT
        for (int j = group; j < n && group < GROUPS; j += GROUPS) {
            const elem *v = v_row(a, k0 + j);
            const float p = Ps[j];
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                const int d = (col + c * THREADS) * V;
                if (d >= a.D)
                    continue;
                const Vec<V> vv = *(const Vec<V> *)(v + d);
                for (int x = 0; x < V; x++)
                    acc[c][x] += p * to_float(vv.x[x]);
            }
        } // @show m l acc
    }

    if (GROUPS > 1) { // every group has seen other keys: add their outputs, in order of the groups
        float *Op = (float *)(smem + SMEM_Op);
        __syncthreads(); // Op lies over Qs
        if (group < GROUPS)
            for (int x = 0; x < V; x++)
                Op[group * ATTN_D + col * V + x] = acc[0][x];
        __syncthreads();
        for (int x = 0; x < V && group == 0; x++)
            for (int g = 1; g < GROUPS; g++)
                acc[0][x] += Op[g * ATTN_D + col * V + x];
    }
    const float inverse = safe_inverse(l);
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
        for (int x = 0; x < V; x++) {
            const int d = (col + c * THREADS) * V + x;
            if (d < a.D && group == 0)
                o_row(a, i)[d] = to_elem(acc[c][x] * inverse);
        }
    if (tid == 0)
        store_lse(a, i, m, l);
}

/* Cost: as row_full, plus one correction of D columns per block of keys: D multiplications beside
 *   4 BC D FLOPs, about 0.4 %. Two barriers per block of keys.
 * Limits: a block serves one query, so K and V are requested Sq times. With Sk <= BC there is one
 *   block of keys and nothing is "tiled"; any gain over row_full then comes from loads and sums.
 * Try: VEC=1, REDUCE=block, ACCESS=strided, one at a time: which of them pays, at which D?
 * Next: fa1_2022 lets a K/V block that is on chip serve many queries. */
