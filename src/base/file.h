/* file.h - the one gate through which files that are named by somebody come in, and bytes into a file: all
 * of them, or none and errno.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_FILE_H
#define ATTNSCOPE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

/* ---- reading: the gate ----
 *
 * Kernels, lessons, packs, recordings, databases, configuration and state come from friends, strangers and
 * shared homes. A FIFO, a terminal or a device under such a name would be waited for, with the terminal raw
 * and signals unheard; so only regular files are opened, without waiting, and all others have a sentence. */

enum file_links {
    FILE_FOLLOW, /* a link is what it leads to: the user named it */
    FILE_OWN     /* no link: a file that lies in a folder of ours and whose text may be passed on */
};
/* Opens for reading. ST_USAGE with a sentence that names the path and what it is instead of a file. */
enum status file_open(const char *path, enum file_links links, int *fd, struct err *err);
/* The same for a file that need not be: ST_OK and *fd -1 where there is nothing. */
enum status file_open_if(const char *path, enum file_links links, int *fd, struct err *err);
/* For libraries that open by name, as SQLite: ST_OK where there is a regular file or nothing at all. */
enum status file_may_open(const char *path, struct err *err);

/* Reads up to `want` bytes, however many calls that takes; fewer only at the end; -1 with errno. */
ssize_t file_read(int fd, void *data, size_t want);

/* ---- writing ---- */

struct bytes {
    const void *data;
    size_t len;
};

/* Writes all of it, however many calls that takes. False with errno. */
bool file_write_all(int fd, const void *data, size_t len);
/* Makes a file of `n` parts, one behind the other; `mode` less the umask. False with errno, EEXIST where
 * there is one; then nothing of the new one is left. */
bool file_create(const char *path, mode_t mode, const struct bytes *parts, size_t n);
/* Puts such a file in the place of what is there, or of nothing: it is written beside and renamed, so that a reader sees the old or the
 * new one whole. False with errno; then the old one is as it was. *beside (may be NULL): could a file be made beside it at all?
 * FILE_FOLLOW, a file that a user names or would miss: it is on the disk before it has the name, so that a power cut loses neither. An
 * old file's permissions stay, and its owner, as far as that is allowed. A link stays: what it leads to is replaced or made (not by one
 * that somebody else put into a folder of everybody's: EACCES).
 * FILE_OWN, what can be made again, in a folder of ours: whatever has the name, a link too, gives way to a new file with `mode`. */
bool file_replace(const char *path, enum file_links links, mode_t mode, const struct bytes *parts,
                  size_t n, bool *beside);
/* What a name means when its links are followed as FILE_FOLLOW does it, whether or not there is a file. The caller frees it; NULL with
 * errno: EACCES of such a link of somebody else's, ELOOP of a circle. */
char *file_end_of_links(const char *path);

/* The folder that a name is in, with its slash; "" here. The caller frees it. */
char *file_folder_of(const char *path);

/* Is it what a file_replace() that was killed left behind, by the file's name? */
bool file_is_left_over(const char *name);

#endif
