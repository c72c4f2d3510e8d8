/* qtile_seq.c - a block per query tile; K/V tiles one after another.
 *
 * @name      qtile_seq
 * @title     A block per query tile, K/V tiles one after another
 * @idea      Put the queries outside: a block owns BR queries and walks the K/V tiles, so a tile that
 *            is close by serves BR queries, and output, maximum and sum never leave the block.
 *            Reports call this "FA-1 style" for its one-after-another loop, but this grid and loop
 *            order are FlashAttention-2's (2023); only the arithmetic is still FA-1's.
 * @after     fa1_2022
 * @dtypes    f16 bf16 f32
 * @param     BR 64 [1..1024]  query rows per tile
 * @param     BC 64 [1..1024]  key rows per tile
 * @grid      ceil(Sq/BR) H B
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * Cost: K and V are requested Sq/BR times instead of Sq times. Nothing but Q, K, V and O moves. O
 *   stays normalised as in fa1_2022: one more scaling of P and O per tile than fa2 needs.
 * Limits: time is a constant per K/V tile, hence linear in Sk, however many cores there are: with
 *   ceil(Sq/BR) H B = 1 block (decoding, one head) one core works.
 * Next: fa2 drops the divisions; splitkv gives the keys of one query tile to several blocks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn_cpu.h"

/* What the block keeps, all floats: the tiles, a row of scores, and per query o, m, l. */
struct tiles {
    float *q, *k, *v, *s, *o, *m, *l;
};

static struct tiles share(const struct block *blk, int64_t BR, int64_t BC)
{
    const int64_t D = blk->a->D;
    float *p = shared_floats(blk, 2 * BR * D + 2 * BC * D + BC + 2 * BR);
    struct tiles t = {.q = p, .o = p + BR * D};
    t.k = t.o + BR * D;
    t.v = t.k + BC * D;
    t.s = t.v + BC * D;
    t.m = t.s + BC;
    t.l = t.m + BR;
    for (int64_t r = 0; r < BR; r++) {
        t.m[r] = -INFINITY;
        t.l[r] = 0;
    }
    memset(t.o, 0, (size_t)(BR * D) * sizeof *t.o);
    return t;
}

/* Row r meets n keys: o = o * (old sum / new sum) + P V / new sum. */
static void row_meets_tile(const struct block *blk, const struct tiles *t, int64_t r, int64_t n)
{
    const int64_t D = blk->a->D;
    float *o = t->o + r * D;
    blk->simd->scores(t->q + r * D, t->k, D, n, D, blk->a->scale * LOG2E, t->s);
    const float m_new = fmaxf(t->m[r], blk->simd->max(t->s, n));
    const float kept = t->l[r] * exp2f(t->m[r] - m_new); /* the old sum in the new units */
    const float l_new = kept + blk->simd->exp2_sum(t->s, m_new, n);
    blk->simd->scale(o, kept / l_new, D);
    blk->simd->scale(t->s, 1 / l_new, n);
    blk->simd->add_rows(o, t->s, t->v, D, n, D);
    t->m[r] = m_new;
    t->l[r] = l_new;
}

static void query_tile_block(const struct block *blk)
{
    const struct AttnArgs *a = blk->a;
    const int64_t BR = cpu_param(blk->l, "BR"), BC = cpu_param(blk->l, "BC");
    const int64_t i0 = blk->x * BR, rows = min64(BR, a->Sq - i0);
    const struct tiles t = share(blk, BR, BC);
    load_tile(blk, t.q, q_row(blk, i0), a->q_stride[2], rows);

    const int64_t end = visible_keys(a, i0 + rows - 1);
    for (int64_t j = 0; j < end; j += BC) { /* one K/V tile after another */
        const int64_t keys = min64(BC, end - j);
        load_tile(blk, t.k, k_row(blk, j), a->k_stride[2], keys);
        load_tile(blk, t.v, v_row(blk, j), a->v_stride[2], keys);
        for (int64_t r = 0; r < rows; r++) {
            const int64_t n = min64(keys, visible_keys(a, i0 + r) - j);
            if (n > 0)
                row_meets_tile(blk, &t, r, n);
        }
    }
    for (int64_t r = 0; r < rows; r++)
        store_row(blk, i0 + r, t.o + r * a->D, t.m[r], t.l[r]);
}

void attn_qtile_seq(const struct AttnArgs *a, const struct cpu_launch *l)
{
    run_grid(a, l, ceil_div(a->Sq, cpu_param(l, "BR")), query_tile_block);
}
