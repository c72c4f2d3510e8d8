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

/* A line that was understood. */
struct wish {
    int key, line;
    unsigned sets;
    char *does; /* as binding.does, NULL: nothing */
};

struct parser {
    struct keymap *m;
    struct str *problems;
    const char *name;
    int line;
    struct wish *wishes;
    size_t n, cap;
};

static void problem(struct parser *p, const char *fmt, const char *word)
{
    char *clean = sanitize_line(word);
    str_addf(p->problems, "%s:%d: ", p->name, p->line);
    str_addf(p->problems, fmt, clean);
    str_addc(p->problems, '\n');
    free(clean);
}

/* ---- words ---- */

static const char *function_word(const void *ctx, size_t i)
{
    const struct keymap *m = ctx;
    for (int r = 0; r < m->nrows; r++)
        if (m->rows[r].b.act && i-- == 0)
            return m->rows[r].b.does;
    return NULL;
}

static bool is_function(const struct keymap *m, const char *word)
{
    for (int r = 0; r < m->nrows; r++)
        if (m->rows[r].b.act && strcmp(m->rows[r].b.does, word) == 0)
            return true;
    return false;
}

static unsigned all_sets(const struct keymap *m, bool over)
{
    unsigned sets = 0;
    for (int s = 0; s < m->nsets; s++)
        if (over || !m->sets[s].over)
            sets |= 1u << s;
    return sets;
}

/* ---- changing the table ---- */

/* Keeps `sets` of row i apart from its other sets; the row with them, NULL: no room. */
static struct keyrow *split(struct keymap *m, int i, unsigned sets)
{
    if ((m->rows[i].sets & ~sets) == 0)
        return &m->rows[i];
    if (!keymap_make_room(m))
        return NULL;
    struct keyrow *row = &m->rows[i];
    memmove(row + 1, row, (size_t)(m->nrows - i) * sizeof *row);
    m->nrows++;
    row[1].own = NULL; /* one of the two owns it */
    row[0].sets &= sets;
    row[1].sets &= ~sets;
    return row;
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
    for (int i = 0; i < p->m->nrows; i++) {
        struct keyrow *row = &p->m->rows[i];
        if (!(row->sets & w->sets) || !has_key(&row->b, w->key))
            continue;
        row = split(p->m, i, w->sets);
        if (row)
            remove_key(&row->b, w->key);
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
    for (int i = 0; i < p->m->nrows; i++) {
        struct keyrow *row = &p->m->rows[i];
        if (!row->b.does || strcmp(row->b.does, w->does) != 0 || !(row->sets & w->sets))
            continue;
        row = split(p->m, i, w->sets);
        if (row && !has_key(&row->b, w->key)) {
            add_key(&row->b, w->key);
            any = true;
        }
    }
    return any || (w->does[0] == ':' && keymap_add_command(p->m, w->sets, w->key, w->does));
}

static bool has_way(const struct keymap *m, const char *does, unsigned set)
{
    for (int i = 0; i < m->nrows; i++)
        if (m->rows[i].b.does && strcmp(m->rows[i].b.does, does) == 0 &&
            keymap_reaches(m, &m->rows[i], set))
            return true;
    return false;
}

static bool is_first(const struct keymap *m, int i)
{
    for (int k = 0; k < i; k++)
        if (m->rows[k].b.does && strcmp(m->rows[k].b.does, m->rows[i].b.does) == 0)
            return false;
    return true;
}

static void tell_lost(struct parser *p, const struct keymap *was)
{
    for (int i = 0; i < was->nrows; i++) {
        const char *does = was->rows[i].b.does;
        for (int s = 0; does && is_first(was, i) && s < was->nsets; s++)
            if (has_way(was, does, 1u << s) && !has_way(p->m, does, 1u << s)) {
                str_addf(p->problems, "%s: no key is left for %s in %s\n", p->name, does,
                         was->sets[s].name);
                break;
            }
    }
}

/* ---- lines ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void note_conflict(struct parser *p, const struct wish *w, const char *key)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct wish *o = &p->wishes[i];
        if (o->key == w->key && (o->sets & w->sets) && !same_text(o->does, w->does)) {
            char first[96];
            snprintf(first, sizeof first, "%%s is bound in line %d already; this line holds",
                     o->line);
            problem(p, first, key);
        }
    }
}

static bool take_key(struct parser *p, const char *word, int *key)
{
    *key = keymap_key_of(word);
    if (*key == TK_NONE)
        problem(p, "\"%s\" is no key; write k, Ctrl-K, F5, Up, Space ...", word);
    else if (*key == KEY_CTRL('c'))
        problem(p, "%s stays what it is: the way out", word);
    return *key != TK_NONE && *key != KEY_CTRL('c');
}

/* The word after the key, where no command stands; false: it is none that we know. */
static bool take_function(struct parser *p, const char *key, const char *word, char **does)
{
    if (word && strcmp(word, "none") == 0)
        return true;
    if (word && is_function(p->m, word)) {
        *does = xstrdup(word);
        return true;
    }
    const char *near = word ? str_nearest(word, function_word, p->m) : NULL;
    problem(p,
            word ? "\"%s\" is no function of a screen; a command begins with a colon"
                 : "%s has neither function nor command",
            word ? word : key);
    if (near)
        str_addf(p->problems, "  did you mean %s?\n", near);
    return false;
}

static unsigned take_sets(struct parser *p, char **save)
{
    unsigned sets = 0;
    for (const char *word; (word = strtok_r(NULL, " \t\r", save)) != NULL;) {
        if (!keymap_sets_named(p->m, word))
            problem(p, "\"%s\" is no screen", word);
        sets |= keymap_sets_named(p->m, word);
    }
    return sets;
}

/* The command of a line, which is cut off it; NULL: there is none. The key itself may be a colon. */
static char *cut_command(char *line)
{
    char *at = line + strspn(line, " \t");
    at += strcspn(at, " \t");
    while (*at && !(*at == ':' && strchr(" \t", at[-1])))
        at++;
    if (!*at)
        return NULL;
    char *command = xstrndup(at, strcspn(at, "\r"));
    *at = 0;
    return command;
}

static void parse_line(struct parser *p, char *line)
{
    char *save = NULL;
    line[strcspn(line, "#")] = 0;
    struct wish w = {.line = p->line, .does = cut_command(line)};
    const bool command = w.does != NULL;
    const char *key = strtok_r(line, " \t\r", &save);
    bool good = key && take_key(p, key, &w.key) &&
                (command || take_function(p, key, strtok_r(NULL, " \t\r", &save), &w.does));
    if (!good) {
        free(w.does);
        return;
    }
    w.sets = take_sets(p, &save);
    if (!w.sets)
        w.sets = all_sets(p->m, !command);
    note_conflict(p, &w, key);
    xgrow((void **)&p->wishes, &p->cap, p->n + 1, sizeof *p->wishes);
    p->wishes[p->n++] = w;
}

static void apply(struct parser *p)
{
    for (size_t i = 0; i < p->n; i++) {
        struct wish *w = &p->wishes[i];
        p->line = w->line;
        take_away(p, w);
        if (w->does && !give(p, w))
            problem(p, "%s is no function there", w->does);
        free(w->does);
    }
}

void keyfile_apply(struct keymap *m, const char *name, char *text, struct str *problems)
{
    struct parser p = {.m = m, .name = name, .problems = problems};
    struct keymap was = *m;
    was.rows = xmalloc((size_t)m->nrows * sizeof *was.rows);
    if (m->nrows)
        memcpy(was.rows, m->rows, (size_t)m->nrows * sizeof *was.rows);
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        p.line++;
        parse_line(&p, line);
    }
    apply(&p);
    tell_lost(&p, &was);
    free(p.wishes);
    free(was.rows);
}

void keyfile_load(struct keymap *m, struct str *problems)
{
    char *path = path_in(PATH_CONFIG, "keys"), *text = NULL;
    struct err err = ERR_INIT;
    size_t len;
    if (path && str_read_if(path, FILE_BYTES, FILE_FOLLOW, &text, &len, &err) != ST_OK)
        str_addf(problems, "%s\n", err.text);
    if (text)
        keyfile_apply(m, path, text, problems);
    free(text);
    free(path);
}
