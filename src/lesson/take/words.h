/* words.h - words of the trade in a step, and what they mean.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_WORDS_H
#define ATTNSCOPE_LESSON_WORDS_H

#include "lesson/text/parsed.h"

/* Does the step mention a word of the glossary? */
bool words_in(const struct lesson_stage *at);
/* Those words and what they mean, a line each. */
void words_of(const struct lesson_stage *at, struct str *out);
/* Appends what a term of the glossary or a figure's name means. ST_USAGE with the nearest. */
enum status words_explain(struct session *s, const char *word, int width, struct str *out,
                          struct err *err);

#endif
