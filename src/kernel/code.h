/* code.h - where a kernel's code comes from: one table of kinds, and the compiler flags that a
 * descriptor may ask for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_CODE_H
#define ATTNSCOPE_KERNEL_CODE_H

#include <stdbool.h>

#include "base/status.h"

/* What a descriptor describes. */
enum code_kind {
    CODE_NVRTC,   /* a .cu, compiled at run time */
    CODE_NVCC,    /* a .cu with @compiler nvcc */
    CODE_CUBIN,   /* an .attn with @cubin: code that somebody has compiled */
    CODE_LIBRARY, /* an .attn with @library: a C function that does everything by itself */
    CODE_C,       /* a .c: C for the CPU, built in or compiled here */
    CODE_PEER,    /* another library's attention: cuDNN, PyTorch */
    CODE_PYTHON,  /* py:module.function, a Python callable of the user's */
    CODE_KINDS
};

struct code_info {
    const char *name; /* "nvcc"; of rows and messages */
    const char *doc;
    bool compiled; /* from source, by us */
    bool launched; /* by us, so that @threads and @grid must be known */
    double load_s; /* seconds that loading may take beyond the backend's own */
};
extern const struct code_info code_kinds[CODE_KINDS];

/* May a descriptor ask for this flag of a compiler for CUDA, or of one for C? Flags reach the compiler as one argument each, and
 * none of those that are allowed starts a program, reads options from a file or names an output.
 * ST_USAGE with the reason. */
enum status code_check_flag(bool c, const char *flag, struct err *err);

/* Splits at blanks; NULL-terminated, "" and NULL give none. Freed by code_words_free. */
char **code_words(const char *text);
void code_words_free(char **words);

#endif
