/* trace_query.c - one query with its keys and scores, and how it is asked for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/trace/trace_query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

enum {
    KEYS_MAX = 4096,
    DIMS_MAX = 256,
    SPLITS_MAX = 128,
    TRIES_MAX = 64,
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

enum status trace_query(struct session *s, struct cmd_call *c, const struct trace_view *view,
                        struct err *err)
{
    struct trace t = {
        .shape = SHAPE_DEFAULT, .seed = s->settings.problem.seed, .bc = 4, .score_scale = 1};
    t.stages = 2;
    t.load = 700;
    t.work = 276;
    t.splits = t.tries = 4;
    t.shape.B = t.shape.H = t.shape.Hkv = t.shape.Sq = 1;
    t.shape.hkv_given = true;
    t.shape.Sk = 16;
    t.shape.D = 8;
    enum status st = parse_keys(c, &t, err);
    if (st == ST_OK && view->whole_tiles && t.shape.Sk % t.bc)
        st =
            err_set(err, ST_USAGE, "trace %s takes whole tiles: Sk= a multiple of BC=", view->word);
    if (st == ST_OK && t.broken && !(view->breaks & 1u << t.broken))
        st = err_set(err, ST_USAGE, "trace %s has no break=%s", view->word, break_words[t.broken]);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st != ST_OK)
        return st;
    trace_make(&t);
    struct rowset rows = {.type = view->columns->type};
    view->rows(&t, &rows);
    st = call_rows(s, c, &rows, view->columns);
    rowset_clear(&rows);
    trace_clear(&t);
    return st;
}
