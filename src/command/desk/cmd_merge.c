/* cmd_merge.c - joins files of results and recordings into one's own, each row once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"
#include "store/merge.h"

struct merge_row {
    char *file;
    int64_t added, had, altered, damaged;
};

// clang-format off
static const struct field fields[] = {
    FIELD(FIELD_TEXT, merge_row, file, .doc = "What was merged."),
    FIELD(FIELD_INT, merge_row, added, .unit = "rows", .doc = "Rows that are new here."),
    FIELD(FIELD_INT, merge_row, had, .unit = "rows", .doc = "Rows that were here already."),
    FIELD(FIELD_INT, merge_row, altered, .unit = "rows", .doc = "Rows of a recording that were changed by hand since: they are left out."),
    FIELD(FIELD_INT, merge_row, damaged, .unit = "rows", .doc = "Rows of a file of results that cannot be read: they are left out."),
    {.name = NULL},
};
static const struct row_type merge_type = ROW_TYPE(merge_row, {fields, 0});
static const struct columns columns = {
    .type = &merge_type,
    .list = (const struct column[]){{.field = "file"}, {.field = "added"}, {.field = "had"}, {.field = "altered"}, {.field = "damaged"}, {0}},
};
// clang-format on

static bool is_database(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcmp(dot, ".db");
}

/* Somebody else's program may be writing: what is only in its log is not seen from here. */
static void note_log(struct session *s, const char *path)
{
    struct stat st;
    char *log = xasprintf("%s-wal", path);
    if (stat(log, &st) == 0 && st.st_size > 0)
        session_note(s,
                     "rows that are only in %s are not read: end the program that writes it, and "
                     "merge again",
                     log);
    free(log);
}

static enum status merge_database(struct session *s, struct merge *m, const char *path,
                                  struct merged *count, struct err *err)
{
    struct store *from = NULL;
    note_log(s, path);
    enum status st = store_open_foreign(path, &from, err);
    if (!st)
        st = merge_store(m, session_store(s), from, count, err);
    store_close(from);
    return st;
}

static enum status merge_recording(struct session *s, struct merge *m, const char *path,
                                   struct merged *count, struct err *err)
{
    struct recording *rec;
    struct rowset rows = {.type = &recorded_type};
    enum status st = recording_read(path, &rec, err);
    if (st)
        return st;
    if (rec->note)
        session_note(s, "%s", rec->note);
    recording_rows(rec, &rows);
    st = merge_rows(m, session_store(s), &rows, count, err);
    rowset_clear(&rows);
    recording_free(rec);
    return st;
}

static enum status merge_file(struct session *s, struct merge *m, const char *path,
                              struct rowset *out, struct err *err)
{
    struct merged count = {0};
    const enum status st = is_database(path) ? merge_database(s, m, path, &count, err)
                                             : merge_recording(s, m, path, &count, err);
    struct merge_row *row = rowset_add(out);
    row->file = sanitize_line(path);
    row->added = count.added;
    row->had = count.had;
    row->altered = count.altered;
    row->damaged = count.damaged;
    if (count.damaged)
        session_note(s, "%s: %lld damaged row%s left out", row->file, (long long)count.damaged,
                     count.damaged == 1 ? "" : "s");
    return st;
}

static enum status exec_merge(struct session *s, struct cmd_call *c, struct err *err)
{
    struct merge m = {0};
    struct rowset rows = {.type = &merge_type};
    (void)call_format(c);
    enum status st = call_finish(s, c, err);
    if (!st && !c->nwords)
        st = err_set(err, ST_USAGE, "merge needs files of results (.db) or recordings");
    if (!st && (!session_may(s, MAY_READ) || !session_may(s, MAY_WRITE)))
        st = err_set(err, ST_USAGE, "merge reads files that are named; this session is restricted");
    if (!st && !session_store(s))
        st = err_set(err, ST_FAIL, "results cannot be kept here");
    if (!st)
        st = merge_begin(&m, session_store(s), 0, err);
    for (int i = 0; i < c->nwords && !st; i++) {
        st = merge_file(s, &m, c->words[i].text, &rows, err);
        if (st)
            call_mark(c, st, c->words[i].at, (int)strlen(c->words[i].text), err);
    }
    if (rows.n)
        rows_format(c->out, &rows, &columns, call_format(c), call_width(s, c));
    rowset_clear(&rows);
    merge_clear(&m);
    return st;
}

const struct cmd_entry cmd_merge = {
    .name = "merge",
    .group = "Session",
    .usage = "FILE...",
    .summary = "take the rows of other files of results into your own, each once",
    .help =
        "Files are databases of results (results.db of another machine or account) and "
        "recordings.\n"
        "A row is taken once, however often its file is merged, and keeps what it says of itself:\n"
        "time, device, host, driver, code, command. Rows of a recording that were changed by hand\n"
        "since are left out and counted, as are damaged ones.\n"
        "\n"
        "  merge gpu-box/results.db h100.rec\n",
    .arg = ARG_FILE,
    .flags = CMD_ROWS,
    .exec = exec_merge,
    .columns = COLUMNS(&columns),
};
