/* strip.c - see strip.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/strip.h"

#include <stdio.h>

static int item_text(const struct knob *k, char buf[80])
{
    return snprintf(buf, 80, "%.20s %.40s", k->name, k->text);
}

/* The first item from which on `cur` fits into w columns. */
static int first_item(const struct knobs *k, int cur, int w)
{
    char text[80];
    int used = 0;
    for (int i = cur; i >= 0; i--) {
        used += item_text(&k->v[i], text) + 2;
        if (used > w - 4)
            return i < cur ? i + 1 : cur;
    }
    return 0;
}

int strip_draw(struct canvas *c, struct rect r, const struct knobs *k, int cur, bool focus)
{
    char text[80];
    int x = r.x, end = r.x + r.w, from = first_item(k, cur, r.w);
    if (from > 0)
        x += canvas_text(c, x, r.y, 2, ROLE_DIM, "<");
    for (int i = from; i < k->n; i++) {
        int w = item_text(&k->v[i], text);
        bool here = i == cur;
        if (x + w + 3 > end) {
            canvas_text(c, end - 1, r.y, 1, ROLE_DIM, ">");
            break;
        }
        enum role role = k->v[i].dim ? ROLE_DIM : k->v[i].changed ? ROLE_ACCENT : ROLE_NORMAL;
        canvas_put(c, x, r.y, here ? ROLE_ACCENT : ROLE_NORMAL, here ? '[' : ' ');
        canvas_text(c, x + 1, r.y, w, here && focus ? ROLE_SELECT : role, text);
        if (here)
            canvas_put(c, x + 1 + w, r.y, ROLE_ACCENT, ']');
        x += w + 2;
    }
    return x - r.x;
}
