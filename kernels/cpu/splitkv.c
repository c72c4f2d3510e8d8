/* splitkv.c - flash-decoding: the keys are divided among blocks, a second launch combines.
 *
 * @name      splitkv
 * @title     Split-KV: blocks share a query tile's keys, a second pass combines
 * @idea      When there are fewer query tiles than cores, give each of SPLITS blocks its own range of
 *            keys. Each leaves a finished partial output and its LSE (logarithm of its sum of
 *            exponentials); a second launch weights the partial outputs by 2^(LSE - max LSE). No
 *            atomics: the result is the same bits every time. This is split-KV (2023), often
 *            mistaken for FlashAttention-2, which does not divide the keys of a query tile.
 * @after     fa2
 * @dtypes    f16 bf16 f32
 * @pages     page >= 1
 * @param     BR 64 [1..1024]    query rows per tile
 * @param     BC 64 [1..1024]    key rows per tile
 * @param     SPLITS 8 [1..128]  blocks that share the keys of a query tile
 * @grid      ceil(Sq/BR)*SPLITS H B
 * @pass      combine
 * @grid      ceil(Sq/4) H B
 * @workspace partial_o   B*H*Sq*SPLITS*D*4  partial outputs, f32
 * @workspace partial_lse B*H*Sq*SPLITS*4    their LSE, base 2
 * @traffic   read B*H*(SPLITS*Sq*D*T+tiles(BR,BC)*2*BC*D*T+Sq*SPLITS*(D+1)*4) write B*H*(Sq*SPLITS*(D+1)*4+Sq*D*T)
 *
 * Cost: SPLITS times the blocks and 1/SPLITS of the loop, for SPLITS reads of Q, 8 D SPLITS bytes a
 *   row through the workspace, and a second launch (some microseconds here).
 * Limits: it loses when ceil(Sq/BR) H B blocks fill the cores already. Another SPLITS is another
 *   order of additions, hence other last bits.
 * Pages: the keys of a tile may lie in several; they are loaded page by page, and the rest does not know.
 * Try: B=1 H=1 S=64k with Sq=64 against fa2 and qtile_seq: they keep one core busy.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "parts.h"

enum { WS_PARTIAL_O, WS_PARTIAL_LSE };

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

/* Keys j .. j + n - 1 of K, or of V, into a tile. A tensor without a block table is a page a batch. */
static void load_keys(const struct block *blk, float *tile, const void *base,
                      const int64_t stride[3], int64_t j, int64_t n)
{
    const struct PagedArgs *a = (const struct PagedArgs *)blk->a;
    const int64_t page = a->table ? a->page : a->attn.Sk;
    for (int64_t here; n > 0; j += here, n -= here, tile += here * a->attn.D) {
        const int64_t entry = a->table ? a->table[blk->b * a->pages + j / page] : blk->b;
        const int64_t at = entry * stride[0] + kv_head(blk) * stride[1] + j % page * stride[2];
        here = min64(n, page - j % page);
        load_tile(blk, tile, element(blk->l->dtype, base, at), stride[2], here);
    }
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

static int64_t splits(const struct block *blk)
{
    return cpu_param(blk->l, "SPLITS");
}

/* What the splits of row i leave for the second pass: SPLITS rows of o, SPLITS LSEs. */
static float *partial_o(const struct block *blk, int64_t i)
{
    return (float *)blk->a->ws[WS_PARTIAL_O] + row_number(blk, i) * splits(blk) * blk->a->D;
}

static float *partial_lse(const struct block *blk, int64_t i)
{
    return (float *)blk->a->ws[WS_PARTIAL_LSE] + row_number(blk, i) * splits(blk);
}

static void leave_row(const struct block *blk, const struct tiles *t, int64_t i, int64_t r,
                      int64_t split)
{
    const int64_t D = blk->a->D;
    float *o = t->o + r * D, l = t->l[r];
    if (l > 0)
        blk->simd->scale(o, 1 / l, D);
    memcpy(partial_o(blk, i) + split * D, o, (size_t)D * sizeof *o);
    partial_lse(blk, i)[split] = l > 0 ? t->m[r] + log2f(l) : -INFINITY;
}

/* Pass 1: as fa2, over the keys of one split. */
static void split_block(const struct block *blk)
{
    const struct AttnArgs *a = blk->a;
    const int64_t BR = cpu_param(blk->l, "BR"), BC = cpu_param(blk->l, "BC");
    const int64_t split = blk->x % splits(blk), i0 = blk->x / splits(blk) * BR;
    const int64_t rows = min64(BR, a->Sq - i0);
    const struct tiles t = share(blk, BR, BC);
    load_tile(blk, t.q, q_row(blk, i0), a->q_stride[2], rows);

    /* Splits are whole tiles, as equal as possible and the same for every row of the tile. */
    const int64_t per_split = ceil_div(ceil_div(a->Sk, BC), splits(blk)) * BC;
    const int64_t end = min64(visible_keys(a, i0 + rows - 1), (split + 1) * per_split);
    for (int64_t j = split * per_split; j < end; j += BC) {
        const int64_t keys = min64(BC, end - j);
        load_keys(blk, t.k, a->k, a->k_stride, j, keys);
        load_keys(blk, t.v, a->v, a->v_stride, j, keys);
        for (int64_t r = 0; r < rows; r++) {
            const int64_t n = min64(keys, visible_keys(a, i0 + r) - j);
            if (n > 0)
                row_meets_tile(blk, &t, r, n);
        }
    }
    for (int64_t r = 0; r < rows; r++)
        leave_row(blk, &t, i0 + r, r, split);
}

/* Pass 2: four rows. */
static void combine_block(const struct block *blk)
{
    float *o = shared_floats(blk, blk->a->D + splits(blk));
    for (int64_t i = 4 * blk->x; i < min64(4 * blk->x + 4, blk->a->Sq); i++)
        combine_parts(blk, i, partial_o(blk, i), partial_lse(blk, i), splits(blk), o + blk->a->D,
                      o);
}

void attn_splitkv(const struct AttnArgs *a, const struct cpu_launch *l)
{
    run_grid(a, l, ceil_div(a->Sq, cpu_param(l, "BR")) * cpu_param(l, "SPLITS"), split_block);
    run_grid(a, l, ceil_div(a->Sq, 4), combine_block);
}
