/* schedule.c - blocks over SMs, by the model; and what any schedule, real ones too, amounts to.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

/* Two a scheduler, so that one can issue while the other waits. */
enum { WARPS_TO_FILL = 8 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* ---- what a block works on ---- */

static int64_t param_or(const struct kernel_desc *d, const struct param_values *v, const char *name,
                        int64_t otherwise)
{
    const int i = desc_param_index(d, name);
    return i >= 0 && v->v[i] > 0 ? v->v[i] : otherwise;
}

struct sched_map sched_map(const struct kernel_desc *d, const struct param_values *v,
                           const struct shape *s, int pass, int64_t gx)
{
    struct sched_map m = {.kind = MAP_EVEN, .gx = gx, .shape = s};
    m.br = param_or(d, v, "BR", param_or(d, v, "QUERIES", 1));
    m.bc = param_or(d, v, "BC", s->Sk);
    m.splits = param_or(d, v, "SPLITS", 1);
    const int64_t tiles = ceil_div(s->Sq, m.br);
    if (pass > 0 || gx <= 0)
        return m;
    if (gx == tiles * m.splits)
        m.kind = m.splits > 1 ? MAP_SPLIT : MAP_TILE;
    else if (gx == 1)
        m.kind = MAP_HEAD;
    return m;
}

/* Keys that the last row of a query tile sees: where its K/V loop may stop. */
static int64_t keys_of_tile(const struct sched_map *m, int64_t tile)
{
    return shape_row_keys(m->shape, least((tile + 1) * m->br, m->shape->Sq) - 1);
}

static int64_t steps_of_split(const struct sched_map *m, int64_t tile, int64_t split)
{
    const int64_t all = ceil_div(m->shape->Sk, m->bc), share = ceil_div(all, m->splits);
    const int64_t first = least(all, split * share);
    const int64_t last = least(ceil_div(keys_of_tile(m, tile), m->bc), least(all, first + share));
    return last > first ? last - first : 0;
}

static int64_t steps_of_head(const struct sched_map *m)
{
    int64_t steps = 0;
    for (int64_t t = 0; t < ceil_div(m->shape->Sq, m->br); t++)
        steps += ceil_div(keys_of_tile(m, t), m->bc);
    return steps;
}

struct sched_work sched_work(const struct sched_map *m, int64_t index)
{
    const int64_t x = m->gx > 0 ? index % m->gx : 0, head = m->gx > 0 ? index / m->gx : -1;
    struct sched_work w = {.tile = -1, .head = (int32_t)head, .split = -1, .steps = -1};
    if (m->kind == MAP_TILE || m->kind == MAP_SPLIT)
        w.tile = (int32_t)(x / m->splits);
    if (m->kind == MAP_TILE)
        w.steps = (int32_t)ceil_div(keys_of_tile(m, x), m->bc);
    if (m->kind == MAP_SPLIT) {
        w.split = (int32_t)(x % m->splits);
        w.steps = (int32_t)steps_of_split(m, w.tile, w.split);
    }
    if (m->kind == MAP_HEAD)
        w.steps = (int32_t)steps_of_head(m);
    return w;
}

/* ---- durations ---- */

/* What one SM can do. */
struct rates {
    double flops_per_us, bytes_per_us;
};

/* On a scale within the kernel: products at the peak of the pipes that it uses, Q and O at the DRAM's rate. */
static double tile_us(const struct sched_map *m, const struct sched_work *w, const struct rates *r)
{
    const struct shape *s = m->shape;
    const int64_t rows = m->kind == MAP_HEAD ? s->Sq : m->br;
    const double flops = 4.0 * (double)(m->br * m->bc) * (double)s->D * w->steps;
    const double bytes = 2.0 * (double)rows * (double)s->D * (double)dtype_size(s->dtype);
    return flops / r->flops_per_us + bytes / r->bytes_per_us;
}

/* A pass that no rule knows: its share of the products and its part of the memory, spread evenly. */
static double even_us(const struct plan *p, int pass, bool tiled, int64_t blocks,
                      const struct rates *r)
{
    double bytes = (double)shape_q_elems(&p->shape) * (double)dtype_size(p->shape.dtype);
    for (int i = 0; i < p->desc->nws; i++)
        bytes += (double)p->ws_bytes[i];
    double flops = p->flops;
    if (tiled)
        flops = 0; /* the first pass had them all */
    else if (p->npasses > 1)
        flops *= pass == 0 || pass == p->npasses - 1 ? 0.5 : 0; /* Q K^T first, P V last */
    return (flops / r->flops_per_us + bytes / r->bytes_per_us) / (double)blocks;
}

static int64_t blocks_of(const struct plan_pass *pass)
{
    int64_t n = 1;
    for (int i = 0; i < 3; i++)
        if (pass->grid[i] == INT_UNKNOWN || __builtin_mul_overflow(n, pass->grid[i], &n))
            return INT_UNKNOWN;
    return n;
}

static void number_waves(struct sched_block *b, int64_t n, int64_t slots)
{
    for (int64_t i = 0; i < n; i++)
        b[i].wave = (int32_t)(i / slots);
}

/* One pass, from `start` on; returns its end. *longest grows to what its longest block takes alone. */
static double model_pass(const struct plan *p, int pass, double start, struct sched_block *out,
                         double *longest)
{
    const struct plan_pass *pp = &p->passes[pass];
    const int sms = p->device->sms, lanes = (int)pp->occ.blocks_per_sm;
    const int64_t n = blocks_of(pp);
    const struct sched_map m = sched_map(p->desc, &p->params, &p->shape, pass, pp->grid[0]);
    const bool tiled =
        sched_map(p->desc, &p->params, &p->shape, 0, p->passes[0].grid[0]).kind != MAP_EVEN;
    const struct rates r = {p->peak_tflops * 1e6 / sms, p->dram_gbs * 1e3 / sms};
    const double alone = fmin(1, (double)pp->occ.warps / WARPS_TO_FILL);
    double *us = xcalloc((size_t)n, sizeof *us);
    for (int64_t i = 0; i < n; i++) {
        out[i] =
            (struct sched_block){.index = i, .pass = pass, .course = -1, .work = sched_work(&m, i)};
        us[i] = m.kind == MAP_EVEN ? even_us(p, pass, tiled && pass > 0, n, &r)
                                   : tile_us(&m, &out[i].work, &r);
    }
    const double rate = fmax(alone, 1.0 / lanes);
    const double end = sched_share(us, n, sms, lanes, rate, start, out);
    for (int64_t i = 0; i < n; i++)
        *longest = fmax(*longest, us[i] / rate);
    number_waves(out, n, (int64_t)sms * lanes);
    free(us);
    return end;
}

/* Why the plan gives no picture. */
static enum status check_plan(const struct plan *p, int64_t *total, struct err *why)
{
    *total = 0;
    if (p->reason)
        return err_set(why, ST_NO, "%s", p->reason);
    if (!p->device || !p->device->cc || !p->npasses)
        return err_set(why, ST_NO, "%s: blocks over SMs need a CUDA device and a CUDA kernel",
                       p->desc->name);
    if (isnan(p->peak_tflops) || isnan(p->dram_gbs))
        return err_set(why, ST_NO, "%s: the device table has no rates of %s", p->desc->name,
                       p->device->name);
    for (int i = 0; i < p->npasses; i++) {
        const int64_t n = blocks_of(&p->passes[i]);
        if (n == INT_UNKNOWN || p->passes[i].occ.blocks_per_sm < 1)
            return err_set(why, ST_NO, "%s: pass %s cannot launch", p->desc->name,
                           p->passes[i].name);
        if (__builtin_add_overflow(*total, n, total) || *total > SCHED_BLOCKS_MAX)
            return err_set(why, ST_NO,
                           "%s has %lld blocks here; the picture holds %d: try smaller B, H or S",
                           p->desc->name, (long long)n, SCHED_BLOCKS_MAX);
    }
    return ST_OK;
}

enum status sched_model(const struct plan *p, struct schedule *out, struct err *why)
{
    int64_t total;
    *out = (struct schedule){.unit = "SM", .origin = "model"};
    enum status st = check_plan(p, &total, why);
    if (st != ST_OK)
        return st;
    out->rows = p->device->sms;
    out->lanes = (int)p->passes[0].occ.blocks_per_sm;
    out->bound = p->passes[0].occ.upper_bound;
    out->tile_rows = param_or(p->desc, &p->params, "BR", 1);
    out->blocks = xcalloc((size_t)total, sizeof *out->blocks);
    for (int i = 0; i < p->npasses; i++) {
        snprintf(out->passes[out->npasses++], sizeof out->passes[0], "%s", p->passes[i].name);
        double longest = 0;
        out->span_us = model_pass(p, i, out->span_us, out->blocks + out->nblocks, &longest);
        if (i == 0)
            out->block_us = longest;
        out->nblocks += blocks_of(&p->passes[i]);
    }
    return ST_OK;
}

/* ---- stamps ---- */

static int by_begin(const void *a, const void *b)
{
    const struct sched_block *x = *(struct sched_block *const *)a,
                             *y = *(struct sched_block *const *)b;
    return (x->begin_us > y->begin_us) - (x->begin_us < y->begin_us);
}

/* The blocks in the order of their begins; the caller frees it. */
static struct sched_block **sorted(const struct schedule *s)
{
    struct sched_block **list = xcalloc((size_t)s->nblocks + 1, sizeof *list);
    for (int64_t i = 0; i < s->nblocks; i++)
        list[i] = &s->blocks[i];
    qsort(list, (size_t)s->nblocks, sizeof *list, by_begin);
    return list;
}

/* Blocks of a row that overlap stand in different lanes, each in the first that is free. */
static int number_lanes(struct schedule *s, struct sched_block *const *list, int pass)
{
    enum { LANES_MAX = 64 };
    int most = 0;
    double *until = xcalloc((size_t)s->rows * LANES_MAX, sizeof *until);
    for (int64_t i = 0; i < s->nblocks; i++) {
        struct sched_block *b = list[i];
        if (b->pass != pass)
            continue;
        double *row = until + (size_t)b->row * LANES_MAX;
        while (b->lane < LANES_MAX - 1 && row[b->lane] > b->begin_us)
            b->lane++;
        row[b->lane] = b->end_us;
        if (b->lane >= most)
            most = b->lane + 1;
    }
    free(until);
    return most;
}

static void number_stamped_waves(struct schedule *s, struct sched_block *const *list)
{
    const int64_t slots = (int64_t)s->rows * (s->lanes > 0 ? s->lanes : 1);
    int64_t seen[DESC_PASSES_MAX] = {0};
    for (int64_t i = 0; i < s->nblocks; i++)
        list[i]->wave = (int32_t)(seen[list[i]->pass]++ / slots);
}

static void name_work(struct schedule *s, const struct kernel_desc *d, const struct param_values *v,
                      const struct shape *shape)
{
    int64_t count[DESC_PASSES_MAX] = {0};
    struct sched_map maps[DESC_PASSES_MAX];
    for (int64_t i = 0; i < s->nblocks; i++)
        count[s->blocks[i].pass] += !s->blocks[i].part;
    for (int i = 0; i < DESC_PASSES_MAX; i++) {
        const int64_t heads = shape->B * shape->H;
        maps[i] = sched_map(d, v, shape, i, count[i] % heads ? 0 : count[i] / heads);
    }
    for (int64_t i = 0; i < s->nblocks; i++)
        s->blocks[i].work = sched_work(&maps[s->blocks[i].pass], s->blocks[i].index);
}

void sched_arrange(struct schedule *s, const struct kernel_desc *d, const struct param_values *v,
                   const struct shape *shape)
{
    struct sched_block **list = sorted(s);
    const double zero = s->nblocks ? list[0]->begin_us : 0;
    s->span_us = 0;
    for (int64_t i = 0; i < s->nblocks; i++) {
        list[i]->begin_us -= zero;
        list[i]->end_us -= zero;
        list[i]->lane = 0;
        s->span_us = fmax(s->span_us, list[i]->end_us);
    }
    for (int i = s->npasses - 1; i >= 0; i--) {
        const int lanes = number_lanes(s, list, i);
        if (i == 0 && s->lanes < lanes) /* the plan may know more slots than were used */
            s->lanes = lanes;
    }
    number_stamped_waves(s, list);
    s->tile_rows = param_or(d, v, "BR", 1);
    name_work(s, d, v, shape);
    free(list);
}

void sched_clear(struct schedule *s)
{
    free(s->blocks);
    *s = (struct schedule){0};
}

/* ---- what it amounts to ---- */

/* Time that rows have at least one block, over all rows. */
static double busy_us(const struct schedule *s, struct sched_block *const *list)
{
    double sum = 0, *until = xcalloc((size_t)s->rows + 1, sizeof *until);
    for (int64_t i = 0; i < s->nblocks; i++) {
        double *row = &until[list[i]->row];
        const double from = fmax(*row, list[i]->begin_us);
        if (list[i]->end_us > from)
            sum += list[i]->end_us - from;
        *row = fmax(*row, list[i]->end_us);
    }
    free(until);
    return sum;
}

/* The tail of a pass: once its last block has begun, from the first moment that fewer blocks run
 * than slots could, or than the pass has, to the end. */
static double tail_us(const struct schedule *s, int64_t slots, int64_t blocks)
{
    double last_begin = 0, end = 0, first_end = INFINITY;
    int64_t running = 0;
    for (int64_t i = 0; i < s->nblocks; i++) {
        if (s->blocks[i].pass == 0) {
            last_begin = fmax(last_begin, s->blocks[i].begin_us);
            end = fmax(end, s->blocks[i].end_us);
        }
    }
    for (int64_t i = 0; i < s->nblocks; i++) {
        const struct sched_block *b = &s->blocks[i];
        if (b->pass != 0 || b->end_us <= last_begin)
            continue;
        running++;
        first_end = fmin(first_end, b->end_us);
    }
    if (running < least(slots, blocks))
        return end - last_begin;
    return isinf(first_end) ? 0 : end - first_end;
}

struct sched_summary sched_summarise(const struct schedule *s)
{
    const bool model = s->block_us > 0;
    struct sched_summary sum = {.span_us = model ? REAL_UNKNOWN : s->span_us,
                                .span_blocks = model ? s->span_us / s->block_us : REAL_UNKNOWN,
                                .busy_pct = REAL_UNKNOWN,
                                .fill_pct = REAL_UNKNOWN,
                                .tail_pct = REAL_UNKNOWN,
                                .imbalance = REAL_UNKNOWN,
                                .waves = REAL_UNKNOWN};
    double total = 0, longest = 0;
    for (int64_t i = 0; i < s->nblocks; i++) {
        const double us = s->blocks[i].end_us - s->blocks[i].begin_us;
        if (s->blocks[i].pass != 0)
            continue;
        sum.blocks += !s->blocks[i].part;
        sum.parts += s->blocks[i].part;
        total += us;
        longest = fmax(longest, us);
    }
    sum.slots = (int64_t)s->rows * s->lanes;
    if (!(s->span_us > 0) || !sum.slots || !sum.blocks)
        return sum;
    struct sched_block **list = sorted(s);
    sum.waves = (double)sum.blocks / (double)sum.slots;
    sum.busy_pct = 100 * busy_us(s, list) / (s->span_us * s->rows);
    sum.fill_pct = 100 * total / (s->span_us * (double)sum.slots);
    sum.tail_pct = 100 * tail_us(s, sum.slots, sum.blocks) / s->span_us;
    sum.imbalance = longest / (total / (double)sum.blocks);
    free(list);
    return sum;
}
