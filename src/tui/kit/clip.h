/* clip.h - text that leaves the screen: the clipboard through OSC 52, the screen as a file.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_CLIP_H
#define ATTNSCOPE_TUI_CLIP_H

#include "tui/kit/tty.h"

/* Copies one line. Whether the terminal takes OSC 52 cannot be known, so the text also goes to a
 * file in the state folder; `told` gets the sentence that says so. */
void clip_copy(struct tty *t, const char *text, struct str *told);
/* Writes the canvas to attnscope-screen-N.txt, or .svg, in the current folder. */
enum status clip_dump(const struct canvas *c, bool svg, struct str *told);
/* The escape sequence; for tests. */
void clip_osc52(const char *text, struct str *out);

#endif
