/* lesson_lines.c - see lesson_lines.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/lesson_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Cursor, number, two blanks; rows below the list for a long line. */
enum { LINE_LEAD = 7, LINE_WHOLE_ROWS = 2 };

void lesson_lines_clear(struct lesson_lines *v)
{
    for (int i = 0; i < v->n; i++)
        free(v->text[i]);
    free(v->text);
    v->text = NULL;
    v->n = 0;
    v->picking = false;
}

void lesson_lines_set(struct lesson_lines *v, const char *const *text, int n, int first)
{
    lesson_lines_clear(v);
    v->text = xcalloc((size_t)n + 1, sizeof *v->text);
    v->n = n;
    v->first = first;
    v->pick = (struct list){.n = n};
    for (int i = 0; i < n; i++)
        v->text[i] = xstrdup(text[i]);
}

static bool is_cut(const struct lesson_lines *v, int line, int width)
{
    return str_width(v->text[line]) > width - LINE_LEAD;
}

/* Where lines are cut: room for the whole of the one at the cursor, always, so that the list stays where it is. */
static int rows_for_whole(const struct lesson_lines *v, struct rect r)
{
    for (int i = 0; i < v->n; i++)
        if (is_cut(v, i, r.w))
            return r.h > 2 * LINE_WHOLE_ROWS ? LINE_WHOLE_ROWS : 0;
    return 0;
}

void lesson_lines_draw(struct lesson_lines *v, struct canvas *c, struct rect r)
{
    const int whole = rows_for_whole(v, r), cur = v->pick.cur;
    r.h -= whole;
    if (whole && cur < v->n && is_cut(v, cur, r.w)) {
        const char *text = v->text[cur];
        canvas_wrap(c, (struct rect){r.x + LINE_LEAD, r.y + r.h, r.w - LINE_LEAD, whole},
                    ROLE_ACCENT, text + strspn(text, " "));
    }
    const int visible = list_place(&v->pick, r, v->n, false);
    for (int i = 0; i < visible; i++) {
        const int line = v->pick.top + i;
        const struct rect row = list_row_at(&v->pick, i);
        canvas_textf(c, row.x, row.y, row.w, ROLE_NORMAL, "%c%4d  %s",
                     line == v->pick.cur ? '>' : ' ', v->first + line, v->text[line]);
        if (line == v->pick.cur)
            canvas_fill(c, row, ROLE_SELECT);
    }
}
