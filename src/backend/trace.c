/* trace.c - stamps of blocks as JSON for the wire.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/trace.h"

#include <stdlib.h>
#include <string.h>

void block_trace_clear(struct block_trace *t)
{
    free(t->stamps);
    free(t->parts);
    free(t->note);
    *t = (struct block_trace){0};
}

int64_t block_trace_count(const struct block_trace *t)
{
    int64_t n = 0;
    for (int i = 0; i < t->npasses; i++)
        n += t->blocks[i];
    return n;
}

enum status block_trace_check(const char *kernel, int64_t blocks, struct err *err)
{
    if (blocks <= TRACE_BLOCKS_MAX)
        return ST_OK;
    return err_set(err, ST_NO,
                   "%s has %lld blocks here, and a trace holds %d: try smaller B, H or S", kernel,
                   (long long)blocks, TRACE_BLOCKS_MAX);
}

static json_t *parts_to_json(const struct block_trace *t, int64_t zero)
{
    json_t *list = t->nparts ? json_array() : NULL;
    for (int64_t i = 0; i < t->nparts; i++) {
        const struct stamp *s = &t->parts[i];
        json_array_append_new(list, json_pack("[i, i, I, I]", (int)s->holds, (int)s->row,
                                              (json_int_t)(s->begin_ns - zero),
                                              (json_int_t)(s->end_ns - s->begin_ns)));
    }
    return list;
}

json_t *block_trace_to_json(const struct block_trace *t)
{
    const int64_t n = block_trace_count(t);
    json_t *blocks = json_array(), *row = json_array(), *begin = json_array(), *ran = json_array();
    json_t *holds = t->unit && !strcmp(t->unit, "GPU") ? json_array() : NULL;
    int64_t zero = n ? t->stamps[0].begin_ns : 0;
    for (int64_t i = 1; i < n; i++)
        zero = t->stamps[i].begin_ns < zero ? t->stamps[i].begin_ns : zero;
    for (int i = 0; i < t->npasses; i++)
        json_array_append_new(blocks, json_integer(t->blocks[i]));
    for (int64_t i = 0; i < n; i++) {
        const struct stamp *s = &t->stamps[i];
        json_array_append_new(row, json_integer(s->row));
        json_array_append_new(begin, json_integer(s->begin_ns - zero));
        json_array_append_new(ran, json_integer(s->end_ns - s->begin_ns));
        if (holds)
            json_array_append_new(holds, json_integer(s->holds));
    }
    return json_pack("{s:s, s:i, s:i, s:I, s:o, s:o, s:o, s:o, s:s?, s:o*, s:o*}", "unit", t->unit,
                     "rows", t->rows, "lanes", t->lanes, "step_ns", (json_int_t)t->step_ns,
                     "blocks", blocks, "row", row, "begin_ns", begin, "ran_ns", ran, "note",
                     t->note, "holds", holds, "parts", parts_to_json(t, zero));
}
