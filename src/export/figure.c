/* figure.c - which pictures there are, and which one suits a table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/figure.h"

#include <string.h>

#include "export/figs.h"

/* What says most comes first: a table is drawn as the first one that it has. */
const struct figure figures[] = {
    {"heat", "a sweep over two axes as a heat map", fig_heat_draw},
    {"lines", "a sweep over one axis, or shapes that differ in one number, as a line plot",
     fig_lines_draw},
    {"ratios", "compare: time ratios with their intervals", fig_ratios_draw},
    {"times", "median times with their quartiles", fig_times_draw},
    {"timeline", "timeline: blocks over SMs and time", fig_blocks_draw},
    {"smem", "plan: the shared memory of a block and the limits of an SM", fig_smem_draw},
    {"roofline", "kernels under the roof of a device", fig_roofline_draw},
    {0},
};

const struct figure *figure_find(const char *name)
{
    for (const struct figure *f = figures; f->name; f++)
        if (!strcmp(f->name, name))
            return f;
    return NULL;
}

const char *figure_name(const void *unused, size_t i)
{
    (void)unused;
    return i < sizeof figures / sizeof *figures ? figures[i].name : NULL;
}

const struct figure *figure_draw(const json_t *table, const struct figure *want,
                                 const struct device_table *d, bool alone, struct str *out)
{
    for (const struct figure *f = figures; f->name; f++)
        if ((!want || f == want) && f->draw(table, d, alone, out))
            return f;
    return NULL;
}
