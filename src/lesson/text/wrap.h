/* wrap.h - prose in lines.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_WRAP_H
#define ATTNSCOPE_LESSON_WRAP_H

#include "base/str.h"

/* Appends `text` (sanitised already) in lines of at most `width` columns, each begun with
 * `indent` blanks but the first, ended with '\n'. */
void text_wrap(struct str *out, const char *text, int indent, int width);

#endif
