/* block_steps.h - one block of a simulated run, phase by phase: as rows, and in words. Verb and screen share it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_BLOCK_STEPS_H
#define ATTNSCOPE_COMMAND_BLOCK_STEPS_H

#include "command/show/timeline.h"
#include "export/rows.h"

extern const struct row_type step_type;
extern const struct columns step_columns;

/* Of the main pass; NULL: the timeline has no such block. */
const struct sched_block *block_find(const struct timeline *t, int64_t block);
/* "block 12 (query tile 12 of head 0) on SM 12: 4.1 to 31.2 us; its phases are those of block 8, which was simulated" */
void block_heading(const struct timeline *t, const struct sched_block *b, struct str *out);
/* A row for each step. ST_NO where the timeline has no phases. */
enum status block_steps(const struct timeline *t, const struct sched_block *b, struct rowset *rows,
                        struct err *err);

#endif
