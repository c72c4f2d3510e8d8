/* fakecupti.c - as much of CUPTI's range profiler as `profile` calls. It counts the launches of the
 * fake driver and makes up what they did.
 *
 * $FAKECUDA scripts it, in the words of fakecuda.h: calls can fail with any code ("35": no
 * permission), hang and crash. Further words:
 *
 *   passes=3          replays that it wants; endless: it wants another for ever
 *   user=no           it does not let others replay
 *   lacks=dram        the chip has no metric whose name has this in it
 *   blind=lts         it cannot evaluate such metrics
 *   frozen=1          no cycle passes
 *   sees=5            it reports so many launches
 *   dropped=1         it lost one
 *
 * It is strict: what real CUPTI would not survive (a size of 0, a wrong handle, figures before they
 * were counted, an image of availability that was freed while the host object lives) gives code 1.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cupti_abi.h"
#include "fakecuda.h"
#include "faults.h"

#define EXPORT __attribute__((visibility("default")))

// clang-format off
#define CUPTI(name, ...) EXPORT int name(__VA_ARGS__); int name(__VA_ARGS__)
// clang-format on

enum { IMAGE = 64, ADDED_MAX = 100 };

static struct {
    int host, range;             /* handles, and how many are open */
    const uint8_t *availability; /* the caller's, which the real one goes on reading */
    int added;
    char names[ADDED_MAX][80];
    int replay, configured, started, passes, decoded;
    int before, launches; /* of the driver, at the start; of the last replay */
} fake;

/* The fault that the script has for this call, or 0. */
static int scripted(const char *entry)
{
    const char *what = fake_scripted(entry);
    return what ? fake_break(what) : 0;
}

#define ENTER(name, p)                      \
    do {                                    \
        const int code_ = scripted(name);   \
        if (code_)                          \
            return code_;                   \
        if ((p)->size < 2 * sizeof(size_t)) \
            return 1;                       \
    } while (0)

static int launches_so_far(void)
{
    void *driver = dlopen(getenv("ATTNSCOPE_LIBCUDA"), RTLD_NOW | RTLD_NOLOAD);
    fake_calls_fn *calls = driver ? (fake_calls_fn *)dlsym(driver, "fake_calls") : NULL;
    return calls ? calls("cuLaunchKernel") + calls("cuLaunchKernelEx") : 0;
}

/* Handles that are open: none may be left behind. */
EXPORT int fake_cupti_open(void);
int fake_cupti_open(void)
{
    return fake.host + fake.range;
}

EXPORT int fake_cupti_reset(void);
int fake_cupti_reset(void)
{
    fake_forget();
    memset(&fake, 0, sizeof fake);
    return 0;
}

/* ---- the host's side ---- */

CUPTI(cuptiGetResultString, int r, const char **text)
{
    *text = r == 7 ? "CUPTI_ERROR_INVALID_OPERATION" : "as scripted";
    return 0;
}

CUPTI(cuptiProfilerInitialize, struct cupti_initialize *p)
{
    ENTER("cuptiProfilerInitialize", p);
    return 0;
}

CUPTI(cuptiDeviceGetChipName, struct cupti_chip *p)
{
    ENTER("cuptiDeviceGetChipName", p);
    p->name = "GH100";
    return 0;
}

CUPTI(cuptiProfilerGetCounterAvailability, struct cupti_availability *p)
{
    ENTER("cuptiProfilerGetCounterAvailability", p);
    if (!p->context)
        return 3;
    if (p->image)
        memset(p->image, 7, p->image_size);
    p->image_size = IMAGE;
    return 0;
}

CUPTI(cuptiProfilerHostInitialize, struct cupti_host_initialize *p)
{
    ENTER("cuptiProfilerHostInitialize", p);
    if (p->type != 0 || strcmp(p->chip, "GH100") || (p->availability && p->availability[0] != 7))
        return 1;
    fake.host++;
    fake.availability = p->availability;
    fake.added = 0;
    p->host = (cupti_host)&fake.host;
    return 0;
}

CUPTI(cuptiProfilerHostDeinitialize, struct cupti_host_only *p)
{
    ENTER("cuptiProfilerHostDeinitialize", p);
    fake.host -= p->host == (cupti_host)&fake.host;
    return 0;
}

static int availability_lives(void)
{
    for (int i = 0; fake.availability && i < IMAGE; i++)
        if (fake.availability[i] != 7)
            return 0;
    return 1;
}

static int lacks(const char *name)
{
    const char *what = fake_text("lacks", "");
    return *what && strstr(name, what);
}

CUPTI(cuptiProfilerHostGetMetricProperties, struct cupti_metric *p)
{
    ENTER("cuptiProfilerHostGetMetricProperties", p);
    if (!availability_lives())
        return 1;
    return p->host != (cupti_host)&fake.host ? 1 : lacks(p->metric) ? 17 : 0;
}

CUPTI(cuptiProfilerHostConfigAddMetrics, struct cupti_add_metrics *p)
{
    ENTER("cuptiProfilerHostConfigAddMetrics", p);
    for (size_t i = 0; i < p->count; i++) {
        if (lacks(p->metrics[i]) || fake.added == ADDED_MAX)
            return 17;
        strncpy(fake.names[fake.added++], p->metrics[i], sizeof fake.names[0] - 1);
    }
    return 0;
}

CUPTI(cuptiProfilerHostGetConfigImageSize, struct cupti_config_size *p)
{
    ENTER("cuptiProfilerHostGetConfigImageSize", p);
    p->bytes = IMAGE;
    return fake.added ? 0 : 1;
}

CUPTI(cuptiProfilerHostGetConfigImage, struct cupti_config *p)
{
    ENTER("cuptiProfilerHostGetConfigImage", p);
    if (p->bytes != IMAGE)
        return 1;
    memset(p->image, 3, IMAGE);
    return 0;
}

CUPTI(cuptiProfilerHostGetNumOfPasses, struct cupti_passes *p)
{
    ENTER("cuptiProfilerHostGetNumOfPasses", p);
    p->passes = (size_t)fake_number("passes", 3);
    return p->image[0] == 3 ? 0 : 1;
}

/* ---- the device's side ---- */

CUPTI(cuptiRangeProfilerEnable, struct cupti_enable *p)
{
    ENTER("cuptiRangeProfilerEnable", p);
    if (!p->context || fake.range)
        return 7;
    fake.range++;
    p->range = (cupti_range)&fake.range;
    return 0;
}

CUPTI(cuptiRangeProfilerDisable, struct cupti_range_only *p)
{
    ENTER("cuptiRangeProfilerDisable", p);
    fake.range -= p->range == (cupti_range)&fake.range;
    fake.configured = fake.started = fake.decoded = 0;
    return 0;
}

CUPTI(cuptiRangeProfilerGetCounterDataSize, struct cupti_data_size *p)
{
    ENTER("cuptiRangeProfilerGetCounterDataSize", p);
    p->bytes = IMAGE;
    return p->count == (size_t)fake.added && p->max_nodes >= p->max_ranges ? 0 : 1;
}

CUPTI(cuptiRangeProfilerCounterDataImageInitialize, struct cupti_data *p)
{
    ENTER("cuptiRangeProfilerCounterDataImageInitialize", p);
    if (p->bytes != IMAGE)
        return 1;
    memset(p->image, 5, IMAGE);
    return 0;
}

CUPTI(cuptiRangeProfilerSetConfig, struct cupti_set_config *p)
{
    ENTER("cuptiRangeProfilerSetConfig", p);
    if (p->config[0] != 3 || p->data[0] != 5 || p->ranges != 1 || p->levels != 1)
        return 1;
    if (p->replay == 3 && !strcmp(fake_text("user", ""), "no"))
        return 7;
    fake.replay = p->replay;
    fake.configured = 1;
    fake.passes = 0;
    return 0;
}

CUPTI(cuptiRangeProfilerStart, struct cupti_range_only *p)
{
    ENTER("cuptiRangeProfilerStart", p);
    if (!fake.configured || fake.started)
        return 7;
    fake.started = 1;
    fake.before = launches_so_far();
    return 0;
}

CUPTI(cuptiRangeProfilerStop, struct cupti_stop *p)
{
    ENTER("cuptiRangeProfilerStop", p);
    if (!fake.started)
        return 7;
    fake.started = 0;
    fake.launches = launches_so_far() - fake.before;
    fake.passes++;
    p->all_submitted =
        !fake_number("endless", 0) && (fake.replay == 2 || fake.passes >= fake_number("passes", 3));
    return 0;
}

CUPTI(cuptiRangeProfilerDecodeData, struct cupti_decode *p)
{
    ENTER("cuptiRangeProfilerDecodeData", p);
    fake.decoded = 1;
    p->dropped = (size_t)fake_number("dropped", 0);
    return 0;
}

CUPTI(cuptiRangeProfilerGetCounterDataInfo, struct cupti_data_info *p)
{
    ENTER("cuptiRangeProfilerGetCounterDataInfo", p);
    p->ranges = (size_t)fake_number("sees", fake.launches);
    return fake.decoded ? 0 : 7;
}

/* ---- figures ---- */

/* Of the second launch all is twice as much; rates and percentages are not. */
static const struct {
    const char *name;
    double value;
    int rate;
} figures[] = {
    {"gpu__time_duration.sum", 50000, 0},
    {"gpc__cycles_elapsed.max", 90000, 0},
    {"smsp__cycles_elapsed.avg.per_second", 1.8e9, 1},
    {"dram__cycles_elapsed.avg.per_second", 2.6e9, 1},
    {"dram__bytes.sum", 1048576, 0},
    {"dram__bytes_read.sum", 786432, 0},
    {"dram__bytes_op_read.sum", 786431, 0},
    {"dram__bytes_write.sum", 262144, 0},
    {"lts__t_bytes.sum", 4194304, 0},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 2000, 0},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 500, 0},
    {"sm__cycles_active.avg", 60000, 0},
    {"sm__cycles_active.min", 45000, 0},
    {"sm__cycles_active.max", 75000, 0},
    {"sm__warps_active.avg.per_cycle_active", 7.5, 1},
};

static double figure(const char *name, size_t range)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!strcmp(figures[i].name, name))
            return figures[i].value * (figures[i].rate ? 1 : (double)range + 1);
    if (strstr(name, "pct_of_peak"))
        return 25 + 25 * (double)range;
    return 12345 * ((double)range + 1);
}

static int was_added(const char *name)
{
    for (int i = 0; i < fake.added; i++)
        if (!strcmp(fake.names[i], name))
            return 1;
    return 0;
}

CUPTI(cuptiProfilerHostEvaluateToGpuValues, struct cupti_evaluate *p)
{
    ENTER("cuptiProfilerHostEvaluateToGpuValues", p);
    const char *blind = fake_text("blind", "");
    if (!fake.decoded || p->data[0] != 5)
        return 1;
    for (size_t i = 0; i < p->count; i++) {
        if (!was_added(p->metrics[i]) || (*blind && strstr(p->metrics[i], blind)))
            return 17;
        p->values[i] = figure(p->metrics[i], p->range);
        if (fake_number("frozen", 0) && strstr(p->metrics[i], "cycles_elapsed.max"))
            p->values[i] = 0;
    }
    return 0;
}
