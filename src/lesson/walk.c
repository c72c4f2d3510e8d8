/* walk.c - takes a step of a lesson as a learner would.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

enum { TURNS_MAX = 100, TRIES = 3 };

struct session *walk_session(const struct session *s)
{
    struct session *own = session_new(s->program);
    own->front = s->front;
    own->front.note = NULL;   /* what a step has to say is for learners */
    own->front.output = NULL; /* and so is what its commands print */
    own->store_failed = true; /* nothing is kept */
    own->restricted = true;
    options_copy(&own->options, &s->options);
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

/* What is typed at a question. The caller frees. */
static char *reply(const struct lesson_run *r, const struct values *outcomes)
{
    const struct item *it = run_item(r);
    const double known = outcomes ? walk_outcome(outcomes, r->step, it->name) : REAL_UNKNOWN;
    if (r->screen.want == LESSON_NUMBER)
        return isnan(known) ? xstrdup("1") : xasprintf("%.17g", known);
    const bool right = known >= 1 && known <= (double)it->noptions;
    return xasprintf("%d", right ? (int)known : 1);
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
static bool turn(struct lesson_run *r, const struct values *outcomes, struct str *out, int *tries,
                 struct walk_end *end)
{
    const enum lesson_want want = lesson_step(r)->want;
    if (want == LESSON_READ || want == LESSON_DONE) {
        end->finished = true;
        return false;
    }
    if (want == LESSON_RETRY && ++*tries > TRIES)
        return false;
    const bool asks = want == LESSON_NUMBER || want == LESSON_CHOICE;
    char *input = asks ? reply(r, outcomes) : xstrdup("");
    end->why = ERR_INIT;
    const enum status st = lesson_answer(r, input, out, &end->why);
    free(input);
    str_clear(out);
    end->command = st != ST_OK;
    return st == ST_OK || (st != ST_CANCELLED && *tries < TRIES && want == LESSON_RUN);
}

void walk_step(struct session *own, const struct lesson *l, int step, struct values *outcomes,
               walk_look *look, void *ctx, struct walk_end *end)
{
    struct lesson_run *r = lesson_run_new(own, l, step, 80);
    struct str out = {0};
    int tries = 0;
    *end = (struct walk_end){.left_out = r->skipping, .why = ERR_INIT};
    for (int i = 0; i < TURNS_MAX && !end->left_out; i++) {
        if (look)
            look(ctx, r, false);
        if (!turn(r, outcomes, &out, &tries, end))
            break;
    }
    if (look && !end->left_out)
        look(ctx, r, true);
    if (outcomes)
        note_outcomes(r, outcomes);
    lesson_run_free(r);
    str_free(&out);
}

bool walk_is_timeless(const struct lesson_stage *stage)
{
    static const char *const timeless[] = {"plan", "occupancy", "trace", "kernels", "source", NULL};
    for (size_t i = 0; i < stage->nitems; i++) {
        const char *text = stage->items[i].kind == ITEM_RUN ? stage->items[i].text : NULL;
        const size_t len = text ? strcspn(text, " ") : 0;
        bool known = !text || (str_starts(text, "timeline ") && strstr(text, " origin=model"));
        for (int k = 0; text && timeless[k] && !known; k++)
            known = strlen(timeless[k]) == len && strncmp(timeless[k], text, len) == 0;
        if (!known)
            return false;
    }
    return true;
}
