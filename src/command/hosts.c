/* hosts.c - see hosts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "command/output.h"
#include "command/session.h"

void hosts_clear(struct hosts *h)
{
    for (size_t i = 0; i < h->count; i++)
        remote_clear(&h->items[i]);
    free(h->items);
    *h = (struct hosts){0};
}

const struct remote *hosts_find(const struct hosts *h, const char *name)
{
    for (size_t i = 0; i < h->count; i++)
        if (!strcmp(h->items[i].name, name))
            return &h->items[i];
    return NULL;
}

const char *hosts_name(const void *hosts, size_t i)
{
    const struct hosts *h = hosts;
    return i < h->count ? h->items[i].name : NULL;
}

bool hosts_drop(struct hosts *h, const char *name)
{
    const struct remote *found = hosts_find(h, name);
    if (!found)
        return false;
    const size_t at = (size_t)(found - h->items);
    remote_clear(&h->items[at]);
    memmove(h->items + at, h->items + at + 1, (--h->count - at) * sizeof *h->items);
    return true;
}

enum status hosts_put(struct hosts *h, const char *name, const char *dest, const char *command,
                      struct err *err)
{
    enum status st = remote_check_name(name, err);
    if (!st)
        st = remote_check_dest(dest, err);
    if (!st && command)
        st = remote_check_command(command, err);
    if (st)
        return st;
    const struct remote new = {
        .name = xstrdup(name), .dest = xstrdup(dest), .command = xstrdup_if(command)};
    (void)hosts_drop(h, name);
    xgrow((void **)&h->items, &h->cap, h->count + 1, sizeof *h->items);
    size_t at = h->count++;
    for (; at && strcmp(h->items[at - 1].name, new.name) > 0; at--)
        h->items[at] = h->items[at - 1];
    h->items[at] = new;
    return ST_OK;
}

/* One of a list. */
static enum status find_named(const struct session *s, const char *name, struct err *err)
{
    if (!strcmp(name, "here") || hosts_find(&s->settings.hosts, name))
        return ST_OK;
    char *clean = sanitize_line(name);
    err_set(err, ST_USAGE, "there is no host \"%s\"; \"host %s USER@MACHINE\" names one", clean,
            clean);
    free(clean);
    err_suggest(err, str_nearest(name, hosts_name, &s->settings.hosts));
    return ST_USAGE;
}

enum status host_choose(struct session *s, const char *name, struct err *err)
{
    if (!session_may(s, MAY_CONNECT))
        return err_set(err, ST_USAGE,
                       "where kernels run is its user's choice; this session is restricted");
    char *copy = xstrdup_if(name), *rest = copy, *one;
    enum status st = ST_OK;
    while (!st && (one = strsep(&rest, ",")))
        st = find_named(s, one, err);
    free(copy);
    return st;
}

/* "gpu.lab" of "me@gpu.lab"; an address is no name. */
static const char *name_of(const char *dest)
{
    const char *at = strrchr(dest, '@'), *machine = at ? at + 1 : dest;
    return remote_check_name(machine, NULL) == ST_OK ? machine : "remote";
}

enum status host_enter(struct session *s, const char *dest, struct err *err)
{
    struct hosts *h = &s->settings.hosts;
    const char *name = hosts_find(h, dest) ? dest : name_of(dest);
    enum status st = host_choose(s, NULL, err);
    if (!st && !hosts_find(h, dest))
        st = hosts_put(h, name, dest, NULL, err);
    if (!st)
        st = host_choose(s, name, err);
    if (st)
        return st;
    free(s->settings.options.host);
    s->settings.options.host = xstrdup(name);
    return ST_OK;
}
