/* test_codeview.c - text of a program on a canvas: numbers, marks, colours by role, diffs, moving.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/codeview.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static const char text[] =
    "/* one\n * @name two */\n\tfloat x = 1; // \xc3\xa9\n__syncthreads();\nlast";
static const char older[] = "/* one\n * @name two */\n\tfloat x = 2;\n__syncthreads();\n";

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

static enum role role_at(const struct canvas *c, int x, int y)
{
    return (enum role)c->cells[y * c->w + x].role;
}

static void test_plain(void)
{
    struct codeview v = {0};
    struct canvas *c = canvas_new(40, 5, GLYPHS_ASCII);
    CU_ASSERT(codeview_set(&v, LEX_CUDA, text, strlen(text), NULL, 0));
    codeview_draw(&v, c, (struct rect){0, 0, 40, 5}, true);
    expect_text(c, "   1>   /* one\n"
                   "   2     * @name two */\n"
                   "   3            float x = 1; // ?\n"
                   "   4 B  __syncthreads();\n"
                   "   5    last\n");
    CU_ASSERT_EQUAL(role_at(c, 8, 0), ROLE_DIM);     /* a comment */
    CU_ASSERT_EQUAL(role_at(c, 11, 1), ROLE_ACCENT); /* a tag; the comment goes on over the line */
    CU_ASSERT_EQUAL(role_at(c, 22, 2), ROLE_NORMAL); /* x */
    CU_ASSERT_EQUAL(role_at(c, 8, 3), ROLE_KEY);     /* a term */
    canvas_clear(c);
    CU_ASSERT(codeview_move(&v, MOVE_RIGHT));
    codeview_draw(&v, c, (struct rect){0, 0, 16, 5}, false);
    expect_text(c, "   1>e\n   2 ame two */\n   3    float x>\n   4 cthreads();\n   5\n");
    canvas_free(c);
    codeview_clear(&v);
}

static void draw_number(const void *ctx, struct canvas *c, int x, int y, int number)
{
    if (number % 2)
        canvas_textf(c, x, y, 4, ROLE_HEAT, "%s%d", (const char *)ctx, number);
}

/* A margin of its own is drawn by who gives it, for each line by its number, which is below 0 of lines that are gone. */
static void test_margin(void)
{
    const struct codeview_margin margin = {4, draw_number, "x"};
    struct codeview v = {.margin = &margin};
    struct canvas *c = canvas_new(40, 6, GLYPHS_ASCII);
    CU_ASSERT(codeview_set(&v, LEX_CUDA, text, strlen(text), older, strlen(older)));
    codeview_draw(&v, c, (struct rect){0, 0, 40, 6}, false);
    expect_text(c, "   1   x1  /* one\n"
                   "   2        * @name two */\n"
                   "   3>- x-3         float x = 2;\n"
                   "   3 + x3          float x = 1; // ?\n"
                   "   4       __syncthreads();\n"
                   "   5 + x5  last\n");
    canvas_free(c);
    codeview_clear(&v);
}

static void test_diff(void)
{
    struct codeview v = {0};
    struct canvas *c = canvas_new(40, 7, GLYPHS_ASCII);
    CU_ASSERT(codeview_set(&v, LEX_CUDA, text, strlen(text), older, strlen(older)));
    CU_ASSERT_EQUAL(v.list.cur, 2); /* at the first change */
    codeview_draw(&v, c, (struct rect){0, 0, 40, 7}, false);
    expect_text(c, "   1   /* one\n"
                   "   2    * @name two */\n"
                   "   3>-         float x = 2;\n"
                   "   3 +         float x = 1; // ?\n"
                   "   4   __syncthreads();\n"
                   "   5 + last\n"
                   "\n");
    CU_ASSERT_EQUAL(role_at(c, 5, 2), ROLE_BAD);
    CU_ASSERT_EQUAL(role_at(c, 5, 3), ROLE_GOOD);
    CU_ASSERT_EQUAL(role_at(c, 15, 2), ROLE_DIM); /* what is gone has no colours */
    CU_ASSERT(codeview_change(&v, 1));
    CU_ASSERT_EQUAL(v.list.cur, 5);
    CU_ASSERT_FALSE(codeview_change(&v, 1));
    CU_ASSERT(codeview_change(&v, -1));
    CU_ASSERT_EQUAL(v.list.cur, 2);           /* the begin of the run before */
    CU_ASSERT_FALSE(codeview_change(&v, -1)); /* lines that did not change are before it */
    CU_ASSERT_EQUAL(v.list.cur, 2);
    CU_ASSERT(codeview_find(&v, "SYNCthreads", 1));
    CU_ASSERT_EQUAL(v.list.cur, 4);
    CU_ASSERT_FALSE(codeview_find(&v, "nowhere", 1));
    CU_ASSERT_EQUAL(v.list.cur, 4);
    canvas_free(c);
    codeview_clear(&v);
}

/* Foreign text cannot reach the terminal, and an empty one is no trouble. */
static void test_hostile(void)
{
    static const char bad[] = "a\033[2Jb\r\x07\xff\n\x9b"
                              "c";
    struct codeview v = {0};
    struct canvas *c = canvas_new(30, 3, GLYPHS_BLOCK);
    codeview_set(&v, LEX_SASS, bad, sizeof bad - 1, NULL, 0);
    codeview_draw(&v, c, (struct rect){0, 0, 30, 3}, true);
    for (int i = 0; i < c->w * c->h; i++)
        CU_ASSERT(c->cells[i].ch == 0 || (c->cells[i].ch >= 0x20 && c->cells[i].ch != 0x7f &&
                                          (c->cells[i].ch < 0x80 || c->cells[i].ch > 0x9f)));
    codeview_set(&v, LEX_CUDA, "", 0, NULL, 0);
    codeview_draw(&v, c, (struct rect){0, 0, 30, 3}, true);
    codeview_move(&v, MOVE_DOWN);
    codeview_move(&v, MOVE_LAST);
    CU_ASSERT_FALSE(codeview_find(&v, "x", 0));
    codeview_clear(&v);
    canvas_free(c);
}

static const struct tap_test tests[] = {
    {"a text: numbers, marks, roles", test_plain},
    {"a diff", test_diff},
    {"a margin", test_margin},
    {"hostile and empty texts", test_hostile},
};
TAP_MAIN("codeview", tests)
