/* explain.c - every figure of a plan with its formula and the values put in.
 *
 * The figures are in explain_fit.c and explain_work.c, one function each, one table a file.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/explain.h"

#include <string.h>

#include "base/str.h"

void explain_line(const struct view *v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(v->out, fmt, ap);
    va_end(ap);
    str_addc(v->out, '\n');
}

void explain_formula(const struct view *v, const char *name, const char *formula, int64_t value,
                     const char *tail)
{
    const char *values = formula;
    for (const char *at = formula; (at = strstr(at, " = "));)
        values = at += 3;
    bool same = !strcmp(values, NUM(value));
    explain_line(v, "%s = %s%s%s%s", name, formula, same ? "" : " = ", same ? "" : NUM(value),
                 tail);
}

const char *explain_device(const struct view *v)
{
    return v->p->device ? v->p->device->name : "no device";
}

static const struct metric *metric_at(size_t i)
{
    for (const struct metric *m = explain_fit; m->name; m++)
        if (i-- == 0)
            return m;
    for (const struct metric *m = explain_work; m->name; m++)
        if (i-- == 0)
            return m;
    return NULL;
}

const char *plan_metric_name(const void *unused, size_t i)
{
    (void)unused;
    const struct metric *m = metric_at(i);
    return m ? m->name : NULL;
}

enum status plan_explain(const struct plan *p, const char *metric, struct str *out, struct err *err)
{
    const struct plan_pass *pass = p->npasses ? &p->passes[p->main_pass] : NULL;
    struct view v = {.p = p, .pass = pass, .occ = pass ? &pass->occ : NULL, .out = out};
    v.arch = p->device && p->device->cc ? arch_find(p->device->cc) : NULL;
    const struct metric *m;
    for (size_t i = 0; (m = metric_at(i)); i++)
        if (!strcmp(metric, m->name)) {
            m->explain(&v);
            return ST_OK;
        }
    const char *near = str_nearest(metric, plan_metric_name, NULL);
    return err_set(err, ST_USAGE, "nothing to explain under \"%s\"%s%s%s", metric,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}
