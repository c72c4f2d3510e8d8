/* device.h - what the planner knows about a GPU.
 *
 * Per-architecture limits come from NVIDIA's occupancy header and programming guide, per-device
 * figures from the vendors' datasheets (dense rates, f16 with f32 accumulation). Rates follow from
 * SMs x lanes x clock, which a unit test checks. Users add devices in <config>/devices.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_DEVICE_H
#define ATTNSCOPE_PLAN_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"
#include "spec/dtype.h"

enum { CARVEOUTS_MAX = 12 };

/* Limits of one SM, by compute capability. Bytes unless said otherwise. */
struct arch_limits {
    int cc;                                    /* 10 * major + minor: 89 */
    int max_threads, max_warps, max_blocks;    /* resident on an SM */
    int regs, regs_per_block, regs_per_thread; /* 32-bit registers; per thread is what the launch
                                                  check allows, compilers use one less */
    int reg_unit;                              /* registers are allocated to a warp in these */
    int partitions;                            /* warp schedulers per SM */
    int smem_per_sm, smem_default, smem_optin; /* per SM; per block without and with opt-in */
    int smem_reserved, smem_unit;              /* taken per block by the system; rounding */
    int carveouts[CARVEOUTS_MAX];              /* possible SMEM sizes of an SM, -1 ends */
    int smem_and_l1;                           /* bytes of an SM that both are cut from */
    int max_threads_per_block;
    int barriers;           /* named barriers per SM; they limit from CC 9.0 on */
    int smem_bytes_per_clk; /* SMEM bandwidth of an SM */
    int exp2_per_clk;       /* special-function results per SM and clock */
};

struct device {
    char *name;   /* "H200" as the user types it; case is ignored */
    char *vendor; /* "NVIDIA", "AMD" */
    char *arch;   /* "sm_90", "gfx942" */
    int cc;       /* 0 when it is no CUDA device: roofline only */
    int sms;
    double clock_mhz; /* boost */
    double dram_gbs;  /* GB/s, powers of 1000 */
    double l2_bytes;
    double tflops[DTYPE_COUNT]; /* dense peak by input dtype: f16 and bf16 on tensor cores, f32 on
                                   the ordinary pipes; NaN unknown */
    double tf32_tflops;
    double memory_bytes;
    int fp32_lanes;          /* per SM; 0 unknown. f32 peak = sms * lanes * 2 * clock */
    int tensor_flops;        /* f16 FLOP per SM and clock on the tensor cores; 0 unknown */
    double tensor_clock_mhz; /* clock behind the tensor peak; lower than boost on Hopper */
    char *note;              /* doubts about the figures, or NULL */
    bool user;               /* from the config file, or a real device's own report */
};

/* What a row of `devices` has of it, and what a line of the user's file may set. */
extern const struct field device_fields[];

struct device_table;
/* Built-in devices plus those of the config file (bad lines are kept as sentences), one a line:
 *
 *     RTX-4090-laptop like=RTX-4090 sms=76 clock_mhz=2040 dram_gbs=576 memory_bytes=16G
 *     MyCard cc=8.9 sms=20 clock_mhz=2000 dram_gbs=200 f32_tflops=10.2 note=a guess
 *
 * The name is what stands before the first word with `=`. Keys: like (copies a device of the table
 * first), vendor, arch, cc, sms, clock_mhz, dram_gbs, l2_bytes, f16_tflops, bf16_tflops,
 * f32_tflops, tf32_tflops, memory_bytes, fp32_lanes, tensor_flops, tensor_clock_mhz, note (the
 * rest of the line). `#` begins a comment line. A name that already means a built-in one is refused: what
 * a recording, a lesson or a colleague calls H100 is the same everywhere. */
struct device_table *devices_new(void);
void devices_free(struct device_table *t);
int devices_count(const struct device_table *t);
const struct device *devices_at(const struct device_table *t, int i);
/* By name; case, blanks, dashes and the vendor's words do not matter ("rtx 4090", "NVIDIA GeForce
 * RTX 4090"). ST_USAGE with the nearest name. */
enum status devices_get(const struct device_table *t, const char *name, const struct device **out,
                        struct err *err);
const char *devices_problem(const struct device_table *t, int i);
const char *devices_name(const void *table, size_t i); /* str_list_fn */

/* The peak that bounds a kernel, FLOP/s x 1e12, NaN unknown: tensor cores for tensor kernels (TF32
 * for f32 input), the ordinary f32 pipes for scalar ones. `unit` receives "tensor", "tf32" or
 * "fp32". */
double device_peak(const struct device *d, enum dtype dtype, bool tensor, const char **unit);

/* Limits for a compute capability, NULL if unknown. */
const struct arch_limits *arch_find(int cc);
const struct arch_limits *arch_at(int i); /* NULL after the last */

#endif
