/* trace_pipe.c - `trace pipe`: a block whose tiles are copied in the background, into STAGES buffers,
 * while it multiplies. Times are cycles of a simple model, values are real: what a product reads is
 * what lies in its buffer at that moment.
 *
 * A copy of tile t into buffer t mod STAGES begins when the tile there before is used up, no sooner
 * than `issue` cycles after the copy before it, and takes `load` cycles. A tile's work begins when the
 * tile is there and the work before it is done, and takes `work` cycles: K is read when it begins, V
 * halfway. break=wait does not wait for copies, but for the first; break=empty copies into buffers
 * that are still in use.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/mem.h"
#include "lesson/trace/trace_query.h"

struct tile {
    int64_t copy, there; /* cycles: its copy begins and ends, */
    int64_t begin, end;  /* its work begins and ends */
    int64_t waits;       /* cycles without work before */
    int64_t k, v; /* the tiles that were found in its buffer, -1: what an earlier block left */
};

struct pipe {
    const struct trace *t, *before; /* before: what an earlier block left */
    int64_t ntiles;
    struct tile *tiles;
    float m, l, o;
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Cycles of copies and of work. Each depends on earlier tiles alone. */
static void schedule(struct pipe *p)
{
    const struct trace *t = p->t;
    for (int64_t i = 0; i < p->ntiles; i++) {
        struct tile *it = &p->tiles[i];
        const int64_t done = i ? p->tiles[i - 1].end : 0;
        it->copy = i ? p->tiles[i - 1].copy + t->issue : 0;
        if (i >= t->stages && t->broken != BREAK_EMPTY)
            it->copy = later(it->copy, p->tiles[i - t->stages].end);
        it->there = it->copy + t->load;
        it->begin = t->broken == BREAK_WAIT && i ? done : later(done, it->there);
        it->end = it->begin + t->work;
        it->waits = it->begin - done;
    }
}

/* The tile that lies in the buffer of tile i at a moment: the last one that was copied there. */
static int64_t found(const struct pipe *p, int64_t i, int64_t cycle)
{
    int64_t last = -1;
    for (int64_t k = i % p->t->stages; k < p->ntiles; k += p->t->stages)
        if (p->tiles[k].there <= cycle)
            last = k;
    return last;
}

/* Score and value of key x of a tile; tile -1 is an earlier block's first. */
static float score_of(const struct pipe *p, int64_t tile, int64_t x)
{
    return tile < 0 ? p->before->score[x] : p->t->score[tile * p->t->bc + x];
}

static float value_of(const struct pipe *p, int64_t tile, int64_t x)
{
    const int64_t D = p->t->shape.D;
    return tile < 0 ? p->before->v[x * D] : p->t->v[(tile * p->t->bc + x) * D];
}

/* Online softmax, with what was found. */
static void add_tile(struct pipe *p, const struct tile *it)
{
    float m = p->m;
    for (int64_t x = 0; x < p->t->bc; x++)
        m = fmaxf(m, score_of(p, it->k, x));
    const float rescale = expf(p->m - m);
    p->l *= rescale;
    p->o *= rescale;
    p->m = m;
    for (int64_t x = 0; x < p->t->bc; x++) {
        const float e = expf(score_of(p, it->k, x) - m);
        p->l += e;
        p->o += e * value_of(p, it->v, x);
    }
}

static json_t *tile_word(int64_t tile)
{
    return tile < 0 ? json_string("old") : json_integer(tile);
}

static json_t *tile_row(const struct pipe *p, int64_t i, double right)
{
    const struct tile *it = &p->tiles[i];
    const double now = (double)p->o / (double)p->l;
    json_t *row =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "tile", (json_int_t)i, "buffer",
                  (json_int_t)(i % p->t->stages), "copy_cycle", (json_int_t)it->copy, "there_cycle",
                  (json_int_t)it->there, "begin_cycle", (json_int_t)it->begin, "end_cycle",
                  (json_int_t)it->end, "wait_cycles", (json_int_t)it->waits);
    json_object_set_new(row, "k_of", tile_word(it->k));
    json_object_set_new(row, "v_of", tile_word(it->v));
    json_object_set_new(row, "o_over_l", trace_real(now));
    json_object_set_new(row, "want", trace_real(right));
    json_object_set_new(row, "max_diff", trace_real(fabs(now - right)));
    json_object_set_new(row, "origin", json_string("model")); /* of its cycles */
    return row;
}

// clang-format off
static const struct columns trace_pipe_columns[1] = {{
    .list = (const struct column[]){
        {.field = "tile",        .title = "tile"},
        {.field = "buffer",      .title = "buf"},
        {.field = "copy_cycle",  .title = "copy"},
        {.field = "there_cycle", .title = "there"},
        {.field = "begin_cycle", .title = "begins"},
        {.field = "end_cycle",   .title = "ends"},
        {.field = "wait_cycles", .title = "waits"},
        {.field = "k_of",        .title = "K of"},
        {.field = "v_of",        .title = "V of"},
        {.field = "o_over_l",    .title = "o/l",   .digits = 3},
        {.field = "want",        .title = "right", .digits = 4},
        {.field = "origin",      .title = "origin", .left = true, .drop = 1},
        {0},
    },
}};
// clang-format on

static json_t *trace_pipe_rows(const struct trace *t)
{
    struct trace before = *t;
    before.seed++;
    trace_make(&before);
    struct pipe p = {.t = t, .before = &before, .ntiles = t->shape.Sk / t->bc, .m = -INFINITY};
    p.tiles = xcalloc((size_t)p.ntiles, sizeof *p.tiles);
    schedule(&p);
    json_t *rows = json_array();
    const double right = trace_right_output(t);
    for (int64_t i = 0; i < p.ntiles; i++) {
        struct tile *it = &p.tiles[i];
        it->k = found(&p, i, it->begin);
        it->v = found(&p, i, it->begin + t->work / 2);
        add_tile(&p, it);
        json_array_append_new(rows, tile_row(&p, i, right));
    }
    free(p.tiles);
    trace_clear(&before);
    return rows;
}

const struct trace_view trace_pipe = {
    .word = "pipe",
    .rows = trace_pipe_rows,
    .columns = trace_pipe_columns,
    .breaks = 1u << BREAK_WAIT | 1u << BREAK_EMPTY,
    .whole_tiles = true,
};
