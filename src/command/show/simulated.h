/* simulated.h - what the simulator counted by source line and by phase, and what it found wrong, as rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SIMULATED_H
#define ATTNSCOPE_COMMAND_SIMULATED_H

#include "command/ask/measure.h"
#include "export/rows.h"

/* Each adds the rows of one kernel: of its run, and of what backend_ops.profile leaves. NULL: none. `d` has the
 * source, whose lines are shown. */
void lines_add(struct rowset *rows, const struct run_row *run, const struct kernel_desc *d,
               const json_t *profile);
void phases_add(struct rowset *rows, const struct run_row *run, const struct kernel_desc *d,
                const json_t *profile);
/* A kernel without findings has one row, whose kind is unknown. */
void findings_add_rows(struct rowset *rows, const struct run_row *run, const struct kernel_desc *d,
                       const json_t *profile);

extern const struct row_type line_type, phase_type, finding_type;
extern const struct columns line_columns, phase_columns, finding_columns;

/* A line of the kernel's own file, or of a header that all kernels share, without blanks around it; the caller frees it, NULL:
 * there is none. */
char *source_line_text(const struct kernel_desc *d, const char *file, int64_t line);
/* What kernels printed, the first lines of each, and how many findings were not kept. */
void printed_text(const struct run_rows *rows, struct str *out);

/* "without fa2.cu:55, __syncthreads();" of a run that left that line out; NULL: it left nothing out. The caller frees. */
char *without_text(const struct run_row *run, const struct kernel_desc *d);

/* A finding in words: what, where, both parties with their lines. Nothing for a row without one. */
void finding_text(const struct row *row, struct str *out);

#endif
