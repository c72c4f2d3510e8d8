/* state.h - a job that runs on another machine, told over the line: what is new of it since it was last told.
 *
 * The far end tells a job as job.h's callers see it, in frames of WIRE_STATE, none of which is large; the near end
 * takes them into a job of its own. Rows come whole, each in a frame of its own, when something in them has changed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_STATE_H
#define ATTNSCOPE_JOB_STATE_H

#include "job/job.h"

/* What the near end has been told. Start with {0}. */
struct told {
    json_t *head, *extra;
    json_t **rows;
    int nrows;
};
void told_clear(struct told *t);

/* Sends what is new of `j` as the job of number `id`. What it ends with comes last. */
enum status told_send(struct told *t, const struct job *j, int id, struct wire *w, struct err *err);
/* The same for a job that could not be begun. */
enum status told_refuse(int id, const char *sentence, struct wire *w, struct err *err);

/* Takes a frame into the near end's job. *ended: it was the last one, and the state it ended in. ST_FAIL: it makes no
 * sense. */
enum status told_take(struct job *j, json_t *o, bool *ended, enum job_state *state,
                      struct err *err);
/* The line was cut, as `sentence` says: what had come stays; rows that were not done, and had not been judged to the
 * end, say so. */
void told_cut(struct job *j, const char *sentence);

#endif
