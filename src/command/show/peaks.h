/* peaks.h - doctor --peak: measures a device's ceilings, keeps them, and says them as rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_PEAKS_H
#define ATTNSCOPE_COMMAND_PEAKS_H

#include "backend/peak.h"
#include "command/session.h"

/* A figure beside the data sheet's: what a row has besides what was looked at, its state and a sentence. The
 * fields of `measured` are ceiling_fields. */
struct peak_figure {
    char *device, *unit;
    double sheet, sheet_clock_mhz, of_sheet_pct, of_clock_pct;
    struct ceiling measured;
};
extern const struct field peak_figure_fields[];

/* Measures the device of a backend. `out` must be cleared whatever the status. ST_CANCELLED, or ST_FAIL
 * with the reason. */
enum status peaks_measure(struct session *s, const char *backend, struct peak *out,
                          struct err *err);
/* Keeps them for rooflines and rows to come; a restricted session keeps nothing. */
void peaks_keep(struct session *s, const struct peak *p);
/* Figure `id` of a device, and what it says appended to `text`; `out` is one that row_new() has made. False:
 * it was not measured. */
bool peaks_figure(struct session *s, const struct peak *p, enum peak_id id, struct peak_figure *out,
                  struct str *text);
/* "715 TFLOP/s at 1410 MHz (held by power)": a figure and what it was measured at. */
void ceiling_text(const struct ceiling *c, const char *unit, struct str *out);

#endif
