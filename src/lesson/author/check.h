/* check.h - what makes a lesson fit to be taught, as far as a program can tell.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_CHECK_H
#define ATTNSCOPE_LESSON_CHECK_H

#include "lesson/author/walk.h"

/* ---- check_gate.c: gates, without running anything ---- */

/* Does the gate hold although no command was run? Then it asks for nothing. */
bool gate_holds_anyway(const struct expr *gate);
/* By how much times and rates of the measured rows may be off, each on its own and in the worst
 * combination, with the gate still open: 0.1 is 10 %. Infinite where nothing in it was measured, 0
 * where it does not hold at all. */
double gate_margin(const struct values *v, const struct expr *gate);

/* ---- check_text.c: what is written ---- */

/* Words set in *italics*, each once: the terms that a lesson introduces. The caller clears them. */
struct texts text_terms(const char *text, size_t len);
/* Abbreviations in capitals, likewise. */
struct texts text_capitals(const char *text, size_t len);
/* Is there an entry of that name, in the singular or the plural, whatever the case? */
bool glossary_knows(const char *term);
/* Does any entry, its sentences included, mention the word? */
bool glossary_mentions(const char *word);

/* A screen of 80 x 24; what stands in the page of the Lessons screen has 76 columns there. */
enum { SCREEN_LINES = 24, SCREEN_COLUMNS = 80, PAGE_COLUMNS = 76 };

/* ---- check_page.c: what a page loses ---- */

/* Of what a command of the step printed for a page: a sentence for lines that are longer, and for each
 * column that its table leaves out or cuts although the step speaks of it (text/speech.h). The rows are those
 * that the session has last. The caller clears them. */
struct texts page_lost(struct session *s, const struct lesson_stage *at, const char *command,
                       const char *printed);

/* ---- check.c ---- */

/* A finding. Those of check "gate" and "runs" have figures besides, which the others lack. */
struct check_row {
    char *lesson;
    int64_t step;                  /* unknown: the whole */
    char *check, *result, *detail; /* result: "ok" "problem" "note" "left out" */
    char *gate, *values;           /* "gate": what it asks; the same with its values */
    int holds;
    double margin;        /* endless: nothing in it was measured */
    char *title, *device; /* "runs" */
    int finished;
    double seconds;
};
extern const struct field check_fields[];
extern const struct row_type check_type; /* of a finding without figures */

/* Appends findings to `rows`. Steps are walked in `own`, a walk_session(), and once more if a gate stays shut,
 * or with `right`: then all questions are answered right. The number of problems. */
int lesson_check_steps(struct session *own, const struct lesson *l, bool right,
                       struct rowset *rows);
int lesson_check_text(const struct session *s, const struct lesson *l, const char *text, size_t len,
                      struct rowset *rows);

#endif
