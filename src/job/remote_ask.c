/* remote_ask.c - see remote_ask.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/remote_ask.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "job/proc.h"

enum { OUTPUT_MAX = 1 << 20, LOOK_MS = 50 };

struct question {
    struct proc proc;
    struct str log;
    double until;
    bool (*cancelled)(void *ctx);
    void *ctx;
};

/* True: there may be more. */
static bool read_some(struct question *q, struct str *out, struct err *err)
{
    char buf[16 << 10];
    struct pollfd fds[] = {{.fd = wire_fd(q->proc.wire), .events = POLLIN},
                           {.fd = q->proc.log_fd, .events = POLLIN}};
    poll(fds, 2, LOOK_MS);
    proc_read_log(&q->proc, &q->log);
    const ssize_t n = recv(fds[0].fd, buf, sizeof buf, MSG_DONTWAIT);
    if (n > 0)
        str_addn(out, buf, (size_t)n);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    if (q->cancelled && q->cancelled(q->ctx))
        err_set(err, ST_CANCELLED, "cancelled");
    else if (seconds_now() > q->until)
        err_set(err, ST_FAIL, "gave no answer in time");
    else if (out->len > OUTPUT_MAX)
        err_set(err, ST_FAIL, "says too much");
    else
        return n != 0;
    return false;
}

/* It has said all; how did it end? */
static enum status ended(struct question *q, struct err *err)
{
    struct str how = {0};
    const double until = seconds_now() + 2;
    while (!proc_ended(&q->proc, &how) && seconds_now() < until)
        poll(NULL, 0, 10);
    q->proc.log_after = 0;
    proc_read_log(&q->proc, &q->log);
    const bool fine = !strcmp(str_text(&how), "ended with status 0");
    if (!fine) {
        proc_add_last_words(&q->proc, &how);
        err_set(err, ST_FAIL, "%s", how.len ? str_text(&how) : "did not end");
    }
    str_free(&how);
    return fine ? ST_OK : ST_FAIL;
}

enum status remote_ask(const struct remote *r, const char *words, double seconds,
                       bool (*cancelled)(void *ctx), void *ctx, struct str *out, struct err *err)
{
    char **argv;
    struct graveyard graves = {0};
    struct err why = ERR_INIT;
    struct question q = {.proc = proc_none("remote"),
                         .until = seconds_now() + seconds,
                         .cancelled = cancelled,
                         .ctx = ctx};
    enum status st = remote_argv(r, words, &argv, err);
    if (!st)
        st = proc_spawn_stream(&q.proc, argv, err);
    remote_argv_free(argv);
    if (st)
        return st;
    shutdown(wire_fd(q.proc.wire), SHUT_WR);
    while (read_some(&q, out, &why))
        ;
    st = why.text[0] ? err_set(err, ST_FAIL, "%s", why.text) : ended(&q, err);
    proc_drop(&q.proc, &graves);
    graveyard_clear(&graves, 0.01);
    str_free(&q.log);
    return st;
}
