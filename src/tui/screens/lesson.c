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
#include "tui/screens/lesson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/screens/lesson_state.h"
#include "tui/app/prompt.h"

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

static void drop_lines(struct lessons *l)
{
    for (int i = 0; i < l->nlines; i++)
        free(l->lines[i]);
    free(l->lines);
    l->lines = NULL;
    l->nlines = 0;
    l->picking = false;
}

static void copy_lines(struct lessons *l, const struct lesson_screen *at)
{
    if (at->serial == l->serial && at->step == l->step && at->nlines == l->nlines)
        return; /* the cursor stays */
    drop_lines(l);
    l->lines = xcalloc((size_t)at->nlines + 1, sizeof *l->lines);
    l->nlines = at->nlines;
    l->first_line = at->first_line;
    l->pick = (struct list){.n = at->nlines};
    for (int i = 0; i < at->nlines; i++)
        l->lines[i] = xstrdup(at->lines[i]);
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
        textview_clear(&l->text);
        l->has_words = lesson_has_words(l->run);
        l->first_row = json_array_size(l->app->session->results);
    }
    lesson_add_text(l, new_step || at->serial != l->serial ? at->text : "", new_step);
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

int lesson_steps_width(const struct lessons *l)
{
    const struct canvas *c = l->app->canvas;
    if (c->w < STEPS_FROM || c->h < FULL_H)
        return 0;
    const int spare = c->w - STEPS_W - (MEASURE + 2) - FIGURE_W; /* beside a text and a figure */
    return STEPS_W + (spare < 0 ? 0 : spare < STEPS_MORE ? spare : STEPS_MORE);
}

int lesson_text_width(const struct lessons *l)
{
    const int steps = lesson_steps_width(l), w = l->app->canvas->w;
    return steps ? w - steps - 3 : w - 4;
}

static void close_run(struct lessons *l)
{
    lesson_run_free(l->run);
    l->run = NULL;
    textview_clear(&l->text);
    textview_clear(&l->ask);
    textview_clear(&l->panel);
    drop_lines(l);
    l->asked_at = -1;
    l->nfigures = l->panel_w = l->figure_w = 0;
}

void lesson_open_run(struct lessons *l, const struct lesson *lesson, int step)
{
    close_run(l);
    l->lesson = lesson;
    l->step = -1;
    l->serial = 0;
    l->run = lesson_run_new(l->app->session, lesson, step, 0); /* wrapped here */
    look(l);
}

/* ---- answers ---- */

void lesson_take_question_out(struct lessons *l)
{
    if (l->asked_at >= 0)
        textview_truncate(&l->text, l->asked_at);
    l->asked_at = -1;
}

/* What was typed, as it was offered: "b) as many as before" for an option's word, a line with
 * its number. The caller frees. */
static char *as_offered(const struct lessons *l, const char *input)
{
    for (int i = 0; l->want == LESSON_CHOICE && i < l->noptions; i++)
        if (strcmp(input, l->keys[i]) == 0)
            return xasprintf("%c) %s", 'a' + i, l->options[i]);
    const int line = l->want == LESSON_LINE ? atoi(input) - l->first_line : -1;
    if (line >= 0 && line < l->nlines)
        return xasprintf("%s  %s", input, l->lines[line] + strspn(l->lines[line], " "));
    return xstrdup(input);
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
    lesson_take_question_out(l);
    int before = l->text.nlines;
    l->busy = true;
    l->app->session->front.width = lesson_text_width(l); /* tables fit the page */
    enum status st = lesson_answer(l->run, input, &out, &err);
    l->busy = false;
    lesson_take_question_out(l);
    const struct lesson_screen *at = lesson_step(l->run);
    if (at->step != step) { /* the page turns: show what was said before it does */
        if (!str_blank(str_text(&out)))
            app_popup(l->app, "Before the next step", str_text(&out));
    } else if (st != ST_USAGE) {
        bool answered = at->serial != l->serial;
        char *said = as_offered(l, input);
        echo_input(l, said, answered ? l->question : NULL,
                   l->want == LESSON_RUN ? l->command : NULL);
        free(said);
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

static void say_letters(struct lessons *l)
{
    app_message(l->app, ROLE_NORMAL, "choose with a to %c", 'a' + l->noptions - 1);
}

/* First to the lines, then the one at the cursor. */
static void pick_line(struct lessons *l)
{
    char number[24];
    if (!l->nlines) {
        app_message(l->app, ROLE_WARN,
                    "the source of this question cannot be shown; s skips the step");
    } else if (!l->picking) {
        l->picking = true;
    } else {
        snprintf(number, sizeof number, "%d", l->first_line + l->pick.cur);
        answer(l, number);
    }
}

static void next(struct lessons *l)
{
    if (!l->picking && textview_more(&l->text)) { /* first read what there is */
        textview_act(&l->text, ACT_PAGE_DOWN);
        return;
    }
    switch (l->want) {
    case LESSON_NUMBER:
        prompt_open(l->app->session, "guess: ", "", false, answer_done, l);
        break;
    case LESSON_CHOICE:
        say_letters(l);
        break;
    case LESSON_ORDER:
        prompt_open(l->app->session, "order: ", "", false, answer_done, l);
        break;
    case LESSON_LINE:
        pick_line(l);
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

/* Whoever is asked for a number types it: a digit opens the prompt, and no other screen. Nor does the
 * number of an option, which a pipe takes. */
static bool lesson_type(void *ctx, int key)
{
    struct lessons *l = ctx;
    const bool number = l->run && !l->busy && (l->want == LESSON_NUMBER || l->want == LESSON_LINE);
    const char digit[] = {(char)key, 0};
    if (l->run && !l->busy && l->want == LESSON_CHOICE && key >= '1' && key < '1' + l->noptions) {
        say_letters(l);
        return true;
    }
    if (!number || key < '0' || key > '9')
        return false;
    prompt_open(l->app->session, l->want == LESSON_LINE ? "line: " : "guess: ", digit, false,
                answer_done, l);
    return true;
}

static void show_notes(struct lessons *l)
{
    struct str notes = {0};
    lesson_notes(l->lesson, l->step, l->app->canvas->w - 8, &notes);
    app_popup(l->app, "Notes", str_text(&notes));
    str_free(&notes);
}

/* Esc leaves the lines for the text, then the lesson for the list. */
static void leave(struct lessons *l)
{
    if (l->picking)
        l->picking = false;
    else
        close_run(l);
}

static bool run_act(struct lessons *l, enum action action)
{
    switch (action) {
    case ACT_NOTES:
        show_notes(l);
        return true;
    case ACT_VIEW:
        lesson_show_figures(l);
        return true;
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
    case ACT_SKIP:
        answer(l, "skip");
        return true;
    case ACT_TRY:
        app_prompt(l->app, l->try_out ? l->try_out : "run fa2");
        return true;
    case ACT_LESSONS:
        close_run(l);
        return true;
    case ACT_BACK:
        leave(l);
        return true;
    default:
        return l->picking ? list_act(&l->pick, action) : textview_act(&l->text, action);
    }
}

static bool lesson_act(void *ctx, enum action action)
{
    struct lessons *l = ctx;
    return l->run ? run_act(l, action) : lesson_list_act(l, action);
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
    free(l->placed);
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

static enum context lesson_context(void *ctx)
{
    const struct lessons *l = ctx;
    return l->run ? CTX_LESSON : CTX_LESSONS;
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
    return str_finds(l->lines[i], text);
}

static bool lesson_find_text(void *ctx, const char *text, int dir)
{
    struct lessons *l = ctx;
    if (!l->run)
        return lesson_list_find(l, text, dir);
    if (!l->picking)
        return textview_find(&l->text, text, dir);
    const int at = list_find(l->nlines, l->pick.cur, dir, line_has, l, text);
    l->pick.cur = at < 0 ? l->pick.cur : at;
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

const struct screen_ops lesson_screen_ops = {
    .name = "lessons",
    .title = "7 Lessons",
    .context = CTX_LESSON,
    .context_now = lesson_context,
    .open = lesson_open,
    .close = lesson_close,
    .draw = lesson_draw,
    .act = lesson_act,
    .type = lesson_type,
    .offers = lesson_offers,
    .command = lesson_command,
    .explain = lesson_explain,
    .find = lesson_find_text,
    .save = lesson_save,
    .restore = lesson_restore,
};
