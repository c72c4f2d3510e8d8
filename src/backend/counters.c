/* counters.c - see counters.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/counters.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- the table ---- */

#define COUNTER(field_, title_, unit_, section_, join_, scale_, doc_, ...) \
    {.field = #field_,                                                     \
     .title = title_,                                                      \
     .unit = unit_,                                                        \
     .section = SECTION_##section_,                                        \
     .join = JOIN_##join_,                                                 \
     .scale = scale_,                                                      \
     .names = {__VA_ARGS__}},
const struct counter counters[] = {
#include "backend/counter_table.h"
    {.field = NULL},
};
#undef COUNTER

#define COUNTER(field_, title_, unit_, section_, join_, scale_, doc_, ...) \
    {.name = #field_,                                                      \
     .type = FIELD_REAL,                                                   \
     .offset = offsetof(struct counter_values, v[COUNTER_##field_]),       \
     .unit = unit_,                                                        \
     .doc = doc_},
const struct field counter_fields[] = {
#include "backend/counter_table.h"
    {.name = NULL},
};
#undef COUNTER

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
    record_init(counter_fields, c);
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
    for (int i = 0; i < COUNTERS && n > 0; i++)
        out.v[i] = counters[i].join == JOIN_SUM    ? join_sum(launches, n, i)
                   : counters[i].join == JOIN_TIME ? join_time(launches, n, i)
                                                   : NAN;
    return out;
}

json_t *counters_to_json(const struct counter_values *c)
{
    return record_to_json(counter_fields, c);
}
