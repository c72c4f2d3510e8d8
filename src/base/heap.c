/* heap.c - memory that runs out ends the interface program in one way, whoever asked for it.
 *
 * jansson gives half an object, SQLite a row that is not stored, md4c a lesson that is not parsed, and curses
 * draws through a null pointer. So malloc is ours for the whole process: the C library's, and fatal() where
 * that has none, as for our own xmalloc(). Linked into the interface alone: what a worker runs may ask for
 * more than there is and go on. Not in builds with the address sanitizer, whose allocator takes this place,
 * nor where the C library has no second name for its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sanitized.h"

#include <errno.h>
#include <stdlib.h>

#include "base/status.h"

#if defined __GLIBC__ && !SANITIZED

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    void *p = __libc_malloc(size);
    if (!p && size)
        fatal("out of memory (%zu bytes)", size);
    return p;
}

void *calloc(size_t count, size_t size)
{
    void *p = __libc_calloc(count, size);
    if (!p && count && size)
        fatal("out of memory (%zu x %zu bytes)", count, size);
    return p;
}

void *realloc(void *old, size_t size)
{
    void *p = __libc_realloc(old, size);
    if (!p && size)
        fatal("out of memory (%zu bytes)", size);
    return p;
}

#endif
