/* sample.c - see sample.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/sample.h"

#include <stdlib.h>

#include "base/mem.h"

enum { ENDS = 2, COLUMNS_MAX = 2 * ENDS + 1, ROWS_MAX = 4 };

/* Ascending, distinct: the first and last `ends` of n, and one in the middle. */
static int spread(uint64_t n, int ends, uint64_t *out)
{
    int count = 1;
    out[0] = 0; /* a grid has blocks */
    for (uint64_t i = 1; i < (uint64_t)ends && i < n; i++)
        out[count++] = i;
    const uint64_t middle = n / 2;
    if (middle > out[count - 1])
        out[count++] = middle;
    for (uint64_t i = n > (uint64_t)ends ? n - (uint64_t)ends : 0; i < n; i++)
        if (i > out[count - 1])
            out[count++] = i;
    return count;
}

static uint64_t rows_of(const uint32_t grid[3])
{
    return (uint64_t)grid[1] * grid[2];
}

struct sample_probe sample_probe(const uint32_t grid[3])
{
    uint64_t x[COLUMNS_MAX], row[ROWS_MAX + 1];
    const int columns = spread(grid[0], ENDS, x), rows = spread(rows_of(grid), 1, row);
    struct sample_probe p = {.blocks = xcalloc((size_t)columns * (size_t)rows, sizeof *p.blocks)};
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            p.blocks[p.n++] = row[r] * grid[0] + x[c];
    return p;
}

/* Do blocks of one column do the same in every row that was tried? */
static bool rows_repeat(const struct sample_probe *p, const uint64_t *classes, size_t columns)
{
    for (size_t i = columns; i < p->n; i++)
        if (classes[i] != classes[i % columns])
            return false;
    return true;
}

/* Are the blocks between the ends alike? */
static bool middle_repeats(const uint64_t *classes, size_t columns)
{
    bool same = columns == COLUMNS_MAX;
    for (size_t i = 1; same && i + 1 < columns; i++)
        same = classes[i] == classes[1];
    return same;
}

static struct sample_group group_new(size_t n, uint64_t weight)
{
    return (struct sample_group){
        .blocks = xcalloc(n + 1, sizeof(uint64_t)), .n = n, .weight = weight};
}

bool sample_groups(const uint32_t grid[3], const struct sample_probe *probe,
                   const uint64_t *classes, struct sample_group groups[2])
{
    const uint64_t rows = rows_of(grid), width = grid[0];
    uint64_t x[COLUMNS_MAX];
    const size_t columns = (size_t)spread(width, ENDS, x);
    groups[0] = groups[1] = (struct sample_group){0};
    if (!rows_repeat(probe, classes, columns))
        return false;
    if (middle_repeats(classes, columns)) {
        groups[0] = group_new(2, rows);
        groups[0].blocks[1] = width - 1;
        groups[1] = group_new(1, rows * (width - 2));
        groups[1].blocks[0] = width / 2;
        return true;
    }
    groups[0] = group_new((size_t)width, rows);
    for (uint64_t i = 0; i < width; i++)
        groups[0].blocks[i] = i;
    return true;
}

void sample_few(const uint32_t grid[3], struct sample_group groups[2])
{
    enum { ALL = 4 };
    const uint64_t rows = rows_of(grid), width = grid[0];
    const bool even = width % 2 == 0;
    groups[1] = (struct sample_group){0};
    groups[0] = group_new(width > ALL ? 2 : (size_t)width, rows);
    for (uint64_t i = 0; i < groups[0].n; i++)
        groups[0].blocks[i] = i;
    if (width <= ALL)
        return;
    groups[0].blocks[1] = width - 1;
    groups[1] = group_new(even ? 2 : 1, rows * (width - 2) / (even ? 2 : 1));
    groups[1].blocks[0] = (width - 1) / 2;
    if (even)
        groups[1].blocks[1] = width / 2;
}

void sample_groups_free(struct sample_group groups[2])
{
    free(groups[0].blocks);
    free(groups[1].blocks);
}
