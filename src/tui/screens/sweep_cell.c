/* sweep_cell.c - see sweep_cell.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/sweep_cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "command/show/sweep_words.h"
#include "tui/kit/flow.h"

/* "from 0.81 to 0.83, FASTER"; the quartiles of a median. */
static void cell_spread(const struct sweep_cell *x, struct flow *f, const struct row *row)
{
    char a[NUMBER_BUF], b[NUMBER_BUF];
    double lo, hi;
    const char *verdict = row_text(row, "verdict");
    if (verdict && !strcmp(verdict, "base"))
        flow_item(f, NULL, ROLE_DIM, "the base");
    else if (sweep_spread(x->sweep, row, &lo, &hi))
        flow_item(f, "from", ROLE_NORMAL, "%s to %s%s%s", number_fmt(a, lo, 3),
                  number_fmt(b, hi, 3), verdict ? ", " : "",
                  !verdict                        ? ""
                  : !strcmp(verdict, "AMBIGUOUS") ? "no winner"
                                                  : verdict);
}

static void cell_value(const struct sweep_cell *x, struct flow *f, const struct row *row)
{
    const struct sweep *w = x->sweep;
    double v = sweep_value(w, row);
    char b[NUMBER_BUF];
    const char *bound = row_bound(row, w->metric);
    if (isfinite(v))
        flow_item(f, w->metric, ROLE_TITLE, "%s%s", bound, x->hidden ? "?" : number_fmt(b, v, 4));
    else if (!row)
        flow_item(f, w->metric, ROLE_DIM, "not measured yet: r");
    if (isfinite(v) && !x->hidden)
        cell_spread(x, f, row);
    if (*bound)
        flow_item(f, NULL, ROLE_DIM, "a bound: the registers are not known");
}

static void cell_plan(const struct sweep_cell *x, struct flow *f)
{
    const struct plan *p = &x->about->plan;
    const struct plan_pass *m =
        x->about->have_plan && p->npasses > 0 ? &p->passes[p->main_pass] : NULL;
    const bool bound = m && m->occ.upper_bound == 1;
    char b[3][NUMBER_BUF];
    if (!m)
        return;
    flow_item(f, "SMEM", ROLE_NORMAL, "%s", number_fmt_bytes(b[0], (double)m->smem_bytes));
    flow_item(f, "regs", ROLE_NORMAL, "%s", number_fmt_int(b[0], m->regs));
    if (m->occ.blocks_per_sm != INT_UNKNOWN)
        flow_item(f, "occupancy", ROLE_NORMAL, "%s%s block%s/SM, %s%s %%", bound ? "<=" : "",
                  number_fmt_int(b[0], m->occ.blocks_per_sm), m->occ.blocks_per_sm == 1 ? "" : "s",
                  bound ? "<=" : "", number_fmt(b[1], m->occ.occupancy_pct, 3));
    flow_item(f, "waves", ROLE_NORMAL, "%s%s", bound ? ">=" : "",
              number_fmt(b[0], m->occ.waves, 3));
    flow_item(f, "AI", ROLE_NORMAL, "%s FLOP/B", number_fmt(b[0], p->requested_intensity, 3));
}

void sweep_cell_draw(const struct sweep_cell *x, struct canvas *c, struct rect r)
{
    const struct sweep *w = x->sweep;
    const struct row *row = sweep_row(w, sweep_point(w, x->at[0], x->at[1]), x->kernel);
    const char *reason = row_text(row, "reason"), *check = row_text(row, "check");
    struct flow f = {.c = c, .r = r};
    cell_value(x, &f, row);
    if (check)
        flow_item(&f, "check", strcmp(check, "pass") ? ROLE_BAD : ROLE_GOOD, "%s", check);
    cell_plan(x, &f);
    flow_line(&f);
    struct rect rest = {r.x, r.y + f.y, r.w, r.h - f.y};
    struct str said = {0};
    if (!x->hidden)
        sweep_say_crossings(w, &said);
    if (reason && rest.h > 0)
        canvas_wrap_more(c, rest, isfinite(sweep_value(w, row)) ? ROLE_WARN : ROLE_BAD, reason, 0);
    else if (said.len && rest.h > 0)
        canvas_wrap_more(c, rest, ROLE_NORMAL, str_text(&said), 0);
    else if (x->about->why.len && rest.h > 0)
        canvas_wrap_more(c, rest, ROLE_NORMAL, str_text(&x->about->why), 0);
    str_free(&said);
}

void sweep_cell_title(const struct sweep_cell *x, struct str *s)
{
    const struct sweep *w = x->sweep;
    char *label = request_entry(&w->base, x->kernel);
    str_addf(s, "%s", label);
    for (int i = 0; i < w->naxes; i++)
        str_addf(s, " %s=%s", w->axes[i].key, w->axes[i].values[x->at[i]]);
    if (x->about->have_plan)
        str_addf(s, "  MODEL %s", x->about->plan.device->name);
    free(label);
}
