/* noise.c - see noise.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "noise.h"

#include <math.h>

static const double base_s = 1e-3;

double noise_uniform(uint64_t *rng)
{
    uint64_t z = (*rng += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

double noise_normal(uint64_t *rng)
{
    const double r = sqrt(-2 * log(noise_uniform(rng)));
    return r * cos(6.283185307179586 * noise_uniform(rng));
}

/* One step of an autoregression with lag-one correlation rho and standard deviation sd. */
static double ar_step(uint64_t *rng, double x, double rho, double sd)
{
    return rho * x + sd * sqrt(1 - rho * rho) * noise_normal(rng);
}

/* Calls `slot` for each sample in the order of time; `who` 0 is a. */
typedef double slot_fn(void *state, uint64_t *rng, int who, double clean_s);
static void in_turns(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b,
                     slot_fn *slot, void *state)
{
    for (size_t i = 0; i < n; i++)
        for (int turn = 0; turn < 2; turn++) {
            const int who = (turn == 0) == first[i] ? 0 : 1;
            const double clean = base_s * (who ? 1 : ratio);
            (who ? b : a)[i] = slot(state, rng, who, clean);
        }
}

/* ---- to tune on ---- */

static double quiet_slot(void *state, uint64_t *rng, int who, double clean)
{
    (void)state, (void)who;
    return clean * exp(0.01 * noise_normal(rng)) * (noise_uniform(rng) < 0.02 ? 2 : 1);
}

static void quiet(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    in_turns(rng, ratio, first, n, a, b, quiet_slot, NULL);
}

static double common_slot(void *state, uint64_t *rng, int who, double clean)
{
    double *x = state;
    (void)who;
    *x = ar_step(rng, *x, 0.95, 0.08);
    return clean * exp(*x + 0.02 * noise_normal(rng));
}

static void ar_common(uint64_t *rng, double ratio, const bool *first, size_t n, double *a,
                      double *b)
{
    double x = 0;
    in_turns(rng, ratio, first, n, a, b, common_slot, &x);
}

static double own_slot(void *state, uint64_t *rng, int who, double clean)
{
    double *x = state;
    x[who] = ar_step(rng, x[who], 0.6, 0.05);
    return clean * exp(x[who]);
}

static void ar_own(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    double x[2] = {0, 0};
    in_turns(rng, ratio, first, n, a, b, own_slot, x);
}

static double modes_slot(void *state, uint64_t *rng, int who, double clean)
{
    (void)state, (void)who;
    return clean * exp(0.015 * noise_normal(rng)) * (noise_uniform(rng) < 0.4 ? 2 : 1);
}

static void modes(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    in_turns(rng, ratio, first, n, a, b, modes_slot, NULL);
}

/* ---- held out ---- */

/* A core that others take away for slices of about 3 ms, as a scheduler does. */
struct slices {
    double left; /* until the core changes hands */
};

static double slices_slot(void *state, uint64_t *rng, int who, double clean)
{
    struct slices *s = state;
    double need = clean * exp(0.01 * noise_normal(rng)), spent = 0;
    (void)who;
    while (need > s->left) {
        spent += s->left + 3e-3 * (0.3 + 1.4 * noise_uniform(rng)); /* the others' turn */
        need -= s->left;
        s->left = 3e-3 * (0.3 + 1.4 * noise_uniform(rng));
    }
    s->left -= need;
    return spent + need;
}

static void slices(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    struct slices s = {.left = 2e-3};
    in_turns(rng, ratio, first, n, a, b, slices_slot, &s);
}

/* Bursts of a length without a typical one, in which everything takes 1.3 to 3 times as long. */
struct bursts {
    double left, factor;
};

static double bursts_slot(void *state, uint64_t *rng, int who, double clean)
{
    struct bursts *s = state;
    (void)who;
    if (s->left <= 0 && noise_uniform(rng) < 0.04) {
        s->left = fmin(pow(noise_uniform(rng), -1 / 1.2), 60);
        s->factor = 1.3 + 1.7 * noise_uniform(rng);
    }
    const bool hit = s->left-- > 0;
    return clean * exp(0.02 * noise_normal(rng)) * (hit ? s->factor : 1);
}

static void bursts(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    struct bursts s = {0, 1};
    in_turns(rng, ratio, first, n, a, b, bursts_slot, &s);
}

/* A machine that grows slower by up to 40 %, and breathes. */
struct drift {
    double at, slope, phase, step;
};

static double drift_slot(void *state, uint64_t *rng, int who, double clean)
{
    struct drift *d = state;
    (void)who;
    d->at += d->step;
    return clean * (1 + d->slope * d->at + 0.05 * sin(20 * d->at + d->phase)) *
           exp(0.015 * noise_normal(rng));
}

static void drift(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    struct drift d = {0, 0.8 * noise_uniform(rng) - 0.4, 6.28 * noise_uniform(rng),
                      0.5 / (double)(n ? n : 1)};
    in_turns(rng, ratio, first, n, a, b, drift_slot, &d);
}

/* A clock with two speeds that stays at each for about 40 samples. */
static double clocks_slot(void *state, uint64_t *rng, int who, double clean)
{
    double *speed = state;
    (void)who;
    if (noise_uniform(rng) < 1.0 / 40)
        *speed = *speed == 1 ? 0.7 : 1;
    return clean / *speed * exp(0.01 * noise_normal(rng));
}

static void clocks(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    double speed = 1;
    in_turns(rng, ratio, first, n, a, b, clocks_slot, &speed);
}

/* Each kernel has two speeds of its own, 8 % apart, and stays at each for about 15 samples. */
static double sticky_slot(void *state, uint64_t *rng, int who, double clean)
{
    double *factor = state;
    if (noise_uniform(rng) < 1.0 / 15)
        factor[who] = factor[who] == 1 ? 1.08 : 1;
    return clean * factor[who] * exp(0.01 * noise_normal(rng));
}

static void sticky(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    double factor[2] = {noise_uniform(rng) < 0.5 ? 1 : 1.08, noise_uniform(rng) < 0.5 ? 1 : 1.08};
    in_turns(rng, ratio, first, n, a, b, sticky_slot, factor);
}

/* Slow wandering of each kernel by itself. */
static double wander_slot(void *state, uint64_t *rng, int who, double clean)
{
    double *x = state;
    x[who] = ar_step(rng, x[who], 0.9, 0.06);
    return clean * exp(x[who] + 0.01 * noise_normal(rng));
}

static void wander(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    double x[2] = {0.06 * noise_normal(rng), 0.06 * noise_normal(rng)};
    in_turns(rng, ratio, first, n, a, b, wander_slot, x);
}

/* Delays without a mean. */
static double heavy_slot(void *state, uint64_t *rng, int who, double clean)
{
    (void)state, (void)who;
    return clean + 0.05 * base_s * (pow(noise_uniform(rng), -1 / 0.9) - 1);
}

static void heavy(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    in_turns(rng, ratio, first, n, a, b, heavy_slot, NULL);
}

/* Whoever goes second is 3 % faster, in what the first has left in the caches. */
static double second_slot(void *state, uint64_t *rng, int who, double clean)
{
    int *count = state;
    (void)who;
    return clean * ((*count)++ % 2 ? 0.97 : 1) * exp(0.01 * noise_normal(rng));
}

static void second(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    int count = 0;
    in_turns(rng, ratio, first, n, a, b, second_slot, &count);
}

/* A laptop left alone: 0.5 % of noise, a slow trend of 1 %. */
static double desk_slot(void *state, uint64_t *rng, int who, double clean)
{
    double *x = state;
    (void)who;
    *x = ar_step(rng, *x, 0.99, 0.01);
    return clean * exp(*x + 0.005 * noise_normal(rng));
}

static void desk(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b)
{
    double x = 0;
    in_turns(rng, ratio, first, n, a, b, desk_slot, &x);
}

const struct noise noises[] = {
    {"quiet", "1 % of noise, an interruption in 50", false, true, quiet},
    {"ar_common", "the machine wanders by 8 %", false, true, ar_common},
    {"ar_own", "each kernel wanders by 5 %", false, false, ar_own},
    {"modes", "two in five samples take twice as long", false, false, modes},
    {"desk", "a laptop left alone", true, true, desk},
    {"drift", "a machine that slows down and breathes", true, true, drift},
    {"second", "whoever goes second is 3 % faster", true, true, second},
    {"slices", "a core shared with others by the scheduler", true, false, slices},
    {"bursts", "bursts of any length", true, false, bursts},
    {"clocks", "a clock with two speeds", true, false, clocks},
    {"sticky", "two speeds of each kernel, 8 % apart", true, false, sticky},
    {"wander", "each kernel wanders slowly by 6 %", true, false, wander},
    {"heavy", "delays without a mean", true, false, heavy},
    {0},
};
