/* store.h - results that outlive the program, in SQLite.
 *
 * Opened on first use. One writer at a time is SQLite's business (WAL, busy timeout); a row that
 * store_add() acknowledged survives a SIGKILL.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_STORE_H
#define ATTNSCOPE_STORE_STORE_H

#include "store/kept.h"

struct store;
/* `path` NULL: $XDG_DATA_HOME/attnscope/results.db. Creates it. Where it is there but cannot be
 * written, on a full or read-only disk, it opens for reading: store_add() fails then. */
enum status store_open(const char *path, struct store **out, struct err *err);
/* The file that $ATTNSCOPE_RESULTS names in the place of the usual one; NULL: none. */
const char *store_named(void);
/* Another person's file: read-only, defensive, checked. */
enum status store_open_foreign(const char *path, struct store **out, struct err *err);
void store_close(struct store *s);

/* Appends a row with the command that made it. `whose` (base/whose.h) it was, if it was taken from elsewhere; NULL: it
 * was measured here. */
enum status store_add(struct store *s, const struct run_row *row, const char *command,
                      const char *whose, struct err *err);

struct store_query {
    const char *kernel, *shape, *backend, *device; /* NULL: any; shape as in shape_has() */
    const char *command;                           /* NULL: any; else exactly this one */
    const char *since, *before;                    /* ISO 8601 times, or their beginnings */
    int64_t after;                                 /* the row's id is larger; 0: any */
    int limit;                                     /* newest first; 0: 20 */
};
/* Adds what is found to `rows`, which is of stored_type. On failure it has none of them. */
enum status store_find(struct store *s, const struct store_query *q, struct rowset *rows,
                       struct err *err);

/* Removes rows by their ids, all of them or, on failure, none; what they took of the file is given back
 * where nobody else holds it. */
enum status store_remove(struct store *s, const int64_t *ids, size_t n, struct err *err);

/* What is under way and must not be lost with the program. store_begin() notes it, unless it is noted already,
 * and says since when; store_finish() forgets it. */
struct store_begun {
    char time[32];
    int64_t after; /* the newest row that there was; 0: none */
};
enum status store_begin(struct store *s, const char *what, struct store_begun *out);
void store_finish(struct store *s, const char *what);

/* Lesson progress and predictions share the file; see lesson/take/progress.h. */
struct sqlite3;
struct sqlite3 *store_handle(struct store *s);

#endif
