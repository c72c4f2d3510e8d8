/* proc.h - one worker process as the supervisor sees it: found, started, listened to, ended.
 *
 * Nothing here blocks. A process that was told to die is handed to a graveyard, which reaps it
 * when it can be reaped; one that hangs in the kernel for good costs a poll now and then.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_PROC_H
#define ATTNSCOPE_JOB_PROC_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/kin.h"
#include "base/str.h"
#include "job/wire.h"

/* A worker prints it when it goes on to another kernel: what follows are that one's words. It is not shown. */
enum { WORDS_BEGIN = 0x1e };

struct proc {
    const char *role; /* "launch" "judge" */
    pid_t pid;        /* 0: not running */
    struct wire *wire;
    int end_fd;       /* readable once it has ended, whoever still holds its connection; -1: none */
    int log_fd;       /* its stdout and stderr; -1: none */
    double log_after; /* not read before this time, so that a flood costs little */
    struct str words; /* the end of what it printed since it was last at another kernel */
    char kin[KIN_MARK];  /* in the environment of all that it starts */
    bool parent;         /* it may start processes, which must end with it */
    bool greeted;        /* HELLO has come */
    bool killed;         /* it has ended by a signal that a process gets from outside */
    double silence;      /* seconds that it may be silent, for the sentence */
    double deadline;     /* when it owes a sign of life at the latest; INFINITY: it owes none */
    double closed_since; /* it closed its connection; NaN: it did not */
    char *far;           /* whose connection it is: remote_key(); NULL: a worker of this machine */
    double alive_at;     /* when it is asked whether the line is up; INFINITY: not */
    int turn;            /* when it was last used, among connections */
};

/* The path of attnscope-worker: `given`, $ATTNSCOPE_WORKER, beside this program, libexec. ST_FAIL
 * with the places that were tried, or with why the one that was named is no program. The caller frees *path. */
enum status proc_find(const char *given, char **path, struct err *err);

/* A role without a process. (All zero would name our own standard input as its log.) */
struct proc proc_none(const char *role);
/* Starts `path` in role p->role. ST_FAIL with the path in the sentence. */
enum status proc_spawn(struct proc *p, const char *path, struct err *err);

/* The same for a program that has its connection at its standard input and output, a plain stream, and its log at its
 * standard error: ssh. argv[0] is its path. */
enum status proc_spawn_stream(struct proc *p, char *const argv[], struct err *err);

/* Takes its first frame. ST_FAIL: it is no HELLO; ST_USAGE: it is of another build, and another process would be no
 * better. */
enum status proc_greet(struct proc *p, enum wire_type type, const json_t *o, struct err *err);

/* Appends what the process has printed to `log`, of which the last LOG_MAX bytes are kept. */
enum { LOG_MAX = 64 << 10, WORDS_MAX = 4 << 10 };
void proc_read_log(struct proc *p, struct str *log);
/* ": out of memory", the last line of these words, when there is one. */
void proc_add_last_words(const struct proc *p, struct str *how);
/* "gave no sign of life for 3.0 s and was stopped". `asked_s`: who set the limit for work here, by timeout=, learns that
 * it was the limit (what is slow, as a kernel that prints a great deal, would have come to an end); 0: nobody did. */
void proc_add_silence(const struct proc *p, double asked_s, struct str *how);

/* Has it ended, as far as that is known at once? */
bool proc_has_ended(const struct proc *p);
/* If it has ended by itself: true, and how: "died (signal 11, segmentation fault)", "ended with
 * status 3". It is reaped then, and pid 0. */
bool proc_ended(struct proc *p, struct str *how);

/* Seconds from `now` until it needs attention by the clock; INFINITY: it needs none. */
double proc_wait(const struct proc *p, double now);

/* Processes that were killed and must still be reaped, and have left others that must be found. */
struct graveyard {
    struct grave {
        pid_t pid; /* 0: reaped */
        double since;
        char kin[KIN_MARK]; /* "": there are no others */
    } * items;
    size_t count, cap;
};

/* Closes the connections and kills the process, if any. */
void proc_drop(struct proc *p, struct graveyard *g);
/* Reaps what can be reaped. */
void graveyard_visit(struct graveyard *g);
/* Seconds until the next visit is worth it; INFINITY when empty. */
double graveyard_wait(const struct graveyard *g);
/* Visits for at most `seconds`, then forgets the rest. */
void graveyard_clear(struct graveyard *g, double seconds);

#endif
