/* sweep_where.c - see sweep_where.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/sweep_where.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/estimate.h"
#include "command/session.h"
#include "export/rows.h"

struct where_row {
    int64_t point;
    char *at, *kernels, *host, *backend;
    int64_t device_index;
    char *command;
};

static const struct field where_fields[] = {
    FIELD(FIELD_INT, where_row, point, .doc = "Its number, as points= counts them from 1."),
    FIELD(FIELD_TEXT, where_row, at, .doc = "Where on the axes it is."),
    FIELD(FIELD_TEXT, where_row, kernels, .doc = "Which stay together there."),
    FIELD(FIELD_TEXT, where_row, host, .doc = "The machine that it will run on; here: this one."),
    FIELD(FIELD_TEXT, where_row, backend, .doc = "Who will run it."),
    FIELD(FIELD_INT, where_row, device_index, .doc = "On which of its devices, from 0."),
    FIELD(FIELD_TEXT, where_row, command, .doc = "The command that runs the point alone."),
    {.name = NULL},
};
static const struct row_type where_type = ROW_TYPE(where_row, {where_fields, 0});

// clang-format off
const struct columns where_columns = {
    .type = &where_type,
    .list = (const struct column[]){
        {.field = "point"},
        {.field = "at"},
        {.field = "kernels"},
        {.field = "host"},
        {.field = "backend"},
        {.field = "device_index", .title = "device"},
        {0},
    },
};
// clang-format on

static void add_row(const struct sweep_walk *k, int point, struct rowset *rows)
{
    struct request r;
    struct str at = {0}, names = {0}, command = {0};
    const char *backend = NULL;
    if (sweep_request(k->sweep, point, &r, NULL))
        return;
    struct where_row *row = rowset_add(rows);
    sweep_walk_place(k, point, &at);
    request_names(&r, &names);
    request_command(&r, k->how.verb, &command);
    (void)request_backend(&r, &backend, NULL);
    row->point = point + 1;
    row->at = xstrdup(str_text(&at) + (at.len > 0));
    row->kernels = xstrdup(str_text(&names) + (names.len > 0));
    row->host = xstrdup(r.options.host ? r.options.host : "here");
    row->backend = xstrdup_if(backend);
    row->device_index = r.options.device;
    row->command = str_take(&command);
    str_free(&names);
    str_free(&at);
    request_clear(&r);
}

void sweep_where(const struct sweep_walk *k, struct rowset *rows)
{
    *rows = (struct rowset){.type = &where_type};
    for (int i = 0; i < k->sweep->npoints; i++)
        if (sweep_walk_lacks(k, i))
            add_row(k, i, rows);
}

void sweep_say_where(const struct sweep_walk *k, struct str *out)
{
    const int kernels = k->sweep->base.nkernels;
    for (int m = 0; m < k->nmachines; m++) {
        const struct walk_machine *at = &k->machines[m];
        int n = 0;
        for (int i = 0; i < k->sweep->npoints; i++)
            n += k->machine[i] == m && sweep_walk_lacks(k, i);
        str_addf(out, "%s%s%s%s: %d point%s of %d kernel%s%s\n", at->names, at->dest ? " (" : "",
                 at->dest ? at->dest : "", at->dest ? ")" : "", n, n == 1 ? "" : "s", kernels,
                 kernels == 1 ? "" : "s", kernels == 1 ? "" : " each");
    }
    if (k->nmachines > 1)
        str_addf(out, "these machines work beside each other\n");
    if (k->before)
        str_addf(out, "%d of %d points are there already\n", k->before, k->total);
}
