/* progress.h - what a learner has done, predicted and found out, in tables of the results file.
 *
 * Lessons are known by their name, steps by their title, so that a lesson may grow without losing
 * what was done. All functions do nothing when `db` is NULL.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_PROGRESS_H
#define ATTNSCOPE_LESSON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "command/session.h"

struct lesson;

enum progress { PROGRESS_NONE, PROGRESS_SKIPPED, PROGRESS_DONE };

/* One prediction and what came of it. `device` is where the outcome was measured. */
struct prediction {
    const char *lesson, *step, *name;
    double guess, outcome; /* as numbers, see text/question.h */
    bool right;
    const char *device; /* NULL unknown */
};

/* The session's results file with these tables in place; NULL: it cannot be opened, which was noted. */
struct sqlite3 *progress_db(struct session *s);
/* Creates the tables; ST_FAIL with a sentence when the file cannot be written. */
enum status progress_open(struct sqlite3 *db, struct err *err);
enum progress progress_get(struct sqlite3 *db, const char *lesson, const char *step);
/* How many of the lesson's steps are done. */
int progress_steps_done(struct sqlite3 *db, const struct lesson *l);
/* A step that is done never falls back to skipped. */
enum status progress_set(struct sqlite3 *db, const char *lesson, const char *step,
                         enum progress state, struct err *err);
enum status progress_predict(struct sqlite3 *db, const struct prediction *p, struct err *err);
/* Questions of a lesson that were answered so far, and how many of them right: of each the first answer,
 * whatever came later, as `lesson grade` counts. */
void progress_score(struct sqlite3 *db, const char *lesson, int *made, int *right);
/* Values for later steps: kept ones, predictions ("guess.x") and outcomes. An unknown one takes its
 * predecessor's place, and is not there. */
enum status progress_keep(struct sqlite3 *db, const char *lesson, const char *name, double value,
                          struct err *err);
void progress_kept(struct sqlite3 *db, const char *lesson,
                   void (*take)(void *ctx, const char *name, double value), void *ctx);
/* Where the learner is: the step that was opened last, in any lesson, from 0. What another process
 * follows. */
void progress_now(struct sqlite3 *db, const char *lesson, int step);
struct progress_place {
    char lesson[64];
    int step;
    int64_t serial; /* grows with every step that is opened */
};
/* False: no lesson was ever taken. */
bool progress_where(struct sqlite3 *db, struct progress_place *out);
/* Forgets how far a lesson was taken, and what it kept. First answers stay: who begins anew knows what
 * came out. */
enum status progress_clear(struct sqlite3 *db, const char *lesson, struct err *err);

#endif
