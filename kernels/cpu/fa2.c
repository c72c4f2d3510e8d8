/* fa2.c - FlashAttention-2's forward pass.
 *
 * @name      fa2
 * @title     FlashAttention-2: O unnormalised until one division at the end
 * @idea      Between tiles the output need not be a valid answer. Keep it unnormalised, divide once at
 *            the end, and correct it only when a tile raises the running maximum: the loop loses its
 *            divisions, and most of its scalings. Exponentials are powers of 2 with log2(e) folded
 *            into the scale, as in all kernels here.
 * @after     qtile_seq
 * @dtypes    f16 bf16 f32
 * @param     BR 64 [1..1024]  query rows per tile
 * @param     BC 64 [1..1024]  key rows per tile
 * @grid      ceil(Sq/BR) H B
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * Cost: per tile and row BC fewer multiplications than qtile_seq, and D fewer when the maximum stays;
 *   beside 4 BC D FLOPs that is a few percent at most. FA-2's larger gains on a GPU, rows owned by
 *   warps and tensor cores kept busy, have no counterpart on one core.
 * Limits: ceil(Sq/BR) H B blocks: one query tile keeps one core busy, however long K is.
 * Next: splitkv also divides the keys among blocks; cpu_tiled does the products properly.
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

/* Row r meets n keys: o += P V, after a correction if these keys raise the maximum. */
static void row_meets_tile(const struct block *blk, const struct tiles *t, int64_t r, int64_t n)
{
    const int64_t D = blk->a->D;
    float *o = t->o + r * D;
    blk->simd->scores(t->q + r * D, t->k, D, n, D, blk->a->scale * LOG2E, t->s);
    const float m_new = fmaxf(t->m[r], blk->simd->max(t->s, n));
    if (m_new > t->m[r]) {
        const float correction = exp2f(t->m[r] - m_new);
        blk->simd->scale(o, correction, D);
        t->l[r] *= correction;
        t->m[r] = m_new;
    }
    t->l[r] += blk->simd->exp2_sum(t->s, m_new, n);
    blk->simd->add_rows(o, t->s, t->v, D, n, D);
}

/* The one division. */
static void finish_row(const struct block *blk, const struct tiles *t, int64_t i0, int64_t r)
{
    float *o = t->o + r * blk->a->D;
    if (t->l[r] > 0)
        blk->simd->scale(o, 1 / t->l[r], blk->a->D);
    store_row(blk, i0 + r, o, t->m[r], t->l[r]);
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
        finish_row(blk, &t, i0, r);
}

void attn_fa2(const struct AttnArgs *a, const struct cpu_launch *l)
{
    run_grid(a, l, ceil_div(a->Sq, cpu_param(l, "BR")), query_tile_block);
}
