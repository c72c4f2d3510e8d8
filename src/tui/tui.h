/* tui.h - the full-screen interface.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_TUI_H
#define ATTNSCOPE_TUI_TUI_H

#include "command/session.h"

struct screen_ops;

/* In the order of their tabs; NULL ends. */
extern const struct screen_ops *const tui_screens[];

/* How it looks, as asked on the command line; NULL members: choose. */
struct tui_options {
    const char *charset; /* "auto" "ascii" "blocks" "braille"; weighed into front.glyphs */
    const char *theme;   /* "default" "light" "mono" "projector" */
    bool projector, mouse, resume;
    const char *color; /* "auto" "always" "never"; weighed into front.color */
};

/* Runs until the user leaves; the terminal is as before when it returns. The session's front says
 * whether there are colours and which glyphs; its hooks are ours meanwhile. The result is the
 * program's exit status: 0, 2 or 3 with a sentence on stderr when there is no such theme or the
 * terminal cannot show a screen, or 128 + n after signal n. */
int tui_main_with(struct session *s, const struct tui_options *o);

/* Registers the verbs of this folder and its keys as topics; after those of the others. */
void tui_register(void);

/* The manual's section on keys, in mdoc. */
void tui_manual(struct str *out);

/* The tier for a --charset value (NULL is "auto"): blocks when the codeset is UTF-8 and TERM is
 * neither linux nor dumb, else ASCII. ST_USAGE for an unknown word. setlocale() comes first. */
enum status tui_glyphs(const char *charset, enum glyphs *out, struct err *err);

#endif
