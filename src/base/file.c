/* file.c - see file.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* To the disk. Not every file system can, and then there is nothing to be done. */
static bool bring_to_disk(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOSYS ||
           errno == EOPNOTSUPP;
}

/* As the old file is, whatever the umask. */
static bool dress(int fd, const struct stat *old)
{
    struct stat is;
    if (!fstat(fd, &is) && (is.st_uid != old->st_uid || is.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid))
        errno = 0; /* it is ours then */
    return fchmod(fd, old->st_mode & 07777) == 0;
}

/* `lasts`: through a power cut. `old`: whose place it takes; NULL: nobody's. */
static bool create(const char *path, mode_t mode, bool lasts, const struct stat *old,
                   const struct bytes *parts, size_t n, bool *made)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    *made = fd >= 0;
    if (fd < 0)
        return false;
    const bool ok =
        (!old || dress(fd, old)) && write_parts(fd, parts, n) && (!lasts || bring_to_disk(fd));
    return close_after(fd, ok) || undo(path);
}

bool file_create(const char *path, mode_t mode, const struct bytes *parts, size_t n)
{
    bool made;
    return create(path, mode, false, NULL, parts, n, &made);
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

/* ---- links ---- */

char *file_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return xstrndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}

/* The kernel's rule for links that are followed (protected_symlinks), which is off on some machines: in a folder where everybody may
 * put one, only those of ours or of the folder's owner. */
static bool may_follow(const char *folder, const struct stat *link)
{
    struct stat in;
    if (stat(*folder ? folder : ".", &in) || !(in.st_mode & S_ISVTX) || !(in.st_mode & S_IWOTH))
        return true;
    return link->st_uid == geteuid() || link->st_uid == in.st_uid;
}

/* Where this link leads, as it was written, from where it lies; NULL with errno. */
static char *follow(const char *path, const struct stat *link)
{
    char to[PATH_MAX], *folder = file_folder_of(path), *out = NULL;
    const ssize_t len =
        may_follow(folder, link) ? readlink(path, to, sizeof to) : (errno = EACCES, -1);
    if (len >= (ssize_t)sizeof to)
        errno = ENAMETOOLONG;
    else if (len >= 0)
        out = xasprintf("%s%.*s", *to == '/' ? "" : folder, (int)len, to);
    free(folder);
    return out;
}

char *file_end_of_links(const char *path)
{
    enum { MOST = 40 };
    char *at = xstrdup(path);
    struct stat is;
    for (int i = 0; at && !lstat(at, &is) && S_ISLNK(is.st_mode); i++) {
        char *next = i < MOST ? follow(at, &is) : (errno = ELOOP, NULL);
        free(at);
        at = next;
    }
    return at;
}

/* The new name in its folder. It is whole without that, at worst under the old one. */
static void bring_name_to_disk(const char *path)
{
    char *folder = file_folder_of(path);
    const int fd = open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

/* The name itself. `lasts`: it is as the old file was, and there after a power cut. */
static bool replace(const char *path, bool lasts, mode_t mode, const struct bytes *parts, size_t n,
                    bool *made)
{
    char *fresh = xasprintf("%s.%ld%s", path, (long)getpid(), ending);
    struct stat old;
    const bool there = lasts && stat(path, &old) == 0;
    unlink(fresh); /* left by an earlier process of the same number */
    bool ok = create(fresh, mode, lasts, there ? &old : NULL, parts, n, made);
    if (ok && rename(fresh, path) != 0)
        ok = undo(fresh);
    if (ok && lasts)
        bring_name_to_disk(path);
    free(fresh);
    return ok;
}

bool file_replace(const char *path, enum file_links links, mode_t mode, const struct bytes *parts,
                  size_t n, bool *beside)
{
    const bool follows = links == FILE_FOLLOW;
    char *real = follows ? file_end_of_links(path) : xstrdup(path);
    bool made = false;
    const bool ok = real && replace(real, follows, mode, parts, n, &made);
    const int why = errno;
    if (beside)
        *beside = made;
    free(real);
    errno = why;
    return ok;
}
