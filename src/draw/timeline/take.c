/* take.c - a schedule as the model of its picture, see timeline.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "draw/timeline.h"

/* Rows so that at most `most` blocks are on them; all where that is enough. */
static int rows_within(const struct schedule *s, int64_t most)
{
    int64_t *on = xcalloc((size_t)s->rows + 1, sizeof *on), sum = 0;
    int rows = 0;
    for (int64_t i = 0; i < s->nblocks; i++)
        on[s->blocks[i].row]++;
    while (rows < s->rows && (sum += on[rows]) <= most)
        rows++;
    free(on);
    return rows > 0 ? rows : 1;
}

void block_take(struct block_panel *p, const struct schedule *s, int64_t most)
{
    const struct sched_summary sum = sched_summarise(s);
    const int rows = most > 0 ? rows_within(s, most) : s->rows;
    int n = 0;
    block_spans(p, s->npasses, (int)s->nblocks);
    for (int i = 0; i < s->npasses; i++)
        p->passes[i].text = xstrdup(s->passes[i]);
    for (int64_t i = 0; i < s->nblocks && (most <= 0 || n < most); i++) {
        const struct sched_block *b = &s->blocks[i];
        if (b->row < rows)
            p->spans[n++] = (struct block_span){
                b->pass,      b->row,        b->lane,   b->wave,     b->work.tile,
                b->work.head, b->work.split, b->course, b->begin_us, b->end_us};
    }
    p->n = n;
    p->origin = s->origin ? xstrdup(s->origin) : NULL;
    p->unit = xstrdup(s->unit ? s->unit : "SM");
    p->rows = s->rows;
    p->lanes = s->lanes;
    p->shown = rows;
    p->bound = s->bound;
    p->tile_rows = s->tile_rows;
    p->blocks = sum.blocks;
    p->slots = sum.slots;
    p->waves = sum.waves;
    p->span_us = s->span_us;
    p->block_us = s->block_us;
    p->busy_pct = sum.busy_pct;
    p->tail_pct = sum.tail_pct;
    p->imbalance = sum.imbalance;
}
