/* outlet.c - see outlet.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* Unanswered bytes up to which another frame goes out: 0.15 s of a 2 kB/s line. Without an answer in
 * SILENT_MS the terminal is one that gives none; one that did before is given LOST_MS. */
enum { AHEAD = 300, SILENT_MS = 2500, LOST_MS = 10000, CHUNK = 4096, SMALL_CHUNK = 128 };

void outlet_open(struct outlet *o, int fd, bool ask)
{
    const char *name = ttyname(fd);
    *o = (struct outlet){.fd = fd, .ask = ask};
    int own = name ? open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (own >= 0) {
        o->fd = own;
        o->own = true;
    }
}

void outlet_close(struct outlet *o)
{
    if (o->own)
        close(o->fd);
    str_free(&o->buf);
    *o = (struct outlet){.fd = -1};
}

bool outlet_pending(const struct outlet *o)
{
    return o->sent < o->buf.len;
}

static bool has_room(const struct outlet *o)
{
    struct pollfd p = {.fd = o->fd, .events = POLLOUT};
    return o->own || (poll(&p, 1, 0) == 1 && (p.revents & POLLOUT));
}

bool outlet_flush(struct outlet *o)
{
    size_t chunk = o->own ? CHUNK : SMALL_CHUNK;
    while (outlet_pending(o) && has_room(o)) {
        size_t left = o->buf.len - o->sent;
        ssize_t n = write(o->fd, o->buf.data + o->sent, left < chunk ? left : chunk);
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0 && errno == EINTR)
            continue;
        o->sent += n > 0 ? (size_t)n : left; /* a terminal that is gone takes everything */
    }
    if (outlet_pending(o))
        return false;
    str_clear(&o->buf);
    o->sent = 0;
    return true;
}

void outlet_send(struct outlet *o, const char *bytes, size_t len)
{
    str_addn(&o->buf, bytes, len);
    o->frame += len;
    o->total += len;
    outlet_flush(o);
}

static void ask(struct outlet *o, int64_t now)
{
    if (!o->ask || o->silent || o->nasked == OUTLET_FRAMES)
        return;
    o->asked[o->nasked].bytes = o->frame;
    o->asked[o->nasked++].at_ms = now;
    outlet_send(o, "\033[5n", 4);
    o->frame = 0;
}

void outlet_begin(struct outlet *o, int64_t now)
{
    ask(o, now);
}

void outlet_end_frame(struct outlet *o, int64_t now)
{
    if (o->frame > 0)
        ask(o, now);
}

void outlet_answered(struct outlet *o)
{
    o->answers = true;
    o->silent = false;
    if (o->nasked > 0)
        memmove(o->asked, o->asked + 1, (size_t)--o->nasked * sizeof *o->asked);
}

static size_t unanswered(const struct outlet *o)
{
    size_t sum = 0;
    for (int i = 0; i < o->nasked; i++)
        sum += o->asked[i].bytes;
    return sum;
}

int outlet_behind_ms(struct outlet *o, int64_t now)
{
    if (outlet_pending(o))
        return 1000; /* room wakes the loop before */
    if (o->nasked == 0 || unanswered(o) <= AHEAD)
        return 0;
    int64_t until = o->asked[0].at_ms + (o->answers ? LOST_MS : SILENT_MS);
    if (now < until)
        return (int)(until - now);
    o->nasked = 0;
    o->silent = !o->answers; /* who never answered is not asked again, unless an answer comes yet */
    return 0;
}

void outlet_drain(struct outlet *o, int in_fd, int ms, void (*read_answers)(void *ctx), void *ctx)
{
    int64_t end = ms_now() + ms;
    while (!outlet_flush(o) || (o->answers && o->nasked > 0)) {
        struct pollfd p[2] = {
            {.fd = in_fd, .events = POLLIN},
            {.fd = o->fd, .events = outlet_pending(o) ? POLLOUT : 0},
        };
        int64_t left = end - ms_now();
        const int n = left > 0 ? poll(p, 2, (int)left) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        if (p[0].revents & POLLIN)
            read_answers(ctx);
        if ((p[0].revents | p[1].revents) & (POLLHUP | POLLERR | POLLNVAL))
            return;
    }
}
