/* row.h - one measurement of one kernel: the fields of `run`, `check`, `compare`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_ROW_H
#define ATTNSCOPE_MEASURE_ROW_H

#include "base/rowset.h"

struct run_row {
    char *kernel, *backend, *device;
    char *origin; /* of origin_words */
    char *shape, *params;
    double median_us, min_us, q1_us, q3_us, mean_us, p95_us, cv_pct;
    int64_t n, dropped;
    char *l2, *launch; /* "cold" "hot"; "direct" on the CPU, "stream" "graph" on a GPU */
    char *stopped;     /* why sampling ended: "cv" "steady" "n" "time" "cancel" */
    int64_t threads;   /* CPU backend */
    double sm_clock_mhz;
    double tflops, gbytes_per_s; /* gbytes_per_s: compulsory bytes over median */
    double max_diff, mean_diff, rms_diff, baseline_max_diff, error_ratio, rounding_ratio;
    json_t *worst;                    /* {b,h,row,col} */
    int64_t checked_rows, total_rows; /* query rows judged against float64, of all */
    /* Of a failed check: measure/diagnose.h. */
    int64_t bad_rows; /* of the judged ones */
    double bad_pct;
    json_t *first_bad;                /* {b,h,row} */
    json_t *error_map, *causes;       /* {tile_rows, heads, share [[...]]}; [{cause, ...}] */
    char *check;                      /* "pass" "fail" */
    int deterministic;                /* did two runs on the same inputs agree? -1: not looked at */
    double rerun_max_diff;            /* their largest difference */
    double speedup;                   /* over the first kernel of the run */
    double ratio, ratio_lo, ratio_hi; /* compare: time over base's time, 95 % interval */
    char *verdict;                    /* "base" "FASTER" "SLOWER" "SAME" "AMBIGUOUS" */
    char *verdict_reason;             /* why AMBIGUOUS although the interval has a winner */
    char *crossing;                   /* sweep: "overtakes naive at S = 640..768" */
    double pair_max_diff;
    int64_t seed;
    int64_t regs;      /* a thread's registers in the code that ran */
    char *regs_source; /* "ptxas" (built with the program) "nvrtc" (compiled here) */
    char *input, *driver, *cuda, *source_hash, *peer_version;
    char *time;   /* ISO 8601, UTC */
    char *reason; /* why there is no figure, or why the check failed */
    /* What disturbed the times. */
    char *noise; /* in one line; "quiet": nothing was seen */
    double other_cores, steal_pct, throttled_pct, drift_pct;
    int64_t modes; /* 1 or 2 */
    double mode_ratio, mode_pct, independent;
    char *held;            /* what kept a GPU's clock down: "power" */
    double lse_max_diff;   /* of the LSE that it wrote; unknown: it writes none */
    double of_ceiling_pct; /* beside what was measured of the GPU itself */
    /* Of a run by the simulator; NaN, INT_UNKNOWN elsewhere. */
    char *ptx;           /* whose PTX it was: "nvcc 13.0" */
    double predicted_us; /* by the time model */
    int64_t blocks,
        blocks_run;  /* of all launches; fewer were run than there are: counts are extrapolated */
    int64_t hazards; /* distinct ones that were found */
    char *hazards_shape; /* that they were looked for on; NULL: the row's */
    char *hazard;        /* the first of them, in a sentence */
#define COUNTER(...)
#define COUNTED(field_, ...) double field_; /* as in backend/counter_table.h */
#include "backend/counter_table.h"
#undef COUNTER
    json_t *recent_us;  /* the last samples, for the sparkline; never stored */
    json_t *samples_us; /* all, evenly thinned to ROW_SAMPLES_MAX; only recordings keep them */
};
enum { ROW_SAMPLES_MAX = 1000 };

extern const struct field run_fields[];
extern const struct row_type run_type;

/* A run's rows, in order; owned. Start with {0}. */
struct run_rows {
    struct run_row *v;
    size_t n, cap;
};
/* Appends a row and takes over what it owns. */
void run_rows_take(struct run_rows *rows, struct run_row *row);
/* Appends those of `more`, which is empty afterwards. */
void run_rows_append(struct run_rows *rows, struct run_rows *more);
void run_rows_clear(struct run_rows *rows);
/* Makes `to`, a row that is all unknown, a copy without the samples. */
void run_row_share(const struct run_row *from, struct run_row *to);
/* For who hands them out: copies without the samples, of run_type. The caller clears the set. */
void run_rows_share(const struct run_rows *rows, struct rowset *out);

/* Did it pass its check? False also where there is none. */
bool run_row_passed(const struct run_row *row);

/* Lets go of what no reader gets: the samples. */
void run_row_drop_samples(struct run_row *row);

/* The row as its reader gets it: an object of all fields but the samples. The caller owns it. */
json_t *run_row_result(const struct run_row *row);

#endif
