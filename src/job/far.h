/* far.h - a job on another machine, as the supervisor here has it: sent over its connection, heard, cut, called off.
 *
 * What the far end does is serve_remote.c. The job that is given may be NULL, or one that has nothing to do with the
 * connection.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_FAR_H
#define ATTNSCOPE_JOB_FAR_H

#include "job/crew.h"
#include "job/job.h"

/* Is the connection at work for the job? */
bool far_is_busy(const struct job *j, enum role role);

/* Sends the job, or has a connection made over which it is sent once the far end has said hello. ST_FAIL with a
 * sentence: there is none. */
enum status far_start(struct crew *c, struct job *j, struct err *err);

/* What a frame told of the job. */
struct far_news {
    bool changed;
    bool ended; /* and in which state */
    enum job_state state;
};
/* Takes a frame. Those of a job that was cancelled meanwhile are passed over. ST_FAIL: it makes no sense; ST_USAGE:
 * another machine's program would be of no use either. */
enum status far_hear(struct crew *c, enum role role, struct job *j, enum wire_type type, json_t *o,
                     struct far_news *news, struct err *err);

/* The connection is of no more use, and why. What the job had stays, with the reason. True: the line was dead before
 * it knew of the job, which can begin anew. */
bool far_lose(struct crew *c, enum role role, struct job *j, const char *what);

/* The far end is told that nobody waits any more. */
void far_cancel(struct crew *c, struct job *j);

#endif
