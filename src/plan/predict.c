/* predict.c - see predict.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/predict_block.h"
#include "plan/schedule.h"

/* Bytes of a sector. */
enum { SECTOR = 32 };
/* Of the mean: what a block without any work takes, too. (sched_share() ends blocks to within 1e-9 of their work.) */
static const double least_length = 0.01;

const struct predict_factors predict_unfitted = {.v = {1, 1, 1, 1, 1, 1, 1, 1}};

/* ---- names ---- */

#define X(name, what) #name,
static const char *const factor_names[] = {PREDICT_FACTORS(X)};
static const char *const unit_names[] = {PREDICT_UNITS(X)};
#undef X
#define X(name, what) what,
static const char *const factor_whats[] = {PREDICT_FACTORS(X)};
static const char *const unit_whats[] = {PREDICT_UNITS(X)};
#undef X

const char *predict_factor_name(enum predict_factor f)
{
    return factor_names[f];
}

const char *predict_factor_what(enum predict_factor f)
{
    return factor_whats[f];
}

const char *predict_unit_name(enum predict_unit u)
{
    return unit_names[u];
}

const char *predict_unit_what(enum predict_unit u)
{
    return unit_whats[u];
}

const char *predict_unit_words(const char *name)
{
    for (int u = 0; u < PREDICT_UNIT_COUNT; u++)
        if (!strcmp(name, unit_names[u]))
            return unit_whats[u];
    return name;
}

/* ---- a phase of a lone block ---- */

/* Cycles of an SM that a block of this launch keeps each unit busy with the phase. */
static void demand(const struct predict_phase *ph, const struct predict_gpu *g, double blocks,
                   double out[PREDICT_PIPES])
{
    const double asking = fmin(blocks, g->sms),
                 l2 = fmin(g->l2_alone, g->per_clk[PREDICT_l2] * g->sms / asking);
    const double *m = ph->machine, *f = g->factors.v;
    double all = 0;
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        all += m[i];
    const double work[PREDICT_PIPES] = {
        [PREDICT_issue] = all,
        [PREDICT_fma] = m[SIM_PIPE_fma] + g->imul_slots * m[SIM_PIPE_imul],
        [PREDICT_alu] = m[SIM_PIPE_alu],
        [PREDICT_half] = m[SIM_PIPE_half],
        [PREDICT_xu] = m[SIM_PIPE_xu],
        [PREDICT_smem] = (ph->wavefronts + ph->sectors / 4) * f[PREDICT_FACTOR_smem],
        [PREDICT_l1] = ph->sectors,
        [PREDICT_tensor] = ph->products * f[PREDICT_FACTOR_tensor],
        [PREDICT_l2] = ph->sectors * f[PREDICT_FACTOR_l2],
    };
    for (int i = 0; i < PREDICT_PIPES; i++)
        out[i] = work[i] > 0 ? work[i] / (i == PREDICT_l2 ? l2 : g->per_clk[i]) / blocks : 0;
}

static double scale_of(enum chain_part p, const struct predict_factors *f)
{
    switch (p) {
    case CHAIN_alu:
        return f->v[PREDICT_FACTOR_alu];
    case CHAIN_shared:
        return f->v[PREDICT_FACTOR_shared];
    case CHAIN_global:
        return f->v[PREDICT_FACTOR_global];
    case CHAIN_issue:
        return f->v[PREDICT_FACTOR_issue];
    default:
        return 1;
    }
}

/* The busiest warp over the average of those that meet: the others wait for it at the barrier. Of clusters they are those of
 * all its blocks. */
static double imbalance(const struct predict_phase *ph, const struct predict_pass *p)
{
    const double warps = (double)p->warps * fmax(1, (double)p->cluster);
    return ph->executed > 0 ? fmax(1, ph->longest * warps / ph->executed) : 1;
}

/* Cycles of the chain of a block's busiest warp; *part: what most of them wait for. In the first wave of blocks
 * nothing is in the L2 yet: that is the share `cold` of all. */
static double chain(const struct predict_phase *ph, const struct predict_pass *p,
                    const struct predict_gpu *g, double cold, enum chain_part *part)
{
    const double each = imbalance(ph, p) / ((double)p->blocks * (double)p->warps);
    double sum = 0, most = -1;
    for (int i = 0; i < CHAIN_PARTS_COUNT; i++) {
        double cycles = ph->chain[i] * scale_of((enum chain_part)i, &g->factors) * each;
        if (i == CHAIN_global)
            cycles += ph->trips * CHAIN_DRAM_MORE * cold * each;
        sum += cycles;
        if (cycles > most) {
            most = cycles;
            *part = (enum chain_part)i;
        }
    }
    return sum;
}

/* ---- a launch ---- */

static int busiest_of(const double d[PREDICT_PIPES], int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (d[i] >= d[best]) /* of two the particular one: f32 arithmetic before issue slots */
            best = i;
    return best;
}

/* Of warpgroups that work beside each other the simulation has the cycles: what no unit is busy with they wait. */
static struct phase_cost group_cost(const struct predict_phase *ph, const struct predict_pass *p,
                                    const struct predict_gpu *g)
{
    struct phase_cost c = {.wait = PREDICT_wait_group};
    demand(ph, g, (double)p->blocks, c.demand);
    c.demand[PREDICT_tensor] = ph->products / g->wgmma_per_clk / (double)p->blocks;
    c.unit = (enum predict_unit)busiest_of(c.demand, PREDICT_l2);
    c.queue = c.demand[c.unit];
    c.waits = fmax(0, ph->cycles / (double)p->blocks - c.queue);
    return c;
}

/* Warps of a block go from barrier to barrier in step, so they wait together and then are in each other's way: the
 * work of the others comes on top of one's own chain, which has one's own work. */
struct phase_cost phase_cost(const struct predict_phase *ph, const struct predict_pass *p,
                             const struct predict_gpu *g, double cold)
{
    struct phase_cost c;
    enum chain_part part = CHAIN_issue;
    if (ph->cycles > 0)
        return group_cost(ph, p, g);
    c.waits = chain(ph, p, g, cold, &part);
    demand(ph, g, (double)p->blocks, c.demand);
    c.wait = (enum predict_unit)(PREDICT_wait_alu + (int)part);
    c.unit = (enum predict_unit)busiest_of(c.demand, PREDICT_l2);
    const double all = c.demand[c.unit], l2 = c.demand[PREDICT_l2],
                 own = fmin(all, all * imbalance(ph, p) / (double)p->warps);
    c.queue = fmax(all - own, all - c.waits);
    if (l2 - c.waits >
        c.queue) { /* what comes from the L2 does so while its warps wait for something else */
        c.queue = l2 - c.waits;
        c.unit = PREDICT_l2;
    }
    return c;
}

/* How often blocks began the phase: those of a cluster begin it together. */
static double begun(const struct predict_phase *ph, const struct predict_pass *p)
{
    return ph->times * fmax(1, (double)p->cluster);
}

/* Each block does it once, however long it is. */
static bool is_once(const struct predict_phase *ph, const struct predict_pass *p)
{
    return fabs(begun(ph, p) - (double)p->blocks) < 0.5;
}

/* Blocks that have something to do. */
static double busy_blocks(const struct predict_pass *p)
{
    double n = p->length ? 0 : (double)p->blocks;
    for (int64_t i = 0; p->length && i < p->blocks; i++)
        n += p->length[i] > 0;
    return n;
}

/* What few blocks do that have as much to do as others: those that come last, and combine. Of it the mean has a part, the last
 * one all. */
static double late_cycles(const struct predict_phase *ph, const struct predict_pass *p, double busy,
                          double cycles)
{
    enum { FEW = 2 };
    const double times = begun(ph, p);
    return times > 0 && times * FEW <= busy ? cycles * ((double)p->blocks / times - 1) : 0;
}

/* A cluster lies within one part of the GPU (GPC), so that those which do not divide it leave multiprocessors empty. */
static int sms_for(const struct predict_pass *p, const struct predict_gpu *g)
{
    const int room = p->cluster > 1 && p->cluster <= PREDICT_CLUSTER ? g->room[p->cluster] : 0;
    return room > 0 ? room : g->sms;
}

double cold_share(const struct predict_pass *p, const struct predict_gpu *g)
{
    return fmin(1, (double)sms_for(p, g) * (double)p->resident / (double)p->blocks);
}

struct block_cost cost_of(const struct predict_pass *p, const struct predict_gpu *g)
{
    struct block_cost c = {.lone = 0};
    const double cold = cold_share(p, g), busy = busy_blocks(p);
    double once = 0;
    for (int i = 0; i < p->phases; i++) {
        const struct phase_cost ph = phase_cost(&p->phase[i], p, g, cold);
        c.lone += ph.waits + ph.queue;
        c.late += late_cycles(&p->phase[i], p, busy, ph.waits + ph.queue);
        once += is_once(&p->phase[i], p) ? ph.waits + ph.queue : 0;
        c.beside |= p->phase[i].cycles > 0;
        for (int k = 0; k < PREDICT_PIPES; k++)
            c.demand[k] += ph.demand[k];
    }
    c.once = c.lone > 0 ? once / c.lone : 0;
    c.busiest = (enum predict_unit)busiest_of(c.demand, PREDICT_PIPES);
    c.pipe = c.demand[c.busiest];
    return c;
}

/* Warpgroups are out of step already, so that other blocks' fill what one leaves free. */
double together(const struct block_cost *c, double r)
{
    return c->beside ? fmax(c->lone, r * c->pipe) : parts_together(c, r);
}

double parts_together(const struct block_cost *c, double r)
{
    return c->lone + (r - 1) * c->pipe;
}

/* Rounds of full SMs, halfway between blocks that all end at once and blocks that never do. */
static struct launch_time even_blocks(const struct block_cost *c, double share, double resident)
{
    const double side = fmin(resident, fmax(1, ceil(share)));
    struct launch_time t = {.cycles = together(c, side), .side = side};
    if (share <= resident)
        return t;
    const double full = floor(share / resident), rest = ceil(share - full * resident);
    const double smooth = t.cycles * share / resident,
                 rounds = t.cycles * full + (rest > 0 ? together(c, rest) : 0);
    t.cycles = (smooth + rounds) / 2;
    t.tail = fmax(0, t.cycles - smooth);
    return t;
}

double place_blocks(const struct predict_pass *p, const struct predict_gpu *g,
                    const struct block_cost *c, double side, struct sched_block *out)
{
    const double work = together(c, side) / side;
    double *each = xcalloc((size_t)p->blocks + 1, sizeof *each);
    for (int64_t i = 0; i < p->blocks; i++) {
        const double length = p->length ? c->once + (1 - c->once) * p->length[i] : 1;
        each[i] = fmax(length, least_length) * work;
    }
    const double end = sched_share(each, p->blocks, sms_for(p, g), (int)p->resident,
                                   fmin(1, work / together(c, 1)), 0, out);
    free(each);
    return end;
}

/* Blocks of different lengths, each sent where one has ended. */
static struct launch_time uneven_blocks(const struct predict_pass *p, const struct predict_gpu *g,
                                        const struct block_cost *c, double share)
{
    const double side = fmin((double)p->resident, fmax(1, ceil(share))), full = together(c, side);
    struct sched_block *out = xcalloc((size_t)p->blocks, sizeof *out);
    struct launch_time t = {.side = side};
    t.cycles = place_blocks(p, g, c, side, out);
    t.tail = fmax(0, t.cycles - full * fmax(1, share / side));
    free(out);
    return t;
}

struct launch_time launch_time(const struct predict_pass *p, const struct predict_gpu *g,
                               const struct block_cost *c)
{
    const double share = (double)p->blocks / sms_for(p, g);
    struct launch_time t =
        p->length ? uneven_blocks(p, g, c, share) : even_blocks(c, share, (double)p->resident);
    t.cycles += c->late;
    t.tail += c->late;
    return t;
}

double memory_us(const struct predict_pass *p, const struct predict_gpu *g, enum predict_unit *unit)
{
    double sectors = 0;
    for (int i = 0; i < p->phases; i++)
        sectors += p->phase[i].sectors;
    const double l2 = sectors * SECTOR / g->l2_gbs * 1e-3 * g->factors.v[PREDICT_FACTOR_l2],
                 dram = p->compulsory_bytes / g->dram_gbs * 1e-3;
    *unit = dram > l2 || isnan(l2) ? PREDICT_dram : PREDICT_l2;
    return fmax(fmax(l2, dram), 0);
}

double launch_us(const struct predict_gpu *g)
{
    return g->launch_us * g->factors.v[PREDICT_FACTOR_launch];
}

double run_us(const struct predict_gpu *g)
{
    return g->run_us * g->factors.v[PREDICT_FACTOR_launch];
}

double pass_us(const struct predict_pass *p, const struct predict_gpu *g,
               const struct launch_time *t, enum predict_unit *memory)
{
    const double own = t->cycles / g->clock_mhz, least = memory_us(p, g, memory);
    return cbrt(own * own * own + least * least * least);
}

double predict_us(const struct predict_run *r, const struct predict_gpu *g)
{
    double us = run_us(g);
    for (int i = 0; i < r->passes; i++) {
        const struct predict_pass *p = &r->pass[i];
        const struct block_cost c = cost_of(p, g);
        enum predict_unit unit;
        const struct launch_time t = launch_time(p, g, &c);
        us += pass_us(p, g, &t, &unit) + launch_us(g);
    }
    return us;
}

/* ---- what it is made of ---- */

static void add_part(struct predicted_time *out, int pass, int phase, enum predict_unit unit,
                     double us)
{
    if (!(us > 0))
        return;
    out->part = xrealloc(out->part, (out->parts + 1) * sizeof *out->part);
    out->part[out->parts++] = (struct predict_part){pass, phase, unit, us};
    out->us += us;
    if (unit >= PREDICT_wait_alu && unit <= PREDICT_wait_group)
        out->wait_us += us;
}

/* The time of full SMs by phase: what blocks wait, and what they ask of the busiest unit, as the two make T. */
static void add_phases(struct predicted_time *out, int pass, const struct predict_pass *p,
                       const struct predict_gpu *g, const struct block_cost *c,
                       const struct launch_time *t)
{
    const double all = parts_together(c, t->side);
    const double us = all > 0 ? (t->cycles - t->tail) / g->clock_mhz / all : 0;
    for (int i = 0; i < p->phases; i++) {
        const struct phase_cost ph = phase_cost(&p->phase[i], p, g, cold_share(p, g));
        add_part(out, pass, i, ph.wait, us * ph.waits);
        add_part(out, pass, i, ph.unit, us * ph.queue);
        add_part(out, pass, i, c->busiest, us * (t->side - 1) * ph.demand[c->busiest]);
    }
}

static void add_launch(struct predicted_time *out, int pass, const struct predict_pass *p,
                       const struct predict_gpu *g)
{
    const struct block_cost c = cost_of(p, g);
    const struct launch_time t = launch_time(p, g, &c);
    enum predict_unit memory;
    const double us = pass_us(p, g, &t, &memory);
    add_phases(out, pass, p, g, &c, &t);
    add_part(out, pass, -1, PREDICT_tail, t.tail / g->clock_mhz);
    add_part(out, pass, -1, memory, us - t.cycles / g->clock_mhz);
    add_part(out, pass, -1, PREDICT_launch, launch_us(g));
    out->waves =
        fmax(out->waves, (double)p->blocks / ((double)sms_for(p, g) * (double)p->resident));
}

static int by_time(const void *x, const void *y)
{
    const struct predict_part *a = x, *b = y;
    if (a->us != b->us)
        return a->us < b->us ? 1 : -1;
    const int by[] = {a->pass - b->pass, a->phase - b->phase, (int)a->unit - (int)b->unit};
    return by[0] ? by[0] : by[1] ? by[1] : by[2];
}

static void find_binding(struct predicted_time *out)
{
    double sum[PREDICT_UNIT_COUNT] = {0};
    for (size_t i = 0; i < out->parts; i++)
        sum[out->part[i].unit] += out->part[i].us;
    for (int i = 0; i < PREDICT_UNIT_COUNT; i++)
        if (sum[i] > out->binds_us) {
            out->binds = (enum predict_unit)i;
            out->binds_us = sum[i];
        }
}

void predict(const struct predict_run *r, const struct predict_gpu *g, struct predicted_time *out)
{
    *out = (struct predicted_time){.us = 0};
    for (int i = 0; i < r->passes; i++)
        add_launch(out, i, &r->pass[i], g);
    add_part(out, -1, -1, PREDICT_launch, run_us(g));
    find_binding(out);
    if (out->parts)
        qsort(out->part, out->parts, sizeof *out->part, by_time);
}

void predicted_time_clear(struct predicted_time *p)
{
    free(p->part);
    *p = (struct predicted_time){.us = 0};
}

void predict_run_clear(struct predict_run *r)
{
    for (int i = 0; i < r->passes; i++) {
        free(r->pass[i].length);
        free(r->pass[i].phase);
    }
    *r = (struct predict_run){.passes = 0};
}
