/* phases.c - see phases.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

enum { LETTERS = 26 };

static const struct field phase_fields[] = {
    CHART_FIELD(block_phase, text, FIELD_TEXT),
    CHART_FIELD(block_phase, share, FIELD_REAL),
    {0},
};
const struct chart_layout phase_layout = {sizeof(struct block_phase), phase_fields, NULL};
static const struct field leg_fields[] = {
    CHART_FIELD(block_leg, course, FIELD_INT),
    CHART_FIELD(block_leg, phase, FIELD_INT),
    CHART_FIELD(block_leg, rounds, FIELD_INT),
    CHART_FIELD(block_leg, length, FIELD_INT),
    CHART_FIELD(block_leg, at, FIELD_INT),
    CHART_FIELD(block_leg, share, FIELD_REAL),
    {0},
};
const struct chart_layout leg_layout = {sizeof(struct block_leg), leg_fields, NULL};

void panel_phases(struct block_panel *p, int phases, int legs)
{
    p->phases = model_list(&phase_layout, p->nphases = phases);
    p->legs = model_list(&leg_layout, p->nlegs = legs);
}

/* A loop's legs stand beside each other, in order, with the same rounds. */
static bool leg_sound(const struct block_panel *p, int i)
{
    const struct block_leg *l = &p->legs[i];
    if (l->course < 0 || l->phase < 0 || l->phase >= p->nphases || l->rounds < 1 || l->at < 0 ||
        l->at >= l->length || l->at > i || l->length > p->nlegs - (i - l->at) || !(l->share >= 0) ||
        l->share > 1.001)
        return false;
    const struct block_leg *first = l - l->at;
    return first->at == 0 && first->length == l->length && first->rounds == l->rounds &&
           first->course == l->course;
}

bool phases_sound(const struct block_panel *p)
{
    bool ok = true;
    for (int i = 0; i < p->nphases; i++)
        ok = ok && p->phases[i].text;
    for (int i = 0; ok && i < p->nlegs; i++)
        ok = leg_sound(p, i) && (!i || p->legs[i].course >= p->legs[i - 1].course);
    return ok;
}

bool panel_has_phases(const struct block_panel *p)
{
    return p->nphases > 0 && p->nlegs > 0;
}

/* Of a round's unit of time what lies in [x, x + w) before `t` rounds. */
static double before(double t, double x, double w)
{
    const double whole = floor(t);
    return whole * w + fmin(fmax(t - whole - x, 0), w);
}

static int first_leg(const struct block_panel *p, int64_t course)
{
    int lo = 0, hi = p->nlegs;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (p->legs[mid].course < course)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* What phases have of the share [from, to) of the loop that begins with leg i at `start`; its share. */
static double add_loop(const struct block_panel *p, int i, double start, double from, double to,
                       double *time)
{
    const struct block_leg *l = &p->legs[i];
    double all = 0, x = 0;
    for (int64_t k = 0; k < l->length; k++)
        all += l[k].share;
    from = fmax(from, start);
    to = fmin(to, start + all);
    if (!(to > from) || !(all > 0))
        return all;
    const double rounds = (double)l->rounds, a = (from - start) / all * rounds,
                 b = (to - start) / all * rounds;
    for (int64_t k = 0; k < l->length; k++) {
        const double w = l[k].share / all;
        time[l[k].phase] += (before(b, x, w) - before(a, x, w)) * all / rounds;
        x += w;
    }
    return all;
}

int phase_most(const struct block_panel *p, const struct block_span *b, double from, double to)
{
    const double us = b->end_us - b->begin_us;
    double time[PHASES_MAX] = {0}, start = 0;
    int best = -1;
    if (!panel_has_phases(p) || b->course < 0 || !(us > 0) || p->nphases > PHASES_MAX)
        return -1;
    from = (from - b->begin_us) / us;
    to = (to - b->begin_us) / us;
    for (int i = first_leg(p, b->course);
         i < p->nlegs && p->legs[i].course == b->course && start < to; i += (int)p->legs[i].length)
        start += add_loop(p, i, start, from, to, time);
    for (int i = 0; i < p->nphases; i++)
        if (time[i] > 0 && (best < 0 || time[i] > time[best]))
            best = i;
    return best;
}

char phase_letter(int phase)
{
    return phase < LETTERS ? (char)('A' + phase) : '~';
}

static int by_share(const void *x, const void *y)
{
    const struct block_phase *a = *(struct block_phase *const *)x,
                             *b = *(struct block_phase *const *)y;
    return a->share != b->share ? (a->share < b->share) - (a->share > b->share) : (a > b) - (a < b);
}

int phases_top(const struct block_panel *p, int most, int *out)
{
    const struct block_phase **list = xcalloc((size_t)p->nphases + 1, sizeof *list);
    int n = 0;
    for (int i = 0; i < p->nphases; i++)
        list[i] = &p->phases[i];
    qsort(list, (size_t)p->nphases, sizeof *list, by_share);
    for (int i = 0; i < p->nphases && n < most; i++)
        if (list[i]->share > 0)
            out[n++] = (int)(list[i] - p->phases);
    free(list);
    return n;
}

void phases_legend(const struct block_panel *p, int most, struct str *out)
{
    int *list = xcalloc((size_t)p->nphases + 1, sizeof *list);
    char share[NUMBER_BUF];
    const int n = phases_top(p, most ? most : p->nphases, list);
    for (int i = 0; i < n; i++)
        str_addf(out, "%s%c %s %s %%", i ? "; " : "", phase_letter(list[i]),
                 p->phases[list[i]].text, number_fmt(share, 100 * p->phases[list[i]].share, 2));
    if (n < p->nphases)
        str_addf(out, "; %d less", p->nphases - n);
    free(list);
}

void phases_line(const struct block_panel *p, const struct block_span *b, int w, char *out)
{
    const double step = (b->end_us - b->begin_us) / w;
    for (int x = 0; x < w; x++) {
        const int phase = phase_most(p, b, b->begin_us + x * step, b->begin_us + (x + 1) * step);
        out[x] = phase < 0 ? '?' : phase_letter(phase);
    }
}
