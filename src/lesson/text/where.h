/* where.h - the lines of a kernel's source that a question or a figure is about.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_WHERE_H
#define ATTNSCOPE_LESSON_WHERE_H

#include "lesson/text/parsed.h"

struct source_lines {
    int first, count; /* their numbers, from 1 */
    char **text;      /* sanitised */
    bool *right;
};
/* The lines to look at. ST_USAGE when there is no such kernel, or no line has a text of the
 * question. Ends with source_lines_clear(). */
enum status source_lines_find(struct session *s, const struct item *question,
                              struct source_lines *out, struct err *err);
void source_lines_clear(struct source_lines *l);

#endif
