/* lesson_figure.c - figures of a step: at the right where there is room, else in the text; v shows
 * them as large as the screen.
 *
 * They are drawn by commands of the planner, in milliseconds, when the step gets there or the width
 * changes; never while another command of the lesson runs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "tui/lesson_state.h"

bool lesson_has_panel(const struct lessons *l)
{
    return l->nfigures > 0 && l->app->canvas->w >= WIDE_W && l->app->canvas->h >= FULL_H;
}

int lesson_panel_width(const struct lessons *l)
{
    const int most = l->app->canvas->w - STEPS_W - 60;
    return !lesson_has_panel(l) ? 0 : most < FIGURE_W ? most : FIGURE_W;
}

static void add_figure(struct lessons *l, struct textview *v, int i, int width)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    if (v->nlines > 0)
        textview_add(v, ROLE_NORMAL, "\n");
    if (lesson_figure(l->run, i, width, &out, &err) == ST_OK)
        textview_add(v, ROLE_ACCENT, str_text(&out));
    else
        textview_add(v, ROLE_WARN, err.text);
    str_free(&out);
}

void lesson_look_at_figures(struct lessons *l, bool new_step)
{
    const int width = l->app->canvas->w >= FULL_W && l->app->canvas->h >= FULL_H
                          ? l->app->canvas->w - STEPS_W - 3
                          : l->app->canvas->w - 4;
    int i = new_step ? 0 : l->nfigures, n = 0;
    while (lesson_figure_name(l->run, n))
        n++;
    i = i < n ? i : n;
    l->nfigures = n;
    if (i < n)
        l->panel_w = 0; /* draw anew */
    for (; i < n && !lesson_has_panel(l); i++)
        add_figure(l, &l->text, i, width);
}

void lesson_panel_draw(struct lessons *l, struct canvas *c, struct rect r)
{
    const int width = r.w - 4;
    if (l->panel_w != width && !l->busy) {
        textview_clear(&l->panel);
        for (int i = 0; i < l->nfigures; i++)
            add_figure(l, &l->panel, i, width);
        l->panel_w = width;
        textview_show(&l->panel, 0);
    }
    canvas_box(c, r, "Figure");
    textview_draw(&l->panel, c, (struct rect){r.x + 2, r.y + 1, width, r.h - 2});
    if (textview_more(&l->panel))
        canvas_text(c, r.x + r.w - 12, r.y + r.h - 1, 10, ROLE_DIM, " v: whole ");
}

void lesson_show_figures(struct lessons *l)
{
    struct str all = {0};
    for (int i = 0; i < l->nfigures; i++) {
        struct err err = ERR_INIT;
        str_add(&all, i ? "\n" : "");
        if (lesson_figure(l->run, i, l->app->canvas->w - 6, &all, &err) != ST_OK)
            str_addf(&all, "%s\n", err.text);
    }
    if (all.len)
        app_popup(l->app, "Figures", str_text(&all));
    else
        app_message(l->app, ROLE_DIM, "this step has no figure yet");
    str_free(&all);
}
