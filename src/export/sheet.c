/* sheet.c - see sheet.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/sheet.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "measure/origin.h"

/* ---- made, copied, freed ---- */

static char *clean_copy(const char *text)
{
    return text ? sanitize_line(text) : NULL;
}

/* Columns whose texts the sheet has; `all` ends like every list of columns. */
static void keep_columns(struct sheet *sh, const struct column *all)
{
    size_t n = 0;
    while (all[n].field)
        n++;
    sh->texts = arena_new();
    struct column *kept = arena_alloc(sh->texts, (n + 1) * sizeof *kept);
    memcpy(kept, all, (n + 1) * sizeof *kept);
    for (size_t i = 0; i < n; i++) {
        kept[i].field = arena_printf(sh->texts, "%s", all[i].field);
        kept[i].title = arena_printf(sh->texts, "%s", all[i].title);
    }
    sh->cols = (struct columns){.list = kept};
}

struct sheet sheet_make(const struct rowset *rows, const struct columns *cols,
                        const struct charts *charts, const char *command)
{
    char now[32];
    struct sheet sh = {.time = xstrdup_if(host_date(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ")),
                       .command = xstrdup_if(command),
                       .rows = {.type = rows->type}};
    struct column *all = columns_resolve(cols);
    keep_columns(&sh, all);
    free(all);
    rowset_append(&sh.rows, rows);
    charts_share(&sh.charts, charts);
    return sh;
}

struct sheet sheet_copy(const struct sheet *sh)
{
    struct sheet copy = {.time = xstrdup_if(sh->time),
                         .command = xstrdup_if(sh->command),
                         .title = xstrdup_if(sh->title),
                         .rows = {.type = sh->rows.type}};
    keep_columns(&copy, sh->cols.list);
    rowset_append(&copy.rows, &sh->rows);
    charts_share(&copy.charts, &sh->charts);
    if (sh->old) {
        copy.old = xcalloc(sh->rows.n + 1, sizeof *copy.old);
        memcpy(copy.old, sh->old, sh->rows.n * sizeof *copy.old);
    }
    return copy;
}

void sheet_clear(struct sheet *sh)
{
    free(sh->time);
    free(sh->command);
    free(sh->title);
    free(sh->old);
    rowset_clear(&sh->rows);
    charts_clear(&sh->charts);
    if (sh->texts)
        arena_free(sh->texts);
    *sh = (struct sheet){.rows = {.type = sh->rows.type}};
}

/* ---- as JSON ---- */

static json_t *text_json(const char *text)
{
    json_t *v = text ? json_string(text) : NULL;
    return v ? v : json_null();
}

static json_t *columns_json(const struct column *cols)
{
    json_t *list = json_array();
    for (const struct column *c = cols; c->field; c++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:i, s:b}", "field", c->field,
                                              "title", c->title, "left", c->left, "digits",
                                              c->digits, "optional", c->optional));
    return list;
}

static json_t *rows_json(const struct sheet *sh)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sh->rows.n; i++) {
        json_t *row = row_json(sh->rows.rows[i]);
        if (sheet_is_old(sh, i)) { /* another may hold the object */
            json_t *own = json_copy(row);
            json_object_set_new(own, "stale", json_true());
            json_decref(row);
            row = own;
        }
        json_array_append_new(list, row);
    }
    return list;
}

json_t *sheet_json(const struct sheet *sh)
{
    json_t *table = json_object();
    json_object_set_new(table, "time", text_json(sh->time));
    json_object_set_new(table, "command", text_json(sh->command));
    json_object_set_new(table, "columns", columns_json(sh->cols.list));
    json_object_set_new(table, "rows", rows_json(sh));
    json_t *pictures = charts_to_json(&sh->charts);
    if (pictures)
        json_object_set_new(table, "charts", pictures);
    if (sh->title)
        json_object_set_new(table, "title", text_json(sh->title));
    return table;
}

/* What has no field or no title is no column. The texts are borrowed from the list. */
static struct column *columns_from_json(const json_t *list)
{
    struct column *cols = xcalloc(json_array_size(list) + 1, sizeof *cols);
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *c = json_array_get(list, i);
        const char *field = json_text_of(c, "field"), *title = json_text_of(c, "title");
        if (field && title)
            cols[used++] = (struct column){
                .field = field,
                .title = title,
                .left = json_is_true(json_object_get(c, "left")),
                .digits = (int)json_integer_value(json_object_get(c, "digits")),
                .optional = json_is_true(json_object_get(c, "optional")),
            };
    }
    return cols;
}

struct sheet sheet_from_json(const json_t *table)
{
    const json_t *rows = json_object_get(table, "rows");
    struct sheet sh = {.time = xstrdup_if(json_text_of(table, "time")),
                       .command = xstrdup_if(json_text_of(table, "command")),
                       .title = xstrdup_if(json_text_of(table, "title"))};
    struct column *cols = columns_from_json(json_object_get(table, "columns"));
    keep_columns(&sh, cols);
    free(cols);
    rowset_add_json(&sh.rows, rows);
    charts_from_json(json_object_get(table, "charts"), &sh.charts);
    for (size_t i = 0; i < sh.rows.n; i++) {
        if (!json_is_true(json_object_get(json_array_get(rows, i), "stale")))
            continue;
        if (!sh.old)
            sh.old = xcalloc(sh.rows.n + 1, sizeof *sh.old);
        sh.old[i] = true;
    }
    return sh;
}

/* ---- what it says ---- */

const struct row *sheet_row(const struct sheet *sh, size_t i)
{
    return rowset_at(&sh->rows, i);
}

bool sheet_is_old(const struct sheet *sh, size_t i)
{
    return sh->old && sh->old[i];
}

const char *sheet_common(const struct sheet *sh, const char *field)
{
    const char *first = row_text(sheet_row(sh, 0), field);
    for (size_t i = 1; first && i < sh->rows.n; i++)
        if (!row_is(sh->rows.rows[i], field, first))
            return NULL;
    return first;
}

bool sheet_any_above_zero(const struct sheet *sh, const char *field)
{
    for (size_t i = 0; i < sh->rows.n; i++)
        if (row_real(sh->rows.rows[i], field) > 0)
            return true;
    return false;
}

char *sheet_stale(const struct sheet *sh)
{
    struct str names = {0};
    size_t n = 0;
    for (size_t i = 0; i < sh->rows.n; i++) {
        char *name = sheet_is_old(sh, i) ? row_clean(sh->rows.rows[i], "kernel") : NULL;
        if (name)
            str_addf(&names, "%s%s", n++ ? ", " : "", name);
        free(name);
    }
    char *words = !n               ? NULL
                  : n < sh->rows.n ? xasprintf("STALE: %s", str_text(&names))
                                   : xstrdup("STALE");
    char *text = words ? xasprintf("%s, measured before the settings changed", words) : NULL;
    free(words);
    str_free(&names);
    return text;
}

const char *row_origin(const struct row *row)
{
    const char *origin = origin_word(row_text(row, "origin"));
    if (origin)
        return origin;
    return row_text(row, "gpu") ? "model" : "-"; /* planned cells of a sweep name their device */
}

char *row_clean(const struct row *row, const char *field)
{
    return clean_copy(row_text(row, field));
}

bool row_failed(const struct row *row)
{
    return row_is(row, "check", "fail");
}

bool sheet_all_have(const struct sheet *sh, const char *word, size_t len)
{
    bool all = true;
    for (size_t i = 0; i < sh->rows.n && all; i++) {
        const char *at = row_text(sheet_row(sh, i), "shape");
        for (all = false; at && *at && !all; at += strspn(at, " ")) {
            const size_t n = strcspn(at, " ");
            all = n == len && !memcmp(at, word, len);
            at += n;
        }
    }
    return all;
}

/* "B=2 H=16 f16": the words that the shapes of all rows have. NULL: there are none. The caller frees it. */
static char *shared_shape(const struct sheet *sh)
{
    enum { WORDS = 40 }; /* a stranger's file may have any number */
    struct str s = {0};
    const char *p = sh->rows.n ? row_text(sheet_row(sh, 0), "shape") : NULL;
    int n = 0;
    for (size_t len; p && *p && n < WORDS; p += len, p += strspn(p, " "), n++) {
        len = strcspn(p, " ");
        if (sheet_all_have(sh, p, len))
            str_addf(&s, "%s%.*s", s.len ? " " : "", (int)len, p);
    }
    char *clean = s.len ? sanitize_line(str_text(&s)) : NULL;
    str_free(&s);
    return clean;
}

typedef void add_name_fn(struct caption *c, const char *name);
static void add_names(const struct sheet *sh, const char *field, add_name_fn *add,
                      struct caption *c)
{
    for (size_t i = 0; i < sh->rows.n; i++) {
        char *name = row_clean(sh->rows.rows[i], field);
        add(c, name);
        free(name);
    }
}

/* "NVIDIA H200 on box". */
static void add_devices(const struct sheet *sh, struct caption *c)
{
    for (size_t i = 0; i < sh->rows.n; i++) {
        char *name = row_clean(sheet_row(sh, i), "device"),
             *host = row_clean(sheet_row(sh, i), "host"),
             *where = name && host ? xasprintf("%s on %s", name, host) : NULL;
        caption_device(c, where ? where : name);
        free(where);
        free(host);
        free(name);
    }
}

void sheet_caption(const struct sheet *sh, struct caption *c)
{
    for (size_t i = 0; i < sh->rows.n; i++) {
        const char *origin = row_origin(sheet_row(sh, i));
        caption_origin(c, strcmp(origin, "-") != 0 ? origin : NULL);
    }
    c->shape = shared_shape(sh);
    add_names(sh, "kernel", caption_kernel, c);
    add_devices(sh, c);
    if (!c->device)
        add_names(sh, "gpu", caption_device, c);
    c->stale = sheet_stale(sh);
}

void sheet_chart(const struct sheet *sh, struct chart *c, struct charts *out)
{
    sheet_caption(sh, &c->caption);
    charts_add(out, c);
}

/* ---- several ---- */

void sheets_take(struct sheets *list, struct sheet sh)
{
    xgrow((void **)&list->v, &list->cap, list->n + 1, sizeof *list->v);
    list->v[list->n++] = sh;
}

void sheets_forget(struct sheets *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sheet_clear(&list->v[i]);
    list->n -= count;
    if (count)
        memmove(list->v, list->v + count, list->n * sizeof *list->v);
}

void sheets_clear(struct sheets *list)
{
    sheets_forget(list, list->n);
    free(list->v);
    *list = (struct sheets){0};
}
