/* walk.h - lessons worked off by the program itself, as a learner would: for `lesson check`, which
 * holds an author's gates against what comes out, and for `lesson grade`, which holds what a pack
 * claims against it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_WALK_H
#define ATTNSCOPE_LESSON_WALK_H

#include "lesson/run.h"

/* A session like `s` whose lessons and measurements leave no trace. Its front end is that of `s`. */
struct session *walk_session(const struct session *s);

/* Sees every screen, and with `over` the end, when all of the step's values are there. */
typedef void walk_look(void *ctx, const struct lesson_run *r, bool over);

struct walk_end {
    bool finished; /* every command ran and every gate opened */
    bool left_out; /* the step needs what this machine lacks */
    bool command;  /* a command failed: `why` says how */
    struct err why;
};
/* Takes step `step` of `l`: answers every question, the right way where `outcomes` (may be NULL) knows
 * it as "STEP.NAME", runs every command. `look` may be NULL. The outcomes of the step's questions are
 * added to `outcomes`. */
void walk_step(struct session *own, const struct lesson *l, int step, struct values *outcomes,
               walk_look *look, void *ctx, struct walk_end *end);
/* The outcome of a question as walk_step() left it, or NaN. */
double walk_outcome(const struct values *outcomes, int step, const char *name);

/* Do the step's commands compute and look up, without measuring? Then their outcome is the same
 * everywhere. */
bool walk_is_timeless(const struct lesson_stage *stage);

#endif
