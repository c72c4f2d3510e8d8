/* ring.c - see ring.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/ring.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

/* What a causal mask needs of the way in which it is shared. */
static enum status check_causal(const struct shape *s, int gpus, enum ring_shards shards,
                                struct err *why)
{
    const int64_t last = s->Sk - s->Sk / gpus * (gpus - 1) - s->Sk % gpus * (gpus - 1) / gpus;
    if (shards == RING_SPLITKV && s->Sq - 1 > last)
        return err_set(why, ST_NO,
                       "the mask's diagonal would lie across several GPUs: the last one has %lld "
                       "keys, fewer than the %lld queries",
                       (long long)last, (long long)s->Sq);
    if (shards != RING_SPLITKV && s->Sq != s->Sk)
        return err_set(why, ST_NO,
                       "a causal ring needs as many queries as keys; Sq is %lld, Sk is %lld. With "
                       "shards=splitkv keys are shared and queries are not",
                       (long long)s->Sq, (long long)s->Sk);
    return ST_OK;
}

enum status ring_build(const struct shape *s, int gpus, enum ring_shards shards, enum dtype parts,
                       struct ring *out, struct err *why)
{
    const bool gathers = shards == RING_SPLITKV;
    *out = (struct ring){.shape = *s,
                         .parts = parts,
                         .gathers = gathers,
                         .gpus = gpus,
                         .steps = gathers ? 1 : gpus,
                         .mine = 1};
    if (gpus < 1 || gpus > RING_GPUS_MAX)
        return err_set(why, ST_NO, "a ring has 1 to %d GPUs", RING_GPUS_MAX);
    if (s->page)
        return err_set(why, ST_NO,
                       "a ring sends K and V in contiguous chunks and knows no pages; page is %lld",
                       (long long)s->page);
    if (s->causal && check_causal(s, gpus, shards, why) != ST_OK)
        return ST_NO;
    if (s->causal && shards == RING_ZIGZAG)
        out->mine = 2;
    const int64_t chunks = (int64_t)out->mine * gpus;
    if ((s->Sq < chunks && !gathers) || s->Sk < chunks)
        return err_set(why, ST_NO, "%d GPUs share a sequence of at least %lld", gpus,
                       (long long)chunks);
    for (int g = 0; g < gpus; g++)
        for (int i = 0; i < out->steps; i++)
            out->turn[g][i] =
                (struct ring_turn){.holds = (g - i + gpus) % gpus,
                                   .from = i + 1 < out->steps ? (g + gpus - 1) % gpus : -1,
                                   .waits_arrival = true,
                                   .waits_compute = true};
    return ST_OK;
}

/* ---- who has what ---- */

static int chunk_of(const struct ring *r, int gpu, int i)
{
    return i == 0 ? gpu : 2 * r->gpus - 1 - gpu;
}

struct ring_rows ring_rows(const struct ring *r, int gpu, int i, enum ring_side side)
{
    const int64_t length = side == RING_KEYS ? r->shape.Sk : r->shape.Sq;
    if (r->gathers && side == RING_QUERIES)
        return (struct ring_rows){0, length};
    const int64_t n = (int64_t)r->mine * r->gpus, c = chunk_of(r, gpu, i);
    const int64_t first = length / n * c + length % n * c / n,
                  end = length / n * (c + 1) + length % n * (c + 1) / n;
    return (struct ring_rows){first, end - first};
}

int64_t ring_count(const struct ring *r, int gpu, enum ring_side side)
{
    int64_t n = 0;
    for (int i = 0; i < r->mine; i++)
        n += ring_rows(r, gpu, i, side).rows;
    return n;
}

bool ring_answers(const struct ring *r, int gpu)
{
    return !r->gathers || gpu == 0;
}

int ring_parts(const struct ring *r, int gpu, int i)
{
    int n = 0;
    if (r->gathers)
        return gpu == 0 ? r->gpus : 0;
    for (int step = 0; step < r->steps; step++)
        for (int j = 0; j < r->mine; j++)
            n += ring_sight(r, gpu, i, r->turn[gpu][step].holds, j) != RING_NOTHING;
    return n;
}

enum ring_sight ring_sight(const struct ring *r, int gpu, int i, int holds, int j)
{
    const int q = r->gathers ? r->gpus - 1 : chunk_of(r, gpu, i), k = chunk_of(r, holds, j);
    return !r->shape.causal || k < q ? RING_ALL : k == q ? RING_DIAGONAL : RING_NOTHING;
}

bool ring_local(const struct ring *r, int gpu, int i, int holds, int j, struct shape *out)
{
    const enum ring_sight sight = ring_sight(r, gpu, i, holds, j);
    *out = r->shape;
    out->Sq = ring_rows(r, gpu, i, RING_QUERIES).rows;
    out->Sk = ring_rows(r, holds, j, RING_KEYS).rows;
    out->causal = sight == RING_DIAGONAL;
    return sight != RING_NOTHING;
}

/* ---- what it amounts to ---- */

double ring_pairs(const struct ring *r, int gpu, int step)
{
    double pairs = 0;
    struct shape local;
    for (int i = 0; i < r->mine; i++)
        for (int j = 0; j < r->mine; j++)
            if (ring_local(r, gpu, i, r->turn[gpu][step].holds, j, &local))
                pairs += shape_pairs(&local);
    return pairs;
}

static double flops_of(const struct ring *r, double pairs)
{
    const struct shape *s = &r->shape;
    return 4 * (double)s->B * (double)s->H * (double)s->D * pairs;
}

double ring_flops(const struct ring *r, int gpu)
{
    double pairs = 0;
    for (int i = 0; i < r->steps; i++)
        pairs += ring_pairs(r, gpu, i);
    return flops_of(r, pairs);
}

double ring_imbalance(const struct ring *r)
{
    double most = 0, sum = 0;
    for (int g = 0; g < r->gpus; g++) {
        const double flops = ring_flops(r, g);
        most = fmax(most, flops);
        sum += flops;
    }
    return most * r->gpus / sum;
}

double ring_shard_bytes(const struct ring *r, int gpu)
{
    const struct shape *s = &r->shape;
    return 2 * (double)s->B * (double)s->Hkv * (double)s->D *
           (double)ring_count(r, gpu, RING_KEYS) * (double)dtype_size(s->dtype);
}

static double rows_of(const struct ring *r, int gpu)
{
    return (double)r->shape.B * (double)r->shape.H * (double)ring_count(r, gpu, RING_QUERIES);
}

double ring_part_bytes(const struct ring *r, int gpu)
{
    return rows_of(r, gpu) * ((double)r->shape.D * (double)dtype_size(r->parts) + sizeof(float));
}

double ring_sent_bytes(const struct ring *r, int gpu)
{
    double bytes = r->gathers && gpu ? ring_part_bytes(r, gpu) : 0;
    for (int i = 0; i + 1 < r->steps; i++)
        bytes += ring_shard_bytes(r, r->turn[gpu][i].holds);
    return bytes;
}

double ring_link_bytes(const struct ring *r)
{
    double bytes = 0;
    for (int g = 0; g < r->gpus; g++)
        bytes += ring_sent_bytes(r, g);
    return bytes;
}

/* GPU 0 has Q, O and an answer so far, each over all queries, and N parts; the others Q and their part. */
static double gathering_bytes(const struct ring *r, int gpu)
{
    const double D = (double)r->shape.D, T = (double)dtype_size(r->shape.dtype),
                 rows = rows_of(r, gpu);
    const double mine = rows * D * T + ring_shard_bytes(r, gpu);
    return gpu ? mine + ring_part_bytes(r, gpu)
               : mine + rows * D * T + r->gpus * ring_part_bytes(r, gpu) + rows * 4 * (D + 1);
}

double ring_memory_bytes(const struct ring *r, int gpu)
{
    const struct shape *s = &r->shape;
    const double T = (double)dtype_size(s->dtype), heads = (double)s->B * (double)s->H;
    const double rows = rows_of(r, gpu);
    double widest = 0, chunk = 0;
    if (r->gathers)
        return gathering_bytes(r, gpu);
    for (int g = 0; g < r->gpus; g++)
        widest = fmax(widest, ring_shard_bytes(r, g));
    for (int i = 0; i < r->mine; i++)
        chunk = fmax(chunk, heads * (double)ring_rows(r, gpu, i, RING_QUERIES).rows);
    return rows * (double)s->D * 2 * T + 2 * widest +
           chunk * ((double)s->D * (double)dtype_size(r->parts) + 4) +
           rows * 4 * ((double)s->D + 1);
}

/* ---- what happens ---- */

static bool can_begin(const struct ring *r, const struct ring_play *p, int gpu)
{
    const int e = p->begun[gpu];
    return e + 1 < r->steps && p->landed == e &&
           (!r->turn[gpu][e].waits_compute || p->computed[gpu] >= e);
}

static bool can_compute(const struct ring *r, const struct ring_play *p, int gpu)
{
    const int s = p->computed[gpu];
    return s < r->steps && (!r->turn[gpu][s].waits_arrival || p->landed >= s);
}

/* All have begun it. A copy that is early has a step's lead, so that what begins after it may meet who still reads. */
static bool can_land(const struct ring *r, const struct ring_play *p, bool early)
{
    bool all = p->landed + 1 < r->steps;
    for (int g = 0; g < r->gpus && all; g++)
        all = p->begun[g] > p->landed && (!early || p->computed[g] >= p->landed);
    return all;
}

static struct ring_event land(struct ring_play *p)
{
    return (struct ring_event){RING_LAND, -1, p->landed++};
}

/* All but GPU 0, whose own stays there, have an answer, or nothing makes them wait for one. */
static bool can_gather(const struct ring *r, const struct ring_play *p)
{
    bool all = p->landed == 0;
    for (int g = 1; g < r->gpus && all; g++)
        all = p->computed[g] || !r->turn[g][0].waits_compute;
    return all;
}

/* Who has not computed yet; -1: nobody. `waited_for`: only those whose answer is. */
static int idle_gpu(const struct ring *r, const struct ring_play *p, bool waited_for)
{
    for (int g = 0; g < r->gpus; g++)
        if (!p->computed[g] && (!waited_for || r->turn[g][0].waits_compute))
            return g;
    return -1;
}

static struct ring_event next_gathering(const struct ring *r, struct ring_play *p, unsigned early)
{
    if (!p->combined && (p->landed || !r->turn[0][0].waits_arrival))
        return (struct ring_event){RING_COMBINE, 0, p->combined++};
    int g = idle_gpu(r, p, true);
    if (g < 0 && early & 1 && can_gather(r, p))
        return land(p);
    if (g < 0)
        g = idle_gpu(r, p, false);
    if (g >= 0)
        return (struct ring_event){RING_COMPUTE, g, p->computed[g]++};
    return p->landed ? (struct ring_event){RING_DONE, -1, p->landed} : land(p);
}

struct ring_event ring_next(const struct ring *r, struct ring_play *p, unsigned early)
{
    bool done = true;
    if (r->gathers)
        return next_gathering(r, p, early);
    for (int g = 0; g < r->gpus; g++)
        if (can_begin(r, p, g))
            return (struct ring_event){RING_BEGIN, g, p->begun[g]++};
    if (early >> p->landed & 1 && can_land(r, p, true))
        return land(p);
    for (int g = 0; g < r->gpus; g++)
        if (can_compute(r, p, g))
            return (struct ring_event){RING_COMPUTE, g, p->computed[g]++};
    if (can_land(r, p, false))
        return land(p);
    for (int g = 0; g < r->gpus; g++)
        done &= p->computed[g] == r->steps;
    return (struct ring_event){done ? RING_DONE : RING_STUCK, -1, p->landed};
}

unsigned ring_usual_order(const struct ring *r)
{
    unsigned early = 0;
    for (int e = r->steps - 3; e >= 0; e -= 2)
        early |= 1u << e;
    return early;
}

/* ---- are the waits enough? ---- */

/* Of answers: each is there before it is sent, all have arrived before they are merged. */
static enum status check_gathering(const struct ring *r, unsigned early, struct err *why)
{
    struct ring_play p = {.landed = 0};
    for (;;) {
        const struct ring_event e = ring_next(r, &p, early);
        if (e.what == RING_DONE)
            return ST_OK;
        for (int g = 1; g < r->gpus && e.what == RING_LAND; g++)
            if (!p.computed[g])
                return err_set(why, ST_FAIL, "the answer of GPU %d is sent before it is there", g);
        if (e.what == RING_COMBINE && !p.landed)
            return err_set(why, ST_FAIL, "GPU 0 merges answers that are on their way to it");
    }
}

enum { UNDEFINED = -1 };
struct slots {
    int shard[RING_GPUS_MAX][2]; /* whose keys; UNDEFINED while they are on their way */
};

static enum status check_step(const struct ring *r, const struct slots *x, int gpu, int step,
                              struct err *why)
{
    const int want = r->turn[gpu][step].holds, have = x->shard[gpu][step % 2];
    if (have == want)
        return ST_OK;
    if (have == UNDEFINED)
        return err_set(why, ST_FAIL,
                       "GPU %d computes step %d in a slot whose keys and values are on their way: "
                       "nothing makes %s wait",
                       gpu, step, r->turn[gpu][step].waits_arrival ? "the copy" : "the step");
    return err_set(why, ST_FAIL,
                   "GPU %d has the keys and values of GPU %d in step %d, where those of GPU %d are "
                   "due",
                   gpu, have, step, want);
}

static void exchange(const struct ring *r, struct slots *x, int step)
{
    for (int g = 0; g < r->gpus; g++)
        if (r->turn[g][step].from >= 0)
            x->shard[g][(step + 1) % 2] = x->shard[r->turn[g][step].from][step % 2];
}

static enum status check_order(const struct ring *r, unsigned early, struct err *why)
{
    struct slots x;
    struct ring_play p = {.landed = 0};
    for (int g = 0; g < r->gpus; g++) {
        x.shard[g][0] = g;
        x.shard[g][1] = UNDEFINED;
    }
    for (;;) {
        const struct ring_event e = ring_next(r, &p, early);
        enum status st = ST_OK;
        if (e.what == RING_DONE)
            return ST_OK;
        if (e.what == RING_STUCK)
            return err_set(why, ST_FAIL, "the GPUs of the ring wait for each other for ever");
        if (e.what == RING_BEGIN)
            x.shard[e.gpu][(e.step + 1) % 2] = UNDEFINED;
        else if (e.what == RING_LAND)
            exchange(r, &x, e.step);
        else
            st = check_step(r, &x, e.gpu, e.step, why);
        if (st)
            return st;
    }
}

/* Each exchange alone late among early ones, and early among late ones, is every pair of neighbours in every order. */
enum status ring_check(const struct ring *r, struct err *why)
{
    const unsigned all = (1u << r->steps) - 1;
    if (r->gathers) {
        const enum status early = check_gathering(r, 1, why);
        return early ? early : check_gathering(r, 0, why);
    }
    enum status st = check_order(r, ring_usual_order(r), why);
    for (int e = 0; e + 1 < r->steps && !st; e++) {
        st = check_order(r, 1u << e, why);
        if (!st)
            st = check_order(r, all & ~(1u << e), why);
    }
    return st;
}

/* ---- time ---- */

/* In one direction, GB/s: NVIDIA's data sheets give both directions together. */
static const struct {
    const char *device;
    struct ring_link link;
} links[] = {
    {"V100", {"NVLink 2", 150}},
    {"A100-80GB", {"NVLink 3", 300}},
    {"A100-40GB", {"NVLink 3", 300}},
    {"A30", {"NVLink 3 bridge", 100}},
    {"A40", {"NVLink 3 bridge", 56.25}},
    {"RTX-3090", {"NVLink 3 bridge", 56.25}},
    {"H100-SXM", {"NVLink 4", 450}},
    {"H100-PCIe", {"NVLink 4 bridge", 300}},
    {"H200", {"NVLink 4", 450}},
    {"B200", {"NVLink 5", 900}},
    {"MI300X", {"Infinity Fabric link", 64}},
};

/* 16 lanes: 16 or 32 or 64 GT/s, less what 128b/130b takes. Turing has generation 3, Ampere and Ada 4, Blackwell 5. */
static struct ring_link bus_of(const struct device *d)
{
    return d->cc >= 90   ? (struct ring_link){"PCIe 5 x16", 63}
           : d->cc >= 80 ? (struct ring_link){"PCIe 4 x16", 31.5}
           : d->cc > 0   ? (struct ring_link){"PCIe 3 x16", 15.75}
                         : (struct ring_link){NULL, REAL_UNKNOWN};
}

struct ring_link ring_link_of(const struct device *d)
{
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (!strcmp(links[i].device, d->name))
            return links[i].link;
    return bus_of(d);
}

static double later(double a, double b)
{
    return isnan(a) || isnan(b) ? REAL_UNKNOWN : fmax(a, b);
}

static void time_step(const struct ring *r, int gpu, int step, double tflops, struct ring_time *t)
{
    struct ring_span *x = &t->span[gpu][step];
    x->begin_us =
        step ? later(t->span[gpu][step - 1].end_us, t->span[gpu][step - 1].copy_end_us) : 0;
    x->end_us = x->begin_us + flops_of(r, ring_pairs(r, gpu, step)) / (tflops * 1e6);
}

/* Begins when the sender has what it sends, and the receiver has done with the slot and with the copy before. */
static void time_copy(const struct ring *r, int gpu, int step, double gbs, struct ring_time *t)
{
    struct ring_span *x = &t->span[gpu][step];
    const int from = r->turn[gpu][step].from;
    x->copy_begin_us = x->copy_end_us = REAL_UNKNOWN;
    if (from < 0)
        return;
    x->copy_begin_us =
        step ? later(t->span[gpu][step - 1].end_us,
                     later(t->span[gpu][step - 1].copy_end_us, t->span[from][step - 1].copy_end_us))
             : 0;
    x->copy_end_us =
        x->copy_begin_us + ring_shard_bytes(r, r->turn[from][step].holds) / (gbs * 1e3);
}

/* Answers come in over one link, each when it is there and the one before has arrived. Their spans are of who sends. */
static double time_gathering(const struct ring *r, double gbs, struct ring_time *t)
{
    double free_us = 0, total = t->span[0][0].end_us;
    for (int g = 1; g < r->gpus; g++) {
        struct ring_span *x = &t->span[g][0];
        x->copy_begin_us = later(x->end_us, free_us);
        free_us = x->copy_end_us = x->copy_begin_us + ring_sent_bytes(r, g) / (gbs * 1e3);
        total = later(total, free_us);
    }
    return total;
}

void ring_time(const struct ring *r, double tflops, double gbs, struct ring_time *out)
{
    double flops = 0;
    *out = (struct ring_time){.total_us = 0};
    for (int step = 0; step < r->steps; step++)
        for (int g = 0; g < r->gpus; g++) {
            time_step(r, g, step, tflops, out);
            time_copy(r, g, step, gbs, out);
        }
    for (int g = 0; g < r->gpus; g++) {
        const double mine = ring_flops(r, g), sends = ring_sent_bytes(r, g) / (gbs * 1e3);
        flops += mine;
        out->compute_us = fmax(out->compute_us, mine / (tflops * 1e6));
        out->transfer_us = later(out->transfer_us, sends);
        out->total_us = later(out->total_us, out->span[g][r->steps - 1].end_us);
    }
    if (r->gathers)
        out->total_us = time_gathering(r, gbs, out);
    out->exposed_us = out->total_us - out->compute_us;
    out->efficiency = flops / (tflops * 1e6) / (r->gpus * out->total_us);
}
