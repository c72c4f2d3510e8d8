/* sweep_view.c - how the Sweep screen is drawn: setup, figure, the cell at the cursor.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tui/kit/flow.h"
#include "tui/screens/sweep.h"

static bool is_swept(const struct sweep_screen *x, const char *key)
{
    return strcmp(x->axis[0], key) == 0 || strcmp(x->axis[1], key) == 0;
}

static void draw_setup(struct sweep_screen *x, struct canvas *c, struct rect r)
{
    int shown = list_place(&x->setup, r, SETUP_ROWS + x->knobs.n, false);
    for (int i = 0; i < shown; i++) {
        int row = x->setup.top + i;
        struct rect at = list_row_at(&x->setup, i);
        const char *value;
        enum role role = ROLE_ACCENT, name_role = ROLE_NORMAL;
        const char *name;
        if (row < SETUP_ROWS) {
            name = sweep_setup_row(x, row, &value);
        } else {
            const struct knob *k = &x->knobs.v[row - SETUP_ROWS];
            name = k->name;
            value = is_swept(x, k->name) ? "swept" : k->text;
            name_role = k->dim || is_swept(x, k->name) ? ROLE_DIM : ROLE_NORMAL;
            role = k->changed ? ROLE_ACCENT : name_role;
        }
        bool cur = row == x->setup.cur;
        int w = str_width(value), room = at.w - 4 - str_width(name);
        w = w < room ? w : room;
        canvas_text(c, at.x, at.y, 1, ROLE_ACCENT, cur ? ">" : " ");
        canvas_text(c, at.x + 2, at.y, at.w - 3, name_role, name);
        canvas_text(c, at.x + at.w - 1 - w, at.y, w, role, value);
        if (cur && x->focus == SWEEP_SETUP)
            canvas_fill(c, at, ROLE_SELECT);
    }
}

/* ---- figure ---- */

/* Measured values are hidden; what was computed may be seen. */
static bool hidden(const struct sweep_screen *x)
{
    return x->app->blank && x->sweep.measured;
}

static void draw_lines(struct sweep_screen *x, struct canvas *c, struct rect r)
{
    struct sweep_lines l;
    sweep_lines_make(&x->sweep, &l);
    for (int i = 0; hidden(x) && i < x->sweep.npoints * x->sweep.base.nkernels; i++)
        l.y[i] = NAN;
    l.fig.cur = x->at[0];
    fig_lines(c, r, &l.fig);
    sweep_lines_clear(&l);
}

static void draw_heat(struct sweep_screen *x, struct canvas *c, struct rect r)
{
    struct sweep_heat h;
    sweep_heat_make(&x->sweep, x->kernel, &h);
    for (int i = 0; hidden(x) && i < x->sweep.npoints; i++)
        h.cells[i] = (struct heat_cell){.value = NAN};
    h.fig.cx = x->at[1];
    h.fig.cy = x->at[0];
    fig_heat(c, r, &h.fig);
    sweep_heat_clear(&h);
}

static void draw_figure(struct sweep_screen *x, struct canvas *c, struct rect r)
{
    if (!x->have)
        canvas_wrap(c, r, ROLE_BAD, x->problem ? x->problem : "");
    else if (x->sweep.naxes > 1)
        draw_heat(x, c, r);
    else
        draw_lines(x, c, r);
}

static void figure_title(const struct sweep_screen *x, struct str *s)
{
    const struct sweep *w = &x->sweep;
    if (!x->have) {
        str_add(s, "Sweep");
        return;
    }
    char *label = request_entry(&w->base, x->kernel);
    if (w->naxes > 1)
        str_addf(s, "%s  %s%s", w->metric, label, w->base.nkernels > 1 ? " (v: next)" : "");
    else
        str_addf(s, "%s", w->metric);
    free(label);
    if (w->measured)
        str_addf(s, "  LIVE  %s", x->activity);
    else
        str_addf(s, "  MODEL %s", w->device ? w->device->name : "?");
}

/* ---- the cell ---- */

static void cell_value(const struct sweep_screen *x, struct flow *f, const json_t *row)
{
    const struct sweep *w = &x->sweep;
    double v = sweep_value(w, row);
    char b[NUMBER_BUF];
    const char *bound = sweep_bound(w, row);
    if (isfinite(v))
        flow_item(f, w->metric, ROLE_TITLE, "%s%s", bound, hidden(x) ? "?" : number_fmt(b, v, 4));
    else if (!row)
        flow_item(f, w->metric, ROLE_DIM, "not measured yet: r");
    if (*bound)
        flow_item(f, NULL, ROLE_DIM, "a bound: the registers are not known");
}

static void cell_plan(const struct sweep_screen *x, struct flow *f)
{
    const struct plan *p = &x->plan;
    const struct plan_pass *m = x->have_plan && p->npasses > 0 ? &p->passes[p->main_pass] : NULL;
    const bool bound = m && m->occ.upper_bound == 1;
    char b[3][NUMBER_BUF];
    if (!m)
        return;
    flow_item(f, "SMEM", ROLE_NORMAL, "%s", number_fmt_bytes(b[0], (double)m->smem_bytes));
    flow_item(f, "regs", ROLE_NORMAL, "%s", number_fmt_int(b[0], m->regs));
    if (m->occ.blocks_per_sm != INT_UNKNOWN)
        flow_item(f, "occupancy", ROLE_NORMAL, "%s%s blocks/SM, %s%s %%", bound ? "<=" : "",
                  number_fmt_int(b[0], m->occ.blocks_per_sm), bound ? "<=" : "",
                  number_fmt(b[1], m->occ.occupancy_pct, 3));
    flow_item(f, "waves", ROLE_NORMAL, "%s%s", bound ? ">=" : "",
              number_fmt(b[0], m->occ.waves, 3));
    flow_item(f, "AI", ROLE_NORMAL, "%s FLOP/B", number_fmt(b[0], p->requested_intensity, 3));
}

static void draw_cell(struct sweep_screen *x, struct canvas *c, struct rect r)
{
    const struct sweep *w = &x->sweep;
    if (!x->have)
        return;
    const json_t *row = sweep_row(w, sweep_point(w, x->at[0], x->at[1]), x->kernel);
    const char *reason = json_string_value(json_object_get(row, "reason")),
               *check = json_string_value(json_object_get(row, "check"));
    struct flow f = {.c = c, .r = r};
    cell_value(x, &f, row);
    if (check)
        flow_item(&f, "check", strcmp(check, "pass") ? ROLE_BAD : ROLE_GOOD, "%s", check);
    cell_plan(x, &f);
    flow_line(&f);
    struct rect rest = {r.x, r.y + f.y, r.w, r.h - f.y};
    if (reason && rest.h > 0)
        canvas_wrap_more(c, rest, ROLE_BAD, reason, 0);
    else if (x->why.len && rest.h > 0)
        canvas_wrap_more(c, rest, ROLE_NORMAL, str_text(&x->why), 0);
}

static void cell_title(const struct sweep_screen *x, struct str *s)
{
    const struct sweep *w = &x->sweep;
    if (!x->have) {
        str_add(s, "Cell");
        return;
    }
    char *label = request_entry(&w->base, x->kernel);
    str_addf(s, "%s", label);
    for (int i = 0; i < w->naxes; i++)
        str_addf(s, " %s=%s", w->axes[i].key, w->axes[i].values[x->at[i]]);
    if (x->have_plan)
        str_addf(s, "  MODEL %s", x->plan.device->name);
    free(label);
}

/* ---- the whole ---- */

static void pane_title(const struct sweep_screen *x, enum sweep_pane p, struct str *s)
{
    if (p == SWEEP_SETUP)
        str_add(s, "Sweep");
    else if (p == SWEEP_FIGURE)
        figure_title(x, s);
    else
        cell_title(x, s);
}

static struct rect draw_frame(const struct sweep_screen *x, struct canvas *c, struct rect r,
                              enum sweep_pane p, bool bare)
{
    struct str title = {0};
    pane_title(x, p, &title);
    struct rect in = pane_frame(c, r, str_text(&title), x->focus == p, bare);
    str_free(&title);
    return p == SWEEP_SETUP ? in : (struct rect){in.x + 1, in.y, in.w - 2, in.h};
}

static void draw_inside(struct sweep_screen *x, struct canvas *c, struct rect r, enum sweep_pane p)
{
    if (p == SWEEP_SETUP)
        draw_setup(x, c, r);
    else if (p == SWEEP_FIGURE)
        draw_figure(x, c, r);
    else
        draw_cell(x, c, r);
}

void sweep_draw(struct sweep_screen *x, struct canvas *c, struct rect r)
{
    if (app_one_pane(x->app, c)) {
        draw_inside(x, c, draw_frame(x, c, r, x->focus, true), x->focus);
        return;
    }
    int cell = r.h > 30 ? 7 : 6, setup = r.w > 120 ? 34 : 27;
    struct rect panes[SWEEP_PANES] = {
        [SWEEP_SETUP] = {r.x, r.y, setup, r.h - cell + 1},
        [SWEEP_FIGURE] = {r.x + setup - 1, r.y, r.w - setup + 1, r.h - cell + 1},
        [SWEEP_CELL] = {r.x, r.y + r.h - cell, r.w, cell},
    };
    struct rect in[SWEEP_PANES];
    for (int p = 0; p < SWEEP_PANES; p++)
        in[p] = draw_frame(x, c, panes[p], (enum sweep_pane)p, false);
    for (int p = 0; p < SWEEP_PANES; p++)
        draw_inside(x, c, in[p], (enum sweep_pane)p);
}
