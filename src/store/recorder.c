/* recorder.c - writing a recording: whole lines, in append mode.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "store/mark.h"
#include "store/recording.h"
#include "store/seal.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

struct recorder {
    char *path;
    int fd, samples;
    bool headed;  /* the header is in the file */
    bool foreign; /* the file was refused, and is none of ours */
    bool guest;   /* another account began the recording: each line of ours bears our mark */
    char *mark;   /* ours of it; NULL: there is none to be had */
    size_t rows;
    char seal[SHA256_HEX + 1]; /* of the last line; "": there is none */
    int failed; /* errno of the line that could not be written, after which nothing is; 0: none */
};

static enum status write_error(const char *path, struct err *err)
{
    char *name = sanitize_line(path);
    const enum status st =
        err_set(err, ST_FAIL, "cannot write the recording %s: %s", name, strerror(errno));
    free(name);
    return st;
}

static enum status not_whole(const struct recorder *r, struct err *err)
{
    char *name = sanitize_line(r->path);
    const enum status st =
        err_set(err, ST_FAIL, "the recording %s is not whole: %s", name, strerror(r->failed));
    free(name);
    return st;
}

/* ---- opening ---- */

static enum status open_refused(const char *path, struct err *err)
{
    char *name = sanitize_line(path);
    enum status st = ST_USAGE;
    if (errno == EEXIST)
        err_set(err, st, "%s exists; give --append to go on behind it or --force to write over it",
                name);
    else
        err_set(err, st, "cannot record into %s: %s", name, strerror(errno));
    free(name);
    return st;
}

/* A file that another program cut off in the middle of a line gets its line end first. */
static enum status mend_end(struct recorder *r, struct err *err)
{
    char last;
    struct stat st;
    if (fstat(r->fd, &st) || st.st_size == 0)
        return ST_OK;
    const bool open_line = pread(r->fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
    return open_line && write(r->fd, "\n", 1) != 1 ? write_error(r->path, err) : ST_OK;
}

static enum status prepare_append(struct recorder *r, struct err *err)
{
    struct recording *old = NULL;
    struct stat st;
    if (fstat(r->fd, &st) || st.st_size == 0)
        return ST_OK;
    enum status read = recording_read(r->path, &old, err);
    if (read)
        return read;
    memcpy(r->seal, old->seal, sizeof r->seal);
    r->mark = mark_of(old->header.time, true);
    r->guest = !old->header.mark || !r->mark || strcmp(old->header.mark, r->mark) != 0;
    recording_free(old);
    r->headed = true;
    return mend_end(r, err);
}

/* Only a plain file, and only for one recorder. */
static enum status claim(struct recorder *r, struct err *err)
{
    struct stat st;
    char *name = sanitize_line(r->path);
    enum status ok = ST_OK;
    if (fstat(r->fd, &st) || !S_ISREG(st.st_mode))
        ok = err_set(err, ST_USAGE, "cannot record into %s: it is no plain file", name);
    else if (flock(r->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        ok = err_set(err, ST_USAGE, "%s is being recorded into by another attnscope", name);
    free(name);
    return ok;
}

enum status recorder_open(const char *path, enum recorder_mode mode, int samples,
                          struct recorder **out, struct err *err)
{
    const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    *out = NULL;
    const int fd = open(path, flags | (mode == RECORDER_NEW ? O_EXCL : 0), 0666);
    if (fd < 0)
        return open_refused(path, err);
    struct recorder *r = xcalloc(1, sizeof *r);
    *r = (struct recorder){.path = xstrdup(path), .fd = fd, .samples = samples};
    enum status st = claim(r, err);
    if (!st && mode == RECORDER_APPEND)
        st = prepare_append(r, err);
    if (!st && mode == RECORDER_REPLACE && ftruncate(fd, 0))
        st = write_error(path, err);
    if (st) {
        r->foreign = true;
        recorder_close(r, NULL);
        return st;
    }
    *out = r;
    return ST_OK;
}

enum status recorder_close(struct recorder *r, struct err *err)
{
    if (!r)
        return ST_OK;
    enum status st = r->failed ? not_whole(r, err) : ST_OK;
    if (!st && fsync(r->fd) && errno != EINVAL && errno != EROFS)
        st = write_error(r->path, err);
    struct stat file;
    if (!r->headed && !r->foreign && !fstat(r->fd, &file) && file.st_size == 0)
        unlink(r->path); /* nothing came: the name is free for another try */
    close(r->fd);
    free(r->path);
    free(r->mark);
    free(r);
    return st;
}

size_t recorder_rows(const struct recorder *r)
{
    return r->rows;
}

bool recorder_failed(const struct recorder *r)
{
    return r->failed;
}

const char *recorder_path(const struct recorder *r)
{
    return r->path;
}

/* ---- lines ---- */

static void put_text(json_t *o, const char *name, const char *text)
{
    json_t *v = text ? json_string(text) : NULL;
    json_object_set_new(o, name, v ? v : json_null());
}

/* One call for the whole line. What a full disk cut off is taken back, so that the file stays whole. */
static enum status write_line(struct recorder *r, json_t *line, struct err *err)
{
    enum status st = ST_OK;
    struct str text = {0};
    struct stat before;
    if (r->guest)
        put_text(line, "mark", r->mark);
    seal_put(line, r->seal);
    json_text(&text, line);
    json_decref(line);
    str_addc(&text, '\n');
    const bool known = !fstat(r->fd, &before);
    ssize_t n;
    do
        n = write(r->fd, str_text(&text), text.len);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)text.len) {
        if (n >= 0)
            errno = ENOSPC;
        const int why = errno;
        if (known && ftruncate(r->fd, before.st_size))
            errno = why; /* then the reader leaves the last line out */
        errno = r->failed = why;
        st = write_error(r->path, err);
    }
    str_free(&text);
    return st;
}

static void put_now(json_t *o)
{
    char now[32];
    put_text(o, "time", host_date(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ"));
}

static void take_row(struct recording_header *h, const struct run_row *row)
{
    const struct {
        char **to;
        const char *from;
    } texts[] = {{&h->backend, row->backend},
                 {&h->device, row->device},
                 {&h->driver, row->driver},
                 {&h->cuda, row->cuda}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i].to = texts[i].from ? xstrdup(texts[i].from) : NULL;
    h->sm_clock_mhz = row->sm_clock_mhz;
    h->seed = row->seed;
}

/* `row` NULL: a recording that begins with a table, and has no device. */
static json_t *header(const struct run_row *row)
{
    char now[32];
    struct recording_header h;
    json_t *o = json_pack("{s:s, s:s}", "type", "header", "format", "attnscope-recording");
    record_init(recording_header_fields, &h);
    h.format_version = RECORDING_VERSION;
    h.program_version = xstrdup(PACKAGE_VERSION);
    h.time = xstrdup(host_date(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ"));
    h.mark = mark_of(h.time, true);
    h.system = host_system();
    h.cpu = host_cpu_name();
    if (row)
        take_row(&h, row);
    record_add_json(recording_header_fields, &h, o);
    json_object_set_new(o, "sealed", json_true());
    record_clear(recording_header_fields, &h);
    return o;
}

static enum status write_header(struct recorder *r, const struct run_row *row, struct err *err)
{
    if (r->failed)
        return not_whole(r, err);
    if (r->headed)
        return ST_OK;
    const enum status st = write_line(r, header(row), err);
    r->headed = !st;
    return st;
}

/* Only what is a time; at most `max`, evenly picked. */
static json_t *samples(const json_t *all, size_t max)
{
    json_t *out = json_array();
    const size_t n = json_array_size(all), count = n < max ? n : max;
    for (size_t i = 0; i < count; i++) {
        json_t *v = json_array_get(all, i * n / count);
        if (json_is_number(v) && json_number_value(v) > 0)
            json_array_append(out, v);
    }
    return out;
}

static json_t *known_fields(const struct run_row *row)
{
    json_t *o = run_row_result(row), *v;
    const char *name;
    void *next;
    json_object_foreach_safe(o, next, name, v) if (json_is_null(v)) json_object_del(o, name);
    return o;
}

enum status recorder_row(struct recorder *r, const struct run_row *row, const char *command,
                         const json_t *plan, struct err *err)
{
    enum status st = write_header(r, row, err);
    if (st)
        return st;
    json_t *line = json_pack("{s:s}", "type", "row");
    if (row->time)
        put_text(line, "time", row->time);
    else
        put_now(line);
    put_text(line, "command", command);
    json_object_set_new(line, "row", known_fields(row));
    json_object_set_new(line, "samples_us", samples(row->samples_us, (size_t)r->samples));
    json_object_set_new(line, "samples_of", row->n > 0 ? json_integer(row->n) : json_null());
    json_object_set_new(line, "plan", plan ? json_deep_copy(plan) : json_null());
    st = write_line(r, line, err);
    r->rows += !st;
    return st;
}

enum status recorder_table(struct recorder *r, const json_t *table, struct err *err)
{
    enum status st = write_header(r, NULL, err);
    if (st)
        return st;
    json_t *line = json_pack("{s:s}", "type", "table");
    put_now(line);
    json_object_update(line, (json_t *)table);
    return write_line(r, line, err);
}
