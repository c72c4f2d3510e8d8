/* tune_values.c - see tune_values.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/tune_values.h"

#include <stdlib.h>
#include <string.h>

const struct tune_side tune_sides[] = {
    {.name = "BR"}, {.name = "QUERIES"}, {.name = "BC", .keys = true}, {.name = NULL}};

static const struct tune_side *side_of(const char *name)
{
    const struct tune_side *side = tune_sides;
    while (side->name && strcmp(side->name, name) != 0)
        side++;
    return side->name ? side : NULL;
}

/* Every other side as small as its range has it. */
static void shrink_others(const struct kernel_desc *d, int param, struct param_values *v)
{
    for (int i = 0; i < d->nparams; i++)
        if (i != param && side_of(d->params[i].name) && d->params[i].lo > 0)
            v->v[i] = (int64_t)d->params[i].lo;
}

static bool plans(const struct kernel_desc *d, const struct shape *s, const struct param_values *v,
                  const struct device *gpu)
{
    struct plan p = {0};
    const bool may = plan_build(d, s, v, gpu, NULL, &p, NULL) == ST_OK;
    plan_clear(&p);
    return may;
}

static bool is_refused(const struct kernel_desc *d, int param, const struct shape *s,
                       const struct device *gpu, int64_t value)
{
    struct param_values usual = desc_defaults_for(d, s), small = usual;
    shrink_others(d, param, &small);
    usual.v[param] = small.v[param] = value;
    return gpu && !plans(d, s, &usual, gpu) && !plans(d, s, &small, gpu);
}

bool tune_covers(const struct kernel_desc *d, int param, const struct shape *s,
                 const struct device *gpu, int64_t value)
{
    const struct tune_side *side = side_of(d->params[param].name);
    return side && value >= (side->keys ? s->Sk : s->Sq) && !is_refused(d, param, s, gpu, value);
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* All of them: doubled from the smallest on, the largest, and the default, but none that is longer than the shape needs. */
static int all_values(const struct kernel_desc *d, int param, const struct shape *s,
                      const struct device *gpu, int64_t usual, int64_t out[TUNE_VALUES_MAX])
{
    const struct field *f = &d->params[param];
    const int64_t lo = (int64_t)f->lo, hi = (int64_t)f->hi;
    int n = 0, kept = 0;
    for (int64_t v = lo > 0 ? lo : 1; v <= hi && n < TUNE_VALUES_MAX - 2; v *= 2)
        out[n++] = v;
    out[n++] = hi;
    out[n++] = usual;
    qsort(out, (size_t)n, sizeof *out, by_size);
    bool covered = false;
    for (int i = 0; i < n; i++) {
        if ((kept && out[kept - 1] == out[i]) || (covered && out[i] != usual))
            continue;
        covered = covered || tune_covers(d, param, s, gpu, out[i]);
        out[kept++] = out[i];
    }
    return kept;
}

int tune_values(const struct kernel_desc *d, int param, const struct shape *s,
                const struct device *gpu, int64_t out[TUNE_VALUES_MAX])
{
    const int64_t usual = desc_defaults_for(d, s).v[param];
    const int n = all_values(d, param, s, gpu, usual, out);
    int first = 0;
    while (out[first] != usual)
        first++;
    int last = first;
    while (first > 0 && !is_refused(d, param, s, gpu, out[--first]))
        ;
    while (last < n - 1 && !is_refused(d, param, s, gpu, out[++last]))
        ;
    memmove(out, out + first, (size_t)(last - first + 1) * sizeof *out);
    return last - first + 1;
}
