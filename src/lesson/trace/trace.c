/* trace.c - `trace softmax`: the online softmax of one query, tile by tile, with real numbers; and the
 * verb, which also knows `trace splitkv` and `trace sum`.
 *
 * The arithmetic is that of the kernels (float, running maximum m, running sum l, output o that is
 * rescaled when m moves), small enough to follow by eye. `break=` leaves out what keeps it right.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "lesson/trace/trace.h"
#include "lesson/verbs.h"

enum {
    KEYS_MAX = 4096,
    DIMS_MAX = 256,
    SPLITS_MAX = 128,
    TRIES_MAX = 64,
    SHOWN = 8,
    STAGES_MAX = 8,
    CYCLES_MAX = 1000000
};

static void make_inputs(struct trace *t)
{
    const struct shape *s = &t->shape;
    size_t kv = (size_t)(s->Sk * s->D);
    t->q = xmalloc((size_t)s->D * sizeof *t->q);
    t->k = xmalloc(kv * sizeof *t->k);
    t->v = xmalloc(kv * sizeof *t->v);
    input_values(t->input, t->seed, TENSOR_Q, s, 0, (size_t)s->D, t->q);
    input_values(t->input, t->seed, TENSOR_K, s, 0, kv, t->k);
    input_values(t->input, t->seed, TENSOR_V, s, 0, kv, t->v);
}

static void make_scores(struct trace *t)
{
    const struct shape *s = &t->shape;
    float scale = (float)(t->score_scale / sqrt((double)s->D));
    t->score = xmalloc((size_t)s->Sk * sizeof *t->score);
    for (int64_t j = 0; j < s->Sk; j++) {
        float dot = 0;
        for (int64_t d = 0; d < s->D; d++)
            dot += t->q[d] * t->k[j * s->D + d];
        t->score[j] = dot * scale;
    }
}

void trace_make(struct trace *t)
{
    make_inputs(t);
    make_scores(t);
}

double trace_right_output(const struct trace *t)
{
    double top = -INFINITY, sum = 0, o = 0;
    for (int64_t j = 0; j < t->shape.Sk; j++)
        top = fmax(top, (double)t->score[j]);
    for (int64_t j = 0; j < t->shape.Sk; j++) {
        double p = exp((double)t->score[j] - top);
        sum += p;
        o += p * (double)t->v[j * t->shape.D];
    }
    return o / sum;
}

void trace_clear(struct trace *t)
{
    free(t->q);
    free(t->k);
    free(t->v);
    free(t->score);
}

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

json_t *trace_real(double v)
{
    if (isfinite(v))
        return json_real(v);
    return json_string(isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
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
static const struct column columns[] = {
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
};
// clang-format on

enum status trace_key_int(struct cmd_call *c, const char *key, int64_t lo, int64_t hi, int64_t *out,
                          struct err *err)
{
    const char *text = call_key(c, key);
    return text ? number_parse_int(key, text, lo, hi, out, err) : ST_OK;
}

enum status trace_key_word(struct cmd_call *c, const char *key, const char *const *words, int *out,
                           struct err *err)
{
    const char *text = call_key(c, key);
    if (!text)
        return ST_OK;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return ST_OK;
        }
    const char *near = str_nearest_in(text, words);
    return err_set(err, ST_USAGE, "%s=%s is unknown; did you mean %s?", key, text,
                   near ? near : words[0]);
}

static const char *const break_words[] = {"nothing", "rescale", "max", "weights",
                                          "wait",    "empty",   NULL};

/* What can be followed. */
static const struct kind {
    const char *word;
    json_t *(*rows)(const struct trace *t);
    const struct column *columns;
    unsigned breaks; /* bits by enum breakage: what can be left out */
} kinds[] = {
    {"softmax", trace_rows, columns, 1u << BREAK_RESCALE | 1u << BREAK_MAX},
    {"splitkv", trace_split_rows, trace_split_columns, 1u << BREAK_MAX | 1u << BREAK_WEIGHTS},
    {"sum", trace_sum_rows, trace_sum_columns, 0},
    {"pipe", trace_pipe_rows, trace_pipe_columns, 1u << BREAK_WAIT | 1u << BREAK_EMPTY},
};

static const struct kind *find_kind(const struct cmd_call *c)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (c->nwords == 1 && strcmp(c->words[0].text, kinds[i].word) == 0)
            return &kinds[i];
    return NULL;
}

static enum status parse_keys(struct cmd_call *c, struct trace *t, struct err *err)
{
    int64_t seed = (int64_t)t->seed;
    int input = t->input, broken = t->broken;
    const char *scale = call_key(c, "scale");
    enum status st = trace_key_int(c, "Sk", 1, KEYS_MAX, &t->shape.Sk, err);
    if (st == ST_OK)
        st = trace_key_int(c, "D", 1, DIMS_MAX, &t->shape.D, err);
    if (st == ST_OK)
        st = trace_key_int(c, "BC", 1, KEYS_MAX, &t->bc, err);
    if (st == ST_OK)
        st = trace_key_int(c, "SPLITS", 1, SPLITS_MAX, &t->splits, err);
    if (st == ST_OK)
        st = trace_key_int(c, "tries", 0, TRIES_MAX, &t->tries, err);
    if (st == ST_OK)
        st = trace_key_int(c, "STAGES", 1, STAGES_MAX, &t->stages, err);
    if (st == ST_OK)
        st = trace_key_int(c, "load", 0, CYCLES_MAX, &t->load, err);
    if (st == ST_OK)
        st = trace_key_int(c, "work", 1, CYCLES_MAX, &t->work, err);
    if (st == ST_OK)
        st = trace_key_int(c, "issue", 0, CYCLES_MAX, &t->issue, err);
    if (st == ST_OK)
        st = trace_key_int(c, "seed", 0, INT64_MAX, &seed, err);
    if (st == ST_OK)
        st = trace_key_word(c, "input", input_names, &input, err);
    if (st == ST_OK)
        st = trace_key_word(c, "break", break_words, &broken, err);
    if (st == ST_OK && scale)
        st = number_parse(scale, &t->score_scale, err);
    t->seed = (uint64_t)seed;
    t->input = (enum input_kind)input;
    t->broken = (enum breakage)broken;
    return st;
}

static enum status trace_query(struct session *s, struct cmd_call *c, struct err *err)
{
    struct trace t = {
        .shape = SHAPE_DEFAULT, .seed = s->settings.problem.seed, .bc = 4, .score_scale = 1};
    t.stages = 2;
    t.load = 700;
    t.work = 276;
    const struct kind *kind = find_kind(c);
    t.splits = t.tries = 4;
    t.shape.B = t.shape.H = t.shape.Hkv = t.shape.Sq = 1;
    t.shape.hkv_given = true;
    t.shape.Sk = 16;
    t.shape.D = 8;
    if (!kind)
        return err_set(
            err, ST_USAGE,
            "trace takes one word: softmax, splitkv, sum, pipe, access, reduce, banks or calls");
    enum status st = parse_keys(c, &t, err);
    if (st == ST_OK && kind->rows == trace_pipe_rows && t.shape.Sk % t.bc)
        st = err_set(err, ST_USAGE, "trace pipe takes whole tiles: Sk= a multiple of BC=");
    if (st == ST_OK && t.broken && !(kind->breaks & 1u << t.broken))
        st = err_set(err, ST_USAGE, "trace %s has no break=%s", kind->word, break_words[t.broken]);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st != ST_OK)
        return st;
    trace_make(&t);
    json_t *rows = kind->rows(&t);
    st = call_rows(s, c, rows, kind->columns, NULL);
    json_decref(rows);
    trace_clear(&t);
    return st;
}

static enum status exec_trace(struct session *s, struct cmd_call *c, struct err *err)
{
    const char *word = c->nwords == 1 ? c->words[0].text : "";
    (void)call_option(c, "json"), (void)call_option(c, "csv"), (void)call_option(c, "md");
    if (strcmp(word, "access") == 0)
        return trace_access(s, c, err);
    if (strcmp(word, "reduce") == 0)
        return trace_reduce(s, c, err);
    if (strcmp(word, "banks") == 0)
        return trace_banks(s, c, err);
    if (strcmp(word, "calls") == 0)
        return trace_calls(s, c, err);
    return trace_query(s, c, err);
}

static const char *const all_breaks[] = {"nothing", "rescale", "max",   "weights", "step", "start",
                                         "wait",    "empty",   "first", "alloc",   NULL};

static const struct cmd_key trace_keys[] = {
    {"Sk", "keys, 16 by default; calls: queries and keys, 1024", NULL},
    {"BC", "keys per tile, 4 by default", NULL},
    {"D", "head dimension, 8 by default; access, banks: 64", NULL},
    {"SPLITS", "splitkv: blocks that share the keys, 4 by default", NULL},
    {"tries", "sum: random orders of arrival, 4 by default", NULL},
    {"STAGES", "pipe: buffers for tiles, 2 by default", NULL},
    {"load", "pipe: cycles that a copy takes, 700 by default", NULL},
    {"work", "pipe: cycles of work for a tile, 276 by default", NULL},
    {"issue", "pipe: cycles between the beginnings of two copies, 0 by default", NULL},
    {"calls", "calls: how many are timed, 8 by default", NULL},
    {"VEC", "access: elements per load, 1 by default; banks: as many as are 16 bytes", NULL},
    {"ACCESS", "access: coalesced or strided, as row_online has them", NULL},
    {"dtype", "access: f32, f16 or bf16; banks: f16, bf16 or f32", NULL},
    {"PAD", "banks: elements between rows, 0 by default", NULL},
    {"swizzle", "banks: yes: 16-byte chunk c of row r lies in place c xor (r mod 8)", NULL},
    {"column", "banks: which load of the row, 0 by default", NULL},
    {"lanes", "reduce: 32 by default; banks: as many as 128 bytes are for", NULL},
    {"how", "reduce: shuffle, one (after another) or atomic", NULL},
    {"op", "reduce: sum or max", NULL},
    {"order", "reduce: who comes first with how=atomic; 0: lane 0", NULL},
    {"shift", "reduce: is added to every number", NULL},
    {"seed", "of the inputs", NULL},
    {"input", "kind of inputs", NULL},
    {"scale", "multiplies the scores", NULL},
    {"break", "leave something out, to see what it was for", all_breaks},
    {NULL, NULL, NULL},
};

const struct cmd_entry cmd_trace = {
    .name = "trace",
    .group = "Learn",
    .usage = "softmax|splitkv|sum|pipe|access|reduce|banks|calls [Sk=] [BC=] [D=] [SPLITS=] "
             "[scale=] [break=]",
    .summary =
        "follow a kernel's arithmetic with real numbers: online softmax, split-KV, sums, a warp",
    .help =
        "softmax: one row per K/V tile: the scores of its keys, the running maximum m, the\n"
        "factor that the earlier sums are multiplied with (rescale), the running sum l, the\n"
        "unnormalised output o (first column), what o/l would be if the row ended here, and\n"
        "the right answer. break= leaves out the rescaling or the maximum.\n"
        "  trace softmax Sk=64 BC=16\n"
        "  trace softmax break=rescale\n"
        "  trace softmax scale=300 break=max\n"
        "\n"
        "splitkv: one row per split, with m, l and o of its keys alone, its LSE = m + log(l),\n"
        "its finished output o/l and its weight in the combination, which is the last row.\n"
        "break=weights averages the parts, break=max takes exp(LSE) without a maximum.\n"
        "  trace splitkv Sk=32 SPLITS=4\n"
        "  trace splitkv Sk=32 SPLITS=4 scale=3 break=weights\n"
        "\n"
        "sum: the first column of V added up in float32: forward, backward, as a tree, and in\n"
        "random orders as atomic additions might arrive. distinct counts different results.\n"
        "  trace sum Sk=32 tries=8\n"
        "\n"
        "pipe: tiles copied in the background into STAGES= buffers, one row per tile: the cycles\n"
        "of its copy and of its work in a simple model, and which tiles K and V really came from.\n"
        "break=wait does not wait for copies, break=empty copies into buffers still in use.\n"
        "  trace pipe Sk=32 STAGES=3 load=700 work=276\n"
        "  trace pipe break=wait\n"
        "\n"
        "access: how the 32 lanes of a warp read a row of K in row_online. One row per load:\n"
        "how many lanes have something to read, and how many 32-byte sectors they touch.\n"
        "  trace access D=256 ACCESS=strided\n"
        "\n"
        "reduce: how they add up 32 numbers, one row per step. how=shuffle: all lanes exchange;\n"
        "one, atomic: one after another. break=step forgets the last exchange, break=start\n"
        "lets a maximum begin with 0.\n"
        "  trace reduce how=atomic order=7\n"
        "\n"
        "banks: lanes that read one column of a tile in shared memory, each of its own row.\n"
        "One row per lane: the banks that it wants, and its place in their queue; goes counts\n"
        "how often the banks must deliver. PAD= and swizzle=yes move the rows.\n"
        "  trace banks D=64 PAD=8\n"
        "\n"
        "calls: this machine writes Sk x Sk scores, call after call: how long each took.\n"
        "break=first counts the call that warms up, break=alloc gets new memory in each.\n"
        "  trace calls Sk=1k break=alloc\n",
    .arg = ARG_WORD,
    .keys = trace_keys,
    .flags = CMD_ROWS,
    .exec = exec_trace,
};
