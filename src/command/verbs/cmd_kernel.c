/* cmd_kernel.c - kernel: takes an engineer's own code in, where it lies, and lets go of it again.
 *
 * Nothing is copied: the path of a .cu, a .c or an .attn is written into the user's folder, so that it is
 * read where its author edits it, and nobody else's file is taken for the user's; for a library a descriptor of a few lines is written there. Everything else
 * is the registry's, which reads that folder.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/verbs.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "command/ask/consent.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/cmd_list.h"
#include "kernel/kernel_whose.h"

static enum status print_own(struct session *s, struct cmd_call *c, const struct kernel *only);

/* ---- add ---- */

enum { TEXT_MAX = 1 << 20 };

/* What is to be added. */
struct addition {
    char *path;   /* absolute, of the file that was named */
    char *symbol; /* of a library, or NULL */
    const char *name, *dtypes, *backend;
};

/* The path of NAME.ending in the user's folder of kernels; NULL: there is none. The caller frees it. */
static char *file_in_folder(const char *name, const char *ending, struct err *err)
{
    char *file = xasprintf("kernels/%s%s", name, ending), *path;
    (void)path_for(PATH_DATA, file, "your kernels", &path, err);
    free(file);
    return path;
}

/* ST_FAIL: "cannot link PATH: " and errno's reason. */
static enum status cannot(const char *what, const char *path, struct err *err)
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

/* Code that runs with the user's rights is said to, once, and with the hash that the yes holds for. */
static enum status allow(struct session *s, const struct kernel *k, struct err *err)
{
    char hash[SHA256_HEX + 1];
    if (!consent_side(k))
        return ST_OK;
    const enum status st = consent_give(s, k, hash, err);
    if (st == ST_OK && *hash)
        session_note(
            s, "%s is %s: it runs in the worker with your rights, as any program does; sha256 %s",
            k->name,
            consent_class(k, consent_side(k), NULL) == CLASS_PYTHON ? "Python" : "native code",
            hash);
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
    if (k && k->user) {
        const enum status st = allow(s, k, err);
        return st ? st : print_own(s, c, k);
    }
    enum status st = refuse(problem, path, named, err);
    unlink(path);
    registry_refresh(s->services.registry);
    return st;
}

static enum status write_text(const char *text, const char *name, const char *path, struct err *err)
{
    if (file_create(path, 0644, &(const struct bytes){text, strlen(text)}, 1))
        return ST_OK;
    if (errno == EEXIST)
        return err_set(err, ST_USAGE, "%s is there already; kernel remove %s takes it out", path,
                       name);
    return cannot("write", path, err);
}

/* Is it what this path file holds already? */
static bool holds(const char *path, const char *line)
{
    char *text = NULL;
    size_t len;
    const bool same =
        str_read(path, TEXT_MAX, FILE_OWN, &text, &len, NULL) == ST_OK && !strcmp(text, line);
    free(text);
    return same;
}

/* Keeps the file's path in the folder under the name that its descriptor gives. */
static enum status add_path(struct session *s, struct cmd_call *c, const char *from,
                            const char *name, struct err *err)
{
    char *path = file_in_folder(name, REGISTRY_PATH_FILE, err), *line = xasprintf("%s\n", from);
    enum status st = path ? path_make_parent(path, err) : ST_FAIL;
    if (st == ST_OK && strchr(from, '\n'))
        st = err_set(err, ST_USAGE, "a path with a line end in it cannot be kept");
    if (st == ST_OK && holds(path, line))
        session_note(s, "%s was added before", name);
    else if (st == ST_OK)
        st = write_text(line, name, path, err);
    if (st == ST_OK)
        st = accept(s, c, name, path, from, err);
    free(line);
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
        st = add_path(s, c, path, name, err);
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
         *path = file_in_folder(name, ".attn", err);
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
    enum status st = file_may_open(file, err);
    a->path = st ? NULL : realpath(file, NULL);
    if (!st && !a->path)
        st = cannot("add", file, err);
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
    char *file = file_in_folder(name, ".attn", err), *text = NULL;
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
    if (str_ends(a->path, ".cu") || str_ends(a->path, ".c") || str_ends(a->path, ".attn"))
        return add_described(s, c, a->path, err);
    if (str_ends(a->path, ".cubin") || str_ends(a->path, ".fatbin") || str_ends(a->path, ".ptx"))
        return add_cubin(s, c, a->path, err);
    return err_set(err, ST_USAGE,
                   "a kernel is a .cu, a .c, a .cubin with its .attn, LIBRARY.so:FUNCTION or "
                   "py:module.function");
}

static enum status kernel_add(struct session *s, struct cmd_call *c, struct err *err)
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

struct own_row {
    char *name, *title, *code;
    json_t *runs, *dtypes;
    char *whose, *hash, *file, *after, *reason;
};

// clang-format off
static const struct field own_fields[] = {
    FIELD(FIELD_TEXT, own_row, name, .doc = "What runs it."),
    FIELD(FIELD_TEXT, own_row, title, .doc = "What it says of itself."),
    FIELD(FIELD_TEXT, own_row, code, .doc = "What its code is."),
    FIELD(FIELD_JSON, own_row, runs, .title = "runs on", .doc = "Backends that it runs on."),
    FIELD(FIELD_JSON, own_row, dtypes, .doc = "Types it takes."),
    FIELD(FIELD_TEXT, own_row, whose, .doc = "yours: its code lies in your own data folder; else someone's."),
    FIELD(FIELD_TEXT, own_row, hash, .doc = "The first digits of the SHA-256 of its descriptor and code."),
    FIELD(FIELD_TEXT, own_row, file, .doc = "Where its code lies."),
    FIELD(FIELD_TEXT, own_row, after, .doc = "The kernel it is a change of."),
    FIELD(FIELD_TEXT, own_row, reason, .doc = "Why it cannot run."),
    {.name = NULL},
};
static const struct row_type own_type = ROW_TYPE(own_row, {own_fields, 0});

static const struct columns own_columns = {
    .type = &own_type,
    .list = (const struct column[]){
        {.field = "name"},
        {.field = "code"},
        {.field = "runs"},
        {.field = "dtypes"},
        {.field = "whose"},
        {.field = "hash", .drop = 1},
        {.field = "file"},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

/* ---- list ---- */

static void add_own(struct rowset *rows, const struct kernel *k)
{
    const struct kernel_desc *d = kernel_main(k);
    char *real = realpath(d->path, NULL), *code = d->file ? desc_path(d, d->file) : NULL;
    const char *file = code ? code : real ? real : d->path;
    const struct whose whose = kernel_whose(k);
    struct own_row *row = rowset_add(rows);
    row->name = xstrdup(k->name);
    row->title = d->title ? xstrdup(d->title) : NULL;
    row->code = xstrdup(code_kinds[d->code].name);
    row->runs = kernel_sides_json(k);
    row->dtypes = kernel_dtypes_json(d);
    row->whose = xstrdup(whose_words[whose.is]);
    row->hash = *whose.hash ? xstrdup(whose.hash) : NULL;
    row->file = file ? xstrdup(file) : NULL;
    row->after = d->after ? xstrdup(d->after) : NULL;
    free(code);
    free(real);
}

/* The user's kernels as rows; `only`: this one alone, or NULL. */
static enum status print_own(struct session *s, struct cmd_call *c, const struct kernel *only)
{
    struct rowset rows = {.type = &own_type};
    for (int i = 0; i < registry_count(s->services.registry); i++) {
        const struct kernel *k = registry_at(s->services.registry, i);
        if (only ? k == only : k->user)
            add_own(&rows, k);
    }
    enum status st = ST_OK;
    if (rows.n || call_format(c) != FORMAT_TEXT)
        st = call_rows(s, c, &rows, &own_columns);
    else
        str_add(c->out, "no kernels of your own; kernel add FILE and edit K bring them in\n");
    rowset_clear(&rows);
    return st;
}

static enum status list(struct session *s, struct cmd_call *c, struct err *err)
{
    (void)call_format(c);
    enum status st = call_finish(s, c, err);
    if (st == ST_OK)
        st = print_own(s, c, NULL);
    for (int i = 0; st == ST_OK && registry_problem(s->services.registry, i); i++)
        session_note(s, "%s", registry_problem(s->services.registry, i));
    return st;
}

/* ---- remove ---- */

/* The file in the folder that kernel `name` comes from, or that would be it if it were right. */
static char *file_of(const struct session *s, const char *name)
{
    static const char *const endings[] = {".cu", ".c", ".attn", REGISTRY_PATH_FILE};
    const struct kernel *k = registry_find(s->services.registry, name);
    const char *entry = k ? registry_entry_of(s->services.registry, k) : NULL;
    struct stat st;
    if (entry)
        return xstrdup(entry);
    for (size_t i = 0; !strchr(name, '/') && i < sizeof endings / sizeof *endings; i++) {
        char *path = file_in_folder(name, endings[i], NULL);
        if (path && lstat(path, &st) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* A path goes, and a link; a file with the user's own text is kept under a name that is no kernel's. */
static enum status take_out(struct session *s, const char *path, struct err *err)
{
    enum { TRIES = 1000 };
    struct stat st;
    if (str_ends(path, REGISTRY_PATH_FILE) || (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)))
        return unlink(path) == 0 ? ST_OK : cannot("remove", path, err);
    for (int i = 1; i < TRIES; i++) {
        char *aside = xasprintf("%s.%d", path, i);
        const bool free_name = access(aside, F_OK) != 0;
        const bool moved = free_name && rename(path, aside) == 0;
        if (moved)
            session_note(s, "its file is kept as %s", aside);
        free(aside);
        if (free_name)
            return moved ? ST_OK : cannot("remove", path, err);
    }
    return err_set(err, ST_FAIL, "too many files like %s", path);
}

static enum status remove_one(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = call_finish(s, c, err);
    if (st == ST_OK && c->nwords != 2)
        st = err_set(err, ST_USAGE, "kernel remove needs one name; kernel list shows them");
    if (st != ST_OK)
        return st;
    const char *name = c->words[1].text;
    char *path = file_of(s, name);
    if (path)
        st = take_out(s, path, err);
    else {
        const struct kernel *k;
        st = registry_get(s->services.registry, name, &k, err);
        if (st == ST_OK)
            st = err_set(err, ST_USAGE, "%s is built in; only your own kernels can be removed",
                         k->name);
        st = call_mark(c, st, c->words[1].at, (int)strlen(name), err);
    }
    free(path);
    registry_refresh(s->services.registry);
    return st;
}

/* ---- allow ---- */

static enum status allow_one(struct session *s, struct cmd_call *c, struct err *err)
{
    const struct kernel *k = NULL;
    enum status st = call_finish(s, c, err);
    if (st == ST_OK && c->nwords != 2)
        st = err_set(err, ST_USAGE, "kernel allow needs one name; kernel list shows them");
    if (st == ST_OK)
        st = call_mark(c, registry_get(s->services.registry, c->words[1].text, &k, err),
                       c->words[1].at, (int)strlen(c->words[1].text), err);
    if (st == ST_OK && !consent_side(k))
        return err_set(err, ST_USAGE,
                       "%s needs no permission: it is no code that runs with your rights", k->name);
    return st ? st : allow(s, k, err);
}

/* ---- the verb ---- */

static const struct action {
    const char *name;
    enum status (*run)(struct session *s, struct cmd_call *c, struct err *err);
    bool writes;
} actions[] = {
    {"add", kernel_add, true},
    {"allow", allow_one, true},
    {"list", list, false},
    {"remove", remove_one, true},
};
enum { ACTIONS = sizeof actions / sizeof *actions };
static const char *const action_names[] = {"add", "allow", "list", "remove", NULL};

static enum status exec_kernel(struct session *s, struct cmd_call *c, struct err *err)
{
    const char *word = c->nwords ? c->words[0].text : "list";
    for (int i = 0; i < ACTIONS; i++) {
        if (strcmp(word, actions[i].name) != 0)
            continue;
        if (actions[i].writes && !session_may(s, MAY_WRITE))
            return err_set(err, ST_USAGE,
                           "kernel %s writes files, which is off in this restricted "
                           "session",
                           word);
        return actions[i].run(s, c, err);
    }
    char *clean = sanitize_line(word);
    const char *near = str_nearest_in(word, action_names);
    err_set(err, ST_USAGE, "kernel knows add, allow, list and remove, not \"%s\"", clean);
    err_suggest(err, near);
    free(clean);
    return call_mark(c, ST_USAGE, c->words[0].at, (int)strlen(word), err);
}

static const struct cmd_key kernel_keys[] = {
    {"name", "what a library's function is called here", NULL},
    {"dtypes", "what it takes, between commas; f16 if left out", dtype_words},
    {"backend", "where a library's function runs; cuda if left out", desc_backend_words},
    {0},
};

const struct cmd_entry cmd_kernel = {
    .name = "kernel",
    .group = "Session",
    .usage = "add FILE [name=] [dtypes=] [backend=] | allow NAME | list | remove NAME",
    .summary = "take in kernels of your own: sources, cubins, functions of a library",
    .help =
        "FILE is a .cu with a descriptor in its first comment, which may ask for nvcc, folders\n"
        "of headers and flags; a .c with one, for the CPU, with a function attn_NAME as those of\n"
        "source fa2 backend=cpu; a .cubin, .fatbin or .ptx with its descriptor in the .attn file\n"
        "of the same name; or LIBRARY.so:FUNCTION, where FUNCTION is of the kind\n"
        "int attn_run(const struct AttnArgs *args, void *stream).\n"
        "\n"
        "A file stays where it is and is read there whenever it has changed. What was added is\n"
        "planned where a descriptor says how, and run, checked, timed and compared as the\n"
        "built-in kernels are, beside them and the peers. attnscope-kernel(5) has it all.\n"
        "\n"
        "C, libraries and Python run in the worker with your rights, as any program of yours "
        "does.\n"
        "So they run only when you have said so: add says so, and allow, for the code as it is "
        "then;\n"
        "changed code is asked about again. Restricted sessions run none of it, nor does a\n"
        "lesson that is not of this program.\n"
        "\n"
        "  kernel add work/mine.cu\n"
        "  kernel add build/libmine.so:attn_run name=mine dtypes=f16,bf16\n"
        "  kernel list\n",
    .arg = ARG_WORD,
    .first = action_names,
    .keys = kernel_keys,
    .flags = CMD_ROWS,
    .exec = exec_kernel,
    .columns = COLUMNS(&own_columns),
};
