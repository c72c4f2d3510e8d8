/* recording.h - measurements in a file that can be mailed: taken on one machine, opened on another.
 *
 * A recording is text, JSON Lines: one object a line, in the order things happened. `type` says
 * what a line is:
 *
 *   {"type":"header", "format":"attnscope-recording", "format_version":1, "program_version",
 *    "time", "system", "cpu", "backend", "device", "driver", "cuda", "sm_clock_mhz", "seed"}
 *       The first line, written with the first row: device, driver, CUDA version, SM clock and seed
 *       are that row's. Every row carries its own besides.
 *   {"type":"row", "time", "command", "row":{...}, "samples_us":[...], "samples_of":n,
 *    "plan":{...}|null}
 *       One measured row: the fields of `run` (source_hash among them), what reproduces it, its
 *       samples in order (evenly thinned from n), and the plan of the kernel on that device.
 *   {"type":"table", "time", "command", "columns":[{"field","title","left","digits"}],
 *    "rows":[...], "charts":[{"kind","caption","model"}]}
 *       What a command printed, with its pictures (draw/chart.h), so that a report can show it again.
 *       Tables of older programs have no "charts".
 *
 * A line that another account has added than the one that began the file has a "mark" of its own (store/mark.h; null: that
 * account has none), so that nobody's rows become yours by being written behind yours.
 * Each line of today's recordings ends with "after" and "seal", store/seal.h, and their header says "sealed":true.
 *
 * Lines of other types and members that are not known are skipped, so that newer files can be read.
 * A line is written whole with one call in append mode: what a crash can damage is the last line,
 * and a reader says so and goes on without it.
 *
 * Files come from strangers. Whatever is in one, reading ends in rows that have passed the field
 * table or in a sentence; sizes are bounded; text is sanitised where it is shown, as all text is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_RECORDING_H
#define ATTNSCOPE_STORE_RECORDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/sha256.h"
#include "base/whose.h"
#include "measure/stats.h"
#include "store/kept.h"

enum {
    RECORDING_VERSION = 1,
    RECORDING_FILE_MAX = 64 << 20, /* bytes read at most */
    RECORDING_LINE_MAX = 4 << 20,
    RECORDING_ROWS_MAX = 100000, /* rows kept, and tables */
};

/* ---- writing ---- */

struct recorder;
enum recorder_mode {
    RECORDER_NEW,     /* the file must not exist */
    RECORDER_APPEND,  /* goes on behind what is there, which must be a recording */
    RECORDER_REPLACE, /* an old file's content is lost */
};
/* Opens `path` for writing, and holds it: a second recorder is refused. `samples`: at most so many
 * are kept of each row; 0: none. */
enum status recorder_open(const char *path, enum recorder_mode mode, int samples,
                          struct recorder **out, struct err *err);
/* Appends a row with figures. `plan` may be NULL. */
enum status recorder_row(struct recorder *r, const struct run_row *row, const char *command,
                         const json_t *plan, struct err *err);
/* Appends a table: an object with command, columns and rows as above. */
enum status recorder_table(struct recorder *r, const json_t *table, struct err *err);
size_t recorder_rows(const struct recorder *r);
const char *recorder_path(const struct recorder *r);
/* Could a line not be written? Then none after it is, for a recording with holes would say something else. */
bool recorder_failed(const struct recorder *r);
/* Puts all on the disk and closes; ST_FAIL when any of it could not be written. `r` may be NULL. */
enum status recorder_close(struct recorder *r, struct err *err);

/* ---- reading ---- */

struct recorded_row {
    const struct row *row; /* of recorded_type; origin is "recorded" where the figures were live */
    const struct run_row *run; /* its measurement */
    json_t *plan;              /* an object, or NULL */
    double *samples;           /* us, positive and finite; NULL: none kept */
    size_t nsamples;
    bool guest; /* it was added by another account than the one that began the recording */
    char *mark; /* whose, where it is known: of a guest; else NULL, and the header's counts */
};

/* Its first line. */
struct recording_header {
    int64_t format_version;
    char *program_version, *time, *system, *cpu; /* who wrote it, when and where */
    char *mark;                                  /* store/mark.h; NULL: written without one */
    char *backend, *device, *driver, *cuda;      /* of its first row */
    double sm_clock_mhz;
    int64_t seed;
};
extern const struct field recording_header_fields[];

struct recording {
    char *name;         /* as it is opened: "h200" */
    struct whose whose; /* of its text; recording_read() and the library know */
    struct recording_header header;
    struct recorded_row *rows;
    size_t nrows, caprows;
    json_t *tables; /* array of table objects that can be shown */
    char *
        note; /* what could not be read or was changed, one sentence; NULL: all is as it was written */
    size_t
        altered; /* rows and tables that were changed by hand: the origin of figures is "altered" */
    size_t guests;       /* rows and tables that another account has added */
    bool sealed;         /* lines carry seals (store/seal.h): then one without is altered, too */
    bool shuffled;       /* lines were taken out, put in or moved */
    bool header_altered; /* device, CPU and date of the first line are not as they were written */
    char seal[SHA256_HEX + 1]; /* of the last line, "": it has none */
};

/* ST_USAGE with a sentence where `text` is no recording. */
enum status recording_parse(const char *name, const char *text, size_t len, struct recording **out,
                            struct err *err);
/* Says whose it is, in it and in each of its rows; `path` NULL: inside the program. The whole is yours where all of it
 * is; of one that several accounts have written each has his rows. */
void recording_belongs(struct recording *r, const char *path);
enum status recording_read(const char *path, struct recording **out, struct err *err);
void recording_free(struct recording *r);
/* For who needs the rows one by one and keeps none: every sound row of a recording's text goes to `take`,
 * without its samples. Lines that cannot be read are passed over. */
typedef void recording_take_fn(void *ctx, const struct run_row *row);
void recording_scan(const char *text, size_t len, recording_take_fn *take, void *ctx);
/* The same of somebody's file: rows that were changed have the origin "altered". */
void recording_scan_foreign(const char *text, size_t len, recording_take_fn *take, void *ctx);
void recording_each(const struct recording *r, recording_take_fn *take, void *ctx);
/* The device that the first line of a recording's text names. The caller frees it; NULL: none. */
char *recording_device(const char *text, size_t len);
/* Adds all its rows, which are shared. */
void recording_rows(const struct recording *r, struct rowset *rows);
/* Time of a row in `now` over that of one in `before`, from both rows' samples; all NaN where one
 * has none. */
struct ratio recorded_ratio(const struct recorded_row *now, const struct recorded_row *before);

/* ---- the library: what the program ships, what the user keeps, what was opened ---- */

/* Shipped: lessons/recordings/NAME.rec, inside the program. The user's: NAME.rec in
 * <data>/attnscope/recordings. Both are read when something is first looked up. A name that is shipped means what
 * is shipped, whatever lies in that folder or here: the other is opened by its path. */
struct library;
struct library *library_new(void);
void library_free(struct library *l);
/* The user's own recording that `lesson prepare` writes; lessons show it instead of a shipped one where
 * nothing can be measured. */
#define LIBRARY_PREPARED "prepared"
/* Which recordings are found, from now on; what it was before. Files are opened by path only where all
 * are. */
enum library_scope {
    LIBRARY_ALL,     /* as at the start: what is shipped, the user's, files */
    LIBRARY_LESSONS, /* what is shipped and the prepared one, by name: lessons come from strangers */
    LIBRARY_SHIPPED, /* what is shipped: verdicts are the same on every machine */
};
enum library_scope library_look(struct library *l, enum library_scope scope);
enum library_scope library_scope(const struct library *l); /* as it is */
/* `name` is a file, or the name of a recording; it stays open for look-ups. Borrowed. ST_USAGE with
 * the nearest name. */
enum status library_open(struct library *l, const char *name, const struct recording **out,
                         struct err *err);
/* The same for a name alone, without opening it for `results`. */
enum status library_peek(struct library *l, const char *name, const struct recording **out,
                         struct err *err);
/* The i-th sentence about a recording of the user's folder that a shipped one's name hides, of all or of this
 * name alone; NULL after the last. The caller frees it. */
char *library_problem(const struct library *l, const char *name, int i);
/* Names that `open` takes without a path; NULL after the last. A str_list_fn over a library. */
const char *library_name(const void *library, size_t i);
/* The i-th recording that library_open() has opened so far; NULL after the last. */
const struct recording *library_opened(const struct library *l, size_t i);

/* Where a recording comes from; a later one goes before. */
enum library_place { PLACE_SHIPPED, PLACE_OWN, PLACE_OPENED };
struct library_source {
    enum library_place place;
    const char *name;
    char *device;                /* that its header names, NULL: none; the caller frees it */
    const struct recording *rec; /* what was opened by path; else NULL */
};
/* The i-th of all recordings, those that are out of sight too. Numbers stay; what is opened is added behind.
 * A file is read as far as its header. False: there are no more. */
bool library_source(const struct library *l, int i, struct library_source *out);
bool library_in_sight(const struct library *l, int i);
/* Hands out its rows as recording_scan() does. */
void library_scan(const struct library *l, int i, recording_take_fn *take, void *ctx);

struct recording_query {
    const char *kernel, *shape;   /* exact; NULL: any */
    const char *params, *backend; /* exact; NULL: any */
    const char *l2;               /* "cold" or "hot"; NULL: any */
    const char *device;           /* part of the name, without case; NULL: any */
};
/* The newest row that passed its check and fits, of the recordings that are found, or NULL: what a lesson shows
 * where nothing can be measured. Borrowed until library_free(). */
const struct recorded_row *library_best(struct library *l, const struct recording_query *q);

#endif
