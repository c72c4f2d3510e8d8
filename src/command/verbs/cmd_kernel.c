/* cmd_kernel.c - kernel: takes an engineer's own code in, where it lies, and lets go of it again.
 *
 * What is added lies in the user's folder, see kernel_add.c. Everything else is the registry's, which
 * reads that folder.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/sanitize.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/cmd_list.h"
#include "command/verbs/kernel_add.h"
#include "command/verbs/verbs.h"

// clang-format off
static const struct column own_columns[] = {
    {.field = "name",   .title = "name",   .left = true},
    {.field = "code",   .title = "code",   .left = true},
    {.field = "runs",   .title = "runs on", .left = true},
    {.field = "dtypes", .title = "dtypes", .left = true},
    {.field = "file",   .title = "file",   .left = true},
    {.field = "reason", .title = "reason", .left = true, .optional = true},
    {0},
};
// clang-format on

/* ---- list ---- */

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *own_row(const struct kernel *k)
{
    const struct kernel_desc *d = kernel_main(k);
    json_t *row = json_object(), *dtypes = json_array();
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (d->dtypes & (1u << t))
            json_array_append_new(dtypes, json_string(dtype_name((enum dtype)t)));
    char *real = realpath(d->path, NULL), *code = d->file ? desc_path(d, d->file) : NULL;
    json_object_set_new(row, "name", json_string(k->name));
    json_object_set_new(row, "title", text_or_null(d->title));
    json_object_set_new(row, "code", json_string(code_kinds[d->code].name));
    json_object_set_new(row, "runs", kernel_sides_json(k));
    json_object_set_new(row, "dtypes", dtypes);
    json_object_set_new(row, "file", text_or_null(code ? code : real ? real : d->path));
    json_object_set_new(row, "after", text_or_null(d->after));
    json_object_set_new(row, "reason", json_null());
    free(code);
    free(real);
    return row;
}

enum status kernel_print_own(struct session *s, struct cmd_call *c, const struct kernel *only)
{
    json_t *rows = json_array();
    for (int i = 0; i < registry_count(s->services.registry); i++) {
        const struct kernel *k = registry_at(s->services.registry, i);
        if (only ? k == only : k->user)
            json_array_append_new(rows, own_row(k));
    }
    enum status st = ST_OK;
    if (json_array_size(rows) || call_format(c) != FORMAT_TEXT)
        st = call_rows(s, c, rows, own_columns, NULL);
    else
        str_add(c->out, "no kernels of your own; kernel add FILE and edit K bring them in\n");
    json_decref(rows);
    return st;
}

static enum status list(struct session *s, struct cmd_call *c, struct err *err)
{
    (void)call_format(c);
    enum status st = call_finish(s, c, err);
    if (st == ST_OK)
        st = kernel_print_own(s, c, NULL);
    for (int i = 0; st == ST_OK && registry_problem(s->services.registry, i); i++)
        session_note(s, "%s", registry_problem(s->services.registry, i));
    return st;
}

/* ---- remove ---- */

/* The file in the folder that kernel `name` comes from, or that would be it if it were right. */
static char *file_of(const struct session *s, const char *name)
{
    static const char *const endings[] = {".cu", ".attn"};
    const struct kernel *k = registry_find(s->services.registry, name);
    const struct kernel_desc *d = k && k->user ? kernel_main(k) : NULL;
    struct stat st;
    if (d && *d->path == '/')
        return xstrdup(d->path);
    for (size_t i = 0; !strchr(name, '/') && i < 2; i++) {
        char *path = kernel_file(name, endings[i], NULL);
        if (path && lstat(path, &st) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* A link goes; a file with the user's own text is kept under a name that is no kernel's. */
static enum status take_out(struct session *s, const char *path, struct err *err)
{
    enum { TRIES = 1000 };
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return unlink(path) == 0 ? ST_OK : kernel_cannot("remove", path, err);
    for (int i = 1; i < TRIES; i++) {
        char *aside = xasprintf("%s.%d", path, i);
        const bool free_name = access(aside, F_OK) != 0;
        const bool moved = free_name && rename(path, aside) == 0;
        if (moved)
            session_note(s, "its file is kept as %s", aside);
        free(aside);
        if (free_name)
            return moved ? ST_OK : kernel_cannot("remove", path, err);
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

/* ---- the verb ---- */

static const struct action {
    const char *name;
    enum status (*run)(struct session *s, struct cmd_call *c, struct err *err);
    bool writes;
} actions[] = {
    {"add", kernel_add, true},
    {"list", list, false},
    {"remove", remove_one, true},
};
enum { ACTIONS = sizeof actions / sizeof *actions };
static const char *const action_names[] = {"add", "list", "remove", NULL};

static enum status exec_kernel(struct session *s, struct cmd_call *c, struct err *err)
{
    const char *word = c->nwords ? c->words[0].text : "list";
    for (int i = 0; i < ACTIONS; i++) {
        if (strcmp(word, actions[i].name) != 0)
            continue;
        if (actions[i].writes && s->restricted)
            return err_set(err, ST_USAGE,
                           "kernel %s writes files, which is off in this restricted "
                           "session",
                           word);
        return actions[i].run(s, c, err);
    }
    char *clean = sanitize_line(word);
    const char *near = str_nearest_in(word, action_names);
    err_set(err, ST_USAGE, "kernel knows add, list and remove, not \"%s\"", clean);
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
    .usage = "add FILE [name=] [dtypes=] [backend=] | list | remove NAME",
    .summary = "take in kernels of your own: sources, cubins, functions of a library",
    .help =
        "FILE is a .cu with a descriptor in its first comment, which may ask for nvcc, folders\n"
        "of headers and flags; a .cubin, .fatbin or .ptx with its descriptor in the .attn file\n"
        "of the same name; or LIBRARY.so:FUNCTION, where FUNCTION is of the kind\n"
        "int attn_run(const struct AttnArgs *args, void *stream).\n"
        "\n"
        "A file stays where it is and is read there whenever it has changed. What was added is\n"
        "planned where a descriptor says how, and run, checked, timed and compared as the\n"
        "built-in kernels are, beside them and the peers. attnscope-kernel(5) has it all. A\n"
        "library runs in the worker with your rights, as any program of yours does.\n"
        "\n"
        "  kernel add work/mine.cu\n"
        "  kernel add build/libmine.so:attn_run name=mine dtypes=f16,bf16\n"
        "  kernel list\n",
    .arg = ARG_WORD,
    .first = action_names,
    .keys = kernel_keys,
    .flags = CMD_ROWS,
    .exec = exec_kernel,
};
