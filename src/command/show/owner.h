/* owner.h - whose a kernel is, below what is shown of it: a line for one that is not of this program.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_OWNER_H
#define ATTNSCOPE_COMMAND_OWNER_H

#include "command/ask/measure.h"

/* "mine: yours, sha256 0123456789ab" and a line's end; nothing for a shipped one. */
void owner_text(const struct kernel *k, struct str *out);
/* The same of each kernel of the rows, once. */
void owners_text(struct session *s, const struct run_rows *rows, struct str *out);

#endif
