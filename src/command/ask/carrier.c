/* carrier.c - see carrier.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/carrier.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/carrier_pairs.h"
#include "command/ask/request.h"
#include "command/session.h"
#include "store/kept.h"
#include "store/recording.h"
#include "store/store.h"

/* ---- where they are from ---- */

static void look_at_own(struct session *s, struct pairs *p, struct carrier_known *k)
{
    enum { NEWEST = 2000 };
    const struct store_query q = {.backend = backend_gpu()->name, .limit = NEWEST};
    struct rowset rows = {.type = &stored_type};
    struct store *store = session_store(s);
    if (store && store_find(store, &q, &rows, NULL) == ST_OK)
        for (size_t i = 0; i < rows.n; i++)
            pairs_take(p, &row_kept(rows.rows[i])->run);
    rowset_clear(&rows);
    k->lean = pairs_lean(p);
}

/* The last recording in sight that has any: what was opened before what is shipped. */
static void look_at_recordings(struct session *s, struct pairs *p, struct carrier_known *k)
{
    struct library *l = session_library(s);
    struct library_source from;
    for (int i = 0; library_source(l, i, &from); i++) {
        const struct device *d = NULL;
        const bool named = from.device && devices_get(p->devices, from.device, &d, NULL) == ST_OK;
        free(from.device);
        if (!library_in_sight(l, i) || (named && d != p->gpu && from.place != PLACE_OPENED))
            continue;
        pairs_clear(p);
        library_scan(l, i, pairs_take, p);
        const struct lean lean = pairs_lean(p);
        if (!lean.pairs)
            continue;
        free(k->from);
        k->from = xasprintf("recording %s", from.name);
        k->lean = lean;
    }
}

static void look_up(struct session *s, const struct device *gpu, int gpus, struct carrier_known *k)
{
    struct pairs p = {.devices = s->services.devices, .gpu = gpu, .gpus = gpus};
    carrier_forget(k);
    k->gpu = gpu;
    look_at_own(s, &p, k);
    if (!k->lean.pairs)
        look_at_recordings(s, &p, k);
    pairs_clear(&p);
}

/* ---- what follows ---- */

/* As a verdict has it: within a hundredth they take the same. */
static bool leans_to_copies(const struct lean *l)
{
    return l->pairs && l->ratio < 0.99;
}

static void tell(struct session *s, int gpus, struct carrier_known *k)
{
    char ratio[NUMBER_BUF];
    if (k->told)
        return;
    k->told = true;
    session_note(s,
                 "transport=auto: straight copies, which took %s times as long as NCCL on %d %s "
                 "(%d of %d runs were faster, %s); transport=nccl asks for NCCL",
                 number_fmt(ratio, k->lean.ratio, 3), gpus, k->gpu->name, k->lean.faster,
                 k->lean.pairs, k->from ? k->from : "measured here");
}

static bool is_same(const char *a, const char *b)
{
    return a && !strcmp(a, b);
}

static bool is_open(const struct options *o, const char *backend)
{
    return o->gpus > 1 && o->gpus <= BACKEND_GPUS_MAX && o->transport == TRANSPORT_AUTO &&
           !o->nodes && !o->host && is_same(backend, backend_gpu()->name);
}

int carrier_for(struct session *s, const struct request *r, const char *backend)
{
    const struct options *o = &r->options;
    const struct device *gpu = is_open(o, backend) ? session_gpu(s, NULL, NULL) : NULL;
    if (!gpu || !session_gpu_is_here(s, gpu))
        return o->transport;
    if (!s->services.carriers)
        s->services.carriers = xcalloc(1, sizeof *s->services.carriers);
    struct carrier_known *k = &s->services.carriers->of[o->gpus];
    if (k->gpu != gpu)
        look_up(s, gpu, o->gpus, k);
    if (!leans_to_copies(&k->lean))
        return o->transport;
    tell(s, o->gpus, k);
    return TRANSPORT_PEER;
}

void carrier_saw(struct session *s, const struct run_row *row)
{
    struct carriers *x = s->services.carriers;
    if (x && run_row_is_shared(row) && row->gpus <= BACKEND_GPUS_MAX)
        carrier_forget(&x->of[row->gpus]);
}
