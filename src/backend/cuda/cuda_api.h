/* cuda_api.h - the CUDA driver, opened at run time.
 *
 * Nothing links libcuda: the same program starts on machines that have none. One table lists what
 * is called; each entry says which symbol it is, which older one has the same signature, and
 * whether the backend can do without. Symbols carry their version, because the driver keeps old
 * versions for ever and our prototypes are of one version.
 *
 * Only the worker calls these functions. The library is never closed, and a process that has called
 * cuInit never forks without an exec.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_API_H
#define ATTNSCOPE_BACKEND_CUDA_API_H

#include <stdbool.h>

#include "backend/cuda/cuda_abi.h"
#include "base/status.h"

/* X(member, symbol, older symbol of the same signature or "", required, parameters) */
// clang-format off
#define CUDA_ENTRIES(X)                                                                             \
    X(init,              "cuInit",                    "", 1, (unsigned flags))                      \
    X(driver_version,    "cuDriverGetVersion",        "", 1, (int *version))                        \
    X(error_name,        "cuGetErrorName",            "", 1, (cu_result r, const char **name))      \
    X(error_string,      "cuGetErrorString",          "", 1, (cu_result r, const char **text))      \
    X(device_count,      "cuDeviceGetCount",          "", 1, (int *count))                          \
    X(device_get,        "cuDeviceGet",               "", 1, (cu_device *d, int ordinal))           \
    X(device_name,       "cuDeviceGetName",           "", 1, (char *name, int size, cu_device d))   \
    X(device_memory,     "cuDeviceTotalMem_v2",       "", 1, (size_t *bytes, cu_device d))          \
    X(device_attribute,  "cuDeviceGetAttribute",      "", 1, (int *v, int attribute, cu_device d))  \
    X(device_bus,        "cuDeviceGetPCIBusId",       "", 0, (char *id, int size, cu_device d))     \
    X(device_uuid,       "cuDeviceGetUuid_v2",        "", 0, (unsigned char id[16], cu_device d))   \
    X(primary_retain,    "cuDevicePrimaryCtxRetain",  "", 1, (cu_context *c, cu_device d))          \
    X(primary_release,   "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", 1, (cu_device d)) \
    X(set_current,       "cuCtxSetCurrent",           "", 1, (cu_context c))                        \
    X(device_sync,       "cuCtxSynchronize",          "", 1, (void))                                \
    X(memory_info,       "cuMemGetInfo_v2",           "", 1, (size_t *free, size_t *total))         \
    X(alloc,             "cuMemAlloc_v2",             "", 1, (cu_pointer *p, size_t bytes))         \
    X(free,              "cuMemFree_v2",              "", 1, (cu_pointer p))                        \
    X(copy_in,           "cuMemcpyHtoD_v2",           "", 1, (cu_pointer dst, const void *src, size_t bytes)) \
    X(copy_out,          "cuMemcpyDtoH_v2",           "", 1, (void *dst, cu_pointer src, size_t bytes)) \
    X(copy_on,           "cuMemcpyDtoDAsync_v2",      "", 1, (cu_pointer dst, cu_pointer src, size_t bytes, cu_stream s)) \
    X(copy_peer,         "cuMemcpyPeerAsync",         "", 0, (cu_pointer dst, cu_context to, cu_pointer src, cu_context from, size_t bytes, cu_stream s)) \
    X(peer_can,          "cuDeviceCanAccessPeer",     "", 0, (int *can, cu_device d, cu_device other)) \
    X(peer_enable,       "cuCtxEnablePeerAccess",     "", 0, (cu_context other, unsigned flags))    \
    X(fill8,             "cuMemsetD8Async",           "", 1, (cu_pointer p, unsigned char v, size_t n, cu_stream s)) \
    X(fill16,            "cuMemsetD16Async",          "", 1, (cu_pointer p, unsigned short v, size_t n, cu_stream s)) \
    X(fill32,            "cuMemsetD32Async",          "", 1, (cu_pointer p, unsigned v, size_t n, cu_stream s)) \
    X(module_load,       "cuModuleLoadData",          "", 1, (cu_module *m, const void *image))     \
    X(module_unload,     "cuModuleUnload",            "", 1, (cu_module m))                         \
    X(module_function,   "cuModuleGetFunction",       "", 1, (cu_function *f, cu_module m, const char *name)) \
    X(function_get,      "cuFuncGetAttribute",        "", 1, (int *v, int attribute, cu_function f)) \
    X(function_set,      "cuFuncSetAttribute",        "", 1, (cu_function f, int attribute, int v)) \
    X(occupancy,         "cuOccupancyMaxActiveBlocksPerMultiprocessor", "", 1, (int *blocks, cu_function f, int threads, size_t smem)) \
    X(occupancy_cluster, "cuOccupancyMaxActiveClusters", "", 0, (int *clusters, cu_function f, const struct cu_launch_config *c)) \
    X(launch,            "cuLaunchKernel",            "", 1, (cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned smem, cu_stream s, void **params, void **extra)) \
    X(launch_ex,         "cuLaunchKernelEx",          "", 0, (const struct cu_launch_config *c, cu_function f, void **params, void **extra)) \
    X(tensor_map,        "cuTensorMapEncodeTiled",    "", 0, (struct cu_tensor_map *map, int type, unsigned rank, void *address, const uint64_t *dims, const uint64_t *strides, const unsigned *box, const unsigned *element_strides, int interleave, int swizzle, int l2_promotion, int fill)) \
    X(stream_create,     "cuStreamCreate",            "", 1, (cu_stream *s, unsigned flags))        \
    X(stream_create_first, "cuStreamCreateWithPriority", "", 0, (cu_stream *s, unsigned flags, int priority)) \
    X(stream_query,      "cuStreamQuery",             "", 0, (cu_stream s))                         \
    X(stream_destroy,    "cuStreamDestroy_v2",        "", 1, (cu_stream s))                         \
    X(stream_sync,       "cuStreamSynchronize",       "", 1, (cu_stream s))                         \
    X(stream_wait,       "cuStreamWaitEvent",         "", 1, (cu_stream s, cu_event e, unsigned flags)) \
    X(event_create,      "cuEventCreate",             "", 1, (cu_event *e, unsigned flags))         \
    X(event_destroy,     "cuEventDestroy_v2",         "", 1, (cu_event e))                          \
    X(event_record,      "cuEventRecord",             "", 1, (cu_event e, cu_stream s))             \
    X(event_elapsed,     "cuEventElapsedTime",        "cuEventElapsedTime_v2", 1, (float *ms, cu_event from, cu_event to)) \
    X(capture_begin,     "cuStreamBeginCapture_v2",   "", 0, (cu_stream s, int mode))               \
    X(capture_end,       "cuStreamEndCapture",        "", 0, (cu_stream s, cu_graph *g))            \
    X(graph_instantiate, "cuGraphInstantiateWithFlags", "", 0, (cu_graph_exec *x, cu_graph g, unsigned long long flags)) \
    X(graph_launch,      "cuGraphLaunch",             "", 0, (cu_graph_exec x, cu_stream s))        \
    X(graph_exec_destroy, "cuGraphExecDestroy",       "", 0, (cu_graph_exec x))                     \
    X(graph_destroy,     "cuGraphDestroy",            "", 0, (cu_graph g))                          \
    X(host_alloc,        "cuMemHostAlloc",            "", 0, (void **p, size_t bytes, unsigned flags)) \
    X(host_free,         "cuMemFreeHost",             "", 0, (void *p))                             \
    X(stream_wait_value, "cuStreamWaitValue32_v2",    "", 0, (cu_stream s, cu_pointer p, uint32_t v, unsigned flags))
// clang-format on

struct cuda_api {
    void *library;
    char *path; /* what was opened */
    int driver; /* CUDA version of the driver: 13000 */
    int devices;
#define CUDA_MEMBER(member, symbol, older, required, params) cu_result(*member) params;
    CUDA_ENTRIES(CUDA_MEMBER)
#undef CUDA_MEMBER
};

/* Can it launch clusters; can it replay graphs; can a stream wait for the host? */
bool cuda_has_clusters(const struct cuda_api *a);
bool cuda_has_graphs(const struct cuda_api *a);
bool cuda_has_gate(const struct cuda_api *a);

/* Opens libcuda.so.1 (or what $ATTNSCOPE_LIBCUDA names, for tests; not in a set-id program),
 * resolves the table, calls cuInit and counts the devices. Four failures have four sentences: no
 * library, a stub library (34), no device (100), the system refuses (304); all ST_NO_GPU. A missing
 * required symbol or any other refusal is ST_FAIL. */
enum status cuda_open(struct cuda_api *out, struct err *err);
/* Frees `path`. The library stays. */
void cuda_close(struct cuda_api *a);

/* "the sentence of the driver (700, CUDA_ERROR_ILLEGAL_ADDRESS)" into `buf`. */
const char *cuda_error_text(const struct cuda_api *a, cu_result r, char *buf, size_t size);

/* After such a result every call of this process fails: what happened, in words, or NULL when the
 * result is an ordinary one. */
const char *cuda_sticky(cu_result r);
/* The i-th sticky code, 0 after the last. */
cu_result cuda_sticky_code(int i);

#endif
