/* source_costs.h - what each line beside its text costs, on the Source screen: one of the simulator's counters at a time,
 * counted in the background once it is asked for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SOURCE_COSTS_H
#define ATTNSCOPE_TUI_SOURCE_COSTS_H

#include "command/show/costs.h"
#include "tui/kit/codeview.h"
#include "tui/screens/measurement.h"

/* Begin with source_costs_init(), end with source_costs_clear(). */
struct source_costs {
    struct app *app;
    struct measurement counting; /* under way, or NULL */
    const struct counter *of;    /* NULL: nothing is shown */
    json_t *profile;             /* of the kernel that is shown; NULL: not there yet */
    char *shape, *why;           /* of the profile; why there is none */
    struct costs costs;
    struct codeview_margin margin;
};

void source_costs_init(struct source_costs *x, struct app *a);
void source_costs_clear(struct source_costs *x);
/* The next counter (1), or the one before (-1); behind the last nothing is shown. */
void source_costs_step(struct source_costs *x, const struct kernel *k, int by);
/* Another kernel, other settings, or saved again: what was counted is of the past. */
void source_costs_follow(struct source_costs *x, const struct kernel *k);
/* Takes what has been counted; true: there is something new to draw. */
bool source_costs_collect(struct source_costs *x, const struct kernel *k);
/* True if it was counting. */
bool source_costs_cancel(struct source_costs *x);
/* For the margin of the text; NULL: there is nothing to show. */
const struct codeview_margin *source_costs_margin(const struct source_costs *x);
/* The costliest line; 0: none, or not known. */
int source_costs_line(const struct source_costs *x);
/* "SMEM wavefronts: 93.7 k, 33.2 % in line 70 | SIM B=1 ...": what the margin is. Nothing where nothing is shown. */
void source_costs_words(const struct source_costs *x, struct str *out);

#endif
