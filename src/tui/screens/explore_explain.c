/* explore_explain.c - see explore_explain.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/explore_explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/errors.h"
#include "tui/screens/screen_util.h"

/* What each pane shows: fields of the measured row, metrics of the plan. Panes without a line are about
 * the whole plan. */
static const struct about {
    const char *fields[25], *metrics[8];
} panes[PANE_COUNT] = {
    [PANE_TIME] = {.fields = {"median_us", "min_us", "p95_us", "cv_pct", "n", "dropped", "tflops",
                              "gbytes_per_s", "l2", "noise", "stopped"}},
    [PANE_SAMPLES] = {.fields = {"n", "dropped", "median_us", "q1_us", "q3_us", "p95_us", "modes"}},
    [PANE_CHECK] = {.fields = {"check", "reason", "first_bad", "max_diff", "baseline_max_diff",
                               "error_ratio", "worst", "checked_rows", "total_rows", "ratio",
                               "verdict", "pair_max_diff"}},
    [PANE_SIM] = {.fields = {"hazard",
                             "hazards",
                             "check",
                             "warp_instructions",
                             "active_lanes",
                             "divergences",
                             "tensor_ops",
                             "smem_requests",
                             "smem_wavefronts",
                             "smem_wavefronts_ideal",
                             "smem_conflicts",
                             "global_sectors",
                             "global_sectors_ideal",
                             "local_sectors",
                             "l2_bytes",
                             "dram_bytes",
                             "barriers",
                             "shuffles",
                             "votes",
                             "atomics",
                             "async_copies",
                             "blocks",
                             "blocks_run",
                             "ptx"}},
    [PANE_SMEM] = {.metrics = {"smem_bytes", "smem_per_block_bytes", "reserved_bytes",
                               "needs_optin"}},
    [PANE_OCC] = {.metrics = {"blocks_per_sm", "occupancy_pct", "waves", "active_warps"}},
    [PANE_SM] = {.metrics = {"limit_smem", "limit_regs", "limit_warps", "limit_blocks",
                             "blocks_per_sm"}},
    [PANE_ROOF] = {.metrics = {"roof_us", "bound", "ridge", "compulsory_intensity",
                               "requested_intensity"}},
};

/* Times have no more digits that mean something. */
static char *value_text(const struct field *f, const struct run_row *row)
{
    char a[NUMBER_BUF];
    return f->type == FIELD_REAL ? xstrdup(number_fmt(a, field_number(f, row), 4))
                                 : field_text(f, row);
}

static void add_field(const struct explore_view *v, const struct run_row *row, const char *name,
                      struct str *out)
{
    const struct field *f = field_find(run_fields, name);
    if (!f || !field_known(f, row))
        return;
    char *value = value_text(f, row);
    str_addf(out, "%s = %s%s%s\n  %s\n\n", f->name, v->blank ? "?" : value,
             f->unit && *f->unit ? " " : "", f->unit ? f->unit : "", f->doc ? f->doc : "");
    free(value);
}

static void add_metric(const struct plan *p, const char *metric, struct str *out)
{
    struct str text = {0};
    if (plan_explain(p, metric, &text, NULL) == ST_OK)
        screen_explain_add(out, str_text(&text));
    str_free(&text);
}

static bool explain_simulated(const struct explore_view *v, const struct about *a, struct str *out)
{
    const struct run_row *row = v->sim ? v->sim->row : NULL;
    if (!row) {
        str_addf(out, "%s was not simulated yet", v->kernel);
        return false;
    }
    str_addf(out,
             "%s, its CUDA source run from PTX by the simulator (SIM)%s%s: what it does, never how "
             "long it takes.\n\n",
             v->kernel, v->sim->old ? ", of an older shape: " : "",
             v->sim->old && row->shape ? row->shape : "");
    for (int i = 0; a->fields[i]; i++)
        add_field(v, row, a->fields[i], out);
    return true;
}

/* Where a failed output is wrong. */
static void add_map(const struct run_row *row, struct str *out)
{
    enum { WIDTH = 72, LINES = 16 };
    const size_t before = out->len;
    error_map_text(row, WIDTH, LINES, GLYPHS_ASCII, out);
    if (out->len > before)
        str_add(out, "\n");
}

static bool explain_measured(const struct explore_view *v, const struct about *a, struct str *out)
{
    if (!v->row) {
        str_addf(out, "%s was not measured yet", v->kernel);
        return false;
    }
    str_addf(out, "%s, measured (%s)%s%s:\n\n", v->kernel, v->origin, v->old_shape ? ", of " : "",
             v->old_shape ? v->old_shape : "");
    if (a == &panes[PANE_CHECK] && !v->blank && !run_row_passed(v->row))
        add_map(v->row, out);
    for (int i = 0; a->fields[i]; i++)
        add_field(v, v->row, a->fields[i], out);
    return true;
}

static bool explain_planned(const struct explore_view *v, const struct about *a, struct str *out)
{
    if (!v->plan) {
        str_add(out, v->no_plan ? v->no_plan : "there is no plan");
        return false;
    }
    str_addf(out, "%s on %s, computed, not measured (MODEL):\n\n", v->kernel,
             v->plan->device->name);
    if (v->why && !a->metrics[0])
        str_addf(out, "%s\n\n", v->why);
    for (int i = 0; a->metrics[i]; i++)
        add_metric(v->plan, a->metrics[i], out);
    for (size_t i = 0; !a->metrics[0] && plan_metric_name(NULL, i); i++)
        add_metric(v->plan, plan_metric_name(NULL, i), out);
    return true;
}

bool explore_explain_pane(const struct explore_view *v, struct str *out)
{
    const bool counted = v->focus == PANE_SIM || (v->focus == PANE_TIME && v->untimed && v->sim);
    const struct about *a = &panes[counted ? PANE_SIM : v->focus];
    const bool any = counted        ? explain_simulated(v, a, out)
                     : a->fields[0] ? explain_measured(v, a, out)
                                    : explain_planned(v, a, out);
    if (any && (a->fields[0] || a->metrics[0]))
        str_add(out, "The other panes: Tab goes there, x explains them.\n");
    return any;
}
