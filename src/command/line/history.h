/* history.h - the lines that were typed, in one file that all sessions append to.
 *
 * Knows nothing of readline: a front end gives the lines to whatever edits them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_HISTORY_H
#define ATTNSCOPE_COMMAND_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

enum { HISTORY_MAX = 2000 };

struct history {
    char **lines; /* oldest first */
    size_t count;
    char *refused; /* why the file is not read, one sentence; NULL: it is, or there is none */
};

/* The newest lines of <state>/attnscope/history, at most HISTORY_MAX, each once, at its last place.
 * Lines with control characters, which are not ours, are left out. A file that has grown long is
 * shortened. Empty when there is none. What is no regular file is neither read nor written; who loads says so,
 * once. */
void history_load(struct history *out);
void history_forget(struct history *h);
/* Appends one line, unless it is blank or begins with a blank; true if it is one to keep. Failures to
 * write are silent: nobody wants to hear of them at every line. */
bool history_keep(const char *line);

#endif
