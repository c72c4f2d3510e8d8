/* registry_user.c - the user's kernels: files in $XDG_DATA_HOME/attnscope/kernels, as they are now.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "kernel/desc_parse.h"
#include "kernel/registry_state.h"

enum { USER_FILE_MAX = 1 << 20, CODE_HASHED = 16 << 20 };

/* ---- files ---- */

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

static int is_kernel_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           (ends_with(entry->d_name, ".cu") || ends_with(entry->d_name, ".attn"));
}

static struct stamp stamp_of(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return (struct stamp){.size = UINT64_MAX};
    return (struct stamp){.device = st.st_dev,
                          .inode = st.st_ino,
                          .size = (uint64_t)st.st_size,
                          .seconds = st.st_mtim.tv_sec,
                          .nanoseconds = st.st_mtim.tv_nsec};
}

/* The code beside a descriptor changes without it. */
static uint64_t code_stamp(const struct kernel_desc *d)
{
    if (!d || !d->file)
        return 0;
    char *path = desc_path(d, d->file);
    const struct stamp s = stamp_of(path);
    free(path);
    return s.inode * 31 + s.size * 7 + (uint64_t)s.seconds * 1000000007 + (uint64_t)s.nanoseconds;
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

static const struct kernel_desc *any_side(const struct kernel *k)
{
    return k ? k->cuda ? k->cuda : k->cpu : NULL;
}

static bool unchanged(const struct user_file *f, const struct stamp *now)
{
    return f->kernel && same_stamp(&f->stamp, now) &&
           f->stamp.code == code_stamp(any_side(f->kernel));
}

/* ---- one file ---- */

/* The hash of a kernel without a source is that of its descriptor and of its code. */
static uint64_t hash_code(const struct kernel_desc *d)
{
    char *path = desc_path(d, d->file), *code;
    size_t len;
    uint64_t hash = d->source_hash ^ code_stamp(d);
    if (str_read_file(path, CODE_HASHED, &code, &len, NULL) == ST_OK) {
        const char *texts[] = {code};
        hash = d->source_hash;
        desc_hash_texts(1, texts, &len, &hash);
        free(code);
    }
    free(path);
    return hash;
}

/* `kernel add` made a link: the file that was moved or deleted is what the user knows. */
static enum status name_target(const char *path, enum status st, struct err *err)
{
    char target[PATH_MAX];
    const ssize_t n = readlink(path, target, sizeof target);
    const char *base = strrchr(path, '/') + 1;
    if (n <= 0 || (size_t)n >= sizeof target || access(path, F_OK) == 0)
        return st;
    return err_set(err, st, "%.*s is gone, and %.*s with it; \"kernel remove %.*s\" forgets it",
                   (int)n, target, (int)strcspn(base, "."), base, (int)strcspn(base, "."), base);
}

static enum status parse_file(const char *path, char **text, struct kernel_desc **d,
                              struct err *err)
{
    size_t len;
    *d = NULL;
    enum status st = str_read_file(path, USER_FILE_MAX, text, &len, err);
    if (st != ST_OK)
        return name_target(path, st, err);
    st = desc_parse(path, *text, len, d, err);
    if (st == ST_OK && (*d)->file)
        (*d)->source_hash = hash_code(*d);
    return st;
}

static enum status name_taken(const struct kernel_desc *d, const struct kernel *same,
                              struct err *err)
{
    if (same->user)
        return err_set(err, ST_USAGE, "%s: the name %s is taken by %s; rename one of the two",
                       d->path, d->name, any_side(same)->path);
    return err_set(err, ST_USAGE,
                   "%s: the name %s is taken by a built-in kernel; rename its @name and its "
                   "function (the command \"edit %s\" makes a copy called %s_edit)",
                   d->path, d->name, d->name, d->name);
}

/* Puts the descriptor where its backends look for it; a second copy where there are two. */
static enum status place(struct registry *r, struct user_file *f, struct kernel_desc *d,
                         struct kernel *old, struct err *err)
{
    const struct kernel *same = registry_lookup(r, d->name);
    if (same) {
        enum status st = name_taken(d, same, err);
        desc_free(d);
        return st;
    }
    struct kernel_desc *both[2] = {d->backends & ON_CUDA ? d : NULL, NULL};
    if (d->backends & ON_CPU)
        both[1] = d;
    if (both[0] && both[1]) {
        enum status st = desc_parse(d->path, d->source, d->source_len, &both[1], err);
        if (st != ST_OK) {
            desc_free(d);
            return st;
        }
        both[1]->source_hash = d->source_hash;
    }
    f->stamp.code = code_stamp(d);
    const struct kernel k = {.name = d->name,
                             .group = "your own",
                             .cuda = both[0],
                             .cpu = both[1],
                             .user = true,
                             .code = d->code};
    f->kernel = old ? old : xcalloc(1, sizeof k);
    *f->kernel = k;
    return ST_OK;
}

static void add_pointer(struct registry *r, struct kernel *k)
{
    void *items = r->kernels;
    xgrow(&items, &r->cap, r->count + 1, sizeof k);
    r->kernels = items;
    r->kernels[r->count++] = k;
}

/* Reads the file; `old`, if any, is the kernel that its earlier version was. */
static void read_user_file(struct registry *r, struct user_file *f, struct kernel *old)
{
    struct err err = ERR_INIT;
    struct kernel_desc *d;
    char *text = NULL;
    enum status st = parse_file(f->path, &text, &d, &err);
    registry_retire(r, (struct retired){.text = text});
    if (old) {
        registry_retire(r, (struct retired){.desc = old->cuda});
        registry_retire(r, (struct retired){.desc = old->cpu});
    }
    if (st == ST_OK)
        st = place(r, f, d, old, &err);
    if (st != ST_OK && old)
        registry_retire(r, (struct retired){.kernel = old});
    if (st != ST_OK)
        f->problem = xstrdup(err.text);
    else
        add_pointer(r, f->kernel);
}

/* ---- the folder ---- */

static struct user_file *find_file(struct user_file *files, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(files[i].path, path))
            return &files[i];
    return NULL;
}

static size_t list_files(struct user_file **out)
{
    char *folder = path_in(PATH_DATA, "kernels");
    struct dirent **entries = NULL;
    int n = folder ? scandir(folder, &entries, is_kernel_file, alphasort) : 0;
    struct user_file *files = xcalloc(n > 0 ? (size_t)n : 1, sizeof *files);
    for (int i = 0; i < n; i++) {
        files[i].path = xasprintf("%s/%s", folder, entries[i]->d_name);
        files[i].stamp = stamp_of(files[i].path);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    *out = files;
    return n > 0 ? (size_t)n : 0;
}

/* A file with a problem need not be read again while nothing else has changed either. */
static bool all_unchanged(const struct registry *r, const struct user_file *now, size_t n)
{
    if (n != r->nfiles)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct user_file *f = &r->files[i];
        if (strcmp(f->path, now[i].path) || !same_stamp(&f->stamp, &now[i].stamp) ||
            (f->kernel && !unchanged(f, &now[i].stamp)))
            return false;
    }
    return true;
}

static void free_files(struct user_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(files[i].path);
        free(files[i].problem);
    }
    free(files);
}

/* Kernels whose file is gone are nobody's any more, but may still be looked at. */
static void retire_gone(struct registry *r, struct user_file *f)
{
    if (!f->kernel)
        return;
    registry_retire(r, (struct retired){.kernel = f->kernel, .desc = f->kernel->cuda});
    registry_retire(r, (struct retired){.desc = f->kernel->cpu});
    f->kernel = NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct kernel *const *)a)->name, (*(struct kernel *const *)b)->name);
}

static void sort_own(struct registry *r)
{
    if (r->count > r->builtin)
        qsort(r->kernels + r->builtin, r->count - r->builtin, sizeof *r->kernels, by_name);
}

bool registry_refresh(struct registry *r)
{
    struct user_file *now;
    const size_t n = list_files(&now);
    if (all_unchanged(r, now, n)) {
        free_files(now, n);
        return false;
    }
    r->count = r->builtin;
    for (size_t i = 0; i < r->nfiles; i++)
        if (!find_file(now, n, r->files[i].path))
            retire_gone(r, &r->files[i]);
    for (int kept = 1; kept >= 0; kept--) /* first what stays: it keeps its name */
        for (size_t i = 0; i < n; i++) {
            struct user_file *old = find_file(r->files, r->nfiles, now[i].path);
            const bool stays = old && unchanged(old, &now[i].stamp);
            if (stays != kept || now[i].kernel)
                continue;
            if (stays) {
                now[i].kernel = old->kernel;
                now[i].stamp = old->stamp;
                add_pointer(r, now[i].kernel);
            } else {
                read_user_file(r, &now[i], old ? old->kernel : NULL);
            }
        }
    free_files(r->files, r->nfiles);
    r->files = now;
    r->nfiles = n;
    sort_own(r);
    r->generation++;
    return true;
}

int registry_generation(const struct registry *r)
{
    return r->generation;
}

bool registry_has_files(const struct registry *r)
{
    return r->nfiles > 0;
}

void registry_free_files(struct registry *r)
{
    for (size_t i = 0; i < r->nfiles; i++)
        retire_gone(r, &r->files[i]);
    free_files(r->files, r->nfiles);
}

/* ---- questions ---- */

const char *registry_problem(const struct registry *r, int i)
{
    if (i >= 0 && (size_t)i < r->nproblems)
        return r->problems[i];
    i -= (int)r->nproblems;
    for (size_t k = 0; k < r->nfiles && i >= 0; k++)
        if (r->files[k].problem && i-- == 0)
            return r->files[k].problem;
    return NULL;
}

const char *registry_problem_of(const struct registry *r, const char *name)
{
    for (size_t i = 0; i < r->nfiles; i++) {
        const char *base = strrchr(r->files[i].path, '/') + 1;
        const size_t n = strlen(name);
        if (r->files[i].problem && !strncmp(base, name, n) && base[n] == '.' &&
            !strchr(base + n + 1, '.'))
            return r->files[i].problem;
    }
    return NULL;
}
