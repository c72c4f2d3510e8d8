/* keyfile.c - see keyfile.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/keyfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/sanitize.h"

enum { FILE_BYTES = 65536 };

static const struct {
    const char *name;
    unsigned ctx;
} screens[] = {
    {"explore", CTX_EXPLORE},
    {"compare", CTX_COMPARE},
    {"sweep", CTX_SWEEP},
    {"roofline", CTX_ROOFLINE},
    {"timeline", CTX_TIMELINE},
    {"source", CTX_SOURCE},
    {"lessons", CTX_LESSON | CTX_LESSONS},
    {"popup", CTX_POPUP},
    {"menu", CTX_MENU},
};
enum { SCREENS = sizeof screens / sizeof *screens };

/* A line that was understood. */
struct wish {
    int key, line;
    unsigned contexts;
    enum action action;
};

struct parser {
    struct keyfile *k;
    const char *name;
    int line;
    struct wish *wishes;
    size_t n, cap;
};

static void problem(struct parser *p, const char *fmt, const char *word)
{
    char *clean = sanitize_line(word);
    str_addf(&p->k->problems, "%s:%d: ", p->name, p->line);
    str_addf(&p->k->problems, fmt, clean);
    str_addc(&p->k->problems, '\n');
    free(clean);
}

/* ---- words ---- */

static const char *action_word(const void *ctx, size_t i)
{
    (void)ctx;
    for (int a = 1; keymap_action_name((enum action)a); a++)
        if (i-- == 0)
            return keymap_action_name((enum action)a);
    return NULL;
}

static bool action_of(const char *word, enum action *out)
{
    *out = ACT_NONE;
    for (int a = 1; keymap_action_name((enum action)a); a++)
        if (strcmp(keymap_action_name((enum action)a), word) == 0)
            *out = (enum action)a;
    return *out != ACT_NONE || strcmp(word, "none") == 0;
}

static unsigned screen_of(const char *word)
{
    for (int i = 0; i < SCREENS; i++)
        if (strcmp(screens[i].name, word) == 0)
            return screens[i].ctx;
    return 0;
}

/* ---- changing the table ---- */

static int bindings_in(const struct keyfile *k)
{
    int n = 0;
    while (k->table[n].contexts)
        n++;
    return n;
}

/* Keeps `ctx` of entry i apart from its other contexts; the entry with them, NULL: no room. */
static struct binding *split(struct keyfile *k, int i, unsigned ctx)
{
    struct binding *b = &k->table[i];
    int n = bindings_in(k);
    if ((b->contexts & ~ctx) == 0)
        return b;
    if (n + 2 > KEYFILE_BINDINGS)
        return NULL;
    memmove(b + 1, b, (size_t)(n + 1 - i) * sizeof *b);
    b[0].contexts &= ctx;
    b[1].contexts &= ~ctx;
    return b;
}

static void remove_key(struct binding *b, int key)
{
    int n = 0;
    for (int i = 0; i < BINDING_KEYS; i++)
        if (b->keys[i] != key)
            b->keys[n++] = b->keys[i];
    while (n < BINDING_KEYS)
        b->keys[n++] = 0;
}

static bool has_key(const struct binding *b, int key)
{
    for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
        if (b->keys[i] == key)
            return true;
    return false;
}

static void take_away(struct parser *p, const struct wish *w)
{
    for (int i = 0; p->k->table[i].contexts; i++) {
        struct binding *b = &p->k->table[i];
        if (!(b->contexts & w->contexts) || !has_key(b, w->key))
            continue;
        b = split(p->k, i, w->contexts);
        if (b)
            remove_key(b, w->key);
    }
}

/* In front of the others, so that the footer shows it. */
static void add_key(struct binding *b, int key)
{
    memmove(b->keys + 1, b->keys, (BINDING_KEYS - 1) * sizeof *b->keys);
    b->keys[0] = key;
}

static bool give(struct parser *p, const struct wish *w)
{
    bool any = false;
    for (int i = 0; p->k->table[i].contexts; i++) {
        if (p->k->table[i].action != w->action || !(p->k->table[i].contexts & w->contexts))
            continue;
        struct binding *b = split(p->k, i, w->contexts);
        if (b && !has_key(b, w->key)) {
            add_key(b, w->key);
            any = true;
        }
    }
    return any;
}

static bool reachable(const struct binding *table, enum action a, unsigned contexts)
{
    for (const struct binding *b = table; b->contexts; b++)
        if (b->action == a && (b->contexts & contexts) && b->keys[0])
            return true;
    return false;
}

static void tell_lost(struct parser *p)
{
    for (int a = 1; keymap_action_name((enum action)a); a++)
        for (int i = 0; i < SCREENS; i++)
            if (reachable(bindings, (enum action)a, screens[i].ctx) &&
                !reachable(p->k->table, (enum action)a, screens[i].ctx)) {
                str_addf(&p->k->problems, "%s: no key is left for %s in %s\n", p->name,
                         keymap_action_name((enum action)a), screens[i].name);
                break;
            }
}

/* ---- lines ---- */

static void note_conflict(struct parser *p, const struct wish *w, const char *key)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct wish *o = &p->wishes[i];
        if (o->key == w->key && (o->contexts & w->contexts) && o->action != w->action) {
            char first[96];
            snprintf(first, sizeof first, "%%s is bound in line %d already; this line holds",
                     o->line);
            problem(p, first, key);
        }
    }
}

static void parse_line(struct parser *p, char *line)
{
    char *save = NULL;
    line[strcspn(line, "#")] = 0;
    const char *key = strtok_r(line, " \t\r", &save), *word = strtok_r(NULL, " \t\r", &save);
    struct wish w = {.line = p->line};
    if (!key)
        return;
    w.key = keymap_key_of(key);
    if (w.key == TK_NONE) {
        problem(p, "\"%s\" is no key; write k, Ctrl-K, F5, Up, Space ...", key);
        return;
    }
    if (w.key == KEY_CTRL('c')) {
        problem(p, "%s stays what it is: the way out", key);
        return;
    }
    if (!word || !action_of(word, &w.action)) {
        const char *near = word ? str_nearest(word, action_word, NULL) : NULL;
        problem(p, word ? "\"%s\" is no action" : "%s has no action", word ? word : key);
        if (near)
            str_addf(&p->k->problems, "  did you mean %s?\n", near);
        return;
    }
    while ((word = strtok_r(NULL, " \t\r", &save)) != NULL) {
        if (!screen_of(word))
            problem(p, "\"%s\" is no screen", word);
        w.contexts |= screen_of(word);
    }
    if (!w.contexts)
        w.contexts = CTX_ALL;
    note_conflict(p, &w, key);
    xgrow((void **)&p->wishes, &p->cap, p->n + 1, sizeof *p->wishes);
    p->wishes[p->n++] = w;
}

static void apply(struct parser *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct wish *w = &p->wishes[i];
        p->line = w->line;
        take_away(p, w);
        if (w->action != ACT_NONE && !give(p, w))
            problem(p, "%s is no action there", keymap_action_name(w->action));
    }
}

struct keyfile *keyfile_parse(const char *name, char *text)
{
    struct keyfile *k = xcalloc(1, sizeof *k);
    struct parser p = {.k = k, .name = name};
    for (int n = 0; bindings[n].contexts; n++)
        k->table[n] = bindings[n];
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        p.line++;
        parse_line(&p, line);
    }
    apply(&p);
    tell_lost(&p);
    free(p.wishes);
    return k;
}

struct keyfile *keyfile_load(void)
{
    char *path = path_in(PATH_CONFIG, "keys"), *text;
    struct keyfile *k = NULL;
    size_t len;
    if (path && str_read_file(path, FILE_BYTES, &text, &len, NULL) == ST_OK) {
        k = keyfile_parse(path, text);
        free(text);
    }
    free(path);
    return k;
}

void keyfile_free(struct keyfile *k)
{
    if (!k)
        return;
    str_free(&k->problems);
    free(k);
}
