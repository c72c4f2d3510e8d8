/* wgmma.c - see wgmma.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/wgmma.h"

#include "sim/tensor_map.h"

struct wgmma_operand wgmma_operand(uint64_t d)
{
    static const uint32_t swizzles[] = {0, 128, 64, 32};
    return (struct wgmma_operand){.start = (uint32_t)(d & 0x3fff) << 4,
                                  .leading = (uint32_t)(d >> 16 & 0x3fff) << 4,
                                  .stride = (uint32_t)(d >> 32 & 0x3fff) << 4,
                                  .base = (uint32_t)(d >> 49 & 7),
                                  .swizzle = swizzles[d >> 62]};
}

/* Bytes behind the start, not yet swizzled; *apart: from one of the eight rows, or k, to the next. */
static uint32_t behind_start(const struct wgmma_operand *o, bool rows_beside, uint32_t row,
                             uint32_t k, uint32_t *apart)
{
    const uint32_t beside = o->swizzle ? o->swizzle / 16 : 1; /* chunks of a pattern's row */
    *apart = 16 * beside;
    if (!rows_beside)
        return row / 8 * o->stride + row % 8 * *apart + k / 8 * (o->swizzle ? 16 : o->leading);
    if (o->swizzle)
        return row / 8 / beside * o->leading + row / 8 % beside * 16 + k / 8 * o->stride +
               k % 8 * *apart;
    return row / 8 * o->stride + k / 8 * o->leading + k % 8 * *apart;
}

uint32_t wgmma_address(const struct wgmma_operand *o, bool rows_beside, uint32_t row, uint32_t k)
{
    uint32_t apart;
    const uint32_t at = behind_start(o, rows_beside, row, k, &apart);
    return swizzled_address((o->start + at) & 0x3ffff, o->swizzle);
}

void wgmma_eight(const struct wgmma_operand *o, bool rows_beside, uint32_t row, uint32_t k,
                 uint32_t at[8])
{
    uint32_t apart;
    const uint32_t first = o->start + behind_start(o, rows_beside, row, k, &apart);
    for (uint32_t i = 0; i < 8; i++)
        at[i] = swizzled_address((first + i * apart) & 0x3ffff, o->swizzle);
}
