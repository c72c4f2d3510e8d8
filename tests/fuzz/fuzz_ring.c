/* fuzz_ring.c - rings of GPUs from shapes: "gpus=4 shards=zigzag S=64 causal". What cannot go round is refused with a sentence.
 * Of the rest: every row of every tensor is one GPU's, all pairs of the mask are met, waits are enough, bytes and times add
 * up, and no launch reaches beyond what the card has.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/ring_args.h"
#include "base/mem.h"
#include "measure/options.h"

const char *const fuzz_seeds[] = {
    "gpus=4 shards=zigzag B=2 H=4 Hkv=2 S=64 D=8 causal",
    "gpus=3 shards=stretches H=2 Sq=13 Sk=29 D=16 f32",
    "gpus=16 shards=splitkv Sq=1 Sk=100 H=8 Hkv=1 causal bf16 bshd",
    "gpus=2 S=7 causal H=1 D=1 layout=bshd",
    "gpus=5 S=11 Sk=10 H=3 page=16",
    "gpus=1 S=1 H=1",
    "gpus=16 shards=zigzag S=1M B=1k H=64 D=256 causal",
    NULL,
};
const char *const fuzz_tokens[] = {
    "gpus=", "shards=", "zigzag", "stretches", "splitkv",   "B=",         "H=",   "Hkv=", "S=",
    "Sq=",   "Sk=",     "D=",     "causal",    "full",      "f32",        "bf16", "bshd", "page=16",
    " ",     "1",       "2",      "15",        "16",        "17",         "31",   "32",   "33",
    "0",     "-1",      "1G",     "64k",       "causal=no", "pages=both", NULL,
};

/* ---- reading ---- */

/* What is asked; false: nothing that a ring could be made of. */
static bool read_wish(char *text, struct options *o, struct shape *s)
{
    char *shape = xcalloc(strlen(text) + 2, 1), *rest = text;
    bool good = true;
    for (char *word; good && (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        const size_t len = value ? (size_t)(value - word) : 0;
        const struct field *f = NULL;
        for (const struct field *k = option_keys; k->name && value; k++)
            if (strlen(k->name) == len && !strncmp(k->name, word, len) &&
                (!strcmp(k->name, "gpus") || !strcmp(k->name, "shards")))
                f = k;
        if (f)
            good = field_set(f, o, value + 1, NULL) == ST_OK;
        else
            strcat(strcat(shape, word), " ");
    }
    good = good && shape_parse(shape, s, NULL) == ST_OK && shape_check(s, NULL) == ST_OK;
    free(shape);
    return good;
}

/* ---- what holds ---- */

/* Chunks of all GPUs are the whole sequence, none of them twice, none empty but queries' of none. */
static int check_rows(const struct ring *r, enum ring_side side)
{
    const int64_t length = side == RING_KEYS ? r->shape.Sk : r->shape.Sq;
    int64_t sum = 0;
    if (r->gathers && side == RING_QUERIES)
        return ring_count(r, r->gpus - 1, side) == length ? 0 : fuzz_broken("not all queries");
    for (int g = 0; g < r->gpus; g++)
        for (int i = 0; i < r->mine; i++) {
            const struct ring_rows x = ring_rows(r, g, i, side);
            if (x.rows < 1 || x.first < 0 || x.first + x.rows > length)
                return fuzz_broken("GPU %d has %lld rows from %lld of %lld", g, (long long)x.rows,
                                   (long long)x.first, (long long)length);
            for (int h = 0; h < g; h++)
                for (int k = 0; k < r->mine; k++) {
                    const struct ring_rows y = ring_rows(r, h, k, side);
                    if (x.first < y.first + y.rows && y.first < x.first + x.rows)
                        return fuzz_broken("GPUs %d and %d have the same rows", g, h);
                }
            sum += x.rows;
        }
    return sum == length ? 0 : fuzz_broken("%lld rows of %lld", (long long)sum, (long long)length);
}

static int check_sums(const struct ring *r)
{
    double flops = 0, sent = 0;
    for (int g = 0; g < r->gpus; g++) {
        flops += ring_flops(r, g);
        sent += ring_sent_bytes(r, g);
        const double memory = ring_memory_bytes(r, g);
        if (!(memory > 0) || !isfinite(memory))
            return fuzz_broken("GPU %d needs %g bytes", g, memory);
    }
    const double all = shape_flops(&r->shape);
    if (fabs(flops - all) > 1e-9 * all)
        return fuzz_broken("%.17g FLOPs, the whole has %.17g", flops, all);
    if (sent != ring_link_bytes(r) || (sent > 0) != (r->gpus > 1))
        return fuzz_broken("%g bytes are sent", sent);
    return ring_imbalance(r) >= 1 - 1e-9 && ring_imbalance(r) <= r->gpus + 1e-9
               ? 0
               : fuzz_broken("an imbalance of %g", ring_imbalance(r));
}

static int check_time(const struct ring *r, double tflops, double gbs)
{
    struct ring_time t;
    ring_time(r, tflops, gbs, &t);
    if (isnan(gbs) && r->gpus > 1)
        return isnan(t.total_us) && isnan(t.exposed_us) && isnan(t.efficiency)
                   ? 0
                   : fuzz_broken("a time over a link that is not known");
    const double least = ring_flops(r, 0) / (tflops * 1e6);
    if (!(t.total_us >= t.compute_us * (1 - 1e-9)) || !(t.compute_us >= least * (1 - 1e-9)) ||
        !(t.efficiency > 0) || t.efficiency > 1 + 1e-9 || t.exposed_us < -1e-6 * t.total_us)
        return fuzz_broken("%g us in all, %g of computing, efficiency %g", t.total_us, t.compute_us,
                           t.efficiency);
    for (int g = 0; g < r->gpus; g++)
        for (int i = 0; i < r->steps; i++) {
            const struct ring_span *x = &t.span[g][i];
            if (!(x->end_us >= x->begin_us) || x->end_us > t.total_us * (1 + 1e-9) ||
                x->copy_end_us < x->copy_begin_us)
                return fuzz_broken("GPU %d, step %d: %g to %g", g, i, x->begin_us, x->end_us);
        }
    return 0;
}

/* Bytes from `at` on that one launch's tensor reaches. */
static uint64_t reach(const int64_t stride[3], const struct shape *s, int64_t heads, int64_t rows)
{
    const int64_t last = (s->B - 1) * stride[0] + (heads - 1) * stride[1] + (rows - 1) * stride[2];
    return (uint64_t)(last + s->D) * dtype_size(s->dtype);
}

static int check_reach(const char *what, uint64_t base, const void *at, uint64_t bytes,
                       uint64_t room)
{
    const uint64_t from = (uint64_t)(uintptr_t)at - base;
    return from <= room && bytes <= room - from
               ? 0
               : fuzz_broken("%s: %llu bytes from %llu of %llu", what, (unsigned long long)bytes,
                             (unsigned long long)from, (unsigned long long)room);
}

/* Addresses far apart, so that one that is wrong is in nothing else. */
static struct ring_memory memory_of(void)
{
    struct ring_memory m = {0};
    uint64_t *at = (uint64_t *)(void *)&m;
    for (size_t i = 0; i < sizeof m / sizeof *at; i++)
        at[i] = (uint64_t)(i + 1) << 48;
    return m;
}

static int check_meeting(const struct ring *r, const struct ring_memory *m,
                         const struct ring_meeting *x, const struct shape *local, int before)
{
    const struct AttnArgs a = ring_attn_args(r, m, x, local, 42);
    const int holds = r->turn[x->gpu][x->step].holds, own = ring_own_part(r, x->gpu);
    const struct shape *s = local;
    const struct ring_merge_args f = ring_merge_args(r, m, x->gpu, x->i, own, before);
    const uint64_t rows = (uint64_t)(s->B * s->H * s->Sq);
    return check_reach("Q", m->q, a.q, reach(a.q_stride, s, s->H, s->Sq),
                       ring_tensor_bytes(r, x->gpu)) ||
           check_reach("K", m->kv[x->step % 2][0], a.k, reach(a.k_stride, s, s->Hkv, s->Sk),
                       ring_shard_half(r, holds)) ||
           check_reach("V", m->kv[x->step % 2][1], a.v, reach(a.v_stride, s, s->Hkv, s->Sk),
                       ring_slot_bytes(r, x->gpu)) ||
           check_reach("a part", m->part[own], a.o, reach(a.o_stride, s, s->H, s->Sq),
                       ring_part_tensor(r, x->gpu)) ||
           check_reach("its LSE", m->part_lse[own], a.lse, 4 * rows, ring_part_lse(r, x->gpu)) ||
           check_reach("a sum", m->sum[x->i], (void *)(uintptr_t)f.sum, 4 * rows * (uint64_t)s->D,
                       r->gathers && x->gpu ? 4 * rows * (uint64_t)s->D
                                            : ring_sum_bytes(r, x->gpu, x->i)) ||
           check_reach("O", m->o, (void *)(uintptr_t)f.o, reach(f.o_stride, s, s->H, s->Sq),
                       ring_tensor_bytes(r, x->gpu)) ||
           check_reach("the LSE", m->lse, (void *)(uintptr_t)f.lse, 4 * rows,
                       ring_lse_bytes(r, x->gpu));
}

static int check_launches(const struct ring *r)
{
    const struct ring_memory m = memory_of();
    int broken = 0;
    for (int g = 0; g < r->gpus && !broken; g++) {
        int done[RING_MINE_MAX] = {0};
        for (int n = 0; n < r->steps * r->mine * r->mine && !broken; n++) {
            const struct ring_meeting x = {g, n / (r->mine * r->mine), n / r->mine % r->mine,
                                           n % r->mine};
            struct shape local;
            if (!ring_local(r, g, x.i, r->turn[g][x.step].holds, x.j, &local))
                continue;
            if (local.Sq < 1 || local.Sk < 1)
                return fuzz_broken("a meeting of nobody");
            broken = check_meeting(r, &m, &x, &local, done[x.i]++);
        }
        for (int i = 0; i < r->mine && !broken && !r->gathers; i++)
            if (done[i] != ring_parts(r, g, i) || !done[i])
                broken = fuzz_broken("chunk %d of GPU %d has %d parts", i, g, done[i]);
    }
    return broken;
}

/* ---- bytes of the whole, one by one, where they are few ---- */

struct counted {
    unsigned char *whole, *piece;
    size_t whole_bytes, piece_bytes;
    bool bad;
};

static void count_row(void *ctx, int64_t whole, int64_t piece, size_t bytes)
{
    struct counted *c = ctx;
    if (whole < 0 || piece < 0 || (size_t)whole + bytes > c->whole_bytes ||
        (size_t)piece + bytes > c->piece_bytes) {
        c->bad = true;
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        c->bad |= c->whole[(size_t)whole + i]++ || c->piece[(size_t)piece + i]++;
}

static bool all_once(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 1)
            return false;
    return true;
}

/* `side` < 0: the LSE. */
static int check_bytes(const struct ring *r, int side)
{
    const struct shape *s = &r->shape;
    const size_t T = dtype_size(s->dtype);
    struct counted c = {.whole_bytes = side < 0            ? (size_t)(s->B * s->H * s->Sq) * 4
                                       : side == RING_KEYS ? shape_kv_elems(s) * T
                                                           : shape_q_elems(s) * T};
    enum { FEW = 1 << 14 };
    bool whole = true;
    if (c.whole_bytes > FEW)
        return 0;
    c.whole = xcalloc(c.whole_bytes + 1, 1);
    for (int g = 0; g < (r->gathers && side != RING_KEYS ? 1 : r->gpus); g++) {
        c.piece_bytes = (size_t)(side < 0            ? ring_lse_bytes(r, g)
                                 : side == RING_KEYS ? ring_shard_half(r, g)
                                                     : ring_tensor_bytes(r, g));
        c.piece = xcalloc(c.piece_bytes + 1, 1);
        if (side < 0)
            ring_each_lse(r, g, count_row, &c);
        for (int i = 0; i < r->mine && side >= 0; i++)
            ring_each_row(r, g, i, (enum ring_side)side, count_row, &c);
        whole = whole && all_once(c.piece, c.piece_bytes);
        free(c.piece);
    }
    whole = whole && !c.bad && all_once(c.whole, c.whole_bytes);
    free(c.whole);
    return whole ? 0 : fuzz_broken("bytes of %d are nobody's, or more than one GPU's", side);
}

static int check_ring(const struct ring *r)
{
    struct err err = ERR_INIT;
    if (ring_check(r, &err) != ST_OK)
        return fuzz_broken("%s", err.text);
    return check_rows(r, RING_QUERIES) || check_rows(r, RING_KEYS) || check_sums(r) ||
           check_time(r, 300, 450) || check_time(r, 0.001, 1e6) || check_time(r, 1e6, 0.01) ||
           check_time(r, 100, NAN) || check_launches(r) || check_bytes(r, RING_QUERIES) ||
           check_bytes(r, RING_KEYS) || check_bytes(r, -1);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    struct options o;
    struct shape s = SHAPE_DEFAULT;
    struct ring r;
    struct err err = ERR_INIT;
    int broken = 0;
    options_init(&o);
    if (read_wish(text, &o, &s)) {
        const enum status st =
            ring_build(&s, o.gpus, (enum ring_shards)o.shards, s.dtype, &r, &err);
        if (st == ST_OK)
            broken = check_ring(&r);
        else if (st != ST_NO || !*err.text)
            broken = fuzz_broken("status %d, \"%s\"", (int)st, err.text);
    }
    options_clear(&o);
    free(text);
    return broken;
}
