/* row_full.cu - one query per block; its whole score row stays in shared memory.
 *
 * @name      row_full
 * @title     One query per block, the whole score row in shared memory
 * @idea      One launch instead of three: a block computes the scores of one query into shared
 *            memory, turns them into probabilities there, and multiplies by V. The score matrix
 *            never reaches global memory.
 * @after     naive
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 8192 && THREADS % 32 == 0
 * @param     THREADS 128 [32..1024]  threads per block
 * @threads   THREADS
 * @grid      Sq H B
 * @smem      dynamic Qs  D*4           type=f32  query row, f32
 * @smem      dynamic Red 32*4          type=f32  one partial result per warp
 * @smem      dynamic Ss  ceil(Sk/4)*16 type=f32  score row, then probabilities, in whole vectors of 4
 * @traffic   read B*H*(Sq*D*T+pairs*2*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int WARPS = P_THREADS / 32;

// Over the block, the same result in every thread: each warp first, then one value per warp.
__device__ inline float block_max(float x, float *red)
{
    x = warp_max(x);
    if (threadIdx.x % 32 == 0)
        red[threadIdx.x / 32] = x;
    __syncthreads();
    for (int w = 0; w < WARPS; w++)
        x = fmaxf(x, red[w]);
    __syncthreads(); // before anyone writes red again
    return x;
}
__device__ inline float block_sum(float x, float *red)
{
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0)
        red[threadIdx.x / 32] = x;
    __syncthreads();
    float sum = 0.f;
    for (int w = 0; w < WARPS; w++)
        sum += red[w];
    __syncthreads();
    return sum;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    row_full(const __grid_constant__ AttnArgs a)
{
    float *Qs = (float *)(smem + SMEM_Qs);
    float *Red = (float *)(smem + SMEM_Red);
    float *Ss = (float *)(smem + SMEM_Ss);
    const int i = blockIdx.x;
    const int n = visible_keys(a, i);
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;

    for (int d = tid; d < a.D; d += P_THREADS)
        Qs[d] = to_float(q_row(a, i)[d]);
    __syncthreads();

    // 1. Scores, one warp per key: 32 lanes read 32 neighbours of a row of K, then add up.
    float max = NEG_INF;
    for (int j = warp; j < n; j += WARPS) {
        const elem *k = k_row(a, j);
        float dot = 0.f;
        for (int d = lane; d < a.D; d += 32)
            dot += Qs[d] * to_float(k[d]);
        const float s = a.scale * warp_sum(dot);
        max = fmaxf(max, s);
        if (lane == 0)
            Ss[j] = s;
    }

    // 2. Softmax. The barriers of block_max also make the scores visible to all threads.
    max = block_max(max, Red);
    float sum = 0.f;
    for (int j = tid; j < n; j += P_THREADS) {
        Ss[j] = expf(Ss[j] - max);
        sum += Ss[j];
    }
    sum = block_sum(sum, Red);
    const float inverse = safe_inverse(sum);

    // 3. O, one thread per column: neighbours read neighbours of a row of V.
    for (int d = tid; d < a.D; d += P_THREADS) {
        float acc = 0.f;
        for (int j = 0; j < n; j++)
            acc += Ss[j] * to_float(v_row(a, j)[d]);
        o_row(a, i)[d] = to_elem(acc * inverse);
    }
    if (tid == 0)
        store_lse(a, i, max, sum);
}

/* Cost: K and V are requested once per query: 2 D T bytes for 4 D FLOPs a pair, 2/T FLOP per byte.
 *   L2 serves most of that while the K and V of the heads at work fit. Five barriers a row.
 * Limits: Ss grows with Sk, so shared memory ends at Sk of about 12k without the opt-in and 57k
 *   with it on an H100, and long rows cost occupancy well before. In step 3 a thread owns a column:
 *   with D < THREADS some have none.
 * Next: row_online walks K and V in blocks of 64, so shared memory no longer depends on Sk. */
