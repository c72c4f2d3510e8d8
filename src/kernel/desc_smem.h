/* desc_smem.h - what a shared-memory buffer holds: the words of @smem that say how its elements lie.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_DESC_SMEM_H
#define ATTNSCOPE_KERNEL_DESC_SMEM_H

#include "kernel/desc_check.h"

/* type=, pitch=, rows= or swizzle= of one buffer, into *e; *known is false where `word` is none of them.
 * ST_USAGE with a sentence at the word. */
enum status desc_read_elements(struct desc_text *t, struct desc_checks *c, struct slice word,
                               struct desc_elements *e, bool *known);
/* Once all of them are read: what goes together, and what is meant where something is not said. `where` is
 * the buffer's name. */
enum status desc_settle_elements(struct desc_text *t, struct slice where, struct desc_smem *b);

#endif
