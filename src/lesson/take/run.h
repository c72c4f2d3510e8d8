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

void run_want(struct lesson_run *r, enum lesson_want want, const char *prompt);
void run_offer_retry(struct lesson_run *r);
void run_new_text(struct lesson_run *r); /* what was shown is over */
/* A paragraph of new text; the second one's {EXPR} are filled in. */
void run_add(struct lesson_run *r, const char *text);
void run_add_filled(struct lesson_run *r, const char *text);
void run_forget_rows(struct lesson_run *r);

/* Works off the step's items from r->item on, until one needs the learner or the step is over. */
void run_advance(struct lesson_run *r);
void run_open_step(struct lesson_run *r, int step);
/* Points the screen to the buffers, which may have moved; last thing of every public call. */
void run_refresh(struct lesson_run *r);

/* ---- reveal.c ---- */

void run_reveal(struct lesson_run *r, const struct item *it);

/* ---- carry.c ---- */

/* Sets a value for this and later steps, and puts it on record. */
void run_keep(struct lesson_run *r, const char *name, double v);
void run_set_guess(struct lesson_run *r, const char *name, double v);
/* Takes what is on record. */
void carry_load(struct lesson_run *r);
/* The earlier step whose values step `step` needs and which are unknown; -1: none. */
int carry_source(const struct lesson_run *r, int step);

/* ---- step_figure.c ---- */

enum status run_draw_figure(struct lesson_run *r, const struct item *it, int width, struct str *out,
                            struct err *err);

/* ---- words.c ---- */

/* A term of the glossary or a figure's name. ST_USAGE with the nearest. */
enum status explain_word(struct lesson_run *r, const char *word, struct str *out, struct err *err);

/* ---- recorded.c ---- */

/* Are the recorded rows shown, instead of measuring? */
bool recorded_is_meant(const struct lesson_run *r, const struct item *it);
/* What Enter runs for a command of the lesson; the caller frees. */
char *recorded_command(const struct lesson_run *r, const struct item *it);
/* Whence the figures come, in a sentence; the caller frees. */
char *recorded_note(struct session *s, const struct item *it);

#endif
