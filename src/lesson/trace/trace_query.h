/* trace_query.h - the inputs that `trace` works on, and what a view of them is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_TRACE_QUERY_H
#define ATTNSCOPE_LESSON_TRACE_QUERY_H

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
/* Infinities and NaN are what is to be seen here. */
#define TRACE_REAL(struct_, member_, ...) \
    FIELD(FIELD_REAL, struct_, member_, .flags = FIELD_ENDLESS, __VA_ARGS__)

/* Something that can be followed: what one query gives, or a command of its own with its own keys. */
struct trace_view {
    const char *word;
    void (*rows)(const struct trace *t, struct rowset *out); /* adds rows of the columns' type */
    const struct columns *columns;
    unsigned breaks;  /* bits by enum breakage: what can be left out */
    bool whole_tiles; /* Sk must be a multiple of bc */
    enum status (*exec)(struct session *s, struct cmd_call *c, struct err *err); /* else NULL */
    bool kernels; /* takes a kernel and a shape behind its word */
};
/* Makes the query that the call asks for and puts out the rows of the view. */
enum status trace_query(struct session *s, struct cmd_call *c, const struct trace_view *view,
                        struct err *err);

/* A key's value; *out stays when the key is absent. */
enum status trace_key_int(struct cmd_call *c, const char *key, int64_t lo, int64_t hi, int64_t *out,
                          struct err *err);
/* Its index among `words`. */
enum status trace_key_word(struct cmd_call *c, const char *key, const char *const *words, int *out,
                           struct err *err);

#endif
