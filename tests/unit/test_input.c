/* Inputs: the generator's bits and statistics, problems as JSON, files as inputs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "spec/input.h"
#include "spec/npy.h"

static const struct shape small = SHAPE_DEFAULT;

/* The known answers published with Philox. */
static void test_philox(void)
{
    uint32_t w[4];
    input_words(0, 0, 0, 0, w);
    CU_ASSERT(w[0] == 0x6627e8d5 && w[1] == 0xe169c58d && w[2] == 0xbc57ac4c && w[3] == 0x9b00dbd8);
    input_words(UINT64_C(0x299f31d0a4093822), (enum tensor_id)0x13198a2e, 0x03707344,
                UINT64_C(0x85a308d3243f6a88), w);
    CU_ASSERT(w[0] == 0xd16cfe09 && w[1] == 0x94fdcceb && w[2] == 0x5001e420 && w[3] == 0x24126ea1);
}

/* The formula of input.h once more, an element at a time, as a kernel would have it. */
static float by_formula(enum input_kind kind, uint64_t seed, enum tensor_id t, uint64_t i)
{
    uint32_t w[4], o[4];
    input_words(seed, t, 0, i / 2, w);
    input_words(seed, t, 1, i / 2, o);
    const uint32_t a = w[i % 2 * 2], b = w[i % 2 * 2 + 1];
    const int32_t n =
        (int32_t)(65536u * (uint32_t)__builtin_popcount(a) + (b >> 16) + (b & 0xFFFF)) - 1114111;
    if (kind == INPUT_UNIFORM)
        return ldexpf((float)floor((double)(int32_t)a / 256), -23);
    if (kind == INPUT_LARGE && t != TENSOR_V)
        return (float)n * 0x1.931db4p-16f;
    if (kind == INPUT_OUTLIER && o[i % 2 * 2] < 4294967)
        return (float)n * 0x1.bfe81ep-14f;
    return (float)(kind == INPUT_MEAN ? n + 93642 : n) * 0x1.66534ap-18f;
}

static void test_formula(void)
{
    size_t wrong = 0, outliers = 0;
    float v[300];
    for (int kind = INPUT_NORMAL; kind < INPUT_RAMP; kind++)
        for (int t = TENSOR_Q; t <= TENSOR_V; t++)
            for (uint64_t first = UINT64_C(1) << 34; first < (UINT64_C(1) << 34) + 5000;
                 first += 301) {
                input_values((enum input_kind)kind, 7, (enum tensor_id)t, &small, first, 300, v);
                for (uint64_t i = 0; i < 300; i++) {
                    const float want =
                        by_formula((enum input_kind)kind, 7, (enum tensor_id)t, first + i);
                    wrong += memcmp(&v[i], &want, sizeof want) != 0;
                    outliers += kind == INPUT_OUTLIER && fabsf(want) > 6;
                }
            }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(outliers > 0); /* or that branch was not compared */
}

/* A window gives the same values wherever it begins and however long it is. */
static void test_windows(void)
{
    enum { N = 1000 };
    float all[N], part[N];
    size_t wrong = 0;
    for (int kind = 0; input_names[kind]; kind++) {
        input_values((enum input_kind)kind, 42, TENSOR_K, &small, 5, N, all);
        for (uint64_t first = 0; first < 140; first += 7)
            for (size_t n = 0; n < 200; n += 13) {
                input_values((enum input_kind)kind, 42, TENSOR_K, &small, 5 + first, n, part);
                wrong += n && memcmp(all + first, part, n * sizeof *part) != 0;
            }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

struct moments {
    double mean, var, skew, kurtosis, least, most;
};

static struct moments moments_of(enum input_kind kind, uint64_t seed, enum tensor_id t)
{
    enum { N = 1 << 20 };
    static float v[N];
    struct moments m = {.least = INFINITY, .most = -INFINITY};
    input_values(kind, seed, t, &small, 0, N, v);
    for (int i = 0; i < N; i++) {
        m.mean += (double)v[i] / N;
        m.least = fmin(m.least, v[i]);
        m.most = fmax(m.most, v[i]);
    }
    double m3 = 0, m4 = 0;
    for (int i = 0; i < N; i++) {
        const double d = v[i] - m.mean;
        m.var += d * d / N;
        m3 += d * d * d / N;
        m4 += d * d * d * d / N;
    }
    m.skew = m3 / pow(m.var, 1.5);
    m.kurtosis = m4 / (m.var * m.var) - 3;
    return m;
}

/* Bounds are five standard errors of 2^20 values. */
static void test_statistics(void)
{
    for (uint64_t seed = 1; seed < 4; seed++) {
        const struct moments n = moments_of(INPUT_NORMAL, seed, TENSOR_Q);
        CU_ASSERT(fabs(n.mean) < 0.005 && fabs(n.var - 1) < 0.007 && fabs(n.skew) < 0.012);
        CU_ASSERT(n.kurtosis > -0.09 && n.kurtosis < -0.03); /* -0.060 by construction */
        CU_ASSERT(n.most > 4.2 && n.most < 5.95 && n.least < -4.2 && n.least > -5.95);
        const struct moments u = moments_of(INPUT_UNIFORM, seed, TENSOR_Q);
        CU_ASSERT(fabs(u.mean) < 0.003 && fabs(u.var - 1.0 / 3) < 0.002);
        CU_ASSERT(u.least >= -1 && u.least < -0.9999 && u.most < 1 && u.most > 0.9999);
        const struct moments m = moments_of(INPUT_MEAN, seed, TENSOR_Q);
        CU_ASSERT(fabs(m.mean - 0.5) < 0.005 && fabs(m.var - 1) < 0.007);
        const struct moments o = moments_of(INPUT_OUTLIER, seed, TENSOR_Q);
        CU_ASSERT(o.most > 40 && o.most < 119 && fabs(o.var - 1.399) < 0.15);
        CU_ASSERT(fabs(moments_of(INPUT_LARGE, seed, TENSOR_K).var - 20.25) < 0.15);
        CU_ASSERT(fabs(moments_of(INPUT_LARGE, seed, TENSOR_V).var - 1) < 0.007);
    }
}

/* Neighbours, tensors and seeds have nothing to do with each other. */
static double correlation(const float *a, const float *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum / n;
}

static void test_independence(void)
{
    enum { N = 1 << 18 };
    static float q[N], k[N], other[N];
    input_values(INPUT_NORMAL, 42, TENSOR_Q, &small, 0, N, q);
    input_values(INPUT_NORMAL, 42, TENSOR_K, &small, 0, N, k);
    input_values(INPUT_NORMAL, 43, TENSOR_Q, &small, 0, N, other);
    CU_ASSERT(fabs(correlation(q, k, N)) < 0.01);
    CU_ASSERT(fabs(correlation(q, other, N)) < 0.01);
    for (int lag = 1; lag <= 64; lag *= 2)
        CU_ASSERT(fabs(correlation(q, q + lag, N - lag)) < 0.01);
    input_values(INPUT_NORMAL, UINT64_C(42) << 32, TENSOR_Q, &small, 0, N, other);
    CU_ASSERT(fabs(correlation(q, other, N)) < 0.01);
}

/* "large" promises scores of about 100: with 1/sqrt(D), over a thousand by a thousand of them. */
static void test_large_scores(void)
{
    enum { S = 1024, D = 64 };
    static float q[S * D], k[S * D];
    double most = 0;
    input_values(INPUT_LARGE, 42, TENSOR_Q, &small, 0, S * D, q);
    input_values(INPUT_LARGE, 42, TENSOR_K, &small, 0, S * D, k);
    for (int i = 0; i < S; i++)
        for (int j = 0; j < S; j++) {
            float dot = 0;
            for (int d = 0; d < D; d++)
                dot += q[i * D + d] * k[j * D + d];
            most = fmax(most, fabs(dot) / 8);
        }
    CU_ASSERT(most > 80 && most < 140);
}

static void test_ramp(void)
{
    const struct shape s = {.B = 1, .H = 2, .Hkv = 2, .Sq = 20, .Sk = 3, .D = 20};
    float v[800];
    input_values(INPUT_RAMP, 1, TENSOR_Q, &s, 0, 800, v);
    CU_ASSERT(v[0] == 0 && v[1] == 1 / 256.f && v[20] == 16 / 256.f &&
              v[17 * 20 + 18] == 18 / 256.f);
    CU_ASSERT_EQUAL(memcmp(v, v + 400, 400 * sizeof *v), 0); /* every head the same */
    input_values(INPUT_RAMP, 1, TENSOR_K, &s, 0, 120, v);
    CU_ASSERT_EQUAL(v[60], 0); /* K has 3 rows */
    for (int i = 0; i < 120; i++)
        CU_ASSERT(bf16_to_float(bf16_from_float(v[i])) == v[i] &&
                  f16_to_float(f16_from_float(v[i])) == v[i]);
}

/* ---- problems ----------------------------------------------------------------------------- */

static void test_json(void)
{
    struct problem p = PROBLEM_DEFAULT, back = PROBLEM_DEFAULT;
    struct err err = ERR_INIT;
    bool known;
    CU_ASSERT_EQUAL(shape_parse("H=12 Hkv=4 Sq=7 Sk=99 D=40 bf16 causal bshd", &p.shape, &err),
                    ST_OK);
    p.seed = UINT64_MAX - 3;
    CU_ASSERT_EQUAL(problem_set_input(&p, "outlier", &err), ST_OK);
    json_t *o = problem_to_json(&p);
    CU_ASSERT_EQUAL(problem_from_json(&back, o, &err), ST_OK);
    CU_ASSERT_TRUE(problem_equal(&p, &back));
    CU_ASSERT_TRUE(back.shape.hkv_given);
    static const char *const keys[] = {"B",     "H",      "Hkv",    "Sq",    "Sk",  "D",
                                       "dtype", "causal", "layout", "input", "seed"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *without = json_deep_copy(o), *wrong = json_deep_copy(o);
        json_object_del(without, keys[i]);
        json_object_set_new(wrong, keys[i], json_real(0.5));
        CU_ASSERT_EQUAL(problem_from_json(&back, without, &err), ST_USAGE);
        CU_ASSERT_EQUAL(problem_from_json(&back, wrong, &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, keys[i]));
        CU_ASSERT_TRUE(problem_equal(&p, &back)); /* as it was */
        json_decref(without);
        json_decref(wrong);
    }
    json_object_set_new(o, "Hkv", json_integer(5));
    CU_ASSERT_EQUAL(problem_from_json(&back, o, &err), ST_USAGE);
    json_object_set_new(o, "Hkv", json_integer(INT64_MIN));
    CU_ASSERT_EQUAL(problem_from_json(&back, o, &err), ST_USAGE);
    json_decref(o);
    CU_ASSERT_EQUAL(problem_from_json(&back, NULL, &err), ST_USAGE);
    CU_ASSERT_EQUAL(shape_set(&p.shape, "S", "8", &known, &err), ST_OK);
    CU_ASSERT_FALSE(problem_equal(&p, &back));
}

static void test_input_names(void)
{
    struct problem p = PROBLEM_DEFAULT;
    struct err err = ERR_INIT;
    for (int kind = 0; input_names[kind]; kind++) {
        struct str text = {0};
        CU_ASSERT_EQUAL(problem_set_input(&p, input_names[kind], &err), ST_OK);
        CU_ASSERT_EQUAL((int)p.input, kind);
        problem_input_text(&p, &text);
        CU_ASSERT_STRING_EQUAL(str_text(&text), input_names[kind]);
        str_free(&text);
    }
    CU_ASSERT_EQUAL(problem_set_input(&p, "unifrom", &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "did you mean uniform?"));
    CU_ASSERT_EQUAL(problem_set_input(&p, "files", &err), ST_USAGE);
    CU_ASSERT_EQUAL(problem_set_input(&p, "q.npy,k.npy", &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "three files"));
    CU_ASSERT_EQUAL(problem_set_input(&p, "q.npy,,v.npy", &err), ST_USAGE);
    CU_ASSERT_EQUAL(problem_set_input(&p, "/no/q.npy,/no/k.npy,/no/v.npy", &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/no/q.npy"));
    CU_ASSERT_EQUAL(p.input, INPUT_RAMP);
}

/* ---- tensors ------------------------------------------------------------------------------ */

static size_t address(const struct shape *s, int64_t heads, int64_t rows, const int64_t at[4])
{
    const struct strides t = shape_strides(s, heads, rows);
    return (size_t)(at[0] * t.b + at[1] * t.h + at[2] * t.s + at[3]);
}

/* Do q and k, at every place of both layouts, hold what the generator has for the logical index? */
static size_t misplaced(const struct problem *p, const struct tensors *t)
{
    const struct shape *s = &p->shape;
    size_t wrong = 0;
    for (int id = TENSOR_Q; id <= TENSOR_V; id++) {
        const int64_t heads = id ? s->Hkv : s->H, rows = id ? s->Sk : s->Sq;
        const void *data = id == TENSOR_Q ? t->q : id == TENSOR_K ? t->k : t->v;
        uint64_t logical = 0;
        for (int64_t b = 0; b < s->B; b++)
            for (int64_t h = 0; h < heads; h++)
                for (int64_t r = 0; r < rows; r++)
                    for (int64_t d = 0; d < s->D; d++, logical++) {
                        float want;
                        input_values(p->input, p->seed, (enum tensor_id)id, s, logical, 1, &want);
                        union {
                            float f;
                            uint16_t h[2];
                        } rounded;
                        dtype_set(s->dtype, &rounded, 0, want);
                        wrong += dtype_get(s->dtype, &rounded, 0) !=
                                 dtype_get(s->dtype, data,
                                           address(s, heads, rows, (int64_t[]){b, h, r, d}));
                    }
    }
    return wrong;
}

static void test_tensors(void)
{
    for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++)
        for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++) {
            struct problem p = {.shape = {.B = 2,
                                          .H = 6,
                                          .Hkv = 3,
                                          .Sq = 17,
                                          .Sk = 13,
                                          .D = 11,
                                          .dtype = dtype,
                                          .layout = layout,
                                          .hkv_given = true},
                                .input = dtype == DTYPE_F32 ? INPUT_RAMP : INPUT_NORMAL,
                                .seed = 9};
            struct tensors t;
            struct err err = ERR_INIT;
            CU_ASSERT_EQUAL_FATAL(tensors_make(&p, &t, &err), ST_OK);
            CU_ASSERT_EQUAL(t.q_bytes, 2 * 6 * 17 * 11 * dtype_size(dtype));
            CU_ASSERT_EQUAL(t.kv_bytes, 2 * 3 * 13 * 11 * dtype_size(dtype));
            CU_ASSERT_EQUAL(((size_t)t.q | (size_t)t.k | (size_t)t.v) % 64, 0);
            CU_ASSERT_EQUAL(misplaced(&p, &t), 0);
            tensors_free(&t);
            CU_ASSERT_PTR_NULL(t.q);
        }
}

static void test_too_large(void)
{
    struct problem p = {
        .shape = {
            .B = 1, .H = 1, .Hkv = 1, .Sq = 1 << 30, .Sk = 1 << 30, .D = 256, .dtype = DTYPE_F32}};
    struct tensors t;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(shape_check(&p.shape, &err), ST_OK); /* a plan may ask for it, a run may not */
    CU_ASSERT_EQUAL(tensors_make(&p, &t, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "would fit"));
    CU_ASSERT_PTR_NULL(t.q);
}

/* ---- files -------------------------------------------------------------------------------- */

static char folder[] = "/tmp/test_input.XXXXXX";

static char *write_file(const char *name, enum npy_type type, int ndim, const int64_t *dim)
{
    char *path = xasprintf("%s/%s", folder, name);
    struct npy_header h = {.type = type, .ndim = ndim, .data_bytes = npy_type_size(type)};
    struct err err = ERR_INIT;
    for (int i = 0; i < ndim; i++) {
        h.dim[i] = dim[i];
        h.data_bytes *= (size_t)dim[i];
    }
    unsigned char *data = xmalloc(h.data_bytes);
    for (size_t i = 0; i < h.data_bytes; i++)
        data[i] = (unsigned char)(i * 37 % 100); /* no pattern of it is a NaN */
    CU_ASSERT_EQUAL(npy_write(path, &h, data, &err), ST_OK);
    free(data);
    return path;
}

/* input= of three files with these sizes (B,H,S,D); returns the status. */
static enum status set_files(struct problem *p, enum npy_type type, const int64_t dim[3][4],
                             int ndim, struct err *err)
{
    char *path[3];
    for (int i = 0; i < 3; i++)
        path[i] = write_file(i == 0   ? "q.npy"
                             : i == 1 ? "k.npy"
                                      : "v.npy",
                             type, ndim, dim[i] + 4 - ndim);
    char *text = xasprintf("%s,%s,%s", path[0], path[1], path[2]);
    const enum status st = problem_set_input(p, text, err);
    for (int i = 0; i < 3; i++)
        free(path[i]);
    free(text);
    return st;
}

static void test_files_set_the_shape(void)
{
    static const int64_t dim[3][4] = {{2, 6, 17, 8}, {2, 3, 13, 8}, {2, 3, 13, 8}};
    struct problem p = PROBLEM_DEFAULT, copy = PROBLEM_DEFAULT;
    struct err err = ERR_INIT;
    p.shape.causal = true;
    CU_ASSERT_EQUAL(set_files(&p, NPY_F2, dim, 4, &err), ST_OK);
    const struct shape want = {.B = 2,
                               .H = 6,
                               .Hkv = 3,
                               .Sq = 17,
                               .Sk = 13,
                               .D = 8,
                               .dtype = DTYPE_F16,
                               .causal = true,
                               .hkv_given = true};
    CU_ASSERT_TRUE(shape_equal(&p.shape, &want));
    CU_ASSERT_TRUE(p.shape.hkv_given);
    CU_ASSERT(p.input == INPUT_FILES && p.files[0][0] == '/');
    problem_copy(&copy, &p);
    CU_ASSERT(problem_equal(&copy, &p) && copy.files[0] != p.files[0]);
    json_t *o = problem_to_json(&p);
    problem_clear(&copy);
    CU_ASSERT_PTR_NULL(copy.files[0]);
    CU_ASSERT_EQUAL(problem_from_json(&copy, o, &err), ST_OK);
    CU_ASSERT_TRUE(problem_equal(&copy, &p));
    json_object_set_new(o, "files", json_pack("[ss]", "a", "b"));
    CU_ASSERT_EQUAL(problem_from_json(&copy, o, &err), ST_USAGE);
    json_decref(o);
    CU_ASSERT_EQUAL(problem_set_input(&copy, "normal", &err), ST_OK);
    CU_ASSERT_PTR_NULL(copy.files[0]);
    problem_clear(&copy);
    problem_clear(&p);
}

/* What a request says beside its files must be what they say. */
static void test_files_and_keys(void)
{
    static const int64_t dim[3][4] = {{2, 6, 17, 8}, {2, 3, 13, 8}, {2, 3, 13, 8}};
    static const struct {
        const char *key, *value;
        bool agrees;
    } cases[] = {
        {"Sq", "17", true},   {"H", "6", true},        {"Hkv", "3", true},   {"dtype", "f16", true},
        {"f16", NULL, true},  {"causal", NULL, true},  {"bshd", NULL, true}, {"S", "17", false},
        {"Sk", "17", false},  {"D", "64", false},      {"H", "3", false},    {"Hkv", "6", false},
        {"f32", NULL, false}, {"dtype", "f32", false}, {"B", "1", false},
    };
    struct problem p = PROBLEM_DEFAULT;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(problem_check_key(&p, "S", "64", &err), ST_OK); /* no files */
    CU_ASSERT_EQUAL(set_files(&p, NPY_F2, dim, 4, &err), ST_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum status st = problem_check_key(&p, cases[i].key, cases[i].value, &err);
        CU_ASSERT_EQUAL(st, cases[i].agrees ? ST_OK : ST_USAGE);
        if (!cases[i].agrees)
            CU_ASSERT(strstr(err.text, cases[i].key) && strstr(err.text, "q.npy"));
    }
    problem_clear(&p);
}

/* The same files in both layouts: each element where its strides say. */
static void test_files_fill(void)
{
    static const int64_t dim[3][4] = {{1, 6, 17, 8}, {1, 3, 13, 8}, {1, 3, 13, 8}};
    struct problem p = PROBLEM_DEFAULT;
    struct tensors plain, swapped;
    struct err err = ERR_INIT;
    size_t wrong = 0;
    CU_ASSERT_EQUAL_FATAL(set_files(&p, NPY_F4, dim, 3, &err), ST_OK); /* (H,S,D) */
    CU_ASSERT(p.shape.B == 1 && p.shape.dtype == DTYPE_F32);
    CU_ASSERT_EQUAL_FATAL(tensors_make(&p, &plain, &err), ST_OK);
    const unsigned char *bytes = plain.q;
    for (size_t i = 0; i < plain.q_bytes; i++)
        wrong += bytes[i] != i * 37 % 100;
    struct shape bshd = p.shape;
    bshd.layout = LAYOUT_BSHD;
    p.shape.layout = LAYOUT_BSHD;
    CU_ASSERT_EQUAL_FATAL(tensors_make(&p, &swapped, &err), ST_OK);
    p.shape.layout = LAYOUT_BHSD;
    for (int64_t h = 0; h < 3; h++)
        for (int64_t r = 0; r < 13; r++)
            for (int64_t d = 0; d < 8; d++) {
                const int64_t at[4] = {0, h, r, d};
                wrong += ((float *)plain.k)[address(&p.shape, 3, 13, at)] !=
                         ((float *)swapped.k)[address(&bshd, 3, 13, at)];
            }
    CU_ASSERT_EQUAL(wrong, 0);
    tensors_free(&swapped);
    tensors_free(&plain);
    /* The shape moves on, the files do not. */
    p.shape.Sq = 18;
    CU_ASSERT_EQUAL(tensors_make(&p, &plain, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "(1,6,17,8) f32"));
    p.shape.Sq = 17;
    p.shape.dtype = DTYPE_F16;
    CU_ASSERT_EQUAL(tensors_make(&p, &plain, &err), ST_USAGE);
    problem_clear(&p);
}

static void refuse_files(enum npy_type type, const int64_t dim[3][4], int ndim,
                         const char *sentence)
{
    struct problem p = PROBLEM_DEFAULT;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(set_files(&p, type, dim, ndim, &err), ST_USAGE);
    if (!strstr(err.text, sentence))
        printf("# %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, sentence));
    CU_ASSERT(p.input == INPUT_NORMAL && shape_equal(&p.shape, &small));
    problem_clear(&p);
}

static void test_files_refused(void)
{
    refuse_files(NPY_F2, (const int64_t[3][4]){{1, 4, 5, 8}, {1, 4, 5, 9}, {1, 4, 5, 9}}, 4,
                 "has D=8 but K");
    refuse_files(NPY_F2, (const int64_t[3][4]){{1, 4, 5, 8}, {1, 4, 6, 8}, {1, 4, 5, 8}}, 4,
                 "has S=6 but V");
    refuse_files(NPY_F2, (const int64_t[3][4]){{1, 4, 5, 8}, {2, 4, 5, 8}, {2, 4, 5, 8}}, 4,
                 "has B=1 but K");
    refuse_files(NPY_F2, (const int64_t[3][4]){{1, 4, 5, 8}, {1, 3, 5, 8}, {1, 3, 5, 8}}, 4,
                 "Hkv=3 does not divide H=4");
    refuse_files(NPY_F2, (const int64_t[3][4]){{1, 1, 1, 8}, {1, 1, 1, 8}, {1, 1, 1, 8}}, 1,
                 "one dimension");
    refuse_files(NPY_U2, (const int64_t[3][4]){{1, 1, 5, 8}, {1, 1, 5, 8}, {1, 1, 5, 8}}, 2,
                 "dtype=bf16");
}

/* Rows say which files it was, so that each name must be text. */
static void test_names_are_text(void)
{
    static const int64_t dim[] = {1, 1, 5, 8};
    for (int odd = -1; odd < 3; odd++) {
        char *path[3];
        for (int i = 0; i < 3; i++) {
            const char name[] = {(char)('a' + i), i == odd ? '\xff' : '_', '.', 'n', 'p', 'y', 0};
            path[i] = write_file(name, NPY_F2, 4, dim);
        }
        char *text = xasprintf("%s,%s,%s", path[0], path[1], path[2]);
        struct problem p = PROBLEM_DEFAULT;
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL(problem_set_input(&p, text, &err), odd < 0 ? ST_OK : ST_USAGE);
        CU_ASSERT(odd < 0 || strstr(err.text, "must be UTF-8"));
        problem_clear(&p);
        free(text);
        for (int i = 0; i < 3; i++) {
            unlink(path[i]);
            free(path[i]);
        }
    }
}

/* Who reads them may be in another folder: they are kept by their whole names. */
static void test_names_are_whole(void)
{
    static const int64_t dim[3][4] = {{1, 1, 5, 8}, {1, 1, 5, 8}, {1, 1, 5, 8}};
    struct problem p = PROBLEM_DEFAULT, here = PROBLEM_DEFAULT;
    struct err err = ERR_INIT;
    char *back = getcwd(NULL, 0);
    CU_ASSERT_EQUAL(set_files(&p, NPY_F2, dim, 4, &err), ST_OK);
    CU_ASSERT_FATAL(back && chdir(folder) == 0);
    CU_ASSERT_EQUAL(problem_set_input(&here, "q.npy,./k.npy,v.npy", &err), ST_OK);
    CU_ASSERT_EQUAL(chdir(back), 0);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(here.files[i]);
        CU_ASSERT_STRING_EQUAL(here.files[i], p.files[i]);
        CU_ASSERT_EQUAL(here.files[i][0], '/');
    }
    problem_clear(&here);
    problem_clear(&p);
    free(back);
}

static void test_bf16_and_mixed_types(void)
{
    static const int64_t dim[3][4] = {{1, 1, 5, 8}, {1, 1, 5, 8}, {1, 1, 5, 8}};
    struct problem p = PROBLEM_DEFAULT;
    struct err err = ERR_INIT;
    p.shape.dtype = DTYPE_BF16;
    CU_ASSERT_EQUAL(set_files(&p, NPY_U2, dim, 2, &err), ST_OK);
    CU_ASSERT(p.shape.dtype == DTYPE_BF16 && p.shape.H == 1 && !p.shape.hkv_given);
    char *v = write_file("v.npy", NPY_F4, 2, dim[2] + 2);
    char *text = xasprintf("%s,%s,%s", p.files[0], p.files[1], v);
    CU_ASSERT_EQUAL(problem_set_input(&p, text, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "holds uint16 but"));
    free(text);
    free(v);
    problem_clear(&p);
}

/* What a worker makes in place from the source is what the judge makes from the problem. */
static void turns(void)
{
    static const char *const shapes[] = {"B=2 H=3 S=30 D=5 f16", "B=1 H=1 S=1 D=8 f32",
                                         "B=1 H=4 Hkv=2 Sq=70 Sk=90 D=16 bf16 bshd"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct problem p = PROBLEM_DEFAULT;
        struct tensors plain, turned;
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL_FATAL(shape_parse(shapes[i], &p.shape, &err), ST_OK);
        CU_ASSERT_EQUAL_FATAL(tensors_make(&p, &plain, &err), ST_OK);
        CU_ASSERT_EQUAL(input_turn_bytes(&p.shape, TENSOR_Q, 0), 0);
        p.turn = 0x8000000000000123;
        CU_ASSERT_EQUAL_FATAL(tensors_make(&p, &turned, &err), ST_OK);
        const size_t by = input_turn_bytes(&p.shape, TENSOR_K, p.turn);
        CU_ASSERT(by > 0 && by < plain.kv_bytes && by % dtype_size(p.shape.dtype) == 0);
        char *mine = malloc(plain.kv_bytes);
        input_rotate(mine, plain.k, plain.kv_bytes, by);
        CU_ASSERT_EQUAL(memcmp(mine, turned.k, plain.kv_bytes), 0);
        CU_ASSERT_NOT_EQUAL(memcmp(plain.q, turned.q, plain.q_bytes), 0);
        json_t *o = problem_to_json(&p);
        struct problem back = PROBLEM_DEFAULT;
        CU_ASSERT_EQUAL(problem_from_json(&back, o, &err), ST_OK);
        CU_ASSERT(problem_equal(&p, &back) && back.turn == p.turn);
        back.turn++;
        CU_ASSERT_FALSE(problem_equal(&p, &back));
        json_decref(o);
        free(mine);
        tensors_free(&plain);
        tensors_free(&turned);
        problem_clear(&back);
    }
}

/* From the last to the first, as threads may. */
static void backwards(void *calls, int64_t n, void (*part)(void *ctx, int64_t i, int thread),
                      void *ctx)
{
    for (int64_t i = n; i-- > 0;)
        part(ctx, i, 0);
    ++*(int *)calls;
}

static void crews(void)
{
    static const char *const shapes[] = {"B=1 H=3 Hkv=1 Sq=20 Sk=2100 D=255 f16",
                                         "B=2 H=2 S=700 D=200 f32 causal",
                                         "B=1 H=5 S=800 D=130 bf16 bshd", "B=1 H=1 S=1 D=8 f16"};
    for (size_t i = 0; i < 2 * (sizeof shapes / sizeof *shapes); i++) {
        int calls = 0;
        const struct input_crew crew = {backwards, &calls};
        struct problem p = PROBLEM_DEFAULT;
        struct tensors alone, helped;
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL_FATAL(shape_parse(shapes[i / 2], &p.shape, &err), ST_OK);
        p.turn = i % 2 ? 0x8000000000000123 : 0;
        CU_ASSERT_EQUAL_FATAL(tensors_make(&p, &alone, &err), ST_OK);
        CU_ASSERT_EQUAL_FATAL(tensors_make_by(&crew, &p, &helped, &err), ST_OK);
        CU_ASSERT_EQUAL(calls > 0, i / 2 < 3); /* the last is too small for help */
        CU_ASSERT_EQUAL(memcmp(alone.q, helped.q, alone.q_bytes), 0);
        CU_ASSERT_EQUAL(memcmp(alone.k, helped.k, alone.kv_bytes), 0);
        CU_ASSERT_EQUAL(memcmp(alone.v, helped.v, alone.kv_bytes), 0);
        tensors_free(&alone);
        tensors_free(&helped);
        problem_clear(&p);
    }
}

static const struct tap_test tests[] = {
    {"who helps changes nothing", crews},
    {"a turn is the same for who makes it and who judges it", turns},
    {"Philox gives the published answers", test_philox},
    {"values follow the formula, bit for bit", test_formula},
    {"any window gives the same values", test_windows},
    {"moments and tails", test_statistics},
    {"neighbours, tensors and seeds are unrelated", test_independence},
    {"large scores reach about 100", test_large_scores},
    {"the ramp is exact", test_ramp},
    {"problems as JSON", test_json},
    {"names of inputs", test_input_names},
    {"tensors in both layouts and all types", test_tensors},
    {"what does not fit is refused", test_too_large},
    {"files set the shape", test_files_set_the_shape},
    {"keys beside files must agree with them", test_files_and_keys},
    {"files fill tensors in both layouts", test_files_fill},
    {"files that do not fit together", test_files_refused},
    {"names of files are text", test_names_are_text},
    {"and whole", test_names_are_whole},
    {"bf16 as uint16, and mixed types", test_bf16_and_mixed_types},
};

int main(void)
{
    if (!mkdtemp(folder))
        return tap_skip_all("no folder for temporary files");
    const int rc = tap_run("input", tests, sizeof tests / sizeof *tests);
    for (const char *const *name = (const char *const[]){"q.npy", "k.npy", "v.npy", NULL}; *name;
         name++) {
        char *path = xasprintf("%s/%s", folder, *name);
        unlink(path);
        free(path);
    }
    rmdir(folder);
    return rc;
}
