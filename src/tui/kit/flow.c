/* flow.c - see flow.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/flow.h"

void flow_line(struct flow *f)
{
    if (f->x == 0)
        return;
    f->x = 0;
    f->y += f->roomy ? 2 : 1;
}

void flow_item(struct flow *f, const char *label, enum role role, const char *fmt, ...)
{
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    int lw = label ? str_width(label) + 1 : 0;
    int w = lw + str_width(str_text(&s));
    int gap = f->x == 0 ? 0 : f->gap > 0 ? f->gap : 2;
    if (f->x > 0 && f->x + gap + w > f->r.w) {
        flow_line(f);
        gap = 0;
    }
    if (f->y < f->r.h) {
        int x = f->r.x + f->x + gap, y = f->r.y + f->y, room = f->r.w - f->x - gap;
        if (label)
            canvas_text(f->c, x, y, room, ROLE_DIM, label);
        if (room > lw)
            canvas_text(f->c, x + lw, y, room - lw, role, str_text(&s));
    }
    f->x += gap + w;
    str_free(&s);
}
