/* canvas.c - the cell grid: clipping, text, wrapping, frame lines that merge.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/canvas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LINE_UP = 1, LINE_RIGHT = 2, LINE_DOWN = 4, LINE_LEFT = 8 };

/* What an ASCII terminal gets for the characters that our own texts use; the rest becomes '?'. */
static const struct {
    uint32_t ch;
    char ascii;
} ascii_table[] = {
    {0x00a0, ' '}, {0x00b1, '~'}, {0x00b5, 'u'}, {0x00b7, '.'},  {0x00d7, 'x'},  {0x2010, '-'},
    {0x2011, '-'}, {0x2013, '-'}, {0x2014, '-'}, {0x2018, '\''}, {0x2019, '\''}, {0x201c, '"'},
    {0x201d, '"'}, {0x2022, '*'}, {0x2026, '.'}, {0x2190, '<'},  {0x2192, '>'},  {0x2212, '-'},
    {0x2248, '~'}, {0x2264, '<'}, {0x2265, '>'}, {0x25b8, '>'},  {0x25cf, '*'},  {0x03bc, 'u'},
};

static uint32_t to_ascii(uint32_t ch)
{
    if (ch < 128)
        return ch;
    for (size_t i = 0; i < sizeof ascii_table / sizeof *ascii_table; i++)
        if (ascii_table[i].ch == ch)
            return (uint32_t)ascii_table[i].ascii;
    return '?';
}

struct canvas *canvas_new(int w, int h, enum glyphs glyphs)
{
    struct canvas *c = xcalloc(1, sizeof *c);
    c->glyphs = glyphs;
    canvas_resize(c, w, h);
    return c;
}

void canvas_free(struct canvas *c)
{
    if (!c)
        return;
    free(c->cells);
    free(c);
}

void canvas_resize(struct canvas *c, int w, int h)
{
    c->w = w > 0 ? w : 0;
    c->h = h > 0 ? h : 0;
    free(c->cells);
    c->cells = xcalloc((size_t)c->w * (size_t)c->h + 1, sizeof *c->cells);
}

void canvas_clear(struct canvas *c)
{
    memset(c->cells, 0, (size_t)c->w * (size_t)c->h * sizeof *c->cells);
}

static struct cell *cell_at(const struct canvas *c, int x, int y)
{
    if (x < 0 || y < 0 || x >= c->w || y >= c->h)
        return NULL;
    return &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
}

void canvas_put(struct canvas *c, int x, int y, enum role role, uint32_t ch)
{
    struct cell *cell = cell_at(c, x, y);
    if (cell)
        *cell = (struct cell){.ch = c->glyphs == GLYPHS_ASCII ? to_ascii(ch) : ch,
                              .role = (uint8_t)role};
}

/* Columns of one code point on this canvas: 0 for combining marks, 1, or 2. */
static int code_width(const struct canvas *c, uint32_t code)
{
    if (code < 0x300)
        return 1;
    char utf8[5] = {0};
    str_utf8_put(utf8, code);
    int w = str_width(utf8);
    return c->glyphs == GLYPHS_ASCII && w > 1 ? 1 : w;
}

/* Puts one code point at x if it fits before `end`; returns its columns, -1 when it does not. */
static int put_code(struct canvas *c, int x, int y, int end, enum role role, uint32_t code)
{
    int w = code_width(c, code);
    if (x + w > end)
        return -1;
    if (w > 0)
        canvas_put(c, x, y, role, code);
    if (w == 2)
        canvas_put(c, x + 1, y, role, CELL_TAIL);
    return w;
}

/* Overwrites the last columns before `end` with the sign that text was cut. */
static void put_cut_mark(struct canvas *c, int x, int y, int end, enum role role)
{
    if (c->glyphs != GLYPHS_ASCII && end - x >= 1)
        canvas_put(c, end - 1, y, role, 0x2026);
    else if (end - x >= 3)
        for (int i = 1; i <= 2; i++)
            canvas_put(c, end - i, y, role, '.');
}

int canvas_text(struct canvas *c, int x, int y, int w, enum role role, const char *utf8)
{
    int end = w < 0 || x + w > c->w ? c->w : x + w;
    int at = x;
    for (const char *p = utf8; *p;) {
        unsigned code;
        p += str_utf8_next(p, &code);
        int used = put_code(c, at, y, end, role, code);
        if (used < 0) {
            while (at < end)
                canvas_put(c, at++, y, role, ' ');
            put_cut_mark(c, x, y, end, role);
            break;
        }
        at += used;
    }
    return at > x ? at - x : 0;
}

int canvas_textf(struct canvas *c, int x, int y, int w, enum role role, const char *fmt, ...)
{
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    int used = canvas_text(c, x, y, w, role, str_text(&s));
    str_free(&s);
    return used;
}

/* The bytes of `p` that fit into `w` columns, cut at a blank where one is near, up to a newline. */
static size_t wrap_take(const struct canvas *c, const char *p, int w)
{
    size_t len = 0, last_blank = 0;
    int cols = 0;
    while (p[len] && p[len] != '\n') {
        unsigned code;
        size_t step = (size_t)str_utf8_next(p + len, &code);
        cols += code_width(c, code);
        if (cols > w) {
            if (code == ' ')
                return len;
            return last_blank ? last_blank : len ? len : step;
        }
        if (code == ' ')
            last_blank = len;
        len += step;
    }
    return len;
}

/* Past the line of `len` bytes and the blanks or the line end that follow it. */
static const char *wrap_next(const char *p, size_t len)
{
    p += len;
    return *p == '\n' ? p + 1 : p + strspn(p, " ");
}

static int wrap_lines(const struct canvas *c, const char *p, int w)
{
    int n = 0;
    for (; *p && w > 0; n++)
        p = wrap_next(p, wrap_take(c, p, w));
    return n;
}

/* At most r.h lines; returns what is left of the text. */
static const char *wrap_draw(struct canvas *c, struct rect r, enum role role, const char *p)
{
    for (int line = 0; line < r.h && *p && r.w > 0; line++) {
        size_t len = wrap_take(c, p, r.w);
        char *part = xstrndup(p, len);
        canvas_text(c, r.x, r.y + line, r.w, role, part);
        free(part);
        p = wrap_next(p, len);
    }
    return p;
}

int canvas_wrap(struct canvas *c, struct rect r, enum role role, const char *utf8)
{
    wrap_draw(c, r, role, utf8);
    return wrap_lines(c, utf8, r.w);
}

int canvas_wrap_more(struct canvas *c, struct rect r, enum role role, const char *utf8, int reserve)
{
    int n = wrap_lines(c, utf8, r.w);
    if (n <= r.h || r.h < 1)
        return canvas_wrap(c, r, role, utf8);
    const char *rest = wrap_draw(c, (struct rect){r.x, r.y, r.w, r.h - 1}, role, utf8);
    char *line = xstrdup(rest); /* one line now: canvas_text() cuts it and marks the cut */
    for (char *p = line; *p; p++)
        if (*p == '\n')
            *p = ' ';
    canvas_text(c, r.x, r.y + r.h - 1, r.w - reserve, role, line);
    free(line);
    return n;
}

static void add_line(struct canvas *c, int x, int y, int bits)
{
    struct cell *cell = cell_at(c, x, y);
    if (!cell)
        return;
    cell->ch = 0;
    cell->role = ROLE_FRAME;
    cell->lines |= (uint8_t)bits;
}

void canvas_hline(struct canvas *c, int x, int y, int w)
{
    for (int i = 0; i < w; i++)
        add_line(c, x + i, y, (i > 0 ? LINE_LEFT : 0) | (i < w - 1 ? LINE_RIGHT : 0));
}

void canvas_vline(struct canvas *c, int x, int y, int h)
{
    for (int i = 0; i < h; i++)
        add_line(c, x, y + i, (i > 0 ? LINE_UP : 0) | (i < h - 1 ? LINE_DOWN : 0));
}

void canvas_box(struct canvas *c, struct rect r, const char *title)
{
    if (r.w < 2 || r.h < 2)
        return;
    canvas_hline(c, r.x, r.y, r.w);
    canvas_hline(c, r.x, r.y + r.h - 1, r.w);
    canvas_vline(c, r.x, r.y, r.h);
    canvas_vline(c, r.x + r.w - 1, r.y, r.h);
    if (!title || !*title || r.w < 6)
        return;
    canvas_put(c, r.x + 2, r.y, ROLE_TITLE, ' ');
    int used = canvas_text(c, r.x + 3, r.y, r.w - 5, ROLE_TITLE, title);
    canvas_put(c, r.x + 3 + used, r.y, ROLE_TITLE, ' ');
}

void canvas_fill(struct canvas *c, struct rect r, enum role role)
{
    for (int y = r.y; y < r.y + r.h; y++) {
        for (int x = r.x; x < r.x + r.w; x++) {
            struct cell *cell = cell_at(c, x, y);
            if (cell)
                cell->role = (uint8_t)role;
        }
    }
}

void canvas_blank(struct canvas *c, struct rect r)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            canvas_put(c, x, y, ROLE_NORMAL, ' ');
}

/* Frame glyphs by direction bits: up 1, right 2, down 4, left 8. */
static uint32_t line_glyph(const struct canvas *c, unsigned bits)
{
    static const uint16_t box[16] = {' ',    0x2502, 0x2500, 0x2514, 0x2502, 0x2502,
                                     0x250c, 0x251c, 0x2500, 0x2518, 0x2500, 0x2534,
                                     0x2510, 0x2524, 0x252c, 0x253c};
    static const char ascii[] = " |-+||++-+-+++++";
    return c->glyphs == GLYPHS_ASCII ? (uint32_t)ascii[bits & 15] : box[bits & 15];
}

uint32_t canvas_glyph(const struct canvas *c, int x, int y)
{
    const struct cell *cell = cell_at(c, x, y);
    if (!cell)
        return ' ';
    if (cell->lines)
        return line_glyph(c, cell->lines);
    return cell->ch ? cell->ch : ' ';
}

void canvas_to_text(const struct canvas *c, struct str *out)
{
    for (int y = 0; y < c->h; y++) {
        size_t end = out->len; /* after the last glyph that is no blank */
        for (int x = 0; x < c->w; x++) {
            uint32_t ch = canvas_glyph(c, x, y);
            if (ch == CELL_TAIL)
                continue;
            char utf8[4];
            str_addn(out, utf8, (size_t)str_utf8_put(utf8, ch));
            if (ch != ' ')
                end = out->len;
        }
        out->len = end;
        str_addc(out, '\n');
    }
}
