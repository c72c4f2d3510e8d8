/* planted.h - a simulated kernel that can be told to make one of many classical mistakes.
 *
 * Written independently of the reference: attention in float32 the way real kernels do it - tiles in
 * various orders, online softmax, split K/V, exp or exp2, P rounded or not. test_verify.c calibrates the
 * check with it, test_diagnose.c asks for the name of the mistake.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_PLANTED_H
#define ATTNSCOPE_TESTS_PLANTED_H

#include "measure/verify.h"

enum fault {
    NONE,
    LAST_KEY,
    CAUSAL_MORE,
    CAUSAL_LESS,
    TOP_LEFT,
    NO_RESCALE,
    NO_RESCALE_SUM,
    NO_MAX,
    HALF_ACCUMULATOR,
    COARSE_P,
    WRONG_SCALE,
    ROW_ZERO,
    ROW_SWAP,
    UNWRITTEN,
    UNWRITTEN_ROWS,
    GQA_SWAP,
    DOUBLE_KEY,
    V_SHIFT,
    RAGGED,
    SPLIT_LOST,
    NO_DIVISION,
    TF32,
    WRITE_AFTER,
    WRITE_BEFORE,
    NAN_EMPTY,
    INF_ELEMENT,
    FAULTS
};
extern const char *const fault_names[FAULTS];

/* How a right kernel may go about it. */
struct variant {
    int bc;         /* keys per tile */
    int splits;     /* split K/V, combined by log-sum-exp */
    bool backward;  /* last tile first */
    bool base2;     /* exp2, log2 e folded into the scale */
    bool rounded_p; /* P in the tensor's type, as tensor cores want it */
    int lanes;      /* partial sums of a dot product */
};

struct sim {
    const struct problem *p;
    const float *q, *k, *v; /* logical order (b, h, s, d) */
    struct variant how;
    enum fault fault;
    int64_t victim; /* row, element or key that the fault hits */
    bool exact;     /* in double: to see what the fault alone does */
};

struct bench {
    struct problem p;
    struct tensors t;
    float *q, *k, *v; /* logical order */
    size_t bytes;     /* of the output */
    char *guarded;
    double *out;
    struct reference *ref;
};

/* The next random number; every program begins with the same seed. */
uint64_t rnd(void);
/* lo..hi, both included. */
int64_t rnd_in(int64_t lo, int64_t hi);
double to_type(enum dtype t, double x);
/* The whole output in double, rows in logical order (b, h, s). */
void simulate(const struct sim *s, double *out);
/* Inputs and reference of a problem; aborts when they cannot be had. */
struct bench bench_new(const struct problem *p, double max_flops);
void bench_free(struct bench *b);
/* As a backend does before a run. */
void poison(struct bench *b);
/* Writes b->out, rounded, in the shape's layout. */
void write_output(struct bench *b, const struct sim *s);
struct sim sim_of(const struct bench *b, struct variant how, enum fault fault);
/* Runs and judges; returns whether it passed. */
bool run_and_judge(struct bench *b, const struct sim *s, struct run_row *row);
struct variant random_variant(const struct shape *s);
struct problem random_problem(void);
/* Prints problem, variant and verdict as a TAP comment. */
void describe(const struct problem *p, const struct variant *v, const struct run_row *row);
/* Can this fault be planted here at all? */
bool applies(enum fault fault, const struct shape *s, const struct variant *v);
bool always_visible(enum fault fault);
/* Rounding-like faults: only a large sample can tell them from luck. */
bool is_subtle(enum fault fault);
struct problem subtle_problem(void);
/* Does the fault move the result by more than rounding may? Decided without the check under test. */
bool is_visible(struct bench *b, const struct sim *faulty);

#endif
