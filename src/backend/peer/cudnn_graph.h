/* cudnn_graph.h - attention as a graph of cuDNN's operations, and the engine that is to run it.
 *
 * After a failure every step does nothing; `r` and `what` say which one failed first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDNN_GRAPH_H
#define ATTNSCOPE_BACKEND_CUDNN_GRAPH_H

#include "backend/finder.h"
#include "backend/peer/cuda_peer.h"

/* Of cuDNN 9. tests/unit/test_cuda_abi.c compares with NVIDIA's cudnn_graph.h where there is one. */
#include "backend/peer/cudnn_abi.h"

typedef struct cudnn_handle *cudnn_handle;
typedef void *descriptor;

/* X(member, symbol, result, parameters); every call but error_text returns 0 or a code. */
// clang-format off
#define CUDNN_ENTRIES(X)                                                                           \
    X(create,     "cudnnCreate",                   int, (cudnn_handle *h))                         \
    X(destroy,    "cudnnDestroy",                  int, (cudnn_handle h))                          \
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
    struct found found;
    void (*last_error)(char *text, size_t size); /* what it says to itself; NULL before 9.0 */
    cudnn_handle handle;
#define CUDNN_MEMBER(member, symbol, result, params) result(*member) params;
    CUDNN_ENTRIES(CUDNN_MEMBER)
#undef CUDNN_MEMBER
};

/* Names of tensors in the graph. Those before VIRTUAL have memory; CAUSAL ones only if needed. */
enum { Q, K, V, O, SCALE, NEGATIVE, SHIFT, VIRTUAL };

enum { DESCRIPTORS_MAX = 256 };

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

/* False, and `what` is what failed, once any step has returned another code than 0. */
bool cudnn_step(struct attention *a, const char *what, int r);
/* A new descriptor, freed with the attention; NULL after a failure. */
descriptor cudnn_make(struct attention *a, int kind);
void cudnn_set(struct attention *a, descriptor d, int name, int type, int64_t count,
               const void *values);
descriptor cudnn_finalize(struct attention *a, descriptor d, const char *what);

/* a->graph: attention of this shape. */
void cudnn_build_graph(struct attention *a, const struct shape *s);
/* a->plan: the first engine that builds; NULL when none does. */
void cudnn_choose(struct attention *a);

#endif
