/* serve.h - the worker's side: one function per role, called by worker.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SERVE_H
#define ATTNSCOPE_JOB_SERVE_H

/* Serves jobs on descriptor `fd` until the supervisor goes away; returns the exit status. */
int serve_launch(int fd);
int serve_judge(int fd);

#endif
