/* test_faults.c - a thousand faults, and what must come of each.
 *
 * Each injection is a job of three kernels on the fake driver, served by the real worker, and one
 * thing that goes wrong once: see kinds.c. Then this must hold:
 *
 *   the job ends; what is not right is told: every row without a good verdict has its reason;
 *   at most one kernel is lost, and its reason names it; the rows before it are kept and those after
 *   it are right; if no kernel can run, another job on the same supervisor does;
 *   no process, descriptor or file is left behind.
 *
 * Injections are drawn from a seed, so that a number tells which one it is: FAULTS_FROM=123 FAULTS=1
 * runs that one alone. FAULTS is their number, FAULTS_SEED the seed. Several supervisors run side by
 * side in this one process: those whose fault is a hang wait in lanes of their own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "faults.h"
#include "job/super.h"
#include "tap.h"

enum { BUSY_LANES = 3, WAITING_LANES = 16, LANES = BUSY_LANES + WAITING_LANES, WAITING_MAX = 64 };

static char folder[] = "/tmp/attnscope-faults-XXXXXX";
static struct tally tallies[TASKS];
static double short_patience = 0.05;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one injection under way ---- */

struct lane {
    struct injection in;
    bool busy, again,
        fired; /* again: a second try, in case the machine was too busy for the first */
    struct super *super;
    struct job *job, *after; /* after: the job that must work when the first could not */
    char *home, *once, *fake, *proxy;
    int changes;
    double began;
};

static const char *driver(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/fakecuda.so", getenv("ATTNSCOPE_FAKECUDA"));
    return path;
}

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Workers take their environment when they start, which any dispatch may do. */
static void enter_lane(const struct lane *l)
{
    const struct kind *k = l->in.kind;
    const bool system = k && k->place == IN_SYSTEM && !l->after && strchr(l->in.script, '/');
    const char *value = system ? strchr(l->in.script, '=') + 1 : NULL;
    const bool libcuda = system && str_starts(l->in.script, "ATTNSCOPE_LIBCUDA");
    set("FAKECUDA", l->fake);
    set("FAULTS_PROXY", l->proxy);
    set("XDG_CACHE_HOME", l->home);
    set("ATTNSCOPE_LIBCUDA", libcuda ? value : driver());
    set("ATTNSCOPE_LIBNVRTC", system && !libcuda ? value : driver());
    set("ATTNSCOPE_COMPILE_SECONDS", k && k->patience == COMPILE ? "2" : NULL);
}

static struct job *submit(struct super *s, enum task task, enum dtype dtype,
                          const char *const *kernels, int count)
{
    struct job_request r = {.kind = task == CHECK ? JOB_CHECK : JOB_RUN,
                            .problem = PROBLEM_DEFAULT,
                            .options = {.backend = xstrdup("cuda"),
                                        .rule = TIMING_DEFAULT,
                                        .l2 = xstrdup(task == COLD ? "cold" : "hot"),
                                        .gpus = 1,
                                        .streams = task == HOT ? 2 : 1},
                            .interleave = task == COMPARE,
                            .nentries = count};
    struct err err;
    if (shape_parse("B=1 H=2 Hkv=1 Sq=5 Sk=9 D=8 causal=yes", &r.problem.shape, &err) != ST_OK)
        fatal("%s", err.text);
    r.problem.shape.dtype = dtype;
    r.options.rule.n = 4;
    r.options.rule.warm_s = 0;
    r.entries = xcalloc((size_t)count, sizeof *r.entries);
    for (int i = 0; i < count; i++)
        r.entries[i] = (struct job_entry){xstrdup(kernels[i]), xstrdup("")};
    struct job *j = super_submit(s, &r);
    job_request_clear(&r);
    return j;
}

static void run_command(const char *fmt, const char *a, const char *b)
{
    char *command = xasprintf(fmt, a, b);
    if (system(command) != 0)
        fatal("%s failed", command);
    free(command);
}

/* A cache of its own where the cache is broken or must be empty; else all share one. */
static void make_home(struct lane *l)
{
    const struct kind *k = l->in.kind;
    if (k->place != IN_CACHE && !k->cold) {
        l->home = xasprintf("%s/cache", folder);
        return;
    }
    l->home = xasprintf("%s/home%d%s", folder, l->in.number, l->again ? "b" : "");
    run_command(k->cold ? "mkdir %s; : %s" : "cp -r %2$s/cache %1$s", l->home, folder);
    if (k->place == IN_CACHE)
        break_cache(l->home, l->in.script, l->in.random);
}

static double patience_of(const struct lane *l)
{
    const enum patience p = l->in.kind->patience;
    const double more = l->again ? 5 : 1;
    return p == LONG ? 4
                     : fmin(1, more * (p == SHORT ? short_patience : fmax(short_patience, 0.15)));
}

static void start(struct lane *l, const struct injection *in, bool again)
{
    const enum place place = in->kind->place;
    *l = (struct lane){.in = *in, .busy = true, .again = again, .began = now()};
    l->once = xasprintf("%s/once%d%s", folder, in->number, again ? "b" : "");
    const int fd = open(l->once, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        fatal("cannot write %s", l->once);
    close(fd);
    make_home(l);
    if (place == IN_CALL)
        l->fake = xasprintf("%s,once=%s", in->script, l->once);
    else if (place == IN_SYSTEM)
        l->fake = xstrdup(in->script);
    if (place == IN_FRAME)
        l->proxy = xasprintf("%s,once=%s", in->script, l->once);
    enter_lane(l);
    l->super = super_new(place == IN_FRAME ? "/proc/self/exe" : NULL);
    super_set_patience(l->super, patience_of(l));
    l->job = submit(l->super, in->task, in->dtype, in->kernels, 3);
}

static void stop(struct lane *l)
{
    job_free(l->job);
    job_free(l->after);
    super_free(l->super);
    char *fired = xasprintf("%s.fired", l->once);
    unlink(fired);
    unlink(l->once);
    if (!strstr(l->home, "/cache"))
        run_command("rm -rf %s; : %s", l->home, "");
    free(fired);
    free(l->home);
    free(l->once);
    free(l->fake);
    free(l->proxy);
    l->busy = false;
}

/* ---- what must hold ---- */

static bool has_fired(const struct lane *l)
{
    const enum place p = l->in.kind->place;
    if (p == IN_CACHE || p == IN_SYSTEM)
        return true;
    struct stat st; /* the fake driver writes into the file, the proxy renames it */
    return p == IN_SIGNAL ? l->fired : stat(l->once, &st) != 0 || st.st_size > 0;
}

static bool is_right(const struct run_row *row, enum task task)
{
    return row->check && strcmp(row->check, "pass") == 0 && !row->reason &&
           (task == CHECK || row->median_us > 0);
}

/* A check that failed speaks in figures, too. */
static bool is_told(const struct run_row *row)
{
    return row->reason && *row->reason;
}

static bool names_it(const struct run_row *row)
{
    return (row->check && strcmp(row->check, "fail") == 0) || strstr(row->reason, row->kernel);
}

static int count_wrong(const struct lane *l)
{
    int n = 0;
    for (int i = 0; i < 3; i++)
        n += !is_right(job_row(l->job, i), l->in.task);
    return n;
}

/* NULL, or what does not hold. */
static const char *verdict(const struct lane *l)
{
    const struct kind *k = l->in.kind;
    const int wrong = count_wrong(l);
    bool said = !k->says;
    for (int i = 0; i < 3; i++) {
        const struct run_row *row = job_row(l->job, i);
        if (is_right(row, l->in.task))
            continue;
        if (!is_told(row) && !job_error(l->job))
            return "a row has neither figures nor a reason";
        said |= k->says && row->reason && strstr(row->reason, k->says);
        said |= k->says && job_error(l->job) && strstr(job_error(l->job), k->says);
        if (wrong < 3 && (!is_told(row) || !names_it(row)))
            return "the reason does not name its kernel";
        if (is_told(row) && strchr(row->reason, '\n'))
            return "the reason is more than one sentence";
    }
    if (!has_fired(l))
        return "the fault did not happen";
    if (!victim_is_whole(l->home))
        return "what a planted link leads to was overwritten";
    if (k->outcome == TOLD && !wrong && !strstr(super_log(l->super), k->says ? k->says : " "))
        return "UNDETECTED";
    if (k->outcome == NONE && wrong)
        return "a fault without consequence had one";
    if (wrong == 2)
        return "a fault of one kernel cost two";
    if (wrong && !said)
        return "the cause is not named";
    if (l->after && !is_right(job_row(l->after, 0), CHECK))
        return "the next job does not work";
    return NULL;
}

static void tell(const struct lane *l, const char *what)
{
    printf("# %d (%s) %s: %s\n", l->in.number, l->in.kind->name, what, l->in.where);
    for (int i = 0; i < 3; i++) {
        const struct run_row *row = job_row(l->job, i);
        printf("#    %s: %s %g us %s\n", row->kernel, row->check ? row->check : "-", row->median_us,
               row->reason ? row->reason : "");
    }
    printf("#    job: %s after %.2f s\n", job_error(l->job) ? job_error(l->job) : "-",
           now() - l->began);
    if (l->after)
        printf("#    next: %s\n", job_error(l->after) ? job_error(l->after) : "-");
}

/* ---- the loop ---- */

static void send_signal(struct lane *l)
{
    const int pid = super_pid(l->super, l->in.script);
    if (l->fired || l->changes < l->in.after || pid <= 0 || job_ended(l->job))
        return;
    l->fired = kill(pid, l->in.signal) == 0;
}

/* True when the injection is over. */
static bool step(struct lane *l)
{
    enter_lane(l);
    l->changes += super_dispatch(l->super);
    if (l->in.kind->place == IN_SIGNAL)
        send_signal(l);
    if (!job_ended(l->job))
        return now() - l->began > 60;
    if (l->in.kind->place == IN_CALL && !has_fired(l) && now() - l->began < 2)
        return false; /* it tidies up */
    if (!l->after && count_wrong(l) == 3 && l->in.kind->place != IN_SYSTEM) {
        super_set_patience(l->super, 4);
        l->after = submit(l->super, CHECK, l->in.dtype, l->in.kernels, 1);
    }
    return !l->after || job_ended(l->after) || now() - l->began > 90;
}

static void wait_for_news(struct lane *lanes)
{
    struct pollfd fds[SUPER_FDS_MAX * LANES];
    int n = 0, ms = 1000;
    for (int i = 0; i < LANES; i++) {
        if (!lanes[i].busy)
            continue;
        const int own = super_timeout_ms(lanes[i].super);
        n += super_fds(lanes[i].super, fds + n, SUPER_FDS_MAX);
        ms = own >= 0 && own < ms ? own : ms;
    }
    poll(fds, (nfds_t)n, ms);
}

struct plan {
    int next, end; /* numbers still to be drawn */
    uint64_t seed;
    struct injection waiting[2]
                            [WAITING_MAX]; /* drawn, without a lane: busy ones, those that wait */
    int nwaiting[2];
    int done, violations, undetected, again, without;
    int by_kind[256];
};

/* The next injection for a lane that waits for hangs, or for one that does not. */
static bool draw(struct plan *p, bool hang, struct injection *out)
{
    while (!p->nwaiting[hang] && p->next < p->end && p->nwaiting[!hang] < WAITING_MAX) {
        struct injection in;
        injection_draw(&in, p->seed, p->next++, tallies);
        const bool hangs = in.kind->patience != LONG;
        p->waiting[hangs][p->nwaiting[hangs]++] = in;
    }
    if (!p->nwaiting[hang])
        return false;
    *out = p->waiting[hang][--p->nwaiting[hang]];
    return true;
}

/* A violation is looked at once more, with more time, for a busy machine makes workers late. */
static void finish(struct plan *p, struct lane *l)
{
    const char *what = job_ended(l->job) ? verdict(l) : "the job does not end";
    const bool missed = what && !has_fired(l) && l->in.kind->place == IN_SIGNAL;
    struct injection in = l->in;
    const bool second = l->again;
    if (what && !missed)
        tell(l, what);
    p->without += !what && count_wrong(l) == 0;
    const bool silent = what && strcmp(what, "UNDETECTED") == 0;
    stop(l);
    if (what && !second) {
        in.after = missed ? 0 : in.after;
        p->again++;
        start(l, &in, true);
        return;
    }
    p->done++;
    p->violations += what != NULL;
    p->undetected += silent;
    p->by_kind[in.kind - kinds]++;
    injection_clear(&in);
}

static void run_plan(struct plan *p)
{
    static struct lane lanes[LANES];
    for (;;) {
        bool any = false;
        for (int i = 0; i < LANES; i++) {
            struct injection in;
            if (!lanes[i].busy && draw(p, i >= BUSY_LANES, &in))
                start(&lanes[i], &in, false);
            if (lanes[i].busy && step(&lanes[i]))
                finish(p, &lanes[i]);
            any |= lanes[i].busy;
        }
        if (!any && p->next == p->end && !p->nwaiting[0] && !p->nwaiting[1])
            return;
        wait_for_news(lanes);
    }
}

/* ---- before ---- */

/* A good job of each kind: fills the cache, counts the calls, and says how fast this machine is. */
static double good_job(enum task task, enum dtype dtype, const char *const *names, int count)
{
    char *home = xasprintf("%s/cache", folder), *tally = xasprintf("%s/tally", folder);
    char *script = xasprintf("tally=%s", tally);
    const struct kind none = {.place = IN_CALL};
    struct lane l = {.home = home, .fake = script, .in.kind = &none};
    unlink(tally);
    enter_lane(&l);
    struct super *s = super_new(NULL);
    const double begin = now();
    struct job *j = submit(s, task, dtype, names, count);
    super_wait(s, j, NULL, NULL, NULL);
    const double took = now() - begin;
    for (int i = 0; i < count; i++) {
        CU_ASSERT(is_right(job_row(j, i), task));
        if (job_row(j, i)->reason)
            printf("# %s: %s\n", names[i], job_row(j, i)->reason);
    }
    FILE *f = fopen(tally, "rb");
    CU_ASSERT(f && fread(&tallies[task], sizeof tallies[task], 1, f) == 1);
    if (f)
        fclose(f);
    unlink(tally);
    job_free(j);
    super_free(s);
    free(script);
    free(tally);
    free(home);
    return took;
}

static void test_good(void)
{
    static const char *const names[] = {"naive", "row_online", "fa2", "splitkv", "qtile_tpq"};
    static const char *const fewest[] = {"row_online", "fa2", "qtile_tpq"}; /* one pass each */
    double longest = 0;
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        good_job(CHECK, (enum dtype)dtype, names, 5);
    for (int task = 0; task < TASKS; task++)
        longest = fmax(longest, good_job((enum task)task, DTYPE_F16, fewest, 3));
    short_patience = fmin(fmax(8 * longest, 0.25), 5) / 5;
    printf("# a good job takes %.0f ms; a silence of %.2f s is a hang\n", longest * 1e3,
           5 * short_patience);
}

/* ---- after ---- */

static int count_fds(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

/* No child at all, dead or alive; a killed one may take a moment. */
static bool no_children(void)
{
    pid_t pid = 0;
    for (const double begin = now(); pid >= 0 && now() - begin < 10; usleep(1000))
        pid = waitpid(-1, NULL, WNOHANG);
    return pid == -1 && errno == ECHILD;
}

/* Does this process have our folder in its environment? Then it came from here. */
static bool is_ours(const char *pid)
{
    char path[300], *text;
    size_t len;
    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    if (atoi(pid) == getpid() || str_read_file(path, 1 << 20, &text, &len, NULL) != ST_OK)
        return false;
    const bool ours = memmem(text, len, folder, strlen(folder));
    free(text);
    return ours;
}

static int count_left(void)
{
    int left = 0;
    DIR *d = opendir("/proc");
    for (const struct dirent *e; d && (e = readdir(d));)
        left += atoi(e->d_name) > 0 && is_ours(e->d_name);
    closedir(d);
    return left;
}

/* Grandchildren die with their parents, but the kernel takes a moment. */
static int processes_left(void)
{
    int left = 0;
    for (const double begin = now(); (left = count_left()) > 0 && now() - begin < 10;)
        usleep(10000);
    return left;
}

/* Everything but whole files of the shared cache. */
static int files_left(void)
{
    char *command =
        xasprintf("find %s -type f ! -name '*.cubin' ! -name '*.lock' | sed 's/^/# left: /'; "
                  "test -z \"$(find %s -type f ! -name '*.cubin' ! -name '*.lock')\"",
                  folder, folder);
    const int rc = system(command);
    free(command);
    return rc;
}

/* ---- tests ---- */

static long env_number(const char *name, long fallback)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : fallback;
}

static void test_injections(void)
{
    const int from = (int)env_number("FAULTS_FROM", 0), count = (int)env_number("FAULTS", 1000);
    static struct plan p;
    p = (struct plan){.next = from, .end = from + count};
    p.seed = (uint64_t)env_number("FAULTS_SEED", 1);
    const int fds = count_fds();
    const double begin = now();
    run_plan(&p);
    int covered = 0;
    for (int i = 0; i < nkinds; i++)
        covered += p.by_kind[i] > 0;
    printf("# %d injections of %d kinds in %.1f s: %d undetected, %d other violations, "
           "%d without consequence, %d tried twice\n",
           p.done, covered, now() - begin, p.undetected, p.violations - p.undetected, p.without,
           p.again);
    CU_ASSERT_EQUAL(p.done, count);
    CU_ASSERT_EQUAL(p.violations, 0);
    CU_ASSERT(count < 1000 || covered == nkinds);
    CU_ASSERT(p.again <= 3 + count / 20);
    CU_ASSERT_EQUAL(count_fds(), fds);
}

static void test_nothing_left(void)
{
    CU_ASSERT(no_children());
    CU_ASSERT_EQUAL(processes_left(), 0);
    CU_ASSERT_EQUAL(files_left(), 0);
}

/* Runs until all is over; false when the job ended without the fault. */
static bool finish_alone(struct lane *l)
{
    struct pollfd fds[SUPER_FDS_MAX];
    while (!step(l) && (!job_ended(l->job) || has_fired(l)))
        poll(fds, (nfds_t)super_fds(l->super, fds, SUPER_FDS_MAX), 20);
    return has_fired(l);
}

/* Every copy from the device in turn brings nothing: what lies where it should have gone, the output of a
 * run before perhaps, must not be judged in its place. */
static void test_copies(void)
{
    static const struct kind kind = {
        .name = "a copy that brings nothing", .place = IN_CALL, .outcome = TOLD};
    int n = 0;
    for (bool fired = true; fired; n++) {
        struct injection in = {.number = n, .kind = &kind, .task = CHECK, .dtype = DTYPE_F16};
        memcpy(in.kernels, (const char *[]){"row_online", "fa2", "qtile_tpq"}, sizeof in.kernels);
        in.script = xasprintf("cuMemcpyDtoH_v2:%d=skip", n + 1);
        in.where = xasprintf("check %s", in.script);
        struct lane l;
        start(&l, &in, false);
        fired = finish_alone(&l);
        const char *what = fired ? verdict(&l) : NULL;
        CU_ASSERT_PTR_NULL(what);
        if (what)
            tell(&l, what);
        stop(&l);
        injection_clear(&in);
    }
    printf("# %d copies\n", n - 1);
    CU_ASSERT(n - 1 >= 3 * 15);
}

static void test_same_again(void)
{
    for (int i = 0; i < 200; i++) {
        struct injection a, b;
        injection_draw(&a, 7, i, tallies);
        injection_draw(&b, 7, i, tallies);
        CU_ASSERT(a.kind == b.kind && strcmp(a.where, b.where) == 0);
        injection_clear(&a);
        injection_clear(&b);
    }
}

static const struct tap_test tests[] = {
    {"good jobs, for the calls they make", test_good},
    {"a number always draws the same fault", test_same_again},
    {"every fault is told or without consequence, and the next kernel works", test_injections},
    {"a copy that brings nothing is told, whichever it is", test_copies},
    {"no process and no file is left", test_nothing_left},
};

int main(int argc, char **argv)
{
    if (argc == 4 && strchr("lj", argv[1][0]))
        return proxy(argv[1], atoi(argv[2]), getenv("ATTNSCOPE_WORKER"));
    if (!getenv("ATTNSCOPE_FAKECUDA") || !getenv("ATTNSCOPE_WORKER"))
        return tap_skip_all(
            "needs ATTNSCOPE_FAKECUDA and ATTNSCOPE_WORKER, as make check sets them");
    if (!mkdtemp(folder))
        return tap_skip_all("no temporary folder");
    set("XDG_DATA_HOME", folder);
    set("HOME", folder);
    set("TMPDIR", folder);
    set("ATTNSCOPE_STRICT", "1");
    set("ATTNSCOPE_GPU_LOCK", "off"); /* they are all on the same fake GPU, side by side */
    const int status = tap_run("faults", tests, sizeof tests / sizeof *tests);
    run_command("rm -rf %s; : %s", folder, "");
    return status;
}
