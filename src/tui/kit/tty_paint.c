/* tty_paint.c - frames and their colours, given to curses. See tty.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/tty_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- colours ---- */

static void make_style(struct tty *t, int role)
{
    struct style s = t->theme->roles[role];
    attr_t a = 0;
    if (s.attrs & STYLE_BOLD)
        a |= A_BOLD;
    if (s.attrs & STYLE_DIM)
        a |= A_DIM;
    if (s.attrs & STYLE_REVERSE)
        a |= A_REVERSE;
    if (s.attrs & STYLE_UNDERLINE)
        a |= A_UNDERLINE;
    t->pairs[role] = 0;
    if (t->color && s.fg >= 0) {
        short fg = s.fg;
        if (fg >= COLORS) {
            fg &= 7;
            a |= A_BOLD;
        }
        t->pairs[role] = (short)(role + 1);
        init_pair(t->pairs[role], fg, -1);
    }
    t->attrs[role] = a;
    setcchar(&t->blank[role], L" ", a, t->pairs[role], NULL);
}

void tty_set_theme(struct tty *t, const struct theme *theme)
{
    t->theme = theme;
    for (int r = 0; r < ROLE_COUNT; r++)
        make_style(t, r);
    tty_redraw(t);
}

const struct theme *tty_theme(const struct tty *t)
{
    return t->theme;
}

/* ---- painting ---- */

static cchar_t make_cell(const struct tty *t, const struct canvas *c, int x, int y, int role)
{
    wchar_t text[2] = {(wchar_t)canvas_glyph(c, x, y), 0};
    cchar_t cc;
    if (text[0] < L' ' || (text[0] >= 127 && text[0] < 160))
        text[0] = text[0] == 0 ? L' ' : L'?'; /* never a control byte, whoever forgot to clean it */
    if (text[0] == L' ' || setcchar(&cc, text, t->attrs[role], t->pairs[role], NULL) == ERR)
        return t->blank[role];
    return cc;
}

static void paint_row(struct tty *t, const struct canvas *c, int y)
{
    int n = 0;
    for (int x = 0; x < c->w; x++) {
        const struct cell *cell = &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
        if (cell->ch != CELL_TAIL) /* curses puts the second half itself */
            t->line[n++] = make_cell(t, c, x, y, cell->role);
    }
    mvadd_wchnstr(y, 0, t->line, n);
}

static void fit_shown(struct tty *t, const struct canvas *c)
{
    if (t->shown && t->shown->w == c->w && t->shown->h == c->h)
        return;
    canvas_free(t->shown);
    t->shown = canvas_new(c->w, c->h, c->glyphs);
    memset(t->shown->cells, 0xff, (size_t)c->w * (size_t)c->h * sizeof *c->cells);
    t->line = xrealloc(t->line, ((size_t)c->w + 1) * sizeof *t->line);
}

void tty_paint(struct tty *t, const struct canvas *c, int x, int y)
{
    fit_shown(t, c);
    size_t row = (size_t)c->w * sizeof *c->cells;
    for (int i = 0; i < c->h && i < t->h; i++) {
        size_t at = (size_t)i * (size_t)c->w;
        if (memcmp(c->cells + at, t->shown->cells + at, row) == 0)
            continue;
        paint_row(t, c, i);
        memcpy(t->shown->cells + at, c->cells + at, row);
    }
    tty_begin_capture(t);
    curs_set(x >= 0 ? 1 : 0);
    if (x >= 0)
        move(y, x);
    wnoutrefresh(stdscr);
    doupdate();
    tty_end_capture(t);
    outlet_end_frame(&t->out, tty_now_ms());
}

void tty_redraw(struct tty *t)
{
    canvas_free(t->shown);
    t->shown = NULL;
    clearok(curscr, TRUE);
}
