/* predict_read.c - what was counted, and a plan, as what the time model takes; and its parts as JSON.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "plan/predict.h"
#include "plan/schedule.h"

/* A count of a stranger; what is none is 0. */
static double count_of(const json_t *o, const char *name)
{
    const double v = json_number_of(o, name);
    return v >= 0 && v < 0x1p62 ? v : 0;
}

static void read_phase(const json_t *o, struct predict_phase *ph)
{
    const json_t *chain = json_object_get(o, "chain"), *machine = json_object_get(o, "machine");
    for (int i = 0; i < CHAIN_PARTS_COUNT; i++)
        ph->chain[i] = count_of(chain, chain_part_name((enum chain_part)i));
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        ph->machine[i] = count_of(machine, sim_pipe_name((enum sim_pipe)i));
    ph->times = count_of(o, "times");
    ph->trips = count_of(o, "trips");
    ph->longest = count_of(o, "longest");
    ph->executed = count_of(o, "warp_instructions");
    ph->wavefronts = count_of(o, "smem_wavefronts");
    ph->sectors = count_of(o, "global_sectors");
    ph->products = count_of(o, "tensor_ops");
    ph->cycles = count_of(o, "cycles");
}

/* Of `pass` as it was counted. */
static enum status read_phases(const json_t *pass, const struct plan *plan, struct predict_pass *p,
                               struct err *err)
{
    const json_t *list = json_object_get(pass, "phases");
    const size_t n = json_array_size(list);
    const double left_out = count_of(pass, "phases_counted");
    if (!n || n > PREDICT_PHASES_MAX)
        return err_set(err, ST_NO,
                       "%s: %.0f phases of %s were counted; the time model takes 1 to %d",
                       plan->desc->name, !n && left_out > 0 ? left_out : (double)n, p->name,
                       PREDICT_PHASES_MAX);
    p->phase = xcalloc(n, sizeof *p->phase);
    p->phases = (int)n;
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, i);
        if (!json_is_object(json_object_get(o, "machine")))
            return err_set(err, ST_NO, "%s: the chains of %s are not known", plan->desc->name,
                           p->name);
        read_phase(o, &p->phase[i]);
    }
    return ST_OK;
}

static int64_t blocks_of(const struct plan_pass *pp)
{
    int64_t n = 1;
    for (int i = 0; i < 3; i++)
        if (pp->grid[i] < 1 || __builtin_mul_overflow(n, pp->grid[i], &n))
            return INT_UNKNOWN;
    return n;
}

/* How long blocks are, by the K/V tiles that they walk, or the keys where the kernel has no tiles. Nothing where all
 * are alike, or where they are too many to send one by one: then the last ones matter little. */
static void read_lengths(const struct plan *plan, int pass, struct predict_pass *p)
{
    struct sched_map m =
        sched_map(plan->desc, &plan->params, &plan->shape, pass, plan->passes[pass].grid[0]);
    double sum = 0, least = INFINITY, most = 0;
    if (m.kind == MAP_EVEN || m.kind == MAP_HEAD || p->blocks > SCHED_BLOCKS_MAX)
        return;
    if (desc_param_index(plan->desc, "BC") < 0)
        m.bc = 1;
    p->length = xcalloc((size_t)p->blocks, sizeof *p->length);
    for (int64_t i = 0; i < p->blocks; i++) {
        p->length[i] = sched_work(&m, i).steps;
        sum += p->length[i];
        least = fmin(least, p->length[i]);
        most = fmax(most, p->length[i]);
    }
    if (least < most) {
        for (int64_t i = 0; i < p->blocks; i++)
            p->length[i] *= (double)p->blocks / sum;
        return;
    }
    free(p->length);
    p->length = NULL;
}

static enum status read_pass(const json_t *o, const struct plan *plan, int i,
                             struct predict_pass *p, struct err *err)
{
    const struct plan_pass *pp = &plan->passes[i];
    *p = (struct predict_pass){.name = pp->name,
                               .blocks = blocks_of(pp),
                               .resident = pp->occ.blocks_per_sm,
                               .warps = (pp->threads + 31) / 32,
                               .cluster = pp->cluster,
                               .resident_is_bound = pp->occ.upper_bound};
    if (p->blocks == INT_UNKNOWN || p->resident < 1 || p->warps < 1)
        return err_set(err, ST_NO, "%s: pass %s cannot launch", plan->desc->name, pp->name);
    if (count_of(o, "blocks") != (double)p->blocks)
        return err_set(err, ST_NO, "%s: %.0f blocks were counted, its grid on %s has %lld",
                       plan->desc->name, count_of(o, "blocks"), plan->device->name,
                       (long long)p->blocks);
    const enum status st = read_phases(o, plan, p, err);
    if (st == ST_OK)
        read_lengths(plan, i, p);
    return st;
}

/* What DRAM has to move, shared by what the launches ask for: one that adds up what the first left behind finds it in the L2. */
static void share_bytes(double bytes, struct predict_run *r)
{
    double own[DESC_PASSES_MAX] = {0}, all = 0;
    for (int i = 0; i < r->passes; i++) {
        for (int k = 0; k < r->pass[i].phases; k++)
            own[i] += r->pass[i].phase[k].sectors;
        all += own[i];
    }
    for (int i = 0; i < r->passes; i++)
        r->pass[i].compulsory_bytes = bytes * (all > 0 ? own[i] / all : 1.0 / r->passes);
}

enum status predict_run(const json_t *passes, const struct plan *p, struct predict_run *out,
                        struct err *err)
{
    *out = (struct predict_run){.passes = 0};
    if (p->reason)
        return err_set(err, ST_NO, "%s", p->reason);
    if (!p->device || p->npasses < 1 || json_array_size(passes) != (size_t)p->npasses)
        return err_set(err, ST_NO, "%s: nothing was counted that the time model could use",
                       p->desc->name);
    enum status st = ST_OK;
    for (int i = 0; i < p->npasses && st == ST_OK; i++) {
        out->passes = i + 1;
        st = read_pass(json_array_get(passes, (size_t)i), p, i, &out->pass[i], err);
    }
    if (st == ST_OK)
        share_bytes(p->compulsory_bytes, out);
    return st;
}

json_t *predicted_parts_json(const struct predicted_time *p, const struct predict_run *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->parts; i++) {
        const struct predict_part *x = &p->part[i];
        json_t *o = json_object();
        json_object_set_new(o, "pass",
                            x->pass >= 0 ? json_string(r->pass[x->pass].name) : json_null());
        json_object_set_new(o, "phase", x->phase >= 0 ? json_integer(x->phase) : json_null());
        json_object_set_new(o, "unit", json_string(predict_unit_name(x->unit)));
        json_object_set_new(o, "us", json_real(x->us));
        json_array_append_new(list, o);
    }
    return list;
}
