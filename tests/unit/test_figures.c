/* test_figures.c - figures against golden text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/figures.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "tap.h"

static void expect_text(const struct canvas *c, const char *golden)
{
    struct str s = {0};
    canvas_to_text(c, &s);
    bool same = strcmp(str_text(&s), golden) == 0;
    if (!same)
        printf("# wanted:\n%s# got:\n%s", golden, str_text(&s));
    CU_ASSERT(same);
    str_free(&s);
}

static struct plan_pass pass_qkv(void)
{
    return (struct plan_pass){
        .smem = {{.name = "Qs", .offset = 0, .bytes = 8192, .formula = "BR*D*T = 64*64*2"},
                 {.name = "Ks", .offset = 8192, .bytes = 8192, .formula = "BC*D*T = 64*64*2"},
                 {.name = "Ps", .offset = 8192, .bytes = 4096, .overlay = true},
                 {.name = "m", .offset = 16384, .bytes = 256}},
        .nsmem = 4,
        .smem_bytes = 16640,
    };
}

static void test_smem(void)
{
    struct plan_pass p = pass_qkv();
    struct canvas *c = canvas_new(34, 3, GLYPHS_ASCII);
    fig_smem(c, (struct rect){0, 0, 34, 3}, &p, 32768);
    expect_text(c, "[QQQQQQQQKKKKKKKKM...............]\n"
                   "Q Qs 8.00 KiB  K Ks 8.00 KiB\n"
                   "P Ps (overlay) 4.00 KiB  M m 256 B\n");
    canvas_clear(c);
    fig_smem(c, (struct rect){0, 0, 34, 2}, &p, 32768); /* one row: the rest is counted */
    expect_text(c, "[QQQQQQQQKKKKKKKKM...............]\n"
                   "Q Qs 8.00 KiB  K Ks 8.00 KiB  +2\n"
                   "\n");
    canvas_free(c);
}

static void test_smem_rows(void)
{
    struct plan_pass p = pass_qkv();
    struct canvas *c = canvas_new(52, 5, GLYPHS_ASCII);
    fig_smem(c, (struct rect){0, 0, 52, 5}, &p, 32768);
    struct str s = {0};
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "BR*D*T = 64*64*2"));
    str_free(&s);
    canvas_free(c);
}

/* More than the limit: the wall is drawn, what lies beyond is marked. */
static void test_smem_wall(void)
{
    struct plan_pass p = pass_qkv();
    p.smem[3].bytes = 16384;
    p.smem_bytes = 32768;
    struct canvas *c = canvas_new(34, 1, GLYPHS_ASCII);
    fig_smem(c, (struct rect){0, 0, 34, 1}, &p, 24576);
    expect_text(c, "[QQQQQQQQKKKKKKKKMMMMMMM|MMMMMMMM]\n");
    CU_ASSERT_EQUAL(c->cells[30].role, ROLE_BAD);
    CU_ASSERT_NOT_EQUAL(c->cells[20].role, ROLE_BAD);
    canvas_free(c);
}

static void test_smem_none(void)
{
    struct plan_pass p = {.nsmem = 0};
    struct canvas *c = canvas_new(40, 2, GLYPHS_ASCII);
    fig_smem(c, (struct rect){0, 0, 40, 2}, &p, 1000);
    expect_text(c, "[......................................]\nthis kernel uses no shared memory\n");
    canvas_free(c);
}

static void test_spark(void)
{
    const double v[] = {9, 1, 2, NAN, 3, 4, 5};
    struct canvas *c = canvas_new(6, 1, GLYPHS_ASCII);
    fig_spark(c, (struct rect){0, 0, 6, 1}, v, 7); /* the last six; scaled between 1 and 5 */
    expect_text(c, "_.x-=^\n");
    canvas_free(c);
    c = canvas_new(3, 1, GLYPHS_BLOCK);
    fig_spark(c, (struct rect){0, 0, 3, 1}, (double[]){1, 8, 1}, 3);
    expect_text(c, "\xe2\x96\x81\xe2\x96\x88\xe2\x96\x81\n");
    canvas_free(c);
}

static void test_bar(void)
{
    struct canvas *c = canvas_new(8, 4, GLYPHS_ASCII);
    fig_bar(c, (struct rect){0, 0, 8, 1}, ROLE_ACCENT, 3, 4);
    fig_bar(c, (struct rect){0, 1, 8, 1}, ROLE_ACCENT, 9, 4);
    fig_bar(c, (struct rect){0, 2, 8, 1}, ROLE_ACCENT, NAN, 4);
    fig_bar(c, (struct rect){0, 3, 8, 1}, ROLE_ACCENT, 1, 0);
    expect_text(c, "######\n########\n\n\n");
    canvas_free(c);
    c = canvas_new(2, 1, GLYPHS_BLOCK);
    fig_bar(c, (struct rect){0, 0, 2, 1}, ROLE_ACCENT, 3, 4); /* one and a half cells */
    expect_text(c, "\xe2\x96\x88\xe2\x96\x8c\n");
    canvas_free(c);
}

static void test_limits(void)
{
    struct occupancy o = {.limit_blocks = 16,
                          .limit_regs = INT_UNKNOWN,
                          .limit_smem = 2,
                          .limit_warps = 12,
                          .limiter = OCC_SMEM};
    struct canvas *c = canvas_new(60, 1, GLYPHS_ASCII);
    fig_limits(c, (struct rect){0, 0, 60, 1}, &o);
    expect_text(c, "limit regs - | smem 2 <== | warps 12 | blocks 16\n");
    canvas_free(c);
}

static struct device toy_device(void)
{
    return (struct device){.name = (char *)"toy", .dram_gbs = 1000, .tflops = {100, 100, NAN}};
}

/* The axes are those of the device: adding points moves nothing but the points. */
static void test_roofline_axes(void)
{
    struct device d = toy_device();
    struct roof_point pt = {.name = "fa2", .intensity = 10, .tflops = 10};
    struct canvas *a = canvas_new(60, 12, GLYPHS_ASCII), *b = canvas_new(60, 12, GLYPHS_ASCII);
    fig_roofline(a, (struct rect){0, 0, 60, 12}, &d, DTYPE_F16, NULL, 0);
    fig_roofline(b, (struct rect){0, 0, 60, 12}, &d, DTYPE_F16, &pt, 1);
    struct str s = {0};
    canvas_to_text(b, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "100 TFLOP/s, ridge 100 FLOP/B"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "A fa2"));
    str_free(&s);
    /* ten FLOP/byte is a fifth of 1 .. 10^5, 10 TFLOP/s a quarter down from 100 to 0.01 */
    CU_ASSERT_EQUAL(canvas_glyph(b, 19, 3), 'A');
    for (int y = 0; y < 11; y++)
        for (int x = 0; x < 60; x++)
            if (x != 19 || y != 3)
                CU_ASSERT_EQUAL(canvas_glyph(a, x, y), canvas_glyph(b, x, y));
    canvas_free(a);
    canvas_free(b);
}

/* Kernels without tensor instructions have a roof of their own, where the dtype's is higher. */
static void test_roofline_scalar(void)
{
    struct device d = toy_device();
    struct canvas *c = canvas_new(60, 12, GLYPHS_ASCII);
    struct str s = {0};
    d.tflops[DTYPE_F32] = 5;
    fig_roofline(c, (struct rect){0, 0, 60, 12}, &d, DTYPE_F16, NULL, 0);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "5 without tensor cores"));
    str_clear(&s);
    canvas_clear(c);
    fig_roofline(c, (struct rect){0, 0, 60, 12}, &d, DTYPE_F32, NULL, 0);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NULL(strstr(str_text(&s), "without tensor cores"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "5 TFLOP/s, ridge 5"));
    str_free(&s);
    canvas_free(c);
}

static void test_roofline_unknown(void)
{
    struct device d = toy_device();
    struct canvas *c = canvas_new(50, 8, GLYPHS_ASCII);
    fig_roofline(c, (struct rect){0, 0, 50, 8}, &d, DTYPE_F32, NULL, 0);
    expect_text(c, "the peak of toy for f32 is unknown\n\n\n\n\n\n\n\n");
    canvas_free(c);
}

/* Each roof carries its device's name; the axes take in both devices. */
static void test_roofs_devices(void)
{
    struct device slow = toy_device(), fast = toy_device();
    const struct device *both[] = {&slow, &fast};
    struct fig_roofs f = {.devices = both, .ndevices = 2, .dtype = DTYPE_F16};
    struct canvas *c = canvas_new(70, 16, GLYPHS_ASCII);
    struct str s = {0};
    fast.name = (char *)"big";
    fast.tflops[DTYPE_F16] = 2000;
    fast.dram_gbs = 8000;
    fig_roofs(c, (struct rect){0, 0, 70, 16}, &f);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "toy 100"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "big 2000"));
    str_free(&s);
    canvas_free(c);
}

/* Measured stands below the bound, the ideal at its own intensity; zoom moves points apart. */
static void test_roofs_points(void)
{
    struct device d = toy_device();
    const struct device *one = &d;
    struct roof_point pt = {.name = "fa2",
                            .letter = 'Q',
                            .intensity = 10,
                            .tflops = 10,
                            .ideal = 1000,
                            .ideal_tflops = 100,
                            .measured = 1};
    struct fig_roofs f = {
        .devices = &one, .ndevices = 1, .dtype = DTYPE_F16, .points = &pt, .npoints = 1};
    struct canvas *c = canvas_new(60, 12, GLYPHS_ASCII);
    fig_roofs(c, (struct rect){0, 0, 60, 12}, &f);
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 3), 'Q');
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 4), ':');
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 5), '@'); /* 1 TFLOP/s: half of four decades */
    CU_ASSERT_EQUAL(canvas_glyph(c, 39, 1), '#');
    f.zoom = 2; /* half the decades, around the point */
    f.center_x = 10;
    f.center_y = 10;
    canvas_clear(c);
    fig_roofs(c, (struct rect){0, 0, 60, 12}, &f);
    CU_ASSERT_EQUAL(canvas_glyph(c, 9 + 25, 1 + 4), 'Q');
    CU_ASSERT_EQUAL(canvas_glyph(c, 9 + 25, 8), '@');
    canvas_free(c);
}

static const char *const sizes[] = {"512", "1024", "2048"};

static void test_lines(void)
{
    const double fine[] = {1, 2, 4}, wall[] = {1, 2, NAN};
    struct fig_series one = {.name = "fa2", .y = fine};
    struct fig_lines f = {
        .title = "ms over S", .xtexts = sizes, .n = 3, .series = &one, .nseries = 1, .cur = -1};
    struct canvas *c = canvas_new(30, 8, GLYPHS_ASCII);
    fig_lines(c, (struct rect){0, 0, 30, 8}, &f);
    CU_ASSERT_EQUAL(canvas_glyph(c, 9, 4), 'o');  /* first point: left, a quarter up */
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 1), 'o'); /* last point: top right */
    struct str s = {0};
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "ms over S"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "1024"));
    str_free(&s);
    /* two series meet in two points; the third is not possible for one of them */
    const struct fig_series two[] = {{.name = "a", .y = fine},
                                     {.name = "b", .y = wall, .marks = (const char[]){0, 0, 'S'}}};
    f.series = two;
    f.nseries = 2;
    f.cur = 1;
    canvas_clear(c);
    fig_lines(c, (struct rect){0, 0, 30, 8}, &f);
    CU_ASSERT_EQUAL(canvas_glyph(c, 9, 4), '&');
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 1), 'A');
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 4), 'S'); /* on the ground, second series: a row up */
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 1), ':'); /* the cursor */
    canvas_free(c);
}

/* Values that span decades stand on a logarithmic axis. */
static void test_lines_log(void)
{
    const double y[] = {1, 10, 100};
    struct fig_series one = {.name = "fa2", .y = y};
    struct fig_lines f = {
        .title = "ms", .xtexts = sizes, .n = 3, .series = &one, .nseries = 1, .cur = -1};
    struct canvas *c = canvas_new(30, 8, GLYPHS_ASCII);
    fig_lines(c, (struct rect){0, 0, 30, 8}, &f);
    CU_ASSERT_EQUAL(canvas_glyph(c, 9, 5), 'o');
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 3), 'o');
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 1), 'o');
    /* a figure wider than its place is written shorter, never cut */
    const double far[] = {100, 1e5, 2e8};
    struct str s = {0};
    one.y = far;
    canvas_clear(c);
    fig_lines(c, (struct rect){0, 0, 30, 8}, &f);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "  1e+09 |"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&s), "00000."));
    str_free(&s);
    canvas_free(c);
}

static void test_heat(void)
{
    static const struct heat_key keys[] = {{'S', "shared memory"}, {'R', "registers"}, {0, NULL}};
    static const char *const rows[] = {"32", "64"}, *const cols[] = {"16", "32", "64"};
    const struct heat_cell cells[] = {
        {.value = 50, .prefix = "<="},
        {.value = 25},
        {.value = NAN, .mark = 'S'},
        {.value = 12.5},
        {.value = NAN},
        {.value = NAN, .mark = 'S'},
    };
    struct fig_heat f = {.xname = "BC",
                         .yname = "BR",
                         .xtexts = cols,
                         .ytexts = rows,
                         .nx = 3,
                         .ny = 2,
                         .cells = cells,
                         .keys = keys,
                         .cx = 1,
                         .cy = 0};
    struct canvas *c = canvas_new(40, 5, GLYPHS_ASCII);
    fig_heat(c, (struct rect){0, 0, 40, 5}, &f);
    expect_text(c, "   BC\n"
                   "BR         16         32         64\n"
                   "32 ##### <=50 [:::::: 25]     S\n"
                   "64 .... 12.50      ?          S\n"
                   ". 12.50  # 50  S shared memory\n");
    canvas_free(c);
}

/* More cells than fit: the cursor's is in view. */
static void test_heat_scroll(void)
{
    const char *names[40];
    struct heat_cell cells[1600];
    for (int i = 0; i < 40; i++)
        names[i] = "8";
    for (int i = 0; i < 1600; i++)
        cells[i] = (struct heat_cell){.value = i};
    struct fig_heat f = {.xname = "x",
                         .yname = "y",
                         .xtexts = names,
                         .ytexts = names,
                         .nx = 40,
                         .ny = 40,
                         .cells = cells,
                         .cx = 39,
                         .cy = 39};
    struct canvas *c = canvas_new(60, 10, GLYPHS_ASCII);
    struct str s = {0};
    fig_heat(c, (struct rect){0, 0, 60, 10}, &f);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "of 40x40"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), ">"));
    str_free(&s);
    canvas_free(c);
}

static void test_intervals(void)
{
    const struct fig_interval v[] = {
        {.name = "naive", .lo = 900, .mid = 1000, .hi = 1100, .base = true},
        {.name = "fa2", .lo = 100, .mid = 110, .hi = 200},
        {.name = "bad", .lo = NAN, .mid = NAN, .hi = NAN, .text = "FAIL", .bad = true},
    };
    struct canvas *c = canvas_new(60, 5, GLYPHS_ASCII);
    struct str s = {0};
    fig_intervals(c, (struct rect){0, 0, 60, 4}, v, 3, 1);
    canvas_to_text(c, &s);
    const char *text = str_text(&s);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "*naive"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">fa2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "FAIL"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "#="));      /* the median is left in its interval */
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "200 us"));  /* a tick */
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "1.00 ms")); /* and its unit */
    str_free(&s);
    canvas_free(c);
}

/* No figure may write outside its rectangle or crash, whatever the size. */
static void test_sizes(void)
{
    struct device d = toy_device();
    struct plan_pass p = pass_qkv();
    const double v[] = {1, 2, 3};
    const struct fig_series one = {.name = "series", .y = v};
    const struct fig_lines lines = {
        .title = "t", .xtexts = sizes, .n = 3, .series = &one, .nseries = 1, .cur = 2};
    const struct heat_cell cells[9] = {{.value = 1}, {.value = NAN, .mark = 'S'}, {.value = 3}};
    const struct fig_heat heat = {.xname = "x",
                                  .yname = "long name",
                                  .xtexts = sizes,
                                  .ytexts = sizes,
                                  .nx = 3,
                                  .ny = 3,
                                  .cells = cells,
                                  .cx = 2,
                                  .cy = 2};
    const struct fig_interval times[3] = {
        {.name = "a name that is long", .lo = 1, .mid = 2, .hi = 3},
        {.name = "b", .lo = 90, .mid = 2000, .hi = 3000},
        {.name = "c", .mid = NAN, .text = "a reason that is long enough to be cut"}};
    for (int w = 0; w < 70; w += 3) {
        for (int h = 0; h < 14; h++) {
            struct canvas *c = canvas_new(80, 20, (enum glyphs)(w % 3));
            struct rect r = {4, 3, w, h};
            int outside = 0;
            fig_smem(c, r, &p, 32768);
            fig_roofline(c, r, &d, DTYPE_F16, NULL, 0);
            fig_lines(c, r, &lines);
            fig_heat(c, r, &heat);
            fig_intervals(c, r, times, 3, 2);
            for (int y = 0; y < 20; y++)
                for (int x = 0; x < 80; x++)
                    if (x < 4 || y < 3 || x >= 4 + w || y >= 3 + (h > 0 ? h : 0))
                        outside += canvas_glyph(c, x, y) != ' ';
            if (outside)
                printf("# %d cells outside of %dx%d\n", outside, w, h);
            CU_ASSERT_EQUAL(outside, 0);
            canvas_free(c);
        }
    }
}

static const struct tap_test tests[] = {
    {"shared memory in one line", test_smem},
    {"shared memory with a row for each buffer", test_smem_rows},
    {"shared memory beyond the limit", test_smem_wall},
    {"a kernel without shared memory", test_smem_none},
    {"sparkline", test_spark},
    {"bar", test_bar},
    {"limits mark what is reached", test_limits},
    {"roofline axes follow the device", test_roofline_axes},
    {"roofline of scalar kernels", test_roofline_scalar},
    {"roofline of an unknown peak", test_roofline_unknown},
    {"rooflines of two devices", test_roofs_devices},
    {"bound, ideal, measured, zoom", test_roofs_points},
    {"line plot", test_lines},
    {"line plot over decades", test_lines_log},
    {"heat map", test_heat},
    {"heat map that scrolls", test_heat_scroll},
    {"intervals", test_intervals},
    {"figures stay inside their rectangle", test_sizes},
};

TAP_MAIN("figures", tests)
