/* cuda_flush.c - a cold sample begins with caches full of somebody else's clean lines.
 *
 * The flush reads twice the L2, in the stream of the sample. It does not write: lines left dirty would have
 * to go to DRAM while the kernel under test runs, and that time would be charged to it (2 to 4 us for
 * 25 MB of inputs on an H200, 3 to 5 % of a fast kernel there). Where the driver cannot compile the few lines of
 * PTX, a memset has to do.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/cuda_state.h"

enum { SWEEP_THREADS = 256, SWEEP_BLOCKS_PER_SM = 4, SWEEP_ITEM = 16 };

/* Sums 16 bytes at a time, strided by the grid. The store never happens, for the buffer is all zero, which
 * the compiler cannot know. .cg: through the L2 alone. */
static const char sweep_ptx[] =
    ".version 6.4\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .entry attnscope_sweep(.param .u64 base, .param .u64 items)\n"
    "{\n"
    "  .reg .u64 %p, %n, %i, %step, %at;\n"
    "  .reg .u32 %a, %b, %c, %d, %sum, %x, %y, %z;\n"
    "  .reg .pred %q;\n"
    "  ld.param.u64 %p, [base];\n"
    "  ld.param.u64 %n, [items];\n"
    "  cvta.to.global.u64 %p, %p;\n"
    "  mov.u32 %x, %ctaid.x;\n"
    "  mov.u32 %y, %ntid.x;\n"
    "  mov.u32 %z, %tid.x;\n"
    "  mad.lo.u32 %x, %x, %y, %z;\n"
    "  cvt.u64.u32 %i, %x;\n"
    "  mov.u32 %x, %nctaid.x;\n"
    "  mul.lo.u32 %x, %x, %y;\n"
    "  cvt.u64.u32 %step, %x;\n"
    "  mov.u32 %sum, 0;\n"
    "again:\n"
    "  setp.ge.u64 %q, %i, %n;\n"
    "  @%q bra done;\n"
    "  shl.b64 %at, %i, 4;\n"
    "  add.u64 %at, %p, %at;\n"
    "  ld.global.cg.v4.u32 {%a, %b, %c, %d}, [%at];\n"
    "  add.u32 %sum, %sum, %a;\n"
    "  add.u32 %sum, %sum, %b;\n"
    "  add.u32 %sum, %sum, %c;\n"
    "  add.u32 %sum, %sum, %d;\n"
    "  add.u64 %i, %i, %step;\n"
    "  bra again;\n"
    "done:\n"
    "  setp.eq.u32 %q, %sum, 0;\n"
    "  @%q bra end;\n"
    "  st.global.u32 [%p], %sum;\n"
    "end:\n"
    "  ret;\n"
    "}\n";

size_t cuda_sweep_bytes(const struct backend *b)
{
    const size_t least = 64 << 20, twice = 2 * (size_t)b->model.l2_bytes;
    return (twice > least ? twice : least) / SWEEP_ITEM * SWEEP_ITEM;
}

static void load_sweep(struct backend *b)
{
    if (b->api.module_load(&b->sweep_code, sweep_ptx) != CU_SUCCESS) {
        b->sweep_code = NULL;
        return;
    }
    if (b->api.module_function(&b->sweep_kernel, b->sweep_code, "attnscope_sweep") != CU_SUCCESS)
        b->sweep_kernel = NULL;
}

static bool make_sweep(struct backend *b)
{
    b->sweep_bytes = cuda_sweep_bytes(b);
    if (cuda_alloc(b, "the flush", b->sweep_bytes, &b->sweep, NULL) != ST_OK)
        return false;
    (void)b->api.fill32(b->sweep, 0, b->sweep_bytes / 4, b->streams[0]);
    load_sweep(b);
    return true;
}

void cuda_flush(struct backend *b)
{
    b->flush_asked = true;
}

void cuda_flush_now(struct backend *b)
{
    uint64_t items;
    void *params[] = {&b->sweep, &items};
    if (!b->sweep && !make_sweep(b))
        return;
    items = b->sweep_bytes / SWEEP_ITEM;
    const unsigned blocks = (unsigned)(SWEEP_BLOCKS_PER_SM * b->model.sms);
    if (!b->sweep_kernel || b->api.launch(b->sweep_kernel, blocks, 1, 1, SWEEP_THREADS, 1, 1, 0,
                                          b->streams[0], params, NULL) != CU_SUCCESS)
        (void)b->api.fill32(b->sweep, 0, b->sweep_bytes / 4, b->streams[0]);
}

void cuda_free_sweep(struct backend *b)
{
    cuda_release(b, &b->sweep);
    if (b->sweep_code && !b->spent)
        (void)b->api.module_unload(b->sweep_code);
    b->sweep_code = NULL;
    b->sweep_kernel = NULL;
}
