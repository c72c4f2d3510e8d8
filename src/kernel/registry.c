/* registry.c - which kernels there are: the built-in ladder, the user's folder, read again when it
 * changes, and kernels that exist because somebody said their name.
 *
 * Kernels and descriptors are handed out as pointers that callers keep: a screen, a request, a plan.
 * So what a changed file replaces is put aside and lives as long as the registry.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/registry.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "kernel/blob.h"
#include "kernel/desc_parse.h"
#include "kernel/desc_text.h"

/* Tells one version of a file from another. */
struct stamp {
    uint64_t device, inode, size, code; /* code: of the file that an .attn names, mixed */
    int64_t seconds, nanoseconds;
};

/* A file in the user's folder. */
struct user_file {
    char *entry; /* in the folder */
    char *path; /* of the source or descriptor: the entry, or what the path file that it is names */
    struct stamp stamp;
    struct kernel *kernel; /* NULL: it has a problem */
    char *problem;         /* one sentence, or NULL */
};

struct registry {
    struct kernel **kernels; /* built-in ones first */
    size_t count, cap, builtin;
    struct desc_headers *headers; /* of all descriptors */
    struct user_file *files;
    size_t nfiles;
    int generation;
    struct retired {
        struct kernel *kernel;
        struct kernel_desc *desc;
        char *text;
    } * retired; /* any member may be NULL */
    size_t nretired, retired_cap;
    struct python *
        *pythons; /* head of a list, behind a pointer: looking up a name makes it longer */
};

static struct kernel *lookup(const struct registry *r, const char *name);
static void retire(struct registry *r, struct retired old);

/* ---- kernels by their name alone ---- */

struct python {
    struct kernel kernel;
    char *text; /* its descriptor */
    struct python *next;
};

static struct kernel_desc *make_desc(const char *text)
{
    const struct desc_source src = {
        .file = "kernels/peers/python.peer", .text = text, .len = strlen(text), .trusted = true};
    struct kernel_desc *d;
    return desc_parse_source(&src, &d, NULL) == ST_OK ? d : NULL;
}

static struct kernel *find_python(const struct registry *r, const char *name)
{
    for (struct python *p = *r->pythons; p; p = p->next)
        if (!strcmp(p->kernel.name, name))
            return &p->kernel;
    return NULL;
}

static enum status make_python(const struct registry *r, const char *name,
                               const struct kernel **out, struct err *err)
{
    const char *path = name + strlen(PYTHON_PREFIX);
    if (!desc_is_python_path(path))
        return err_set(err, ST_USAGE,
                       "\"%.60s\" names no Python callable; write py:module.function", name);
    struct python *p = xcalloc(1, sizeof *p);
    p->text = xasprintf("/* @name %s\n * @title Python callable %s\n * @peer python\n"
                        " * @backend cuda cpu\n * @unit tensor\n * @dtypes f16 bf16 f32\n */\n",
                        name, path);
    p->kernel = (struct kernel){.group = "your own",
                                .cuda = make_desc(p->text),
                                .cpu = make_desc(p->text),
                                .code = CODE_PYTHON,
                                .user = true};
    p->kernel.name = p->kernel.cuda->name;
    p->next = *r->pythons;
    *r->pythons = p;
    *out = &p->kernel;
    return ST_OK;
}

static void free_pythons(struct registry *r)
{
    while (*r->pythons) {
        struct python *p = *r->pythons;
        *r->pythons = p->next;
        desc_free(p->kernel.cuda);
        desc_free(p->kernel.cpu);
        free(p->text);
        free(p);
    }
    free(r->pythons);
}

const struct kernel *registry_python(const struct registry *r, int i)
{
    const struct python *p = *r->pythons;
    for (; p && i > 0; i--)
        p = p->next;
    return p ? &p->kernel : NULL;
}

/* ---- the user's folder ---- */

enum { USER_FILE_MAX = 1 << 20, CODE_HASHED = 16 << 20 };

/* ---- files ---- */

static int is_kernel_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           (str_ends(entry->d_name, ".cu") || str_ends(entry->d_name, ".c") ||
            str_ends(entry->d_name, ".attn") || str_ends(entry->d_name, REGISTRY_PATH_FILE));
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
    uint64_t hash = desc_hash(d) ^ code_stamp(d);
    if (str_read_file(path, CODE_HASHED, &code, &len, NULL) == ST_OK) {
        hash = hash_bytes(desc_hash(d), code, len);
        free(code);
    }
    free(path);
    return hash;
}

/* The file that was moved or deleted is what the user knows. */
static enum status name_target(const struct user_file *f, enum status st, struct err *err)
{
    const char *base = strrchr(f->entry, '/') + 1;
    const int name = (int)strcspn(base, ".");
    char target[PATH_MAX];
    if (!strcmp(f->entry, f->path)) {
        const ssize_t n = readlink(f->entry, target, sizeof target);
        return n <= 0 || (size_t)n >= sizeof target
                   ? st
                   : err_set(err, st,
                             "%s is a link, and links in this folder are not followed; \"kernel "
                             "remove %.*s\", "
                             "then \"kernel add %.*s\" takes the file in by its path",
                             f->entry, name, base, (int)n, target);
    }
    char *text = NULL;
    size_t len;
    if (*f->path != '/' && str_read(f->entry, PATH_MAX, FILE_OWN, &text, &len, err) != ST_OK)
        return ST_USAGE; /* it is no file at all */
    free(text);
    if (*f->path != '/')
        return err_set(err, st,
                       "%s holds no path of a .cu, .c or .attn; \"kernel remove %.*s\" forgets it",
                       f->entry, name, base);
    return access(f->path, F_OK) == 0
               ? st
               : err_set(err, st, "%s is gone, and %.*s with it; \"kernel remove %.*s\" forgets it",
                         f->path, name, base, name, base);
}

/* What lies in the folder itself is no link: its text goes into packs. */
static enum status parse_file(const struct user_file *f, char **text, struct kernel_desc **d,
                              struct err *err)
{
    size_t len;
    *d = NULL;
    const bool here = !strcmp(f->entry, f->path);
    enum status st = *f->path != '/' ? ST_USAGE
                                     : str_read(f->path, USER_FILE_MAX,
                                                here ? FILE_OWN : FILE_FOLLOW, text, &len, err);
    if (st != ST_OK)
        return name_target(f, st, err);
    st = desc_parse(f->path, *text, len, d, err);
    if (st == ST_OK && (*d)->file)
        *(*d)->hash = hash_code(*d);
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
    const struct kernel *same = lookup(r, d->name);
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
        *both[1]->hash = *d->hash;
        both[1]->headers = r->headers;
    }
    d->headers = r->headers;
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
    enum status st = parse_file(f, &text, &d, &err);
    retire(r, (struct retired){.text = text});
    if (old) {
        retire(r, (struct retired){.desc = old->cuda});
        retire(r, (struct retired){.desc = old->cpu});
    }
    if (st == ST_OK)
        st = place(r, f, d, old, &err);
    if (st != ST_OK && old)
        retire(r, (struct retired){.kernel = old});
    if (st != ST_OK)
        f->problem = xstrdup(err.text);
    else
        add_pointer(r, f->kernel);
}

/* ---- the folder ---- */

static struct user_file *find_file(struct user_file *files, size_t n, const char *entry)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(files[i].entry, entry))
            return &files[i];
    return NULL;
}

/* What `entry` stands for: itself, or the one line of a path file; "" where that holds no path. */
static char *path_meant(const char *entry)
{
    char *text = NULL;
    size_t len;
    if (!str_ends(entry, REGISTRY_PATH_FILE))
        return xstrdup(entry);
    if (str_read(entry, PATH_MAX, FILE_OWN, &text, &len, NULL) == ST_OK)
        text[strcspn(text, "\n")] = '\0';
    const bool is_path = text && *text == '/' &&
                         (str_ends(text, ".cu") || str_ends(text, ".c") || str_ends(text, ".attn"));
    char *path = xstrdup(is_path ? text : "");
    free(text);
    return path;
}

static size_t list_files(struct user_file **out)
{
    char *folder = path_in(PATH_DATA, "kernels");
    struct dirent **entries = NULL;
    int n = folder ? scandir(folder, &entries, is_kernel_file, alphasort) : 0;
    struct user_file *files = xcalloc(n > 0 ? (size_t)n : 1, sizeof *files);
    for (int i = 0; i < n; i++) {
        files[i].entry = xasprintf("%s/%s", folder, entries[i]->d_name);
        files[i].path = path_meant(files[i].entry);
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
        if (strcmp(f->entry, now[i].entry) || strcmp(f->path, now[i].path) ||
            !same_stamp(&f->stamp, &now[i].stamp) || (f->kernel && !unchanged(f, &now[i].stamp)))
            return false;
    }
    return true;
}

static void free_files(struct user_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(files[i].entry);
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
    retire(r, (struct retired){.kernel = f->kernel, .desc = f->kernel->cuda});
    retire(r, (struct retired){.desc = f->kernel->cpu});
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
        if (!find_file(now, n, r->files[i].entry))
            retire_gone(r, &r->files[i]);
    for (int kept = 1; kept >= 0; kept--) /* first what stays: it keeps its name */
        for (size_t i = 0; i < n; i++) {
            struct user_file *old = find_file(r->files, r->nfiles, now[i].entry);
            const bool stays =
                old && !strcmp(old->path, now[i].path) && unchanged(old, &now[i].stamp);
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

/* Frees what was read of the user's folders. */
static void free_user_files(struct registry *r)
{
    for (size_t i = 0; i < r->nfiles; i++)
        retire_gone(r, &r->files[i]);
    free_files(r->files, r->nfiles);
}

/* ---- questions ---- */

const char *registry_problem(const struct registry *r, int i)
{
    for (size_t k = 0; k < r->nfiles && i >= 0; k++)
        if (r->files[k].problem && i-- == 0)
            return r->files[k].problem;
    return NULL;
}

const char *registry_problem_of(const struct registry *r, const char *name)
{
    for (size_t i = 0; i < r->nfiles; i++) {
        const char *base = strrchr(r->files[i].entry, '/') + 1;
        const size_t n = strlen(name);
        if (r->files[i].problem && !strncmp(base, name, n) && base[n] == '.' &&
            !strchr(base + n + 1, '.'))
            return r->files[i].problem;
    }
    return NULL;
}

const char *registry_entry_of(const struct registry *r, const struct kernel *k)
{
    for (size_t i = 0; i < r->nfiles; i++)
        if (r->files[i].kernel == k)
            return r->files[i].entry;
    return NULL;
}

/* The ladder: every name that is built in, in the order in which it is taught; kernels/cuda/local.mk has it. */
static const struct rung {
    const char *name, *group;
} ladder[] = {
#include "ladder_table.h"
};
enum { RUNGS = sizeof ladder / sizeof *ladder };

static struct kernel *lookup(const struct registry *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (!strcmp(r->kernels[i]->name, name))
            return r->kernels[i];
    return find_python(r, name);
}

static void retire(struct registry *r, struct retired old)
{
    void *items = r->retired;
    if (!old.kernel && !old.desc && !old.text)
        return;
    xgrow(&items, &r->retired_cap, r->nretired + 1, sizeof old);
    r->retired = items;
    r->retired[r->nretired++] = old;
}

/* ---- built-in kernels ---- */

/* A start reads their names alone. A descriptor is parsed when somebody asks for its kernel: of a few dozen most
 * processes want one, and parsing all of them took most of the time of a short command. */
struct builtin {
    struct kernel kernel; /* the first member: handed out, and found again by its address */
    char *name;
    size_t rung;                   /* of the ladder; RUNGS: none */
    const struct blob *cuda, *cpu; /* NULL when absent; a .peer may speak for both */
};

/* Is `path` "<folder>NAME<suffix>", with no further folder? */
static bool is_kernel_path(const char *path, const char *folder, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return str_starts(path, folder) && !strchr(path + strlen(folder), '/') && n > m &&
           !strcmp(path + n - m, suffix);
}

/* The word behind the first @name, allocated; NULL: a helper of other kernels, without a descriptor, which would be in the
 * first comment. */
static char *name_in(const struct blob *b)
{
    static const char tag[] = "@name";
    static const size_t n = sizeof tag - 1;
    const char *at = b->data;
    while ((at = memchr(at, '@', (size_t)(b->end - at))) &&
           ((size_t)(b->end - at) < n || memcmp(at, tag, n) != 0))
        at++;
    if (!at || memmem(b->data, (size_t)(at - b->data), "*/", 2) ||
        !memchr(at, '\n', (size_t)(b->end - at)))
        return NULL;
    at += n + strspn(at + n, " \t");
    return xstrndup(at, strcspn(at, " \t\n"));
}

static struct builtin *add_builtin(struct registry *r, char *name)
{
    struct builtin *b = xcalloc(1, sizeof *b);
    b->name = name;
    while (b->rung < RUNGS && strcmp(ladder[b->rung].name, name))
        b->rung++;
    b->kernel =
        (struct kernel){.name = name, .group = b->rung < RUNGS ? ladder[b->rung].group : "more"};
    add_pointer(r, &b->kernel);
    return b;
}

/* Lists the built-in kernels of one folder. */
static void list_folder(struct registry *r, const char *folder, const char *suffix, bool cuda,
                        bool cpu)
{
    for (const struct blob *blob = blob_table; blob->path; blob++) {
        char *name = is_kernel_path(blob->path, folder, suffix) ? name_in(blob) : NULL;
        if (!name)
            continue;
        struct builtin *b = (struct builtin *)lookup(r, name);
        if (b)
            free(name);
        else
            b = add_builtin(r, name);
        if ((cuda && b->cuda) || (cpu && b->cpu))
            fatal("%s: the name %s is taken", blob->path, b->name);
        b->cuda = cuda ? blob : b->cuda;
        b->cpu = cpu ? blob : b->cpu;
    }
}

/* What is built in is right, or there would be no program: the tests put every one of them through all checks. */
static struct kernel_desc *read_side(const struct registry *r, const struct builtin *b,
                                     const struct blob *blob)
{
    struct kernel_desc *d;
    struct err err = ERR_INIT;
    const struct desc_source src = {
        .file = blob->path, .text = blob->data, .len = blob_size(blob), .trusted = true};
    if (desc_parse_source(&src, &d, &err) != ST_OK)
        fatal("%s", err.text);
    if (strcmp(d->name, b->name) != 0)
        fatal("%s: its name is %s, but the first \"@name\" is before %s", blob->path, d->name,
              b->name);
    d->headers = r->headers;
    return d;
}

/* The same kernel, its descriptors parsed. */
static struct kernel *parsed(const struct registry *r, struct kernel *k)
{
    if (!k || k->user || k->cuda || k->cpu)
        return k;
    const struct builtin *b = (struct builtin *)k;
    k->cuda = b->cuda ? read_side(r, b, b->cuda) : NULL;
    k->cpu = b->cpu ? read_side(r, b, b->cpu) : NULL;
    if (k->cpu && k->cpu->peer && !(k->cpu->backends & ON_CPU)) {
        desc_free(k->cpu);
        k->cpu = NULL;
    }
    k->code = kernel_main(k)->code;
    return k;
}

static void free_builtins(struct registry *r)
{
    for (size_t i = 0; i < r->builtin; i++) {
        struct builtin *b = (struct builtin *)r->kernels[i];
        desc_free(b->kernel.cuda);
        desc_free(b->kernel.cpu);
        free(b->name);
        free(b);
    }
}

/* Ladder order; what is not on the ladder comes after, by name. */
static int by_rung(const void *a, const void *b)
{
    const struct builtin *x = *(struct builtin *const *)a, *y = *(struct builtin *const *)b;
    return x->rung != y->rung ? (x->rung > y->rung) - (x->rung < y->rung)
                              : strcmp(x->name, y->name);
}

/* Public */

struct registry *registry_new(void)
{
    struct registry *r = xcalloc(1, sizeof *r);
    r->pythons = xcalloc(1, sizeof *r->pythons);
    r->headers = desc_headers_new();
    list_folder(r, "kernels/cuda/", ".cu", true, false);
    list_folder(r, "kernels/cpu/", ".c", false, true);
    list_folder(r, "kernels/peers/", ".peer", true, true);
    if (r->count)
        qsort(r->kernels, r->count, sizeof *r->kernels, by_rung);
    r->builtin = r->count;
    registry_refresh(r);
    blob_release(); /* reading the names went through all of them */
    return r;
}

const struct kernel_desc *kernel_on(const struct kernel *k, enum kernel_side side)
{
    return side == SIDE_CPU ? k->cpu : k->cuda;
}

const struct kernel_desc *kernel_main(const struct kernel *k)
{
    return k->cuda ? k->cuda : k->cpu;
}

bool kernel_is_peer(const struct kernel *k)
{
    return !k->user && ((k->cuda && k->cuda->peer) || (k->cpu && k->cpu->peer));
}

void registry_free(struct registry *r)
{
    if (!r)
        return;
    free_user_files(r);
    free_pythons(r);
    free_builtins(r);
    for (size_t i = 0; i < r->nretired; i++) {
        desc_free(r->retired[i].desc);
        free(r->retired[i].kernel);
        free(r->retired[i].text);
    }
    free(r->retired);
    free(r->kernels);
    desc_headers_free(r->headers);
    free(r);
}

int registry_count(const struct registry *r)
{
    return (int)r->count;
}

const struct kernel *registry_at(const struct registry *r, int i)
{
    return i >= 0 && (size_t)i < r->count ? parsed(r, r->kernels[i]) : NULL;
}

const struct kernel *registry_find(const struct registry *r, const char *name)
{
    return parsed(r, lookup(r, name));
}

const char *registry_name(const void *registry, size_t i)
{
    const struct registry *r = registry;
    return i < r->count ? r->kernels[i]->name : NULL;
}

/* Is it the name of a file, or of a function in one? Then a kernel of the file's name, NULL where none is known. */
static bool names_file(const struct registry *r, const char *name, const char **known)
{
    static const char *const ends[] = {".cu", ".c", ".cubin", ".fatbin", ".ptx", ".so"};
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name,
               *dot = strrchr(base, '.');
    bool is = strchr(name, '/') != NULL;
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        is |= str_starts(dot, ends[i]) && strchr(":", dot[strlen(ends[i])]);
    char *stem = xstrndup(base, dot ? (size_t)(dot - base) : strlen(base));
    const struct kernel *k = is ? lookup(r, stem) : NULL;
    *known = k ? k->name : NULL;
    free(stem);
    return is;
}

enum status registry_get(const struct registry *r, const char *name, const struct kernel **out,
                         struct err *err)
{
    *out = registry_find(r, name);
    if (*out)
        return ST_OK;
    if (str_starts(name, PYTHON_PREFIX))
        return make_python(r, name, out, err);
    const char *problem = registry_problem_of(r, name);
    if (problem)
        return err_set(err, ST_USAGE, "%s", problem);
    const char *known;
    const bool file = names_file(r, name, &known);
    if (file && !known)
        return err_set(err, ST_USAGE, "no kernel \"%s\"; \"kernel add %s\" takes a file in", name,
                       name);
    const char *near = file ? known : str_nearest(name, registry_name, r);
    if (near)
        return err_set(err, ST_USAGE, "no kernel \"%s\"; did you mean %s?", name, near);
    return err_set(err, ST_USAGE, "no kernel \"%s\"; `kernels` lists them", name);
}

const char *registry_header(const char *file, size_t *len)
{
    char *path = xasprintf("kernels/cuda/%s", file);
    const struct blob *b = blob_find(path);
    free(path);
    if (!b)
        return NULL;
    if (len)
        *len = blob_size(b);
    return b->data;
}
