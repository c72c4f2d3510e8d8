/* blind.c - see blind.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "blind.h"

#include <assert.h>
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
    [BLIND_MASKED_AS_ZERO] = "a masked score is 0, not -inf",
    [BLIND_V_TRANSPOSED] = "V is read as if it were transposed",
    [BLIND_SUM_OVER_QUERIES] = "the sum runs over queries, not keys",
    [BLIND_HALF_OF_SUM] = "every other key is not in the sum",
    [BLIND_OTHER_LAYOUT] = "O is stored by the other layout's strides",
    [BLIND_NOT_RESET] = "sums go on from the row above in the tile",
    [BLIND_LAST_TILE_TWICE] = "the last tile is visited twice",
    [BLIND_V_HEAD_MODULO] = "V's head is h % Hkv, and K's is right",
    [BLIND_CORRECTION_BASE] = "the correction alone is a power of 2",
    [BLIND_MEAN_WITHOUT_KEYS] = "rows without keys are the mean of V",
    [BLIND_KEYS_OF_QUERIES] = "the loop over keys ends at Sq",
    [BLIND_SCALED_OUTPUT] = "O is scaled once more by 1/sqrt(D)",
    [BLIND_CORRECTION_UNSCALED] = "the correction is of unscaled maxima",
    [BLIND_MAX_OF_TILE] = "each tile has its own maximum",
    [BLIND_SPLIT_WEIGHTS_SWAPPED] = "two splits have each other's weights",
    [BLIND_HALF_TILE_OF_Q] = "half a tile of Q stands for the other half",
    [BLIND_K_HEAD_MODULO] = "K's head is h % Hkv, and V's is right",
    [BLIND_CAUSAL_BY_TILE] = "key tiles end where the query tile begins",
};

static bool is_of_groups(enum blind f)
{
    return f == BLIND_HEAD_MODULO || f == BLIND_V_HEAD_MODULO || f == BLIND_K_HEAD_MODULO;
}

static bool is_of_empty(enum blind f)
{
    return f == BLIND_NAN_WITHOUT_KEYS || f == BLIND_MEAN_WITHOUT_KEYS;
}

static bool is_masked(enum blind f)
{
    return f == BLIND_STRICT_CAUSAL || f == BLIND_NO_CAUSAL || f == BLIND_MASKED_IN_SUM ||
           f == BLIND_NAN_WITHOUT_KEYS || f == BLIND_DIAGONAL_TILE_HIDDEN ||
           f == BLIND_MASKED_AS_ZERO || f == BLIND_MEAN_WITHOUT_KEYS || f == BLIND_CAUSAL_BY_TILE;
}

struct problem blind_problem(enum blind fault)
{
    static const int64_t dims[] = {32, 48, 64, 80, 128}, groups[] = {1, 2, 3};
    struct problem p = PROBLEM_DEFAULT;
    struct shape *s = &p.shape;
    s->B = rnd_in(fault == BLIND_FIRST_BATCH ? 2 : 1, 3);
    s->Hkv = rnd_in(is_of_groups(fault) ? 2 : 1, 3);
    s->H = s->Hkv * groups[rnd_in(is_of_groups(fault), 2)];
    if (s->H == 1 && (fault == BLIND_HEADS_EXCHANGED || fault == BLIND_HEAD_UNWRITTEN ||
                      fault == BLIND_Q_OF_NEXT_HEAD || fault == BLIND_OTHER_LAYOUT))
        s->H = s->Hkv = 2;
    s->hkv_given = true;
    s->D = dims[rnd_in(0, fault == BLIND_SCALE_OF_PADDED ? 3 : 4)];
    s->Sq = 2 * rnd_in(33, 120) + 1;
    s->Sk = 2 * rnd_in(70, 150) + 1;
    s->dtype = (enum dtype)rnd_in(0, fault == BLIND_SUM_IN_HALF ? 1 : 2);
    s->causal = is_masked(fault) || rnd_in(0, 3) == 0;
    if (is_of_empty(fault))
        s->Sq = s->Sk + rnd_in(5, 60);
    else if (s->causal)
        s->Sq = s->Sk - rnd_in(0, 60);
    if (fault == BLIND_KEYS_OF_QUERIES)
        s->causal = false, s->Sq = s->Sk - rnd_in(5, 60);
    if (fault == BLIND_SUM_OVER_QUERIES) /* costs the square of the queries */
        s->B = s->H = s->Hkv = 1, s->Sq = 2 * rnd_in(8, 20) + 1, s->causal = false;
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
    const bool modulo = j->fault == BLIND_HEAD_MODULO ||
                        (j->fault == BLIND_V_HEAD_MODULO && from == j->b->v) ||
                        (j->fault == BLIND_K_HEAD_MODULO && from == j->b->k);
    const int64_t kv = modulo ? j->head % s->Hkv : j->head / (s->H / s->Hkv);
    return from + ((batch * s->Hkv + kv) * s->Sk + key) * s->D;
}

static double score_of(const struct row_job *j, int64_t key)
{
    const struct shape *s = &j->b->p.shape;
    int64_t i = j->i, width = s->D, k = key;
    if (j->fault == BLIND_LAST_QUERY_TILE && i / j->br == s->Sq / j->br && i >= j->br)
        i -= j->br;
    if (j->fault == BLIND_HALF_TILE_OF_Q)
        i -= i % j->br / (j->br / 2) * (j->br / 2);
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
    if (j->fault == BLIND_KEYS_OF_QUERIES)
        return key < s->Sq;
    if (!s->causal || j->fault == BLIND_NO_CAUSAL)
        return true;
    const int64_t last = j->i + s->Sk - s->Sq;
    if (j->fault == BLIND_DIAGONAL_TILE_HIDDEN && last >= j->bc)
        return key < last / j->bc * j->bc;
    const int64_t first_row =
        j->i / j->br * j->br + s->Sk - s->Sq; /* the last key of the query tile's first row */
    if (j->fault == BLIND_CAUSAL_BY_TILE && first_row >= 0 && key / j->bc > first_row / j->bc)
        return false;
    return j->fault == BLIND_STRICT_CAUSAL ? key < last : key <= last;
}

/* A key's value: every `step`th number from here on. */
static const float *values_of(const struct row_job *j, const float *values, int64_t key,
                              int64_t *step)
{
    const bool transposed =
        j->fault == BLIND_V_TRANSPOSED; /* the head's Sk x D as if they were D x Sk */
    *step = transposed ? j->b->p.shape.Sk : 1;
    return transposed ? kv_row(j, values, 0) + key : kv_row(j, values, key);
}

static double power_of(const struct row_job *j, double x)
{
    return j->fault == BLIND_BASE_TWO ? exp2(x) : exp(x);
}

enum { TILE_MOST = 512 };

/* The keys from..to-1 join what is there. */
static void one_tile(const struct row_job *j, int64_t from, int64_t to, struct online *t)
{
    const struct shape *s = &j->b->p.shape;
    const float *values = j->fault == BLIND_K_FOR_V ? j->b->k : j->b->v;
    double m = j->fault == BLIND_MAX_OF_TILE ? -INFINITY : t->m, scores[TILE_MOST];
    assert(to - from <= TILE_MOST);
    for (int64_t k = from; k < to; k++)
        if (is_seen(j, k))
            m = fmax(m, scores[k - from] = score_of(j, k));
        else if (j->fault == BLIND_MASKED_AS_ZERO)
            m = fmax(m, 0);
    if (j->fault == BLIND_TAIL_OF_ZEROS && to == s->Sk && to - from < j->bc)
        m = fmax(m, 0);
    if (m == -INFINITY)
        return;
    const double factor = t->m == -INFINITY                   ? 1
                          : j->fault == BLIND_CORRECTION_BASE ? exp2(t->m - m)
                          : j->fault == BLIND_MAX_OF_TILE     ? 1
                          : j->fault == BLIND_CORRECTION_UNSCALED
                              ? exp((t->m - m) * sqrt((double)s->D))
                              : power_of(j, t->m - m);
    const double on_o = j->fault == BLIND_LATE_RESCALE ? t->late : factor;
    t->l *= j->fault == BLIND_LATE_SUM ? t->late : factor;
    t->late = factor;
    t->m = m;
    for (int64_t d = 0; d < s->D; d++)
        t->o[d] *= on_o;
    for (int64_t k = from; k < to; k++) {
        const double twice = j->fault == BLIND_FIRST_KEY_TWICE && k == from ? 2 : 1;
        const bool seen = is_seen(j, k), as_zero = !seen && j->fault == BLIND_MASKED_AS_ZERO;
        if (!seen && !as_zero && j->fault != BLIND_MASKED_IN_SUM)
            continue;
        const double score = as_zero ? 0 : seen ? scores[k - from] : score_of(j, k);
        const double p = twice * power_of(j, score - m);
        t->l += j->fault == BLIND_HALF_OF_SUM && k % 2 ? 0 : seen ? p : fmin(p, 1);
        if (!seen && !as_zero)
            continue;
        const bool before = j->fault == BLIND_V_TILE_BEFORE && k >= j->bc;
        int64_t step;
        const float *v = values_of(j, values, before ? k - j->bc : k, &step);
        for (int64_t d = 0; d < s->D; d++) {
            t->o[d] += p * (double)v[d * step];
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
        if (j->fault == BLIND_LAST_TILE_TWICE && end == s->Sk)
            one_tile(j, k, end, t);
    }
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

/* Two halves, each with the weight of the other. */
static void swapped_splits(const struct row_job *j, struct online *t)
{
    const struct shape *s = &j->b->p.shape;
    const int64_t half = (s->Sk / 2 + j->bc - 1) / j->bc * j->bc;
    struct online second;
    all_tiles(j, 0, half, t);
    all_tiles(j, half, s->Sk, &second);
    if (second.m == -INFINITY)
        return;
    const double m = fmax(t->m, second.m), first_weight = exp(second.m - m),
                 second_weight = exp(t->m - m);
    t->l = t->l * first_weight + second.l * second_weight;
    for (int64_t d = 0; d < s->D; d++)
        t->o[d] = t->o[d] * first_weight + second.o[d] * second_weight;
}

/* The row above, as far as the tile of queries goes, was there before and has been left: m, l and o. */
static void rows_above(const struct row_job *j, struct online *t)
{
    const struct shape *s = &j->b->p.shape;
    struct row_job above = *j;
    *t = (struct online){.m = -INFINITY, .late = 1};
    for (above.i = j->i % j->br ? j->i - 1 : j->i; above.i <= j->i; above.i++)
        for (int64_t k = 0; k < s->Sk; k += j->bc)
            one_tile(&above, k, k + j->bc < s->Sk ? k + j->bc : s->Sk, t);
}

/* Each probability is divided by what its key has from all queries of the head. */
static void over_queries(const struct row_job *j, struct online *t)
{
    const struct shape *s = &j->b->p.shape;
    *t = (struct online){.m = 0, .l = 1};
    for (int64_t k = 0; k < s->Sk; k++) {
        struct row_job other = *j;
        double sum = 0;
        for (other.i = 0; other.i < s->Sq; other.i++)
            sum += is_seen(&other, k) ? exp(score_of(&other, k)) : 0;
        const double p = is_seen(j, k) ? exp(score_of(j, k)) / sum : 0;
        int64_t step;
        const float *v = values_of(j, j->b->v, k, &step);
        for (int64_t d = 0; d < s->D; d++)
            t->o[d] += p * (double)v[d * step];
    }
}

/* With a mask of -1e30 in place of -inf all of its scores are the same. */
static void mean_of_values(const struct row_job *j, struct online *t)
{
    const struct shape *s = &j->b->p.shape;
    *t = (struct online){.m = -1e30, .l = (double)s->Sk};
    for (int64_t k = 0; k < s->Sk; k++) {
        int64_t step;
        const float *v = values_of(j, j->b->v, k, &step);
        for (int64_t d = 0; d < s->D; d++)
            t->o[d] += (double)v[d * step];
    }
}

static void one_row(const struct row_job *j, double *out)
{
    const struct shape *s = &j->b->p.shape;
    struct online t;
    if (j->fault == BLIND_SPLITS_UNWEIGHTED)
        two_splits(j, &t);
    else if (j->fault == BLIND_SPLIT_WEIGHTS_SWAPPED)
        swapped_splits(j, &t);
    else if (j->fault == BLIND_NOT_RESET)
        rows_above(j, &t);
    else if (j->fault == BLIND_SUM_OVER_QUERIES)
        over_queries(j, &t);
    else
        all_tiles(j, 0, s->Sk, &t);
    if (t.m == -INFINITY && j->fault == BLIND_MEAN_WITHOUT_KEYS)
        mean_of_values(j, &t);
    for (int64_t d = 0; d < s->D; d++) {
        const int64_t from = j->fault == BLIND_COLUMN_PAIRS      ? d ^ 1
                             : j->fault == BLIND_COLUMNS_ROTATED ? (d + 1) % s->D
                                                                 : d;
        const bool empty = t.m == -INFINITY && j->fault != BLIND_NAN_WITHOUT_KEYS;
        out[d] = empty ? 0 : t.o[from] / t.l;
        if (j->fault == BLIND_SCALED_OUTPUT)
            out[d] /= sqrt((double)s->D);
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
    struct shape stored = *s;
    if (fault == BLIND_OTHER_LAYOUT)
        stored.layout = (enum layout)(1 - (int)s->layout);
    const struct strides st = shape_strides(&stored, s->H, s->Sq);
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
