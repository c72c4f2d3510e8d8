/* pattern.c - wavefronts and sectors of one access, and what an instruction remembers of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/pattern.h"

#include <stddef.h>
#include <string.h>

enum { LANES = 32, BANKS = 32, SECTOR_BYTES = 32 };

/* Do all active lanes want what their neighbour (lane ^ `step`) wants? A neighbour that is not active
 * wants nothing. */
static bool pairs_agree(const uint32_t addr[LANES], uint32_t mask, int step)
{
    for (int i = 0; i < LANES; i++) {
        const int j = i ^ step;
        if ((mask >> i & 1) && (mask >> j & 1) && addr[i] != addr[j])
            return false;
    }
    return true;
}

static bool paired(const uint32_t addr[LANES], uint32_t mask)
{
    return pairs_agree(addr, mask, 1) || pairs_agree(addr, mask, 2);
}

/* The distinct words of each bank that some lanes want. */
struct banks {
    int count[BANKS];
    int lanes[BANKS]; /* that want something of it, however many want the same */
    uint32_t word[BANKS][LANES];
};

static void bank_add(struct banks *b, uint32_t word)
{
    const uint32_t bank = word % BANKS;
    b->lanes[bank]++;
    for (int i = 0; i < b->count[bank]; i++)
        if (b->word[bank][i] == word)
            return;
    b->word[bank][b->count[bank]++] = word;
}

/* Wavefronts of the lanes of `mask`, which are served together. */
static unsigned step_wavefronts(const uint32_t addr[LANES], uint32_t mask, unsigned bytes,
                                enum pattern_kind kind)
{
    struct banks b;
    for (int i = 0; i < BANKS; i++)
        b.count[i] = b.lanes[i] = 0;
    const unsigned words = bytes < 4 ? 1 : bytes / 4;
    for (int i = 0; i < LANES; i++)
        for (unsigned w = 0; (mask >> i & 1) && w < words; w++)
            bank_add(&b, addr[i] / 4 + w);
    int most = 0;
    for (int i = 0; i < BANKS; i++) {
        const int n = kind == PATTERN_ATOMIC ? b.lanes[i] : b.count[i];
        most = n > most ? n : most;
    }
    return (unsigned)most;
}

/* Lanes that are served together, beginning with lane `first`. */
static int step_lanes(const uint32_t addr[LANES], uint32_t mask, unsigned bytes,
                      enum pattern_kind kind, int first)
{
    if (kind == PATTERN_ROWS)
        return 8;
    if (bytes <= 4)
        return LANES;
    const int lanes = bytes == 8 ? 16 : 8;
    if (kind != PATTERN_LOAD)
        return lanes;
    /* Half the steps: of 8 bytes one for the warp, of 16 bytes one for a half-warp. */
    const uint32_t together = bytes == 8 ? mask : mask & (UINT32_C(0xffff) << first);
    return first % (2 * lanes) == 0 && paired(addr, together) ? 2 * lanes : lanes;
}

static unsigned most_on_one(const uint64_t addr[LANES], uint32_t mask)
{
    unsigned most = 0;
    for (int i = 0; i < LANES; i++) {
        unsigned n = 0;
        for (int j = 0; j < LANES; j++)
            n += (mask >> i & 1) && (mask >> j & 1) && addr[i] == addr[j];
        most = n > most ? n : most;
    }
    return most;
}

static unsigned most_on_one_shared(const uint32_t addr[LANES], uint32_t mask)
{
    uint64_t wide[LANES];
    for (int i = 0; i < LANES; i++)
        wide[i] = addr[i];
    return most_on_one(wide, mask);
}

struct pattern_shared pattern_shared_cost(const uint32_t addr[32], uint32_t mask, unsigned bytes,
                                          enum pattern_kind kind)
{
    unsigned wavefronts = 0, steps = 0, apart = 0;
    bool turns = false;
    for (int first = 0; first < LANES;) {
        const int lanes = step_lanes(addr, mask, bytes, kind, first);
        const uint32_t group = lanes == LANES ? UINT32_MAX : ((UINT32_C(1) << lanes) - 1) << first;
        const unsigned own = step_wavefronts(addr, mask & group, bytes, kind);
        const bool joined = bytes > 4 && lanes > (bytes == 8 ? 16 : 8);
        const uint32_t half = group & (group >> lanes / 2); /* the lower one */
        wavefronts += own;
        steps += (mask & group) != 0;
        apart +=
            joined ? ((mask & half) != 0) + ((mask & group & ~half) != 0) : (mask & group) != 0;
        turns |= joined && own > 1;
        first += lanes;
    }
    if (turns) /* where one of them takes turns, a GPU's ideal has none joined */
        steps = apart < wavefronts ? apart : wavefronts;
    /* Stores of few lanes could all be one: a GPU's ideal counts their bytes. */
    const unsigned full = ((unsigned)__builtin_popcount(mask) * bytes + 127) / 128;
    if (kind == PATTERN_STORE && full < steps)
        steps = full;
    return (struct pattern_shared){
        .wavefronts = (uint16_t)wavefronts,
        .ideal = (uint16_t)steps,
        .same = (uint16_t)most_on_one_shared(addr, mask),
    };
}

/* Of the lanes of `mask`, which are served together: their words' places in the queues of the banks, from `base`. Returns
 * how many wavefronts that are. */
static unsigned step_turns(const uint32_t addr[LANES], uint32_t mask, unsigned bytes,
                           enum pattern_kind kind, unsigned base, uint16_t turn[LANES][4])
{
    struct banks b;
    int most = 0;
    for (int i = 0; i < BANKS; i++)
        b.count[i] = b.lanes[i] = 0;
    const unsigned words = bytes < 4 ? 1 : bytes / 4;
    for (int i = 0; i < LANES; i++)
        for (unsigned w = 0; (mask >> i & 1) && w < words; w++) {
            const uint32_t word = addr[i] / 4 + w, bank = word % BANKS;
            bank_add(&b, word);
            int at = 0;
            while (b.word[bank][at] != word)
                at++;
            if (kind == PATTERN_ATOMIC)
                at = b.lanes[bank] - 1;
            turn[i][w] = (uint16_t)(base + (unsigned)at);
            most = at >= most ? at + 1 : most;
        }
    return (unsigned)most;
}

void pattern_shared_turns(const uint32_t addr[32], uint32_t mask, unsigned bytes,
                          enum pattern_kind kind, uint16_t turn[32][4])
{
    unsigned base = 0;
    for (int first = 0; first < LANES;) {
        const int lanes = step_lanes(addr, mask, bytes, kind, first);
        const uint32_t group = lanes == LANES ? UINT32_MAX : ((UINT32_C(1) << lanes) - 1) << first;
        base += step_turns(addr, mask & group, bytes, kind, base, turn);
        first += lanes;
    }
}

void pattern_global_cost(const uint64_t addr[32], uint32_t mask, unsigned bytes,
                         struct pattern_global *out)
{
    out->sectors = out->ideal = out->same = 0;
    const uint64_t first = mask ? addr[__builtin_ctz(mask)] / SECTOR_BYTES : 0;
    unsigned total = 0;
    for (int i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        const int64_t sector = (int64_t)(addr[i] / SECTOR_BYTES - first);
        int k = 0;
        while (k < out->sectors && out->sector[k] != sector)
            k++;
        if (k == out->sectors) {
            out->sector[out->sectors++] = sector;
            out->bytes[k] = 0;
        }
        out->bytes[k] |= ((UINT32_C(1) << bytes) - 1) << addr[i] % SECTOR_BYTES;
    }
    for (int k = 0; k < out->sectors; k++)
        total += (unsigned)__builtin_popcount(out->bytes[k]);
    out->ideal = (uint16_t)((total + SECTOR_BYTES - 1) / SECTOR_BYTES);
    out->same = (uint16_t)most_on_one(addr, mask);
}

static void shape_of(const uint64_t offset[LANES], uint32_t mask, unsigned bytes,
                     struct pattern_shape *s)
{
    *s = (struct pattern_shape){.row = mask == UINT32_MAX, .distinct = 1};
    for (int i = 0; i < LANES; i++) {
        const int64_t d = (int64_t)offset[i];
        s->least = d < s->least ? d : s->least;
        s->most = d > s->most ? d : s->most;
        s->bits |= offset[i];
        s->row &= offset[i] == (uint64_t)i * bytes;
        unsigned k = 0; /* the first is that of the first active lane: 0 */
        while (k < s->distinct && s->apart[k] != d)
            k++;
        s->from[i] = k;
        if (k == s->distinct)
            s->apart[s->distinct++] = d;
    }
}

/* Distinct addresses' bytes, put together where one begins at the end of the one before. */
static void find_runs(struct pattern_shared_way *w, unsigned bytes)
{
    w->runs = 0;
    for (int k = 0; k < w->shape.distinct; k++) {
        const int32_t at = (int32_t)w->shape.apart[k];
        struct pattern_run *last = w->runs ? &w->run[w->runs - 1] : NULL;
        if (last && last->at + (int64_t)last->bytes == at)
            last->bytes += bytes;
        else
            w->run[w->runs++] = (struct pattern_run){.at = at, .bytes = bytes};
    }
}

/* The way that a new pattern goes to: an empty one, else the one that was filled first. */
static uint32_t next_way(uint32_t *used, uint32_t *next)
{
    const uint32_t way = *next;
    *next = (way + 1) % PATTERN_WAYS;
    if (*used < PATTERN_WAYS)
        ++*used;
    return way;
}

const struct pattern_shared *pattern_shared_learn(struct pattern_shared_memo *memo,
                                                  const uint32_t addr[32], uint32_t mask,
                                                  unsigned bytes, enum pattern_kind kind,
                                                  struct pattern_extent machine)
{
    struct pattern_shared_way *w = &memo->way[next_way(&memo->used, &memo->next)];
    const uint32_t first = mask ? addr[__builtin_ctz(mask)] : 0;
    for (int i = 0; i < LANES; i++)
        w->offset[i] = mask >> i & 1 ? addr[i] - first : 0;
    uint64_t wide[LANES];
    for (int i = 0; i < LANES; i++)
        wide[i] = (uint64_t)(int32_t)w->offset[i];
    w->mask = mask;
    w->low = first & 3;
    uint32_t moved[LANES];
    for (int i = 0; i < LANES; i++)
        moved[i] = addr[i] + (uint32_t)machine.from;
    w->cost = pattern_shared_cost(moved, machine.bytes ? mask : 0, machine.bytes, kind);
    shape_of(wide, mask, bytes, &w->shape);
    find_runs(w, bytes);
    return &w->cost;
}

const struct pattern_global *pattern_global_learn(struct pattern_global_memo *memo,
                                                  const uint64_t addr[32], uint32_t mask,
                                                  unsigned bytes, struct pattern_extent machine)
{
    struct pattern_global_way *w = &memo->way[next_way(&memo->used, &memo->next)];
    const uint64_t first = mask ? addr[__builtin_ctz(mask)] : 0;
    for (int i = 0; i < LANES; i++)
        w->offset[i] = mask >> i & 1 ? addr[i] - first : 0;
    w->mask = mask;
    w->low = first & 31;
    uint64_t moved[LANES];
    for (int i = 0; i < LANES; i++)
        moved[i] = addr[i] + (uint64_t)(int64_t)machine.from;
    pattern_global_cost(moved, machine.bytes ? mask : 0, machine.bytes, &w->cost);
    const uint64_t apart =
        (first + (uint64_t)(int64_t)machine.from) / SECTOR_BYTES - first / SECTOR_BYTES;
    for (int i = 0; i < w->cost.sectors; i++) /* from where the lane's own bytes begin */
        w->cost.sector[i] += (int64_t)apart;
    shape_of(w->offset, mask, bytes, &w->shape);
    return &w->cost;
}

/* ---- copies ---- */

enum { EIGHTH = 8 }; /* lanes that are stored together: 128 bytes */

/* How many different ones there are. */
static uint32_t different(const uint64_t *x, int n)
{
    uint32_t found = 0;
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (x[k] != x[i])
            k++;
        found += k == i;
    }
    return found;
}

struct eight {
    uint64_t sector[EIGHTH], piece[EIGHTH], pair[EIGHTH], store[EIGHTH];
    int n;
};

/* Is the other half of lane i's sector copied into other 32 bytes? */
static bool is_split(const struct eight *e, int i)
{
    for (int k = 0; k < e->n; k++)
        if (e->sector[k] == e->sector[i] && e->piece[k] != e->piece[i])
            return true;
    return false;
}

static struct eight eight_of(const uint32_t to[32], const uint64_t from[32], uint32_t lanes,
                             int first)
{
    struct eight e = {.n = 0};
    uint64_t half[EIGHTH] = {0}, line[EIGHTH] = {0};
    for (int i = first; i < first + EIGHTH; i++) {
        if (!(lanes >> i & 1))
            continue;
        e.sector[e.n] = from[i] / 32;
        e.piece[e.n] = to[i] / 32;
        e.pair[e.n] = from[i] / 32 << 32 ^ to[i] / 32;
        half[e.n] = from[i] / 16 % 2;
        line[e.n++] = from[i] / 128 << 32 ^ to[i] / 128;
    }
    for (int i = 0; i < e.n; i++)
        e.store[i] = line[i] * 3 + (is_split(&e, i) ? 1 + half[i] : 0);
    return e;
}

struct pattern_copy pattern_copy(const uint32_t to[32], const uint64_t from[32], uint32_t lanes)
{
    struct pattern_copy c = {.wavefronts = 0};
    for (int first = 0; first < 32; first += EIGHTH) {
        const struct eight e = eight_of(to, from, lanes, first);
        const uint32_t sectors = different(e.sector, e.n), pieces = different(e.piece, e.n);
        c.wavefronts += different(e.store, e.n);
        c.sectors += pieces > sectors ? pieces : sectors;
        c.again += different(e.pair, e.n) - sectors;
    }
    return c;
}

static bool copy_hit(const struct pattern_copy_way *w, const struct pattern_copy_way *now)
{
    return w->lanes == now->lanes && w->to_low == now->to_low && w->from_low == now->from_low &&
           !memcmp(w->to, now->to, sizeof w->to) && !memcmp(w->from, now->from, sizeof w->from);
}

struct pattern_copy pattern_copy_again(struct pattern_copy_memo *memo, const uint32_t to[32],
                                       const uint64_t from[32], uint32_t lanes)
{
    if (!lanes)
        return (struct pattern_copy){.wavefronts = 0};
    const int first = __builtin_ctz(lanes);
    struct pattern_copy_way now = {
        .lanes = lanes, .to_low = to[first] % 128, .from_low = (uint32_t)(from[first] % 128)};
    for (int i = 0; i < LANES; i++) {
        const uint64_t active = -(uint64_t)(lanes >> i & 1);
        now.to[i] = (to[i] - to[first]) & (uint32_t)active;
        now.from[i] = (from[i] - from[first]) & active;
    }
    for (uint32_t i = 0; i < memo->used; i++)
        if (copy_hit(&memo->way[i], &now))
            return memo->way[i].cost;
    now.cost = pattern_copy(to, from, lanes);
    memo->way[next_way(&memo->used, &memo->next)] = now;
    return now.cost;
}
