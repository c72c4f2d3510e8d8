/* walk.c - takes a lesson as a learner would.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/author/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "lesson/text/question.h"

enum { TURNS_MAX = 100, TRIES = 3 };

struct session *walk_session(const struct session *s)
{
    struct session *own = session_new(s->program);
    own->front = s->front;
    own->front.note = NULL;            /* what a step has to say is for learners */
    own->front.output = NULL;          /* and so is what its commands print */
    own->services.store_failed = true; /* nothing is kept */
    own->may = s->may & session_kinds[SESSION_LESSON].may;
    options_copy(&own->settings.options, &s->settings.options);
    return own;
}

static char *outcome_name(int step, const char *name)
{
    return xasprintf("%d.%s", step, name);
}

double walk_outcome(const struct values *outcomes, int step, const char *name)
{
    char *full = outcome_name(step, name);
    const double v = values_get(outcomes, full);
    free(full);
    return v;
}

/* What is typed at what waits. The caller frees. */
static char *reply(const struct lesson_run *r, const struct values *outcomes)
{
    const enum lesson_want want = r->screen.want;
    const bool asks = want == LESSON_NUMBER || want == LESSON_CHOICE || want == LESSON_ORDER ||
                      want == LESSON_LINE;
    if (!asks)
        return xstrdup("");
    const struct item *it = run_item(r);
    const double known = outcomes ? walk_outcome(outcomes, r->step, it->name) : REAL_UNKNOWN;
    return question_typed(it, &r->source, known);
}

static void note_outcomes(const struct lesson_run *r, struct values *outcomes)
{
    const struct lesson_stage *at = run_stage(r);
    for (size_t i = 0; i < at->nitems; i++)
        if (at->items[i].kind == ITEM_REVEAL) {
            char *name = outcome_name(r->step, at->items[i].name);
            values_set(outcomes, name, values_get(&r->values, at->items[i].name));
            free(name);
        }
}

/* One turn; false when the step can go no further. */
static bool turn(struct lesson_run *r, const struct walk *w, struct str *out, int *tries,
                 struct walk_end *end)
{
    const enum lesson_want want = lesson_step(r)->want;
    if (want == LESSON_READ || want == LESSON_DONE) {
        end->finished = true;
        return false;
    }
    if (want == LESSON_RETRY && ++*tries > TRIES)
        return false;
    char *input = reply(r, w->outcomes), *command = xstrdup(r->command ? r->command : "");
    end->why = ERR_INIT;
    const enum status st = lesson_answer(r, input, out, &end->why);
    free(input);
    if (w->printed && want == LESSON_RUN && st == ST_OK)
        w->printed(w->ctx, r, command, str_text(out));
    free(command);
    str_clear(out);
    end->command = st != ST_OK;
    return st == ST_OK || (st != ST_CANCELLED && *tries < TRIES && want == LESSON_RUN);
}

/* Is the step at hand one that cannot be begun here? */
static bool is_shut(const struct lesson_run *r)
{
    return r->skipping || r->next <= r->step;
}

/* The first paragraph of its screen says why; without its line ends. */
static void say_shut(const struct lesson_run *r, struct err *why)
{
    const char *text = str_text(&r->text), *end = strstr(text, "\n\n");
    char *line = xstrndup(text, end ? (size_t)(end - text) : strlen(text));
    for (char *p = line; (p = strchr(p, '\n'));)
        *p = p[1] ? ' ' : 0;
    err_set(why, ST_NO, "%s", line);
    free(line);
}

static void walk_step(struct lesson_run *r, const struct walk *w, struct walk_end *end)
{
    struct str out = {0};
    int tries = 0;
    const double start = seconds_now();
    *end = (struct walk_end){.left_out = is_shut(r) || (w->take && !w->take(w->ctx, r->step)),
                             .why = ERR_INIT};
    if (is_shut(r))
        say_shut(r, &end->why);
    for (int i = 0; i < TURNS_MAX && !end->left_out; i++) {
        if (w->look)
            w->look(w->ctx, r, false);
        if (!turn(r, w, &out, &tries, end))
            break;
    }
    end->seconds = seconds_now() - start;
    if (w->look && !end->left_out)
        w->look(w->ctx, r, true);
    if (w->outcomes && !end->left_out)
        note_outcomes(r, w->outcomes);
    str_free(&out);
}

void walk_lesson(struct session *own, const struct lesson *l, const struct walk *w)
{
    struct lesson_run *r = lesson_run_new(own, l, 0, 80);
    struct str out = {0};
    struct err err = ERR_INIT;
    run_without_figures(r);
    for (int step = 0; step < lesson_steps(l); step++) {
        struct walk_end end;
        walk_step(r, w, &end);
        if (w->ended)
            w->ended(w->ctx, step, &end);
        (void)lesson_answer(r, end.finished ? "" : "skip", &out, &err);
        str_clear(&out);
    }
    lesson_run_free(r);
    str_free(&out);
}

/* Does it name a backend without times? */
static bool has_no_clock(const char *text)
{
    const char *at = strstr(text, " backend=");
    at = at ? strchr(at, '=') + 1 : "";
    char *name = xstrndup(at, strcspn(at, " "));
    const struct backend_info *b = backend_info(name);
    free(name);
    return b && !b->times;
}

bool walk_is_timeless(const struct lesson_stage *stage)
{
    static const char *const timeless[] = {"plan",   "occupancy", "trace", "open", "kernels",
                                           "source", "sanitize",  "debug", NULL};
    for (size_t i = 0; i < stage->nitems; i++) {
        const char *text = stage->items[i].kind == ITEM_RUN ? stage->items[i].text : NULL;
        const size_t len = text ? strcspn(text, " ") : 0;
        bool known = !text || (str_starts(text, "timeline ") && strstr(text, " origin=model")) ||
                     has_no_clock(text);
        for (int k = 0; text && timeless[k] && !known; k++)
            known = strlen(timeless[k]) == len && strncmp(timeless[k], text, len) == 0 &&
                    !str_starts(text, "trace calls"); /* which has a clock */
        if (!known)
            return false;
    }
    return true;
}
