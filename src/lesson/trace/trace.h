/* trace.h - the inputs that `trace` works on, and what it can follow through them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_TRACE_H
#define ATTNSCOPE_LESSON_TRACE_H

#include "command/session.h"

enum breakage { BREAK_NOTHING, BREAK_RESCALE, BREAK_MAX, BREAK_WEIGHTS, BREAK_WAIT, BREAK_EMPTY };

/* One query (B = H = Sq = 1) and its keys. */
struct trace {
    struct shape shape;
    enum input_kind input;
    uint64_t seed;
    int64_t bc, splits, tries;
    int64_t stages, load, work, issue; /* of `trace pipe`: buffers, and cycles */
    enum breakage broken;
    double score_scale; /* scores are multiplied by it besides 1/sqrt(D) */
    float *q, *k, *v;
    float *score; /* Sk scores */
};

/* Makes inputs and scores; trace_clear() frees them. */
void trace_make(struct trace *t);
void trace_clear(struct trace *t);
/* Output of the textbook softmax in float64, first column. */
double trace_right_output(const struct trace *t);
/* JSON has no infinity and no NaN; here they are what is to be seen, so they become words. */
json_t *trace_real(double v);

/* trace_split.c: the passes of split-KV, a row for each split and one for the combination. */
json_t *trace_split_rows(const struct trace *t);
extern const struct column trace_split_columns[];
/* trace_sum.c: the first column of V added up in several orders, a row for each. */
json_t *trace_sum_rows(const struct trace *t);
extern const struct column trace_sum_columns[];
/* trace_pipe.c: tiles copied in the background, a row for each. Sk is a multiple of bc. */
json_t *trace_pipe_rows(const struct trace *t);
extern const struct column trace_pipe_columns[];

/* trace_warp.c: the loads and the reductions of a warp, which have keys of their own. */
enum status trace_access(struct session *s, struct cmd_call *c, struct err *err);
enum status trace_reduce(struct session *s, struct cmd_call *c, struct err *err);
/* trace_banks.c: a column of a tile in shared memory, read by a warp. */
enum status trace_banks(struct session *s, struct cmd_call *c, struct err *err);
/* trace_calls.c: some work of this machine's, timed call after call. */
enum status trace_calls(struct session *s, struct cmd_call *c, struct err *err);

/* A key's value; *out stays when the key is absent. */
enum status trace_key_int(struct cmd_call *c, const char *key, int64_t lo, int64_t hi, int64_t *out,
                          struct err *err);
/* Its index among `words`. */
enum status trace_key_word(struct cmd_call *c, const char *key, const char *const *words, int *out,
                           struct err *err);

#endif
