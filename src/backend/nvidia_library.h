/* nvidia_library.h - finds a library of NVIDIA's: by the system's loader, then where toolkits and Python's
 * packages put it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_NVIDIA_LIBRARY_H
#define ATTNSCOPE_BACKEND_NVIDIA_LIBRARY_H

/* Opens what $`test_env` names (tests; not in a set-id program), else the first of `sonames`, NULL at
 * the end, that the loader finds, else the newest file that matches `pattern` ("libcudnn.so.[0-9]")
 * in a toolkit's or a package's folder. NULL: there is none. It is never closed. */
void *nvidia_library(const char *test_env, const char *const *sonames, const char *pattern);

/* "$VAR/rest" with the variable put in; NULL when it is not set. The caller frees it. */
char *nvidia_expand(const char *path);

#endif
