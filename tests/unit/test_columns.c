/* The tables of every verb: each column is a field of its rows, says no more than how it differs from
 * that field, and every field is described.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "command/session.h"
#include "export/row_grids.h"
#include "lesson/action.h"
#include "lesson/lesson.h"
#include "measure/row.h"
#include "plan/plan.h"
#include "plan/row.h"

/* ---- what is wrong with a table: one sentence a line ---- */

static void check_column(const struct column *c, const struct columns *cols, const char *who,
                         struct str *out)
{
    const struct field *f = columns_field(cols, c->field);
    if (!f) {
        str_addf(out, "%s: no field \"%s\"\n", who, c->field);
        return;
    }
    if (c->title && !strcmp(c->title, field_title(f)))
        str_addf(out, "%s: %s says its field's heading\n", who, c->field);
    if (c->digits && c->digits == (f->digits ? f->digits : 4))
        str_addf(out, "%s: %s says its field's digits\n", who, c->field);
    if (c->left && field_is_text(f))
        str_addf(out, "%s: %s is on the left anyway\n", who, c->field);
}

/* "median_us" is in us. */
static const char *unit_in(const char *name)
{
    static const char *const ends[][2] = {
        {"gbytes_per_s", "GB/s"}, {"_us", "us"},         {"_ms", "ms"},    {"_s", "s"},
        {"seconds", "s"},         {"minutes", "min"},    {"_pct", "%"},    {"_bytes", "B"},
        {"_mhz", "MHz"},          {"tflops", "TFLOP/s"}, {"_gbs", "GB/s"}, {"_mib", "MiB"},
        {"_gib", "GiB"}};
    const size_t len = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(ends[i][0]);
        if (len >= n && !strcmp(name + len - n, ends[i][0]))
            return ends[i][1];
    }
    return NULL;
}

static void check_field(const struct field *f, const struct columns *cols, const char *who,
                        struct str *out)
{
    const struct field *seen = columns_field(cols, f->name);
    const char *unit = unit_in(f->name);
    if (f->flags & (FIELD_LOCAL | FIELD_SECOND | FIELD_UNKEPT))
        return; /* goes nowhere */
    if (seen == f && (!f->doc || !*f->doc))
        str_addf(out, "%s: %s is not described\n", who, f->name);
    if (unit && !field_is_text(f) && (!f->unit || strcmp(f->unit, unit) != 0))
        str_addf(out, "%s: %s is in %s, and says \"%s\"\n", who, f->name, unit,
                 f->unit ? f->unit : "");
}

/* How far off a predicted time is says nothing without it: "off 40 %" beside a check is read as the result's. So it is
 * the first of the two that a narrow table leaves out. */
static void check_error_column(const struct columns *cols, const char *who, struct str *out)
{
    const struct column *time = NULL, *error = NULL;
    for (const struct column *c = cols->list; c->field; c++) {
        if (!strcmp(c->field, "predicted_us"))
            time = c;
        if (!strcmp(c->field, "predicted_error_pct"))
            error = c;
    }
    if (error && (!time || (time->drop && error->drop <= time->drop)))
        str_addf(out, "%s: predicted_error_pct stays without predicted_us\n", who);
}

static void check_columns(const struct columns *cols, const char *who, struct str *out)
{
    for (const struct column *c = cols->list; c->field; c++)
        check_column(c, cols, who, out);
    check_error_column(cols, who, out);
    const struct field *table;
    for (size_t i = 0; (table = columns_table(cols, i)); i++)
        for (const struct field *f = table; f->name; f++)
            check_field(f, cols, who, out);
}

static void expect(struct str *out, const char *want)
{
    if (strcmp(str_text(out), want) != 0)
        printf("# %s\n", str_text(out));
    CU_ASSERT_STRING_EQUAL(str_text(out), want);
    str_free(out);
}

/* ---- the tests ---- */

static void test_verbs(void)
{
    struct str out = {0};
    int tables = 0;
    command_register_core();
    lesson_register();
    for (int i = 0; command_at(i); i++)
        for (const struct columns *const *c = command_at(i)->columns; c && *c; c++, tables++)
            check_columns(*c, command_at(i)->name, &out);
    for (int i = 0; lesson_action_at(i); i++)
        if (lesson_action_at(i)->columns)
            check_columns(lesson_action_at(i)->columns, lesson_action_at(i)->name, &out);
    CU_ASSERT(tables >= 10);
    expect(&out, "");
}

/* The check above can fail. */
static void test_wrong(void)
{
    static const struct field timed[] = {
        {.name = "predicted_us", .type = FIELD_REAL, .unit = "us", .doc = "When."},
        {.name = "predicted_error_pct", .type = FIELD_REAL, .unit = "%", .doc = "Or so."},
        {.name = NULL},
    };
    const struct columns alone = {
        .of = FIELD_TABLES(timed),
        .list = (const struct column[]){{.field = "predicted_us", .drop = 5},
                                        {.field = "predicted_error_pct", .drop = 5},
                                        {0}},
    };
    struct str off = {0};
    check_columns(&alone, "y", &off);
    expect(&off, "y: predicted_error_pct stays without predicted_us\n");
    static const struct field some[] = {
        {.name = "time_us", .type = FIELD_REAL, .digits = 3, .doc = "How long."},
        {.name = "name", .type = FIELD_TEXT, .title = "who"},
        {.name = NULL},
    };
    const struct columns cols = {
        .of = FIELD_TABLES(some),
        .list = (const struct column[]){{.field = "time_su"},
                                        {.field = "time_us", .digits = 3},
                                        {.field = "name", .title = "who", .left = true},
                                        {0}},
    };
    struct str out = {0};
    check_columns(&cols, "x", &out);
    expect(&out, "x: no field \"time_su\"\n"
                 "x: time_us says its field's digits\n"
                 "x: name says its field's heading\n"
                 "x: name is on the left anyway\n"
                 "x: time_us is in us, and says \"\"\n"
                 "x: name is not described\n");
}

static void test_resolve(void)
{
    const struct columns cols = {
        .of = FIELD_TABLES(run_fields),
        .list = (const struct column[]){{.field = "l2"},
                                        {.field = "cv_pct"},
                                        {.field = "median_us", .title = "new us", .digits = 6},
                                        {0}},
    };
    struct column *c = columns_resolve(&cols);
    CU_ASSERT_STRING_EQUAL(c[0].title, "L2");
    CU_ASSERT(c[0].left && !c[1].left && !c[2].left);
    CU_ASSERT_STRING_EQUAL(c[1].title, "CV %");
    CU_ASSERT_EQUAL(c[1].digits, field_find(run_fields, "cv_pct")->digits);
    CU_ASSERT_STRING_EQUAL(c[2].title, "new us");
    CU_ASSERT_EQUAL(c[2].digits, 6);
    CU_ASSERT_PTR_NULL(c[3].field);
    free(c);
}

static void test_units(void)
{
    CU_ASSERT_STRING_EQUAL(metric_unit("median_us"), "us");
    CU_ASSERT_STRING_EQUAL(metric_unit("occupancy_pct"), "%");
    CU_ASSERT_STRING_EQUAL(metric_unit("smem_bytes"), "B");
    CU_ASSERT_STRING_EQUAL(metric_unit("waves"), "");
    CU_ASSERT_STRING_EQUAL(metric_unit("others_us"), ""); /* a name proves nothing */
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        CU_ASSERT_PTR_NOT_NULL(row_type_field(&plan_row_type, plan_metric_name(NULL, i), NULL));
}

static const struct tap_test tests[] = {
    {"every column of every verb is a field, and every field is described", test_verbs},
    {"what is wrong with a table is found", test_wrong},
    {"a column is its field, but for what it says itself", test_resolve},
    {"the unit of a metric is its field's", test_units},
};
TAP_MAIN("columns", tests)
