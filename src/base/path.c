/* path.c - XDG folders and the files the program ships.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static const struct {
    const char *variable, *below_home;
} kinds[] = {
    [PATH_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
    [PATH_DATA] = {"XDG_DATA_HOME", ".local/share"},
    [PATH_STATE] = {"XDG_STATE_HOME", ".local/state"},
    [PATH_CACHE] = {"XDG_CACHE_HOME", ".cache"},
};

/* The variable's value if it is an absolute path, else NULL. */
static const char *absolute(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value == '/' ? value : NULL;
}

char *path_in(enum path_kind kind, const char *name)
{
    const char *folder = absolute(kinds[kind].variable);
    if (folder)
        return xasprintf("%s/attnscope/%s", folder, name);
    const char *home = absolute("HOME");
    if (!home)
        return NULL;
    return xasprintf("%s/%s/attnscope/%s", home, kinds[kind].below_home, name);
}

enum status path_for(enum path_kind kind, const char *name, const char *what, char **path,
                     struct err *err)
{
    *path = path_in(kind, name);
    if (*path)
        return ST_OK;
    return err_set(err, ST_FAIL, "no folder for %s: neither HOME nor %s is a full path", what,
                   kinds[kind].variable);
}

/* Asks the nearest part of it that is there. */
enum status path_may_write(const char *path, struct err *err)
{
    char *part = xstrdup(path), *slash;
    struct stat st;
    int missing;
    while ((missing = stat(part, &st) ? errno : 0) == ENOENT && (slash = strrchr(part, '/')))
        slash[slash == part] = 0; /* the first one is the root */
    const bool folder = !missing && S_ISDIR(st.st_mode);
    enum status ok = ST_OK;
    if (missing == ENOTDIR || (!missing && !folder && strcmp(part, path) != 0))
        ok = err_set(err, ST_FAIL, "cannot write %s: a file is in the place of a folder", path);
    else if ((missing && missing != ENOENT) || access(part, folder ? W_OK | X_OK : W_OK))
        ok = err_set(err, ST_FAIL, "cannot write %s: %s", path, strerror(errno));
    free(part);
    return ok;
}

/* One folder; that it is there already is fine. */
static enum status make_folder(const char *path, struct err *err)
{
    struct stat st;
    if (mkdir(path, 0700) == 0)
        return ST_OK;
    const int why = errno;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return ST_OK;
        return err_set(err, ST_FAIL, "cannot create the folder %s: a file is in its place", path);
    }
    return err_set(err, ST_FAIL, "cannot create the folder %s: %s", path, strerror(why));
}

enum status path_make_parent(const char *path, struct err *err)
{
    char *folder = xstrdup(path);
    enum status st = ST_OK;
    for (char *slash = strchr(folder + (*folder == '/'), '/'); slash && !st;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        st = make_folder(folder, err);
        *slash = '/';
    }
    free(folder);
    return st;
}

char *path_program(const char *name)
{
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? xstrdup(name) : NULL;
    for (const char *path = getenv("PATH"); path && *path; path += *path == ':') {
        const size_t len = strcspn(path, ":");
        char *file = xasprintf("%.*s/%s", (int)len, path, name);
        if (len && access(file, X_OK) == 0)
            return file;
        free(file);
        path += len;
    }
    return NULL;
}

/* Bytes of the folders that both paths begin with, without the slash behind them. */
static size_t common_folders(const char *a, const char *b)
{
    size_t common = 0;
    for (size_t i = 0;; i++) {
        const bool ends_a = !a[i] || a[i] == '/', ends_b = !b[i] || b[i] == '/';
        if (ends_a && ends_b)
            common = i;
        if (!a[i] || a[i] != b[i])
            return common;
    }
}

char *path_moved(const char *self, const char *own, const char *file)
{
    const size_t common = common_folders(own, file);
    const char *slash = strrchr(self, '/'), *below = own + common; /* "/bin" */
    const size_t folder = slash ? (size_t)(slash - self) : 0, len = strlen(below);
    if (folder < len || strncmp(self + folder - len, below, len) != 0)
        return NULL;
    return xasprintf("%.*s%s", (int)(folder - len), self, file + common);
}

char *path_installed(const char *own, const char *file)
{
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return NULL;
    self[n] = '\0';
    return path_moved(self, own, file);
}
