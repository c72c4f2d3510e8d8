/* crew.h - the processes of a supervisor: started as far as what has failed lately allows, given time, let go.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_CREW_H
#define ATTNSCOPE_JOB_CREW_H

#include "base/texts.h"
#include "job/blame.h"
#include "job/job.h"
#include "job/proc.h"

struct crew {
    char *given; /* worker path asked for, or NULL */
    struct proc procs[ROLES];
    bool started[ROLES]; /* ever; the next start is a restart */
    int restarts;
    struct graveyard graves;
    double patience; /* 1, but for tests: multiplies the silences that are allowed */
    struct blame blame;
    int turns;                 /* that connections were used */
    struct texts hosted;       /* native kernels that have run in the present launch worker */
    struct str log, clean_log; /* of all, as it came; as it may be shown */
};

/* "launch" "judge", then "remote" */
extern const char *const crew_roles[ROLES];

/* Starts nothing; `worker` as in super_new(). */
struct crew crew_new(const char *worker);
/* Kills and reaps, for at most `seconds`. */
void crew_clear(struct crew *c, double seconds);

/* Makes sure that the role's process runs. ST_FAIL with a sentence. */
enum status crew_need(struct crew *c, enum role role, struct err *err);
/* Makes sure of a connection to that machine, whose role is *role: one that is there, else a new one, for which the
 * one that was not used for longest may have to go. ST_FAIL with a sentence. */
enum status crew_need_far(struct crew *c, const struct remote *r, enum role *role, struct err *err);
/* A frame came over it. */
void crew_hear_far(struct crew *c, enum role role);
/* Asks what has been silent for long whether it is there. */
void crew_ask_far(struct crew *c, enum role role);
/* What became of the connection to `name`, as proc_ended() has it, as a sentence that the caller frees. It counts. */
char *crew_blame_far(struct crew *c, enum role role, const char *name, const char *what);
/* Ends the role's process, if there is one. */
void crew_drop(struct crew *c, enum role role);
/* It owes a sign of life within `seconds`. */
void crew_expect(struct crew *c, enum role role, double seconds);
/* The tail of what was printed, sanitised; valid until the next call. */
const char *crew_log(struct crew *c);

/* Leaves out of `j` the kernels that have failed too often lately. ST_FAIL: no others are left. */
enum status crew_leave_out_guilty(struct crew *c, struct job *j, struct err *err);
/* Takes note of which entries of `j` are native, from the launch worker's list, NULL: it says nothing of it. They
 * stay in its memory, and may leave processes. ST_FAIL: it makes no sense. */
enum status crew_take_natives(struct crew *c, struct job *j, const json_t *list, struct err *err);
/* Lets go of a launch worker in which native kernels are that `j` has not: they would be a danger to those that
 * it has. */
void crew_part_with_strangers(struct crew *c, struct job *j);

#endif
