/* question.h - the questions of a lesson: how an answer is read and typed, what came out, whether the
 * answer is right, and how both are told.
 *
 * One judgement serves the learner, the walk of `lesson check` and `lesson grade`. Answers and outcomes
 * are numbers: of predict itself; of choice the option's, from 1; of where the line's; of order the digits
 * of its items from 1, smallest first, with 0 between two that are alike: 312 is the third, the first, the
 * second; 3012 the third and the first alike.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_QUESTION_H
#define ATTNSCOPE_LESSON_QUESTION_H

#include "lesson/text/parsed.h"
#include "lesson/text/values.h"
#include "lesson/text/where.h"

enum { ORDER_ITEMS_MAX = 2 * ORDER_MAX }; /* digits of an order */

/* Reads what was typed. `lines`: of where, as they are shown; else NULL. ST_USAGE says what may be
 * typed. A number may have the unit that the question names behind it. Options and items are known by their word, its beginning if that is unique, or their number;
 * items by a letter, too, and letters alone may stand without blanks, "bca". */
enum status question_read(const struct item *q, const struct source_lines *lines, const char *typed,
                          double *answer, struct err *err);
/* What one types for that answer; NaN: something that will do. The caller frees. */
char *question_typed(const struct item *q, const struct source_lines *lines, double answer);

/* What came out, NaN where that is unknown: the value; the first option that holds; the order of the
 * items' values, where one within the tolerance of the one before is alike; the right line that is
 * nearest to the answer. */
double question_outcome(struct session *s, const struct item *q, const struct values *v,
                        double answer);
/* How many options of a choice hold. */
int question_options_held(const struct item *q, const struct values *v);
/* Predict: within the tolerance of the outcome. Order: nothing that came out apart was said the other
 * way round, or alike. Else: the same. An unknown outcome makes nothing right. */
bool question_right(const struct item *q, double answer, double outcome);

/* Appends the answer beside the outcome, in a sentence: "You said 3; it is 4. That is within 30 %." */
void question_tell(struct session *s, const struct item *q, const struct values *v, double answer,
                   double outcome, struct str *out);
/* Appends what came out, in a word: 4, "slow", fa2 1.20 < naive 3.00. */
void question_show(const struct item *q, const struct values *v, double outcome, struct str *out);

#endif
