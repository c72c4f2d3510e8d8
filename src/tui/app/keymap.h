/* keymap.h - every key of the interface in one table; dispatch, footer and help read it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_KEYMAP_H
#define ATTNSCOPE_TUI_KEYMAP_H

#include "base/str.h"
#include "command/command.h"
#include "tui/kit/keys.h"

/* Where a key is valid; a bit set. */
enum context {
    CTX_EXPLORE = 1,
    CTX_COMPARE = 2,
    CTX_SWEEP = 4,
    CTX_ROOFLINE = 8,
    CTX_TIMELINE = 16,
    CTX_SOURCE = 32,
    CTX_LESSON = 64,
    CTX_LESSONS = 512, /* the list of lessons; CTX_LESSON: one of them */
    CTX_POPUP = 128,   /* a text over the screen */
    CTX_MENU = 256,    /* a menu */
    CTX_SCREENS = CTX_EXPLORE | CTX_COMPARE | CTX_SWEEP | CTX_ROOFLINE | CTX_TIMELINE | CTX_SOURCE |
                  CTX_LESSON | CTX_LESSONS,
    CTX_OVER = CTX_POPUP | CTX_MENU,
    CTX_ALL = CTX_SCREENS | CTX_OVER,
};

enum action {
    ACT_NONE,
    ACT_SCREEN_EXPLORE,
    ACT_SCREEN_COMPARE,
    ACT_SCREEN_SWEEP,
    ACT_SCREEN_ROOFLINE,
    ACT_SCREEN_TIMELINE,
    ACT_SCREEN_SOURCE,
    ACT_SCREEN_LESSON,
    ACT_SCREEN_PREV,
    ACT_SCREEN_NEXT,
    ACT_HELP,
    ACT_PROMPT,
    ACT_FOCUS_NEXT,
    ACT_FOCUS_PREV,
    ACT_UP,
    ACT_DOWN,
    ACT_LEFT,
    ACT_RIGHT,
    ACT_PAGE_UP,
    ACT_PAGE_DOWN,
    ACT_FIRST,
    ACT_LAST,
    ACT_OPEN,
    ACT_MARK,
    ACT_BACK,
    ACT_RUN,
    ACT_CANCEL,
    ACT_CHECK,
    ACT_EDIT,
    ACT_WATCH,
    ACT_EXPLAIN,
    ACT_LOG,
    ACT_UNDO,
    ACT_REDO,
    ACT_COPY,
    ACT_DUMP,
    ACT_THEME,
    ACT_BLANK,
    ACT_REDRAW,
    ACT_SUSPEND,
    ACT_QUIT,
    /* lists, plots, text */
    ACT_FIND,
    ACT_FIND_NEXT,
    ACT_FIND_PREV,
    ACT_SORT,
    ACT_SORT_REVERSE,
    ACT_BASELINE,
    ACT_MORE,
    ACT_ZOOM,
    ACT_ZOOM_IN,
    ACT_ZOOM_OUT,
    ACT_ZOOM_RESET,
    ACT_VIEW,
    ACT_ANNOTATE,
    ACT_CHANGE_NEXT,
    ACT_CHANGE_PREV,
    /* the whole program */
    ACT_FREEZE,
    ACT_MOUSE,
    ACT_OPTIONS,
    ACT_DEVICE,
    ACT_EXPORT,
    /* lessons */
    ACT_ANSWER_A,
    ACT_ANSWER_B,
    ACT_ANSWER_C,
    ACT_ANSWER_D,
    ACT_NEXT,
    ACT_STEP_BACK,
    ACT_HINT,
    ACT_TRY,
    ACT_LESSONS,
    ACT_NOTES,
    ACT_SKIP,
};

enum { BINDING_KEYS = 4 };

struct binding {
    unsigned contexts;
    int keys[BINDING_KEYS]; /* 0 ends */
    enum action action;
    const char *name;   /* of the command or action, for the help */
    const char *footer; /* short label, NULL: not in the footer */
    const char *help;
};

extern const struct binding bindings[]; /* the built-in ones; contexts 0 ends */

/* "move-up": what the key file calls an action; NULL for none. */
const char *keymap_action_name(enum action a);
/* The action of a key in a context (one bit), ACT_NONE if it has none. `table` is the built-in one or
 * that of the key file. */
enum action keymap_action(const struct binding *table, enum context ctx, int key);
/* "Ctrl-R", "Tab", "k"; static or in buf. */
const char *keymap_key_name(int key, char buf[16]);
/* The key of that name, TK_NONE if there is none. */
int keymap_key_of(const char *name);
/* Does this action do anything now? NULL: whatever is valid in the context does. */
typedef bool offers_fn(const void *arg, enum action a);
/* "r run  Tab pane  ..." : the first `max` bindings with a footer label that are offered, as far as
 * `width` goes. */
void keymap_footer(const struct binding *table, struct str *out, enum context ctx,
                   offers_fn *offers, const void *arg, int max, int width);
/* A key of the screen as a topic of `help`; a topic_fn. */
bool keymap_topic(size_t i, struct topic *out);
/* All keys of a context with their action's name and help, a line each. */
void keymap_help(const struct binding *table, struct str *out, enum context ctx);

#endif
