/* digits.c - a figure in large characters, for who sits in the last row.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "draw/figures.h"

enum { ROWS = 5, COLUMNS_MAX = 5 };

/* What numbers and their units are written with, five rows each; '#' is a dot. */
static const struct glyph {
    char ch;
    const char *rows[ROWS];
} glyphs[] = {
    {'0', {"####", "#  #", "#  #", "#  #", "####"}},
    {'1', {" #", "##", " #", " #", " #"}},
    {'2', {"####", "   #", "####", "#   ", "####"}},
    {'3', {"####", "   #", " ###", "   #", "####"}},
    {'4', {"#  #", "#  #", "####", "   #", "   #"}},
    {'5', {"####", "#   ", "####", "   #", "####"}},
    {'6', {"####", "#   ", "####", "#  #", "####"}},
    {'7', {"####", "   #", "  # ", " #  ", " #  "}},
    {'8', {"####", "#  #", "####", "#  #", "####"}},
    {'9', {"####", "#  #", "####", "   #", "####"}},
    {'.', {" ", " ", " ", " ", "#"}},
    {'-', {"   ", "   ", "###", "   ", "   "}},
    {'+', {"   ", " # ", "###", " # ", "   "}},
    {'e', {"    ", " ## ", "# ##", "##  ", " ###"}},
    {'u', {"    ", "#  #", "#  #", "#  #", "####"}},
    {'m', {"     ", "#### ", "# # #", "# # #", "# # #"}},
    {'s', {"   ", " ##", "#  ", " # ", "## "}},
    {'x', {"   ", "# #", " # ", "# #", "   "}},
    {'?', {"####", "   #", " ## ", "    ", " #  "}},
    {' ', {"  ", "  ", "  ", "  ", "  "}},
};

static const struct glyph *glyph_of(char ch)
{
    for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++)
        if (glyphs[i].ch == ch)
            return &glyphs[i];
    return NULL;
}

/* Columns of the text at one column a dot; 0: a character has no glyph. */
static int width_of(const char *text)
{
    int w = 0;
    for (; *text; text++) {
        const struct glyph *g = glyph_of(*text);
        if (!g)
            return 0;
        w += (int)strlen(g->rows[0]) + 1;
    }
    return w - 1;
}

static void draw_glyph(struct canvas *c, int x, int y, enum role role, const struct glyph *g,
                       int sx, int sy)
{
    const uint32_t ink = c->glyphs == GLYPHS_ASCII ? '#' : 0x2588;
    for (int row = 0; row < ROWS * sy; row++)
        for (int col = 0; col < (int)strlen(g->rows[0]) * sx; col++)
            if (g->rows[row / sy][col / sx] == '#')
                canvas_put(c, x + col, y + row, role, ink);
}

int fig_digits(struct canvas *c, struct rect r, enum role role, const char *text)
{
    const int w = width_of(text);
    int sy = r.h / ROWS, sx = w > 0 ? r.w / w : 0, x = r.x;
    sy = sx / 2 < sy ? sx / 2 : sy; /* a cell is twice as high as it is wide */
    sy = sy < 1 ? 1 : sy;
    sx = sx > 2 * sy ? 2 * sy : sx;
    if (sx < 1 || r.h < ROWS)
        return 0;
    for (; *text; text++) {
        const struct glyph *g = glyph_of(*text);
        draw_glyph(c, x, r.y, role, g, sx, sy);
        x += ((int)strlen(g->rows[0]) + 1) * sx;
    }
    return ROWS * sy;
}
