/* plan_here.h - plans with the registers that are known on this machine: of the shipped table, of a
 * compilation made here, of a recorded run; and the compilations themselves.
 *
 * A verb asks for what it is about to plan and waits; a screen asks, draws bounds, and plans again when
 * plans_serial() has grown.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_PLAN_HERE_H
#define ATTNSCOPE_COMMAND_PLAN_HERE_H

#include "command/ask/request.h"

/* As plan_build(), with what is known. Where registers stay unknown, out->regs_reason says why. */
enum status plan_here(struct session *s, const struct kernel_desc *d, const struct shape *shape,
                      const struct param_values *v, const struct device *dev, struct plan *out,
                      struct err *why);
/* The same as plan_brief(). */
enum status plan_here_brief(struct session *s, const struct kernel_desc *d,
                            const struct shape *shape, const struct param_values *v,
                            const struct device *dev, struct plan *out, struct err *why);

/* Does a compilation go on, or wait, that would tell the plan's registers? */
bool plan_is_awaited(struct session *s, const struct plan *p);
/* Is there a compiler, and does it refuse the plan's code? Then out->regs_reason says why. */
bool plan_is_refused(struct session *s, const struct plan *p);
/* Asks for the code of a plan whose registers are not known, where nobody knows them; see foundry_want().
 * `owner`: the session where a verb waits, else whatever shows it, which then keeps still for a moment. */
void plan_want(struct session *s, const void *owner, const struct plan *p);
/* What this owner asked for it asks for no more, unless it does so again now. */
void plans_forget(struct session *s, const void *owner);
/* For how many codes this owner waits. */
int plans_awaited(const struct session *s, const void *owner);
/* Grows whenever registers came to be known. */
unsigned plans_serial(const struct session *s);

/* plan_want() for every kernel of the request on that GPU. */
void plans_ask(struct session *s, const void *owner, const struct request *r,
               const struct device *dev);
/* For verbs: waits until all that the session itself has asked for is compiled, or the user has enough. */
void plans_wait(struct session *s);
/* Both, for a verb. */
void plans_compile(struct session *s, const struct request *r, const struct device *dev);
/* As plan_here() behind both, for one plan. */
enum status plan_compiled(struct session *s, const struct kernel_desc *d, const struct shape *shape,
                          const struct param_values *v, const struct device *dev, struct plan *out,
                          struct err *why);

#endif
