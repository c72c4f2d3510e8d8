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
    json_t *rows;
    int step, problems;
    int lines, columns; /* of the largest screen of the step */
    int shut;           /* steps whose gates stayed so */
    char *device;       /* where its last row comes from; NULL: nowhere; owned */
};

static const double enough_margin = 0.05;

/* Takes the text over. The row is the checker's. */
static json_t *find(struct checker *c, const char *check, const char *result, char *detail)
{
    json_t *row = json_pack("{s:s, s:o, s:s, s:s, s:o}", "lesson", c->lesson->name, "step",
                            c->step < 0 ? json_null() : json_integer(c->step + 1), "check", check,
                            "result", result, "detail", detail ? json_string(detail) : json_null());
    c->problems += strcmp(result, "problem") == 0;
    json_array_append_new(c->rows, row);
    free(detail);
    return row;
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
    json_t *row;
    if (gate_holds_anyway(it->expr))
        row = find(c, "gate", "problem", xasprintf("%s holds without any command", gate));
    else if (margin == 0 && !holds)
        row = find(c, "gate", "problem", xasprintf("%s does not hold: %s", gate, str_text(&seen)));
    else if (margin < enough_margin)
        row = find(c, "gate", "problem",
                   xasprintf("%s has no room for noise of 5 %%: %s", gate, str_text(&seen)));
    else if (isinf(margin))
        row = find(c, "gate", "ok", xasprintf("%s; nothing in it was measured", gate));
    else
        row =
            find(c, "gate", "ok", xasprintf("%s; holds with noise of %.0f %%", gate, margin * 100));
    json_object_set_new(row, "gate", json_string(gate));
    json_object_set_new(row, "values", json_string(str_text(&seen)));
    json_object_set_new(row, "holds", json_boolean(holds));
    json_object_set_new(row, "margin", isinf(margin) ? json_null() : json_real(margin));
    str_free(&seen);
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
    json_t *lost = page_lost(c->own, run_stage(r), command, text);
    begin_step(c, r->step);
    for (size_t i = 0; i < json_array_size(lost); i++)
        find(c, "page", "problem", xstrdup(json_string_value(json_array_get(lost, i))));
    json_decref(lost);
}

/* How the step went, as a row that has its figures apart, too. */
static void find_run(struct checker *c, const struct walk_end *end)
{
    json_t *row;
    if (end->left_out)
        row = find(c, "runs", "left out", xstrdup(end->why.text));
    else if (end->command)
        row = find(c, "runs", "problem", xasprintf("a command fails: %s", end->why.text));
    else
        row = find(c, "runs", end->finished ? "ok" : "note",
                   xasprintf("%s after %.1f s%s%s", end->finished ? "through" : "stopped",
                             end->seconds, c->device ? ", on " : "", c->device ? c->device : ""));
    json_object_set_new(row, "title", json_string(c->lesson->steps[c->step].title));
    json_object_set_new(row, "finished", json_boolean(end->finished));
    json_object_set_new(row, "seconds", json_real(end->seconds));
    json_object_set_new(row, "device", c->device ? json_string(c->device) : json_null());
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
int lesson_check_steps(struct session *own, const struct lesson *l, bool right, json_t *rows)
{
    struct values outcomes;
    struct checker c;
    json_t *found = json_array();
    values_init(&outcomes);
    own->front.width = PAGE_COLUMNS;
    for (int tries = 0; tries < 2; tries++) {
        json_array_clear(found);
        c = (struct checker){.own = own, .lesson = l, .rows = found, .step = -1};
        const struct walk walk = {
            .outcomes = &outcomes, .look = look, .printed = printed, .ended = ended, .ctx = &c};
        walk_lesson(own, l, &walk);
        free(c.device);
        if (!c.shut && !right)
            break;
    }
    json_array_extend(rows, found);
    json_decref(found);
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
                      json_t *rows)
{
    struct checker c = {.lesson = l, .rows = rows, .step = -1};
    json_t *terms = text_terms(text, len), *capitals = text_capitals(text, len);
    check_minutes(&c);
    for (size_t i = 0; i < json_array_size(terms); i++) {
        const char *term = json_string_value(json_array_get(terms, i));
        if (!glossary_knows(term))
            find(&c, "terms", "problem",
                 xasprintf("*%s* is not in the glossary; \"**\" marks stress", term));
    }
    for (size_t i = 0; i < json_array_size(capitals); i++) {
        const char *word = json_string_value(json_array_get(capitals, i));
        if (!glossary_mentions(word) && !is_param(s->services.registry, word))
            find(&c, "terms", "note", xasprintf("the glossary does not mention %s", word));
    }
    if (strstr(text, "TODO"))
        find(&c, "text", "problem", xstrdup("TODO is left in it"));
    json_decref(terms);
    json_decref(capitals);
    return c.problems;
}
