/* run.c - walks a learner through a lesson: a state machine without input or output.
 *
 * A step is a list of items. run_advance() works off those that need nobody - prose, gates, kept
 * values - and stops at the first that needs the learner; lesson_answer() deals with that one and
 * advances again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/pool.h"
#include "base/mem.h"
#include "base/number.h"
#include "lesson/progress.h"
#include "lesson/run.h"

enum { WIDTH_MIN = 20, WIDTH_MAX = 80 };

const struct lesson_stage *run_stage(const struct lesson_run *r)
{
    return &r->lesson->steps[r->step];
}

const struct item *run_item(const struct lesson_run *r)
{
    return &run_stage(r)->items[r->item];
}

/* ---- what the screen says ---- */

void run_want(struct lesson_run *r, enum lesson_want want, const char *prompt)
{
    r->screen.want = want;
    free(r->prompt);
    r->prompt = xstrdup(prompt);
}

void run_new_text(struct lesson_run *r)
{
    str_clear(&r->text);
    r->screen.serial++;
}

static void blank_line(struct lesson_run *r)
{
    if (r->text.len)
        str_addc(&r->text, '\n');
}

static void add_paragraph(struct lesson_run *r, const char *text)
{
    blank_line(r);
    text_wrap(&r->text, text, 0, r->width);
}

static void add_bullet(struct lesson_run *r, const char *text, bool first)
{
    if (first)
        blank_line(r);
    text_wrap(&r->text, text, (int)strcspn(text, " ") + 1, r->width);
}

static void add_code(struct lesson_run *r, const char *text)
{
    blank_line(r);
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        str_addf(&r->text, "    %.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

static void add_filled(struct lesson_run *r, const char *text)
{
    struct str s = {0};
    values_fill(&r->values, text, &s);
    add_paragraph(r, str_text(&s));
    str_free(&s);
}

static const char *first_command(const struct lesson_stage *at)
{
    for (size_t i = 0; i < at->nitems; i++)
        if (at->items[i].kind == ITEM_RUN)
            return at->items[i].text;
    return NULL;
}

/* The screen's pointers follow the buffers, which may have moved. */
void run_refresh(struct lesson_run *r)
{
    struct lesson_screen *s = &r->screen;
    const struct item *it = s->want == LESSON_CHOICE || s->want == LESSON_RUN ? run_item(r) : NULL;
    s->lesson = r->lesson->name;
    s->title = r->lesson->title;
    s->heading = run_stage(r)->title;
    s->step = r->step;
    s->steps = (int)r->lesson->nsteps;
    s->text = str_text(&r->text);
    s->prompt = r->prompt;
    s->question = s->want == LESSON_NUMBER || s->want == LESSON_CHOICE ? run_item(r)->text : NULL;
    s->command = s->want == LESSON_RUN ? it->text : NULL;
    s->try_out = s->command ? s->command : first_command(run_stage(r));
    s->options = s->want == LESSON_CHOICE ? r->options : NULL;
    s->noptions = s->want == LESSON_CHOICE ? (int)it->noptions : 0;
    s->hints_left = (int)(run_stage(r)->nhints - r->hints);
}

/* ---- evaluation ---- */

/* Unknown names are unknown values here: the lesson was checked when it was written. */
static double evaluate(const struct lesson_run *r, const struct expr *e)
{
    struct expr_env env = values_env(&r->values);
    struct err err = ERR_INIT;
    double v;
    return expr_eval(e, &env, &v, &err) == ST_OK ? v : REAL_UNKNOWN;
}

static bool holds(double v)
{
    return !isnan(v) && v != 0;
}

static void record_prediction(struct lesson_run *r, const char *name, double guess, double outcome,
                              bool right)
{
    const struct prediction p = {
        .lesson = r->lesson->name,
        .step = run_stage(r)->title,
        .name = name,
        .guess = guess,
        .outcome = outcome,
        .right = right,
        .device = values_device(&r->values),
    };
    struct err err = ERR_INIT;
    if (!r->retried && progress_predict(r->db, &p, &err) != ST_OK)
        session_note(r->session, "%s", err.text);
}

static double guess_of(const struct lesson_run *r, const char *name)
{
    char *full = xasprintf("guess.%s", name);
    double v = values_get(&r->values, full);
    free(full);
    return v;
}

void run_set_guess(struct lesson_run *r, const char *name, double v)
{
    char *full = xasprintf("guess.%s", name);
    values_set(&r->values, full, v);
    free(full);
}

/* The guess beside the outcome, in the learner's own numbers. */
static void reveal_number(struct lesson_run *r, const struct item *question)
{
    char guessed[NUMBER_BUF], measured[NUMBER_BUF], off[NUMBER_BUF];
    double guess = guess_of(r, question->name), outcome = evaluate(r, question->expr);
    bool right = fabs(guess - outcome) <= question->within * fabs(outcome);
    number_fmt(guessed, guess, 3);
    number_fmt(measured, outcome, 3);
    char *line;
    if (isnan(outcome))
        line = xasprintf("You said %s; there is no outcome to hold it against.", guessed);
    else if (right)
        line = xasprintf("You said %s; it is %s. That is within %.0f %%.", guessed, measured,
                         question->within * 100);
    else if (guess > 0 && outcome > 0)
        line = guess > outcome
                   ? xasprintf("You said %s; it is %s: your guess was %s times too large.", guessed,
                               measured, number_fmt(off, guess / outcome, 2))
                   : xasprintf("You said %s; it is %s: %s times what you said.", guessed, measured,
                               number_fmt(off, outcome / guess, 2));
    else
        line = xasprintf("You said %s; it is %s.", guessed, measured);
    add_paragraph(r, line);
    free(line);
    values_set(&r->values, question->name, outcome);
    record_prediction(r, question->name, guess, outcome, right);
}

/* Which option turned out to hold: its number from 1, or NaN. */
static double right_option(const struct lesson_run *r, const struct item *question)
{
    for (size_t i = 0; i < question->noptions; i++)
        if (holds(evaluate(r, question->options[i].when)))
            return (double)(i + 1);
    return REAL_UNKNOWN;
}

static void reveal_choice(struct lesson_run *r, const struct item *question)
{
    double guess = guess_of(r, question->name), outcome = right_option(r, question);
    bool right = guess == outcome;
    char *line;
    if (isnan(outcome))
        line = xstrdup("None of the answers fits what was measured here.");
    else if (right)
        line = xasprintf("Right: %s.", question->options[(size_t)outcome - 1].text);
    else
        line = xasprintf("You said: %s. It is: %s.",
                         isnan(guess) ? "-" : question->options[(size_t)guess - 1].text,
                         question->options[(size_t)outcome - 1].text);
    add_paragraph(r, line);
    free(line);
    values_set(&r->values, question->name, outcome);
    record_prediction(r, question->name, guess, outcome, right);
}

static void reveal(struct lesson_run *r, const struct item *it)
{
    const struct item *question = stage_question(run_stage(r), it->name);
    if (question->kind == ITEM_PREDICT)
        reveal_number(r, question);
    else
        reveal_choice(r, question);
    if (*it->text)
        add_filled(r, it->text);
}

/* A gate speaks in words: "[ok] both results are right". When it does not hold, its condition and
 * the values in it are added, for those who want to know what was asked. */
static bool pass_gate(struct lesson_run *r, const struct item *it)
{
    struct expr_env env = values_env(&r->values);
    struct str s = {0};
    bool passed = holds(evaluate(r, it->expr));
    if (passed) {
        str_addf(&s, "[ok] %s", it->right ? it->right : "as it should be");
    } else {
        str_addf(&s, "[not yet] %s (Asked for: %s; here: ", it->text, expr_text(it->expr));
        expr_substitute(it->expr, &env, &s);
        str_addc(&s, ')');
    }
    add_paragraph(r, str_text(&s));
    str_free(&s);
    return passed;
}

/* ---- going through the items ---- */

static void finish_step(struct lesson_run *r)
{
    struct err err = ERR_INIT;
    enum progress state = r->skipping ? PROGRESS_SKIPPED : PROGRESS_DONE;
    if (progress_set(r->db, r->lesson->name, run_stage(r)->title, state, &err) != ST_OK)
        session_note(r->session, "%s", err.text);
    bool last = (size_t)r->step + 1 == r->lesson->nsteps;
    if (last) {
        int made, right;
        progress_score(r->db, r->lesson->name, &made, &right);
        if (made) {
            char *line =
                xasprintf("Predictions in this lesson so far: %d, right: %d.", made, right);
            add_paragraph(r, line);
            free(line);
        }
    }
    run_want(r, last ? LESSON_DONE : LESSON_READ, last ? "The end" : "Enter: next step");
}

static void offer_choice(struct lesson_run *r, const struct item *it)
{
    r->options = xrealloc(r->options, it->noptions * sizeof *r->options);
    for (size_t i = 0; i < it->noptions; i++)
        r->options[i] = (struct lesson_option){it->options[i].word, it->options[i].text};
    run_want(r, LESSON_CHOICE, "Your answer");
}

/* For a question, the item's text is lesson_screen.question: it stays in sight while it waits. */
static void ask_number(struct lesson_run *r)
{
    run_want(r, LESSON_NUMBER, "Your guess");
}

void run_offer_retry(struct lesson_run *r)
{
    run_want(r, LESSON_RETRY,
             r->hints < run_stage(r)->nhints ? "Enter: measure again, or hint, skip"
                                             : "Enter: measure again, or skip");
}

/* Works off item r->item. Returns false when it needs the learner. */
static bool do_item(struct lesson_run *r, const struct item *it)
{
    switch (it->kind) {
    case ITEM_PARAGRAPH:
        add_paragraph(r, it->text);
        return true;
    case ITEM_BULLET:
        add_bullet(r, it->text, r->item == 0 || it[-1].kind != ITEM_BULLET);
        return true;
    case ITEM_CODE:
        add_code(r, it->text);
        return true;
    case ITEM_SAY:
        add_filled(r, it->text);
        return true;
    case ITEM_REVEAL:
        reveal(r, it);
        return true;
    case ITEM_KEEP:
        values_set(&r->values, it->name, evaluate(r, it->expr));
        return true;
    case ITEM_EXPECT:
        if (pass_gate(r, it))
            return true;
        run_offer_retry(r);
        return false;
    case ITEM_PREDICT:
        ask_number(r);
        return false;
    case ITEM_CHOICE:
        offer_choice(r, it);
        return false;
    case ITEM_RUN:
        run_want(r, LESSON_RUN, "Enter: run it");
        return false;
    }
    return true;
}

void run_advance(struct lesson_run *r)
{
    const struct lesson_stage *at = run_stage(r);
    for (; r->item < at->nitems; r->item++)
        if (!do_item(r, &at->items[r->item]))
            return;
    finish_step(r);
}

/* Why the step cannot be done on this machine; NULL if it can. The caller frees. */
static char *missing(const struct lesson_stage *s)
{
    if (s->gpu && access("/dev/nvidiactl", R_OK) != 0)
        return xstrdup("This step needs an NVIDIA GPU, which this machine does not have.");
    if (s->cores > pool_usable_cpus())
        return xasprintf("This step needs %lld cores; %d may be used here.", (long long)s->cores,
                         pool_usable_cpus());
    return NULL;
}

void run_forget_rows(struct lesson_run *r)
{
    json_array_clear(r->values.rows);
}

void run_open_step(struct lesson_run *r, int step)
{
    r->step = step;
    r->item = r->hints = 0;
    r->retried = false;
    run_forget_rows(r);
    char *why = missing(run_stage(r));
    r->skipping = why != NULL;
    if (why) {
        add_paragraph(r, why);
        add_paragraph(r,
                      "It is left out here and recorded as skipped; the text stays in the file.");
        finish_step(r);
        free(why);
    } else {
        run_advance(r);
    }
}

static int first_open_step(const struct lesson_run *r)
{
    for (size_t i = 0; i < r->lesson->nsteps; i++)
        if (progress_get(r->db, r->lesson->name, r->lesson->steps[i].title) != PROGRESS_DONE)
            return (int)i;
    return 0;
}

struct lesson_run *lesson_run_new(struct session *s, const struct lesson *l, int step, int width)
{
    struct lesson_run *r = xcalloc(1, sizeof *r);
    struct store *store = session_store(s);
    struct err err = ERR_INIT;
    r->session = s;
    r->lesson = l;
    r->db = store ? store_handle(store) : NULL;
    if (progress_open(r->db, &err) != ST_OK) {
        session_note(s, "%s", err.text);
        r->db = NULL;
    }
    r->width = width <= 0          ? INT_MAX
               : width < WIDTH_MIN ? WIDTH_MIN
               : width > WIDTH_MAX ? WIDTH_MAX
                                   : width;
    values_init(&r->values);
    values_set(&r->values, "cores", pool_usable_cpus());
    bool given = step >= 0 && (size_t)step < l->nsteps;
    run_open_step(r, given ? step : first_open_step(r));
    run_refresh(r);
    return r;
}

void lesson_run_free(struct lesson_run *r)
{
    if (!r)
        return;
    values_clear(&r->values);
    str_free(&r->text);
    free(r->prompt);
    free(r->options);
    free(r);
}

const struct lesson_screen *lesson_step(const struct lesson_run *r)
{
    return &r->screen;
}
