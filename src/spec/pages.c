/* pages.c - see pages.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "spec/input.h"

size_t page_pool_bytes(const struct shape *s)
{
    const struct page_pool p = shape_pool(s);
    return (size_t)(p.total * s->Hkv * p.size * s->D) * dtype_size(s->dtype);
}

size_t page_table_bytes(const struct shape *s)
{
    return (size_t)shape_pool(s).used * sizeof(int32_t);
}

struct strides page_strides(const struct shape *s)
{
    return shape_strides(s, s->Hkv, s->page);
}

/* A number below n, which is below 2^31: entry i of the order that a seed draws. */
static int64_t draw(uint64_t seed, int64_t i, int64_t n)
{
    enum { STREAM = 0x70616765 }; /* no values of a tensor are of it */
    uint32_t w[4];
    input_words(seed, TENSOR_K, STREAM, (uint64_t)i, w);
    return (int64_t)(((uint64_t)w[0] * (uint64_t)n) >> 32);
}

/* The beginning of a shuffled pool. */
static void shuffle(const struct page_pool *p, uint64_t seed, int32_t *table)
{
    int32_t *pool = xcalloc((size_t)p->total, sizeof *pool);
    for (int64_t i = 0; i < p->total; i++)
        pool[i] = (int32_t)i;
    for (int64_t i = 0; i < p->used; i++) {
        const int64_t k = i + draw(seed, i, p->total - i);
        table[i] = pool[k];
        pool[k] = pool[i];
    }
    free(pool);
}

void page_table_fill(const struct shape *s, uint64_t seed, int32_t *table)
{
    const struct page_pool p = shape_pool(s);
    if (s->pages != PAGES_ORDERED)
        shuffle(&p, seed, table);
    for (int64_t i = 0; i < p.used && s->pages == PAGES_ORDERED; i++)
        table[i] = (int32_t)i;
}

void page_owners(const struct shape *s, const int32_t *table, int32_t *owners)
{
    const struct page_pool p = shape_pool(s);
    for (int64_t i = 0; i < p.total; i++)
        owners[i] = -1;
    for (int64_t i = 0; i < p.used; i++)
        owners[table[i]] = (int32_t)i;
}

/* Keys first .. first + n - 1 of sequence b into a page. */
static void fill_page(const struct shape *s, int64_t b, int64_t first, int64_t n, const char *from,
                      char *page)
{
    const size_t size = dtype_size(s->dtype), row = (size_t)s->D * size;
    const struct strides of = shape_strides(s, s->Hkv, s->Sk), to = page_strides(s);
    for (int64_t h = 0; h < s->Hkv; h++)
        for (int64_t j = 0; j < n; j++)
            memcpy(page + (size_t)(h * to.h + j * to.s) * size,
                   from + (size_t)(b * of.b + h * of.h + (first + j) * of.s) * size, row);
}

void page_pool_fill(const struct shape *s, const int32_t *table, const void *from, void *pool)
{
    const struct page_pool p = shape_pool(s);
    const size_t page_bytes = (size_t)page_strides(s).b * dtype_size(s->dtype);
    memset(pool, 0xff, page_pool_bytes(s));
    for (int64_t i = 0; i < p.used; i++) {
        const int64_t first = i % p.each * p.size, left = s->Sk - first;
        fill_page(s, i / p.each, first, left < p.size ? left : p.size, from,
                  (char *)pool + (size_t)table[i] * page_bytes);
    }
}
