/* finder.h - what of other people's software is here: libraries, programs, headers.
 *
 * One table. Whoever opens a library or starts a program gets it from here, and doctor prints the table:
 * what it calls ok is what the worker will use, and what is wrong is said in one sentence by both.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_FINDER_H
#define ATTNSCOPE_BACKEND_FINDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum wanted_id {
    WANT_DRIVER,
    WANT_NVRTC,
    WANT_NVML,
    WANT_CUDNN,
    WANT_CUBLAS,
    WANT_CUBLASLT,
    WANT_CUPTI,
    WANT_NCCL,
    WANT_NVCC,
    WANT_HEADERS,
    WANT_CC,
    WANT_CLANG,
    WANT_PYTHON,
    WANT_COUNT
};
enum wanted_kind { WANTED_LIBRARY, WANTED_PROGRAM, WANTED_HEADERS };

struct wanted {
    const char *name; /* "cuDNN" */
    enum wanted_kind kind;
    const char
        *test_env; /* names a file that is taken instead, in tests; not in a set-id program */
    const char *names[10]; /* sonames, best first; a program's; a header */
    const char *old;       /* a soname that tells a version which will not do, or NULL */
    const char
        *pattern;     /* of its file in a toolkit's or package's folder; NULL: the loader's alone */
    const char *mark; /* an entry point that older ones lack, or NULL */
    int least;        /* major version that will do; 0: any with `mark` */
    const char *needs;                        /* "cuDNN 9", where one can be too old */
    bool (*version)(void *library, int v[3]); /* or NULL */
    const char *does;                         /* what it is for, where it is there; or NULL */
    const char *without; /* what does not work without it; NULL: it is part of another one's work */
    const char *get;     /* what to do where it is missing */
};
extern const struct wanted wanted[WANT_COUNT];

enum found_state { FOUND_OK, FOUND_MISSING, FOUND_OLD };
struct found {
    enum found_state state;
    void *library;    /* opened, never closed; NULL for what is none */
    char path[512];   /* of the file, where the system tells it */
    char version[32]; /* "9.1.0"; "": not asked for, or it does not tell */
};
/* Looks for it; a library is opened, first what the test names, else the first name that the system's
 * loader finds, else the newest file of toolkits and Python's packages. ST_NO with the sentence: not
 * found, or too old, what is needed, what to do. */
enum status find_wanted(enum wanted_id id, struct found *out, struct err *err);

/* Asks one that was found for its version, into `version`; v[2] is -1 where it has two parts. False where
 * it does not tell. */
bool find_version(enum wanted_id id, struct found *f, int v[3]);

/* One entry of a table of function pointers. */
struct symbol {
    const char *name,
        *older;    /* `older`, of the same signature, is taken where there is no `name` */
    size_t offset; /* of the pointer */
    bool optional;
};
/* Fills the pointers of `table`. NULL, or the first name that the library lacks. */
const char *find_symbols(void *library, const struct symbol *symbols, size_t count, void *table);

/* Folders with CUDA's own headers in the order in which a compiler should look, at most `max`; the
 * caller frees each. `nvrtc`: the file that NVRTC came from, or NULL. */
int find_cuda_headers(const char *nvrtc, char **folders, int max);

/* A program of the toolkit ("nvdisasm"): in CUDA_HOME and CUDA_PATH, on PATH, in /usr/local/cuda and
 * /opt/cuda. NULL: there is none. The caller frees it. */
char *find_toolkit_program(const char *name);

/* "python3", or what $ATTNSCOPE_PYTHON names. */
const char *find_python_name(void);

#endif
