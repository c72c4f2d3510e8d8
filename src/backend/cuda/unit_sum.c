/* unit_sum.c - see unit_sum.h.
 *
 * A product for each unit is some 5 GB/s, less than the bus brings. So a block of ROWS rows of LANES units is added with
 * additions alone, which vectorise: s[l] is the sum of a lane's units and t[l] that of s[l] after each row, in which row r
 * counts ROWS - r times.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/unit_sum.h"

#include <string.h>

#ifndef __clang__
#pragma GCC optimize("O3")
#endif

/* t stays below 2^32: 65535 * ROWS * (ROWS + 1) / 2. */
enum { LANES = 16, ROWS = 128, UNITS = LANES * ROWS };

static uint64_t block_sum(const char *p, uint64_t first)
{
    uint32_t s[LANES] = {0}, t[LANES] = {0};
    for (int r = 0; r < ROWS; r++, p += 2 * LANES) {
        uint16_t u[LANES];
        memcpy(u, p, sizeof u);
        for (int l = 0; l < LANES; l++)
            s[l] += u[l];
        for (int l = 0; l < LANES; l++)
            t[l] += s[l];
    }
    uint64_t sum = UNITS * (2 * first + UNITS); /* of the ones */
    for (uint64_t l = 0; l < LANES; l++)
        sum += (2 * (first + l) + 1) * s[l] + 2 * LANES * ((uint64_t)ROWS * s[l] - t[l]);
    return sum;
}

uint64_t unit_sum(const void *data, size_t len, uint64_t first)
{
    const char *p = data;
    const size_t n = len / 2;
    uint64_t sum = 0;
    size_t i = 0;
    for (; n - i >= UNITS; i += UNITS)
        sum += block_sum(p + 2 * i, first + i);
    for (; i < n; i++) {
        uint16_t unit;
        memcpy(&unit, p + 2 * i, sizeof unit);
        sum += (unit + UINT64_C(1)) * (2 * (first + i) + 1);
    }
    return sum;
}
