/* test_hazard_random.c - random programs of accesses and synchronisations: what the detector reports against all pairs of
 * accesses, with what each thread knows kept as a set of accesses.
 *
 * HAZARD_PROGRAMS=100000 makes it longer, HAZARD_SEED=n begins elsewhere.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/hazard.h"
#include "tap.h"

enum {
    BLOCKS = 2,
    WARPS = 3,
    THREADS = WARPS * 32,
    SHARED = 64,
    GLOBAL = 64,
    PLACES = BLOCKS * SHARED + GLOBAL, /* bytes: those of each block, then global ones */
    EVENTS = 3000,
    OPS = 45,
    LOCATIONS = 4, /* for releases, 16 bytes apart */
    OBJECTS = 2,   /* mbarriers */
    WORDS = EVENTS / 64 + 1,
};
#define EVERY UINT32_MAX

struct set {
    uint64_t word[WORDS];
};
static void add(struct set *s, int i)
{
    s->word[i / 64] |= (uint64_t)1 << i % 64;
}
static bool has(const struct set *s, int i)
{
    return s->word[i / 64] >> i % 64 & 1;
}
static void join(struct set *s, const struct set *from)
{
    for (int i = 0; i < WORDS; i++)
        s->word[i] |= from->word[i];
}

struct event {
    int block, thread, insn, from, to; /* bytes from..to-1 of all places */
    enum hazard_act act;
    bool collective;
    int group;  /* of a copy: which of its thread's, or -1 */
    int number; /* of its thread's own accesses */
};

/* A thread of the model. */
struct thread {
    struct set knows; /* own accesses included, its copies only when waited for */
    struct set seen;  /* what relaxed reads found, until a fence */
    int done;         /* own accesses so far */
    int fence[2];     /* of these, those before its last fence of that scope; -1: none */
    int groups;       /* committed */
};
struct location {
    struct set near, far; /* what it gives within the block `block`, and to all */
    int block;
};
struct object {
    struct set arriving, complete;
};

struct model {
    struct event event[EVENTS];
    int events;
    struct thread thread[BLOCKS][THREADS];
    struct location location[BLOCKS + 1]
                            [LOCATIONS]; /* in shared memory of each block, in global memory */
    struct object object[BLOCKS][OBJECTS];
    uint32_t alive[BLOCKS][WARPS];
    uint64_t random;
    int insn;
    uint64_t page; /* of its own in global memory: blocks of one launch are unordered */
};

static uint32_t draw(struct model *m, uint32_t n)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->random >> 33) % n;
}

/* ---- the model: an access ---- */

static bool strong(enum hazard_act a)
{
    return a == HAZARD_STRONG_READ || a == HAZARD_STRONG_WRITE || a == HAZARD_ATOMIC;
}
static bool writes(enum hazard_act a)
{
    return a != HAZARD_READ && a != HAZARD_STRONG_READ;
}

static void model_access(struct model *m, int block, int thread, int from, int bytes,
                         enum hazard_act act, bool collective)
{
    struct thread *t = &m->thread[block][thread];
    struct event *e = &m->event[m->events];
    *e = (struct event){.block = block,
                        .thread = thread,
                        .insn = m->insn,
                        .from = from,
                        .to = from + bytes,
                        .act = act,
                        .collective = collective,
                        .group = act == HAZARD_COPY ? t->groups : -1,
                        .number = t->done};
    if (act != HAZARD_COPY)
        t->done++;
    m->events++;
}

static bool conflict(const struct event *x, const struct event *y)
{
    if (x->from >= y->to || y->from >= x->to || (!writes(x->act) && !writes(y->act)) ||
        (strong(x->act) && strong(y->act)))
        return false;
    if (x->collective && y->collective && x->block == y->block &&
        x->thread / 32 == y->thread / 32 && x->act == HAZARD_READ && y->act == HAZARD_WRITE)
        return false; /* lanes meet at the store, and then all have read */
    return x->insn != y->insn || !x->collective;
}

/* ---- a program, told to both ---- */

struct trial {
    struct model m;
    struct hazards *launch;
    struct hazard_block *block[BLOCKS];
    struct { /* by the model: instructions and bytes */
        int a, b, from, to;
    } * race;
    size_t races, cap;
};

static void note_race(struct trial *t, const struct event *x, const struct event *y)
{
    if (t->races == t->cap)
        t->race = xrealloc(t->race, (t->cap = t->cap ? 2 * t->cap : 256) * sizeof *t->race);
    t->race[t->races].a = x->insn;
    t->race[t->races].b = y->insn;
    t->race[t->races].from = x->from > y->from ? x->from : y->from;
    t->race[t->races++].to = x->to < y->to ? x->to : y->to;
}

/* All pairs of the accesses from `first` on with all that were before; then their threads know them. */
static void judge(struct trial *t, int first)
{
    struct model *m = &t->m;
    for (int i = first; i < m->events; i++) {
        const struct event *y = &m->event[i];
        struct thread *by = &m->thread[y->block][y->thread];
        for (int j = 0; j < i; j++)
            if (conflict(&m->event[j], y) && !has(&by->knows, j))
                note_race(t, &m->event[j], y);
        if (y->act != HAZARD_COPY)
            add(&by->knows, i);
    }
}

/* What a thread releases at a scope: what it knows but for its own accesses since the fence. */
static bool released(const struct model *m, int block, int thread, bool release, int scope,
                     struct set *out)
{
    const struct thread *t = &m->thread[block][thread];
    if (!release && t->fence[scope] < 0)
        return false;
    *out = t->knows;
    for (int i = 0; !release && i < m->events; i++) {
        const struct event *e = &m->event[i];
        if (e->block == block && e->thread == thread && e->act != HAZARD_COPY &&
            e->number >= t->fence[scope])
            out->word[i / 64] &= ~((uint64_t)1 << i % 64);
    }
    return true;
}

/* What an acquire, or a relaxed read before a fence, learns. */
static void model_strong_read(struct model *m, int block, int thread, const struct location *l,
                              const struct hazard_access *a)
{
    struct thread *t = &m->thread[block][thread];
    const bool near = l->block == block, gpu = a->scope == HAZARD_SCOPE_GPU;
    if (a->act != HAZARD_STRONG_WRITE && a->acquire) {
        for (int i = 0; near && i < m->events; i++) /* at .cta scope what its own block did */
            if (has(&l->near, i) && (gpu || m->event[i].block == block))
                add(&t->knows, i);
        if (gpu)
            join(&t->knows, &l->far);
    } else if (a->act != HAZARD_STRONG_WRITE) {
        if (near)
            join(&t->seen, &l->near);
        join(&t->seen, &l->far);
    }
}

static void model_strong_write(struct model *m, int block, int thread, struct location *l,
                               const struct hazard_access *a)
{
    const bool near = l->block == block, gpu = a->scope == HAZARD_SCOPE_GPU;
    struct set gives;
    const bool keeps = a->act == HAZARD_ATOMIC;
    if (!keeps || !near)
        l->near = (struct set){0};
    if (!keeps)
        l->far = (struct set){0};
    l->block = block;
    if (gpu && released(m, block, thread, a->release, HAZARD_SCOPE_GPU, &gives)) {
        join(&l->far, &gives);
        join(&l->near, &gives);
    }
    if (released(m, block, thread, a->release, HAZARD_SCOPE_CTA, &gives))
        join(&l->near, &gives);
    join(&l->near, &l->far);
}

static uint32_t some_lanes(struct model *m)
{
    static const uint32_t masks[] = {1, 2, 3, 1u << 31, 0x80000003, 0xf, 5};
    return masks[draw(m, sizeof masks / sizeof *masks)];
}

static void access(struct trial *t, int block)
{
    struct model *m = &t->m;
    static const enum hazard_act acts[] = {
        HAZARD_READ, HAZARD_READ, HAZARD_READ,        HAZARD_WRITE,        HAZARD_WRITE,
        HAZARD_COPY, HAZARD_COPY, HAZARD_STRONG_READ, HAZARD_STRONG_WRITE, HAZARD_ATOMIC};
    const uint32_t warp = draw(m, WARPS);
    struct hazard_access a = {.warp = warp,
                              .mask = some_lanes(m) & m->alive[block][warp],
                              .insn = (uint32_t)m->insn,
                              .bytes = 1u << draw(m, 5),
                              .act = acts[draw(m, sizeof acts / sizeof *acts)],
                              .scope = draw(m, 2) ? HAZARD_SCOPE_GPU : HAZARD_SCOPE_CTA};
    const bool global = a.act != HAZARD_COPY && !draw(m, 4);
    if (strong(a.act)) {
        a.bytes = 4;
        a.acquire = a.act != HAZARD_STRONG_WRITE && draw(m, 2);
        a.release = a.act != HAZARD_STRONG_READ && draw(m, 2);
    } else if (a.act != HAZARD_COPY) {
        a.collective = !draw(m, 6) && m->alive[block][warp] == EVERY;
    }
    if (a.act == HAZARD_COPY)
        a.bytes = 4u << draw(m, 3);
    if (!a.mask || m->events > EVENTS - 200)
        return;
    uint32_t at[32];
    uint64_t wide[32];
    const uint32_t base = draw(m, SHARED), step = draw(m, 3) * a.bytes;
    for (uint32_t l = 0; l < 32; l++) {
        const uint32_t places = SHARED / a.bytes;
        at[l] = strong(a.act) ? base % LOCATIONS * 16
                              : (base / a.bytes + l * step / a.bytes) % places * a.bytes;
        wide[l] = 0x700000000000u + m->page + at[l];
    }
    const int first = m->events, shift = global ? BLOCKS * SHARED : block * SHARED;
    if (global) {
        hazard_global(t->block[block], &a, wide);
        hazard_warp_sync(t->block[block], warp,
                         1); /* does nothing, but what was read is learnt now */
    } else
        hazard_shared(t->block[block], &a, at);
    for (int l = 0; l < 32; l++)
        for (int by = 0; by < 32 && a.mask >> l & 1; by++)
            if (a.collective ? true : by == l)
                model_access(m, block, (int)warp * 32 + by, shift + (int)at[l], (int)a.bytes, a.act,
                             a.collective);
    judge(t, first);
    struct location *row = m->location[global ? BLOCKS : block];
    /* In shared memory lane after lane reads and writes; in global memory all write before they learn what they read. */
    const int learns = global ? 1 : 0;
    for (int pass = 0; pass <= learns && strong(a.act); pass++)
        for (int l = 0; l < 32; l++) {
            struct location *at_lane = &row[at[l] / 16 % LOCATIONS];
            const int thread = (int)warp * 32 + l;
            if (a.mask >> l & 1 && pass == learns)
                model_strong_read(m, block, thread, at_lane, &a);
            if (a.mask >> l & 1 && pass == 0 && writes(a.act))
                model_strong_write(m, block, thread, at_lane, &a);
        }
    for (int l = 0; l < 32; l++)
        if (a.mask >> l & 1 && a.act == HAZARD_WRITE && at[l] % 16 == 0)
            row[at[l] / 16] = (struct location){.block = block};
}

static void warp_sync(struct trial *t, int block)
{
    struct model *m = &t->m;
    const uint32_t warp = draw(m, WARPS), mask = draw(m, 3) ? EVERY : some_lanes(m);
    struct set all = {{0}};
    hazard_warp_sync(t->block[block], warp, mask);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t l = 0; l < 32; l++)
            if (mask >> l & 1)
                join(pass ? &m->thread[block][warp * 32 + l].knows : &all,
                     pass ? &all : &m->thread[block][warp * 32 + l].knows);
}

/* Some arrive, others wait; it opens at once. */
static void barrier(struct trial *t, int block)
{
    struct model *m = &t->m;
    const uint32_t id = draw(m, HAZARD_BARRIERS), how = draw(m, 3);
    struct set all = {{0}};
    uint32_t waits[WARPS] = {0};
    for (uint32_t w = 0; w < WARPS; w++) {
        const uint32_t mask = (how ? EVERY : some_lanes(m)) & m->alive[block][w];
        const bool comes = how == 1 || draw(m, 3), arrives = how == 2 && !draw(m, 3);
        if (!comes || !mask)
            continue;
        hazard_barrier_arrive(t->block[block], id, w, mask, !arrives);
        waits[w] = arrives ? 0 : mask;
        for (uint32_t l = 0; l < 32; l++)
            if (mask >> l & 1)
                join(&all, &m->thread[block][w * 32 + l].knows);
    }
    hazard_barrier_open(t->block[block], id);
    for (uint32_t w = 0; w < WARPS; w++)
        for (uint32_t l = 0; l < 32; l++)
            if (waits[w] >> l & 1)
                join(&m->thread[block][w * 32 + l].knows, &all);
}

static void fence(struct trial *t, int block)
{
    struct model *m = &t->m;
    const uint32_t warp = draw(m, WARPS), mask = some_lanes(m) & m->alive[block][warp];
    const enum hazard_scope scope = draw(m, 3) ? HAZARD_SCOPE_GPU : HAZARD_SCOPE_CTA;
    hazard_fence(t->block[block], warp, mask, scope);
    for (uint32_t l = 0; l < 32; l++) {
        struct thread *x = &m->thread[block][warp * 32 + l];
        if (!(mask >> l & 1))
            continue;
        x->fence[HAZARD_SCOPE_CTA] = x->done;
        if (scope == HAZARD_SCOPE_GPU) {
            x->fence[HAZARD_SCOPE_GPU] = x->done;
            join(&x->knows, &x->seen);
            x->seen = (struct set){{0}};
        } else { /* only what its own block did */
            for (int i = 0; i < m->events; i++)
                if (has(&x->seen, i) && m->event[i].block == block)
                    add(&x->knows, i);
        }
    }
}

/* Copies of a thread in groups before `groups` are there. */
static void land(struct model *m, int block, int thread, int groups, struct set *into)
{
    for (int i = 0; i < m->events; i++) {
        const struct event *e = &m->event[i];
        if (e->act == HAZARD_COPY && e->block == block && e->thread == thread && e->group < groups)
            add(into, i);
    }
}

static void copies(struct trial *t, int block)
{
    struct model *m = &t->m;
    const uint32_t warp = draw(m, WARPS), mask = some_lanes(m) & m->alive[block][warp],
                   pending = draw(m, 3);
    const bool commit = draw(m, 2);
    if (commit)
        hazard_copy_commit(t->block[block], warp, mask);
    else
        hazard_copy_wait(t->block[block], warp, mask, pending);
    for (uint32_t l = 0; l < 32; l++) {
        struct thread *x = &m->thread[block][warp * 32 + l];
        if (mask >> l & 1 && commit)
            x->groups++;
        else if (mask >> l & 1)
            land(m, block, (int)(warp * 32 + l), x->groups - (int)pending, &x->knows);
    }
}

static void mbarrier(struct trial *t, int block)
{
    struct model *m = &t->m;
    const uint32_t warp = draw(m, WARPS), mask = some_lanes(m) & m->alive[block][warp];
    uint32_t at[32], what = draw(m, 8);
    struct object *o[32];
    for (int l = 0; l < 32; l++) {
        const uint32_t n = draw(m, OBJECTS);
        at[l] = n * 8;
        o[l] = &m->object[block][n];
    }
    if (what == 0)
        hazard_mbarrier_init(t->block[block], at[0]);
    else if (what < 4)
        hazard_mbarrier_arrive(t->block[block], warp, mask, at, what == 3);
    else if (what < 6)
        hazard_mbarrier_complete(t->block[block], at[0]);
    else
        hazard_mbarrier_wait(t->block[block], warp, mask, at);
    if (what == 0)
        *o[0] = (struct object){0};
    if (what == 4 || what == 5) {
        o[0]->complete = o[0]->arriving;
        o[0]->arriving = (struct set){{0}};
    }
    for (uint32_t l = 0; l < 32; l++) {
        struct thread *x = &m->thread[block][warp * 32 + l];
        if (!(mask >> l & 1))
            continue;
        if (what == 3)
            land(m, block, (int)(warp * 32 + l), x->groups + 1, &o[l]->arriving);
        else if (what == 1 || what == 2)
            join(&o[l]->arriving, &x->knows);
        else if (what >= 6)
            join(&x->knows, &o[l]->complete);
    }
}

static void leave(struct trial *t, int block)
{
    const uint32_t warp = draw(&t->m, WARPS), mask = some_lanes(&t->m);
    t->m.alive[block][warp] &= ~mask;
    hazard_exit(t->block[block], warp, mask);
}

/* ---- the verdicts ---- */

static bool races(const struct trial *t, const struct hazard_report *r, int at)
{
    for (size_t i = 0; i < t->races; i++)
        if (t->race[i].a == (int)r->a.insn && t->race[i].b == (int)r->b.insn &&
            at >= t->race[i].from && at < t->race[i].to)
            return true;
    return false;
}

/* The byte among all places that a report begins with. */
static int place_of(const struct hazard_report *r)
{
    return r->shared ? (int)r->b.block % BLOCKS * SHARED + (int)r->addr
                     : BLOCKS * SHARED + (int)(r->addr & 0xfff);
}

struct score {
    int programs, racy, global_racy, global_missed;
};

static bool compare(struct trial *t, struct score *score)
{
    struct hazard_report *found;
    size_t n;
    bool good = true, racy[PLACES] = {0};
    hazards_take(t->launch, &found, &n, NULL, NULL);
    for (size_t i = 0; i < n; i++)
        if (!races(t, &found[i], place_of(&found[i])) ||
            !races(t, &found[i], place_of(&found[i]) + (int)found[i].bytes - 1)) {
            printf("# %s of insn %u and %u at %d is none\n", hazard_kind_name(found[i].kind),
                   found[i].a.insn, found[i].b.insn, place_of(&found[i]));
            good = false;
        }
    for (size_t i = 0; i < t->races; i++)
        for (int at = t->race[i].from; at < t->race[i].to; at++)
            racy[at] = true;
    for (int at = 0; at < PLACES; at++) {
        bool told = !racy[at];
        for (size_t i = 0; i < n && !told; i++)
            told = races(t, &found[i], at);
        const bool global = at >= BLOCKS * SHARED;
        score->global_racy += global && racy[at];
        score->global_missed += global && !told;
        score->racy += racy[at];
        if (!told && !global) {
            printf("# nothing is reported at byte %d\n", at);
            good = false;
        }
    }
    free(found);
    return good;
}

static bool run_program(struct trial *t, uint64_t seed, struct score *score)
{
    struct model *m = &t->m;
    memset(m, 0, sizeof *m);
    t->races = 0;
    m->page = seed % 16 << 12;
    m->random = seed * 0x9e3779b97f4a7c15u + 1;
    for (int b = 0; b < BLOCKS; b++) {
        hazard_block_begin(t->block[b], seed * BLOCKS + (uint64_t)b, NULL);
        memset(m->alive[b], 0xff, sizeof m->alive[b]);
        for (int i = 0; i < THREADS; i++)
            m->thread[b][i].fence[0] = m->thread[b][i].fence[1] = -1;
        for (int s = 0; s <= BLOCKS; s++)
            for (int i = 0; i < LOCATIONS; i++)
                m->location[s][i].block = -1;
    }
    const uint32_t syncs = 1 + draw(m, 12);
    for (int i = 0; i < OPS; i++) {
        static void (*const sync[])(struct trial *, int) = {warp_sync, barrier, barrier,  fence,
                                                            copies,    copies,  mbarrier, leave};
        const int block = (int)draw(m, BLOCKS);
        m->insn++;
        if (draw(m, 12) < syncs)
            access(t, block);
        else
            sync[draw(m, draw(m, 8) ? 7 : 8)](t, block);
    }
    for (int b = 0; b < BLOCKS; b++)
        hazard_block_end(t->block[b]);
    score->programs++;
    return compare(t, score);
}

static uint64_t setting(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : usual;
}

static void test_random(void)
{
    const uint64_t programs = setting("HAZARD_PROGRAMS", 400), seed = setting("HAZARD_SEED", 1);
    struct trial *t = xcalloc(1, sizeof *t);
    struct score score = {0};
    int bad = 0;
    for (uint64_t i = 0; i < programs && bad < 5; i++) {
        if (i % 16 == 0) { /* up to 16 programs are blocks in turn of one launch */
            for (int b = 0; b < BLOCKS; b++)
                hazard_block_free(t->block[b]);
            hazards_free(t->launch);
            t->launch = hazards_new(&(struct hazard_options){
                .threads = THREADS, .shared_bytes = SHARED, .max_reports = 100000});
            for (int b = 0; b < BLOCKS; b++)
                t->block[b] = hazard_block_new(t->launch);
        }
        if (!run_program(t, seed + i, &score)) {
            printf("# HAZARD_SEED=%llu HAZARD_PROGRAMS=1\n", (unsigned long long)(seed + i));
            bad++;
        }
    }
    printf("# %d programs, %d bytes with races, of %d in global memory %d not told\n",
           score.programs, score.racy, score.global_racy, score.global_missed);
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_TRUE(programs < 100 || score.racy > 100);
    CU_ASSERT_TRUE(score.global_missed * 10 <= score.global_racy);
    for (int b = 0; b < BLOCKS; b++)
        hazard_block_free(t->block[b]);
    hazards_free(t->launch);
    free(t->race);
    free(t);
}

static const struct tap_test tests[] = {
    {"the same verdicts as all pairs", test_random},
};

int main(void)
{
    return tap_run("hazard_random", tests, sizeof tests / sizeof *tests);
}
