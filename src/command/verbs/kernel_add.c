/* kernel_add.c - kernel add: a source, a cubin, a function of a library or of Python, taken in where it lies.
 *
 * Nothing is copied: a .cu or an .attn is linked into the user's folder, so that it is read where
 * its author edits it; for a library a descriptor of a few lines is written there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/kernel_add.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/sanitize.h"
#include "command/output.h"
#include "command/session.h"

enum { TEXT_MAX = 1 << 20 };

/* ---- add ---- */

/* What is to be added. */
struct addition {
    char *path;   /* absolute, of the file that was named */
    char *symbol; /* of a library, or NULL */
    const char *name, *dtypes, *backend;
};

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

char *kernel_file(const char *name, const char *ending, struct err *err)
{
    char *file = xasprintf("kernels/%s%s", name, ending), *path;
    (void)path_for(PATH_DATA, file, "your kernels", &path, err);
    free(file);
    return path;
}

enum status kernel_cannot(const char *what, const char *path, struct err *err)
{
    const char *why = strerror(errno);
    char *clean = sanitize_line(path);
    err_set(err, ST_FAIL, "cannot %s %s: %s", what, clean, why);
    free(clean);
    return ST_FAIL;
}

/* What is wrong with what was put into the folder as `path` is said of the file that the user
 * named: the other is about to go. */
static enum status refuse(const char *problem, const char *path, const char *named, struct err *err)
{
    const size_t len = strlen(path);
    if (!problem || strncmp(problem, path, len) != 0)
        return err_set(err, ST_USAGE, "%s", problem ? problem : "it was not read");
    char *clean = sanitize_line(named);
    enum status st = err_set(err, ST_USAGE, "%s%s", clean, problem + len);
    free(clean);
    return st;
}

/* The registry's word on what has just been put into the folder as `path`; what is wrong is taken
 * out again. */
static enum status accept(struct session *s, struct cmd_call *c, const char *name, const char *path,
                          const char *named, struct err *err)
{
    registry_refresh(s->services.registry);
    const char *problem = registry_problem_of(s->services.registry, name);
    const struct kernel *k = problem ? NULL : registry_find(s->services.registry, name);
    if (k && k->user)
        return kernel_print_own(s, c, k);
    enum status st = refuse(problem, path, named, err);
    unlink(path);
    registry_refresh(s->services.registry);
    return st;
}

/* Links the file into the folder under the name that its descriptor gives. */
static enum status add_link(struct session *s, struct cmd_call *c, const char *from,
                            const char *name, const char *ending, struct err *err)
{
    char *path = kernel_file(name, ending, err), there[4096];
    enum status st = path ? path_make_parent(path, err) : ST_FAIL;
    if (st == ST_OK && symlink(from, path) != 0) {
        const bool taken = errno == EEXIST;
        const ssize_t n = taken ? readlink(path, there, sizeof there - 1) : -1;
        there[n > 0 ? n : 0] = '\0';
        if (!taken)
            st = kernel_cannot("link", path, err);
        else if (strcmp(there, from) != 0)
            st = err_set(err, ST_USAGE, "%s is there already; kernel remove %s takes it out", path,
                         name);
        else
            session_note(s, "%s was added before", name);
    }
    if (st == ST_OK)
        st = accept(s, c, name, path, from, err);
    free(path);
    return st;
}

/* The name in the descriptor that `path` begins with or is. */
static enum status read_name(const char *path, char **name, struct err *err)
{
    char *text;
    size_t len;
    struct kernel_desc *d;
    enum status st = str_read_file(path, TEXT_MAX, &text, &len, err);
    if (st != ST_OK)
        return st;
    st = desc_parse(path, text, len, &d, err);
    if (st == ST_OK) {
        *name = xstrdup(d->name);
        desc_free(d);
    }
    free(text);
    return st;
}

static enum status add_described(struct session *s, struct cmd_call *c, const char *path,
                                 struct err *err)
{
    char *name = NULL;
    enum status st = read_name(path, &name, err);
    if (err)
        err->at = -1; /* it points into the file */
    if (st == ST_OK)
        st = add_link(s, c, path, name, ends_with(path, ".cu") ? ".cu" : ".attn", err);
    free(name);
    return st;
}

/* x.cubin is described by x.attn beside it. */
static enum status add_cubin(struct session *s, struct cmd_call *c, const char *path,
                             struct err *err)
{
    const char *dot = strrchr(path, '.'), *base = strrchr(path, '/') + 1;
    char *beside = xasprintf("%.*s.attn", (int)(dot - path), path);
    enum status st;
    if (access(beside, R_OK) == 0)
        st = add_described(s, c, beside, err);
    else
        st = err_set(err, ST_USAGE,
                     "%s needs a descriptor beside it, %s, with its launch and the line \"@cubin "
                     "%s\"; attnscope-kernel(5) has an example",
                     base, strrchr(beside, '/') + 1, base);
    free(beside);
    return st;
}

/* A name for a function: its own, else the library's, in lower case. */
static char *function_name(const struct addition *a)
{
    const char *from =
        a->symbol && strcmp(a->symbol, "attn_run") != 0 ? a->symbol : strrchr(a->path, '/') + 1;
    struct str s = {0};
    if (!strcmp(from, strrchr(a->path, '/') + 1) && str_starts(from, "lib"))
        from += 3;
    for (; *from && *from != '.' && s.len < 24; from++)
        str_addc(&s, isalnum((unsigned char)*from) ? (char)tolower((unsigned char)*from) : '_');
    if (!s.len || !isalpha((unsigned char)s.data[0])) {
        str_clear(&s);
        str_add(&s, "mine");
    }
    return str_take(&s);
}

static enum status write_text(const char *text, const char *name, const char *path, struct err *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST)
        return err_set(err, ST_USAGE, "%s is there already; kernel remove %s takes it out", path,
                       name);
    if (fd < 0)
        return kernel_cannot("write", path, err);
    const size_t len = strlen(text);
    const bool done = write(fd, text, len) == (ssize_t)len;
    if (close(fd) == 0 && done)
        return ST_OK;
    unlink(path);
    return kernel_cannot("write", path, err);
}

static enum status write_descriptor(const struct addition *a, const char *name, const char *path,
                                    struct err *err)
{
    char *text = xasprintf(
        "@name     %s\n@title    %s of %s\n@dtypes   %s\n@backend  %s\n@library  %s:%s\n\n"
        "For the plan, add @threads, @grid, @smem and @traffic.\n",
        name, a->symbol ? a->symbol : "attn_run", strrchr(a->path, '/') + 1, a->dtypes, a->backend,
        a->path, a->symbol ? a->symbol : "attn_run");
    enum status st = write_text(text, name, path, err);
    free(text);
    return st;
}

static char *spaced(const char *list)
{
    char *copy = xstrdup(list);
    for (char *c = copy; *c; c++)
        if (*c == ',')
            *c = ' ';
    return copy;
}

static enum status add_library(struct session *s, struct cmd_call *c, struct addition *a,
                               struct err *err)
{
    char *name = a->name ? xstrdup(a->name) : function_name(a),
         *path = kernel_file(name, ".attn", err);
    char *dtypes = spaced(a->dtypes ? a->dtypes : "f16"),
         *backends = spaced(a->backend ? a->backend : desc_backend_words[0]);
    a->dtypes = dtypes;
    a->backend = backends;
    enum status st = path ? path_make_parent(path, err) : ST_FAIL;
    if (st == ST_OK && (strchr(name, '/') || strpbrk(a->path, " \t\n:")))
        st = err_set(err, ST_USAGE, "a path with blanks or colons cannot stand in a descriptor");
    if (st == ST_OK)
        st = write_descriptor(a, name, path, err);
    if (st == ST_OK)
        st = accept(s, c, name, path, path, err);
    free(backends);
    free(dtypes);
    free(path);
    free(name);
    return st;
}

/* Splits FILE:FUNCTION, unless there is a file of that very name. */
static enum status find_file(const char *word, struct addition *a, struct err *err)
{
    char *file = xstrdup(word), *colon = strrchr(file, ':');
    if (access(file, F_OK) != 0 && colon && !strchr(colon, '/')) {
        *colon = '\0';
        a->symbol = xstrdup(colon + 1);
    }
    a->path = realpath(file, NULL);
    enum status st = a->path ? ST_OK : kernel_cannot("add", file, err);
    free(file);
    return st == ST_OK ? ST_OK : ST_USAGE;
}

/* py:module.function under a name of its own, so that lists and completion have it. */
static enum status add_python(struct session *s, struct cmd_call *c, const char *path,
                              const struct addition *a, struct err *err)
{
    const char *last = strrchr(path, '.');
    char *name = xstrdup(a->name ? a->name : last ? last + 1 : path);
    for (char *p = a->name ? NULL : name; p && *p; p++)
        *p = (char)tolower((unsigned char)*p);
    char *file = kernel_file(name, ".attn", err), *text = NULL;
    char *dtypes = spaced(a->dtypes ? a->dtypes : "f16,bf16,f32");
    char *backends = spaced(a->backend ? a->backend : "cuda,cpu");
    text = xasprintf("@name     %s\n@title    Python callable %s\n@dtypes   %s\n@python   %s\n"
                     "@backend  %s\n",
                     name, path, dtypes, path, backends);
    enum status st = file ? path_make_parent(file, err) : ST_FAIL;
    if (st == ST_OK && strchr(name, '/'))
        st = err_set(err, ST_USAGE, "a kernel's name has no slash");
    if (st == ST_OK)
        st = write_text(text, name, file, err);
    if (st == ST_OK)
        st = accept(s, c, name, file, file, err);
    free(backends);
    free(dtypes);
    free(text);
    free(file);
    free(name);
    return st;
}

static enum status add_file(struct session *s, struct cmd_call *c, const char *word,
                            struct addition *a, struct err *err)
{
    if (str_starts(word, PYTHON_PREFIX))
        return add_python(s, c, word + strlen(PYTHON_PREFIX), a, err);
    enum status st = find_file(word, a, err);
    if (st != ST_OK)
        return st;
    const bool library = a->symbol || strstr(strrchr(a->path, '/'), ".so");
    if ((a->name || a->dtypes || a->backend) && !library)
        return err_set(err, ST_USAGE,
                       "name=, dtypes= and backend= are for a library; what this "
                       "file is, its descriptor says");
    if (library)
        return add_library(s, c, a, err);
    if (ends_with(a->path, ".cu") || ends_with(a->path, ".attn"))
        return add_described(s, c, a->path, err);
    if (ends_with(a->path, ".cubin") || ends_with(a->path, ".fatbin") || ends_with(a->path, ".ptx"))
        return add_cubin(s, c, a->path, err);
    return err_set(err, ST_USAGE,
                   "a kernel is a .cu, a .cubin with its .attn, LIBRARY.so:FUNCTION or "
                   "py:module.function");
}

enum status kernel_add(struct session *s, struct cmd_call *c, struct err *err)
{
    struct addition a = {.name = call_key(c, "name"),
                         .dtypes = call_key(c, "dtypes"),
                         .backend = call_key(c, "backend")};
    (void)call_format(c);
    enum status st = call_finish(s, c, err);
    if (st == ST_OK && c->nwords != 2)
        st = err_set(err, ST_USAGE, "kernel add needs one file, for example: kernel add mine.cu");
    if (st == ST_OK)
        st = add_file(s, c, c->words[1].text, &a, err);
    free(a.path);
    free(a.symbol);
    return st;
}
