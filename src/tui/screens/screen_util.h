/* screen_util.h - small things that the screens which measure and plan have in common.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SCREEN_UTIL_H
#define ATTNSCOPE_TUI_SCREEN_UTIL_H

#include "command/ask/request.h"
#include "measure/row.h"
#include "kernel/registry.h"
#include "tui/app/app.h"

/* Where a newcomer starts: a kernel that is quick and still readable. */
const struct kernel *first_kernel(const struct registry *r);
/* "timing, 41 samples", "checking against float64", "" for a job that is over; j may be NULL. */
void screen_activity(const struct job *j, char *buf, size_t size);
/* Adds a paragraph, without the formulas that stand there already. */
void screen_explain_add(struct str *out, const char *text);
/* Every metric of a plan with its formula and the values put in. */
void screen_explain_plan(const struct plan *p, const char *label, struct str *out);

/* In what two kernels differ, as paired bars: the command `why`, in a popup. */
void screen_why(struct app *a, const char *left, const char *right);

#endif
