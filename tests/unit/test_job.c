/* test_job.c - a row grows from two sides, and is the same whoever is heard first; who was lost in a further run does
 * not pass.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "job/job.h"
#include "tap.h"

static struct job *job_of(enum job_kind kind, const char *backend)
{
    struct job_request r = {.kind = kind, .problem = PROBLEM_DEFAULT};
    options_init(&r.options);
    free(r.options.backend);
    r.options.backend = xstrdup(backend);
    r.problem.shape.H = r.problem.shape.Hkv = 1;
    r.problem.shape.Sq = r.problem.shape.Sk = 16;
    r.entries = xcalloc(2, sizeof *r.entries);
    r.nentries = 2;
    r.entries[0].kernel = xstrdup("naive");
    r.entries[1].kernel = xstrdup("fa2");
    struct job *j = job_new(NULL, 1, &r);
    job_request_clear(&r);
    return j;
}

/* The launch worker's row of entry 0. */
static void hear_worker(struct job *j, const char *row)
{
    struct err err = ERR_INIT;
    char *text = xasprintf("[%s, {}]", row);
    json_t *rows = json_loads(text, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rows);
    CU_ASSERT_EQUAL(job_take_rows(j, rows, &err), ST_OK);
    json_decref(rows);
    free(text);
}

/* The judge's. */
static void hear_judge(struct job *j, const char *row)
{
    struct err err = ERR_INIT;
    json_t *o = json_loads(row, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(o);
    CU_ASSERT_EQUAL(job_take_verdict(j, 0, o, &err), ST_OK);
    json_decref(o);
}

static void test_order(void)
{
    static const struct {
        const char *what, *worker, *judge, *check, *reason; /* NULL: none */
    } cases[] = {
        {"a hazard that was seen is why",
         "{\"check\":\"fail\",\"hazard\":\"race\",\"reason\":\"race\"}",
         "{\"check\":\"fail\",\"reason\":\"row 3 is off\"}", "fail", "race"},
        {"a hazard fails what is right",
         "{\"check\":\"fail\",\"hazard\":\"race\",\"reason\":\"race\"}", "{\"check\":\"pass\"}",
         "fail", "race"},
        {"the judge's word stands before a remark", "{\"reason\":\"unstable\"}",
         "{\"check\":\"fail\",\"reason\":\"row 3 is off\"}", "fail", "row 3 is off"},
        {"a remark beside a pass", "{\"reason\":\"unstable\"}", "{\"check\":\"pass\"}", "pass",
         "unstable"},
        {"nothing but a pass", "{}", "{\"check\":\"pass\"}", "pass", NULL},
        {"a worker makes nothing pass", "{\"check\":\"pass\"}",
         "{\"check\":\"fail\",\"reason\":\"row 3 is off\"}", "fail", "row 3 is off"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int judge_first = 0; judge_first < 2; judge_first++) {
            struct job *j = job_of(JOB_CHECK, "sim");
            if (judge_first)
                hear_judge(j, cases[i].judge);
            hear_worker(j, cases[i].worker);
            if (!judge_first)
                hear_judge(j, cases[i].judge);
            hear_worker(j, cases[i].worker); /* rows come again and again */
            const struct run_row *row = job_row(j, 0);
            const bool same = cases[i].reason ? row->reason && !strcmp(row->reason, cases[i].reason)
                                              : !row->reason;
            if (!same || !row->check || strcmp(row->check, cases[i].check) != 0)
                printf("# %s, judge %s: %s, %s\n", cases[i].what, judge_first ? "first" : "last",
                       row->check ? row->check : "null", row->reason ? row->reason : "null");
            CU_ASSERT_TRUE(same);
            CU_ASSERT_TRUE(row->check && !strcmp(row->check, cases[i].check));
            job_destroy(j);
        }
}

/* Entry 0 has run once and its output was judged, unless `late`; then it is lost. */
static void lose(struct job *j, bool seen, bool late, bool died, bool fault)
{
    j->entry = 0;
    j->entries[0].seen = seen;
    if (!late && seen)
        hear_judge(j, "{\"check\":\"pass\"}");
    if (died)
        (void)job_go_on(j, "naive: the worker died");
    else {
        hear_worker(j, "{\"reason\":\"naive: illegal address\"}");
        (void)job_go_on_without(j, 0, fault);
    }
    if (late && seen)
        hear_judge(j, "{\"check\":\"pass\"}");
}

static void test_lost(void)
{
    static const struct {
        enum job_kind kind;
        bool seen, late, died, fault;
        const char *check;
    } cases[] = {
        {JOB_CHECK, true, false, false, true, "fail"}, /* it met a fault of its own */
        {JOB_CHECK, true, true, false, true, "fail"},
        {JOB_CHECK, true, false, false, false, NULL}, /* its run failed */
        {JOB_CHECK, true, true, false, false, NULL},
        {JOB_CHECK, true, false, true, false, NULL}, /* its process ended, and nobody knows why */
        {JOB_CHECK, true, true, true, false, NULL},
        {JOB_CHECK, false, false, false, true, NULL}, /* it never ran */
        {JOB_RUN, true, false, false, true, "fail"},
        {JOB_RUN, true, false, true, false, NULL},
        {JOB_TRACE, true, false, true, false, "pass"}, /* a trace says nothing of the output */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job *j = job_of(cases[i].kind, "cuda");
        lose(j, cases[i].seen, cases[i].late, cases[i].died, cases[i].fault);
        const struct run_row *row = job_row(j, 0);
        const bool same =
            cases[i].check ? row->check && !strcmp(row->check, cases[i].check) : !row->check;
        if (!same)
            printf("# case %zu: %s\n", i, row->check ? row->check : "null");
        CU_ASSERT_TRUE(same);
        CU_ASSERT_PTR_NOT_NULL(row->reason);
        CU_ASSERT_TRUE(job_error(j) || job_entry_failed(j, 0)); /* status 3 */
        CU_ASSERT_FALSE(job_entry_failed(j, 1));
        CU_ASSERT_FALSE(j->entries[1].over);
        job_destroy(j);
    }
}

/* A neighbouring shape is wrong, and the shape itself is or is not. */
static void test_elsewhere(void)
{
    for (int order = 0; order < 4; order++) {
        const bool own = order % 2, first = order / 2;
        struct err err = ERR_INIT;
        struct job *j = job_of(JOB_CHECK, "cpu");
        struct problem p = PROBLEM_DEFAULT;
        problem_copy(&p, &j->request.problem);
        p.shape.Sq = p.shape.Sk = 17;
        json_t *problem = problem_to_json(&p);
        json_t *verdict = json_loads("{\"check\":\"fail\",\"reason\":\"wrong there\"}", 0, NULL);
        const char *said =
            own ? "{\"check\":\"fail\",\"reason\":\"wrong here\"}" : "{\"check\":\"pass\"}";
        CU_ASSERT_EQUAL_FATAL(
            job_keep_extra(j, 0, "a neighbouring shape", problem, STDOUT_FILENO, &err), ST_OK);
        if (first)
            hear_judge(j, said);
        job_take_extra_verdict(j, 0, verdict);
        if (!first)
            hear_judge(j, said);
        const struct run_row *row = job_row(j, 0);
        CU_ASSERT_STRING_EQUAL_FATAL(row->check, "fail");
        CU_ASSERT_PTR_NOT_NULL_FATAL(row->reason);
        CU_ASSERT_TRUE(own ? !strcmp(row->reason, "wrong here")
                           : strstr(row->reason, "a neighbouring shape is wrong (") &&
                                 strstr(row->reason, "): wrong there"));
        json_decref(verdict);
        json_decref(problem);
        problem_clear(&p);
        job_destroy(j);
    }
}

static const struct tap_test tests[] = {
    {"what is wrong here comes before what is wrong elsewhere", test_elsewhere},
    {"a row is the same whoever is heard first", test_order},
    {"who was lost in a further run does not pass", test_lost},
};

TAP_MAIN("job", tests)
