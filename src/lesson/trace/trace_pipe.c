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

struct pipe_row {
    int64_t tile, buffer, copy_cycle, there_cycle, begin_cycle, end_cycle, wait_cycles;
    char *k_of, *v_of;
    double o_over_l, want, max_diff;
    char *origin;
};

// clang-format off
#define INT(m_, ...)   FIELD(FIELD_INT, pipe_row, m_, .doc = __VA_ARGS__)
#define CYCLE(m_, ...) FIELD(FIELD_INT, pipe_row, m_, .unit = "cycles", .doc = __VA_ARGS__)
#define TILE(m_, ...)  FIELD(FIELD_TEXT, pipe_row, m_, .flags = FIELD_NUMERIC, .doc = __VA_ARGS__)
#define REAL(m_, ...)  TRACE_REAL(pipe_row, m_, .doc = __VA_ARGS__)
static const struct field fields[] = {
    INT(tile,   "The tile's number."),
    INT(buffer, "Where it is copied to.", .title = "buf"),
    CYCLE(copy_cycle,  "When its copy begins.", .title = "copy"),
    CYCLE(there_cycle, "When its copy has arrived.", .title = "there"),
    CYCLE(begin_cycle, "When its work begins.", .title = "begins"),
    CYCLE(end_cycle,   "When its work ends.", .title = "ends"),
    CYCLE(wait_cycles, "How long the work before it had ended when it began.", .title = "waits"),
    TILE(k_of, "Which tile's K was in the buffer when it was worked on; old: an earlier block's.", .title = "K of"),
    TILE(v_of, "The same of V.", .title = "V of"),
    REAL(o_over_l, "The output if this were the last tile.", .title = "o/l", .digits = 3),
    REAL(want,     "The right answer.", .title = "right"),
    REAL(max_diff, "The distance to it."),
    FIELD(FIELD_TEXT, pipe_row, origin, .doc = "model: its cycles are computed."),
    {.name = NULL},
};
#undef INT
#undef CYCLE
#undef TILE
#undef REAL
static const struct row_type pipe_type = ROW_TYPE(pipe_row, {fields, 0});

const struct columns trace_pipe_columns = {
    .type = &pipe_type,
    .list = (const struct column[]){
        {.field = "tile"},
        {.field = "buffer"},
        {.field = "copy_cycle", .drop = 2},
        {.field = "there_cycle", .drop = 1},
        {.field = "begin_cycle"},
        {.field = "end_cycle"},
        {.field = "wait_cycles"},
        {.field = "k_of"},
        {.field = "v_of"},
        {.field = "o_over_l"},
        {.field = "want"},
        {.field = "origin", .drop = 3},
        {0},
    },
};
// clang-format on

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

static char *tile_word(int64_t tile)
{
    return tile < 0 ? xstrdup("old") : xasprintf("%lld", (long long)tile);
}

static void add_row(struct rowset *rows, const struct pipe *p, int64_t i, double right)
{
    const struct tile *it = &p->tiles[i];
    struct pipe_row *row = rowset_add(rows);
    row->tile = i;
    row->buffer = i % p->t->stages;
    row->copy_cycle = it->copy;
    row->there_cycle = it->there;
    row->begin_cycle = it->begin;
    row->end_cycle = it->end;
    row->wait_cycles = it->waits;
    row->k_of = tile_word(it->k);
    row->v_of = tile_word(it->v);
    row->o_over_l = (double)p->o / (double)p->l;
    row->want = right;
    row->max_diff = fabs(row->o_over_l - right);
    row->origin = xstrdup("model");
}

static void trace_pipe_rows(const struct trace *t, struct rowset *rows)
{
    struct trace before = *t;
    before.seed++;
    trace_make(&before);
    struct pipe p = {.t = t, .before = &before, .ntiles = t->shape.Sk / t->bc, .m = -INFINITY};
    p.tiles = xcalloc((size_t)p.ntiles, sizeof *p.tiles);
    schedule(&p);
    const double right = trace_right_output(t);
    for (int64_t i = 0; i < p.ntiles; i++) {
        struct tile *it = &p.tiles[i];
        it->k = found(&p, i, it->begin);
        it->v = found(&p, i, it->begin + t->work / 2);
        add_tile(&p, it);
        add_row(rows, &p, i, right);
    }
    free(p.tiles);
    trace_clear(&before);
}

const struct trace_view trace_pipe = {
    .word = "pipe",
    .rows = trace_pipe_rows,
    .columns = &trace_pipe_columns,
    .breaks = 1u << BREAK_WAIT | 1u << BREAK_EMPTY,
    .whole_tiles = true,
};
