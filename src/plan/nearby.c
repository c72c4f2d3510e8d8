/* nearby.c - see nearby.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/nearby.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { NEAREST = 24, TERMS = 3 }; /* the nearest so many are looked at */
static const double usual_us =
    3; /* what a launch takes where one time alone cannot tell it from work, */
static const double usual_weight = 0.1, usual_share = 0.3; /* and how blocks share */
static const double term_cost = 0.0005, share_cost = 0.002;
static const double left_sd = 0.25,
                    noise_sd = 0.01; /* of logarithms: what the form leaves; of a time */
static const double reach = 1.5;     /* powers of 2 over which that stays alike */

/* ---- what a launch asks ---- */

static double param_or_1(const struct plan *p, const char *name)
{
    const int i = desc_param_index(p->desc, name);
    return i >= 0 && p->params.v[i] > 0 ? (double)p->params.v[i] : 1;
}

static double whole(double x, double of)
{
    return ceil(x / of) * of;
}

/* Pairs of a query and a key of one head, tiles in full; of a causal one half a tile a row lies beyond the mask. */
static double pairs_of(const struct plan *p, double br, double bc)
{
    const struct shape *s = &p->shape;
    const double rows = whole((double)s->Sq, br);
    if (!s->causal)
        return rows * whole((double)s->Sk, bc);
    return p->flops / (4.0 * (double)(s->B * s->H * s->D)) * rows / (double)s->Sq + rows * bc / 2;
}

bool nearby_load(const struct plan *p, struct nearby_load *out)
{
    const struct plan_pass *pass = &p->passes[p->main_pass];
    if (p->npasses < 1 || p->reason || !(pass->occ.blocks_per_sm > 0) || pass->grid[0] < 1 ||
        !p->device)
        return false;
    const struct shape *s = &p->shape;
    const double br = param_or_1(p, "BR"), bc = param_or_1(p, "BC"), heads = (double)(s->B * s->H),
                 tiles = heads * ceil((double)s->Sq / br);
    *out = (struct nearby_load){.shape = *s,
                                .blocks = (double)pass->grid[0] * (double)pass->grid[1] *
                                          (double)pass->grid[2],
                                .resident = pass->occ.blocks_per_sm,
                                .sms = p->device->sms,
                                .bytes = p->compulsory_bytes > 0 ? p->compulsory_bytes : 0};
    out->work = heads * pairs_of(p, br, bc) / out->blocks;
    if (br > 1 && out->blocks < tiles && !s->causal)
        out->work *= ceil(tiles / out->blocks) * out->blocks / tiles;
    out->longest = out->work;
    if (br > 1 && out->blocks == tiles && s->causal)
        out->longest = fmax(out->work, br * (double)s->Sk);
    return out->work > 0 && out->sms > 0;
}

double nearby_rounds(const struct nearby_load *l, double q)
{
    const double at_once = l->resident * l->sms, full = floor(l->blocks / at_once),
                 rest = ceil((l->blocks - full * at_once) / l->sms),
                 even = l->blocks / at_once * (1 + q * (l->resident - 1)),
                 lone = fmin(l->resident, ceil(l->blocks / l->sms));
    if (l->shape.causal)
        return fmax(even, l->longest / l->work * (1 + q * (lone - 1)));
    const double rounds = full * (1 + q * (l->resident - 1)) + (rest > 0 ? 1 + q * (rest - 1) : 0);
    return full < 2 ? rounds
                    : fmax(even, (rounds + even) / 2); /* later ones no longer begin together */
}

/* ---- the form ---- */

struct form {
    double t[TERMS]; /* of a run, of work, of bytes */
    double q, cost;
};

static double form_us(const struct form *f, const struct nearby_load *l)
{
    return f->t[0] + f->t[1] * l->work * nearby_rounds(l, f->q) + f->t[2] * l->bytes;
}

/* Solves a x = b in place, n <= NEAREST, a symmetric and positive; false: it is not. */
static bool solve(double *a, double *b, int n)
{
    for (int i = 0; i < n; i++) { /* Cholesky, the lower half */
        for (int j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0))
                return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
        for (int k = 0; k < i; k++)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
    return true;
}

/* Relative to the time: the terms of row i. */
static void terms(const struct nearby_time *x, double q, double out[TERMS])
{
    out[0] = 1 / x->us;
    out[1] = x->load.work * nearby_rounds(&x->load, q) / x->us;
    out[2] = x->load.bytes / x->us;
}

/* The least squares of the terms in `set`; false: one would be negative, or they cannot be told apart. */
static bool fit_terms(const struct nearby_time *const *v, int n, double q, unsigned set,
                      struct form *f)
{
    double a[TERMS * TERMS] = {0}, b[TERMS] = {0}, row[TERMS];
    int at[TERMS] = {0}, m = 0;
    for (int k = 0; k < TERMS; k++)
        if (set & 1u << k)
            at[m++] = k;
    for (int i = 0; i <= n; i++) {
        if (i < n)
            terms(v[i], q, row);
        else /* what is usual, as one more row */
            memcpy(row, (double[TERMS]){usual_weight / usual_us, 0, 0}, sizeof row);
        for (int x = 0; x < m; x++) {
            b[x] += row[at[x]] * (i < n ? 1 : usual_weight);
            for (int y = 0; y < m; y++)
                a[x * m + y] += row[at[x]] * row[at[y]];
        }
    }
    if (!solve(a, b, m))
        return false;
    *f = (struct form){.q = q};
    for (int x = 0; x < m; x++) {
        f->t[at[x]] = b[x];
        if (!(b[x] >= 0))
            return false;
    }
    f->cost = share_cost * (q - usual_share) * (q - usual_share) + (set & 4 ? term_cost : 0);
    f->cost += pow(usual_weight * (f->t[0] / usual_us - 1), 2);
    for (int i = 0; i < n; i++)
        f->cost += pow(form_us(f, &v[i]->load) / v[i]->us - 1, 2);
    return true;
}

static struct form fit(const struct nearby_time *const *v, int n)
{
    struct form best = {.cost = INFINITY}, f;
    for (int i = 0; i <= 10; i++)
        for (unsigned set = 1; set < 1u << TERMS; set++)
            if (fit_terms(v, n, i / 10.0, set, &f) && f.cost < best.cost)
                best = f;
    return best;
}

/* ---- what it leaves ---- */

/* In powers of 2; lengths that are one are counted once. */
static double apart(const struct shape *a, const struct shape *b)
{
    const double q = fabs(log2((double)a->Sq / (double)b->Sq)),
                 k = fabs(log2((double)a->Sk / (double)b->Sk));
    return fabs(log2((double)(a->B * a->Hkv) / (double)(b->B * b->Hkv))) +
           fabs(log2((double)(a->H * b->Hkv) / (double)(a->Hkv * b->H))) +
           (a->Sq == a->Sk && b->Sq == b->Sk ? q : q + k);
}

static double alike(const struct shape *a, const struct shape *b)
{
    return left_sd * left_sd * exp(-apart(a, b) / reach);
}

/* The logarithm of the factor that the form leaves at `at`, and how sure that is. */
static struct nearby_guess carry(const struct nearby_time *const *v, int n, const struct form *f,
                                 const struct nearby_load *at)
{
    double *a = xcalloc((size_t)(n * n), sizeof *a), left[NEAREST], to[NEAREST], w[NEAREST];
    double mean = 0, sd2 = left_sd * left_sd;
    for (int i = 0; i < n; i++) {
        left[i] = log(v[i]->us / form_us(f, &v[i]->load));
        w[i] = to[i] = alike(&v[i]->load.shape, &at->shape);
        for (int k = 0; k < n; k++)
            a[i * n + k] =
                alike(&v[i]->load.shape, &v[k]->load.shape) + (i == k ? noise_sd * noise_sd : 0);
    }
    if (solve(a, w, n)) /* w: what each counts */
        for (int i = 0; i < n; i++) {
            mean += w[i] * left[i];
            sd2 -= w[i] * to[i];
        }
    free(a);
    return (struct nearby_guess){form_us(f, at) * exp(mean), sqrt(fmax(sd2, 0))};
}

/* ---- both ---- */

struct near {
    const struct nearby_time *is;
    double apart;
};

static int by_distance(const void *a, const void *b)
{
    const double x = ((const struct near *)a)->apart, y = ((const struct near *)b)->apart;
    return (x > y) - (x < y);
}

struct nearby_guess nearby_guess(const struct nearby_time *v, size_t n,
                                 const struct nearby_load *at)
{
    struct near *near = xcalloc(n + 1, sizeof *near);
    const struct nearby_time *use[NEAREST];
    struct nearby_guess g = {NAN, NAN};
    int count = 0;
    for (size_t i = 0; i < n; i++)
        near[i] = (struct near){&v[i], apart(&v[i].load.shape, &at->shape)};
    qsort(near, n, sizeof *near, by_distance);
    for (; (size_t)count < n && count < NEAREST; count++)
        use[count] = near[count].is;
    if (count && near[0].apart == 0)
        g = (struct nearby_guess){use[0]->us, noise_sd};
    else if (count) {
        const struct form f = fit(use, count);
        if (f.cost < INFINITY)
            g = carry(use, count, &f, at);
    }
    free(near);
    return g;
}
