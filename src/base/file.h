/* file.h - bytes into a file: all of them, or none and errno.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_FILE_H
#define ATTNSCOPE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct bytes {
    const void *data;
    size_t len;
};

/* Writes all of it, however many calls that takes. False with errno. */
bool file_write_all(int fd, const void *data, size_t len);
/* Makes a file of `n` parts, one behind the other; `mode` less the umask. False with errno, EEXIST where
 * there is one; then nothing of the new one is left. */
bool file_create(const char *path, mode_t mode, const struct bytes *parts, size_t n);
/* Puts such a file in the place of what is there, or of nothing: it is written beside and renamed, so that a
 * reader sees the old or the new one whole. An old file's permissions stay. A link is replaced, not what it
 * leads to. False with errno; then the old one is as it was. *beside (may be NULL): could a file be made
 * beside it at all? */
bool file_replace(const char *path, mode_t mode, const struct bytes *parts, size_t n, bool *beside);

/* Is it what a file_replace() that was killed left behind, by the file's name? */
bool file_is_left_over(const char *name);

#endif
