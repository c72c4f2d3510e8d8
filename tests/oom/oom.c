/* oom.c - a C library whose memory runs out at a chosen moment: to be preloaded.
 *
 *   OOM_PROGRAM=attnscope   the process that it is about, by the name of its program; others are left alone
 *   OOM_AT=N                the N-th allocation has no memory, from 1 on; OOM_FOR=K: nor the K-1 behind it
 *   OOM_SITES=FILE          the number of the first allocation from each site, a line each: a site is the eight
 *                           calls that led to it
 *
 * It stands below malloc, where src/base/heap.c stands above: what that calls is here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN void *__libc_malloc(size_t size);
SHOWN void *__libc_calloc(size_t n, size_t size);
SHOWN void *__libc_realloc(void *old, size_t size);

static atomic_long count;
static long at = -1, last = -1;
static bool ready, ours;

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static void find(void *to, const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);
    memcpy(to, &p, sizeof p);
}

/* ---- sites ---- */

enum { DEPTH = 9, TABLE = 1 << 16 };
static uint64_t seen[TABLE];
static const char *sites;
static __thread bool inside; /* the unwinder asks for memory, too */

static uint64_t site(void)
{
    void *frames[DEPTH + 2];
    uint64_t h = 1469598103934665603u;
    const int n = backtrace(frames, DEPTH + 2);
    for (int i = 2; i < n; i++)
        h = (h ^ (uintptr_t)frames[i]) * 1099511628211u;
    return h ? h : 1;
}

static void note_site(long n)
{
    if (inside)
        return;
    inside = true;
    const uint64_t h = site();
    size_t i = h % TABLE;
    while (seen[i] && seen[i] != h)
        i = (i + 1) % TABLE;
    if (!seen[i]) {
        seen[i] = h;
        /* Anew each time: a worker closes what it does not know. */
        const int fd = open(sites, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        dprintf(fd, "%ld\n", n);
        close(fd);
    }
    inside = false;
}

__attribute__((constructor)) static void begin(void)
{
    const char *wanted = getenv("OOM_PROGRAM"), *path = getenv("OOM_SITES");
    find(&real_malloc, "__libc_malloc");
    find(&real_calloc, "__libc_calloc");
    find(&real_realloc, "__libc_realloc");
    ours = wanted && !strcmp(program_invocation_short_name, wanted);
    at = number("OOM_AT", -1);
    last = at + number("OOM_FOR", 1) - 1;
    if (ours && path) {
        site(); /* which loads the unwinder */
        sites = path;
    }
    ready = true;
}

static bool refused(void)
{
    if (!ready || !ours)
        return false;
    if (inside)
        return false;
    const long n = atomic_fetch_add(&count, 1) + 1;
    if (sites)
        note_site(n);
    if (n < at || n > last)
        return false;
    errno = ENOMEM;
    return true;
}

SHOWN void *__libc_malloc(size_t size)
{
    if (!real_malloc)
        find(&real_malloc, "__libc_malloc");
    return refused() ? NULL : real_malloc(size);
}

SHOWN void *__libc_calloc(size_t n, size_t size)
{
    if (!real_calloc)
        find(&real_calloc, "__libc_calloc");
    return refused() ? NULL : real_calloc(n, size);
}

SHOWN void *__libc_realloc(void *old, size_t size)
{
    if (!real_realloc)
        find(&real_realloc, "__libc_realloc");
    return refused() ? NULL : real_realloc(old, size);
}

/* Programs that have no malloc of their own, as the worker, come in here. */
SHOWN void *malloc(size_t size)
{
    return __libc_malloc(size);
}
SHOWN void *calloc(size_t n, size_t size)
{
    return __libc_calloc(n, size);
}
SHOWN void *realloc(void *old, size_t size)
{
    return __libc_realloc(old, size);
}
