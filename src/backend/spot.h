/* spot.h - one row of an output, looked at: between samples there is time for no more.
 *
 * The judge looks at two outputs of a measurement; this at a row of every sample's, so that a kernel cannot
 * choose runs in which to be wrong.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SPOT_H
#define ATTNSCOPE_BACKEND_SPOT_H

#include <stdbool.h>
#include <stdint.h>

#include "spec/shape.h"

/* A row of an output and what it was made of, on the host: pointers to the first element of each. */
struct spot {
    enum dtype dtype;
    int64_t D, keys;            /* that the row sees */
    int64_t k_stride, v_stride; /* elements from one key to the next */
    const void *q, *k, *v, *o;
};

/* Is it attention, roughly? Its error must not be above 0.15 of the right row's root mean square, plus what
 * weights rounded to 8 bits do where values cancel: a kernel of low precision gets through, a row of zeros, of
 * other inputs or of another head does not. A row where the answer is not finite is right. */
bool spot_is_right(const struct spot *s);

/* Row number (b * H + h) * Sq + i of a whole output. */
struct spot spot_of_row(const struct shape *s, const void *q, const void *k, const void *v,
                        const void *o, int64_t row);

#endif
