/* figures.c - small figures without a model: sparkline, horizontal bar, occupancy limits, large characters.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/scale.h"
#include "draw/figures.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

void fig_spark(struct canvas *c, struct rect r, const double *v, int n)
{
    static const char ascii[] = "_.-=^";
    int levels = c->glyphs == GLYPHS_ASCII ? 5 : 8;
    const double *last = n > r.w ? v + n - r.w : v;
    int count = n > r.w ? r.w : n;
    struct range range = RANGE_NONE;
    for (int i = 0; i < count; i++)
        range_add(&range, last[i]);
    for (int i = 0; i < count; i++) {
        if (isnan(last[i])) {
            canvas_put(c, r.x + i, r.y, ROLE_WARN, 'x');
            continue;
        }
        const double share = range.hi > range.lo ? range_share(&range, last[i]) : 0.5;
        const int level = (int)(fmin(fmax(share, 0), 1) * (levels - 1) + 0.5);
        canvas_put(c, r.x + i, r.y, ROLE_ACCENT,
                   levels == 5 ? (uint32_t)ascii[level] : 0x2581u + (uint32_t)level);
    }
}

void fig_bar(struct canvas *c, struct rect r, enum role role, double value, double max)
{
    if (!(max > 0) || !(value >= 0))
        return;
    double cells = fmin(value / max, 1) * r.w;
    int whole = (int)cells, eighths = (int)((cells - whole) * 8);
    if (c->glyphs == GLYPHS_ASCII)
        whole = (int)(cells + 0.5);
    for (int x = 0; x < whole; x++)
        canvas_put(c, r.x + x, r.y, role, c->glyphs == GLYPHS_ASCII ? '#' : 0x2588);
    if (c->glyphs != GLYPHS_ASCII && eighths > 0 && whole < r.w)
        canvas_put(c, r.x + whole, r.y, role, 0x2590u - (uint32_t)eighths); /* 2588..258f */
}

void fig_limits(struct canvas *c, struct rect r, const struct occupancy *o)
{
    const struct {
        const char *name;
        int64_t value;
        unsigned bit;
    } limits[] = {
        {"regs", o->limit_regs, OCC_REGS},
        {"smem", o->limit_smem, OCC_SMEM},
        {"warps", o->limit_warps, OCC_WARPS},
        {"blocks", o->limit_blocks, OCC_BLOCKS},
    };
    int x = r.x, end = r.x + r.w;
    x += canvas_text(c, x, r.y, end - x, ROLE_DIM, "limit ");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        bool reached = o->limiter & limits[i].bit;
        char buf[NUMBER_BUF];
        if (i > 0)
            x += canvas_text(c, x, r.y, end - x, ROLE_DIM, " | ");
        x += canvas_textf(c, x, r.y, end - x, reached ? ROLE_WARN : ROLE_NORMAL, "%s %s%s",
                          limits[i].name, number_fmt_int(buf, limits[i].value),
                          reached ? " <==" : "");
    }
}

/* ---- a figure in large characters, for who sits in the last row ---- */

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
