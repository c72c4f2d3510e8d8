/* predict_fit.c - see predict_fit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/predict_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

enum { ROUNDS = 6, FOLDS = 5 };
static const double widest = 8;
/* Of |log| of the ratio: what the model does not understand does not lead. */
static const double most_counts = 0.5;

void fit_sample_clear(struct fit_sample *s)
{
    free(s->kernel);
    free(s->params);
    free(s->shape);
    predict_run_clear(&s->run);
}

static double time_of(const struct fit_sample *s, const struct predict_factors *f)
{
    struct predict_gpu g = s->gpu;
    g.factors = *f;
    return predict_us(&s->run, &g);
}

void fit_predict(const struct fit_sample *s, size_t n, const struct predict_factors *f, double *us)
{
    for (size_t i = 0; i < n; i++)
        us[i] = time_of(&s[i], f);
}

/* ---- the search ---- */

/* Blocks of different lengths are sent one by one, which takes a hundred times as long. */
static bool is_uneven(const struct predict_run *r)
{
    for (int i = 0; i < r->passes; i++)
        if (r->pass[i].length)
            return true;
    return false;
}

static double loss(const struct fit_sample *s, size_t n, const bool *use,
                   const struct predict_factors *f)
{
    double sum = 0;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if ((use && !use[i]) || is_uneven(&s[i].run))
            continue;
        sum += fmin(most_counts, fabs(log(time_of(&s[i], f) / s[i].us)));
        used++;
    }
    return used ? sum / (double)used : 0;
}

struct search {
    const struct fit_sample *s;
    size_t n;
    const bool *use;
    struct predict_factors best;
    double loss;
};

/* One factor, as far as it gets better by steps of `by`. */
static void walk(struct search *x, int factor, double by)
{
    for (;;) {
        struct predict_factors t = x->best;
        t.v[factor] *= by;
        if (t.v[factor] > widest || t.v[factor] < 1 / widest)
            return;
        const double l = loss(x->s, x->n, x->use, &t);
        if (l >= x->loss - 1e-5)
            return;
        x->best = t;
        x->loss = l;
    }
}

struct predict_factors fit_factors(const struct fit_sample *s, size_t n, const bool *use,
                                   const struct predict_factors *from)
{
    struct search x = {.s = s, .n = n, .use = use, .best = *from, .loss = loss(s, n, use, from)};
    double step = 1.4;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PREDICT_FACTOR_COUNT; i++) {
            walk(&x, i, step);
            walk(&x, i, 1 / step);
        }
        step = sqrt(step);
    }
    return x.best;
}

/* ---- left out ---- */

static const char *key_of(const struct fit_sample *s, enum fit_by by)
{
    return by == FIT_BY_KERNEL ? s->kernel : s->shape;
}

/* The number of its key among all keys, in the order in which they come. */
static size_t number_of(const struct fit_sample *s, size_t i, enum fit_by by)
{
    size_t keys = 0;
    for (size_t k = 0; k <= i; k++) {
        size_t first = 0;
        while (strcmp(key_of(&s[first], by), key_of(&s[k], by)) != 0)
            first++;
        if (strcmp(key_of(&s[k], by), key_of(&s[i], by)) == 0)
            return keys;
        keys += first == k;
    }
    return keys;
}

void cross_validate(const struct fit_sample *s, size_t n, enum fit_by by,
                    const struct predict_factors *from, double *us)
{
    size_t *number = xcalloc(n + 1, sizeof *number);
    bool *use = xcalloc(n + 1, sizeof *use);
    for (size_t i = 0; i < n; i++)
        number[i] = number_of(s, i, by) % FOLDS;
    for (size_t fold = 0; fold < FOLDS; fold++) {
        for (size_t i = 0; i < n; i++)
            use[i] = number[i] != fold;
        const struct predict_factors f = fit_factors(s, n, use, from);
        for (size_t i = 0; i < n; i++)
            if (!use[i])
                us[i] = time_of(&s[i], &f);
    }
    free(number);
    free(use);
}

/* ---- how far off ---- */

static double quantile(const double *sorted, size_t n, double q)
{
    return n ? sorted[(size_t)(q * (double)(n - 1) + 0.5)] : REAL_UNKNOWN;
}

static double pct(double log_ratio)
{
    return 100 * (exp(log_ratio) - 1);
}

/* Pairs of one shape: how far apart they are predicted, and whether in the right order. */
struct pair {
    double apart; /* ratio, at least 1 */
    bool right, far;
};

static size_t all_pairs(const struct fit_sample *s, size_t n, const double *us, struct pair **out)
{
    size_t count = 0, cap = 0;
    void *pairs = NULL;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            if (strcmp(s[i].shape, s[k].shape) != 0)
                continue;
            const double measured = s[i].us / s[k].us, predicted = us[i] / us[k];
            xgrow(&pairs, &cap, count + 1, sizeof(struct pair));
            ((struct pair *)pairs)[count++] =
                (struct pair){.apart = fmax(predicted, 1 / predicted),
                              .right = (measured > 1) == (predicted > 1),
                              .far = fmax(measured, 1 / measured) >= 1.2};
        }
    *out = pairs;
    return count;
}

static int farther(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->apart < y->apart) - (x->apart > y->apart);
}

static void judge_pairs(struct pair *p, size_t n, struct fit_error *out)
{
    size_t right = 0, wanted = 0;
    for (size_t i = 0; i < n; i++) {
        out->pairs += p[i].far;
        wanted += p[i].far && p[i].right;
    }
    out->order_pct = out->pairs ? 100.0 * (double)wanted / (double)out->pairs : REAL_UNKNOWN;
    if (n)
        qsort(p, n, sizeof *p, farther);
    for (size_t i = 0; i < n; i++) {
        right += p[i].right;
        if ((double)right >= 0.95 * (double)(i + 1))
            out->apart = p[i].apart;
    }
}

struct fit_error fit_error(const struct fit_sample *s, size_t n, const double *us)
{
    struct fit_error e = {.n = n, .apart = REAL_UNKNOWN};
    double *off = xcalloc(n + 1, sizeof *off), *ratio = xcalloc(n + 1, sizeof *ratio);
    struct pair *pairs;
    for (size_t i = 0; i < n; i++) {
        ratio[i] = us[i] / s[i].us;
        off[i] = fabs(log(ratio[i]));
    }
    qsort(off, n, sizeof *off, number_order);
    qsort(ratio, n, sizeof *ratio, number_order);
    e.median_pct = pct(quantile(off, n, 0.5));
    e.most_pct = pct(quantile(off, n, 0.9));
    e.ratio = quantile(ratio, n, 0.5);
    const size_t npairs = all_pairs(s, n, us, &pairs);
    judge_pairs(pairs, npairs, &e);
    free(pairs);
    free(off);
    free(ratio);
    return e;
}
