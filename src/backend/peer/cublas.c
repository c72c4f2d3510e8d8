/* cublas.c - the peer "cublas": two matrix products of cuBLAS around our softmax.
 *
 * cuBLAS counts columns first, so row-major Q K^T is its K^T Q: the same bytes, read the other way.
 * Where heads lie one behind the other, all products of a pass are one batched call, grouped heads
 * taken as more rows of their key head; in layout bshd there is a call per batch and group.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/peer/cublas.h"
#include "backend/peer/cuda_peer.h"
#include "backend/finder.h"
#include "base/mem.h"

typedef struct cublas_handle *cublas_handle;

/* COMPUTE_TF32: f32 in and out, rounded to TF32 between. */
enum {
#define CUBLAS_NUMBER(ours, theirs, value) ours = value,
    CUBLAS_NUMBERS(CUBLAS_NUMBER)
#undef CUBLAS_NUMBER
};

/* X(member, symbol, parameters); every call returns 0 or a code. */
// clang-format off
#define CUBLAS_ENTRIES(X)                                                                          \
    X(create,        "cublasCreate_v2",       (cublas_handle *h))                                  \
    X(destroy,       "cublasDestroy_v2",      (cublas_handle h))                                   \
    X(set_math,      "cublasSetMathMode",     (cublas_handle h, int mode))                         \
    X(set_stream,    "cublasSetStream_v2",    (cublas_handle h, cu_stream s))                      \
    X(set_workspace, "cublasSetWorkspace_v2", (cublas_handle h, void *p, size_t bytes))            \
    X(gemm,          "cublasGemmStridedBatchedEx",                                                 \
      (cublas_handle h, int op_a, int op_b, int m, int n, int k, const void *alpha,                \
       const void *a, int type_a, int lda, long long stride_a,                                     \
       const void *b, int type_b, int ldb, long long stride_b, const void *beta,                   \
       void *c, int type_c, int ldc, long long stride_c, int batch, int compute, int algo))
// clang-format on

struct cublas {
    cublas_handle handle;
    char version[48];
#define CUBLAS_MEMBER(member, symbol, params) int(*member) params;
    CUBLAS_ENTRIES(CUBLAS_MEMBER)
#undef CUBLAS_MEMBER
};

/* A slot's: workspace for the products of each lane. 32 MiB is what cuBLAS asks for on Hopper. */
enum { WORKSPACE_BYTES = 32 << 20 };
struct lanes_space {
    cu_pointer *items;
    int count;
};

/* ---- opening ---- */

static enum status check(const char *call, int r, struct err *err)
{
    return r == 0 ? ST_OK : err_set(err, ST_FAIL, "cublas: %s returned %d", call, r);
}

static enum status open_cublas(struct cublas *c, struct err *err)
{
    static const struct symbol entries[] = {
#define CUBLAS_ENTRY(member, symbol, params) {symbol, NULL, offsetof(struct cublas, member), false},
        CUBLAS_ENTRIES(CUBLAS_ENTRY)
#undef CUBLAS_ENTRY
    };
    struct found found;
    int v[3] = {0, 0, 0};
    enum status st = find_wanted(WANT_CUBLAS, &found, err);
    if (st != ST_OK) {
        err_prefix(err, "cublas");
        return st;
    }
    const char *lacks = find_symbols(found.library, entries, sizeof entries / sizeof *entries, c);
    if (lacks)
        return err_set(err, ST_NO, "cublas: this libcublas has no %s; CUDA 11 or newer is needed",
                       lacks);
    st = check("cublasCreate", c->create(&c->handle), err);
    /* Else where it divides a sum among blocks it may add the parts in the type of the result: at S=1025 D=1024 that
     * f16 answer has 1.7 times the error of one rounding, which our check refuses. */
    if (st == ST_OK)
        st = check("cublasSetMathMode", c->set_math(c->handle, SUMS_IN_F32), err);
    if (st == ST_OK)
        (void)find_version(WANT_CUBLAS, &found, v);
    snprintf(c->version, sizeof c->version, "cuBLAS %d.%d.%d", v[0], v[1], v[2]);
    return st;
}

static void close_cublas(void *library, bool usable)
{
    struct cublas *c = library;
    if (c->handle && usable)
        (void)c->destroy(c->handle);
    free(c);
}

static enum status need_cublas(struct slot *s, struct err *err)
{
    if (*s->opened)
        return ST_OK;
    struct cublas *c = xcalloc(1, sizeof *c);
    enum status st = open_cublas(c, err);
    if (st != ST_OK)
        close_cublas(c, true);
    else
        *s->opened = c;
    return st;
}

/* ---- slots ---- */

/* Products of a pass: calls per batch and per query head of a group. */
static void count_calls(const struct shape *s, int64_t *batches, int64_t *groups)
{
    const bool packed = s->layout == LAYOUT_BHSD;
    *batches = packed ? 1 : s->B;
    *groups = packed ? 1 : s->H / s->Hkv;
}

static enum status load(struct slot *s, const struct param_values *v, struct err *err)
{
    enum status st = need_cublas(s, err);
    int64_t batches, groups;
    if (st == ST_OK)
        st = slot_load_code(s, v, err);
    if (st != ST_OK)
        return st;
    struct lanes_space *w = xcalloc(1, sizeof *w);
    w->items = xcalloc((size_t)s->gpu->nstreams, sizeof *w->items);
    s->peer_data = w;
    while (w->count < s->gpu->nstreams && st == ST_OK)
        st =
            gpu_alloc(s->gpu, "cublas: its workspace", WORKSPACE_BYTES, &w->items[w->count++], err);
    count_calls(&s->inputs->shape, &batches, &groups);
    s->commands = (int)(2 * batches * groups + s->plan.npasses);
    s->version = xstrdup(((struct cublas *)*s->opened)->version);
    return st;
}

static void unload(struct slot *s)
{
    struct lanes_space *w = s->peer_data;
    for (int i = 0; w && i < w->count; i++)
        gpu_release(s->gpu, &w->items[i]);
    if (w)
        free(w->items);
    free(w);
}

/* ---- products ---- */

static int cuda_type(enum dtype t)
{
    return t == DTYPE_F32 ? TYPE_F32 : t == DTYPE_F16 ? TYPE_F16 : TYPE_BF16;
}

static void *offset(const void *base, int64_t elements, size_t size)
{
    return (char *)(uintptr_t)base + elements * (int64_t)size;
}

/* One call's share of a pass. */
struct part {
    int64_t batch, group; /* first batch; which of the query heads that share a key head */
    int rows, count;      /* query rows of one product; products */
};

/* S = scale * Q K^T, f32, row-major rows of Sk. */
static int queue_scores(const struct cublas *c, const struct shape *p, const struct AttnArgs *a,
                        const struct part *x)
{
    static const float zero = 0;
    const int type = cuda_type(p->dtype);
    const size_t size = dtype_size(p->dtype);
    const int64_t group = p->H / p->Hkv, matrix = p->Sq * p->Sk;
    return c->gemm(c->handle, OP_T, OP_N, a->Sk, x->rows, a->D, &a->scale,
                   offset(a->k, x->batch * a->k_stride[0], size), type, (int)a->k_stride[2],
                   a->k_stride[1],
                   offset(a->q, x->batch * a->q_stride[0] + x->group * a->q_stride[1], size), type,
                   (int)a->q_stride[2], group * a->q_stride[1], &zero,
                   offset(a->ws[0], (x->batch * p->H + x->group) * matrix, 4), TYPE_F32, a->Sk,
                   group * matrix, x->count, COMPUTE_F32, ALGO_DEFAULT);
}

/* O = P V. */
static int queue_outputs(const struct cublas *c, const struct shape *p, const struct AttnArgs *a,
                         const struct part *x)
{
    static const float one = 1, zero = 0;
    const int type = cuda_type(p->dtype);
    const size_t size = dtype_size(p->dtype);
    const int64_t group = p->H / p->Hkv, matrix = p->Sq * p->Sk;
    const void *probs = p->dtype == DTYPE_F32 ? a->ws[0] : a->ws[1];
    return c->gemm(
        c->handle, OP_N, OP_N, a->D, x->rows, a->Sk, &one,
        offset(a->v, x->batch * a->v_stride[0], size), type, (int)a->v_stride[2], a->v_stride[1],
        offset(probs, (x->batch * p->H + x->group) * matrix, size), type, a->Sk, group * matrix,
        &zero, offset(a->o, x->batch * a->o_stride[0] + x->group * a->o_stride[1], size), type,
        (int)a->o_stride[2], group * a->o_stride[1], x->count, COMPUTE_F32, ALGO_DEFAULT);
}

static enum status queue_pass(const struct slot *s, int lane,
                              int (*product)(const struct cublas *, const struct shape *,
                                             const struct AttnArgs *, const struct part *),
                              struct err *err)
{
    const struct shape *p = &s->inputs->shape;
    const bool packed = p->layout == LAYOUT_BHSD;
    int64_t batches, groups;
    int r = 0;
    count_calls(p, &batches, &groups);
    for (int64_t i = 0; i < batches && r == 0; i++)
        for (int64_t g = 0; g < groups && r == 0; g++) {
            const struct part x = {.batch = i,
                                   .group = g,
                                   .rows = (int)(packed ? p->Sq * (p->H / p->Hkv) : p->Sq),
                                   .count = (int)(packed ? p->B * p->Hkv : p->Hkv)};
            r = product(*s->opened, p, &s->lanes[lane].args.attn, &x);
        }
    return check("cublasGemmStridedBatchedEx", r, err);
}

static enum status queue(struct slot *s, int lane, struct err *err)
{
    const struct cublas *c = *s->opened;
    const struct lanes_space *w = s->peer_data;
    const int stream = lane % s->gpu->nstreams;
    enum status st =
        check("cublasSetStream", c->set_stream(c->handle, s->gpu->streams[stream]), err);
    if (st == ST_OK) /* setting the stream gives the workspace back */
        st = check(
            "cublasSetWorkspace",
            c->set_workspace(c->handle, (void *)(uintptr_t)w->items[stream], WORKSPACE_BYTES), err);
    if (st == ST_OK)
        st = queue_pass(s, lane, queue_scores, err);
    if (st == ST_OK)
        st = slot_queue_passes(s, lane, err);
    return st == ST_OK ? queue_pass(s, lane, queue_outputs, err) : st;
}

/* ---- ceilings ---- */

/* C = A B, all n x n, in memory one behind the other. */
struct square {
    struct cublas *c;
    int n, type, compute;
    size_t bytes; /* of a matrix */
};

static enum status queue_square(struct bench *b, void *ctx, int count, struct err *err)
{
    static const float one = 1, zero = 0;
    const struct square *q = ctx;
    char *at = (char *)(uintptr_t)b->memory;
    int r = 0;
    for (int i = 0; i < count && r == 0; i++)
        r = q->c->gemm(q->c->handle, OP_T, OP_N, q->n, q->n, q->n, &one, at, q->type, q->n, 0,
                       at + q->bytes, q->type, q->n, 0, &zero, at + 2 * q->bytes, q->type, q->n, 0,
                       1, q->compute, ALGO_DEFAULT);
    return check("cublasGemmStridedBatchedEx", r, err);
}

static enum status measure_square(struct bench *b, struct cublas *c, enum peak_id id,
                                  const char *what, enum dtype dtype, int compute, struct err *err)
{
    enum { LARGE = 8192, LEAST = 1024 };
    struct square q = {.c = c, .n = LARGE, .type = cuda_type(dtype), .compute = compute};
    while (q.n > LEAST && 3.0 * q.n * q.n * (double)dtype_size(dtype) > (double)b->bytes)
        q.n /= 2;
    q.bytes = (size_t)q.n * (size_t)q.n * dtype_size(dtype);
    enum status st = b->stopped ? ST_OK : bench_fill(b, dtype, err);
    if (st == ST_OK)
        st = bench_measure(b, id, what, queue_square, &q, 2.0 * q.n * q.n * q.n * 1e-12, err);
    return st;
}

enum status cublas_peak(struct bench *b, struct err *err)
{
    struct cublas *c = xcalloc(1, sizeof *c);
    struct err why = ERR_INIT;
    enum status st = b->module ? open_cublas(c, &why) : ST_NO;
    if (st != ST_OK) { /* no figures of its, which is no failure */
        close_cublas(c, true);
        return ST_OK;
    }
    st = check("cublasSetStream", c->set_stream(c->handle, b->gpu->streams[0]), err);
    if (st == ST_OK)
        st = measure_square(b, c, PEAK_GEMM_F16, "cuBLAS, f16", DTYPE_F16, COMPUTE_F32, err);
    if (st == ST_OK)
        st = measure_square(b, c, PEAK_GEMM_BF16, "cuBLAS, bf16", DTYPE_BF16, COMPUTE_F32, err);
    if (st == ST_OK)
        st = measure_square(b, c, PEAK_GEMM_TF32, "cuBLAS, TF32", DTYPE_F32, COMPUTE_TF32, err);
    if (st == ST_OK)
        st = measure_square(b, c, PEAK_GEMM_F32, "cuBLAS, f32", DTYPE_F32, COMPUTE_F32, err);
    close_cublas(c, !b->gpu->spent);
    return st;
}

const struct cuda_peer cuda_peer_cublas = {
    .name = "cublas",
    .load = load,
    .queue = queue,
    .unload = unload,
    .close = close_cublas,
};
