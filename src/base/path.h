/* path.h - XDG folders and the files the program ships.
 *
 * Relative values of the XDG variables are ignored, as the specification asks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_PATH_H
#define ATTNSCOPE_BASE_PATH_H

#include "base/status.h"

enum path_kind {
    PATH_CONFIG, /* $XDG_CONFIG_HOME/attnscope : config, devices */
    PATH_DATA,   /* $XDG_DATA_HOME/attnscope   : user kernels, lessons, results.db */
    PATH_STATE,  /* $XDG_STATE_HOME/attnscope  : history, progress, logs */
    PATH_CACHE,  /* $XDG_CACHE_HOME/attnscope  : compiled kernels, device probes */
};

/* "<folder>/attnscope/<name>"; the caller frees it; NULL when no home is known. */
char *path_in(enum path_kind kind, const char *name);
/* The same for `what` ("results"); without a home ST_FAIL with a sentence that says so. */
enum status path_for(enum path_kind kind, const char *name, const char *what, char **path,
                     struct err *err);
/* Could a file be written at `path`, whose folders may be missing? ST_FAIL with what is in the way; nothing
 * is created. */
enum status path_may_write(const char *path, struct err *err);
/* Creates the folder that holds `path`, mode 0700, parents included. */
enum status path_make_parent(const char *path, struct err *err);
/* The program `name` as PATH finds it, or itself if it has a slash and can be run; NULL otherwise.
 * The caller frees it. */
char *path_program(const char *name);

/* Where `file`, which was to be installed at that place beside programs in the folder `own`, is now, when the program
 * that runs is `self`: a tree that was moved as a whole after its installation keeps its inner places. NULL: `self` is
 * in no folder named as `own` is below what the two have in common. Absolute paths; the caller frees it. */
char *path_moved(const char *self, const char *own, const char *file);
/* The same for the program that runs. */
char *path_installed(const char *own, const char *file);

#endif
