/* parse.h - tokens as calls.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_PARSE_H
#define ATTNSCOPE_COMMAND_PARSE_H

#include "command/command.h"

struct call_list {
    struct cmd_call **calls;
    size_t count, cap;
};
/* Parses a whole line before anything of it runs. Verbs are resolved, and the aliases of `s` (may
 * be NULL). */
enum status parse_line(const struct session *s, const char *line, struct call_list *out,
                       struct err *err);
/* One call from an argv; its text is the quoted equivalent. */
enum status parse_argv(int argc, char *const *argv, struct cmd_call **out, struct err *err);
void call_list_clear(struct call_list *l);
void call_free(struct cmd_call *c);

/* What follows word `first` on the left of > and |, as a line: a single quoted word without its
 * quotes, else as it was typed. The caller frees it. */
char *call_rest(const struct cmd_call *c, int first);

#endif
