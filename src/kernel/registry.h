/* registry.h - which kernels exist: the built-in ladder and what the user dropped into
 * $XDG_DATA_HOME/attnscope/kernels/.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_REGISTRY_H
#define ATTNSCOPE_KERNEL_REGISTRY_H

#include "kernel/descriptor.h"

/* One name on the ladder. It may exist as CUDA source, as C for the CPU, or both. */
struct kernel {
    const char *name;
    const char *group;        /* ladder section: "unfused", "one query per block", ... */
    struct kernel_desc *cuda; /* NULL when absent */
    struct kernel_desc *cpu;  /* NULL when absent */
    bool user;                /* from the user's folder */
    enum code_kind code;      /* what the CUDA side is */
};

/* The descriptor of one side; NULL when it is absent. */
const struct kernel_desc *kernel_on(const struct kernel *k, enum kernel_side side);
/* The one that speaks for the kernel where no side is meant: CUDA's, else the CPU's. */
const struct kernel_desc *kernel_main(const struct kernel *k);

/* Is the work another library's? Such kernels are measured beside ours when they are named; "all" does
 * not mean them. A callable that the user has added is the user's kernel. */
bool kernel_is_peer(const struct kernel *k);

/* "py:module.function" is a kernel without being listed: registry_get() makes it. */
#define PYTHON_PREFIX "py:"

struct registry;
/* Lists the built-in kernels, whose descriptors are parsed when somebody first asks for them, and reads the user's. Broken
 * ones of these do not fail it: their sentences are kept. */
struct registry *registry_new(void);
void registry_free(struct registry *r);
/* Looks at the user's folder again; true if something has changed. Kernels and descriptors that
 * were handed out before stay readable until registry_free, and a kernel whose file was rewritten
 * stays the same struct with new descriptors. A few stat calls when nothing has changed. */
bool registry_refresh(struct registry *r);
int registry_generation(const struct registry *r); /* another number after every change */
bool registry_has_files(const struct registry *r); /* of the user's, broken ones included */
int registry_count(const struct registry *r);
const struct kernel *registry_at(const struct registry *r, int i); /* ladder order */
const struct kernel *registry_find(const struct registry *r, const char *name);
/* As find; ST_USAGE with what is wrong with the file of that name, else with the nearest name. */
enum status registry_get(const struct registry *r, const char *name, const struct kernel **out,
                         struct err *err);
/* The i-th Python callable that was named so far, the latest first; NULL after the last. */
const struct kernel *registry_python(const struct registry *r, int i);
/* The i-th sentence about a user kernel that could not be loaded; NULL after the last. */
const char *registry_problem(const struct registry *r, int i);
/* The file of the user's folder that a kernel comes from: its source or descriptor, or NAME.path, which names
 * it. NULL: it is not from there. Borrowed until the next refresh. */
#define REGISTRY_PATH_FILE ".path"
const char *registry_entry_of(const struct registry *r, const struct kernel *k);
/* The sentence about NAME.cu or NAME.attn, or NULL. */
const char *registry_problem_of(const struct registry *r, const char *name);
/* For completion and suggestions (str_list_fn). */
const char *registry_name(const void *registry, size_t i);
/* The shared headers' text (attn.cuh and friends) by file name, or NULL. */
const char *registry_header(const char *file, size_t *len);

/* Registers, spills and static SMEM of a built kernel, from the tracked kernels/cuda/ptxas.tsv. */
struct ptxas_row {
    int regs, spill_bytes, static_smem;
    bool stale; /* the source changed since the table was written */
};
/* Exact match on kernel, pass, dtype, D rounded up to 16, parameters and sm; false if absent. */
bool ptxas_lookup(const struct kernel_desc *d, const char *pass, enum dtype dtype, int64_t D,
                  const struct param_values *v, int sm, struct ptxas_row *out);

#endif
