/* columns.c - see columns.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/columns.h"

// clang-format off
const struct column run_columns[] = {
    {.field = "kernel",       .title = "kernel",   .left = true},
    {.field = "shape",        .title = "shape",    .left = true, .varies = true},
    {.field = "params",       .title = "params",   .left = true, .optional = true, .drop = 6},
    {.field = "l2",           .title = "L2",       .left = true, .varies = true},
    {.field = "median_us",    .title = "median us"},
    {.field = "min_us",       .title = "min us",   .drop = 4},
    {.field = "cv_pct",       .title = "CV %",     .digits = 2},
    {.field = "n",            .title = "n",        .drop = 8},
    {.field = "tflops",       .title = "TFLOP/s",  .digits = 3},
    {.field = "gbytes_per_s", .title = "GB/s",     .digits = 3, .drop = 3},
    {.field = "max_diff",     .title = "max diff", .digits = 2, .drop = 1},
    {.field = "error_ratio",  .title = "x plain",  .digits = 2, .drop = 2},
    {.field = "check",        .title = "check",    .left = true},
    {.field = "speedup",      .title = "speedup",  .digits = 3},
    {.field = "peer_version", .title = "peer",     .left = true, .optional = true, .drop = 7},
    {.field = "origin",       .title = "origin",   .left = true, .drop = 5},
    {.field = "reason",       .title = "reason",   .left = true, .optional = true},
    {0},
};

const struct column compare_columns[] = {
    {.field = "kernel",        .title = "kernel",    .left = true},
    {.field = "shape",         .title = "shape",     .left = true, .varies = true},
    {.field = "params",        .title = "params",    .left = true, .optional = true, .drop = 6},
    {.field = "l2",            .title = "L2",        .left = true, .varies = true},
    {.field = "median_us",     .title = "median us"},
    {.field = "q1_us",         .title = "q1",        .drop = 3},
    {.field = "q3_us",         .title = "q3",        .drop = 3},
    {.field = "cv_pct",        .title = "CV %",      .digits = 2},
    {.field = "tflops",        .title = "TFLOP/s",   .digits = 3, .drop = 2},
    {.field = "ratio",         .title = "ratio",     .digits = 4},
    {.field = "ratio_lo",      .title = "from",      .digits = 4},
    {.field = "ratio_hi",      .title = "to",        .digits = 4},
    {.field = "verdict",       .title = "verdict",   .left = true},
    {.field = "pair_max_diff", .title = "pair diff", .digits = 2, .drop = 1},
    {.field = "check",         .title = "check",     .left = true},
    {.field = "peer_version",  .title = "peer",      .left = true, .optional = true, .drop = 7},
    {.field = "origin",        .title = "origin",    .left = true, .drop = 4},
    {.field = "reason",        .title = "reason",    .left = true, .optional = true},
    {0},
};
// clang-format on
