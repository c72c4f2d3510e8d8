/* procstate.c - see procstate.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/procstate.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"

extern char **environ;

enum { CPUS_MAX = 8192, LIMITS = RLIM_NLIMITS, TIMERS = 3, SIGNALS = 65, NODES_MAX = 1024 };

/* How the system's scheduler treats a thread. */
struct treatment {
    pid_t id;
    int nice, policy;
    uint64_t cpus[CPUS_MAX / 64];
};

struct procstate {
    struct treatment own;
    struct treatment *others;
    size_t nothers, capothers;
    sigset_t mask;
    struct sigaction handlers[SIGNALS];
    struct rlimit limits[LIMITS];
    bool timers[TIMERS]; /* is it running? */
    size_t posix_timers; /* bytes of their list */
    fenv_t floats;
    unsigned float_mode, float_traps;
    int slack_ns, huge_pages_off;
    int memory_policy;
    uint64_t environment; /* a hash of the variables that runtimes of threads read */
};

/* ---- threads ---- */

/* False: there is no such thread any more. */
static bool treatment_of(pid_t id, struct treatment *t)
{
    *t = (struct treatment){.id = id};
    t->policy = sched_getscheduler(id);
    errno = 0;
    t->nice = getpriority(PRIO_PROCESS, (id_t)id);
    if (t->policy < 0 || errno)
        return false;
    return sched_getaffinity(id, sizeof t->cpus, (cpu_set_t *)(void *)t->cpus) == 0;
}

static int count_cpus(const struct treatment *t)
{
    int n = 0;
    for (size_t i = 0; i < sizeof t->cpus / sizeof *t->cpus; i++)
        n += __builtin_popcountll(t->cpus[i]);
    return n;
}

static const char *policy_name(int policy)
{
    switch (policy & ~SCHED_RESET_ON_FORK) {
    case SCHED_OTHER:
        return "SCHED_OTHER";
    case SCHED_BATCH:
        return "SCHED_BATCH";
    case SCHED_IDLE:
        return "SCHED_IDLE";
    case SCHED_FIFO:
        return "SCHED_FIFO";
    case SCHED_RR:
        return "SCHED_RR";
    default:
        return "another";
    }
}

/* `whose`: "" for the thread that calls kernels. */
static char *treatment_change(const struct treatment *was, const char *whose)
{
    struct treatment is;
    if (!treatment_of(was->id, &is))
        return NULL;
    if (memcmp(is.cpus, was->cpus, sizeof is.cpus) != 0)
        return xasprintf("it left %s bound to %d of %d cores", whose, count_cpus(&is),
                         count_cpus(was));
    if (is.nice != was->nice)
        return xasprintf("it left %s with nice %d, which was %d", whose, is.nice, was->nice);
    if (is.policy != was->policy)
        return xasprintf("it left %s with the scheduling policy %s, which was %s", whose,
                         policy_name(is.policy), policy_name(was->policy));
    return NULL;
}

void procstate_add_threads(struct procstate *s)
{
    DIR *d = opendir("/proc/self/task");
    s->nothers = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        struct treatment t;
        const pid_t id = isdigit((unsigned char)*e->d_name) ? (pid_t)atoi(e->d_name) : 0;
        if (!id || id == s->own.id || !treatment_of(id, &t))
            continue;
        xgrow((void **)&s->others, &s->capothers, s->nothers + 1, sizeof *s->others);
        s->others[s->nothers++] = t;
    }
    if (d)
        closedir(d);
}

static char *threads_change(const struct procstate *s)
{
    char *change = treatment_change(&s->own, "the thread that calls kernels");
    for (size_t i = 0; i < s->nothers && !change; i++)
        change = treatment_change(&s->others[i], "a thread of the program");
    return change;
}

/* ---- floating point ---- */

/* Not what has been raised. */
unsigned procstate_float_mode(void)
{
    unsigned mode = (unsigned)fegetround();
#if defined __x86_64__
    mode |= (unsigned)__builtin_ia32_stmxcsr() & 0xe040u; /* rounding, to zero, from zero */
#elif defined __aarch64__
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    mode |= (unsigned)control & 0x3c80000u; /* rounding, to zero, 16 bits to zero */
#endif
    return mode;
}

/* ---- the rest ---- */

static const struct {
    int which;
    const char *name;
} interval_timers[TIMERS] = {
    {ITIMER_REAL, "ITIMER_REAL"}, {ITIMER_VIRTUAL, "ITIMER_VIRTUAL"}, {ITIMER_PROF, "ITIMER_PROF"}};

static bool timer_runs(int i)
{
    struct itimerval t;
    return getitimer(interval_timers[i].which, &t) == 0 &&
           (t.it_value.tv_sec || t.it_value.tv_usec);
}

/* Of timer_create(), where the system lists them. */
static size_t posix_timers(void)
{
    char text[256];
    size_t bytes = 0;
    FILE *f = fopen("/proc/self/timers", "re");
    for (size_t n; f && (n = fread(text, 1, sizeof text, f)) > 0;)
        bytes += n;
    if (f)
        fclose(f);
    return bytes;
}

static int memory_policy(void)
{
    int mode = 0;
#ifdef SYS_get_mempolicy
    unsigned long nodes[NODES_MAX / (8 * sizeof(unsigned long))] = {0};
    if (syscall(SYS_get_mempolicy, &mode, nodes, (unsigned long)NODES_MAX, NULL, 0ul) != 0)
        return 0;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        mode ^= (int)(nodes[i] * 31);
#endif
    return mode;
}

/* Read by whatever runtime of threads, or allocator, is loaded next. */
static bool is_for_runtimes(const char *variable)
{
    static const char *const prefixes[] = {"OMP_",  "GOMP_", "KMP_",    "MKL_",     "OPENBLAS_",
                                           "BLIS_", "TBB_",  "MALLOC_", "GLIBC_TUN"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static uint64_t environment_hash(void)
{
    uint64_t sum = 0; /* whatever their order */
    for (char **e = environ; e && *e; e++) {
        uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
        if (!is_for_runtimes(*e))
            continue;
        for (const char *p = *e; *p; p++)
            h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
        sum += h;
    }
    return sum;
}

struct procstate *procstate_take(void)
{
    struct procstate *s = xcalloc(1, sizeof *s);
    (void)treatment_of((pid_t)syscall(SYS_gettid), &s->own);
    pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
    for (int i = 1; i < SIGNALS; i++)
        if (sigaction(i, NULL, &s->handlers[i]) != 0)
            s->handlers[i].sa_handler = SIG_DFL;
    for (int i = 0; i < LIMITS; i++)
        (void)getrlimit((__rlimit_resource_t)i, &s->limits[i]);
    for (int i = 0; i < TIMERS; i++)
        s->timers[i] = timer_runs(i);
    s->posix_timers = posix_timers();
    fegetenv(&s->floats);
    s->float_mode = procstate_float_mode();
    s->float_traps = (unsigned)fegetexcept();
    s->slack_ns = prctl(PR_GET_TIMERSLACK);
    s->huge_pages_off = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
    s->memory_policy = memory_policy();
    s->environment = environment_hash();
    return s;
}

void procstate_free(struct procstate *s)
{
    if (!s)
        return;
    free(s->others);
    free(s);
}

static char *timers_change(const struct procstate *s)
{
    for (int i = 0; i < TIMERS; i++)
        if (timer_runs(i) && !s->timers[i])
            return xasprintf("it left an interval timer running (%s)", interval_timers[i].name);
    if (posix_timers() > s->posix_timers)
        return xstrdup("it left a timer running (timer_create)");
    return NULL;
}

static char *signals_change(const struct procstate *s)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i < SIGNALS; i++) {
        struct sigaction is;
        if (sigismember(&mask, i) != sigismember(&s->mask, i))
            return xasprintf("it left signal %d (%s) %s", i, strsignal(i),
                             sigismember(&mask, i) == 1 ? "blocked" : "unblocked");
        if (s->handlers[i].sa_handler != SIG_DFL && sigaction(i, NULL, &is) == 0 &&
            is.sa_handler != s->handlers[i].sa_handler)
            return xasprintf("it left another handler of signal %d (%s)", i, strsignal(i));
    }
    return NULL;
}

/* Runtimes of languages raise the limit of open files, and nobody is slower for it. */
static char *limits_change(const struct procstate *s)
{
    static const char *const names[LIMITS] = {
        [RLIMIT_CPU] = "processor time",
        [RLIMIT_FSIZE] = "sizes of files",
        [RLIMIT_DATA] = "data",
        [RLIMIT_STACK] = "stacks",
        [RLIMIT_CORE] = "core dumps",
        [RLIMIT_RSS] = "resident memory",
        [RLIMIT_NPROC] = "processes",
        [RLIMIT_NOFILE] = "open files",
        [RLIMIT_MEMLOCK] = "locked memory",
        [RLIMIT_AS] = "memory",
    };
    for (int i = 0; i < LIMITS; i++) {
        struct rlimit is;
        const struct rlimit *was = &s->limits[i];
        if (getrlimit((__rlimit_resource_t)i, &is) != 0 ||
            (is.rlim_cur == was->rlim_cur && is.rlim_max == was->rlim_max) ||
            (i == RLIMIT_NOFILE && is.rlim_cur > was->rlim_cur && is.rlim_max == was->rlim_max))
            continue;
        return xasprintf("it changed the limit of %s", names[i] ? names[i] : "a resource");
    }
    return NULL;
}

static char *modes_change(const struct procstate *s)
{
    if (procstate_float_mode() != s->float_mode)
        return xstrdup("it left another rounding of floats behind");
    if ((unsigned)fegetexcept() != s->float_traps)
        return xstrdup("it left other traps of floats behind");
    if (prctl(PR_GET_TIMERSLACK) != s->slack_ns)
        return xstrdup("it changed how late timers may be (PR_SET_TIMERSLACK)");
    if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != s->huge_pages_off)
        return xstrdup("it changed whether memory comes in huge pages (PR_SET_THP_DISABLE)");
    if (memory_policy() != s->memory_policy)
        return xstrdup("it changed where memory comes from (set_mempolicy)");
    if (environment_hash() != s->environment)
        return xstrdup("it changed a variable of the environment that runtimes of threads read");
    return NULL;
}

char *procstate_change(const struct procstate *s)
{
    static char *(*const looks[])(const struct procstate *s) = {
        threads_change, timers_change, signals_change, limits_change, modes_change};
    char *change = NULL;
    for (size_t i = 0; i < sizeof looks / sizeof *looks && !change; i++)
        change = looks[i](s);
    return change;
}

/* What is refused stays as it is. */
static void treat(const struct treatment *t)
{
    const struct sched_param none = {0};
    if (t->policy == SCHED_OTHER || t->policy == SCHED_BATCH || t->policy == SCHED_IDLE)
        (void)sched_setscheduler(t->id, t->policy, &none);
    (void)setpriority(PRIO_PROCESS, (id_t)t->id, t->nice);
    (void)sched_setaffinity(t->id, sizeof t->cpus, (const cpu_set_t *)(const void *)t->cpus);
}

void procstate_restore(const struct procstate *s)
{
    static const struct itimerval never;
    fesetenv(&s->floats);
    for (int i = 0; i < TIMERS; i++)
        if (!s->timers[i])
            (void)setitimer(interval_timers[i].which, &never, NULL);
    for (int i = 1; i < SIGNALS; i++)
        if (s->handlers[i].sa_handler != SIG_DFL)
            (void)sigaction(i, &s->handlers[i], NULL);
    pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
    for (int i = 0; i < LIMITS; i++)
        (void)setrlimit((__rlimit_resource_t)i, &s->limits[i]);
    treat(&s->own);
    for (size_t i = 0; i < s->nothers; i++)
        treat(&s->others[i]);
}
