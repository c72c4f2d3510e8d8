/* cache_feed.c - several threads' blocks before one L2, in the order of the blocks.
 *
 * The turn is one block's at a time. Its thread, and no other, has the L2: it goes through at once. Other
 * threads write down what they ask for, as runs of sectors. Who ends a block that has not had its turn leaves
 * the runs behind; who ends a block in its turn hands the turn on, and does what was left by those whose
 * turn it then is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

enum { SECTOR_BYTES = 32 };
#define WHOLE          UINT32_MAX
#define DEFAULT_RUNS   ((size_t)1 << 19) /* 8 MiB a thread */
#define LEFT_PER_BLOCK 8

/* `count` sectors one after another. All but single ones are asked for as a whole. */
struct run {
    uint64_t sector_op; /* first sector * 4 + enum cache_op */
    uint32_t bytes, count;
};

struct runs {
    struct run *at;
    size_t n, cap;
};

/* The runs of a block that ended before its turn. */
struct left {
    uint64_t number;
    struct runs runs;
    struct left *next;
};

struct cache_feed {
    struct cache *l2; /* belongs to the thread whose turn it is */
    size_t l1_bytes, limit;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t turned;
    uint64_t turn;
    bool stopped;
    struct left *left; /* in no order: as many as threads are ahead */
    size_t left_runs;
    uint64_t l1_asked, l1_hits;
};

struct cache_port {
    struct cache_feed *feed;
    struct cache **l1; /* of each block of the cluster; NULL: none */
    unsigned blocks;
    uint64_t number;
    bool mine; /* it is this block's turn */
    bool deaf; /* stopped */
    struct runs runs;
};

/* ---- Runs. ---- */

static void runs_add(struct runs *r, enum cache_op op, uint64_t sector, uint32_t bytes)
{
    if (r->n && bytes == WHOLE) {
        struct run *last = &r->at[r->n - 1];
        if (last->bytes == WHOLE && last->count < UINT32_MAX &&
            last->sector_op + ((uint64_t)last->count << 2) == (sector << 2 | op)) {
            last->count++;
            return;
        }
    }
    void *at = r->at;
    xgrow(&at, &r->cap, r->n + 1, sizeof *r->at);
    r->at = at;
    r->at[r->n++] = (struct run){.sector_op = sector << 2 | op, .bytes = bytes, .count = 1};
}

static void replay(struct cache *l2, struct runs *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct run *run = &r->at[i];
        cache_sectors(l2, (enum cache_op)(run->sector_op & 3), run->sector_op >> 2, run->bytes,
                      run->count);
    }
    r->n = 0;
}

/* ---- The feed. ---- */

struct cache_feed *cache_feed_new(size_t l2_bytes, size_t l1_bytes)
{
    struct cache_feed *f = xcalloc(1, sizeof *f);
    f->l2 = cache_new(l2_bytes);
    f->l1_bytes = l1_bytes;
    f->limit = DEFAULT_RUNS;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->turned, NULL);
    return f;
}

void cache_feed_limit(struct cache_feed *f, size_t runs)
{
    f->limit = runs ? runs : DEFAULT_RUNS;
}

void cache_feed_free(struct cache_feed *f)
{
    if (!f)
        return;
    while (f->left) {
        struct left *l = f->left;
        f->left = l->next;
        free(l->runs.at);
        free(l);
    }
    cache_free(f->l2);
    pthread_cond_destroy(&f->turned);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

void cache_feed_stop(struct cache_feed *f)
{
    pthread_mutex_lock(&f->lock);
    f->stopped = true;
    pthread_cond_broadcast(&f->turned);
    pthread_mutex_unlock(&f->lock);
}

struct cache_counts cache_feed_counts(const struct cache_feed *f, uint64_t *l1_asked,
                                      uint64_t *l1_hits)
{
    if (l1_asked)
        *l1_asked = f->l1_asked;
    if (l1_hits)
        *l1_hits = f->l1_hits;
    return cache_counts(f->l2);
}

/* ---- Ports. ---- */

struct cache_port *cache_port_new(struct cache_feed *f, unsigned blocks)
{
    struct cache_port *p = xcalloc(1, sizeof *p);
    p->feed = f;
    p->blocks = blocks;
    p->l1 = f->l1_bytes ? xcalloc(blocks, sizeof *p->l1) : NULL;
    for (unsigned i = 0; p->l1 && i < blocks; i++)
        p->l1[i] = cache_new_plain(f->l1_bytes);
    return p;
}

void cache_port_free(struct cache_port *p)
{
    if (!p)
        return;
    for (unsigned i = 0; p->l1 && i < p->blocks; i++)
        cache_free(p->l1[i]);
    free(p->l1);
    free(p->runs.at);
    free(p);
}

/* Is it this block's turn? If `wait`, until it is, or until nobody has one any more. The lock is held. */
static void ask_turn(struct cache_port *p, bool wait)
{
    struct cache_feed *f = p->feed;
    while (wait && !f->stopped && f->turn != p->number)
        pthread_cond_wait(&f->turned, &f->lock);
    p->deaf = f->stopped;
    p->mine = !p->deaf && f->turn == p->number;
}

void cache_port_begin(struct cache_port *p, uint64_t number)
{
    p->number = number;
    p->runs.n = 0;
    for (unsigned i = 0; p->l1 && i < p->blocks; i++)
        cache_clear(p->l1[i]);
    pthread_mutex_lock(&p->feed->lock);
    ask_turn(p, false);
    pthread_mutex_unlock(&p->feed->lock);
}

/* A sector that waits for the block's turn. */
static void keep(struct cache_port *p, enum cache_op op, uint64_t sector, uint32_t bytes)
{
    runs_add(&p->runs, op, sector, bytes);
    if (p->runs.n < p->feed->limit)
        return;
    pthread_mutex_lock(&p->feed->lock);
    ask_turn(p, true);
    pthread_mutex_unlock(&p->feed->lock);
    if (p->mine)
        replay(p->feed->l2, &p->runs);
    p->runs.n = 0;
}

/* To the L2; bytes NULL: all of each sector. */
static void send(struct cache_port *p, enum cache_op op, const uint64_t *sector,
                 const uint32_t *bytes, unsigned n)
{
    for (unsigned i = 0; i < n && !p->deaf; i++) {
        if (p->mine) { /* from here on, if it was waited for */
            cache_these(p->feed->l2, op, sector + i, bytes ? bytes + i : NULL, n - i);
            return;
        }
        keep(p, op, sector[i], bytes ? bytes[i] : WHOLE);
    }
}

unsigned cache_port_access(struct cache_port *p, unsigned rank, enum cache_op op, bool around,
                           uint64_t first, const struct pattern_global *g)
{
    uint64_t sector[32];
    struct cache *const l1 = p->l1 ? p->l1[rank] : NULL;
    if (l1 && op == CACHE_READ && !around) {
        /* What misses is fetched as a whole: later lanes find the rest of it. */
        const unsigned missing = cache_missing(l1, first, g, sector);
        send(p, op, sector, NULL, missing);
        return g->sectors - missing;
    }
    cache_numbers(first, g, sector);
    for (int i = 0; l1 && op != CACHE_READ && i < g->sectors; i++)
        cache_forget(l1, sector[i]);
    send(p, op, sector, g->bytes, g->sectors);
    return 0;
}

static void leave(struct cache_port *p)
{
    struct cache_feed *f = p->feed;
    struct left *l = xcalloc(1, sizeof *l);
    l->number = p->number;
    l->runs = p->runs;
    l->next = f->left;
    f->left = l;
    f->left_runs += l->runs.n;
    p->runs = (struct runs){0};
}

/* What the block whose turn it is left behind; NULL: nothing, its thread is still at it. */
static struct left *take(struct cache_feed *f)
{
    for (struct left **at = &f->left; *at; at = &(*at)->next) {
        if ((*at)->number == f->turn) {
            struct left *l = *at;
            *at = l->next;
            f->left_runs -= l->runs.n;
            return l;
        }
    }
    return NULL;
}

/* Hands the turn on. The lock is held, but not while runs are done. */
static void pass(struct cache_feed *f)
{
    for (;;) {
        f->turn++;
        struct left *l = take(f);
        pthread_cond_broadcast(&f->turned);
        if (!l)
            return;
        pthread_mutex_unlock(&f->lock);
        replay(f->l2, &l->runs);
        free(l->runs.at);
        free(l);
        pthread_mutex_lock(&f->lock);
    }
}

void cache_port_end(struct cache_port *p)
{
    struct cache_feed *f = p->feed;
    pthread_mutex_lock(&f->lock);
    for (unsigned i = 0; p->l1 && i < p->blocks; i++) {
        const struct cache_counts c = cache_counts(p->l1[i]);
        f->l1_asked += c.asked[CACHE_READ];
        f->l1_hits += c.hits[CACHE_READ];
    }
    const bool full = f->left_runs + p->runs.n > LEFT_PER_BLOCK * f->limit;
    if (!p->mine)
        ask_turn(p, full);
    if (p->deaf) {
        p->runs.n = 0;
    } else if (p->mine) {
        pthread_mutex_unlock(&f->lock);
        replay(f->l2, &p->runs);
        pthread_mutex_lock(&f->lock);
        pass(f);
    } else {
        leave(p);
    }
    pthread_mutex_unlock(&f->lock);
}
