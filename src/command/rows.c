/* rows.c - what commands gave, by number and name; what outlives them: rows in the store and in the
 * recording under way, tables in the journal.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/columns.h"
#include "command/rows.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "base/expr.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/output.h"
#include "command/session.h"
#include "export/tidy.h"
#include "plan/row.h"

enum { RESULTS_MAX = 100, JOURNAL_TABLES = 200, JOURNAL_ROWS = 20000 };

void rows_init(struct rows *r)
{
    *r = (struct rows){0};
}

void rows_forget(struct rows *r)
{
    rowset_clear(&r->results);
    r->ever = 0;
    for (size_t i = 0; i < r->nnames; i++)
        free(r->names[i].name);
    r->nnames = 0;
}

void rows_clear(struct rows *r)
{
    sheet_clear(&r->last);
    rows_forget(r);
    free(r->names);
    sheets_clear(&r->journal);
    *r = (struct rows){.recorder = r->recorder};
}

void rows_add(struct rows *r, const struct rowset *rows, const char *name)
{
    if (name) {
        xgrow((void **)&r->names, &r->capnames, r->nnames + 1, sizeof *r->names);
        r->names[r->nnames++] = (struct row_name){xstrdup(name), r->ever + 1, rows->n};
    }
    rowset_append(&r->results, rows);
    r->ever += rows->n;
}

/* ---- by name ---- */

/* What follows `word` where `text` begins with it, without the dot; NULL where it does not. */
static const char *behind(const char *text, const char *word)
{
    const size_t len = strlen(word);
    if (strncmp(text, word, len) != 0 || (text[len] && text[len] != '.'))
        return NULL;
    return text + len + (text[len] == '.');
}

static const struct row *numbered(const struct rows *r, size_t number)
{
    const size_t forgotten = r->ever - r->results.n;
    return number > forgotten ? rowset_at(&r->results, number - forgotten - 1) : NULL;
}

/* The newest row, of numbers first .. last, of the kernel that `text` begins with. A kernel's name may
 * have a dot: the longest counts. */
static const struct row *row_of_kernel(const struct rows *r, size_t first, size_t last,
                                       const char *text, const char **rest)
{
    const struct row *found = NULL;
    for (size_t i = last; i >= first && i > 0; i--) {
        const struct row *row = numbered(r, i);
        const char *kernel = row_text(row, "kernel"), *end = kernel ? behind(text, kernel) : NULL;
        if (end && (!found || end > *rest)) {
            found = row;
            *rest = end;
        }
    }
    return found;
}

/* "2.median_us"; 0 where no number stands there. */
static size_t number_at(const char *text, const char **rest)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return 0;
    const size_t n = strtoul(text, &end, 10);
    *rest = end + (*end == '.');
    return *end && *end != '.' ? 0 : n;
}

/* A row of a named command: by position, by kernel, or the only one. */
static const struct row *row_of_name(const struct rows *r, const struct row_name *n,
                                     const char *text, const char **rest)
{
    const size_t at = number_at(text, rest);
    if (at)
        return at <= n->count ? numbered(r, n->first + at - 1) : NULL;
    const struct row *row =
        n->count ? row_of_kernel(r, n->first, n->first + n->count - 1, text, rest) : NULL;
    if (row)
        return row;
    *rest = text;
    return n->count == 1 ? numbered(r, n->first) : NULL;
}

const struct row *rows_find(const struct rows *r, const char *name, const char **rest)
{
    const char *end;
    *rest = "";
    if (*name++ != '$')
        return NULL;
    if (isdigit((unsigned char)*name))
        return numbered(r, number_at(name, rest));
    if ((end = behind(name, "last"))) {
        *rest = end;
        return numbered(r, r->ever);
    }
    for (size_t i = 0; i < r->nnames; i++)
        if ((end = behind(name, r->names[i].name)))
            return row_of_name(r, &r->names[i], end, rest);
    return row_of_kernel(r, 1, r->ever, name, rest);
}

double rows_number(const struct rows *r, const char *name)
{
    const char *rest;
    const struct row *row = rows_find(r, name, &rest);
    return row ? row_path_number(row, rest) : REAL_UNKNOWN;
}

const struct row *session_row(const struct session *s, const char *name)
{
    const char *rest;
    const struct row *row = rows_find(&s->rows, name, &rest);
    return *rest ? NULL : row;
}

/* "$1.median_us"; a row or a field that is not there is no name. */
static bool member_value(const void *ctx, const char *name, double *out)
{
    const struct session *s = ctx;
    const char *rest;
    const struct row *row = rows_find(&s->rows, name, &rest);
    char *field = xstrndup(rest, strcspn(rest, ".["));
    json_t *value = tidy_value(row, field);
    const bool have = value != NULL;
    json_decref(value);
    free(field);
    *out = have ? row_path_number(row, rest) : REAL_UNKNOWN;
    return have;
}

enum status session_eval(const struct session *s, const char *text, double *out, struct err *err)
{
    const struct expr_env env = {.value = member_value, .ctx = s};
    return expr_eval_text(text, &env, out, err);
}

/* ---- the recording under way ---- */

enum status session_record_off(struct session *s, struct err *err)
{
    if (!s->rows.recorder)
        return ST_OK;
    struct err why = ERR_INIT;
    const size_t rows = recorder_rows(s->rows.recorder);
    char *path = sanitize_line(recorder_path(s->rows.recorder));
    const enum status st = recorder_close(s->rows.recorder, &why);
    s->rows.recorder = NULL;
    if (st && !err)
        session_note(s, "%s", why.text);
    else if (st)
        *err = why;
    else
        session_note(s, "%zu row%s recorded in %s", rows, rows == 1 ? "" : "s", path);
    free(path);
    return st;
}

/* Is there a recording that takes more? One that failed stays until it is closed, to say so then. */
static bool records(const struct session *s)
{
    return s->rows.recorder && !recorder_failed(s->rows.recorder);
}

static void recording_failed(struct session *s, const struct err *why)
{
    session_note(s, "%s; the recording has ended", why->text);
}

/* The registers of the code that ran, where it is clear which pass they belong to; else NULL, and the
 * plan takes the table's. */
static const struct plan_regs *compiled_regs(const struct kernel_desc *d, const struct run_row *row,
                                             struct plan_regs *regs)
{
    if (d->npasses != 1 || row->regs <= 0 || row->regs > 255 || !row->regs_source)
        return NULL;
    *regs = (struct plan_regs){.regs = {(int)row->regs},
                               .spill_bytes = {-1},
                               .static_smem = {-1},
                               .source = strcmp(row->regs_source, "nvrtc") ? "ptxas" : "nvrtc"};
    return regs;
}

/* The plan of the row's kernel on the row's device, NULL where there is none. */
static json_t *row_plan(struct session *s, const struct run_row *row)
{
    const struct kernel *k = registry_find(s->services.registry, row->kernel);
    const struct device *dev = NULL;
    struct shape shape = SHAPE_DEFAULT;
    struct param_values params;
    struct err why = ERR_INIT;
    struct plan_regs regs;
    struct plan plan;
    if (!k || !k->cuda || !row->device || !row->shape ||
        (row->backend && !backend_is_gpu(row->backend)) ||
        devices_get(s->services.devices, row->device, &dev, &why) ||
        shape_parse(row->shape, &shape, &why) ||
        !params_read(k->cuda, row->params ? row->params : "", &params))
        return NULL;
    plan_build(k->cuda, &shape, &params, dev, compiled_regs(k->cuda, row, &regs), &plan, &why);
    json_t *o = plan_to_json(&plan);
    plan_clear(&plan);
    return o;
}

static void record_row(struct session *s, const struct run_row *row, const char *command)
{
    struct err err = ERR_INIT;
    json_t *plan = row_plan(s, row);
    if (recorder_row(s->rows.recorder, row, command, plan, &err))
        recording_failed(s, &err);
    json_decref(plan);
}

void session_keep_row(struct session *s, const struct run_row *row, const char *command,
                      bool no_store)
{
    struct err err = ERR_INIT;
    if (!row->host)
        session_saw_gpu(s, row->backend, row->device);
    if (!row->check)
        return;
    const bool crippled = row->without != NULL; /* no figures of the kernel that it is called */
    no_store |= crippled;
    struct store *store = no_store ? NULL : session_store(s);
    const bool failed = store && store_add(store, row, command, NULL, &err);
    if (failed)
        session_note(s, "the result of %s was not kept: %s", row->kernel, err.text);
    if (records(s))
        record_row(s, row, command);
    s->services.unkept |= (failed || (!store && !no_store)) && !records(s);
}

/* ---- the journal ---- */

/* The oldest sheets go first; the newest stays whatever its size. */
static void journal_trim(struct sheets *journal)
{
    size_t rows = 0, over = 0;
    for (size_t i = 0; i < journal->n; i++)
        rows += journal->v[i].rows.n;
    while (over + 1 < journal->n && (journal->n - over > JOURNAL_TABLES || rows > JOURNAL_ROWS))
        rows -= journal->v[over++].rows.n;
    sheets_forget(journal, over);
}

static void record_sheet(struct session *s, const struct sheet *sh)
{
    struct err err = ERR_INIT;
    json_t *table = sheet_json(sh);
    if (recorder_table(s->rows.recorder, table, &err))
        recording_failed(s, &err);
    json_decref(table);
}

void journal_add(struct session *s, const struct rowset *rows, const struct columns *cols,
                 const struct charts *charts, const char *command)
{
    if (!rows->n)
        return;
    const struct sheet sh = sheet_make(rows, cols, charts, command);
    if (records(s))
        record_sheet(s, &sh);
    sheets_take(&s->rows.journal, sh);
    journal_trim(&s->rows.journal);
}

/* ---- what a command gave ---- */

static void keep_for_export(struct rows *r, struct sheet sh)
{
    sheet_clear(&r->last);
    r->last = sh;
}

/* They are $ever+1 and so on from here on; the oldest are forgotten. */
static void number_rows(struct rows *r, const struct rowset *rows)
{
    rows_add(r, rows, NULL);
    if (r->results.n > RESULTS_MAX)
        rowset_forget(&r->results, r->results.n - RESULTS_MAX);
}

static const char *call_command(const struct cmd_call *c)
{
    return c->command ? c->command : c->text;
}

/* Lists of what there is belong neither into a report nor into a recording; pictures do. */
static bool is_reported(const struct cmd_call *c)
{
    const char *group = c->entry->group ? c->entry->group : "";
    if (c->charts.n)
        return true;
    return strcmp(group, "Look up") != 0 && strcmp(group, "Learn") != 0;
}

void call_remember(struct session *s, struct cmd_call *c, const struct rowset *rows,
                   const struct columns *cols)
{
    number_rows(&s->rows, rows);
    keep_for_export(&s->rows, sheet_make(rows, cols, &c->charts, call_command(c)));
    if (is_reported(c))
        journal_add(s, rows, cols, &c->charts, call_command(c));
}

void call_remember_tables(struct session *s, struct cmd_call *c, const struct call_tables *t)
{
    struct rowset first = {.type = t->all->type};
    for (size_t i = 0; i < t->numbered; i++)
        rowset_share(&first, t->all->rows[i]);
    number_rows(&s->rows, &first);
    rowset_clear(&first);
    keep_for_export(&s->rows,
                    sheet_make(t->all, t->cols[!t->tables[0]->n], &c->charts, call_command(c)));
    for (int i = 0; i < 2 && is_reported(c); i++)
        journal_add(s, t->tables[i], t->cols[i], i ? NULL : &c->charts, call_command(c));
}

void session_remember_runs(struct session *s, const struct rowset *rows, bool compared,
                           const char *command)
{
    const struct columns *cols = compared ? &compare_columns : &run_columns;
    number_rows(&s->rows, rows);
    keep_for_export(&s->rows, sheet_make(rows, cols, NULL, command));
    journal_add(s, rows, cols, NULL, command);
}

static bool has_text(const char *path)
{
    struct stat st;
    return path && !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* Does the file begin with this line, its end included? */
static bool begins_with(const char *path, const char *line, size_t len)
{
    char *have = xcalloc(len + 1, 1);
    int fd;
    bool same = false;
    if (file_open(path, FILE_FOLLOW, &fd, NULL) == ST_OK) {
        same = read(fd, have, len) == (ssize_t)len && !memcmp(have, line, len);
        close(fd);
    }
    free(have);
    return same;
}

/* Takes out the line that begins at byte `from`. */
static void drop_line(struct str *s, size_t from)
{
    const char *end = strchr(str_text(s) + from, '\n');
    char *rest = xstrdup(end ? end + 1 : "");
    s->len = from;
    str_add(s, rest);
    free(rest);
}

/* A file that rows are added to has the names already, unless its rows have others: then theirs stand
 * between, and nothing lands in a wrong column. */
static void drop_names(struct session *s, struct cmd_call *c, size_t from)
{
    const char *line = str_text(c->out) + from;
    if (begins_with(c->redirect, line, strcspn(line, "\n") + 1))
        drop_line(c->out, from);
    else
        session_note(s, "%s has other columns than these rows, which bring a line of names",
                     c->redirect);
}

static void print_rows(struct session *s, struct cmd_call *c, const struct rowset *rows,
                       const struct columns *cols)
{
    const enum format f = call_format(c);
    const size_t from = c->out->len;
    rows_show(s, c->out, rows, cols, f, call_width(s, c));
    if (f == FORMAT_CSV && c->append && has_text(c->redirect))
        drop_names(s, c, from);
    if (f == FORMAT_MD)
        rows_md_footer(c->out, call_command(c));
}

void call_print(struct session *s, struct cmd_call *c, const struct rowset *rows,
                const struct columns *cols)
{
    print_rows(s, c, rows, cols);
}

void call_show(struct session *s, struct cmd_call *c, const struct rowset *rows,
               const struct columns *cols)
{
    print_rows(s, c, rows, cols);
    keep_for_export(&s->rows, sheet_make(rows, cols, &c->charts, call_command(c)));
}

enum status call_rows(struct session *s, struct cmd_call *c, const struct rowset *rows,
                      const struct columns *cols)
{
    print_rows(s, c, rows, cols);
    call_remember(s, c, rows, cols);
    return ST_OK;
}

/* ---- set apart ---- */

enum status session_apart(struct session *s, enum session_kind as, const char *line,
                          struct rows *got, struct str *out, struct err *err)
{
    const struct rows own = s->rows;
    const unsigned may = s->may;
    rows_init(&s->rows);
    s->rows.recorder = own.recorder;
    s->may &= session_kinds[as].may;
    const enum library_scope look = library_look(session_library(s), LIBRARY_LESSONS);
    const enum status st = command_line(s, line, out, err);
    library_look(session_library(s), look);
    s->may = may;
    struct rows gave = s->rows;
    s->rows = own;
    s->rows.recorder = gave.recorder;
    gave.recorder = NULL;
    if (got)
        *got = gave;
    else
        rows_clear(&gave);
    return st;
}

void session_adopt(struct session *s, const struct rows *got)
{
    number_rows(&s->rows, &got->results);
    for (size_t i = 0; i < got->journal.n; i++)
        sheets_take(&s->rows.journal, sheet_copy(&got->journal.v[i]));
    journal_trim(&s->rows.journal);
    if (got->last.command)
        keep_for_export(&s->rows, sheet_copy(&got->last));
}
