/* session.h - the one mutable context of a running program, in four parts: what is asked, what came of
 * it, the long-lived helpers, and the front end in charge.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SESSION_H
#define ATTNSCOPE_COMMAND_SESSION_H

#include "command/command.h"
#include "command/front.h"
#include "command/may.h"
#include "command/rows.h"
#include "command/services.h"
#include "command/settings.h"
#include "plan/plan.h"

/* What was run in this session, the oldest first: the last LOG_COMMANDS, of long ones fewer (LOG_BYTES of text). */
enum { LOG_COMMANDS = 1000, LOG_BYTES = 256 << 10 };
struct command_log {
    struct log_entry {
        char *text;
        enum status status;
        double seconds;
    } * items;
    size_t count, cap;
    size_t bytes;   /* of their texts */
    int64_t before; /* how many went before the first that is kept */
};

struct session {
    struct settings settings; /* what is asked where a command does not say otherwise */
    struct rows rows;         /* what commands gave */
    struct services services; /* registry, devices, supervisor, store, recordings, GPU */
    struct front front;       /* who shows it */
    struct command_log log;
    int depth;    /* commands that are running: a lesson runs commands within its own */
    int captured; /* of them, those whose output goes to a file or a pipe */
    int scripts;  /* files that are being run, one within the other */
    bool quit;    /* `quit` was given */
    bool draws;   /* a figure of a lesson: nothing is simulated that its words do not ask for */
    bool paints;  /* a screen is drawn: nothing is waited for, as waiting would draw it */
    unsigned may; /* enum may, as in session_kinds */
    const char *program; /* argv[0] */
};

/* Verbs are known to the table once command_register_core() and its like were called. */
struct session *session_new(const char *program);
void session_free(struct session *s);
/* Writes to a file for export and redirection; needs MAY_WRITE. */
enum status session_write(const struct session *s, const char *path, const char *text, size_t len,
                          bool append, struct err *err);

#endif
