/* test_measure.c - jobs from requests: rows for all that was asked, what is kept and remembered, and what is
 * not.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/estimate.h"
#include "command/ask/measure.h"

#include <stdlib.h>
#include <string.h>

#include "home.h"
#include "tap.h"

static struct session *session;

static struct measuring *start(const char *kernels, const struct request_word *more,
                               enum job_kind kind)
{
    struct request r;
    struct err err = ERR_INIT;
    const struct measure_how how = {.kind = kind, .verb = "run"};
    CU_ASSERT_EQUAL_FATAL(request_of(session, kernels, more, 0, &r, &err), ST_OK);
    struct measuring *m = measure_start(session, &r, &how);
    request_clear(&r); /* measure_start() has a copy */
    return m;
}

static const char *text(const json_t *rows, size_t i, const char *field)
{
    return json_string_value(json_object_get(json_array_get(rows, i), field));
}

static size_t remembered(void)
{
    return session->rows.results.n;
}

/* How many results the store has. */
static int stored(void)
{
    const struct store_query all = {0};
    struct rowset rows = {.type = &stored_type};
    CU_ASSERT_EQUAL(store_find(session_store(session), &all, &rows, NULL), ST_OK);
    const int n = (int)rows.n;
    rowset_clear(&rows);
    return n;
}

static const struct request_word small[] = {{"B", "1"},  {"H", "1"},    {"S", "32"},
                                            {"D", "32"}, {"f32", NULL}, {"backend", "cpu"},
                                            {"n", "2"},  {NULL, NULL}},
                                 large[] = {{"B", "1"},  {"H", "8"},    {"S", "4k"},
                                            {"D", "64"}, {"f32", NULL}, {"backend", "cpu"},
                                            {NULL, NULL}};

/* What cannot run keeps its place, with the reason. */
static void test_rows(void)
{
    struct measured out;
    struct measuring *m = start("naive,fa2_mma,fa2", small, JOB_CHECK);
    CU_ASSERT_PTR_NOT_NULL(measure_job(m));
    CU_ASSERT_PTR_NULL(measure_row(m, 1));
    measure_wait(m);
    CU_ASSERT(measure_ended(m));
    CU_ASSERT_STRING_EQUAL(measure_row(m, 2)->kernel, "fa2");
    CU_ASSERT_PTR_NULL(measure_failure(m));
    measure_finish(m, &out);
    CU_ASSERT_EQUAL(out.rows.n, 3);
    CU_ASSERT_EQUAL(out.ran, 2);
    CU_ASSERT_EQUAL(out.status, ST_OK);
    CU_ASSERT_STRING_EQUAL(out.rows.v[0].check, "pass");
    CU_ASSERT_STRING_EQUAL(out.rows.v[1].kernel, "fa2_mma");
    CU_ASSERT_PTR_NOT_NULL(strstr(out.rows.v[1].reason, "no source for backend=cpu"));
    CU_ASSERT_STRING_EQUAL(out.rows.v[2].check, "pass");
    measured_clear(&out);
}

static void test_nothing_runs(void)
{
    struct measured out;
    struct measuring *m = start("fa2_mma", small, JOB_RUN);
    CU_ASSERT_PTR_NULL(measure_job(m));
    CU_ASSERT(measure_ended(m));
    measure_wait(m);
    measure_end(m, &out);
    CU_ASSERT_EQUAL(out.ran, 0);
    CU_ASSERT_EQUAL(out.rows.n, 1);
    CU_ASSERT_EQUAL(remembered(), 0);
    measured_clear(&out);
}

/* Three ends: kept, kept and remembered, neither. */
static void test_ends(void)
{
    struct measured out;
    int before = stored();
    struct measuring *m = start("naive", small, JOB_RUN);
    measure_wait(m);
    measure_close(m, &out);
    CU_ASSERT_EQUAL(out.ran, 1);
    CU_ASSERT_EQUAL(stored(), before);
    CU_ASSERT_EQUAL(remembered(), 0);
    measured_clear(&out);
    m = start("naive", small, JOB_RUN);
    measure_wait(m);
    measure_finish(m, &out);
    CU_ASSERT_EQUAL(stored(), before + 1);
    CU_ASSERT_EQUAL(remembered(), 0);
    measured_clear(&out);
    m = start("naive", small, JOB_RUN);
    measure_wait(m);
    measure_end(m, &out);
    CU_ASSERT_EQUAL(stored(), before + 2);
    CU_ASSERT_EQUAL(remembered(), 1);
    CU_ASSERT(out.rows.v[0].median_us > 0);
    measured_clear(&out);
}

/* One that is dropped leaves nothing, and the next one runs. */
static void test_drop(void)
{
    struct measured out;
    const int before = stored();
    measure_drop(NULL);
    measure_drop(start("naive", large, JOB_RUN));
    struct measuring *m = start("naive", small, JOB_CHECK);
    measure_wait(m);
    measure_close(m, &out);
    CU_ASSERT_EQUAL(out.ran, 1);
    CU_ASSERT_EQUAL(stored(), before);
    measured_clear(&out);
}

/* A cancelled one ends as such, with a row. */
static void test_cancel(void)
{
    struct measured out;
    struct err err = ERR_INIT;
    measure_finish(start("naive", large, JOB_RUN), &out);
    CU_ASSERT_EQUAL(out.status, ST_CANCELLED);
    CU_ASSERT_EQUAL(out.rows.n, 1);
    CU_ASSERT_EQUAL(measured_status(&out, true, &err), ST_CANCELLED);
    measured_clear(&out);
}

/* Stamps of each kernel that runs; nothing of one that does not. */
static void test_items(void)
{
    struct measured out;
    struct measuring *m = start("fa2_mma,fa2", small, JOB_TRACE);
    measure_wait(m);
    CU_ASSERT_PTR_NULL(measure_item(m, 0));
    CU_ASSERT(json_is_object(measure_item(m, 1)));
    measure_close(m, &out);
    measured_clear(&out);
}

/* Compiling needs no backend: a kernel that only a GPU could run is no row with a reason. */
static void test_compile(void)
{
    struct request r;
    struct measured out;
    const struct measure_how how = {.kind = JOB_COMPILE, .sm = 90, .verb = "edit"};
    CU_ASSERT_EQUAL_FATAL(request_of(session, "fa2_mma", NULL, REQUEST_PLAN, &r, NULL), ST_OK);
    struct measuring *m = measure_start(session, &r, &how);
    request_clear(&r);
    measure_wait(m);
    const json_t *kernels = json_object_get(job_extra(measure_job(m)), "kernels");
    CU_ASSERT_EQUAL(json_array_size(kernels), 1);
    CU_ASSERT_PTR_NOT_NULL(text(kernels, 0, "outcome"));
    measure_close(m, &out);
    CU_ASSERT_EQUAL(out.status, ST_OK);
    measured_clear(&out);
}

/* A probe is small, and of the same kind. */
static void test_probe(void)
{
    struct problem p = PROBLEM_DEFAULT;
    const char *big = "B=4 H=64 Hkv=16 S=100k D=128 bf16 causal", *little = "B=1 H=2 Hkv=2 S=64";
    CU_ASSERT_EQUAL(shape_parse(big, &p.shape, NULL), ST_OK);
    const struct problem cut = estimate_probe(&p);
    CU_ASSERT_EQUAL(shape_check(&cut.shape, NULL), ST_OK);
    CU_ASSERT(shape_flops(&cut.shape) > 1e8 && shape_flops(&cut.shape) < 6e8);
    CU_ASSERT(cut.shape.D == 128 && cut.shape.dtype == DTYPE_BF16 && cut.shape.causal);
    CU_ASSERT_EQUAL(cut.shape.H / cut.shape.Hkv, 4);
    CU_ASSERT_EQUAL(shape_parse(little, &p.shape, NULL), ST_OK);
    const struct problem same = estimate_probe(&p);
    CU_ASSERT(same.shape.Sq == 64 && same.shape.H == 2 && same.shape.B == 1);
}

static void test_row_seconds(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    CU_ASSERT_EQUAL(estimate_row_s(&rule, 100, false), 100);
    CU_ASSERT_EQUAL(estimate_row_s(&rule, 100, true), 200);          /* check and one sample */
    CU_ASSERT_DOUBLE_EQUAL(estimate_row_s(&rule, 1, true), 6, 1e-9); /* check, and time= */
    CU_ASSERT_DOUBLE_EQUAL(estimate_row_s(&rule, 0.01, true), 5.21, 1e-9);
    rule.n = 3;
    CU_ASSERT_DOUBLE_EQUAL(estimate_row_s(&rule, 1, true), 4, 1e-9);
}

static const struct tap_test tests[] = {
    {"a probe is small and alike", test_probe},
    {"seconds of a row", test_row_seconds},
    {"rows of all", test_rows},
    {"nothing can run", test_nothing_runs},
    {"kept and remembered", test_ends},
    {"dropped", test_drop},
    {"cancelled", test_cancel},
    {"items", test_items},
    {"compiled", test_compile},
};

static bool prepare(const char *folder)
{
    (void)folder;
    unsetenv("ATTNSCOPE_LIBCUDA"); /* no GPU */
    command_register_core();
    session = session_new("test");
    return true;
}

int main(void)
{
    const int rc = home_run("measure", prepare, tests, sizeof tests / sizeof *tests);
    session_free(session);
    return rc;
}
