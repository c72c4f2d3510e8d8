/* explore_find.c - what Explore finds by name, and what it says of the figures of a pane.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tui/screens/explore.h"
#include "tui/screens/screen_util.h"

/* The metrics that a pane shows come first. */
static const char *const pane_metrics[PANE_COUNT][8] = {
    [PANE_SMEM] = {"smem_bytes", "smem_per_block_bytes", "reserved_bytes", "needs_optin"},
    [PANE_OCC] = {"blocks_per_sm", "occupancy_pct", "waves", "active_warps"},
    [PANE_ROOF] = {"roof_us", "bound", "ridge", "compulsory_intensity", "requested_intensity"},
};

static bool kernel_has(const void *ctx, int i, const char *text)
{
    const struct explore *e = ctx;
    const struct kernel *k = registry_at(e->app->session->registry, i);
    return str_finds(k->name, text) || str_finds(e->kernel_rows[i].name, text);
}

static bool setting_has(const void *ctx, int i, const char *text)
{
    const struct explore *e = ctx;
    return str_finds(e->knobs.v[i].name, text);
}

/* A kernel's name, or a row of the shape pane when that has the focus. */
bool explore_find(void *ctx, const char *text, int dir)
{
    struct explore *e = ctx;
    int at = e->focus == PANE_SHAPE ? list_find(e->knobs.n, e->shape_cur, dir, setting_has, e, text)
                                    : -1;
    if (at >= 0) {
        explore_select_setting(e, at);
        return true;
    }
    int cur = explore_kernel_index(e, e->kernel);
    at = list_find(e->nkernels, cur, dir, kernel_has, e, text);
    if (at < 0)
        return false;
    e->focus = PANE_KERNELS;
    explore_select_kernel(e, at);
    return true;
}

static bool in_pane(enum pane p, const char *metric)
{
    for (int i = 0; i < 8 && pane_metrics[p][i]; i++)
        if (strcmp(pane_metrics[p][i], metric) == 0)
            return true;
    return false;
}

static void explain_metric(const struct explore *e, const char *metric, struct str *out)
{
    struct err err = ERR_INIT;
    struct str text = {0};
    if (plan_explain(&e->plan, metric, &text, &err) == ST_OK)
        screen_explain_add(out, str_text(&text));
    str_free(&text);
}

bool explore_explain(void *ctx, struct str *out)
{
    struct explore *e = ctx;
    if (!e->have_plan) {
        str_add(out, e->no_plan ? e->no_plan : "there is no plan");
        return false;
    }
    str_addf(out, "%s on %s, computed, not measured (MODEL):\n\n", e->kernel->name,
             e->plan.device->name);
    if (e->why.len)
        str_addf(out, "%s\n\n", str_text(&e->why));
    for (int i = 0; i < 8 && pane_metrics[e->focus][i]; i++)
        explain_metric(e, pane_metrics[e->focus][i], out);
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        if (!in_pane(e->focus, plan_metric_name(NULL, i)))
            explain_metric(e, plan_metric_name(NULL, i), out);
    return true;
}
