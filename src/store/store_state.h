/* store_state.h - an open store from inside: store_open.c opens it, store.c uses it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_STORE_STATE_H
#define ATTNSCOPE_STORE_STORE_STATE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <time.h>

#include "store/store.h"

struct store {
    sqlite3 *db;
    char *path;
    sqlite3_stmt *insert; /* prepared on first use */
    bool foreign;
    bool read_only;           /* one's own, but its disk is full or read-only */
    struct timespec deadline; /* of the statement under way, on a foreign file */
};

/* ST_FAIL: "cannot <doing> <path>: <SQLite's reason>". */
enum status store_fail(const struct store *s, const char *doing, struct err *err);
/* Gives the next statement on a foreign file its time; on one's own there is no limit. */
void store_start_clock(struct store *s);

#endif
