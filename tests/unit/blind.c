/* blind.c - see blind.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "blind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"

const char *const blind_names[BLINDS] = {
    [BLIND_NO_SCALE] = "scores are not scaled",
    [BLIND_SCALE_TWICE] = "scores are scaled twice",
    [BLIND_STRICT_CAUSAL] = "the mask hides the diagonal",
    [BLIND_NO_CAUSAL] = "there is no mask",
    [BLIND_FIRST_BATCH] = "K and V of the first batch for all",
    [BLIND_HEAD_MODULO] = "K/V head is h % Hkv",
    [BLIND_SECOND_TILE_LOST] = "the second key tile is skipped",
    [BLIND_TAIL_LOST] = "keys of the ragged tile are skipped",
    [BLIND_TAIL_OF_ZEROS] = "keys beyond the end count as zeros",
    [BLIND_LATE_RESCALE] = "O is rescaled one tile late",
    [BLIND_MASKED_IN_SUM] = "masked keys are in the denominator",
    [BLIND_SPLITS_UNWEIGHTED] = "splits are added without their maxima",
    [BLIND_LAST_QUERY_TILE] = "the ragged query tile reads the one before",
    [BLIND_COLUMN_PAIRS] = "neighbouring columns of O are exchanged",
    [BLIND_HALF_OF_D] = "scores use half of D",
    [BLIND_HEAD_UNWRITTEN] = "the last head is never written",
    [BLIND_HEADS_EXCHANGED] = "two heads are written to each other's place",
    [BLIND_SUM_IN_HALF] = "O is summed in the 16-bit type",
    [BLIND_BASE_TWO] = "exp2 without log2 e",
    [BLIND_TILE_BEFORE] = "every other tile has the K of the one before",
    [BLIND_NAN_WITHOUT_KEYS] = "rows without keys divide by zero",
    [BLIND_K_FOR_V] = "K is read where V should be",
    [BLIND_COLUMNS_ROTATED] = "columns of O are one further on",
    [BLIND_D_CUT] = "scores leave D's last 16 out",
    [BLIND_LATE_SUM] = "the sum is rescaled one tile late",
    [BLIND_THIRD_TILE_LOST] = "the third key tile is skipped",
    [BLIND_LAST_TILE_STALE] = "the last tile has the K of the first",
    [BLIND_V_TILE_BEFORE] = "each tile has the V of the one before",
    [BLIND_SCALE_OF_PADDED] = "the scale is that of D rounded up to 128",
    [BLIND_DIAGONAL_TILE_HIDDEN] = "the tile on the diagonal is not visited",
    [BLIND_FIRST_KEY_TWICE] = "each tile's first key counts twice",
    [BLIND_Q_OF_NEXT_HEAD] = "Q is that of the next head",
};

static bool is_masked(enum blind f)
{
    return f == BLIND_STRICT_CAUSAL || f == BLIND_NO_CAUSAL || f == BLIND_MASKED_IN_SUM ||
           f == BLIND_NAN_WITHOUT_KEYS || f == BLIND_DIAGONAL_TILE_HIDDEN;
}

struct problem blind_problem(enum blind fault)
{
    static const int64_t dims[] = {32, 48, 64, 80, 128}, groups[] = {1, 2, 3};
    struct problem p = PROBLEM_DEFAULT;
    struct shape *s = &p.shape;
    s->B = rnd_in(fault == BLIND_FIRST_BATCH ? 2 : 1, 3);
    s->Hkv = rnd_in(fault == BLIND_HEAD_MODULO ? 2 : 1, 3);
    s->H = s->Hkv * groups[rnd_in(fault == BLIND_HEAD_MODULO, 2)];
    if (s->H == 1 && (fault == BLIND_HEADS_EXCHANGED || fault == BLIND_HEAD_UNWRITTEN ||
                      fault == BLIND_Q_OF_NEXT_HEAD))
        s->H = s->Hkv = 2;
    s->hkv_given = true;
    s->D = dims[rnd_in(0, fault == BLIND_SCALE_OF_PADDED ? 3 : 4)];
    s->Sq = 2 * rnd_in(33, 120) + 1;
    s->Sk = 2 * rnd_in(70, 150) + 1;
    s->dtype = (enum dtype)rnd_in(0, fault == BLIND_SUM_IN_HALF ? 1 : 2);
    s->causal = is_masked(fault) || rnd_in(0, 3) == 0;
    if (fault == BLIND_NAN_WITHOUT_KEYS)
        s->Sq = s->Sk + rnd_in(5, 60);
    else if (s->causal)
        s->Sq = s->Sk - rnd_in(0, 60);
    if (fault == BLIND_SUM_IN_HALF)
        s->Sk = 1024 + rnd_in(0, 500);
    s->layout = (enum layout)rnd_in(0, 1);
    p.seed = rnd();
    return p;
}

/* ---- one row ---- */

struct row_job {
    const struct bench *b;
    enum blind fault;
    int br, bc;
    int64_t batch, head, i;
};

struct online {
    double m, l, o[256], late; /* late: the factor that was owed from the tile before */
};

static const float *kv_row(const struct row_job *j, const float *from, int64_t key)
{
    const struct shape *s = &j->b->p.shape;
    const int64_t batch = j->fault == BLIND_FIRST_BATCH ? 0 : j->batch;
    const int64_t kv = j->fault == BLIND_HEAD_MODULO ? j->head % s->Hkv : j->head / (s->H / s->Hkv);
    return from + ((batch * s->Hkv + kv) * s->Sk + key) * s->D;
}

static double score_of(const struct row_job *j, int64_t key)
{
    const struct shape *s = &j->b->p.shape;
    int64_t i = j->i, width = s->D, k = key;
    if (j->fault == BLIND_LAST_QUERY_TILE && i / j->br == s->Sq / j->br && i >= j->br)
        i -= j->br;
    if (j->fault == BLIND_HALF_OF_D)
        width /= 2;
    if (j->fault == BLIND_TILE_BEFORE && key / j->bc % 2 == 1)
        k -= j->bc;
    if (j->fault == BLIND_D_CUT)
        width -= 16;
    if (j->fault == BLIND_LAST_TILE_STALE && key / j->bc == (s->Sk - 1) / j->bc)
        k = key % j->bc;
    const int64_t head = j->fault == BLIND_Q_OF_NEXT_HEAD ? (j->head + 1) % s->H : j->head;
    const float *q = j->b->q + ((j->batch * s->H + head) * s->Sq + i) * s->D;
    const float *kr = kv_row(j, j->b->k, k);
    double sum = 0;
    for (int64_t d = 0; d < width; d++)
        sum += (double)q[d] * (double)kr[d];
    const double scale = 1 / sqrt(j->fault == BLIND_SCALE_OF_PADDED ? 128.0 : (double)s->D);
    return j->fault == BLIND_NO_SCALE ? sum
                                      : sum * scale * (j->fault == BLIND_SCALE_TWICE ? scale : 1);
}

static bool is_seen(const struct row_job *j, int64_t key)
{
    const struct shape *s = &j->b->p.shape;
    if (!s->causal || j->fault == BLIND_NO_CAUSAL)
        return true;
    const int64_t last = j->i + s->Sk - s->Sq;
    if (j->fault == BLIND_DIAGONAL_TILE_HIDDEN && last >= j->bc)
        return key < last / j->bc * j->bc;
    return j->fault == BLIND_STRICT_CAUSAL ? key < last : key <= last;
}

static double power_of(const struct row_job *j, double x)
{
    return j->fault == BLIND_BASE_TWO ? exp2(x) : exp(x);
}

/* The keys from..to-1 join what is there. */
static void one_tile(const struct row_job *j, int64_t from, int64_t to, struct online *t)
{
    const struct shape *s = &j->b->p.shape;
    const float *values = j->fault == BLIND_K_FOR_V ? j->b->k : j->b->v;
    double m = t->m;
    for (int64_t k = from; k < to; k++)
        if (is_seen(j, k))
            m = fmax(m, score_of(j, k));
    if (j->fault == BLIND_TAIL_OF_ZEROS && to == s->Sk && to - from < j->bc)
        m = fmax(m, 0);
    if (m == -INFINITY)
        return;
    const double factor = t->m == -INFINITY ? 1 : power_of(j, t->m - m);
    const double on_o = j->fault == BLIND_LATE_RESCALE ? t->late : factor;
    t->l *= j->fault == BLIND_LATE_SUM ? t->late : factor;
    t->late = factor;
    t->m = m;
    for (int64_t d = 0; d < s->D; d++)
        t->o[d] *= on_o;
    for (int64_t k = from; k < to; k++) {
        const double twice = j->fault == BLIND_FIRST_KEY_TWICE && k == from ? 2 : 1;
        const double p = twice * power_of(j, score_of(j, k) - m);
        if (is_seen(j, k) || j->fault == BLIND_MASKED_IN_SUM)
            t->l += is_seen(j, k) ? p : fmin(p, 1);
        if (!is_seen(j, k))
            continue;
        const bool before = j->fault == BLIND_V_TILE_BEFORE && k >= j->bc;
        const float *v = kv_row(j, values, before ? k - j->bc : k);
        for (int64_t d = 0; d < s->D; d++) {
            t->o[d] += p * (double)v[d];
            if (j->fault == BLIND_SUM_IN_HALF)
                t->o[d] = to_type(s->dtype, t->o[d]);
        }
    }
    if (j->fault == BLIND_TAIL_OF_ZEROS && to == s->Sk && to - from < j->bc)
        t->l += (double)(j->bc - (to - from)) * power_of(j, -m);
}

static void all_tiles(const struct row_job *j, int64_t from, int64_t to, struct online *t)
{
    const struct shape *s = &j->b->p.shape;
    *t = (struct online){.m = -INFINITY, .late = 1};
    for (int64_t k = from; k < to; k += j->bc) {
        const int64_t end = k + j->bc < to ? k + j->bc : to;
        if (j->fault == BLIND_SECOND_TILE_LOST && k / j->bc == 1)
            continue;
        if (j->fault == BLIND_THIRD_TILE_LOST && k / j->bc == 2)
            continue;
        if (j->fault == BLIND_TAIL_LOST && end - k < j->bc && k > 0)
            continue;
        one_tile(j, k, end, t);
    }
    (void)s;
}

/* Two halves, put together as if their maxima were the same. */
static void two_splits(const struct row_job *j, struct online *t)
{
    const struct shape *s = &j->b->p.shape;
    const int64_t half = (s->Sk / 2 + j->bc - 1) / j->bc * j->bc;
    struct online second;
    all_tiles(j, 0, half < s->Sk ? half : s->Sk, t);
    all_tiles(j, half < s->Sk ? half : s->Sk, s->Sk, &second);
    t->l += second.l;
    for (int64_t d = 0; d < s->D; d++)
        t->o[d] += second.o[d];
}

static void one_row(const struct row_job *j, double *out)
{
    const struct shape *s = &j->b->p.shape;
    struct online t;
    if (j->fault == BLIND_SPLITS_UNWEIGHTED)
        two_splits(j, &t);
    else
        all_tiles(j, 0, s->Sk, &t);
    for (int64_t d = 0; d < s->D; d++) {
        const int64_t from = j->fault == BLIND_COLUMN_PAIRS      ? d ^ 1
                             : j->fault == BLIND_COLUMNS_ROTATED ? (d + 1) % s->D
                                                                 : d;
        const bool empty = t.m == -INFINITY && j->fault != BLIND_NAN_WITHOUT_KEYS;
        out[d] = empty ? 0 : t.o[from] / t.l;
    }
}

/* ---- the output ---- */

static bool is_left_out(const struct shape *s, enum blind fault, int64_t head)
{
    return fault == BLIND_HEAD_UNWRITTEN && head == s->H - 1;
}

static int64_t place_of(const struct shape *s, enum blind fault, int64_t head)
{
    if (fault != BLIND_HEADS_EXCHANGED || head > 1)
        return head;
    return s->H > 1 ? 1 - head : head;
}

void blind_write(struct bench *b, enum blind fault, int br, int bc)
{
    const struct shape *s = &b->p.shape;
    const struct strides st = shape_strides(s, s->H, s->Sq);
    char *tensor = b->guarded + OUTPUT_GUARD_BYTES;
    double row[256];
    poison(b);
    for (int64_t n = 0; n < s->B * s->H * s->Sq; n++) {
        struct row_job j = {b, fault, br, bc, n / (s->H * s->Sq), n / s->Sq % s->H, n % s->Sq};
        if (is_left_out(s, fault, j.head))
            continue;
        one_row(&j, row);
        const int64_t at = j.batch * st.b + place_of(s, fault, j.head) * st.h + j.i * st.s;
        for (int64_t d = 0; d < s->D; d++)
            dtype_set(s->dtype, tensor, (size_t)(at + d), row[d]);
    }
}
