/* plan.h - what would happen if this kernel ran this shape on that device. Pure arithmetic.
 *
 * The same layout, grid and definitions are what the kernel is compiled and launched with: a
 * backend takes them from here and nowhere else.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_PLAN_H
#define ATTNSCOPE_PLAN_PLAN_H

#include "kernel/descriptor.h"
#include "plan/device.h"
#include "plan/occupancy.h"

struct plan_smem {
    const char *name, *doc; /* borrowed from the descriptor */
    int64_t offset, bytes;  /* in the block's addresses: static buffers first, then dynamic ones */
    bool is_static, overlay;
    char *formula; /* "BC*(D+PAD)*T = 64*(64+8)*2" */
    /* What it holds, where the descriptor says so. */
    const char *type;      /* "f16"; NULL: not said, or only how many bytes an element has */
    int64_t element_bytes; /* INT_UNKNOWN: not said */
    int64_t pitch;         /* elements from row to row; INT_UNKNOWN: no rows */
    int64_t rows;          /* of one of its tiles; INT_UNKNOWN: it is one tile */
    int64_t swizzle; /* bytes of the chunks that change places within a row; INT_UNKNOWN: none do */
};

/* A tensor map: the tensor, and the box that one copy moves. */
struct plan_tma {
    char tensor;           /* 'Q' 'K' 'V' 'O' */
    int64_t rows, columns; /* INT_UNKNOWN where no value came out */
    int swizzle;           /* bytes, or 0 */
};

struct plan_pass {
    const char *name;         /* borrowed */
    int64_t grid[3], threads; /* INT_UNKNOWN where no value came out */
    int64_t cluster;          /* blocks per cluster; 1: none */
    char *grid_formula[3], *threads_formula;
    struct plan_smem smem[DESC_SMEM_MAX];
    int nsmem;
    struct plan_tma
        tma[DESC_TMA_MAX]; /* parameters of the kernel behind the first, in this order */
    int ntma;
    int64_t dynamic_base; /* offset of the dynamic block; SMEM_ definitions count from there */
    int64_t dynamic_smem, static_smem, smem_bytes; /* smem_bytes = both; static as compiled if
                                                      known, else as laid out */
    int64_t regs, spill_bytes;                     /* INT_UNKNOWN */
    const char *regs_source;                       /* "table" "ptxas" "nvrtc" "recorded" or NULL */
    bool regs_stale;
    struct occupancy occ;
};

struct plan {
    const struct kernel_desc *desc; /* borrowed */
    const struct device *device;    /* borrowed */
    struct shape shape;
    struct param_values params;
    struct plan_pass passes[DESC_PASSES_MAX];
    int npasses, main_pass; /* main: the pass with most flops, by default the first */
    bool parts_f32; /* its code stores O in f32: what a ring of GPUs asks for after planning */
    int64_t ws_bytes[DESC_WS_MAX];
    double pool_bytes; /* pages of K and V together, those that are empty too; NaN: it reads none */
    double table_bytes; /* of their block table; likewise */
    double flops;
    double requested_bytes, compulsory_bytes;         /* NaN unknown */
    double requested_intensity, compulsory_intensity; /* FLOP per byte */
    double ridge;                                     /* peak FLOP/s over DRAM bytes/s */
    const char *bound;            /* "memory" or "compute", by the compulsory intensity */
    double roof_us;               /* no kernel can be faster on this device */
    double peak_tflops, dram_gbs; /* what the roof used */
    const char *peak_unit;        /* "tensor", "tf32", or "fp32": a kernel without tensor
                                     instructions cannot reach the tensor roof */
    char *reason;                 /* why it cannot run; NULL: it can */
    char *regs_reason;            /* why registers are not known; NULL: they are, or nobody says */
    const char *blocked_by; /* what that is about: "kernel" (its own @requires), "smem", "regs",
                                     "threads", "grid", "barriers", "memory"; NULL: it can run */
};

/* Registers known from a compile; they override the table. Below 0: not known. */
struct plan_regs {
    int regs[DESC_PASSES_MAX], spill_bytes[DESC_PASSES_MAX], static_smem[DESC_PASSES_MAX];
    const char *source; /* "ptxas" "nvrtc" "recorded" */
};

/* Builds the plan; `out` need not be initialised. `v` NULL: the defaults. `dev` NULL: no device is
 * meant, and occupancy and roof stay unknown. `regs` NULL, or below 0 for a pass: the table's. A
 * CPU kernel has no launches: npasses is 0. ST_NO with the reason when the kernel does not take
 * the shape or cannot launch on the device (`out` is still filled as far as it goes, so that a
 * screen can show the wall that was hit); ST_USAGE when an expression gives nonsense. Whatever the
 * status, `out` must be cleared. Below 50 us. */
enum status plan_build(const struct kernel_desc *d, const struct shape *s,
                       const struct param_values *v, const struct device *dev,
                       const struct plan_regs *regs, struct plan *out, struct err *why);
/* The same without formulas, which take a good part of the time: for who asks for many. */
enum status plan_brief(const struct kernel_desc *d, const struct shape *s,
                       const struct param_values *v, const struct device *dev,
                       const struct plan_regs *regs, struct plan *out, struct err *why);
void plan_clear(struct plan *p);
/* Is there a launch whose registers are not known, or are those of an older source? What follows from them
 * is a bound then. Never of a plan that cannot run, or of one for no GPU. */
bool plan_lacks_regs(const struct plan *p);
/* Is it a figure of a plan that nobody knows without registers? */
bool plan_metric_needs_regs(const char *metric);

/* What can be said about the roof beyond the numbers, in one sentence, or NULL. */
const char *plan_roof_note(const struct plan *p);

/* "-DP_BR=64 -DATTN_D=64 -DATTN_DTYPE=0 -DSMEM_Ks=8192 ..." as NULL-terminated words; the caller
 * frees each and the array. */
char **plan_definitions(const struct plan *p);
/* How many of a pass's buffers hold anything: a parameter can leave one empty, which is not shown. */
int plan_buffers_held(const struct plan_pass *pass);

/* One figure with its formula and the values put in, as lines for `explain`. `metric` is a field
 * name of the plan or of `occupancy`. ST_USAGE with the nearest metric. */
enum status plan_explain(const struct plan *p, const char *metric, struct str *out,
                         struct err *err);
const char *plan_metric_name(const void *unused, size_t i); /* str_list_fn */

/* Why it is what it is, in at most three sentences, for the Explore screen: the limiter, what
 * would fit if it were lifted, and one thing to try. */
void plan_why(const struct plan *p, struct str *out);

#endif
