/* backend.h - who runs a kernel: one small vtable for the CPU, CUDA and the PTX simulator.
 *
 * A backend lives in the worker process. It owns device copies of the inputs and the outputs of
 * the kernels that are loaded ("slots"), so that several kernels can be timed in turn.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_BACKEND_H
#define ATTNSCOPE_BACKEND_BACKEND_H

#include <jansson.h>
#include <stdbool.h>

#include "backend/look.h"
#include "backend/peak.h"
#include "backend/trace.h"
#include "kernel/registry.h"
#include "spec/input.h"

struct backend; /* an opened one */

/* The row of a backend stands in its file, above the functions of its vtable: BACKEND_ROW(NAME, members of
 * struct backend_info); front ends have it without linking that file, since the build copies the rows of
 * `backends` in local.mk into backend_table.h: names.c makes the table that everybody reads, backend.c the one
 * that the worker runs. */
#define BACKEND_ROW(name_, ...) extern const struct backend_ops backend_##name_

/* What everybody may know of a backend without linking it. */
struct backend_info {
    const char *name;      /* "cpu", as in backend=cpu */
    const char *title;     /* "CPU", in sentences */
    const char *doc;       /* "C kernels on threads" */
    enum kernel_side side; /* whose descriptors it takes */
    int rank;           /* the highest of those present runs what names none; 0: only when named */
    const char *origin; /* of its rows: "live", or "sim" */
    int devices;        /* of device=; 0: only the worker knows */
    const char
        *options[10]; /* keys of `set` that mean something to this one and not to all: "threads" */
    bool gpu;         /* a GPU of this machine runs it: `device` of its rows is a model of the
                              table of devices, and without it the exit status is ST_NO_GPU */
    bool times;       /* has a clock: without one, rows have a check and no times */
    bool counts;      /* has counters: the hardware's, or its own */
    bool (*present)(void); /* could this machine run it? NULL: every one can */
    const char *needs;     /* "a GPU"; with `present` */
    const char *absent;    /* why not, as part of a sentence: "no NVIDIA driver is loaded here" */
};
extern const struct backend_info backend_rows[]; /* name NULL ends */
/* "auto", then every name: the values of the option; NULL ends. backend_names: without "auto". */
extern const char *const backend_words[], *const backend_names[];

/* NULL: there is none of that name (NULL has none). */
const struct backend_info *backend_info(const char *name);
/* Whether this machine looks as if it could run it. A driver is not loaded to find out; the worker
 * may still answer ST_NO_GPU. */
bool backend_is_here(const struct backend_info *b);
/* The same by name; false for one that is none. */
bool backend_present(const char *name);
/* Who runs what names no backend. */
const struct backend_info *backend_usual(void);
/* Where figures come from that this one takes, by name; NULL or "auto": the usual one. */
const char *backend_origin(const char *name);
/* One that every machine has. */
const struct backend_info *backend_everywhere(void);
/* The one that counts and takes no times: it stands for a GPU where there is none. */
const struct backend_info *backend_simulator(void);
/* The one whose kernels run on a GPU of this machine, and whether there is such a GPU. */
const struct backend_info *backend_gpu(void);
bool backend_gpu_is_here(void);
/* Were figures of this backend, by name, taken on a GPU? False for NULL. */
bool backend_is_gpu(const char *name);
/* Does it heed the option of this name? One that no row of the table has is everybody's. */
bool backend_heeds(const struct backend_info *b, const char *option);
/* What kernel k is on it; NULL: it has no such side. */
const struct kernel_desc *backend_desc(const struct backend_info *b, const struct kernel *k);

/* How a GPU is given its work when timed. AUTO: single runs through the stream, many as a graph. */
enum launch_kind { LAUNCH_AUTO, LAUNCH_STREAM, LAUNCH_GRAPH };

/* What carries data between GPUs of a ring. AUTO: NCCL, and copies by the driver where it is not to be had. PEER: copies that go
 * straight from GPU to GPU, and AUTO where they do not. */
enum transport_kind { TRANSPORT_AUTO, TRANSPORT_NCCL, TRANSPORT_COPIES, TRANSPORT_PEER };

enum { BACKEND_GPUS_MAX = 16 };
struct backend_options {
    int device;  /* index among the backend's devices */
    int threads; /* CPU backend, simulator: 0 for all */
    int streams; /* concurrent launches, 1 by default */
    int launch;  /* enum launch_kind */
    int blocks;  /* enum sim_blocks */
    int hazards; /* enum sim_hazards */
    int gpus;    /* that share a run as a ring; 1: one, which shares it with nobody */
    int shards;  /* enum ring_shards: how its sequence is cut */
    int devices[BACKEND_GPUS_MAX]; /* of a ring, in its order; one may come more than once */
    int transport;                 /* enum transport_kind */
    int world,
        rank; /* GPUs of a ring over several machines, and the first one's place of those here; 0: all are here */
    char world_id[128]; /* by which they find each other: NCCL's */
    const char
        *nodes;  /* machines that share it, for who asks them (job/nodes.h); NULL: this one alone */
    int without; /* the simulator: which line that orders threads is left out, from 1; 0: none */
    double sim_s; /* wall-clock seconds that a simulated run may take; 0: as many as it needs */
    int cc; /* the simulator: of the GPU whose tensor cores it adds like; 0, or too old for the PTX: of one that it is for */
    char ptx_from[64]; /* the simulator: PTX of this compiler or none; "": any */
    bool counting; /* counts are wanted as those of a timed run, which is not asked for its LSE */
};

/* Which blocks of a grid are simulated; AUTO: all that take seconds and not minutes. SOME: those of which a probe proves that
 * they stand for the others. FEW: both ends and the middle, taken for all without a proof. */
enum sim_blocks { SIM_BLOCKS_AUTO, SIM_BLOCKS_ALL, SIM_BLOCKS_SOME, SIM_BLOCKS_FEW };
/* Whether races are looked for; AUTO: below a GFLOP. */
enum sim_hazards { SIM_HAZARDS_AUTO, SIM_HAZARDS_ON, SIM_HAZARDS_OFF };

/* Told of a run that takes its time, several times a second while it gets on: the share that is done, NaN: unknown, and
 * seconds so far, NaN: unknown. False: it should stop, if it can. */
struct run_watch {
    bool (*go_on)(void *ctx, double share, double seconds);
    void *ctx;
};

/* A loaded kernel: its plan, workspace and output. */
struct slot;

/* What no kernel can do on it; unknown figures are NaN. */
struct backend_limits {
    double flops_per_s; /* theoretical peak at the highest clock, of any unit */
    double least_s;     /* a launch that does nothing takes longer */
};

/* What kernels of programs that are not ours have done on the device. */
enum { BACKEND_OTHERS_NAME = 64 };
struct backend_others {
    double share; /* of the SMs' time that they had, 0..1; NaN: it cannot be known */
    bool
        here; /* programs are there that could begin a kernel now, and do not queue as ours do (job/gpu_lock.h) */
    char name[BACKEND_OTHERS_NAME]; /* "python3 (process 450)": the busiest; "" */
};

struct backend_ops {
    double load_s;   /* seconds that open or load may take, for deadlines; 0: no time at all */
    double sample_s; /* a hot sample should last this long, for the clock's resolution; 0: 20 us */
    enum status (*open)(const struct backend_options *o, struct backend **out, struct err *err);
    void (*close)(struct backend *b);
    /* What it runs on, for rows: "Intel Xeon ..., 2 threads, AVX-512". Borrowed. */
    const char *(*device_name)(const struct backend *b);
    /* Further fields of a row as an object that the caller owns: driver, cuda, launch, and in
     * `reason` what should be known but stops nothing. `s` may be NULL. Optional. */
    json_t *(*describe)(const struct backend *b, const struct slot *s);
    /* Fields of every row, also of a kernel that could not be loaded. Optional. */
    json_t *(*describe_machine)(const struct backend *b);
    /* Fields of a row that the last run() has told: counts, hazards, and in `check` and `reason` that these make it
     * fail. Optional. */
    json_t *(*outcome)(const struct backend *b, const struct slot *s);
    /* Has the last run() left parts of the output out? Then there is nothing to judge, and `reason` of the outcome says
     * so. Optional. */
    bool (*partial)(const struct backend *b, const struct slot *s);
    /* Whom runs tell of their progress from now on; borrowed. Optional: who cannot see any has no use for it. */
    void (*watch)(struct backend *b, const struct run_watch *w);
    /* Compute capability times ten. Optional: only GPUs have one. */
    int (*sm)(const struct backend *b);
    /* True once a fault has made this process useless: it should end, and another start. Every call
     * but close and unload fails then. Optional. */
    bool (*spent)(const struct backend *b);
    /* What others must not use while it measures: "0000:01:00.0", a device's address; several with commas between
     * them. Borrowed; NULL: nothing. Optional. */
    const char *(*lock_name)(const struct backend *b);
    /* Who else has computed on it in the last `ago_s` seconds; with 0 only who is there. Costs milliseconds. Optional. */
    void (*others)(const struct backend *b, double ago_s, struct backend_others *out);
    /* Makes the inputs available; replaces earlier ones and drops all slots. A backend that reads them where they are takes
     * them over, and leaves NULL in their place. */
    enum status (*set_inputs)(struct backend *b, const struct problem *p, struct tensors *host,
                              struct err *err);
    /* Compiles or finds the kernel, allocates workspace and a guarded output. */
    enum status (*load)(struct backend *b, const struct kernel *k, const struct param_values *v,
                        struct slot **out, struct err *err);
    void (*unload)(struct backend *b, struct slot *s);
    /* One untimed run on the problem's own inputs, into a poisoned output with guard bands intact
     * afterwards or not. err_caught() when it has overwritten its inputs. */
    enum status (*run)(struct backend *b, struct slot *s, struct err *err);
    /* After run(): the same once more as a timed run is, where run() was asked for more (LSE). outcome() and profile()
     * have the counts of this one; what run() has found stays found. Optional: who counts as it runs. */
    enum status (*count)(struct backend *b, struct slot *s, struct err *err);
    /* What follows up to `limits`, and flush and sample, is for backends that have a clock; the others leave it out. */
    /* How many runs may share a sample, each with inputs of its own: at least 1. */
    int (*sets)(const struct backend *b, const struct slot *s);
    /* Before every sample, untimed: run i of it finds the inputs of turn + i (input_turn_bytes()) and a
     * poisoned output. */
    enum status (*prepare)(struct backend *b, struct slot *s, uint64_t turn, int runs,
                           struct err *err);
    /* After a sample, untimed: ST_FAIL with a sentence when a run of it wrote to its inputs, or had not
     * written its output when it was over. `all`: guard bands, too, of every run so far. */
    enum status (*inspect)(struct backend *b, struct slot *s, bool all, struct err *err);
    /* Of kernels on inputs of this type. Optional. */
    struct backend_limits (*limits)(const struct backend *b, enum dtype dtype);
    /* Copies the output of run i of the last sample, or of run() with i = 0, (shape's dtype and layout) with
     * `guard` bytes before and after it, as the run left them, to `dst`. */
    enum status (*read_output)(struct backend *b, struct slot *s, int i, void *dst,
                               struct err *err);
    size_t (*output_bytes)(const struct backend *b); /* guards included */
    /* Copies the LSE that the last run() wrote, B * H * Sq floats between guard bands as an output has them, to
     * `dst`: what holds output_poison_f32 was not written. ST_NO: no LSE was asked of it. Optional. */
    enum status (*read_lse)(struct backend *b, struct slot *s, void *dst, struct err *err);
    /* Evicts inputs from the caches, as the L2 flush on a GPU. */
    void (*flush)(struct backend *b);
    /* One timed sample: `repeat` back-to-back runs, at most sets(), seconds per run in *seconds. clock_mhz
     * may be NaN. */
    enum status (*sample)(struct backend *b, struct slot *s, int repeat, double *seconds,
                          double *clock_mhz, struct err *err);
    /* A warm run, and one with stamps at the begin and end of every block; `watch` is told of each. `out` is
     * cleared by the caller whatever the status. The run's output is not looked at. Optional. */
    enum status (*trace)(struct backend *b, struct slot *s, const struct trace_watch *watch,
                         struct block_trace *out, struct err *err);
    /* Measures what the device can do. `watch` is told of each figure before it is measured. `out` is set and
     * must be cleared whatever the status; figures that cannot be had stay unknown. Optional. */
    enum status (*peak)(struct backend *b, const struct peak_watch *watch, struct peak *out,
                        struct err *err);
    /* Counters of one run, replayed as often as they need. Puts into the object `out`: plan
     * (as plan_to_json(), of the code that runs, also when counting fails), counters (fields of
     * backend/counters.h), launches (the same of each launch, with name), replays, replay, l2. ST_NO:
     * they cannot be had, and the sentence has the remedy. Optional. */
    enum status (*profile)(struct backend *b, struct slot *s, bool cold, json_t *out,
                           struct err *err);
    /* Looks at a line while the kernel runs, and at nothing else: no output comes of it, and run() need not have been
     * called. Puts what was seen into the object `out`. ST_USAGE: there is no such line. Optional. */
    enum status (*look)(struct backend *b, struct slot *s, const struct look_at *l, json_t *out,
                        struct err *err);
    /* Asks about a block of the kernel that is held still, from the first ask on and until it is unloaded; `ask` is
     * JSON text of `len` bytes, and *answer the object of backend/debug.h, which the caller owns. ST_OK though an ask
     * was refused, which the answer says; else the block is lost. run_watch may stop it. Optional. */
    enum status (*debug)(struct backend *b, struct slot *s, const char *ask, size_t len,
                         json_t **answer, struct err *err);
};

/* Poison and guards: a quiet NaN pattern no kernel writes by accident. See measure/verify.h. A guard is as wide as a tile of
 * 128 rows of 128 16-bit elements, so that a kernel that stores one tile too many is seen. */
enum { OUTPUT_GUARD_BYTES = 32 << 10 };
extern const unsigned char output_poison_f32[4], output_poison_f16[2], output_guard_byte;
/* Poisons `bytes` bytes, which are whole elements of type `t`. */
void output_poison(void *first, size_t bytes, enum dtype t);
/* The guards before and behind these bytes. */
void output_guard(void *first, size_t bytes);

/* Only for the worker: this links every backend and its kernels. NULL: there is none of that name. */
const struct backend_ops *backend_find(const char *name);

/* What the driver calls GPU `index` ("NVIDIA H200"), read from /proc/driver/nvidia/gpus (or from
 * the folder that $ATTNSCOPE_PROC_GPUS names, for tests) without loading a driver. False where
 * there is no such folder, as in WSL and on Jetson, and on a machine with GPUs of several models:
 * CUDA numbers those by speed. */
bool backend_gpu_name(int index, char *name, size_t size);

#endif
