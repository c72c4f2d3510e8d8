/* args.c - see args.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/args.h"

#include <math.h>

#include "spec/pages.h"

static void put_strides(int64_t dst[3], struct strides st)
{
    dst[0] = st.b;
    dst[1] = st.h;
    dst[2] = st.s;
}

static void set_strides(int64_t dst[3], const struct shape *s, int64_t heads, int64_t rows)
{
    put_strides(dst, shape_strides(s, heads, rows));
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

struct PagedArgs paged_args(const struct shape *p, uint64_t seed, bool paged)
{
    struct PagedArgs a = {.attn = attn_args(p, seed)};
    if (!paged)
        return a;
    put_strides(a.attn.k_stride, page_strides(p));
    put_strides(a.attn.v_stride, page_strides(p));
    a.page = (int32_t)p->page;
    a.pages = (int32_t)shape_pool(p).each;
    return a;
}

struct tensor_view tensor_view(const struct AttnArgs *a, char tensor)
{
    const bool of_queries = tensor == 'Q' || tensor == 'O';
    const int64_t *st = tensor == 'Q'   ? a->q_stride
                        : tensor == 'K' ? a->k_stride
                        : tensor == 'V' ? a->v_stride
                                        : a->o_stride;
    return (struct tensor_view){.address = tensor == 'Q'   ? a->q
                                           : tensor == 'K' ? a->k
                                           : tensor == 'V' ? a->v
                                                           : a->o,
                                .dims = {(uint64_t)a->D, (uint64_t)(of_queries ? a->Sq : a->Sk),
                                         (uint64_t)(of_queries ? a->H : a->Hkv), (uint64_t)a->B},
                                .strides = {(uint64_t)st[2], (uint64_t)st[1], (uint64_t)st[0]}};
}
