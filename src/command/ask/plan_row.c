/* plan_row.c - a kernel's plan as a row.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/plan_row.h"

#include <string.h>

#include "command/ask/request.h"

static void add_text(json_t *row, const char *key, const char *text)
{
    if (text)
        json_object_set_new(row, key, json_string(text));
}

/* kernel and gpu first, so that CSV and people find them there. */
static json_t *named_row(const struct request *r, int i, const struct device *dev, json_t *plan)
{
    char text[512];
    json_t *row = json_object();
    add_text(row, "kernel", r->kernels[i]->name);
    add_text(row, "gpu", dev->name);
    shape_format(&r->problem.shape, text, sizeof text);
    add_text(row, "shape", text);
    desc_params_format(request_desc(r, i), &r->params[i], false, text, sizeof text);
    add_text(row, "params", text);
    json_object_set_new(row, "reason", json_null());
    json_object_set_new(row, "origin", json_string("model"));
    if (plan)
        json_object_update(row, plan);
    json_decref(plan);
    return row;
}

enum status plan_row(const struct request *r, int i, const struct device *dev, struct plan *plan,
                     json_t **row, struct err *err)
{
    return plan_row_with(r, i, dev, NULL, plan, row, err);
}

enum status plan_row_with(const struct request *r, int i, const struct device *dev,
                          const struct plan_regs *regs, struct plan *plan, json_t **row,
                          struct err *err)
{
    struct plan local = {0}, *p = plan ? plan : &local;
    struct err why = ERR_INIT;
    memset(p, 0, sizeof *p);
    if (!r->kernels[i]->cuda) {
        *row = named_row(r, i, dev, NULL);
        err_set(&why, ST_NO, "%s has no CUDA source to plan", r->kernels[i]->name);
        add_text(*row, "reason", why.text);
        return ST_OK;
    }
    enum status st =
        plan_build(r->kernels[i]->cuda, &r->problem.shape, &r->params[i], dev, regs, p, &why);
    if (st != ST_OK && st != ST_NO) {
        plan_clear(p);
        return err_set(err, st, "%s", why.text);
    }
    *row = named_row(r, i, dev, plan_to_json(p));
    if (st)
        add_text(*row, "reason", why.text);
    if (!plan)
        plan_clear(p);
    return ST_OK;
}
