/* lesson_list.c - the list of lessons, and the verb that opens one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lesson/take/progress.h"
#include "tui/screens/lesson_state.h"

struct sqlite3 *lesson_progress(struct lessons *l)
{
    struct store *store = session_store(l->app->session);
    struct sqlite3 *db = store ? store_handle(store) : NULL;
    if (db != l->opened)
        l->opened = progress_open(db, NULL) == ST_OK ? db : NULL;
    return l->opened;
}

bool lesson_list_act(struct lessons *l, enum action action)
{
    l->list.n = lesson_count();
    switch (action) {
    case ACT_NEXT:
    case ACT_RIGHT:
        if (lesson_at(l->list.cur))
            lesson_open_run(l, lesson_at(l->list.cur), -1);
        return true;
    case ACT_BACK:
        app_show(l->app, "explore");
        return true;
    default:
        return list_act(&l->list, action);
    }
}

static bool title_has(const void *ctx, int i, const char *text)
{
    (void)ctx;
    return str_finds(lesson_title(lesson_at(i)), text) ||
           str_finds(lesson_name(lesson_at(i)), text);
}

bool lesson_list_find(struct lessons *l, const char *text, int dir)
{
    const int at = list_find(lesson_count(), l->list.cur, dir, title_has, NULL, text);
    l->list.cur = at < 0 ? l->list.cur : at;
    return at >= 0;
}

static void draw_row(struct canvas *c, struct rect r, struct sqlite3 *db, int i, bool cur)
{
    const struct lesson *lesson = lesson_at(i);
    const int done = progress_steps_done(db, lesson), steps = lesson_steps(lesson);
    int made = 0, right = 0;
    progress_score(db, lesson_name(lesson), &made, &right);
    canvas_text(c, r.x + 1, r.y, 1, ROLE_ACCENT, cur ? ">" : " ");
    canvas_textf(c, r.x + 3, r.y, r.w - 30, ROLE_NORMAL, "%2d  %s", i + 1, lesson_title(lesson));
    if (lesson_minutes(lesson))
        canvas_textf(c, r.x + r.w - 26, r.y, 7, ROLE_DIM, "%3d min", lesson_minutes(lesson));
    canvas_textf(c, r.x + r.w - 18, r.y, 8, done == steps ? ROLE_GOOD : ROLE_DIM, "%d of %d", done,
                 steps);
    if (made > 0)
        canvas_textf(c, r.x + r.w - 9, r.y, 9, ROLE_DIM, "%d/%d right", right, made);
    if (cur)
        canvas_fill(c, r, ROLE_SELECT);
}

static int problems(void)
{
    int n = 0;
    while (lesson_problem(n))
        n++;
    return n;
}

void lesson_list_draw(struct lessons *l, struct canvas *c, struct rect r)
{
    struct sqlite3 *db = lesson_progress(l);
    int bad = problems(), room = r.h - 2;
    if (bad > room / 2)
        bad = room / 2;
    canvas_box(c, r, "Lessons");
    const struct rect inside = {r.x + 1, r.y + 1, r.w - 2, room - bad};
    const int visible = list_place(&l->list, inside, lesson_count(), false);
    for (int i = 0; i < visible; i++)
        draw_row(c, list_row_at(&l->list, i), db, l->list.top + i, l->list.top + i == l->list.cur);
    list_draw_range(&l->list, c);
    for (int i = 0; i < bad; i++)
        canvas_text(c, r.x + 2, r.y + r.h - 2 - i, r.w - 4, ROLE_WARN, lesson_problem(i));
}

/* ---- lesson NAME ---- */

/* `step=N` and `--restart`, in any order; false: there is something else. */
static bool read_words(const char *text, int *step, bool *restart)
{
    char word[32];
    for (int used; sscanf(text, "%31s%n", word, &used) == 1; text += used) {
        int len = 0;
        if (strcmp(word, "--restart") == 0)
            *restart = true;
        else if (sscanf(word, "step=%d%n", step, &len) != 1 || word[len] || *step < 1)
            return false;
    }
    return true;
}

bool lesson_take_line(struct app *a, const char *line)
{
    char verb[16], name[64];
    int step = 0, used = 0;
    bool restart = false;
    struct err err = ERR_INIT;
    const struct cmd_entry *entry;
    const struct lesson *lesson;
    if (sscanf(line, "%15s %63s%n", verb, name, &used) != 2 ||
        command_find(verb, &entry, NULL) != ST_OK || strcmp(entry->name, "lesson") != 0 ||
        lesson_find(name, &lesson, NULL) != ST_OK)
        return false;
    if (!read_words(line + used, &step, &restart) || step > lesson_steps(lesson))
        return false; /* the command says what is wrong */
    struct lessons *l = app_show(a, "lessons");
    if (restart && progress_clear(lesson_progress(l), lesson_name(lesson), &err) != ST_OK)
        app_message(a, ROLE_BAD, "%s", err.text);
    lesson_open_run(l, lesson, step - 1);
    return true;
}
