/* trace_softmax.c - `trace softmax`: the online softmax of one query, tile by tile, with real numbers.
 *
 * The arithmetic is that of the kernels (float, running maximum m, running sum l, output o that is
 * rescaled when m moves), small enough to follow by eye. `break=` leaves out what keeps it right.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "lesson/trace/trace_query.h"

enum { SHOWN = 8 };

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
static json_t *scores_text(const struct trace *t, const struct step *st)
{
    struct str s = {0};
    for (int64_t j = st->from; j < st->to && j < st->from + SHOWN; j++)
        str_addf(&s, "%s%.2f", j > st->from ? " " : "", (double)t->score[j]);
    if (st->to - st->from > SHOWN)
        str_add(&s, " ...");
    json_t *text = json_string(str_text(&s));
    str_free(&s);
    return text;
}

static json_t *step_row(const struct trace *t, const struct step *st, int64_t tile, double right)
{
    json_t *row = json_object();
    double now = (double)st->after.o / (double)st->after.l;
    json_object_set_new(row, "tile", json_integer(tile));
    json_object_set_new(row, "keys", json_integer(st->to - st->from));
    json_object_set_new(row, "scores", scores_text(t, st));
    json_object_set_new(row, "tile_max", trace_real((double)st->tile_max));
    json_object_set_new(row, "m", trace_real((double)st->after.m));
    json_object_set_new(row, "rescale", trace_real((double)st->rescale));
    json_object_set_new(row, "l", trace_real((double)st->after.l));
    json_object_set_new(row, "o", trace_real((double)st->after.o));
    json_object_set_new(row, "o_over_l", trace_real(now));
    json_object_set_new(row, "finite", json_integer(isfinite(now)));
    json_object_set_new(row, "want", trace_real(right));
    json_object_set_new(row, "max_diff", trace_real(fabs(now - right)));
    return row;
}

static json_t *trace_rows(const struct trace *t)
{
    json_t *rows = json_array();
    struct state s = {-INFINITY, 0, 0};
    double right = trace_right_output(t);
    for (int64_t from = 0, tile = 0; from < t->shape.Sk; from += t->bc, tile++) {
        int64_t to = from + t->bc < t->shape.Sk ? from + t->bc : t->shape.Sk;
        struct step st = one_tile(t, s, from, to);
        json_array_append_new(rows, step_row(t, &st, tile, right));
        s = st.after;
    }
    return rows;
}

// clang-format off
static const struct columns columns[1] = {{
    .list = (const struct column[]){
        {.field = "tile",     .title = "tile"},
        {.field = "scores",   .title = "scores of its keys", .left = true, .drop = 4},
        {.field = "tile_max", .title = "max",     .digits = 3, .drop = 3},
        {.field = "m",        .title = "m",       .digits = 3},
        {.field = "rescale",  .title = "rescale", .digits = 3, .drop = 1},
        {.field = "l",        .title = "l",       .digits = 4},
        {.field = "o",        .title = "o",       .digits = 4, .drop = 2},
        {.field = "o_over_l", .title = "o/l",     .digits = 4},
        {.field = "want",     .title = "right",   .digits = 4},
        {0},
    },
}};
// clang-format on

const struct trace_view trace_softmax = {
    .word = "softmax",
    .rows = trace_rows,
    .columns = columns,
    .breaks = 1u << BREAK_RESCALE | 1u << BREAK_MAX,
};
