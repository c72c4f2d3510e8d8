/* python_child.h - between python.c and python_child.c; not for others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_PYTHON_CHILD_H
#define ATTNSCOPE_BACKEND_PYTHON_CHILD_H

#include <sys/types.h>

#include "backend/peer/python.h"

struct child {
    struct child *next;
    char *key; /* what it is for: "torch", or a callable's name */
    pid_t pid;
    int fd;
    bool opened; /* it knows the present problem */
    char *dead;  /* why it answers no more; NULL: it does */
};

/* Starts the helper; c->fd is our end of its socket. ST_NO when there is no such program. */
enum status python_child_start(struct child *c, struct err *err);
/* Seconds of processor time of all its threads so far, by the kernel's account; NaN: unknown. */
double python_child_work(const struct child *c);
/* host_goes_idle() of it. */
bool python_child_rests(const struct child *c);
/* Kills, reaps, frees. */
void python_child_free(struct child *c);

/* Sends `ask`, whose reference it takes, with the descriptor `given` (-1: none), and hears the answer,
 * an object that the caller owns, for `patience` seconds. ST_FAIL when the child is or goes away. */
enum status python_talk(struct child *c, const char *name, json_t *ask, int given, double patience,
                        json_t **answer, struct err *err);
/* The same; ST_NO with the child's own sentence when it refuses. */
enum status python_ask(struct child *c, const char *name, json_t *ask, int given, double patience,
                       json_t **answer, struct err *err);

#endif
