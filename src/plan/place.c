/* place.c - what lies at an address of a block's shared memory: which buffer, and which of its elements.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/place.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

static int64_t start_of(const struct plan_pass *pass, const struct plan_smem *b,
                        int64_t dynamic_base)
{
    return b->is_static || dynamic_base == INT_UNKNOWN
               ? b->offset
               : b->offset - pass->dynamic_base + dynamic_base;
}

/* The column of the tile that lies at column `at` of row `row` in memory. As swizzled() of kernels/cuda/mma.cuh
 * places it, and a tensor map's 128 bytes: with n the largest power of 2, at most 8, that divides the chunks
 * of a row, chunk c of row r takes the place c xor (r / (8 / n) mod n). */
static int64_t undo_swizzle(const struct plan_smem *b, int64_t row, int64_t at)
{
    const int64_t chunk = b->swizzle / b->element_bytes; /* elements */
    const int64_t chunks = chunk ? b->pitch / chunk : 0;
    int64_t n = 1;
    while (n < 8 && chunks && chunks % (2 * n) == 0)
        n *= 2;
    if (!chunk || at >= chunks * chunk)
        return at;
    return (at / chunk ^ row / (8 / n) % n) * chunk + at % chunk;
}

/* Fills tile, row, column and rest from the offset. */
static void find_element(struct plan_spot *spot)
{
    const struct plan_smem *b = spot->buffer;
    if (b->element_bytes == INT_UNKNOWN)
        return;
    int64_t element = spot->offset / b->element_bytes;
    spot->rest = spot->offset % b->element_bytes;
    if (b->pitch != INT_UNKNOWN) {
        spot->row = element / b->pitch;
        element %= b->pitch;
        if (b->rows != INT_UNKNOWN) {
            spot->tile = spot->row / b->rows;
            spot->row %= b->rows;
        }
        if (b->swizzle != INT_UNKNOWN)
            element = undo_swizzle(b, spot->row, element);
    }
    spot->column = element;
}

/* Has the buffer several tiles, so that one of them must be named? */
static bool has_tiles(const struct plan_smem *b)
{
    return b->rows != INT_UNKNOWN && b->bytes > b->rows * b->pitch * b->element_bytes;
}

static void add_spot(char *text, size_t size, const struct plan_spot *s)
{
    size_t n = strlen(text);
    if (s->column == INT_UNKNOWN) {
        snprintf(text + n, size - n, "%s + %lld", s->buffer->name, (long long)s->offset);
        return;
    }
    n += (size_t)snprintf(text + n, size - n, "%.40s", s->buffer->name);
    if (has_tiles(s->buffer))
        n += (size_t)snprintf(text + n, size - n, "[%lld]", (long long)s->tile);
    if (s->row != INT_UNKNOWN)
        n += (size_t)snprintf(text + n, size - n, "[%lld]", (long long)s->row);
    n += (size_t)snprintf(text + n, size - n, "[%lld]", (long long)s->column);
    if (s->rest)
        snprintf(text + n, size - n, " + %lld", (long long)s->rest);
}

static struct plan_spot spot_in(const struct plan_smem *b, int64_t offset)
{
    struct plan_spot spot = {.buffer = b,
                             .offset = offset,
                             .tile = INT_UNKNOWN,
                             .row = INT_UNKNOWN,
                             .column = INT_UNKNOWN};
    if (b)
        find_element(&spot);
    return spot;
}

struct plan_spot plan_place(const struct plan_pass *pass, int64_t dynamic_base, int64_t address)
{
    const struct plan_smem *found[2] = {NULL, NULL};
    int64_t start[2] = {0, 0};
    int n = 0;
    for (int i = 0; i < pass->nsmem && n < 2; i++) {
        const struct plan_smem *b = &pass->smem[i];
        const int64_t from = start_of(pass, b, dynamic_base);
        if (b->bytes != INT_UNKNOWN && address >= from && address - from < b->bytes) {
            found[n] = b;
            start[n++] = from;
        }
    }
    struct plan_spot spot = spot_in(found[0], address - start[0]);
    spot.other = found[1];
    if (!spot.buffer) {
        snprintf(spot.text, sizeof spot.text, "+ %lld", (long long)address);
        return spot;
    }
    add_spot(spot.text, sizeof spot.text, &spot);
    if (spot.other) {
        const struct plan_spot other = spot_in(spot.other, address - start[1]);
        snprintf(spot.text + strlen(spot.text), sizeof spot.text - strlen(spot.text), " or ");
        add_spot(spot.text, sizeof spot.text, &other);
    }
    return spot;
}

struct plan_spot plan_place_in(const struct plan_pass *pass, const char *name, int64_t offset)
{
    const struct plan_smem *b = NULL;
    for (int i = 0; i < pass->nsmem; i++)
        if (!strcmp(pass->smem[i].name, name))
            b = &pass->smem[i];
    struct plan_spot spot = spot_in(b, offset);
    if (b)
        add_spot(spot.text, sizeof spot.text, &spot);
    else
        snprintf(spot.text, sizeof spot.text, "+ %lld", (long long)offset);
    return spot;
}
