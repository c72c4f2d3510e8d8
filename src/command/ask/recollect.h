/* recollect.h - what was recorded of an entry of a request on a GPU, and how that is said.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_RECOLLECT_H
#define ATTNSCOPE_COMMAND_RECOLLECT_H

#include "command/ask/request.h"
#include "plan/row.h"

/* Entry i of the request, its CUDA side, on that GPU: its shape or the nearest. See recall.h. */
struct recalled recollect(struct session *s, const struct request *r, int i,
                          const struct device *gpu);
/* The same of a kernel as a line names it, "fa2@BR=32", on the GPU that gpu= names; only of the very shape.
 * Nothing where no GPU is named. */
struct recalled recollect_label(struct session *s, const char *label);
/* Is it of the very shape that was asked for? */
bool recollect_exact(const struct recalled *it);

/* Puts the recorded_... fields into a row that has none; recorded_us is of the very shape alone. */
void recollect_put(const struct recalled *it, struct plan_row *row);
/* Appends where and when, "H200, 2026-11-22, recording h200": and that the kernel has changed since. */
void recollect_where(const struct recalled *it, struct str *out);
/* Appends the figure as a sheet says it, time first: "8.13 us, 16.5 TFLOP/s on H200 ...", or the nearest
 * shape's with its name. Nothing where there is none. */
void recollect_text(const struct recalled *it, struct str *out);

/* Appends what recordings have of each entry on the GPU that gpu= names, a line each with where it is from, below a heading:
 * of the very shape, else the nearest. Nothing where no GPU is named or it is here, or where nothing is known. */
void recollect_all_text(struct session *s, const struct request *r, struct str *out);

#endif
