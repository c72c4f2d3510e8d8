/* directive.h - one line of a directive block.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_DIRECTIVE_H
#define ATTNSCOPE_LESSON_DIRECTIVE_H

#include "lesson/text/parsed.h"

/* Adds what the line says to the step. err's sentence has no file or line yet. */
enum status directive_parse(struct lesson_stage *step, const char *line, struct err *err);

#endif
