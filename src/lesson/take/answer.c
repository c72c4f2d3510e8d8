/* answer.c - what a learner's line does: runs the command, keeps the guess, moves between steps.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "lesson/take/progress.h"
#include "lesson/take/run.h"

static enum status answer_run(struct lesson_run *r, struct str *out, struct err *err)
{
    const struct item *it = run_item(r);
    char *line = xstrdup(r->command); /* a front end that waits may ask for the step again */
    struct rows got;
    enum status st = session_apart(r->session, line, &got, out, err);
    const bool open_instead = st == ST_NO_GPU && it->recording && !r->no_gpu;
    if (!open_instead) /* else the recorded rows are $1, $2, ... */
        rows_add(&r->values.rows, got.results, it->label);
    session_adopt(r->session, &got);
    rows_clear(&got);
    free(line);
    run_new_text(r);
    if (open_instead) { /* a driver without a GPU */
        str_addf(out, "%s\n", err->text);
        r->no_gpu = true;
        run_advance(r);
        return ST_OK;
    }
    if (st != ST_OK && st != ST_NO) {
        run_offer_retry(r);
        return st;
    }
    r->item++;
    run_advance(r);
    return ST_OK;
}

static enum status take_guess(struct lesson_run *r, double v)
{
    run_set_guess(r, run_item(r)->name, v);
    run_new_text(r);
    r->item++;
    run_advance(r);
    return ST_OK;
}

static enum status answer_number(struct lesson_run *r, const char *input, struct err *err)
{
    double v;
    if (!*input)
        return err_set(err, ST_USAGE, "type a number, or hint, or skip");
    if (!input[strcspn(input, "0123456789")]) /* no try at a number: a question */
        return err_set(err, ST_USAGE, "type a number, or hint, again, back, skip, quit");
    if (number_parse(input, &v, err) != ST_OK)
        return ST_USAGE;
    return take_guess(r, v);
}

static enum status answer_order(struct lesson_run *r, const char *input, struct err *err)
{
    double code;
    enum status st = order_parse(run_item(r), input, &code, err);
    return st == ST_OK ? take_guess(r, code) : st;
}

static enum status answer_line(struct lesson_run *r, const char *input, struct err *err)
{
    const struct source_lines *l = &r->source;
    int64_t line;
    enum status st = number_parse_int("line", input, l->first, l->first + l->count - 1, &line, err);
    return st == ST_OK ? take_guess(r, (double)line)
                       : err_set(err, ST_USAGE, "type the number of a line, %d to %d", l->first,
                                 l->first + l->count - 1);
}

/* By its word, its beginning if that is unique, or its number. */
static int chosen(const struct item *question, const char *input)
{
    int found = -1, matches = 0;
    for (size_t i = 0; i < question->noptions; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i + 1);
        if (strcmp(input, question->options[i].word) == 0 || strcmp(input, number) == 0)
            return (int)i;
        if (*input && str_starts(question->options[i].word, input)) {
            found = (int)i;
            matches++;
        }
    }
    return matches == 1 ? found : -1;
}

static enum status answer_choice(struct lesson_run *r, const char *input, struct err *err)
{
    int i = chosen(run_item(r), input);
    if (i < 0) {
        struct str words = {0};
        for (size_t k = 0; k < run_item(r)->noptions; k++)
            str_addf(&words, "%s%s", k ? ", " : "", run_item(r)->options[k].word);
        if (*input)
            err_set(err, ST_USAGE, "\"%s\" is none of: %s", input, str_text(&words));
        else
            err_set(err, ST_USAGE, "type one of %s, or hint, or skip", str_text(&words));
        str_free(&words);
        return ST_USAGE;
    }
    return take_guess(r, i + 1);
}

/* Back to the step's first command; what was predicted stands. */
static void retry(struct lesson_run *r)
{
    const struct lesson_stage *at = run_stage(r);
    run_new_text(r);
    run_forget_rows(r);
    r->retried = true;
    for (r->item = 0; r->item < at->nitems && at->items[r->item].kind != ITEM_RUN;)
        r->item++;
    run_advance(r);
}

static void give_hint(struct lesson_run *r, struct str *out)
{
    const struct lesson_stage *at = run_stage(r);
    if (r->hints < at->nhints)
        text_wrap(out, at->hints[r->hints++], 0, r->width);
    else
        str_add(out, at->nhints ? "No further hints in this step.\n" : "This step has no hints.\n");
}

static void leave_step(struct lesson_run *r, int by)
{
    int to = r->step + by;
    run_new_text(r);
    if (to >= (int)r->lesson->nsteps) {
        run_want(r, LESSON_DONE, "The end");
        return;
    }
    run_open_step(r, to < 0 ? 0 : to);
}

static void skip_step(struct lesson_run *r)
{
    struct err err = ERR_INIT;
    if (progress_set(r->db, r->lesson->name, run_stage(r)->title, PROGRESS_SKIPPED, &err) != ST_OK)
        session_note(r->session, "%s", err.text);
    leave_step(r, 1);
}

static void give_words(struct lesson_run *r, struct str *out)
{
    struct str words = {0};
    lesson_words(r, &words);
    for (const char *p = str_text(&words); *p;) { /* a paragraph each */
        char *line = xstrndup(p, strcspn(p, "\n"));
        text_wrap(out, line, 2, r->width);
        p += strlen(line) + 1;
        free(line);
    }
    str_free(&words);
}

/* The words that work at every prompt. False if it is none of them. */
static bool answer_word(struct lesson_run *r, const char *input, struct str *out, enum status *st,
                        struct err *err)
{
    if (str_starts(input, "explain "))
        *st = explain_word(r, input + strlen("explain "), out, err);
    else if (strcmp(input, "words") == 0)
        give_words(r, out);
    else if (strcmp(input, "hint") == 0)
        give_hint(r, out);
    else if (strcmp(input, "again") == 0)
        leave_step(r, 0);
    else if (strcmp(input, "back") == 0)
        leave_step(r, -1);
    else if (strcmp(input, "skip") == 0)
        skip_step(r);
    else
        return false;
    return true;
}

static enum status answer_here(struct lesson_run *r, const char *input, struct str *out,
                               struct err *err)
{
    switch (r->screen.want) {
    case LESSON_NUMBER:
        return answer_number(r, input, err);
    case LESSON_CHOICE:
        return answer_choice(r, input, err);
    case LESSON_ORDER:
        return answer_order(r, input, err);
    case LESSON_LINE:
        return answer_line(r, input, err);
    case LESSON_DONE:
        return ST_OK;
    default:
        break;
    }
    if (*input)
        return err_set(err, ST_USAGE,
                       "Enter goes on; hint, words, explain WORD, again, back and skip work "
                       "everywhere");
    if (r->screen.want == LESSON_RUN)
        return answer_run(r, out, err);
    if (r->screen.want == LESSON_RETRY)
        retry(r);
    else
        leave_step(r, r->next - r->step);
    return ST_OK;
}

enum status lesson_answer(struct lesson_run *r, const char *input, struct str *out, struct err *err)
{
    input += strspn(input, " \t");
    size_t len = strlen(input);
    while (len > 0 && strchr(" \t\r\n", input[len - 1]))
        len--;
    char *typed = xstrndup(input, len), *line = sanitize_line(typed);
    free(typed);
    enum status st = ST_OK;
    if (!answer_word(r, line, out, &st, err))
        st = answer_here(r, line, out, err);
    run_refresh(r);
    free(line);
    return st;
}
