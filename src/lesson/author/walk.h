/* walk.h - lessons worked off by the program itself, as a learner would: for `lesson check`, which
 * holds an author's gates against what comes out, and for `lesson grade`, which holds what a pack
 * claims against it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_WALK_H
#define ATTNSCOPE_LESSON_WALK_H

#include "lesson/take/run.h"

/* A session like `s` whose lessons and measurements leave no trace. Its front end is that of `s`. */
struct session *walk_session(const struct session *s);

struct walk_end {
    bool finished;  /* every command ran and every gate opened */
    bool left_out;  /* not taken, or the step needs what this machine or an earlier step lacks */
    bool command;   /* a command failed: `why` says how */
    struct err why; /* left out: what is lacking */
    double seconds;
};

/* All hooks may be NULL. */
struct walk {
    struct values
        *outcomes; /* of questions, as "STEP.NAME": known ones are answered right, and those
                                that come out are added */
    bool (*take)(void *ctx, int step); /* false: the step is skipped */
    /* Every screen; with `over` the end of a step that was taken, when all of its values are there. */
    void (*look)(void *ctx, const struct lesson_run *r, bool over);
    /* A command of the step, and what it printed; its rows are the session's last. */
    void (*printed)(void *ctx, const struct lesson_run *r, const char *command, const char *text);
    void (*ended)(void *ctx, int step, const struct walk_end *end);
    void *ctx;
};
/* Takes the lesson from its first step to its last: answers every question, runs every command. Figures
 * are left out. */
void walk_lesson(struct session *own, const struct lesson *l, const struct walk *w);
/* The outcome of a question as walk_lesson() left it, or NaN. */
double walk_outcome(const struct values *outcomes, int step, const char *name);

/* Do the step's commands compute and look up, without measuring? Then their outcome is the same
 * everywhere. */
bool walk_is_timeless(const struct lesson_stage *stage);

#endif
