/* drive.h - a typed command that the screen on show is about drives that screen: `:sweep fa2 S=1k..8k:x2`
 * on Sweep sets the sweep and runs it there, in place of a popup.
 *
 * Its keys become settings, as if they had been set by hand (`u` takes them back), but for those that the
 * screen claims; its kernels are the screen's. What a screen has no place for (an option, a redirection,
 * a word it does not know) is run as ever, and so is what is wrong, which then says so.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_DRIVE_H
#define ATTNSCOPE_TUI_DRIVE_H

#include "command/line/parse.h"
#include "tui/app/app.h"

/* What a line asks of the screen; ended by drive_clear(), whatever came of it. */
struct driven {
    struct call_list calls;
    const struct cmd_call *call; /* the one in `calls` */
    const char *names;           /* kernels between commas; NULL: none were named */
    struct str settings;         /* "set S=512; set fa2 BR=32": to be run first; may be empty */
};

/* Reads a line for the screen that is shown; false: it does not drive it. Nothing is changed. */
bool drive_read(const struct app *a, const char *line, struct driven *out);
void drive_clear(struct driven *d);

#endif
