/* carrier_pairs.c - see carrier_pairs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/carrier_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void pairs_clear(struct pairs *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i].key);
    free(p->v);
    p->v = NULL;
    p->n = p->cap = 0;
}

static const char *word(const char *text)
{
    return text ? text : "";
}

static bool is(const char *text, const char *what)
{
    return text && !strcmp(text, what);
}

/* NCCL's rows name its version. Copies through the host are no answer to what straight ones take. */
static int way_of(const struct run_row *row)
{
    return !row->transport                       ? CARRIER_WAYS
           : !strncmp(row->transport, "nccl", 4) ? CARRIER_NCCL
           : !strcmp(row->transport, "peer")     ? CARRIER_COPIES
                                                 : CARRIER_WAYS;
}

static bool is_of(const struct pairs *p, const struct run_row *row)
{
    const struct device *d;
    return row->gpus == p->gpus && row->median_us > 0 && is(row->check, "pass") && !row->host &&
           (!row->origin || is(row->origin, "live") || is(row->origin, "recorded")) &&
           row->device && devices_get(p->devices, row->device, &d, NULL) == ST_OK && d == p->gpu;
}

static struct pair *find(struct pairs *p, const struct run_row *row)
{
    char *key = xasprintf("%s|%s|%s|%s|%s", word(row->kernel), word(row->source_hash),
                          word(row->params), word(row->shape), word(row->l2));
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->v[i].key, key)) {
            free(key);
            return &p->v[i];
        }
    xgrow((void **)&p->v, &p->cap, p->n + 1, sizeof *p->v);
    p->v[p->n] = (struct pair){.key = key};
    return &p->v[p->n++];
}

/* Of several times of one run the shortest counts. */
void pairs_take(void *ctx, const struct run_row *row)
{
    struct pairs *p = ctx;
    const int way = way_of(row);
    if (way == CARRIER_WAYS || !is_of(p, row))
        return;
    double *us = &find(p, row)->us[way];
    *us = *us > 0 ? fmin(*us, row->median_us) : row->median_us;
}

struct lean pairs_lean(const struct pairs *p)
{
    struct lean l = {0};
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double *us = p->v[i].us;
        if (!(us[CARRIER_NCCL] > 0) || !(us[CARRIER_COPIES] > 0))
            continue;
        l.pairs++;
        l.faster += us[CARRIER_COPIES] < us[CARRIER_NCCL];
        sum += log(us[CARRIER_COPIES] / us[CARRIER_NCCL]);
    }
    l.ratio = l.pairs ? exp(sum / l.pairs) : NAN;
    return l;
}

/* ---- what is remembered ---- */

void carrier_forget(struct carrier_known *k)
{
    const bool told = k->told;
    free(k->from);
    *k = (struct carrier_known){.told = told};
}

void carriers_free(struct carriers *x)
{
    for (int i = 0; x && i <= BACKEND_GPUS_MAX; i++)
        carrier_forget(&x->of[i]);
    free(x);
}
