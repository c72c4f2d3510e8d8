/* check.c - holds a lesson against what makes one fit to be taught: every step runs here, its gates
 * open on what comes out, do not open on nothing, and have room for noise; questions have one answer;
 * screens fit; terms can be looked up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/author/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "lesson/take/step_figure.h"
#include "lesson/text/question.h"
#include "lesson/text/wrap.h"

struct checker {
    struct session *own;
    const struct lesson *lesson;
    struct rowset *rows;
    int step, problems;
    int lines, columns; /* of the largest screen of the step */
    int shut;           /* steps whose gates stayed so */
    char *device;       /* where its last row comes from; NULL: nowhere; owned */
};

static const double enough_margin = 0.05;

// clang-format off
const struct field check_fields[] = {
    FIELD(FIELD_TEXT, check_row, lesson, .doc = "The lesson."),
    FIELD(FIELD_INT,  check_row, step, .doc = "Its step, from 1; unknown: it is about the whole."),
    FIELD(FIELD_TEXT, check_row, check, .doc = "What was looked at."),
    FIELD(FIELD_TEXT, check_row, result, .doc = "ok, problem, note or left out."),
    FIELD(FIELD_TEXT, check_row, detail, .doc = "What was found."),
    FIELD(FIELD_TEXT, check_row, gate, .doc = "What the gate asks."),
    FIELD(FIELD_TEXT, check_row, values, .doc = "The same with its values."),
    FIELD(FIELD_BOOL, check_row, holds, .doc = "Is the gate open?"),
    FIELD(FIELD_REAL, check_row, margin, .doc = "By how much what was measured may be off with the gate still open; 0.1 is 10 %."),
    FIELD(FIELD_TEXT, check_row, title, .doc = "The heading of the step."),
    FIELD(FIELD_BOOL, check_row, finished, .doc = "Did the step come to its end?"),
    FIELD(FIELD_REAL, check_row, seconds, .unit = "s", .doc = "How long it took."),
    FIELD(FIELD_TEXT, check_row, device, .doc = "Where its last row comes from."),
    {.name = NULL},
};
// clang-format on

#define CHECK_TYPE(...)                                                 \
    {                                                                   \
        .size = sizeof(struct check_row), .parts = {{check_fields, 0}}, \
        .order = (const char *const[])                                  \
        {                                                               \
            "lesson", "step", "check", "result", "detail", __VA_ARGS__  \
        }                                                               \
    }
const struct row_type check_type = CHECK_TYPE(NULL);
static const struct row_type gate_type = CHECK_TYPE("gate", "values", "holds", "margin", NULL);
static const struct row_type runs_type = CHECK_TYPE("title", "finished", "seconds", "device", NULL);

/* Takes the text over. Whoever has figures besides adds them to the row. */
static struct check_row *find_as(struct checker *c, const struct row_type *type, const char *check,
                                 const char *result, char *detail)
{
    struct row *row = row_new(type);
    struct check_row *r = row_data(row);
    rowset_take(c->rows, row);
    r->lesson = xstrdup(c->lesson->name);
    r->step = c->step < 0 ? INT_UNKNOWN : c->step + 1;
    r->check = xstrdup(check);
    r->result = xstrdup(result);
    r->detail = detail;
    c->problems += strcmp(result, "problem") == 0;
    return r;
}

static void find(struct checker *c, const char *check, const char *result, char *detail)
{
    (void)find_as(c, &check_type, check, result, detail);
}

/* ---- questions and gates, from the values at the end of a step ---- */

static void check_number(struct checker *c, const struct values *v, const struct item *q)
{
    char text[NUMBER_BUF];
    const double outcome = question_outcome(c->own, q, v, REAL_UNKNOWN);
    if (isnan(outcome))
        find(c, "question", "problem",
             xasprintf("%s has no outcome: %s", q->name, expr_text(q->expr)));
    else if (q->within >= 1)
        find(c, "question", "problem",
             xasprintf("%s: within %.0f %% even nothing is right", q->name, q->within * 100));
    else
        find(c, "question", "ok",
             xasprintf("%s is %s here", q->name, number_fmt(text, outcome, 4)));
}

static void check_choice(struct checker *c, const struct values *v, const struct item *q)
{
    const int held = question_options_held(q, v);
    struct str word = {0};
    question_show(q, v, question_outcome(c->own, q, v, REAL_UNKNOWN), &word);
    if (!held)
        find(c, "question", "problem", xasprintf("%s: no option holds here", q->name));
    else if (held > 1)
        find(c, "question", "note",
             xasprintf("%s: %d options hold; %s counts", q->name, held, str_text(&word)));
    else
        find(c, "question", "ok", xasprintf("%s is %s here", q->name, str_text(&word)));
    str_free(&word);
}

static void check_order(struct checker *c, const struct values *v, const struct item *q)
{
    const double outcome = question_outcome(c->own, q, v, REAL_UNKNOWN);
    struct str text = {0};
    question_show(q, v, outcome, &text);
    if (isnan(outcome))
        find(c, "question", "problem", xasprintf("%s: not all of its values are known", q->name));
    else
        find(c, "question", "ok", xasprintf("%s is %s here", q->name, str_text(&text)));
    str_free(&text);
}

static void check_gate(struct checker *c, const struct values *v, const struct item *it)
{
    const double margin = gate_margin(v, it->expr);
    struct str seen = {0};
    struct expr_env env = values_env(v);
    expr_substitute(it->expr, &env, &seen);
    const char *gate = expr_text(it->expr);
    const bool holds = expr_is_true(values_eval(v, it->expr));
    const char *result = "problem";
    char *detail;
    if (gate_holds_anyway(it->expr))
        detail = xasprintf("%s holds without any command", gate);
    else if (margin == 0 && !holds)
        detail = xasprintf("%s does not hold: %s", gate, str_text(&seen));
    else if (margin < enough_margin)
        detail = xasprintf("%s has no room for noise of 5 %%: %s", gate, str_text(&seen));
    else {
        result = "ok";
        detail = isinf(margin) ? xasprintf("%s; nothing in it was measured", gate)
                               : xasprintf("%s; holds with noise of %.0f %%", gate, margin * 100);
    }
    struct check_row *row = find_as(c, &gate_type, "gate", result, detail);
    row->gate = xstrdup(gate);
    row->values = str_take(&seen);
    row->holds = holds;
    row->margin = margin;
}

/* {EXPR} in what is said. */
static void check_filled(struct checker *c, const struct values *v, const struct item *it)
{
    for (const char *p = it->text; p && (p = strchr(p, '{')); p++) {
        char *field = xstrndup(p, strcspn(p, "}") + 1);
        struct str s = {0};
        values_fill(v, field, &s);
        if (strcmp(str_text(&s), "-") == 0)
            find(c, "text", "problem", xasprintf("%s is unknown here", field));
        str_free(&s);
        free(field);
    }
}

static void check_item(struct checker *c, const struct values *v, const struct item *it)
{
    switch (it->kind) {
    case ITEM_PREDICT:
        check_number(c, v, it);
        break;
    case ITEM_CHOICE:
        check_choice(c, v, it);
        break;
    case ITEM_ORDER:
        check_order(c, v, it);
        break;
    case ITEM_EXPECT:
        check_gate(c, v, it);
        break;
    case ITEM_SAY:
        if (it->expr && !expr_is_true(values_eval(v, it->expr)))
            break;
        check_filled(c, v, it);
        break;
    case ITEM_REVEAL:
        check_filled(c, v, it);
        break;
    default:
        break;
    }
}

/* ---- screens ---- */

/* The listing of a question for a line is left out: it scrolls, as what commands print does. */
static void measure_screen(struct checker *c, const struct lesson_run *r)
{
    const struct lesson_screen *at = &r->screen;
    struct str whole = {0};
    int lines = at->noptions + 4; /* heading, blank, prompt, and a line for what is typed */
    str_add(&whole, at->text);
    if (at->question)
        text_wrap(&whole, at->question, 0, SCREEN_COLUMNS);
    char *rest = str_take(&whole), *text = rest;
    for (char *line; (line = strsep(&rest, "\n"));) {
        const int wide = str_width(line);
        lines += rest != NULL;
        c->columns = wide > c->columns ? wide : c->columns;
    }
    free(text);
    c->lines = lines > c->lines ? lines : c->lines;
}

static void check_screens(struct checker *c)
{
    if (c->lines > SCREEN_LINES || c->columns > SCREEN_COLUMNS)
        find(c, "screen", "problem",
             xasprintf("%d lines of %d columns do not fit %d x %d", c->lines, c->columns,
                       SCREEN_COLUMNS, SCREEN_LINES));
    else
        find(c, "screen", "ok", xasprintf("%d lines of %d columns at most", c->lines, c->columns));
}

/* Lines and columns of a text. */
static void measure_text(const char *text, int *lines, int *columns)
{
    *lines = *columns = 0;
    for (const char *p = text; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] != 0)) {
        char *line = xstrndup(p, strcspn(p, "\n"));
        const int wide = str_width(line);
        free(line);
        ++*lines;
        *columns = wide > *columns ? wide : *columns;
    }
}

static void check_figure(struct checker *c, const struct item *it)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    int lines, columns;
    const enum status st = step_figure_draw(c->own, it, PAGE_COLUMNS, &out, &err);
    measure_text(str_text(&out), &lines, &columns);
    if (st != ST_OK)
        find(c, "figure", "problem", xasprintf("%s: %s", it->text, err.text));
    else if (lines > SCREEN_LINES || columns > PAGE_COLUMNS)
        find(c, "figure", "problem",
             xasprintf("%s: %d lines of %d columns do not fit a page of %d x %d", it->text, lines,
                       columns, PAGE_COLUMNS, SCREEN_LINES));
    else
        find(c, "figure", "ok", xasprintf("%s: %d lines of %d columns", it->text, lines, columns));
    str_free(&out);
}

/* Each by itself: together with the text they scroll, and v shows them alone. */
static void check_figures(struct checker *c)
{
    const struct lesson_stage *at = &c->lesson->steps[c->step];
    for (size_t i = 0; i < at->nitems; i++)
        if (at->items[i].kind == ITEM_FIGURE)
            check_figure(c, &at->items[i]);
}

/* ---- steps ---- */

/* A name hides the kernel of that name: $fa2 would be two things. */
static void check_labels(struct checker *c, const struct lesson_stage *at)
{
    for (size_t i = 0; i < at->nitems; i++) {
        const char *label = at->items[i].label;
        if (label && registry_find(c->own->services.registry, label))
            find(c, "form", "problem",
                 xasprintf("rows are called \"%s\", which is a kernel, too", label));
    }
}

/* Who teaches the step is told what is right, what is said instead, and how long it takes. */
static void check_note(struct checker *c, const struct lesson_stage *at, bool asks)
{
    struct str lacks = {0};
    str_add(&lacks, at->answer ? "" : " answer");
    str_add(&lacks, at->wrong || !asks ? "" : " wrong");
    str_add(&lacks, at->minutes ? "" : " minutes");
    if (lacks.len)
        find(c, "note", "problem", xasprintf("the teacher's note lacks:%s", str_text(&lacks)));
    else
        find(c, "note", "ok", xasprintf("%lld minutes", (long long)at->minutes));
    str_free(&lacks);
}

/* What the lesson says of its length is what its steps take. */
static void check_minutes(struct checker *c)
{
    const struct lesson *l = c->lesson;
    const int steps = lesson_minutes_of(l, 0, lesson_steps(l) - 1);
    if (l->minutes && steps && steps != l->minutes)
        find(c, "note", "problem",
             xasprintf("the lesson says %d minutes, its steps take %d", l->minutes, steps));
}

static void check_form(struct checker *c, const struct lesson_stage *at)
{
    int asked = 0, gates = 0, runs = 0;
    for (size_t i = 0; i < at->nitems; i++) {
        const enum item_kind kind = at->items[i].kind;
        asked += item_asks(&at->items[i]);
        gates += kind == ITEM_EXPECT;
        runs += kind == ITEM_RUN;
    }
    if (runs && !gates)
        find(c, "form", "problem", xstrdup("a step that runs something needs a gate: expect"));
    if (runs && !asked)
        find(c, "form", "note", xstrdup("nothing is predicted before the commands run"));
    if ((asked || gates) && !at->nhints)
        find(c, "form", "problem", xstrdup("there is no hint"));
    check_labels(c, at);
    check_note(c, at, asked > 0);
}

static void begin_step(struct checker *c, int step)
{
    if (step == c->step)
        return;
    c->step = step;
    c->lines = c->columns = 0;
    free(c->device);
    c->device = NULL;
    check_form(c, &c->lesson->steps[step]);
}

static void look(void *ctx, const struct lesson_run *r, bool over)
{
    struct checker *c = ctx;
    const struct lesson_stage *at = run_stage(r);
    begin_step(c, r->step);
    if (!over) {
        measure_screen(c, r);
        return;
    }
    const char *device = values_device(&r->values);
    c->device = device ? xstrdup(device) : NULL;
    for (size_t i = 0; i < at->nitems; i++)
        check_item(c, &r->values, &at->items[i]);
}

/* Takes what a command printed for a page. */
static void printed(void *ctx, const struct lesson_run *r, const char *command, const char *text)
{
    struct checker *c = ctx;
    struct texts lost = page_lost(c->own, run_stage(r), command, text);
    begin_step(c, r->step);
    for (size_t i = 0; i < lost.n; i++)
        find(c, "page", "problem", xstrdup(lost.v[i]));
    texts_clear(&lost);
}

/* How the step went, as a row that has its figures apart, too. */
static void find_run(struct checker *c, const struct walk_end *end)
{
    const char *result = end->left_out ? "left out" : end->command ? "problem" : "note";
    char *detail;
    if (end->left_out)
        detail = xstrdup(end->why.text);
    else if (end->command)
        detail = xasprintf("a command fails: %s", end->why.text);
    else
        detail = xasprintf("%s after %.1f s%s%s", end->finished ? "through" : "stopped",
                           end->seconds, c->device ? ", on " : "", c->device ? c->device : "");
    if (!end->left_out && !end->command && end->finished)
        result = "ok";
    struct check_row *row = find_as(c, &runs_type, "runs", result, detail);
    row->title = xstrdup(c->lesson->steps[c->step].title);
    row->finished = end->finished;
    row->seconds = end->seconds;
    row->device = c->device ? xstrdup(c->device) : NULL;
}

static void ended(void *ctx, int step, const struct walk_end *end)
{
    struct checker *c = ctx;
    begin_step(c, step);
    c->shut += !end->finished && !end->left_out;
    find_run(c, end);
    if (!end->left_out)
        check_screens(c);
    check_figures(c);
}

/* A gate may ask for a right guess: the second walk knows what is right. */
int lesson_check_steps(struct session *own, const struct lesson *l, bool right, struct rowset *rows)
{
    struct values outcomes;
    struct checker c;
    struct rowset found = {.type = &check_type};
    values_init(&outcomes);
    own->front.width = PAGE_COLUMNS;
    for (int tries = 0; tries < 2; tries++) {
        rowset_clear(&found);
        c = (struct checker){.own = own, .lesson = l, .rows = &found, .step = -1};
        const struct walk walk = {
            .outcomes = &outcomes, .look = look, .printed = printed, .ended = ended, .ctx = &c};
        walk_lesson(own, l, &walk);
        free(c.device);
        if (!c.shut && !right)
            break;
    }
    rowset_append(rows, &found);
    rowset_clear(&found);
    values_clear(&outcomes);
    return c.problems;
}

/* "BR", "SPLITS": a parameter of some kernel. */
static bool is_param(const struct registry *r, const char *word)
{
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel_desc *d = registry_at(r, i)->cuda;
        for (int k = 0; d && k < d->nparams; k++)
            if (strcmp(d->params[k].name, word) == 0)
                return true;
    }
    return false;
}

int lesson_check_text(const struct session *s, const struct lesson *l, const char *text, size_t len,
                      struct rowset *rows)
{
    struct checker c = {.lesson = l, .rows = rows, .step = -1};
    struct texts terms = text_terms(text, len), capitals = text_capitals(text, len);
    check_minutes(&c);
    for (size_t i = 0; i < terms.n; i++) {
        const char *term = terms.v[i];
        if (!glossary_knows(term))
            find(&c, "terms", "problem",
                 xasprintf("*%s* is not in the glossary; \"**\" marks stress", term));
    }
    for (size_t i = 0; i < capitals.n; i++) {
        const char *word = capitals.v[i];
        if (!glossary_mentions(word) && !is_param(s->services.registry, word))
            find(&c, "terms", "note", xasprintf("the glossary does not mention %s", word));
    }
    if (strstr(text, "TODO"))
        find(&c, "text", "problem", xstrdup("TODO is left in it"));
    texts_clear(&terms);
    texts_clear(&capitals);
    return c.problems;
}
