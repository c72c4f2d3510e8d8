/* tensor_load.c - ldmatrix, stmatrix, and the loads and stores that wmma's are made of.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/tensor.h"

#include <string.h>
#if defined __SSE2__
#include <emmintrin.h>
#endif

/* ---- 8 x 8 elements of 16 bits. ---- */

/* Transposed, from 128 bytes to 128 bytes; may be in place. */
static void turn8(const uint32_t in[32], uint32_t out[32])
{
#if defined __SSE2__
    __m128i r[8], s[8];
    for (int i = 0; i < 8; i++)
        r[i] = _mm_loadu_si128((const __m128i *)(const void *)(in + 4 * i));
    for (int i = 0; i < 4; i++) { /* pairs of rows: elements of both, alternating */
        s[2 * i] = _mm_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
        s[2 * i + 1] = _mm_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) { /* four rows */
        r[4 * i] = _mm_unpacklo_epi32(s[4 * i], s[4 * i + 2]);
        r[4 * i + 1] = _mm_unpackhi_epi32(s[4 * i], s[4 * i + 2]);
        r[4 * i + 2] = _mm_unpacklo_epi32(s[4 * i + 1], s[4 * i + 3]);
        r[4 * i + 3] = _mm_unpackhi_epi32(s[4 * i + 1], s[4 * i + 3]);
    }
    for (int i = 0; i < 4; i++) { /* eight rows: columns 2i and 2i + 1 */
        const __m128i low = _mm_unpacklo_epi64(r[i], r[4 + i]),
                      top = _mm_unpackhi_epi64(r[i], r[4 + i]);
        _mm_storeu_si128((__m128i *)(void *)(out + 8 * i), low);
        _mm_storeu_si128((__m128i *)(void *)(out + 8 * i + 4), top);
    }
#else
    uint16_t from[8][8], to[8][8];
    memcpy(from, in, sizeof from);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            to[j][i] = from[i][j];
    memcpy(out, to, sizeof to);
#endif
}

/* Lane 4 i + t has elements 2 t and 2 t + 1 of row i: the rows one after another are the lanes. */
void tensor_ldmatrix(int matrices, bool trans, const void *const row[], uint32_t *const d[])
{
    for (int j = 0; j < matrices; j++) {
        for (int i = 0; i < 8; i++) {
            if (row[8 * j + i])
                memcpy(d[j] + 4 * i, row[8 * j + i], 16);
            else
                memset(d[j] + 4 * i, 0, 16);
        }
        if (trans)
            turn8(d[j], d[j]);
    }
}

void tensor_stmatrix(int matrices, bool trans, void *const row[], uint32_t *const s[])
{
    for (int j = 0; j < matrices; j++) {
        uint32_t rows[32];
        if (trans)
            turn8(s[j], rows);
        else
            memcpy(rows, s[j], sizeof rows);
        for (int i = 0; i < 8; i++)
            if (row[8 * j + i])
                memcpy(row[8 * j + i], rows + 4 * i, 16);
    }
}

/* ---- wmma. ---- */

static int element_bytes(enum tensor_type t)
{
    return t == TENSOR_F16 || t == TENSOR_BF16 ? 2 : 4;
}

/* The product that a fragment belongs to, for its layout; its other operands do not matter. */
static enum status layout_of(const struct tensor_wmma *w, struct tensor_mma *op, struct err *err)
{
    const bool operand = w->which == TENSOR_A || w->which == TENSOR_B;
    const enum tensor_type ab = operand     ? w->type
                                : w->k == 8 ? TENSOR_TF32
                                            : TENSOR_F16,
                           cd = operand ? TENSOR_F32 : w->type;
    return tensor_mma_make(op, true, w->m, w->n, w->k, cd, ab, ab, cd, false, err);
}

/* Elements that share a register, or two registers of 32 bits that follow each other, are neighbours in
 * a row of the matrix, but for B and for the accumulators of m8n32: in a column. Do they follow each
 * other in memory, too? */
static bool pairs_in_memory(const struct tensor_wmma *w)
{
    const bool along_row = w->which == TENSOR_A || (w->which != TENSOR_B && w->m != 8);
    return along_row != w->col;
}

static void set_place(struct tensor_access *a, int lane, struct tensor_place p)
{
    a->row[lane] = (uint32_t)p.row;
    a->col[lane] = (uint32_t)p.col;
}

/* `matrices` rows of 16 bytes. Lane 8 j + i has row i of what register reg + j keeps: the elements of group i of
 * four lanes, or, when they are transposed on their way, element i of each group. */
static void add_ldmatrix(struct tensor_wmma *w, const struct tensor_mma *op, int reg, int matrices)
{
    struct tensor_access *a = &w->access[w->count++];
    *a = (struct tensor_access){
        .ldmatrix = true,
        .trans = !pairs_in_memory(w),
        .mask = matrices == 4 ? UINT32_MAX : (UINT32_C(1) << 8 * matrices) - 1,
        .bytes = 16,
        .reg = reg,
    };
    for (int lane = 0; lane < 8 * matrices; lane++) {
        const int r = reg + lane / 8, i = lane % 8;
        set_place(a, lane,
                  a->trans ? tensor_place(op, w->which, i / 2, r, i % 2)
                           : tensor_place(op, w->which, 4 * i, r, 0));
    }
}

/* Each lane its own elements: registers `reg` and, of 8 bytes, the next. */
static void add_own(struct tensor_wmma *w, const struct tensor_mma *op, int reg, int bytes)
{
    struct tensor_access *a = &w->access[w->count++];
    *a = (struct tensor_access){.mask = UINT32_MAX, .bytes = bytes, .reg = reg};
    for (int lane = 0; lane < 32; lane++)
        set_place(a, lane, tensor_place(op, w->which, lane, reg, 0));
}

/* f16 pairs that are not neighbours in memory: each lane takes the pair that it would have, were the 8 x 8
 * elements transposed, and the registers are transposed. */
static void add_turned(struct tensor_wmma *w, const struct tensor_mma *op, int reg)
{
    struct tensor_access *a = &w->access[w->count++];
    *a = (struct tensor_access){.trans = true, .mask = UINT32_MAX, .bytes = 4, .reg = reg};
    for (int lane = 0; lane < 32; lane++) {
        const int group = lane >> 2, t = lane % 4;
        set_place(a, lane, tensor_place(op, w->which, 8 * t + group / 2, reg, group % 2));
    }
}

static void add_accesses(struct tensor_wmma *w, const struct tensor_mma *op)
{
    const int regs = w->regs / w->copies;
    if (w->type == TENSOR_TF32) {
        for (int r = 0; r < regs; r++)
            add_own(w, op, r, 4);
    } else if (w->which == TENSOR_A || w->which == TENSOR_B) {
        for (int r = 0; r < regs; r += 4)
            add_ldmatrix(w, op, r, regs < 4 ? regs : 4);
    } else if (w->type == TENSOR_F16) {
        for (int r = 0; r < regs; r++)
            if (pairs_in_memory(w))
                add_own(w, op, r, 4);
            else
                add_turned(w, op, r);
    } else {
        const int each = pairs_in_memory(w) ? 2 : 1;
        for (int r = 0; r < regs; r += each)
            add_own(w, op, r, 4 * each);
    }
}

enum status tensor_wmma_make(struct tensor_wmma *w, enum tensor_operand which, int m, int n, int k,
                             enum tensor_type type, bool col, struct err *err)
{
    *w = (struct tensor_wmma){
        .m = m, .n = n, .k = k, .which = which, .type = type, .col = col, .copies = 1};
    struct tensor_mma op;
    const enum status st = layout_of(w, &op, err);
    if (st != ST_OK)
        return st;
    w->regs = op.regs[which];
    if ((which == TENSOR_A || which == TENSOR_B) && type == TENSOR_F16)
        w->copies = 8 * 32 * 2 / (k * (which == TENSOR_A ? m : n));
    add_accesses(w, &op);
    return ST_OK;
}

void tensor_wmma_offsets(const struct tensor_wmma *w, int i, int64_t ld, uint64_t offset[32])
{
    const struct tensor_access *a = &w->access[i];
    const uint64_t bytes = (uint64_t)element_bytes(w->type), pitch = (uint64_t)ld * bytes;
    for (int lane = 0; lane < 32; lane++)
        offset[lane] = w->col ? a->col[lane] * pitch + a->row[lane] * bytes
                              : a->row[lane] * pitch + a->col[lane] * bytes;
}

/* Registers [first, first + n) again, wherever the fragment repeats them. */
static void fill_copies(const struct tensor_wmma *w, int first, int n, uint32_t *const d[])
{
    const int each = w->regs / w->copies;
    for (int r = first; r < first + n; r++)
        for (int k = 1; k < w->copies; k++)
            memcpy(d[r + k * each], d[r], 32 * sizeof **d);
}

void tensor_wmma_load(const struct tensor_wmma *w, int i, const void *const from[],
                      uint32_t *const d[])
{
    const struct tensor_access *a = &w->access[i];
    if (a->ldmatrix) {
        const int matrices = __builtin_popcount(a->mask) / 8;
        tensor_ldmatrix(matrices, a->trans, from, d + a->reg);
        fill_copies(w, a->reg, matrices, d);
        return;
    }
    const int regs = a->bytes / 4;
    for (int lane = 0; lane < 32; lane++) {
        uint32_t word[2] = {0, 0};
        if (from[lane])
            memcpy(word, from[lane], (size_t)a->bytes);
        for (int r = 0; r < regs; r++)
            d[a->reg + r][lane] = word[r];
    }
    if (a->trans)
        turn8(d[a->reg], d[a->reg]);
}

void tensor_wmma_store(const struct tensor_wmma *w, int i, void *const to[], uint32_t *const s[])
{
    const struct tensor_access *a = &w->access[i];
    if (a->ldmatrix) {
        tensor_stmatrix(__builtin_popcount(a->mask) / 8, a->trans, to, s + a->reg);
        return;
    }
    uint32_t turned[32];
    if (a->trans)
        turn8(s[a->reg], turned);
    for (int lane = 0; lane < 32; lane++) {
        const uint32_t word[2] = {a->trans ? turned[lane] : s[a->reg][lane],
                                  a->bytes == 8 ? s[a->reg + 1][lane] : 0};
        if (to[lane])
            memcpy(to[lane], word, (size_t)a->bytes);
    }
}
