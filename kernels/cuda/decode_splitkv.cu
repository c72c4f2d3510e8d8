/* decode_splitkv.cu - a few queries and many keys: as fast as K and V come out of memory.
 *
 * @name      decode_splitkv
 * @title     Decode: heads that share K and V in one tile, keys dealt out evenly
 * @idea      One new query a sequence reads all of K and V once for hardly any arithmetic, so all that
 *            counts is bytes on their way. The query heads that share K and V are the rows of one tile
 *            of 16, so K and V are read once for all of them. All key tiles of all heads are one row of
 *            work that is cut into equal pieces, whatever the batch, so every block reads equally
 *            much. A warp copies its own 16 keys a step and never waits for another warp.
 * @after     splitkv
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && Sq <= 16 && D <= 256 && D % 8 == 0
 * @param     WARPS 4 [1..8]       warps of a block, each with keys of its own
 * @param     STAGES 3 [2..8]      steps of 16 keys that a warp has under way
 * @param     BLOCKS 256 [1..4096] blocks that share the work: two a multiprocessor, nearly
 * @threads   32*WARPS
 * @grid      min(BLOCKS,B*Hkv*ceil(H/Hkv*Sq/16)*ceil(Sk/(16*WARPS)))
 * @smem      dynamic ring WARPS*STAGES*2*16*D*2
 *            pitch=D rows=16 swizzle=16  K and V of the steps under way, swizzled
 * @smem      dynamic sums 16*(D+8)*4 type=f32 pitch=D+8  outputs of the warps, added up
 * @smem      dynamic ends 2*16*WARPS*4 type=f32 pitch=WARPS rows=16  their maxima and sums of exponentials
 * @pass      combine
 * @threads   128
 * @grid      Sq H B
 * @smem      static parts 4*(D+4)*4 type=f32 pitch=D+4  what each warp added up
 * @workspace partial_o   B*Hkv*ceil(H/Hkv*Sq/16)*(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+2)*16*D*4
 *            outputs of a tile's pieces, f32
 * @workspace partial_lse B*Hkv*ceil(H/Hkv*Sq/16)*(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+2)*16*4
 *            their LSE, base 2
 * @traffic   read B*(Hkv*ceil(H/Hkv*Sq/16)*Sk*2*D*T+H*Sq*D*T+H*Sq*(BLOCKS/(B*Hkv)+1)*(D+1)*4)
 *            write B*H*Sq*((BLOCKS/(B*Hkv)+1)*(D+1)*4+D*T)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "decode.cuh"

// The block's part of a tile, left in the workspace with its LSE.
__device__ inline void leave_part(State &x, const AttnArgs &a, const Unit &u, int part)
{
    float *sums = (float *)(smem + SMEM_sums), *ms = (float *)(smem + SMEM_ends);
    float *ls = ms + ROWS * WARPS;
    add_up_warps(x, u, sums, ms, ls);
    float *out = (float *)a.ws[WS_partial_o] + (long long)part * ATTN_D;
    for (int e = threadIdx.x; e < u.rows * ATTN_D / 4; e += ATTN_THREADS) {
        const int r = e * 4 / ATTN_D;
        Four y = *(const Four *)(sums + r * PITCH + e * 4 % ATTN_D);
        float top = NEG_INF, sum = 0.f;
        for (int w = 0; w < WARPS; w++)
            top = fmaxf(top, ms[r * WARPS + w]);
        for (int w = 0; w < WARPS; w++)
            sum += top == NEG_INF ? 0.f : ls[r * WARPS + w] * exp2_fast(ms[r * WARPS + w] - top);
        const float inverse = safe_inverse(sum);
        for (int c = 0; c < 4; c++)
            y.x[c] *= inverse;
        ((Four *)out)[e] = y;
        if (e * 4 % ATTN_D == 0)
            ((float *)a.ws[WS_partial_lse])[part + r] = sum == 0.f ? NEG_INF : top + log2f(sum);
    }
    __syncthreads(); // the next part may use all of it again
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    decode_splitkv(const __grid_constant__ AttnArgs a)
{
    const Work work(a);
    take_piece<Rows>(a, work, [&](State &x, const Unit &u, int unit) { leave_part(x, a, u, work.part(unit, blockIdx.x)); });
}

// Pass 2, a block per row: its parts weighted by 2^(LSE - largest LSE), in their order.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS_combine)
    decode_splitkv_combine(const __grid_constant__ AttnArgs a)
{
    constexpr int C_WARPS = ATTN_THREADS_combine / 32, FOURS = (ATTN_D / 4 + 31) / 32;
    __shared__ float parts[C_WARPS][ATTN_D + 4];
    const Work work(a);
    const int i = blockIdx.x, h = blockIdx.y, batch = blockIdx.z;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int group = a.H / a.Hkv, packed = h % group * a.Sq + i;
    const int unit = (batch * a.Hkv + h / group) * work.row_tiles + packed / ROWS;
    const int first = work.first_block(unit), n = work.blocks_of(unit);
    const long long row = work.part(unit, first) + packed % ROWS; // of the first part
    const float *lse = (const float *)a.ws[WS_partial_lse] + row;

    // Loads go out eight at a time: one after another they would be most of the time.
    float top = NEG_INF;
    for (int s0 = lane; s0 < n; s0 += 8 * 32) {
        float x[8];
#pragma unroll
        for (int c = 0; c < 8; c++)
            x[c] = s0 + c * 32 < n ? lse[(s0 + c * 32) * ROWS] : NEG_INF;
#pragma unroll
        for (int c = 0; c < 8; c++)
            top = fmaxf(top, x[c]);
    }
    top = warp_max(top);
    Four acc[FOURS] = {};
    float sum = 0.f;
#pragma unroll 1
    for (int s0 = warp; s0 < n; s0 += 8 * C_WARPS) {
        Four y[8][FOURS];
        float weight[8];
#pragma unroll
        for (int c = 0; c < 8; c++) {
            const int s = s0 + c * C_WARPS;
            weight[c] = s < n ? lse[s * ROWS] : NEG_INF; // -inf also where a part saw no key: it is 0
#pragma unroll
            for (int f = 0; f < FOURS; f++) {
                y[c][f] = {};
                if (s < n && lane + 32 * f < ATTN_D / 4)
                    y[c][f] = ((const Four *)((const float *)a.ws[WS_partial_o] +
                                              (row + s * ROWS) * ATTN_D))[lane + 32 * f];
            }
        }
#pragma unroll
        for (int c = 0; c < 8; c++) {
            weight[c] = weight[c] == NEG_INF ? 0.f : exp2_fast(weight[c] - top);
            sum += weight[c];
#pragma unroll
            for (int f = 0; f < FOURS; f++)
                for (int e = 0; e < 4; e++)
                    acc[f].x[e] += weight[c] * y[c][f].x[e];
        }
    }
#pragma unroll
    for (int c = 0; c < FOURS; c++)
        if (lane + 32 * c < ATTN_D / 4)
            for (int e = 0; e < 4; e++)
                parts[warp][(lane + 32 * c) * 4 + e] = acc[c].x[e];
    if (lane == 0)
        parts[warp][ATTN_D] = sum;
    __syncthreads();

    sum = 0.f;
    for (int w = 0; w < C_WARPS; w++)
        sum += parts[w][ATTN_D];
    const float inverse = safe_inverse(sum);
#if !ATTN_PARTS_F32
    elem *out = a.o + batch * a.o_stride[0] + h * a.o_stride[1] + i * a.o_stride[2];
#else
    const PartRow out = part_row(a, batch, h, i);
#endif
#pragma unroll 1
    for (int d = threadIdx.x; d < a.D; d += ATTN_THREADS_combine) {
        float y = 0.f;
        for (int w = 0; w < C_WARPS; w++)
            y += parts[w][d];
        out[d] = to_elem(y * inverse);
    }
    if (threadIdx.x == 0 && a.lse)
        a.lse[((long long)batch * a.H + h) * a.Sq + i] =
            sum == 0.f ? NEG_INF : (top + log2f(sum)) * 0.6931471805599453f; // ln 2
}

/* Cost: K and V once, from memory, and 16 rows of arithmetic for the 1 to 16 that count, which
 *   nobody notices: 16 keys are 8 KB at D=128, 430 cycles of a multiprocessor's share of memory and
 *   130 of its tensor cores. By Little's law 4.5 TB/s at 0.8 us need 27 KB on their way a
 *   multiprocessor; here they are up to 192 KB. Besides, whatever K and V are: two launches, the
 *   first keys, the parts out and in again, about 10 us.
 * Measured (H200, f16, 32 heads over 8, D=128, one query, us, L2 hot): 34 MB (Sk=8k) 15.9, splitkv
 *   BR=16 SPLITS=32 486, cuDNN 11.0; B=8, 268 MB, 72.2 (3.7 TB/s), cuDNN 67.0; B=32, 1074 MB, 253
 *   (4.2 TB/s), cuDNN 241; Sk=128k, 537 MB, 134, cuDNN 127. Eight queries, causal, B=8: 87, the best
 *   peer 212. Sums with rows 8 banks apart instead of on the same banks took 5 us off; pieces that
 *   end where heads end (BLOCKS=256, not 264) 3 us at B=8.
 * Limits: more than 16 packed queries are more tiles, and each reads K and V again, if out of the L2
 *   cache. At short Sk the second launch is a third of the time. Up to 16 queries; no paged K and V.
 * Next: one launch, by the block that comes last (decode_atomic) or in a cluster's shared memory (decode_cluster). */
