/* cmd_history.c - history: lines typed in any session; log: commands of this one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/line/history.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"

/* ---- history ---- */

enum { HISTORY_SHOWN = 20 };

/* The last `count` lines, or all that contain `word`. */
static void print_history(struct session *s, struct str *out, int64_t count, const char *word)
{
    struct history h;
    history_load(&h);
    const size_t first = word || (uint64_t)count >= h.count ? 0 : h.count - (size_t)count;
    for (size_t i = first; i < h.count; i++)
        if (!word || text_contains(h.lines[i], word))
            str_addf(out, "%5zu  %s\n", i + 1, h.lines[i]);
    if (h.refused)
        session_note(s, "%s", h.refused);
    history_forget(&h);
}

static enum status exec_history(struct session *s, struct cmd_call *c, struct err *err)
{
    int64_t count = HISTORY_SHOWN;
    enum status st = call_finish(s, c, err);
    const char *word = c->nwords ? c->words[0].text : NULL;
    double ignored;
    if (!st && c->nwords > 1)
        st = err_set(err, ST_USAGE, "history takes one word or number");
    if (!st && word && !number_parse(word, &ignored, NULL)) {
        st = number_parse_int("the number of lines", word, 1, 1000000, &count, err);
        if (st)
            call_mark(c, st, c->words[0].at, (int)strlen(word), err);
        word = NULL;
    }
    if (!st)
        print_history(s, c->out, count, word);
    return st;
}

const struct cmd_entry cmd_history = {
    .name = "history",
    .group = "Session",
    .usage = "[N|WORD]",
    .summary = "lines typed, the last N or those that contain a word",
    .help =
        "All sessions append to one file in the state folder, each line is kept once; lines that\n"
        "begin with a blank are not kept.\n"
        "\n"
        "  history 50\n"
        "  history sweep\n",
    .arg = ARG_WORD,
    .exec = exec_history,
};

/* ---- log ---- */

struct log_row {
    int64_t number, status;
    double seconds;
    char *command;
};
static const struct field log_fields[] = {
    FIELD(FIELD_INT, log_row, number, .title = "#", .doc = "The command's number, from 1."),
    FIELD(FIELD_INT, log_row, status, .doc = "Its exit status."),
    FIELD(FIELD_REAL, log_row, seconds, .unit = "s", .digits = 3, .doc = "How long it took."),
    FIELD(FIELD_TEXT, log_row, command, .doc = "As it was given."),
    {.name = NULL},
};
static const struct row_type log_type = ROW_TYPE(log_row, {log_fields, 0});

// clang-format off
static const struct columns columns = {
    .type = &log_type,
    .list = (const struct column[]){
        {.field = "number"},
        {.field = "status"},
        {.field = "seconds"},
        {.field = "command"},
        {0},
    },
};
// clang-format on

static enum status exec_log(struct session *s, struct cmd_call *c, struct err *err)
{
    const enum format f = call_format(c);
    enum status st = call_finish(s, c, err);
    if (st)
        return st;
    struct rowset rows = {.type = &log_type};
    for (size_t i = 0; i < s->log.count; i++) {
        const struct log_entry *e = &s->log.items[i];
        struct log_row *row = rowset_add(&rows);
        row->number = s->log.before + (int64_t)i + 1;
        row->status = e->status;
        row->seconds = round(e->seconds * 1e3) / 1e3;
        row->command = sanitize_line(e->text);
    }
    rows_format(c->out, &rows, &columns, f, call_width(s, c));
    rowset_clear(&rows);
    if (s->log.before)
        session_note(s, "the first %lld commands of this session are no longer kept",
                     (long long)s->log.before);
    return ST_OK;
}

const struct cmd_entry cmd_log = {
    .name = "log",
    .group = "Session",
    .usage = "",
    .summary = "the commands of this session, their exit status and how long they took",
    .help = "Also what keys of the full screen did: each is a command. The last 1000 are kept.\n"
            "\n"
            "  log --md > protocol.md\n",
    .arg = ARG_NONE,
    .flags = CMD_ROWS,
    .exec = exec_log,
    .columns = COLUMNS(&columns),
};
