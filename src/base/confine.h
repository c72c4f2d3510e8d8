/* confine.h - what of the file system a process may still touch: Landlock, by bare system calls.
 *
 * Only takes away. Where the kernel has no Landlock (before Linux 5.13, or switched off) nothing is
 * taken away, and confine_abi() says so. What is not allowed is refused, a path that does not exist
 * allows nothing, and rules that cannot be made or entered are a failure: a sandbox that is missing
 * without a word is worse than none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_CONFINE_H
#define ATTNSCOPE_BASE_CONFINE_H

#include <stdbool.h>

/* Version of the kernel's interface; 0: there is none. */
int confine_abi(void);

enum confine_access {
    CONFINE_READ, /* files and folders, and to run programs */
    CONFINE_WRITE /* that, and to write, make and remove below it */
};

/* Rules under which nothing is allowed, as a descriptor that the caller closes; -1: there is no
 * Landlock, or it failed. */
int confine_new(void);
/* Allows a path and what is below it. Nothing happens for -1. */
void confine_allow(int rules, const char *path, enum confine_access access);
/* As CONFINE_READ, for a folder that a source or its descriptor names: of the home and of folders above it the
 * sources and headers that lie in them alone, of the root, of /etc and its like, and of hidden folders of the home
 * nothing (but of Python's packages, of a folder "include", and of what is this program's own). */
void confine_allow_sources(int rules, const char *folder);
/* From now on, for this process and those it starts; it also gives up new privileges and TCP. True
 * when it is so, or when there is no Landlock. */
bool confine_enter(int rules);

#endif
