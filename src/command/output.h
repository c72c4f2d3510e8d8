/* output.h - how a command hands out its rows, and small helpers around rows and messages.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_OUTPUT_H
#define ATTNSCOPE_COMMAND_OUTPUT_H

#include "base/json_text.h"
#include "command/session.h"

/* rows_format() after what people want otherwise than programs: in text parameters at their defaults
 * are left out. */
void rows_show(const struct session *s, struct str *out, const struct rowset *rows,
               const struct columns *cols, enum format f, int width);
/* Does front.speaks name the column? */
bool column_is_spoken_of(const struct session *s, const struct column *c);
/* Those of a list of resolved columns are never left out. */
void keep_spoken(const struct session *s, struct column *cols);
/* Values from a row's params, over the defaults; false if a word is none of this descriptor's. */
bool params_read(const struct kernel_desc *d, const char *text, struct param_values *v);
/* Hands out what a command that goes on printed so far, if nobody collects it. */
void call_flush(struct session *s, struct cmd_call *c);
/* Columns for text of this call; 0: unlimited. */
int call_width(const struct session *s, const struct cmd_call *c);
/* Appends "; did you mean \"x\"?"; nothing when near is NULL. */
void err_suggest(struct err *err, const char *near);
void err_suggest_text(struct err *err, const char *text); /* appends as it is */
bool text_contains(const char *text, const char *word);   /* without case */
enum format call_format(struct cmd_call *c);

#endif
