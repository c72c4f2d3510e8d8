/* hosts.h - other machines by the names that the user gives them: `host NAME USER@MACHINE [COMMAND]`, in the
 * configuration file or typed. Nobody else names one: not lessons, recordings, packs or restricted sessions, which
 * cannot choose one either (MAY_CONNECT).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_HOSTS_H
#define ATTNSCOPE_COMMAND_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "job/remote.h"

/* Sorted by name. */
struct hosts {
    struct remote *items;
    size_t count, cap;
};
void hosts_clear(struct hosts *h);
const struct remote *hosts_find(const struct hosts *h, const char *name); /* NULL: there is none */
/* Adds a host or takes its place; `command` NULL: the usual. ST_USAGE names what it cannot be. */
enum status hosts_put(struct hosts *h, const char *name, const char *dest, const char *command,
                      struct err *err);
bool hosts_drop(struct hosts *h, const char *name);  /* false: there was none */
const char *hosts_name(const void *hosts, size_t i); /* str_list_fn */

struct session;
/* May the session's user send work to the hosts of that list between commas, of which "here" is this machine; NULL: it
 * alone? ST_USAGE: there is none, or this
 * session chooses none. */
enum status host_choose(struct session *s, const char *name, struct err *err);
/* From now on the session's kernels run on the host of that name, or on the machine "me@gpu.lab", which becomes a host
 * by the name of the machine ("remote" where that is no name for one): what --remote asks. */
enum status host_enter(struct session *s, const char *dest, struct err *err);

#endif
