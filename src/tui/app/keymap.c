/* keymap.c - see keymap.h.
 *
 * The order of rows is that of footer and Help: the most useful first, a set's own before what is
 * shared.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/keymap.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* ---- making ---- */

bool binding_is_end(const struct binding *b)
{
    return !b->keys[0] && !b->does;
}

bool keymap_make_room(struct keymap *m)
{
    void *rows = m->rows;
    if (m->nrows == KEYMAP_ROWS)
        return false;
    xgrow(&rows, &m->cap, (size_t)m->nrows + 1, sizeof *m->rows);
    m->rows = rows;
    return true;
}

static struct keyrow *add_row(struct keymap *m, const struct binding *b, unsigned sets, bool shared)
{
    if (!keymap_make_room(m))
        fatal("more than %d key rows", KEYMAP_ROWS);
    m->rows[m->nrows] = (struct keyrow){.b = *b, .sets = sets, .shared = shared};
    return &m->rows[m->nrows++];
}

void keymap_add(struct keymap *m, const char *name, const struct binding *rows, bool over)
{
    if (m->nsets == KEYMAP_SETS)
        fatal("more than %d sets of keys", KEYMAP_SETS);
    m->sets[m->nsets].name = name;
    m->sets[m->nsets].rows = rows;
    m->sets[m->nsets].over = over;
    for (const struct binding *b = rows; !binding_is_end(b); b++)
        add_row(m, b, 1u << m->nsets, false);
    m->nsets++;
}

void keymap_share(struct keymap *m, const struct binding *rows)
{
    for (const struct binding *b = rows; !binding_is_end(b); b++) {
        struct keyrow *row = add_row(m, b, 0, true);
        for (int s = 0; s < m->nsets; s++)
            if (b->over || !m->sets[s].over)
                row->sets |= 1u << s;
        for (int s = 0; s < m->nsets; s++) /* not where own rows take all its keys */
            if (!keymap_reaches(m, row, 1u << s))
                row->sets &= ~(1u << s);
    }
}

bool keymap_add_command(struct keymap *m, unsigned sets, int key, const char *line)
{
    if (!keymap_make_room(m))
        return false;
    memmove(m->rows + 1, m->rows, (size_t)m->nrows++ * sizeof *m->rows);
    m->rows[0] = (struct keyrow){
        .b = {.keys = {key}, .help = "a command of your key file"},
        .sets = sets,
        .own = xstrdup(line),
    };
    m->rows[0].b.does = m->rows[0].own;
    return true;
}

void keymap_clear(struct keymap *m)
{
    for (int i = 0; i < m->nrows; i++)
        free(m->rows[i].own);
    free(m->rows);
    *m = (struct keymap){0};
}

unsigned keymap_set(const struct keymap *m, const struct binding *rows)
{
    for (int s = 0; s < m->nsets; s++)
        if (m->sets[s].rows == rows)
            return 1u << s;
    return 0;
}

unsigned keymap_sets_named(const struct keymap *m, const char *name)
{
    unsigned sets = 0;
    for (int s = 0; s < m->nsets; s++)
        if (strcmp(m->sets[s].name, name) == 0)
            sets |= 1u << s;
    return sets;
}

/* ---- finding ---- */

static bool binding_has(const struct binding *b, int key)
{
    for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
        if (b->keys[i] == key)
            return true;
    return false;
}

/* The first row that has the key, also one that makes it do nothing. */
static const struct keyrow *first_with(const struct keymap *m, unsigned set, int key)
{
    for (int i = 0; i < m->nrows; i++)
        if ((m->rows[i].sets & set) && binding_has(&m->rows[i].b, key))
            return &m->rows[i];
    return NULL;
}

const struct keyrow *keymap_find(const struct keymap *m, unsigned set, int key)
{
    const struct keyrow *row = key > 0 ? first_with(m, set, key) : NULL;
    return row && row->b.does ? row : NULL;
}

bool keymap_reaches(const struct keymap *m, const struct keyrow *row, unsigned set)
{
    for (int i = 0; i < BINDING_KEYS && row->b.keys[i]; i++)
        if ((row->sets & set) && keymap_find(m, set, row->b.keys[i]) == row)
            return true;
    return false;
}

/* ---- names of keys ---- */

static const struct {
    int key;
    const char *name;
} key_names[] = {
    {TK_TAB, "Tab"},    {TK_ENTER, "Enter"}, {TK_ESC, "Esc"},     {TK_UP, "Up"},
    {TK_DOWN, "Down"},  {TK_LEFT, "Left"},   {TK_RIGHT, "Right"}, {TK_PGUP, "PgUp"},
    {TK_PGDN, "PgDn"},  {TK_HOME, "Home"},   {TK_END, "End"},     {TK_BTAB, "Shift-Tab"},
    {TK_DELETE, "Del"}, {TK_F1, "F1"},       {TK_F2, "F2"},       {TK_F5, "F5"},
    {TK_F10, "F10"},    {' ', "Space"},      {TK_MOUSE, "mouse"}, {TK_BACKSPACE, "Backspace"},
};
enum { KEY_NAMES = sizeof key_names / sizeof *key_names };

const char *keymap_key_name(int key, char buf[16])
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (key_names[i].key == key)
            return key_names[i].name;
    if (key > 0 && key < 32)
        snprintf(buf, 16, "Ctrl-%c", key + '@');
    else
        snprintf(buf, 16, "%c", key < 127 ? key : '?');
    return buf;
}

int keymap_key_of(const char *name)
{
    unsigned code;
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (strcasecmp(key_names[i].name, name) == 0 && key_names[i].key != TK_MOUSE)
            return key_names[i].key;
    if (strncasecmp(name, "Ctrl-", 5) == 0 && name[5] && !name[6])
        return isalpha((unsigned char)name[5]) ? KEY_CTRL(name[5]) : TK_NONE;
    if (*name && name[str_utf8_next(name, &code)] == 0 && code > ' ' && code < 127)
        return (int)code;
    return TK_NONE;
}

void keymap_keys(const struct binding *b, struct str *out)
{
    for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++) {
        char buf[16];
        str_addf(out, "%s%s", i ? " " : "", keymap_key_name(b->keys[i], buf));
    }
}

/* ---- what is shown ---- */

/* Adds the next item and returns its row; *at is where to look from. NULL: no more fit. */
static const struct keyrow *next_item(const struct footer *f, int *at, int *n, struct str *out)
{
    while (*at < f->keys->nrows) {
        const struct keyrow *row = &f->keys->rows[(*at)++];
        const struct binding *b = &row->b;
        if (!b->footer || !keymap_reaches(f->keys, row, f->set) || (*n >= f->max && !b->way_out) ||
            (f->offers && !f->offers(f->arg, row)))
            continue;
        char buf[16], item[64];
        int reserve = b->way_out ? 0 : 8; /* how to get out always fits */
        snprintf(item, sizeof item, "%s%s %s", out->len ? "  " : "",
                 keymap_key_name(b->keys[0], buf), b->footer);
        if (str_width(str_text(out)) + str_width(item) + reserve > f->width)
            continue;
        str_add(out, item);
        ++*n;
        return row;
    }
    return NULL;
}

void keymap_footer(const struct footer *f, struct str *out)
{
    int at = 0, n = 0;
    while (next_item(f, &at, &n, out))
        continue;
}

const struct keyrow *keymap_footer_at(const struct footer *f, int x)
{
    struct str s = {0};
    const struct keyrow *row;
    int at = 0, n = 0, from = 0, to = 0;
    do {
        from = to ? to + 2 : 0; /* items stand two blanks apart */
        row = next_item(f, &at, &n, &s);
        to = str_width(str_text(&s));
    } while (row && x >= to);
    str_free(&s);
    return row && x >= from ? row : NULL;
}

void keymap_help(const struct keymap *m, struct str *out, unsigned set)
{
    for (const struct keyrow *row = m->rows; row < m->rows + m->nrows; row++) {
        struct str keys = {0};
        if (!keymap_reaches(m, row, set))
            continue;
        keymap_keys(&row->b, &keys);
        str_addf(out, "  %-11s %-15s %s\n", str_text(&keys), row->b.does, row->b.help);
        str_free(&keys);
    }
}
