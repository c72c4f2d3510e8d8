/* keymap.h - which key does what, where: dispatch, footer, Help, `help KEY`, the manual and key files
 * read the same rows.
 *
 * A row is a line in the table of its screen, or in keys.c when every screen has the key. It holds a
 * command, which runs as if it were typed, or a function of the screen. A key file moves keys to
 * other rows and adds rows with commands of the user's own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_KEYMAP_H
#define ATTNSCOPE_TUI_KEYMAP_H

#include "base/str.h"
#include "command/command.h"
#include "tui/kit/keys.h"

enum { BINDING_KEYS = 4, KEYMAP_SETS = 16, KEYMAP_ROWS = 512 };

/* What a key does that is no command. `ctx` is the screen, or the app for a key that all share. */
typedef void key_fn(void *ctx, int arg);
/* Does it do anything now? */
typedef bool key_offered_fn(const void *ctx);

struct binding {
    int keys[BINDING_KEYS]; /* 0 ends */
    /* ":device": the command that a key runs; "page-up": the name of the function `act`, as key files
     * and Help call it. NULL: the key does nothing here, whatever it does elsewhere. */
    const char *does;
    key_fn *act;
    int arg;
    const char *footer; /* short label, NULL: not in the footer */
    const char *help;
    key_offered_fn *offered; /* NULL: always */
    bool over;               /* of a shared row: also in what lies over a screen */
    bool waits;              /* heard while a command waits; the others are not */
    bool closes;             /* what lies over a screen: not heard before that was drawn */
    bool types;              /* what follows is a line that is typed */
    bool way_out;            /* always in the footer, last */
};

bool binding_is_end(const struct binding *b);

/* A row as it is now. */
struct keyrow {
    struct binding b;
    unsigned sets; /* where it holds: bits by the sets' order */
    bool shared;   /* `act` gets the app */
    char *own;     /* b.does of a key file; owned */
};

/* Keys that hold together: those of a screen, of a popup. Start with {0}, end with keymap_clear(). */
struct keymap {
    struct {
        const char *name;           /* as key files call it; sets may share one */
        const struct binding *rows; /* binding_is_end() ends */
        bool over;
    } sets[KEYMAP_SETS];
    int nsets;
    struct keyrow *rows; /* moves when one is added */
    int nrows;           /* at most KEYMAP_ROWS */
    size_t cap;
};

/* Adds a set with rows of its own. `over`: it lies over a screen. */
void keymap_add(struct keymap *m, const char *name, const struct binding *rows, bool over);
/* Adds rows to every set so far; a set's own row wins. */
void keymap_share(struct keymap *m, const struct binding *rows);
/* A row of a command that a key file gives, first in order; `line` is copied. False: no room. */
bool keymap_add_command(struct keymap *m, unsigned sets, int key, const char *line);
/* Room for one row more; false: there are KEYMAP_ROWS. */
bool keymap_make_room(struct keymap *m);
void keymap_clear(struct keymap *m);
/* The bit of the set that has these rows, 0: none. */
unsigned keymap_set(const struct keymap *m, const struct binding *rows);
/* The bits of the sets of this name, 0: none. */
unsigned keymap_sets_named(const struct keymap *m, const char *name);

/* What a key does in one set; NULL: nothing. */
const struct keyrow *keymap_find(const struct keymap *m, unsigned set, int key);
/* Does the row hold there, with a key that no row before it takes? */
bool keymap_reaches(const struct keymap *m, const struct keyrow *row, unsigned set);

/* "Ctrl-R", "Tab", "k"; static or in buf. */
const char *keymap_key_name(int key, char buf[16]);
/* The key of that name, TK_NONE if there is none. */
int keymap_key_of(const char *name);
/* "PgUp Ctrl-U". */
void keymap_keys(const struct binding *b, struct str *out);

/* Does this row do anything now? */
typedef bool offers_fn(const void *arg, const struct keyrow *row);
/* What the line of keys is made of. */
struct footer {
    const struct keymap *keys;
    unsigned set;
    offers_fn *offers; /* NULL: every row does something */
    const void *arg;
    int max, width; /* items, but for the way out; columns */
};
/* "r run  Tab pane  ..." : the first rows with a footer label that are offered, as far as they fit. */
void keymap_footer(const struct footer *f, struct str *out);
/* The row whose item stands at this column of it; NULL: none. */
const struct keyrow *keymap_footer_at(const struct footer *f, int x);
/* All keys of a set, a line each: what they do and the help. */
void keymap_help(const struct keymap *m, struct str *out, unsigned set);

#endif
