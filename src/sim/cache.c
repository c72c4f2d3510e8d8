/* cache.c - a sectored cache with bytes that are known, and what an endless one would have asked for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/status.h"

enum { WAYS = 16, SECTORS = 4, LINE_BYTES = 128, SECTOR_BYTES = 32 };
enum { PAGE_SECTORS = 2048, PAGE_WORDS = PAGE_SECTORS / 64 };

#define NO_LINE  UINT64_MAX
#define ALL      UINT32_MAX
#define IN_ORDER UINT64_C(0xfedcba9876543210)

struct way {
    uint64_t line;          /* its number */
    uint32_t have[SECTORS]; /* bytes of each sector that are known */
    uint8_t dirty;          /* sectors, by bits */
    uint8_t settled;        /* sectors of which an endless cache knows all, by bits */
};

/* All zeros: empty. What a line needs lies in two places of it: an access is as slow as those are far away. */
struct set {
    uint64_t order; /* ways, four bits each, the last used in the lowest; exclusive-or IN_ORDER */
    uint64_t tag[WAYS / 8]; /* of each way a byte: what its line may be, 0: it has none */
    uint64_t spare;
    struct way way[WAYS];
};
_Static_assert(sizeof(struct way) == 32 && sizeof(struct set) % 32 == 0, "parts of a cache line");

/* What an endless cache would know of 64 KiB. */
struct page {
    uint64_t number;
    uint64_t asked[PAGE_WORDS]; /* sectors, by bits: asked for at all; known as a whole */
    uint64_t whole[PAGE_WORDS];
    uint32_t *part; /* bytes of sectors that are known in part; NULL: of none */
};

/* The first FEW sets, then as many as there are before: what a cache costs, to make, to use and to clear, goes by what is asked
 * of it and not by its size. */
enum { FEW = 64, PIECES = 26 };

/* Sets lie in the order in which they were asked for first. */
struct cache {
    struct set *piece[PIECES]; /* piece k > 0 has FEW << (k - 1) of them; NULL: not needed so far */
    uint32_t *place; /* [sets]: of each, where it lies, counted from 1; 0: nobody asked for it */
    uint32_t used;   /* sets that lie there */
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
static uint64_t hash_of(uint64_t line)
{
    const uint64_t x = line * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

static size_t set_at(const struct cache *c, uint64_t hash)
{
    return (size_t)((hash >> 32) * c->sets >> 32);
}

static size_t set_of(const struct cache *c, uint64_t line)
{
    return set_at(c, hash_of(line));
}

static unsigned piece_of(uint32_t place)
{
    return place < FEW ? 0 : 26 - (unsigned)__builtin_clz(place);
}

/* The set that lies there, counted from 0. */
static struct set *set_in(const struct cache *c, uint32_t place)
{
    const unsigned k = piece_of(place);
    return &c->piece[k][place - (k ? FEW << (k - 1) : 0)];
}

/* Sets are asked for in no order: many lie in large pages, since a look-up of the page would take longer than that of the
 * line. */
static struct set *make_piece(uint32_t sets)
{
    enum { ALIGNED = 64, LARGE = 2 << 20 };
    const size_t bytes = sets * sizeof(struct set), aligned = bytes >= LARGE ? LARGE : ALIGNED;
    void *p = aligned_alloc(aligned, (bytes + aligned - 1) / aligned * aligned);
    if (!p)
        fatal("out of memory: %zu bytes of a simulated cache", bytes);
    if (aligned == LARGE)
        (void)madvise(p, bytes / LARGE * LARGE, MADV_HUGEPAGE); /* a wish */
    return p;
}

/* The set of that number, empty where nobody asked for it. */
static struct set *open_set(struct cache *c, size_t number)
{
    uint32_t *place = &c->place[number];
    if (*place)
        return set_in(c, *place - 1);
    const unsigned k = piece_of(c->used);
    if (!c->piece[k])
        c->piece[k] = make_piece(k ? FEW << (k - 1) : FEW);
    struct set *s = set_in(c, c->used);
    *place = ++c->used;
    memset(s, 0, sizeof *s);
    return s;
}

/* Never 0. */
static uint8_t tag_of(uint64_t hash)
{
    return (uint8_t)(hash >> 8 | 0x80);
}

static void use(struct set *s, unsigned way)
{
    const uint64_t order = s->order ^ IN_ORDER;
    if ((order & 15) == way)
        return;
    /* The nibble that is `way`: the lowest that is zero in x. */
    const uint64_t ones = UINT64_C(0x1111111111111111), x = order ^ ones * way;
    const unsigned bit = (unsigned)__builtin_ctzll((x - ones) & ~x & (ones << 3)) & ~3u;
    const uint64_t younger = (UINT64_C(1) << bit) - 1;
    const uint64_t moved = younger << 4 | 15;
    s->order = ((order & ~moved) | (order & younger) << 4 | way) ^ IN_ORDER;
}

/* Bits of a byte that is zero in x; others above it may seem to be. */
static uint64_t zero_bytes(uint64_t x)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return (x - ones) & ~x & ones << 7;
}

static int find(const struct set *s, uint64_t line, uint8_t tag)
{
    const unsigned last = (s->order ^ IN_ORDER) & 15;
    if (s->way[last].line == line && (uint8_t)(s->tag[last / 8] >> last % 8 * 8) == tag)
        return (int)last;
    for (int half = 0; half < WAYS / 8; half++) {
        uint64_t maybe = zero_bytes(s->tag[half] ^ UINT64_C(0x0101010101010101) * tag);
        for (; maybe; maybe &= maybe - 1) {
            const int w = 8 * half + __builtin_ctzll(maybe) / 8;
            if (s->way[w].line == line && (uint8_t)(s->tag[half] >> w % 8 * 8) == tag)
                return w;
        }
    }
    return -1;
}

/* The way for a line that is not there: the longest unused, written back. */
static unsigned evict(struct cache *c, struct set *s, uint64_t line, uint8_t tag)
{
    const unsigned way = (unsigned)((s->order ^ IN_ORDER) >> 60);
    const uint64_t dirty = SECTOR_BYTES * (uint64_t)__builtin_popcount(s->way[way].dirty);
    c->counts.dram_written_bytes += dirty;
    c->counts.dirty_bytes -= dirty;
    s->way[way] = (struct way){.line = line, .settled = c->plain ? 15 : 0};
    s->tag[way / 8] &= ~(UINT64_C(0xff) << way % 8 * 8);
    s->tag[way / 8] |= (uint64_t)tag << way % 8 * 8;
    return way;
}

/* One sector of a way whose line was there (`known`) or has just been put in. */
static bool touch(struct cache *c, struct way *w, bool known, enum cache_op op, uint64_t sector,
                  uint32_t bytes)
{
    const unsigned at = sector % SECTORS;
    uint32_t *have = &w->have[at];
    const bool there = (*have & bytes) == bytes;
    c->counts.asked[op]++;
    const bool hit = op == CACHE_WRITE ? known : there;
    c->counts.hits[op] += hit;
    if (!(w->settled >> at & 1) && count_unique(c, sector, bytes, op != CACHE_WRITE))
        w->settled |= (uint8_t)(1u << at);
    if (!there) {
        if (op != CACHE_WRITE) {
            c->counts.dram_read_bytes += SECTOR_BYTES;
            *have = ALL;
        }
        *have |= bytes;
    }
    if (op != CACHE_READ && !(w->dirty >> at & 1)) {
        w->dirty |= (uint8_t)(1u << at);
        c->counts.dirty_bytes += SECTOR_BYTES;
    }
    return hit;
}

/* The way of a line, put there if it is missing. */
static struct way *get(struct cache *c, uint64_t line, bool *known)
{
    const uint64_t hash = hash_of(line);
    const uint8_t tag = tag_of(hash);
    struct set *s = open_set(c, set_at(c, hash));
    const int found = find(s, line, tag);
    *known = found >= 0;
    const unsigned way = found >= 0 ? (unsigned)found : evict(c, s, line, tag);
    use(s, way);
    return &s->way[way];
}

/* ---- The face. ---- */

bool cache_sector(struct cache *c, enum cache_op op, uint64_t sector, uint32_t bytes)
{
    bool known;
    struct way *w = get(c, sector / SECTORS, &known);
    return touch(c, w, known, op, sector, bytes);
}

void cache_sectors(struct cache *c, enum cache_op op, uint64_t sector, uint32_t bytes, uint32_t n)
{
    struct way *w = NULL;
    for (uint32_t i = 0; i < n; i++) {
        bool known = true;
        if (!w || (sector + i) % SECTORS == 0)
            w = get(c, (sector + i) / SECTORS, &known);
        touch(c, w, known, op, sector + i, bytes);
    }
}

/* Asks for the set of a line, which lies anywhere, before it is looked at. */
static void foresee(const struct cache *c, uint64_t line)
{
    const uint32_t place = c->place[set_of(c, line)];
    if (place)
        __builtin_prefetch(set_in(c, place - 1));
}

void cache_access(struct cache *c, enum cache_op op, uint64_t first, const struct pattern_global *p)
{
    uint64_t sector[32];
    cache_numbers(first, p, sector);
    cache_these(c, op, sector, p->bytes, p->sectors);
}

void cache_numbers(uint64_t first, const struct pattern_global *p, uint64_t sector[32])
{
    for (int i = 0; i < p->sectors; i++)
        sector[i] = first / SECTOR_BYTES + (uint64_t)p->sector[i];
}

void cache_these(struct cache *c, enum cache_op op, const uint64_t *sector, const uint32_t *bytes,
                 unsigned n)
{
    uint64_t line = NO_LINE;
    struct way *w = NULL;
    for (unsigned i = 1; i < n && n > SECTORS; i++)
        if (sector[i] / SECTORS != sector[i - 1] / SECTORS)
            foresee(c, sector[i] / SECTORS);
    for (unsigned i = 0; i < n; i++) {
        bool known = true;
        if (sector[i] / SECTORS != line) {
            line = sector[i] / SECTORS;
            w = get(c, line, &known);
        }
        touch(c, w, known, op, sector[i], bytes ? bytes[i] : ALL);
    }
}

unsigned cache_missing(struct cache *c, uint64_t first, const struct pattern_global *p,
                       uint64_t missing[32])
{
    uint64_t line = NO_LINE;
    struct way *w = NULL;
    unsigned n = 0;
    for (int i = 0; i < p->sectors; i++) {
        const uint64_t sector = first / SECTOR_BYTES + (uint64_t)p->sector[i];
        bool known = true;
        if (sector / SECTORS != line) {
            line = sector / SECTORS;
            w = get(c, line, &known);
        }
        if (!touch(c, w, known, CACHE_READ, sector, p->bytes[i]))
            missing[n++] = sector;
    }
    return n;
}

void cache_forget(struct cache *c, uint64_t sector)
{
    const uint64_t hash = hash_of(sector / SECTORS);
    const uint32_t place = c->place[set_at(c, hash)];
    if (!place)
        return;
    struct set *s = set_in(c, place - 1);
    const int found = find(s, sector / SECTORS, tag_of(hash));
    if (found < 0)
        return;
    struct way *w = &s->way[found];
    w->have[sector % SECTORS] = 0;
    if (w->dirty >> sector % SECTORS & 1)
        c->counts.dirty_bytes -= SECTOR_BYTES;
    w->dirty &= (uint8_t) ~(1u << sector % SECTORS);
}

void cache_clear(struct cache *c)
{
    free_pages(c);
    c->counts = (struct cache_counts){0};
    memset(c->place, 0, c->sets * sizeof *c->place);
    c->used = 0;
}

struct cache *cache_new(size_t bytes)
{
    struct cache *c = xcalloc(1, sizeof *c);
    c->sets = bytes / (WAYS * LINE_BYTES);
    c->sets += !c->sets;
    c->place = xcalloc(c->sets, sizeof *c->place);
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
    for (int k = 0; k < PIECES; k++)
        free(c->piece[k]);
    free(c->place);
    free(c);
}

size_t cache_bytes(const struct cache *c)
{
    return c->sets * WAYS * LINE_BYTES;
}

size_t cache_set(const struct cache *c, uint64_t line)
{
    return set_of(c, line);
}

struct cache_counts cache_counts(const struct cache *c)
{
    return c->counts;
}
