/* library.c - recordings by name: inside the program, in the user's folder, and opened files.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "kernel/blob.h"
#include "store/recording.h"

enum { SHELF_MAX = 200, HEAD_MAX = 16 << 10 };

/* A recording that has a name; read when it is wanted. */
struct shelf {
    char *name, *path;       /* path NULL: inside the program */
    const struct blob *blob; /* or NULL */
    struct recording *rec;   /* once read */
    bool broken;             /* could not be read */
};

struct library {
    struct shelf *shelves; /* by name; a shipped one before the user's, which it hides */
    size_t n, cap;
    enum library_scope scope;
    struct recording **files; /* opened by path */
    size_t nfiles, capfiles;
    const struct recording **opened; /* in the order of opening; borrowed from the above */
    size_t nopened, capopened;
};

/* ---- what there is ---- */

static char *rec_name(const char *file)
{
    const size_t len = strlen(file);
    return len > 4 && strcmp(file + len - 4, ".rec") == 0 ? xstrndup(file, len - 4) : NULL;
}

/* `name` and `path` are consumed. */
static void add_shelf(struct library *l, char *name, char *path, const struct blob *blob)
{
    if (!name || (path && l->n >= SHELF_MAX)) {
        free(name);
        free(path);
        return;
    }
    xgrow((void **)&l->shelves, &l->cap, l->n + 1, sizeof *l->shelves);
    l->shelves[l->n++] = (struct shelf){.name = name, .path = path, .blob = blob};
}

static int by_name(const void *a, const void *b)
{
    const struct shelf *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : !y->path - !x->path;
}

/* A name that is shipped means what is shipped. */
static bool is_hidden(const struct library *l, size_t i)
{
    const struct shelf *s = &l->shelves[i];
    return s->path && i && !s[-1].path && strcmp(s[-1].name, s->name) == 0;
}

static bool in_sight(const struct library *l, size_t i)
{
    const struct shelf *s = &l->shelves[i];
    if (!s->path)
        return true;
    return !is_hidden(l, i) &&
           (l->scope == LIBRARY_ALL ||
            (l->scope == LIBRARY_LESSONS && strcmp(s->name, LIBRARY_PREPARED) == 0));
}

enum library_scope library_look(struct library *l, enum library_scope scope)
{
    const enum library_scope before = l->scope;
    l->scope = scope;
    return before;
}

enum library_scope library_scope(const struct library *l)
{
    return l->scope;
}

static void find_user(struct library *l)
{
    char *folder = path_in(PATH_DATA, "recordings");
    DIR *d = folder ? opendir(folder) : NULL;
    for (const struct dirent *e; d && (e = readdir(d));)
        add_shelf(l, rec_name(e->d_name), xasprintf("%s/%s", folder, e->d_name), NULL);
    if (d)
        closedir(d);
    free(folder);
}

static void find_shipped(struct library *l)
{
    static const char dir[] = "lessons/recordings/";
    for (const struct blob *b = blob_table; b->path; b++)
        if (str_starts(b->path, dir))
            add_shelf(l, rec_name(b->path + sizeof dir - 1), NULL, b);
}

struct library *library_new(void)
{
    struct library *l = xcalloc(1, sizeof *l);
    find_user(l);
    find_shipped(l);
    if (l->n)
        qsort(l->shelves, l->n, sizeof *l->shelves, by_name);
    return l;
}

void library_free(struct library *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n; i++) {
        free(l->shelves[i].name);
        free(l->shelves[i].path);
        recording_free(l->shelves[i].rec);
    }
    for (size_t i = 0; i < l->nfiles; i++)
        recording_free(l->files[i]);
    free(l->shelves);
    free(l->files);
    free(l->opened);
    free(l);
}

const char *library_name(const void *library, size_t i)
{
    const struct library *l = library;
    for (size_t k = 0; k < l->n; k++)
        if (in_sight(l, k) && i-- == 0)
            return l->shelves[k].name;
    return NULL;
}

char *library_problem(const struct library *l, const char *name, int i)
{
    for (size_t k = 0; k < l->n; k++)
        if (is_hidden(l, k) && (!name || !strcmp(l->shelves[k].name, name)) && i-- == 0)
            return xasprintf(
                "%s is hidden by the recording %s of this program; rename it, or open it "
                "by its path",
                l->shelves[k].path, l->shelves[k].name);
    return NULL;
}

const struct recording *library_opened(const struct library *l, size_t i)
{
    return i < l->nopened ? l->opened[i] : NULL;
}

/* ---- opening ---- */

static void note_opened(struct library *l, const struct recording *rec)
{
    for (size_t i = 0; i < l->nopened; i++)
        if (l->opened[i] == rec)
            return;
    xgrow((void **)&l->opened, &l->capopened, l->nopened + 1, sizeof *l->opened);
    l->opened[l->nopened++] = rec;
}

/* A file of the user's folder: itself, and no link to something else. */
static enum status read_own(struct shelf *s, struct err *err)
{
    char *text;
    size_t len;
    enum status st = str_read(s->path, RECORDING_FILE_MAX, FILE_OWN, &text, &len, err);
    if (st)
        return st;
    st = recording_parse(s->name, text, len, &s->rec, err);
    if (!st)
        recording_belongs(s->rec, s->path);
    free(text);
    return st;
}

static enum status read_shelf(struct shelf *s, struct err *err)
{
    if (s->rec)
        return ST_OK;
    enum status st =
        s->path ? read_own(s, err)
                : recording_parse(s->name, s->blob->data, blob_size(s->blob), &s->rec, err);
    if (!st && !s->path)
        recording_belongs(s->rec, NULL);
    s->broken = st != ST_OK;
    return st;
}

static struct shelf *find_shelf(struct library *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (in_sight(l, i) && strcmp(l->shelves[i].name, name) == 0)
            return &l->shelves[i];
    return NULL;
}

static bool is_file(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* A file is read anew each time: it may have grown. The old reading stays for who borrowed it. */
static enum status open_file(struct library *l, const char *path, const struct recording **out,
                             struct err *err)
{
    struct recording *rec;
    enum status st = recording_read(path, &rec, err);
    if (st)
        return st;
    xgrow((void **)&l->files, &l->capfiles, l->nfiles + 1, sizeof *l->files);
    l->files[l->nfiles++] = rec;
    *out = rec;
    return ST_OK;
}

static enum status no_recording(const struct library *l, const char *name, struct err *err)
{
    char *clean = sanitize_line(name);
    const char *near = str_nearest(name, library_name, l);
    if (near)
        err_set(err, ST_USAGE, "there is no recording \"%s\"; did you mean \"%s\"?", clean, near);
    else
        err_set(err, ST_USAGE, "there is no recording \"%s\"; open without a name lists them",
                clean);
    free(clean);
    return ST_USAGE;
}

enum status library_peek(struct library *l, const char *name, const struct recording **out,
                         struct err *err)
{
    *out = NULL;
    struct shelf *s = find_shelf(l, name);
    enum status st = s ? read_shelf(s, err) : no_recording(l, name, err);
    if (!st)
        *out = s->rec;
    return st;
}

enum status library_open(struct library *l, const char *name, const struct recording **out,
                         struct err *err)
{
    *out = NULL;
    enum status st = ST_USAGE;
    struct shelf *s = find_shelf(l, name);
    const bool named = l->scope == LIBRARY_ALL && !s && file_may_open(name, err) != ST_OK;
    if (l->scope == LIBRARY_ALL && !(s && !s->path) && is_file(name))
        st = open_file(l, name, out, err);
    else if (named)
        return ST_USAGE;
    else if (!s)
        return no_recording(l, name, err);
    else if (!(st = read_shelf(s, err)))
        *out = s->rec;
    if (!st)
        note_opened(l, *out);
    return st;
}

/* ---- all of them, one by one ---- */

/* Of a file only the beginning: there may be many, and large ones. */
static char *shelf_device(const struct shelf *s)
{
    char head[HEAD_MAX];
    if (s->blob)
        return recording_device(s->blob->data, blob_size(s->blob));
    int fd;
    if (file_open(s->path, FILE_OWN, &fd, NULL) != ST_OK)
        return NULL;
    const ssize_t n = read(fd, head, sizeof head);
    close(fd);
    return n > 0 ? recording_device(head, (size_t)n) : NULL;
}

bool library_source(const struct library *l, int i, struct library_source *out)
{
    *out = (struct library_source){0};
    if (i < 0 || (size_t)i >= l->n + l->nfiles)
        return false;
    if ((size_t)i < l->n) {
        const struct shelf *s = &l->shelves[i];
        *out = (struct library_source){.place = s->path ? PLACE_OWN : PLACE_SHIPPED,
                                       .name = s->name,
                                       .device = shelf_device(s)};
        return true;
    }
    const struct recording *rec = l->files[(size_t)i - l->n];
    const char *device = rec->header.device;
    *out = (struct library_source){.place = PLACE_OPENED,
                                   .name = rec->name,
                                   .device = device ? xstrdup(device) : NULL,
                                   .rec = rec};
    return true;
}

bool library_in_sight(const struct library *l, int i)
{
    return (size_t)i < l->n ? in_sight(l, (size_t)i) : l->scope == LIBRARY_ALL;
}

void library_scan(const struct library *l, int i, recording_take_fn *take, void *ctx)
{
    char *text;
    size_t len;
    if ((size_t)i >= l->n) {
        recording_each(l->files[(size_t)i - l->n], take, ctx);
        return;
    }
    const struct shelf *s = &l->shelves[i];
    if (s->blob)
        recording_scan(s->blob->data, blob_size(s->blob), take, ctx);
    else if (str_read(s->path, RECORDING_FILE_MAX, FILE_OWN, &text, &len, NULL) == ST_OK) {
        recording_scan_foreign(text, len, take, ctx);
        free(text);
    }
}

/* ---- looking up ---- */

static bool same(const char *have, const char *want)
{
    return !want || (have && strcmp(have, want) == 0);
}

static bool fits(const struct run_row *row, const struct recording_query *q)
{
    return run_row_passed(row) && same(row->kernel, q->kernel) && same(row->shape, q->shape) &&
           same(row->params, q->params) && same(row->backend, q->backend) && same(row->l2, q->l2) &&
           (!q->device || (row->device && strcasestr(row->device, q->device)));
}

/* Dates are ISO 8601, so that text order is time order. */
static bool newer(const struct recorded_row *a, const struct recorded_row *b)
{
    const char *x = a->run->time, *y = b ? b->run->time : NULL;
    return !b || (x && (!y || strcmp(x, y) >= 0));
}

static void better(const struct recording *rec, const struct recording_query *q,
                   const struct recorded_row **best)
{
    for (size_t i = 0; i < rec->nrows; i++)
        if (fits(rec->rows[i].run, q) && newer(&rec->rows[i], *best))
            *best = &rec->rows[i];
}

const struct recorded_row *library_best(struct library *l, const struct recording_query *q)
{
    const struct recorded_row *best = NULL;
    for (size_t i = 0; i < l->n; i++)
        if (in_sight(l, i) && !l->shelves[i].broken && !read_shelf(&l->shelves[i], NULL))
            better(l->shelves[i].rec, q, &best);
    for (size_t i = 0; l->scope == LIBRARY_ALL && i < l->nfiles; i++)
        better(l->files[i], q, &best);
    return best;
}
