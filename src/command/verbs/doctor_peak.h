/* doctor_peak.h - "doctor --peak".
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_DOCTOR_PEAK_H
#define ATTNSCOPE_COMMAND_DOCTOR_PEAK_H

#include "base/rowset.h"
#include "command/session.h"

/* Measures the ceilings of everything that is here and has a clock, or of what backend= names, and cpu_tiled beside a CPU's. */
enum status doctor_add_peaks(struct session *s, struct rowset *rows, struct err *err);

#endif
