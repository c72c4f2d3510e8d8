/* test_layout.c - panes at every size: inside the screen, without overlap, large enough.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/layout.h"

#include "tap.h"
#include "tui/kit/pane.h"

static const struct layout_wish wish = {
    .nshape = 15, .nkernels = 9, .nsmem = 4, .focus = PANE_SHAPE};

static void expect_rect(struct rect r, int x, int y, int w, int h)
{
    CU_ASSERT_EQUAL(r.x, x);
    CU_ASSERT_EQUAL(r.y, y);
    CU_ASSERT_EQUAL(r.w, w);
    CU_ASSERT_EQUAL(r.h, h);
}

/* The design size, row by row. */
static void test_80x24(void)
{
    struct screen_layout l;
    layout_explore(80, 24, &wish, &l);
    CU_ASSERT_EQUAL(l.mode, LAYOUT_FULL);
    expect_rect(l.pane[PANE_SHAPE], 1, 3, 20, 9);
    expect_rect(l.pane[PANE_KERNELS], 1, 13, 20, 6);
    expect_rect(l.pane[PANE_TIME], 22, 3, 57, 4);
    expect_rect(l.pane[PANE_CHECK], 22, 8, 57, 3);
    expect_rect(l.pane[PANE_SMEM], 22, 12, 57, 2);
    expect_rect(l.pane[PANE_OCC], 22, 15, 57, 4);
    expect_rect(l.pane[PANE_WHY], 1, 20, 78, 2);
    expect_rect(l.command, 0, 22, 80, 1);
    expect_rect(l.footer, 0, 23, 80, 1);
    CU_ASSERT_EQUAL(l.frame[PANE_ROOF].w, 0);
}

static void test_wide(void)
{
    struct screen_layout l;
    layout_explore(200, 50, &wish, &l);
    CU_ASSERT(l.pane[PANE_SHAPE].h >= wish.nshape);
    CU_ASSERT(l.pane[PANE_KERNELS].h >= wish.nkernels);
    CU_ASSERT(l.pane[PANE_SMEM].h >= wish.nsmem + 1);
    CU_ASSERT(l.pane[PANE_ROOF].w >= 60);
    CU_ASSERT(l.pane[PANE_ROOF].h >= 12);
    CU_ASSERT(l.pane[PANE_SAMPLES].h >= 6);
    layout_explore(80, 50, &wish, &l); /* high but narrow: stacked */
    CU_ASSERT(l.pane[PANE_ROOF].h >= 8);
    CU_ASSERT_EQUAL(l.pane[PANE_ROOF].x, l.pane[PANE_TIME].x);
}

static void test_modes(void)
{
    struct screen_layout l;
    static const struct {
        int w, h;
        enum layout_mode mode;
    } sizes[] = {
        {80, 24, LAYOUT_FULL},     {79, 24, LAYOUT_COMPACT},   {80, 23, LAYOUT_COMPACT},
        {40, 12, LAYOUT_COMPACT},  {39, 12, LAYOUT_TOO_SMALL}, {40, 11, LAYOUT_TOO_SMALL},
        {10, 3, LAYOUT_TOO_SMALL}, {1, 1, LAYOUT_TOO_SMALL},   {0, 0, LAYOUT_TOO_SMALL},
        {500, 200, LAYOUT_FULL},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        layout_explore(sizes[i].w, sizes[i].h, &wish, &l);
        CU_ASSERT_EQUAL(l.mode, sizes[i].mode);
    }
}

static bool overlap(struct rect a, struct rect b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

static void check_panes(const struct screen_layout *l)
{
    for (int p = 0; p < PANE_COUNT; p++) {
        struct rect r = l->pane[p];
        if (r.w == 0)
            continue;
        CU_ASSERT(r.x >= 0 && r.y >= 0 && r.w >= 18 && r.h >= (l->simulates && l->h < 28 ? 1 : 2));
        CU_ASSERT(r.x + r.w <= l->w && r.y + r.h <= l->command.y);
        for (int q = p + 1; q < PANE_COUNT; q++)
            CU_ASSERT_FALSE(l->pane[q].w > 0 && overlap(r, l->pane[q]));
    }
}

static void test_all_sizes(void)
{
    struct screen_layout l;
    for (int w = 40; w <= 220; w += 4) {
        for (int h = 12; h <= 90; h += 3) {
            for (int n = 0; n <= 40; n += 8) {
                struct layout_wish any = {.nshape = n,
                                          .nkernels = n / 2,
                                          .nsmem = n / 3,
                                          .nsim = n % 3 * 4,
                                          .pair = n % 16 == 0,
                                          .focus = (enum pane)(n % PANE_COUNT)};
                layout_explore(w, h, &any, &l);
                check_panes(&l);
            }
        }
    }
}

static void test_compact_focus(void)
{
    struct layout_wish one = wish;
    struct screen_layout l;
    enum pane p = PANE_SHAPE;
    for (int i = 0; i < PANE_COUNT - 1;
         i++) { /* Tab reaches every pane that there is and comes round */
        CU_ASSERT_NOT_EQUAL(p, PANE_SIM);
        one.focus = p;
        layout_explore(40, 12, &one, &l);
        p = layout_next(&l, p, 1);
    }
    CU_ASSERT_EQUAL(p, PANE_SHAPE);
    one.nsim = 6;
    for (int i = 0; i < PANE_COUNT; i++) {
        one.focus = p;
        layout_explore(40, 12, &one, &l);
        for (int q = 0; q < PANE_COUNT; q++)
            CU_ASSERT_EQUAL(l.pane[q].w > 0, q == (int)p);
        p = layout_next(&l, p, 1);
    }
    CU_ASSERT_EQUAL(p, PANE_SHAPE);
}

/* What takes few lines does not stand alone on a small terminal that has more: it is three panes, which fill it. */
static void test_small(void)
{
    static const enum pane together[] = {PANE_TIME, PANE_CHECK, PANE_OCC};
    struct layout_wish one = wish;
    struct screen_layout l;
    for (int h = 18; h < 40; h += 3)
        for (int i = 0; i < 3; i++) {
            int rows = 0;
            one.focus = together[i];
            layout_explore(60, h, &one, &l);
            for (int p = 0; p < PANE_COUNT; p++) {
                CU_ASSERT_EQUAL(l.pane[p].w > 0,
                                p == PANE_TIME || p == PANE_CHECK || p == PANE_OCC);
                rows += l.frame[p].h;
            }
            CU_ASSERT_EQUAL(rows, h - 3);
            CU_ASSERT(l.pane[PANE_TIME].h >= 4 && l.pane[PANE_CHECK].h >= 3 &&
                      l.pane[PANE_OCC].h >= 5);
            CU_ASSERT_EQUAL(layout_next(&l, PANE_TIME, 1), PANE_CHECK);
        }
    one.focus = PANE_TIME;
    layout_explore(60, 17, &one, &l); /* no room for three */
    CU_ASSERT_EQUAL(l.pane[PANE_CHECK].w, 0);
    one.zoom = true;
    layout_explore(60, 20, &one, &l); /* nor are they asked for */
    CU_ASSERT_EQUAL(l.pane[PANE_CHECK].w, 0);
    one.zoom = false;
    one.focus = PANE_KERNELS;
    layout_explore(60, 20, &one, &l); /* a list takes all there is */
    CU_ASSERT_EQUAL(l.pane[PANE_KERNELS].h, 16);
}

/* Beside times the simulator's figures have a pane at every size, and all others keep theirs. */
static void test_simulated(void)
{
    struct layout_wish with = wish;
    struct screen_layout l, without;
    with.nsim = 6;
    for (int pair = 0; pair < 2; pair++) {
        with.pair = pair;
        for (int h = 24; h <= 60; h++) {
            layout_explore(80, h, &with, &l);
            layout_explore(80, h, &wish, &without);
            check_panes(&l);
            CU_ASSERT(l.pane[PANE_SIM].h >= (h < 28 ? 1 : 2));
            CU_ASSERT_EQUAL(without.frame[PANE_SIM].w, 0);
            for (int p = PANE_SHAPE; p <= PANE_OCC; p++)
                CU_ASSERT(l.pane[p].w > 0);
            CU_ASSERT(l.pane[PANE_TIME].h >= 4 && l.pane[PANE_OCC].h >= 4);
            CU_ASSERT(l.pane[PANE_CHECK].h >= (pair ? 3 : 2) && l.pane[PANE_SMEM].h >= 1);
        }
    }
}

static void test_next_skips_hidden(void)
{
    struct screen_layout l;
    layout_explore(80, 24, &wish, &l);
    CU_ASSERT_EQUAL(layout_next(&l, PANE_OCC, 1), PANE_WHY);
    CU_ASSERT_EQUAL(layout_next(&l, PANE_SHAPE, -1), PANE_WHY);
    CU_ASSERT_EQUAL(layout_next(&l, PANE_WHY, 1), PANE_SHAPE);
}

/* Every character belongs to the pane whose inside it is in, or to none: corners are of nobody else. */
static void test_pane_at(void)
{
    struct screen_layout l;
    layout_explore(120, 40, &wish, &l);
    for (enum pane p = 0; p < PANE_COUNT; p++) {
        const struct rect r = l.pane[p];
        if (r.w <= 0)
            continue;
        CU_ASSERT_EQUAL(layout_pane_at(&l, r.x, r.y), p);
        CU_ASSERT_EQUAL(layout_pane_at(&l, r.x + r.w - 1, r.y + r.h - 1), p);
        CU_ASSERT_NOT_EQUAL(layout_pane_at(&l, r.x + r.w, r.y), p);
        CU_ASSERT_NOT_EQUAL(layout_pane_at(&l, r.x, r.y + r.h), p);
    }
    CU_ASSERT_EQUAL(layout_pane_at(&l, 0, 39), PANE_COUNT); /* the footer */
    CU_ASSERT_EQUAL(layout_pane_at(&l, -1, -1), PANE_COUNT);
}

/* A list of 10 rows in 4 lines: its cursor stays inside and in view, and the mouse finds the rows that are shown. */
static void test_list(void)
{
    const struct rect at = {3, 2, 20, 4};
    struct list l = {.n = 0};
    CU_ASSERT_EQUAL(list_place(&l, at, 10, false), 4);
    CU_ASSERT(!list_move(&l, MOVE_LEFT) && list_move(&l, MOVE_UP) && l.cur == 0);
    CU_ASSERT(list_move(&l, MOVE_PAGE_DOWN) && l.cur == 3); /* one row of a page is seen again */
    CU_ASSERT(list_move(&l, MOVE_DOWN) && l.cur == 4);
    (void)list_place(&l, at, 10, false);
    CU_ASSERT_EQUAL(l.top, 1);
    for (int y = at.y; y < at.y + at.h; y++) {
        CU_ASSERT_EQUAL(list_at(&l, at.x, y), 1 + y - at.y);
        CU_ASSERT_EQUAL(list_at(&l, at.x + at.w - 1, y), 1 + y - at.y);
        CU_ASSERT(list_at(&l, at.x - 1, y) < 0 && list_at(&l, at.x + at.w, y) < 0);
    }
    CU_ASSERT(list_at(&l, at.x, at.y - 1) < 0 && list_at(&l, at.x, at.y + at.h) < 0);
    CU_ASSERT(list_move(&l, MOVE_LAST) && l.cur == 9 && list_move(&l, MOVE_DOWN) && l.cur == 9);
    CU_ASSERT_EQUAL(list_place(&l, at, 10, false), 4);
    CU_ASSERT_EQUAL(l.top, 6);
    CU_ASSERT(list_move(&l, MOVE_PAGE_UP) && l.cur == 6 && list_move(&l, MOVE_FIRST) && !l.cur);
    CU_ASSERT_EQUAL(list_place(&l, at, 2, true), 2); /* with room a line between */
    CU_ASSERT(list_row_at(&l, 1).y == at.y + 2 && list_at(&l, at.x, at.y + 2) == 1);
    CU_ASSERT_EQUAL(list_place(&l, at, 3, true), 3); /* without, none */
    CU_ASSERT(list_at(&l, at.x, at.y + 2) == 2 && list_at(&l, at.x, at.y + 3) < 0);
    CU_ASSERT_EQUAL(list_place(&l, at, 0, false), 0);
    CU_ASSERT(list_at(&l, at.x, at.y) < 0 && l.cur == 0);
}

static const struct tap_test tests[] = {
    {"80x24 is the design", test_80x24},
    {"large terminals get more columns", test_wide},
    {"modes by size", test_modes},
    {"panes neither overlap nor leave the screen", test_all_sizes},
    {"compact shows the focused pane", test_compact_focus},
    {"on a small terminal what is short shares it", test_small},
    {"a pane beside times", test_simulated},
    {"the focus skips hidden panes", test_next_skips_hidden},
    {"the pane under the mouse", test_pane_at},
    {"a list, its cursor and the row under the mouse", test_list},
};

TAP_MAIN("layout", tests)
