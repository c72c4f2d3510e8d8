/* keep.c - what outlives a command: rows in the store and in the recording under way, tables in the
 * session's journal.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/internal.h"

enum { JOURNAL_TABLES = 200, JOURNAL_ROWS = 20000 };

struct library *session_library(struct session *s)
{
    if (!s->library)
        s->library = library_new();
    return s->library;
}

/* ---- the recording under way ---- */

enum status session_record_off(struct session *s, struct err *err)
{
    if (!s->recorder)
        return ST_OK;
    struct err why = ERR_INIT;
    const size_t rows = recorder_rows(s->recorder);
    char *path = sanitize_line(recorder_path(s->recorder));
    const enum status st = recorder_close(s->recorder, &why);
    s->recorder = NULL;
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
    return s->recorder && !recorder_failed(s->recorder);
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
    const struct kernel *k = registry_find(s->registry, row->kernel);
    const struct device *dev = NULL;
    struct shape shape = SHAPE_DEFAULT;
    struct param_values params;
    struct err why = ERR_INIT;
    struct plan_regs regs;
    struct plan plan;
    if (!k || !k->cuda || !row->device || !row->shape ||
        (row->backend && !backend_is_gpu(row->backend)) ||
        devices_get(s->devices, row->device, &dev, &why) || shape_parse(row->shape, &shape, &why) ||
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
    if (recorder_row(s->recorder, row, command, plan, &err))
        recording_failed(s, &err);
    json_decref(plan);
}

void session_keep_row(struct session *s, const struct run_row *row, const char *command,
                      bool no_store)
{
    struct err err = ERR_INIT;
    session_saw_gpu(s, row->backend, row->device);
    if (!row->check)
        return;
    struct store *store = no_store ? NULL : session_store(s);
    if (store && store_add(store, row, command, &err))
        session_note(s, "the result of %s was not kept: %s", row->kernel, err.text);
    if (records(s))
        record_row(s, row, command);
}

/* ---- the journal ---- */

static json_t *columns_json(const struct column *cols)
{
    json_t *list = json_array();
    for (; cols->field; cols++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:i, s:b}", "field", cols->field,
                                              "title", cols->title, "left", cols->left, "digits",
                                              cols->digits, "optional", cols->optional));
    return list;
}

/* The oldest tables go first; the newest stays whatever its size. */
static void journal_trim(struct session *s)
{
    size_t rows = 0, i;
    json_t *table;
    json_array_foreach(s->journal, i, table) rows +=
        json_array_size(json_object_get(table, "rows"));
    while (json_array_size(s->journal) > 1 &&
           (json_array_size(s->journal) > JOURNAL_TABLES || rows > JOURNAL_ROWS)) {
        rows -= json_array_size(json_object_get(json_array_get(s->journal, 0), "rows"));
        json_array_remove(s->journal, 0);
    }
}

json_t *table_object(const json_t *rows, const struct column *cols, const char *command)
{
    char now[32];
    json_t *text = json_string(command), *table = json_object();
    host_date(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ");
    json_object_set_new(table, "time", json_string(now));
    json_object_set_new(table, "command", text ? text : json_null());
    json_object_set_new(table, "columns", columns_json(cols));
    json_object_set_new(table, "rows", json_copy((json_t *)rows));
    return table;
}

void journal_add(struct session *s, const json_t *rows, const struct column *cols,
                 const char *command)
{
    struct err err = ERR_INIT;
    if (!json_array_size(rows))
        return;
    json_t *table = table_object(rows, cols, command);
    if (records(s) && recorder_table(s->recorder, table, &err))
        recording_failed(s, &err);
    json_array_append_new(s->journal, table);
    journal_trim(s);
}
