/* plan_row.c - see plan_row.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/plan_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/plan_here.h"

static void set_reason(struct plan_row *row, const char *text)
{
    free(row->occ.reason);
    row->occ.reason = xstrdup(text);
}

/* A kernel that has no CUDA source. */
static void unplanned(struct plan_row *row, const struct request *r, int i,
                      const struct device *dev)
{
    char text[512];
    row->kernel = xstrdup(r->kernels[i]->name);
    row->gpu = xstrdup(dev->name);
    shape_format(&r->problem.shape, text, sizeof text);
    row->shape = xstrdup(text);
    desc_params_format(request_desc(r, i), &r->params[i], false, text, sizeof text);
    row->params = xstrdup(text);
    row->origin = xstrdup("model");
    row->occ.reason = xasprintf("%s has no CUDA source to plan", row->kernel);
}

enum status plan_row(const struct request *r, int i, const struct device *dev,
                     const struct plan_how *how, struct plan *plan, struct plan_row *row,
                     struct err *err)
{
    struct plan local = {0}, *p = plan ? plan : &local;
    struct err why = ERR_INIT;
    memset(p, 0, sizeof *p);
    if (!r->kernels[i]->cuda) {
        unplanned(row, r, i, dev);
        return ST_OK;
    }
    const struct kernel_desc *d = r->kernels[i]->cuda;
    const bool lists = how && how->lists;
    const struct plan_regs *regs = how ? how->regs : NULL;
    const enum status st =
        how && how->session ? (lists ? plan_here : plan_here_brief)(
                                  how->session, d, &r->problem.shape, &r->params[i], dev, p, &why)
                            : (lists ? plan_build : plan_brief)(d, &r->problem.shape, &r->params[i],
                                                                dev, regs, p, &why);
    const bool planned = st == ST_OK || st == ST_NO;
    if (planned)
        plan_row_figures(row, p);
    if (planned && lists)
        plan_row_lists(row, p);
    if (st == ST_NO)
        set_reason(row, why.text);
    if (!plan)
        plan_clear(p);
    return planned ? ST_OK : err_set(err, st, "%s", why.text);
}
