/* run.h - the state of a walk through a lesson, shared by run.c (what is shown) and answer.c (what
 * is done with an answer).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_RUN_H
#define ATTNSCOPE_LESSON_RUN_H

#include "lesson/internal.h"

struct lesson_run {
    struct session *session;
    const struct lesson *lesson;
    struct sqlite3 *db; /* progress, or NULL */
    int width;
    int step;
    size_t item;   /* the one that waits, of the step's items */
    size_t hints;  /* given in this step */
    bool skipping; /* the step cannot be done here */
    bool retried;  /* its commands ran before: predictions are on record */
    struct values values;
    struct str text; /* new prose */
    char *prompt;
    struct lesson_option *options; /* of the waiting choice */
    struct lesson_screen screen;
};

const struct lesson_stage *run_stage(const struct lesson_run *r);
const struct item *run_item(const struct lesson_run *r); /* the one that waits */

void run_want(struct lesson_run *r, enum lesson_want want, const char *prompt);
void run_offer_retry(struct lesson_run *r);
void run_new_text(struct lesson_run *r); /* what was shown is over */
void run_set_guess(struct lesson_run *r, const char *name, double v);
void run_forget_rows(struct lesson_run *r);

/* Works off the step's items from r->item on, until one needs the learner or the step is over. */
void run_advance(struct lesson_run *r);
void run_open_step(struct lesson_run *r, int step);
/* Points the screen to the buffers, which may have moved; last thing of every public call. */
void run_refresh(struct lesson_run *r);

#endif
