/* judging.h - what the supervisor has judged of its active job: handed to the judge, kept until it is answered, handed to
 * another when one is gone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_JUDGING_H
#define ATTNSCOPE_JOB_JUDGING_H

#include "job/crew.h"
#include "job/job.h"

/* The judge gets entry i's output, of which the job keeps a copy of its own. */
void judging_send(struct crew *c, struct job *j, int i, int fd);
/* It has answered. */
void judging_take(struct crew *c, struct job *j, int i);
/* Hands over the next further output. True while there is one to wait for. */
bool judging_extras(struct crew *c, struct job *j);
/* The judge is gone: what it had not answered goes to another, except for an output that judges do not survive. `died`:
 * by itself. */
void judging_again(struct crew *c, struct job *j, bool died, const char *what);

#endif
