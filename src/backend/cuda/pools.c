/* pools.c - see pools.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/blob.h"

/* As in kernels/pages/pages.cu. */
struct pool_args {
    cu_pointer from, pool, owners, differs;
    int64_t from_stride[3], pool_stride[3]; /* bytes */
    int64_t rows;
    int32_t Hkv, page, each, Sk;
    int32_t row_bytes, pad;
};
_Static_assert(sizeof(struct pool_args) == 112, "PoolArgs of kernels/pages/pages.cu");

static void put_strides(int64_t dst[3], struct strides st, size_t size)
{
    dst[0] = st.b * (int64_t)size;
    dst[1] = st.h * (int64_t)size;
    dst[2] = st.s * (int64_t)size;
}

static struct pool_args args_of(const struct pools *p, cu_pointer from, cu_pointer pool)
{
    const struct shape *s = &p->shape;
    const struct page_pool pages = shape_pool(s);
    const size_t size = dtype_size(s->dtype);
    struct pool_args a = {.from = from,
                          .pool = pool,
                          .owners = p->owners,
                          .rows = pages.total * s->Hkv * s->page,
                          .Hkv = (int32_t)s->Hkv,
                          .page = (int32_t)s->page,
                          .each = (int32_t)pages.each,
                          .Sk = (int32_t)s->Sk,
                          .row_bytes = (int32_t)((size_t)s->D * size)};
    put_strides(a.from_stride, shape_strides(s, s->Hkv, s->Sk), size);
    put_strides(a.pool_stride, page_strides(s), size);
    return a;
}

static enum status launch(struct gpu *g, const struct pools *p, struct pool_args *a,
                          const char *who, struct err *err)
{
    enum { THREADS = 256, BLOCKS_PER_SM = 8 };
    void *params[] = {a};
    const unsigned blocks = (unsigned)(BLOCKS_PER_SM * (g->model.sms > 0 ? g->model.sms : 1));
    return gpu_check(
        g, who, "cuLaunchKernel",
        g->api.launch(p->kernel, blocks, 1, 1, THREADS, 1, 1, 0, g->streams[0], params, NULL), err);
}

enum status pools_fill(struct gpu *g, const struct pools *p, cu_pointer from, cu_pointer pool,
                       const char *who, struct err *err)
{
    struct pool_args a = args_of(p, from, pool);
    return launch(g, p, &a, who, err);
}

static enum status table_intact(struct gpu *g, const struct pools *p, bool *intact, struct err *err)
{
    const size_t bytes = page_table_bytes(&p->shape);
    char *now = xmalloc(bytes);
    memset(now, 0xff, bytes); /* a copy that brings nothing is no table */
    enum status st = gpu_check(g, NULL, "cuMemcpyDtoH", g->api.copy_out(now, p->table, bytes), err);
    *intact = *intact && (st != ST_OK || memcmp(now, p->copy, bytes) == 0);
    free(now);
    return st;
}

enum status pools_look(struct gpu *g, const struct pools *p, cu_pointer from, cu_pointer pool,
                       bool *intact, struct err *err)
{
    struct pool_args a = args_of(p, from, pool);
    uint32_t differs = 1;
    a.differs = p->differs;
    enum status st =
        gpu_check(g, NULL, "cuMemsetD32Async", g->api.fill32(p->differs, 0, 1, g->streams[0]), err);
    if (st == ST_OK)
        st = launch(g, p, &a, NULL, err);
    if (st == ST_OK)
        st = gpu_check(g, NULL, "cuStreamSynchronize", g->api.stream_sync(g->streams[0]), err);
    if (st == ST_OK)
        st = gpu_check(g, NULL, "cuMemcpyDtoH",
                       g->api.copy_out(&differs, p->differs, sizeof differs), err);
    *intact = *intact && (st != ST_OK || differs == 0);
    return st == ST_OK ? table_intact(g, p, intact, err) : st;
}

/* ---- opening ---- */

static enum status load(struct gpu *g, struct pools *p, struct err *err)
{
    const struct blob *b = blob_find("kernels/pages/pages.ptx");
    char *text = b ? xstrndup(b->data, blob_size(b)) : xstrdup("");
    cu_result r = g->api.module_load(&p->code, text);
    free(text);
    if (r != CU_SUCCESS)
        p->code = NULL;
    else
        r = g->api.module_function(&p->kernel, p->code, "attnscope_pool");
    if (r == CU_SUCCESS)
        return ST_OK;
    if (gpu_check(g, NULL, "cuModuleLoadData", r, err) == ST_FAIL && g->spent)
        return ST_FAIL;
    return err_set(err, ST_FAIL,
                   "page=%lld: the driver cannot compile the kernel that fills pages; update the "
                   "driver, or leave page= out",
                   (long long)p->shape.page);
}

static enum status make_table(struct gpu *g, struct pools *p, uint64_t seed, struct err *err)
{
    enum { ALIGN = 256 };
    const struct page_pool pages = shape_pool(&p->shape);
    const size_t bytes = page_table_bytes(&p->shape), whole = (bytes + ALIGN - 1) / ALIGN * ALIGN,
                 all = (size_t)pages.total * sizeof(int32_t);
    int32_t *owners = xcalloc((size_t)pages.total, sizeof *owners);
    p->copy = xmalloc(bytes);
    page_table_fill(&p->shape, seed, p->copy);
    page_owners(&p->shape, p->copy, owners);
    enum status st = gpu_alloc(g, "the block table", whole + all + ALIGN, &p->memory, err);
    p->table = p->memory;
    p->owners = p->memory + whole;
    p->differs = p->owners + all;
    if (st == ST_OK)
        st = gpu_copy_in(g, NULL, p->table, p->copy, bytes, err);
    if (st == ST_OK)
        st = gpu_copy_in(g, NULL, p->owners, owners, all, err);
    free(owners);
    return st;
}

enum status pools_open(struct gpu *g, const struct shape *s, uint64_t seed, struct pools *out,
                       struct err *err)
{
    *out = (struct pools){.shape = *s};
    if (!s->page)
        return ST_OK;
    const enum status st = load(g, out, err);
    return st == ST_OK ? make_table(g, out, seed, err) : st;
}

void pools_close(struct gpu *g, struct pools *p)
{
    gpu_release(g, &p->memory);
    if (p->code && !g->spent)
        (void)g->api.module_unload(p->code);
    free(p->copy);
    *p = (struct pools){0};
}
