/* test_super.c - the supervisor against workers that misbehave in every way we could think of.
 *
 * This program is its own worker: started with a role, it plays the one in bad_worker.c. After each
 * fault the same supervisor must run a good job, and at the end no process and no descriptor may
 * be left.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/super.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bad_worker.h"
#include "base/mem.h"
#include "tap.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int count_fds(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

/* No child at all, dead or alive. On a busy machine a killed process may outlast super_free(), which
 * waits for 10 ms only; but it must be dying. */
static bool no_children(void)
{
    pid_t pid = 0;
    for (double begin = now(); pid >= 0 && now() - begin < 10; usleep(1000))
        pid = waitpid(-1, NULL, WNOHANG);
    return pid == -1 && errno == ECHILD;
}

static struct super *start(const char *fault)
{
    if (fault)
        setenv("BAD_WORKER", fault, 1);
    else
        unsetenv("BAD_WORKER");
    return super_new("/proc/self/exe");
}

/* The silence that is allowed in these tests, in seconds: long against what a good job takes here,
 * whatever the machine is doing besides and whatever checks are compiled in. */
static double patience = 5;

static struct job_request request(enum job_kind kind, int entries)
{
    struct job_request r = {.kind = kind,
                            .problem = PROBLEM_DEFAULT,
                            .options = {.backend = xstrdup("cpu"),
                                        .rule = TIMING_DEFAULT,
                                        .l2 = xstrdup("hot"),
                                        .streams = 1,
                                        .gpus = 1,
                                        .timeout_s = patience},
                            .nentries = entries};
    r.entries = xcalloc((size_t)entries, sizeof *r.entries);
    for (int i = 0; i < entries; i++)
        r.entries[i] = (struct job_entry){xasprintf("k%d", i), xstrdup("")};
    return r;
}

static struct job *submit(struct super *s, enum job_kind kind, int entries)
{
    struct job_request r = request(kind, entries);
    struct job *j = super_submit(s, &r);
    job_request_clear(&r);
    return j;
}

/* A job whose workers are slow by intent, and may be. */
static struct job *submit_slow(struct super *s, int entries)
{
    struct job_request r = request(JOB_RUN, entries);
    r.options.timeout_s = 5;
    struct job *j = super_submit(s, &r);
    job_request_clear(&r);
    return j;
}

static struct job *run(struct super *s, enum job_kind kind, int entries)
{
    struct job *j = submit(s, kind, entries);
    super_wait(s, j, NULL, NULL, NULL);
    return j;
}

/* Sets the patience; called first. */
static void test_patience(void)
{
    double longest = 0;
    for (int i = 0; i < 3; i++) {
        struct super *s = start(NULL);
        double begin = now();
        job_free(run(s, JOB_RUN, 2));
        longest = fmax(longest, now() - begin);
        super_free(s);
    }
    patience = fmin(fmax(10 * longest, 0.6), 5);
    printf("# a good job takes %.0f ms, a silent worker is given %.0f ms\n", longest * 1e3,
           patience * 1e3);
    CU_ASSERT(longest < 5);
}

static void check_good(const struct job *j)
{
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT_PTR_NULL(job_error(j));
    if (job_error(j))
        printf("# %s\n", job_error(j));
    for (int i = 0; i < job_count(j); i++) {
        const struct run_row *row = job_row(j, i);
        CU_ASSERT(row->median_us == 10 && row->n == 10 && row->max_diff == i);
        CU_ASSERT(row->check && strcmp(row->check, "pass") == 0);
        CU_ASSERT(row->speedup == 1 && row->kernel[0] == 'k' && strcmp(row->origin, "live") == 0);
    }
}

struct beside {
    struct job *awaited, *other;
    int ended_with_us; /* turns in which the other one's end was told while the awaited one went on */
};

static void look_beside(void *ctx)
{
    struct beside *b = ctx;
    b->ended_with_us += job_ended(b->other) && !job_ended(b->awaited);
}

/* A loop that knows one supervisor drives another one, too, and hears of its jobs. */
static void test_beside(void)
{
    struct super *s = start(NULL), *other = super_new("/proc/self/exe");
    struct beside b = {0};
    const int fds = super_fds(s, (struct pollfd[SUPER_FDS_MAX]){{0}}, SUPER_FDS_MAX);
    super_join(s, other);
    super_on_turn(s, look_beside, &b);
    b.other = submit(other, JOB_RUN, 2);
    b.awaited = submit(s, JOB_RUN, 2);
    CU_ASSERT_EQUAL(super_timeout_ms(s), 0);
    super_wait(s, b.awaited, NULL, NULL, NULL);
    check_good(b.awaited);
    job_free(b.awaited);
    b.awaited = submit(s, JOB_RUN, 1);
    super_wait(s, b.other, NULL, NULL, NULL); /* whose supervisor nobody waits with */
    check_good(b.other);
    job_free(b.other);
    b.other = b.awaited;
    super_wait(s, b.awaited, NULL, NULL, NULL);
    check_good(b.awaited);
    super_on_turn(s, NULL, NULL);
    super_part(s, other);
    super_free(other);
    job_free(b.awaited);
    job_free(run(s, JOB_RUN, 1));
    CU_ASSERT(super_fds(s, (struct pollfd[SUPER_FDS_MAX]){{0}}, SUPER_FDS_MAX) > fds);
    super_free(s);
    CU_ASSERT(no_children());
}

/* Descriptors of a process from `first` on that lead to that file. */
static int count_open(int pid, int first, const char *file)
{
    char folder[64], path[400], to[256];
    int n = 0;
    snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        const ssize_t len = readlink(path, to, sizeof to - 1);
        n += atoi(e->d_name) >= first && len > 0 && (size_t)len == strlen(file) &&
             !memcmp(to, file, (size_t)len);
    }
    if (d)
        closedir(d);
    return n;
}

static void test_good(void)
{
    struct super *s = start(NULL);
    CU_ASSERT(super_pid(s, "launch") == 0 && super_pid(s, "judge") == 0); /* nothing runs yet */
    CU_ASSERT_EQUAL(super_timeout_ms(s), -1);
    for (int i = 1; i <= 3; i++) {
        struct job *j = run(s, JOB_RUN, i);
        check_good(j);
        job_free(j);
    }
    CU_ASSERT(super_pid(s, "launch") > 0 && super_pid(s, "judge") > 0);
    CU_ASSERT_EQUAL(
        count_open(super_pid(s, "judge"), 4, "/dev/null"), /* it has what we had, and no more */
        count_open((int)getpid(), 4, "/dev/null"));
    CU_ASSERT_EQUAL(super_restarts(s), 0);
    for (double begin = now(); super_timeout_ms(s) != -1 && now() - begin < 10; usleep(1000))
        super_dispatch(s);                    /* the end of the log */
    CU_ASSERT_EQUAL(super_timeout_ms(s), -1); /* idle costs nothing */
    super_free(s);
}

static void test_keeps_stdin(void)
{
    CU_ASSERT_FATAL(fcntl(0, F_GETFD) >= 0);
    super_free(start(NULL));
    CU_ASSERT(fcntl(0, F_GETFD) >= 0);
}

static void test_check_only(void)
{
    struct super *s = start(NULL);
    struct job *j = run(s, JOB_CHECK, 2);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT(isnan(job_row(j, 1)->median_us) && strcmp(job_row(j, 1)->check, "pass") == 0);
    job_free(j);
    super_free(s);
}

/* A fault, the state it leads to, and what the sentence must contain. */
static const struct fault {
    const char *name, *says;
} faults[] = {
    {"early_exit", "ended with status 4 while starting"},
    {"early_hang", "gave no sign of life"},
    {"wrong_role", "did not say hello"},
    {"other_build", "the worker is of another build (0123456789abcdef) than this program ("},
    {"no_build", "the worker is of another build (none) than this program ("},
    {"exit_3", "ended with status 3: the fake has ^[[31mno memory"},
    {"abort", "k0: the worker died (signal 6, aborted) while checking"},
    {"segv", "k0: the worker died (signal 11, segmentation fault) while checking"},
    {"sigkill", "died (signal 9, killed)"},
    {"sigstop", "gave no sign of life"},
    {"hang", "k0: the worker gave no sign of life"},
    {"close", "closed its connection"},
    {"child", "died (signal 9, killed)"},
    {"bad_magic", "mark"},
    {"bad_version", "version 7"},
    {"bad_type", "unknown type 99"},
    {"huge_length", "the limit is"},
    {"bad_reserved", "reserved"},
    {"bad_checksum", "checksum"},
    {"cut_header", "ended with status 0"},
    {"cut_payload", "ended with status 0"},
    {"silent_header", "gave no sign of life"},
    {"silent_payload", "gave no sign of life"},
    {"bad_sequence", "number 1 where 2 was due"},
    {"garbage", "mark"},
    {"fd_uninvited", "descriptor too many"},
    {"hello_twice", "HELLO out of turn"},
    {"wrong_job", "ESTIMATE out of turn"},
    {"no_entry", "output that nobody expected"},
    {"output_twice", "output that nobody expected"},
    {"bad_rows", "median_us"},
    {"few_rows", "rows are not those of the job"},
    {"no_rows", "rows are not those of the job"},
    {"verdict", "VERDICT out of turn"},
    {"bad_estimate", "estimate is none"},
    {"native_index", "natives that are no entries"},
    {"ready_close", "closed its connection"},
    {"inputs_segv", "the worker died (signal 11, segmentation fault) while making the inputs"},
    {"time_segv", "died (signal 11, segmentation fault) while timing"},
    {"time_late_segv", "died (signal 11, segmentation fault) while timing"},
    {"time_hang", "gave no sign of life"},
    {"judge_segv", "the judge died (signal 11, segmentation fault) while checking"},
    {"judge_exit", "the judge ended with status 1"},
    {"judge_hang", "the judge gave no sign of life"},
    {"judge_garbage", "mark"},
    {"judge_close", "the judge closed its connection"},
    {"judge_entry", "verdict that nobody asked for"},
    {"judge_rows", "DONE out of turn"},
    {"judge_verdict", "check"},
};
enum { NFAULTS = sizeof faults / sizeof *faults };

static void check_fault(const struct fault *f)
{
    struct super *s = start(f->name);
    double begin = now();
    struct job *j = run(s, JOB_RUN, 2);
    double took = now() - begin;
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT(job_error(j) && strstr(job_error(j), f->says));
    if (!job_error(j) || !strstr(job_error(j), f->says))
        printf("# %s: %s\n", f->name, job_error(j) ? job_error(j) : "(no error)");
    CU_ASSERT(took < 4 * patience + 1); /* two kernels are lost, each by one silence at most */
    CU_ASSERT(strcmp(job_row(j, 1)->kernel, "k1") == 0);
    job_free(j);
    unsetenv("BAD_WORKER");
    begin = now();
    j = run(s, JOB_RUN, 2); /* the survivor of the pair may still have the fault's name */
    check_good(j);
    CU_ASSERT(now() - begin < 2 * patience + 1);
    CU_ASSERT(super_restarts(s) >= 1);
    job_free(j);
    super_free(s);
}

static void test_faults(void)
{
    for (int i = 0; i < NFAULTS; i++) {
        int fds = count_fds();
        check_fault(&faults[i]);
        bool clean = no_children() && count_fds() == fds;
        CU_ASSERT(clean);
        if (!clean)
            printf("# left behind by %s\n", faults[i].name);
    }
}

/* The second of three kernels takes its worker down whenever it runs. It alone is blamed, and the
 * others go on: `restarts` of the launch worker later, their rows are as if it had not been there. */
static void check_guilty(const char *fault, enum job_kind kind, bool pairs, int restarts)
{
    struct super *s = start(fault);
    struct job_request r = request(kind, 3);
    r.interleave = pairs;
    struct job *j = super_submit(s, &r);
    super_wait(s, j, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT(job_error(j) && strncmp(job_error(j), "k1: the worker ", 15) == 0);
    CU_ASSERT(job_row(j, 1)->reason && strcmp(job_row(j, 1)->reason, job_error(j)) == 0);
    CU_ASSERT(isnan(job_row(j, 1)->median_us));
    for (int i = 0; i < 3; i += 2) {
        const struct run_row *row = job_row(j, i);
        CU_ASSERT_PTR_NULL(row->reason);
        CU_ASSERT(row->check && strcmp(row->check, "pass") == 0 && row->max_diff == i);
        CU_ASSERT(kind == JOB_CHECK ? isnan(row->median_us) : row->median_us == 10);
    }
    CU_ASSERT_EQUAL(super_restarts(s), restarts);
    job_free(j);
    job_request_clear(&r);
    super_free(s);
}

static void test_guilty(void)
{
    check_guilty("k1_segv", JOB_RUN, false, 1);
    check_guilty("k1_segv", JOB_CHECK, false, 1);
    check_guilty("k1_segv", JOB_RUN, true, 1);
    check_guilty("k1_hang", JOB_RUN, false, 1);
    check_guilty("k1_lost", JOB_RUN, false, 1);
    check_guilty("k1_lost", JOB_CHECK, true, 1);
    check_guilty("k1_time_segv", JOB_RUN, false, 1);
    check_guilty("k1_time_hang", JOB_RUN, false, 1);
    check_guilty("k1_pair_segv", JOB_RUN, true, 2); /* once to learn who it is */
    CU_ASSERT(no_children());
}

/* When every kernel is guilty each of them answers for itself. */
static void test_all_guilty(void)
{
    struct super *s = start("segv");
    struct job *j = run(s, JOB_RUN, 7);
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT(strncmp(job_error(j), "k0: ", 4) == 0);
    for (int i = 0; i < 7; i++) {
        const char *reason = job_row(j, i)->reason;
        char name[16];
        snprintf(name, sizeof name, "k%d: ", i);
        CU_ASSERT(reason && strncmp(reason, name, 4) == 0 && strstr(reason, "signal 11"));
    }
    CU_ASSERT_EQUAL(super_restarts(s), 6);
    job_free(j);
    super_free(s);
}

/* Kernel 0 printed something, kernel 1 ended without a word. */
static void test_last_words(void)
{
    struct super *s = start("words");
    struct job *j = run(s, JOB_CHECK, 3);
    CU_ASSERT(job_error(j) &&
              !strcmp(job_error(j), "k1: the worker ended with status 3 while checking"));
    CU_ASSERT_PTR_NULL(job_row(j, 0)->reason);
    CU_ASSERT(strstr(super_log(s), "k0 has no memory\n") != NULL);
    CU_ASSERT_PTR_NULL(strstr(super_log(s), "^^")); /* marks of the worker's are not shown */
    job_free(j);
    super_free(s);
}

/* Native kernel 1 takes the worker down while others run: they are innocent. What it does alone is its own. */
static void check_native(const char *fault, bool pairs, bool guilty, int restarts)
{
    struct super *s = start(fault);
    struct job_request r = request(JOB_RUN, 3);
    r.interleave = pairs;
    struct job *j = super_submit(s, &r);
    super_wait(s, j, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(job_state(j), guilty ? JOB_FAILED : JOB_DONE);
    CU_ASSERT_EQUAL(super_restarts(s), restarts);
    for (int i = 0; i < 3; i++) {
        const struct run_row *row = job_row(j, i);
        const bool lost = guilty && i == 1;
        CU_ASSERT(lost ? !row->check : row->check && strcmp(row->check, "pass") == 0);
        CU_ASSERT(lost ? isnan(row->median_us) : row->median_us == 10);
        CU_ASSERT(lost ? row->reason && !strncmp(row->reason, "k1: the worker died", 19)
                       : !pairs || (row->reason && strstr(row->reason, "there is no ratio")));
        CU_ASSERT(pairs || lost || !row->reason);
        if (row->reason)
            printf("# %s: k%d: %s\n", fault, i, row->reason);
    }
    CU_ASSERT_EQUAL(job_error(j) != NULL, guilty);
    job_free(j);
    job_request_clear(&r);
    super_free(s);
}

static void test_native(void)
{
    check_native("native_check", false, false, 2);
    check_native("native_hang", false, false, 2);
    check_native("native_pairs", true, false, 2);
    check_native("native_doubt", true, false, 2);
    check_native("native_guilty", true, true, 2);
    CU_ASSERT(no_children());
}

static void submit_named(struct super *s, const char *name, int entries, bool good)
{
    struct job_request r = request(JOB_CHECK, entries);
    free(r.entries[0].kernel);
    r.entries[0].kernel = xstrdup(name);
    struct job *j = super_submit(s, &r);
    super_wait(s, j, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(job_state(j), good ? JOB_DONE : JOB_FAILED);
    job_free(j);
    job_request_clear(&r);
}

/* A worker in which a native kernel is serves no job without it. */
static void test_strangers(void)
{
    struct super *s = start("native");
    submit_named(s, "k0", 2, true);
    const int first = super_pid(s, "launch");
    submit_named(s, "another", 2, true); /* k1 is in it, too */
    CU_ASSERT_EQUAL(super_pid(s, "launch"), first);
    submit_named(s, "k0", 1, true);
    CU_ASSERT(super_pid(s, "launch") != first && super_restarts(s) == 1);
    super_free(s);
}

/* A launch worker killed while it waits for the judge was running no kernel: nobody is blamed. */
static void test_killed_waiting(void)
{
    struct super *s = start("judge_slow");
    struct job *j = submit_slow(s, 3);
    for (double begin = now(); !strstr(job_phase(j), "reference") && now() - begin < 10;) {
        super_dispatch(s);
        usleep(200);
    }
    tap_kill(super_pid(s, "launch"), SIGKILL);
    super_wait(s, j, NULL, NULL, NULL);
    check_good(j);
    CU_ASSERT_EQUAL(super_restarts(s), 1);
    job_free(j);
    super_free(s);
}

static void test_phase(void)
{
    struct super *s = start("hang");
    struct job *j = submit(s, JOB_RUN, 1);
    CU_ASSERT_STRING_EQUAL(job_phase(j), "");
    CU_ASSERT(isnan(job_estimate_s(j)));
    for (double begin = now(); !*job_phase(j) && now() - begin < 10;) {
        super_dispatch(s);
        usleep(200);
    }
    CU_ASSERT_STRING_EQUAL(job_phase(j), "first run of k0");
    CU_ASSERT_EQUAL(job_estimate_s(j), 0.01);
    job_cancel(j);
    super_wait(s, j, NULL, NULL, NULL);
    CU_ASSERT_STRING_EQUAL(job_phase(j), "");
    job_free(j);
    super_free(s);
}

/* A judge that ends between two outputs is replaced, and no output goes unjudged. */
static void test_judge_replaced(void)
{
    struct super *s = start("judge_once");
    struct job *j = submit_slow(s, 3);
    super_wait(s, j, NULL, NULL, NULL);
    check_good(j);
    CU_ASSERT_EQUAL(super_restarts(s), 2);
    job_free(j);
    super_free(s);
}

/* Judges do not survive the second of three outputs. It stays unjudged, the others are judged, and all
 * are timed. */
static void test_judge_guilty(void)
{
    static const struct {
        const char *fault, *says;
        int restarts;
    } cases[] = {
        {"judge_k1_segv", "k1: the judge died (signal 11", 2}, /* it has a second try */
        {"judge_k1_hang", "k1: the judge gave no sign of life", 1},
        {"judge_k1_unable", "k1: the judge could not judge it: no^[[31m memory", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct super *s = start(cases[i].fault);
        struct job *j = run(s, JOB_RUN, 3);
        CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
        CU_ASSERT(job_error(j) && strstr(job_error(j), cases[i].says) == job_error(j));
        CU_ASSERT(job_row(j, 1)->reason && strcmp(job_row(j, 1)->reason, job_error(j)) == 0);
        CU_ASSERT_PTR_NULL(job_row(j, 1)->check);
        for (int k = 0; k < 3; k++) {
            CU_ASSERT_EQUAL(job_row(j, k)->median_us, 10);
            CU_ASSERT(k == 1 || strcmp(job_row(j, k)->check, "pass") == 0);
        }
        /* A judge that a busy machine does not run in time is replaced as well, and no one notices. */
        const int more = super_restarts(s) - cases[i].restarts;
        CU_ASSERT(more == 0 || more == 1);
        job_free(j);
        super_free(s);
    }
    CU_ASSERT(no_children());
}

static void test_rows_survive(void)
{
    struct super *s = start("time_late_segv");
    struct job *j = run(s, JOB_RUN, 1);
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT_EQUAL(job_row(j, 0)->median_us, 10);
    CU_ASSERT_STRING_EQUAL(job_row(j, 0)->check, "pass");
    job_free(j);
    super_free(s);
}

static void test_forged_check(void)
{
    struct super *s = start("forged_check");
    struct job *j = run(s, JOB_RUN, 2);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT_STRING_EQUAL(job_row(j, 0)->check, "fail");
    CU_ASSERT(isnan(job_row(j, 1)->speedup));      /* wrong rows are not ranked */
    CU_ASSERT_EQUAL(job_row(j, 1)->median_us, 10); /* nor does the judge decide about times */
    job_free(j);
    super_free(s);
}

static void test_flood(void)
{
    struct super *s = start("flood");
    struct job *j = run(s, JOB_RUN, 1);
    check_good(j);
    for (int i = 0; i < 20; i++) {
        super_dispatch(s);
        usleep(5000);
    }
    const char *log = super_log(s);
    CU_ASSERT(strstr(log, " flood ") && strlen(log) < (64 << 10) * 3);
    CU_ASSERT_PTR_NULL(strchr(log, '\x1b'));
    job_free(j);
    super_free(s);
}

static void test_missing_program(void)
{
    struct super *s = super_new("/nonexistent/attnscope-worker");
    struct job *j = run(s, JOB_RUN, 1);
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT(strstr(job_error(j), "/nonexistent/attnscope-worker") != NULL);
    CU_ASSERT(strstr(job_error(j), "No such file") != NULL);
    job_free(j);
    super_free(s);
    s = super_new("/dev/null");
    j = run(s, JOB_RUN, 1);
    CU_ASSERT_STRING_EQUAL(job_error(j), "cannot start the worker /dev/null: not a file");
    job_free(j);
    super_free(s);
    setenv("ATTNSCOPE_WORKER", "/etc/passwd", 1);
    s = super_new(NULL);
    j = run(s, JOB_RUN, 1);
    CU_ASSERT_STRING_EQUAL(job_error(j), "cannot start the worker /etc/passwd (named by "
                                         "ATTNSCOPE_WORKER): not a program");
    job_free(j);
    super_free(s);
    unsetenv("ATTNSCOPE_WORKER");
}

static void test_not_found(void)
{
    unsetenv("ATTNSCOPE_WORKER");
    struct super *s = super_new(NULL); /* no attnscope-worker lies beside a test */
    struct job *j = run(s, JOB_RUN, 1);
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT(job_error(j) && strstr(job_error(j), "set ATTNSCOPE_WORKER"));
    job_free(j);
    super_free(s);
}

/* Five faults of a kernel's are enough for a minute, and for that kernel alone. */
static void test_budget(void)
{
    struct super *s = start("guilty_segv");
    for (int i = 0; i < 5; i++)
        submit_named(s, "guilty", 1, false);
    const int restarts = super_restarts(s);
    struct job_request r = request(JOB_RUN, 2);
    free(r.entries[0].kernel);
    r.entries[0].kernel = xstrdup("guilty");
    struct job *j = super_submit(s, &r);
    super_wait(s, j, NULL, NULL, NULL);
    CU_ASSERT(strstr(job_error(j), "guilty: its process failed 5 times within a minute") != NULL);
    CU_ASSERT(strstr(job_error(j), "again in") != NULL);
    CU_ASSERT(job_row(j, 0)->reason && !strcmp(job_row(j, 0)->reason, job_error(j)));
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT(job_row(j, 1)->check && job_row(j, 1)->median_us == 10);
    CU_ASSERT(super_restarts(s) <= restarts + 1);
    job_free(j);
    job_request_clear(&r);
    submit_named(s, "guilty", 1, false); /* nothing is started for it */
    CU_ASSERT(super_restarts(s) <= restarts + 1);
    for (int i = 0; i < 3; i++)
        submit_named(s, "innocent", 2, true);
    super_free(s);
}

/* A worker that does not come up is nobody's fault, and everybody waits. */
static void test_budget_of_all(void)
{
    struct super *s = start("early_exit");
    for (int i = 0; i < 5; i++)
        submit_named(s, "k0", 1, false);
    struct job *j = run(s, JOB_RUN, 1);
    CU_ASSERT(strstr(job_error(j), "the worker failed 5 times within a minute") != NULL);
    CU_ASSERT_EQUAL(super_pid(s, "launch"), 0);
    job_free(j);
    super_free(s);
}

static bool always(void *ctx)
{
    (void)ctx;
    return true;
}

static bool after_rows(void *ctx)
{
    const struct job *j = *(struct job **)ctx;
    return job_row(j, 0)->median_us == 10;
}

/* Cancelling is no fault, however often it kills. */
static void test_cancel(void)
{
    struct super *s = start("slow");
    struct job *j = submit(s, JOB_RUN, 1);
    super_wait(s, j, after_rows, NULL, &j);
    CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED);
    CU_ASSERT_EQUAL(job_row(j, 0)->median_us, 10);
    CU_ASSERT(super_restarts(s) == 0 && super_pid(s, "launch") > 0); /* it stopped by itself */
    job_free(j);
    super_free(s);
    s = start("hang");
    double best = INFINITY;
    for (int i = 0; i < 7; i++) {
        double begin = now();
        j = submit(s, JOB_RUN, 1);
        super_wait(s, j, always, NULL, NULL);
        CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED);
        best = fmin(best, now() - begin);
        job_free(j);
    }
    CU_ASSERT(best < 0.2); /* 50 ms of grace and a new process; a busy machine delays some tries */
    unsetenv("BAD_WORKER");
    j = run(s, JOB_RUN, 1);
    check_good(j);
    job_free(j);
    super_free(s);
    CU_ASSERT(no_children());
}

static void test_queue(void)
{
    struct super *s = start(NULL);
    struct job *a = submit(s, JOB_RUN, 1), *b = submit(s, JOB_RUN, 1), *c = submit(s, JOB_RUN, 2);
    job_cancel(b);
    CU_ASSERT_EQUAL(job_state(b), JOB_CANCELLED);
    super_wait(s, c, NULL, NULL, NULL);
    check_good(a);
    check_good(c);
    CU_ASSERT(isnan(job_row(b, 0)->median_us));
    job_free(a);
    job_free(b);
    job_free(c);
    job_free(submit(s, JOB_RUN, 1)); /* freed before it began */
    a = submit(s, JOB_RUN, 1);
    super_dispatch(s);
    job_free(a); /* freed while it runs */
    b = run(s, JOB_RUN, 1);
    check_good(b);
    c = submit(s, JOB_RUN, 1);
    super_free(s); /* jobs outlive it */
    CU_ASSERT_EQUAL(job_state(c), JOB_CANCELLED);
    job_free(b);
    job_free(c);
}

/* SIGKILL and SIGSTOP from outside at many moments of a job. */
static void test_signals(void)
{
    static const char *const roles[] = {"launch", "judge"};
    for (int i = 0; i < 20; i++) {
        struct super *s = start("slow");
        struct job *j = submit(s, JOB_RUN, 2);
        for (int k = 0; k <= i / 4 && !job_ended(j); k++) {
            super_dispatch(s);
            usleep(200);
        }
        int pid = super_pid(s, roles[i % 2]);
        if (pid)
            kill(pid, i % 4 < 2 ? SIGKILL : SIGSTOP);
        for (double begin = now(); !job_ended(j) && now() - begin < 0.25;) {
            super_dispatch(s);
            usleep(1000);
        }
        if (job_ended(j)) /* a judge that is not needed any more may die unnoticed */
            CU_ASSERT(job_state(j) == JOB_FAILED && job_error(j));
        job_free(j);
        unsetenv("BAD_WORKER");
        struct job *good = submit(s, JOB_RUN, 1);
        for (double begin = now(); !job_ended(good) && now() - begin < 10;) {
            super_dispatch(s);
            usleep(500);
        }
        CU_ASSERT(job_ended(good));
        job_free(good);
        super_free(s);
    }
    CU_ASSERT(no_children());
}

/* An idle worker that is killed costs no message, however often; one that is stopped costs the next job. */
static void test_idle_death(void)
{
    struct super *s = start(NULL);
    job_free(run(s, JOB_RUN, 1));
    for (int i = 0; i < 7; i++) {
        tap_kill(super_pid(s, "launch"), SIGKILL);
        struct job *j = run(s, JOB_RUN, 1);
        check_good(j);
        job_free(j);
    }
    super_free(s);
}

static void test_quick(void)
{
    struct super *s = start("slow");
    double worst = 0;
    struct job *j = submit(s, JOB_RUN, 8);
    for (double begin = now(); now() - begin < 0.5;) {
        struct timespec a, b; /* our own CPU time: the machine may be busy */
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        super_dispatch(s);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        double took = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        worst = took > worst ? took : worst;
        usleep(2000);
    }
    printf("# slowest dispatch: %.0f us\n", worst * 1e6);
    CU_ASSERT(worst < 0.02); /* far above the aim of 1 ms: this also runs under sanitizers */
    job_free(j);
    super_free(s);
}

/* Best of several tries, for a busy machine delays some. */
static void test_quick_end(void)
{
    double best = INFINITY;
    for (int i = 0; i < 5; i++) {
        struct super *s = start("hang");
        job_free(submit(s, JOB_RUN, 1));
        struct job *j = submit(s, JOB_RUN, 1);
        super_dispatch(s);
        double begin = now();
        super_free(s);
        best = fmin(best, now() - begin);
        job_free(j);
    }
    printf("# quickest end: %.1f ms\n", best * 1e3);
    CU_ASSERT(best < 0.05);
    CU_ASSERT(no_children());
}

/* Waiting for a GPU: at which place, how long, or whose program it is. */
static void test_queued(void)
{
    struct super *s = start("queue");
    struct job *j = submit_slow(s, 1);
    char place[80] = "", program[80] = "";
    for (double begin = now(); !job_ended(j) && now() - begin < 20; usleep(500)) {
        super_dispatch(s);
        if (job_waits(j))
            snprintf(strstr(job_phase(j), "place") ? place : program, 80, "%s", job_phase(j));
    }
    CU_ASSERT_STRING_EQUAL(place, "waiting for the GPU: place 2 of 3, about 4 s");
    CU_ASSERT_STRING_EQUAL(program, "waiting for the GPU, which nsys^[[2J uses");
    check_good(j);
    CU_ASSERT_FALSE(job_waits(j));
    job_free(j);
    super_free(s);
}

/* A kernel is left out, and no process can be started for the others: the job says why, and keeps what it has. */
static void check_gone(const char *fault)
{
    char path[] = "/tmp/attnscope-test-XXXXXX";
    const int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0 && close(fd) == 0 && unlink(path) == 0 &&
                    symlink("/proc/self/exe", path) == 0);
    char own[4096];
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    CU_ASSERT_FATAL(n > 0 && unlink(path) == 0);
    own[n] = '\0';
    CU_ASSERT_FATAL(symlink(own, path) == 0);
    setenv("BAD_PROGRAM", path, 1);
    setenv("BAD_WORKER", fault, 1);
    struct super *s = super_new(path);
    job_free(run(s, JOB_RUN, 1)); /* both processes are there before their program goes */
    struct job *j = run(s, JOB_RUN, 3);
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT(job_error(j) && !strncmp(job_error(j), "k1: the worker ", 15)); /* the first cause */
    CU_ASSERT(job_row(j, 0)->check && !strcmp(job_row(j, 0)->check, "pass"));
    CU_ASSERT(job_row(j, 1)->reason && !strncmp(job_row(j, 1)->reason, "k1: the worker ", 15));
    CU_ASSERT(isnan(job_row(j, 2)->median_us));
    CU_ASSERT(job_row(j, 2)->reason && strstr(job_row(j, 2)->reason, "cannot start"));
    printf("# %s: k2: %s\n", fault, job_row(j, 2)->reason ? job_row(j, 2)->reason : "-");
    job_free(j);
    super_free(s);
    CU_ASSERT(no_children());
    unsetenv("BAD_PROGRAM");
}

static void test_gone(void)
{
    check_gone("k1_gone");
    check_gone("k1_lost_gone");
}

/* The judge can judge neither the first output of kernel 0 nor the one of its second try, which came while it had the
 * first: one sentence for each kernel, and nothing waits. */
static void test_unable(void)
{
    struct super *s = start("k1_unable");
    struct job_request r = request(JOB_RUN, 3);
    r.options.timeout_s = 5;
    struct job *j = super_submit(s, &r);
    super_wait(s, j, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    for (int i = 0; i < 3; i++) {
        const struct run_row *row = job_row(j, i);
        CU_ASSERT_PTR_NULL(row->check);
        CU_ASSERT(row->reason &&
                  strstr(row->reason, i == 1 ? "the worker died" : "no^[[31m memory"));
    }
    job_free(j);
    unsetenv("BAD_WORKER");
    super_free(s);
    s = start(
        "judge_extra_unable"); /* the checked output is right; of the further run nobody knows */
    j = super_submit(s, &r);
    super_wait(s, j, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    for (int i = 0; i < 3; i++) {
        const struct run_row *row = job_row(j, i);
        CU_ASSERT_PTR_NULL(row->check);
        CU_ASSERT(row->reason &&
                  strstr(row->reason, "a further run was not judged: no^[[31m memory"));
        if (!row->reason || row->check)
            printf("# k%d: %s, %s\n", i, row->check ? row->check : "-",
                   row->reason ? row->reason : "-");
    }
    job_free(j);
    job_request_clear(&r);
    super_free(s);
    CU_ASSERT(no_children());
}

/* A block held still is asked, one question after the other; the second may be told to stop. */
static void test_debug(void)
{
    struct super *s = start("debug_long");
    struct job *j = submit(s, JOB_DEBUG, 1);
    json_t *ask = json_pack("{s:s}", "act", "step");
    CU_ASSERT_EQUAL(job_ask(j, ask), 0); /* it has not begun */
    for (double begin = now(); !job_listens(j) && now() - begin < 10; usleep(500))
        super_dispatch(s);
    CU_ASSERT_FATAL(job_listens(j));
    CU_ASSERT_EQUAL(job_ask(j, NULL), 0); /* nothing is being done that could stop */
    const int number = job_ask(j, ask);
    CU_ASSERT(number == 1 && !job_listens(j) && !job_answer(j, number));
    CU_ASSERT_EQUAL(job_ask(j, ask), 0); /* an answer is missing */
    CU_ASSERT_EQUAL(job_ask(j, NULL), number);
    for (double begin = now(); !job_answer(j, number) && now() - begin < 10; usleep(500))
        super_dispatch(s);
    CU_ASSERT_FATAL(job_answer(j, number) != NULL);
    CU_ASSERT(job_listens(j));
    job_cancel(j);
    super_wait(s, j, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED);
    CU_ASSERT_EQUAL(job_ask(j, ask), 0);
    job_free(j);
    super_free(s);

    s = start(
        "debug_close"); /* when it is told to stop, it has gone; another one knows nothing of the block */
    j = submit(s, JOB_DEBUG, 1);
    for (double begin = now(); !job_listens(j) && now() - begin < 10; usleep(500))
        super_dispatch(s);
    CU_ASSERT_EQUAL(job_ask(j, ask), 1);
    usleep(100000);
    CU_ASSERT_EQUAL(job_ask(j, NULL), 1);
    for (double begin = now(); !super_restarts(s) && now() - begin < 10; usleep(500))
        super_dispatch(s);
    CU_ASSERT_EQUAL(super_restarts(s), 1);
    CU_ASSERT_FALSE(job_listens(j));
    job_cancel(j);
    for (double begin = now(); !job_ended(j) && now() - begin < 10; usleep(500))
        super_dispatch(s);
    CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED);
    job_free(j);
    super_free(s);
    json_decref(ask);
    CU_ASSERT(no_children());
}

/* A worker that can do nothing of a job says so, and stays. */
static void test_no_card(void)
{
    struct super *s = start("no_card");
    for (int i = 0; i < 2; i++) {
        struct job *j = run(s, JOB_RUN, 1);
        CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
        CU_ASSERT(job_error(j) && !strcmp(job_error(j), "there is ^[[2Jno card"));
        CU_ASSERT(job_no_gpu(j));
        job_free(j);
    }
    CU_ASSERT_EQUAL(super_restarts(s), 0);
    super_free(s);
    super_free(NULL);
}

/* Ends that meet: a worker dies of its cancelling, has gone when it is cancelled or asked, the judge has an output yet. */
static void test_races(void)
{
    struct super *s = start("cancel_segv");
    struct job *j = submit(s, JOB_RUN, 1);
    super_wait(s, j, after_rows, NULL, &j);
    CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED);
    CU_ASSERT_PTR_NULL(job_error(j));
    job_free(j);
    super_free(s);

    s = start("time_close");
    j = submit(s, JOB_RUN, 1);
    for (double begin = now(); job_state(j) != JOB_TIMING && now() - begin < 10; usleep(500))
        super_dispatch(s);
    CU_ASSERT_EQUAL_FATAL(job_state(j), JOB_TIMING);
    usleep(100000); /* by now it has closed its end, which nobody has heard */
    job_cancel(j);
    CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED);
    job_free(j);
    super_free(s);

    s = start("judge_slow"); /* the launch worker is done, the judge is not */
    j = submit(s, JOB_CHECK, 1);
    for (double begin = now(); !strstr(job_phase(j), "reference") && now() - begin < 10;
         usleep(500))
        super_dispatch(s);
    usleep(50000);
    super_dispatch(s);
    job_cancel(j);
    CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED);
    job_free(j);
    j = submit(s, JOB_RUN, 1); /* and the program ends while an output is judged */
    for (double begin = now(); !strstr(job_phase(j), "reference") && now() - begin < 10;
         usleep(500))
        super_dispatch(s);
    super_free(s);
    CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED);
    job_free(j);
    job_free(NULL);

    s = start(
        "idle_close"); /* an idle worker closes its connection: the next job costs another one */
    job_free(run(s, JOB_RUN, 1));
    unsetenv("BAD_WORKER");
    usleep(50000);
    j = submit(s, JOB_RUN, 1);
    super_wait(s, j, NULL, NULL, NULL);
    check_good(j);
    CU_ASSERT_EQUAL(super_restarts(s), 1);
    job_free(j);
    super_free(s);
    CU_ASSERT(no_children());
}

static void count_turns(void *ctx, const struct job *j)
{
    *(int *)ctx += job_state(j) == JOB_CHECKING || job_state(j) == JOB_TIMING;
}

/* Who was looked after with others and is parted from them minds its own jobs alone. */
static void test_parted(void)
{
    struct super *s = start(NULL), *b = super_new("/proc/self/exe"),
                 *c = super_new("/proc/self/exe");
    super_join(s, b);
    super_join(s, c); /* now before b */
    super_part(s, c);
    struct job *j = submit(b, JOB_RUN, 1);
    CU_ASSERT_EQUAL(super_timeout_ms(s), 0);
    CU_ASSERT_EQUAL(super_timeout_ms(c), -1);
    CU_ASSERT_FALSE(super_dispatch(c));
    super_free(c);
    super_wait(s, j, NULL, NULL, NULL);
    check_good(j);
    job_free(j);
    super_part(s, b);
    super_free(b);
    super_free(s);
}

/* A judge that said that it needs long keeps that time when the next output is handed to it. */
static void test_judge_busy(void)
{
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%.2f", patience + 0.7);
    setenv("BAD_SECONDS", seconds, 1);
    struct super *s = start("judge_busy");
    struct job *j = run(s, JOB_CHECK, 1);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT_PTR_NULL(job_error(j));
    CU_ASSERT_EQUAL(super_restarts(s), 0);
    job_free(j);
    super_free(s);
    unsetenv("BAD_SECONDS");
}

/* Stops the worker, then us, for longer than anybody may be silent, and lets us go on first. */
static pid_t freeze(pid_t worker)
{
    const pid_t us = getpid(), pid = fork();
    if (pid)
        return pid;
    kill(worker, SIGSTOP);
    usleep(200000); /* what it has said is heard */
    kill(us, SIGSTOP);
    usleep((useconds_t)((patience + 1.5) * 1e6));
    kill(us, SIGCONT);
    usleep(200000);
    kill(worker, SIGCONT);
    _exit(0);
}

static bool looked_for(void *ctx)
{
    return now() > *(double *)ctx;
}

/* Who was stopped together with its worker does not take that for the worker's silence. */
static void test_frozen(void)
{
    struct super *s = start("slow");
    struct job *j = submit(s, JOB_RUN, 1);
    while (job_state(j) != JOB_TIMING && !job_ended(j)) {
        super_dispatch(s);
        usleep(1000);
    }
    const pid_t helper = freeze(super_pid(s, "launch"));
    double until = now() + patience + 2.5;
    super_wait(s, j, looked_for, NULL, &until);
    CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED); /* by us */
    CU_ASSERT_EQUAL(super_restarts(s), 0);
    waitpid(helper, NULL, 0);
    job_free(j);
    super_free(s);
}

/* A front end that was away does not hold what waited for it against a kernel; three supervisors, one of them parted. */
static void test_away(void)
{
    struct super *s = start(NULL), *b = super_new("/proc/self/exe"),
                 *c = super_new("/proc/self/exe");
    int turns = 0;
    CU_ASSERT_PTR_NULL(super_backend(s));
    CU_ASSERT_EQUAL(super_pid(s, "cook"), 0);
    super_join(s, b);
    super_join(s, c);
    super_part(s, b);
    struct job *j = submit(b, JOB_RUN, 1), *k = submit(c, JOB_RUN, 1);
    CU_ASSERT_STRING_EQUAL(super_backend(c), "cpu");
    super_wait(s, k, NULL, count_turns, &turns);
    check_good(k);
    CU_ASSERT(turns > 0);
    CU_ASSERT_EQUAL(job_state(j), JOB_STARTING); /* nobody looked after b */
    super_wait(b, j, NULL, NULL, NULL);
    check_good(j);
    super_part(s, c);
    job_free(j);
    job_free(k);
    super_free(c);
    super_free(b);
    super_free(s);
    s = start("slow");
    j = submit_slow(s, 1);
    for (double begin = now(); job_state(j) != JOB_TIMING && now() - begin < 10; usleep(500))
        super_dispatch(s);
    for (double begin = now(); now() - begin < 0.2; usleep(500)) /* a few of its frames */
        super_dispatch(s);
    usleep(350000);
    for (double begin = now(); now() - begin < 0.1; usleep(500))
        super_dispatch(s);
    job_cancel(j);
    super_wait(s, j, NULL, NULL, NULL);
    CU_ASSERT_PTR_NULL(job_row(j, 0)->reason);
    job_free(j);
    super_free(s);
    CU_ASSERT(no_children());
}

static json_t *request_json(void)
{
    struct job_request r = request(JOB_RUN, 2);
    json_t *o = job_request_to_json(&r);
    job_request_clear(&r);
    return o;
}

static void test_request_round_trip(void)
{
    struct job_request r = request(JOB_CHECK, 2), back = {.nentries = 0}, copy;
    free(r.entries[1].params);
    r.entries[1].params = xstrdup("BR=32 BC=\"\xc3\xa9\"");
    r.interleave = true;
    r.output = xstrdup("o.npy");
    r.options.device = 3, r.options.threads = 2, r.options.streams = 5;
    r.options.launch = LAUNCH_GRAPH;
    r.options.rule.n = 77;
    r.options.rule.max_s = INFINITY;
    r.problem.seed = 123456789;
    job_request_copy(&copy, &r);
    json_t *a = job_request_to_json(&r), *c = job_request_to_json(&copy);
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(job_request_from_json(&back, a, &err), ST_OK);
    json_t *b = job_request_to_json(&back);
    CU_ASSERT(json_equal(a, b) && json_equal(a, c));
    CU_ASSERT(back.kind == JOB_CHECK && back.options.rule.n == 77 && back.interleave &&
              back.nentries == 2);
    CU_ASSERT_STRING_EQUAL(back.entries[1].params, "BR=32 BC=\"\xc3\xa9\"");
    CU_ASSERT(problem_equal(&back.problem, &r.problem));
    json_decref(a);
    json_decref(b);
    json_decref(c);
    job_request_clear(&r);
    job_request_clear(&back);
    job_request_clear(&copy);
}

/* One member replaced (NULL: removed), and what the sentence names. */
static void test_request_hostile(void)
{
    static const struct {
        const char *name, *value, *says;
    } cases[] = {
        {"kind", "\"melt\"", "kind"},
        {"kind", NULL, "kind"},
        {"problem", "7", "problem"},
        {"problem", NULL, "problem"},
        {"problem", "{\"B\":-1}", ""},
        {"problem",
         "{\"B\":1,\"H\":1,\"Hkv\":1,\"Sq\":1,\"Sk\":1,\"D\":1,\"dtype\":\"f16\",\"causal\":false,"
         "\"layout\":\"bhsd\",\"page\":0,\"pages\":\"shuffled\",\"input\":\"normal\",\"seed\":1,"
         "\"W\":2}",
         "\"W\""},
        {"entries", "[]", "no kernel"},
        {"entries", "[1]", "entries"},
        {"entries", "[{\"kernel\":7,\"params\":\"\"}]", "kernel"},
        {"entries", "[{\"kernel\":\"\",\"params\":\"\"}]", "kernel"},
        {"entries", "[{\"kernel\":\"a\"}]", "entries"},
        {"device", "-1", "device"},
        {"threads", "1e3", "threads"},
        {"threads", "99999999999", "threads"},
        {"n", "-5", "\"n\""},
        {"cv", "\"x\"", "cv"},
        {"time", "-0.5", "\"time\""},
        {"streams", "0", "streams"},
        {"launch", "1", "launch"},
        {"min_n", "-1", "min_n"},
        {"clock_floor", "2", "clock_floor"},
        {"interleave", "1", "interleave"},
        {"l2", "\"warm\"", "l2"},
        {"l2", "null", "l2"},
        {"backend", "null", "backend"},
        {"output", "[]", "output"},
        {"output", "\"a\\u0000b\"", "output"},
        {"timeout", NULL, "timeout"},
        {"sudo", "true", "sudo"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *o = request_json();
        struct job_request r = {.nentries = 0};
        struct err err = ERR_INIT;
        if (cases[i].value)
            json_object_set_new(o, cases[i].name,
                                json_loads(cases[i].value, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL));
        else
            json_object_del(o, cases[i].name);
        CU_ASSERT_EQUAL(job_request_from_json(&r, o, &err), ST_USAGE);
        CU_ASSERT(strstr(err.text, cases[i].says) && err.text[0]);
        if (!strstr(err.text, cases[i].says))
            printf("# %s=%s: %s\n", cases[i].name, cases[i].value, err.text);
        CU_ASSERT(r.nentries == 0 && !r.options.backend);
        json_decref(o);
    }
}

static const struct tap_test tests[] = {
    {"good jobs, for the length of a silence", test_patience},
    {"good workers: rows from both sides", test_good},
    {"it closes nobody else's descriptors", test_keeps_stdin},
    {"check only", test_check_only},
    {"every fault costs one sentence, and the next job works", test_faults},
    {"a kernel that kills its worker is left out, the others go on", test_guilty},
    {"kernels that all kill their worker", test_all_guilty},
    {"a worker killed while it waits for the judge", test_killed_waiting},
    {"what is being done, and for how long", test_phase},
    {"a judge that ends between two outputs is replaced", test_judge_replaced},
    {"an output that judges do not survive costs no other", test_judge_guilty},
    {"rows measured before a crash are kept", test_rows_survive},
    {"a launch worker cannot judge itself", test_forged_check},
    {"a flood of output costs nothing", test_flood},
    {"a missing program is named", test_missing_program},
    {"without a worker, the places tried are named", test_not_found},
    {"five faults in a minute stop the kernel that they are of", test_budget},
    {"five workers that do not start stop all", test_budget_of_all},
    {"last words are those of the kernel", test_last_words},
    {"native kernels answer for what they do to others", test_native},
    {"a worker with a stranger in it is let go", test_strangers},
    {"cancel stops gently, kills where it must, and is no fault", test_cancel},
    {"the queue, and jobs freed at any time", test_queue},
    {"SIGKILL and SIGSTOP at any moment", test_signals},
    {"a worker that dies idle is replaced", test_idle_death},
    {"one loop drives two, whose jobs run beside each other", test_beside},
    {"a job that waits for a GPU says where and how long", test_queued},
    {"no process for the others of a kernel that was left out", test_gone},
    {"outputs that the judge cannot judge", test_unable},
    {"a block held still is asked", test_debug},
    {"a worker without a card", test_no_card},
    {"ends that meet", test_races},
    {"a front end that was away, and one of three parted", test_away},
    {"a judge that needs long is given another output", test_judge_busy},
    {"supervisor and worker stopped for a while", test_frozen},
    {"one that is parted minds its own jobs", test_parted},
    {"dispatch is quick", test_quick},
    {"the end is quick", test_quick_end},
    {"requests survive JSON", test_request_round_trip},
    {"hostile requests are named", test_request_hostile},
};

int main(int argc, char **argv)
{
    if (argc == 4)
        return bad_worker(argv[1], atoi(argv[2]));
    return tap_run("super", tests, sizeof tests / sizeof *tests);
}
