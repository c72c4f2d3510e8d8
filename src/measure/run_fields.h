/* run_fields.h - the fields of `run`, `check`, `compare`, `sweep`, a line each: the only place that knows them by name.
 *
 * RUN_FIELD(TYPE, name, what field.h lets a field say): struct run_row has a member of that name, the table in
 * row.c its field; whoever knows the value fills the member. The order is that of JSON and CSV, which scripts rely on.
 * Whoever includes this says first what a line becomes, and nothing afterwards.
 *
 * TEXT is a char *, INT an int64_t, REAL a double, BOOL an int (-1: unknown), JSON a json_t *; unknown is as there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
// clang-format off

/* What ran, where, on what. */
RUN_FIELD(TEXT, kernel, .doc = "Name of the kernel.")
RUN_FIELD(TEXT, backend, .doc = "Who ran it: cpu, cuda or sim.")
RUN_FIELD(TEXT, device, .doc = "What it ran on.")
RUN_FIELD(TEXT, origin, .doc = "Where the figures come from: live, recorded, sim or model.")
RUN_FIELD(TEXT, shape, .doc = "The attention problem.")
RUN_FIELD(TEXT, params, .doc = "Kernel parameters, defaults included.")

/* Times of a run and how they were taken; dropped and later ones are of the samples. */
RUN_FIELD(REAL, median_us, .flags = FIELD_OF_SAMPLES, .unit = "us", .title = "median us",
          .doc = "Median time of a run.")
RUN_FIELD(REAL, min_us, .flags = FIELD_OF_SAMPLES, .unit = "us", .title = "min us",
          .doc = "Shortest time of a run.")
RUN_FIELD(REAL, q1_us, .flags = FIELD_OF_SAMPLES, .unit = "us", .title = "q1",
          .doc = "First quartile of the times.")
RUN_FIELD(REAL, q3_us, .flags = FIELD_OF_SAMPLES, .unit = "us", .title = "q3",
          .doc = "Third quartile of the times.")
RUN_FIELD(REAL, mean_us, .flags = FIELD_OF_SAMPLES, .unit = "us", .doc = "Mean time of a run.")
RUN_FIELD(REAL, p95_us, .flags = FIELD_OF_SAMPLES, .unit = "us",
          .doc = "95 of 100 runs were at most this long.")
RUN_FIELD(REAL, cv_pct, .flags = FIELD_OF_SAMPLES, .digits = 2, .unit = "%", .title = "CV %",
          .doc = "Standard deviation of the times over their mean.")
RUN_FIELD(INT, n, .unit = "samples", .doc = "Samples that the times are taken over.")
RUN_FIELD(INT, dropped, .unit = "samples", .doc = "Samples left out because the clock was throttled.")
RUN_FIELD(TEXT, l2, .title = "L2",
          .doc = "State of the caches before each sample: cold (flushed) or hot.")
RUN_FIELD(TEXT, launch, .doc = "How it was launched: direct (CPU), stream or graph.")
RUN_FIELD(TEXT, stopped, .flags = FIELD_FICKLE,
          .doc = "Why sampling ended: cv, steady, n, time or cancel.")
RUN_FIELD(INT, threads, .doc = "Threads used (CPU backend).")
RUN_FIELD(REAL, sm_clock_mhz, .flags = FIELD_OF_SAMPLES, .digits = 4, .unit = "MHz",
          .doc = "SM clock during the samples, median.")

/* Rates by the median. */
RUN_FIELD(REAL, tflops, .flags = FIELD_OF_SAMPLES, .digits = 3, .unit = "TFLOP/s", .title = "TFLOP/s",
          .doc = "Rate by the median: 4 B H pairs D FLOPs a run.")
RUN_FIELD(REAL, gbytes_per_s, .flags = FIELD_OF_SAMPLES, .digits = 3, .unit = "GB/s", .title = "GB/s",
          .doc = "Bytes that must move, Q, K, V and O once, over the median.")

/* Against float64. */
RUN_FIELD(REAL, max_diff, .digits = 2, .title = "max diff",
          .doc = "Largest absolute error against the float64 reference.")
RUN_FIELD(REAL, mean_diff, .digits = 3, .doc = "Mean absolute error against the float64 reference.")
RUN_FIELD(REAL, rms_diff, .digits = 3, .title = "rms diff", .doc = "Root mean square of the error.")
RUN_FIELD(REAL, baseline_max_diff, .digits = 3, .title = "plain max",
          .doc = "max_diff of a plain three-step evaluation in the same type, on the same elements.")
RUN_FIELD(REAL, error_ratio, .digits = 2, .title = "x plain", .doc = "max_diff over baseline_max_diff.")
RUN_FIELD(REAL, rounding_ratio, .digits = 3, .title = "x rounding",
          .doc = "rms_diff over the rms error of merely rounding the right answer to the type.")
RUN_FIELD(JSON, worst, .doc = "Where max_diff is: batch b, head h, row, col.")
RUN_FIELD(INT, checked_rows, .unit = "rows", .title = "rows",
          .doc = "Query rows judged against float64.")
RUN_FIELD(INT, total_rows, .unit = "rows", .doc = "Query rows of the output, B*H*Sq.")

/* Of a failed check: diagnose.h. */
RUN_FIELD(INT, bad_rows, .unit = "rows", .doc = "Judged rows that are wrong, where the check failed.")
RUN_FIELD(REAL, bad_pct, .digits = 3, .unit = "%", .doc = "The same of the judged rows.")
RUN_FIELD(JSON, first_bad, .doc = "The first wrong row: batch b, head h, row.")
RUN_FIELD(JSON, error_map,
          .doc = "Wrong rows by head and query tile: tile_rows, heads (of a batch), share (0..1, a list "
                 "for each head; null: not judged).")
RUN_FIELD(JSON, causes,
          .doc = "What would make the output so, likeliest first: cause, text, where, explained (0..1), "
                 "certain.")

/* Its verdict. */
RUN_FIELD(TEXT, check,
          .doc = "pass or fail; null with a reason where the reference itself is not finite, or a run "
                 "failed.")
RUN_FIELD(BOOL, deterministic,
          .doc = "Did two runs on the same inputs give the same bits, but for what atomic additions "
                 "explain? null: not looked at (a run of over half a second).")
RUN_FIELD(REAL, rerun_max_diff, .digits = 2, .doc = "Largest difference between those two outputs.")

/* Beside other kernels. */
RUN_FIELD(REAL, speedup, .digits = 3, .doc = "Median time of the run's first kernel over this one's.")
RUN_FIELD(REAL, ratio, .flags = FIELD_OF_SAMPLES, .digits = 4,
          .doc = "Time over the base kernel's time, median of interleaved pairs.")
RUN_FIELD(REAL, ratio_lo, .flags = FIELD_OF_SAMPLES, .digits = 4, .title = "from",
          .doc = "Lower end of the ratio's 95 % interval.")
RUN_FIELD(REAL, ratio_hi, .flags = FIELD_OF_SAMPLES, .digits = 4, .title = "to",
          .doc = "Upper end of the ratio's 95 % interval.")
RUN_FIELD(TEXT, verdict,
          .flags = FIELD_OF_SAMPLES,
          .doc = "base, FASTER, SLOWER, SAME (within 1 %) or AMBIGUOUS; between recordings also control.")
RUN_FIELD(TEXT, verdict_reason, .flags = FIELD_FICKLE,
          .doc = "Why AMBIGUOUS although the interval would have a winner: noise could make it; or why there is no ratio.")
RUN_FIELD(REAL, pair_max_diff, .digits = 2, .title = "pair diff",
          .doc = "Largest difference between this output and the base's.")

/* What it takes to do it again. */
RUN_FIELD(INT, seed, .doc = "Seed of the inputs.")
RUN_FIELD(INT, regs, .unit = "registers", .doc = "Registers of a thread in the code that ran (CUDA).")
RUN_FIELD(TEXT, regs_source,
          .doc = "Who made that code: ptxas (with the program) or nvrtc (on this machine).")
RUN_FIELD(TEXT, input, .doc = "Kind of the inputs, or the .npy files.")
RUN_FIELD(TEXT, driver, .doc = "GPU driver version.")
RUN_FIELD(TEXT, cuda, .doc = "CUDA version.")
RUN_FIELD(TEXT, source_hash, .doc = "Hash of the kernel's source and headers.")
RUN_FIELD(TEXT, peer_version, .title = "peer", .doc = "Version of a peer library, where one ran.")
RUN_FIELD(TEXT, time, .doc = "When it was measured, UTC.")
RUN_FIELD(TEXT, reason, .doc = "Why there is no figure, or why the check failed.")

/* What disturbed the times. */
RUN_FIELD(TEXT, noise, .flags = FIELD_FICKLE | FIELD_OF_SAMPLES,
          .doc = "What disturbed the times, in one line; quiet: nothing was seen.")
RUN_FIELD(REAL, other_cores, .digits = 3, .unit = "cores",
          .doc = "Processors that other programs used while it was timed.")
RUN_FIELD(REAL, steal_pct, .digits = 3, .unit = "%",
          .doc = "Processor time that the hypervisor gave to other machines.")
RUN_FIELD(REAL, throttled_pct, .flags = FIELD_OF_SAMPLES, .digits = 3, .unit = "%",
          .doc = "Samples whose clock was held down, dropped ones included.")
RUN_FIELD(REAL, drift_pct, .flags = FIELD_OF_SAMPLES, .digits = 3, .unit = "%",
          .doc = "Median of the last quarter of the samples over the first's, less one.")
RUN_FIELD(INT, modes, .flags = FIELD_OF_SAMPLES,
          .doc = "2 when the times fall into two groups with hardly any between, else 1.")
RUN_FIELD(REAL, mode_ratio, .flags = FIELD_FICKLE, .digits = 3,
          .doc = "Time of the slower of two modes over the faster.")
RUN_FIELD(REAL, mode_pct, .flags = FIELD_FICKLE, .digits = 3, .unit = "%",
          .doc = "Samples in the slower of two modes.")
RUN_FIELD(TEXT, held,
          .doc = "What kept the GPU's clock down while it was timed: power, heat, power brake, hardware "
                 "slowdown, sync boost.")
RUN_FIELD(REAL, of_ceiling_pct, .digits = 3, .unit = "%", .title = "% ceiling",
          .doc = "The nearer of two roofs that doctor --peak measured of this device: its products' rate "
                 "(of a GPU at the clock of the run, of a CPU with as many threads at once), and, where caches were cold, DRAM's bandwidth for "
                 "compulsory bytes.")

/* Of a run by the simulator. */
RUN_FIELD(TEXT, ptx,
          .doc = "Whose PTX the simulator ran: nvcc, nvrtc or clang and its version; file: the user's own.")
RUN_FIELD(REAL, predicted_us, .digits = 3, .unit = "us",
          .doc = "Time by the model of a simulated run, on a GPU that need not be here; never measured. null: "
                 "predicted_note says why. Simulation speed is never a time.")
RUN_FIELD(TEXT, predicted_on, .doc = "The GPU that it is predicted for: that of gpu=.")
RUN_FIELD(REAL, predicted_error_pct, .digits = 2, .unit = "%",
          .doc = "Median error of the model on kernels that it was not fitted to.")
RUN_FIELD(TEXT, predicted_whose,
          .doc = "Whose the model's factors of that GPU are: shipped, yours, someone's; null: none are known.")
RUN_FIELD(TEXT, predicted_binds,
          .doc = "What most of the predicted time goes to: a unit of an SM, what a warp waits for "
                 "(wait_...), l2, dram, tail, launch.")
RUN_FIELD(JSON, predicted_parts,
          .doc = "All that it is made of, longest first: pass, phase (as profile by=phase counts them), "
                 "unit, us; they add up to predicted_us.")
RUN_FIELD(REAL, predicted_ratio, .digits = 4,
          .doc = "Of compare: predicted_us over that of the first kernel, on the same shape and GPU.")
RUN_FIELD(TEXT, predicted_verdict,
          .doc = "Of that ratio: base, FASTER, SLOWER; AMBIGUOUS where the model tells such near times apart "
                 "wrongly more than once in twenty.")
RUN_FIELD(TEXT, predicted_note, .doc = "Why nothing is predicted, or with what reserve.")
RUN_FIELD(INT, blocks, .unit = "blocks", .doc = "Blocks of all launches of a simulated run.")
RUN_FIELD(INT, blocks_run, .unit = "blocks",
          .doc = "How many of them were simulated; fewer: counts are those of all, by blocks that stand "
                 "for others.")
RUN_FIELD(INT, hazards,
          .doc = "Distinct hazards that the simulator found: accesses out of bounds, never written, "
                 "misaligned, races, missing waits, barriers; null: none was found and races were not "
                 "looked for.")
RUN_FIELD(TEXT, hazard, .doc = "The first of them: what, where, who.")
RUN_FIELD(TEXT, without,
          .doc = "Source line that was left out of the simulated kernel (without=N): figures and hazards are those "
                 "of the kernel without it; null: nothing was.")
RUN_FIELD(INT, hazards_lost, .flags = FIELD_FICKLE,
          .doc = "Accesses of further hazards, of which no more was kept.")
RUN_FIELD(JSON, printed, .flags = FIELD_FICKLE,
          .doc = "What the kernel printed itself (printf) in a simulated run, in order of blocks: an array of "
                 "lines.")
RUN_FIELD(BOOL, printed_cut, .flags = FIELD_FICKLE, .doc = "Did it print more than was kept?")

/* What it counts: a line each in backend/counter_table.h. */
#define COUNTER(...)
#define COUNTED(field_, title_, unit_, section_, join_, scale_, doc_, ...) \
    RUN_FIELD(REAL, field_, .unit = unit_, .doc = doc_)
#include "backend/counter_table.h"
#undef COUNTER

/* Further ones. */
RUN_FIELD(REAL, independent, .digits = 3, .unit = "samples",
          .doc = "What the samples are worth where neighbours hang together.")
RUN_FIELD(REAL, lse_max_diff, .digits = 2,
          .doc = "Largest error of the LSE (log of the sum of exponentials of a row's scores) against "
                 "float64; null: it writes none, or not whole.")
RUN_FIELD(TEXT, crossing, .flags = FIELD_FICKLE,
          .doc = "Of a sweep with base=: overtakes or falls behind the base, between the last point with "
                 "another verdict and this one.")
RUN_FIELD(TEXT, hazards_shape,
          .doc = "The small shape that hazards were looked for on, where it is not the row's own; null: "
                 "the row's own, or they were not looked for.")
RUN_FIELD(TEXT, host,
          .doc = "The machine that it ran on, by the name that host= has for it; null: this one.")
RUN_FIELD(REAL, gpu_others_pct, .digits = 3, .unit = "%",
          .doc = "Of the GPU's time while it was timed, what kernels of other programs had; samples of such "
                 "moments were dropped. null: not known.")
RUN_FIELD(INT, device_index,
          .doc = "Which of the backend's devices it ran on, as device= counts them from 0.")

/* Of a ring of GPUs. */
RUN_FIELD(INT, gpus, .unit = "GPUs",
          .doc = "GPUs that shared the run as a ring (gpus=); null: it was one alone. Counts are those of all.")
RUN_FIELD(REAL, link_bytes, .digits = 4, .unit = "B",
          .doc = "Of a ring: bytes of keys and values that went from GPU to GPU.")
RUN_FIELD(REAL, imbalance, .digits = 4,
          .doc = "Of a ring: warp instructions of the busiest GPU over the mean, or on real GPUs the time in which it "
                 "computes; 1 is balanced.")
RUN_FIELD(TEXT, transport,
          .doc = "What carried data between real GPUs: nccl and its version; peer: copies by the driver, straight from "
                 "one to the other; host: such copies through the host; local: all are one GPU (devices=0,0).")
RUN_FIELD(TEXT, gpu_devices,
          .doc = "Which devices the GPUs of a ring are, in its order, as device= counts them.")
RUN_FIELD(REAL, link_gbs, .digits = 4, .unit = "GB/s",
          .doc = "Of a ring: what a link gave in one direction, all of them at once, for the very messages of its first "
                 "exchange, with nothing beside it; the slowest of them. Answers gathered: all that came in to GPU 0.")
RUN_FIELD(REAL, host_us, .digits = 4, .flags = FIELD_OF_SAMPLES, .unit = "us",
          .doc = "Of a ring: the last sample by the host's clock, waiting for its end included; the times are by "
                 "GPU 0's.")
RUN_FIELD(JSON, gpu_us, .flags = FIELD_OF_SAMPLES, .unit = "us",
          .doc = "Of a ring: what each GPU's own events say of the last sample: gpu, device, span_us from its first "
                 "event to its last, compute_us in its steps.")
RUN_FIELD(REAL, efficiency_pct, .digits = 4, .flags = FIELD_OF_SAMPLES, .unit = "%",
          .doc = "Of a ring: time of one GPU alone, as last measured in this session for the same kernel and shape, "
                 "over N times this one's; null: one GPU was not measured.")

/* Of a shape with pages. */
RUN_FIELD(TEXT, kv, .title = "K, V",
          .doc = "Where K and V lie in pages (page=): pages, when the kernel read them there, contiguous, when it "
                 "read a copy (pages=both); null: the shape has no pages.")

/* Never stored, but samples_us in recordings. */
RUN_FIELD(JSON, recent_us, .flags = FIELD_UNKEPT, .unit = "us", .doc = "The last samples; not stored.")
RUN_FIELD(JSON, counted_phases, .flags = FIELD_UNKEPT,
          .doc = "What the time model is told of a simulated run: counts by launch and phase; not stored.")
RUN_FIELD(JSON, samples_us, .flags = FIELD_UNKEPT, .unit = "us",
          .doc = "The samples, evenly thinned to at most 1000; kept in recordings alone.")
// clang-format on

#undef RUN_FIELD
