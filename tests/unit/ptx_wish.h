/* ptx_wish.h - what tests of PTX ask for: a kernel with parameters as a request.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_PTX_WISH_H
#define ATTNSCOPE_TESTS_PTX_WISH_H

#include <stdbool.h>

#include "backend/compile/ptx.h"
#include "kernel/registry.h"
#include "plan/plan.h"

extern struct registry *wish_kernels;
void wishes_begin(void);
void wishes_end(void);

/* The CUDA side of a built-in kernel. */
const struct kernel_desc *wish_desc(const char *name);

/* A plan of it on an H100 with one parameter, "BR" and "32", or NULL, as a request. */
struct wish {
    struct plan plan;
    char **words;
    struct ptx_request request;
};
/* False: the planner refuses it. */
bool wish_make(struct wish *w, const struct kernel_desc *d, enum dtype dtype, int D,
               const char *name, const char *value);
bool wish_make_for(struct wish *w, const struct kernel_desc *d, const struct shape *shape,
                   const char *name, const char *value);
/* The same code, asked to store its answers in f32 where it can. */
void wish_parts(struct wish *w);
void wish_clear(struct wish *w);

/* By compilers that nobody has asked yet. */
enum status wish_get(const struct ptx_request *r, struct ptx *out, struct err *err);

#endif
