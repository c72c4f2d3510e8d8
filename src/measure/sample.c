/* sample.c - which query rows get a float64 answer when not all can.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "measure/reference.h"

static int64_t random_below(uint64_t *state, int64_t n)
{
    return (int64_t)(random_next(state) % (uint64_t)n);
}

static uint64_t problem_seed(const struct problem *p)
{
    const struct shape *s = &p->shape;
    uint64_t state = p->seed;
    const int64_t parts[] = {s->B, s->H,     s->Hkv,    s->Sq,    s->Sk,
                             s->D, s->dtype, s->causal, p->input, (int64_t)p->turn};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        state = random_next(&state) ^ (uint64_t)parts[i];
    return state;
}

/* A multiple of 16, 64 or 128, or one beside it. */
static int64_t random_tile_edge(uint64_t *state, int64_t Sq)
{
    static const int64_t tiles[] = {16, 64, 128};
    int64_t tile = tiles[random_below(state, 3)];
    int64_t i = random_below(state, Sq / tile + 1) * tile + random_below(state, 3) - 1;
    return i < 0 ? 0 : i >= Sq ? Sq - 1 : i;
}

static int compare_rows(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

static int64_t sort_unique(int64_t *x, int64_t n)
{
    qsort(x, (size_t)n, sizeof *x, compare_rows);
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++)
        if (m == 0 || x[i] != x[m - 1])
            x[m++] = x[i];
    return m;
}

int64_t sample_rows(const struct problem *p, int64_t want, int64_t **out)
{
    const struct shape *s = &p->shape;
    uint64_t state = problem_seed(p);
    int64_t heads = s->B * s->H, total = heads * s->Sq, n = 0;
    int64_t *rows = xmalloc((size_t)(want + 4) * sizeof *rows);
    rows[n++] = 0;
    rows[n++] = s->Sq - 1;
    rows[n++] = total - s->Sq;
    rows[n++] = total - 1;
    while (n < want) {
        int64_t head = random_below(&state, heads);
        int64_t i = n % 2 ? random_tile_edge(&state, s->Sq) : random_below(&state, s->Sq);
        rows[n++] = head * s->Sq + i;
    }
    *out = rows;
    return sort_unique(rows, n);
}
