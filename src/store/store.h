/* store.h - results that outlive the program, in SQLite.
 *
 * Opened on first use. One writer at a time is SQLite's business (WAL, busy timeout); a row that
 * store_add() acknowledged survives a SIGKILL.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_STORE_H
#define ATTNSCOPE_STORE_STORE_H

#include <jansson.h>

#include "measure/row.h"

struct store;
/* `path` NULL: $XDG_DATA_HOME/attnscope/results.db. Creates it. Where it is there but cannot be
 * written, on a full or read-only disk, it opens for reading: store_add() fails then. */
enum status store_open(const char *path, struct store **out, struct err *err);
/* Another person's file: read-only, defensive, checked. */
enum status store_open_foreign(const char *path, struct store **out, struct err *err);
void store_close(struct store *s);

/* Appends a row with the command that made it. */
enum status store_add(struct store *s, const struct run_row *row, const char *command,
                      struct err *err);

struct store_query {
    const char *kernel, *shape, *backend, *device; /* NULL: any; shape as in shape_has() */
    const char *since;                             /* an ISO 8601 time, or its beginning */
    int limit;                                     /* newest first; 0: 20 */
};
/* An array of row objects, each with id, time and command besides run's fields. Caller owns. */
enum status store_find(struct store *s, const struct store_query *q, json_t **rows,
                       struct err *err);
/* The newest passing row for exactly this kernel, params, shape, backend and device, or NULL. */
json_t *store_latest(struct store *s, const char *kernel, const char *params, const char *shape,
                     const char *backend);

/* Lesson progress and predictions share the file; see lesson/take/progress.h. */
struct sqlite3;
struct sqlite3 *store_handle(struct store *s);

#endif
