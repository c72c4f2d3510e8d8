/* edit_copy.c - the private copy that edit works on. It is never overwritten.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "command/verbs/edit.h"
#include "kernel/rename.h"

static const char suffix[] = "_edit";

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

char *edit_stem(const struct session *s, const char *name)
{
    if (!ends_with(name, suffix) || !registry_problem_of(s->services.registry, name))
        return NULL;
    char *stem = xstrndup(name, strlen(name) - strlen(suffix));
    if (registry_find(s->services.registry, stem))
        return stem;
    free(stem);
    return NULL;
}

/* The folder of a file that is only linked into ours; NULL for one that lies there. */
static char *foreign_folder(const struct kernel_desc *d)
{
    char *own = path_in(PATH_DATA, "kernels"), *here = own ? realpath(own, NULL) : NULL;
    char *folder = *d->path == '/' ? desc_path(d, ".") : NULL;
    char *real = folder ? realpath(folder, NULL) : NULL;
    if (real && here && !strcmp(real, here)) {
        free(real);
        real = NULL;
    }
    free(folder);
    free(here);
    free(own);
    return real;
}

static enum status write_new(const char *path, const struct str *text, struct err *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    bool done = fd >= 0;
    for (size_t at = 0; done && at < text->len;) {
        const ssize_t n = write(fd, text->data + at, text->len - at);
        done = n > 0 || (n < 0 && errno == EINTR);
        at += n > 0 ? (size_t)n : 0;
    }
    const int why = errno;
    if (fd >= 0 && close(fd) != 0)
        done = false;
    if (!done && fd >= 0)
        unlink(path);
    return done ? ST_OK : err_set(err, ST_FAIL, "cannot write %s: %s", path, strerror(why));
}

static enum status make_copy(struct edit *e, struct err *err)
{
    struct str text = {0};
    char *folder = foreign_folder(e->original->cuda);
    enum status st = kernel_rename(e->original->cuda, e->name, folder, &text, err);
    if (st == ST_OK)
        st = path_make_parent(e->path, err);
    if (st == ST_OK)
        st = write_new(e->path, &text, err);
    if (st == ST_OK)
        session_note(e->s, "%s is a copy of %s for you to change", e->path, e->original->name);
    free(folder);
    str_free(&text);
    return st;
}

/* --fresh: the edit so far moves aside, to NAME_edit.cu.1 and so on, which is no kernel. */
static enum status set_aside(const struct edit *e, struct err *err)
{
    enum { TRIES = 1000 };
    for (int i = 1; i < TRIES; i++) {
        char *aside = xasprintf("%s.%d", e->path, i);
        const bool free_name = access(aside, F_OK) != 0;
        const bool moved = free_name && rename(e->path, aside) == 0;
        if (moved)
            session_note(e->s, "your edit so far is kept in %s", aside);
        free(aside);
        if (free_name)
            return moved ? ST_OK
                         : err_set(err, ST_FAIL, "cannot move %s: %s", e->path, strerror(errno));
    }
    return err_set(err, ST_FAIL, "too many old edits beside %s", e->path);
}

static void note_existing(const struct edit *e, const struct stat *st)
{
    char when[40];
    struct tm tm;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M", localtime_r(&st->st_mtime, &tm));
    session_note(e->s, "going on with your edit of %s; --fresh begins anew from %s", when,
                 e->original->name);
}

enum status edit_need_copy(struct edit *e, bool fresh, struct err *err)
{
    struct stat st;
    if (stat(e->path, &st) != 0)
        return make_copy(e, err);
    if (!fresh) {
        note_existing(e, &st);
        return ST_OK;
    }
    enum status done = set_aside(e, err);
    return done == ST_OK ? make_copy(e, err) : done;
}

enum status edit_name_copy(struct edit *e, struct err *err)
{
    const struct kernel_desc *d = e->original->cuda;
    const struct kernel *before =
        d->after ? registry_find(e->s->services.registry, d->after) : NULL;
    if (e->original->user && ends_with(d->name, suffix) && before && before->cuda) {
        e->original = before;
        e->name = xstrdup(d->name);
        e->path = xstrdup(d->path);
        return ST_OK;
    }
    e->name = xasprintf("%s%s", d->name, suffix);
    char *file = xasprintf("kernels/%s.cu", e->name);
    const enum status st = path_for(PATH_DATA, file, "your kernels", &e->path, err);
    free(file);
    return st;
}
