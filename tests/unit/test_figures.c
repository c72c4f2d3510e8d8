/* test_figures.c - figures against golden text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/figures.h"
#include "draw/scale.h"
#include "draw/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

/* The map of a pass on a device with so many bytes, drawn. */
static void draw_smem(struct canvas *c, struct rect r, const struct plan_pass *p, int limit)
{
    const struct arch_limits arch = {.smem_optin = limit};
    struct smem_map m;
    model_init(&smem_map_layout, &m);
    smem_take(&m, p, &arch);
    fig_smem(c, r, &m);
    model_clear(&smem_map_layout, &m);
}

/* A buffer that a parameter left empty has no letter and no place in the legend. */
static void test_smem_empty(void)
{
    struct plan_pass p = pass_qkv();
    struct canvas *c = canvas_new(60, 5, GLYPHS_ASCII);
    p.smem[1].bytes = p.smem[3].bytes = 0;
    draw_smem(c, (struct rect){0, 0, 60, 5}, &p, 0);
    expect_text(c, "Q Qs          8.00 KiB  BR*D*T = 64*64*2\n"
                   "P Ps          4.00 KiB\n\n\n\n");
    for (int i = 0; i < p.nsmem; i++)
        p.smem[i].bytes = 0;
    canvas_clear(c);
    draw_smem(c, (struct rect){0, 0, 60, 5}, &p, 0);
    expect_text(c, "this kernel uses no shared memory\n\n\n\n\n");
    canvas_free(c);
}

/* Two predicted times on one scale, in letters that mean the same in both; one that there is none of. */
static void test_stack(void)
{
    struct chart *x = chart_new(&chart_stack);
    struct stack_chart *s = x->model;
    struct canvas *c = canvas_new(60, 6, GLYPHS_ASCII);
    stack_size(s, 2, 3);
    s->device = xstrdup("L4");
    s->left_out = 0;
    s->units[0].what = xstrdup("waiting");
    s->units[1].what = xstrdup("tensor cores");
    s->items[0].name = xstrdup("fa2");
    s->items[0].us = 100;
    s->items[0].error_pct = 26;
    stack_parts(&s->items[0], 2);
    s->items[0].parts[0] = (struct stack_part){0, 75};
    s->items[0].parts[1] = (struct stack_part){1, 25};
    s->items[1].name = xstrdup("mma");
    s->items[1].us = 50;
    stack_parts(&s->items[1], 1);
    s->items[1].parts[0] = (struct stack_part){1, 50};
    s->items[2].name = xstrdup("fa3");
    s->items[2].text = xstrdup("no time");
    CU_ASSERT(chart_stack.sound(s));
    CU_ASSERT_EQUAL(fig_stack(c, (struct rect){0, 0, 60, 6}, s, 1), 4);
    expect_text(c, " fa2    aaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbb   100 us +-26 %\n"
                   ">mma    bbbbbbbbbbbbbbbbbb                             50 us\n"
                   " fa3    no time\n"
                   " a waiting  b tensor cores\n\n\n");
    for (int w = 0; w < 62; w += 7) /* whatever the room, nothing beside it */
        for (int h = 0; h < 7; h++) {
            canvas_clear(c);
            const int used = fig_stack(c, (struct rect){1, 1, w, h}, s, 2);
            CU_ASSERT(used <= h);
            for (int y = 0; y < c->h; y++)
                CU_ASSERT(canvas_glyph(c, 0, y) == ' ' &&
                          (y < 1 + h || canvas_glyph(c, 2, y) == ' '));
        }
    s->items[0].parts[1].us = 26; /* parts that are more than the whole */
    CU_ASSERT(!chart_stack.sound(s));
    s->items[0].parts[1] = (struct stack_part){2, 25}; /* of no unit */
    CU_ASSERT(!chart_stack.sound(s));
    canvas_free(c);
    chart_free(x);
}

static void test_smem(void)
{
    struct plan_pass p = pass_qkv();
    struct canvas *c = canvas_new(34, 3, GLYPHS_ASCII);
    draw_smem(c, (struct rect){0, 0, 34, 3}, &p, 32768);
    expect_text(c, "[QQQQQQQQKKKKKKKKM...............]\n"
                   "Q Qs 8.00 KiB  K Ks 8.00 KiB\n"
                   "P Ps (overlay) 4.00 KiB  M m 256 B\n");
    canvas_clear(c);
    draw_smem(c, (struct rect){0, 0, 34, 2}, &p, 32768); /* one row: the rest is counted */
    expect_text(c, "[QQQQQQQQKKKKKKKKM...............]\n"
                   "Q Qs 8.00 KiB  K Ks 8.00 KiB  +2\n"
                   "\n");
    canvas_free(c);
}

static void test_smem_rows(void)
{
    struct plan_pass p = pass_qkv();
    struct canvas *c = canvas_new(52, 5, GLYPHS_ASCII);
    draw_smem(c, (struct rect){0, 0, 52, 5}, &p, 32768);
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
    draw_smem(c, (struct rect){0, 0, 34, 1}, &p, 24576);
    expect_text(c, "[QQQQQQQQKKKKKKKKMMMMMMM|MMMMMMMM]\n");
    CU_ASSERT_EQUAL(c->cells[30].role, ROLE_BAD);
    CU_ASSERT_NOT_EQUAL(c->cells[20].role, ROLE_BAD);
    canvas_free(c);
}

static void test_smem_none(void)
{
    struct plan_pass p = {.nsmem = 0};
    struct canvas *c = canvas_new(40, 2, GLYPHS_ASCII);
    draw_smem(c, (struct rect){0, 0, 40, 2}, &p, 1000);
    expect_text(c, "[......................................]\nthis kernel uses no shared memory\n");
    canvas_free(c);
}

/* An SM of an L4 with so many threads, registers and bytes a block; `was` may be NULL. */
static void take_sm(struct sm_panel *p, const struct occ_request *q, const struct occ_request *was)
{
    struct occupancy o;
    model_init(&sm_panel_layout, p);
    occupancy_compute(arch_find(89), 58, q, &o);
    sm_take(p, &o, arch_find(89));
    occupancy_clear(&o);
    if (!was)
        return;
    occupancy_compute(arch_find(89), 58, was, &o);
    sm_take_before(p, &o, arch_find(89), "BR=64");
    occupancy_clear(&o);
}

static struct occ_request block_of(int64_t regs, int64_t smem)
{
    return (struct occ_request){
        .threads = 128, .regs = regs, .smem = smem, .carveout = INT_UNKNOWN, .grid = INT_UNKNOWN};
}

static void expect_sm(const struct sm_panel *p, int w, int h, const char *golden)
{
    struct canvas *c = canvas_new(w, h, GLYPHS_ASCII);
    fig_sm(c, (struct rect){0, 0, w, h}, p);
    expect_text(c, golden);
    canvas_free(c);
}

static void test_sm(void)
{
    const struct occ_request q = block_of(128, 44032);
    struct sm_panel p;
    take_sm(&p, &q, NULL);
    expect_sm(&p, 66, 7,
              "2 blocks, 8 of 48 warps (16.7 %): the next is stopped by SMEM\n"
              "SMEM      [111111111111111111222222222222222222xxxxx]xxxxxxxxxxxxx\n"
              "           2 x 44.0 KiB of 100 KiB; block 3 lacks 32.0 KiB\n"
              "registers [111111111122222222222....................]\n"
              "           2 x 16384 of 65536; room for 2 more\n"
              "warps     [1112222..................................]\n"
              "           2 x 4 of 48; room for 10 more\n");
    expect_sm(&p, 39, 7, "\n\n\n\n\n\n\n"); /* too narrow for a picture */
    model_clear(&sm_panel_layout, &p);
}

/* The state before is drawn below each bar; both are said in words. */
static void test_sm_before(void)
{
    const struct occ_request q = block_of(128, 24576), was = block_of(128, 44032);
    struct sm_panel p;
    take_sm(&p, &q, &was);
    CU_ASSERT_STRING_EQUAL(p.change, "2 -> 4 blocks; a block takes SMEM 44.0 KiB -> 25.0 KiB");
    expect_sm(&p, 96, 8,
              "4 blocks, 16 of 48 warps (33.3 %): the next is stopped by SMEM and registers\n"
              "2 -> 4 blocks; a block takes SMEM 44.0 KiB -> 25.0 KiB  (before: BR=64)\n"
              "SMEM      [11111112222223333333444444]xxxxxxx  4 x 25.0 KiB of 100 KiB; block 5 "
              "lacks 25.0 KiB\n"
              "  was      '----------'-----------'\n"
              "registers [11111112222223333333444444]xxxxxxx  4 x 16384 of 65536; block 5 lacks "
              "16384\n"
              "  was      '------'-----'\n"
              "warps     [112233344.................]         4 x 4 of 48; room for 8 more\n"
              "  was      '-'-'\n");
    model_clear(&sm_panel_layout, &p);
}

/* Nothing that hangs on unknown registers looks like a value: no full block, "at most". */
static void test_sm_unknown(void)
{
    const struct occ_request q = block_of(INT_UNKNOWN, 44032), was = block_of(128, 44032);
    struct sm_panel p;
    take_sm(&p, &q, &was);
    CU_ASSERT_STRING_EQUAL(p.change, "2 -> <=2 blocks; a block takes registers 16384 -> ?");
    expect_sm(&p, 96, 4,
              "at most 2 blocks, 8 of 48 warps (16.7 %): the next is stopped by SMEM\n"
              "SMEM      [1//////////2///////////xxx]xxxxxxxx <=2 x 44.0 KiB of 100 KiB; block 3 "
              "lacks 32.0 KiB\n"
              "registers [//////////////////////////]         not known: not compiled here, not in "
              "the table\n"
              "warps     [1/2/......................]         <=2 x 4 of 48; room for 10 more\n");
    for (int i = 0; i < p.n; i++)
        CU_ASSERT_EQUAL(p.bars[i].per_block == INT_UNKNOWN, !strcmp(p.bars[i].name, "registers"));
    model_clear(&sm_panel_layout, &p);
}

/* A block that does not fit at all says why, and no bar has a digit. */
static void test_sm_none(void)
{
    const struct occ_request q = block_of(64, 150000);
    struct sm_panel p;
    take_sm(&p, &q, NULL);
    struct canvas *c = canvas_new(120, 4, GLYPHS_ASCII);
    struct str s = {0};
    fig_sm(c, (struct rect){0, 0, 120, 4}, &p);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "no block fits: 150000 B of shared memory"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&s), "[1"));
    str_free(&s);
    canvas_free(c);
    model_clear(&sm_panel_layout, &p);
}

/* Both ends of a range that are ticks have one. */
static void test_ticks(void)
{
    double t[TICKS_MAX];
    CU_ASSERT_EQUAL(range_ticks(&(struct range){0, 10, false}, 5, t), 6);
    CU_ASSERT(t[0] == 0 && t[5] == 10);
    CU_ASSERT_EQUAL(range_ticks(&(struct range){-0.3, 0.3, false}, 6, t), 7);
    CU_ASSERT(fabs(t[0] + 0.3) < 1e-12 && t[3] == 0 && fabs(t[6] - 0.3) < 1e-12);
    CU_ASSERT_EQUAL(range_ticks(&(struct range){0.1, 0.95, false}, 5, t), 4);
    CU_ASSERT(fabs(t[0] - 0.2) < 1e-12 && fabs(t[3] - 0.8) < 1e-12);
    CU_ASSERT_EQUAL(range_ticks(&(struct range){1, 1000, true}, 5, t), 4);
    CU_ASSERT(t[0] == 1 && fabs(t[3] - 1000) < 1e-9);
    CU_ASSERT_EQUAL(range_ticks(&(struct range){0, 10, true}, 5, t), 0); /* no logarithm of 0 */
    CU_ASSERT_EQUAL(range_ticks(&(struct range){1, 1, false}, 5, t), 0);
    CU_ASSERT_EQUAL(range_ticks(&(struct range){0, INFINITY, false}, 5, t), 0);
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

static struct chart *roofs(const struct device *const *d, int n, enum dtype t, int npoints)
{
    struct chart *c = chart_new(&chart_roofline);
    struct roof_chart *x = c->model;
    roof_size(x, n, npoints);
    x->dtype = xstrdup(dtype_name(t));
    for (int i = 0; i < n; i++)
        roof_take(&x->roofs[i], d[i], t);
    return c;
}

/* The roof of one device alone. */
static void draw_roof(struct canvas *c, struct rect r, const struct device *d, enum dtype t)
{
    struct chart *x = roofs(&d, 1, t, 0);
    fig_roofs(c, r, x->model, &CHART_WHOLE);
    chart_free(x);
}

/* The axes are those of the device: adding points moves nothing but the points. */
static void test_roofline_axes(void)
{
    struct device d = toy_device();
    const struct device *one = &d;
    struct chart *with = roofs(&one, 1, DTYPE_F16, 1);
    struct roof_point *pt = ((struct roof_chart *)with->model)->points;
    *pt = (struct roof_point){.name = xstrdup("fa2"), .intensity = 10, .tflops = 10};
    struct canvas *a = canvas_new(60, 12, GLYPHS_ASCII), *b = canvas_new(60, 12, GLYPHS_ASCII);
    draw_roof(a, (struct rect){0, 0, 60, 12}, &d, DTYPE_F16);
    fig_roofs(b, (struct rect){0, 0, 60, 12}, with->model, &CHART_WHOLE);
    chart_free(with);
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
    draw_roof(c, (struct rect){0, 0, 60, 12}, &d, DTYPE_F16);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "5 without tensor cores"));
    str_clear(&s);
    canvas_clear(c);
    draw_roof(c, (struct rect){0, 0, 60, 12}, &d, DTYPE_F32);
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
    draw_roof(c, (struct rect){0, 0, 50, 8}, &d, DTYPE_F32);
    expect_text(c, "the peak of toy for f32 is unknown\n\n\n\n\n\n\n\n");
    canvas_free(c);
}

/* Each roof carries its device's name; the axes take in both devices. */
static void test_roofs_devices(void)
{
    struct device slow = toy_device(), fast = toy_device();
    const struct device *both[] = {&slow, &fast};
    struct canvas *c = canvas_new(70, 16, GLYPHS_ASCII);
    struct str s = {0};
    fast.name = (char *)"big";
    fast.tflops[DTYPE_F16] = 2000;
    fast.dram_gbs = 8000;
    struct chart *x = roofs(both, 2, DTYPE_F16, 0);
    fig_roofs(c, (struct rect){0, 0, 70, 16}, x->model, &CHART_WHOLE);
    chart_free(x);
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
    struct chart *x = roofs(&one, 1, DTYPE_F16, 1);
    struct chart_view v = CHART_WHOLE;
    *((struct roof_chart *)x->model)->points = (struct roof_point){.name = xstrdup("fa2"),
                                                                   .letter = xstrdup("Q"),
                                                                   .intensity = 10,
                                                                   .tflops = 10,
                                                                   .ideal = 1000,
                                                                   .ideal_tflops = 100,
                                                                   .measured = 1};
    struct canvas *c = canvas_new(60, 12, GLYPHS_ASCII);
    fig_roofs(c, (struct rect){0, 0, 60, 12}, x->model, &v);
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 3), 'Q');
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 4), ':');
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 5), '@'); /* 1 TFLOP/s: half of four decades */
    CU_ASSERT_EQUAL(canvas_glyph(c, 39, 1), '#');
    v.zoom = 2; /* half the decades, around the point */
    v.center_x = 10;
    v.center_y = 10;
    canvas_clear(c);
    fig_roofs(c, (struct rect){0, 0, 60, 12}, x->model, &v);
    chart_free(x);
    CU_ASSERT_EQUAL(canvas_glyph(c, 9 + 25, 1 + 4), 'Q');
    CU_ASSERT_EQUAL(canvas_glyph(c, 9 + 25, 8), '@');
    canvas_free(c);
}

/* The rest are dots without letters; near enough, a factor of 0.93 is rows apart. */
static void test_roofs_dots(void)
{
    struct device d = toy_device();
    const struct device *one = &d;
    struct chart *x = roofs(&one, 1, DTYPE_F16, 2);
    struct roof_point *p = ((struct roof_chart *)x->model)->points;
    struct chart_view v = {.x = -1, .zoom = 10, .center_x = 10, .center_y = 10};
    struct str text = {0}, svg = {0};
    p[0] = (struct roof_point){
        .name = xstrdup("fa2"), .intensity = 10, .tflops = 10, .ideal = NAN, .measured = 9.3};
    p[1] = (struct roof_point){.name = xstrdup("naive"),
                               .intensity = 100,
                               .tflops = 10,
                               .ideal = NAN,
                               .measured = 3,
                               .dot = 1};
    struct canvas *c = canvas_new(60, 16, GLYPHS_ASCII);
    fig_roofs(c, (struct rect){0, 0, 60, 16}, x->model, &CHART_WHOLE);
    canvas_to_text(c, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "o: the others"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&text), "naive"));
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 4), 'o');
    x->kind->svg(&svg, x, true);
    CU_ASSERT_PTR_NULL(strstr(str_text(&svg), ">B naive"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(str_text(&svg), "naive: 100 FLOP/B")); /* where one points at it */
    canvas_clear(c);
    fig_roofs(c, (struct rect){0, 0, 60, 16}, x->model, &v);
    int letter = -1, measured = -1;
    for (int y = 0; y < 16; y++)
        for (int k = 10; k < 60; k++) {
            letter = canvas_glyph(c, k, y) == 'A' ? y : letter;
            measured = canvas_glyph(c, k, y) == '@' && y > 1 ? y : measured;
        }
    CU_ASSERT(letter > 0 && measured >= letter + 2);
    str_free(&text);
    str_free(&svg);
    canvas_free(c);
    chart_free(x);
}

/* What was measured says where, point by point, in each way of drawing; a letter alone is planned. */
static void test_roofs_origins(void)
{
    struct device d = toy_device();
    const struct device *one = &d;
    struct chart *x = roofs(&one, 1, DTYPE_F16, 3);
    const struct roof_chart *m = x->model;
    const char *const names[] = {"fa2", "naive", "splitkv"}, *const origins[] = {"live", "recorded",
                                                                                 NULL};
    for (int i = 0; i < 3; i++) {
        m->points[i].name = xstrdup(names[i]);
        m->points[i].letter = i == 2 ? xstrdup("`") : NULL; /* no letter: gnuplot runs it */
        m->points[i].origin = origins[i] ? xstrdup(origins[i]) : NULL;
        m->points[i].intensity = pow(10, i);
        m->points[i].tflops = 10;
        m->points[i].measured = origins[i] ? 1 : NAN;
    }
    struct str text = {0}, svg = {0}, gp = {0};
    struct canvas *c = canvas_new(60, 12, GLYPHS_ASCII);
    fig_roofs(c, (struct rect){0, 0, 60, 12}, m, &CHART_WHOLE);
    canvas_to_text(c, &text);
    canvas_free(c);
    x->kind->svg(&svg, x, true);
    x->kind->gnuplot(&gp, x);
    chart_free(x);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "letters MODEL, @ LIVE, RECORDED"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "A fa2 @LIVE  B naive @RECORDED  C splitkv\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), ">A fa2 10 % LIVE<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), ">B naive 10 % RECORDED<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), ">C splitkv<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), "at most 10 TFLOP/s (MODEL), measured 1 (LIVE)"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&gp), "title \"at most, MODEL\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&gp), "title \"measured, LIVE\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&gp), "title \"measured, RECORDED\""));
    CU_ASSERT_PTR_NULL(strstr(str_text(&gp), "title \"measured\""));
    str_free(&text);
    str_free(&svg);
    str_free(&gp);
}

/* A model with texts on its axes; `y` has the values of all series, row by row. */
static struct chart *grid(const struct chart_kind *kind, const char *const *x, int nx,
                          const char *const *y, int ny, int nseries, const double *values)
{
    struct chart *c = chart_new(kind);
    struct grid_chart *g = c->model;
    grid_size(g, nx, ny, nseries);
    g->metric = xstrdup("ms");
    g->unit = xstrdup("");
    g->xname = xstrdup(ny ? "BC" : "S");
    g->yname = ny ? xstrdup("BR") : NULL;
    for (int i = 0; i < nx; i++)
        g->x[i].text = xstrdup(x[i]);
    for (int i = 0; i < ny; i++)
        g->y[i].text = xstrdup(y[i]);
    for (int s = 0; s < nseries; s++) {
        g->series[s].name = xasprintf("%c", 'a' + s);
        for (int i = 0; i < g->series[s].n; i++)
            g->series[s].cells[i].value = *values++;
    }
    return c;
}

static struct grid_cell *cell(struct chart *c, int series, int i)
{
    return &((struct grid_chart *)c->model)->series[series].cells[i];
}

static void put(char **to, const char *text)
{
    free(*to);
    *to = xstrdup(text);
}

static void draw_lines(struct canvas *c, struct chart *x, int cur)
{
    canvas_clear(c);
    fig_lines(c, (struct rect){0, 0, c->w, c->h}, x->model, cur);
}

static const char *const sizes[] = {"512", "1024", "2048"};

static void test_lines(void)
{
    struct chart *one = grid(&chart_lines, sizes, 3, NULL, 0, 1, (const double[]){1, 2, 4});
    struct canvas *c = canvas_new(30, 8, GLYPHS_ASCII);
    draw_lines(c, one, -1);
    CU_ASSERT_EQUAL(canvas_glyph(c, 9, 4), 'o');  /* first point: left, a quarter up */
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 1), 'o'); /* last point: top right */
    struct str s = {0};
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "ms over S\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "1024"));
    str_clear(&s);
    put(&cell(one, 0, 2)->bound, "<="); /* it is at most that, and says so */
    draw_lines(c, one, -1);
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 1), '<');
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "ms over S, < >: bounds\n"));
    str_free(&s);
    chart_free(one);
    /* two series meet in two points; the third is not possible for one of them */
    struct chart *two =
        grid(&chart_lines, sizes, 3, NULL, 0, 2, (const double[]){1, 2, 4, 1, 2, NAN});
    put(&cell(two, 1, 2)->blocked, "smem");
    draw_lines(c, two, 1);
    CU_ASSERT_EQUAL(canvas_glyph(c, 9, 4), '&');
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 1), 'A');
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 4), 'S'); /* on the ground, second series: a row up */
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 1), ':'); /* the cursor */
    put(&cell(two, 0, 2)->bound, ">=");
    draw_lines(c, two, -1);
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 1), 'a');
    canvas_free(c);
    chart_free(two);
}

/* A median stands on the bar of its quartiles, which ends in an arrow where it leaves the picture. */
static void test_lines_intervals(void)
{
    struct chart *x =
        grid(&chart_lines, sizes, 3, NULL, 0, 2, (const double[]){5, 6, 10, 5, NAN, 1});
    struct canvas *c = canvas_new(30, 14, GLYPHS_ASCII); /* eleven rows: 10 at row 1, 0 at row 11 */
    struct str s = {0};
    draw_lines(c, x, -1);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NULL(strstr(str_text(&s), "bars"));
    cell(x, 0, 0)->lo = 3, cell(x, 0, 0)->hi = 7;
    cell(x, 0, 1)->lo = 6, cell(x, 0, 1)->hi = 30;
    cell(x, 1, 1)->lo = 1, cell(x, 1, 1)->hi = 9; /* of nothing */
    cell(x, 1, 2)->lo = -5, cell(x, 1, 2)->hi = 2;
    draw_lines(c, x, -1);
    CU_ASSERT_EQUAL(canvas_glyph(c, 9, 6), '&');
    CU_ASSERT_EQUAL(canvas_glyph(c, 9, 4), '|');
    CU_ASSERT_EQUAL(canvas_glyph(c, 9, 8), '|');
    CU_ASSERT_NOT_EQUAL(canvas_glyph(c, 9, 3), '|');
    CU_ASSERT_NOT_EQUAL(canvas_glyph(c, 9, 9), '|');
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 1), '^');
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 2), '|');
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 5), 'A');
    CU_ASSERT_NOT_EQUAL(canvas_glyph(c, 19, 6), '|');
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 9), '|');
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 10), 'B');
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 11), 'v');
    str_clear(&s);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "ms over S, bars: intervals"));
    cell(x, 0, 0)->hi = cell(x, 0, 0)->lo = 5; /* no width, no bar */
    draw_lines(c, x, -1);
    CU_ASSERT_NOT_EQUAL(canvas_glyph(c, 9, 5), '|');
    str_free(&s);
    canvas_free(c);
    chart_free(x);
}

/* Values that span decades stand on a logarithmic axis. */
static void test_lines_log(void)
{
    struct chart *x = grid(&chart_lines, sizes, 3, NULL, 0, 1, (const double[]){1, 10, 100});
    struct canvas *c = canvas_new(30, 8, GLYPHS_ASCII);
    draw_lines(c, x, -1);
    CU_ASSERT_EQUAL(canvas_glyph(c, 9, 5), 'o');
    CU_ASSERT_EQUAL(canvas_glyph(c, 19, 3), 'o');
    CU_ASSERT_EQUAL(canvas_glyph(c, 29, 1), 'o');
    chart_free(x);
    /* a figure wider than its place is written shorter, never cut */
    struct str s = {0};
    x = grid(&chart_lines, sizes, 3, NULL, 0, 1, (const double[]){100, 1e5, 2e8});
    draw_lines(c, x, -1);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "  1e+09 |"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&s), "00000."));
    str_free(&s);
    canvas_free(c);
    chart_free(x);
}

static struct chart *heat_map(void)
{
    static const char *const rows[] = {"32", "64"}, *const cols[] = {"16", "32", "64"};
    struct chart *x =
        grid(&chart_heat, cols, 3, rows, 2, 1, (const double[]){50, 25, NAN, 12.5, NAN, NAN});
    put(&cell(x, 0, 0)->bound, "<=");
    put(&cell(x, 0, 2)->blocked, "smem");
    put(&cell(x, 0, 5)->blocked, "smem");
    return x;
}

static void test_heat(void)
{
    struct chart *x = heat_map();
    struct canvas *c = canvas_new(40, 5, GLYPHS_ASCII);
    fig_heat(c, (struct rect){0, 0, 40, 5}, x->model, 0, 1, 0);
    expect_text(c, "   BC\n"
                   "BR         16         32         64\n"
                   "32 ///// <=50 [###### 25]     S\n"
                   "64 .... 12.50      ?          S\n"
                   ". 12.50  # 25  / only bounded  S share..\n");
    canvas_free(c);
    c = canvas_new(21, 5, GLYPHS_ASCII); /* where there is little room the sign alone is left */
    fig_heat(c, (struct rect){0, 0, 21, 5}, x->model, 0, -1, -1);
    expect_text(c, "   BC\n"
                   "BR    16    32    64\n"
                   "32 / <50 ## 25   S\n"
                   "64  12.5   ?     S\n"
                   ". 12.50  # 25  / on..\n");
    canvas_free(c);
    chart_free(x);
}

/* More cells than fit: the cursor's is in view. */
static void test_heat_scroll(void)
{
    const char *names[40];
    double values[1600];
    for (int i = 0; i < 40; i++)
        names[i] = "8";
    for (int i = 0; i < 1600; i++)
        values[i] = i;
    struct chart *x = grid(&chart_heat, names, 40, names, 40, 1, values);
    struct canvas *c = canvas_new(60, 10, GLYPHS_ASCII);
    struct str s = {0};
    fig_heat(c, (struct rect){0, 0, 60, 10}, x->model, 0, 39, 39);
    canvas_to_text(c, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "of 40x40"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), ">"));
    str_free(&s);
    canvas_free(c);
    chart_free(x);
}

static struct chart *spread(const struct chart_kind *kind, int n)
{
    struct chart *c = chart_new(kind);
    struct spread_chart *s = c->model;
    spread_size(s, n);
    s->title = xstrdup("median time");
    s->unit = xstrdup("us");
    return c;
}

static struct spread_item *item(struct chart *c, int i, const char *name, double lo, double mid,
                                double hi)
{
    struct spread_item *v = &((struct spread_chart *)c->model)->items[i];
    v->name = xstrdup(name);
    v->lo = lo;
    v->mid = mid;
    v->hi = hi;
    return v;
}

static struct chart *three_times(const struct chart_kind *kind)
{
    struct chart *x = spread(kind, 3);
    item(x, 0, "naive", 900, 1000, 1100)->base = true;
    item(x, 1, "fa2", 100, 110, 200);
    struct spread_item *bad = item(x, 2, "bad", NAN, NAN, NAN);
    bad->text = xstrdup("FAIL");
    bad->bad = true;
    return x;
}

static void test_intervals(void)
{
    struct chart *x = three_times(&chart_ratios);
    struct canvas *c = canvas_new(60, 5, GLYPHS_ASCII);
    struct str s = {0};
    fig_intervals(c, (struct rect){0, 0, 60, 4}, x->model, 1);
    chart_free(x);
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

/* A ratio without a winner says so, behind its interval or before it. */
static void test_open_ratio(void)
{
    for (int right = 0; right < 2; right++) {
        struct chart *x = spread(&chart_ratios, 2);
        struct canvas *c = canvas_new(60, 3, GLYPHS_ASCII);
        struct str s = {0};
        item(x, 0, "naive", 1, 1, 1);
        item(x, 1, "fa2", right ? 2.9 : 0.29, right ? 3 : 0.3, right ? 3.1 : 0.31)->open = true;
        fig_intervals(c, (struct rect){0, 0, 60, 3}, x->model, 1);
        canvas_to_text(c, &s);
        const char *word = strstr(str_text(&s), SPREAD_OPEN), *mark = strstr(str_text(&s), "#");
        CU_ASSERT_PTR_NOT_NULL_FATAL(word);
        mark = strstr(mark + 1, "#");
        CU_ASSERT(right ? word < mark : word > mark);
        str_free(&s);
        canvas_free(c);
        chart_free(x);
    }
}

/* Bars begin at zero; a bound, a failure and an old figure look like it. */
static void test_times(void)
{
    struct chart *x = three_times(&chart_times);
    struct spread_item *v = ((struct spread_chart *)x->model)->items;
    struct canvas *c = canvas_new(50, 3, GLYPHS_ASCII);
    put(&v[1].bound, "<=");
    v[1].stale = true;
    chart_times.cells(c, (struct rect){0, 0, 50, 3}, x->model, &CHART_WHOLE);
    expect_text(c, "*naive  ##########################         1000 us\n"
                   " fa2    ###                               <=110 us\n"
                   " bad    FAIL\n");
    CU_ASSERT_EQUAL(c->cells[50 + 8].role, ROLE_DIM);
    canvas_free(c);
    chart_free(x);
}

/* No figure may write outside its rectangle or crash, whatever the size. */
static void test_sizes(void)
{
    struct device d = toy_device();
    struct plan_pass p = pass_qkv();
    const double v[9] = {1, 2, 3, NAN, 5, 6, 7, 8, 9};
    struct chart *lines = grid(&chart_lines, sizes, 3, NULL, 0, 1, v);
    struct chart *heat = grid(&chart_heat, sizes, 3, sizes, 3, 1, v);
    struct chart *times = spread(&chart_ratios, 3);
    const struct occ_request now = block_of(128, 50000), was = block_of(INT_UNKNOWN, 3000);
    struct sm_panel sm;
    take_sm(&sm, &now, &was);
    put(&cell(heat, 0, 3)->blocked, "smem");
    item(times, 0, "a name that is long", 1, 2, 3);
    item(times, 1, "b", 90, 2000, 3000);
    item(times, 2, "c", NAN, NAN, NAN)->text = xstrdup("a reason that is long enough to be cut");
    for (int w = 0; w < 70; w += 3) {
        for (int h = 0; h < 14; h++) {
            struct canvas *c = canvas_new(80, 20, (enum glyphs)(w % 3));
            struct rect r = {4, 3, w, h};
            int outside = 0;
            draw_smem(c, r, &p, 32768);
            fig_sm(c, r, &sm);
            draw_roof(c, r, &d, DTYPE_F16);
            fig_lines(c, r, lines->model, 2);
            fig_heat(c, r, heat->model, 0, 2, 2);
            fig_intervals(c, r, times->model, 2);
            chart_times.cells(c, r, times->model, &CHART_WHOLE);
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
    model_clear(&sm_panel_layout, &sm);
    chart_free(lines);
    chart_free(heat);
    chart_free(times);
}

static void test_digits(void)
{
    struct canvas *c = canvas_new(60, 11, GLYPHS_ASCII);
    CU_ASSERT_EQUAL(fig_digits(c, (struct rect){0, 0, 20, 5}, ROLE_TITLE, "4.2 us"),
                    0); /* too narrow */
    CU_ASSERT_EQUAL(fig_digits(c, (struct rect){0, 0, 60, 4}, ROLE_TITLE, "4.2 us"),
                    0); /* too low */
    CU_ASSERT_EQUAL(fig_digits(c, (struct rect){0, 0, 60, 5}, ROLE_TITLE, "4.2 GB"),
                    0); /* no such glyph */
    CU_ASSERT_EQUAL(fig_digits(c, (struct rect){0, 0, 60, 5}, ROLE_TITLE, ""), 0);
    canvas_resize(c, 26, 5);
    CU_ASSERT_EQUAL(fig_digits(c, (struct rect){0, 0, 26, 5}, ROLE_TITLE, "4.2 us"), 5);
    expect_text(c, "#  #   ####\n"
                   "#  #      #    #  #  ##\n"
                   "####   ####    #  # #\n"
                   "   #   #       #  #  #\n"
                   "   # # ####    #### ##\n");
    canvas_resize(c, 60, 11); /* twice as large: ten lines, and four columns a dot */
    CU_ASSERT_EQUAL(fig_digits(c, (struct rect){0, 0, 60, 11}, ROLE_TITLE, "1.5"), 10);
    canvas_free(c);
}

static const struct tap_test tests[] = {
    {"predicted times", test_stack},
    {"ticks of a range", test_ticks},
    {"shared memory in one line", test_smem},
    {"shared memory with a row for each buffer", test_smem_rows},
    {"shared memory beyond the limit", test_smem_wall},
    {"a kernel without shared memory", test_smem_none},
    {"a buffer that is empty", test_smem_empty},
    {"an SM and its blocks", test_sm},
    {"an SM, and the state before", test_sm_before},
    {"an SM whose registers are not known", test_sm_unknown},
    {"an SM that no block fits", test_sm_none},
    {"large digits", test_digits},
    {"sparkline", test_spark},
    {"bar", test_bar},
    {"limits mark what is reached", test_limits},
    {"roofline axes follow the device", test_roofline_axes},
    {"roofline of scalar kernels", test_roofline_scalar},
    {"roofline of an unknown peak", test_roofline_unknown},
    {"rooflines of two devices", test_roofs_devices},
    {"bound, ideal, measured, zoom", test_roofs_points},
    {"the rest are dots; a factor of 0.93 shows", test_roofs_dots},
    {"whence each point is known", test_roofs_origins},
    {"line plot", test_lines},
    {"bars of a line plot", test_lines_intervals},
    {"line plot over decades", test_lines_log},
    {"heat map", test_heat},
    {"heat map that scrolls", test_heat_scroll},
    {"intervals", test_intervals},
    {"a ratio without a winner", test_open_ratio},
    {"bars of times", test_times},
    {"figures stay inside their rectangle", test_sizes},
};

TAP_MAIN("figures", tests)
