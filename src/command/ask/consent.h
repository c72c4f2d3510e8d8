/* consent.h - whose code may run: what a kernel is decides, and what the session may do.
 *
 * A kernel for a GPU is compiled here or loaded by the driver, and touches nothing but the device. C that is
 * compiled here, a library's function and a Python callable run in the worker with the user's rights, as any
 * program does. So the user says yes to such code once, by `kernel add`, `kernel allow` or when asked; the
 * answer holds for the hash of its descriptor and its code (libnettle's SHA-256), a line each of
 * <data>/attnscope/allowed, and other code under the same name is asked about again. A callable that was typed
 * as py:module.function has been said yes to by typing it. Restricted sessions, and with them lessons, run none
 * of it, whatever was allowed: `all` does not mean it there either.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_CONSENT_H
#define ATTNSCOPE_COMMAND_CONSENT_H

#include "base/sha256.h"
#include "base/status.h"
#include "base/str.h"
#include "kernel/registry.h"

struct session;

/* What is run when side `d` of kernel k is. */
enum code_class {
    CLASS_SHIPPED, /* ours, or a library that was installed here */
    CLASS_GPU,     /* somebody's code for the device */
    CLASS_NATIVE,  /* somebody's C or library, with the user's rights */
    CLASS_PYTHON,  /* somebody's Python, with the user's rights */
};
enum code_class consent_class(const struct kernel *k, const struct kernel_desc *d);
/* The side of k that runs with the user's rights; NULL: none does. */
const struct kernel_desc *consent_side(const struct kernel *k);
extern const char *const consent_words[]; /* by class: "shipped", "gpu", "native", "python" */

/* Why it may not run; ST_OK where it may. */
enum status consent_check(struct session *s, const struct kernel *k, const struct kernel_desc *d,
                          struct err *err);
/* The same, and where a yes is missing somebody is asked for it: at once through front.ask; else the kernel is
 * remembered, for a front end that asks later. */
enum status consent_ask(struct session *s, const struct kernel *k, const struct kernel_desc *d,
                        struct err *err);
/* The yes, kept. *hash (may be NULL) gets what it holds for. Refused in restricted sessions. */
enum status consent_give(struct session *s, const struct kernel *k, char hash[SHA256_HEX + 1],
                         struct err *err);
/* The kernel that a yes is missing for, once; NULL: none. */
const struct kernel *consent_wanted(struct session *s);
/* What saying yes means, a sentence for each line: for whoever asks. */
void consent_text(const struct kernel *k, struct str *out);

#endif
