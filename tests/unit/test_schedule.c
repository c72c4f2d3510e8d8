/* test_schedule.c - blocks over SMs: exact small cases, and what they look like.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/schedule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/timeline.h"
#include "kernel/registry.h"
#include "tap.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* Equal blocks: whole waves, breadth first, and a tail of one block. */
static void test_waves(void)
{
    double us[9];
    struct sched_block b[9] = {{0}};
    for (int i = 0; i < 9; i++)
        us[i] = 5;                                            /* half of an SM each: 10 */
    CU_ASSERT(near(sched_share(us, 8, 4, 2, 0.5, 0, b), 10)); /* 8 slots, one wave */
    for (int i = 0; i < 8; i++) {
        CU_ASSERT_EQUAL(b[i].row, i % 4); /* each SM gets one before any gets two */
        CU_ASSERT_EQUAL(b[i].lane, i / 4);
        CU_ASSERT(near(b[i].begin_us, 0));
    }
    CU_ASSERT(near(sched_share(us, 9, 4, 2, 0.5, 5, b), 25)); /* the ninth waits for a slot */
    CU_ASSERT(near(b[8].begin_us, 15));
    struct schedule s = {
        .unit = "SM", .rows = 4, .lanes = 2, .npasses = 1, .blocks = b, .nblocks = 9};
    sched_share(us, 9, 4, 2, 0.5, 0, b);
    s.span_us = 20;
    const struct sched_summary sum = sched_summarise(&s);
    CU_ASSERT_EQUAL(sum.blocks, 9);
    CU_ASSERT_EQUAL(sum.slots, 8);
    CU_ASSERT(near(sum.waves, 9.0 / 8));
    CU_ASSERT(near(sum.tail_pct, 50)); /* from 10 on one slot of eight works */
    CU_ASSERT(near(sum.busy_pct, 100 * (4 * 10 + 10) / (4 * 20.0)));
    CU_ASSERT(near(sum.fill_pct, 100 * 9 * 10 / (8 * 20.0)));
    CU_ASSERT(near(sum.imbalance, 1));
}

/* Fewer blocks than slots: no tail, but the device is idle. */
static void test_few(void)
{
    const double us[2] = {7, 7};
    struct sched_block b[2] = {{0}};
    struct schedule s = {
        .unit = "SM", .rows = 8, .lanes = 1, .npasses = 1, .blocks = b, .nblocks = 2};
    s.span_us = sched_share(us, 2, 8, 1, 1, 0, b);
    const struct sched_summary sum = sched_summarise(&s);
    CU_ASSERT(near(sum.tail_pct, 0));
    CU_ASSERT(near(sum.busy_pct, 25));
}

/* Unequal blocks go where it is free first; the long one, last, makes the tail. */
static void test_unequal(void)
{
    const double us[5] = {1, 2, 3, 4, 5};
    struct sched_block b[5] = {{0}};
    CU_ASSERT(near(sched_share(us, 5, 2, 1, 1, 0, b), 9)); /* 1, 3, 5 on SM 0 */
    static const int rows[5] = {0, 1, 0, 1, 0};
    static const double begins[5] = {0, 0, 1, 2, 4};
    for (int i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(b[i].row, rows[i]);
        CU_ASSERT(near(b[i].begin_us, begins[i]));
    }
    struct schedule s = {
        .unit = "SM", .rows = 2, .lanes = 1, .npasses = 1, .blocks = b, .nblocks = 5};
    s.span_us = 9;
    const struct sched_summary sum = sched_summarise(&s);
    CU_ASSERT(near(sum.tail_pct, 100 * 3 / 9.0)); /* SM 1 ends at 6 */
    CU_ASSERT(near(sum.imbalance, 5 / 3.0));
}

/* Blocks on one SM share it; a lone one gets more, as far as it can use it. */
static void test_sharing(void)
{
    const double us[4] = {6, 6, 6, 3};
    struct sched_block b[4] = {{0}};
    CU_ASSERT(near(sched_share(us, 3, 1, 2, 1, 0, b), 18)); /* two at 1/2 until 12, one at 1 */
    CU_ASSERT(near(b[1].end_us, 12) && near(b[2].begin_us, 12));
    CU_ASSERT(near(sched_share(us, 3, 1, 2, 0.75, 0, b), 20)); /* 12 + 6 / 0.75 */
    CU_ASSERT(near(sched_share(us, 4, 1, 4, 1, 0, b), 21));    /* all of the work, one SM */
    CU_ASSERT(near(b[3].end_us, 12));                          /* 3 at 1/4 */
    CU_ASSERT(near(b[0].end_us, 12 + 3 * 3));                  /* the other 3 at 1/3 */
    /* three blocks over two SMs that end together: two and one, not three and none */
    const double same[7] = {1, 1, 1, 1, 1, 1, 1};
    struct sched_block c[7] = {{0}};
    CU_ASSERT(near(sched_share(same, 7, 2, 2, 1, 0, c), 4));
    CU_ASSERT_EQUAL(c[4].row, 0);
    CU_ASSERT_EQUAL(c[5].row, 1);
    CU_ASSERT_EQUAL(c[6].row, 0);
    CU_ASSERT(near(c[5].end_us, 3)); /* alone */
}

/* ---- what blocks work on ---- */

static struct registry *registry;

static struct sched_map map_of(const char *kernel, const char *param, const char *value,
                               const struct shape *s, int64_t gx)
{
    const struct kernel_desc *d = registry_find(registry, kernel)->cuda;
    struct param_values v = d->defaults;
    if (param)
        CU_ASSERT_EQUAL(desc_param_set(d, &v, param, value, NULL), ST_OK);
    return sched_map(d, &v, s, 0, gx);
}

static void test_tiles(void)
{
    struct shape s = SHAPE_DEFAULT;
    s.Sq = s.Sk = 200; /* tiles of 64: 64 64 64 8 */
    struct sched_map m = map_of("fa2", NULL, NULL, &s, 4);
    CU_ASSERT_EQUAL(m.kind, MAP_TILE);
    for (int i = 0; i < 8; i++) {
        const struct sched_work w = sched_work(&m, i);
        CU_ASSERT_EQUAL(w.tile, i % 4);
        CU_ASSERT_EQUAL(w.head, i / 4);
        CU_ASSERT_EQUAL(w.steps, 4); /* the ragged tile counts */
    }
    s.causal = true;
    static const int steps[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(sched_work(&m, i).steps, steps[i]);
    s.Sq = 100; /* bottom right: row 0 sees 101 keys */
    m = map_of("fa2", NULL, NULL, &s, 2);
    CU_ASSERT_EQUAL(sched_work(&m, 0).steps, 3); /* row 63 sees 164 keys */
    CU_ASSERT_EQUAL(sched_work(&m, 1).steps, 4);
    s.Sq = 300; /* the first 100 rows see nothing */
    m = map_of("fa2", NULL, NULL, &s, 5);
    CU_ASSERT_EQUAL(sched_work(&m, 0).steps, 0);
    CU_ASSERT_EQUAL(sched_work(&m, 1).steps, 1); /* row 127 sees 28 */
}

static void test_heads_and_splits(void)
{
    struct shape s = SHAPE_DEFAULT;
    s.Sq = s.Sk = 256;
    s.causal = true;
    struct sched_map m = map_of("fa1_2022", NULL, NULL, &s, 1); /* BR 16, BC 64 */
    CU_ASSERT_EQUAL(m.kind, MAP_HEAD);
    CU_ASSERT_EQUAL(sched_work(&m, 3).head, 3);
    CU_ASSERT_EQUAL(sched_work(&m, 3).tile, -1);
    CU_ASSERT_EQUAL(sched_work(&m, 3).steps, 4 * (1 + 2 + 3 + 4));
    m = map_of("splitkv", "SPLITS", "2", &s, 8);
    CU_ASSERT_EQUAL(m.kind, MAP_SPLIT);
    static const int steps[8] = {1, 0, 2, 0, 2, 1, 2, 2}; /* 4 tiles, two shares of two */
    for (int i = 0; i < 8; i++) {
        CU_ASSERT_EQUAL(sched_work(&m, i).steps, steps[i]);
        CU_ASSERT_EQUAL(sched_work(&m, i).split, i % 2);
        CU_ASSERT_EQUAL(sched_work(&m, i).tile, i / 2);
    }
    m = map_of("fa2", NULL, NULL, &s, 17); /* a grid that the rules do not know */
    CU_ASSERT_EQUAL(m.kind, MAP_EVEN);
    CU_ASSERT_EQUAL(sched_work(&m, 20).steps, -1);
}

/* ---- the model of real kernels ---- */

static enum status model(const char *kernel, const char *gpu, const struct shape *shape,
                         struct schedule *out, struct err *why)
{
    struct device_table *t = devices_new();
    const struct device *dev;
    struct plan p;
    CU_ASSERT_EQUAL_FATAL(devices_get(t, gpu, &dev, NULL), ST_OK);
    (void)plan_build(registry_find(registry, kernel)->cuda, shape, NULL, dev, NULL, &p, NULL);
    enum status st = sched_model(&p, out, why);
    plan_clear(&p);
    devices_free(t);
    return st;
}

static void test_models(void)
{
    struct shape s = SHAPE_DEFAULT;
    struct schedule few, many, causal;
    struct err why = ERR_INIT;
    CU_ASSERT_EQUAL(model("fa1_2022", "H200", &s, &few, &why), ST_OK);
    CU_ASSERT_EQUAL(model("splitkv", "H200", &s, &many, &why), ST_OK);
    const struct sched_summary a = sched_summarise(&few), b = sched_summarise(&many);
    CU_ASSERT_EQUAL(a.blocks, 8);
    CU_ASSERT_EQUAL(b.blocks, 16 * 8 * 8);
    CU_ASSERT_EQUAL(many.npasses, 2);
    CU_ASSERT(near(a.busy_pct, 100 * 8 / 132.0));
    CU_ASSERT(b.busy_pct > 50);
    CU_ASSERT(few.span_us > 8 * many.span_us);
    CU_ASSERT(many.lanes > 1);
    for (int64_t i = 0; i < many.nblocks; i++) /* as many as there are slots, all SMs' together */
        if (many.blocks[i].pass == 0)
            CU_ASSERT_EQUAL(many.blocks[i].wave, many.blocks[i].index / (132 * many.lanes));
    struct schedule tiles; /* one lone block an SM takes 0.5 of it: measured on an H200, 1.5 */
    CU_ASSERT_EQUAL(model("fa2", "H200", &s, &tiles, &why), ST_OK);
    CU_ASSERT(tiles.span_us > 1.3 * many.span_us && tiles.span_us < 2 * many.span_us);
    sched_clear(&tiles);
    s.causal = true;
    CU_ASSERT_EQUAL(model("fa2", "H200", &s, &causal, &why), ST_OK);
    CU_ASSERT(sched_summarise(&causal).imbalance > 1.8); /* 16 of a mean of 8.5 tiles */
    CU_ASSERT(sched_summarise(&causal).imbalance < 16 / 8.5);
    for (int64_t i = 0; i < causal.nblocks; i++) {
        const struct sched_block *x = &causal.blocks[i];
        CU_ASSERT(x->row >= 0 && x->row < causal.rows && x->lane < causal.lanes);
        CU_ASSERT(x->end_us > x->begin_us && x->end_us <= causal.span_us * (1 + 1e-12));
    }
    sched_clear(&few);
    sched_clear(&many);
    sched_clear(&causal);
    s.Sq = s.Sk = 16384;
    CU_ASSERT_EQUAL(model("row_online", "H200", &s, &few, &why), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "131072 blocks"));
    sched_clear(&few);
    CU_ASSERT_EQUAL(model("fa2", "MI300X", &s, &few, &why), ST_NO);
    sched_clear(&few);
}

/* Stamps: overlapping blocks of a row get lanes of their own, the first begin becomes 0. */
static void test_arrange(void)
{
    struct shape s = SHAPE_DEFAULT;
    s.H = 1;
    s.Sq = s.Sk = 256;
    const struct kernel_desc *d = registry_find(registry, "fa2")->cuda;
    const struct param_values v = d->defaults;
    struct sched_block b[4] = {
        {.index = 0, .row = 1, .begin_us = 105, .end_us = 108},
        {.index = 1, .row = 0, .begin_us = 100, .end_us = 104},
        {.index = 2, .row = 0, .begin_us = 101, .end_us = 103},
        {.index = 3, .row = 0, .begin_us = 103, .end_us = 110},
    };
    struct schedule t = {
        .unit = "SM", .origin = "live", .rows = 2, .npasses = 1, .blocks = b, .nblocks = 4};
    sched_arrange(&t, d, &v, &s);
    CU_ASSERT(near(t.span_us, 10));
    CU_ASSERT_EQUAL(t.lanes, 2);
    CU_ASSERT(near(b[0].begin_us, 5) && near(b[1].begin_us, 0));
    CU_ASSERT_EQUAL(b[1].lane, 0);
    CU_ASSERT_EQUAL(b[2].lane, 1);
    CU_ASSERT_EQUAL(b[3].lane, 1); /* where the second one has just ended */
    CU_ASSERT_EQUAL(b[3].work.tile, 3);
    CU_ASSERT_EQUAL(b[3].wave, 0);
    const struct sched_summary sum = sched_summarise(&t);
    CU_ASSERT(near(sum.busy_pct, 100 * (10 + 3) / 20.0));
}

/* ---- pictures ---- */

static void expect_text(const struct canvas *c, const char *golden)
{
    struct str s = {0};
    canvas_to_text(c, &s);
    const bool same = strcmp(str_text(&s), golden) == 0;
    if (!same)
        printf("# wanted:\n%s# got:\n%s", golden, str_text(&s));
    CU_ASSERT(same);
    str_free(&s);
}

static void test_figure(void)
{
    const double us[5] = {2, 2, 2, 2, 1};
    struct sched_block b[5] = {{0}};
    struct schedule s = {.unit = "SM",
                         .origin = "model",
                         .rows = 2,
                         .lanes = 2,
                         .npasses = 1,
                         .blocks = b,
                         .nblocks = 5};
    s.span_us = sched_share(us, 5, 2, 2, 0.5, 0, b);
    for (int i = 0; i < 5; i++)
        b[i].work = (struct sched_work){.tile = i, .head = 0, .split = -1, .steps = 1};
    struct timeline_view v = {.end_us = s.span_us};
    struct block_panel p;
    model_init(&block_panel_layout, &p);
    block_take(&p, &s, 0);
    struct canvas *c = canvas_new(TIMELINE_LABEL + 12, 6, GLYPHS_ASCII);
    fig_timeline(c, (struct rect){0, 0, c->w, 5}, &p, &v); /* a line for every slot */
    fig_time_axis(c, (struct rect){0, 5, c->w, 1}, 0, 6, NULL);
    expect_text(c, "SM 0       |AAAAAAA|EEE\n"
                   "           |CCCCCCC\n"
                   "SM 1       |BBBBBBB\n"
                   "           |DDDDDDD\n"
                   "slots      ########::::\n"
                   "time       |0\n");
    canvas_clear(c);
    fig_timeline(c, (struct rect){0, 0, c->w, 2}, &p, &v); /* one line for both SMs */
    expect_text(c, "SM 0-1     |AAAAAAA|eee\n"
                   "slots      ########::::\n\n\n\n\n");
    canvas_clear(c);
    const struct timeline_view later = {.begin_us = 2, .end_us = s.span_us};
    fig_timeline(c, (struct rect){0, 0, c->w, 5}, &p, &later); /* those that run have no edge */
    expect_text(c, "SM 0       AAAAAA|EEEEE\n"
                   "           CCCCCC\n"
                   "SM 1       BBBBBB\n"
                   "           DDDDDD\n"
                   "slots      ######::::::\n\n");
    canvas_clear(c);
    const struct timeline_view end = {.begin_us = 0, .end_us = 48.0 / 11};
    fig_timeline(c, (struct rect){0, 0, c->w, 5}, &p, &end); /* and no cell is but an edge */
    expect_text(c, "SM 0       |AAAAAAAAAAE\n"
                   "           |CCCCCCCCCC\n"
                   "SM 1       |BBBBBBBBBB\n"
                   "           |DDDDDDDDDD\n"
                   "slots      ###########:\n\n");
    struct str text = {0};
    timeline_legend(&p, MARK_TILE, &text);
    CU_ASSERT_STRING_EQUAL(str_text(&text), "A..E: the 5 query tiles in order");
    str_clear(&text);
    timeline_summary(&p, &text);
    CU_ASSERT_STRING_EQUAL(str_text(&text),
                           "5 blocks, 4 slots (2 an SM), 1.25 waves, 6 us; SMs busy 83.3%, "
                           "tail 33%, longest/mean block 1.11");
    str_clear(&text);
    p.bound = 1; /* then its figures are */
    timeline_summary(&p, &text);
    CU_ASSERT_STRING_EQUAL(str_text(&text),
                           "5 blocks, <=4 slots (<=2 an SM), >=1.25 waves, 6 us; SMs busy 83.3%, "
                           "tail 33%, longest/mean block 1.11; drawn as if that many fit: the "
                           "registers are not known");
    p.bound = 0;
    str_free(&text);
    canvas_free(c);
    CU_ASSERT_EQUAL(timeline_best_mark(&p), MARK_TILE);
    for (int i = 0; i < 5;
         i++) /* more heads than tiles: theirs are the letters, whatever the GPU and the lines */
        p.spans[i].tile = i % 2, p.spans[i].head = i / 2;
    CU_ASSERT_EQUAL(timeline_best_mark(&p), MARK_HEAD);
    for (int i = 0; i < 5; i++)
        p.spans[i].tile = i, p.spans[i].head = 0;
    model_clear(&block_panel_layout, &p);
    block_take(&p, &s, 3); /* five blocks on two SMs: only the first SM is kept, and it says so */
    CU_ASSERT_EQUAL(p.n, 3);
    timeline_summary(&p, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "; here the first 1 of 2 SMs"));
    str_free(&text);
    model_clear(&block_panel_layout, &p);
}

/* A wave of one block an SM, and a second one on the first two of them. */
static void fill_waves(struct sched_block *b, struct schedule *s, int rows, int more)
{
    *s = (struct schedule){.unit = "SM",
                           .origin = "model",
                           .rows = rows,
                           .lanes = 1,
                           .npasses = 1,
                           .blocks = b,
                           .nblocks = rows + more,
                           .span_us = more ? 8 : 4};
    for (int i = 0; i < rows + more; i++)
        b[i] = (struct sched_block){.row = i % rows,
                                    .work = {.tile = i % rows, .head = i / rows, .split = -1},
                                    .wave = i / rows,
                                    .begin_us = 4.0 * (i / rows),
                                    .end_us = 4.0 * (i / rows + 1)};
}

/* SMs that do the same share a line; blocks of one letter have an edge between them. */
static void test_shared_lines(void)
{
    enum { ROWS = 12 };
    struct sched_block b[ROWS + 2];
    struct schedule s;
    struct block_panel p;
    struct canvas *c = canvas_new(TIMELINE_LABEL + 12, 5, GLYPHS_ASCII);
    fill_waves(b, &s, ROWS, 0);
    model_init(&block_panel_layout, &p);
    block_take(&p, &s, 0);
    struct timeline_view v = {.end_us = 4, .mark = MARK_TILE};
    CU_ASSERT_EQUAL(fig_timeline(c, (struct rect){0, 0, c->w, 5}, &p, &v), 2);
    expect_text(c, "SM 0-11    |A-L--------\nslots      ############\n\n\n\n");
    model_clear(&block_panel_layout, &p);
    fill_waves(b, &s, ROWS, 2);
    block_take(&p, &s, 0);
    v = (struct timeline_view){.end_us = 8, .mark = MARK_TILE};
    canvas_clear(c);
    CU_ASSERT_EQUAL(fig_timeline(c, (struct rect){0, 0, c->w, 5}, &p, &v), 3);
    expect_text(c, "SM 0-1     |A-B--|A-B--\nSM 2-11    |C-L--\nslots      ######......\n\n\n");
    v.mark = MARK_WAVE; /* the same letter twice has an edge, too */
    for (int i = 0; i < p.n; i++)
        p.spans[i].wave = 0;
    canvas_clear(c);
    fig_timeline(c, (struct rect){0, 0, c->w, 5}, &p, &v);
    expect_text(c, "SM 0-1     |AAAAA|AAAAA\nSM 2-11    |AAAAA\nslots      ######......\n\n\n");
    p.spans[ROWS / 2].end_us = 6; /* one that does something else: no range is right for them */
    v.mark = MARK_TILE;
    canvas_clear(c);
    fig_timeline(c, (struct rect){0, 0, c->w, 4}, &p, &v);
    expect_text(c, "SM 0-3     |AAAAA|AAAAA\nSM 4-7     |EEEEEggg\nSM 8-11    |IIIII\n"
                   "slots      ######:::...\n\n");
    v.per_line = 1; /* as asked: each by itself */
    canvas_clear(c);
    fig_timeline(c, (struct rect){0, 0, c->w, 3}, &p, &v);
    expect_text(c,
                "SM 0       |AAAAA|AAAAA\nSM 1       |BBBBB|BBBBB\nslots      ######:::...\n\n\n");
    model_clear(&block_panel_layout, &p);
    canvas_free(c);
}

/* What was before the view, or comes behind it, tells nobody apart in it. */
static void test_shared_lines_of_a_part(void)
{
    enum { ROWS = 12 };
    struct sched_block b[ROWS + 2];
    struct schedule s;
    struct block_panel p;
    struct canvas *c = canvas_new(TIMELINE_LABEL + 12, 5, GLYPHS_ASCII);
    fill_waves(b, &s, ROWS, 2);
    model_init(&block_panel_layout, &p);
    block_take(&p, &s, 0);
    for (int i = 0; i < p.n; i++)
        if (p.spans[i].row >= ROWS / 2)
            p.spans[i].begin_us = 8, p.spans[i].end_us = 9;
    const struct timeline_view v = {.begin_us = 4, .end_us = 8, .mark = MARK_TILE};
    CU_ASSERT_EQUAL(fig_timeline(c, (struct rect){0, 0, c->w, 5}, &p, &v), 3);
    expect_text(c, "SM 0-1     |A-B--------\nSM 2-11\nslots      ............\n\n\n");
    model_clear(&block_panel_layout, &p);
    canvas_free(c);
}

/* The model has no clock: what it shows are blocks, and no time that could rank two kernels. */
static void test_no_clock(void)
{
    static const char *const names[] = {"fa1_2022", "fa2", "qtile_seq", "splitkv"};
    struct shape shape = SHAPE_DEFAULT;
    shape.Sq = shape.Sk = 512;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct schedule s;
        struct err why = ERR_INIT;
        struct block_panel p;
        struct str text = {0};
        CU_ASSERT_EQUAL_FATAL(model(names[i], "H200", &shape, &s, &why), ST_OK);
        const struct sched_summary sum = sched_summarise(&s);
        CU_ASSERT(isnan(sum.span_us));
        CU_ASSERT(sum.span_blocks >= 1 && sum.span_blocks < 20);
        model_init(&block_panel_layout, &p);
        block_take(&p, &s, 0);
        timeline_summary(&p, &text);
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), " ends at "));
        CU_ASSERT_PTR_NULL(strstr(str_text(&text), " us"));
        CU_ASSERT_PTR_NULL(strstr(str_text(&text), "RECORDED"));
        str_clear(&text);
        p.recorded_us = 107.4;
        p.recorded = xstrdup("h200");
        timeline_summary(&p, &text);
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "; RECORDED 107 us (h200)"));
        str_free(&text);
        json_t *blocks = sched_blocks_json(&s), *first = json_array_get(blocks, 0);
        CU_ASSERT(json_is_null(json_object_get(first, "begin_us")));
        CU_ASSERT(json_is_real(json_object_get(first, "end_blocks")));
        json_decref(blocks);
        model_clear(&block_panel_layout, &p);
        sched_clear(&s);
    }
}

/* A lone block of a full wave takes one block time; twice the blocks on every SM, that share it, two. */
static void test_block_times(void)
{
    struct shape shape = SHAPE_DEFAULT;
    shape.H = shape.Hkv = 132;
    shape.Sq = 64;
    shape.Sk = 512;
    struct schedule s;
    struct err why = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(model("qtile_seq", "H200", &shape, &s, &why), ST_OK);
    CU_ASSERT(near(sched_summarise(&s).span_blocks, 1));
    sched_clear(&s);
    shape.H = shape.Hkv = 264;
    CU_ASSERT_EQUAL_FATAL(model("qtile_seq", "H200", &shape, &s, &why), ST_OK);
    CU_ASSERT(near(sched_summarise(&s).span_blocks, 2));
    sched_clear(&s);
}

static const struct tap_test tests[] = {
    {"the model has no clock", test_no_clock},
    {"its unit is a block", test_block_times},
    {"equal blocks go in waves", test_waves},
    {"few blocks leave SMs idle", test_few},
    {"unequal blocks make a tail", test_unequal},
    {"blocks of one SM share it", test_sharing},
    {"query tiles, ragged and causal", test_tiles},
    {"heads and splits", test_heads_and_splits},
    {"models of the ladder's kernels", test_models},
    {"stamps become lanes", test_arrange},
    {"what it looks like", test_figure},
    {"SMs that do the same share a line", test_shared_lines},
    {"in a part of the time, too", test_shared_lines_of_a_part},
};

int main(void)
{
    registry = registry_new();
    const int rc = tap_run("schedule", tests, sizeof tests / sizeof *tests);
    registry_free(registry);
    return rc;
}
