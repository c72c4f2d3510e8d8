/* decode_paged.cu - a few queries and many keys, which lie in pages: a block table says where.
 *
 * @name      decode_paged
 * @title     Decode in one launch, K and V in pages that a block table finds
 * @idea      Servers keep K and V in pages of 16 to 256 keys, anywhere in a pool, so that a sequence can grow
 *            without a copy and none reserves memory for keys that never come. Then where a key lies is
 *            itself in memory: decode_atomic would wait for the table and only then ask for the key. Here
 *            each lane looks up one of the step's 16 keys, one step ahead. Where all lie in one page they are
 *            copied as ever; else the lanes hand each other what they found (shuffles), so that a row is
 *            still copied 16 bytes a lane, neighbours by neighbours. All else is decode_atomic's.
 * @after     decode_atomic
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && Sq <= 16 && D <= 256 && D % 8 == 0 && B*Hkv*Sk*D*T <= 68719476736
 * @pages     (B*ceil(Sk/max(page,1))*1.125+1)*page*Hkv*D*T <= 68719476736
 * @param     WARPS 4 [1..8]       warps of a block, each with keys of its own
 * @param     STAGES 3 [2..8]      steps of 16 keys that a warp has under way
 * @param     BLOCKS 256 [1..4096] blocks that share the work: two a multiprocessor, nearly
 * @threads   32*WARPS
 * @grid      min(BLOCKS,B*Hkv*ceil(H/Hkv*Sq/16)*ceil(Sk/(16*WARPS)))
 * @smem      dynamic ring WARPS*STAGES*2*16*D*2
 *            pitch=D rows=16 swizzle=16  K and V of the steps under way, swizzled
 * @smem      dynamic sums 16*(D+8)*4 type=f32 pitch=D+8  outputs of the warps, added up
 * @smem      dynamic ends 2*16*WARPS*4 type=f32 pitch=WARPS rows=16  their maxima and sums of exponentials
 * @workspace partial_o    B*Hkv*ceil(H/Hkv*Sq/16)*(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+2)*16*D*4
 *            outputs of a tile's pieces, f32, not yet divided
 * @workspace partial_ends B*Hkv*ceil(H/Hkv*Sq/16)*(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+2)*16*8
 *            their maxima, base 2, and sums
 * @workspace arrived      B*Hkv*ceil(H/Hkv*Sq/16)*4 once  blocks that left their part of a tile
 * @traffic   read B*(Hkv*ceil(H/Hkv*Sq/16)*Sk*(2*D*T+(page>=1)*4)+H*Sq*D*T+H*Sq*(BLOCKS/(B*Hkv)+1)*(D+2)*4)
 *            write B*H*Sq*((BLOCKS/(B*Hkv)+1)*(D+2)*4+D*T)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "counted.cuh"
#include "pages.cuh"

// ---- Where the keys lie --------------------------------------------------------------------------

// Starts the copies of a step: k_row(r) and v_row(r) say where key `key + r` begins.
template <class K, class V>
__device__ inline void copy_step(unsigned ring, const AttnArgs &a, int key, K k_row, V v_row)
{
#pragma unroll
    for (int e = 0; e < KEYS * CHUNKS / 32; e++) {
        const int x = e * 32 + threadIdx.x % 32, r = x / CHUNKS, c = x % CHUNKS;
        const bool here = key + r < a.Sk && c * CHUNK < a.D;
        copy_async(ring + swizzled(r, c), k_row(r) + c * CHUNK, here);
        copy_async(ring + STEP_BYTES + swizzled(r, c), v_row(r) + c * CHUNK, here);
    }
}

// Where the keys of a warp's next step lie: lane l knows it of key l % 16. A tensor without a table is a page a batch.
struct Places {
    int page;          // keys of a page,
    unsigned per_page; // and 2^32 / page
    int entry;         // the page of this lane's key, on its way from the table until start() wants it
    int first;         // the row there of the step's first key; below 0: that is in an earlier page

    __device__ Places(const PagedArgs &a) : page(a.table ? a.page : a.Sk), per_page(0xffffffffu / page), entry(0), first(0) {}
    // Asks the table about the step from `key` on; lanes whose key is not there ask about the last one.
    __device__ void look_up(const PagedArgs &a, const Unit &u, int key)
    {
        const int j = min(key + (int)threadIdx.x % KEYS, a.Sk - 1);
        int nth = __umulhi(j, per_page); // j / page, or one less: a division would take four times as long
        nth += j - nth * page >= page;
        first = key - nth * page;
        entry = a.table ? a.table[u.batch * a.pages + nth] : u.batch;
    }
    // Row `row` of this lane's page, in chunks of 16 bytes from the tensor's begin: 32 bits reach 64 GiB.
    __device__ size_t chunk(const long long (&stride)[3], int kv_head, int row) const
    {
        return entry * (unsigned)(stride[0] / CHUNK) + kv_head * (unsigned)(stride[1] / CHUNK) +
               row * (unsigned)(stride[2] / CHUNK);
    }
    // Starts the step's copies: from one page, where all its keys lie in one, as start_step() does; else each row from
    // where the lane that looked it up says.
    __device__ void start(unsigned ring, const PagedArgs &a, const Unit &u, int key) const
    {
        const bool together = __all_sync(FULL_WARP, first >= 0);
        const int row = together ? first : first + (int)threadIdx.x % KEYS;
        const size_t k = chunk(a.k_stride, u.kv_head, row), v = chunk(a.v_stride, u.kv_head, row);
        if (together)
            copy_step(ring, a, key, [&](int r) { return a.k + k * CHUNK + r * a.k_stride[2]; },
                      [&](int r) { return a.v + v * CHUNK + r * a.v_stride[2]; });
        else
            copy_step(ring, a, key, [&](int r) { return a.k + (size_t)__shfl_sync(FULL_WARP, (unsigned)k, r) * CHUNK; },
                      [&](int r) { return a.v + (size_t)__shfl_sync(FULL_WARP, (unsigned)v, r) * CHUNK; });
    }
};

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1) decode_paged(const __grid_constant__ PagedArgs a)
{
    const Work work(a);
    take_piece<Places>(a, work, [&](State &x, const Unit &u, int unit) {
        const Share share(work, unit);
        leave_part(x, a, u, share);
        if (share.blocks > 1 && last_to_arrive(a, unit, share.blocks))
            combine<ATTN_D <= 128 ? 16 : 4>(a, u, share); // as registers allow
        __syncthreads(); // the next part may use all of it again
    });
}

/* Cost: K and V once, as in decode_atomic. A page of 16 keys is 4 KB of K of one head at D=128, as one piece, so rows come in
 *   whole sectors whatever the order of the pages; an entry of the table is 4 bytes, read by each head: 0.05 % of what it
 *   finds. What counts is a warp's own time between two steps, of which a scheduler has two warps to hide it behind: a vote,
 *   a quotient by multiplication and an address; where keys of a step lie in two pages, besides 2 shuffles for each row
 *   that a lane copies a piece of. Nothing hides the first look-up: a block cannot ask for a key before it knows where.
 * Measured: kernels/hopper.md, "Pages". With a division for each look-up and shuffles for every step pages of 16 keys took
 *   2 to 6 % longer than one piece, with 8 queries, where the arithmetic counts, 11 %.
 * Limits: K and V of 64 GiB each. Without a table it reads contiguous K and V, with the same instructions.
 * Next: not written yet: K and V of 8 bits in their pages; a tensor map whose boxes are pages (TMA), so that one instruction
 *   copies a page; blocks that share the pages of sequences with the same beginning. */
