/* cuda_state.h - what the CUDA backend's files share; not for others.
 *
 *   cuda.c         the vtable: opening, slots
 *   cuda_device.c  the real device as the planner sees it
 *   cuda_inputs.c  copies of Q, K and V, and whether a kernel has overwritten them
 *   cuda_module.c  code: cache, prebuilt, compiler; functions; planner against machine
 *   cuda_launch.c  arguments, memory, one launch, one checked run
 *   cuda_time.c    samples
 *   cuda_peer.c    other libraries, with cublas.c and cudnn.c (see cuda_peer.h)
 *   cuda_trace.c   a traced build: stamps of blocks
 *   cuda_profile.c hardware counters, with cupti.c and counters.c
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_STATE_H
#define ATTNSCOPE_BACKEND_CUDA_STATE_H

#include "backend/backend.h"
#include "backend/cuda/cuda_api.h"
#include "backend/cpu/foreign.h"
#include "backend/cuda/nvml.h"
#include "backend/peer/python.h"
#include "kernel/attn_args.h"
#include "plan/plan.h"

enum { CUDA_STREAMS_MAX = 64 };

struct backend {
    struct cuda_api api;
    cu_device device;
    cu_context context;
    bool retained;
    char bus[32];               /* "0000:01:00.0"; "": unknown */
    struct nvml *nvml;          /* NULL: none */
    struct device_table *table; /* whose texts `model` borrows */
    struct device model;        /* the real device: the table's row, the driver's figures */
    char *name;                 /* "NVIDIA H200", as the driver says */
    char *note;                 /* where the device differs from the tables, or NULL */
    char cuda_version[16];      /* of the driver: "13.0" */
    cu_stream streams[CUDA_STREAMS_MAX]; /* [0] does everything but concurrent launches */
    int nstreams;
    enum launch_kind launch;
    cu_event begin, end, fork, joins[CUDA_STREAMS_MAX];
    uint32_t *gate; /* streams wait until the host writes `turn` here; NULL: no such thing */
    uint32_t turn;
    cu_pointer sweep; /* at least twice the L2 */
    size_t sweep_bytes;
    cu_module sweep_code;     /* NULL: none yet, or the driver has no compiler for it */
    cu_function sweep_kernel; /* reads `sweep`; NULL: it is overwritten instead */
    bool has_inputs;
    struct shape shape;
    uint64_t seed;
    cu_pointer q, k, v;
    uint64_t inputs_sum; /* of their bytes, as they were copied in */
    void *bounce;        /* for reading them back */
    struct slot *slots;
    int index;               /* among the driver's devices */
    bool flush_asked;        /* the next sample is to find cold caches */
    void *cublas, *cudnn;    /* opened libraries, of cublas.c and cudnn.c; NULL: not needed yet */
    struct pythons *pythons; /* likewise */
    char *compiler[2];       /* by enum compiler: "nvrtc 13.0"; NULL: not asked, or there is none */
    bool asked_compiler[2];
    char *spent; /* why nothing can run any more; NULL: it can */
};

/* One copy of what a launch writes; concurrent launches each have their own. */
struct lane {
    struct AttnArgs args;
    cu_pointer output; /* guard, tensor, guard */
    cu_pointer ws[DESC_WS_MAX];
};

struct slot {
    struct slot *next;
    const struct kernel_desc *desc;
    struct plan plan;    /* with the registers of the code that runs */
    foreign_fn *library; /* @library: it launches by itself; then there is no module */
    cu_module module;
    cu_function functions[DESC_PASSES_MAX];
    const char *code; /* where it came from: "cache" "prebuilt" "nvrtc" "nvcc" "file"
                         "library" */
    char *note;       /* where planner and machine differ, or NULL */
    struct lane *lanes;
    int nlanes;
    cu_graph_exec graph; /* of `graph_repeat` runs; NULL: none yet */
    int graph_repeat;
    int commands;                 /* that one run queues */
    const struct cuda_peer *peer; /* a library does the work, or most of it; NULL: none */
    void *peer_data;
    char *version;              /* of that library, for the row; or NULL */
    struct python_slot *python; /* it runs in Python, and most of the rest is empty; or NULL */
    const char *launched;       /* how the last sample was launched: "stream" "graph" */
};

/* ST_OK for CU_SUCCESS; else a sentence "who: call: what the driver says". A sticky result spends
 * the backend; then the sentence names the cause in words. `who` is a kernel's name, or NULL. */
enum status cuda_check(struct backend *b, const char *who, const char *call, cu_result r,
                       struct err *err);
/* ST_FAIL when the backend is spent. */
enum status cuda_alive(const struct backend *b, const char *who, struct err *err);
/* Strict: differences between planner and machine are errors. For tests: ATTNSCOPE_STRICT=1. */
bool cuda_strict(void);

void cuda_drop_slots(struct backend *b);

/* Device memory. `what` begins the sentence when there is not enough. */
enum status cuda_alloc(struct backend *b, const char *what, size_t bytes, cu_pointer *out,
                       struct err *err);
void cuda_release(struct backend *b, cu_pointer *p);

/* cuda_device.c: fills model, name, note. */
enum status cuda_describe_device(struct backend *b, struct err *err);

/* cuda.c: for a slot that is in no list. */
void cuda_free_slot(struct backend *b, struct slot *s);

/* cuda_trace.c: the kernel's source with stamps at the begin and end of every block, which the
 * caller frees; NULL with a sentence when an entry point is not found. */
char *cuda_trace_source(const struct kernel_desc *d, struct err *err);
enum status cuda_trace(struct backend *b, struct slot *s, const struct trace_watch *watch,
                       struct block_trace *out, struct err *err);

/* cuda_profile.c */
enum status cuda_profile(struct backend *b, struct slot *s, bool cold, json_t *out,
                         struct err *err);

/* cuda_module.c: plan, module, functions of a slot whose desc is set. */
enum status cuda_prepare(struct backend *b, struct slot *s, const struct param_values *v,
                         struct err *err);

/* cuda_inputs.c */
enum status cuda_set_inputs(struct backend *b, const struct problem *p, const struct tensors *host,
                            struct err *err);
void cuda_free_inputs(struct backend *b);
/* ST_OK if the inputs on the device are still what was copied in; else `who` has overwritten them,
 * the backend is spent, and the sentence says so. */
enum status cuda_inputs_intact(struct backend *b, const char *who, struct err *err);

/* cuda_launch.c */
size_t cuda_tensor_bytes(const struct backend *b);
size_t cuda_output_bytes(const struct backend *b);
enum status cuda_make_lanes(struct backend *b, struct slot *s, struct err *err);
void cuda_free_lanes(struct backend *b, struct slot *s);
/* Queues one run, all passes, into stream i, which uses lane i. */
enum status cuda_queue(struct backend *b, struct slot *s, int i, struct err *err);
/* The launches of the plan alone, without a library's. */
enum status cuda_queue_passes(struct backend *b, struct slot *s, int i, struct err *err);
enum status cuda_run(struct backend *b, struct slot *s, struct err *err);
enum status cuda_read_output(struct backend *b, struct slot *s, void *dst, struct err *err);

/* cuda_time.c */
enum status cuda_make_timers(struct backend *b, struct err *err);
void cuda_free_timers(struct backend *b);
enum status cuda_sample(struct backend *b, struct slot *s, int repeat, double *seconds,
                        double *clock_mhz, struct err *err);

/* cuda_flush.c */
size_t cuda_sweep_bytes(const struct backend *b); /* that a flush reads */
/* Takes note: whoever takes the next sample flushes, in the process and stream of its work. */
void cuda_flush(struct backend *b);
/* Queues it into stream 0. Without memory for it the caches stay as they are. */
void cuda_flush_now(struct backend *b);
void cuda_free_sweep(struct backend *b);

#endif
