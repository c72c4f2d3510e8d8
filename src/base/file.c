/* file.c - see file.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* ---- the gate ---- */

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISLNK(mode)  ? "a link, which is not followed here"
                            : "a device";
}

static enum status no_file(const char *path, mode_t mode, struct err *err)
{
    errno = EINVAL;
    return err_set(err, ST_USAGE, "%s is %s, not a file", path, kind_of(mode));
}

static enum status cannot_open(const char *path, struct err *err)
{
    const int why = errno;
    err_set(err, ST_USAGE, "cannot open %s: %s", path, strerror(why));
    errno = why;
    return ST_USAGE;
}

/* What it is, is asked before it is opened, since to open some devices is to act; and once more after, since
 * another may have come into its place. */
enum status file_open(const char *path, enum file_links links, int *fd, struct err *err)
{
    const bool own = links == FILE_OWN;
    struct stat st;
    *fd = -1;
    if (own ? lstat(path, &st) : stat(path, &st))
        return cannot_open(path, err);
    if (!S_ISREG(st.st_mode))
        return no_file(path, st.st_mode, err);
    const int open_fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (own ? O_NOFOLLOW : 0));
    if (open_fd < 0)
        return cannot_open(path, err);
    if (!fstat(open_fd, &st) && S_ISREG(st.st_mode)) {
        *fd = open_fd;
        return ST_OK;
    }
    close(open_fd);
    return no_file(path, st.st_mode, err);
}

enum status file_open_if(const char *path, enum file_links links, int *fd, struct err *err)
{
    struct err why = ERR_INIT;
    const enum status st = file_open(path, links, fd, &why);
    if (!st || errno == ENOENT || errno == ENOTDIR)
        return ST_OK;
    if (err)
        *err = why;
    return st;
}

enum status file_may_open(const char *path, struct err *err)
{
    struct stat st;
    return stat(path, &st) || S_ISREG(st.st_mode) ? ST_OK : no_file(path, st.st_mode, err);
}

ssize_t file_read(int fd, void *data, size_t want)
{
    size_t got = 0;
    while (got < want) {
        const ssize_t n = read(fd, (char *)data + got, want - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

/* ---- writing ---- */

bool file_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;
    while (len > 0) {
        const ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool write_parts(int fd, const struct bytes *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!file_write_all(fd, parts[i].data, parts[i].len))
            return false;
    return true;
}

/* Closes; false with the first reason, where there is one. */
static bool close_after(int fd, bool ok)
{
    const int why = errno;
    if (close(fd) != 0 && ok)
        return false;
    errno = why;
    return ok;
}

static bool undo(const char *path)
{
    const int why = errno;
    unlink(path);
    errno = why;
    return false;
}

/* `kept`: permissions to have whatever the umask is; 0: none in particular. */
static bool create(const char *path, mode_t mode, mode_t kept, const struct bytes *parts, size_t n,
                   bool *made)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    *made = fd >= 0;
    if (fd < 0)
        return false;
    const bool ok = (!kept || fchmod(fd, kept) == 0) && write_parts(fd, parts, n);
    return close_after(fd, ok) || undo(path);
}

bool file_create(const char *path, mode_t mode, const struct bytes *parts, size_t n)
{
    bool made;
    return create(path, mode, 0, parts, n, &made);
}

static const char ending[] = ".tmp";

/* "x.cubin.4711.tmp" of a process that is no more. */
bool file_is_left_over(const char *name)
{
    const size_t len = strlen(name), tail = sizeof ending - 1;
    if (len <= tail || strcmp(name + len - tail, ending) != 0)
        return false;
    const char *at = name + len - tail;
    while (at > name && at[-1] >= '0' && at[-1] <= '9')
        at--;
    const long pid = at > name && at[-1] == '.' ? strtol(at, NULL, 10) : 0;
    return pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

bool file_replace(const char *path, mode_t mode, const struct bytes *parts, size_t n, bool *beside)
{
    char *fresh = xasprintf("%s.%ld%s", path, (long)getpid(), ending);
    struct stat old;
    bool made;
    const bool there = stat(path, &old) == 0;
    unlink(fresh); /* left by an earlier process of the same number */
    bool ok = create(fresh, mode, there ? old.st_mode & 07777 : 0, parts, n, &made);
    if (ok && rename(fresh, path) != 0)
        ok = undo(fresh);
    if (beside)
        *beside = made;
    free(fresh);
    return ok;
}
