/* arch.c - limits of one SM, by compute capability.
 *
 * From NVIDIA's occupancy header (CUDA 13.0), the programming guide and the Hopper and Blackwell
 * tuning guides. tests/unit/test_occupancy_nvidia.c holds them against the header.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "plan/device.h"

#define KIB 1024

/* The same on every SM since Volta. */
#define COMMON                                                                       \
    .regs = 65536, .regs_per_block = 65536, .regs_per_thread = 256, .reg_unit = 256, \
    .partitions = 4, .smem_default = 48 * KIB, .max_threads_per_block = 1024,        \
    .smem_bytes_per_clk = 128

#define THREADS(n) .max_threads = (n), .max_warps = (n) / 32
/* Since Ampere the driver takes 1 KiB of every block. */
#define RESERVED .smem_reserved = KIB, .smem_unit = 128

/* Possible sizes of an SM's shared memory; the rest of the array is L1. */
#define SIZES_96                                               \
    {                                                          \
        0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 96 * KIB, -1 \
    }
#define SIZES_64               \
    {                          \
        32 * KIB, 64 * KIB, -1 \
    }
#define SIZES_100                                               \
    {                                                           \
        0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, -1 \
    }
#define SIZES_164                                                                     \
    {                                                                                 \
        0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB, -1 \
    }
#define SIZES_228                                                                             \
    {                                                                                         \
        0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB, 196 * KIB, \
            228 * KIB, -1                                                                     \
    }

#define SMEM_96 \
    .smem_per_sm = 96 * KIB, .smem_optin = 96 * KIB, .carveouts = SIZES_96, .smem_and_l1 = 128 * KIB
#define SMEM_64 \
    .smem_per_sm = 64 * KIB, .smem_optin = 64 * KIB, .carveouts = SIZES_64, .smem_and_l1 = 96 * KIB
#define SMEM_100                                                              \
    .smem_per_sm = 100 * KIB, .smem_optin = 99 * KIB, .carveouts = SIZES_100, \
    .smem_and_l1 = 128 * KIB
#define SMEM_164                                                               \
    .smem_per_sm = 164 * KIB, .smem_optin = 163 * KIB, .carveouts = SIZES_164, \
    .smem_and_l1 = 192 * KIB
#define SMEM_228                                                               \
    .smem_per_sm = 228 * KIB, .smem_optin = 227 * KIB, .carveouts = SIZES_228, \
    .smem_and_l1 = 256 * KIB

static const struct arch_limits arches[] = {
    // clang-format off
    {.cc =  70, THREADS(2048), .max_blocks = 32, .barriers = 64, .exp2_per_clk = 16, .smem_unit = 256, SMEM_96, COMMON},
    {.cc =  72, THREADS(2048), .max_blocks = 32, .barriers = 64, .exp2_per_clk = 16, .smem_unit = 256, SMEM_96, COMMON},
    {.cc =  75, THREADS(1024), .max_blocks = 16, .barriers = 32, .exp2_per_clk = 16, .smem_unit = 256, SMEM_64, COMMON},
    {.cc =  80, THREADS(2048), .max_blocks = 32, .barriers = 64, .exp2_per_clk = 16, RESERVED, SMEM_164, COMMON},
    {.cc =  86, THREADS(1536), .max_blocks = 16, .barriers = 16, .exp2_per_clk = 16, RESERVED, SMEM_100, COMMON},
    {.cc =  87, THREADS(1536), .max_blocks = 16, .barriers = 16, .exp2_per_clk = 16, RESERVED, SMEM_164, COMMON},
    {.cc =  89, THREADS(1536), .max_blocks = 24, .barriers = 24, .exp2_per_clk = 16, RESERVED, SMEM_100, COMMON},
    {.cc =  90, THREADS(2048), .max_blocks = 32, .barriers = 64, .exp2_per_clk = 16, RESERVED, SMEM_228, COMMON},
    {.cc = 100, THREADS(2048), .max_blocks = 32, .barriers = 64, .exp2_per_clk = 16, RESERVED, SMEM_228, COMMON},
    {.cc = 101, THREADS(1536), .max_blocks = 24, .barriers = 24, .exp2_per_clk = 16, RESERVED, SMEM_228, COMMON},
    {.cc = 103, THREADS(2048), .max_blocks = 32, .barriers = 64, .exp2_per_clk = 32, RESERVED, SMEM_228, COMMON},
    {.cc = 110, THREADS(1536), .max_blocks = 24, .barriers = 24, .exp2_per_clk = 16, RESERVED, SMEM_228, COMMON},
    {.cc = 120, THREADS(1536), .max_blocks = 24, .barriers = 24, .exp2_per_clk = 16, RESERVED, SMEM_100, COMMON},
    {.cc = 121, THREADS(1536), .max_blocks = 24, .barriers = 24, .exp2_per_clk = 16, RESERVED, SMEM_100, COMMON},
    // clang-format on
};
enum { ARCHES = sizeof arches / sizeof *arches };

const struct arch_limits *arch_at(int i)
{
    return i >= 0 && i < ARCHES ? &arches[i] : NULL;
}

const struct arch_limits *arch_find(int cc)
{
    for (int i = 0; i < ARCHES; i++)
        if (arches[i].cc == cc)
            return &arches[i];
    return NULL;
}
