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

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/number.h"
#include "lesson/take/progress.h"
#include "lesson/take/run.h"

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

void run_add(struct lesson_run *r, const char *text)
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

void run_add_filled(struct lesson_run *r, const char *text)
{
    struct str s = {0};
    values_fill(&r->values, text, &s);
    run_add(r, str_text(&s));
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
    const bool asks = s->want == LESSON_NUMBER || s->want == LESSON_CHOICE ||
                      s->want == LESSON_ORDER || s->want == LESSON_LINE;
    const bool options = s->want == LESSON_CHOICE || s->want == LESSON_ORDER;
    s->lesson = r->lesson->name;
    s->title = r->lesson->title;
    s->heading = run_stage(r)->title;
    s->step = r->step;
    s->steps = (int)r->lesson->nsteps;
    s->text = str_text(&r->text);
    s->prompt = r->prompt;
    s->question = asks ? run_item(r)->text : NULL;
    s->command = s->want == LESSON_RUN ? r->command : NULL;
    s->try_out = s->command ? s->command : first_command(run_stage(r));
    s->options = options ? r->options : NULL;
    s->noptions = options ? (int)run_item(r)->noptions : 0;
    s->lines = s->want == LESSON_LINE ? (const char *const *)r->source.text : NULL;
    s->nlines = s->lines ? r->source.count : 0;
    s->first_line = r->source.first;
    s->hints_left = (int)(run_stage(r)->nhints - r->hints);
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
            run_add(r, line);
            free(line);
        }
    }
    run_want(r, last ? LESSON_DONE : LESSON_READ, last ? "The end" : "Enter: next step");
}

static void offer_options(struct lesson_run *r, const struct item *it)
{
    r->options = xrealloc(r->options, it->noptions * sizeof *r->options);
    for (size_t i = 0; i < it->noptions; i++)
        r->options[i] = (struct lesson_option){it->options[i].word, it->options[i].text};
}

static void offer_command(struct lesson_run *r, const struct item *it)
{
    if (recorded_is_meant(r, it)) {
        char *note = recorded_note(r->session, it);
        run_add(r, note);
        free(note);
    }
    free(r->command);
    r->command = recorded_command(r, it);
    run_want(r, LESSON_RUN, "Enter: run it");
}

/* A front end with a place for figures draws them itself, and learns where they stand. */
static void show_figure(struct lesson_run *r, const struct item *it)
{
    struct str figure = {0};
    struct err err = ERR_INIT;
    if (r->own_figures) {
        str_addc(&r->text, LESSON_FIGURE);
        return;
    }
    blank_line(r);
    if (run_draw_figure(r, it, r->width < WIDTH_MAX ? r->width : WIDTH_MAX, &figure, &err) == ST_OK)
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
    run_want(r, LESSON_LINE, "Number of the line");
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
        run_add(r, it->text);
        return true;
    case ITEM_BULLET:
        add_bullet(r, it->text, r->item == 0 || it[-1].kind != ITEM_BULLET);
        return true;
    case ITEM_CODE:
        add_code(r, it->text);
        return true;
    case ITEM_SAY:
        run_add_filled(r, it->text);
        return true;
    case ITEM_FIGURE:
        show_figure(r, it);
        return true;
    case ITEM_REVEAL:
        run_reveal(r, it);
        return true;
    case ITEM_KEEP:
        run_keep(r, it->name, values_eval(&r->values, it->expr));
        return true;
    case ITEM_EXPECT:
        if (pass_gate(r, it))
            return true;
        run_offer_retry(r);
        return false;
    case ITEM_PREDICT: /* what is asked is lesson_screen.question: it stays in sight */
        run_want(r, LESSON_NUMBER, "Your guess");
        return false;
    case ITEM_CHOICE:
        offer_options(r, it);
        run_want(r, LESSON_CHOICE, "Your answer");
        return false;
    case ITEM_ORDER:
        offer_options(r, it);
        run_want(r, LESSON_ORDER, "Your order, smallest first");
        return false;
    case ITEM_WHERE:
        ask_where(r, it);
        return false;
    case ITEM_RUN:
        offer_command(r, it);
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

void run_forget_rows(struct lesson_run *r)
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
    run_add(r, text);
    run_want(r, LESSON_READ, prompt);
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

void run_open_step(struct lesson_run *r, int step)
{
    r->step = step;
    r->item = r->hints = 0;
    r->next = step + 1;
    progress_now(r->db, r->lesson->name, step);
    r->retried = false;
    run_forget_rows(r);
    char *why = missing(r, run_stage(r));
    int from = why ? -1 : carry_source(r, step);
    r->skipping = why != NULL;
    if (from >= 0 && !missing_here(r, from)) {
        offer_source(r, from);
    } else if (why || from >= 0) {
        why = why ? why : no_source(r, from);
        run_add(r, why);
        run_add(r, "It is left out here and recorded as skipped; the text stays in the file.");
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
    r->own_figures = width <= 0;
    r->width = width <= 0          ? INT_MAX
               : width < WIDTH_MIN ? WIDTH_MIN
               : width > WIDTH_MAX ? WIDTH_MAX
                                   : width;
    values_init(&r->values);
    values_set(&r->values, "cores", host_usable_cpus());
    carry_load(r);
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
    free(r->command);
    free(r->options);
    source_lines_clear(&r->source);
    free(r);
}

const struct lesson_screen *lesson_step(const struct lesson_run *r)
{
    return &r->screen;
}
