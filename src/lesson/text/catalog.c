/* catalog.c - which lessons there are: those in the program, then the user's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "kernel/blob.h"
#include "lesson/text/parsed.h"

enum { FILE_MAX = 1 << 20, USER_MAX = 200 };

/* The texts are constant for the life of the program, so the parsed lessons are kept as a table. */
static struct {
    bool loaded;
    struct lesson **items;
    size_t n, cap;
    char **problems;
    size_t nproblems, capproblems;
} catalog;

static void add_problem(const char *text)
{
    xgrow((void **)&catalog.problems, &catalog.capproblems, catalog.nproblems + 1,
          sizeof *catalog.problems);
    catalog.problems[catalog.nproblems++] = xstrdup(text);
}

static void add_lesson(struct lesson *l)
{
    xgrow((void **)&catalog.items, &catalog.cap, catalog.n + 1, sizeof *catalog.items);
    catalog.items[catalog.n++] = l;
}

static const struct lesson *called(const char *name)
{
    for (size_t i = 0; i < catalog.n; i++)
        if (strcmp(catalog.items[i]->name, name) == 0)
            return catalog.items[i];
    return NULL;
}

/* `path` NULL: it is of the course. */
static void add_text(const char *file, const char *text, size_t len, const char *path)
{
    struct lesson *l;
    struct err err = ERR_INIT;
    if (lesson_parse(file, text, len, &l, &err) != ST_OK) {
        add_problem(err.text);
        return;
    }
    if (called(l->name)) {
        err_set(&err, ST_USAGE, "%s: there is a lesson \"%s\" already; call the file otherwise",
                file, l->name);
        add_problem(err.text);
        lesson_free(l);
        return;
    }
    l->whose.is = whose_at(path).is;
    add_lesson(l);
}

/* "lessons/01-measure.md", but not the README. */
static bool is_lesson(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t len = strlen(base);
    return len > 3 && strcmp(base + len - 3, ".md") == 0 && strcmp(base, "README.md") != 0;
}

static void add_built_in(void)
{
    for (const struct blob *b = blob_table; b->path; b++)
        if (str_starts(b->path, "lessons/") && is_lesson(b->path))
            add_text(b->path, b->data, blob_size(b), NULL);
}

static int wants_file(const struct dirent *e)
{
    return e->d_name[0] != '.' && is_lesson(e->d_name);
}

static void add_user_file(const char *folder, const char *name)
{
    char *path = xasprintf("%s/%s", folder, name), *text;
    struct err err = ERR_INIT;
    size_t len;
    if (str_read(path, FILE_MAX, FILE_OWN, &text, &len, &err) == ST_OK) {
        add_text(path, text, len, path);
        free(text);
    } else {
        add_problem(err.text);
    }
    free(path);
}

static void add_users(void)
{
    char *folder = path_in(PATH_DATA, "lessons");
    struct dirent **files = NULL;
    int n = folder ? scandir(folder, &files, wants_file, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        if (i < USER_MAX)
            add_user_file(folder, files[i]->d_name);
        free(files[i]);
    }
    free(files);
    free(folder);
}

/* ---- lessons that lie elsewhere: lesson add ---- */

static enum status take_in(const char *path, const struct lesson **out, struct err *err)
{
    char *text = NULL;
    size_t len;
    struct lesson *l = NULL;
    enum status st = str_read_file(path, FILE_MAX, &text, &len, err);
    if (!st)
        st = lesson_parse(path, text, len, &l, err);
    free(text);
    if (!st && called(l->name))
        st = err_set(err, ST_USAGE, "there is a lesson \"%s\" already; call the file otherwise",
                     l->name);
    if (st) {
        lesson_free(l);
        return st;
    }
    l->whose.is = whose_at(path).is;
    add_lesson(l);
    *out = l;
    return ST_OK;
}

static void add_added(void)
{
    char *list = path_in(PATH_DATA, LESSONS_ADDED), *text = NULL, *rest;
    const struct lesson *l;
    size_t len;
    if (list && str_read_file(list, FILE_MAX, &text, &len, NULL) == ST_OK) {
        rest = text;
        for (char *path; (path = strsep(&rest, "\n"));) {
            struct err err = ERR_INIT;
            if (*path && take_in(path, &l, &err) != ST_OK)
                add_problem(err.text);
        }
    }
    free(text);
    free(list);
}

static void load(void)
{
    if (catalog.loaded)
        return;
    catalog.loaded = true;
    add_built_in();
    add_users();
    add_added();
}

enum status lesson_take_in(const char *path, const struct lesson **out, struct err *err)
{
    load();
    return take_in(path, out, err);
}

int lesson_count(void)
{
    load();
    return (int)catalog.n;
}

const struct lesson *lesson_at(int i)
{
    load();
    return i >= 0 && (size_t)i < catalog.n ? catalog.items[i] : NULL;
}

const char *lesson_name_at(const void *unused, size_t i)
{
    (void)unused;
    const struct lesson *l = lesson_at((int)i);
    return l ? l->name : NULL;
}

bool lesson_topic(size_t i, struct topic *out)
{
    const struct lesson *l = lesson_at((int)i);
    if (l)
        *out = (struct topic){.kind = "lesson", .name = l->name, .summary = l->title};
    return l != NULL;
}

const char *lesson_problem(int i)
{
    load();
    return i >= 0 && (size_t)i < catalog.nproblems ? catalog.problems[i] : NULL;
}

/* A number counts from 1, in the order of the list. */
static const struct lesson *by_number(const char *name)
{
    char *end;
    long n = strtol(name, &end, 10);
    return *name && !*end && n >= 1 ? lesson_at((int)n - 1) : NULL;
}

enum status lesson_find(const char *name, const struct lesson **out, struct err *err)
{
    int matches = 0;
    *out = by_number(name);
    for (int i = 0; !*out && i < lesson_count(); i++)
        if (strcmp(lesson_at(i)->name, name) == 0)
            *out = lesson_at(i);
    if (*out)
        return ST_OK;
    for (int i = 0; i < lesson_count(); i++)
        if (*name && str_starts(lesson_at(i)->name, name) && ++matches)
            *out = lesson_at(i);
    if (matches == 1)
        return ST_OK;
    *out = NULL;
    const char *near = str_nearest(name, lesson_name_at, NULL);
    if (near)
        return err_set(err, ST_USAGE, "there is no lesson \"%s\"; did you mean \"%s\"?", name,
                       near);
    return err_set(err, ST_USAGE, "there is no lesson \"%s\"; \"lessons\" lists them", name);
}
