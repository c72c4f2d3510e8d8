/* sweep_draw.c - sweeps as pictures: what the verb prints and keeps, and the screen shows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/ask/sweep.h"
#include "command/output.h"
#include "export/row_grids.h"
#include "measure/origin.h"

const struct chart_block *sweep_block(const struct sweep *w, const struct row *row)
{
    const char *by = row_text(row, "blocked_by");
    if (!row || isfinite(sweep_value(w, row)))
        return NULL;
    return chart_block_of(by ? by : row_is(row, "check", "fail") ? "check" : NULL);
}

static void take_cell(const struct sweep *w, const struct row *row, struct grid_cell *v)
{
    const struct chart_block *b = sweep_block(w, row);
    if (!row)
        return;
    const char *bound = row_bound(row, w->metric), *reason = row_text(row, "reason");
    v->value = sweep_value(w, row);
    v->blocked = b ? xstrdup(b->word) : NULL;
    v->why = b && reason ? sanitize_line(reason) : NULL;
    v->bound = !b && *bound ? xstrdup(bound) : NULL;
    if (!b)
        sweep_spread(w, row, &v->lo, &v->hi);
}

bool sweep_spread(const struct sweep *w, const struct row *row, double *lo, double *hi)
{
    static const char *const ends[][3] = {{"median_us", "q1_us", "q3_us"},
                                          {"ratio", "ratio_lo", "ratio_hi"}};
    *lo = *hi = NAN;
    for (int i = 0; i < 2; i++)
        if (!strcmp(w->metric, ends[i][0])) {
            *lo = row_real(row, ends[i][1]);
            *hi = row_real(row, ends[i][2]);
        }
    return isfinite(*lo) && isfinite(*hi);
}

/* Of two axes the first runs downward. */
static void fill(const struct sweep *w, struct grid_chart *g)
{
    const struct sweep_axis *x = &w->axes[w->naxes - 1], *y = w->naxes > 1 ? &w->axes[0] : NULL;
    grid_size(g, x->count, y ? y->count : 0, w->base.nkernels);
    g->metric = xstrdup(w->metric);
    g->unit = xstrdup(metric_unit(w->metric));
    g->xname = xstrdup(x->key);
    g->yname = y ? xstrdup(y->key) : NULL;
    for (int i = 0; i < g->nx; i++)
        g->x[i].text = xstrdup(x->values[i]);
    for (int i = 0; i < g->ny; i++)
        g->y[i].text = xstrdup(y->values[i]);
    for (int k = 0; k < g->nseries; k++) {
        g->series[k].name = request_entry(&w->base, k);
        for (int i = 0; i < w->npoints; i++) /* the second axis runs fastest, as in the model */
            take_cell(w, sweep_row(w, i, k), &g->series[k].cells[i]);
    }
}

void sweep_shape(const struct sweep *w, struct str *out)
{
    char shape[SHAPE_TEXT], *rest = shape;
    shape_format(&w->base.problem.shape, shape, sizeof shape);
    for (char *word; (word = strsep(&rest, " "));) {
        bool swept = false;
        for (int i = 0; i < w->naxes; i++) {
            const struct field *key = shape_word_key(word);
            swept = swept || (key && !strcmp(key->name, w->axes[i].key));
        }
        if (!swept)
            str_addf(out, "%s%s", out->len ? " " : "", word);
    }
}

/* On what it was measured: what a row says that has it. */
static char *device_of(const struct sweep *w)
{
    for (int i = 0; i < w->npoints * w->base.nkernels; i++)
        if (row_text(w->rows[i], "device"))
            return sanitize_line(row_text(w->rows[i], "device"));
    return NULL;
}

const char *sweep_origin(const struct sweep *w)
{
    const char *found = NULL;
    if (w->recorded)
        return origin_word("recorded");
    if (!w->measured)
        return origin_word("model");
    for (int i = 0; i < w->npoints * w->base.nkernels; i++) {
        const char *origin = origin_word(row_text(w->rows[i], "origin"));
        if (found && origin && origin != found)
            return NULL;
        found = found ? found : origin;
    }
    return found ? found : backend_origin(w->base.options.backend);
}

struct chart *sweep_chart(const struct sweep *w)
{
    struct chart *c = chart_new(w->naxes > 1 ? &chart_heat : &chart_lines);
    struct str shape = {0};
    fill(w, c->model);
    sweep_shape(w, &shape);
    c->caption.shape = str_take(&shape);
    const char *origin = sweep_origin(w);
    c->caption.origin = origin ? xstrdup(origin) : NULL;
    for (int k = 0; k < w->base.nkernels; k++)
        caption_kernel(&c->caption, w->base.kernels[k]->name);
    for (int i = 0; w->device && i < w->npoints; i++)
        caption_device(&c->caption, sweep_device(w, i)->name);
    if (!w->device)
        c->caption.device = device_of(w);
    return c;
}
