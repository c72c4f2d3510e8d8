/* trace_sum.c - `trace sum`: the same float32 numbers added in several orders.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lesson/trace/trace_query.h"

struct sum_row {
    char *order;
    double sum;
    char *bits;
    int64_t steps, distinct;
    double want, max_diff;
};

// clang-format off
#define REAL(m_, ...) TRACE_REAL(sum_row, m_, .doc = __VA_ARGS__)
static const struct field fields[] = {
    FIELD(FIELD_TEXT, sum_row, order, .doc = "In which order numbers were added."),
    REAL(sum, "What came of it.", .digits = 9),
    FIELD(FIELD_TEXT, sum_row, bits, .title = "its bits", .doc = "The same, as the bits of a float."),
    FIELD(FIELD_INT,  sum_row, steps,
          .doc = "Additions that must wait for each other."),
    FIELD(FIELD_INT,  sum_row, distinct, .title = "different so far", .doc = "Different sums so far."),
    REAL(want,     "The right answer."),
    REAL(max_diff, "The distance to it.", .title = "off by", .digits = 2),
    {.name = NULL},
};
#undef REAL
static const struct row_type sum_type = ROW_TYPE(sum_row, {fields, 0});

const struct columns trace_sum_columns = {
    .type = &sum_type,
    .list = (const struct column[]){
        {.field = "order"},
        {.field = "sum"},
        {.field = "bits", .drop = 2},
        {.field = "max_diff"},
        {.field = "steps", .drop = 1},
        {.field = "distinct"},
        {0},
    },
};
// clang-format on

struct sums {
    const struct trace *t;
    float *x, *work; /* n numbers, and room for an order of them */
    int64_t n;
    float *seen; /* different sums so far */
    int64_t nseen;
    double right;
    struct rowset *rows;
};

static float in_order(const float *x, int64_t n)
{
    float sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* As a warp does by shuffles: halves are added to each other until one number is left. */
static float as_tree(float *x, int64_t n)
{
    while (n > 1) {
        const int64_t half = (n + 1) / 2;
        for (int64_t i = 0; i + half < n; i++)
            x[i] += x[i + half];
        n = half;
    }
    return x[0];
}

static int64_t levels(int64_t n)
{
    int64_t steps = 0;
    for (; n > 1; n = (n + 1) / 2)
        steps++;
    return steps;
}

/* Fisher-Yates with the inputs' generator: who comes first is anybody's guess, but can be repeated. */
static void shuffle(struct sums *s, int64_t round)
{
    for (int64_t i = s->n - 1; i > 0; i--) {
        uint32_t w[4];
        input_words(s->t->seed, TENSOR_V, (uint32_t)(round + 1), (uint64_t)i, w);
        const int64_t j = w[0] % (uint32_t)(i + 1);
        const float swap = s->work[i];
        s->work[i] = s->work[j];
        s->work[j] = swap;
    }
}

static void add_row(struct sums *s, const char *order, float sum, int64_t steps)
{
    char bits[16];
    uint32_t raw;
    int64_t i = 0;
    while (i < s->nseen && memcmp(&s->seen[i], &sum, sizeof sum) != 0)
        i++;
    if (i == s->nseen)
        s->seen[s->nseen++] = sum;
    memcpy(&raw, &sum, sizeof raw);
    snprintf(bits, sizeof bits, "%08x", raw);
    struct sum_row *row = rowset_add(s->rows);
    row->order = xstrdup(order);
    row->sum = (double)sum;
    row->bits = xstrdup(bits);
    row->steps = steps;
    row->distinct = s->nseen;
    row->want = s->right;
    row->max_diff = fabs((double)sum - s->right);
}

static void copy_in_order(struct sums *s, bool backward)
{
    for (int64_t i = 0; i < s->n; i++)
        s->work[i] = s->x[backward ? s->n - 1 - i : i];
}

static void add_fixed_orders(struct sums *s)
{
    copy_in_order(s, false);
    add_row(s, "forward", in_order(s->work, s->n), s->n - 1);
    copy_in_order(s, true);
    add_row(s, "backward", in_order(s->work, s->n), s->n - 1);
    copy_in_order(s, false);
    add_row(s, "tree", as_tree(s->work, s->n), levels(s->n));
}

static void trace_sum_rows(const struct trace *t, struct rowset *rows)
{
    struct sums s = {.t = t, .n = t->shape.Sk, .rows = rows};
    s.x = xmalloc((size_t)s.n * sizeof *s.x);
    s.work = xmalloc((size_t)s.n * sizeof *s.work);
    s.seen = xmalloc((size_t)(t->tries + 3) * sizeof *s.seen);
    for (int64_t i = 0; i < s.n; i++) {
        s.x[i] = t->v[i * t->shape.D];
        s.right += (double)s.x[i];
    }
    add_fixed_orders(&s);
    for (int64_t round = 0; round < t->tries; round++) {
        char name[32];
        copy_in_order(&s, false);
        shuffle(&s, round);
        snprintf(name, sizeof name, "arrival %lld", (long long)round + 1);
        add_row(&s, name, in_order(s.work, s.n), s.n - 1);
    }
    free(s.x);
    free(s.work);
    free(s.seen);
}

const struct trace_view trace_sum = {
    .word = "sum",
    .rows = trace_sum_rows,
    .columns = &trace_sum_columns,
};
