/* columns.c - see columns.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/columns.h"

#include "measure/row.h"

// clang-format off
/* Of a time, on what it was taken: a ring of GPUs and its links, a library, pages, a host. */
#define WHERE_TIMED \
    {.field = "gpus", .optional = true}, \
    {.field = "efficiency_pct", .title = "eff. %", .optional = true}, \
    {.field = "link_bytes", .title = "link B", .optional = true, .drop = 6}, \
    {.field = "link_gbs", .title = "link GB/s", .optional = true, .drop = 7}, \
    {.field = "transport", .optional = true, .drop = 7}, \
    {.field = "peer_version", .optional = true, .drop = 7}, \
    {.field = "kv", .optional = true, .varies = true}, \
    {.field = "host", .optional = true, .varies = true}

const struct columns run_columns = {
    .of = FIELD_TABLES(run_fields),
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "shape", .varies = true},
        {.field = "params", .optional = true, .drop = 6},
        {.field = "l2", .varies = true},
        {.field = "median_us"},
        {.field = "min_us", .drop = 4},
        {.field = "cv_pct"},
        {.field = "n", .drop = 8},
        {.field = "tflops"},
        {.field = "gbytes_per_s", .drop = 3},
        {.field = "of_ceiling_pct", .optional = true, .drop = 6},
        {.field = "max_diff", .drop = 1},
        {.field = "error_ratio", .drop = 2},
        {.field = "check"},
        {.field = "speedup"},
        WHERE_TIMED,
        {.field = "origin", .drop = 5},
        {.field = "reason", .optional = true},
        {0},
    },
};

const struct columns compare_columns = {
    .of = FIELD_TABLES(run_fields),
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "shape", .varies = true},
        {.field = "params", .optional = true, .drop = 6},
        {.field = "l2", .varies = true},
        {.field = "median_us"},
        {.field = "q1_us", .drop = 3},
        {.field = "q3_us", .drop = 3},
        {.field = "cv_pct"},
        {.field = "tflops", .drop = 2},
        {.field = "ratio"},
        {.field = "ratio_lo"},
        {.field = "ratio_hi"},
        {.field = "verdict"},
        {.field = "pair_max_diff", .drop = 1},
        {.field = "check"},
        WHERE_TIMED,
        {.field = "origin", .drop = 4},
        {.field = "reason", .optional = true},
        {0},
    },
};
/* Of runs by the simulator: what they did, no times. */
const struct columns counted_columns = {
    .of = FIELD_TABLES(run_fields),
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "shape", .varies = true},
        {.field = "params", .optional = true, .drop = 8},
        {.field = "warp_instructions", .title = "warp instr", .digits = 5},
        {.field = "active_lanes", .title = "lanes", .digits = 3, .drop = 3},
        {.field = "tensor_ops", .title = "tensor", .digits = 5, .drop = 4},
        {.field = "smem_wavefronts", .title = "SMEM wavef.", .digits = 5},
        {.field = "smem_wavefronts_ideal", .title = "ideal", .digits = 5, .drop = 2},
        {.field = "global_sectors", .title = "sectors", .digits = 5},
        {.field = "global_sectors_ideal", .title = "ideal", .digits = 5, .drop = 2},
        {.field = "barriers", .drop = 6},
        {.field = "predicted_us", .title = "model us", .optional = true, .drop = 10},
        {.field = "predicted_error_pct", .title = "off %", .optional = true, .drop = 11}, /* never without it */
        {.field = "max_diff", .drop = 1},
        {.field = "error_ratio", .drop = 5},
        {.field = "pair_max_diff", .optional = true, .drop = 5},
        {.field = "gpus", .optional = true, .drop = 8},
        {.field = "link_bytes", .title = "link B", .optional = true},
        {.field = "imbalance", .optional = true},
        {.field = "hazards"},
        {.field = "check"},
        {.field = "ptx", .drop = 7},
        {.field = "kv", .optional = true, .varies = true},
        {.field = "host", .optional = true, .varies = true},
        {.field = "origin", .drop = 9},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on
