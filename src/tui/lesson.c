/* lesson.c - the Lessons screen: a list, and one lesson at work: steps at the left, text at the
 * right, below it what was measured.
 *
 * The runner in src/lesson does the teaching; this file draws what it says and passes answers on.
 * The question that waits stays in sight below the text, which scrolls; where there is no room for
 * both it becomes the end of the text. Enter turns the page before it goes on.
 *
 * Commands of a lesson run within lesson_answer(), and this screen is drawn meanwhile: everything
 * on it is a copy.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/lesson.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "lesson/lesson.h"
#include "lesson/progress.h"
#include "tui/layout.h"
#include "tui/prompt.h"

enum { OPTIONS_MAX = 8, LIVE_ROWS = 4, MEASURE = 80, TEXT_ROWS_MIN = 4 };

struct lessons {
    struct app *app;
    int cur; /* in the list */
    const struct lesson *lesson;
    struct lesson_run *run; /* NULL: the list is shown */
    bool busy;              /* inside lesson_answer() */
    struct textview text;   /* what was said and printed; wrapped when drawn */
    struct textview ask;    /* the question and its answers, while they wait */
    int asked_at;           /* line of `text` where a copy of `ask` begins, -1: there is none */
    /* a copy of lesson_step() */
    int step, steps, noptions, hints_left;
    unsigned serial;
    enum lesson_want want;
    char *heading, *prompt, *question, *command, *try_out, *keys[OPTIONS_MAX],
        *options[OPTIONS_MAX];
    size_t first_row; /* of session->results that belongs to this step */
};

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

/* The source that a line is asked of. */
static void add_source(struct textview *text, const struct lesson_screen *at)
{
    if (text->nlines > 0)
        textview_add(text, ROLE_NORMAL, "\n");
    for (int i = 0; i < at->nlines; i++) {
        char *line = xasprintf("%4d %s\n", at->first_line + i, at->lines[i]);
        textview_add(text, ROLE_NORMAL, line);
        free(line);
    }
}

/* A new step begins on an empty page; what happens within a step is added below. */
static void look(struct lessons *l)
{
    const struct lesson_screen *at = lesson_step(l->run);
    bool new_step = at->step != l->step;
    if (new_step) {
        textview_clear(&l->text);
        l->first_row = json_array_size(l->app->session->results);
    }
    if ((new_step || at->serial != l->serial) && *at->text) {
        if (l->text.nlines > 0)
            textview_add(&l->text, ROLE_NORMAL, "\n");
        textview_add(&l->text, ROLE_NORMAL, at->text);
    }
    if (at->want == LESSON_LINE && (new_step || at->serial != l->serial))
        add_source(&l->text, at);
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

static int text_width(const struct lessons *l)
{
    int w = l->app->canvas->w;
    return w >= FULL_W && l->app->canvas->h >= FULL_H ? w - 22 - 3 : w - 4;
}

static void close_run(struct lessons *l)
{
    lesson_run_free(l->run);
    l->run = NULL;
    textview_clear(&l->text);
    textview_clear(&l->ask);
    l->asked_at = -1;
}

static void open_run(struct lessons *l, const struct lesson *lesson, int step)
{
    close_run(l);
    l->lesson = lesson;
    l->step = -1;
    l->serial = 0;
    l->run = lesson_run_new(l->app->session, lesson, step, 0); /* wrapped here */
    look(l);
}

/* ---- answers ---- */

/* The question moves out of the text again, if it had to stand there. */
static void take_question_out(struct lessons *l)
{
    if (l->asked_at >= 0)
        textview_truncate(&l->text, l->asked_at);
    l->asked_at = -1;
}

/* The page keeps what was asked and answered. */
static void echo_input(struct lessons *l, const char *input, const char *question,
                       const char *command)
{
    const char *said = *input ? input : command;
    if (l->text.nlines > 0)
        textview_add(&l->text, ROLE_NORMAL, "\n");
    if (question)
        textview_add(&l->text, ROLE_TITLE, question);
    if (said) {
        char *line = xasprintf("> %s", said);
        textview_add(&l->text, ROLE_KEY, line);
        free(line);
    }
}

static void answer(struct lessons *l, const char *input)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    int step = l->step;
    if (!l->run || l->busy)
        return;
    take_question_out(l);
    int before = l->text.nlines;
    l->busy = true;
    l->app->session->front.width = text_width(l); /* tables fit the page */
    enum status st = lesson_answer(l->run, input, &out, &err);
    l->busy = false;
    take_question_out(l);
    const struct lesson_screen *at = lesson_step(l->run);
    if (at->step != step) { /* the page turns: show what was said before it does */
        if (!str_blank(str_text(&out)))
            app_popup(l->app, "Before the next step", str_text(&out));
    } else if (st != ST_USAGE) {
        bool answered = at->serial != l->serial;
        echo_input(l, input, answered ? l->question : NULL,
                   l->want == LESSON_RUN ? l->command : NULL);
        textview_add(&l->text, ROLE_ACCENT, str_text(&out));
    }
    look(l);
    if (st != ST_OK && err.text[0])
        app_message(l->app, ROLE_BAD, "%s", err.text);
    if (l->step == step)
        textview_show(&l->text, before + (before > 0)); /* after the blank line */
    str_free(&out);
}

static void answer_done(void *ctx, const char *line)
{
    if (!str_blank(line))
        answer(ctx, line);
}

static void choose(struct lessons *l, int i)
{
    if (l->want == LESSON_CHOICE && i < l->noptions) {
        char *key = xstrdup(l->keys[i]);
        answer(l, key);
        free(key);
    } else {
        app_message(l->app, ROLE_DIM, "there is no question with that answer here");
    }
}

static void next(struct lessons *l)
{
    if (textview_more(&l->text)) { /* first read what there is */
        textview_act(&l->text, ACT_PAGE_DOWN);
        return;
    }
    switch (l->want) {
    case LESSON_NUMBER:
        prompt_open(l->app->session, "guess: ", "", false, answer_done, l);
        break;
    case LESSON_CHOICE:
        app_message(l->app, ROLE_NORMAL, "choose with a to %c", 'a' + l->noptions - 1);
        break;
    case LESSON_ORDER:
        prompt_open(l->app->session, "order: ", "", false, answer_done, l);
        break;
    case LESSON_LINE:
        prompt_open(l->app->session, "line: ", "", false, answer_done, l);
        break;
    case LESSON_DONE:
        close_run(l);
        break;
    case LESSON_READ:
    case LESSON_RUN:
    case LESSON_RETRY:
        answer(l, "");
        break;
    }
}

/* Whoever is asked for a number types it: a digit opens the prompt, and no other screen. */
static bool lesson_type(void *ctx, int key)
{
    struct lessons *l = ctx;
    const bool number = l->run && !l->busy && (l->want == LESSON_NUMBER || l->want == LESSON_LINE);
    const char digit[] = {(char)key, 0};
    if (!number || key < '0' || key > '9')
        return false;
    prompt_open(l->app->session, l->want == LESSON_LINE ? "line: " : "guess: ", digit, false,
                answer_done, l);
    return true;
}

static void open_selected(struct lessons *l)
{
    if (lesson_at(l->cur))
        open_run(l, lesson_at(l->cur), -1);
}

static bool chooser_act(struct lessons *l, enum action action)
{
    int n = lesson_count();
    switch (action) {
    case ACT_UP:
        l->cur -= l->cur > 0;
        return true;
    case ACT_DOWN:
        l->cur += l->cur < n - 1;
        return true;
    case ACT_FIRST:
        l->cur = 0;
        return true;
    case ACT_LAST:
        l->cur = n > 0 ? n - 1 : 0;
        return true;
    case ACT_NEXT:
    case ACT_RIGHT:
        open_selected(l);
        return true;
    case ACT_BACK:
        app_show(l->app, "explore");
        return true;
    default:
        return false;
    }
}

static bool run_act(struct lessons *l, enum action action)
{
    switch (action) {
    case ACT_NEXT:
        next(l);
        return true;
    case ACT_ANSWER_A:
    case ACT_ANSWER_B:
    case ACT_ANSWER_C:
    case ACT_ANSWER_D:
        choose(l, (int)action - ACT_ANSWER_A);
        return true;
    case ACT_HINT:
        answer(l, "hint");
        return true;
    case ACT_STEP_BACK:
        answer(l, "back");
        return true;
    case ACT_TRY:
        app_prompt(l->app, l->try_out ? l->try_out : "run fa2");
        return true;
    case ACT_LESSONS:
    case ACT_BACK:
        close_run(l);
        return true;
    default:
        return textview_act(&l->text, action);
    }
}

static bool lesson_act(void *ctx, enum action action)
{
    struct lessons *l = ctx;
    return l->run ? run_act(l, action) : chooser_act(l, action);
}

/* ---- drawing ---- */

/* The table of what is done; NULL when there is none. */
static struct sqlite3 *progress_db(const struct lessons *l)
{
    struct store *store = session_store(l->app->session);
    struct sqlite3 *db = store ? store_handle(store) : NULL;
    return progress_open(db, NULL) == ST_OK ? db : NULL;
}

static void draw_list(struct lessons *l, struct canvas *c, struct rect r)
{
    struct sqlite3 *db = progress_db(l);
    canvas_box(c, r, "Lessons");
    for (int i = 0; i < lesson_count() && i < r.h - 2; i++) {
        const struct lesson *lesson = lesson_at(i);
        int y = r.y + 1 + i, done = 0, steps = lesson_steps(lesson), made = 0, right = 0;
        for (int k = 0; k < steps; k++)
            done += progress_get(db, lesson_name(lesson), lesson_step_title(lesson, k)) ==
                    PROGRESS_DONE;
        progress_score(db, lesson_name(lesson), &made, &right);
        canvas_text(c, r.x + 2, y, 1, ROLE_ACCENT, i == l->cur ? ">" : " ");
        canvas_textf(c, r.x + 4, y, r.w - 24, ROLE_NORMAL, "%d  %s", i + 1, lesson_title(lesson));
        canvas_textf(c, r.x + r.w - 19, y, 8, done == steps ? ROLE_GOOD : ROLE_DIM, "%d of %d",
                     done, steps);
        if (made > 0)
            canvas_textf(c, r.x + r.w - 10, y, 9, ROLE_DIM, "%d/%d right", right, made);
        if (i == l->cur)
            canvas_fill(c, (struct rect){r.x + 1, y, r.w - 2, 1}, ROLE_SELECT);
    }
    for (int i = 0; lesson_problem(i); i++)
        canvas_text(c, r.x + 2, r.y + r.h - 2 - i, r.w - 4, ROLE_WARN, lesson_problem(i));
}

static void draw_header(struct lessons *l, struct canvas *c, struct rect r)
{
    int made = 0, right = 0, x = 1;
    progress_score(progress_db(l), lesson_name(l->lesson), &made, &right);
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
    struct sqlite3 *db = progress_db(l);
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
    const char *what = l->busy                    ? "running ..."
                       : textview_more(&l->text)  ? "Enter: read on"
                       : l->want == LESSON_NUMBER ? "Enter: type your guess"
                       : l->want == LESSON_CHOICE ? "Press the letter of your answer"
                                                  : l->prompt;
    int used = canvas_text(c, r.x, r.y, r.w, ROLE_ACCENT, what);
    if (l->hints_left > 0 && !l->busy && r.w - used > 14)
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
        take_question_out(l);
    if (!fits && l->asked_at < 0) {
        l->asked_at = l->text.nlines;
        if (l->text.nlines > 0)
            textview_add(&l->text, ROLE_NORMAL, "\n");
        for (int i = 0; i < l->ask.nlines; i++)
            textview_add(&l->text, l->ask.lines[i].role, l->ask.lines[i].text);
    }
    return fits && rows > 0 ? rows + 1 : 0; /* and a blank row above */
}

/* Text, question, command, prompt, from top to bottom, without a hole between them. */
static void draw_page_inside(struct lessons *l, struct canvas *c, struct rect r)
{
    int commands = l->command && !l->busy;
    struct rect text = {r.x, r.y, r.w, r.h - 1 - commands};
    int ask = place_question(l, text), used = textview_rows(&l->text, r.w);
    text.h -= ask;
    textview_draw(&l->text, c, text);
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
    bool full = c->w >= FULL_W && c->h >= FULL_H;
    int live = full && n > 0 ? n + 2 : 0, left = full ? 22 : 1;
    draw_header(l, c, (struct rect){0, 1, c->w, 1});
    draw_page(l, c,
              (struct rect){left - 1, 2, c->w - left + 1, bottom - 2 - (live ? live - 1 : 0)});
    if (full)
        draw_steps(l, c, (struct rect){0, 2, left, bottom - 2 - (live ? live - 1 : 0)});
    if (live)
        draw_live(c, (struct rect){0, bottom - live, c->w, live}, rows, n);
}

static void lesson_draw(void *ctx, struct canvas *c)
{
    struct lessons *l = ctx;
    if (l->run)
        draw_run(l, c);
    else
        draw_list(l, c, (struct rect){0, 2, c->w, c->h - 4});
    app_frame(l->app, c);
}

/* ---- the rest ---- */

static void *lesson_open(struct app *a)
{
    struct lessons *l = xcalloc(1, sizeof *l);
    l->app = a;
    l->asked_at = -1;
    l->text.measure = l->ask.measure = MEASURE;
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

const struct screen_ops lesson_screen_ops = {
    .name = "lessons",
    .title = "7 Lessons",
    .context = CTX_LESSON,
    .open = lesson_open,
    .close = lesson_close,
    .draw = lesson_draw,
    .act = lesson_act,
    .type = lesson_type,
    .command = lesson_command,
};

bool lesson_take_line(struct app *a, const char *line)
{
    char verb[16], name[64];
    int step = 0, used = 0;
    const struct cmd_entry *entry;
    const struct lesson *lesson;
    if (sscanf(line, "%15s %63s%n", verb, name, &used) != 2 ||
        command_find(verb, &entry, NULL) != ST_OK || strcmp(entry->name, "lesson") != 0 ||
        lesson_find(name, &lesson, NULL) != ST_OK)
        return false;
    const char *rest = line + used + strspn(line + used, " ");
    if (*rest && sscanf(rest, "step=%d", &step) != 1)
        return false;
    if (step < 0 || step > lesson_steps(lesson))
        return false;
    struct lessons *l = app_show(a, "lessons");
    open_run(l, lesson, step - 1);
    return true;
}
