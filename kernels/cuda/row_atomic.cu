/* row_atomic.cu - row_full with every sum and maximum by atomic operations.
 *
 * @name      row_atomic
 * @title     One query per block, sums by atomics in shared memory
 * @idea      The obvious way to add numbers from many threads: all add to one word in shared memory
 *            with atomicAdd. It is correct and short, and the slow way: two threads cannot change
 *            one word at once, so what looks parallel happens one after another.
 * @after     row_full
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 8192 && THREADS % 32 == 0
 * @param     THREADS 128 [32..1024]  threads per block
 * @threads   THREADS
 * @grid      Sq H B
 * @smem      dynamic Qs  D*4           type=f32  query row, f32
 * @smem      dynamic Red 2*4           type=f32  maximum and sum of the row
 * @smem      dynamic Ss  ceil(Sk/4)*16 type=f32  score row, then probabilities, in whole vectors of 4
 * @traffic   read B*H*(Sq*D*T+pairs*2*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int WARPS = P_THREADS / 32;

// There is no atomic maximum of floats, but the bits of floats >= 0 are in order as integers, and
// those of floats < 0 in reverse. Any float above 0 has a smaller unsigned pattern than one below.
// The sign bit decides, not `x < 0`: -0.0 belongs to the second kind.
__device__ inline void atomic_max(float *word, float x)
{
    if (__float_as_int(x) >= 0)
        atomicMax((int *)word, __float_as_int(x));
    else
        atomicMin((unsigned *)word, __float_as_uint(x));
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    row_atomic(const __grid_constant__ AttnArgs a)
{
    float *Qs = (float *)(smem + SMEM_Qs);
    float *Red = (float *)(smem + SMEM_Red);
    float *Ss = (float *)(smem + SMEM_Ss);
    const int i = blockIdx.x;
    const int n = visible_keys(a, i);
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;

    // What is added to must hold something first.
    for (int d = tid; d < a.D; d += P_THREADS)
        Qs[d] = to_float(q_row(a, i)[d]);
    for (int j = tid; j < n; j += P_THREADS)
        Ss[j] = 0.f;
    if (tid == 0) {
        Red[0] = NEG_INF;
        Red[1] = 0.f;
    }
    __syncthreads();

    // 1. Scores, one warp per key: 32 lanes read 32 neighbours of a row of K, and queue to add up.
    for (int j = warp; j < n; j += WARPS) {
        const elem *k = k_row(a, j);
        float dot = 0.f;
        for (int d = lane; d < a.D; d += 32)
            dot += Qs[d] * to_float(k[d]);
        atomicAdd(&Ss[j], dot);
    }
    __syncthreads();

    // 2. Softmax: each thread its own keys, then one atomic operation for what it found.
    float max = NEG_INF;
    for (int j = tid; j < n; j += P_THREADS) {
        Ss[j] *= a.scale;
        max = fmaxf(max, Ss[j]);
    }
    atomic_max(&Red[0], max);
    __syncthreads();
    max = Red[0];
    float sum = 0.f;
    for (int j = tid; j < n; j += P_THREADS) {
        Ss[j] = expf(Ss[j] - max);
        sum += Ss[j];
    }
    atomicAdd(&Red[1], sum);
    __syncthreads();
    sum = Red[1];
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

/* Why it is slow: the hardware has no addition of floats in shared memory. The compiler makes a
 *   loop: read the word, add, and store if the word is still what was read; else once more. The 32
 *   lanes of a warp add their parts of a score to the same word, one of them wins each round, and
 *   the last waits for 32 rounds. A sum by shuffles (row_full) takes 5 steps. Reports that promise
 *   "32 times faster" speak of the sum alone; the loads and products beside it stay what they were.
 *   So guess first, then `compare row_full,row_atomic`.
 * Why it is not bit-stable: rounding makes (a + b) + c differ from a + (b + c), and nobody says who
 *   wins first. The last bits of a score depend on it, and two runs may differ. The maximum has no
 *   such trouble: it is the same in every order. On integers it is an instruction, too, and from
 *   sm_80 on the compiler lets a warp agree on its maximum first and send one lane.
 * Cost: as row_full, plus 32 atomic additions a key, and a maximum and an addition a thread. Four
 *   barriers a row, one fewer than row_full.
 * Try: a larger D. The additions stay 32 a key while the products grow: from which D on do they no
 *   longer matter?
 * Next: row_online keeps row_full's shuffles and drops the score row. */
