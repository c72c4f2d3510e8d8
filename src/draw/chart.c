/* chart.c - pictures by name; models made, freed, written and read by their layouts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/chart.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "draw/svg.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

const struct chart_kind *chart_kind_find(const char *name)
{
    for (const struct chart_kind *const *k = chart_kinds; *k; k++)
        if (name && !strcmp((*k)->name, name))
            return *k;
    return NULL;
}

const char *chart_kind_name(const void *unused, size_t i)
{
    (void)unused;
    size_t n = 0;
    while (chart_names[n])
        n++;
    return i < n ? chart_names[i] : NULL;
}

/* ---- members ---- */

static void **list_of(const struct chart_part *p, const void *model)
{
    return (void **)((char *)(uintptr_t)model + p->at);
}

static int *count_of(const struct chart_part *p, const void *model)
{
    return (int *)((char *)(uintptr_t)model + p->count);
}

static void *element(const struct chart_part *p, const void *model, int i)
{
    return (char *)*list_of(p, model) + (size_t)i * p->of->size;
}

static const struct chart_part *parts_of(const struct chart_layout *l)
{
    static const struct chart_part none[] = {{0}};
    return l->parts ? l->parts : none;
}

void model_init(const struct chart_layout *l, void *model)
{
    memset(model, 0, l->size);
    record_init(l->fields, model);
    for (const struct field *f = l->fields; f->name; f++)
        if (f->type == FIELD_BOOL) /* a mark is there or not */
            *(int *)((char *)model + f->offset) = 0;
}

void model_clear(const struct chart_layout *l, void *model)
{
    for (const struct chart_part *p = parts_of(l); p->name; p++) {
        for (int i = 0; i < *count_of(p, model); i++)
            model_clear(p->of, element(p, model, i));
        free(*list_of(p, model));
    }
    record_clear(l->fields, model);
    model_init(l, model);
}

void *model_list(const struct chart_layout *of, int n)
{
    char *list = xcalloc((size_t)n + 1, of->size);
    for (int i = 0; i < n; i++)
        model_init(of, list + (size_t)i * of->size);
    return list;
}

/* ---- to JSON ---- */

static json_t *brief_values(const struct field *fields, json_t *object)
{
    json_t *list = json_array();
    for (const struct field *f = fields; f->name; f++)
        json_array_append(list, json_object_get(object, f->name));
    json_decref(object);
    return list;
}

static json_t *model_json(const struct chart_layout *l, const void *model)
{
    json_t *o = record_to_json(l->fields, model);
    for (const struct chart_part *p = parts_of(l); p->name; p++) {
        json_t *list = json_array();
        for (int i = 0; i < *count_of(p, model); i++) {
            json_t *each = model_json(p->of, element(p, model, i));
            json_array_append_new(list, p->brief ? brief_values(p->of->fields, each) : each);
        }
        json_object_set_new(o, p->name, list);
    }
    return o;
}

/* ---- from JSON ---- */

static json_t *named_values(const struct field *fields, const json_t *list)
{
    json_t *o = json_object();
    size_t i = 0;
    for (const struct field *f = fields; f->name; f++)
        json_object_set(o, f->name, json_array_get(list, i++));
    return o;
}

static void clean_texts(const struct field *fields, void *model)
{
    for (const struct field *f = fields; f->name; f++) {
        char **text = (char **)(void *)((char *)model + f->offset);
        if (f->type != FIELD_TEXT || !*text)
            continue;
        char *clean = sanitize_line(*text);
        free(*text);
        *text = clean;
    }
}

static bool model_read(const struct chart_layout *l, void *model, const json_t *o);

static bool list_read(const struct chart_part *p, void *model, const json_t *list)
{
    const size_t n = json_array_size(list);
    if (n > (size_t)p->most)
        return false;
    *list_of(p, model) = model_list(p->of, (int)n);
    *count_of(p, model) = (int)n;
    for (size_t i = 0; i < n; i++) {
        json_t *each = json_array_get(list, i);
        each =
            p->brief && json_is_array(each) ? named_values(p->of->fields, each) : json_incref(each);
        const bool ok = model_read(p->of, element(p, model, (int)i), each);
        json_decref(each);
        if (!ok)
            return false;
    }
    return true;
}

static bool model_read(const struct chart_layout *l, void *model, const json_t *o)
{
    struct err why = ERR_INIT;
    if (record_from_json(l->fields, model, o, &why) != ST_OK)
        return false;
    clean_texts(l->fields, model);
    for (const struct chart_part *p = parts_of(l); p->name; p++)
        if (!list_read(p, model, json_object_get(o, p->name)))
            return false;
    return true;
}

/* ---- a picture ---- */

static const struct field caption_fields[] = {
    CHART_FIELD(caption, kernels, FIELD_TEXT),
    CHART_FIELD(caption, shape, FIELD_TEXT),
    CHART_FIELD(caption, device, FIELD_TEXT),
    CHART_FIELD(caption, origin, FIELD_TEXT),
    CHART_FIELD(caption, stale, FIELD_TEXT),
    CHART_FIELD(caption, version, FIELD_TEXT),
    {0},
};
static const struct chart_layout caption_layout = {sizeof(struct caption), caption_fields, NULL};

struct chart *chart_new(const struct chart_kind *kind)
{
    struct chart *c = xcalloc(1, sizeof *c);
    c->kind = kind;
    c->owners = 1;
    model_init(&caption_layout, &c->caption);
    c->caption.version = xstrdup(PACKAGE_VERSION);
    c->model = xcalloc(1, kind->layout->size);
    model_init(kind->layout, c->model);
    return c;
}

void chart_free(struct chart *c)
{
    if (!c || --c->owners > 0)
        return;
    model_clear(c->kind->layout, c->model);
    model_clear(&caption_layout, &c->caption);
    free(c->model);
    free(c);
}

json_t *chart_to_json(const struct chart *c)
{
    json_t *o = json_object();
    json_object_set_new(o, "kind", json_string(c->kind->name));
    json_object_set_new(o, "caption", model_json(&caption_layout, &c->caption));
    json_object_set_new(o, "model", model_json(c->kind->layout, c->model));
    return o;
}

struct chart *chart_from_json(const json_t *o)
{
    const struct chart_kind *kind = chart_kind_find(json_string_value(json_object_get(o, "kind")));
    if (!kind)
        return NULL;
    struct chart *c = chart_new(kind);
    if (model_read(&caption_layout, &c->caption, json_object_get(o, "caption")) &&
        model_read(kind->layout, c->model, json_object_get(o, "model")) && kind->sound(c->model))
        return c;
    chart_free(c);
    return NULL;
}

static void add_words(struct str *out, const char *text)
{
    if (text && *text)
        str_addf(out, "%s%s", out->len ? " | " : "", text);
}

/* How many names a list has; *found: is this one of them? */
static int count_names(const char *list, const char *between, const char *name, bool *found)
{
    int n = 0;
    *found = false;
    for (const char *p = list, *end; p; p = end ? end + strlen(between) : NULL) {
        end = strstr(p, between);
        const size_t len = end ? (size_t)(end - p) : strlen(p);
        *found |= len == strlen(name) && !strncmp(p, name, len);
        n++;
    }
    return n;
}

static void add_name(char **list, const char *between, const char *name)
{
    enum { NAMES = 6 };
    bool found;
    if (!name || !*name)
        return;
    const int n = count_names(*list, between, name, &found);
    if (found || n > NAMES)
        return;
    char *longer =
        *list ? xasprintf("%s%s%s", *list, between, n == NAMES ? "..." : name) : xstrdup(name);
    free(*list);
    *list = longer;
}

void caption_kernel(struct caption *c, const char *name)
{
    add_name(&c->kernels, ",", name);
}

void caption_device(struct caption *c, const char *name)
{
    add_name(&c->device, " and ", name);
}

void caption_origin(struct caption *c, const char *name)
{
    add_name(&c->origin, " and ", name);
}

void caption_text(const struct caption *c, struct str *out)
{
    struct str s = {0}, where = {0};
    add_words(&s, c->kernels);
    add_words(&s, c->shape);
    str_addf(&where, "%s%s%s", c->origin ? c->origin : "", c->origin && c->device ? ", " : "",
             c->device ? c->device : "");
    add_words(&s, str_text(&where));
    add_words(&s, c->stale);
    if (s.len && c->version)
        str_addf(&s, " | attnscope %s", c->version);
    str_add(out, str_text(&s));
    str_free(&s);
    str_free(&where);
}

/* The lines that a caption takes in `width` pixels: it is broken between its parts. */
static int caption_lines(const char *text, double width, char *lines[], int most)
{
    static const char between[] = " | ";
    int n = 0;
    for (const char *p = text; *p && n < most;) {
        const char *end = strstr(p, between);
        end = end ? end : p + strlen(p);
        for (const char *next; *end && n + 1 < most; end = next) {
            next = strstr(end + 1, between);
            next = next ? next : end + strlen(end);
            char *longer = xstrndup(p, (size_t)(next - p));
            const bool fits = svg_width(longer, false) <= width;
            free(longer);
            if (!fits)
                break;
        }
        if (n + 1 == most)
            end = p + strlen(p);
        lines[n++] = xstrndup(p, (size_t)(end - p));
        p = *end ? end + sizeof between - 1 : end;
    }
    return n;
}

void chart_svg_begin(struct str *out, const struct chart *c, double w, double h, const char *title,
                     bool alone)
{
    enum { MOST = 4 };
    struct str s = {0};
    char *lines[MOST];
    caption_text(&c->caption, &s);
    const int n = caption_lines(str_text(&s), w - 24, lines, MOST);
    svg_begin(out, w, h + (n ? 10 + 14 * n : 0), title, alone);
    for (int i = 0; i < n; i++) {
        svg_text(out, 12, h + 14 + 14 * i, SVG_START, "d s", lines[i]);
        free(lines[i]);
    }
    str_free(&s);
}

/* ---- lists of pictures ---- */

void charts_add(struct charts *l, struct chart *c)
{
    if (!c)
        return;
    if (!c->kind->sound(c->model)) {
        chart_free(c);
        return;
    }
    xgrow((void **)&l->v, &l->cap, l->n + 1, sizeof *l->v);
    l->v[l->n++] = c;
}

void charts_clear(struct charts *l)
{
    for (size_t i = 0; i < l->n; i++)
        chart_free(l->v[i]);
    free(l->v);
    *l = (struct charts){0};
}

void charts_share(struct charts *to, const struct charts *from)
{
    for (size_t i = 0; from && i < from->n; i++) {
        from->v[i]->owners++;
        charts_add(to, from->v[i]);
    }
}

static const struct chart *find_kind(const struct charts *l, const struct chart_kind *kind)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i]->kind == kind)
            return l->v[i];
    return NULL;
}

const struct chart *charts_find(const struct charts *l, const struct chart_kind *kind)
{
    const struct chart *found = kind ? find_kind(l, kind) : NULL;
    for (size_t i = 0; kind && !found && i < l->n; i++)
        if (l->v[i]->kind->layout == kind->layout && kind->sound(l->v[i]->model))
            found = l->v[i];
    for (const struct chart_kind *const *k = chart_kinds; !kind && !found && *k; k++)
        found = find_kind(l, *k);
    return found;
}

json_t *charts_to_json(const struct charts *l)
{
    json_t *list = l->n ? json_array() : NULL;
    for (size_t i = 0; i < l->n; i++)
        json_array_append_new(list, chart_to_json(l->v[i]));
    return list;
}

void charts_from_json(const json_t *list, struct charts *out)
{
    enum { MOST = 64 };
    for (size_t i = 0; i < json_array_size(list) && i < MOST; i++)
        charts_add(out, chart_from_json(json_array_get(list, i)));
}
