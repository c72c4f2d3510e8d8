/* picker.c - one list of all that there is to go to: type a few characters of a kernel, a GPU, a shape
 * seen before, a lesson, a screen, a command or a key.
 *
 * A further kind is a line in `kinds`: how its items are listed, and what Enter does with one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/fuzzy.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "lesson/lesson.h"
#include "tui/app/menus.h"
#include "tui/app/prompt.h"

struct item {
    const struct kind *kind;
    char *name, *doc; /* sanitised */
    char *line;       /* what it does, in the way of its kind */
    const struct keyrow *row;
    int points; /* for the text that was searched last; 0: does not fit */
};

struct picker {
    struct app *app;
    struct item *items;
    size_t n, cap;
    const struct item **fit; /* best first */
};

struct kind {
    const char *name;
    void (*list)(struct picker *p, const struct kind *kind);
    void (*take)(struct app *a, const struct item *it);
};

static struct item *add(struct picker *p, const struct kind *kind, const char *name,
                        const char *doc)
{
    xgrow((void **)&p->items, &p->cap, p->n + 1, sizeof *p->items);
    p->items[p->n] = (struct item){
        .kind = kind, .name = sanitize_line(name), .doc = sanitize_line(doc ? doc : "")};
    return &p->items[p->n++];
}

/* ---- kernels ---- */

static void list_kernels(struct picker *p, const struct kind *kind)
{
    const struct registry *r = p->app->session->services.registry;
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel *k = registry_at(r, i);
        add(p, kind, k->name, kernel_main(k)->title);
    }
}

static void take_kernel(struct app *a, const struct item *it)
{
    const struct kernel *k = registry_find(a->session->services.registry, it->name);
    if (k)
        app_show_kernel(a, k);
}

/* ---- what is set: a GPU, a shape ---- */

static void take_setting(struct app *a, const struct item *it)
{
    if (app_set(a, it->line) == ST_OK)
        app_message(a, ROLE_GOOD, "%s; u takes it back", it->name);
}

static void list_gpus(struct picker *p, const struct kind *kind)
{
    const struct device_table *t = p->app->session->services.devices;
    for (int i = 0; i < devices_count(t); i++) {
        const struct device *d = devices_at(t, i);
        char *doc = xasprintf("%s %s, %d SMs, %.0f GB/s", d->vendor, d->arch, d->sms, d->dram_gbs);
        struct item *it = add(p, kind, d->name, doc);
        it->line = xasprintf("set gpu=\"%s\"", d->name);
        free(doc);
    }
}

/* Every key, so that the shape is the same whatever was set before; Hkv follows again where it may. */
static char *shape_line(const struct shape *shape)
{
    struct str s = {0};
    str_addf(&s, "%sset", shape->Hkv == shape->H ? "reset Hkv; " : "");
    for (const struct field *f = shape_keys; f->name; f++) {
        char value[SHAPE_TEXT];
        shape_get(shape, f->name, value, sizeof value);
        if (strcmp(value, "-") && !(shape->Hkv == shape->H && !strcmp(f->name, "Hkv")))
            str_addf(&s, " %s=%s", f->name, value);
    }
    return str_take(&s);
}

static void add_shape(struct picker *p, const struct kind *kind, const struct shape *shape,
                      const char *doc)
{
    char name[SHAPE_TEXT];
    shape_format(shape, name, sizeof name);
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].kind == kind && !strcmp(p->items[i].name, name))
            return;
    add(p, kind, name, doc)->line = shape_line(shape);
}

struct shapes {
    struct picker *picker;
    const struct kind *kind;
    const char *doc;
};

static void add_recorded(void *ctx, const struct shape *shape)
{
    const struct shapes *s = ctx;
    add_shape(s->picker, s->kind, shape, s->doc);
}

/* Those of this session's rows, the newest first, then those recorded on the GPU that is planned for. */
static void list_shapes(struct picker *p, const struct kind *kind)
{
    struct session *s = p->app->session;
    const struct device *gpu = session_gpu(s, NULL, NULL);
    for (size_t i = s->rows.results.n; i-- > 0;) {
        const char *text = row_text(rowset_at(&s->rows.results, i), "shape");
        struct shape shape = SHAPE_DEFAULT;
        if (text && !shape_parse(text, &shape, NULL) && !shape_check(&shape, NULL))
            add_shape(p, kind, &shape, "of a row of this session");
    }
    if (!gpu)
        return;
    char *doc = xasprintf("recorded on %s", gpu->name);
    recall_shapes(session_recall(s), gpu, add_recorded, &(struct shapes){p, kind, doc});
    free(doc);
}

/* ---- what is typed or run ---- */

static void take_prompt(struct app *a, const struct item *it)
{
    app_prompt(a, it->line);
}

static void list_commands(struct picker *p, const struct kind *kind)
{
    const struct cmd_entry *e;
    for (int i = 0; (e = command_at(i)) != NULL; i++)
        if (!(e->flags & CMD_HIDDEN))
            add(p, kind, e->name, e->summary)->line = xasprintf("%s ", e->name);
}

static void list_topics(struct picker *p, const struct kind *kind, topic_fn *at, const char *verb)
{
    struct topic t;
    for (size_t i = 0; at && at(i, &t); i++)
        add(p, kind, t.name, t.summary)->line = xasprintf("%s %s", verb, t.name);
}

static void list_lessons(struct picker *p, const struct kind *kind)
{
    list_topics(p, kind, lesson_topic, "lesson");
}

static void list_terms(struct picker *p, const struct kind *kind)
{
    list_topics(p, kind, glossary_at, "help");
}

static void take_line(struct app *a, const struct item *it)
{
    app_line(a, it->line);
}

static void list_screens(struct picker *p, const struct kind *kind)
{
    for (int i = 0; p->app->all[i]; i++)
        add(p, kind, p->app->all[i]->title + 2, "")->line = xstrdup(p->app->all[i]->name);
}

static void take_screen(struct app *a, const struct item *it)
{
    app_show(a, it->line);
}

/* ---- keys that do something here ---- */

static void list_keys(struct picker *p, const struct kind *kind)
{
    const struct app *a = p->app;
    const unsigned set = app_screen_keys(a);
    for (int i = 0; i < a->keys.nrows; i++) {
        const struct keyrow *row = &a->keys.rows[i];
        struct str keys = {0};
        if (!keymap_reaches(&a->keys, row, set) || !app_offers(a, row) ||
            !strcmp(row->b.does, "go-to"))
            continue;
        keymap_keys(&row->b, &keys);
        char *doc = xasprintf("key %s: %s", str_text(&keys), row->b.help);
        add(p, kind, row->b.does, doc)->row = row;
        free(doc);
        str_free(&keys);
    }
}

static void take_key(struct app *a, const struct item *it)
{
    app_run_row(a, it->row);
}

static const struct kind kinds[] = {
    {"kernel", list_kernels, take_kernel}, {"gpu", list_gpus, take_setting},
    {"shape", list_shapes, take_setting},  {"lesson", list_lessons, take_line},
    {"screen", list_screens, take_screen}, {"command", list_commands, take_prompt},
    {"key", list_keys, take_key},          {"term", list_terms, take_line},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- finding ---- */

/* By name first; a word that only the description or the kind has finds the item, too, behind those. */
static int points_of(const struct item *it, const char *text)
{
    enum { NAME = 1000 };
    const int name = fuzzy_score(it->name, text);
    if (name)
        return NAME + name;
    char *all = xasprintf("%s %s", it->kind->name, it->name);
    const int with_kind = fuzzy_score(all, text);
    free(all);
    return with_kind ? with_kind : str_finds(it->doc, text) ? 1 : 0;
}

static int by_points(const void *a, const void *b)
{
    const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;
    if (x->points != y->points)
        return y->points - x->points;
    return x < y ? -1 : x > y;
}

static int find(void *ctx, const char *text)
{
    struct picker *p = ctx;
    int n = 0;
    for (size_t i = 0; i < p->n; i++) {
        struct item *it = &p->items[i];
        it->points = points_of(it, text);
        if (it->points)
            p->fit[n++] = it;
    }
    qsort(p->fit, (size_t)n, sizeof(struct item *), by_points);
    return n;
}

static void at(void *ctx, int i, struct choice *out)
{
    const struct picker *p = ctx;
    *out = (struct choice){p->fit[i]->kind->name, p->fit[i]->name, p->fit[i]->doc};
}

static void take(void *ctx, int i)
{
    struct picker *p = ctx;
    p->fit[i]->kind->take(p->app, p->fit[i]);
}

static void closed(void *ctx)
{
    struct picker *p = ctx;
    for (size_t i = 0; i < p->n; i++) {
        free(p->items[i].name);
        free(p->items[i].doc);
        free(p->items[i].line);
    }
    free(p->items);
    free(p->fit);
    free(p);
}

void menu_goto(struct app *a)
{
    static const struct choices choices = {.find = find, .at = at, .take = take, .closed = closed};
    struct picker *p = xcalloc(1, sizeof *p);
    p->app = a;
    popup_close(&a->popup); /* keys are the screen's, and what they do is done there */
    for (int i = 0; i < KINDS; i++)
        kinds[i].list(p, &kinds[i]);
    p->fit = xcalloc(p->n + 1, sizeof(struct item *));
    prompt_pick(a->session, "go to: ", &choices, p);
}
