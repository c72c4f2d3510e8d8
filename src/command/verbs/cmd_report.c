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
#include "plan/row.h"

/* ---- the tables of a recording ---- */

/* A measured row, and of its plan what draws it on a roofline. */
struct roof_row {
    struct run_row run;
    double requested_intensity, peak_tflops, dram_gbs;
    char *peak_unit;
};
// clang-format off
static const struct field roof_fields[] = {
    FIELD(FIELD_REAL, roof_row, requested_intensity, .title = "requested F/B", .digits = 3, .unit = "FLOP/B",
          .doc = "Of its plan: FLOPs over the bytes that loads and stores ask for."),
    FIELD(FIELD_REAL, roof_row, peak_tflops, .title = "peak TFLOP/s", .digits = 3, .unit = "TFLOP/s",
          .doc = "Of its plan: dense peak of the units that the kernel uses."),
    FIELD(FIELD_TEXT, roof_row, peak_unit, .title = "pipe", .doc = "Of its plan: these units."),
    FIELD(FIELD_REAL, roof_row, dram_gbs, .title = "GB/s", .unit = "GB/s",
          .doc = "Of its plan: bandwidth of the device's memory."),
    {.name = NULL},
};
static const char *const roof_order[] = {
    "kernel", "shape", "params", "device", "tflops", "check", "origin",
    "requested_intensity", "peak_tflops", "peak_unit", "dram_gbs", NULL};
static const struct row_type roof_type = {
    .size = sizeof(struct roof_row), .parts = {{run_fields, 0}, {roof_fields, 0}}, .order = roof_order};

static const struct columns roof_columns[1] = {{
    .type = &roof_type,
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
    return r->plan && run_row_passed(r->run) && r->run->tflops > 0 && r->run->shape &&
           row_number(r->plan, "requested_intensity") > 0;
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
        const char *shape = rec->rows[i].run->shape;
        for (size_t k = i; k < rec->nrows && k < 2000; k++)
            n += has_roof(&rec->rows[k]) && !strcmp(rec->rows[k].run->shape, shape);
        if (n > most) {
            most = n;
            best = shape;
        }
    }
    return best;
}

static void add_roof_row(struct rowset *rows, const struct recorded_row *r)
{
    struct roof_row *row = rowset_add(rows);
    record_copy(run_fields, &row->run, r->run);
    if (record_from_json(roof_fields, row, r->plan,
                         NULL)) /* a stranger's: what it says is unknown */
        record_clear(roof_fields, row);
}

static void add_roof(const struct recording *rec, json_t *tables)
{
    const char *shape = common_shape(rec);
    struct rowset rows = {.type = &roof_type};
    struct str command = {0};
    for (size_t i = 0; shape && i < rec->nrows; i++) {
        const struct recorded_row *r = &rec->rows[i];
        if (!has_roof(r) || strcmp(r->run->shape, shape) != 0)
            continue;
        str_addf(&command, "%s%s", command.len ? "," : "roofline ", r->run->kernel);
        add_roof_row(&rows, r);
    }
    str_addf(&command, " %s", shape ? shape : "");
    if (rows.n) {
        json_t *table = table_object(&rows, roof_columns, NULL, str_text(&command));
        json_object_set_new(table, "title", json_sprintf("Roofline: %s", shape));
        json_array_append_new(tables, table);
    }
    rowset_clear(&rows);
    str_free(&command);
}

/* ---- times over S ---- */

/* "B=1 H=8 D=64 f32, L2 cold": what stays when S varies; NULL where the row has no S or no time. The
 * caller frees it. */
static char *without_s(const struct run_row *row)
{
    struct shape shape = SHAPE_DEFAULT;
    struct str s = {0};
    if (!row->shape || shape_parse(row->shape, &shape, NULL) != ST_OK || shape.Sq != shape.Sk ||
        !run_row_passed(row) || !(row->median_us > 0))
        return NULL;
    shape_words_but(&shape, "S", &s);
    if (row->l2)
        str_addf(&s, ", L2 %s", row->l2);
    return str_take(&s);
}

static void rows_like(const struct recording *rec, const char *rest, struct rowset *rows)
{
    for (size_t i = 0; i < rec->nrows && i < 2000; i++) {
        char *mine = without_s(rec->rows[i].run);
        if (mine && !strcmp(mine, rest))
            rowset_share(rows, rec->rows[i].row);
        free(mine);
    }
}

static size_t shapes_in(const struct rowset *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = row_is(rows->rows[k], "shape", row_text(rows->rows[i], "shape"));
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
        char *rest = without_s(rec->rows[i].run);
        char *title = rest ? xasprintf("Time over S: %s", rest) : NULL;
        if (title && !is_titled(tables, title)) {
            struct rowset rows = {.type = &recorded_type};
            rows_like(rec, rest, &rows);
            json_t *table = table_object(&rows, recorded_columns, NULL, NULL);
            json_object_set_new(table, "title", json_string(title));
            if (shapes_in(&rows) >= SHAPES_MIN)
                json_array_append(tables, table);
            json_decref(table);
            rowset_clear(&rows);
        }
        free(title);
        free(rest);
    }
}

static json_t *recording_tables(const struct recording *rec)
{
    json_t *tables = json_array();
    struct rowset rows = {.type = &recorded_type};
    struct str command = {0};
    recording_rows(rec, &rows);
    if (json_array_size(rec->tables) > 1)
        add_over_s(rec, tables);
    json_array_extend(tables, rec->tables);
    str_addf(&command, "open %s", rec->name);
    if (!json_array_size(tables) && rows.n)
        json_array_append_new(tables,
                              table_object(&rows, recorded_columns, NULL, str_text(&command)));
    add_roof(rec, tables);
    rowset_clear(&rows);
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
