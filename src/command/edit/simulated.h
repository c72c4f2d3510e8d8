/* simulated.h - an edit where no GPU runs it: right or wrong, its hazards, and what is counted beside the original.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_EDIT_SIMULATED_H
#define ATTNSCOPE_COMMAND_EDIT_SIMULATED_H

#include "command/ask/request.h"
#include "command/command.h"

/* All borrowed. */
struct edit_simulation {
    struct session *s;
    struct cmd_call *c;
    const char *name, *path; /* of the edit */
    const char *hint;        /* what else can be done here; "": nothing */
    bool text;               /* the call shows text, not rows alone */
};

/* Simulates kernel 1 of r, the edit, and kernel 0, its original, by PTX of the same compiler; an edit that is right also
 * on a small ragged shape. Shows and remembers the rows. *ran: it came to figures; else `why`, which the caller frees,
 * says what hinders it, or is NULL. ST_NO where the edit is wrong or has a hazard; ST_CANCELLED. */
enum status edit_simulate(const struct edit_simulation *e, struct request *r, bool *ran, char **why,
                          struct err *err);
/* Is it only that nothing here compiles CUDA? Then the edit is neither right nor wrong. */
bool edit_lacks_compiler(const char *why);

#endif
