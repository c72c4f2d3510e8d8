/* trace_softmax.c - `trace softmax`: the online softmax of one query, tile by tile, with real numbers.
 *
 * The arithmetic is that of the kernels (float, running maximum m, running sum l, output o that is
 * rescaled when m moves), small enough to follow by eye. `break=` leaves out what keeps it right.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "lesson/trace/trace_query.h"

enum { SHOWN = 8 };

struct softmax_row {
    int64_t tile, keys;
    char *scores;
    double tile_max, m, rescale, l, o, o_over_l;
    int64_t finite;
    double want, max_diff;
};

// clang-format off
#define INT(m_, ...)  FIELD(FIELD_INT, softmax_row, m_, .doc = __VA_ARGS__)
#define REAL(m_, ...) TRACE_REAL(softmax_row, m_, .doc = __VA_ARGS__)
static const struct field fields[] = {
    INT(tile, "The tile's number."),
    INT(keys, "How many keys it has."),
    FIELD(FIELD_TEXT, softmax_row, scores, .title = "scores of its keys", .doc = "Their scores."),
    REAL(tile_max, "Largest score of the tile.", .title = "max", .digits = 3),
    REAL(m,        "Largest score of all so far.", .digits = 3),
    REAL(rescale,  "exp(old m - new m), by which l and o are multiplied.", .digits = 3),
    REAL(l,        "Running sum of exponentials."),
    REAL(o,        "Running output, one column of it."),
    REAL(o_over_l, "The output if this were the last tile.", .title = "o/l"),
    INT(finite, "1: o_over_l is a number."),
    REAL(want,     "The right answer.", .title = "right"),
    REAL(max_diff, "The distance to it."),
    {.name = NULL},
};
#undef INT
#undef REAL
static const struct row_type softmax_type = ROW_TYPE(softmax_row, {fields, 0});

const struct columns trace_softmax_columns = {
    .type = &softmax_type,
    .list = (const struct column[]){
        {.field = "tile"},
        {.field = "scores", .drop = 4},
        {.field = "tile_max", .drop = 3},
        {.field = "m"},
        {.field = "rescale", .drop = 1},
        {.field = "l"},
        {.field = "o", .drop = 2},
        {.field = "o_over_l"},
        {.field = "want"},
        {0},
    },
};
// clang-format on

/* What a kernel keeps for a query row; of o, the first column is enough to see. */
struct state {
    float m, l, o;
};

struct step {
    int64_t from, to;
    float tile_max, rescale;
    struct state after;
};

static struct step one_tile(const struct trace *t, struct state s, int64_t from, int64_t to)
{
    struct step st = {.from = from, .to = to, .tile_max = -INFINITY};
    for (int64_t j = from; j < to; j++)
        st.tile_max = fmaxf(st.tile_max, t->score[j]);
    float m = t->broken == BREAK_MAX ? 0 : fmaxf(s.m, st.tile_max);
    st.rescale = from == 0 ? 0 : expf(s.m - m);
    if (t->broken == BREAK_RESCALE && from > 0)
        st.rescale = 1;
    st.after = (struct state){m, s.l * st.rescale, s.o * st.rescale};
    for (int64_t j = from; j < to; j++) {
        float p = expf(t->score[j] - m);
        st.after.l += p;
        st.after.o += p * t->v[j * t->shape.D];
    }
    return st;
}

/* "0.52 -1.30 2.11 ..." */
static char *scores_text(const struct trace *t, const struct step *st)
{
    struct str s = {0};
    for (int64_t j = st->from; j < st->to && j < st->from + SHOWN; j++)
        str_addf(&s, "%s%.2f", j > st->from ? " " : "", (double)t->score[j]);
    if (st->to - st->from > SHOWN)
        str_add(&s, " ...");
    return str_take(&s);
}

static void add_step(struct rowset *rows, const struct trace *t, const struct step *st,
                     int64_t tile, double right)
{
    struct softmax_row *row = rowset_add(rows);
    const double now = (double)st->after.o / (double)st->after.l;
    row->tile = tile;
    row->keys = st->to - st->from;
    row->scores = scores_text(t, st);
    row->tile_max = (double)st->tile_max;
    row->m = (double)st->after.m;
    row->rescale = (double)st->rescale;
    row->l = (double)st->after.l;
    row->o = (double)st->after.o;
    row->o_over_l = now;
    row->finite = isfinite(now);
    row->want = right;
    row->max_diff = fabs(now - right);
}

static void trace_rows(const struct trace *t, struct rowset *rows)
{
    struct state s = {-INFINITY, 0, 0};
    double right = trace_right_output(t);
    for (int64_t from = 0, tile = 0; from < t->shape.Sk; from += t->bc, tile++) {
        int64_t to = from + t->bc < t->shape.Sk ? from + t->bc : t->shape.Sk;
        struct step st = one_tile(t, s, from, to);
        add_step(rows, t, &st, tile, right);
        s = st.after;
    }
}

const struct trace_view trace_softmax = {
    .word = "softmax",
    .rows = trace_rows,
    .columns = &trace_softmax_columns,
    .breaks = 1u << BREAK_RESCALE | 1u << BREAK_MAX,
};
