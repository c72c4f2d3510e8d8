/* profile.h - a profiled run as a row: what the hardware counted, beside what the planner says of
 * the same code, and what follows from both.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_PROFILE_H
#define ATTNSCOPE_COMMAND_PROFILE_H

#include "backend/counters.h"
#include "command/ask/measure.h"

/* The i-th field that only profiled rows have: counters, and figures that follow from them and the plan;
 * NULL behind the last. */
const struct field *profile_field_at(size_t i);
/* The names of CUPTI behind a field, or how it follows from others, as a line without end; nothing
 * for other fields. */
void profile_source(const char *field, struct str *out);

extern const struct row_type profile_type;
/* Adds the row of one kernel: of its run, and of what backend_ops.profile leaves; NULL: nothing was
 * counted, and the figures are unknown. */
void profile_add(struct rowset *rows, const struct run_row *run, const json_t *profile);
/* The run of a row; NULL: it is no such row. */
const struct run_row *profile_run(const struct row *row);
/* Was anything counted? */
bool profile_counted(const struct row *row);

/* The rows as tables: a figure a line, a kernel a column, in sections. Text and Markdown. */
void profile_tables(struct str *out, const struct rowset *rows, enum format f, int width);

#endif
