/* tensor_file.h - .npy files as Q, K and V: what their headers say about shape and dtype.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SPEC_TENSOR_FILE_H
#define ATTNSCOPE_SPEC_TENSOR_FILE_H

#include "spec/npy.h"
#include "spec/shape.h"

/* A file that was opened: its sizes as (B, H, S, D); axes that it lacks are 1. */
struct tensor_file {
    const char *path; /* borrowed */
    struct npy_header npy;
    int64_t b, h, s, d;
};

/* Reads the header; ST_USAGE when that is no tensor of attention. */
enum status tensor_file_open(const char *path, struct tensor_file *out, struct err *err);
/* The dtype that the file gives. uint16 is bf16 if that is what the problem asks for by now. */
enum status tensor_file_dtype(const struct tensor_file *f, enum dtype now, enum dtype *out,
                              struct err *err);
/* What the files of Q, K and V say about the shape; mask and layout stay as they are in *s. ST_USAGE
 * naming two files that do not agree. */
enum status shape_of_files(char *const files[3], struct shape *s, struct err *err);

#endif
