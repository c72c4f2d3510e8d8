/* kin.h - processes that come of another, wherever they went: found in /proc, and ended.
 *
 * Who calls setsid() leaves the process group, who loses its parent leaves the tree. Without root there is no
 * fence that nobody gets out of, so two traces are followed: the parents, and a mark in the environment, which
 * fork() and, unless somebody cleans up, exec() hand on. Who drops both, or runs as another user, is lost: this
 * is for accidents and carelessness.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_KIN_H
#define ATTNSCOPE_BASE_KIN_H

#include <stdbool.h>
#include <sys/types.h>

enum { KIN_MARK = 40 };

/* A line of an environment that nobody else has. */
void kin_new_mark(char mark[KIN_MARK]);

/* What the kernel says of a process or a thread, "/proc/7/stat", "/proc/7/task/9/stat": its state ('R' runs, 'Z' is
 * dead and not waited for ...) and its parent. False: there is none. */
bool kin_stat(const char *path, char *state, pid_t *parent);

/* What it calls itself, 15 characters at most, control characters as '?'. False: there is no such process. */
bool kin_name(pid_t pid, char name[16]);
/* Is `pid` the process `root`, or does it come of it by its parents? */
bool kin_comes_of(pid_t pid, pid_t root);

/* Children of this process, of whatever thread, dead ones that nobody has waited for included; at most `max`;
 * returns how many. */
int kin_children(pid_t *pids, int max);
/* Is there any? Costs one system call. */
bool kin_has_children(void);

/* Kills every living process that has `mark` in its environment, this one excepted; returns how many there were:
 * none, and nobody is left. */
int kin_end_marked(const char *mark);
/* Kills `root`, a child of this process, and all that come of it, and waits for those that become ours. */
void kin_end_tree(pid_t root);

#endif
