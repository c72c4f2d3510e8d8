/* peer.h - the worker's end of the connection.
 *
 * Once the supervisor is gone, sending does nothing and every question is answered "stop", so that
 * the worker's loops end by themselves.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_PEER_H
#define ATTNSCOPE_JOB_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "job/wire.h"
#include "measure/row.h"

struct peer {
    struct wire *wire;
    pid_t owner;                /* the process that opened it */
    int words_job, words_entry; /* whose words go to the log now */
    int job;                    /* number of the job under way, in every frame */
    bool gone;                  /* the supervisor, or its good sense */
    bool cancelled;             /* it asked to stop the job under way */
    bool answers;               /* asks may come, and one that asks nothing is */
    bool hushed;                /* to stop what is being done for the last */
    enum wire_phase
        phase; /* as last announced: what is done, to which entry, and how long that may take */
    int entry;
    double estimate_s;
};

/* What a worker says first. The caller owns it. */
json_t *peer_hello(const char *role);
/* Takes the descriptor and says hello. */
struct peer peer_open(int fd, const char *role);
void peer_close(struct peer *p);

/* A kernel that forks and returns twice makes a second worker on the same connection. That one ends here, and in
 * every function below. */
void peer_end_twin(const struct peer *p);

/* Waits for the next frame. False when there will be none. */
bool peer_next(struct peer *p, enum wire_type *type, json_t **payload, int *fd);
/* Looks for CANCEL without waiting; true when the job under way must stop. */
bool peer_stop(struct peer *p);

/* Sends `payload`, an object, with the job's number put in; takes the reference, not the fd. */
void peer_send(struct peer *p, enum wire_type type, json_t *payload, int fd);
/* "It may take `seconds` until you hear of me again; I work on `entry`" (-1: on several, or none). */
void peer_estimate(struct peer *p, enum wire_phase phase, int entry, double seconds);

/* The same work gets on: it may take `seconds` more until it is heard of again. */
void peer_goes_on(struct peer *p, double seconds);

/* The known fields of a row as an object: what it does not say, it leaves alone. */
json_t *peer_row(const struct run_row *row);

#endif
