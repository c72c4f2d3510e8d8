/* schedule_json.c - schedules from a worker's stamps, and as rows for programs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "plan/schedule.h"

/* ---- in ---- */

static int64_t whole(const json_t *v, int64_t lo, int64_t hi)
{
    const int64_t x = json_is_integer(v) ? json_integer_value(v) : lo - 1;
    return x >= lo && x <= hi ? x : INT_UNKNOWN;
}

static int64_t member(const json_t *o, const char *name, int64_t lo, int64_t hi)
{
    return whole(json_object_get(o, name), lo, hi);
}

/* Counts of the passes; the total, or INT_UNKNOWN. */
static int64_t read_passes(const json_t *list, int64_t counts[DESC_PASSES_MAX], int *npasses)
{
    int64_t total = 0;
    *npasses = (int)json_array_size(list);
    if (*npasses < 1 || *npasses > DESC_PASSES_MAX)
        return INT_UNKNOWN;
    for (int i = 0; i < *npasses; i++) {
        counts[i] = whole(json_array_get(list, (size_t)i), 1, SCHED_BLOCKS_MAX);
        if (counts[i] == INT_UNKNOWN || (total += counts[i]) > SCHED_BLOCKS_MAX)
            return INT_UNKNOWN;
    }
    return total;
}

static bool read_block(const json_t *o, size_t i, int rows, struct sched_block *b)
{
    enum { LONG_NS = 1 << 30 }; /* the members below are ns, and a run ends within minutes */
    const int64_t most = (int64_t)LONG_NS * 1000;
    const int64_t row = whole(json_array_get(json_object_get(o, "row"), i), 0, rows - 1);
    const int64_t begin = whole(json_array_get(json_object_get(o, "begin_ns"), i), 0, most);
    const int64_t ran = whole(json_array_get(json_object_get(o, "ran_ns"), i), 0, most);
    if (row == INT_UNKNOWN || begin == INT_UNKNOWN || ran == INT_UNKNOWN)
        return false;
    b->row = (int32_t)row;
    b->begin_us = (double)begin * 1e-3;
    b->end_us = (double)(begin + ran) * 1e-3;
    return true;
}

/* What blocks of the first pass, `blocks` of them, handed to other rows. */
static bool read_parts(const json_t *parts, int64_t blocks, struct schedule *s)
{
    enum { PARTS_MAX = 1 << 12, LONG_NS = 1 << 30 };
    const int64_t most = (int64_t)LONG_NS * 1000;
    const size_t n = json_array_size(parts);
    if (n > PARTS_MAX)
        return false;
    s->blocks = xrealloc(s->blocks, ((size_t)s->nblocks + n) * sizeof *s->blocks);
    for (size_t i = 0; i < n; i++) {
        const json_t *p = json_array_get(parts, i);
        const int64_t block = whole(json_array_get(p, 0), 0, blocks - 1),
                      row = whole(json_array_get(p, 1), 0, s->rows - 1),
                      begin = whole(json_array_get(p, 2), 0, most),
                      ran = whole(json_array_get(p, 3), 0, most);
        if (block == INT_UNKNOWN || row == INT_UNKNOWN || begin == INT_UNKNOWN ||
            ran == INT_UNKNOWN)
            return false;
        s->blocks[s->nblocks++] = (struct sched_block){.index = block,
                                                       .row = (int32_t)row,
                                                       .part = true,
                                                       .course = -1,
                                                       .begin_us = (double)begin * 1e-3,
                                                       .end_us = (double)(begin + ran) * 1e-3};
    }
    return true;
}

static bool read_blocks(const json_t *o, struct schedule *s)
{
    int64_t counts[DESC_PASSES_MAX];
    enum { ROWS_MAX = 4096, LANES_MAX = 64 };
    const int64_t rows = member(o, "rows", 1, ROWS_MAX), lanes = member(o, "lanes", 0, LANES_MAX);
    const int64_t n = read_passes(json_object_get(o, "blocks"), counts, &s->npasses);
    if (rows == INT_UNKNOWN || lanes == INT_UNKNOWN || n == INT_UNKNOWN)
        return false;
    s->rows = (int)rows;
    s->lanes = (int)lanes;
    s->blocks = xcalloc((size_t)n, sizeof *s->blocks);
    for (int pass = 0; pass < s->npasses; pass++)
        for (int64_t i = 0; i < counts[pass]; i++, s->nblocks++) {
            s->blocks[s->nblocks] = (struct sched_block){.index = i, .pass = pass, .course = -1};
            if (!read_block(o, (size_t)s->nblocks, s->rows, &s->blocks[s->nblocks]))
                return false;
        }
    return read_parts(json_object_get(o, "parts"), counts[0], s);
}

/* Of several GPUs a block is a step, and what it worked on is known by whose keys it had. */
static bool name_steps(const json_t *holds, struct schedule *s)
{
    for (int64_t i = 0; i < s->nblocks; i++) {
        const int64_t whose = whole(json_array_get(holds, (size_t)i), 0, s->rows - 1);
        if (whose == INT_UNKNOWN)
            return false;
        s->blocks[i].work =
            (struct sched_work){.tile = (int32_t)whose, .head = -1, .split = -1, .steps = -1};
    }
    s->tile_rows = 0;
    for (int i = 0; i < s->npasses; i++)
        snprintf(s->passes[i], sizeof s->passes[i], "step");
    return true;
}

enum status sched_from_stamps(const json_t *stamps, const struct kernel_desc *d,
                              const struct param_values *v, const struct shape *shape,
                              struct schedule *out, char **note, struct err *err)
{
    const char *unit = json_string_value(json_object_get(stamps, "unit"));
    const char *said = json_string_value(json_object_get(stamps, "note"));
    *out = (struct schedule){0};
    const bool gpus = unit && strcmp(unit, "GPU") == 0;
    out->unit = gpus ? "GPU" : unit && strcmp(unit, "thread") == 0 ? "thread" : "SM";
    *note = said ? sanitize_line(said) : NULL;
    if (!json_is_object(stamps) || !read_blocks(stamps, out))
        return err_set(err, ST_FAIL, "%s: the worker's stamps make no sense", d->name);
    for (int i = 0; i < out->npasses; i++)
        snprintf(out->passes[i], sizeof out->passes[i], "%s",
                 i < d->npasses ? d->passes[i].name : "");
    sched_arrange(out, d, v, shape);
    return !gpus || name_steps(json_object_get(stamps, "holds"), out)
               ? ST_OK
               : err_set(err, ST_FAIL, "%s: the worker's stamps make no sense", d->name);
}

/* ---- out ---- */

static json_t *whole_or_null(int64_t v)
{
    return v < 0 ? json_null() : json_integer(v);
}

static json_t *time_or_null(bool known, double v)
{
    return known ? json_real(v) : json_null();
}

json_t *sched_blocks_json(const struct schedule *s)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < s->nblocks; i++) {
        const struct sched_block *b = &s->blocks[i];
        const bool model = s->block_us > 0;
        const double unit = model ? s->block_us : 1;
        json_array_append_new(
            list,
            json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:b}",
                      "pass", s->passes[b->pass], "block", (json_int_t)b->index, "tile",
                      whole_or_null(b->work.tile), "head", whole_or_null(b->work.head), "split",
                      whole_or_null(b->work.split), "kv_tiles", whole_or_null(b->work.steps), "row",
                      (int)b->row, "lane", (int)b->lane, "wave", (int)b->wave, "begin_us",
                      time_or_null(!model, b->begin_us), "end_us", time_or_null(!model, b->end_us),
                      "begin_blocks", time_or_null(model, b->begin_us / unit), "end_blocks",
                      time_or_null(model, b->end_us / unit), "course", whole_or_null(b->course),
                      "part", b->part));
    }
    return list;
}
