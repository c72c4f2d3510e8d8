/* test_gpu_lock.c - the queue before a GPU: three supervisors with workers of their own on the fake
 * driver's one GPU, and what doctor would see.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/gpu_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "job/super.h"
#include "tap.h"

static bool
    wall_clock_is_set; /* an hour back: the one that the system waits by, which is behind what is read here */

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const int rc = (int)syscall(SYS_clock_gettime, clock, t);
    t->tv_sec += clock == CLOCK_REALTIME && wall_clock_is_set ? 3600 : 0;
    return rc;
}

static char folder[] = "/tmp/attnscope-lock-XXXXXX";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct job *submit(struct super *s, const char *fake)
{
    struct job_request r = {.kind = JOB_CHECK,
                            .problem = PROBLEM_DEFAULT,
                            .options = {.backend = xstrdup("cuda"),
                                        .rule = TIMING_DEFAULT,
                                        .l2 = xstrdup("hot"),
                                        .streams = 1,
                                        .gpus = 1,
                                        .timeout_s = 30},
                            .nentries = 1};
    struct err err;
    CU_ASSERT_EQUAL(shape_parse("H=1 S=8 D=16", &r.problem.shape, &err), ST_OK);
    r.entries = xcalloc(1, sizeof *r.entries);
    r.entries[0] = (struct job_entry){xstrdup("fa2"), xstrdup("")};
    setenv("FAKECUDA", fake, 1); /* the worker starts in this dispatch */
    struct job *j = super_submit(s, &r);
    super_dispatch(s);
    job_request_clear(&r);
    return j;
}

/* Until the job says that it does this, or has ended. */
static bool says(struct super *s, const struct job *j, const char *phase)
{
    for (const double begin = now(); now() - begin < 20 && !job_ended(j); usleep(2000)) {
        super_dispatch(s);
        if (strstr(job_phase(j), phase)) {
            CU_ASSERT_EQUAL(job_waits(j), strstr(phase, "waiting") || strstr(phase, "place"));
            return true;
        }
    }
    printf("# \"%s\" instead of \"%s\"; %s\n", job_phase(j), phase,
           job_error(j) ? job_error(j) : "no error");
    return false;
}

static void passes(struct super *s, struct job *j)
{
    super_wait(s, j, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT(job_row(j, 0)->check && strcmp(job_row(j, 0)->check, "pass") == 0);
    job_free(j);
}

/* The first one's kernel hangs; the others wait behind it, in order, and say so. */
static void test_queue(void)
{
    struct gpu_lock_state look;
    CU_ASSERT_FALSE(gpu_lock_look(0, &look));
    struct super *a = super_new(NULL), *b = super_new(NULL), *c = super_new(NULL);
    struct job *first = submit(a, "cuLaunchKernel:1=hang");
    CU_ASSERT(says(a, first, "first run"));
    struct job *second = submit(b, "");
    CU_ASSERT(says(b, second, "waiting for the GPU: place 1 of 1"));
    struct job *third = submit(c, "");
    CU_ASSERT(says(c, third, "place 2 of 2, about "));
    CU_ASSERT(gpu_lock_look(0, &look) && look.held && look.waiting == 2);
    CU_ASSERT_STRING_EQUAL(look.name, "0000:01:00.0");
    job_cancel(third); /* by itself, while it waits */
    super_wait(c, third, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(job_state(third), JOB_CANCELLED);
    job_free(third);
    tap_kill(super_pid(a, "launch"), SIGKILL); /* a dead holder holds nothing */
    passes(b, second);
    super_wait(a, first, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(job_state(first), JOB_FAILED);
    job_free(first);
    passes(c, submit(c, ""));
    super_free(a);
    super_free(c);
    super_free(b);
    CU_ASSERT(gpu_lock_look(0, &look) && !look.held && look.waiting == 0);
    CU_ASSERT_FALSE(gpu_lock_look(1, &look));
}

/* A slice of a GPU (MIG) has turns of its own: who measures on the whole, or on another, is not waited for. */
static void test_slices(void)
{
    struct gpu_lock_state look;
    struct super *a = super_new(NULL), *b = super_new(NULL);
    struct job *first = submit(a, "cuLaunchKernel:1=hang,mig=7");
    CU_ASSERT(says(a, first, "first run"));
    passes(b, submit(b, "mig=8"));
    bool own = false;
    for (int i = 0; gpu_lock_look(i, &look); i++)
        own |= !strcmp(look.name, "0000:01:00.0.mig-07ababab") && look.held;
    CU_ASSERT(own);
    tap_kill(super_pid(a, "launch"), SIGKILL);
    super_wait(a, first, NULL, NULL, NULL);
    job_free(first);
    super_free(a);
    super_free(b);
}

static char *lock_path(const char *name)
{
    return xasprintf("%s/attnscope-gpu-%s.lock", folder, name);
}

/* Others can open it, nobody can write to it, and what is no plain file is not opened. */
static void test_file(void)
{
    struct gpu_lock *l;
    struct err err;
    struct stat st;
    const mode_t before = umask(0077);
    char *path = lock_path("1");
    CU_ASSERT_EQUAL_FATAL(gpu_lock_open("1", &l, &err), ST_OK);
    CU_ASSERT(stat(path, &st) == 0 && (st.st_mode & 07777) == 0444 && st.st_size == 0);
    gpu_lock_free(l);
    free(path);
    umask(before);
    path = lock_path("2");
    char *victim = lock_path("victim");
    CU_ASSERT(file_create(victim, 0644, NULL, 0) && symlink(victim, path) == 0);
    CU_ASSERT_EQUAL(gpu_lock_open("2", &l, &err), ST_FAIL);
    CU_ASSERT_PTR_NULL(l);
    free(victim);
    free(path);
    path = lock_path("3");
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    CU_ASSERT_EQUAL(gpu_lock_open("3", &l, &err), ST_FAIL);
    free(path);
}

static bool never(void *ctx, const struct gpu_place *p)
{
    (void)p;
    ++*(int *)ctx;
    return false;
}

/* A lock left by a process that ended is free; one that is held is given up when asked to. */
static void test_stale(void)
{
    struct gpu_lock *mine, *other;
    struct err err;
    int asked = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        if (gpu_lock_open("4", &mine, &err) == ST_OK)
            gpu_lock_take(mine, never, &asked);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(gpu_lock_open("4", &mine, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(gpu_lock_open("4", &other, &err), ST_OK);
    CU_ASSERT(gpu_lock_take(mine, never, &asked) && asked == 0);
    CU_ASSERT(gpu_lock_take(mine, never, &asked) && asked == 0);
    CU_ASSERT_FALSE(gpu_lock_take(other, never, &asked));
    CU_ASSERT_EQUAL(asked, 1);
    gpu_lock_release(mine);
    CU_ASSERT(gpu_lock_take(other, never, &asked) && asked == 1);
    gpu_lock_free(other);
    gpu_lock_free(mine);
}

static int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Where one of several cannot be opened none is kept. */
static void test_half_opened(void)
{
    struct gpu_lock *l;
    struct err err = ERR_INIT;
    char *path = xasprintf("%s/attnscope-gpu-bad.lock", folder);
    const int before = open_descriptors();
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0700), 0);
    CU_ASSERT_EQUAL(gpu_lock_open("5,bad", &l, &err), ST_FAIL);
    CU_ASSERT_PTR_NULL(l);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "bad.lock"));
    CU_ASSERT_EQUAL(open_descriptors(), before);
    rmdir(path);
    free(path);
}

/* Who gives up has none of several, and who waits for the second has the first. */
static void test_several(void)
{
    struct gpu_lock *both, *first, *second;
    struct err err;
    int asked = 0;
    CU_ASSERT_EQUAL_FATAL(gpu_lock_open("5,6", &both, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(gpu_lock_open("5", &first, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(gpu_lock_open("6", &second, &err), ST_OK);
    CU_ASSERT(gpu_lock_take(both, never, &asked) && asked == 0);
    CU_ASSERT(gpu_lock_held_s(both) > 0);
    CU_ASSERT_FALSE(gpu_lock_take(first, never, &asked));
    CU_ASSERT_FALSE(gpu_lock_take(second, never, &asked));
    gpu_lock_release(both);
    CU_ASSERT(gpu_lock_held_s(both) == 0);
    CU_ASSERT(gpu_lock_take(second, never, &asked) && asked == 2);
    CU_ASSERT_FALSE(gpu_lock_take(both, never, &asked));
    CU_ASSERT_EQUAL(asked, 3);
    CU_ASSERT(gpu_lock_take(first, never, &asked) && asked == 3); /* it was let go of */
    gpu_lock_free(first);
    gpu_lock_free(second);
    gpu_lock_free(both);
    CU_ASSERT_EQUAL(gpu_lock_open("5,../6", &both, &err), ST_FAIL);
    CU_ASSERT_PTR_NULL(both);
}

static bool patient(void *ctx, const struct gpu_place *p)
{
    (void)p;
    return ++*(int *)ctx < 60;
}

/* Two users take the same GPUs again and again, by names in one order, beside one who wants the second alone. */
static void test_no_deadlock(void)
{
    enum { TIMES = 200 };
    static const char *const names[] = {"7,8", "7,8", "8"};
    pid_t pids[3];
    for (int i = 0; i < 3; i++) {
        pids[i] = fork();
        if (pids[i] > 0)
            continue;
        struct gpu_lock *l;
        int asked = 0, got = 0;
        if (gpu_lock_open(names[i], &l, NULL) == ST_OK)
            for (int n = 0; n < TIMES; n++) {
                got += gpu_lock_take(l, patient, &asked);
                gpu_lock_release(l);
            }
        _exit(got == TIMES ? 0 : 1);
    }
    for (int i = 0; i < 3; i++) {
        int status = -1;
        waitpid(pids[i], &status, 0);
        CU_ASSERT_EQUAL(status, 0);
    }
}

static bool go_on(void *ctx, const struct gpu_place *p)
{
    (void)p;
    ++*(int *)ctx;
    return true;
}

/* Another process, which queues, writes a byte once it has it and keeps it for a moment. */
static pid_t start_waiter(int *told)
{
    int ends[2], asked = 0;
    struct gpu_lock *l;
    struct err err;
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        if (gpu_lock_open("6", &l, &err) == ST_OK && gpu_lock_take(l, go_on, &asked) &&
            write(ends[1], "x", 1) == 1)
            usleep(20000);
        _exit(0);
    }
    close(ends[1]);
    *told = ends[0];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return pid;
}

/* Whose turn is over, and who asks again at once, comes behind the one that waited. */
static void test_turns(void)
{
    struct gpu_lock *l;
    struct err err;
    struct gpu_lock_state look;
    int asked = 0, told;
    char byte = 0;
    setenv("ATTNSCOPE_GPU_TURN", "0.05", 1);
    CU_ASSERT_EQUAL_FATAL(gpu_lock_open("6", &l, &err), ST_OK);
    CU_ASSERT(gpu_lock_take(l, never, &asked) && gpu_lock_held_s(l) < 10);
    usleep(60000);
    CU_ASSERT_FALSE(gpu_lock_is_due(l)); /* nobody waits */
    const pid_t pid = start_waiter(&told);
    for (int i = 0; i < 2000 && !gpu_lock_is_due(l); i++)
        usleep(1000);
    CU_ASSERT_FATAL(gpu_lock_is_due(l));
    CU_ASSERT_EQUAL(read(told, &byte, 1), -1); /* it waits */
    gpu_lock_pass(l);
    CU_ASSERT_EQUAL(gpu_lock_held_s(l), 0);
    CU_ASSERT(gpu_lock_take(l, go_on, &asked));
    CU_ASSERT(read(told, &byte, 1) == 1 && byte == 'x');
    kill(pid, SIGKILL); /* if it still waits, this has failed */
    waitpid(pid, NULL, 0);
    close(told);
    setenv("ATTNSCOPE_GPU_TURN", "1000", 1);
    CU_ASSERT_FALSE(gpu_lock_is_due(l));
    gpu_lock_free(l);
    unsetenv("ATTNSCOPE_GPU_TURN");
    for (int i = 0; gpu_lock_look(i, &look); i++)
        CU_ASSERT_FALSE(look.held);
}

/* Who waits is asked twice a second, whatever is done to the wall clock meanwhile. */
static void test_wall_clock(void)
{
    struct gpu_lock *l;
    struct err err;
    int asked = 0, ready[2];
    char byte;
    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        if (gpu_lock_open("9", &l, &err) == ST_OK && gpu_lock_take(l, never, &asked) &&
            write(ready[1], "x", 1) == 1)
            usleep(1700000);
        _exit(0);
    }
    CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
    CU_ASSERT_EQUAL_FATAL(gpu_lock_open("9", &l, &err), ST_OK);
    wall_clock_is_set = true;
    CU_ASSERT(gpu_lock_take(l, go_on, &asked));
    wall_clock_is_set = false;
    CU_ASSERT(asked >= 2);
    gpu_lock_free(l);
    waitpid(pid, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

static void test_off(void)
{
    struct gpu_lock *l;
    struct err err;
    int asked = 0;
    setenv("ATTNSCOPE_GPU_LOCK", "off", 1);
    CU_ASSERT(gpu_lock_open("5", &l, &err) == ST_OK && !l);
    CU_ASSERT(gpu_lock_take(l, never, &asked) && asked == 0);
    gpu_lock_release(l);
    gpu_lock_free(l);
    setenv("ATTNSCOPE_GPU_LOCK", folder, 1);
}

static const struct tap_test tests[] = {
    {"measurements queue, say so, and go on when the holder dies", test_queue},
    {"slices of a GPU have queues of their own", test_slices},
    {"the file lets others in and takes nothing", test_file},
    {"a stale lock cannot block, a wait can be given up", test_stale},
    {"several are taken whole, or none is kept", test_several},
    {"of several that cannot all be opened none is kept", test_half_opened},
    {"two who want the same several do not wait for each other", test_no_deadlock},
    {"a turn ends, and who had it comes last", test_turns},
    {"a wait does not go by the wall clock", test_wall_clock},
    {"locks can be switched off", test_off},
};

int main(void)
{
    if (!getenv("ATTNSCOPE_FAKECUDA") || !getenv("ATTNSCOPE_WORKER"))
        return tap_skip_all(
            "needs ATTNSCOPE_FAKECUDA and ATTNSCOPE_WORKER, as make check sets them");
    if (access("/proc/locks", R_OK) != 0 || !mkdtemp(folder))
        return tap_skip_all("no /proc/locks, or no temporary folder");
    char *fake = xasprintf("%s/fakecuda.so", getenv("ATTNSCOPE_FAKECUDA"));
    setenv("ATTNSCOPE_LIBCUDA", fake, 1);
    setenv("ATTNSCOPE_LIBNVRTC", fake, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("ATTNSCOPE_GPU_LOCK", folder, 1);
    free(fake);
    const int status = tap_run("gpu_lock", tests, sizeof tests / sizeof *tests);
    char *command = xasprintf("rm -rf %s", folder);
    const int removed = system(command);
    free(command);
    return status ? status : removed;
}
