/* counter_table.h - what `profile` counts, a row each: the only place that knows the counters by name.
 *
 * COUNTER(field, title, unit, section, join, scale, doc, names): the field of rows; its title as in the
 * tables of Nsight Compute where that has it; how the launches of a run make one figure (enum
 * counter_join); from CUPTI's unit to ours; one sentence for help, `explain` and the manual; CUPTI's
 * names, best first: a chip has the first that it knows, and some have none. COUNTED: the same of what the simulator
 * counts, too. Whoever includes this says first what a row becomes; COUNTED is a COUNTER unless it is
 * said, too, and nothing afterwards.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#define OF_PEAK_ACTIVE  ".avg.pct_of_peak_sustained_active"
#define OF_PEAK_ELAPSED ".avg.pct_of_peak_sustained_elapsed"
#ifndef COUNTED
#define COUNTED COUNTER
#endif
// clang-format off
COUNTER(duration_us, "Duration", "us", SPEED, SUM, 1e-3,
        "time on the GPU's own clock, of one replay without the host's part; run is the better clock",
        "gpu__time_duration.sum")
COUNTER(elapsed_cycles, "Elapsed cycles", "cycle", SPEED, SUM, 1,
        "SM clock cycles from the first to the last moment",
        "gpc__cycles_elapsed.max", "sm__cycles_elapsed.max")
COUNTER(sm_clock_mhz, "SM frequency", "MHz", SPEED, TIME, 1e-6,
        "mean SM clock while it ran",
        "smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second")
COUNTER(dram_clock_mhz, "DRAM frequency", "MHz", SPEED, TIME, 1e-6,
        "mean memory clock while it ran",
        "dram__cycles_elapsed.avg.per_second")
COUNTER(compute_pct, "Compute (SM) throughput", "%", SPEED, TIME, 1,
        "the busiest part of the SMs, in percent of its peak over the elapsed time",
        "sm__throughput" OF_PEAK_ELAPSED)
COUNTER(memory_pct, "Memory throughput", "%", SPEED, TIME, 1,
        "the busiest part of the way to memory, caches and shared memory included, in percent of its "
        "peak",
        "gpu__compute_memory_throughput" OF_PEAK_ELAPSED)
COUNTER(l1tex_pct, "L1/TEX cache throughput", "%", SPEED, TIME, 1,
        "L1 and shared memory in percent of their peak, over the cycles in which they work",
        "l1tex__throughput" OF_PEAK_ACTIVE)
COUNTER(l2_pct, "L2 cache throughput", "%", SPEED, TIME, 1,
        "the L2 in percent of its peak",
        "lts__throughput" OF_PEAK_ELAPSED)
COUNTER(dram_pct, "DRAM throughput", "%", SPEED, TIME, 1,
        "DRAM in percent of its peak",
        "gpu__dram_throughput" OF_PEAK_ELAPSED, "dram__throughput" OF_PEAK_ELAPSED)
COUNTER(tensor_pct, "Tensor pipe", "%", SPEED, TIME, 1,
        "cycles in which the tensor cores work, in percent of the SMs' active ones",
        "sm__pipe_tensor_cycles_active_v2" OF_PEAK_ACTIVE, "sm__pipe_tensor_cycles_active" OF_PEAK_ACTIVE,
        "sm__inst_executed_pipe_tensor" OF_PEAK_ACTIVE)

COUNTER(achieved_occupancy_pct, "Achieved occupancy", "%", OCCUPANCY, TIME, 1,
        "resident warps, averaged over active cycles, in percent of what an SM holds",
        "sm__warps_active" OF_PEAK_ACTIVE)
COUNTER(achieved_warps, "Achieved active warps per SM", "warp", OCCUPANCY, TIME, 1,
        "resident warps of an SM, averaged over its active cycles",
        "sm__warps_active.avg.per_cycle_active")
COUNTER(eligible_warps, "Eligible warps per scheduler", "warp", OCCUPANCY, TIME, 1,
        "warps that could issue in a cycle, of one scheduler; below 1 it often has nothing to do",
        "smsp__warps_eligible.avg.per_cycle_active")

COUNTED(dram_bytes, "DRAM traffic", "B", MEMORY, SUM, 1,
        "bytes that went to and from DRAM; the compulsory bytes of the plan are the least possible",
        "dram__bytes.sum")
COUNTED(dram_read_bytes, "DRAM reads", "B", MEMORY, SUM, 1,
        "bytes read from DRAM",
        "dram__bytes_read.sum", "dram__bytes_op_read.sum")
COUNTED(dram_write_bytes, "DRAM writes", "B", MEMORY, SUM, 1,
        "bytes written to DRAM; what still lies in the L2 at the end is not among them",
        "dram__bytes_write.sum", "dram__bytes_op_write.sum")
COUNTED(l2_bytes, "L2 traffic", "B", MEMORY, SUM, 1,
        "bytes that were asked of the L2, by whomever",
        "lts__t_bytes.sum")
COUNTED(smem_wavefronts, "SMEM wavefronts", "", MEMORY, SUM, 1,
        "passes of the shared-memory pipe; an access without conflicts takes one for 128 bytes; a GPU counts "
        "its shuffles, too",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")
COUNTED(smem_conflicts, "SMEM bank conflicts", "", MEMORY, SUM, 1,
        "those wavefronts that exist only because threads wanted one bank at once, as the counter has "
        "it; other clients of the pipe can appear in it",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")

COUNTER(sm_active_cycles, "Average SM active cycles", "cycle", WORK, SUM, 1,
        "cycles in which an SM had a warp, averaged over the SMs",
        "sm__cycles_active.avg")
COUNTER(sm_active_cycles_min, "Least busy SM", "cycle", WORK, NONE, 1,
        "active cycles of the SM that had least to do",
        "sm__cycles_active.min")
COUNTER(sm_active_cycles_max, "Busiest SM", "cycle", WORK, NONE, 1,
        "active cycles of the SM that had most to do",
        "sm__cycles_active.max")
COUNTER(smsp_active_cycles, "Average SMSP active cycles", "cycle", WORK, SUM, 1,
        "cycles in which a scheduler had a warp, averaged over the schedulers",
        "smsp__cycles_active.avg")
COUNTER(l1_active_cycles, "Average L1 active cycles", "cycle", WORK, SUM, 1,
        "cycles in which an L1 worked, averaged over them",
        "l1tex__cycles_active.avg")
COUNTER(l2_active_cycles, "Average L2 active cycles", "cycle", WORK, SUM, 1,
        "cycles in which a slice of the L2 worked, averaged over the slices; of the L2's clock",
        "lts__cycles_active.avg")
COUNTER(dram_active_cycles, "Average DRAM active cycles", "cycle", WORK, SUM, 1,
        "cycles in which a DRAM channel worked, averaged over them; of the memory clock",
        "dram__cycles_active.avg")
COUNTER(sm_elapsed_cycles_sum, "Total SM elapsed cycles", "cycle", WORK, SUM, 1,
        "elapsed cycles summed over the SMs: a number of units times a time, no share of anything",
        "sm__cycles_elapsed.sum")
COUNTER(smsp_elapsed_cycles_sum, "Total SMSP elapsed cycles", "cycle", WORK, SUM, 1,
        "elapsed cycles summed over the schedulers, four times those of the SMs",
        "smsp__cycles_elapsed.sum")
COUNTER(l1_elapsed_cycles_sum, "Total L1 elapsed cycles", "cycle", WORK, SUM, 1,
        "elapsed cycles summed over the L1s",
        "l1tex__cycles_elapsed.sum")
COUNTER(l2_elapsed_cycles_sum, "Total L2 elapsed cycles", "cycle", WORK, SUM, 1,
        "elapsed cycles summed over the slices of the L2",
        "lts__cycles_elapsed.sum")
COUNTER(dram_elapsed_cycles_sum, "Total DRAM elapsed cycles", "cycle", WORK, SUM, 1,
        "elapsed cycles of the memory clock summed over the channels",
        "dram__cycles_elapsed.sum")

COUNTED(warp_instructions, "Warp instructions", "", EXECUTED, SUM, 1,
        "instructions that warps executed; by the simulator those of PTX, where ptxas makes up to a quarter more or less",
        "smsp__inst_executed.sum")
COUNTED(active_lanes, "Active lanes per instruction", "lane", EXECUTED, TIME, 1,
        "lanes of a warp that took part in an instruction, averaged; below 32 by branches, guards and ends",
        "smsp__thread_inst_executed_per_inst_executed.ratio")
COUNTED(divergences, "Branches that split a warp", "", EXECUTED, SUM, 1,
        "branches whose lanes went both ways")
COUNTED(tensor_ops, "Tensor instructions", "", EXECUTED, SUM, 1,
        "products on the tensor cores of a warp, as mma.sync m16n8 counts them; a wgmma m64nN is N / 8 of each of its warps")
COUNTED(smem_requests, "SMEM requests", "", EXECUTED, SUM, 1,
        "instructions of warps on shared memory, ldmatrix and atomics included; loads and stores that ptxas joins are one")
COUNTED(smem_wavefronts_ideal, "SMEM wavefronts, ideal", "", EXECUTED, SUM, 1,
        "wavefronts of the same accesses without any bank conflict")
COUNTED(global_requests, "Global requests", "", EXECUTED, SUM, 1,
        "instructions of warps on global memory, cp.async and atomics included; loads and stores that ptxas joins are one")
COUNTED(global_sectors, "Global sectors", "", EXECUTED, SUM, 1,
        "sectors of 32 bytes that these touch")
COUNTED(global_sectors_ideal, "Global sectors, ideal", "", EXECUTED, SUM, 1,
        "sectors that their distinct bytes need at least, side by side")
COUNTED(local_sectors, "Local memory sectors", "", EXECUTED, SUM, 1,
        "sectors of the threads' own memory: arrays that no register holds, spills")
COUNTED(barriers, "Barriers", "", EXECUTED, SUM, 1,
        "__syncthreads() and its kin, each warp's counted")
COUNTED(shuffles, "Shuffles", "", EXECUTED, SUM, 1,
        "exchanges between the lanes of a warp")
COUNTED(votes, "Votes", "", EXECUTED, SUM, 1,
        "votes, matches and reductions over the lanes of a warp")
COUNTED(atomics, "Atomic instructions", "", EXECUTED, SUM, 1,
        "atom and red of warps, on whatever memory")
COUNTED(async_copies, "Asynchronous copies", "", EXECUTED, SUM, 1,
        "cp.async of warps: from global to shared memory past the registers")
// clang-format on
#undef COUNTED
#undef OF_PEAK_ACTIVE
#undef OF_PEAK_ELAPSED
