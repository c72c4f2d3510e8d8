/* A block of a kernel held still in a worker: asks and answers through the supervisor, what is refused, how long a step
 * takes, and that the session's end is the block's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/debug.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/record.h"
#include "job/super.h"
#include "tap.h"

static struct super *super;
static struct job *job;

static struct job *submit(const char *kernel, const char *shape)
{
    struct err err = ERR_INIT;
    struct job_request r = {.kind = JOB_DEBUG,
                            .problem = PROBLEM_DEFAULT,
                            .options = {.backend = xstrdup("sim"),
                                        .rule = TIMING_DEFAULT,
                                        .l2 = xstrdup("hot"),
                                        .streams = 1,
                                        .gpus = 1},
                            .entries = xcalloc(1, sizeof *r.entries),
                            .nentries = 1};
    r.entries[0] = (struct job_entry){xstrdup(kernel), xstrdup("")};
    CU_ASSERT_EQUAL(shape_parse(shape, &r.problem.shape, &err), ST_OK);
    struct job *j = super_submit(super, &r);
    job_request_clear(&r);
    return j;
}

/* Until what `number` was asked is answered, or it may be asked (0), or it has ended. */
static const json_t *await(int number)
{
    const double until = seconds_now() + 60;
    while (!job_ended(job) && seconds_now() < until) {
        struct pollfd fds[SUPER_FDS_MAX];
        (void)super_dispatch(super);
        if (number ? job_answer(job, number) != NULL : job_listens(job))
            break;
        const int n = super_fds(super, fds, SUPER_FDS_MAX), ms = super_timeout_ms(super);
        poll(fds, (nfds_t)n, ms < 0 || ms > 100 ? 100 : ms);
    }
    return number ? job_answer(job, number) : NULL;
}

static const json_t *ask(struct debug_ask a)
{
    json_t *o = json_object();
    record_add_json(debug_fields, &a, o);
    const int number = job_ask(job, o);
    json_decref(o);
    CU_ASSERT(number > 0);
    return number ? await(number) : NULL;
}

static struct debug_ask none(enum debug_act act)
{
    struct debug_ask a = DEBUG_NONE;
    a.act = (int)act;
    return a;
}

static int goal_named(const char *name)
{
    int i = 0;
    while (debug_goals[i] && strcmp(debug_goals[i], name) != 0)
        i++;
    CU_ASSERT_PTR_NOT_NULL(debug_goals[i]);
    return i;
}

static const json_t *go(const char *goal, int warp)
{
    struct debug_ask a = none(DEBUG_GO);
    a.goal = goal_named(goal);
    a.warp = warp;
    return ask(a);
}

static const char *why(const json_t *a)
{
    const char *word = json_text_of(a, "why");
    return word ? word : "";
}

static void begin(const char *kernel, const char *shape)
{
    super = super_new(NULL);
    job = submit(kernel, shape);
    (void)await(0);
    if (job_ended(job) && job_row(job, 0)->reason)
        printf("# %s\n", job_row(job, 0)->reason);
    CU_ASSERT_FATAL(job_listens(job));
}

static void end(void)
{
    job_free(job);
    super_free(super);
}

static void test_steps(void)
{
    begin("fa2", "S=64 H=2 D=64 f32");
    CU_ASSERT_EQUAL(job_ask(job, NULL), 0); /* nothing was asked that could stop */
    const json_t *a = go("instruction", 0);
    CU_ASSERT_EQUAL(json_number_of(a, "status"), ST_USAGE); /* no block yet */
    struct debug_ask b = none(DEBUG_BEGIN);
    b.y = 1;
    a = ask(b);
    CU_ASSERT(json_number_of(a, "status") == ST_OK && !strcmp(why(a), "begin"));
    CU_ASSERT(json_integer_value(json_array_get(json_object_get(a, "block"), 1)) == 1);
    CU_ASSERT(json_array_size(json_object_get(a, "warps")) > 1);

    a = go("shared", 1);
    const json_t *did = json_object_get(a, "did");
    const json_t *access = json_array_get(json_object_get(did, "accesses"), 0);
    CU_ASSERT(!strcmp(why(a), "goal") && json_number_of(did, "warp") == 1);
    CU_ASSERT(!strcmp(json_text_of(access, "space"), "shared"));
    CU_ASSERT(json_array_size(json_object_get(access, "rows")) > 0);
    CU_ASSERT(json_text_of(json_object_get(a, "next"), "file") != NULL);

    /* what lies there has a name, by which it is found again */
    struct debug_ask p = none(DEBUG_PRINT);
    p.name = (char *)(uintptr_t)json_text_of(access, "element");
    CU_ASSERT_PTR_NOT_NULL_FATAL(p.name);
    p.name = xstrdup(p.name);
    const double address =
        json_number_of(json_array_get(json_object_get(access, "rows"), 0), "address");
    a = ask(p);
    const json_t *value = json_array_get(json_object_get(a, "found"), 0);
    CU_ASSERT(json_number_of(value, "address") == address);
    CU_ASSERT(json_is_real(json_object_get(value, "value")));
    free(p.name);

    /* back, and there again */
    const double step = json_number_of(a, "step");
    struct debug_ask t = none(DEBUG_TO);
    t.step = (int64_t)step - 1;
    a = ask(t);
    CU_ASSERT(json_number_of(a, "step") == step - 1 && json_number_of(a, "last") == step);
    t.step++;
    a = ask(t);
    CU_ASSERT(json_number_of(a, "step") == step);
    t.step = (int64_t)step + 1000;
    CU_ASSERT_EQUAL(json_number_of(ask(t), "status"), ST_USAGE);

    a = go("end", -1);
    CU_ASSERT(!strcmp(why(a), "end") && json_is_true(json_object_get(a, "ended")));
    CU_ASSERT(json_number_of(a, "hazards") == 0 && json_number_of(a, "faults") == 0);
    end();
}

static void test_breaks(void)
{
    begin("fa2", "S=64 H=2 D=64 f32");
    const json_t *a = ask(none(DEBUG_BEGIN));
    struct debug_ask b = none(DEBUG_BREAK);
    b.place = xstrdup("1"); /* a comment */
    a = ask(b);
    CU_ASSERT_EQUAL(json_number_of(a, "status"), ST_OK);
    const char *at = json_text_of(json_array_get(json_object_get(a, "found"), 0),
                                  "text"); /* the next with code */
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    CU_ASSERT_TRUE_FATAL(str_starts(at, "at "));
    const int line = atoi(at + 3);
    CU_ASSERT(line > 1);
    free(b.place);
    b.place = xstrdup("100000");
    CU_ASSERT_EQUAL(json_number_of(ask(b), "status"), ST_USAGE); /* there is none behind it */
    struct debug_ask w = none(DEBUG_WATCH);
    w.name = xstrdup("O[0][0][3][5]");
    a = ask(w);
    CU_ASSERT_EQUAL(json_number_of(a, "status"), ST_OK);
    a = ask(none(DEBUG_BREAKS));
    CU_ASSERT_EQUAL(json_array_size(json_object_get(a, "found")), 2);
    a = go("end", -1);
    CU_ASSERT(!strcmp(why(a), "break"));
    CU_ASSERT(json_number_of(json_object_get(a, "next"), "line") == line);
    struct debug_ask d = none(DEBUG_DELETE);
    d.count = 1;
    CU_ASSERT_EQUAL(json_number_of(ask(d), "status"), ST_OK);
    CU_ASSERT_EQUAL(json_number_of(ask(d), "status"), ST_USAGE);
    a = go("end", -1);
    CU_ASSERT(!strcmp(why(a), "value"));
    const json_t *mark = json_object_get(a, "mark");
    CU_ASSERT(json_number_of(mark, "number") == 2);
    CU_ASSERT(json_is_real(json_object_get(mark, "after")));
    const double written = json_number_value(json_object_get(mark, "after"));
    struct debug_ask p = none(DEBUG_PRINT);
    p.name = w.name;
    a = ask(p);
    CU_ASSERT(json_number_of(json_array_get(json_object_get(a, "found"), 0), "value") == written);
    free(b.place);
    free(w.name);
    end();
}

static void test_refused(void)
{
    begin("splitkv", "S=64 H=1 D=64 f32");
    struct debug_ask b = none(DEBUG_BEGIN);
    b.x = 10000;
    CU_ASSERT_EQUAL(json_number_of(ask(b), "status"), ST_USAGE);
    b.x = 0;
    b.pass = xstrdup("combine");
    const json_t *a = ask(b);
    CU_ASSERT(json_number_of(a, "status") == ST_OK && !strcmp(json_text_of(a, "pass"), "combine"));
    a = go("end", -1); /* what the pass before wrote is there */
    CU_ASSERT(!strcmp(why(a), "end") && json_number_of(a, "faults") == 0);
    free(b.pass);
    b.pass = xstrdup("nonesuch");
    a = ask(b);
    CU_ASSERT(json_number_of(a, "status") == ST_USAGE &&
              strstr(json_text_of(a, "error"), "combine"));
    CU_ASSERT(!strcmp(json_text_of(a, "pass"), "combine")); /* the old block stays */
    free(b.pass);
    static const char *const names[] = {"%nonesuch", "Zs[1]", "Q[0][0][0][9999]", "%",
                                        "",          "Ks[",   "shared+99999999"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct debug_ask p = none(DEBUG_PRINT);
        p.name = (char *)(uintptr_t)names[i];
        CU_ASSERT_EQUAL(json_number_of(ask(p), "status"), ST_USAGE);
    }
    struct debug_ask g = none(DEBUG_GO);
    g.warp = 31;
    CU_ASSERT_EQUAL(json_number_of(ask(g), "status"), ST_USAGE);
    end();
}

static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

/* How long until a step is there: told, and bounded only by what no machine that works needs. */
static void test_latency(void)
{
    enum { STEPS = 400 };
    static double took[STEPS];
    begin("fa2", "S=128 D=64 f16");
    (void)ask(none(DEBUG_BEGIN));
    for (int i = 0; i < STEPS; i++) {
        const double from = seconds_now();
        const json_t *a = go(i % 4 ? "instruction" : "line", i % 3);
        took[i] = seconds_now() - from;
        CU_ASSERT_EQUAL(json_number_of(a, "status"), ST_OK);
    }
    qsort(took, STEPS, sizeof *took, by_size);
    printf("# a step takes %.2f ms, 99 of 100 at most %.2f ms\n", 1e3 * took[STEPS / 2],
           1e3 * took[STEPS * 99 / 100]);
    CU_ASSERT(took[STEPS * 99 / 100] < 2);
    end();
}

/* Steps back from late in a long block, near and far: not as long as the block is. */
static void test_late(void)
{
    enum { TIMES = 200 };
    static double took[TIMES];
    begin("fa2", "S=1024 D=64 f32");
    (void)ask(none(DEBUG_BEGIN));
    const double from = seconds_now();
    const json_t *a = go("end", -1);
    const double all = seconds_now() - from;
    CU_ASSERT_STRING_EQUAL(why(a), "end");
    const int64_t last = json_integer_value(json_object_get(a, "last"));
    for (int i = 0; i < TIMES; i++) {
        struct debug_ask to = none(DEBUG_TO);
        to.step = last - 1 - (int64_t)i * i;
        const double since = seconds_now();
        a = ask(to);
        took[i] = seconds_now() - since;
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(a, "step")), to.step);
    }
    qsort(took, TIMES, sizeof *took, by_size);
    a = json_array_get(json_object_get(ask(none(DEBUG_KEPT)), "found"), 0);
    printf("# %lld steps take %.0f ms; back takes %.2f ms, 99 of 100 at most %.2f ms, with %.0f "
           "moments in %.1f MiB\n",
           (long long)last, 1e3 * all, 1e3 * took[TIMES / 2], 1e3 * took[TIMES * 99 / 100],
           json_number_of(a, "moments"), json_number_of(a, "bytes") / (1 << 20));
    CU_ASSERT(took[TIMES / 2] < all / 4);
    CU_ASSERT(took[TIMES * 99 / 100] < 2);
    end();
}

/* The worker dies: the job ends or begins anew, and nobody waits for ever. */
static void test_death(void)
{
    begin("fa2", "S=64 D=64 f32");
    (void)ask(none(DEBUG_BEGIN));
    const int pid = super_pid(super, "launch");
    CU_ASSERT_FATAL(pid > 0);
    kill(pid, SIGKILL);
    const double until = seconds_now() + 60;
    while (!job_ended(job) && super_pid(super, "launch") == pid && seconds_now() < until) {
        (void)super_dispatch(super);
        usleep(1000);
    }
    CU_ASSERT(job_ended(job) || super_pid(super, "launch") != pid);
    end();
}

static const struct tap_test tests[] = {
    {"steps, values, and back", test_steps},       {"breaks and watches", test_breaks},
    {"what is refused, and passes", test_refused}, {"latency", test_latency},
    {"back from late in a long block", test_late}, {"the worker dies", test_death},
};
TAP_MAIN("debug", tests)
