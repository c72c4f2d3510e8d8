/* author_check.c - lesson check: a file or a lesson by name, held against check.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "kernel/blob.h"
#include "lesson/action.h"
#include "lesson/author/check.h"

enum { LESSON_MAX = 1 << 20 };

/* "lessons/04-measure.md" or "90-measure.md" for the lesson "measure"? */
static bool is_file_of(const char *path, const char *name)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    const size_t digits = strspn(base, "0123456789"), len = strlen(name);
    if (digits && base[digits] == '-')
        base += digits + 1;
    return strncmp(base, name, len) == 0 && strcmp(base + len, ".md") == 0;
}

/* The user's file for a lesson, or NULL. The caller frees. */
static char *users_file(const char *name)
{
    char *folder = path_in(PATH_DATA, "lessons"), *found = NULL;
    DIR *d = folder ? opendir(folder) : NULL;
    for (const struct dirent *e; d && !found && (e = readdir(d));)
        if (is_file_of(e->d_name, name))
            found = xasprintf("%s/%s", folder, e->d_name);
    if (d)
        closedir(d);
    free(folder);
    return found;
}

struct source {
    char *file, *text; /* owned */
    size_t len;
};

static enum status read_named(const char *name, struct source *out, struct err *err)
{
    const struct lesson *l;
    char *file = users_file(name);
    enum status st = file ? ST_OK : lesson_find(name, &l, err);
    for (const struct blob *b = blob_table; !file && !st && b->path; b++)
        if (str_starts(b->path, "lessons/") && is_file_of(b->path, lesson_name(l))) {
            *out = (struct source){xstrdup(b->path), xstrndup(b->data, blob_size(b)), blob_size(b)};
            return ST_OK;
        }
    if (!st && !file && !(file = users_file(lesson_name(l))))
        st = err_set(err, ST_USAGE, "the file of lesson \"%s\" is gone", lesson_name(l));
    out->file = file;
    return st ? st : str_read_file(file, LESSON_MAX, &out->text, &out->len, err);
}

/* What has a slash or ends in .md is a file. */
static enum status read_source(const struct session *s, const char *word, struct source *out,
                               struct err *err)
{
    const size_t len = strlen(word);
    *out = (struct source){0};
    if (!strchr(word, '/') && !(len > 3 && strcmp(word + len - 3, ".md") == 0))
        return read_named(word, out, err);
    if (!session_may(s, MAY_READ))
        return err_set(err, ST_USAGE, "reading files is off in this restricted session");
    out->file = xstrdup(word);
    return str_read_file(word, LESSON_MAX, &out->text, &out->len, err);
}

static enum status check_one(struct session *s, struct session *own, const char *word, bool right,
                             struct rowset *rows, int *problems, struct err *err)
{
    struct source src;
    struct lesson *l = NULL;
    enum status st = read_source(s, word, &src, err);
    if (!st)
        st = lesson_parse(src.file, src.text, src.len, &l, err);
    if (!st) {
        *problems += lesson_check_text(s, l, src.text, src.len, rows);
        *problems += lesson_check_steps(own, l, right, rows);
    }
    lesson_free(l);
    free(src.file);
    free(src.text);
    return st;
}

// clang-format off
static const struct columns columns = {
    .of = FIELD_TABLES(check_fields),
    .list = (const struct column[]){
        {.field = "lesson", .varies = true},
        {.field = "step"},
        {.field = "check"},
        {.field = "result"},
        {.field = "detail", .wrap = true},
        {0},
    },
};
// clang-format on

static enum status exec_check(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = ST_OK;
    int problems = 0;
    const bool right = call_option(c, "right") != NULL;
    action_formats(c);
    if (c->nwords < 2)
        st = err_set(err, ST_USAGE, "lesson check needs a file or the name of a lesson");
    if (!st)
        st = call_finish(s, c, err);
    if (st)
        return st;
    struct rowset rows = {.type = &check_type};
    struct session *own = walk_session(s);
    for (int i = 1; i < c->nwords && !st; i++)
        st = check_one(s, own, c->words[i].text, right, &rows, &problems, err);
    session_free(own);
    if (!st)
        st = call_rows(s, c, &rows, &columns);
    if (!st && problems)
        st = err_set(err, ST_NO, "%d problem%s", problems, problems == 1 ? "" : "s");
    rowset_clear(&rows);
    return st;
}

const struct lesson_action action_check = {
    .name = "check",
    .usage = "FILE|NAME...",
    .summary = "is a lesson fit to be taught?",
    .columns = &columns,
    .exec = exec_check,
};
