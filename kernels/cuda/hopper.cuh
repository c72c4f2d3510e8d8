// hopper.cuh - what the Hopper kernels (fa3_*) share: tensor maps and the copies that follow them (TMA),
// barriers that count bytes, products of a warpgroup (wgmma), and the softmax of a warpgroup's rows.
//
// A warpgroup is four warps in a row. It multiplies 64 rows by N columns at once: B comes from shared
// memory, A from there or from registers, and the product runs on while the warps do something else.
// Accumulators lie in a lane as those of mma.cuh do: with g = lane / 4 and t = lane % 4, c[4n .. 4n + 3]
// are (g, 8n + 2t) (g, 8n + 2t + 1) (g + 8, 8n + 2t) (g + 8, 8n + 2t + 1) of the warp's 16 rows, and two
// neighbours n, rounded to 16 bits, are an A tile.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "mma.cuh"

// ---- Tiles in shared memory ---------------------------------------------------------------------

// A tile lies in slices of 64 columns (128 bytes), a slice after another, each with all rows. Within a
// slice the copy engine exchanges the 16-byte chunks of a row by an xor with row % 8, as swizzled() does;
// tiles therefore begin at multiples of 1024 bytes. Columns beyond D are zero.
constexpr int SLICE = 64, SLICES = (ATTN_D + SLICE - 1) / SLICE, COLUMNS = SLICES * SLICE;
constexpr int SLICE_BYTES = 128;               // of a row
constexpr int TILE_ROW = SLICES * SLICE_BYTES; // and over all slices: a tile is rows * TILE_ROW

// ---- Copies by tensor map (TMA) -----------------------------------------------------------------

// Where a tensor lies, and the box that one copy moves: made by the launcher from the @tma line, read by
// the copy engine alone. Coordinates are column, row, head, batch; outside the tensor it reads zeros.
struct alignas(64) TensorMap {
    unsigned long long opaque[16];
};

// Fetches the map itself ahead of its first use.
__device__ inline void prefetch_map(const TensorMap &map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
// This phase of `b` also waits for so many bytes; counts as an arrival.
__device__ inline void expect_bytes(MemoryBarrier *b, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(b)),
                 "r"(bytes)
                 : "memory");
}
// One thread starts the copy of a tile of ROWS rows; b's phase ends when all of it has come.
template <int ROWS>
__device__ inline void fetch_tile(unsigned tile, const TensorMap &map, int row, int head, int batch,
                                  MemoryBarrier *b)
{
    expect_bytes(b, ROWS * TILE_ROW);
#pragma unroll
    for (int c = 0; c < SLICES; c++)
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(tile + c * ROWS * SLICE_BYTES),
            "l"(&map), "r"(c * SLICE), "r"(row), "r"(head), "r"(batch), "r"(shared_address(b))
            : "memory");
}
// Barriers just made are seen by the copy engine too. A barrier of the block must follow.
__device__ inline void publish_barriers()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Waits for the end of the phase of this parity, asleep meanwhile. The phase before the first counts as
// one of parity 1.
__device__ inline void await(MemoryBarrier *b, int parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
                 "@!done bra again; }" ::"r"(shared_address(b)),
                 "r"(parity)
                 : "memory");
}

// ---- Warpgroups ---------------------------------------------------------------------------------

// The warpgroup's number, in a way that shows the compiler that it is the same in all lanes.
__device__ inline int warpgroup_of_thread()
{
    return __shfl_sync(FULL_WARP, threadIdx.x / 128, 0);
}
// The warpgroup gives registers back, or takes more: all its warps, once. Two warpgroups have 255 for every thread from
// the start, all that there can be: fewer is no more, and what setmaxnreg.inc does then is not defined.
constexpr bool MOVE_REGISTERS = ATTN_THREADS > 256;
template <int count> __device__ inline void keep_registers()
{
    if (MOVE_REGISTERS)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count> __device__ inline void take_registers()
{
    if (MOVE_REGISTERS)
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}
// Comes to barrier `id` (as meet() does) without waiting there.
__device__ inline void arrive_at(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- Products of a warpgroup --------------------------------------------------------------------

// How wgmma finds an operand: address, two strides and the swizzle, in units of 16 bytes. Groups of 8
// rows lie 1024 bytes apart. The other stride counts where columns (D) are not what is summed over: it
// leads to the next slice.
__device__ inline unsigned long long operand(unsigned tile, int rows)
{
    return 1ull << 62 | (unsigned long long)(1024 / 16) << 32 |
           (unsigned long long)(rows * SLICE_BYTES / 16) << 16 | (tile & 0x3ffff) / 16;
}

// Numbers and places of 8 accumulators, for the statements below.
#define N0  "%0,%1,%2,%3,%4,%5,%6,%7"
#define N1  N0 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define N2  N1 ",%16,%17,%18,%19,%20,%21,%22,%23"
#define N3  N2 ",%24,%25,%26,%27,%28,%29,%30,%31"
#define N4  N3 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define N5  N4 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define N6  N5 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define N7  N6 ",%56,%57,%58,%59,%60,%61,%62,%63"
#define N8  N7 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define N9  N8 ",%72,%73,%74,%75,%76,%77,%78,%79"
#define N10 N9 ",%80,%81,%82,%83,%84,%85,%86,%87"
#define N11 N10 ",%88,%89,%90,%91,%92,%93,%94,%95"
#define N12 N11 ",%96,%97,%98,%99,%100,%101,%102,%103"
#define N13 N12 ",%104,%105,%106,%107,%108,%109,%110,%111"
#define N14 N13 ",%112,%113,%114,%115,%116,%117,%118,%119"
#define N15 N14 ",%120,%121,%122,%123,%124,%125,%126,%127"
#define C(i)                                                                    \
    "+f"(c[8 * i]), "+f"(c[8 * i + 1]), "+f"(c[8 * i + 2]), "+f"(c[8 * i + 3]), \
        "+f"(c[8 * i + 4]), "+f"(c[8 * i + 5]), "+f"(c[8 * i + 6]), "+f"(c[8 * i + 7])
#define C1  C(0), C(1)
#define C2  C1, C(2)
#define C3  C2, C(3)
#define C4  C3, C(4)
#define C5  C4, C(5)
#define C6  C5, C(6)
#define C7  C6, C(7)
#define C8  C7, C(8)
#define C9  C8, C(9)
#define C10 C9, C(10)
#define C11 C10, C(11)
#define C15 C11, C(12), C(13), C(14), C(15)
#if ATTN_DTYPE == 0
#define WGMMA(N) "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 "
#else
#define WGMMA(N) "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 "
#endif

// C (64 x N) = A B^T, or += with `add`: A (64 x 16) and B (N x 16) in shared memory, both with the
// columns that are summed over side by side.
#define FROM_SHARED(N, NUMBERS, PLACES, a_, b_, add_)                                    \
    __device__ inline void multiply_shared(float(&c)[N / 2], unsigned long long a,       \
                                           unsigned long long b, int add)                \
    {                                                                                    \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, " add_                              \
                     ", 0;\n" WGMMA(N) "{" NUMBERS "}, " a_ ", " b_ ", p, 1, 1, 0, 0; }" \
                     : PLACES                                                            \
                     : "l"(a), "l"(b), "r"(add));                                        \
    }
FROM_SHARED(32, N1, C1, "%16", "%17", "%18")
FROM_SHARED(48, N2, C2, "%24", "%25", "%26")
FROM_SHARED(64, N3, C3, "%32", "%33", "%34")
FROM_SHARED(80, N4, C4, "%40", "%41", "%42")
FROM_SHARED(96, N5, C5, "%48", "%49", "%50")
FROM_SHARED(112, N6, C6, "%56", "%57", "%58")
FROM_SHARED(128, N7, C7, "%64", "%65", "%66")
FROM_SHARED(144, N8, C8, "%72", "%73", "%74")
FROM_SHARED(160, N9, C9, "%80", "%81", "%82")
FROM_SHARED(176, N10, C10, "%88", "%89", "%90")
FROM_SHARED(192, N11, C11, "%96", "%97", "%98")

// C (64 x N) += A B: A (64 x 16) in registers, B (16 x N) in shared memory with the N columns side by side.
#define FROM_REGISTERS(N, NUMBERS, PLACES, a_, b_)                                                \
    __device__ inline void multiply_registers(float(&c)[N / 2], const unsigned *a,                \
                                              unsigned long long b)                               \
    {                                                                                             \
        asm volatile("{ .reg .pred p; setp.eq.b32 p, 0, 0;\n" WGMMA(N) "{" NUMBERS "}, {" a_      \
                                                                       "}, " b_ ", p, 1, 1, 1; }" \
                     : PLACES                                                                     \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                       \
    }
FROM_REGISTERS(64, N3, C3, "%32,%33,%34,%35", "%36")
FROM_REGISTERS(128, N7, C7, "%64,%65,%66,%67", "%68")
FROM_REGISTERS(192, N11, C11, "%96,%97,%98,%99", "%100")
FROM_REGISTERS(256, N15, C15, "%128,%129,%130,%131", "%132")

// Before the first product after registers of it were written.
__device__ inline void begin_products()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
// Closes the group of the products so far.
__device__ inline void commit_products()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until at most `pending` groups are under way; c, of a group that is done, may be read then. The
// empty statements keep the compiler from reading it earlier.
template <int pending, int N> __device__ inline void await_products(float (&c)[N])
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(c[i])::"memory");
}

// What is computed of x so far is computed here, not where it is first needed.
template <int N> __device__ inline void settle(float (&x)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(x[i])::"memory");
}

// S = Q K^T: the warpgroup's 64 rows of a Q tile of BR rows with BC keys.
template <int BR, int BC>
__device__ inline void start_scores(float (&s)[BC / 2], unsigned q_rows, unsigned k_tile)
{
    const unsigned long long q = operand(q_rows, BR), k = operand(k_tile, BC);
#pragma unroll
    for (int d = 0; d < ATTN_D / 16; d++) // 16 columns are 32 bytes; 4 such steps fill a slice
        multiply_shared(s, q + (d / 4 * BR * SLICE_BYTES + d % 4 * 32) / 16,
                        k + (d / 4 * BC * SLICE_BYTES + d % 4 * 32) / 16, d > 0);
}
// O += P V, P in registers.
template <int BC>
__device__ inline void start_outputs(float (&o)[COLUMNS / 2], const unsigned (&p)[BC / 4],
                                     unsigned v_tile)
{
    const unsigned long long v = operand(v_tile, BC);
#pragma unroll
    for (int j = 0; j < BC / 16; j++)
        multiply_registers(o, p + 4 * j, v + j * 16 * SLICE_BYTES / 16);
}

// ---- Softmax of a lane's two rows ---------------------------------------------------------------

constexpr float LAZY = 8.f; // a base may lag behind the maximum by 2^LAZY

struct SoftmaxRows {
    float m[2] = {NEG_INF, NEG_INF}; // base of the exponentials, a score
    float l[4] = {};                 // sums of this lane's keys, by e of c[4n + e]
    float correction[2] = {1.f, 1.f};

    // S becomes P = 2^(S - m), not yet rounded. True where the outputs so far must be corrected because a
    // maximum outgrew its base (the answer is the warp's).
    template <int N> __device__ bool update(float (&s)[N], float scale_log2e)
    {
        float top[4] = {m[0], m[0], m[1], m[1]};
#pragma unroll
        for (int i = 0; i < N; i++)
            top[i % 4] = fmaxf(top[i % 4], s[i]);
        bool outgrown = false;
#pragma unroll
        for (int r = 0; r < 2; r++) {
            top[r] = warp_max<4>(fmaxf(top[2 * r], top[2 * r + 1])); // four lanes share a row
            outgrown |= (top[r] - m[r]) * scale_log2e > LAZY;
        }
        outgrown = __any_sync(FULL_WARP, outgrown);
        if (outgrown)
#pragma unroll
            for (int r = 0; r < 2; r++) {
                // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
                correction[r] = top[r] == NEG_INF ? 1.f : exp2_fast((m[r] - top[r]) * scale_log2e);
                m[r] = top[r];
                l[2 * r] *= correction[r];
                l[2 * r + 1] *= correction[r];
            }
        const float base[2] = {m[0] == NEG_INF ? 0.f : m[0] * scale_log2e,
                               m[1] == NEG_INF ? 0.f : m[1] * scale_log2e};
#pragma unroll
        for (int i = 0; i < N; i++) {
            s[i] = exp2_fast(s[i] * scale_log2e - base[i % 4 / 2]);
            l[i % 4] += s[i];
        }
        return outgrown;
    }
    template <int N> __device__ void correct(float (&o)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            o[i] *= correction[i % 4 / 2];
    }
};

// Scores become the left side of P V.
template <int N> __device__ inline void pack_scores(unsigned (&p)[N / 2], const float (&s)[N])
{
#pragma unroll
    for (int i = 0; i < N / 2; i++)
        p[i] = pack(s[2 * i], s[2 * i + 1]);
}

// This lane's first row of the query tile at q0; the other one is 8 below.
__device__ inline int row_of_lane(int q0, int warpgroup)
{
    return q0 + warpgroup * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
}

// Scores of masked keys become -inf. Nothing to do where the tile's first row sees all keys of the tile.
template <int N>
__device__ inline void mask_scores(float (&s)[N], const AttnArgs &a, int row, int k0)
{
#pragma unroll
    for (int e = 0; e < 4; e++) {
        const int n_visible = visible_keys(a, row + e / 2 * 8) - k0 - threadIdx.x % 4 * 2 - e % 2;
#pragma unroll
        for (int n = 0; n < N / 4; n++)
            if (n * 8 >= n_visible)
                s[4 * n + e] = NEG_INF;
    }
}

// To 1 ulp and 2^-22, by the special function unit alone; l is at least 1, or 0.
__device__ inline float inverse_fast(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ inline float log_fast(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y * 0.69314718055994531f;
}

// The end of a lane's two rows: their LSE goes out, if nobody else tells it, and what is left is what the
// outputs are multiplied by.
struct RowEnds {
    float inverse[2];
};
__device__ inline RowEnds end_rows(const AttnArgs &a, const SoftmaxRows &rows, int row, int head,
                                   int batch, bool tells = true)
{
    RowEnds ends;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float l = warp_sum<4>(rows.l[2 * r] + rows.l[2 * r + 1]); // four lanes share a row
        if (threadIdx.x % 4 == 0 && row + 8 * r < a.Sq && a.lse && tells)
            a.lse[((long long)batch * a.H + head) * a.Sq + row + 8 * r] =
                rows.m[r] * a.scale + log_fast(l);
        ends.inverse[r] = l == 0.f ? 0.f : inverse_fast(l); // a row without a key
    }
    return ends;
}

// The one division, and out, from column `first` on: four lanes share a row and exchange words until each has
// 16 bytes of it.
struct alignas(16) Words {
    unsigned w[4];
};
template <int N>
__device__ inline void store_outputs(const AttnArgs &a, const float (&o)[N], RowEnds ends, int row,
                                     int head, int batch, int first = 0)
{
#if !ATTN_PARTS_F32
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int i = row + 8 * r;
        elem *out = a.o + batch * a.o_stride[0] + head * a.o_stride[1] + i * a.o_stride[2];
#pragma unroll
        for (int n = 0; n < N / 4; n += 4) {
            unsigned w[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                w[j] = pack(o[(n + j) * 4 + 2 * r] * ends.inverse[r],
                            o[(n + j) * 4 + 2 * r + 1] * ends.inverse[r]);
#pragma unroll
            for (int step = 1; step <= 2; step *= 2)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (!(j & step)) {
                        const bool odd = t & step;
                        const unsigned other =
                            __shfl_xor_sync(FULL_WARP, odd ? w[j] : w[j + step], step);
                        (odd ? w[j] : w[j + step]) = other;
                    }
            const int d = first + (n + t) * 8;
            if (i < a.Sq && d < a.D)
                *(Words *)(out + d) = {w[0], w[1], w[2], w[3]};
        }
    }
#else
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int n = 0; n < N / 4; n++) {
            const int i = row + 8 * r, d = first + n * 8 + threadIdx.x % 4 * 2;
            if (i < a.Sq && d < a.D)
                part_row(a, batch, head, i).put(d, o[n * 4 + 2 * r] * ends.inverse[r],
                                                o[n * 4 + 2 * r + 1] * ends.inverse[r]);
        }
#endif
}
