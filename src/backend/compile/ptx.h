/* ptx.h - where a kernel's PTX comes from, which is what the simulator runs.
 *
 * In this order: the text that nvcc made and that travels in the program (a built-in kernel with parameters
 * that shipped: always, so that figures are those of a GPU), what was compiled here before (the cache),
 * NVRTC, nvcc, clang alone. Whose text it is decides over figures, so each says it, and a text can be asked for "from this
 * compiler": an edit is compared with its original so.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_PTX_H
#define ATTNSCOPE_BACKEND_PTX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "kernel/descriptor.h"

struct ptx_request {
    const struct kernel_desc *desc;
    const char *const *definitions; /* plan_definitions() of the launch */
    int sm;                         /* compute capability times ten: ptx_sm() */
    const char *from;               /* ptx.from of another text: this compiler or none; NULL: any */
};

struct ptx {
    char *text; /* a zero behind its `len` bytes; foreign, whatever its origin */
    size_t len;
    char *from;   /* "nvcc 13.0", "nvrtc 12.4", "clang 14.0.6"; "file": the user's own PTX */
    bool shipped; /* travels in the program */
    bool cached;  /* compiled here before */
    char *log;    /* the compiler's messages, "" when none; NULL where nothing was compiled now */
};
void ptx_clear(struct ptx *p); /* frees the texts */

/* The compute capability, times ten, that a kernel is simulated for: 80, else 90 where the kernel asks for it (of one with
 * @arch 90a as sm_90a). ST_NO with the reason: it is for another architecture alone, or another library does the work. */
enum status ptx_sm(const struct kernel_desc *d, const struct shape *s, const struct param_values *v,
                   int *sm, struct err *err);

/* What is known of the compilers here. Each is asked once in its life, and not before it is needed. */
struct ptx_makers;
struct ptx_makers *ptx_makers_new(void);
void ptx_makers_free(struct ptx_makers *m); /* NULL is allowed */

/* The text, or ST_NO with a sentence: it does not compile (the first error; `out->log` has all), or nothing
 * here can compile it and how to get what can. ST_FAIL: a compiler was stopped. `out` must be cleared whatever
 * the status. Compilers run in processes of their own, under the limits of compile.h; this waits for them. */
enum status ptx_for(struct ptx_makers *m, const struct ptx_request *r, struct ptx *out,
                    struct err *err);

/* The shipped text alone. False: there is none for these definitions and this very source. */
bool ptx_shipped(const struct ptx_request *r, struct ptx *out);

/* Adds to a text of that request the lines of ptx_names.h, where its source marks variables: the marked copy is compiled by
 * whoever compiled the text. Nothing where they are there already. */
void ptx_name(struct ptx_makers *m, const struct ptx_request *r, struct ptx *p);

/* Is it a PTX text, as far as its beginning says? ST_NO with what it seems to be. */
enum status ptx_is_text(const char *data, size_t len, struct err *err);

#endif
