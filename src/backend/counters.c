/* counters.c - see counters.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/counters.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- the table ---- */

#define OF_PEAK_ACTIVE  ".avg.pct_of_peak_sustained_active"
#define OF_PEAK_ELAPSED ".avg.pct_of_peak_sustained_elapsed"

// clang-format off
const struct counter counters[] = {
    {"duration_us", "Duration", "us", SECTION_SPEED, JOIN_SUM, 1e-3,
     {"gpu__time_duration.sum"},
     "time on the GPU's own clock, of one replay without the host's part; run is the better clock"},
    {"elapsed_cycles", "Elapsed cycles", "cycle", SECTION_SPEED, JOIN_SUM, 1,
     {"gpc__cycles_elapsed.max", "sm__cycles_elapsed.max"},
     "SM clock cycles from the first to the last moment"},
    {"sm_clock_mhz", "SM frequency", "MHz", SECTION_SPEED, JOIN_TIME, 1e-6,
     {"smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second"},
     "mean SM clock while it ran"},
    {"dram_clock_mhz", "DRAM frequency", "MHz", SECTION_SPEED, JOIN_TIME, 1e-6,
     {"dram__cycles_elapsed.avg.per_second"},
     "mean memory clock while it ran"},
    {"compute_pct", "Compute (SM) throughput", "%", SECTION_SPEED, JOIN_TIME, 1,
     {"sm__throughput" OF_PEAK_ELAPSED},
     "the busiest part of the SMs, in percent of its peak over the elapsed time"},
    {"memory_pct", "Memory throughput", "%", SECTION_SPEED, JOIN_TIME, 1,
     {"gpu__compute_memory_throughput" OF_PEAK_ELAPSED},
     "the busiest part of the way to memory, caches and shared memory included, in percent of its "
     "peak"},
    {"l1tex_pct", "L1/TEX cache throughput", "%", SECTION_SPEED, JOIN_TIME, 1,
     {"l1tex__throughput" OF_PEAK_ACTIVE},
     "L1 and shared memory in percent of their peak, over the cycles in which they work"},
    {"l2_pct", "L2 cache throughput", "%", SECTION_SPEED, JOIN_TIME, 1,
     {"lts__throughput" OF_PEAK_ELAPSED},
     "the L2 in percent of its peak"},
    {"dram_pct", "DRAM throughput", "%", SECTION_SPEED, JOIN_TIME, 1,
     {"gpu__dram_throughput" OF_PEAK_ELAPSED, "dram__throughput" OF_PEAK_ELAPSED},
     "DRAM in percent of its peak"},
    {"tensor_pct", "Tensor pipe", "%", SECTION_SPEED, JOIN_TIME, 1,
     {"sm__pipe_tensor_cycles_active_v2" OF_PEAK_ACTIVE, "sm__pipe_tensor_cycles_active" OF_PEAK_ACTIVE,
      "sm__inst_executed_pipe_tensor" OF_PEAK_ACTIVE},
     "cycles in which the tensor cores work, in percent of the SMs' active ones"},

    {"achieved_occupancy_pct", "Achieved occupancy", "%", SECTION_OCCUPANCY, JOIN_TIME, 1,
     {"sm__warps_active" OF_PEAK_ACTIVE},
     "resident warps, averaged over active cycles, in percent of what an SM holds"},
    {"achieved_warps", "Achieved active warps per SM", "warp", SECTION_OCCUPANCY, JOIN_TIME, 1,
     {"sm__warps_active.avg.per_cycle_active"},
     "resident warps of an SM, averaged over its active cycles"},
    {"eligible_warps", "Eligible warps per scheduler", "warp", SECTION_OCCUPANCY, JOIN_TIME, 1,
     {"smsp__warps_eligible.avg.per_cycle_active"},
     "warps that could issue in a cycle, of one scheduler; below 1 it often has nothing to do"},

    {"dram_bytes", "DRAM traffic", "bytes", SECTION_MEMORY, JOIN_SUM, 1,
     {"dram__bytes.sum"},
     "bytes that went to and from DRAM; the compulsory bytes of the plan are the least possible"},
    {"dram_read_bytes", "DRAM reads", "bytes", SECTION_MEMORY, JOIN_SUM, 1,
     {"dram__bytes_read.sum", "dram__bytes_op_read.sum"},
     "bytes read from DRAM"},
    {"dram_write_bytes", "DRAM writes", "bytes", SECTION_MEMORY, JOIN_SUM, 1,
     {"dram__bytes_write.sum", "dram__bytes_op_write.sum"},
     "bytes written to DRAM; what still lies in the L2 at the end is not among them"},
    {"l2_bytes", "L2 traffic", "bytes", SECTION_MEMORY, JOIN_SUM, 1,
     {"lts__t_bytes.sum"},
     "bytes that were asked of the L2, by whomever"},
    {"smem_wavefronts", "SMEM wavefronts", "", SECTION_MEMORY, JOIN_SUM, 1,
     {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
     "passes of the shared-memory pipe; an access without conflicts takes one for 128 bytes"},
    {"smem_conflicts", "SMEM bank conflicts", "", SECTION_MEMORY, JOIN_SUM, 1,
     {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
     "those wavefronts that exist only because threads wanted one bank at once, as the counter has "
     "it; other clients of the pipe can appear in it"},

    {"sm_active_cycles", "Average SM active cycles", "cycle", SECTION_WORK, JOIN_SUM, 1,
     {"sm__cycles_active.avg"},
     "cycles in which an SM had a warp, averaged over the SMs"},
    {"sm_active_cycles_min", "Least busy SM", "cycle", SECTION_WORK, JOIN_NONE, 1,
     {"sm__cycles_active.min"},
     "active cycles of the SM that had least to do"},
    {"sm_active_cycles_max", "Busiest SM", "cycle", SECTION_WORK, JOIN_NONE, 1,
     {"sm__cycles_active.max"},
     "active cycles of the SM that had most to do"},
    {"smsp_active_cycles", "Average SMSP active cycles", "cycle", SECTION_WORK, JOIN_SUM, 1,
     {"smsp__cycles_active.avg"},
     "cycles in which a scheduler had a warp, averaged over the schedulers"},
    {"l1_active_cycles", "Average L1 active cycles", "cycle", SECTION_WORK, JOIN_SUM, 1,
     {"l1tex__cycles_active.avg"},
     "cycles in which an L1 worked, averaged over them"},
    {"l2_active_cycles", "Average L2 active cycles", "cycle", SECTION_WORK, JOIN_SUM, 1,
     {"lts__cycles_active.avg"},
     "cycles in which a slice of the L2 worked, averaged over the slices; of the L2's clock"},
    {"dram_active_cycles", "Average DRAM active cycles", "cycle", SECTION_WORK, JOIN_SUM, 1,
     {"dram__cycles_active.avg"},
     "cycles in which a DRAM channel worked, averaged over them; of the memory clock"},
    {"sm_elapsed_cycles_sum", "Total SM elapsed cycles", "cycle", SECTION_WORK, JOIN_SUM, 1,
     {"sm__cycles_elapsed.sum"},
     "elapsed cycles summed over the SMs: a number of units times a time, no share of anything"},
    {"smsp_elapsed_cycles_sum", "Total SMSP elapsed cycles", "cycle", SECTION_WORK, JOIN_SUM, 1,
     {"smsp__cycles_elapsed.sum"},
     "elapsed cycles summed over the schedulers, four times those of the SMs"},
    {"l1_elapsed_cycles_sum", "Total L1 elapsed cycles", "cycle", SECTION_WORK, JOIN_SUM, 1,
     {"l1tex__cycles_elapsed.sum"},
     "elapsed cycles summed over the L1s"},
    {"l2_elapsed_cycles_sum", "Total L2 elapsed cycles", "cycle", SECTION_WORK, JOIN_SUM, 1,
     {"lts__cycles_elapsed.sum"},
     "elapsed cycles summed over the slices of the L2"},
    {"dram_elapsed_cycles_sum", "Total DRAM elapsed cycles", "cycle", SECTION_WORK, JOIN_SUM, 1,
     {"dram__cycles_elapsed.sum"},
     "elapsed cycles of the memory clock summed over the channels"},
    {0},
};
// clang-format on

_Static_assert(sizeof counters / sizeof *counters <= COUNTERS_MAX, "room for every counter");

int counters_count(void)
{
    return (int)(sizeof counters / sizeof *counters) - 1;
}

const struct counter *counter_find(const char *field)
{
    for (const struct counter *c = counters; c->field; c++)
        if (strcmp(c->field, field) == 0)
            return c;
    return NULL;
}

/* ---- values ---- */

void counter_values_clear(struct counter_values *c)
{
    for (int i = 0; i < COUNTERS_MAX; i++)
        c->v[i] = NAN;
}

static double join_sum(const struct counter_values *launches, int n, int at)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += launches[i].v[at]; /* one unknown makes the sum unknown */
    return sum;
}

static double join_time(const struct counter_values *launches, int n, int at)
{
    const int time = (int)(counter_find("duration_us") - counters);
    double sum = 0, weights = 0;
    for (int i = 0; i < n; i++) {
        sum += launches[i].v[at] * launches[i].v[time];
        weights += launches[i].v[time];
    }
    return weights > 0 ? sum / weights : NAN;
}

struct counter_values counters_join(const struct counter_values *launches, int n)
{
    struct counter_values out;
    counter_values_clear(&out);
    if (n == 1)
        return launches[0];
    for (int i = 0; i < counters_count() && n > 0; i++)
        out.v[i] = counters[i].join == JOIN_SUM    ? join_sum(launches, n, i)
                   : counters[i].join == JOIN_TIME ? join_time(launches, n, i)
                                                   : NAN;
    return out;
}

json_t *counters_to_json(const struct counter_values *c)
{
    json_t *o = json_object();
    for (int i = 0; i < counters_count(); i++)
        json_object_set_new(o, counters[i].field,
                            isfinite(c->v[i]) ? json_real(c->v[i]) : json_null());
    return o;
}
