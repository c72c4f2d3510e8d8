/* explore_kernels.c - see explore_kernels.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/explore_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/measure.h"
#include "command/ask/recollect.h"

const char *kernel_rows_backend(const struct app *a)
{
    const struct options *o = &a->session->settings.options;
    return o->backend ? o->backend : options_runner(o)->name;
}

const struct device *kernel_rows_gpu(const struct app *a)
{
    return a->session->settings.options.gpu ? session_gpu(a->session, NULL, NULL) : NULL;
}

void kernel_rows_clear(struct kernel_rows *k)
{
    for (int i = 0; i < k->n; i++) {
        free(k->cannot[i]);
        free(k->untimed[i]);
    }
    free(k->cannot);
    free(k->untimed);
    free(k->known);
    free(k->rows);
    *k = (struct kernel_rows){.app = k->app};
}

void kernel_rows_follow(struct kernel_rows *k)
{
    const struct registry *r = k->app->session->services.registry;
    const size_t n = (size_t)registry_count(r);
    kernel_rows_clear(k);
    k->known = xcalloc(n + 1, sizeof *k->known);
    k->cannot = xcalloc(n + 1, sizeof *k->cannot);
    k->untimed = xcalloc(n + 1, sizeof *k->untimed);
    k->rows = xcalloc(n + 1, sizeof *k->rows);
    k->n = (int)n;
    for (size_t i = 0; i < n; i++)
        k->known[i] = registry_at(r, (int)i);
}

bool kernel_rows_has(const struct kernel_rows *k, const struct kernel *it)
{
    for (int i = 0; it && i < k->n; i++)
        if (k->known[i] == it)
            return true;
    return false;
}

int kernel_rows_index(const struct kernel_rows *k, const struct kernel *it)
{
    for (int i = 0; i < k->n; i++)
        if (k->known[i] == it)
            return i;
    return 0;
}

/* ---- rows ---- */

/* Why it cannot be measured as the settings are, parameters too, or simulated; NULL if it can. The caller frees it. */
static char *why_not(struct session *s, const struct kernel *it, bool simulated)
{
    struct err why = ERR_INIT;
    struct request r;
    char *text = NULL;
    const enum status st = simulated ? simulation_request(s, it->name, &r, &why)
                                     : request_of(s, it->name, NULL, 0, &r, &why);
    if (st != ST_OK || measure_refuses(&r, 0, &why))
        text = xstrdup(why.text);
    request_clear(&r);
    return text;
}

/* What cannot be timed may still be simulated. */
static void judge(struct kernel_rows *k, int i)
{
    struct session *s = k->app->session;
    const struct kernel *it = k->known[i];
    const bool simulated = simulation_is_on(s) && simulation_has(it);
    free(k->cannot[i]);
    free(k->untimed[i]);
    k->untimed[i] = why_not(s, it, false);
    if (!k->untimed[i] && !simulation_leaves_times(s))
        k->untimed[i] = xstrdup("the simulator has no clock");
    k->cannot[i] = !k->untimed[i] ? NULL
                   : simulated    ? why_not(s, it, true)
                                  : xstrdup(k->untimed[i]);
}

const char *kernel_rows_untimed(const struct kernel_rows *k, const struct kernel *it)
{
    return k->n ? k->untimed[kernel_rows_index(k, it)] : NULL;
}

static void show_figures(struct view_row *row, const struct figures *f)
{
    row->bad = run_row_failed(&f->row);
    if (row->bad)
        snprintf(row->value, sizeof row->value, "FAIL");
    else if (f->row.median_us > 0)
        number_fmt_us(row->value, f->row.median_us);
}

/* In place of a time that there is none of: that it was simulated. */
static void show_simulated(struct view_row *row, const struct run_row *it)
{
    row->bad = run_row_failed(it);
    snprintf(row->value, sizeof row->value, "%s", row->bad ? "FAIL" : "sim");
}

/* Where a GPU is named of which there are recordings, and what runs here is no GPU, the list shows that
 * GPU's times: all of them recorded, or none. */
static void list_recorded(struct kernel_rows *k)
{
    struct session *s = k->app->session;
    const struct device *gpu = kernel_rows_gpu(k->app);
    k->recorded = false;
    if (!gpu || backend_is_gpu(kernel_rows_backend(k->app)) ||
        !recall_has_gpu(session_recall(s), gpu))
        return;
    double *us = xcalloc((size_t)k->n, sizeof *us);
    for (int i = 0; i < k->n; i++) {
        const struct recalled it = recollect_label(s, k->known[i]->name);
        us[i] = it.row ? it.row->median_us : 0;
        k->recorded |= us[i] > 0;
    }
    for (int i = 0; i < k->n && k->recorded; i++) {
        k->rows[i].bad = false; /* what failed here is not what was timed there */
        k->rows[i].value[0] = 0;
        if (us[i] > 0)
            number_fmt_us(k->rows[i].value, us[i]);
    }
    free(us);
}

void kernel_rows_renew(struct kernel_rows *k, struct measurement *m, const struct simulation *sim,
                       const struct kernel *second)
{
    struct session *s = k->app->session;
    for (int i = 0; i < k->n; i++) {
        const struct kernel *it = k->known[i];
        const struct figures *f = measurement_find(m, it->name);
        const struct run_row *simulated =
            simulation_find(sim, it->name, &s->settings.problem.shape);
        judge(k, i);
        k->rows[i] = (struct view_row){
            .name = it->name,
            .dim = k->cannot[i] != NULL,
            .marked = it == second || marks_find(&k->app->marks, it->name) >= 0,
        };
        if (k->untimed[i] && simulated)
            show_simulated(&k->rows[i], simulated);
        else if (!k->untimed[i] && f && shape_equal(&f->shape, &s->settings.problem.shape))
            show_figures(&k->rows[i], f);
    }
    list_recorded(k);
}
