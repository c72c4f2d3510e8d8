/* tensor_map.h - what cp.async.bulk.tensor is told of a tensor: our own content for the 128 bytes of a CUtensorMap.
 *
 * A driver's tensor map is opaque, so a launch of the simulator lays down its own. It travels as the driver's does: as a
 * parameter of the kernel, aligned to 64 bytes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_TENSOR_MAP_H
#define ATTNSCOPE_SIM_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_RANK = 5, TENSOR_MAP_BOX = 256 };

/* Dimension 0 is the one whose elements lie side by side. */
struct tensor_map {
    uint64_t magic; /* set by tensor_map_encode() */
    uint64_t address;
    uint64_t stride[TENSOR_MAP_RANK - 1]; /* bytes, of dimensions 1 .. */
    uint32_t dim[TENSOR_MAP_RANK];        /* elements; 1 beyond the rank */
    uint16_t box[TENSOR_MAP_RANK];        /* elements that one copy moves; 1 beyond the rank */
    uint8_t rank, element;                /* dimensions; bytes of an element */
    uint8_t swizzle;                      /* bytes of the pattern: 0, 32, 64, 128 */
};

/* The 128 bytes. ST_USAGE with what cuTensorMapEncodeTiled() would refuse: an address or a stride that is no multiple of
 * 16 bytes, a box beyond 256 elements a side, rows of a box that are no multiple of 16 bytes; and a box wider or narrower than its
 * swizzle, or larger than shared memory. */
enum status tensor_map_encode(const struct tensor_map *m, uint8_t out[TENSOR_MAP_BYTES],
                              struct err *err);
/* False: these bytes are no tensor map. */
bool tensor_map_decode(const uint8_t bytes[TENSOR_MAP_BYTES], struct tensor_map *out);

uint32_t tensor_map_box_bytes(const struct tensor_map *m);

/* Where the pattern of a swizzle puts the 16 bytes of an address in shared memory: bits 4, 5, 6 (of 128 bytes; 4, 5 of 64; 4
 * of 32) are exchanged by an xor with bits 7, 8, 9. */
static inline uint32_t swizzled_address(uint32_t address, uint32_t swizzle)
{
    const uint32_t bits = swizzle >= 32 ? swizzle / 16 - 1 : 0;
    return address ^ ((address >> 7 & bits) << 4);
}

#endif
