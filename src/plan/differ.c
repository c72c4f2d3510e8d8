/* differ.c - see differ.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/differ.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "kernel/lex.h"

static double real_of(int64_t v)
{
    return v == INT_UNKNOWN ? NAN : (double)v;
}

static const struct plan_pass *main_pass(const struct plan *p)
{
    return p->npasses > 0 ? &p->passes[p->main_pass] : NULL;
}

static double registers(const struct plan *p)
{
    return real_of(main_pass(p)->regs);
}

static double spills(const struct plan *p)
{
    return real_of(main_pass(p)->spill_bytes);
}

static double smem(const struct plan *p)
{
    return real_of(main_pass(p)->smem_bytes);
}

static double threads(const struct plan *p)
{
    return real_of(main_pass(p)->threads);
}

/* All of the main pass: those that take part, whether they have work throughout or not. */
static double launched(const struct plan *p)
{
    const struct plan_pass *m = main_pass(p);
    return real_of(m->threads) * real_of(m->grid[0]) * real_of(m->grid[1]) * real_of(m->grid[2]);
}

static double blocks(const struct plan *p)
{
    return real_of(main_pass(p)->occ.blocks_per_sm);
}

static double warps(const struct plan *p)
{
    return real_of(main_pass(p)->occ.active_warps);
}

/* Those that have a block at all: a grid smaller than the device leaves the others empty. */
static double busy(const struct plan *p)
{
    const struct plan_pass *m = main_pass(p);
    const double grid = real_of(m->grid[0]) * real_of(m->grid[1]) * real_of(m->grid[2]);
    return p->device && p->device->sms > 0 ? fmin(grid, p->device->sms) : NAN;
}

static double waves(const struct plan *p)
{
    return main_pass(p)->occ.waves;
}

static double requested(const struct plan *p)
{
    return p->requested_bytes;
}

static double peak(const struct plan *p)
{
    return p->peak_tflops;
}

static double barriers(const struct plan *p)
{
    return p->desc->source && p->desc->code <= CODE_NVCC
               ? lex_barriers_in_loops(p->desc->source, p->desc->source_len)
               : NAN;
}

// clang-format off
static const struct figure {
    const char *name, *unit, *origin, *doc;
    double (*of)(const struct plan *p);
    const char *bound; /* what it is where registers are unknown; NULL: it does not hang on them */
    int helps;
    double beside; /* 64 spilled bytes are little beside the kilobyte of registers that a thread has at most */
} figures[DIFFERENCES] = {
    {"blocks an SM", "", "model", "blocks that are resident on an SM", blocks, "<=", 0, 0},
    {"warps an SM", "", "model", "warps that are resident on an SM", warps, "<=", 1, 0},
    {"busy SMs", "", "model", "SMs that have a block at all", busy, NULL, 1, 0},
    {"registers", "", "model", "registers of a thread", registers, NULL, 0, 0},
    {"spilled", "B", "model", "bytes of a thread that did not fit into registers", spills, NULL, -1, 1020},
    {"SMEM", "B", "model", "shared memory of a block", smem, NULL, 0, 0},
    {"threads", "", "model", "threads of a block", threads, NULL, 0, 0},
    {"threads launched", "", "model", "threads of all blocks of the main pass", launched, NULL, 0, 0},
    {"waves", "", "model", "blocks of the grid over those that run at a time", waves, ">=", 0, 0},
    {"requested", "B", "model", "bytes that loads and stores ask for", requested, NULL, -1, 0},
    {"units' TFLOP/s", "TFLOP/s", "model", "dense peak of the units that its products run on", peak, NULL, 1, 0},
    {"barriers in loops", "", "source", "calls of __syncthreads in loops of the kernel's own source", barriers, NULL, -1, 0},
};
// clang-format on

bool difference_ranks(const struct difference *d)
{
    return isfinite(d->value[0]) && isfinite(d->value[1]) && !*d->bound[0] && !*d->bound[1] &&
           d->value[0] != d->value[1];
}

int difference_favours(const struct difference *d)
{
    if (!d->helps || !difference_ranks(d))
        return -1;
    return (d->value[0] > d->value[1]) == (d->helps > 0) ? 0 : 1;
}

/* How far apart: the ratio, with what both have besides, in which nothing counts as one; behind all what does not
 * rank. */
static double strength(const struct difference *d)
{
    const bool known = isfinite(d->value[0]) && isfinite(d->value[1]);
    if (difference_ranks(d) && d->beside > 0)
        return fabs(log2((d->value[0] + d->beside) / (d->value[1] + d->beside)));
    if (difference_ranks(d))
        return isfinite(d->ratio) ? fabs(log2(d->ratio))
                                  : log2(fmax(fmax(d->value[0], d->value[1]), 1));
    return known && d->value[0] != d->value[1] ? -1 : known ? -2 : -3;
}

/* Work and what does it explain a time; shared memory, registers, threads only say how it is done. */
static int stronger(const void *a, const void *b)
{
    const struct difference *x = a, *y = b;
    const int speaks = difference_favours(x) >= 0, other = difference_favours(y) >= 0;
    const double s = strength(x), t = strength(y);
    if (speaks != other)
        return other - speaks;
    return s > t ? -1 : s < t ? 1 : strcmp(x->figure, y->figure);
}

static void fill(const struct figure *f, const struct plan *const plans[2], struct difference *d)
{
    *d = (struct difference){.figure = f->name,
                             .unit = f->unit,
                             .doc = f->doc,
                             .origin = f->origin,
                             .bound = {"", ""},
                             .ratio = NAN,
                             .helps = f->helps,
                             .beside = f->beside};
    for (int i = 0; i < 2; i++) {
        const struct plan_pass *m = main_pass(plans[i]);
        d->value[i] = m ? f->of(plans[i]) : NAN;
        if (m && f->bound && m->occ.upper_bound == 1)
            d->bound[i] = f->bound;
    }
    if (d->value[0] > 0 && d->value[1] > 0 && !*d->bound[0] && !*d->bound[1])
        d->ratio = d->value[0] / d->value[1];
}

int plan_differ(const struct plan *a, const struct plan *b, struct difference out[DIFFERENCES])
{
    int n = 0;
    for (int i = 0; i < DIFFERENCES; i++)
        fill(&figures[i], (const struct plan *const[2]){a, b}, &out[i]);
    qsort(out, DIFFERENCES, sizeof *out, stronger);
    while (n < DIFFERENCES && difference_ranks(&out[n]))
        n++;
    return n;
}

void differences_as_time(struct difference *d, int n, int quick)
{
    for (int i = 1; i < n; i++) { /* insertion: they are few, and keep their order */
        const struct difference moved = d[i];
        int k = i;
        for (;
             difference_favours(&moved) == quick && k > 0 && difference_favours(&d[k - 1]) != quick;
             k--)
            d[k] = d[k - 1];
        d[k] = moved;
    }
}
