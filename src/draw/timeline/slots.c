/* slots.c - see slots.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/timeline/slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draw/timeline.h"

int slot_column(const struct slot_scale *s, double us)
{
    const double at = (us - s->begin_us) / s->column_us + 1e-6; /* 2.9999999 is 3 */
    return !(at > 0) ? 0 : at < s->columns ? (int)at : s->columns;
}

int timeline_fit(const struct block_panel *s, int lines)
{
    return lines < 1 ? 1 : ((int)s->shown + lines - 1) / lines;
}

static void begin_lines(struct slot_lines *l, const struct block_panel *p, int from)
{
    const int lanes = (int)p->lanes, rows = (int)p->shown - from;
    *l = (struct slot_lines){.from = from, .rows = rows > 0 ? rows : 0, .lanes = lanes};
    const size_t slots = (size_t)l->rows * (size_t)lanes;
    l->v = xcalloc(slots + 1, sizeof *l->v);
    l->of = xcalloc(slots + 1, sizeof *l->of);
    for (size_t i = 0; i < slots; i++)
        l->of[i] = -1;
}

void slots_clear(struct slot_lines *l)
{
    free(l->v);
    free(l->of);
    *l = (struct slot_lines){.n = 0};
}

/* Rows count from the first one shown. */
static void add_line(struct slot_lines *l, struct slot_line line)
{
    for (int r = line.row; r < line.row + line.rows; r++)
        for (int k = line.lane; k < line.lane + line.lanes; k++)
            l->of[r * l->lanes + k] = l->n;
    line.row += l->from;
    l->v[l->n++] = line;
}

/* Later passes may have more slots than the main one: what is beyond stands in the last. */
static int slot_of(const struct slot_lines *l, const struct block_span *b)
{
    const int row = (int)b->row - l->from, last = l->lanes - 1;
    if (row < 0 || row >= l->rows)
        return -1;
    return row * l->lanes + (b->lane < last ? (int)b->lane : last);
}

int slots_line(const struct slot_lines *l, const struct block_span *b)
{
    const int slot = slot_of(l, b);
    return slot < 0 ? -1 : l->of[slot];
}

bool slots_leads(const struct slot_lines *l, int line)
{
    return line == 0 || l->v[line].row != l->v[line - 1].row;
}

/* ---- what does the same ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* What each slot does: a sum over its blocks, so that their order does not matter. */
static uint64_t *find_deeds(const struct slot_lines *l, const struct block_panel *p,
                            const struct slot_scale *s)
{
    uint64_t *deeds = xcalloc((size_t)l->rows * (size_t)l->lanes + 1, sizeof *deeds);
    for (int i = 0; i < p->n; i++) {
        const struct block_span *b = &p->spans[i];
        const int slot = slot_of(l, b), from = slot_column(s, b->begin_us),
                  to = slot_column(s, b->end_us);
        if (slot >= 0 && to > 0 && from < s->columns)
            deeds[slot] += mix(mix(mix(1, (uint64_t)b->pass), (uint64_t)from), (uint64_t)to) | 1;
    }
    return deeds;
}

static bool same_rows(const struct slot_lines *l, const uint64_t *deeds, int a, int b)
{
    const size_t size = (size_t)l->lanes * sizeof *deeds;
    return memcmp(deeds + (size_t)a * (size_t)l->lanes, deeds + (size_t)b * (size_t)l->lanes,
                  size) == 0;
}

/* Slots of rows that do the same: each its line, or neighbours that do the same one. */
static void add_slots(struct slot_lines *l, const uint64_t *deeds, int row, int rows)
{
    const uint64_t *of = deeds + (size_t)row * (size_t)l->lanes;
    for (int lane = 0, n; lane < l->lanes; lane += n) {
        for (n = 1; lane + n < l->lanes && of[lane + n] == of[lane];)
            n++;
        add_line(l, (struct slot_line){row, rows, lane, n, true});
    }
}

/* With the slots of a row on lines of their own, or on one. */
static void add_alike(struct slot_lines *l, const uint64_t *deeds, bool apart)
{
    l->n = 0;
    for (int row = 0, n; row < l->rows; row += n) {
        for (n = 1; row + n < l->rows && same_rows(l, deeds, row, row + n);)
            n++;
        if (apart)
            add_slots(l, deeds, row, n);
        else
            add_line(l, (struct slot_line){row, n, 0, l->lanes, false});
    }
}

bool slots_alike(struct slot_lines *out, const struct block_panel *p, int from,
                 const struct slot_scale *s, int most)
{
    begin_lines(out, p, from);
    uint64_t *deeds = find_deeds(out, p, s);
    add_alike(out, deeds, true);
    if (out->n > most)
        add_alike(out, deeds, false);
    free(deeds);
    if (out->n <= most)
        return true;
    slots_clear(out);
    return false;
}

void slots_rows(struct slot_lines *out, const struct block_panel *p, const struct slot_scale *s)
{
    begin_lines(out, p, 0);
    uint64_t *deeds = find_deeds(out, p, s);
    add_alike(out, deeds, false);
    free(deeds);
}

void slots_even(struct slot_lines *out, const struct block_panel *p, int from, int per, int most)
{
    begin_lines(out, p, from);
    const bool apart = per == 1 && out->rows * out->lanes <= most;
    for (int row = 0; row < out->rows && out->n < most; row += per) {
        const int left = out->rows - row, rows = per < left ? per : left;
        for (int lane = 0; lane < (apart ? out->lanes : 1); lane++)
            add_line(out, (struct slot_line){row, rows, lane, apart ? 1 : out->lanes, apart});
    }
}
