/* gpu.h - one opened GPU: the driver, its streams and memory, what it is, whether it is lost.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_GPU_H
#define ATTNSCOPE_BACKEND_CUDA_GPU_H

#include "backend/cuda/cuda_api.h"
#include "backend/cuda/nvml.h"
#include "plan/device.h"

enum { CUDA_STREAMS_MAX = 64 };

struct gpu {
    struct cuda_api api;
    int index; /* among the driver's devices */
    cu_device device;
    cu_context context;
    bool retained;
    char bus[32]; /* "0000:01:00.0"; "": unknown */
    char turns
        [48]; /* whose use takes turns: the bus id, of a slice by MIG with its own; "": unknown */
    struct nvml *nvml;          /* NULL: none */
    struct device_table *table; /* whose texts `model` borrows */
    struct device model;        /* the real device: the table's row, the driver's figures */
    char *name;                 /* "NVIDIA H200", as the driver says */
    char *note;                 /* where the device differs from the tables, or NULL */
    char cuda_version[16];      /* of the driver: "13.0" */
    cu_stream streams[CUDA_STREAMS_MAX]; /* [0] does everything but concurrent launches */
    int nstreams;
    char *spent; /* why nothing can run any more; NULL: it can */
};

/* Opens device `index` with that many streams. Close it whatever the status. ST_NO_GPU: there is none. */
enum status gpu_open(struct gpu *g, int index, int streams, struct err *err);
void gpu_close(struct gpu *g);

/* ST_OK for CU_SUCCESS; else a sentence "who: call: what the driver says". A sticky result spends
 * the GPU; then the sentence names the cause in words. `who` is a kernel's name, or NULL. */
enum status gpu_check(struct gpu *g, const char *who, const char *call, cu_result r,
                      struct err *err);
/* ST_FAIL when it is spent. */
enum status gpu_alive(const struct gpu *g, const char *who, struct err *err);
/* Strict: differences between planner and machine are errors. For tests: ATTNSCOPE_STRICT=1. */
bool gpu_strict(void);

/* Device memory. `what` begins the sentence when there is not enough. */
enum status gpu_alloc(struct gpu *g, const char *what, size_t bytes, cu_pointer *out,
                      struct err *err);
void gpu_release(struct gpu *g, cu_pointer *p);
/* Copies to the device, and waits until all has arrived there: cuMemcpyHtoD returns when ordinary memory is staged, and
 * our streams do not wait for the one that carries it on (CUDA Driver API, "API synchronization behavior"). */
enum status gpu_copy_in(struct gpu *g, const char *who, cu_pointer to, const void *from,
                        size_t bytes, struct err *err);

#endif
