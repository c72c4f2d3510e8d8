/* app.h - the running interface: what the screens share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_APP_H
#define ATTNSCOPE_TUI_APP_H

#include "base/sha256.h"
#include "command/session.h"
#include "tui/app/keymap.h"
#include "tui/app/ahead.h"
#include "tui/app/history.h"
#include "tui/kit/marks.h"
#include "tui/kit/pane.h"
#include "tui/kit/popup.h"
#include "tui/kit/tty.h"

struct app;

/* A screen. Drawing never blocks and never measures, and shows what update() took in, so that a
 * frozen display stands still. NULL members: nothing to do. */
enum { SCREEN_MODES = 2 };

struct screen_ops {
    const char *name, *title; /* "explore", "1 Explore": its key and one word */
    /* Keys of its own, whose functions get the screen; more than one table where they depend on what
     * it shows, and which of them holds now. */
    const struct binding *keys[SCREEN_MODES];
    int (*mode)(void *ctx);
    const char *modes[SCREEN_MODES]; /* "the list": for the manual, NULL where there is one */
    void *(*open)(struct app *a);
    void (*close)(void *ctx);
    void (*draw)(void *ctx, struct canvas *c);
    /* Keys that every screen has: arrows and pages, the next (1) or previous (-1) pane, Esc. */
    void (*move)(void *ctx, enum move where);
    void (*focus)(void *ctx, int by);
    void (*back)(void *ctx);
    /* A key before the keymap has it: true if it begins what the screen waits for. */
    bool (*type)(void *ctx, int key);
    /* Does it take digits now? Then no tab is offered by one. */
    bool (*digits)(const void *ctx);
    /* A job moved, or a command or undo may have changed the session (see app.settings_serial). Not
     * called while the display is frozen. */
    void (*update)(void *ctx);
    /* The screen came to the front, after its first frame. */
    void (*shown)(void *ctx);
    /* Milliseconds until tick() wants to run, -1: never. */
    int (*timeout_ms)(void *ctx);
    void (*tick)(void *ctx);
    /* True if there was a run to cancel. */
    bool (*cancel)(void *ctx);
    /* Shows this kernel, as if its cursor had been moved there. */
    void (*show_kernel)(void *ctx, const struct kernel *k);
    /* The command that does what the screen shows. */
    const char *(*command)(void *ctx);
    /* Commands that drive the screen while it is shown, NULL ends: their keys are settings by then, but for
     * those that it claims; `names` are the kernels between commas, NULL where the command has none. */
    const char *const *drives;
    int kernels_most; /* that it has room for, and none with parameters of its own; 0: any */
    bool (*claims)(const struct cmd_pair *pair);
    void (*drive)(void *ctx, const struct cmd_call *c, const char *names);
    /* A typed line that the screen shows in its own way, opened if need be; false: it does not. */
    bool (*take_line)(struct app *a, const char *line);
    /* Text for `x`: the figures at the cursor, each with its formula and the values put in. False:
     * nothing to explain now; `out` may say why. */
    bool (*explain)(void *ctx, struct str *out);
    /* Moves the cursor to the next (dir 1) or previous (-1) place that contains the text, around
     * the end; dir 0: the place at the cursor counts too. Case does not matter: str_finds(). False:
     * nowhere. */
    bool (*find)(void *ctx, const char *text, int dir);
    /* The mouse, when it is on: a press at x, y; the wheel there, by -1 (up) or 1. */
    void (*click)(void *ctx, int x, int y);
    void (*wheel)(void *ctx, int x, int y, int by);
    /* Is it a row that the screen shows, and of settings that have changed since? */
    bool (*is_old)(void *ctx, const struct row *row);
    /* State that outlives the program: cursor, focus, results shown. Pass NaN as null. restore()
     * gets what save() made, possibly by another version: it takes what it knows. */
    void (*save)(void *ctx, json_t *object);
    void (*restore)(void *ctx, const json_t *object);
};

enum { APP_SCREENS = 9 }; /* as many as there are digits */

struct app {
    const struct screen_ops *const *all; /* the screens, in the order of their tabs; NULL ends */
    struct session *session;
    struct front front; /* the session's before */
    struct tty *tty;
    struct canvas *canvas;
    const struct screen_ops *screen;
    void *screens[APP_SCREENS]; /* by index in the screen table; made when first shown */
    struct popup popup;
    char *message; /* in place of the command, until the next key */
    enum role message_role;
    struct str log;
    struct history history;          /* of the session's settings: undo, redo */
    unsigned settings_serial;        /* grows with every change of them */
    struct marks marks;              /* kernels marked for Compare, Sweep, Roofline */
    const struct kernel *kernel;     /* shown in Explore, which is the first screen */
    const struct kernel *second;     /* marked there to stand beside it, NULL: none */
    char *find;                      /* what was searched last */
    bool blank;                      /* draw "?" in place of measured values: guess first */
    bool zoom;                       /* the focused pane takes the whole screen */
    bool frozen;                     /* data may change, the display does not */
    struct keymap keys;              /* as built in, changed by the user's file */
    char *ran;                       /* a key's command, shown until the next key */
    char pressed[16];                /* the last key, for the projector */
    const struct theme *usual_theme; /* of the time before the projector */
    bool usual_zoom;
    bool projector; /* large spacing, one thing per screen, keys are shown */
    bool dirty;     /* data changed: draw at the next frame */
    bool urgent;    /* a key changed something: draw now */
    bool ran_frame; /* the first frame is out */
    int64_t last_frame_ms;
    int64_t looked_ms; /* when the user's kernels were looked at */
    int frame_ms;      /* shortest time between frames for data */
    char consent_name[64],
        consent_hash[SHA256_HEX + 1]; /* what the user is asked about: menu_consent() */
    struct job *waiting;              /* a typed command waits for this job */
    struct ahead ahead;               /* keys pressed since */
    struct str unseen; /* what commands printed that is in the popup, but was not drawn yet */
    char *doing;       /* as it says in its own words, or NULL */
    int64_t ctrl_c_ms; /* of the last Ctrl-C with nothing to cancel */
    int exit_status;
    bool quit;
};

/* ---- the loop: loop.c ---- */

/* Makes `a` the session's front end, on the first screen; nothing is drawn yet. */
void app_begin(struct app *a, struct session *s, struct tty *tty,
               const struct screen_ops *const *screens);
void app_draw(struct app *a);
/* Draws what is due, waits for the next event and takes it. */
void app_turn(struct app *a);
void app_end(struct app *a);
/* The app whose front end this session has, NULL: none. */
struct app *app_of(const struct session *s);

/* ---- for screens: app.c ---- */

/* Projector theme, large spacing, one pane at a time, key echo; or back to how it was. */
void app_set_projector(struct app *a, bool on);
/* One line for the user, and into the log. */
void app_message(struct app *a, enum role role, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Runs a command line as if typed; output goes to a popup, errors point at the word. Returns the
 * command's status. */
enum status app_command(struct app *a, const char *line);
/* The same for settings: no popup, errors as a message only. */
enum status app_set(struct app *a, const char *line);
/* A line as the prompt takes it: a screen may show it in its own way. */
void app_line(struct app *a, const char *line);
void app_popup(struct app *a, const char *title, const char *text);
/* Opens the command line with this text in it. */
void app_prompt(struct app *a, const char *initial);
/* Shows the screen of this name and returns its state. */
void *app_show(struct app *a, const char *name);
/* Shows a kernel: on this screen where it has kernels, else on the first one. */
void app_show_kernel(struct app *a, const struct kernel *k);
/* The screen after (1) or before (-1) this one, around. */
void app_show_next(struct app *a, int by);
/* State of the screen that is shown. */
void *app_screen(const struct app *a);
void app_clear_message(struct app *a);
/* Lets the screen take in what changed, unless the display is frozen. */
void app_update(struct app *a);
/* One step of undo or redo of the session's settings; false when there is none. */
bool app_undo(struct app *a, bool redo);
/* Asks for a text and goes to the next place that has it. */
void app_find(struct app *a);
/* Shows what the screen explains at its cursor. */
void app_explain(struct app *a);
/* Writes the screen to a numbered text file. */
void app_dump(struct app *a, bool svg);
/* The command that the line above the footer shows, NULL: none. */
const char *app_shown_command(const struct app *a);

/* The keys of a screen in one of its modes; without any of its own it still has those that all share. */
const struct binding *screen_keys(const struct screen_ops *s, int mode);
/* The set of keys that is valid on the screen that is shown; or over it, where something is. */
unsigned app_screen_keys(const struct app *a);
unsigned app_valid_keys(const struct app *a);
/* What a row's function gets: the app, or the screen. */
void *app_target(const struct app *a, const struct keyrow *row);
/* Does what a row of the key table says, as if its key had been pressed. */
void app_run_row(struct app *a, const struct keyrow *row);
/* Does the row do anything now? What the key line offers. */
bool app_offers(const struct app *a, const struct keyrow *row);

/* ---- keys: keys.c ---- */

/* Fills an empty table with the keys of all screens, of popups and menus, and the shared ones. */
void app_keys(struct keymap *m, const struct screen_ops *const *screens);
/* A key as a topic of `help`; as a topic_fn. */
bool app_key_topic(const struct screen_ops *const *screens, size_t i, struct topic *out);
/* The manual's section on them, in mdoc. */
void app_keys_manual(const struct screen_ops *const *screens, struct str *out);
/* A key was pressed: for the prompt, the popup, the screen, or one that they share; while a command runs, for later. */
void app_key(struct app *a, int key);
/* While a command runs: takes the few keys that are heard then, and keeps the others. True: it cancels. */
bool app_key_meanwhile(struct app *a, int key);

/* ---- drawing: frame.c ---- */

/* Tabs, command line and footer, alike on every screen; returns what is left between them. */
struct rect app_frame(struct app *a, struct canvas *c);
/* Does only the focused pane fit, or is it zoomed? */
bool app_one_pane(const struct app *a, const struct canvas *c);
/* The tab at this column of row 0, -1: none. */
int app_tab_at(const struct app *a, const struct canvas *c, int x);

/* The key whose item stands at this column of the last row, NULL: none. */
const struct keyrow *app_footer_at(const struct app *a, const struct canvas *c, int x);

/* The parts of app_frame(), for a screen that places them itself. */
void app_draw_tabs(struct app *a, struct canvas *c, struct rect r);
void app_draw_footer(struct app *a, struct canvas *c, struct rect command, struct rect footer);

#endif
