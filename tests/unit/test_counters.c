/* test_counters.c - the table of hardware counters, and launches that become one run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "backend/counters.h"
#include "base/record.h"
#include "measure/row.h"
#include "plan/plan.h"

static int at(const char *field)
{
    return (int)(counter_find(field) - counters);
}

static bool is_field_name(const char *name)
{
    for (; *name; name++)
        if (!islower((unsigned char)*name) && !isdigit((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

static void table_is_whole(void)
{
    CU_ASSERT(COUNTERS > 25);
    for (int i = 0; i < COUNTERS; i++) {
        const struct counter *c = &counters[i];
        CU_ASSERT(is_field_name(c->field));
        CU_ASSERT(*c->title && c->unit && c->scale > 0);
        CU_ASSERT(c->names[0] || c->section == SECTION_EXECUTED); /* the simulator's own */
        CU_ASSERT_STRING_EQUAL(counter_fields[i].name, c->field);
        CU_ASSERT(*counter_fields[i].doc);
        CU_ASSERT_EQUAL(at(c->field), i); /* no name twice */
        for (int k = 0; k < COUNTER_NAMES && c->names[k]; k++)
            CU_ASSERT(strstr(c->names[k], "__") && strchr(c->names[k], '.'));
    }
    CU_ASSERT_PTR_NULL(counter_find("no_such_thing"));
}

/* One name means one thing: `explain` would find the plan's first. */
static void names_are_not_taken(void)
{
    for (int i = 0; i < COUNTERS; i++)
        for (size_t k = 0; plan_metric_name(NULL, k); k++)
            CU_ASSERT_STRING_NOT_EQUAL(plan_metric_name(NULL, k), counters[i].field);
}

static void unknown_is_null(void)
{
    struct counter_values v;
    counter_values_clear(&v);
    v.v[at("dram_bytes")] = 4096;
    json_t *o = counters_to_json(&v);
    CU_ASSERT_EQUAL(json_object_size(o), (size_t)COUNTERS);
    CU_ASSERT_EQUAL(json_number_value(json_object_get(o, "dram_bytes")), 4096);
    CU_ASSERT(json_is_null(json_object_get(o, "l2_bytes")));
    json_decref(o);
}

static void one_launch_is_the_run(void)
{
    struct counter_values v;
    counter_values_clear(&v);
    v.v[at("sm_active_cycles_max")] = 7;
    v.v[at("tensor_pct")] = 40; /* without a duration */
    const struct counter_values run = counters_join(&v, 1);
    CU_ASSERT_EQUAL(run.v[at("sm_active_cycles_max")], 7);
    CU_ASSERT_EQUAL(run.v[at("tensor_pct")], 40);
}

static void launches_add_up(void)
{
    struct counter_values v[2];
    for (int i = 0; i < 2; i++) {
        counter_values_clear(&v[i]);
        v[i].v[at("duration_us")] = i ? 30 : 10;
        v[i].v[at("dram_bytes")] = i ? 500 : 100;
        v[i].v[at("tensor_pct")] = i ? 80 : 0;
        v[i].v[at("sm_active_cycles_max")] = 5;
    }
    v[0].v[at("l2_bytes")] = 64; /* the second is unknown */
    const struct counter_values run = counters_join(v, 2);
    CU_ASSERT_EQUAL(run.v[at("duration_us")], 40);
    CU_ASSERT_EQUAL(run.v[at("dram_bytes")], 600);
    CU_ASSERT_DOUBLE_EQUAL(run.v[at("tensor_pct")], 60, 1e-12);
    CU_ASSERT(isnan(run.v[at("sm_active_cycles_max")]));
    CU_ASSERT(isnan(run.v[at("l2_bytes")]));
    CU_ASSERT(isnan(counters_join(v, 0).v[at("dram_bytes")]));
}

static const struct tap_test tests[] = {
    {"every counter has names, unit and meaning", table_is_whole},
    {"no counter has the name of a figure of the plan", names_are_not_taken},
    {"unknown is null", unknown_is_null},
    {"one launch is the run", one_launch_is_the_run},
    {"launches add up, or are weighted by time, or are unknown", launches_add_up},
};

TAP_MAIN("counters", tests)
