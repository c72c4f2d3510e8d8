/* cupti.h - NVIDIA's profiling library, opened at run time in the worker: which hardware counters a
 * chip has, and what they counted while kernels ran.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUPTI_H
#define ATTNSCOPE_BACKEND_CUPTI_H

#include <stdbool.h>

#include "backend/cuda/cupti_abi.h"
#include "base/status.h"

/* X(member, symbol, required, parameter) */
// clang-format off
#define CUPTI_ENTRIES(X)                                                                           \
    X(result_text,   "cuptiGetResultString",               1, (cupti_result r, const char **text)) \
    X(initialize,    "cuptiProfilerInitialize",            1, (struct cupti_initialize *p))        \
    X(chip,          "cuptiDeviceGetChipName",             1, (struct cupti_chip *p))              \
    X(availability,  "cuptiProfilerGetCounterAvailability", 0, (struct cupti_availability *p))     \
    X(host_open,     "cuptiProfilerHostInitialize",        1, (struct cupti_host_initialize *p))   \
    X(host_close,    "cuptiProfilerHostDeinitialize",      1, (struct cupti_host_only *p))         \
    X(metric,        "cuptiProfilerHostGetMetricProperties", 1, (struct cupti_metric *p))          \
    X(add_metrics,   "cuptiProfilerHostConfigAddMetrics",  1, (struct cupti_add_metrics *p))       \
    X(config_size,   "cuptiProfilerHostGetConfigImageSize", 1, (struct cupti_config_size *p))      \
    X(config,        "cuptiProfilerHostGetConfigImage",    1, (struct cupti_config *p))            \
    X(passes,        "cuptiProfilerHostGetNumOfPasses",    1, (struct cupti_passes *p))            \
    X(evaluate,      "cuptiProfilerHostEvaluateToGpuValues", 1, (struct cupti_evaluate *p))        \
    X(enable,        "cuptiRangeProfilerEnable",           1, (struct cupti_enable *p))            \
    X(disable,       "cuptiRangeProfilerDisable",          1, (struct cupti_range_only *p))        \
    X(data_size,     "cuptiRangeProfilerGetCounterDataSize", 1, (struct cupti_data_size *p))       \
    X(data_init,     "cuptiRangeProfilerCounterDataImageInitialize", 1, (struct cupti_data *p))    \
    X(set_config,    "cuptiRangeProfilerSetConfig",        1, (struct cupti_set_config *p))        \
    X(start,         "cuptiRangeProfilerStart",            1, (struct cupti_range_only *p))        \
    X(stop,          "cuptiRangeProfilerStop",             1, (struct cupti_stop *p))              \
    X(decode,        "cuptiRangeProfilerDecodeData",       1, (struct cupti_decode *p))            \
    X(data_info,     "cuptiRangeProfilerGetCounterDataInfo", 1, (struct cupti_data_info *p))
// clang-format on

struct cupti {
    void *library;
#define CUPTI_MEMBER(member, symbol, required, params) cupti_result(*member) params;
    CUPTI_ENTRIES(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};

/* Opens libcupti (or what $ATTNSCOPE_LIBCUPTI names, for tests; not in a set-id program). ST_NO with
 * the remedy when there is none, or one from before CUDA 12.6. It is never closed. */
enum status cupti_open(struct cupti *out, struct err *err);

/* CUPTI's name of a member of struct cupti, for messages: "stop" is cuptiRangeProfilerStop. */
const char *cupti_symbol(const char *member);
/* ST_OK for CUPTI_OK; else ST_NO with one sentence: what the machine does not permit and the remedy,
 * or for any other result "call: what the library says". */
enum status cupti_check(const struct cupti *c, const char *call, cupti_result r, struct err *err);
/* Is it the machine that refuses, whatever else one tries? */
bool cupti_refuses(cupti_result r);

#endif
