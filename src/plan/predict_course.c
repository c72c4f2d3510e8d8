/* predict_course.c - see predict_course.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/predict_course.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "plan/predict_block.h"

/* ---- reading ---- */

/* A count of a stranger; what is none is 0. */
static double count_of(const json_t *o, const char *name)
{
    const double v = json_number_of(o, name);
    return v >= 0 && v < 0x1p62 ? v : 0;
}

static int64_t whole_of(const json_t *o, const char *name, int64_t least)
{
    const int64_t v = (int64_t)count_of(o, name);
    return v > least ? v : least;
}

static bool read_step(const json_t *o, const struct predict_pass *p, struct course_step *s)
{
    const json_t *pipes = json_object_get(o, "pipes");
    *s = (struct course_step){.phase = (int)fmin(count_of(o, "phase"), PREDICT_PHASES_MAX),
                              .rounds = whole_of(o, "rounds", 1),
                              .times = whole_of(o, "times", 1),
                              .length = (int)fmin((double)whole_of(o, "length", 1), 64),
                              .at = (int)fmin(count_of(o, "at"), 63),
                              .executed = count_of(o, "warp_instructions"),
                              .longest = count_of(o, "longest"),
                              .wavefronts = count_of(o, "smem_wavefronts"),
                              .wavefronts_ideal = count_of(o, "smem_wavefronts_ideal"),
                              .sectors = count_of(o, "global_sectors"),
                              .products = count_of(o, "tensor_ops"),
                              .copies = count_of(o, "async_copies"),
                              .shuffles = count_of(o, "shuffles"),
                              .barriers = count_of(o, "barriers")};
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        s->pipe[i] = count_of(pipes, sim_pipe_name((enum sim_pipe)i));
    return s->phase < p->phases;
}

/* Steps of one body stand beside each other, whole: whoever draws a loop relies on it. */
static bool is_whole(const struct course *c)
{
    for (size_t i = 0; i < c->steps; i++) {
        const struct course_step *s = &c->step[i];
        const size_t first = i - (size_t)s->at;
        if ((size_t)s->at > i || first + (size_t)s->length > c->steps || s->at >= s->length)
            return false;
        if (c->step[first].length != s->length || c->step[first].rounds != s->rounds ||
            c->step[first].at != 0)
            return false;
    }
    return c->steps > 0;
}

static bool read_steps(const json_t *list, const struct predict_pass *p, size_t room,
                       struct course *c)
{
    size_t i;
    json_t *o;
    if (json_array_size(list) > room)
        return false;
    c->step = xrealloc(c->step, (c->steps + json_array_size(list) + 1) * sizeof *c->step);
    json_array_foreach((json_t *)list, i, o)
    {
        if (!read_step(o, p, &c->step[c->steps++]))
            return false;
    }
    return true;
}

/* Of a stranger: what makes no sense is left out. */
static void read_course(const json_t *o, const struct predict_run *r, int pass, size_t *room,
                        struct courses *out)
{
    const struct predict_pass *p = &r->pass[pass];
    struct course c = {
        .pass = pass, .block = (int64_t)count_of(o, "block"), .stands = count_of(o, "stands")};
    const bool ok = read_steps(json_object_get(o, "steps"), p, *room, &c) &&
                    read_steps(json_object_get(o, "rest"), p, *room - c.steps, &c) && is_whole(&c);
    if (!ok || c.block >= p->blocks || !(c.stands > 0) || out->n >= COURSES_MAX) {
        free(c.step);
        return;
    }
    *room -= c.steps;
    out->course = xrealloc(out->course, (out->n + 1) * sizeof *out->course);
    out->course[out->n++] = c;
}

static void read_phases(const json_t *list, const struct predict_run *r, int pass,
                        struct courses *out)
{
    const int n = r->pass[pass].phases;
    out->phase = xrealloc(out->phase, (out->phases + (size_t)n + 1) * sizeof *out->phase);
    for (int i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, (size_t)i);
        struct course_phase *to = &out->phase[out->phases++];
        const char *file = json_text_of(o, "file");
        *to = (struct course_phase){.pass = pass, .phase = i};
        if (file && *file)
            snprintf(to->place, sizeof to->place, "%.40s:%d", file,
                     (int)fmin(count_of(o, "line"), 1e9));
    }
}

static void add_counts(struct course_phase *to, const struct course_step *s, double weight)
{
    to->executed += weight * s->executed;
    to->wavefronts += weight * s->wavefronts;
    to->sectors += weight * s->sectors;
    to->products += weight * s->products;
    to->copies += weight * s->copies;
    to->shuffles += weight * s->shuffles;
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        to->pipe[i] += weight * s->pipe[i];
}

static struct course_phase *phase_at(const struct courses *c, int pass, int phase)
{
    size_t i = 0;
    while (c->phase[i].pass != pass)
        i++;
    return &c->phase[i + (size_t)phase];
}

static void sum_phases(struct courses *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->course[i].steps; k++) {
            const struct course_step *s = &c->course[i].step[k];
            add_counts(phase_at(c, c->course[i].pass, s->phase), s,
                       c->course[i].stands * (double)s->rounds);
        }
}

enum status courses_read(const json_t *passes, const struct predict_run *r, struct courses *out,
                         struct err *why)
{
    size_t room = COURSE_STEPS_MAX, k;
    json_t *o;
    *out = (struct courses){.n = 0};
    for (int i = 0; i < r->passes; i++) {
        const json_t *pass = json_array_get(passes, (size_t)i);
        const size_t before = out->n;
        read_phases(json_object_get(pass, "phases"), r, i, out);
        json_array_foreach(json_object_get(pass, "courses"), k, o)
        {
            read_course(o, r, i, &room, out);
        }
        if (out->n == before)
            return err_set(why, ST_NO, "of %s no block's phases were kept in their order",
                           r->pass[i].name);
    }
    sum_phases(out);
    return ST_OK;
}

void courses_clear(struct courses *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->course[i].step);
        json_decref(c->course[i].beats);
    }
    free(c->course);
    free(c->phase);
    *c = (struct courses){.n = 0};
}

/* ---- times ---- */

/* The step as a launch of its block alone: of the phase's chain its instructions' part. */
static struct phase_cost step_cost(const struct course_step *s, const struct predict_pass *p,
                                   const struct predict_gpu *g)
{
    const struct predict_phase *all = &p->phase[s->phase];
    const double part = all->executed > 0 ? s->executed / all->executed : 0;
    struct predict_pass alone = *p;
    struct predict_phase ph = {.trips = all->trips * part,
                               .executed = s->executed,
                               .longest = s->longest,
                               .wavefronts = s->wavefronts,
                               .sectors = s->sectors,
                               .products = s->products};
    for (int i = 0; i < CHAIN_PARTS_COUNT; i++)
        ph.chain[i] = all->chain[i] * part;
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        ph.machine[i] = all->machine[i] * part;
    alone.blocks = 1;
    return phase_cost(&ph, &alone, g, cold_share(p, g));
}

/* What the steps of a launch share: of each phase the time in which it waits and queues, and the sums by which. */
struct shares {
    double waiting_us[PREDICT_PHASES_MAX], queueing_us[PREDICT_PHASES_MAX];
    double waiting[PREDICT_PHASES_MAX], queueing[PREDICT_PHASES_MAX];
    enum predict_unit busiest;
};

static void share_time(const struct predict_pass *p, const struct predict_gpu *g, struct shares *s)
{
    const struct block_cost c = cost_of(p, g);
    const struct launch_time t = launch_time(p, g, &c);
    enum predict_unit unit;
    const double us = pass_us(p, g, &t, &unit) - t.tail / g->clock_mhz,
                 all = parts_together(&c, t.side);
    s->busiest = c.busiest;
    for (int i = 0; i < p->phases && all > 0; i++) {
        const struct phase_cost ph = phase_cost(&p->phase[i], p, g, cold_share(p, g));
        s->waiting_us[i] = us * (ph.waits + ph.queue) / all;
        s->queueing_us[i] = us * (t.side - 1) * ph.demand[c.busiest] / all;
    }
}

static void sum_steps(const struct courses *c, int pass, const struct predict_pass *p,
                      const struct predict_gpu *g, struct shares *s)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; c->course[i].pass == pass && k < c->course[i].steps; k++) {
            struct course_step *x = &c->course[i].step[k];
            const struct phase_cost ph = step_cost(x, p, g);
            const double often = c->course[i].stands * (double)x->rounds;
            s->waiting[x->phase] += often * (ph.waits + ph.queue);
            s->queueing[x->phase] += often * ph.demand[s->busiest];
        }
}

static double part_of(double us, double own, double all)
{
    return all > 0 ? us * own / all : 0;
}

/* The times of a course's steps, and of those their shares of the block. */
static void time_course(struct course *c, const struct predict_pass *p, const struct predict_gpu *g,
                        const struct shares *s)
{
    double sum = 0;
    for (size_t k = 0; k < c->steps; k++) {
        struct course_step *x = &c->step[k];
        const struct phase_cost ph = step_cost(x, p, g);
        x->unit = ph.waits > ph.queue ? ph.wait : ph.unit;
        x->us = part_of(s->waiting_us[x->phase], ph.waits + ph.queue, s->waiting[x->phase]) +
                part_of(s->queueing_us[x->phase], ph.demand[s->busiest], s->queueing[x->phase]);
        sum += x->us * (double)x->rounds;
    }
    for (size_t k = 0; k < c->steps; k++)
        c->step[k].share = sum > 0 ? c->step[k].us * (double)c->step[k].rounds / sum : 0;
}

void courses_times(struct courses *c, const struct predict_run *r, const struct predict_gpu *g)
{
    for (size_t i = 0; i < c->phases; i++)
        c->phase[i].us = 0;
    for (int pass = 0; pass < r->passes; pass++) {
        struct shares s = {.busiest = PREDICT_issue};
        share_time(&r->pass[pass], g, &s);
        sum_steps(c, pass, &r->pass[pass], g, &s);
        for (size_t i = 0; i < c->n; i++)
            if (c->course[i].pass == pass)
                time_course(&c->course[i], &r->pass[pass], g, &s);
        for (int k = 0; k < r->pass[pass].phases; k++)
            phase_at(c, pass, k)->us = s.waiting_us[k] + s.queueing_us[k];
    }
}

/* ---- whose course ---- */

/* K/V tiles of block `index` of a launch; -1: not known. */
static int steps_of(const struct schedule *s, int pass, int64_t index)
{
    for (int64_t lo = 0, hi = s->nblocks - 1; lo <= hi;) { /* by pass and number */
        const int64_t mid = lo + (hi - lo) / 2;
        const struct sched_block *b = &s->blocks[mid];
        if (b->pass == pass && b->index == index)
            return b->work.steps;
        if (b->pass < pass || (b->pass == pass && b->index < index))
            lo = mid + 1;
        else
            hi = mid - 1;
    }
    return -1;
}

int courses_find(const struct courses *c, const struct schedule *s, const struct sched_block *b)
{
    int best = -1;
    int64_t off = INT64_MAX;
    for (size_t i = 0; i < c->n; i++) {
        const struct course *one = &c->course[i];
        if (one->pass != b->pass)
            continue;
        if (one->block == b->index)
            return (int)i;
        const int64_t by = llabs((long long)steps_of(s, b->pass, one->block) - b->work.steps);
        if (by < off) {
            off = by;
            best = (int)i;
        }
    }
    return best;
}

/* ---- words ---- */

struct course_phase course_step_counts(const struct course *c, const struct course_step *s)
{
    struct course_phase p = {.pass = c->pass, .phase = s->phase};
    add_counts(&p, s, 1);
    return p;
}

/* By what was counted, not by what it is for: a conversion passes the same unit as exp2. Half of the instructions of products
 * on ordinary units are additions that go with them, so a quarter is enough. */
void course_does(const struct course_phase *p, char *out, size_t size)
{
    const double all = p->executed;
    const struct {
        bool is;
        const char *word;
    } kinds[] = {
        {p->copies > 0 || p->sectors > 0.04 * all, "copies"},
        {p->products > 0 || p->pipe[SIM_PIPE_fma] + p->pipe[SIM_PIPE_half] > 0.25 * all,
         "products"},
        {p->pipe[SIM_PIPE_xu] > 0.005 * all, "exp2/cvt"},
        {p->shuffles > 0.005 * all, "shuffles"},
    };
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is && n + 1 < size)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", kinds[i].word);
    if (!n)
        snprintf(out, size, "%s", all > 0 ? "addresses" : "nothing");
}

/* ---- over the SMs ---- */

/* A launch from `from` on, us; its end. */
static double place_pass(const struct predict_pass *p, const struct predict_gpu *g, double from,
                         struct sched_block *out)
{
    const struct block_cost c = cost_of(p, g);
    const struct launch_time t = launch_time(p, g, &c);
    enum predict_unit unit;
    const double us = pass_us(p, g, &t, &unit), end = place_blocks(p, g, &c, t.side, out);
    for (int64_t i = 0; i < p->blocks; i++) {
        out[i].begin_us = from + (end > 0 ? out[i].begin_us / end : 0) * us;
        out[i].end_us = from + (end > 0 ? out[i].end_us / end : 1) * us;
    }
    return from + us;
}

enum status predict_schedule(const struct plan *p, const struct predict_run *r,
                             const struct predict_gpu *g, struct schedule *out, struct err *why)
{
    const enum status st = sched_model(p, out, why);
    struct sched_block *at = out->blocks;
    if (st != ST_OK)
        return st;
    double now = run_us(g);
    for (int i = 0; i < r->passes; i++) {
        now = place_pass(&r->pass[i], g, now + launch_us(g), at);
        at += r->pass[i].blocks;
    }
    out->origin = "sim";
    out->span_us = now;
    out->block_us = 0;
    return ST_OK;
}
