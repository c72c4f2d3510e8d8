/* samples.h - what pictures of samples share: the model, filled from lists of times.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_SAMPLES_H
#define ATTNSCOPE_DRAW_SAMPLES_H

#include "draw/chart.h"

extern const struct chart_layout sample_layout;
/* Has every series a name, and any of them two samples? */
bool samples_sound(const void *model);
/* The name of a series in gnuplot's key. */
void samples_gp_name(struct str *out, const struct sample_series *s);

#endif
