/* blob.h - files embedded in the program: kernel sources, headers, tables, lessons.
 *
 * The build generates blob_table.c, which includes the files' bytes with .incbin, so that the
 * program runs uninstalled and needs no data folder.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_BLOB_H
#define ATTNSCOPE_KERNEL_BLOB_H

#include <stddef.h>

struct blob {
    const char *path; /* relative to the source tree: "kernels/cuda/naive.cu" */
    const char *data; /* not terminated */
    const char *end;
};

extern const struct blob blob_table[]; /* in the order of the build's list; path NULL at the end */

/* Of the worker alone, kernels/cuda/ptx.xz and its table: the linker takes them where they are used. */
extern const struct blob ptx_blobs[];

/* The blob at `path`, or NULL. */
const struct blob *blob_find(const char *path);
size_t blob_size(const struct blob *b);
/* The files were read once and will rarely be read again: their pages need not stay resident. They
 * are unchanged pages of the program's file, so the next read brings them back by itself. */
void blob_release(void);

#endif
