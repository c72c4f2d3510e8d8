/* test_row.c - the fields of a measurement: all of them are there, and they survive JSON.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "measure/row.h"
#include "tap.h"

/* What users, scripts and other parts of the program rely on. */
static const char *const promised[] = {
    "kernel",        "backend",
    "device",        "origin",
    "shape",         "params",
    "median_us",     "min_us",
    "q1_us",         "q3_us",
    "mean_us",       "p95_us",
    "cv_pct",        "n",
    "dropped",       "l2",
    "launch",        "sm_clock_mhz",
    "tflops",        "gbytes_per_s",
    "max_diff",      "mean_diff",
    "rms_diff",      "baseline_max_diff",
    "error_ratio",   "rounding_ratio",
    "worst",         "check",
    "speedup",       "seed",
    "input",         "driver",
    "cuda",          "source_hash",
    "peer_version",  "reason",
    "ratio",         "ratio_lo",
    "ratio_hi",      "verdict",
    "pair_max_diff",
};

static void test_promised_fields(void)
{
    for (size_t i = 0; i < sizeof promised / sizeof *promised; i++)
        CU_ASSERT_PTR_NOT_NULL(field_find(run_fields, promised[i]));
}

/* A name that ends with a unit is a figure of that unit; others may have none. */
static bool unit_fits(const struct field *f)
{
    static const struct {
        const char *ending, *unit;
    } units[] = {
        {"_us", "us"}, {"_pct", "%"}, {"_bytes", "B"}, {"_mhz", "MHz"}, {"tflops", "TFLOP/s"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(f->name), e = strlen(units[i].ending);
        if (n >= e && !strcmp(f->name + n - e, units[i].ending) &&
            (!f->unit || strcmp(f->unit, units[i].unit)))
            return false;
    }
    return true;
}

/* Every member of the struct is in the table once: the offsets tile the struct. */
static void test_table_covers_struct(void)
{
    size_t covered = 0;
    for (const struct field *f = run_fields; f->name; f++) {
        covered += 8; /* a lone truth value is padded */
        for (const struct field *g = run_fields; g != f; g++) {
            CU_ASSERT(g->offset != f->offset);
            CU_ASSERT(strcmp(g->name, f->name) != 0);
        }
        CU_ASSERT(f->doc && strlen(f->doc) > 5);
        CU_ASSERT(unit_fits(f));
    }
    CU_ASSERT_EQUAL(covered, sizeof(struct run_row));
}

static void test_unknown_is_null(void)
{
    struct run_row row;
    record_init(run_fields, &row);
    json_t *o = record_to_json(run_fields, &row);
    const char *key;
    json_t *value;
    size_t n = 0;
    json_object_foreach(o, key, value)
    {
        CU_ASSERT(json_is_null(value));
        n++;
    }
    CU_ASSERT(n >= sizeof promised / sizeof *promised);
    json_decref(o);
    record_clear(run_fields, &row);
}

static void test_round_trip(void)
{
    struct run_row row, back;
    struct err err = ERR_INIT;
    record_init(run_fields, &row);
    record_init(run_fields, &back);
    row.kernel = xstrdup("fa2");
    row.median_us = 12.5;
    row.n = 77;
    row.worst = json_pack("{s:i}", "row", 3);
    json_t *o = record_to_json(run_fields, &row);
    CU_ASSERT_EQUAL(record_from_json(run_fields, &back, o, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(back.kernel, "fa2");
    CU_ASSERT_EQUAL(back.median_us, 12.5);
    CU_ASSERT_EQUAL(back.n, 77);
    CU_ASSERT(json_equal(back.worst, row.worst));
    CU_ASSERT(isnan(back.mean_us));
    CU_ASSERT_EQUAL(back.dropped, INT_UNKNOWN);
    json_decref(o);
    record_clear(run_fields, &row);
    record_clear(run_fields, &back);
}

/* Rows are owned by their list; what is taken over leaves nothing behind. */
static void test_rows(void)
{
    struct run_rows rows = {0}, more = {0};
    for (int i = 0; i < 3; i++) {
        struct run_row row;
        record_init(run_fields, &row);
        row.kernel = xasprintf("k%d", i);
        row.check = i == 1 ? xstrdup("fail") : i == 2 ? xstrdup("pass") : NULL;
        row.recent_us = json_array();
        run_rows_take(i < 2 ? &rows : &more, &row);
        CU_ASSERT(!row.kernel && !row.recent_us);
    }
    run_rows_append(&rows, &more);
    CU_ASSERT(rows.n == 3 && more.n == 0);
    CU_ASSERT_STRING_EQUAL(rows.v[2].kernel, "k2");
    CU_ASSERT(!run_row_passed(&rows.v[0]) && !run_row_passed(&rows.v[1]) &&
              run_row_passed(&rows.v[2]));
    struct rowset shared;
    run_rows_share(&rows, &shared);
    CU_ASSERT_EQUAL(shared.n, 3);
    CU_ASSERT(!row_has(shared.rows[0], "recent_us") && row_has(shared.rows[0], "reason"));
    rowset_clear(&shared);
    run_rows_clear(&rows);
    CU_ASSERT(rows.n == 0 && !rows.v);
}

static const struct tap_test tests[] = {
    {"a list of rows", test_rows},
    {"promised fields exist", test_promised_fields},
    {"the table covers the struct", test_table_covers_struct},
    {"unknown values are null", test_unknown_is_null},
    {"rows survive JSON", test_round_trip},
};
TAP_MAIN("row", tests)
