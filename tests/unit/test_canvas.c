/* test_canvas.c - the cell grid: clipping, cutting, wrapping, frames that merge, ASCII purity.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/canvas.h"

#include <string.h>

#include "tap.h"

/* Compares the canvas with golden text and shows both when they differ. */
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

static void test_clip(void)
{
    struct canvas *c = canvas_new(5, 2, GLYPHS_ASCII);
    canvas_put(c, -1, 0, ROLE_NORMAL, 'x');
    canvas_put(c, 5, 0, ROLE_NORMAL, 'x');
    canvas_put(c, 0, 2, ROLE_NORMAL, 'x');
    canvas_text(c, 3, 1, -1, ROLE_NORMAL, "abcdef");
    canvas_hline(c, -3, 0, 20);
    canvas_vline(c, 99, -5, 20);
    canvas_fill(c, (struct rect){-5, -5, 100, 100}, ROLE_BAD);
    CU_ASSERT_EQUAL(c->cells[9].role, ROLE_BAD);
    expect_text(c, "-----\n   ab\n");
    canvas_free(c);
}

static void test_cut(void)
{
    struct canvas *c = canvas_new(8, 3, GLYPHS_ASCII);
    CU_ASSERT_EQUAL(canvas_text(c, 0, 0, 6, ROLE_NORMAL, "attention"), 6);
    CU_ASSERT_EQUAL(canvas_text(c, 0, 1, 6, ROLE_NORMAL, "fits"), 4);
    CU_ASSERT_EQUAL(canvas_text(c, 0, 2, 6, ROLE_NORMAL, "sixsix"), 6);
    expect_text(c, "atte..\nfits\nsixsix\n");
    canvas_free(c);
    c = canvas_new(8, 1, GLYPHS_BLOCK);
    canvas_text(c, 0, 0, 6, ROLE_NORMAL, "attention");
    expect_text(c, "atten\xe2\x80\xa6\n");
    canvas_free(c);
}

static void test_wide(void)
{
    /* a two-column character takes two cells, and is never halved at the edge */
    struct canvas *c = canvas_new(4, 2, GLYPHS_BLOCK);
    CU_ASSERT_EQUAL(canvas_text(c, 0, 0, -1, ROLE_NORMAL, "\xe6\xb3\xa8x"), 3);
    CU_ASSERT_EQUAL(c->cells[1].ch, CELL_TAIL);
    canvas_text(c, 3, 1, -1, ROLE_NORMAL, "\xe6\xb3\xa8");
    CU_ASSERT_NOT_EQUAL(c->cells[7].ch, 0x6ce8);
    canvas_free(c);
}

static void test_wrap(void)
{
    struct canvas *c = canvas_new(10, 4, GLYPHS_ASCII);
    int lines = canvas_wrap(c, (struct rect){0, 0, 10, 4}, ROLE_NORMAL,
                            "only one block fits\nregisterregisters");
    CU_ASSERT_EQUAL(lines, 4);
    expect_text(c, "only one\nblock fits\nregisterre\ngisters\n");
    canvas_clear(c);
    lines = canvas_wrap(c, (struct rect){0, 0, 10, 2}, ROLE_NORMAL, "a b c d e f g h i j k l");
    CU_ASSERT_EQUAL(lines, 3); /* also those that do not fit */
    expect_text(c, "a b c d e\nf g h i j\n\n\n");
    canvas_free(c);
}

static void test_frames(void)
{
    struct canvas *c = canvas_new(14, 5, GLYPHS_ASCII);
    canvas_box(c, (struct rect){0, 0, 8, 3}, NULL);
    canvas_box(c, (struct rect){7, 0, 7, 3}, NULL);
    canvas_box(c, (struct rect){0, 2, 14, 3}, "Why?");
    expect_text(c,
                "+------+-----+\n|      |     |\n+- Why? -----+\n|            |\n+------------+\n");
    canvas_free(c);
    c = canvas_new(5, 3, GLYPHS_BLOCK);
    canvas_box(c, (struct rect){0, 0, 3, 3}, NULL);
    canvas_box(c, (struct rect){2, 0, 3, 3}, NULL);
    canvas_hline(c, 0, 1, 5);
    CU_ASSERT_EQUAL(canvas_glyph(c, 0, 0), 0x250c);
    CU_ASSERT_EQUAL(canvas_glyph(c, 2, 0), 0x252c);
    CU_ASSERT_EQUAL(canvas_glyph(c, 4, 0), 0x2510);
    CU_ASSERT_EQUAL(canvas_glyph(c, 0, 1), 0x251c);
    CU_ASSERT_EQUAL(canvas_glyph(c, 2, 1), 0x253c);
    CU_ASSERT_EQUAL(canvas_glyph(c, 4, 1), 0x2524);
    CU_ASSERT_EQUAL(canvas_glyph(c, 2, 2), 0x2534);
    canvas_free(c);
}

static void test_ascii_is_pure(void)
{
    struct canvas *c = canvas_new(30, 4, GLYPHS_ASCII);
    canvas_box(c, (struct rect){0, 0, 30, 4}, "r\xc3\xa9sum\xc3\xa9");
    canvas_text(c, 1, 1, -1, ROLE_NORMAL,
                "2\xc3\x97"
                "3 \xe2\x89\xa4 7 \xe2\x86\x92 \xe6\xb3\xa8");
    canvas_text(c, 1, 2, 8, ROLE_NORMAL, "cut off in the middle");
    struct str s = {0};
    canvas_to_text(c, &s);
    for (size_t i = 0; i < s.len; i++)
        CU_ASSERT((unsigned char)s.data[i] < 128);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "2x3 < 7 > ?"));
    str_free(&s);
    canvas_free(c);
}

static void test_resize(void)
{
    struct canvas *c = canvas_new(3, 1, GLYPHS_ASCII);
    canvas_text(c, 0, 0, -1, ROLE_NORMAL, "abc");
    canvas_resize(c, 0, 0);
    expect_text(c, "");
    canvas_resize(c, 4, 2);
    canvas_blank(c, (struct rect){-1, -1, 9, 9});
    expect_text(c, "\n\n");
    canvas_free(c);
}

static const struct tap_test tests[] = {
    {"drawing outside is clipped", test_clip},
    {"text is cut with a mark", test_cut},
    {"wide characters take two cells", test_wide},
    {"words wrap", test_wrap},
    {"frames merge where they touch", test_frames},
    {"the ASCII tier has no byte above 127", test_ascii_is_pure},
    {"resize clears", test_resize},
};

TAP_MAIN("canvas", tests)
