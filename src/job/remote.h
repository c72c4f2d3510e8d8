/* remote.h - another machine as the place where a job runs: what it is called, how ssh reaches it, and which kernels
 * of the user's go along.
 *
 * Nothing here connects: super.h does, by the user's own ssh, its keys, its configuration. What is named here comes
 * from the user alone, and still none of it can be taken for an option of ssh's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_REMOTE_H
#define ATTNSCOPE_JOB_REMOTE_H

#include <jansson.h>

#include "base/status.h"

/* All zero: this machine. */
struct remote {
    char *name;      /* "box", as rows have it */
    char *dest;      /* "me@gpu.lab", or a name of ~/.ssh/config */
    char *command;   /* of attnscope there; NULL: "attnscope" */
    json_t *sources; /* [{file, text}]: own kernels, which are compiled there; NULL: none */
};
void remote_clear(struct remote *r);
void remote_copy(struct remote *dst, const struct remote *src); /* dst is overwritten */

/* May it be called so: a letter, then letters, digits, _ - and . ? "here" and "auto" are this machine. */
enum status remote_check_name(const char *name, struct err *err);
/* May that be where ssh goes: [user@]machine, of which neither begins with a dash? Ports, keys and machines on the way
 * are ~/.ssh/config's. */
enum status remote_check_dest(const char *dest, struct err *err);
/* A line for the shell there, in plain characters. */
enum status remote_check_command(const char *command, struct err *err);

/* Two remotes with the same text share a connection. The caller frees it. */
char *remote_key(const struct remote *r);
/* What starts the far end, with `words` behind its command ("--serve"): argv[0] is the path of ssh, or of what
 * $ATTNSCOPE_SSH names. ST_FAIL: there is none. Freed by remote_argv_free(). */
enum status remote_argv(const struct remote *r, const char *words, char ***argv, struct err *err);
void remote_argv_free(char **argv);

/* ---- own kernels ---- */

/* Takes "mine.cu" into the sources. */
void remote_add_source(struct remote *r, const char *file, const char *text, size_t len);
/* Puts `sources`, as they came over the line, into the folder in the place of what is there, where they differ.
 * ST_USAGE: they make no sense; ST_FAIL: they cannot be written. */
enum status remote_keep_sources(const char *folder, const json_t *sources, struct err *err);

#endif
