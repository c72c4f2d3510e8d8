/* device_rows.c - the built-in device table.
 *
 * Dense rates from the vendors' datasheets, f16 with f32 accumulation. A unit test recomputes the
 * f32 and f16 rates from SMs, lanes and clocks: many pages list sparse rates, or those of f16
 * accumulation, which are twice as high. f16 and bf16 are equally fast where both exist.
 * Memory is what is soldered on, in GiB ("24 GB" is 24 GiB); of an H200's 144 GB the driver shows 140.4.
 * ECC, where it is stored inline, and the driver take up to 7 % of it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/device_rows.h"

#include <stddef.h>

#include "base/number.h"

#define MIB 1048576.0
#define GIB 1073741824.0
#define NA  REAL_UNKNOWN

/* name, CC, SMs, boost MHz, DRAM GB/s, f32, tf32, f16, bf16 TFLOP/s, L2 MiB, memory GiB, f32 lanes
 * and f16 tensor FLOP per SM and clock, MHz behind the tensor peak, note */
#define NV(name_, cc_, sms_, mhz, gbs, f32, tf32, f16, bf16, l2, mem, lanes, tensor, tmhz, note_) \
    {                                                                                             \
        .name = (char *)(name_), .vendor = (char *)"NVIDIA", .arch = (char *)"sm_" #cc_,          \
        .cc = (cc_), .sms = (sms_), .clock_mhz = (mhz), .dram_gbs = (gbs), .l2_bytes = (l2)*MIB,  \
        .tf32_tflops = (tf32), .memory_bytes = (mem)*GIB,                                         \
        .tflops = {[DTYPE_F16] = (f16), [DTYPE_BF16] = (bf16), [DTYPE_F32] = (f32)},              \
        .fp32_lanes = (lanes), .tensor_flops = (tensor), .tensor_clock_mhz = (tmhz),              \
        .note = (char *)(note_)                                                                   \
    }
/* The same for cards that are no CUDA devices: rooflines only. */
#define AMD(name_, arch_, cus, mhz, gbs, f32, tf32, f16, l2, mem, lanes, tensor, note_)          \
    {                                                                                            \
        .name = (char *)(name_), .vendor = (char *)"AMD", .arch = (char *)(arch_), .sms = (cus), \
        .clock_mhz = (mhz), .dram_gbs = (gbs), .l2_bytes = (l2)*MIB, .tf32_tflops = (tf32),      \
        .memory_bytes = (mem)*GIB,                                                               \
        .tflops = {[DTYPE_F16] = (f16), [DTYPE_BF16] = (f16), [DTYPE_F32] = (f32)},              \
        .fp32_lanes = (lanes), .tensor_flops = (tensor), .tensor_clock_mhz = (mhz),              \
        .note = (char *)(note_)                                                                  \
    }

const struct device device_rows[] = {
    // clang-format off
    //  name            CC  SMs   MHz  GB/s    f32   tf32    f16   bf16   L2  mem lanes tensor MHz note
    NV("V100",          70,  80, 1530,    900,   15.7,     NA,    125,     NA,    6,  32,  64, 1024, 1530, NULL),
    NV("T4",            75,  40, 1590,    320,    8.1,     NA,     65,     NA,    4,  16,  64, 1024, 1590, NULL),
    NV("Titan-RTX",     75,  72, 1770,    672,   16.3,     NA,  130.5,     NA,    6,  24,  64, 1024, 1770, NULL),
    NV("RTX-2080-Ti",   75,  68, 1545,    616,   13.4,     NA,   53.8,     NA,  5.5,  11,  64,  512, 1545, NULL),
    NV("A100-80GB",     80, 108, 1410,   2039,   19.5,    156,    312,    312,   40,  80,  64, 2048, 1410, NULL),
    NV("A100-40GB",     80, 108, 1410,   1555,   19.5,    156,    312,    312,   40,  40,  64, 2048, 1410, NULL),
    NV("A30",           80,  56, 1440,    933,   10.3,     82,    165,    165,   24,  24,  64, 2048, 1440, NULL),
    NV("A10",           86,  72, 1695,    600,   31.2,   62.5,    125,    125,    6,  24, 128, 1024, 1695, NULL),
    NV("A40",           86,  84, 1740,    696,   37.4,   74.8,  149.7,  149.7,    6,  48, 128, 1024, 1740, NULL),
    NV("RTX-3060",      86,  28, 1777,    360,   12.7,   12.7,   25.5,   25.5,    3,  12, 128,  512, 1777, NULL),
    NV("RTX-3080",      86,  68, 1710,    760,   29.8,   29.8,   59.5,   59.5,    5,  10, 128,  512, 1710, NULL),
    NV("RTX-3090",      86,  82, 1695,    936,   35.6,   35.6,     71,     71,    6,  24, 128,  512, 1695, NULL),
    NV("Orin",          87,  16, 1300,  204.8,    5.3,     NA,     NA,     NA,    4,  64, 128,    0, NA, "AGX 64 GB; tensor rates left out, the datasheet gives them for sparse int8 only"),
    NV("RTX-4060",      89,  24, 2460,    272,   15.1,   15.1,   30.2,   30.2,   24,   8, 128,  512, 2460, NULL),
    NV("RTX-4070",      89,  46, 2475,    504,   29.1,   29.1,   58.3,   58.3,   36,  12, 128,  512, 2475, NULL),
    NV("RTX-4080",      89,  76, 2505,  716.8,   48.7,   48.7,   97.5,   97.5,   64,  16, 128,  512, 2505, NULL),
    NV("RTX-4090",      89, 128, 2520,   1008,   82.6,   82.6,  165.2,  165.2,   72,  24, 128,  512, 2520, NULL),
    NV("L4",            89,  58, 2040,    300,   30.3,     60,    121,    121,   48,  24, 128, 1024, 2040, NULL),
    NV("L40S",          89, 142, 2520,    864,   91.6,    183,    362,    362,   96,  48, 128, 1024, 2520, "some sources say 48 MB of L2"),
    NV("RTX-6000-Ada",  89, 142, 2505,    960,   91.1,    182,    364,    364,   96,  48, 128, 1024, 2505, NULL),
    NV("H100-PCIe",     90, 114, 1755,   2039,   51.2,    378,    756,    756,   50,  80, 128, 4096, 1620, "drops to 1395 MHz under load"),
    NV("H100-SXM",      90, 132, 1980,   3350,   66.9,  494.7,  989.4,  989.4,   50,  80, 128, 4096, 1830, NULL),
    NV("H200",          90, 132, 1980,   4800,   66.9,  494.7,  989.4,  989.4,   50, 140.4, 128, 4096, 1830, "the driver may report 60 MB of L2"),
    NV("B200",         100, 148, 1965,   8000,     75,   1100,   2250,   2250,  126, 180, 128, 8192, 1855, "clocks and f32 rate are approximate"),
    NV("RTX-5080",     120,  84, 2617,    960,   56.3,   56.3,  112.6,  112.6,   64,  16, 128,  512, 2617, NULL),
    NV("RTX-5090",     120, 170, 2407,   1792,  104.8,  104.8,  209.5,  209.5,   96,  32, 128,  512, 2407, NULL),
    NV("RTX-PRO-6000", 120, 188, 2617,   1792,    126,     NA,  503.8,  503.8,  128,  96, 128, 1024, 2617, "Blackwell workstation card"),

    AMD("MI300X",       "gfx942",  304, 2100, 5300, 163.4, 653.7, 1307.4, 32, 192, 128, 2048, "and 256 MB of last-level cache"),
    AMD("Radeon-8060S", "gfx1151",  40, 2900,  256, 14.85,    NA,   59.4,  2,  NA,  64,  512, "shares the machine's memory; 32 MB of last-level cache; f32 without dual issue"),
    {.name = NULL},
    // clang-format on
};

const struct device_alias device_aliases[] = {
    {"a100", "a10080gb"},
    {"a100sxm", "a10080gb"},
    {"a100sxm480gb", "a10080gb"},
    {"a10080gbpcie", "a10080gb"},
    {"a100sxm440gb", "a10040gb"},
    {"a100pcie40gb", "a10040gb"},
    {"v100sxm2", "v100"},
    {"v100sxm216gb", "v100"},
    {"v100sxm232gb", "v100"},
    {"h100", "h100sxm"},
    {"h10080gbhbm3", "h100sxm"},
    {"h200sxm", "h200"},
    {"2080ti", "rtx2080ti"},
    {"3060", "rtx3060"},
    {"3080", "rtx3080"},
    {"3090", "rtx3090"},
    {"4060", "rtx4060"},
    {"4070", "rtx4070"},
    {"4080", "rtx4080"},
    {"4090", "rtx4090"},
    {"5080", "rtx5080"},
    {"5090", "rtx5090"},
    {"6000ada", "rtx6000ada"},
    {"rtx6000adageneration", "rtx6000ada"},
    {"rtxpro6000blackwell", "rtxpro6000"},
    {"rtxpro6000blackwellworkstationedition", "rtxpro6000"},
    {"rtxpro6000blackwellserveredition", "rtxpro6000"},
    {"jetsonagxorin", "orin"},
    {"agxorin", "orin"},
    {"8060s", "radeon8060s"},
    {NULL, NULL},
};
