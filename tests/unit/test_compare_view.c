/* test_compare_view.c - the Compare screen's order, speedups, verdicts and panes from fixed rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/compare_counters.h"
#include "tui/screens/compare_view.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

static struct run_row run_row(double median, double cv, const char *check, const char *verdict)
{
    struct run_row r;
    record_init(run_fields, &r);
    r.median_us = median;
    r.q1_us = median * 0.99;
    r.q3_us = median * 1.01;
    r.min_us = median * 0.98;
    r.cv_pct = cv;
    r.tflops = 2000 / median;
    r.n = 100;
    r.seed = 42;
    r.check = (char *)(uintptr_t)check;
    r.verdict = (char *)(uintptr_t)verdict;
    return r;
}

static const struct device l4 = {.name = (char *)"L4", .cc = 89, .sms = 58, .dram_gbs = 300};
static const struct plan fits = {
    .device = &l4,
    .passes = {{.smem_bytes = 26624,
                .regs = 128,
                .occ = {.blocks_per_sm = 3, .occupancy_pct = 25, .waves = 1.47}}},
    .npasses = 1,
    .requested_bytes = 1048576,
    .roof_us = 71};
static const struct plan bound = {
    .device = &l4,
    .passes = {{.smem_bytes = 13312,
                .regs = INT_UNKNOWN,
                .occ = {.blocks_per_sm = 6, .upper_bound = 1, .occupancy_pct = 50, .waves = 0.74}}},
    .npasses = 1,
    .requested_bytes = 2097152,
    .roof_us = 71};
static const struct plan wall = {.device = &l4,
                                 .reason = (char *)"the wall: 132096 B, L4 allows 101376 B"};

/* Right rows by time, then what is not measured, what failed, what cannot run, candidates. */
static void test_order(void)
{
    struct run_row fast = run_row(100, 0.3, "pass", NULL), slow = run_row(300, 0.1, "pass", NULL),
                   wrong = run_row(1, 0.1, "fail", NULL);
    const struct compare_row a = {.label = "slow", .in = true, .row = &slow},
                             b = {.label = "fast", .in = true, .row = &fast},
                             none = {.label = "none", .in = true},
                             bad = {.label = "bad", .in = true, .row = &wrong},
                             cannot = {.label = "cannot", .in = true, .cannot = "no GPU"},
                             other = {.label = "other"};
    CU_ASSERT(compare_order(&b, &a, SORT_TIME, false) < 0);
    CU_ASSERT(compare_order(&b, &a, SORT_TIME, true) > 0);
    CU_ASSERT(compare_order(&a, &b, SORT_CV, false) < 0);
    CU_ASSERT(compare_order(&b, &a, SORT_TFLOPS, false) < 0);
    CU_ASSERT(compare_order(&a, &b, SORT_NAME, false) > 0);
    const struct compare_row *groups[] = {&a, &none, &bad, &cannot, &other};
    for (int sort = 0; sort < SORT_COUNTER; sort++)
        for (int i = 0; i + 1 < 5; i++) /* whatever the column: a wrong one is never on top */
            CU_ASSERT(compare_order(groups[i], groups[i + 1], (enum compare_sort)sort, i % 2) < 0);
}

static void test_speedup(void)
{
    struct run_row fast = run_row(100, 0.3, "pass", NULL), slow = run_row(300, 0.1, "pass", NULL),
                   wrong = run_row(1, 0.1, "fail", NULL);
    struct compare_row base = {.label = "slow", .in = true, .base = true, .row = &slow},
                       b = {.label = "fast", .in = true, .row = &fast},
                       bad = {.label = "bad", .in = true, .row = &wrong};
    CU_ASSERT_DOUBLE_EQUAL(compare_speedup(&base, &b), 3, 1e-9);
    /* after a paired run it is what the verdict says, not another figure beside it */
    struct run_row paired = *b.row;
    const struct compare_row judged = {.row = &paired, .in = true};
    paired.verdict = (char *)(uintptr_t) "FASTER";
    paired.ratio = 0.25;
    CU_ASSERT_DOUBLE_EQUAL(compare_speedup(&base, &judged), 4, 1e-9);
    paired.verdict = NULL;
    CU_ASSERT_DOUBLE_EQUAL(compare_speedup(&base, &judged), 3, 1e-9);
    CU_ASSERT(isnan(compare_speedup(&base, &bad)));
    CU_ASSERT(isnan(compare_speedup(&bad, &b)));
    CU_ASSERT(isnan(compare_speedup(NULL, &b)));
    b.old = true; /* of another shape than the base's */
    CU_ASSERT(isnan(compare_speedup(&base, &b)));
}

static void verdict(const struct compare_row *left, const struct compare_row *right, bool blank,
                    const char *want)
{
    struct str s = {0};
    compare_verdict(left, right, blank, 1.2, &s);
    if (!strstr(str_text(&s), want))
        printf("# wanted \"%s\", got \"%s\"\n", want, str_text(&s));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), want));
    str_free(&s);
}

/* A winner is named by the paired run's verdict and by nothing else. */
static void test_verdict(void)
{
    struct run_row b = run_row(300, 0.1, "pass", "base"), r = run_row(100, 0.3, "pass", "FASTER"),
                   wrong = run_row(1, 0.1, "fail", NULL), near = run_row(101, 2, "pass", NULL);
    struct compare_row base = {.label = "naive", .in = true, .base = true, .row = &b},
                       fast = {.label = "fa2", .in = true, .row = &r},
                       bad = {.label = "bad", .in = true, .row = &wrong},
                       twin = {.label = "twin", .in = true, .row = &near},
                       none = {.label = "none", .in = true};
    r.ratio = 0.333;
    r.ratio_lo = 0.33;
    r.ratio_hi = 0.34;
    verdict(&base, &fast, false, "fa2 is FASTER than naive: 0.333 times");
    verdict(&base, &fast, true, "Which one is faster");
    verdict(&base, &bad, false, "bad failed its check: not ranked");
    verdict(&base, &none, false, "r measures both");
    verdict(&fast, &twin, false, "no verdict without a paired run");
    verdict(&fast, &twin, false, "quartiles overlap");
    r.verdict = (char *)"AMBIGUOUS";
    verdict(&base, &fast, false, "No winner");
    fast.old = true;
    verdict(&base, &fast, false, "of other settings");
}

static struct compare_view make_view(const struct compare_row *rows, int n, struct list *list,
                                     const struct knobs *knobs)
{
    return (struct compare_view){.rows = rows,
                                 .n = n,
                                 .list = list,
                                 .knobs = knobs,
                                 .machine = "cuda: L4",
                                 .origin = "live",
                                 .activity = "",
                                 .gpu = "L4"};
}

static bool shows(const struct canvas *c, const char *text)
{
    struct str s = {0};
    canvas_to_text(c, &s);
    bool found = strstr(str_text(&s), text) != NULL;
    if (!found)
        printf("# no \"%s\" in\n%s", text, str_text(&s));
    str_free(&s);
    return found;
}

static void test_draw(void)
{
    struct run_row b = run_row(300, 0.1, "pass", "base"), r = run_row(100, 0.3, "pass", "FASTER"),
                   wrong = run_row(1, 0.1, "fail", NULL);
    struct knobs knobs = {.v = {{.name = "S", .text = "1024"}, {.name = "BR", .text = "64"}},
                          .n = 2};
    r.ratio = 0.333;
    r.ratio_lo = 0.33;
    r.ratio_hi = 0.34;
    r.pair_max_diff = 2.4e-4;
    const struct compare_row rows[] = {
        {.label = "fa2", .in = true, .row = &r, .plan = &bound, .peak_tflops = 121},
        {.label = "naive", .in = true, .base = true, .row = &b, .plan = &fits, .peak_tflops = 121},
        {.label = "bad", .in = true, .row = &wrong, .plan = &wall, .peak_tflops = 121},
        {.label = "torch:flash", .cannot = "python3 has no torch"},
    };
    struct list list = {.n = 4};
    struct compare_view v = make_view(rows, 4, &list, &knobs);
    struct canvas *c = canvas_new(80, 24, GLYPHS_ASCII);
    compare_draw(c, (struct rect){0, 1, 80, 21}, &v);
    CU_ASSERT(shows(c, "[S 1024]"));
    CU_ASSERT(shows(c, "Ranking by time  LIVE  cuda: L4"));
    CU_ASSERT(shows(c, "3.00x  FASTER"));
    CU_ASSERT(shows(c, "16.5")); /* 20 of 121 TFLOP/s */
    CU_ASSERT(shows(c, "FAIL"));
    CU_ASSERT(shows(c, "python3 has no torch"));
    CU_ASSERT(shows(c, "Pair  naive -> fa2  MODEL L4"));
    CU_ASSERT(shows(c, "<=6")); /* registers unknown: a bound */
    CU_ASSERT(shows(c, "they differ by 2.4e-04 at most"));
    struct str s = {0};
    canvas_to_text(c, &s); /* a wrong row has no time and no speedup */
    const char *bad = strstr(str_text(&s), "bad ");
    CU_ASSERT(bad && strcspn(bad, "\n") > strcspn(bad, "F"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&s), "300x"));
    str_free(&s);
    list.cur = 2; /* the wall is said with its limit */
    canvas_clear(c);
    compare_draw(c, (struct rect){0, 1, 80, 21}, &v);
    CU_ASSERT(shows(c, "L4 allows 101376 B"));
    canvas_free(c);
    r.verdict = (char *)"AMBIGUOUS"; /* the longest is whole in every size */
    c = canvas_new(80, 24, GLYPHS_ASCII);
    compare_draw(c, (struct rect){0, 1, 80, 21}, &v);
    CU_ASSERT(shows(c, "3.00x  AMBIGUOUS"));
    canvas_free(c);
    c = canvas_new(200, 50, GLYPHS_ASCII);
    compare_draw(c, (struct rect){0, 1, 200, 47}, &v);
    CU_ASSERT(shows(c, "3.00x  AMBIGUOUS"));
    canvas_free(c);
}

/* All times of a table are in one unit, its shortest row's, which the head names. */
static void test_units(void)
{
    static const struct {
        double median;
        const char *head, *times, *range;
    } cases[] = {{1543.2, "median ms", " 1.543 ", " 1.528..1.559"},
                 {154.32, "median us", " 154.3 ", " 152.8..155.9"},
                 {1543200, "median s", " 1.543 ", " 1.528..1.559"}};
    struct knobs knobs = {.v = {{.name = "S", .text = "1024"}}, .n = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_row a = run_row(cases[i].median, 0.1, "pass", NULL),
                       b = run_row(3e6, 0.1, "pass", NULL);
        const struct compare_row rows[] = {
            {.label = "fa2", .in = true, .base = true, .row = &a, .peak_tflops = NAN},
            {.label = "naive", .in = true, .row = &b, .peak_tflops = NAN}};
        struct list list = {.n = 2};
        struct compare_view v = make_view(rows, 2, &list, &knobs);
        struct canvas *c = canvas_new(200, 50, GLYPHS_ASCII);
        compare_draw(c, (struct rect){0, 1, 200, 47}, &v);
        CU_ASSERT(shows(c, cases[i].head));
        CU_ASSERT(shows(c, cases[i].times));
        CU_ASSERT(shows(c, cases[i].range));
        canvas_free(c);
    }
}

/* A verdict beside disturbed times stands with what disturbed them, of either side, in every size. */
static void test_noise(void)
{
    struct run_row b = run_row(300, 0.1, "pass", "base"), r = run_row(100, 215, "pass", "FASTER");
    struct knobs knobs = {.v = {{.name = "S", .text = "1024"}}, .n = 1};
    const struct compare_row rows[] = {
        {.label = "fa2", .in = true, .row = &r, .plan = &bound, .peak_tflops = NAN},
        {.label = "naive", .in = true, .base = true, .row = &b, .plan = &fits, .peak_tflops = NAN}};
    struct list list = {.n = 2};
    struct compare_view v = make_view(rows, 2, &list, &knobs);
    b.noise = r.noise = (char *)"quiet";
    struct canvas *c = canvas_new(80, 24, GLYPHS_ASCII);
    compare_draw(c, (struct rect){0, 1, 80, 21}, &v);
    CU_ASSERT(!shows(c, "noise"));
    r.noise = (char *)"others used 1.5 of 2 cores; CV 215 %";
    canvas_clear(c);
    compare_draw(c, (struct rect){0, 1, 80, 21}, &v);
    CU_ASSERT(shows(c, "noise: fa2: others used 1.5 of 2 cores; CV 215 %"));
    CU_ASSERT(shows(c, "same inputs, seed 42"));
    v.blank = true;
    canvas_clear(c);
    compare_draw(c, (struct rect){0, 1, 80, 21}, &v);
    CU_ASSERT(!shows(c, "215"));
    v.blank = false;
    list.cur = 1; /* the left side alone */
    r.noise = (char *)"quiet";
    b.noise = (char *)"two modes";
    canvas_clear(c);
    compare_draw(c, (struct rect){0, 1, 80, 21}, &v);
    CU_ASSERT(shows(c, "noise: naive: two modes"));
    canvas_free(c);
    c = canvas_new(200, 50, GLYPHS_ASCII);
    compare_draw(c, (struct rect){0, 1, 200, 47}, &v);
    CU_ASSERT(shows(c, "noise: naive: two modes"));
    canvas_free(c);
}

static void test_blank(void)
{
    struct run_row b = run_row(312.5, 0.1, "pass", "base");
    struct knobs knobs = {.v = {{.name = "S", .text = "1024"}}, .n = 1};
    const struct compare_row rows[] = {
        {.label = "naive", .in = true, .base = true, .row = &b, .plan = &fits, .peak_tflops = NAN}};
    struct list list = {.n = 1};
    struct compare_view v = make_view(rows, 1, &list, &knobs);
    struct canvas *c = canvas_new(80, 24, GLYPHS_ASCII);
    struct str s = {0};
    v.blank = true;
    compare_draw(c, (struct rect){0, 1, 80, 21}, &v);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NULL(strstr(str_text(&s), "312"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&s), "309"));
    str_free(&s);
    canvas_free(c);
}

/* Nothing outside its rectangle, and no crash, whatever the size. */
static void test_sizes(void)
{
    struct run_row b = run_row(300, 0.1, "pass", "base");
    struct knobs knobs = {
        .v = {{.name = "S", .text = "1024"}, {.name = "a_long_name", .text = "1"}}, .n = 2};
    const struct compare_row rows[] = {
        {.label = "a_kernel_with_a_long_name@BR=32@BC=64", .in = true, .base = true, .row = &b},
        {.label = "x", .cannot = "a reason that is longer than the row"}};
    struct list list = {.n = 2};
    for (int w = 40; w < 130; w += 7)
        for (int h = 9; h < 50; h += 5)
            for (int one = 0; one < 2; one++) {
                struct compare_view v = make_view(rows, 2, &list, &knobs);
                struct canvas *c = canvas_new(w + 4, h + 4, GLYPHS_BLOCK);
                int outside = 0;
                v.one_pane = one == 1 || h < 21;
                v.focus = (enum compare_pane)(w % COMPARE_PANES);
                compare_draw(c, (struct rect){2, 2, w, h}, &v);
                for (int y = 0; y < h + 4; y++)
                    for (int x = 0; x < w + 4; x++)
                        if (x < 2 || y < 2 || x >= w + 2 || y >= h + 2)
                            outside += canvas_glyph(c, x, y) != ' ';
                if (outside)
                    printf("# %d cells outside of %dx%d\n", outside, w, h);
                CU_ASSERT_EQUAL(outside, 0);
                canvas_free(c);
            }
}

/* Counts beside each other, with ratios to the baseline's; never a winner. */
static void test_counters(void)
{
    struct run_row slim, wide;
    struct knobs knobs = {0};
    struct list list = {0};
    struct str verdict = {0}, text = {0};
    record_init(run_fields, &slim);
    record_init(run_fields, &wide);
    slim.warp_instructions = 1000;
    slim.smem_wavefronts = 3840;
    wide.warp_instructions = 4000;
    wide.smem_wavefronts = 1920;
    const struct compare_row rows[] = {
        {.label = "fa2_mma",
         .in = true,
         .base = true,
         .untimed = "no GPU",
         .sim = &slim,
         .counter = 1000},
        {.label = "fa2_plain", .in = true, .untimed = "no GPU", .sim = &wide, .counter = 4000},
        {.label = "cublas", .in = true, .sim_cannot = "another library", .counter = NAN},
    };
    struct compare_view v = make_view(rows, 3, &list, &knobs);
    v.counts = true;
    v.counter = counter_find("smem_wavefronts");
    for (int w = 80; w <= 200; w += 40) {
        struct canvas *c = canvas_new(w, 24, GLYPHS_ASCII);
        str_clear(&text);
        compare_draw(c, (struct rect){0, 0, w, 24}, &v);
        canvas_to_text(c, &text);
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "1.92 k 0.500x"));
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "4.00 k 4x"));
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "another library"));
        CU_ASSERT_PTR_NULL(strstr(str_text(&text), "FASTER"));
        CU_ASSERT_PTR_NULL(strstr(str_text(&text), "SLOWER"));
        canvas_free(c);
    }
    CU_ASSERT(compare_order(&rows[0], &rows[1], SORT_COUNTER, false) < 0);
    CU_ASSERT(compare_order(&rows[0], &rows[1], SORT_COUNTER, true) > 0);
    CU_ASSERT(compare_order(&rows[2], &rows[1], SORT_COUNTER, true) > 0); /* unknown is not least */
    compare_verdict(&rows[0], &rows[1], false, 1.2, &verdict);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&verdict), "not which is faster"));
    for (int i = 0; compare_counter_at(i); i++)
        CU_ASSERT_EQUAL(compare_counter_index(compare_counter_at(i)->field), i);
    CU_ASSERT_EQUAL(compare_counter_index("elapsed_cycles"), -1); /* the simulator has no clock */
    str_free(&verdict);
    str_free(&text);
    record_clear(run_fields, &slim);
    record_clear(run_fields, &wide);
}

/* What the model says of two that nobody timed: an order beyond what it errs by, and none within. */
static void test_predicted(void)
{
    struct run_row a, b;
    struct str text = {0};
    struct knobs knobs = {0};
    struct list list = {0};
    record_init(run_fields, &a);
    record_init(run_fields, &b);
    struct run_row *const both[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        both[i]->shape = xstrdup("B=1 H=8 S=1024 D=64 f16");
        both[i]->predicted_on = xstrdup("L4");
        both[i]->warp_instructions = 1000;
        both[i]->predicted_us = i ? 150 : 100;
        both[i]->predicted_error_pct = 26;
        both[i]->predicted_parts = json_pack("[{s:s, s:f}]", "unit", "smem", "us", i ? 150. : 100.);
    }
    struct compare_row rows[] = {
        {.label = "fa2", .in = true, .base = true, .untimed = "no GPU", .sim = &a, .counter = 100},
        {.label = "fa2@PAD=0", .in = true, .untimed = "no GPU", .sim = &b, .counter = 150},
    };
    verdict(&rows[0], &rows[1], false, "1.50 times the time of fa2: predicted SLOWER");
    verdict(&rows[1], &rows[0], false, "predicted FASTER");
    verdict(&rows[0], &rows[1], true, "by the model?");
    b.predicted_us = 119;
    verdict(&rows[0], &rows[1], false, "too close to tell, it takes 1.20 times");
    rows[1].sim_old = true;
    verdict(&rows[0], &rows[1], false, "not which is faster");
    rows[1].sim_old = false;
    b.predicted_us = 150;
    struct compare_view v = make_view(rows, 2, &list, &knobs);
    v.counts = true;
    v.counter = compare_counter_at(compare_counter_index("predicted_us"));
    v.apart = 1.2;
    for (int blank = 0; blank < 2; blank++) {
        struct canvas *c = canvas_new(80, 24, GLYPHS_ASCII);
        v.blank = blank;
        str_clear(&text);
        compare_draw(c, (struct rect){0, 0, 80, 24}, &v);
        canvas_to_text(c, &text);
        CU_ASSERT_EQUAL(strstr(str_text(&text), "MODEL 150 us on L4, off by 26 %") != NULL, !blank);
        CU_ASSERT_EQUAL(strstr(str_text(&text), "aaaaaaaaaa") != NULL, !blank);
        CU_ASSERT_EQUAL(strstr(str_text(&text), "150 us +-26 %") != NULL, !blank);
        canvas_free(c);
    }
    str_free(&text);
    record_clear(run_fields, &a);
    record_clear(run_fields, &b);
}

static const struct tap_test tests[] = {
    {"predicted times", test_predicted},
    {"order", test_order},
    {"speedup", test_speedup},
    {"verdict", test_verdict},
    {"ranking, intervals, pair", test_draw},
    {"one unit of all times", test_units},
    {"noise is told", test_noise},
    {"hidden values", test_blank},
    {"every size", test_sizes},
    {"counters side by side", test_counters},
};

TAP_MAIN("compare_view", tests)
