/* request.h - what is asked in one call: the session's settings under the words and pairs of the line.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_REQUEST_H
#define ATTNSCOPE_COMMAND_REQUEST_H

#include "command/session.h"

/* A request: the session's settings overridden by one call's shape keys, options and parameters.
 * Kernels are the call's first word, split at commas; an entry may carry parameters of its own, as
 * in qtile_seq@BR=32@BC=64, so that one kernel can stand beside itself. */
struct request {
    struct problem problem;
    struct options options;
    const struct kernel **kernels;
    struct param_values *params;      /* one per kernel, for the side (cuda or cpu) in `descs` */
    const struct kernel_desc **descs; /* by backend: cpu desc for backend=cpu, else cuda */
    char **own;                       /* "BR=32@BC=64" as given after @, or NULL */
    int nkernels;
};
/* `for_plan`: take the CUDA descriptors whatever the backend. Checks the shape. */
enum status request_make(struct session *s, struct cmd_call *c, bool for_plan, struct request *out,
                         struct err *err);
void request_clear(struct request *r);
/* The command that reproduces request r for `verb`, with only what differs from the defaults. */
void request_command(const struct request *r, const char *verb, struct str *out);
/* Appends gpu= unless the command has it: another machine would take its own GPU. */
void request_command_gpu(const struct request *r, const struct device *gpu, struct str *out);
/* Appends the name of entry k as that command has it: with @NAME=VALUE for each parameter in which
 * it differs from another entry. */
void request_label(const struct request *r, int k, struct str *out);

/* Kernels are words first .. first+count-1, each split at commas; "all" means every one that runs
 * on the backend. Pairs in the call that are lists or ranges are left alone when `axes`. */
struct request_from {
    int first, count;
    bool for_plan, axes;
};
enum status request_make_from(struct session *s, struct cmd_call *c, struct request_from from,
                              struct request *out, struct err *err);
/* The backend that will run r, or ST_NO_GPU / ST_USAGE with a sentence. */
enum status request_backend(const struct request *r, const char **name, struct err *err);
/* A parameter that kernel i refuses is a bad value, ST_USAGE, unlike a shape or a device that it does
 * not take: with the defaults of `d`, its descriptor (may be NULL), it would take both. sm 0: any. */
enum status request_check_params(const struct request *r, int i, const struct kernel_desc *d,
                                 int sm, struct err *err);
/* Is it a parameter that a kernel of the request has on the other backend alone? Then err says so,
 * with those that it has on this one. */
bool request_other_side(const struct request *r, const char *name, struct err *err);
/* The descriptor that knows kernel i's parameters: the wanted side, else the other one. */
const struct kernel_desc *request_desc(const struct request *r, int i);

#endif
