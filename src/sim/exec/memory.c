/* memory.c - see memory.h and sim.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/memory.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/code.h"

#define FIRST_ADDRESS 0x200000000ull /* beyond 32 bits: an address that was cut off is none */
#define GAP           (1ull << 16)
#define ALIGNMENT     512

struct sim_memory *sim_memory_new(uint64_t limit)
{
    struct sim_memory *m = xcalloc(1, sizeof *m);
    m->limit = limit;
    m->next = FIRST_ADDRESS;
    return m;
}

void sim_memory_free(struct sim_memory *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++) {
        if (m->all[i].owned)
            free(m->all[i].host);
        free(m->all[i].written);
        free(m->all[i].name);
    }
    for (size_t i = 0; i < m->instances; i++)
        free(m->instance[i].name);
    free(m->instance);
    free(m->all);
    free(m);
}

static enum status add(struct sim_memory *m, const char *name, void *host, uint64_t bytes,
                       uint64_t *addr, struct err *err)
{
    if (bytes > m->limit - m->used)
        return err_set(err, ST_FAIL,
                       "%s needs %" PRIu64 " bytes of simulated memory, of %" PRIu64 " are %" PRIu64
                       " left",
                       name, bytes, m->limit, m->limit - m->used);
    xgrow((void **)&m->all, &m->cap, m->count + 1, sizeof *m->all);
    struct allocation *a = &m->all[m->count];
    *a = (struct allocation){.base = m->next, .bytes = bytes, .host = host, .name = xstrdup(name)};
    const uint64_t words = bytes / 64 + 2;
    a->written = calloc(words, sizeof *a->written);
    if (!host) {
        a->owned = true;
        a->host = malloc(bytes ? bytes : 1);
        if (a->host)
            memset(a->host, 0xff, bytes);
    }
    if (!a->host || !a->written) {
        if (a->owned)
            free(a->host);
        free(a->written);
        free(a->name);
        return err_set(err, ST_FAIL, "%s needs %" PRIu64 " bytes, more than there are", name,
                       bytes);
    }
    m->count++;
    m->used += bytes;
    *addr = a->base;
    m->next = (a->base + bytes + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return ST_OK;
}

enum status sim_memory_add(struct sim_memory *m, const char *name, uint64_t bytes, uint64_t *addr,
                           struct err *err)
{
    return add(m, name, NULL, bytes, addr, err);
}

enum status sim_memory_map(struct sim_memory *m, const char *name, void *host, uint64_t bytes,
                           bool written, uint64_t *addr, struct err *err)
{
    const enum status st = add(m, name, host, bytes, addr, err);
    if (st == ST_OK)
        m->all[m->count - 1].all_written = written;
    return st;
}

/* The last allocation that begins at or below. */
static struct allocation *below(const struct sim_memory *m, uint64_t addr)
{
    size_t lo = 0, hi = m->count;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (m->all[mid].base <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? &m->all[lo - 1] : NULL;
}

static struct allocation *find(const struct sim_memory *m, uint64_t addr, uint64_t bytes)
{
    struct allocation *a = below(m, addr);
    if (!a || addr - a->base > a->bytes || bytes > a->bytes - (addr - a->base))
        return NULL;
    return a;
}

const struct allocation *memory_find(const struct sim_memory *m, uint64_t addr)
{
    return find(m, addr, 1);
}

void sim_memory_guard(struct sim_memory *m, uint64_t addr)
{
    struct allocation *a = find(m, addr, 1);
    if (a)
        a->guard = GUARD_INPUT;
}

void written_mark(uint64_t *bits, uint64_t at, uint64_t n)
{
    while (n) {
        const unsigned from = at & 63;
        const uint64_t take = n < 64 - from ? n : 64 - from;
        const uint64_t ones = take == 64 ? UINT64_MAX : ((uint64_t)1 << take) - 1;
        bits[at >> 6] |= ones << from;
        at += take;
        n -= take;
    }
}

void written_mark_shared(uint64_t *bits, uint64_t at, uint64_t n)
{
    while (n) {
        const unsigned from = at & 63;
        const uint64_t take = n < 64 - from ? n : 64 - from;
        const uint64_t ones = (take == 64 ? UINT64_MAX : ((uint64_t)1 << take) - 1) << from;
        if ((__atomic_load_n(&bits[at >> 6], __ATOMIC_RELAXED) & ones) != ones)
            __atomic_fetch_or(&bits[at >> 6], ones, __ATOMIC_RELAXED);
        at += take;
        n -= take;
    }
}

bool sim_memory_write(struct sim_memory *m, uint64_t addr, const void *data, uint64_t bytes)
{
    struct allocation *a = find(m, addr, bytes);
    if (!a)
        return false;
    memcpy(a->host + (addr - a->base), data, bytes);
    if (bytes == a->bytes)
        a->all_written = true;
    written_mark(a->written, addr - a->base, bytes);
    return true;
}

bool sim_memory_read(const struct sim_memory *m, uint64_t addr, void *data, uint64_t bytes)
{
    const struct allocation *a = find(m, addr, bytes);
    if (a)
        memcpy(data, a->host + (addr - a->base), bytes);
    return a;
}

bool sim_memory_forget(struct sim_memory *m, uint64_t addr, uint64_t bytes)
{
    struct allocation *a = find(m, addr, bytes);
    if (!a)
        return false;
    if (a->all_written)
        written_mark(a->written, 0, a->bytes);
    a->all_written = false;
    const uint64_t at = addr - a->base;
    memset(a->host + at, 0xff, bytes);
    for (uint64_t i = at; i < at + bytes; i++)
        a->written[i >> 6] &= ~((uint64_t)1 << (i & 63));
    return true;
}

uint64_t sim_memory_unwritten(const struct sim_memory *m, uint64_t addr, uint64_t bytes)
{
    const struct allocation *a = find(m, addr, bytes);
    if (!a)
        return UINT64_MAX;
    uint64_t n = 0;
    for (uint64_t i = addr - a->base; !a->all_written && i < addr - a->base + bytes; i++)
        n += !(a->written[i >> 6] >> (i & 63) & 1);
    return n;
}

const char *sim_memory_name(const struct sim_memory *m, uint64_t addr, int64_t *offset,
                            uint64_t *bytes)
{
    const struct allocation *a = below(m, addr);
    const struct allocation *next = !m->count                   ? NULL
                                    : !a                        ? m->all
                                    : a + 1 < m->all + m->count ? a + 1
                                                                : NULL;
    if (!a || addr - a->base >= a->bytes + GAP / 2)
        a = next && next->base - addr <= GAP / 2 ? next : NULL;
    if (!a)
        return NULL;
    *offset = (int64_t)(addr - a->base);
    *bytes = a->bytes;
    return a->name;
}

bool sim_memory_find(const struct sim_memory *m, const char *name, uint64_t *addr, uint64_t *bytes)
{
    for (size_t i = 0; i < m->count; i++)
        if (!strcmp(m->all[i].name, name)) {
            *addr = m->all[i].base;
            *bytes = m->all[i].bytes;
            return true;
        }
    return false;
}
