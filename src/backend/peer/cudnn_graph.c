/* cudnn_graph.c - attention as cuDNN wants it described, and the choice of an engine.
 *
 * A graph of operations on tensors that never exist (virtual ones):
 *
 *   S = Q K^T, scaled; causal: S where row + Sk - Sq >= column, else -inf
 *   P = exp(S - max) / sum, per row; O = P V
 *
 * cuDNN recognises the pattern and its heuristics name engines; the first that builds is taken. This
 * is what cuDNN's C++ front end emits. The single attention operation that 9.13 brought would be
 * shorter, but knows masks only from 9.20 on. Grouped heads need nothing: K and V have fewer heads.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/peer/cudnn_graph.h"

#include <stdlib.h>

enum { CONFIGS_MAX = 16 };

/* ---- descriptors; after a failure everything does nothing ---- */

bool cudnn_step(struct attention *a, const char *what, int r)
{
    if (r == 0 || a->r)
        return !a->r;
    a->r = r;
    a->what = what;
    return false;
}

descriptor cudnn_make(struct attention *a, int kind)
{
    descriptor d = NULL;
    if (a->r || a->count == DESCRIPTORS_MAX || !cudnn_step(a, "a descriptor", a->c->make(kind, &d)))
        return NULL;
    return a->all[a->count++] = d;
}

void cudnn_set(struct attention *a, descriptor d, int name, int type, int64_t count,
               const void *values)
{
    if (!a->r)
        (void)cudnn_step(a, "an attribute", a->c->set(d, name, type, count, values));
}

static void set_link(struct attention *a, descriptor d, int name, descriptor to)
{
    cudnn_set(a, d, name, TYPE_DESCRIPTOR, 1, &to);
}

static void set_int(struct attention *a, descriptor d, int name, int64_t value)
{
    cudnn_set(a, d, name, TYPE_INT64, 1, &value);
}

static void set_word(struct attention *a, descriptor d, int name, int type, int value)
{
    cudnn_set(a, d, name, type, 1, &value);
}

descriptor cudnn_finalize(struct attention *a, descriptor d, const char *what)
{
    if (!a->r)
        (void)cudnn_step(a, what, a->c->finalize(d));
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
    descriptor d = cudnn_make(a, KIND_TENSOR);
    const char yes = 1;
    set_int(a, d, TENSOR_UID, uid);
    set_word(a, d, TENSOR_TYPE, TYPE_DATA_TYPE, type);
    set_int(a, d, TENSOR_ALIGNMENT, place == BY_VALUE ? 4 : 16);
    cudnn_set(a, d, TENSOR_DIMENSIONS, TYPE_INT64, 4, s.dim);
    cudnn_set(a, d, TENSOR_STRIDES, TYPE_INT64, 4, s.stride);
    if (place != IN_MEMORY)
        cudnn_set(a, d, place == NOWHERE ? TENSOR_VIRTUAL : TENSOR_BY_VALUE, TYPE_BOOLEAN, 1, &yes);
    return cudnn_finalize(a, d, "a tensor");
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
    descriptor how = cudnn_make(a, KIND_MATMUL), d;
    set_word(a, how, MATMUL_COMPUTE, TYPE_DATA_TYPE, DATA_F32);
    cudnn_finalize(a, how, "a matrix product");
    d = cudnn_make(a, KIND_OPERATION_MATMUL);
    set_link(a, d, OPERATION_MATMUL_A, x);
    set_link(a, d, OPERATION_MATMUL_B, y);
    set_link(a, d, OPERATION_MATMUL_C, out);
    set_link(a, d, OPERATION_MATMUL_HOW, how);
    add(o, cudnn_finalize(a, d, "a matrix product"));
}

/* Element by element: out = mode(x, y, t); y and t may be NULL. `axis` counts for POINTWISE_INDEX. */
struct pointwise {
    int mode, compute, axis;
    descriptor x, y, t, out;
};

static void pointwise(struct attention *a, struct operations *o, struct pointwise p)
{
    descriptor how = cudnn_make(a, KIND_POINTWISE), d;
    set_word(a, how, POINTWISE_MODE, TYPE_POINTWISE_MODE, p.mode);
    set_word(a, how, POINTWISE_COMPUTE, TYPE_DATA_TYPE, p.compute);
    if (p.mode == POINTWISE_INDEX)
        set_int(a, how, POINTWISE_AXIS, p.axis);
    cudnn_finalize(a, how, "a pointwise operation");
    d = cudnn_make(a, KIND_OPERATION_POINTWISE);
    set_link(a, d, OPERATION_POINTWISE_HOW, how);
    set_link(a, d, OPERATION_POINTWISE_X, p.x);
    if (p.y)
        set_link(a, d, OPERATION_POINTWISE_B, p.y);
    if (p.t)
        set_link(a, d, OPERATION_POINTWISE_T, p.t);
    set_link(a, d, OPERATION_POINTWISE_Y, p.out);
    add(o, cudnn_finalize(a, d, "a pointwise operation"));
}

static descriptor reduce(struct attention *a, struct operations *o, int mode, descriptor x,
                         struct sizes s)
{
    descriptor how = cudnn_make(a, KIND_REDUCTION), d, out = virtual_tensor(a, DATA_F32, s);
    set_word(a, how, REDUCTION_MODE, TYPE_REDUCTION_MODE, mode);
    set_word(a, how, REDUCTION_COMPUTE, TYPE_DATA_TYPE, DATA_F32);
    cudnn_finalize(a, how, "a reduction");
    d = cudnn_make(a, KIND_OPERATION_REDUCTION);
    set_link(a, d, OPERATION_REDUCTION_X, x);
    set_link(a, d, OPERATION_REDUCTION_Y, out);
    set_link(a, d, OPERATION_REDUCTION_HOW, how);
    add(o, cudnn_finalize(a, d, "a reduction"));
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

void cudnn_build_graph(struct attention *a, const struct shape *s)
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
    a->graph = cudnn_make(a, KIND_GRAPH);
    cudnn_set(a, a->graph, GRAPH_HANDLE, TYPE_HANDLE, 1, &a->c->handle);
    cudnn_set(a, a->graph, GRAPH_OPERATIONS, TYPE_DESCRIPTOR, o.count, o.items);
    cudnn_finalize(a, a->graph, "the graph");
}

/* ---- choosing an engine ---- */

/* The configurations that a heuristic proposes, best first. */
static int propose(struct attention *a, int mode, descriptor *configs)
{
    int64_t found = 0;
    descriptor h = cudnn_make(a, KIND_HEURISTIC);
    set_link(a, h, HEURISTIC_GRAPH, a->graph);
    set_word(a, h, HEURISTIC_MODE, TYPE_HEURISTIC_MODE, mode);
    cudnn_finalize(a, h, "the choice of an engine");
    for (int i = 0; i < CONFIGS_MAX; i++)
        configs[i] = cudnn_make(a, KIND_CONFIG);
    if (!a->r)
        (void)cudnn_step(
            a, "the choice of an engine",
            a->c->get(h, HEURISTIC_RESULTS, TYPE_DESCRIPTOR, CONFIGS_MAX, &found, configs));
    return a->r ? 0 : (int)found;
}

/* An engine may refuse when it is built: then the next. */
static bool try_config(struct attention *a, descriptor config)
{
    descriptor plan = cudnn_make(a, KIND_PLAN);
    cudnn_set(a, plan, PLAN_HANDLE, TYPE_HANDLE, 1, &a->c->handle);
    set_link(a, plan, PLAN_CONFIG, config);
    if (a->r || a->c->finalize(plan) != 0)
        return false;
    a->plan = plan;
    return true;
}

void cudnn_choose(struct attention *a)
{
    static const int modes[] = {HEURISTIC_A, HEURISTIC_FALLBACK};
    descriptor configs[CONFIGS_MAX];
    for (int m = 0; m < 2 && !a->plan && !a->r; m++) {
        const int n = propose(a, modes[m], configs);
        for (int i = 0; i < n && !a->plan && !a->r; i++)
            (void)try_config(a, configs[i]);
    }
}
