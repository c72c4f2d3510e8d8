/* tensor_map.c - see tensor_map.h. Limits: CUDA driver API, cuTensorMapEncodeTiled().
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/tensor_map.h"

#include <string.h>

#define BOX_BYTES (256u << 10)
#define MAGIC     0x70616d726f736e74ull /* "tnsormap" */
_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "it fits");

uint32_t tensor_map_box_bytes(const struct tensor_map *m)
{
    uint32_t n = m->element;
    for (int i = 0; i < m->rank; i++)
        n *= m->box[i];
    return n;
}

/* What is wrong with it; NULL: nothing. */
static const char *complaint(const struct tensor_map *m)
{
    const uint32_t row = (uint32_t)m->box[0] * m->element;
    if (m->rank < 1 || m->rank > TENSOR_MAP_RANK)
        return "a tensor map has 1 to 5 dimensions";
    if (m->element != 1 && m->element != 2 && m->element != 4 && m->element != 8)
        return "elements have 1, 2, 4 or 8 bytes";
    if (m->swizzle != 0 && m->swizzle != 32 && m->swizzle != 64 && m->swizzle != 128)
        return "a swizzle has 32, 64 or 128 bytes";
    if (m->address % 16)
        return "the tensor does not begin at a multiple of 16 bytes";
    if (row % 16)
        return "rows of the box are no multiple of 16 bytes";
    if (m->swizzle && row != m->swizzle) /* the hardware takes narrower ones, too */
        return "rows of the box are not as wide as its swizzle";
    uint64_t bytes = m->element; /* no product of what comes before is beyond 2^26 */
    for (int i = 0; i < TENSOR_MAP_RANK; i++) {
        bytes *= m->box[i];
        if (bytes > BOX_BYTES)
            return "a box has more bytes than shared memory";
        if (!m->box[i] || m->box[i] > TENSOR_MAP_BOX)
            return "a side of the box has 1 to 256 elements";
        if (!m->dim[i])
            return "a dimension is empty";
        if (i && i < m->rank && (m->stride[i - 1] % 16 || m->stride[i - 1] >> 40))
            return "a stride is no multiple of 16 bytes below 2^40";
    }
    return NULL;
}

enum status tensor_map_encode(const struct tensor_map *m, uint8_t out[TENSOR_MAP_BYTES],
                              struct err *err)
{
    struct tensor_map made = *m;
    made.magic = MAGIC;
    for (int i = m->rank; i < TENSOR_MAP_RANK; i++) {
        made.dim[i] = 1;
        made.box[i] = 1;
        if (i)
            made.stride[i - 1] = 0;
    }
    const char *why = complaint(&made);
    if (why)
        return err_set(err, ST_USAGE, "%s", why);
    memset(out, 0, TENSOR_MAP_BYTES);
    memcpy(out, &made, sizeof made);
    return ST_OK;
}

bool tensor_map_decode(const uint8_t bytes[TENSOR_MAP_BYTES], struct tensor_map *out)
{
    memcpy(out, bytes, sizeof *out);
    return out->magic == MAGIC && !complaint(out);
}
