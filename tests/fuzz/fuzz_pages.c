/* fuzz_pages.c - K and V in pages: "page=16 pages=ordered B=2 Sk=37 ..." and a seed. Every page of a sequence is in the pool
 * and nobody else's, every key is where its table says, and all that is no key is a NaN.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "spec/pages.h"
#include "spec/input.h"

const char *const fuzz_seeds[] = {
    "page=16 B=2 H=4 Hkv=2 Sq=1 Sk=37 D=8 seed=7",
    "page=1 pages=ordered B=3 H=1 Sk=5 D=1 f32",
    "page=64 pages=both B=1 H=2 Sk=3 D=16 bshd bf16 seed=0",
    "page=5 B=7 H=1 Sk=15 D=2 layout=bshd seed=9007199254740992",
    "page=0 Sk=4",
    "page=64k H=1 Sk=7 D=1",
    NULL,
};
const char *const fuzz_tokens[] = {
    "page=", "pages=", "ordered", "shuffled", "both", "B=", "H=", "Hkv=",       "S=", "Sk=",
    "D=",    "seed=",  "f32",     "bf16",     "bshd", " ",  "0",  "1",          "2",  "7",
    "15",    "16",     "17",      "31",       "64k",  "-1", "1G", "4294967296", NULL,
};

static bool read_wish(char *text, struct problem *p)
{
    char *shape = xcalloc(strlen(text) + 2, 1), *rest = text;
    bool good = true;
    for (char *word; good && (word = strsep(&rest, " "));) {
        if (!strncmp(word, "seed=", 5))
            good = field_set(field_find(problem_keys, "seed"), p, word + 5, NULL) == ST_OK;
        else
            strcat(strcat(shape, word), " ");
    }
    good = good && shape_parse(shape, &p->shape, NULL) == ST_OK &&
           shape_check(&p->shape, NULL) == ST_OK;
    free(shape);
    return good;
}

/* Byte i of a contiguous tensor: no key is like its neighbours, none is all ones. */
static unsigned char byte_at(size_t i)
{
    const uint32_t x = (uint32_t)i * 2654435761u;
    return (unsigned char)(x >> 24) & 0x7f;
}

static int check_table(const struct shape *s, const int32_t *table, const int32_t *owners)
{
    const struct page_pool p = shape_pool(s);
    int64_t owned = 0;
    for (int64_t i = 0; i < p.used; i++) {
        if (table[i] < 0 || table[i] >= p.total)
            return fuzz_broken("entry %lld is page %d of %lld", (long long)i, table[i],
                               (long long)p.total);
        if (owners[table[i]] != i)
            return fuzz_broken("page %d is of entries %lld and %d", table[i], (long long)i,
                               owners[table[i]]);
        if (s->pages == PAGES_ORDERED && table[i] != i)
            return fuzz_broken("ordered, but entry %lld is page %d", (long long)i, table[i]);
    }
    for (int64_t i = 0; i < p.total; i++)
        owned += owners[i] >= 0;
    return owned == p.used ? 0 : fuzz_broken("%lld pages have owners", (long long)owned);
}

/* The pool as the header says it, key by key. */
static int check_pool(const struct shape *s, const int32_t *table, const int32_t *owners,
                      const unsigned char *pool)
{
    const struct page_pool p = shape_pool(s);
    const struct strides at = page_strides(s), of = shape_strides(s, s->Hkv, s->Sk);
    const size_t T = dtype_size(s->dtype), row = (size_t)s->D * T;
    (void)table;
    for (int64_t page = 0; page < p.total; page++)
        for (int64_t h = 0; h < s->Hkv; h++)
            for (int64_t j = 0; j < p.size; j++) {
                const int64_t owner = owners[page], b = owner < 0 ? 0 : owner / p.each,
                              key = owner < 0 ? s->Sk : owner % p.each * p.size + j;
                const size_t to = (size_t)(page * at.b + h * at.h + j * at.s) * T,
                             from = (size_t)(b * of.b + h * of.h + key * of.s) * T;
                for (size_t i = 0; i < row; i++)
                    if (pool[to + i] != (key < s->Sk ? byte_at(from + i) : 0xff))
                        return fuzz_broken("page %lld, head %lld, key %lld of it", (long long)page,
                                           (long long)h, (long long)j);
            }
    return 0;
}

static int check_pages(const struct problem *p)
{
    const struct shape *s = &p->shape;
    const struct page_pool pool = shape_pool(s);
    const size_t bytes = page_pool_bytes(s), from_bytes = shape_kv_elems(s) * dtype_size(s->dtype);
    if (bytes % (size_t)pool.total ||
        bytes / (size_t)pool.total != (size_t)page_strides(s).b * dtype_size(s->dtype) ||
        page_table_bytes(s) != (size_t)pool.used * sizeof(int32_t))
        return fuzz_broken("%zu bytes of %lld pages", bytes, (long long)pool.total);
    int32_t *table = xcalloc((size_t)pool.used, sizeof *table),
            *again = xcalloc((size_t)pool.used, sizeof *again),
            *owners = xcalloc((size_t)pool.total, sizeof *owners);
    unsigned char *from = xcalloc(from_bytes + 1, 1), *to = xcalloc(bytes + 1, 1);
    for (size_t i = 0; i < from_bytes; i++)
        from[i] = byte_at(i);
    page_table_fill(s, p->seed, table);
    page_table_fill(s, p->seed, again);
    page_owners(s, table, owners);
    page_pool_fill(s, table, from, to);
    int broken = check_table(s, table, owners) || check_pool(s, table, owners, to);
    if (!broken && memcmp(table, again, page_table_bytes(s)) != 0)
        broken = fuzz_broken("another table of the same seed");
    if (!broken && to[bytes])
        broken = fuzz_broken("written behind the pool");
    free(table);
    free(again);
    free(owners);
    free(from);
    free(to);
    return broken;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    enum { FEW = 1 << 16 };
    char *text = xstrndup((const char *)data, size);
    struct problem p = PROBLEM_DEFAULT;
    int broken = 0;
    if (read_wish(text, &p) && p.shape.page && page_pool_bytes(&p.shape) <= FEW)
        broken = check_pages(&p);
    free(text);
    return broken;
}
