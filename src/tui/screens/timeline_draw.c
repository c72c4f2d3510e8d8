/* timeline_draw.c - what the Timeline screen looks like.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/timeline_state.h"

#include <math.h>
#include <string.h>

static double span_us(const struct timelines *t)
{
    double most = 0;
    for (int i = 0; i < PANELS; i++)
        most = fmax(most, t->shown[i].schedule.span_us);
    return most;
}

static struct timeline_view view_of(const struct timelines *t, const struct schedule *s, int lines)
{
    const double span = span_us(t), half = 0.5 / (1 << t->level);
    const int fit = timeline_fit(s, lines), per = fit >> t->level;
    return (struct timeline_view){
        .begin_us = span * (t->middle - half),
        .end_us = span * (t->middle + half),
        .row = t->row < s->rows ? t->row : 0,
        .per_line = per > 1 ? per : 1,
        .mark = t->mark == MARK_AUTO ? timeline_best_mark(s) : (enum timeline_mark)t->mark,
    };
}

static void draw_words(struct canvas *c, struct rect r, const struct timeline *tl,
                       enum timeline_mark mark)
{
    struct str s = {0};
    timeline_summary(&tl->schedule, &s);
    str_add(&s, ". ");
    timeline_legend(&tl->schedule, mark, &s);
    if (tl->note)
        str_addf(&s, ". %s", tl->note);
    canvas_wrap_more(c, r, ROLE_NORMAL, str_text(&s), 0);
    str_free(&s);
}

static void draw_inside(const struct timelines *t, struct canvas *c, struct rect r,
                        const struct timeline *tl)
{
    if (tl->reason) {
        canvas_wrap_more(c, r, ROLE_WARN, tl->reason, 0);
        return;
    }
    if (t->app->blank && t->live) {
        canvas_text(c, r.x, r.y, r.w, ROLE_WARN, "measured, and hidden: . shows it");
        return;
    }
    const int words = r.h >= 8 ? r.w >= 150 ? 1 : 2 : 1;
    const int lines = r.h - words - 1; /* with the line of filled slots; the axis below */
    const struct timeline_view v = view_of(t, &tl->schedule, lines - 1);
    const int used = fig_timeline(c, (struct rect){r.x, r.y, r.w, lines}, &tl->schedule, &v);
    fig_time_axis(c, (struct rect){r.x, r.y + used, r.w, 1}, v.begin_us, v.end_us);
    draw_words(c, (struct rect){r.x, r.y + lines + 1, r.w, words}, tl, v.mark);
}

static void draw_panel(struct timelines *t, struct canvas *c, struct rect r, int i, bool bare)
{
    struct str title = {0};
    timeline_heading(&t->shown[i], &title);
    const bool focus = t->names[1] && t->focus == i;
    struct rect in = pane_frame(c, r, str_text(&title), focus, bare);
    str_free(&title);
    t->panels[i] = r;
    draw_inside(t, c, in, &t->shown[i]);
}

static void draw_header(const struct timelines *t, struct canvas *c, struct rect r)
{
    char shape[SHAPE_TEXT];
    shape_format(&t->app->session->problem.shape, shape, sizeof shape);
    int x = r.x + 1 + canvas_text(c, r.x + 1, r.y, r.w - 1, ROLE_TITLE, shape) + 2;
    if (t->job)
        canvas_textf(c, x, r.y, r.x + r.w - x, ROLE_ACCENT, "taking stamps: %s ...",
                     job_phase(t->job));
    else if (!t->live)
        canvas_text(c, x, r.y, r.x + r.w - x, ROLE_DIM, "r takes real stamps");
}

void timeline_draw(void *ctx, struct canvas *c)
{
    struct timelines *t = ctx;
    struct rect r = app_frame(t->app, c);
    draw_header(t, c, (struct rect){r.x, r.y, r.w, 1});
    r.y++;
    r.h--;
    memset(t->panels, 0, sizeof t->panels);
    if (t->problem) {
        canvas_wrap(c, (struct rect){r.x + 1, r.y + 1, r.w - 2, r.h - 1}, ROLE_WARN, t->problem);
    } else if (app_one_pane(t->app, c) || !t->names[1]) {
        draw_panel(t, c, r, t->focus, r.w < FULL_W);
    } else {                            /* they share a border */
        const int half = (r.h + 1) / 2; /* alike, so that lines mean the same */
        draw_panel(t, c, (struct rect){r.x, r.y, r.w, half}, 0, false);
        draw_panel(t, c, (struct rect){r.x, r.y + half - 1, r.w, half}, 1, false);
    }
}
