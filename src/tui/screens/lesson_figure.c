/* lesson_figure.c - figures of a step: at the right where there is room, else in the text; v shows
 * them as large as the screen.
 *
 * They are drawn by commands of the planner, in milliseconds, when the step gets there or the width
 * changes; never while another command of the lesson runs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/screens/lesson_state.h"

bool lesson_has_panel(const struct lessons *l)
{
    return l->nfigures > 0 && l->app->canvas->w >= WIDE_W && l->app->canvas->h >= FULL_H;
}

int lesson_panel_width(const struct lessons *l)
{
    const int most = l->app->canvas->w - lesson_steps_width(l) - 60;
    return !lesson_has_panel(l) ? 0 : most < FIGURE_W ? most : FIGURE_W;
}

/* Appends its lines, or why there are none; the role they have. */
static enum role draw_figure(const struct lessons *l, int i, int width, struct str *out)
{
    struct err err = ERR_INIT;
    if (lesson_figure(l->run, i, width, out, &err) == ST_OK)
        return ROLE_ACCENT;
    str_addf(out, "%s\n", err.text);
    return ROLE_WARN;
}

static void add_to_panel(struct lessons *l, int i, int width)
{
    struct str out = {0};
    if (l->panel.nlines > 0)
        textview_add(&l->panel, ROLE_NORMAL, "\n");
    const enum role role = draw_figure(l, i, width, &out);
    textview_add(&l->panel, role, str_text(&out));
    str_free(&out);
}

/* Draws figure i where it stands in the text; with `width` 0 it leaves there. What follows moves. */
static void fit_figure(struct lessons *l, int i, int width)
{
    struct figure_at *at = &l->placed[i];
    struct str out = {0};
    enum role role = ROLE_ACCENT;
    if (width > 0) {
        str_add(&out, at->line > 0 ? "\n" : "");
        role = draw_figure(l, i, width, &out);
    }
    const int lines = textview_replace(&l->text, at->line, at->lines, role, str_text(&out));
    for (int k = i + 1; k < l->nfigures; k++)
        l->placed[k].line += lines - at->lines;
    at->lines = lines;
    str_free(&out);
}

void lesson_fit_figures(struct lessons *l)
{
    const int width = lesson_has_panel(l) || !l->nfigures ? 0 : lesson_text_width(l);
    if (l->busy || width == l->figure_w)
        return;
    lesson_take_question_out(l); /* it is the end of the text */
    for (int i = 0; i < l->nfigures; i++)
        fit_figure(l, i, width);
    l->figure_w = width;
}

/* Text up to a figure, or to the end. */
static void add_piece(struct lessons *l, const char *text, size_t len)
{
    char *piece = xstrndup(text, len);
    if (len)
        textview_add(&l->text, ROLE_NORMAL, piece);
    free(piece);
}

void lesson_add_text(struct lessons *l, const char *text, bool new_step)
{
    int at = new_step ? 0 : l->nfigures, n = 0;
    while (lesson_figure_name(l->run, n))
        n++;
    l->nfigures = n;
    if (n > at) {
        xgrow((void **)&l->placed, &l->placed_cap, (size_t)n, sizeof *l->placed);
        l->panel_w = 0;   /* draw anew */
        l->figure_w = -1; /* here, too */
    }
    if (*text && *text != LESSON_FIGURE && l->text.nlines > 0)
        textview_add(&l->text, ROLE_NORMAL, "\n");
    for (const char *p = text; *p;) {
        const size_t len = strcspn(p, (const char[]){LESSON_FIGURE, 0});
        add_piece(l, p, len);
        p += len;
        if (*p && at < n)
            l->placed[at++] = (struct figure_at){.line = l->text.nlines};
        p += *p != 0;
    }
    for (; at < n; at++)
        l->placed[at] = (struct figure_at){.line = l->text.nlines};
    lesson_fit_figures(l);
}

void lesson_panel_draw(struct lessons *l, struct canvas *c, struct rect r)
{
    const int width = r.w - 4;
    if (l->panel_w != width && !l->busy) {
        textview_clear(&l->panel);
        for (int i = 0; i < l->nfigures; i++)
            add_to_panel(l, i, width);
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
