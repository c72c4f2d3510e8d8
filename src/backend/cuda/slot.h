/* slot.h - a loaded kernel on one GPU: its plan, code, workspace and output, and its launches.
 *
 * module.c finds or compiles its code; slot.c launches it. A library does the work of a slot behind
 * struct cuda_peer, which the room peer/ fills in.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_SLOT_H
#define ATTNSCOPE_BACKEND_CUDA_SLOT_H

#include "backend/backend.h"
#include "backend/compile/compile.h"
#include "backend/cuda/inputs.h"
#include "backend/foreign.h"
#include "kernel/attn_args.h"
#include "plan/plan.h"

/* What one launch of a sample reads and writes: lane i works in stream i mod nstreams and on the inputs' set
 * i, and has an output of its own. Lanes of one stream share its workspaces. */
struct lane {
    struct PagedArgs args;
    cu_pointer output; /* guard, tensor, guard */
    cu_pointer ws[DESC_WS_MAX];
    struct cu_tensor_map (*maps)[DESC_TMA_MAX]; /* of each pass; NULL: no pass has any */
};

/* Versions of the compilers, by enum compiler: "nvrtc 13.0"; NULL: not asked, or there is none. */
struct compilers {
    char *version[2];
    bool asked[2];
};
void compilers_clear(struct compilers *c);

struct slot {
    struct slot *next;
    struct gpu *gpu;       /* what it runs on, as the next two: borrowed */
    struct inputs *inputs; /* what it reads */
    struct compilers *compilers;
    const struct kernel_desc *desc;
    struct plan plan;    /* with the registers of the code that runs */
    bool parts_f32;      /* its code is to store O in f32: plan.h */
    foreign_fn *library; /* @library: it launches by itself; then there is no module */
    cu_module module;
    cu_function functions[DESC_PASSES_MAX];
    const char *code;        /* where it came from: "cache" "prebuilt" "nvrtc" "nvcc" "file"
                         "library" */
    char *note;              /* where planner and machine differ, or NULL */
    const char *flush_doubt; /* flush.h, of its last cold sample; NULL: none, or there was none */
    cu_pointer outputs;      /* of all lanes */
    cu_pointer lse;          /* guard, a float for each row, guard; 0: not asked yet */
    bool lse_is_fresh;       /* of the last run */
    struct lane *lanes;
    int nlanes; /* a multiple of the GPU's streams, CUDA_STREAMS_MAX at most */
    int runs;   /* rounds of launches, one in every stream, in the last sample */
    double
        behind_s; /* least time that the device was busy after a sample; INFINITY: not looked at */
    int looks;
    bool late; /* after a sample, its output was not written */
    int samples;
    int state_looks,
        held[NVML_HELD_COUNT]; /* looks at the device while it was timed, and what they found */
    int inspected;             /* samples whose rows were looked at */
    struct room {
        char *at;
        size_t bytes;
    } rooms[4];          /* for such a row: of q, o, k, v */
    uint64_t spots;      /* state of the random numbers behind that */
    cu_graph_exec graph; /* of `graph_repeat` runs; NULL: none yet */
    int graph_repeat;
    int commands;                 /* that one run queues */
    const struct cuda_peer *peer; /* a library does the work, or most of it; NULL: none */
    void **opened;                /* what `peer` keeps from slot to slot, as the backend has it */
    void *peer_data;              /* of this slot */
    char *version;                /* of that library, for the row; or NULL */
    const char *launched;         /* how the last sample was launched: "stream" "graph" */
};

/* Another library's attention behind a slot. One that is loaded into the worker queues its work into our
 * streams, so that poisoning, checking, gates, graphs and events are those of our own kernels. One that
 * lives elsewhere, in a process of its own, has the members from `run` on and no `queue`. */
struct cuda_peer {
    const char *name; /* as @peer says */
    /* Opens the library into *s->opened, unless it is there, and prepares the slot: commands, version,
     * peer_data. ST_NO when the library is absent or refuses; the sentence begins with the kernel's name.
     * Whatever it leaves in peer_data after a failure goes to unload. */
    enum status (*load)(struct slot *s, const struct param_values *v, struct err *err);
    enum status (*queue)(struct slot *s, int lane, struct err *err);
    void (*unload)(struct slot *s);
    /* Frees what load has kept in *s->opened; not usable: the process is spent. */
    void (*close)(void *opened, bool usable);
    void (*drop)(void *opened); /* the inputs are to change; may be NULL */
    enum status (*run)(struct slot *s, struct err *err);
    enum status (*prepare)(struct slot *s, uint64_t turn,
                           struct err *err); /* for a sample of one run */
    enum status (*inspect)(struct slot *s, bool all, struct err *err);
    const void *(*output)(const struct slot *s); /* guards included; after fetch */
    enum status (*fetch)(struct slot *s, struct err *err);
    enum status (*read_lse)(struct slot *s, void *dst, struct err *err); /* NULL: it has none */
    enum status (*sample)(struct slot *s, int repeat, bool cold, bool graph, double *seconds,
                          struct err *err);
    json_t *(*describe)(const struct slot *s); /* further fields of its row; the caller owns it */
};

/* Empty but for what it runs on. */
struct slot *slot_new(const struct kernel_desc *d, struct gpu *g, struct inputs *in,
                      struct compilers *c);
void slot_free(struct slot *s);
/* Does it run in a process of its own? */
bool slot_is_elsewhere(const struct slot *s);

/* module.c: plan, module, functions. */
enum status slot_load_code(struct slot *s, const struct param_values *v, struct err *err);
/* Outputs and workspaces, one for each stream of the GPU. */
enum status slot_make_lanes(struct slot *s, struct err *err);

/* One launch (args: AttnArgs, or what begins with them), and the tensor maps of all passes of a plan over these arguments, NULL
 * where it has none: for who has arguments and plans of its own. The caller frees the maps. */
cu_result slot_launch(const struct gpu *g, cu_function f, const struct plan_pass *p, void *args,
                      struct cu_tensor_map *maps, cu_stream stream);
enum status slot_make_maps(struct gpu *g, const char *name, const struct plan *p,
                           const struct AttnArgs *a, struct cu_tensor_map (**out)[DESC_TMA_MAX],
                           struct err *err);

/* Rounds of launches that a sample may have. */
int slot_sets(const struct slot *s);
/* Fresh inputs for that many rounds, and poisoned outputs: before every sample. */
enum status slot_prepare(struct slot *s, uint64_t turn, int runs, struct err *err);
/* After a sample: as backend_ops.inspect. */
enum status slot_inspect(struct slot *s, bool all, struct err *err);

/* Queues one run, all passes, of lane i into its stream. */
enum status slot_queue(struct slot *s, int i, struct err *err);
/* The launches of the plan alone, without a library's. */
enum status slot_queue_passes(struct slot *s, int i, struct err *err);
/* One run into a poisoned output; then inputs are looked at. */
enum status slot_run(struct slot *s, struct err *err);
enum status slot_read_output(struct slot *s, int i, void *dst, struct err *err);
/* As backend_ops.read_lse. */
enum status slot_read_lse(struct slot *s, void *dst, struct err *err);

#endif
