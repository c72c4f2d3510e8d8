/* recording.c - reading a recording, from anybody: line by line, through the field table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "measure/origin.h"
#include "store/mark.h"
#include "store/seal.h"

enum { SAMPLES_MAX = 100000, COLUMNS_MAX = 64, TABLE_ROWS_MAX = 5000, DEPTH_MAX = 12 };

/* What went wrong on the way, for the note. */
struct reader {
    struct recording *rec;
    size_t line;                /* number of the present one, from 1 */
    size_t bad, bad_line;       /* lines that are broken; the first of them */
    struct err why;             /* of that one */
    bool headed, full, cut_off; /* the last line has no end */
    enum seal seal;             /* of the present line */
};

/* ---- values ---- */

/* Deep trees cost stack where they are walked; ours have four levels. */
static bool too_deep(const json_t *v, int depth)
{
    const char *key;
    json_t *child;
    size_t i;
    if (depth > DEPTH_MAX)
        return true;
    json_object_foreach((json_t *)v, key, child)
    {
        (void)key;
        if (too_deep(child, depth + 1))
            return true;
    }
    json_array_foreach(v, i, child) if (too_deep(child, depth + 1)) return true;
    return false;
}

static void keep_text(json_t *to, const json_t *from, const char *name)
{
    json_t *v = json_object_get(from, name);
    json_object_set(to, name, json_is_string(v) ? v : json_null());
}

/* ---- the lines ---- */

// clang-format off
const struct field recording_header_fields[] = {
    FIELD(FIELD_INT,  recording_header, format_version, .doc = "Of the file."),
    FIELD(FIELD_TEXT, recording_header, program_version, .doc = "Of the program that wrote it."),
    FIELD(FIELD_TEXT, recording_header, time, .doc = "When it begins, UTC."),
    FIELD(FIELD_TEXT, recording_header, system, .doc = "The system it was written on."),
    FIELD(FIELD_TEXT, recording_header, cpu, .doc = "Its processor."),
    FIELD(FIELD_TEXT, recording_header, mark, .doc = "By which the account that wrote it knows it as its own."),
    FIELD(FIELD_TEXT, recording_header, backend, .doc = "Who ran its first row."),
    FIELD(FIELD_TEXT, recording_header, device, .doc = "On what."),
    FIELD(FIELD_TEXT, recording_header, driver, .doc = "With which GPU driver."),
    FIELD(FIELD_TEXT, recording_header, cuda, .doc = "And which CUDA."),
    FIELD(FIELD_REAL, recording_header, sm_clock_mhz, .unit = "MHz", .doc = "At which SM clock."),
    FIELD(FIELD_INT,  recording_header, seed, .doc = "Seed of its inputs."),
    {.name = NULL},
};
// clang-format on

/* What has another type is unknown. */
static void read_header(struct recording_header *h, const json_t *line)
{
    for (const struct field *f = recording_header_fields; f->name; f++) {
        const json_t *v = json_object_get(line, f->name);
        if (v && field_fits(f, v, false))
            field_from_json(f, h, v);
    }
}

static bool is_altered(const struct reader *x)
{
    return x->seal == SEAL_BROKEN || (x->seal == SEAL_NONE && x->rec->sealed);
}

static enum status take_header(struct reader *x, const json_t *line, struct err *err)
{
    const char *format = json_string_value(json_object_get(line, "format"));
    const json_t *version = json_object_get(line, "format_version");
    if (!format || strcmp(format, "attnscope-recording") != 0)
        return err_set(err, ST_USAGE, "its header is that of another format");
    if (!json_is_integer(version) || json_integer_value(version) < 1)
        return err_set(err, ST_USAGE, "its header has no format_version");
    if (json_integer_value(version) > RECORDING_VERSION)
        return err_set(err, ST_USAGE,
                       "it was written by a newer attnscope (format %lld, this one reads %d)",
                       (long long)json_integer_value(version), RECORDING_VERSION);
    if (x->headed) /* two recordings in one file: each row carries its own device */
        return ST_OK;
    x->headed = true;
    x->rec->sealed = json_is_true(json_object_get(line, "sealed"));
    x->rec->header_altered = is_altered(x);
    read_header(&x->rec->header, line);
    return ST_OK;
}

static void take_samples(struct recorded_row *r, const json_t *list)
{
    size_t n = json_array_size(list), kept = 0;
    if (!n)
        return;
    n = n < SAMPLES_MAX ? n : SAMPLES_MAX;
    r->samples = xcalloc(n, sizeof *r->samples);
    for (size_t i = 0; i < n; i++) {
        const double v = json_number_value(json_array_get(list, i));
        if (v > 0 && isfinite(v))
            r->samples[kept++] = v;
    }
    r->nsamples = kept;
}

/* A time below zero or a rate that is none is no figure. */
static bool is_sound(const struct run_row *row)
{
    const double times[] = {row->median_us, row->min_us, row->q1_us, row->q3_us, row->p95_us};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i] < 0 || isinf(times[i]))
            return false;
    return true;
}

/* Was the line added by another account than the one that began the file? */
static bool is_guest(const struct reader *x, const json_t *line)
{
    const json_t *v = json_object_get(line, "mark");
    const char *mark = json_string_value(v), *first = x->rec->header.mark;
    return v && (!mark || !first || strcmp(mark, first) != 0);
}

/* What the row says where it stands in a recording, and not in the session that measured it. */
static void make_recorded(const struct reader *x, struct kept_row *row, const json_t *line)
{
    struct run_row *run = &row->run;
    const char *time = json_string_value(json_object_get(line, "time"));
    const char *command = json_string_value(json_object_get(line, "command"));
    if (!run->origin || (strcmp(run->origin, "sim") != 0 && strcmp(run->origin, "model") != 0)) {
        free(run->origin);
        run->origin = xstrdup("recorded");
    }
    if (is_altered(x)) {
        x->rec->altered++;
        free(run->origin);
        run->origin = xstrdup(ORIGIN_ALTERED);
        if (!run->reason)
            run->reason = xstrdup("changed by hand since it was recorded");
    }
    if (!run->time && time)
        run->time = xstrdup(time);
    row->command = command ? xstrdup(command) : NULL;
    row->recording = xstrdup(x->rec->name);
    run_row_drop_samples(run);
}

static void keep_row(struct reader *x, struct row *row, const json_t *line)
{
    struct recording *rec = x->rec;
    struct kept_row *kept = row_data(row);
    json_t *plan = json_object_get(line, "plan");
    make_recorded(x, kept, line);
    xgrow((void **)&rec->rows, &rec->caprows, rec->nrows + 1, sizeof *rec->rows);
    struct recorded_row *r = &rec->rows[rec->nrows++];
    *r = (struct recorded_row){.row = row_hold(row),
                               .run = &kept->run,
                               .plan = json_is_object(plan) ? json_incref(plan) : NULL};
    take_samples(r, json_object_get(line, "samples_us"));
    const char *mark = json_string_value(json_object_get(line, "mark"));
    r->guest = is_guest(x, line);
    r->mark = r->guest && mark ? xstrdup(mark) : NULL;
    rec->guests += r->guest;
}

static enum status take_row(struct reader *x, const json_t *line, struct err *err)
{
    if (x->rec->nrows >= RECORDING_ROWS_MAX) {
        x->full = true;
        return ST_OK;
    }
    struct row *row = row_new(&recorded_type);
    struct run_row *run = &((struct kept_row *)row_data(row))->run;
    enum status st = record_from_json(run_fields, run, json_object_get(line, "row"), err);
    if (!st && !run->kernel)
        st = err_set(err, ST_USAGE, "a row names no kernel");
    if (!st && !is_sound(run))
        st = err_set(err, ST_USAGE, "a row has a time that is none");
    if (!st)
        keep_row(x, row, line);
    row_drop(row);
    return st;
}

static json_t *column(const json_t *from)
{
    json_t *col = json_object(), *digits = json_object_get(from, "digits");
    const char *field = json_string_value(json_object_get(from, "field"));
    if (!field || !json_is_string(json_object_get(from, "title"))) {
        json_decref(col);
        return NULL;
    }
    const json_int_t n = json_integer_value(digits);
    keep_text(col, from, "field");
    keep_text(col, from, "title");
    json_object_set_new(col, "left", json_boolean(json_is_true(json_object_get(from, "left"))));
    json_object_set_new(col, "optional",
                        json_boolean(json_is_true(json_object_get(from, "optional"))));
    json_object_set_new(col, "digits", json_integer(n > 0 && n <= 17 ? n : 0));
    return col;
}

static json_t *columns(const json_t *list)
{
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(list) && i < COLUMNS_MAX; i++) {
        json_t *col = column(json_array_get(list, i));
        if (col)
            json_array_append_new(out, col);
    }
    return out;
}

/* What was live there is recorded here. */
static json_t *table_row(const json_t *from, const char *origin_there)
{
    json_t *row = json_copy((json_t *)from);
    const char *origin = json_string_value(json_object_get(row, "origin"));
    if (origin && strcmp(origin, "live") == 0)
        json_object_set_new(row, "origin", json_string(origin_there));
    return row;
}

/* The same in pictures: whatever in them says "origin". What else is in one is its reader's to check. */
static json_t *recorded_charts(const json_t *from, const char *origin_there)
{
    const char *key;
    json_t *v, *out = json_is_object(from) ? json_object() : json_array();
    size_t i;
    if (json_is_object(from))
        json_object_foreach((json_t *)from, key, v)
        {
            const char *text = json_string_value(v);
            const bool live = text && !strcmp(key, "origin") && !strcmp(text, "live");
            json_object_set_new(out, key,
                                live ? json_string(origin_there)
                                : json_is_object(v) || json_is_array(v)
                                    ? recorded_charts(v, origin_there)
                                    : json_incref(v));
        }
    else
        json_array_foreach(from, i, v) json_array_append_new(
            out, json_is_object(v) || json_is_array(v) ? recorded_charts(v, origin_there)
                                                       : json_incref(v));
    return out;
}

static enum status take_table(struct reader *x, const json_t *line, struct err *err)
{
    const json_t *rows = json_object_get(line, "rows");
    json_t *cols = columns(json_object_get(line, "columns"));
    if (!json_array_size(cols) || !json_is_array(rows)) {
        json_decref(cols);
        return err_set(err, ST_USAGE, "a table has no columns or no rows");
    }
    if (json_array_size(x->rec->tables) >= RECORDING_ROWS_MAX / 10) {
        x->full = true;
        json_decref(cols);
        return ST_OK;
    }
    json_t *table = json_object(), *kept = json_array();
    const char *origin_there = is_altered(x) ? ORIGIN_ALTERED : "recorded";
    x->rec->altered += is_altered(x);
    x->rec->guests += is_guest(x, line);
    keep_text(table, line, "time");
    keep_text(table, line, "command");
    json_object_set_new(table, "columns", cols);
    for (size_t i = 0; i < json_array_size(rows) && i < TABLE_ROWS_MAX; i++)
        if (json_is_object(json_array_get(rows, i)))
            json_array_append_new(kept, table_row(json_array_get(rows, i), origin_there));
    json_object_set_new(table, "rows", kept);
    if (json_is_array(json_object_get(line, "charts")))
        json_object_set_new(table, "charts",
                            recorded_charts(json_object_get(line, "charts"), origin_there));
    json_array_append_new(x->rec->tables, table);
    return ST_OK;
}

/* Its own, and whether it stands behind the line that it was written behind. */
static void look_at_seal(struct reader *x, const json_t *line)
{
    struct recording *rec = x->rec;
    const char *after = json_string_value(json_object_get(line, "after"));
    const char *seal = json_string_value(json_object_get(line, "seal"));
    x->seal = seal_look(line);
    if (x->seal == SEAL_GOOD && strncmp(after ? after : "", rec->seal, SEAL_AFTER) != 0 &&
        (after || *rec->seal))
        rec->shuffled |= x->headed;
    snprintf(rec->seal, sizeof rec->seal, "%s", seal ? seal : "");
}

static enum status take_object(struct reader *x, const json_t *line, struct err *err)
{
    const char *type = json_string_value(json_object_get(line, "type"));
    if (!type)
        return err_set(err, ST_USAGE, "it is no object with a type");
    if (too_deep(line, 0))
        return err_set(err, ST_USAGE, "it is nested too deeply");
    look_at_seal(x, line);
    if (strcmp(type, "header") == 0)
        return take_header(x, line, err);
    if (!x->headed)
        return err_set(err, ST_USAGE, "it does not begin with a header");
    if (strcmp(type, "row") == 0)
        return take_row(x, line, err);
    return strcmp(type, "table") == 0 ? take_table(x, line, err) : ST_OK;
}

static enum status take_line(struct reader *x, const char *text, size_t len, struct err *err)
{
    json_error_t why;
    if (len > RECORDING_LINE_MAX)
        return err_set(err, ST_USAGE, "it is longer than %d MiB", RECORDING_LINE_MAX >> 20);
    json_t *line = json_loadb(text, len, 0, &why);
    if (!line)
        return err_set(err, ST_USAGE, "it is no JSON");
    enum status st = take_object(x, line, err);
    json_decref(line);
    return st;
}

/* ---- one by one ---- */

/* False: it is none that says enough. */
static bool take_scanned(const json_t *row, const char *time, bool altered, recording_take_fn *take,
                         void *ctx)
{
    struct run_row r;
    record_init(run_fields, &r);
    const bool ok = json_is_object(row) && !too_deep(row, 0) &&
                    !record_from_json(run_fields, &r, row, NULL) && r.kernel && is_sound(&r);
    if (ok && !r.time && time)
        r.time = xstrdup(time);
    if (altered) {
        free(r.origin);
        r.origin = xstrdup(ORIGIN_ALTERED);
    }
    if (ok && r.time)
        take(ctx, &r);
    const bool whole = ok && r.time;
    record_clear(run_fields, &r);
    return whole;
}

/* Most of a line are samples and a plan, which nobody asks for here: the row alone is parsed, where it is
 * found at once. Quotes within a text are escaped, so that this is a member's name. */
static bool scan_row(const char *text, size_t len, recording_take_fn *take, void *ctx)
{
    static const char mark[] = "\"row\":{", type[] = "{\"type\":\"row\",";
    const char *at = memmem(text, len, mark, sizeof mark - 1);
    if (!at || len < sizeof type || memcmp(text, type, sizeof type - 1) != 0)
        return false;
    at += sizeof mark - 2;
    json_t *row = json_loadb(at, len - (size_t)(at - text), JSON_DISABLE_EOF_CHECK, NULL);
    const bool ok = take_scanned(row, NULL, false, take, ctx);
    json_decref(row);
    return ok;
}

/* `sealed`, NULL: the file is ours. *sealed: the header has said that lines have seals. */
static void scan_line(const char *text, size_t len, bool *sealed, recording_take_fn *take,
                      void *ctx)
{
    if (!len || len > RECORDING_LINE_MAX || (!sealed && scan_row(text, len, take, ctx)))
        return;
    json_t *line = json_loadb(text, len, 0, NULL);
    const char *type = json_string_value(json_object_get(line, "type"));
    const char *time = json_string_value(json_object_get(line, "time"));
    if (sealed && type && !strcmp(type, "header"))
        *sealed = json_is_true(json_object_get(line, "sealed"));
    if (type && !strcmp(type, "row")) {
        const enum seal seal = sealed && !too_deep(line, 0) ? seal_look(line) : SEAL_GOOD;
        const bool altered = seal == SEAL_BROKEN || (seal == SEAL_NONE && *sealed);
        take_scanned(json_object_get(line, "row"), time ? time : "", altered, take, ctx);
    }
    json_decref(line);
}

static void scan(const char *text, size_t len, bool *sealed, recording_take_fn *take, void *ctx)
{
    const char *end = text + len;
    for (int rows = 0; text < end && rows < RECORDING_ROWS_MAX; rows++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        scan_line(text, (size_t)((stop ? stop : end) - text), sealed, take, ctx);
        text = stop ? stop + 1 : end;
    }
}

void recording_scan(const char *text, size_t len, recording_take_fn *take, void *ctx)
{
    scan(text, len, NULL, take, ctx);
}

void recording_scan_foreign(const char *text, size_t len, recording_take_fn *take, void *ctx)
{
    bool sealed = false;
    scan(text, len, &sealed, take, ctx);
}

void recording_each(const struct recording *rec, recording_take_fn *take, void *ctx)
{
    for (size_t i = 0; i < rec->nrows; i++)
        take(ctx, rec->rows[i].run);
}

char *recording_device(const char *text, size_t len)
{
    const char *stop = memchr(text, '\n', len);
    json_t *line = json_loadb(text, stop ? (size_t)(stop - text) : len, 0, NULL);
    const char *device = json_string_value(json_object_get(line, "device"));
    char *copy = device ? xstrdup(device) : NULL;
    json_decref(line);
    return copy;
}

/* ---- the whole ---- */

static void make_note(struct reader *x)
{
    struct str s = {0};
    if (x->cut_off && x->bad == 1)
        str_addf(&s, "the last line is cut off and was left out");
    else if (x->bad)
        str_addf(&s, "%zu line%s could not be read; line %zu: %s", x->bad, x->bad > 1 ? "s" : "",
                 x->bad_line, x->why.text);
    if (x->full)
        str_addf(&s, "%sonly the first %d rows were read", s.len ? "; " : "", RECORDING_ROWS_MAX);
    if (x->rec->altered)
        str_addf(&s, "%s%zu line%s changed by hand since %s recorded: ALTERED, and ranked nowhere",
                 s.len ? "; " : "", x->rec->altered, x->rec->altered > 1 ? "s were" : " was",
                 x->rec->altered > 1 ? "they were" : "it was");
    if (x->rec->header_altered)
        str_addf(&s, "%swhere and when it was recorded was changed by hand", s.len ? "; " : "");
    if (x->rec->guests)
        str_addf(&s, "%s%zu line%s added by another account than the one that began it",
                 s.len ? "; " : "", x->rec->guests, x->rec->guests > 1 ? "s were" : " was");
    if (x->rec->shuffled)
        str_addf(&s, "%slines were taken out, put in or moved since it was recorded",
                 s.len ? "; " : "");
    x->rec->note = s.len ? str_take(&s) : NULL;
    str_free(&s);
}

/* Until the header is found, a bad line means that this is no recording. */
static enum status read_lines(struct reader *x, const char *text, size_t len, struct err *err)
{
    for (const char *end = text + len; text < end; x->line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const size_t n = (size_t)((stop ? stop : end) - text);
        struct err why = ERR_INIT;
        enum status st = n ? take_line(x, text, n, &why) : ST_OK;
        if (st && !x->headed)
            return err_set(err, ST_USAGE, "%s", why.text);
        if (st && !x->bad++) {
            x->bad_line = x->line;
            x->why = why;
            x->cut_off = !stop;
        }
        text = stop ? stop + 1 : end;
    }
    return ST_OK;
}

enum status recording_parse(const char *name, const char *text, size_t len, struct recording **out,
                            struct err *err)
{
    struct recording *rec = xcalloc(1, sizeof *rec);
    struct reader x = {.rec = rec, .line = 1};
    struct err why = ERR_INIT;
    rec->name = sanitize_line(name);
    rec->whose.is = WHOSE_SOMEONES;
    record_init(recording_header_fields, &rec->header);
    rec->tables = json_array();
    enum status st = len > RECORDING_FILE_MAX ? err_set(&why, ST_USAGE, "it is larger than %d MiB",
                                                        RECORDING_FILE_MAX >> 20)
                                              : read_lines(&x, text, len, &why);
    if (!st)
        whose_hash(&rec->whose, text, len);
    *out = rec;
    if (!st) {
        make_note(&x);
        return ST_OK;
    }
    err_set(err, st, "%s is no recording that can be read: %s", rec->name, why.text);
    recording_free(rec);
    *out = NULL;
    return st;
}

/* Your file, measured by a CPU as this machine has it, and nobody had his hands in it. */
static bool is_made_here(const struct recording *r, const char *path)
{
    char *cpu = host_cpu_name();
    const bool whole = !r->header_altered && !r->altered && !r->shuffled;
    const bool here = whole && r->header.cpu && cpu && strcmp(r->header.cpu, cpu) == 0;
    free(cpu);
    return here && whose_file_is_yours(path);
}

/* Of what bears `mark`, in a file where yours is `mine`; NULL: nothing in it can be yours. */
static enum whose_is marked(const char *mark, const char *mine)
{
    return mark && mine && !strcmp(mark, mine) ? WHOSE_YOURS : WHOSE_SOMEONES;
}

void recording_belongs(struct recording *r, const char *path)
{
    char *mine = path && is_made_here(r, path) ? mark_of(r->header.time, false) : NULL;
    r->whose.is = !path ? WHOSE_SHIPPED : r->guests ? WHOSE_SOMEONES : marked(r->header.mark, mine);
    for (size_t i = 0; i < r->nrows; i++) {
        const struct recorded_row *row = &r->rows[i];
        struct kept_row *kept = row_data((struct row *)row->row);
        free(kept->whose);
        free(kept->hash);
        kept->whose =
            xstrdup(whose_words[path ? marked(row->guest ? row->mark : r->header.mark, mine)
                                     : r->whose.is]);
        kept->hash = xstrdup(r->whose.hash);
    }
    free(mine);
}

/* "a/b/h200.rec" is h200. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const size_t len = strlen(base);
    const bool ends = len > 4 && strcmp(base + len - 4, ".rec") == 0;
    return xstrndup(base, ends ? len - 4 : len);
}

enum status recording_read(const char *path, struct recording **out, struct err *err)
{
    char *text;
    size_t len;
    *out = NULL;
    enum status st = str_read_file(path, RECORDING_FILE_MAX, &text, &len, err);
    if (st)
        return st;
    char *name = name_of(path);
    st = recording_parse(name, text, len, out, err);
    if (!st)
        recording_belongs(*out, path);
    free(name);
    free(text);
    return st;
}

void recording_free(struct recording *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->nrows; i++) {
        row_drop(r->rows[i].row);
        json_decref(r->rows[i].plan);
        free(r->rows[i].samples);
        free(r->rows[i].mark);
    }
    free(r->rows);
    record_clear(recording_header_fields, &r->header);
    json_decref(r->tables);
    free(r->name);
    free(r->note);
    free(r);
}

void recording_rows(const struct recording *r, struct rowset *rows)
{
    for (size_t i = 0; i < r->nrows; i++)
        rowset_share(rows, r->rows[i].row);
}

struct ratio recorded_ratio(const struct recorded_row *now, const struct recorded_row *before)
{
    return stats_ratio_apart(now->samples, now->nsamples, before->samples, before->nsamples, 42);
}
