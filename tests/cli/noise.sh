#!/bin/sh
# Verdicts beside the truth: a kernel against itself, and against one that does 5 % more work, on this
# machine as it is and beside a load of two. Prints false and right verdicts and refusals.
# COMPARES=200 for each (20 here), TIME=1 seconds a kernel.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"

compares=${COMPARES-20} time=${TIME-0.6}
command -v cc >/dev/null || { echo '1..0 # SKIP no C compiler'; exit 77; }

# One source, two amounts of work on the same attention: ROUNDS of the inner sum, all but the last into a sink.
cat >work.c <<'END'
#include <math.h>
#include "attn_args.h"
static volatile float sink;
int attn_run(const struct AttnArgs *a, void *stream)
{
    const float *q = a->q, *k = a->k, *v = a->v;
    float *o = a->o;
    (void)stream;
    for (int64_t r = 0; r < a->H * a->Sq; r++) {
        const int64_t h = r / a->Sq, n = a->Sk, d = a->D;
        const float *kh = k + h * n * d, *vh = v + h * n * d;
        float s[1024], m = -1e30f, l = 0;
        for (int64_t j = 0; j < n; j++) {
            float dot = 0;
            for (int64_t c = 0; c < d; c++)
                dot += q[r * d + c] * kh[j * d + c];
            s[j] = dot * a->scale;
            m = s[j] > m ? s[j] : m;
        }
        for (int64_t c = 0; c < d; c++)
            o[r * d + c] = 0;
        for (int64_t j = 0; j < n; j++) {
            const float p = expf(s[j] - m);
            l += p;
            for (int64_t c = 0; c < d; c++)
                o[r * d + c] += p * vh[j * d + c];
        }
        for (int64_t c = 0; c < d; c++)
            o[r * d + c] /= l;
        float extra = 0;
        if (r % 20 < MORE) /* once more for so many rows in twenty */
            for (int64_t j = 0; j < 2 * n; j++)
                for (int64_t c = 0; c < d; c++)
                    extra += q[r * d + c] * kh[j % n * d + c];
        sink = extra;
    }
    return 0;
}
END
