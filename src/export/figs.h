/* figs.h - the pictures that figure.c chooses from, each in a file of its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_FIGS_H
#define ATTNSCOPE_EXPORT_FIGS_H

#include "export/figure.h"

#define FIG(name)                                                                         \
    bool fig_##name##_draw(const json_t *table, const struct device_table *d, bool alone, \
                           struct str *out)
FIG(lines);
FIG(heat);
FIG(times);
FIG(ratios);
FIG(roofline);
FIG(smem);
FIG(blocks);
#undef FIG

#endif
