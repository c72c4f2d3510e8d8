/* row.c - the field table of a measurement; the one place that knows a field's name and meaning.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/row.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/origin.h"

/* The sentence may be followed by .title. */
#define TEXT(m, ...)       FIELD(FIELD_TEXT, run_row, m, .unit = "", .doc = __VA_ARGS__)
#define INT(m, unit_, ...) FIELD(FIELD_INT, run_row, m, .unit = unit_, .doc = __VA_ARGS__)
#define REAL(m, d, unit_, ...) \
    FIELD(FIELD_REAL, run_row, m, .digits = d, .unit = unit_, .doc = __VA_ARGS__)
#define FICKLE(type_, m, d, unit_, doc_) \
    FIELD(type_, run_row, m, .flags = FIELD_FICKLE, .digits = d, .unit = unit_, .doc = doc_)
#define BOOL(m, doc_)        FIELD(FIELD_BOOL, run_row, m, .unit = "", .doc = doc_)
#define JSON(m, unit_, doc_) FIELD(FIELD_JSON, run_row, m, .unit = unit_, .doc = doc_)
#define SAMPLES(m, doc_) \
    FIELD(FIELD_JSON, run_row, m, .flags = FIELD_UNKEPT, .unit = "us", .doc = doc_)

// clang-format off
const struct field run_fields[] = {
    TEXT(kernel,  "Name of the kernel."),
    TEXT(backend, "Who ran it: cpu, cuda or sim."),
    TEXT(device,  "What it ran on."),
    TEXT(origin,  "Where the figures come from: live, recorded, sim or model."),
    TEXT(shape,   "The attention problem."),
    TEXT(params,  "Kernel parameters, defaults included."),
    REAL(median_us, 0, "us", "Median time of a run.", .title = "median us"),
    REAL(min_us,    0, "us", "Shortest time of a run.", .title = "min us"),
    REAL(q1_us,     0, "us", "First quartile of the times.", .title = "q1"),
    REAL(q3_us,     0, "us", "Third quartile of the times.", .title = "q3"),
    REAL(mean_us,   0, "us", "Mean time of a run."),
    REAL(p95_us,    0, "us", "95 of 100 runs were at most this long."),
    REAL(cv_pct,    2, "%",  "Standard deviation of the times over their mean.", .title = "CV %"),
    INT(n,       "samples", "Samples that the times are taken over."),
    INT(dropped, "samples", "Samples left out because the clock was throttled."),
    TEXT(l2,      "State of the caches before each sample: cold (flushed) or hot.", .title = "L2"),
    TEXT(launch,  "How it was launched: direct (CPU), stream or graph."),
    FICKLE(FIELD_TEXT, stopped, 0, "", "Why sampling ended: cv, steady, n, time or cancel."),
    INT(threads, "", "Threads used (CPU backend)."),
    REAL(sm_clock_mhz, 4, "MHz", "SM clock during the samples, median."),
    REAL(tflops,       3, "TFLOP/s", "Rate by the median: 4 B H pairs D FLOPs a run.", .title = "TFLOP/s"),
    REAL(gbytes_per_s, 3, "GB/s", "Bytes that must move, Q, K, V and O once, over the median.", .title = "GB/s"),
    REAL(max_diff,     2, "", "Largest absolute error against the float64 reference.", .title = "max diff"),
    REAL(mean_diff,    3, "", "Mean absolute error against the float64 reference."),
    REAL(rms_diff,     3, "", "Root mean square of the error.", .title = "rms diff"),
    REAL(baseline_max_diff, 3, "",
         "max_diff of a plain three-step evaluation in the same type, on the same elements.", .title = "plain max"),
    REAL(error_ratio,    2, "", "max_diff over baseline_max_diff.", .title = "x plain"),
    REAL(rounding_ratio, 3, "",
         "rms_diff over the rms error of merely rounding the right answer to the type.", .title = "x rounding"),
    JSON(worst, "", "Where max_diff is: batch b, head h, row, col."),
    INT(checked_rows, "rows", "Query rows judged against float64.", .title = "rows"),
    INT(total_rows,   "rows", "Query rows of the output, B*H*Sq."),
    INT(bad_rows, "rows", "Judged rows that are wrong, where the check failed."),
    REAL(bad_pct, 3, "%", "The same of the judged rows."),
    JSON(first_bad, "", "The first wrong row: batch b, head h, row."),
    JSON(error_map, "", "Wrong rows by head and query tile: tile_rows, heads (of a batch), share (0..1, a list for each head; null: not judged)."),
    JSON(causes, "", "What would make the output so, likeliest first: cause, text, where, explained (0..1), certain."),
    TEXT(check, "pass or fail; null with a reason where the reference itself is not finite."),
    BOOL(deterministic, "Did two runs on the same inputs give the same bits, but for what atomic additions explain? null: not looked at (a run of over half a second)."),
    REAL(rerun_max_diff, 2, "", "Largest difference between those two outputs."),
    REAL(speedup,  3, "", "Median time of the run's first kernel over this one's."),
    REAL(ratio,    4, "", "Time over the base kernel's time, median of interleaved pairs."),
    REAL(ratio_lo, 4, "", "Lower end of the ratio's 95 % interval.", .title = "from"),
    REAL(ratio_hi, 4, "", "Upper end of the ratio's 95 % interval.", .title = "to"),
    TEXT(verdict, "base, FASTER, SLOWER, SAME (within 1 %) or AMBIGUOUS; between recordings also control."),
    FICKLE(FIELD_TEXT, verdict_reason, 0, "", "Why AMBIGUOUS although the interval would have a winner: noise could make it."),
    REAL(pair_max_diff, 2, "", "Largest difference between this output and the base's.", .title = "pair diff"),
    INT(seed, "", "Seed of the inputs."),
    INT(regs, "registers", "Registers of a thread in the code that ran (CUDA)."),
    TEXT(regs_source,  "Who made that code: ptxas (with the program) or nvrtc (on this machine)."),
    TEXT(input,        "Kind of the inputs, or the .npy files."),
    TEXT(driver,       "GPU driver version."),
    TEXT(cuda,         "CUDA version."),
    TEXT(source_hash,  "Hash of the kernel's source and headers."),
    TEXT(peer_version, "Version of a peer library, where one ran.", .title = "peer"),
    TEXT(time,         "When it was measured, UTC."),
    TEXT(reason,       "Why there is no figure, or why the check failed."),
    FICKLE(FIELD_TEXT, noise, 0, "", "What disturbed the times, in one line; quiet: nothing was seen."),
    REAL(other_cores,   3, "cores", "Processors that other programs used while it was timed."),
    REAL(steal_pct,     3, "%", "Processor time that the hypervisor gave to other machines."),
    REAL(throttled_pct, 3, "%", "Samples whose clock was held down, dropped ones included."),
    REAL(drift_pct,     3, "%", "Median of the last quarter of the samples over the first's, less one."),
    INT(modes, "", "2 when the times fall into two groups with hardly any between, else 1."),
    FICKLE(FIELD_REAL, mode_ratio, 3, "", "Time of the slower of two modes over the faster."),
    FICKLE(FIELD_REAL, mode_pct, 3, "%", "Samples in the slower of two modes."),
    TEXT(held, "What kept the GPU's clock down while it was timed: power, heat, power brake, hardware slowdown, sync boost."),
    REAL(of_ceiling_pct, 3, "%", "The nearer of two roofs that doctor --peak measured of this device: its products' rate (of a GPU at the clock of the run), and, where caches were cold, DRAM's bandwidth for compulsory bytes.", .title = "% ceiling"),
    TEXT(ptx, "Whose PTX the simulator ran: nvcc, nvrtc or clang and its version; file: the user's own."),
    REAL(predicted_us, 3, "us", "Time by the simulator's model; null until there is one. Simulation speed is never a time."),
    INT(blocks,     "blocks", "Blocks of all launches of a simulated run."),
    INT(blocks_run, "blocks", "How many of them were simulated; fewer: counts are those of all, by blocks that stand for others."),
    INT(hazards,    "", "Distinct hazards that the simulator found: accesses out of bounds, never written, misaligned, races, missing waits, barriers; null: none was found and races were not looked for."),
    TEXT(hazard, "The first of them: what, where, who."),
#define COUNTER(...)
#define COUNTED(field_, title_, unit_, section_, join_, scale_, doc_, ...) \
    FIELD(FIELD_REAL, run_row, field_, .unit = unit_, .doc = doc_),
#include "backend/counter_table.h"
#undef COUNTER
    REAL(independent,   3, "samples", "What the samples are worth where neighbours hang together."),
    REAL(lse_max_diff,  2, "", "Largest error of the LSE (log of the sum of exponentials of a row's scores) against float64; null: it writes none, or not whole."),
    FICKLE(FIELD_TEXT, crossing, 0, "", "Of a sweep with base=: overtakes or falls behind the base, between the last point with another verdict and this one."),
    TEXT(hazards_shape, "The small shape that hazards were looked for on, where it is not the row's own; null: the row's own, or they were not looked for."),
    SAMPLES(recent_us, "The last samples; not stored."),
    SAMPLES(samples_us, "The samples, evenly thinned to at most 1000; kept in recordings alone."),
    {.name = NULL},
};
// clang-format on

const struct row_type run_type = ROW_TYPE(run_row, {run_fields, 0});

json_t *run_row_result(const struct run_row *row)
{
    json_t *o = record_to_json(run_fields, row);
    for (const struct field *f = run_fields; f->name; f++)
        if (f->flags & FIELD_UNKEPT)
            json_object_del(o, f->name);
    return o;
}

void run_row_drop_samples(struct run_row *row)
{
    json_decref(row->recent_us);
    json_decref(row->samples_us);
    row->recent_us = row->samples_us = NULL;
}

bool run_row_passed(const struct run_row *row)
{
    return row->check && strcmp(row->check, "pass") == 0 &&
           (!row->origin || strcmp(row->origin, ORIGIN_ALTERED) != 0);
}

/* ---- rows ---- */

void run_rows_take(struct run_rows *rows, struct run_row *row)
{
    xgrow((void **)&rows->v, &rows->cap, rows->n + 1, sizeof *rows->v);
    rows->v[rows->n++] = *row;
    record_init(run_fields, row);
}

void run_rows_append(struct run_rows *rows, struct run_rows *more)
{
    for (size_t i = 0; i < more->n; i++)
        run_rows_take(rows, &more->v[i]);
    run_rows_clear(more);
}

void run_rows_clear(struct run_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        record_clear(run_fields, &rows->v[i]);
    free(rows->v);
    *rows = (struct run_rows){0};
}

void run_row_share(const struct run_row *from, struct run_row *to)
{
    record_copy(run_fields, to, from);
    run_row_drop_samples(to);
}

void run_rows_share(const struct run_rows *rows, struct rowset *out)
{
    *out = (struct rowset){.type = &run_type};
    for (size_t i = 0; i < rows->n; i++)
        run_row_share(&rows->v[i], rowset_add(out));
}
