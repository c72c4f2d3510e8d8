/* compile.h - turns CUDA source into a cubin or PTX, and C into a shared object, in a process of its own.
 *
 * A compiler runs code paths that the user's source chooses: a template of 250 bytes can keep it busy
 * for a minute. So it runs as `attnscope-worker compile`, under limits of processor time, memory and
 * output; the caller gets the code or the compiler's messages, never its crash. nvcc and the C compiler, which
 * are several programs each, run below that process, under the same limits, in a folder of their own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_COMPILE_H
#define ATTNSCOPE_BACKEND_COMPILE_H

#include <stddef.h>

#include "base/status.h"

enum {
    COMPILE_LOG_MAX = 256 << 10,   /* bytes of messages that are kept */
    COMPILE_IMAGE_MAX = 64 << 20,  /* a cubin larger than this is refused */
    COMPILE_SOURCE_MAX = 16 << 20, /* likewise a source */
};

enum compiler { COMPILER_NVRTC, COMPILER_NVCC, COMPILER_CC, COMPILER_CLANG, COMPILERS };
extern const char *const compiler_words[COMPILERS]; /* "nvrtc" */

/* Seconds that a compiler is given: $ATTNSCOPE_COMPILE_SECONDS on the clock, and half of them of
 * processor time for each of its programs; else what is usual for it. */
struct compile_limits {
    int wall_s, cpu_s;
};
struct compile_limits compile_limits(enum compiler which);

struct compile_result {
    char *image; /* NULL unless it compiled */
    size_t image_len;
    char *log; /* the compiler's messages, "" when none */
    char *
        version; /* "nvrtc 13.0", "nvcc 13.0.88", "gcc 12.2.0"; NULL when there is no such compiler */
};
void compile_clear(struct compile_result *r);

/* Compiles `source`, called `name` in messages, with `options` (NULL-terminated). `source` NULL
 * only asks for the version. ST_NO with the first error when the source does not compile, or when
 * there is no compiler; ST_FAIL when it was stopped; `out` holds what is known and must be cleared
 * whatever the status. */
enum status compile_cuda(const char *name, const char *source, size_t len,
                         const char *const *options, struct compile_result *out, struct err *err);

/* The same with a compiler of one's choice. */
enum status compile_with(enum compiler which, const char *name, const char *source, size_t len,
                         const char *const *options, struct compile_result *out, struct err *err);

/* The other side, a role of attnscope-worker: serves one request on the socket `fd`. */
int serve_compile(int fd);

#endif
