/* Rows as field tables: unknown is null, and back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/record.h"

struct sample {
    char *kernel;
    int needs_optin;
    int64_t n;
    double median_us;
    json_t *grid;
};

static const struct field fields[] = {
    FIELD(FIELD_TEXT, sample, kernel, .doc = "name"),
    FIELD(FIELD_BOOL, sample, needs_optin, .doc = "truth"),
    FIELD(FIELD_INT, sample, n, .doc = "count"),
    FIELD(FIELD_REAL, sample, median_us, .digits = 4, .unit = "us", .doc = "time"),
    FIELD(FIELD_JSON, sample, grid, .doc = "anything"),
    {.name = NULL},
};

static char *dump(const struct sample *row)
{
    json_t *o = record_to_json(fields, row);
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(o);
    return text;
}

static void dumps_as(const struct sample *row, const char *want)
{
    char *text = dump(row);
    CU_ASSERT_STRING_EQUAL(text, want);
    free(text);
}

static enum status load(struct sample *row, const char *text, struct err *err)
{
    json_t *o = json_loads(text, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL(o);
    const enum status st = record_from_json(fields, row, o, err);
    json_decref(o);
    return st;
}

static const char nothing[] =
    "{\"kernel\":null,\"needs_optin\":null,\"n\":null,\"median_us\":null,\"grid\":null}";

static void test_unknown(void)
{
    struct sample row;
    record_init(fields, &row);
    CU_ASSERT(!row.kernel && row.needs_optin == -1 && row.n == INT_UNKNOWN &&
              isnan(row.median_us) && !row.grid);
    dumps_as(&row, nothing);
    row.median_us = INFINITY; /* JSON has no infinity */
    dumps_as(&row, nothing);
    record_clear(fields, &row);
}

static void test_round_trip(void)
{
    static const char text[] = "{\"kernel\":\"fa2\",\"needs_optin\":true,\"n\":9007199254740993,"
                               "\"median_us\":4.25,\"grid\":[1,2,3]}";
    struct sample row;
    struct err err = ERR_INIT;
    record_init(fields, &row);
    CU_ASSERT_EQUAL(load(&row, text, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(row.kernel, "fa2");
    CU_ASSERT(row.needs_optin == 1 && row.n == INT64_C(9007199254740993) && row.median_us == 4.25);
    dumps_as(&row, text);
    CU_ASSERT_EQUAL(load(&row, nothing, &err), ST_OK); /* null makes unknown again */
    dumps_as(&row, nothing);
    record_clear(fields, &row);
}

static void test_partial(void)
{
    struct sample row;
    struct err err = ERR_INIT;
    record_init(fields, &row);
    CU_ASSERT_EQUAL(load(&row, "{\"n\":3,\"kernel\":\"a\"}", &err), ST_OK);
    CU_ASSERT_EQUAL(load(&row, "{\"median_us\":2,\"other\":1,\"n\":4.0}", &err), ST_OK);
    dumps_as(&row,
             "{\"kernel\":\"a\",\"needs_optin\":null,\"n\":4,\"median_us\":2.0,\"grid\":null}");
    record_clear(fields, &row);
    record_clear(fields, &row); /* twice is harmless */
}

static void test_wrong_types(void)
{
    static const char *const wrong[][2] = {
        {"{\"n\":9,\"kernel\":5}", "kernel must be text"},
        {"{\"n\":9,\"needs_optin\":1}", "needs_optin must be true or false"},
        {"{\"median_us\":1,\"n\":1.5}", "n must be a whole number"},
        {"{\"median_us\":1,\"n\":1e300}", "n must be a whole number"},
        {"{\"n\":9,\"median_us\":\"fast\"}", "median_us must be a number"},
        {"[1]", "object"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sample row;
        struct err err = ERR_INIT;
        record_init(fields, &row);
        CU_ASSERT_EQUAL(load(&row, wrong[i][0], &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, wrong[i][1]));
        dumps_as(&row, nothing); /* untouched, though another member was good */
        record_clear(fields, &row);
    }
}

static void test_foreign_text(void)
{
    struct sample row;
    record_init(fields, &row);
    row.kernel = xstrdup("caf\xE9"); /* Latin-1 */
    dumps_as(&row, "{\"kernel\":\"caf<E9>\",\"needs_optin\":null,\"n\":null,\"median_us\":null,"
                   "\"grid\":null}");
    record_clear(fields, &row);
}

static void test_find(void)
{
    CU_ASSERT_PTR_EQUAL(field_find(fields, "median_us"), &fields[3]);
    CU_ASSERT_PTR_NULL(field_find(fields, "median"));
}

static const struct tap_test tests[] = {
    {"unknown is null", test_unknown},
    {"a whole row comes back", test_round_trip},
    {"members that are absent stay", test_partial},
    {"wrong types leave the row alone", test_wrong_types},
    {"text that is not UTF-8", test_foreign_text},
    {"finding a field", test_find},
};

TAP_MAIN("record", tests)
