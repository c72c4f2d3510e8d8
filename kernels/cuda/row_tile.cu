/* row_tile.cu - several queries per block for large heads, with the attempts that a report gave up.
 *
 * @name      row_tile
 * @title     16 queries per block: a key that was read serves them all
 * @idea      A block takes QUERIES neighbouring queries instead of one, so that every element of K
 *            and V that it reads is multiplied that many times. For heads of 512 to 8192 elements
 *            something always runs out: QCACHE=smem needs QUERIES*D*T bytes, outputs in registers
 *            QUERIES*D/THREADS a thread, ASYNC=yes BC*D*T bytes for a tile of K. Change D and see which.
 * @after     row_online
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 8192 && D % 4 == 0 && THREADS % 32 == 0
 * @param     QUERIES 16 [1..32]     query rows per block
 * @param     BC 32 [8..128]         key rows per tile
 * @param     THREADS 256 [32..1024] threads of a block
 * @param     QCACHE smem|none       where Q is read from for every key: shared memory, or L1 and L2
 * @param     ASYNC no|yes           copy each tile of K to shared memory with cp.async first (sm_80)
 * @param     CONVERT no|f16         round each element of K to 16 bits and back, as a tensor core's
 *                                   operands would be, without a tensor core
 * @threads   THREADS
 * @grid      ceil(Sq/QUERIES) H B
 * @smem      dynamic Qs (QCACHE==0)*QUERIES*D*T pitch=D            Q
 * @smem      dynamic Ks (ASYNC==1)*BC*D*T       pitch=D            K tile
 * @smem      dynamic Ss QUERIES*BC*4            type=f32 pitch=BC  scores, then their exponentials
 * @smem      dynamic ms QUERIES*4               type=f32           maxima
 * @smem      dynamic ls QUERIES*4               type=f32           sums
 * @smem      dynamic cs QUERIES*4 type=f32  what outputs are multiplied by after a new maximum
 * @traffic   read B*H*(Sq*(QCACHE==0)+tiles(QUERIES,BC)*BC*(2+QUERIES*(QCACHE==1)))*D*T
 *            write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "async.cuh"
#include "attn.cuh"

constexpr int QUERIES = P_QUERIES, BC = P_BC, THREADS = ATTN_THREADS, WARPS = THREADS / 32;
constexpr int COLS = (ATTN_D / 4 + THREADS - 1) / THREADS; // fours of output columns of a thread

// What a 16-bit operand would keep of x.
__device__ inline float through_f16(float x)
{
    float y;
    asm("{ .reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(y) : "f"(x));
    return P_CONVERT ? y : x;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) row_tile(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks);
    float *Ss = (float *)(smem + SMEM_Ss), *ms = (float *)(smem + SMEM_ms);
    float *ls = (float *)(smem + SMEM_ls), *cs = (float *)(smem + SMEM_cs);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int q0 = blockIdx.x * QUERIES, n_queries = min(QUERIES, a.Sq - q0);
    const int n_keys = visible_keys_of_tile(a, q0, QUERIES);
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)

    if (P_QCACHE == 0)
        copy_tile<QUERIES, ATTN_D, 4>(Qs, q_row(a, q0), a.q_stride[2], n_queries, a.D);
    for (int i = threadIdx.x; i < QUERIES; i += THREADS) {
        ms[i] = NEG_INF;
        ls[i] = 0.f;
    }
    float o[QUERIES][COLS][4] = {}; // not yet divided by l

    for (int k0 = 0; k0 < n_keys; k0 += BC) {
        const int n = min(BC, a.Sk - k0);
        if (P_ASYNC) {
            constexpr int STEP = 16 / sizeof(elem);
            for (int e = threadIdx.x; e < BC * (ATTN_D / STEP); e += THREADS) {
                const int j = e / (ATTN_D / STEP), d = e % (ATTN_D / STEP) * STEP;
                if (j < n && d < a.D && a.D % STEP == 0) // then all rows begin at 16 bytes
                    copy_async(shared_address(Ks + j * ATTN_D + d), k_row(a, k0 + j) + d, true);
                else
                    for (int i = d; i < d + STEP; i++)
                        Ks[j * ATTN_D + i] = j < n && i < a.D ? k_row(a, k0 + j)[i] : to_elem(0.f);
            }
            commit_copies();
            wait_copies<0>();
        }
        __syncthreads(); // Q and K are there; nobody reads the exponentials any more

        // Scores: a warp takes a key, its lanes the columns, four at a time, for all queries.
        for (int j = warp; j < n; j += WARPS) {
            const elem *k = P_ASYNC ? Ks + j * ATTN_D : k_row(a, k0 + j);
            float s[QUERIES] = {};
            for (int d = lane * 4; d < a.D; d += 128) {
                Four kv = load4(k + d);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    kv.x[i] = through_f16(kv.x[i]);
#pragma unroll
                for (int i = 0; i < QUERIES; i++) {
                    const Four q = load4(P_QCACHE == 0 ? Qs + i * ATTN_D + d
                                                       : q_row(a, q0 + min(i, n_queries - 1)) + d);
                    for (int e = 0; e < 4; e++)
                        s[i] += q.x[e] * kv.x[e];
                }
            }
#pragma unroll
            for (int i = 0; i < QUERIES; i++) {
                const float sum = warp_sum(s[i]);
                if (lane == i)
                    Ss[i * BC + j] = sum * scale_log2e;
            }
        }
        __syncthreads();

        // Softmax: a warp takes a query, its lanes the keys.
        for (int i = warp; i < QUERIES; i += WARPS) {
            const int visible = min(n, visible_keys(a, q0 + i) - k0);
            const float m = ms[i];
            float m_new = m, sum = 0.f;
            for (int j = lane; j < visible; j += 32)
                m_new = fmaxf(m_new, Ss[i * BC + j]);
            m_new = warp_max(m_new);
            // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
            const float base = m_new == NEG_INF ? 0.f : m_new, correction = exp2f(m - base);
            for (int j = lane; j < BC; j += 32) {
                const float p = j < visible ? exp2f(Ss[i * BC + j] - base) : 0.f;
                sum += p;
                Ss[i * BC + j] = p;
            }
            sum = warp_sum(sum);
            __syncwarp(); // all lanes have read ms
            if (lane == 0) {
                ms[i] = m_new;
                ls[i] = ls[i] * correction + sum;
                cs[i] = correction;
            }
        }
        __syncthreads();

        // Outputs: a thread owns columns of all queries.
#pragma unroll
        for (int i = 0; i < QUERIES; i++)
#pragma unroll
            for (int c = 0; c < COLS; c++)
                for (int e = 0; e < 4; e++)
                    o[i][c][e] *= cs[i];
        for (int j = 0; j < n; j++) {
            const elem *v = v_row(a, k0 + j);
#pragma unroll
            for (int c = 0; c < COLS; c++) {
                const int d = (c * THREADS + threadIdx.x) * 4;
                if (d >= a.D)
                    continue;
                const Four x = load4(v + d);
#pragma unroll
                for (int i = 0; i < QUERIES; i++)
                    for (int e = 0; e < 4; e++)
                        o[i][c][e] += Ss[i * BC + j] * x.x[e];
            }
        }
    }
    __syncthreads(); // sums are there, also in a block without keys

#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
        if (i >= n_queries)
            break;
        const float inverse = safe_inverse(ls[i]);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            const int d = (c * THREADS + threadIdx.x) * 4;
#if !ATTN_PARTS_F32
            Vec<4> x;
            for (int e = 0; e < 4; e++)
                x.x[e] = to_elem(o[i][c][e] * inverse);
            if (d < a.D)
                *(Vec<4> *)(o_row(a, q0 + i) + d) = x;
#else
            if (d < a.D)
                o_row(a, q0 + i).put(d, o[i][c], inverse);
#endif
        }
    }
    for (int i = threadIdx.x; i < n_queries; i += THREADS)
        store_lse(a, q0 + i, ms[i] * 0.6931471805599453f, ls[i]); // ln 2: natural logarithms
}

/* Cost: K and V are requested once per QUERIES queries, 16 times less than row_online. Each score costs
 *   5 shuffles beside D/32 multiply-adds a lane; at D=64 the shuffles are most of it. With QCACHE=none
 *   Q is requested once per pair, half of what row_online asks for.
 * Limits: QUERIES*D/THREADS outputs a thread: 128 registers at D=2048, 512 at D=8192, which spill to
 *   local memory. CONVERT=f16 adds two conversions an element and wins nothing: it is not the format
 *   that is fast but the matrix instruction. With Sq below QUERIES most of the block's work is wasted.
 *   And 16 queries a block are a 16th of the blocks: B=1 H=4 S=64 D=2048 f32 starts 16, and on the 132
 *   multiprocessors of an H200 that was 4 times slower than row_online's 256.
 * Next: not written yet: a cluster of blocks that share the columns of one head. */
