/* serve.h - the worker's side: one function per role, called by worker.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SERVE_H
#define ATTNSCOPE_JOB_SERVE_H

#include <stdbool.h>

/* Serves jobs on descriptor `fd` until the supervisor goes away; returns the exit status. */
int serve_launch(int fd);
int serve_judge(int fd);
/* The far end of a connection: reads jobs from standard input, has them done by a supervisor and workers of this
 * machine, tells of them on standard output, and ends with all that it started when the input closes, when nobody has
 * been heard of for a minute, or by a signal. */
int serve_remote(void);
/* A node of a ring over several machines, on standard input and output: see nodes.h. */
int serve_rank(void);

/* Standard input and output are the connection's alone from now on: what anybody prints goes where ssh shows it, and what
 * anybody reads is empty. False: one of them was closed. */
bool serve_take_streams(int *in, int *out);

#endif
