/* cmd_report.c - report: one HTML file of this session, of its last rows, or of a recording.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/recorded.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"
#include "export/report.h"

/* ---- the tables of a recording ---- */

// clang-format off
static const struct columns roof_columns[1] = {{
    .of = FIELD_TABLES(run_fields, plan_fields),
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "params"},
        {.field = "tflops"},
        {.field = "requested_intensity"},
        {.field = "peak_tflops"},
        {.field = "peak_unit"},
        {.field = "dram_gbs"},
        {.field = "check"},
        {0},
    },
}};
// clang-format on

static bool has_roof(const struct recorded_row *r)
{
    const char *check = row_string(r->row, "check");
    return r->plan && check && !strcmp(check, "pass") && row_number(r->row, "tflops") > 0 &&
           row_number(r->plan, "requested_intensity") > 0 && row_string(r->row, "shape");
}

/* Kernels are set side by side on one problem: the one that most rows are about. */
static const char *common_shape(const struct recording *rec)
{
    const char *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < rec->nrows && i < 2000; i++) {
        size_t n = 0;
        if (!has_roof(&rec->rows[i]))
            continue;
        const char *shape = row_string(rec->rows[i].row, "shape");
        for (size_t k = i; k < rec->nrows && k < 2000; k++)
            n += has_roof(&rec->rows[k]) && !strcmp(row_string(rec->rows[k].row, "shape"), shape);
        if (n > most) {
            most = n;
            best = shape;
        }
    }
    return best;
}

static json_t *roof_row(const struct recorded_row *r)
{
    static const char *const measured[] = {"kernel", "shape", "params", "device",
                                           "tflops", "check", "origin"};
    static const char *const planned[] = {"requested_intensity", "peak_tflops", "peak_unit",
                                          "dram_gbs"};
    json_t *row = json_object();
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        json_object_set(row, measured[i], json_object_get(r->row, measured[i]));
    for (size_t i = 0; i < sizeof planned / sizeof *planned; i++)
        json_object_set(row, planned[i], json_object_get(r->plan, planned[i]));
    return row;
}

/* A table of rows that are JSON still. */
static json_t *json_table(const json_t *rows, const struct columns *cols, const char *command)
{
    struct rowset set = {0};
    rowset_add_json(&set, rows);
    json_t *table = table_object(&set, cols, NULL, command);
    rowset_clear(&set);
    return table;
}

static void add_roof(const struct recording *rec, json_t *tables)
{
    const char *shape = common_shape(rec);
    json_t *rows = json_array();
    struct str command = {0};
    for (size_t i = 0; shape && i < rec->nrows; i++) {
        const struct recorded_row *r = &rec->rows[i];
        if (!has_roof(r) || strcmp(row_string(r->row, "shape"), shape) != 0)
            continue;
        str_addf(&command, "%s%s", command.len ? "," : "roofline ", row_string(r->row, "kernel"));
        json_array_append_new(rows, roof_row(r));
    }
    str_addf(&command, " %s", shape ? shape : "");
    if (json_array_size(rows)) {
        json_t *table = json_table(rows, roof_columns, str_text(&command));
        json_object_set_new(table, "title", json_sprintf("Roofline: %s", shape));
        json_array_append_new(tables, table);
    }
    json_decref(rows);
    str_free(&command);
}

/* ---- times over S ---- */

/* "B=1 H=8 D=64 f32, L2 cold": what stays when S varies; NULL where the row has no S or no time. The
 * caller frees it. */
static char *without_s(const json_t *row)
{
    const char *text = row_string(row, "shape"), *l2 = row_string(row, "l2"),
               *check = row_string(row, "check");
    struct shape shape = SHAPE_DEFAULT;
    struct str s = {0};
    if (!text || shape_parse(text, &shape, NULL) != ST_OK || shape.Sq != shape.Sk || !check ||
        strcmp(check, "pass") != 0 || !(row_number(row, "median_us") > 0))
        return NULL;
    shape_words_but(&shape, "S", &s);
    if (l2)
        str_addf(&s, ", L2 %s", l2);
    return str_take(&s);
}

static json_t *rows_like(const struct recording *rec, const char *rest)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < rec->nrows && i < 2000; i++) {
        char *mine = without_s(rec->rows[i].row);
        if (mine && !strcmp(mine, rest))
            json_array_append(rows, rec->rows[i].row);
        free(mine);
    }
    return rows;
}

static size_t shapes_in(const json_t *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *shape = row_string(json_array_get(rows, i), "shape");
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = !strcmp(row_string(json_array_get(rows, k), "shape"), shape);
        n += !seen;
    }
    return n;
}

static bool is_titled(const json_t *tables, const char *title)
{
    for (size_t i = 0; i < json_array_size(tables); i++) {
        const char *text = row_string(json_array_get(tables, i), "title");
        if (text && !strcmp(text, title))
            return true;
    }
    return false;
}

/* Rows of different commands that differ in S alone say more together than apart. */
static void add_over_s(const struct recording *rec, json_t *tables)
{
    enum { PLOTS_MAX = 8, SHAPES_MIN = 3 };
    for (size_t i = 0; i < rec->nrows && i < 2000 && json_array_size(tables) < PLOTS_MAX; i++) {
        char *rest = without_s(rec->rows[i].row);
        char *title = rest ? xasprintf("Time over S: %s", rest) : NULL;
        if (title && !is_titled(tables, title)) {
            json_t *rows = rows_like(rec, rest);
            json_t *table = json_table(rows, recorded_columns, NULL);
            json_object_set_new(table, "title", json_string(title));
            if (shapes_in(rows) >= SHAPES_MIN)
                json_array_append(tables, table);
            json_decref(table);
            json_decref(rows);
        }
        free(title);
        free(rest);
    }
}

static json_t *recording_tables(const struct recording *rec)
{
    json_t *tables = json_array(), *rows = recording_rows(rec);
    struct str command = {0};
    if (json_array_size(rec->tables) > 1)
        add_over_s(rec, tables);
    json_array_extend(tables, rec->tables);
    str_addf(&command, "open %s", rec->name);
    if (!json_array_size(tables) && json_array_size(rows))
        json_array_append_new(tables, json_table(rows, recorded_columns, str_text(&command)));
    add_roof(rec, tables);
    json_decref(rows);
    str_free(&command);
    return tables;
}

/* ---- the verb ---- */

/* What the page is about: "last", a recording, or all that this session has printed. */
static enum status find_tables(struct session *s, struct cmd_call *c, struct report *r,
                               struct str *about, struct err *err)
{
    const struct recording *rec;
    if (c->nwords == 1) {
        str_add(about, "a session");
        r->tables = json_incref(s->rows.journal);
    } else if (!strcmp(c->words[1].text, "last")) {
        str_add(about, "one command");
        r->tables = s->rows.last.rows.n ? json_pack("[o]", table_last(&s->rows)) : json_array();
    } else {
        enum status st = library_open(session_library(s), c->words[1].text, &rec, err);
        if (st)
            return call_mark(c, st, c->words[1].at, (int)strlen(c->words[1].text), err);
        str_addf(about, "the recording %s", rec->name);
        r->tables = recording_tables(rec);
        r->header = rec->header;
        r->note = rec->note;
    }
    r->about = str_text(about);
    return json_array_size(r->tables)
               ? ST_OK
               : err_set(err, ST_USAGE,
                         "there is nothing to report yet; run something first, or "
                         "name a recording");
}

static enum status read_call(struct session *s, struct cmd_call *c, struct report *r,
                             struct err *err)
{
    r->title = call_key(c, "title");
    enum status st = call_finish(s, c, err);
    if (!st && (c->nwords < 1 || c->nwords > 2))
        st = err_set(err, ST_USAGE, "report needs a file, for example: report lesson.html");
    if (!st && s->restricted)
        st = err_set(err, ST_USAGE, "writing to files is off in this restricted session");
    return st;
}

static enum status exec_report(struct session *s, struct cmd_call *c, struct err *err)
{
    struct report r = {.devices = s->services.devices};
    struct str page = {0}, about = {0};
    enum status st = read_call(s, c, &r, err);
    if (!st)
        st = find_tables(s, c, &r, &about, err);
    if (!st) {
        report_html(&r, &page);
        st = session_write(s, c->words[0].text, str_text(&page), page.len, false, err);
    }
    if (!st)
        session_note(s, "%zu table%s reported in %s", json_array_size(r.tables),
                     json_array_size(r.tables) == 1 ? "" : "s", c->words[0].text);
    json_decref(r.tables);
    str_free(&page);
    str_free(&about);
    return st;
}

static const struct cmd_key report_keys[] = {
    {"title", "the heading of the page", NULL},
    {0},
};

const struct cmd_entry cmd_report = {
    .name = "report",
    .group = "Session",
    .usage = "FILE.html [RECORDING|last] [title=TEXT]",
    .summary = "one HTML page of this session, of its last rows, or of a recording, to mail",
    .help = "The page holds what was asked, where it was measured, each command with its pictures\n"
            "and rows, the checks, where every figure comes from, and how to repeat it. It is one\n"
            "file that fetches nothing, runs no script, and follows the reader's light or dark\n"
            "setting; the rows are inside as JSON.\n"
            "\n"
            "  run all S=1k; sweep fa2 S=256..4k:x2; report today.html\n"
            "  report h200.html h200.rec title=\"Attention on an H200\"\n",
    .arg = ARG_FILE,
    .keys = report_keys,
    .exec = exec_report,
    .columns = COLUMNS(roof_columns, recorded_columns),
};
