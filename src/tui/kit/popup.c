/* popup.c - see popup.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/popup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"

enum { DOC_ROWS = 2, MENU_W = 64 };

void popup_close(struct popup *p)
{
    textview_clear(&p->text);
    free(p->title);
    *p = (struct popup){.text = p->text};
}

bool popup_is_open(const struct popup *p)
{
    return p->title != NULL;
}

bool popup_is_menu(const struct popup *p)
{
    return p->menu != NULL;
}

void popup_add(struct popup *p, enum role role, const char *text)
{
    textview_add(&p->text, role, text);
}

void popup_open(struct popup *p, const char *title, const char *text)
{
    popup_close(p);
    p->title = sanitize_line(title);
    textview_add(&p->text, ROLE_NORMAL, text);
    for (int i = 0; i < p->text.nlines; i++) {
        const char *line = p->text.lines[i].text;
        size_t len = strlen(line);
        if (len && line[0] != ' ' && line[len - 1] == ':')
            p->text.lines[i].role = ROLE_TITLE;
    }
}

void popup_open_menu(struct popup *p, const char *title, const struct menu_ops *menu, void *ctx)
{
    popup_close(p);
    p->title = xstrdup(title);
    p->menu = menu;
    p->ctx = ctx;
}

/* ---- drawing ---- */

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static struct rect middle(const struct canvas *c, int w, int h)
{
    w = smaller(w, c->w);
    h = smaller(h, c->h - 2);
    return (struct rect){(c->w - w) / 2, (c->h - 1 - h) / 2, w, h};
}

/* Of so many columns; all, where a side would show but pieces of the frames below. */
static int text_width(const struct canvas *c, int w)
{
    enum { SIDES = 4 };
    return c->w - w < SIDES ? c->w : w;
}

static void draw_text(struct popup *p, struct canvas *c)
{
    int widest = textview_widest(&p->text), title = str_width(p->title) + 4;
    int w = text_width(c, (widest > title ? widest : title) + 4);
    int rows = textview_rows(&p->text, w - 4);
    struct rect r = p->frame = middle(c, w, rows + 2);
    canvas_blank(c, r);
    canvas_box(c, r, p->title);
    textview_draw(&p->text, c, (struct rect){r.x + 2, r.y + 1, w - 4, r.h - 2});
    if (rows > r.h - 2)
        canvas_textf(c, r.x + w - 18, r.y + r.h - 1, 16, ROLE_DIM, " %d-%d/%d ", p->text.top + 1,
                     p->text.top + r.h - 2, rows);
}

static void draw_menu_row(struct canvas *c, struct rect r, const struct menu_row *row, bool cur)
{
    int value = str_width(row->value);
    canvas_text(c, r.x + 1, r.y, 1, ROLE_ACCENT, cur ? ">" : " ");
    canvas_text(c, r.x + 3, r.y, r.w - value - 5, ROLE_NORMAL, row->name);
    canvas_text(c, r.x + r.w - 1 - value, r.y, value, row->changed ? ROLE_ACCENT : ROLE_NORMAL,
                row->value);
    if (cur)
        canvas_fill(c, r, ROLE_SELECT);
}

static void draw_menu(struct popup *p, struct canvas *c)
{
    int n = p->menu->count(p->ctx);
    struct rect r = p->frame = middle(c, MENU_W, n + DOC_ROWS + 3);
    canvas_blank(c, r);
    canvas_box(c, r, p->title);
    int shown = list_place(&p->list, (struct rect){r.x + 1, r.y + 1, r.w - 2, r.h - DOC_ROWS - 3},
                           n, false);
    for (int i = 0; i < shown; i++) {
        struct menu_row row = {0};
        bool cur = p->list.top + i == p->list.cur;
        p->menu->row(p->ctx, p->list.top + i, &row);
        draw_menu_row(c, list_row_at(&p->list, i), &row, cur);
        if (cur && row.doc)
            canvas_wrap(c, (struct rect){r.x + 2, r.y + r.h - DOC_ROWS - 1, r.w - 4, DOC_ROWS},
                        ROLE_DIM, row.doc);
    }
    canvas_hline(c, r.x, r.y + r.h - DOC_ROWS - 2, r.w);
    list_draw_range(&p->list, c);
}

void popup_draw(struct popup *p, struct canvas *c)
{
    p->menu ? draw_menu(p, c) : draw_text(p, c);
}

/* ---- keys and mouse ---- */

void popup_open_row(struct popup *p)
{
    if (p->menu && p->list.n > 0)
        p->menu->open(p->ctx, p->list.cur);
}

/* Rows without values open. */
static void change_row(struct popup *p, int by)
{
    if (p->menu->change)
        p->menu->change(p->ctx, p->list.cur, by);
    else if (by > 0)
        p->menu->open(p->ctx, p->list.cur);
}

void popup_move(struct popup *p, enum move m)
{
    if (!p->menu)
        textview_move(&p->text, m);
    else if (!list_move(&p->list, m) && p->list.n > 0)
        change_row(p, m == MOVE_LEFT ? -1 : 1);
}

static bool line_has(const void *ctx, int i, const char *text)
{
    const struct popup *p = ctx;
    struct menu_row row = {0};
    p->menu->row(p->ctx, i, &row);
    return str_finds(row.name, text) || str_finds(row.value, text);
}

bool popup_find(struct popup *p, const char *text, int dir)
{
    if (!p->menu)
        return textview_find(&p->text, text, dir);
    int at = list_find(p->list.n, p->list.cur, dir, line_has, p, text);
    p->list.cur = at >= 0 ? at : p->list.cur;
    return at >= 0;
}

void popup_click(struct popup *p, int x, int y)
{
    const struct rect *r = &p->frame;
    if (x < r->x || x >= r->x + r->w || y < r->y || y >= r->y + r->h) {
        popup_close(p);
        return;
    }
    int at = p->menu ? list_at(&p->list, x, y) : -1;
    if (at >= 0 && at == p->list.cur)
        change_row(p, 1);
    else if (at >= 0)
        p->list.cur = at;
}
