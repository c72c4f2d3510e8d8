/* consent.h - whose code may run: what it is decides, and what the session may do (command/may.h).
 *
 *   class        what it is                                     what a session needs    and of its user
 *   shipped      of this program, or installed on this machine  -                       -
 *   interpreted  PTX of somebody's by backend=sim, in a cage    -                       -
 *   gpu          compiled code or PTX of somebody's, by the     -                       -
 *                driver, which touches nothing but the device
 *   compiled     CUDA source of somebody's, which a compiler    MAY_COMPILE             -
 *                takes in first, for a GPU or for the cage
 *   native       C and libraries, with the user's rights        MAY_NATIVE              a yes, for its hash
 *   python       Python, likewise                               MAY_PYTHON              a yes, for its hash
 *
 * The user says yes once, by `kernel add`, `kernel allow` or when asked, which needs MAY_ALLOW; the
 * answer holds for the hash of its descriptor and its code (libnettle's SHA-256), a line each of
 * <data>/attnscope/allowed, and other code under the same name is asked about again. A callable that was typed
 * as py:module.function has been said yes to by typing it. What a session may not run, `all` does not mean it there
 * either. SECURITY.md has every class in every kind of session, and tests/cli/classes.sh tries each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_CONSENT_H
#define ATTNSCOPE_COMMAND_CONSENT_H

#include "backend/backend.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/str.h"
#include "kernel/registry.h"

struct session;

enum code_class {
    CLASS_SHIPPED,
    CLASS_INTERPRETED,
    CLASS_GPU,
    CLASS_COMPILED,
    CLASS_NATIVE,
    CLASS_PYTHON,
    CODE_CLASSES
};
extern const struct code_class_info {
    const char *word; /* "native" */
    const char *is;   /* "native code, which runs with your rights" */
    unsigned needs;   /* enum may */
} code_classes[CODE_CLASSES];
/* What is run when side `d` of kernel k is, by that backend; NULL: whichever. */
enum code_class consent_class(const struct kernel *k, const struct kernel_desc *d,
                              const struct backend_info *on);
/* The side of k that runs with the user's rights; NULL: none does. */
const struct kernel_desc *consent_side(const struct kernel *k);

/* Why it may not run; ST_OK where it may. */
enum status consent_check(struct session *s, const struct kernel *k, const struct kernel_desc *d,
                          const struct backend_info *on, struct err *err);
/* May a compiler take in this source? */
bool consent_compiles(const struct session *s, const struct kernel_desc *d);
/* The same, and where a yes is missing somebody is asked for it: at once through front.ask; else the kernel is
 * remembered, for a front end that asks later. */
enum status consent_ask(struct session *s, const struct kernel *k, const struct kernel_desc *d,
                        const struct backend_info *on, struct err *err);
/* The yes, kept. *hash (may be NULL) gets what it holds for. Needs MAY_ALLOW. */
enum status consent_give(struct session *s, const struct kernel *k, char hash[SHA256_HEX + 1],
                         struct err *err);
/* The kernel that a yes is missing for, once; NULL: none. */
const struct kernel *consent_wanted(struct session *s);
/* What saying yes means, a sentence for each line: for whoever asks. */
void consent_text(const struct kernel *k, struct str *out);

#endif
