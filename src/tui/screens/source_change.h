/* source_change.h - what a step of the ladder did to the kernel's facts, as the Source screen shows it beside the text:
 * time and error where they were measured, registers, shared memory and the like from the plan, before and after.
 *
 * What it does to what is executed is source_effect.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SOURCE_CHANGE_H
#define ATTNSCOPE_TUI_SOURCE_CHANGE_H

#include "command/show/source.h"
#include "tui/app/app.h"
#include "tui/screens/source_effect.h"

struct source_change {
    struct app *app;
    struct source_facts before, after;
};

/* "time 41.2 us -> 33.0 us (-20 %)" for narrow screens, and the words of the effect: as many as have values and fit. */
void source_change_line(const struct source_change *x, const struct source_effect *effect,
                        struct canvas *c, struct rect r);
/* The same as a table under the two kernels' names, and where its figures are from. */
void source_change_table(const struct source_change *x, const char *before, const char *after,
                         struct canvas *c, struct rect r);

#endif
