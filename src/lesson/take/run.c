/* run.c - walks a learner through a lesson: a state machine without input or output.
 *
 * A step is a list of items. advance() works off those that need nobody - prose, gates, kept
 * values - and stops at the first that needs the learner; lesson_answer() deals with that one and
 * advances again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/take/run.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "lesson/take/step_figure.h"
#include "lesson/take/progress.h"
#include "lesson/take/recorded.h"
#include "lesson/take/words.h"
#include "lesson/text/question.h"
#include "lesson/text/speech.h"
#include "lesson/text/wrap.h"

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

static void ask_for(struct lesson_run *r, enum lesson_want want, const char *prompt)
{
    r->screen.want = want;
    free(r->prompt);
    r->prompt = xstrdup(prompt);
}

static void new_text(struct lesson_run *r)
{
    str_clear(&r->text);
    r->screen.serial++;
}

static void blank_line(struct lesson_run *r)
{
    if (r->text.len)
        str_addc(&r->text, '\n');
}

static void add(struct lesson_run *r, const char *text)
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
    add(r, str_text(&s));
    str_free(&s);
}

static const char *first_command(const struct lesson_stage *at)
{
    for (size_t i = 0; i < at->nitems; i++)
        if (at->items[i].kind == ITEM_RUN)
            return at->items[i].text;
    return NULL;
}

static bool asks(const struct lesson_run *r)
{
    const enum lesson_want want = r->screen.want;
    return want == LESSON_NUMBER || want == LESSON_CHOICE || want == LESSON_ORDER ||
           want == LESSON_LINE;
}

/* Points the screen to the buffers, which may have moved; last thing of every public call. */
static void refresh(struct lesson_run *r)
{
    struct lesson_screen *s = &r->screen;
    const bool options = s->want == LESSON_CHOICE || s->want == LESSON_ORDER;
    s->lesson = r->lesson->name;
    s->title = r->lesson->title;
    s->heading = run_stage(r)->title;
    s->step = r->step;
    s->steps = (int)r->lesson->nsteps;
    s->text = str_text(&r->text);
    s->prompt = r->prompt;
    s->question = asks(r) ? run_item(r)->text : NULL;
    s->command = s->want == LESSON_RUN ? r->command : NULL;
    s->try_out = s->command ? s->command : first_command(run_stage(r));
    s->options = options ? r->options : NULL;
    s->noptions = options ? (int)run_item(r)->noptions : 0;
    s->lines = s->want == LESSON_LINE ? (const char *const *)r->source.text : NULL;
    s->nlines = s->lines ? r->source.count : 0;
    s->first_line = r->source.first;
    s->hints_left = (int)(run_stage(r)->nhints - r->hints);
}

/* ---- values for later steps ---- */

/* Sets a value for this and later steps, and puts it on record. */
static void keep(struct lesson_run *r, const char *name, double v)
{
    struct err err = ERR_INIT;
    values_set(&r->values, name, v);
    if (progress_keep(r->db, r->lesson->name, name, v, &err) != ST_OK)
        session_note(r->session, "%s", err.text);
}

static void keep_guess(struct lesson_run *r, const char *name, double v)
{
    char *full = xasprintf("guess.%s", name);
    keep(r, full, v);
    free(full);
}

static void take(void *ctx, const char *name, double v)
{
    values_set(ctx, name, v);
}

static void load_kept(struct lesson_run *r)
{
    progress_kept(r->db, r->lesson->name, take, &r->values);
}

struct search {
    const struct lesson_run *r;
    int step, found; /* the latest earlier step that gives something unknown; -1: none */
};

static void look(void *ctx, const char *name)
{
    struct search *s = ctx;
    if (name_is_given(name) || !isnan(values_get(&s->r->values, name)))
        return;
    const int from = carry_step(s->r->lesson, s->step, name);
    if (from >= 0 && from < s->step && from > s->found)
        s->found = from;
}

/* The earlier step whose values step `step` needs and which are unknown; -1: none. */
static int source_step(const struct lesson_run *r, int step)
{
    struct search s = {r, step, -1};
    stage_names(&r->lesson->steps[step], look, &s);
    return s.found;
}

/* ---- guess and outcome ---- */

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
    add(r, asked > 1 ? whole : line);
    free(begin);
    free(whole);
}

/* The guess beside the outcome, in the learner's own numbers. */
static void reveal(struct lesson_run *r, const struct item *it)
{
    const struct item *question = stage_question(run_stage(r), it->name);
    const double guess = guess_of(r, question->name);
    const double outcome = question_outcome(r->session, question, &r->values, guess);
    struct str line = {0};
    if (isnan(guess)) {
        str_add(&line, "It is: ");
        question_show(question, &r->values, outcome, &line);
        str_addc(&line, '.');
    } else {
        question_tell(r->session, question, &r->values, guess, outcome, &line);
    }
    add_verdict(r, question, str_text(&line));
    str_free(&line);
    keep(r, question->name, outcome);
    if (!isnan(guess))
        record_prediction(r, question->name, guess, outcome,
                          question_right(question, guess, outcome));
    if (*it->text)
        add_filled(r, it->text);
}

/* ---- gates ---- */

/* A gate speaks in words: "[ok] both results are right". When it does not hold, its condition and
 * the values in it are added, for those who want to know what was asked. */
static bool pass_gate(struct lesson_run *r, const struct item *it)
{
    struct expr_env env = values_env(&r->values);
    struct str s = {0};
    bool passed = expr_is_true(values_eval(&r->values, it->expr));
    if (passed) {
        str_addf(&s, "[ok] %s", it->right ? it->right : "as it should be");
    } else {
        str_addf(&s, "[not yet] %s (Asked for: %s; here: ", it->text, expr_text(it->expr));
        expr_substitute(it->expr, &env, &s);
        str_addc(&s, ')');
    }
    if (r->item == 0 || it[-1].kind != ITEM_EXPECT) /* gates stand together */
        blank_line(r);
    text_wrap(&r->text, str_text(&s), 0, r->width);
    str_free(&s);
    return passed;
}

/* ---- going through the items ---- */

/* What to take after this lesson. */
static void say_next(struct lesson_run *r)
{
    int here = 0;
    while (lesson_at(here) && lesson_at(here) != r->lesson)
        here++;
    const struct lesson *next = lesson_at(here) ? lesson_at(lesson_after(r->db, here)) : NULL;
    if (!next)
        return;
    char *line = xasprintf("The next lesson: %s (lesson %s).", next->title, next->name);
    add(r, line);
    free(line);
}

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
            add(r, line);
            free(line);
        }
        say_next(r);
    }
    ask_for(r, last ? LESSON_DONE : LESSON_READ, last ? "The end" : "Enter: next step");
}

static void offer_options(struct lesson_run *r, const struct item *it)
{
    r->options = xrealloc(r->options, it->noptions * sizeof *r->options);
    for (size_t i = 0; i < it->noptions; i++)
        r->options[i] = (struct lesson_option){it->options[i].word, it->options[i].text};
}

static void offer_command(struct lesson_run *r, const struct item *it)
{
    if (recorded_is_meant(it, r->no_gpu)) {
        char *note = recorded_note(r->session, it);
        add(r, note);
        free(note);
    }
    free(r->command);
    r->command = recorded_command(r->session, it, r->no_gpu);
    ask_for(r, LESSON_RUN, "Enter: run it");
}

/* A front end with a place for figures draws them itself, and learns where they stand. */
static void show_figure(struct lesson_run *r, const struct item *it)
{
    struct str figure = {0};
    struct err err = ERR_INIT;
    if (r->own_figures) {
        step_figure_prepare(r->session, it);
        str_addc(&r->text, LESSON_FIGURE);
        return;
    }
    blank_line(r);
    if (step_figure_draw(r->session, it, r->width < WIDTH_MAX ? r->width : WIDTH_MAX, &figure,
                         &err) == ST_OK)
        str_add(&r->text, str_text(&figure));
    else
        str_addf(&r->text, "- : %s\n", err.text);
    str_free(&figure);
}

/* The source is part of what is asked. */
static void ask_where(struct lesson_run *r, const struct item *it)
{
    struct err err = ERR_INIT;
    source_lines_clear(&r->source);
    if (source_lines_find(r->session, it, &r->source, &err) != ST_OK) {
        session_note(r->session, "%s", err.text);
        source_lines_clear(&r->source);
    }
    ask_for(r, LESSON_LINE, "Number of the line");
}

static void offer_retry(struct lesson_run *r)
{
    ask_for(r, LESSON_RETRY,
            r->hints < run_stage(r)->nhints ? "Enter: measure again, or hint, skip"
                                            : "Enter: measure again, or skip");
}

/* ---- what an item does; false: it needs the learner ---- */

static bool do_say(struct lesson_run *r, const struct item *it)
{
    add_filled(r, it->text);
    return true;
}

static bool do_when(struct lesson_run *r, const struct item *it)
{
    if (expr_is_true(values_eval(&r->values, it->expr)))
        add_filled(r, it->text);
    return true;
}

static bool do_figure(struct lesson_run *r, const struct item *it)
{
    show_figure(r, it);
    return true;
}

static bool do_reveal(struct lesson_run *r, const struct item *it)
{
    reveal(r, it);
    return true;
}

static bool do_keep(struct lesson_run *r, const struct item *it)
{
    keep(r, it->name, values_eval(&r->values, it->expr));
    return true;
}

static bool do_expect(struct lesson_run *r, const struct item *it)
{
    if (pass_gate(r, it))
        return true;
    offer_retry(r);
    return false;
}

/* What is asked is lesson_screen.question: it stays in sight. */
static bool do_predict(struct lesson_run *r, const struct item *it)
{
    (void)it;
    ask_for(r, LESSON_NUMBER, "Your guess");
    return false;
}

static bool do_choice(struct lesson_run *r, const struct item *it)
{
    offer_options(r, it);
    ask_for(r, LESSON_CHOICE, "Your answer");
    return false;
}

static bool do_order(struct lesson_run *r, const struct item *it)
{
    offer_options(r, it);
    ask_for(r, LESSON_ORDER, "Your order, smallest first");
    return false;
}

static bool do_where(struct lesson_run *r, const struct item *it)
{
    ask_where(r, it);
    return false;
}

/* By the word that gave it; text/directive.c has the other half of each. */
static const struct {
    const char *directive;
    bool (*act)(struct lesson_run *r, const struct item *it);
} acts[] = {
    {"say", do_say},     {"when", do_when},     {"figure", do_figure},   {"reveal", do_reveal},
    {"keep", do_keep},   {"expect", do_expect}, {"predict", do_predict}, {"choice", do_choice},
    {"order", do_order}, {"where", do_where},
};

static bool do_prose(struct lesson_run *r, const struct item *it)
{
    if (it->kind == ITEM_BULLET)
        add_bullet(r, it->text, r->item == 0 || it[-1].kind != ITEM_BULLET);
    else if (it->kind == ITEM_CODE)
        add_code(r, it->text);
    else
        add(r, it->text);
    return true;
}

static bool do_item(struct lesson_run *r, const struct item *it)
{
    for (size_t i = 0; it->directive && i < sizeof acts / sizeof *acts; i++)
        if (strcmp(acts[i].directive, it->directive) == 0)
            return acts[i].act(r, it);
    if (it->kind != ITEM_RUN)
        return do_prose(r, it);
    offer_command(r, it);
    return false;
}

/* Works off the step's items from r->item on, until one needs the learner or the step is over. */
static void advance(struct lesson_run *r)
{
    const struct lesson_stage *at = run_stage(r);
    for (; r->item < at->nitems; r->item++)
        if (!do_item(r, &at->items[r->item]))
            return;
    finish_step(r);
}

/* Why the step cannot be done on this machine; NULL if it can. The caller frees. */
static char *missing(const struct lesson_run *r, const struct lesson_stage *s)
{
    if (s->gpu && access("/dev/nvidiactl", R_OK) != 0)
        return xstrdup("This step needs an NVIDIA GPU, which this machine does not have.");
    if (s->cores > host_usable_cpus())
        return xasprintf("This step needs %lld cores; %d may be used here.", (long long)s->cores,
                         host_usable_cpus());
    if (s->kernel)
        (void)registry_refresh(r->session->services.registry);
    if (s->kernel && !registry_find(r->session->services.registry, s->kernel))
        return xasprintf("This step needs a kernel of yours that is called %s. When it is there, "
                         "type: again.",
                         s->kernel);
    return NULL;
}

static void forget_rows(struct lesson_run *r)
{
    rows_forget(&r->values.rows);
}

/* Can step `step` not be done on this machine? */
static bool missing_here(const struct lesson_run *r, int step)
{
    char *why = missing(r, &r->lesson->steps[step]);
    free(why);
    return why != NULL;
}

/* The step goes on with what an earlier one kept. */
static void offer_source(struct lesson_run *r, int from)
{
    const char *title = r->lesson->steps[from].title;
    char *text =
        xasprintf("This step goes on with what step %d, \"%s\", found out here. That is not "
                  "on record; take it first, this one follows.",
                  from + 1, title);
    char *prompt = xasprintf("Enter: go to step %d, or skip", from + 1);
    add(r, text);
    ask_for(r, LESSON_READ, prompt);
    r->next = from;
    free(text);
    free(prompt);
}

static char *no_source(struct lesson_run *r, int from)
{
    r->skipping = true;
    return xasprintf("This step goes on with what step %d, \"%s\", finds out, which cannot be done "
                     "here.",
                     from + 1, r->lesson->steps[from].title);
}

static void open_step(struct lesson_run *r, int step)
{
    r->step = step;
    r->item = r->hints = 0;
    r->next = step + 1;
    progress_now(r->db, r->lesson->name, step);
    r->retried = false;
    forget_rows(r);
    char *why = missing(r, run_stage(r));
    int from = why ? -1 : source_step(r, step);
    r->skipping = why != NULL;
    if (from >= 0 && !missing_here(r, from)) {
        offer_source(r, from);
    } else if (why || from >= 0) {
        why = why ? why : no_source(r, from);
        add(r, why);
        add(r, "It is left out here and recorded as skipped; the text stays in the file.");
        finish_step(r);
        free(why);
    } else {
        advance(r);
    }
}

/* ---- what a line does ---- */

static enum status answer_run(struct lesson_run *r, struct str *out, struct err *err)
{
    const struct item *it = run_item(r);
    char *line = xstrdup(r->command); /* a front end that waits may ask for the step again */
    struct rows got;
    struct texts speaks = stage_speaks(run_stage(r));
    r->session->front.speaks = &speaks;
    const enum session_kind as = lesson_is_own(r->lesson) ? SESSION_LESSON : SESSION_COURSE;
    enum status st = session_apart(r->session, as, line, &got, out, err);
    r->session->front.speaks = NULL;
    texts_clear(&speaks);
    const bool open_instead = st == ST_NO_GPU && it->recording && !r->no_gpu;
    if (!open_instead) /* else the recorded rows are $1, $2, ... */
        rows_add(&r->values.rows, &got.results, it->label);
    session_adopt(r->session, &got);
    rows_clear(&got);
    free(line);
    new_text(r);
    if (open_instead) { /* a driver without a GPU */
        str_addf(out, "%s\n", err->text);
        r->no_gpu = true;
        advance(r);
        return ST_OK;
    }
    if (st != ST_OK && st != ST_NO) {
        offer_retry(r);
        return st;
    }
    r->item++;
    advance(r);
    return ST_OK;
}

static enum status take_guess(struct lesson_run *r, double v)
{
    keep_guess(r, run_item(r)->name, v);
    new_text(r);
    r->item++;
    advance(r);
    return ST_OK;
}

/* "reveal" goes on without a guess, for who presents: nothing is recorded. */
static enum status answer_question(struct lesson_run *r, const char *input, struct err *err)
{
    double v;
    if (strcmp(input, "reveal") == 0)
        return take_guess(r, REAL_UNKNOWN);
    const enum status st = question_read(run_item(r), &r->source, input, &v, err);
    return st == ST_OK ? take_guess(r, v) : st;
}

/* Back to the step's first command; what was predicted stands. */
static void retry(struct lesson_run *r)
{
    const struct lesson_stage *at = run_stage(r);
    new_text(r);
    forget_rows(r);
    r->retried = true;
    for (r->item = 0; r->item < at->nitems && at->items[r->item].kind != ITEM_RUN;)
        r->item++;
    advance(r);
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
    new_text(r);
    if (to >= (int)r->lesson->nsteps) {
        ask_for(r, LESSON_DONE, "The end");
        return;
    }
    open_step(r, to < 0 ? 0 : to);
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
        *st = words_explain(r->session, input + strlen("explain "), r->width, out, err);
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
    if (asks(r))
        return answer_question(r, input, err);
    if (r->screen.want == LESSON_DONE)
        return ST_OK;
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
    refresh(r);
    free(line);
    return st;
}

/* ---- a walk ---- */

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
    r->session = s;
    r->lesson = l;
    r->db = progress_db(s);
    r->own_figures = width <= 0;
    r->width = width <= 0          ? INT_MAX
               : width < WIDTH_MIN ? WIDTH_MIN
               : width > WIDTH_MAX ? WIDTH_MAX
                                   : width;
    values_init(&r->values);
    values_set(&r->values, "cores", host_usable_cpus());
    load_kept(r);
    bool given = step >= 0 && (size_t)step < l->nsteps;
    open_step(r, given ? step : first_open_step(r));
    refresh(r);
    return r;
}

void lesson_run_free(struct lesson_run *r)
{
    if (!r)
        return;
    values_clear(&r->values);
    str_free(&r->text);
    free(r->prompt);
    free(r->command);
    free(r->options);
    source_lines_clear(&r->source);
    free(r);
}

const struct lesson_screen *lesson_step(const struct lesson_run *r)
{
    return &r->screen;
}

void run_without_figures(struct lesson_run *r)
{
    r->own_figures = true;
    new_text(r);
    open_step(r, 0);
    refresh(r);
}

/* ---- around a step ---- */

bool lesson_has_words(const struct lesson_run *r)
{
    return words_in(run_stage(r));
}

void lesson_words(const struct lesson_run *r, struct str *out)
{
    words_of(run_stage(r), out);
}

static const struct item *figure_at(const struct lesson_run *r, int i)
{
    const struct lesson_stage *at = run_stage(r);
    for (size_t k = 0; k < at->nitems && k < r->item; k++)
        if (at->items[k].kind == ITEM_FIGURE && i-- == 0)
            return &at->items[k];
    return NULL;
}

const char *lesson_figure_name(const struct lesson_run *r, int i)
{
    const struct item *it = figure_at(r, i);
    return it ? it->text : NULL;
}

enum status lesson_figure(struct lesson_run *r, int i, int width, struct str *out, struct err *err)
{
    const struct item *it = figure_at(r, i);
    if (!it)
        return err_set(err, ST_USAGE, "no such figure");
    r->session->paints = true;
    enum status st = step_figure_draw(r->session, it, width, out, err);
    r->session->paints = false;
    return st;
}
