/* words.h - the debugger's words, gdb's where it has one: a table that the verb, completion, help and the parser read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_DEBUG_WORDS_H
#define ATTNSCOPE_COMMAND_DEBUG_WORDS_H

#include "command/debug/debugger.h"

/* What a word does besides asking. */
enum debug_view {
    VIEW_STOP,  /* the picture of the stop */
    VIEW_SHORT, /* where it stands, in a line or two */
    VIEW_FOUND, /* what was found */
    VIEW_NAMES, /* what the source names */
    VIEW_WARPS,
    VIEW_PATHS,
    VIEW_BARRIERS,
    VIEW_DISPLAYS,
    VIEW_MAP,    /* shared memory */
    VIEW_ACCESS, /* lanes of the last access */
    VIEW_TRAIL,  /* what warps did */
    VIEW_SOURCE, /* lines around one */
    VIEW_END,    /* the debugger was let go of */
};

/* A word with what follows it. */
struct debug_line {
    struct session *session;
    struct debugger *debugger;
    const char *word, *format; /* of "x/8f": "8f"; "" */
    char **args;               /* between blanks, without options */
    int nargs;
    const char *rest; /* all of them as typed, without options */
    enum debug_view view;
    const char *nothing; /* VIEW_FOUND: what an empty answer means */
    int64_t line;        /* VIEW_SOURCE: in the middle; 0: where it stands */
};

struct debug_word {
    const char *name, *alias, *usage, *doc;
    const char *const *first; /* as of struct cmd_own_word */
    enum status (*run)(struct debug_line *l, struct err *err);
};
extern const struct debug_word debug_words[];                /* name NULL ends */
const struct debug_word *debug_word_named(const char *name); /* or alias, up to a '/'; NULL: none */
bool debug_word_at(size_t i, struct cmd_own_word *out); /* by number; false: there are no more */
/* Their names, for who knows them by no more; NULL ends. */
const char *debug_word_name(const void *none, size_t i); /* str_list_fn */
/* Does it move the block, or the focus? The others only ask, and their answer is what they are for. */
bool debug_word_moves(const struct debug_word *w);

/* Runs the word `text` ("step", "x/8f") with what follows it. ST_USAGE where it makes no sense. */
enum status debug_word_run(struct session *s, const struct debug_word *w, const char *text,
                           const char *rest, struct debug_line *out, struct err *err);
void debug_line_clear(struct debug_line *l);

/* "2,0" or "2,0,1". */
bool debug_read_block(const char *text, struct debug_ask *a);
/* "turns", "against", or a seed. */
bool debug_read_order(const char *text, struct debug_ask *a);

#endif
