/* pane.c - see pane.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/pane.h"

#include <stdio.h>
#include <string.h>

struct rect pane_frame(struct canvas *c, struct rect r, const char *title, bool focus, bool bare)
{
    if (bare)
        canvas_hline(c, r.x, r.y, r.w);
    else
        canvas_box(c, r, NULL);
    if (title && r.w > 6) {
        canvas_put(c, r.x + 2, r.y, ROLE_FRAME, ' ');
        int used = canvas_text(c, r.x + 3, r.y, r.w - 5, focus ? ROLE_ACCENT : ROLE_TITLE, title);
        canvas_put(c, r.x + 3 + used, r.y, ROLE_FRAME, ' ');
    }
    if (focus)
        canvas_put(c, r.x + 1, r.y, ROLE_ACCENT, c->glyphs == GLYPHS_ASCII ? '>' : 0x25b8);
    return (struct rect){r.x + 1, r.y + 1, r.w - 2, r.h - (bare ? 1 : 2)};
}

static int clamp(int v, int lo, int hi)
{
    return v < lo || hi < lo ? lo : v > hi ? hi : v;
}

int list_place(struct list *l, struct rect r, int n, bool roomy)
{
    l->r = r;
    l->n = n;
    l->cur = clamp(l->cur, 0, n - 1);
    l->pitch = roomy && 2 * n - 1 <= r.h ? 2 : 1;
    int visible = l->pitch == 2 ? n : clamp(r.h, 0, n);
    if (l->cur < l->top)
        l->top = l->cur;
    if (l->cur >= l->top + visible)
        l->top = l->cur - visible + 1;
    l->top = clamp(l->top, 0, n - visible);
    return visible;
}

struct rect list_row_at(const struct list *l, int i)
{
    return (struct rect){l->r.x, l->r.y + i * l->pitch, l->r.w, 1};
}

bool move_row(enum move m, int n, int page, int *at)
{
    const int by = page > 1 ? page - 1 : 1;
    switch (m) {
    case MOVE_UP:
        *at -= 1;
        return true;
    case MOVE_DOWN:
        *at += 1;
        return true;
    case MOVE_PAGE_UP:
        *at -= by;
        return true;
    case MOVE_PAGE_DOWN:
        *at += by;
        return true;
    case MOVE_FIRST:
        *at = 0;
        return true;
    case MOVE_LAST:
        *at = n - 1;
        return true;
    default:
        return false;
    }
}

bool list_move(struct list *l, enum move m)
{
    int to = l->cur;
    if (!move_row(m, l->n, l->r.h, &to))
        return false;
    l->cur = clamp(to, 0, l->n - 1);
    return true;
}

int list_at(const struct list *l, int x, int y)
{
    if (l->pitch <= 0 || x < l->r.x || x >= l->r.x + l->r.w || y < l->r.y || y >= l->r.y + l->r.h)
        return -1;
    int i = l->top + (y - l->r.y) / l->pitch;
    return i < l->n ? i : -1;
}

void list_draw_range(const struct list *l, struct canvas *c)
{
    char text[48];
    int shown = l->pitch == 2 ? l->n : l->r.h;
    if (l->n <= shown || l->r.y <= 0)
        return;
    int w = snprintf(text, sizeof text, " %d-%d/%d ", l->top + 1, l->top + shown, l->n);
    canvas_text(c, l->r.x + l->r.w - 1 - w, l->r.y - 1, w, ROLE_DIM, text);
}

int list_find(int n, int cur, int dir, bool (*has)(const void *ctx, int i, const char *text),
              const void *ctx, const char *text)
{
    int step = dir < 0 ? -1 : 1;
    for (int k = dir == 0 ? 0 : 1; k <= n && n > 0; k++) {
        int i = ((cur + k * step) % n + n) % n;
        if (has(ctx, i, text))
            return i;
    }
    return -1;
}

bool str_finds(const char *text, const char *word)
{
    return text && word && strcasestr(text, word) != NULL;
}
