/* values.c - what lanes write, compared.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/hazard/block.h"

/* Byte `at` of what a lane writes. */
static unsigned char value_byte(const struct hazard_values *v, uint32_t lane, uint32_t at)
{
    const unsigned char *part = v->part[at / v->bytes];
    return part[lane * v->stride + at % v->bytes];
}

static bool has_bytes(const struct hazard_values *v, uint32_t end)
{
    return v && v->bytes && end <= (uint32_t)v->parts * v->bytes;
}

bool writes_same(const struct hazard_values *v, uint32_t lane, uint32_t skip,
                 const unsigned char *bytes, uint32_t n)
{
    if (!has_bytes(v, skip + n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (value_byte(v, lane, skip + i) != bytes[i])
            return false;
    return true;
}

bool lanes_agree(const struct hazard_values *v, uint32_t x, uint32_t skip_x, uint32_t y,
                 uint32_t skip_y, uint32_t n)
{
    if (!has_bytes(v, skip_x + n) || !has_bytes(v, skip_y + n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (value_byte(v, x, skip_x + i) != value_byte(v, y, skip_y + i))
            return false;
    return true;
}
