/* lesson_page.h - the page of a lesson's step: what was said and printed, with the step's figures where
 * they stand in it, or in a panel beside it where there is room.
 *
 * Figures are drawn for a width, and anew when that changes; the lesson's run draws them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_LESSON_PAGE_H
#define ATTNSCOPE_TUI_LESSON_PAGE_H

#include "lesson/lesson.h"
#include "tui/kit/textview.h"

/* Where a figure of the step stands in the text; no lines while it has a panel. */
struct figure_at {
    int line, lines;
};

/* Start with {0}; text.measure is the user's. */
struct lesson_page {
    struct textview text;
    struct textview panel;    /* the figures, where there is room for a panel */
    int nfigures;             /* of this step so far */
    struct figure_at *placed; /* each of them */
    size_t placed_cap;
    int figure_w; /* columns that those in the text were drawn for, 0: none is there, -1: not yet */
    int panel_w;  /* columns that the panel's were drawn for, 0: not yet */
};

/* Empty again. */
void lesson_page_clear(struct lesson_page *p);
void lesson_page_free(struct lesson_page *p);
/* Adds what the step says now, and marks where its figures stand. */
void lesson_page_add(struct lesson_page *p, struct lesson_run *run, const char *text,
                     bool new_step);
/* Draws those in the text for this width; 0: they leave it. */
void lesson_page_fit(struct lesson_page *p, struct lesson_run *run, int width);
/* `run` NULL: what was drawn before, as it is. */
void lesson_page_draw_panel(struct lesson_page *p, struct lesson_run *run, struct canvas *c,
                            struct rect r);
/* All figures for a width, or why there are none. */
void lesson_page_figures(const struct lesson_page *p, struct lesson_run *run, int width,
                         struct str *out);

/* The newest n rows of a step, the newest first, as export draws them, the oldest first; how much their
 * samples vary and whether the output was right stands beside. */
void lesson_draw_live(struct canvas *c, struct rect r, const struct row *const *rows, int n);
/* In their place while values are hidden: how long bars are would tell them. */
void lesson_draw_veil(struct canvas *c, struct rect r);

#endif
