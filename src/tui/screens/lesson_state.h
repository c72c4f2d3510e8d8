/* lesson_state.h - the Lessons screen's state, shared by its files: lesson.c (a lesson at work),
 * lesson_list.c (the list of lessons), lesson_figure.c (pictures), lesson_draw.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_LESSON_STATE_H
#define ATTNSCOPE_TUI_LESSON_STATE_H

#include "lesson/lesson.h"
#include "tui/screens/lesson.h"
#include "tui/kit/pane.h"
#include "tui/kit/textview.h"

enum { OPTIONS_MAX = 8, MEASURE = 80, WIDE_W = 136, FIGURE_W = 82 };
/* The list of steps: from which width of the screen, its least width, and how much it may grow. */
enum { STEPS_FROM = 100, STEPS_W = 22, STEPS_MORE = 18 };

/* Where a figure of the step stands in the text; no lines while it has a panel. */
struct figure_at {
    int line, lines;
};

struct lessons {
    struct app *app;
    struct list list;       /* of the lessons */
    struct sqlite3 *opened; /* where progress_open() has been: not again in each frame */
    const struct lesson *lesson;
    struct lesson_run *run; /* NULL: the list is shown */
    bool busy;              /* inside lesson_answer() */
    struct textview text;   /* what was said and printed; wrapped when drawn */
    struct textview ask;    /* the question and its answers, while they wait */
    int asked_at;           /* line of `text` where a copy of `ask` begins, -1: there is none */
    /* a copy of lesson_step() */
    int step, steps, noptions, hints_left;
    bool has_words; /* of the glossary, in this step */
    unsigned serial;
    enum lesson_want want;
    char *heading, *prompt, *question, *command, *try_out, *keys[OPTIONS_MAX],
        *options[OPTIONS_MAX];
    char **lines; /* of a source, one of which is asked for */
    int nlines, first_line;
    bool picking;             /* the lines are shown in the text's place */
    struct list pick;         /* cursor among them */
    size_t first_row;         /* of session->results that belongs to this step */
    int nfigures;             /* of this step so far */
    struct figure_at *placed; /* each of them */
    size_t placed_cap;
    int figure_w;          /* columns that those in the text were drawn for, 0: none is there */
    struct textview panel; /* its figures, where there is room for a panel */
    int panel_w;           /* columns that they were drawn for, 0: not yet */
};

/* ---- lesson.c ---- */

void lesson_open_run(struct lessons *l, const struct lesson *lesson, int step);
/* The question moves out of the text again, if it had to stand there. */
void lesson_take_question_out(struct lessons *l);
/* Columns of the list of steps with its frame; 0: the text needs them. Tables are made for 76. */
int lesson_steps_width(const struct lessons *l);
/* Columns of the text. */
int lesson_text_width(const struct lessons *l);

/* ---- lesson_list.c ---- */

bool lesson_list_act(struct lessons *l, enum action action);
bool lesson_list_find(struct lessons *l, const char *text, int dir);
void lesson_list_draw(struct lessons *l, struct canvas *c, struct rect r);
/* The tables of progress.h; NULL when there are none. */
struct sqlite3 *lesson_progress(struct lessons *l);

/* ---- lesson_figure.c ---- */

/* Is there a panel for figures at the right? */
bool lesson_has_panel(const struct lessons *l);
/* Columns of the panel with its frame, 0: there is none. */
int lesson_panel_width(const struct lessons *l);
/* Adds what the step says now, with its figures where they stand. */
void lesson_add_text(struct lessons *l, const char *text, bool new_step);
/* Draws those in the text for the width there is now. */
void lesson_fit_figures(struct lessons *l);
void lesson_panel_draw(struct lessons *l, struct canvas *c, struct rect r);
/* All figures of the step, as large as the screen. */
void lesson_show_figures(struct lessons *l);

/* ---- lesson_keys.c ---- */

/* Does this key do anything now? screen_ops.offers; `ctx` is a struct lessons. */
bool lesson_offers(const void *ctx, enum action action);

/* ---- lesson_draw.c ---- */

void lesson_draw(void *ctx, struct canvas *c); /* struct lessons */

#endif
