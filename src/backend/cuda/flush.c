/* flush.c - a cold sample begins with caches full of somebody else's clean lines.
 *
 * The flush reads twice the L2, in the stream of the sample. It does not write: lines left dirty would have
 * to go to DRAM while the kernel under test runs, and that time would be charged to it (2 to 4 us for
 * 25 MB of inputs on an H200, 3 to 5 % of a fast kernel there). Where the driver cannot compile the few lines of
 * PTX, a memset has to do, and the row says so.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/flush.h"

enum { SWEEP_THREADS = 256, SWEEP_BLOCKS_PER_SM = 4, SWEEP_ITEM = 16 };

/* Sums 16 bytes at a time, strided by the grid. The store never happens, for the buffer is all zero, which
 * the compiler cannot know. .cg: through the L2 alone. */
const char flush_ptx[] = ".version 6.4\n"
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

size_t flush_bytes(const struct gpu *g)
{
    const size_t least = 64 << 20, twice = 2 * (size_t)g->model.l2_bytes;
    return (twice > least ? twice : least) / SWEEP_ITEM * SWEEP_ITEM;
}

static void load_sweep(struct gpu *g, struct flush *f)
{
    if (g->api.module_load(&f->code, flush_ptx) != CU_SUCCESS) {
        f->code = NULL;
        return;
    }
    if (g->api.module_function(&f->kernel, f->code, "attnscope_sweep") != CU_SUCCESS)
        f->kernel = NULL;
}

static bool make_sweep(struct gpu *g, struct flush *f)
{
    f->bytes = flush_bytes(g);
    if (gpu_alloc(g, "the flush", f->bytes, &f->buffer, NULL) != ST_OK)
        return false;
    (void)g->api.fill32(f->buffer, 0, f->bytes / 4, g->streams[0]);
    load_sweep(g, f);
    return true;
}

void flush_queue(struct gpu *g, struct flush *f)
{
    uint64_t items;
    void *params[] = {&f->buffer, &items};
    f->doubt = NULL;
    if (!f->buffer && !make_sweep(g, f)) {
        f->doubt = "no memory was left to flush the L2 with, so it was not cold";
        return;
    }
    items = f->bytes / SWEEP_ITEM;
    const unsigned blocks = (unsigned)(SWEEP_BLOCKS_PER_SM * g->model.sms);
    if (f->kernel && g->api.launch(f->kernel, blocks, 1, 1, SWEEP_THREADS, 1, 1, 0, g->streams[0],
                                   params, NULL) == CU_SUCCESS)
        return;
    f->doubt = "the driver cannot compile what reads the L2 clean, so cold runs began with lines "
               "to write back "
               "and are too long";
    if (g->api.fill32(f->buffer, 0, f->bytes / 4, g->streams[0]) != CU_SUCCESS)
        f->doubt = "the L2 could not be flushed, so it was not cold";
}

void flush_free(struct gpu *g, struct flush *f)
{
    gpu_release(g, &f->buffer);
    if (f->code && !g->spent)
        (void)g->api.module_unload(f->code);
    f->code = NULL;
    f->kernel = NULL;
}
