/* contender.h - an entry of a comparison, or a kernel that could become one: can it be timed, or simulated, and what is
 * planned and recorded of it?
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_CONTENDER_H
#define ATTNSCOPE_TUI_CONTENDER_H

#include "command/ask/recollect.h"
#include "tui/screens/subject.h"

/* Begin with a label, which it owns; end with contender_clear(). */
struct contender {
    char *label;
    bool in;
    char *cannot;             /* why it can be neither timed nor simulated, or NULL */
    char *untimed;            /* why it has no times though it is simulated, or NULL */
    bool simulated;           /* the simulator has a say of it */
    char *sim_cannot;         /* why it has none; NULL */
    struct request request;   /* what a run of it alone asks; nkernels 0: nothing */
    struct subject *about;    /* its plan and knobs, NULL: not asked for yet */
    struct recalled recalled; /* row NULL: nothing of this very shape */
};

void contender_clear(struct contender *k);
/* Once: its request, and why it cannot be. */
void contender_judge(struct app *a, struct contender *k);
bool contender_is_timed(const struct contender *k);
bool contender_is_simulated(const struct contender *k);
/* Its plan and knobs, made when they are asked for first. */
const struct subject *contender_about(struct app *a, struct contender *k);

#endif
