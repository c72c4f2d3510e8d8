/* proxy.c - stands between the supervisor and a real worker, relays frames with their descriptors,
 * and breaks the one it was told to.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "faults.h"

enum { HEADER = 24, FRAME_MAX = HEADER + (1 << 20), CHILD_FD = 3 };

struct frame {
    unsigned char bytes[FRAME_MAX];
    size_t len;
    int fd; /* -1: none */
};

static struct {
    char how[16], once[300];
    int frame, bit; /* which frame from the worker; -1: none */
} plan = {.frame = -1};

static void read_plan(const char *role)
{
    const char *text = getenv("FAULTS_PROXY");
    char whose[16] = "";
    if (!text || sscanf(text, "role=%15[^,],frame=%d,how=%15[^,],bit=%d,once=%299[^,]", whose,
                        &plan.frame, plan.how, &plan.bit, plan.once) != 5)
        _exit(98);
    if (strcmp(whose, role) != 0)
        plan.frame = -1;
}

static bool may_fire(void)
{
    char fired[320];
    snprintf(fired, sizeof fired, "%s.fired", plan.once);
    return rename(plan.once, fired) == 0;
}

/* ---- frames ---- */

/* `len` bytes, and a descriptor if one comes along. False at the end. */
static bool take(int from, unsigned char *p, size_t len, int *fd)
{
    while (len > 0) {
        char control[CMSG_SPACE(sizeof(int))];
        struct iovec iov = {.iov_base = p, .iov_len = len};
        struct msghdr msg = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
        const ssize_t n = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
        if (n <= 0)
            return false;
        const struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        if (c && c->cmsg_type == SCM_RIGHTS)
            memcpy(fd, CMSG_DATA(c), sizeof *fd);
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool take_frame(int from, struct frame *f)
{
    f->fd = -1;
    if (!take(from, f->bytes, HEADER, &f->fd))
        return false;
    const uint32_t len = (uint32_t)f->bytes[8] | (uint32_t)f->bytes[9] << 8 |
                         (uint32_t)f->bytes[10] << 16 | (uint32_t)f->bytes[11] << 24;
    f->len = HEADER + len;
    return f->len <= FRAME_MAX && take(from, f->bytes + HEADER, len, &f->fd);
}

/* The descriptor goes with the first byte. */
static void give(int to, const unsigned char *p, size_t len, int fd)
{
    char control[CMSG_SPACE(sizeof(int))] = {0};
    while (len > 0) {
        struct iovec iov = {.iov_base = (void *)(uintptr_t)p, .iov_len = len};
        struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
        if (fd >= 0) {
            msg.msg_control = control;
            msg.msg_controllen = sizeof control;
            struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(sizeof fd);
            memcpy(CMSG_DATA(c), &fd, sizeof fd);
        }
        const ssize_t n = sendmsg(to, &msg, MSG_NOSIGNAL);
        if (n <= 0)
            _exit(0);
        fd = -1;
        p += n;
        len -= (size_t)n;
    }
}

static void drip(int to, const struct frame *f)
{
    give(to, f->bytes, 1, f->fd);
    for (size_t i = 1; i < f->len; i++)
        give(to, f->bytes + i, 1, -1);
}

static void hang(void)
{
    for (;;)
        pause();
}

/* Sends the frame as the plan wants it. */
static void break_frame(int to, struct frame *f)
{
    const size_t bit = (size_t)plan.bit % (8 * f->len), cut = 1 + bit / 8 % (f->len - 1);
    if (strcmp(plan.how, "drop") == 0)
        return;
    if (strcmp(plan.how, "flip") == 0)
        f->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    if (strcmp(plan.how, "version") == 0)
        f->bytes[4]++;
    if (strcmp(plan.how, "drip") == 0) {
        drip(to, f);
        return;
    }
    const bool is_cut = strncmp(plan.how, "cut", 3) == 0;
    give(to, f->bytes, is_cut ? cut : f->len, f->fd);
    if (strcmp(plan.how, "twice") == 0)
        give(to, f->bytes, f->len, -1);
    else if (strcmp(plan.how, "cuthang") == 0)
        hang();
    else if (strcmp(plan.how, "cutexit") == 0)
        _exit(0);
    else if (strcmp(plan.how, "kill") == 0)
        raise(SIGKILL);
}

/* One frame from one side to the other; `number` counts what comes from the worker. */
static void relay(int from, int to, int *number)
{
    static struct frame f;
    if (!take_frame(from, &f))
        _exit(0);
    if (number && (*number)++ == plan.frame && may_fire())
        break_frame(to, &f);
    else
        give(to, f.bytes, f.len, f.fd);
    if (f.fd >= 0)
        close(f.fd);
}

/* ---- the worker behind ---- */

static int start_worker(const char *role, const char *worker)
{
    int pair[2];
    char fd[12], parent[12];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        _exit(97);
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    const int high = dup(pair[1]); /* not CLOEXEC, and above our own */
    snprintf(fd, sizeof fd, "%d", high);
    if (fork() == 0) {
        execl(worker, worker, role, fd, parent, (char *)NULL);
        _exit(127);
    }
    close(high);
    close(pair[1]);
    return pair[0];
}

int proxy(const char *role, int fd, const char *worker)
{
    read_plan(role);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (plan.frame < 0) { /* this role is not broken */
        char number[12], parent[12];
        snprintf(number, sizeof number, "%d", fd);
        snprintf(parent, sizeof parent, "%d", (int)getppid());
        execl(worker, worker, role, number, parent, (char *)NULL);
        _exit(127);
    }
    const int child = start_worker(role, worker);
    for (int number = 0;;) {
        struct pollfd p[] = {{.fd = child, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
        poll(p, 2, -1);
        if (p[0].revents)
            relay(child, fd, &number);
        if (p[1].revents)
            relay(fd, child, NULL);
    }
}
