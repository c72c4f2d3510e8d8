/* test_verify.c - calibration of the check: right kernels pass, planted faults never do.
 *
 * A simulated kernel, written independently of the reference, computes attention in float32 the
 * way real kernels do - tiles in various orders, online softmax, split K/V, exp or exp2, P rounded
 * or not - and can be told to make one of many classical mistakes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "measure/reference.h"
#include "measure/verify.h"
#include "tap.h"

/* ---- random numbers ---- */

static uint64_t rng_state = 20261120;

static uint64_t rnd(void)
{
    uint64_t z = (rng_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t rnd_in(int64_t lo, int64_t hi)
{
    return lo + (int64_t)(rnd() % (uint64_t)(hi - lo + 1));
}

/* ---- faults ---- */

enum fault {
    NONE,
    LAST_KEY,
    CAUSAL_MORE,
    CAUSAL_LESS,
    TOP_LEFT,
    NO_RESCALE,
    NO_RESCALE_SUM,
    NO_MAX,
    HALF_ACCUMULATOR,
    COARSE_P,
    WRONG_SCALE,
    ROW_ZERO,
    ROW_SWAP,
    UNWRITTEN,
    UNWRITTEN_ROWS,
    GQA_SWAP,
    DOUBLE_KEY,
    V_SHIFT,
    RAGGED,
    SPLIT_LOST,
    NO_DIVISION,
    TF32,
    WRITE_AFTER,
    WRITE_BEFORE,
    NAN_EMPTY,
    INF_ELEMENT,
    FAULTS
};

static const char *const fault_names[FAULTS] = {
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

/* How a right kernel may go about it. */
struct variant {
    int bc;         /* keys per tile */
    int splits;     /* split K/V, combined by log-sum-exp */
    bool backward;  /* last tile first */
    bool base2;     /* exp2, log2 e folded into the scale */
    bool rounded_p; /* P in the tensor's type, as tensor cores want it */
    int lanes;      /* partial sums of a dot product */
};

struct sim {
    const struct problem *p;
    const float *q, *k, *v; /* logical order (b, h, s, d) */
    struct variant how;
    enum fault fault;
    int64_t victim; /* row, element or key that the fault hits */
    bool exact;     /* in double: to see what the fault alone does */
};

/* Every operation is rounded to float, unless exact. */
static double f(const struct sim *s, double x)
{
    return s->exact ? x : (double)(float)x;
}

static double to_type(enum dtype t, double x)
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
static void simulate(const struct sim *s, double *out)
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

struct bench {
    struct problem p;
    struct tensors t;
    float *q, *k, *v; /* logical order */
    size_t bytes;     /* of the output */
    char *guarded;
    double *out;
    struct reference *ref;
};

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

static struct bench bench_new(const struct problem *p, double max_flops)
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

static void bench_free(struct bench *b)
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
static void poison(struct bench *b)
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
static void write_output(struct bench *b, const struct sim *s)
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

static struct sim sim_of(const struct bench *b, struct variant how, enum fault fault)
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
static bool run_and_judge(struct bench *b, const struct sim *s, struct run_row *row)
{
    simulate(s, b->out);
    write_output(b, s);
    verify_output(b->ref, b->guarded, NULL, row);
    return strcmp(row->check, "pass") == 0;
}

static struct variant random_variant(const struct shape *s)
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
static struct problem random_problem(void)
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

static void describe(const struct problem *p, const struct variant *v, const struct run_row *row)
{
    char shape[200];
    shape_format(&p->shape, shape, sizeof shape);
    printf(
        "# %s input=%s seed=%llu bc=%d splits=%d backward=%d base2=%d rounded_p=%d lanes=%d: %s\n",
        shape, input_names[p->input], (unsigned long long)p->seed, v->bc, v->splits, v->backward,
        v->base2, v->rounded_p, v->lanes, row->reason ? row->reason : "pass");
}

/* ---- the two calibrations ---- */

/* The plain build counts; a sanitized one looks for wrong accesses, and fewer shapes show those. */
#if defined(__SANITIZE_ADDRESS__)
enum { SHARE = 5 };
#else
enum { SHARE = 1 };
#endif

static void test_right_kernels_pass(void)
{
    enum { SHAPES = 20000 / SHARE, ALLOWED = 1 }; /* less than once in 10^4 */
    int failed = 0;
    struct run_row row;
    record_init(run_fields, &row);
    for (int i = 0; i < SHAPES; i++) {
        struct problem p = random_problem();
        struct bench b = bench_new(&p, 0);
        struct sim s = sim_of(&b, random_variant(&p.shape), NONE);
        if (!run_and_judge(&b, &s, &row)) {
            describe(&p, &s.how, &row);
            failed++;
        }
        bench_free(&b);
    }
    record_clear(run_fields, &row);
    printf("# %d of %d random shapes raised a false alarm\n", failed, SHAPES);
    CU_ASSERT(failed <= ALLOWED);
}

/* Can this fault be planted here at all? */
static bool applies(enum fault fault, const struct shape *s, const struct variant *v)
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

static bool always_visible(enum fault fault)
{
    return fault == UNWRITTEN || fault == UNWRITTEN_ROWS || fault == WRITE_AFTER ||
           fault == WRITE_BEFORE || fault == NAN_EMPTY || fault == INF_ELEMENT;
}

/* Rounding-like faults: only a large sample can tell them from luck, so they get one. */
static bool is_subtle(enum fault fault)
{
    return fault == HALF_ACCUMULATOR || fault == COARSE_P;
}

static struct problem subtle_problem(void)
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
static bool is_visible(struct bench *b, const struct sim *faulty)
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

struct tally {
    int planted, caught, invisible;
};

static void plant(enum fault fault, struct tally *t)
{
    struct problem p = is_subtle(fault) ? subtle_problem() : random_problem();
    struct variant v = random_variant(&p.shape);
    if (fault == NO_MAX)
        p.input = INPUT_LARGE;
    if (!applies(fault, &p.shape, &v))
        return;
    struct bench b = bench_new(&p, 0);
    struct sim s = sim_of(&b, v, fault);
    struct run_row row;
    record_init(run_fields, &row);
    if (!is_visible(&b, &s)) {
        t->invisible++;
    } else {
        t->planted++;
        if (!run_and_judge(&b, &s, &row)) {
            t->caught++;
            CU_ASSERT(row.reason && strlen(row.reason) > 20);
        } else {
            printf("# missed: %s\n", fault_names[fault]);
            describe(&p, &v, &row);
        }
    }
    record_clear(run_fields, &row);
    bench_free(&b);
}

static void test_planted_faults_fail(void)
{
    enum { TRIES = 4000, ENOUGH = SHARE > 1 ? 24 : 120, FEW = 24 };
    int planted = 0, caught = 0;
    for (int fault = 1; fault < FAULTS; fault++) {
        struct tally t = {0};
        for (int i = 0; i < TRIES && t.planted < (is_subtle(fault) ? FEW : ENOUGH); i++)
            plant((enum fault)fault, &t);
        printf("# %-48s planted %3d caught %3d (%d more changed nothing)\n", fault_names[fault],
               t.planted, t.caught, t.invisible);
        CU_ASSERT(t.planted >= 20);
        CU_ASSERT_EQUAL(t.caught, t.planted);
        planted += t.planted;
        caught += t.caught;
    }
    printf("# %d of %d planted faults of %d kinds caught\n", caught, planted, FAULTS - 1);
}

/* ---- the reference itself ---- */

/* Against an evaluation in double that shares no code with it. */
static void test_reference_is_right(void)
{
    double worst = 0;
    for (int i = 0; i < 300; i++) {
        struct problem p = random_problem();
        struct bench b = bench_new(&p, 0);
        const struct variant v = {.bc = 16, .splits = 1, .lanes = 1};
        struct sim s = sim_of(&b, v, NONE);
        s.exact = true;
        simulate(&s, b.out);
        CU_ASSERT_EQUAL(reference_rows(b.ref), p.shape.B * p.shape.H * p.shape.Sq);
        for (size_t e = 0; e < shape_q_elems(&p.shape); e++)
            worst = fmax(worst, fabs(b.out[e] - b.ref->value[e]) / (1 + fabs(b.out[e])));
        bench_free(&b);
    }
    printf("# largest difference of two float64 evaluations: %.2g\n", worst);
    CU_ASSERT(worst < 1e-12);
}

static struct problem medium_problem(enum dtype type, enum input_kind input)
{
    struct problem p = PROBLEM_DEFAULT;
    p.shape.H = 4;
    p.shape.Hkv = 2;
    p.shape.hkv_given = true;
    p.shape.Sq = 300;
    p.shape.Sk = 203;
    p.shape.D = 16;
    p.shape.dtype = type;
    p.shape.causal = true;
    p.input = input;
    return p;
}

/* Any number of threads gives the same reference and the same judgement, to the last bit. */
static void test_threads_do_not_matter(void)
{
    struct problem p = medium_problem(DTYPE_F32, INPUT_NORMAL);
    struct bench b = bench_new(&p, 0);
    struct pool *pool = pool_new(3);
    struct reference *other;
    struct run_row one, three;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(reference_new(&p, &b.t, pool, 0, &other, &err), ST_OK);
    record_init(run_fields, &one);
    record_init(run_fields, &three);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1};
    struct sim s = sim_of(&b, v, NONE);
    CU_ASSERT(run_and_judge(&b, &s, &one));
    verify_output(other, b.guarded, pool, &three);
    json_t *a = record_to_json(run_fields, &one), *c = record_to_json(run_fields, &three);
    CU_ASSERT(json_equal(a, c));
    json_decref(a);
    json_decref(c);
    record_clear(run_fields, &one);
    record_clear(run_fields, &three);
    reference_free(other);
    pool_free(pool);
    bench_free(&b);
}

/* ---- when not all rows have a float64 answer ---- */

static double work(const struct problem *p)
{
    return shape_flops(&p->shape);
}

static void test_sampled_right_kernels_pass(void)
{
    struct run_row row;
    record_init(run_fields, &row);
    for (int type = 0; type < DTYPE_COUNT; type++)
        for (int input = 0; input < INPUT_FILES; input++)
            for (double share = 0.1; share > 0.001; share /= 50) {
                struct problem p = medium_problem((enum dtype)type, (enum input_kind)input);
                struct bench b = bench_new(&p, work(&p) * share);
                struct sim s = sim_of(&b, random_variant(&p.shape), NONE);
                if (!run_and_judge(&b, &s, &row)) {
                    describe(&p, &s.how, &row);
                    CU_FAIL("false alarm");
                }
                CU_ASSERT(row.checked_rows >= 90 && row.checked_rows < row.total_rows);
                CU_ASSERT_EQUAL(row.total_rows, 4 * 300);
                CU_ASSERT_EQUAL(row.checked_rows, reference_rows(b.ref));
                bench_free(&b);
            }
    record_clear(run_fields, &row);
}

/* First and last rows, and the neighbourhood of tile edges, are always among the judged ones. */
static void test_sampling(void)
{
    struct problem p = medium_problem(DTYPE_F16, INPUT_NORMAL);
    struct bench b = bench_new(&p, work(&p) * 0.1);
    int edges = 0;
    CU_ASSERT_EQUAL(b.ref->rows[0], 0);
    CU_ASSERT_EQUAL(b.ref->rows[b.ref->judged - 1], b.ref->total - 1);
    for (int64_t i = 0; i < b.ref->judged; i++) {
        int64_t in_tile = b.ref->rows[i] % 300 % 16;
        edges += in_tile == 0 || in_tile == 1 || in_tile == 15;
        CU_ASSERT(i == 0 || b.ref->rows[i] > b.ref->rows[i - 1]);
    }
    CU_ASSERT(edges * 5 > b.ref->judged * 2); /* half by choice, against 3 in 16 by chance */
    bench_free(&b);
}

static bool is_judged(const struct reference *r, int64_t row)
{
    for (int64_t i = 0; i < r->judged; i++)
        if (r->rows[i] == row)
            return true;
    return false;
}

/* One wrong row among 1200, and not one of those that were sampled, is found and named. */
static void test_unsampled_row(void)
{
    int planted = 0, caught = 0;
    struct run_row row;
    char where[64];
    record_init(run_fields, &row);
    for (int type = 0; type < DTYPE_COUNT; type++) {
        struct problem p = medium_problem((enum dtype)type, INPUT_NORMAL);
        struct bench b = bench_new(&p, work(&p) * 0.1);
        struct sim s = sim_of(&b, random_variant(&p.shape), NONE);
        simulate(&s, b.out);
        for (int64_t r = 0; r < b.ref->total; r += 37) {
            if (is_judged(b.ref, r) || shape_row_keys(&p.shape, r % 300) == 0)
                continue;
            double mine[16], *at = b.out + r * 16;
            memcpy(mine, at, sizeof mine);
            memset(at, 0, sizeof mine);
            if (r % 2)
                memcpy(at, at - 16, sizeof mine); /* its neighbour's result */
            write_output(&b, &s);
            memcpy(at, mine, sizeof mine);
            verify_output(b.ref, b.guarded, NULL, &row);
            snprintf(where, sizeof where, "h%d row %d ", (int)(r / 300), (int)(r % 300));
            planted++;
            caught += strcmp(row.check, "fail") == 0 && strstr(row.reason, where);
        }
        bench_free(&b);
    }
    record_clear(run_fields, &row);
    printf("# %d of %d wrong rows between the sampled ones were found\n", caught, planted);
    CU_ASSERT(planted > 30);
    CU_ASSERT_EQUAL(caught, planted);
}

/* Beyond even that, garbage is still seen. */
static void test_hull(void)
{
    struct problem p = medium_problem(DTYPE_F16, INPUT_NORMAL);
    struct bench b = bench_new(&p, work(&p) * 0.002);
    struct run_row row;
    record_init(run_fields, &row);
    CU_ASSERT_PTR_NULL(b.ref->screen);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1};
    struct sim s = sim_of(&b, v, NONE);
    simulate(&s, b.out);
    int64_t r = 130;
    while (is_judged(b.ref, r))
        r++;
    const double bad[] = {100, NAN, -INFINITY};
    for (int i = 0; i < 3; i++) {
        double right = b.out[r * 16 + 5];
        b.out[r * 16 + 5] = bad[i];
        write_output(&b, &s);
        verify_output(b.ref, b.guarded, NULL, &row);
        CU_ASSERT_STRING_EQUAL(row.check, "fail");
        CU_ASSERT(row.reason && strstr(row.reason, "col 5"));
        b.out[r * 16 + 5] = right;
    }
    record_clear(run_fields, &row);
    bench_free(&b);
}

/* ---- what it says ---- */

static struct problem small_problem(void)
{
    struct problem p = PROBLEM_DEFAULT;
    p.shape.H = p.shape.Hkv = 2;
    p.shape.Sq = p.shape.Sk = 64;
    p.shape.D = 16;
    return p;
}

static void expect_reason(struct bench *b, struct sim *s, enum fault fault, int64_t victim,
                          const char *part)
{
    struct run_row row;
    record_init(run_fields, &row);
    s->fault = fault;
    s->victim = victim;
    bool passed = run_and_judge(b, s, &row);
    CU_ASSERT_FALSE(passed);
    if (!row.reason || !strstr(row.reason, part)) {
        printf("# wanted \"%s\", got \"%s\"\n", part, row.reason ? row.reason : "nothing");
        CU_FAIL("wrong reason");
    }
    record_clear(run_fields, &row);
}

static void test_reasons(void)
{
    struct problem p = small_problem();
    struct bench b = bench_new(&p, 0);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1};
    struct sim s = sim_of(&b, v, NONE);
    expect_reason(&b, &s, UNWRITTEN, (64 + 7) * 16 + 3,
                  "1 of 2048 elements was never written, the first at b0 h1 row 7 col 3");
    expect_reason(&b, &s, UNWRITTEN_ROWS, 0,
                  "32 of 2048 elements were never written, the first at b0 h0 row 63 col 0");
    expect_reason(&b, &s, WRITE_AFTER, 0, "1 byte after the output was overwritten");
    expect_reason(&b, &s, WRITE_BEFORE, 8, "1 byte before the output was overwritten");
    expect_reason(&b, &s, INF_ELEMENT, 64 + 9, "an infinity where the reference has");
    expect_reason(&b, &s, INF_ELEMENT, 64 + 9, "at b0 h1 row 9 col 0");
    expect_reason(&b, &s, ROW_ZERO, 64 + 9, "at b0 h1 row 9 col ");
    expect_reason(&b, &s, ROW_ZERO, 64 + 9, "is over 2 x ");
    bench_free(&b);
}

static void test_row_fields(void)
{
    struct problem p = small_problem();
    struct bench b = bench_new(&p, 0);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1, .rounded_p = true};
    struct sim s = sim_of(&b, v, NONE);
    struct run_row row;
    record_init(run_fields, &row);
    row.reason = xstrdup("an earlier one");
    CU_ASSERT(run_and_judge(&b, &s, &row));
    CU_ASSERT_PTR_NULL(row.reason);
    CU_ASSERT(row.max_diff > 0 && row.mean_diff <= row.rms_diff && row.rms_diff <= row.max_diff);
    CU_ASSERT_DOUBLE_EQUAL(row.error_ratio, row.max_diff / row.baseline_max_diff, 1e-12);
    CU_ASSERT(row.rounding_ratio > 0.9 && row.rounding_ratio < 1.6);
    CU_ASSERT_EQUAL(row.checked_rows, 128);
    CU_ASSERT_EQUAL(json_object_size(row.worst), 4);
    s.fault = ROW_ZERO;
    s.victim = 70;
    CU_ASSERT_FALSE(run_and_judge(&b, &s, &row));
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(row.worst, "h")), 1);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(row.worst, "row")), 6);
    record_clear(run_fields, &row);
    bench_free(&b);
}

static void test_pair(void)
{
    struct problem p = small_problem();
    struct bench b = bench_new(&p, 0);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1};
    struct sim s = sim_of(&b, v, NONE);
    simulate(&s, b.out);
    write_output(&b, &s);
    size_t bytes = b.bytes + 2 * OUTPUT_GUARD_BYTES;
    char *other = xmalloc(bytes);
    memcpy(other, b.guarded, bytes);
    CU_ASSERT_EQUAL(verify_pair(&p, b.guarded, other), 0);
    double x = dtype_get(DTYPE_F16, other + OUTPUT_GUARD_BYTES, 77);
    dtype_set(DTYPE_F16, other + OUTPUT_GUARD_BYTES, 77, x + 1);
    CU_ASSERT_DOUBLE_EQUAL(verify_pair(&p, b.guarded, other), 1, 2e-3);
    dtype_set(DTYPE_F16, other + OUTPUT_GUARD_BYTES, 77, NAN);
    CU_ASSERT(isnan(verify_pair(&p, b.guarded, other)));
    free(other);
    bench_free(&b);
}

/* A single key is exact in every type: nothing to be wrong by, and nothing may be. */
static void test_exact_case(void)
{
    struct problem p = small_problem();
    p.shape.Sk = 1;
    struct bench b = bench_new(&p, 0);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1, .rounded_p = true};
    struct sim s = sim_of(&b, v, NONE);
    struct run_row row;
    record_init(run_fields, &row);
    CU_ASSERT(run_and_judge(&b, &s, &row));
    CU_ASSERT_EQUAL(row.max_diff, 0);
    CU_ASSERT_EQUAL(row.error_ratio, 1);
    record_clear(run_fields, &row);
    bench_free(&b);
}

static const struct tap_test tests[] = {
    {"the reference agrees with another float64 evaluation", test_reference_is_right},
    {"right kernels pass on 20000 random shapes", test_right_kernels_pass},
    {"planted faults never pass", test_planted_faults_fail},
    {"threads do not change a bit", test_threads_do_not_matter},
    {"right kernels pass when rows are sampled", test_sampled_right_kernels_pass},
    {"the sample has the ends and the tile edges", test_sampling},
    {"a wrong row between the sampled ones is found", test_unsampled_row},
    {"garbage is found without any answer", test_hull},
    {"reasons say what, where and by how much", test_reasons},
    {"fields of the row", test_row_fields},
    {"the difference of two outputs", test_pair},
    {"a single key is exact", test_exact_case},
};
TAP_MAIN("verify", tests)
