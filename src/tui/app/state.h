/* state.h - what outlives the program: <state>/attnscope/session.json, written when it ends, also by
 * a hang-up; `resume` brings it back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_STATE_H
#define ATTNSCOPE_TUI_STATE_H

#include "tui/app/app.h"

/* Settings as the script that `save` writes, results, and what each screen keeps. */
json_t *state_take(struct app *a);
/* Takes what it knows of it; strings are made safe first. */
void state_put(struct app *a, json_t *state);
/* Writes the file, in one step; `why` is "quit" or "hang-up". Nothing is written when the session is
 * restricted. */
void state_save(struct app *a, const char *why);
/* ST_NO when there is none. */
enum status state_resume(struct app *a, struct err *err);
/* Did the last session end without having been quit? ST_NO with a sentence where its file cannot be read: it
 * steps aside, as session.json.refused, before another takes its place. */
enum status state_look(bool *cut, struct err *err);
/* The verb `resume`. */
void state_register(void);

#endif
