/* registry_state.h - what the registry's three files share; not for others.
 *
 *   registry.c         the built-in ladder, and finding kernels
 *   registry_user.c    the user's folder, read again when it changes
 *   registry_python.c  kernels that exist because somebody said their name
 *
 * Kernels and descriptors are handed out as pointers that callers keep: a screen, a request, a plan.
 * So what a changed file replaces is put aside and lives as long as the registry.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_REGISTRY_STATE_H
#define ATTNSCOPE_KERNEL_REGISTRY_STATE_H

#include "kernel/registry.h"

/* Tells one version of a file from another. */
struct stamp {
    uint64_t device, inode, size, code; /* code: of the file that an .attn names, mixed */
    int64_t seconds, nanoseconds;
};

/* A file in the user's folder. */
struct user_file {
    char *path;
    struct stamp stamp;
    struct kernel *kernel; /* NULL: it has a problem */
    char *problem;         /* one sentence, or NULL */
};

struct registry {
    struct kernel **kernels; /* built-in ones first */
    size_t count, cap, builtin;
    struct user_file *files;
    size_t nfiles;
    int generation;
    char **problems; /* of built-in kernels; tests find none */
    size_t nproblems, problems_cap;
    struct retired {
        struct kernel *kernel;
        struct kernel_desc *desc;
        char *text;
    } * retired; /* any member may be NULL */
    size_t nretired, retired_cap;
    struct python *
        *pythons; /* head of a list, behind a pointer: looking up a name makes it longer */
};

struct kernel *registry_add(struct registry *r, struct kernel k);
struct kernel *registry_lookup(const struct registry *r, const char *name);
void registry_retire(struct registry *r, struct retired old);
/* Frees what registry_user.c has made. */
void registry_free_files(struct registry *r);

/* registry_python.c */
struct kernel *registry_find_python(const struct registry *r, const char *name);
enum status registry_make_python(const struct registry *r, const char *name,
                                 const struct kernel **out, struct err *err);
void registry_free_pythons(struct registry *r);

#endif
