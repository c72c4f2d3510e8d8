/* directive.h - what the files that parse directives share: the pieces of a line, and who parses
 * what.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_DIRECTIVE_H
#define ATTNSCOPE_LESSON_DIRECTIVE_H

#include "lesson/internal.h"

/* ---- line.c: pieces of a line ---- */

/* Takes the first word off *line; "" at the end. The caller frees. */
char *line_word(const char **line);
/* Text after " : ", sanitised; NULL if there is none. The caller frees. */
char *line_text(const char *line);
/* What stands before " : " and before ` word ` (may be NULL), without blanks at its end. The caller
 * frees. */
char *line_before(const char *line, const char *word);
/* The same as an expression. */
enum status line_expr(const char *line, const char *word, struct expr **out, struct err *err);
/* Letters, digits and _, no digit first? */
bool line_is_name(const char *text);
/* NAME, and if `sign` also "=", off the line. */
enum status line_name(const char **line, bool sign, char **name, struct err *err);
/* The tolerance after " within ", above 0; *out is left alone where the line has none. */
enum status line_within(const char *line, double *out, struct err *err);

/* The directives' names: a str_list_fn. */
const char *directive_name(const void *unused, size_t i);
struct item *stage_add(struct lesson_stage *step, enum item_kind kind);

/* ---- directives; each gets what follows its name ---- */

typedef enum status directive_fn(struct lesson_stage *step, const char *line, struct err *err);
/* question.c */
directive_fn parse_predict, parse_choice, parse_option, parse_order, parse_item, parse_where,
    parse_at, parse_from, parse_to;
/* line_command.c: a line that is no directive */
directive_fn parse_command, parse_figure;

#endif
