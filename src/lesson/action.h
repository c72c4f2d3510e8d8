/* action.h - what `lesson ACTION` does besides taking a lesson: one table for dispatch, help and
 * completion.
 *
 * An action is a file with its struct lesson_action, and its name, keys and help in verbs.c.
 *
 * An action is looked for before a lesson of that name; a lesson can also be taken by its number.
 * In the call, word 0 is the action's name and what follows is its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_ACTION_H
#define ATTNSCOPE_LESSON_ACTION_H

#include "command/session.h"

struct lesson_action {
    const char *name, *usage;      /* "pack", "[FILE] [name=TEXT]" */
    const char *summary;           /* one line */
    const struct columns *columns; /* of the table that it prints; NULL: none */
    enum status (*exec)(struct session *s, struct cmd_call *c, struct err *err);
};

/* ---- verbs.c, which lists them ---- */

const struct lesson_action *lesson_action_at(int i); /* NULL after the last */
/* The words that may follow `lesson`: names of lessons, then actions. A topic_fn. */
bool lesson_word(size_t i, struct topic *out);

/* The actions alone, for help. A topic_fn. */
bool lesson_action_topic(size_t i, struct topic *out);

/* ---- for actions ---- */

/* Marks --json, --csv and --md as known to the call. */
void action_formats(struct cmd_call *c);
/* Puts rows out as CSV, which is what these lists are for, unless the call asks for another form. */
enum status action_csv(struct session *s, struct cmd_call *c, const struct rowset *rows,
                       const struct columns *cols);

#endif
