/* worker.c - attnscope-worker: the process in which kernels run and results are judged.
 *
 * Started by attnscope as `attnscope-worker ROLE FD PARENT`: its socket is descriptor FD, its
 * output a pipe that the supervisor reads as a log, its parent the process PARENT. It links neither
 * curses nor readline. `attnscope-worker remote`, which is what `attnscope --serve` becomes, and
 * `attnscope-worker rank`, for `attnscope --rank`, have their connection at their standard input and output.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/compile/compile.h"
#include "base/mem.h"
#include "job/serve.h"

static const struct {
    const char *name;
    int (*serve)(int fd);
} roles[] = {
    {"launch", serve_launch},
    {"judge", serve_judge},
    {"compile", serve_compile}, /* started by a launch worker */
};

static int usage(void)
{
    fprintf(stderr, "attnscope-worker is started by attnscope; it serves no purpose by itself\n");
    return 2;
}

/* A whole number from 0 to 2^31 - 1, else -1. */
static long number(const char *text)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    return *text && !*end && !errno && n >= 0 && n <= 0x7fffffff ? n : -1;
}

/* Dies with its parent, even in the middle of a kernel. The parent may have died before we asked. */
static int tie_to_parent(long parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent;
}

/* What a kernel must not be able to do to others, where the system lets us say so. */
static void restrain(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* what a kernel starts stays in sight */
    setrlimit(RLIMIT_CORE, &(struct rlimit){.rlim_cur = 0, .rlim_max = 0}); /* a crash is quick */
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is an error to report, not a death */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, "1000", 4) < 0) /* if memory runs out, we go, not the interface */
        perror("oom_score_adj");
    close(fd);
}

/* Descriptors that the parent forgot to mark are none of our business. */
static void close_others(int fd)
{
#ifdef SYS_close_range
    if (fd > 3)
        syscall(SYS_close_range, 3u, (unsigned)fd - 1, 0);
    syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0);
#else
    (void)fd;
#endif
}

static int is_socket(int fd)
{
    int type;
    socklen_t len = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0;
}

int main(int argc, char **argv)
{
    json_set_alloc_funcs(xmalloc, free); /* half an object would be another message */
    if (argc == 2 && strcmp(argv[1], "remote") == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* what workers leave is found and ended */
        return serve_remote();
    }
    if (argc == 2 && strcmp(argv[1], "rank") == 0) {
        restrain();
        return serve_rank();
    }
    long fd = argc == 4 ? number(argv[2]) : -1, parent = argc == 4 ? number(argv[3]) : -1;
    if (fd < 3 || parent < 0 || !is_socket((int)fd))
        return usage();
    if (!tie_to_parent(parent))
        return 0;
    restrain();
    close_others((int)fd);
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    setvbuf(stdout, NULL, _IOLBF, 0); /* stray output reaches the log before a crash */
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(argv[1], roles[i].name) == 0)
            return roles[i].serve((int)fd);
    return usage();
}
