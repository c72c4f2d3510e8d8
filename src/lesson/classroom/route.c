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

/* ---- a shorter or a longer one ---- */

enum { MINUTES_LEAST = 5, MINUTES_MOST = 1000, WHOLE = 90 };

/* Minutes for the welcome, the break and the close: the n-th part without a lesson. */
static int words_minutes(int n, int minutes)
{
    static const struct {
        int from, few, many_from, many;
    } words[] = {{20, 2, 60, 5}, {75, 4, 75, 4}, {20, 2, 60, 4}};
    return n > 2 || minutes < words[n].from ? 0
           : minutes < words[n].many_from   ? words[n].few
                                            : words[n].many;
}

static bool has_lesson(const struct route *r, const struct lesson *l)
{
    for (size_t i = 0; i < r->nparts; i++)
        if (r->parts[i].lesson == l)
            return true;
    return false;
}

/* Lessons that the course does not have, behind it; without steps so far. */
static void add_others(struct route *r)
{
    size_t n = r->nparts;
    r->parts = xrealloc(r->parts, (n + (size_t)lesson_count() + 1) * sizeof *r->parts);
    for (int i = 0; lesson_at(i); i++)
        if (!has_lesson(r, lesson_at(i)))
            r->parts[n++] = (struct route_part){
                .lesson = lesson_at(i), .first = 1, .what = lesson_title(lesson_at(i))};
    r->nparts = n;
}

/* One step more of the part, if there is one and time for it. */
static bool add_step(struct route_part *p, int last, int *left)
{
    const int next = p->last + 1;
    const int minutes = next <= last ? lesson_minutes_of(p->lesson, next - 1, next - 1) : 0;
    if (!minutes || minutes > *left)
        return false;
    p->last = next;
    p->minutes += minutes;
    *left -= minutes;
    return true;
}

/* Step by step through parts [from, to) in turn, until no step fits or is left. */
static void fill(struct route *r, const int *last, size_t from, size_t to, int *left)
{
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = from; i < to; i++)
            more |= r->parts[i].lesson && add_step(&r->parts[i], last[i], left);
    }
}

static void drop_empty(struct route *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->nparts; i++)
        if (r->parts[i].minutes)
            r->parts[n++] = r->parts[i];
    r->nparts = n;
}

enum status route_within(int minutes, struct route *out, struct err *err)
{
    const enum status st = route_read(out, err);
    if (st)
        return st;
    const size_t course = out->nparts;
    int left = minutes, words = 0;
    add_others(out);
    int *last = xcalloc(out->nparts + 1, sizeof *last);
    for (size_t i = 0; i < out->nparts; i++) {
        struct route_part *p = &out->parts[i];
        last[i] = p->last;
        p->last = p->first - 1;
        p->minutes = p->lesson || i >= course ? 0 : words_minutes(words++, minutes);
        left -= p->minutes;
    }
    fill(out, last, 0, course, &left);
    for (size_t i = 0; i < out->nparts; i++)
        last[i] = out->parts[i].lesson ? lesson_steps(out->parts[i].lesson) : 0;
    fill(out, last, 0, course, &left);
    for (size_t i = course; i < out->nparts; i++)
        fill(out, last, i, i + 1, &left);
    free(last);
    drop_empty(out);
    return ST_OK;
}

static int last_taken(const struct route *r, const struct route_part *of)
{
    for (size_t i = 0; i < r->nparts; i++)
        if (r->parts[i].lesson == of->lesson && r->parts[i].first == of->first)
            return r->parts[i].last;
    return of->first - 1;
}

void route_left_out(const struct route *whole, const struct route *r, struct str *out)
{
    const size_t before = out->len;
    for (size_t i = 0; i < whole->nparts; i++) {
        const struct route_part *p = &whole->parts[i];
        const int last = p->lesson ? last_taken(r, p) : 0;
        if (!p->lesson || last >= p->last)
            continue;
        str_addf(out, "%s%s %d", out->len > before ? ", " : "", lesson_name(p->lesson), last + 1);
        if (p->last > last + 1)
            str_addf(out, "-%d", p->last);
    }
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

struct route_row {
    char *at;
    int64_t minutes;
    char *lesson, *steps, *command, *what;
};

static const struct field route_fields[] = {
    FIELD(FIELD_TEXT, route_row, at, .flags = FIELD_NUMERIC, .doc = "When the part begins."),
    FIELD(FIELD_INT, route_row, minutes, .title = "min", .unit = "min",
          .doc = "How long it takes."),
    FIELD(FIELD_TEXT, route_row, lesson, .doc = "The lesson, if it is one."),
    FIELD(FIELD_TEXT, route_row, steps, .doc = "Its steps."),
    FIELD(FIELD_TEXT, route_row, command, .doc = "What opens it."),
    FIELD(FIELD_TEXT, route_row, what, .doc = "What is done."),
    {.name = NULL},
};
static const struct row_type route_type = ROW_TYPE(route_row, {route_fields, 0});

static void add_part(struct rowset *rows, const struct route_part *p, int at)
{
    struct route_row *row = rowset_add(rows);
    row->at = xasprintf("%d:%02d", at / 60 % 24, at % 60);
    row->minutes = p->minutes;
    row->what = xstrdup(p->what);
    if (!p->lesson)
        return;
    row->lesson = xstrdup(lesson_name(p->lesson));
    row->steps =
        p->first == p->last ? xasprintf("%d", p->first) : xasprintf("%d-%d", p->first, p->last);
    row->command = xasprintf("lesson %s step=%d", lesson_name(p->lesson), p->first);
}

// clang-format off
static const struct columns columns = {
    .type = &route_type,
    .list = (const struct column[]){
        {.field = "at"},
        {.field = "minutes"},
        {.field = "lesson"},
        {.field = "steps"},
        {.field = "what", .wrap = true},
        {0},
    },
};
// clang-format on

static const char how[] =
    "\nBefore:  lesson prepare, where it will be shown; should the GPU fail then, steps show that\n"
    "A part:  lesson NAME step=N; Enter goes on, q leaves (full screen: the same behind a colon)\n"
    "Beside:  notes --follow, on a second terminal\n";

/* What the 90 minutes have and these have not; and what is over. */
static enum status add_left_out(const struct route *r, int64_t minutes, struct str *out,
                                struct err *err)
{
    struct route whole;
    struct str left = {0};
    int sum = 0;
    const enum status st = route_read(&whole, err);
    if (st)
        return st;
    for (size_t i = 0; i < r->nparts; i++)
        sum += r->parts[i].minutes;
    str_addf(out, "%d minutes of %lld, by the minutes of the steps.\n", sum, (long long)minutes);
    route_left_out(&whole, r, &left);
    if (left.len)
        str_addf(out, "Left out of the course of %d minutes: %s.\n", WHOLE, str_text(&left));
    str_free(&left);
    route_clear(&whole);
    return ST_OK;
}

static enum status exec_route(struct session *s, struct cmd_call *c, struct err *err)
{
    const char *start = call_key(c, "start"), *word = call_key(c, "minutes");
    int64_t minutes = WHOLE;
    int at = start ? clock_minutes(start) : 0;
    struct route r;
    enum status st = ST_OK;
    action_formats(c);
    const bool plain = !call_option(c, "json") && !call_option(c, "csv") && !call_option(c, "md");
    if (at < 0)
        st = err_set(err, ST_USAGE, "start=%s is no time of day such as 10:15", start);
    if (!st && c->nwords != 1)
        st = err_set(err, ST_USAGE, "lesson route takes minutes=N, start=HH:MM and no words");
    if (!st && word)
        st = number_parse_int("minutes", word, MINUTES_LEAST, MINUTES_MOST, &minutes, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st)
        st = minutes == WHOLE ? route_read(&r, err) : route_within((int)minutes, &r, err);
    if (st)
        return st;
    struct rowset rows = {.type = &route_type};
    for (size_t i = 0; i < r.nparts; at += r.parts[i++].minutes)
        add_part(&rows, &r.parts[i], at);
    st = call_rows(s, c, &rows, &columns);
    if (!st && plain && minutes != WHOLE)
        st = add_left_out(&r, minutes, c->out, err);
    if (!st && plain)
        str_add(c->out, how);
    rowset_clear(&rows);
    route_clear(&r);
    return st;
}

const struct lesson_action action_route = {
    .name = "route",
    .usage = "[minutes=N] [start=HH:MM]",
    .summary = "for the teacher: 90 or N minutes through the course, with the clock",
    .columns = &columns,
    .exec = exec_route,
};
