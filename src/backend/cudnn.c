/* cudnn.c - the peer "cudnn": fused attention through cuDNN's backend interface.
 *
 * Attention is described as a graph of operations on tensors that never exist (virtual ones):
 *
 *   S = Q K^T, scaled; causal: S where row + Sk - Sq >= column, else -inf
 *   P = exp(S - max) / sum, per row; O = P V
 *
 * cuDNN recognises the pattern and its heuristics name engines; the first that builds is taken. This
 * is what cuDNN's C++ front end emits. The single attention operation that 9.13 brought would be
 * shorter, but knows masks only from 9.20 on. Grouped heads need nothing: K and V have fewer heads.
 *
 * All of it is one dlopen and about a dozen kinds of descriptors, far less than a child process, and
 * it runs in our streams under our gate and graphs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda_peer.h"
#include "backend/nvidia_library.h"
#include "base/mem.h"

/* Of cuDNN 9. tests/unit/test_cuda_abi.c compares with cudnn_graph.h where there is one. */
#include "backend/cudnn_abi.h"

typedef struct cudnn_handle *cudnn_handle;
typedef void *descriptor;

/* X(member, symbol, parameters); every call but version returns 0 or a code. */
// clang-format off
#define CUDNN_ENTRIES(X)                                                                           \
    X(create,     "cudnnCreate",                   int, (cudnn_handle *h))                         \
    X(destroy,    "cudnnDestroy",                  int, (cudnn_handle h))                          \
    X(version,    "cudnnGetVersion",               size_t, (void))                                 \
    X(error_text, "cudnnGetErrorString",           const char *, (int r))                          \
    X(set_stream, "cudnnSetStream",                int, (cudnn_handle h, cu_stream s))             \
    X(make,       "cudnnBackendCreateDescriptor",  int, (int kind, descriptor *d))                 \
    X(free,       "cudnnBackendDestroyDescriptor", int, (descriptor d))                            \
    X(finalize,   "cudnnBackendFinalize",          int, (descriptor d))                            \
    X(set,        "cudnnBackendSetAttribute",      int, (descriptor d, int name, int type,         \
                                                         int64_t count, const void *values))       \
    X(get,        "cudnnBackendGetAttribute",      int, (descriptor d, int name, int type,         \
                                                         int64_t room, int64_t *count, void *values)) \
    X(execute,    "cudnnBackendExecute",           int, (cudnn_handle h, descriptor plan, descriptor pack))
// clang-format on

struct cudnn {
    void *library;
    void (*last_error)(char *text, size_t size); /* what it says to itself; NULL before 9.0 */
    cudnn_handle handle;
#define CUDNN_MEMBER(member, symbol, result, params) result(*member) params;
    CUDNN_ENTRIES(CUDNN_MEMBER)
#undef CUDNN_MEMBER
};

/* Names of tensors in the graph. Those before VIRTUAL have memory; CAUSAL ones only if needed. */
enum { Q, K, V, O, SCALE, NEGATIVE, SHIFT, VIRTUAL };

enum { DESCRIPTORS_MAX = 256, CONFIGS_MAX = 16 };

/* A loaded attention. */
struct attention {
    struct cudnn *c;
    descriptor all[DESCRIPTORS_MAX]; /* everything made for it, freed with it */
    int count;
    int64_t next_uid;
    int r;            /* the first failure, 0 so far */
    const char *what; /* the step that failed */
    descriptor graph, plan;
    descriptor *packs; /* one per lane */
    cu_pointer *workspaces;
    int nlanes;
    float scale, negative;
    int32_t shift;
};

/* ---- opening ---- */

static enum status find_symbols(struct cudnn *c, struct err *err)
{
    static const struct {
        const char *symbol;
        size_t offset;
    } entries[] = {
#define CUDNN_ENTRY(member, symbol, result, params) {symbol, offsetof(struct cudnn, member)},
        CUDNN_ENTRIES(CUDNN_ENTRY)
#undef CUDNN_ENTRY
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *f = dlsym(c->library, entries[i].symbol);
        if (!f)
            return err_set(err, ST_NO, "cudnn: this libcudnn has no %s; cuDNN 9 is needed",
                           entries[i].symbol);
        memcpy((char *)c + entries[i].offset, &f, sizeof f);
    }
    void *f = dlsym(c->library, "cudnnGetLastErrorString");
    memcpy(&c->last_error, &f, sizeof f);
    return ST_OK;
}

/* cuDNN opens these by name and relies on the loader; what is loaded already is found. */
static void open_helpers(void)
{
    static const char *const nvrtc[] = {"libnvrtc.so.13", "libnvrtc.so.12", NULL};
    static const char *const cublaslt[] = {"libcublasLt.so.13", "libcublasLt.so.12", NULL};
    (void)nvidia_library("ATTNSCOPE_LIBNVRTC", nvrtc, "libnvrtc.so.1[0-9]*");
    (void)nvidia_library("ATTNSCOPE_LIBCUBLASLT", cublaslt, "libcublasLt.so.1[0-9]");
}

static enum status open_cudnn(struct cudnn *c, struct err *err)
{
    static const char *const sonames[] = {"libcudnn.so.9", NULL};
    c->library = nvidia_library("ATTNSCOPE_LIBCUDNN", sonames, "libcudnn.so.9");
    if (!c->library)
        return err_set(err, ST_NO,
                       "cudnn: libcudnn.so.9 was not found, neither by the system's loader nor in "
                       "CUDA_HOME, /usr/local/cuda or Python's nvidia packages: install cuDNN 9, "
                       "or pip install nvidia-cudnn-cu13");
    open_helpers();
    enum status st = find_symbols(c, err);
    if (st != ST_OK)
        return st;
    const int r = c->create(&c->handle);
    return r == 0 ? ST_OK
                  : err_set(err, ST_FAIL, "cudnn: cudnnCreate: %s (%d)", c->error_text(r), r);
}

static void close_cudnn(void *library, bool usable)
{
    struct cudnn *c = library;
    if (c->handle && usable)
        (void)c->destroy(c->handle);
    free(c);
}

static enum status need_cudnn(struct backend *b, struct err *err)
{
    if (b->cudnn)
        return ST_OK;
    struct cudnn *c = xcalloc(1, sizeof *c);
    enum status st = open_cudnn(c, err);
    if (st != ST_OK)
        close_cudnn(c, true);
    else
        b->cudnn = c;
    return st;
}

/* ---- descriptors; after a failure everything does nothing ---- */

static bool step(struct attention *a, const char *what, int r)
{
    if (r == 0 || a->r)
        return !a->r;
    a->r = r;
    a->what = what;
    return false;
}

static descriptor make(struct attention *a, int kind)
{
    descriptor d = NULL;
    if (a->r || a->count == DESCRIPTORS_MAX || !step(a, "a descriptor", a->c->make(kind, &d)))
        return NULL;
    return a->all[a->count++] = d;
}

static void set(struct attention *a, descriptor d, int name, int type, int64_t count,
                const void *values)
{
    if (!a->r)
        (void)step(a, "an attribute", a->c->set(d, name, type, count, values));
}

static void set_link(struct attention *a, descriptor d, int name, descriptor to)
{
    set(a, d, name, TYPE_DESCRIPTOR, 1, &to);
}

static void set_int(struct attention *a, descriptor d, int name, int64_t value)
{
    set(a, d, name, TYPE_INT64, 1, &value);
}

static void set_word(struct attention *a, descriptor d, int name, int type, int value)
{
    set(a, d, name, type, 1, &value);
}

static descriptor finalize(struct attention *a, descriptor d, const char *what)
{
    if (!a->r)
        (void)step(a, what, a->c->finalize(d));
    return d;
}

/* ---- tensors ---- */

struct sizes {
    int64_t dim[4], stride[4];
};

/* What does not exist is packed. */
static struct sizes packed(int64_t b, int64_t h, int64_t rows, int64_t columns)
{
    return (struct sizes){{b, h, rows, columns}, {h * rows * columns, rows * columns, columns, 1}};
}

enum place { IN_MEMORY, BY_VALUE, NOWHERE };

static descriptor tensor(struct attention *a, int64_t uid, int type, struct sizes s,
                         enum place place)
{
    descriptor d = make(a, KIND_TENSOR);
    const char yes = 1;
    set_int(a, d, TENSOR_UID, uid);
    set_word(a, d, TENSOR_TYPE, TYPE_DATA_TYPE, type);
    set_int(a, d, TENSOR_ALIGNMENT, place == BY_VALUE ? 4 : 16);
    set(a, d, TENSOR_DIMENSIONS, TYPE_INT64, 4, s.dim);
    set(a, d, TENSOR_STRIDES, TYPE_INT64, 4, s.stride);
    if (place != IN_MEMORY)
        set(a, d, place == NOWHERE ? TENSOR_VIRTUAL : TENSOR_BY_VALUE, TYPE_BOOLEAN, 1, &yes);
    return finalize(a, d, "a tensor");
}

static descriptor virtual_tensor(struct attention *a, int type, struct sizes s)
{
    return tensor(a, a->next_uid++, type, s, NOWHERE);
}

static descriptor value_tensor(struct attention *a, int64_t uid, int type)
{
    return tensor(a, uid, type, packed(1, 1, 1, 1), BY_VALUE);
}

/* Q or O: (B, H, Sq, D); V: (B, Hkv, Sk, D); K: (B, Hkv, D, Sk), the same bytes read across. */
static descriptor memory_tensor(struct attention *a, int64_t uid, const struct shape *s)
{
    const bool query = uid == Q || uid == O;
    const int64_t heads = query ? s->H : s->Hkv, rows = query ? s->Sq : s->Sk;
    const struct strides st = shape_strides(s, heads, rows);
    struct sizes z = {{s->B, heads, rows, s->D}, {st.b, st.h, st.s, 1}};
    if (uid == K)
        z = (struct sizes){{s->B, heads, s->D, rows}, {st.b, st.h, 1, st.s}};
    return tensor(a, uid, s->dtype == DTYPE_F16 ? DATA_F16 : DATA_BF16, z, IN_MEMORY);
}

/* ---- operations ---- */

struct operations {
    descriptor items[24];
    int count;
};

static void add(struct operations *o, descriptor d)
{
    o->items[o->count++] = d;
}

static void matmul(struct attention *a, struct operations *o, descriptor x, descriptor y,
                   descriptor out)
{
    descriptor how = make(a, KIND_MATMUL), d;
    set_word(a, how, MATMUL_COMPUTE, TYPE_DATA_TYPE, DATA_F32);
    finalize(a, how, "a matrix product");
    d = make(a, KIND_OPERATION_MATMUL);
    set_link(a, d, OPERATION_MATMUL_A, x);
    set_link(a, d, OPERATION_MATMUL_B, y);
    set_link(a, d, OPERATION_MATMUL_C, out);
    set_link(a, d, OPERATION_MATMUL_HOW, how);
    add(o, finalize(a, d, "a matrix product"));
}

/* Element by element: out = mode(x, y, t); y and t may be NULL. `axis` counts for POINTWISE_INDEX. */
struct pointwise {
    int mode, compute, axis;
    descriptor x, y, t, out;
};

static void pointwise(struct attention *a, struct operations *o, struct pointwise p)
{
    descriptor how = make(a, KIND_POINTWISE), d;
    set_word(a, how, POINTWISE_MODE, TYPE_POINTWISE_MODE, p.mode);
    set_word(a, how, POINTWISE_COMPUTE, TYPE_DATA_TYPE, p.compute);
    if (p.mode == POINTWISE_INDEX)
        set_int(a, how, POINTWISE_AXIS, p.axis);
    finalize(a, how, "a pointwise operation");
    d = make(a, KIND_OPERATION_POINTWISE);
    set_link(a, d, OPERATION_POINTWISE_HOW, how);
    set_link(a, d, OPERATION_POINTWISE_X, p.x);
    if (p.y)
        set_link(a, d, OPERATION_POINTWISE_B, p.y);
    if (p.t)
        set_link(a, d, OPERATION_POINTWISE_T, p.t);
    set_link(a, d, OPERATION_POINTWISE_Y, p.out);
    add(o, finalize(a, d, "a pointwise operation"));
}

static descriptor reduce(struct attention *a, struct operations *o, int mode, descriptor x,
                         struct sizes s)
{
    descriptor how = make(a, KIND_REDUCTION), d, out = virtual_tensor(a, DATA_F32, s);
    set_word(a, how, REDUCTION_MODE, TYPE_REDUCTION_MODE, mode);
    set_word(a, how, REDUCTION_COMPUTE, TYPE_DATA_TYPE, DATA_F32);
    finalize(a, how, "a reduction");
    d = make(a, KIND_OPERATION_REDUCTION);
    set_link(a, d, OPERATION_REDUCTION_X, x);
    set_link(a, d, OPERATION_REDUCTION_Y, out);
    set_link(a, d, OPERATION_REDUCTION_HOW, how);
    add(o, finalize(a, d, "a reduction"));
    return out;
}

/* ---- the graph ---- */

/* scores where row + Sk - Sq >= column, else -inf */
static descriptor mask(struct attention *a, struct operations *o, const struct shape *s,
                       descriptor scores, struct sizes whole)
{
    descriptor row = virtual_tensor(a, DATA_I32, whole),
               column = virtual_tensor(a, DATA_I32, whole);
    descriptor seen = virtual_tensor(a, DATA_BOOL, whole);
    descriptor out = virtual_tensor(a, DATA_F32, whole);
    pointwise(a, o, (struct pointwise){POINTWISE_INDEX, DATA_I32, 2, .x = scores, .out = row});
    if (s->Sq != s->Sk) {
        descriptor shifted = virtual_tensor(a, DATA_I32, whole);
        pointwise(a, o,
                  (struct pointwise){POINTWISE_ADD, DATA_I32, 0, .x = row,
                                     .y = value_tensor(a, SHIFT, DATA_I32), .out = shifted});
        row = shifted;
    }
    pointwise(a, o, (struct pointwise){POINTWISE_INDEX, DATA_I32, 3, .x = scores, .out = column});
    pointwise(a, o,
              (struct pointwise){POINTWISE_GE, DATA_BOOL, 0, .x = row, .y = column, .out = seen});
    pointwise(a, o,
              (struct pointwise){POINTWISE_SELECT, DATA_F32, 0, .x = scores,
                                 .y = value_tensor(a, NEGATIVE, DATA_F32), .t = seen, .out = out});
    return out;
}

/* exp(x - max) / sum per row, in the type of the inputs, as the second product wants it. The pattern
 * has the row's log-sum in it; nobody reads it here, so it is virtual too. */
static descriptor softmax(struct attention *a, struct operations *o, const struct shape *s,
                          descriptor x, struct sizes whole)
{
    const struct sizes row = packed(s->B, s->H, s->Sq, 1);
    descriptor max = reduce(a, o, REDUCTION_MAX, x, row);
    descriptor less = virtual_tensor(a, DATA_F32, whole), e = virtual_tensor(a, DATA_F32, whole);
    pointwise(a, o, (struct pointwise){POINTWISE_SUB, DATA_F32, 0, .x = x, .y = max, .out = less});
    pointwise(a, o, (struct pointwise){POINTWISE_EXP, DATA_F32, 0, .x = less, .out = e});
    descriptor sum = reduce(a, o, REDUCTION_ADD, e, row);
    descriptor log = virtual_tensor(a, DATA_F32, row), lse = virtual_tensor(a, DATA_F32, row);
    pointwise(a, o, (struct pointwise){POINTWISE_LOG, DATA_F32, 0, .x = sum, .out = log});
    pointwise(a, o, (struct pointwise){POINTWISE_ADD, DATA_F32, 0, .x = max, .y = log, .out = lse});
    descriptor p = virtual_tensor(a, s->dtype == DTYPE_F16 ? DATA_F16 : DATA_BF16, whole);
    pointwise(a, o, (struct pointwise){POINTWISE_DIV, DATA_F32, 0, .x = e, .y = sum, .out = p});
    return p;
}

static void build_graph(struct attention *a, const struct shape *s)
{
    struct operations o = {.count = 0};
    const struct sizes whole = packed(s->B, s->H, s->Sq, s->Sk);
    descriptor raw = virtual_tensor(a, DATA_F32, whole),
               scores = virtual_tensor(a, DATA_F32, whole);
    matmul(a, &o, memory_tensor(a, Q, s), memory_tensor(a, K, s), raw);
    pointwise(a, &o,
              (struct pointwise){POINTWISE_MUL, DATA_F32, 0, .x = raw,
                                 .y = value_tensor(a, SCALE, DATA_F32), .out = scores});
    if (s->causal)
        scores = mask(a, &o, s, scores, whole);
    matmul(a, &o, softmax(a, &o, s, scores, whole), memory_tensor(a, V, s), memory_tensor(a, O, s));
    a->graph = make(a, KIND_GRAPH);
    set(a, a->graph, GRAPH_HANDLE, TYPE_HANDLE, 1, &a->c->handle);
    set(a, a->graph, GRAPH_OPERATIONS, TYPE_DESCRIPTOR, o.count, o.items);
    finalize(a, a->graph, "the graph");
}

/* ---- choosing an engine ---- */

/* The configurations that a heuristic proposes, best first. */
static int propose(struct attention *a, int mode, descriptor *configs)
{
    int64_t found = 0;
    descriptor h = make(a, KIND_HEURISTIC);
    set_link(a, h, HEURISTIC_GRAPH, a->graph);
    set_word(a, h, HEURISTIC_MODE, TYPE_HEURISTIC_MODE, mode);
    finalize(a, h, "the choice of an engine");
    for (int i = 0; i < CONFIGS_MAX; i++)
        configs[i] = make(a, KIND_CONFIG);
    if (!a->r)
        (void)step(a, "the choice of an engine",
                   a->c->get(h, HEURISTIC_RESULTS, TYPE_DESCRIPTOR, CONFIGS_MAX, &found, configs));
    return a->r ? 0 : (int)found;
}

/* An engine may refuse when it is built: then the next. */
static bool try_config(struct attention *a, descriptor config)
{
    descriptor plan = make(a, KIND_PLAN);
    set(a, plan, PLAN_HANDLE, TYPE_HANDLE, 1, &a->c->handle);
    set_link(a, plan, PLAN_CONFIG, config);
    if (a->r || a->c->finalize(plan) != 0)
        return false;
    a->plan = plan;
    return true;
}

static void choose(struct attention *a)
{
    static const int modes[] = {HEURISTIC_A, HEURISTIC_FALLBACK};
    descriptor configs[CONFIGS_MAX];
    for (int m = 0; m < 2 && !a->plan && !a->r; m++) {
        const int n = propose(a, modes[m], configs);
        for (int i = 0; i < n && !a->plan && !a->r; i++)
            (void)try_config(a, configs[i]);
    }
}

/* ---- slots ---- */

static void pack_lane(struct attention *a, const struct backend *b, const struct shape *s, int lane,
                      cu_pointer output)
{
    int64_t uids[VIRTUAL] = {Q, K, V, O, SCALE};
    void *data[VIRTUAL] = {(void *)(uintptr_t)b->q, (void *)(uintptr_t)b->k,
                           (void *)(uintptr_t)b->v, (void *)(uintptr_t)output, &a->scale};
    void *workspace = (void *)(uintptr_t)a->workspaces[lane];
    int n = 5;
    if (s->causal) {
        uids[n] = NEGATIVE;
        data[n++] = &a->negative;
    }
    if (s->causal && s->Sq != s->Sk) {
        uids[n] = SHIFT;
        data[n++] = &a->shift;
    }
    descriptor pack = a->packs[lane] = make(a, KIND_PACK);
    set(a, pack, PACK_UIDS, TYPE_INT64, n, uids);
    set(a, pack, PACK_POINTERS, TYPE_POINTER, n, data);
    set(a, pack, PACK_WORKSPACE, TYPE_POINTER, 1, &workspace);
    finalize(a, pack, "the arguments");
}

static enum status refuse(const struct attention *a, struct err *err)
{
    if (a->r)
        return err_set(err, ST_NO, "cudnn: cuDNN refuses %s: %s (%d)", a->what,
                       a->c->error_text(a->r), a->r);
    char said[1024] = "";
    if (a->c->last_error)
        a->c->last_error(said, sizeof said);
    const char *why = strstr(said, "Reason: ");
    return err_set(err, ST_NO,
                   "cudnn: cuDNN has no fused engine for this shape on this device%s%.*s",
                   why ? ": " : "", why ? (int)strcspn(why + 8, "\n") : 0, why ? why + 8 : "");
}

static enum status alloc_workspaces(struct backend *b, struct attention *a, struct err *err)
{
    int64_t bytes = 0, n = 0;
    if (!step(a, "the workspace's size",
              a->c->get(a->plan, PLAN_WORKSPACE, TYPE_INT64, 1, &n, &bytes)))
        return refuse(a, err);
    enum status st = ST_OK;
    while (a->nlanes < b->nstreams && st == ST_OK)
        st = cuda_alloc(b, "cudnn: its workspace", (size_t)bytes, &a->workspaces[a->nlanes++], err);
    return st;
}

static enum status load(struct backend *b, struct slot *s, const struct param_values *v,
                        struct err *err)
{
    enum status st = need_cudnn(b, err);
    (void)v;
    if (st != ST_OK)
        return st;
    struct attention *a = s->peer_data = xcalloc(1, sizeof *a);
    a->c = b->cudnn;
    a->next_uid = 100;
    a->scale = (float)(1 / sqrt((double)b->shape.D));
    a->negative = -INFINITY;
    a->shift = (int32_t)(b->shape.Sk - b->shape.Sq);
    a->packs = xcalloc((size_t)b->nstreams, sizeof *a->packs);
    a->workspaces = xcalloc((size_t)b->nstreams, sizeof *a->workspaces);
    build_graph(a, &b->shape);
    choose(a);
    if (!a->plan)
        return refuse(a, err);
    const unsigned n = (unsigned)a->c->version();
    s->version = xasprintf("cuDNN %u.%u.%u", n / 10000, n / 100 % 100, n % 100);
    s->commands = 4;
    return alloc_workspaces(b, a, err);
}

static void unload(struct backend *b, struct slot *s)
{
    struct attention *a = s->peer_data;
    if (!a)
        return;
    for (int i = a->count; i-- > 0 && !b->spent;)
        (void)a->c->free(a->all[i]);
    for (int i = 0; i < a->nlanes; i++)
        cuda_release(b, &a->workspaces[i]);
    free(a->packs);
    free(a->workspaces);
    free(a);
}

/* Lanes are made after loading, so arguments are packed when they are first needed. */
static enum status queue(struct backend *b, struct slot *s, int lane, struct err *err)
{
    struct attention *a = s->peer_data;
    if (!a->packs[lane])
        pack_lane(a, b, &b->shape, lane, s->lanes[lane].output + OUTPUT_GUARD_BYTES);
    if (a->r)
        return refuse(a, err);
    int r = a->c->set_stream(a->c->handle, b->streams[lane]);
    if (r == 0)
        r = a->c->execute(a->c->handle, a->plan, a->packs[lane]);
    return r == 0 ? ST_OK
                  : err_set(err, ST_FAIL, "cudnn: cudnnBackendExecute: %s (%d)",
                            a->c->error_text(r), r);
}

const struct cuda_peer cuda_peer_cudnn = {
    .name = "cudnn",
    .load = load,
    .queue = queue,
    .unload = unload,
    .close = close_cudnn,
};
