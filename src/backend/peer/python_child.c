/* python_child.c - one child that runs Python: started, talked to, ended.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/peer/python_child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "backend/finder.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/kin.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "kernel/blob.h"

extern char **environ;

enum { ANSWER_MAX = 64 << 10, SOCKET_FD = 3, SCRIPT_FD = 4, FREE_FD = 10 };

/* ---- life of a child ---- */

static void reap(struct child *c)
{
    if (c->pid > 0)
        kin_end_tree(c->pid); /* what its callable has started goes, too */
    if (c->fd >= 0)
        close(c->fd);
    c->pid = 0;
    c->fd = -1;
}

void python_child_free(struct child *c)
{
    reap(c);
    free(c->key);
    free(c->dead);
    free(c);
}

/* How it ended, in words; it is reaped. */
static char *describe_end(struct child *c)
{
    int how = 0;
    pid_t done = 0;
    for (int i = 0; i < 1000 && (done = waitpid(c->pid, &how, WNOHANG)) == 0; i++)
        usleep(1000); /* its socket is closed: it is on its way */
    if (done == c->pid)
        c->pid = 0;
    reap(c);
    if (done && WIFSIGNALED(how))
        return xasprintf("its Python process died (signal %d, %s)", WTERMSIG(how),
                         strsignal(WTERMSIG(how)));
    return done && WIFEXITED(how)
               ? xasprintf("its Python process ended with status %d", WEXITSTATUS(how))
               : xstrdup("its Python process went away");
}

/* A descriptor that the child's fixed numbers cannot hit. */
static int lift(int fd)
{
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, FREE_FD);
    close(fd);
    return high;
}

static int script_fd(void)
{
    const struct blob *b = blob_find("kernels/peers/helper.py");
    int fd = memfd_create("attnscope-helper.py", MFD_CLOEXEC);
    if (fd >= 0 && (!b || !file_write_all(fd, b->data, blob_size(b)))) {
        close(fd);
        fd = -1;
    }
    return fd < 0 ? -1 : lift(fd);
}

static int spawn_child(pid_t *pid, int socket, int script)
{
    char parent[24], path[40];
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    snprintf(path, sizeof path, "/proc/self/fd/%d", SCRIPT_FD);
    char *argv[] = {(char *)(uintptr_t)find_python_name(), path, parent, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, SOCKET_FD);
    posix_spawn_file_actions_adddup2(&actions, script, SCRIPT_FD);
    const int failed = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

enum status python_child_start(struct child *c, struct err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return err_set(err, ST_FAIL, "no socket for Python: %s", strerror(errno));
    const int theirs = lift(pair[1]), script = script_fd();
    int failed = theirs < 0 || script < 0 ? errno : spawn_child(&c->pid, theirs, script);
    if (theirs >= 0)
        close(theirs);
    if (script >= 0)
        close(script);
    c->fd = pair[0];
    if (!failed)
        return ST_OK;
    c->pid = 0;
    if (failed == ENOENT)
        return err_set(err, ST_NO,
                       "there is no %s here: install Python 3, or name it in ATTNSCOPE_PYTHON",
                       find_python_name());
    return err_set(err, ST_FAIL, "%s cannot be started: %s", find_python_name(), strerror(failed));
}

double python_child_work(const struct child *c)
{
    clockid_t clock;
    struct timespec t;
    if (c->pid <= 0 || clock_getcpuclockid(c->pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return NAN;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool python_child_rests(const struct child *c)
{
    return c->pid <= 0 || host_goes_idle(c->pid);
}

/* ---- talk ---- */

static bool send_text(int fd, const char *text, int given)
{
    struct iovec iov = {(void *)(uintptr_t)text, strlen(text)};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    if (given >= 0) {
        m.msg_control = control.room;
        m.msg_controllen = sizeof control.room;
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof given);
        memcpy(CMSG_DATA(h), &given, sizeof given);
    }
    return sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t)iov.iov_len;
}

static enum status give_up(struct child *c, char *why, const char *name, struct err *err)
{
    reap(c);
    c->dead = why;
    return err_set(err, ST_FAIL, "%s: %s", name, why);
}

/* Sends `ask`, whose reference it takes, and hears the answer. ST_NO with the child's own sentence
 * when it refuses. */
enum status python_talk(struct child *c, const char *name, json_t *ask, int given, double patience,
                        json_t **answer, struct err *err)
{
    *answer = NULL;
    char *text = json_dumps(ask, JSON_COMPACT), *buf = NULL;
    json_decref(ask);
    enum status st = ST_OK;
    if (c->dead)
        st = err_set(err, ST_FAIL, "%s did not run: %s", name, c->dead);
    else if (!send_text(c->fd, text, given))
        st = give_up(c, describe_end(c), name, err);
    else if (!fd_wait(c->fd, POLLIN, seconds_now() + patience))
        st = give_up(c, xasprintf("its Python process gave no answer for %g s", patience), name,
                     err);
    free(text);
    if (st != ST_OK)
        return st;
    buf = xmalloc(ANSWER_MAX);
    const ssize_t n = recv(c->fd, buf, ANSWER_MAX, 0);
    *answer = n > 0 ? json_loadb(buf, (size_t)n, 0, NULL) : NULL;
    free(buf);
    if (n <= 0)
        return give_up(c, describe_end(c), name, err);
    if (!json_is_object(*answer)) {
        json_decref(*answer);
        *answer = NULL;
        return give_up(c, xstrdup("its Python process talks nonsense"), name, err);
    }
    return ST_OK;
}

/* python_talk(), with the child's refusal as an error. */
enum status python_ask(struct child *c, const char *name, json_t *ask, int given, double patience,
                       json_t **answer, struct err *err)
{
    enum status st = python_talk(c, name, ask, given, patience, answer, err);
    const char *said = json_string_value(json_object_get(*answer, "error"));
    if (st != ST_OK || !said)
        return st;
    char *clean = sanitize_line(said);
    const bool named = str_starts(clean, name);
    st = err_set(err, ST_NO, "%s%s%s", named ? "" : name, named ? "" : ": ", clean);
    if (json_is_true(json_object_get(*answer, "lost")))
        st = give_up(c, xasprintf("its process on the GPU was lost (%s)", clean), name, NULL);
    free(clean);
    json_decref(*answer);
    *answer = NULL;
    return st;
}
