/* row.c - a measurement's field table, made of run_fields.h, and its rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/row.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "measure/origin.h"

#define RUN_FIELD(type_, name_, ...) FIELD(FIELD_##type_, run_row, name_, __VA_ARGS__),
const struct field run_fields[] = {
#include "measure/run_fields.h"
    {.name = NULL},
};

const struct row_type run_type = ROW_TYPE(run_row, {run_fields, 0});

json_t *run_row_result(const struct run_row *row)
{
    json_t *o = record_to_json(run_fields, row);
    for (const struct field *f = run_fields; f->name; f++)
        if (f->flags & FIELD_UNKEPT)
            json_object_del(o, f->name);
    return o;
}

void run_row_drop_samples(struct run_row *row)
{
    json_decref(row->recent_us);
    json_decref(row->samples_us);
    json_decref(row->counted_phases);
    row->recent_us = row->samples_us = row->counted_phases = NULL;
}

bool run_row_passed(const struct run_row *row)
{
    return row->check && strcmp(row->check, "pass") == 0 &&
           (!row->origin || strcmp(row->origin, ORIGIN_ALTERED) != 0);
}

bool run_row_failed(const struct run_row *row)
{
    return row->check && !strcmp(row->check, "fail");
}

bool run_row_is_shared(const struct run_row *row)
{
    return row->gpus != INT_UNKNOWN;
}

/* ---- rows ---- */

void run_rows_take(struct run_rows *rows, struct run_row *row)
{
    xgrow((void **)&rows->v, &rows->cap, rows->n + 1, sizeof *rows->v);
    rows->v[rows->n++] = *row;
    record_init(run_fields, row);
}

void run_rows_append(struct run_rows *rows, struct run_rows *more)
{
    for (size_t i = 0; i < more->n; i++)
        run_rows_take(rows, &more->v[i]);
    run_rows_clear(more);
}

void run_rows_clear(struct run_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        record_clear(run_fields, &rows->v[i]);
    free(rows->v);
    *rows = (struct run_rows){0};
}

void run_row_share(const struct run_row *from, struct run_row *to)
{
    record_copy(run_fields, to, from);
    run_row_drop_samples(to);
}

void run_rows_share(const struct run_rows *rows, struct rowset *out)
{
    *out = (struct rowset){.type = &run_type};
    for (size_t i = 0; i < rows->n; i++)
        run_row_share(&rows->v[i], rowset_add(out));
}
