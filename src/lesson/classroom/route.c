/* route.c - lesson route: a course of 90 minutes for a room, with the clock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/classroom/route.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "kernel/blob.h"
#include "lesson/action.h"
#include "lesson/text/tsv.h"

static enum status read_steps(const char *text, const struct lesson *l, struct route_part *p,
                              struct err *err)
{
    char *copy = xstrdup(text), *dash = strchr(copy, '-');
    int64_t first = 1, last;
    if (dash)
        *dash = 0;
    enum status st = number_parse_int("steps", copy, 1, lesson_steps(l), &first, err);
    last = first;
    if (!st && dash)
        st = number_parse_int("steps", dash + 1, first, lesson_steps(l), &last, err);
    free(copy);
    p->first = (int)first;
    p->last = (int)last;
    return st;
}

static enum status read_part(const struct tsv *t, size_t i, struct route_part *p, struct err *err)
{
    const char *name = tsv_cell(t, i, 1);
    int64_t minutes = 0;
    *p = (struct route_part){.what = tsv_cell(t, i, 3)};
    enum status st = number_parse_int("minutes", tsv_cell(t, i, 0), 1, 90, &minutes, err);
    p->minutes = (int)minutes;
    if (!st && strcmp(name, "-") != 0)
        st = lesson_find(name, &p->lesson, err);
    if (!st && p->lesson)
        st = read_steps(tsv_cell(t, i, 2), p->lesson, p, err);
    return st;
}

enum status route_read(struct route *out, struct err *err)
{
    *out = (struct route){0};
    enum status st = tsv_blob("lessons/route.tsv", 4, &out->table, err);
    if (st)
        return st;
    out->parts = xcalloc(out->table.nrows + 1, sizeof *out->parts);
    for (; !st && out->nparts < out->table.nrows; out->nparts++)
        if ((st = read_part(&out->table, out->nparts, &out->parts[out->nparts], err)))
            err_prefix(err, "lessons/route.tsv, part %zu", out->nparts + 1);
    if (st)
        route_clear(out);
    return st;
}

void route_clear(struct route *r)
{
    tsv_clear(&r->table);
    free(r->parts);
    *r = (struct route){0};
}

/* ---- lesson route ---- */

/* "10:15" as minutes after midnight; -1: it is none. */
static int clock_minutes(const char *text)
{
    int64_t hours, minutes;
    char *copy = xstrdup(text), *colon = strchr(copy, ':');
    int at = -1;
    if (colon) {
        *colon = 0;
        if (!number_parse_int("h", copy, 0, 23, &hours, NULL) &&
            !number_parse_int("min", colon + 1, 0, 59, &minutes, NULL))
            at = (int)(hours * 60 + minutes);
    }
    free(copy);
    return at;
}

static json_t *part_row(const struct route_part *p, int at)
{
    json_t *row = json_object();
    json_object_set_new(row, "at", json_sprintf("%d:%02d", at / 60 % 24, at % 60));
    json_object_set_new(row, "minutes", json_integer(p->minutes));
    json_object_set_new(row, "lesson",
                        p->lesson ? json_string(lesson_name(p->lesson)) : json_null());
    json_object_set_new(row, "steps",
                        !p->lesson            ? json_null()
                        : p->first == p->last ? json_sprintf("%d", p->first)
                                              : json_sprintf("%d-%d", p->first, p->last));
    json_object_set_new(row, "command",
                        p->lesson
                            ? json_sprintf("lesson %s step=%d", lesson_name(p->lesson), p->first)
                            : json_null());
    json_object_set_new(row, "what", json_string(p->what));
    return row;
}

// clang-format off
static const struct columns columns[1] = {{
    .list = (const struct column[]){
        {.field = "at",      .title = "at"},
        {.field = "minutes", .title = "min"},
        {.field = "lesson",  .title = "lesson", .left = true},
        {.field = "steps",   .title = "steps",  .left = true},
        {.field = "what",    .title = "what",   .left = true, .wrap = true},
        {0},
    },
}};
// clang-format on

static const char how[] =
    "\nBefore:  lesson prepare, where it will be shown; should the GPU fail then, steps show that\n"
    "A part:  lesson NAME step=N; Enter goes on, q leaves (full screen: the same behind a colon)\n"
    "Beside:  notes --follow, on a second terminal\n";

static enum status exec_route(struct session *s, struct cmd_call *c, struct err *err)
{
    const char *start = call_key(c, "start");
    int at = start ? clock_minutes(start) : 0;
    struct route r;
    enum status st = ST_OK;
    action_formats(c);
    const bool plain = !call_option(c, "json") && !call_option(c, "csv") && !call_option(c, "md");
    if (at < 0)
        st = err_set(err, ST_USAGE, "start=%s is no time of day such as 10:15", start);
    if (!st && c->nwords != 1)
        st = err_set(err, ST_USAGE, "lesson route takes start=HH:MM and no words");
    if (!st)
        st = call_finish(s, c, err);
    if (!st)
        st = route_read(&r, err);
    if (st)
        return st;
    json_t *rows = json_array();
    for (size_t i = 0; i < r.nparts; at += r.parts[i++].minutes)
        json_array_append_new(rows, part_row(&r.parts[i], at));
    st = call_rows(s, c, rows, columns, NULL);
    if (!st && plain)
        str_add(c->out, how);
    json_decref(rows);
    route_clear(&r);
    return st;
}

const struct lesson_action action_route = {
    .name = "route",
    .usage = "[start=HH:MM]",
    .summary = "90 minutes through the course, with the clock",
    .exec = exec_route,
};
