/* owner.h - whose a kernel is, below what is shown of it: a line for one that is not of this program; and who measured
 * rows that are not the user's own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_OWNER_H
#define ATTNSCOPE_COMMAND_OWNER_H

#include "base/rowset.h"
#include "command/ask/measure.h"

/* "mine: yours, sha256 0123456789ab" and a line's end; nothing for a shipped one. */
void owner_text(const struct kernel *k, struct str *out);
/* The same of each kernel of the rows, once. */
void owners_text(struct session *s, const struct run_rows *rows, struct str *out);

/* Which of stored and recorded rows somebody else measured, a line for each recording; nothing where none is. A
 * table that is narrow, or all of whose rows are of one recording, has no column of it. */
void strangers_text(const struct rowset *rows, struct str *out);

#endif
