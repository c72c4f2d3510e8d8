/* counters.h - what `profile` counts, on a GPU or by the simulator (counter_table.h), and how the launches of a run
 * make one figure. Pure; front ends read the tables for titles, help and `explain`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_COUNTERS_H
#define ATTNSCOPE_BACKEND_COUNTERS_H

#include "base/record.h"

enum { COUNTER_NAMES = 3 };

/* How the figures of several launches make one of the run. Where no honest figure comes out, there
 * is none. */
enum counter_join {
    JOIN_SUM,  /* bytes, events, cycles */
    JOIN_TIME, /* mean, weighted by the launches' durations: percentages, rates */
    JOIN_NONE, /* extremes over units: the busiest SM need not be the same one */
};

enum counter_section {
    SECTION_SPEED,
    SECTION_OCCUPANCY,
    SECTION_MEMORY,
    SECTION_WORK,
    SECTION_EXECUTED
};

struct counter {
    const char *field; /* of rows; NULL ends the table */
    const char *title, *unit;
    enum counter_section section;
    enum counter_join join;
    double scale;
    const char *names[COUNTER_NAMES]; /* all NULL: only the simulator counts it */
};
extern const struct counter counters[];
/* The counter of this field, or NULL. */
const struct counter *counter_find(const char *field);

/* The figures of one launch, or of a run, by index into the table; NaN where the chip has no such
 * counter or it could not be read. */
#define COUNTER(field_, ...) COUNTER_##field_,
enum {
#include "backend/counter_table.h"
    COUNTERS
};
#undef COUNTER
struct counter_values {
    double v[COUNTERS];
};
extern const struct field counter_fields[];          /* of counter_values */
void counter_values_clear(struct counter_values *c); /* all unknown */
/* `n` launches as one run. One launch stays as it is. */
struct counter_values counters_join(const struct counter_values *launches, int n);
/* An object of every field; unknown is null. The caller owns it. */
json_t *counters_to_json(const struct counter_values *c);

#endif
