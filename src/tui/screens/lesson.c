/* lesson.c - the Lessons screen: one lesson at work, and what the screen does.
 *
 * The runner in src/lesson does the teaching; this file draws what it says and passes answers on.
 * The question that waits stays in sight below the text, which scrolls; where there is no room for
 * both it becomes the end of the text. Enter turns the page before it goes on.
 *
 * Commands of a lesson run within lesson_answer(), and this screen is drawn meanwhile: everything
 * on it is a copy.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/output.h"
#include "draw/figures.h"
#include "lesson/lesson.h"
#include "lesson/take/progress.h"
#include "tui/app/app.h"
#include "tui/app/prompt.h"
#include "tui/app/veil.h"
#include "tui/kit/pane.h"
#include "tui/kit/textview.h"
#include "tui/kit/veil.h"
#include "tui/screens/lesson_lines.h"
#include "tui/screens/lesson_list.h"
#include "tui/screens/lesson_page.h"

enum { OPTIONS_MAX = 8, MEASURE = 80, WIDE_W = 136, FIGURE_W = 82 };
/* The list of steps: from which width of the screen, its least width, and how much it may grow. */
enum { STEPS_FROM = 100, STEPS_W = 22, STEPS_MORE = 18 };

struct lessons {
    struct app *app;
    struct list list;       /* of the lessons */
    struct sqlite3 *opened; /* where progress_open() has been: not again in each frame */
    const struct lesson *lesson;
    struct lesson_run *run; /* NULL: the list is shown */
    bool busy;              /* inside lesson_answer() */
    struct lesson_page page;
    struct textview ask; /* the question and its answers, while they wait */
    int asked_at;        /* line of the page where a copy of `ask` begins, -1: there is none */
    /* a copy of lesson_step() */
    int step, steps, noptions, hints_left;
    bool has_words; /* of the glossary, in this step */
    unsigned serial;
    enum lesson_want want;
    char *heading, *prompt, *question, *command, *try_out, *keys[OPTIONS_MAX],
        *options[OPTIONS_MAX];
    struct lesson_lines code; /* one of which is asked for */
    size_t first_row;         /* of session->rows.results that belongs to this step */
    size_t begun;             /* rows.ever when the lesson began */
    int measured_at; /* line of the page from which measured figures may stand, -1: nowhere */
};

/* The tables of progress.h; NULL when there are none. */
static struct sqlite3 *lesson_progress(struct lessons *l)
{
    struct store *store = session_store(l->app->session);
    struct sqlite3 *db = store ? store_handle(store) : NULL;
    if (db != l->opened)
        l->opened = progress_open(db, NULL) == ST_OK ? db : NULL;
    return l->opened;
}

/* ---- the list ---- */

/* Columns of the list of steps with its frame; 0: the text needs them. Tables are made for 76. */
static int lesson_steps_width(const struct lessons *l)
{
    const struct canvas *c = l->app->canvas;
    if (c->w < STEPS_FROM || c->h < FULL_H)
        return 0;
    const int spare = c->w - STEPS_W - (MEASURE + 2) - FIGURE_W; /* beside a text and a figure */
    return STEPS_W + (spare < 0 ? 0 : spare < STEPS_MORE ? spare : STEPS_MORE);
}

/* Columns of the text. */
static int lesson_text_width(const struct lessons *l)
{
    const int steps = lesson_steps_width(l), w = l->app->canvas->w;
    return steps ? w - steps - 3 : w - 4;
}

/* The question moves out of the text again, if it had to stand there. */
static void lesson_take_question_out(struct lessons *l)
{
    if (l->asked_at >= 0)
        textview_truncate(&l->page.text, l->asked_at);
    l->asked_at = -1;
}

/* Is there a panel for figures at the right? */
static bool lesson_has_panel(const struct lessons *l)
{
    return l->page.nfigures > 0 && l->app->canvas->w >= WIDE_W && l->app->canvas->h >= FULL_H;
}

/* Columns of the panel with its frame, 0: there is none. */
static int lesson_panel_width(const struct lessons *l)
{
    const int most = l->app->canvas->w - lesson_steps_width(l) - 60;
    return !lesson_has_panel(l) ? 0 : most < FIGURE_W ? most : FIGURE_W;
}

/* Figures fit the room there is now. */
static void lesson_fit_figures(struct lessons *l)
{
    const int width = lesson_has_panel(l) || !l->page.nfigures ? 0 : lesson_text_width(l);
    if (l->busy || width == l->page.figure_w)
        return;
    lesson_take_question_out(l); /* it is the end of the text */
    lesson_page_fit(&l->page, l->run, width);
}

enum { LIVE_ROWS = 4, TEXT_ROWS_MIN = 4 };

/* ---- drawing ---- */

static void draw_header(struct lessons *l, struct canvas *c, struct rect r)
{
    int made = 0, right = 0, x = 1;
    progress_score(lesson_progress(l), lesson_name(l->lesson), &made, &right);
    /* the score tells whether the last guess was near */
    const bool score = made > 0 && r.w >= FULL_W && !l->app->blank;
    x += lesson_list_mark(c, x, r.y, l->lesson);
    x += canvas_text(c, x, r.y, r.w - x - (score ? 45 : 23), ROLE_TITLE, lesson_title(l->lesson)) +
         2;
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

/* The last rows that this step measured. */
static int live_rows(const struct lessons *l, const struct row *rows[LIVE_ROWS])
{
    const struct rowset *all = &l->app->session->rows.results;
    int n = 0;
    for (size_t i = all->n; i > l->first_row && n < LIVE_ROWS; i--) {
        const struct row *row = all->rows[i - 1];
        if (row_real(row, "median_us") > 0)
            rows[n++] = row;
    }
    return n;
}

/* One line: what Enter does now. */
static void draw_prompt_line(const struct lessons *l, struct canvas *c, struct rect r)
{
    const char *what =
        l->busy                                            ? "running ..."
        : !l->code.picking && textview_more(&l->page.text) ? "Enter: read on"
        : l->want == LESSON_NUMBER                         ? "Enter: type your guess"
        : l->want == LESSON_CHOICE ? "Press the letter of your answer (Enter: type it)"
        : l->want == LESSON_ORDER  ? "Enter: type your order"
        : l->code.picking        ? "Up, Down: to your line, Enter: take it (Esc: back to the text)"
        : l->want == LESSON_LINE ? "Enter: to the lines of the source"
                                 : l->prompt;
    int used = canvas_text(c, r.x, r.y, r.w, ROLE_ACCENT, what);
    const bool over = l->want == LESSON_READ || l->want == LESSON_DONE;
    if (l->hints_left > 0 && !l->app->projector && !l->busy && !over && r.w - used > 14)
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
        l->asked_at = l->page.text.nlines;
        if (l->page.text.nlines > 0)
            textview_add(&l->page.text, ROLE_NORMAL, "\n");
        for (int i = 0; i < l->ask.nlines; i++)
            textview_add(&l->page.text, l->ask.lines[i].role, l->ask.lines[i].text);
    }
    return fits && rows > 0 ? rows + 1 : 0; /* and a blank row above */
}

/* Text, question, command, prompt, from top to bottom, without a hole between them. */
static void draw_page_inside(struct lessons *l, struct canvas *c, struct rect r)
{
    int commands = l->command && !l->busy;
    struct rect text = {r.x, r.y, r.w, r.h - 1 - commands};
    textview_veil(&l->page.text, l->app->blank ? l->measured_at : -1);
    int ask = place_question(l, text), used = textview_rows(&l->page.text, r.w);
    text.h -= ask;
    if (l->code.picking) {
        lesson_lines_draw(&l->code, c, text);
        used = text.h;
    } else {
        textview_draw(&l->page.text, c, text); /* as far as it is not hidden */
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
    if (l->page.text.nrows > l->page.text.page) {
        int last = l->page.text.top + l->page.text.page;
        char where[40];
        snprintf(where, sizeof where, " %d-%d/%d ", l->page.text.top + 1,
                 last < l->page.text.nrows ? last : l->page.text.nrows, l->page.text.nrows);
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
    const struct row *rows[LIVE_ROWS];
    int n = live_rows(l, rows), bottom = c->h - 2;
    lesson_fit_figures(l);
    bool full = c->w >= FULL_W && c->h >= FULL_H;
    const int steps = lesson_steps_width(l), left = steps ? steps : 1;
    int live = full && n > 0 ? n + 2 : 0;
    draw_header(l, c, (struct rect){0, 1, c->w, 1});
    const int height = bottom - 2 - (live ? live - 1 : 0), panel = lesson_panel_width(l);
    draw_page(l, c, (struct rect){left - 1, 2, c->w - left + 1 - (panel ? panel - 1 : 0), height});
    if (panel)
        lesson_page_draw_panel(&l->page, l->busy ? NULL : l->run, c,
                               (struct rect){c->w - panel, 2, panel, height});
    if (steps)
        draw_steps(l, c, (struct rect){0, 2, left, bottom - 2 - (live ? live - 1 : 0)});
    if (live && l->app->blank)
        lesson_draw_veil(c, (struct rect){0, bottom - live, c->w, live});
    else if (live)
        lesson_draw_live(c, (struct rect){0, bottom - live, c->w, live}, rows, n);
}

static void lesson_draw(void *ctx, struct canvas *c)
{
    struct lessons *l = ctx;
    if (l->run)
        draw_run(l, c);
    else
        lesson_list_draw(&l->list, lesson_progress(l), c, (struct rect){0, 2, c->w, c->h - 4});
    app_frame(l->app, c);
}

/* ---- the runner's state, copied ---- */

static void copy_text(char **to, const char *from)
{
    char *fresh = from ? xstrdup(from) : NULL;
    free(*to);
    *to = fresh;
}

static void copy_options(struct lessons *l, const struct lesson_screen *at)
{
    l->noptions = at->want == LESSON_CHOICE || at->want == LESSON_ORDER ? at->noptions : 0;
    if (l->noptions > OPTIONS_MAX)
        l->noptions = OPTIONS_MAX;
    for (int i = 0; i < l->noptions; i++) {
        copy_text(&l->keys[i], at->options[i].key);
        copy_text(&l->options[i], at->options[i].text);
    }
}

static void copy_lines(struct lessons *l, const struct lesson_screen *at)
{
    if (at->serial == l->serial && at->step == l->step && at->nlines == l->code.n)
        return; /* the cursor stays */
    lesson_lines_set(&l->code, at->lines, at->nlines, at->first_line);
}

/* What waits for an answer, as lines. */
static void look_at_question(struct lessons *l)
{
    textview_clear(&l->ask);
    if (l->question)
        textview_add(&l->ask, ROLE_TITLE, l->question);
    for (int i = 0; i < l->noptions; i++) {
        char *line = xasprintf("%c) %s", 'a' + i, l->options[i]);
        textview_add(&l->ask, ROLE_NORMAL, line);
        free(line);
    }
}

/* A new step begins on an empty page; what happens within a step is added below. */
static void look(struct lessons *l)
{
    const struct lesson_screen *at = lesson_step(l->run);
    bool new_step = at->step != l->step;
    if (new_step) {
        textview_clear(&l->page.text);
        l->measured_at = -1;
        l->has_words = lesson_has_words(l->run);
        l->first_row = l->app->session->rows.results.n;
    }
    lesson_page_add(&l->page, l->run, new_step || at->serial != l->serial ? at->text : "",
                    new_step);
    lesson_fit_figures(l);
    copy_lines(l, at);
    l->step = at->step;
    l->steps = at->steps;
    l->serial = at->serial;
    l->want = at->want;
    l->hints_left = at->hints_left;
    copy_text(&l->heading, at->heading);
    copy_text(&l->prompt, at->prompt);
    copy_text(&l->command, at->command);
    copy_text(&l->question, at->question);
    copy_text(&l->try_out, at->try_out);
    copy_options(l, at);
    look_at_question(l);
}

static void close_run(struct lessons *l)
{
    lesson_run_free(l->run);
    l->run = NULL;
    lesson_page_clear(&l->page);
    textview_clear(&l->ask);
    lesson_lines_clear(&l->code);
    l->asked_at = -1;
}

static void lesson_open_run(struct lessons *l, const struct lesson *lesson, int step)
{
    close_run(l);
    l->lesson = lesson;
    l->step = -1;
    l->serial = 0;
    l->begun = l->app->session->rows.ever;
    l->measured_at = -1;
    l->run = lesson_run_new(l->app->session, lesson, step, 0); /* wrapped here */
    look(l);
}

/* ---- answers ---- */

/* What was typed, as it was offered: "b) as many as before" for an option's word, a line with
 * its number. The caller frees. */
static char *as_offered(const struct lessons *l, const char *input)
{
    for (int i = 0; l->want == LESSON_CHOICE && i < l->noptions; i++)
        if (strcmp(input, l->keys[i]) == 0)
            return xasprintf("%c) %s", 'a' + i, l->options[i]);
    const int line = l->want == LESSON_LINE ? atoi(input) - l->code.first : -1;
    if (line >= 0 && line < l->code.n)
        return xasprintf("%s  %s", input, l->code.text[line] + strspn(l->code.text[line], " "));
    return xstrdup(input);
}

/* The page keeps what was asked and answered. */
static void echo_input(struct lessons *l, const char *input, const char *question,
                       const char *command)
{
    const char *said = *input ? input : command;
    if (l->page.text.nlines > 0)
        textview_add(&l->page.text, ROLE_NORMAL, "\n");
    if (question)
        textview_add(&l->page.text, ROLE_TITLE, question);
    if (said) {
        char *line = xasprintf("> %s", said);
        textview_add(&l->page.text, ROLE_KEY, line);
        free(line);
    }
}

/* Has a command of this lesson measured anything, or looked up what was? What is said after that may
 * quote it. */
static bool has_measured(const struct lessons *l)
{
    const struct rows *r = &l->app->session->rows;
    const size_t fresh = r->ever - l->begun;
    for (size_t i = 0; i < r->results.n && i < fresh; i++)
        if (veil_row(r->results.rows[r->results.n - 1 - i]))
            return true;
    return false;
}

static void answer(struct lessons *l, const char *input)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    int step = l->step;
    if (!l->run || l->busy)
        return;
    lesson_take_question_out(l);
    int before = l->page.text.nlines;
    l->busy = true;
    l->app->session->front.width = lesson_text_width(l); /* tables fit the page */
    enum status st = lesson_answer(l->run, input, &out, &err);
    const bool measured = has_measured(l);
    l->busy = false;
    lesson_take_question_out(l);
    const struct lesson_screen *at = lesson_step(l->run);
    if (at->step != step) { /* the page turns: show what was said before it does */
        if (!str_blank(str_text(&out)))
            app_popup(l->app, "Before the next step",
                      measured && l->app->blank ? VEIL_TEXT : str_text(&out));
    } else if (st != ST_USAGE) {
        bool answered = at->serial != l->serial;
        char *said = as_offered(l, input);
        echo_input(l, said, answered ? l->question : NULL,
                   l->want == LESSON_RUN ? l->command : NULL);
        free(said);
        if (measured && l->measured_at < 0)
            l->measured_at = l->page.text.nlines;
        textview_add(&l->page.text, ROLE_ACCENT, str_text(&out));
    }
    look(l);
    if (st != ST_OK && err.text[0])
        app_message(l->app, ROLE_BAD, "%s", err.text);
    if (l->step == step)
        textview_show(&l->page.text, before + (before > 0)); /* after the blank line */
    str_free(&out);
}

static void answer_done(void *ctx, const char *line)
{
    if (!str_blank(line))
        answer(ctx, line);
}

static void choose(void *ctx, int i)
{
    struct lessons *l = ctx;
    if (l->want == LESSON_CHOICE && i < l->noptions) {
        char *key = xstrdup(l->keys[i]);
        answer(l, key);
        free(key);
    } else {
        app_message(l->app, ROLE_DIM, "there is no question with that answer here");
    }
}

static void say_letters(struct lessons *l)
{
    app_message(l->app, ROLE_NORMAL, "choose with a to %c", 'a' + l->noptions - 1);
}

/* First to the lines, then the one at the cursor. */
static void pick_line(struct lessons *l)
{
    char number[24];
    if (!l->code.n) {
        app_message(l->app, ROLE_WARN,
                    "the source of this question cannot be shown; s skips the step");
    } else if (!l->code.picking) {
        l->code.picking = true;
    } else {
        snprintf(number, sizeof number, "%d", l->code.first + l->code.pick.cur);
        answer(l, number);
    }
}

static void next(void *ctx, int arg)
{
    struct lessons *l = ctx;
    (void)arg;
    if (!l->code.picking && textview_more(&l->page.text)) { /* first read what there is */
        textview_move(&l->page.text, MOVE_PAGE_DOWN);
        return;
    }
    switch (l->want) {
    case LESSON_NUMBER:
        prompt_open(l->app->session, "guess: ", "", false, answer_done, l);
        break;
    case LESSON_CHOICE:
        prompt_open(l->app->session, "answer: ", "", false, answer_done, l);
        break;
    case LESSON_ORDER:
        prompt_open(l->app->session, "order: ", "", false, answer_done, l);
        break;
    case LESSON_LINE:
        pick_line(l);
        break;
    case LESSON_DONE:
        close_run(l);
        l->list.cur = lesson_in_progress(lesson_progress(l));
        break;
    case LESSON_READ:
    case LESSON_RUN:
    case LESSON_RETRY:
        answer(l, "");
        break;
    }
}

/* Is there a question whose answer is a number, or chosen? */
static bool lesson_digits(const void *ctx)
{
    const struct lessons *l = ctx;
    return l->run && !l->busy &&
           (l->want == LESSON_NUMBER || l->want == LESSON_LINE || l->want == LESSON_CHOICE);
}

/* Whoever is asked for a number types it: a digit opens the prompt, and no other screen. Nor does it where a
 * letter is asked for: a pipe takes the number of an option. */
static bool lesson_type(void *ctx, int key)
{
    struct lessons *l = ctx;
    const char digit[] = {(char)key, 0};
    if (!lesson_digits(l) || key < '0' || key > '9')
        return false;
    if (l->want == LESSON_CHOICE)
        say_letters(l);
    else
        prompt_open(l->app->session, l->want == LESSON_LINE ? "line: " : "guess: ", digit, false,
                    answer_done, l);
    return true;
}

static void show_notes(void *ctx, int arg)
{
    const struct lessons *l = ctx;
    struct str notes = {0};
    (void)arg;
    if (l->app->projector) { /* the room would read the answers */
        app_message(l->app, ROLE_DIM,
                    "notes stay off the projector; on a second terminal: notes "
                    "--follow");
        return;
    }
    lesson_notes(l->lesson, l->step, l->app->canvas->w - 8, &notes);
    app_popup(l->app, "Notes", str_text(&notes));
    str_free(&notes);
}

static void show_figures(void *ctx, int arg)
{
    const struct lessons *l = ctx;
    struct str all = {0};
    (void)arg;
    lesson_page_figures(&l->page, l->run, l->app->canvas->w - 6, &all);
    if (all.len)
        app_popup(l->app, "Figures", str_text(&all));
    else
        app_message(l->app, ROLE_DIM, "this step has no figure yet");
    str_free(&all);
}

static void explain_words(void *ctx, int arg)
{
    const struct lessons *l = ctx;
    (void)arg;
    app_explain(l->app);
}

enum { SAY_HINT, SAY_BACK, SAY_SKIP, SAY_REVEAL };

/* A word that could also be typed. */
static void say(void *ctx, int what)
{
    static const char *const words[] = {"hint", "back", "skip", "reveal"};
    answer(ctx, words[what]);
}

static void try_out(void *ctx, int arg)
{
    const struct lessons *l = ctx;
    (void)arg;
    app_prompt(l->app, l->try_out ? l->try_out : "run fa2");
}

static void to_list(void *ctx, int arg)
{
    (void)arg;
    close_run(ctx);
}

static void find_lesson(void *ctx, int arg)
{
    const struct lessons *l = ctx;
    (void)arg;
    app_find(l->app);
}

static void take_lesson(void *ctx, int arg)
{
    struct lessons *l = ctx;
    (void)arg;
    if (lesson_at(l->list.cur))
        lesson_open_run(l, lesson_at(l->list.cur), -1);
}

static void lesson_move(void *ctx, enum move m)
{
    struct lessons *l = ctx;
    l->list.n = lesson_count();
    if (!l->run && m == MOVE_RIGHT)
        take_lesson(l, 0);
    else if (!l->run)
        list_move(&l->list, m);
    else if (l->code.picking)
        list_move(&l->code.pick, m);
    else
        textview_move(&l->page.text, m);
}

/* Esc leaves the lines for the text, then the lesson for the list, then the list for Explore. */
static void lesson_back(void *ctx)
{
    struct lessons *l = ctx;
    if (l->code.picking)
        l->code.picking = false;
    else if (l->run)
        close_run(l);
    else
        app_show(l->app, "explore");
}

/* ---- what keys do something ---- */

/* Enter turns pages first; then a choice waits for a letter. */
static bool enter_leads_on(const void *ctx)
{
    const struct lessons *l = ctx;
    if (l->code.picking || textview_more(&l->page.text))
        return true;
    return l->want != LESSON_CHOICE && (l->want != LESSON_LINE || l->code.n > 0);
}

static bool is_choice(const void *ctx)
{
    const struct lessons *l = ctx;
    return l->want == LESSON_CHOICE;
}

static bool has_hint(const void *ctx)
{
    const struct lessons *l = ctx;
    return l->hints_left > 0 && !l->app->projector && l->want != LESSON_READ &&
           l->want != LESSON_DONE;
}

static bool has_words(const void *ctx)
{
    const struct lessons *l = ctx;
    return l->has_words;
}

static bool has_figures(const void *ctx)
{
    const struct lessons *l = ctx;
    return l->page.nfigures > 0;
}

static bool has_try(const void *ctx)
{
    const struct lessons *l = ctx;
    return l->try_out != NULL;
}

// clang-format off
/* Answers win over the letters that all screens share. */
static const struct binding lesson_keys[] = {
    {.keys = {TK_ENTER}, .does = "next", .act = next, .footer = "go on", .help = "go on: next step, or run its commands", .offered = enter_leads_on},
    {.keys = {'a'}, .does = "answer-a", .act = choose, .footer = "answer", .help = "answer the question; a to d", .offered = is_choice},
    {.keys = {'b'}, .does = "answer-b", .act = choose, .arg = 1, .help = "answer b"},
    {.keys = {'c'}, .does = "answer-c", .act = choose, .arg = 2, .help = "answer c"},
    {.keys = {'d'}, .does = "answer-d", .act = choose, .arg = 3, .help = "answer d"},
    {.keys = {'H'}, .does = "hint", .act = say, .arg = SAY_HINT, .footer = "hint", .help = "a hint; it costs nothing", .offered = has_hint},
    {.keys = {'R'}, .does = "reveal", .act = say, .arg = SAY_REVEAL, .help = "without a guess, for who presents: on to the outcome; nothing is recorded"},
    {.keys = {'x'}, .does = "explain", .act = explain_words, .footer = "words", .help = "what the words of this step mean", .offered = has_words},
    {.keys = {'v'}, .does = "view", .act = show_figures, .footer = "figure", .help = "the step's figures, as large as the screen", .offered = has_figures},
    {.keys = {'t'}, .does = "try", .act = try_out, .footer = "try it", .help = "open the step's command for editing", .offered = has_try},
    {.keys = {TK_BACKSPACE}, .does = "step-back", .act = say, .arg = SAY_BACK, .help = "one step back"},
    {.keys = {'p'}, .does = "notes", .act = show_notes, .help = "notes for who presents: what is asked, run and hinted"},
    {.keys = {'s'}, .does = "skip", .act = say, .arg = SAY_SKIP, .help = "on to the next step; this one counts as skipped"},
    {.keys = {'L'}, .does = "lesson-list", .act = to_list, .footer = "list", .help = "list of lessons"},
    {.keys = {TK_TAB, TK_BTAB}},
    {.does = NULL},
};

/* Of the list, where there is no pane to go to and no step to explain. */
static const struct binding list_keys[] = {
    {.keys = {TK_ENTER}, .does = "next", .act = take_lesson, .footer = "take it", .help = "take this lesson, where you left it"},
    {.keys = {'/'}, .does = "find", .act = find_lesson, .footer = "find", .help = "find a lesson"},
    {.keys = {TK_TAB, TK_BTAB, 'x'}},
    {.does = NULL},
};
// clang-format on

/* ---- the rest ---- */

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

static bool lesson_take_line(struct app *a, const char *line)
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

static void *lesson_open(struct app *a)
{
    struct lessons *l = xcalloc(1, sizeof *l);
    l->app = a;
    l->asked_at = -1;
    l->page.text.measure = l->ask.measure = MEASURE;
    l->list.cur = lesson_in_progress(lesson_progress(l));
    return l;
}

static void lesson_close(void *ctx)
{
    struct lessons *l = ctx;
    close_run(l);
    for (int i = 0; i < OPTIONS_MAX; i++) {
        free(l->keys[i]);
        free(l->options[i]);
    }
    lesson_page_free(&l->page);
    free(l->heading);
    free(l->prompt);
    free(l->command);
    free(l->question);
    free(l->try_out);
    free(l);
}

static const char *lesson_command(void *ctx)
{
    const struct lessons *l = ctx;
    return !l->run ? "lessons" : l->command ? l->command : l->try_out;
}

static int lesson_mode(void *ctx)
{
    const struct lessons *l = ctx;
    return l->run ? 0 : 1;
}

static bool lesson_explain(void *ctx, struct str *out)
{
    const struct lessons *l = ctx;
    if (!l->run) {
        str_add(out, "begin a lesson: x then explains the words of its step");
        return false;
    }
    lesson_words(l->run, out);
    return true;
}

static bool line_has(const void *ctx, int i, const char *text)
{
    const struct lessons *l = ctx;
    return str_finds(l->code.text[i], text);
}

static bool lesson_find_text(void *ctx, const char *text, int dir)
{
    struct lessons *l = ctx;
    if (!l->run)
        return lesson_list_find(&l->list, text, dir);
    if (!l->code.picking)
        return textview_find(&l->page.text, text, dir);
    const int at = list_find(l->code.n, l->code.pick.cur, dir, line_has, l, text);
    l->code.pick.cur = at < 0 ? l->code.pick.cur : at;
    return at >= 0;
}

static void lesson_save(void *ctx, json_t *o)
{
    const struct lessons *l = ctx;
    const struct lesson *at = l->run ? l->lesson : lesson_at(l->list.cur);
    if (at)
        json_object_set_new(o, "lesson", json_string(lesson_name(at)));
    if (l->run)
        json_object_set_new(o, "step", json_integer(l->step + 1));
}

/* The place, not the answers: the step begins anew, and runs nothing by itself. */
static void lesson_restore(void *ctx, const json_t *o)
{
    struct lessons *l = ctx;
    const char *name = json_string_value(json_object_get(o, "lesson"));
    const json_int_t step = json_integer_value(json_object_get(o, "step"));
    for (int i = 0; name && lesson_at(i); i++)
        if (strcmp(lesson_name(lesson_at(i)), name) == 0) {
            l->list.cur = i;
            if (step >= 1 && step <= lesson_steps(lesson_at(i)))
                lesson_open_run(l, lesson_at(i), (int)step - 1);
        }
}

extern const struct screen_ops lessons_screen;
const struct screen_ops lessons_screen = {
    .name = "lessons",
    .title = "7 Lessons",
    .keys = {lesson_keys, list_keys},
    .mode = lesson_mode,
    .modes = {"a lesson", "the list"},
    .open = lesson_open,
    .close = lesson_close,
    .draw = lesson_draw,
    .move = lesson_move,
    .back = lesson_back,
    .type = lesson_type,
    .digits = lesson_digits,
    .command = lesson_command,
    .take_line = lesson_take_line,
    .explain = lesson_explain,
    .find = lesson_find_text,
    .save = lesson_save,
    .restore = lesson_restore,
};
