/* test_cupti_abi.c - our short copy of CUPTI's interface against NVIDIA's headers, and our table of
 * counters against the library, where a CUDA toolkit is present. No GPU is needed: the library knows
 * every chip's counters by the chip's name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#if defined HAVE_CUDA_OCCUPANCY && __has_include(<cupti_range_profiler.h>)
#define HAVE_CUPTI 1
#endif

#ifndef HAVE_CUPTI

int main(void)
{
    return tap_skip_all("no CUPTI headers to compare with");
}

#else

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Theirs is the longer name; ours would hide it. */
enum { THEIR_NO_PRIVILEGE = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES };

#include "backend/counters.h"
#include "backend/cuda/cupti.h"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

SAME(CUPTI_OK, CUPTI_SUCCESS);
SAME(CUPTI_INVALID_METRIC, CUPTI_ERROR_INVALID_METRIC_NAME);
SAME(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
SAME(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME(CUPTI_VIRTUAL_DEVICE, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME(CUPTI_NO_PRIVILEGE, THEIR_NO_PRIVILEGE);
SAME(CUPTI_OLD_API_IN_USE, CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED);
SAME(CUPTI_SUBSCRIBED, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(CUPTI_VIRTUAL_NO_PRIVILEGE, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME(CUPTI_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME(CUPTI_MINING_CARD, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
SAME(CUPTI_MIG, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
SAME(CUPTI_SLI, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
SAME(CUPTI_WSL, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
SAME(CUPTI_UNKNOWN_CHIP, CUPTI_ERROR_INVALID_CHIP_NAME);
SAME(CUPTI_TYPE_RANGE, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
SAME(CUPTI_RANGE_AUTO, CUPTI_AutoRange);
SAME(CUPTI_REPLAY_KERNEL, CUPTI_KernelReplay);
SAME(CUPTI_REPLAY_USER, CUPTI_UserReplay);
SAME(sizeof(cupti_result), sizeof(CUptiResult));

/* Size as it is passed, and where the last member lies: what lies before it has the same sizes in the
 * same order, or this would differ. */
#define SAME_STRUCT(ours, our_last, theirs, their_last)                  \
    SAME(CUPTI_SIZE(struct ours, our_last), theirs##_STRUCT_SIZE);       \
    SAME(offsetof(struct ours, our_last), offsetof(theirs, their_last)); \
    SAME(sizeof(struct ours), sizeof(theirs))
#define SAME_PLACE(ours, our_member, theirs, their_member) \
    SAME(offsetof(struct ours, our_member), offsetof(theirs, their_member))

SAME_STRUCT(cupti_initialize, priv, CUpti_Profiler_Initialize_Params, pPriv);
SAME_STRUCT(cupti_chip, name, CUpti_Device_GetChipName_Params, pChipName);
SAME_PLACE(cupti_chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_STRUCT(cupti_availability, image, CUpti_Profiler_GetCounterAvailability_Params,
            pCounterAvailabilityImage);
SAME_PLACE(cupti_availability, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
SAME_PLACE(cupti_availability, image_size, CUpti_Profiler_GetCounterAvailability_Params,
           counterAvailabilityImageSize);
SAME_STRUCT(cupti_host_initialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME_PLACE(cupti_host_initialize, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME_PLACE(cupti_host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME_PLACE(cupti_host_initialize, availability, CUpti_Profiler_Host_Initialize_Params,
           pCounterAvailabilityImage);
SAME_STRUCT(cupti_host_only, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME_STRUCT(cupti_metric, type, CUpti_Profiler_Host_GetMetricProperties_Params, metricType);
SAME_PLACE(cupti_metric, host, CUpti_Profiler_Host_GetMetricProperties_Params, pHostObject);
SAME_PLACE(cupti_metric, metric, CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName);
SAME_STRUCT(cupti_add_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME_PLACE(cupti_add_metrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME_PLACE(cupti_add_metrics, metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME_STRUCT(cupti_config_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params,
            configImageSize);
SAME_PLACE(cupti_config_size, host, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject);
SAME_STRUCT(cupti_config, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME_PLACE(cupti_config, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject);
SAME_PLACE(cupti_config, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME_STRUCT(cupti_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME_PLACE(cupti_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME_PLACE(cupti_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME_STRUCT(cupti_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
SAME_PLACE(cupti_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject);
SAME_PLACE(cupti_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME_PLACE(cupti_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME_PLACE(cupti_evaluate, metrics, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME_STRUCT(cupti_enable, range, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SAME_PLACE(cupti_enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
SAME_STRUCT(cupti_range_only, range, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
SAME_STRUCT(cupti_range_only, range, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
SAME_STRUCT(cupti_data_size, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SAME_PLACE(cupti_data_size, metrics, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
SAME_PLACE(cupti_data_size, count, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics);
SAME_PLACE(cupti_data_size, max_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params,
           maxNumOfRanges);
SAME_PLACE(cupti_data_size, max_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
           maxNumRangeTreeNodes);
SAME_STRUCT(cupti_data, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
            pCounterData);
SAME_PLACE(cupti_data, bytes, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
           counterDataSize);
SAME_STRUCT(cupti_set_config, target_level, CUpti_RangeProfiler_SetConfig_Params,
            targetNestingLevel);
SAME_PLACE(cupti_set_config, config_size, CUpti_RangeProfiler_SetConfig_Params, configSize);
SAME_PLACE(cupti_set_config, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
SAME_PLACE(cupti_set_config, data_size, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
SAME_PLACE(cupti_set_config, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
SAME_PLACE(cupti_set_config, ranges, CUpti_RangeProfiler_SetConfig_Params, range);
SAME_PLACE(cupti_set_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
SAME_PLACE(cupti_set_config, max_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
SAME_PLACE(cupti_set_config, levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
SAME_PLACE(cupti_set_config, least_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
SAME_PLACE(cupti_set_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME_STRUCT(cupti_stop, all_submitted, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SAME_PLACE(cupti_stop, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
SAME_STRUCT(cupti_decode, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
SAME_STRUCT(cupti_data_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
SAME_PLACE(cupti_data_info, data, CUpti_RangeProfiler_GetCounterDataInfo_Params, pCounterDataImage);

/* ---- the library ---- */

static bool knows(const struct cupti *c, cupti_host host, const struct counter *counter)
{
    for (int k = 0; k < COUNTER_NAMES && counter->names[k]; k++) {
        struct cupti_metric m = {.size = CUPTI_SIZE(struct cupti_metric, type),
                                 .host = host,
                                 .metric = counter->names[k]};
        if (c->metric(&m) == CUPTI_OK)
            return true;
    }
    return false;
}

/* In a child of its own: 0 if the chip has every counter, else how many it lacks; 200: no library;
 * 201: it does not know the chip. */
static int lacking(const char *chip)
{
    struct cupti c;
    struct cupti_initialize i = {.size = CUPTI_SIZE(struct cupti_initialize, priv)};
    struct cupti_host_initialize h = {.size = CUPTI_SIZE(struct cupti_host_initialize, host),
                                      .type = CUPTI_TYPE_RANGE,
                                      .chip = chip};
    int n = 0;
    if (cupti_open(&c, NULL) != ST_OK)
        return 200;
    (void)c.initialize(&i); /* fails without a driver, which the host's side does not need */
    if (c.host_open(&h) != CUPTI_OK)
        return 201;
    for (int k = 0; k < COUNTERS; k++)
        if (counters[k].names[0] &&
            !knows(&c, h.host, &counters[k])) { /* else the simulator alone counts it */
            printf("# %s has no %s\n", chip, counters[k].field);
            n++;
        }
    fflush(stdout);
    return n;
}

static void chips_have_them(void)
{
    /* T4, A100, L4, H200, RTX 5090 */
    static const char *const chips[] = {"TU104", "GA100", "AD104", "GH100", "GB202"};
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        int status = 0;
        fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0)
            _exit(lacking(chips[i]));
        CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
        CU_ASSERT(WIFEXITED(status));
        if (WEXITSTATUS(status) == 200) {
            printf("# no libcupti to ask\n");
            return;
        }
        CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
    }
}

static const struct tap_test tests[] = {
    {"GPUs from T4 to RTX 5090 have every counter", chips_have_them},
};

TAP_MAIN("cupti_abi", tests)

#endif
