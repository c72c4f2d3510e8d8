/* test_serve.c - jobs through real workers on the CPU backend, from request to rows.
 *
 * This program is its own worker: started with a role, it serves it as attnscope-worker does.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/serve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "job/super.h"
#include "spec/npy.h"
#include "tap.h"

static struct job_request request(enum job_kind kind, const char *shape, const char *kernels)
{
    struct err err = ERR_INIT;
    struct job_request r = {.kind = kind,
                            .problem = PROBLEM_DEFAULT,
                            .options = {.backend = xstrdup("cpu"),
                                        .rule = TIMING_DEFAULT,
                                        .l2 = xstrdup("hot"),
                                        .streams = 1,
                                        .gpus = 1},
                            .entries = xcalloc(16, sizeof *r.entries)};
    CU_ASSERT_EQUAL(shape_parse(shape, &r.problem.shape, &err), ST_OK);
    char *list = xstrdup(kernels), *rest = list;
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *params = strchr(word, ':');
        if (params)
            *params++ = '\0';
        r.entries[r.nentries++] = (struct job_entry){xstrdup(word), xstrdup(params ? params : "")};
    }
    free(list);
    r.options.rule.warm_s = 0.01;
    r.options.rule.n = 12;
    r.options.rule.clock_floor = 0; /* on a shared machine slow samples are no fault */
    return r;
}

static struct super *start(void)
{
    return super_new("/proc/self/exe");
}

/* Submits, waits, and gives the request back to its maker. */
static struct job *run(struct super *s, struct job_request *r)
{
    struct job *j = super_submit(s, r);
    super_wait(s, j, NULL, NULL, NULL);
    job_request_clear(r);
    if (job_error(j))
        printf("# %s\n", job_error(j));
    return j;
}

static bool passed(const struct run_row *row)
{
    bool ok = row->check && strcmp(row->check, "pass") == 0;
    if (!ok)
        printf("# %s: %s, %s\n", row->kernel, row->check ? row->check : "no check",
               row->reason ? row->reason : "no reason");
    return ok;
}

static void test_check(void)
{
    static const char *const shapes[] = {
        "B=2 H=4 Hkv=2 Sq=33 Sk=47 D=40 f32 causal",
        "B=1 H=3 Sq=47 Sk=33 D=59 bf16 causal layout=bshd",
        "B=1 H=2 Sq=1 Sk=513 D=64 f16",
    };
    struct super *s = start();
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        struct job_request r =
            request(JOB_CHECK, shapes[k], "naive row_online fa1_2022 qtile_seq fa2 splitkv");
        struct job *j = run(s, &r);
        CU_ASSERT(job_state(j) == JOB_DONE && job_count(j) == 6);
        for (int i = 0; i < job_count(j); i++) {
            const struct run_row *row = job_row(j, i);
            CU_ASSERT(passed(row) && row->checked_rows == row->total_rows);
            CU_ASSERT(isnan(row->median_us) && isnan(row->speedup));
            CU_ASSERT(i == 0 ? isnan(row->pair_max_diff)
                             : row->pair_max_diff >= 0 && row->pair_max_diff < 0.05);
        }
        job_free(j);
    }
    CU_ASSERT_EQUAL(super_restarts(s), 0);
    super_free(s);
}

static void check_timed(const struct run_row *row, double flops, double bytes)
{
    CU_ASSERT(passed(row) && row->n == 12 && strcmp(row->stopped, "n") == 0);
    CU_ASSERT(row->min_us > 0 && row->min_us <= row->median_us && row->median_us <= row->p95_us);
    CU_ASSERT_DOUBLE_EQUAL(row->tflops * 1e6 * row->median_us / flops, 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(row->gbytes_per_s * 1e3 * row->median_us / bytes, 1, 1e-9);
    CU_ASSERT(row->device && row->threads >= 1 && row->source_hash && row->time && row->seed == 42);
    CU_ASSERT(strcmp(row->launch, "direct") == 0 && strcmp(row->origin, "live") == 0);
    CU_ASSERT_EQUAL(json_array_size(row->recent_us), 12);
}

static void test_run(void)
{
    struct super *s = start();
    for (int cold = 0; cold < 2; cold++) {
        struct job_request r = request(JOB_RUN, "B=1 H=2 S=128 D=64 f16", "naive fa2:BC=16");
        free(r.options.l2);
        r.options.l2 = xstrdup(cold ? "cold" : "hot");
        struct job *j = run(s, &r);
        CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
        for (int i = 0; i < 2; i++) {
            check_timed(job_row(j, i), 4.0 * 2 * 128 * 128 * 64, 4.0 * 2 * 128 * 64 * 2);
            CU_ASSERT_STRING_EQUAL(job_row(j, i)->l2, cold ? "cold" : "hot");
        }
        CU_ASSERT_EQUAL(job_row(j, 0)->speedup, 1);
        CU_ASSERT_DOUBLE_EQUAL(job_row(j, 1)->speedup,
                               job_row(j, 0)->median_us / job_row(j, 1)->median_us, 1e-9);
        CU_ASSERT(isnan(job_row(j, 1)->ratio) && !job_row(j, 1)->verdict);
        CU_ASSERT(strstr(job_row(j, 1)->params, "BC=16") != NULL);
        job_free(j);
    }
    super_free(s);
}

static void test_compare(void)
{
    struct super *s = start();
    struct job_request r = request(JOB_RUN, "B=1 H=1 S=64 D=64 f32", "naive nonesuch naive fa2");
    r.interleave = true;
    struct job *j = run(s, &r);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT_STRING_EQUAL(job_row(j, 0)->verdict, "base");
    CU_ASSERT_EQUAL(job_row(j, 0)->ratio, 1);
    CU_ASSERT(strstr(job_row(j, 1)->reason, "nonesuch") && isnan(job_row(j, 1)->median_us));
    for (int i = 2; i < 4; i++) {
        const struct run_row *row = job_row(j, i);
        CU_ASSERT(passed(row) && row->verdict && row->n == 12 && strcmp(row->stopped, "n") == 0);
        CU_ASSERT(row->ratio > 0 && row->ratio_lo <= row->ratio && row->ratio <= row->ratio_hi);
    }
    CU_ASSERT_EQUAL(job_row(j, 2)->pair_max_diff, 0); /* the same kernel gives the same bits */
    job_free(j);
    super_free(s);
}

/* What cannot run says why; the worker and the other entries go on. */
static void test_reasons(void)
{
    struct super *s = start();
    struct job_request r = request(JOB_CHECK, "B=1 H=1 S=32 D=32 f32", "naive fa2:XX=1 fa2:BC=0");
    struct job *j = run(s, &r);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT(passed(job_row(j, 0)));
    CU_ASSERT(strstr(job_row(j, 1)->reason, "XX") && !job_row(j, 1)->check);
    CU_ASSERT(strstr(job_row(j, 2)->reason, "BC") && !job_row(j, 2)->check);
    job_free(j);
    r = request(JOB_CHECK, "B=1 H=1 S=32 D=32 f32", "naive");
    free(r.options.backend);
    r.options.backend = xstrdup("abacus");
    j = run(s, &r);
    CU_ASSERT(job_state(j) == JOB_FAILED && strstr(job_error(j), "abacus"));
    job_free(j);
    r = request(JOB_CHECK, "B=1 H=1 S=32 D=32 f32", "naive");
    r.problem.input = INPUT_FILES;
    for (int i = 0; i < 3; i++)
        r.problem.files[i] = xstrdup("/dev/null/nowhere/q.npy");
    j = run(s, &r);
    CU_ASSERT(job_state(j) == JOB_FAILED && strstr(job_error(j), "/dev/null/nowhere/q.npy"));
    job_free(j);
    CU_ASSERT_EQUAL(super_restarts(s), 0);
    super_free(s);
}

static bool has_samples(void *ctx)
{
    return job_row(*(struct job **)ctx, 0)->n > 3;
}

static void test_cancel(void)
{
    struct super *s = start();
    struct job_request r = request(JOB_RUN, "B=1 H=1 S=64 D=64 f32", "naive");
    r.options.rule.n = 0;
    r.options.rule.min_s = r.options.rule.max_s = 30;
    struct job *j = super_submit(s, &r);
    super_wait(s, j, has_samples, NULL, &j);
    CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED);
    CU_ASSERT(passed(job_row(j, 0)) && job_row(j, 0)->median_us > 0);
    job_free(j);
    r.options.rule.max_s = r.options.rule.min_s = 0.05; /* "time" ends it */
    r.options.rule.cv = 0;
    r.options.rule.warm_s = 60; /* no warm-up is longer than what it is for */
    const double begin = seconds_now();
    j = run(s, &r);
    CU_ASSERT(seconds_now() - begin < 30);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT(job_row(j, 0)->stopped != NULL);
    job_free(j);
    super_free(s);
}

/* Few samples are not worth a long warm-up. */
static void test_short_warm_up(void)
{
    struct super *s = start();
    struct job_request r = request(JOB_RUN, "B=1 H=1 S=16 D=16 f32", "naive");
    r.options.rule.n = 3;
    r.options.rule.warm_s = r.options.rule.max_s = 60;
    const double begin = seconds_now();
    struct job *j = run(s, &r);
    CU_ASSERT(seconds_now() - begin < 30);
    CU_ASSERT(job_state(j) == JOB_DONE && passed(job_row(j, 0)));
    CU_ASSERT(job_row(j, 0)->n == 3 && !strcmp(job_row(j, 0)->stopped, "n"));
    job_free(j);
    super_free(s);
}

static void test_output(void)
{
    char path[] = "/tmp/attnscope-serve-XXXXXX";
    int fd = mkstemp(path);
    struct super *s = start();
    struct job_request r = request(JOB_CHECK, "B=2 H=3 Sq=5 Sk=7 D=16 f32 layout=bshd", "naive");
    struct npy_header h;
    struct err err = ERR_INIT;
    r.output = xstrdup(path);
    struct job *j = run(s, &r);
    CU_ASSERT(job_state(j) == JOB_DONE && passed(job_row(j, 0)));
    CU_ASSERT_EQUAL(npy_open(path, &h, &err), ST_OK);
    CU_ASSERT(h.type == NPY_F4 && h.ndim == 4 && h.dim[0] == 2 && h.dim[1] == 5 && h.dim[2] == 3 &&
              h.dim[3] == 16);
    job_free(j);
    r = request(JOB_CHECK, "B=1 H=1 S=8 D=16 f32", "naive");
    r.output = xstrdup("/dev/null/nowhere/o.npy");
    j = run(s, &r);
    CU_ASSERT(job_state(j) == JOB_FAILED && strstr(job_error(j), "/dev/null/nowhere/o.npy"));
    CU_ASSERT(!job_row(j, 0)->check && !job_row(j, 0)->reason); /* said before anything ran */
    job_free(j);
    super_free(s);
    close(fd);
    unlink(path);
}

static const struct tap_test tests[] = {
    {"every kernel passes its check, in three types", test_check},
    {"times, rates and labels", test_run},
    {"interleaved kernels are compared with the first", test_compare},
    {"what cannot run says why", test_reasons},
    {"cancel and the wall limit", test_cancel},
    {"three samples have a short warm-up", test_short_warm_up},
    {"the output file", test_output},
};

int main(int argc, char **argv)
{
    if (argc == 4)
        return strcmp(argv[1], "judge") == 0 ? serve_judge(atoi(argv[2]))
                                             : serve_launch(atoi(argv[2]));
    return tap_run("serve", tests, sizeof tests / sizeof *tests);
}
