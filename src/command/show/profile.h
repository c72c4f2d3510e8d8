/* profile.h - a profiled run as a row: what the hardware counted, beside what the planner says of
 * the same code, and what follows from both.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_PROFILE_H
#define ATTNSCOPE_COMMAND_PROFILE_H

#include "backend/counters.h"
#include "command/ask/measure.h"

/* Figures that follow from counters and plan; `field` NULL ends the table. */
struct profile_figure {
    const char *field, *title, *unit;
    enum counter_section section;
    const char *over, *less, *under; /* fields of the row: (over - less) / under * scale; less may
                                        be NULL */
    double scale;
    const char *doc;
};
extern const struct profile_figure profile_figures[];

/* The i-th field that only profiled rows have, with unit and doc; false behind the last. */
bool profile_field_at(size_t i, struct field *out);
/* The names of CUPTI behind a field, or how it follows from others, as a line without end; nothing
 * for other fields. */
void profile_source(const char *field, struct str *out);

/* The row of one kernel: `run` as run_row_result() has it, `profile` as backend_ops.profile leaves
 * it, NULL where nothing was counted: then the figures are null. The caller owns it. */
json_t *profile_row(const json_t *run, const json_t *profile);
/* Was anything counted? */
bool profile_counted(const json_t *row);

/* The rows as tables: a figure a line, a kernel a column, in sections. Text and Markdown. */
void profile_tables(struct str *out, const json_t *rows, enum format f, int width);

#endif
