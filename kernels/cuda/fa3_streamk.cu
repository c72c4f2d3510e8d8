/* fa3_streamk.cu - all blocks end together: what is left of whole rounds is dealt by key tiles.
 *
 * @name      fa3_streamk
 * @title     Hopper: the tiles that fill no whole round are split over keys, so that all blocks end together
 * @idea      fa3_persistent deals whole query tiles: 2048 to 132 blocks are 15 each and 68 more, and
 *            while those are computed half of the multiprocessors rest. Here only whole rounds are
 *            dealt so. The key tiles of the rest lie in a row, and each block takes as long a piece
 *            of it ("stream-K"). A piece that its tile goes on behind comes first in a block, and its
 *            outputs, sums and maxima are left in global memory; the last piece of a tile comes last,
 *            and whoever has it adds what others left long ago. Nobody waits but for blocks of a
 *            smaller number, which have begun before it.
 * @after     fa3_persistent
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90a
 * @requires  sm == 90 && D <= 256 && D % 8 == 0 && BR % 64 == 0 && BC % 16 == 0
 *            && (BR < 192 || D <= 64 && BC <= 128)
 *            && (QREG == 0 || D <= 192 && BC <= 144 && (BR < 192 || BC <= 112)) && (BORDER == 0 || D <= 192)
 * @param     BR (D<=64?192:128) [128..192] query rows per tile, 64 a warpgroup
 * @param     BC 128 [64..176]       key rows per tile; beyond D=128 at most 80
 * @param     STAGES (D<=64?3:2) [2..4]     tiles of K, and of V, in shared memory
 * @param     BLOCKS 132 [1..1024]   blocks: the multiprocessors of the GPU
 * @param     QREG (D>64&&D<=128) [0..1]  1: a warpgroup has its queries in registers
 * @param     BORDER (D<=64) [0..1]  outputs are stored behind the next tile's first softmax; 1: while its
 *                                   scores are computed, by the copy engine
 * @threads   BR*2+128
 * @grid      min(BLOCKS,ceil(Sq/BR)*H*B*max(1,floor(ceil(Sk/min(BC,192-112*(D>128)))/8)))
 * @tma       Q box=BR,D swizzle=128                           copies of the Q tile
 * @tma       K box=min(BC,192-112*(D>128)),D swizzle=128      and of K and V tiles
 * @tma       V box=min(BC,192-112*(D>128)),D swizzle=128
 * @smem      dynamic Qs (1+(D<=128&&QREG==0))*BR*ceil(D/64)*128
 *            align=1024 pitch=64 rows=BR swizzle=16  Q tiles, in slices of 64 columns
 * @smem      dynamic Ks STAGES*min(BC,192-112*(D>128))*ceil(D/64)*128
 *            align=1024 pitch=64 rows=min(BC,192-112*(D>128)) swizzle=16  K tiles
 * @smem      dynamic Vs STAGES*min(BC,192-112*(D>128))*ceil(D/64)*128
 *            align=1024 pitch=64 rows=min(BC,192-112*(D>128)) swizzle=16  V tiles
 * @smem      dynamic Os (BORDER==1)*BR*(ceil(D/64)*128+16) pitch=ceil(D/64)*64+8
 *            outputs on their way, with BORDER=1
 * @smem      dynamic barriers 8*(2*(1+(D<=128&&QREG==0))+4*STAGES)+24*(1+(D<=128&&QREG==0))+56 type=u64
 *            who waits for what, and which tiles are on
 * @workspace pieces BLOCKS*(BR/64)*128*(ceil(D/64)*32+4)*4  a block's piece that another block ends: outputs
 *            as they lie in registers, not yet divided, maxima and sums
 * @workspace left   BLOCKS*(BR/64)*4 once  it is there
 * @traffic   read B*H*(Sq*D*T+tiles(BR,min(BC,192-112*(D>128)))*2*min(BC,192-112*(D>128))*D*T)
 *            write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "hopper.cuh"

constexpr int BR = P_BR, BC = ATTN_D > 128 && P_BC > 80 ? 80 : P_BC, STAGES = P_STAGES;
constexpr bool Q_REGISTERS = P_QREG;     // so a Q tile's place is free as soon as it is read
constexpr bool OUTPUTS_FIRST = P_BORDER; // across a border
constexpr int Q_STAGES = 1 + (ATTN_D <= 128 && !Q_REGISTERS);
constexpr long long L2_BYTES = 32 << 20; // of K and V that stay in the cache
constexpr int CONSUMERS = BR / 64;       // warpgroups that multiply
constexpr int FEWEST = 8;                // key tiles of a piece
constexpr int SEAM = 4;                  // what a tile's being cut costs, in key tiles
// The scores of a key tile are started beside P V of the one before, so K falls free before that V does. Who
// asks for V in front of the K that follows waits with both. At D=64, with three stages, it does not pay.
constexpr bool K_FIRST = ATTN_D > 64;

// Key tiles of a query tile, one behind another: all of them, or a piece.
enum Kind {
    WHOLE,
    LEFT, // another block goes on behind
    LAST, // and this is where a tile ends of which others have left pieces
};
struct Tile {
    int head, batch, q0; // the first row
    int first, n;        // key tiles; n = 0: no tile
    int kind;
};

struct Shared {
    MemoryBarrier q_here[Q_STAGES], q_free[Q_STAGES];
    MemoryBarrier k_here[STAGES], v_here[STAGES], k_free[STAGES], v_free[STAGES];
    Tile tile[Q_STAGES]; // the one whose Q is there; n = 0: there are no more
    Tile left, last;     // this block's pieces; n = 0: it has none
    int first_left;      // the block that has the first piece of the tile that ends here
};

// The card-th of all query tiles, so many key tiles of it.
__device__ inline Tile tile_of(const AttnArgs &a, int card, int first, int n, int kind)
{
    const int q_tiles = (a.Sq + BR - 1) / BR, h = card / q_tiles; // counted over all batches
    return {h % a.H, h / a.H, card % q_tiles * BR, first, n, kind};
}

// All query tiles of the launch, dealt to the blocks like cards. When causal, those that see the most keys
// come first, and every other deal goes round backwards, so that all blocks end together. A pack of cards
// is the heads whose K and V lie in the L2 cache side by side.
// Without a mask all are as long. Deals that give every block one come whole, between the block's pieces of
// what is left.
struct Deck {
    int q_tiles, heads, pack, deals; // pack: of so many heads; deals: a pack's
    int deal = 0;

    __device__ Deck(const AttnArgs &a)
    {
        q_tiles = (a.Sq + BR - 1) / BR;
        heads = pack = a.B * a.H;
        if (a.causal)
            pack = (int)min((long long)pack, max(1ll, (L2_BYTES) / ((long long)a.Sk * a.D * 4)));
        deals =
            a.causal ? (pack * q_tiles + gridDim.x - 1) / gridDim.x : pack * q_tiles / gridDim.x;
    }
    // This block's next tile; n = 0 when there is none.
    __device__ Tile next(const AttnArgs &a, const Shared &sh)
    {
        if (a.causal)
            return next_causal(a);
        if (deal++ == 0 && sh.left.n > 0)
            return sh.left;
        deal += deal == 1 && sh.left.n == 0;
        if (deal - 2 < deals)
            return tile_of(a, (deal - 2) * gridDim.x + blockIdx.x, 0, (a.Sk + BC - 1) / BC, WHOLE);
        return deal - 2 == deals ? sh.last : Tile{};
    }
    __device__ Tile next_causal(const AttnArgs &a)
    {
        for (;; deal++) {
            const int first = deal / deals * pack,
                      size = min(pack, heads - first); // heads of this pack
            if (size <= 0)
                return {};
            const int card =
                deal % deals * gridDim.x + (deal % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
            const int q0 = (q_tiles - 1 - card / size) * BR;
            const int n =
                card < size * q_tiles ? (visible_keys_of_tile(a, q0, BR) + BC - 1) / BC : 0;
            if (n > 0) {
                deal++;
                const int h = first + card % size; // counted over all batches
                return {h % a.H, h / a.H, q0, 0, n, WHOLE};
            }
        }
    }
};

// Without a mask: this block's pieces of the key tiles of all query tiles that fill no whole deal. They lie in
// a row, and pieces are as long as each other, but for one key tile; not shorter than FEWEST, and where that
// is not worth the seams, a query tile for each.
__device__ inline void cut_pieces(const AttnArgs &a, Shared &sh)
{
    const int q_tiles = (a.Sq + BR - 1) / BR * a.H * a.B, keys = (a.Sk + BC - 1) / BC;
    const int whole = q_tiles / gridDim.x * gridDim.x, row = (q_tiles - whole) * keys;
    int pieces = max(1, min((int)gridDim.x, max(q_tiles - whole, row / FEWEST)));
    if (row / pieces + SEAM > keys)
        pieces = max(1, q_tiles - whole);
    const int length = row / pieces, longer = row % pieces, block = blockIdx.x;
    const int begin = min(block, pieces) * length + min(block, longer);
    const int end = block < pieces ? begin + length + (block < longer) : begin;
    const int ends = end / keys,
              cut = ends * keys; // tiles that have ended by then, and where the last did
    sh.left = sh.last = {};
    if (a.causal)
        return;
    if (end > max(begin, cut))
        sh.left = tile_of(a, whole + ends, max(begin - cut, 0), end - max(begin, cut), LEFT);
    if (cut > begin) {
        const int first = max(begin - (cut - keys), 0), rows_begin = cut - keys;
        sh.last = tile_of(a, whole + ends - 1, first, keys - first, first > 0 ? LAST : WHOLE);
        const int behind = rows_begin - longer * (length + 1);
        sh.first_left = behind < 0 ? rows_begin / (length + 1) : longer + behind / length;
    }
}

// The key tiles of t that this warpgroup's rows see, 1 at least; the others' rows may see one more.
__device__ inline int own_tiles(const AttnArgs &a, Tile t, int warpgroup)
{
    if (!a.causal || BC < BR - 64) // it might be more than one
        return t.n;
    return max(1, (visible_keys_of_tile(a, t.q0 + warpgroup * 64, 64) + BC - 1) / BC);
}
// For all lanes, read by the one that says later that it may be overwritten.
__device__ inline Tile read_tile(const Tile &shared)
{
    Tile t = {};
    if (threadIdx.x % 32 == 0)
        t = shared;
    return {__shfl_sync(FULL_WARP, t.head, 0), __shfl_sync(FULL_WARP, t.batch, 0),
            __shfl_sync(FULL_WARP, t.q0, 0),   __shfl_sync(FULL_WARP, t.first, 0),
            __shfl_sync(FULL_WARP, t.n, 0),    __shfl_sync(FULL_WARP, t.kind, 0)};
}

__device__ inline RowEnds end(const AttnArgs &a, const SoftmaxRows &rows, Tile t, int warpgroup)
{
    return end_rows(a, rows, row_of_lane(t.q0, warpgroup), t.head, t.batch);
}

// One store, or none. A branch here, and the compiler no longer sees that all lanes come together to the products
// of the loop around it: it keeps their addresses in vector registers.
__device__ inline void store_if(bool yes, void *to, const unsigned (&w)[4])
{
    asm volatile("{ .reg .pred yes; setp.ne.s32 yes, %5, 0;\n"
                 "@yes st.global.v4.b32 [%0], {%1, %2, %3, %4}; }" ::"l"(to),
                 "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"((int)yes)
                 : "memory");
}
// As store_outputs(), with such stores.
__device__ inline void store(const AttnArgs &a, const float (&o)[COLUMNS / 2], RowEnds ends, Tile t,
                             int warpgroup)
{
#if ATTN_PARTS_F32
    store_outputs(a, o, ends, row_of_lane(t.q0, warpgroup), t.head, t.batch);
#else
    const int place = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int row = row_of_lane(t.q0, warpgroup) + 8 * r;
        elem *out = a.o + t.batch * a.o_stride[0] + t.head * a.o_stride[1] + row * a.o_stride[2];
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; n += 4) {
            unsigned w[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                w[j] = pack(o[(n + j) * 4 + 2 * r] * ends.inverse[r],
                            o[(n + j) * 4 + 2 * r + 1] * ends.inverse[r]);
#pragma unroll
            for (int step = 1; step <= 2; step *= 2) // w[j] of lane i becomes w[i] of lane j
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (!(j & step)) {
                        const bool odd = place & step;
                        const unsigned other =
                            __shfl_xor_sync(FULL_WARP, odd ? w[j] : w[j + step], step);
                        (odd ? w[j] : w[j + step]) = other;
                    }
            const int d = (n + place) * 8;
            store_if(row < a.Sq && d < a.D, out + d, w);
        }
    }
#endif
}

// ---- Products -----------------------------------------------------------------------------------

// C = A B, or += with `add`, A (64 x 16) in registers: nobody has to write zeros between products. B is a part of V, its columns
// side by side, or of K, one behind another.
#define FIRST_FROM_REGISTERS(NAME, BESIDE, N, NUMBERS, PLACES, a_, b_, add_)                     \
    __device__ inline void NAME(float(&c)[N / 2], const unsigned *a, unsigned long long b,       \
                                int add)                                                         \
    {                                                                                            \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, " add_                                      \
                     ", 0;\n" WGMMA(N) "{" NUMBERS "}, {" a_ "}, " b_ ", p, 1, 1, " BESIDE "; }" \
                     : PLACES                                                                    \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));            \
    }
FIRST_FROM_REGISTERS(multiply_registers, "1", 64, N3, C3, "%32,%33,%34,%35", "%36", "%37")
FIRST_FROM_REGISTERS(multiply_registers, "1", 128, N7, C7, "%64,%65,%66,%67", "%68", "%69")
FIRST_FROM_REGISTERS(multiply_registers, "1", 192, N11, C11, "%96,%97,%98,%99", "%100", "%101")
FIRST_FROM_REGISTERS(multiply_registers, "1", 256, N15, C15, "%128,%129,%130,%131", "%132", "%133")
FIRST_FROM_REGISTERS(multiply_queries, "0", 64, N3, C3, "%32,%33,%34,%35", "%36", "%37")
FIRST_FROM_REGISTERS(multiply_queries, "0", 80, N4, C4, "%40,%41,%42,%43", "%44", "%45")
FIRST_FROM_REGISTERS(multiply_queries, "0", 96, N5, C5, "%48,%49,%50,%51", "%52", "%53")
FIRST_FROM_REGISTERS(multiply_queries, "0", 112, N6, C6, "%56,%57,%58,%59", "%60", "%61")
FIRST_FROM_REGISTERS(multiply_queries, "0", 128, N7, C7, "%64,%65,%66,%67", "%68", "%69")
FIRST_FROM_REGISTERS(multiply_queries, "0", 144, N8, C8, "%72,%73,%74,%75", "%76", "%77")
FIRST_FROM_REGISTERS(multiply_queries, "0", 160, N9, C9, "%80,%81,%82,%83", "%84", "%85")
FIRST_FROM_REGISTERS(multiply_queries, "0", 176, N10, C10, "%88,%89,%90,%91", "%92", "%93")

// A warpgroup's 64 rows of a Q tile as left sides: 16 columns after another, a lane's four words of each.
constexpr int Q_STEPS = ATTN_D / 16;
__device__ inline void read_queries(unsigned (&q)[Q_STEPS][4], unsigned q_rows)
{
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 16, half = threadIdx.x % 32 / 16;
#pragma unroll
    for (int d = 0; d < Q_STEPS; d++) // chunks are exchanged within a row, hopper.cuh says how
        load_matrices(q[d], q_rows + d / 4 * BR * SLICE_BYTES + row * SLICE_BYTES +
                                ((d % 4 * 2 + half) ^ row % 8) * 16);
}
// The queries of a tile that is here, when no product reads those before any more; its place is free then.
__device__ inline void take_queries(unsigned (&q)[Q_STEPS][4], unsigned q_rows, MemoryBarrier *free)
{
    if (!Q_REGISTERS)
        return;
    read_queries(q, q_rows);
    __syncwarp(); // all lanes have theirs
    if (threadIdx.x % 32 == 0)
        arrive(free);
}
__device__ inline void ask_scores(float (&s)[BC / 2], const unsigned (&q)[Q_STEPS][4],
                                  unsigned q_rows, unsigned k_tile)
{
    if (!Q_REGISTERS)
        return start_scores<BR, BC>(s, q_rows, k_tile);
    const unsigned long long k = operand(k_tile, BC);
#pragma unroll
    for (int d = 0; d < Q_STEPS; d++)
        multiply_queries(s, q[d], k + (d / 4 * BC * SLICE_BYTES + d % 4 * 32) / 16, d > 0);
}

// O = P V, or += with `add`.
__device__ inline void start_outputs(float (&o)[COLUMNS / 2], const unsigned (&p)[BC / 4],
                                     unsigned v_tile, bool add)
{
    const unsigned long long v = operand(v_tile, BC);
#pragma unroll
    for (int j = 0; j < BC / 16; j++)
        multiply_registers(o, p + 4 * j, v + j * 16 * SLICE_BYTES / 16, j > 0 || add);
}

// ---- Pieces -------------------------------------------------------------------------------------

// What the lanes of a warpgroup hold of a piece, four floats a lane side by side; behind the outputs the maxima and
// sums of its two rows.
constexpr int FOURS = COLUMNS / 8;

// Asked for where they are wanted, so that nothing that follows from them is kept in registers through the loop.
__device__ inline int thread_now()
{
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}
__device__ inline int block_now()
{
    int block;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    return block;
}
__device__ inline Four *piece_of(const AttnArgs &a, int block)
{
    const int thread = thread_now();
    return (Four *)a.ws[WS_pieces] + (block * CONSUMERS + thread / 128) * (FOURS + 1) * 128 +
           thread % 128;
}
__device__ inline unsigned *left_of(const AttnArgs &a, int block, int warpgroup)
{
    return (unsigned *)a.ws[WS_left] + block * CONSUMERS + warpgroup;
}
__device__ inline void leave_rows(const AttnArgs &a, const SoftmaxRows &rows)
{
    piece_of(a, block_now())[FOURS * 128] = {rows.m[0], rows.m[1], rows.l[0] + rows.l[1],
                                             rows.l[2] + rows.l[3]};
}
__device__ inline void leave_outputs(const AttnArgs &a, const float (&o)[COLUMNS / 2])
{
    Four *piece = piece_of(a, block_now());
#pragma unroll
    for (int i = 0; i < FOURS; i++)
        piece[i * 128] = {o[4 * i], o[4 * i + 1], o[4 * i + 2], o[4 * i + 3]};
    arrive_at(1 + thread_now() / 128, 128 + 32); // tell_left() waits there
}
// A warp that has nothing else to do says that this warpgroup has left its piece. The warpgroup would have to wait
// until all that it has stored is seen by the whole GPU.
__device__ inline void tell_left(const AttnArgs &a, int warpgroup)
{
    meet(1 + warpgroup, 128 + 32);
    if (threadIdx.x % 32 == 0) {
        __threadfence(); // what is written goes out before the word
        atomicExch(left_of(a, blockIdx.x, warpgroup), 1u);
    }
}
// What others, from this block on, have left of the tile that ends here is added. The words are 0 again.
__device__ inline void add_pieces(const AttnArgs &a, float (&o)[COLUMNS / 2], SoftmaxRows &rows,
                                  int first_block, float scale_log2e)
{
    for (int block = first_block; block < block_now(); block++) {
        const int warpgroup = thread_now() / 128;
        if (thread_now() % 128 == 0) {
            while (atomicCAS(left_of(a, block, warpgroup), 1u, 0u) == 0)
                ;            // it has been there for long, but in a launch of few tiles
            __threadfence(); // and nothing is read before it
        }
        meet(1 + CONSUMERS + warpgroup, 128);
        const Four *piece = piece_of(a, block);
        const Four ends = piece[FOURS * 128];
        float mine[2], its[2]; // what both count on a common base
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const float m = fmaxf(rows.m[r], ends.x[r]);
            mine[r] = exp2_fast((rows.m[r] - m) * scale_log2e);
            its[r] = exp2_fast((ends.x[r] - m) * scale_log2e);
            rows.m[r] = m;
            rows.l[2 * r] = rows.l[2 * r] * mine[r] + ends.x[2 + r] * its[r];
            rows.l[2 * r + 1] *= mine[r];
        }
#pragma unroll
        for (int i = 0; i < FOURS; i++) {
            const Four part = piece[i * 128];
#pragma unroll
            for (int e = 0; e < 4; e++)
                o[4 * i + e] = o[4 * i + e] * mine[e / 2] + part.x[e] * its[e / 2];
        }
    }
}

// ---- Outputs by the copy engine -----------------------------------------------------------------

// A warp's 16 rows lie in a part of shared memory that is its own, each 16 bytes further than it is long, so that
// eight of them begin in different banks. A lane sends a row.
constexpr int SENT_ROW = TILE_ROW + 16;

// Nothing of this thread's is still read.
__device__ inline void await_sent()
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
// As store(), by copies that go on behind this. Whole warps come here; whoever sent last time waits until that is out.
__device__ inline void send(const AttnArgs &a, const float (&o)[COLUMNS / 2], RowEnds ends, Tile t,
                            int warpgroup)
{
#if ATTN_PARTS_F32
    store(a, o, ends, t, warpgroup);
#else
    const int lane = thread_now() % 32, warp = thread_now() % 128 / 32;
    const unsigned rows = shared_address(smem + SMEM_Os) + (warpgroup * 4 + warp) * 16 * SENT_ROW;
    const unsigned place = rows + lane % 16 * SENT_ROW + lane / 16 * 16;
    await_sent();
    __syncwarp();
#pragma unroll
    for (int n = 0; n < COLUMNS / 8; n += 2) {
        unsigned w[4]; // rows and rows + 8 of two times 8 columns: four matrices
#pragma unroll
        for (int j = 0; j < 4; j++)
            w[j] = pack(o[(n + j / 2) * 4 + j % 2 * 2] * ends.inverse[j % 2],
                        o[(n + j / 2) * 4 + j % 2 * 2 + 1] * ends.inverse[j % 2]);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         place + n * 16),
                     "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                     : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // the copy engine sees them
    __syncwarp();
    const int row = t.q0 + warpgroup * 64 + warp * 16 + lane;
    elem *out = a.o + t.batch * a.o_stride[0] + t.head * a.o_stride[1] + row * a.o_stride[2];
    // A predicate, as in store_if().
    asm volatile("{ .reg .pred yes; setp.ne.s32 yes, %3, 0;\n"
                 "@yes cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
                 "cp.async.bulk.commit_group; }" ::"l"(out),
                 "r"(rows + lane * SENT_ROW), "r"(a.D * (int)sizeof(elem)),
                 "r"((int)(lane < 16 && row < a.Sq))
                 : "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa3_streamk(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
                const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map)
{
    Shared &sh = *(Shared *)(smem + SMEM_barriers);
    const unsigned Qs = shared_address(smem + SMEM_Qs), Ks = shared_address(smem + SMEM_Ks);
    const unsigned Vs = shared_address(smem + SMEM_Vs);

    if (threadIdx.x == BR * 2) {
        prefetch_map(q_map);
        prefetch_map(k_map);
        prefetch_map(v_map);
    }
    if (threadIdx.x == 0) {
        for (int i = 0; i < Q_STAGES; i++) {
            barrier_make(&sh.q_here[i], 1);
            barrier_make(&sh.q_free[i], CONSUMERS * 4);
        }
        for (int i = 0; i < STAGES; i++) {
            barrier_make(&sh.k_here[i], 1);
            barrier_make(&sh.v_here[i], 1);
            barrier_make(&sh.k_free[i], CONSUMERS * 4); // a lane of every warp arrives
            barrier_make(&sh.v_free[i], CONSUMERS * 4);
        }
        publish_barriers();
        cut_pieces(a, sh);
    }
    __syncthreads();

    if (warpgroup_of_thread() == CONSUMERS) { // the producer: one thread starts all copies
        keep_registers<BR == 192 ? 32 : 24>();
        const int teller =
            __shfl_sync(FULL_WARP, threadIdx.x % 128 / 32, 0) - 1; // of this warpgroup
        if (teller >= 0 && teller < CONSUMERS && sh.left.n > 0)
            tell_left(a, teller);
        if (threadIdx.x % 128 == 0) {
            Deck deck(a);
            Tile of = {}; // of the key tile before
            unsigned q_use = 0, use = 0;
            auto fetch_v = [&](Tile t, int j, unsigned use) {
                const unsigned stage = use % STAGES;
                await(&sh.v_free[stage], use / STAGES % 2 ^ 1);
                fetch_tile<BC>(Vs + stage * BC * TILE_ROW, v_map, (t.first + j) * BC,
                               t.head / (a.H / a.Hkv), t.batch, &sh.v_here[stage]);
            };
            for (;; q_use++) {
                const Tile t = deck.next(a, sh);
                const unsigned q_stage = q_use % Q_STAGES;
                await(&sh.q_free[q_stage], q_use / Q_STAGES % 2 ^ 1);
                sh.tile[q_stage] = t;
                if (t.n == 0)
                    break;
                fetch_tile<BR>(Qs + q_stage * BR * TILE_ROW, q_map, t.q0, t.head, t.batch,
                               &sh.q_here[q_stage]);
                for (int j = 0; j < t.n; j++, use++) {
                    const unsigned stage = use % STAGES;
                    await(&sh.k_free[stage], use / STAGES % 2 ^ 1);
                    fetch_tile<BC>(Ks + stage * BC * TILE_ROW, k_map, (t.first + j) * BC,
                                   t.head / (a.H / a.Hkv), t.batch, &sh.k_here[stage]);
                    if (!K_FIRST)
                        fetch_v(t, j, use);
                    else if (use > 0)
                        fetch_v(of, j > 0 ? j - 1 : of.n - 1, use - 1);
                    of = t;
                }
            }
            if (K_FIRST && use > 0)
                fetch_v(of, of.n - 1, use - 1);
            arrive(&sh.q_here[q_use % Q_STAGES]); // with a tile of n = 0
        }
    } else {
        take_registers<BR == 192 ? 160 : 240>();
        const int warpgroup = warpgroup_of_thread();
        const unsigned q_rows = Qs + warpgroup * 64 * SLICE_BYTES;
        const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
        float o[COLUMNS / 2] = {};                               // not yet divided by l
        float s[BC / 2];
        unsigned p[BC / 4];
        SoftmaxRows rows;
        if (a.causal) { // tiles without keys
            const int empty = max(a.Sq - a.Sk, 0) / BR;
            for (int w = blockIdx.x; w < empty * a.H * a.B; w += gridDim.x) {
                const Tile t = {w / empty % a.H, w / empty / a.H, w % empty * BR, 0, 0, WHOLE};
                store(a, o, end(a, rows, t, warpgroup), t, warpgroup);
            }
        }

        await(&sh.q_here[0], 0);
        Tile t = read_tile(sh.tile[0]);
        if (t.n == 0)
            return;
        int n = own_tiles(a, t, warpgroup);
        // The first scores of all have nothing to run beside.
        unsigned q[Q_STEPS][4]; // with Q_REGISTERS
        take_queries(q, q_rows, &sh.q_free[0]);
        await(&sh.k_here[0], 0);
        begin_products();
        ask_scores(s, q, q_rows, Ks);
        commit_products();
        await_products<0>(s);
        if (threadIdx.x % 32 == 0) {
            arrive(&sh.k_free[0]);
            if (n == 1 && !Q_REGISTERS)
                arrive(&sh.q_free[0]);
        }
        if ((t.first + 1) * BC > visible_keys(a, t.q0 + warpgroup * 64))
            mask_scores(s, a, row_of_lane(t.q0, warpgroup), t.first * BC);
        rows.update(s, scale_log2e);
        pack_scores(p, s);

        // From here on P of a key tile, the ring's use-th, waits for its V. A step: the scores of the key tile j
        // that follows, at next_use, beside that product. At a border it is the first of the next tile.
        unsigned q_use = 0, use = 0;
        Tile of = t; // whose outputs o are
        auto step = [&](int j, unsigned next_use, bool border, bool add) {
            const unsigned before = use % STAGES, stage = next_use % STAGES; // of V, of K
            await(&sh.k_here[stage], next_use / STAGES % 2);
            begin_products();
            ask_scores(s, q, q_rows + q_use % Q_STAGES * BR * TILE_ROW, Ks + stage * BC * TILE_ROW);
            commit_products();
            await(&sh.v_here[before], use / STAGES % 2);
            begin_products();
            start_outputs(o, p, Vs + before * BC * TILE_ROW, add);
            commit_products();

            RowEnds ends = {};
            if (border) {
                if (of.kind == LEFT)
                    leave_rows(a, rows);
                else
                    ends = end(a, rows, of, warpgroup);
                rows = SoftmaxRows();
            }
            await_products<1>(s);
            if (threadIdx.x % 32 == 0) {
                arrive(&sh.k_free[stage]);
                if (j == n - 1 && !Q_REGISTERS)
                    arrive(&sh.q_free[q_use % Q_STAGES]);
            }
            if ((t.first + j + 1) * BC > visible_keys(a, t.q0 + warpgroup * 64))
                mask_scores(s, a, row_of_lane(t.q0, warpgroup), (t.first + j) * BC);
            const bool outgrown = rows.update(s, scale_log2e);
            settle(s);
            settle(rows.l);
            if (!border && j + 1 < n) // the compiler moves nothing of the softmax behind this
                await(&sh.k_here[(next_use + 1) % STAGES], (next_use + 1) / STAGES % 2);
            await_products<0>(o);
            if (threadIdx.x % 32 == 0)
                arrive(&sh.v_free[before]);
            use = next_use;
            if (!border && outgrown)
                rows.correct(o);
            pack_scores(p, s);
            if (border) {
                if (of.kind == LEFT)
                    leave_outputs(a, o);
                else
                    store(a, o, ends, of, warpgroup);
                of = t;
            }
        };
        // The step across a border with OUTPUTS_FIRST: the product goes before the scores, and outputs leave beside
        // these, not behind the softmax.
        auto cross = [&](unsigned next_use, bool add) {
            const unsigned before = use % STAGES, stage = next_use % STAGES;
            await(&sh.v_here[before], use / STAGES % 2);
            begin_products();
            start_outputs(o, p, Vs + before * BC * TILE_ROW, add);
            commit_products();
            take_queries(q, q_rows, &sh.q_free[0]);
            await(&sh.k_here[stage], next_use / STAGES % 2);
            begin_products();
            ask_scores(s, q, q_rows + q_use % Q_STAGES * BR * TILE_ROW, Ks + stage * BC * TILE_ROW);
            commit_products();

            RowEnds ends = {};
            if (of.kind == LEFT)
                leave_rows(a, rows);
            else
                ends = end(a, rows, of, warpgroup);
            rows = SoftmaxRows();
            await_products<1>(o);
            if (threadIdx.x % 32 == 0)
                arrive(&sh.v_free[before]);
            if (of.kind == LEFT)
                leave_outputs(a, o);
            else
                send(a, o, ends, of, warpgroup);
            of = t;

            await_products<0>(s);
            if (threadIdx.x % 32 == 0) {
                arrive(&sh.k_free[stage]);
                if (n == 1 && !Q_REGISTERS)
                    arrive(&sh.q_free[q_use % Q_STAGES]);
            }
            if ((t.first + 1) * BC > visible_keys(a, t.q0 + warpgroup * 64))
                mask_scores(s, a, row_of_lane(t.q0, warpgroup), t.first * BC);
            rows.update(s, scale_log2e);
            use = next_use;
            pack_scores(p, s);
        };
        for (;;) {
            for (int j = 1; j < n; j++)
                step(j, use + 1, false, j > 1);
            unsigned next_use = use + 1;
            if (n < t.n) { // pass one by
                await(&sh.k_here[next_use % STAGES], next_use / STAGES % 2);
                await(&sh.v_here[next_use % STAGES], next_use / STAGES % 2);
                if (threadIdx.x % 32 == 0) {
                    arrive(&sh.k_free[next_use % STAGES]);
                    arrive(&sh.v_free[next_use % STAGES]);
                }
                next_use++;
            }
            q_use++;
            await(&sh.q_here[q_use % Q_STAGES], q_use / Q_STAGES % 2);
            t = read_tile(sh.tile[q_use % Q_STAGES]);
            if (t.n == 0)
                break;
            const bool add = n > 1;
            n = own_tiles(a, t, warpgroup);
            if (OUTPUTS_FIRST) {
                cross(next_use, add);
            } else {
                take_queries(q, q_rows, &sh.q_free[0]);
                step(0, next_use, true, add);
            }
        }
        await(&sh.v_here[use % STAGES], use / STAGES % 2);
        begin_products();
        start_outputs(o, p, Vs + use % STAGES * BC * TILE_ROW, n > 1);
        commit_products();
        await_products<0>(o);
        if (OUTPUTS_FIRST)
            await_sent();      // shared memory is not given back before
        if (of.kind == LEFT) { // a launch of few tiles
            leave_rows(a, rows);
            leave_outputs(a, o);
            return;
        }
        if (of.kind == LAST)
            add_pieces(a, o, rows, sh.first_left, scale_log2e);
        store(a, o, end(a, rows, of, warpgroup), of, warpgroup);
    }
}

/* Cost: 2048 query tiles of 32 key tiles (B=4 H=16 S=4096) are 512 key tiles for the busiest block of
 *   fa3_persistent and 497 for each here. For that a block writes and another reads 64 KB of outputs
 *   in f32, once, and a tile that is cut has one more border. The word that a piece is there comes
 *   from a warp of the producer's group: who has stored it would stand until the whole GPU sees it.
 * Two things beside the idea make the loop as short as that of fa3_overlap, 456 instructions a key
 *   tile for 507 in fa3_persistent: the step across a border stands beside the loop, not in it, and
 *   its stores have predicates, for a branch there costs the compiler its certainty that all lanes
 *   are together, and addresses of products their place in uniform registers (the same with a branch:
 *   4 per cent slower than fa3_persistent).
 * Measured (H200, f16, H=16, B*S=16k, no mask, bursts of 0.03 s in turn, us; fa3_persistent and a
 *   matrix product 8192^3 at 735 TFLOP/s beside it): D=128 S=4096 824 (862; 0.907 of the product's
 *   TFLOP/s for 0.868), S=16384 3199 (3345; 0.948), S=512 129 (136); D=64 S=4096 551 (565), D=256
 *   1483 (1498). Of S=4096, 2.3 of 4.4 per cent are the loop. B=1 H=12 S=2048: 44.5 (58.8).
 * QREG=1 (from D=72 to 128): a warpgroup reads its 64 queries once, D/16 ldmatrix a warp, and Q K^T
 *   has its left side from registers, 32 a thread at D=128. A key tile then reads 64 KB of shared
 *   memory a warpgroup, not 80; the loop has 10 instructions of 659 fewer; and a Q tile's place is
 *   free as soon as it is read, so one is enough and 32 KB fall free. D=128: 1.2 per cent faster
 *   without a mask (four lengths, each at least 1.1), 1.0 with one. Beyond D=192 registers do not
 *   suffice, nor with three warpgroups and BC > 112; at D=64 the fewer rows cost more than it gains.
 * BORDER=1 (up to D=64): across a border P V goes before the next tile's scores, and outputs are
 *   divided and leave while those are computed, through shared memory and by the copy engine, a row
 *   at a time; by default they are stored behind the softmax, when the warpgroup has no product
 *   under way. The price: beside that one softmax it has none. D=64: S=2k and longer 3 to 5 per cent
 *   faster, 2 with a mask; S=512, four key tiles a border, 3 slower. D=128: 1 to 3 per cent slower.
 *   With plain stores in its place (D=64: 1.5 per cent faster; D=128, 256: 1 slower) it lost.
 * Limits: with a mask tiles are dealt as by fa3_persistent. A piece has 8 key tiles at least, and
 *   where a cut would save fewer than 4, nothing is cut. Who ends it half way must clear the words.
 *   Otherwise as fa3_persistent.
 * Next: not written yet: pieces of masked tiles; a cluster of two blocks that share each K/V tile.
 * Try: BLOCKS=128 at B=4 H=16 S=4096: 16 whole rounds, and nothing is cut. */
