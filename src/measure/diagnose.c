/* diagnose.c - see diagnose.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/diagnose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/number.h"
#include "measure/fault.h"
#include "measure/reference.h"

enum {
    WRONG_TRIED = 24, /* rows that each hypothesis is tried on */
    RIGHT_TRIED = 12,
    PATTERN_TILES = 8,
};
static const double flops_max = 4e9; /* of all trials together; fewer rows are tried on long ones */

/* ---- faults that kernels have ---- */

enum cause_id {
    SCALE,
    EXP_BASE,
    DIAGONAL,
    MASK_IGNORED,
    MASK_TOP_LEFT,
    MASK_UNASKED,
    MASK_TILE,
    MASK_ZERO,
    HEAD_OF_GROUP,
    HEAD_OF_ONE,
    RESCALE_O,
    RESCALE_L,
    RESCALE_BOTH,
    TAIL_COUNTED,
    TAIL_DROPPED,
    TILE_MISSED,
    KEY_MISSED,
    SPLIT_MISSED,
    UNDIVIDED,
    VALUES_OF_K,
    VALUES_SHIFTED,
    TILE_STALE,
    PART_OF_D,
    COLUMNS,
    OTHER_BATCH,
    OTHER_QUERY,
    KEY_TWICE,
    TILE_TWICE,
    V_TRANSPOSED,
    OVER_QUERY_SUMS,
    NOT_RESET,
    OTHER_ROW,
    ROW_FACTOR,
    ROW_ZERO,
    UNWRITTEN,
    EMPTY_NAN,
    OVERFLOW,
    LOW_PRECISION,
    CAUSES
};

const struct cause diagnose_causes[] = {
    [SCALE] = {"scale", "the scores are not scaled by 1/sqrt(D)",
               "where scores are multiplied by a.scale: missing, or done twice"},
    [EXP_BASE] =
        {"exp_base", "powers of 2 and of e are mixed up",
         "exp2f needs scores times log2(e), expf does not; the correction exp(m_old - m_new), too"},
    [DIAGONAL] = {"diagonal", "the causal mask is off by one key",
                  "the comparison of key and query: < or <="},
    [MASK_IGNORED] = {"mask_ignored", "the causal mask is not applied", "a.causal is not read"},
    [MASK_TOP_LEFT] = {"mask_top_left", "the causal mask is aligned at the top left",
                       "query i sees keys up to i + Sk - Sq, not up to i"},
    [MASK_UNASKED] = {"mask_unasked", "a causal mask is applied that nobody asked for",
                      "a.causal is not read"},
    [MASK_TILE] = {"mask_tile", "keys behind the diagonal count within their tile",
                   "the tile on the diagonal is visited without a mask"},
    [MASK_ZERO] = {"mask_zero", "masked scores are 0, not -inf",
                   "what a score behind the diagonal is set to: -inf, before the maximum"},
    [HEAD_OF_ONE] = {"head_of_one", "keys are of one head and values of another",
                     "the K/V head of query head h is h / (H / Hkv), for K and for V"},
    [HEAD_OF_GROUP] = {"head_of_group", "query heads read another group's keys and values",
                       "the K/V head of query head h is h / (H / Hkv)"},
    [RESCALE_O] = {"rescale", "O is not rescaled when a later tile raises the maximum",
                   "the accumulator times exp(m_old - m_new)"},
    [RESCALE_L] = {"rescale_sum", "the sum l is not rescaled when a later tile raises the maximum",
                   "l times exp(m_old - m_new)"},
    [RESCALE_BOTH] = {"rescale_both", "neither O nor l is rescaled when the maximum rises",
                      "both times exp(m_old - m_new)"},
    [TAIL_COUNTED] = {"tail_counted", "keys beyond Sk are counted",
                      "the last tile's scores beyond Sk must be -inf, not 0"},
    [TAIL_DROPPED] = {"tail_dropped", "the last keys are left out where a tile is not full",
                      "the number of tiles is rounded up, ceil(Sk/BC)"},
    [TILE_MISSED] = {"tile_missed", "a whole tile of keys is left out",
                     "the bounds of the loop over tiles"},
    [KEY_MISSED] = {"key_missed", "one key is left out", "the bounds of the loop over keys"},
    [SPLIT_MISSED] = {"split_missed", "a part of the keys is left out",
                      "which splits the combination reads"},
    [UNDIVIDED] = {"undivided", "O is not divided by the sum of exponentials", "the final O / l"},
    [VALUES_OF_K] = {"values_of_k", "the values are read from K", "the address of V"},
    [VALUES_SHIFTED] = {"values_shifted", "values and keys do not belong together",
                        "the row of V that a probability is multiplied with"},
    [TILE_STALE] = {"tile_stale", "a tile has the keys or the values of another tile",
                    "which stage of the buffer is read, and the wait before it"},
    [PART_OF_D] = {"part_of_d", "scores are made of a part of D", "the loop over D of Q times K"},
    [COLUMNS] = {"columns", "the elements of a row stand in each other's places",
                 "the column that a register or a lane is stored to"},
    [OTHER_BATCH] = {"other_batch", "every batch reads the first one's keys and values",
                     "the batch stride of K and V"},
    [OTHER_QUERY] = {"other_query", "scores are of the Q of another head or batch",
                     "the head and batch strides of Q"},
    [KEY_TWICE] = {"key_twice", "each tile's first key counts twice",
                   "where one tile ends and the next begins: < or <="},
    [TILE_TWICE] = {"tile_twice", "the last tile of keys counts twice",
                    "the bounds of the loop over tiles, and what comes behind it"},
    [V_TRANSPOSED] = {"v_transposed", "V is read as if it were transposed",
                      "which index of V is the key and which the column, and its stride"},
    [OVER_QUERY_SUMS] = {"over_queries", "probabilities are summed over queries, not over keys",
                         "the axis of the softmax: the sum runs along a row of scores"},
    [NOT_RESET] = {"not_reset", "a row begins with what the row before has left",
                   "m = -inf, l = 0 and O = 0 at the begin of each row or query tile"},
    [OTHER_ROW] = {"other_row", "rows hold the result of other rows",
                   "the address that O is written to, or Q is read from"},
    [ROW_FACTOR] = {"row_factor", "rows are right but for a factor: the sum l is wrong",
                    "how l is reduced over threads and tiles"},
    [ROW_ZERO] = {"row_zero", "rows are zero", "rows that no thread accumulates"},
    [UNWRITTEN] = {"unwritten", "elements are never written", "the bounds of the final store"},
    [EMPTY_NAN] = {"empty_nan", "rows without keys are not 0", "l is 0 there: O is 0, not 0 / 0"},
    [OVERFLOW] = {"overflow", "exponentials overflow or vanish",
                  "the maximum must be subtracted first"},
    [LOW_PRECISION] = {"low_precision", "sums are kept in fewer bits than f32",
                       "accumulate in float, convert once at the end"},
    [CAUSES] = {0},
};

/* ---- what is held against it ---- */

struct world {
    const struct reference *r;
    const struct shape *s;
    struct evaluator e;
    const char *output; /* without guard */
    float *got;         /* scratch: D */
};

static struct world world_new(const struct reference *r, const struct tensors *t,
                              const void *guarded)
{
    const struct shape *s = &r->shape;
    return (struct world){.r = r,
                          .s = s,
                          .e = evaluator_new(s, t),
                          .output = (const char *)guarded + OUTPUT_GUARD_BYTES,
                          .got = xmalloc((size_t)s->D * sizeof(float))};
}

static void world_free(struct world *w)
{
    evaluator_free(&w->e);
    free(w->got);
}

/* The output's row `row` into w->got. */
static const float *got_row(struct world *w, int64_t row)
{
    const struct row_place at = row_place_of(w->s, row);
    const int64_t element = at.b * w->e.sq.b + at.h * w->e.sq.h + at.i * w->e.sq.s;
    dtype_to_float(w->s->dtype, w->output + (size_t)element * dtype_size(w->s->dtype), w->got,
                   (size_t)w->s->D);
    return w->got;
}

/* ---- does it match? ---- */

/* What two right evaluations of values up to `largest` may differ by: the error of the plain one,
 * which grows with the values, and the output's rounding. */
static double slack(const struct reference *r, double largest)
{
    const double grow = r->max > 0 ? fmax(1, largest / r->max) : 1;
    return 3 * r->plain_max * grow + 4 * dtype_epsilon(r->shape.dtype) * largest + 1e-30;
}

static double largest_of(const double *x, int64_t n)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            top = fmax(top, fabs(x[i]));
    return top;
}

static bool matches(const struct reference *r, const float *got, const double *want)
{
    const int64_t D = r->shape.D;
    const double limit = slack(r, largest_of(want, D));
    for (int64_t d = 0; d < D; d++)
        if (!(fabs((double)got[d] - want[d]) <= limit))
            return false;
    return true;
}

/* ---- which rows are wrong ---- */

static int64_t row_at(const struct reference *r, int64_t judged)
{
    return r->rows ? r->rows[judged] : judged;
}

enum row_state { ROW_RIGHT, ROW_WRONG, ROW_NONFINITE, ROW_UNWRITTEN, ROW_ALL_ZERO };

static bool is_unwritten(const struct world *w, int64_t row)
{
    const struct row_place at = row_place_of(w->s, row);
    const size_t size = dtype_size(w->s->dtype);
    const unsigned char *poison = size == 4 ? output_poison_f32 : output_poison_f16;
    const char *from =
        w->output + (size_t)(at.b * w->e.sq.b + at.h * w->e.sq.h + at.i * w->e.sq.s) * size;
    for (int64_t d = 0; d < w->s->D; d++)
        if (memcmp(from + (size_t)d * size, poison, size) == 0)
            return true;
    return false;
}

static enum row_state state_of(struct world *w, int64_t judged)
{
    const double *want = w->r->value + judged * w->s->D;
    const int64_t row = row_at(w->r, judged);
    const float *got = got_row(w, row);
    bool finite = true, zero = true;
    for (int64_t d = 0; d < w->s->D; d++) {
        finite = finite && (isfinite(got[d]) || !isfinite(want[d]));
        zero = zero && got[d] == 0;
    }
    if (is_unwritten(w, row))
        return ROW_UNWRITTEN;
    if (!finite)
        return ROW_NONFINITE;
    if (matches(w->r, got, want))
        return ROW_RIGHT;
    return zero ? ROW_ALL_ZERO : ROW_WRONG;
}

/* The judged rows by state, and the few that hypotheses are tried on, spread over all. */
struct survey {
    unsigned char *state; /* a judged row each */
    int64_t count[ROW_ALL_ZERO + 1];
    int64_t wrong[WRONG_TRIED], right[RIGHT_TRIED]; /* indices among the judged rows */
    int nwrong, nright;
};

/* Up to `want` rows of a state, at equal distances among them. */
static int spread(const struct survey *v, int64_t judged, enum row_state state, int want,
                  int64_t *out)
{
    const int64_t have = v->count[state];
    const int n = have < want ? (int)have : want;
    int64_t seen = 0;
    int taken = 0;
    for (int64_t i = 0; i < judged && taken < n; i++)
        if (v->state[i] == state && seen++ == (n > 1 ? taken * (have - 1) / (n - 1) : 0))
            out[taken++] = i;
    return taken;
}

static struct survey survey_new(struct world *w, int tried)
{
    struct survey v = {0};
    v.state = xmalloc((size_t)(w->r->judged ? w->r->judged : 1));
    for (int64_t i = 0; i < w->r->judged; i++) {
        v.state[i] = (unsigned char)state_of(w, i);
        v.count[v.state[i]]++;
    }
    v.nwrong =
        spread(&v, w->r->judged, ROW_WRONG, tried < WRONG_TRIED ? tried : WRONG_TRIED, v.wrong);
    v.nright = spread(&v, w->r->judged, ROW_RIGHT,
                      tried / 2 < RIGHT_TRIED ? tried / 2 : RIGHT_TRIED, v.right);
    return v;
}

/* ---- trials ---- */

struct verdicts {
    double explained[CAUSES]; /* the best fault of the cause: share of wrong rows explained */
    bool right[CAUSES];       /* and it contradicts no right row */
};

static void note_trial(struct verdicts *v, enum cause_id cause, double explained, bool right)
{
    const double known = v->explained[cause] + (v->right[cause] ? 0.5 : 0);
    if (explained > 0 && explained + (right ? 0.5 : 0) > known) {
        v->explained[cause] = explained;
        v->right[cause] = right;
    }
}

/* A fault, and what it is called. */
struct trial {
    enum cause_id cause;
    struct fault fault;
};

static void try_fault(struct world *w, const struct survey *v, struct verdicts *out,
                      const struct trial *trial)
{
    int fits = 0;
    bool right = true;
    for (int i = 0; i < v->nwrong; i++) {
        const int64_t row = row_at(w->r, v->wrong[i]);
        evaluate(&w->e, &trial->fault, row);
        fits += matches(w->r, got_row(w, row), w->e.o);
        if (i == 3 && fits == 0)
            return; /* hardly the cause of the rest */
    }
    for (int i = 0; i < v->nright && right && fits; i++) {
        const int64_t row = row_at(w->r, v->right[i]);
        evaluate(&w->e, &trial->fault, row);
        right = matches(w->r, got_row(w, row), w->e.o);
    }
    if (v->nwrong)
        note_trial(out, trial->cause, (double)fits / v->nwrong, right);
}

static const int tile_sizes[] = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256};
enum { TILE_SIZES = sizeof tile_sizes / sizeof *tile_sizes };

static void try_simple(struct world *w, const struct survey *v, struct verdicts *out)
{
    const double root = sqrt((double)w->s->D), e = 1.4426950408889634;
    const bool causal = w->s->causal, grouped = w->s->H != w->s->Hkv;
    const struct trial always[] = {
        {SCALE, {.scale = root}},
        {SCALE, {.scale = 1 / root}},
        {SCALE, {.scale = sqrt((double)w->s->D / (double)(w->s->D + 1))}},
        {EXP_BASE, {.scale = e}},
        {EXP_BASE, {.scale = 1 / e}},
        {UNDIVIDED, {.undivided = true}},
        {VALUES_OF_K, {.v_of_k = true}},
        {VALUES_SHIFTED, {.v_shift = 1}},
        {VALUES_SHIFTED, {.v_shift = -1}},
        {KEY_MISSED, {.but_last = 1}},
        {KEY_MISSED, {.keys = KEYS_NOT_FIRST_TILE, .bc = 1}},
        {OTHER_BATCH, {.first_batch = true}},
        {OTHER_QUERY, {.q_head = 1}},
        {OTHER_QUERY, {.q_head = -1}},
        {OTHER_QUERY, {.q_first_batch = true}},
        {V_TRANSPOSED, {.v_transposed = (int)w->s->Sk}},
    };
    const struct trial masks[] = {
        {DIAGONAL, {.mask = MASK_LESS}},
        {DIAGONAL, {.mask = MASK_MORE}},
        {DIAGONAL, {.mask = MASK_MORE_IF_ANY}},
        {MASK_IGNORED, {.mask = MASK_ALL}},
        {MASK_TOP_LEFT, {.mask = MASK_CORNER}},
        {MASK_ZERO, {.mask = MASK_ALL, .masked_zero = true}},
    };
    const struct trial unasked[] = {
        {MASK_UNASKED, {.mask = MASK_CAUSAL}},
        {MASK_UNASKED, {.mask = MASK_CORNER}},
    };
    const struct trial groups[] = {
        {HEAD_OF_GROUP, {.head = HEAD_MODULO}},
        {HEAD_OF_GROUP, {.head = HEAD_CLAMPED}},
        {HEAD_OF_GROUP, {.head = HEAD_FIRST}},
        {HEAD_OF_ONE, {.head = HEAD_MODULO, .head_of = HEAD_OF_V}},
        {HEAD_OF_ONE, {.head = HEAD_CLAMPED, .head_of = HEAD_OF_V}},
        {HEAD_OF_ONE, {.head = HEAD_FIRST, .head_of = HEAD_OF_V}},
        {HEAD_OF_ONE, {.head = HEAD_MODULO, .head_of = HEAD_OF_K}},
        {HEAD_OF_ONE, {.head = HEAD_CLAMPED, .head_of = HEAD_OF_K}},
        {HEAD_OF_ONE, {.head = HEAD_FIRST, .head_of = HEAD_OF_K}},
    };
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (always[i].cause != OTHER_BATCH || w->s->B > 1)
            try_fault(w, v, out, &always[i]);
    for (size_t i = 0; causal && i < sizeof masks / sizeof *masks; i++)
        try_fault(w, v, out, &masks[i]);
    for (size_t i = 0; !causal && i < sizeof unasked / sizeof *unasked; i++)
        try_fault(w, v, out, &unasked[i]);
    for (size_t i = 0; grouped && i < sizeof groups / sizeof *groups; i++)
        try_fault(w, v, out, &groups[i]);
}

/* The scale of a D that is padded, to the next multiple of what tiles are made of. */
static void try_padded_scale(struct world *w, const struct survey *v, struct verdicts *out)
{
    const int64_t D = w->s->D;
    int64_t before = D;
    for (int64_t to = 16; to <= 256; to *= 2) {
        const int64_t padded = (D + to - 1) / to * to;
        const struct trial t = {SCALE, {.scale = sqrt((double)D / (double)padded)}};
        if (padded != D && padded != before)
            try_fault(w, v, out, &t);
        before = padded;
    }
}

/* Faults whose effect depends on the size of a key tile, which is not known here. */
static void try_tiles(struct world *w, const struct survey *v, struct verdicts *out)
{
    for (int i = 0; i < TILE_SIZES; i++) {
        const int bc = tile_sizes[i];
        const struct trial tiled[] = {
            {TAIL_COUNTED, {.keys = KEYS_PADDED, .bc = bc}},
            {TAIL_DROPPED, {.keys = KEYS_FULL_TILES, .bc = bc}},
            {TILE_MISSED, {.keys = KEYS_NOT_LAST_TILE, .bc = bc}},
            {TILE_MISSED, {.keys = KEYS_NOT_FIRST_TILE, .bc = bc}},
            {TILE_MISSED, {.skip = 1, .bc = bc}},
            {TILE_MISSED, {.skip = 2, .bc = bc}},
            {TILE_MISSED, {.skip = 3, .bc = bc}},
            {TILE_STALE, {.stale_k = STALE_ODD, .bc = bc}},
            {TILE_STALE, {.stale_k = STALE_EACH, .bc = bc}},
            {TILE_STALE, {.stale_v = STALE_ODD, .bc = bc}},
            {TILE_STALE, {.stale_v = STALE_EACH, .bc = bc}},
            {TILE_STALE, {.stale_k = STALE_LAST_FIRST, .bc = bc}},
            {TILE_STALE, {.stale_k = STALE_ALL_FIRST, .bc = bc}},
            {TILE_STALE, {.stale_v = STALE_LAST_FIRST, .bc = bc}},
            {TILE_STALE, {.stale_v = STALE_ALL_FIRST, .bc = bc}},
            {KEY_TWICE, {.first_twice = true, .bc = bc}},
            {MASK_TILE, {.mask = MASK_ROUND, .bc = bc}},
            {MASK_ZERO, {.mask = MASK_ROUND, .masked_zero = true, .bc = bc}},
            {TILE_TWICE, {.twice = TWICE_LAST, .bc = bc}},
            {TILE_TWICE, {.twice = TWICE_SEEN, .bc = bc}},
            {V_TRANSPOSED, {.v_transposed = bc}},
        };
        for (size_t k = 0; k < sizeof tiled / sizeof *tiled; k++)
            if (((tiled[k].cause != MASK_TILE && tiled[k].cause != MASK_ZERO) ||
                 (w->s->causal && bc < w->s->Sk)) &&
                bc > 1 && bc < 2 * w->s->Sk)
                try_fault(w, v, out, &tiled[k]);
    }
}

/* What a tile leaves behind depends on the order of the tiles too, and on who combines them. */
static void try_rescaling(struct world *w, const struct survey *v, struct verdicts *out)
{
    for (int i = 0; i < TILE_SIZES * 6; i++) {
        const int bc = tile_sizes[i / 6], splits = 1 << i % 3;
        const bool backward = i % 6 >= 3;
        const struct trial trials[] = {
            {RESCALE_O, {.keep_o = true}},
            {RESCALE_L, {.keep_l = true}},
            {RESCALE_BOTH, {.keep_o = true, .keep_l = true}},
            {RESCALE_O, {.late_o = true}},
            {RESCALE_L, {.late_l = true}},
            {EXP_BASE, {.power = 0.6931471805599453}}, /* the correction alone */
            {EXP_BASE, {.power = 1.4426950408889634}},
        };
        for (size_t k = 0; bc * splits < 2 * w->s->Sk && k < sizeof trials / sizeof *trials; k++) {
            struct trial one = trials[k];
            one.fault.bc = bc;
            one.fault.splits = splits;
            one.fault.backward = backward;
            try_fault(w, v, out, &one);
        }
    }
}

/* What the rows before leave: first whether it fits the second row of a way of going through them, where it
 * is the same for all tiles. */
static void try_carried(struct world *w, const struct survey *v, struct verdicts *out)
{
    static const int steps[] = {1, 16, 32, 64, 128}, tiles[] = {0, 2, 4, 8, 16, 32, 64, 128};
    for (int how = CARRY_ALL; how <= CARRY_MIXED_O; how++)
        for (size_t i = 0; i < sizeof steps / sizeof *steps && steps[i] < w->s->Sq; i++) {
            const struct fault probe = {.carry = how, .carry_step = steps[i], .carry_once = true};
            evaluate(&w->e, &probe, steps[i]);
            if (!matches(w->r, got_row(w, steps[i]), w->e.o))
                continue;
            for (size_t k = 0; k < 2 * sizeof tiles / sizeof *tiles; k++) {
                const struct trial t = {NOT_RESET,
                                        {.carry = how,
                                         .carry_step = steps[i],
                                         .carry_tile = steps[i] == 1 ? tiles[k / 2] : 0,
                                         .carry_once = k % 2}};
                if (k < 2 || t.fault.carry_tile)
                    try_fault(w, v, out, &t);
            }
        }
}

/* It takes all scores of a head, so it is tried where that is little, and further only where the first row fits. */
static void try_over_queries(struct world *w, const struct survey *v, struct verdicts *out)
{
    static const double little = 2e8; /* FLOPs */
    const struct trial t[] = {{OVER_QUERY_SUMS, {.over = OVER_QUERIES}},
                              {OVER_QUERY_SUMS, {.over = OVER_QUERIES_UNDER_MAX}}};
    if (2.0 * (double)w->s->Sq * (double)w->s->Sk * (double)w->s->D > little || !v->nwrong)
        return;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const int64_t row = row_at(w->r, v->wrong[0]);
        evaluate(&w->e, &t[i].fault, row);
        if (matches(w->r, got_row(w, row), w->e.o))
            try_fault(w, v, out, &t[i]);
    }
}

static void try_splits(struct world *w, const struct survey *v, struct verdicts *out)
{
    for (int n = 2; n <= 8; n *= 2) {
        const struct trial part = {SPLIT_MISSED, {.part = 1 - 1.0 / n, .bc = 1}};
        try_fault(w, v, out, &part);
    }
}

/* Is `got` a multiple of `want`? */
static bool is_multiple(const struct reference *r, const float *got, const double *want)
{
    double dot = 0, norm = 0;
    double scaled[1024];
    const int64_t D = r->shape.D;
    for (int64_t d = 0; d < D; d++) {
        dot += (double)got[d] * want[d];
        norm += want[d] * want[d];
    }
    if (!(norm > 0) || D < 4 || D > 1024 || !isfinite(dot))
        return false;
    for (int64_t d = 0; d < D; d++)
        scaled[d] = dot / norm * want[d];
    return fabs(dot / norm - 1) > 1e-3 && matches(r, got, scaled);
}

/* Q times K over a part of D: halves, and D rounded down to what a step takes. */
static void try_parts(struct world *w, const struct survey *v, struct verdicts *out)
{
    const int64_t D = w->s->D, half = D / 2;
    const struct trial halves[] = {
        {PART_OF_D, {.dim_count = half}},
        {PART_OF_D, {.dim_from = half, .dim_count = D - half}},
    };
    for (size_t i = 0; D > 1 && i < sizeof halves / sizeof *halves; i++)
        try_fault(w, v, out, &halves[i]);
    for (int64_t step = 8; step < D; step *= 2)
        if (D % step) {
            const struct trial cut = {PART_OF_D, {.dim_count = D / step * step}};
            try_fault(w, v, out, &cut);
        }
}

/* Are these the row's elements in another order? Rows whose elements are alike say nothing, and neither does one that is
 * off by little: sorted, that looks the same. */
static bool is_permuted(const struct reference *r, const float *got, const double *want)
{
    enum { LEAST = 8, MOST = 1024 };
    static const double apart = 12, moved = 0.25;
    const int64_t D = r->shape.D;
    double a[MOST], b[MOST];
    if (D < LEAST || D > MOST)
        return false;
    const double limit = slack(r, largest_of(want, D));
    double far = 0;
    for (int64_t d = 0; d < D; d++) {
        far = fmax(far, fabs((double)got[d] - want[d]));
        a[d] = (double)got[d];
        b[d] = want[d];
        if (!isfinite(a[d]) || !isfinite(b[d]))
            return false;
    }
    qsort(a, (size_t)D, sizeof *a, number_order);
    qsort(b, (size_t)D, sizeof *b, number_order);
    const double range = b[D - 1] - b[0];
    bool same = range > apart * limit && far > moved * range;
    for (int64_t d = 0; d < D && same; d++)
        same = fabs(a[d] - b[d]) <= limit;
    return same;
}

static void try_columns(struct world *w, const struct survey *v, struct verdicts *out)
{
    int fits = 0;
    for (int i = 0; i < v->nwrong; i++)
        fits += is_permuted(w->r, got_row(w, row_at(w->r, v->wrong[i])),
                            w->r->value + v->wrong[i] * w->s->D);
    if (v->nwrong)
        note_trial(out, COLUMNS, (double)fits / v->nwrong, true);
}

/* Rows that are others' or a multiple of their own. */
static void try_rows(struct world *w, const struct survey *v, struct verdicts *out)
{
    int others = 0, multiples = 0;
    for (int i = 0; i < v->nwrong; i++) {
        const float *got = got_row(w, row_at(w->r, v->wrong[i]));
        bool found = false;
        for (int64_t k = 0; k < w->r->judged && !found; k++)
            found =
                k != v->wrong[i] && w->s->D >= 2 && matches(w->r, got, w->r->value + k * w->s->D);
        others += found;
        multiples += is_multiple(w->r, got, w->r->value + v->wrong[i] * w->s->D);
    }
    if (v->nwrong) {
        note_trial(out, OTHER_ROW, (double)others / v->nwrong, true);
        note_trial(out, ROW_FACTOR, (double)multiples / v->nwrong, true);
    }
}

/* ---- rows that are not even numbers, or none at all ---- */

static double largest_score(struct world *w, int64_t row)
{
    const struct fault none = {0};
    const int64_t keys = shape_row_keys(w->s, row_place_of(w->s, row).i);
    double top = -INFINITY;
    evaluate(&w->e, &none, row);
    for (int64_t j = 0; j < keys; j++)
        top = fmax(top, w->e.scores[j]);
    return top;
}

/* Beyond these, exp of a score that nothing is subtracted from loses bits, and is infinite or 0. */
static const double exp_wears = 70, exp_breaks = 95;

static void judge_overflow(struct world *w, const struct survey *v, struct verdicts *out)
{
    int64_t high = 0, tried = 0;
    bool right = true;
    for (int64_t i = 0; i < w->r->judged && tried < WRONG_TRIED; i++)
        if (v->state[i] == ROW_NONFINITE || v->state[i] == ROW_WRONG ||
            v->state[i] == ROW_ALL_ZERO) {
            const double top = largest_score(w, row_at(w->r, i));
            tried++;
            high += !isinf(top) && fabs(top) > exp_wears;
        }
    for (int i = 0; i < v->nright && high && right; i++) {
        const double top = largest_score(w, row_at(w->r, v->right[i]));
        right = isinf(top) || fabs(top) < exp_breaks;
    }
    if (tried)
        note_trial(out, OVERFLOW, (double)high / (double)tried, right);
}

static void judge_states(struct world *w, const struct survey *v, struct verdicts *out)
{
    int64_t empty = 0, off = 0;
    for (int64_t i = 0; i < w->r->judged; i++)
        if (v->state[i] == ROW_NONFINITE || v->state[i] == ROW_WRONG) {
            off++;
            empty += shape_row_keys(w->s, row_place_of(w->s, row_at(w->r, i)).i) == 0;
        }
    if (off)
        note_trial(out, EMPTY_NAN, (double)empty / (double)off, true);
    const int64_t wrong = w->r->judged - v->count[ROW_RIGHT];
    if (wrong) {
        note_trial(out, UNWRITTEN, (double)v->count[ROW_UNWRITTEN] / (double)wrong, true);
        note_trial(out, ROW_ZERO, (double)v->count[ROW_ALL_ZERO] / (double)wrong, true);
    }
}

/* ---- errors too small for a fault in the algorithm ---- */

/* The root of the mean square error of the judged rows that are numbers, over that of rounding. */
static double error_over_rounding(struct world *w, const struct survey *v)
{
    double sum = 0, n = 0;
    for (int64_t i = 0; i < w->r->judged; i++) {
        if (v->state[i] == ROW_NONFINITE || v->state[i] == ROW_UNWRITTEN)
            continue;
        const float *got = got_row(w, row_at(w->r, i));
        for (int64_t d = 0; d < w->s->D; d++) {
            const double e = (double)got[d] - w->r->value[i * w->s->D + d];
            if (isfinite(e)) {
                sum += e * e;
                n++;
            }
        }
    }
    const double unit = w->s->dtype == DTYPE_F32 ? w->r->plain_rms : w->r->rounding_rms;
    return n > 0 && unit > 0 ? sqrt(sum / n) / unit : NAN;
}

/* Many small errors everywhere, none large: the arithmetic, not the algorithm. */
static void judge_precision(struct world *w, const struct survey *v, struct verdicts *out)
{
    const double over = error_over_rounding(w, v);
    const double limit = w->s->dtype == DTYPE_F32 ? 3e4 : 60;
    const bool small = over > 1.2 && over < limit;
    if (small && !v->count[ROW_NONFINITE] && !v->count[ROW_UNWRITTEN] && !v->count[ROW_ALL_ZERO])
        note_trial(out, LOW_PRECISION, v->count[ROW_WRONG] ? 0.6 : 0.9, true);
}

/* ---- the map ---- */

static void draw_map(struct diagnosis *out, const struct reference *r, const struct survey *v)
{
    const struct shape *s = &r->shape;
    const size_t cells = (size_t)(out->heads * out->tiles);
    int *judged = xcalloc(cells, sizeof *judged), *wrong = xcalloc(cells, sizeof *wrong);
    out->share = xmalloc(cells * sizeof *out->share);
    for (int64_t i = 0; i < r->judged; i++) {
        const int64_t row = row_at(r, i);
        const size_t cell = (size_t)(row / s->Sq * out->tiles + row % s->Sq / out->tile_rows);
        judged[cell]++;
        wrong[cell] += v->state[i] != ROW_RIGHT;
    }
    for (size_t i = 0; i < cells; i++)
        out->share[i] = judged[i] ? (float)wrong[i] / (float)judged[i] : NAN;
    free(judged);
    free(wrong);
}

static int64_t map_tile_rows(const struct shape *s, int64_t wanted)
{
    if (wanted > 0)
        return wanted;
    int64_t rows = 64;
    while (rows > 1 && s->Sq / rows < PATTERN_TILES)
        rows /= 2;
    return rows;
}

/* What the wrong rows have in common, if they are not just everywhere. */
static char *find_pattern(const struct reference *r, const struct survey *v)
{
    const struct shape *s = &r->shape;
    int64_t low = s->Sq, high = -1, hlow = s->H, hhigh = -1, wrong = 0, other = 0;
    for (int64_t i = 0; i < r->judged; i++) {
        const struct row_place at = row_place_of(s, row_at(r, i));
        if (v->state[i] == ROW_RIGHT)
            continue;
        wrong++;
        low = at.i < low ? at.i : low;
        high = at.i > high ? at.i : high;
        hlow = at.h < hlow ? at.h : hlow;
        hhigh = at.h > hhigh ? at.h : hhigh;
    }
    for (int64_t i = 0; i < r->judged; i++) {
        const struct row_place at = row_place_of(s, row_at(r, i));
        other += v->state[i] == ROW_RIGHT && at.i >= low && at.i <= high && at.h >= hlow &&
                 at.h <= hhigh;
    }
    const bool all_rows = low == 0 && high == s->Sq - 1, all_heads = hlow == 0 && hhigh == s->H - 1;
    if (!wrong || (all_rows && all_heads))
        return NULL;
    char heads[64] = "of every head";
    if (!all_heads)
        snprintf(heads, sizeof heads, hlow == hhigh ? "of head %lld" : "of heads %lld..%lld",
                 (long long)hlow, (long long)hhigh);
    if (all_rows)
        return xasprintf("%srows %s", other ? "some " : "all ", heads);
    const char *some = other ? "some of " : "";
    if (low == high)
        return xasprintf("%srow %lld %s", some, (long long)low, heads);
    return xasprintf("%srows %lld..%lld %s", some, (long long)low, (long long)high, heads);
}

/* ---- the likeliest ---- */

static double weight(const struct verdicts *v, int cause)
{
    return v->explained[cause] * (v->right[cause] ? 1 : 0.25);
}

/* Causes that say no more than another that explains as much: a factor, a row of another. */
static bool is_vague(int cause)
{
    return cause == ROW_FACTOR || cause == OTHER_ROW || cause == LOW_PRECISION ||
           cause == KEY_MISSED || cause == SPLIT_MISSED;
}

static void rank(struct diagnosis *out, const struct verdicts *v, const struct survey *sv)
{
    bool used[CAUSES] = {false};
    while (out->nsuspects < DIAGNOSE_SUSPECTS) {
        int best = -1;
        for (int c = 0; c < CAUSES; c++)
            if (!used[c] && weight(v, c) > 0.2 &&
                (best < 0 || weight(v, c) > weight(v, best) + 1e-9 ||
                 (weight(v, c) > weight(v, best) - 1e-9 && is_vague(best) && !is_vague(c))))
                best = c;
        if (best < 0)
            break;
        used[best] = true;
        out->suspects[out->nsuspects++] =
            (struct suspect){.cause = &diagnose_causes[best], .explained = v->explained[best]};
    }
    if (!out->nsuspects)
        return;
    struct suspect *first = &out->suspects[0];
    const int cause = (int)(first->cause - diagnose_causes);
    const bool alone =
        out->nsuspects == 1 || out->suspects[1].explained < 0.999 ||
        (!is_vague(cause) && is_vague((int)(out->suspects[1].cause - diagnose_causes)));
    first->certain = first->explained > 0.999 && v->right[cause] && alone && !is_vague(cause) &&
                     sv->nwrong + sv->count[ROW_UNWRITTEN] + sv->count[ROW_NONFINITE] +
                             sv->count[ROW_ALL_ZERO] >=
                         2;
}

/* Rows that all trials together can afford. */
static int affordable(const struct shape *s)
{
    const double row = 4.0 * (double)s->Sk * (double)s->D, trials = 60 + 58 * TILE_SIZES / 4;
    const double n = flops_max / trials / row / 1.5;
    return n < 4 ? 4 : n > WRONG_TRIED ? WRONG_TRIED : (int)n;
}

enum status diagnose(const struct reference *r, const struct problem *p, const struct tensors *t,
                     const void *guarded_output, int64_t tile_rows, struct diagnosis *out,
                     struct err *err)
{
    struct world w = world_new(r, t, guarded_output);
    struct survey sv = survey_new(&w, affordable(&p->shape));
    struct verdicts v = {0};
    *out = (struct diagnosis){.judged = r->judged, .first = -1, .heads = p->shape.B * p->shape.H};
    out->tile_rows = map_tile_rows(&p->shape, tile_rows);
    out->tiles = (p->shape.Sq + out->tile_rows - 1) / out->tile_rows;
    out->wrong = r->judged - sv.count[ROW_RIGHT];
    for (int64_t i = 0; i < r->judged && out->first < 0; i++)
        if (sv.state[i] != ROW_RIGHT)
            out->first = row_at(r, i);
    draw_map(out, r, &sv);
    out->pattern = find_pattern(r, &sv);
    judge_states(&w, &sv, &v);
    judge_overflow(&w, &sv, &v);
    judge_precision(&w, &sv, &v);
    try_simple(&w, &sv, &v);
    try_padded_scale(&w, &sv, &v);
    try_tiles(&w, &sv, &v);
    try_rescaling(&w, &sv, &v);
    try_splits(&w, &sv, &v);
    try_carried(&w, &sv, &v);
    try_over_queries(&w, &sv, &v);
    try_parts(&w, &sv, &v);
    try_columns(&w, &sv, &v);
    try_rows(&w, &sv, &v);
    if (v.explained[OTHER_ROW] >
        0.999) /* heads of one group: nobody can tell Q's address from O's */
        v.explained[OTHER_QUERY] = 0;
    rank(out, &v, &sv);
    free(sv.state);
    world_free(&w);
    if (!out->wrong && !out->nsuspects)
        return err_set(err, ST_NO, "no row is off by more than rounding may be");
    return ST_OK;
}

void diagnosis_clear(struct diagnosis *d)
{
    free(d->share);
    free(d->pattern);
    *d = (struct diagnosis){0};
}

int64_t diagnose_tile_rows(const struct shape *s)
{
    const int64_t heads = s->B * s->H, usual = map_tile_rows(s, 0);
    const int64_t tiles = heads < DIAGNOSE_CELLS ? DIAGNOSE_CELLS / heads : 1;
    const int64_t most = tiles < 256 ? tiles : 256, rows = (s->Sq + most - 1) / most;
    return rows > usual ? rows : usual;
}
