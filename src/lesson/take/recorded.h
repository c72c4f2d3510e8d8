/* recorded.h - what a command is where no GPU can be measured: `run K ... | recorded NAME`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_RECORDED_H
#define ATTNSCOPE_LESSON_RECORDED_H

#include "lesson/text/parsed.h"

/* Are the recorded rows shown, instead of measuring? `no_gpu`: there seemed to be one, but none could be
 * measured. */
bool recorded_is_meant(const struct item *it, bool no_gpu);
/* The command with the backend of a GPU, unless it names one; the caller frees. */
char *measured_command(const struct session *s, const struct item *it);
/* What Enter runs for a command of the lesson; the caller frees. */
char *recorded_command(struct session *s, const struct item *it, bool no_gpu);
/* Whence the figures come, in a sentence; the caller frees. */
char *recorded_note(struct session *s, const struct item *it);

#endif
