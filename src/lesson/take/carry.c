/* carry.c - what a step takes over from earlier ones: kept values, predictions and their outcomes.
 *
 * They are on record, so that a lesson can be left and taken up again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "lesson/take/progress.h"
#include "lesson/take/run.h"

void run_keep(struct lesson_run *r, const char *name, double v)
{
    struct err err = ERR_INIT;
    values_set(&r->values, name, v);
    if (progress_keep(r->db, r->lesson->name, name, v, &err) != ST_OK)
        session_note(r->session, "%s", err.text);
}

void run_set_guess(struct lesson_run *r, const char *name, double v)
{
    char *full = xasprintf("guess.%s", name);
    run_keep(r, full, v);
    free(full);
}

static void take(void *ctx, const char *name, double v)
{
    values_set(ctx, name, v);
}

void carry_load(struct lesson_run *r)
{
    progress_kept(r->db, r->lesson->name, take, &r->values);
}

/* ---- who needs what ---- */

static bool gives(const struct lesson_stage *step, const char *name)
{
    for (size_t i = 0; i < step->nitems; i++)
        if (step->items[i].name && strcmp(step->items[i].name, name) == 0)
            return true;
    return false;
}

/* "guess.x" and "x" come from the same step. */
static const char *stem(const char *name)
{
    return str_starts(name, "guess.") ? name + strlen("guess.") : name;
}

static bool is_given(const char *name)
{
    return *name == '$' || strcmp(name, "cores") == 0;
}

int carry_step(const struct lesson *l, int step, const char *name)
{
    for (int i = step; i >= 0; i--)
        if (gives(&l->steps[i], stem(name)))
            return i;
    return -1;
}

void stage_names(const struct lesson_stage *step, void (*visit)(void *ctx, const char *name),
                 void *ctx)
{
    for (size_t i = 0; i < step->nitems; i++) {
        const struct item *it = &step->items[i];
        if (it->expr)
            expr_names(it->expr, visit, ctx);
        for (size_t k = 0; k < it->noptions; k++)
            if (it->options[k].when)
                expr_names(it->options[k].when, visit, ctx);
        if (it->kind == ITEM_SAY || it->kind == ITEM_REVEAL)
            values_text_names(it->text, visit, ctx);
    }
}

struct search {
    const struct lesson_run *r;
    int step, found; /* the latest earlier step that gives something unknown; -1: none */
};

static void look(void *ctx, const char *name)
{
    struct search *s = ctx;
    if (is_given(name) || !isnan(values_get(&s->r->values, name)))
        return;
    const int from = carry_step(s->r->lesson, s->step, name);
    if (from >= 0 && from < s->step && from > s->found)
        s->found = from;
}

int carry_source(const struct lesson_run *r, int step)
{
    struct search s = {r, step, -1};
    stage_names(&r->lesson->steps[step], look, &s);
    return s.found;
}

/* ---- for the parser ---- */

struct check {
    const struct lesson *l;
    int step;
    char *unknown;
};

static void check_name(void *ctx, const char *name)
{
    struct check *c = ctx;
    if (!c->unknown && !is_given(name) && carry_step(c->l, c->step, name) < 0)
        c->unknown = xstrdup(name);
}

char *carry_unknown(const struct lesson *l, int step)
{
    struct check c = {l, step, NULL};
    stage_names(&l->steps[step], check_name, &c);
    return c.unknown;
}
