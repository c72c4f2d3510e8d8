/* session.h - the one mutable context of a running program, in four parts: what is asked, what came of
 * it, the long-lived helpers, and the front end in charge.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SESSION_H
#define ATTNSCOPE_COMMAND_SESSION_H

#include "command/command.h"
#include "command/front.h"
#include "command/rows.h"
#include "command/services.h"
#include "command/settings.h"
#include "plan/plan.h"

/* What was run in this session, from the first on. */
struct command_log {
    struct log_entry {
        char *text;
        enum status status;
        double seconds;
    } * items;
    size_t count, cap;
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
    bool restricted;
    const char *program; /* argv[0] */
};

struct session *session_new(const char *program);
void session_free(struct session *s);
/* Tells the front end, in one line. */
void session_note(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes to a file for export and redirection; refuses in restricted sessions. */
enum status session_write(const struct session *s, const char *path, const char *text, size_t len,
                          bool append, struct err *err);
/* How many rows `open ...`, a whole command, would show; nothing is shown. 0: none, or it is refused. */
size_t open_count(struct session *s, const char *line);

/* A request: the session's settings overridden by one call's shape keys, options and parameters.
 * Kernels are the call's first word, split at commas; an entry may carry parameters of its own, as
 * in qtile_seq@BR=32@BC=64, so that one kernel can stand beside itself. */
struct request {
    struct problem problem;
    struct options options;
    const struct kernel **kernels;
    struct param_values *params;      /* one per kernel, for the side (cuda or cpu) in `descs` */
    const struct kernel_desc **descs; /* by backend: cpu desc for backend=cpu, else cuda */
    char **own;                       /* "BR=32@BC=64" as given after @, or NULL */
    int nkernels;
};
/* `for_plan`: take the CUDA descriptors whatever the backend. Checks the shape. */
enum status request_make(struct session *s, struct cmd_call *c, bool for_plan, struct request *out,
                         struct err *err);
void request_clear(struct request *r);
/* The command that reproduces request r for `verb`, with only what differs from the defaults. */
void request_command(const struct request *r, const char *verb, struct str *out);
/* Appends gpu= unless the command has it: another machine would take its own GPU. */
void request_command_gpu(const struct request *r, const struct device *gpu, struct str *out);
/* Appends the name of entry k as that command has it: with @NAME=VALUE for each parameter in which
 * it differs from another entry. */
void request_label(const struct request *r, int k, struct str *out);

#endif
