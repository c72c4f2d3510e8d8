/* chosen.h - why "auto" is what it is, in words: for explain, and for whoever looks at one kernel.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_CHOSEN_H
#define ATTNSCOPE_COMMAND_CHOSEN_H

#include "command/ask/request.h"

/* What may be fastest for the problem and options of the request, with expected times, and what they come from. `width` limits
 * the table; 0: none. */
void chosen_explain(struct session *s, const struct request *r, int width, struct str *out);
/* One sentence about entry i of a request that is planned: is it what "auto" would take, and what else would be. Nothing where
 * nothing was timed of such a GPU and shape. */
void chosen_why(struct session *s, const struct request *r, int i, struct str *out);
/* Where the kernel of a request cannot run as it is asked for: what "auto" would take in its place, by whichever GPU's times.
 * Nothing where nothing runs. */
void chosen_instead(struct session *s, const struct request *r, struct str *out);

#endif
