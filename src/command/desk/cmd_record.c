/* cmd_record.c - record: keep what is measured in a file that can be mailed; open: have it back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/recorded.h"
#include "command/line/lex.h"
#include "command/line/parse.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/bench_table.h"
#include "command/verbs/verbs.h"

/* ---- record ---- */

static enum status record_status(struct session *s, struct cmd_call *c)
{
    if (!s->rows.recorder) {
        str_add(c->out, "nothing is being recorded; record FILE begins\n");
        return ST_OK;
    }
    char *name = sanitize_line(recorder_path(s->rows.recorder));
    const size_t n = recorder_rows(s->rows.recorder);
    str_addf(c->out,
             recorder_failed(s->rows.recorder)
                 ? "the recording %s has ended after %zu row%s: it could not be written\n"
                 : "recording into %s: %zu row%s so far; record off ends it\n",
             name, n, n == 1 ? "" : "s");
    free(name);
    return ST_OK;
}

/* What is to be recorded: the words behind the file, or the one that holds a whole line. NULL: what
 * follows. */
static char *inner_line(const struct cmd_call *c)
{
    if (c->nwords < 2)
        return NULL;
    if (c->nwords == 2)
        return xstrdup(c->words[1].text);
    struct str line = {0};
    for (int i = 1; i < c->nwords; i++) {
        if (i > 1)
            str_addc(&line, ' ');
        word_quote(&line, c->words[i].text);
    }
    return str_take(&line);
}

static enum status read_samples(struct cmd_call *c, int *samples, struct err *err)
{
    int64_t n = ROW_SAMPLES_MAX;
    const char *text = call_key(c, "samples");
    enum status st = text ? number_parse_int("samples", text, 0, ROW_SAMPLES_MAX, &n, err) : ST_OK;
    *samples = (int)n;
    return st ? call_mark_key(c, "samples", st, err) : ST_OK;
}

static enum status record_begin(struct session *s, struct cmd_call *c, struct err *err)
{
    int samples;
    const bool force = call_option(c, "force"), append = call_option(c, "append");
    enum status st = read_samples(c, &samples, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st && force && append)
        st = err_set(err, ST_USAGE, "--force and --append exclude each other");
    if (st)
        return st;
    if (s->rows.recorder) {
        char *name = sanitize_line(recorder_path(s->rows.recorder));
        err_set(err, ST_USAGE, "%s is being recorded into; record off ends it", name);
        free(name);
        return ST_USAGE;
    }
    st = recorder_open(c->words[0].text,
                       force    ? RECORDER_REPLACE
                       : append ? RECORDER_APPEND
                                : RECORDER_NEW,
                       samples, &s->rows.recorder, err);
    return st ? call_mark(c, st, c->words[0].at, (int)strlen(c->words[0].text), err) : ST_OK;
}

/* Records one line and ends, whatever became of it. */
static enum status record_line(struct session *s, struct cmd_call *c, const char *line,
                               struct err *err)
{
    struct err close_err = ERR_INIT;
    enum status st = command_line(s, line, c->out, err);
    enum status closed = session_record_off(s, &close_err);
    if (!st && closed)
        st = err_set(err, closed, "%s", close_err.text);
    return st;
}

static enum status exec_record(struct session *s, struct cmd_call *c, struct err *err)
{
    if (!c->nwords) {
        enum status st = call_finish(s, c, err);
        return st ? st : record_status(s, c);
    }
    if (!session_may(s, MAY_WRITE))
        return err_set(err, ST_USAGE, "recording is off in this restricted session");
    if (c->nwords == 1 && !strcmp(c->words[0].text, "off")) {
        enum status st = call_finish(s, c, err);
        if (!st && !s->rows.recorder)
            st = err_set(err, ST_USAGE, "nothing is being recorded");
        return st ? st : session_record_off(s, err);
    }
    enum status st = record_begin(s, c, err);
    char *line = st ? NULL : inner_line(c);
    if (line)
        st = record_line(s, c, line, err);
    else if (!st)
        session_note(s, "recording what follows into %s; record off ends it", c->words[0].text);
    free(line);
    return st;
}

static const struct cmd_key record_keys[] = {
    {"samples", "keep at most this many samples of each row; 1000 by default, 0 for none", NULL},
    {"--append", "go on behind what the file holds", NULL},
    {"--force", "write over an existing file", NULL},
    {0},
};

const struct cmd_entry cmd_record = {
    .name = "record",
    .group = "Session",
    .usage = "FILE [-- command|\"commands\"] | off",
    .summary = "keep measurements, with their samples, in a file to open elsewhere",
    .help =
        "Every row measured from now on goes into the file, with its samples, its plan and the\n"
        "command that repeats it, until record off or the end of the session. With a command\n"
        "behind -- or a line of them in quotes only that is recorded. open shows a recording\n"
        "on any machine, compare sets two against each other, report makes a page of one.\n"
        "\n"
        "A recording is text, one JSON object a line: a header (device, driver, clocks, date,\n"
        "seed), a line for each row, a line for each table. What a crash can damage is the\n"
        "last line; open leaves it out and says so. An existing file is never overwritten\n"
        "unless told to.\n"
        "\n"
        "  record l4.rec -- sweep qtile_seq,fa2 S=256..4k:x2\n"
        "  record l4.rec \"run naive; compare fa2,splitkv\" --append\n"
        "  record l4.rec; run fa2; check all; record off\n",
    .arg = ARG_FILE,
    .keys = record_keys,
    .exec = exec_record,
};

/* ---- open ---- */

struct listed_row {
    char *name, *device, *time;
    int64_t rows;
    char *whose, *hash, *reason;
};

// clang-format off
static const struct field listed_fields[] = {
    FIELD(FIELD_TEXT, listed_row, name, .title = "recording", .doc = "What open takes."),
    FIELD(FIELD_TEXT, listed_row, device, .doc = "On what it was recorded."),
    FIELD(FIELD_TEXT, listed_row, time, .title = "date", .doc = "When, UTC."),
    FIELD(FIELD_INT,  listed_row, rows, .doc = "How many rows it has."),
    FIELD(FIELD_TEXT, listed_row, whose, .doc = "shipped with the program, yours (of this machine), or someone's."),
    FIELD(FIELD_TEXT, listed_row, hash, .doc = "The first digits of its SHA-256."),
    FIELD(FIELD_TEXT, listed_row, reason, .doc = "Why it cannot be read."),
    {.name = NULL},
};
static const struct row_type listed_type = ROW_TYPE(listed_row, {listed_fields, 0});

static const struct columns list_columns = {
    .type = &listed_type,
    .list = (const struct column[]){
        {.field = "name"},
        {.field = "device"},
        {.field = "time"},
        {.field = "rows"},
        {.field = "whose", .drop = 2},
        {.field = "hash", .drop = 1},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

static void add_listed(struct rowset *rows, struct session *s, const char *name)
{
    const struct recording *rec;
    struct err err = ERR_INIT;
    const bool ok = !library_peek(session_library(s), name, &rec, &err);
    struct listed_row *row = rowset_add(rows);
    row->name = xstrdup(str_is_utf8(name) ? name : "?");
    row->device = ok && rec->header.device ? xstrdup(rec->header.device) : NULL;
    row->time = ok && rec->header.time ? xstrdup(rec->header.time) : NULL;
    row->rows = ok ? (int64_t)rec->nrows : INT_UNKNOWN;
    row->whose = ok ? xstrdup(whose_words[rec->whose.is]) : NULL;
    row->hash = ok ? xstrdup(rec->whose.hash) : NULL;
    row->reason = ok ? NULL : xstrdup(err.text);
}

/* What a name does not mean although it lies in the user's folder; `name` NULL: all such. */
static void say_hidden(struct session *s, const char *name)
{
    char *problem;
    for (int i = 0; (problem = library_problem(session_library(s), name, i)); i++, free(problem))
        session_note(s, "%s", problem);
}

static enum status open_list(struct session *s, struct cmd_call *c)
{
    struct rowset rows = {.type = &listed_type};
    const char *name;
    for (size_t i = 0; (name = library_name(session_library(s), i)); i++)
        add_listed(&rows, s, name);
    if (call_format(c) == FORMAT_TEXT && !rows.n)
        str_add(c->out, "no recordings yet; record FILE makes one, open FILE reads any\n");
    else
        call_show(s, c, &rows, &list_columns);
    rowset_clear(&rows);
    say_hidden(s, NULL);
    return ST_OK;
}

static void add_part(struct str *out, const char *before, const char *text)
{
    char *clean = text ? sanitize_line(text) : NULL;
    if (clean)
        str_addf(out, " | %s%s", before, clean);
    free(clean);
}

/* What all listed rows have, for which the table has no column: a time says nothing without them. */
static void add_shared(struct str *out, const struct rowset *rows)
{
    static const char *const shared[][2] = {{"shape", ""}, {"l2", "L2 "}, {"backend", ""}};
    for (size_t f = 0; rows->n && f < sizeof shared / sizeof *shared; f++) {
        bool agree = true;
        for (size_t i = 1; i < rows->n; i++)
            agree = agree && row_agrees(rows->rows[0], rows->rows[i], shared[f][0]);
        if (agree)
            add_part(out, shared[f][1], row_text(rows->rows[0], shared[f][0]));
    }
}

/* "h200 | shipped, sha256 ... | recorded 2026-11-20T... | NVIDIA H200 | driver 580 | CUDA 13.0 | SM 1980 MHz | 3 of 96
 * rows | B=1 H=8 S=1024 D=64 f16 | L2 cold | cuda"; `listed`: a table of the rows follows. */
static void add_heading(struct session *s, struct cmd_call *c, const struct recording *rec,
                        const struct rowset *rows, bool listed)
{
    const size_t shown = rows->n;
    const struct recording_header *h = &rec->header;
    const size_t from = c->out->len;
    char buf[NUMBER_BUF];
    str_addf(c->out, "%s | ", rec->name);
    whose_add(c->out, &rec->whose);
    add_part(c->out, "recorded ", h->time);
    add_part(c->out, "", h->device);
    add_part(c->out, "driver ", h->driver);
    add_part(c->out, "CUDA ", h->cuda);
    if (!isnan(h->sm_clock_mhz))
        str_addf(c->out, " | clock %s MHz", number_fmt(buf, h->sm_clock_mhz, 4));
    if (shown < rec->nrows)
        str_addf(c->out, " | %zu of %zu rows", shown, rec->nrows);
    else
        str_addf(c->out, " | %zu row%s", rec->nrows, rec->nrows == 1 ? "" : "s");
    if (listed)
        add_shared(c->out, rows);
    str_addc(c->out, '\n');
    lines_wrap(c->out, from, call_width(s, c));
}

/* What there is now to look up, in place of hundreds of rows. */
static void add_brought(struct session *s, struct cmd_call *c, const struct recording *rec)
{
    const struct recall_summary sum = recall_summary(rec, s->services.devices);
    const size_t from = c->out->len;
    const char *kernels = sum.kernels == 1 ? "" : "s", *gpus = sum.gpus == 1 ? "" : "s";
    if (sum.rows)
        str_addf(c->out,
                 "%d of its times, of %d kernel%s on %d GPU%s, are shown as RECORDED where gpu= "
                 "names that GPU; ",
                 sum.rows, sum.kernels, kernels, sum.gpus, gpus);
    str_addf(c->out, "open %s K lists the rows of a kernel, results all\n", c->words[0].text);
    lines_wrap(c->out, from, call_width(s, c));
}

/* All of a recording are many: as text they are remembered, and what they are is said. */
static void show_opened(struct session *s, struct cmd_call *c, const struct recording *rec,
                        const struct rowset *rows)
{
    const bool text = call_format(c) == FORMAT_TEXT, all = c->nwords < 2 && !c->npairs;
    if (text)
        add_heading(s, c, rec, rows, !all);
    if (text && all) {
        add_brought(s, c, rec);
        bench_of_recording(s, c, rec);
        call_remember(s, c, rows, &recorded_columns);
    } else if (rows->n || !text) {
        call_rows(s, c, rows, &recorded_columns);
    }
}

static enum status exec_open(struct session *s, struct cmd_call *c, struct err *err)
{
    const struct recording *rec;
    (void)call_format(c);
    struct rowset rows = {.type = &recorded_type};
    if (!c->nwords) {
        enum status st = call_finish(s, c, err);
        return st ? st : open_list(s, c);
    }
    enum status st = library_open(session_library(s), c->words[0].text, &rec, err);
    if (st)
        return call_mark(c, st, c->words[0].at, (int)strlen(c->words[0].text), err);
    st = recorded_rows(c, rec, &rows, err);
    if (st)
        return st;
    if (rec->note)
        session_note(s, "%s: %s", rec->name, rec->note);
    say_hidden(s, c->words[0].text);
    show_opened(s, c, rec, &rows);
    journal_add(s, &rows, &recorded_columns, NULL, c->text);
    rowset_clear(&rows);
    return ST_OK;
}

static const char *const l2_words[] = {"cold", "hot", NULL};
static const struct cmd_key open_keys[] = {
    {"l2", "rows measured with this state of the caches", l2_words},
    {"backend", "rows of this backend", backend_names},
    {0},
};

const struct cmd_entry cmd_open = {
    .name = "open",
    .alias = "recordings",
    .group = "Look up",
    .usage = "[FILE|NAME [K[,K...]] [shape] [params]]",
    .summary = "take in a recording: what was measured on another machine, or earlier",
    .help =
        "Its times are shown as RECORDED, with device and date, by plan, roofline and the\n"
        "screens where gpu= names that GPU. Its rows come back for export, report and results;\n"
        "with a kernel or a part of a shape behind the name they are listed, and always as\n"
        "--json and --csv. Without a name it lists the recordings that come with the\n"
        "program and those in <data>/attnscope/recordings. Kernels, parts of a shape, l2= and\n"
        "parameters behind the name choose among its rows; a shape key takes lists and ranges.\n"
        "\n"
        "  open h200-short fa2,splitkv S=64..512:x2\n"
        "  open h200.rec\n"
        "  open h200.rec; results fa2 S=4k; export h200.md\n",
    .arg = ARG_FILE,
    .keys = open_keys,
    .flags = CMD_SHAPE | CMD_ROWS,
    .exec = exec_open,
    .columns = COLUMNS(&list_columns, &recorded_columns),
};
