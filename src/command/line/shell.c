/* shell.c - other programs: what is behind | and !.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/line/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/line/parse.h"
#include "command/session.h"

enum {
    TAKEN_MAX = 16 << 20, /* bytes that are kept of what a program prints */
    SCREEN_LIMIT_S = 20,  /* a program under the full screen, which waits for it */
    LOOK_MS = 100,
};

/* A child and our ends of its pipes, -1 where there is none. */
struct child {
    pid_t pid;
    int in, out;
};

/* The child's whole life before exec. Signals are as a shell would hand them on. */
__attribute__((noreturn)) static void become(const char *command, int in, int out, bool errors)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    static const int usual[] = {SIGINT, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        signal(usual[i], SIG_DFL);
    if (in >= 0)
        dup2(in, STDIN_FILENO);
    if (out >= 0)
        dup2(out, STDOUT_FILENO);
    if (out >= 0 && errors)
        dup2(out, STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static bool open_pipe(bool wanted, int ends[2])
{
    ends[0] = ends[1] = -1;
    return !wanted || !pipe2(ends, O_CLOEXEC);
}

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static enum status start(const char *command, bool feed, bool take, bool errors, struct child *c,
                         struct err *err)
{
    int in[2], out[2] = {-1, -1};
    *c = (struct child){.pid = -1, .in = -1, .out = -1};
    if (open_pipe(feed, in) && open_pipe(take, out)) {
        int from = in[0];
        if (!feed && take)
            from = open("/dev/null", O_RDONLY | O_CLOEXEC);
        fflush(NULL);
        c->pid = fork();
        if (!c->pid)
            become(command, from, out[1], errors);
        if (from != in[0])
            shut(&from);
    }
    const int why = errno;
    shut(&in[0]);
    shut(&out[1]);
    c->in = in[1], c->out = out[0];
    if (c->pid > 0)
        return ST_OK;
    shut(&c->in);
    shut(&c->out);
    return err_set(err, ST_FAIL, "the shell cannot be started: %s", strerror(why));
}

/* One round of feeding and taking. */
static void move(struct child *c, const struct str *input, size_t *fed, struct str *taken)
{
    char buf[16384];
    struct pollfd p[2] = {{.fd = c->in, .events = POLLOUT}, {.fd = c->out, .events = POLLIN}};
    if (poll(p, 2, LOOK_MS) <= 0)
        return;
    if (p[0].revents) {
        const ssize_t n = write(c->in, input->data + *fed, input->len - *fed);
        *fed += n > 0 ? (size_t)n : 0;
        if (*fed == input->len || (n < 0 && errno != EAGAIN && errno != EINTR))
            shut(&c->in); /* all is told, or nobody listens: head has its lines */
    }
    if (p[1].revents) {
        const ssize_t n = read(c->out, buf, sizeof buf);
        if (n > 0 && taken->len < TAKEN_MAX)
            str_addn(taken, buf, (size_t)n);
        if (!n || (n < 0 && errno != EINTR))
            shut(&c->out);
    }
}

/* Feeds, takes and waits; returns the wait status. */
static int attend(const struct session *s, struct child *c, const struct str *input,
                  struct str *taken)
{
    const double end = seconds_now() + SCREEN_LIMIT_S;
    size_t fed = 0;
    int status = 0;
    if (c->in >= 0)
        fcntl(c->in, F_SETFL, O_NONBLOCK);
    if (input && !input->len)
        shut(&c->in);
    bool stop = false;
    while (c->in >= 0 || c->out >= 0) {
        move(c, input, &fed, taken);
        if (!stop && (session_cancelled(s) || (!s->front.direct && seconds_now() > end))) {
            kill(c->pid, SIGKILL);
            stop = true;
            shut(&c->in);
            shut(&c->out);
        }
    }
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static enum status judge(const char *command, int status, struct err *err)
{
    char *clean = sanitize_line(command);
    enum status st = ST_OK;
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE)
        st = err_set(err, ST_NO, "\"%s\" was ended by signal %d", clean, WTERMSIG(status));
    else if (WIFEXITED(status) && WEXITSTATUS(status))
        st = err_set(err, ST_NO, "\"%s\" ended with status %d", clean, WEXITSTATUS(status));
    free(clean);
    return st;
}

enum status shell_run(const struct session *s, const char *command, const struct str *input,
                      struct str *out, struct err *err)
{
    const bool take = s->captured || !s->front.direct;
    struct child c;
    struct str taken = {0};
    struct sigaction pipe_was, int_was;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (!take && out->len && s->front.output)
        s->front.output(s->front.ctx, out); /* what came before stands before */
    enum status st = start(command, input != NULL, take, !s->front.direct, &c, err);
    if (st)
        return st;
    sigaction(SIGPIPE, &ignore, &pipe_was);             /* a reader that left is no death */
    sigaction(SIGINT, take ? NULL : &ignore, &int_was); /* Ctrl-C is the program's that is shown */
    st = judge(command, attend(s, &c, input, &taken), err);
    sigaction(SIGINT, &int_was, NULL);
    sigaction(SIGPIPE, &pipe_was, NULL);
    sanitize(out, str_text(&taken), taken.len, true);
    str_free(&taken);
    return st;
}
