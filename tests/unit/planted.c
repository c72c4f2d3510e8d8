/* planted.c - see planted.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "planted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"

/* ---- random numbers ---- */

static uint64_t rng_state = 20261120;

uint64_t rnd(void)
{
    uint64_t z = (rng_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t rnd_in(int64_t lo, int64_t hi)
{
    return lo + (int64_t)(rnd() % (uint64_t)(hi - lo + 1));
}

/* ---- faults ---- */

const char *const fault_names[FAULTS] = {
    [NONE] = "none",
    [LAST_KEY] = "last key missing",
    [CAUSAL_MORE] = "causal mask shows one key too many",
    [CAUSAL_LESS] = "causal mask shows one key too few",
    [TOP_LEFT] = "causal mask aligned top-left",
    [NO_RESCALE] = "O not rescaled when the maximum moves",
    [NO_RESCALE_SUM] = "sum not rescaled when the maximum moves",
    [NO_MAX] = "no maximum subtracted",
    [HALF_ACCUMULATOR] = "O accumulated in 16 bits",
    [COARSE_P] = "P rounded to 8 bits of mantissa (f16), 5 (bf16)",
    [WRONG_SCALE] = "scaled by 1/sqrt(D+1)",
    [ROW_ZERO] = "one row zero",
    [ROW_SWAP] = "two rows exchanged",
    [UNWRITTEN] = "one element unwritten",
    [UNWRITTEN_ROWS] = "last row unwritten",
    [GQA_SWAP] = "query heads mapped to the wrong K/V head",
    [DOUBLE_KEY] = "one key counted twice",
    [V_SHIFT] = "V shifted by one row",
    [RAGGED] = "last tile not masked",
    [SPLIT_LOST] = "one split lost",
    [NO_DIVISION] = "final division forgotten",
    [TF32] = "inputs cut to 10 bits of mantissa (f32)",
    [WRITE_AFTER] = "write beyond the end",
    [WRITE_BEFORE] = "write before the start",
    [NAN_EMPTY] = "NaN in rows without keys",
    [INF_ELEMENT] = "one element infinite",
};

/* Every operation is rounded to float, unless exact. */
static double f(const struct sim *s, double x)
{
    return s->exact ? x : (double)(float)x;
}

double to_type(enum dtype t, double x)
{
    return t == DTYPE_F16    ? (double)f16_to_float(f16_from_double(x))
           : t == DTYPE_BF16 ? (double)bf16_to_float(bf16_from_double(x))
                             : (double)(float)x;
}

static double cut_bits(double x, int bits)
{
    int e;
    double m = frexp(x, &e);
    return ldexp(rint(ldexp(m, bits)), e - bits);
}

static double input_of(const struct sim *s, float x)
{
    return s->fault == TF32 ? cut_bits((double)x, 11) : (double)x;
}

static double score(const struct sim *s, const float *q, const float *k)
{
    const struct shape *sh = &s->p->shape;
    double part[16] = {0};
    for (int64_t d = 0; d < sh->D; d++) {
        double *to = &part[d % s->how.lanes];
        *to = f(s, *to + input_of(s, q[d]) * input_of(s, k[d]));
    }
    for (int i = 1; i < s->how.lanes; i++)
        part[0] = f(s, part[0] + part[i]);
    double D = (double)sh->D + (s->fault == WRONG_SCALE);
    double scale = (double)(float)(1 / sqrt(D));
    return f(s, part[0] * (s->how.base2 ? f(s, scale * 1.4426950408889634) : scale));
}

static double power(const struct sim *s, double x)
{
    return f(s, s->how.base2 ? exp2(x) : exp(x));
}

/* One split of one row: unnormalised o, and (m, l). */
struct part {
    double m, l, o[64];
};

static int64_t keys_of(const struct sim *s, int64_t i)
{
    const struct shape *sh = &s->p->shape;
    int64_t keys = shape_row_keys(sh, i);
    if (s->fault == TOP_LEFT)
        keys = i + 1 < sh->Sk ? i + 1 : sh->Sk;
    if (s->fault == CAUSAL_MORE && keys < sh->Sk && keys > 0)
        keys++;
    if ((s->fault == CAUSAL_LESS || s->fault == LAST_KEY) && keys > 1)
        keys--;
    return keys;
}

static void one_tile(const struct sim *s, struct part *t, const float *q, int64_t head,
                     int64_t from, int64_t to, int64_t keys)
{
    const struct shape *sh = &s->p->shape;
    double sc[256], top = t->m;
    bool ragged = s->fault == RAGGED && to == keys && keys == sh->Sk && keys % s->how.bc;
    int64_t end = ragged ? from + s->how.bc : to;
    for (int64_t j = from; j < end; j++) {
        sc[j - from] = j < keys ? score(s, q, s->k + (head * sh->Sk + j) * sh->D) : 0;
        top = fmax(top, sc[j - from]);
    }
    if (s->fault == NO_MAX)
        top = 0;
    double shrink = isinf(t->m) ? 0 : power(s, f(s, t->m - top));
    double shrink_o = s->fault == NO_RESCALE && !isinf(t->m) ? 1 : shrink;
    t->l = f(s, t->l * (s->fault == NO_RESCALE_SUM && !isinf(t->m) ? 1 : shrink));
    t->m = top;
    for (int64_t d = 0; d < sh->D; d++)
        t->o[d] = f(s, t->o[d] * shrink_o);
    for (int64_t j = from; j < end; j++) {
        double p = power(s, f(s, sc[j - from] - top));
        if (s->fault == DOUBLE_KEY && j == s->victim % keys)
            p *= 2;
        t->l = f(s, t->l + p);
        if (s->fault == COARSE_P)
            p = cut_bits(p, sh->dtype == DTYPE_F16 ? 8 : 5);
        else if (s->how.rounded_p && !s->exact)
            p = to_type(sh->dtype, p);
        if (j >= keys)
            continue;
        int64_t row = s->fault == V_SHIFT ? (j + 1) % sh->Sk : j;
        const float *v = s->v + (head * sh->Sk + row) * sh->D;
        for (int64_t d = 0; d < sh->D; d++) {
            t->o[d] = f(s, t->o[d] + p * input_of(s, v[d]));
            if (s->fault == HALF_ACCUMULATOR)
                t->o[d] = to_type(sh->dtype, t->o[d]);
        }
    }
}

static void one_split(const struct sim *s, struct part *t, const float *q, int64_t head,
                      int64_t from, int64_t to, int64_t keys)
{
    int64_t bc = s->how.bc, tiles = (to - from + bc - 1) / bc;
    *t = (struct part){.m = -INFINITY};
    for (int64_t i = 0; i < tiles; i++) {
        int64_t at = from + (s->how.backward ? tiles - 1 - i : i) * bc;
        one_tile(s, t, q, head, at, at + bc < to ? at + bc : to, keys);
    }
}

/* One output row, split by split. */
static void one_row(const struct sim *s, int64_t head, int64_t kv_head, int64_t i, double *out)
{
    const struct shape *sh = &s->p->shape;
    int64_t keys = keys_of(s, i), splits = s->how.splits, bc = s->how.bc;
    int64_t per = ((keys + splits - 1) / splits + bc - 1) / bc * bc;
    const float *q = s->q + (head * sh->Sq + i) * sh->D;
    struct part parts[4];
    double top = -INFINITY, l = 0;
    int n = 0;
    for (int64_t at = 0; at < keys; at += per, n++) {
        one_split(s, &parts[n], q, kv_head, at, at + per < keys ? at + per : keys, keys);
        top = fmax(top, parts[n].m);
    }
    memset(out, 0, (size_t)sh->D * sizeof *out);
    for (int c = 0; c < n; c++) {
        if (s->fault == SPLIT_LOST && c == n - 1 && n > 1)
            break;
        double w = power(s, f(s, parts[c].m - top));
        l = f(s, l + w * parts[c].l);
        for (int64_t d = 0; d < sh->D; d++)
            out[d] = f(s, out[d] + w * parts[c].o[d]);
    }
    if (keys == 0 && s->fault == NAN_EMPTY)
        l = 0;
    else if (keys == 0 || s->fault == NO_DIVISION)
        l = 1;
    for (int64_t d = 0; d < sh->D; d++)
        out[d] = f(s, out[d] / l);
}

static int64_t kv_head_of(const struct sim *s, int64_t b, int64_t h)
{
    const struct shape *sh = &s->p->shape;
    return b * sh->Hkv + (s->fault == GQA_SWAP ? h % sh->Hkv : h / (sh->H / sh->Hkv));
}

/* The whole output, rows in logical order. */
void simulate(const struct sim *s, double *out)
{
    const struct shape *sh = &s->p->shape;
    int64_t rows = sh->B * sh->H * sh->Sq;
    for (int64_t head = 0; head < sh->B * sh->H; head++)
        for (int64_t i = 0; i < sh->Sq; i++)
            one_row(s, head, kv_head_of(s, head / sh->H, head % sh->H), i,
                    out + (head * sh->Sq + i) * sh->D);
    double *row = out + s->victim % rows * sh->D;
    if (s->fault == ROW_ZERO)
        memset(row, 0, (size_t)sh->D * sizeof *out);
    if (s->fault == INF_ELEMENT)
        row[0] = -INFINITY;
    if (s->fault == ROW_SWAP) {
        double *other = out + (s->victim + 1) % rows * sh->D;
        for (int64_t d = 0; d < sh->D; d++) {
            double x = row[d];
            row[d] = other[d];
            other[d] = x;
        }
    }
}

/* ---- problems ---- */

static float *logical(const struct shape *s, const void *from, int64_t heads, int64_t rows)
{
    struct strides st = shape_strides(s, heads, rows);
    float *to = xmalloc((size_t)(s->B * heads * rows * s->D) * sizeof *to), *at = to;
    for (int64_t b = 0; b < s->B; b++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t d = 0; d < s->D; d++)
                    *at++ = (float)dtype_get(s->dtype, from,
                                             (size_t)(b * st.b + h * st.h + i * st.s + d));
    return to;
}

struct bench bench_new(const struct problem *p, double max_flops)
{
    struct bench b = {.p = *p};
    struct err err = ERR_INIT;
    const struct shape *s = &p->shape;
    if (tensors_make(p, &b.t, &err) != ST_OK ||
        reference_new(p, &b.t, NULL, max_flops, &b.ref, &err) != ST_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    b.q = logical(s, b.t.q, s->H, s->Sq);
    b.k = logical(s, b.t.k, s->Hkv, s->Sk);
    b.v = logical(s, b.t.v, s->Hkv, s->Sk);
    b.bytes = shape_q_elems(s) * dtype_size(s->dtype);
    b.guarded = xmalloc(b.bytes + 2 * OUTPUT_GUARD_BYTES);
    b.out = xmalloc(shape_q_elems(s) * sizeof *b.out);
    return b;
}

void bench_free(struct bench *b)
{
    tensors_free(&b->t);
    reference_free(b->ref);
    free(b->q);
    free(b->k);
    free(b->v);
    free(b->guarded);
    free(b->out);
}

/* As a backend does before a run. */
void poison(struct bench *b)
{
    size_t size = dtype_size(b->p.shape.dtype);
    const unsigned char *with = size == 4 ? output_poison_f32 : output_poison_f16;
    memset(b->guarded, output_guard_byte, b->bytes + 2 * OUTPUT_GUARD_BYTES);
    for (size_t i = 0; i < b->bytes; i += size)
        memcpy(b->guarded + OUTPUT_GUARD_BYTES + i, with, size);
}

static bool leaves_poison(const struct sim *s, int64_t row, int64_t d)
{
    const struct shape *sh = &s->p->shape;
    int64_t rows = sh->B * sh->H * sh->Sq;
    if (s->fault == UNWRITTEN)
        return row * sh->D + d == s->victim % (rows * sh->D);
    return s->fault == UNWRITTEN_ROWS && row % sh->Sq == sh->Sq - 1;
}

/* Writes b->out, rounded, in the shape's layout. */
void write_output(struct bench *b, const struct sim *s)
{
    const struct shape *sh = &b->p.shape;
    struct strides st = shape_strides(sh, sh->H, sh->Sq);
    char *to = b->guarded + OUTPUT_GUARD_BYTES;
    poison(b);
    for (int64_t row = 0; row < sh->B * sh->H * sh->Sq; row++) {
        int64_t head = row / sh->Sq;
        int64_t at = head / sh->H * st.b + head % sh->H * st.h + row % sh->Sq * st.s;
        for (int64_t d = 0; d < sh->D; d++)
            if (!leaves_poison(s, row, d))
                dtype_set(sh->dtype, to, (size_t)(at + d), b->out[row * sh->D + d]);
    }
    if (s->fault == WRITE_AFTER)
        to[b->bytes + (size_t)(s->victim % OUTPUT_GUARD_BYTES)] ^= 1;
    if (s->fault == WRITE_BEFORE)
        to[-1 - s->victim % OUTPUT_GUARD_BYTES] ^= 1;
}

struct sim sim_of(const struct bench *b, struct variant how, enum fault fault)
{
    return (struct sim){.p = &b->p,
                        .q = b->q,
                        .k = b->k,
                        .v = b->v,
                        .how = how,
                        .fault = fault,
                        .victim = rnd_in(0, 1 << 20)};
}

/* Runs and judges; returns whether it passed. */
bool run_and_judge(struct bench *b, const struct sim *s, struct run_row *row)
{
    simulate(s, b->out);
    write_output(b, s);
    verify_output(b->ref, b->guarded, NULL, row);
    return strcmp(row->check, "pass") == 0;
}

struct variant random_variant(const struct shape *s)
{
    static const int widths[] = {1, 4, 16, 32}, lanes[] = {1, 4, 16};
    return (struct variant){
        .bc = widths[rnd_in(0, 3)],
        .splits = rnd_in(0, 2) ? 1 : (int)rnd_in(2, 4),
        .backward = rnd_in(0, 3) == 0,
        .base2 = rnd_in(0, 1),
        .rounded_p = s->dtype != DTYPE_F32 && rnd_in(0, 3) != 0,
        .lanes = lanes[rnd_in(0, 2)],
    };
}

/* One size in 32 is beyond the 4096 elements under which luck is allowed for. */
struct problem random_problem(void)
{
    static const int64_t dims[] = {1, 2, 3, 4, 8, 8, 16, 16, 17, 32};
    struct problem p = PROBLEM_DEFAULT;
    struct shape *s = &p.shape;
    bool big = rnd_in(0, 31) == 0;
    s->B = rnd_in(0, 7) ? 1 : 2;
    s->Hkv = rnd_in(0, 3) ? 1 : 2;
    s->H = s->Hkv * (rnd_in(0, 3) ? 1 : 2);
    s->hkv_given = true;
    s->Sq = big ? rnd_in(40, 90) : rnd_in(1, 14);
    s->Sk = rnd_in(0, 7) ? rnd_in(1, 20) : rnd_in(1, 80);
    s->D = big ? rnd_in(24, 64) : dims[rnd_in(0, 9)];
    s->dtype = (enum dtype)rnd_in(0, DTYPE_COUNT - 1);
    s->causal = rnd_in(0, 1);
    s->layout = (enum layout)rnd_in(0, LAYOUT_COUNT - 1);
    p.input = (enum input_kind)rnd_in(0, INPUT_FILES - 1);
    p.seed = rnd();
    return p;
}

void describe(const struct problem *p, const struct variant *v, const struct run_row *row)
{
    char shape[200];
    shape_format(&p->shape, shape, sizeof shape);
    printf(
        "# %s input=%s seed=%llu bc=%d splits=%d backward=%d base2=%d rounded_p=%d lanes=%d: %s\n",
        shape, input_names[p->input], (unsigned long long)p->seed, v->bc, v->splits, v->backward,
        v->base2, v->rounded_p, v->lanes, row->reason ? row->reason : "pass");
}

/* Can this fault be planted here at all? */
bool applies(enum fault fault, const struct shape *s, const struct variant *v)
{
    switch (fault) {
    case CAUSAL_MORE:
    case CAUSAL_LESS:
        return s->causal;
    case TOP_LEFT:
        return s->causal && s->Sq != s->Sk;
    case HALF_ACCUMULATOR:
    case COARSE_P:
        return s->dtype != DTYPE_F32;
    case TF32:
        return s->dtype == DTYPE_F32;
    case GQA_SWAP:
        return s->Hkv > 1 && s->H > s->Hkv;
    case RAGGED:
        return s->Sk % v->bc != 0;
    case SPLIT_LOST:
        return v->splits > 1;
    case NAN_EMPTY:
        return s->causal && s->Sq > s->Sk;
    default:
        return fault != NONE;
    }
}

bool always_visible(enum fault fault)
{
    return fault == UNWRITTEN || fault == UNWRITTEN_ROWS || fault == WRITE_AFTER ||
           fault == WRITE_BEFORE || fault == NAN_EMPTY || fault == INF_ELEMENT;
}

/* Rounding-like faults: only a large sample can tell them from luck, so they get one. */
bool is_subtle(enum fault fault)
{
    return fault == HALF_ACCUMULATOR || fault == COARSE_P;
}

struct problem subtle_problem(void)
{
    struct problem p = random_problem();
    p.shape.B = p.shape.H = p.shape.Hkv = 1;
    p.shape.Sq = rnd_in(90, 110);
    p.shape.Sk = rnd_in(90, 110);
    p.shape.D = 64;
    return p;
}

/* Does the fault move the result by more than rounding may? Decided without the check under test:
 * the fault is played in double, and its effect compared with the roundoff of the type. */
bool is_visible(struct bench *b, const struct sim *faulty)
{
    if (always_visible(faulty->fault))
        return true;
    size_t n = shape_q_elems(&b->p.shape);
    enum dtype type = b->p.shape.dtype;
    double *right = xmalloc(n * sizeof *right);
    struct sim s = *faulty;
    s.exact = faulty->fault != NO_MAX; /* that one shows only in float */
    simulate(&s, b->out);
    s.exact = true;
    s.fault = NONE;
    simulate(&s, right);
    double moved = 0, size = 0, rounding = 0;
    for (size_t i = 0; i < n; i++) {
        double e = to_type(type, right[i]) - right[i];
        moved += isfinite(b->out[i]) ? (b->out[i] - right[i]) * (b->out[i] - right[i]) : INFINITY;
        size = fmax(size, fabs(right[i]));
        rounding += e * e;
    }
    free(right);
    if (is_subtle(faulty->fault))
        return moved > 16 * rounding;
    /* In f32 the scores, up to 100, bring roundoffs of their own. */
    double roundoffs = type == DTYPE_F32 ? 512 : 8;
    return sqrt(moved / (double)n) > roundoffs * dtype_epsilon(type) / 2 * size;
}
