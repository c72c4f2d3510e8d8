/* rows.h - what commands gave: rows as $1, $2 ... $last, the newest table for `export`, all tables for
 * `report`, and the recording under way.
 *
 * A front end, a lesson and `show $3` find a row here and nowhere else. The number of a row never
 * changes, also when old ones are forgotten or rows are set apart.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_ROWS_H
#define ATTNSCOPE_COMMAND_ROWS_H

#include <stdbool.h>

#include "base/rowset.h"
#include "base/status.h"
#include "base/str.h"
#include "command/may.h"
#include "export/sheet.h"
#include "store/recording.h"

struct session;
struct cmd_call;
struct run_row;

/* A name for all rows of one command, `small = plan fa2 S=512` in a lesson. */
struct row_name {
    char *name;
    size_t first, count; /* by number, from 1 */
};

struct rows {
    struct rowset results; /* $1, $2 ...; the last is $last; at most 100 */
    size_t ever;           /* rows so far, also those that results has lost again */
    struct row_name *names;
    size_t nnames, capnames;
    struct sheet last; /* what the last command with rows printed, for `export`; its command is NULL
                              where there is none yet */
    struct sheets journal; /* what verbs printed, for `report`; the oldest go when there are many */
    struct recorder *recorder; /* `record` is on, or NULL; not owned by a copy that is set apart */
};

void rows_init(struct rows *r);
void rows_clear(struct rows *r); /* but for the recorder */

/* ---- rows by name: one rule for prompt, lessons, gates and claims ---- */

/* Adds rows of one command; `name` (may be NULL) is theirs. The rows are shared. */
void rows_add(struct rows *r, const struct rowset *rows, const char *name);
/* Forgets results and names; the next row is $1 again. */
void rows_forget(struct rows *r);
/* The row that `name` begins with, and what follows behind a dot in *rest ("" where nothing does):
 *
 *   $3          the third row ever, also when older ones are forgotten
 *   $last       the newest
 *   $small      the row of the command that was given this name; of several rows say which:
 *   $small.fa2  the newest of this kernel among them
 *   $small.2    the second of them
 *   $fa2        the newest row of a kernel
 *
 * NULL: there is no such row, or it is not clear which. Borrowed. */
const struct row *rows_find(const struct rows *r, const char *name, const char **rest);
/* Its number behind the row's name, "$1.median_us"; NaN when there is none. */
double rows_number(const struct rows *r, const char *name);
/* The row that `name` names to its end, or NULL. Borrowed. */
const struct row *session_row(const struct session *s, const char *name);
/* Evaluates "$1.median_us / $last.median_us". */
enum status session_eval(const struct session *s, const char *text, double *out, struct err *err);

/* ---- what a command gave ---- */

/* Puts rows to the call's output in the format its options ask for, and remembers them as $last. The
 * set is borrowed, its rows are shared from here on: they no longer change. */
enum status call_rows(struct session *s, struct cmd_call *c, const struct rowset *rows,
                      const struct columns *cols);
/* As call_rows() for rows that were only looked up: `export` has them, $last stays. */
void call_show(struct session *s, struct cmd_call *c, const struct rowset *rows,
               const struct columns *cols);
/* Keeps the rows as $1 .. $last and for export; call_rows() does it too. */
void call_remember(struct session *s, struct cmd_call *c, const struct rowset *rows,
                   const struct columns *cols);
/* Rows of a command that were shown as two tables, either of which may be empty. Those that take numbers stand first in
 * `all`, `numbered` of them; `export` has all, a report both tables. */
struct call_tables {
    const struct rowset *all;
    size_t numbered;
    const struct rowset *tables[2];
    const struct columns *cols[2];
};
void call_remember_tables(struct session *s, struct cmd_call *c, const struct call_tables *t);
/* Prints the rows in a format for programs, without remembering them. */
void call_print(struct session *s, struct cmd_call *c, const struct rowset *rows,
                const struct columns *cols);
/* Keeps measured rows as $1 .. $last and for `export`, as the verbs run and compare do: for front ends
 * that measure by themselves. `command` would repeat them. */
void session_remember_runs(struct session *s, const struct rowset *rows, bool compared,
                           const char *command);

/* Keeps a measured row in the store (unless `no_store`) and in the recording under way, if any. A
 * row without a check is kept in neither. What fails is noted. */
void session_keep_row(struct session *s, const struct run_row *row, const char *command,
                      bool no_store);
/* Ends the recording under way, if any; notes what it holds. */
enum status session_record_off(struct session *s, struct err *err);
/* Adds a table to the journal, and to the recording under way. `rows` and `charts` are borrowed. */
void journal_add(struct session *s, const struct rowset *rows, const struct columns *cols,
                 const struct charts *charts, const char *command);

/* ---- set apart ---- */

/* Runs a line as a lesson runs its commands: the session may what it may and that kind of session does, too,
 * and of recordings those are seen that lessons may show.
 *
 * While it runs the session's rows are set apart: $1 is the line's own first row. Afterwards they are
 * as before, to the number: results, what `export` has, tables for `report`. What the line gave is in
 * `got` (NULL: nobody wants it), which the caller ends with rows_clear(). What was measured is kept as ever: in the store, and
 * in the recording under way. */
enum status session_apart(struct session *s, enum session_kind as, const char *line,
                          struct rows *got, struct str *out, struct err *err);
/* Makes what a line gave apart the session's newest, as if it had been given here. */
void session_adopt(struct session *s, const struct rows *got);

#endif
