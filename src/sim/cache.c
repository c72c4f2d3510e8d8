/* cache.c - a sectored cache with bytes that are known, and what an endless one would have asked for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { WAYS = 16, SECTORS = 4, LINE_BYTES = 128, SECTOR_BYTES = 32 };
enum { PAGE_SECTORS = 2048, PAGE_WORDS = PAGE_SECTORS / 64 };

#define NO_LINE  UINT64_MAX
#define ALL      UINT32_MAX
#define IN_ORDER UINT64_C(0xfedcba9876543210)

struct set {
    uint64_t line[WAYS];          /* line numbers */
    uint64_t order;               /* ways, four bits each, the last used in the lowest */
    uint32_t have[WAYS][SECTORS]; /* bytes of each sector that are known */
    uint8_t dirty[WAYS];          /* sectors, by bits */
    uint8_t settled[WAYS];        /* sectors of which an endless cache knows all, by bits */
};

/* What an endless cache would know of 64 KiB. */
struct page {
    uint64_t number;
    uint64_t asked[PAGE_WORDS]; /* sectors, by bits: asked for at all; known as a whole */
    uint64_t whole[PAGE_WORDS];
    uint32_t *part; /* bytes of sectors that are known in part; NULL: of none */
};

struct cache {
    struct set *set;
    size_t sets;
    struct cache_counts counts;
    bool plain;         /* nothing unique is counted */
    struct page **page; /* hash table, open addressing, a power of two */
    size_t page_cap, pages;
    struct page *last; /* page that was looked up last */
};

/* ---- The endless cache. ---- */

static size_t page_slot(const struct cache *c, uint64_t number)
{
    size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (c->page_cap - 1);
    while (c->page[i] && c->page[i]->number != number)
        i = (i + 1) & (c->page_cap - 1);
    return i;
}

static void grow_pages(struct cache *c)
{
    struct page **old = c->page;
    const size_t cap = c->page_cap;
    c->page_cap = cap ? 2 * cap : 64;
    c->page = xcalloc(c->page_cap, sizeof *c->page);
    for (size_t i = 0; i < cap; i++)
        if (old[i])
            c->page[page_slot(c, old[i]->number)] = old[i];
    free(old);
}

static struct page *page_of(struct cache *c, uint64_t sector)
{
    const uint64_t number = sector / PAGE_SECTORS;
    if (c->last && c->last->number == number)
        return c->last;
    if (2 * (c->pages + 1) > c->page_cap)
        grow_pages(c);
    const size_t i = page_slot(c, number);
    if (!c->page[i]) {
        c->page[i] = xcalloc(1, sizeof **c->page);
        c->page[i]->number = number;
        c->pages++;
    }
    return c->last = c->page[i];
}

static void free_pages(struct cache *c)
{
    for (size_t i = 0; i < c->page_cap; i++) {
        if (c->page[i])
            free(c->page[i]->part);
        free(c->page[i]);
    }
    free(c->page);
    c->page = NULL;
    c->page_cap = c->pages = 0;
    c->last = NULL;
}

/* Bytes are read or written of a sector that is not settled. Is it, from now on? */
static bool count_unique(struct cache *c, uint64_t sector, uint32_t bytes, bool reads)
{
    struct page *p = page_of(c, sector);
    const unsigned at = sector % PAGE_SECTORS;
    const uint64_t bit = UINT64_C(1) << at % 64;
    c->counts.unique += !(p->asked[at / 64] & bit);
    p->asked[at / 64] |= bit;
    if (p->whole[at / 64] & bit)
        return true;
    const uint32_t part = p->part ? p->part[at] : 0;
    const bool missing = reads && (part & bytes) != bytes;
    c->counts.unique_read += missing;
    if (missing || (part | bytes) == ALL) {
        p->whole[at / 64] |= bit;
        return true;
    }
    if (!p->part)
        p->part = xcalloc(PAGE_SECTORS, sizeof *p->part);
    p->part[at] |= bytes;
    return false;
}

/* ---- Sets. ---- */

/* As good as drawn by lot for lines at any distance: a multiplicative hash alone has distances that it
 * folds into half of the sets. */
static size_t set_of(const struct cache *c, uint64_t line)
{
    uint64_t x = line * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)((x >> 32) * c->sets >> 32);
}

static void use(struct set *s, unsigned way)
{
    if ((s->order & 15) == way)
        return;
    /* The nibble that is `way`: the lowest that is zero in x. */
    const uint64_t ones = UINT64_C(0x1111111111111111), x = s->order ^ ones * way;
    const unsigned bit = (unsigned)__builtin_ctzll((x - ones) & ~x & (ones << 3)) & ~3u;
    const uint64_t younger = (UINT64_C(1) << bit) - 1;
    const uint64_t moved = younger << 4 | 15;
    s->order = (s->order & ~moved) | (s->order & younger) << 4 | way;
}

static int find(const struct set *s, uint64_t line)
{
    const unsigned last = s->order & 15;
    if (s->line[last] == line)
        return (int)last;
    for (int w = 0; w < WAYS; w++)
        if (s->line[w] == line)
            return w;
    return -1;
}

/* The way for a line that is not there: the longest unused, written back. */
static unsigned evict(struct cache *c, struct set *s)
{
    const unsigned way = (unsigned)(s->order >> 60);
    const uint64_t dirty = SECTOR_BYTES * (uint64_t)__builtin_popcount(s->dirty[way]);
    c->counts.dram_written_bytes += dirty;
    c->counts.dirty_bytes -= dirty;
    s->dirty[way] = 0;
    s->settled[way] = c->plain ? 15 : 0;
    memset(s->have[way], 0, sizeof s->have[way]);
    return way;
}

/* One sector of a way whose line was there (`known`) or has just been put in. */
static bool touch(struct cache *c, struct set *s, unsigned way, bool known, enum cache_op op,
                  uint64_t sector, uint32_t bytes)
{
    const unsigned at = sector % SECTORS;
    uint32_t *have = &s->have[way][at];
    const bool there = (*have & bytes) == bytes;
    c->counts.asked[op]++;
    const bool hit = op == CACHE_WRITE ? known : there;
    c->counts.hits[op] += hit;
    if (!(s->settled[way] >> at & 1) && count_unique(c, sector, bytes, op != CACHE_WRITE))
        s->settled[way] |= (uint8_t)(1u << at);
    if (!there) {
        if (op != CACHE_WRITE) {
            c->counts.dram_read_bytes += SECTOR_BYTES;
            *have = ALL;
        }
        *have |= bytes;
    }
    if (op != CACHE_READ && !(s->dirty[way] >> at & 1)) {
        s->dirty[way] |= (uint8_t)(1u << at);
        c->counts.dirty_bytes += SECTOR_BYTES;
    }
    return hit;
}

/* The set and way of a line, put there if it is missing. */
static struct set *get(struct cache *c, uint64_t line, unsigned *way, bool *known)
{
    struct set *s = &c->set[set_of(c, line)];
    const int found = find(s, line);
    *known = found >= 0;
    *way = found >= 0 ? (unsigned)found : evict(c, s);
    s->line[*way] = line;
    use(s, *way);
    return s;
}

/* ---- The face. ---- */

bool cache_sector(struct cache *c, enum cache_op op, uint64_t sector, uint32_t bytes)
{
    unsigned way;
    bool known;
    struct set *s = get(c, sector / SECTORS, &way, &known);
    return touch(c, s, way, known, op, sector, bytes);
}

void cache_access(struct cache *c, enum cache_op op, uint64_t first, const struct pattern_global *p)
{
    uint64_t line = NO_LINE;
    struct set *s = NULL;
    unsigned way = 0;
    bool known = false;
    for (int i = 0; i < p->sectors; i++) {
        const uint64_t sector = first / SECTOR_BYTES + (uint64_t)p->sector[i];
        if (sector / SECTORS != line) {
            line = sector / SECTORS;
            s = get(c, line, &way, &known);
        }
        touch(c, s, way, known, op, sector, p->bytes[i]);
    }
}

void cache_forget(struct cache *c, uint64_t sector)
{
    struct set *s = &c->set[set_of(c, sector / SECTORS)];
    const int way = find(s, sector / SECTORS);
    if (way < 0)
        return;
    s->have[way][sector % SECTORS] = 0;
    if (s->dirty[way] >> sector % SECTORS & 1)
        c->counts.dirty_bytes -= SECTOR_BYTES;
    s->dirty[way] &= (uint8_t) ~(1u << sector % SECTORS);
}

void cache_clear(struct cache *c)
{
    free_pages(c);
    c->counts = (struct cache_counts){0};
    for (size_t i = 0; i < c->sets; i++) {
        memset(&c->set[i], 0, sizeof c->set[i]);
        memset(c->set[i].line, 0xff, sizeof c->set[i].line);
        c->set[i].order = IN_ORDER;
    }
}

struct cache *cache_new(size_t bytes)
{
    struct cache *c = xcalloc(1, sizeof *c);
    c->sets = bytes / (WAYS * LINE_BYTES);
    c->sets += !c->sets;
    c->set = xcalloc(c->sets, sizeof *c->set);
    cache_clear(c);
    return c;
}

struct cache *cache_new_plain(size_t bytes)
{
    struct cache *c = cache_new(bytes);
    c->plain = true;
    return c;
}

void cache_free(struct cache *c)
{
    if (!c)
        return;
    free_pages(c);
    free(c->set);
    free(c);
}

size_t cache_bytes(const struct cache *c)
{
    return c->sets * WAYS * LINE_BYTES;
}

size_t cache_sets(const struct cache *c)
{
    return c->sets;
}

size_t cache_set(const struct cache *c, uint64_t line)
{
    return set_of(c, line);
}

struct cache_counts cache_counts(const struct cache *c)
{
    return c->counts;
}
