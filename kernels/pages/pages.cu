// pages.cu - puts K, or V, into the pages of its pool, and looks whether it is still there.
//
// A timed run finds contents that nobody has seen, so the pool is filled anew from the contiguous tensor before every
// sample; afterwards a kernel may not have written to it. A warp takes a row of the pool. What belongs to nobody is
// all ones, a NaN in every type: pages without an owner, and rows behind a sequence's last key.
//
// kernels/pages/pages.ptx is this file's, by `make update-pages`; backend/cuda/pools.c launches it.
//
// SPDX-License-Identifier: GPL-3.0-or-later

// Mirrored in src/backend/cuda/pools.c, which checks the size, too.
struct PoolArgs {
    const char *from;   // the contiguous tensor
    char *pool;         // pages of it
    const int *owners;  // of each page: its number among all sequences' pages, in their order; -1: nobody's
    unsigned *differs;  // null: the pool is filled; else it is only read, and 1 is written where it is another
    long long from_stride[3]; // bytes from one batch, head, key to the next
    long long pool_stride[3]; // bytes from one page, head, key to the next
    long long rows;           // of the pool: pages x Hkv x page
    int Hkv, page, each, Sk;  // heads; keys of a page; pages of a sequence; its keys
    int row_bytes, pad;
};
static_assert(sizeof(PoolArgs) == 112, "PoolArgs must match src/backend/cuda/pools.c");

__device__ inline bool same(const uint4 &x, const uint4 &y)
{
    return x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w;
}
__device__ inline bool same(unsigned short x, unsigned short y)
{
    return x == y;
}

template <class Unit> __device__ inline void walk(const PoolArgs &a, const Unit &nobody)
{
    const int lane = threadIdx.x % 32, units = a.row_bytes / (int)sizeof(Unit);
    const long long warps = (long long)gridDim.x * (blockDim.x / 32);
    long long row = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    bool wrong = false;
    for (; row < a.rows; row += warps) {
        const long long page = row / ((long long)a.Hkv * a.page);
        const int in_page = (int)(row % ((long long)a.Hkv * a.page)), head = in_page / a.page, key = in_page % a.page;
        const int owner = a.owners[page];
        const long long j = owner < 0 ? a.Sk : (long long)(owner % a.each) * a.page + key;
        const Unit *from = j >= a.Sk ? nullptr
                                     : (const Unit *)(a.from + owner / a.each * a.from_stride[0] +
                                                      head * a.from_stride[1] + j * a.from_stride[2]);
        Unit *to = (Unit *)(a.pool + page * a.pool_stride[0] + head * a.pool_stride[1] + key * a.pool_stride[2]);
#pragma unroll 1
        for (int i = lane; i < units; i += 32) {
            const Unit x = from ? from[i] : nobody;
            if (a.differs)
                wrong |= !same(to[i], x);
            else
                to[i] = x;
        }
    }
    if (wrong)
        *a.differs = 1;
}

extern "C" __global__ void __launch_bounds__(256) attnscope_pool(const __grid_constant__ PoolArgs a)
{
    if (a.row_bytes % 16 == 0)
        walk(a, make_uint4(~0u, ~0u, ~0u, ~0u));
    else
        walk(a, (unsigned short)0xffff);
}
