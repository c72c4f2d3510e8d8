/* args.c - see args.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/args.h"

#include <math.h>

static void set_strides(int64_t dst[3], const struct shape *s, int64_t heads, int64_t rows)
{
    const struct strides st = shape_strides(s, heads, rows);
    dst[0] = st.b;
    dst[1] = st.h;
    dst[2] = st.s;
}

struct AttnArgs attn_args(const struct shape *p, uint64_t seed)
{
    struct AttnArgs a = {.seed = seed,
                         .B = (int32_t)p->B,
                         .H = (int32_t)p->H,
                         .Hkv = (int32_t)p->Hkv,
                         .Sq = (int32_t)p->Sq,
                         .Sk = (int32_t)p->Sk,
                         .D = (int32_t)p->D,
                         .causal = p->causal,
                         .scale = (float)(1 / sqrt((double)p->D))};
    set_strides(a.q_stride, p, p->H, p->Sq);
    set_strides(a.k_stride, p, p->Hkv, p->Sk);
    set_strides(a.v_stride, p, p->Hkv, p->Sk);
    set_strides(a.o_stride, p, p->H, p->Sq);
    return a;
}
