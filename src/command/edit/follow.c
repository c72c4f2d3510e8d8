/* follow.c - see follow.h. Looking ten times a second costs nothing beside a compiler, and works on every file system.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/edit/follow.h"

#include <sys/stat.h>

static const double look_seconds = 0.1;
enum {
    GONE_LOOKS = 20
}; /* so many without a file: no editor that is about to rename another to it */

struct saved saved_now(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return (struct saved){0};
    return (struct saved){.time = st.st_mtim, .size = st.st_size, .inode = st.st_ino};
}

static bool same(const struct saved *a, const struct saved *b)
{
    return a->inode == b->inode && a->size == b->size && a->time.tv_sec == b->time.tv_sec &&
           a->time.tv_nsec == b->time.tv_nsec;
}

bool saved_wait(struct session *s, const char *path, struct saved *seen)
{
    int gone = 0;
    for (struct saved last = *seen; session_sleep(s, look_seconds);) {
        const struct saved now = saved_now(path);
        gone = now.inode ? 0 : gone + 1;
        if (gone == GONE_LOOKS)
            session_note(s, "%s is gone; it is waited for", path);
        if (now.inode && same(&now, &last) && !same(&now, seen)) {
            *seen = now;
            return true;
        }
        last = now;
    }
    return false;
}
