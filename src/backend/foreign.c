/* foreign.c - see foreign.h.
 *
 * The loader knows a library by its name and gives back the old one while that is open, even if the
 * file has been built anew. So a new version is opened under another spelling of the same path,
 * with one more "./", which also keeps the folder from which its own dependencies count.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/foreign.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"

enum { OPEN_MAX_VERSIONS = 64 };

/* What this process has open: like the loader's own list, there is one a process. */
static struct opened {
    char *path;
    ino_t inode;
    off_t size;
    struct timespec time;
    void *handle;
} opened[OPEN_MAX_VERSIONS];
static int nopened;

static bool same_file(const struct opened *o, const char *path, const struct stat *st)
{
    return !strcmp(o->path, path) && o->inode == st->st_ino && o->size == st->st_size &&
           o->time.tv_sec == st->st_mtim.tv_sec && o->time.tv_nsec == st->st_mtim.tv_nsec;
}

/* "/dir/././lib.so" with a "./" for each version of it that is open. */
static char *spelling(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    struct str s = {0};
    str_addn(&s, path, (size_t)(name - path));
    for (int i = 0; i < nopened; i++)
        if (!strcmp(opened[i].path, path))
            str_add(&s, "./");
    str_add(&s, name);
    return str_take(&s);
}

static enum status open_version(const char *path, const struct stat *st, void **out,
                                struct err *err)
{
    if (nopened == OPEN_MAX_VERSIONS)
        return err_set(err, ST_FAIL, "%d libraries are open; start the program anew", nopened);
    char *name = spelling(path);
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    free(name);
    if (!handle) {
        const char *why = dlerror();
        return err_set(err, ST_FAIL, "cannot be opened: %s", why ? why : path);
    }
    opened[nopened++] =
        (struct opened){xstrdup(path), st->st_ino, st->st_size, st->st_mtim, handle};
    *out = handle;
    return ST_OK;
}

static enum status find_open(const char *path, void **out, struct err *err)
{
    struct stat st;
    if (*path != '/' || stat(path, &st) || !S_ISREG(st.st_mode))
        return err_set(err, ST_FAIL, "%s is no file", path);
    for (int i = nopened; i-- > 0;)
        if (same_file(&opened[i], path, &st)) {
            *out = opened[i].handle;
            return ST_OK;
        }
    return open_version(path, &st, out, err);
}

static foreign_fn *find_function(void *handle, const char *name)
{
    void *f = dlsym(handle, name);
    foreign_fn *fn = NULL;
    memcpy(&fn, &f, sizeof fn);
    return fn;
}

enum status foreign_open(const struct kernel_desc *d, enum dtype dtype, foreign_fn **fn,
                         struct err *err)
{
    void *handle = NULL;
    char *path = desc_path(d, d->file);
    char *typed = xasprintf("%s_%s", d->symbol, dtype_name(dtype));
    enum status st = find_open(path, &handle, err);
    if (st == ST_OK) {
        *fn = find_function(handle, typed);
        if (!*fn)
            *fn = find_function(handle, d->symbol);
        if (!*fn)
            st = err_set(err, ST_FAIL, "%s has neither %s nor %s", path, typed, d->symbol);
    }
    if (st != ST_OK)
        err_prefix(err, "%s", d->name);
    free(typed);
    free(path);
    return st;
}

enum status foreign_call(const struct kernel_desc *d, foreign_fn *fn, const struct AttnArgs *args,
                         void *stream, struct err *err)
{
    const int rc = fn(args, stream);
    if (rc == 0)
        return ST_OK;
    return err_set(err, ST_FAIL, "%s: %s returned %d", d->name, d->symbol, rc);
}
