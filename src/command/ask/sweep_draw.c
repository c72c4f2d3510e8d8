/* sweep_draw.c - sweeps as figures: what the verb prints and the screen shows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/sweep.h"
#include "command/output.h"

// clang-format off
static const struct {
    const char *by;
    char mark;
} blocked[] = {
    {"smem", 'S'}, {"regs", 'R'}, {"threads", 'T'}, {"barriers", 'N'}, {"grid", 'G'},
    {"shape", 'X'}, {"kernel", 'K'},
};
const struct heat_key sweep_marks[] = {
    {'S', "shared memory"}, {'R', "registers"}, {'T', "threads"}, {'N', "named barriers"},
    {'G', "grid"}, {'X', "no such shape"}, {'K', "the kernel's own rule"}, {'F', "check failed"},
    {'-', "no figure"}, {0, NULL},
};
// clang-format on

char sweep_mark(const struct sweep *w, const json_t *row)
{
    const char *by = row_text(row, "blocked_by"), *check = row_text(row, "check");
    if (!row || isfinite(sweep_value(w, row)))
        return 0;
    for (size_t i = 0; by && i < sizeof blocked / sizeof *blocked; i++)
        if (!strcmp(blocked[i].by, by))
            return blocked[i].mark;
    return check && !strcmp(check, "fail") ? 'F' : '-';
}

void sweep_lines_make(const struct sweep *w, struct sweep_lines *out)
{
    const size_t n = (size_t)w->npoints, k = (size_t)w->base.nkernels;
    *out = (struct sweep_lines){.series = xcalloc(k + 1, sizeof *out->series),
                                .y = xcalloc(n * k + 1, sizeof *out->y),
                                .marks = xcalloc(n * k + 1, 1),
                                .names = xcalloc(k + 1, sizeof *out->names),
                                .title = xasprintf("%s over %s", w->metric, w->axes[0].key)};
    for (size_t s = 0; s < k; s++) {
        out->names[s] = request_entry(&w->base, (int)s);
        for (size_t i = 0; i < n; i++) {
            const json_t *row = sweep_row(w, (int)i, (int)s);
            out->y[s * n + i] = sweep_value(w, row);
            out->marks[s * n + i] = sweep_mark(w, row);
        }
        out->series[s] = (struct fig_series){
            .name = out->names[s], .y = &out->y[s * n], .marks = &out->marks[s * n]};
    }
    out->fig = (struct fig_lines){.title = out->title,
                                  .xtexts = (const char *const *)w->axes[0].values,
                                  .n = w->npoints,
                                  .series = out->series,
                                  .nseries = w->base.nkernels,
                                  .cur = -1};
}

void sweep_lines_clear(struct sweep_lines *l)
{
    for (int i = 0; l->names && l->names[i]; i++)
        free(l->names[i]);
    free(l->names);
    free(l->series);
    free(l->y);
    free(l->marks);
    free(l->title);
}

void sweep_heat_make(const struct sweep *w, int kernel, struct sweep_heat *out)
{
    out->cells = xcalloc((size_t)w->npoints + 1, sizeof *out->cells);
    for (int i = 0; i < w->npoints; i++) {
        const json_t *row = sweep_row(w, i, kernel);
        out->cells[i] = (struct heat_cell){.value = sweep_value(w, row),
                                           .mark = sweep_mark(w, row),
                                           .prefix = row ? bound_mark(row, w->metric) : NULL};
    }
    out->fig = (struct fig_heat){.xname = w->axes[1].key,
                                 .yname = w->axes[0].key,
                                 .xtexts = (const char *const *)w->axes[1].values,
                                 .ytexts = (const char *const *)w->axes[0].values,
                                 .nx = w->axes[1].count,
                                 .ny = w->axes[0].count,
                                 .cells = out->cells,
                                 .keys = sweep_marks,
                                 .cx = -1,
                                 .cy = -1};
}

void sweep_heat_clear(struct sweep_heat *h)
{
    free(h->cells);
}
