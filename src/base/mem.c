/* mem.c - allocation that cannot fail, and arenas.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/status.h"

/* malloc(0) may return NULL, which would look like failure: ask for at least one byte. */
void *xmalloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        fatal("out of memory (%zu bytes)", size);
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p = count && size ? calloc(count, size) : calloc(1, 1);
    if (!p)
        fatal("out of memory (%zu x %zu bytes)", count, size);
    return p;
}

void *xrealloc(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    if (!p)
        fatal("out of memory (%zu bytes)", size);
    return p;
}

void *mem_alloc_wide(size_t bytes)
{
    enum { LINE = 64, HUGE_PAGE = 2 << 20 };
    const bool large = bytes >= HUGE_PAGE;
    void *p;
    if (posix_memalign(&p, large ? HUGE_PAGE : LINE, bytes ? bytes : 1))
        return NULL;
    if (large)
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* a wish: fewer TLB misses and page faults */
    return p;
}

char *xstrdup(const char *text)
{
    return xstrndup(text, strlen(text));
}

char *xstrdup_if(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

char *xstrndup(const char *text, size_t len)
{
    len = strnlen(text, len);
    char *p = xmalloc(len + 1);
    memcpy(p, text, len);
    p[len] = 0;
    return p;
}

/* Not vsnprintf twice: gcc -fsanitize=undefined takes its test of `fmt` for a format that may be null. */
__attribute__((format(printf, 1, 0))) char *xvasprintf(const char *fmt, va_list ap)
{
    char *p = NULL;
    if (vasprintf(&p, fmt, ap) < 0)
        fatal("a message could not be formatted");
    return p;
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = xvasprintf(fmt, ap);
    va_end(ap);
    return p;
}

void xgrow(void **items, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return;
    size_t n = *cap ? *cap : 8;
    while (n < need)
        n = n > SIZE_MAX / 2 ? need : n * 2;
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        fatal("out of memory (%zu x %zu bytes)", n, size);
    *items = xrealloc(*items, bytes);
    *cap = n;
}

/* The number behind `key` in a file of the kernel's; NaN if it is not there. */
static double read_figure(const char *path, const char *key)
{
    char line[128];
    double value = __builtin_nan("");
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lf", &value) == 1)
            break;
    if (f)
        fclose(f);
    return value;
}

/* In a container /sys/fs/cgroup is its own group; "max" is no number and so no limit. File cache
 * counts as used there, but is given up when memory is asked for. */
double mem_available_bytes(void)
{
    const double machine = 1024 * read_figure("/proc/meminfo", "MemAvailable:");
    const double limit = read_figure("/sys/fs/cgroup/memory.max", "");
    const double used = read_figure("/sys/fs/cgroup/memory.current", "");
    const double cache = read_figure("/sys/fs/cgroup/memory.stat", "file ");
    const double least = fmin(machine, limit - (used - cache)); /* passes over an unknown one */
    return least < 0 ? 0 : least;
}

/* An arena is a list of blocks, newest first; only the newest is filled further. The first is
 * small, because a program holds hundreds of parsed expressions; each further one doubles. */
enum { ARENA_ALIGN = 16, ARENA_FIRST = 64, ARENA_BLOCK = 16 * 1024 };

struct block {
    struct block *older;
    size_t used, size;
    _Alignas(ARENA_ALIGN) unsigned char data[];
};

struct arena {
    struct block *newest;
};

static struct block *block_new(size_t size, struct block *older)
{
    if (size > SIZE_MAX - sizeof(struct block))
        fatal("out of memory (%zu bytes)", size);
    struct block *b = xmalloc(sizeof *b + size);
    b->older = older;
    b->used = 0;
    b->size = size;
    return b;
}

struct arena *arena_new(void)
{
    struct arena *a = xmalloc(sizeof *a);
    a->newest = block_new(ARENA_FIRST, NULL);
    return a;
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct block *b = a->newest, *older; b; b = older) {
        older = b->older;
        free(b);
    }
    free(a);
}

/* Keeps the newest block, which is mostly the largest, so that an arena that is reset every frame
 * stops asking for memory. */
void arena_reset(struct arena *a)
{
    for (struct block *b = a->newest->older, *older; b; b = older) {
        older = b->older;
        free(b);
    }
    a->newest->older = NULL;
    a->newest->used = 0;
}

/* The size of the block after `b` that has room for `need` bytes. */
static size_t next_size(const struct block *b, size_t need)
{
    size_t size = b->size < ARENA_BLOCK / 2 ? b->size * 2 : ARENA_BLOCK;
    return need > size ? need : size;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX - ARENA_ALIGN)
        fatal("out of memory (%zu bytes)", size);
    const size_t need = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    struct block *b = a->newest;
    if (need > b->size - b->used)
        b = a->newest = block_new(next_size(b, need), b);
    void *p = b->data + b->used;
    b->used += need;
    return memset(p, 0, need);
}

char *arena_strndup(struct arena *a, const char *text, size_t len)
{
    len = strnlen(text, len);
    char *p = arena_alloc(a, len + 1);
    memcpy(p, text, len);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = xvasprintf(fmt, ap), *p = arena_strndup(a, text, strlen(text));
    va_end(ap);
    free(text);
    return p;
}
