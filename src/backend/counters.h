/* counters.h - hardware counters: the one table of what `profile` reads, and how the launches of a
 * run make one figure. Pure; front ends read the table for titles, help and `explain`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_COUNTERS_H
#define ATTNSCOPE_BACKEND_COUNTERS_H

#include <jansson.h>

enum { COUNTERS_MAX = 64, COUNTER_NAMES = 3 };

/* How the figures of several launches make one of the run. Where no honest figure comes out, there
 * is none. */
enum counter_join {
    JOIN_SUM,  /* bytes, events, cycles */
    JOIN_TIME, /* mean, weighted by the launches' durations: percentages, rates */
    JOIN_NONE, /* extremes over units: the busiest SM need not be the same one */
};

enum counter_section { SECTION_SPEED, SECTION_OCCUPANCY, SECTION_MEMORY, SECTION_WORK };

struct counter {
    const char *field; /* of rows; NULL ends the table */
    const char *title; /* as in the tables of Nsight Compute where that has it */
    const char *unit;
    enum counter_section section;
    enum counter_join join;
    double scale;                     /* from CUPTI's unit to ours */
    const char *names[COUNTER_NAMES]; /* CUPTI's, best first; a chip has the first that it knows */
    const char *doc;                  /* one sentence for help, `explain` and the manual */
};
extern const struct counter counters[];
int counters_count(void);
/* The counter of this field, or NULL. */
const struct counter *counter_find(const char *field);

/* The figures of one launch, or of a run, by index into the table; NaN where the chip has no such
 * counter or it could not be read. */
struct counter_values {
    double v[COUNTERS_MAX];
};
void counter_values_clear(struct counter_values *c); /* all unknown */
/* `n` launches as one run. One launch stays as it is. */
struct counter_values counters_join(const struct counter_values *launches, int n);
/* An object of every field; unknown is null. The caller owns it. */
json_t *counters_to_json(const struct counter_values *c);

#endif
