/* debugger.h - a session's debugger: one kernel, one block of it held still, in workers of its own, so that whatever else
 * the session runs need not wait.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_DEBUGGER_H
#define ATTNSCOPE_COMMAND_DEBUGGER_H

#include "backend/debug.h"
#include "command/ask/request.h"

struct debugger;

/* Starts with entry 0 of the request, in place of one that there is; the block stands before its first step. */
enum status debugger_start(struct session *s, const struct request *r,
                           const struct debug_ask *begin, struct err *err);
/* NULL: nothing is debugged, or it has come to an end by itself. */
struct debugger *debugger_of(const struct session *s);
/* Kills it with its workers; none is fine. */
void debugger_end(struct session *s);

/* Asks and waits for the answer, as long as the front end lets it: then what goes on is stopped where it is.
 * ST_USAGE: the ask made no sense, and nothing has changed; ST_FAIL: it has ended. */
enum status debugger_ask(struct debugger *d, const struct debug_ask *a, struct err *err);

/* The last answer, an object of backend/debug.h; how many there were. Borrowed until the next. */
const json_t *debugger_stop(const struct debugger *d);
int debugger_count(const struct debugger *d);
const struct kernel *debugger_kernel(const struct debugger *d);
const struct kernel_desc *debugger_desc(const struct debugger *d);
const struct request *debugger_request(const struct debugger *d);
/* What it began with, or was begun again with last. */
const struct debug_ask *debugger_began(const struct debugger *d);

/* Members of the stop: the focus, and the steps. */
int debugger_warp(const struct debugger *d);
int debugger_lane(const struct debugger *d);
int64_t debugger_step(const struct debugger *d);
int64_t debugger_last(const struct debugger *d); /* that was ever made */
int debugger_warps(const struct debugger *d);

/* A word that changed where the block stands or will stop, with what followed it; NULL: it begins anew. */
void debugger_note(struct debugger *d, const char *word, const char *rest);
/* The line that comes to this stop: "debug fa2 S=64; until shared; step 3". */
void debugger_line(const struct debugger *d, struct str *out);

#endif
