/* nearby.c - see nearby.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/nearby.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { TERMS = 3, SHARES = 11 };
enum { FORMS = SHARES * (1 << (TERMS - 1)) };
static const double usual_weight = 0.3,
                    usual_share =
                        0.3; /* what a usual launch counts beside times; how blocks share */
static const double term_cost = 0.0005, share_cost = 0.002;
static const double fit_sd =
    0.1; /* forms that fit worse by its square are e^(1/2) times less likely */
/* Standard deviations of logarithms: of a time; of what a form leaves, and the powers of 2 over which that stays alike: of a
 * shape, and of the kernel as such. */
static const double noise_sd = 0.01;
static const double left_sd[2] = {0.15, 0.45}, reach[2] = {1.5, 10};
/* Powers of 2 that count for another one; for columns, for each of theirs. */
static const double of_mask = 1.5, of_layout = 0.5, of_columns = 2, of_gpu = 3, of_source = 1.5;
static const double beside_products = 48; /* columns that the softmax of a pair takes as long as */
static const double usual_peak = 1e8;     /* operations a us, of a GPU of which that is not known */
/* How sure one is whose time the others are seen beside; and what those take, times that, and how far from it they are. */
static const double known_sd = 0.25, others_times = 2.5, others_sd = 0.5;

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
    const double peak = p->peak_tflops > 0 ? p->peak_tflops * 1e6 : usual_peak, /* a us */
        us = 4 * ((double)s->D + beside_products) * p->device->sms / peak;      /* of a pair */
    *out = (struct nearby_load){.shape = *s,
                                .gpu = p->device,
                                .blocks = (double)pass->grid[0] * (double)pass->grid[1] *
                                          (double)pass->grid[2],
                                .resident = pass->occ.blocks_per_sm,
                                .sms = p->device->sms,
                                .bytes = p->compulsory_bytes > 0 && p->device->dram_gbs > 0
                                             ? p->compulsory_bytes / p->device->dram_gbs * 1e-3
                                             : 0,
                                .least_us = p->flops > 0 ? p->flops / peak : 0};
    out->work = heads * pairs_of(p, br, bc) * us / out->blocks;
    if (br > 1 && out->blocks < tiles && !s->causal)
        out->work *= ceil(tiles / out->blocks) * out->blocks / tiles;
    out->longest = out->work;
    if (br > 1 && out->blocks == tiles && s->causal)
        out->longest = fmax(out->work, br * (double)s->Sk * us);
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

/* Solves a x = b in place, n <= NEARBY_MOST, a symmetric and positive; false: it is not. */
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
static bool fit_terms(const struct nearby_time *const *v, int n, double launch_us, double q,
                      unsigned set, struct form *f)
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
            memcpy(row, (double[TERMS]){usual_weight / launch_us, 0, 0}, sizeof row);
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
    f->cost += pow(usual_weight * (f->t[0] / launch_us - 1), 2);
    for (int i = 0; i < n; i++)
        f->cost += pow(form_us(f, &v[i]->load) / v[i]->us - 1, 2);
    return true;
}

/* All that fit, and how likely each is beside the others. */
struct forms {
    struct form v[FORMS];
    double weight[FORMS];
    int n;
};

static void fit(const struct nearby_time *const *v, int n, double launch_us, struct forms *out)
{
    double best = INFINITY, sum = 0;
    out->n = 0;
    for (int i = 0; i < SHARES; i++)
        for (unsigned set = 1; set < 1u << TERMS; set += 2) /* with a launch */
            if (fit_terms(v, n, launch_us, (double)i / (SHARES - 1), set, &out->v[out->n]))
                best = fmin(best, out->v[out->n++].cost);
    for (int i = 0; i < out->n; i++)
        sum += out->weight[i] = exp((best - out->v[i].cost) / (2 * fit_sd * fit_sd));
    for (int i = 0; i < out->n; i++)
        out->weight[i] /= sum;
}

/* ---- what they leave ---- */

double nearby_apart(const struct shape *a, const struct shape *b, bool same_gpu, bool same_source)
{
    if (dtype_size(a->dtype) != dtype_size(b->dtype) || !a->page != !b->page)
        return INFINITY;
    const double q = fabs(log2((double)a->Sq / (double)b->Sq)),
                 k = fabs(log2((double)a->Sk / (double)b->Sk));
    return fabs(log2((double)(a->B * a->Hkv) / (double)(b->B * b->Hkv))) +
           fabs(log2((double)(a->H * b->Hkv) / (double)(a->Hkv * b->H))) +
           of_columns * fabs(log2((double)a->D / (double)b->D)) +
           (a->causal != b->causal ? of_mask : 0) + (a->layout != b->layout ? of_layout : 0) +
           (same_gpu ? 0 : of_gpu) + (same_source ? 0 : of_source) +
           (a->page ? fabs(log2((double)a->page / (double)b->page)) : 0) +
           (a->Sq == a->Sk && b->Sq == b->Sk ? q : q + k); /* lengths that are one count once */
}

static double loads_apart(const struct nearby_load *a, const struct nearby_load *b)
{
    return nearby_apart(&a->shape, &b->shape, a->gpu == b->gpu, a->old == b->old);
}

static double alike(const struct nearby_load *a, const struct nearby_load *b)
{
    const double apart = loads_apart(a, b);
    return left_sd[0] * left_sd[0] * exp(-apart / reach[0]) +
           left_sd[1] * left_sd[1] * exp(-apart / reach[1]);
}

/* What each time counts at `at`, and the variance that is left. */
static double weigh(const struct nearby_time *const *v, int n, const struct nearby_load *at,
                    double w[NEARBY_MOST])
{
    double *a = xcalloc((size_t)(n * n), sizeof *a), to[NEARBY_MOST], sd2 = alike(at, at);
    for (int i = 0; i < n; i++) {
        w[i] = to[i] = alike(&v[i]->load, at);
        for (int k = 0; k < n; k++)
            a[i * n + k] = alike(&v[i]->load, &v[k]->load) + (i == k ? noise_sd * noise_sd : 0);
    }
    const bool solved = solve(a, w, n);
    for (int i = 0; i < n; i++)
        sd2 -= (w[i] = solved ? w[i] : 0) * to[i];
    free(a);
    return fmax(sd2, 0);
}

/* Each form's time there, and of what it leaves at others as much as they count; the mean of the logarithms, by how likely
 * each is, and how far they are from each other. */
static struct nearby_guess carry(const struct nearby_time *const *v, int n, const struct forms *f,
                                 const struct nearby_load *at)
{
    double w[NEARBY_MOST], sd2 = weigh(v, n, at, w), mean = 0, square = 0;
    for (int i = 0; i < f->n; i++) {
        double x = log(fmax(form_us(&f->v[i], at), at->least_us));
        for (int k = 0; k < n; k++)
            x += w[k] * log(v[k]->us / form_us(&f->v[i], &v[k]->load));
        mean += f->weight[i] * x;
        square += f->weight[i] * x * x;
    }
    return (struct nearby_guess){exp(mean), sqrt(sd2 + fmax(square - mean * mean, 0))};
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
                                 const struct nearby_load *at, double launch_us)
{
    struct near *near = xcalloc(n + 1, sizeof *near);
    const struct nearby_time *use[NEARBY_MOST];
    struct nearby_guess g = {NAN, NAN};
    int count = 0;
    for (size_t i = 0; i < n; i++)
        near[i] = (struct near){&v[i], loads_apart(&v[i].load, at)};
    qsort(near, n, sizeof *near, by_distance);
    for (; (size_t)count < n && count < NEARBY_MOST; count++)
        use[count] = near[count].is;
    if (count && near[0].apart == 0)
        g = (struct nearby_guess){use[0]->us, noise_sd};
    else if (count) {
        struct forms f;
        fit(use, count, launch_us, &f);
        if (f.n)
            g = carry(use, count, &f, at);
    }
    free(near);
    return g;
}

/* ---- beside others ---- */

void nearby_temper(struct nearby_guess *g, size_t n)
{
    double best = INFINITY;
    for (size_t i = 0; i < n; i++)
        if (g[i].error <= known_sd)
            best = fmin(best, g[i].us * (1 + g[i].error));
    for (size_t i = 0; i < n && best < INFINITY; i++) {
        if (g[i].error <= known_sd)
            continue;
        const double own = 1 / (g[i].error * g[i].error), all = 1 / (others_sd * others_sd);
        g[i].us = exp((own * log(g[i].us) + all * log(best * others_times)) / (own + all));
        g[i].error = sqrt(1 / (own + all));
    }
}

double nearby_gain(const struct nearby_guess *a, const struct nearby_guess *b)
{
    const double sd = hypot(a->error, b->error), by = log(a->us / b->us), z = by / sd;
    return sd > 0 ? sd * exp(-z * z / 2) / sqrt(2 * acos(-1)) + by * erfc(-z / sqrt(2)) / 2
                  : fmax(by, 0);
}
