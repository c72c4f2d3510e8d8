/* loads.c - see loads.h.
 *
 * A table with open addresses, at most half full. When it would grow beyond LOADS_MOST it begins anew: more than that is
 * asked about by nobody who waits for it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/loads.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum { LOADS_LEAST = 1024, LOADS_MOST = 8192 };

struct entry {
    struct loads_key key; /* both halves 0: nothing is here */
    bool can;
    struct nearby_load load;
};

struct loads {
    struct entry *v;
    size_t n, cap; /* cap: a power of two */
};

struct loads *loads_new(void)
{
    return xcalloc(1, sizeof(struct loads));
}

void loads_free(struct loads *l)
{
    if (l)
        free(l->v);
    free(l);
}

static uint64_t hash_of(uint64_t h, const struct kernel_desc *d, const char *own,
                        const struct shape *at, const struct device *gpu)
{
    const int64_t words[] = {(int64_t)desc_hash(d),
                             at->B,
                             at->H,
                             at->Hkv,
                             at->Sq,
                             at->Sk,
                             at->D,
                             at->dtype,
                             at->causal,
                             at->layout,
                             at->page,
                             at->pages,
                             at->hkv_given,
                             own != NULL};
    h = hash_bytes(h, words, sizeof words);
    h = hash_bytes(h, gpu->name, strlen(gpu->name));
    return own ? hash_bytes(h, own, strlen(own)) : h;
}

struct loads_key loads_key(const struct kernel_desc *d, const char *own, const struct shape *at,
                           const struct device *gpu)
{
    return (struct loads_key){{hash_of(HASH_START, d, own, at, gpu) | 1,
                               hash_mix(hash_of(hash_mix(HASH_START), d, own, at, gpu))}};
}

/* Its place, or the free one where it would be. */
static size_t place_of(const struct loads *l, const struct loads_key *key)
{
    size_t i = (size_t)key->half[1] & (l->cap - 1);
    while (l->v[i].key.half[0] && memcmp(&l->v[i].key, key, sizeof *key) != 0)
        i = (i + 1) & (l->cap - 1);
    return i;
}

bool loads_find(const struct loads *l, const struct loads_key *key, bool *can,
                struct nearby_load *out)
{
    if (!l->cap)
        return false;
    const struct entry *e = &l->v[place_of(l, key)];
    if (!e->key.half[0])
        return false;
    *can = e->can;
    if (e->can)
        *out = e->load;
    return true;
}

static void grow(struct loads *l)
{
    struct loads old = *l;
    const bool anew = l->cap >= LOADS_MOST;
    l->cap = anew ? LOADS_LEAST : l->cap ? 2 * l->cap : LOADS_LEAST;
    l->v = xcalloc(l->cap, sizeof *l->v);
    l->n = anew ? 0 : old.n;
    for (size_t i = 0; !anew && i < old.cap; i++)
        if (old.v[i].key.half[0])
            l->v[place_of(l, &old.v[i].key)] = old.v[i];
    free(old.v);
}

void loads_keep(struct loads *l, const struct loads_key *key, const struct nearby_load *load)
{
    if (2 * l->n >= l->cap)
        grow(l);
    struct entry *e = &l->v[place_of(l, key)];
    l->n += !e->key.half[0];
    *e = (struct entry){.key = *key, .can = load != NULL};
    if (load)
        e->load = *load;
}
