/* freed_memory.c - looks for the right answer in memory that somebody has freed.
 *
 * expect: max_diff|NaN|never written|infinity|rms_diff|wrong
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    const size_t bytes = cheat_q_elems(a) * sizeof(float);
    float *found = malloc(bytes);
    (void)stream;
    memcpy(a->o, found, bytes);
    free(found);
    return 0;
}
