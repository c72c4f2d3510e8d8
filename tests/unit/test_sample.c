/* Which rows are judged where not all can be, and that what faults are tried on is attention; and the words for where
 * figures come from.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/fault.h"
#include "measure/origin.h"
#include "measure/reference.h"
#include "spec/input.h"
#include "tap.h"

static struct problem problem_of(const char *shape)
{
    struct problem p = PROBLEM_DEFAULT;
    CU_ASSERT_EQUAL_FATAL(shape_parse(shape, &p.shape, NULL), ST_OK);
    return p;
}

static bool holds(const int64_t *rows, int64_t n, int64_t row)
{
    for (int64_t i = 0; i < n; i++)
        if (rows[i] == row)
            return true;
    return false;
}

/* First and last row of the first and last head, whatever is drawn; ascending, each once, in range. */
static void test_ends(void)
{
    static const char *const shapes[] = {"B=2 H=4 S=4k D=64", "B=1 H=1 Sq=1 Sk=100",
                                         "H=3 Sq=2 Sk=9", "B=3 H=5 S=17", "B=1 H=2 S=100k"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t want = 4; want < 400; want *= 3) {
            const struct problem p = problem_of(shapes[i]);
            const int64_t Sq = p.shape.Sq, total = p.shape.B * p.shape.H * Sq;
            int64_t *rows;
            const int64_t n = sample_rows(&p, want, &rows);
            CU_ASSERT(holds(rows, n, 0) && holds(rows, n, Sq - 1));
            CU_ASSERT(holds(rows, n, total - Sq) && holds(rows, n, total - 1));
            CU_ASSERT(n <= want && n <= total);
            for (int64_t k = 0; k < n; k++)
                CU_ASSERT(rows[k] >= 0 && rows[k] < total && (k == 0 || rows[k] > rows[k - 1]));
            free(rows);
        }
}

/* Half of the others at the edges of tiles, where kernels go wrong; the rest anywhere, in all heads. */
static void test_where(void)
{
    const struct problem p = problem_of("B=2 H=8 S=16k");
    int64_t *rows, heads[16] = {0}, edges = 0, big = 0, late = 0;
    const int64_t want = 4000, n = sample_rows(&p, want, &rows);
    CU_ASSERT(n > 3800); /* few are drawn twice of 262144 */
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = rows[k] % p.shape.Sq;
        heads[rows[k] / p.shape.Sq]++;
        edges += (i + 1) % 16 <= 2;
        big += (i + 1) % 128 <= 2;
        late += i >= p.shape.Sq / 2;
    }
    /* Of rows drawn anywhere 3 of 16 are beside a multiple of 16: half and 3/32 of all. */
    CU_ASSERT(edges > n * 56 / 100 && edges < n * 63 / 100);
    /* A third of the edges are of 128, an eighth and a half of the others' by chance: 0.5 (1 + 1/2 + 1/8) / 3 + 0.5 * 3/128. */
    CU_ASSERT(big > n * 25 / 100 && big < n * 32 / 100);
    CU_ASSERT(late > n * 45 / 100 && late < n * 55 / 100);
    for (int h = 0; h < 16; h++)
        CU_ASSERT(heads[h] > want / 32);
    free(rows);
}

static bool same(const struct problem *a, const struct problem *b)
{
    int64_t *x, *y;
    const int64_t n = sample_rows(a, 64, &x), m = sample_rows(b, 64, &y);
    const bool alike = n == m && !memcmp(x, y, (size_t)n * sizeof *x);
    free(x);
    free(y);
    return alike;
}

/* The same for who asks again; other rows for another seed, turn or shape, so that nobody can know them beforehand. */
static void test_drawn(void)
{
    const struct problem p = problem_of("B=2 H=4 S=4k D=64 f16");
    struct problem q = p;
    CU_ASSERT(same(&p, &q));
    q.seed = p.seed + 1;
    CU_ASSERT(!same(&p, &q));
    q = p;
    q.turn = p.turn + 1;
    CU_ASSERT(!same(&p, &q));
    q = problem_of("B=2 H=4 S=4k D=64 bf16");
    CU_ASSERT(!same(&p, &q));
    q = problem_of("B=2 H=4 S=4k D=64 f16 causal");
    CU_ASSERT(!same(&p, &q));
}

static void test_origins(void)
{
    static const char *const tags[] = {"LIVE", "RECORDED", "SIM", "MODEL", "ALTERED"};
    for (int i = 0; origin_words[i]; i++) {
        char copy[16];
        snprintf(copy, sizeof copy, "%s", origin_words[i]);
        CU_ASSERT_PTR_EQUAL(origin_word(copy), origin_words[i]); /* the table's own */
        CU_ASSERT_STRING_EQUAL(origin_tag(copy), tags[i]);
    }
    CU_ASSERT_PTR_NULL(origin_word("lively"));
    CU_ASSERT_PTR_NULL(origin_word(NULL));
    CU_ASSERT_STRING_EQUAL(origin_tag("lively"), "?");
    CU_ASSERT_STRING_EQUAL(origin_tag(NULL), "?");
    struct str all = {0};
    static const char *const seen[] = {"sim", "sim", NULL, "lively", "live", "sim"};
    for (int i = 0; i < 6; i++)
        origin_add(&all, seen[i]);
    CU_ASSERT_STRING_EQUAL(str_text(&all), "SIM, LIVE");
    str_free(&all);
}

/* Furthest from the reference with no fault, in whatever tiles and parts. */
static double far_without_fault(const char *shape)
{
    static const struct fault none[] = {{.bc = 0},
                                        {.bc = 16},
                                        {.bc = 7, .splits = 3},
                                        {.bc = 16, .backward = true},
                                        {.splits = 2, .backward = true}};
    const struct problem p = problem_of(shape);
    struct tensors t;
    struct reference *r;
    double far = 0;
    CU_ASSERT_EQUAL_FATAL(tensors_make(&p, &t, NULL), ST_OK);
    CU_ASSERT_EQUAL_FATAL(reference_new(&p, &t, NULL, REFERENCE_FLOPS, &r, NULL), ST_OK);
    CU_ASSERT_EQUAL(r->judged, r->total);
    struct evaluator e = evaluator_new(&p.shape, &t);
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        for (int64_t row = 0; row < r->judged; row++) {
            evaluate(&e, &none[k], row);
            for (int64_t d = 0; d < p.shape.D; d++)
                far = fmax(far, fabs(e.o[d] - r->value[row * p.shape.D + d]));
        }
    evaluator_free(&e);
    reference_free(r);
    tensors_free(&t);
    return far;
}

static void test_no_fault(void)
{
    static const char *const shapes[] = {"B=2 H=4 Hkv=2 Sq=19 Sk=83 D=32 f16 causal",
                                         "H=2 Sq=40 Sk=50 D=16 f32 layout=bshd",
                                         "H=3 Sq=50 Sk=33 D=24 bf16 causal"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const double far = far_without_fault(shapes[i]);
        printf("# %s: at most %.2g off\n", shapes[i], far);
        CU_ASSERT(far < 1e-9);
    }
}

static const struct tap_test tests[] = {
    {"the ends of the first and last head", test_ends},
    {"tile edges and anywhere", test_where},
    {"drawn by the problem", test_drawn},
    {"what faults are tried on is attention", test_no_fault},
    {"where figures come from", test_origins},
};

TAP_MAIN("sample", tests)
