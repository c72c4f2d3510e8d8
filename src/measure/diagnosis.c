/* diagnosis.c - a diagnosis as fields of a row and as a sentence; see diagnose.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/mem.h"
#include "base/number.h"
#include "measure/diagnose.h"
#include "measure/reference.h"

static json_t *map_json(const struct diagnosis *d)
{
    json_t *map = json_array();
    for (int64_t h = 0; h < d->heads; h++) {
        json_t *line = json_array();
        for (int64_t i = 0; i < d->tiles; i++) {
            const double x = (double)d->share[h * d->tiles + i];
            json_array_append_new(line, isnan(x) ? json_null() : json_real(x));
        }
        json_array_append_new(map, line);
    }
    return map;
}

static json_t *causes_json(const struct diagnosis *d)
{
    json_t *causes = json_array();
    for (int i = 0; i < d->nsuspects; i++) {
        const struct suspect *x = &d->suspects[i];
        json_array_append_new(causes,
                              json_pack("{s:s, s:s, s:s, s:f, s:b}", "cause", x->cause->name,
                                        "text", x->cause->text, "where", x->cause->where,
                                        "explained", x->explained, "certain", x->certain));
    }
    return causes;
}

static json_t *first_json(const struct diagnosis *d, const struct shape *s)
{
    if (d->first < 0)
        return NULL;
    const struct row_place at = row_place_of(s, d->first);
    return json_pack("{s:I, s:I, s:I}", "b", (json_int_t)at.b, "h", (json_int_t)at.h, "row",
                     (json_int_t)at.i);
}

static void put(json_t **member, json_t *owned)
{
    json_decref(*member);
    *member = owned;
}

void diagnosis_fill(const struct diagnosis *d, const struct shape *s, struct run_row *row)
{
    row->bad_rows = d->wrong;
    row->bad_pct = d->judged > 0 ? 100 * (double)d->wrong / (double)d->judged : REAL_UNKNOWN;
    put(&row->first_bad, first_json(d, s));
    put(&row->causes, causes_json(d));
    put(&row->error_map, NULL);
    if (d->heads * d->tiles <= DIAGNOSE_CELLS)
        row->error_map = json_pack("{s:I, s:I, s:o}", "tile_rows", (json_int_t)d->tile_rows,
                                   "heads", (json_int_t)s->H, "share", map_json(d));
}

char *diagnosis_sentence(const struct diagnosis *d)
{
    const char *pattern = d->pattern ? d->pattern : "";
    if (!d->nsuspects)
        return d->pattern ? xasprintf("wrong: %s", pattern) : NULL;
    const struct suspect *s = &d->suspects[0];
    return xasprintf("%s: %s; look at: %s%s%s", s->certain ? "cause" : "likely cause",
                     s->cause->text, s->cause->where, *pattern ? "; wrong: " : "", pattern);
}
