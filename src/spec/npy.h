/* npy.h - NumPy's .npy files, versions 1 to 3, C order, little endian.
 *
 * Files come from strangers: sizes are checked against the file before anything is allocated.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SPEC_NPY_H
#define ATTNSCOPE_SPEC_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum npy_type { NPY_F2, NPY_F4, NPY_U2 }; /* float16, float32, uint16 (bf16 by agreement) */

struct npy_header {
    enum npy_type type;
    int ndim; /* 1..4 */
    int64_t dim[4];
    size_t data_offset, data_bytes;
};

const char *npy_type_name(enum npy_type t); /* "float16" */
size_t npy_type_size(enum npy_type t);

/* Parses the header in the first `len` bytes of a file that is `file_size` bytes long. */
enum status npy_parse(const uint8_t *bytes, size_t len, uint64_t file_size, struct npy_header *out,
                      struct err *err);
enum status npy_open(const char *path, struct npy_header *out, struct err *err);
/* Reads the elements into `data` (header->data_bytes long). */
enum status npy_read(const char *path, const struct npy_header *h, void *data, struct err *err);
/* Could npy_write() write here now? To be asked before a long run; ST_USAGE with the reason: no such
 * folder, no permission, or something there that is no regular file. */
enum status npy_check_target(const char *path, struct err *err);
/* Writes a version 1 file; type, ndim, dim and data_bytes say what. Goes through a temporary name
 * and rename. Links are followed; a device, a pipe or a folder is refused. */
enum status npy_write(const char *path, const struct npy_header *h, const void *data,
                      struct err *err);

#endif
