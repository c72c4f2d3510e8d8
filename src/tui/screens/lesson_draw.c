/* lesson_draw.c - the Lessons screen: steps at the left, text at the right, figures beside it where
 * there is room, below what was measured.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "draw/figures.h"
#include "lesson/take/progress.h"
#include "tui/screens/lesson_state.h"

enum { LIVE_ROWS = 4, TEXT_ROWS_MIN = 4 };

static void draw_header(struct lessons *l, struct canvas *c, struct rect r)
{
    int made = 0, right = 0, x = 1;
    progress_score(lesson_progress(l), lesson_name(l->lesson), &made, &right);
    bool score = made > 0 && r.w >= FULL_W;
    x += canvas_text(c, x, r.y, r.w - (score ? 46 : 24), ROLE_TITLE, lesson_title(l->lesson)) + 2;
    x += canvas_textf(c, x, r.y, -1, ROLE_NORMAL, "step %d/%d ", l->step + 1, l->steps);
    canvas_put(c, x, r.y, ROLE_FRAME, '[');
    fig_bar(c, (struct rect){x + 1, r.y, 8, 1}, ROLE_ACCENT, l->step + 1, l->steps);
    canvas_put(c, x + 9, r.y, ROLE_FRAME, ']');
    if (score)
        canvas_textf(c, x + 12, r.y, -1, ROLE_NORMAL, "guesses %d/%d right", right, made);
}

static void draw_steps(struct lessons *l, struct canvas *c, struct rect r)
{
    struct sqlite3 *db = lesson_progress(l);
    canvas_box(c, r, "Steps");
    int top = l->step >= r.h - 2 ? l->step - r.h + 3 : 0;
    for (int i = 0; i < r.h - 2 && top + i < l->steps; i++) {
        const char *title = lesson_step_title(l->lesson, top + i);
        enum progress p = progress_get(db, lesson_name(l->lesson), title);
        bool here = top + i == l->step;
        canvas_textf(c, r.x + 2, r.y + 1 + i, r.w - 3,
                     here                 ? ROLE_TITLE
                     : p == PROGRESS_NONE ? ROLE_DIM
                                          : ROLE_NORMAL,
                     "%s %d %s",
                     here                    ? ">"
                     : p == PROGRESS_DONE    ? "x"
                     : p == PROGRESS_SKIPPED ? "-"
                                             : " ",
                     top + i + 1, title);
    }
}

static double real_of(const json_t *row, const char *field)
{
    const json_t *v = json_object_get(row, field);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static const char *text_of(const json_t *row, const char *field)
{
    const char *text = json_string_value(json_object_get(row, field));
    return text ? text : "";
}

static void draw_live_row(struct canvas *c, struct rect r, const json_t *row, double most)
{
    char b[2][NUMBER_BUF];
    double us = real_of(row, "median_us");
    bool fail = strcmp(text_of(row, "check"), "fail") == 0;
    canvas_text(c, r.x, r.y, 12, ROLE_NORMAL, text_of(row, "kernel"));
    canvas_textf(c, r.x + 13, r.y, r.w - 52, ROLE_DIM, "%s %s", text_of(row, "shape"),
                 text_of(row, "params"));
    int x = r.x + r.w - 38;
    canvas_textf(c, x, r.y, 10, ROLE_TITLE, "%10s", number_fmt_us(b[0], us));
    canvas_textf(c, x + 11, r.y, 8, ROLE_DIM, "CV %s%s",
                 number_fmt(b[1], real_of(row, "cv_pct"), 2),
                 isfinite(real_of(row, "cv_pct")) ? "%" : "");
    canvas_text(c, x + 20, r.y, 4, fail ? ROLE_BAD : ROLE_GOOD,
                fail                     ? "FAIL"
                : *text_of(row, "check") ? "PASS"
                                         : "");
    fig_bar(c, (struct rect){x + 26, r.y, 12, 1}, ROLE_SERIES, us, most);
}

/* The last rows that this step measured. */
static int live_rows(const struct lessons *l, const json_t *rows[LIVE_ROWS])
{
    const json_t *all = l->app->session->results;
    int n = 0;
    for (size_t i = json_array_size(all); i > l->first_row && n < LIVE_ROWS; i--) {
        const json_t *row = json_array_get(all, i - 1);
        if (real_of(row, "median_us") > 0)
            rows[n++] = row;
    }
    return n;
}

static void draw_live(struct canvas *c, struct rect r, const json_t *const *rows, int n)
{
    double most = 0;
    canvas_box(c, r, "Live");
    for (int i = 0; i < n; i++)
        most = fmax(most, real_of(rows[i], "median_us"));
    for (int i = 0; i < n && i < r.h - 2; i++) /* oldest first */
        draw_live_row(c, (struct rect){r.x + 2, r.y + 1 + i, r.w - 4, 1}, rows[n - 1 - i], most);
}

/* One line: what Enter does now. */
static void draw_prompt_line(const struct lessons *l, struct canvas *c, struct rect r)
{
    const char *what = l->busy                                  ? "running ..."
                       : !l->picking && textview_more(&l->text) ? "Enter: read on"
                       : l->want == LESSON_NUMBER               ? "Enter: type your guess"
                       : l->want == LESSON_CHOICE               ? "Press the letter of your answer"
                       : l->want == LESSON_ORDER                ? "Enter: type your order"
                       : l->picking             ? "Enter: this line (Esc: back to the text)"
                       : l->want == LESSON_LINE ? "Enter: to the lines of the source"
                                                : l->prompt;
    int used = canvas_text(c, r.x, r.y, r.w, ROLE_ACCENT, what);
    const bool over = l->want == LESSON_READ || l->want == LESSON_DONE;
    if (l->hints_left > 0 && !l->busy && !over && r.w - used > 14)
        canvas_textf(c, r.x + used, r.y, r.w - used, ROLE_DIM, "  (H: %d hint%s)", l->hints_left,
                     l->hints_left > 1 ? "s" : "");
}

/* The question keeps its place at the bottom, unless that leaves the text too little. Returns the
 * rows it takes there. */
static int place_question(struct lessons *l, struct rect r)
{
    int rows = l->ask.nlines > 0 ? textview_rows(&l->ask, r.w) : 0;
    bool fits = rows == 0 || rows + 1 + TEXT_ROWS_MIN <= r.h;
    if (fits && l->asked_at >= 0)
        lesson_take_question_out(l);
    if (!fits && l->asked_at < 0) {
        l->asked_at = l->text.nlines;
        if (l->text.nlines > 0)
            textview_add(&l->text, ROLE_NORMAL, "\n");
        for (int i = 0; i < l->ask.nlines; i++)
            textview_add(&l->text, l->ask.lines[i].role, l->ask.lines[i].text);
    }
    return fits && rows > 0 ? rows + 1 : 0; /* and a blank row above */
}

/* The source that is asked about, with a cursor. */
static void draw_lines(struct lessons *l, struct canvas *c, struct rect r)
{
    const int visible = list_place(&l->pick, r, l->nlines, false);
    for (int i = 0; i < visible; i++) {
        const int line = l->pick.top + i;
        const struct rect row = list_row_at(&l->pick, i);
        canvas_textf(c, row.x, row.y, row.w, ROLE_NORMAL, "%5d  %s", l->first_line + line,
                     l->lines[line]);
        if (line == l->pick.cur)
            canvas_fill(c, row, ROLE_SELECT);
    }
}

/* Text, question, command, prompt, from top to bottom, without a hole between them. */
static void draw_page_inside(struct lessons *l, struct canvas *c, struct rect r)
{
    int commands = l->command && !l->busy;
    struct rect text = {r.x, r.y, r.w, r.h - 1 - commands};
    int ask = place_question(l, text), used = textview_rows(&l->text, r.w);
    text.h -= ask;
    if (l->picking) {
        draw_lines(l, c, text);
        used = text.h;
    } else {
        textview_draw(&l->text, c, text);
    }
    int y = r.y + (used < text.h ? used : text.h);
    if (ask > 0)
        textview_draw(&l->ask, c, (struct rect){r.x, y + 1, r.w, ask - 1});
    y += ask;
    if (y + commands + 2 <= r.y + r.h && used > 0)
        y++; /* room to breathe */
    if (commands)
        canvas_textf(c, r.x, y++, r.w, ROLE_NORMAL, "$ %s", l->command);
    draw_prompt_line(l, c, (struct rect){r.x, y, r.w, 1});
}

static void draw_page(struct lessons *l, struct canvas *c, struct rect r)
{
    canvas_box(c, r, NULL);
    draw_page_inside(l, c, (struct rect){r.x + 2, r.y + 1, r.w - 4, r.h - 2});
    int room = r.w - 6;
    if (l->text.nrows > l->text.page) {
        int last = l->text.top + l->text.page;
        char where[40];
        snprintf(where, sizeof where, " %d-%d/%d ", l->text.top + 1,
                 last < l->text.nrows ? last : l->text.nrows, l->text.nrows);
        int w = str_width(where);
        canvas_text(c, r.x + r.w - 2 - w, r.y, w, ROLE_DIM, where);
        room -= w;
    }
    canvas_put(c, r.x + 2, r.y, ROLE_FRAME, ' ');
    int used = canvas_text(c, r.x + 3, r.y, room, ROLE_TITLE, l->heading);
    canvas_put(c, r.x + 3 + used, r.y, ROLE_FRAME, ' ');
}

static void draw_run(struct lessons *l, struct canvas *c)
{
    const json_t *rows[LIVE_ROWS];
    int n = live_rows(l, rows), bottom = c->h - 2;
    lesson_fit_figures(l);
    bool full = c->w >= FULL_W && c->h >= FULL_H;
    const int steps = lesson_steps_width(l), left = steps ? steps : 1;
    int live = full && n > 0 ? n + 2 : 0;
    draw_header(l, c, (struct rect){0, 1, c->w, 1});
    const int height = bottom - 2 - (live ? live - 1 : 0), panel = lesson_panel_width(l);
    draw_page(l, c, (struct rect){left - 1, 2, c->w - left + 1 - (panel ? panel - 1 : 0), height});
    if (panel)
        lesson_panel_draw(l, c, (struct rect){c->w - panel, 2, panel, height});
    if (steps)
        draw_steps(l, c, (struct rect){0, 2, left, bottom - 2 - (live ? live - 1 : 0)});
    if (live)
        draw_live(c, (struct rect){0, bottom - live, c->w, live}, rows, n);
}

void lesson_draw(void *ctx, struct canvas *c)
{
    struct lessons *l = ctx;
    if (l->run)
        draw_run(l, c);
    else
        lesson_list_draw(l, c, (struct rect){0, 2, c->w, c->h - 4});
    app_frame(l->app, c);
}
