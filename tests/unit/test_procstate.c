/* test_procstate.c - what code leaves changed of its process is found, named, and put back where that is possible.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/procstate.h"
#include "tap.h"

static void nothing(void)
{
}

static void pin(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void be_nice(void)
{
    setpriority(PRIO_PROCESS, 0, 19);
}

static void idle(void)
{
    const struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
}

static void interrupt_later(void)
{
    const struct itimerval later = {{1000, 0}, {1000, 0}};
    setitimer(ITIMER_PROF, &later, NULL);
}

static void create_timer(void)
{
    timer_t id;
    struct sigevent how = {.sigev_notify = SIGEV_NONE};
    timer_create(CLOCK_MONOTONIC, &how, &id);
}

static void block(void)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
}

static void handle_ours(void)
{
    signal(SIGXFSZ, SIG_DFL); /* which is ignored here */
}

static void handle_another(void)
{
    signal(SIGUSR2, SIG_IGN); /* as runtimes of languages do */
}

static void limit(void)
{
    struct rlimit l;
    getrlimit(RLIMIT_STACK, &l);
    l.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_STACK, &l);
}

static void allow_files(void)
{
    struct rlimit l;
    getrlimit(RLIMIT_NOFILE, &l);
    l.rlim_cur = l.rlim_max;
    setrlimit(RLIMIT_NOFILE, &l);
}

static void allow_fewer_files(void)
{
    struct rlimit l;
    getrlimit(RLIMIT_NOFILE, &l);
    l.rlim_cur = 32;
    setrlimit(RLIMIT_NOFILE, &l);
}

static void round_up(void)
{
    fesetround(FE_UPWARD);
}

static void trap(void)
{
    feenableexcept(FE_DIVBYZERO);
}

static void be_late(void)
{
    prctl(PR_SET_TIMERSLACK, 50000000L);
}

static void no_huge_pages(void)
{
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

static void set_threads(void)
{
    setenv("OMP_NUM_THREADS", "1", 1);
}

static void set_other(void)
{
    setenv("ATTNSCOPE_TEST_OTHER", "1", 1);
}

static void raise_flags(void)
{
    feraiseexcept(FE_INEXACT | FE_UNDERFLOW);
}

/* In a process of its own: what was found, and whether nothing is found once it is put back. */
struct answer {
    char text[200];
    bool clean;
};

static struct answer try_it(void (*change)(void))
{
    struct answer a = {.text = "?"};
    int pipes[2];
    if (pipe(pipes) != 0)
        return a;
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct procstate *s = procstate_take();
        procstate_add_threads(s);
        change();
        char *found = procstate_change(s);
        memset(&a, 0, sizeof a);
        strncpy(a.text, found ? found : "", sizeof a.text - 1);
        free(found);
        procstate_restore(s);
        found = procstate_change(s);
        a.clean = !found;
        free(found);
        procstate_free(s);
        _exit(write(pipes[1], &a, sizeof a) != (ssize_t)sizeof a);
    }
    close(pipes[1]);
    if (read(pipes[0], &a, sizeof a) != (ssize_t)sizeof a)
        strcpy(a.text, "no answer");
    close(pipes[0]);
    waitpid(child, NULL, 0);
    return a;
}

static void test_changes(void)
{
    static const struct {
        void (*change)(void);
        const char *text; /* "": that is nobody's loss */
        bool back;        /* it can be put back by anybody */
    } cases[] = {
        {nothing, "", true},
        {be_nice, "with nice 19, which was", false},
        {idle, "with the scheduling policy SCHED_IDLE, which was SCHED_OTHER", false},
        {interrupt_later, "an interval timer running (ITIMER_PROF)", true},
        {create_timer, "a timer running (timer_create)", false},
        {block, "left signal 10 (User defined signal 1) blocked", true},
        {handle_ours, "another handler of signal 25", true},
        {handle_another, "", true},
        {limit, "changed the limit of stacks", true},
        {allow_files, "", true},
        {allow_fewer_files, "changed the limit of open files", true},
        {round_up, "another rounding of floats behind", true},
        {trap, "other traps of floats behind", true},
        {be_late, "how late timers may be", false},
        {no_huge_pages, "huge pages", false},
        {set_threads, "a variable of the environment", false},
        {set_other, "", true},
        {raise_flags, "", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct answer a = try_it(cases[i].change);
        if (cases[i].change == create_timer && access("/proc/self/timers", R_OK) != 0)
            continue;
        const bool right = *cases[i].text ? strstr(a.text, cases[i].text) != NULL : !*a.text;
        if (!right || (cases[i].back && !a.clean))
            printf("# case %zu: \"%s\" for \"%s\", clean %d\n", i, a.text, cases[i].text, a.clean);
        CU_ASSERT_TRUE(right);
        CU_ASSERT_TRUE(!cases[i].back || a.clean);
    }
}

static void test_cores(void)
{
    if (host_usable_cpus() < 2)
        return;
    const struct answer a = try_it(pin);
    char *want = xasprintf("it left the thread that calls kernels bound to 1 of %d cores",
                           host_usable_cpus());
    CU_ASSERT_STRING_EQUAL(a.text, want);
    CU_ASSERT_TRUE(a.clean);
    free(want);
}

/* ---- other threads ---- */

static pthread_barrier_t there, go;

static void *wait_there(void *unused)
{
    pthread_barrier_wait(&there);
    pthread_barrier_wait(&go);
    return unused;
}

static void *pin_itself(void *unused)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    return wait_there(unused);
}

/* Somebody puts a thread that was there on one core. */
static void test_pinned(void)
{
    pthread_t id;
    cpu_set_t one;
    if (host_usable_cpus() < 2)
        return;
    pthread_barrier_init(&there, NULL, 2);
    pthread_barrier_init(&go, NULL, 2);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&id, NULL, wait_there, NULL), 0);
    pthread_barrier_wait(&there);
    struct procstate *s = procstate_take();
    procstate_add_threads(s);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    pthread_setaffinity_np(id, sizeof one, &one);
    char *found = procstate_change(s);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    CU_ASSERT_PTR_NOT_NULL(strstr(found, "a thread of the program bound to 1 of"));
    free(found);
    procstate_restore(s);
    CU_ASSERT_PTR_NULL(procstate_change(s));
    pthread_barrier_wait(&go);
    pthread_join(id, NULL);
    procstate_free(s);
    pthread_barrier_destroy(&there);
    pthread_barrier_destroy(&go);
}

/* Does a thread that pins itself count? Only one that was there before. */
static void test_threads(void)
{
    pthread_t id;
    if (host_usable_cpus() < 2)
        return;
    struct procstate *s = procstate_take();
    procstate_add_threads(s);
    pthread_barrier_init(&there, NULL, 2);
    pthread_barrier_init(&go, NULL, 2);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&id, NULL, pin_itself, NULL), 0);
    pthread_barrier_wait(&there);
    char *found = procstate_change(s);
    CU_ASSERT_PTR_NULL(found); /* a library's own thread */
    free(found);
    procstate_add_threads(s);
    found = procstate_change(s);
    CU_ASSERT_PTR_NULL(found); /* as it was */
    free(found);
    pthread_barrier_wait(&go);
    pthread_join(id, NULL);
    found = procstate_change(s);
    CU_ASSERT_PTR_NULL(found); /* it is gone, which is no change */
    free(found);
    procstate_free(s);
    pthread_barrier_destroy(&there);
    pthread_barrier_destroy(&go);
}

static const struct tap_test tests[] = {
    {"what is left changed is named, and put back where it can be", test_changes},
    {"cores", test_cores},
    {"cores of a thread that was there", test_pinned},
    {"threads of its own are a library's, those that were there are not", test_threads},
};

TAP_MAIN("procstate", tests)
