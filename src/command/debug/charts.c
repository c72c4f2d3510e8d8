/* charts.c - see charts.h.
 *
 * What comes here came from a worker: what is of another kind, or makes no sense, is left out, and a model that is not
 * sound is not drawn.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/debug/charts.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/debug/picture.h"

enum { LANES = 32, SECTOR = 32, SECTORS_MAX = 256 };

static char *clean_of(const json_t *o, const char *name)
{
    const char *text = json_text_of(o, name);
    return text ? sanitize_line(text) : NULL;
}

static struct chart *begin_chart(const struct debugger *d, const struct chart_kind *kind)
{
    char shape[SHAPE_TEXT];
    struct chart *c = chart_new(kind);
    shape_format(&debugger_request(d)->problem.shape, shape, sizeof shape);
    c->caption.kernels = xstrdup(debugger_kernel(d)->name);
    c->caption.shape = xstrdup(shape);
    c->caption.origin = xstrdup(backend_simulator()->origin);
    return c;
}

/* Only what can be drawn leaves this file. */
static struct chart *sound_chart(struct chart *c)
{
    if (c->kind->sound(c->model))
        return c;
    chart_free(c);
    return NULL;
}

/* ---- lanes of an access ---- */

static void put(struct lane_map *m, int *n, int64_t x, int64_t y, int64_t number, double level)
{
    if (*n >= m->n || x < 0 || y < 0)
        return;
    m->cells[(*n)++] = (struct lane_cell){.x = x, .y = y, .number = number, .level = level};
    m->rows = y + 1 > m->rows ? y + 1 : m->rows;
    m->columns = x + 1 > m->columns ? x + 1 : m->columns;
}

static int put_banks(struct lane_map *m, const json_t *access)
{
    int n = 0;
    size_t i, k;
    const json_t *o, *w;
    json_array_foreach(json_object_get(access, "rows"), i, o)
    {
        json_array_foreach(json_object_get(o, "words"), k, w)
        {
            put(m, &n, json_integer_value(json_array_get(w, 0)),
                json_integer_value(json_array_get(w, 1)), json_int_of(o, "lane"),
                json_number_of(o, "lane") / LANES);
        }
    }
    m->columns = LANES;
    return n;
}

struct sector {
    int64_t number;
    int lanes;
};

static int by_number(const void *x, const void *y)
{
    const struct sector *a = x, *b = y;
    return (a->number > b->number) - (a->number < b->number);
}

static void touch(struct sector *list, int *n, int64_t number)
{
    int i = 0;
    while (i < *n && list[i].number != number)
        i++;
    if (i == SECTORS_MAX)
        return;
    if (i == *n)
        list[(*n)++] = (struct sector){number, 0};
    list[i].lanes++;
}

/* Sectors side by side, however far apart they are, with the lanes that each serves. A lane's bytes may lie in two. */
static int put_sectors(struct lane_map *m, const json_t *access)
{
    enum { COLUMNS = 32 };
    struct sector list[SECTORS_MAX];
    int n = 0, cells = 0;
    size_t i;
    const json_t *o;
    const int64_t bytes = json_int_of(access, "bytes");
    json_array_foreach(json_object_get(access, "rows"), i, o)
    {
        const int64_t at = json_int_of(o, "address");
        if (at == INT_UNKNOWN || bytes == INT_UNKNOWN || bytes < 1)
            continue;
        touch(list, &n, at / SECTOR);
        if ((at + bytes - 1) / SECTOR != at / SECTOR)
            touch(list, &n, (at + bytes - 1) / SECTOR);
    }
    qsort(list, (size_t)n, sizeof *list, by_number);
    for (int k = 0; k < n; k++)
        put(m, &cells, k % COLUMNS, k / COLUMNS, list[k].lanes,
            (double)list[k].lanes * (double)bytes / SECTOR);
    return cells;
}

static void add_map(const struct debugger *d, struct lane_chart *model, const json_t *did,
                    const json_t *access)
{
    struct lane_map *m = lanes_add(model);
    struct str words = {0};
    const char *space = json_text_of(access, "space");
    const bool shared = space && !strcmp(space, "shared");
    char *file = clean_of(did, "file");
    lanes_cells(m, LANE_CELLS_MAX);
    m->rows = m->columns = 0;
    m->n = shared ? put_banks(m, access) : put_sectors(m, access);
    m->kernel = xstrdup(debugger_kernel(d)->name);
    m->place = debug_place(did);
    m->text = debug_line_text(d, did);
    debug_access_text(access, &words);
    m->words = str_take(&words);
    m->xname = xstrdup(shared ? "bank" : "sector");
    m->yname = xstrdup(shared ? "wavefront" : "row of sectors");
    m->names_lanes = shared;
    m->number = xstrdup(shared ? "the lane that is served" : "lanes on it");
    free(file);
}

struct chart *debug_lanes_chart(const struct debugger *d)
{
    const json_t *did = json_object_get(debugger_stop(d), "did"), *a;
    size_t i;
    if (!json_array_size(json_object_get(did, "accesses")))
        return NULL;
    struct chart *c = begin_chart(d, &chart_lanes);
    json_array_foreach(json_object_get(did, "accesses"), i, a)
    {
        if (i < 2) /* cp.async: what it reads, and where to */
            add_map(d, c->model, did, a);
    }
    return sound_chart(c);
}

/* ---- shared memory ---- */

static void mark_access(struct window_chart *w, const json_t *access)
{
    const char *space = json_text_of(access, "space");
    const size_t n = strlen(w->cells);
    const int64_t bytes = json_int_of(access, "bytes");
    size_t i;
    const json_t *o;
    if (!space || strcmp(space, "shared") != 0 || bytes == INT_UNKNOWN || w->cell_bytes < 1)
        return;
    json_array_foreach(json_object_get(access, "rows"), i, o)
    {
        const int64_t at = json_int_of(o, "address");
        for (int64_t k = at / w->cell_bytes;
             at >= 0 && k <= (at + bytes - 1) / w->cell_bytes && k < (int64_t)n; k++)
            w->access[k] = '*';
    }
}

struct chart *debug_window_chart(const struct debugger *d)
{
    const json_t *stop = debugger_stop(d), *smem = json_object_get(stop, "smem"), *b;
    size_t i;
    const char *cells = json_text_of(smem, "cells");
    if (!cells || !*cells)
        return NULL;
    struct chart *c = begin_chart(d, &chart_window);
    struct window_chart *w = c->model;
    w->kernel = xstrdup(debugger_kernel(d)->name);
    w->bytes = json_int_of(smem, "bytes");
    w->cell_bytes = json_int_of(smem, "cell_bytes");
    w->cells = sanitize_line(cells);
    w->access = xstrdup(w->cells);
    memset(w->access, ' ', strlen(w->access));
    window_buffers(w, (int)json_array_size(json_object_get(smem, "buffers")));
    json_array_foreach(json_object_get(smem, "buffers"), i, b)
    {
        if ((int)i >= w->n)
            break;
        w->buffers[i].name = clean_of(b, "name");
        w->buffers[i].offset = json_int_of(b, "offset");
        w->buffers[i].bytes = json_int_of(b, "bytes");
    }
    struct str words = {0};
    json_array_foreach(json_object_get(json_object_get(stop, "did"), "accesses"), i, b)
    {
        mark_access(w, b);
        str_clear(&words);
        debug_access_text(b, &words);
    }
    w->words = strchr(w->access, '*') ? xstrdup(str_text(&words)) : NULL;
    str_free(&words);
    return sound_chart(c);
}

/* ---- what warps did ---- */

static char *lanes_text(const json_t *lanes)
{
    struct str s = {0};
    size_t i;
    const json_t *v;
    json_array_foreach(lanes, i, v)
    {
        const json_int_t n = json_integer_value(v);
        str_addc(&s, n < 1 || n > LANES ? ' ' : (char)('0' + n * 8 / LANES));
    }
    return s.len ? str_take(&s) : xstrdup("");
}

/* What is under way, as digits of which 9 is the most; any at all is at least 1. */
static char *flight_text(const json_t *copies, int64_t *most)
{
    struct str s = {0};
    size_t i;
    const json_t *v;
    *most = 0;
    json_array_foreach(copies, i, v)
    {
        *most = json_integer_value(v) > *most ? json_integer_value(v) : *most;
    }
    json_array_foreach(copies, i, v)
    {
        const json_int_t n = json_integer_value(v);
        str_addc(&s, n < 1 ? '0' : (char)('0' + (n * 9 + *most - 1) / *most));
    }
    return s.len ? str_take(&s) : xstrdup("");
}

struct chart *debug_trail_chart(const struct debugger *d)
{
    const json_t *trail = json_object_get(debugger_stop(d), "trail"), *r;
    const json_t *warps = json_object_get(trail, "warps");
    size_t i;
    if (!json_array_size(warps))
        return NULL;
    struct chart *c = begin_chart(d, &chart_trail);
    struct trail_chart *t = c->model;
    t->kernel = xstrdup(debugger_kernel(d)->name);
    t->from = json_int_of(trail, "from");
    t->to = json_int_of(trail, "to");
    t->steps = json_int_of(trail, "steps");
    t->copies = flight_text(json_object_get(trail, "copies"), &t->most_copies);
    t->products = flight_text(json_object_get(trail, "products"), &t->most_products);
    trail_rows(t, (int)json_array_size(warps));
    json_array_foreach(warps, i, r)
    {
        if ((int)i >= t->n)
            break;
        t->rows[i].name = xasprintf("warp %zu", i);
        t->rows[i].what = clean_of(r, "what");
        t->rows[i].lanes = lanes_text(json_object_get(r, "lanes"));
    }
    return sound_chart(c);
}

void debug_charts(const struct debugger *d, struct charts *out)
{
    charts_add(out, debug_lanes_chart(d));
    charts_add(out, debug_window_chart(d));
    charts_add(out, debug_trail_chart(d));
}

/* ---- an answer as text ---- */

/* A picture in so many rows, of which those at the end that stay empty are left out. */
static void add_chart(const struct debug_line *l, struct chart *c, int width, int rows,
                      struct str *out)
{
    if (!c) {
        str_add(out, "there is nothing to draw: no step was made, or it made no access\n");
        return;
    }
    enum { USUAL = 136 }; /* where lines have no end */
    width = width > 0 && width < USUAL ? width : USUAL;
    struct canvas *canvas = canvas_new(width, rows, l->session->front.glyphs);
    const struct chart_view v = CHART_WHOLE;
    struct str s = {0};
    c->kind->cells(canvas, (struct rect){0, 0, width, rows}, c->model, &v);
    canvas_to_text(canvas, &s);
    while (s.len && (s.data[s.len - 1] == '\n' || s.data[s.len - 1] == ' '))
        s.data[--s.len] = 0;
    str_addf(out, "%s\n", str_text(&s));
    str_free(&s);
    canvas_free(canvas);
    chart_free(c);
}

void debug_picture(const struct debug_line *l, int width, struct str *out)
{
    enum { MAP_ROWS = 24, TRAIL_ROWS = 48 };
    const struct debugger *d = l->debugger;
    switch (l->view) {
    case VIEW_FOUND:
        debug_found_text(d, l->nothing, out);
        break;
    case VIEW_DISPLAYS:
        debug_displays_text(d, out);
        break;
    case VIEW_MAP:
        add_chart(l, debug_window_chart(d), width, MAP_ROWS, out);
        break;
    case VIEW_ACCESS:
        add_chart(l, debug_lanes_chart(d), width, MAP_ROWS, out);
        break;
    case VIEW_TRAIL:
        add_chart(l, debug_trail_chart(d), width, TRAIL_ROWS, out);
        break;
    case VIEW_NAMES:
        debug_variables_text(d, out);
        break;
    case VIEW_WARPS:
        debug_warps_text(d, out);
        break;
    case VIEW_PATHS:
        debug_paths_text(d, out);
        break;
    case VIEW_BARRIERS:
        debug_barriers_text(d, out);
        break;
    case VIEW_SOURCE:
        debug_source_text(d, l->line, 6, 6, out);
        break;
    case VIEW_SHORT:
        debug_head_text(d, out);
        str_addc(out, '\n');
        break;
    case VIEW_END:
        break;
    default:
        debug_stop_text(d, out);
    }
}
