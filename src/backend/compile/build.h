/* build.h - from a descriptor and its plan to code: options, compiler, cache. No GPU is needed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_BUILD_H
#define ATTNSCOPE_BACKEND_BUILD_H

#include "backend/compile/compile.h"
#include "backend/compile/cubin_cache.h"
#include "plan/plan.h"

/* A kernel to be compiled for a device; everything is borrowed. */
struct build {
    const struct kernel_desc *desc; /* of a kind that is compiled */
    const char *const
        *definitions; /* plan_definitions(); NULL for C, which reads its parameters as it runs */
    const char *arch; /* "sm_90" for code, "compute_90" for PTX; NULL for C */
    bool by_nvcc;     /* what NVRTC usually compiles, where there is no NVRTC */
    bool by_clang;    /* PTX without anything of NVIDIA's */
    int seen_sm; /* of clang that does not know the source's architecture: what the source is told, 90; 0: `arch` */
    bool lines; /* with line information */
};

enum { BUILD_ARCH_MAX = 16 };
/* "sm_90" into `buf`, which it returns: what kernel d is compiled for on a device of this compute
 * capability, times ten. */
const char *build_arch(const struct kernel_desc *d, int sm, char buf[BUILD_ARCH_MAX]);

enum compiler build_compiler(const struct kernel_desc *d);
/* The key of the result in the cache: everything that it depends on, the user's headers included.
 * False: there are too many headers to look at, so nothing is cached. `version`: of the compiler. */
bool build_key(const struct build *b, const char *version, struct cubin_key *key);
/* Compiles. As compile_with(); the log has ptxas' report on registers. */
enum status build_code(const struct build *b, struct compile_result *out, struct err *err);

/* What a compiler said of a build, kept beside the code: did it compile, and all messages. The texts are
 * owned; build_said_clear() frees them. */
struct build_said {
    bool compiled;
    char *reason; /* the first error; NULL where it compiled */
    char *log;
};
/* What that version of the compiler has said of the same before; false: nothing is kept. */
bool build_recall(const struct build *b, const char *version, struct build_said *out);
/* Best effort, as cubin_put(). */
void build_remember(const struct build *b, const char *version, const struct build_said *said);
void build_said_clear(struct build_said *s);

#endif
