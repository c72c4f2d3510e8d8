/* lesson_list.c - see lesson_list.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/lesson_list.h"

#include "lesson/lesson.h"
#include "lesson/take/progress.h"

static bool title_has(const void *ctx, int i, const char *text)
{
    (void)ctx;
    return str_finds(lesson_title(lesson_at(i)), text) ||
           str_finds(lesson_name(lesson_at(i)), text);
}

bool lesson_list_find(struct list *l, const char *text, int dir)
{
    const int at = list_find(lesson_count(), l->cur, dir, title_has, NULL, text);
    l->cur = at < 0 ? l->cur : at;
    return at >= 0;
}

static void draw_row(struct canvas *c, struct rect r, struct sqlite3 *db, int i, bool cur)
{
    const struct lesson *lesson = lesson_at(i);
    const int done = progress_steps_done(db, lesson), steps = lesson_steps(lesson);
    int made = 0, right = 0;
    progress_score(db, lesson_name(lesson), &made, &right);
    canvas_text(c, r.x + 1, r.y, 1, ROLE_ACCENT, cur ? ">" : " ");
    canvas_textf(c, r.x + 3, r.y, r.w - (lesson_is_own(lesson) ? 43 : 32), ROLE_NORMAL, "%2d  %s",
                 i + 1, lesson_title(lesson));
    if (lesson_is_own(lesson))
        canvas_text(c, r.x + r.w - 38, r.y, 9, ROLE_ACCENT, whose_words[lesson_whose(lesson)->is]);
    if (lesson_minutes(lesson))
        canvas_textf(c, r.x + r.w - 28, r.y, 7, ROLE_DIM, "%3d min", lesson_minutes(lesson));
    canvas_textf(c, r.x + r.w - 20, r.y, 8, done == steps ? ROLE_GOOD : ROLE_DIM, "%d of %d", done,
                 steps);
    if (made > 0)
        canvas_textf(c, r.x + r.w - 11, r.y, 11, ROLE_DIM, "%d/%d right", right, made);
    if (cur)
        canvas_fill(c, r, ROLE_SELECT);
}

int lesson_list_mark(struct canvas *c, int x, int y, const struct lesson *l)
{
    const struct whose *w = lesson_whose(l);
    return !lesson_is_own(l)
               ? 0
               : canvas_textf(c, x, y, -1, ROLE_ACCENT, "%s %s ", whose_words[w->is], w->hash);
}

static int problems(void)
{
    int n = 0;
    while (lesson_problem(n))
        n++;
    return n;
}

void lesson_list_draw(struct list *l, struct sqlite3 *db, struct canvas *c, struct rect r)
{
    int bad = problems(), room = r.h - 2;
    if (bad > room / 2)
        bad = room / 2;
    canvas_box(c, r, "Lessons");
    const struct rect inside = {r.x + 1, r.y + 1, r.w - 2, room - bad};
    const int visible = list_place(l, inside, lesson_count(), false);
    for (int i = 0; i < visible; i++)
        draw_row(c, list_row_at(l, i), db, l->top + i, l->top + i == l->cur);
    list_draw_range(l, c);
    for (int i = 0; i < bad; i++)
        canvas_text(c, r.x + 2, r.y + r.h - 2 - i, r.w - 4, ROLE_WARN, lesson_problem(i));
}
