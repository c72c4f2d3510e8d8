/* run.h - the inside of a walk through a lesson, for those who check lessons; learners and front ends
 * see lesson.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_RUN_H
#define ATTNSCOPE_LESSON_RUN_H

#include "lesson/text/parsed.h"
#include "lesson/text/values.h"
#include "lesson/text/where.h"

struct lesson_run {
    struct session *session;
    const struct lesson *lesson;
    struct sqlite3 *db; /* progress, or NULL */
    int width;
    int step;
    int next;         /* where Enter leads from here */
    size_t item;      /* the one that waits, of the step's items */
    size_t hints;     /* given in this step */
    bool skipping;    /* the step cannot be done here */
    bool own_figures; /* the front end draws them */
    bool no_gpu;      /* there seemed to be one, but none could be measured */
    bool retried;     /* its commands ran before: predictions are on record */
    struct values values;
    struct str text; /* new prose */
    char *prompt;
    char *command;                 /* LESSON_RUN: what Enter runs */
    struct lesson_option *options; /* of the waiting question */
    struct source_lines source;    /* of the waiting `where` */
    struct lesson_screen screen;
};

const struct lesson_stage *run_stage(const struct lesson_run *r);
const struct item *run_item(const struct lesson_run *r); /* the one that waits */
/* Begins again at the first step, with figures left to the caller. */
void run_without_figures(struct lesson_run *r);

#endif
