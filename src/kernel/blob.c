/* blob.c - finds embedded files.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/blob.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const struct blob *blob_find(const char *path)
{
    for (const struct blob *b = blob_table; b->path; b++)
        if (!strcmp(b->path, path))
            return b;
    return NULL;
}

size_t blob_size(const struct blob *b)
{
    return (size_t)(b->end - b->data);
}

void blob_release(void)
{
    uintptr_t first = UINTPTR_MAX, last = 0, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (const struct blob *b = blob_table; b->path; b++) {
        first = (uintptr_t)b->data < first ? (uintptr_t)b->data : first;
        last = (uintptr_t)b->end > last ? (uintptr_t)b->end : last;
    }
    if (first >= last)
        return;
    /* Whole pages inside: the neighbours of the blobs stay. */
    uintptr_t from = (first + page - 1) / page * page, to = last / page * page;
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}
