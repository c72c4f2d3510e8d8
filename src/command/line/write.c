/* write.c - text into files: a new file appears whole or not at all.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/session.h"

/* Of a pipe that nobody reads this is no wait but ENXIO; one that is read gets all there is. */
static int open_there(const char *path, int flags)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, 0666);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, flags & O_APPEND);
    return fd;
}

/* Into the file itself. What a full disk cut off behind an older text is taken back. */
static bool write_there(const char *path, const char *text, size_t len, bool append, bool *opened)
{
    const int fd = open_there(path, append ? O_APPEND : O_TRUNC);
    struct stat was;
    if (!(*opened = fd >= 0))
        return false;
    const bool plain = !fstat(fd, &was) && S_ISREG(was.st_mode);
    const bool ok = file_write_all(fd, text, len);
    const int why = errno;
    if (!ok && plain && ftruncate(fd, was.st_size))
        errno = why; /* that it stays is all that is left to do */
    if (close(fd) != 0 && ok)
        return false;
    errno = why;
    return ok;
}

/* A new file and a plain one are replaced; a device, a pipe or the end of a file is written to. */
static bool write_file(const char *path, const char *text, size_t len, bool append, bool *opened)
{
    struct stat old;
    const bool there = !stat(path, &old);
    if (append || (there && (!S_ISREG(old.st_mode) || old.st_nlink > 1)))
        return write_there(path, text, len, append, opened);
    if (there && access(path, W_OK))
        return *opened = false;
    return file_replace(path, FILE_FOLLOW, 0666, &(const struct bytes){text, len}, 1, opened) ||
           (!*opened && write_there(path, text, len, false, opened));
}

enum status session_write(const struct session *s, const char *path, const char *text, size_t len,
                          bool append, struct err *err)
{
    char *name = sanitize_line(path);
    enum status st = ST_OK;
    bool opened = false;
    if (!session_may(s, MAY_WRITE))
        st = err_set(err, ST_USAGE, "cannot write \"%s\": this session is restricted", name);
    else if (!write_file(path, text, len, append, &opened))
        st = err_set(err, opened ? ST_FAIL : ST_USAGE, "cannot write \"%s\": %s", name,
                     errno == ENXIO ? "it is a pipe that nobody reads" : strerror(errno));
    free(name);
    return st;
}
