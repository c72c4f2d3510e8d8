/* sweep_words.c - see sweep_words.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/sweep_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/keys.h"
#include "command/ask/predicted.h"

/* ---- crossings ---- */

/* Do the values of the axis grow, as numbers? */
static bool grows(const struct sweep_axis *a)
{
    double before = -INFINITY, v;
    for (int i = 0; i < a->count; i++) {
        if (number_parse(a->values[i], &v, NULL) || !(v > before))
            return false;
        before = v;
    }
    return a->count > 0;
}

/* -1: FASTER than the base, 1: SLOWER, 0: neither, or nobody knows. */
static int side_at(const struct sweep *w, int point, int kernel)
{
    const struct row *row = sweep_row(w, point, kernel);
    if (row_is(row, "verdict", "FASTER"))
        return -1;
    return row_is(row, "verdict", "SLOWER");
}

struct walked {
    int faster, slower, same, open; /* points by verdict */
    int todo;                       /* not measured, or not yet */
    int crossings;
};

static void count(struct walked *c, const struct sweep *w, int point, int kernel)
{
    const struct row *row = sweep_row(w, point, kernel);
    const int side = side_at(w, point, kernel);
    c->faster += side < 0;
    c->slower += side > 0;
    c->same += row_is(row, "verdict", "SAME");
    c->todo += !row;
    c->open += row && !side && !row_is(row, "verdict", "SAME");
}

static bool can_cross(const struct sweep *w)
{
    return w->paired && w->naxes == 1 && grows(&w->axes[0]);
}

char *sweep_crossing(const struct sweep *w, int point, int kernel)
{
    const struct sweep_axis *a = &w->axes[0];
    const int now = can_cross(w) && kernel > 0 ? side_at(w, point, kernel) : 0;
    int last = point - 1;
    while (now && last >= 0 && !side_at(w, last, kernel))
        last--;
    if (!now || last < 0 || side_at(w, last, kernel) == now)
        return NULL;
    char *base = request_entry(&w->base, 0);
    char *text = xasprintf("%s %s at %s = %s..%s", now < 0 ? "overtakes" : "falls behind", base,
                           a->key, a->values[last], a->values[point]);
    free(base);
    return text;
}

/* Each change of sides, with the last point before it and the first behind it. */
static struct walked walk(const struct sweep *w, int kernel, const char *name, struct str *out)
{
    struct walked c = {0};
    for (int i = 0; i < w->npoints; i++) {
        char *crossing = sweep_crossing(w, i, kernel);
        count(&c, w, i, kernel);
        if (crossing)
            str_addf(out, "%s %s\n", name, crossing);
        c.crossings += crossing != NULL;
        free(crossing);
    }
    return c;
}

static void say_counts(const struct sweep *w, const struct walked *c, const char *name,
                       const char *base, struct str *out)
{
    const int decided = c->faster + c->slower;
    if (!decided && !c->same) {
        str_addf(out, "%s against %s: no winner at any of %d points\n", name, base, w->npoints);
        return;
    }
    if (c->crossings || !decided)
        str_addf(out, "%s against %s: ", name, base);
    else
        str_addf(out, "%s is %s than %s at ", name, c->faster ? "FASTER" : "SLOWER", base);
    if (!c->crossings && decided == w->npoints)
        str_add(out, "every point\n");
    else if (!c->crossings && decided)
        str_addf(out, "%d of %d points", decided, w->npoints);
    else
        str_addf(out, "FASTER at %d, SLOWER at %d of %d points", c->faster, c->slower, w->npoints);
    if (decided == w->npoints && !c->crossings)
        return;
    if (c->same)
        str_addf(out, ", the SAME within 1 %% at %d", c->same);
    if (c->open)
        str_addf(out, ", no verdict at %d", c->open);
    if (c->todo)
        str_addf(out, ", not measured at %d", c->todo);
    str_addc(out, '\n');
}

void sweep_say_crossings(const struct sweep *w, struct str *out)
{
    if (!can_cross(w))
        return;
    char *base = request_entry(&w->base, 0);
    for (int k = 1; k < w->base.nkernels; k++) {
        char *name = request_entry(&w->base, k);
        const struct walked c = walk(w, k, name, out);
        say_counts(w, &c, name, base, out);
        free(name);
    }
    free(base);
}

/* ---- places ---- */

/* The axis of hosts or devices; -1: there is none. */
static int place_axis(const struct sweep *w)
{
    for (int i = 0; i < w->naxes; i++)
        if (w->axes[i].place)
            return i;
    return -1;
}

static double time_at(const struct sweep *w, int point, int kernel)
{
    const struct row *row = sweep_row(w, point, kernel);
    return row_is(row, "check", "pass") ? row_real(row, "median_us") : NAN;
}

struct apart {
    double least, most;
    int n;
};

/* Of place `there` over the first, along the other axis. */
static struct apart how_far_apart(const struct sweep *w, int axis, int there, int kernel)
{
    struct apart a = {.least = INFINITY, .most = 0};
    const int others = w->npoints / w->axes[axis].count;
    for (int i = 0; i < others; i++) {
        const int on_first = axis ? sweep_point(w, i, 0) : sweep_point(w, 0, i),
                  on_it = axis ? sweep_point(w, i, there) : sweep_point(w, there, i);
        const double ratio = time_at(w, on_it, kernel) / time_at(w, on_first, kernel);
        if (!isfinite(ratio))
            continue;
        a.least = fmin(a.least, ratio);
        a.most = fmax(a.most, ratio);
        a.n++;
    }
    return a;
}

static bool say_apart(const struct sweep *w, int axis, int kernel, struct str *out)
{
    const struct sweep_axis *a = &w->axes[axis];
    char lo[NUMBER_BUF], hi[NUMBER_BUF], *name = request_entry(&w->base, kernel);
    bool any = false;
    for (int i = 1; i < a->count; i++) {
        const struct apart r = how_far_apart(w, axis, i, kernel);
        if (!r.n)
            continue;
        number_fmt(lo, r.least, 3);
        number_fmt(hi, r.most, 3);
        str_addf(out, "%s: %s=%s takes %s%s%s times the time of %s=%s (%d point%s)\n", name, a->key,
                 a->values[i], lo, strcmp(lo, hi) ? ".." : "", strcmp(lo, hi) ? hi : "", a->key,
                 a->values[0], r.n, r.n == 1 ? "" : "s");
        any = true;
    }
    free(name);
    return any;
}

void sweep_say_places(const struct sweep *w, struct str *out)
{
    const int axis = place_axis(w);
    bool any = false;
    if (axis < 0)
        return;
    const char *key = w->axes[axis].key;
    if (w->paired) {
        str_addf(out, "each ratio is of kernels that took turns on one %s\n", key);
        return;
    }
    for (int k = 0; k < w->base.nkernels && !strcmp(w->metric, "median_us"); k++)
        any |= say_apart(w, axis, k, out);
    if (any)
        str_addf(out,
                 "these are ratios across %ss, of separate runs: more differs than the kernel\n",
                 key);
}

/* ---- what looks fastest ---- */

static bool are_params(const struct sweep *w)
{
    bool all = w->measured && !w->paired && !w->recorded && w->naxes > 0;
    for (int i = 0; i < w->naxes; i++)
        all &= !is_shape_key(w->axes[i].key) && strcmp(w->axes[i].key, "gpu") != 0 &&
               !w->axes[i].place;
    return all;
}

bool sweep_fastest(const struct sweep *w, int *kernel, int best[2])
{
    double least[2] = {INFINITY, INFINITY};
    *kernel = 0;
    best[0] = best[1] = -1;
    if (!are_params(w) || w->base.nkernels != 1)
        return false;
    for (int i = 0; i < w->npoints; i++) {
        const double us = time_at(w, i, 0);
        const int place = us < least[0] ? 0 : us < least[1] ? 1 : 2;
        if (place == 0) {
            least[1] = least[0];
            best[1] = best[0];
        }
        if (place < 2) {
            least[place] = us;
            best[place] = i;
        }
    }
    return best[1] >= 0;
}

/* "BR=32@BC=64": where a point lies on the axes, which are parameters. */
static char *place_of(const struct sweep *w, int point)
{
    struct str out = {0};
    int at[SWEEP_AXES];
    sweep_at(w, point, at);
    for (int i = 0; i < w->naxes; i++)
        str_addf(&out, "%s%s=%s", i ? "@" : "", w->axes[i].key, w->axes[i].values[at[i]]);
    return str_take(&out);
}

static const struct run_row *predicted_at(const struct sweep *w, int point, int kernel)
{
    const struct run_row *run = sweep_run(w, sweep_row(w, point, kernel));
    return run && run->predicted_us > 0 && run->predicted_on ? run : NULL;
}

/* Behind a point: those that are too near it to be told apart. */
static void say_shortest(const struct sweep *w, int kernel, int best, struct str *out)
{
    const struct run_row *first = predicted_at(w, best, kernel);
    char *name = place_of(w, best), buf[2][NUMBER_BUF];
    int near = 0;
    for (int i = 0; i < w->npoints; i++)
        near += i != best && predicted_at(w, i, kernel) &&
                !predicted_order(w->session, first, predicted_at(w, i, kernel));
    str_addf(out, "%s@%s is predicted shortest, %s us on %s, off by %s %%",
             w->base.kernels[kernel]->name, name, number_fmt(buf[0], first->predicted_us, 3),
             first->predicted_on, number_fmt(buf[1], first->predicted_error_pct, 2));
    if (near)
        str_addf(out, "; %d other%s too near to tell which is faster\n", near,
                 near == 1 ? " is" : "s are");
    else
        str_add(out, "; so far before the others, 95 of 100 such orders are right\n");
    free(name);
}

void sweep_say_predicted(const struct sweep *w, struct str *out)
{
    for (int k = 0; are_params(w) && k < w->base.nkernels; k++) {
        int best = -1;
        for (int i = 0; i < w->npoints; i++) {
            const struct run_row *run = predicted_at(w, i, k);
            if (run && (best < 0 || run->predicted_us < predicted_at(w, best, k)->predicted_us))
                best = i;
        }
        if (best >= 0)
            say_shortest(w, k, best, out);
    }
}

enum status sweep_contest(const struct sweep *w, int kernel, const int best[2], struct request *out,
                          struct err *err)
{
    char *a = place_of(w, best[0]), *b = place_of(w, best[1]);
    request_copy(out, &w->base);
    const enum status st = request_twins(out, kernel, a, b, err);
    if (st)
        request_clear(out);
    free(a);
    free(b);
    return st;
}

char *sweep_confirmation(const struct sweep *w, int kernel, const int best[2])
{
    const char *name = w->base.kernels[kernel]->name;
    char *a = place_of(w, best[0]), *b = place_of(w, best[1]);
    struct str out = {0};
    struct request one;
    request_copy(&one, &w->base);
    request_only(&one, kernel);
    str_addf(&out, "compare %s@%s,%s@%s", name, a, name, b);
    request_rest(&one, &out);
    request_clear(&one);
    free(a);
    free(b);
    return str_take(&out);
}
