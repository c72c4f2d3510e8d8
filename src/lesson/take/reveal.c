/* reveal.c - what was predicted beside what came out, in the learner's own numbers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "lesson/take/progress.h"
#include "lesson/take/run.h"

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

/* Its first words, enough to know it again. The caller frees. */
static char *short_question(const char *text)
{
    enum { ENOUGH = 28 };
    const size_t len = strlen(text);
    size_t cut = 0;
    for (size_t i = 0; i < len && i <= ENOUGH; i++)
        cut = text[i] == ' ' ? i : cut;
    return len <= ENOUGH || !cut ? xstrdup(text) : xasprintf("%.*s ...", (int)cut, text);
}

/* Where several questions were asked, the line says which one it answers. */
static void add_verdict(struct lesson_run *r, const struct item *question, const char *line)
{
    const struct lesson_stage *at = run_stage(r);
    int asked = 0;
    for (size_t i = 0; i < at->nitems; i++)
        asked += item_asks(&at->items[i]);
    char *begin = short_question(question->text);
    char *whole = xasprintf("%s - %s", begin, line);
    run_add(r, asked > 1 ? whole : line);
    free(begin);
    free(whole);
}

/* The guess beside the outcome, in the learner's own numbers. */
static void reveal_number(struct lesson_run *r, const struct item *question)
{
    char guessed[NUMBER_BUF], measured[NUMBER_BUF], off[NUMBER_BUF];
    double guess = guess_of(r, question->name), outcome = values_eval(&r->values, question->expr);
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
    add_verdict(r, question, line);
    free(line);
    run_keep(r, question->name, outcome);
    record_prediction(r, question->name, guess, outcome, right);
}

/* Which option turned out to hold: its number from 1, or NaN. */
static double right_option(const struct lesson_run *r, const struct item *question)
{
    for (size_t i = 0; i < question->noptions; i++)
        if (expr_is_true(values_eval(&r->values, question->options[i].when)))
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
    add_verdict(r, question, line);
    free(line);
    run_keep(r, question->name, outcome);
    record_prediction(r, question->name, guess, outcome, right);
}

static void reveal_order(struct lesson_run *r, const struct item *question)
{
    double guess = guess_of(r, question->name), value[ORDER_MAX];
    struct str line = {0};
    for (size_t i = 0; i < question->noptions; i++)
        value[i] = values_eval(&r->values, question->options[i].when);
    double outcome = order_outcome(question, value);
    bool right = order_right(question, value, guess);
    str_add(&line, right ? "Right, you said: " : "You said: ");
    order_text(question, NULL, guess, &line);
    str_add(&line, ". It is: ");
    order_text(question, value, outcome, &line);
    str_addc(&line, '.');
    if (strstr(str_text(&line), " = "))
        str_addf(&line, " (= : not distinguishable, within %.0f %%)", question->within * 100);
    add_verdict(r, question,
                isnan(outcome) ? "Not all of these were measured here, so there is no order."
                               : str_text(&line));
    str_free(&line);
    run_keep(r, question->name, outcome);
    record_prediction(r, question->name, guess, outcome, right);
}

/* The line that was said, if it is right, else the right one that is nearest; NaN: none. */
static double right_line(const struct source_lines *l, double guess)
{
    double best = REAL_UNKNOWN;
    for (int i = 0; i < l->count; i++)
        if (l->right[i] && !(fabs(l->first + i - guess) >= fabs(best - guess)))
            best = l->first + i;
    return best;
}

static void add_source_line(struct str *out, const struct source_lines *l, double line)
{
    const int i = (int)line - l->first;
    const char *text = i >= 0 && i < l->count ? l->text[i] : "-";
    str_addf(out, "line %.0f, `%s`", line, text + strspn(text, " \t"));
}

static void reveal_where(struct lesson_run *r, const struct item *question)
{
    struct source_lines l;
    struct str line = {0};
    struct err err = ERR_INIT;
    double guess = guess_of(r, question->name), outcome = REAL_UNKNOWN;
    if (source_lines_find(r->session, question, &l, &err) == ST_OK)
        outcome = right_line(&l, guess);
    bool right = guess == outcome;
    if (isnan(outcome)) {
        str_addf(&line, "There is no outcome to hold it against: %s", err.text);
    } else {
        str_add(&line, right ? "Right: " : "You said ");
        add_source_line(&line, &l, guess);
        if (!right) {
            str_add(&line, ". It is ");
            add_source_line(&line, &l, outcome);
        }
        str_addc(&line, '.');
    }
    add_verdict(r, question, str_text(&line));
    source_lines_clear(&l);
    str_free(&line);
    run_keep(r, question->name, outcome);
    record_prediction(r, question->name, guess, outcome, right);
}

void run_reveal(struct lesson_run *r, const struct item *it)
{
    const struct item *question = stage_question(run_stage(r), it->name);
    switch (question->kind) {
    case ITEM_PREDICT:
        reveal_number(r, question);
        break;
    case ITEM_CHOICE:
        reveal_choice(r, question);
        break;
    case ITEM_ORDER:
        reveal_order(r, question);
        break;
    default:
        reveal_where(r, question);
        break;
    }
    if (*it->text)
        run_add_filled(r, it->text);
}
