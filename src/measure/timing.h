/* timing.h - the timing loop's rules, apart from any clock: stop rule and dropped samples.
 *
 * Pure state machine, fed with samples; the worker owns the loop, the clock and the warm-up (runs
 * that are never fed in, for at most `warm_s`).
 *
 * Sampling stops, first rule first, when
 *   "n"       n > 0 samples were kept (the other rules but "time" are then off), or the cap of
 *             TIMING_MAX samples is reached;
 *   "cv"      at least min_s and min_n are behind us and the coefficient of variation is below cv;
 *   "steady"  at least min_s and min_n are behind us and the noise estimate itself no longer moves:
 *             over the last 64 samples the running coefficient of variation stayed within 5 % of
 *             its mean (looked at every 16 samples): more samples would not teach us more;
 *   "time"    max_s of wall time are over.
 *
 * A sample taken while the clock was below clock_floor x usual is dropped. If more than half would
 * go that way, the low clock is this device's usual one: they are all kept and the result is
 * marked unstable.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_TIMING_H
#define ATTNSCOPE_MEASURE_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/row.h"

struct timing_rule {
    int64_t n;          /* fixed number of samples; 0: by the rules below */
    double cv;          /* stop below this coefficient of variation, default 0.005 */
    double max_s;       /* wall limit, default 5 */
    double min_s;       /* sampling time wanted before cv or steadiness may stop it, default 0.5 */
    int64_t min_n;      /* default 10 */
    double warm_s;      /* warm-up wall limit, default 0.2; see warm_limit() */
    double clock_floor; /* drop samples below this share of the device's usual clock; 0: never */
};
#define TIMING_DEFAULT     \
    ((struct timing_rule){ \
        .cv = 0.005, .max_s = 5, .min_s = 0.5, .min_n = 10, .warm_s = 0.2, .clock_floor = 0.75})

enum {
    TIMING_MAX = 100000, /* samples kept at most; later ones are ignored */
    TIMING_RECENT = 64,  /* samples in recent_us */
};

struct timing; /* one kernel's samples */
struct timing *timing_new(const struct timing_rule *rule);
void timing_free(struct timing *t);
/* One sample in seconds. `clock_mhz` NaN when unknown. */
void timing_add(struct timing *t, double seconds, double clock_mhz, double usual_mhz);
/* How many samples were fed in so far; and takes back those since such a mark, which were disturbed: they are dropped. */
size_t timing_mark(const struct timing *t);
void timing_take_back(struct timing *t, size_t mark);
/* No more come. So few samples that none was judged by its clock before are judged now, by the same rule: where most are
 * low they are kept, so that a series that had any has a median. */
void timing_close(struct timing *t);
/* Returns why to stop ("cv" "steady" "n" "time"), or NULL to go on. `wall_s` since sampling began. */
const char *timing_done(const struct timing *t, double wall_s);
/* Of the samples that count, in seconds; NaN: there is none. */
double timing_median(const struct timing *t);
size_t timing_count(const struct timing *t);
const double *timing_samples(const struct timing *t); /* seconds, in order, dropped ones left out */
/* More than half of the samples ran below the clock floor, and were kept. */
bool timing_unstable(const struct timing *t);
/* Fills the time fields of the row: the *_us, cv_pct, n, dropped, sm_clock_mhz, throttled_pct, recent_us; and
 * `reason`, if it is still empty, when the samples are unstable. `stopped`, `l2`, `launch` and the
 * rates are the caller's. Earlier values are replaced. */
void timing_fill(const struct timing *t, struct run_row *row);
/* Fills what the samples say of their noise, as noise_fill(); costs milliseconds. */
void timing_fill_noise(const struct timing *t, struct run_row *row);
/* An array of at most `max` of the kept samples in us, in order, evenly picked. Caller owns. */
json_t *timing_samples_us(const struct timing *t, size_t max);

#endif
