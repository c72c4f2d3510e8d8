/* proc.c - starting, hearing and ending one worker process.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "job/proc.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "base/sanitize.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

extern char **environ;

enum { WORKER_FD = 3 }; /* where the worker finds its socket */

static const char program_name[] = "attnscope-worker";

/* ---- finding ---- */

/* "<folder of this program>/attnscope-worker", or NULL. */
static char *beside_program(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return NULL;
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    return slash ? xasprintf("%.*s/%s", (int)(slash - self), self, program_name) : NULL;
}

/* Where it was installed to, or where that is now, if the whole tree was moved. */
static char *in_libexec(bool moved)
{
#if defined LIBEXECDIR && defined BINDIR
    char *path = xasprintf("%s/%s", LIBEXECDIR, program_name);
    if (!moved)
        return path;
    char *now = path_installed(BINDIR, path);
    free(path);
    return now;
#else
    (void)moved;
    return NULL;
#endif
}

/* What exec would say about a file that is no program, said before anything is started; `origin`
 * says who named it. */
static enum status check_program(const char *path, const char *origin, struct err *err)
{
    struct stat st;
    const char *why = stat(path, &st) != 0      ? strerror(errno)
                      : !S_ISREG(st.st_mode)    ? "not a file"
                      : access(path, X_OK) != 0 ? "not a program"
                                                : NULL;
    return why ? err_set(err, ST_FAIL, "cannot start the worker %s%s: %s", path, origin, why)
               : ST_OK;
}

enum status proc_find(const char *given, char **path, struct err *err)
{
    const char *named = given ? given : getenv("ATTNSCOPE_WORKER");
    if (named && *named) { /* an explicit wish is never second-guessed */
        enum status st = check_program(named, given ? "" : " (named by ATTNSCOPE_WORKER)", err);
        *path = st == ST_OK ? xstrdup(named) : NULL;
        return st;
    }
    char *places[] = {beside_program(), in_libexec(true), in_libexec(false)};
    *path = NULL;
    for (int i = 0; i < 3 && !*path; i++)
        if (places[i] && access(places[i], X_OK) == 0)
            *path = xstrdup(places[i]);
    if (!*path)
        err_set(err, ST_FAIL, "%s was not found: tried %s%s%s; set ATTNSCOPE_WORKER to its path",
                program_name, places[0] ? places[0] : "", places[0] && places[2] ? " and " : "",
                places[2] ? places[2] : "");
    for (int i = 0; i < 3; i++)
        free(places[i]);
    return *path ? ST_OK : ST_FAIL;
}

/* ---- starting ---- */

struct proc proc_none(const char *role)
{
    return (struct proc){.role = role,
                         .end_fd = -1,
                         .log_fd = -1,
                         .deadline = INFINITY,
                         .closed_since = NAN,
                         .alive_at = INFINITY};
}

/* Both ends of the worker's connections. Index 0 is ours, 1 the worker's; the log's are pipe
 * order. */
struct ends {
    int sock[2], log[2];
};

static void ends_close(struct ends *e)
{
    int all[] = {e->sock[0], e->sock[1], e->log[0], e->log[1]};
    for (int i = 0; i < 4; i++)
        if (all[i] >= 0)
            close(all[i]);
}

/* Moves *fd above the numbers that the worker's own descriptors get. */
static bool lift(int *fd)
{
    if (*fd > WORKER_FD)
        return true;
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, WORKER_FD + 1);
    if (high < 0)
        return false;
    close(*fd);
    *fd = high;
    return true;
}

/* The log's both ends do not block: a kernel that floods it loses text, not time. */
static bool ends_open(struct ends *e)
{
    *e = (struct ends){.sock = {-1, -1}, .log = {-1, -1}};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, e->sock) == 0 &&
        pipe2(e->log, O_CLOEXEC | O_NONBLOCK) == 0 && lift(&e->sock[0]) && lift(&e->sock[1]) &&
        lift(&e->log[0]) && lift(&e->log[1]))
        return true;
    int why = errno;
    ends_close(e);
    errno = why;
    return false;
}

/* Every signal back to what a fresh program expects, whatever the interface does with its own. */
static void reset_signals(void)
{
    sigset_t none;
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void connect_worker(const struct ends *e)
{
    const int null = open("/dev/null", O_RDONLY);
    if (null > 0) {
        dup2(null, 0);
        close(null);
    }
    dup2(e->log[1], 1);
    dup2(e->log[1], 2);
    dup2(e->sock[1], WORKER_FD);
}

/* What knows nothing of us ends with us all the same, if only we are killed. */
static void connect_stream(const struct ends *e)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(e->sock[1], 0);
    dup2(e->sock[1], 1);
    dup2(e->log[1], 2);
}

/* The child between fork and exec. It gets a session of its own, so that keys typed at the terminal
 * do not reach it, nor it asks there; its output goes to the log. */
static void become_worker(const struct ends *e, bool stream, char *const argv[], char *const envp[])
{
    setsid();
    if (stream)
        connect_stream(e);
    else
        connect_worker(e);
    reset_signals();
    execve(argv[0], argv, envp);
    dprintf(2, "cannot start %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* Our environment with `mark`, which the list borrows like all the rest; the caller frees the list. */
static char **marked_environment(char *mark)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **out = xcalloc(n + 2, sizeof *out);
    out[kept++] = mark;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], mark, strcspn(mark, "=") + 1) != 0)
            out[kept++] = environ[i];
    return out;
}

/* fork, not posix_spawn: that would keep the interface waiting until a busy machine gets round to
 * the child's exec. Signals stay blocked until the child has none of our handlers any more. */
static pid_t start_worker(const struct ends *e, bool stream, char *const argv[], char *mark)
{
    sigset_t all, before;
    char **envp = marked_environment(mark);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        become_worker(e, stream, argv, envp);
    int why = errno;
    free(envp);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return pid;
}

/* Before Linux 5.3 there is no such thing, and the end is noticed by the closed connection. */
static int watch_end(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

static enum status spawn(struct proc *p, bool stream, char *const argv[], struct ends *e,
                         struct err *err)
{
    char mark[KIN_MARK];
    kin_new_mark(mark);
    pid_t pid = start_worker(e, stream, argv, mark);
    if (pid < 0) {
        err_set(err, ST_FAIL, "cannot start %s: %s", stream ? argv[0] : "a worker",
                strerror(errno));
        ends_close(e);
        return ST_FAIL;
    }
    close(e->sock[1]);
    close(e->log[1]);
    struct proc new = proc_none(p->role);
    new.pid = pid;
    new.wire = stream ? wire_new_stream(e->sock[0], e->sock[0]) : wire_new(e->sock[0]);
    new.end_fd = watch_end(pid);
    new.log_fd = e->log[0];
    memcpy(new.kin, mark, sizeof mark);
    *p = new;
    return ST_OK;
}

enum status proc_spawn(struct proc *p, const char *path, struct err *err)
{
    struct ends e;
    if (!ends_open(&e))
        return err_set(err, ST_FAIL, "cannot connect a worker: %s", strerror(errno));
    char fd[12], parent[24];
    snprintf(fd, sizeof fd, "%d", WORKER_FD);
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    char *argv[] = {(char *)(uintptr_t)path, (char *)(uintptr_t)p->role, fd, parent, NULL};
    return spawn(p, false, argv, &e, err);
}

enum status proc_spawn_stream(struct proc *p, char *const argv[], struct err *err)
{
    struct ends e;
    if (!ends_open(&e))
        return err_set(err, ST_FAIL, "cannot connect %s: %s", argv[0], strerror(errno));
    return spawn(p, true, argv, &e, err);
}

/* ---- hearing ---- */

/* Adds to `s`, of which at most the last `max` bytes are kept. */
static void add_tail(struct str *s, const char *text, size_t len, size_t max)
{
    str_addn(s, text, len);
    if (s->len > max) {
        size_t extra = s->len - max / 2;
        memmove(s->data, s->data + extra, s->len - extra + 1);
        s->len -= extra;
    }
}

static void hear_words(struct proc *p, const char *text, size_t len, struct str *log)
{
    for (const char *mark; (mark = memchr(text, WORDS_BEGIN, len));) {
        add_tail(log, text, (size_t)(mark - text), LOG_MAX);
        str_clear(&p->words);
        len -= (size_t)(mark + 1 - text);
        text = mark + 1;
    }
    add_tail(log, text, len, LOG_MAX);
    add_tail(&p->words, text, len, WORDS_MAX);
}

/* Once; false: there is nothing now. */
static bool read_some(struct proc *p, struct str *log)
{
    enum { CHUNK = 16 << 10 };
    char buf[CHUNK];
    ssize_t n = p->log_fd < 0 ? -1 : read(p->log_fd, buf, sizeof buf);
    if (n == 0) { /* it closed its output; that alone is no fault */
        close(p->log_fd);
        p->log_fd = -1;
    }
    if (n <= 0)
        return false;
    hear_words(p, buf, (size_t)n, log);
    return true;
}

void proc_read_log(struct proc *p, struct str *log)
{
    static const double pause_s = 0.02; /* 16 KiB per 20 ms: a flood stays below 1 MB/s */
    if (seconds_now() >= p->log_after && read_some(p, log))
        p->log_after = seconds_now() + pause_s;
}

void proc_add_last_words(const struct proc *p, struct str *how)
{
    const char *text = str_text(&p->words);
    size_t end = p->words.len;
    while (end && (text[end - 1] == '\n' || text[end - 1] == '\r'))
        end--;
    size_t begin = end;
    while (begin && text[begin - 1] != '\n' && end - begin < 200)
        begin--;
    if (begin < end) {
        str_add(how, ": ");
        sanitize(how, text + begin, end - begin, false);
    }
}

static void describe(int status, struct str *how)
{
    if (WIFSIGNALED(status)) {
        const char *name = strsignal(WTERMSIG(status));
        str_addf(how, "died (signal %d, %c%s)", WTERMSIG(status), tolower((unsigned char)name[0]),
                 name + 1);
    } else {
        str_addf(how, "ended with status %d", WEXITSTATUS(status));
    }
}

bool proc_has_ended(const struct proc *p)
{
    struct pollfd look = {.fd = p->end_fd, .events = POLLIN};
    return p->end_fd >= 0 && poll(&look, 1, 0) > 0;
}

bool proc_ended(struct proc *p, struct str *how)
{
    siginfo_t info = {.si_pid = 0};
    int status = 0;
    if (!p->pid ||
        (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0))
        return false;
    kill(-p->pid, SIGKILL); /* whatever it started; its number is safe until it is reaped */
    if (waitpid(p->pid, &status, WNOHANG) == p->pid) {
        describe(status, how);
        p->killed =
            WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
    } else
        str_add(how, "vanished");
    p->pid = 0;
    return true;
}

/* "box" of its key is what the user calls it. */
static enum status refuse_build(const struct proc *p, const json_t *o, const char *build,
                                struct err *err)
{
    const char *version = json_string_value(json_object_get(o, "program"));
    char *theirs = sanitize_line(version ? version : "unknown");
    err_set(
        err, ST_USAGE,
        "%.*s has attnscope %.40s of another build (%.16s) than this program (%s, %.16s): install "
        "the same on both machines",
        (int)strcspn(p->far, " "), p->far, theirs, build ? build : "none", PACKAGE_VERSION,
        wire_build);
    free(theirs);
    return ST_USAGE;
}

enum status proc_greet(struct proc *p, enum wire_type type, const json_t *o, struct err *err)
{
    const char *role = json_string_value(json_object_get(o, "role"));
    if (type != WIRE_HELLO || !role || strcmp(role, p->role) != 0)
        return err_set(err, ST_FAIL, "it did not say hello first");
    const char *build = json_string_value(json_object_get(o, "build"));
    if (p->far && (!build || strcmp(build, wire_build) != 0))
        return refuse_build(p, o, build, err);
    if (!build || strcmp(build, wire_build) != 0)
        return err_set(err, ST_USAGE,
                       "the worker is of another build (%.16s) than this program (%s), so it was "
                       "stopped: install both from one build, or name the right one in "
                       "ATTNSCOPE_WORKER",
                       build ? build : "none", wire_build);
    p->greeted = true;
    return ST_OK;
}

void proc_add_silence(const struct proc *p, double asked_s, struct str *how)
{
    char limit[NUMBER_BUF];
    str_addf(how, "gave no sign of life for %.1f s", p->silence);
    if (asked_s > 0 && !p->far)
        str_addf(how, ", where timeout=%s is the limit,", number_fmt(limit, asked_s, 3));
    str_add(how, " and was stopped");
}

/* ---- ending ---- */

static void grave_add(struct graveyard *g, const struct proc *p)
{
    void *items = g->items;
    xgrow(&items, &g->cap, g->count + 1, sizeof *g->items);
    g->items = items;
    struct grave *new = &g->items[g->count++];
    *new = (struct grave){.pid = p->pid, .since = seconds_now()};
    if (p->parent)
        memcpy(new->kin, p->kin, sizeof new->kin);
}

void proc_drop(struct proc *p, struct graveyard *g)
{
    if (p->pid) {
        kill(-p->pid, SIGKILL); /* its session: whatever it started goes too */
        kill(p->pid, SIGKILL);
    }
    if (p->pid || p->parent)
        grave_add(g, p);
    wire_free(p->wire);
    free(p->far);
    str_free(&p->words);
    if (p->log_fd >= 0)
        close(p->log_fd);
    if (p->end_fd >= 0)
        close(p->end_fd);
    *p = proc_none(p->role);
}

/* Is there nothing left to be done about it? Who has lost its parent starts no others that are not found by
 * the next look, so a look that finds nobody is the last one; who cannot be killed is not waited for. */
static bool settle(struct grave *e)
{
    static const double search_s = 5;
    if (e->pid && waitpid(e->pid, NULL, WNOHANG) == 0)
        return false;
    e->pid = 0;
    return !e->kin[0] || kin_end_marked(e->kin) == 0 || seconds_now() > e->since + search_s;
}

void graveyard_visit(struct graveyard *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->count; i++)
        if (!settle(&g->items[i]))
            g->items[kept++] = g->items[i];
    g->count = kept;
}

double graveyard_wait(const struct graveyard *g)
{
    double wait = INFINITY, now = seconds_now();
    for (size_t i = 0; i < g->count; i++) /* the longer it takes, the rarer the look */
        wait = fmin(wait, fmin(fmax((now - g->items[i].since) / 2, 0.001), 0.25));
    return wait;
}

void graveyard_clear(struct graveyard *g, double seconds)
{
    double until = seconds_now() + seconds;
    graveyard_visit(g);
    while (g->count && seconds_now() < until) {
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        graveyard_visit(g);
    }
    for (size_t i = 0; i < g->count; i++)
        if (g->items[i].kin[0])
            kin_end_marked(g->items[i].kin);
    free(g->items);
    *g = (struct graveyard){.count = 0};
}

double proc_wait(const struct proc *p, double now)
{
    double wait = p->pid ? fmin(p->deadline, p->alive_at) - now : INFINITY;
    if (!isnan(p->closed_since))
        wait = fmin(wait, 0.001);
    if (p->log_fd >= 0 && p->log_after > now)
        wait = fmin(wait, p->log_after - now);
    return wait;
}
