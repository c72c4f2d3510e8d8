/* test_cage.c - what work in a cage cannot do: each wall is tried from inside, and what the parent says of
 * work that goes wrong.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/cage.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sanitized.h"
#include "tap.h"

static const struct cage_limits roomy = {.wall_s = 60, .cpu_s = 30, .bytes = 512 << 20};

/* Runs work(ctx) under roomy limits; its answer must come. The caller frees it. */
static char *answer_of(cage_work *work, void *ctx)
{
    struct str answer;
    struct err err = ERR_INIT;
    const enum status st = cage_run("k", &roomy, work, ctx, NULL, &answer, &err);
    if (st != ST_OK)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL(st, ST_OK);
    return st == ST_OK ? str_take(&answer) : strdup("");
}

static void expect_answer(cage_work *work, void *ctx, const char *wanted)
{
    char *got = answer_of(work, ctx);
    if (strcmp(got, wanted) != 0)
        printf("# \"%s\" instead of \"%s\"\n", got, wanted);
    CU_ASSERT_STRING_EQUAL(got, wanted);
    free(got);
}

/* It must fail, and the sentence must have these words. */
static void expect_end(const struct cage_limits *l, cage_work *work, void *ctx, const char *words)
{
    struct str answer;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(cage_run("k", l, work, ctx, NULL, &answer, &err), ST_FAIL);
    if (strncmp(err.text, "k: ", 3) != 0 || !strstr(err.text, words))
        printf("# \"%s\" has no \"%s\"\n", err.text, words);
    CU_ASSERT_EQUAL(strncmp(err.text, "k: ", 3), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, words));
    CU_ASSERT_PTR_NULL(answer.data);
}

/* ---- answers ---- */

static void say_ctx(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)b;
    str_add(answer, ctx);
}

static void say_much(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)b;
    for (size_t i = 0; i < *(const size_t *)ctx; i++)
        str_addc(answer, (char)('a' + i % 23));
}

static void test_answers(void)
{
    char text[] = "what it found";
    size_t n = 3 << 20; /* more than a pipe holds */
    expect_answer(say_ctx, text, text);
    expect_answer(say_ctx, (char[]){""}, "");
    char *got = answer_of(say_much, &n);
    CU_ASSERT_EQUAL(strlen(got), n);
    CU_ASSERT_EQUAL(got[n - 1], (char)('a' + (n - 1) % 23));
    free(got);
}

static void scribble(void *ctx, struct cage_board *b, struct str *answer)
{
    unsigned char *p = ctx;
    (void)b;
    memset(p, 0x5a, 1 << 20);
    str_add(answer, "done");
}

static void test_shared_memory(void)
{
    unsigned char *p = cage_share(1 << 20), own[16] = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    CU_ASSERT_EQUAL(p[4711], 0);
    expect_answer(scribble, p, "done");
    CU_ASSERT_EQUAL(p[0], 0x5a);
    CU_ASSERT_EQUAL(p[(1 << 20) - 1], 0x5a);
    CU_ASSERT_EQUAL(own[3], 0);
    cage_unshare(p, 1 << 20);
}

static int global_word;

static void change_global(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)b;
    global_word = 7;
    str_addf(answer, "%d", global_word);
}

static void test_own_memory(void)
{
    expect_answer(change_global, NULL, "7");
    CU_ASSERT_EQUAL(global_word, 0);
}

/* ---- walls ---- */

static void try_call(struct str *out, const char *name, long result)
{
    if (result >= 0)
        str_addf(out, "%s ", name);
}

static void open_things(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)b;
    try_call(answer, "read", open("/etc/passwd", O_RDONLY));
    try_call(answer, "self", open("/proc/self/mem", O_RDWR));
    try_call(answer, "made", open(ctx, O_WRONLY | O_CREAT, 0600));
    try_call(answer, "unlinked", unlink("/tmp/attnscope-no-such-file"));
    try_call(answer, "folder", open("/", O_RDONLY | O_DIRECTORY));
    try_call(answer, "memfd", memfd_create("x", 0));
    try_call(answer, "chdir", chdir("/"));
}

static void test_files(void)
{
    char path[] = "/tmp/attnscope-cage-XXXXXX";
    const int fd = mkstemp(path);
    CU_ASSERT_TRUE_FATAL(fd >= 0);
    close(fd);
    unlink(path);
    if (cage_walls().calls)
        expect_answer(open_things, path, "");
    else if (!cage_walls().files)
        printf("# neither Landlock nor seccomp here\n");
    CU_ASSERT_EQUAL(access(path, F_OK), cage_walls().files || cage_walls().calls ? -1 : 0);
    unlink(path);
}

static void reach_out(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)b;
    int pair[2];
    try_call(answer, "inet", socket(AF_INET, SOCK_STREAM, 0));
    try_call(answer, "udp", socket(AF_INET, SOCK_DGRAM, 0));
    try_call(answer, "unix", socket(AF_UNIX, SOCK_STREAM, 0));
    try_call(answer, "netlink", socket(AF_NETLINK, SOCK_RAW, 0));
    try_call(answer, "pair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    try_call(answer, "pipe", pipe(pair));
}

static void test_sockets(void)
{
    if (!cage_walls().calls) {
        printf("# no seccomp here\n");
        return;
    }
    expect_answer(reach_out, NULL, "");
}

static void multiply(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)b;
    const long child = fork();
    if (child == 0)
        _exit(0);
    try_call(answer, "fork", child);
    const long clone = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (clone == 0)
        _exit(0);
    try_call(answer, "clone", clone);
    try_call(answer, "exec", execl("/bin/true", "true", (char *)NULL));
    try_call(answer, "kill", kill(getppid(), 0));
    try_call(answer, "self", kill(getpid(), 0));
    try_call(answer, "tgkill", syscall(SYS_tgkill, *(const pid_t *)ctx, *(const pid_t *)ctx, 0));
    try_call(answer, "ptrace", ptrace(PTRACE_ATTACH, *(const pid_t *)ctx, NULL, NULL));
    try_call(answer, "unshare", syscall(SYS_unshare, 0x10000000));
}

static void test_processes(void)
{
    pid_t self = getpid();
    if (!cage_walls().calls) {
        printf("# no seccomp here\n");
        return;
    }
    expect_answer(multiply, &self, "");
}

static void make_code(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)b;
    void *p =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    try_call(answer, "map", p == MAP_FAILED ? -1 : 0);
    p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    try_call(answer, "protect", p == MAP_FAILED ? -1 : mprotect(p, 4096, PROT_READ | PROT_EXEC));
    str_add(answer, p == MAP_FAILED ? "no memory" : "memory");
}

static void test_code(void)
{
    if (!cage_walls().calls) {
        printf("# no seccomp here\n");
        return;
    }
    expect_answer(make_code, NULL, "memory");
}

static void raise_limits(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)b;
    const struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit now;
    try_call(answer, "cpu", setrlimit(RLIMIT_CPU, &most));
    try_call(answer, "memory", setrlimit(RLIMIT_AS, &most));
    str_add(answer, getrlimit(RLIMIT_CPU, &now) == 0 && now.rlim_cur == 30 ? "as told" : "others");
}

static void test_limits_stay(void)
{
    if (!cage_walls().calls && geteuid() == 0) {
        printf("# root may raise limits where there is no seccomp\n");
        return;
    }
    expect_answer(raise_limits, NULL, "as told");
}

/* What the parent has open must not be open inside. */
static void use_descriptor(void *ctx, struct cage_board *b, struct str *answer)
{
    char c;
    (void)b;
    try_call(answer, "given", read(*(const int *)ctx, &c, 1));
    try_call(answer, "stdin", read(0, &c, 1));
    try_call(answer, "stdout", write(1, "x", 1));
    for (int fd = 4; fd < 200; fd++)
        try_call(answer, "other", fcntl(fd, F_GETFD) < 0 && read(fd, &c, 0) < 0 ? -1 : 0);
}

static void test_descriptors(void)
{
    int fd = open("/dev/zero", O_RDONLY), far = fcntl(fd, F_DUPFD, 150);
    expect_answer(use_descriptor, &fd, "");
    expect_answer(use_descriptor, &far, "");
    close(far);
    close(fd);
}

/* ---- what it must be able to do ---- */

static void *count_up(void *at)
{
    for (int i = 0; i < 1000; i++)
        atomic_fetch_add((_Atomic int *)at, 1);
    return NULL;
}

static void use_threads(void *ctx, struct cage_board *b, struct str *answer)
{
    enum { THREADS = 8 };
    (void)ctx, (void)b;
    pthread_t t[THREADS];
    _Atomic int sum = 0;
    int started = 0;
    while (started < THREADS && pthread_create(&t[started], NULL, count_up, &sum) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(t[i], NULL);
    void *large = calloc(1, 64 << 20);
    struct timespec now;
    str_addf(answer, "%d threads, %d, %s, %s", started, (int)sum, large ? "memory" : "no memory",
             clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? "a clock" : "no clock");
}

static void test_work(void)
{
    expect_answer(use_threads, NULL, "8 threads, 8000, memory, a clock");
}

/* ---- limits ---- */

static void eat_memory(void *ctx, struct cage_board *b, struct str *answer)
{
    enum { PIECE = 1 << 20 };
    size_t pieces = 0;
    (void)ctx, (void)b;
    for (char *p; pieces < 4096 && (p = malloc(PIECE)); pieces++)
        memset(p, 1, PIECE);
    str_addf(answer, "%zu", pieces);
}

static void test_memory(void)
{
    if (SANITIZED) {
        printf("# the address sanitizer reserves more than any limit\n");
        return;
    }
    char *got = answer_of(eat_memory, NULL);
    const long mib = atol(got);
    CU_ASSERT_TRUE(mib > 256 && mib <= 512);
    free(got);
}

static void eat_and_die(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)b, (void)answer;
    for (;;)
        if (!malloc(1 << 20))
            fatal("out of memory");
}

static void test_out_of_memory(void)
{
    const struct cage_limits l = {.wall_s = 60, .cpu_s = 30, .bytes = 64 << 20};
    if (SANITIZED)
        return;
    expect_end(&l, eat_and_die, NULL, "may use 64.0 MiB, gave no answer");
    expect_end(&l, eat_and_die, NULL, "out of memory");
}

static void spin(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)b, (void)answer;
    for (volatile unsigned n = 0;; n++)
        ;
}

static void nap(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)b, (void)answer;
    for (;;)
        usleep(100000);
}

/* No handler and no mask of its own saves it. */
static void spin_deaf(void *ctx, struct cage_board *b, struct str *answer)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGXCPU, SIG_IGN);
    spin(ctx, b, answer);
}

static void test_time(void)
{
    /* Beside many others a second of a processor takes more than a minute. */
    const struct cage_limits cpu = {.wall_s = 600, .cpu_s = 1, .bytes = 64 << 20},
                             wall = {.wall_s = 0.3, .cpu_s = 30, .bytes = 64 << 20};
    expect_end(&cpu, spin, NULL, "took more than 1 s of processor time");
    expect_end(&cpu, spin_deaf, NULL, "took more than 1 s of processor time");
    expect_end(&wall, nap, NULL, "not done after 0.3 s");
}

/* ---- ends ---- */

static void crash(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)b, (void)answer;
    if (ctx)
        dprintf(2, "first\nthe \033[31mlast word\n");
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    abort(); /* raise() may be refused, abort()'s own signal is not */
}

static void leave(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)b, (void)answer;
    _exit(0);
}

static void send_raw(void *ctx, struct cage_board *b, struct str *answer)
{
    const uint64_t *len = ctx;
    char text[16] = {0};
    (void)b, (void)answer;
    if (write(3, len, 8) == 8 && write(3, text, sizeof text) > 0)
        usleep(100000);
    _exit(0);
}

static void chatter(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)b;
    for (int i = 0; i < 20000; i++)
        dprintf(2, "word %d\n", i);
    str_add(answer, "said it");
}

static void test_ends(void)
{
    uint64_t huge = UINT64_MAX, little = 4, more = 100;
    expect_end(&roomy, crash, NULL, "its process died (signal ");
    expect_end(&roomy, crash, &huge, "the ^[[31mlast word");
    expect_end(&roomy, leave, NULL, "gave no answer");
    expect_end(&roomy, send_raw, &huge, "what is no answer");
    expect_end(&roomy, send_raw, &little, "what is no answer");
    expect_end(&roomy, send_raw, &more, "gave no answer");
    expect_answer(chatter, NULL, "said it");
}

/* ---- the watch ---- */

struct seen {
    double last;
    int times, stop_after;
    bool known; /* count only what is known: a process that is slow to begin has told nothing yet */
};

static bool see(void *ctx, double share)
{
    struct seen *s = ctx;
    s->last = share;
    if (s->known && isnan(share))
        return true;
    return ++s->times < s->stop_after;
}

static void go_half(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx;
    atomic_store(&b->total, 8);
    atomic_store(&b->done, 4);
    while (!atomic_load(&b->stop))
        usleep(1000);
    str_add(answer, "half");
}

static void lie(void *ctx, struct cage_board *b, struct str *answer)
{
    (void)ctx, (void)answer;
    atomic_store(&b->total, 1);
    atomic_store(&b->done, UINT64_MAX);
    for (;;)
        usleep(1000);
}

static void test_watch(void)
{
    struct seen s = {.stop_after = 2, .known = true};
    struct cage_watch w = {see, &s};
    struct str answer;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(cage_run("k", &roomy, go_half, NULL, &w, &answer, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(str_text(&answer), "half"); /* what it had is not lost */
    CU_ASSERT_DOUBLE_EQUAL(s.last, 0.5, 1e-9);
    CU_ASSERT_EQUAL(s.times, 2);
    str_free(&answer);
    s = (struct seen){.stop_after = 2};
    CU_ASSERT_EQUAL(cage_run("k", &roomy, lie, NULL, &w, &answer, &err), ST_CANCELLED);
    CU_ASSERT_TRUE(isnan(s.last));
}

/* ---- with its parent ---- */

static void tell_and_sleep(void *ctx, struct cage_board *b, struct str *answer)
{
    atomic_store((_Atomic int *)ctx, (int)getpid());
    nap(NULL, b, answer);
}

/* A process with a cage is killed; the cage must not outlive it. */
static void test_orphan(void)
{
    _Atomic int *inner = cage_share(sizeof *inner);
    int how;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const pid_t keeper = fork();
    if (keeper == 0) {
        struct str answer;
        cage_run("k", &roomy, tell_and_sleep, (void *)inner, NULL, &answer, NULL);
        _exit(1);
    }
    for (int i = 0; i < 10000 && !atomic_load(inner); i++)
        usleep(1000);
    const pid_t pid = atomic_load(inner);
    CU_ASSERT_TRUE_FATAL(pid > 0);
    CU_ASSERT_EQUAL(kill(keeper, SIGKILL), 0);
    CU_ASSERT_EQUAL(waitpid(keeper, &how, 0), keeper);
    pid_t got = 0;
    for (int i = 0; i < 10000 && (got = waitpid(pid, &how, WNOHANG)) == 0; i++)
        usleep(1000);
    CU_ASSERT_EQUAL(got, pid);
    CU_ASSERT_TRUE(got == pid && WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    cage_unshare((void *)inner, sizeof *inner);
}

static const struct tap_test tests[] = {
    {"answers come whole", test_answers},
    {"memory that is shared, and no other", test_shared_memory},
    {"its own memory is a copy", test_own_memory},
    {"no files", test_files},
    {"no sockets", test_sockets},
    {"no processes", test_processes},
    {"no code that was data", test_code},
    {"limits cannot be raised", test_limits_stay},
    {"no descriptors", test_descriptors},
    {"threads, memory and clocks", test_work},
    {"memory is bounded", test_memory},
    {"out of memory is a sentence", test_out_of_memory},
    {"time is bounded", test_time},
    {"crashes and lies are sentences", test_ends},
    {"progress, and a stop", test_watch},
    {"dies with its parent", test_orphan},
};

TAP_MAIN("cage", tests)
