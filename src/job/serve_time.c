/* serve_time.c - the timing loop: warm-up, samples in turn, rows ten times a second.
 *
 * Every sample finds inputs that nobody has seen and outputs that are poisoned; the outputs of one and of the
 * last are judged as the checked run's was, when all timing is over. With interleaving the kernels
 * take turns, in an order by chance (stats_turns()), so that a change of clock or load hits all alike
 * and samples of one round can be compared as pairs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/serve_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "job/serve_check.h"
#include "job/serve_share.h"
#include "measure/noise.h"
#include "measure/stats.h"

static const double sample_s = 20e-6; /* a hot sample lasts at least this long, for the clock's
                                         resolution and the cost of reading it */
static const double publish_s = 0.1;  /* between rows */
static const double ratio_s = 1;      /* between bootstraps, which cost milliseconds */
static const double look_s = 0.002;   /* between looks for CANCEL */
static const double news_s = 0.5;     /* silence that is worth an announcement */
static const double meet_s = 0.5;     /* between looks for other programs' kernels */
static const double offer_s = 0.1;    /* between looks for those who wait for our turn's end */
static const double narrow =
    1.02; /* upper over lower end of a ratio's interval that is good enough */

/* The entries that are timed together. */
struct group {
    struct launch *l;
    struct entry **items;
    int count;
    double began, published, looked, compared;
    struct load_mark load; /* when it began */
    size_t round;
    int *order;    /* of the items in this round */
    bool wide;     /* a ratio's interval was still wide when last looked at */
    uint64_t turn; /* what this round's inputs are: the same for all, and new to all */
    bool stopped;
    bool crowded;   /* other programs compute without a pause */
    double offered; /* when it was last looked whether our turn is over */
    struct share_watch others;
};

static bool cold(const struct launch *l)
{
    return strcmp(l->request.options.l2, "cold") == 0;
}

/* ---- one kernel ---- */

static void lose(struct launch *l, struct entry *e, enum status st, const struct err *why)
{
    launch_fail(l, e, st, why);
    l->ops->unload(l->backend, e->slot);
    e->slot = NULL;
}

/* None is known beforehand, and none is 0. */
static uint64_t draw_turn(void)
{
    uint64_t turn = 0;
    if (getrandom(&turn, sizeof turn, GRND_NONBLOCK) != (ssize_t)sizeof turn)
        turn = (uint64_t)(seconds_now() * 1e9) * UINT64_C(0x9e3779b97f4a7c15);
    return turn | 1;
}

/* A sample that was cheated in is no time, and its kernel has failed. */
static void expose(struct launch *l, struct entry *e, const struct err *why)
{
    launch_set_text(&e->row.check, "fail");
    launch_set_text(&e->row.reason, why->text);
    launch_send_rows(l,
                     false); /* known, even if a thread of its takes us down without its memory */
    lose(l, e, ST_FAIL, why);
}

/* Is it C that was built with the program? */
static bool is_ours(const struct launch *l, int i)
{
    const struct kernel *k;
    if (registry_get(l->registry, l->request.entries[i].kernel, &k, NULL) != ST_OK || k->user)
        return false;
    const struct kernel_desc *d = backend_desc(l->info, k);
    return d && d->code == CODE_C;
}

/* Warming up takes no longer than samples may. Our own code is the same from its first run on, and a processor's clock
 * follows its load within milliseconds, so that where n samples are asked for, what these take is enough. A GPU's clock
 * takes longer. Others' code has all of it: what it does from some call on, or when an address comes again, is then in
 * every sample, and so in those that are judged. */
static double warm_limit(const struct launch *l, bool ours, double once)
{
    static const double settled_s = 0.02;
    const struct timing_rule *rule = &l->request.options.rule;
    const double limit = fmin(rule->warm_s, rule->max_s);
    return ours && rule->n > 0 ? fmin(limit, fmax(settled_s, (double)rule->n * once)) : limit;
}

/* Runs until it is warm, and learns how long a run takes; the checked run was the first. */
static void warm_up(struct launch *l, struct entry *e)
{
    double best = e->once_s, clock = REAL_UNKNOWN, seconds;
    double begin = seconds_now();
    struct err why = ERR_INIT;
    int index = (int)(e - l->entries);
    const bool ours = is_ours(l, index);
    peer_estimate(&l->peer, PHASE_WARM_UP, index, fmax(warm_limit(l, ours, best), 2 * e->once_s));
    for (double spent = e->once_s; spent < warm_limit(l, ours, best);
         spent = e->once_s + seconds_now() - begin) {
        enum status st = l->ops->prepare(l->backend, e->slot, draw_turn(), 1, &why);
        if (st == ST_OK)
            st = l->ops->sample(l->backend, e->slot, 1, &seconds, &clock, &why);
        if (st != ST_OK) {
            lose(l, e, st, &why);
            return;
        }
        if (launch_look_behind(l, index, &why) != ST_OK ||
            l->ops->inspect(l->backend, e->slot, false, &why) != ST_OK) {
            expose(l, e, &why);
            return;
        }
        best = fmin(best, seconds);
        e->usual_mhz = fmax(e->usual_mhz, clock); /* ignores NaN */
        if (peer_stop(&l->peer) || !launch_goes_on(l))
            return;
    }
    double wanted = l->ops->sample_s > 0 ? l->ops->sample_s : sample_s;
    double runs = best > 0 ? ceil(wanted / best) : INFINITY;
    e->repeat = cold(l) ? 1 : (int)fmin(fmax(runs, 1), l->ops->sets(l->backend, e->slot));
    e->once_s = best;
}

static void keep_sample(struct entry *e, double seconds, bool counts)
{
    void *items = e->samples, *low = e->low;
    xgrow(&items, &e->capsamples, e->nsamples + 1, sizeof *e->samples);
    xgrow(&low, &e->caplow, e->nsamples + 1, sizeof *e->low);
    e->samples = items;
    e->low = low;
    e->samples[e->nsamples] = counts ? seconds : REAL_UNKNOWN;
    e->low[e->nsamples++] = counts ? REAL_UNKNOWN : seconds;
}

/* Where the low clock is the usual one, its samples count in pairs as they do in the median. */
static void put_back_low(struct entry *e)
{
    for (size_t i = 0; i < e->nsamples; i++) {
        e->samples[i] = isnan(e->low[i]) ? e->samples[i] : e->low[i];
        e->low[i] = REAL_UNKNOWN;
    }
}

/* A sample, and of somebody's code what the threads of this process wanted of cores meanwhile: reading for how long
 * they waited takes some 10 us a thread. */
static enum status sample_watched(struct launch *l, struct entry *e, double *seconds, double *clock,
                                  struct err *err)
{
    static const double long_s = 2e-3;
    const bool closely = e->once_s * e->repeat > long_s;
    if (!e->foreign)
        return l->ops->sample(l->backend, e->slot, e->repeat, seconds, clock, err);
    const double wanted = load_wanted_s(closely), begin = seconds_now();
    const enum status st = l->ops->sample(l->backend, e->slot, e->repeat, seconds, clock, err);
    e->sampled_s += seconds_now() - begin;
    e->wanted_s += load_wanted_s(closely) - wanted;
    return st;
}

/* What takes its time is announced, so that nobody takes it for a hang. */
static void announce(struct launch *l, const struct entry *e, enum wire_phase phase, double seconds)
{
    if (fmax(e->once_s * e->repeat, e->around_s) > news_s || l->careful)
        peer_estimate(&l->peer, phase, (int)(e - l->entries), seconds);
}

/* Fresh inputs for a sample, and nothing of them in the caches where it is a cold one. Of gigabytes that takes longer
 * than the sample itself. */
static enum status prepare_turn(struct launch *l, struct entry *e, uint64_t turn, struct err *err)
{
    announce(l, e, PHASE_INPUTS, e->around_s);
    const double began = seconds_now();
    const enum status st = l->ops->prepare(l->backend, e->slot, turn, e->repeat, err);
    if (st == ST_OK && cold(l))
        l->ops->flush(l->backend);
    e->around_s = fmax(e->around_s, seconds_now() - began);
    return st;
}

/* One sample on inputs of this turn; `all`: looked at closely. False when it lost the kernel. */
static bool sample_turn(struct launch *l, struct entry *e, uint64_t turn, bool all, double *seconds,
                        double *clock)
{
    struct err why = ERR_INIT;
    enum status st = prepare_turn(l, e, turn, &why);
    announce(l, e, PHASE_TIMING, e->once_s * e->repeat);
    if (st == ST_OK)
        st = sample_watched(l, e, seconds, clock, &why);
    const double ended = seconds_now();
    if (st != ST_OK)
        lose(l, e, st, &why);
    else if (launch_look_behind(l, (int)(e - l->entries), &why) != ST_OK ||
             l->ops->inspect(l->backend, e->slot, all, &why) != ST_OK)
        expose(l, e, &why);
    if (all)
        e->looked_s += seconds_now() - ended;
    return e->slot;
}

/* One run of the sample, any, goes to the judge. */
static void send_run(struct launch *l, struct entry *e, uint64_t turn, const char *what)
{
    struct problem p = {.turn = 0};
    struct err why = ERR_INIT;
    const int run = (int)(draw_turn() / 2 % (uint64_t)e->repeat);
    const double began = seconds_now();
    announce(l, e, PHASE_TIMING, e->around_s);
    problem_copy(&p, &l->request.problem);
    p.turn = turn + (uint64_t)run;
    enum status st = launch_send_output(l, (int)(e - l->entries), run, &p, what, &why);
    if (st != ST_OK)
        lose(l, e, st, &why);
    problem_clear(&p);
    e->looked_s += seconds_now() - began;
}

static void take_sample(struct launch *l, struct entry *e, uint64_t turn)
{
    double seconds, clock = NAN;
    const bool picked = e->nsamples == e->picked;
    if (!sample_turn(l, e, picked ? l->turn_picked : turn, picked, &seconds, &clock))
        return;
    if (picked)
        send_run(l, e, l->turn_picked, "a timed run");
    const size_t before = timing_count(e->timing);
    const bool unstable = timing_unstable(e->timing);
    timing_add(e->timing, seconds, clock, e->usual_mhz);
    keep_sample(e, seconds, timing_count(e->timing) > before);
    if (!unstable && timing_unstable(e->timing))
        put_back_low(e);
}

/* No more come. */
static void close_samples(struct entry *e)
{
    timing_close(e->timing);
    if (timing_unstable(e->timing))
        put_back_low(e);
}

/* ---- rows ---- */

static double compulsory_bytes(const struct shape *s)
{
    return 2.0 * (double)dtype_size(s->dtype) *
           ((double)shape_q_elems(s) + (double)shape_kv_elems(s)); /* Q, O and K, V */
}

static void fill_row(struct launch *l, struct entry *e)
{
    const struct shape *s = &l->request.problem.shape;
    launch_describe(l, e);
    timing_fill(e->timing, &e->row);
    double seconds = e->row.median_us * 1e-6;
    e->row.tflops = shape_flops(s) / seconds * 1e-12;
    e->row.gbytes_per_s = compulsory_bytes(s) / seconds * 1e-9;
}

/* Time over the base's, from the pairs of the same round. */
static void fill_ratio(const struct launch *l, struct entry *e)
{
    const struct entry *base = &l->entries[0];
    size_t n = e->nsamples < base->nsamples ? e->nsamples : base->nsamples;
    struct judgement j = {.ratio = {1, 1, 1}};
    if (e != base)
        j = stats_pairs(e->samples, base->samples, n, l->request.problem.seed);
    e->row.ratio = j.ratio.mid;
    e->row.ratio_lo = j.ratio.lo;
    e->row.ratio_hi = j.ratio.hi;
    if (!isnan(j.ratio.lo))
        launch_set_text(&e->row.verdict, e == base ? "base" : stats_verdicts[j.verdict]);
    launch_set_text(&e->row.verdict_reason, isnan(j.ratio.mid)
                                                ? "no round has a sample of both that counts"
                                                : stats_doubt(j.doubt));
}

static void fill_ratios(struct group *g)
{
    g->compared = seconds_now();
    if (!g->l->request.interleave || !g->l->entries[0].nsamples)
        return;
    g->wide = false;
    for (int i = 0; i < g->count; i++)
        if (g->items[i]->nsamples) {
            const struct run_row *row = &g->items[i]->row;
            fill_ratio(g->l, g->items[i]);
            g->wide |= !(row->ratio_hi <= narrow * row->ratio_lo);
        }
}

/* What disturbed the times, in the rows. */
static void fill_noise(struct group *g)
{
    const struct load_mark now = load_mark();
    const struct load load = load_between(&g->load, &now);
    const double cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 0; i < g->count; i++) {
        struct entry *e = g->items[i];
        if (!e->nsamples)
            continue;
        timing_fill_noise(e->timing, &e->row);
        e->row.gpu_others_pct =
            g->others.known_s > 0 ? 100 * g->others.others_s / g->others.known_s : REAL_UNKNOWN;
        noise_fill_load(&load, &e->row);
        noise_fill_line(g->l->info && g->l->info->gpu, cores, &e->row);
    }
}

static void fill_rows(struct group *g)
{
    for (int i = 0; i < g->count; i++)
        if (g->items[i]->nsamples)
            fill_row(g->l, g->items[i]);
}

/* ---- a group ---- */

static double looked_s(const struct group *g)
{
    double sum = 0;
    for (int i = 0; i < g->count; i++)
        sum += g->items[i]->looked_s;
    return sum;
}

/* Seconds a kernel since sampling began. What was taken for looking closely, which is done once, is left out: of large
 * inputs that takes as long as hundreds of samples, and time= would end with one. */
static double sampling_s(const struct group *g)
{
    return (seconds_now() - g->began - looked_s(g)) / g->count;
}

/* Between samples: rows from time to time, and an ear for CANCEL. */
static void attend(struct group *g)
{
    double now = seconds_now();
    if (now - g->looked > look_s) {
        g->looked = now;
        g->stopped = peer_stop(&g->l->peer);
    }
    if (now - g->published > publish_s) {
        fill_rows(g);
        if (now - g->compared > ratio_s) {
            fill_ratios(g);
            fill_noise(g);
        }
        launch_send_rows(g->l, false);
        g->published = seconds_now();
    }
}

/* A comparison whose rules have ended it goes on, within its time, while the interval of a ratio is
 * wide. The width says nothing about who is ahead, so looking at it again and again favours nobody. */
static bool wants_more(struct group *g, double wall)
{
    const struct timing_rule *rule = &g->l->request.options.rule;
    if (!g->l->request.interleave || g->count < 2 || rule->n > 0 || wall >= rule->max_s)
        return false;
    if (seconds_now() - g->compared > ratio_s / 4)
        fill_ratios(g);
    return g->wide;
}

/* May the group as a whole stop? Every kernel's own reason goes into its row. The wall limit holds
 * per kernel. */
static bool group_done(struct group *g)
{
    double wall = sampling_s(g);
    bool done = true;
    for (int i = 0; i < g->count; i++) {
        struct entry *e = g->items[i];
        if (!e->slot) /* lost on the way; its reason is in the row */
            continue;
        const char *why = timing_done(e->timing, wall);
        launch_set_text(&e->row.stopped, why);
        done = done && why;
    }
    return done && !wants_more(g, wall);
}

static void mark_cancelled(struct group *g)
{
    for (int i = 0; i < g->count; i++)
        if (g->items[i]->nsamples)
            launch_set_text(&g->items[i]->row.stopped, "cancel");
}

/* What no hardware can do. */
static enum status check_plausible(struct launch *l, const struct entry *e, struct err *err)
{
    static const double generous = 1.1;
    const struct shape *s = &l->request.problem.shape;
    const double seconds = timing_median(e->timing);
    char took[NUMBER_BUF];
    if (!l->ops->limits || !timing_count(e->timing))
        return ST_OK;
    const struct backend_limits lim = l->ops->limits(l->backend, s->dtype);
    number_fmt_us(took, seconds * 1e6);
    if (shape_flops(s) / seconds > generous * lim.flops_per_s)
        return err_set(err, ST_FAIL,
                       "implausible: %s a run are %.3g TFLOP/s, and the hardware's peak is %.3g",
                       took, shape_flops(s) / seconds * 1e-12, lim.flops_per_s * 1e-12);
    if (seconds < lim.least_s)
        return err_set(err, ST_FAIL, "implausible: %s a run are less than a launch takes", took);
    return ST_OK;
}

/* Did it have more threads at work than threads= allows, which its rivals keep to? Cores that it wanted and did not get
 * count, too. What the system accounts for by ticks may come late: that is not enough. */
static enum status check_threads(const struct launch *l, const struct entry *e, const char *name,
                                 struct err *err)
{
    static const double slack_s = 0.02, generous = 1.1;
    const int threads = l->options.threads;
    const double cores = e->wanted_s / e->sampled_s;
    if (!e->foreign || threads <= 0 || !backend_heeds(l->info, "threads") ||
        !(e->wanted_s > generous * threads * e->sampled_s + slack_s * threads) ||
        !(cores > threads + 0.25))
        return ST_OK;
    return err_set(err, ST_FAIL, "%s: its threads wanted %.1f cores while threads=%d", name, cores,
                   threads);
}

/* Does it leave anything behind that works? */
static enum status check_rest(const struct launch *l, const struct entry *e, const char *name,
                              struct err *err)
{
    if (!e->foreign)
        return ST_OK;
    if (!host_goes_idle((int)getpid()))
        return err_set(err, ST_FAIL, "%s: a thread of its works on while nothing is asked of it",
                       name);
    if (!l->info->gpu && !host_stays_idle()) /* a driver has threads of its own */
        return err_set(err, ST_FAIL,
                       "%s: a thread of its wakes again and again while nothing is asked of it",
                       name);
    return ST_OK;
}

static bool time_last_of(struct launch *l, struct entry *e)
{
    double seconds, clock;
    struct err why = ERR_INIT;
    const char *name = l->request.entries[e - l->entries].kernel;
    if (!sample_turn(l, e, l->turn_last, true, &seconds, &clock))
        return false;
    if (check_plausible(l, e, &why) == ST_OK && check_threads(l, e, name, &why) == ST_OK) {
        if (check_rest(l, e, name, &why) == ST_OK)
            return true;
        if (launch_count_natives(l) > 1) {
            l->doubtful = true;
            return false;
        }
    }
    expose(l, e, &why);
    return false;
}

/* One more of each, like those before; its time does not count, its output does. */
static void time_last(struct group *g)
{
    struct launch *l = g->l;
    for (int i = 0; i < g->count && launch_goes_on(l) && !peer_stop(&l->peer); i++) {
        struct entry *e = g->items[i];
        if (e->slot && time_last_of(l, e))
            send_run(l, e, l->turn_last, "the last timed run");
    }
}

/* Among the samples that there will be at least. */
static size_t pick_sample(const struct launch *l)
{
    const struct timing_rule *r = &l->request.options.rule;
    const int64_t least = r->n > 0 ? r->n : r->min_n > 1 ? r->min_n : 1;
    return (size_t)(draw_turn() / 2 % (uint64_t)least);
}

/* ---- a device that others use, too ---- */

/* What others did meanwhile to clocks and caches is run off; time and load that were theirs are not ours. */
static void come_back(struct group *g, const struct load_mark *left)
{
    double seconds, clock;
    const double looked = looked_s(g);
    const struct load_mark now = load_mark();
    peer_estimate(&g->l->peer, PHASE_TIMING, -1, 0);
    for (int i = 0; i < g->count && launch_goes_on(g->l); i++)
        if (g->items[i]->slot)
            sample_turn(g->l, g->items[i], draw_turn(), false, &seconds, &clock);
    load_leave_out(&g->load, left, &now);
    g->began += seconds_now() - left->at - (looked_s(g) - looked);
}

/* Since the last look, a program that does not queue had kernels there: what was sampled meanwhile is no time. */
static void take_back(struct group *g)
{
    for (int i = 0; i < g->count; i++) {
        struct entry *e = g->items[i];
        timing_take_back(e->timing, e->alone_timed);
        for (size_t n = e->alone; n < e->nsamples; n++)
            e->samples[n] = e->low[n] = REAL_UNKNOWN;
    }
}

static void mark_alone(struct group *g)
{
    for (int i = 0; i < g->count; i++) {
        g->items[i]->alone = g->items[i]->nsamples;
        g->items[i]->alone_timed = timing_mark(g->items[i]->timing);
    }
}

/* Nobody is waited for: samples since the last look are kept, or dropped. */
static void take_back_if_met(struct group *g)
{
    if (share_is_met(g->l, &g->others, false))
        take_back(g);
    mark_alone(g);
}

/* Asked now and then: looking who waits costs more than some samples. */
static void give_way(struct group *g)
{
    const double now = seconds_now();
    if (now - g->offered < offer_s)
        return;
    g->offered = now;
    if (!gpu_lock_is_due(g->l->lock))
        return;
    take_back_if_met(g); /* what comes between is not ours to look at */
    const struct load_mark left = load_mark();
    const double away = share_give_way(g->l);
    g->stopped |= away < 0;
    if (away <= 0)
        return;
    g->others.looked = seconds_now();
    come_back(g, &left);
}

/* Looks for others from time to time and, `last`, before the samples are final. While there are any it waits, and
 * goes on when they rest; it gives up after as long as one kernel may be timed. */
static void meet_others(struct group *g, bool last)
{
    const double limit = g->l->request.options.rule.max_s;
    if (g->stopped || (!last && seconds_now() - g->others.looked < meet_s))
        return;
    if (share_is_met(g->l, &g->others, last)) {
        const struct load_mark left = load_mark();
        take_back(g);
        if (share_wait_alone(g->l, &g->others, limit))
            come_back(g, &left);
        else
            g->crowded = true;
    }
    mark_alone(g);
}

static void explain_crowd(struct group *g)
{
    for (int i = 0; i < g->count; i++) {
        struct entry *e = g->items[i];
        char *why = xasprintf("%s computes on this GPU: %s", g->others.name,
                              timing_count(e->timing) ? "some samples were taken while it did not"
                                                      : "no sample was taken without it");
        if (!e->row.reason)
            launch_set_text(&e->row.reason, why);
        launch_set_text(&e->row.stopped, "time");
        free(why);
    }
}

/* A kernel that was timed and has no time says why. */
static void explain_none(struct group *g)
{
    for (int i = 0; i < g->count; i++) {
        struct entry *e = g->items[i];
        if (!e->slot || e->row.reason || timing_count(e->timing))
            continue;
        char *why =
            e->nsamples
                ? xasprintf("no sample counts: %zu were taken, each while %s computed on this GPU; "
                            "a longer time= may find it at rest",
                            e->nsamples, g->others.name)
                : xasprintf("it was stopped before its first sample");
        launch_set_text(&e->row.reason, why);
        free(why);
    }
}

static void time_round(struct group *g)
{
    stats_turns(g->l->request.problem.seed, g->round++, g->count, g->order);
    g->turn = draw_turn();
    for (int i = 0; i < g->count && !g->stopped && launch_goes_on(g->l); i++) {
        if (g->items[g->order[i]]->slot)
            take_sample(g->l, g->items[g->order[i]], g->turn);
        attend(g);
    }
    give_way(g);
    meet_others(g, false);
}

static bool goes_on(const struct group *g)
{
    return !g->stopped && !g->crowded && launch_goes_on(g->l);
}

static void time_group(struct group *g)
{
    g->began = g->looked = g->compared = seconds_now();
    g->published = g->began - publish_s; /* the first figure is shown at once */
    g->load = load_mark();
    g->wide = true;
    share_watch_start(&g->others);
    do {
        do
            time_round(g);
        while (goes_on(g) && !group_done(g));
        if (goes_on(g))
            meet_others(g, true); /* what it takes back is wanted again */
    } while (goes_on(g) && !group_done(g));
    for (int i = 0; i < g->count; i++)
        close_samples(g->items[i]);
    if (g->crowded)
        explain_crowd(g);
    explain_none(g);
    if (g->stopped)
        mark_cancelled(g);
    else
        time_last(g);
    fill_rows(g);
    fill_ratios(g);
    fill_noise(g);
}

/* Sends all samples, once: later frames leave the field out. Together they stay within a frame. */
static void send_samples(struct group *g)
{
    enum { FRAME_SAMPLES = 24000 };
    size_t each = FRAME_SAMPLES / (size_t)g->count;
    for (int i = 0; i < g->count; i++)
        if (g->items[i]->nsamples)
            g->items[i]->row.samples_us = timing_samples_us(
                g->items[i]->timing, each < ROW_SAMPLES_MAX ? each : ROW_SAMPLES_MAX);
    launch_send_rows(g->l, false); /* known even if the next group takes us down */
    for (int i = 0; i < g->count; i++) {
        json_decref(g->items[i]->row.samples_us);
        g->items[i]->row.samples_us = NULL;
    }
}

/* Warms up and times the entries from..to-1 that can run. */
static void time_entries(struct launch *l, int from, int to)
{
    struct group g = {.l = l,
                      .items = xcalloc((size_t)(to - from), sizeof *g.items),
                      .order = xcalloc((size_t)(to - from), sizeof *g.order)};
    for (int i = from; i < to && launch_goes_on(l) && !peer_stop(&l->peer); i++) {
        struct entry *e = &l->entries[i];
        if (!e->slot)
            continue;
        e->timing = timing_new(&l->request.options.rule);
        e->usual_mhz = REAL_UNKNOWN;
        e->picked = pick_sample(l);
        e->around_s = e->once_s;
        warm_up(l, e);
        if (e->slot)
            g.items[g.count++] = e;
    }
    if (g.count && launch_goes_on(l) && !peer_stop(&l->peer)) {
        peer_estimate(&l->peer, PHASE_TIMING, g.count > 1 ? -1 : (int)(g.items[0] - l->entries), 0);
        time_group(&g);
        send_samples(&g);
    }
    free(g.items);
    free(g.order);
}

void launch_take_times(struct launch *l)
{
    int n = l->request.nentries;
    l->turn_picked = draw_turn();
    l->turn_last = draw_turn();
    if (l->request.interleave)
        time_entries(l, 0, n);
    else
        for (int i = 0; i < n && launch_goes_on(l); i++)
            time_entries(l, i, i + 1);
}
