/* compile.c - asks the compile role for a cubin, and survives whatever happens to it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/compile/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/compile/compile_wire.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

extern char **environ;

void compile_clear(struct compile_result *r)
{
    free(r->image);
    free(r->log);
    free(r->version);
    *r = (struct compile_result){0};
}

/* ---- limits ---- */

struct compile_limits compile_limits(enum compiler which)
{
    enum { MOST_S = 3600 };
    static const struct compile_limits usual[] = {
        [COMPILER_NVRTC] = {.wall_s = 20, .cpu_s = 10},
        [COMPILER_CC] = {.wall_s = 40, .cpu_s = 20},
        [COMPILER_CLANG] = {.wall_s = 40, .cpu_s = 20},
        [COMPILER_NVCC] = {.wall_s = 240, .cpu_s = 120}, /* template headers take a minute */
    };
    const char *text = getenv("ATTNSCOPE_COMPILE_SECONDS");
    const long n = text ? strtol(text, NULL, 10) : 0;
    if (n < 1)
        return usual[which];
    const int wall = n > MOST_S ? MOST_S : (int)n;
    return (struct compile_limits){.wall_s = wall, .cpu_s = (wall + 1) / 2};
}

/* ---- parcels ---- */

/* `len` bytes one way or the other. */
static bool move(int fd, void *data, size_t len, bool out, double deadline)
{
    char *p = data;
    while (len > 0) {
        if (!fd_wait(fd, out ? POLLOUT : POLLIN, deadline))
            return false;
        const int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
        const ssize_t n = out ? send(fd, p, len, flags) : recv(fd, p, len, flags);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

bool parcels_send(int fd, const struct parcel *p, int n, double deadline)
{
    for (int i = 0; i < n; i++) {
        uint64_t len = p[i].len;
        if (!move(fd, &len, sizeof len, true, deadline) ||
            !move(fd, p[i].data, p[i].len, true, deadline))
            return false;
    }
    return true;
}

bool parcels_receive(int fd, struct parcel *p, int n, size_t max, double deadline)
{
    for (int i = 0; i < n; i++) {
        uint64_t len;
        if (!move(fd, &len, sizeof len, false, deadline) || len > max)
            return false;
        p[i].len = (size_t)len;
        p[i].data = xcalloc(p[i].len + 1, 1);
        if (!move(fd, p[i].data, p[i].len, false, deadline))
            return false;
    }
    return true;
}

void parcel_set(struct parcel *p, const char *text)
{
    free(p->data);
    p->data = xstrdup(text);
    p->len = strlen(text);
}

void parcels_free(struct parcel *p, int n)
{
    for (int i = 0; i < n; i++)
        free(p[i].data);
}

/* ---- the child ---- */

/* This very program, which is attnscope-worker; tests name it. The caller frees it. */
static char *worker_path(void)
{
    char path[4096];
    const char *given = getenv("ATTNSCOPE_WORKER");
    if (given && *given)
        return xstrdup(given);
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return n > 0 ? xstrndup(path, (size_t)n) : xstrdup("attnscope-worker");
}

/* The child finds its end of the socket as descriptor 3. */
static enum status start_child(int fd, pid_t *pid, struct err *err)
{
    enum { CHILD_FD = 3 };
    char *path = worker_path(), child[12], parent[12];
    char *argv[] = {path, "compile", child, parent, NULL};
    posix_spawn_file_actions_t actions;
    snprintf(child, sizeof child, "%d", CHILD_FD);
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, CHILD_FD);
    const int failed = posix_spawn(pid, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    enum status st = ST_OK;
    if (failed)
        st = err_set(err, ST_FAIL, "the compiler's process cannot be started (%s): %s", path,
                     strerror(failed));
    free(path);
    return st;
}

const char *const compiler_words[COMPILERS] = {[COMPILER_NVRTC] = "nvrtc",
                                               [COMPILER_NVCC] = "nvcc",
                                               [COMPILER_CC] = "cc",
                                               [COMPILER_CLANG] = "clang"};

static enum status explain_end(enum compiler which, int how, bool late, struct err *err)
{
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU)
        return err_set(err, ST_FAIL,
                       "the compiler took more than %d s of processor time and was "
                       "stopped",
                       compile_limits(which).cpu_s);
    if (late)
        return err_set(err, ST_FAIL, "the compiler gave no answer for %d s and was stopped",
                       compile_limits(which).wall_s);
    if (WIFSIGNALED(how))
        return err_set(err, ST_FAIL, "the compiler died (signal %d, %s)", WTERMSIG(how),
                       strsignal(WTERMSIG(how)));
    return err_set(err, ST_FAIL, "the compiler ended with status %d and no answer",
                   WEXITSTATUS(how));
}

/* With the programs it has started: it leads a group of its own, once it has come so far. */
static void kill_group(pid_t pid)
{
    if (kill(-pid, SIGKILL) != 0)
        kill(pid, SIGKILL);
}

/* Ends the child if it has not ended; how it ended. */
static int end_child(pid_t pid)
{
    int how = 0;
    for (int i = 0; i < 50; i++) { /* its answer is here, or its socket closed: it is on its way */
        if (waitpid(pid, &how, WNOHANG) == pid)
            return how;
        usleep(1000);
    }
    kill_group(pid);
    waitpid(pid, &how, 0);
    return how;
}

static enum status talk(enum compiler which, int fd, pid_t pid, const struct parcel *ask,
                        struct parcel *answer, struct err *err)
{
    const double deadline = seconds_now() + compile_limits(which).wall_s;
    const bool done = parcels_send(fd, ask, ASKS, deadline) &&
                      parcels_receive(fd, answer, ANSWERS, COMPILE_IMAGE_MAX, deadline);
    const bool late = seconds_now() >= deadline;
    if (late)
        kill_group(pid);
    const int how = end_child(pid);
    return done ? ST_OK : explain_end(which, how, late, err);
}

static enum status converse(enum compiler which, const struct parcel *ask, struct parcel *answer,
                            struct err *err)
{
    int pair[2];
    pid_t pid;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return err_set(err, ST_FAIL, "no socket for the compiler: %s", strerror(errno));
    enum status st = start_child(pair[1], &pid, err);
    close(pair[1]);
    if (st == ST_OK)
        st = talk(which, pair[0], pid, ask, answer, err);
    close(pair[0]);
    return st;
}

/* ---- the answer ---- */

static char *take(struct parcel *p)
{
    char *data = p->data;
    p->data = NULL;
    return data;
}

/* The line of the log that says what is wrong: the first with "error", else the first. */
static void first_error(const char *log, struct err *err)
{
    const char *at = strstr(log, "error");
    while (at && at > log && at[-1] != '\n')
        at--;
    at = at ? at : log;
    err_set(err, ST_NO, "it does not compile: %.*s", (int)strcspn(at, "\n"), at);
}

static enum status judge(struct parcel *answer, struct compile_result *out, struct err *err)
{
    const char *verdict = answer[ANSWER_VERDICT].data;
    out->log = take(&answer[ANSWER_LOG]);
    if (strcmp(verdict, VERDICT_ABSENT) == 0)
        return err_set(err, ST_NO, "%s", out->log);
    out->version = take(&answer[ANSWER_VERSION]);
    if (strcmp(verdict, VERDICT_OK) != 0) {
        first_error(out->log, err);
        return ST_NO;
    }
    out->image_len = answer[ANSWER_IMAGE].len;
    if (out->image_len)
        out->image = take(&answer[ANSWER_IMAGE]);
    return ST_OK;
}

enum status compile_cuda(const char *name, const char *source, size_t len,
                         const char *const *options, struct compile_result *out, struct err *err)
{
    return compile_with(COMPILER_NVRTC, name, source, len, options, out, err);
}

enum status compile_with(enum compiler which, const char *name, const char *source, size_t len,
                         const char *const *options, struct compile_result *out, struct err *err)
{
    struct parcel ask[ASKS] = {0}, answer[ANSWERS] = {0};
    struct str lines = {0};
    *out = (struct compile_result){0};
    if (len > COMPILE_SOURCE_MAX)
        return err_set(err, ST_NO, "%s is too large to compile", name);
    for (const char *const *o = options; o && *o; o++)
        if (strchr(*o, '\n')) /* it would arrive as two, and nobody has looked at the second */
            return err_set(err, ST_NO,
                           "%s: a folder whose name has a line break is not given to a "
                           "compiler",
                           name);
    for (; options && *options; options++)
        str_addf(&lines, "%s\n", *options);
    const char *compiler = compiler_words[which];
    ask[ASK_COMPILER] = (struct parcel){(char *)compiler, strlen(compiler)};
    ask[ASK_NAME] = (struct parcel){(char *)name, strlen(name)};
    ask[ASK_SOURCE] = (struct parcel){(char *)source, source ? len : 0};
    ask[ASK_OPTIONS] = (struct parcel){lines.data, lines.len};
    enum status st = converse(which, ask, answer, err);
    if (st == ST_OK)
        st = judge(answer, out, err);
    parcels_free(answer, ANSWERS);
    str_free(&lines);
    return st;
}
