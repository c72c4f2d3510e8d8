/* why.c - why a plan is what it is, in at most three sentences.
 *
 * First what holds the kernel back, with the figures; then one parameter to try. The advice is
 * found by planning again with every parameter halved and doubled, so it is never a guess about
 * the layout; registers, which only a compile could tell, are held and said to be.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/number.h"
#include "base/str.h"
#include "plan/plan.h"

/* What stops the next block, in the words that follow "but". */
static void say_limit(const struct plan *p, const struct plan_pass *pass, enum occ_limiter bit,
                      struct str *out)
{
    const struct arch_limits *arch = arch_find(p->device->cc);
    const struct occupancy *o = &pass->occ;
    switch (bit) {
    case OCC_REGS:
        str_addf(out, "%lld registers x %lld threads take %lld of %d", (long long)pass->regs,
                 (long long)pass->threads, (long long)(o->regs_per_warp * o->warps), arch->regs);
        break;
    case OCC_SMEM:
        str_addf(out, "a block takes %lld of %lld B of shared memory",
                 (long long)o->smem_per_block_bytes, (long long)o->carveout_bytes);
        break;
    case OCC_WARPS:
        str_addf(out, "a block takes %lld of %d warp slots", (long long)o->warps, arch->max_warps);
        break;
    case OCC_BLOCKS:
        str_addf(out, "an SM holds %d blocks, however small", arch->max_blocks);
        break;
    case OCC_BARRIERS:
        str_addf(out, "an SM has %d named barriers", arch->barriers);
        break;
    }
}

/* The limit that would be next, and where those blocks would fit. INT_UNKNOWN: there is none. */
static int64_t next_limit(const struct occupancy *o, const char **where)
{
    const struct {
        int64_t limit;
        enum occ_limiter bit;
        const char *where;
    } limits[] = {
        {o->limit_smem, OCC_SMEM, "in shared memory"},
        {o->limit_regs, OCC_REGS, "in the registers"},
        {o->limit_warps, OCC_WARPS, "in the warp slots"},
        {o->limit_blocks, OCC_BLOCKS, "in the block slots"},
    };
    int64_t next = INT_UNKNOWN;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        bool other = limits[i].limit != INT_UNKNOWN && !(o->limiter & (unsigned)limits[i].bit);
        if (!other || (next != INT_UNKNOWN && limits[i].limit >= next))
            continue;
        next = limits[i].limit;
        *where = limits[i].where;
    }
    return next;
}

/* All that bind, joined by "and". */
static void say_limits(const struct plan *p, const struct plan_pass *pass, struct str *out)
{
    static const enum occ_limiter order[] = {OCC_REGS, OCC_SMEM, OCC_WARPS, OCC_BLOCKS,
                                             OCC_BARRIERS};
    const size_t start = out->len;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (pass->occ.limiter & (unsigned)order[i]) {
            str_add(out, out->len > start ? " and " : "");
            say_limit(p, pass, order[i], out);
        }
}

static void say_occupancy(const struct plan *p, const struct plan_pass *pass, struct str *out)
{
    const struct occupancy *o = &pass->occ;
    const char *known = o->upper_bound == 1 ? " at most (its registers are unknown)" : "";
    const char *where = "", *verb = o->blocks_per_sm == 1 ? "fits" : "fit";
    int64_t next = next_limit(o, &where);
    if (o->occupancy_pct >= 100) {
        str_addf(out, "All %lld warp slots of an SM are taken%s. ", (long long)o->active_warps,
                 *known ? ", if its registers allow it" : "");
        return;
    }
    if (next != INT_UNKNOWN)
        str_addf(out, "%lld block%s would fit %s, but ", (long long)next, next == 1 ? "" : "s",
                 where);
    size_t start = out->len;
    say_limits(p, pass, out);
    if (next == INT_UNKNOWN && out->data[start] == 'a')
        out->data[start] = 'A';
    str_addf(out, ": only %lld %s an SM%s. ", (long long)o->blocks_per_sm, verb, known);
}

/* A grid smaller than the device matters more than any occupancy. */
static void say_grid(const struct plan *p, const struct plan_pass *pass, struct str *out)
{
    double blocks = pass->occ.waves * (double)pass->occ.blocks_per_sm * p->device->sms;
    int64_t idle = p->device->sms - llround(blocks);
    if (idle > 0)
        str_addf(out, "The grid has %lld block%s for %d SMs: %lld of them stay empty. ",
                 llround(blocks), llround(blocks) == 1 ? "" : "s", p->device->sms, (long long)idle);
}

/* Advice */

struct trial {
    int64_t blocks_per_sm, threads;
    double warps; /* resident on the whole device; 0: cannot run */
};

static struct trial measure(const struct plan *p)
{
    const struct plan_pass *pass = &p->passes[p->main_pass];
    struct trial t = {.blocks_per_sm = pass->occ.blocks_per_sm, .threads = pass->threads};
    double waves = pass->occ.waves < 1 ? pass->occ.waves : 1;
    if (!p->reason && !isnan(waves))
        t.warps = waves * (double)pass->occ.active_warps * p->device->sms;
    return t;
}

static struct trial try_value(const struct plan *p, int param, int64_t value)
{
    struct plan_regs regs = {.source = "table"};
    for (int i = 0; i < DESC_PASSES_MAX; i++) {
        bool known = i < p->npasses && p->passes[i].regs != INT_UNKNOWN;
        regs.regs[i] = known ? (int)p->passes[i].regs : -1;
        regs.spill_bytes[i] = regs.static_smem[i] = -1;
    }
    struct param_values v = p->params;
    v.v[param] = value;
    struct plan other;
    plan_brief(p->desc, &p->shape, &v, p->device, &regs, &other, NULL);
    struct trial t = measure(&other);
    plan_clear(&other);
    return t;
}

struct advice {
    int param;
    int64_t value;
    struct trial trial;
};

/* More threads a block would always count as more warps, whether they have work or not. */
static void consider(const struct plan *p, int param, int64_t value, const struct trial *now,
                     struct advice *best)
{
    struct param_values v = p->params;
    v.v[param] = value;
    if (value == p->params.v[param] || field_check(&p->desc->params[param], &v, NULL))
        return;
    struct trial t = try_value(p, param, value);
    if (t.warps > best->trial.warps && t.threads <= now->threads)
        *best = (struct advice){param, value, t};
}

static struct advice find_advice(const struct plan *p, const struct trial *now)
{
    struct advice best = {.param = -1, .trial = {.warps = now->warps * 1.2}};
    for (int i = 0; i < p->desc->nparams; i++) {
        int64_t value = p->params.v[i];
        const char *const *words = p->desc->params[i].words;
        if (words) {
            for (int64_t w = 0; words[w]; w++)
                consider(p, i, w, now, &best);
        } else {
            consider(p, i, value / 2, now, &best);
            consider(p, i, value * 2, now, &best);
        }
    }
    return best;
}

static void say_advice(const struct plan *p, struct str *out)
{
    struct trial now = measure(p);
    struct advice a = find_advice(p, &now);
    if (a.param < 0)
        return;
    struct param_values v = p->params;
    v.v[a.param] = a.value;
    str_addf(out, "Try %s=", p->desc->params[a.param].name);
    field_get(&p->desc->params[a.param], &v, out);
    const struct plan_pass *pass = &p->passes[p->main_pass];
    if (now.warps == 0)
        str_addf(out, ", which can be launched: %lld block%s an SM",
                 (long long)a.trial.blocks_per_sm, a.trial.blocks_per_sm == 1 ? "" : "s");
    else
        str_addf(out, ": %.0f warps on the device at a time instead of %.0f", a.trial.warps,
                 now.warps);
    str_addf(out, "%s.", pass->regs == INT_UNKNOWN ? "" : ", if the registers stay as they are");
}

/* Without a CUDA device only the roofline speaks. */
static void say_roof(const struct plan *p, struct str *out)
{
    if (p->bound)
        str_addf(out,
                 "Of %s only the roofline is modelled: %.3g FLOP/B against a ridge of %.3g, "
                 "so %s is the bound.",
                 p->device->name, p->compulsory_intensity, p->ridge, p->bound);
}

static void strip_end(struct str *s)
{
    while (s->len && s->data[s->len - 1] == ' ')
        s->data[--s->len] = '\0';
}

void plan_why(const struct plan *p, struct str *out)
{
    const struct plan_pass *pass = p->npasses ? &p->passes[p->main_pass] : NULL;
    bool occupied = pass && pass->occ.blocks_per_sm != INT_UNKNOWN;
    if (p->reason)
        str_addf(out, "%s. ", p->reason);
    else if (!pass)
        str_addf(out, "%s runs on the CPU and launches nothing.", p->desc->name);
    else if (!occupied)
        say_roof(p, out);
    else {
        say_grid(p, pass, out);
        say_occupancy(p, pass, out);
    }
    if (occupied || (pass && p->reason))
        say_advice(p, out);
    strip_end(out);
}
