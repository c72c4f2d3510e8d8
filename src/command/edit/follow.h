/* follow.h - a file that somebody saves again and again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_EDIT_FOLLOW_H
#define ATTNSCOPE_COMMAND_EDIT_FOLLOW_H

#include <sys/types.h>
#include <time.h>

#include "command/session.h"

/* What tells one saved version from the next. */
struct saved {
    struct timespec time;
    off_t size;
    ino_t inode; /* editors that write a new file and rename it; 0: there is no file */
};

/* What is there now. */
struct saved saved_now(const char *path);
/* Waits until the file is there, is another than *seen, and rests; *seen is that then. A file that is gone is waited for,
 * and said to be gone once. False: the user has had enough. */
bool saved_wait(struct session *s, const char *path, struct saved *seen);

#endif
