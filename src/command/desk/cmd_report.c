/* cmd_report.c - report: one HTML file of this session, of its last rows, or of a recording.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/json_text.h"
#include "command/ask/recorded.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"
#include "export/report.h"
#include "plan/row.h"
#include "plan/row.h"

/* ---- the tables of a recording ---- */

/* A measured row, and the plan that was recorded with it. */
struct roof_row {
    struct run_row run;
    struct plan_row plan;
};
static const char *const roof_order[] = {
    "kernel",      "shape",     "params",   "device",
    "tflops",      "check",     "origin",   "requested_intensity",
    "peak_tflops", "peak_unit", "dram_gbs", NULL};
static const struct row_type roof_type = {
    .size = sizeof(struct roof_row),
    .parts = {{run_fields, 0}, {plan_fields, offsetof(struct roof_row, plan)}},
    .order = roof_order,
};

// clang-format off
static const struct columns roof_columns = {
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
};
// clang-format on

static bool has_roof(const struct recorded_row *r)
{
    return r->plan && run_row_passed(r->run) && r->run->tflops > 0 && r->run->shape &&
           json_number_of(r->plan, "requested_intensity") > 0;
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
    if (record_from_json(plan_fields, &row->plan, r->plan, NULL))
        record_clear(plan_fields, &row->plan); /* a stranger's: what it says is unknown */
}

static void add_roof(const struct recording *rec, struct sheets *sheets)
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
        struct sheet sh = sheet_make(&rows, &roof_columns, NULL, str_text(&command));
        sh.title = xasprintf("Roofline: %s", shape);
        sheets_take(sheets, sh);
    }
    rowset_clear(&rows);
    str_free(&command);
}

/* ---- times over S ---- */

/* "B=1 H=8 D=64 f32, L2 cold", or with ", 2 GPUs": what stays when S varies; NULL where the row has no S or no time. The
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
    if (run_row_is_shared(row))
        str_addf(&s, ", %lld GPUs%s%s", (long long)row->gpus, row->transport ? " by " : "",
                 row->transport ? row->transport : "");
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

static bool is_titled(const struct sheets *sheets, const char *title)
{
    for (size_t i = 0; i < sheets->n; i++)
        if (sheets->v[i].title && !strcmp(sheets->v[i].title, title))
            return true;
    return false;
}

/* Rows of different commands that differ in S alone say more together than apart. */
static void add_over_s(const struct recording *rec, struct sheets *sheets)
{
    enum { PLOTS_MAX = 8, SHAPES_MIN = 3 };
    for (size_t i = 0; i < rec->nrows && i < 2000 && sheets->n < PLOTS_MAX; i++) {
        char *rest = without_s(rec->rows[i].run);
        char *title = rest ? xasprintf("Time over S: %s", rest) : NULL;
        struct rowset rows = {.type = &recorded_type};
        if (title && !is_titled(sheets, title))
            rows_like(rec, rest, &rows);
        if (shapes_in(&rows) >= SHAPES_MIN) {
            struct sheet sh = sheet_make(&rows, &recorded_columns, NULL, NULL);
            sh.title = xstrdup(title);
            sheets_take(sheets, sh);
        }
        rowset_clear(&rows);
        free(title);
        free(rest);
    }
}

/* What the recording's commands printed; of one that has no tables, its rows. */
static void add_recorded(const struct recording *rec, struct sheets *sheets)
{
    struct rowset rows = {.type = &recorded_type};
    char *command = xasprintf("open %s", rec->name);
    for (size_t i = 0; i < json_array_size(rec->tables); i++)
        sheets_take(sheets, sheet_from_json(json_array_get(rec->tables, i)));
    recording_rows(rec, &rows);
    if (!sheets->n && rows.n)
        sheets_take(sheets, sheet_make(&rows, &recorded_columns, NULL, command));
    rowset_clear(&rows);
    free(command);
}

static struct sheets recording_sheets(const struct recording *rec)
{
    struct sheets sheets = {0};
    if (json_array_size(rec->tables) > 1)
        add_over_s(rec, &sheets);
    add_recorded(rec, &sheets);
    add_roof(rec, &sheets);
    return sheets;
}

/* ---- the verb ---- */

/* What the page is about: "last", a recording, or all that this session has printed. The caller clears *own,
 * which the page may show. */
static enum status find_sheets(struct session *s, struct cmd_call *c, struct report *r,
                               struct sheets *own, struct str *about, struct err *err)
{
    const struct recording *rec;
    if (c->nwords == 1) {
        str_add(about, "a session");
        r->sheets = s->rows.journal;
    } else if (!strcmp(c->words[1].text, "last")) {
        str_add(about, "one command");
        r->sheets = (struct sheets){.v = &s->rows.last, .n = s->rows.last.rows.n > 0};
    } else {
        enum status st = library_open(session_library(s), c->words[1].text, &rec, err);
        if (st)
            return call_mark(c, st, c->words[1].at, (int)strlen(c->words[1].text), err);
        str_addf(about, "the recording %s", rec->name);
        r->sheets = *own = recording_sheets(rec);
        r->header = &rec->header;
        r->note = rec->note;
    }
    r->about = str_text(about);
    return r->sheets.n ? ST_OK
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
    if (!st && !session_may(s, MAY_WRITE))
        st = err_set(err, ST_USAGE, "writing to files is off in this restricted session");
    return st;
}

static enum status exec_report(struct session *s, struct cmd_call *c, struct err *err)
{
    struct report r = {.devices = s->services.devices};
    struct sheets own = {0};
    struct str page = {0}, about = {0};
    enum status st = read_call(s, c, &r, err);
    if (!st)
        st = find_sheets(s, c, &r, &own, &about, err);
    if (!st) {
        report_html(&r, &page);
        st = session_write(s, c->words[0].text, str_text(&page), page.len, false, err);
    }
    if (!st)
        session_note(s, "%zu table%s reported in %s", r.sheets.n, r.sheets.n == 1 ? "" : "s",
                     c->words[0].text);
    sheets_clear(&own);
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
    .columns = COLUMNS(&roof_columns, &recorded_columns),
};
