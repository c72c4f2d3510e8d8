/* cpu_cases.c - the CPU kernels against float64.
 *
 * The rule is the product's: f16 and bf16 within 1.6 times the error of merely rounding the right
 * answer, f32 within 2.5 times (maximum: 3 times) that of a plain three-step f32 evaluation; every
 * element written, nothing around the output touched, LSE right where it is asked for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "cpu_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "backend/pool.h"
#include "base/status.h"
#include "kernel/blob.h"
#include "kernel/descriptor.h"

enum inputs { NORMAL, LARGE, GROWING };
enum { GUARD = 256, POISON = 0x7f, GUARD_BYTE = 0xc5, LARGE_WORK = 20000000, QUICK_WORK = 3000000 };

struct test_case {
    const char *shape; /* as shape_parse understands it */
    enum inputs inputs;
    const char *params; /* "BR=16 BC=24"; those a kernel lacks are skipped */
};

/* LARGE has scores to +-100; GROWING has keys that grow, so that the running maximum rises until the
 * last tile, by more than any fixed reference could bear. */
static const struct test_case cases[] = {
    {"B=1 H=1 Sq=1 Sk=1 D=1", NORMAL, ""},
    {"B=1 H=1 Sq=1 Sk=1 D=64", NORMAL, ""},
    {"B=2 H=3 Sq=5 Sk=7 D=8", NORMAL, "BR=2 BC=3 SPLITS=3"},
    {"B=1 H=2 Sq=64 Sk=64 D=64", NORMAL, ""},
    {"B=1 H=2 Sq=64 Sk=64 D=64 causal=yes", NORMAL, ""},
    {"B=1 H=2 Sq=113 Sk=203 D=64", NORMAL, ""},
    {"B=1 H=2 Sq=113 Sk=203 D=64 causal=yes", NORMAL, ""},
    {"B=1 H=2 Sq=203 Sk=113 D=64 causal=yes", NORMAL, ""},
    {"B=2 H=4 Hkv=2 Sq=113 Sk=203 D=64 causal=yes layout=bshd", NORMAL, "BR=32 BC=40"},
    {"B=1 H=6 Hkv=1 Sq=33 Sk=129 D=59", NORMAL, ""},
    {"B=1 H=2 Sq=128 Sk=128 D=40", NORMAL, "BR=16 BC=24 SPLITS=5 THREADS=64"},
    {"B=1 H=2 Sq=128 Sk=217 D=40 causal=yes layout=bshd", NORMAL, ""},
    {"B=1 H=1 Sq=108 Sk=256 D=59 causal=yes", NORMAL, ""},
    {"B=1 H=1 Sq=256 Sk=512 D=111", NORMAL, ""},
    {"B=1 H=1 Sq=512 Sk=256 D=111 causal=yes", NORMAL, "BR=48 BC=96"},
    {"B=1 H=1 Sq=1 Sk=512 D=128", NORMAL, ""},
    {"B=2 H=8 Hkv=2 Sq=1 Sk=339 D=64 causal=yes", NORMAL, ""},
    {"B=1 H=2 Sq=3 Sk=799 D=96", NORMAL, "SPLITS=128"},
    {"B=1 H=1 Sq=64 Sk=800 D=256", NORMAL, ""},
    {"B=1 H=1 Sq=17 Sk=40 D=513", NORMAL, ""},
    {"B=1 H=1 Sq=70 Sk=3 D=64 causal=yes", NORMAL, ""},
    {"B=1 H=1 Sq=200 Sk=1 D=32", NORMAL, "BR=7 BC=5"},
    {"B=1 H=1 Sq=97 Sk=191 D=64", LARGE, ""},
    {"B=1 H=1 Sq=97 Sk=191 D=64 causal=yes", LARGE, "BR=64 BC=12"},
    {"B=1 H=1 Sq=80 Sk=400 D=64", GROWING, ""},
    {"B=1 H=1 Sq=80 Sk=400 D=64 causal=yes", GROWING, "BC=48"},
    {"B=1 H=1 Sq=65 Sk=97 D=16", NORMAL, "BR=1 BC=1 SPLITS=2"},
    {"B=1 H=1 Sq=130 Sk=130 D=33 causal=yes", NORMAL, "BR=1024 BC=1000"},
    {"B=3 H=1 Sq=127 Sk=65 D=24 layout=bshd", NORMAL, ""},
    {"B=1 H=1 Sq=97 Sk=191 D=64 causal=yes", LARGE, "BR=64 BC=64"},
    {"B=1 H=2 Sq=75 Sk=131 D=96", NORMAL, "BR=100 BC=64"},
    {"B=2 H=2 Hkv=1 Sq=40 Sk=97 D=32 causal=yes layout=bshd", NORMAL, "BC=32"},
    {"B=1 H=1 Sq=70 Sk=400 D=128 causal=yes", GROWING, "BC=96"},
    /* 3, 5 and 14 packed rows, pieces and tiles that end within keys and vectors */
    {"B=2 H=3 Hkv=1 Sq=1 Sk=77 D=40", NORMAL, "KEYS=16 BC=5"},
    {"B=1 H=10 Hkv=2 Sq=1 Sk=333 D=129", LARGE, "KEYS=100 BC=33"},
    {"B=1 H=7 Hkv=1 Sq=2 Sk=90 D=65 causal=yes layout=bshd", GROWING, "BR=5 KEYS=32 BC=7"},
    {"B=1 H=1 Sq=1023 Sk=1024 D=64", NORMAL, ""},
    {"B=1 H=1 Sq=1023 Sk=1024 D=64 causal=yes", NORMAL, ""},
};

/* One problem with its right and its plain answers, all row-major (b, h, s, d). */
struct answers {
    struct shape s;
    void *q, *k, *v; /* in the dtype and layout */
    double *right, *lse;
    float *plain; /* f32 only */
};

/* ---- inputs ---- */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum;
}

static void *make_tensor(const struct shape *s, int64_t heads, int64_t rows, double scale,
                         bool grows, uint64_t seed)
{
    const struct strides st = shape_strides(s, heads, rows);
    void *t = xmalloc((size_t)(s->B * heads * rows * s->D) * dtype_size(s->dtype));
    for (int64_t b = 0; b < s->B; b++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t d = 0; d < s->D; d++) {
                    const double grow = grows ? 150.0 * (double)(i + 1) / (double)rows : 1;
                    dtype_set(s->dtype, t, (size_t)(b * st.b + h * st.h + i * st.s + d),
                              normal(&seed) * scale * grow);
                }
    return t;
}

/* ---- right and plain answers ---- */

/* The row of tensor `t`, as doubles. */
static void get_row(const struct shape *s, const void *t, int64_t heads, int64_t rows, int64_t b,
                    int64_t h, int64_t i, double *out)
{
    const struct strides st = shape_strides(s, heads, rows);
    for (int64_t d = 0; d < s->D; d++)
        out[d] = dtype_get(s->dtype, t, (size_t)(b * st.b + h * st.h + i * st.s + d));
}

/* One head's K or V as doubles and as floats. */
static void get_head(const struct shape *s, const void *t, int64_t b, int64_t h, double *d,
                     float *f)
{
    for (int64_t j = 0; j < s->Sk; j++) {
        get_row(s, t, s->Hkv, s->Sk, b, h, j, d + j * s->D);
        for (int64_t e = 0; e < s->D; e++)
            f[j * s->D + e] = (float)d[j * s->D + e];
    }
}

struct work {
    double *q, *k, *v, *p, *o;
    float *kf, *vf, *pf;
};

static void right_row(const struct shape *s, const struct work *w, int64_t n, double *o,
                      double *lse)
{
    double m = -INFINITY, l = 0;
    for (int64_t j = 0; j < n; j++) {
        double dot = 0;
        for (int64_t d = 0; d < s->D; d++)
            dot += w->q[d] * w->k[j * s->D + d];
        w->p[j] = dot / sqrt((double)s->D);
        m = fmax(m, w->p[j]);
    }
    memset(o, 0, (size_t)s->D * sizeof *o);
    for (int64_t j = 0; j < n; j++) {
        const double p = exp(w->p[j] - m);
        l += p;
        for (int64_t d = 0; d < s->D; d++)
            o[d] += p * w->v[j * s->D + d];
    }
    for (int64_t d = 0; d < s->D && n > 0; d++)
        o[d] /= l;
    *lse = n > 0 ? m + log(l) : -INFINITY;
}

static void plain_row(const struct shape *s, const struct work *w, int64_t n, float *o)
{
    const float scale = (float)(1 / sqrt((double)s->D));
    float m = -INFINITY, l = 0;
    for (int64_t j = 0; j < n; j++) {
        float dot = 0;
        for (int64_t d = 0; d < s->D; d++)
            dot += (float)w->q[d] * w->kf[j * s->D + d];
        w->pf[j] = dot * scale;
        m = fmaxf(m, w->pf[j]);
    }
    for (int64_t j = 0; j < n; j++)
        l += w->pf[j] = expf(w->pf[j] - m);
    memset(o, 0, (size_t)s->D * sizeof *o);
    for (int64_t j = 0; j < n; j++)
        for (int64_t d = 0; d < s->D; d++)
            o[d] += w->pf[j] / l * w->vf[j * s->D + d];
}

static void *array(int64_t n, size_t size)
{
    return xmalloc((size_t)n * size);
}

static void answer(struct answers *a)
{
    const struct shape *s = &a->s;
    struct work w = {.q = array(s->D, 8), .p = array(s->Sk, 8), .pf = array(s->Sk, 4)};
    w.k = array(s->Sk * s->D, 8), w.v = array(s->Sk * s->D, 8);
    w.kf = array(s->Sk * s->D, 4), w.vf = array(s->Sk * s->D, 4);
    for (int64_t b = 0; b < s->B; b++)
        for (int64_t h = 0; h < s->H; h++) {
            get_head(s, a->k, b, h / (s->H / s->Hkv), w.k, w.kf);
            get_head(s, a->v, b, h / (s->H / s->Hkv), w.v, w.vf);
            for (int64_t i = 0; i < s->Sq; i++) {
                const int64_t row = (b * s->H + h) * s->Sq + i, n = shape_row_keys(s, i);
                get_row(s, a->q, s->H, s->Sq, b, h, i, w.q);
                right_row(s, &w, n, a->right + row * s->D, a->lse + row);
                if (s->dtype == DTYPE_F32)
                    plain_row(s, &w, n, a->plain + row * s->D);
            }
        }
    void *mine[] = {w.q, w.k, w.v, w.p, w.pf, w.kf, w.vf};
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
        free(mine[i]);
}

static struct answers answers_new(const struct shape *s, enum inputs inputs)
{
    const size_t n = shape_q_elems(s);
    const double scale = inputs == LARGE ? 4 : 1;
    struct answers a = {.s = *s};
    a.q = make_tensor(s, s->H, s->Sq, scale, false, 1);
    a.k = make_tensor(s, s->Hkv, s->Sk, scale, inputs == GROWING, 2);
    a.v = make_tensor(s, s->Hkv, s->Sk, 1, false, 3);
    a.right = xmalloc(n * sizeof *a.right);
    a.plain = xmalloc(n * sizeof *a.plain);
    a.lse = xmalloc((size_t)(s->B * s->H * s->Sq) * sizeof *a.lse);
    answer(&a);
    return a;
}

static void answers_free(struct answers *a)
{
    void *all[] = {a->q, a->k, a->v, a->right, a->lse, a->plain};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ---- judging ---- */

struct sums {
    double error2, error_max, base2, base_max, ref2, ref_max;
    bool not_finite;
};

static double rounded(enum dtype t, double x)
{
    if (t == DTYPE_F32)
        return (float)x;
    unsigned char e[4];
    dtype_set(t, e, 0, x);
    return dtype_get(t, e, 0);
}

/* Error of the kernel, and of the baseline: plain evaluation (f32) or mere rounding (16 bits). */
static struct sums compare(const struct answers *a, const void *o)
{
    const struct shape *s = &a->s;
    const struct strides st = shape_strides(s, s->H, s->Sq);
    struct sums sum = {0};
    for (size_t i = 0; i < shape_q_elems(s); i++) {
        const int64_t d = (int64_t)i % s->D, row = (int64_t)i / s->D;
        const int64_t at =
            row / s->Sq / s->H * st.b + row / s->Sq % s->H * st.h + row % s->Sq * st.s + d;
        const double right = a->right[i], e = fabs(dtype_get(s->dtype, o, (size_t)at) - right);
        const double base =
            fabs((s->dtype == DTYPE_F32 ? a->plain[i] : rounded(s->dtype, right)) - right);
        sum.not_finite |= !isfinite(e);
        sum.error2 += e * e;
        sum.base2 += base * base;
        sum.ref2 += right * right;
        sum.error_max = fmax(sum.error_max, e);
        sum.base_max = fmax(sum.base_max, base);
        sum.ref_max = fmax(sum.ref_max, fabs(right));
    }
    return sum;
}

static const char *judge_output(const struct answers *a, const void *o)
{
    const double n = (double)shape_q_elems(&a->s);
    const struct sums s = compare(a, o);
    const double rms = sqrt(s.error2 / n), base = sqrt(s.base2 / n), ref = sqrt(s.ref2 / n);
    if (s.not_finite)
        return "an output is not finite";
    if (a->s.dtype == DTYPE_F32) {
        if (!(rms <= 2.5 * base + 0x1p-22 * ref))
            return "rms error above 2.5 x plain";
        return s.error_max <= 3 * s.base_max + 0x1p-21 * s.ref_max ? NULL
                                                                   : "max error above 3 x plain";
    }
    const double slack = n < 4096 ? dtype_epsilon(a->s.dtype) / 2 * ref : 0;
    return rms <= 1.6 * base + slack ? NULL : "rms error above 1.6 x rounding";
}

static const char *judge_lse(const struct answers *a, const float *lse)
{
    for (int64_t i = 0; i < a->s.B * a->s.H * a->s.Sq; i++) {
        const double right = a->lse[i];
        if (isinf(right) ? (double)lse[i] != right
                         : !(fabs(lse[i] - right) <= 1e-5 * (1 + fabs(right))))
            return "LSE wrong";
    }
    return NULL;
}

static bool all_are(const unsigned char *p, size_t n, unsigned char value)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value)
            return false;
    return true;
}

/* ---- running ---- */

struct run {
    const struct cpu_kernel *kernel;
    const struct cpu_simd *simd;
    struct pool *pool;
    struct kernel_desc *desc;
    struct param_values params;
};

/* NaNs, so that what a kernel reads there before it writes shows. Nobody else uses it between launches. */
static void poison_scratch(struct pool *pool)
{
    enum { BYTES = 512 << 10 };
    for (int t = 0; t < pool_threads(pool); t++)
        memset(pool_scratch(pool, t, BYTES), 0xff, BYTES);
}

static void set_params(struct run *r, const struct shape *s, const char *text)
{
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    r->params = desc_defaults_for(r->desc, s);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        struct err err = ERR_INIT;
        if (desc_param_index(r->desc, word) >= 0)
            (void)desc_param_set(r->desc, &r->params, word, value, &err); /* or out of range */
    }
}

static void set_strides(int64_t dst[3], const struct shape *s, int64_t heads, int64_t rows)
{
    const struct strides st = shape_strides(s, heads, rows);
    dst[0] = st.b, dst[1] = st.h, dst[2] = st.s;
}

static const char *make_workspace(const struct run *r, const struct shape *s, struct AttnArgs *a)
{
    const struct desc_env env = {
        .desc = r->desc, .shape = s, .params = &r->params, .compiled_d = true};
    const struct expr_env values = desc_expr_env(&env);
    for (int i = 0; i < r->desc->nws; i++) {
        double bytes;
        struct err err = ERR_INIT;
        if (expr_eval(r->desc->ws[i].bytes, &values, &bytes, &err) != ST_OK)
            return "workspace size unknown";
        a->ws[i] = xmalloc((size_t)bytes);
        memset(a->ws[i], 0xff, (size_t)bytes); /* NaNs: nothing may be read before it is written */
    }
    return NULL;
}

static struct AttnArgs make_args(const struct answers *x, void *o, float *lse)
{
    const struct shape *s = &x->s;
    struct AttnArgs a = {.q = x->q, .k = x->k, .v = x->v, .o = o, .lse = lse};
    a.B = (int32_t)s->B, a.H = (int32_t)s->H, a.Hkv = (int32_t)s->Hkv;
    a.Sq = (int32_t)s->Sq, a.Sk = (int32_t)s->Sk, a.D = (int32_t)s->D;
    a.causal = s->causal;
    a.scale = (float)(1 / sqrt((double)s->D));
    set_strides(a.q_stride, s, s->H, s->Sq);
    set_strides(a.k_stride, s, s->Hkv, s->Sk);
    set_strides(a.v_stride, s, s->Hkv, s->Sk);
    set_strides(a.o_stride, s, s->H, s->Sq);
    return a;
}

/* The output is left-over 0x7f7f..., a huge number, where the kernel wrote nothing. */
static const char *run_case(const struct run *r, const struct answers *x, bool want_lse)
{
    const size_t bytes = shape_q_elems(&x->s) * dtype_size(x->s.dtype);
    unsigned char *buf = xmalloc(bytes + 2 * (size_t)GUARD);
    float *lse = xmalloc((size_t)(x->s.B * x->s.H * x->s.Sq) * sizeof *lse);
    memset(buf, GUARD_BYTE, bytes + 2 * (size_t)GUARD);
    memset(buf + GUARD, POISON, bytes);
    struct PagedArgs args = {.attn = make_args(x, buf + GUARD, want_lse ? lse : NULL)};
    struct AttnArgs *a = &args.attn; /* kernels that take pages read what is behind it */
    const struct cpu_launch l = {.host = &cpu_host,
                                 .desc = r->desc,
                                 .params = &r->params,
                                 .dtype = x->s.dtype,
                                 .pool = r->pool,
                                 .simd = r->simd};
    poison_scratch(r->pool);
    const char *fault = make_workspace(r, &x->s, a);
    if (!fault) {
        r->kernel->run(a, &l);
        fault = judge_output(x, buf + GUARD);
    }
    if (!fault && want_lse)
        fault = judge_lse(x, lse);
    if (!fault &&
        !(all_are(buf, GUARD, GUARD_BYTE) && all_are(buf + GUARD + bytes, GUARD, GUARD_BYTE)))
        fault = "wrote outside the output";
    for (int i = 0; i < r->desc->nws; i++)
        free(a->ws[i]);
    free(lse);
    free(buf);
    return fault;
}

static struct kernel_desc *read_desc(const char *name)
{
    char path[64];
    struct err err = ERR_INIT;
    struct kernel_desc *d = NULL;
    snprintf(path, sizeof path, "kernels/cpu/%s.c", name);
    const struct blob *b = blob_find(path);
    if (!b)
        fprintf(stderr, "# %s is not embedded\n", path);
    else if (desc_parse(path, b->data, blob_size(b), &d, &err) != ST_OK)
        fprintf(stderr, "# %s\n", err.text);
    return d;
}

static void run_with(const struct cpu_simd *simd, struct run *r, const struct answers *x,
                     const struct test_case *c, bool want_lse, struct cpu_cases_count *count)
{
    r->simd = simd;
    set_params(r, &x->s, c->params);
    const char *fault = run_case(r, x, want_lse);
    count->ran++;
    if (!fault)
        return;
    count->failed++;
    fprintf(stderr, "# ATTNSCOPE_CPU=%s check %s %s dtype=%s %s (inputs %d): %s\n", simd->name,
            r->desc->name, c->shape, dtype_name(x->s.dtype), c->params, (int)c->inputs, fault);
}

/* One problem on every instruction set; AMX's code also where its tiles must be played. */
static void run_everywhere(struct run *r, const struct answers *x, const struct test_case *c,
                           bool want_lse, struct cpu_cases_count *count)
{
    for (const struct cpu_simd *const *s = cpu_simd_table(); *s; s++)
        if (cpu_simd_usable(*s))
            run_with(*s, r, x, c, want_lse, count);
#if defined __x86_64__
    if (x->s.dtype != DTYPE_F32 && cpu_simd_usable(&cpu_simd_avx512_bf16))
        run_with(&cpu_simd_amx_played, r, x, c, want_lse, count);
#endif
}

static void run_problem(struct pool *pool, const struct test_case *c, const struct shape *s,
                        bool want_lse, struct cpu_cases_count *counts)
{
    struct answers x = answers_new(s, c->inputs);
    for (int k = 0; k < CPU_KERNELS_MAX && cpu_kernels[k].name; k++) {
        struct run r = {
            .kernel = &cpu_kernels[k], .pool = pool, .desc = read_desc(cpu_kernels[k].name)};
        if (r.desc)
            run_everywhere(&r, &x, c, want_lse, &counts[k]);
        else
            counts[k].failed++;
        desc_free(r.desc);
    }
    answers_free(&x);
}

/* Every dtype, but one is enough for a large shape (minutes under a sanitizer otherwise) and, taken in
 * turn, for an emulator. */
static bool wanted(const struct shape *s, size_t i, bool quick)
{
    const int64_t work = s->Sq * s->Sk * s->D * s->B * s->H;
    if (quick)
        return work <= QUICK_WORK && (size_t)s->dtype == i % DTYPE_COUNT;
    return work <= LARGE_WORK || s->dtype == (s->causal ? DTYPE_F32 : DTYPE_F16);
}

void cpu_cases_run(bool quick, struct cpu_cases_count counts[CPU_KERNELS_MAX])
{
    struct pool *pool = pool_new(3);
    memset(counts, 0, CPU_KERNELS_MAX * sizeof *counts);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct shape s = SHAPE_DEFAULT;
        struct err err = ERR_INIT;
        if (shape_parse(cases[i].shape, &s, &err) != ST_OK)
            fatal("%s: %s", cases[i].shape, err.text);
        for (int t = 0; t < DTYPE_COUNT; t++) {
            s.dtype = (enum dtype)t;
            if (wanted(&s, i, quick))
                run_problem(pool, &cases[i], &s, i / 2 % 2 == 0, counts);
        }
    }
    pool_free(pool);
}

/* ---- parts ---- */

double cpu_cases_exp2_error(const struct cpu_simd *s)
{
    enum { N = 4001 };
    static const float shifts[] = {0, 0.37f, -63, 50};
    double worst = 0;
    float x[N], given[N];
    for (size_t k = 0; k < sizeof shifts / sizeof *shifts; k++) {
        for (int i = 0; i < N; i++)
            given[i] = x[i] = (float)(i - N / 2) * 0.0181f;
        (void)s->exp2_sum(x, shifts[k], N);
        for (int i = 0; i < N; i++) {
            const double right = exp2((double)(given[i] - shifts[k]));
            worst = fmax(worst, fabs(x[i] - right) / right);
        }
    }
    return worst;
}

/* A NaN is a NaN; anything else must agree to the bit. */
static bool same_float(float a, float b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static bool same_16(enum dtype t, uint16_t a, uint16_t b)
{
    const float fa = t == DTYPE_F16 ? f16_to_float(a) : bf16_to_float(a);
    return isnan(fa) ? isnan(t == DTYPE_F16 ? f16_to_float(b) : bf16_to_float(b)) : a == b;
}

static int conversions(const struct cpu_simd *s, enum dtype t)
{
    enum { N = 1 << 16 };
    uint16_t *h = xmalloc(N * sizeof *h), *back = xmalloc(N * sizeof *back);
    float *f = xmalloc(N * sizeof *f);
    int wrong = 0;
    for (int i = 0; i < N; i++)
        h[i] = (uint16_t)i;
    s->to_float(t, h, f, N);
    for (int i = 0; i < N; i++)
        wrong += !same_float(f[i], t == DTYPE_F16 ? f16_to_float(h[i]) : bf16_to_float(h[i]));
    uint64_t state = 5;
    for (int i = 0; i < N; i++) { /* values near and halfway between neighbours, and beyond */
        const float unit = t == DTYPE_F16 ? 0x1p-12f : 0x1p-9f;
        f[i] = isfinite(f[i]) ? f[i] * (1 + unit * (float)(int)(uniform(&state) * 8)) : f[i];
    }
    s->from_float(t, f, back, N);
    for (int i = 0; i < N; i++)
        wrong +=
            !same_16(t, back[i], t == DTYPE_F16 ? f16_from_float(f[i]) : bf16_from_float(f[i]));
    free(h);
    free(back);
    free(f);
    return wrong;
}

int cpu_cases_conversions(const struct cpu_simd *s)
{
    return conversions(s, DTYPE_F16) + conversions(s, DTYPE_BF16);
}
