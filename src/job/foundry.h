/* foundry.h - compiles in the background what plans are made of, to learn its registers.
 *
 * Whoever shows a plan asks foundry_look() what is known of its code, and foundry_want()s what is not; the
 * answer comes through the same loop as jobs do. It is known by what the code is made of: source and
 * headers, definitions, architecture; a change of any of them is another code. Two are compiled at once,
 * each below a worker of its own and under the limits of compile.h; what the compiler said is kept on
 * disk. A code that nobody wants any more is not compiled, and stopped where it is.
 *
 * $ATTNSCOPE_COMPILE=off: nothing is compiled here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_FOUNDRY_H
#define ATTNSCOPE_JOB_FOUNDRY_H

#include "job/super.h"
#include "plan/plan.h"

enum { FOUNDRY_LINES = 2, FOUNDRY_FDS_MAX = FOUNDRY_LINES * SUPER_FDS_MAX };

struct foundry;

/* As super_new(); starts nothing. */
struct foundry *foundry_new(const char *worker);
/* Stops what is compiled. */
void foundry_free(struct foundry *f);

/* What is known of a plan's code for GPUs of a compute capability (times ten). */
enum foundry_state {
    FOUNDRY_OPEN,    /* nobody has asked for it yet */
    FOUNDRY_WANTED,  /* it waits its turn, or is being compiled */
    FOUNDRY_KNOWN,   /* `regs` has its figures */
    FOUNDRY_NOTHING, /* it cannot be had here; `why` */
};
struct foundry_answer {
    enum foundry_state state;
    struct plan_regs regs; /* its source is "nvrtc" or "ptxas" */
    const char *
        why; /* "NVRTC: ... was not found: ..."; NULL: there is no source to compile. Borrowed until the next dispatch */
    bool refused; /* the compiler is here and does not take the source */
};
struct foundry_answer foundry_look(struct foundry *f, const struct plan *p, int sm);

/* Asks for the code of a plan that foundry_look() calls open; of anything else it does nothing.
 * `owner` is an address that stands for who asks; the compiler is started in `after_s` seconds, for keys
 * that are held down ask for something else many times a second. */
void foundry_want(struct foundry *f, const void *owner, const struct plan *p, int sm,
                  double after_s);
/* What this owner has wanted so far it wants no more, but for what it asks for again before the next
 * dispatch. */
void foundry_renew(struct foundry *f, const void *owner);
/* How many codes this owner waits for, and how many of those it asked for are settled since it waited for
 * none; either may be NULL. */
void foundry_count(const struct foundry *f, const void *owner, int *waiting, int *settled);
/* Grows whenever something came to be known. */
unsigned foundry_serial(const struct foundry *f);

/* While it is held, nothing is compiled, so that nothing disturbs what is timed; what was begun is stopped
 * and begun anew afterwards. */
void foundry_hold(struct foundry *f, bool held);
bool foundry_is_held(const struct foundry *f);

/* A job under way, for who waits for one; NULL: there is none. It ends in some dispatch, cancelled where
 * its code is not wanted any more, and stays valid until the one after that. */
struct job *foundry_job(const struct foundry *f);
/* The kernel that it compiles. */
const char *foundry_kernel(const struct foundry *f);

/* For poll loops, as those of super.h. */
int foundry_fds(const struct foundry *f, struct pollfd *fds, int max);
int foundry_timeout_ms(const struct foundry *f);
bool foundry_dispatch(struct foundry *f);

#endif
