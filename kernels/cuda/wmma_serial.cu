/* wmma_serial.cu - the first step to tensor cores: WMMA for both products, everything else in between
 * through shared memory.
 *
 * @name      wmma_serial
 * @title     WMMA, one warp for 16 query rows, one small product after another
 * @idea      Tensor cores do Q K^T and P V: a warp owns 16 query rows of the block's 64 and computes
 *            its scores a 16 x 16 product at a time. A fragment's elements lie among the lanes in an
 *            unspecified order, so the scores go to shared memory, where two lanes a row do the
 *            softmax, and the outputs are kept there too, loaded and stored around every product.
 * @after     fa_scalar
 * @unit      tensor
 * @dtypes    f16 bf16
 * @requires  sm >= 80 && D <= 128 && PAD % 8 == 0 && BC % 32 == 0 && BR % 32 == 0 && WARPS * 32 <= 1024
 *            && BR % WARPS == 0 && (BR / WARPS) % (16 + 16*(SHAPE==1) - 8*(SHAPE==2)) == 0
 * @param     BR 64 [32..128]   query rows per tile
 * @param     BC 32 [32..128]   key rows per tile
 * @param     WARPS 4 [1..8]    warps of a block; each owns BR/WARPS rows
 * @param     PAD 16 [0..64]    extra elements per row of Q, K, V and P
 * @param     SHAPE m16n16k16|m32n8k16|m8n32k16  rows x columns x depth of one product
 * @threads   WARPS*32
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+PAD)*T align=32   Q tile
 * @smem      dynamic Ks BC*(D+PAD)*T align=32   K tile, then V tile
 * @smem      dynamic Ss BR*(BC+4)*4  align=32   scores
 * @smem      dynamic Ps BR*(BC+PAD)*T align=32  their exponentials, 16 bits
 * @smem      dynamic Os BR*(D+4)*4   align=32   output, not yet divided
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * Cost: a product needs 8192 operations of the tensor cores, and beside it 512 B of each operand and,
 *   for P V, the accumulator there and back, 2 KiB. Shared memory, not the tensor cores, sets the pace.
 * Padding: WMMA asks for rows that lie a multiple of 16 bytes apart (8 elements), fragments that
 *   begin at multiples of 32 bytes. So PAD=8 is legal; whether it helps is a matter of banks: with
 *   D=64, PAD=0 puts all rows on the same banks, PAD=8 moves each by 4 banks, PAD=16 by 8.
 * Limits: 4 warps and much shared memory a block: few warps a multiprocessor. K and V take turns in
 *   one buffer, so every warp waits at 4 barriers a tile. f16 products of 8x8x32 or 16x16x8 do not
 *   exist: these shapes are for 4-bit integers and tf32.
 * Next: fused_warp_softmax shares the softmax among more lanes; fa2_mma_plain leaves shared memory out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef P_BR
#define P_BR 64
#endif
#ifndef P_BC
#define P_BC 32
#endif
#ifndef P_WARPS
#define P_WARPS 4
#endif
#ifndef P_PAD
#define P_PAD 16
#endif
#ifndef ATTN_THREADS
#define ATTN_THREADS (P_WARPS * 32)
#endif
#include "wmma.cuh"
#ifndef SMEM_Qs
#define ALIGN32(bytes) (((bytes) + 31) / 32 * 32)
#define SMEM_Qs 0
#define SMEM_Ks (SMEM_Qs + P_BR * (ATTN_D + P_PAD) * 2)
#define SMEM_Ss (SMEM_Ks + P_BC * (ATTN_D + P_PAD) * 2)
#define SMEM_Ps ALIGN32(SMEM_Ss + P_BR * (P_BC + 4) * 4)
#define SMEM_Os ALIGN32(SMEM_Ps + P_BR * (P_BC + P_PAD) * 2)
#endif

constexpr int BR = P_BR, BC = P_BC, WARPS = P_WARPS, ROWS = BR / WARPS; // rows of a warp
constexpr int PITCH = ATTN_D + P_PAD, S_PITCH = BC + 4, P_PITCH = BC + P_PAD, O_PITCH = ATTN_D + 4;
constexpr int LANES = ROWS >= 32 ? 1 : 32 / ROWS; // lanes that share a row of the softmax
static_assert(ROWS % WM == 0, "a warp owns whole fragments");

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    wmma_serial(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks), *Ps = (elem *)(smem + SMEM_Ps);
    float *Ss = (float *)(smem + SMEM_Ss), *Os = (float *)(smem + SMEM_Os);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int q0 = blockIdx.x * BR, warp_row = warp * ROWS;
    const int n_keys = visible_keys_of_tile(a, q0, BR);
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)

    load_tile<BR, PITCH>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    for (int e = threadIdx.x; e < BR * O_PITCH; e += ATTN_THREADS)
        Os[e] = 0.f;
    // The softmax of row r is done by LANES neighbours, every LANES-th key each.
    constexpr int STEPS = (ROWS * LANES + 31) / 32; // rows of a lane
    float m[STEPS], l[STEPS];
    for (int t = 0; t < STEPS; t++) {
        m[t] = NEG_INF;
        l[t] = 0.f;
    }

    for (int k0 = 0; k0 < n_keys; k0 += BC) {
        __syncthreads(); // nobody reads V any more
        load_tile<BC, PITCH>(Ks, k_row(a, k0), a.k_stride[2], a.Sk - k0, a.D);
        __syncthreads();
        for (int i = warp_row; i < warp_row + ROWS; i += WM)
            for (int j = 0; j < BC; j += WN) {
                Accumulator s = {};
                for (int d = 0; d < ATTN_D; d += WK) {
                    FragmentA q;
                    FragmentB k;
                    load_a(q, Qs + i * PITCH + d, PITCH);
                    load_b_transposed(k, Ks + j * PITCH + d, PITCH);
                    multiply<true>(s, q, k);
                }
                store_c(Ss + i * S_PITCH + j, s, S_PITCH);
            }
        __syncthreads(); // K was read by all
        load_tile<BC, PITCH>(Ks, v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);

        for (int t = 0; t < STEPS; t++) {
            const int r = warp_row + lane / LANES + t * 32, first = lane % LANES;
            const int n = min(BC, visible_keys(a, q0 + r) - k0);
            float *s = Ss + r * S_PITCH;
            float m_new = m[t];
            for (int j = first; j < n; j += LANES)
                m_new = fmaxf(m_new, s[j] * scale_log2e);
            m_new = warp_max<LANES>(m_new);
            const float base = m_new == NEG_INF ? 0.f : m_new, correction = exp2f(m[t] - base);
            l[t] *= correction;
            m[t] = m_new;
            for (int j = first; j < BC; j += LANES) {
                const float p = j < n ? exp2f(s[j] * scale_log2e - base) : 0.f;
                l[t] += p;
                Ps[r * P_PITCH + j] = to_elem(p);
            }
            for (int d = first; d < ATTN_D; d += LANES)
                Os[r * O_PITCH + d] *= correction;
        }
        __syncthreads(); // V is there; P of these rows is read by this warp alone

        for (int i = warp_row; i < warp_row + ROWS; i += WM)
            for (int d = 0; d < ATTN_D; d += WN) {
                Accumulator o;
                load_c(o, Os + i * O_PITCH + d, O_PITCH);
                for (int j = 0; j < BC; j += WK) {
                    FragmentA p;
                    FragmentB v;
                    load_a(p, Ps + i * P_PITCH + j, P_PITCH);
                    load_b(v, Ks + j * PITCH + d, PITCH);
                    multiply<false>(o, p, v);
                }
                store_c(Os + i * O_PITCH + d, o, O_PITCH);
            }
    }
    __syncthreads(); // of a block without keys: Os was cleared by all

    for (int t = 0; t < STEPS; t++) {
        const int r = warp_row + lane / LANES + t * 32, row = q0 + r;
        const float sum = warp_sum<LANES>(l[t]), inverse = safe_inverse(sum);
        if (row >= a.Sq)
            continue;
        for (int d = lane % LANES; d < a.D; d += LANES)
            o_row(a, row)[d] = to_elem(Os[r * O_PITCH + d] * inverse);
        if (lane % LANES == 0)
            store_lse(a, row, m[t] * 0.6931471805599453f, sum); // ln 2: back to natural logarithms
    }
}
